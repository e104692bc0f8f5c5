"""Select portfolios online: rebalanced portfolios, Cover's universal portfolio, exponentiated gradient.

A market is an array X `(T, n)` of price relatives: one unit of money in asset i at the start of day t is
worth x_{t,i} ≥ 0 at its end. A portfolio w is a point of the simplex, and day t multiplies the wealth by ⟨w,
x_t⟩. So the loss of a day is −ln⟨w, x_t⟩ (`LogLoss`), and the regret is the logarithm of a ratio of wealths.
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
    """Represent the loss f(w) = −ln⟨w, x⟩ of a day with price relatives x ≥ 0, x ≠ 0; ∞ if ⟨w, x⟩ = 0.

    >>> day = LogLoss([2.0, 0.5])
    >>> round(float(np.exp(-day.value([0.5, 0.5]))), 12)  # the wealth is multiplied by 1.25
    1.25
    """

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
    """Check price relatives, which are ≥ 0 and not all 0 on any day; return them as a read-only `(T, n)`."""
    found = validate.frozen("X", X, ndim=2)
    if (found < 0).any() or not found.any(axis=1).all():
        raise ValueError("X must have entries ≥ 0, and on each day at least one that is not 0")
    return found


def market(X: ArrayLike) -> list[LogLoss]:
    """Return the losses −ln⟨w, x_t⟩ of all days, to pass to `game.play`."""
    return [LogLoss(x) for x in relatives(X)]


# ---------------------------------------------------------------- constant rebalanced portfolios


def rebalanced(X: ArrayLike, b: ArrayLike) -> Array:
    """Return the wealth after each day, `(T,)`, if the portfolio is rebalanced to the fractions b every day.

    >>> rebalanced([[2.0, 1.0], [0.5, 1.0]], [0.5, 0.5])  # both assets end where they began, and we gain 1/8
    array([1.5  , 1.125])
    """
    X = relatives(X)
    return np.cumprod(X @ validate.vector("b", b, X.shape[1]))


def best_rebalanced(X: ArrayLike) -> tuple[Array, float]:
    """Return (b, wealth) of the best constant rebalanced portfolio of two assets in hindsight.

    The log-wealth is concave in b_1, so we find the zero of its slope Σ (x_1 − x_2)/⟨b, x⟩ by bisection.

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
    """Split the wealth of `Universal(prior)` by the number k of days invested in asset 1: return q_0, …, q_T.

    Think of the portfolio as a mixture of all sequences "all money in asset j_t on day t". Their weights
    follow an urn: after k of t days in asset 1, the next day is in asset 1 with probability (k + prior)/(t +
    2·prior). Then q_k is the wealth of all sequences with k days in asset 1. The sum Σ q_k is the wealth of
    the portfolio: the integral of the wealth of all rebalanced portfolios b with density Beta(prior, prior).
    All terms are ≥ 0, so there is no cancellation.

    >>> round(float(split([[2.0, 1.0], [0.5, 1.0]]).sum()), 12)  # the integral of (1 + b)(1 − b/2) is 13/12
    1.083333333333
    """
    q, prior = np.ones(1), validate.positive("prior", prior)
    for x in relatives(X):
        q = spread_out(q, x, prior)
    return q


def spread_out(q: Array, x: Array, prior: float) -> Array:
    """Return the q of the next day: pile k puts the fraction (k + prior)/(t + 2·prior) into asset 1."""
    t = len(q) - 1
    share = (np.arange(t + 1) + prior) / (t + 2 * prior)
    return np.append(q * (1 - share) * x[1], 0.0) + np.insert(q * share * x[0], 0, 0.0)


@description
class Universal:
    """Run Cover's universal portfolio of two assets: the average of all b, weighted by their wealth so far.

    The initial weights are Beta(prior, prior): prior = 1 is Cover's uniform prior, prior = ½ the Dirichlet(½)
    prior of Cover and Ordentlich. The computation is exact up to rounding and takes O(t) time on day t.

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
        """Return a fresh player; its losses must be `LogLoss` of two assets."""
        return UniversalPlayer(self)


class UniversalPlayer:
    """Play one game of `Universal`; it stores the q of `split`, scaled to sum 1."""

    def __init__(self, learner: Universal) -> None:
        self.prior, self.q = learner.prior, np.ones(1)

    def predict(self) -> Array:
        t = len(self.q) - 1
        b = float(self.q @ (np.arange(t + 1) + self.prior)) / (t + 2 * self.prior)
        return np.array([b, 1 - b])

    def update(self, loss: Any) -> None:
        """Update the wealth of every pile with the price relatives of the day."""
        if not isinstance(loss, LogLoss):
            raise ValueError(f"Universal plays market(X), got {type(loss).__name__}")
        q = spread_out(self.q, loss.x, self.prior)
        self.q = q / q.sum()


def ExponentiatedGradient(n: int, eta: Step) -> Linearized:
    """Return exponentiated gradient on n assets: w_{t+1} ∝ w_t·exp(η·x_t/⟨w_t, x_t⟩), from w_1 = 1/n.

    This is Hedge on the linearised losses, whose gradients are z_t = −x_t/⟨w_t, x_t⟩.

    >>> from ocolib.game import play
    >>> trace = play(ExponentiatedGradient(2, eta=1.0), market([[2.0, 1.0]]))
    >>> trace.last.round(4)  # the weights are multiplied by exp(4/3) and exp(2/3)
    array([0.6608, 0.3392])
    """
    return Linearized(Hedge(n, eta))
