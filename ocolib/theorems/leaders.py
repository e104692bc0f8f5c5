"""Leaders: Example 2 and Theorem 1 of Lecture 13, (17.2) and (17.3) of Lecture 17."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ocolib import learners, validate
from ocolib.adversaries import alternating, spiral
from ocolib.game import play
from ocolib.losses import Quadratic, values
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, Simplex, Space
from ocolib.theorems.base import Chain, Line, Theorem, attacks, convex, inside, leader_of, most, plays, slopes

# ---------------------------------------------------------------- Lecture 13, Example 2


@dataclass(frozen=True)
class Example2(Theorem):
    """Example 2 of Lecture 13. On [−1, 1] let z = ½, −1, 1, −1, … for T rounds.

    FTRL with R(w) = w²/2 and step η > 0 has regret (η/2)(T − 1) + ½ if η ≤ 2, and T − ½ if η ≥ 2. Follow the
    leader, η = ∞, has regret T − ½. Both are equalities.
    """

    item, kind, tightness = "ox13.ex2", "tight", 1.0
    T: int
    eta: float = np.inf

    def __post_init__(self):
        self._check(T=validate.count)
        if self.eta != np.inf:
            self._check(eta=validate.positive)

    @property
    def bound(self) -> float:
        """(η/2)(T − 1) + ½, with 2 in place of a larger η."""
        return 0.5 * min(self.eta, 2.0) * (self.T - 1) + 0.5

    def hypotheses(self, trace, u=None):
        """Ask for follow the (regularised) leader on [−1, 1], against the losses of Example 2."""
        learner, over = trace.learner, getattr(trace.learner, "over", None)
        interval = isinstance(over, Box) and over.dim == 1 and over.low[0] == -1 and over.high[0] == 1
        leads = isinstance(learner, learners.FTL) and self.eta == np.inf
        if isinstance(learner, learners.FTRL) and isinstance(learner.regularizer, SquaredNorm):
            leads = learner.regularizer == SquaredNorm() and learner.eta == self.eta
        same = isinstance(trace.losses, np.ndarray) and np.array_equal(trace.losses, alternating(self.T))
        return {
            "FTRL with w²/2 and the step η, or FTL if η = ∞": leads,
            "the set [−1, 1]": interval,
            "the losses ½, −1, 1, −1, …, T of them": same,
        }

    def measure(self, trace, u=None):
        """Measure the regret against the best point of [−1, 1]."""
        return trace.regret(trace.learner.over)

    def chain(self, trace, u=None):
        """The plays are −η/2, η/2, −η/2, … cut at ±1: from the second round on each costs min(η, 2)/2."""
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
    def games(cls, rng):
        """Play all T < 12 with six step sizes."""
        for T in range(1, 12):
            for eta in (0.01, 0.5, 1.9, 2.0, 3.0, np.inf):
                yield cls._game(T, eta)

    @classmethod
    def worst(cls):
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
    """Theorem 1 of Lecture 13. Any losses f_t, any set, any u in it; FTRL with a regulariser R and one step
    η.

    Regret against u ≤ Σ (f_t(w_t) − f_t(w_{t+1})) + (R(u) − R(w_1))/η.

    `moved` is the sum and `ends` the other term; `Stability.of(trace, u)` reads both off a trace.
    """

    item, kind, tightness = "ox13.thm1", "tight", 2001 / 2002
    moved: Any
    ends: Any

    @classmethod
    def of(cls, trace: Any, u: Any) -> Stability:
        """Read the two numbers off a trace of FTRL (also of many games at once)."""
        leader, u = _leader(trace), validate.vector("u", u, trace.dim)
        w, R = plays(trace), leader.regularizer
        moved = (trace.paid - values(trace.losses, w[..., 1:, :])).sum(axis=-1)
        return cls(moved, (R.value(u) - R.value(w[..., 0, :])) / leader.eta)

    @property
    def bound(self) -> Any:
        """Σ (f_t(w_t) − f_t(w_{t+1})) + (R(u) − R(w_1))/η."""
        return self.moved + self.ends

    def hypotheses(self, trace, u=None):
        """Ask for FTRL with one step, u in its set, plays that minimise, and the numbers of this trace."""
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
        """Return the slack of each round of the induction, `(..., T)`: F(w_{t+1}) − F(w_t) ≥ 0.

        Here F = f_1 + … + f_{t−1} + R/η, and w_t is a minimiser of F. For t = 1 this is the base case, F =
        R/η.
        """
        leader, w = _leader(trace), plays(trace)
        spread = np.diff(leader.regularizer.value(w), axis=-1) / leader.eta
        here, there = _past(trace, w)
        return there - here + spread

    def chain(self, trace, u=None):
        """The induction (4), (5) unrolled: round t replaces w_{t+1} by w_t, the leader after t − 1 rounds.

        In the reasons R is the regulariser over η.
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
    def games(cls, rng):
        """Play linear losses on a disk and on a simplex, quadratic ones on an interval."""

        def arena(over, R, eta, linear=True):
            def game(losses):
                trace = play(learners.FTRL(over, R, eta), np.array(losses) if linear else losses)
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
    def worst(cls, T=2000):
        """Play a constant loss on the line, against the last play: (T + 1)/(T + 2) of the bound."""
        trace = play(learners.FTRL(Space(1), SquaredNorm(), 0.5), np.ones((T, 1)))
        return cls.of(trace, trace.last), trace, trace.last


def _leader(trace):
    leader = leader_of(trace)
    if leader is None:
        raise ValueError(
            f"trace must be one of FTRL on the losses themselves with a number eta, got {trace.learner!r}"
        )
    return leader


def _past(trace, w):
    """f_1 + … + f_{t−1} at w_t and at w_{t+1}."""
    here, there = w[..., :-1, :], w[..., 1:, :]
    if isinstance(trace.losses, np.ndarray):
        before = np.cumsum(trace.losses, axis=-2) - trace.losses
        return (before * here).sum(-1), (before * there).sum(-1)
    table = np.array([values(trace.losses, point) for point in w])  # f_t at every play
    return tuple(np.array([table[t + k, :t].sum() for t in range(trace.rounds)]) for k in (0, 1))


def _sum(t):
    """f_1 + … + f_t + R, written out when it is short."""
    losses = [f"f_{i}" for i in range(1, t + 1)] if t < 3 else ["f_1", "…", f"f_{t}"]
    return " + ".join([*losses, "R"])


# ---------------------------------------------------------------- Lecture 17, (17.2) and (17.3)


@dataclass(frozen=True, eq=False)
class _Regularised(Theorem, register=False):
    """What the four forms of (17.2) share: `half` times η is paid for each squared gradient."""

    half = 1.0
    phi_range: float
    step: ClassVar[Any]
    _for: ClassVar[Any]

    @property
    def gradients(self) -> np.ndarray:
        """The bounds on ‖z_1‖*, …, ‖z_T‖*."""
        raise NotImplementedError

    def hypotheses(self, trace, u=None):
        """Ask for FTRL with φ/η, φ 1-strongly convex with range ≤ D, dual norms within their bounds, u in
        the set.
        """
        leader = leader_of(trace)
        phi: Any = getattr(leader, "regularizer", None)
        first = {
            "FTRL on the losses themselves with the step η": leader is not None
            and bool(np.isclose(leader.eta, self.step, rtol=1e-9, atol=0.0)),
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

    def chain(self, trace, u=None):
        """(17.2): Theorem 1, then what a round can cost, then the range of φ, then the gradients.

        The sharp form keeps the slack of each round of Theorem 1, and so pays F_t(w_t) − min F_t ≤
        (η/2)‖z_t‖*², F_t = f_1 + … + f_t + φ/η.
        """
        leader, u, T = _leader(trace), validate.vector("u", u, trace.dim), trace.rounds
        phi, eta, sharp = leader.regularizer, leader.eta, self.half < 1
        if not hasattr(phi, "range"):
            raise ValueError(f"trace must be one of a strongly convex regulariser, got {phi!r}")
        moved = (trace.paid - values(trace.losses, plays(trace)[1:])).sum()
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
    def games(cls, rng):
        """Play linear losses on a disk and on a simplex with the entropy."""

        def arena(over, phi, rho):
            def game(losses):
                stated = cls._for(phi.range(over), rho, len(losses))
                trace = play(learners.FTRL(over, phi, stated.step), np.array(losses))
                return stated, trace, trace.best(over)

            return game

        yield from attacks(arena(Ball(2, 2.0), SquaredNorm(), 1.5), slopes(2, 1.5), rng, short=3)
        yield from attacks(arena(Simplex(3), NegativeEntropy(), 1.0), list(np.eye(3)), rng, short=3)

    @classmethod
    def worst(cls, T=16):
        """Play a spiral on the disk: the plays go evenly to the edge of the ball, and no projection acts."""
        stated = cls._for(0.5, 2.0, T)
        trace = play(learners.FTRL(Ball(2), SquaredNorm(), stated.step), spiral(1.0, 2.0, T, stated.step))
        return stated, trace, trace.best(Ball(2))


@dataclass(frozen=True, eq=False)
class FTRL(_Regularised):
    """(17.2) of Lecture 17. Convex losses, a set on which φ has range D, φ 1-strongly convex in a norm ‖·‖.

    FTRL with φ/η has regret ≤ D/η + η Σ ‖z_t‖*², where z_t is a subgradient of f_t at w_t and ‖·‖* the dual
    norm. `dual_norms` are the ‖z_t‖* or upper bounds on them, one a round.
    """

    item, kind, tightness = "ma17.eq17.2", "upper", 2 / 3
    dual_norms: Any
    eta: float

    def __post_init__(self):
        self._check(phi_range=validate.positive, dual_norms=validate.array, eta=validate.positive)

    @classmethod
    def of(cls, trace: Any, rho: float) -> FTRL:
        """Read D, η and T off a trace of FTRL; every ‖z_t‖* is at most rho."""
        leader = _leader(trace)
        if not hasattr(leader.regularizer, "range"):
            raise ValueError(
                f"trace must be one of a strongly convex regulariser, got {leader.regularizer!r}"
            )
        return cls(leader.regularizer.range(leader.over), np.full(trace.rounds, rho, dtype=float), leader.eta)

    @property
    def gradients(self) -> np.ndarray:
        """The bounds on ‖z_1‖*, …, ‖z_T‖*."""
        return self.dual_norms

    @property
    def step(self) -> float:
        """η, any number > 0."""
        return self.eta

    @property
    def bound(self) -> Any:
        """D/η + η Σ ‖z_t‖*²."""
        return self.phi_range / self.eta + self.half * self.eta * np.square(self.dual_norms).sum(axis=-1)

    @classmethod
    def _for(cls, D, rho, T):
        return cls(D, np.full(T, rho), np.sqrt(2 * D / T) / rho)


@dataclass(frozen=True, eq=False)
class FTRLSharp(FTRL):
    """(17.2) of Lecture 17 with half the second term: regret ≤ D/η + (η/2) Σ ‖z_t‖*², hypotheses as in
    `FTRL`.

    Some game on the disk meets it.
    """

    item, kind, tightness = "ma17.eq17.2", "tight", 1.0
    half = 0.5


@dataclass(frozen=True, eq=False)
class FTRLTuned(_Regularised):
    """(17.3) of Lecture 17, corrected. Hypotheses as in `FTRL`, and ‖z_t‖* ≤ ρ in all T rounds.

    FTRL with φ/η and η = √(D/T)/ρ has regret ≤ 2ρ√(DT).
    """

    item, kind, tightness = "ma17.eq17.3", "upper", 0.75
    rho: float
    T: int

    def __post_init__(self):
        self._check(phi_range=validate.positive, rho=validate.positive, T=validate.count)

    @property
    def gradients(self) -> np.ndarray:
        """ρ, T times."""
        return np.full(self.T, self.rho)

    @property
    def step(self) -> float:
        """√(D/T)/ρ, which makes (17.2) least when every ‖z_t‖* is ρ."""
        return np.sqrt(self.phi_range / self.T) / self.rho

    @property
    def bound(self) -> float:
        """2ρ√(DT)."""
        return 2 * self.rho * np.sqrt(self.phi_range * self.T)

    @classmethod
    def _for(cls, D, rho, T):
        return cls(D, rho, T)


@dataclass(frozen=True, eq=False)
class FTRLTunedSharp(FTRLTuned):
    """(17.3) of Lecture 17 from the sharp (17.2): with η = √(2D/T)/ρ the regret is at most ρ√(2DT).

    Hypotheses as in `FTRLTuned`. Some game on the disk meets it.
    """

    item, kind, tightness = "ma17.eq17.3", "tight", 1.0
    half = 0.5

    @property
    def step(self) -> float:
        """√(2D/T)/ρ, which makes the sharp (17.2) least when every ‖z_t‖* is ρ."""
        return np.sqrt(2 * self.phi_range / self.T) / self.rho

    @property
    def bound(self) -> float:
        """ρ√(2DT)."""
        return self.rho * np.sqrt(2 * self.phi_range * self.T)
