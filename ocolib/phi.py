"""Define losses φ(p, y) of a prediction p with label y; `losses` inserts p = ⟨w, x⟩ or p = Wx.

| φ                     | formula                                        | labels  |
|-----------------------|------------------------------------------------|---------|
| `PerceptronLoss(threshold, kink)` | max(0, −y(p − threshold))          | ±1      |
| `HingeLoss(kink)`     | max(0, 1 − y·p)                                | ±1      |
| `SQUARED_HINGE`       | ½ max(0, 1 − y·p)²                             | ±1      |
| `EXPONENTIAL`         | exp(−y·p)                                      | ±1      |
| `LOGISTIC`            | log(1 + exp(−y·p))                             | ±1      |
| `LEAST_SQUARES`       | ½(p − y)²                                      | numbers |
| `TubeLoss(up, down, eps)` | max(0, up·(r − eps), down·(−r − eps)), r = p − y | numbers |
| `HUBER`               | ½r² where abs(r) ≤ 1, else abs(r) − ½          | numbers |
| `POISSON`             | exp(p) − y·p                                   | ≥ 0     |
| `SOFTMAX`, `SoftMargin`, `QuadraticForm` | of a vector of scores       | classes, vectors |

>>> float(LOGISTIC.value(0.0, 1.0)), float(LOGISTIC.slope(0.0, 1.0))  # log 2 and −1/2
(0.6931471805599453, -0.5)

To write a φ of your own, derive from `Phi` and implement `value(p, y)` and `slope(p, y)` for arrays p and y;
with `expression(p, y)` cvxpy can solve with it. `ocolib.testing.check_phi` tests it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.types import Array


class Phi:
    """Define the interface of a loss that is convex in the prediction p.

    A subclass implements `value`, `slope` and `expression` and states the constants below if they exist.
    """

    takes: str = "signs"  #: the labels it takes: signs (±1), reals, counts (≥ 0), classes or vectors
    threshold: float = 0.0
    lipschitz: float | None = None  #: Lipschitz constant sup |slope|; None if it is infinite or unknown
    smooth: float | None = None  #: Lipschitz constant of the slope, or None
    curvature: float | None = None  #: modulus of strong convexity in p, or None

    def value(self, p: Any, y: Any) -> Any:
        """Return φ(p, y)."""
        raise NotImplementedError

    def slope(self, p: Any, y: Any) -> Any:
        """Return the derivative in p; at a kink, one element of the subdifferential."""
        raise NotImplementedError

    def subdifferential(self, p: Any, y: Any) -> Any:
        """Return the smallest and the largest slope at p; they are equal unless p is a kink."""
        slope = self.slope(p, y)
        return slope, slope

    def expression(self, p: Any, y: Any) -> Any:
        """Return φ(p, y) as a cvxpy expression in the prediction p."""
        raise NotImplementedError

    def margin(self, p: Any, y: Any) -> Any:
        """Return the margin y(p − threshold); the threshold is 0 for most φ."""
        return y * (p - self.threshold)

    def with_kink(self, kink: float) -> "Phi":
        """Return the same loss with slope −kink·y at its kink; raise a `ValueError` if it is not `Kinked`."""
        raise ValueError(f"only PerceptronLoss and HingeLoss have a kink to choose, got {self!r}")

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> "Iterator[Phi]":
        """Yield a few φ of this class for `testing.check_phi`; losses of a vector get `dim` scores."""
        yield cls()


# ---------------------------------------------------------------- one kink, at a margin


class Kinked(Phi):
    """Compute φ(p, y) = max(0, bend − m) for the margin m; the slope at the kink m = bend is −kink·y."""

    kink: float
    bend: float
    lipschitz = 1.0

    def value(self, p: Any, y: Any) -> Any:
        return np.maximum(0.0, self.bend - self.margin(p, y))

    def slope(self, p: Any, y: Any) -> Any:
        m = self.margin(p, y)
        return -y * ((m < self.bend) + self.kink * (m == self.bend))

    def subdifferential(self, p: Any, y: Any) -> Any:
        slopes = [self.with_kink(kink).slope(p, y) for kink in (0.0, 1.0)]
        return np.min(slopes, axis=0), np.max(slopes, axis=0)

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.pos(self.bend - cp.multiply(y, p - self.threshold))

    def with_kink(self, kink: float) -> "Kinked":
        return replace(self, kink=kink)  # type: ignore[type-var]


@description
class PerceptronLoss(Kinked):
    """Compute the perceptron loss max(0, −m) for the margin m = y(p − threshold).

    At the kink m = 0 the slope is −kink·y, with 0 ≤ kink ≤ 1.
    """

    threshold: float = 0.0
    kink: float = 1.0
    bend = 0.0

    def __post_init__(self) -> None:
        threshold = validate.number("threshold", self.threshold)
        keep(self, threshold=threshold, kink=validate.number("kink", self.kink, 0.0, 1.0))

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Phi]:
        yield cls()
        yield cls(rng.uniform(-2, 2), rng.uniform())


@description
class HingeLoss(Kinked):
    """Compute the hinge loss max(0, 1 − m) for the margin m = y·p.

    At the kink m = 1 the slope is −kink·y, with 0 ≤ kink ≤ 1.

    >>> float(HingeLoss().value(0.5, 1.0)), float(HingeLoss(kink=0.5).slope(1.0, 1.0))
    (0.5, -0.5)
    """

    kink: float = 0.0
    bend = 1.0

    def __post_init__(self) -> None:
        keep(self, kink=validate.number("kink", self.kink, 0.0, 1.0))

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Phi]:
        yield cls()
        yield cls(rng.uniform())


@description
class TubeLoss(Phi):
    """Compute the tube loss max(0, up·(r − eps), down·(−r − eps)) for the residual r = p − y.

    Special cases are the absolute, quantile and ε-insensitive losses. At the kinks r = ±eps the slope is 0.

    >>> float(TubeLoss(eps=0.5).value(3.0, 1.0)), float(TubeLoss(eps=0.5).slope(1.2, 1.0))
    (1.5, 0.0)
    """

    up: float = 1.0
    down: float = 1.0
    eps: float = 0.0
    takes = "reals"

    def __post_init__(self) -> None:
        keep(self, **{n: validate.number(n, getattr(self, n), low=0.0) for n in ("up", "down", "eps")})

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        return max(self.up, self.down)

    def value(self, p: Any, y: Any) -> Any:
        r = p - y
        return np.maximum(0.0, np.maximum(self.up * (r - self.eps), self.down * (-r - self.eps)))

    def slope(self, p: Any, y: Any) -> Any:
        return self.up * (p - y > self.eps) - self.down * (p - y < -self.eps)

    def subdifferential(self, p: Any, y: Any) -> Any:
        right = self.up * (p - y >= self.eps) - self.down * (p - y < -self.eps)
        return self.up * (p - y > self.eps) - self.down * (p - y <= -self.eps), right

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.pos(cp.maximum(self.up * (p - y - self.eps), self.down * (y - p - self.eps)))

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Phi]:
        yield cls()
        yield cls(*(rng.integers(1, 17, 3) / 8))  # multiples of 1/8, so that the kinks y ± eps are exact


# ---------------------------------------------------------------- differentiable


@description
class SquaredHinge(Phi):
    """Compute the squared hinge loss ½ max(0, 1 − y·p)²."""

    smooth = 1.0

    def value(self, p: Any, y: Any) -> Any:
        return 0.5 * np.square(np.maximum(0.0, 1.0 - y * p))

    def slope(self, p: Any, y: Any) -> Any:
        return -y * np.maximum(0.0, 1.0 - y * p)

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.square(cp.pos(1 - cp.multiply(y, p)))


@description
class Exponential(Phi):
    """Compute the exponential loss exp(−y·p)."""

    def value(self, p: Any, y: Any) -> Any:
        return np.exp(-y * p)

    def slope(self, p: Any, y: Any) -> Any:
        return -y * np.exp(-y * p)

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.exp(-cp.multiply(y, p))


@description
class Logistic(Phi):
    """Compute the logistic loss log(1 + exp(−y·p)), whose slope is −y/(1 + exp(y·p)), without overflow."""

    lipschitz = 1.0
    smooth = 0.25

    def value(self, p: Any, y: Any) -> Any:
        return np.logaddexp(0.0, -y * p)

    def slope(self, p: Any, y: Any) -> Any:
        return -y * np.exp(-np.logaddexp(0.0, y * p))

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.logistic(-cp.multiply(y, p))


@description
class LeastSquares(Phi):
    """Compute the squared loss ½(p − y)²."""

    takes = "reals"
    smooth = curvature = 1.0

    def value(self, p: Any, y: Any) -> Any:
        return 0.5 * np.square(p - y)

    def slope(self, p: Any, y: Any) -> Any:
        return p - y

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.square(p - y)


@description
class Huber(Phi):
    """Compute the Huber loss of r = p − y: ½r² if |r| ≤ 1, else |r| − ½."""

    takes = "reals"
    lipschitz = smooth = 1.0

    def value(self, p: Any, y: Any) -> Any:
        r = np.abs(p - y)
        return np.where(r <= 1, 0.5 * np.square(np.minimum(r, 1.0)), r - 0.5)

    def slope(self, p: Any, y: Any) -> Any:
        return np.minimum(np.maximum(p - y, -1.0), 1.0)

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.huber(p - y, 1)


@description
class Poisson(Phi):
    """Compute the Poisson loss exp(p) − y·p for y ≥ 0: the negative log-likelihood without log y!."""

    takes = "counts"

    def value(self, p: Any, y: Any) -> Any:
        return np.exp(p) - y * p

    def slope(self, p: Any, y: Any) -> Any:
        return np.exp(p) - y

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.exp(p) - cp.multiply(y, p)


# ---------------------------------------------------------------- of a vector of scores


@description
class Softmax(Phi):
    """Compute the softmax loss log Σ_c exp(f_c) − f_y for a vector f of scores.

    The constants hold for two or more classes.

    >>> f = np.log([1.0, 2.0, 1.0])
    >>> round(float(np.exp(-SOFTMAX.value(f, 1))), 12), SOFTMAX.slope(f, 1).round(12)
    (0.5, array([ 0.25, -0.5 ,  0.25]))
    """

    takes = "classes"
    lipschitz = float(np.sqrt(2.0))
    smooth = 0.5

    def value(self, f: Array, y: int) -> Any:
        return np.logaddexp.reduce(f) - f[y]

    def slope(self, f: Array, y: int) -> Array:
        return np.exp(f - np.logaddexp.reduce(f)) - np.eye(len(f))[y]

    def expression(self, f: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.log_sum_exp(f) - f[y]


@description
class SoftMargin(Phi):
    """Compute the multiclass soft-margin loss max over classes c of gamma[y, c]·(f_c − f_y + delta[y, c])."""

    delta: Any
    gamma: Any
    takes = "classes"

    def __post_init__(self) -> None:
        delta = validate.frozen("delta", self.delta, ndim=2)
        gamma = validate.frozen("gamma", self.gamma, ndim=2)
        if not delta.shape == delta.shape[::-1] == gamma.shape or (gamma < 0).any():
            raise ValueError(
                "delta and gamma must be square matrices of the same shape with gamma ≥ 0, "
                f"got shapes {delta.shape} and {gamma.shape}, min gamma {gamma.min():g}"
            )
        keep(self, delta=delta, gamma=gamma)

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        return float(np.sqrt(2.0) * (self.gamma * (1.0 - np.eye(len(self.gamma)))).max())

    def scaled(self, f: Array, y: int) -> Array:
        """Return gamma[y, c]·(f_c − f_y + delta[y, c]) for every class c."""
        return self.gamma[y] * (f - f[y] + self.delta[y])

    def value(self, f: Array, y: int) -> Any:
        return self.scaled(f, y).max()

    def slope(self, f: Array, y: int) -> Array:
        return self.subdifferential(f, y)[0]

    def subdifferential(self, f: Array, y: int) -> Array:
        """Return the vertices of the subdifferential as rows; `slope` returns the first.

        They are gamma[y, c]·(e_c − e_y) for every class c that attains the maximum.
        """
        scaled, eye = self.scaled(f, y), np.eye(len(f))
        best = scaled == scaled.max()
        return self.gamma[y][best, None] * (eye[best] - eye[y])

    def expression(self, f: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.max(cp.multiply(self.gamma[y], f - f[y] + self.delta[y]))

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Phi]:
        yield cls(1.0 - np.eye(dim), np.ones((dim, dim)))
        yield cls(rng.uniform(-1, 2, (dim, dim)), rng.uniform(0.1, 2, (dim, dim)))


@description
class QuadraticForm(Phi):
    """Compute the quadratic loss ½(f − y)ᵀM(f − y), where M is symmetric positive semidefinite."""

    M: Any
    takes = "vectors"

    def __post_init__(self) -> None:
        M = validate.frozen("M", self.M, ndim=2)
        if M.shape[0] != M.shape[1] or not np.array_equal(M, M.T) or np.linalg.eigvalsh(M)[0] < -1e-12:
            raise ValueError(f"M must be symmetric and positive semidefinite, got {M.tolist()}")
        keep(self, M=M)

    @property
    def smooth(self) -> float:  # type: ignore[override]
        return float(np.linalg.eigvalsh(self.M)[-1])

    @property
    def curvature(self) -> float | None:  # type: ignore[override]
        least = float(np.linalg.eigvalsh(self.M)[0])
        return least if least > 1e-12 else None

    def value(self, f: Array, y: Array) -> Any:
        return 0.5 * (f - y) @ self.M @ (f - y)

    def slope(self, f: Array, y: Array) -> Array:
        return self.M @ (f - y)

    def expression(self, f: Any, y: Any) -> Any:
        import cvxpy as cp

        return 0.5 * cp.quad_form(f - y, cp.psd_wrap(self.M))

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Phi]:
        root = rng.normal(size=(dim, dim))
        yield cls(np.eye(dim))
        yield cls(root @ root.T)


SQUARED_HINGE, EXPONENTIAL, LOGISTIC = SquaredHinge(), Exponential(), Logistic()
LEAST_SQUARES, HUBER, POISSON, SOFTMAX = LeastSquares(), Huber(), Poisson(), Softmax()
