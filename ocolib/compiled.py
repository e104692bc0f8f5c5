"""The rounds of long games, compiled by numba: the plays of the loops in `learners`, a hundred times sooner.

Nothing here is imported before a game is long enough; without numba no game needs it. The slopes are the
formulas of `phi`, compiled as they stand. A set is handed over as numbers, since a function as an argument
would be compiled anew in every process: the nearest point of each set is, coordinate by coordinate,

    v → centre + shrink·(v − centre) → v − clip(v, ±soft) → v − shift·normal → clip(v, low, high),

and `settle` finds the three numbers that depend on the whole of v.
"""

from typing import Any

import numba
import numpy as np

from ocolib import phi
from ocolib.protocols import Array

SPACE, BALL, CLIP, HALFSPACE, SIMPLEX, L1 = range(6)
LAZY, SOFTMAX, POWER = range(3)  #: what a leader does with the sum
KINKED, TUBE, LINEAR = -1, -2, -3  #: other codes are places in SMOOTH
SMOOTH = phi.SQUARED_HINGE, phi.EXPONENTIAL, phi.LOGISTIC, phi.LEAST_SQUARES, phi.HUBER, phi.POISSON

# sums may be taken in any order; nothing else is given up: nan stays nan, and no product is fused
njit = numba.njit(cache=True, fastmath={"reassoc", "nsz"}, error_model="numpy")
exact = numba.njit(cache=True, error_model="numpy")
finite = numba.njit(
    cache=True, fastmath={"reassoc", "nsz", "nnan"}, error_model="numpy"
)  # of checked numbers

kinked, tube = exact(phi.kinked_slope), exact(phi.tube_slope)
squared_hinge, exponential, logistic, least_squares, huber, poisson = (exact(f.derivative) for f in SMOOTH)


@exact
def slope(code: int, a: float, b: float, c: float, p: float, y: float) -> float:
    """φ'(p, y) of the loss with this code and these three constants."""
    if code == KINKED:
        return kinked(y * (p - c), y, a, b)
    if code == TUBE:
        return tube(p - y, a, b, c)
    if code == LINEAR:
        return 1.0
    if code == 0:
        return squared_hinge(p, y)
    if code == 1:
        return exponential(p, y)
    if code == 2:
        return logistic(p, y)
    if code == 3:
        return least_squares(p, y)
    if code == 4:
        return huber(p, y)
    return poisson(p, y)


# ---------------------------------------------------------------- sets


@njit
def level(v: Array, total: float, folded: bool) -> float:
    """θ with Σ max(v_i − θ, 0) = total, of |v_i| if `folded`: drop what is below θ until nothing is."""
    top, n = -np.inf, len(v)
    for i in range(n):
        top = max(top, abs(v[i]) if folded else v[i])
    theta, kept = -np.inf, n + 1
    while True:
        mass, count = 0.0, 0
        for i in range(n):
            u = (abs(v[i]) if folded else v[i]) - top
            if u > theta:
                mass += u
                count += 1
        if count >= kept:
            return theta + top
        theta, kept = (mass - total) / count, count


@njit
def settle(kind: int, size: float, v: Array, square: float, inner: float) -> tuple[float, float, float]:
    """(shrink, soft, shift) for v; `square` is ‖v − centre‖², `inner` is ⟨normal, v⟩."""
    if kind == BALL and square > size * size:
        return size / np.sqrt(square), 0.0, 0.0
    if kind == HALFSPACE:
        return 1.0, 0.0, max(inner - size, 0.0)
    if kind == SIMPLEX:
        return 1.0, 0.0, level(v, size, False)
    if kind == L1:
        mass = 0.0
        for i in range(len(v)):
            mass += abs(v[i])
        return 1.0, (level(v, size, True) if mass > size else 0.0), 0.0
    return 1.0, 0.0, 0.0


@njit
def _place(i, v, center, normal, low, high, shrink, soft, shift):
    """Coordinate i of the nearest point; what a set does without is None, and costs nothing."""
    if center is not None:
        v = v if shrink == 1.0 else center[i] + shrink * (v - center[i])
    if normal is not None:
        v = v - shift * normal[i]
    if low is not None:
        v = min(max(v - min(max(v, -soft), soft), low[i]), high[i])
    return v


@njit
def _measure(i, v, center, normal):
    """What coordinate i adds to ‖v − centre‖² and to ⟨normal, v⟩."""
    return 0.0 if center is None else (v - center[i]) ** 2, 0.0 if normal is None else normal[i] * v


@njit
def project(over: Any, w: Array) -> None:
    """Replace w by the nearest point of the set."""
    (kind, size, center, normal), square, inner = over[:4], 0.0, 0.0
    if kind == SPACE:
        return
    for i in range(len(w)):
        more = _measure(i, w[i], center, normal)
        square += more[0]
        inner += more[1]
    three = settle(kind, size, w, square, inner)
    for i in range(len(w)):
        w[i] = _place(i, w[i], *over[2:], *three)  # type: ignore[call-arg]


# ---------------------------------------------------------------- games


@njit
def linear(
    Z: Array, eta: Array, over: Any, start: Array, w: Array, total: Any, points: Array, paid: Array
) -> None:
    """Descent on linear losses from w, lazy if there is a `total`: one pass over the coordinates a round."""
    (kind, size, center, normal), (T, n), keep = over[:4], Z.shape, len(points) > 1
    three = 1.0, 0.0, 0.0  # w lies in the set
    for t in range(T):
        row, z, e = points[t if keep else 0], Z[t], eta[t]
        pay, square, inner = 0.0, 0.0, 0.0
        for i in range(n):
            v = _place(i, w[i], *over[2:], *three)  # type: ignore[call-arg]
            row[i] = v
            pay += v * z[i]
            if total is not None:
                total[i] += z[i]
                v = start[i] - e * total[i]
            else:
                v -= e * z[i]
            w[i] = v
            more = _measure(i, v, center, normal)
            square += more[0]
            inner += more[1]
        paid[t] = pay
        three = settle(kind, size, w, square, inner)
    project(over, w)
    points[-1] = w


@njit
def examples(
    X: Array,
    y: Array,
    loss: Any,
    reg: float,
    eta: Array,
    steady: bool,
    rule: int,
    over: Any,
    start: Array,
    w: Array,
    total: Any,
    points: Array,
    out: Any,
    due: Any,
    order: Any,
) -> None:
    """Play φ(⟨w, x_t⟩, y_t) + ½·reg·‖w‖² from w. A leader has a `total`, the sum of gradients. If they come
    late, the k-th to arrive is that of round `order[k]`, and after round t all k < due[t] have arrived.
    """
    (T, n), keep, k, square = X.shape, len(points) > 1, 0, 0.0
    predictions, slopes, squares = out
    for t in range(T):
        x, p = X[t], 0.0
        for i in range(n):
            p += w[i] * x[i]
        if keep:
            for i in range(n):
                points[t, i] = w[i]
        predictions[t] = p
        slopes[t] = slope(loss[0], loss[1], loss[2], loss[3], p, y[t])
        if reg > 0.0:
            if t == 0 or over[0] != SPACE or total is not None or order is not None:
                square = 0.0
                for i in range(n):
                    square += w[i] * w[i]
            squares[t] = square
        until = t + 1 if due is None else due[t]
        while k < until:
            s = k if order is None else order[k]
            g, e, x = slopes[s], eta[k], X[s]
            k += 1
            if g == 0.0 and reg == 0.0 and steady:
                continue
            if total is not None:
                for i in range(n):
                    total[i] += g * x[i] + reg * w[i]
                lead(rule, e, start, total, w)
            elif reg == 0.0:
                g = e * g
                for i in range(n):
                    w[i] -= g * x[i]
            elif order is None:
                g, f, square = e * g, 1.0 - e * reg, 0.0
                for i in range(n):
                    v = f * w[i] - g * x[i]
                    w[i] = v
                    square += v * v
            else:
                then = points[s]
                for i in range(n):
                    w[i] -= e * (g * x[i] + reg * then[i])
            project(over, w)
    points[-1] = w


@njit
def lead(rule: int, e: float, start: Array, total: Array, w: Array) -> None:
    """The play of a leader after the sum `total`, before it is projected."""
    n = len(w)
    if rule == LAZY:
        for i in range(n):
            w[i] = start[i] - e * total[i]
    elif rule == POWER:
        for i in range(n):
            w[i] = e ** -total[i]
    else:
        least, mass = total[0], 0.0
        for i in range(n):
            least = min(least, total[i])
        for i in range(n):
            w[i] = np.exp(-e * (total[i] - least))
            mass += w[i]
        for i in range(n):
            w[i] /= mass


@finite
def tilt(Z: Array, eta: Array, total: Array, out: Array) -> None:
    """−η_t(Z_t − min Z_t), row by row; `total` is the sum so far."""
    for t in range(len(Z)):
        z, row, e, least = Z[t], out[t], eta[t], np.inf
        for i in range(len(total)):
            total[i] += z[i]
            least = min(least, total[i])
        for i in range(len(total)):
            row[i] = -e * (total[i] - least)


@njit
def normalize(W: Array) -> None:
    """Divide each row by its sum."""
    for t in range(len(W)):
        row, mass = W[t], 0.0
        for i in range(len(row)):
            mass += row[i]
        share = 1.0 / mass
        for i in range(len(row)):
            row[i] *= share


@njit
def inner(W: Array, Z: Array, out: Array) -> None:
    """⟨w_t, z_t⟩ for every t."""
    for t in range(len(Z)):
        w, z, total = W[t], Z[t], 0.0
        for i in range(len(z)):
            total += w[i] * z[i]
        out[t] = total


@njit
def expansion(K: Array, loss: Any, y: Array, scores: Array, coefficients: Array) -> None:
    """The kernel Perceptron on rounds with the matrix K; `scores` come with what was known before."""
    code, a, b, c = loss
    for t in range(len(y)):
        for s in range(t):
            scores[t] += coefficients[s] * K[s, t]
        coefficients[t] = 0.0 - slope(code, a, b, c, scores[t], y[t])
