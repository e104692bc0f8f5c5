"""What students write: `answers/` has right and wrong answers to every exercise, and what is said to each.

An answer is put into the student's cell, which runs after the live cells above it, as in a browser.
"""

import contextlib
import io
import re
import warnings
from functools import cache
from pathlib import Path

import exercise
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


@cache
def cells(page):
    """[(exercise or None, source)] of the live cells of a page, in order; solutions left out."""
    found = []
    text = notebooks.ROOT / "pages" / f"{page}.md"
    for cell in notebooks.derived(notebooks.read(text)):
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code" and "live" in tags and "solution" not in tags:
            found.append((cell.metadata.get("exercise") if "exercise" in tags else None, cell.source))
    return found


def execute(source, namespace):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(source, "<cell>", "exec"), namespace)


@cache
def above(page, key):
    """The names that the cells above an exercise leave behind."""
    namespace = {"__name__": "__main__"}
    for found, source in cells(page):
        if found == key:
            return namespace
        if found is None:
            execute(source, namespace)
    raise AssertionError(f"{page} has no exercise {key}")


def verdicts(page, key, answer, monkeypatch):
    heard = []
    monkeypatch.setattr(exercises, "tell", heard.append)
    stub = next(source for found, source in cells(page) if found == key)
    execute(exercise.answered(stub, answer), dict(above(page, key)))
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
    keys = {key for key, _ in cells(page) if key}
    assert set(ANSWERS[page]) == keys
    for key, given in ANSWERS[page].items():
        assert len({a.strip() for a in given["right"]}) >= 3, key
        assert len({w["answer"].strip() for w in given["wrong"]}) >= 4, key
        assert len({w["says"] for w in given["wrong"]}) >= 3, key
