"""Test sets, losses, learners and theorems, ours and yours; an `AssertionError` says what is wrong.

>>> from ocolib.sets import Ball
>>> check_set(Ball(2))  # no output: every check has passed
>>> class Shrinks(Ball):
...     def project(self, y):
...         return 0.9 * super().project(y)
>>> check_set(Shrinks(2))
Traceback (most recent call last):
    ...
AssertionError: Shrinks(...): project moves the point [0.9 0. ] of the set

Objects with a cvxpy form (`constraints`, `expression`) are also compared with the solver, if cvxpy is
installed. No check can know which formula a learner should have: write the formula a second time, as a short
loop, and compare the plays.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from ocolib.game import loop, play
from ocolib.learners import FTL
from ocolib.losses import Examples, Linear, perceptron_loss
from ocolib.phi import Phi
from ocolib.sets import Set, Space
from ocolib.theorems.base import Theorem, share
from ocolib.trace import Trace
from ocolib.types import Array


def all_of(base: type) -> list[type]:
    """Return all concrete subclasses of `base` in the library, such as all sets or all φ."""
    children: list[type] = base.__subclasses__()
    found = [cls for child in children for cls in [child, *all_of(child)]]
    own = [cls for cls in found if cls.__module__.startswith("ocolib")]
    return [cls for cls in own if "__dataclass_fields__" in vars(cls)]


def by_loop(learner: Any, Z: Array) -> Array:
    """Return the plays w_1, …, w_{T+1} against linear losses, played round by round; `points` must agree."""
    return loop(learner, np.asarray(Z, dtype=float), Z.shape[-2]).plays


def _examples(thing: Any, seed: int) -> Iterator[Any]:
    """Yield the object itself; for a class, yield its examples in a few dimensions."""
    if not isinstance(thing, type):
        yield thing
        return
    if not hasattr(thing, "examples"):
        raise ValueError(f"{thing.__name__} has no examples(dim, rng): pass an object, {thing.__name__}(…)")
    for dim in (1, 2, 3, 5):
        yield from thing.examples(dim, np.random.default_rng([seed, dim]))


def _require(truth: Any, message: str) -> None:
    """Raise an `AssertionError` with this message unless the condition holds."""
    if not truth:
        raise AssertionError(message)


def _solver() -> bool:
    """Test whether cvxpy is installed."""
    return find_spec("cvxpy") is not None


def _name(thing: Any) -> str:
    """Return a short name for error messages."""
    return f"{type(thing).__name__}(...)"


# ---------------------------------------------------------------- sets


def check_set(over: Any, seed: int = 0) -> None:
    """Check a set, or all examples of a class of sets.

    We test that `project` returns the nearest point, by the variational inequality and by cvxpy, and that
    `contains`, `minimize_linear`, `farthest` and `diameter` agree with it if the set has them. A subclass of
    `Set` must also handle many points at once, and reject nan, inf and wrong shapes.
    """
    for one in _examples(over, seed):
        methods = hasattr(one, "dim") and hasattr(one, "project")
        _require(methods, f"{_name(one)}: a set must have dim and project(y)")
        rng = np.random.default_rng(seed)
        sizes = np.repeat([0.1, 1.0, 1.0, 10.0, 10.0, 1000.0], 4)
        far = [s * rng.standard_normal(one.dim) for s in sizes]
        Y = np.array([np.zeros(one.dim), *(50.0 * np.eye(one.dim)), *(-50.0 * np.eye(one.dim)), *far])
        P = _check_projection(one, Y)
        _check_membership(one, Y, P)
        if hasattr(one, "minimize_linear"):
            _check_minimiser(one, P, rng)
        _check_size(one, P, rng)
        if isinstance(one, Set):
            _check_shift(one, P, rng)
            _check_refusals(one)


def _check_projection(over: Any, Y: Array) -> Array:
    before = Y.copy()
    P = np.array([over.project(y) for y in Y])
    who = _name(over)
    _require(P.shape == Y.shape, f"{who}: project must return shape ({over.dim},), got {P.shape[1:]}")
    _require(np.isfinite(P).all(), f"{who}: project must return finite points")
    _require(np.array_equal(Y, before), f"{who}: project must not change its argument")
    y = Y[0].copy()
    over.project(y)[...] = 7.0
    _require(np.array_equal(y, Y[0]), f"{who}: project must return a new array, not its argument")
    scale = np.maximum(1.0, np.abs(Y).max(axis=1))
    if hasattr(over, "constraints") and _solver():
        for p, s, excess in zip(P, scale, _violations(over, P), strict=True):
            _require(excess <= 1e-9 * s, f"{who}: project returns {p}, which violates the constraints")
    for p, again, s in zip(P, (over.project(p) for p in P), scale, strict=True):
        _require(np.abs(p - again).max() <= 1e-9 * s, f"{who}: project moves the point {p} of the set")
    # p is the nearest point to y if and only if ⟨y − p, q − p⟩ ≤ 0 for all q of the set
    angle = ((Y - P)[:, None, :] * (P[None, :, :] - P[:, None, :])).sum(axis=-1)
    size = np.linalg.norm(Y - P, axis=1)[:, None] * np.linalg.norm(P[None] - P[:, None], axis=-1)
    i, j = np.unravel_index(np.argmax(angle - 1e-7 * size), angle.shape)
    nearest = angle[i, j] <= 1e-7 * size[i, j] + 1e-9 * scale[i]
    better = f"moving from there towards {P[j]}, a point of the set, comes nearer"
    _require(nearest, f"{who}: project({Y[i]}) returns {P[i]}, but {better}")
    if hasattr(over, "constraints") and _solver():
        from ocolib import oracle

        nearest = oracle.projector(over)
        for y, p in zip(Y[::3], P[::3], strict=True):
            if np.abs(y).max() <= 100:
                excess = float(np.linalg.norm(p - y) - np.linalg.norm(nearest(y) - y))
                close = excess <= 1e-5 * max(1.0, np.abs(y).max())
                _require(close, f"{who}: project({y}) returns {p}, but cvxpy finds a nearer point")
    if isinstance(over, Set):
        together = over.project(np.stack([Y, Y[::-1]]))[0]
        same = np.allclose(together, P, rtol=1e-12, atol=1e-12)
        _require(same, f"{who}: project of many points differs from project of each point")
    return P


def _violations(over: Any, points: Array) -> list[float]:
    """Return by how much each point violates the cvxpy constraints of the set."""
    import cvxpy as cp

    x = cp.Variable(over.dim)
    conditions, found = over.constraints(x), []
    if any(v is not x for c in conditions for v in c.variables()):  # it has extra variables: solve for them
        from ocolib import oracle

        nearest = oracle.projector(over)
        for point in points:
            away = float(np.linalg.norm(nearest(point) - point))
            found.append(max(0.0, away - 1e-5 * max(1.0, np.abs(point).max())))  # accurate to about 1e-6
        return found
    for point in points:
        x.value = point
        found.append(max((float(np.max(c.violation())) for c in conditions), default=0.0))
    return found


def _check_membership(over: Any, Y: Array, P: Array) -> None:
    if not hasattr(over, "contains"):
        return
    who, away = _name(over), np.linalg.norm(Y - P, axis=1)
    for y, p, d in zip(Y, P, away, strict=True):
        _require(over.contains(p), f"{who}: contains({p}) must be true, because it is a projection")
        if d > 1e-3:
            out = p + (y - p) * (1e-4 * max(1.0, np.abs(p).max()) / d)
            _require(not over.contains(y), f"{who}: contains({y}) must be false, the nearest point is {p}")
            _require(not over.contains(out), f"{who}: contains({out}) must be false, it is just outside")
    if isinstance(over, Set):
        same = np.array_equal(over.contains(Y), [bool(over.contains(y)) for y in Y])
        _require(same, f"{who}: contains of many points differs from contains of each point")
        for bad in (np.nan, np.inf, -np.inf):
            _require(not over.contains(np.full(over.dim, bad)), f"{who}: contains({bad}) must be false")


def _check_minimiser(over: Any, P: Array, rng: np.random.Generator) -> None:
    who = _name(over)
    C = [*np.eye(over.dim), *-np.eye(over.dim), np.ones(over.dim), -np.ones(over.dim)]
    C = [*C, np.zeros(over.dim), *rng.standard_normal((12, over.dim))]
    bounded = []
    for c in C:
        far = np.array([over.project(-s * c) for s in (1.0, 1e3, 1e6)])
        try:
            x = over.minimize_linear(c)
        except ValueError:
            falls = far @ c
            still = falls[2] >= falls[1] - 1.0
            _require(not still, f"{who}: minimize_linear({c}) raises an error, but ⟨c, x⟩ has a minimum")
            continue
        bounded.append(c)
        _require(np.shape(x) == (over.dim,), f"{who}: minimize_linear must return shape ({over.dim},)")
        _require(np.allclose(over.project(x), x, atol=1e-9), f"{who}: minimize_linear({c}) is not in the set")
        least = float(np.min(np.vstack([P, far]) @ c))
        optimal = c @ x <= least + 1e-7 * max(1.0, abs(least))
        _require(optimal, f"{who}: minimize_linear({c}) is not a minimiser: another point has {least}")
        near = far[2]  # project(−s·c) tends to the minimiser of least norm as s grows
        shortest = np.linalg.norm(x - near) <= 1e-3 * max(1.0, float(np.linalg.norm(near)))
        _require(shortest, f"{who}: minimize_linear({c}) must have least norm: about {near}, got {x}")
        tiny = 1e-200 if isinstance(over, Set) else 1e-6  # a set of your own may underflow
        same = np.allclose(over.minimize_linear(tiny * c), x, atol=1e-9)
        _require(same, f"{who}: minimize_linear must depend only on the direction of c: try {tiny}·{c}")
    if isinstance(over, Set) and bounded:
        together = over.minimize_linear(np.stack([bounded, bounded[::-1]]))[0]
        each = np.array([over.minimize_linear(c) for c in bounded])
        same = np.allclose(together, each, atol=1e-12)
        _require(same, f"{who}: minimize_linear of many c differs from minimize_linear of each c")


def _check_size(over: Any, P: Array, rng: np.random.Generator) -> None:
    """Check `diameter` and `farthest`: no two points are farther apart, and no number is too large."""
    who, exact = _name(over), hasattr(over, "farthest") and hasattr(over, "minimize_linear")
    across = float(np.linalg.norm(P[None] - P[:, None], axis=-1).max())
    if hasattr(over, "diameter"):
        _require(
            across <= over.diameter * (1 + 1e-9) + 1e-12,
            f"{who}: the diameter is {over.diameter}, but two points have distance {across}",
        )
    if not exact:
        return
    if not np.isfinite(over.diameter):
        _require(over.farthest(P[0]) == np.inf, f"{who}: farthest must be ∞, like the diameter")
        return
    directions = np.vstack([np.eye(over.dim), -np.eye(over.dim), rng.standard_normal((400, over.dim))])
    edge = np.array([over.minimize_linear(c) for c in directions])
    for point in (np.zeros(over.dim), rng.standard_normal(over.dim), edge[0]):
        reached, said = _reach(over, point, edge), over.farthest(point)
        low, high = reached * (1 - 1e-9) - 1e-12, 1.01 * reached + 1e-9
        _require(low <= said, f"{who}: farthest({point}) is {said}, but a point has distance {reached}")
        _require(said <= high, f"{who}: farthest({point}) is {said}, but no point is farther than {reached}")
    ends = edge[np.linalg.norm(edge[None] - edge[:, None], axis=-1).max(axis=1).argsort()[-5:]]
    across, said = max(_reach(over, p, edge) for p in ends), over.diameter
    low, high = across * (1 - 1e-9) - 1e-12, 1.01 * across + 1e-9
    _require(low <= said, f"{who}: the diameter is {said}, but two points have distance {across}")
    _require(
        said <= high, f"{who}: the diameter is {said}, but no two points are farther apart than {across}"
    )


def _reach(over: Any, point: Array, edge: Array) -> float:
    """Return the largest distance from `point` to the set that we find, from the farthest points of `edge`.

    The distance is convex, so the point of the set that lies farthest in the direction x − point is at least
    as far as x.
    """
    found = []
    for x in edge[np.linalg.norm(edge - point, axis=1).argsort()[-5:]]:
        for _ in range(20):
            x = over.minimize_linear(point - x)
        found.append(float(np.linalg.norm(x - point)))
    return max(found)


def _check_shift(over: Set, P: Array, rng: np.random.Generator) -> None:
    """Check that the offset which `shift` removes from a loss z costs all points of the set the same."""
    Z = rng.standard_normal((8, over.dim))
    removed = (P @ (Z - (Z - over.shift(Z))).T).T  # row z, column p
    spread = np.ptp(removed, axis=1).max()
    wrong = f"{_name(over)}: shift must cost all points of the set the same, but the costs differ by {spread}"
    _require(spread <= 1e-9 * max(1.0, np.abs(P).max()), wrong)


def _check_refusals(over: Set) -> None:
    """Check that nan, inf, wrong shapes and text raise a `ValueError`."""
    n = over.dim
    bad: list[Any] = [np.full(n, np.nan), np.full(n, np.inf), np.zeros(n + 1), np.zeros((0, n)), "x", 1.0]
    for method, x in product((over.project, over.minimize_linear), bad):
        with contextlib.suppress(ValueError):
            method(x)
            raise AssertionError(f"{_name(over)}: {method.__name__} must raise a ValueError for {x!r}")


# ---------------------------------------------------------------- φ and losses


def check_phi(phi: Any, seed: int = 0) -> None:
    """Check a φ, or all examples of a class of φ: convexity, slopes, constants and the cvxpy form.

    >>> from ocolib.phi import LOGISTIC
    >>> check_phi(LOGISTIC)
    """
    for one in _examples(phi, seed):
        if one.takes in ("classes", "vectors"):
            _check_scores(one, np.random.default_rng(seed))
        else:
            _check_scalar(one)


def _labels(phi: Any) -> list[float]:
    """Return a few labels that this φ accepts."""
    return {"signs": [-1.0, 1.0], "counts": [0.0, 1.0, 4.0]}.get(phi.takes, [-1.5, 0.0, 2.0])


def _check_scalar(phi: Any) -> None:
    who, h = _name(phi), 1e-6
    threshold, eps = getattr(phi, "threshold", 0.0), getattr(phi, "eps", 0.0)
    kinks = np.array([threshold, *(label + sign * eps for label in _labels(phi) for sign in (1, -1))])
    p = np.unique(np.concatenate([np.linspace(-6, 6, 97), kinks, kinks - 1.0, kinks + 1.0]))
    for y in _labels(phi):
        label = np.full(len(p), y)
        given = p.copy()
        value, slope = np.asarray(phi.value(p, label)), np.asarray(phi.slope(p, label))
        _require(np.array_equal(p, given), f"{who}: value and slope must not change p")
        low, high = phi.subdifferential(p, label)
        _require(value.shape == slope.shape == p.shape, f"{who}: value and slope must have the shape of p")
        one = [float(phi.value(q, y)) for q in p], [float(phi.slope(q, y)) for q in p]
        same = np.allclose([value, slope], one, rtol=1e-12, atol=1e-300)
        _require(same, f"{who}: value and slope of an array p differ from those of each entry")
        _require(((low <= slope) & (slope <= high)).all(), f"{who}: the slope is outside the subdifferential")
        for s, words in ((slope, "slope"), (low, "smallest slope"), (high, "largest slope")):
            line = value[:, None] + s[:, None] * (p[None, :] - p[:, None])
            broken = (line > value[None, :] + 1e-9 * np.maximum(1.0, np.abs(value[None, :]))).any(axis=1)
            _require(not broken.any(), f"{who}: at p = {p[broken][:1]} the {words} is not a subgradient")
        size = 1e-4 * np.maximum(1.0, np.abs(value) + np.abs(slope))
        left, right = (value - phi.value(p - h, label)) / h, (phi.value(p + h, label) - value) / h
        for s, seen in ((low, left), (high, right)):
            bad = np.abs(s - seen) > size
            message = f"at p = {p[bad][:1]} the slope is {s[bad][:1]}, but differences give {seen[bad][:1]}"
            _require(not bad.any(), f"{who}: {message}")
        _check_cvxpy(who, lambda x, y=label: phi.expression(x, y), phi, p, value)
        if phi.lipschitz is not None:
            far = np.array([-1e4, 1e4])
            finite = np.isfinite([phi.value(far, label[:2]), phi.slope(far, label[:2])]).all()
            _require(finite, f"{who}: value and slope must be finite at p = ±10000, because it is Lipschitz")
    p = np.linspace(-40, 40, 8001)
    slopes = np.array([phi.slope(p, np.full(len(p), y)) for y in _labels(phi)])
    bends = np.diff(slopes, axis=1) / np.diff(p)
    _check_constants(phi, np.abs(slopes).max(), bends.max(), bends.min())


def _check_constants(phi: Any, steepest: float, most_bent: float, least_bent: float) -> None:
    """Compare the constants of φ with the largest slope and the range of the second derivative."""
    who, rows = _name(phi), (("lipschitz", steepest), ("smooth", most_bent), ("curvature", least_bent))
    for name, seen in rows:
        said = getattr(phi, name)
        if said is not None:
            wrong = seen < said * (1 - 1e-6) if name == "curvature" else seen > said * (1 + 1e-6)
            _require(not wrong, f"{who}: {name} is {said}, but we measure {seen:g}")
            close = np.isclose(seen, said, rtol=0.02)
            _require(close, f"{who}: {name} is {said}, but we only measure {seen:g}")


def _check_cvxpy(who: str, form: Callable[..., Any], thing: Any, p: Array, value: Array) -> None:
    if not _solver() or getattr(type(thing), "expression", Phi.expression) is Phi.expression:
        return
    import cvxpy as cp

    same = np.allclose(form(cp.Constant(p)).value, value, rtol=1e-6, atol=1e-9)
    _require(same, f"{who}: expression and value differ")
    _require(form(cp.Variable(len(p))).is_convex(), f"{who}: cvxpy cannot verify that expression is convex")


def _check_scores(phi: Any, rng: np.random.Generator) -> None:
    """Check a φ of a vector of scores; the scores include ties of all classes, and of two."""
    who, h = _name(phi), 1e-5
    n = next((len(getattr(phi, name)) for name in ("M", "delta") if hasattr(phi, name)), 3)
    ties = 20.0 * (np.eye(n)[:, None] + np.eye(n)).reshape(-1, n)
    F = np.vstack([rng.integers(-2, 3, (8, n)).astype(float), 3 * rng.standard_normal((12, n)), ties])
    targets = range(n) if phi.takes == "classes" else list(rng.standard_normal((2, n)))
    steep = 0.0
    bent: list[float] = []
    for y in targets:
        values = np.array([float(phi.value(f, y)) for f in F])
        for f, value in zip(F, values, strict=True):
            z = phi.slope(f, y)
            _require(np.shape(z) == (n,), f"{who}: the slope must be a vector of {n} entries")
            below = value + (F - f) @ z <= values + 1e-9 * (1 + np.abs(values))
            _require(below.all(), f"{who}: the slope at {f} is not a subgradient")
            _check_cvxpy(who, lambda x, y=y: phi.expression(x, y), phi, f, np.array(value))
            steep = max(steep, float(np.linalg.norm(z)))
            for d in (*np.eye(n), *-np.eye(n)):
                rise, most = (phi.value(f + h * d, y) - value) / h, np.max(phi.subdifferential(f, y) @ d)
                same = abs(rise - most) <= 1e-3 * (1 + abs(most))
                _require(
                    same, f"{who}: at {f} the subdifferential must reach {rise:g} along {d}, not {most:g}"
                )
            if phi.smooth is not None or phi.curvature is not None:
                hessian = [(phi.slope(f + h * e, y) - phi.slope(f - h * e, y)) / (2 * h) for e in np.eye(n)]
                bent.extend(np.linalg.eigvalsh(hessian))
    _check_constants(phi, steep, max(bent, default=np.nan), min(bent, default=np.nan))


def check_loss(loss: Any, dim: int | None = None, over: Any = None, seed: int = 0) -> None:
    """Check one loss: `value` is convex, `subgradient` returns a subgradient, and its other forms agree.

    Pass `dim` if the loss has no attribute `dim`, and a set `over` if the loss is defined only there.

    >>> from ocolib.losses import Quadratic
    >>> check_loss(Quadratic([1.0, 2.0]))
    >>> class WrongSign(Quadratic):
    ...     def subgradient(self, w):
    ...         return -super().subgradient(w)
    >>> check_loss(WrongSign([1.0]))
    Traceback (most recent call last):
        ...
    AssertionError: WrongSign(...): subgradient at w = [0.] is wrong: f(w) + ⟨z, u − w⟩ > f(u) at u = [2.]
    """
    who, dim = _name(loss), getattr(loss, "dim", dim)
    methods = hasattr(loss, "value") and hasattr(loss, "subgradient")
    hint = "; check one of them, such as losses[0]" if isinstance(loss, Examples) else ""
    _require(methods, f"{who}: a loss must have value(w) and subgradient(w){hint}")
    if dim is None:
        raise ValueError(f"{who} has no dim: write check_loss(loss, dim=…)")
    rng = np.random.default_rng(seed)
    whole, reals = rng.integers(-2, 3, (8, dim)), 3 * rng.standard_normal((12, dim))
    W = np.vstack([np.zeros(dim), np.eye(dim), whole, reals])
    W = W if over is None else np.array([over.project(w) for w in W])
    W = np.vstack([W, 0.5 * (W[:-1] + W[1:])])
    before = W.copy()
    found = [loss.value(w) for w in W]
    one = all(np.size(value) == 1 for value in found)
    _require(one, f"{who}: value must return one number, got shape {np.shape(found[0])}")
    values, Z = np.array([float(value) for value in found]), np.array([loss.subgradient(w) for w in W])
    _require(np.array_equal(W, before), f"{who}: value and subgradient must not change w")
    again = [float(loss.value(w)) for w in W], [loss.subgradient(w) for w in W]
    same = np.array_equal(again[0], values, equal_nan=True) and np.array_equal(again[1], Z, equal_nan=True)
    _require(same, f"{who}: value and subgradient must return the same at the same w every time")
    _require(Z.shape == W.shape, f"{who}: subgradient must return shape ({dim},), got {Z.shape[1:]}")
    finite = np.isfinite(values).all() and np.isfinite(Z).all()
    _require(finite, f"{who}: value and subgradient must be finite")
    for w, value, z in zip(W, values, Z, strict=True):
        excess = value + (W - w) @ z - values
        worst = int(np.argmax(excess))
        below = excess[worst] <= 1e-8 * max(1.0, np.abs(values).max())
        message = f"subgradient at w = {w} is wrong: f(w) + ⟨z, u − w⟩ > f(u) at u = {W[worst]}"
        _require(below, f"{who}: {message}")
    _check_forms(loss, W, values)


def _check_forms(loss: Any, W: Array, values: Array) -> None:
    """Check that `coefficients` and the cvxpy form of a loss, if it has them, give its values."""
    who = _name(loss)
    if hasattr(loss, "coefficients"):
        a, b, k = loss.coefficients
        sums = 0.5 * a * np.square(W).sum(axis=1) + W @ b + k
        same = np.allclose(sums, values, rtol=1e-9, atol=1e-9)
        _require(same, f"{who}: coefficients and value differ")
    if hasattr(loss, "expression") and _solver():
        import cvxpy as cp

        for w, value in zip(W, values, strict=True):
            said = float(loss.expression(cp.Constant(w)).value)
            same = np.isclose(said, value, rtol=1e-6, atol=1e-9)
            _require(same, f"{who}: at w = {w} expression is {said}, but value is {value}")
        convex = loss.expression(cp.Variable(W.shape[1])).is_convex()
        _require(convex, f"{who}: cvxpy cannot verify that expression is convex")


# ---------------------------------------------------------------- learners


def check_learner(learner: Any, rounds: int = 20, seed: int = 0) -> None:
    """Check that a learner follows the rules of the game.

    We test that every player starts afresh, plays stay in the set `over`, no play depends on a later loss,
    and arguments are not modified. If the learner has `points(Z)`, it must return the plays of the loop, also
    for a batch of games. We do not test whether the formula is the one you intended.

    >>> from ocolib.learners import OGD
    >>> from ocolib.sets import Ball
    >>> check_learner(OGD(Ball(2), 0.1))
    """
    who, rng = _name(learner), np.random.default_rng(seed)
    if isinstance(learner, type):
        raise ValueError(f"learner must be an object, got the class {learner.__name__}")
    _require(hasattr(learner, "player"), f"{who}: a learner must have a method player()")
    n = np.shape(learner.player().predict())[-1]
    over: Any = getattr(learner, "over", None)
    _require(getattr(over, "dim", n) == n, f"{who}: the plays have dimension {n}, but the set is {over!r}")
    if hasattr(learner, "sees"):
        X, y = rng.choice([-1.0, 0.0, 1.0], (rounds, n)), rng.choice([-1.0, 1.0], rounds)
        threshold = getattr(learner, "threshold", 0.0)
        games: list[Any] = [perceptron_loss(X, y, threshold), perceptron_loss(np.abs(X), y, threshold)]
    else:
        turns = np.where(np.arange(rounds) < rounds / 2, -1.0, 1.0)[:, None] * np.ones(n)
        games = [rng.integers(-1, 2, (rounds, n)).astype(float), turns, rng.standard_normal((rounds, n))]
    for game in games:
        trace = play(learner, game)
        plays = trace.plays
        if hasattr(over, "project"):
            far = np.linalg.norm([over.project(w) - w for w in plays], axis=1)
            good = far <= 1e-7 * np.maximum(np.abs(plays).max(axis=1), 1.0)
            _require(good.all(), f"{who}: the play of round {good.argmin() + 1} is outside {over!r}")
        again = np.array_equal(plays, play(learner, game).plays)
        _require(again, f"{who}: a second game gives other plays: player() must return a fresh player")
        _check_past(learner, game, plays, who)
        _check_player(learner, game, plays, who)
    if hasattr(learner, "points") and not hasattr(learner, "sees"):
        for Z in games:
            close = np.allclose(learner.points(Z), by_loop(learner, Z), rtol=1e-9, atol=1e-9)
            _require(close, f"{who}: points(Z) differs from the plays of the loop")
        each, many = np.array([learner.points(Z) for Z in games]), learner.points(np.array(games))
        same = np.allclose(many, each, rtol=1e-12, atol=1e-12)
        _require(same, f"{who}: points of a batch of games differs from points of each game")


def _check_past(learner: Any, game: Any, plays: Array, who: str) -> None:
    """Check that w_1, …, w_t do not change, not even by rounding, if the losses from round t on change."""
    for t in (1, len(plays) // 2, len(plays) - 1):
        if isinstance(game, np.ndarray):
            other: Any = np.vstack([game[: t - 1], -3.0 * game[t - 1 :]])
        else:
            other = perceptron_loss(game.X, np.r_[game.y[: t - 1], -game.y[t - 1 :]], game.phi.threshold)
        same = np.array_equal(play(learner, other).plays[:t], plays[:t])
        _require(same, f"{who}: a play up to round {t} depends on the losses of round {t} or later")


def _check_player(learner: Any, game: Any, plays: Array, who: str) -> None:
    """Check that `step` and `update` lead to the same plays and do not modify their arguments."""
    for method in ("step", "update"):
        player = learner.player()
        if not hasattr(player, method):
            continue
        for t, w in enumerate(plays[:-1]):
            played = np.array(player.predict())
            same = np.allclose(played, w, rtol=1e-9, atol=1e-9)
            _require(same, f"{who}: in round {t + 1}, {method} leads to {played}, but the game has {w}")
            loss = Linear(game[t]) if isinstance(game, np.ndarray) else learner.sees(game[t])
            z = np.array(loss.subgradient(played))
            given = z.copy()
            player.step(given) if method == "step" else player.update(loss)
            _require(np.array_equal(given, z), f"{who}: step must not modify its argument z")


# ---------------------------------------------------------------- theorems


def check_theorem(theorem: type[Theorem], seed: int = 0) -> None:
    """Check that a theorem holds in its own games, that its proof works there, and how tight it is.

    In every game of `games` and in the game of `worst`, the hypotheses must hold, the measured quantity must
    respect the bound, and the proof must start at the measured quantity, never decrease, and end at the
    bound. The worst game must attain the stated `tightness`. In games of at most 5000 rounds we then change
    one thing at a time: a number of the theorem, the comparator, the losses (also to concave ones) or the
    learner. Either a hypothesis fails, or the theorem must hold for the changed game. This finds many missing
    hypotheses, but not all. If the theorem chooses a step size, it must minimise the bound.

    >>> from ocolib import theorems
    >>> check_theorem(theorems.Example2)
    """
    if not isinstance(theorem, type):
        raise ValueError(f"theorem must be the class, got an object: write {type(theorem).__name__}")
    name = theorem.__name__
    kind, tightness = theorem.kind, theorem.tightness
    documented = is_dataclass(theorem) and (theorem.__doc__ or "").strip()
    _require(documented, f"{name} must be a @dataclass with a docstring")
    _require(kind in ("tight", "upper", "lower"), f"{name}: kind must be tight, upper or lower, got {kind!r}")
    named = isinstance(theorem.item, str) and theorem.item
    _require(named, f"{name}: item must be the id of an entry in the ledger")
    _require(0 < tightness <= 1, f"{name}: tightness must be in (0, 1], got {tightness}")
    _require(kind == "upper" or tightness > 0.999, f"{name}: a {kind} bound must have tightness 1")
    played = list(theorem.games(np.random.default_rng(seed)))
    _require(len(played) > 1, f"{name}.games must yield at least two games")
    for game in played:
        _check_game(*game)
    worst = theorem.worst()
    _check_game(*worst)
    ratio = share(*worst)
    attained = f"{name}: tightness is {tightness}, but the worst game attains {ratio:.6f} of the bound"
    _require(tightness - 1e-9 <= ratio <= tightness + 0.02, attained)
    _check_step(*worst)
    for game in (worst, played[0], played[len(played) // 2]):
        long = getattr(game[1], "rounds", 0) > 5000  # what changes there also changes in the short games
        for stated, trace, u in () if long else variations(*game):
            if all(_hypotheses(stated, trace, u).values()):
                _check_game(stated, trace, u)
        if theorem.kind != "lower":
            stated, trace, u = game
            other = replace(trace, learner=FTL(Space(trace.dim)))
            refused = not all(_hypotheses(stated, other, u).values())
            _require(refused, f"{name}: a hypothesis must say which learner the theorem is about")


def _hypotheses(stated: Any, trace: Any, u: Any) -> dict[str, bool]:
    """Return the hypotheses of a theorem on this game, after checking their form."""
    found, name = stated.hypotheses(trace, u), type(stated).__name__
    _require(found, f"{name}: hypotheses must not be empty")
    for words, true in found.items():
        valid = isinstance(words, str) and isinstance(true, (bool, np.bool_))
        _require(valid, f"{name}: hypotheses must map words to True or False, got {words!r}: {true!r}")
    return found


def _check_game(stated: Any, trace: Any, u: Any) -> None:
    name = type(stated).__name__
    for words, true in _hypotheses(stated, trace, u).items():
        _require(true, f"{name}: a game of its own violates the hypothesis: {words}")
    stated.require(trace, u)
    measured, bound = float(stated.measure(trace, u)), float(stated.bound)
    rounding = 1e-9 * max(1.0, abs(bound))
    sign, side = (-1, "below the lower") if stated.kind == "lower" else (1, "above the")
    holds = sign * (measured - bound) <= rounding
    _require(holds, f"{name}: {measured} is {side} bound {bound} in a game that satisfies the hypotheses")
    if type(stated).chain is not Theorem.chain:
        chain = stated.proof(trace, u)
        for place, value, wanted in (
            ("starts", chain.values[0], measured),
            ("ends", chain.values[-1], bound),
        ):
            same = np.isclose(value, wanted, rtol=1e-9, atol=rounding)
            _require(same, f"{name}: the proof {place} at {value}, but should at {wanted}")
        worst = f"{name}: line {chain.slacks.argmin() + 2} of the proof is smaller than the line before"
        _require(chain.holds(), f"{worst}\n{chain}")


def variations(stated: Any, trace: Any, u: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the game with one thing changed: a number of the theorem, the losses, the learner, or u."""
    for other in _changes(stated):
        yield other, trace, u
    again = trace.again if hasattr(trace, "again") else lambda losses: play(trace.learner, losses)
    for losses in _other_losses(trace.losses):
        yield stated, again(losses), u
    if type(trace) is Trace:
        if trace.rounds <= 300:  # a few theorems need the value of every loss at every play
            rounds = zip(trace.points, trace.subgradients, trace.paid, strict=True)
            yield stated, replace(trace, losses=[_Concave(*seen) for seen in rounds]), u
        for learner in _changes(trace.learner):
            with contextlib.suppress(ValueError):  # the learner does not play these losses
                yield stated, play(learner, trace.losses), u
    if u is not None:
        u = np.asarray(u, dtype=float)
        for other in (10 * u, -u, u + 3.0, 0 * u, 1.2 * u, u + 0.2, u - 0.2):
            yield stated, trace, other


def _changes(thing: Any) -> Iterator[Any]:
    """Yield a theorem or a learner with one field changed, if the new value is allowed."""
    for field in fields(thing) if is_dataclass(thing) else ():
        for other in _other_values(field.name, getattr(thing, field.name), thing):
            with contextlib.suppress(ValueError):
                yield replace(thing, **{field.name: other})


def _other_values(name: str, value: Any, thing: Any) -> list[Any]:
    """Return other values for a field: numbers and step sizes are scaled, a start is moved."""
    if name == "projection":
        return ["lazy", "eager"]
    if name == "start":
        return [thing.over.project(np.full(thing.over.dim, x)) for x in (0.3, -2.0)]
    if name == "eta" and callable(value):
        return [lambda t: 0.5 * value(t), lambda t: 2 * value(t)]
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number, np.ndarray)):
        return []
    scaled = [np.asarray(value) * factor for factor in (0.5, 0.9, 2)]
    if np.ndim(value):
        return scaled
    return [int(x) if isinstance(value, (int, np.integer)) else float(x) for x in scaled]


class _Concave:
    """Represent a concave loss with the value and the slope of the real one at the play."""

    def __init__(self, w: Array, z: Array, paid: float) -> None:
        self.w, self.z, self.paid, self.dim = w, z, paid, len(w)

    def value(self, u: Array) -> Any:
        away = np.asarray(u) - self.w
        return self.paid + away @ self.z - 5.0 * (away @ away)

    def subgradient(self, u: Array) -> Array:
        return self.z - 10.0 * (np.asarray(u) - self.w)


def _other_losses(losses: Any) -> Iterator[Any]:
    """Yield the losses multiplied by 3, and with the opposite sign."""
    if isinstance(losses, np.ndarray):
        yield from (3 * losses, -losses)
    elif isinstance(losses, Examples):
        yield replace(losses, X=3 * losses.X)
        yield replace(losses, y=-losses.y)


def _check_step(stated: Any, trace: Any, u: Any) -> None:
    """Check that a step size chosen by the theorem (`eta` or `scale` left None) minimises its bound."""
    for name in ("eta", "scale"):
        if any(field.name == name and field.default is None for field in fields(stated)):
            own = replace(stated, **{name: None})
            step = getattr(own, name)
            best = float(own.step) if step is None else step
            at = [float(replace(own, **{name: factor * best}).bound) for factor in (0.9, 1.0, 1.1)]
            who = type(stated).__name__
            same = np.isclose(at[1], own.bound, rtol=1e-9)
            _require(same, f"{who}: the bound changes if its own {name} = {best} is given explicitly")
            _require(min(at) == at[1], f"{who}: its own {name} = {best} does not minimise the bound")
