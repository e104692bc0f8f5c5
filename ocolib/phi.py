"""φ(p, y): what a prediction p costs when the label is y. `losses` puts p = ⟨w, x⟩, or p = Wx, into it.

Each has `value(p, y)`, `slope(p, y)`, `subdifferential(p, y)`, the labels it `takes`, and its constants,
`None` where none is given; at a kink it owns the choice of slope. For p = Wx the slope is a vector.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.descriptions import description, keep
from ocolib.protocols import Array, Vector


class Scalar:
    """A loss of the prediction p, convex in p and differentiable unless it says otherwise."""

    takes: str = "signs"  #: the labels: signs, reals, counts or classes
    threshold: float = 0.0
    lipschitz: float | None = None  #: sup |slope|
    smooth: float | None = None  #: Lipschitz constant of the slope
    curvature: float | None = None  #: modulus of strong convexity, in p

    def margin(self, p: Any, y: Any) -> Any:
        """y(p − threshold), here for threshold 0."""
        return y * p

    def value(self, p: Any, y: Any) -> Any:
        """φ(p, y)."""
        raise NotImplementedError

    def slope(self, p: Any, y: Any) -> Any:
        """The derivative in p; at a kink one of the slopes there."""
        raise NotImplementedError

    def subdifferential(self, p: Any, y: Any) -> Any:
        """(least, greatest) slope at p: the slope twice, unless p is a kink. (`SoftMargin` lists corners.)"""
        slope = self.slope(p, y)
        return slope, slope

    def with_kink(self, kink: float) -> "Scalar":
        """The same loss with the slope −kink·y at its kink; `ValueError` if it is not `Kinked`."""
        raise ValueError(f"kink belongs to PerceptronLoss and HingeLoss, got {self!r}")


# ---------------------------------------------------------------- one kink, at a margin


def kinked_slope(m: Any, y: Any, bend: float, kink: float) -> Any:
    """−y below the bend, −kink·y at it, 0 above; of the margin m."""
    return -y * ((m < bend) + kink * (m == bend))


class Kinked(Scalar):
    """φ(p, y) = max(0, bend − m) of the margin m; slope −kink·y at m = bend."""

    kink: float
    bend: float
    lipschitz = 1.0

    def value(self, p: Any, y: Any) -> Any:
        return np.maximum(0.0, self.bend - self.margin(p, y))

    def slope(self, p: Any, y: Any) -> Any:
        return kinked_slope(self.margin(p, y), y, self.bend, self.kink)

    def subdifferential(self, p: Any, y: Any) -> Any:
        slopes = [self.with_kink(kink).slope(p, y) for kink in (0.0, 1.0)]
        return np.min(slopes, axis=0), np.max(slopes, axis=0)

    def with_kink(self, kink: float) -> "Kinked":
        return replace(self, kink=kink)  # type: ignore[type-var]


@description
class PerceptronLoss(Kinked):
    """φ(p, y) = max(0, −m) of the margin m = y(p − threshold); slope −kink·y at m = 0."""

    threshold: float = 0.0
    kink: float = 1.0
    bend = 0.0

    def __post_init__(self) -> None:
        threshold, kink = validate.number("threshold", self.threshold), self.kink
        keep(self, threshold=threshold, kink=validate.probability("kink", kink))

    def margin(self, p: Any, y: Any) -> Any:
        return y * (p - self.threshold)


@description
class HingeLoss(Kinked):
    """φ(p, y) = max(0, 1 − m) of the margin m = y·p; slope −kink·y at m = 1."""

    kink: float = 0.0
    bend = 1.0

    def __post_init__(self) -> None:
        keep(self, kink=validate.probability("kink", self.kink))


def tube_slope(r: Any, up: float, down: float, eps: float) -> Any:
    """`up` where r > eps, −down where r < −eps, else 0."""
    return up * (r > eps) - down * (r < -eps)


@description
class TubeLoss(Scalar):
    """φ(p, y) = max(0, up·(r − eps), down·(−r − eps)), r = p − y; slope 0 at its kinks r = ±eps."""

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
        return tube_slope(p - y, self.up, self.down, self.eps)

    def subdifferential(self, p: Any, y: Any) -> Any:
        right = self.up * (p - y >= self.eps) - self.down * (p - y < -self.eps)
        return self.up * (p - y > self.eps) - self.down * (p - y <= -self.eps), right


# ---------------------------------------------------------------- differentiable


@description
class Differentiable(Scalar):
    """A differentiable loss: its two formulas and its constants. Shown by its name in capitals."""

    name: str
    formula: Callable[[Any, Any], Any]
    derivative: Callable[[Any, Any], Any]
    takes: str = "signs"
    lipschitz: float | None = None
    smooth: float | None = None
    curvature: float | None = None

    def __repr__(self) -> str:
        return self.name.upper().replace(" ", "_")

    def value(self, p: Any, y: Any) -> Any:
        return self.formula(p, y)

    def slope(self, p: Any, y: Any) -> Any:
        return self.derivative(p, y)


SQUARED_HINGE = Differentiable(
    "squared hinge",
    lambda p, y: 0.5 * np.square(np.maximum(0.0, 1.0 - y * p)),
    lambda p, y: -y * np.maximum(0.0, 1.0 - y * p),
    smooth=1.0,
)
EXPONENTIAL = Differentiable("exponential", lambda p, y: np.exp(-y * p), lambda p, y: -y * np.exp(-y * p))
LOGISTIC = Differentiable(  # the slope is −y/(1 + exp(y·p)), written so that no exponential overflows
    "logistic",
    lambda p, y: np.logaddexp(0.0, -y * p),
    lambda p, y: -y * np.exp(-np.logaddexp(0.0, y * p)),
    lipschitz=1.0,
    smooth=0.25,
)
LEAST_SQUARES = Differentiable(
    "least squares",
    lambda p, y: 0.5 * np.square(p - y),
    lambda p, y: p - y,
    takes="reals",
    smooth=1.0,
    curvature=1.0,
)
HUBER = Differentiable(
    "huber",
    lambda p, y: np.where(np.abs(p - y) <= 1, 0.5 * np.square(p - y), np.abs(p - y) - 0.5),
    lambda p, y: np.minimum(np.maximum(p - y, -1.0), 1.0),
    takes="reals",
    lipschitz=1.0,
    smooth=1.0,
)
POISSON = Differentiable(
    "poisson", lambda p, y: np.exp(p) - y * p, lambda p, y: np.exp(p) - y, takes="counts"
)
SOFTMAX = Differentiable(  # of the vector of scores; the constants are those of two classes or more
    "softmax",
    lambda f, y: np.logaddexp.reduce(f) - f[y],
    lambda f, y: np.exp(f - np.logaddexp.reduce(f)) - np.eye(len(f))[y],
    takes="classes",
    lipschitz=float(np.sqrt(2.0)),
    smooth=0.5,
)


# ---------------------------------------------------------------- of a vector of scores


@description
class SoftMargin(Scalar):
    """φ(f, y) = max over classes c of gamma[y, c]·(f_c − f_y + delta[y, c])."""

    delta: Vector
    gamma: Vector
    takes = "classes"

    def __post_init__(self) -> None:
        delta = validate.frozen("delta", self.delta, ndim=2)
        gamma = validate.frozen("gamma", self.gamma, ndim=2)
        if not delta.shape == delta.shape[::-1] == gamma.shape or (gamma < 0).any():
            raise ValueError(
                f"delta and gamma must be square, of one shape, gamma ≥ 0; got shapes {delta.shape}, "
                f"{gamma.shape}, min gamma {gamma.min():g}"
            )
        keep(self, delta=delta, gamma=gamma)

    @property
    def lipschitz(self) -> float:  # type: ignore[override]
        return float(np.sqrt(2.0) * (self.gamma * (1.0 - np.eye(len(self.gamma)))).max())

    def scaled(self, f: Array, y: int) -> Array:
        """gamma[y, c]·(f_c − f_y + delta[y, c]) for every class c."""
        return self.gamma[y] * (f - f[y] + self.delta[y])

    def value(self, f: Array, y: int) -> Any:
        return self.scaled(f, y).max()

    def slope(self, f: Array, y: int) -> Array:
        return self.subdifferential(f, y)[0]

    def subdifferential(self, f: Array, y: int) -> Array:
        """Its corners as rows: gamma[y, c]·(e_c − e_y) for every maximiser c; `slope` is the first."""
        scaled, unit = self.scaled(f, y), np.eye(len(f))
        best = scaled == scaled.max()
        return self.gamma[y][best, None] * (unit[best] - unit[y])


@description
class QuadraticForm(Scalar):
    """φ(f, y) = ½(f − y)ᵀM(f − y), M symmetric with no negative eigenvalue."""

    M: Vector
    takes = "reals"

    def __post_init__(self) -> None:
        M = validate.frozen("M", self.M, ndim=2)
        if M.shape[0] != M.shape[1] or not np.array_equal(M, M.T) or np.linalg.eigvalsh(M)[0] < -1e-12:
            raise ValueError(f"M must be symmetric with no negative eigenvalue, got {M.tolist()}")
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
