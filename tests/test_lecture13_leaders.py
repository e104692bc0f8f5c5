"""Lecture 13, sections 2.1 and 3: the claims of the pages on leaders and descent, with other numbers."""

import numpy as np
import pytest

from ocolib import adversaries, oracle, theorems
from ocolib.game import play
from ocolib.learners import FTL, FTRL, OGD, inverse_sqrt
from ocolib.losses import Linear, Quadratic, hinge
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, Simplex, Space
from ocolib.sets import unit as direction

INTERVAL = Box([-1], [1])


# ---------------------------------------------------------------- follow the leader


def test_leader_is_the_risk_minimiser_of_the_prefix():
    data = np.random.default_rng(3).standard_normal((7, 3))
    trace = play(FTL(Ball(3, 0.8)), [Quadratic(x, curvature=2.0) for x in data])
    for t in range(1, 7):
        fitted = oracle.best_point([Quadratic(x, curvature=2.0) for x in data[:t]], Ball(3, 0.8))
        assert np.abs(trace.points[t] - fitted).max() < 1e-6


@pytest.mark.parametrize("c", [-1.0, -0.3, 0.0, 0.7, 1.0])
@pytest.mark.parametrize("T", [1, 2, 5, 64])
def test_example2_costs_a_leader_T_minus_half_whatever_its_first_move(T, c):
    z = adversaries.alternating(T)[:, 0]
    w = np.concatenate([[c], -np.sign(np.cumsum(z)[:-1])])  # the leader of −w/2 or w/2 is unique
    paid, best = (w * z).sum(), -abs(z.sum())
    assert paid == pytest.approx(T - 1 - c / 2) and best == -0.5
    assert paid - best == pytest.approx(T - 0.5 - c / 2)
    if c == 0:
        assert play(FTL(INTERVAL), adversaries.alternating(T)).regret(INTERVAL) == paid - best


def test_a_strongly_convex_regulariser_steadies_example2_in_proportion_to_its_step():
    for eta in (0.01, 0.3, 1.9):
        trace = play(FTRL(INTERVAL, SquaredNorm(), eta), adversaries.alternating(33))
        assert np.allclose(np.abs(trace.points[1:]), eta / 2)
        assert trace.regret(INTERVAL) == pytest.approx(eta / 2 * 32 + 0.5)
    stiffest = play(FTRL(INTERVAL, SquaredNorm(), 5.0), adversaries.alternating(33))
    assert np.array_equal(stiffest.points, play(FTL(INTERVAL), adversaries.alternating(33)).points)


@pytest.mark.parametrize("slope", [0.25, -0.1, 0.4])
def test_a_linear_regulariser_steadies_nothing(slope):
    """R(w) = slope·w is one more loss: the plays are ±1 in every round, and the regret stays linear."""
    T = 41
    losses = np.vstack([[[slope]], adversaries.alternating(T)])
    w = play(FTL(INTERVAL), losses).points[1:]
    assert (np.abs(w) == 1).all()
    assert (w * losses[1:]).sum() + 0.5 >= T - 1


def test_ftrl_equals_its_cvxpy_twin_on_linear_and_quadratic_losses():
    rng = np.random.default_rng(21)
    for over, R, tol in (
        (Ball(2, 1.5), SquaredNorm([0.2, -0.1]), 1e-6),
        (Simplex(4), NegativeEntropy(), 2e-5),
    ):
        z = rng.standard_normal((6, over.dim))
        twin = play(oracle.FTRL(over, R, 0.4), list(z))
        assert np.abs(play(FTRL(over, R, 0.4), z).points - twin.points).max() < tol
    bowls = [Quadratic(c) for c in rng.standard_normal((6, 2))]
    twin = play(oracle.FTRL(Ball(2), SquaredNorm(), 0.4), bowls)
    assert np.abs(play(FTRL(Ball(2), SquaredNorm(), 0.4), bowls).points - twin.points).max() < 1e-6


def test_leaders_refuse_a_minimum_that_is_not_attained():
    with pytest.raises(ValueError, match="unbounded below"):
        play(FTL(Space(2)), np.ones((3, 2)))


# ---------------------------------------------------------------- Theorem 1


@pytest.mark.parametrize("eta", [0.1, 0.25, 1.0, 3.0])
def test_theorem1_holds_line_by_line_in_every_sign_game(eta):
    games = play(FTRL(INTERVAL, SquaredNorm(), eta), adversaries.all_signs(12))
    assert theorems.Stability.slacks(games).min() >= -1e-12
    for u in (-1.0, -0.4, 0.9):
        promise = theorems.Stability.of(games, [u]).bound
        assert (games.regret(against=[u]) <= promise + 1e-12).all()


def test_theorem1_fails_without_its_base_case():
    """Begin at w_1 = 1 although R = w²/2 is least at 0: one round with f_1 = 0, compared with u = 0."""
    R = SquaredNorm()
    game = play(FTRL(INTERVAL, R, 1.0), np.zeros((1, 1)))
    assert R.value(np.zeros(1)) - R.value(np.ones(1)) == -0.5 < game.regret(against=[0.0]) == 0


def test_theorem1_needs_no_convexity_and_cannot_be_improved():
    """Any tables of losses on five points: without ties the leader of the simplex plays its corners."""
    rng, slack = np.random.default_rng(11), []
    for _ in range(500):
        R, f = rng.random(5), rng.random((3, 5))
        trace = play(FTL(Simplex(5)), np.vstack([R, f]))  # R is one more loss
        w = np.vstack([trace.points[1:], trace.last])
        assert np.isin(w, [0.0, 1.0]).all()
        moved = (f * (w[:-1] - w[1:])).sum()
        regret = (f * w[:-1]).sum() - f.sum(axis=0)  # against each of the five
        slack.append(moved + R - R @ w[0] - regret)
    assert -1e-12 <= np.min(slack) <= 1e-12


# ---------------------------------------------------------------- online subgradient descent


def test_descent_without_walls_is_a_step_against_the_subgradient():
    losses = [Quadratic(c) for c in np.random.default_rng(0).standard_normal((9, 2))]
    w = play(OGD(Space(2), 0.3), losses).plays
    steps = np.array([f.subgradient(x) for f, x in zip(losses, w[:-1], strict=True)])
    assert np.allclose(np.diff(w, axis=0), -0.3 * steps)


def test_the_sign_of_the_printed_box_is_ascent():
    """The numbers are those of the errata page."""
    T, eta = 100, theorems.Descent(2, 1, 100).step
    z = np.ones((T, 1))
    printed = INTERVAL.project(+eta * (np.cumsum(z, axis=0) - z))
    assert (printed * z).sum() + T == pytest.approx(195.96, abs=0.005)
    assert theorems.Descent(2, 1, T).bound == pytest.approx(28.28, abs=0.005)
    assert play(OGD(INTERVAL, eta), z).regret(INTERVAL) == pytest.approx(4.04, abs=0.005)


def test_completing_the_square_fixes_the_signs_of_6_and_7():
    rng = np.random.default_rng(4)
    w, V, eta = rng.standard_normal((50, 3)), rng.standard_normal(3), 1.3
    rule3 = Linear(V).value(w) + SquaredNorm().value(w) / eta
    assert np.ptp(np.square(w + eta * V).sum(1) / (2 * eta) - rule3) < 1e-12
    assert np.ptp(np.square(w - eta * V).sum(1) / (2 * eta) - rule3) > 1
    assert np.ptp(SquaredNorm().value(w) / eta - w @ V - rule3) > 1
    ball = Ball(3, 0.7)
    leader = play(FTRL(ball, SquaredNorm(), eta), V[None]).last
    assert np.allclose(leader, ball.project(-eta * V)) and not np.allclose(leader, ball.project(eta * V))


def test_descent_is_the_leader_of_the_lines_not_of_the_losses():
    bowls = [Quadratic([2.0])] * 4
    descent = play(OGD(Space(1), 0.5), bowls)
    lines = play(FTRL(Space(1), SquaredNorm(), 0.5), descent.subgradients)
    losses = play(FTRL(Space(1), SquaredNorm(), 0.5), bowls)
    assert np.allclose(lines.points, descent.points)
    assert np.abs(losses.points - descent.points).max() > 0.1


def test_descent_on_kinked_losses_is_cvxpys_leader_of_the_lines():
    X, y, _ = adversaries.separable(10, 3, 0.2, seed=1)
    trace = play(OGD(Ball(3, 2.0), 0.4), hinge(X, y))
    twin = play(oracle.FTRL(Ball(3, 2.0), SquaredNorm(), 0.4), list(trace.subgradients))
    assert np.abs(trace.points - twin.points).max() < 1e-6


@pytest.mark.parametrize("sharp", [False, True])
def test_theorem2_chain_holds_on_random_and_hostile_play(sharp):
    over, rho = Ball(3, 2.0), 1.0
    eta = theorems.Descent(over.diameter, rho, 60).step
    X, y, _ = adversaries.separable(60, 3, 0.05, seed=2)
    games = [adversaries.random_directions(60, 3, seed=0), hinge(X, -y), adversaries.orthogonal()]
    for losses in games:
        trace = play(OGD(over, eta), losses, rounds=60)
        for u in (np.zeros(3), over.minimize_linear(trace.subgradients.sum(axis=0))):
            stated = (
                theorems.DescentSharp.of(trace, 2.0, rho) if sharp else theorems.Descent.of(trace, 4.0, rho)
            )
            chain = stated.proof(trace, u)
            assert chain.holds()
            assert chain.values[0] == pytest.approx(trace.regret(against=u))


def test_the_sharp_chain_is_below_the_lectures():
    trace = play(OGD(Ball(2), 0.2), adversaries.random_directions(40, 2, seed=7))
    u = Ball(2).minimize_linear(trace.subgradients.sum(axis=0))
    lecture = theorems.Descent.of(trace, 1.0, 1.0).proof(trace, u)
    sharp = theorems.DescentSharp.of(trace, 1.0, 1.0).proof(trace, u)
    assert (sharp.values[2:] < lecture.values[2:]).all()


def test_the_stray_D_in_the_last_line_is_broken_by_a_game():
    D, T = 0.2, 3
    over, eta = Box([0], [D]), theorems.Descent(D, 1, T).step
    regret = play(OGD(over, eta), -np.ones((T, 1))).regret(over)
    assert T * eta * D + D**2 / (2 * eta) < regret <= T * eta + D**2 / (2 * eta)
    assert T * eta + D**2 / (2 * eta) == pytest.approx(theorems.Descent(D, 1, T).bound)


@pytest.mark.parametrize("rho", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("D", [0.01, 0.2, 0.49, 0.51, 2.0])
def test_two_rounds_break_the_line_with_the_stray_D_exactly_below_one_half(D, rho):
    over, eta = Box([0], [D]), theorems.Descent(D, rho, 2).step
    regret = play(OGD(over, eta), np.full((2, 1), -rho)).regret(over)
    printed = 2 * rho**2 * eta * D + D**2 / (2 * eta)
    assert regret == pytest.approx(1.5 * rho * D) and printed == pytest.approx(rho * D * (1 + D))
    assert (regret > printed) == (D < 0.5)


def test_theorem2_fails_when_0_is_not_in_the_set_and_holds_when_centred():
    over, T = Box([5], [6]), 100
    eta, z = theorems.Descent(1, 1, T).step, -np.ones((T, 1))
    assert play(OGD(over, eta), z).regret(over) > theorems.Descent(1, 1, T).bound
    for start in (5.0, 5.5, 6.0):
        assert play(OGD(over, eta, start=[start]), z).regret(over) <= theorems.Descent(1, 1, T).bound


def test_theorem2_fails_for_a_legal_but_huge_boundary_subgradient():
    class Huge(Linear):
        def subgradient(self, w):
            return np.array([-300.0])

    u = np.linspace(-1, 1, 101)
    assert (u + 1 >= -300.0 * (u + 1)).all()  # −300 satisfies (1) at w = −1 for f(w) = w on [−1, 1]
    once = lambda t, w, past: Huge([1.0]) if w == -1 and not (past < 0).any() else Linear([1.0])  # noqa: E731
    T = 300
    trace = play(OGD(INTERVAL, theorems.Descent(2, 1, T).step), once, rounds=T)
    assert trace.paid.sum() + T > theorems.Descent(2, 1, T).bound


def test_a_step_tuned_for_one_horizon_breaks_the_promise_of_another():
    z = -np.ones((30, 1))
    stiff = play(OGD(INTERVAL, theorems.Descent(2, 1, 10**5).step), z).regret(INTERVAL)
    assert stiff > theorems.Descent(2, 1, 30).bound


def test_the_anytime_step_keeps_its_promise_after_every_round():
    t = np.arange(1, 13)
    curve = play(OGD(INTERVAL, inverse_sqrt(1 / np.sqrt(2))), adversaries.all_signs(12)).regret_curve(
        INTERVAL
    )
    promise = np.array([theorems.DescentAnytime(1, 1, k).bound for k in t])
    assert (curve <= promise + 1e-12).all() and curve.max() > 0.85 * promise[-1]
    hostile = play(OGD(Ball(2), inverse_sqrt(1 / np.sqrt(2))), adversaries.orthogonal(), rounds=200)
    assert (hostile.regret_curve(Ball(2)) <= np.sqrt(2 * np.arange(1, 201))).all()


def test_the_regret_of_descent_grows_like_the_square_root_of_T():
    horizons = np.array([16, 64, 256, 1024])
    worst = [
        play(OGD(Ball(2), theorems.Descent(2, 1, T).step), adversaries.orthogonal(), rounds=T).regret(Ball(2))
        for T in horizons
    ]
    slope = np.polyfit(np.log(horizons), np.log(worst), 1)[0]
    assert slope == pytest.approx(0.5, abs=0.05)


def test_projection_onto_a_circle_expands():
    """The circle is not convex; the projection onto its disk brings no two points further apart."""
    near = np.array([[0.05, 0.0], [-0.05, 0.0]])
    assert np.linalg.norm(np.diff(direction(near), axis=0)) > 10 * np.linalg.norm(np.diff(near, axis=0))
    y = 2 * np.random.default_rng(0).standard_normal((2, 500, 2))
    kept = np.linalg.norm(np.subtract(*Ball(2).project(y)), axis=1) / np.linalg.norm(np.subtract(*y), axis=1)
    assert kept.max() <= 1 + 1e-12 and kept.min() < 0.5


def test_a_concave_kink_has_no_subgradient_so_theorem2_needs_convexity():
    """g(w) = −|w| is 1-Lipschitz; at w = 0 inequality (1) would ask −1 ≥ z and −1 ≥ −z."""

    class Roof:
        dim = 1

        def value(self, w):
            return -abs(w[0])

        def subgradient(self, w):
            return -np.sign(w)

    ends = np.array([[-1.0], [1.0]])
    for z in np.linspace(-5, 5, 101):
        assert min(Roof().value(u) - Linear([z]).value(u) for u in ends) < 0
    T = 64
    trace = play(OGD(INTERVAL, theorems.Descent(2, 1, T).step), [Roof()] * T)
    assert trace.regret(against=ends[0]) == T > theorems.Descent(2, 1, T).bound
