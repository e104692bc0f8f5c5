"""Which aspects of a promise a test shows: `@checks(bounds.descent, "held")`, `@checks(limits.ball, "met")`.

`held`: not broken by any game tried; `met`: some game meets it with equality, so that it breaks when scaled
down; `broken`: it breaks when scaled below its known tightness; `reached`: a floor that is attained.

Everything below `checks` parses files and imports none of them, so the book can ask as well:
`tests_of("ox13.thm2")` names the tests of a theorem.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEMANDED = {"tight": {"held", "met"}, "upper": {"held", "broken"}, "lower": {"reached"}}
ASPECTS = set.union(*DEMANDED.values())


def checks(promised, *aspects):
    """Mark a test as showing these aspects of a promise."""
    assert promised.kind in DEMANDED and aspects and set(aspects) <= ASPECTS, (promised, aspects)
    return lambda test: test


@cache
def marked(folder, pattern, word):
    """[(path from the root, function, arguments)] of every function marked `@word(…)` in these files."""
    return [
        (file.relative_to(ROOT).as_posix(), node.name, mark.args)
        for file in sorted((ROOT / folder).glob(pattern))
        for node in ast.walk(ast.parse(file.read_text("utf8")))
        for mark in getattr(node, "decorator_list", [])
        if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == word
    ]


def shown():
    """[(promise, aspects, test)], such as ("bounds.descent", {"held"}, "tests/test_bounds.py::test_…")."""
    marks = marked("tests", "test_*.py", "checks")
    return [
        (ast.unparse(args[0]), {a.value for a in args[1:]}, f"{file}::{name}") for file, name, args in marks
    ]


def checked():
    """{promise: the aspects that some test shows}."""
    found = defaultdict(set)
    for promised, aspects, _ in shown():
        found[promised] |= aspects
    return found


def items():
    """{promise: its ledger item}, such as {"bounds.descent": "ox13.thm2"}."""
    marks = marked("ocolib", "**/*.py", "promise")
    return {f"{room(file)}.{name}": args[1].value for file, name, args in marks}


def room(file):
    """`limits` of ocolib/limits/late.py, `bounds` of ocolib/bounds.py."""
    return Path(file).parts[1].removesuffix(".py")


def tests_of(item):
    """The tests of all promises of a ledger item, each once, in the order of the files."""
    own = {promised for promised, of in items().items() if of == item}
    return list(dict.fromkeys(test for promised, _, test in shown() if promised in own))
