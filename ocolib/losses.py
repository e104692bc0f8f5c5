"""Define the losses of a round; every loss has `value(w)` and `subgradient(w)`.

- `Linear(z)` and `Quadratic(center, curvature)` also have `coefficients` (a, b, k) with
  f(w) = ½a‖w‖² + ⟨b, w⟩ + k. Sums keep this form, so leaders and comparators are computed exactly.
- `perceptron_loss(X, y)`, `hinge(X, y)`, `logistic(X, y)`, … are losses over data, one example per round:
  f_t(w) = φ(⟨w, x_t⟩, y_t), with φ from `phi`.
- `soft_margin(X, y, delta)`, `softmax(X, y, classes)`, … use a matrix of weights: f_t(W) = φ(Wx_t, y_t).

>>> losses = hinge([[1.0, 0.0], [0.0, 2.0]], [1, -1])
>>> losses.values([0.5, 0.5]), losses[1].subgradient([0.5, 0.5])
(array([0.5, 2. ]), array([0., 2.]))

To write a loss of your own, give a class these two methods; with `expression(w)` cvxpy can solve with it, and
with a `dim` games can check its dimension. `ocolib.testing.check_loss` tests it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import phi as phis
from ocolib import validate
from ocolib.describe import changed, description, keep
from ocolib.phi import Phi
from ocolib.types import Array, Losses


def inner(a: Array, b: Array) -> Array:
    """Return the inner product ⟨a, b⟩ over the last axis, with broadcasting."""
    return np.einsum("...i,...i->...", a, b)


# ---------------------------------------------------------------- functions of the play


@description
class Linear:
    """Represent the linear loss f(w) = ⟨z, w⟩.

    >>> float(Linear([1.0, 2.0]).value([3.0, 4.0]))
    11.0
    """

    z: Any

    def __post_init__(self) -> None:
        keep(self, z=validate.frozen("z", self.z))

    @property
    def dim(self) -> int:
        return self.z.shape[-1]

    @property
    def coefficients(self) -> tuple[float, Array, float]:
        return 0.0, self.z, 0.0

    def value(self, w: ArrayLike) -> Any:
        return (self.z * validate.array("w", w, self.dim)).sum(axis=-1)

    def subgradient(self, w: ArrayLike) -> Array:
        return self.z

    def expression(self, w: Any) -> Any:
        return self.z @ w


@description
class Quadratic:
    """Represent the quadratic loss f(w) = ½·curvature·‖w − center‖².

    >>> Quadratic([1.0], curvature=2.0).subgradient([3.0])
    array([4.])
    """

    center: Any
    curvature: float = 1.0

    def __post_init__(self) -> None:
        curvature = validate.positive("curvature", self.curvature)
        keep(self, center=validate.vector("center", self.center), curvature=curvature)

    @property
    def dim(self) -> int:
        return len(self.center)

    @property
    def coefficients(self) -> tuple[float, Array, float]:
        a, c = self.curvature, self.center
        return a, -a * c, 0.5 * a * float(c @ c)

    def value(self, w: ArrayLike) -> Any:
        return 0.5 * self.curvature * np.square(validate.array("w", w, self.dim) - self.center).sum(axis=-1)

    def subgradient(self, w: ArrayLike) -> Array:
        return self.curvature * (validate.array("w", w, self.dim) - self.center)

    def expression(self, w: Any) -> Any:
        import cvxpy as cp

        return 0.5 * self.curvature * cp.sum_squares(w - self.center)


# ---------------------------------------------------------------- losses over data


@description
class Examples:
    """Represent losses over data: f_t(w) = φ(⟨w, x_t⟩, y_t) + ½·reg·‖w‖² in round t, where x_t is row t of X.

    Indexing gives one loss (`Example`), slicing gives fewer rounds.

    >>> losses = hinge([[1.0, 0.0], [0.0, 2.0]], [1, -1])
    >>> losses[1]
    Example(x=array([0., 2.]), y=-1.0, phi=HingeLoss(kink=0.0), reg=0.0)
    >>> losses.margins([0.5, 0.5]), losses.subgradients([0.5, 0.5])[0]
    (array([ 0.5, -1. ]), array([-1.,  0.]))
    """

    X: Any
    y: Any
    phi: Phi
    reg: float = 0.0

    def __post_init__(self) -> None:
        X = validate.frozen("X", self.X, ndim=2)
        y = validate.labels("y", self.y, len(X), getattr(self.phi, "takes", "reals"))
        keep(self, X=X, y=y, reg=validate.number("reg", self.reg, low=0.0))

    @property
    def dim(self) -> int:
        return self.X.shape[1]

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, t: Any) -> Any:
        if isinstance(t, slice):
            return replace(self, X=self.X[t], y=self.y[t])
        one = object.__new__(Example)  # skips the checks, which `Examples` has already made
        keep(one, x=self.X[t], y=float(self.y[t]), phi=self.phi, reg=self.reg)
        return one

    def __iter__(self) -> "Iterator[Example]":
        return (self[t] for t in range(len(self)))

    def predictions(self, w: ArrayLike) -> Array:
        """Return the predictions ⟨w, x_t⟩ of all rounds; w is one vector, or has row t for round t."""
        w = validate.array("w", w, self.dim)
        if w.ndim > 1 and w.shape[-2] not in (1, len(self)):
            raise ValueError(f"w must have a row for each of {len(self)} rounds, got shape {w.shape}")
        return self.X @ w if w.ndim == 1 else inner(self.X, w)

    def values(self, w: ArrayLike) -> Array:
        """Return f_t(w) for every round, `(..., T)`; `w` as in `predictions`."""
        values = self.phi.value(self.predictions(w), self.y)
        return values + 0.5 * self.reg * np.square(w).sum(axis=-1) if self.reg else values

    def subgradients(self, w: ArrayLike) -> Array:
        """Return a subgradient of every f_t, `(..., T, n)`; `w` as in `predictions`."""
        slopes = self.phi.slope(self.predictions(w), self.y)
        return slopes[..., None] * self.X + self.reg * np.asarray(w, dtype=float)

    def margins(self, w: ArrayLike) -> Array:
        """Return the margins y_t(⟨w, x_t⟩ − threshold) of all rounds; the threshold is 0 for most φ."""
        return self.phi.margin(self.predictions(w), self.y)

    def expression(self, w: Any) -> Any:
        """Return f_1 + … + f_T as a cvxpy expression."""
        import cvxpy as cp

        total = cp.sum(self.phi.expression(self.X @ w, self.y))
        return total + 0.5 * self.reg * len(self) * cp.sum_squares(w) if self.reg else total

    def with_kink(self, kink: float) -> "Examples":
        """Return the same losses with subgradient −kink·y_t·x_t at the kink."""
        return changed(self, phi=self.phi.with_kink(kink))

    def regularized(self, reg: float) -> "Examples":
        """Return the same losses with the term ½·reg·‖w‖² in every round; it replaces any earlier `reg`."""
        return changed(self, reg=validate.positive("reg", reg))


@description
class Example:
    """Represent one labelled example as a loss: f(w) = φ(⟨w, x⟩, y) + ½·reg·‖w‖²."""

    x: Any
    y: float
    phi: Phi
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
        w = validate.array("w", w, self.dim, ndim=1)
        return self.phi.slope(w @ self.x, self.y) * self.x + self.reg * w

    def expression(self, w: Any) -> Any:
        import cvxpy as cp

        return self.phi.expression(self.x @ w, self.y) + 0.5 * self.reg * cp.sum_squares(w)

    def with_kink(self, kink: float) -> "Example":
        """Return the same loss with subgradient −kink·y·x at the kink."""
        return changed(self, phi=self.phi.with_kink(kink))


def perceptron_loss(X: ArrayLike, y: ArrayLike, threshold: float = 0.0, kink: float = 1.0) -> Examples:
    """Return the perceptron losses f_t(w) = max(0, −y_t(⟨w, x_t⟩ − threshold)).

    At the kink the subgradient is −kink·y_t·x_t.

    >>> perceptron_loss([[1.0, 0.0], [0.0, 2.0]], [1, -1]).values([0.5, 0.5])
    array([0., 1.])
    """
    return Examples(X, y, phis.PerceptronLoss(threshold, kink))


def hinge(X: ArrayLike, y: ArrayLike, kink: float = 0.0) -> Examples:
    """Return the hinge losses f_t(w) = max(0, 1 − y_t⟨w, x_t⟩).

    At the kink the subgradient is −kink·y_t·x_t.

    >>> hinge([[1.0, 0.0], [0.0, 2.0]], [1, -1]).values([0.5, 0.5])
    array([0.5, 2. ])
    """
    return Examples(X, y, phis.HingeLoss(kink))


def squared_hinge(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the squared hinge losses f_t(w) = ½ max(0, 1 − y_t⟨w, x_t⟩)²."""
    return Examples(X, y, phis.SQUARED_HINGE)


def exponential(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the exponential losses f_t(w) = exp(−y_t⟨w, x_t⟩)."""
    return Examples(X, y, phis.EXPONENTIAL)


def logistic(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the logistic losses f_t(w) = log(1 + exp(−y_t⟨w, x_t⟩)).

    >>> logistic([[1.0], [2.0]], [1, -1]).values([0.0])  # log 2 at w = 0
    array([0.69314718, 0.69314718])
    """
    return Examples(X, y, phis.LOGISTIC)


def novelty(X: ArrayLike, rho: float = 1.0) -> Examples:
    """Return the novelty detection losses f_t(w) = max(0, rho − ⟨w, x_t⟩).

    They are perceptron losses with threshold rho, all labels +1, and subgradient 0 at the kink.
    """
    return perceptron_loss(X, np.ones(len(validate.array("X", X))), threshold=rho, kink=0.0)


def least_squares(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the squared losses f_t(w) = ½(⟨w, x_t⟩ − y_t)².

    >>> least_squares([[2.0]], [1.0]).subgradients([1.5])  # (2·1.5 − 1)·2
    array([[4.]])
    """
    return Examples(X, y, phis.LEAST_SQUARES)


def absolute(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the absolute losses f_t(w) = |⟨w, x_t⟩ − y_t|."""
    return Examples(X, y, phis.TubeLoss())


def quantile(X: ArrayLike, y: ArrayLike, tau: float) -> Examples:
    """Return the quantile losses f_t(w) = max(tau·r, (tau − 1)·r) with r = ⟨w, x_t⟩ − y_t.

    Their minimiser predicts the (1 − tau)-quantile of y.

    >>> quantile([[1.0], [1.0]], [0.0, 4.0], tau=0.25).values([1.0])  # r = 1 and −3
    array([0.25, 2.25])
    """
    tau = validate.number("tau", tau, 0.0, 1.0)
    return Examples(X, y, phis.TubeLoss(tau, 1.0 - tau))


def eps_insensitive(X: ArrayLike, y: ArrayLike, eps: float) -> Examples:
    """Return the ε-insensitive losses f_t(w) = max(0, |⟨w, x_t⟩ − y_t| − eps)."""
    return Examples(X, y, phis.TubeLoss(eps=eps))


def huber(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the Huber losses of r = ⟨w, x_t⟩ − y_t: f_t(w) = ½r² if |r| ≤ 1, else |r| − ½."""
    return Examples(X, y, phis.HUBER)


def poisson(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the Poisson losses f_t(w) = exp(⟨w, x_t⟩) − y_t⟨w, x_t⟩ for counts y_t ≥ 0.

    This is the negative log-likelihood without the constant log y_t!.
    """
    return Examples(X, y, phis.POISSON)


# ---------------------------------------------------------------- losses of a matrix of weights


@description
class VectorExample:
    """Represent the loss f(w) = φ(Wx, y) of a matrix W with `outputs` rows; the play w lists W row by row."""

    x: Any
    y: Any
    phi: Phi
    outputs: int

    @property
    def dim(self) -> int:
        return self.outputs * len(self.x)

    def scores(self, w: ArrayLike) -> Array:
        """Return the scores Wx."""
        return np.reshape(validate.vector("w", w, self.dim), (self.outputs, -1)) @ self.x

    def value(self, w: ArrayLike) -> Any:
        return self.phi.value(self.scores(w), self.y)

    def subgradient(self, w: ArrayLike) -> Array:
        return np.outer(self.phi.slope(self.scores(w), self.y), self.x).ravel()

    def expression(self, w: Any) -> Any:
        import cvxpy as cp

        scores = cp.reshape(w, (self.outputs, len(self.x)), order="C") @ self.x
        return self.phi.expression(scores, self.y)


def _vector_examples(X: ArrayLike, y: Any, phi: Phi, outputs: int) -> list[VectorExample]:
    """Check X and y and return one `VectorExample` per row of X."""
    X, _ = validate.frozen("X", X, ndim=2), validate.array("y", y)
    if np.ndim(y) == 1 and not np.isin(y, np.arange(outputs)).all():
        raise ValueError(f"y must hold classes 0, …, {outputs - 1}, got {y}")
    y = np.asarray(y, dtype=int) if np.ndim(y) == 1 else y
    if len(y) != len(X):
        raise ValueError(f"y must have {len(X)} entries, one per example, got {len(y)}")
    return [VectorExample(x, label, phi, outputs) for x, label in zip(X, y, strict=True)]


def soft_margin(
    X: ArrayLike, y: ArrayLike, delta: ArrayLike, gamma: ArrayLike | None = None
) -> list[VectorExample]:
    """Return the multiclass losses f_t(W) = max over c of gamma[y_t, c]·(f_c − f_{y_t} + delta[y_t, c]).

    Here f = Wx_t are the scores of the classes 0, 1, …; `gamma` is all ones by default.

    >>> loss = soft_margin([[1.0]], [0], delta=1 - np.eye(2))[0]  # one feature, two classes
    >>> float(loss.value([0.75, 0.25])), loss.subgradient([0.75, 0.25])
    (0.5, array([-1.,  1.]))
    """
    phi = phis.SoftMargin(delta, np.ones(np.shape(delta)) if gamma is None else gamma)
    return _vector_examples(X, validate.vector("y", y), phi, len(phi.delta))


def softmax(X: ArrayLike, y: ArrayLike, classes: int) -> list[VectorExample]:
    """Return the softmax losses f_t(W) = log Σ_c exp(f_c) − f_{y_t} with scores f = Wx_t.

    >>> loss = softmax([[3.0]], [1], classes=3)[0]
    >>> loss.subgradient([0.0, 0.0, 0.0]).round(12)  # 3·(1/3, 1/3 − 1, 1/3)
    array([ 1., -2.,  1.])
    """
    return _vector_examples(X, validate.vector("y", y), phis.SOFTMAX, validate.count("classes", classes))


def multivariate_regression(X: ArrayLike, Y: ArrayLike, M: ArrayLike) -> list[VectorExample]:
    """Return the regression losses f_t(W) = ½(Wx_t − y_t)ᵀM(Wx_t − y_t), where y_t is row t of Y."""
    phi = phis.QuadraticForm(M)
    return _vector_examples(X, validate.frozen("Y", Y, len(phi.M), ndim=2), phi, len(phi.M))


# ---------------------------------------------------------------- many losses at once


def values(losses: Losses, w: ArrayLike) -> Array:
    """Return f_t(w) for every round, `(..., T)`, for losses in any form; w is one point or one per round."""
    if isinstance(losses, np.ndarray):
        return inner(losses, validate.array("w", w, losses.shape[-1]))
    if isinstance(losses, Examples):
        return losses.values(w)
    losses = list(losses)
    w = np.broadcast_to(w, (len(losses), np.shape(w)[-1]))
    return np.array([float(f.value(point)) for f, point in zip(losses, w, strict=True)])


def coefficients(losses: Losses) -> tuple[Array, Array, Array] | None:
    """Return arrays (a, b, k) with f_t(w) = ½a_t‖w‖² + ⟨b_t, w⟩ + k_t; None if a loss has another form."""
    if isinstance(losses, np.ndarray):
        return np.zeros(losses.shape[:-1]), losses, np.zeros(losses.shape[:-1])
    if isinstance(losses, Examples) or not all(hasattr(f, "coefficients") for f in losses):
        return None
    a, b, k = zip(*(f.coefficients for f in losses), strict=True)
    return np.array(a), np.array(b), np.array(k)
