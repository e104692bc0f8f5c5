"""What students write: `answers/` has right and wrong answers to every exercise, and what is said to each.

An answer is put into the student's cell, which judges it by the recorded cases. A right one, the worked
solution among them, must also pass with the judge, who has the reference, on instances that only who grades
tries: numbers drawn anew must keep the hypotheses of the exercise. A wrong one is refused by the judge too.
The same answers go through the page's clean room (boot.py), a kernel of Jupyter, and the real pipe of grading
(test_grade_pipe.py).
"""

import ast
import importlib.util
import json
import re
import sys
import types
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from leaks import LEAST, squeezed
from nbformat.v4 import new_code_cell

from ocolib import exercises
from ocolib.exercises import cases
from press.grade import checks
from press.live import SOURCES
from press.pages import depends, exercise, judging, notebooks, plain
from press.sphinx import live

HOME = Path(__file__).parents[1] / "answers"
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
    before, stub = judging.student(text(page), key, answer)
    judging.run_quietly(exercise.answered(stub, answer), dict(before))
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


@pytest.mark.parametrize(("page", "key", "number"), WRONG)
def test_a_wrong_answer_is_refused_by_the_judge(page, key, number):
    heard, _ = judged(key, ANSWERS[page][key]["wrong"][number]["answer"], 0)
    assert not all(verdict.passed for verdict in heard)


@pytest.mark.parametrize("page", ANSWERS)
def test_there_are_enough_answers(page):
    """Three right ones, written differently; four wrong ones, three of which are told their own slip."""
    keys = {key for key, _ in judging.page_cells(text(page)) if key}
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
    page, _ = judging.book()[key]
    student, asked = dict(judging.student(page, key, answer)[0]), set()
    judging.run_quietly(answer, student)

    def ask(function, args, kwargs):
        asked.add(tuple(x for x in args if isinstance(x, int | float)))
        return student[function](*args)

    return checks.verdicts(key, ask, fresh), asked


def varied(page, key):
    """Is a formula compared here at numbers? Arrays and games stay as they are."""
    return "check_formula(" in judging.above(page, key)[1] and judged(key, worked(page)[key], 0)[1] != {()}


FRESH = [range(1, 3), pytest.param(range(3, 36), marks=pytest.mark.long)]


@pytest.mark.parametrize("seeds", FRESH, ids=["few", "many"])
@pytest.mark.parametrize("key", judging.book())
def test_a_right_answer_passes_on_instances_that_no_page_shows(key, seeds):
    page, _ = judging.book()[key]
    given = ANSWERS[page.relative_to(notebooks.TEXT).with_suffix("").as_posix()][key]["right"]
    changes = varied(page, key)
    for answer in [worked(page)[key], *given]:
        _, shown = judged(key, answer, 0)
        new = set()
        for fresh in seeds:
            heard, asked = judged(key, answer, fresh)
            assert heard and all(v.passed for v in heard), "\n".join(map(str, [fresh, answer, *heard]))
            new |= asked - shown
        assert new or not changes, "no other numbers are tried: the printed cases can be learned by heart"


@pytest.mark.parametrize("key", judging.book())
def test_an_answer_may_use_numpy(key):
    page, _ = judging.book()[key]
    assert judging.student(page, key)[0]["np"] is np


# ---------------------------------------------------------------- the reference stays hidden


@cache
def cell_of(key):
    page, _ = judging.book()[key]
    return dict(judging.page_cells(page))[key]


def shown_to_students(key):
    """What stands in a student's page, notebook, zip and wheel: the cells, and the recorded cases."""
    made = exercise.split(cell_of(key), key)
    return f"{made.kept}\n{made.stub}", (cases.FOLDER / f"{key}.json").read_text("utf8")


@pytest.mark.parametrize("key", judging.book())
def test_no_student_sees_the_reference_the_slips_or_the_answer(key):
    """Neither the names of what the judge alone has, nor its code, nor the body of the answer."""
    code, data = shown_to_students(key)
    found = exercise.parts(cell_of(key))
    last = max(place for place, part in enumerate(found) if exercise.is_check(part.node))
    kept = {part.code for part in exercise.parts(exercise.split(cell_of(key), key).kept)}
    hidden = [part for part in found[: last + 1] if part.code not in kept and part.code not in code]
    names = set().union(*(depends.names_of(part.code).bound for part in hidden)) - {"slips", "cases"}
    names = {name for name in names if not name.startswith("my_")}
    used = depends.names_of(code)
    assert not names & (used.used | used.bound), "the student's cells name what is hidden"
    for part in hidden:
        lines, given = part.code.split("\n"), squeezed(code)
        if exercise.is_check(part.node):
            continue
        if exercise.is_answer(part.node):
            first = part.node.body[0]
            doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            given = squeezed(exercise.split(cell_of(key), key).stub)  # a measure may share a line with it
            lines = lines[(first.end_lineno if doc else first.lineno - 1) - part.node.lineno + 1 :]
        for line in map(squeezed, lines):
            assert len(line) < LEAST or line not in given, line
            assert len(line) < LEAST or line not in squeezed(data) or "lambda" not in line, line


@pytest.mark.parametrize("key", judging.book())
def test_a_number_that_is_the_solution_cannot_be_read(key):
    """Where the answer depends on nothing, neither it nor what slips would give stands in the data."""
    page, _ = judging.book()[key]
    _, data = shown_to_students(key)
    for check in json.loads(data):
        check = check["dict"]
        if check["kind"] == "value":
            values = dict(judging.student(page, key)[0])
            judging.run_quietly(worked(page)[key], values)
            name = re.search(r"def (my_\w+)", worked(page)[key])[1]
            for number in np.ravel(np.asarray(values[name](), dtype=float)):
                digits = f"{abs(number):.6g}".replace("0.", ".").strip(".0") or "0"
                assert len(digits) < 4 or digits not in json.dumps(check), digits
            assert all("print" in entry for entry in check["expected"])


@pytest.mark.parametrize("page", ANSWERS)
def test_the_recorded_cases_are_those_of_the_page(page):
    for name, made in judging.recordings(text(page)).items():
        stored = (cases.FOLDER / f"{name}.json").read_text("utf8")
        assert judging.alike(json.loads(stored), json.loads(made)), f"{name}: run `python -m press cases`"


# ---------------------------------------------------------------- in the browser: boot.py, run here


@cache
def printed(page):
    """[(exercise or None, number, source)] of the live cells that a page shows, but the solutions."""
    shown = [cell for cell in notebooks.make(text(page)).cells if cell.cell_type == "code"]
    return [
        (cell.metadata.get("exercise") if "exercise" in notebooks.tags(cell) else None, number, cell.source)
        for number, cell in enumerate(shown, 1)
        if "live" in notebooks.tags(cell) and "solution" not in notebooks.tags(cell)
    ]


def loaded(name, file):
    """A module of the browser's Python, loaded here."""
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def in_the_page(monkeypatch):
    """What the page hears when an answer is run there."""
    heard, side = [], types.ModuleType("js_live")
    side.post = lambda kind, told: heard.append(json.loads(told)) if kind == "verdict" else None
    monkeypatch.setitem(sys.modules, "js_live", side)
    monkeypatch.setitem(sys.modules, "live_depends", depends)
    monkeypatch.setitem(sys.modules, "live_svgplot", loaded("live_svgplot", live.SVGPLOT))
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setattr(exercises, "tell", print)
    boot = loaded("live_boot", SOURCES / "boot.py")
    loaded("live_hook", live.HOOK).adapt(boot)

    def run(page, key, answer):
        heard.clear()
        cells = printed(page)
        place = [found for found, _, _ in cells].index(key)
        above = [[number, source] for found, number, source in cells[:place] if not found]
        _, number, stub = cells[place]
        boot.run(exercise.answered(stub, answer), f"<cell {number}>", True, json.dumps(above))
        return [*heard]

    return run


@pytest.mark.live
@pytest.mark.parametrize(("page", "key"), [(page, key) for page, asked in ANSWERS.items() for key in asked])
def test_the_page_says_the_same(page, key, in_the_page):
    """Every right and wrong answer in a clean room of the page, as the browser makes it."""
    for answer in ANSWERS[page][key]["right"]:
        heard = in_the_page(page, key, answer)
        assert heard and all(verdict["passed"] for verdict in heard), (answer, heard)
    for given in ANSWERS[page][key]["wrong"]:
        heard = in_the_page(page, key, given["answer"])
        told = [
            "\n".join(str(fact) for fact in verdict.values()) for verdict in heard if not verdict["passed"]
        ]
        assert any(re.search(given["says"], text) for text in told), (given, heard)


# ---------------------------------------------------------------- in Jupyter


def in_jupyter(page):
    """[(right?, what must be said, what was said)] of all answers, in the notebook that students get."""
    made, tried = plain.notebook(page, solutions=False), []
    cells = []
    for cell in made.cells:
        cells.append(cell)
        if "exercise" in notebooks.tags(cell):
            given = ANSWERS[page][cell.metadata["exercise"]]
            answers = [(True, "✓", answer) for answer in given["right"]]
            answers += [(False, wrong["says"], wrong["answer"]) for wrong in given["wrong"]]
            for right, says, answer in answers:
                cells.append(new_code_cell(exercise.answered(cell.source, answer)))
                tried.append((right, says, cells[-1]))
    made.cells = cells
    folder = str(notebooks.notebook_of(text(page)).parent)
    notebooks.NotebookClient(made, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return [(*asked, "".join(out.get("text", "") for out in cell.outputs)) for *asked, cell in tried]


JUPYTER = [  # one page on every push, all of them at night
    page if page == "lecture-13-oco/the-game" else pytest.param(page, marks=pytest.mark.long)
    for page in ANSWERS
]


@pytest.mark.parametrize("page", JUPYTER)
def test_jupyter_says_the_same(page):
    for right, says, said in in_jupyter(page):
        assert ("✗" not in said and "✓" in said) if right else ("✗" in said or "…" in said), said
        assert re.search(says, said), said
