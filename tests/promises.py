"""Which aspects of a bound a test shows: `@checks(bounds.osd, "held")`.

`held`: not broken by any game tried; `met`: some game meets it with equality, so that it breaks when scaled
down; `broken`: it breaks when scaled below its known tightness; `reached`: a floor that is attained.
"""

import ast
from collections import defaultdict
from pathlib import Path

DEMANDED = {"tight": {"held", "met"}, "upper": {"held", "broken"}, "lower": {"reached"}}
ASPECTS = set.union(*DEMANDED.values())


def checks(bound, *aspects):
    """Mark a test as showing these aspects of the bound."""
    assert callable(bound) and aspects and set(aspects) <= ASPECTS, (bound, aspects)
    return lambda test: test


def checked():
    """{name of a bound: the aspects that some test shows}, read off the marks in all test files."""
    found = defaultdict(set)
    for file in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf8"))):
            for mark in getattr(node, "decorator_list", []):
                if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "checks":
                    bound, *aspects = mark.args
                    found[bound.attr].update(aspect.value for aspect in aspects)
    return found
