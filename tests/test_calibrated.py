"""Promises are attacked in four ways, and the same promise below its known tightness is broken.

*Random* losses; *greedy* ones, each the worst for the score after its round; *exhaustive* play of a short
game, all sequences of a few moves; and the worst case that is *known*. The largest share of the promise that
any of them takes must not exceed 1, and must reach the tightness that the promise is said to have: the
largest constant for which we can show that the promise, times anything less, is false.

A floor is attacked by learners instead: none stays below it, and one does not pay a little more.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from spite import spiteful_to_normalized_winnow, spiteful_to_winnow, static_worst

from ocolib import bounds, limits
from ocolib.adversaries import (
    alternating,
    nature,
    orthogonal,
    separable,
    ties,
)
from ocolib.game import play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    DelayedOGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Pegasos,
    Perceptron,
    Winnow,
    inverse,
    inverse_sqrt,
)
from ocolib.losses import Quadratic, hinge, perceptron_loss
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Hull, Simplex, Space

WAYS = "random", "greedy", "exhaustive", "known"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Arena:
    """Where a promise is attacked: who plays T rounds, the moves of the adversary, what each game suffers and
    what it was promised, and the worst game that is known, as (suffered, promised)."""

    learner: Any
    moves: Any
    suffered: Any
    promised: Any
    worst: Any
    tightness: float = 1.0
    #: of the exhaustive and the greedy game
    short: int = 6
    #: of the random game
    long: int = 30

    def share(self, losses):
        trace = play(self.learner(len(losses)), self.arranged(losses))
        suffered, promised = self.suffered(trace), self.promised(trace)
        assert promised >= 0
        return suffered / promised if promised else float(suffered > ROUNDING)

    def arranged(self, losses):
        """A list of examples is data, a list of slopes an array."""
        if isinstance(losses[0], tuple):
            return perceptron_loss(*(np.array(part) for part in zip(*losses, strict=True)), self.threshold)
        return np.array(losses) if isinstance(losses[0], np.ndarray) else list(losses)

    @property
    def threshold(self):
        return getattr(self.learner(1), "threshold", 0.0)

    def random(self):
        rng = np.random.default_rng(0)
        for _ in range(8):
            yield self.share([self.moves[k] for k in rng.integers(len(self.moves), size=self.long)])

    def greedy(self):
        chosen = []
        for _ in range(self.short + 2):
            chosen.append(max(self.moves, key=lambda move: self.share([*chosen, move])))
            yield self.share(chosen)

    def exhaustive(self):
        rounds = min(self.short, int(np.log(700) / np.log(len(self.moves))))
        for losses in product(self.moves, repeat=rounds):
            yield self.share(list(losses))

    def known(self):
        suffered, promised = self.worst()
        yield suffered / promised


def slopes(dim, rho, many=4):
    """Vectors of length ρ: both signs on a line, else all round a circle."""
    if dim == 1:
        return [np.array([rho]), np.array([-rho])]
    angles = 2 * np.pi * np.arange(many) / many
    return [rho * np.array([np.cos(a), np.sin(a), *[0.0] * (dim - 2)]) for a in angles]


def bits(n):
    return [np.array(row) for row in product((0.0, 1.0), repeat=n)]


def bowls(centers):
    return [Quadratic(c) for c in centers]


def regret_on(over):
    return lambda trace: float(trace.regret(over))


def updates(trace):
    return int(trace.updates.sum())


INTERVAL, UNIT, DISK = Box([-1.0], [1.0]), Box([0.0], [1.0]), Ball(2, 2.0)
BOWLS = [Quadratic([c], 0.5) for c in (-1.0, -0.3, 0.4, 1.0)]  # on [−1, 1] the slope is at most 1
# of margin 0.3 along e_1, and no longer than 1
SEPARATED = [(np.array([0.3, s * np.sqrt(0.91)]), 1.0) for s in (-1.0, -0.5, 0.5, 1.0)]
TIED = [(np.array([1.0, 0.0]), 1.0), (np.array([0.6, -0.8]), 1.0), (np.array([0.6, 0.8]), 1.0)]
BOOLEAN = [(np.array(x), 1.0 if x[0] else -1.0) for x in product((0.0, 1.0), repeat=4)]
SIGNED = [(np.array([0.5, a, b]), 1.0) for a, b in product((-1.0, 0.0, 1.0), repeat=2)]


def game(learner, losses, over, T=None):
    """(trace, regret)."""
    trace = play(learner, losses, rounds=T)
    return trace, float(trace.regret(over))


def worst_descent(T=32):
    Z, path = limits.zigzag(2.0, 1.5, T)
    over = Hull(path)
    regret = game(OGD(over, bounds.descent_step(2.0, 1.5, T)), Z, over)[1]
    assert over.diameter == pytest.approx(2.0)
    return regret, bounds.descent(2.0, 1.5, T)


def worst_stability(T=2000):
    trace = play(FTRL(Space(1), SquaredNorm(), 0.5), np.ones((T, 1)))
    return float(trace.regret(against=trace.last)), float(bounds.ftrl_stability(trace, trace.last))


def of_the_best(bound):
    """A bound of a trace against u, at the best u of the set."""

    def promised(trace):
        over = trace.learner.over
        return float(bound(trace, over.minimize_linear(trace.subgradients.sum(axis=0))))

    return promised


def worst_perceptron(n=16):
    trace = play(Perceptron(n), perceptron_loss(np.eye(n), np.ones(n)))
    return updates(trace), bounds.perceptron(1.0, 1 / np.sqrt(n))


def worst_from(n=9, k=3):
    start, u = np.where(np.arange(n) < k, 1.0, 0.0), np.full(n, 1 / np.sqrt(n))
    trace = play(OGD(Space(n), 1.0, start=start), perceptron_loss(np.eye(n)[k:], np.ones(n - k)))
    return updates(trace), bounds.perceptron_from(1.0, 1 / np.sqrt(n), start @ u, np.linalg.norm(start))


def worst_ties(kink=0.5):
    X, y, _ = ties(kink, margin=0.05)
    trace = play(Perceptron(X.shape[1], kink=kink), perceptron_loss(X, y))
    return updates(trace), bounds.perceptron_ties(1.0, 0.05, kink)


def worst_winnow(n=1024, theta=32.0):
    return updates(play(Winnow(n, theta), spiteful_to_winnow(n, 1, theta), rounds=100)), bounds.winnow(
        n, 1, theta
    )


def worst_normalized_winnow(n=1025, margin=0.2):
    promised = bounds.normalized_winnow(n, margin)
    spite = spiteful_to_normalized_winnow(n, margin)
    return updates(play(NormalizedWinnow(n, margin), spite, rounds=int(promised) + 9)), promised


def worst_zinkevich(T=10_000):
    return game(OGD(UNIT, inverse_sqrt(1.0), "eager", [0.0]), static_worst(T), UNIT)[1], bounds.zinkevich(
        1.0, 1.0, 0.0, T
    )


def worst_zinkevich_sharp(D=3.0, rho=0.5):
    over = Box([0.0], [D])
    regret = game(OGD(over, inverse_sqrt(D / rho), "eager", [D]), np.array([[rho]]), over)[1]
    return regret, bounds.zinkevich_sharp(D, rho, 0.0, 1, scale=D / rho)


def worst_delayed(T=10_000):
    """Zigzag and drag come near it if there is no delay; with one we do not know how tight it is."""
    scale = bounds.delayed_scale(1.0, 1.0, 0)
    regret = game(DelayedOGD(UNIT, inverse_sqrt(scale), 0), static_worst(T, scale), UNIT)[1]
    return regret, bounds.delayed(1.0, 1.0, 0, T)


def worst_delayed_constant(tau=4):
    T = tau + 1
    regret = game(DelayedOGD(INTERVAL, 1 / T, tau), np.ones((T, 1)), INTERVAL)[1]
    return regret, bounds.delayed_constant(1.0, 1.0, [tau] * T, 1 / T)


def worst_delayed_curved(H=0.5):
    """No delay and one round: the bound of strongly convex losses, which is met."""
    over = Box([-2.0], [0.0])
    regret = game(DelayedOGD(over, inverse(1 / H), 0), [Quadratic([-2.0], H)], over)[1]
    return regret, bounds.delayed_strongly_convex(2.0, 1.0, H, 0, 1)


def worst_curved(T, promised):
    """A bowl at 0 from the right end of [0, G/H], then one at G/H."""
    G, H = 3.0, 0.5
    over, losses = Box([0.0], [G / H]), [Quadratic([0.0], H), Quadratic([G / H], H)][:T]
    trace, regret = game(OGD(over, inverse(1 / H), "eager", start=[G / H]), losses, over)
    return regret, float(promised(G, H, T) if promised else bounds.strongly_convex_seen(trace))


def worst_pegasos(radius=0.5, reg=3.0):
    trace = play(Pegasos(1, reg), hinge([[radius]] * 2, [1.0, -1.0]).regularized(reg))
    return float(trace.regret(against=[0.0])), bounds.pegasos(radius, reg, 2)


def worst_ftrl(step, promised, T=16):
    """A spiral on the disk: the plays go evenly to the edge of the ball, and no projection acts."""
    eta = step(0.5, 2.0, T)
    Z = limits.spiral(1.0, 2.0, T, eta)
    return game(FTRL(Ball(2), SquaredNorm(), eta), Z, Ball(2))[1], float(promised(T, eta))


def worst_hedge(T=400):
    return limits.hedge(2, T), bounds.hedge(2, T)


def worst_hedge_anytime(T=2000, turn=150):
    losses = np.tile(np.eye(2), (T // 2, 1))
    losses[-turn:] = [1.0, 0.0]
    return game(Hedge(2, bounds.hedge_schedule(2)), losses, Simplex(2))[1], bounds.hedge_anytime(2, T)


def against(learner, adversary, over, T, promised):
    return lambda: (game(learner, adversary, over, T)[1], promised)


def forced(learner, adversary, T, promised):
    """The optimal player against the optimal adversary."""
    return against(learner, adversary, learner.over, T, promised)


def turns(T, delay=1):
    """Two optimal players of half the rounds that take turns."""
    return limits.Interleaved(limits.BallMinimax(2, 2.0, 1.5, (T + delay) // (delay + 1)), delay)


@cache
def experts_game(T):
    return limits.solve_experts(3, T)


def lateness(T):
    return np.arange(T) % 3


ARENAS = {
    bounds.ftrl_stability: Arena(
        lambda T: FTRL(DISK, SquaredNorm(), 0.4),
        slopes(2, 1.5),
        regret_on(DISK),
        of_the_best(bounds.ftrl_stability),
        worst_stability,
        2001 / 2002,
    ),
    bounds.descent: Arena(
        lambda T: OGD(UNIT, bounds.descent_step(1.0, 1.5, T)),
        slopes(1, 1.5),
        regret_on(UNIT),
        lambda trace: bounds.descent(1.0, 1.5, trace.rounds),
        worst_descent,
        0.75,
    ),
    bounds.descent_sharp: Arena(
        lambda T: OGD(DISK, bounds.descent_sharp_step(2.0, 1.5, T)),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: bounds.descent_sharp(2.0, 1.5, trace.rounds),
        against(OGD(DISK, bounds.descent_sharp_step(2.0, 1.5, 9)), orthogonal(1.5), DISK, 9, 9.0),
    ),
    bounds.descent_anytime: Arena(
        lambda T: OGD(DISK, inverse_sqrt(2.0 / (1.5 * np.sqrt(2)))),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: bounds.descent_anytime(2.0, 1.5, trace.rounds),
        against(OGD(DISK, inverse_sqrt(2.0 / (1.5 * np.sqrt(2)))), orthogonal(1.5), DISK, 8, 12.0),
        np.sqrt(0.5),
    ),
    bounds.perceptron: Arena(
        lambda T: Perceptron(2),
        SEPARATED,
        updates,
        lambda trace: bounds.perceptron(1.0, 0.3),
        worst_perceptron,
    ),
    bounds.perceptron_from: Arena(
        lambda T: OGD(Space(2), 1.0, start=[-0.4, 0.3]),
        SEPARATED,
        updates,
        lambda trace: bounds.perceptron_from(1.0, 0.3, -0.4, 0.5),
        worst_from,
    ),
    bounds.perceptron_ties: Arena(
        lambda T: Perceptron(2, kink=0.5),
        TIED,
        updates,
        lambda trace: bounds.perceptron_ties(1.0, 0.6, 0.5),
        worst_ties,
        0.99,
    ),
    bounds.winnow: Arena(
        lambda T: Winnow(4, 2.0), BOOLEAN, updates, lambda trace: bounds.winnow(4, 1, 2.0), worst_winnow, 0.9
    ),
    bounds.normalized_winnow: Arena(
        lambda T: NormalizedWinnow(3, 0.5),
        SIGNED,
        updates,
        lambda trace: bounds.normalized_winnow(3, 0.5),
        worst_normalized_winnow,
        0.85,
    ),
    bounds.zinkevich: Arena(
        lambda T: OGD(UNIT, inverse_sqrt(1.0), "eager", [0.0]),
        slopes(1, 1.0),
        regret_on(UNIT),
        lambda trace: bounds.zinkevich(1.0, 1.0, 0.0, trace.rounds),
        worst_zinkevich,
        0.976,
    ),
    bounds.zinkevich_sharp: Arena(
        lambda T: OGD(UNIT, inverse_sqrt(0.7), "eager", [0.0]),
        slopes(1, 1.0),
        regret_on(UNIT),
        lambda trace: bounds.zinkevich_sharp(1.0, 1.0, 0.0, trace.rounds, scale=0.7),
        worst_zinkevich_sharp,
    ),
    bounds.delayed: Arena(
        lambda T: DelayedOGD(INTERVAL, inverse_sqrt(bounds.delayed_scale(2.0, 1.0, 1)), 1),
        slopes(1, 1.0),
        regret_on(INTERVAL),
        lambda trace: bounds.delayed(2.0, 1.0, 1, trace.rounds),
        worst_delayed,
        0.97,
    ),
    bounds.delayed_constant: Arena(
        lambda T: DelayedOGD(DISK, 0.3, lateness(T)),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: bounds.delayed_constant(2.0, 1.5, lateness(trace.rounds), 0.3),
        worst_delayed_constant,
    ),
    bounds.delayed_strongly_convex: Arena(
        lambda T: DelayedOGD(INTERVAL, inverse(2.0), 1),
        BOWLS,
        regret_on(INTERVAL),
        lambda trace: bounds.delayed_strongly_convex(2.0, 1.0, 0.5, 1, trace.rounds),
        worst_delayed_curved,
    ),
    bounds.strongly_convex: Arena(
        lambda T: OGD(INTERVAL, inverse(2.0), "eager"),
        BOWLS,
        regret_on(INTERVAL),
        lambda trace: bounds.strongly_convex(1.0, 0.5, trace.rounds),
        lambda: worst_curved(1, bounds.strongly_convex),
    ),
    bounds.strongly_convex_sharp: Arena(
        lambda T: OGD(INTERVAL, inverse(2.0), "eager"),
        BOWLS,
        regret_on(INTERVAL),
        lambda trace: bounds.strongly_convex_sharp(1.0, 0.5, trace.rounds),
        against(
            OGD(Space(2), inverse(2.0), "eager"),
            limits.at_distance(3.0, 0.5),
            Space(2),
            7,
            bounds.strongly_convex_sharp(3.0, 0.5, 7),
        ),
    ),
    bounds.strongly_convex_seen: Arena(
        lambda T: OGD(INTERVAL, inverse(2.0), "eager"),
        BOWLS,
        regret_on(INTERVAL),
        lambda trace: float(bounds.strongly_convex_seen(trace)),
        lambda: worst_curved(2, None),
    ),
    bounds.pegasos: Arena(
        lambda T: Pegasos(2, 0.5),
        [hinge([x], [y]).regularized(0.5)[0] for x, y in product(([1.0, 0.0], [0.6, -0.8]), (-1.0, 1.0))],
        lambda trace: max(float(trace.regret(against=u)) for u in trace.points),
        lambda trace: bounds.pegasos(1.0, 0.5, trace.rounds),
        worst_pegasos,
        3 / (4 + 4 * np.log(2)),
        short=4,
    ),
    bounds.ftrl: Arena(
        lambda T: FTRL(DISK, SquaredNorm(), 0.4),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: float(bounds.ftrl(2.0, np.full(trace.rounds, 1.5), 0.4)),
        lambda: worst_ftrl(bounds.ftrl_sharp_step, lambda T, eta: bounds.ftrl(0.5, [2.0] * T, eta)),
        2 / 3,
    ),
    bounds.ftrl_sharp: Arena(
        lambda T: FTRL(DISK, SquaredNorm(), 0.4),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: float(bounds.ftrl_sharp(2.0, np.full(trace.rounds, 1.5), 0.4)),
        lambda: worst_ftrl(
            bounds.ftrl_sharp_step, lambda T, eta: bounds.ftrl_sharp(0.5, np.full(T, 2.0), eta)
        ),
    ),
    bounds.ftrl_tuned: Arena(
        lambda T: FTRL(DISK, SquaredNorm(), bounds.ftrl_step(2.0, 1.5, T)),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: bounds.ftrl_tuned(2.0, 1.5, trace.rounds),
        lambda: worst_ftrl(bounds.ftrl_step, lambda T, eta: bounds.ftrl_tuned(0.5, 2.0, T)),
        0.75,
    ),
    bounds.ftrl_tuned_sharp: Arena(
        lambda T: FTRL(DISK, SquaredNorm(), bounds.ftrl_sharp_step(2.0, 1.5, T)),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: bounds.ftrl_tuned_sharp(2.0, 1.5, trace.rounds),
        lambda: worst_ftrl(bounds.ftrl_sharp_step, lambda T, eta: bounds.ftrl_tuned_sharp(0.5, 2.0, T)),
    ),
    bounds.hedge: Arena(
        lambda T: Hedge(3, bounds.hedge_step(3, T)),
        bits(3),
        regret_on(Simplex(3)),
        lambda trace: bounds.hedge(3, trace.rounds),
        worst_hedge,
        0.94,
    ),
    bounds.hedge_anytime: Arena(
        lambda T: Hedge(2, bounds.hedge_schedule(2)),
        bits(2),
        regret_on(Simplex(2)),
        lambda trace: bounds.hedge_anytime(2, trace.rounds),
        worst_hedge_anytime,
        0.67,
    ),
    limits.interval: Arena(
        lambda T: limits.IntervalMinimax(2.0, 1.5, T),
        [*slopes(1, 1.5), np.array([0.4])],
        regret_on(Ball(1, 2.0)),
        lambda trace: limits.interval(2.0, 1.5, trace.rounds),
        forced(
            limits.IntervalMinimax(2.0, 1.5, 9), limits.coin(2.0, 1.5, 9), 9, limits.interval(2.0, 1.5, 9)
        ),
    ),
    limits.ball: Arena(
        lambda T: limits.BallMinimax(2, 2.0, 1.5, T),
        [*slopes(2, 1.5), np.array([0.4, -0.2])],
        regret_on(DISK),
        lambda trace: limits.ball(2.0, 1.5, trace.rounds),
        forced(limits.BallMinimax(2, 2.0, 1.5, 9), orthogonal(1.5), 9, 9.0),
    ),
    limits.two_experts: Arena(
        limits.Cover,
        [*bits(2), np.array([0.5, 0.0])],
        regret_on(Simplex(2)),
        lambda trace: limits.two_experts(trace.rounds),
        forced(limits.Cover(8), limits.solve_experts(2, 8).adversary, 8, limits.two_experts(8)),
        short=4,
    ),
    limits.experts: Arena(
        experts_game,
        bits(3),
        regret_on(Simplex(3)),
        lambda trace: experts_game(trace.rounds).value,
        forced(limits.solve_experts(3, 7), limits.solve_experts(3, 7).adversary, 7, limits.experts(3, 7)),
        short=3,
        long=5,
    ),
    limits.hedge: Arena(
        lambda T: Hedge(3, 0.9),
        bits(3),
        regret_on(Simplex(3)),
        lambda trace: limits.hedge(3, trace.rounds, 0.9),
        forced(Hedge(3, 0.9), limits.hedge_losses(3, 8, 0.9), 8, limits.hedge(3, 8, 0.9)),
        short=3,
        long=5,
    ),
    limits.descent: Arena(
        lambda T: OGD(DISK, 2.0 / (1.5 * np.sqrt(T))),
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: limits.descent(2.0, 1.5, trace.rounds, 2.0 / (1.5 * np.sqrt(trace.rounds))),
        forced(OGD(DISK, 0.6), limits.spiral(2.0, 1.5, 8, 0.6), 8, limits.descent(2.0, 1.5, 8, 0.6)),
    ),
    limits.square_loss: Arena(
        lambda T: limits.SquareMinimax(2, T),
        bowls([*slopes(2, 1.0), [0.3, 0.1]]),
        regret_on(Ball(2)),
        lambda trace: limits.square_loss(trace.rounds),
        forced(limits.SquareMinimax(2, 9), limits.away(9), 9, limits.square_loss(9)),
        short=4,
    ),
    limits.leader_square_loss: Arena(
        lambda T: FTL(INTERVAL),
        bowls([[-1.0], [0.2], [1.0]]),
        regret_on(INTERVAL),
        lambda trace: limits.leader_square_loss(trace.rounds),
        forced(
            FTL(INTERVAL), [Quadratic(c) for c in limits.leader_centers(9)], 9, limits.leader_square_loss(9)
        ),
        short=5,
    ),
    limits.delayed: Arena(
        turns,
        slopes(2, 1.5),
        regret_on(DISK),
        lambda trace: limits.delayed(2.0, 1.5, 1, trace.rounds + trace.rounds % 2),
        against(turns(8), limits.blocks(turns(8), 1.5, 1), DISK, 8, limits.delayed(2.0, 1.5, 1, 8)),
        short=5,
    ),
}


# ---------------------------------------------------------------- floors: who is attacked is the adversary


@dataclass(frozen=True)
class Floor:
    """An adversary forces `floor` on every learner (what each pays), and on the `best` no more."""

    floor: float
    paid: Any
    learners: Any
    best: Any


def mistaken(learner, n=9):
    return int(play(learner, nature(2.0), rounds=n).mistakes.sum())


def on_fair_bits(learner, n=3, T=4):
    """The mean over all games of n experts with bits: each is as likely as any other."""
    games = np.array(list(product(bits(n), repeat=T)))
    return float(np.mean(play(learner, games).regret(Simplex(n))))


def on_pieces(learner, K=3, T=12):
    trace = play(learner, limits.restarts(1.5, K, T), rounds=T)
    return float(trace.dynamic_regret(limits.best_pieces(trace, K, DISK)))


class Restarted:
    """The optimal player of four rounds, anew every four rounds."""

    over = DISK

    def player(self):
        self.t, self.inner = 0, limits.BallMinimax(2, 2.0, 1.5, 4).player()
        return self

    def predict(self):
        return self.inner.predict()

    def update(self, loss):
        self.inner.update(loss)
        self.t += 1
        if self.t % 4 == 0:
            self.inner = limits.BallMinimax(2, 2.0, 1.5, 4).player()


FLOORS = {
    bounds.mistakes_floor: Floor(
        bounds.mistakes_floor(2.0, 2 / 3),
        mistaken,
        [Perceptron(9), Perceptron(9, kink=0.5), OGD(Ball(9), 0.3, "eager"), Linearized(FTL(Ball(9)))],
        Perceptron(9),
    ),
    limits.experts_floor: Floor(
        limits.experts_floor(3, 4),
        on_fair_bits,
        [Hedge(3, 0.7), FTL(Simplex(3)), FTRL(Simplex(3), SquaredNorm(), 0.4), OGD(Simplex(3), 0.2, "eager")],
        Hedge(3, 1e-9),
    ),
    limits.moving: Floor(
        limits.moving(2.0, 1.5, 3, 12),
        on_pieces,
        [OGD(DISK, 0.4), OGD(DISK, 0.4, "eager"), FTL(DISK), limits.BallMinimax(2, 2.0, 1.5, 12)],
        Restarted(),
    ),
}


# ---------------------------------------------------------------- promises about one game


def example2(T, eta):
    leader = FTL(INTERVAL) if eta == np.inf else FTRL(INTERVAL, SquaredNorm(), eta)
    return game(leader, alternating(T), INTERVAL)[1] / bounds.example2(T, eta)


def logistic(X, y, margin, eta, t):
    """The risk after each of t steps from 0, as a share of what is promised."""
    w, M = np.zeros(X.shape[1]), y[:, None] * X
    for k in range(1, t + 1):
        w = w + eta * (M / (1 + np.exp(M @ w))[:, None]).mean(axis=0)
        yield float(np.log1p(np.exp(-M @ w)).mean() / bounds.logistic_descent(margin, k, eta))


def logistic_games():
    """(random data, one point with a tiny step)."""
    for seed in range(5):
        X, y, u = separable(30, 3, 0.2, seed)
        smooth = np.linalg.norm(X, 2) ** 2 / (4 * len(X))
        yield from logistic(X, y, (y * (X @ u)).min(), 1 / smooth, 60)
    yield from logistic(np.ones((1, 1)), np.ones(1), 1.0, 4e-6, 1)


#: {promise: (shares of it, its tightness, why nobody attacks)}
ALONE = {
    bounds.example2: (
        lambda: [example2(T, eta) for T in range(1, 12) for eta in (0.01, 0.5, 1.9, 2.0, 3.0, np.inf)],
        1.0,
        "it is about one game, and an equality",
    ),
    bounds.logistic_descent: (logistic_games, np.log(2) * (1 - 1e-5), "there is no adversary: one sample"),
}


# ---------------------------------------------------------------- the tests


def name_of(promised):
    return f"{promised.__module__.split('.')[1]}.{promised.__name__}"


def test_every_promise_is_attacked():
    """Whoever makes a promise also says how it is attacked, and at which constant it breaks."""
    attacked = [*ARENAS, *FLOORS, *ALONE]
    assert sorted(map(name_of, attacked)) == sorted(map(name_of, bounds.PROMISES))
    assert {name_of(p) for p in FLOORS} == {name_of(p) for p in bounds.PROMISES if p.kind == "lower"}
    for promised, arena in ARENAS.items():
        assert 0 < arena.tightness <= 1 and (promised.kind == "tight") <= (arena.tightness > 0.999)


@pytest.mark.parametrize("promised", ARENAS, ids=name_of)
def test_a_promise_withstands_all_attacks_and_breaks_below_its_tightness(promised):
    arena = ARENAS[promised]
    shares = {way: np.array(list(getattr(arena, way)())) for way in WAYS}
    for way, found in shares.items():
        assert len(found) and (found <= 1 + ROUNDING).all(), (way, found.max())
    largest = max(found.max() for found in shares.values())
    assert largest >= arena.tightness - ROUNDING, "the promise, times a little less, is not broken"
    assert min(found.max() for found in shares.values()) > 0.1, "an attack that does nothing"


@pytest.mark.parametrize("promised", FLOORS, ids=name_of)
def test_a_floor_is_forced_on_everyone_and_no_more_than_the_floor(promised):
    floor = FLOORS[promised]
    for learner in [*floor.learners, floor.best]:
        assert floor.paid(learner) >= floor.floor - ROUNDING, learner
    assert floor.paid(floor.best) == pytest.approx(floor.floor, rel=1e-9)


@pytest.mark.parametrize("promised", ALONE, ids=name_of)
def test_a_promise_about_one_game_holds_and_breaks_below_its_tightness(promised):
    shares, tightness, _ = ALONE[promised]
    found = np.array(list(shares()))
    assert (found <= 1 + ROUNDING).all() and found.max() >= tightness - ROUNDING
