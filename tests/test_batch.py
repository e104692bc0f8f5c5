"""From online to batch: expectations over all samples in fractions, the last iterate and its floor."""

from fractions import Fraction as F
from itertools import product
from math import comb, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocolab import last_iterate
from ocolab.certificates import Refused
from ocolab.exact import coin_sums
from ocolib import oracle, theorems
from ocolib.batch import Pieces, linear_decay, resisting
from ocolib.game import play
from ocolib.learners import FTL, OGD, step_at, steps
from ocolib.losses import Quadratic, absolute
from ocolib.sets import Ball, Box, Space
from ocolib.testing import check_loss

# ---------------------------------------------------------------- averaging


def excess_and_regret(losses, slopes, chances, T, eta, u):
    """E[F(w̄)] − F(u) and E[R_T(u)]/T over all samples, for descent from 0 on [−1, 1], in fractions."""
    risk = lambda w: sum(p * f(w) for p, f in zip(chances, losses, strict=True))  # noqa: E731
    excess = regret = F(0)
    for sample in product(range(len(losses)), repeat=T):
        w, plays, chance, gone = F(0), [], F(1), F(0)
        for k in sample:
            plays.append(w)
            gone += losses[k](w) - losses[k](u)
            chance *= chances[k]
            w = min(max(w - eta * slopes[k](w), F(-1)), F(1))
        excess += chance * (risk(sum(plays) / T) - risk(u))
        regret += chance * gone / T
    return excess, regret


def sign(x):
    return (x > 0) - (x < 0)


@given(
    st.lists(st.fractions(-1, 1, max_denominator=4), min_size=2, max_size=3),
    st.fractions(F(1, 8), 1, max_denominator=8),
    st.fractions(-1, 1, max_denominator=3),
    st.integers(1, 4),
)
def test_the_expected_excess_risk_is_at_most_the_expected_regret(centres, eta, u, T):
    losses = [lambda w, c=c: abs(w - c) for c in centres]
    slopes = [lambda w, c=c: sign(w - c) for c in centres]
    chances = [F(1, len(centres))] * len(centres)
    excess, regret = excess_and_regret(losses, slopes, chances, T, eta, u)
    assert excess <= regret
    first = np.array([float(centres[0])] * T)  # the plays on one sample are those of ocolib
    trace = play(OGD(Box([-1], [1]), float(eta), "eager"), absolute(np.ones((T, 1)), first))
    w = F(0)
    for found in trace.points[:, 0]:
        assert np.isclose(found, float(w))
        w = min(max(w - eta * slopes[0](w), F(-1)), F(1))


def test_the_average_of_the_wrong_plays_breaks_it():
    """Averaging w_2, …, w_{T+1} is not covered: the plays have seen what tests them. Here T = 1."""
    chances, T = [F(1, 2), F(1, 2)], 1
    losses = [lambda w: abs(w - 1), lambda w: abs(w + 1)]
    excess, regret = excess_and_regret(
        losses, [lambda w: sign(w - 1), lambda w: sign(w + 1)], chances, T, F(1), F(0)
    )
    assert excess == regret == 0
    seen = sum(losses[k](F(1 - 2 * k)) for k in (0, 1)) / 2  # the loss of w_2 on the sample that made it
    assert seen == 0 < sum(F(1, 2) * f(F(1)) for f in losses)


class Valleys:
    """min(|w − 1|, |w + 1|), with its slope: not convex."""

    def value(self, w):
        return float(np.minimum(abs(w[0] - 1), abs(w[0] + 1)))

    def subgradient(self, w):
        return np.sign(w - np.where(w > 0, 1.0, -1.0))

    def __eq__(self, other):
        return isinstance(other, Valleys)

    __hash__ = None


def test_without_convexity_the_average_may_be_worst():
    def valleys(w):
        return min(abs(w - 1), abs(w + 1))

    plays = [F(1), F(-1)] * 3
    assert sum(map(valleys, plays)) == 0 and valleys(sum(plays) / 6) == 1
    stated = theorems.AverageIterate(2.0, 1.0, 4)
    trace = play(OGD(Box([-2], [2]), stated.step, "eager", [0.5]), [Valleys()] * 4)
    with pytest.raises(ValueError, match="f is convex"):
        stated.proof(trace, [-1.0])


def test_the_average_attains_its_bound_in_fractions():
    """f = max w_i in dimension T with R² = T, ρ = 1: the step is 1, and f(w̄) − f(u) = 1 for u = −1."""
    for T in range(1, 9):
        w, plays = [F(0)] * T, []
        for _ in range(T):
            plays.append(list(w))
            w[w.index(max(w))] -= 1
        mean = [sum(column) / T for column in zip(*plays, strict=True)]
        assert max(mean) - (-1) == 1
        stated = theorems.AverageIterate(np.sqrt(T), 1.0, T)
        assert np.isclose(stated.step, 1) and np.isclose(stated.bound, 1)


def law_of_failures(T, bound):
    """P(F(w̄) > mean of f_t(w_t) + bound) for f_t(w) = (w − x_t)², x_t a fair coin, w_t the mean so far."""
    failed = 0
    for sample in product((0, 1), repeat=T):
        plays = [F(1, 2)] + [F(sum(sample[:t]), t) for t in range(1, T)]
        paid = sum((w - x) ** 2 for w, x in zip(plays, sample, strict=True)) / T
        mean = sum(plays) / T
        failed += (mean**2 + (1 - mean) ** 2) / 2 > paid + F(bound)
    return failed / 2**T


@pytest.mark.parametrize("delta", [0.5, 0.2, 0.05])
def test_the_deviation_holds_on_all_samples(delta):
    for T in (1, 4, 9):
        assert law_of_failures(T, sqrt(log(1 / delta) / (2 * T))) <= delta
    days = [1.0, 0.0, 0.0, 1.0]  # after the first round its plays are those of follow the leader
    leader = play(FTL(Box([0], [1])), [Quadratic([x], 2.0) for x in days])
    assert np.allclose(leader.points[1:, 0], [1, 1 / 2, 1 / 3])


def coins(T, deviation):
    """P(½ > mean of T fair coins + deviation)."""
    return float(sum((p for total, p in coin_sums(T) if total / T < -2 * deviation), F(0)))


def test_half_the_deviation_is_too_small():
    """The constant is right within a factor 2, and twice as much, from |X| ≤ 1, is far too much."""
    assert coin_sums(100)[50] == (0, F(comb(100, 50), 2**100))
    right = sqrt(log(1 / 0.05) / 200)
    assert np.isclose(coins(100, right), 0.0060, atol=5e-5)
    assert coins(100, right / 2) > 0.05 and coins(100, 2 * right) < 3e-7


# ---------------------------------------------------------------- the last iterate


def test_linear_decay():
    eta = linear_decay(0.5, 4)
    assert np.allclose(steps(eta, 4), [2.0, 1.5, 1.0, 0.5]) and eta == linear_decay(0.5, 4)
    with pytest.raises(ValueError, match="the steps have run out"):
        step_at(eta, 5)
    assert theorems.LastIterate(1, 1, 3).bound == 1 / 2
    assert np.allclose(steps(theorems.LastIterate(1, 1, 3).step, 3), [3 / 8, 2 / 8, 1 / 8])


def test_pieces_are_a_convex_loss():
    rng = np.random.default_rng(0)
    for f in (Pieces(rng.normal(size=(4, 3)), rng.normal(size=4)), resisting(3, 2.0)):
        check_loss(f)
    assert resisting(2).value(np.array([1.0, 3.0])) == 3 and np.array_equal(
        resisting(2).subgradient(np.array([3.0, 3.0])), [1.0, 0.0]
    )


def test_the_last_iterate_against_a_solver():
    """The minimum of a random function on a ball, by cvxpy, is at most R ρ/√M below the last value."""
    rng = np.random.default_rng(1)
    for N in (1, 4, 20):
        f, over = Pieces(rng.normal(size=(6, 3)), rng.normal(size=6)), Ball(3, 2.0)
        rho = np.linalg.norm(f.slopes, axis=1).max()
        stated = theorems.LastIterate(2.0, rho, N)
        trace = play(OGD(over, stated.step, "eager"), [f] * N)
        best = oracle.best_point([f], over)
        assert -1e-6 <= stated.measure(trace, best) <= stated.bound
        assert stated.proof(trace, over.project(best)).holds()


def test_the_last_iterate_is_certified_in_fractions():
    for N in (1, 2, 3, 7, 12):
        assert last_iterate.prove(N, last_iterate.certificate(N)) == 1
        bound = theorems.LastIterate(np.sqrt(N + 1), 1.0, N)
        assert np.isclose(bound.bound, 1)
        assert np.allclose(steps(bound.step, N), [float(h) for h in last_iterate.linear_steps(N)])


def test_a_spoiled_certificate_is_refused():
    right = last_iterate.certificate(3)
    for change in (F(1, 50), F(-1, 50)):
        spoiled = dict(right)
        spoiled[0, 3] += change
        with pytest.raises(Refused, match="do not add up"):
            last_iterate.prove(3, spoiled)
    round_trip = dict(right)  # values still cancel, the form does not stay positive
    round_trip[1, 2], round_trip[2, 1] = right[1, 2] + 5, F(5)
    with pytest.raises(Refused, match="negative values"):
        last_iterate.prove(3, round_trip)
    with pytest.raises(Refused, match="negative values"):
        last_iterate.prove(3, right, steps=[F(1, 2)] * 3)
    with pytest.raises(Refused, match="is negative"):
        last_iterate.prove(3, right | {(0, 1): -right[0, 1]})
    for pair in ((4, 5), (5, 4), (-1, 2), (1, 0), (2, 2)):  # u is 0, the points are 1 to 4
        with pytest.raises(Refused, match="no condition"):
            last_iterate.prove(3, right | {pair: F(1)})
    with pytest.raises(Refused, match="steps must have N = 3 entries"):
        last_iterate.prove(3, right, steps=[F(1)])


def test_worst_cases_by_semidefinite_programming():
    for N, constant in ((1, 5 * sqrt(2) / 8), (2, 0.78808)):
        M = N + 1
        assert np.isclose(last_iterate.worst(np.arange(N, 0, -1) / M**1.5), 1 / sqrt(M), atol=1e-5)
        assert np.isclose(last_iterate.worst(np.full(N, 1 / sqrt(M))), constant, atol=1e-4)
    assert np.isclose(last_iterate.worst([2.0], radius=2.0), 2 * last_iterate.worst([1.0]), atol=1e-5)


@given(st.data())
def test_no_method_in_the_span_beats_the_floor(data):
    """Any fractions as coefficients: the resisting oracle leaves one coordinate at 0."""
    N = data.draw(st.integers(1, 5))
    M, x, named, answers = N + 1, None, set(), []
    for _ in range(N):
        shares = data.draw(
            st.lists(st.fractions(-2, 2, max_denominator=5), min_size=len(answers), max_size=len(answers))
        )
        x = [sum((a for a, i in zip(shares, answers, strict=True) if i == j), F(0)) for j in range(M)]
        top = [i for i in range(M) if x[i] == max(x)]
        answers.append(next((i for i in top if i not in named), top[0]))
        named.add(answers[-1])
    last = data.draw(st.lists(st.fractions(-2, 2, max_denominator=5), min_size=N, max_size=N))
    x = [sum((a for a, i in zip(last, answers, strict=True) if i == j), F(0)) for j in range(M)]
    f, bound = resisting(M), theorems.LastIterate(np.sqrt(M), 1.0, N).bound  # R² = M, ρ = 1
    assert f.value(np.array(x, dtype=float)) - f.value(-np.ones(M)) >= bound - 1e-12
    assert max(x) - (-1) >= 1


def test_the_theorem_refuses_different_functions_and_other_steps():
    stated = theorems.LastIterate(2.0, 1.5, 4)
    mixed = [resisting(5, 1.5)] * 3 + [resisting(5, 1.0)]
    trace = play(OGD(Space(5), stated.step, "eager"), mixed)
    with pytest.raises(ValueError, match="the same function"):
        stated.proof(trace, np.zeros(5))
    trace = play(OGD(Space(5), 0.1, "eager"), [resisting(5, 1.5)] * 4)
    with pytest.raises(ValueError, match="eager descent"):
        stated.proof(trace, np.zeros(5))


def test_one_round_too_many_among_others_is_refused():
    assert list(linear_decay(0.1, 3)(np.array([1, 3]))) == pytest.approx([0.3, 0.1])
    with pytest.raises(ValueError, match="the steps have run out"):
        linear_decay(0.1, 3)(np.array([1, 4]))


def test_a_function_of_pieces_has_a_value_for_every_row():
    f, W = Pieces([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.0]), np.array([[2.0, 5.0], [3.0, -1.0], [0.0, 0.0]])
    assert f.value(W).tolist() == [max(a + 0.5, b) for a, b in W] == [f.value(w) for w in W]
