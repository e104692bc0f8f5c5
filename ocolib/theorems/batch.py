"""State the guarantees of the average and the last iterate of descent on one convex function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.batch import Pieces, linear_decay, resisting
from ocolib.game import play
from ocolib.learners import OGD
from ocolib.losses import Linear, Quadratic
from ocolib.sets import Ball, Box, Space
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    convex,
    eager,
    inside,
    most,
    same_steps,
    squares,
)


@dataclass(frozen=True)
class AverageIterate(Theorem):
    """Bound the error f(w̄) − f(u) of the average iterate of descent by Rρ/√T.

    Let f be convex, the set closed and convex, w_1 and u in it with ‖u − w_1‖ ≤ R = `radius`, and let the
    subgradients of f satisfy ‖z_t‖ ≤ ρ in all T rounds. Eager descent with step size η = R/(ρ√T) has this
    error, where w̄ is the average of w_1, …, w_T. The bound is tight.

    >>> print(AverageIterate(radius=2, rho=1, T=100).bound)
    0.2
    """

    item, kind, tightness = "o2b.thm.average", "tight", 1.0
    radius: float
    rho: float
    T: int

    @property
    def step(self) -> float:
        """Return R/(ρ√T)."""
        return self.radius / (self.rho * np.sqrt(self.T))

    @property
    def bound(self) -> float:
        """Return Rρ/√T."""
        return self.radius * self.rho / np.sqrt(self.T)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        return _common(self, trace, u, self.step, self.T)

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return f(w̄) − f(u)."""
        f = _function(trace)
        return f.value(trace.points.mean(axis=0)) - f.value(validate.vector("u", u, trace.dim))

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: Jensen's inequality, then the regret divided by T."""
        u, z, w, eta = validate.vector("u", u, trace.dim), trace.subgradients, trace.plays, self.step
        near, far = squares(w[0], u), squares(w[-1], u)
        noise = eta / (2 * self.T) * squares(z).sum()
        return Chain(
            "The average of descent",
            (
                Line(self.measure(trace, u), "f(w̄) − f(u)"),
                Line(trace.regret(against=u) / self.T, "R_T(u)/T", "Jensen"),
                Line((z * (w[:-1] - u)).sum() / self.T, "(1/T) Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient"),
                Line(
                    (near - far) / (2 * eta * self.T) + noise,
                    "(‖w_1 − u‖² − ‖w_{T+1} − u‖²)/2ηT + (η/2T) Σ ‖z_t‖²",
                    "projection; the squares telescope",
                ),
                Line(self.bound, "Rρ/√T", "‖u − w_1‖ ≤ R, ‖z_t‖ ≤ ρ, the step"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play piecewise linear, linear and quadratic functions on balls, boxes and the whole space."""
        return _descents(cls, rng)

    @classmethod
    def worst(cls, T: int = 9) -> Game:
        """Descend on ρ·max w_i in dimension T: each round uses a new coordinate."""
        stated, u = cls(2.0, 1.5, T), np.full(T, -2.0 / np.sqrt(T))
        trace = play(OGD(Space(T), stated.step, "eager"), [resisting(T, 1.5)] * T)
        return stated, trace, u


@dataclass(frozen=True)
class LastIterate(Theorem):
    """Bound the error f(w_M) − f(u) of the last iterate of descent by Rρ/√M, where M = N + 1.

    Let f be convex, the set closed and convex, w_1 and u in it with ‖u − w_1‖ ≤ R = `radius`, and let the
    subgradients of f at w_1, …, w_M have norm at most ρ. Eager descent for N rounds with the linearly
    decreasing step sizes η_t = R(M − t)/(ρM√M) has this error. The bound is tight, and no method in the span
    of N subgradients has a better one.

    >>> print(LastIterate(radius=2, rho=1, N=99).bound)
    0.2
    """

    item, kind, tightness = "o2b.thm.last", "tight", 1.0
    radius: float
    rho: float
    N: int

    @property
    def scale(self) -> float:
        """Return c = R/(ρM√M), the last step size."""
        return self.radius / (self.rho * (self.N + 1) ** 1.5)

    @property
    def step(self) -> linear_decay:
        """Return the schedule η_t = c(M − t)."""
        return linear_decay(self.scale, self.N)

    @property
    def bound(self) -> float:
        """Return Rρ/√(N + 1)."""
        return self.radius * self.rho / np.sqrt(self.N + 1)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        found = _common(self, trace, u, self.step, self.N)
        f = _function(trace)
        last = f is not None and most(np.linalg.norm(f.subgradient(trace.last)), self.rho)
        return found | {"‖z_M‖ ≤ ρ, z_M a subgradient at w_M": last}

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return f(w_M) − f(u)."""
        f = _function(trace)
        return f.value(trace.last) - f.value(validate.vector("u", u, trace.dim))

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof with the averages y_0 = u, y_t = (w_t + (M − t)y_{t−1})/(M − t + 1)."""
        u, w, f = validate.vector("u", u, trace.dim), trace.plays, _function(trace)
        M, c = self.N + 1, self.scale
        z = np.vstack([trace.subgradients, f.subgradient(trace.last)])
        y, total = u, 0.0
        for t in range(1, M):
            y = (w[t - 1] + (M - t) * y) / (M - t + 1)
            total += z[t - 1] @ (w[t - 1] - y) / (M - t)
        total += z[-1] @ (w[-1] - y)
        return Chain(
            "The last play of descent with linearly falling steps",
            (
                Line(self.measure(trace, u), "f(w_M) − f(u)"),
                Line(
                    total,
                    "Σ ⟨z_t, w_t − y_t⟩/(M − t) + ⟨z_M, w_M − y_N⟩",
                    "z_t is a subgradient; the other values cancel",
                ),
                Line(
                    squares(w[0], u) / (2 * c * M**2) + c / 2 * squares(z).sum(),
                    "‖w_1 − u‖²/2cM² + (c/2) Σ ‖z_t‖²",
                    "projection; telescopes; 2ab ≤ a² + b²",
                ),
                Line(self.bound, "Rρ/√M", "‖u − w_1‖ ≤ R, ‖z_t‖ ≤ ρ, c = R/(ρM√M)"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play piecewise linear, linear and quadratic functions on balls, boxes and the whole space."""
        return _descents(cls, rng)

    @classmethod
    def worst(cls, N: int = 8) -> Game:
        """Descend on ρ·max w_i in dimension N + 1, so that one coordinate never changes."""
        M = N + 1
        stated, u = cls(2.0, 1.5, N), np.full(M, -2.0 / np.sqrt(M))
        return stated, play(OGD(Space(M), stated.step, "eager"), [resisting(M, 1.5)] * N), u


# ---------------------------------------------------------------- shared by both theorems


def _descents(theorem, rng):
    """Yield games of descent with the step sizes of the theorem, on all test functions."""
    for f, over, start, u, rho in _arenas(rng):
        rounds, R = int(rng.integers(1, 12)), float(np.linalg.norm(u - start)) * rng.uniform(1, 1.3) + 1e-6
        stated = theorem(R, rho, rounds)
        yield stated, play(OGD(over, stated.step, "eager", start), [f] * rounds), u


def _function(trace) -> Any:
    """Return the function that is played in all rounds, or None if they differ."""
    losses = trace.losses
    if isinstance(losses, np.ndarray):
        return Linear(losses[0]) if losses.ndim == 2 and (losses == losses[0]).all() else None
    one = isinstance(losses, list) and all(type(f) is type(losses[0]) and f == losses[0] for f in losses)
    return losses[0] if one else None


def _common(stated, trace, u, step, rounds):
    """Return the hypotheses on the learner, the function and u."""
    over, one = getattr(trace.learner, "over", None), _function(trace) is not None
    near = inside(over, u)
    return {
        "eager descent (eager OGD) with the step of the theorem": eager(trace)
        and trace.rounds == rounds
        and same_steps(trace.learner.eta, step, trace.rounds),
        f"{rounds} rounds": trace.rounds == rounds,
        "the same function in every round": one,
        "‖z_t‖ ≤ ρ": most(np.linalg.norm(trace.subgradients, axis=-1), stated.rho),
        "u is in the set": near,
        "‖u − w_1‖ ≤ R": near
        and most(np.sqrt(squares(np.asarray(u, dtype=float), trace.points[0])), stated.radius),
        "f is convex": one and near and convex(trace, u) and _convex_at(trace),
    }


def _convex_at(trace):
    """Test whether f(w_s) ≥ f(w_t) + ⟨z_t, w_s − w_t⟩ for all pairs of plays."""
    return all(convex(trace, w) for w in trace.plays)


def _arenas(rng):
    """Yield (f, set, w_1, u, ρ), where ρ bounds the norms of the subgradients of f on the set."""
    for dim in (1, 2, 4):
        for _ in range(4):
            f = Pieces(rng.integers(-2, 3, (4, dim)), rng.integers(-2, 3, 4) / 2)
            rho = max(float(np.linalg.norm(f.slopes, axis=1).max()), 0.5)
            ball, box = Ball(dim, 1.5), Box(np.full(dim, -1.0), np.full(dim, 1.0))
            for over in (Space(dim), ball, box):
                start, u = over.project(rng.normal(size=dim)), over.project(3 * rng.normal(size=dim))
                yield f, over, start, u, rho
    for _ in range(4):  # ½(w − c)² on an interval, and a line
        bowl, interval = Quadratic([rng.uniform(-1, 1)], 1.0), Box([-1.0], [1.0])
        yield bowl, interval, np.array([rng.uniform(-1, 1)]), np.array([rng.uniform(-1, 1)]), 4.0
        yield Linear([1.0, -1.0]), Ball(2), np.zeros(2), Ball(2).project(rng.normal(size=2)), 1.5
