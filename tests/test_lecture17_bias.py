"""Lecture 17, section 17.4: where gradient descent goes, on other data than the page's."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocolib import oracle, theorems
from ocolib.losses import least_squares, logistic
from ocolib.phi import EXPONENTIAL, LOGISTIC

#: rows y_i x_i in space; the last two points are far from the boundary
A = np.array([[1.0, 2.0, 0.3], [1.0, -1.0, 1.0], [1.0, 0.2, -2.0], [5.0, 1.0, 1.0], [4.0, -2.0, 0.5]])
N = len(A)
SMOOTH = LOGISTIC.smooth * np.linalg.norm(A, 2) ** 2 / N


def risk(w, A=A):
    return LOGISTIC.value(np.asarray(w) @ A.T, 1.0).mean(axis=-1)


def margin(w, A=A):
    return (np.asarray(w) @ A.T).min(axis=-1) / np.linalg.norm(w, axis=-1)


def descend(T, step, w=None, A=A, keep=()):
    """Gradient descent on the risk; the iterates at the steps in `keep`, and the last."""
    w, kept = np.zeros(A.shape[1]) if w is None else np.array(w, dtype=float), {}
    for t in range(1, T + 1):
        with np.errstate(over="ignore"):
            w = w + step(t) * (A.T @ (1 / (1 + np.exp(A @ w)))) / len(A)
        if t in keep:
            kept[t] = w
    return (w, kept) if keep else w


def svm(A):
    """(γ̄, direction, dual weights), the duals from the optimality conditions on the support vectors."""
    u, best = oracle.max_margin(A, np.ones(len(A)))
    support = np.flatnonzero(A @ u < best + 1e-5)
    alpha = np.zeros(len(A))
    alpha[support] = np.linalg.solve(A[support] @ A[support].T, np.ones(len(support)))
    assert alpha.min() >= 0 and np.allclose(alpha @ A, u / best, atol=1e-5)
    return best, u, alpha


BEST, DIRECTION, ALPHA = svm(A)
MARKS = (10, 100, 1000, 10000, 100000)


@cache
def path():
    return descend(MARKS[-1], lambda t: 1 / SMOOTH, keep=MARKS)[1]


def after(t=MARKS[-1]):
    """The iterate after t steps, t one of the marks."""
    return path()[t]


def test_the_data_are_as_described():
    assert (ALPHA > 0).sum() == 3 and len(set(ALPHA[:3].round(6))) == 3


@pytest.mark.parametrize("consistent", [True, False])
def test_least_squares_from_0_finds_the_shortest_solution(consistent):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((6, 15))
    if not consistent:
        X[5] = X[4]  # two equal rows, two different answers: no interpolant
    y, sigma = rng.standard_normal(6), np.linalg.norm(X, 2)
    squares = least_squares(X, y)

    def run(beta, step, T=4000):
        for _ in range(T):
            beta = beta - step * squares.subgradients(beta).sum(axis=0)
        return beta

    shortest = np.linalg.pinv(X) @ y
    assert np.allclose(run(np.zeros(15), 1 / sigma**2), shortest, atol=1e-8)
    assert np.allclose(run(X.T @ rng.standard_normal(6), 1.5 / sigma**2), shortest, atol=1e-8)
    start = rng.standard_normal(15)
    unseen = start - np.linalg.pinv(X) @ (X @ start)
    assert np.allclose(run(start, 1 / sigma**2) - shortest, unseen, atol=1e-8)
    assert np.linalg.norm(unseen) > 1
    assert np.linalg.norm(run(np.zeros(15), 2.05 / sigma**2, 1000)) > 1e6


def test_squared_parameters_and_their_conditions():
    d, n, k = 60, 35, 2

    def run(theta, alpha, n=n):
        X = np.random.default_rng(7).standard_normal((n, d))
        squares, beta = least_squares(X, X @ theta), np.full(d, float(alpha))
        for _ in range(3000):
            beta = beta - 0.05 * squares.subgradients(beta**2).mean(axis=0) * beta
        return np.linalg.norm(beta**2 - theta)

    sparse = np.where(np.arange(d) < k, 1.5, 0.0)
    errors = [run(sparse, alpha) for alpha in (1e-3, 1e-2, 1e-1, 1.0)]
    assert errors[0] < 0.02 and (np.diff(errors) > 0).all() and errors[3] > 0.5
    assert run(sparse, 0.0) == np.linalg.norm(sparse)
    assert run(-sparse, 1e-3) > 1
    assert run(np.where(np.arange(d) < 12, 1.0, 0.0), 1e-3, n=10) > 1


def test_gradient_smoothness_and_no_overflow():
    w, h = np.array([0.4, -0.2, 0.7]), 1e-6
    gradient = logistic(A, np.ones(N)).subgradients(w).mean(axis=0)
    slopes = [(risk(w + h * e) - risk(w - h * e)) / (2 * h) for e in np.eye(3)]
    assert np.allclose(slopes, gradient, atol=1e-8)
    assert np.allclose(descend(1, lambda t: 0.3, w=w), w - 0.3 * gradient)
    weights = np.exp(A @ w) / (1 + np.exp(A @ w)) ** 2
    assert np.linalg.eigvalsh(A.T @ (weights[:, None] * A) / N).max() <= SMOOTH
    assert risk([-1e4, 0, 0]) > 1e3 and np.isfinite(risk([[1e4, 0, 0], [-1e4, 0, 0]])).all()


def test_margin_is_a_number_of_the_direction():
    for w in (np.array([1.0, 0.1, -0.2]), DIRECTION):
        assert np.isclose(margin(w), margin(37 * w)) and margin(w) > 0 > margin(-w)
        assert np.isclose(margin(w), logistic(A, np.ones(N)).margins(w / np.linalg.norm(w)).min())


def test_maximum_margin_by_search():
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((200000, 3))
    assert margin(directions).max() <= BEST + 1e-6 and margin(directions).max() > 0.99 * BEST
    assert np.isclose(margin(DIRECTION), BEST) and np.isclose(ALPHA.sum(), 1 / BEST**2)


def test_separators_are_many_but_not_on_a_line():
    rng = np.random.default_rng(1)
    near = DIRECTION + 0.5 * BEST / np.linalg.norm(A, axis=1).max() * rng.uniform(-0.5, 0.5, (500, 3))
    assert (margin(near) > 0).all()
    line = np.array([[2.0], [3.0]])
    assert [w for w in (-1.0, 1.0) if margin(np.array([w]), line) > 0] == [1.0]


def test_separable_means_through_the_origin():
    X, y = np.array([[2.0], [5.0]]), np.array([-1.0, 1.0])  # a threshold at 3.5 separates them
    with pytest.raises(ValueError, match="separable by a hyperplane through 0"):
        oracle.max_margin(X, y)
    assert oracle.max_margin(np.hstack([X, np.ones((2, 1))]), y)[1] > 0
    w = descend(5000, lambda t: 0.1, A=y[:, None] * X)
    assert np.linalg.norm(w) < 2 and risk(w, y[:, None] * X) > 0.5  # a minimiser, and no margin


def test_no_global_minimum():
    rng = np.random.default_rng(2)
    for w in DIRECTION + 0.05 * rng.standard_normal((20, 3)):
        values = risk(np.outer([1, 10, 100], w))
        assert (np.diff(values) < 0).all() and (values > 0).all() and values[-1] < 1e-10


def test_theorem_17_4():
    """The gap falls, times log t it settles at γ̄(γ̄²Σα_i b_i − min b), b_i = −log(nα_i/η)."""
    gaps = np.array([BEST - margin(after(t)) for t in MARKS])
    assert (gaps > 0).all() and (np.diff(gaps) < 0).all()
    b = -np.log(N * ALPHA[:3] * SMOOTH)
    constant = BEST * (BEST**2 * ALPHA[:3] @ b - b.min())
    scaled = gaps * np.log(MARKS)
    assert np.abs(np.diff(scaled - constant)).min() < 0.05 and 0.7 < constant / scaled[-1] < 1.3
    assert (np.diff(np.abs(scaled - constant))[1:] < 0).all()
    assert np.isclose(1e5 * risk(after()) / SMOOTH, 1 / BEST**2, rtol=1e-2)


@pytest.mark.parametrize("share", [0.1, 1.9])
def test_any_constant_step_below_2_over_the_smoothness(share):
    start = np.array([-1.0, 2.0, 0.5])
    early, late = (descend(T, lambda t: share / SMOOTH, w=start) for T in (300, 10000))
    assert margin(late) > margin(early) and margin(late) > 0.8 * BEST


def test_summable_steps_stop_short():
    a, b = (descend(T, lambda t: 1 / t**2) for T in (2000, 8000))
    assert np.linalg.norm(a - b) < 1e-3 and BEST - margin(b) > 10 * abs(margin(a) - margin(b)) + 0.01


def test_it_takes_very_long_and_regularisation_ends_elsewhere():
    assert BEST - margin(after()) > 0.01  # after 100 000 steps
    w = np.zeros(3)
    for _ in range(20000):
        w = w + (A.T @ (1 / (1 + np.exp(A @ w))) / N - 0.05 * w) / SMOOTH
    assert BEST - margin(w) > 2 * (BEST - margin(after())) and np.linalg.norm(w) < np.linalg.norm(after()) / 2


def test_step_1_bound():
    t = np.array(MARKS)
    risks = np.array([risk(after(k)) for k in MARKS])
    assert (risks <= theorems.LogisticDescent(BEST, t, 1 / SMOOTH).bound).all()
    for u in 3 * np.random.default_rng(3).standard_normal((50, 3)):  # against every comparator
        assert (risks <= risk(u) + u @ u * SMOOTH / (2 * t) + 1e-12).all()


def test_step_2_norm_grows_like_a_logarithm():
    sizes = np.array([np.linalg.norm(after(t)) for t in MARKS])
    slopes = np.diff(sizes) / np.log(10)
    assert (np.diff(sizes) > 0).all() and np.isclose(slopes[-1], 1 / BEST, rtol=0.01)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_step_3_small_risk_separates(seed):
    w = 5 * np.random.default_rng(seed).standard_normal(3)
    assert risk(w) >= np.log(2) / N or margin(w) > 0


def test_step_3_constant_is_the_right_one():
    """Just above log(2)/n a point can be on the boundary."""
    w = np.array([200.0, 0.0])
    data = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert margin(w, data) == 0 and np.isclose(risk(w, data), np.log(2) / 2)


def test_step_4_the_tail_is_exponential():
    z = np.geomspace(1e-3, 700, 500)
    ratio = LOGISTIC.value(z, 1.0) / EXPONENTIAL.value(z, 1.0)
    assert (
        (ratio <= 1 + 1e-15).all() and (ratio >= 1 - np.exp(-z) / 2 - 1e-15).all() and ratio.min() > np.log(2)
    )
    assert np.isclose(LOGISTIC.value(5.0, 1.0) / EXPONENTIAL.value(5.0, 1.0), 0.99665, atol=1e-5)


def active_share(w, tol=1e-9):
    m = A @ w
    parts = np.exp(-(m - m.min()))
    active = m <= m.min() + tol * np.linalg.norm(w)
    return parts[active].sum() / parts.sum(), active.sum(), np.sort(m)[active.sum()] - m.min()


def test_step_5_for_a_fixed_direction():
    for direction in (DIRECTION + np.array([0.02, 0.01, 0.03]), np.array([1.0, 0.0, 0.0])):
        u = direction / np.linalg.norm(direction)
        shares = []
        for q in (5.0, 50.0, 5000.0):
            share, k, q_eps = active_share(q * u)
            assert 0 <= 1 / share - 1 <= (N - k) / k * np.exp(-q_eps) + 1e-12
            shares.append(share)
            exact = np.exp(-(A @ (q * u)).min())
            assert (np.exp(-np.sort(A @ (q * u))[k:]) <= exact * np.exp(-q_eps) * (1 + 1e-9)).all()
        assert np.isclose(shares[-1], 1)


def test_step_5_along_gradient_descent():
    """One point is active; its share tends to max α/Σα, and all shares to the dual weights."""
    share, k, q_eps = active_share(after())
    top = np.sort(ALPHA)[::-1]
    assert k == 1 and np.isclose(share, top[0] / top.sum(), atol=2e-3) and share < 0.9
    assert np.isclose(q_eps, np.log(top[0] / top[1]), atol=2e-2)
    parts = np.exp(-(A @ after()))
    assert np.allclose(parts / parts.sum(), ALPHA / ALPHA.sum(), atol=2e-3)


def test_active_points_are_those_of_the_present_w():
    w = np.array([1.0, 0.1, 0.1])
    margins = A @ w / np.linalg.norm(w)
    assert np.isclose(margins, margin(w)).sum() == 1 and not np.isclose(margins, BEST, atol=1e-3).any()


def test_large_norm_alone_gives_no_margin_but_the_minimiser_at_that_norm_has_it():
    assert margin(1e6 * np.array([1.0, 0.6, -0.6])) < 0.2 * BEST
    limit = np.log(N / np.log(2))
    for q in (1.5 * limit / BEST, 10.0, 40.0):
        w = q * DIRECTION
        for t in range(4000):  # projected descent on the sphere, scaled by the risk so that it moves
            pull = A.T @ (1 / (1 + np.exp(A @ w)))
            w = w + q / (10 + t) * pull / np.linalg.norm(pull)
            w *= q / np.linalg.norm(w)
        assert risk(w) <= risk(q * DIRECTION) + 1e-15
        assert margin(w) >= BEST - limit / q


@pytest.mark.parametrize("data", [A, A[:3] * 0.2, np.array([[2.0, -1.0], [0.5, 3.0]])])
def test_the_flow_of_the_exponential_loss_line_by_line(data):
    """γ(w) ≥ γ̄ − log n/‖w‖ and γ̄‖w‖ ≥ log(1/n + γ̄²t) along dw/dτ = v, dt = dτ/F, with four lines between.

    The state is w, the length of the path and the time.
    """
    best, n, d = oracle.max_margin(data, np.ones(len(data)))[1], *data.shape

    def speed(state):
        parts = EXPONENTIAL.value(data @ state[:d], 1.0)
        v = parts @ data / parts.sum()
        return np.array([*v, np.linalg.norm(v), 1 / parts.sum()])

    state, h = np.zeros(d + 2), 0.1 / np.linalg.norm(data, 2) ** 2
    for step in range(2000):
        k1 = speed(state)
        k2 = speed(state + h / 2 * k1)
        k3 = speed(state + h / 2 * k2)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + speed(state + h * k3))
        if step % 100 == 99:
            w, length, t = state[:d], state[d], state[d + 1]
            F, q = EXPONENTIAL.value(data @ w, 1.0).sum(), np.linalg.norm(w)
            assert speed(state)[d] >= best - 1e-6
            assert np.log(n / F) >= best * length - 1e-6 and length >= q - 1e-9
            assert -np.log(F) <= margin(w, data) * q + 1e-9
            assert (1 / n + best**2 * t) * (1 - 1e-6) <= 1 / F
            assert margin(w, data) >= best - np.log(n) / q - 1e-6
            assert best * q >= np.log(1 / n + best**2 * t) - 1e-6
    assert margin(w, data) > 0.9 * best  # it has gone far


def test_the_flow_needs_its_log_n():
    """With 0.6 log n the first inequality is broken: many copies of one point and one of another."""
    data = np.array([[1.0, 1.0]] * 200 + [[1.0, -1.0]])
    w, h, worst = np.zeros(2), 0.01, 0.0
    for _ in range(600):
        parts = EXPONENTIAL.value(data @ w, 1.0)
        w = w + h * parts @ data / parts.sum()
        worst = max(worst, (1 - margin(w, data)) * np.linalg.norm(w))
    assert 0.6 * np.log(201) < worst < np.log(201)


def test_the_smoothness_of_a_risk_by_hand():
    """The rows (3, 4) and (0, 0) have σ_max = 5, so λ = 5²/(4·2)."""
    risk = theorems.logistic.Risk([[3.0, 4.0], [0.0, 0.0]], [1, -1])
    assert risk.smoothness == pytest.approx(25 / 8)
