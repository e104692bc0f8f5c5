"""State Theorem 4.1.3 of Lecture 4 (Zinkevich): the dynamic regret of eager descent, as printed and sharp."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.game import play
from ocolib.learners import OGD, inverse_sqrt, steps
from ocolib.losses import Quadratic
from ocolib.sets import Ball, Box
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    as_losses,
    attacks,
    convex,
    eager,
    inside,
    most,
    same_steps,
    slopes,
    squares,
)


@dataclass(frozen=True)
class Zinkevich(Theorem):
    """Bound the dynamic regret of eager descent by (D²/2 + ρ² + 2DL)√T (Theorem 4.1.3, as printed).

    Let the losses be convex, the set closed and convex with diameter at most D, and ‖z_t‖ ≤ ρ in all T
    rounds. Eager descent with η_t = 1/√t from any w_1 in the set satisfies Σ f_t(w_t) − f_t(u_t) ≤ (D²/2 + ρ²
    + 2DL)√T for every path u_1, …, u_T in the set whose length Σ ‖u_{t+1} − u_t‖ is at most L = `path`. The
    worst known game attains 0.976 of the bound.

    >>> print(Zinkevich(diameter=2, rho=1, path=0, T=100).bound)
    30.0
    """

    item, kind, tightness = "zin4.thm4.1.3", "upper", 0.976
    diameter: float
    rho: float
    path: float
    T: int

    @classmethod
    def of(cls, trace: Any, u: Any, diameter: float, rho: float) -> Zinkevich:
        """Read T from a trace and L from the path u_1, …, u_T."""
        return cls(diameter, rho, _length(trace, u), trace.rounds)

    @property
    def step(self) -> inverse_sqrt:
        """Return the schedule η_t = 1/√t."""
        return inverse_sqrt(1.0)

    @property
    def bound(self) -> float:
        """Return (D²/2 + ρ² + 2DL)√T."""
        return (self.diameter**2 / 2 + self.rho**2 + 2 * self.diameter * self.path) * np.sqrt(self.T)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        return _hypotheses(self, trace, u)

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the dynamic regret Σ f_t(w_t) − f_t(u_t)."""
        return trace.dynamic_regret(_path(trace, u))

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof as printed, which bounds the drift by the diameter.

        In the lines, L_t is ‖u_{t+1} − u_t‖, "noise" is ½Σ η_t‖z_t‖², and "drift" is
        Σ (‖w_{t+1} − u_{t+1}‖² − ‖w_{t+1} − u_t‖²)/2η_t.
        """
        lines = [
            *_by_diameter(trace, u, self),
            Line(self.bound, "(D²/2 + ρ² + 2D·L)√T, as printed", "2D·L for D·L, √T for √(T−1)"),
        ]
        return Chain("Theorem 4.1.3, drift from the diameter", tuple(lines))

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses on [0, 1] and a disk, and quadratic losses, against points and moving paths."""
        yield from _games(cls, rng, 1.0)

    @classmethod
    def worst(cls, T: int = 10_000) -> Game:
        """Play losses on [0, 1] that make descent oscillate at 0 and then drag it to 1."""
        over = Box([0.0], [1.0])
        trace = play(OGD(over, inverse_sqrt(1.0), "eager", [0.0]), zigzag_and_drag(T))
        return cls(1.0, 1.0, 0.0, T), trace, trace.best(over)


@dataclass(frozen=True, eq=False)
class ZinkevichSharp(Theorem):
    """Bound the dynamic regret of eager descent with sharper constants than Theorem 4.1.3 of Lecture 4.

    The hypotheses are those of `Zinkevich`, with steps η_t = σ/√t for any σ = `scale` > 0. The regret is at
    most (D²/2σ)√T + σρ²(√T − ½) + (drift/σ)√(T − 1), where drift = DL. If the set lies in a ball of radius R
    = `circumradius` around `center`, drift is the smaller of DL and RL + R²/2. The bound is attained for T =
    1 and σ = D/ρ.

    >>> print(ZinkevichSharp(diameter=2, rho=1, path=0, T=100).bound)
    29.5
    """

    item, kind, tightness = "zin4.thm4.1.3.sharp", "tight", 1.0
    diameter: float
    rho: float
    path: float
    T: int
    circumradius: float | None = None
    scale: float = 1.0
    center: Any = None

    @classmethod
    def of(cls, trace: Any, u: Any, diameter: float, rho: float, center: Any = None) -> ZinkevichSharp:
        """Read T and σ from a trace, L from the path u_1, …, u_T, and R from the `center`."""
        scale = float(steps(trace.learner.eta, 1)[0]) if eager(trace) else 1.0
        R = None if center is None else trace.learner.over.farthest(np.asarray(center, dtype=float))
        return cls(diameter, rho, _length(trace, u), trace.rounds, R, scale, center)

    @property
    def step(self) -> inverse_sqrt:
        """Return the schedule η_t = σ/√t."""
        return inverse_sqrt(self.scale)

    @property
    def drift(self) -> float:
        """Return DL, or RL + R²/2 if R is given and that is less."""
        by_diameter, R = self.diameter * self.path, self.circumradius
        return by_diameter if R is None else min(by_diameter, R * self.path + R**2 / 2)

    @property
    def bound(self) -> float:
        """Return (D²/2σ)√T + σρ²(√T − ½) + (drift/σ)√(T − 1)."""
        D, rho, T, sigma = self.diameter, self.rho, self.T, self.scale
        static = D**2 / (2 * sigma) * np.sqrt(T) + sigma * rho**2 * (np.sqrt(T) - 0.5)
        return static + self.drift / sigma * np.sqrt(T - 1)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        found = _hypotheses(self, trace, u)
        if self.circumradius is not None:
            over: Any = getattr(trace.learner, "over", None)
            c = self.center
            known = over is not None and c is not None and len(c) == over.dim
            found["`center` is given, a point of the space"] = known
            found["the set is within R of `center`"] = known and most(over.farthest(c), self.circumradius)
        return found

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the dynamic regret Σ f_t(w_t) − f_t(u_t)."""
        return trace.dynamic_regret(_path(trace, u))

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof; bound the drift by the diameter, or from `center` where that is smaller."""
        if self.drift == self.diameter * self.path:
            return Chain("Theorem 4.1.3, drift from the diameter", tuple(_by_diameter(trace, u, self)))
        R: Any = self.circumradius
        u, c, T = _path(trace, u), self.center, self.T
        lines, rest, eta, L = _against_a_path(trace, u, self.diameter)
        moved, turned = R * (L / eta[:-1]).sum(), np.diff(squares(u, c)) / (2 * eta[:-1])
        lines += [
            Line(
                rest + turned.sum() + moved,
                "D²/2η_T + Σ (‖u_{t+1} − c‖² − ‖u_t − c‖²)/2η_t + R Σ L_t/η_t + noise",
                "distances taken from c; w_{t+1} is within R of it",
            ),
            Line(
                rest + (R**2 / (2 * eta[-2]) if T > 1 else 0.0) + moved,
                "D²/2η_T + R²/2η_{T−1} + R Σ L_t/η_t + noise",
                "Abel once more; ‖u_t − c‖ ≤ R",
            ),
            _summed(self, "(R·L + R²/2)"),
        ]
        return Chain("Theorem 4.1.3, drift from the circumradius", tuple(lines))

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play the games of `Zinkevich` with another scale, and with the circumradius of the set."""
        yield from _games(cls, rng, 0.7)

    @classmethod
    def worst(cls, D: float = 3.0, rho: float = 0.5) -> Game:
        """Play one round on [0, D] that starts at the end farthest from u, with σ = D/ρ."""
        over = Box([0.0], [D])
        trace = play(OGD(over, inverse_sqrt(D / rho), "eager", [D]), np.array([[rho]]))
        return cls(D, rho, 0.0, 1, scale=D / rho), trace, trace.best(over)


# ---------------------------------------------------------------- shared by both theorems


def _path(trace, u):
    """Return the path u_1, …, u_T; one point stands for a constant path."""
    u = validate.array("u", u, trace.dim)
    return np.tile(u, (trace.rounds, 1)) if u.ndim == 1 else u


def _length(trace, u):
    """Return the length of the path u_1, …, u_T."""
    return float(np.sqrt(squares(np.diff(_path(trace, u), axis=0))).sum())


def _hypotheses(stated, trace, u):
    """Return the hypotheses on the learner, the set, the subgradients, the path and the losses."""
    over, u = getattr(trace.learner, "over", None), np.asarray(u, dtype=float)
    shaped = over is not None and u.shape in ((over.dim,), (trace.rounds, over.dim))
    return {
        "eager descent (eager OGD) with η_t = σ/√t, σ = 1 as printed": eager(trace)
        and same_steps(trace.learner.eta, stated.step, trace.rounds),
        f"{stated.T} rounds": trace.rounds == stated.T,
        "the set has diameter at most D": most(getattr(over, "diameter", np.inf), stated.diameter),
        "‖z_t‖ ≤ ρ": most(np.linalg.norm(trace.subgradients, axis=-1), stated.rho),
        "w_1 and every u_t are in the set": shaped and inside(over, u) and inside(over, trace.points[0]),
        "the path u_1, …, u_T is no longer than L": shaped and most(_length(trace, u), stated.path),
        "f_t is convex": shaped and convex(trace, u),
    }


def _against_a_path(trace, u, D):
    """Return the lines up to D²/2η_T + drift + noise, the value D²/2η_T + noise, the steps and the L_t."""
    w, z, eta = trace.plays, trace.subgradients, steps(trace.learner.eta, trace.rounds)
    noise = (eta * squares(z)).sum() / 2
    near, after = squares(w[:-1], u), squares(w[1:], u)
    drift = ((squares(w[1:-1], u[1:]) - after[:-1]) / (2 * eta[:-1])).sum()
    growth = np.diff(1 / eta, prepend=0.0)
    rest = D**2 / (2 * eta[-1]) + noise
    lines = [
        Line(trace.dynamic_regret(u), "Σ f_t(w_t) − f_t(u_t)"),
        Line((z * (w[:-1] - u)).sum(), "Σ ⟨z_t, w_t − u_t⟩", "z_t is a subgradient at w_t"),
        Line(
            ((near - after) / (2 * eta)).sum() + noise,
            "Σ (‖w_t − u_t‖² − ‖w_{t+1} − u_t‖²)/2η_t + noise",
            "projection: no farther from u_t",
        ),
        Line(
            (near * growth).sum() / 2 + drift + noise,
            "½Σ ‖w_t − u_t‖²(1/η_t − 1/η_{t−1}) + drift + noise",
            "u_t → u_{t+1} in the second square; Abel; drop ‖w_{T+1} − u_T‖²",
        ),
        Line(rest + drift, "D²/2η_T + drift + noise", "‖w_t − u_t‖ ≤ D"),
    ]
    return lines, rest, eta, np.sqrt(squares(u[1:], u[:-1]))


def _by_diameter(trace, u, stated):
    """Return all lines of the proof that bounds the drift by the diameter."""
    u, D = _path(trace, u), stated.diameter
    lines, rest, eta, L = _against_a_path(trace, u, D)
    worth = rest + D * (L / eta[:-1]).sum()
    within = Line(worth, "D²/2η_T + D Σ L_t/η_t + noise", "w_{t+1} is within D of u_t and u_{t+1}")
    sharp = stated
    if isinstance(stated, Zinkevich):
        sharp = ZinkevichSharp(D, stated.rho, stated.path, stated.T)
    return [*lines, within, _summed(sharp, "D·L")]


def _summed(stated, drift):
    """Return the line that bounds the sums of the steps and the gradients."""
    formula = f"(D²/2)√T + ρ²(√T − ½) + {drift}√(T−1)"
    if stated.scale != 1:
        formula = f"(D²/2σ)√T + σρ²(√T − ½) + {drift}/σ √(T−1)"
    return Line(stated.bound, formula, "‖z_t‖ ≤ ρ; Σ 1/√t ≤ 2√T − 1")


def zigzag_and_drag(T: int, scale: float = 1.0) -> np.ndarray:
    """Return the worst known losses on [0, 1] for eager descent with η_t = scale/√t from 0.

    First the play oscillates at 0, then it is dragged to 1.
    """
    t, z = np.arange(1, T + 1), -np.ones(T)
    turns = (T - int(np.ceil(np.sqrt(T) / scale))) // 2 * 2
    z[0:turns:2] = -np.sqrt(t[0:turns:2] / (t[0:turns:2] + 1))
    z[1:turns:2] = 1.0
    return z[:, None]


def _games(cls, rng, scale):
    """Yield test games with step sizes scale/√t, against points and moving paths."""
    sharp = cls is ZinkevichSharp

    def arena(over, rho, start, walks):
        def game(losses):
            trace = play(OGD(over, inverse_sqrt(scale), "eager", start), as_losses(losses))
            u = trace.best(over)
            if walks:  # from the best point in the direction that decreases each loss
                u = over.project(u - 0.3 * np.cumsum(trace.subgradients, axis=0))
            more = {"center": np.zeros(over.dim)} if sharp and isinstance(over, Ball) else {}
            return cls.of(trace, u, over.diameter, rho, **more), trace, u

        return game

    yield from attacks(arena(Box([0.0], [1.0]), 1.0, [0.0], False), slopes(1, 1.0), rng)
    yield from attacks(arena(Ball(2, 2.0), 1.5, [1.0, 1.0], True), slopes(2, 1.5), rng, short=3)
    bowls = [Quadratic([c], 0.5) for c in (-1.0, 0.4, 1.0)]
    yield from attacks(arena(Box([-1.0], [1.0]), 1.0, None, True), bowls, rng, short=3)
