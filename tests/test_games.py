"""Games between two learners: the gap is the regret, plays run away, boosting, AdaBoost in fractions."""

from fractions import Fraction as F
from math import ceil, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocolab import exact
from ocolib import theorems
from ocolib.game import play
from ocolib.games import HedgeFrom, OptimisticHedge, Pair, best_column, duality_gap, play_game
from ocolib.learners import OGD, Hedge
from ocolib.sets import Simplex
from ocolib.testing import check_learner

SCISSORS = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
STARTS = [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]
ROWS = ["-++++--+", "-++--+++", "+-+++-++", "+-++-+++", "+-+-+++-", "++-++++-", "++-+++-+", "++++--+-"]
RULES = np.array([[1 if sign == "+" else -1 for sign in row] for row in ROWS])


def distribution(size):
    return st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any)


@given(st.data())
def test_the_gap_equals_the_regrets_for_any_plays(data):
    """In fractions, for any matrix and any distributions."""
    n, m, T = (data.draw(st.integers(1, 4)) for _ in range(3))
    A = [[F(data.draw(st.integers(-4, 4))) for _ in range(m)] for _ in range(n)]
    xs = [[F(a, sum(w)) for a in w] for w in (data.draw(distribution(n)) for _ in range(T))]
    ys = [[F(a, sum(w)) for a in w] for w in (data.draw(distribution(m)) for _ in range(T))]
    rows = [[sum(A[i][j] * y[j] for j in range(m)) for i in range(n)] for y in ys]
    columns = [[sum(A[i][j] * x[i] for i in range(n)) for j in range(m)] for x in xs]
    paid = sum(x[i] * r[i] for x, r in zip(xs, rows, strict=True) for i in range(n))
    first = paid - min(sum(r[i] for r in rows) for i in range(n))
    second = max(sum(c[j] for c in columns) for j in range(m)) - paid
    gap = max(sum(c[j] for c in columns) / T for j in range(m)) - min(
        sum(r[i] for r in rows) / T for i in range(n)
    )
    assert gap == (first + second) / T >= 0
    means = [[float(sum(w[k] for w in plays) / T) for k in range(len(plays[0]))] for plays in (xs, ys)]
    assert np.isclose(duality_gap(np.array(A, dtype=float), *means), float(gap))


@pytest.mark.parametrize("hint", [0.0, 1.0])
def test_play_game_is_the_loop_by_hand(hint):
    A = np.random.default_rng(3).normal(size=(3, 2))
    row, column = HedgeFrom([0.2, 0.5, 0.3], 0.4, hint), HedgeFrom([0.6, 0.4], 0.7, hint)
    trace = play_game(A, row, column, rounds=30)
    Z, V, z, v = np.zeros(3), np.zeros(2), np.zeros(3), np.zeros(2)
    for x, y in zip(trace.x, trace.y, strict=True):
        by_hand = [0.2, 0.5, 0.3] * np.exp(-0.4 * (Z + hint * z))
        assert np.allclose(x, by_hand / by_hand.sum())
        by_hand = [0.6, 0.4] * np.exp(-0.7 * (V + hint * v))
        assert np.allclose(y, by_hand / by_hand.sum())
        z, v = A @ y, -A.T @ x
        Z, V = Z + z, V + v
    assert np.isclose(sum(trace.regrets) / 30, trace.gap)
    assert np.allclose(trace.paid, 0)  # what one pays, the other gets
    assert np.allclose(trace.payments, [x @ A @ y for x, y in zip(trace.x, trace.y, strict=True)])


def test_other_learners_can_play():
    trace = play_game(SCISSORS, OGD(Simplex(3), 0.1, start=[0.5, 0.3, 0.2]), Hedge(3, 0.1), rounds=50)
    alone = play(OGD(Simplex(3), 0.1, start=[0.5, 0.3, 0.2]), trace.y @ SCISSORS.T)
    assert np.allclose(alone.points, trace.x)
    assert np.isclose(trace.regrets[0], alone.regret())
    other = play(Hedge(3, 0.1), -trace.x @ SCISSORS)
    assert np.isclose(trace.regrets[1], other.regret())


class Counted:
    """Plays a corner at random, and counts how often its player of this game was asked."""

    def player(self):
        self.asked, self.rng = 0, np.random.default_rng(0)
        return self

    def predict(self):
        self.asked += 1
        return np.eye(3)[self.rng.integers(3)]

    def step(self, z):
        pass


def test_both_players_are_asked_once_a_round():
    row, column = Counted(), Counted()
    trace = play_game(SCISSORS, row, column, rounds=7)
    assert row.asked == column.asked == 8, "and once more for w_8"
    rng = np.random.default_rng(0)
    assert trace.x.tolist() == [np.eye(3)[rng.integers(3)].tolist() for _ in range(7)]


def test_learners_keep_the_rules():
    check_learner(HedgeFrom([0.2, 0.5, 0.3], 0.4))
    check_learner(OptimisticHedge(4, 0.3))
    check_learner(Pair(Hedge(2, 0.5), OptimisticHedge(3, 0.3)))
    Z = np.random.default_rng(0).normal(size=(9, 4))
    assert np.allclose(HedgeFrom(np.full(4, 0.25), 0.3).points(Z), Hedge(4, 0.3).points(Z))


def test_optimistic_hedge_counts_the_last_loss_twice():
    Z = np.random.default_rng(1).normal(size=(7, 3))
    found = OptimisticHedge(3, 0.4).points(Z)
    for t in range(1, 8):
        assert np.allclose(found[t], Hedge(3, 0.4).points(np.vstack([Z[:t], Z[t - 1 : t]]))[-1])
    hedge, hopeful = ([HedgeFrom(start, 0.1, hint) for start in STARTS] for hint in (0.0, 1.0))
    slow, fast = play_game(SCISSORS, *hedge, 1000), play_game(SCISSORS, *hopeful, 1000)
    assert np.isclose(slow.gap, 0.0370, atol=5e-5) and np.isclose(fast.gap, 0.0056, atol=5e-5)
    assert np.isclose(duality_gap(SCISSORS, slow.x[-1], slow.y[-1]), 1.379, atol=5e-4)
    assert np.isclose(duality_gap(SCISSORS, fast.x[-1], fast.y[-1]), 0.071, atol=5e-4)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="row must have 3 choices"):
        play_game(SCISSORS, Hedge(2, 0.1), Hedge(3, 0.1), 5)
    with pytest.raises(ValueError, match=r"column must have a method player\(\)"):
        play_game(SCISSORS, Hedge(3, 0.1), "Hedge", 5)
    with pytest.raises(ValueError, match="start must be a distribution"):
        HedgeFrom([0.5, 0.6], 0.1)
    with pytest.raises(ValueError, match="start must be a distribution"):
        HedgeFrom([0.0, 1.0], 0.1)
    with pytest.raises(ValueError, match="at least 2 rows"):
        theorems.HedgeGame(np.ones((1, 3)), 5)


def test_two_hedges_find_the_value():
    """Against the exact value by the simplex method."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        A = rng.integers(0, 2, (3, 4))
        value = float(exact.matrix_game([[F(int(a)) for a in row] for row in A])[0])
        stated = theorems.HedgeGame(A.astype(float), 1000)
        trace = play_game(stated.matrix, *stated.players, rounds=1000)
        low, high = (A @ trace.y.mean(axis=0)).min(), (trace.x.mean(axis=0) @ A).max()
        assert low - 1e-9 <= value <= high + 1e-9 and high - low <= stated.bound


def relative(p, q):
    return float((p * np.log(p / q)).sum())


@given(st.integers(0, 10**6), st.floats(0.01, 2.0))
def test_relative_entropy_never_falls(seed, eta):
    """In games built to have an equilibrium with positive entries."""
    rng = np.random.default_rng(seed)
    n, m = 3, 4
    x, y = rng.dirichlet(np.ones(n)) * 0.9 + 0.1 / n, rng.dirichlet(np.ones(m)) * 0.9 + 0.1 / m
    B = rng.normal(size=(n, m))
    A = B - (B @ y)[:, None] - (x @ B)[None, :] + 2 * (x @ B @ y)  # A y and Aᵀx are constant
    assert np.allclose(A @ y, x @ B @ y) and np.allclose(x @ A, x @ B @ y)
    starts = rng.dirichlet(np.ones(n)) + 0.05, rng.dirichlet(np.ones(m)) + 0.05
    pair = [HedgeFrom(start / start.sum(), eta) for start in starts]
    trace = play_game(A, *pair, rounds=15)
    far = [relative(x, a) + relative(y, b) for a, b in zip(trace.x, trace.y, strict=True)]
    assert (np.diff(far) >= -1e-9 * max(1.0, max(far))).all()


def test_relative_entropy_falls_to_an_edge():
    trace = play_game([[0.0, 0.0], [1.0, 1.0]], Hedge(2, 0.1), Hedge(2, 0.1), rounds=50)
    assert (np.diff(-np.log(trace.x[:, 0])) < 0).all()


# ---------------------------------------------------------------- boosting


def test_boosting_reaches_the_largest_margin():
    for T in (10, 100, 2000):
        stated = theorems.Boosting(RULES, T)
        trace = play(Hedge(8, stated.step), best_column(RULES), rounds=T)
        margin = trace.subgradients.mean(axis=0).min()
        assert 3 / 8 - stated.bound <= margin <= 3 / 8
        assert stated.proof(trace, np.array([2, 3, 4, 1, 2, 2, 1, 1]) / 16).holds()


def test_a_lazy_weak_learner_is_refused():
    stated = theorems.Boosting(RULES, 5)
    trace = play(Hedge(8, stated.step), np.tile(RULES[:, 3].astype(float), (5, 1)))
    with pytest.raises(ValueError, match="its edge is the largest"):
        stated.proof(trace, np.full(8, 1 / 8))


def test_the_majority_is_right_in_time():
    rng, tried = np.random.default_rng(9), 0
    while tried < 8:
        M = rng.choice([-1, 1], (6, 12), p=[0.3, 0.7])
        value = exact.matrix_game([[F(int(a)) for a in row] for row in M])[0]
        if value <= 0 or (T := ceil(log(6) / (2 * float(value / 2) ** 2)) + 1) > 2000:
            continue
        tried += 1
        stated = theorems.Boosting(M, T)
        trace = play(Hedge(6, stated.step), best_column(M), rounds=T)
        assert trace.subgradients.sum(axis=0).min() > 0


def test_the_largest_margin_is_three_eighths():
    whole = [[F(int(a)) for a in row] for row in RULES]
    assert exact.matrix_game(whole)[0] == F(3, 8)
    assert exact.matrix_game([row[:3] for row in whole])[0] == F(1, 3)
    vote, weights = np.array([2, 3, 4, 1, 2, 2, 1, 1]), np.array([2, 3, 2, 1, 2, 2, 3, 1])
    assert vote.sum() == weights.sum() == 16
    assert set((RULES @ vote).tolist()) == set((weights @ RULES).tolist()) == {6}


def test_adaboost_cycles_through_three_rules():
    """In fractions, and by the usual formula with logarithms for a few rounds."""
    w, chosen, edges = [F(1, 8)] * 8, [], []
    v, votes = np.full(8, 1 / 8), np.zeros(8)
    for t in range(150):
        each = [sum(a * int(s) for a, s in zip(w, column, strict=True)) for column in RULES.T]
        edge = max(each)
        chosen.append(each.index(edge) + 1)
        edges.append(edge)
        signs = RULES[:, chosen[-1] - 1]
        if 0 < t < 30:  # no tie but in round 1
            assert np.array_equal(best_column(RULES)(t, np.array(w, dtype=float), None), signs)
        alpha = np.log((1 + float(edge)) / (1 - float(edge))) / 2
        votes[chosen[-1] - 1] += alpha
        if t < 20:
            assert np.allclose(v, [float(a) for a in w])
            v = v * np.exp(-alpha * signs)
            v = v / v.sum()
        w = [a / (1 + int(s) * edge) for a, s in zip(w, signs, strict=True)]
        assert sum(w) == 1 and sum(a * int(s) for a, s in zip(w, signs, strict=True)) == 0
        assert (RULES @ votes).min() / votes.sum() <= 1 / 3 + 1e-12
    assert chosen == [1, 3, 2] * 50
    assert edges[:4] == [F(1, 2), F(2, 3), F(7, 10), F(11, 17)]
    assert np.isclose(float(edges[-1]), (np.sqrt(5) - 1) / 2)


@pytest.mark.parametrize("start", [[0.0, 1.0], [1.5, -0.5], [0.5, 0.4], [0.5, 0.5 + 1e-6]])
def test_one_bad_entry_of_a_start_is_refused(start):
    with pytest.raises(ValueError, match="distribution"):
        HedgeFrom(start, 0.1)


def test_many_rows_of_optimistic_hedge_are_the_rows_one_by_one():
    learner, rng = HedgeFrom([0.5, 0.3, 0.2], 0.7, 1.0), np.random.default_rng(0)
    z, Z = rng.standard_normal((2, 4, 3)) * [[1.0], [10.0], [100.0], [1000.0]]
    together = learner.after(3, None, z, Z)
    for t in range(4):
        assert together[t] == pytest.approx(learner.after(3, None, z[t], Z[t]), abs=1e-15)
        weights = np.array([0.5, 0.3, 0.2]) * np.exp(-0.7 * (z[t] + Z[t] - (z[t] + Z[t]).min()))
        assert together[t] == pytest.approx(weights / weights.sum(), abs=1e-14)


def test_a_game_is_shown_in_one_line():
    trace = play_game([[0, 1], [1, 0]], HedgeFrom([0.5, 0.5], 0.1), OptimisticHedge(2, 0.1), rounds=3)
    assert repr(trace) == "GameTrace(HedgeFrom against HedgeFrom: 3 rounds, duality gap 0)"
