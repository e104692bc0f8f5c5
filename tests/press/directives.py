"""Parse the directives of the pages, for the tests that read them."""

from decimal import Decimal

from press.pages import notebooks, plain, questions


def blocks(name):
    """Return the directives of a page, including nested ones."""

    def inner(text):
        for block in plain.split(text):
            if isinstance(block, plain.Block):
                yield block
                yield from inner("\n".join(block.lines))

    return list(inner(plain.documents()[name]))


def asked(name, *kinds):
    return [block for block in blocks(name) if block.kind in kinds]


def verifications(name):
    """Return {what: expression that must be true} for the answers, right and wrong, of quick questions."""
    found = {}
    for block in asked(name, "quick"):
        quick = questions.read_quick(block.argument, *block.inside())
        if quick.verify:
            found[quick.name] = quick.verify
        for wrong in quick.choices:
            if wrong.verify:
                found[f"{quick.name}, {wrong.text}"] = written(wrong.verify, wrong.text)
    return found


def written(expression, number):
    """Return the expression that tests that this is the written number, to its last digit."""
    digit = 10.0 ** Decimal(number).as_tuple().exponent
    return f"abs(float({expression}) - {float(number)!r}) <= {0.5000001 * digit!r}"


def name_of(text):
    """Return the name of a page from its file in pages/."""
    return text.relative_to(notebooks.TEXT).with_suffix("").as_posix()
