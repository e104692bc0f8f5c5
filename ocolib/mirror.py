"""Run mirror descent: gradient descent with a Bregman divergence in place of the squared distance.

| regulariser             | over      | step from w                       | name              |
|-------------------------|-----------|-----------------------------------|-------------------|
| `SquaredNorm()`         | every set | Π(w − eta·z)                      | gradient descent  |
| `NegativeEntropy()`     | `Simplex` | w·exp(−eta·z), normalised         | Hedge             |
| `UnnormalizedEntropy()` | `Orthant` | w·exp(−eta·z)                     | Winnow            |
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.learners import FirstOrder, kept_start, kept_step, step_at
from ocolib.sets import Set, require_set
from ocolib.types import Array, Step


def bregman(regularizer: Any, u: ArrayLike, w: ArrayLike) -> Any:
    """Return the Bregman divergence B(u, w) = R(u) − R(w) − ⟨∇R(w), u − w⟩ over the last axis.

    It measures how far R(u) lies above the tangent of R at w.

    >>> from ocolib.regularizers import NegativeEntropy, SquaredNorm
    >>> float(bregman(SquaredNorm(), [3.0, 0.0], [0.0, 4.0]))  # half the squared distance
    12.5
    >>> float(bregman(NegativeEntropy(), [1.0, 0.0], [0.5, 0.5]))  # relative entropy, here log 2
    0.6931471805599453
    """
    u = validate.array("u", u)
    w = validate.array("w", w, u.shape[-1])
    slope = slope_at(regularizer, w)
    return regularizer.value(u) - regularizer.value(w) - (slope * (u - w)).sum(axis=-1)


def slope_at(regularizer: Any, w: Array) -> Array:
    """Return ∇R(w); raise a `ValueError` at boundary points where it is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = regularizer.gradient(w)
    if not np.isfinite(slope).all():
        raise ValueError(f"w must be a point where ∇R is finite, got {w} for {regularizer!r}")
    return slope


@description
class MirrorDescent(FirstOrder):
    """Run eager mirror descent: w_{t+1} = argmin over the set of η_t⟨z_t, w⟩ + B(w, w_t).

    `over` is the set, `regularizer` the function R that defines B, `eta` the step size or schedule. The first
    play is `start`, by default the minimiser of R. `learners.FTRL` is the lazy form, which sums all
    gradients.

    >>> from ocolib.regularizers import NegativeEntropy
    >>> from ocolib.sets import Simplex
    >>> weights = MirrorDescent(Simplex(2), NegativeEntropy(), np.log(3)).points(np.array([[1.0, 0.0]]))
    >>> weights[-1]  # the first weight is divided by 3
    array([0.25, 0.75])
    """

    over: Set
    regularizer: Any
    eta: Step
    start: Any = None

    def __post_init__(self) -> None:
        require_set(self.over)
        keep(self, eta=kept_step(self.eta), start=kept_start(self.over, self.start))
        slope_at(self.regularizer, self.first)

    @property
    def first(self) -> Array:
        if self.start is not None:
            return self.start
        return self.regularizer.minimize(np.zeros(self.over.dim), 1.0, self.over)

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        """Return argmin of η⟨z, w'⟩ + B(w', w), which is ⟨ηz − ∇R(w), w'⟩ + R(w') up to a constant."""
        eta = step_at(self.eta, t)
        slope = slope_at(self.regularizer, w)
        return self.regularizer.minimize(z - slope / eta[..., None], eta, self.over)
