"""Test what cheating students may try: only their own row is affected, and it says why."""
# ruff: noqa: E501 (cells of notebooks are long)

import csv
import json
import os
import re
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import yaml
from grading import (
    ANSWERS,
    BEST,
    LUCKY,
    RIGHT,
    SEED,
    SPEAK,
    STAY,
    behind,
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
from press.grade import checks, pipe, report
from press.grade.judge import judge

pytestmark = needs_fence
EVERYTHING = dict.fromkeys(ANSWERS, True)
__all__ = ["fence"]


# ---------------------------------------------------------------- what can be seen, and changed


def test_no_home_no_project_no_neighbour_can_be_read(fence, tmp_path):
    secret = tmp_path / "neighbour.ipynb"
    secret.write_text("classified", "utf8")
    wanted = [secret, ROOT, ROOT / "pages", ROOT / "book", Path(checks.__file__), Path.home() / ".ssh",
              Path.home() / ".bashrc", "/etc/passwd", "/proc/1/environ", "/run", "/var", "/home", "/sys"]  # fmt: skip
    spy = f"import os\ndef my_spy():\n    return [os.path.exists(p) for p in {[str(p) for p in wanted]!r}]"
    seen = [str(path) for path, there in zip(wanted, behind(fence, spy), strict=True) if there]
    # If Python itself is installed below /home, only the path to it is visible.
    assert not [path for path in seen if path != "/home"]
    texts = behind(fence, "import os\ndef my_spy():\n    return [f for d, _, fs in os.walk('/') for f in fs "
                   "if f.endswith(('.ipynb', '.md', '.yml', '.csv', '.key'))]")  # fmt: skip
    assert not [name for name in texts if name.endswith((".ipynb", ".yml"))]


def test_nothing_of_the_environment_is_there(fence, monkeypatch):
    monkeypatch.setenv("TOKEN", "classified")
    names = behind(fence, "import os\ndef my_spy():\n    return sorted(os.environ)")
    assert set(names) <= {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONHASHSEED", "PWD", "LC_CTYPE"}


def test_no_checker_and_no_reference_is_there(fence):
    spy = """
import gc, os, sys
from ocolib import exercises
def my_spy():
    files = [os.path.join(d, f) for d, _, fs in os.walk("/packages/ocolib") for f in fs]
    texts = [open(f, "rb").read() for f in files]
    files += [d for d, _, _ in os.walk("/") if d.endswith("recorded")] * 1000
    return [len(files), sum(b"check_bound" in t or b"solution_" in t for t in texts), exercises.check_bound(1, 2)]
"""
    files, found, said = behind(fence, spy)
    assert 5 < files < 1000 and found == 0 and said is None


def test_only_a_small_tmp_can_be_written(fence):
    spy = """
import os
def my_spy():
    found = []
    for folder, _, _ in os.walk("/"):
        try:
            with open(os.path.join(folder, "mark"), "w") as file:
                file.write("x")
            found.append(folder)
        except OSError:
            pass
    for place in ("/dev/null/x", "/dev/shm/x", "/x"):
        try:
            open(place, "w")
            found.append(place)
        except OSError:
            pass
    return found
"""
    assert behind(fence, spy) == ["/tmp"]
    assert behind(fence, "import os\ndef my_spy():\n    return os.listdir('/tmp')") == [], "nothing survives"
    fill = """
def my_spy():
    written = 0
    try:
        for n in range(100):
            with open(f"/tmp/{n}", "wb") as file:
                written += file.write(b"x" * (4 << 20))
    except OSError:
        pass
    return written
"""
    assert behind(fence, fill) <= 20 << 20


def test_no_socket_leads_out(fence, tmp_path):
    path = str(tmp_path / "agent")
    with (
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as hidden,
        socket.socket() as tcp,
    ):
        named.bind(path)
        hidden.bind("\0ocolib-test-agent")
        tcp.bind(("127.0.0.1", 0))
        for listening in (named, hidden, tcp):
            listening.listen()
        spy = f"""
import socket
def my_spy():
    reached = []
    for family, place in ((socket.AF_UNIX, {path!r}), (socket.AF_UNIX, "\\0ocolib-test-agent"),
                          (socket.AF_INET, ("127.0.0.1", {tcp.getsockname()[1]}))):
        try:
            with socket.socket(family) as s:
                s.settimeout(3)
                s.connect(place)
            reached.append(str(place))
        except OSError:
            pass
    return reached
"""
        assert behind(fence, spy) == []


# ---------------------------------------------------------------- processes


def test_a_fork_bomb_has_no_first_child(fence):
    spy = """
import os, subprocess, sys
def my_spy():
    made = []
    for way in (os.fork, lambda: subprocess.Popen([sys.executable]), lambda: os.posix_spawn(sys.executable, ["x"], {}),
                lambda: os.forkpty()):
        try:
            if way() == 0:
                os._exit(0)
            made.append(str(way))
        except OSError:
            pass
    return made
"""
    assert behind(fence, spy) == []
    threads = """
import threading
def my_spy():
    threading.stack_size(1 << 15)
    go, made = threading.Event(), 0
    try:
        for made in range(500):
            threading.Thread(target=go.wait, daemon=True).start()
    except RuntimeError:
        pass
    go.set()
    return made
"""
    assert behind(fence, threads) < 64, "also as root, whose threads no limit counts"


CALLS = {"fork": 57, "clone": 56, "unshare": 272, "ptrace": 101, "shmget": 29, "memfd_create": 319, "mount": 165,
         "io_uring_setup": 425, "keyctl": 250, "bpf": 321}  # fmt: skip


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of system calls are those of x86-64")
def test_the_kernel_refuses_what_no_answer_needs(fence):
    spy = """
import ctypes
def my_spy(numbers):
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    for number in numbers:
        ctypes.set_errno(0)
        first = 0x10000000 if number == 272 else 17 if number == 56 else 0  # a user namespace, a new process
        found.append([libc.syscall(number, first, 1 << 20, 0o1600, 0, 0, 0), ctypes.get_errno()])
    return found
"""
    answers = dict(zip(CALLS, behind(fence, spy, list(CALLS.values())), strict=True))
    assert all(answer == [-1, 1] for answer in answers.values()), answers


def descendants(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_nothing_outlives_its_grading(fence):
    source = """
import ctypes, os, signal, threading, time
libc = ctypes.CDLL(None)
libc.prctl(1, 0)
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
try:
    os.setsid()
except OSError:
    pass
for _ in range(3):
    threading.Thread(target=lambda: time.sleep(1000)).start()
def my_spy():
    return 1
"""
    student = pipe.Student(fence)
    student.run([(0, ("spy", source))], {"spy": ["my_spy"]}, 30)
    family = [student.process.pid, *descendants(student.process.pid)]
    assert len(family) >= 3 and all(map(alive, family))
    student.end()
    until = time.monotonic() + 5
    while any(map(alive, family)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in family if alive(pid)]


def test_too_much_memory_costs_that_exercise_only(fence):
    hog = "def my_price(T, c):\n    hog = [np.ones(1 << 27) for _ in range(64)]\n    return (1 + abs(c)) * T"
    judged = judge(handed_in(RIGHT | {STAY: hog}), ANSWERS, fence, SEED)
    assert passed(judged) == EVERYTHING | {STAY: False}
    assert re.search("MemoryError|process ended", {r.exercise: r for r in judged.rows}[STAY].message)


# ---------------------------------------------------------------- the pipe


GARBAGE = {
    "a word": b"hello\n",
    "a list": b"[]\n",
    "no text": b"\xff\xfe\n",
    "deep": b"[" * 100_000 + b"\n",
    "a long number": b'{"id": 1, "value": ' + b"9" * 100_000 + b"}\n",
    "a pickle": b'{"id": 1, "value": {"pickle": "gASVAAAA"}}\n',
    "objects": b'{"id": 1, "value": {"array": "O", "shape": [1], "data": "AAAAAAAAAAA="}}\n',
    "a huge shape": b'{"id": 1, "value": {"array": "<f8", "shape": [99999999999], "data": ""}}\n',
    "no function": b'{"back": 99, "args": []}\n',
    "an odd error": b'{"id": 1, "error": {"type": ["x"], "text": {"a": 1}, "line": "many"}}\n',
    "an error that is none": b'{"id": 1, "error": 7}\n',
    "found": b'{"found": {}, "wrong": {}}\n',
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_on_the_pipe_is_that_exercise(fence, kind):
    said = f"def my_price(T, c):\n    speak({GARBAGE[kind]!r})\n    return (1 + abs(c)) * T"
    judged = judge(handed_in(RIGHT | {STAY: said}, SPEAK), ANSWERS, fence, SEED)
    assert passed(judged) == EVERYTHING | {STAY: False}
    told = {row.exercise: row.message for row in judged.rows}[STAY]
    assert "could not be read" in told or "raised" in told


def test_garbage_while_a_cell_runs_costs_that_cell(fence):
    judged = judge(handed_in(RIGHT, SPEAK, "speak(b'hello\\n')"), ANSWERS, fence, SEED)
    assert passed(judged) == EVERYTHING


@pytest.mark.parametrize(
    "source",
    [
        "speak(b'x' * (8 << 20))",  # never ends the line
        "[fcntl.fcntl(n, 1031, 4096) for n in range(3, 20) if pipe(n)]\n    while True:\n        speak(b'y' * 4096)",
        "[os.set_blocking(n, False) for n in range(3, 20) if pipe(n)]\n    return 'z' * (3 << 20)",
        "return 'z' * (64 << 20)",
        "[os.close(n) for n in range(3, 20) if pipe(n)]",
    ],
)
def test_a_filled_or_shrunk_pipe_does_not_hold_up_the_judge(fence, source):
    helper = "import fcntl\ndef pipe(n):\n    try:\n        return os.fstat(n).st_mode & 0o10000\n" \
             "    except OSError:\n        return False"  # fmt: skip
    start = time.monotonic()
    answers = RIGHT | {STAY: f"def my_price(T, c):\n    {source}"}
    judged = judge(handed_in(answers, SPEAK, helper), ANSWERS, fence, SEED, seconds=4)
    assert passed(judged) == EVERYTHING | {STAY: False}
    assert time.monotonic() - start < 60


def test_who_never_listens_does_not_hold_up_the_judge(fence):
    """A small pipe, a large question, and nobody who reads it."""
    student = pipe.Student(fence)
    try:
        student.run(
            [(0, ("spy", "import time\ndef my_spy(x):\n    time.sleep(1000)"))], {"spy": ["my_spy"]}, 10
        )
        student.begin(2)
        start = time.monotonic()
        with pytest.raises(pipe.Stopped, match="longer than 2 seconds"):
            student.ask("spy", "my_spy", ["x" * (8 << 20)], {})
        assert time.monotonic() - start < 10
    finally:
        student.end()


def test_five_megabytes_of_exception_are_a_line(fence):
    loud = "def my_price(T, c):\n    raise ValueError('a' * 5_000_000)"
    judged = judge(handed_in(RIGHT | {STAY: loud}), ANSWERS, fence, SEED)
    row = {row.exercise: row for row in judged.rows}[STAY]
    assert not row.passed and len(row.message) < 2000 and row.line == 2
    assert passed(judged)[BEST] and passed(judged)[LUCKY]


# ---------------------------------------------------------------- marks without work


PATCHED = """
import json, sys
import numpy as np
import ocolib
from ocolib import exercises, game
import wire
json.dumps = lambda *a, **k: '{"id": 1, "value": true}'
json.loads = lambda *a, **k: {"cells": []}
"""


def test_patched_modules_hurt_only_who_patched_them(fence):
    before = json.dumps, json.loads
    judged = judge(handed_in(RIGHT, PATCHED), ANSWERS, fence, SEED, seconds=5)
    assert not any(row.passed for row in judged.rows) or passed(judged) == EVERYTHING
    assert (json.dumps, json.loads) == before
    fooled = "exercises = __import__('ocolib.exercises').exercises\nexercises.tell = exercises.check_bound = print\n" \
             "np.isfinite = np.allclose = lambda *a, **k: True\ndef my_price(T, c):\n    return 0"  # fmt: skip
    assert passed(judge(handed_in(RIGHT | {STAY: fooled}), ANSWERS, fence, SEED)) == EVERYTHING | {
        STAY: False
    }


@pytest.mark.parametrize(
    "answer",
    [
        "class Yes(float):\n    def __eq__(self, o): return True\n    def __sub__(self, o): return Yes()\n"
        "    __lt__ = __gt__ = __le__ = __ge__ = __ne__ = __eq__\ndef my_price(T, c):\n    return Yes()",
        "class Yes:\n    def __eq__(self, o): return True\n    def __array__(self, *a, **k): return np.zeros(())\n"
        "def my_price(T, c):\n    return Yes()",
        "def my_price(T, c):\n    return float('nan')",
        "def my_price(T, c):\n    return float('inf')",
        "def my_price(T, c):\n    return np.ma.masked",
        "def my_price(T, c):\n    return lambda *a: 0",
        "def my_price(T, c):\n    import __main__, gc, sys\n"
        "    for o in gc.get_objects():\n        if callable(o) and getattr(o, '__name__', '') in ('best', 'worst', "
        "'truth'):\n            return o(T, c)\n    return sys._getframe(5).f_locals['expected']",
    ],
)
def test_objects_that_agree_with_everything_do_not_pass(fence, answer):
    assert not passed(judge(handed_in({STAY: answer}), [STAY], fence, SEED))[STAY]


@pytest.mark.parametrize("key", ["ex-the-price-of-a-wrong-step", STAY])
def test_numbers_learned_by_heart_fail_on_fresh_ones(fence, key):
    """A function that knows all cases of the page, and no other; of a formula and of a bound."""
    (function,) = checks.functions(key)
    page = checks.book()[key][0]
    right = yaml.safe_load((ROOT / "tests" / "answers" / f"{checks.page_of(key)}.yml").read_text("utf8"))[
        key
    ]["right"][0]
    sources, _ = checks.needed(page, key, right)
    namespace, known = dict(checks.above(page, key, right)[0]), {}
    checks.run_quietly(right, namespace)

    def learn(name, args, kwargs):
        return known.setdefault(tuple(args), float(namespace[name](*args)))

    assert all(verdict.passed for verdict in checks.verdicts(key, learn, 0)) and known
    answer = f"known = {known!r}\ndef {function}(*args):\n    return known.get(args, 0.0)"
    notebook = packed(*map(code, sources), code(answer, exercise=key, tags=["exercise", "live"]))
    assert passed(judge(notebook, [key], fence, 0)) == {key: True}
    assert passed(judge(notebook, [key], fence, SEED)) == {key: False}


# ---------------------------------------------------------------- what is written


EVIL = "<script>alert(1)</script>"


def test_no_field_becomes_html_or_a_formula(fence, tmp_path):
    loud = f"class E(Exception): pass\ndef my_price(T, c):\n    raise E('=cmd() {EVIL}')  # {EVIL}"
    shown = f"def my_best(c):\n    return '{EVIL}'"
    folder = tmp_path / "in"
    folder.mkdir()
    name = "=1+1 <script>alert(1)<" + "_1234567_assignsubmission_file_"
    with zipfile.ZipFile(folder / "class.zip", "w") as bundle:
        bundle.writestr(f"{name}/x<script>.ipynb", handed_in(RIGHT | {STAY: loud, BEST: shown}))
        bundle.writestr(f"{name}/=2+2.pdf", b"")
        bundle.writestr("-3_7654321_assignsubmission_file_/@SUM.ipynb", b"{")
    asked = assignments.Assignment(
        dict.fromkeys(ANSWERS, 1), title=f"Sheet {EVIL}", site='https://x/"><script>'
    )
    said = []
    grading.run(folder, asked, tmp_path / "out", SEED, 1, said.append)
    pages = [path.read_text("utf8") for path in (tmp_path / "out" / "feedback").iterdir()]
    assert len(pages) == 2 and not any("<script" in page for page in pages)
    assert any("alert(1)" in page for page in pages), "it is shown, as text"
    for table in (tmp_path / "out").glob("*.csv"):
        with open(table, newline="", encoding="utf8") as file:
            for row in csv.reader(file):
                assert not [c for c in row if c[:1] in ("=", "+", "-", "@")], (table, row)


def test_one_bad_student_does_not_end_the_run(fence, tmp_path, monkeypatch):
    """Even if the judge itself fails: his row says so, the others have theirs."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        (folder / f"student-{number}.ipynb").write_bytes(handed_in(RIGHT, f"# {number}"))
    real = grading.judge

    def fails(content, *rest):
        if b"# 1" in content:
            os._exit(3)
        return real(content, *rest)

    monkeypatch.setattr(grading, "judge", fails)
    asked = assignments.Assignment(dict.fromkeys(ANSWERS, 1))
    students = grading.run(folder, asked, tmp_path / "out", SEED, 2, lambda text: None)
    assert [s.total for s in sorted(students.values(), key=lambda s: s.id)] == [3, 0, 3]
    monkeypatch.setattr(grading, "judge", real)
    again = grading.run(folder, asked, tmp_path / "out", SEED, 2, lambda text: None)
    assert [s.total for s in again.values()] == [3, 3, 3], "what the judge could not do is tried again"


def test_zips_that_grow_and_links_that_lead_away(tmp_path):
    from press.grade import handed_in as files

    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("big.ipynb", b"0" * (files.LARGEST + 10))
        bundle.writestr("../../../escape.ipynb", b"{}")
        bundle.writestr("..\\..\\windows.ipynb", b"{}")
        link = zipfile.ZipInfo("packed-link.ipynb")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        bundle.writestr(link, "/etc/passwd")
    secret = tmp_path.parent / f"{tmp_path.name}-secret.ipynb"
    secret.write_text("{}")
    (tmp_path / "link.ipynb").symlink_to(secret)
    found, _ = files.attempts(tmp_path, assignments.Roster())
    assert {a.file: (a.content, a.reason) for a in found if a.content is None} == {
        "link.ipynb": (None, "a symbolic link, which is not followed"),
    }
    read = {a.file: a.content for a in found if a.content is not None}
    assert read == {
        "bomb.zip/escape.ipynb": b"{}",
        "bomb.zip/windows.ipynb": b"{}",
        "bomb.zip/packed-link.ipynb": b"/etc/passwd",  # its words, which are no notebook
    }


@pytest.mark.long
def test_sixty_at_once(fence, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    kinds = ["", "import os\nos._exit(1)", "x = 1 / 0", "import time\ntime.sleep(1)"]
    for number in range(60):
        (folder / f"student-{number:02}.ipynb").write_bytes(
            handed_in(RIGHT, kinds[number % 4], f"# {number}")
        )
    asked = assignments.Assignment(dict.fromkeys(ANSWERS, 1))
    students = grading.run(folder, asked, tmp_path / "out", SEED, 4, lambda text: None)
    assert len(students) == 60 and all(student.total == 3 for student in students.values())


def test_a_relative_folder_with_spaces_and_umlauts(tmp_path):
    folder = tmp_path / "Übung 3 für alle"
    folder.mkdir()
    (folder / "Grüße von student 1.ipynb").write_bytes(handed_in(RIGHT))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "press", "grade", folder.name, "--into", "Noten für alle"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, env=os.environ | {"TMPDIR": str(scratch)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    with open(tmp_path / "Noten für alle" / "grades.csv", newline="", encoding="utf8") as file:
        (row,) = csv.DictReader(file)
    assert row["id"] == "Grüße von student 1" and float(row["total"]) == 3
    assert list(scratch.iterdir()) == [], "what it prepared is gone"


def test_the_feedback_of_one_student_names_no_other(fence):
    asked = assignments.Assignment({STAY: 1})
    student = report.Student("student-1", "student-1")
    student.rows, student.points = {STAY: judge(handed_in(RIGHT), [STAY], fence, SEED).rows[0]}, {STAY: 1}
    assert report.page(asked, student).count("student-1") == 2
