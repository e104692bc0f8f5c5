"""State the logarithmic regret bounds for H-strongly convex losses ("Regret bounds", (3)) and for Pegasos."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.adversaries import at_distance
from ocolib.game import play
from ocolib.learners import OGD, inverse, steps
from ocolib.learners import Pegasos as pegasos
from ocolib.losses import Examples, Quadratic, hinge, values
from ocolib.sets import Ball, Box, Space
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    attacks,
    bowls,
    convex,
    eager,
    inside,
    most,
    same_steps,
    squares,
)


@dataclass(frozen=True)
class StronglyConvex(Theorem):
    """Bound the regret of eager descent on strongly convex losses by (ρ²/2H)(1 + log T).

    This is (3) of "Regret bounds".

    Let the losses be H-strongly convex, H = `curvature`, the set closed and convex, and ‖z_t‖ ≤ ρ in all T
    rounds. Eager descent with η_t = 1/(Ht) has this regret against every u in the set. The bound is attained
    for T = 1; `StronglyConvexSharp` is attained for every T.

    >>> print(StronglyConvex(rho=3, curvature=0.5, T=1).bound)
    9.0
    """

    item, kind, tightness = "shi.thm-ogd", "tight", 1.0
    rho: float
    curvature: float
    T: int

    @classmethod
    def of(cls, trace: Any, rho: float) -> StronglyConvex:
        """Read T, and the H of the step sizes 1/(Ht), from a trace."""
        return cls(rho, curvature_of(trace), trace.rounds)

    @property
    def step(self) -> inverse:
        """Return the schedule η_t = 1/(Ht)."""
        return inverse(1 / self.curvature)

    @property
    def bound(self) -> float:
        """Return (ρ²/2H)(1 + log T)."""
        return self.rho**2 / (2 * self.curvature) * (1 + np.log(self.T))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        return _hypotheses(trace, u, self.curvature, self.T) | {
            "‖z_t‖ ≤ ρ": most(np.linalg.norm(trace.subgradients, axis=-1), self.rho)
        }

    def slacks(self, trace: Any, u: Any) -> np.ndarray:
        """Return the slacks of (4) and (5) in each round, `(3, T)`.

        Row 1, strong convexity: f_t(u) − f_t(w_t) − ⟨z_t, u − w_t⟩ − (H/2)‖w_t − u‖². Row 2, projection:
        (‖w_t − η_t z_t − u‖² − ‖w_{t+1} − u‖²)/2η_t. Row 3, the gradient bound: (η_t/2)(G² − ‖z_t‖²) with G =
        ρ.
        """
        u, w, z, H = validate.vector("u", u, trace.dim), trace.plays, trace.subgradients, self.curvature
        away, eta = squares(w, u), 1 / (H * np.arange(1, trace.rounds + 1))
        bent = values(trace.losses, u) - trace.paid + (z * (w[:-1] - u)).sum(axis=-1) - H / 2 * away[:-1]
        moved = squares(w[:-1] - eta[:, None] * z, u)
        return np.array([bent, (moved - away[1:]) / (2 * eta), eta / 2 * (self.rho**2 - squares(z))])

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the sum of (5) over all rounds; in the lines d_t is ‖w_t − u‖ and G is ρ."""
        H, G, t = self.curvature, self.rho, np.arange(1, self.T + 1)
        lines = [
            *_seen(trace, u, H),
            Line(G**2 / (2 * H) * (1 / t).sum(), "(G²/2H)(1 + ½ + … + 1/T)", "‖z_t‖ ≤ G"),
            Line(G**2 / (2 * H) * (1 + np.log(self.T)), "(G²/2H)(1 + log T)", "the harmonic sum"),
        ]
        return Chain("Logarithmic regret, (3)", tuple(lines))

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play quadratic losses on [−1, 1] and on a disk."""
        yield from _games(lambda trace, u: cls.of(trace, _longest(trace)), rng)

    @classmethod
    def worst(cls) -> Game:
        """Play one quadratic loss on [0, ρ/H] whose minimum is at the end opposite to the start."""
        trace, u = _two_bowls(1)
        return cls(3.0, 0.5, 1), trace, u


@dataclass(frozen=True)
class StronglyConvexSharp(StronglyConvex):
    """Bound the regret of eager descent on strongly convex losses by (ρ²/2H)(1 + ½ + … + 1/T).

    The hypotheses are those of `StronglyConvex`. The bound is tight for every T: without projection, on the
    losses f_t(w) = (H/2)‖w − c_t‖² and against the best point, every line before ‖z_t‖ ≤ ρ is an equality,
    and `adversaries.at_distance` makes every ‖z_t‖ = ρ. See Hazan, Agarwal and Kale (2007) and Bartlett,
    Hazan and Rakhlin (2007).

    >>> print(StronglyConvexSharp(rho=1, curvature=0.5, T=2).bound)
    1.5
    """

    item, kind, tightness = "shi.thm-ogd", "tight", 1.0

    @property
    def bound(self) -> float:
        """Return (ρ²/2H)(1 + ½ + … + 1/T)."""
        return float(self.rho**2 / (2 * self.curvature) * (1.0 / np.arange(1, self.T + 1)).sum())

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of `StronglyConvex` without its last line."""
        longer = super().chain(trace, u)
        return Chain("Logarithmic regret, (3) with the harmonic sum", longer.lines[:-1])

    @classmethod
    def worst(cls, T: int = 7) -> Game:
        """Play quadratic losses with centres at distance ρ/H from the plays, without projection."""
        trace = play(OGD(Space(2), inverse(2.0), "eager"), at_distance(3.0, 0.5), rounds=T)
        return cls(3.0, 0.5, T), trace, trace.best(Space(2))


@dataclass(frozen=True, eq=False)
class StronglyConvexSeen(Theorem):
    """Bound the regret of eager descent on strongly convex losses by Σ ‖z_t‖²/(2Ht), in terms of the ‖z_t‖.

    Let the losses be H-strongly convex, H = `curvature`, and the set closed and convex, possibly the whole
    space. Eager descent with η_t = 1/(Ht) has this regret against every u in the set. `sizes` holds the
    ‖z_t‖; `StronglyConvexSeen.of(trace)` reads them from a trace. The bound is tight: two quadratic losses
    attain it.

    >>> print(StronglyConvexSeen(sizes=[1.0, 2.0], curvature=0.5).bound)
    3.0
    """

    item, kind, tightness = "shi.rem.no-projection", "tight", 1.0
    sizes: Any
    curvature: float

    @classmethod
    def of(cls, trace: Any) -> StronglyConvexSeen:
        """Read the ‖z_t‖ and H from a trace, which may hold a batch of games."""
        return cls(np.linalg.norm(trace.subgradients, axis=-1), curvature_of(trace))

    @property
    def step(self) -> inverse:
        """Return the schedule η_t = 1/(Ht)."""
        return inverse(1 / self.curvature)

    @property
    def bound(self) -> Any:
        """Return Σ ‖z_t‖²/(2Ht)."""
        t = np.arange(1, self.sizes.shape[-1] + 1)
        return (np.square(self.sizes) / (2 * self.curvature * t)).sum(axis=-1)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        found = np.linalg.norm(trace.subgradients, axis=-1)
        return _hypotheses(trace, u, self.curvature, self.sizes.shape[-1]) | {
            "`sizes` are the ‖z_t‖ of this trace": found.shape == self.sizes.shape
            and np.allclose(found, self.sizes, rtol=1e-9)
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of `StronglyConvex` up to Σ ‖z_t‖²/2Ht."""
        return Chain("Logarithmic regret, (3) with what was seen", tuple(_seen(trace, u, self.curvature)))

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play quadratic losses on [−1, 1] and on a disk."""
        yield from _games(lambda trace, u: cls.of(trace), rng)

    @classmethod
    def worst(cls) -> Game:
        """Play two quadratic losses, with their minima at the two ends of [0, ρ/H]."""
        trace, u = _two_bowls(2)
        return cls.of(trace), trace, u


@dataclass(frozen=True)
class Pegasos(Theorem):
    """Bound the regret of Pegasos by (ρ²/2H)(1 + log T) (Lemma 1 of Pegasos, corrected).

    The losses are hinge losses plus (H/2)‖w‖², H = `reg`, on examples with ‖x_t‖ ≤ R = `radius`. Eager
    descent from 0 with η_t = 1/(Ht) has this regret with ρ = 2R against every u. If each step is projected
    onto the ball of radius 1/√H (`project=True`), it has this regret with ρ = √H + R against every u in that
    ball. The worst known game attains 0.443 of the bound.

    >>> print(Pegasos(radius=1, reg=0.5, T=1).bound)
    4.0
    """

    item, kind, tightness = "shi.claim.pegasos-lemma1", "upper", 3 / (4 + 4 * np.log(2))
    radius: float
    reg: float
    T: int
    project: bool = False

    @property
    def rho(self) -> float:
        """Return 2R without the projection step, √H + R with it: the bound on ‖z_t‖."""
        return np.sqrt(self.reg) + self.radius if self.project else 2 * self.radius

    @property
    def step(self) -> inverse:
        """Return the schedule η_t = 1/(Ht)."""
        return inverse(1 / self.reg)

    @property
    def bound(self) -> float:
        """Return (ρ²/2H)(1 + log T)."""
        return self.rho**2 / (2 * self.reg) * (1 + np.log(self.T))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        losses, learner = trace.losses, trace.learner
        if isinstance(losses, list) and all(hasattr(f, "x") and hasattr(f, "phi") for f in losses):
            losses = Examples(
                np.array([f.x for f in losses]), np.array([f.y for f in losses]), losses[0].phi, losses[0].reg
            )
        data = isinstance(losses, Examples)
        over = Ball(trace.dim, 1 / np.sqrt(self.reg)) if self.project else Space(trace.dim)
        same = getattr(learner, "over", None)
        alike = type(same) is type(over) and np.isclose(
            getattr(same, "radius", 0.0), getattr(over, "radius", 0.0)
        )
        return _hypotheses(trace, u, self.reg, self.T) | {
            "all of space, or the ball of radius 1/√H if projected": bool(alike),
            "w_1 = 0": not trace.points[0].any(),
            "hinge losses plus (H/2)‖w‖²": data
            and type(losses.phi) is type(hinge([[1.0]], [1.0]).phi)
            and np.isclose(losses.reg, self.reg),
            "‖x_t‖ ≤ R": data and most(np.linalg.norm(losses.X, axis=-1), self.radius),
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of `StronglyConvex` with this ρ."""
        return StronglyConvex(self.rho, self.reg, self.T).chain(trace, u)

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play four examples in the plane, with and without projection, against the last play."""

        def arena(project):
            def game(losses):
                X, y = (np.array(part) for part in zip(*losses, strict=True))
                trace = play(pegasos(2, 0.5, project), hinge(X, y).regularized(0.5))
                return cls(1.0, 0.5, len(losses), project), trace, trace.last

            return game

        moves = list(product(([1.0, 0.0], [0.6, -0.8]), (-1.0, 1.0)))
        for project in (False, True):
            yield from attacks(arena(project), moves, rng, short=3)

    @classmethod
    def worst(cls, radius: float = 0.5, reg: float = 3.0) -> Game:
        """Play the same point twice, with labels +1 and −1, against u = 0."""
        trace = play(pegasos(1, reg), hinge([[radius]] * 2, [1.0, -1.0]).regularized(reg))
        return cls(radius, reg, 2), trace, np.zeros(1)


# ---------------------------------------------------------------- shared by the four theorems


def curvature_of(trace: Any) -> float:
    """Return the H of a trace of eager descent with η_t = 1/(Ht); raise a `ValueError` for other learners."""
    if eager(trace):
        eta = steps(trace.learner.eta, trace.rounds)
        if eta.ndim == 1 and np.allclose(eta * np.arange(1, trace.rounds + 1), eta[0], rtol=1e-9, atol=0.0):
            return float(1 / eta[0])
    raise ValueError(f"trace must come from eager OGD with eta=inverse(1/curvature), got {trace.learner!r}")


def _hypotheses(trace, u, H, T):
    """Return the hypotheses on the learner, the rounds, u and the losses."""
    near = eager(trace) and inside(trace.learner.over, u)
    return {
        "eager descent (eager OGD) with η_t = 1/(Ht)": eager(trace)
        and same_steps(trace.learner.eta, inverse(1 / H), trace.rounds),
        f"{T} rounds": trace.rounds == T,
        "u is in the set": near,
        "f_t is H-strongly convex": near and convex(trace, u, H),
    }


def _seen(trace, u, H):
    """Return the lines of the proof up to Σ ‖z_t‖²/2Ht."""
    u, w, z, T = validate.vector("u", u, trace.dim), trace.plays, trace.subgradients, trace.rounds
    t, away = np.arange(1, T + 1), squares(w, u)
    seen = (squares(z) / (2 * H * t)).sum()
    linear = (z * (w[:-1] - u)).sum() - H / 2 * away[:-1].sum()
    summed = (H * t / 2 * (away[:-1] - away[1:]) - H / 2 * away[:-1]).sum() + seen
    return [
        Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
        Line(linear, "Σ ⟨z_t, w_t − u⟩ − H d_{t}²/2", "strong convexity"),
        Line(summed, "(5) summed, ‖z_t‖ in place of G", "projection"),
        Line(seen - H * T / 2 * away[-1], "Σ ‖z_t‖²/2Ht − HT d_{T+1}²/2", "all others cancel"),
        Line(seen, "Σ ‖z_t‖²/2Ht", "the last square is dropped"),
    ]


def _longest(trace):
    """Return the largest ‖z_t‖ of a trace, but at least 0.1, so that the bound is positive."""
    return max(float(np.linalg.norm(trace.subgradients, axis=-1).max()), 0.1)


def _games(stated, rng):
    """Yield test games on [−1, 1] and on a disk; `stated(trace, u)` returns the theorem for a game."""

    def arena(over, H):
        def game(losses):
            trace = play(OGD(over, inverse(1 / H), "eager"), losses)
            u = trace.best(over)
            return stated(trace, u), trace, u

        return game

    yield from attacks(arena(Box([-1.0], [1.0]), 0.5), bowls(), rng, short=3)
    plane = [Quadratic(c, 1.5) for c in ([2.0, 0.0], [0.0, -1.0], [-1.0, 1.0])]
    yield from attacks(arena(Ball(2), 1.5), plane, rng, short=3)


def _two_bowls(T):
    """Play on [0, G/H] from the right end a quadratic loss with minimum 0, then one with minimum G/H.

    Here G = 3 and H = ½.
    """
    over, losses = Box([0.0], [6.0]), [Quadratic([0.0], 0.5), Quadratic([6.0], 0.5)][:T]
    trace = play(OGD(over, inverse(2.0), "eager", start=[6.0]), losses)
    return trace, trace.best(over)
