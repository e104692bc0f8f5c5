"""What a round costs. One loss has `value(w)` and `subgradient(w)`.

- `Linear(z)` and `Quadratic(center, curvature)` also have `coefficients`, the (a, b, k) with
  f(w) = ½a‖w‖² + ⟨b, w⟩ + k: sums of them stay of this form, so leaders and comparators are exact.
- `perceptron_loss(X, y)`, `hinge(X, y)`, `logistic(X, y)`, … are losses over data, f_t(w) = φ(⟨w, x_t⟩, y_t):
  sequences that a game plays without making an object a round. φ is a scalar loss with `value(p, y)`,
  `slope(p, y)`, `subdifferential(p, y)` and the labels it `takes`; at a kink it owns the choice of slope.
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


class Scalar:
    """φ(p, y), convex in the prediction p. `None` where there is no such constant."""

    takes = "signs"  #: the labels: signs, reals or counts
    threshold = 0.0
    lipschitz = None  #: sup |slope|
    smooth = None  #: Lipschitz constant of the slope
    curvature = None  #: modulus of strong convexity, in p

    def margin(self, p, y):
        return y * p

    def subdifferential(self, p, y):
        """(least, greatest) slope at p: one number twice, unless p is a kink."""
        choices = [replace(self, kink=k) for k in (0.0, 1.0)] if hasattr(self, "kink") else [self]
        slopes = [phi.slope(p, y) for phi in choices]
        return np.min(slopes, axis=0), np.max(slopes, axis=0)


@dataclass(frozen=True)
class PerceptronLoss(Scalar):
    """φ(p, y) = max(0, −m) of the margin m = y(p − threshold); slope −kink·y at m = 0."""

    threshold: float = 0.0
    kink: float = 1.0
    lipschitz = 1.0

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
class HingeLoss(Scalar):
    """φ(p, y) = max(0, 1 − m) of the margin m = y·p; slope −kink·y at m = 1."""

    kink: float = 0.0
    lipschitz = 1.0

    def __post_init__(self):
        validate.probability("kink", self.kink)

    def value(self, p, y):
        return np.maximum(0.0, 1.0 - self.margin(p, y))

    def slope(self, p, y):
        m = self.margin(p, y)
        return -y * ((m < 1) + self.kink * (m == 1))


@dataclass(frozen=True, eq=False)
class Examples:
    """A loss over data: f_t(w) = φ(⟨w, x_t⟩, y_t) + ½·reg·‖w‖², one round an example; x_t is row t of X."""

    X: np.ndarray
    y: np.ndarray
    phi: Scalar
    reg: float = 0.0

    def __post_init__(self):
        X = validate.frozen("X", self.X, ndim=2)
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", validate.labels("y", self.y, len(X), self.phi.takes))
        validate.number("reg", self.reg, low=0.0)

    @property
    def dim(self):
        return self.X.shape[1]

    def __len__(self):
        return len(self.X)

    def __getitem__(self, t):
        kind = Examples if isinstance(t, slice) else Example
        return kind(self.X[t], self.y[t], self.phi, self.reg)

    def predictions(self, w):
        """⟨w, x_t⟩ for every t: one w for all rounds, or row t of `(T, n)` for round t."""
        w = np.asarray(w, dtype=float)
        return self.X @ w if w.ndim == 1 else (self.X * w).sum(axis=-1)

    def values(self, w):
        """f_t(w) for every t, `(T,)`; `w` as in `predictions`."""
        return self.phi.value(self.predictions(w), self.y) + 0.5 * self.reg * np.square(w).sum(axis=-1)

    def subgradients(self, w):
        """A subgradient of every f_t at w (or at row t of w), `(T, n)`."""
        slopes = self.phi.slope(self.predictions(w), self.y)
        return slopes[:, None] * self.X + self.reg * np.asarray(w, dtype=float)

    def margins(self, w):
        """y_t(⟨w, x_t⟩ − threshold) for every t."""
        return self.phi.margin(self.predictions(w), self.y)

    def with_kink(self, kink):
        """The same losses with another subgradient chosen at the kink."""
        return replace(self, phi=replace(self.phi, kink=kink))

    def regularized(self, reg):
        """The same losses with ½·reg·‖w‖² added in every round: they are reg-strongly convex."""
        return replace(self, reg=validate.positive("reg", reg))


@dataclass(frozen=True, eq=False)
class Example:
    """One labelled example as a loss: f(w) = φ(⟨w, x⟩, y) + ½·reg·‖w‖²."""

    x: np.ndarray
    y: float
    phi: Scalar
    reg: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "x", validate.vector("x", self.x))
        validate.labels("y", [self.y], 1, self.phi.takes)
        validate.number("reg", self.reg, low=0.0)

    @property
    def dim(self):
        return len(self.x)

    def value(self, w):
        w = np.asarray(w, dtype=float)
        return self.phi.value(w @ self.x, self.y) + 0.5 * self.reg * np.square(w).sum(axis=-1)

    def subgradient(self, w):
        w = np.asarray(w, dtype=float)
        return self.phi.slope(w @ self.x, self.y) * self.x + self.reg * w

    def with_kink(self, kink):
        """The same loss with another subgradient chosen at the kink."""
        return replace(self, phi=replace(self.phi, kink=kink))


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


# ---------------------------------------------------------------- Regret bounds, Table 5


@dataclass(frozen=True, eq=False)
class Smooth(Scalar):
    """A differentiable loss: its two formulas and its constants."""

    name: str
    value: object
    slope: object
    takes: str = "signs"
    lipschitz: float | None = None
    smooth: float | None = None
    curvature: float | None = None


SQUARED_HINGE = Smooth(
    "squared hinge",
    lambda p, y: 0.5 * np.square(np.maximum(0.0, 1.0 - y * p)),
    lambda p, y: -y * np.maximum(0.0, 1.0 - y * p),
    smooth=1.0,
)
EXPONENTIAL = Smooth("exponential", lambda p, y: np.exp(-y * p), lambda p, y: -y * np.exp(-y * p))
LOGISTIC = Smooth(  # the slope is −y/(1 + exp(y·p)), written so that no exponential overflows
    "logistic",
    lambda p, y: np.logaddexp(0.0, -y * p),
    lambda p, y: -y * np.exp(-np.logaddexp(0.0, y * p)),
    lipschitz=1.0,
    smooth=0.25,
)
LEAST_SQUARES = Smooth(
    "least squares",
    lambda p, y: 0.5 * np.square(p - y),
    lambda p, y: p - y,
    takes="reals",
    smooth=1.0,
    curvature=1.0,
)
HUBER = Smooth(
    "huber",
    lambda p, y: np.where(np.abs(p - y) <= 1, 0.5 * np.square(p - y), np.abs(p - y) - 0.5),
    lambda p, y: np.clip(p - y, -1.0, 1.0),
    takes="reals",
    lipschitz=1.0,
    smooth=1.0,
)
POISSON = Smooth("poisson", lambda p, y: np.exp(p) - y * p, lambda p, y: np.exp(p) - y, takes="counts")


@dataclass(frozen=True)
class TubeLoss(Scalar):
    """φ(p, y) = max(0, up·(r − eps), down·(−r − eps)), r = p − y; slope 0 at its kinks r = ±eps."""

    up: float = 1.0
    down: float = 1.0
    eps: float = 0.0
    takes = "reals"

    def __post_init__(self):
        for name in ("up", "down", "eps"):
            validate.number(name, getattr(self, name), low=0.0)

    @property
    def lipschitz(self):
        return max(self.up, self.down)

    def value(self, p, y):
        r = p - y
        return np.maximum(0.0, np.maximum(self.up * (r - self.eps), self.down * (-r - self.eps)))

    def slope(self, p, y):
        return self.up * (p - y > self.eps) - self.down * (p - y < -self.eps)

    def subdifferential(self, p, y):
        right = self.up * (p - y >= self.eps) - self.down * (p - y < -self.eps)
        return self.up * (p - y > self.eps) - self.down * (p - y <= -self.eps), right


def squared_hinge(X, y):
    """f_t(w) = ½ max(0, 1 − y_t⟨w, x_t⟩)²."""
    return Examples(X, y, SQUARED_HINGE)


def exponential(X, y):
    """f_t(w) = exp(−y_t⟨w, x_t⟩)."""
    return Examples(X, y, EXPONENTIAL)


def logistic(X, y):
    """f_t(w) = log(1 + exp(−y_t⟨w, x_t⟩))."""
    return Examples(X, y, LOGISTIC)


def novelty(X, rho=1.0):
    """f_t(w) = max(0, rho − ⟨w, x_t⟩): the perceptron loss of positive examples, slope 0 at the kink."""
    return perceptron_loss(X, np.ones(len(X)), threshold=rho, kink=0.0)


def least_squares(X, y):
    """f_t(w) = ½(⟨w, x_t⟩ − y_t)²."""
    return Examples(X, y, LEAST_SQUARES)


def absolute(X, y):
    """f_t(w) = |⟨w, x_t⟩ − y_t|."""
    return Examples(X, y, TubeLoss())


def quantile(X, y, tau):
    """f_t(w) = max(tau·r, (tau − 1)·r), r = ⟨w, x_t⟩ − y_t: it seeks the (1 − tau)-quantile."""
    tau = validate.probability("tau", tau)
    return Examples(X, y, TubeLoss(tau, 1.0 - tau))


def eps_insensitive(X, y, eps):
    """f_t(w) = max(0, |⟨w, x_t⟩ − y_t| − eps)."""
    return Examples(X, y, TubeLoss(eps=eps))


def huber(X, y):
    """f_t(w) = ½r² where |r| ≤ 1, else |r| − ½; r = ⟨w, x_t⟩ − y_t."""
    return Examples(X, y, HUBER)


def poisson(X, y):
    """f_t(w) = exp(⟨w, x_t⟩) − y_t⟨w, x_t⟩ for counts y_t: −log likelihood, less log y_t!."""
    return Examples(X, y, POISSON)


# ---------------------------------------------------------------- Regret bounds, Table 6


@dataclass(frozen=True, eq=False)
class SoftMargin:
    """φ(f, y) = max over classes c of gamma[y, c]·(f_c − f_y + delta[y, c])."""

    delta: np.ndarray
    gamma: np.ndarray
    smooth = curvature = None

    @property
    def lipschitz(self):
        return float(np.sqrt(2.0) * (self.gamma * (1.0 - np.eye(len(self.gamma)))).max())

    def scaled(self, f, y):
        return self.gamma[y] * (f - f[y] + self.delta[y])

    def value(self, f, y):
        return self.scaled(f, y).max()

    def slope(self, f, y):
        return self.subdifferential(f, y)[0]

    def subdifferential(self, f, y):
        """Its corners as rows: gamma[y, c]·(e_c − e_y) for every maximiser c."""
        scaled, unit = self.scaled(f, y), np.eye(len(f))
        best = scaled == scaled.max()
        return self.gamma[y][best, None] * (unit[best] - unit[y])


SOFTMAX = Smooth(
    "softmax",
    lambda f, y: np.logaddexp.reduce(f) - f[y],
    lambda f, y: np.exp(f - np.logaddexp.reduce(f)) - np.eye(len(f))[y],
    takes="classes",
    lipschitz=float(np.sqrt(2.0)),
    smooth=0.5,
)


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """φ(f, y) = ½(f − y)ᵀM(f − y), M symmetric with no negative eigenvalue."""

    M: np.ndarray
    lipschitz = None

    def __post_init__(self):
        M = validate.frozen("M", self.M, ndim=2)
        if M.shape[0] != M.shape[1] or not np.array_equal(M, M.T) or np.linalg.eigvalsh(M)[0] < -1e-12:
            raise ValueError(f"M must be symmetric with no negative eigenvalue, got {M.tolist()}")
        object.__setattr__(self, "M", M)

    @property
    def smooth(self):
        return float(np.linalg.eigvalsh(self.M)[-1])

    @property
    def curvature(self):
        least = float(np.linalg.eigvalsh(self.M)[0])
        return least if least > 1e-12 else None

    def value(self, f, y):
        return 0.5 * (f - y) @ self.M @ (f - y)

    def slope(self, f, y):
        return self.M @ (f - y)


@dataclass(frozen=True, eq=False)
class VectorExample:
    """f(w) = φ(Wx, y) for a matrix W with `outputs` rows; the play w is W, row after row."""

    x: np.ndarray
    y: object
    phi: object
    outputs: int

    @property
    def dim(self):
        return self.outputs * len(self.x)

    def scores(self, w):
        return np.reshape(w, (self.outputs, -1)) @ self.x

    def value(self, w):
        return self.phi.value(self.scores(w), self.y)

    def subgradient(self, w):
        return np.outer(self.phi.slope(self.scores(w), self.y), self.x).ravel()


def _vector_examples(X, y, phi, outputs):
    X = validate.frozen("X", X, ndim=2)
    if np.ndim(y) == 1 and not np.isin(y, np.arange(outputs)).all():
        raise ValueError(f"y must hold classes 0, …, {outputs - 1}, got {y}")
    if len(y) != len(X):
        raise ValueError(f"y must have {len(X)} entries, one an example, got {len(y)}")
    return [VectorExample(x, label, phi, outputs) for x, label in zip(X, y, strict=True)]


def soft_margin(X, y, delta, gamma=None):
    """f_t(W) = max over c of gamma[y_t, c]·(f_c − f_{y_t} + delta[y_t, c]), f = Wx_t; gamma = 1 if None."""
    delta = validate.frozen("delta", delta, ndim=2)
    gamma = validate.frozen("gamma", np.ones_like(delta) if gamma is None else gamma, len(delta), ndim=2)
    if delta.shape != gamma.shape or (gamma < 0).any():
        raise ValueError(f"gamma must be ≥ 0 and, like delta, square, got {gamma.shape} and {delta.shape}")
    return _vector_examples(X, y, SoftMargin(delta, gamma), len(delta))


def softmax(X, y, classes):
    """f_t(W) = log Σ_c exp(f_c) − f_{y_t}, f = Wx_t."""
    return _vector_examples(X, y, SOFTMAX, validate.count("classes", classes))


def multivariate_regression(X, Y, M):
    """f_t(W) = ½(Wx_t − y_t)ᵀM(Wx_t − y_t), y_t row t of Y."""
    phi = QuadraticForm(M)
    return _vector_examples(X, validate.frozen("Y", Y, len(phi.M), ndim=2), phi, len(phi.M))
