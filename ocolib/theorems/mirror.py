"""Mirror descent with a fixed step, and with steps that fall like 1/√t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.adversaries import orthogonal
from ocolib.game import play
from ocolib.learners import inverse_sqrt, steps
from ocolib.losses import Quadratic
from ocolib.mirror import MirrorDescent, bregman
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, Simplex
from ocolib.theorems.base import (
    Chain,
    Line,
    Theorem,
    attacks,
    convex,
    inside,
    most,
    plays,
    same_steps,
    slopes,
)


@dataclass(frozen=True)
class Mirror(Theorem):
    """Eager mirror descent with a fixed step. Convex losses, a closed convex set, R 1-strongly convex on it.

    If B(u, w_1) ≤ `divergence` and ‖z_t‖_* ≤ ρ in all T rounds, the regret against u is at most
    B(u, w_1)/η + (η/2)Tρ². The best step, η = √(2B/T)/ρ, gives ρ√(2BT).

    ‖·‖_* is the dual of the norm in which R is strongly convex: the Euclidean norm for ½‖w‖², and for
    entropy on the simplex half the range of z_t, as a constant added to all entries changes nothing.
    """

    item, kind, tightness = "omd.regret", "tight", 1.0
    divergence: float
    rho: float
    T: int
    eta: float | None = None

    def __post_init__(self):
        self._check(
            divergence=validate.positive, rho=validate.positive, T=validate.count, eta=validate.positive
        )

    @property
    def step(self) -> float:
        """The η given, else √(2B/T)/ρ, which makes the bound least."""
        return self.eta or np.sqrt(2 * self.divergence / self.T) / self.rho

    @property
    def bound(self) -> float:
        """B/η + (η/2)Tρ²; with the best step this is ρ√(2BT)."""
        if self.eta is None:
            return self.rho * np.sqrt(2 * self.divergence * self.T)
        return self.divergence / self.eta + self.eta * self.T * self.rho**2 / 2

    def hypotheses(self, trace, u=None):
        """Ask for mirror descent with this step, convex losses, ‖z_t‖_* ≤ ρ, and a comparator near w_1."""
        eta = getattr(trace.learner, "eta", None)
        fixed = _mirror(trace) and same_steps(eta, self.step, trace.rounds)
        near = _comparator(trace, u)
        return (
            {"mirror descent with the fixed step η": fixed}
            | _common(self, trace, u)
            | {"B(u, w_1) ≤ divergence": near and most(_divergences(trace, u)[0], self.divergence)}
        )

    def chain(self, trace, u=None):
        """The three-point inequality, then strong convexity, then ab − a²/2 ≤ b²/2."""
        eta, z, w = trace.learner.eta, trace.subgradients, plays(trace)
        far, moved = _divergences(trace, u), bregman(trace.learner.regularizer, w[1:], w[:-1])
        stay, size, length = (z * (w[:-1] - w[1:])).sum(axis=-1), dual_norms(trace), _lengths(trace)
        return Chain(
            "Mirror descent with a fixed step",
            (
                *_first_lines(trace, u),
                Line(
                    stay.sum() + (far[0] - far[-1] - moved.sum()) / eta,
                    "Σ ⟨z_t, w_t − w_{t+1}⟩ + (B(u, w_1) − B(u, w_{T+1}) − Σ B(w_{t+1}, w_t))/η",
                    "w_{t+1} minimises; the divergences to u telescope",
                ),
                Line(
                    far[0] / eta + (size * length - length**2 / (2 * eta)).sum(),
                    "B(u, w_1)/η + Σ ‖z_t‖_* d_t − d_t²/2η",
                    "d_t = ‖w_{t+1} − w_t‖; strong convexity; B(u, w_{T+1}) ≥ 0",
                ),
                Line(
                    far[0] / eta + eta * (size**2).sum() / 2,
                    "B(u, w_1)/η + (η/2) Σ ‖z_t‖_*²",
                    "ab − a²/2η ≤ ηb²/2",
                ),
                Line(
                    self.divergence / eta + eta * self.T * self.rho**2 / 2,
                    "B/η + (η/2) T ρ²",
                    "B(u, w_1) ≤ B, ‖z_t‖_* ≤ ρ",
                ),
            ),
        )

    @classmethod
    def games(cls, rng):
        """Play entropy on the simplex, linear losses on a disk, quadratic ones on an interval."""
        yield from attacks(_arena(cls, Simplex(3), NegativeEntropy(), 0.5), list(np.eye(3)), rng)
        yield from attacks(_arena(cls, Ball(2, 2.0), SquaredNorm(), 1.5), slopes(2, 1.5), rng, short=3)
        bowls = [Quadratic([c], 0.5) for c in (-1.0, -0.3, 0.4, 1.0)]
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), SquaredNorm(), 1.0, [0.4]), bowls, rng, short=3)

    @classmethod
    def worst(cls, T=9):
        """Play each loss orthogonal to the sum of the earlier ones on a disk."""
        stated, over = cls(2.0, 1.5, T), Ball(2, 2.0)
        trace = play(MirrorDescent(over, SquaredNorm(), stated.step), orthogonal(1.5), rounds=T)
        return stated, trace, trace.best(over)


@dataclass(frozen=True)
class MirrorFalling(Theorem):
    """Eager mirror descent with η_t = scale/√t. Convex losses, a closed convex set, R 1-strongly convex.

    If B(u, w_t) ≤ `divergence` and ‖z_t‖_* ≤ ρ in all T rounds, the regret against u is at most
    (B/scale + scale·ρ²)√T. The best scale, √B/ρ, gives 2ρ√(BT).

    The divergence must be bounded at *every* play. For entropy on the simplex no number bounds it.
    """

    item, kind, tightness = "omd.falling", "upper", 0.656
    divergence: float
    rho: float
    T: int
    scale: Any = None

    def __post_init__(self):
        self._check(
            divergence=validate.positive, rho=validate.positive, T=validate.count, scale=validate.positive
        )
        if self.scale is None:
            object.__setattr__(self, "scale", np.sqrt(self.divergence) / self.rho)

    @property
    def step(self) -> Any:
        """The schedule η_t = scale/√t."""
        return inverse_sqrt(self.scale)

    @property
    def bound(self) -> float:
        """(B/scale + scale·ρ²)√T; with the best scale this is 2ρ√(BT)."""
        return (self.divergence / self.scale + self.scale * self.rho**2) * np.sqrt(self.T)

    def hypotheses(self, trace, u=None):
        """Ask for mirror descent with these steps, convex losses, ‖z_t‖_* ≤ ρ, plays never far from u."""
        eta = getattr(trace.learner, "eta", None)
        falling = _mirror(trace) and same_steps(eta, self.step, trace.rounds)
        near = _comparator(trace, u)
        return (
            {"mirror descent with the steps η_t": falling}
            | _common(self, trace, u)
            | {"B(u, w_t) ≤ divergence": near and most(_divergences(trace, u)[:-1], self.divergence)}
        )

    def chain(self, trace, u=None):
        """As with a fixed step, but the divergences do not telescope: their weights 1/η_t grow."""
        z, w, eta = trace.subgradients, plays(trace), steps(trace.learner.eta, trace.rounds)
        far, moved = _divergences(trace, u), bregman(trace.learner.regularizer, w[1:], w[:-1])
        noise = (eta * dual_norms(trace) ** 2).sum() / 2
        stay = (z * (w[:-1] - w[1:])).sum(axis=-1) - moved / eta
        return Chain(
            "Mirror descent with falling steps",
            (
                *_first_lines(trace, u),
                Line(
                    stay.sum() + ((far[:-1] - far[1:]) / eta).sum(),
                    "Σ ⟨z_t, w_t − w_{t+1}⟩ + (B(u, w_t) − B(u, w_{t+1}) − B(w_{t+1}, w_t))/η_t",
                    "w_{t+1} minimises",
                ),
                Line(
                    ((far[:-1] - far[1:]) / eta).sum() + noise,
                    "Σ (B(u, w_t) − B(u, w_{t+1}))/η_t + ½ Σ η_t ‖z_t‖_*²",
                    "strong convexity; ab − a²/2η ≤ ηb²/2",
                ),
                Line(
                    far[:-1].max() / eta[-1] + noise,
                    "max B(u, w_t)/η_T + ½ Σ η_t ‖z_t‖_*²",
                    "1/η_t − 1/η_{t−1} ≥ 0",
                ),
                Line(self.bound, "(B/c + c ρ²) √T", "η_t = c/√t, Σ 1/√t ≤ 2√T"),
            ),
        )

    @classmethod
    def games(cls, rng):
        """Play entropy on the simplex, linear losses on a disk and on an interval."""
        yield from attacks(_arena(cls, Simplex(2), NegativeEntropy(), 0.5), list(np.eye(2)), rng)
        yield from attacks(_arena(cls, Ball(2, 2.0), SquaredNorm(), 1.5), slopes(2, 1.5), rng, short=3)
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), SquaredNorm(), 1.0, [0.4]), slopes(1, 1.0), rng)

    @classmethod
    def worst(cls, T=64, end=6):
        """Play slopes on [−1, 1] that take turns at the end 1, then drag the play away from it."""
        stated, over = cls(2.0, 1.0, T), Box([-1.0], [1.0])
        Z = np.where(np.arange(T) % 2, -1.0, 1.0)[:, None]
        Z[T - end :] = 1.0
        trace = play(MirrorDescent(over, SquaredNorm(), stated.step, [1.0]), Z)
        return stated, trace, np.array([-1.0])


# ---------------------------------------------------------------- what the two share


def dual_norms(trace: Any) -> np.ndarray:
    """Return ‖z_t‖_* of each round: on the simplex half the range of z_t, elsewhere the Euclidean norm."""
    z = trace.subgradients
    if isinstance(trace.learner.over, Simplex):
        return (z.max(axis=-1) - z.min(axis=-1)) / 2
    return np.linalg.norm(z, axis=-1)


def _lengths(trace):
    """‖w_{t+1} − w_t‖: in ℓ1 on the simplex, elsewhere Euclidean."""
    moves = np.diff(plays(trace), axis=0)
    simplex = isinstance(trace.learner.over, Simplex)
    return np.abs(moves).sum(axis=-1) if simplex else np.linalg.norm(moves, axis=-1)


def _divergences(trace, u):
    """B(u, w_1), …, B(u, w_{T+1})."""
    return bregman(trace.learner.regularizer, np.asarray(u, dtype=float), plays(trace))


def _mirror(trace):
    learner = trace.learner
    strong = isinstance(getattr(learner, "regularizer", None), (SquaredNorm, NegativeEntropy))
    return isinstance(learner, MirrorDescent) and strong


def _comparator(trace, u):
    return _mirror(trace) and inside(trace.learner.over, u)


def _common(stated, trace, u):
    known, near = _mirror(trace), _comparator(trace, u)
    return {
        f"{stated.T} rounds": trace.rounds == stated.T,
        "‖z_t‖_* ≤ ρ": known and most(dual_norms(trace), stated.rho),
        "u is in the set": near,
        "f_t is convex": near and convex(trace, u),
    }


def _first_lines(trace, u):
    z, w, u = trace.subgradients, trace.points, validate.vector("u", u, trace.dim)
    return (
        Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
        Line((z * (w - u)).sum(), "Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
    )


def _arena(cls, over, regularizer, rho, start=None):
    """Mirror descent on `over`; the divergence of the theorem is that of the best point, or of the set."""

    def game(losses):
        T, linear = len(losses), isinstance(losses[0], np.ndarray)
        losses = np.array(losses) if linear else losses
        most_of = np.log(over.dim) if isinstance(over, Simplex) else over.diameter**2 / 2
        stated = cls(most_of, rho, T)
        trace = play(MirrorDescent(over, regularizer, stated.step, start), losses)
        u = trace.best(over)
        if cls is MirrorFalling and isinstance(over, Simplex):  # no number is enough for every game
            far = max(_divergences(trace, u)[:-1].max(), most_of)
            stated = cls(far, rho, T, np.sqrt(most_of) / rho)
        return stated, trace, u

    return game
