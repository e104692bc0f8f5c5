"""State the mistake bounds of the Perceptron (Lectures 9 and 13) and of Winnow, and a lower bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import learners, validate
from ocolib.adversaries import against_normalized_winnow, against_winnow, nature, separable, ties
from ocolib.game import play
from ocolib.learners import OGD
from ocolib.losses import Examples, perceptron_loss
from ocolib.sets import Ball, Space
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    attacks,
    most,
    same_step,
    squares,
)


class _Updates(Theorem, register=False):
    """Define the base class of the mistake bounds, which bound the number of updates."""

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the number of updates M."""
        return float(trace.updates.sum())


# ---------------------------------------------------------------- the Perceptron


@dataclass(frozen=True)
class Perceptron(_Updates):
    """Bound the number of updates of the Perceptron by (R/γ)² (Lectures 9 and 13).

    Let ‖x_t‖ ≤ R for all examples, and let a unit vector u satisfy y_t⟨u, x_t⟩ ≥ γ > 0 for all of them. The
    Perceptron from w_1 = 0, which adds y_t·x_t whenever y_t⟨w_t, x_t⟩ < 0 (and at every tie, or at none),
    makes at most (R/γ)² updates. The bound is tight: orthonormal examples attain it.

    >>> print(Perceptron(radius=25, margin=5).bound)
    25.0
    """

    item, kind, tightness = "ox13.alg.perceptron", "tight", 1.0
    radius: float
    margin: float

    @property
    def bound(self) -> float:
        """Return (R/γ)²."""
        return (self.radius / self.margin) ** 2

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        return (
            _whole(trace)
            | {"w_1 = 0": not trace.points[0].any()}
            | _separated(trace, u, self.radius, self.margin)
        )

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of Lecture 9: γM ≤ ⟨w_T, u⟩ ≤ ‖w_T‖ ≤ R√M.

        A line with value v is shown as v²/(γ²M) (with the sign of v), so the first is M and the last (R/γ)².
        """
        u, w, M = validate.vector("u", u, trace.dim), trace.last, len(_updates(trace))

        def line(v, formula, reason=""):
            return Line(v * abs(v) / (self.margin**2 * max(M, 1)), formula, reason)

        return Chain(
            "The mistake bound, in updates",
            (
                line(self.margin * M, "M, from γM"),
                line(w @ u, "⟨w_T, u⟩²/γ²M", "each update adds at least γ along u"),
                line(np.linalg.norm(w), "‖w_T‖²/γ²M", "Cauchy–Schwarz, ‖u‖ = 1"),
                line(self.radius * np.sqrt(max(M, 1)), "(R/γ)²", "each update adds at most R² to ‖w‖²"),
            ),
        )

    def by_regret(self, trace: Any, u: Any, sharp: bool = True) -> Chain:
        """Evaluate the proof of Lecture 13, which applies (10) to the surrogates; every line counts updates.

        Let c = Mγ. Over the rounds with an update, c² ≤ −Σ⟨z_t, cu⟩ ≤ Σ⟨z_t, w_t − cu⟩ ≤ ½Σ‖z_t‖² + ½c²
        ≤ ½MR² + ½c². A line with value v is shown as (2v − c²)/(Mγ²). With `sharp=False` the third step is
        (10) as printed, with Σ‖z_t‖² in place of ½Σ‖z_t‖², and the bound doubles.
        """
        self.require(trace, u)
        u, z, w = validate.vector("u", u, trace.dim), trace.subgradients, trace.points
        M, margin = len(_some_updates(trace)), self.margin
        c, part = M * margin, 0.5 if sharp else 1.0

        def line(value, formula, reason=""):
            return Line((2 * value - c**2) / (M * margin**2), formula, reason)

        half, why10 = ("½ ", ", its slacks kept") if sharp else ("", ", moves by Cauchy–Schwarz")
        return Chain(
            "The mistake bound, " + ("the sharp chain" if sharp else "with (10) as printed"),
            (
                line(c**2, "M, the updates"),
                line(-c * (z @ u).sum(), "−Σ ⟨z_t, cu⟩", "y_t⟨u, x_t⟩ ≥ γ in each update"),
                line((z * (w - c * u)).sum(), "Σ ⟨z_t, w_t − cu⟩", "an update has y_t⟨w_t, x_t⟩ ≤ 0"),
                line(
                    part * squares(z).sum() + c**2 / 2 * (u @ u),
                    f"(10) {half}Σ ‖z_t‖² + ½ ‖cu‖²",
                    "Theorem 1 on the surrogates" + why10,
                ),
                line(
                    part * M * self.radius**2 + c**2 / 2,
                    ("" if sharp else "2 ") + "(R/γ)²",
                    "‖z_t‖ ≤ R, ‖u‖ = 1",
                ),
            ),
        )

    @staticmethod
    def growth(trace: Any, u: Any, margin: float) -> Chain:
        """Prove γM ≤ ⟨w_T, u⟩ − ⟨w_0, u⟩ for any start, one line per update: each adds y_i⟨u, x_i⟩ ≥ γ."""
        u, margin = validate.vector("u", u, trace.dim), validate.positive("margin", margin)
        rounds = _some_updates(trace)
        gains = -trace.subgradients[rounds] @ u - margin
        lines = [Line(margin * len(rounds), "γM")]
        for i, value in zip(rounds, lines[0].value + np.cumsum(gains), strict=True):
            lines.append(Line(value, f"γ → y_{i + 1}⟨u, x_{i + 1}⟩", f"the margin of example {i + 1} is ≥ γ"))
        return Chain("The growth along u", tuple(lines))

    @staticmethod
    def length(trace: Any, radius: float) -> Chain:
        """Prove ‖w_T‖² − ‖w_0‖² ≤ R²M for any start, one line per update; it drops 2y_i⟨w_{i−1}, x_i⟩ ≤ 0."""
        radius, rounds = validate.positive("radius", radius), _some_updates(trace)
        grown = np.diff(squares(trace.plays))[rounds]
        lines = [Line(grown.sum(), "‖w_T‖² − ‖w_0‖²")]
        for i, value in zip(rounds, grown.sum() + np.cumsum(radius**2 - grown), strict=True):
            reason = f"y_{i + 1}⟨w_{i}, x_{i + 1}⟩ ≤ 0 and ‖x_{i + 1}‖ ≤ R"
            lines.append(Line(value, f"round {i + 1} adds at most R²", reason))
        return Chain("The growth of the length", tuple(lines))

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play four examples with margin 0.3, with and without updates at ties, and random separable data."""

        def arena(kink):
            def game(examples):
                trace = play(learners.Perceptron(2, kink=kink), _data(examples))
                return cls(1.0, 0.3), trace, np.array([1.0, 0.0])

            return game

        for kink in (0.0, 1.0):
            yield from attacks(arena(kink), SEPARATED, rng, short=3)
        for margin in (0.05, 0.2, 0.6):
            X, y, u = separable(200, 6, margin, rng)
            trace = play(learners.Perceptron(6), perceptron_loss(3 * X, y))
            yield cls(3.0, 3 * (y * (X @ u)).min()), trace, u

    @classmethod
    def worst(cls, n: int = 16) -> Game:
        """Play orthonormal examples: each of them causes an update."""
        trace = play(learners.Perceptron(n), perceptron_loss(np.eye(n), np.ones(n)))
        return cls(1.0, 1 / np.sqrt(n)), trace, np.full(n, 1 / np.sqrt(n))


@dataclass(frozen=True)
class PerceptronFrom(_Updates):
    """Bound the number of updates of the Perceptron from a start w_0 ≠ 0 (Lecture 9).

    R, γ and u are as in `Perceptron`. With `along` = ⟨w_0, u⟩ and `length` = ‖w_0‖, the number of updates is
    at most the larger root M of (γM + along)² = length² + R²M. For w_0 = 0 this is (R/γ)². The bound is
    tight.

    >>> print(PerceptronFrom(radius=25, margin=5, along=0, length=0).bound)
    25.0
    """

    item, kind, tightness = "tel9.thm", "tight", 1.0
    radius: float
    margin: float
    along: float
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.length * (1 + 1e-12)  # if w_0 is parallel to u, rounding may make |along| exceed length
        self._check(along=lambda name, x: validate.number(name, x, low=-most, high=most))

    @property
    def bound(self) -> float:
        """Return the larger root M of (γM + along)² = length² + R²M."""
        return self._root(max(self.length**2, self.along**2))

    def _root(self, square):
        """Return the larger root M of (γM + along)² = square + R²M; it increases with `square`."""
        half = self.radius**2 / 2 - self.along * self.margin
        return (
            half + np.sqrt(max(half**2 - self.margin**2 * (self.along**2 - square), 0.0))
        ) / self.margin**2

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        found = _whole(trace) | _separated(trace, u, self.radius, self.margin)
        if all(found.values()):
            w = trace.points[0]
            found["`along` ≤ ⟨w_0, u⟩"] = most(self.along, w @ np.asarray(u))
            found["‖w_0‖ ≤ `length`"] = most(np.linalg.norm(w), self.length)
        return found

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof (γM' + along)² ≤ ⟨w_T, u⟩² ≤ ‖w_T‖² ≤ length² + R²M' for M' updates.

        A line with value q is shown as the larger root M of (γM + along)² = q − R²M' + R²M.
        """
        u, w, M = validate.vector("u", u, trace.dim), trace.last, len(_updates(trace))

        def line(square, formula, reason):
            return Line(self._root(square - self.radius**2 * M), formula, reason)

        reached = max(self.margin * M + self.along, 0.0)
        return Chain(
            "The mistake bound from another start, in updates",
            (
                Line(float(M), "M, the updates"),
                line(
                    reached**2,
                    "the root with (γM + ⟨w_0, u⟩)²",
                    "M solves its own equation, and we take the larger root",
                ),
                line(max(w @ u, 0.0) ** 2, "the root with ⟨w_T, u⟩²", "each update adds at least γ along u"),
                line(w @ w, "the root with ‖w_T‖²", "Cauchy–Schwarz, ‖u‖ = 1"),
                Line(self.bound, "the root with ‖w_0‖² + R²M", "each update adds at most R² to ‖w‖²"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play four examples with margin 0.3 from (−0.4, 0.3), and random data from random starts."""

        def game(examples):
            trace = play(OGD(Space(2), 1.0, start=[-0.4, 0.3]), _data(examples))
            return cls(1.0, 0.3, -0.4, 0.5), trace, np.array([1.0, 0.0])

        yield from attacks(game, SEPARATED, rng, short=3)
        for size in (0.5, 3.0, 10.0):
            X, y, u = separable(200, 3, 0.2, rng)
            start = size * rng.standard_normal(3)
            trace = play(OGD(Space(3), 1.0, start=start), perceptron_loss(X, y))
            yield cls(1.0, (y * (X @ u)).min(), float(start @ u), float(np.linalg.norm(start))), trace, u

    @classmethod
    def worst(cls, n: int = 9, k: int = 3) -> Game:
        """Play orthonormal examples from the weights that the first k of them would have produced."""
        start, u = np.where(np.arange(n) < k, 1.0, 0.0), np.full(n, 1 / np.sqrt(n))
        trace = play(OGD(Space(n), 1.0, start=start), perceptron_loss(np.eye(n)[k:], np.ones(n - k)))
        return cls(1.0, 1 / np.sqrt(n), float(start @ u), float(np.linalg.norm(start))), trace, u


@dataclass(frozen=True)
class PerceptronTies(_Updates):
    """Bound the number of updates of the Perceptron that adds κ·y·x at ties, 0 < κ = `kink` ≤ 1 (Lecture 9).

    R, γ and u are as in `Perceptron`, and w_1 = 0. The number of updates is at most (1 + κ)²/(4κ)·(R/γ)². The
    factor is approached as γ/R → 0, for every κ and already in three dimensions; `adversaries.ties` shows it
    for κ ≥ 1/3.

    >>> print(PerceptronTies(radius=1, margin=0.1, kink=0.5).bound)
    112.5
    """

    item, kind, tightness = "tel9.conv.subgradient", "upper", 0.99
    radius: float
    margin: float
    kink: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(kink=lambda name, x: validate.number(name, x, low=0.0, high=1.0, strict=True))

    @property
    def bound(self) -> float:
        """Return (1 + κ)²/(4κ)·(R/γ)²."""
        return (1 + self.kink) ** 2 / (4 * self.kink) * (self.radius / self.margin) ** 2

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        return {
            "the Perceptron that adds κ·y·x at a tie": isinstance(learner, learners.Perceptron)
            and learner.kink == self.kink
            and _perceptron_loss(trace),
            "w_1 = 0": not trace.points[0].any(),
        } | _separated(trace, u, self.radius, self.margin)

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof; M₁ + κ²M₀ = (1 + κ)a − κM for M₁ whole updates, M₀ ties and a = M₁ + κM₀."""
        u, w, rounds = validate.vector("u", u, trace.dim), trace.last, _updates(trace)
        k, R = self.kink, self.radius
        tied = trace.margins[rounds] == 0
        a = (~tied).sum() + k * tied.sum()
        return Chain(
            "The mistake bound with ties, in updates",
            (
                Line(float(len(rounds)), "M = ((1 + κ)a − (M₁ + κ²M₀))/κ"),
                Line(
                    ((1 + k) * a - w @ w / R**2) / k,
                    "((1 + κ)a − ‖w_T‖²/R²)/κ",
                    "a share s of an update adds at most s²R² to ‖w‖²",
                ),
                Line(
                    ((1 + k) * a - (w @ u) ** 2 / R**2) / k,
                    "((1 + κ)a − ⟨w_T, u⟩²/R²)/κ",
                    "Cauchy–Schwarz, ‖u‖ = 1",
                ),
                Line(
                    ((1 + k) * a - (self.margin * a / R) ** 2) / k,
                    "((1 + κ)a − γ²a²/R²)/κ",
                    "a share s of an update adds at least sγ along u",
                ),
                Line(self.bound, "(1 + κ)²/4κ (R/γ)²", "the largest value over all a"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play examples that produce ties, and random examples with integer coordinates."""

        def game(examples):
            trace = play(learners.Perceptron(2, kink=0.5), _data(examples))
            return cls(1.0, 0.6, 0.5), trace, np.array([1.0, 0.0])

        tied = [(np.array(x), 1.0) for x in ([1.0, 0.0], [0.6, -0.8], [0.6, 0.8])]
        yield from attacks(game, tied, rng, short=4)
        for kink in (0.05, 0.25, 0.9, 1.0):
            X, u = rng.integers(-2, 3, (300, 4)).astype(float), rng.standard_normal(4)
            u /= np.linalg.norm(u)
            X = X[np.abs(X @ u) >= 0.2]
            y = np.sign(X @ u)
            trace = play(learners.Perceptron(4, kink=kink), perceptron_loss(X, y))
            yield cls(np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min(), kink), trace, u

    @classmethod
    def worst(cls, kink: float = 0.5, margin: float = 0.05) -> Game:
        """Play ties first, then mistakes with margins just below 0."""
        X, y, u = ties(kink, margin)
        trace = play(learners.Perceptron(X.shape[1], kink=kink), perceptron_loss(X, y))
        return cls(1.0, margin, kink), trace, u


@dataclass(frozen=True)
class MistakesFloor(Theorem):
    """Force ⌊(R/γ)²⌋ mistakes on every learner that predicts sign⟨w_t, x_t⟩ (Lecture 9).

    If γ ≤ R and the dimension is at least (R/γ)², `adversaries.nature` forces ⌊(R/γ)²⌋ mistakes with examples
    of norm R that a unit vector separates with margin γ. So no deterministic learner of this kind has a
    better bound than the Perceptron.

    >>> MistakesFloor(radius=1, margin=0.3).bound
    11
    """

    item, kind, tightness = "tel9.thm", "lower", 1.0
    radius: float
    margin: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin > self.radius * (1 + 1e-12):
            raise ValueError(f"margin must be ≤ radius = {self.radius:g}, got {self.margin:g}")

    @property
    def bound(self) -> int:
        """Return ⌊(R/γ)²⌋."""
        return int(np.floor((self.radius / self.margin) ** 2 * (1 + 1e-12)))  # (0.3/0.1)² is 9, not 8.99…

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        data = _perceptron_loss(trace)
        n = self.bound
        shown = data and trace.rounds == n <= trace.dim
        return {
            "the perceptron loss on examples": data,
            "⌊(R/γ)²⌋ rounds, and at least as many dimensions": shown,
            "round t shows R·e_t": shown and np.allclose(trace.losses.X, self.radius * np.eye(n, trace.dim)),
            "its label is the sign that was not predicted": shown
            and bool((((trace.losses.X * trace.points).sum(axis=1) >= 0) == (trace.losses.y < 0)).all()),
        }

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the number of mistakes."""
        return float(trace.mistakes.sum())

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play five learners, each in dimensions 1, 9 and 12."""
        for radius, n in ((2.0, 9), (1.0, 1), (0.3, 12)):
            for learner in (
                learners.Perceptron(n),
                learners.Perceptron(n, kink=0.5),
                OGD(Ball(n), 0.3, "eager"),
                learners.Linearized(learners.FTL(Ball(n))),
                OGD(Space(n), 2.0, start=rng.standard_normal(n)),
            ):
                yield cls(radius, radius / np.sqrt(n)), play(learner, nature(radius), rounds=n), None

    @classmethod
    def worst(cls, n: int = 9) -> Game:
        """Play the Perceptron, which makes only the mistakes that are forced."""
        return cls(2.0, 2 / np.sqrt(n)), play(learners.Perceptron(n), nature(2.0), rounds=n), None


# ---------------------------------------------------------------- Winnow


@dataclass(frozen=True)
class Winnow(_Updates):
    """Bound the number of updates of Winnow by 2n/θ + 3k(1 + log₂ θ) (Lecture 13).

    The examples have n = `dim` Boolean features, and the label is the OR of k = `relevant` of them. Winnow
    with factor 2 and threshold θ ≥ 1 starts at w_1 = (1, …, 1). The worst known game attains 0.93 of the
    bound.

    >>> print(Winnow(dim=64, relevant=2, threshold=32).bound)
    40.0
    """

    item, kind, tightness = "ox13.alg.winnow", "upper", 0.93
    dim: int
    relevant: int
    threshold: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(threshold=lambda name, x: validate.number(name, x, low=1.0))

    @classmethod
    def of(cls, trace: Any, relevant: int) -> Winnow:
        """Read n and θ from a trace."""
        if not isinstance(trace.learner, learners.Winnow):
            raise ValueError(f"trace must come from Winnow, got {trace.learner!r}")
        return cls(trace.dim, relevant, trace.learner.threshold)

    @property
    def bound(self) -> float:
        """Return 2n/θ + 3k(1 + log₂ θ)."""
        return 2 * self.dim / self.threshold + 3 * self.relevant * (1 + np.log2(self.threshold))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner, data = trace.learner, isinstance(trace.losses, Examples)
        X = trace.losses.X if data else np.zeros((1, 1))
        ones = data and bool(np.isin(X, (0.0, 1.0)).all())
        return {
            "Winnow with factor 2 and the threshold θ": isinstance(learner, learners.Winnow)
            and learner.factor == 2
            and learner.threshold == self.threshold,
            f"{self.dim} features, each 0 or 1": ones and X.shape[1] == self.dim,
            "labels by the OR of the first k features": ones
            and np.array_equal(trace.losses.y > 0, X[:, : self.relevant].any(axis=1)),
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof with p promotions and d demotions; p_i counts those with feature i on."""
        k, theta = self.relevant, self.threshold
        promoted = trace.updates & (trace.losses.y > 0)
        p, doubled, start = promoted.sum(), trace.losses.X[promoted, :k].sum(), 2 * self.dim / theta
        return Chain(
            "Winnow's mistake bound",
            (
                Line(self.measure(trace), "M = p + d"),
                Line(start + 3 * p, "2n/θ + 3p", "the total weight stays positive: d < 2n/θ + 2p"),
                Line(start + 3 * doubled, "2n/θ + 3 Σ_{i≤k} p_i", "each promotion doubles a relevant weight"),
                Line(
                    start + 3 * k * (1 + np.log2(theta)),
                    "2n/θ + 3k(1 + log₂ θ)",
                    "a relevant weight never shrinks, and is ≤ θ before it doubles",
                ),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play all Boolean examples with four features, and random examples with many features."""

        def game(examples):
            return cls(4, 1, 2.0), play(learners.Winnow(4, 2.0), _data(examples, 2.0)), None

        boolean = [(np.array(x), 1.0 if x[0] else -1.0) for x in product((0.0, 1.0), repeat=4)]
        yield from attacks(game, boolean, rng, short=3, long=60)
        for n, k, theta in ((40, 2, 20.0), (40, 3, 7.5), (30, 1, 1.0)):
            X = (rng.random((300, n)) < 1 - 0.5 ** (1 / k)).astype(float)
            y = np.where(X[:, :k].any(axis=1), 1.0, -1.0)
            yield cls(n, k, theta), play(learners.Winnow(n, theta), perceptron_loss(X, y, theta)), None
            spite = against_winnow(k, theta)
            yield cls(n, k, theta), play(learners.Winnow(n, theta), spite, rounds=150), None

    @classmethod
    def worst(cls, n: int = 1024, theta: float = 32.0) -> Game:
        """Play the greedy adversary `against_winnow`."""
        trace = play(learners.Winnow(n, theta), against_winnow(1, theta), rounds=100)
        return cls(n, 1, theta), trace, None


@dataclass(frozen=True)
class NormalizedWinnow(_Updates):
    """Bound the number of updates of normalised Winnow by 2X² ln(n)/γ² (Lecture 13).

    The examples have n = `dim` features with |x_{t,i}| ≤ X = `size`, and some u in the simplex satisfies
    y_t⟨u, x_t⟩ ≥ γ = `margin` > 0 for all of them. With a step size η in (0, 2γ/X²) the number of updates is
    at most ln(n)/(ηγ − η²X²/2). The best step size η = γ/X² gives 2X² ln(n)/γ². The worst known game attains
    0.85 of the bound.

    >>> print(round(NormalizedWinnow(dim=100, margin=0.2).bound, 2))
    230.26
    """

    item, kind, tightness = "ox13.alg.winnow", "upper", 0.85
    dim: int
    margin: float
    size: float = 1.0
    eta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(size=validate.positive)
        if self.eta is not None and self._drop <= 0:
            end = 2 * self.margin / self.size**2
            raise ValueError(f"eta must be in (0, 2γ/X²) = (0, {end:g}), got {self.eta:g}")

    @classmethod
    def of(cls, trace: Any, margin: float, size: float = 1.0) -> NormalizedWinnow:
        """Read n and η from a trace."""
        if not isinstance(trace.learner, learners.NormalizedWinnow):
            raise ValueError(f"trace must come from NormalizedWinnow, got {trace.learner!r}")
        return cls(trace.dim, margin, size, trace.learner.eta)

    @property
    def step(self) -> float:
        """Return the given η, or γ/X², which minimises the bound."""
        return self.eta or self.margin / self.size**2

    @property
    def bound(self) -> float:
        """Return ln(n)/(ηγ − η²X²/2); with the best step this is 2X² ln(n)/γ²."""
        if self.eta is None:
            return 2 * self.size**2 * np.log(self.dim) / self.margin**2
        return np.log(self.dim) / self._drop

    @property
    def _drop(self):
        """Return δ = ηγ − η²X²/2, the amount by which an update lowers the potential."""
        return self.step * self.margin - (self.step * self.size) ** 2 / 2

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner, data = trace.learner, isinstance(trace.losses, Examples)
        u = np.asarray(u, dtype=float)
        shaped = u.shape == (trace.dim,) and bool((u >= -1e-12).all() and np.isclose(u.sum(), 1.0))
        return {
            "NormalizedWinnow with the step η": isinstance(learner, learners.NormalizedWinnow)
            and same_step(learner.eta, self.step),
            f"{self.dim} features": trace.dim == self.dim,
            "|x_i| ≤ X": data and most(np.abs(trace.losses.X), self.size),
            "u is on the simplex": shaped,
            "u has margin at least γ on all examples": data
            and shaped
            and most(self.margin, (trace.losses.y * (trace.losses.X @ u)).min()),
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof by the potential KL(u‖w_t) = Σ u_i ln(u_i/w_{t,i}), with δ = ηγ − η²X²/2."""
        u = validate.vector("u", u, trace.dim)
        with np.errstate(divide="ignore", invalid="ignore"):
            potential = np.where(u > 0, u * np.log(u / trace.plays), 0.0).sum(axis=-1)
        return Chain(
            "Normalised Winnow's mistake bound",
            (
                Line(self.measure(trace), "M, the updates"),
                Line(
                    (potential[0] - potential[-1]) / self._drop,
                    "(KL(u‖w_1) − KL(u‖w_{T+1}))/δ",
                    "each update lowers it by at least δ = ηγ − η²X²/2",
                ),
                Line(potential[0] / self._drop, "KL(u‖w_1)/δ", "KL ≥ 0"),
                Line(np.log(trace.dim) / self._drop, "ln n/δ", "KL(u‖w_1) = ln n − H(u) and H ≥ 0"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play nine examples with margin ½ in three dimensions, and random examples (x, −x)."""

        def game(examples):
            trace = play(learners.NormalizedWinnow(3, 0.5), _data(examples))
            return cls(3, 0.5), trace, np.array([1.0, 0.0, 0.0])

        signed = [(np.array([0.5, a, b]), 1.0) for a, b in product((-1.0, 0.0, 1.0), repeat=2)]
        yield from attacks(game, signed, rng, short=3)
        for size in (1.0, 5.0):
            X, y, u = separable(300, 6, 0.3, rng)
            X, u = size * X / np.abs(X).max(), u / np.abs(u).sum()
            margin = (y * (X @ u)).min()
            stated = cls(12, margin, size, rng.uniform(0.3, 1.6) * margin / size**2)
            trace = play(learners.NormalizedWinnow(12, stated.step), perceptron_loss(np.hstack([X, -X]), y))
            yield stated, trace, np.append(np.maximum(u, 0), np.maximum(-u, 0))

    @classmethod
    def worst(cls, n: int = 1025, margin: float = 0.2) -> Game:
        """Play the adversary `against_normalized_winnow`."""
        stated = cls(n, margin)
        rounds, spite = int(stated.bound) + 9, against_normalized_winnow(margin)
        trace = play(learners.NormalizedWinnow(n, margin), spite, rounds=rounds)
        return stated, trace, np.eye(n)[0]


# ---------------------------------------------------------------- shared by these theorems

#: examples of norm at most 1 with margin 0.3 along e_1
SEPARATED = [(np.array([0.3, s * np.sqrt(0.91)]), 1.0) for s in (-1.0, -0.5, 0.5, 1.0)]


def _data(examples, threshold=0.0):
    """Return the perceptron losses of a list of examples (x, y)."""
    X, y = zip(*examples, strict=True)
    return perceptron_loss(np.array(X), np.array(y), threshold)


def _perceptron_loss(trace):
    """Test whether the losses are perceptron losses with threshold 0 and no regulariser."""
    phi: Any = getattr(trace.losses, "phi", None)
    own = type(phi) is type(perceptron_loss([[1.0]], [1.0]).phi)
    return own and phi.threshold == 0 and not trace.losses.reg


def _whole(trace):
    """Return the hypotheses on the learner: every update adds the whole of y_t·x_t."""
    learner = trace.learner
    alike = isinstance(learner, OGD) and isinstance(learner.over, Space)
    alike = alike and not callable(learner.eta) and bool(np.all(learner.eta == 1))
    loss = _perceptron_loss(trace)
    return {
        "the Perceptron, or descent with step 1 on all of space": alike
        or isinstance(learner, learners.Perceptron),
        "the perceptron loss, with whole updates: κ = 0 or 1": loss and trace.losses.phi.kink in (0.0, 1.0),
    }


def _separated(trace, u, radius, margin):
    """Return the hypotheses on the examples and on u."""
    data, u = isinstance(trace.losses, Examples), np.asarray(u, dtype=float)
    shaped = u.shape == (trace.dim,)
    return {
        "‖x_t‖ ≤ R": data and most(np.linalg.norm(trace.losses.X, axis=-1), radius),
        "‖u‖ = 1": shaped and bool(np.isclose(np.linalg.norm(u), 1.0, rtol=1e-9)),
        "u has margin at least γ on all examples": data
        and shaped
        and most(margin, (trace.losses.y * (trace.losses.X @ u)).min()),
    }


def _updates(trace):
    """Return the rounds with an update, counted from 0."""
    return np.flatnonzero(trace.updates)


def _some_updates(trace):
    """Return the rounds with an update; raise a `ValueError` if there is none or the proof does not apply."""
    for words, true in _whole(trace).items():
        if not true:
            raise ValueError(f"this proof requires: {words}. The trace comes from {trace.learner!r}")
    if not trace.updates.any():
        raise ValueError("the trace must have at least one update, got none")
    return _updates(trace)
