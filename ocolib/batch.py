"""From online to batch: one convex function, descent on it, and the point that is handed over at the end.

`linear_decay(scale, N)` are the steps whose last iterate is as good as the average, `Pieces` is a convex
function made of planes, and `resisting(dim)` is the one that no method of N < dim steps can minimise.
"""

from typing import Any

import numpy as np

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.types import Array


@description
class linear_decay:
    """The schedule η_t = scale·(N + 1 − t) for t = 1, …, N.

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
    """The convex function f(w) = max_i (⟨a_i, w⟩ + b_i); its subgradient is the first a_i that is active."""

    slopes: Any
    offsets: Any = None

    def __post_init__(self) -> None:
        A = validate.frozen("slopes", self.slopes, ndim=2)
        b = np.zeros(len(A)) if self.offsets is None else self.offsets
        keep(self, slopes=A, offsets=validate.vector("offsets", b, len(A)))

    @property
    def dim(self) -> int:
        """n."""
        return self.slopes.shape[1]

    def value(self, w: Array) -> Any:
        """Return f(w), for one w or for many."""
        return (np.asarray(w) @ self.slopes.T + self.offsets).max(axis=-1)

    def subgradient(self, w: Array) -> Array:
        """Return the slope of the first active piece."""
        return self.slopes[int((self.slopes @ w + self.offsets).argmax())].copy()

    def expression(self, w: Any) -> Any:
        """Return the function for cvxpy."""
        import cvxpy as cp

        return cp.max(self.slopes @ w + self.offsets)


def resisting(dim: int, rho: float = 1.0) -> Pieces:
    """Return f(w) = ρ·max_i w_i. Descent from 0 meets a new coordinate in each of its first `dim` rounds."""
    return Pieces(validate.positive("rho", rho) * np.eye(validate.count("dim", dim)))
