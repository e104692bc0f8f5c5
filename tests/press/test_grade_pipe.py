"""Test right and wrong answers to every exercise in the real sandbox, through the real pipe.

An answer that passes in a notebook must pass here too, also on instances that no page shows; a wrong one must
be rejected with the same feedback. One process handles all answers to the exercises of a page, because they
are our own. One answer of each kind tests that arguments and values can be sent; `make long` sends all of
them, and test_answers judges them without a pipe.
"""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml
from grading import SEED, behind, fence, needs_fence

from press.grade import checks, pipe, wire
from press.pages import exercise, notebooks

HOME = Path(__file__).parents[1] / "answers"
PAGES = [path.relative_to(HOME).with_suffix("").as_posix() for path in sorted(HOME.rglob("*.yml"))]
__all__ = ["fence"]


def through(student, page, key, answer, instances):
    """Return the judge's verdict on an answer that runs in the student's process."""
    sources, stub = checks.needed(page, key, answer)
    cells = [(None, source) for source in sources] + [(key, exercise.answered(stub, answer))]
    names = checks.functions(key)
    found, wrong = student.run(list(enumerate(cells)), {key: names}, 60)
    assert found[key] == names, wrong
    student.begin(120)
    heard = []
    for instance in instances:
        heard += checks.verdicts(
            key, lambda name, args, kwargs: student.ask(key, name, args, kwargs), instance
        )
    return heard


@needs_fence
@pytest.mark.parametrize("many", [1, pytest.param(None, marks=pytest.mark.long)], ids=["one", "all"])
@pytest.mark.parametrize("page", PAGES)
def test_answers_go_through_the_pipe(fence, page, many):
    text = notebooks.TEXT / f"{page}.md"
    student = pipe.Student(fence)
    try:
        for key, given in yaml.safe_load((HOME / f"{page}.yml").read_text("utf8")).items():
            for answer in given["right"][:many]:
                heard = through(student, text, key, answer, (0, SEED))
                assert heard and all(v.passed for v in heard), "\n".join([key, answer, *map(str, heard)])
            for wrong in given["wrong"][:many]:
                heard = through(student, text, key, wrong["answer"], (0,))
                failed = [str(verdict) for verdict in heard if not verdict.passed]
                assert any(re.search(wrong["says"], said) for said in failed), (key, wrong["answer"], failed)
    finally:
        student.end()


VALUES = [
    None, True, 3, -0.0, float("inf"), 1 << 200, "text ✓", [1, [2.5, None]], (1, 2), Fraction(-1, 3), 2 - 3j,
    np.float32(0.1), np.int64(7), np.bool_(True), np.zeros((0, 3)), np.zeros(0, dtype=bool),
    np.arange(6, dtype=np.int8).reshape(2, 3), np.array([1 + 2j]), {"a": 1, 2: [3]},
    np.array([Fraction(1, 2), None]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_arrives_as_it_was(value):
    back = wire.unpack(wire.json.loads(wire.line(wire.pack(value))))
    assert type(back) is type(value)
    if isinstance(value, np.ndarray | np.generic):
        assert back.dtype == value.dtype and back.shape == value.shape
    else:
        assert back == value
        return
    assert np.array_equal(back, value)


def test_what_does_not_travel_is_shown():
    for value in ({1}, object, np.datetime64("2026-11-17"), (x for x in [1])):
        back = wire.unpack(wire.pack(value))
        assert isinstance(back, wire.Other) and repr(back) == repr(value)[:300]
        with pytest.raises(TypeError):
            float(back)


@needs_fence
def test_functions_are_called_across_the_pipe(fence):
    """A kernel arrives as a function, its errors as errors, and an rng as a generator."""
    spy = """
import numpy as np
def my_spy(kernel, rng, w):
    w *= 2.0
    values = [kernel(np.ones(2), w), kernel(w, w)]
    try:
        kernel(w, "x")
    except TypeError as error:
        values.append(str(error))
    return [*values, rng.random(), w.dtype == float]
"""

    def kernel(x, y):
        if isinstance(y, str):
            raise TypeError("no kernel of words")
        return float(x @ y) ** 2

    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    found = behind(fence, spy, kernel, rng, np.array([1.0, 2.0]))
    assert found == [36.0, 400.0, "no kernel of words", again.random(), True]


@needs_fence
def test_the_students_own_line_is_told(fence):
    with pytest.raises(pipe.Raised, match="division by zero"):
        behind(fence, "def my_spy():\n    x = 1\n    return x / 0")
    student = pipe.Student(fence)
    try:
        source = "def helper(x):\n    return 1 / x\n\ndef my_spy():\n    return helper(0)"
        student.run([(0, ("spy", source))], {"spy": ["my_spy"]}, 10)
        with pytest.raises(pipe.Raised):
            student.ask("spy", "my_spy", (), {})
        assert (student.error["line"], student.error["source"]) == (2, "return 1 / x")
    finally:
        student.end()
