"""State the regret bounds for descent on delayed gradients (Lecture 4, 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.game import play
from ocolib.learners import DelayedOGD, inverse, inverse_sqrt, steps
from ocolib.losses import Quadratic
from ocolib.sets import Ball, Box
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    as_losses,
    attacks,
    bowls,
    convex,
    inside,
    most,
    same_steps,
    slopes,
    squares,
)
from ocolib.theorems.zinkevich import zigzag_and_drag


def overlaps(delays: Any) -> np.ndarray:
    """Return min(d_s, T − s): how many later rounds are played before the gradient of round s arrives."""
    d = np.array(_delays("delays", np.ravel(delays)))
    return np.minimum(d, np.arange(len(d))[::-1])


def _delays(name, value):
    """Check one delay, or one delay per round; delays are integers ≥ 0."""
    if np.ndim(value):
        return tuple(validate.count(name, d, low=0) for d in np.ravel(value))
    return validate.count(name, value, low=0)


@dataclass(frozen=True)
class Delayed(Theorem):
    """Bound the regret of descent on gradients that arrive τ rounds late by Dρ√((2 + 4τ)T) (Lecture 4, 4.3).

    Let the losses be convex, the set closed and convex with diameter at most D, and ‖z_t‖ ≤ ρ in all T
    rounds. `DelayedOGD` with η_k = σ/√k for the k-th gradient to arrive, σ = `scale`, has regret at most
    (D²/2σ + σρ²(1 + 2τ))√T against every u in the set. The best scale σ = D/(ρ√(2 + 4τ)) gives Dρ√((2 +
    4τ)T). For τ = 0 the worst known game attains 0.97 of the bound; for larger delays we do not know how
    tight it is.

    If each round s has its own delay, the bound is (D²/2σ)√T + ρ²(½Σ α_k + Σ_s Σ_j α_j), where α_k = σ/√k and
    j runs over the gradients that arrive after w_s is played and before z_s is used.

    >>> print(round(Delayed(diameter=2, rho=1, delay=3, T=50).bound, 4))
    52.915
    """

    item, kind, tightness = "zin4.thm.delayed", "upper", 0.97
    diameter: float
    rho: float
    delay: Any
    T: int
    scale: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(delay=_delays)
        if isinstance(self.delay, tuple) and len(self.delay) < self.T:
            raise ValueError(
                f"delay must have an entry for each of the {self.T} rounds, got {len(self.delay)}"
            )
        if self.scale is None:
            object.__setattr__(
                self, "scale", self.diameter / self.rho * np.sqrt(np.sqrt(self.T) / (2 * self._paid))
            )

    @classmethod
    def of(cls, trace: Any, diameter: float, rho: float) -> Delayed:
        """Read T, the delays and σ from a trace."""
        learner = _late(trace)
        return cls(
            diameter, rho, _heard(learner, trace.rounds), trace.rounds, float(steps(learner.eta, 1)[0])
        )

    @property
    def step(self) -> inverse_sqrt:
        """Return the schedule η_k = σ/√k; if no σ is given, it is the one that minimises the bound."""
        return inverse_sqrt(self.scale)

    @property
    def bound(self) -> float:
        """Return (D²/2σ + σρ²(1 + 2τ))√T, or the sums of the steps if the delays differ."""
        return self.diameter**2 / (2 * self.scale) * np.sqrt(self.T) + self.scale * self.rho**2 * self._paid

    @property
    def _paid(self):
        """Return the factor of σρ² in the bound."""
        if isinstance(self.delay, int):
            return (1 + 2 * self.delay) * np.sqrt(self.T)
        alpha = 1 / np.sqrt(np.arange(1, self.T + 1))
        return alpha.sum() / 2 + _between(alpha, _order(self.delay[: self.T])[1]).sum()

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        return _hypotheses(
            self,
            trace,
            u,
            self.delay,
            "the set has diameter at most D",
            lambda over: most(getattr(over, "diameter", np.inf), self.diameter),
        )

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof over the gradients in the order of arrival.

        The k-th gradient to arrive, that of round s, is applied at v_k with step α_k. In the lines, "noise"
        is ½Σ α_k‖z_s‖² and "late" is Σ ⟨z_s, w_s − v_k⟩.
        """
        late = _Arrivals.of(trace)
        telescoped = self.diameter**2 / (2 * late.alpha[-1]), "D²/2α_T", "Abel; ‖v_k − u‖ ≤ D"
        last = Line(self.bound, "(D²/2σ + σρ²(1 + 2τ))√T", "at most τ of them each; Σ 1/√k ≤ 2√T")
        return late.chain(
            "Descent on late gradients",
            trace,
            u,
            self.rho,
            telescoped,
            last if isinstance(self.delay, int) else None,
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play one delay on [−1, 1], different delays on a disk, and quadratic losses."""
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), 1.0, 1), slopes(1, 1.0), rng)
        yield from attacks(_arena(cls, Ball(2, 2.0), 1.5, (0, 2, 1)), slopes(2, 1.5), rng, short=3)
        yield from attacks(_arena(cls, Box([-1.0], [1.0]), 1.0, 2, 0.4), bowls(), rng, short=3)

    @classmethod
    def worst(cls, T: int = 10_000) -> Game:
        """Play the worst known game of `Zinkevich` on [0, 1], without delay."""
        stated, over = cls(1.0, 1.0, 0, T), Box([0.0], [1.0])
        trace = play(DelayedOGD(over, stated.step, 0), zigzag_and_drag(T, stated.step.scale))
        return stated, trace, trace.best(over)


@dataclass(frozen=True)
class DelayedConstant(Theorem):
    """Bound the regret of descent on delayed gradients with a constant step size (Lecture 4, 4.3).

    Let the losses be convex, the set closed and convex, and ‖z_t‖ ≤ ρ in all T rounds. For arbitrary delays
    d_1, …, d_T, `DelayedOGD` with step size η has regret at most B²/2η + ηρ²(T/2 + Σ min(d_s, T − s)) against
    every u in the set with ‖u − w_1‖ ≤ B = `radius`. The bound is attained when all delays are T − 1 and
    η = B/(ρT).

    >>> print(DelayedConstant(radius=1, rho=1, delays=[1, 1, 1, 1], eta=0.5).bound)
    3.5
    """

    item, kind, tightness = "zin4.thm.delayed", "tight", 1.0
    radius: float
    rho: float
    delays: Any
    eta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "delays", _delays("delays", np.atleast_1d(self.delays)))

    @classmethod
    def of(cls, trace: Any, radius: float, rho: float) -> DelayedConstant:
        """Read the delays and η from a trace."""
        learner = _late(trace)
        if callable(learner.eta):
            raise ValueError(f"trace must come from DelayedOGD with a constant eta, got {learner!r}")
        return cls(radius, rho, np.broadcast_to(learner.delay, trace.rounds), learner.eta)

    @property
    def step(self) -> float:
        """Return η, which may be any positive number."""
        return self.eta

    @property
    def bound(self) -> float:
        """Return B²/2η + ηρ²(T/2 + Σ min(d_s, T − s))."""
        late = overlaps(self.delays)
        return self.radius**2 / (2 * self.eta) + self.eta * self.rho**2 * (len(late) / 2 + late.sum())

    @property
    def T(self) -> int:
        """Return the number of rounds, which is the number of delays."""
        return len(self.delays)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""

        def near(over):
            return most(np.sqrt(squares(np.asarray(u, dtype=float), trace.points[0])), self.radius)

        return _hypotheses(self, trace, u, self.delays, "‖u − w_1‖ ≤ B", near)

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of `Delayed`; with one step size the squares telescope without a diameter."""
        late = _Arrivals.of(trace)
        telescoped = self.radius**2 / (2 * late.alpha[0]), "B²/2η", "the squares telescope; ‖w_1 − u‖ ≤ B"
        return late.chain("Descent on late gradients, one step", trace, u, self.rho, telescoped)

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play different delays on a disk, and one delay on [−1, 1] with quadratic losses."""

        def arena(over, rho, delay, eta):
            def game(losses):
                late = np.resize(delay, len(losses))
                trace = play(DelayedOGD(over, eta, late), as_losses(losses))
                return cls(over.farthest(trace.points[0]), rho, late, eta), trace, trace.best(over)

            return game

        yield from attacks(arena(Ball(2, 2.0), 1.5, [0, 1, 2], 0.3), slopes(2, 1.5), rng, short=3)
        yield from attacks(arena(Box([-1.0], [1.0]), 1.0, [1], 0.4), bowls(), rng, short=3)

    @classmethod
    def worst(cls, T: int = 5) -> Game:
        """Play the same loss in T rounds whose gradients all arrive at the end."""
        over, late = Box([-1.0], [1.0]), [T - 1] * T
        trace = play(DelayedOGD(over, 1 / T, T - 1), np.ones((T, 1)))
        return cls(1.0, 1.0, late, 1 / T), trace, trace.best(over)


@dataclass(frozen=True)
class DelayedStronglyConvex(Theorem):
    """Bound the regret of descent on delayed gradients of strongly convex losses by O(log T) (Lecture 4).

    Let the losses be H-strongly convex, H = `curvature`, the set closed and convex with diameter at most D,
    and ‖z_t‖ ≤ ρ in all T rounds; every gradient arrives τ rounds late. `DelayedOGD` with η_k = 1/(Hk) for
    the k-th gradient has regret at most HτD²/2 + (½ + τ)(ρ²/H)(1 + ln T) against every u in the set. The
    bound is attained for τ = 0 and T = 1; for larger delays we do not know how tight it is.

    >>> print(DelayedStronglyConvex(diameter=2, rho=1, curvature=0.5, delay=0, T=1).bound)
    1.0
    """

    item, kind, tightness = "zin4.thm.delayed-sc", "upper", 1.0
    diameter: float
    rho: float
    curvature: float
    delay: int
    T: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(delay=lambda name, d: validate.count(name, d, low=0))

    @classmethod
    def of(cls, trace: Any, diameter: float, rho: float) -> DelayedStronglyConvex:
        """Read T, the delay and H from a trace."""
        learner = _late(trace)
        return cls(
            diameter, rho, 1 / float(steps(learner.eta, 1)[0]), _heard(learner, trace.rounds), trace.rounds
        )

    @property
    def step(self) -> inverse:
        """Return the schedule η_k = 1/(Hk)."""
        return inverse(1 / self.curvature)

    @property
    def bound(self) -> float:
        """Return HτD²/2 + (½ + τ)(ρ²/H)(1 + ln T)."""
        D, rho, H, tau = self.diameter, self.rho, self.curvature, self.delay
        return H * tau * D**2 / 2 + (0.5 + tau) * rho**2 / H * (1 + np.log(self.T))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        return _hypotheses(
            self,
            trace,
            u,
            self.delay,
            "the set has diameter at most D",
            lambda over: most(getattr(over, "diameter", np.inf), self.diameter),
            self.curvature,
        )

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of `Delayed`; strong convexity cancels all but τ of the squares."""
        late, H, tau = _Arrivals.of(trace), self.curvature, self.delay
        telescoped = H * tau * self.diameter**2 / 2, "HτD²/2", "Abel; at most τ squares remain, each ≤ D²"
        last = Line(
            self.bound, "HτD²/2 + (½ + τ)(ρ²/H)(1 + ln T)", "at most τ of them each; the harmonic sum"
        )
        return late.chain(
            "Descent on late gradients, strongly convex", trace, u, self.rho, telescoped, last, H
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play quadratic losses on an interval with delays 1 and 3."""

        def arena(delay):
            def game(losses):
                over = Box([-1.0], [1.0])
                trace = play(DelayedOGD(over, inverse(2.0), delay), losses)
                return cls(2.0, 1.0, 0.5, delay, len(losses)), trace, trace.best(over)

            return game

        for delay in (1, 3):
            yield from attacks(arena(delay), bowls(), rng, short=3)

    @classmethod
    def worst(cls, H: float = 0.5) -> Game:
        """Play one round without delay, which attains the bound."""
        over = Box([-2.0], [0.0])
        trace = play(DelayedOGD(over, inverse(1 / H), 0), [Quadratic([-2.0], H)])
        return cls(2.0, 1.0, H, 0, 1), trace, trace.best(over)


# ---------------------------------------------------------------- shared by the three theorems


def _late(trace):
    """Return the learner of a trace, which must be `DelayedOGD`."""
    if not isinstance(trace.learner, DelayedOGD):
        raise ValueError(f"trace must come from DelayedOGD, got {trace.learner!r}")
    return trace.learner


def _heard(learner, T):
    """Return a single delay as an integer, or the first T delays as a tuple."""
    return learner.delay if isinstance(learner.delay, int) else tuple(learner.delay[:T])


def _order(delays):
    """Return the rounds in order of arrival, and how many gradients had arrived when each was played."""
    when = np.arange(1, len(delays) + 1) + np.asarray(delays)
    order = np.argsort(when, kind="stable")
    return order, np.searchsorted(when[order], order + 1)


def _between(amounts, known):
    """Return for each k the sum of the amounts that arrived after w_s was played and before z_s was used."""
    sums = np.append(0.0, np.cumsum(amounts))
    return sums[:-1] - sums[known]


def _hypotheses(stated, trace, u, delay, words, near, curvature=0.0):
    """Return the hypotheses of all three theorems; `words` and `near` state that on the size of the set."""
    learner, T = trace.learner, trace.rounds
    late = isinstance(learner, DelayedOGD)
    inner = late and inside(learner.over, u)
    if late:
        own = np.ravel(
            np.broadcast_to(learner.delay, T) if isinstance(learner.delay, int) else learner.delay
        )[:T]
        wanted = np.ravel(np.broadcast_to(delay, T) if np.ndim(delay) == 0 else delay)[:T]
    return {
        "descent on late gradients (DelayedOGD) with the step η": late
        and same_steps(learner.eta, stated.step, T),
        "the delays given": late and np.array_equal(own, wanted),
        f"{stated.T} rounds": T == stated.T,
        "‖z_t‖ ≤ ρ": most(np.linalg.norm(trace.subgradients, axis=-1), stated.rho),
        "u is in the set": inner,
        words: inner and near(learner.over),
        "f_t is H-strongly convex" if curvature else "f_t is convex": inner and convex(trace, u, curvature),
    }


@dataclass(frozen=True)
class _Arrivals:
    """Hold the gradients in the order of arrival; row k belongs to the k-th of them."""

    alpha: np.ndarray  #: its step
    z: np.ndarray  #: the gradient z_s
    w: np.ndarray  #: the play w_s
    v: np.ndarray  #: the point to which it is applied; one more row for the end
    known: np.ndarray  #: how many had arrived when round s was played

    @classmethod
    def of(cls, trace):
        learner, T = _late(trace), trace.rounds
        order, known = _order([learner.arrival(s) - s for s in range(1, T + 1)])
        alpha, z = steps(learner.eta, T), trace.subgradients[order]
        v = [trace.points[0]]
        for k in range(T):  # including those that arrive after the last round
            v.append(learner.over.project(v[-1] - alpha[k] * z[k]))
        return cls(alpha, z, trace.points[order], np.array(v), known)

    def chain(self, title, trace, u, rho, telescoped, last=None, H=0.0):
        """Return the chain of all three theorems; `telescoped` is the term to which the squares sum up."""
        u = validate.vector("u", u, trace.dim)
        alpha, z, w, v, (start, first, why) = self.alpha, self.z, self.w, self.v, telescoped
        size, bend = np.linalg.norm(z, axis=-1), H / 2 * squares(w, u).sum()
        noise, late = (alpha * size**2).sum() / 2, (z * (w - v[:-1])).sum()
        moved = ((squares(v[:-1], u) - squares(v[1:], u)) / (2 * alpha)).sum() - bend
        late_most = (size * _between(alpha * size, self.known)).sum()
        counted = rho**2 * (alpha.sum() / 2 + _between(alpha, self.known).sum())
        curved = " − (H/2)‖w_s − u‖²" if H else ""
        return Chain(
            title,
            (
                Line(trace.regret(against=u), "Σ f_s(w_s) − f_s(u)"),
                Line((z * (w - u)).sum() - bend, f"Σ ⟨z_s, w_s − u⟩{curved}", "(strong) convexity at w_s"),
                Line(
                    moved + noise + late,
                    f"Σ (‖v_k − u‖² − ‖v_{{k+1}} − u‖²)/2α_k{curved} + noise + late",
                    "w_s = v_k + (w_s − v_k); projection",
                ),
                Line(start + noise + late, f"{first} + noise + late", why),
                Line(
                    start + noise + late_most,
                    f"{first} + noise + Σ ‖z_s‖ Σ_j α_j‖z_j‖",
                    "j: the arrivals between playing w_s and using z_s",
                ),
                Line(start + counted, f"{first} + ρ²(½Σ α_k + Σ Σ_j α_j)", "‖z_s‖ ≤ ρ"),
                *([last] if last else []),
            ),
        )


def _arena(cls, over, rho, delay, scale=None):
    def game(losses):
        late = delay if isinstance(delay, int) else tuple(np.resize(delay, len(losses)).tolist())
        stated = cls(over.diameter, rho, late, len(losses), scale)
        trace = play(DelayedOGD(over, stated.step, late), as_losses(losses))
        return stated, trace, trace.best(over)

    return game
