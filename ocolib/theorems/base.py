"""Define the base class of all theorems, and proofs as chains of numbers.

A theorem has hypotheses, a bound, a proof that can be evaluated on a game, and games to test it on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from html import escape
from itertools import product
from typing import Any, ClassVar

import numpy as np

from ocolib import sets, validate
from ocolib.learners import OGD, Linearized, steps
from ocolib.losses import Quadratic, values

#: all theorem classes, in the order of import
THEOREMS: list[type[Theorem]] = []

#: (theorem, trace, u): a theorem, a game that satisfies its hypotheses, and the comparator
Game = tuple[Any, Any, Any]

ROUNDING = 1e-9


def not_negative(name: str, value: Any) -> float:
    """Check a number ≥ 0 and return it as a float."""
    return validate.number(name, value, low=0.0)


#: how the fields of a theorem are checked, by name: a name means the same in every theorem
CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("diameter", "radius", "circumradius", "rho", "margin", "curvature"), validate.positive),
    **dict.fromkeys(("eta", "scale", "reg", "epsilon", "divergence", "phi_range"), validate.positive),
    **dict.fromkeys(("total", "width"), validate.positive),
    **dict.fromkeys(("T", "N", "dim", "relevant"), validate.count),
    **dict.fromkeys(("path", "length"), not_negative),
    **dict.fromkeys(("dual_norms", "sizes"), validate.array),
    "n": lambda name, value: validate.count(name, value, low=2),
    "center": validate.vector,
    "matrix": lambda name, value: validate.frozen(name, value, ndim=2),
}


class Theorem:
    """Define the interface of a theorem; an instance holds its numbers: `Descent(diameter=2, rho=1, T=100)`.

    A subclass is a frozen dataclass. Its docstring states the theorem with every hypothesis, its fields are
    the numbers in the statement, and it has

    - `item`: the id of the theorem in the ledger;
    - `kind`: "tight" (some game attains the bound), "upper" (the bound holds, but may not be attained) or
      "lower" (an adversary forces it on every learner);
    - `tightness`: the ratio of measured quantity to bound in the game of `worst`, so the bound times any
      smaller factor is false;
    - `bound`, and `step` if the theorem prescribes a step size;
    - `hypotheses(trace, u)` and `chain(trace, u)`;
    - `games(rng)` and `worst()`: games that satisfy the hypotheses.

    Defining a subclass adds it to `THEOREMS`; write `class Mine(Theorem, register=False)` to prevent that.
    `ocolib.testing.check_theorem` tests all of this.
    """

    item: ClassVar[str]
    kind: ClassVar[str]
    tightness: ClassVar[float]
    bound: Any

    def __init_subclass__(cls, register: bool = True) -> None:
        if register:
            THEOREMS.append(cls)

    def __post_init__(self) -> None:
        """Check the fields by their names; a subclass checks its other fields after calling this."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        self._check(**{name: CHECKS[name] for name in names if name in CHECKS})

    # ------------------------------------------------------------ for the reader

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Return {hypothesis in words: does this game with comparator u satisfy it?}."""
        raise NotImplementedError

    def require(self, trace: Any, u: Any = None) -> None:
        """Raise a `ValueError` that names the first hypothesis this game violates, if there is one."""
        if not hasattr(trace, "learner"):
            raise ValueError(f"write proof(trace, u): the trace must come first, got {type(trace).__name__}")
        for words, true in self.hypotheses(trace, u).items():
            if not true:
                game = f"This game of {_who(trace)} violates it{_hint(trace, u, words)}"
                raise ValueError(f"{type(self).__name__} requires: {words}. {game}")

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the quantity that the theorem bounds; by default the regret against u."""
        return trace.regret(against=u)

    def proof(self, trace: Any, u: Any = None) -> Chain:
        """Check the hypotheses, then evaluate the proof on this game line by line."""
        self.require(trace, u)
        return self.chain(trace, u)

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the lines of the proof without checking the hypotheses, to see which line fails."""
        raise NotImplementedError(f"{type(self).__name__} has no proof chain")

    # ------------------------------------------------------------ for the tests

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterable[Game]:
        """Yield test games that satisfy the hypotheses: random, greedy and exhaustive short ones."""
        raise NotImplementedError

    @classmethod
    def worst(cls) -> Game:
        """Return the worst known game; its ratio of measured quantity to bound is `tightness`."""
        raise NotImplementedError

    # ------------------------------------------------------------ for the subclasses

    def _check(self, **checks: Callable[[str, Any], Any]) -> None:
        """Check fields, as in `_check(rho=validate.positive)`; None is allowed and means the default."""
        for name, check in checks.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check(name, value))


def _who(trace: Any) -> str:
    """Return the learner of a trace as text of at most 120 characters."""
    text = repr(trace.learner)
    return text if len(text) <= 120 else f"{text[:117]}…"


def _hint(trace: Any, u: Any, words: str) -> str:
    """Return what was probably meant, for an error message: one run, or a comparator of the right shape."""
    if hasattr(trace, "points") and trace.paid.ndim > 1:
        return f": a theorem takes one run, and the trace holds runs of shape {trace.paid.shape[:-1]}"
    if not re.search(r"\bu(_t)?\b", words):
        return ""
    if u is None:
        return ": pass a comparator, proof(trace, u)"
    fits = np.shape(u)[-1:] == (trace.dim,)
    return "" if fits else f": u must have {trace.dim} entries, got shape {np.shape(u)}"


# ---------------------------------------------------------------- a proof as a chain of numbers


@dataclass(frozen=True)
class Line:
    """Hold one line of a proof: value, formula, and the reason why it is at least the line before."""

    value: float
    formula: str
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Chain:
    """Hold a proof evaluated on one game: first ≤ … ≤ last, each line with its value and reason.

    The slack of a line is its value minus the value of the line before. The slacks add up to last − first,
    and none is negative if the game satisfies the hypotheses.
    """

    title: str
    lines: tuple[Line, ...]

    @property
    def values(self) -> np.ndarray:
        """Return the value of each line."""
        return np.array([line.value for line in self.lines])

    @property
    def slacks(self) -> np.ndarray:
        """Return the slack of each line after the first."""
        return np.diff(self.values)

    def holds(self, tol: float = 1e-9) -> bool:
        """Test whether every slack is nonnegative, up to rounding."""
        return bool((self.slacks >= -tol * max(1.0, np.abs(self.values).max())).all())

    def to_frame(self) -> Any:
        """Return the proof as a pandas DataFrame with columns line, value, slack and reason."""
        import pandas as pd

        return pd.DataFrame(
            {
                "line": [line.formula for line in self.lines],
                "value": self.values,
                "slack": [np.nan, *self.slacks],
                "reason": [line.reason for line in self.lines],
            }
        )

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        slacks = ["", *(_number(s) for s in self.slacks)]
        for line, slack in zip(self.lines, slacks, strict=True):
            yield ("≤ " if slack else "") + line.formula, _number(line.value), slack, line.reason

    def __str__(self) -> str:
        rows = "\n".join(f"{f:<44} {v:>12} {s:>12}  {r}".rstrip() for f, v, s, r in self._rows())
        return f"{self.title}\n{'line':<44} {'value':>12} {'slack':>12}  reason\n{rows}"

    def __repr__(self) -> str:
        first, last = (_number(self.lines[k].value) for k in (0, -1))
        return f"<Chain {self.title!r}: {first} ≤ … ≤ {last} in {len(self.lines)} lines>"

    def _repr_html_(self) -> str:
        return _table(self.title, ("line", "value", "slack", "reason"), self._rows())


@dataclass(frozen=True, repr=False)
class Claims:
    """Evaluate the lines of an argument on one example, to find the false one.

    A line is `(words, left, relation, right)` with relation "≤", "≥" or "=". The two sides are numbers, or
    arrays with one entry per round; the entry with the smallest slack is shown. A line that only draws a
    conclusion is a string.

    >>> x = 0.5
    >>> Claims("All squares grow", [("x ≤ 1", x, "≤", 1), ("x ≤ x²", x, "≤", x**2), "so 1 ≤ x"]).broken
    [2]
    """

    title: str
    lines: Sequence[Any]

    @property
    def cases(self) -> list[tuple[float, float, float] | None]:
        """Return (left, right, slack) of each line at its smallest slack; None for lines without numbers."""
        return [None if isinstance(line, str) else _worst_case(*line) for line in self.lines]

    @property
    def broken(self) -> list[int]:
        """Return the numbers of the lines, counted from 1, that are false (beyond rounding)."""
        return [number for number, case in enumerate(self.cases, 1) if case and _is_broken(*case)]

    def _rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        for number, (line, case) in enumerate(zip(self.lines, self.cases, strict=True), 1):
            if isinstance(line, str):
                yield str(number), line, "", "", ""
            elif case is None:
                yield str(number), line[0], "", "", "no case"
            else:
                left, right, slack = (f"{round(x, 6) + 0.0:.4g}" for x in case)
                yield str(number), line[0], left, right, slack + " ✗" * _is_broken(*case)

    def __str__(self) -> str:
        rows = "\n".join(
            f"{n:>4}  {w:<40} {a:>12} {b:>12} {s:>14}".rstrip() for n, w, a, b, s in self._rows()
        )
        return f"{self.title}\n{'line':<45} {'left':>12} {'right':>12} {'slack':>12}\n{rows}"

    def __repr__(self) -> str:
        false = ", ".join(map(str, self.broken)) or "none"
        return f"<Claims {self.title!r}: {len(self.lines)} lines, false here: {false}>"

    def _repr_html_(self) -> str:
        names = ("line", "claim", "left", "right", "slack")
        return _table(self.title, names, self._rows(), "proof-chain claims")


def _worst_case(words: str, left: Any, relation: str, right: Any) -> tuple[float, float, float] | None:
    """Return (left, right, slack) at the entry with the smallest slack; None if there are no entries."""
    if relation not in ("≤", "≥", "="):
        raise ValueError(f"the relation of a line must be ≤, ≥ or =, got {relation!r} in {words!r}")
    a, b = np.broadcast_arrays(np.asarray(left, dtype=float), np.asarray(right, dtype=float))
    slack = {"≤": b - a, "≥": a - b, "=": -np.abs(a - b)}[relation].ravel()
    if not slack.size:
        return None
    at = int(np.argmin(slack))  # argmin returns a nan first, so nan counts as false
    return float(a.ravel()[at]), float(b.ravel()[at]), float(slack[at])


def _is_broken(left: float, right: float, slack: float) -> bool:
    """Test whether a line is false, beyond rounding."""
    return not slack >= -ROUNDING * max(1.0, abs(left), abs(right))


def _table(title: str, names: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "proof-chain") -> str:
    """Return the lines of a proof as an HTML table, with subscripts such as w_t set lower."""

    def cell(name: str, text: str) -> str:
        number = " class='num'" if name in ("value", "left", "right", "slack") else ""
        return f"<td data-label='{name}'{number}>{subscripts(escape(text), '<sub>', '</sub>')}</td>"

    body = "".join(
        f"<tr>{''.join(cell(name, text) for name, text in zip(names, row, strict=True))}</tr>" for row in rows
    )
    head = "".join(f"<th>{name}</th>" for name in names)
    return (
        f"<table class='{kind}'><caption>{escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def subscripts(text: str, begin: str, end: str) -> str:
    """Replace the subscripts in `w_{t+1}` and `w_12` by begin + subscript + end."""
    return re.sub(r"_(?:\{([^}]*)\}|(\w+))", lambda m: begin + (m[1] or m[2]) + end, text)


def _number(x: float) -> str:
    """Format a value with six decimals, without a negative zero."""
    return f"{x + 0.0:.6f}" if abs(x) >= 5e-7 else "0.000000"


# ---------------------------------------------------------------- reading a trace


def squares(x: np.ndarray, u: Any = 0.0) -> Any:
    """Return ‖x − u‖² for each row x."""
    return np.square(x - u).sum(axis=-1)


def most(found: Any, allowed: Any) -> bool:
    """Test whether found ≤ allowed in every entry, up to rounding."""
    found, allowed = np.asarray(found), np.asarray(allowed)
    return bool((found <= allowed + ROUNDING * np.maximum(1.0, np.abs(allowed))).all())


def inside(over: Any, u: Any) -> bool:
    """Test whether u, or every row of a path u, lies in the set."""
    u = np.asarray(u, dtype=float)
    return over is not None and u.shape[-1:] == (over.dim,) and bool(np.all(sets.inside(over, u)))


def first_lines(trace: Any, u: Any) -> tuple[Line, Line]:
    """Return the first two lines of most proofs: the regret, and the regret on the linear surrogates."""
    z, w, u = trace.subgradients, trace.points, validate.vector("u", u, trace.dim)
    return (
        Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
        Line((z * (w - u)).sum(), "Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
    )


def convex(trace: Any, u: Any, curvature: float = 0.0) -> bool:
    """Test whether f_t(u) ≥ f_t(w_t) + ⟨z_t, u − w_t⟩ + (H/2)‖u − w_t‖² in every round, H = `curvature`."""
    u = np.asarray(u, dtype=float)
    if u.shape[-1:] != (trace.dim,) or u.shape[:-1] not in ((), (trace.rounds,)):
        return False
    away = u - trace.points
    least = trace.paid + (trace.subgradients * away).sum(axis=-1) + curvature / 2 * squares(away)
    return most(least, values(trace.losses, u))


def same_steps(eta: Any, wanted: Any, T: int) -> bool:
    """Test whether two step sizes (numbers or schedules) agree in rounds 1, …, T."""
    try:
        found = steps(eta, T)
    except Exception:
        return False
    return found.ndim == 1 and np.allclose(found, steps(wanted, T), rtol=ROUNDING, atol=0.0)


def same_step(eta: Any, wanted: float) -> bool:
    """Test whether a constant step size equals the wanted one; False for schedules and arrays."""
    constant = not callable(eta) and np.ndim(eta) == 0
    return constant and bool(np.isclose(eta, wanted, rtol=ROUNDING, atol=0.0))


def leader_of(trace: Any, surrogates: bool = False) -> Any:
    """Return the FTRL learner with constant step size that produced the trace, or None for other learners.

    By default it must have minimised the losses themselves; with `surrogates` the linear surrogates ⟨z_t, w⟩,
    as lazy descent and `Linearized` do. For linear losses there is no difference.
    """
    learner, linear, inner = trace.learner, isinstance(trace.losses, np.ndarray), None
    if isinstance(learner, Linearized):
        inner = learner.learner
    elif isinstance(learner, OGD) and learner.projection == "lazy":
        inner = learner.leader
    leader: Any = learner if inner is None else inner
    led = linear or (inner is not None) == surrogates
    parts = all(hasattr(leader, name) for name in ("over", "regularizer", "eta"))
    if not led or not parts or leader.regularizer is None or callable(leader.eta):
        return None
    return leader


def eager(trace: Any) -> bool:
    """Test whether the learner is eager gradient descent."""
    return isinstance(trace.learner, OGD) and trace.learner.projection == "eager"


# ---------------------------------------------------------------- games


def attacks(
    arena: Callable[[list], Game],
    moves: Sequence[Any],
    rng: np.random.Generator,
    short: int = 5,
    long: int = 30,
) -> Iterator[Game]:
    """Yield games `arena(losses)` whose losses are taken from `moves`, chosen in three ways.

    *Random*: four games of `long` rounds. *Greedy*: `short` + 2 rounds, each time with the move that
    maximises the ratio of measured quantity to bound. *Exhaustive*: all games of up to `short` rounds, at
    most 250 of them.
    """
    for _ in range(4):
        yield arena([moves[k] for k in rng.integers(len(moves), size=long)])
    chosen: list[Any] = []
    for _ in range(short + 2):
        games = [arena([*chosen, move]) for move in moves]
        best = int(np.argmax([share(*game) for game in games]))
        chosen.append(moves[best])
        yield games[best]
    rounds = min(short, int(np.log(250) / np.log(len(moves))))
    for losses in product(moves, repeat=rounds):
        yield arena(list(losses))


def as_losses(moves: list[Any]) -> Any:
    """Return vectors as one array of linear losses; other losses stay a list."""
    return np.array(moves) if isinstance(moves[0], np.ndarray) else moves


def bowls() -> list[Quadratic]:
    """Return quadratic losses whose slopes on [−1, 1] are at most 1."""
    return [Quadratic([c], 0.5) for c in (-1.0, -0.3, 0.4, 1.0)]


def share(theorem: Any, trace: Any, u: Any) -> float:
    """Return the measured quantity divided by the bound."""
    measured, bound = float(theorem.measure(trace, u)), float(theorem.bound)
    return measured / bound if bound > 0 else float(measured > ROUNDING)


def slopes(dim: int, rho: float) -> list[np.ndarray]:
    """Return vectors of norm ρ: ±ρ in one dimension, else four directions in the plane of e_1 and e_2."""
    if dim == 1:
        return [np.array([rho]), np.array([-rho])]
    circle = np.zeros((4, dim))
    circle[:, :2] = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    return list(rho * circle)
