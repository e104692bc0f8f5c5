"""Compute lower bounds on a ball for delayed losses and for moving comparators, with their adversaries."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolab.limits.base import limit
from ocolab.limits.linear import ball
from ocolib import validate
from ocolib.adversaries import orthogonal
from ocolib.losses import Linear
from ocolib.types import Adversary, Array

# ---------------------------------------------------------------- delays


@limit("tight", "zin4.thm.delayed")
def delayed(radius: float, rho: float, delay: int, T: int) -> float:
    """Return R·ρ·√((τ + 1)T), the minimax regret of linear losses that arrive τ rounds late on a ball.

    The ball is ‖w‖ ≤ R in dimension ≥ 2, ‖z_t‖ ≤ ρ, T is a multiple of τ + 1, and in round t the learner
    knows z_1, …, z_{t−1−τ}. Upper bound: τ + 1 optimal players take turns (`Interleaved`); each plays
    T/(τ + 1) rounds and receives each of its losses before its next turn. Lower bound: `blocks`. (Weinberger
    and Ordentlich 2002.)

    >>> float(delayed(1.0, 1.0, delay=3, T=100))
    20.0
    """
    T, delay = validate.count("T", T), validate.count("delay", delay, low=0)
    if T % (delay + 1):
        raise ValueError(f"T must be a multiple of delay + 1 = {delay + 1}, got {T}")
    return ball(radius, rho, T) * np.sqrt(delay + 1)


@dataclass(frozen=True)
class _Late:
    """Hold a learner and the delay of its losses."""

    learner: Any
    delay: int

    def __post_init__(self):
        validate.count("delay", self.delay, low=0)


class Interleaved(_Late):
    """Run delay + 1 copies of a learner in turn: round t is played by copy t mod (delay + 1).

    Each copy receives its loss before its next turn, even if losses arrive `delay` rounds late.
    """

    def player(self) -> Any:
        """Return a fresh player made of delay + 1 players of the learner."""
        return _Interleaved([self.learner.player() for _ in range(self.delay + 1)])


class _Interleaved:
    """Play one game of `Interleaved`; the first player in the list is the next to play."""

    def __init__(self, players):
        self.players = players

    def predict(self) -> Array:
        return self.players[0].predict()

    def update(self, loss: Any) -> None:
        self.players[0].update(loss)
        self.players = [*self.players[1:], self.players[0]]


class Delayed(_Late):
    """Run any learner with losses that arrive `delay` rounds late: w_{t+1} uses z_1, …, z_{t−delay}.

    Use it for linear losses: for any other loss, a first-order learner would take the subgradient at its play
    when the loss arrives, not when it was incurred. With eager descent from w_1 = Π(0) this is `DelayedOGD`
    with the same delay in every round.
    """

    def player(self) -> Any:
        """Return a fresh player that receives each loss `delay` rounds late."""
        return _Delayed(self.learner.player(), self.delay)


class _Delayed:
    """Play one game of `Delayed`; it stores the losses that have not arrived yet."""

    def __init__(self, player, delay):
        self.player, self.delay, self.waiting = player, delay, []

    def predict(self) -> Array:
        return self.player.predict()

    def update(self, loss: Any) -> None:
        self.waiting.append(loss)
        if len(self.waiting) > self.delay:
            self.player.update(self.waiting.pop(0))


def blocks(learner: Any, rho: float, delay: int) -> Adversary:
    """Return the adversary of `delayed` against a deterministic `learner` that receives losses late.

    In each block of delay + 1 rounds it plays one vector z, orthogonal to the sum of the losses before the
    block. The plays of a block are fixed before its first loss arrives, so the adversary can compute them: it
    replays the learner on the past, and chooses the sign of z for which the sum of the block's plays does not
    profit. Losses arrive `delay` rounds late, and `rho` is the norm of z.
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
            player.update(Linear(np.zeros(len(w))))  # any loss will do: it does not arrive within the block
        return across(t, total, past)

    return adversary


# ---------------------------------------------------------------- moving comparators


@limit("lower", "zin4.thm4.1.3")
def moving(radius: float, rho: float, pieces: int, T: int) -> float:
    """Return R·ρ·√(K·T), a lower bound on the regret against comparators that are constant on K pieces.

    The plays are in a ball of radius R around 0 in dimension ≥ 2, ‖z_t‖ ≤ ρ, and each piece has T/K rounds;
    the path of the comparators has length at most 2R(K − 1). The bound is `ball` on each piece, and the
    adversary `restarts` forces it. A learner that knows the pieces attains it: `BallMinimax` for T/K rounds,
    restarted on each piece.

    >>> float(moving(1.0, 1.0, pieces=4, T=100))
    20.0
    """
    T, K = validate.count("T", T), validate.count("pieces", pieces)
    if T % K:
        raise ValueError(f"T must be a multiple of pieces = {K}, got {T}")
    return K * ball(radius, rho, T // K)


def restarts(rho: float, pieces: int, T: int) -> Adversary:
    """Return the adversary of `moving`: `orthogonal`, restarted every T/`pieces` rounds."""
    moving(1.0, rho, pieces, T)  # checks the arguments
    across, length = orthogonal(rho), T // pieces

    def adversary(t, w, past):
        return across(t, w, past[(t - 1) // length * length :])

    return adversary


def best_pieces(trace: Any, pieces: int, over: Any) -> Array:
    """Return the best point of each of K equal pieces, repeated for its rounds, `(T, n)`.

    The losses are linearised, `over` is the set, and K = `pieces` must divide T. The result is a path of
    comparators for `trace.dynamic_regret`.
    """
    if trace.rounds % validate.count("pieces", pieces):
        raise ValueError(f"pieces must divide the {trace.rounds} rounds, got {pieces}")
    Z = trace.subgradients.reshape(pieces, -1, trace.dim)
    return np.repeat(over.minimize_linear(Z.sum(axis=1)), Z.shape[1], axis=0)
