"""Find the best point in hindsight for losses over data, with a certified gap and without an external solver.

`best(losses, over)` minimises Σ φ(⟨u, x_t⟩, y_t) + ½·T·reg·‖u‖² over a set with a primal–dual interior-point
method (smooth losses other than Huber's on a ball: with Newton's method). It solves linear systems with n
rows, or n + 1 on the simplex.

A loss with kinks is written as a sum of terms ψ(r) = h·max(0, r), with r affine in u. For Huber's loss ψ has
a rounded corner: its slope is r, clipped to [0, h]. The set is written as constraints r ≤ 0, which are such
terms with h = ∞ (for a ball r is quadratic, and the simplex has the constraint Σ u_i = 1 in addition). Write
r = q·a + v − s with v, s ≥ 0, where q = 1 for a rounded corner and 0 otherwise. At the optimum every term
has a slope a in [0, h] with s·a = 0 and v·(h − a) = 0, and the gradients of the r times their slopes, plus
the gradient of the smooth part, sum to 0 (on the simplex, to a vector with equal entries).
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

TOLERANCE = 1e-9  #: the search stops at this gap, relative to max(1, |value|)
REACH = 10.0  #: on an unbounded set the gap is certified among points of norm up to REACH·max(1, ‖point‖)

#: the second derivative φ'' in p of each smooth loss, except Huber's
CURVATURES = {
    "squared hinge": lambda p, y: (y * p < 1.0) + 1e-6,  # not 0, which would make the system singular
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
    """Hold a point of the set, its total loss `value`, and an upper bound `gap` on value − minimum.

    On an unbounded set the minimum is taken over the points of norm up to REACH·max(1, ‖point‖).
    """

    point: Array
    value: float
    gap: float


def knows(losses: Any, over: Set) -> bool:
    """Test whether `best` supports these losses over this set; on an unbounded set a minimum may not exist.

    >>> from ocolib.losses import hinge
    >>> knows(hinge([[1.0, 2.0]], [1]), sets.Ball(2)), knows(hinge([[1.0, 2.0]], [1]), sets.L1Ball(2))
    (True, False)
    """
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
    """Return the name of a smooth loss, as in `SMOOTH`; "" for any other loss."""
    return next((name for phi, name in SMOOTH if phi == losses.phi), "")


def _kinks(losses: Examples) -> tuple[Array, Array, Array, float]:
    """Return (A, b, h, q) with losses = Σ ψ(Au + b) + smooth part; no rows for the losses in `CURVATURES`."""
    X, y, phi, one = losses.X, losses.y, losses.phi, np.ones(len(losses))
    if isinstance(phi, Kinked):
        return -y[:, None] * X, phi.bend + y * phi.threshold, one, 0.0
    if isinstance(phi, TubeLoss) or _name(losses) == "huber":
        tube = phi if isinstance(phi, TubeLoss) else TubeLoss()  # Huber: |p − y|, corner rounded
        h = np.r_[tube.up * one, tube.down * one]
        A, b, used = np.vstack([X, -X]), np.r_[-y, y] - tube.eps, h > 0
        return A[used], b[used], h[used], float(tube is not phi)
    return np.empty((0, X.shape[1])), np.empty(0), np.empty(0), 0.0


def _conditions(over: Set) -> tuple[Array, Array]:
    """Return (A, b) with the set {u : Au + b ≤ 0}; a ball and the simplex have additional constraints."""
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
    """Hold the data of one search: rows r = Au + b, first `soft` loss terms, then constraints r ≤ 0."""

    def __init__(self, losses: Examples, over: Any, part: Any = None) -> None:
        self.losses, self.over = losses, over
        self.part = part or over  #: where to search: the whole set, or a bounded part
        A, b, h, q = _kinks(losses)
        self.smooth = "" if len(h) else _name(losses)  #: the name of the loss in `CURVATURES`, or ""
        C, d = _conditions(self.part)
        self.ball = int(isinstance(self.part, sets.Ball))
        self.A = np.asfortranarray(np.vstack([A, C, np.zeros((self.ball, over.dim))]))
        self.b = np.concatenate([b, d, np.zeros(self.ball)])
        self.h = np.concatenate([h, np.full(len(self.b) - len(h), np.inf)])
        self.soft, self.q = len(h), np.where(np.isinf(self.h), 0.0, q)
        self.weight = losses.reg * len(losses)
        y = losses.y  #: a lower bound on the value: each φ is at least 0, Poisson's at least y − y·log y
        self.floor = float((y - y * np.log(np.maximum(y, 1e-300))).sum()) if self.smooth == "poisson" else 0.0

    def rows(self, u: Array) -> Array:
        """Return the rows r at u; for a ball the last is ½(‖u − c‖² − R²)/R, and A receives its gradient."""
        r = self.A @ u + self.b
        if self.ball:
            away, radius = u - self.part.center, self.part.radius
            self.A[-1] = away / radius
            r[-1] = 0.5 * (away @ away / radius - radius)
        return r

    def value(self, u: Array) -> float:
        """Return the sum of the losses at u."""
        losses = self.losses
        return float(losses.phi.value(losses.X @ u, losses.y).sum() + 0.5 * self.weight * u @ u)

    def derivatives(self, u: Array) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of the smooth part at u."""
        gradient, H = self.weight * u, self.weight * np.eye(len(u))
        if self.smooth:
            X, y, p = self.losses.X, self.losses.y, self.losses.X @ u
            gradient = gradient + self.losses.phi.slope(p, y) @ X
            H = H + (X.T * CURVATURES[self.smooth](p, y)) @ X
        return gradient, H

    def residual(self, state: Any, target: float) -> float:
        """Return the norm of the residual of the optimality conditions with barrier parameter `target`."""
        u, a, s, v, nu = state
        r = self.rows(u)
        below = v[: self.soft] * (self.h - a)[: self.soft] - target
        parts = self.derivatives(u)[0] + a @ self.A + nu, r - v + s - self.q * a, s * a - target, below
        return float(np.sqrt(sum(part @ part for part in parts)))

    def gap(self, u: Array, a: Array) -> tuple[float, float]:
        """Return (value, gap) at u: the slopes a prove that no point (see `REACH`) is below value − gap."""
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
                t = max(-float(g @ self.over.unit), 0.0)  # the multiplier of the constraint
                least = -t * self.over.distance - far * np.linalg.norm(g + t * self.over.unit)
            case _:  # scale g, whose entries may exceed what a set accepts; the minimiser stays the same
                least = g @ self.over.minimize_linear(g / max(float(np.abs(g).max()), 1e-150))
        at = np.where(q > 0, np.clip(r, 0.0, h), h * (r > 0))  # the slope of ψ at r
        kinks = ((at - a) * r - 0.5 * q * (at**2 - a**2)).sum()
        value = self.value(u)
        return value, min(float(kinks + g @ u - least), value - self.floor)


def best(losses: Examples, over: Any) -> Best:
    """Find the point of the set with the smallest sum of losses, with a certified gap.

    Arguments: `losses` are losses over data with a scalar prediction (`hinge(X, y)`, …); `over` is a `Space`,
    `Orthant`, `Ball`, `Box`, `Simplex` or `Halfspace`.

    Returns a `Best` with `point`, `value` and `gap`: no point of the set has a total loss below value − gap
    (on an unbounded set, no point of norm up to REACH·max(1, ‖point‖)). The gap is at most
    1e-8·max(1, |value|), with one exception: on a bounded set the best answer found is returned even if its
    gap is larger, so check the gap. On an unbounded set there may be no minimum; then the answer is a point
    far away from 0, or a `ValueError`.

    >>> from ocolib.losses import absolute
    >>> found = best(absolute([[1.0], [1.0], [1.0]], [1.0, 2.0, 9.0]), sets.Ball(1, 5.0))
    >>> round(float(found.point[0]), 6), round(found.value, 6), found.gap < 1e-8  # the median
    (2.0, 8.0, True)
    """
    return _best(losses, over, None)


def _best(losses: Examples, over: Any, near: Array | None) -> Best:
    """Find the best point, starting near the point `near` if given, which usually shortens the search."""
    if not knows(losses, over):
        raise ValueError(
            f"the best point is not known here for {type(losses).__name__} over {over!r}; pass losses over "
            "data, such as hinge(X, y), and a Space, Orthant, Ball, Box, Simplex or Halfspace of equal dim"
        )
    with np.errstate(all="ignore"):
        answer = _found(losses, over, near)
        if not _certified(answer) and isinstance(over, sets.Simplex):
            answer = _by_logarithm(losses, over, answer)
    if _certified(answer) or (np.isfinite(over.diameter) and np.isfinite(answer.value)):
        return answer
    if not np.isfinite(answer.value):
        raise ValueError(
            "the sum of the losses is beyond the floats at every point tried; scale the features down"
        )
    raise ValueError(
        f"no best point was found over {over!r}, only one with a gap of {answer.gap:g}: is there a minimum? "
        "If not, choose a bounded set"
    )


def _certified(answer: Best) -> bool:
    """Test whether the gap is negligible: at most 1e-8, relative to values above 1."""
    return bool(np.isfinite(answer.value) and answer.gap <= 1e-8 * max(1.0, abs(answer.value)))


def _found(losses: Examples, over: Any, near: Array | None) -> Best:
    """Search the whole set, then its parts, until the gap is negligible; return the best answer."""
    problem = Problem(losses, over)
    answer = _better(None, problem, np.zeros(over.dim), np.zeros(len(problem.h)))
    for part in (over, *_parts(over)):
        with suppress(np.linalg.LinAlgError, ValueError):
            found = _search(Problem(losses, over, part), near if part is over else None)
            answer = found if found.gap < answer.gap or not answer.gap < np.inf else answer
        if _certified(answer):
            break
    return answer


def _by_logarithm(losses: Examples, over: sets.Simplex, answer: Best) -> Best:
    """Find the best point of the simplex when the sum of the losses is near the largest float.

    The sum is Σ exp(⟨u, e_t⟩) plus a linear part. On the simplex, subtracting c from every entry of e_t
    subtracts c from every exponent, so the sum of exponentials is e^c times one of moderate size. The linear
    part is tiny in comparison; its minimum is enough for the certificate.
    """
    name, y = _name(losses), losses.y[:, None]
    if name not in ("exponential", "poisson"):
        return answer
    E, rest = (-y * losses.X, 0.0) if name == "exponential" else (losses.X, -(y * losses.X).max(axis=1).sum())
    c = _log_least(E, over)
    found = _found(_exponentials(E - c), over, None)
    lowest = c + np.log(found.value - found.gap)
    if lowest > np.log(np.finfo(float).max):
        raise ValueError(
            f"on all of {over!r} the sum of the losses is at least e^{lowest:.0f}, beyond the floats; "
            "scale the features down"
        )
    value = Problem(losses, over).value(found.point)
    gap = value - (np.exp(lowest) + rest)
    return Best(found.point, value, max(gap, 0.0)) if not answer.gap <= gap else answer


def _exponentials(E: Array) -> Examples:
    """Return the losses exp(⟨u, e_t⟩), one for each row of E."""
    return Examples(E, -np.ones(len(E)), EXPONENTIAL)


def _log_least(E: Array, over: sets.Simplex) -> float:
    """Return the logarithm of the least Σ exp(⟨u, e_t⟩) on the simplex.

    Solve with halved exponents first: if that minimum is e^(c/2), then by Cauchy–Schwarz and since squares of
    positive numbers sum to at most the square of their sum, the full minimum lies between e^c/T and e^c.
    So after subtracting c from the exponents it is neither too large nor too small for the floats.
    """
    c, halvings = 0.0, max(0, int(np.ceil(np.log2(np.abs(E).max() / 100.0))))
    for k in range(halvings, -1, -1):
        c = 2.0 * c
        c += float(np.log(_found(_exponentials(E / 2.0**k - c), over, None).value))
    return c


def _parts(over: Any) -> list[Any]:
    """List bounded parts of growing size of an unbounded set, to search in turn.

    There, directions without curvature cannot lead far away. Every answer is certified on `over` itself.
    """
    n, sizes = over.dim, 10.0 ** np.arange(7)
    if isinstance(over, sets.Space):
        return [sets.Ball(n, size) for size in sizes]
    return (
        [sets.Box(np.zeros(n), np.full(n, size)) for size in sizes] if isinstance(over, sets.Orthant) else []
    )


def _search(problem: Problem, near: Array | None) -> Best:
    """Search one part of the set by the method that suits it, and return the best point found."""
    answer: Best | None = None
    if problem.ball and problem.smooth:
        answer = _better(None, problem, _in_ball(problem, near), np.zeros(1))
        return answer if _certified(answer) else _better(answer, problem, _by_barrier(problem), np.zeros(1))
    if problem.smooth and isinstance(problem.part, (sets.Simplex, sets.Box)):
        answer = _better(None, problem, _by_barrier(problem), np.zeros(len(problem.h)))
        if answer.gap <= TOLERANCE * max(1.0, abs(answer.value)):
            return answer
    starts = [_start(problem, near, far) for far in (1.0, 30.0)]  # the second rarely has to help
    answer = _better(answer, problem, *starts[0][:2])
    for state in starts:
        with suppress(np.linalg.LinAlgError, ValueError):  # keep the answer found so far
            for _ in range(100):
                if answer.gap <= TOLERANCE * max(1.0, abs(answer.value)):
                    return answer
                state = _improve(problem, *state)
                answer = _better(answer, problem, *state[:2])
    return answer


def _improve(problem: Problem, u: Array, a: Array, s: Array, v: Array, nu: float) -> Any:
    """Take one Mehrotra predictor–corrector step towards s·a = v·(h − a) = μ, with a smaller μ than now."""
    h, hard, simplex = problem.h, np.isinf(problem.h), isinstance(problem.part, sets.Simplex)
    above, pairs = np.where(hard, 1.0, h - a), max(len(s) + problem.soft, 1)
    r, (gradient, H) = problem.rows(u), problem.derivatives(u)
    A, D = problem.A, 1.0 / (problem.q + s / a + v / above)
    if problem.ball:
        H = H + a[-1] / problem.part.radius * np.eye(len(u))
    K = H + (A.T * D) @ A if len(A) else H
    if simplex:  # add the constraint Σ u_i = 1 with its multiplier ν
        K = np.block([[K, np.ones((len(u), 1))], [np.ones((1, len(u))), np.zeros((1, 1))]])
    rd, rp, mu = gradient + a @ A + nu, r - v + s - problem.q * a, (s @ a + v @ above) / pairs
    ds = da = dv = np.zeros_like(a)
    target = 0.0
    for corrected in (False, True):  # predictor towards μ = 0; it chooses the target of the corrector
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
    for share in 0.5 ** np.arange(12):  # nonlinear: halve the step until the residual decreases
        there = [x + share * step * dx for x, dx in zip(here, (du, da, ds, dv, dnu), strict=True)]
        if before == np.inf or problem.residual(there, target) <= (1 - 0.01 * share * step) * before:
            return there
    return [x + step * dx for x, dx in zip(here, (du, da, ds, dv, dnu), strict=True)]


def _solve(K: Array, rhs: Array) -> Array:
    """Solve Kx = rhs; if K is singular, return the least-squares solution of smallest norm."""
    try:
        return np.linalg.solve(K, rhs)
    except np.linalg.LinAlgError:  # happens near a face where many constraints are active
        if not np.isfinite(K).all():
            raise
        return np.linalg.lstsq(K, rhs, rcond=None)[0]


def _in_ball(problem: Problem, near: Array | None) -> Array:
    """Minimise a smooth f on a ball as argmin f + ½λ‖u − c‖², with λ = 0 or λ that puts it on the sphere."""
    over: Any = problem.part
    u, lam, one = over.center if near is None else near, 0.0, np.eye(over.dim)

    def value(u: Array, lam: float) -> float:
        return problem.value(u) + 0.5 * lam * float(np.square(u - over.center).sum())

    for _ in range(60):
        for _ in range(60):  # Newton steps, halved until f decreases
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
                    break  # f is equal up to rounding, but the gradient is smaller
                step *= 0.5
            if step <= 1e-12 or fall <= 1e-24 * max(1.0, abs(f)):
                break
            u = u + step * move
        length = float(np.linalg.norm(d))
        if abs(length / over.radius - 1.0) <= 1e-13 or (lam == 0.0 and length <= over.radius):
            break
        lam = max(0.0, lam + (length / over.radius - 1.0) * length**2 / (d @ np.linalg.solve(H, d)))
    return u


def _by_barrier(problem: Problem) -> Array:
    """Minimise a smooth f on a ball, a box or the simplex by Newton's method with a logarithmic barrier.

    It minimises f − μ·Σ log(slack) for smaller and smaller μ; f at this minimiser exceeds min f by at most
    μ·(number of constraints). Every step stays inside the set and where f is finite; for an exponential loss
    f may be as large as 1e100 at the start.
    """
    n, over = problem.over.dim, problem.part
    low = over.low if isinstance(over, sets.Box) else np.zeros(n)
    u = over.center if problem.ball else np.full(n, 1.0 / n)
    u = 0.5 * (over.low + over.high) if isinstance(over, sets.Box) else u
    while isinstance(over, sets.Box) and not problem.value(u) < 1e100 and (u - low).max() > 1e-12:
        u = low + 0.5 * (u - low)
    if not problem.value(u) < 1e100:  # start at the minimiser for features of half the size
        half = Examples(0.5 * problem.losses.X, problem.losses.y, problem.losses.phi, problem.losses.reg)
        u = _by_barrier(Problem(half, over))
    flat = isinstance(over, sets.Simplex)  # steps must keep Σ u_i = 1
    mu = max(1.0, abs(problem.value(u)))

    def look(u: Array) -> tuple[float, Array, Array]:
        """Return the value of f with the barrier, its gradient along the set, and its Hessian."""
        slack = -problem.rows(u)
        if not slack.min() > 0:
            return np.inf, u, one
        A, (gradient, H) = problem.A, problem.derivatives(u)
        if problem.ball:
            H = H + mu / (slack[-1] * over.radius) * one
        gradient = gradient + (mu / slack) @ A
        value = problem.value(u) - mu * np.log(slack).sum()
        return value, gradient - gradient.mean() if flat else gradient, H + (A.T * (mu / slack**2)) @ A

    one = np.eye(n)
    for _ in range(3000):
        f, gradient, H = look(u)
        scale = max(float(np.abs(H).max()), 1e-300)  # entries may be 1e200
        K, rhs = H / scale, -gradient / scale
        if flat:
            K = np.block([[K, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
            rhs = np.append(rhs, 0.0)
        move = _solve(K, rhs)[:n]
        fall, step = -gradient @ move, 1.0
        while step > 1e-12:
            g, slope, _ = look(u + step * move)
            if g <= f - 1e-4 * step * fall:
                break
            if g <= f + 1e-13 * abs(f) and np.linalg.norm(slope) <= 0.5 * np.linalg.norm(gradient):
                break  # f is equal up to rounding, but the gradient is smaller
            step *= 0.5
        done = step <= 1e-12 or fall <= 1e-3 * mu
        u = u + step * move if step > 1e-12 else u
        if done and mu * len(problem.h) <= 1e-10 * max(1.0, abs(problem.value(u))):
            break
        mu = 0.1 * mu if done else mu
    return u


def _better(answer: Best | None, problem: Problem, u: Array, a: Array) -> Best:
    """Return the answer, or the projection of u with slopes a if its gap is smaller."""
    point = problem.over.project(u)
    value, gap = problem.gap(point, np.clip(a, 0.0, problem.h))
    return Best(point, value, max(gap, 0.0)) if answer is None or not answer.gap <= gap else answer


def _length(s: Array, ds: Array, v: Array, dv: Array, a: Array, da: Array, h: Array) -> float:
    """Return the largest fraction ≤ 1 of the step that keeps all entries positive, with a small margin."""
    worst = min((float(np.min(d / x, initial=0.0)) for x, d in ((s, ds), (a, da), (h - a, -da))), default=0.0)
    inside = v > 0
    worst = min(worst, float(np.min(dv[inside] / v[inside], initial=0.0)))
    return min(1.0, 0.995 / -worst) if worst < 0 else 1.0


def _start(problem: Problem, near: Array | None, far: float) -> Any:
    """Return a starting point, central or close to `near`, and slopes with s·a ≈ v·(h − a) ≈ μ.

    A central point starts with μ of the size of the rows r, so that s and v are too.
    """
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
    u = u if near is None else 0.99 * near + 0.01 * u
    r, soft = problem.rows(u), problem.soft
    mu = far * (max(1.0, float(np.abs(r).max(initial=0.0))) if near is None else 0.01)
    v, k, m = np.zeros_like(r), r[:soft], h[:soft]
    v[:soft] = (2.0 * mu + k * m + np.sqrt(4.0 * mu**2 + (k * m) ** 2)) / (2.0 * m)
    s = np.maximum(v - r, 1e-3)
    return u, np.minimum(mu / s, 0.999 * h), s, v, 0.0


def least(losses: Examples, over: Set) -> Array:
    """Return the minimum of f_1 + … + f_t over the set for every t, `(T,)`.

    The arguments are those of `best`; each search starts near the answer of the previous round.

    >>> from ocolib.losses import absolute
    >>> least(absolute([[1.0], [1.0], [1.0]], [1.0, 2.0, 9.0]), sets.Ball(1, 5.0)).round(6)
    array([0., 1., 8.])
    """
    values, near = np.empty(len(losses)), None
    for t in range(len(losses)):
        answer = _best(losses[: t + 1], over, near)
        values[t], near = answer.value, answer.point
    return values
