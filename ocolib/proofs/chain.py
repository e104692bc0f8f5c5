"""A chain of numbers: a proof on the trace just played, and how it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ocolib.game import Trace


@dataclass(frozen=True)
class Line:
    """One line of a chain: its value, the formula and why it is at least the line before."""

    value: float
    formula: str
    reason: str = ""


@dataclass(frozen=True)
class Chain:
    """first ≤ … ≤ last, with reasons."""

    title: str
    lines: tuple[Line, ...]

    @property
    def values(self) -> np.ndarray:
        """The value of each line."""
        return np.array([line.value for line in self.lines])

    @property
    def slacks(self) -> np.ndarray:
        """What each line after the first gives away."""
        return np.diff(self.values)

    def holds(self, tol: float = 1e-9) -> bool:
        """Is no slack negative (beyond rounding)?"""
        return bool((self.slacks >= -tol * max(1.0, np.abs(self.values).max())).all())

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        slacks = ["", *(_number(s) for s in self.slacks)]
        for line, slack in zip(self.lines, slacks, strict=True):
            yield ("≤ " if slack else "") + line.formula, _number(line.value), slack, line.reason

    def __repr__(self) -> str:
        rows = "\n".join(f"{f:<44} {v:>12} {s:>12}  {r}" for f, v, s, r in self._rows())
        return f"{self.title}\n{'line':<44} {'value':>12} {'slack':>12}  reason\n{rows}"

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{subscripts(escape(f), '<sub>', '</sub>')}</td><td class='num'>{v}</td>"
            f"<td class='num'>{s}</td><td>{subscripts(escape(r), '<sub>', '</sub>')}</td></tr>"
            for f, v, s, r in self._rows()
        )
        return (
            f"<table class='proof-chain'><caption>{escape(self.title)}</caption>"
            "<thead><tr><th>line</th><th>value</th><th>slack</th><th>reason</th></tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def subscripts(text: str, begin: str, end: str) -> str:
    """`w_{t+1}` and `w_12` with their indices between `begin` and `end`."""
    return re.sub(r"_(?:\{([^}]*)\}|(\w+))", lambda m: begin + (m[1] or m[2]) + end, text)


def _number(x: float) -> str:
    return f"{x + 0.0:.6f}" if abs(x) >= 5e-7 else "0.000000"


def plays(trace: Trace) -> np.ndarray:
    """w_1, …, w_{T+1}."""
    return np.concatenate([trace.points, trace.last[..., None, :]], axis=-2)
