"""Compute lower bounds on a ball for delayed losses and moving comparators, with what attains them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolab.limits.base import Adversary, Array, limit
from ocolab.limits.linear import ball
from ocolib import validate
from ocolib.adversaries import orthogonal
from ocolib.losses import Linear

# ---------------------------------------------------------------- delays


@limit("tight", "zin4.thm.delayed")
def delayed(radius: float, rho: float, delay: int, T: int) -> float:
    """Return the minimax regret of linear losses on ‖w‖ ≤ R with delay τ, (τ + 1) | T, dim ≥ 2:
    R·ρ·√((τ + 1)T).

    ‖z_t‖ ≤ ρ, and in round t the learner knows z_1, …, z_{t−1−τ}. Upper: τ + 1 optimal players take turns,
    each plays T/(τ + 1) rounds and hears of its own before its next turn. Lower: `blocks`. (Weinberger and
    Ordentlich 2002.)
    """
    T, delay = validate.count("T", T), validate.count("delay", delay, low=0)
    if T % (delay + 1):
        raise ValueError(f"T must be a multiple of delay + 1 = {delay + 1}, got {T}")
    return ball(radius, rho, T) * np.sqrt(delay + 1)


@dataclass(frozen=True)
class _Late:
    learner: Any
    delay: int

    def __post_init__(self):
        validate.count("delay", self.delay, low=0)


class Interleaved(_Late):
    """Run delay + 1 copies of a learner in turn: round t belongs to copy t mod (delay + 1)."""

    def player(self) -> Any:
        """Return a fresh player made of delay + 1 players of the learner."""
        return _Interleaved([self.learner.player() for _ in range(self.delay + 1)])


class _Interleaved:
    def __init__(self, players):
        self.players = players

    def predict(self) -> Array:
        return self.players[0].predict()

    def update(self, loss: Any) -> None:
        self.players[0].update(loss)
        self.players = [*self.players[1:], self.players[0]]


class Delayed(_Late):
    """Run any learner with losses that arrive `delay` rounds late: w_{t+1} uses z_1, …, z_{t−delay}.

    For linear losses: of others a first-order learner takes the slope at its play when told. Around eager
    descent without a start it is `DelayedOGD` with the same delay in every round.
    """

    def player(self) -> Any:
        """Return a fresh player that receives each loss late."""
        return _Delayed(self.learner.player(), self.delay)


class _Delayed:
    def __init__(self, player, delay):
        self.player, self.delay, self.waiting = player, delay, []

    def predict(self) -> Array:
        return self.player.predict()

    def update(self, loss: Any) -> None:
        self.waiting.append(loss)
        if len(self.waiting) > self.delay:
            self.player.update(self.waiting.pop(0))


def blocks(learner: Any, rho: float, delay: int) -> Adversary:
    """Return the adversary of `delayed`, against a deterministic `learner` that hears `delay` rounds late.

    It plays the same z for delay + 1 rounds, orthogonal to the sum before the block.

    The plays of a block were fixed before its first loss is heard of, so the adversary can work them out: it
    plays the learner itself on the past, and takes the z that does not help the sum of the block's plays.
    """
    across = orthogonal(rho)

    def adversary(t, w, past):
        if (t - 1) % (delay + 1):
            return past[-1]
        player, total = learner.player(), np.zeros(len(w))
        for z in past:
            player.update(Linear(z))
        for _ in range(delay + 1):
            total += player.predict()
            player.update(Linear(np.zeros(len(w))))  # not heard of before the block ends
        return across(t, total, past)

    return adversary


# ---------------------------------------------------------------- moving comparators


@limit("lower", "zin4.thm4.1.3")
def moving(radius: float, rho: float, pieces: int, T: int) -> float:
    """Return R·ρ·√(K·T), which `restarts` forces against comparators that are constant on K pieces.

    On a ball around 0, dim ≥ 2, with T/K rounds per piece; the comparator's path is at most 2R(K − 1) long.
    `ball` on each piece, which also shows who attains it if the pieces are known: `BallMinimax(dim, R, ρ, T
    // K)`, restarted with each.
    """
    T, K = validate.count("T", T), validate.count("pieces", pieces)
    if T % K:
        raise ValueError(f"T must be a multiple of pieces = {K}, got {T}")
    return K * ball(radius, rho, T // K)


def restarts(rho: float, pieces: int, T: int) -> Adversary:
    """Return the adversary of `moving`: `orthogonal`, restarted every T/K rounds."""
    moving(1.0, rho, pieces, T)  # the same conditions on the arguments
    across, length = orthogonal(rho), T // pieces

    def adversary(t, w, past):
        return across(t, w, past[(t - 1) // length * length :])

    return adversary


def best_pieces(trace: Any, pieces: int, over: Any) -> Array:
    """Return the best point of each of K | T equal pieces, row by row, `(T, n)`, for `dynamic_regret`."""
    if trace.rounds % validate.count("pieces", pieces):
        raise ValueError(f"pieces must divide the {trace.rounds} rounds, got {pieces}")
    Z = trace.subgradients.reshape(pieces, -1, trace.dim)
    return np.repeat(over.minimize_linear(Z.sum(axis=1)), Z.shape[1], axis=0)
