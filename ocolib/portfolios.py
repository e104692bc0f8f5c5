"""Invest day by day: rebalanced portfolios, Cover's universal portfolio, exponentiated gradient.

A market is an array X `(T, n)` of price relatives: x_{t,i} ≥ 0 is what one unit of money in asset i becomes
on day t. A portfolio w is a point of the simplex; on day t the wealth is multiplied by ⟨w, x_t⟩. So the loss
of a day is −ln⟨w, x_t⟩ (`LogLoss`), and regret is the logarithm of a ratio of wealths.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.learners import Hedge, Linearized
from ocolib.sets import Simplex
from ocolib.types import Array, Step

# ---------------------------------------------------------------- a market


@description
class LogLoss:
    """f(w) = −ln⟨w, x⟩, x ≥ 0 and not 0: minus the growth of a day. Infinite if ⟨w, x⟩ = 0."""

    x: Any

    def __post_init__(self) -> None:
        keep(self, x=relatives(np.atleast_2d(self.x))[0])

    @property
    def dim(self) -> int:
        return len(self.x)

    def value(self, w: ArrayLike) -> Any:
        growth = validate.array("w", w, self.dim) @ self.x
        with np.errstate(divide="ignore"):
            return -np.log(growth)

    def subgradient(self, w: ArrayLike) -> Array:
        return -self.x / (np.asarray(w, dtype=float) @ self.x)

    def expression(self, w: Any) -> Any:
        import cvxpy as cp

        return -cp.log(self.x @ w)


def relatives(X: ArrayLike) -> Array:
    """Return the market as a read-only array `(T, n)`; negative prices and days of zeros are refused."""
    found = validate.frozen("X", X, ndim=2)
    if (found < 0).any() or not found.any(axis=1).all():
        raise ValueError("X must have price relatives ≥ 0, on each day one that is not 0")
    return found


def market(X: ArrayLike) -> list[LogLoss]:
    """Return the losses −ln⟨w, x_t⟩ of all days, for `game.play`."""
    return [LogLoss(x) for x in relatives(X)]


# ---------------------------------------------------------------- constant rebalanced portfolios


def rebalanced(X: ArrayLike, b: ArrayLike) -> Array:
    """Return the wealth after each day, `(T,)`, of a portfolio rebalanced to the fractions b every morning.

    >>> rebalanced([[2.0, 1.0], [0.5, 1.0]], [0.5, 0.5])  # neither asset moved, and we gained an eighth
    array([1.5  , 1.125])
    """
    X = relatives(X)
    return np.cumprod(X @ validate.vector("b", b, X.shape[1]))


def best_rebalanced(X: ArrayLike) -> tuple[Array, float]:
    """Return (b, wealth) of the best constant rebalanced portfolio of two assets, in hindsight.

    The logarithm of the wealth is concave in b_1, so we bisect its slope Σ (x_1 − x_2)/⟨b, x⟩.

    >>> b, wealth = best_rebalanced([[2.0, 1.0], [0.5, 1.0]])
    >>> b, wealth
    (array([0.5, 0.5]), 1.125)
    """
    X = relatives(X)
    if X.shape[1] != 2:
        raise ValueError(f"X must have two assets, got {X.shape[1]}")
    low, high, spread = 0.0, 1.0, X[:, 0] - X[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [np.nansum(spread / (b * X[:, 0] + (1 - b) * X[:, 1])) for b in (0.0, 1.0)]
        while ends[0] > 0 > ends[1] and high - low > 1e-15:
            b = (low + high) / 2
            slope = (spread / (b * X[:, 0] + (1 - b) * X[:, 1])).sum()
            low, high = (b, b) if slope == 0 else (b, high) if slope > 0 else (low, b)
    b = (low + high) / 2 if ends[0] > 0 > ends[1] else float(ends[0] > 0)
    best = np.array([b, 1 - b])
    return best, float(rebalanced(X, best)[-1])


# ---------------------------------------------------------------- learners


def split(X: ArrayLike, prior: float = 1.0) -> Array:
    """Return q_0, …, q_T: the wealth of `Universal(prior)` by the number of days that it was all in asset 1.

    Give each sequence "all in asset j_t on day t" its share of the money, by an urn: after k days in asset 1
    out of t the next day is in asset 1 with chance (k + prior)/(t + 2·prior). Then q_k is what the sequences
    with k days in asset 1 have become, and Σ q_k the wealth, the integral over all rebalanced portfolios b of
    their wealth with the density of Beta(prior, prior). Sums of products of numbers ≥ 0: nothing cancels.

    >>> round(float(split([[2.0, 1.0], [0.5, 1.0]]).sum()), 12)  # the integral of (1 + b)(1 − b/2) is 13/12
    1.083333333333
    """
    q, prior = np.ones(1), validate.positive("prior", prior)
    for x in relatives(X):
        q = spread_out(q, x, prior)
    return q


def spread_out(q: Array, x: Array, prior: float) -> Array:
    """Return the q of one day later: pile k puts (k + prior)/(t + 2·prior) of its money into asset 1."""
    t = len(q) - 1
    share = (np.arange(t + 1) + prior) / (t + 2 * prior)
    return np.append(q * (1 - share) * x[1], 0.0) + np.insert(q * share * x[0], 0, 0.0)


@description
class Universal:
    """Cover's universal portfolio of two assets: the mean of all b, each weighted by its wealth so far.

    The weights begin as Beta(prior, prior): prior = 1 is Cover's uniform one, prior = ½ the Dirichlet(½) of
    Cover and Ordentlich. Exact but for rounding; a day t costs of the order of t.

    >>> from ocolib.game import play
    >>> trace = play(Universal(), market([[2.0, 1.0], [0.5, 1.0]]))
    >>> trace.plays[:, 0].round(4)
    array([0.5   , 0.5556, 0.5   ])
    """

    prior: float = 1.0
    over = Simplex(2)

    def __post_init__(self) -> None:
        keep(self, prior=validate.positive("prior", self.prior))

    def player(self) -> "UniversalPlayer":
        """Begin a game; each loss is a `LogLoss` of two assets."""
        return UniversalPlayer(self)


class UniversalPlayer:
    """A game of `Universal`: it keeps the q of `split`, scaled to sum 1."""

    def __init__(self, learner: Universal) -> None:
        self.prior, self.q = learner.prior, np.ones(1)

    def predict(self) -> Array:
        t = len(self.q) - 1
        b = float(self.q @ (np.arange(t + 1) + self.prior)) / (t + 2 * self.prior)
        return np.array([b, 1 - b])

    def update(self, loss: Any) -> None:
        """Move the money, knowing the day's price relatives."""
        if not isinstance(loss, LogLoss):
            raise ValueError(f"Universal plays market(X), got {type(loss).__name__}")
        q = spread_out(self.q, loss.x, self.prior)
        self.q = q / q.sum()


def ExponentiatedGradient(n: int, eta: Step) -> Linearized:
    """Return exponentiated gradient on n assets: w_{t+1} ∝ w_t·exp(η·x_t/⟨w_t, x_t⟩), from w_1 = 1/n.

    With z_t = −x_t/⟨w_t, x_t⟩, the gradient of the loss, this is Hedge on linearised losses.
    """
    return Linearized(Hedge(n, eta))
