"""Portfolios: wealth by hand, Cover's integral, exponentiated gradient, the numbers of two stocks."""

from fractions import Fraction
from itertools import product
from math import comb, exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocolib import data, theorems
from ocolib.betting import KT
from ocolib.game import play
from ocolib.portfolios import (
    ExponentiatedGradient,
    LogLoss,
    Universal,
    best_rebalanced,
    market,
    rebalanced,
    relatives,
    split,
)
from ocolib.testing import check_loss

markets = st.lists(st.tuples(st.floats(0.2, 3), st.floats(0.2, 3)), min_size=1, max_size=12)


def polynomial(X):
    """The wealth of the portfolio (b, 1 − b) as coefficients of b^0, b^1, …, in fractions."""
    p = [Fraction(1)]
    for x, y in X:
        x, y = Fraction(x), Fraction(y)
        p = [y * a + (x - y) * b for a, b in zip([*p, 0], [0, *p], strict=True)]
    return p


def integral(X):
    """∫ of the polynomial over [0, 1], power by power."""
    return sum(a / (k + 1) for k, a in enumerate(polynomial(X)))


def test_the_loss_is_convex_with_its_gradient():
    check_loss(LogLoss([1.2, 0.3, 0.9]), over=Universal.over.__class__(3))


@pytest.mark.parametrize("X", [[[1.0, -0.1]], [[1.0, 1.0], [0.0, 0.0]], [1.0, 2.0]])
def test_a_market_refuses_what_is_no_price(X):
    with pytest.raises(ValueError, match="X must have"):
        relatives(X)


def test_universal_refuses_other_losses():
    with pytest.raises(ValueError, match="plays market"):
        play(Universal(), np.ones((2, 2)))


@given(markets)
def test_cover_is_the_integral_over_all_rebalanced_portfolios(X):
    exact = float(integral(X))
    trace = play(Universal(), market(X))
    assert split(X).sum() == pytest.approx(exact, rel=1e-10)
    assert exp(-trace.paid.sum()) == pytest.approx(exact, rel=1e-10)


@given(markets)
def test_the_prior_a_half_is_the_integral_with_the_arcsine_density(X):
    """b = sin²(s): the density of Beta(½, ½) becomes flat, and equal steps are exact."""
    s = np.pi * np.arange(64) / 64
    by_angle = np.mean([rebalanced(X, [np.sin(a) ** 2, np.cos(a) ** 2])[-1] for a in s])
    assert split(X, 0.5).sum() == pytest.approx(by_angle, rel=1e-9)


@given(markets)
def test_the_best_rebalanced_portfolio_beats_a_grid(X):
    b, wealth = best_rebalanced(X)
    grid = [rebalanced(X, [c, 1 - c])[-1] for c in np.linspace(0, 1, 101)]
    assert wealth >= max(grid) * (1 - 1e-12) and b.min() >= 0 and b.sum() == pytest.approx(1)


@given(markets, st.sampled_from([1.0, 0.5]))
def test_the_bound_of_the_universal_portfolio_and_its_proof(X, prior):
    theorem, trace = theorems.UniversalPortfolio(len(X), prior), play(Universal(prior), market(X))
    assert theorem.proof(trace, best_rebalanced(X)[0]).holds()


@pytest.mark.parametrize("prior", [Fraction(1), Fraction(1, 2)])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_in_kelly_markets_the_bound_is_met_when_one_asset_always_wins(n, prior):
    """All 2^n sequences of winners: the ratio of wealths, and its least value."""
    ratios = {}
    for winners in product((0, 1), repeat=n):
        X, k = np.eye(2)[list(winners)], n - sum(winners)
        ratios[winners] = split(X, float(prior)).sum() / best_rebalanced(X)[1]
        assert best_rebalanced(X)[1] == pytest.approx((k / n) ** k * (1 - k / n) ** (n - k), rel=1e-9)
    least = min(ratios.values())
    assert least == pytest.approx(1 / (n + 1) if prior == 1 else comb(2 * n, n) / 4**n, rel=1e-9)
    assert ratios[(0,) * n] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("T", [1, 4, 9])
def test_on_signs_the_kt_bettor_is_the_universal_portfolio_with_prior_a_half(T):
    rng = np.random.default_rng(T)
    coins = rng.choice([-1.0, 1.0], T)
    X = np.stack([1 + coins, 1 - coins], axis=1)
    assert split(X, 0.5).sum() == pytest.approx(KT().wealth(-coins[:, None])[-1], rel=1e-12)
    b = play(Universal(0.5), market(X)).plays[:, 0]
    assert np.allclose(2 * b - 1, KT().fractions(-coins[:, None])[:, 0], atol=1e-12)


def test_inside_the_interval_they_differ():
    coins = np.array([0.5, 0.5, -0.5])
    X = np.stack([1 + coins, 1 - coins], axis=1)
    assert split(X, 0.5).sum() != pytest.approx(KT().wealth(-coins[:, None])[-1], rel=1e-3)


# ---------------------------------------------------------------- exponentiated gradient


def by_hand(X, eta):
    w, wealth = np.ones(X.shape[1]) / X.shape[1], 1.0
    for x in X:
        growth = w @ x
        wealth *= growth
        w = w * np.exp(eta * (x - x.max()) / growth)
        w = w / w.sum()
    return wealth


def test_exponentiated_gradient_is_its_formula():
    X = np.random.default_rng(0).uniform(0.5, 1.5, (50, 3))
    trace = play(ExponentiatedGradient(3, 0.3), market(X))
    assert exp(-trace.paid.sum()) == pytest.approx(by_hand(X, 0.3), rel=1e-10)


@given(st.lists(st.tuples(*[st.floats(0.4, 1)] * 3), min_size=1, max_size=15), st.floats(0.05, 2))
def test_the_bound_of_exponentiated_gradient_and_its_proof(X, eta):
    theorem = theorems.ExponentiatedGradient(3, len(X), 0.4, eta)
    trace = play(ExponentiatedGradient(3, eta), market(X))
    for u in (*np.eye(3), np.array([0.2, 0.3, 0.5])):
        assert theorem.proof(trace, u).holds()


def test_the_range_of_a_gradient_is_attained():
    """(1 − r)/r, not 1/r: x = (1, r) at the play (0, 1)."""
    z = LogLoss([1.0, 0.25]).subgradient([0.0, 1.0])
    assert np.ptp(z) == 3.0


@pytest.mark.parametrize("n", [51, 201, 801])
def test_a_price_of_zero_makes_every_step_lose_more_than_cover(n):
    """r = 0: n − 1 days pay asset 1 alone, the last one asset 2 alone."""
    X = np.array([[1.0, 0.0]] * (n - 1) + [[0.0, 1.0]])
    best = best_rebalanced(X)[1]
    assert best == pytest.approx((1 - 1 / n) ** (n - 1) / n, rel=1e-9)
    assert split(X).sum() == pytest.approx(1 / (n * (n + 1)), rel=1e-9)
    cover = log(best / split(X).sum())
    assert cover < log(n + 1)
    least = min(log(best / by_hand(X, eta)) for eta in np.geomspace(1e-4, 0.5, 60))
    assert least > 1.5 * cover and least > 0.7 * sqrt(n)


def test_a_theorem_refuses_a_market_with_larger_moves():
    trace = play(ExponentiatedGradient(2, 0.3), market([[1.0, 0.4]]))
    with pytest.raises(ValueError, match="min x_t"):
        theorems.ExponentiatedGradient(2, 1, 0.5, 0.3).proof(trace, np.array([1.0, 0.0]))
    for ratio in (0.0, 1.0):
        with pytest.raises(ValueError, match="ratio must be in"):
            theorems.ExponentiatedGradient(2, 1, ratio)
    with pytest.raises(ValueError, match="prior must be 1 or 1/2"):
        theorems.UniversalPortfolio(3, 0.7)


# ---------------------------------------------------------------- two stocks


def by_quadrature(X, nodes):
    x, weights = np.polynomial.legendre.leggauss(nodes)
    b = (x[:, None] + 1) / 2
    return float(weights @ np.exp(np.log(b * X[:, 0] + (1 - b) * X[:, 1]).sum(axis=1))) / 2


def test_two_stocks_have_the_numbers_of_the_page():
    X = data.nyse()
    assert split(X).sum() == pytest.approx(by_quadrature(X, 200), rel=1e-9)
    assert round(split(X).sum(), 4) == 40.3065
    b, best = best_rebalanced(X)
    assert round(best, 2) == 73.70 and round(b[0], 4) == 0.5394


@pytest.mark.parametrize(("points", "mean", "most"), [(21, 38.6727, 73.6190), (101, 39.9710, 73.7009)])
def test_the_published_wealths_are_means_over_grids(points, mean, most):
    X = data.nyse()
    grid = np.array([rebalanced(X, [b, 1 - b])[-1] for b in np.linspace(0, 1, points)])
    assert round(grid.mean(), 4) == mean and round(grid.max(), 4) == most


@pytest.mark.parametrize(("eta", "wealth"), [(0.05, 64.43), (0.01, 70.86)])
def test_exponentiated_gradient_on_two_stocks(eta, wealth):
    assert round(by_hand(data.nyse(), eta), 2) == wealth


@pytest.mark.parametrize("day", [[0.0, 0.0], [1.0, -0.1]])
def test_one_bad_day_among_good_ones_is_refused(day):
    with pytest.raises(ValueError, match="at least one that is not 0"):
        relatives([[1.0, 2.0], day, [0.0, 1.0]])


def test_the_best_mixture_is_found_for_two_assets_only():
    with pytest.raises(ValueError, match="X must have two assets, got 3"):
        best_rebalanced([[1.0, 2.0, 3.0]])
