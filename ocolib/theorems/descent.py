"""State Theorem 2 of Lecture 13 on subgradient descent: as printed, sharp, and without a horizon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.adversaries import orthogonal, zigzag
from ocolib.game import play
from ocolib.learners import OGD, inverse_sqrt, steps
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Hull
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    as_losses,
    attacks,
    bowls,
    convex,
    eager,
    inside,
    leader_of,
    most,
    same_step,
    same_steps,
    slopes,
    squares,
)


@dataclass(frozen=True)
class Descent(Theorem):
    """Bound the regret of lazy subgradient descent by Dρ√(2T) (Theorem 2 of Lecture 13).

    Let the losses be convex, the set closed and convex with 0 in it, and ‖z_t‖ ≤ ρ in all T rounds. Lazy
    descent w_{t+1} = Π(−η(z_1 + … + z_t)) has regret at most ηTρ² + D²/2η against every u in the set with ‖u‖
    ≤ D. The best step size η = D/(ρ√(2T)) gives Dρ√(2T). The bound is not tight: the worst known game attains
    3/4 of it.

    Descent may also start at another point w_1 of the set; then ‖u − w_1‖ ≤ D replaces ‖u‖ ≤ D. The diameter
    of the set always serves as D.

    >>> theorem = Descent(diameter=2, rho=1, T=50)
    >>> print(theorem.bound, theorem.step)
    20.0 0.2
    """

    item, kind, tightness = "ox13.thm2", "upper", 0.75
    diameter: float
    rho: float
    T: int
    eta: float | None = None

    @classmethod
    def of(cls, trace: Any, diameter: float, rho: float) -> Descent:
        """Read T and η from a trace."""
        return cls(diameter, rho, trace.rounds, _step_of(trace))

    @property
    def step(self) -> float:
        """Return the given η, or D/(ρ√(2T)), which minimises the bound."""
        return self.eta or self.diameter / (self.rho * np.sqrt(2 * self.T))

    @property
    def bound(self) -> float:
        """Return ηTρ² + D²/2η; with the best step this is Dρ√(2T)."""
        if self.eta is None:
            return self.diameter * self.rho * np.sqrt(2 * self.T)
        return self.eta * self.T * self.rho**2 + self.diameter**2 / (2 * self.eta)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        leader = _lazy(trace)
        return {
            "lazy descent (lazy OGD) with the step η": leader is not None and same_step(leader.eta, self.step)
        } | _common(self, trace, u, self.diameter, "D")

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate lines (8), (9), (10) and the last line of the lecture, without its stray factor D."""
        z, w, eta, u, ends = _parts(trace, u)
        return Chain(
            "Theorem 2, the lecture's chain",
            (
                Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
                Line((z * (w[:-1] - u)).sum(), "(8) Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
                Line(
                    (z * (w[:-1] - w[1:])).sum() + ends,
                    "(9) Σ ⟨z_t, w_t − w_{t+1}⟩ + (‖u‖² − ‖w_1‖²)/2η",
                    "Theorem 1 on the surrogates ⟨z_t, ·⟩",
                ),
                Line(
                    eta * squares(z).sum() + ends,
                    "(10) η Σ ‖z_t‖² + (‖u‖² − ‖w_1‖²)/2η",
                    "Cauchy–Schwarz; projection does not expand",
                ),
                Line(
                    eta * self.T * self.rho**2 + self.diameter**2 / (2 * eta),
                    "η T ρ² + D²/2η",
                    "‖z_t‖ ≤ ρ, ‖u‖ ≤ D",
                ),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses on [0, 1] and on a disk, and quadratic losses on an interval."""
        yield from attacks(_arena(cls, Box([0.0], [1.0]), 1.5), slopes(1, 1.5), rng)
        yield from attacks(_arena(cls, Ball(2, 2.0), 1.5, eta=0.3), slopes(2, 1.5), rng, short=3)
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), 1.0), bowls(), rng, short=3)

    @classmethod
    def worst(cls, T: int = 32) -> Game:
        """Play losses that alternate between two directions; the regret is 3/4 of the bound."""
        Z, path = zigzag(2.0, 1.5, T)
        stated, over = cls(2.0, 1.5, T), Hull(path)
        trace = play(OGD(over, stated.step), Z)
        return stated, trace, trace.best(over)


@dataclass(frozen=True)
class DescentSharp(Theorem):
    """Bound the regret of subgradient descent by Bρ√T (Theorem 2 of Lecture 13 with the sharp constant).

    Let the losses be convex, the set closed and convex, w_1 in it, and ‖z_t‖ ≤ ρ in all T rounds. Descent
    with step size η, lazy with centre w_1 or eager from w_1, has regret at most (η/2)Tρ² + B²/2η against
    every u in the set with ‖u − w_1‖ ≤ B = `radius`. The best step size η = B/(ρ√T) gives Bρ√T. This is
    tight: for every T a game on the disk attains it.

    >>> theorem = DescentSharp(radius=2, rho=1, T=100)
    >>> print(theorem.bound, theorem.step)
    20.0 0.2
    """

    item, kind, tightness = "ox13.thm2", "tight", 1.0
    radius: float
    rho: float
    T: int
    eta: float | None = None

    @classmethod
    def of(cls, trace: Any, radius: float, rho: float) -> DescentSharp:
        """Read T and η from a trace."""
        return cls(radius, rho, trace.rounds, _step_of(trace))

    @property
    def step(self) -> float:
        """Return the given η, or B/(ρ√T), which minimises the bound."""
        return self.eta or self.radius / (self.rho * np.sqrt(self.T))

    @property
    def bound(self) -> float:
        """Return (η/2)Tρ² + B²/2η; with the best step this is Bρ√T."""
        if self.eta is None:
            return self.radius * self.rho * np.sqrt(self.T)
        return self.eta * self.T * self.rho**2 / 2 + self.radius**2 / (2 * self.eta)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        leader = trace.learner if eager(trace) else _lazy(trace)
        return {
            "descent (OGD, lazy or eager) with the step η": leader is not None
            and same_step(leader.eta, self.step)
        } | _common(self, trace, u, self.radius, "B")

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the lecture's proof, keeping the term ‖w_{t+1} − w_t‖²/2η of (9) that the lecture drops.

        It halves the factor η of the lecture. For eager descent the distances to u telescope instead.
        """
        z, w, eta, u, ends = _parts(trace, u)
        moves, title = np.diff(w, axis=0), "Theorem 2, the sharp chain"
        third = Line(
            -(z * moves).sum() - squares(moves).sum() / (2 * eta) + ends,
            "(9) Σ ⟨z_t, w_t − w_{t+1}⟩ − ‖w_{t+1} − w_t‖²/2η + (‖u‖² − ‖w_1‖²)/2η",
            "Theorem 1 on the surrogates ⟨z_t, ·⟩, part of its slack kept",
        )
        fourth = Line(
            eta / 2 * squares(z).sum() + ends,
            "(10) (η/2) Σ ‖z_t‖² + (‖u‖² − ‖w_1‖²)/2η",
            "ab − a²/2η ≤ ηb²/2",
        )
        if eager(trace):
            title = "Theorem 2, the sharp chain, eager"
            near, far, noise = squares(w[0], u), squares(w[-1], u), eta / 2 * squares(z).sum()
            third = Line(
                (near - far) / (2 * eta) + noise,
                "(η/2) Σ ‖z_t‖² + (‖w_1 − u‖² − ‖w_{T+1} − u‖²)/2η",
                "projection brings w_{t+1} no farther from u; the squares telescope",
            )
            fourth = Line(near / (2 * eta) + noise, "(η/2) Σ ‖z_t‖² + ‖w_1 − u‖²/2η", "a square is dropped")
        return Chain(
            title,
            (
                Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
                Line((z * (w[:-1] - u)).sum(), "(8) Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
                third,
                fourth,
                Line(
                    eta * self.T * self.rho**2 / 2 + self.radius**2 / (2 * eta),
                    "(η/2) T ρ² + B²/2η",
                    "‖z_t‖ ≤ ρ, ‖u‖ ≤ B",
                ),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses on a disk and quadratic losses on an interval, lazily and eagerly."""
        for projection in ("lazy", "eager"):
            yield from attacks(_arena(cls, Ball(2, 2.0), 1.5, projection), slopes(2, 1.5), rng, short=3)
            yield from attacks(
                _arena(cls, Box([-1.0], [1.0]), 1.0, projection, [0.4], 0.7), bowls(), rng, short=3
            )

    @classmethod
    def worst(cls, T: int = 9) -> Game:
        """Play each loss orthogonal to the sum of the earlier ones.

        The learner gains nothing, while the best point of the disk gains Bρ√T.
        """
        stated, over = cls(2.0, 1.5, T), Ball(2, 2.0)
        trace = play(OGD(over, stated.step), orthogonal(1.5), rounds=T)
        return stated, trace, trace.best(over)


@dataclass(frozen=True)
class DescentAnytime(Theorem):
    """Bound the regret of lazy descent with decreasing steps by Bρ√(2T), for every T at once.

    This is Theorem 2 of Lecture 13 without a horizon. Let the losses be convex, the set closed and convex,
    w_1 in it, and ‖z_t‖ ≤ ρ in every round. Lazy descent w_{t+1} = Π(w_1 − η_t(z_1 + … + z_t)) with step
    sizes η_t = B/(ρ√(2t)) has regret at most Bρ√(2T) after every T, against every u in the set with ‖u − w_1‖
    ≤ B = `radius`. The worst known game attains 0.707 of it.

    >>> print(DescentAnytime(radius=2, rho=1, T=50).bound)
    20.0
    """

    item, kind, tightness = "ox13.thm2", "upper", np.sqrt(0.5)
    radius: float
    rho: float
    T: int

    @property
    def step(self) -> inverse_sqrt:
        """Return the schedule η_t = B/(ρ√(2t))."""
        return inverse_sqrt(self.radius / (self.rho * np.sqrt(2)))

    @property
    def bound(self) -> float:
        """Return Bρ√(2T)."""
        return self.radius * self.rho * np.sqrt(2 * self.T)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        lazy = isinstance(learner, OGD) and learner.projection == "lazy"
        return {
            "lazy descent (lazy OGD) with the steps η_t": lazy
            and same_steps(learner.eta, self.step, trace.rounds)
        } | _common(self, trace, u, self.radius, "B")

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate Theorem 1 with decreasing steps: round t uses h_t = η_{t−1}, the first round h_1 = η_1.

        The play w_t minimises Z_{t−1} + R/h_t, so round t costs at most (h_t/2)‖z_t‖² more than the
        difference min(Z_t + R/h_t) − min(Z_{t−1} + R/h_t). A smaller h raises the minimum, so these
        differences add up to at most ⟨Z_T, u⟩ + R(u)/h_T.
        """
        z, w, u = trace.subgradients, trace.plays, validate.vector("u", u, trace.dim)
        eta = steps(trace.learner.eta, self.T)
        h = np.append(eta[0], eta[:-1])
        return Chain(
            "Theorem 2 without a horizon",
            (
                Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
                Line((z * (w[:-1] - u)).sum(), "(8) Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
                Line(
                    (h * squares(z)).sum() / 2 + squares(u, w[0]) / (2 * h[-1]),
                    "½ Σ h_t ‖z_t‖² + ‖u − w_1‖²/2h_T",
                    "Theorem 1 with the step h_t of round t, which falls",
                ),
                Line(
                    h.sum() * self.rho**2 / 2 + self.radius**2 / (2 * h[-1]),
                    "½ ρ² Σ h_t + B²/2h_T",
                    "‖z_t‖ ≤ ρ, ‖u − w_1‖ ≤ B",
                ),
                Line(self.bound, "B ρ √(2T)", "Σ 1/√t ≤ 2√T − 1"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses on a disk and quadratic losses on an interval."""
        yield from attacks(_arena(cls, Ball(2, 2.0), 1.5), slopes(2, 1.5), rng, short=3)
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), 1.0), bowls(), rng, short=3)

    @classmethod
    def worst(cls, T: int = 8) -> Game:
        """Play each loss orthogonal to the sum of the earlier ones."""
        stated, over = cls(2.0, 1.5, T), Ball(2, 2.0)
        trace = play(OGD(over, stated.step), orthogonal(1.5), rounds=T)
        return stated, trace, trace.best(over)


# ---------------------------------------------------------------- shared by the three theorems


def _lazy(trace):
    """Return the FTRL form of lazy descent, or None for other learners."""
    leader = leader_of(trace, surrogates=True)
    return leader if leader is not None and isinstance(leader.regularizer, SquaredNorm) else None


def _step_of(trace):
    """Return the constant step size of the descent that produced the trace."""
    leader = trace.learner if eager(trace) else _lazy(trace)
    if leader is None or callable(leader.eta):
        raise ValueError(f"trace must come from OGD with a constant eta, got {trace.learner!r}")
    return leader.eta


def _start(trace):
    """Return the centre of lazy descent, or w_1 for eager descent."""
    leader = _lazy(trace)
    if leader is None:
        return trace.points[0]
    return np.zeros(trace.dim) if leader.regularizer.center is None else leader.regularizer.center


def _common(stated, trace, u, size, letter):
    """Return the hypotheses on the start, the losses and u."""
    over = getattr(trace.learner, "over", None) or getattr(leader_of(trace, surrogates=True), "over", None)
    near = inside(over, u)
    start = trace.points[0] if isinstance(stated, DescentAnytime) else _start(trace)
    return {
        f"{stated.T} rounds": trace.rounds == stated.T,
        "0, or the start, is in the set, and it is w_1": inside(over, start)
        and np.allclose(start, trace.points[0]),
        "‖z_t‖ ≤ ρ": most(np.linalg.norm(trace.subgradients, axis=-1), stated.rho),
        "u is in the set": near,
        f"‖u − w_1‖ ≤ {letter}": near and most(np.sqrt(squares(np.asarray(u, dtype=float), start)), size),
        "f_t is convex": near and convex(trace, u),
    }


def _parts(trace, u):
    """Return z, w, η, u and (‖u‖² − ‖w_1‖²)/2η, with norms measured from the start."""
    u, eta, start = validate.vector("u", u, trace.dim), _step_of(trace), _start(trace)
    ends = (squares(u, start) - squares(trace.points[0], start)) / (2 * eta)
    return trace.subgradients, trace.plays, eta, u, ends


def _arena(cls, over, rho, projection="lazy", start=None, eta=None):
    """Return a function that plays descent on `over` with the theorem for that set."""

    def game(losses):
        first = over.project(np.zeros(over.dim)) if start is None else np.array(start)
        size = over.diameter if cls is Descent else over.farthest(first)
        stated = cls(size, rho, len(losses)) if eta is None else cls(size, rho, len(losses), eta)
        trace = play(OGD(over, stated.step, projection, start), as_losses(losses))
        return stated, trace, trace.best(over)

    return game
