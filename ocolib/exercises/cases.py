"""Cases of an exercise as data: what a function is asked, what it should say, what each slip would say.

A page's author writes a reference and slips as functions. When the notebooks are made, the checkers write
down what these say, into `recorded/ex-….json`. The student's cell calls `exercises.check("ex-…", my_answer)`,
which judges by these data alone: neither reference nor slips are in what a student gets. Where the answer is
a number that depends on nothing, even the number would be the solution: it is stored as a fingerprint.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ocolib.types import Array

FOLDER = Path(__file__).with_name("recorded")
STEPS = 8  # a fingerprint's grid is this much finer than its tolerance


@dataclass(frozen=True)
class Fingerprint:
    """Numbers that can be recognised but not read."""

    salt: str
    size: float  # of the largest entry, to a power of two
    shape: tuple[int, ...]
    close: float
    prints: tuple[str, ...]

    @classmethod
    def of(cls, value: Any, close: float, salt: str) -> "Fingerprint":
        """Take the fingerprint of a value, up to `close`."""
        value = np.asarray(value, dtype=float)
        largest = np.abs(value[np.isfinite(value)]).max(initial=0.0) or 1.0
        size = 2.0 ** round(math.log2(largest))
        blank = cls(salt, size, value.shape, close, ())
        return cls(
            salt, size, value.shape, close, tuple(blank._print(k, x) for k, x in enumerate(value.flat))
        )

    def _print(self, place: int, x: float, off: int = 0) -> str:
        step = self.close * self.size / STEPS
        where = str(round(x / step) + off) if math.isfinite(x) else str(x)
        return hashlib.sha256(f"{self.salt} {place} {where}".encode()).hexdigest()[:16]

    def fits(self, got: Array) -> bool:
        """Is it the number (or array), up to the tolerance?"""
        return got.shape == self.shape and all(
            any(self._print(k, x, off) == told for off in range(-STEPS, STEPS + 1))
            for k, (x, told) in enumerate(zip(got.flat, self.prints, strict=True))
        )


@dataclass(frozen=True)
class Cases:
    """One check of an exercise.

    `inputs` has the arguments of every call, `expected` what should come, `slips` pairs of a sentence and
    what a student with this slip would get in every case (None where nothing). `facts` has what else the
    `kind` of check needs.
    """

    kind: str
    inputs: list[Any]
    expected: list[Any]
    slips: list[tuple[str, list[Any]]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def hidden(self, name: str) -> "Cases":
        """Return the same with fingerprints in place of numbers that are the solution."""
        if self.kind != "value":
            return self
        close = self.facts["close"]
        expected = [Fingerprint.of(e, close, name) for e in self.expected]
        slips = [
            (text, [None if v is None else Fingerprint.of(v, 1e-6, f"{name} {text}") for v in values])
            for text, values in self.slips
        ]
        return Cases(self.kind, self.inputs, expected, slips, self.facts)


# ---------------------------------------------------------------- as JSON


def pack(value: Any) -> Any:
    """Return a value in plain JSON; ValueError if it has no such form."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        kind = {"f": "float", "b": "bool"}.get(value.dtype.kind, "int")
        return {"array": kind, "shape": list(value.shape), "of": value.ravel().tolist()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Fingerprint):
        return {"print": [value.salt, value.size, list(value.shape), value.close, list(value.prints)]}
    if isinstance(value, tuple):
        return {"tuple": [pack(part) for part in value]}
    if isinstance(value, list):
        return [pack(part) for part in value]
    if isinstance(value, dict):
        return {"dict": {str(key): pack(part) for key, part in value.items()}}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"a case may hold numbers, arrays, words and lists of them, got {type(value).__name__}: "
        "name a function by a word, and look it up in a helper that calls the answer"
    )


def unpack(value: Any) -> Any:
    """Return the inverse of `pack`."""
    if isinstance(value, list):
        return [unpack(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        dtype = {"float": float, "int": np.int64, "bool": bool}[value["array"]]
        return np.array(value["of"], dtype=dtype).reshape(value["shape"])
    if "print" in value:
        salt, size, shape, close, prints = value["print"]
        return Fingerprint(salt, size, tuple(shape), close, tuple(prints))
    if "tuple" in value:
        return tuple(unpack(part) for part in value["tuple"])
    return {key: unpack(part) for key, part in value["dict"].items()}


def written(name: str, checks: Sequence[Cases]) -> str:
    """Return the text of the file of an exercise. Pasts are stored as games, and slips to nine digits."""
    plain = []
    for check in checks:
        check = check.hidden(name)
        parts: dict[str, Any] = {"kind": check.kind, "expected": check.expected, "facts": check.facts}
        if "games" not in check.facts:
            parts["inputs"] = check.inputs
        parts["slips"] = [[text, [_rounded(value) for value in values]] for text, values in check.slips]
        plain.append(pack(parts))
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n"


def _rounded(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return np.array([float(f"{x:.9g}") for x in value.flat]).reshape(value.shape)


def pasts(games: Sequence[Array]) -> list[list[Array]]:
    """Return what a rule is asked in every round of these games: the losses before it."""
    return [[Z[:t]] for Z in games for t in range(len(Z))]


def read(text: str) -> list[Cases]:
    """Return the checks in the text of a file."""
    found = []
    for entry in json.loads(text):
        c = unpack(entry)
        inputs = c["inputs"] if "inputs" in c else pasts(c["facts"]["games"])
        found.append(Cases(c["kind"], inputs, c["expected"], [(t, v) for t, v in c["slips"]], c["facts"]))
    return found


@cache
def recorded(name: str) -> list[Cases]:
    """Return the checks of an exercise."""
    file = FOLDER / f"{name}.json"
    if not file.exists():
        near = get_close_matches(name, [path.stem for path in FOLDER.glob("*.json")], 1)
        raise ValueError(f"there is no exercise {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return read(file.read_text("utf8"))
