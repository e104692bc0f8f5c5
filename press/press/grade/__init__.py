"""Grade a class: python -m press grade SUBMISSIONS [--assignment assignment.yml] [--into FOLDER]

SUBMISSIONS is a folder of notebooks, or of the zips that Moodle and Canvas make of them. Each notebook runs
behind a fence (`fence`), its functions are asked for values (`pipe`), and the book's own checkers judge these
(`judge`), on the instances of the pages and on others that no page shows. `assignment` says what counts for
how much, `handed_in` whose file is whose, `report` what comes out. Every row is written as soon as it is
known; a second run goes on where the first one stopped.
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
from dataclasses import asdict
from pathlib import Path

from press.grade import assignment as assignments
from press.grade import checks, handed_in, notebook, report
from press.grade.fence import Fence
from press.grade.judge import WHOLE, Judged, Row, harmless, judge

MEMORY = 6 << 30  # of a judge
STOPS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP  # Ctrl-C, a shutdown, a window that is closed


def everything(attempts):
    """The assignment of whoever wrote none: all exercises of all notebooks that came, a point each."""
    found = set()
    for attempt in attempts:
        found |= notebook.asked_in(attempt.content or b"", set(checks.book()))
    if not found:
        raise SystemExit("No exercise of the book is in these files. Say what counts: --assignment FILE")
    return assignments.Assignment({name: 1 for name in checks.book() if name in found})


def seed_of(assignment, seed, student):
    """The seed of the instances that no page shows: one for all, or one for each student."""
    if assignment.seeds == "class":
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {student}".encode()).digest()[:3], "big") + 1


def key_of(attempt, assignment, seed):
    """What a result depends on: if none of it has changed, the result of an earlier run holds."""
    pages = sorted({checks.book()[name][0] for name in assignment.exercises})
    parts = [
        attempt.student,
        attempt.file,
        seed_of(assignment, seed, attempt.student),
        assignment.seconds,
        assignment.packages,
    ]
    parts += [*assignment.exercises, *(page.read_text("utf8") for page in pages)]
    return hashlib.sha256(json.dumps(parts).encode() + attempt.content).hexdigest()


# ---------------------------------------------------------------- many at once


def judged_apart(attempt, assignment, seed, fence, answer):
    """In a process of its own: judge one notebook, send the result, end."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # with the program that started it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    fresh = seed_of(assignment, seed, attempt.student)
    try:
        result = judge(attempt.content, assignment.exercises, fence, fresh, assignment.seconds)
    except Exception as problem:  # of ours: it is this student's row, and not the end of the others
        result = Judged(reason=harmless(f"the judge failed ({type(problem).__name__}: {problem})"[:300]))
    answer.send(result)


def side_by_side(attempts, assignment, seed, fence, jobs):
    """Judge notebooks, `jobs` at a time; yield (attempt, result) as they come."""
    context = multiprocessing.get_context("fork")
    waiting, running = list(reversed(attempts)), {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                attempt = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(
                    target=judged_apart, args=(attempt, assignment, seed, fence, theirs)
                )
                before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # an interrupt in a fork gets lost
                process.start()
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                theirs.close()
                running[ours] = attempt, process, time.monotonic() + WHOLE + 120
            ready = set(multiprocessing.connection.wait(list(running), 1))
            for ours, (attempt, process, until) in list(running.items()):
                if ours in ready:
                    try:
                        result = ours.recv()
                    except (EOFError, OSError):
                        result = Judged(reason="the judge of this notebook ended early (out of memory?)")
                elif time.monotonic() > until:
                    result = Judged(reason="judging it took too long")
                else:
                    continue
                process.kill()
                process.join()
                ours.close()
                del running[ours]
                yield attempt, result
    finally:
        for ours, (_, process, _) in running.items():
            process.kill()
            process.join()
            ours.close()


# ---------------------------------------------------------------- the whole run


class Book:
    """The results so far, in a file that a second run reads."""

    def __init__(self, into):
        self.path = into / "results.jsonl"
        self.known, self.seed = {}, None
        for line in self.path.read_text("utf8").splitlines() if self.path.exists() else ():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # the last line may be half written
                entry = json.loads(line)
                if "seed" in entry:
                    self.seed = entry["seed"]
                else:
                    rows = [Row(**row) for row in entry["rows"]]
                    self.known[entry["key"]] = Judged(rows, entry["reason"])

    def add(self, entry):
        with open(self.path, "a", encoding="utf8") as file:
            file.write(json.dumps(entry) + "\n")


def run(folder, assignment, into, seed=None, jobs=None, say=print):
    """Grade a folder into another; return {id: student}."""
    into.mkdir(parents=True, exist_ok=True)
    roster = assignment.roster if assignment else assignments.Roster()
    attempts, ignored = handed_in.attempts(folder, roster, into)
    assignment = assignment or everything(attempts)
    book = Book(into)
    seed = seed or assignment.seed or book.seed or random.SystemRandom().randrange(1, 1 << 30)
    if seed != book.seed:
        book.add({"seed": seed})
    for name in assignment.exercises:  # once, before the processes part
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
            say(f"[{number}/{len(todo)}] {report.plain(attempt.student)}: {solved}")
    students = report.marks(assignment, results)
    written = report.write(assignment, students, ignored, into)
    count = f"{len(students)} student{'s' * (len(students) != 1)}"
    say(f"{count}, {report.number(assignment.total)} points: {into / 'grades.csv'}")
    say("\n".join(f"  {path}" for path in [into / "verdicts.csv", *written]))
    if ignored:
        say(f"  left alone, and listed: {into / 'ignored.txt'}")
    say(f"The instances that no page shows: --seed {seed}")
    return students


def main(arguments=None):
    """Read the command line and grade."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--assignment", type=Path, help="assignment.yml: exercises, points, due date, roster")
    parser.add_argument("--into", type=Path, help="default: _build/grades, and the assignment's name")
    parser.add_argument("--seed", type=int, help="of instances that no page shows, from 1 on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="notebooks at a time")
    asked = parser.parse_args(arguments)
    if not asked.submissions.is_dir():
        raise SystemExit(f"{asked.submissions} is not a folder of submissions")
    assignment = assignments.read(asked.assignment) if asked.assignment else None
    name = asked.assignment.stem if asked.assignment else ""
    into = asked.into or Path("_build", "grades", name)
    for number in STOPS:
        signal.signal(number, signal.default_int_handler)
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
        raise SystemExit("Broken off. Start it again, and it goes on where it stopped.") from None
    return 0


if __name__ == "__main__":
    sys.exit(main())
