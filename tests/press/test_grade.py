"""Test grading: honest notebooks keep their marks, and the output is what learning platforms read."""
# ruff: noqa: E501 (cells of notebooks are long)

import csv
import datetime as dt
import io
import json
import zipfile

import pytest
from grading import (
    ANSWERS,
    BEST,
    LUCKY,
    PAGE,
    RIGHT,
    SEED,
    STAY,
    WRONG,
    asks,
    code,
    fence,
    handed_in,
    needs_fence,
    packed,
    passed,
)

from press import ROOT
from press import grade as grading
from press.grade import assignment as assignments
from press.grade import fence as fences
from press.grade import handed_in as files
from press.grade import notebook, report
from press.grade.judge import Judged, Row, judge
from press.pages import exercise, plain

__all__ = ["fence"]
EVERYTHING = dict.fromkeys(ANSWERS, True)
NUMPY = code("import numpy as np")
STUB = "def my_price(T, c):\n    '''Say what is promised.'''\n    return None\n\nexercises.check_bound(my_price, games)"


def filled(given, answers):
    """Return a notebook of the book with these answers in its exercise cells."""
    for cell in given["cells"]:
        name = cell["metadata"].get("exercise")
        if "exercise" in cell["metadata"].get("tags", []) and name in answers:
            cell["source"] = exercise.answered("".join(cell["source"]), answers[name])
    return given


def stored():
    return json.loads((ROOT / "book" / f"{PAGE}.ipynb").read_text("utf8"))


# ---------------------------------------------------------------- honest notebooks


def changed(given, change):
    for cell in given["cells"]:
        if cell["cell_type"] == "code":
            change(cell)
    return given


def bare(cell):
    cell["metadata"] = {}
    cell.pop("id", None)


HONEST = {
    "of the book": lambda: filled(stored(), RIGHT),
    "downloaded": lambda: filled(json.loads(json.dumps(plain.notebook(PAGE))), RIGHT),
    "outputs cleared": lambda: changed(
        filled(stored(), RIGHT), lambda c: c.update(outputs=[], execution_count=None)
    ),
    "without ids": lambda: changed(filled(stored(), RIGHT), lambda c: c.pop("id")),
    "without metadata": lambda: changed(filled(stored(), RIGHT), bare),
    "another kernel": lambda: filled(stored(), RIGHT) | {"metadata": {"kernelspec": {"name": "xpython-raw"}}},
}


@needs_fence
@pytest.mark.parametrize("kind", HONEST)
def test_a_whole_notebook_keeps_its_marks(fence, kind):
    judged = judge(json.dumps(HONEST[kind]()).encode(), ANSWERS, fence, SEED)
    assert passed(judged) == EVERYTHING, judged


@needs_fence
def test_wrong_answers_are_told_why(fence):
    judged = judge(handed_in(WRONG), ANSWERS, fence, SEED)
    assert not any(row.passed for row in judged.rows)
    assert "cost most" in judged.rows[0].message and judged.rows[0].input and judged.rows[0].got


PRICE = "def my_price(T, c):\n    return (1 + abs(c)) * T"
SMALL = {
    "magics": packed(code("%matplotlib inline\n%load_ext autoreload\nimport numpy as np"), asks(STAY, f"%%time\n{PRICE}")),
    "shell lines": packed(NUMPY, code("files = !ls\n!pip install numpy\nnp.mean?\nlen(files)"), asks(STAY, PRICE)),
    "display": packed(NUMPY, code("display(np.ones(2))"), asks(STAY, f"{PRICE}\ndisplay(my_price(2, 1))")),
    "a line that begins with %": packed(
        asks(STAY, "def my_price(T, c):\n    return ((1 + abs(c)) * T + 2 * (T\n% 2) - 2 * (T\n% 2))")
    ),
    "% and a magic": packed(
        asks(STAY, "%pylab inline\ndef my_price(T, c):\n    return ((1 + abs(c)) * T + 0 * (T\n    % 2))")
    ),
    "in a cell below": packed(NUMPY, asks(STAY, STUB), code("# my own"), code(PRICE)),
    "in a cell above": packed(NUMPY, code(PRICE), asks(STAY, STUB)),
    "an import further below": packed(
        asks(STAY, "def my_price(T, c):\n    return (1 + math.fabs(c)) * T"), code("import math")
    ),
    "an import of something that is not there": packed(
        code("import nothing_here, numpy as np\nfrom ocolib import nothing, sets"),
        asks(STAY, "def my_price(T, c):\n    return (1 + np.abs(c)) * T + 0 * sets.Box([-1], [1]).dim"),
    ),
    "annotations from the future": packed(
        code("from __future__ import annotations"), asks(STAY, PRICE.replace("T, c", "T: Int, c: Real"))
    ),
    "a decimal": packed(
        asks(STAY, "from decimal import Decimal\ndef my_price(T, c):\n    return Decimal(float((1 + abs(c)) * T))")
    ),
    "an import in a cell of the book": packed(
        code("import math\nimport matplotlib.pyplot as plt\nplt.plot([1])", tags=["book"]),
        asks(STAY, "def my_price(T, c):\n    return (1 + math.fabs(c)) * T"),
    ),
    "a helper with two meanings": packed(
        asks(STAY, "def size(c):\n    return abs(c)\ndef my_price(T, c):\n    return (1 + size(c)) * T"),
        code("def size(c):\n    return 17"),
    ),
    "a lambda": packed(asks(STAY, "my_price = lambda T, c: (1 + abs(c)) * T")),
    "a failing line before": packed(asks(STAY, f"print(undefined)\n{PRICE}")),
    "a cell that fails": packed(code("1 / 0"), asks(STAY, PRICE)),
    "a missing package": packed(code("import seaborn as sns\nx = 1"), asks(STAY, f"{PRICE}\nx + 1")),
    "an endless cell elsewhere": packed(code("while True:\n    pass"), asks(STAY, PRICE)),
    "exit": packed(code("import sys\nsys.exit(1)"), code("import os\nos._exit(0)"), asks(STAY, PRICE)),
    "input": packed(code("name = input()"), asks(STAY, PRICE)),
    "a BOM": b"\xef\xbb\xbf" + packed(asks(STAY, PRICE)),
    "the metadata lost, the id kept": packed({**code(PRICE), "id": STAY}),
    "a fraction": packed(
        code("from fractions import Fraction"),
        asks(STAY, "def my_price(T, c):\n    return Fraction(1 + abs(c)) * Fraction(T)"),
    ),
    "threads": packed(
        asks(STAY, "from concurrent.futures import ThreadPoolExecutor\ndef my_price(T, c):\n"
             "    with ThreadPoolExecutor(2) as pool:\n        return list(pool.map(lambda x: (1 + abs(x)) * T, [c]))[0]")
    ),
}  # fmt: skip


@needs_fence
@pytest.mark.parametrize("kind", SMALL)
def test_an_honest_answer_counts(fence, kind):
    judged = judge(SMALL[kind], [STAY], fence, SEED, seconds=6)
    assert passed(judged) == {STAY: True}, judged


def test_shell_lines_become_python_and_percent_stays():
    assert "get_ipython" in notebook.plain("x = !ls") and "get_ipython" in notebook.plain("f?")
    for source in ("x = (7\n% 2)", "print('%d' % 3)", "y = '''\n%time\n!ls\n'''"):
        assert notebook.plain(source) == source


@needs_fence
def test_one_endless_answer_costs_that_exercise_only(fence):
    for endless in ("def my_price(T, c):\n    while True:\n        pass", "while True:\n    pass"):
        judged = judge(handed_in(RIGHT | {STAY: endless}), ANSWERS, fence, SEED, seconds=6)
        assert passed(judged) == EVERYTHING | {STAY: False}
        assert "longer than 6 seconds" in {row.exercise: row.message for row in judged.rows}[STAY]


@needs_fence
def test_what_is_not_there_has_no_marks_and_a_reason(fence):
    two = {name: text for name, text in RIGHT.items() if name != LUCKY}
    judged = judge(handed_in(two), ANSWERS, fence, SEED)
    assert passed(judged) == EVERYTHING | {LUCKY: False}
    assert {row.exercise for row in judged.rows if row.absent} == {LUCKY}
    row = judge(handed_in({STAY: "def my_price(T, c:\n    return T"}), [STAY], fence, SEED).rows[0]
    assert "SyntaxError" in row.message and row.line == 1 and "my_price(T, c:" in row.source
    row = judge(handed_in({STAY: PRICE.replace("my_", "mine_")}), [STAY], fence, SEED).rows[0]
    assert row.message == "The function my_price is not defined."
    row = judge(handed_in({STAY: STUB}), [STAY], fence, SEED).rows[0]
    assert not row.passed and "not yet" in row.message.lower()


@pytest.mark.parametrize(
    "content", [b"", b"The regret is small.", b"[" * 100_000, b'{"cells": 3}', b"{}", b"\xff\xfe\x00"]
)
def test_what_is_no_notebook_is_a_reason(content):
    assert judge(content, [STAY], None).reason == "it is not a notebook, or it is damaged"


def test_a_notebook_too_large_is_a_reason():
    assert "larger than" in judge(b" " * (notebook.LARGEST + 1), [STAY], None).reason


# ---------------------------------------------------------------- no fence, no marks


def test_without_a_fence_it_refuses(monkeypatch):
    monkeypatch.setattr(fences.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="apt install bubblewrap") as refused:
        fences.Fence()
    assert "NETWORK" not in str(refused.value)


@needs_fence
def test_without_a_list_of_system_calls_it_refuses(monkeypatch):
    def none(name):
        raise OSError(name)

    monkeypatch.setattr(fences.ctypes, "CDLL", none)
    with pytest.raises(SystemExit, match="libseccomp is not installed"):
        fences.Fence()


@needs_fence
@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["--no-such-option"], "0.8 or newer"),
        (
            ["--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"],
            "gives you no user namespaces",
        ),
    ],
)
def test_a_fence_that_fails_says_what_bubblewrap_said(fence, monkeypatch, words, advice):
    """One that is too old has to be installed; one that may make no namespace has to be allowed to."""
    command = fences.Fence.command
    monkeypatch.setattr(
        fences.Fence, "command", lambda self, *fds: [self.program, *words, *command(self, *fds)]
    )
    with pytest.raises(SystemExit, match=f"bubblewrap says.*\n.*{advice}"):
        fence.probe()


# ---------------------------------------------------------------- the assignment


def written(tmp_path, text):
    path = tmp_path / "assignment.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_an_assignment_says_what_counts(tmp_path):
    (tmp_path / "roster.csv").write_text("id;name\ns1;Student One\ns2;Student Two\n", "utf8")
    text = "title: Sheet 3\ndue: 2026-11-20 23:59\nlate: {per day: 10, days: 3}\nattempts: last\nroster: roster.csv\n"
    asked = assignments.read(written(tmp_path, f"{text}exercises:\n  {STAY}: 2\n  {BEST}: 1.5\n"))
    assert asked.total == 3.5 and asked.attempts == "last" and asked.roster.people["s2"] == "Student Two"
    due = dt.datetime(2026, 11, 20, 23, 59)
    assert [asked.days_late(due + dt.timedelta(hours=h)) for h in (-5, 0, 1, 24, 25)] == [0, 0, 1, 1, 2]
    assert [asked.factor(days) for days in (0, 1, 3, 4)] == [1, 0.9, 0.7, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exercises: 3", "must have `exercises:`"),
        ("exercises: [ex-nothing]", "no exercise ex-nothing"),
        (f"exercises: {{{STAY}: -1}}", "above 0"),
        (f"exercises: [{STAY}]\npionts: 3", "unknown key pionts"),
        (f"exercises: [{STAY}]\ndue: soon", "2026-11-20"),
        (f"exercises: [{STAY}]\nattempts: all", "best or last"),
        (f"exercises: [{STAY}]\nlate: 10", "per day"),
        (f"exercises: [{STAY}]\nroster: gone.csv", "cannot be read"),
        ("a: [", "not valid YAML"),
        (f"exercises: [{STAY}]\ndue: 2026-02-30", "not valid YAML: day is out of range"),
        ("title: Übung".encode("latin-1"), "not valid YAML: .*utf-8"),
        ("exercises: []", "must have `exercises:`"),
        (f"exercises: [{STAY}]\npackages: ['']", "is not installed"),
        (f"exercises: [{STAY}]\n3: x\nzz: y", "unknown key 3, zz"),
        (f"exercises: [{STAY}]\nroster: [a]", "cannot be read"),
        ("exercises: [ex-a-bound-that-is-too-good]", "proofs cannot"),
    ],
)
def test_a_mistake_in_it_is_a_sentence(tmp_path, text, said):
    with pytest.raises(SystemExit, match=said):
        assignments.read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,id\nA\n", "a row without an id: A"),
        ("id,name\n,A\n", "a row without an id: A"),
        ('Identifier,Full name\n"",B\n', "a row without an id: B"),
        (f"id,name\ns1,{'x' * 200_000}\n", "cannot be read: field larger"),
        ("id,name\ns1,Müller\n".encode("latin-1"), "not in UTF-8"),
    ],
)
def test_a_mistake_in_a_roster_is_a_sentence(tmp_path, text, said):
    with pytest.raises(SystemExit, match=said):
        assignments.roster(written(tmp_path, text))


def test_a_number_of_the_command_line_is_at_least_1(tmp_path, capsys):
    for words in (["--jobs", "-1"], ["--jobs", "0"], ["--seed", "-4"]):
        with pytest.raises(SystemExit):
            grading.main([str(tmp_path), *words])
        assert f"must be 1 or larger, not {words[1]}" in capsys.readouterr().err


def row(name, passed, **others):
    return Row(name, passed, "a word", **others)


def attempt(student="s1", when=None, file="a.ipynb", **others):
    return files.Attempt(student, student, file, b"", when, (when or dt.datetime.min, 0, file), **others)


def test_marks_count_the_best_or_the_last_and_a_gap_is_zero():
    first, second = dt.datetime(2026, 11, 19), dt.datetime(2026, 11, 21, 12)
    results = [
        (attempt(when=second, file="b.ipynb"), Judged([row(STAY, False), row(BEST, True)])),
        (attempt(when=first), Judged([row(STAY, True), row(BEST, False)])),
    ]
    asked = assignments.Assignment({STAY: 2, BEST: 2, LUCKY: 6}, due=dt.datetime(2026, 11, 20), per_day=25)
    best = report.marks(asked, results)["s1"]
    assert best.points == {STAY: 2, BEST: 1, LUCKY: 0} and best.total == 3 and best.rows[LUCKY].absent
    asked.attempts = "last"
    assert report.marks(asked, results)["s1"].points == {STAY: 0, BEST: 1, LUCKY: 0}


def test_pages_in_several_notebooks_make_one_mark():
    """The last notebook has not every exercise: what is in an earlier one stays."""
    results = [
        (attempt(file="a.ipynb"), Judged([row(STAY, True), row(BEST, False, absent=True)])),
        (attempt(file="b.ipynb"), Judged([row(STAY, False, absent=True), row(BEST, True)])),
    ]
    asked = assignments.Assignment({STAY: 2, BEST: 3}, attempts="last")
    assert report.marks(asked, results)["s1"].total == 5


# ---------------------------------------------------------------- whose file is whose


def tree(folder, given):
    for name, content in given.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zipped(given):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as bundle:
        for name, content in given.items():
            bundle.writestr(name, content)
    return made.getvalue()


def found(folder, roster=None):
    graded, ignored = files.attempts(folder, roster or assignments.Roster())
    return {(one.student, one.name, one.file.rpartition("/")[2]) for one in graded}, {
        name for name, _ in ignored
    }


def test_names_of_moodle_and_canvas(tmp_path):
    moodle = zipped({
        "Student One_1234567_assignsubmission_file_/a.ipynb": b"{}",
        "Student One_1234567_assignsubmission_onlinetext_/onlinetext.html": b"",
        "Student Two_1234568_assignsubmission_file_b.ipynb": b"{}",
        "Student Three_1234569_assignsubmission_file_/essay.pdf": b"",
        "__MACOSX/._a.ipynb": b"",
    })  # fmt: skip
    canvas = {"fourstudent_55501_777001_a.ipynb": b"{}", "fourstudent_LATE_55501_777002_a-1.ipynb": b"{}"}
    graded, ignored = found(tree(tmp_path, {"all.zip": moodle, ".DS_Store": b"", **canvas}))
    assert graded == {
        ("1234567", "Student One", "a.ipynb"),
        ("1234568", "Student Two", "Student Two_1234568_assignsubmission_file_b.ipynb"),
        ("1234569", "Student Three", "essay.pdf"),
        ("55501", "fourstudent", "fourstudent_55501_777001_a.ipynb"),
        ("55501", "fourstudent", "fourstudent_LATE_55501_777002_a-1.ipynb"),
    }
    assert {name.rpartition("/")[2] for name in ignored} == {
        ".DS_Store",
        "._a.ipynb",
        "essay.pdf",
        "onlinetext.html",
    }


def test_folders_files_and_zips_named_by_the_student(tmp_path):
    inner = zipped({"work/a.ipynb": b"{}", "work/.ipynb_checkpoints/a.ipynb": b"{}"})
    given = {"student-1.ipynb": b"{}", "student-2/x/a.ipynb": b"{}", "student-3.zip": inner, "notes.txt": b""}
    graded, ignored = found(tree(tmp_path, given))
    assert {student for student, *_ in graded} == {"student-1", "student-2", "student-3"}
    assert ignored == {"notes.txt", "student-3.zip/work/.ipynb_checkpoints/a.ipynb"}


def test_a_zip_in_a_zip_and_one_zip_for_all(tmp_path):
    inner = zipped({"a.ipynb": b"{}"})
    everyone = zipped({"student-1.zip": inner, "student-2/deep.zip": zipped({"more.zip": inner})})
    graded, _ = found(tree(tmp_path, {"class.zip": everyone}))
    assert {student for student, *_ in graded} == {"student-1", "student-2"}


def test_a_zip_that_cannot_be_opened_is_listed(tmp_path):
    graded, ignored = found(tree(tmp_path, {"student-1.zip": b"PK no", "student-2.ipynb": b"{}"}))
    assert {student for student, *_ in graded} == {"student-2"} and ignored == {"student-1.zip"}


# ---------------------------------------------------------------- what comes out


MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    'Participant 1234567,Student One,one@example.org,Submitted,,3.00,Yes,"Friday, 20 November 2026, 11:41 PM",-,\n'
    "Participant 1234568,Student Two,two@example.org,No submission,,3.00,Yes,-,-,\n"
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Sheet 3 (4711),Final\n    Points Possible,,,,,3,\n"
    '"One, Student",55501,u1,one,A,,\n"Two, Student",55502,u2,two,A,,\n'
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, fence):
    """Grade five notebooks twice, as they come from both platforms."""
    outcome = {}
    for platform, roster, names in (
        ("moodle", MOODLE, ["Student One_1234567_assignsubmission_file_/a.ipynb"]),
        ("canvas", CANVAS, ["onestudent_LATE_55501_777001_a.ipynb", "strangerx_66601_777003_a.ipynb"]),
    ):
        folder = tmp_path_factory.mktemp(platform)
        (folder / "roster.csv").write_text(roster, "utf8")
        answers = RIGHT | {STAY: "def my_price(T, c):\n    return T / 0"}
        tree(folder / "in", {name: handed_in(answers, f"# {name}") for name in names})
        text = (
            "title: Sheet 3\ndue: 2026-11-20 12:00\nlate: {per day: 50}\nroster: roster.csv\nseeds: student\n"
        )
        text += f"site: https://owner.github.io/name\nexercises: [{', '.join(ANSWERS)}]\n"
        asked = assignments.read(written(folder, text))
        said = []
        grading.run(folder / "in", asked, folder / "out", SEED, 2, said.append)
        first = said[:]
        grading.run(folder / "in", asked, folder / "out", None, 2, said.append)
        outcome[platform] = folder / "out", first, said[len(first) :]
    return outcome


def table(path):
    with open(path, newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


@needs_fence
def test_moodle_reads_its_worksheet_again(graded):
    out, *_ = graded["moodle"]
    one, two = table(out / "moodle.csv")
    assert one["Identifier"] == "Participant 1234567" and one["Email address"] == "one@example.org"
    assert float(one["Grade"]) == 1.0, "two of three, and half of it for a day"
    assert one["Feedback comments"] == "2 of 3 exercises solved, 1 day late"
    assert float(two["Grade"]) == 0 and not (out / "canvas.csv").exists()
    with zipfile.ZipFile(out / "feedback.zip") as bundle:
        assert "Student One_1234567_assignsubmission_file_/feedback.html" in bundle.namelist()


@needs_fence
def test_canvas_reads_its_gradebook_again(graded):
    out, *_ = graded["canvas"]
    rows = table(out / "canvas.csv")
    assert list(rows[0])[-1] == "Sheet 3 (4711)" and rows[0]["Student"] == "    Points Possible"
    assert [(r["ID"], float(r["Sheet 3 (4711)"])) for r in rows[1:]] == [("55501", 1.0), ("55502", 0.0)]
    (stranger,) = [r for r in table(out / "grades.csv") if r["id"] == "66601"]
    assert "Not on the roster" in stranger["notes"] and float(stranger["total"]) == 2
    with zipfile.ZipFile(out / "feedback.zip") as bundle:
        assert "onestudent_LATE_55501_777001_feedback.html" in bundle.namelist()


def test_results_of_older_checkers_are_not_kept(monkeypatch):
    """What decides a mark decides whether a stored one is used: the notebook, the seed, the checkers' code."""
    given, sheet = attempt("ada", None), assignments.Assignment({STAY: 1})
    keys = {grading.key_of(given, sheet, 1), grading.key_of(given, sheet, 2)}
    monkeypatch.setattr(grading, "version", lambda: "older")
    keys.add(grading.key_of(given, sheet, 1))
    assert len(keys) == 3


@needs_fence
def test_a_second_run_goes_on_where_the_first_one_stopped(graded):
    for _, first, second in graded.values():
        assert any(line.startswith("[1/") for line in first)
        assert not any(line.startswith("[1/") for line in second) and "graded before" in second[0]
        assert first[-1] == second[-1], "the same seed"


@needs_fence
def test_feedback_says_each_thing_once(graded):
    out, *_ = graded["moodle"]
    page = (out / "feedback" / "1234567.html").read_text("utf8")
    assert page.count("raised ZeroDivisionError") == 1 and "1 of 3 points, 1 day late" in page
    assert page.count("What came 1 day late counts 50 percent.") == 1
    assert "line 2 of your cell" in page and "<pre>return T / 0</pre>" in page
    assert f'href="https://owner.github.io/name/book/{PAGE}.html#{STAY}"' in page
    assert "Nothing was handed in" in (out / "feedback" / "1234568.html").read_text("utf8")


@needs_fence
def test_each_row_is_written_when_it_is_known(fence, tmp_path):
    """The run is broken off after the first student; the second run has only the others to do."""
    tree(tmp_path / "in", {f"student-{n}.ipynb": handed_in(RIGHT, f"# {n}") for n in range(3)})
    asked = assignments.Assignment(dict.fromkeys(ANSWERS, 1))

    def stop(text):
        if text.startswith("[1/3]"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grading.run(tmp_path / "in", asked, tmp_path / "out", SEED, 1, stop)
    assert len(table(tmp_path / "out" / "verdicts.csv")) == 3
    said = []
    students = grading.run(tmp_path / "in", asked, tmp_path / "out", SEED, 1, said.append)
    assert said[0].startswith("1 notebooks") and "[1/2]" in said[1] and len(students) == 3


@needs_fence
def test_without_an_assignment_all_exercises_that_came_count(fence, tmp_path):
    """Deleting what one could not solve does not help."""
    tree(tmp_path / "in", {"s-1.ipynb": handed_in(RIGHT), "s-2.ipynb": handed_in({STAY: RIGHT[STAY]})})
    students = grading.run(tmp_path / "in", None, tmp_path / "out", SEED, 1, lambda text: None)
    assert {s.id: s.total for s in students.values()} == {"s-1": 3, "s-2": 1}
    assert {row["of"] for row in table(tmp_path / "out" / "grades.csv")} == {"3"}


def test_each_student_has_numbers_of_his_own():
    asked = assignments.Assignment({STAY: 1}, seeds="student")
    seeds = {grading.seed_of(asked, SEED, f"s{n}") for n in range(50)}
    assert len(seeds) > 45 and min(seeds) > 0
    asked.seeds = "class"
    assert {grading.seed_of(asked, SEED, f"s{n}") for n in range(5)} == {SEED}
