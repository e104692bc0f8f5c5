"""Store the cases of an exercise as data: inputs, expected outputs, and the outputs of each slip.

The author of a page writes the reference and the slips as functions. When the notebooks are made, the
checkers store their outputs in `recorded/ex-….json`. The student's cell calls `exercises.check("ex-…",
my_answer)`, which uses these data only, so a student receives neither the reference nor the slips. If the
answer is a single value, the value itself would give the solution away; it is stored as a fingerprint.
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
STEPS = 8  # grid points of a fingerprint per tolerance


@dataclass(frozen=True)
class Fingerprint:
    """Store numbers as salted hashes: equal numbers can be recognised, but not read off."""

    salt: str
    size: float  # of the largest entry, rounded to a power of two
    shape: tuple[int, ...]
    close: float
    prints: tuple[str, ...]

    @classmethod
    def of(cls, value: Any, close: float, salt: str) -> "Fingerprint":
        """Return the fingerprint of a value with relative tolerance `close`."""
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
        """Test whether `got` is the stored number or array, up to the tolerance."""
        return got.shape == self.shape and all(
            any(self._print(k, x, off) == told for off in range(-STEPS, STEPS + 1))
            for k, (x, told) in enumerate(zip(got.flat, self.prints, strict=True))
        )


@dataclass(frozen=True)
class Cases:
    """Hold the data of one check of an exercise.

    `inputs` lists the arguments of every call and `expected` the right results. `slips` is a list of pairs: a
    sentence, and what a student with this slip would get in every case (None if undefined). `facts` holds
    what else a check of this `kind` needs.
    """

    kind: str
    inputs: list[Any]
    expected: list[Any]
    slips: list[tuple[str, list[Any]]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def hidden(self, name: str) -> "Cases":
        """Return the same cases with fingerprints in place of values that would give away the solution."""
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
    """Convert a value to plain JSON data; raise a `ValueError` if that is impossible."""
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
    """Convert JSON data back to the value; the inverse of `pack`."""
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
    """Return the JSON text of an exercise; pasts are stored as games, and slips with nine digits."""
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
    """Round an array to nine digits, which is enough to recognise a slip."""
    if not isinstance(value, np.ndarray):
        return value
    return np.array([float(f"{x:.9g}") for x in value.flat]).reshape(value.shape)


def pasts(games: Sequence[Array]) -> list[list[Array]]:
    """Return the inputs of a rule in every round of these games: the losses of the earlier rounds."""
    return [[Z[:t]] for Z in games for t in range(len(Z))]


def read(text: str) -> list[Cases]:
    """Return the checks stored in the JSON text of an exercise."""
    found = []
    for entry in json.loads(text):
        c = unpack(entry)
        inputs = c["inputs"] if "inputs" in c else pasts(c["facts"]["games"])
        found.append(Cases(c["kind"], inputs, c["expected"], [(t, v) for t, v in c["slips"]], c["facts"]))
    return found


@cache
def recorded(name: str) -> list[Cases]:
    """Load the recorded checks of an exercise."""
    file = FOLDER / f"{name}.json"
    if not file.exists():
        near = get_close_matches(name, [path.stem for path in FOLDER.glob("*.json")], 1)
        raise ValueError(f"there is no exercise {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return read(file.read_text("utf8"))
