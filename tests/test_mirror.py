"""Mirror descent: against cvxpy and three-line loops, its theorems by hand, and the quarter game."""

from itertools import product
from math import exp, log, sqrt

import cvxpy as cp
import numpy as np
import pytest

from ocolib import theorems
from ocolib.game import play
from ocolib.learners import FTRL, OGD, Hedge, Winnow, inverse_sqrt
from ocolib.losses import perceptron_loss
from ocolib.mirror import MirrorDescent, bregman
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Orthant, Simplex, Space
from ocolib.testing import check_learner, check_theorem

MAPS = [
    (Ball(3), SquaredNorm([0.4, 0.0, -0.2]), None),
    (Box([-1.0, 0.0, -0.1], [1.0, 0.5, 0.3]), SquaredNorm(), [0.2, 0.1, 0.0]),
    (Simplex(3), NegativeEntropy(), [0.2, 0.3, 0.5]),
    (Orthant(3), UnnormalizedEntropy(), [2.0, 1.0, 0.25]),
]
ROUNDS = np.array([[0.7, -0.2, 1.0], [-1.0, 0.4, 0.3], [0.5, 0.5, -2.0], [0.0, 1.5, -0.5]])


# ---------------------------------------------------------------- Bregman divergences


def test_divergences_by_hand():
    assert bregman(SquaredNorm(), [3.0, 1.0], [1.0, 2.0]) == pytest.approx(2.5)  # (4 + 1)/2
    assert bregman(SquaredNorm([9.0, 9.0]), [3.0, 1.0], [1.0, 2.0]) == pytest.approx(2.5)
    assert bregman(NegativeEntropy(), [0.5, 0.5], [0.25, 0.75]) == pytest.approx(log(2) / 2 + log(2 / 3) / 2)
    assert bregman(NegativeEntropy(), [0.0, 1.0], [0.25, 0.75]) == pytest.approx(log(4 / 3))
    assert bregman(UnnormalizedEntropy(), [2.0, 0.0], [1.0, 3.0]) == pytest.approx(2 * log(2) - 2 + 1 + 3)
    many = bregman(SquaredNorm(), [1.0, 0.0], [[0.0, 0.0], [1.0, 2.0]])
    assert many == pytest.approx([0.5, 2.0])


def test_a_divergence_is_not_symmetric():
    u, w = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    one, other = bregman(NegativeEntropy(), u, w), bregman(NegativeEntropy(), w, u)
    assert one == pytest.approx(0.9 * log(1.8) + 0.1 * log(0.2))
    assert other == pytest.approx(0.5 * log(5 / 9) + 0.5 * log(5))
    assert other - one > 0.1


def test_the_three_point_identity():
    """B(u, w) − B(u, v) − B(v, w) = ⟨∇R(v) − ∇R(w), u − v⟩."""
    rng = np.random.default_rng(0)
    for R in (SquaredNorm(), NegativeEntropy(), UnnormalizedEntropy()):
        u, v, w = rng.dirichlet(np.ones(4), 3)
        left = bregman(R, u, w) - bregman(R, u, v) - bregman(R, v, w)
        assert left == pytest.approx((R.gradient(v) - R.gradient(w)) @ (u - v))


@pytest.mark.parametrize("R", [SquaredNorm([0.3, 0.1, 0.2]), NegativeEntropy(), UnnormalizedEntropy()])
def test_a_gradient_is_the_difference_quotient(R):
    w, h = np.array([0.3, 0.5, 0.9]), 1e-6
    slope = [(R.value(w + h * e) - R.value(w - h * e)) / (2 * h) for e in np.eye(3)]
    assert R.gradient(w) == pytest.approx(slope, abs=1e-8)


def test_the_boundary_of_the_simplex_is_refused():
    with pytest.raises(ValueError, match="w must be a point where ∇R is finite"):
        bregman(NegativeEntropy(), [0.5, 0.5], [1.0, 0.0])
    with pytest.raises(ValueError, match="w must be a point where ∇R is finite"):
        MirrorDescent(Simplex(2), NegativeEntropy(), 0.1, [1.0, 0.0])
    with pytest.raises(ValueError, match="start must lie in"):
        MirrorDescent(Ball(2), SquaredNorm(), 0.1, [1.0, 1.0])
    with pytest.raises(ValueError, match=r"^round 2: w must be a point where ∇R is finite"):
        losses = [np.array([0.0, 1.0])] * 3
        play(MirrorDescent(Simplex(2), NegativeEntropy(), 800.0), iter(losses))


# ---------------------------------------------------------------- the learner


@pytest.mark.parametrize(("over", "R", "start"), MAPS)
def test_each_step_minimises_by_cvxpy(over, R, start):
    eta = 0.6
    w = play(MirrorDescent(over, R, eta, start), ROUNDS).plays
    for before, z, after in zip(w, ROUNDS, w[1:], strict=False):
        x = cp.Variable(3)
        moved = R.expression(x) - R.gradient(before) @ x
        problem = cp.Problem(cp.Minimize(eta * z @ x + moved), over.constraints(x))
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        assert after == pytest.approx(x.value, abs=1e-4)
        ours = eta * z @ after + R.value(after) - R.gradient(before) @ after
        assert ours <= problem.value + 1e-7


@pytest.mark.parametrize(("over", "R", "start"), MAPS)
@pytest.mark.parametrize("eta", [0.3, inverse_sqrt(0.5)])
def test_it_keeps_the_rules_of_the_game(over, R, start, eta):
    check_learner(MirrorDescent(over, R, eta, start))


def test_it_is_three_algorithms():
    rng = np.random.default_rng(1)
    Z = rng.uniform(-1, 1, (30, 3))
    for eta in (0.4, inverse_sqrt(0.9)):
        ours = MirrorDescent(Ball(3), SquaredNorm(), eta).points(Z)
        assert ours == pytest.approx(OGD(Ball(3), eta, "eager").points(Z))
    ours = MirrorDescent(Simplex(3), NegativeEntropy(), 0.4).points(Z)
    assert ours == pytest.approx(Hedge(3, 0.4).points(Z))
    X, y = rng.integers(0, 2, (40, 3)).astype(float), rng.choice([-1.0, 1.0], 40)
    losses = perceptron_loss(X, y, 1.5)
    winnow = play(Winnow(3, 1.5), losses)
    ours = play(MirrorDescent(Orthant(3), UnnormalizedEntropy(), log(2)), losses)
    assert ours.plays == pytest.approx(winnow.plays) and winnow.updates.sum() > 5


def test_eager_hedge_with_falling_steps_in_three_lines():
    rng = np.random.default_rng(2)
    Z, w, plays = rng.uniform(0, 1, (20, 4)), np.full(4, 0.25), [np.full(4, 0.25)]
    for t, z in enumerate(Z, start=1):
        w = w * np.exp(-0.8 / sqrt(t) * z)
        w = w / w.sum()
        plays.append(w)
    ours = MirrorDescent(Simplex(4), NegativeEntropy(), inverse_sqrt(0.8)).points(Z)
    assert ours == pytest.approx(np.array(plays))
    assert np.abs(ours - Hedge(4, inverse_sqrt(0.8)).points(Z)).max() > 0.01, "and it is not the lazy form"


# ---------------------------------------------------------------- when lazy and eager coincide


def test_lazy_and_eager_coincide_for_entropy_and_without_a_set():
    Z = np.random.default_rng(3).standard_normal((60, 3))
    for over, R in ((Simplex(3), NegativeEntropy()), (Orthant(3), UnnormalizedEntropy())):
        assert MirrorDescent(over, R, 0.3).points(Z) == pytest.approx(FTRL(over, R, 0.3).points(Z), rel=1e-9)
    one, two = MirrorDescent(Space(3), SquaredNorm(), 0.3), FTRL(Space(3), SquaredNorm(), 0.3)
    assert one.points(Z) == pytest.approx(two.points(Z))


def test_lazy_and_eager_differ_on_a_ball():
    Z = np.array([[1.0, 0.0]] * 4 + [[-1.0, 0.0]] * 2)
    lazy, eager = FTRL(Ball(2), SquaredNorm(), 0.5), MirrorDescent(Ball(2), SquaredNorm(), 0.5)
    assert lazy.points(Z)[-1] == pytest.approx([-1.0, 0.0])
    assert eager.points(Z)[-1] == pytest.approx([0.0, 0.0])


def test_the_stabilised_step_is_the_lazy_form():
    """log w_{t+1} = r(log w_t − η_t z_t) + (1 − r) log w_1 with r = η_{t+1}/η_t, up to a constant."""
    Z = np.random.default_rng(4).uniform(0, 1, (40, 3))
    first = np.full(3, 1 / 3)
    w, plays = first, [first]
    for t, z in enumerate(Z, start=1):  # round t is played with h_t = 1/√t
        h, after = 1 / sqrt(t), 1 / sqrt(t + 1)
        logs = after / h * (np.log(w) - h * z) + (1 - after / h) * np.log(first)
        w = np.exp(logs - logs.max())
        w = w / w.sum()
        plays.append(w)
    lazy = Hedge(3, lambda t: 1 / np.sqrt(t + 1)).points(Z)
    assert np.array(plays) == pytest.approx(lazy)


# ---------------------------------------------------------------- the quarter game


def quarter(T):
    """Expert 2 errs for T/4 rounds, then expert 1."""
    return np.where(np.arange(T)[:, None] < T // 4, [[0.0, 1.0]], [[1.0, 0.0]])


SCALE = 2 * sqrt(log(2))
EAGER = MirrorDescent(Simplex(2), NegativeEntropy(), inverse_sqrt(SCALE))
LAZY = Hedge(2, lambda t: SCALE / np.sqrt(t + 1))


@pytest.mark.parametrize(("T", "share"), [(100, 0.381), (1600, 0.464), (6400, 0.482)])
def test_the_quarter_game_has_linear_regret(T, share):
    eager, odds, paid = play(EAGER, quarter(T)), 0.0, 0.0
    for t in range(1, T + 1):  # the same in one number, the log-odds of expert 1
        p = 1 / (1 + exp(-odds))
        first = t <= T // 4
        paid += 1 - p if first else p
        odds += SCALE / sqrt(t) if first else -SCALE / sqrt(t)
    assert eager.regret() == pytest.approx(paid - T // 4) and eager.regret() / T == pytest.approx(
        share, abs=1e-3
    )
    assert play(LAZY, quarter(T)).regret() == pytest.approx(2.204, abs=0.005)
    assert play(LAZY, quarter(T)).regret() <= theorems.HedgeAnytime(2, T).bound < eager.regret()


def test_the_worst_games_of_eager_and_lazy_hedge():
    """Over all 2^T games in which one expert errs: the lazy bound √(T ln 2) fails for eager at T = 8."""
    for T, eager, lazy in ((4, 1.344, 1.068), (8, 2.463, 1.665)):
        games = np.array(
            [[[0.0, 1.0] if b else [1.0, 0.0] for b in bits] for bits in product((1, 0), repeat=T)]
        )
        worst = [play(learner, games).regret().max() for learner in (EAGER, LAZY)]
        assert worst == pytest.approx([eager, lazy], abs=1e-3)
        assert (worst[0] > sqrt(T * log(2))) == (T == 8) and worst[1] <= sqrt(T * log(2))
    bits = np.array([1, 1, 0, 0, 0, 0, 0, 0])[:, None]
    assert play(EAGER, np.where(bits, [[0.0, 1.0]], [[1.0, 0.0]])).regret() == pytest.approx(2.463, abs=1e-3)


def test_the_divergence_in_the_quarter_game_grows_like_the_root():
    trace = play(EAGER, quarter(1600))
    far = bregman(NegativeEntropy(), [0.0, 1.0], trace.points)
    assert far.max() == pytest.approx(SCALE * sum(1 / sqrt(t) for t in range(1, 401)), rel=1e-6)  # e^−65 is 0
    stated = theorems.MirrorFalling(log(2), 0.5, 1600, SCALE)
    assert not stated.hypotheses(trace, [0.0, 1.0])["B(u, w_t) ≤ divergence"]
    large = theorems.MirrorFalling(far.max(), 0.5, 1600, SCALE)
    assert large.proof(trace, [0.0, 1.0]).holds() and large.bound > trace.regret()


# ---------------------------------------------------------------- the theorems


@pytest.mark.parametrize("theorem", [theorems.Mirror, theorems.MirrorFalling])
def test_the_theorems(theorem):
    check_theorem(theorem)


def test_half_the_range_gives_the_bound_of_hedge():
    stated = theorems.Mirror(log(5), 0.5, 70)
    assert stated.bound == pytest.approx(theorems.Hedge(5, 70).bound)
    assert stated.step == pytest.approx(theorems.Hedge(5, 70).step)


def test_the_chain_of_mirror_descent_line_by_line():
    losses = np.array([[0.3, 1.0, 0.0], [0.9, 0.1, 0.5], [0.2, 0.2, 0.7]])
    eta, u = 0.8, np.array([0.0, 0.25, 0.75])
    trace = play(MirrorDescent(Simplex(3), NegativeEntropy(), eta), losses)
    w = [np.full(3, 1 / 3)]
    for z in losses:
        w.append(w[-1] * np.exp(-eta * z) / sum(w[-1] * np.exp(-eta * z)))

    def kl(p, q):
        return sum(a * log(a / b) for a, b in zip(p, q, strict=True) if a)

    size = [(max(z) - min(z)) / 2 for z in losses]
    step = [abs(w[t + 1] - w[t]).sum() for t in range(3)]
    regret = sum(losses[t] @ (w[t] - u) for t in range(3))
    three = sum(
        losses[t] @ (w[t] - w[t + 1]) + (kl(u, w[t]) - kl(u, w[t + 1]) - kl(w[t + 1], w[t])) / eta
        for t in range(3)
    )
    far = kl(u, w[0]) / eta
    chain = theorems.Mirror(log(3), 0.5, 3, eta).chain(trace, u)
    lines = [
        regret,
        regret,
        three,
        far + sum(s * d - d**2 / (2 * eta) for s, d in zip(size, step, strict=True)),
        far + eta / 2 * sum(s**2 for s in size),
        log(3) / eta + eta / 2 * 3 / 4,
    ]
    assert chain.values == pytest.approx(lines) and chain.holds()
    assert lines[1] == pytest.approx(lines[2]), "inside the simplex the second inequality is an equality"


def test_the_chain_with_falling_steps_line_by_line():
    Z, u = np.array([[1.0], [-1.0], [2.0], [1.0]]), np.array([-1.0])
    trace = play(MirrorDescent(Box([-1.0], [1.0]), SquaredNorm(), inverse_sqrt(0.5)), Z)
    eta = [0.5 / sqrt(t) for t in (1, 2, 3, 4)]
    w = [0.0]
    for z, step in zip(Z[:, 0], eta, strict=True):
        w.append(min(1.0, max(-1.0, w[-1] - step * z)))
    far = [(x + 1) ** 2 / 2 for x in w]
    drop = sum((far[t] - far[t + 1]) / eta[t] for t in range(4))
    noise = sum(e * z**2 for e, z in zip(eta, Z[:, 0], strict=True)) / 2
    stay = sum(Z[t, 0] * (w[t] - w[t + 1]) - (w[t] - w[t + 1]) ** 2 / (2 * eta[t]) for t in range(4))
    regret = sum(z * (x + 1) for z, x in zip(Z[:, 0], w, strict=False))
    stated = theorems.MirrorFalling(2.0, 2.0, 4, 0.5)
    lines = [regret, regret, stay + drop, drop + noise, max(far[:4]) / eta[3] + noise, (4.0 + 2.0) * 2]
    chain = stated.chain(trace, u)
    assert chain.values == pytest.approx(lines) and chain.holds()
