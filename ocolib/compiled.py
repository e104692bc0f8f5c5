"""The rounds of long games, compiled by numba: the plays of the loops, up to rounding, much sooner.

Nothing here is imported before a game is long enough or asks for it; without numba only who asks is refused.
The slopes are the formulas of `phi`, compiled as they stand. Sets, losses and rules are handed over as
numbers: a function as an argument would be compiled anew in every process.
"""

from math import factorial, log
from typing import Any

import numba
import numpy as np

from ocolib import phi
from ocolib.protocols import Array

SPACE, BALL, CLIP, HALFSPACE, SIMPLEX, L1 = range(6)
EAGER, LAZY, SOFTMAX, POWER = range(4)  #: a step from the play, or what a leader does with the sum
KINKED, TUBE, LINEAR = -1, -2, -3  #: other codes are places in SMOOTH
SMOOTH = phi.SQUARED_HINGE, phi.EXPONENTIAL, phi.LOGISTIC, phi.LEAST_SQUARES, phi.HUBER, phi.POISSON
LN2, LEAST = log(2.0), -708.0  #: exp(LEAST) is just above the smallest normal number
TAYLOR = tuple(1.0 / factorial(k) for k in range(13, -1, -1))
ROUNDED = 1.5 * 2.0**52  #: a whole number added to it stands in the last bits

# sums and products may be regrouped, a zero may lose its sign; nothing else: nan stays nan, nothing is fused
njit = numba.njit(cache=True, fastmath={"reassoc", "nsz"}, error_model="numpy")
exact = numba.njit(cache=True, error_model="numpy")

kinked, tube = exact(phi.kinked_slope), exact(phi.tube_slope)
squared_hinge, exponential, logistic, least_squares, huber, poisson = (exact(f.derivative) for f in SMOOTH)


@exact
def slope(code: int, a: float, b: float, c: float, p: float, y: float) -> float:
    """φ'(p, y), at a kink the slope chosen there, of the loss with this code and these constants."""
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


@njit
def power(x: float) -> float:
    """exp(max(x, LEAST)) for x ≤ 0: 2^k·exp(r), |r| ≤ ½·log 2; several x at once where the processor can."""
    k = np.rint(max(x, LEAST) / LN2)
    r, p = max(x, LEAST) - k * LN2, 0.0
    for c in TAYLOR:
        p = p * r + c
    return p * np.int64((np.float64(k + ROUNDED).view(np.int64) + 1023) << 52).view(np.float64)


@njit
def inner(a: Array, b: Array) -> float:
    """⟨a, b⟩."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


# ---------------------------------------------------------------- sets


@njit
def level(v: Array, total: float) -> float:
    """θ with Σ max(v_i − θ, 0) = total, where max v = 0 < total: drop what is ≤ θ until nothing is."""
    theta, kept = -np.inf, len(v) + 1
    while True:
        mass, count = 0.0, 0
        for u in v:
            if u > theta:
                mass += u
                count += 1
        if not 0 < count < kept:  # nothing but nan is left, or nothing was dropped
            return theta
        theta, kept = (mass - total) / count, count


@njit
def project(over: Any, w: Array) -> None:
    """Replace w by the nearest point of the set."""
    (kind, size, a, b), n = over, len(w)
    if kind == BALL:
        square = 0.0
        for i in range(n):
            square += (w[i] - a[i]) * (w[i] - a[i])
        if square > size * size:
            shrink = size / np.sqrt(square)
            for i in range(n):
                w[i] = a[i] + shrink * (w[i] - a[i])
    elif kind == CLIP:
        for i in range(n):
            w[i] = min(max(w[i], a[i]), b[i])
    elif kind == HALFSPACE:
        excess = max(inner(a, w) - size, 0.0)
        for i in range(n):
            w[i] -= excess * a[i]
    elif kind == SIMPLEX:
        w -= w.max()
        theta = level(w, size)
        for i in range(n):
            w[i] = max(w[i] - theta, 0.0)
    elif kind == L1 and np.abs(w).sum() > size:
        below = np.abs(w) - np.abs(w).max()
        theta = level(below, size)
        for i in range(n):
            w[i] = np.copysign(max(below[i] - theta, 0.0), w[i])


@njit
def softmax(e: float, total: Array, w: Array) -> None:
    """exp(−e·total), divided by its sum: put into w."""
    least, mass = np.inf, 0.0
    for i in range(len(w)):
        least = min(least, total[i])
    for i in range(len(w)):
        w[i] = power(-e * (total[i] - least))
        mass += w[i]
    mass = 1.0 / mass
    for i in range(len(w)):
        w[i] *= mass


@njit
def lead(rule: int, e: float, start: Array, total: Array, over: Any, w: Array) -> None:
    """The play of a leader after gradients of sum `total`, put into w."""
    if rule == SOFTMAX:
        softmax(e, total, w)
    elif rule == POWER:
        for i in range(len(w)):
            w[i] = e ** -total[i]
    else:
        for i in range(len(w)):
            w[i] = start[i] - e * total[i]
        project(over, w)


# ---------------------------------------------------------------- games


@njit
def linear(
    Z: Any, how: Any, radius: Any, low: Any, high: Any, over: Any, w: Any, total: Any, points: Any, paid: Any
) -> float:
    """Play ⟨z_t, w⟩ from w, and return Σ‖z_t‖²; a leader has a `total`, the sum of gradients so far.

    The set is a ball round 0 of this `radius`, a box from `low` to `high`, one to be projected `over`, or, if
    all are None, all of space; what is None costs nothing. Putting w back into the ball waits for the next
    round, which reads every coordinate anyway. `points` has T rows, or one that is overwritten.
    """
    (T, n), keep, (eta, rule, start) = Z.shape, len(points) == len(Z), how
    shrink, moved, last = 1.0, 0.0, len(eta) - 1
    for t in range(T):
        z, e, pay, square, row = Z[t], eta[min(t, last)], 0.0, 0.0, points[t if keep else 0]
        for i in range(n):
            v = w[i] if radius is None else shrink * w[i]
            row[i] = v
            pay += v * z[i]
            moved += z[i] * z[i]
            if total is None:
                v -= e * z[i]
            else:
                total[i] += z[i]
                v = start[i] - e * total[i]
            if low is not None:
                v = min(max(v, low[i]), high[i])
            w[i] = v
            if radius is not None:
                square += v * v
        paid[t] = pay
        if radius is not None:
            shrink = radius / np.sqrt(square) if square > radius * radius else 1.0
        if over is not None:
            project(over, w)
        if total is not None and rule == SOFTMAX:
            softmax(e, total, w)
    w *= shrink
    return moved


@njit
def answer(code: Any, a: float, b: float, c: float, p: float, y: float) -> tuple[float, float]:
    """(φ', φ) at p of the kinked loss, whose code is None here; of others (φ', 0), φ is added later."""
    if code is None:
        m = y * (p - c)
        return kinked(m, y, a, b), max(a - m, 0.0)
    return slope(code, a, b, c, p, y), 0.0


@njit
def descent(X: Any, y: Any, code: Any, reg: Any, how: Any, w: Any, kept: Any, out: Any) -> None:
    """What `examples` plays, on all of space, by an eager learner who hears at once; `out` has no slopes.

    The play is scale·w: a step on ½·reg·‖w‖² changes the scale alone. The next prediction does not wait for
    the step: ⟨w − s·x, x'⟩ = ⟨w, x'⟩ − s·⟨x, x'⟩.
    """
    (T, n), (a, b, c, eta), (predictions, paid) = X.shape, how, out
    scale, square, ahead, last = 1.0, inner(w, w), inner(w, X[0]), len(eta) - 1
    for t in range(T):
        x, after, e, p = X[t], X[min(t + 1, T - 1)], eta[min(t, last)], scale * ahead
        if kept is not None:
            for i in range(n):
                kept[t, i] = scale * w[i]
        g, pay = answer(code, a, b, c, p, y[t])
        predictions[t], paid[t] = p, pay if reg is None else pay + 0.5 * reg * scale * scale * square
        if reg is not None:
            scale *= 1.0 - e * reg
            if not 1e-9 < abs(scale) < 1e9:
                square *= scale * scale
                for i in range(n):
                    w[i] *= scale
                scale = 1.0
        step, ahead, cross = e / scale * g, 0.0, 0.0
        for i in range(n):
            ahead += w[i] * after[i]
            cross += x[i] * after[i]
        ahead -= step * cross
        if g != 0.0 or n < 32:  # few numbers are changed sooner than a guess that fails is taken back
            square = 0.0
            for i in range(n):
                v = w[i] - step * x[i]
                w[i] = v
                square += v * v
    w *= scale


@njit
def examples(
    X: Any, y: Any, code: Any, reg: Any, how: Any, over: Any, w: Any, sums: Any, kept: Any, out: Any, lag: Any
) -> None:
    """Play φ(⟨w, x_t⟩, y_t) + ½·reg·‖w‖² from w; `out` is filled with predictions, payments (φ only if
    it is the kinked one) and slopes (if there is a `lag`).

    What a game does without is None, and costs nothing: the `code` of a loss other than the kinked one,
    `reg`, a set to stay `over`, the `sums` of a leader (who has a set, if only all of space), plays to be
    `kept`, a `lag`, (due, order), if gradients come late: the k-th to arrive is that of round order[k], and
    after round t all k < due[t] have arrived (t and k from 0).
    """
    (T, n), (a, b, c, eta, rule, start), (predictions, paid, slopes) = X.shape, how, out
    before, last = 0, len(eta) - 1
    for t in range(T):
        x, e, p = X[t], eta[min(t, last)], inner(w, X[t])
        if kept is not None:
            for i in range(n):
                kept[t, i] = w[i]
        g, pay = answer(code, a, b, c, p, y[t])
        predictions[t], paid[t] = p, pay if reg is None else pay + 0.5 * reg * inner(w, w)
        if lag is not None:
            slopes[t] = g
            for k in range(before, lag[0][t]):
                s, e = lag[1][k], eta[min(k, last)]
                for i in range(n):
                    w[i] -= e * (slopes[s] * X[s, i] + (0.0 if reg is None else reg * kept[s, i]))
                if over is not None:
                    project(over, w)
            before = lag[0][t]
        elif sums is not None:
            if g != 0.0 or reg is not None or t == 0 or e != eta[min(t, last) - 1]:
                for i in range(n):
                    sums[i] += g * x[i] + (0.0 if reg is None else reg * w[i])
                lead(rule, e, start, sums, over, w)
        elif g != 0.0 or reg is not None:
            for i in range(n):
                w[i] = (w[i] if reg is None else (1.0 - e * reg) * w[i]) - e * g * x[i]
            if over is not None:
                project(over, w)


@njit
def expansion(K: Array, loss: Any, y: Array, scores: Array, coefficients: Array) -> None:
    """The kernel Perceptron on rounds with the matrix K; `scores` come with what was known before."""
    code, a, b, c = loss
    for t in range(len(y)):
        for s in range(t):
            scores[t] += coefficients[s] * K[s, t]
        coefficients[t] = 0.0 - slope(code, a, b, c, scores[t], y[t])
