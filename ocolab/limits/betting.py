"""Solve coin betting and portfolio selection: minimax regret of bettors and minimax ratio of wealths."""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from ocolab import exact_betting
from ocolab.limits.base import limit
from ocolab.limits.linear import BySum, coin_sums
from ocolib import validate
from ocolib.portfolios import LogLoss
from ocolib.sets import Simplex, Space
from ocolib.types import Array

# ---------------------------------------------------------------- coins


@limit("tight", "bet.thm-option")
def strike(T: int) -> float:
    """Return the smallest regret at u = ±1 that a bettor with regret at most 1 at u = 0 can guarantee.

    The game has T rounds with coins in [−1, 1]. `OptionBettor` attains the value, and
    `ocolab.exact_betting.strike` returns it as a fraction.

    >>> strike(3)
    1.5
    """
    return float(exact_betting.strike(T))


@dataclass(frozen=True)
class OptionBettor(BySum):
    """Run the optimal bettor of `strike`, which bets (V_t(x + 1) − V_t(x − 1))/2 in round t.

    x is the sum of the earlier coins c = −z, r is `strike(T)`, and V_t(x) = E max(−1, |x + S_{T−t}| − r),
    where S_k is the sum of k fair signs.
    """

    T: int

    @property
    def over(self) -> Space:
        """Return the set of plays, the real line."""
        return Space(1)

    def worth(self, x: float, left: int) -> float:
        """Return E max(−1, |x + S| − r), where S is the sum of `left` fair signs."""
        ends, chances = coin_sums(left)
        return float(np.maximum(-1.0, np.abs(x + ends) - strike(self.T)) @ chances)

    def move(self, t: int, Z: Array) -> Array:
        """Return the bet after t rounds whose gradients have the sum Z."""
        left, x = max(self.T - t - 1, 0), -float(Z[0])
        return np.array([(self.worth(x + 1, left) - self.worth(x - 1, left)) / 2])


# ---------------------------------------------------------------- portfolios


@limit("tight", "bet.thm-minimax")
def wealth_ratio(T: int) -> float:
    """Return the minimax log-regret ln(1/V_T) against constant rebalanced portfolios of two assets, T days.

    V_T is `ocolab.exact_betting.minimax_ratio(T)`, and `MinimaxPortfolio` attains it. (Ordentlich and Cover
    1998.)

    >>> round(wealth_ratio(1), 6)  # ln 2
    0.693147
    """
    return -log(exact_betting.minimax_ratio(T))


@dataclass(frozen=True)
class MinimaxPortfolio:
    """Run the optimal strategy of `wealth_ratio`, which splits its money over all sequences of assets.

    The strategy "everything in asset j_t on day t" gets the share V_T·(k/T)^k·((T − k)/T)^(T − k), where k is
    the number of its days in asset 1.
    """

    T: int
    over = Simplex(2)

    def __post_init__(self):
        validate.count("T", self.T)

    def shares(self) -> list[Array]:
        """Return, for t = 0, …, T, the shares of a sequence of t days with k = 0, …, t days in asset 1."""
        k = np.arange(self.T + 1.0) / self.T
        with np.errstate(divide="ignore"):
            last = np.where(k > 0, k, 1) ** (k * self.T) * np.where(k < 1, 1 - k, 1) ** ((1 - k) * self.T)
        rows = [last * float(exact_betting.minimax_ratio(self.T))]
        for _ in range(self.T):
            rows.append(rows[-1][:-1] + rows[-1][1:])
        return rows[::-1]

    def player(self) -> "MinimaxPlayer":
        """Return a fresh player."""
        return MinimaxPlayer(self)


class MinimaxPlayer:
    """Play one game of `MinimaxPortfolio`; it stores the growth of the sequences, summed over equal k."""

    def __init__(self, learner: MinimaxPortfolio):
        self.shares, self.grown = learner.shares(), np.ones(1)

    def predict(self) -> Array:
        t = len(self.grown) - 1
        if t + 1 == len(self.shares):  # the game is over
            return np.array([0.5, 0.5])
        b = (self.grown @ self.shares[t + 1][1:]) / (self.grown @ self.shares[t])
        return np.array([b, 1 - b])

    def update(self, loss: Any) -> None:
        if not isinstance(loss, LogLoss):
            raise ValueError(
                f"MinimaxPortfolio plays market(X), where X has two columns, got {type(loss).__name__}"
            )
        x, y = loss.x
        self.grown = np.append(self.grown * y, 0.0) + np.insert(self.grown * x, 0, 0.0)
