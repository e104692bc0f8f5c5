"""Learn by coin betting: the Krichevsky–Trofimov (KT) bettor, which needs no step size, and its potential.

A bettor starts with wealth ε. In round t it bets w_t and gains −⟨z_t, w_t⟩, so with linear losses its wealth
W_T after T rounds is ε minus the sum of its payments. Its regret against u is ⟨u, C⟩ − W_T + ε with
C = −(z_1 + … + z_T): large wealth means small regret.
"""

from math import lgamma, log, pi

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.learners import StepPlayer, running_sums
from ocolib.sets import Space
from ocolib.types import Array


@description
class KT:
    """Run the KT bettor: w_t = β_t·W_{t−1} with fraction β_t = −(z_1 + … + z_{t−1})/t and W_0 = `epsilon`.

    If ‖z_t‖ ≤ 1 in every round, then ‖β_t‖ ≤ (t − 1)/t and the wealth stays positive. Longer z_t are allowed,
    but then the wealth may become 0 or negative.

    >>> from ocolib.game import play
    >>> trace = play(KT(), np.array([[-1.0], [-1.0], [-1.0], [1.0]]))
    >>> trace.plays[:, 0]  # the fractions 0, 1/2, 2/3, 3/4, 2/5 of the wealth
    array([0.   , 0.5  , 1.   , 1.875, 0.25 ])
    >>> KT().wealth(trace.losses)
    array([1.   , 1.   , 1.5  , 2.5  , 0.625])
    """

    dim: int = 1
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        dim, epsilon = validate.count("dim", self.dim), validate.positive("epsilon", self.epsilon)
        keep(self, dim=dim, epsilon=epsilon)

    @property
    def over(self) -> Space:
        return Space(self.dim)

    def player(self) -> "KTPlayer":
        """Return a fresh player."""
        return KTPlayer(self)

    def fractions(self, Z: ArrayLike) -> Array:
        """Return the fractions β_1, …, β_{T+1}: `(..., T, n)` → `(..., T + 1, n)`."""
        sums = running_sums(Z, self.over)
        return (0.0 - sums) / np.arange(1, sums.shape[-2] + 1)[:, None]

    def wealth(self, Z: ArrayLike) -> Array:
        """Return the wealth W_0, …, W_T, where W_T = ε·Π(1 − ⟨β_t, z_t⟩): `(..., T, n)` → `(..., T + 1)`."""
        factors = 1 - (self.fractions(Z)[..., :-1, :] * Z).sum(axis=-1)
        factors = np.concatenate([np.ones_like(factors[..., :1]), factors], axis=-1)
        return self.epsilon * np.cumprod(factors, axis=-1)

    def points(self, Z: ArrayLike) -> Array:
        """Return all plays w_1, …, w_{T+1} against linear losses."""
        return self.fractions(Z) * self.wealth(Z)[..., None]


class KTPlayer(StepPlayer):
    """Play one game of `KT`; it stores the wealth and the sum of the gradients."""

    def __init__(self, learner: KT) -> None:
        self.t, self.wealth, self.Z = 0, learner.epsilon, np.zeros(learner.dim)

    def predict(self) -> Array:
        return (0.0 - self.Z) / (self.t + 1) * np.asarray(self.wealth)[..., None]

    def step(self, z: Array) -> None:
        """Settle the bet of this round with the gradient z at the last play."""
        self.wealth = self.wealth - (self.predict() * z).sum(axis=-1)
        self.t, self.Z = self.t + 1, self.Z + z


def log_potential(x: float, T: int, epsilon: float = 1.0) -> float:
    """Return the logarithm of the KT potential F_T(x) = ε·2^T·Γ((T + x + 1)/2)·Γ((T − x + 1)/2)/(π·T!).

    It is defined for |x| ≤ T. In one dimension the wealth of `KT` after T rounds with |z_t| ≤ 1 is at least
    F_T(z_1 + … + z_T), with equality if every z_t is ±1.
    """
    T = validate.count("T", T, low=0)
    x, epsilon = validate.number("x", x, -T, T), validate.positive("epsilon", epsilon)
    gammas = lgamma((T + x + 1) / 2) + lgamma((T - x + 1) / 2)
    return log(epsilon) + T * log(2) + gammas - log(pi) - lgamma(T + 1)


def potential(x: float, T: int, epsilon: float = 1.0) -> float:
    """Return the KT potential F_T(x); see `log_potential` for the formula.

    >>> round(potential(3, 3), 12), round(potential(1, 3), 12)  # three heads; two heads and a tail
    (2.5, 0.5)
    """
    return float(np.exp(log_potential(x, T, epsilon)))
