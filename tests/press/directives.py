"""Directives of the pages, for the tests that read them."""

from press.pages import notebooks, plain
from press.sphinx import questions


def blocks(name):
    """The directives of a page, those inside others too."""

    def inner(text):
        for block in plain.split(text):
            if isinstance(block, plain.Block):
                yield block
                yield from inner("\n".join(block.lines))

    return list(inner(plain.documents()[name]))


def asked(name, *kinds):
    return [block for block in blocks(name) if block.kind in kinds]


def verifications(name):
    """{id: expression} of the quick questions of a page that say how their answer is computed."""
    found = [questions.read_quick(block.argument, *block.inside()) for block in asked(name, "quick")]
    return {quick.name: quick.verify for quick in found if quick.verify}


def name_of(text):
    """The name of a page, from its file in pages/."""
    return text.relative_to(notebooks.TEXT).with_suffix("").as_posix()
