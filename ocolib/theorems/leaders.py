"""State the results on leaders: Example 2 and Theorem 1 of Lecture 13, (17.2) and (17.3) of Lecture 17."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ocolib import learners, validate
from ocolib.adversaries import alternating, spiral
from ocolib.game import play
from ocolib.losses import Quadratic, values
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, Simplex, Space
from ocolib.theorems.base import (
    Chain,
    Game,
    Line,
    Theorem,
    as_losses,
    attacks,
    convex,
    inside,
    leader_of,
    most,
    same_step,
    slopes,
)

# ---------------------------------------------------------------- Lecture 13, Example 2


@dataclass(frozen=True)
class Example2(Theorem):
    """Compute the regret of FTL and FTRL on the alternating losses of Example 2 of Lecture 13.

    On [−1, 1] let the slopes be −½, 1, −1, 1, … for T rounds. FTRL with R(w) = w²/2 and step size η > 0 has
    regret (η/2)(T − 1) + ½ if η ≤ 2, and T − ½ if η ≥ 2. Follow the leader (η = ∞) has regret T − ½. These
    are equalities.

    >>> Example2(T=100).bound, Example2(T=100, eta=0.1).bound
    (99.5, 5.45)
    """

    item, kind, tightness = "ox13.ex2", "tight", 1.0
    T: int
    eta: float = np.inf

    def __post_init__(self) -> None:
        checks = {"T": validate.count} | ({} if self.eta == np.inf else {"eta": validate.positive})
        self._check(**checks)

    @property
    def bound(self) -> float:
        """Return (η/2)(T − 1) + ½, with 2 in place of a larger η."""
        return 0.5 * min(self.eta, 2.0) * (self.T - 1) + 0.5

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner, over = trace.learner, getattr(trace.learner, "over", None)
        interval = isinstance(over, Box) and over.dim == 1 and over.low[0] == -1 and over.high[0] == 1
        leads = isinstance(learner, learners.FTL) and self.eta == np.inf
        if isinstance(learner, learners.FTRL) and isinstance(learner.regularizer, SquaredNorm):
            leads = learner.regularizer == SquaredNorm() and learner.eta == self.eta
        same = isinstance(trace.losses, np.ndarray) and np.array_equal(trace.losses, alternating(self.T))
        return {
            "FTRL with w²/2 and the step η, or FTL if η = ∞": leads,
            "the set [−1, 1]": interval,
            "the T losses with slopes −½, 1, −1, 1, …": same,
        }

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Measure the regret against the best point of [−1, 1]."""
        return trace.regret(trace.learner.over)

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the regret round by round: from round 2 on every play costs min(η, 2)/2."""
        Z, w = trace.losses[:, 0], trace.points[:, 0]
        after = min(self.eta, 2.0) / 2
        return Chain(
            "Example 2, round by round",
            (
                Line(self.measure(trace), "Σ z_t w_t − min Σ z_t u"),
                Line(Z @ w + abs(Z.sum()), "Σ z_t w_t + |Σ z_t|", "the best point is at an end of [−1, 1]"),
                Line(
                    (self.T - 1) * after + abs(Z.sum()),
                    "(T − 1) min(η, 2)/2 + |Σ z_t|",
                    "w_1 = 0, then |w_t| = min(η, 2)/2",
                ),
                Line(self.bound, "(T − 1) min(η, 2)/2 + ½", "Σ z_t = ±½"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play the example for all T < 12 and six step sizes."""
        for T in range(1, 12):
            for eta in (0.01, 0.5, 1.9, 2.0, 3.0, np.inf):
                yield cls._game(T, eta)

    @classmethod
    def worst(cls) -> Game:
        """Play 100 rounds of follow the leader."""
        return cls._game(100, np.inf)

    @classmethod
    def _game(cls, T, eta):
        interval = Box([-1.0], [1.0])
        leader = learners.FTL(interval) if eta == np.inf else learners.FTRL(interval, SquaredNorm(), eta)
        return cls(T, eta), play(leader, alternating(T)), None


# ---------------------------------------------------------------- Lecture 13, Theorem 1


@dataclass(frozen=True, eq=False)
class Stability(Theorem):
    """Bound the regret of FTRL by its stability (Theorem 1 of Lecture 13).

    For arbitrary losses f_t and an arbitrary set on which the minimisers exist, FTRL with regulariser R and
    constant step size η has, against every u in the set,
    regret ≤ Σ (f_t(w_t) − f_t(w_{t+1})) + (R(u) − R(w_1))/η. The bound is approached: constant losses on the
    line attain the fraction (T + 1)/(T + 2).

    `moved` is the sum and `ends` is the second term; `Stability.of(trace, u)` computes both from a trace.

    >>> from ocolib.sets import Space
    >>> trace = play(learners.FTRL(Space(1), SquaredNorm(), 0.5), np.ones((8, 1)))
    >>> print(trace.regret(against=trace.last), Stability.of(trace, trace.last).bound)
    18.0 20.0
    """

    item, kind, tightness = "ox13.thm1", "tight", 2001 / 2002
    moved: Any
    ends: Any

    @classmethod
    def of(cls, trace: Any, u: Any) -> Stability:
        """Compute both terms from a trace of FTRL, which may hold a batch of games."""
        leader, u = _leader(trace), validate.vector("u", u, trace.dim)
        w, R = trace.plays, leader.regularizer
        moved = (trace.paid - values(trace.losses, w[..., 1:, :])).sum(axis=-1)
        return cls(moved, (R.value(u) - R.value(w[..., 0, :])) / leader.eta)

    @property
    def bound(self) -> Any:
        """Return Σ (f_t(w_t) − f_t(w_{t+1})) + (R(u) − R(w_1))/η."""
        return self.moved + self.ends

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        leader = leader_of(trace)
        words = "FTRL on the losses themselves with one number η", "u is in the set"
        if leader is None or not inside(leader.over, u):
            return dict(zip(words, (leader is not None, False), strict=True))
        own = Stability.of(trace, u)
        return {
            words[0]: True,
            words[1]: True,
            "w_{t+1} minimises f_1 + … + f_t + R/η over the set": self.slacks(trace).min() > -1e-6,
            "`moved` and `ends` are those of this trace": np.allclose(
                [self.moved, self.ends], [own.moved, own.ends], rtol=1e-9, atol=1e-9
            ),
        }

    @staticmethod
    def slacks(trace: Any) -> np.ndarray:
        """Return the slack F(w_{t+1}) − F(w_t) ≥ 0 of each round of the induction, `(..., T)`.

        Here F = f_1 + … + f_{t−1} + R/η, which w_t minimises. For t = 1, F = R/η: this is the base case.
        """
        leader, w = _leader(trace), trace.plays
        spread = np.diff(leader.regularizer.value(w), axis=-1) / leader.eta
        here, there = _past(trace, w)
        return there - here + spread

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Unroll the induction (4), (5): round t replaces w_{t+1} by w_t, the leader after t − 1 rounds.

        In the reasons, R stands for the regulariser divided by η.
        """
        leader, u = _leader(trace), validate.vector("u", u, trace.dim)
        slacks, R, T = self.slacks(trace), leader.regularizer, trace.rounds
        final = values(trace.losses, trace.last).sum() + R.value(trace.last) / leader.eta
        rival = values(trace.losses, u).sum() + R.value(u) / leader.eta
        value = trace.regret(against=u)
        lines = [Line(value, "Σ f_t(w_t) − Σ f_t(u)")]
        value += rival - final
        lines.append(Line(value, f"u → w_{T + 1}", f"(4) from (5): w_{T + 1} minimises {_sum(T)}"))
        for t in range(T, 0, -1):
            value += slacks[t - 1]
            reason = f"w_{t} minimises {_sum(t - 1)}, w_{t + 1} need not" + (" (base case)" if t == 1 else "")
            lines.append(Line(value, f"round {t}" + (": the bound" if t == 1 else ""), reason))
        return Chain("Theorem 1, the induction unrolled", tuple(lines))

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses on a disk and a simplex, and quadratic losses on an interval."""

        def arena(over, R, eta, linear=True):
            def game(losses):
                trace = play(learners.FTRL(over, R, eta), as_losses(losses))
                u = trace.best(over)
                return cls.of(trace, u), trace, u

            return game

        yield from attacks(arena(Ball(2, 2.0), SquaredNorm(), 0.4), slopes(2, 1.5), rng, short=3)
        yield from attacks(arena(Simplex(3), NegativeEntropy(), 0.7), list(np.eye(3)), rng, short=3)
        bowls = [Quadratic([c], 0.5) for c in (-3.0, 0.2, 1.0)]
        yield from attacks(
            arena(Box([-1.0], [1.0]), SquaredNorm([0.3]), 1.5, linear=False), bowls, rng, short=3
        )

    @classmethod
    def worst(cls, T: int = 2000) -> Game:
        """Play a constant loss on the line against the last play; it attains (T + 1)/(T + 2) of the bound."""
        trace = play(learners.FTRL(Space(1), SquaredNorm(), 0.5), np.ones((T, 1)))
        return cls.of(trace, trace.last), trace, trace.last


def _leader(trace):
    """Return the FTRL learner of a trace, which must have a constant step size."""
    leader = leader_of(trace)
    if leader is None:
        raise ValueError(
            f"trace must come from FTRL with a constant eta on the losses, got {trace.learner!r}"
        )
    return leader


def _past(trace, w):
    """Return f_1 + … + f_{t−1} at w_t and at w_{t+1}, for every t."""
    here, there = w[..., :-1, :], w[..., 1:, :]
    if isinstance(trace.losses, np.ndarray):
        before = np.cumsum(trace.losses, axis=-2) - trace.losses
        return (before * here).sum(-1), (before * there).sum(-1)
    table = np.array([values(trace.losses, point) for point in w])  # f_t at every play
    return tuple(np.array([table[t + k, :t].sum() for t in range(trace.rounds)]) for k in (0, 1))


def _sum(t):
    """Return "f_1 + … + f_t + R" as text, without dots if it is short."""
    losses = [f"f_{i}" for i in range(1, t + 1)] if t < 3 else ["f_1", "…", f"f_{t}"]
    return " + ".join([*losses, "R"])


# ---------------------------------------------------------------- Lecture 17, (17.2) and (17.3)


@dataclass(frozen=True, eq=False)
class _Regularised(Theorem, register=False):
    """Define the base class of the four forms of (17.2); `half` is the factor of η Σ ‖z_t‖*²."""

    half = 1.0
    phi_range: float
    step: ClassVar[Any]
    _for: ClassVar[Any]

    @property
    def gradients(self) -> np.ndarray:
        """Return the bounds on ‖z_1‖*, …, ‖z_T‖*."""
        raise NotImplementedError

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        leader = leader_of(trace)
        phi: Any = getattr(leader, "regularizer", None)
        first = {
            "FTRL on the losses themselves with the step η": leader is not None
            and same_step(leader.eta, self.step),
            "φ is 1-strongly convex: ½‖w‖² or the negative entropy": isinstance(
                phi, (SquaredNorm, NegativeEntropy)
            ),
            "u is in the set": leader is not None and inside(leader.over, u),
        }
        if not all(first.values()):
            return first
        found = phi.dual_norm(trace.subgradients)
        return first | {
            "φ has range at most D on the set": most(phi.range(leader.over), self.phi_range),
            "as many rounds as the theorem says": found.shape == self.gradients.shape,
            "‖z_t‖* is at most the bound given": found.shape == self.gradients.shape
            and most(found, self.gradients),
            "f_t is convex": convex(trace, u),
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof of (17.2): Theorem 1, the cost of a round, the range of φ, the gradient bounds.

        The sharp form keeps the slack of each round of Theorem 1, so that round t costs only
        F_t(w_t) − min F_t ≤ (η/2)‖z_t‖*², where F_t = f_1 + … + f_t + φ/η.
        """
        leader, u, T = _leader(trace), validate.vector("u", u, trace.dim), trace.rounds
        phi, eta, sharp = leader.regularizer, leader.eta, self.half < 1
        if not hasattr(phi, "range"):
            raise ValueError(f"the regulariser must be strongly convex, got {phi!r}")
        moved = (trace.paid - values(trace.losses, trace.plays[1:])).sum()
        kept = Stability.slacks(trace).sum() if sharp else 0.0
        ends, D = (phi.value(u) - phi.value(trace.points[0])) / eta, phi.range(leader.over)
        seen = self.half * eta * np.square(phi.dual_norm(trace.subgradients)).sum()
        allowed = self.half * eta * np.square(self.gradients).sum()
        one, price = np.ptp(self.gradients) == 0, "(η/2)" if sharp else "η"
        drop = "Σ F_t(w_t) − F_t(w_{t+1})" if sharp else "Σ f_t(w_t) − f_t(w_{t+1})"
        why = f"w_{{{T + 1}}} minimises F_{{{T}}}" if sharp else "Theorem 1 of Lecture 13"
        cost = "F_{t−1} is 1/η-strongly convex" if sharp else "stability: ‖w_t − w_{t+1}‖ ≤ η‖z_t‖*"
        return Chain(
            "(17.2), the sharp chain" if sharp else "(17.2), the lecture's chain",
            (
                Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
                Line(moved - kept + ends, f"{drop} + (φ(u) − φ(w_1))/η", why),
                Line(seen + ends, f"{price} Σ ‖z_t‖*² + (φ(u) − φ(w_1))/η", cost),
                Line(seen + D / eta, f"{price} Σ ‖z_t‖*² + D/η", "D is the range of φ"),
                Line(
                    allowed + self.phi_range / eta,
                    f"{price} {'T G²' if one else 'Σ G_t²'} + D/η",
                    "‖z_t‖* ≤ G" if one else "‖z_t‖* ≤ G_t",
                ),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play linear losses on a disk, and on a simplex with the entropy."""

        def arena(over, phi, rho):
            def game(losses):
                stated = cls._for(phi.range(over), rho, len(losses))
                trace = play(learners.FTRL(over, phi, stated.step), np.array(losses))
                return stated, trace, trace.best(over)

            return game

        yield from attacks(arena(Ball(2, 2.0), SquaredNorm(), 1.5), slopes(2, 1.5), rng, short=3)
        yield from attacks(arena(Simplex(3), NegativeEntropy(), 1.0), list(np.eye(3)), rng, short=3)

    @classmethod
    def worst(cls, T: int = 16) -> Game:
        """Play a spiral on the disk: the plays move evenly to the boundary and are never projected."""
        stated = cls._for(0.5, 2.0, T)
        trace = play(learners.FTRL(Ball(2), SquaredNorm(), stated.step), spiral(1.0, 2.0, T, stated.step))
        return stated, trace, trace.best(Ball(2))


@dataclass(frozen=True, eq=False)
class FTRL(_Regularised):
    """Bound the regret of FTRL by D/η + η Σ ‖z_t‖*² ((17.2) of Lecture 17).

    Let the losses be convex, φ 1-strongly convex in a norm ‖·‖, and max φ − min φ ≤ D = `phi_range` on the
    closed convex set. FTRL with regulariser φ/η has this regret against every u in the set, where z_t is a
    subgradient of f_t at w_t and ‖·‖* is the dual norm. `dual_norms` holds ‖z_t‖*, or an upper bound, for
    every round. The bound is not tight: see `FTRLSharp`.

    >>> print(FTRL(phi_range=0.5, dual_norms=np.ones(50), eta=0.1).bound)
    10.0
    """

    item, kind, tightness = "ma17.eq17.2", "upper", 2 / 3
    dual_norms: Any
    eta: float

    @classmethod
    def of(cls, trace: Any, rho: float) -> FTRL:
        """Read D, η and T from a trace of FTRL; `rho` bounds every ‖z_t‖*."""
        leader = _leader(trace)
        if not hasattr(leader.regularizer, "range"):
            raise ValueError(f"the regulariser must be strongly convex, got {leader.regularizer!r}")
        return cls(leader.regularizer.range(leader.over), np.full(trace.rounds, rho, dtype=float), leader.eta)

    @property
    def gradients(self) -> np.ndarray:
        """Return the bounds on ‖z_1‖*, …, ‖z_T‖*."""
        return self.dual_norms

    @property
    def step(self) -> float:
        """Return η, which may be any positive number."""
        return self.eta

    @property
    def bound(self) -> Any:
        """Return D/η + η Σ ‖z_t‖*²."""
        return self.phi_range / self.eta + self.half * self.eta * np.square(self.dual_norms).sum(axis=-1)

    @classmethod
    def _for(cls, D, rho, T):
        return cls(D, np.full(T, rho), np.sqrt(2 * D / T) / rho)


@dataclass(frozen=True, eq=False)
class FTRLSharp(FTRL):
    """Bound the regret of FTRL by D/η + (η/2) Σ ‖z_t‖*² ((17.2) of Lecture 17 with the sharp constant).

    The hypotheses are those of `FTRL`. The bound is tight: a game on the disk attains it.
    """

    item, kind, tightness = "ma17.eq17.2", "tight", 1.0
    half = 0.5


@dataclass(frozen=True, eq=False)
class FTRLTuned(_Regularised):
    """Bound the regret of FTRL with the tuned step size by 2ρ√(DT) ((17.3) of Lecture 17, corrected).

    The hypotheses are those of `FTRL`, and ‖z_t‖* ≤ ρ in all T rounds. The step size is η = √(D/T)/ρ. The
    worst known game attains 3/4 of the bound.

    >>> print(FTRLTuned(phi_range=0.5, rho=1, T=50).bound)
    10.0
    """

    item, kind, tightness = "ma17.eq17.3", "upper", 0.75
    rho: float
    T: int

    @property
    def gradients(self) -> np.ndarray:
        """Return the vector (ρ, …, ρ) of length T."""
        return np.full(self.T, self.rho)

    @property
    def step(self) -> float:
        """Return √(D/T)/ρ, which minimises (17.2) when every ‖z_t‖* is ρ."""
        return np.sqrt(self.phi_range / self.T) / self.rho

    @property
    def bound(self) -> float:
        """Return 2ρ√(DT)."""
        return 2 * self.rho * np.sqrt(self.phi_range * self.T)

    @classmethod
    def _for(cls, D, rho, T):
        return cls(D, rho, T)


@dataclass(frozen=True, eq=False)
class FTRLTunedSharp(FTRLTuned):
    """Bound the regret of FTRL with the tuned step size by ρ√(2DT) (the sharp form of (17.3)).

    The hypotheses are those of `FTRLTuned`; the step size is η = √(2D/T)/ρ. The bound is tight: a game on the
    disk attains it.

    >>> print(FTRLTunedSharp(phi_range=0.5, rho=1, T=100).bound)
    10.0
    """

    item, kind, tightness = "ma17.eq17.3", "tight", 1.0
    half = 0.5

    @property
    def step(self) -> float:
        """Return √(2D/T)/ρ, which minimises the sharp (17.2) when every ‖z_t‖* is ρ."""
        return np.sqrt(2 * self.phi_range / self.T) / self.rho

    @property
    def bound(self) -> float:
        """Return ρ√(2DT)."""
        return self.rho * np.sqrt(2 * self.phi_range * self.T)
