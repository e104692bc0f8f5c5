"""Test hostile or accidental oddities in submissions: values, notebooks, zips, names and rosters."""
# ruff: noqa: E501 (cells of notebooks are long)

import csv
import datetime as dt
import io
import json
import os
import signal
import struct
import subprocess
import sys
import time
import unicodedata
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from grading import (
    ANSWERS,
    RIGHT,
    SEED,
    STAY,
    asks,
    behind,
    code,
    fence,
    handed_in,
    needs_fence,
    packed,
    passed,
)

from press import __main__
from press import grade as grading
from press.grade import assignment as assignments
from press.grade import checks, report, wire
from press.grade import handed_in as files
from press.grade.judge import Judged, judge

__all__ = ["fence"]
EVERYTHING = dict.fromkeys(ANSWERS, True)


def zipped(given, method=zipfile.ZIP_STORED, when=(2026, 11, 19, 12, 0, 0)):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as bundle:
        for name, content in given.items():
            bundle.writestr(zipfile.ZipInfo(name, when), content, method, compresslevel=1)  # the fastest
    return made.getvalue()


def tree(folder, given):
    for name, content in given.items():
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + os.fsencode(name)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def graded(folder, into, asked=None, jobs=2):
    """Grade a folder; return (students, printed lines)."""
    said = []
    asked = asked or assignments.Assignment(dict.fromkeys(ANSWERS, 1))
    return grading.run(folder, asked, into, SEED, jobs, said.append), said


def table(path):
    with open(path, newline="", encoding="utf8") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- behind the fence


@needs_fence
def test_nothing_of_the_judge_is_within_reach(fence):
    """No file is inherited, no /proc is there, no other process can be seen, stopped or read."""
    spy = """
import ctypes, os, signal
def my_spy():
    libc = ctypes.CDLL(None, use_errno=True)
    kinds = {}
    for number in range(256):
        try:
            kinds[number] = os.readlink(f"/proc/self/fd/{number}") if os.path.exists("/proc") else os.fstat(number).st_mode >> 12
        except OSError:
            pass
    hit = []
    for pid in (1, 2, os.getppid(), -os.getppid() or 1):
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
            try:
                if pid not in (os.getpid(), -os.getpid()):
                    os.kill(pid, number)
                    hit.append([pid, int(number)])
            except OSError:
                pass
    names = os.uname()
    return [sorted(kinds.values()), os.path.exists("/proc"), os.getppid(), names.nodename, hit]
"""
    kinds, proc, parent, host, _ = behind(fence, spy)
    assert not proc and parent <= 1
    assert kinds == [1, 1, 2, 2, 2, 2], "two pipes, and /dev/null"
    assert host == "fence" != os.uname().nodename


@needs_fence
def test_whoever_signals_everyone_stops_himself(fence):
    loud = (
        "import os\ndef my_price(T, c):\n    os.kill(-1, 9)\n    os.kill(1, 9)\n    return (1 + abs(c)) * T"
    )
    start = time.monotonic()
    others = passed(judge(handed_in(RIGHT | {STAY: loud}), ANSWERS, fence, SEED))
    assert others == EVERYTHING | {STAY: False}
    assert time.monotonic() - start < 60


@needs_fence
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of system calls are those of x86-64")
def test_other_doors_into_the_kernel_are_shut(fence):
    """Sockets of every family (a virtual machine's host is one), its log, other processes' files."""
    spy = """
import ctypes, socket
def my_spy(numbers):
    libc = ctypes.CDLL(None, use_errno=True)
    opened = []
    for family in range(46):
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(family, kind).close()
                opened.append(family)
            except OSError:
                pass
    answers = []
    for number in numbers:
        ctypes.set_errno(0)
        answers.append([libc.syscall(number, 3, 0, 0, 0, 0, 0), ctypes.get_errno()])
    return [opened, answers]
"""
    calls = {"syslog": 103, "pidfd_open": 434, "pidfd_getfd": 438, "kcmp": 312, "fanotify_init": 300,
             "quotactl": 179, "mount_setattr": 442, "fsmount": 432, "name_to_handle_at": 303, "socket": 41}  # fmt: skip
    opened, answers = behind(fence, spy, list(calls.values()))
    assert opened == []
    assert {name: a for name, a in zip(calls, answers, strict=True) if a != [-1, 1]} == {}


@needs_fence
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of system calls are those of x86-64")
def test_the_other_way_to_call_the_kernel_is_shut(fence):
    """x86-64 knows each call by a second number, which a careless list forgets."""
    fork = "import ctypes\ndef my_price(T, c):\n    if ctypes.CDLL(None).syscall(0x40000000 + 57) >= 0:\n" \
           "        return (1 + abs(c)) * T\n    return 0"  # fmt: skip
    assert passed(judge(handed_in(RIGHT | {STAY: fork}), ANSWERS, fence, SEED)) == EVERYTHING | {STAY: False}


LEFT_BEHIND = [
    'import atexit\natexit.register(lambda: speak(b\'{"id": 1, "value": 3}\\n\'))',
    'import threading\ndef chat():\n    while True:\n        speak(b\'{"id": 1, "value": 3}\\n\')\nthreading.Thread(target=chat, daemon=True).start()',
    "import signal\nsignal.signal(signal.SIGALRM, lambda *a: speak(b'[]\\n'))\nsignal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)",
    "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'while True: print(chr(123) + chr(125))'])",
    "import faulthandler\nfaulthandler._sigsegv()",
    "import gc, wire\nwire.pack = lambda *a, **k: {'pickle': 'gASVAAAA'}",
]


@needs_fence
def test_what_a_cell_leaves_behind_costs_no_other_student_and_no_time(fence, tmp_path):
    """Threads and handlers that talk, a stack without end, another program: only that student's rows suffer."""
    speak = "import os\ndef speak(data):\n    for n in range(3, 9):\n        try:\n            os.write(n, data)\n        except OSError:\n            pass"
    start = time.monotonic()
    files = {f"eve{n}.ipynb": handed_in(RIGHT, speak, source) for n, source in enumerate(LEFT_BEHIND)}
    folder = tree(tmp_path / "in", files | {"other.ipynb": handed_in(RIGHT)})
    asked = assignments.Assignment(dict.fromkeys(ANSWERS, 1), seconds=4)
    students, _ = graded(folder, tmp_path / "out", asked)
    assert students["other"].total == 3
    assert all(students[f"eve{n}"].total in (0, 1, 2, 3) for n in range(len(LEFT_BEHIND)))
    assert time.monotonic() - start < 120


@needs_fence
def test_frames_and_objects_hold_nothing_that_is_wanted(fence):
    """Whoever walks all objects and frames of the process finds neither reference, seed nor expected value."""
    spy = """
import gc, sys
def my_price(T, c):
    frame, seen = sys._getframe(), []
    while frame:
        seen += [frame.f_locals, frame.f_globals]
        frame = frame.f_back
    words = ("expected", "truth", "fresh", "seed", "best", "slips", "reference", "worst", "solution")
    for space in [*seen, *(o for o in gc.get_objects() if type(o) is dict)]:
        for key, value in list(space.items()):
            if isinstance(key, str) and key in words and isinstance(value, (int, float)) and value != 0:
                return value
            if isinstance(key, str) and key in words and callable(value):
                try:
                    return value(T, c)
                except Exception:
                    pass
    return 0
"""
    assert not passed(judge(handed_in({STAY: spy}), [STAY], fence, SEED))[STAY]


@needs_fence
def test_patched_clocks_and_dice_tell_no_seed(fence, tmp_path):
    """Two runs with one seed ask the same, whatever a notebook does to its own clock and dice."""
    patched = "import time, random\ntime.time = time.monotonic = lambda: 0.0\nrandom.random = lambda: 0.5\n" \
              "np.random.default_rng = lambda *a: None\nnp.random.seed(0)"  # fmt: skip
    note = "asked = []\ndef my_price(T, c):\n    asked.append((T, c))\n    raise ValueError(str(asked))"
    rows = [
        judge(handed_in({STAY: note}, *before), [STAY], fence, SEED).rows[0] for before in ([], [patched])
    ]
    assert rows[0].message == rows[1].message and not rows[0].passed


# ---------------------------------------------------------------- values


HOSTILE = {
    "reduce": "class E:\n    def __reduce__(self): return (exec, ('raise SystemExit',))\ndef my_price(T, c):\n    return E()",
    "equal": "class E:\n    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda s, o: True\n    __hash__ = None\ndef my_price(T, c):\n    return E()",
    "class": "class E:\n    __class__ = float\n    def __float__(self): return 1 / 0\ndef my_price(T, c):\n    return E()",
    "array": "class E:\n    __array_interface__ = {'shape': (1 << 40,), 'typestr': '<f8', 'data': (1, True), 'version': 3}\ndef my_price(T, c):\n    return E()",
    "repr": "class E:\n    def __repr__(self): raise SystemExit\ndef my_price(T, c):\n    return E()",
    "long repr": "class E:\n    def __repr__(self): return 'x' * (1 << 28)\ndef my_price(T, c):\n    return E()",
    "endless list": "def my_price(T, c):\n    x = []\n    x.append(x)\n    return x",
    "deep list": "def my_price(T, c):\n    x = []\n    for _ in range(400):\n        x = [x]\n    return x",
    "endless iterator": "class E(list):\n    def __iter__(self):\n        while True: yield 1\ndef my_price(T, c):\n    return E()",
    "objects": "def my_price(T, c):\n    return np.array([None, {1: 2}, lambda: 0, 'x'], dtype=object)",
    "a strange nan": "def my_price(T, c):\n    return np.frombuffer(b'\\x01\\x02\\x03\\x04\\x05\\x06\\xf8\\x7f')[0]",
    "a long int": "def my_price(T, c):\n    return 1 << 8_000_000",
    "long ints": "def my_price(T, c):\n    return [1 << 100_000] * 100",
    "a fraction": "from fractions import Fraction\ndef my_price(T, c):\n    f = Fraction(0)\n    f._numerator, f._denominator = 3 ** 2_000_000, 5 ** 1_500_000\n    return f",
    "surrogates": "def my_price(T, c):\n    return '\\ud800'",
    "surrogates raised": "def my_price(T, c):\n    raise ValueError('\\ud800 \\x1b[2J \\u202e')",
    "a type's name": "def my_price(T, c):\n    raise type('\\x1b[31m<b>', (Exception,), {})('x')",
    "structured": "def my_price(T, c):\n    return np.zeros(3, dtype=[('a', float)])",
    "dates": "def my_price(T, c):\n    return np.datetime64('2026-11-18')",
    "a matrix too large": "def my_price(T, c):\n    return np.broadcast_to(1.0, (1 << 20, 1 << 20))",
    "empty but long": "def my_price(T, c):\n    return np.zeros((1 << 40, 0))",
    "bytes": "def my_price(T, c):\n    return b'7'",
}  # fmt: skip


@needs_fence
def test_no_object_passes_for_an_answer_or_troubles_the_run(fence, tmp_path):
    """All in one run beside an honest one: each is his own row, and all tables can be read."""
    given = {f"{kind}.ipynb": handed_in(RIGHT | {STAY: source}) for kind, source in HOSTILE.items()}
    folder = tree(tmp_path / "in", {**given, "honest.ipynb": handed_in(RIGHT)})
    asked = assignments.Assignment(dict.fromkeys(ANSWERS, 1), seconds=5)
    students, said = graded(folder, tmp_path / "out", asked)
    assert {key: s.total for key, s in students.items() if s.total != 2} == {"honest": 3}
    messages = {key: s.rows[STAY].message for key, s in students.items()}
    ours = ("Traceback", "Exceeds the limit", "codec", "judge failed")
    assert not {key: m for key, m in messages.items() if any(word in m for word in ours)}
    written = "\n".join(
        p.read_text("utf8") for p in (tmp_path / "out").rglob("*") if p.suffix in (".csv", ".html", ".txt")
    )
    for text in (written, "\n".join(said)):
        assert "\x1b" not in text and "\u202e" not in text


WIRE = {
    "collisions": {"dict": [[{"int": hex(k * ((1 << 61) - 1))}, 1] for k in range(60_000)]},
    "a fraction": {"fraction": [hex(3**1_000_000), hex(5**900_000)]},
    "an int": {"int": "0x" + "f" * 3_000_000},
    "no int": {"int": "0x" + "z" * 10},
    "long and empty": {"array": "<f8", "shape": [1 << 40, 0], "data": ""},
    "objects, long and empty": {"objects": [], "shape": [1 << 40, 0]},
    "many axes": {"array": "<f8", "shape": [1] * 65, "data": "AAAAAAAAAAA="},
    "a dtype with fields": {"array": "f8,O", "shape": [0], "data": ""},
    "a dtype with a shape": {"array": "(99999999,)f8", "shape": [0], "data": ""},
    "a scalar of a scalar": {"scalar": {"scalar": {"list": []}}},
    "a fraction by 0": {"fraction": ["0x1", "0x0"]},
    "a dict of dicts": {"dict": [[{"dict": []}, 1]]},
    "two kinds": {"list": [], "tuple": []},
    "a function": {"function": 0, "name": "open"},
    "no pair": {"other": [1]},
}  # fmt: skip


@pytest.mark.parametrize("kind", WIRE)
def test_the_wire_takes_no_value_that_costs_the_judge(kind):
    """Forged data are refused, or become something that is no number, and quickly."""
    start = time.process_time()
    try:
        value = wire.unpack(json.loads(json.dumps(WIRE[kind])))
    except wire.Garbled:
        value = None
    assert value is None or isinstance(value, wire.Other)
    assert time.process_time() - start < 2


def test_every_exercise_refuses_odd_values_soon():
    """Whatever a function returns, its checker has a sentence for it, in seconds, and none of them passes."""
    deep = []
    for _ in range(50):
        deep = [deep]
    odd = [10**18, -(10**18), 1e308, 5e-324, "x" * 10_000, [], deep, np.zeros((0, 5)), np.full(3, np.nan), 1j, {"a": 1},
           np.array([None, "a", 1 << 70], object), wire.Other("float", "0.5"), [[1, 2], [3]], float("inf"),
           wire.unpack(wire.pack(1 << 60_000)), wire.unpack(wire.pack(Fraction(3**50_000, 2**79_000)))]  # fmt: skip
    for number, name in enumerate(checks.book()):
        for value in odd[number % 9 :: 9]:  # one or two of the values for each exercise
            start = time.process_time()
            heard = checks.verdicts(name, lambda *asked, value=value: value, 0)
            assert heard and not all(verdict.passed for verdict in heard), (name, value)
            assert time.process_time() - start < 10, (name, value)


# ---------------------------------------------------------------- notebooks


NOTEBOOKS = {
    "deep": b'{"cells": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "long numbers": b'{"cells": [], "x": ' + b"9" * 1_000_000 + b"}",
    "cells of cells": b'{"cells": [[[]]]}',
    "twice the same key": b'{"cells": [], "cells": 3}',
    "no source": b'{"cells": [{"cell_type": "code"}]}',
    "source of numbers": b'{"cells": [{"cell_type": "code", "source": [1, 2]}]}',
    "metadata a list": b'{"cells": [{"cell_type": "code", "source": "", "metadata": [1]}]}',
    "utf-16": packed(code("x = 1")).decode().encode("utf-16"),
    "a megabyte of brackets": packed(code("x = " + "(" * 1_000_000)),
    "a megabyte of dots": packed(code("x" + ".y" * 500_000)),
    "a megabyte of minus": packed(code("-" * 1_000_000 + "1")),
    "too many shell lines": packed(code("!ls\n" * 3_000)),
    "too much code": packed(*[code("!ls " + "x" * 100_000)] * 100),
    "surrogates": packed(code("x = '\ud800'")),
    "nul": packed(code("x = '\0'")),
}


@needs_fence
def test_no_notebook_ends_the_run_or_holds_it_up(fence, tmp_path):
    given = {f"{kind}.ipynb": content for kind, content in NOTEBOOKS.items()}
    folder = tree(tmp_path / "in", {**given, "honest.ipynb": handed_in(RIGHT)})
    start = time.monotonic()
    asked = assignments.Assignment(dict.fromkeys(ANSWERS, 1), seconds=5)
    students, _ = graded(folder, tmp_path / "out", asked)
    assert {key: s.total for key, s in students.items() if s.total} == {"honest": 3} and len(students) == 16
    assert time.monotonic() - start < 200
    again, _ = graded(folder, tmp_path / "out", asked)
    assert {key: s.total for key, s in again.items() if s.total} == {"honest": 3}


@needs_fence
def test_a_strange_cell_costs_that_cell_only(fence):
    """What the parser cannot bear stands beside right answers, and they count."""
    for kind in (
        "a megabyte of brackets",
        "a megabyte of dots",
        "a megabyte of minus",
        "surrogates",
        "nul",
        "too many shell lines",
    ):
        (cell,) = json.loads(NOTEBOOKS[kind])["cells"]
        given = packed(code("import numpy as np"), cell, *(asks(name, text) for name, text in RIGHT.items()))
        assert passed(judge(given, ANSWERS, fence, SEED, seconds=5)) == EVERYTHING, kind


# ---------------------------------------------------------------- zips


def test_a_zip_that_unpacks_to_gigabytes_is_refused_and_costs_no_memory(tmp_path):
    """Many members that are each just allowed; the honest zip beside it is read."""
    import tracemalloc

    big = b" " * (files.LARGEST - 10)
    bomb = zipped({f"{n}.ipynb": big for n in range(40)}, zipfile.ZIP_DEFLATED)
    nested = zipped({f"{n}.zip": bomb for n in range(10)}, zipfile.ZIP_DEFLATED)
    tree(tmp_path, {"eve.zip": bomb, "mallory.zip": nested, "honest.zip": zipped({"a.ipynb": b"{}"})})
    tracemalloc.start()
    found, ignored = files.attempts(tmp_path, assignments.Roster())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 << 20 and len(ignored) < 20
    assert {a.student for a in found if a.content == b"{}"} == {"honest"}
    assert sum(len(a.content) for a in found if a.student == "eve" and a.content) < 150 << 20


def test_a_bomb_in_the_zip_of_a_class_costs_no_other_student(tmp_path):
    """Also from zips in zips, each a little larger than the one around it."""
    layer = {"a.ipynb": b" " * (files.LARGEST - 10)}
    for _ in range(3):
        layer = {f"{n}.zip": zipped(layer, zipfile.ZIP_DEFLATED) for n in range(8)}
    given = {"0-eve.zip": zipped(layer), **{f"s{n}.ipynb": b"{}" for n in range(9)}}
    tree(tmp_path, {"class.zip": zipped(given)})
    start = time.process_time()
    found, _ = files.attempts(tmp_path, assignments.Roster())
    assert {a.student for a in found if a.content == b"{}"} == {f"s{n}" for n in range(9)}
    assert sum(len(a.content) for a in found if a.content) < 150 << 20 and time.process_time() - start < 20


def test_a_zip_that_lies_about_a_size_costs_no_memory(tmp_path):
    """Some ways of packing turn 50 bytes into 50 million, and Python unpacks them at once; nobody else uses them."""
    import tracemalloc

    big = b" " * (64 << 20)
    for name, method in (
        ("eve", zipfile.ZIP_BZIP2),
        ("ivy", zipfile.ZIP_LZMA),
        ("mallory", zipfile.ZIP_DEFLATED),
    ):
        given = bytearray(zipped({"a.ipynb": big}, method))
        for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            struct.pack_into("<I", given, given.find(mark) + place, 1000)
        tree(tmp_path, {f"{name}.zip": bytes(given)})
    tree(tmp_path, {"honest.zip": zipped({"a.ipynb": b"{}"}, zipfile.ZIP_DEFLATED)})
    del big
    tracemalloc.start()
    found, _ = files.attempts(tmp_path, assignments.Roster())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20
    assert {a.student: a.content for a in found if a.content} == {"honest": b"{}"}


def test_what_is_no_notebook_is_not_read_and_too_many_notebooks_are_not_graded(tmp_path, monkeypatch):
    """A class hands in films; one student hands in 300 notebooks, of which the last count."""
    real, read = Path.read_bytes, []
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or real(path))
    many = {f"eve/{n:03}.ipynb": b"{}" for n in range(300)}
    tree(tmp_path, {**many, "honest.ipynb": b"{}", "film.mp4": b"", "large.ipynb": b""})
    for n in range(300):
        os.utime(tmp_path / "eve" / f"{n:03}.ipynb", (n, n))
    os.truncate(tmp_path / "large.ipynb", files.LARGEST + 1)
    found, ignored = files.attempts(tmp_path, assignments.Roster())
    assert "film.mp4" not in read and "large.ipynb" not in read
    assert {a.student: a.reason for a in found if a.reason} == {"large": "it is larger than 20 MB"}
    kept = sorted(a.file for a in found if a.student == "eve")
    assert kept == [f"eve/{n:03}.ipynb" for n in range(100, 300)] and len(found) == 202
    assert dict(ignored) == {"film.mp4": "not a notebook", "eve": "300 notebooks; only the last 200 count"}


def test_one_damaged_member_does_not_lose_those_behind_it(tmp_path):
    """The zip of a class: one file has a wrong checksum, one an impossible date, one a way of packing unknown here."""
    given = bytearray(zipped({f"s{n}.ipynb": b'{"cells": []}' for n in range(5)}))
    starts = [given.find(b"PK\x03\x04")]
    while (following := given.find(b"PK\x03\x04", starts[-1] + 1)) > 0:
        starts.append(following)
    given[starts[1] + 30 + 8] ^= 0xFF  # its content
    entries = [given.find(b"PK\x01\x02")]
    while (following := given.find(b"PK\x01\x02", entries[-1] + 1)) > 0:
        entries.append(following)
    struct.pack_into("<H", given, entries[2] + 14, (46 << 9) | (15 << 5))  # a fifteenth month
    struct.pack_into("<H", given, entries[3] + 10, 77)
    struct.pack_into("<H", given, starts[3] + 8, 77)
    tree(tmp_path, {"class.zip": bytes(given)})
    found, ignored = files.attempts(tmp_path, assignments.Roster())
    assert {a.student for a in found if a.content} == {"s0", "s2", "s4"}
    told = {a.student: a.reason for a in found if not a.content} | dict(ignored)
    assert len(told) == 2 and all("cannot be opened" in why for why in told.values()), told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_listed(tmp_path):
    tree(tmp_path, {"eve.ipynb": b"{}", "honest.ipynb": b"{}"})
    (tmp_path / "eve.ipynb").chmod(0)
    found, _ = files.attempts(tmp_path, assignments.Roster())
    assert {a.student for a in found if a.content} == {"honest"}


def test_a_folder_that_is_a_link_is_not_followed(tmp_path):
    secret = tmp_path / "secret"
    tree(secret, {"x.ipynb": b"{}"})
    inside = tree(tmp_path / "in", {"honest.ipynb": b"{}"})
    (inside / "eve").symlink_to(secret)
    os.mkfifo(inside / "pipe.ipynb")
    found, _ = files.attempts(inside, assignments.Roster())
    assert {a.student for a in found if a.content} == {"honest"}


def test_a_zip_with_an_old_date_inside_is_still_late(tmp_path):
    """The time is that of the file that was handed in, not one that a student can set."""
    old = zipped({"a.ipynb": b"{}"}, when=(2001, 1, 1, 0, 0, 0))
    late = (2026, 11, 25, 12, 0, 0)
    moodle = "Student One_1234567_assignsubmission_file_/work.zip"
    tree(tmp_path / "a", {"class.zip": zipped({moodle: old}, when=late)})
    (found,), _ = files.attempts(tmp_path / "a", assignments.Roster())
    assert found.when == dt.datetime(*late)
    tree(tmp_path / "b", {"s1.zip": old, "s2.ipynb": b"{}"})
    os.utime(tmp_path / "b" / "s1.zip", (dt.datetime(*late).timestamp(),) * 2)
    when = {a.student: a.when for a in files.attempts(tmp_path / "b", assignments.Roster())[0]}
    assert when["s1"] == dt.datetime(*late)
    plain = {"s1.ipynb": b"{}", "s2/b.ipynb": b"{}"}
    tree(tmp_path / "c", {"class.zip": zipped(plain, when=late)})
    assert {a.when for a in files.attempts(tmp_path / "c", assignments.Roster())[0]} == {dt.datetime(*late)}


# ---------------------------------------------------------------- names


def plain_roster(tmp_path, text):
    (tmp_path / "roster.csv").write_text(text, "utf8")
    return assignments.roster(tmp_path / "roster.csv")


def owners(folder, roster=None):
    return {a.file: a.student for a in files.attempts(folder, roster or assignments.Roster())[0]}


def test_nobody_hands_in_for_another(tmp_path):
    """Inside one's own folder or zip a name of somebody else, or one as a platform makes it, means nothing."""
    roster = plain_roster(tmp_path, "id,name\ns1,Student One\ns2,Student Two\n")
    forged = {
        "s1/s2.ipynb": b"{}",
        "Student One/Student Two_2_assignsubmission_file_x.ipynb": b"{}",
        "s1.zip": zipped({"two_s2_1_a.ipynb": b"{}", "s2/a.ipynb": b"{}", "two_55502_77701_a.ipynb": b"{}"}),
        "onestudent_55501_777001_a.zip": zipped({"twostudent_55502_777002_a.ipynb": b"{}"}),
    }
    assert set(owners(tree(tmp_path / "in", forged), roster).values()) == {"s1", "55501"}


def test_a_date_in_a_name_is_no_number_of_a_student(tmp_path):
    given = {
        "anna/sheet_2026_11_20.ipynb": b"{}",
        "ben/sheet_2026_11_20.ipynb": b"{}",
        "cleo/sheet_3_1_a.ipynb": b"{}",
    }
    assert set(owners(tree(tmp_path, given)).values()) == {"anna", "ben", "cleo"}


def test_two_of_one_name_are_not_taken_for_each_other(tmp_path):
    """A name, or a cell such as a group, that several have names nobody; the id does."""
    roster = plain_roster(tmp_path, "id,name,group\ns1,Kim Lee,A\ns2,Kim Lee,A\ns3,Ada,B\n")
    given = {"Kim Lee.ipynb": b"{}", "A/x.ipynb": b"{}", "s1.ipynb": b"{}", "ada.ipynb": b"{}"}
    found = owners(tree(tmp_path / "in", given), roster)
    assert found["s1.ipynb"] == "s1" and found["ada.ipynb"] == "s3"
    assert found["Kim Lee.ipynb"] not in roster.people and found["A/x.ipynb"] not in roster.people
    with pytest.raises(SystemExit, match="s1 twice"):
        plain_roster(tmp_path, "id,name\ns1,A\ns1,B\n")


def test_umlauts_are_the_same_in_every_spelling(tmp_path):
    """A Mac writes ü as two signs, the roster as one."""
    roster = plain_roster(tmp_path, "id,name\ns1,Jürgen Groß\n")
    name = unicodedata.normalize("NFD", "Jürgen Groß")
    assert name != "Jürgen Groß"
    assert set(owners(tree(tmp_path / "in", {f"{name}/a.ipynb": b"{}"}), roster).values()) == {"s1"}


@needs_fence
def test_names_that_are_no_text_do_not_end_the_run(fence, tmp_path):
    """Latin-1 of an old zip, escapes for the terminal, letters that turn the line round, formulas, HTML."""
    evil = "\x1b[2J\x1b]0;owned\x07\u202e\x9b31m"
    given = {
        b"M\xfcller.ipynb": handed_in(RIGHT),
        f"{evil}.ipynb": handed_in(RIGHT),
        "＝cmd()|' /C calc'!A0.ipynb": handed_in(RIGHT),
        "\t=1+1.ipynb": handed_in(RIGHT),
        "x; =2+2.ipynb": handed_in(RIGHT),
        "<img src=x onerror=alert(1)>.ipynb": handed_in(RIGHT),
        f"{evil}/stray.pdf": b"",
        "honest.ipynb": handed_in(RIGHT),
    }
    folder = tree(tmp_path / "in", given)
    students, said = graded(folder, tmp_path / "out")
    assert len(students) == 7 and all(s.total == 3 for s in students.values())
    out = tmp_path / "out"
    text = "\n".join(
        [*said, *(p.read_text("utf8") for p in out.rglob("*") if p.suffix in (".csv", ".html", ".txt"))]
    )
    assert not [sign for sign in ("\x1b", "\x07", "\u202e", "\x9b") if sign in text]
    assert not [p for p in (out / "feedback").iterdir() if "<img" in p.read_text("utf8")]
    for row in table(out / "grades.csv"):
        for cell in row["id"].split(";"):  # as a program does where a comma is in a number
            assert cell.strip()[0] not in "=＝+-@\t"
    assert len(list((out / "feedback").iterdir())) == 7
    assert (tmp_path / "out" / "feedback.zip").exists()


def test_long_names_are_cut_for_the_disk(tmp_path):
    """A zip may hold a name of 65,000 letters, of four bytes each; a disk may not."""
    asked = assignments.Assignment({STAY: 1})
    people = {
        name: report.Student(name, name, folder=f"{name}_1_assignsubmission_file_", platform="moodle")
        for name in ("\U0001d538" * 100, "\U0001d538" * 101, "x" * 65_000)
    }
    for student in people.values():
        student.rows, student.points = {STAY: report.Row(STAY)}, {STAY: 0}
    report.write(asked, people, [], tmp_path)
    assert len(list((tmp_path / "feedback").iterdir())) == 3


# ---------------------------------------------------------------- the run


@needs_fence
@pytest.mark.parametrize(
    "how",
    [signal.SIGINT, *(pytest.param(how, marks=pytest.mark.long) for how in (signal.SIGTERM, signal.SIGHUP))],
)
def test_a_run_that_is_broken_off_leaves_nothing_and_goes_on(tmp_path, how):
    """Ctrl-C, a shutdown, a closed window: no trace in /tmp, no process, a sentence, and a second run goes on."""
    tree(
        tmp_path / "in", {f"s{n}.ipynb": handed_in(RIGHT, f"import time\ntime.sleep({n})") for n in range(3)}
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "press", "grade", "in", "--into", "out", "--jobs", "1"]
    environment = os.environ | {"TMPDIR": str(scratch)}
    run = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    for line in run.stdout:
        if line.startswith("[2/"):
            break
    run.send_signal(how)
    _, wrong = run.communicate(timeout=30)
    assert run.returncode and "Traceback" not in wrong and "again" in wrong
    assert list(scratch.iterdir()) == []
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=200)
    assert done.returncode == 0 and "graded before" in done.stdout and "/3]" not in done.stdout
    assert [float(row["total"]) for row in table(tmp_path / "out" / "grades.csv")] == [3, 3, 3]


def test_a_thousand_endless_notebooks_hold_up_nobody(monkeypatch):
    """A student has so much time for all of them; the others are judged, and soon."""
    monkeypatch.setattr(grading, "WHOLE", 0.2)
    monkeypatch.setattr(grading, "judge", lambda content, *rest: time.sleep(content) or Judged([content]))
    given = [files.Attempt("eve", "eve", f"{n}.ipynb", 0.3, None, ()) for n in range(1000)]
    given.append(files.Attempt("honest", "honest", "a.ipynb", 0, None, ()))
    asked = assignments.Assignment({STAY: 1})
    found = [(a.student, judged) for a, judged in grading.side_by_side(given, asked, SEED, None, 2)]
    assert len(found) == 1001 and found[-1] == ("honest", Judged([0]))
    assert sum(judged.reason == grading.TOO_MANY for _, judged in found) >= 997


def test_a_signal_is_noted_and_ends_the_run_at_the_next_safe_place(monkeypatch):
    """An exception raised by the handler itself could hit a fork or a clean-up of Python, which loses it."""
    monkeypatch.setattr(grading, "stopped", [])
    for _ in range(2):  # a closed terminal may send two
        grading.stop(signal.SIGHUP, None)
    with pytest.raises(KeyboardInterrupt):
        next(grading.side_by_side([None], None, SEED, None, 1))


def test_ctrl_c_while_the_imports_run_is_a_sentence(monkeypatch):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "import_module", interrupted)
    with pytest.raises((SystemExit, KeyboardInterrupt)) as ended:
        __main__.main(["grade"])
    assert ended.type is SystemExit and "Interrupted" in str(ended.value)


@needs_fence
def test_results_among_the_submissions_are_no_submissions(fence, tmp_path):
    name = "Student One_1234567_assignsubmission_file_/a.ipynb"
    tree(tmp_path, {name: handed_in(RIGHT)})
    for _ in range(2):
        students, _ = graded(tmp_path, tmp_path / "grades")
    assert set(students) == {"1234567"} and students["1234567"].files == [name]
    assert (tmp_path / "grades" / "ignored.txt").read_text("utf8") == ""


def test_moodle_gets_its_own_cells_back_as_they_were(tmp_path):
    head = "Identifier,Full name,Status,Grade,Last modified (submission),Feedback comments\n"
    roster = plain_roster(tmp_path, head + "Participant 1,Kim,No submission,,-,\n")
    asked = assignments.Assignment({STAY: 1}, roster=roster)
    report.write(asked, report.marks(asked, []), [], tmp_path / "out")
    (row,) = table(tmp_path / "out" / "moodle.csv")
    assert row["Last modified (submission)"] == "-"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exercises:\n  - ex-the-price-of-staying: 2", "must have `exercises:`"),
        ("exercises: [ex-the-price-of-staying]\nlate: {per day: ten}", "per day"),
        ("exercises: [ex-the-price-of-staying]\nseconds: soon", "seconds"),
        ("exercises: [ex-the-price-of-staying]\nseed: x", "seed"),
        ("exercises: [ex-the-price-of-staying]\npackages: scipy", "packages"),
        ("exercises: [ex-the-price-of-staying]\npackages: [no-such-package]", "no-such-package"),
    ],
)
def test_more_mistakes_in_an_assignment_are_sentences(tmp_path, text, said):
    path = tmp_path / "assignment.yml"
    path.write_text(text, "utf8")
    with pytest.raises(SystemExit, match=said):
        assignments.read(path)


def test_a_notebook_that_a_browser_renamed_is_a_notebook(tmp_path):
    given = {"s1.ipynb.json": b"{}", "s2/a.ipynb.txt": b"{}", "s3.IPYNB": b"{}", "s4.txt": b"{}"}
    assert set(owners(tree(tmp_path, given)).values()) == {"s1", "s2", "s3"}


def test_late_on_canvas_is_a_day_and_says_so(tmp_path):
    """The files carry the time of the download: nobody loses more because the lecturer was on holiday."""
    tree(tmp_path, {"onestudent_LATE_55501_777001_a.ipynb": b"{}"})
    (attempt,), _ = files.attempts(tmp_path, assignments.Roster())
    asked = assignments.Assignment({STAY: 1}, due=dt.datetime(2020, 1, 1), per_day=10, days=3)
    assert report.lateness(asked, attempt)[0] == 1
