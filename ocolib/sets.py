"""Define closed convex sets with their Euclidean projections and linear minimisers.

| set                   | points                          |
|-----------------------|---------------------------------|
| `Space(dim)`          | all of Rⁿ                       |
| `Orthant(dim)`        | x ≥ 0                           |
| `Ball(dim, radius, center)` | ‖x − center‖ ≤ radius     |
| `Box(low, high)`      | low ≤ x ≤ high                  |
| `Simplex(dim)`        | x ≥ 0, Σ x_i = 1                |
| `L1Ball(dim, radius)` | Σ abs(x_i) ≤ radius             |
| `Halfspace(normal, offset)` | ⟨normal, x⟩ ≤ offset      |
| `Hull(vertices)`      | the convex hull of the rows     |

Every method except `farthest` takes one point `(n,)` or many points `(..., n)`.

>>> Ball(2).project([3.0, 4.0])
array([0.6, 0.8])
>>> Box([-1, -1], [1, 1]).minimize_linear([2.0, 0.0])  # of all minimisers the one of least norm
array([-1.,  0.])
>>> Simplex(3).contains([[0.5, 0.5, 0.0], [1.0, 1.0, 1.0]])
array([ True, False])

To use a set of your own in a game, write a class with `dim` and `project(y)` for one point y. Optional
methods: `contains(x)` speeds up `play(..., check=True)`, `minimize_linear(c)` makes the regret of linear
losses exact, and `constraints(x)` lets cvxpy solve over the set. `ocolib.testing.check_set` tests it. To add
a set to the library, write a subclass of `Set` here.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.types import Array


def norm(x: Array) -> Array:
    """Return the Euclidean norm ‖x‖ over the last axis, which is kept with length 1."""
    return np.sqrt(np.square(x).sum(axis=-1, keepdims=True))


def unit(x: Array) -> Array:
    """Return x/‖x‖ over the last axis, and 0 for x = 0.

    We scale by max |x_i| first, so that the squares of tiny entries do not underflow.
    """
    largest = np.abs(x).max(axis=-1, keepdims=True)
    x = x / np.where(largest > 0, largest, 1.0)
    return x / np.where(largest > 0, norm(x), 1.0)


def inside(over: Any, x: ArrayLike) -> Array:
    """Test whether each row of x lies in the set, up to 1e-9; a set of your own needs only `project`."""
    if hasattr(over, "contains"):
        return np.asarray(over.contains(x))
    x = validate.array("x", x, over.dim)
    away = norm(x - rows(over, "project", x))[..., 0]
    return away <= 1e-9 * np.maximum(np.abs(x).max(axis=-1), 1.0)


def require_set(over: Any) -> None:
    """Raise a `ValueError` unless `over` is a set: an object with `dim` and `project(y)`."""
    if isinstance(over, type):
        raise ValueError(f"over must be a set, got the class {over.__name__}; write {over.__name__}(…)")
    if not (hasattr(over, "dim") and hasattr(over, "project")):
        raise ValueError(f"over must be a set with dim and project(y), got {over!r}")


def rows(over: Any, method: str, x: Array) -> Array:
    """Apply a method of the set to every row of x; a set of your own may take one point at a time."""
    function = getattr(over, method)
    return function(x) if isinstance(over, Set) else np.apply_along_axis(function, -1, x)


class Set:
    """Define the interface of a closed convex set.

    A subclass has `dim`, `diameter` and implements the methods that raise `NotImplementedError` here.
    """

    dim: int
    diameter: float

    def farthest(self, point: ArrayLike) -> float:
        """Return the largest distance from `point` to a point of the set, sup ‖x − point‖."""
        raise NotImplementedError

    def project(self, y: ArrayLike) -> Array:
        """Project y onto the set: return argmin_x ‖x − y‖ over x in the set."""
        raise NotImplementedError

    def minimize_linear(self, c: ArrayLike) -> Array:
        """Minimise ⟨c, x⟩ over the set; of several minimisers return the one of least norm.

        Raise a `ValueError` if there is no minimum. The least norm breaks ties the way FTRL with ½‖x‖² does
        in the limit of large step sizes.
        """
        raise NotImplementedError

    def constraints(self, x: Any) -> list[Any]:
        """Return the set as a list of cvxpy constraints on the variable x."""
        raise NotImplementedError

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> "Iterator[Set]":
        """Yield a few sets of this class in dimension `dim`, for `testing.check_set`."""
        raise NotImplementedError

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        """Test whether x is within `tol`·max(1, max |x_i|) of the set; points with nan or inf never are."""
        x = validate.numbers("x", x)
        if x.ndim == 0 or x.shape[-1] != self.dim:
            raise ValueError(f"x must have {self.dim} entries on its last axis, got shape {x.shape}")
        tol, finite = validate.number("tol", tol, low=0.0), np.abs(x) <= validate.LARGEST
        inside = np.where(finite, x, 0.0)
        away = norm(inside - self.project(inside))[..., 0] if x.size else np.zeros(x.shape[:-1])
        return (away <= tol * np.maximum(np.abs(inside).max(axis=-1), 1.0)) & finite.all(axis=-1)

    def shift(self, z: Array) -> Array | float:
        """Return a number c for which ⟨z, x⟩ and ⟨z − c·(1, …, 1), x⟩ differ by a constant on the set.

        Losses are shifted by c before they are summed, so that large common offsets do not cost precision.
        """
        return 0.0

    def points(self, name: str, x: ArrayLike) -> Array:
        """Check that x holds finite points of dimension `dim`, and return them as floats."""
        return validate.array(name, x, self.dim)

    def refuse(self, c: Array, unbounded: Any) -> None:
        """Raise a `ValueError` for the first row c of `c` that is marked in `unbounded`."""
        if np.any(unbounded):
            raise ValueError(f"⟨c, x⟩ is unbounded below on {self!r} for c = {c[unbounded][0]}")


class Unbounded(Set):
    """Define the base class of unbounded sets, whose diameter is infinite."""

    diameter = np.inf

    def farthest(self, point: ArrayLike) -> float:
        return np.inf


@description
class Space(Unbounded):
    """Represent the whole space Rⁿ."""

    dim: int

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim))

    def project(self, y: ArrayLike) -> Array:
        return self.points("y", y).copy()

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = self.points("c", c)
        self.refuse(c, c.any(axis=-1))
        return np.zeros_like(c)

    def constraints(self, x: Any) -> list[Any]:
        return []

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(dim)


@description
class Orthant(Unbounded):
    """Represent the nonnegative orthant {x : x_i ≥ 0 for every i}."""

    dim: int

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim))

    def project(self, y: ArrayLike) -> Array:
        return np.maximum(self.points("y", y), 0.0)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = self.points("c", c)
        self.refuse(c, (c < 0).any(axis=-1))
        return np.zeros_like(c)

    def constraints(self, x: Any) -> list[Any]:
        return [x >= 0]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(dim)


@description
class Ball(Set):
    """Represent the Euclidean ball {x : ‖x − center‖ ≤ radius}; `center` is 0 by default.

    >>> Ball(2, radius=2.0, center=[1.0, 0.0]).minimize_linear([0.0, 1.0])
    array([ 1., -2.])
    """

    dim: int
    radius: float = 1.0
    center: Any = None

    def __post_init__(self) -> None:
        dim = validate.count("dim", self.dim)
        center = validate.vector("center", np.zeros(dim) if self.center is None else self.center, dim)
        keep(self, dim=dim, radius=validate.positive("radius", self.radius), center=center)

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return 2.0 * self.radius

    def farthest(self, point: ArrayLike) -> float:
        return float(norm(validate.vector("point", point, self.dim) - self.center)[0]) + self.radius

    def project(self, y: ArrayLike) -> Array:
        y = self.points("y", y)
        away = y - self.center
        length = norm(away)
        edge = self.center + away * (self.radius / np.maximum(length, self.radius))
        return np.where(length > self.radius, edge, y)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = self.points("c", c)
        edge = self.center - self.radius * unit(c)
        return np.where(c.any(axis=-1, keepdims=True), edge, self.project(np.zeros(self.dim)))

    def constraints(self, x: Any) -> list[Any]:
        import cvxpy as cp

        return [cp.norm(x - self.center, 2) <= self.radius]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(dim)
        yield cls(dim, rng.uniform(0.1, 7.0), rng.uniform(-3, 3, dim))


@description
class Box(Set):
    """Represent the box {x : low_i ≤ x_i ≤ high_i for every i}.

    In one dimension it is an interval: `Box([-1], [1])` is [−1, 1].

    >>> Box([-1], [1]).project([3.0])
    array([1.])
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = validate.vector("low", self.low), validate.vector("high", self.high)
        if low.shape != high.shape:
            raise ValueError(f"low and high must have the same shape, got {low.shape} and {high.shape}")
        if (low > high).any():
            i = int(np.argmax(low > high))
            raise ValueError(f"low must be ≤ high, got low[{i}] = {low[i]:g} > high[{i}] = {high[i]:g}")
        keep(self, low=low, high=high)

    @property
    def dim(self) -> int:  # type: ignore[override]
        return len(self.low)

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return float(norm(self.high - self.low)[0])

    def farthest(self, point: ArrayLike) -> float:
        point = validate.vector("point", point, self.dim)
        return float(norm(np.maximum(np.abs(self.low - point), np.abs(self.high - point)))[0])

    def project(self, y: ArrayLike) -> Array:
        return np.clip(self.points("y", y), self.low, self.high)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = self.points("c", c)
        idle = np.clip(0.0, self.low, self.high)  # c_i = 0: every x_i is optimal, least norm picks this one
        return np.where(c > 0, self.low, np.where(c < 0, self.high, idle))

    def constraints(self, x: Any) -> list[Any]:
        return [x >= self.low, x <= self.high]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        low = rng.uniform(-3, 3, dim)
        yield cls(-np.ones(dim), np.ones(dim))
        yield cls(low, low + rng.uniform(0, 3, dim))


@description
class Simplex(Set):
    """Represent the probability simplex {x : x_i ≥ 0, Σ x_i = 1} on `dim` outcomes.

    >>> y = np.array([1e8, 1e8 + 0.5, 0.0])
    >>> p = Simplex(3).project(y)
    >>> p
    array([0.25, 0.75, 0.  ])
    >>> bool(((np.eye(3) - p) @ (y - p)).max() <= 1e-6)  # ⟨y − p, e_i − p⟩ ≤ 0 for every vertex e_i
    True
    """

    dim: int

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return float(np.sqrt(2.0)) if self.dim > 1 else 0.0

    def farthest(self, point: ArrayLike) -> float:
        point = validate.vector("point", point, self.dim)
        vertex = np.eye(1, self.dim, int(np.argmin(point)))[0]  # e_i with the smallest point_i
        return float(norm(vertex - point)[0])

    def project(self, y: ArrayLike) -> Array:
        return onto_simplex(self.points("y", y), 1.0)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = self.points("c", c)
        best = c == c.min(axis=-1, keepdims=True)  # least norm: equal weights on all minimisers
        return best / best.sum(axis=-1, keepdims=True)

    def shift(self, z: Array) -> Array | float:
        return z.min(axis=-1, keepdims=True)  # because Σ x_i = 1

    def constraints(self, x: Any) -> list[Any]:
        import cvxpy as cp

        return [x >= 0, cp.sum(x) == 1]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(dim)


@description
class L1Ball(Set):
    """Represent the ℓ1 ball {x : Σ |x_i| ≤ radius}.

    >>> L1Ball(2).project([2.0, 1.0])
    array([1., 0.])
    """

    dim: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim), radius=validate.positive("radius", self.radius))

    @property
    def diameter(self) -> float:  # type: ignore[override]
        return 2.0 * self.radius

    def farthest(self, point: ArrayLike) -> float:
        point = validate.vector("point", point, self.dim)
        vertices = self.radius * np.vstack([np.eye(self.dim), -np.eye(self.dim)])
        return float(norm(vertices - point).max())

    def project(self, y: ArrayLike) -> Array:
        y = self.points("y", y)
        size = np.abs(y)  # by symmetry: project the absolute values, then restore the signs
        edge = np.copysign(onto_simplex(size, self.radius), y) + 0.0
        return np.where(size.sum(axis=-1, keepdims=True) <= self.radius, y, edge)

    def minimize_linear(self, c: ArrayLike) -> Array:
        size = np.abs(c := self.points("c", c))
        best = size == size.max(axis=-1, keepdims=True)
        # 0.0 − …, because −… would turn 0 into -0
        return 0.0 - self.radius * np.sign(c) * (best / best.sum(axis=-1, keepdims=True))

    def constraints(self, x: Any) -> list[Any]:
        import cvxpy as cp

        return [cp.norm(x, 1) <= self.radius]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(dim)
        yield cls(dim, rng.uniform(0.1, 7.0))


@description
class Halfspace(Unbounded):
    """Represent the half-space {x : ⟨normal, x⟩ ≤ offset}.

    >>> Halfspace([1.0, 1.0], 0.0).project([3.0, 1.0])
    array([ 1., -1.])
    """

    normal: Any
    offset: float

    def __post_init__(self) -> None:
        normal = validate.vector("normal", self.normal)
        if not normal.any():
            raise ValueError("normal must not be the zero vector")
        keep(self, normal=normal, offset=validate.number("offset", self.offset))
        validate.number("offset/‖normal‖", self.distance, -validate.LARGEST, validate.LARGEST)

    @property
    def dim(self) -> int:  # type: ignore[override]
        return len(self.normal)

    @cached_property
    def unit(self) -> Array:
        """Return the normal scaled to length 1."""
        return validate.frozen("normal", unit(self.normal))

    @cached_property
    def distance(self) -> float:
        """Return the signed distance from 0 to the boundary, offset/‖normal‖."""
        return self.offset / float(self.normal @ self.unit)

    def project(self, y: ArrayLike) -> Array:
        y = self.points("y", y).copy()
        for _ in range(2):  # a second pass removes the rounding error of the first
            excess = (y * self.unit).sum(axis=-1, keepdims=True) - self.distance
            y -= np.maximum(excess, 0.0) * self.unit
        return y

    def minimize_linear(self, c: ArrayLike) -> Array:
        slope = unit(c := self.points("c", c))
        tilted = slope.any(axis=-1, keepdims=True)
        # bounded below only if c = −λ·normal with λ ≥ 0; for λ > 0 the whole boundary is optimal
        self.refuse(c, (tilted & (norm(slope + self.unit) > 1e-12))[..., 0])
        return np.where(tilted, self.distance * self.unit, self.project(np.zeros(self.dim)))

    def constraints(self, x: Any) -> list[Any]:
        return [self.normal @ x <= self.offset]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(rng.uniform(0.2, 3, dim) * rng.choice([-1, 1], dim), rng.uniform(-3, 3))
        yield cls(np.arange(1.0, dim + 1), 0.0)


def onto_simplex(y: Array, total: float) -> Array:
    """Project y onto {x ≥ 0, Σ x_i = total}: x_i = max(y_i − θ, 0), with θ chosen so that the sum is `total`.

    If u_1 ≥ u_2 ≥ … are the entries of y in decreasing order, θ is the largest of (u_1 + … + u_k − total)/k.
    Subtracting the maximum of y first does not change the projection and keeps the sums accurate.
    """
    y = y - y.max(axis=-1, keepdims=True)
    u = -np.sort(-y, axis=-1)
    quotients = (np.cumsum(u, axis=-1) - total) / np.arange(1, y.shape[-1] + 1)
    return np.maximum(y - quotients.max(axis=-1, keepdims=True), 0.0)


@description
class Hull(Set):
    """Represent the convex hull of finitely many points, the rows of `vertices`.

    Rounding hides distances below about 2e-8 diameters. In a hull as thin as that, `contains` with a small
    `tol` may return False for a point inside.

    >>> Hull([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]).project([2.0, 2.0])
    array([1., 1.])
    """

    vertices: Any

    def __post_init__(self) -> None:
        keep(self, vertices=validate.frozen("vertices", self.vertices, ndim=2))

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.vertices.shape[1]

    @cached_property
    def diameter(self) -> float:  # type: ignore[override]
        return max(self.farthest(v) for v in self.vertices)

    def farthest(self, point: ArrayLike) -> float:
        return float(norm(self.vertices - validate.vector("point", point, self.dim)).max())

    def project(self, y: ArrayLike) -> Array:
        return np.apply_along_axis(self._nearest, -1, self.points("y", y))

    @cached_property
    def _axes(self) -> Array:
        """Return the principal axes as columns, each divided by the width of the hull along it."""
        _, width, axes = np.linalg.svd(self.vertices - self.vertices.mean(axis=0), full_matrices=False)
        wide = width > 1e-15 * width[0]
        return axes[wide].T / width[wide]

    def _nearest(self, y: Array) -> Array:
        """Project one point; if it seems to lie close to the hull, look also where the hull is not thin.

        A point of a hull is one in all coordinates. In those of `_axes` a hull has no thin directions, in
        which the digits of the weights would be lost.
        """
        x, close = self._wolfe(self.vertices, y), 1e-6 * self.farthest(self.vertices[0])
        if 0 < np.linalg.norm(x - y) <= close and len(self._axes.T):
            other = self._wolfe(self.vertices @ self._axes, y @ self._axes)
            x = min(x, other, key=lambda x: np.linalg.norm(x - y))
        return x

    def _wolfe(self, V: Array, y: Array) -> Array:
        """Project y onto the hull of the rows of V by Wolfe's algorithm; return that mixture of the vertices.

        It keeps a few vertices (`corners`) and the point of their affine hull nearest to y. Vertices are
        added and dropped until that point is a convex combination of the corners and no other vertex improves
        it.
        """
        V, at = V - y, np.linalg.norm  # translated by −y: find the point nearest to 0
        corners, weights = [int(np.argmin(at(V, axis=1)))], np.ones(1)
        x = V[corners[0]]
        # rounding errors grow with the distance of y: about six digits are right at a distance of 1e9
        # diameters, none at 1e14
        tol = 1e-14 * at(V - V[0], axis=1).max()
        for _ in range(100 * len(V)):
            gain = (x - V) @ x
            gain[corners] = 0.0  # it is 0 in exact arithmetic
            new = int(np.argmax(gain))
            if gain[new] <= tol * at(x):
                break
            trial, shares = self._between(V, [*corners, new], np.append(weights, 0.0))
            if at(shares @ V[trial]) >= at(x):  # no real progress: only rounding is left
                break
            corners, weights, x = trial, shares, shares @ V[trial]
        return weights @ self.vertices[corners] / weights.sum()

    @staticmethod
    def _between(V: Array, corners: list[int], weights: Array) -> tuple[list[int], Array]:
        """Drop corners until the point of their affine hull nearest to 0 is a convex combination of them."""
        while True:
            first, rest = V[corners[0]], V[corners[1:]]
            shares = np.linalg.lstsq((rest - first).T, -first, rcond=None)[0]
            target = np.append(1.0 - shares.sum(), shares)
            if (target > 0).all():
                return corners, target
            falling = target <= 0  # move towards the target until a weight reaches 0, and drop that corner
            share = np.min(weights[falling] / np.maximum(weights[falling] - target[falling], 1e-300))
            weights = weights + min(share, 1.0) * (target - weights)
            stay = weights > 1e-15
            corners, weights = [c for c, k in zip(corners, stay, strict=True) if k], weights[stay]

    def minimize_linear(self, c: ArrayLike) -> Array:
        return np.apply_along_axis(self._lowest, -1, self.points("c", c))

    def _lowest(self, c: Array) -> Array:
        height = self.vertices @ unit(c)
        face = self.vertices[height <= height.min() + 1e-12 * np.abs(height).max()]
        return Hull(face).project(np.zeros(self.dim))

    def constraints(self, x: Any) -> list[Any]:
        import cvxpy as cp

        share = cp.Variable(len(self.vertices), nonneg=True)
        return [x == self.vertices.T @ share, cp.sum(share) == 1]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(np.vstack([np.zeros(dim), np.eye(dim)]))
        yield cls(rng.uniform(-3, 3, (dim + 3, dim)))
