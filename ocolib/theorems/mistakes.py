"""Mistake bounds: the Perceptron (Lectures 13 and 9), from another start, with ties, their floor; Winnow."""

from __future__ import annotations

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
from ocolib.theorems.base import Chain, Line, Theorem, attacks, most, not_negative, plays, squares


class _Updates(Theorem, register=False):
    """What the mistake bounds share: they count updates."""

    def measure(self, trace, u=None):
        """Measure M, the number of updates."""
        return float(trace.updates.sum())


# ---------------------------------------------------------------- the Perceptron


@dataclass(frozen=True)
class Perceptron(_Updates):
    """The mistake bound of the Perceptron (Lecture 13 from Theorem 2, Lecture 9 directly).

    If ‖x_t‖ ≤ R for all examples and some unit vector u has y_t⟨u, x_t⟩ ≥ γ > 0 for all of them, the
    Perceptron from w_1 = 0, which adds y_t·x_t wherever y_t⟨w_t, x_t⟩ < 0 (and at every tie, or at none),
    makes at most (R/γ)² updates. Met by orthonormal examples.
    """

    item, kind, tightness = "ox13.alg.perceptron", "tight", 1.0
    radius: float
    margin: float

    def __post_init__(self):
        self._check(radius=validate.positive, margin=validate.positive)

    @property
    def bound(self) -> float:
        """(R/γ)²."""
        return (self.radius / self.margin) ** 2

    def hypotheses(self, trace, u=None):
        """Ask for the Perceptron from 0 with whole updates, ‖x_t‖ ≤ R, a unit vector u with margin ≥ γ."""
        return (
            _whole(trace)
            | {"w_1 = 0": not trace.points[0].any()}
            | _separated(trace, u, self.radius, self.margin)
        )

    def chain(self, trace, u=None):
        """Lecture 9, without regret: γM ≤ ⟨w_T, u⟩ ≤ ‖w_T‖ ≤ R√M.

        Every line v is shown as v²/(γ²M) (with the sign of v), so that the first is M and the last (R/γ)².
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
        """Prove the bound as Lecture 13 does, from (10) on the surrogates, every line in updates.

        Put c = Mγ. On the update rounds c² ≤ −Σ⟨z_t, cu⟩ ≤ Σ⟨z_t, w_t − cu⟩ ≤ ½Σ‖z_t‖² + ½c² ≤ ½MR² + ½c²;
        a line v is shown as (2v − c²)/(Mγ²). Without `sharp` the third step is (10) as printed, with
        Σ‖z_t‖² for its half: the bound doubles.
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
        """Prove γM ≤ ⟨w_T, u⟩ − ⟨w_0, u⟩, from any start, one line an update: each adds y_i⟨u, x_i⟩ ≥ γ."""
        u, margin = validate.vector("u", u, trace.dim), validate.positive("margin", margin)
        rounds = _some_updates(trace)
        gains = -trace.subgradients[rounds] @ u - margin
        lines = [Line(margin * len(rounds), "γM")]
        for i, value in zip(rounds, lines[0].value + np.cumsum(gains), strict=True):
            lines.append(Line(value, f"γ → y_{i + 1}⟨u, x_{i + 1}⟩", f"the margin of example {i + 1} is ≥ γ"))
        return Chain("The growth along u", tuple(lines))

    @staticmethod
    def length(trace: Any, radius: float) -> Chain:
        """Prove ‖w_T‖² − ‖w_0‖² ≤ R²M, from any start, one line an update: 2y_i⟨w_{i−1}, x_i⟩ ≤ 0 is
        dropped.
        """
        radius, rounds = validate.positive("radius", radius), _some_updates(trace)
        grown = np.diff(squares(plays(trace)))[rounds]
        lines = [Line(grown.sum(), "‖w_T‖² − ‖w_0‖²")]
        for i, value in zip(rounds, grown.sum() + np.cumsum(radius**2 - grown), strict=True):
            reason = f"y_{i + 1}⟨w_{i}, x_{i + 1}⟩ ≤ 0 and ‖x_{i + 1}‖ ≤ R"
            lines.append(Line(value, f"round {i + 1} adds at most R²", reason))
        return Chain("The growth of the length", tuple(lines))

    @classmethod
    def games(cls, rng):
        """Play four examples of margin 0.3, with ties taken or left, and random separable ones."""

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
    def worst(cls, n=16):
        """Play orthonormal examples: each is new."""
        trace = play(learners.Perceptron(n), perceptron_loss(np.eye(n), np.ones(n)))
        return cls(1.0, 1 / np.sqrt(n)), trace, np.full(n, 1 / np.sqrt(n))


@dataclass(frozen=True)
class PerceptronFrom(_Updates):
    """The mistake bound of the Perceptron from another start w_0 (Lecture 9). R, γ and u as in `Perceptron`.

    With `along` = ⟨w_0, u⟩ and `length` = ‖w_0‖ the updates are at most the larger root M of
    (γM + along)² = length² + R²M. For w_0 = 0 it is (R/γ)².
    """

    item, kind, tightness = "tel9.thm", "tight", 1.0
    radius: float
    margin: float
    along: float
    length: float

    def __post_init__(self):
        self._check(radius=validate.positive, margin=validate.positive, length=not_negative)
        most = self.length * (1 + 1e-12)  # a collinear w_0 may come out a rounding error longer along u
        self._check(along=lambda name, x: validate.number(name, x, low=-most, high=most))

    @property
    def bound(self) -> float:
        """The larger root M of (γM + along)² = length² + R²M."""
        return self._root(max(self.length**2, self.along**2))

    def _root(self, square):
        """The larger root of (γM + along)² = square + R²M; it grows with `square`."""
        half = self.radius**2 / 2 - self.along * self.margin
        return (
            half + np.sqrt(max(half**2 - self.margin**2 * (self.along**2 - square), 0.0))
        ) / self.margin**2

    def hypotheses(self, trace, u=None):
        """Ask for the Perceptron from w_0 with whole updates, ‖x_t‖ ≤ R, a unit vector u with margin ≥ γ, the
        numbers of w_0.
        """
        found = _whole(trace) | _separated(trace, u, self.radius, self.margin)
        if all(found.values()):
            w = trace.points[0]
            found["`along` ≤ ⟨w_0, u⟩"] = most(self.along, w @ np.asarray(u))
            found["‖w_0‖ ≤ `length`"] = most(np.linalg.norm(w), self.length)
        return found

    def chain(self, trace, u=None):
        """(γM + along)² ≤ ⟨w_T, u⟩² ≤ ‖w_T‖² ≤ length² + R²M; a line q is shown as the root M of
        (γM + along)² = q − R²M' + R²M, M' the number of updates.
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
    def games(cls, rng):
        """Play four examples of margin 0.3 from (−0.4, 0.3), and random ones from random starts."""

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
    def worst(cls, n=9, k=3):
        """Play a run on orthonormal examples that begins in the middle."""
        start, u = np.where(np.arange(n) < k, 1.0, 0.0), np.full(n, 1 / np.sqrt(n))
        trace = play(OGD(Space(n), 1.0, start=start), perceptron_loss(np.eye(n)[k:], np.ones(n - k)))
        return cls(1.0, 1 / np.sqrt(n), float(start @ u), float(np.linalg.norm(start))), trace, u


@dataclass(frozen=True)
class PerceptronTies(_Updates):
    """The mistake bound of the Perceptron that adds κ·y·x at a tie, 0 < κ = `kink` ≤ 1 (Lecture 9, the
    convention for the subgradient). R, γ and u as in `Perceptron`, w_1 = 0.

    It makes at most (1 + κ)²/(4κ)·(R/γ)² updates. As γ/R → 0 the factor is approached for every κ, in three
    dimensions already; on `adversaries.ties` for κ ≥ 1/3.
    """

    item, kind, tightness = "tel9.conv.subgradient", "upper", 0.99
    radius: float
    margin: float
    kink: float

    def __post_init__(self):
        self._check(radius=validate.positive, margin=validate.positive)
        self._check(kink=lambda name, x: validate.number(name, x, low=0.0, high=1.0, strict=True))

    @property
    def bound(self) -> float:
        """(1 + κ)²/(4κ)·(R/γ)²."""
        return (1 + self.kink) ** 2 / (4 * self.kink) * (self.radius / self.margin) ** 2

    def hypotheses(self, trace, u=None):
        """Ask for the Perceptron with this κ from 0, ‖x_t‖ ≤ R, a unit vector u with margin ≥ γ."""
        learner = trace.learner
        return {
            "the Perceptron that adds κ·y·x at a tie": isinstance(learner, learners.Perceptron)
            and learner.kink == self.kink
            and _perceptron_loss(trace),
            "w_1 = 0": not trace.points[0].any(),
        } | _separated(trace, u, self.radius, self.margin)

    def chain(self, trace, u=None):
        """With M₁ whole updates and M₀ at ties put a = M₁ + κM₀; then M₁ + κ²M₀ = (1 + κ)a − κM."""
        u, w, k, R, rounds = (
            validate.vector("u", u, trace.dim),
            trace.last,
            self.kink,
            self.radius,
            _updates(trace),
        )
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
    def games(cls, rng):
        """Play examples that tie with one another, and whole numbers, which make ties."""

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
    def worst(cls, kink=0.5, margin=0.05):
        """Play ties first, then mistakes that are almost ties."""
        X, y, u = ties(kink, margin)
        trace = play(learners.Perceptron(X.shape[1], kink=kink), perceptron_loss(X, y))
        return cls(1.0, margin, kink), trace, u


@dataclass(frozen=True)
class MistakesFloor(Theorem):
    """The floor of all mistake bounds (Lecture 9): no deterministic learner can do better than the
    Perceptron.

    For γ ≤ R and in at least (R/γ)² dimensions `adversaries.nature` forces ⌊(R/γ)²⌋ mistakes on every
    learner that predicts sign⟨w_t, x_t⟩, on examples of length R that a unit vector separates with margin
    γ.
    """

    item, kind, tightness = "tel9.thm", "lower", 1.0
    radius: float
    margin: float

    def __post_init__(self):
        self._check(radius=validate.positive, margin=validate.positive)
        if self.margin > self.radius * (1 + 1e-12):
            raise ValueError(f"margin must be ≤ radius = {self.radius:g}, got {self.margin:g}")

    @property
    def bound(self) -> int:
        """⌊(R/γ)²⌋."""
        return int(np.floor((self.radius / self.margin) ** 2 * (1 + 1e-12)))  # (0.3/0.1)² is 9, not 8.99…

    def hypotheses(self, trace, u=None):
        """Ask for ⌊(R/γ)²⌋ rounds against `nature`: examples R·e_t, each labelled −sign⟨w_t, x_t⟩."""
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

    def measure(self, trace, u=None):
        """Measure the number of mistakes."""
        return float(trace.mistakes.sum())

    @classmethod
    def games(cls, rng):
        """Play five learners, each in 1, 9 and 12 dimensions."""
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
    def worst(cls, n=9):
        """Play the Perceptron, which makes no more mistakes than it is forced to."""
        return cls(2.0, 2 / np.sqrt(n)), play(learners.Perceptron(n), nature(2.0), rounds=n), None


# ---------------------------------------------------------------- Winnow


@dataclass(frozen=True)
class Winnow(_Updates):
    """The mistake bound of Winnow (Lecture 13). n Boolean features, labels by the OR of k = `relevant` of
    them.

    Winnow with factor 2 and threshold θ ≥ 1 from w_1 = (1, …, 1) makes at most 2n/θ + 3k(1 + log₂ θ)
    updates.
    """

    item, kind, tightness = "ox13.alg.winnow", "upper", 0.93
    dim: int
    relevant: int
    threshold: float

    def __post_init__(self):
        self._check(dim=validate.count, relevant=validate.count)
        self._check(threshold=lambda name, x: validate.number(name, x, low=1.0))

    @classmethod
    def of(cls, trace: Any, relevant: int) -> Winnow:
        """Take n and θ from a trace."""
        if not isinstance(trace.learner, learners.Winnow):
            raise ValueError(f"trace must be one of Winnow, got {trace.learner!r}")
        return cls(trace.dim, relevant, trace.learner.threshold)

    @property
    def bound(self) -> float:
        """2n/θ + 3k(1 + log₂ θ)."""
        return 2 * self.dim / self.threshold + 3 * self.relevant * (1 + np.log2(self.threshold))

    def hypotheses(self, trace, u=None):
        """Ask for Winnow with factor 2 and this θ, Boolean features, labels by the OR of the first k."""
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

    def chain(self, trace, u=None):
        """p counts promotions, d demotions, p_i the promotions in which feature i was on."""
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
    def games(cls, rng):
        """Play all Boolean examples of four features, and random ones of many."""

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
    def worst(cls, n=1024, theta=32.0):
        """Play examples that demote the heaviest irrelevant features, else promote as much weight as fits."""
        trace = play(learners.Winnow(n, theta), against_winnow(1, theta), rounds=100)
        return cls(n, 1, theta), trace, None


@dataclass(frozen=True)
class NormalizedWinnow(_Updates):
    """The mistake bound of normalised Winnow (Lecture 13). |x_{t,i}| ≤ X = `size`, and some u on the
    simplex has y_t⟨u, x_t⟩ ≥ γ = `margin` > 0 for all examples, n = `dim` features.

    With a step η in (0, 2γ/X²) it makes at most ln(n)/(ηγ − η²X²/2) updates. The best step, η = γ/X², gives
    2X² ln(n)/γ².
    """

    item, kind, tightness = "ox13.alg.winnow", "upper", 0.85
    dim: int
    margin: float
    size: float = 1.0
    eta: float | None = None

    def __post_init__(self):
        self._check(
            dim=validate.count, margin=validate.positive, size=validate.positive, eta=validate.positive
        )
        if self.eta is not None and self._drop <= 0:
            end = 2 * self.margin / self.size**2
            raise ValueError(f"eta must be in (0, 2γ/X²) = (0, {end:g}), got {self.eta:g}")

    @classmethod
    def of(cls, trace: Any, margin: float, size: float = 1.0) -> NormalizedWinnow:
        """Take n and η from a trace."""
        if not isinstance(trace.learner, learners.NormalizedWinnow):
            raise ValueError(f"trace must be one of NormalizedWinnow, got {trace.learner!r}")
        return cls(trace.dim, margin, size, trace.learner.eta)

    @property
    def step(self) -> float:
        """The η given, else γ/X², which makes the bound least."""
        return self.eta or self.margin / self.size**2

    @property
    def bound(self) -> float:
        """ln(n)/(ηγ − η²X²/2); with the best step this is 2X² ln(n)/γ²."""
        if self.eta is None:
            return 2 * self.size**2 * np.log(self.dim) / self.margin**2
        return np.log(self.dim) / self._drop

    @property
    def _drop(self):
        """δ = ηγ − η²X²/2, by which an update lowers the potential."""
        return self.step * self.margin - (self.step * self.size) ** 2 / 2

    def hypotheses(self, trace, u=None):
        """Ask for NormalizedWinnow with this step, |x_{t,i}| ≤ X, a u on the simplex with margin ≥ γ."""
        learner, data = trace.learner, isinstance(trace.losses, Examples)
        u = np.asarray(u, dtype=float)
        shaped = u.shape == (trace.dim,) and bool((u >= -1e-12).all() and np.isclose(u.sum(), 1.0))
        return {
            "NormalizedWinnow with the step η": isinstance(learner, learners.NormalizedWinnow)
            and bool(np.isclose(learner.eta, self.step, rtol=1e-9, atol=0.0)),
            f"{self.dim} features": trace.dim == self.dim,
            "|x_i| ≤ X": data and most(np.abs(trace.losses.X), self.size),
            "u is on the simplex": shaped,
            "u has margin at least γ on all examples": data
            and shaped
            and most(self.margin, (trace.losses.y * (trace.losses.X @ u)).min()),
        }

    def chain(self, trace, u=None):
        """The potential is KL(u‖w_t) = Σ u_i ln(u_i/w_{t,i}); δ = ηγ − η²X²/2."""
        u = validate.vector("u", u, trace.dim)
        with np.errstate(divide="ignore", invalid="ignore"):
            potential = np.where(u > 0, u * np.log(u / plays(trace)), 0.0).sum(axis=-1)
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
    def games(cls, rng):
        """Play nine examples of margin ½ in three dimensions; random ones doubled to (x, −x), with other
        steps.
        """

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
    def worst(cls, n=1025, margin=0.2):
        """Play examples that are just not right, and teach the least."""
        stated = cls(n, margin)
        rounds, spite = int(stated.bound) + 9, against_normalized_winnow(margin)
        trace = play(learners.NormalizedWinnow(n, margin), spite, rounds=rounds)
        return stated, trace, np.eye(n)[0]


# ---------------------------------------------------------------- what they share

#: examples of margin 0.3 along e_1, and no longer than 1
SEPARATED = [(np.array([0.3, s * np.sqrt(0.91)]), 1.0) for s in (-1.0, -0.5, 0.5, 1.0)]


def _data(examples, threshold=0.0):
    X, y = zip(*examples, strict=True)
    return perceptron_loss(np.array(X), np.array(y), threshold)


def _perceptron_loss(trace):
    """Is it a game on the perceptron loss, threshold 0, nothing added?"""
    phi: Any = getattr(trace.losses, "phi", None)
    own = type(phi) is type(perceptron_loss([[1.0]], [1.0]).phi)
    return own and phi.threshold == 0 and not trace.losses.reg


def _whole(trace):
    """The hypotheses on the player: each update adds y_t·x_t, no part of it."""
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
    """The hypotheses on the examples and on u."""
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
    """The rounds with an update."""
    return np.flatnonzero(trace.updates)


def _some_updates(trace):
    for words, true in _whole(trace).items():
        if not true:
            raise ValueError(
                f"trace must be one of the Perceptron, with full updates only: {words}; got {trace.learner!r}"
            )
    if not trace.updates.any():
        raise ValueError("the trace must have at least one update, got none")
    return _updates(trace)
