"""A class hands in: whatever comes, a row with its reason, and no verdict but ours."""

import copy
import csv
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import exercise
import grade
import numpy as np
import plain
import pytest
import sandbox
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = "lecture-13-oco/the-game"
ANSWERS = yaml.safe_load((ROOT / "tests" / "answers" / f"{PAGE}.yml").read_text("utf8"))
NOTEBOOK = json.loads((ROOT / "book" / f"{PAGE}.ipynb").read_text("utf8"))
PLAIN = plain.notebook(PAGE)  # as a reader downloads it
NAMES = list(ANSWERS)
SEED = 12345
VANDAL = ROOT / "pages" / "vandal.md"


def filled(answers, last="", notebook=NOTEBOOK):
    """A notebook of the book with these answers in its exercise cells, {exercise: source}."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        name = cell["metadata"].get("exercise")
        if "exercise" in cell["metadata"].get("tags", []) and name in answers:
            cell["source"] = exercise.answered("".join(cell["source"]), answers[name])
    if last:
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [], "source": last})
    return notebook


RIGHT = {name: given["right"][0] for name, given in ANSWERS.items()}
WRONG = {name: given["wrong"][0]["answer"] for name, given in ANSWERS.items()}
STAY = "ex-the-price-of-staying"
TAMPER = """
from ocolib import exercises
exercises.check_bound = exercises.check_argmin = exercises.check_value = lambda *a, **k: print("✓ right")
def my_price(T, c):
    return 0
"""


def first_cell(source):
    """A notebook that begins with a cell of the student's own."""
    notebook = filled(RIGHT)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
    notebook["cells"].insert(0, cell)
    return notebook


def changed(notebook, change):
    """The notebook after something was done to each cell of code."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            change(cell)
    return notebook


SUBMITTED = {
    "right": (filled(RIGHT), 3, ""),
    "wrong": (filled(WRONG), 0, "dearest"),
    "half": (filled({STAY: RIGHT[STAY]}), 1, "not yet"),
    "stripped": (changed(filled(RIGHT), lambda cell: cell.update(outputs=[], execution_count=None)), 3, ""),
    "bare": (changed(filled(RIGHT), lambda cell: cell.update(metadata={})), 0, "no exercise of the book"),
    "downloaded": (filled(RIGHT, notebook=PLAIN), 3, ""),
    "without ids": (changed(filled(RIGHT, notebook=PLAIN), lambda cell: cell.pop("id")), 3, ""),
    "endless": (first_cell("while True:\n    pass"), 0, "did not end within"),
    "memory": (first_cell("hog = [0.0] * (1 << 33)"), 3, ""),  # MemoryError in a cell of the student's own
    "network": (
        filled(RIGHT | {STAY: "import urllib.request\n\ndef my_price(T, c):\n    "
               "urllib.request.urlopen('http://127.0.0.1:9', timeout=5)\n    return (1 + abs(c)) * T"}),
        2,
        "unreachable",
    ),
    "syntax": (filled(RIGHT | {STAY: "def my_price(T, c):\n    return T"}), 2, "c = 0 only"),
    "tampered": (filled(RIGHT | {STAY: TAMPER}), 2, "gains too|Broken"),
    "renamed": (filled(RIGHT | {STAY: RIGHT[STAY].replace("my_", "mine_")}), 2, "not yet|not defined"),
    "killer": (first_cell("import os\nos.kill(os.getppid(), 9)"), 0, "its process ended"),
    "vandal": (first_cell(f"open({str(VANDAL)!r}, 'w').write('# Nothing to learn')"), 3, ""),
    "breaker": (  # who may mount could make the project writable again
        first_cell(
            f"import subprocess\nsubprocess.run(['mount', '-o', 'remount,bind,rw', {str(ROOT)!r}])\n"
            f"open({str(VANDAL)!r}, 'w').write('# Nothing to learn')"
        ),
        3,
        "",
    ),
    "exits": (first_cell("import os\nos._exit(0)"), 0, "its process ended"),
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """All submissions, graded by one call of the tool."""
    folder, into = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("grades")
    for name, (notebook, *_) in SUBMITTED.items():
        text = json.dumps(notebook)
        if name == "syntax":
            text = text.replace("def my_price(T, c):\\n    return T", "def my_price(T, c:\\n    return T")
        (folder / f"{name}.ipynb").write_text(text, "utf8")
    (folder / "empty.ipynb").write_text("", "utf8")
    (folder / "essay.txt").write_text("The regret is small.", "utf8")
    (folder / "nothing.ipynb").write_text('{"cells": [], "metadata": {}}', "utf8")
    (folder / "told.json").write_text(json.dumps({"done": {STAY: "2026"}, "edits": {}}), "utf8")
    with zipfile.ZipFile(folder / "lms.zip", "w") as bundle:
        bundle.writestr("Ada L_123_assignsubmission_file_/the-game.ipynb", json.dumps(filled(RIGHT)))
    command = [sys.executable, str(ROOT / "tools" / "grade.py"), str(folder), "--into", str(into)]
    command += ["--seed", str(SEED)]
    said = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=os.environ | {"GRADE_SECONDS": "25"}
    )
    assert said.returncode == 0, said.stderr[-3000:]
    left = subprocess.run(["pgrep", "-f", f"sandbox.py {folder}"], capture_output=True, text=True)
    assert not left.stdout, "a student's process is still running"
    with open(into / "grades.csv", newline="", encoding="utf8") as file:
        return list(csv.DictReader(file)), into


needs_fence = pytest.mark.skipif(
    subprocess.run([*grade.FENCE, "true"], capture_output=True).returncode != 0,
    reason="no namespaces here",
)


@needs_fence
@pytest.mark.parametrize("name", SUBMITTED)
def test_a_submission_gets_what_it_deserves(table, name):
    rows = [row for row in table[0] if row["student"] == name]
    _, points, reason = SUBMITTED[name]
    if name == "syntax":
        points, reason = 2, "is not defined; its cell raised SyntaxError"
    assert sum(int(row["passed"]) for row in rows) == points, rows
    if reason:
        assert any(re.search(reason, row["reason"]) for row in rows), rows
    assert len(rows) == (1 if name in ("exits", "endless", "bare", "killer") else 3)
    assert not VANDAL.exists()


@needs_fence
def test_what_is_no_notebook_is_a_row_with_its_reason(table):
    rows = {row["student"]: row for row in table[0]}
    assert "not a notebook" in rows["empty"]["reason"] and "not a notebook" in rows["essay"]["reason"]
    assert "no exercise of the book" in rows["nothing"]["reason"]
    assert rows["told"]["reason"] == "self-reported, not checked" and rows["told"]["passed"] == "0"


@needs_fence
def test_a_zip_of_a_learning_platform_is_opened(table):
    rows = [row for row in table[0] if row["student"].startswith("Ada L")]
    assert [row["passed"] for row in rows] == ["1", "1", "1"]


@needs_fence
def test_every_student_gets_a_page_and_it_is_text(table):
    pages = {path.stem: path.read_text("utf8") for path in (table[1] / "feedback").iterdir()}
    assert {"right", "wrong", "empty", "endless"} <= set(pages)
    assert "3 of 3 solved" in pages["right"] and "dearest" in pages["wrong"]


def test_a_formula_that_fits_only_the_printed_cases_is_found_out():
    """Hard-coded answers pass on the page, and not on instances that no page shows."""
    from ocolib import exercises

    def learned(T):
        return {1.0: 2.0, 2.0: 4.0}[T]

    heard = []
    old = exercises.tell
    exercises.tell = heard.append
    try:
        exercises.check_formula(learned, lambda T: 2 * T, [(1.0,), (2.0,)])
        exercises.fresh = SEED
        exercises.check_formula(learned, lambda T: 2 * T, [(1.0,), (2.0,)])
    finally:
        exercises.tell, exercises.fresh = old, 0
    assert [verdict.passed for verdict in heard] == [True, False]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("deep.ipynb", "[" * 100_000, "or damaged (RecursionError)"),
        ("deep.json", "[" * 100_000, "or damaged (RecursionError)"),
        (
            "list.ipynb",
            '{"cells": [{"metadata": {"tags": ["exercise"], "exercise": ["x"]}}]}',
            "not a notebook",
        ),
        ("none.json", '{"done": []}', "nothing of the book is done in it"),
        ("locked.zip", None, "not a notebook"),
    ],
)
def test_whatever_is_handed_in_is_a_row(tmp_path, monkeypatch, name, text, reason):
    if text is None:
        monkeypatch.setattr(
            zipfile.ZipFile, "extractall", lambda *_: _raise(RuntimeError("password required"))
        )
        with zipfile.ZipFile(tmp_path / name, "w") as bundle:
            bundle.writestr("a.ipynb", "{}")
    else:
        (tmp_path / name).write_text(text, "utf8")
    (row,) = grade.graded(tmp_path, "none", 0)
    assert row.student == name.partition(".")[0] and reason in row.reason


def _raise(error):
    raise error


def test_what_has_no_plain_form_is_named_by_its_type():
    for value in (1 + 2j, np.complex128(1j), np.longdouble(1.5), np.datetime64("2026-11-17"), {1}):
        assert json.loads(json.dumps(sandbox.pack(value)))["other"]
    assert sandbox.pack([np.float64(0.5), np.int64(3), np.bool_(True), None]) == [0.5, 3, True, None]


def test_an_exercise_keeps_the_helpers_of_its_cell(tmp_path):
    """Whoever gives a helper another meaning later is not failed for what stood above."""
    sources = {
        "ex-1": "def step(t): return 1 / t\ndef my_one(): return step(2)",
        "ex-2": "def step(t): return t\ndef my_two(): return step(2), my_one()",
    }
    cells = [
        {"cell_type": "code", "source": source, "metadata": {"exercise": name, "tags": ["exercise", "live"]}}
        for name, source in sources.items()
    ]
    (tmp_path / "notebook.ipynb").write_text(json.dumps({"cells": cells}), "utf8")
    namespace, found, wrong = sandbox.run(tmp_path / "notebook.ipynb", set())
    assert not wrong and sandbox.call(namespace, found["ex-2"], "my_two", []) == (2, 2)
    assert sandbox.call(namespace, found["ex-1"], "my_one", []) == 0.5
    assert "my_two" not in namespace, "after the first cell there was none"


def test_without_a_fence_it_refuses(monkeypatch):
    monkeypatch.setattr(grade.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="NETWORK=allowed"):
        grade.fence("none")
    assert grade.fence("allowed") == []
