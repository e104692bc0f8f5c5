"""The lines of the proofs beyond the lectures, each computed again by loops over the rounds."""

from itertools import product
from math import comb, exp, log, prod, sqrt

import numpy as np
import pytest

from ocolib import bandits, betting, portfolios, theorems
from ocolib.game import play
from ocolib.games import play_game
from ocolib.learners import OGD, Hedge, Perceptron
from ocolib.losses import Quadratic, perceptron_loss
from ocolib.sets import Ball, Space
from ocolib.theorems.logistic import Risk


def agree(chain, lines):
    assert chain.values == pytest.approx(lines, rel=1e-10, abs=1e-10)


def dot(x, y):
    return float(sum(a * b for a, b in zip(x, y, strict=True)))


def square(x):
    return dot(x, x)


def test_exp3_on_average_over_all_paths():
    losses, eta, n, T = np.array([[0.2, 1.0], [0.7, 0.3], [0.0, 0.9]]), 0.6, 2, 3
    regret = second = third = 0.0
    best = int(np.argmin(losses.sum(axis=0)))
    for arms in product(range(n), repeat=T):
        totals, chance, paid, mixed, squares, estimated = [0.0, 0.0], 1.0, 0.0, 0.0, 0.0, 0.0
        for t, arm in enumerate(arms):
            weights = [exp(-eta * L) for L in totals]
            p = weights[arm] / sum(weights)
            guess = losses[t][arm] / p
            chance, paid = chance * p, paid + losses[t][arm]
            mixed, squares = mixed + p * guess, squares + p * guess**2
            estimated += guess if arm == best else 0.0
            totals[arm] += guess
        regret += chance * (paid - min(losses.sum(axis=0)))
        second += chance * (mixed - estimated)
        third += chance * squares
    start = log(2) / eta
    agree(
        theorems.EXP3(n, T, eta).chain(bandits.all_paths(bandits.EXP3(n, eta), losses)),
        [
            regret,
            second,
            start + eta / 2 * third,
            start + eta / 2 * sum(x * x for row in losses for x in row),
            start + eta * n * T / 2,
        ],
    )


def descent(f, eta, T, radius):
    """Play eager descent on one function from 0: (trace, w_1 … w_{T+1}, z_1 … z_T)."""
    trace = play(OGD(Ball(2, radius), eta, "eager"), [f] * T)
    return trace, [*trace.points, trace.last], list(trace.subgradients)


def test_the_average_of_descent():
    f, T, u = Quadratic([0.9, -0.4], 1.5), 5, np.array([0.3, 0.2])
    stated = theorems.AverageIterate(1.0, 2.0, T)
    eta = stated.step
    trace, w, z = descent(f, eta, T, 0.7)
    mean = sum(w[:T]) / T
    agree(
        stated.chain(trace, u),
        [
            f.value(mean) - f.value(u),
            sum(f.value(x) - f.value(u) for x in w[:T]) / T,
            sum(dot(g, x - u) for g, x in zip(z, w, strict=False)) / T,
            (square(w[0] - u) - square(w[T] - u)) / (2 * eta * T) + eta / (2 * T) * sum(map(square, z)),
            1.0 * 2.0 / sqrt(T),
        ],
    )


def test_the_last_play_of_descent():
    f, N, u = Quadratic([0.9, -0.4], 1.5), 4, np.array([0.3, 0.2])
    stated = theorems.LastIterate(1.0, 2.0, N)
    trace, w, z = descent(f, stated.step, N, 0.7)
    M, c, y, total = N + 1, 1.0 / (2.0 * 5**1.5), u, 0.0
    z.append(f.subgradient(trace.last))
    for t in range(1, M):
        y = (w[t - 1] + (M - t) * y) / (M - t + 1)
        total += dot(z[t - 1], w[t - 1] - y) / (M - t)
    agree(
        stated.chain(trace, u),
        [
            f.value(w[N]) - f.value(u),
            total + dot(z[N], w[N] - y),
            square(w[0] - u) / (2 * c * M**2) + c / 2 * sum(map(square, z)),
            2.0 / sqrt(M),
        ],
    )


def test_the_kt_bettor():
    z, eps, u = np.array([[0.5], [-1.0], [-0.25], [0.75]]), 2.0, -1.5
    stated, wealth, C = theorems.CoinBetting(4, 3.0, eps), eps, 0.0
    for t in range(4):
        w = C / (t + 1) * wealth
        wealth, C = wealth - z[t, 0] * w, C - z[t, 0]
    trace = play(betting.KT(epsilon=eps), z)
    agree(
        stated.chain(trace, np.array([u])),
        [
            eps - wealth + u * C,
            u * C - wealth + eps,
            u * C - betting.potential(C, 4, eps) + eps,
            abs(u * C) - eps / 4 * exp(C**2 / 8) + eps,
            3.0 * sqrt(4 * log(1 + (2 * 4 * 3.0 / eps) ** 2)) + eps * (1 - 1 / 4),
        ],
    )


@pytest.mark.parametrize("prior", [1.0, 0.5])
def test_the_universal_portfolio(prior):
    """a_k is the mean wealth of the orders in which asset 1 is held on k days; p_k is the chance of k."""
    X, u, T = [[2.0, 1.0], [0.5, 1.5], [1.0, 3.0]], [0.3, 0.7], 3
    up = {k: prod(i + prior for i in range(k)) for k in range(T + 1)}
    p = [comb(T, k) * up[k] * up[T - k] / prod(i + 2 * prior for i in range(T)) for k in range(T + 1)]
    a = [0.0] * (T + 1)
    for held in product((0, 1), repeat=T):  # 0: asset 1 on that day
        k = held.count(0)
        a[k] += prod(x[i] for x, i in zip(X, held, strict=True)) / comb(T, k)
    ours = sum(p[k] * a[k] for k in range(T + 1))
    peaks = [comb(T, k) * (k / T) ** k * ((T - k) / T) ** (T - k) for k in range(T + 1)]
    theirs = [comb(T, k) * u[0] ** k * u[1] ** (T - k) for k in range(T + 1)]
    trace = play(portfolios.Universal(prior), portfolios.market(X))
    agree(
        theorems.UniversalPortfolio(T, prior).chain(trace, np.array(u)),
        [
            log(prod(dot(u, x) for x in X)) - log(ours),
            log(sum(b * x for b, x in zip(theirs, a, strict=True))) - log(ours),
            log(sum(m * x for m, x in zip(peaks, a, strict=True))) - log(ours),
            max(log(m / q) for m, q in zip(peaks, p, strict=True)),
            log(4) if prior == 1 else log(4**3 / comb(6, 3)),
        ],
    )


def test_exponentiated_gradient():
    X, u, eta = np.array([[1.0, 0.5, 0.7], [0.6, 1.0, 0.9], [0.8, 0.5, 1.0]]), np.array([0.2, 0.5, 0.3]), 0.4
    stated = theorems.ExponentiatedGradient(3, 3, 0.5, eta)
    w, linear, gaps, regret = np.full(3, 1 / 3), 0.0, 0.0, 0.0
    for x in X:
        z = -x / dot(w, x)
        mixed = sum(wi * exp(-eta * zi) for wi, zi in zip(w, z, strict=True))
        linear, gaps = linear + dot(z, w - u), gaps + dot(w, z) + log(mixed) / eta
        regret += log(dot(u, x)) - log(dot(w, x))
        w = w * np.exp(-eta * z) / mixed
    trace = play(portfolios.ExponentiatedGradient(3, eta), portfolios.market(X))
    agree(
        stated.chain(trace, u),
        [regret, linear, gaps + log(3) / eta, log(3) / eta + eta * 3 * 1.0 / 8],
    )


def test_descent_without_a_horizon():
    losses, u = (
        [Quadratic(c) for c in ([0.5, 0.2], [-0.4, 0.3], [0.1, -0.6], [0.2, 0.2])],
        np.array([0.1, -0.3]),
    )
    stated = theorems.DescentAnytime(0.9, 1.6, 4)
    trace = play(OGD(Ball(2, 0.8), stated.step), losses)
    w, z, eta = trace.points, trace.subgradients, [stated.step(t) for t in range(1, 5)]
    h = [eta[0], *eta[:3]]
    agree(
        stated.chain(trace, u),
        [
            sum(f.value(x) - f.value(u) for f, x in zip(losses, w, strict=True)),
            sum(dot(g, x - u) for g, x in zip(z, w, strict=True)),
            sum(s * square(g) for s, g in zip(h, z, strict=True)) / 2 + square(u - w[0]) / (2 * h[3]),
            sum(h) * 1.6**2 / 2 + 0.9**2 / (2 * h[3]),
            0.9 * 1.6 * sqrt(8),
        ],
    )


def test_two_hedges_in_a_matrix_game():
    A = np.array([[0.3, 0.9, 0.5], [0.8, 0.1, 1.0]])
    stated = theorems.HedgeGame(A, 4)
    trace = play_game(A, *stated.players, 4)
    x, y = trace.points[:, :2], trace.points[:, 2:]
    paid = sum(dot(p, A @ q) for p, q in zip(x, y, strict=True))
    rows, columns = paid - min(A @ sum(y)), max(A.T @ sum(x)) - paid
    a, b = sqrt(log(2) / 8), sqrt(log(3) / 8)
    gap = max(A.T @ (sum(x) / 4)) - min(A @ (sum(y) / 4))
    agree(stated.chain(trace), [gap, (rows + columns) / 4, a + columns / 4, a + b])


def test_boosting_as_a_game():
    games = theorems.Boosting.games(np.random.default_rng(7))
    stated, trace, _ = next(game for game in games if game[0].T == 7)
    M, T = stated.matrix, 7
    u = np.full(M.shape[1], 1 / M.shape[1])
    margin = min(sum(trace.subgradients) / T)
    agree(
        stated.chain(trace, u),
        [
            min(M @ u) - margin,
            dot(sum(trace.points) / T, M @ u) - margin,
            sum(dot(w, z) for w, z in zip(trace.points, trace.subgradients, strict=True)) / T - margin,
            sqrt(2 * log(len(M)) / T),
        ],
    )


def test_hedge_without_a_horizon():
    losses, T = np.array([[0.3, 1.0, 0.0], [0.9, 0.1, 0.5], [0.2, 0.2, 0.7], [1.0, 0.0, 0.6]]), 4
    stated = theorems.HedgeAnytime(3, T)
    trace = play(Hedge(3, stated.step), losses)
    h = [2 * sqrt(log(3) / t) for t in range(1, T + 1)]
    L, paid, mixed = np.zeros(3), 0.0, 0.0
    for t in range(T):
        p = np.exp(-h[t] * L) / sum(np.exp(-h[t] * L))
        paid, mixed = paid + dot(p, losses[t]), mixed - log(dot(p, np.exp(-h[t] * losses[t]))) / h[t]
        L = L + losses[t]
    M = -log(sum(np.exp(-h[3] * L)) / 3) / h[3]
    agree(
        stated.chain(trace),
        [
            paid - min(L),
            paid - mixed + M - min(L),
            paid - mixed + log(3) / h[3],
            sum(h) / 8 + log(3) / h[3],
            sqrt(T * log(3)),
        ],
    )


def test_the_logistic_risk_goes_to_0():
    X, u, t, eta = np.array([[1.0, 0.5], [0.8, -0.2], [1.5, 0.4]]), np.array([1.0, 0.0]), 4, 0.9
    risk, gamma, w = Risk(X, np.ones(3)), 0.8, [np.zeros(2)]

    def L(w):
        return sum(log(1 + exp(-dot(x, w))) for x in X) / 3

    for _ in range(t):
        w.append(w[-1] + eta * sum(x / (1 + exp(dot(x, w[-1]))) for x in X) / 3)
    v, start = log(t) / gamma * u, (log(t) / gamma) ** 2 / (2 * eta * t)
    agree(
        theorems.LogisticDescent(gamma, t, eta).chain(play(OGD(Space(2), eta, "eager"), [risk] * t), u),
        [
            L(w[t]),
            sum(map(L, w[1:])) / t,
            L(v) + start - square(w[t] - v) / (2 * eta * t),
            L(v) + start,
            log(1 + 1 / t) + start,
            1 / t + start,
        ],
    )


X = np.array([[1.0, 0.5], [-0.5, 1.0], [1.5, 0.25], [0.25, -1.0], [-1.0, -2.0], [0.5, 0.5]])
Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])


def test_the_mistake_bound_from_another_start():
    start, u, R, gamma = np.array([-0.4, 0.3]), np.array([0.6, 0.8]), 2.5, 0.1
    along, length = dot(start, u), sqrt(square(start))
    w, M = start, 0
    for x, y in zip(X, Y, strict=True):
        if y * dot(w, x) <= 0:
            w, M = w + y * x, M + 1

    def root(square):  # the larger M' with (γM' + along)² = square − R²M + R²M'
        a, b, c = gamma**2, 2 * gamma * along - R**2, along**2 - square + R**2 * M
        return (-b + sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a)

    trace = play(OGD(Space(2), 1.0, start=start), perceptron_loss(X, Y))
    assert M > 2
    agree(
        theorems.PerceptronFrom(R, gamma, along, length).chain(trace, u),
        [
            M,
            root((gamma * M + along) ** 2),
            root(max(dot(w, u), 0.0) ** 2),
            root(square(w)),
            root(length**2 + R**2 * M),
        ],
    )


def test_the_mistake_bound_with_ties():
    k, R, gamma, u = 0.5, 2.5, 0.1, np.array([0.6, 0.8])
    w, whole, tied = np.zeros(2), 0, 0
    for x, y in zip(X, Y, strict=True):
        margin = y * dot(w, x)
        if margin <= 0:
            w = w + (k if margin == 0 else 1.0) * y * x
            whole, tied = whole + (margin < 0), tied + (margin == 0)
    a = whole + k * tied
    trace = play(Perceptron(2, kink=k), perceptron_loss(X, Y))
    assert whole and tied
    agree(
        theorems.PerceptronTies(R, gamma, k).chain(trace, u),
        [
            whole + tied,
            ((1 + k) * a - square(w) / R**2) / k,
            ((1 + k) * a - dot(w, u) ** 2 / R**2) / k,
            ((1 + k) * a - (gamma * a / R) ** 2) / k,
            (1 + k) ** 2 / (4 * k) * (R / gamma) ** 2,
        ],
    )
