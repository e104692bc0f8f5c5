"""Read assignment.yml: which exercises count, for how many points, until when.

title: Sheet 3
due: 2026-11-20 23:59
late: {per day: 10, days: 3}      # percent of the points, for how long; without it nothing is lost
attempts: best                    # or last
seeds: student                    # every student gets other numbers; or class: all get the same
roster: roster.csv                # id and name of everyone; or Moodle's worksheet, or Canvas's gradebook
site: https://owner.github.io/name
exercises:
  ex-the-price-of-staying: 2
  ex-how-lucky-can-one-get: 3
"""

import csv
import datetime as dt
import io
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
    """The file says something that cannot be."""


def spelt(word):
    """A word as it is compared: in small letters, ü as one sign."""
    return unicodedata.normalize("NFC", word).strip().casefold()


@dataclass
class Roster:
    """Everyone who takes part, and the table that they were read from."""

    kind: str = ""  # "moodle", "canvas", "plain" or, if there is none, ""
    head: list = field(default_factory=list)
    lines: list = field(default_factory=list)  # of the table, as {column: cell}
    people: dict = field(default_factory=dict)  # {id: name}
    times: dict = field(default_factory=dict)  # {id: when it was handed in}, where the table says so
    others: dict = field(default_factory=dict)  # {name, login or mail in small letters: id, or None}

    def add(self, key, name, *others):
        """Enter a student, who is also called by these words; a word that two have names neither."""
        if key in self.people:
            raise Wrong(f"the roster has {key} twice")
        self.people[key] = name or key
        for word in {spelt(word) for word in (name, *others)} - {""}:
            self.others[word] = None if word in self.others else key

    def find(self, key, name=""):
        """The id of a student who is called so; None if there is none here, or more than one."""
        if key in self.people:
            return key
        return self.others.get(spelt(key)) or self.others.get(spelt(name))


@dataclass
class Assignment:
    """What is asked, for how many points, until when."""

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
        return sum(self.exercises.values())

    def days_late(self, when):
        """Days after the deadline, a day that has begun counting in full."""
        if self.due is None or when is None or when <= self.due:
            return 0
        return math.ceil((when - self.due) / dt.timedelta(days=1))

    def factor(self, late):
        """The share of the points that is left after so many days."""
        return 0.0 if late > self.days else max(0.0, 1 - late * self.per_day / 100)


def read(path):
    """Read an assignment; what is wrong with it is a sentence."""
    path = Path(path)
    try:
        given = yaml.safe_load(path.read_text("utf-8-sig"))
    except OSError as error:
        raise Wrong(f"{path} cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise Wrong(f"{path} is no YAML: {error}") from None
    if not isinstance(given, dict) or not isinstance(given.get("exercises"), dict | list):
        raise Wrong(f"{path} must have `exercises:`, a list of ids, or ids with points")
    unknown = sorted(set(given) - KEYS)
    if unknown:
        raise Wrong(f"{path} has {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}")
    asked = given["exercises"]
    if isinstance(asked, list) and not all(isinstance(name, str) for name in asked):
        raise Wrong(f"{path} must have `exercises:`, a list of ids, or ids with points and no dashes")
    asked = asked if isinstance(asked, dict) else dict.fromkeys(asked, 1)
    for name, points in asked.items():
        if name not in checks.book():
            raise Wrong(f"{path}: the book has no exercise {name}")
        if not number(points) or points == 0:
            raise Wrong(f"{path}: the points of {name} must be a number above 0, not {points!r}")
    late = given.get("late") or {}
    if not isinstance(late, dict) or set(late) - {"per day", "days"} or not all(map(number, late.values())):
        raise Wrong(f"{path}: write late as {{per day: percent, days: how many}}")
    for key in {"seconds", "seed"} & set(given):
        if not number(given[key]) or given[key] < 1 or (key == "seed" and not isinstance(given[key], int)):
            raise Wrong(f"{path}: {key} is a number from 1 on, not {given[key]!r}")
    packages = given.get("packages") or []
    if not isinstance(packages, list) or not all(isinstance(name, str) for name in packages):
        raise Wrong(f"{path}: write packages as a list, [scipy]")
    for name in packages:
        try:
            metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise Wrong(f"{path}: the package {name} is not installed where you grade") from None
    for key, choices in {"attempts": ("best", "last"), "seeds": ("class", "student")}.items():
        if given.get(key, choices[0]) not in choices:
            raise Wrong(f"{path}: {key} is {' or '.join(choices)}, not {given[key]!r}")
    return Assignment(
        exercises=asked,
        title=str(given.get("title", "Exercises")),
        due=moment(path, given.get("due")),
        per_day=float(late.get("per day", 0)),
        days=float(late.get("days", math.inf)),
        attempts=given.get("attempts", "best"),
        seeds=given.get("seeds", "class"),
        seed=given.get("seed"),
        roster=roster(path.parent / given["roster"]) if given.get("roster") else Roster(),
        site=str(given.get("site") or "").rstrip("/"),
        packages=("numpy", *packages),
        seconds=float(given.get("seconds", 20)),
    )


def number(value):
    """Is this a number from 0 on, and finite?"""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def moment(path, due):
    """A date, with or without a time; a day alone ends at midnight."""
    if due is None or isinstance(due, dt.datetime):
        return due.astimezone().replace(tzinfo=None) if due and due.tzinfo else due
    if isinstance(due, dt.date):
        return dt.datetime.combine(due, dt.time(23, 59, 59))
    found = clock(str(due))
    if not found:
        raise Wrong(f"{path}: due is a date such as 2026-11-20 23:59, not {due!r}")
    return found


def clock(text):
    for form in CLOCKS:
        try:
            return dt.datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    return None


def roster(path):
    """Read who takes part: a table with id and name, a worksheet of Moodle or a gradebook of Canvas."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Wrong(f"the roster {path} cannot be read: {error}") from None
    separator = max(",;\t", key=text.partition("\n")[0].count)
    table = list(csv.reader(io.StringIO(text), delimiter=separator))
    head = [cell.strip() for cell in table[0]] if table else []
    lines = [dict(zip(head, row, strict=False)) for row in table[1:] if any(cell.strip() for cell in row)]
    if "Identifier" in head:
        return moodle(head, lines)
    if "Student" in head and "ID" in head:
        return canvas(head, lines)
    small = {name.casefold(): name for name in head}
    if "id" not in small:
        raise Wrong(f"the roster {path} needs a column id (and name), or be a table of Moodle or Canvas")
    found = Roster("plain", head, lines)
    for line in lines:
        found.add(line[small["id"]].strip(), line.get(small.get("name", ""), "").strip(), *line.values())
    return found


def moodle(head, lines):
    found = Roster("moodle", head, lines)
    for line in lines:
        key = line["Identifier"].split()[-1]  # "Participant 1234567"
        others = [line.get(name, "") for name in ("Email address", "ID number")]
        found.add(key, line.get("Full name", "").strip(), *others)
        if when := clock(line.get("Last modified (submission)", "")):
            found.times[key] = when
    return found


def canvas(head, lines):
    found = Roster("canvas", head, [line for line in lines if line.get("ID", "").strip()])
    for line in found.lines:
        others = [line.get(name, "") for name in ("SIS User ID", "SIS Login ID")]
        found.add(line["ID"].strip(), line["Student"].strip(), *others)
    return found
