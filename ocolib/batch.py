"""Minimise one convex function by online descent, and compare the average iterate with the last one.

`linear_decay(scale, N)` is the step size schedule for which the last iterate is as good as the average,
`Pieces` is a piecewise linear convex function, and `resisting(dim)` is the hard instance for every method
that takes N < dim steps in the span of its subgradients.
"""

from typing import Any

import numpy as np

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.types import Array


@description
class linear_decay:
    """Decrease the step size linearly: η_t = scale·(N + 1 − t) for t = 1, …, N.

    >>> eta = linear_decay(0.1, N=3)
    >>> [round(eta(t), 3) for t in (1, 2, 3)]
    [0.3, 0.2, 0.1]
    """

    scale: float
    N: int

    def __post_init__(self) -> None:
        keep(self, scale=validate.positive("scale", self.scale), N=validate.count("N", self.N))

    def __call__(self, t: Any) -> Any:
        if np.any(np.asarray(t) > self.N):
            raise ValueError(f"t must be at most N = {self.N}, got {t}: the steps have run out")
        return self.scale * (self.N + 1 - t)


@description
class Pieces:
    """Represent the piecewise linear convex function f(w) = max_i (⟨a_i, w⟩ + b_i).

    The a_i are the rows of `slopes` and the b_i the entries of `offsets` (0 by default). The subgradient is
    the a_i of the first piece that attains the maximum.

    >>> f = Pieces([[1.0, 0.0], [0.0, 1.0]])
    >>> float(f.value([2.0, 5.0])), f.subgradient(np.array([2.0, 5.0]))
    (5.0, array([0., 1.]))
    """

    slopes: Any
    offsets: Any = None

    def __post_init__(self) -> None:
        A = validate.frozen("slopes", self.slopes, ndim=2)
        b = np.zeros(len(A)) if self.offsets is None else self.offsets
        keep(self, slopes=A, offsets=validate.vector("offsets", b, len(A)))

    @property
    def dim(self) -> int:
        """Return the dimension n."""
        return self.slopes.shape[1]

    def value(self, w: Array) -> Any:
        """Return f(w) for one point w or for each row of w."""
        return (np.asarray(w) @ self.slopes.T + self.offsets).max(axis=-1)

    def subgradient(self, w: Array) -> Array:
        """Return the slope of the first piece that attains the maximum at w."""
        return self.slopes[int((self.slopes @ w + self.offsets).argmax())].copy()

    def expression(self, w: Any) -> Any:
        """Return f as a cvxpy expression in the variable w."""
        import cvxpy as cp

        return cp.max(self.slopes @ w + self.offsets)


def resisting(dim: int, rho: float = 1.0) -> Pieces:
    """Return f(w) = ρ·max_i w_i: descent from 0 sees a new coordinate in each of its first `dim` rounds.

    >>> resisting(3).subgradient(np.array([-0.1, 0.0, 0.0]))
    array([0., 1., 0.])
    """
    return Pieces(validate.positive("rho", rho) * np.eye(validate.count("dim", dim)))
