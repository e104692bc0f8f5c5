"""The KT bettor: its formula again in fractions, its potential, its bound, and what |z_t| ≤ 1 is for."""

from fractions import Fraction
from itertools import product
from math import comb, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocolab.exact_betting import kt_wealth
from ocolib import theorems
from ocolib.betting import KT, log_potential, potential
from ocolib.game import play
from ocolib.testing import check_learner


def bet(coins):
    """Wealth and bets, in fractions, by the rule itself."""
    wealth, total, bets = Fraction(1), Fraction(0), []
    for t, c in enumerate(map(Fraction, coins), 1):
        bets.append(total / t * wealth)
        wealth += c * bets[-1]
        total += c
    return wealth, bets


@pytest.mark.parametrize("learner", [KT(), KT(3, 0.5)], ids=repr)
def test_kt_keeps_the_rules_of_the_game(learner):
    check_learner(learner)


@pytest.mark.parametrize("coins", [[1, 1, -1, 1], [0.5, -0.25, 1, 0, -1, 0.75]])
def test_kt_bets_the_fraction_of_its_wealth_that_the_rule_says(coins):
    wealth, bets = bet(coins)
    Z = -np.array(coins, dtype=float)[:, None]
    assert np.allclose(play(KT(), Z).points[:, 0], [float(w) for w in bets], rtol=1e-12, atol=1e-15)
    assert KT().wealth(Z)[-1] == pytest.approx(float(wealth), rel=1e-12)
    assert KT(epsilon=3.0).wealth(Z)[-1] == pytest.approx(3 * float(wealth), rel=1e-12)


@pytest.mark.parametrize("T", range(1, 9))
def test_on_signs_the_wealth_is_the_potential_in_every_game(T):
    """All 2^T games, in fractions; and F_T has mean 1: the bettor wastes nothing."""
    for coins in product((1, -1), repeat=T):
        assert bet(coins)[0] == kt_wealth(coins.count(1), coins.count(-1))
    assert sum(comb(T, h) * kt_wealth(h, T - h) for h in range(T + 1)) == 2**T
    for h in range(T + 1):
        assert potential(2 * h - T, T) == pytest.approx(float(kt_wealth(h, T - h)), rel=1e-12)


def test_one_round_of_the_potential_argument():
    """(1 + xc/t)·F_{t−1}(x) ≥ F_t(x + c), with equality at c = ±1 and a gap in between."""
    gaps = []
    for t in range(1, 30):
        for x in np.linspace(-(t - 1), t - 1, 7):
            for c in np.linspace(-1, 1, 9):
                gap = (1 + x * c / t) * potential(x, t - 1) - potential(np.clip(x + c, -t, t), t)
                assert gap >= -1e-12 * potential(x, t - 1)
                gaps.append((abs(c) == 1, gap / potential(x, t - 1)))
    assert max(abs(gap) for sign, gap in gaps if sign) < 1e-11
    assert max(gap for sign, gap in gaps if not sign) > 0.1


def test_the_kt_inequality_and_its_ends():
    """F_T(x) ≥ C(2T, T)/4^T·2^T(a/T)^a(b/T)^b, a, b = (T ± x)/2, also between whole counts."""
    for T in (1, 2, 3, 7, 40, 400):
        for x in np.linspace(-T, T, 401):
            a, b = (T + x) / 2, (T - x) / 2
            best = T * log(2) + sum(s * log(s / T) if s > 0 else 0.0 for s in (a, b))
            slack = log_potential(x, T) - best - log(comb(2 * T, T)) + T * log(4)
            assert slack >= -1e-9
            assert log_potential(x, T) >= x * x / (2 * T) - log(2 * sqrt(T)) - 1e-9
            if abs(x) == T:
                assert slack == pytest.approx(0, abs=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.floats(-5, 5), st.floats(0.01, 10))
def test_the_bound_and_its_proof_hold_in_every_game(gradients, u, epsilon):
    trace = play(KT(1, epsilon), np.array(gradients)[:, None])
    theorem = theorems.CoinBetting(len(gradients), abs(u), epsilon)
    chain = theorem.proof(trace, np.array([u]))
    assert chain.holds() and trace.regret(against=[u]) <= theorem.bound + 1e-9
    assert KT(1, epsilon).wealth(trace.losses).min() > 0


def test_the_conjugate_of_the_last_step():
    """max_x {ux − ε/(2√T)·exp(x²/2T)} by search is within the closed form, and not far."""
    for T, u, epsilon in ((1, 1.0, 1.0), (16, 0.3, 2.0), (100, 5.0, 0.1)):
        x = np.linspace(0, 20 * sqrt(T), 200_001)
        found = (u * x - epsilon / (2 * sqrt(T)) * np.exp(x**2 / (2 * T))).max() + epsilon
        bound = theorems.CoinBetting(T, u, epsilon).bound
        assert 0.5 * bound < found <= bound


def test_a_gradient_of_size_two_ruins_the_bettor_and_three_puts_it_in_debt():
    assert KT().wealth([[-1.0], [2.0]])[-1] == 0
    assert KT().wealth([[-1.0], [3.0]])[-1] == -0.5
    broke = play(KT(), np.array([[-1.0], [2.0]] + [[-1.0]] * 98))
    assert not broke.points[2:].any()  # nothing left to bet
    with pytest.raises(ValueError, match=r"z_t. ≤ 1"):
        theorems.CoinBetting(100).proof(broke, np.array([1.0]))
    assert broke.regret(against=[1.0]) > 2 * theorems.CoinBetting(100).bound


@pytest.mark.parametrize(
    ("learner", "u", "words"),
    [
        (KT(2), [1.0, 0.0], "on the line"),
        (KT(1, 2.0), [1.0], "starting wealth ε"),
        (KT(), [1.5], "u. ≤ U"),
    ],
)
def test_the_theorem_refuses_other_games(learner, u, words):
    trace = play(learner, np.ones((4, learner.dim)) / 2)
    with pytest.raises(ValueError, match=words):
        theorems.CoinBetting(4).proof(trace, np.array(u))


def test_potential_refuses_what_is_out_of_range():
    with pytest.raises(ValueError, match="x must be"):
        potential(3.0, 2)
    with pytest.raises(ValueError, match="epsilon must be"):
        KT(1, 0.0)


def test_many_games_of_the_bettor_by_its_player_are_the_games_one_by_one():
    Z, together = np.random.default_rng(0).uniform(-1, 1, (3, 5, 1)), KT().player()
    alone = [KT().player() for _ in Z]
    for t in range(5):
        for player, z in zip(alone, Z[:, t], strict=True):
            player.step(z)
        together.step(Z[:, t])
        assert together.predict() == pytest.approx(np.array([player.predict() for player in alone]))


def test_the_size_of_a_rival_is_not_negative():
    assert theorems.CoinBetting(9, size=0.0).bound > 0
    with pytest.raises(ValueError, match="size must be"):
        theorems.CoinBetting(9, size=-1.0)
