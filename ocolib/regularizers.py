"""Define regularisers R; `R.minimize(c, eta, over)` returns argmin over the set of ⟨c, w⟩ + R(w)/eta.

| regulariser           | over      | minimiser                     |
|-----------------------|-----------|-------------------------------|
| `SquaredNorm(center)` | every set | Π(center − eta·c)             |
| `NegativeEntropy()`   | `Simplex` | softmax(−eta·c)               |
| `UnnormalizedEntropy()` | `Orthant` | exp(−eta·c)                 |

`c` may hold many vectors `(..., n)`; `eta` is then a number or an array of their leading shape.

>>> from ocolib.sets import Ball
>>> SquaredNorm().minimize([1.0, -2.0], 0.1, Ball(2))
array([-0.1,  0.2])
>>> NegativeEntropy().minimize([0.0, np.log(3)], 1.0, Simplex(2))
array([0.75, 0.25])

To use a regulariser of your own, write a class with `value(w)` and `minimize(c, eta, over, curvature=0.0)`,
which adds ½·curvature·‖w‖² to the objective (raise a `ValueError` if you have no formula). Optional methods:
`expression(w)` lets cvxpy solve with it, and `gradient(w)` lets mirror descent use it.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.sets import Orthant, Set, Simplex
from ocolib.types import Array


@description
class SquaredNorm:
    """Represent R(w) = ½‖w − center‖², 1-strongly convex in the Euclidean norm; `center` is 0 by default.

    >>> R = SquaredNorm()
    >>> float(R.value([3.0, 4.0])), R.gradient([3.0, 4.0])
    (12.5, array([3., 4.]))
    """

    center: Any = None

    def __post_init__(self) -> None:
        if self.center is not None:
            keep(self, center=validate.vector("center", self.center))

    def around(self, dim: int) -> Array:
        """Return the center as a vector of dimension `dim`."""
        return np.zeros(dim) if self.center is None else validate.array("center", self.center, dim)

    def value(self, w: ArrayLike) -> Any:
        w = validate.array("w", w)
        return 0.5 * np.square(w - self.around(w.shape[-1])).sum(axis=-1)

    def range(self, over: Set) -> float:
        """Return max R − min R over the set (∞ if it is unbounded); R is largest farthest from the center."""
        center = self.around(over.dim)
        return 0.5 * over.farthest(center) ** 2 - float(self.value(over.project(center)))

    def gradient(self, w: ArrayLike) -> Array:
        """Return ∇R(w) = w − center."""
        w = validate.array("w", w)
        return w - self.around(w.shape[-1])

    def dual_norm(self, z: ArrayLike) -> Array:
        """Return the dual norm of z over the last axis: the Euclidean norm, which is its own dual."""
        return np.linalg.norm(validate.array("z", z), axis=-1)

    def minimize(self, c: ArrayLike, eta: ArrayLike, over: Set, curvature: ArrayLike = 0.0) -> Array:
        """Return Π((center − eta·c)/(1 + eta·curvature)), where curvature > −1/eta (0 by default)."""
        c, eta = _inputs(c, eta, over)
        bend = validate.numbers("curvature", curvature)[..., None]
        shrink = 1.0 + eta * bend
        if not (shrink > 0).all():  # then the objective is not strongly convex
            raise ValueError(f"curvature must be greater than −1/eta, got {bend.min():g}")
        return over.project((self.around(over.dim) - eta * c) / shrink)

    def expression(self, w: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.sum_squares(w if self.center is None else w - self.center)


@description
class NegativeEntropy:
    """Represent R(w) = Σ w_i log w_i on the simplex (0 log 0 = 0), 1-strongly convex there in the ℓ1 norm.

    >>> R = NegativeEntropy()
    >>> float(R.value([0.0, 1.0])), round(R.range(Simplex(2)), 6)  # log 2
    (0.0, 0.693147)
    """

    def value(self, w: ArrayLike) -> Any:
        return xlogx(validate.array("w", w)).sum(axis=-1)

    def range(self, over: Set) -> float:
        """Return max R − min R = log n on the simplex: R is 0 at a vertex and −log n at the uniform point."""
        _only(self, over, Simplex, 0.0)
        return float(np.log(over.dim))

    def gradient(self, w: ArrayLike) -> Array:
        """Return ∇R(w) = 1 + log w, which is −∞ where an entry is 0."""
        return 1.0 + np.log(validate.array("w", w))

    def dual_norm(self, z: ArrayLike) -> Array:
        """Return the dual norm of z over the last axis: max |z_i|, the dual of the ℓ1 norm."""
        return np.abs(validate.array("z", z)).max(axis=-1)

    def minimize(self, c: ArrayLike, eta: ArrayLike, over: Set, curvature: ArrayLike = 0.0) -> Array:
        """Return softmax(−eta·c), computed from c − min c so that no exponential overflows."""
        _only(self, over, Simplex, curvature)
        c, eta = _inputs(c, eta, over)
        weights = np.exp(-eta * (c - c.min(axis=-1, keepdims=True)))
        return weights / weights.sum(axis=-1, keepdims=True)

    def expression(self, w: Any) -> Any:
        import cvxpy as cp

        return -cp.sum(cp.entr(w))


@description
class UnnormalizedEntropy:
    """Represent R(w) = Σ (w_i log w_i − w_i) on the orthant (0 log 0 = 0); its minimum is at (1, …, 1)."""

    def value(self, w: ArrayLike) -> Any:
        return (xlogx(w) - validate.array("w", w)).sum(axis=-1)

    def gradient(self, w: ArrayLike) -> Array:
        """Return ∇R(w) = log w, which is −∞ where an entry is 0."""
        return np.log(validate.array("w", w))

    def minimize(self, c: ArrayLike, eta: ArrayLike, over: Set, curvature: ArrayLike = 0.0) -> Array:
        """Return exp(−eta·c) for each coordinate."""
        _only(self, over, Orthant, curvature)
        c, eta = _inputs(c, eta, over)
        power = -eta * c
        if power.max() > np.log(validate.LARGEST):
            raise ValueError(f"−eta·c must be at most {np.log(validate.LARGEST):.0f}, got {power.max():g}")
        return np.exp(power)

    def expression(self, w: Any) -> Any:
        import cvxpy as cp

        return -cp.sum(cp.entr(w) + w)


def xlogx(w: ArrayLike) -> Array:
    """Return w log w for each entry, with 0 log 0 = 0 and nan for negative entries."""
    w = validate.numbers("w", w)
    with np.errstate(invalid="ignore"):
        return w * np.log(np.where(w == 0, 1.0, w))


def _inputs(c: ArrayLike, eta: ArrayLike, over: Set) -> tuple[Array, Array]:
    """Check c and eta and return them; eta gets a last axis of length 1."""
    return validate.array("c", c, over.dim), validate.positives("eta", eta)[..., None]


def _only(regularizer: Any, over: Any, kind: type, curvature: ArrayLike) -> None:
    """Raise a `ValueError` unless `over` is of this kind and the losses are linear (no curvature)."""
    if not isinstance(over, kind):
        raise ValueError(
            f"{regularizer!r} has no closed form over {over!r}; use SquaredNorm over any set, "
            "NegativeEntropy over Simplex, UnnormalizedEntropy over Orthant, or solve with oracle.minimize"
        )
    if validate.numbers("curvature", curvature).any():
        raise ValueError(
            f"{regularizer!r} has no closed form with quadratic losses; use linear losses, "
            "Linearized(...) or oracle.FTRL"
        )


# ---------------------------------------------------------------- relative entropy


def kl(p: ArrayLike, q: ArrayLike) -> Any:
    """Return the relative entropy KL(p‖q) = Σ p_i log(p_i/q_i) over the last axis.

    Here 0 log 0 = 0, and the value is ∞ if some p_i > 0 = q_i. It is ≥ 0 if p and q have the same sum.

    >>> float(kl([1.0, 0.0], [0.5, 0.5]))  # log 2
    0.6931471805599453
    """
    p = _weights("p", p)
    p, q = np.broadcast_arrays(p, _weights("q", q, p.shape[-1]))
    with np.errstate(divide="ignore"):
        return (xlogx(p) - p * np.log(np.where(p > 0, q, 1.0))).sum(axis=-1)


def gibbs(mu: ArrayLike, f: ArrayLike) -> tuple[Any, Array]:
    """Return the maximum log E_μ e^f and the maximiser ν* ∝ μ·e^f of E_ν f − KL(ν‖μ) (Lemma 17.2).

    `mu` has entries ≥ 0, not all 0. We subtract the largest f_i with μ_i > 0, so no exponential overflows.

    >>> maximum, best = gibbs([0.5, 0.5], [0.0, np.log(3)])
    >>> round(float(np.exp(maximum)), 12), best  # (1 + 3)/2
    (2.0, array([0.25, 0.75]))
    """
    f = validate.array("f", f)
    mu = _weights("mu", mu, f.shape[-1])
    if not mu.any(axis=-1).all():
        raise ValueError("mu must have an entry > 0")
    top = np.where(mu > 0, f, -np.inf).max(axis=-1, keepdims=True)
    weights = np.where(mu > 0, mu * np.exp(np.minimum(f - top, 0.0)), 0.0)
    total = weights.sum(axis=-1, keepdims=True)
    return (top + np.log(total))[..., 0], weights / total


def _weights(name: str, value: ArrayLike, dim: int | None = None) -> Array:
    """Check an array of numbers ≥ 0 and return it."""
    x = validate.array(name, value, dim)
    if (x < 0).any():
        raise ValueError(f"{name} must be ≥ 0, got {x[x < 0][0]:g}")
    return x
