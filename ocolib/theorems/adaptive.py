"""State the regret bounds of AdaGrad, with one step size or one per coordinate, and of AdaHedge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import adaptive, validate
from ocolib.game import play
from ocolib.losses import Quadratic
from ocolib.regularizers import gibbs
from ocolib.sets import Ball, Box
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    as_losses,
    attacks,
    convex,
    first_lines,
    inside,
    most,
    same_step,
    slopes,
    squares,
)
from ocolib.theorems.hedge import turns


@dataclass(frozen=True)
class AdaGrad(Theorem):
    """Bound the regret of AdaGrad with one step size by √2·D·√(‖z_1‖² + … + ‖z_T‖²).

    Let the losses be convex and the set closed and convex with diameter at most D. Eager descent with
    η_t = D/√(2(‖z_1‖² + … + ‖z_t‖²)), and no step while the sum is 0, has this regret against every u in the
    set. `total` is the sum of the squares, or an upper bound. The worst known game attains 0.93 of the bound.

    >>> print(AdaGrad(diameter=2, total=50).bound)
    20.0
    """

    item, kind, tightness = "ada.norm", "upper", 0.93
    diameter: float
    total: float

    @classmethod
    def of(cls, trace: Any) -> AdaGrad:
        """Read D and Σ ‖z_t‖² from a trace."""
        return cls(trace.learner.over.diameter, float(np.square(trace.subgradients).sum()))

    @property
    def bound(self) -> float:
        """Return √2·D·√total."""
        return np.sqrt(2 * self.total) * self.diameter

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        known = isinstance(trace.learner, adaptive.AdaGrad) and not trace.learner.diagonal
        return {
            "AdaGrad with one step and scale D/√2": known
            and same_step(trace.learner.scale, self.diameter / np.sqrt(2)),
            "the set has diameter ≤ D": known and most(trace.learner.over.diameter, self.diameter),
            "Σ ‖z_t‖² ≤ total": most(np.square(trace.subgradients).sum(), self.total),
        } | _common(trace, u, known)

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate Zinkevich's proof with these step sizes, then Σ a_t/√(a_1 + … + a_t) ≤ 2√(Σ a_t)."""
        z, w, u = trace.subgradients, trace.plays, validate.vector("u", u, trace.dim)
        eta, far, a = trace.learner.step_sizes(z)[:, 0], squares(w, u), squares(z)
        moved = eta > 0  # rounds before the first nonzero gradient contribute nothing
        near = ((far[:-1] - far[1:])[moved] / (2 * eta[moved])).sum()
        noise, last = (eta * a).sum() / 2, eta[-1]
        return Chain(
            "AdaGrad with one step",
            (
                *first_lines(trace, u),
                Line(
                    near + noise,
                    "Σ (‖w_t − u‖² − ‖w_{t+1} − u‖²)/2η_t + ½ Σ η_t ‖z_t‖²",
                    "projection brings w_{t+1} no farther from u",
                ),
                Line(
                    (self.diameter**2 / (2 * last) if last > 0 else 0.0) + noise,
                    "D²/2η_T + ½ Σ η_t ‖z_t‖²",
                    "the steps fall; no distance is more than D",
                ),
                Line(
                    np.sqrt(2 * a.sum()) * self.diameter,
                    "√2 D √(Σ ‖z_t‖²)",
                    "Σ a_t/√(a_1 + … + a_t) ≤ 2√(Σ a_t)",
                ),
                Line(self.bound, "√2 D √total", "Σ ‖z_t‖² ≤ total"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses of several sizes and quadratic losses, on an interval and a disk."""
        sizes = [s * z for z in slopes(1, 1.0) for s in (0.01, 1.0, 7.0)]
        yield from attacks(_arena(cls, Box([-1.0], [1.0])), sizes, rng, short=3)
        yield from attacks(_arena(cls, Ball(2, 2.0)), [*slopes(2, 1.5), np.zeros(2)], rng, short=3)
        bowls = [Quadratic([c], 0.5) for c in (-1.0, 0.3, 1.0)]
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), [0.4]), bowls, rng, short=3)

    @classmethod
    def worst(cls, T: int = 2000) -> Game:
        """Play on [0, 1]: keep the learner near 1, then push it down. The ratio tends to 1 as T grows."""
        trace = play(adaptive.AdaGrad(Box([0.0], [1.0]), start=[1.0]), _back_and_forth(T)[:, None])
        return cls.of(trace), trace, np.zeros(1)


@dataclass(frozen=True)
class AdaGradDiagonal(Theorem):
    """Bound the regret of AdaGrad with one step size per coordinate by √2 Σ_i D_i √(Σ_t z_{t,i}²).

    Let the losses be convex and the set a box whose i-th width is at most D_i. With step sizes
    D_i/√(2(z_{1,i}² + … + z_{t,i}²)) the regret has this bound against every u in the box. `widths` are the
    D_i, and `totals` are the sums Σ_t z_{t,i}² or upper bounds. The worst known game attains 0.93 of the
    bound.

    >>> print(round(AdaGradDiagonal(widths=[1.0, 2.0], totals=[50.0, 2.0]).bound, 4))
    14.0
    """

    item, kind, tightness = "ada.diagonal", "upper", 0.93
    widths: Any
    totals: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(widths=_sizes, totals=_sizes)
        if self.widths.shape != self.totals.shape:
            raise ValueError(
                f"widths and totals must have the same shape, got {self.widths} and {self.totals}"
            )

    @classmethod
    def of(cls, trace: Any) -> AdaGradDiagonal:
        """Read the widths and the sums Σ_t z_{t,i}² from a trace."""
        over = trace.learner.over
        return cls(over.high - over.low, np.square(trace.subgradients).sum(axis=0))

    @property
    def bound(self) -> float:
        """Return √2 Σ D_i √total_i."""
        return float(np.sqrt(2) * (self.widths * np.sqrt(self.totals)).sum())

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        known = isinstance(learner, adaptive.AdaGrad) and learner.diagonal and isinstance(learner.over, Box)
        known = bool(known and len(self.widths) == trace.dim)
        return {
            "diagonal AdaGrad with the scales D_i/√2 on a box": known
            and np.allclose(learner.scale, self.widths / np.sqrt(2), rtol=1e-9, atol=0.0),
            "the widths of the box are ≤ D_i": known
            and most(learner.over.high - learner.over.low, self.widths),
            "Σ z_{t,i}² ≤ total_i": known and most(np.square(trace.subgradients).sum(axis=0), self.totals),
        } | _common(trace, u, known)

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of `AdaGrad` for each coordinate, and sum."""
        z, w, u = trace.subgradients, trace.plays, validate.vector("u", u, trace.dim)
        eta, far = trace.learner.step_sizes(z), np.square(w - u)
        moved = eta > 0
        near = ((far[:-1] - far[1:])[moved] / (2 * eta[moved])).sum()
        noise, last = (eta * z**2).sum() / 2, eta[-1][eta[-1] > 0]
        return Chain(
            "AdaGrad with a step for each coordinate",
            (
                *first_lines(trace, u),
                Line(
                    near + noise,
                    "Σ_i Σ_t ((w_{t,i} − u_i)² − (w_{t+1,i} − u_i)²)/2η_{t,i} + ½ η_{t,i} z_{t,i}²",
                    "clipping brings no coordinate farther from u_i",
                ),
                Line(
                    (self.widths[eta[-1] > 0] ** 2 / (2 * last)).sum() + noise,
                    "Σ_i D_i²/2η_{T,i} + ½ Σ_t η_{t,i} z_{t,i}²",
                    "the steps fall; no distance is more than D_i",
                ),
                Line(
                    np.sqrt(2) * (self.widths * np.sqrt(np.square(z).sum(axis=0))).sum(),
                    "√2 Σ_i D_i √(Σ_t z_{t,i}²)",
                    "Σ a_t/√(a_1 + … + a_t) ≤ 2√(Σ a_t)",
                ),
                Line(self.bound, "√2 Σ_i D_i √total_i", "Σ_t z_{t,i}² ≤ total_i"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses in the plane with one coordinate that is rarely nonzero, but then large."""
        moves = [np.array(row) for row in product((-1.0, 1.0), (-20.0, 0.0, 0.0, 20.0))]
        yield from attacks(_arena(cls, Box([-1.0, 0.0], [1.0, 3.0]), diagonal=True), moves, rng, short=3)

    @classmethod
    def worst(cls, T: int = 2000) -> Game:
        """Play the worst game of `AdaGrad` in both coordinates, at different scales."""
        game = _back_and_forth(T)
        Z, over = np.column_stack([game, 50 * game]), Box([0.0, 0.0], [1.0, 2.0])
        trace = play(adaptive.AdaGrad(over, diagonal=True, start=[1.0, 2.0]), Z)
        return cls.of(trace), trace, np.zeros(2)


def _back_and_forth(T):
    """Return slopes that push AdaGrad on [0, 1] down and back to 1 for T rounds, and then push it to 0."""
    total, Z = 1.0, [-1.0]
    while len(Z) < T:
        total += 1.0
        back = np.sqrt(total / (total - 1))  # moves as far up as the last push moved down
        total += back**2
        Z += [1.0, -back]
    return np.array(Z + [1.0] * int(np.ceil(np.sqrt(2 * T))))


@dataclass(frozen=True)
class AdaHedge(Theorem):
    """Bound the regret of AdaHedge against the best expert by S(1 + √(1 + T ln n)).

    Let there be n ≥ 2 experts and linear losses with max ℓ_t − min ℓ_t ≤ S = `width` in every round. The
    regret is at most 2Δ_T, where Δ_T is the sum of the mixability gaps, and 2Δ_T ≤ S(1 + √(1 + T ln n)). The
    worst known game attains 0.87 of the bound.

    >>> print(round(AdaHedge(n=10, T=100).bound, 4))
    16.2072
    """

    item, kind, tightness = "ada.adahedge", "upper", 0.87
    n: int
    T: int
    width: float = 1.0

    @property
    def bound(self) -> float:
        """Return S(1 + √(1 + T ln n))."""
        return self.width * (1 + np.sqrt(1 + self.T * np.log(self.n)))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        linear = isinstance(trace.losses, np.ndarray) and trace.losses.ndim == 2
        return {
            "AdaHedge": isinstance(trace.learner, adaptive.AdaHedge),
            f"{self.n} experts": trace.dim == self.n,
            f"{self.T} rounds": trace.rounds == self.T,
            "linear losses": linear,
            "max ℓ_t − min ℓ_t ≤ S": linear and most(np.ptp(trace.losses, axis=-1), self.width),
        }

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the regret against the best expert."""
        return trace.paid.sum() - trace.subgradients.sum(axis=0).min()

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof by mixed losses; in round t, Δ² grows by at most S² ln(n)/4 + S δ_t."""
        losses, n = trace.losses, trace.dim
        gaps, L = trace.learner.gaps(losses), losses.sum(axis=0)
        total, before = gaps.sum(), gaps[:-1].sum()
        eta = np.log(n) / before if before > 0 else np.inf
        M = L.min() if np.isinf(eta) else -gibbs(np.full(n, 1 / n), -eta * L)[0] / eta
        return Chain(
            "AdaHedge against the best expert",
            (
                Line(self.measure(trace), "Σ ⟨w_t, ℓ_t⟩ − min L"),
                Line(total + M - L.min(), "Δ_T + M − min L", "Σ m_t ≤ M: the steps fall"),
                Line(total + before, "Δ_T + Δ_{T−1}", "mean ≥ largest/n, and ln(n)/η_T = Δ_{T−1}"),
                Line(2 * total, "2 Δ_T", "no gap is negative"),
                Line(self.bound, "S (1 + √(1 + T ln n))", "Hoeffding: δ_t ≤ η_t S²/8; and δ_t ≤ S"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play 0/1 losses of three experts, and losses of two sizes."""

        def arena(n, width):
            def game(losses):
                return cls(n, len(losses), width), play(adaptive.AdaHedge(n), np.array(losses)), None

            return game

        bits = [np.array(row) for row in product((0.0, 1.0), repeat=3)]
        yield from attacks(arena(3, 1.0), bits, rng)
        yield from attacks(
            arena(2, 5.0), [x * np.eye(2)[k] for x in (0.1, 5.0) for k in (0, 1)], rng, short=3
        )

    @classmethod
    def worst(cls, T: int = 400) -> Game:
        """Play two experts that alternate; in the last rounds the second one is always right."""
        return cls(2, T), play(adaptive.AdaHedge(2), turns(T, 44)), None


# ---------------------------------------------------------------- shared by these theorems


def _sizes(name, value):
    """Check a vector of numbers ≥ 0, not all 0, and return it."""
    found = validate.vector(name, value)
    if (found < 0).any() or not found.any():
        raise ValueError(f"{name} must be ≥ 0 and not all 0, got {found}")
    return found


def _common(trace, u, known):
    """Return the hypotheses on u and the losses; `known` says whether the learner is the right one."""
    near = bool(known) and inside(trace.learner.over, u)
    return {"u is in the set": near, "f_t is convex": near and convex(trace, u)}


def _arena(cls, over, start=None, diagonal=False):
    """Return a function that plays AdaGrad on `over` and reads the theorem from the trace."""

    def game(losses):
        learner = adaptive.AdaGrad(over, diagonal, start=start)
        trace = play(learner, as_losses(losses))
        if not np.any(trace.subgradients, axis=0).all():  # a bound of 0 would test nothing
            trace = play(learner, np.vstack([trace.losses, np.ones(over.dim)]))
        return cls.of(trace), trace, trace.best(over)

    return game
