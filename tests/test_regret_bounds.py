"""The losses of the two tables, logarithmic regret, projections and Pegasos."""

from itertools import product
from math import comb

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BOUNDED, members, sets, vectors

from ocolib import adversaries, losses, oracle, theorems
from ocolib import phi as phis
from ocolib.game import play
from ocolib.learners import FTL, OGD, Pegasos, inverse, inverse_sqrt
from ocolib.losses import Quadratic
from ocolib.phi import PerceptronLoss, TubeLoss
from ocolib.sets import Ball, Box, Hull, L1Ball, Simplex, Space

# ---------------------------------------------------------------- Table 5

SIGNS, REALS, COUNTS = (-1.0, 1.0), (-1.3, 0.0, 2.0), (0.0, 1.0, 4.0)
TABLE5 = {
    "hinge": (phis.HingeLoss(), SIGNS),
    "squared hinge": (phis.SQUARED_HINGE, SIGNS),
    "exponential": (phis.EXPONENTIAL, SIGNS),
    "logistic": (phis.LOGISTIC, SIGNS),
    "novelty": (PerceptronLoss(0.7, kink=0.0), (1.0,)),
    "least squares": (phis.LEAST_SQUARES, REALS),
    "absolute": (TubeLoss(), REALS),
    "quantile": (TubeLoss(0.2, 0.8), REALS),
    "eps-insensitive": (TubeLoss(eps=0.5), REALS),
    "huber": (phis.HUBER, REALS),
    "poisson": (phis.POISSON, COUNTS),
}
KINKS = {
    "hinge": lambda y: [y],
    "novelty": lambda y: [0.7],
    "absolute": lambda y: [y],
    "quantile": lambda y: [y],
    "eps-insensitive": lambda y: [y - 0.5, y + 0.5],
}
every_row = pytest.mark.parametrize("name", TABLE5)
P = np.array([-3.0, -1.7, -1.0, -0.31, 0.0, 0.2, 0.7, 1.0, 1.4, 2.0, 3.3])


def differences(function, p, h=1e-6):
    return (function(p + h) - function(p - h)) / (2 * h)


@every_row
def test_slopes_agree_with_finite_differences(name):
    phi, labels = TABLE5[name]
    for y in labels:
        p = np.array([q for q in P if all(abs(q - k) > 1e-3 for k in KINKS.get(name, lambda y: [])(y))])
        found = differences(lambda q, y=y: phi.value(q, y), p)
        np.testing.assert_allclose(phi.slope(p, y), found, rtol=1e-7, atol=3e-7)  # h/4 where φ″ jumps
        low, high = phi.subdifferential(p, y)
        assert np.array_equal(low, high) and np.array_equal(low, phi.slope(p, y))


@every_row
def test_slopes_satisfy_the_subgradient_inequality(name):
    """Also at the kinks, and for both ends of the subdifferential there."""
    phi, labels = TABLE5[name]
    for y in labels:
        p = np.concatenate([P, KINKS.get(name, lambda y: [])(y)])
        for slope in (phi.slope(p, y), *phi.subdifferential(p, y)):
            lines = phi.value(p, y)[:, None] + slope[:, None] * (p - p[:, None])
            assert (lines <= phi.value(p, y) + 1e-12 * np.exp(4)).all()


@pytest.mark.parametrize("name", KINKS)
def test_subdifferentials_at_kinks_are_the_one_sided_derivatives(name):
    phi, labels = TABLE5[name]
    h = 1e-7
    for y in labels:
        for kink in KINKS[name](y):
            left = (phi.value(kink, y) - phi.value(kink - h, y)) / h
            right = (phi.value(kink + h, y) - phi.value(kink, y)) / h
            low, high = phi.subdifferential(np.float64(kink), y)
            np.testing.assert_allclose([low, high], [left, right], atol=1e-6)
            assert low < high and low <= phi.slope(np.float64(kink), y) <= high


@every_row
def test_losses_equal_their_cvxpy_form(name):
    phi, labels = TABLE5[name]
    for y in labels:
        expression = phi.expression(cp.Constant(P), np.full(len(P), y))
        assert expression.is_convex()
        np.testing.assert_allclose(phi.value(P, y), expression.value, rtol=1e-12, atol=1e-12)


@every_row
def test_constants_are_exact_suprema(name):
    """Each constant bounds its ratio on a grid, an upper one is nearly met; a missing one has no bound."""
    phi, labels = TABLE5[name]
    p = np.linspace(-40, 40, 16001)
    for y in labels:
        slope = phi.slope(p, y)
        bends = np.diff(slope) / np.diff(p)
        if phi.lipschitz is None:
            assert np.abs(slope).max() > 35
        else:
            assert np.abs(slope).max() <= phi.lipschitz <= np.abs(slope).max() * (1 + 1e-9)
        if phi.smooth is None:
            assert bends.max() > 100  # a jump of the slope over a step of 0.005, or an exponential
        else:
            assert bends.max() <= phi.smooth * (1 + 1e-9) and bends.max() >= phi.smooth * (1 - 1e-4)
        assert bends.min() >= -1e-9
        if phi.curvature is None:
            assert bends.min() < 1e-9
        else:
            assert bends.min() >= phi.curvature * (1 - 1e-9)


def test_what_the_table_calls_each_loss():
    """The functions over data have the loss, the labels and the parameters of their row."""
    X, signs = np.array([[1.0, 2.0], [0.5, -1.0]]), [1.0, -1.0]
    w = np.array([0.3, -0.4])
    p = X @ w
    m, r = p * signs, p - [2.0, -0.5]
    expected = {
        losses.hinge(X, signs): np.maximum(0, 1 - m),
        losses.squared_hinge(X, signs): np.maximum(0, 1 - m) ** 2 / 2,
        losses.exponential(X, signs): np.exp(-m),
        losses.logistic(X, signs): np.log1p(np.exp(-m)),
        losses.novelty(X, 0.7): np.maximum(0, 0.7 - p),
        losses.least_squares(X, [2.0, -0.5]): r**2 / 2,
        losses.absolute(X, [2.0, -0.5]): np.abs(r),
        losses.quantile(X, [2.0, -0.5], 0.2): np.maximum(0.2 * r, -0.8 * r),
        losses.eps_insensitive(X, [2.0, -0.5], 0.5): np.maximum(0, np.abs(r) - 0.5),
        losses.huber(X, [2.0, -0.5]): np.where(np.abs(r) <= 1, r**2 / 2, np.abs(r) - 0.5),
        losses.poisson(X, [2.0, 0.0]): np.exp(p) - np.array([2.0, 0.0]) * p,
    }
    assert len(expected) == 11
    for loss, value in expected.items():
        np.testing.assert_allclose(loss.values(w), value, rtol=1e-13)
        np.testing.assert_allclose(loss[0].value(w), value[0], rtol=1e-13)
        np.testing.assert_allclose(loss.subgradients(w)[1], loss[1].subgradient(w), rtol=1e-13)


@every_row
def test_the_chain_rule(name):
    """The gradient in w is the slope times x; a regulariser adds reg·w."""
    phi, labels = TABLE5[name]
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6, 3))
    for reg in (0.0, 0.4):
        loss = losses.Examples(X, rng.choice(labels, 6), phi, reg)
        w, u = 0.4 * rng.standard_normal((2, 3))
        found = np.array(
            [differences(lambda s, e=e, f=loss, w=w: f.values(w + s * e), 0.0) for e in np.eye(3)]
        ).T
        np.testing.assert_allclose(loss.subgradients(w), found, rtol=1e-6, atol=1e-7)
        middle = loss.values((w + u) / 2)
        gap = (loss.values(w) + loss.values(u)) / 2 - middle - reg / 8 * np.square(w - u).sum()
        assert (gap >= -1e-12).all()


def test_labels_are_those_the_loss_takes():
    X = np.ones((2, 1))
    with pytest.raises(ValueError, match="y must be −1 or \\+1, got 2"):
        losses.logistic(X, [1.0, 2.0])
    with pytest.raises(ValueError, match="y must be ≥ 0, got -1"):
        losses.poisson(X, [1.0, -1.0])
    with pytest.raises(ValueError, match="tau must be in"):
        losses.quantile(X, [0.0, 1.0], 1.5)
    with pytest.raises(ValueError, match="eps must be finite and ≥ 0"):
        losses.eps_insensitive(X, [0.0, 1.0], -0.1)
    with pytest.raises(ValueError, match="reg must be positive"):
        losses.hinge(X, [1.0, 1.0]).regularized(0.0)
    trace = play(OGD(Ball(1), 0.1), losses.least_squares(X, [0.3, 2.0]))
    with pytest.raises(ValueError, match="labels ±1"):
        trace.mistakes  # noqa: B018


def test_logistic_derivative_as_printed_is_wrong():
    p = np.linspace(-3, 3, 25)
    for y in SIGNS:
        found = differences(lambda q, y=y: phis.LOGISTIC.value(q, y), p)
        np.testing.assert_allclose(phis.LOGISTIC.slope(p, y), found, atol=1e-8)
        printed = -y / (1 + np.exp(-y * p))
        assert (np.abs(printed - found)[p != 0] > 1e-2).all()
    assert np.isclose(phis.LOGISTIC.slope(2.0, 1.0), -0.119203, atol=1e-6)
    assert np.isfinite(phis.LOGISTIC.slope(np.array([-1e4, 1e4]), 1.0)).all()
    assert phis.LOGISTIC.value(-1e3, 1.0) == 1e3


def test_squared_hinge_derivative_needs_signs():
    y, f = 2.0, 0.1
    found = differences(lambda q: phis.SQUARED_HINGE.value(q, y), f)
    assert np.isclose(found, -1.6) and np.isclose(phis.SQUARED_HINGE.slope(f, y), -1.6)
    assert np.isclose(f - y, -1.9)
    for y in SIGNS:
        assert phis.SQUARED_HINGE.slope(0.1, y) == pytest.approx(0.1 - y)


@pytest.mark.parametrize("tau", [0.1, 0.25, 0.9])
def test_quantile_row_estimates_the_other_quantile(tau):
    y = np.random.default_rng(2).permutation(np.arange(1, 100) / 100.0)
    grid = np.arange(1, 100) / 100.0
    total = losses.quantile(np.ones((99, 1)), y, tau)
    best = grid[np.argmin([total.values([f]).sum() for f in grid])]
    assert abs(best - (1 - tau)) < 0.011 < abs(best - tau)
    koenker = losses.Examples(np.ones((99, 1)), y, TubeLoss(1 - tau, tau))
    assert abs(grid[np.argmin([koenker.values([f]).sum() for f in grid])] - tau) < 0.011


def test_lost_absolute_values_change_the_loss():
    y, f, eps = 0.0, -2.0, 0.5
    assert TubeLoss(eps=eps).value(f, y) == 1.5 != max(0.0, f - y - eps)
    assert TubeLoss().value(f, y) == 2.0 != f - y
    assert phis.HUBER.slope(0.4, 0.0) == 0.4  # "f − y if" is what the cell lost


def test_huber_is_the_envelope_of_the_absolute_value():
    z = np.linspace(-5, 5, 200001)
    for f in (-2.3, -1.0, 0.4, 3.0):
        assert np.isclose(phis.HUBER.value(f, 0.0), (np.abs(z) + 0.5 * (z - f) ** 2).min(), atol=1e-8)


def test_poisson_needs_counts():
    assert phis.POISSON.value(-100.0, -1.0) < -99.9  # unbounded below
    values = phis.POISSON.value(np.array([-1.0, -10.0, -100.0]), 0.0)
    assert (values > 0).all() and (np.diff(values) < 0).all()  # the infimum 0 is not attained
    with pytest.raises(ValueError, match="y must be ≥ 0"):
        losses.poisson([[1.0]], [-1.0])
    y, f = 3, 0.8  # with log y! it is the likelihood
    likelihood = np.exp(f) ** y * np.exp(-np.exp(f)) / 6
    assert np.isclose(phis.POISSON.value(f, y) + np.log(6), -np.log(likelihood))


# ---------------------------------------------------------------- Table 6

DELTA = np.array([[0, 1, 2.0], [1, 0, 0.5], [0.3, 1, 0]])
GAMMA = np.array([[1, 0.5, 3.0], [2, 1, 1.0], [0.2, 4, 1]])
TABLE6 = {
    "soft margin": phis.SoftMargin(DELTA, np.ones((3, 3))),
    "scaled soft margin": phis.SoftMargin(DELTA, GAMMA),
    "softmax": phis.SOFTMAX,
    "regression": phis.QuadraticForm([[2, 1, 0], [1, 2, 0.5], [0, 0.5, 1]]),
}
every_vector_row = pytest.mark.parametrize("name", TABLE6)


def vector_labels(name):
    return [np.array([0.3, -1.0, 2.0])] if name == "regression" else range(3)


@every_vector_row
def test_vector_slopes_agree_with_finite_differences(name):
    phi, rng = TABLE6[name], np.random.default_rng(5)
    for y, f in product(vector_labels(name), 2 * rng.standard_normal((20, 3))):
        found = [differences(lambda s, e=e, f=f, y=y: phi.value(f + s * e, y), 0.0) for e in np.eye(3)]
        np.testing.assert_allclose(phi.slope(f, y), found, atol=1e-7)
        assert np.isclose(phi.value(f, y), phi.expression(cp.Constant(f), y).value, rtol=1e-12)


@every_vector_row
def test_vector_slopes_satisfy_the_subgradient_inequality(name):
    phi = TABLE6[name]
    F = np.array(list(product([-1.0, 0.0, 1.0], repeat=3)))  # whole scores: many ties
    for y, f in product(vector_labels(name), F):
        corners = getattr(phi, "subdifferential", lambda f, y, phi=phi: phi.slope(f, y)[None])(f, y)
        for z in np.atleast_2d(corners):
            assert all(phi.value(f, y) + z @ (g - f) <= phi.value(g, y) + 1e-12 for g in F)


def test_ties_of_the_soft_margin_have_several_corners():
    phi = phis.SoftMargin(1 - np.eye(3), np.ones((3, 3)))
    corners = phi.subdifferential(np.zeros(3), 0)
    np.testing.assert_array_equal(corners, [[-1, 1, 0], [-1, 0, 1]])


@every_vector_row
def test_the_chain_rule_for_matrices(name):
    phi, rng = TABLE6[name], np.random.default_rng(6)
    x = np.array([0.5, -1.0])
    loss = losses.VectorExample(x, next(iter(vector_labels(name))), phi, 3)
    w = rng.standard_normal(6)
    found = [differences(lambda s, e=e: loss.value(w + s * e), 0.0) for e in np.eye(6)]
    np.testing.assert_allclose(loss.subgradient(w), found, atol=1e-7)
    assert np.isclose(loss.value(w), oracle.expression(loss, cp.Constant(w)).value)


def test_vector_constants():
    rng = np.random.default_rng(7)
    F = 6 * rng.standard_normal((2000, 3))
    for name in ("soft margin", "scaled soft margin", "softmax"):
        sizes = [np.linalg.norm(TABLE6[name].slope(f, y)) for f in F for y in range(3)]
        assert 0.97 * TABLE6[name].lipschitz < max(sizes) <= TABLE6[name].lipschitz + 1e-12
    p = rng.dirichlet(np.full(3, 0.3), 2000)
    top = max(np.linalg.eigvalsh(np.diag(q) - np.outer(q, q))[-1] for q in [*p, [0.5, 0.5, 0.0]])
    assert np.isclose(top, phis.SOFTMAX.smooth)
    form = phis.QuadraticForm([[2.0, 1.0], [1.0, 2.0]])
    assert np.allclose([form.smooth, form.curvature], [3.0, 1.0]) and form.lipschitz is None
    assert phis.QuadraticForm([[1.0, 1.0], [1.0, 1.0]]).curvature is None


def test_two_classes_reduce_to_the_scalar_losses():
    for a, b, y in product([-1.5, 0.0, 2.0], [-0.3, 1.0], (0, 1)):
        f, sign = np.array([a, b]), 2.0 * y - 1
        margin = phis.SoftMargin(1 - np.eye(2), np.ones((2, 2)))
        assert np.isclose(margin.value(f, y), phis.HingeLoss().value(b - a, sign))
        assert np.isclose(phis.SOFTMAX.value(f, y), phis.LOGISTIC.value(b - a, sign))
        assert np.isclose(phis.SOFTMAX.slope(f, y)[1], phis.LOGISTIC.slope(b - a, sign))
    phi = phis.QuadraticForm([[1.0]])
    assert np.isclose(phi.value(np.array([2.0]), np.array([0.5])), phis.LEAST_SQUARES.value(2.0, 0.5))


def test_scaled_margin_takes_the_factor_of_the_maximiser():
    """The factor of another class, or the maximiser of the unscaled loss, is no subgradient."""
    phi, f, y = TABLE6["scaled soft margin"], np.array([0.0, 2.0, 0.5]), 0
    scaled = phi.scaled(f, y)
    best, unscaled = np.argmax(scaled), np.argmax(f - f[y] + DELTA[y])
    assert best != unscaled
    unit = np.eye(3)
    assert np.allclose(phi.slope(f, y), GAMMA[y, best] * (unit[best] - unit[y]))
    for wrong in (
        GAMMA[y, unscaled] * (unit[best] - unit[y]),
        GAMMA[y, unscaled] * (unit[unscaled] - unit[y]),
    ):
        g = np.array([[0.0, 2.0, -5.0], [0.0, 2.0, 5.0], [-5.0, 2.0, 0.5], [5.0, 2.0, 0.5]])
        assert any(phi.value(f, y) + wrong @ (h - f) > phi.value(h, y) + 1e-9 for h in g)


def test_softmax_prime_read_literally_is_uniform():
    f = np.array([2.0, 0.0, 0.0])
    np.testing.assert_allclose(phis.SOFTMAX.slope(f, 0), [-0.2130, 0.1065, 0.1065], atol=1e-4)
    literal = np.exp(f[0]) * np.ones(3) / (3 * np.exp(f[0])) - np.eye(3)[0]
    assert np.abs(literal - phis.SOFTMAX.slope(f, 0)).max() > 0.4


def test_multivariate_regression_needs_symmetry():
    M, r = np.array([[1.0, 1.0], [-1.0, 1.0]]), np.array([1.0, 2.0])
    found = [differences(lambda s, e=e: 0.5 * (r + s * e) @ M @ (r + s * e), 0.0) for e in np.eye(2)]
    np.testing.assert_allclose(found, [1.0, 2.0], atol=1e-8)
    np.testing.assert_allclose((M + M.T) @ r / 2, found, atol=1e-8)
    assert np.array_equal(M @ r, [3.0, 1.0])
    with pytest.raises(ValueError, match="M must be symmetric"):
        phis.QuadraticForm(M)
    with pytest.raises(ValueError, match="positive semidefinite"):
        phis.QuadraticForm([[1.0, 2.0], [2.0, 1.0]])


def test_bad_classes_are_refused():
    with pytest.raises(ValueError, match="classes 0, …, 2"):
        losses.softmax(np.ones((2, 1)), [0, 3], 3)
    with pytest.raises(ValueError, match=r"gamma ≥ 0, got .* min gamma -1"):
        losses.soft_margin(np.ones((1, 1)), [0], 1 - np.eye(2), -np.ones((2, 2)))
    with pytest.raises(ValueError, match="y must have 2 entries"):
        losses.softmax(np.ones((2, 1)), [0], 3)


def test_vector_losses_can_be_played():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 2))
    y = np.argmax(X @ rng.standard_normal((2, 3)), axis=1)
    over = Ball(6, 3.0)
    for game in (
        losses.softmax(X, y, 3),
        losses.soft_margin(X, y, DELTA, GAMMA),
        losses.multivariate_regression(X, np.eye(3)[y], np.eye(3)),
    ):
        trace = play(OGD(over, inverse_sqrt(1.0), "eager"), game)
        regret = oracle.regret(trace, over)
        G = np.linalg.norm(trace.subgradients, axis=1).max()
        assert -1e-6 <= regret <= 6.0**2 / 2 * np.sqrt(60) + G**2 * np.sqrt(60)


# ---------------------------------------------------------------- the game and its regret


def test_the_loss_is_seen_after_the_play():
    """Altering losses from round t on changes no play up to t; the reverse order changes the regret."""
    centers = np.random.default_rng(9).uniform(-1, 1, (12, 2))
    learner = OGD(Ball(2), inverse(1.0), "eager")
    trace = play(learner, [Quadratic(c) for c in centers])
    for t in range(12):
        other = centers.copy()
        other[t:] *= -0.5
        again = play(learner, [Quadratic(c) for c in other])
        assert np.array_equal(trace.points[: t + 1], again.points[: t + 1])
    swapped = play(learner, [Quadratic(c) for c in centers[::-1]])
    assert not np.isclose(trace.regret(Ball(2)), swapped.regret(Ball(2)))


def test_learning_is_the_game():
    """Examples as costs, one by one or at once: the same plays, payments and regret."""
    X, y, _ = adversaries.separable(40, 3, 0.1, seed=1)
    data, over = losses.logistic(X, y), Ball(3, 5.0)
    learner = OGD(over, inverse_sqrt(1.0), "eager")
    at_once, one_by_one = play(learner, data), play(learner, [data[t] for t in range(40)])
    np.testing.assert_allclose(at_once.points, one_by_one.points, atol=1e-14)
    by_hand = [np.log1p(np.exp(-y[t] * X[t] @ at_once.points[t])) for t in range(40)]
    np.testing.assert_allclose(at_once.paid, by_hand, rtol=1e-12)
    w = cp.Variable(3)
    least = cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w)))), [cp.norm(w) <= 5]).solve()
    assert np.isclose(oracle.regret(at_once, over), at_once.paid.sum() - least, atol=1e-4)


def test_the_comparator_ranges_over_the_set():
    C, T = Box([-1], [1]), 200
    trace = play(OGD(C, inverse(1.0), "eager", start=[1.0]), [Quadratic([10.0])] * T)
    assert trace.regret(C) == 0
    everywhere = np.cumsum(trace.paid)  # (θ − 10)²/2 is 0 at 10
    assert np.allclose(everywhere, 40.5 * np.arange(1, T + 1))
    promise = np.array([theorems.StronglyConvex(11, 1, t).bound for t in range(1, T + 1)])
    broken = everywhere > promise
    assert broken.argmax() + 1 == 4 and broken[3:].all()


def test_the_minimum_need_not_be_attained():
    values = losses.logistic([[1.0]], [1.0]).values
    found = [values([theta])[0] for theta in (1.0, 5.0, 20.0)]
    np.testing.assert_allclose(found, [0.313262, 0.00671535, 2.06115e-9], rtol=1e-5)
    slopes = phis.LOGISTIC.slope(np.linspace(-50, 50, 101), 1.0)
    assert (slopes < 0).all()  # so no point is a minimum


def test_the_01_loss_is_not_convex():
    data = losses.hinge([[1.0]], [1.0])

    def errs(theta):
        return float(data.margins([theta])[0] <= 0)

    assert errs(-1.0) == 1.0 > (errs(-3.0) + errs(1.0)) / 2
    assert all(data.values([theta])[0] >= errs(theta) for theta in np.linspace(-3, 3, 61))  # its convex roof


# ---------------------------------------------------------------- strong convexity


def bowls(rng, T, C, n):
    """H-strongly convex losses with H = 1 on C and their gradient bound on C."""
    centers = rng.uniform(-1, 1, (T, n))
    G = max(C.farthest(c) for c in centers)
    return [Quadratic(c) for c in centers], G


@given(data=st.data())
@pytest.mark.parametrize("kind", BOUNDED)
def test_logarithmic_regret_and_its_proof_on_random_games(kind, data):
    C = data.draw(sets(kind, max_dim=3))
    centers = [data.draw(vectors(C.dim, 2.0)) for _ in range(8)]
    H, G = 0.7, 0.7 * max(C.farthest(c) for c in centers) + 1e-12
    trace = play(OGD(C, inverse(1 / H), "eager"), [Quadratic(c, H) for c in centers])
    u = C.project(np.mean(centers, axis=0))
    chain = theorems.StronglyConvex.of(trace, G).proof(trace, u)
    assert chain.holds() and np.isclose(chain.values[0], trace.regret(C), atol=1e-9)
    assert np.isclose(chain.values[-1], theorems.StronglyConvex(G, H, 8).bound)
    assert np.isclose(chain.values[-2], theorems.StronglyConvexSharp(G, H, 8).bound)
    assert np.isclose(chain.values[-3], theorems.StronglyConvexSeen.of(trace).bound)
    for v in members(C, 10):
        assert (theorems.StronglyConvex.of(trace, G).slacks(trace, v) >= -1e-8 * max(1.0, G**2)).all()


def test_the_square_terms_telescope():
    """Abel's summation by hand, with coefficients that vanish exactly, on the distances of a game."""
    rng, H, T = np.random.default_rng(10), 0.3, 30
    schedule = inverse(1 / H)
    inverse_eta = np.array([1 / schedule(t) for t in range(1, T + 1)])
    assert np.isclose(inverse_eta[0], H) and np.allclose(np.diff(inverse_eta), H)
    trace = play(OGD(Ball(2), schedule, "eager"), [Quadratic(c, H) for c in rng.uniform(-1, 1, (T, 2))])
    d2 = np.square(np.vstack([trace.points, trace.last]) - [0.3, -0.2]).sum(axis=1)
    left = ((d2[:-1] - d2[1:]) * inverse_eta / 2 - H / 2 * d2[:-1]).sum()
    assert np.isclose(left, -inverse_eta[-1] / 2 * d2[-1])


def test_each_line_of_claim_4():
    """The square before and after projection, expanded; with the gradient bound it is (4)."""
    rng = np.random.default_rng(11)
    for C in (Ball(3, 0.8), Box([-1, -1, 0], [1, 0.5, 2])):
        for _ in range(200):
            w, u = members(C, 2, seed=rng.integers(1 << 30))[:2]
            z, eta, G = rng.standard_normal(3), rng.uniform(0.1, 2), 4.0
            z *= min(1.0, G / np.linalg.norm(z))
            after = C.project(w - eta * z)
            lines = [
                np.square(after - u).sum(),
                np.square(w - eta * z - u).sum(),
                np.square(w - u).sum() + eta**2 * z @ z - 2 * eta * z @ (w - u),
                np.square(w - u).sum() + eta**2 * G**2 - 2 * eta * z @ (w - u),
            ]
            assert lines[0] <= lines[1] + 1e-12 and np.isclose(lines[1], lines[2]) and lines[2] <= lines[3]


def equality_game(T, H, G, seed=0):
    """f_t(w) = g_t(w − w_t) + (H/2)(w − w_t)² with g_t = ±G, up to constants; no projection."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], T)
    return play(
        OGD(Space(1), inverse(1 / H), "eager"), lambda t, w, past: Quadratic(w - signs[t - 1] * G / H, H), T
    )


@pytest.mark.parametrize(("H", "G"), [(1.0, 1.0), (0.25, 3.0), (4.0, 0.5)])
def test_the_harmonic_bound_is_met(H, G):
    for T in (1, 2, 7, 60):
        trace = equality_game(T, H, G)
        regret = trace.regret(Space(1))
        assert np.isclose(regret, theorems.StronglyConvexSharp(G, H, T).bound, rtol=1e-10)
        assert np.isclose(regret, theorems.StronglyConvexSeen.of(trace).bound, rtol=1e-10)
        leader = play(FTL(Space(1)), trace.losses)  # such descent follows the leader
        np.testing.assert_allclose(leader.points[1:], trace.points[1:], atol=1e-9)


def test_the_bounds_are_met_with_an_honest_gradient_bound():
    """G is the supremum over C here: (3) is met at T = 1, the harmonic form at T = 2."""
    C = Box([0], [1])
    trace = play(OGD(C, inverse(1.0), "eager", start=[1.0]), [Quadratic([0.0]), Quadratic([1.0])])
    assert np.isclose(trace.regret(C), theorems.StronglyConvexSharp(1, 1, 2).bound)
    first = play(OGD(C, inverse(1.0), "eager", start=[1.0]), [Quadratic([0.0])])
    assert (
        first.regret(C)
        == theorems.StronglyConvex(1, 1, 1).bound
        == theorems.StronglyConvexSharp(1, 1, 1).bound
    )
    t = np.arange(1, 10**6 + 1)
    gap = 1 + np.log(t) - np.cumsum(1 / t)
    assert gap[0] == 0 and (gap >= 0).all() and (np.diff(gap) > 0).all() and gap[-1] < 1 - 0.5772


@pytest.mark.parametrize(("G", "H"), [(1.0, 1.0), (3.0, 0.5)])
def test_the_harmonic_bound_is_met_in_three_rounds_of_the_plane(G, H):
    """G is the supremum over C, the hull of the plays w_1, …, w_4: regret (G²/2H)·11/6."""
    r = G / H
    centers = r * np.array([[0, 0], [1, 0], [1 / 4, np.sqrt(15) / 4]])
    start = r * np.array([np.sqrt(3) / 2, 1 / 2])
    C = Hull(np.vstack([start, np.cumsum(centers, axis=0) / np.arange(1, 4)[:, None]]))
    assert H * max(C.farthest(c) for c in centers) == pytest.approx(G, rel=1e-12)
    trace = play(OGD(C, inverse(1 / H), "eager", start=start), [Quadratic(c, H) for c in centers])
    assert trace.regret(C) == pytest.approx(theorems.StronglyConvexSharp(G, H, 3).bound, rel=1e-9)
    assert trace.regret(C) == pytest.approx(11 / 12 * G**2 / H, rel=1e-9)


def test_the_gradient_bound_is_needed():
    """Centres ±t: H = 1, but the gradients grow, and the mean regret is about √(2/(3π))·T^{3/2}."""
    rng, T, runs, C = np.random.default_rng(12), 120, 120, Box([-1], [1])
    centers = rng.choice([-1.0, 1.0], (runs, T)) * np.arange(1, T + 1)
    learner = OGD(C, inverse(1.0), "eager")
    curves = np.array([play(learner, [Quadratic([c]) for c in row]).regret_curve(C) for row in centers])
    for cut in (30, 120):
        assert 0.8 < curves[:, cut - 1].mean() / (np.sqrt(2 / (3 * np.pi)) * cut**1.5) < 1.2


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_the_modulus_is_needed(scale):
    """f_t = w²/2t² ± w on [−1, 1], over all signs: the mean regret of a learner is at least
    E|±1 … ± 1| − ½Σ 1/t². The constants that `Quadratic` adds cancel in the regret.
    """
    C, T = Box([-1], [1]), 8
    signs = adversaries.all_signs(T)[..., 0]
    t = np.arange(1, T + 1)
    floor = np.abs(signs.sum(axis=1)).mean() - (1 / t**2).sum() / 2
    for eta in (inverse(scale), inverse_sqrt(scale), scale):
        learner = OGD(C, eta, "eager")
        games = [[Quadratic([-g * s**2], 1 / s**2) for g, s in zip(row, t, strict=True)] for row in signs]
        assert np.mean([play(learner, game).regret(C) for game in games]) >= floor - 1e-9
    assert np.abs(signs.sum(axis=1)).mean() == pytest.approx(T * comb(T, T // 2) / 2**T)  # ≈ √(2T/π)


@pytest.mark.parametrize("C", [Box([-1, -1], [1, 1]), Ball(2, 0.8)])
def test_moduli_may_vary(C):
    """With steps 1/(H_1 + … + H_t) the regret is at most ½Σ ‖z_t‖²/(H_1 + … + H_t)."""
    rng = np.random.default_rng(16)
    for reach in (0.3, 2.0):  # centres inside: an equality; outside: the projection acts
        H = rng.choice([0.2, 1.0, 3.0], 80)
        sums = np.cumsum(H)
        game = [Quadratic(c, h) for c, h in zip(rng.uniform(-reach, reach, (80, 2)), H, strict=True)]
        trace = play(OGD(C, lambda t, sums=sums: 1 / sums[t - 1], "eager"), game)
        bound = (np.square(trace.subgradients).sum(axis=1) / sums).sum() / 2
        assert trace.regret(C) <= bound + 1e-9
        assert np.isclose(trace.regret(C), bound) == (reach == 0.3)


def test_zero_steps_never_move():
    with pytest.raises(ValueError, match="eta must be positive"):
        OGD(Box([-1], [1]), 0.0, "eager")
    T = 50  # what the learner would pay if it were allowed: ½·2² a round against the best point 1
    assert (np.square(-1.0 - 1.0) / 2) * T == 2 * T > theorems.StronglyConvex(2, 1, T).bound


def test_the_step_after_round_t():
    """Three rounds by hand: the step after round t is 1/(Ht), and w_1 is forgotten after round 1."""
    C, H = Box([-2], [2]), 2.0
    for start in (-1.0, 2.0):
        trace = play(
            OGD(C, inverse(1 / H), "eager", start=[start]), [Quadratic([c], H) for c in (1.0, 0.0, -2)]
        )
        np.testing.assert_allclose(trace.points[:, 0], [start, 1.0, 0.5], atol=1e-15)
        np.testing.assert_allclose(trace.last, [-1 / 3], atol=1e-15)


def test_an_overstated_modulus_breaks_the_bound():
    """True H = 1, steps for 10: the regret grows like T^(4/5), past the bound for 10; for 1 it never does."""
    T, C = 20000, Box([-1], [1])
    t = np.arange(1, T + 1)
    for stated, broken in ((10.0, True), (1.0, False), (0.5, False)):
        factors = np.clip(1 - 1 / (stated * t), -1, 1)
        theta = np.concatenate([[1.0], np.cumprod(factors)[:-1]])
        regret = np.cumsum(theta**2 / 2)
        game = play(OGD(C, inverse(1 / stated), "eager", start=[1.0]), [Quadratic([0.0])] * 300)
        np.testing.assert_allclose(game.regret_curve(C), regret[:300], atol=1e-12)
        promise = 1 / (2 * stated) * (1 + np.log(t))
        assert (regret > promise + 1e-12).any() == broken
        if broken:
            slope = np.log(regret[-1] / regret[T // 10 - 1]) / np.log(10)
            assert abs(slope - 0.8) < 0.01
            chain = theorems.StronglyConvex.of(game, 1.0).chain(game, [0.0])
            assert not chain.holds() and chain.slacks.argmin() == 0  # the strong-convexity line


def test_scalar_losses_are_flat_across_x():
    """In two dimensions no loss of the tables is strongly convex, however curved φ is."""
    x = np.array([1.0, 2.0])
    across = np.array([2.0, -1.0])
    assert np.allclose(np.linalg.eigvalsh(np.outer(x, x)), [0.0, 5.0])
    for phi, labels in TABLE5.values():
        loss = losses.Example(x, labels[0], phi)
        w = np.array([0.3, 0.1])
        assert np.isclose(loss.value(w), loss.value(w + 3 * across))
    for name, phi in TABLE6.items():
        loss = losses.VectorExample(x, next(iter(vector_labels(name))), phi, 3)
        W = np.arange(6.0)
        assert np.isclose(loss.value(W), loss.value(W + np.outer([1, -2, 3], across).ravel()))


@every_row
def test_the_gradient_bound_on_a_ball(name):
    """sup over ‖w‖ ≤ B of ‖∇f_t‖ is ‖x‖·max |slope(±B‖x‖)|, since slopes grow with p."""
    phi, labels = TABLE5[name]
    x, B = np.array([0.6, -0.8]), 2.0
    W = members(Ball(2, B), 400)
    W = np.vstack([W, B * x, -B * x])
    for y in labels:
        sup = np.abs(phi.subdifferential(np.array([-B, B]), y)).max()
        data = losses.Examples(np.tile(x, (len(W), 1)), np.full(len(W), y), phi)
        sizes = np.linalg.norm(data.subgradients(W), axis=1)
        assert sizes.max() <= sup + 1e-12
    assert np.isclose(abs(phis.EXPONENTIAL.slope(-10.0, 1.0)), np.exp(10))


def test_diameter_is_at_most_2G_over_H():
    rng = np.random.default_rng(13)
    for n in (1, 3):
        H, r = rng.uniform(0.5, 2), rng.uniform(0.5, 2)
        ball = Ball(n, r)
        W = members(ball, 200, seed=1)
        assert np.isclose(ball.diameter, 2 * (H * r) / H)  # equality for (H/2)‖w‖², G = Hr
        for _ in range(50):  # quadratics with least eigenvalue H, and a linear part
            A = rng.standard_normal((n, n))
            A = A @ A.T + H * np.eye(n)
            b = rng.standard_normal(n)
            H_true = np.linalg.eigvalsh(A)[0]
            top = np.linalg.eigh(A)[1][:, -1] * r
            G = np.linalg.norm(np.vstack([W, top, -top]) @ A + b, axis=1).max()
            assert ball.diameter <= 2 * G / H_true + 1e-9


def test_diameters():
    rng = np.random.default_rng(14)
    for C in (Ball(3, 2.0), Box([-1, 0, 0], [1, 2, 3])):
        points = members(C, 300, seed=rng.integers(100))
        distances = np.linalg.norm(points[:, None] - points, axis=-1)
        assert distances.max() <= C.diameter + 1e-12
        corner = C.minimize_linear(np.ones(3)), C.minimize_linear(-np.ones(3))
        assert np.isclose(np.linalg.norm(corner[0] - corner[1]), C.diameter)


# ---------------------------------------------------------------- projections


@pytest.mark.parametrize("kind", BOUNDED)
@given(data=st.data())
def test_projection_property_and_angle(kind, data):
    C = data.draw(sets(kind))
    y = data.draw(vectors(C.dim))
    z, a = C.project(y), members(C)
    tol = 1e-9 * max(1.0, np.abs(y).max()) ** 2
    assert ((z - y) @ (a - z).T >= -tol).all()
    left, right = np.square(y - a).sum(axis=1), np.square(z - a).sum(axis=1)
    assert (left >= right + np.square(y - z).sum() - tol).all()


def test_the_angle_test_certifies_the_projection():
    """Of many points of a set only the nearest one passes the test against all others."""
    rng = np.random.default_rng(16)
    for C in (Ball(3), Box([-1, 0, 0], [1, 1, 2])):
        y = 4 * rng.standard_normal(3)
        points = np.vstack([C.project(y), members(C, 200)])
        passed = (((points - y)[:, None] * (points - points[:, None])).sum(axis=-1) >= -1e-12).all(axis=1)
        assert passed[0]
        np.testing.assert_allclose(points[passed], np.tile(points[0], (passed.sum(), 1)), atol=1e-9)


def test_the_angle_at_y_does_not_do():
    """An acute angle at y is weaker: a corner z has it, and is no projection; the angle at z tells."""
    C, y = Box([0.4, 0.0], [1.0, 0.5]), np.zeros(2)
    z, a, nearest = np.array([1.0, 0.0]), np.array([0.4, 0.5]), C.project(y)
    assert C.contains([z, a]).all() and not np.array_equal(z, nearest)
    assert (z - y) @ (a - y) > 0 and (nearest - y) @ (a - y) > 0
    assert (z - y) @ (a - z) < 0 <= (nearest - y) @ (a - nearest)
    assert np.square(nearest - a).sum() <= np.square(y - a).sum() < np.square(z - a).sum()


def test_projection_may_not_be_removed():
    C, losses_played = Box([-1], [1]), [Quadratic([0.0], 100.0)] * 200
    bound = theorems.StronglyConvex(100, 1, 200).bound
    free = play(OGD(Space(1), inverse(1.0), "eager", start=[1.0]), losses_played)
    exact = np.array([float(comb(99, t)) for t in range(100)])
    np.testing.assert_allclose(np.abs(free.points[:100, 0]), exact, rtol=1e-12)
    assert np.abs(free.points).max() == pytest.approx(5.0445672272782e28) and not free.points[100:].any()
    assert free.regret(C) > 1e60 > bound
    assert free.regret(C) <= theorems.StronglyConvexSeen.of(free).bound  # repaired: the gradients seen
    kept = play(OGD(C, inverse(1.0), "eager", start=[1.0]), losses_played)
    assert kept.regret(C) == pytest.approx(2723.5066447) and kept.regret(C) < bound
    chain = theorems.StronglyConvex.of(free, 100.0).chain(free, [0.0])
    assert not chain.holds() and chain.slacks.argmin() == 4  # "‖z_t‖ ≤ G"


def test_without_projection_one_step_is_an_identity():
    rng = np.random.default_rng(15)
    for _ in range(50):
        w, u, z, eta = *rng.uniform(-0.5, 0.5, (2, 4)), rng.standard_normal(4), rng.uniform(0.1, 3)
        right = 2 * eta * z @ (w - u) - eta**2 * z @ z
        free, kept = (play(OGD(C, eta, "eager", start=w), z[None]).last for C in (Space(4), Ball(4)))
        assert np.isclose(np.square(w - u).sum() - np.square(free - u).sum(), right)
        assert np.square(w - u).sum() - np.square(kept - u).sum() >= right - 1e-12


def test_two_step_indices_cannot_be_mixed():
    """One round from w = 1 with z = 1 and u = 0: the identity holds with η_1, and not with η_2."""
    schedule = inverse(1.0)
    trace = play(OGD(Space(1), schedule, "eager", start=[1.0]), np.ones((1, 1)))
    gained = 1.0 - trace.last[0] ** 2
    assert [2 * schedule(t) - schedule(t) ** 2 for t in (1, 2)] == [gained, 0.75] and gained == 1.0


def test_no_function_on_the_line_has_both_constants():
    """The subgradient bound fails outside |θ| ≤ G/H for (H/2)θ², the flattest H-strongly convex function."""
    H, G = 0.5, 3.0
    for theta in (6.0 + 1e-9, 100.0):
        assert abs(Quadratic([0.0], H).subgradient([theta])[0]) > G
    assert abs(Quadratic([0.0], H).subgradient([6.0])[0]) == G
    assert Box([-6], [6]).diameter == 2 * G / H


# ---------------------------------------------------------------- Pegasos


def stream(T=300, n=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, n))
    return X, np.where(X @ rng.standard_normal(n) + 0.5 * rng.standard_normal(T) >= 0, 1.0, -1.0)


@pytest.mark.parametrize("reg", [0.05, 1.0])
def test_pegasos_closed_form_and_sizes(reg):
    X, y = stream()
    R = np.linalg.norm(X, axis=1).max()
    trace = play(Pegasos(4, reg), losses.hinge(X, y).regularized(reg))
    active = trace.margins < 1
    sums = np.cumsum(active[:, None] * y[:, None] * X, axis=0)
    closed = sums / (reg * np.arange(1, 301))[:, None]
    np.testing.assert_allclose(trace.plays[1:], closed, atol=1e-9 / reg)
    assert (np.linalg.norm(trace.points, axis=1) <= R / reg + 1e-9).all()
    assert np.linalg.norm(trace.subgradients, axis=1).max() <= 2 * R


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("reg", [0.05, 1.0])
def test_pegasos_keeps_its_promise(reg, project):
    X, y = stream()
    data = losses.hinge(X, y).regularized(reg)
    R = np.linalg.norm(X, axis=1).max()
    trace = play(Pegasos(4, reg, project), data)
    u = oracle.best_point(data, Space(4))
    assert np.linalg.norm(u) <= 1 / np.sqrt(reg)
    regret = trace.regret(against=u)
    assert (
        regret
        <= theorems.StronglyConvexSeen.of(trace).bound + 1e-6
        <= theorems.Pegasos(R, reg, 300, project).bound
    )
    G = np.sqrt(reg) + R if project else 2 * R
    assert theorems.StronglyConvex.of(trace, G).proof(trace, u).holds(1e-8)
    if project:
        assert (np.linalg.norm(trace.points, axis=1) <= 1 / np.sqrt(reg) + 1e-12).all()
        assert np.linalg.norm(trace.subgradients, axis=1).max() <= G


@pytest.mark.parametrize("H", [0.01, 0.5, 2.0, 100.0])
def test_pegasos_gradient_bound_is_attained(H):
    """In round 2, for every H: the play is x/H, and the same example with the other label adds x more."""
    trace = play(Pegasos(2, H), losses.hinge([[3.0, 4.0]] * 2, [1.0, -1.0]).regularized(H))
    assert np.linalg.norm(trace.subgradients[1]) == pytest.approx(2 * 5.0, rel=1e-12)


def test_pegasos_needs_a_small_first_play():
    X, y, H = np.ones((10, 1)), np.ones(10), 1.0
    far = play(OGD(Space(1), inverse(1 / H), "eager", start=[1e3]), losses.hinge(X, y).regularized(H))
    assert oracle.regret(far, Space(1)) > 4.9e5 > theorems.Pegasos(1.0, H, 10).bound


class LiteralZero:
    """The slide's rule at the kink: the subgradient of the whole f_t is 0 where y⟨θ, x⟩ = 1."""

    def __init__(self, loss):
        self.loss, self.value, self.dim = loss, loss.value, loss.dim

    def subgradient(self, w):
        return np.zeros(self.dim) if self.loss.y * (w @ self.loss.x) == 1 else self.loss.subgradient(w)


def test_a_literal_zero_at_the_kink_gives_linear_regret():
    """From w_1 = 0 the first example leads onto the kink of all others, at (1, 1)."""
    H, T = 0.5, 1000
    X = np.vstack([[0.5, 0.5], np.tile([1.0, 0.0], (T - 1, 1))])
    data = losses.hinge(X, np.ones(T)).regularized(H)
    best = oracle.best_point(data, Space(2))
    np.testing.assert_allclose(best, [1.0, 1 / T], atol=1e-4)
    stuck = play(Pegasos(2, H), [LiteralZero(data[t]) for t in range(T)])
    assert (stuck.points[0] == 0).all() and (stuck.points[1:] == 1).all()
    regret = stuck.paid.sum() - data.values(best).sum()
    assert regret == pytest.approx(0.25 * T, abs=0.01) and regret > theorems.Pegasos(1.0, H, T).bound
    right = play(Pegasos(2, H), data)
    assert right.regret(against=best) == pytest.approx(2.46, abs=0.01)
    assert right.regret(against=best) < theorems.Pegasos(1.0, H, T).bound


@pytest.mark.parametrize("kink", [0.0, 0.3, 1.0])
def test_every_subgradient_at_the_kink_is_good(kink):
    """Strong convexity holds for each choice, and so does the bound."""
    X, y = np.ones((400, 1)), np.ones(400)
    H = 0.5
    data = losses.hinge(X, y, kink=kink).regularized(H)
    f = data[0]
    z = f.subgradient([1.0])
    for u in np.linspace(-4, 4, 41):
        assert f.value([1.0]) + z @ ([u] - np.ones(1)) + H / 2 * (u - 1) ** 2 <= f.value([u]) + 1e-12
    trace = play(OGD(Space(1), inverse(1 / H), "eager", start=[1.0]), data)
    assert trace.regret(against=[1.0]) <= theorems.Pegasos(1.0, H, 400).bound


def test_zero_at_the_kink_only_at_one_point():
    """0 is a subgradient of f_t at the kink iff θ = yx/‖x‖² and H ≤ ‖x‖²."""
    x, phi = np.array([1.0, 2.0]), phis.HingeLoss()
    for H, shift in product((1.0, 4.9, 5.1), (0.0, 0.3)):
        theta = x / (x @ x) + shift * np.array([2.0, -1.0])
        low, high = phi.subdifferential(theta @ x, 1.0)
        assert (low, high) == (-1, 0)  # it is the kink ⟨θ, x⟩ = 1
        nearest = min(np.linalg.norm(H * theta + s * x) for s in np.linspace(low, high, 10001))
        assert (nearest < 1e-3) == (shift == 0.0 and x @ x >= H)


def test_pegasos_converges_to_the_svm_of_scikit_learn():
    svm = pytest.importorskip("sklearn.svm")
    X, y = stream(200, 3, seed=4)
    H = 0.1
    data = losses.hinge(X, y).regularized(H)
    best = svm.SVC(kernel="linear", C=1 / (2 * H * 200), tol=1e-8)
    best.fit(np.vstack([X, -X]), np.append(y, -y))  # the mirrored examples make the bias 0
    solved = oracle.best_point(data, Space(3))
    np.testing.assert_allclose(np.ravel(best.coef_), solved, atol=1e-4)
    order = np.random.default_rng(0).integers(0, 200, 20000)
    trace = play(Pegasos(3, H), losses.hinge(X[order], y[order]).regularized(H))
    objective = data.values(solved).mean()
    averaged = trace.points.mean(axis=0)
    R = np.linalg.norm(X, axis=1).max()
    assert 0 <= data.values(averaged).mean() - objective <= theorems.Pegasos(R, H, 20000).bound / 20000
    assert data.values(averaged).mean() - objective < 0.01


# ---------------------------------------------------------------- what the bounds promise


@pytest.mark.parametrize("H", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("over", [Ball(3, 0.7), Box([-1, 0, 0], [1, 1, 2]), Simplex(3), L1Ball(3)])
def test_logarithmic_regret_holds(over, H):
    """Random bowls, some steeper than H says, and an adversary that runs from the play."""
    rng = np.random.default_rng(31)
    bowls = [
        Quadratic(c, H * k) for c, k in zip(rng.uniform(-2, 2, (60, 3)), rng.uniform(1, 3, 60), strict=True)
    ]
    learner = OGD(over, inverse(1 / H), "eager", start=over.minimize_linear(np.arange(3.0)))

    def runaway(t, w, past):
        return Quadratic(over.minimize_linear(w - over.project(np.zeros(3)) + 1e-3), H)

    for trace in (play(learner, bowls), play(learner, runaway, rounds=60)):
        G = max(f.curvature * over.farthest(f.center) for f in trace.losses)
        seen = theorems.StronglyConvexSeen.of(trace).bound
        sharp = theorems.StronglyConvexSharp(G, H, 60).bound
        assert trace.regret(over) <= seen * (1 + 1e-12) <= sharp * (1 + 1e-12) ** 2
        assert sharp <= theorems.StronglyConvex(G, H, 60).bound


@pytest.mark.parametrize(("G", "H"), [(1.0, 1.0), (3.0, 0.5)])
def test_logarithmic_regret_is_met_with_the_true_gradient_bound(G, H):
    """On [0, G/H], from the right end, a bowl at 0 and then one at G/H; G is the supremum over the set."""
    over = Box([0.0], [G / H])
    game = [Quadratic([0.0], H), Quadratic([G / H], H)]
    trace = play(OGD(over, inverse(1 / H), "eager", start=[G / H]), game)
    first, second = trace.regret_curve(over)
    assert first == pytest.approx(theorems.StronglyConvex(G, H, 1).bound, rel=1e-12)
    assert second == pytest.approx(theorems.StronglyConvexSharp(G, H, 2).bound, rel=1e-12)
    assert second == pytest.approx(theorems.StronglyConvexSeen.of(trace).bound, rel=1e-12)


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("reg", [0.03, 0.5, 4.0])
def test_pegasos_bound_holds(reg, project):
    rng = np.random.default_rng(32)
    X = rng.standard_normal((120, 3))
    radius = np.linalg.norm(X, axis=1).max()
    for y in (rng.choice([-1.0, 1.0], 120), np.where(X[:, 0] >= 0, 1.0, -1.0), np.tile([1.0, -1.0], 60)):
        trace = play(Pegasos(3, reg, project), losses.hinge(X, y).regularized(reg))
        assert oracle.regret(trace, Space(3)) <= theorems.Pegasos(radius, reg, 120, project).bound


@pytest.mark.parametrize(("radius", "reg"), [(1.0, 1.0), (0.5, 3.0), (2.0, 0.01)])
def test_two_rounds_reach_44_per_cent_of_the_pegasos_bound(radius, reg):
    """One example with both labels: regret 3R²/(2·reg) against 0, that is 3/(4 + 4 log 2) of the bound."""
    trace = play(Pegasos(1, reg), losses.hinge([[radius]] * 2, [1.0, -1.0]).regularized(reg))
    found = trace.regret(against=[0.0])
    assert found == pytest.approx(1.5 * radius**2 / reg)
    assert found == pytest.approx(theorems.Pegasos(radius, reg, 2).bound * 3 / (4 + 4 * np.log(2)))
