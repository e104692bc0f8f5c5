"""Test more ways to cheat: code in the sandbox, names and zips that claim to be another student's."""
# ruff: noqa: E501 (cells of notebooks are long)

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from grading import (
    ANSWERS,
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
from test_grade_hostile import graded, owners, plain_roster, table, tree, zipped

from press import ROOT
from press import grade as grading
from press.grade import assignment as assignments
from press.grade import handed_in as files
from press.grade import report
from press.grade.judge import Judged, judge

__all__ = ["fence"]
X86 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="machine code of x86-64")

# ---------------------------------------------------------------- code that runs in the sandbox

CHEATS = {
    "answers before the questions": SPEAK + """
for n in range(1, 60):
    speak(b'{"id": %d, "value": 3}\\n' % n)
def my_price(T, c):
    return 0
""",
    "cells that claim to have run": SPEAK + """
speak(b'{"ran": 1}\\n{"ran": 2}\\n{"found": {"ex-the-price-of-staying": ["my_price"]}, "wrong": {}}\\n')
def my_price(T, c):
    return 0
""",
    "an answer, then another": SPEAK + """
def my_price(T, c):
    for n in range(1, 60):
        speak(b'{"id": %d, "value": 0}\\n' % n)
    return (1 + abs(c)) * T
""",
    "a byte at a time": SPEAK + """
def my_price(T, c):
    while True:
        speak(b" ")
""",
    "call-backs without end": SPEAK + """
def my_price(T, c):
    while True:
        speak(b'{"back": 0, "args": []}\\n')
""",
    "the last function from the end": SPEAK + """
def my_price(T, c):
    speak(b'{"back": -1, "args": [1, 2]}\\n')
    return 0
""",
    "a name like ours": "class Stopped(BaseException): pass\nStopped.__module__ = 'press.grade.pipe'\ndef my_price(T, c):\n    raise Stopped('✓ 2 of 2 points')",
    "an error without a text": "class Bad(Exception):\n    def __str__(self): raise SystemExit\n    __repr__ = __str__\ndef my_price(T, c):\n    raise Bad",
    "an error without an end": "class Bad(Exception): pass\ndef my_price(T, c):\n    a, b = Bad(), Bad()\n    a.__cause__, b.__cause__ = b, a\n    raise a",
    "a group of errors": "def my_price(T, c):\n    raise BaseExceptionGroup('g', [KeyboardInterrupt(), ValueError()])",
    "a class that has no name": "class M(type):\n    def __getattribute__(cls, name):\n        raise SystemExit\nclass E(metaclass=M): pass\ndef my_price(T, c):\n    return E()",
    "numbers that are not": "class N(float):\n    def __float__(self): return self\n    def __sub__(self, other): return 0.0\n    __rsub__ = __abs__ = __sub__\ndef my_price(T, c):\n    return N(1e9)",
    "text that is long": "class S(str):\n    def __getitem__(self, k): return 'x' * (1 << 30)\n    def __len__(self): return 3\ndef my_price(T, c):\n    return S('a')",
    "decimals": "from decimal import Decimal\ndef my_price(T, c):\n    return [Decimal('sNaN'), Decimal('1e999999999'), Decimal('-Infinity')][T % 3]",
    "a number that no processor makes": "def my_price(T, c):\n    bits = np.zeros(16, np.uint8)\n    bits[7:10] = 1, 255, 63\n    return bits.view(np.longdouble)[0]",
    "the smallest integer": "def my_price(T, c):\n    return np.iinfo(np.int64).min",
    "a broadcast": "def my_price(T, c):\n    return np.zeros((0, 1))",
    "an iterator without end": "import itertools\ndef my_price(T, c):\n    return itertools.count()",
    "a mapping without end": "class D(dict):\n    def items(self):\n        while True: yield 1, 1\ndef my_price(T, c):\n    return D()",
    "a coroutine": "async def my_price(T, c):\n    return (1 + abs(c)) * T",
    "a generator": "def my_price(T, c):\n    yield (1 + abs(c)) * T",
    "stop, then wait": "import os, signal\ndef my_price(T, c):\n    os.kill(os.getpid(), signal.SIGSTOP)\n    return 0",
    "no time left": "import resource\ndef my_price(T, c):\n    resource.setrlimit(resource.RLIMIT_CPU, (0, 0))\n    while True: pass",
    "no files left": "import os\nkept = []\ntry:\n    while True: kept.append(os.open('/dev/null', 0))\nexcept OSError: pass\ndef my_price(T, c):\n    return 0",
    "a loop in the importer": "import sys\nclass Finder:\n    def find_spec(self, name, path=None, target=None):\n        while True: pass\ndef my_price(T, c):\n    sys.meta_path.insert(0, Finder())\n    import nothing_here",
    "an allocator at its limit": "hold = []\ndef my_price(T, c):\n    try:\n        while True: hold.append(bytearray(1 << 24))\n    except MemoryError:\n        return 0",
    "a stack of C": "def my_price(T, c):\n    x = ()\n    for _ in range(10 ** 6): x = (x,)\n    return repr(x)",
}  # fmt: skip


@needs_fence
def test_no_cheat_passes_and_an_honest_student_beside_them_does(fence, tmp_path):
    given = {f"{kind}.ipynb": handed_in({STAY: source}) for kind, source in CHEATS.items()}
    folder = tree(tmp_path / "in", given | {"honest.ipynb": handed_in(RIGHT)})
    asked = assignments.Assignment(dict.fromkeys(ANSWERS, 1), seconds=3)
    students, _ = graded(folder, tmp_path / "out", asked)
    assert {key: s.total for key, s in students.items() if s.total} == {"honest": 3}
    reasons = [students[kind].rows[STAY].message for kind in CHEATS]
    assert all(reasons) and not [text for text in reasons if "judge failed" in text or "Traceback" in text]
    assert len(table(tmp_path / "out" / "grades.csv")) == len(CHEATS) + 1


@needs_fence
def test_hooks_see_only_what_was_asked(fence):
    """Tracing, auditing, profiling and a replaced import see values of the pipe, and no other numbers."""
    look = """
import builtins, sys, threading
seen = []
def look(frame, event, arg, seen=seen):  # names vanish between calls
    if len(seen) < 2000:
        seen.append(" ".join(frame.f_code.co_names) + repr(list(frame.f_locals)))
sys.setprofile(look)
threading.setprofile(look)
sys.addaudithook(lambda name, args, seen=seen: seen.append(name) if len(seen) < 2000 else None)
real = builtins.__import__
builtins.__import__ = lambda name, *rest, seen=seen, real=real: (seen.append(name), real(name, *rest))[1]
def my_spy(T, seen=seen):
    import json
    words = ("expected", "truth", "verdict", "fresh", "slips", "press", "checks")
    return [len(seen), [text for text in seen if any(word in text for word in words)][:5]]
"""
    many, found = behind(fence, look, 3)
    assert many > 20 and found == []


@needs_fence
def test_what_an_ordinary_user_may_not_do_is_refused(fence):
    spy = """
import fcntl, os, resource, socket
def my_spy():
    tries = {
        "become root": lambda: os.setresuid(0, 0, 0),
        "join a group": lambda: os.setgroups([0]),
        "make a disk": lambda: os.mknod("/tmp/disk", 0o60600, os.makedev(8, 0)),
        "make a terminal": lambda: os.mknod("/tmp/tty", 0o20600, os.makedev(5, 0)),
        "be first": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        "be nicer to oneself": lambda: os.nice(-5),
        "another processor": lambda: os.sched_setaffinity(0, range(64)),
        "rename the machine": lambda: socket.sethostname("x"),
        "more memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 50, 1 << 50)),
        "more processes": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999)),
        "larger files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40)),
        "a hard link": lambda: os.link("/packages/wire.py", "/tmp/wire.py"),
        "change a module": lambda: open("/packages/wire.py", "a"),
        "remove a module": lambda: os.remove("/packages/wire.py"),
        "date a module": lambda: os.utime("/packages/wire.py", (0, 0)),
        "mark a module": lambda: os.setxattr("/packages/wire.py", "user.x", b"1"),
        "type for the lecturer": lambda: fcntl.ioctl(0, 0x5412, b"x"),
    }
    done = []
    for name, attempt in tries.items():
        try:
            attempt()
            done.append(name)
        except (OSError, ValueError):
            pass
    return [done, os.getuid() == 0, len(os.sched_getaffinity(0))]
"""
    done, root, _ = behind(fence, spy)
    assert done == [] and not root


@needs_fence
@X86
def test_the_system_calls_of_32_bits_end_the_process(fence):
    """The list of system calls is for 64 bits; int 0x80 calls those of i386, whose numbers differ."""
    old = """
import ctypes, mmap
def my_price(T, c):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b814000000cd80c3"))  # getpid, which any list allows
    there = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return (1 + abs(c)) * T if ctypes.CFUNCTYPE(ctypes.c_int)(there)() else 0
"""
    judged = judge(handed_in({STAY: old}), [STAY], fence, SEED)
    assert "the process ended" in judged.rows[0].message


@needs_fence
def test_threads_of_one_student_do_not_slow_down_another(fence, tmp_path, monkeypatch):
    """Two notebooks at a time are judged on two processors, and their code cannot leave them."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, where: seen.append(where))
    seen = []

    def judged(content, names, fence, fresh, seconds):
        (where,) = seen
        return Judged(reason=f"{time.sleep(0.5) or where}")

    monkeypatch.setattr(grading, "judge", judged)
    attempts = [files.Attempt(f"s{n}", f"s{n}", "a.ipynb", b"", None, ()) for n in range(4)]
    found = grading.side_by_side(attempts, assignments.Assignment({STAY: 1}), SEED, None, 2)
    assert sorted(judged.reason for _, judged in found) == ["{0}", "{0}", "{1}", "{1}"]


INSIDE = """
import json, os, sys
sys.path[:0] = sys.argv[1:2]
import grading
from press.grade.judge import judge
spy = f"import os\\ndef my_spy():\\n    return [os.getuid(), os.path.exists({os.getcwd()!r}), len(os.listdir('/tmp'))]"
threads = grading.RIGHT[grading.STAY] + "\\nimport threading\\nfor _ in range(8): threading.Thread(target=print).start()"
with grading.Fence() as fence:
    right = judge(grading.handed_in(grading.RIGHT | {grading.STAY: threads}), grading.ANSWERS, fence, 7)
    print(json.dumps([os.getuid(), grading.behind(fence, spy), list(grading.passed(right).values())]))
"""


#: the beginning of a command that runs as a user without any rights, in a namespace, who may read what root may
AS_USER = [
    "bwrap",
    "--dev-bind",
    "/",
    "/",
    "--unshare-user",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--cap-drop",
    "ALL",
]


@needs_fence
def test_an_ordinary_user_can_grade():
    """Root has its own way into the sandbox. Here the other is taken."""
    me, before = os.geteuid() or 1000, [] if os.geteuid() else AS_USER
    nested = ["bwrap", "--dev-bind", "/", "/", "--unshare-all", "--unshare-user", "--disable-userns", "true"]
    tried = subprocess.run([*before, *nested], capture_output=True, text=True)
    if before and tried.returncode:
        pytest.skip(f"NOT TESTED as an ordinary user: no namespace within a namespace here ({tried.stderr})")
    words = [*before, sys.executable, "-c", INSIDE, str(Path(__file__).parent)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [me, [me, False, 0], [True, True, True]]


# ---------------------------------------------------------------- names that belong to somebody else


def test_no_file_name_makes_one_platform_look_like_the_other(tmp_path):
    """On Canvas a student chooses the end of the name, which may look like Moodle's."""
    given = {
        "eve_90001_770001_x_90002_assignsubmission_file_a.ipynb": b"{}",
        "bob_90002_770002_a.ipynb": b"{}",
    }
    assert set(owners(tree(tmp_path / "in", given)).values()) == {"90001", "90002"}
    head = "Identifier,Full name\n"
    roster = plain_roster(tmp_path, head + "Participant 7000001,bob_90002_770002_x\nParticipant 90002,Bob\n")
    given = {"bob_90002_770002_x_7000001_assignsubmission_file_a.ipynb": b"{}"}
    assert set(owners(tree(tmp_path / "moodle", given), roster).values()) == {"7000001"}


def test_a_student_who_is_called_like_a_folder_of_another_is_not_taken_for_him(tmp_path):
    """In Moodle the last id of a folder is the platform's; in a file's name two ids name nobody."""
    two = "Bob_7000002_assignsubmission_file_x_7000001_assignsubmission_file_"
    found = owners(tree(tmp_path / "folder", {f"{two}/a.ipynb": b"{}"}))
    assert set(found.values()) == {"7000001"}
    found = owners(tree(tmp_path / "file", {f"{two}a.ipynb": b"{}"}))
    assert not {"7000001", "7000002"} & set(found.values())
    again = "Eve_7000001_assignsubmission_file_Eve_7000001_assignsubmission_file_a.ipynb"  # handed in again
    assert set(owners(tree(tmp_path / "again", {again: b"{}"})).values()) == {"7000001"}


def test_the_only_submission_is_not_taken_for_the_class(tmp_path):
    """One zip alone holds the class, unless it is called by the name of a student."""
    roster = plain_roster(tmp_path, "id,name\ns1,Student One\ns2,Student Two\n")
    forged = zipped({"s2.ipynb": b"{}"})
    assert set(owners(tree(tmp_path / "a", {"s1.zip": forged}), roster).values()) == {"s1"}
    name = "Student One_1234567_assignsubmission_file_a.zip"
    assert set(owners(tree(tmp_path / "b", {name: forged})).values()) == {"1234567"}
    assert set(owners(tree(tmp_path / "c", {"class.zip": forged}), roster).values()) == {"s2"}


def test_a_name_that_stands_only_inside_a_zip_is_pointed_out(tmp_path):
    """If a student has other files as well: somebody else may have put the name there."""
    roster = plain_roster(tmp_path, "id,name\ns1,Student One\ns2,Student Two\n")
    inner = zipped({"s2/a.ipynb": b"{}"})
    folder = tree(tmp_path / "in", {"homework.zip": inner, "s2.ipynb": b"{}", "s1.ipynb": b"{}"})
    found, _ = files.attempts(folder, roster)
    asked = assignments.Assignment({STAY: 1}, roster=roster)
    students = report.marks(asked, [(attempt, Judged()) for attempt in found])
    assert students["s2"].notes == [
        "Some files have this name only inside homework.zip: check whose they are."
    ]
    assert students["s1"].notes == []


# ---------------------------------------------------------------- zips


def test_a_million_files_in_a_small_zip_are_not_listed(tmp_path):
    """Zips of zips: 0.8 MB hold 500,000 notebooks. The others in the same zip are read."""
    inner = zipped({f"{n}.ipynb": b"" for n in range(5000)})
    bomb = zipped(
        {"a.zip": zipped({f"{n}.zip": inner for n in range(100)}, zipfile.ZIP_DEFLATED)}, zipfile.ZIP_DEFLATED
    )
    tree(tmp_path, {"class.zip": zipped({"bob.ipynb": b"{}", "eve.zip": bomb, "zoe.ipynb": b"{}"})})
    del inner, bomb
    start = time.process_time()
    found, ignored = files.attempts(tmp_path, assignments.Roster())
    assert {a.student for a in found if a.content} == {"bob", "zoe"}
    assert len(found) + len(ignored) < 300 and time.process_time() - start < 5


def test_one_bomb_leaves_room_for_the_others_in_the_same_zip(tmp_path):
    """Each member of the zip of a class may use only a share of what unpacking may cost."""
    wide = b'{"cells": [], "x": "' + b" " * (10 << 20) + b'"}'  # honest, and 1000 times smaller when packed
    bomb = zipped({f"{n}.ipynb": b" " * (19 << 20) for n in range(6)}, zipfile.ZIP_DEFLATED)
    members = {"a-eve.zip": bomb, "b-eve.zip": bomb, "zoe.ipynb": wide}
    tree(tmp_path, {"class.zip": zipped(members, zipfile.ZIP_DEFLATED)})
    found, _ = files.attempts(tmp_path, assignments.Roster())
    assert {a.student: a.content == wide for a in found}["zoe"]
    assert sum(len(a.content or b"") for a in found) < 120 << 20


def test_two_members_of_one_name_are_two_notebooks(tmp_path):
    """Neither hides the other from the lecturer."""
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as bundle, pytest.warns(UserWarning):
        bundle.writestr("a.ipynb", b"1")
        bundle.writestr("a.ipynb", b"2")
    (tmp_path / "bob.ipynb").write_bytes(b"3")
    found, _ = files.attempts(tmp_path, assignments.Roster())
    assert sorted((a.student, a.content) for a in found) == [("bob", b"3"), ("eve", b"1"), ("eve", b"2")]


# ---------------------------------------------------------------- notebooks


@needs_fence
def test_metadata_neither_hide_a_cell_nor_move_an_answer(fence):
    """Tags and ids are read as data: of any type, for exercises of other pages, twice."""
    right = RIGHT[STAY]
    odd = [{"tags": 7}, {"tags": {"exercise": 1}}, {"exercise": ["x"]}, {"exercise": "../../x", "tags": ["exercise"]},
           {"exercise": "ex-the-rule", "tags": ["exercise"]}, {"exercise": STAY, "tags": ["checker"]},
           {"exercise": STAY, "tags": ["solution"]}, {"tags": "solution"}, {"exercise": None, "tags": [None]}]  # fmt: skip
    for metadata in odd:
        cells = [code("import numpy as np"), code("def my_price(T, c):\n    return 0", **metadata)]
        judged = judge(
            packed(*cells, code(right, exercise=STAY, tags=["exercise", "live"])), [STAY], fence, SEED
        )
        assert judged.reason or passed(judged) == {STAY: True}, metadata
    hidden = packed(
        code("def my_price(T, c):\n    return 0", exercise=STAY, tags=["exercise"]),
        code(right, exercise="ex-the-rule", tags=["exercise"]),
    )
    assert passed(judge(hidden, [STAY], fence, SEED)) == {STAY: False}
