"""Share helpers for the tests of grading: a sandbox, small notebooks, and a look inside the sandbox."""

import json
import shutil

import pytest
import yaml

from press import ROOT
from press.grade import pipe
from press.grade.fence import Fence

PAGE = "lecture-13-oco/the-game"
ANSWERS = yaml.safe_load((ROOT / "tests" / "answers" / f"{PAGE}.yml").read_text("utf8"))
RIGHT = {name: given["right"][0] for name, given in ANSWERS.items()}
WRONG = {name: given["wrong"][0]["answer"] for name, given in ANSWERS.items()}
STAY, BEST, LUCKY = "ex-the-price-of-staying", "ex-the-best-point-in-hindsight", "ex-how-lucky-can-one-get"
SEED = 12345
SPEAK = """
import os
def speak(data):
    for number in range(3, 20):
        try:
            os.write(number, data)
        except OSError:
            pass
"""

needs_fence = pytest.mark.skipif(
    not shutil.which("bwrap"), reason="NOT TESTED, no bubblewrap here: apt install bubblewrap libseccomp2"
)


@pytest.fixture(scope="session")
def fence():
    with Fence() as made:
        yield made


def code(source, **metadata):
    return {
        "cell_type": "code",
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
        "source": source,
    }


def asks(name, source):
    """Return the cell of an exercise with this answer."""
    return code(source, exercise=name, tags=["exercise", "live"])


def packed(*cells):
    """Return the bytes of a notebook with these cells."""
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def handed_in(answers, *before, after=()):
    """Return a small notebook: imports, cells of the student, and the exercises with these answers."""
    cells = [code("import numpy as np"), *(code(source) for source in before)]
    return packed(
        *cells, *(asks(name, text) for name, text in answers.items()), *(code(text) for text in after)
    )


def behind(fence, source, *args, seconds=30):
    """Return what `my_spy`, defined by this source, returns inside the sandbox."""
    student = pipe.Student(fence)
    try:
        found, wrong = student.run([(0, ("spy", source))], {"spy": ["my_spy"]}, seconds)
        assert found["spy"], wrong
        student.begin(seconds)
        return student.ask("spy", "my_spy", args, {})
    finally:
        student.end()


def passed(judged):
    return {row.exercise: row.passed for row in judged.rows}
