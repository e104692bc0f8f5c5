"""Find the best point in hindsight for losses over data, with a certified gap and without an external solver.

`best(losses, over)` minimises Σ φ(⟨u, x_t⟩, y_t) + ½·T·reg·‖u‖² over a set by a primal–dual interior-point
method (smooth losses but Huber's on a ball by Newton's) that factors matrices of n rows, on the simplex
n + 1. A loss with kinks is a sum of terms ψ(r) = h·max(0, r), r affine in u; Huber's has a ψ with a bend,
whose slope is r up to h. A set is conditions r ≤ 0, which are the same with h = ∞ (the r of a ball is
quadratic; the simplex has Σ u_i = 1 as well). With r = q·a + v − s, q = 1 for a bend and else 0, and v, s
≥ 0 the optimum has a slope a in [0, h] for each, such that s·a = 0, v·(h − a) = 0, and the gradients times
a, with that of what is smooth, sum to 0 (on the simplex to equal entries).
"""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ocolib import sets
from ocolib.losses import Examples
from ocolib.phi import (
    EXPONENTIAL,
    HUBER,
    LEAST_SQUARES,
    LOGISTIC,
    POISSON,
    SQUARED_HINGE,
    HingeLoss,
    Kinked,
    PerceptronLoss,
    TubeLoss,
)
from ocolib.sets import Set
from ocolib.types import Array

TOLERANCE = 1e-9  #: the gap that is aimed at, relative to max(1, |value|)
REACH = 10.0  #: on an unbounded set the certificate speaks of points up to so many times max(1, ‖point‖) long

#: the second derivative in p of each smooth loss but Huber's
CURVATURES = {
    "squared hinge": lambda p, y: (y * p < 1.0) + 1e-6,  # a little more: 0 in all rounds is singular
    "exponential": lambda p, y: np.exp(-y * p),
    "logistic": lambda p, y: np.exp(-np.logaddexp(0.0, p) - np.logaddexp(0.0, -p)),
    "least squares": lambda p, y: np.ones_like(p),
    "poisson": lambda p, y: np.exp(p),
}


SMOOTH = [
    (SQUARED_HINGE, "squared hinge"),
    (EXPONENTIAL, "exponential"),
    (LOGISTIC, "logistic"),
    (LEAST_SQUARES, "least squares"),
    (HUBER, "huber"),
    (POISSON, "poisson"),
]


class Best(NamedTuple):
    """A point of the set, its value, and by how much the value may at most exceed the least one; on an
    unbounded set the least among points of norm up to REACH·max(1, ‖point‖)."""

    point: Array
    value: float
    gap: float


def knows(losses: Any, over: Set) -> bool:
    """Test whether `best` supports these losses and this set; a minimum need not exist."""
    return (
        isinstance(losses, Examples)
        and (
            type(losses.phi) in (PerceptronLoss, HingeLoss, TubeLoss)
            or _name(losses) in ("huber", *CURVATURES)
        )
        and losses.dim == over.dim
        and isinstance(over, (sets.Space, sets.Orthant, sets.Ball, sets.Box, sets.Simplex, sets.Halfspace))
    )


def _name(losses: Examples) -> str:
    """Return the name of a smooth loss in `CURVATURES`, or "huber"; "" for every other."""
    return next((name for phi, name in SMOOTH if phi == losses.phi), "")


def _kinks(losses: Examples) -> tuple[Array, Array, Array, float]:
    """Return (A, b, h, q): the losses are Σ ψ(Au + b) plus a smooth part (for `CURVATURES` only that)."""
    X, y, phi, one = losses.X, losses.y, losses.phi, np.ones(len(losses))
    if isinstance(phi, Kinked):
        return -y[:, None] * X, phi.bend + y * phi.threshold, one, 0.0
    if isinstance(phi, TubeLoss) or _name(losses) == "huber":
        tube = phi if isinstance(phi, TubeLoss) else TubeLoss()  # but for the bend Huber's is |p − y|
        h = np.r_[tube.up * one, tube.down * one]
        A, b, used = np.vstack([X, -X]), np.r_[-y, y] - tube.eps, h > 0
        return A[used], b[used], h[used], float(tube is not phi)
    return np.empty((0, X.shape[1])), np.empty(0), np.empty(0), 0.0


def _conditions(over: Set) -> tuple[Array, Array]:
    """Return (A, b) with the set {u : Au + b ≤ 0}; a ball and the simplex have further conditions."""
    one = np.eye(over.dim)
    match over:
        case sets.Orthant() | sets.Simplex():
            return -one, np.zeros(over.dim)
        case sets.Box():
            return np.vstack([one, -one]), np.concatenate([-over.high, over.low])
        case sets.Halfspace():
            return over.unit[None, :], np.array([-over.distance])
    return np.empty((0, over.dim)), np.empty(0)


class Problem:
    """Hold the data of one search: rows Au + b, of which the first `soft` may be positive at cost h."""

    def __init__(self, losses: Examples, over: Any, part: Any = None) -> None:
        self.losses, self.over = losses, over
        self.part = part or over  #: where to look: all of the set, or a bounded part
        A, b, h, q = _kinks(losses)
        self.smooth = "" if len(h) else _name(losses)  #: which loss of `CURVATURES`, if it is one
        C, d = _conditions(self.part)
        self.ball = int(isinstance(self.part, sets.Ball))
        self.A = np.asfortranarray(np.vstack([A, C, np.zeros((self.ball, over.dim))]))
        self.b = np.concatenate([b, d, np.zeros(self.ball)])
        self.h = np.concatenate([h, np.full(len(self.b) - len(h), np.inf)])
        self.soft, self.q = len(h), np.where(np.isinf(self.h), 0.0, q)
        self.weight = losses.reg * len(losses)
        y = losses.y  #: no point pays less than the least of every φ: 0, and for Poisson's y − y·log y
        self.floor = float((y - y * np.log(np.maximum(y, 1e-300))).sum()) if self.smooth == "poisson" else 0.0

    def rows(self, u: Array) -> Array:
        """Return the rows at u; for a ball the last is ½(‖u − c‖² − R²)/R, with gradient in A."""
        r = self.A @ u + self.b
        if self.ball:
            away, radius = u - self.part.center, self.part.radius
            self.A[-1] = away / radius
            r[-1] = 0.5 * (away @ away / radius - radius)
        return r

    def value(self, u: Array) -> float:
        """Return the sum of the losses."""
        losses = self.losses
        return float(losses.phi.value(losses.X @ u, losses.y).sum() + 0.5 * self.weight * u @ u)

    def derivatives(self, u: Array) -> tuple[Array, Array]:
        """Return the gradient and the second derivative of the smooth part (see `CURVATURES`)."""
        gradient, H = self.weight * u, self.weight * np.eye(len(u))
        if self.smooth:
            X, y, p = self.losses.X, self.losses.y, self.losses.X @ u
            gradient = gradient + self.losses.phi.slope(p, y) @ X
            H = H + (X.T * CURVATURES[self.smooth](p, y)) @ X
        return gradient, H

    def residual(self, state: Any, target: float) -> float:
        """Return the norm of the optimality conditions, which vanishes at the optimum."""
        u, a, s, v, nu = state
        r = self.rows(u)
        below = v[: self.soft] * (self.h - a)[: self.soft] - target
        parts = self.derivatives(u)[0] + a @ self.A + nu, r - v + s - self.q * a, s * a - target, below
        return float(np.sqrt(sum(part @ part for part in parts)))

    def gap(self, u: Array, a: Array) -> tuple[float, float]:
        """Return (value, gap) at u: by the slopes a, no point (see `REACH`) is below value − gap."""
        r, a, h, q = (x[: self.soft] for x in (self.rows(u), a, self.h, self.q))
        g = self.derivatives(u)[0] + a @ self.A[: self.soft]
        if not np.isfinite(g).all():
            return self.value(u), np.inf
        far = REACH * max(1.0, float(np.linalg.norm(u)))
        match self.over:
            case sets.Space():
                least = -far * np.linalg.norm(g)
            case sets.Orthant():
                least = -far * np.linalg.norm(np.minimum(g, 0.0))
            case sets.Halfspace():
                t = max(-float(g @ self.over.unit), 0.0)  # the multiplier of the condition
                least = -t * self.over.distance - far * np.linalg.norm(g + t * self.over.unit)
            case _:  # only the direction of g counts, and its length may be beyond what a set takes
                least = g @ self.over.minimize_linear(g / max(float(np.abs(g).max()), 1e-150))
        at = np.where(q > 0, np.clip(r, 0.0, h), h * (r > 0))  # the slope of ψ at r
        kinks = ((at - a) * r - 0.5 * q * (at**2 - a**2)).sum()
        value = self.value(u)
        return value, min(float(kinks + g @ u - least), value - self.floor)


def best(losses: Examples, over: Any) -> Best:
    """Find the point of the set with the smallest sum of losses, with a certified gap.

    `losses` are losses over data (`hinge(X, y)`, …) of one number, `over` is a space, orthant, ball, box,
    simplex or halfspace. The answer has `point`, `value` and `gap`: no point of the set pays less than
    value − gap.
    The gap is at most 1e-8·max(1, |value|); on a bounded set an answer with a larger gap is returned if no
    better one was found, so look at the gap. On an unbounded set there may be no minimum: then the answer
    may be a point far out, or a `ValueError`.

    >>> from ocolib.losses import absolute
    >>> found = best(absolute([[1.0], [1.0], [1.0]], [1.0, 2.0, 9.0]), sets.Ball(1, 5.0))
    >>> round(float(found.point[0]), 6), round(found.value, 6), found.gap < 1e-8  # the median
    (2.0, 8.0, True)
    """
    return _best(losses, over, None)


def _best(losses: Examples, over: Any, near: Array | None) -> Best:
    """Find the best point, starting `near` a known one, which usually shortens the search."""
    if not knows(losses, over):
        raise ValueError(f"the best point is not known here for {type(losses).__name__} over {over!r}")
    with np.errstate(all="ignore"):
        problem = Problem(losses, over)
        answer = _better(None, problem, np.zeros(over.dim), np.zeros(len(problem.h)))
        for part in (over, *_parts(over)):
            with suppress(np.linalg.LinAlgError, ValueError):
                found = _search(Problem(losses, over, part), near if part is over else None)
                answer = found if found.gap < answer.gap or not answer.gap < np.inf else answer
            if np.isfinite(answer.value) and answer.gap <= 1e-8 * max(1.0, abs(answer.value)):
                return answer
    if not np.isfinite(answer.value):
        raise ValueError(
            "the sum of the losses is beyond the floats wherever it was tried; scale the features"
        )
    if np.isfinite(over.diameter):
        return answer
    raise ValueError(f"no best point was found, only one with a gap of {answer.gap:g}: is there a minimum?")


def _parts(over: Any) -> list[Any]:
    """List bounded parts of a large set to search in turn, each ten times larger than the one before.

    In them curvature 0 leads nowhere far. What is found there is certified for all of the set.
    """
    n, sizes = over.dim, 10.0 ** np.arange(7)
    if isinstance(over, sets.Ball) and over.radius > 1.0:
        inside = [size for size in sizes if size < over.radius]
        return [sets.Ball(n, size, over.center) for size in inside] + [sets.Space(n)]
    if isinstance(over, sets.Box):
        return [sets.Space(n)]
    if isinstance(over, sets.Space):
        return [sets.Ball(n, size) for size in sizes]
    return (
        [sets.Box(np.zeros(n), np.full(n, size)) for size in sizes] if isinstance(over, sets.Orthant) else []
    )


def _search(problem: Problem, near: Array | None) -> Best:
    if problem.ball and problem.smooth:
        return _better(None, problem, _in_ball(problem, near), np.zeros(1))
    answer: Best | None = None
    if problem.smooth and isinstance(problem.part, (sets.Simplex, sets.Box)):
        answer = _better(None, problem, _in_polytope(problem), np.zeros(len(problem.h)))
        if answer.gap <= TOLERANCE * max(1.0, abs(answer.value)):
            return answer
    state = _start(problem, near)
    answer = _better(answer, problem, *state[:2])
    with suppress(np.linalg.LinAlgError, ValueError):  # what was found before may do
        for _ in range(100):
            if answer.gap <= TOLERANCE * max(1.0, abs(answer.value)):
                break
            state = _improve(problem, *state)
            answer = _better(answer, problem, *state[:2])
    return answer


def _improve(problem: Problem, u: Array, a: Array, s: Array, v: Array, nu: float) -> Any:
    """Take one Mehrotra predictor–corrector step towards s·a = v·(h − a) = μ with a smaller μ."""
    h, hard, simplex = problem.h, np.isinf(problem.h), isinstance(problem.part, sets.Simplex)
    above, pairs = np.where(hard, 1.0, h - a), max(len(s) + problem.soft, 1)
    r, (gradient, H) = problem.rows(u), problem.derivatives(u)
    A, D = problem.A, 1.0 / (problem.q + s / a + v / above)
    if problem.ball:
        H = H + a[-1] / problem.part.radius * np.eye(len(u))
    K = H + (A.T * D) @ A if len(A) else H
    if simplex:  # Σ u_i = 1, with the multiplier ν
        K = np.block([[K, np.ones((len(u), 1))], [np.ones((1, len(u))), np.zeros((1, 1))]])
    rd, rp, mu = gradient + a @ A + nu, r - v + s - problem.q * a, (s @ a + v @ above) / pairs
    ds = da = dv = np.zeros_like(a)
    target = 0.0
    for corrected in (False, True):  # towards μ = 0; then, wiser by that step, towards the target
        if corrected and mu:
            step = _length(s, ds, v, dv, a, da, h)
            after = ((s + step * ds) @ (a + step * da) + (v + step * dv) @ (above - step * da)) / pairs
            target = mu * max(min(1.0, after / mu) ** 3, 0.1 if problem.smooth or problem.ball else 0.0)
        rs, rv = s * a + ds * da - target, np.where(hard, 0.0, v * above - dv * da - target)
        w = rp - rs / a + rv / above
        rhs = -rd - (D * w) @ A
        move = _solve(K, np.append(rhs, 1.0 - u.sum()) if simplex else rhs)
        du, dnu = (move[:-1], move[-1]) if simplex else (move, 0.0)
        da = D * (A @ du + w)
        ds, dv = (-rs - s * da) / a, np.where(hard, 0.0, (-rv + v * da) / above)
    here: Any = u, a, s, v, nu
    step = _length(s, ds, v, dv, a, da, h)
    before = problem.residual(here, target) if problem.smooth or problem.ball else np.inf
    for share in 0.5 ** np.arange(12):  # smooth or ball: halved until what must vanish shrinks, if it does
        there = [x + share * step * dx for x, dx in zip(here, (du, da, ds, dv, dnu), strict=True)]
        if before == np.inf or problem.residual(there, target) <= (1 - 0.01 * share * step) * before:
            return there
    return [x + step * dx for x, dx in zip(here, (du, da, ds, dv, dnu), strict=True)]


def _solve(K: Array, rhs: Array) -> Array:
    try:
        return np.linalg.solve(K, rhs)
    except np.linalg.LinAlgError:  # near an edge of many conditions; of many moves the least
        return np.linalg.lstsq(K, rhs, rcond=None)[0]


def _in_ball(problem: Problem, near: Array | None) -> Array:
    """Minimise a smooth f on a ball: argmin f + ½λ‖u − c‖², λ = 0 or such that it lies on the sphere."""
    over: Any = problem.part
    u, lam, one = over.center if near is None else near, 0.0, np.eye(over.dim)

    def value(u: Array, lam: float) -> float:
        return problem.value(u) + 0.5 * lam * float(np.square(u - over.center).sum())

    for _ in range(60):
        for _ in range(60):  # Newton, with half the step until f has come down
            gradient, H = problem.derivatives(u)
            d, H = u - over.center, H + (lam + 1e-14 * (1.0 + np.trace(H))) * one
            move = -np.linalg.solve(H, gradient + lam * d)
            fall, step, f = -(gradient + lam * d) @ move, 1.0, value(u, lam)
            size, near_enough = np.linalg.norm(gradient + lam * d), f + 1e-13 * max(1.0, abs(f))
            while step > 1e-12:
                there = u + step * move
                g = value(there, lam)
                if g <= f - 1e-4 * step * fall:
                    break
                slope = problem.derivatives(there)[0] + lam * (there - over.center)
                if g <= near_enough and np.linalg.norm(slope) <= 0.5 * size:
                    break  # f has no more digits to tell, the gradient has
                step *= 0.5
            if step <= 1e-12 or fall <= 1e-24 * max(1.0, abs(f)):
                break
            u = u + step * move
        length = float(np.linalg.norm(d))
        if abs(length / over.radius - 1.0) <= 1e-13 or (lam == 0.0 and length <= over.radius):
            break
        lam = max(0.0, lam + (length / over.radius - 1.0) * length**2 / (d @ np.linalg.solve(H, d)))
    return u


def _in_polytope(problem: Problem) -> Array:
    """Find the minimum of a smooth f on a box or the simplex by Newton's method with a barrier.

    f − μ·Σ log(slack) with a smaller and smaller μ: its minimum is at most μ·(number of conditions) above
    that of f. Every step stays inside and where f is finite: an exponential may begin at 1e100.
    """
    A, b, n, over = problem.A, problem.b, len(problem.A[0]), problem.part
    low = over.low if isinstance(over, sets.Box) else np.zeros(n)
    u = 0.5 * (over.low + over.high) if isinstance(over, sets.Box) else np.full(n, 1.0 / n)
    while isinstance(over, sets.Box) and not problem.value(u) < 1e100 and (u - low).max() > 1e-12:
        u = low + 0.5 * (u - low)
    if not np.isfinite(problem.value(u)):  # begin where half the features have their minimum
        half = Examples(0.5 * problem.losses.X, problem.losses.y, problem.losses.phi, problem.losses.reg)
        u = _in_polytope(Problem(half, over))
    flat = isinstance(over, sets.Simplex)  # moves keep Σ u_i = 1
    mu = max(1.0, abs(problem.value(u)))

    def look(u: Array) -> tuple[float, Array, Array]:
        """Return f with its barrier, the gradient along the set, and the second derivative."""
        slack = -(A @ u + b)
        if not slack.min() > 0:
            return np.inf, u, one
        gradient, H = problem.derivatives(u)
        gradient = gradient + (mu / slack) @ A
        value = problem.value(u) - mu * np.log(slack).sum()
        return value, gradient - gradient.mean() if flat else gradient, H + (A.T * (mu / slack**2)) @ A

    one = np.eye(n)
    for _ in range(3000):
        f, gradient, H = look(u)
        scale = max(float(np.abs(H).max()), 1e-300)  # entries may be 1e200
        K, rhs = H / scale, -gradient / scale
        if flat:
            K, rhs = (
                np.block([[K, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]]),
                np.append(rhs, 0.0),
            )
        move = _solve(K, rhs)[:n]
        fall, step = -gradient @ move, 1.0
        while step > 1e-12:
            g, slope, _ = look(u + step * move)
            if g <= f - 1e-4 * step * fall:
                break
            if g <= f + 1e-13 * abs(f) and np.linalg.norm(slope) <= 0.5 * np.linalg.norm(gradient):
                break  # f has no more digits to tell, the gradient has
            step *= 0.5
        done = step <= 1e-12 or fall <= 1e-3 * mu
        u = u + step * move if step > 1e-12 else u
        if done and mu * len(b) <= 1e-10 * max(1.0, abs(problem.value(u))):
            break
        mu = 0.1 * mu if done else mu
    return u


def _better(answer: Best | None, problem: Problem, u: Array, a: Array) -> Best:
    point = problem.over.project(u)
    value, gap = problem.gap(point, np.clip(a, 0.0, problem.h))
    return Best(point, value, max(gap, 0.0)) if answer is None or not answer.gap <= gap else answer


def _length(s: Array, ds: Array, v: Array, dv: Array, a: Array, da: Array, h: Array) -> float:
    """Return the fraction ≤ 1 of the step that keeps all entries positive, with a small margin."""
    worst = min((float(np.min(d / x, initial=0.0)) for x, d in ((s, ds), (a, da), (h - a, -da))), default=0.0)
    inside = v > 0
    worst = min(worst, float(np.min(dv[inside] / v[inside], initial=0.0)))
    return min(1.0, 0.995 / -worst) if worst < 0 else 1.0


def _start(problem: Problem, near: Array | None) -> Any:
    """Return a start, central or close to `near`, and slopes with s·a ≈ v·(h − a) ≈ μ."""
    over, h = problem.part, problem.h
    match over:
        case sets.Ball():
            u = over.center.copy()
        case sets.Box():
            u = 0.5 * (over.low + over.high)
        case sets.Orthant():
            u = np.ones(over.dim)
        case _:
            u = over.project(np.zeros(over.dim))
    mu, u = (1.0, u) if near is None else (0.01, 0.99 * near + 0.01 * u)
    r, soft = problem.rows(u), problem.soft
    v, k, m = np.zeros_like(r), r[:soft], h[:soft]
    v[:soft] = (2.0 * mu + k * m + np.sqrt(4.0 * mu**2 + (k * m) ** 2)) / (2.0 * m)
    s = np.maximum(v - r, 1e-3)
    return u, np.minimum(mu / s, 0.999 * h), s, v, 0.0


def least(losses: Examples, over: Set) -> Array:
    """Return the minimum of f_1 + … + f_t over the set for every t, `(T,)`.

    Each search starts near the answer of the round before.
    """
    values, near = np.empty(len(losses)), None
    for t in range(len(losses)):
        answer = _best(losses[: t + 1], over, near)
        values[t], near = answer.value, answer.point
    return values
