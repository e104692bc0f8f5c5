"""Test right and wrong answers to every exercise (`answers/`), and the feedback to each.

An answer is put into the student's cell, which compares it with the recorded cases. A right answer, such as
the worked solution, must also pass the judge, who has the reference, on fresh random instances; these must
satisfy the hypotheses of the exercise. A wrong answer must be rejected by the judge too. The same answers run
in the page's fresh namespace (boot.py), in a Jupyter kernel, and through the real pipe of grading
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
from folded import for_each
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
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C version is ten times as fast
ANSWERS = {page: yaml.load(path.read_text("utf8"), LOADER) or {} for page, path in FILES.items()}
EXERCISES = [(page, key) for page, asked in ANSWERS.items() for key in asked]
every_exercise = pytest.mark.parametrize(("page", "key"), EXERCISES)
each_exercise = for_each("page, key", EXERCISES)  # where one takes milliseconds


def text(page):
    return notebooks.TEXT / f"{page}.md"


def verdicts(page, key, answer, monkeypatch):
    heard = []
    monkeypatch.setattr(exercises, "tell", heard.append)
    before, stub = judging.student(text(page), key, answer)
    judging.run_quietly(exercise.answered(stub, answer), dict(before))
    return heard


@each_exercise
def test_a_right_answer_passes(page, key, monkeypatch):
    for answer in ANSWERS[page][key]["right"]:
        heard = verdicts(page, key, answer, monkeypatch)
        assert heard and all(verdict.passed for verdict in heard), "\n".join(map(str, [answer, *heard]))


@each_exercise
def test_a_wrong_answer_is_refused_with_a_word_that_helps(page, key, monkeypatch):
    for given in ANSWERS[page][key]["wrong"]:
        heard = verdicts(page, key, given["answer"], monkeypatch)
        failed = [str(verdict) for verdict in heard if not verdict.passed]
        assert failed, f"it passes: {given['answer']}"
        assert any(re.search(given["says"], text) for text in failed), "\n".join([given["answer"], *failed])


@every_exercise
def test_a_wrong_answer_is_refused_by_the_judge(page, key):
    for given in ANSWERS[page][key]["wrong"]:
        heard, _ = judged(key, given["answer"], 0)
        assert not all(verdict.passed for verdict in heard), given["answer"]


def test_every_exercise_has_answers():
    exercises = {(page, key) for key, (page, _) in judging.book().items()}
    assert exercises == {(text(page), key) for page, asked in ANSWERS.items() for key in asked}


def test_there_are_enough_answers():
    """Three right ones, written differently; four wrong ones, three of which are told their own slip."""
    for key, given in ((key, given) for asked in ANSWERS.values() for key, given in asked.items()):
        assert len({a.strip() for a in given["right"]}) >= 3, key
        assert len({w["answer"].strip() for w in given["wrong"]}) >= 4, key
        assert len({w["says"] for w in given["wrong"]}) >= 3, key


# ---------------------------------------------------------------- instances that no page shows


@cache
def worked(page):
    """Return {exercise: the functions my_… of its worked solution}."""
    return {
        cell.metadata["exercise"]: exercise.joined(
            [(part, part.text()) for part in exercise.parts(cell.source) if exercise.is_answer(part.node)]
        )
        for cell in notebooks.read(page)
        if "exercise" in cell.metadata
    }


def judged(key, answer, fresh):
    """Return the judge's verdict on an answer, and the inputs that it was called with."""
    page, _ = judging.book()[key]
    student, asked = dict(judging.student(page, key, answer)[0]), set()
    judging.run_quietly(answer, student)

    def ask(function, args, kwargs):
        asked.add(tuple(x for x in args if isinstance(x, int | float)))
        return student[function](*args)

    return checks.verdicts(key, ask, fresh), asked


FRESH = [range(1, 2), pytest.param(range(2, 36), marks=pytest.mark.long)]


@pytest.mark.parametrize("seeds", FRESH, ids=["one", "many"])
@every_exercise
def test_a_right_answer_passes_on_instances_that_no_page_shows(page, key, seeds):
    solution = worked(text(page))[key]
    _, shown = judged(key, solution, 0)
    # formulas are compared at numbers; arrays and games stay the same
    changes = "check_formula(" in judging.above(text(page), key)[1] and shown != {()}
    for answer in [solution, *ANSWERS[page][key]["right"]]:
        new = set()
        for fresh in seeds:
            heard, asked = judged(key, answer, fresh)
            assert heard and all(v.passed for v in heard), "\n".join(map(str, [fresh, answer, *heard]))
            new |= asked - shown
        assert new or not changes, "no other numbers are tried: the printed cases can be learned by heart"


def test_an_answer_may_use_numpy():
    for key, (page, _) in judging.book().items():
        assert judging.student(page, key)[0]["np"] is np, key


# ---------------------------------------------------------------- the reference stays hidden


@cache
def cell_of(key):
    page, _ = judging.book()[key]
    return dict(judging.page_cells(page))[key]


def shown_to_students(key):
    """Return what a student gets: the cells of page, notebook, zip and wheel, and the recorded cases."""
    made = exercise.split(cell_of(key), key)
    return f"{made.kept}\n{made.stub}", (cases.FOLDER / f"{key}.json").read_text("utf8")


@each_exercise
def test_no_student_sees_the_reference_the_slips_or_the_answer(page, key):
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
            given = squeezed(exercise.split(cell_of(key), key).stub)  # a measure may be on the same line
            lines = lines[(first.end_lineno if doc else first.lineno - 1) - part.node.lineno + 1 :]
        for line in map(squeezed, lines):
            assert len(line) < LEAST or line not in given, line
            assert len(line) < LEAST or line not in squeezed(data) or "lambda" not in line, line


@each_exercise
def test_a_number_that_is_the_solution_cannot_be_read(page, key):
    """Where the answer depends on nothing, neither it nor what slips would give stands in the data."""
    page, (_, data) = text(page), shown_to_students(key)
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
    """Return [(exercise or None, number, source)] of the live cells that a page shows, without solutions."""
    shown = [cell for cell in notebooks.make(text(page)).cells if cell.cell_type == "code"]
    return [
        (cell.metadata.get("exercise") if "exercise" in notebooks.tags(cell) else None, number, cell.source)
        for number, cell in enumerate(shown, 1)
        if "live" in notebooks.tags(cell) and "solution" not in notebooks.tags(cell)
    ]


def loaded(name, file):
    """Return a module of the browser's Python, loaded here."""
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def in_the_page(monkeypatch):
    """Return what the page receives when an answer runs there."""
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
@every_exercise
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
    """Return [(right?, expected feedback, actual feedback)] for all answers, in the students' notebook."""
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


JUPYTER = [  # one page on every push, all pages every night
    page if page == "lecture-13-oco/the-game" else pytest.param(page, marks=pytest.mark.long)
    for page in ANSWERS
]


@pytest.mark.parametrize("page", JUPYTER)
def test_jupyter_says_the_same(page):
    for right, says, said in in_jupyter(page):
        assert ("✗" not in said and "✓" in said) if right else ("✗" in said or "…" in said), said
        assert re.search(says, said), said
