"""State the regret bounds of mirror descent, with a constant step size and with steps of order 1/√t."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolib.adversaries import orthogonal
from ocolib.game import play
from ocolib.learners import inverse_sqrt, steps
from ocolib.mirror import MirrorDescent, bregman
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, Simplex
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    as_losses,
    attacks,
    bowls,
    convex,
    first_lines,
    inside,
    most,
    same_steps,
    slopes,
)


@dataclass(frozen=True)
class Mirror(Theorem):
    """Bound the regret of eager mirror descent with a constant step size by ρ√(2BT).

    Let the losses be convex, the set closed and convex, R 1-strongly convex on it, and ‖z_t‖_* ≤ ρ in all T
    rounds. Against every u in the set with Bregman divergence B(u, w_1) ≤ B = `divergence`, the regret is at
    most B/η + (η/2)Tρ². The best step size η = √(2B/T)/ρ gives ρ√(2BT). The bound is tight: a game on the
    disk attains it.

    Here ‖·‖_* is dual to the norm in which R is strongly convex: the Euclidean norm for ½‖w‖². For entropy on
    the simplex it is half the range of z_t, because adding a constant to all entries does not change the
    game.

    >>> print(Mirror(divergence=2, rho=1, T=100).bound)
    20.0
    """

    item, kind, tightness = "omd.regret", "tight", 1.0
    divergence: float
    rho: float
    T: int
    eta: float | None = None

    @property
    def step(self) -> float:
        """Return the given η, or √(2B/T)/ρ, which minimises the bound."""
        return self.eta or np.sqrt(2 * self.divergence / self.T) / self.rho

    @property
    def bound(self) -> float:
        """Return B/η + (η/2)Tρ²; with the best step this is ρ√(2BT)."""
        if self.eta is None:
            return self.rho * np.sqrt(2 * self.divergence * self.T)
        return self.divergence / self.eta + self.eta * self.T * self.rho**2 / 2

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        eta = getattr(trace.learner, "eta", None)
        fixed = _mirror(trace) and same_steps(eta, self.step, trace.rounds)
        near = _comparator(trace, u)
        return (
            {"mirror descent with the fixed step η": fixed}
            | _common(self, trace, u)
            | {"B(u, w_1) ≤ divergence": near and most(_divergences(trace, u)[0], self.divergence)}
        )

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: three-point inequality, strong convexity, and ab − a²/2η ≤ ηb²/2."""
        eta, z, w = trace.learner.eta, trace.subgradients, trace.plays
        far, moved = _divergences(trace, u), bregman(trace.learner.regularizer, w[1:], w[:-1])
        stay, size, length = (z * (w[:-1] - w[1:])).sum(axis=-1), dual_norms(trace), _lengths(trace)
        return Chain(
            "Mirror descent with a fixed step",
            (
                *first_lines(trace, u),
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
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play entropy on the simplex, linear losses on a disk, and quadratic losses on an interval."""
        yield from attacks(_arena(cls, Simplex(3), NegativeEntropy(), 0.5), list(np.eye(3)), rng)
        yield from attacks(_arena(cls, Ball(2, 2.0), SquaredNorm(), 1.5), slopes(2, 1.5), rng, short=3)
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), SquaredNorm(), 1.0, [0.4]), bowls(), rng, short=3)

    @classmethod
    def worst(cls, T: int = 9) -> Game:
        """Play on the disk, each loss orthogonal to the sum of the earlier ones."""
        stated, over = cls(2.0, 1.5, T), Ball(2, 2.0)
        trace = play(MirrorDescent(over, SquaredNorm(), stated.step), orthogonal(1.5), rounds=T)
        return stated, trace, trace.best(over)


@dataclass(frozen=True)
class MirrorFalling(Theorem):
    """Bound the regret of eager mirror descent with η_t = scale/√t by 2ρ√(BT).

    Let the losses be convex, the set closed and convex, R 1-strongly convex on it, and ‖z_t‖_* ≤ ρ in all T
    rounds. Against every u in the set with B(u, w_t) ≤ B = `divergence` in every round, the regret is at most
    (B/scale + scale·ρ²)√T. The best scale √B/ρ gives 2ρ√(BT). The worst known game attains 0.656 of the
    bound.

    The divergence must be bounded at *every* play w_t. For entropy on the simplex no number bounds it.

    >>> print(MirrorFalling(divergence=1, rho=1, T=100).bound)
    20.0
    """

    item, kind, tightness = "omd.falling", "upper", 0.656
    divergence: float
    rho: float
    T: int
    scale: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale is None:
            object.__setattr__(self, "scale", np.sqrt(self.divergence) / self.rho)

    @property
    def step(self) -> Any:
        """Return the schedule η_t = scale/√t."""
        return inverse_sqrt(self.scale)

    @property
    def bound(self) -> float:
        """Return (B/scale + scale·ρ²)√T; with the best scale this is 2ρ√(BT)."""
        return (self.divergence / self.scale + self.scale * self.rho**2) * np.sqrt(self.T)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        eta = getattr(trace.learner, "eta", None)
        falling = _mirror(trace) and same_steps(eta, self.step, trace.rounds)
        near = _comparator(trace, u)
        return (
            {"mirror descent with the steps η_t": falling}
            | _common(self, trace, u)
            | {"B(u, w_t) ≤ divergence": near and most(_divergences(trace, u)[:-1], self.divergence)}
        )

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of `Mirror`; the weights 1/η_t grow, so the divergences do not telescope."""
        z, w, eta = trace.subgradients, trace.plays, steps(trace.learner.eta, trace.rounds)
        far, moved = _divergences(trace, u), bregman(trace.learner.regularizer, w[1:], w[:-1])
        noise = (eta * dual_norms(trace) ** 2).sum() / 2
        stay = (z * (w[:-1] - w[1:])).sum(axis=-1) - moved / eta
        return Chain(
            "Mirror descent with falling steps",
            (
                *first_lines(trace, u),
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
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play entropy on the simplex, and linear losses on a disk and an interval."""
        yield from attacks(_arena(cls, Simplex(2), NegativeEntropy(), 0.5), list(np.eye(2)), rng)
        yield from attacks(_arena(cls, Ball(2, 2.0), SquaredNorm(), 1.5), slopes(2, 1.5), rng, short=3)
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), SquaredNorm(), 1.0, [0.4]), slopes(1, 1.0), rng)

    @classmethod
    def worst(cls, T: int = 64, end: int = 6) -> Game:
        """Play on [−1, 1] from 1: slopes that alternate, then slopes that drag the play away from 1."""
        stated, over = cls(2.0, 1.0, T), Box([-1.0], [1.0])
        Z = np.where(np.arange(T) % 2, -1.0, 1.0)[:, None]
        Z[T - end :] = 1.0
        trace = play(MirrorDescent(over, SquaredNorm(), stated.step, [1.0]), Z)
        return stated, trace, np.array([-1.0])


# ---------------------------------------------------------------- shared by both theorems


def dual_norms(trace: Any) -> np.ndarray:
    """Return ‖z_t‖_* of each round: on the simplex half the range of z_t, elsewhere the Euclidean norm."""
    z = trace.subgradients
    if isinstance(trace.learner.over, Simplex):
        return (z.max(axis=-1) - z.min(axis=-1)) / 2
    return np.linalg.norm(z, axis=-1)


def _lengths(trace):
    """Return ‖w_{t+1} − w_t‖ for each round: the ℓ1 norm on the simplex, elsewhere the Euclidean norm."""
    moves = np.diff(trace.plays, axis=0)
    simplex = isinstance(trace.learner.over, Simplex)
    return np.abs(moves).sum(axis=-1) if simplex else np.linalg.norm(moves, axis=-1)


def _divergences(trace, u):
    """Return B(u, w_1), …, B(u, w_{T+1})."""
    return bregman(trace.learner.regularizer, np.asarray(u, dtype=float), trace.plays)


def _mirror(trace):
    """Test whether the learner is mirror descent with a strongly convex regulariser."""
    learner = trace.learner
    strong = isinstance(getattr(learner, "regularizer", None), (SquaredNorm, NegativeEntropy))
    return isinstance(learner, MirrorDescent) and strong


def _comparator(trace, u):
    """Test whether the learner is mirror descent on a set that contains u."""
    return _mirror(trace) and inside(trace.learner.over, u)


def _common(stated, trace, u):
    """Return the hypotheses on the rounds, the subgradients, u and the losses."""
    known, near = _mirror(trace), _comparator(trace, u)
    return {
        f"{stated.T} rounds": trace.rounds == stated.T,
        "‖z_t‖_* ≤ ρ": known and most(dual_norms(trace), stated.rho),
        "u is in the set": near,
        "f_t is convex": near and convex(trace, u),
    }


def _arena(cls, over, regularizer, rho, start=None):
    """Return a function that plays mirror descent on `over` with the theorem for that set."""

    def game(losses):
        T, losses = len(losses), as_losses(losses)
        most_of = np.log(over.dim) if isinstance(over, Simplex) else over.diameter**2 / 2
        stated = cls(most_of, rho, T)
        trace = play(MirrorDescent(over, regularizer, stated.step, start), losses)
        u = trace.best(over)
        if cls is MirrorFalling and isinstance(over, Simplex):  # no number bounds all divergences here
            far = max(_divergences(trace, u)[:-1].max(), most_of)
            stated = cls(far, rho, T, np.sqrt(most_of) / rho)
        return stated, trace, u

    return game
