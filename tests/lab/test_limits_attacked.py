"""Limits are attacked in four ways, and reached.

*Random* losses; *greedy* ones, each the worst for the score after its round; *exhaustive* play of a short
game, all sequences of a few moves; and the worst case that is *known*. The largest share of the limit that
any of them takes must not exceed 1, and must reach 1. A floor is attacked by learners instead: none stays
below it, and one does not pay a little more. Each limit also has a value worked out by hand.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from ocolab import bandits, limits
from ocolib.adversaries import orthogonal, spiral
from ocolib.game import play
from ocolib.learners import FTL, FTRL, OGD, Hedge
from ocolib.losses import Quadratic, perceptron_loss
from ocolib.portfolios import best_rebalanced, market
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Simplex

WAYS = "random", "greedy", "exhaustive", "known"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Arena:
    """Where a limit is attacked: who plays T rounds, the moves of the adversary, what each game suffers, the
    limit for it, and the worst game that is known, as (suffered, limit)."""

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


INTERVAL, DISK = Box([-1.0], [1.0]), Ball(2, 2.0)


def game(learner, losses, over, T=None):
    """(trace, regret)."""
    trace = play(learner, losses, rounds=T)
    return trace, float(trace.regret(over))


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


def at_one(trace):
    """The larger regret of the two against 1 and −1, of a bettor whose regret against 0 is at most 1."""
    assert trace.regret(against=[0.0]) <= 1 + ROUNDING
    return max(float(trace.regret(against=[u])) for u in (1.0, -1.0))


def behind_the_best(trace):
    """The logarithm of the best rebalanced portfolio's wealth over the trace's own."""
    return float(trace.paid.sum() + np.log(best_rebalanced([loss.x for loss in trace.losses])[1]))


class Hidden(Arena):
    """The stored learner for two arms: its exact expected regret, as a share of the value."""

    def share(self, losses):
        T = len(losses)
        _, _, value, learner, _ = bandits.read(bandits.stored()[2, T])
        matrix = tuple("".join(str(int(x)) for x in column) for column in zip(*losses, strict=True))
        return float(bandits.regret(learner, matrix) / value)


def mixed(n, T):
    """What the stored mixture forces on every learner, and the value."""
    *_, mixture = bandits.read(bandits.stored()[n, T])
    return float(bandits.forced(n, T, mixture)), limits.bandit(n, T)


ARENAS = {
    limits.strike: Arena(
        limits.OptionBettor,
        [*slopes(1, 1.0), np.array([0.4])],
        at_one,
        lambda trace: limits.strike(trace.rounds),
        lambda: (at_one(play(limits.OptionBettor(9), np.ones((9, 1)))), limits.strike(9)),
    ),
    limits.wealth_ratio: Arena(
        limits.MinimaxPortfolio,
        market([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]),
        behind_the_best,
        lambda trace: limits.wealth_ratio(trace.rounds),
        lambda: (
            behind_the_best(play(limits.MinimaxPortfolio(9), market(np.eye(2)[[0, 1, 1] * 3]))),
            limits.wealth_ratio(9),
        ),
        short=5,
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
        forced(OGD(DISK, 0.6), spiral(2.0, 1.5, 8, 0.6), 8, limits.descent(2.0, 1.5, 8, 0.6)),
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
    limits.bandit: Hidden(None, bits(2), None, None, lambda: mixed(3, 4), short=3, long=5),
}


# ---------------------------------------------------------------- floors: who is attacked is the adversary


@dataclass(frozen=True)
class Floor:
    """An adversary forces `floor` on every learner (what each pays), and on the `best` no more."""

    floor: float
    paid: Any
    learners: Any
    best: Any


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

BY_HAND = [
    (limits.interval, (2.0, 3.0, 4), 9.0),  # E|S_4| = 3/2
    (limits.ball, (2.0, 3.0, 4), 12.0),
    (limits.two_experts, (4,), 0.75),
    (limits.experts_floor, (2, 2), 0.375),  # max(S, S') is 2 with chance 7/16, −2 with 1/16
    (limits.experts, (3, 2), 5 / 6),
    (limits.hedge, (2, 2, np.log(3)), 0.75),  # the same expert twice: ½ + ¼
    (limits.descent, (2.0, 3.0, 4, 0.5), 13.0),  # 4 + 9
    (limits.square_loss, (2,), 0.625),  # ½(¾ + ½)
    (limits.leader_square_loss, (3,), 5 / 3),
    (limits.delayed, (2.0, 3.0, 1, 8), 24.0),
    (limits.moving, (2.0, 3.0, 4, 16), 48.0),
    (limits.strike, (3,), 1.5),  # |S_3| is 1 or 3: ¾·½ + ¼·5/2 = 1
    (limits.wealth_ratio, (3,), np.log(26 / 9)),  # 1 + 4/9 + 4/9 + 1
    (limits.bandit, (4, 2), 1.25),  # one good arm of four: ¾ + ½
]


def name_of(limit):
    return limit.__name__


def test_every_limit_is_attacked_and_has_a_value_by_hand():
    assert sorted(map(name_of, [*ARENAS, *FLOORS])) == sorted(map(name_of, limits.LIMITS))
    assert {name_of(limit) for limit in FLOORS} == {name_of(p) for p in limits.LIMITS if p.kind == "lower"}
    assert {name_of(limit) for limit, _, _ in BY_HAND} == set(map(name_of, limits.LIMITS))


@pytest.mark.parametrize("limit", ARENAS, ids=name_of)
def test_a_limit_withstands_all_attacks_and_is_reached(limit):
    arena = ARENAS[limit]
    shares = {way: np.array(list(getattr(arena, way)())) for way in WAYS}
    for way, found in shares.items():
        assert len(found) and (found <= 1 + ROUNDING).all(), (way, found.max())
    assert max(found.max() for found in shares.values()) >= arena.tightness - ROUNDING
    assert min(found.max() for found in shares.values()) > 0.1, "an attack that does nothing"


@pytest.mark.parametrize("limit", FLOORS, ids=name_of)
def test_a_floor_is_forced_on_everyone_and_no_more_than_the_floor(limit):
    floor = FLOORS[limit]
    for learner in [*floor.learners, floor.best]:
        assert floor.paid(learner) >= floor.floor - ROUNDING, learner
    assert floor.paid(floor.best) == pytest.approx(floor.floor, rel=1e-9)


@pytest.mark.parametrize(("limit", "arguments", "value"), BY_HAND, ids=[name_of(p) for p, _, _ in BY_HAND])
def test_a_limit_has_the_value_worked_out_by_hand(limit, arguments, value):
    assert limit(*arguments) == pytest.approx(value, rel=1e-9)
