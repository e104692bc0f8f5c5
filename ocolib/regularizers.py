"""What keeps a leader steady. `R.minimize(c, eta, over)` is argmin over the set of ⟨c, w⟩ + R(w)/eta.

| regulariser           | over      | minimiser                     |
|-----------------------|-----------|-------------------------------|
| `SquaredNorm(center)` | every set | Π(center − eta·c)             |
| `NegativeEntropy()`   | `Simplex` | softmax(−eta·c)               |
| `UnnormalizedEntropy()` | `Orthant` | exp(−eta·c)                 |

`c` may be many vectors `(..., n)`, and `eta` then a number or an array of their leading shape.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.descriptions import description, keep
from ocolib.protocols import Array, Regularizer, Set, Vector
from ocolib.sets import Orthant, Simplex, nearest

LARGEST_POWER = 345.0  # exp of it is 6.8e149, below validate.LARGEST


@description
class SquaredNorm:
    """R(w) = ½‖w − center‖²; `center` is 0 unless given. 1-strongly convex in the Euclidean norm."""

    center: Vector = None

    def __post_init__(self) -> None:
        if self.center is not None:
            keep(self, center=validate.vector("center", self.center))

    def value(self, w: ArrayLike) -> Any:
        w = validate.array("w", w, None if self.center is None else len(self.center))
        return 0.5 * np.square(w if self.center is None else w - self.center).sum(axis=-1)

    def range(self, over: Set) -> float:
        """max R − min R over the set; R is largest farthest from the center. ∞ on an unbounded set."""
        center = np.zeros(over.dim) if self.center is None else self.center
        return 0.5 * over.farthest(center) ** 2 - float(self.value(over.project(center)))

    def dual_norm(self, z: ArrayLike) -> Array:
        """‖z‖ over the last axis: the Euclidean norm is its own dual."""
        return np.linalg.norm(validate.array("z", z), axis=-1)

    def minimize(self, c: Any, eta: Any, over: Set, curvature: Any = 0.0, out: Any = None) -> Array:
        """Π(center − eta·c).

        With ½·curvature·‖w‖² added to the objective it is Π((center − eta·c)/(1 + eta·curvature)).
        Who gives a place `out` for it has checked what comes in.
        """
        c, eta = _inputs(c, eta, over) if out is None else (c, np.asarray(eta)[..., None])
        if self.center is not None and len(self.center) != over.dim:
            raise ValueError(f"center must have {over.dim} entries, got {len(self.center)}")
        y = np.multiply(c, -eta, out=out)
        y += 0.0 if self.center is None else self.center  # −0 + 0 is 0
        if np.any(bent := validate.floats("curvature", curvature)):
            y = y / (1.0 + eta * bent[..., None])
        return nearest(over)(validate.array("y", y) if out is None else y)


@description
class NegativeEntropy:
    """R(w) = Σ w_i log w_i on the simplex, with 0 log 0 = 0. There 1-strongly convex in the ℓ1 norm."""

    def value(self, w: ArrayLike) -> Any:
        return xlogx(validate.array("w", w)).sum(axis=-1)

    def range(self, over: Set) -> float:
        """log n on the simplex: 0 at a vertex, −log n at the uniform distribution."""
        _only(self, over, Simplex, 0.0)
        return float(np.log(over.dim))

    def dual_norm(self, z: ArrayLike) -> Array:
        """max |z_i| over the last axis, the dual of the ℓ1 norm."""
        return np.abs(validate.array("z", z)).max(axis=-1)

    def minimize(
        self, c: Any, eta: Any, over: Set, curvature: Any = 0.0, out: Any = None, level: bool = False
    ) -> Array:
        """softmax(−eta·c), computed from c − min c ≥ 0 so that nothing overflows, or from c if it is `level`.

        Who gives a place `out` for it has checked what comes in; who says `level`, that no −eta·c is large
        and not all are far below 0.
        """
        _only(self, over, Simplex, curvature)
        c, eta = _inputs(c, eta, over) if out is None else (c, np.asarray(eta)[..., None])
        above = c if level else np.subtract(c, c.min(axis=-1, keepdims=True), out=out)
        weights = np.multiply(above, -eta, out=out)
        np.exp(weights, out=weights)
        mass = np.einsum("...i->...", weights)[..., None] if level else weights.sum(axis=-1, keepdims=True)
        weights /= mass
        return weights


@description
class UnnormalizedEntropy:
    """R(w) = Σ (w_i log w_i − w_i) on the orthant, with 0 log 0 = 0; least at w = (1, …, 1)."""

    def value(self, w: ArrayLike) -> Any:
        return (xlogx(w) - validate.array("w", w)).sum(axis=-1)

    def minimize(self, c: Any, eta: Any, over: Set, curvature: Any = 0.0, out: Any = None) -> Array:
        """exp(−eta·c), coordinate by coordinate."""
        _only(self, over, Orthant, curvature)
        c, eta = _inputs(c, eta, over)
        power = np.multiply(c, -eta, out=out)
        if power.max() > LARGEST_POWER:
            raise ValueError(f"−eta·c must be at most {LARGEST_POWER:g} (exp), got {power.max():g}")
        return np.exp(power, out=power)


def xlogx(w: ArrayLike) -> Array:
    """w log w with 0 log 0 = 0; nan for a negative entry, where entropy is not defined."""
    w = validate.floats("w", w)
    with np.errstate(invalid="ignore"):
        return w * np.log(np.where(w == 0, 1.0, w))


def _inputs(c: ArrayLike, eta: ArrayLike, over: Set) -> tuple[Array, Array]:
    return validate.array("c", c, over.dim), validate.sizes("eta", eta)[..., None]


def _only(regularizer: Regularizer, over: Set, kind: type, curvature: ArrayLike) -> None:
    if not isinstance(over, kind):
        raise ValueError(
            f"no closed form here for {regularizer!r} over {over!r}; there is one for SquaredNorm over every "
            "set, NegativeEntropy over Simplex, UnnormalizedEntropy over Orthant. See oracle.minimize"
        )
    if validate.floats("curvature", curvature).any():
        raise ValueError(
            f"no closed form here for {regularizer!r} with quadratic losses; use linear ones, "
            "Linearized(...) or oracle.FTRL"
        )


# ---------------------------------------------------------------- relative entropy


def kl(p: ArrayLike, q: ArrayLike) -> Any:
    """KL(p‖q) = Σ p_i log(p_i/q_i) over the last axis; 0 log 0 = 0, ∞ if p_i > 0 = q_i. ≥ 0 if Σp = Σq."""
    p, q = np.broadcast_arrays(validate.weights("p", p), validate.weights("q", q, np.shape(p)[-1]))
    with np.errstate(divide="ignore"):
        return (xlogx(p) - p * np.log(np.where(p > 0, q, 1.0))).sum(axis=-1)


@validate.guarded
def gibbs(mu: ArrayLike, f: ArrayLike) -> tuple[Any, Array]:
    """(log E_μ e^f, ν*) with ν* ∝ μ·e^f: value and maximiser of E_ν f − KL(ν‖μ) (Lemma 17.2).

    The largest f_i that μ can see is taken out of the exponent, so nothing overflows.
    `mu` has entries ≥ 0, not all 0.
    """
    f, mu = validate.array("f", f), validate.weights("mu", mu, np.shape(f)[-1])
    top = np.where(mu > 0, f, -np.inf).max(axis=-1, keepdims=True)
    weights = np.where(mu > 0, mu * np.exp(np.minimum(f - top, 0.0)), 0.0)
    total = weights.sum(axis=-1, keepdims=True)
    return (top + np.log(total))[..., 0], weights / total
