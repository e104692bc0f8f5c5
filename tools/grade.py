"""Grade a folder of notebooks: python tools/grade.py SUBMISSIONS [--into FOLDER] [--network allowed]

Each notebook (also inside a zip from a learning platform) runs in a process of its own, without network, with
limits of time and memory. The judge, this process, runs the book's own checkers and asks the student's
functions for numbers; no line of a student's code runs here, and the checkers in a notebook are not asked.
Where a checker draws instances, it also tries some that no page shows. Writes grades.csv and a page of
feedback for each student.
"""

import argparse
import ast
import contextlib
import csv
import html
import inspect
import io
import json
import os
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import exercise
import notebooks
from sandbox import pack, unpack

from ocolib import exercises

sys.path.append(str(notebooks.ROOT / "book" / "_ext"))

import depends

SECONDS, MEMORY = int(os.environ.get("GRADE_SECONDS", 60)), 2 << 30
SANDBOX = Path(__file__).with_name("sandbox.py")
# Namespaces of its own for network, processes and mounts; in the last the project is read-only. The inner
# `unshare -U` gives up the power over them: without it a cell could remount the project, or uncover /proc.
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec unshare -U "$@"'
FENCE = ["unshare", "-rnmpf", "--kill-child", "--mount-proc", "sh", "-c", READ_ONLY, str(notebooks.ROOT)]
HEAD = ("student", "file", "exercise", "title", "passed", "reason")


class Refused(Exception):
    """A reason why a file, or the rest of it, is not graded."""


# ---------------------------------------------------------------- what the book asks


@cache
def book():
    """{exercise: (page, title)} of the whole book."""
    return {
        name: (page, title)
        for page in notebooks.pages()
        for name, (_, title) in notebooks.exercises(notebooks.read(page)).items()
    }


@cache
def page_cells(page):
    """[(exercise or None, source)] of a page's live cells but the solutions, as the book has them."""
    found = []
    for cell in notebooks.derived(notebooks.read(page)):
        tags = notebooks.tags(cell)
        if cell.cell_type == "code" and "live" in tags and "solution" not in tags:
            found.append((cell.metadata.get("exercise") if "exercise" in tags else None, cell.source))
    return found


def run_quietly(source, namespace):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(source, "<book>", "exec"), namespace)


@cache
def above(page, name, answer=""):
    """The names that an exercise finds (and that an answer to it needs), and its cell.

    They come from the book's own cells above it, but no stubs: those that it builds on, those that import.
    """
    cells = page_cells(page)
    place = [found for found, _ in cells].index(name)
    sources = [source for _, source in cells[:place]]
    *_, uses = depends.dependencies([*sources, f"{answer}\n{cells[place][1]}"], set())
    wanted = [
        source
        for number, (found, source) in enumerate(cells[:place], 1)
        if found is None and (number in uses or depends.names_of(source).imported)
    ]
    return left_behind(tuple(wanted)), cells[place][1]


@cache
def left_behind(sources):
    """The names that these cells leave behind."""
    namespace = {"__name__": "__main__"}
    for source in sources:
        run_quietly(source, namespace)
    return namespace


def verdicts(name, ask, fresh):
    """What the checkers say of the functions that `ask(function, args)` answers for."""
    page, _ = book()[name]
    before, stub = above(page, name)
    namespace, heard = dict(before), []
    parts = exercise.parts(stub)
    for part in parts:
        if exercise.is_answer(part.node):
            namespace[part.node.name] = proxy(part, ask)
    rest = "\n".join(part.code for part in parts if not exercise.is_answer(part.node))
    old = exercises.tell, exercises.fresh
    exercises.tell, exercises.fresh = heard.append, fresh
    try:
        run_quietly(rest, namespace)
    finally:
        exercises.tell, exercises.fresh = old
    return heard


def proxy(part, ask):
    """The student's function as the judge sees it: name and signature of the stub, answered elsewhere."""
    stub = {}
    exec(ast.unparse(ast.Module([part.node], [])), {"np": __import__("numpy")}, stub)
    name = part.node.name

    def call(*args):
        return ask(name, args)

    call.__name__, call.__signature__ = name, inspect.signature(stub[name])
    return call


# ---------------------------------------------------------------- the student's process


class Student:
    """The notebook's process, as long as it lives."""

    def __init__(self, path, network, seconds):
        self.left = seconds  # of the student's time: what the judge needs does not count
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        ids = json.dumps(sorted(known_ids()))
        command = [sys.executable, str(SANDBOX), str(path), ids, str(MEMORY), str(theirs_in), str(theirs_out)]
        self.process = subprocess.Popen(
            [*fence(network), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs_in, theirs_out),
            cwd=tempfile.gettempdir(),
            env={"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
        os.close(theirs_in), os.close(theirs_out)
        self.to, self.source, self.rest = os.fdopen(ours_out, "w"), ours_in, b""
        try:
            self.known = self.hear()
        except Refused:
            self.end()
            raise

    def hear(self):
        """The next message; a process that has used up its time, ends, or says too much is refused."""
        while b"\n" not in self.rest:
            start = time.monotonic()
            ready = self.left > 0 and select.select([self.source], [], [], self.left)[0]
            self.left -= time.monotonic() - start
            if not ready:  # nor is a late answer taken for the next one
                raise Refused(f"it did not end within {SECONDS} s")
            more = os.read(self.source, 1 << 16)
            if not more or len(self.rest) > 1 << 26:
                raise Refused("its process ended (out of memory, or made to exit), or an answer was too long")
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, name, function, args):
        print(
            json.dumps({"exercise": name, "name": function, "args": pack(list(args))}),
            file=self.to,
            flush=True,
        )
        answer = self.hear()
        if "error" in answer:
            kind, text = answer["error"]
            raise type(str(kind), (Exception,), {})(str(text))
        return unpack(answer["value"])

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        with contextlib.suppress(OSError):
            self.to.close()
        os.close(self.source)


def fence(network):
    """What keeps a process off the network and all other processes, and from changing the project's files.

    Nothing, if the network is allowed.
    """
    if network == "allowed":
        return []
    if shutil.which("unshare") and not subprocess.run([*FENCE, "true"], capture_output=True).returncode:
        return FENCE
    raise SystemExit(
        "Here no process can be fenced in (unshare fails): it could reach the network, this program and the "
        "project's files. To grade all the same: make grade SUBMISSIONS=… NETWORK=allowed"
    )


@cache
def known_ids():
    """The ids of all cells of the book."""
    return {
        cell["id"]
        for path in notebooks.BOOK.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
        for cell in json.loads(path.read_text("utf8"))["cells"]
    }


# ---------------------------------------------------------------- grading


@dataclass
class Row:
    """One exercise of one student, or a file that could not be graded."""

    student: str
    file: str
    exercise: str = ""
    passed: bool = False
    reason: str = ""
    said: list = field(default_factory=list)

    @property
    def title(self):
        return book().get(self.exercise, (None, ""))[1]

    def cells(self):
        return [self.student, self.file, self.exercise, self.title, int(self.passed), self.reason]


#: what goes wrong with a file that is none
NO_NOTEBOOK = ValueError, KeyError, TypeError, AttributeError, RecursionError


def asked_in(path):
    """The exercises that a notebook has, in their order."""
    try:
        cells = json.loads(path.read_text("utf8"))["cells"]
        named = [
            c["metadata"]["exercise"] for c in cells if "exercise" in c.get("metadata", {}).get("tags", [])
        ]
        found = [name for name in dict.fromkeys(named) if name in book()]
    except NO_NOTEBOOK as error:
        raise Refused(f"it is not a notebook of the book, or damaged ({type(error).__name__})") from None
    if not found:
        raise Refused("no exercise of the book is in it: were cells deleted, or their metadata?")
    return found


def grade(student, file, path, network, fresh):
    """The rows of one notebook."""
    try:
        names = asked_in(path)
        running = Student(path, network, SECONDS)
    except Refused as reason:
        return [Row(student, file, reason=str(reason))]
    rows = []
    try:
        for name in names:
            rows.append(judge(Row(student, file, name), running, fresh))
    except Refused as reason:
        rows += [Row(student, file, name, reason=str(reason)) for name in names[len(rows) :]]
    finally:
        running.end()
    return rows


def judge(row, running, fresh):
    """Ask, and write down what the checkers say."""
    known = running.known["found"].get(row.exercise, [])
    _, stub = above(book()[row.exercise][0], row.exercise)
    wanted = [part.node.name for part in exercise.parts(stub) if exercise.is_answer(part.node)]
    missing = [name for name in wanted if name not in known]
    if missing:
        wrong = running.known["wrong"].get(row.exercise)
        others = (
            f"; its cell raised {wrong}"
            if wrong
            else f"; defined are {', '.join(known) or 'no functions my_…'}"
        )
        row.reason = f"{missing[0]} is not defined{others}"
        return row
    heard = []

    def ask(function, args):
        return running.ask(row.exercise, function, args)

    for instance in (0, fresh):
        heard += verdicts(row.exercise, ask, instance)
    row.passed = bool(heard) and all(verdict.passed for verdict in heard)
    row.said = heard
    failed = [verdict for verdict in heard if not verdict.passed]
    row.reason = "" if row.passed else (failed[0].message if failed else "nothing was checked")
    return row


def submissions(folder):
    """(student, file, path) of every file; a zip from a learning platform is unpacked elsewhere."""
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix == ".zip":
            inside = Path(tempfile.mkdtemp(prefix="grade-"))
            try:
                with zipfile.ZipFile(path) as bundle:
                    bundle.extractall(inside)
            except (zipfile.BadZipFile, OSError, RuntimeError):  # RuntimeError: it wants a password
                yield path.stem, path.name, path
                continue
            for file in sorted(p for p in inside.rglob("*") if p.is_file()):
                parts = file.relative_to(inside).parts
                yield parts[0] if len(parts) > 1 else Path(parts[0]).stem, "/".join(parts), file
        elif path.is_file():
            parts = path.relative_to(folder).parts
            yield parts[0] if len(parts) > 1 else path.stem, "/".join(parts), path


def progress(student, file, path):
    """What a reader's browser exported: told by the student, not checked."""
    done = json.loads(path.read_text("utf8"))["done"]
    rows = [Row(student, file, name, reason="self-reported, not checked") for name in done if name in book()]
    return rows or [Row(student, file, reason="nothing of the book is done in it")]


def graded(folder, network, fresh):
    for student, file, path in submissions(folder):
        if path.suffix == ".json":
            with contextlib.suppress(*NO_NOTEBOOK):
                yield from progress(student, file, path)
                continue
        yield from grade(student, file, path, network, fresh)


def feedback(student, rows):
    """One page for one student; everything that came from a notebook is text."""
    parts = [
        f"<h1>{html.escape(student)}</h1>",
        f"<p>{sum(r.passed for r in rows)} of {len(rows)} solved</p>",
    ]
    for row in rows:
        mark = "✓" if row.passed else "✗"
        parts.append(f"<h2>{mark} {html.escape(row.title or row.file)}</h2>")
        told = [str(verdict) for verdict in row.said if not verdict.passed] or [row.reason]
        parts += [f"<pre>{html.escape(text)}</pre>" for text in told if text]
    style = (
        "<style>body{font:1em/1.5 sans-serif;max-width:50em;margin:2em auto}pre{white-space:pre-wrap}</style>"
    )
    return f'<!doctype html><meta charset="utf-8"><title>{html.escape(student)}</title>{style}' + "\n".join(
        parts
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--into", type=Path, default=Path("_build/grades"))
    parser.add_argument("--network", choices=["allowed", "none"], default="none")
    parser.add_argument("--seed", type=int, default=None, help="of instances that no page shows, from 1 on")
    asked = parser.parse_args()
    if not asked.submissions.is_dir():
        raise SystemExit(f"{asked.submissions} is not a folder of submissions")
    fence(asked.network)
    fresh = asked.seed or random.SystemRandom().randrange(1, 1 << 30)
    rows = list(graded(asked.submissions, asked.network, fresh))
    (asked.into / "feedback").mkdir(parents=True, exist_ok=True)
    with open(asked.into / "grades.csv", "w", newline="", encoding="utf8") as file:
        csv.writer(file).writerows([HEAD, *(row.cells() for row in rows)])
    taken = Counter()
    for student in dict.fromkeys(row.student for row in rows):
        name = re.sub(r"[^\w.-]+", "_", student)
        taken[name] += 1
        name += f"-{taken[name]}" * (taken[name] > 1)  # "a b" and "a_b" have a page each
        page = feedback(student, [row for row in rows if row.student == student])
        (asked.into / "feedback" / f"{name}.html").write_text(page, "utf8")
    print(f"{len(rows)} rows → {asked.into / 'grades.csv'}; fresh instances: --seed {fresh}")


if __name__ == "__main__":
    main()
