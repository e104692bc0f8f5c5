"""Grade a class: python -m press grade SUBMISSIONS [--assignment assignment.yml] [--into FOLDER]

SUBMISSIONS is a folder of notebooks, or of the zip files that Moodle and Canvas export. The steps:

1. `handed_in` finds the notebooks and their students, `assignment` reads exercises, points and due date.
2. `fence` starts a sandboxed process for each notebook, in which `inside` runs the student's cells.
3. `judge` runs the book's checkers (`checks`) in a process of our own. They call the student's functions
   through a pipe (`pipe`, `wire`), on the numbers of the pages and on others that no page shows.
4. `report` writes the marks, the tables for Moodle and Canvas, and a feedback page per student.

Each result is stored as soon as it is known, so a second run continues where the first one stopped.
"""

import argparse
import contextlib
import csv
import ctypes
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path

import ocolib
from press.grade import assignment as assignments
from press.grade import checks, handed_in, notebook, report
from press.grade.fence import Fence
from press.grade.judge import WHOLE, Judged, Row, harmless, judge

MEMORY = 6 << 30  # bytes that the process of a judge may use
STOPS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP  # Ctrl-C, a shutdown, a closed terminal
TOO_MANY = "not judged: this student's other notebooks took all the time"
stopped: list[int] = []  # the signals received so far


def everything(attempts):
    """Return the default assignment: every exercise found in the submitted notebooks, one point each."""
    found = set()
    for attempt in attempts:
        found |= notebook.asked_in(attempt.content or b"", set(checks.book()))
    if not found:
        raise SystemExit("No exercise of the book is in these files. Name some with --assignment FILE")
    return assignments.Assignment({name: 1 for name in checks.book() if name in found})


def seed_of(assignment, seed, student):
    """Return the seed of the numbers that no page shows: one for the class, or one per student."""
    if assignment.seeds == "class":
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {student}".encode()).digest()[:3], "big") + 1


@cache
def version():
    """Return a hash of the code of the checkers and the judge, so that results of older ones are not kept."""
    rooms = [Path(room.__file__).parent for room in (ocolib, checks)]
    code = [file.read_bytes() for room in rooms for file in sorted(room.rglob("*.py"))]
    return hashlib.sha256(b"".join(code)).hexdigest()


def key_of(attempt, assignment, seed):
    """Return a hash of everything that a result depends on; it tells whether a stored result is valid."""
    pages = sorted({checks.book()[name][0] for name in assignment.exercises})
    parts = [
        attempt.student,
        attempt.file,
        seed_of(assignment, seed, attempt.student),
        assignment.seconds,
        assignment.packages,
    ]
    parts += [*assignment.exercises, *(page.read_text("utf8") for page in pages), version()]
    return hashlib.sha256(json.dumps(parts).encode() + attempt.content).hexdigest()


# ---------------------------------------------------------------- many at once


def stop(number, frame):
    """Note the signal. An exception raised here could hit a fork or a clean-up of Python, which loses it."""
    stopped.append(number)


def break_off():
    """Interrupt the run at a safe place if a signal has arrived."""
    if stopped:
        raise KeyboardInterrupt


def judged_apart(attempt, assignment, seed, fence, answer, processor):
    """Judge one notebook, send the result to the parent and end; runs in a process of its own.

    It and the student's code stay on one processor, so that threads of one student do not slow down another.
    """
    os.sched_setaffinity(0, {processor})
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # end when the parent ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    fresh = seed_of(assignment, seed, attempt.student)
    try:
        result = judge(attempt.content, assignment.exercises, fence, fresh, assignment.seconds)
    except Exception as problem:  # a fault of ours must not stop the other notebooks
        result = Judged(reason=harmless(f"the judge failed ({type(problem).__name__}: {problem})"[:300]))
    answer.send(result)


def side_by_side(attempts, assignment, seed, fence, jobs):
    """Judge notebooks, `jobs` at a time; yield (attempt, result) as soon as each is ready."""
    context = multiprocessing.get_context("fork")
    waiting, running, spent = list(reversed(attempts)), {}, Counter()
    available = list(os.sched_getaffinity(0))
    random.shuffle(available)  # two runs at a time should not begin on the same one
    processors = dict.fromkeys(available, 0)  # {number: notebooks on it now}
    try:
        while waiting or running:
            break_off()
            while waiting and len(running) < jobs:
                attempt = waiting.pop()
                if spent[attempt.student] > WHOLE:  # a thousand endless notebooks cost only this student
                    yield attempt, Judged(reason=TOO_MANY)
                    continue
                ours, theirs = context.Pipe(duplex=False)
                processor = min(processors, key=processors.get)
                process = context.Process(
                    target=judged_apart, args=(attempt, assignment, seed, fence, theirs, processor)
                )
                before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # the child receives none of them
                process.start()
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                theirs.close()
                running[ours] = attempt, process, processor, time.monotonic()
                processors[processor] += 1
            ready = set(multiprocessing.connection.wait(list(running), 1))
            for ours, (attempt, process, processor, began) in list(running.items()):
                took = time.monotonic() - began
                if ours in ready:
                    try:
                        result = ours.recv()
                    except (EOFError, OSError):
                        result = Judged(reason="the judge of this notebook crashed (out of memory?)")
                elif took > WHOLE + 120:
                    result = Judged(reason="grading it took too long")
                else:
                    continue
                process.kill()
                process.join()
                ours.close()
                del running[ours]
                processors[processor] -= 1
                spent[attempt.student] += took
                yield attempt, result
    finally:
        for ours, (_, process, *_) in running.items():
            process.kill()
            process.join()
            ours.close()


# ---------------------------------------------------------------- the whole run


class Book:
    """The results so far, stored in a file that a second run reads."""

    def __init__(self, into):
        self.path = into / "results.jsonl"
        self.known, self.seed = {}, None
        for line in self.path.read_text("utf8").splitlines() if self.path.exists() else ():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # the last line may be incomplete
                entry = json.loads(line)
                if "seed" in entry:
                    self.seed = entry["seed"]
                else:
                    rows = [Row(**row) for row in entry["rows"]]
                    self.known[entry["key"]] = Judged(rows, entry["reason"])

    def add(self, entry):
        """Append a result, or the seed, to the file."""
        with open(self.path, "a", encoding="utf8") as file:
            file.write(json.dumps(entry) + "\n")


def run(folder, assignment, into, seed=None, jobs=None, say=print):
    """Grade the notebooks in `folder` and write the results to the folder `into`; return {id: Student}."""
    into.mkdir(parents=True, exist_ok=True)
    roster = assignment.roster if assignment else assignments.Roster()
    attempts, ignored = handed_in.attempts(folder, roster, into)
    assignment = assignment or everything(attempts)
    book = Book(into)
    seed = seed or assignment.seed or book.seed or random.SystemRandom().randrange(1, 1 << 30)
    if seed != book.seed:
        book.add({"seed": seed})
    for name in assignment.exercises:  # fill the caches once, before forking
        break_off()
        checks.functions(name)
    notebook.known_ids()
    with (
        Fence(assignment.packages) as fence,
        open(into / "verdicts.csv", "w", newline="", encoding="utf8") as file,
    ):
        table = csv.writer(file)
        table.writerow(report.VERDICTS)
        keys = {id(a): key_of(a, assignment, seed) for a in attempts if a.content is not None}
        results = [(a, book.known[keys[id(a)]]) for a in attempts if keys.get(id(a)) in book.known]
        results += [(a, Judged()) for a in attempts if a.content is None]
        for attempt, judged in results:
            table.writerows(
                [report.plain(c) for c in row] for row in report.verdicts(assignment, attempt, judged)
            )
        done = {id(attempt) for attempt, _ in results}
        todo = [a for a in attempts if id(a) not in done]
        if len(todo) < len(keys):
            say(f"{len(keys) - len(todo)} notebooks were graded before and have not changed")
        for number, (attempt, judged) in enumerate(side_by_side(todo, assignment, seed, fence, jobs or 1), 1):
            results.append((attempt, judged))
            if not judged.reason.startswith("the judge"):
                rows = [asdict(row) for row in judged.rows]
                book.add({"key": keys[id(attempt)], "rows": rows, "reason": judged.reason})
            table.writerows(
                [report.plain(c) for c in row] for row in report.verdicts(assignment, attempt, judged)
            )
            file.flush()
            solved = judged.reason or f"{sum(row.passed for row in judged.rows)} of {len(judged.rows)} solved"
            who = dict.fromkeys(map(report.plain, (attempt.name, attempt.student)))
            say(f"[{number}/{len(todo)}] {', '.join(who)}: {solved}")
    students = report.marks(assignment, results)
    written = report.write(assignment, students, ignored, into)
    count = f"{len(students)} student{'s' * (len(students) != 1)}"
    say(f"{count}, {report.number(assignment.total)} points: {into / 'grades.csv'}")
    say("\n".join(f"  {path}" for path in [into / "verdicts.csv", *written]))
    if ignored:
        say(f"  files that were not graded: {into / 'ignored.txt'}")
    say(f"To grade with the same hidden numbers again: --seed {seed}")
    return students


def at_least_1(text):
    """Return a number of the command line."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or larger, not {text}")
    return int(text)


def main(arguments=None):
    """Parse the command line and grade."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--assignment", type=Path, help="assignment.yml: exercises, points, due date, roster")
    parser.add_argument("--into", type=Path, help="output folder (default: in _build/grades)")
    parser.add_argument("--seed", type=at_least_1, help="seed of the numbers that no page shows")
    parser.add_argument("--jobs", type=at_least_1, default=os.cpu_count(), help="notebooks at a time")
    asked = parser.parse_args(arguments)
    if not asked.submissions.is_dir():
        raise SystemExit(f"{asked.submissions} is not a folder; give the folder with the submissions")
    assignment = assignments.read(asked.assignment) if asked.assignment else None
    name = asked.assignment.stem if asked.assignment else ""
    into = asked.into or Path("_build", "grades", name)
    for number in STOPS:
        signal.signal(number, stop)
    try:
        run(
            asked.submissions.resolve(),
            assignment,
            into,
            asked.seed,
            asked.jobs,
            lambda text: print(text, flush=True),
        )
    except KeyboardInterrupt:
        raise SystemExit("Interrupted. Run the same command again to continue where it stopped.") from None
    return 0


if __name__ == "__main__":
    sys.exit(main())
