"""Read quick questions, hints and proof exercises from the text of a page.

Each function `read_…` turns the text of a directive into data, or raises a ValueError that explains what is
wrong. Pages, plain notebooks, sheets and tests use them; CONTRIBUTING describes the formats.
"""

import hashlib
import math
import random
import re
import textwrap
from dataclasses import dataclass

LEVELS = ("warm-up", "standard", "challenge")
begins = re.compile(r"(?:[-*+]|\d+[.)]) +").match  # start of a list item
MARK = re.compile(r"\[([ xX])\] +")
NUMBER = re.compile(r"(-?[0-9.]+(?:e-?[0-9]+)?)(?: = `([^`]+)`)?")  # 9.5 = `paid - best`
NAME = re.compile(r"(q|ex)-[a-z0-9]+(-[a-z0-9]+)*")
PROOFS = {  # {directive: the task in a few words}
    "proof-order": "put the lines of the proof in order",
    "proof-reasons": "give each step its reason",
    "proof-flaw": "find the false line",
    "proof-rubric": "write the proof",
}


@dataclass(frozen=True)
class Choice:
    """One choice: its text, whether it is right, and why or why not.

    A wrong number may have an expression `verify`, which a test evaluates: the mistake that leads to the
    number.
    """

    text: str
    why: str
    right: bool = False
    verify: str = ""


@dataclass(frozen=True)
class Quick:
    """A quick question. `answer` is a number, or None if one of the choices is the answer."""

    name: str
    text: str
    choices: tuple[Choice, ...]
    why: str = ""  # explanation of the right number
    answer: float | None = None
    tolerance: float = 0.0
    verify: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a proof, with an explanation or with a choice of reasons."""

    text: str
    why: str = ""
    right: bool = False
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Proof:
    """A proof exercise: what is to be proved, and the lines."""

    kind: str
    name: str
    text: str
    lines: tuple[Line, ...]

    def shuffled(self):
        """Return the order in which the lines are shown: always the same, never the right one."""
        places, seed = list(range(len(self.lines))), int(hashlib.sha256(self.name.encode()).hexdigest(), 16)
        while places == sorted(places):
            random.Random(seed).shuffle(places)
            seed += 1
        return places


def items(body):
    r"""Split a text that ends with a list into (text before, items); items lose their marks and indent.

    >>> items("Which?\n\n- one\n\n  Because.\n- two")
    ('Which?', ['one\n\nBecause.', 'two'])
    """
    lines = body.rstrip().split("\n")
    first = len(lines)
    while first and (not lines[first - 1] or lines[first - 1][0] == " " or begins(lines[first - 1])):
        first -= 1
    while first < len(lines) and not begins(lines[first]):
        first += 1
    found = []
    for line in lines[first:]:
        if match := begins(line):
            found.append([" " * match.end() + line[match.end() :]])
        else:
            found[-1].append(line)
    return "\n".join(lines[:first]).strip(), [textwrap.dedent("\n".join(item)).strip() for item in found]


def parted(item):
    """Split an item into (marked right?, marked at all?, first paragraph, the rest)."""
    mark = MARK.match(item)
    head, _, rest = item[mark.end() if mark else 0 :].partition("\n\n")
    return (
        bool(mark and mark[1] in "xX"),
        bool(mark),
        " ".join(head.split("\n")),
        textwrap.dedent(rest).strip(),
    )


def is_named(name, kind):
    """Raise a ValueError unless the id has the required form, such as q-which-end."""
    if not NAME.fullmatch(name) or not name.startswith(f"{kind}-"):
        raise ValueError(f"the id must be {kind}- plus lower-case letters, digits and hyphens, got {name!r}")


def read_choices(found, name):
    """Return the choices of a list; exactly one must be right, and each needs an explanation."""
    choices = []
    for item in found:
        right, marked, text, why = parted(item)
        if not marked:
            raise ValueError(f"{name}: a choice must begin with [ ] or [x], got {text!r}")
        if not why:
            raise ValueError(f"{name}: a choice needs an explanation below it, after an empty line: {text!r}")
        choices.append(Choice(text, why, right))
    if len(choices) < 2 or sum(choice.right for choice in choices) != 1:
        raise ValueError(f"{name}: give two or more choices, of which exactly one is marked [x]")
    return tuple(choices)


def read_quick(name, options, body):
    """Return the quick question of a directive; raise a ValueError that explains what is wrong."""
    is_named(name, "q")
    text, found = items(body)
    if not text:
        raise ValueError(f"{name}: the text of the question is missing")
    verify = options.get("verify", "")
    if "answer" not in options:
        return Quick(name, text, read_choices(found, name), verify=verify)
    answer = float(options["answer"])
    tolerance = float(options.get("tolerance") or 0.01 * (abs(answer) or 1.0))
    if not verify:
        raise ValueError(f"{name}: a numerical answer needs :verify: with an expression that computes it")
    wrong, why = [], ""
    for item in found:
        right, _, first, rest = parted(item)
        if right:
            why = f"{first}\n\n{rest}".strip()
        elif not rest:
            raise ValueError(f"{name}: the wrong number {first} needs an explanation below it")
        else:
            wrong.append(read_wrong(name, first, rest))
    if not why:
        raise ValueError(f"{name}: add an item marked [x] that explains the right number")
    near = [choice.text for choice in wrong if abs(float(choice.text) - answer) <= tolerance]
    if near or not math.isfinite(answer):
        raise ValueError(f"{name}: the wrong number {', '.join(near)} is within the tolerance of the answer")
    return Quick(name, text, tuple(wrong), why, answer, tolerance, verify)


def read_wrong(name, item, why):
    """Return a wrong number `9.5`, or one with the expression that gives it, ``9.5 = `paid - best` ``."""
    match = NUMBER.fullmatch(item)
    if not match:
        raise ValueError(
            f"{name}: a wrong answer must be a number, or number = its expression in backticks, got {item!r}"
        )
    return Choice(match[1], why, verify=match[2] or "")


def read_hints(name, body):
    """Return the hints of an exercise, two or more."""
    is_named(name, "ex")
    text, found = items(body)
    if text or len(found) < 2:
        raise ValueError(f"{name}: hints must be a list of two or more items and nothing else")
    return found


def read_proof(kind, name, body):
    """Return the proof exercise of a directive; raise a ValueError that explains what is wrong."""
    is_named(name, "ex")
    text, found = items(body)
    lines = []
    for item in found:
        right, _, head, rest = parted(item)
        if kind == "proof-order":
            lines.append(Line(item))
        elif kind == "proof-reasons":
            # a line may have several paragraphs; the list at its end has the reasons
            more, reasons = items(rest) if rest else ("", [])
            choices = read_choices(reasons, name) if reasons else ()
            lines.append(Line(f"{head}\n\n{more}".strip(), choices=choices))
        else:
            if not rest:
                raise ValueError(f"{name}: a line needs an explanation below it: {head!r}")
            lines.append(Line(head, rest, right))
    if len(lines) < (1 if kind == "proof-rubric" else 2):
        raise ValueError(f"{name}: there are too few lines")
    if kind == "proof-order" and len({line.text for line in lines}) < len(lines):
        raise ValueError(f"{name}: two lines are identical")
    if kind == "proof-reasons" and not any(line.choices for line in lines):
        raise ValueError(f"{name}: no line has reasons to choose from")
    if kind == "proof-flaw" and sum(line.right for line in lines) != 1:
        raise ValueError(f"{name}: mark exactly one line, the false one, with [x]")
    return Proof(kind, name, text, tuple(lines))


def read_facts(options):
    """Return (level, minutes) of an exercise; by default “standard” and 0, for unknown."""
    level, minutes = options.get("level") or "standard", int(options.get("minutes") or 0)
    if level not in LEVELS:
        raise ValueError(f"the level must be {', '.join(LEVELS)}, got {level!r}")
    if not 0 <= minutes <= 240:
        raise ValueError(f"minutes must be between 0 and 240, got {minutes}")
    return level, minutes


def facts(level, minutes):
    """Return level and minutes in words."""
    return level + (f" · about {minutes} minutes" if minutes else "")
