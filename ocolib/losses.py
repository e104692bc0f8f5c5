"""What a round costs. One loss has `value(w)` and `subgradient(w)`.

- `Linear(z)` and `Quadratic(center, curvature)` also have `coefficients`, the (a, b, k) with
  f(w) = ½a‖w‖² + ⟨b, w⟩ + k: sums of them stay of this form, so leaders and comparators are exact.
- `perceptron_loss(X, y)` and `hinge(X, y)` are losses over data, f_t(w) = φ(⟨w, x_t⟩, y_t): sequences that
  a game plays without making an object a round. At a kink the loss owns the choice of subgradient.
"""

from dataclasses import dataclass, replace

import numpy as np

from ocolib import validate


@dataclass(frozen=True, eq=False)
class Linear:
    """f(w) = ⟨z, w⟩."""

    z: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "z", validate.frozen("z", self.z))

    @property
    def dim(self):
        return self.z.shape[-1]

    @property
    def coefficients(self):
        return 0.0, self.z, 0.0

    def value(self, w):
        return (self.z * w).sum(axis=-1)

    def subgradient(self, w):
        return self.z


@dataclass(frozen=True, eq=False)
class Quadratic:
    """f(w) = ½·curvature·‖w − center‖²."""

    center: np.ndarray
    curvature: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "center", validate.vector("center", self.center))
        validate.positive("curvature", self.curvature)

    @property
    def dim(self):
        return len(self.center)

    @property
    def coefficients(self):
        a, c = self.curvature, self.center
        return a, -a * c, 0.5 * a * float(c @ c)

    def value(self, w):
        return 0.5 * self.curvature * np.square(w - self.center).sum(axis=-1)

    def subgradient(self, w):
        return self.curvature * (np.asarray(w, dtype=float) - self.center)


@dataclass(frozen=True)
class PerceptronLoss:
    """φ(p, y) = max(0, −m) of the margin m = y(p − threshold); slope −kink·y at m = 0."""

    threshold: float = 0.0
    kink: float = 1.0

    def __post_init__(self):
        validate.number("threshold", self.threshold)
        validate.probability("kink", self.kink)

    def margin(self, p, y):
        return y * (p - self.threshold)

    def value(self, p, y):
        return np.maximum(0.0, -self.margin(p, y))

    def slope(self, p, y):
        m = self.margin(p, y)
        return -y * ((m < 0) + self.kink * (m == 0))


@dataclass(frozen=True)
class HingeLoss:
    """φ(p, y) = max(0, 1 − m) of the margin m = y·p; slope −kink·y at m = 1."""

    kink: float = 0.0
    threshold = 0.0

    def __post_init__(self):
        validate.probability("kink", self.kink)

    def margin(self, p, y):
        return y * p

    def value(self, p, y):
        return np.maximum(0.0, 1.0 - self.margin(p, y))

    def slope(self, p, y):
        m = self.margin(p, y)
        return -y * ((m < 1) + self.kink * (m == 1))


@dataclass(frozen=True, eq=False)
class Examples:
    """A loss over data: f_t(w) = φ(⟨w, x_t⟩, y_t), one round an example; x_t is row t of X."""

    X: np.ndarray
    y: np.ndarray
    phi: PerceptronLoss | HingeLoss

    def __post_init__(self):
        X = validate.frozen("X", self.X, ndim=2)
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", validate.labels("y", self.y, len(X)))

    @property
    def dim(self):
        return self.X.shape[1]

    def __len__(self):
        return len(self.X)

    def __getitem__(self, t):
        if isinstance(t, slice):
            return Examples(self.X[t], self.y[t], self.phi)
        return Example(self.X[t], self.y[t], self.phi)

    def predictions(self, w):
        """⟨w, x_t⟩ for every t: one w for all rounds, or row t of `(T, n)` for round t."""
        w = np.asarray(w, dtype=float)
        return self.X @ w if w.ndim == 1 else (self.X * w).sum(axis=-1)

    def values(self, w):
        """f_t(w) for every t, `(T,)`; `w` as in `predictions`."""
        return self.phi.value(self.predictions(w), self.y)

    def subgradients(self, w):
        """A subgradient of every f_t at w (or at row t of w), `(T, n)`."""
        return self.phi.slope(self.predictions(w), self.y)[:, None] * self.X

    def margins(self, w):
        """y_t(⟨w, x_t⟩ − threshold) for every t."""
        return self.phi.margin(self.predictions(w), self.y)

    def with_kink(self, kink):
        """The same losses with another subgradient chosen at the kink."""
        return Examples(self.X, self.y, replace(self.phi, kink=kink))


@dataclass(frozen=True, eq=False)
class Example:
    """One labelled example as a loss: f(w) = φ(⟨w, x⟩, y)."""

    x: np.ndarray
    y: float
    phi: PerceptronLoss | HingeLoss

    def __post_init__(self):
        object.__setattr__(self, "x", validate.vector("x", self.x))
        validate.labels("y", [self.y], 1)

    @property
    def dim(self):
        return len(self.x)

    def value(self, w):
        return self.phi.value(np.asarray(w, dtype=float) @ self.x, self.y)

    def subgradient(self, w):
        return self.phi.slope(np.asarray(w, dtype=float) @ self.x, self.y) * self.x

    def with_kink(self, kink):
        """The same loss with another subgradient chosen at the kink."""
        return Example(self.x, self.y, replace(self.phi, kink=kink))


def perceptron_loss(X, y, threshold=0.0, kink=1.0):
    """f_t(w) = max(0, −y_t(⟨w, x_t⟩ − threshold)); at the kink the subgradient −kink·y_t·x_t."""
    return Examples(X, y, PerceptronLoss(threshold, kink))


def hinge(X, y, kink=0.0):
    """f_t(w) = max(0, 1 − y_t⟨w, x_t⟩); at the kink the subgradient −kink·y_t·x_t."""
    return Examples(X, y, HingeLoss(kink))


def values(losses, w):
    """f_t(w) for every t, `(..., T)`: `losses` in any form a game takes, w one point or one a round."""
    if isinstance(losses, np.ndarray):
        return (losses * w).sum(axis=-1)
    if isinstance(losses, Examples):
        return losses.values(w)
    w = np.broadcast_to(w, (len(losses), np.shape(w)[-1]))
    return np.array([float(f.value(point)) for f, point in zip(losses, w, strict=True)])


def coefficients(losses):
    """(a_t, b_t, k_t) of every round, f_t(w) = ½a_t‖w‖² + ⟨b_t, w⟩ + k_t; `None` if some loss is not so."""
    if isinstance(losses, np.ndarray):
        return np.zeros(losses.shape[:-1]), losses, np.zeros(losses.shape[:-1])
    if isinstance(losses, Examples) or not all(hasattr(f, "coefficients") for f in losses):
        return None
    a, b, k = zip(*(f.coefficients for f in losses), strict=True)
    return np.array(a), np.array(b), np.array(k)
