"""What students write: `answers/` has right and wrong answers to every exercise, and what is said to each.

An answer is put into the student's cell, which runs after the live cells above it, as in a browser. A right
one, the worked solution among them, must also pass on the instances that only who grades tries: numbers
drawn anew must keep the hypotheses of the exercise. A wrong one is refused there for what it does here, as
who grades tries the printed instances too.
"""

import re
from functools import cache
from pathlib import Path

import exercise
import grade
import notebooks
import pytest
import yaml

from ocolib import exercises

HOME = Path(__file__).parent / "answers"
FILES = {path.relative_to(HOME).with_suffix("").as_posix(): path for path in sorted(HOME.rglob("*.yml"))}
ANSWERS = {page: yaml.safe_load(path.read_text("utf8")) or {} for page, path in FILES.items()}
RIGHT = [
    (page, key, i)
    for page, asked in ANSWERS.items()
    for key, given in asked.items()
    for i in range(len(given["right"]))
]
WRONG = [
    (page, key, i)
    for page, asked in ANSWERS.items()
    for key, given in asked.items()
    for i in range(len(given["wrong"]))
]


def text(page):
    return notebooks.TEXT / f"{page}.md"


def verdicts(page, key, answer, monkeypatch):
    heard = []
    monkeypatch.setattr(exercises, "tell", heard.append)
    before, stub = grade.above(text(page), key, answer)
    grade.run_quietly(exercise.answered(stub, answer), dict(before))
    return heard


@pytest.mark.parametrize(("page", "key", "number"), RIGHT)
def test_a_right_answer_passes(page, key, number, monkeypatch):
    heard = verdicts(page, key, ANSWERS[page][key]["right"][number], monkeypatch)
    assert heard and all(verdict.passed for verdict in heard), "\n".join(map(str, heard))


@pytest.mark.parametrize(("page", "key", "number"), WRONG)
def test_a_wrong_answer_is_refused_with_a_word_that_helps(page, key, number, monkeypatch):
    given = ANSWERS[page][key]["wrong"][number]
    heard = verdicts(page, key, given["answer"], monkeypatch)
    failed = [str(verdict) for verdict in heard if not verdict.passed]
    assert failed, "it passes"
    assert any(re.search(given["says"], text) for text in failed), "\n".join(failed)


@pytest.mark.parametrize("page", ANSWERS)
def test_there_are_enough_answers(page):
    """Three right ones, written differently; four wrong ones, three of which are told their own slip."""
    keys = {key for key, _ in grade.page_cells(text(page)) if key}
    assert set(ANSWERS[page]) == keys
    for key, given in ANSWERS[page].items():
        assert len({a.strip() for a in given["right"]}) >= 3, key
        assert len({w["answer"].strip() for w in given["wrong"]}) >= 4, key
        assert len({w["says"] for w in given["wrong"]}) >= 3, key


# ---------------------------------------------------------------- instances that no page shows


@cache
def worked(page):
    """{exercise: the functions my_… of its worked solution}"""
    return {
        cell.metadata["exercise"]: exercise.joined(
            [(part, part.text()) for part in exercise.parts(cell.source) if exercise.is_answer(part.node)]
        )
        for cell in notebooks.read(page)
        if "exercise" in cell.metadata
    }


def judged(key, answer, fresh):
    """What the judge says of an answer, and the numbers that it was asked about."""
    page, _ = grade.book()[key]
    student, asked = dict(grade.above(page, key, answer)[0]), set()
    grade.run_quietly(answer, student)

    def ask(function, args):
        asked.add(tuple(x for x in args if isinstance(x, int | float)))
        return student[function](*args)

    return grade.verdicts(key, ask, fresh), asked


def varied(page, key):
    """Is a formula compared here at numbers? Arrays and games stay as they are."""
    return "check_formula(" in grade.above(page, key)[1] and judged(key, worked(page)[key], 0)[1] != {()}


FRESH = [range(1, 6), pytest.param(range(6, 36), marks=pytest.mark.long)]


@pytest.mark.parametrize("seeds", FRESH, ids=["few", "many"])
@pytest.mark.parametrize("key", grade.book())
def test_a_right_answer_passes_on_instances_that_no_page_shows(key, seeds):
    page, _ = grade.book()[key]
    given = ANSWERS[page.relative_to(notebooks.TEXT).with_suffix("").as_posix()][key]["right"]
    for answer in [worked(page)[key], *given]:
        _, shown = judged(key, answer, 0)
        new = set()
        for fresh in seeds:
            heard, asked = judged(key, answer, fresh)
            assert heard and all(v.passed for v in heard), "\n".join(map(str, [fresh, answer, *heard]))
            new |= asked - shown
        assert new or not varied(page, key), (
            "no other numbers are tried: the printed cases can be learned by heart"
        )
