"""Where the learner may play: closed convex sets, each with its projection and its linear minimiser.

Every method takes one point `(n,)` or many `(..., n)`. Three conventions hold for all sets:

- `project(y)` is the nearest point of the set, argmin_x ‖x − y‖;
- `minimize_linear(c)` is the minimiser of ⟨c, x⟩ of least norm, so that ties are settled the same way
  everywhere (it is the limit of FTRL with ½‖x‖² as the step grows). Unbounded below → `ValueError`;
- `contains(x, tol)` forgives `tol`; where rounding grows with x (a norm, a sum, an inner product), `tol`
  times the largest |x_i| if that is more. nan and inf are in no set.
"""

from dataclasses import dataclass

import numpy as np

from ocolib import validate


def _polar(x):
    """(s, r, d) with x = s·r·d and ‖d‖ = 1 (d = 0 for x = 0) over the last axis, kept as an axis.

    s is the largest |x_i|, so that no square overflows or underflows.
    """
    s = np.abs(x).max(axis=-1, keepdims=True)
    x = x / np.where(s > 0, s, 1.0)
    r = np.sqrt(np.square(x).sum(axis=-1, keepdims=True))
    return s, r, x / np.where(r > 0, r, 1.0)


def norm(x):
    """‖x‖ over the last axis, kept as an axis; inf only if ‖x‖ itself is beyond the floats."""
    s, r, _ = _polar(x)
    with np.errstate(over="ignore"):
        return s * r


def direction(x):
    """x/‖x‖ over the last axis, and 0 for x = 0."""
    return _polar(x)[2]


def _refuse(set_, c, unbounded):
    """Complain of the first c for which ⟨c, x⟩ has no minimum on the set."""
    if np.any(unbounded):
        raise ValueError(f"⟨c, x⟩ is unbounded below on {set_!r} for c = {c[unbounded][0]}")


@dataclass(frozen=True)
class Space:
    """All of Rⁿ."""

    dim: int

    def __post_init__(self):
        validate.count("dim", self.dim)

    @property
    def diameter(self):
        return np.inf

    def farthest(self, point):
        """sup over the set of ‖x − point‖."""
        return np.inf

    def contains(self, x, tol=1e-9):
        return np.isfinite(_points(x, self.dim)).all(axis=-1)

    def project(self, y):
        return validate.array("y", y, self.dim).copy()

    def minimize_linear(self, c):
        c = validate.array("c", c, self.dim)
        _refuse(self, c, c.any(axis=-1))
        return np.zeros_like(c)


@dataclass(frozen=True)
class Orthant:
    """{x : x ≥ 0}."""

    dim: int

    def __post_init__(self):
        validate.count("dim", self.dim)

    @property
    def diameter(self):
        return np.inf

    def farthest(self, point):
        """sup over the set of ‖x − point‖."""
        return np.inf

    def contains(self, x, tol=1e-9):
        return (_points(x, self.dim) >= -tol).all(axis=-1)

    def project(self, y):
        return np.maximum(validate.array("y", y, self.dim), 0.0)

    def minimize_linear(self, c):
        c = validate.array("c", c, self.dim)
        _refuse(self, c, (c < 0).any(axis=-1))
        return np.zeros_like(c)


@dataclass(frozen=True, eq=False)
class Ball:
    """{x : ‖x − center‖ ≤ radius}; `center` is 0 unless given."""

    dim: int
    radius: float = 1.0
    center: np.ndarray | None = None

    def __post_init__(self):
        validate.count("dim", self.dim)
        validate.positive("radius", self.radius)
        center = np.zeros(self.dim) if self.center is None else self.center
        object.__setattr__(self, "center", validate.vector("center", center, self.dim))

    @property
    def diameter(self):
        return 2.0 * self.radius

    def farthest(self, point):
        """max over the set of ‖x − point‖."""
        return float(norm(validate.vector("point", point, self.dim) - self.center)[0]) + self.radius

    def contains(self, x, tol=1e-9):
        x = _points(x, self.dim)
        return norm(x / 2 - self.center / 2)[..., 0] <= (self.radius + _forgiven(x, tol)) / 2

    def project(self, y):
        y = validate.array("y", y, self.dim)
        half = y / 2 - self.center / 2  # y − center may overflow
        return np.where(norm(half) > self.radius / 2, self.center + self.radius * direction(half), y)

    def minimize_linear(self, c):
        c = validate.array("c", c, self.dim)
        edge = self.center - self.radius * direction(c)
        return np.where(c.any(axis=-1, keepdims=True), edge, self.project(np.zeros(self.dim)))


@dataclass(frozen=True, eq=False)
class Box:
    """{x : low ≤ x ≤ high}, coordinate by coordinate; `Box([-1], [1])` is the interval [−1, 1]."""

    low: np.ndarray
    high: np.ndarray

    def __post_init__(self):
        low, high = validate.vector("low", self.low), validate.vector("high", self.high)
        if low.shape != high.shape:
            raise ValueError(f"low and high must have one shape, got {low.shape} and {high.shape}")
        if (low > high).any():
            i = int(np.argmax(low > high))
            raise ValueError(f"low must be ≤ high, got low[{i}] = {low[i]:g} > high[{i}] = {high[i]:g}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def dim(self):
        return len(self.low)

    @property
    def diameter(self):
        return float(norm(self.high - self.low)[0])

    def farthest(self, point):
        """max over the set of ‖x − point‖."""
        point = validate.vector("point", point, self.dim)
        return float(norm(np.maximum(np.abs(self.low - point), np.abs(self.high - point)))[0])

    def contains(self, x, tol=1e-9):
        x = _points(x, self.dim)
        return ((x >= self.low - tol) & (x <= self.high + tol)).all(axis=-1)

    def project(self, y):
        return np.clip(validate.array("y", y, self.dim), self.low, self.high)

    def minimize_linear(self, c):
        c = validate.array("c", c, self.dim)
        idle = np.clip(0.0, self.low, self.high)  # where c_i = 0 every value is optimal: the smallest
        return np.where(c > 0, self.low, np.where(c < 0, self.high, idle))


@dataclass(frozen=True)
class Simplex:
    """{x : x ≥ 0, Σ x_i = 1}, the probability distributions on `dim` outcomes.

    >>> y = np.array([1e8, 1e8 + 0.5, 0.0])
    >>> p = Simplex(3).project(y)
    >>> p
    array([0.25, 0.75, 0.  ])
    >>> bool(((np.eye(3) - p) @ (y - p)).max() <= 1e-6)  # y − p makes an obtuse angle with every corner
    True
    """

    dim: int

    def __post_init__(self):
        validate.count("dim", self.dim)

    @property
    def diameter(self):
        return float(np.sqrt(2.0)) if self.dim > 1 else 0.0

    def farthest(self, point):
        """max over the set of ‖x − point‖, attained at the vertex e_i with the least point_i."""
        point = validate.vector("point", point, self.dim)
        vertex = np.eye(1, self.dim, int(np.argmin(point)))[0]
        return float(norm(vertex - point)[0])

    def contains(self, x, tol=1e-9):
        x = _points(x, self.dim)
        with np.errstate(over="ignore"):
            return (x >= -tol).all(axis=-1) & (np.abs(x.sum(axis=-1) - 1.0) <= tol)

    def project(self, y):
        return _project_simplex(validate.array("y", y, self.dim), 1.0)

    def minimize_linear(self, c):
        c = validate.array("c", c, self.dim)
        best = c == c.min(axis=-1, keepdims=True)  # least norm: share the weight among the best
        return best / best.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class L1Ball:
    """{x : Σ |x_i| ≤ radius}."""

    dim: int
    radius: float = 1.0

    def __post_init__(self):
        validate.count("dim", self.dim)
        validate.positive("radius", self.radius)

    @property
    def diameter(self):
        return 2.0 * self.radius

    def farthest(self, point):
        """max over the set of ‖x − point‖, attained at a vertex ±radius·e_i."""
        point = validate.vector("point", point, self.dim)
        vertices = self.radius * np.vstack([np.eye(self.dim), -np.eye(self.dim)])
        return float(norm(vertices - point).max())

    def contains(self, x, tol=1e-9):
        x = _points(x, self.dim)
        with np.errstate(over="ignore"):
            return np.abs(x).sum(axis=-1) <= self.radius + _forgiven(x, tol)

    def project(self, y):
        y = validate.array("y", y, self.dim)
        size = np.abs(y)
        with np.errstate(over="ignore"):  # a sum that overflows is outside the ball
            inside = size.sum(axis=-1, keepdims=True) <= self.radius
        # signs do not matter to the ball: put the sizes on the simplex of total `radius`
        return np.where(inside, y, np.copysign(_project_simplex(size, self.radius), y) + 0.0)

    def minimize_linear(self, c):
        c = validate.array("c", c, self.dim)
        size = np.abs(c)
        best = size == size.max(axis=-1, keepdims=True)
        return -self.radius * np.sign(c) * (best / best.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Halfspace:
    """{x : ⟨normal, x⟩ ≤ offset}."""

    normal: np.ndarray
    offset: float

    def __post_init__(self):
        normal = validate.vector("normal", self.normal)
        if not normal.any():
            raise ValueError("normal must not be the zero vector")
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "offset", validate.number("offset", self.offset))

    @property
    def dim(self):
        return len(self.normal)

    @property
    def diameter(self):
        return np.inf

    def farthest(self, point):
        """sup over the set of ‖x − point‖."""
        return np.inf

    def _unit(self):
        """The unit normal and the signed distance of the boundary from 0."""
        with np.errstate(over="ignore"):  # a boundary beyond the floats is no boundary
            return direction(self.normal), self.offset / norm(self.normal)[0]

    def _excess(self, x):
        """(s, e): x lies s·e beyond the boundary, s the largest |x_i| if that is more than 1."""
        unit, distance = self._unit()
        s = np.maximum(np.abs(x).max(axis=-1, keepdims=True), 1.0)
        return s, ((x / s) @ unit)[..., None] - distance / s

    def contains(self, x, tol=1e-9):
        return (self._excess(_points(x, self.dim))[1] <= tol)[..., 0]

    def project(self, y):
        x, (unit, _) = validate.array("y", y, self.dim), self._unit()
        for _ in range(2):  # the second pass takes off what rounding left of the first
            s, excess = self._excess(x)
            x = np.where(excess > 0, s * (x / s - excess * unit), x)
        return x

    def minimize_linear(self, c):
        c = validate.array("c", c, self.dim)
        unit, distance = self._unit()
        slope = direction(c)
        tilted = slope.any(axis=-1, keepdims=True)
        # bounded below only for c = −λ·normal with λ ≥ 0; if λ > 0, all of the boundary is optimal
        _refuse(self, c, (tilted & (norm(slope + unit) > 1e-12))[..., 0])
        return np.where(tilted, distance * unit, self.project(np.zeros(self.dim)))


def _points(x, dim):
    """Points to test for membership: nan and inf are allowed here, they are simply not inside."""
    x = np.asarray(x, dtype=float)
    if x.ndim == 0 or x.shape[-1] != dim:
        raise ValueError(f"x must have {dim} entries on its last axis, got shape {x.shape}")
    return np.where(np.isfinite(x), x, np.nan)


def _forgiven(x, tol):
    """tol, or tol times the largest |x_i| where that is more."""
    return tol * np.maximum(np.abs(x).max(axis=-1), 1.0)


def _project_simplex(y, total):
    """Nearest point of {x ≥ 0, Σ x_i = total}: x_i = max(y_i − θ, 0) with θ set by the sum.

    Sort downwards, u_1 ≥ u_2 ≥ …; the largest k with u_k > (u_1 + … + u_k − total)/k is the size of
    the support, and that quotient is θ. Shifting y by its maximum changes nothing but rounding, and a
    coordinate more than `total` below the maximum ends at 0 wherever it is: clip it, nothing overflows.
    """
    with np.errstate(over="ignore"):
        y = np.maximum(y - y.max(axis=-1, keepdims=True), -total)
    u = -np.sort(-y, axis=-1)
    k = np.arange(1, y.shape[-1] + 1)
    theta = (np.cumsum(u, axis=-1) - total) / k
    support = (u > theta).sum(axis=-1, keepdims=True)
    return np.maximum(y - np.take_along_axis(theta, support - 1, axis=-1), 0.0)
