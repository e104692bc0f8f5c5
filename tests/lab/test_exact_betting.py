"""Exact values of betting games: by brute force over all games, by linear programs, by other formulas."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, pi, sqrt

import numpy as np
import pytest

from ocolab import exact_betting as exact
from ocolab import limits
from ocolib.game import play

# ---------------------------------------------------------------- coins


def price(T, r, both):
    """E(|S| − r + 1)₊ over all 2^T signs."""
    ends = [sum(signs) for signs in product((1, -1), repeat=T)]
    return sum(max((abs(s) if both else s) - r + 1, Fraction(0)) for s in ends) / Fraction(2**T)


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("T", range(1, 9))
def test_at_the_strike_the_option_costs_one(T, both):
    r = exact.strike(T, both)
    assert price(T, r, both) == 1 and price(T, r - Fraction(1, 1000), both) > 1


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("T", [1, 2, 3, 4, 5])
def test_the_strike_is_the_value_of_the_linear_program_over_all_bettors(T, both):
    """One variable for the bet after each sequence of signs; minimise r subject to all regrets."""
    cp = pytest.importorskip("cvxpy")
    bets = {seen: cp.Variable() for t in range(T) for seen in product((1, -1), repeat=t)}
    r, rules = cp.Variable(), []
    for coins in product((1, -1), repeat=T):
        gain = sum(c * bets[coins[:t]] for t, c in enumerate(coins))
        rules += [gain >= -1, gain >= sum(coins) - r] + ([gain >= -sum(coins) - r] if both else [])
    assert cp.Problem(cp.Minimize(r), rules).solve(solver="CLARABEL") == pytest.approx(
        float(exact.strike(T, both)), abs=1e-6
    )


def test_the_option_bettor_has_regret_at_most_one_at_zero_and_r_at_one():
    rng = np.random.default_rng(0)
    for T in (1, 4, 7):
        games = [*product((1.0, -1.0), repeat=min(T, 5)), *rng.uniform(-1, 1, (30, T))]
        for coins in games:
            trace = play(limits.OptionBettor(len(coins)), -np.array(coins)[:, None])
            assert trace.regret(against=[0.0]) <= 1 + 1e-9
            assert max(trace.regret(against=[u]) for u in (1.0, -1.0)) <= limits.strike(len(coins)) + 1e-9


@pytest.mark.parametrize(("T", "both", "value"), [(64, False, 7.20), (64, True, 10.2), (1024, True, 57.4)])
def test_strikes_of_long_games(T, both, value):
    assert float(exact.strike(T, both)) == pytest.approx(value, rel=5e-3)


@pytest.mark.parametrize("T", range(1, 8))
def test_the_worst_regret_of_kt_over_all_signs(T):
    worst = Fraction(-1)
    for coins in product((1, -1), repeat=T):
        wealth = total = Fraction(0)
        wealth += 1
        for t, c in enumerate(coins, 1):
            wealth, total = wealth * (1 + total / t * c), total + c
        worst = max(worst, total - wealth + 1)
    assert worst == exact.kt_regret(T) >= exact.strike(T)


# ---------------------------------------------------------------- portfolios


@pytest.mark.parametrize("n", range(1, 8))
def test_the_urn_has_its_closed_forms(n):
    assert exact.urn(n, Fraction(1)) == [Fraction(1, n + 1)] * (n + 1)
    arcsine = [Fraction(comb(2 * k, k) * comb(2 * (n - k), n - k), 4**n) for k in range(n + 1)]
    assert exact.urn(n, Fraction(1, 2)) == arcsine


@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
def test_worst_ratios_of_the_two_priors(n):
    assert exact.worst_ratio(exact.urn(n, Fraction(1))) == Fraction(1, n + 1)
    assert exact.worst_ratio(exact.urn(n, Fraction(1, 2))) == Fraction(comb(2 * n, n), 4**n)


def best_of(winners):
    """The largest wealth of a rebalanced portfolio when asset j_t alone pays, in fractions."""
    n, k = len(winners), winners.count(0)
    return Fraction(k**k * (n - k) ** (n - k), n**n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_strategy_beats_the_minimax_ratio_in_kelly_markets(n):
    """A strategy is a probability on sequences of winners; the largest least ratio, by a linear program."""
    cp = pytest.importorskip("cvxpy")
    winners = list(product((0, 1), repeat=n))
    P, ratio = cp.Variable(len(winners), nonneg=True), cp.Variable()
    rules = [cp.sum(P) == 1, *(P[i] >= ratio * float(best_of(j)) for i, j in enumerate(winners))]
    assert cp.Problem(cp.Maximize(ratio), rules).solve(solver="CLARABEL") == pytest.approx(
        float(exact.minimax_ratio(n)), abs=1e-7
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 9])
def test_the_minimax_ratio_is_one_over_the_sum_of_best_wealths(n):
    assert 1 / exact.minimax_ratio(n) == sum(best_of(j) for j in product((0, 1), repeat=n))


def test_the_minimax_ratio_has_its_order():
    for n in (100, 400):
        assert 1 / float(exact.minimax_ratio(n)) == pytest.approx(sqrt(pi * n / 2) + 2 / 3, abs=0.02)


def test_the_minimax_portfolio_reaches_its_ratio_in_every_kelly_market():
    from ocolib.portfolios import market

    for winners in product((0, 1), repeat=6):
        trace = play(limits.MinimaxPortfolio(6), market(np.eye(2)[list(winners)]))
        ratio = np.exp(-trace.paid.sum()) / float(best_of(winners))
        assert ratio == pytest.approx(float(exact.minimax_ratio(6)), rel=1e-9)


def test_the_three_strategies_in_order():
    """V_n is the largest of the worst ratios, Dirichlet(½) second, the uniform prior last, from n = 2 on."""

    @cache
    def ratios(n):
        return [exact.worst_ratio(exact.urn(n, a)) for a in (Fraction(1), Fraction(1, 2))]

    for n in range(2, 30):
        assert ratios(n)[0] < ratios(n)[1] < exact.minimax_ratio(n)
