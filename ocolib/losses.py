"""What a round costs. One loss has `value(w)` and `subgradient(w)`.

- `Linear(z)` and `Quadratic(center, curvature)` also have `coefficients`, the (a, b, k) with
  f(w) = ½a‖w‖² + ⟨b, w⟩ + k: sums of them stay of this form, so leaders and comparators are exact.
- `perceptron_loss(X, y)`, `hinge(X, y)`, `logistic(X, y)`, … are losses over data, f_t(w) = φ(⟨w, x_t⟩, y_t):
  sequences that a game plays without an object a round, if the player has `step`. φ comes from `phi`.
- `soft_margin(X, y, delta)`, `softmax(X, y, classes)`, … score with a matrix, f_t(W) = φ(Wx_t, y_t).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.blocks import inner
from ocolib.descriptions import changed, description, keep
from ocolib.phi import (  # a page finds all of them here
    EXPONENTIAL,
    HUBER,
    LEAST_SQUARES,
    LOGISTIC,
    POISSON,
    SOFTMAX,
    SQUARED_HINGE,
    Differentiable,  # noqa: F401 (`oracle` finds it here)
    HingeLoss,
    PerceptronLoss,
    QuadraticForm,
    Scalar,
    SoftMargin,
    TubeLoss,
)
from ocolib.protocols import Array, Coefficients, Loss, Summable, Vector

# ---------------------------------------------------------------- functions of the play


@description
class Linear:
    """f(w) = ⟨z, w⟩."""

    z: Vector

    def __post_init__(self) -> None:
        keep(self, z=validate.frozen("z", self.z))

    @property
    def dim(self) -> int:
        return self.z.shape[-1]

    @property
    def coefficients(self) -> Coefficients:
        return 0.0, self.z, 0.0

    def value(self, w: ArrayLike) -> Any:
        return (self.z * validate.array("w", w, self.dim)).sum(axis=-1)

    def subgradient(self, w: ArrayLike) -> Array:
        return self.z


@description
class Quadratic:
    """f(w) = ½·curvature·‖w − center‖²."""

    center: Vector
    curvature: float = 1.0

    def __post_init__(self) -> None:
        center, curvature = validate.vector("center", self.center), self.curvature
        keep(self, center=center, curvature=validate.size("curvature", curvature))

    @property
    def dim(self) -> int:
        return len(self.center)

    @property
    def coefficients(self) -> Coefficients:
        a, c = self.curvature, self.center
        return a, -a * c, 0.5 * a * float(c @ c)

    def value(self, w: ArrayLike) -> Any:
        return 0.5 * self.curvature * np.square(validate.array("w", w, self.dim) - self.center).sum(axis=-1)

    def subgradient(self, w: ArrayLike) -> Array:
        return self.curvature * (validate.array("w", w, self.dim) - self.center)


# ---------------------------------------------------------------- losses over data


@description
class Examples:
    """A loss over data: f_t(w) = φ(⟨w, x_t⟩, y_t) + ½·reg·‖w‖², one round an example; x_t is row t of X."""

    X: Vector
    y: Vector
    phi: Scalar
    reg: float = 0.0

    def __post_init__(self) -> None:
        X, largest = validate.measured("X", self.X, ndim=2)
        y = validate.labels("y", self.y, len(X), self.phi.takes)
        keep(self, X=validate.freeze(X), y=y, reg=validate.number("reg", self.reg, low=0.0), largest=largest)

    @property
    def dim(self) -> int:
        return self.X.shape[1]

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, t: Any) -> Any:
        if t == slice(0, len(self)) or t == slice(None, len(self)):
            return self
        kind = Examples if isinstance(t, slice) else Example
        return kind(self.X[t], self.y[t], self.phi, self.reg)

    def predictions(self, w: ArrayLike) -> Array:
        """⟨w, x_t⟩ for every t: one w for all rounds, or row t of `(..., T, n)` for round t."""
        w = validate.array("w", w, self.dim)
        if w.ndim == 1:
            return self.X @ w
        validate.asked("w, one for each round,", np.broadcast_shapes, self.X.shape, w.shape)
        return inner(self.X, w)

    def values(self, w: ArrayLike) -> Array:
        """f_t(w) for every t, `(..., T)`; `w` as in `predictions`."""
        values = self.phi.value(self.predictions(w), self.y)
        return values + 0.5 * self.reg * np.square(w).sum(axis=-1) if self.reg else values

    def subgradients(self, w: ArrayLike, predictions: Array | None = None) -> Array:
        """A subgradient of every f_t at w (or at row t of w), `(..., T, n)`; `predictions` if known."""
        slopes = self.phi.slope(self.predictions(w) if predictions is None else predictions, self.y)
        return slopes[..., None] * self.X + self.reg * np.asarray(w, dtype=float)

    def steepest(self, predictions: Array) -> float:
        """At these predictions no φ'(⟨w, x_t⟩, y_t)·x_t is longer than this (no `reg` in it)."""
        slope = self.phi.lipschitz or np.abs(self.phi.slope(predictions, self.y)).max()
        return slope * self.largest * np.sqrt(self.dim)  # type: ignore[attr-defined]

    def margins(self, w: ArrayLike) -> Array:
        """y_t(⟨w, x_t⟩ − threshold) for every t; the threshold is 0 unless φ has one."""
        return self.phi.margin(self.predictions(w), self.y)

    def with_kink(self, kink: float) -> "Examples":
        """The same losses with another subgradient chosen at the kink."""
        return changed(self, phi=self.phi.with_kink(kink))

    def regularized(self, reg: float) -> "Examples":
        """The same φ with ½·reg·‖w‖² in every round, in place of the `reg` it had: reg-strongly convex."""
        return changed(self, reg=validate.positive("reg", reg))


@description
class Example:
    """One labelled example as a loss: f(w) = φ(⟨w, x⟩, y) + ½·reg·‖w‖²."""

    x: Vector
    y: float
    phi: Scalar
    reg: float = 0.0

    def __post_init__(self) -> None:
        x, y = validate.vector("x", self.x), validate.labels("y", [self.y], 1, self.phi.takes)
        keep(self, x=x, y=float(y[0]), reg=validate.number("reg", self.reg, low=0.0))

    @property
    def dim(self) -> int:
        return len(self.x)

    def value(self, w: ArrayLike) -> Any:
        w = validate.array("w", w, self.dim)
        return self.phi.value(w @ self.x, self.y) + 0.5 * self.reg * np.square(w).sum(axis=-1)

    def subgradient(self, w: ArrayLike) -> Array:
        w = validate.vector("w", w, self.dim)
        return self.phi.slope(w @ self.x, self.y) * self.x + self.reg * w

    def with_kink(self, kink: float) -> "Example":
        """The same loss with another subgradient chosen at the kink."""
        return replace(self, phi=self.phi.with_kink(kink))


def perceptron_loss(X: ArrayLike, y: ArrayLike, threshold: float = 0.0, kink: float = 1.0) -> Examples:
    """f_t(w) = max(0, −y_t(⟨w, x_t⟩ − threshold)); at the kink the subgradient −kink·y_t·x_t."""
    return Examples(X, y, PerceptronLoss(threshold, kink))


def hinge(X: ArrayLike, y: ArrayLike, kink: float = 0.0) -> Examples:
    """f_t(w) = max(0, 1 − y_t⟨w, x_t⟩); at the kink the subgradient −kink·y_t·x_t."""
    return Examples(X, y, HingeLoss(kink))


def squared_hinge(X: ArrayLike, y: ArrayLike) -> Examples:
    """f_t(w) = ½ max(0, 1 − y_t⟨w, x_t⟩)²."""
    return Examples(X, y, SQUARED_HINGE)


def exponential(X: ArrayLike, y: ArrayLike) -> Examples:
    """f_t(w) = exp(−y_t⟨w, x_t⟩)."""
    return Examples(X, y, EXPONENTIAL)


def logistic(X: ArrayLike, y: ArrayLike) -> Examples:
    """f_t(w) = log(1 + exp(−y_t⟨w, x_t⟩))."""
    return Examples(X, y, LOGISTIC)


def novelty(X: ArrayLike, rho: float = 1.0) -> Examples:
    """f_t(w) = max(0, rho − ⟨w, x_t⟩): perceptron loss, threshold rho, all labels +1, slope 0 at the kink."""
    return perceptron_loss(X, np.ones(len(validate.array("X", X))), threshold=rho, kink=0.0)


def least_squares(X: ArrayLike, y: ArrayLike) -> Examples:
    """f_t(w) = ½(⟨w, x_t⟩ − y_t)²."""
    return Examples(X, y, LEAST_SQUARES)


def absolute(X: ArrayLike, y: ArrayLike) -> Examples:
    """f_t(w) = |⟨w, x_t⟩ − y_t|."""
    return Examples(X, y, TubeLoss())


def quantile(X: ArrayLike, y: ArrayLike, tau: float) -> Examples:
    """f_t(w) = max(tau·r, (tau − 1)·r), r = ⟨w, x_t⟩ − y_t: it seeks the (1 − tau)-quantile of y."""
    tau = validate.probability("tau", tau)
    return Examples(X, y, TubeLoss(tau, 1.0 - tau))


def eps_insensitive(X: ArrayLike, y: ArrayLike, eps: float) -> Examples:
    """f_t(w) = max(0, |⟨w, x_t⟩ − y_t| − eps)."""
    return Examples(X, y, TubeLoss(eps=eps))


def huber(X: ArrayLike, y: ArrayLike) -> Examples:
    """f_t(w) = ½r² where |r| ≤ 1, else |r| − ½; r = ⟨w, x_t⟩ − y_t."""
    return Examples(X, y, HUBER)


def poisson(X: ArrayLike, y: ArrayLike) -> Examples:
    """f_t(w) = exp(⟨w, x_t⟩) − y_t⟨w, x_t⟩ for y_t ≥ 0: of counts the −log likelihood, less log y_t!."""
    return Examples(X, y, POISSON)


# ---------------------------------------------------------------- losses of a matrix of weights


@description
class VectorExample:
    """f(w) = φ(Wx, y) for a matrix W with `outputs` rows; the play w is W, row after row."""

    x: Vector
    y: Any
    phi: Scalar
    outputs: int

    @property
    def dim(self) -> int:
        return self.outputs * len(self.x)

    def scores(self, w: ArrayLike) -> Array:
        """Wx."""
        return np.reshape(validate.vector("w", w, self.dim), (self.outputs, -1)) @ self.x

    def value(self, w: ArrayLike) -> Any:
        return self.phi.value(self.scores(w), self.y)

    def subgradient(self, w: ArrayLike) -> Array:
        return np.outer(self.phi.slope(self.scores(w), self.y), self.x).ravel()


def _vector_examples(X: ArrayLike, y: Any, phi: Scalar, outputs: int) -> list[VectorExample]:
    X, _ = validate.frozen("X", X, ndim=2), validate.array("y", y)
    if np.ndim(y) == 1 and not np.isin(y, np.arange(outputs)).all():
        raise ValueError(f"y must hold classes 0, …, {outputs - 1}, got {y}")
    y = np.asarray(y, dtype=int) if np.ndim(y) == 1 else y
    if len(y) != len(X):
        raise ValueError(f"y must have {len(X)} entries, one an example, got {len(y)}")
    return [VectorExample(x, label, phi, outputs) for x, label in zip(X, y, strict=True)]


def soft_margin(
    X: ArrayLike, y: ArrayLike, delta: ArrayLike, gamma: ArrayLike | None = None
) -> list[VectorExample]:
    """f_t(W) = max over c of gamma[y_t, c]·(f_c − f_{y_t} + delta[y_t, c]), f = Wx_t; gamma = 1 if None."""
    phi = SoftMargin(delta, np.ones(np.shape(delta)) if gamma is None else gamma)
    return _vector_examples(X, validate.vector("y", y), phi, len(phi.delta))


def softmax(X: ArrayLike, y: ArrayLike, classes: int) -> list[VectorExample]:
    """f_t(W) = log Σ_c exp(f_c) − f_{y_t}, f = Wx_t."""
    return _vector_examples(X, validate.vector("y", y), SOFTMAX, validate.count("classes", classes))


def multivariate_regression(X: ArrayLike, Y: ArrayLike, M: ArrayLike) -> list[VectorExample]:
    """f_t(W) = ½(Wx_t − y_t)ᵀM(Wx_t − y_t), y_t row t of Y."""
    phi = QuadraticForm(M)
    return _vector_examples(X, validate.frozen("Y", Y, len(phi.M), ndim=2), phi, len(phi.M))


# ---------------------------------------------------------------- many losses at once

#: losses known in advance: linear ones as an array, losses over data, a sequence
Losses: TypeAlias = Array | Examples | Sequence[Loss]


def values(losses: Losses, w: ArrayLike) -> Array:
    """f_t(w) for every t, `(..., T)`: `losses` in any form of `Losses`, w one point or one a round."""
    if isinstance(losses, np.ndarray):
        return inner(losses, validate.array("w", w, losses.shape[-1]))
    if isinstance(losses, Examples):
        return losses.values(w)
    w = np.broadcast_to(w, (len(losses), np.shape(w)[-1]))
    return np.array([float(f.value(point)) for f, point in zip(losses, w, strict=True)])


def coefficients(losses: Losses) -> tuple[Array, Array, Array] | None:
    """(a_t, b_t, k_t) of every round, f_t(w) = ½a_t‖w‖² + ⟨b_t, w⟩ + k_t; `None` if some loss has none."""
    if isinstance(losses, np.ndarray):
        return np.zeros(losses.shape[:-1]), losses, np.zeros(losses.shape[:-1])
    summable = [] if isinstance(losses, Examples) else [f for f in losses if isinstance(f, Summable)]
    if len(summable) < len(losses):
        return None
    a, b, k = zip(*(f.coefficients for f in summable), strict=True)
    return np.array(a), np.array(b), np.array(k)
