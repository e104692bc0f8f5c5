"""Where the learner may play: closed convex sets, each with its projection and its linear minimiser.

Every method but `farthest` takes one point `(n,)` or many `(..., n)`. Three conventions hold:

- `project(y)` is the nearest point of the set, argmin_x ‖x − y‖;
- `minimize_linear(c)` is the minimiser of ⟨c, x⟩ of least norm, so that ties are settled the same way
  everywhere (it is the limit of FTRL with ½‖x‖² as the step grows). Unbounded below → `ValueError`;
- `contains(x, tol)` forgives `tol`; where rounding grows with x (a norm, an inner product), `tol`
  times the largest |x_i| if that is more. nan, inf and what is beyond 1e150 are in no set.

(`Hull.contains` forgives just `tol`, and refuses such x; its `minimize_linear` takes for a tie what
differs by 1e-12·max |⟨c, x⟩| or less.)

A new set is a class here, marked with `kind`, and its twin in `oracle.constraints`; the tests find it by
themselves. (`Hull` is not marked, and has tests of its own.)
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.blocks import running
from ocolib.descriptions import description, keep
from ocolib.protocols import Array, Set, Vector

T = TypeVar("T")


class Source(Protocol):
    """Where the numbers of an example come from."""

    def vector(self) -> Array:
        """Any vector."""

    def nonzero(self) -> Array:
        """A vector that is not 0."""

    def size(self) -> float:
        """A number > 0."""


#: every kind of set that is marked, and how to make one in `dim` dimensions from a `Source`
KINDS: dict[type, Callable[[int, Source], Set]] = {}


def kind(sample: Callable[[int, Source], Set]) -> Callable[[type[T]], type[T]]:
    """Mark a class as a set, with a function that makes an example of it."""

    def mark(cls: type[T]) -> type[T]:
        KINDS[cls] = sample
        return cls

    return mark


def norm(x: Array) -> Array:
    """‖x‖ over the last axis, kept as an axis."""
    if x.ndim == 1 and len(x) < 4096:  # the soonest, and on one thread
        return np.sqrt(x.dot(x))[None]
    return np.sqrt(np.einsum("...i,...i->...", x, x))[..., None]


def direction(x: Array) -> Array:
    """x/‖x‖ over the last axis, and 0 for x = 0; scaled by the largest |x_i|: no sum of squares
    vanishes or overflows.
    """
    largest = np.abs(x).max(axis=-1, keepdims=True)
    x = x / np.where(largest > 0, largest, 1.0)
    length = norm(x)
    return x / np.where(length > 0, length, 1.0)


def _refuse(set_: Set, c: Array, unbounded: Any) -> None:
    """Complain of the first c for which ⟨c, x⟩ has no minimum on the set."""
    if np.any(unbounded):
        raise ValueError(f"⟨c, x⟩ is unbounded below on {set_!r} for c = {c[unbounded][0]}")


class _Checked:
    """`project` checks what comes in and leaves it alone; `nearest`, for who has checked, need not."""

    def nearest(self, y: Array) -> Array:
        """`project` of what was checked; y may be overwritten."""
        raise NotImplementedError

    def project(self, y: ArrayLike) -> Array:
        return self.nearest(validate.array("y", y, self.dim).copy())  # type: ignore[attr-defined]


def nearest(over: Set) -> Callable[[Array], Array]:
    """The projection without its check, of a set that has one; else `project`."""
    return getattr(over, "nearest", over.project)


@description
class _Plain(_Checked):
    """A set that its dimension describes."""

    dim: int

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim))


class _Unbounded(_Checked):
    @property
    def diameter(self) -> float:
        return np.inf

    def farthest(self, point: ArrayLike) -> float:
        """sup over the set of ‖x − point‖."""
        return np.inf


@kind(lambda dim, source: Space(dim))
@description
class Space(_Unbounded, _Plain):
    """All of Rⁿ."""

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        return np.isfinite(_points(x, self.dim)).all(axis=-1)

    def nearest(self, y: Array) -> Array:
        return y

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = validate.array("c", c, self.dim)
        _refuse(self, c, c.any(axis=-1))
        return np.zeros_like(c)


@kind(lambda dim, source: Orthant(dim))
@description
class Orthant(_Unbounded, _Plain):
    """{x : x ≥ 0}."""

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        return (_points(x, self.dim) >= -validate.number("tol", tol, 0.0)).all(axis=-1)

    def nearest(self, y: Array) -> Array:
        return np.maximum(y, 0.0, out=y)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = validate.array("c", c, self.dim)
        _refuse(self, c, (c < 0).any(axis=-1))
        return np.zeros_like(c)


@kind(lambda dim, source: Ball(dim, source.size(), source.vector()))
@description
class Ball(_Checked):
    """{x : ‖x − center‖ ≤ radius}; `center` is 0 unless given."""

    dim: int
    radius: float = 1.0
    center: Vector = None

    def __post_init__(self) -> None:
        dim, radius = validate.count("dim", self.dim), validate.size("radius", self.radius)
        center = validate.vector("center", np.zeros(dim) if self.center is None else self.center, dim)
        keep(self, dim=dim, radius=radius, center=center, centred=not center.any())

    @property
    def diameter(self) -> float:
        return 2.0 * self.radius

    def farthest(self, point: ArrayLike) -> float:
        """max over the set of ‖x − point‖."""
        return float(norm(validate.vector("point", point, self.dim) - self.center)[0]) + self.radius

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        x = _points(x, self.dim)
        return norm(x - self.center)[..., 0] <= self.radius + _forgiven(x, tol)

    def nearest(self, y: Array) -> Array:
        if not self.centred:  # type: ignore[attr-defined]
            away = y - self.center
            length = norm(away)
            shrink = self.radius / np.maximum(length, self.radius)
            return np.where(length > self.radius, self.center + away * shrink, y)
        y *= self.radius / np.maximum(norm(y), self.radius)
        return y

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = validate.array("c", c, self.dim)
        edge = self.center - self.radius * direction(c)
        return np.where(c.any(axis=-1, keepdims=True), edge, self.project(np.zeros(self.dim)))


@kind(lambda dim, source: Box(low := source.vector(), low + np.abs(source.vector())))
@description
class Box(_Checked):
    """{x : low ≤ x ≤ high}, coordinate by coordinate; `Box([-1], [1])` is the interval [−1, 1]."""

    low: Vector
    high: Vector

    def __post_init__(self) -> None:
        low, high = validate.vector("low", self.low), validate.vector("high", self.high)
        if low.shape != high.shape:
            raise ValueError(f"low and high must have one shape, got {low.shape} and {high.shape}")
        if (low > high).any():
            i = int(np.argmax(low > high))
            raise ValueError(f"low must be ≤ high, got low[{i}] = {low[i]:g} > high[{i}] = {high[i]:g}")
        keep(self, low=low, high=high)

    @property
    def dim(self) -> int:
        return len(self.low)

    @property
    def diameter(self) -> float:
        return float(norm(self.high - self.low)[0])

    def farthest(self, point: ArrayLike) -> float:
        """max over the set of ‖x − point‖."""
        point = validate.vector("point", point, self.dim)
        return float(norm(np.maximum(np.abs(self.low - point), np.abs(self.high - point)))[0])

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        x = _points(x, self.dim)
        return ((x >= self.low - validate.number("tol", tol, 0.0)) & (x <= self.high + tol)).all(axis=-1)

    def nearest(self, y: Array) -> Array:
        return np.minimum(np.maximum(y, self.low, out=y), self.high, out=y)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = validate.array("c", c, self.dim)
        idle = np.clip(0.0, self.low, self.high)  # where c_i = 0 every value is optimal: that nearest to 0
        return np.where(c > 0, self.low, np.where(c < 0, self.high, idle))


@kind(lambda dim, source: Simplex(dim))
@description
class Simplex(_Plain):
    """{x : x ≥ 0, Σ x_i = 1}, the probability distributions on `dim` outcomes.

    >>> y = np.array([1e8, 1e8 + 0.5, 0.0])
    >>> p = Simplex(3).project(y)
    >>> p
    array([0.25, 0.75, 0.  ])
    >>> bool(((np.eye(3) - p) @ (y - p)).max() <= 1e-6)  # seen from p, no corner is on the side of y
    True
    """

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2.0)) if self.dim > 1 else 0.0

    def farthest(self, point: ArrayLike) -> float:
        """max over the set of ‖x − point‖, attained at a vertex e_i with the least point_i."""
        point = validate.vector("point", point, self.dim)
        vertex = np.eye(1, self.dim, int(np.argmin(point)))[0]
        return float(norm(vertex - point)[0])

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        x = _points(x, self.dim)
        return (x >= -validate.number("tol", tol, 0.0)).all(axis=-1) & (np.abs(x.sum(axis=-1) - 1.0) <= tol)

    def nearest(self, y: Array) -> Array:
        return _project_simplex(y, 1.0)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = validate.array("c", c, self.dim)
        best = c == c.min(axis=-1, keepdims=True)  # least norm: share the weight among the best
        return best / best.sum(axis=-1, keepdims=True)


@kind(lambda dim, source: L1Ball(dim, source.size()))
@description
class L1Ball(_Checked):
    """{x : Σ |x_i| ≤ radius}."""

    dim: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim), radius=validate.size("radius", self.radius))

    @property
    def diameter(self) -> float:
        return 2.0 * self.radius

    def farthest(self, point: ArrayLike) -> float:
        """max over the set of ‖x − point‖, attained at a vertex ±radius·e_i."""
        point = validate.vector("point", point, self.dim)
        vertices = self.radius * np.vstack([np.eye(self.dim), -np.eye(self.dim)])
        return float(norm(vertices - point).max())

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        x = _points(x, self.dim)
        return np.abs(x).sum(axis=-1) <= self.radius + _forgiven(x, tol)

    def nearest(self, y: Array) -> Array:
        size = np.abs(y)
        inside = size.sum(axis=-1, keepdims=True) <= self.radius
        # signs do not matter to the ball: put the sizes on the simplex of total `radius`
        return np.where(inside, y, np.copysign(_project_simplex(size, self.radius), y) + 0.0)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = validate.array("c", c, self.dim)
        size = np.abs(c)
        best = size == size.max(axis=-1, keepdims=True)
        return -self.radius * np.sign(c) * (best / best.sum(axis=-1, keepdims=True))


@kind(lambda dim, source: Halfspace(source.nonzero(), source.vector()[0]))
@description
class Halfspace(_Unbounded):
    """{x : ⟨normal, x⟩ ≤ offset}."""

    normal: Vector
    offset: float

    def __post_init__(self) -> None:
        normal, offset = validate.vector("normal", self.normal), validate.number("offset", self.offset)
        if not normal.any():
            raise ValueError("normal must not be the zero vector")
        keep(self, normal=normal, offset=offset)
        validate.number("offset/‖normal‖", self.distance, -validate.LARGEST, validate.LARGEST)

    @property
    def dim(self) -> int:
        return len(self.normal)

    @cached_property
    def unit(self) -> Array:
        """The normal of length 1."""
        return direction(self.normal)

    @cached_property
    def distance(self) -> float:
        """The signed distance of the boundary from 0, offset/‖normal‖."""
        return self.offset / float(self.normal @ self.unit)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        x = _points(x, self.dim)
        return x @ self.unit - self.distance <= _forgiven(x, tol)

    def nearest(self, y: Array) -> Array:
        for _ in range(2):  # the second pass takes off what rounding left of the first
            y -= np.maximum(y @ self.unit - self.distance, 0.0)[..., None] * self.unit
        return y

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = validate.array("c", c, self.dim)
        slope = direction(c)
        tilted = slope.any(axis=-1, keepdims=True)
        # bounded below only for c = −λ·normal with λ ≥ 0; if λ > 0, all of the boundary is optimal
        _refuse(self, c, (tilted & (norm(slope + self.unit) > 1e-12))[..., 0])
        return np.where(tilted, self.distance * self.unit, self.project(np.zeros(self.dim)))


def _points(x: ArrayLike, dim: int) -> Array:
    """Points to test for membership: a number that may not come in elsewhere is here simply not inside."""
    x = validate.floats("x", x)
    if x.ndim == 0 or x.shape[-1] != dim:
        raise ValueError(f"x must have {dim} entries on its last axis, got shape {x.shape}")
    return np.where(np.abs(x) <= validate.LARGEST, x, np.nan)


def _forgiven(x: Array, tol: float) -> Array:
    """tol, or tol times the largest |x_i| where that is more."""
    return validate.number("tol", tol, 0.0) * np.maximum(np.abs(x).max(axis=-1), 1.0)


def _project_simplex(y: Array, total: float) -> Array:
    """Nearest point of {x ≥ 0, Σ x_i = total}: x_i = max(y_i − θ, 0) with θ set by the sum.

    Sort downwards; θ is the largest of the quotients (u_1 + … + u_k − total)/k, that of the support (below
    u is −y, sorted upwards). Shifting y by its maximum changes nothing but rounding. Nobody has a share who
    is `total` below the largest, or below the quotient of all: of one long y they are dropped before sorting.
    """
    if y.ndim > 1:
        u = -y
        u.sort(axis=-1)
        y += u[..., :1]
        u = u.reshape(-1, u.shape[-1])
        alive = 8 * np.count_nonzero((u[:, ::8] <= u[:, :1] + total).any(axis=0))
        u = np.subtract(u[:, :alive].T, u[:, 0], order="C")
        running(u, np.full_like(u[:1], total), u)
        u /= np.arange(1, len(u) + 1)[:, None]
        y += u.min(axis=0).reshape(*y.shape[:-1], 1)
        return np.maximum(y, 0.0, out=y)
    y -= y[y.argmax()]  # sooner than max() for a short y
    u = y
    while len(u) > 200:
        rest = u[u > max(-total, (np.add.reduce(u) - total) / len(u))]
        if len(rest) == len(u):
            break
        u = rest
    u = -u
    u.sort()
    np.add.accumulate(u, out=u)
    u += total
    u /= np.arange(1, len(u) + 1)
    y += u[u.argmin()]
    return np.maximum(y, 0.0, out=y)


@description
class Hull(_Checked):
    """The convex hull of finitely many points, the rows of `vertices`."""

    vertices: Vector

    def __post_init__(self) -> None:
        keep(self, vertices=validate.frozen("vertices", self.vertices, ndim=2))

    @property
    def dim(self) -> int:
        return self.vertices.shape[1]

    @property
    def diameter(self) -> float:
        return max(self.farthest(v) for v in self.vertices)

    def farthest(self, point: ArrayLike) -> float:
        """max over the set of ‖x − point‖, attained at a vertex."""
        return float(np.linalg.norm(self.vertices - validate.vector("point", point, self.dim), axis=1).max())

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        return np.linalg.norm(self.project(x) - x, axis=-1) <= validate.number("tol", tol, 0.0)

    def nearest(self, y: Array) -> Array:
        return np.apply_along_axis(self._nearest, -1, y)

    def _nearest(self, y: Array) -> Array:
        """Wolfe's algorithm: the nearest point to y in the affine hull of a few corners, which change until
        that point lies between them and no other vertex is on the near side of it."""
        V, far = self.vertices, np.square(self.vertices - y).sum(axis=1)
        corners, weights = [int(np.argmin(far))], np.ones(1)
        # rounding grows with the distance of y: within a face mostly six digits are right at 1e9 diameters,
        # at 1e14 none
        tol = 1e-14 * self.farthest(V[0]) * np.sqrt(far.max())
        for _ in range(100 * len(V)):
            x = weights @ V[corners]
            gain = (x - V) @ (x - y)
            new = int(np.argmax(gain))
            if gain[new] <= tol or new in corners:
                break
            corners, weights = [*corners, new], np.append(weights, 0.0)
            while True:
                first, rest = V[corners[0]], V[corners[1:]]
                shares = np.linalg.lstsq((rest - first).T, y - first, rcond=None)[0]
                target = np.append(1.0 - shares.sum(), shares)
                if (target > 0).all():
                    weights = target
                    break
                falling = target <= 0  # walk towards the target until the first weight is 0; drop that corner
                share = np.min(weights[falling] / np.maximum(weights[falling] - target[falling], 1e-300))
                weights = weights + min(share, 1.0) * (target - weights)
                stay = weights > 1e-15
                corners, weights = [c for c, k in zip(corners, stay, strict=True) if k], weights[stay]
        return weights @ self.vertices[corners] / weights.sum()

    def minimize_linear(self, c: ArrayLike) -> Array:
        return np.apply_along_axis(self._lowest, -1, validate.array("c", c, self.dim))

    def _lowest(self, c: Array) -> Array:
        height = self.vertices @ c
        face = self.vertices[height <= height.min() + 1e-12 * np.abs(height).max()]
        return Hull(face).project(np.zeros(self.dim))
