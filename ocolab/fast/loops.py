"""Compile the rounds of long games with numba; the plays agree with the ordinary loop up to rounding.

Only `ocolab.fast` imports this module. Sets, losses and rules are passed as numbers, because numba would have
to compile a function passed as an argument again in every process. A feature that a game does not use is
passed as None and costs nothing, because numba compiles one version for each combination.
"""

from math import exp, factorial, log
from typing import Any

import numba
import numpy as np

from ocolab.fast import BALL, CLIP, HALFSPACE, KINKED, L1, LINEAR, POWER, SIMPLEX, SOFTMAX, TUBE
from ocolib.types import Array

LN2, LEAST = log(2.0), -708.0  #: exp(LEAST) is just above the smallest normal float
TAYLOR = tuple(1.0 / factorial(k) for k in range(13, -1, -1))
ROUNDED = 1.5 * 2.0**52  #: adding an integer to it stores that integer in the last bits of the float

# sums and products may be reordered and a zero may lose its sign; nan stays nan, and nothing is fused
njit = numba.njit(cache=True, fastmath={"reassoc", "nsz"}, error_model="numpy")
exact = numba.njit(cache=True, error_model="numpy")


@exact
def kinked(m: float, y: float, bend: float, kink: float) -> float:
    """Return the slope of max(0, bend − m), m = y·p: −y below the bend, −kink·y at it, 0 above."""
    if m < bend:
        return -y
    return -kink * y if m == bend else 0.0


@exact
def slope(code: int, a: float, b: float, c: float, p: float, y: float) -> float:
    """Return φ'(p, y) of the loss with this code and constants; at a kink, the slope chosen there."""
    if code == KINKED:
        return kinked(y * (p - c), y, a, b)
    if code == TUBE:  # up, down, eps
        return a if p - y > c else (-b if p - y < -c else 0.0)
    if code == LINEAR:
        return 1.0
    if code == 0:  # squared hinge
        return -y * max(0.0, 1.0 - y * p)
    if code == 1:  # exponential
        return -y * np.exp(-y * p)
    if code == 2:  # logistic, −y/(1 + e^m): written so that no exponential overflows
        m = y * p
        return -y / (1.0 + exp(m)) if m < 0.0 else -y * exp(-m) / (1.0 + exp(-m))
    if code == 3:  # least squares
        return p - y
    if code == 4:  # Huber
        return min(max(p - y, -1.0), 1.0)
    return np.exp(p) - y  # Poisson


@njit
def power(x: float) -> float:
    """Return exp(max(x, LEAST)) for x ≤ 0 as 2^k·exp(r), |r| ≤ ½·log 2, in a form that vectorises."""
    k = np.rint(max(x, LEAST) / LN2)
    r, p = max(x, LEAST) - k * LN2, 0.0
    for c in TAYLOR:
        p = p * r + c
    return p * np.int64((np.float64(k + ROUNDED).view(np.int64) + 1023) << 52).view(np.float64)


@njit
def inner(a: Array, b: Array) -> float:
    """Return the inner product ⟨a, b⟩."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


# ---------------------------------------------------------------- sets


@njit
def level(v: Array, total: float) -> float:
    """Return θ with Σ max(v_i − θ, 0) = total > 0, where max v = 0: drop entries ≤ θ until none is left."""
    theta, kept = -np.inf, len(v) + 1
    while True:
        mass, count = 0.0, 0
        for u in v:
            if u > theta:
                mass += u
                count += 1
        if not 0 < count < kept:  # all entries are nan, or none was dropped
            return theta
        theta, kept = (mass - total) / count, count


@njit
def project(over: Any, w: Array) -> None:
    """Project w onto the set, in place."""
    (kind, size, a, b), n = over, len(w)
    if kind == BALL:
        square = 0.0
        for i in range(n):
            square += (w[i] - a[i]) * (w[i] - a[i])
        if square > size * size:
            shrink = size / np.sqrt(square) if square < np.inf else np.nan
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
    """Write softmax(−e·total) into w."""
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
    """Write the play of a leader after gradients with sum `total` into w."""
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
) -> None:
    """Play linear losses ⟨z_t, w⟩ starting from w, which holds the next play afterwards.

    `how` is (step sizes, move, start): one step size for all rounds or one per round, and `Rule.move` and
    `Rule.start` of the learner.

    `total` is the sum of gradients so far for a leader, None for eager descent. The set is a ball around 0
    (`radius`), a box (`low`, `high`), any other set (`over`), or the whole space if all of these are None.
    Payments are written into `paid`, plays into `points` unless it is None. The projection onto a ball is
    only a factor, which is applied in the next round, when every coordinate is read anyway. On the simplex
    the smallest entry of z_t is subtracted from all entries: no play changes, and a large common offset
    causes no rounding errors.
    """
    (T, n), (eta, rule, start) = Z.shape, how
    shrink, last = 1.0, len(eta) - 1
    for t in range(T):
        z, e, pay, square, least = Z[t], eta[min(t, last)], 0.0, 0.0, 0.0
        if (total is not None and rule == SOFTMAX) or (over is not None and over[0] == SIMPLEX):
            least = np.inf
            for i in range(n):
                least = min(least, z[i])
        for i in range(n):
            v = w[i] if radius is None else shrink * w[i]
            if points is not None:
                points[t, i] = v
            pay += v * z[i]
            if total is None:
                v -= e * (z[i] - least)
            else:
                total[i] += z[i] - least
                v = start[i] - e * total[i]
            if low is not None:
                v = min(max(v, low[i]), high[i])
            w[i] = v
            if radius is not None:
                square += v * v
        paid[t] = pay
        if radius is not None:
            shrink = radius / np.sqrt(square) if square > radius * radius else 1.0
            if square == np.inf:  # overflow: nan makes the caller notice
                shrink = np.nan
        if over is not None:
            project(over, w)
        if total is not None and rule == SOFTMAX:
            softmax(e, total, w)
    w *= shrink


@njit
def answer(code: Any, a: float, b: float, c: float, p: float, y: float) -> tuple[float, float]:
    """Return (φ', φ) at p for the kinked loss (code None), else (φ', 0), and the caller adds φ."""
    if code is None:
        m = y * (p - c)
        return kinked(m, y, a, b), max(a - m, 0.0)
    return slope(code, a, b, c, p, y), 0.0


@njit
def descent(
    X: Any,
    y: Any,
    code: Any,
    reg: Any,
    how: Any,
    w: Any,
    points: Any,
    predictions: Any,
    paid: Any,
) -> None:
    """Play φ(⟨w, x_t⟩, y_t) + ½·reg·‖w‖² by eager descent on the whole space, starting from w.

    `how` is (a, b, c, step sizes), with the constants of the loss from `code`.

    The play is scale·w, so that a step on ½·reg·‖w‖² changes only the scale. The next prediction is computed
    in the same pass as the step, from ⟨w − s·x, x'⟩ = ⟨w, x'⟩ − s·⟨x, x'⟩. Plays are written into `points`
    unless it is None.
    """
    (T, n), (a, b, c, eta) = X.shape, how
    scale, square, ahead, last = 1.0, inner(w, w), inner(w, X[0]), len(eta) - 1
    for t in range(T):
        x, after, e, p = X[t], X[min(t + 1, T - 1)], eta[min(t, last)], scale * ahead
        g, pay = answer(code, a, b, c, p, y[t])
        predictions[t], paid[t] = p, pay if reg is None else pay + 0.5 * reg * scale * scale * square
        ahead, cross = 0.0, 0.0
        for i in range(n):
            if points is not None:
                points[t, i] = scale * w[i]
            ahead += w[i] * after[i]
            cross += x[i] * after[i]
        if reg is not None:
            scale *= 1.0 - e * reg
            if not 1e-9 < abs(scale) < 1e9:
                square *= scale * scale
                ahead *= scale
                for i in range(n):
                    w[i] *= scale
                scale = 1.0
        step = e / scale * g
        ahead -= step * cross
        if g != 0.0 or n < 32:  # for few coordinates a mispredicted branch costs more than the loop
            square = 0.0
            for i in range(n):
                v = w[i] - step * x[i]
                w[i] = v
                if reg is not None:
                    square += v * v
    w *= scale


@njit
def examples(
    X: Any,
    y: Any,
    code: Any,
    reg: Any,
    how: Any,
    over: Any,
    w: Any,
    sums: Any,
    points: Any,
    lag: Any,
    predictions: Any,
    paid: Any,
) -> None:
    """Play φ(⟨w, x_t⟩, y_t) + ½·reg·‖w‖² from w, by any learner: over a set, as a leader, or with delays.

    `how` is (a, b, c, step sizes, move, start).

    `sums` is the sum of gradients for a leader, which always has a set `over` (possibly the whole space);
    None for eager descent. Plays are written into `points` unless it is None. `paid` receives φ only for the
    kinked loss; the caller adds the φ of other losses. `lag` is (due, order) if gradients arrive late: the
    k-th to arrive is that of round order[k], and after round t all k < due[t] have arrived, counted from 0.
    """
    (T, n), (a, b, c, eta, rule, start) = X.shape, how
    before, last, heard = 0, len(eta) - 1, np.empty(0 if lag is None else len(X))
    for t in range(T):
        x, e, p = X[t], eta[min(t, last)], inner(w, X[t])
        g, pay = answer(code, a, b, c, p, y[t])
        if points is not None:
            for i in range(n):
                points[t, i] = w[i]
        predictions[t], paid[t] = p, pay if reg is None else pay + 0.5 * reg * inner(w, w)
        if lag is not None:
            heard[t] = g
            for k in range(before, lag[0][t]):
                s, e = lag[1][k], eta[min(k, last)]
                for i in range(n):
                    w[i] -= e * (heard[s] * X[s, i] + (0.0 if reg is None else reg * points[s, i]))
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
    """Play the kernel Perceptron on a block with kernel matrix K; earlier blocks are in `scores` already."""
    code, a, b, c = loss
    for t in range(len(y)):
        for s in range(t):
            scores[t] += coefficients[s] * K[s, t]
        coefficients[t] = 0.0 - slope(code, a, b, c, scores[t], y[t])
