"""Read assignment.yml: which exercises count, how many points they give, and when they are due.

An example:

title: Sheet 3
due: 2026-11-20 23:59
late: {per day: 10, days: 3}      # percent of the points, and for how many days; default: nothing is deducted
attempts: best                    # or last
seeds: student                    # every student gets other numbers; or class: all get the same
roster: roster.csv                # id and name of each student; or Moodle's worksheet, or Canvas's gradebook
site: https://owner.github.io/name
exercises:
  ex-the-price-of-staying: 2
  ex-how-lucky-can-one-get: 3
"""

import csv
import datetime as dt
import io
import itertools
import math
import unicodedata
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import yaml

from press.grade import checks

KEYS = {"title", "due", "late", "attempts", "seeds", "seed", "roster", "site", "exercises", "packages"}
KEYS |= {"seconds"}
CLOCKS = (
    "%A, %d %B %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M",
    "%d %B %Y, %I:%M %p",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S",
)


class Wrong(SystemExit):
    """The assignment or the roster has an error, which the message explains."""


def spelt(word):
    """Return a word as it is compared: in lower case, with accented letters as one character."""
    return unicodedata.normalize("NFC", word).strip().casefold()


@dataclass
class Roster:
    """The students of the course, and the table that they were read from."""

    kind: str = ""  # "moodle", "canvas", "plain", or "" without a roster
    head: list = field(default_factory=list)
    lines: list = field(default_factory=list)  # rows of the table, as {column: cell}
    people: dict = field(default_factory=dict)  # {id: name}
    times: dict = field(default_factory=dict)  # {id: submission time}, if the table has it
    others: dict = field(default_factory=dict)  # {name, login or mail in lower case: id, or None if shared}

    def add(self, key, name, *others):
        """Add a student with alternative names; a name shared by two students identifies neither."""
        if not key:
            raise Wrong(f"the roster has a row without an id: {name}")
        if key in self.people:
            raise Wrong(f"the roster has {key} twice")
        self.people[key] = name or key
        for word in {spelt(word) for word in (name, *others)} - {""}:
            self.others[word] = None if word in self.others else key

    def find(self, key, name=""):
        """Return the id of the student with this id or name; None if there is none or more than one."""
        if key in self.people:
            return key
        return self.others.get(spelt(key)) or self.others.get(spelt(name))


@dataclass
class Assignment:
    """The exercises with their points, the due date and the rules."""

    exercises: dict  # {id: points}
    title: str = "Exercises"
    due: dt.datetime | None = None
    per_day: float = 0.0  # percent
    days: float = math.inf
    attempts: str = "best"
    seeds: str = "class"
    seed: int | None = None
    roster: Roster = field(default_factory=Roster)
    site: str = ""
    packages: tuple = ("numpy",)
    seconds: float = 20

    @property
    def total(self):
        """Return the number of points that can be reached."""
        return sum(self.exercises.values())

    def days_late(self, when):
        """Return the number of days after the deadline, rounded up."""
        if self.due is None or when is None or when <= self.due:
            return 0
        return math.ceil((when - self.due) / dt.timedelta(days=1))

    def factor(self, late):
        """Return the fraction of the points that is left after `late` days."""
        return 0.0 if late > self.days else max(0.0, 1 - late * self.per_day / 100)


def read(path):
    """Read and validate an assignment; raise `Wrong` with a message about the first error."""
    path = Path(path)
    try:
        given = yaml.safe_load(path.read_text("utf-8-sig"))
    except OSError as error:
        raise Wrong(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:  # a day that does not exist, or text that is not UTF-8
        raise Wrong(f"{path} is not valid YAML: {error}") from None
    if not isinstance(given, dict) or not (
        isinstance(given.get("exercises"), dict | list) and given["exercises"]
    ):
        raise Wrong(f"{path} must have `exercises:`, a list of ids or a mapping from ids to points")
    unknown = sorted(map(str, set(given) - KEYS))
    if unknown:
        raise Wrong(f"{path}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}")
    asked = given["exercises"]
    if isinstance(asked, list) and not all(isinstance(name, str) for name in asked):
        raise Wrong(f"{path} must have `exercises:`, a list of ids, or ids with points but no dashes")
    asked = asked if isinstance(asked, dict) else dict.fromkeys(asked, 1)
    for name, points in asked.items():
        if name not in checks.book():
            raise Wrong(f"{path}: the book has no exercise {name} that can be graded (proofs cannot)")
        if not number(points) or points == 0:
            raise Wrong(f"{path}: the points of {name} must be a number above 0, not {points!r}")
    late = given.get("late") or {}
    if not isinstance(late, dict) or set(late) - {"per day", "days"} or not all(map(number, late.values())):
        raise Wrong(f"{path}: late must be written as {{per day: percent, days: number}}")
    for key in {"seconds", "seed"} & set(given):
        if not number(given[key]) or given[key] < 1 or (key == "seed" and not isinstance(given[key], int)):
            raise Wrong(f"{path}: {key} must be a number ≥ 1, not {given[key]!r}")
    packages = given.get("packages") or []
    if not isinstance(packages, list) or not all(isinstance(name, str) for name in packages):
        raise Wrong(f"{path}: packages must be a list such as [scipy]")
    for name in packages:
        try:
            metadata.distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            raise Wrong(f"{path}: the package {name} is not installed here; install or remove it") from None
    for key, choices in {"attempts": ("best", "last"), "seeds": ("class", "student")}.items():
        if given.get(key, choices[0]) not in choices:
            raise Wrong(f"{path}: {key} must be {' or '.join(choices)}, not {given[key]!r}")
    return Assignment(
        exercises=asked,
        title=str(given.get("title") or "Exercises"),
        due=moment(path, given.get("due")),
        per_day=float(late.get("per day", 0)),
        days=float(late.get("days", math.inf)),
        attempts=given.get("attempts", "best"),
        seeds=given.get("seeds", "class"),
        seed=given.get("seed"),
        roster=roster(path.parent / str(given["roster"])) if given.get("roster") else Roster(),
        site=str(given.get("site") or "").rstrip("/"),
        packages=("numpy", *packages),
        seconds=float(given.get("seconds", 20)),
    )


def number(value):
    """Return whether a value is a finite number that is at least 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def moment(path, due):
    """Return the due date as a datetime; a day without a time ends at midnight."""
    if due is None or isinstance(due, dt.datetime):
        return due.astimezone().replace(tzinfo=None) if due and due.tzinfo else due
    if isinstance(due, dt.date):
        return dt.datetime.combine(due, dt.time(23, 59, 59))
    found = clock(str(due))
    if not found:
        raise Wrong(f"{path}: due must be a date such as 2026-11-20 23:59, not {due!r}")
    return found


def clock(text):
    """Parse a date in one of the formats `CLOCKS`; return None if none fits."""
    for form in CLOCKS:
        try:
            return dt.datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    return None


def roster(path):
    """Read the roster: a table with id and name, a grading worksheet of Moodle or a gradebook of Canvas."""
    try:
        text = Path(path).read_text("utf-8-sig")
        separator = max(",;\t", key=text.partition("\n")[0].count)
        table = list(csv.reader(io.StringIO(text), delimiter=separator))
    except UnicodeDecodeError:
        raise Wrong(f"the roster {path} is not in UTF-8; save it as “CSV UTF-8”") from None
    except (OSError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise Wrong(f"the roster {path} cannot be read: {reason}") from None
    head = [cell.strip() for cell in table[0]] if table else []
    lines = [  # a row may be shorter than the head
        dict(itertools.zip_longest(head, row[: len(head)], fillvalue=""))
        for row in table[1:]
        if any(cell.strip() for cell in row)
    ]
    if "Identifier" in head:
        return moodle(head, lines)
    if "Student" in head and "ID" in head:
        return canvas(head, lines)
    small = {name.casefold(): name for name in head}
    if "id" not in small:
        raise Wrong(f"the roster {path} needs a column id (and name), or must come from Moodle or Canvas")
    found = Roster("plain", head, lines)
    for line in lines:
        found.add(line[small["id"]].strip(), line.get(small.get("name", ""), "").strip(), *line.values())
    return found


def participant(line):
    """Return the id in a row of Moodle's worksheet, from "Participant 1234567"."""
    return line["Identifier"].strip().rpartition(" ")[2]


def moodle(head, lines):
    """Return the roster from a grading worksheet of Moodle."""
    found = Roster("moodle", head, lines)
    for line in lines:
        key = participant(line)
        others = [line.get(name, "") for name in ("Email address", "ID number")]
        found.add(key, line.get("Full name", "").strip(), *others)
        if when := clock(line.get("Last modified (submission)", "")):
            found.times[key] = when
    return found


def canvas(head, lines):
    """Return the roster from a gradebook of Canvas."""
    found = Roster("canvas", head, [line for line in lines if line.get("ID", "").strip()])
    for line in found.lines:
        others = [line.get(name, "") for name in ("SIS User ID", "SIS Login ID")]
        found.add(line["ID"].strip(), line["Student"].strip(), *others)
    return found
