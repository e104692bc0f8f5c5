"""Lecture 4: moving comparators, experts on a simplex, the online SVM, late gradients."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import BOUNDED, KINDS, members, sets, vectors, violation

from ocolab import limits
from ocolib import adversaries, oracle, theorems
from ocolib.game import play
from ocolib.learners import OGD, DelayedOGD, Hedge, OnlineSVM, inverse_sqrt
from ocolib.losses import Quadratic, hinge
from ocolib.sets import Ball, Box, L1Ball, Simplex, Space
from ocolib.theorems.zinkevich import zigzag_and_drag

UNIT = Box([0], [1])
CENTERS = [(UNIT, np.array([0.5])), (Ball(3, 1.5), np.zeros(3)), (Simplex(4), np.full(4, 0.25))]


def blind(T, tau):
    """Adversaries against a delay on [−1, 1]: same sign for τ + 1 rounds, never turn, uphill of the play."""
    block = np.where((np.arange(T) // (tau + 1)) % 2 == 0, 1.0, -1.0)[:, None]
    return [block, np.ones((T, 1)), lambda t, w, past: np.where(w >= 0, 1.0, -1.0)]


def zinkevich(over, start=None, scale=1.0):
    return OGD(over, inverse_sqrt(scale), "eager", start)


def length(u):
    return np.linalg.norm(np.diff(u, axis=0), axis=1).sum()


def crossings(T, many):
    """On [0, 1]: wait at 0, then the comparator jumps from end to end as soon as the player arrives."""
    z, u = np.zeros((T, 1)), np.zeros((T, 1))
    n = int(np.ceil(np.sqrt(T)))
    for k in range(many):
        rounds = slice(T - (many - k) * n, T - (many - k - 1) * n)
        z[rounds], u[rounds] = (-1, 1) if k % 2 == 0 else (1, 0)
    return z, u


def circling(T, many):
    """On the triangle: the player is led from vertex to vertex, the comparator round a smaller triangle."""
    e, p = np.eye(3), np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0]]) / 3
    n = int(np.ceil(np.sqrt(2 * T)))
    z, u = np.zeros((T, 3)), np.tile(p[2], (T, 1))
    for k in range(many):
        rounds = slice(T - (many - k) * n, T - (many - k - 1) * n)
        z[rounds] = (e[k % 3] - e[(k + 1) % 3]) / np.sqrt(2)
        u[rounds] = p[k % 3]
    return z, u


# ---------------------------------------------------------------- 4.1: sets, functions, descent


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=15)
def test_segments_stay_in_the_set(kind, data):
    over = data.draw(sets(kind))
    x, y = members(over, seed=1), members(over, seed=2)
    for t in (0.0, 0.25, 0.6, 1.0):
        between = (1 - t) * x + t * y
        assert over.contains(between).all()
        assert violation(over, between) < 1e-9


def test_two_points_are_not_convex():
    """On {0, 1} descent with steps below 1/2 falls back to where it was: its regret is linear."""

    class TwoPoints:
        dim, diameter = 1, 1.0

        def contains(self, x):
            return np.isin(x, [0.0, 1.0]).all(axis=-1)

        def project(self, y):
            return (y > 0.5).astype(float)

    T = 400
    z = -np.ones((T, 1))
    z[:4] = 0.0  # 1/√t < 1/2 from the fifth round
    trace = play(zinkevich(TwoPoints(), [0.0]), z)
    assert not TwoPoints().contains(np.array([0.5]))  # a segment leaves the set
    assert trace.regret(against=[1.0]) == T - 4 > theorems.Zinkevich(1, 1, 0, T).bound
    assert play(zinkevich(UNIT, [0.0]), z).regret(UNIT) <= theorems.Zinkevich(1, 1, 0, T).bound


@given(vectors(3), vectors(3), st.floats(0, 1))
def test_losses_lie_below_their_chords(x, y, t):
    X, labels = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]]), np.array([1.0, -1.0])
    for f in (Quadratic([1.0, 0.0, -1.0]).value, lambda w: hinge(X, labels).values(w).sum()):
        chord = (1 - t) * f(x) + t * f(y)
        assert f((1 - t) * x + t * y) <= chord + 1e-9 * max(1.0, chord)


def test_the_printed_definition_of_convexity_refuses_the_square():
    f, x, y, t = Quadratic([0.0], curvature=2.0).value, np.ones(1), np.ones(1), 0.0
    assert f((1 - t) * x + y) > (1 - t) * f(x) + t * f(y)
    assert f((1 - t) * x + t * y) <= (1 - t) * f(x) + t * f(y)


def test_eager_descent_by_hand():
    """[0, 1] from 0 with slopes −1, −1, +1: 0, 1 (projected after), 1, 1 − 1/√3."""
    trace = play(zinkevich(UNIT), np.array([[-1.0], [-1.0], [1.0]]))
    assert np.allclose(trace.plays[:, 0], [0, 1, 1, 1 - 1 / np.sqrt(3)])


def test_with_a_plus_it_climbs():
    x, climbing = 0.5, 0.0
    for t in range(1, 1001):
        climbing += x**2 / 4
        x = np.clip(x + x / 2 / np.sqrt(t), -1, 1)
    down = play(zinkevich(Box([-1], [1]), start=[0.5]), [Quadratic([0.0], 0.5)] * 1000)
    assert np.isclose(climbing, 249.703125) and np.isclose(down.regret(against=[0.0]), 0.093269, atol=1e-6)
    assert climbing > theorems.Zinkevich(2.0, 0.5, 0.0, 1000).bound / 3 > down.regret(against=[0.0])


def test_one_over_t_has_linear_regret_on_geometric_phases():
    for turns, limit in ((9, (4 - 5 * np.log(2)) / 3), (10, 1 - 4 * np.log(2) / 3)):
        T = 10 * 2**turns
        phases = adversaries.geometric_phases(T)
        slow = play(OGD(UNIT, lambda t: 1 / t, "eager"), phases).regret(UNIT)
        assert abs(slow / T - limit) < 1e-3
        assert slow > 5 * theorems.Zinkevich(1, 1, 0, T).bound
        assert play(zinkevich(UNIT), phases).regret(UNIT) <= theorems.ZinkevichSharp(1, 1, 0, T).bound


def test_geometric_phases_turn_where_they_should():
    z = adversaries.geometric_phases(95, first=10, ratio=3)[:, 0]
    assert (z[:10] == -1).all() and (z[10:30] == 1).all() and (z[30:90] == -1).all() and (z[90:] == 1).all()
    assert (adversaries.geometric_phases(4, first=10) == -1).all()
    for bad in ({"T": 0}, {"T": 5, "first": 0}, {"T": 5, "ratio": 1.0}):
        with pytest.raises(ValueError, match=list(bad)[-1]):
            adversaries.geometric_phases(**bad)


@pytest.mark.parametrize("kind", BOUNDED)
@given(data=st.data())
def test_the_diameter_is_the_largest_distance(kind, data):
    over = data.draw(sets(kind))
    angle = np.linspace(0, 2 * np.pi, 60)
    ends = [over.minimize_linear(s * np.eye(over.dim)[i]) for i in range(over.dim) for s in (-1.0, 1.0)]
    if isinstance(over, Box):
        ends += [over.low, over.high]
    if over.dim > 1:
        plane = np.zeros((60, over.dim))
        plane[:, 0], plane[:, 1] = np.cos(angle), np.sin(angle)
        ends += list(over.minimize_linear(plane))
    ends = np.array(ends)
    far = np.linalg.norm(ends[:, None] - ends, axis=-1).max()
    assert np.isclose(far, over.diameter)


# ---------------------------------------------------------------- Theorem 4.1.3


@pytest.mark.parametrize(("over", "center"), CENTERS)
@given(data=st.data())
def test_theorem_413_holds_line_by_line(over, center, data):
    T, n = data.draw(st.integers(1, 12)), over.dim
    Z = np.array([data.draw(vectors(n, 2.0)) for _ in range(T)])
    u = over.project(np.array([data.draw(vectors(n, 2.0)) for _ in range(T)]))
    rho, D, L = max(np.linalg.norm(Z, axis=1).max(), 0.1), over.diameter, length(u)
    trace = play(zinkevich(over), Z)
    by_diameter = theorems.Zinkevich.of(trace, u, D, rho).proof(trace, u)
    by_radius = theorems.ZinkevichSharp.of(trace, u, D, rho, center).proof(trace, u)
    assert by_diameter.holds() and by_radius.holds()
    assert np.isclose(by_diameter.values[0], trace.dynamic_regret(u))
    assert np.isclose(by_diameter.values[-1], theorems.Zinkevich(D, rho, L, T).bound)
    assert np.isclose(by_diameter.values[-2], theorems.ZinkevichSharp(D, rho, L, T).bound)
    sharp = theorems.ZinkevichSharp(D, rho, L, T, over.farthest(center)).bound
    assert np.isclose(sharp, min(by_diameter.values[-2], by_radius.values[-1]))


def test_the_chain_notices_a_player_that_did_not_project():
    trace = play(zinkevich(UNIT), np.array([[-1.0], [-1.0], [1.0]]))
    cheat = replace(trace, points=np.array([[0.0], [1.0], [0.2]]))  # w_3 is no projection of w_2 − η_2 z_2
    u = np.array([[1.0], [1.0], [1.0]])
    assert (
        theorems.Zinkevich.of(trace, u, 1, 1).proof(trace, u).holds()
        and not theorems.Zinkevich.of(cheat, u, 1, 1).chain(cheat, u).holds()
    )
    with pytest.raises(ValueError, match="requires: eager descent"):
        theorems.Zinkevich.of(game := play(OGD(UNIT, 0.1, "eager"), np.ones((3, 1))), u, 1, 1).proof(game, u)


def test_theorem_413_against_the_worst_path_a_solver_finds():
    Z = adversaries.random_directions(60, 2, seed=8)
    disk = Ball(2)
    trace = play(zinkevich(disk), Z)
    regrets = []
    for budget in (0.0, 0.5, 2.0, 8.0):
        u = oracle.best_path(Z, disk, budget)
        assert disk.contains(u, tol=1e-7).all() and length(u) <= budget + 1e-6
        regrets.append(trace.dynamic_regret(u))
        assert regrets[-1] <= theorems.ZinkevichSharp(2, 1, budget, 60, circumradius=1.0).bound
    assert np.isclose(regrets[0], trace.regret(disk), atol=1e-6)  # length 0: the best single point
    assert (np.diff(regrets) > 0.1).all()
    rng = np.random.default_rng(0)
    for _ in range(50):  # no random path of that length does better
        steps = rng.standard_normal((60, 2))
        path = disk.project(np.cumsum(0.5 * steps / np.linalg.norm(steps, axis=1).sum(), axis=0))
        assert trace.dynamic_regret(path) <= regrets[1] + 1e-6


def test_a_path_as_long_as_it_likes_takes_every_round_its_best_point():
    Z = adversaries.random_directions(12, 2, seed=3)
    u = oracle.best_path(Z, Ball(2), 30.0)
    assert np.allclose(u, -Z, atol=1e-6)
    examples = hinge(np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0]))
    assert np.allclose(examples.values(oracle.best_path(examples, Ball(2), 5.0)), 0, atol=1e-6)
    bowls = [Quadratic([1.0, 0.0]), Quadratic([0.0, 1.0])]
    assert np.allclose(oracle.best_path(bowls, Ball(2), 5.0), [[1, 0], [0, 1]], atol=1e-4)
    held = hinge(np.eye(2), [1, -1]).regularized(5.0)  # alone each is least at ±x/5, where it costs 0.8 + 0.1
    assert np.allclose(oracle.best_path(held, Ball(2), 5.0), np.diag([0.2, -0.2]), atol=1e-5)
    assert oracle.best_path(Z[:1], Ball(2), 0.0).shape == (1, 2)


def test_the_sharp_bound_is_met_in_one_round():
    for D, rho in ((1.0, 1.0), (3.0, 0.5)):
        trace = play(zinkevich(Box([0], [D]), [D], scale=D / rho), np.array([[rho]]))
        bound = theorems.ZinkevichSharp(D, rho, 0, 1, scale=D / rho).bound
        assert np.isclose(trace.regret(Box([0], [D])), bound) and np.isclose(bound, D * rho)


def test_the_static_part_is_almost_attained_and_the_radius_breaks():
    T = 10_000
    regret = play(zinkevich(UNIT, [0.0]), zigzag_and_drag(T)).regret(UNIT)
    assert 0.976 * theorems.Zinkevich(1, 1, 0, T).bound < regret <= theorems.ZinkevichSharp(1, 1, 0, T).bound
    centred = Box([-0.5], [0.5])
    assert np.isclose(play(zinkevich(centred, [-0.5]), zigzag_and_drag(T)).regret(centred), regret)
    assert regret > 1.3 * theorems.Zinkevich(0.5, 1, 0, T).bound  # D read as the radius


def test_the_coefficient_of_the_drift_is_the_circumradius():
    """Regret per Σ ‖u_{t+1} − u_t‖/η_t: about a half of D on the interval, D/√3 on the triangle."""
    T = 10_000
    for over, start, (z, u), D, R, many in (
        (UNIT, [0.0], crossings(T, 30), 1.0, 0.5, 30),
        (Simplex(3), [1.0, 0.0, 0.0], circling(T, 30), np.sqrt(2), np.sqrt(2 / 3), 30),
    ):
        regret = play(zinkevich(over, start), z).dynamic_regret(u)
        weighted = (np.linalg.norm(np.diff(u, axis=0), axis=1) * np.sqrt(np.arange(1, T))).sum()
        assert 0.94 * R < regret / weighted < 1.02 * R
        L = length(u)
        assert many * R * 0.9 < L
        assert (
            regret <= theorems.ZinkevichSharp(D, 1, L, T, R).bound < theorems.ZinkevichSharp(D, 1, L, T).bound
        )
        assert theorems.ZinkevichSharp(D, 1, L, T).bound < 0.55 * theorems.Zinkevich(D, 1, L, T).bound
        assert regret > 0.74 * theorems.ZinkevichSharp(D, 1, L, T, R).bound


def test_the_circumradius_is_exact_on_a_lopsided_triangle():
    """For κ = 0.7 R and A = 1 a game with more than (A + κL)√T; waiting only makes the steps small."""
    corners = np.array([[0, 0], [1, 0], [0.625, np.sqrt(175) / 24]])
    c = np.linalg.solve(2 * corners[1:], (corners[1:] ** 2).sum(axis=1))
    R = np.linalg.norm(c)
    barycentric = np.linalg.inv(np.vstack([corners.T, np.ones(3)]))
    loop = np.cumsum((barycentric @ [*c, 1])[:, None] * (c - corners), axis=0)
    loop += c - loop.mean(axis=0)

    class Triangle:
        dim, diameter = 2, 1.0

        def contains(self, x):
            return (barycentric @ [*x, 1] >= -1e-9).all()

        def project(self, y):
            assert self.contains(y)  # no projection acts
            return y

    T, legs = 10**5, 84
    far = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    rounds = np.ceil(far * np.sqrt(T)).astype(int)
    waited = T - rounds.sum() * legs // 3
    z, u, t = np.zeros((T - waited, 2)), np.empty((T - waited, 2)), 0
    for k in range(legs):
        a, b, n = corners[k % 3], corners[(k + 1) % 3], rounds[k % 3]
        eta = 1 / np.sqrt(waited + t + np.arange(1, n + 1))
        gone = np.append(0, np.minimum(np.cumsum(eta), far[k % 3]))
        z[t : t + n] = -(np.diff(gone) / eta)[:, None] * (b - a) / far[k % 3]
        u[t : t + n], t = loop[k % 3], t + n
    assert all(Triangle().contains(p) for p in loop) and np.linalg.norm(z, axis=1).max() <= 1 + 1e-9
    game = play(OGD(Triangle(), lambda t: 1 / np.sqrt(waited + t), "eager", corners[0]), z)
    path = np.vstack([loop[-1:], u])  # where the comparator waited
    regret, L = game.dynamic_regret(u), length(path)
    assert regret > (1 + 0.7 * R * L) * np.sqrt(T)
    assert regret <= theorems.ZinkevichSharp(1, 1, L, T, R).bound


def test_without_a_bound_on_the_set_regret_is_linear():
    T = 1000
    trace = play(zinkevich(Space(1)), hinge(np.full((T, 1), 1 / T), np.ones(T)))
    assert np.abs(trace.subgradients).max() == 1 / T and trace.paid.max() <= 1  # G = 1/T, costs in [0, 1]
    assert T - 4 / (3 * np.sqrt(T)) <= trace.regret(against=[T]) < T  # the point T pays 0


def test_no_projection_onto_an_open_set():
    """The point of [0, 1 − 1/k] nearest to 2 comes nearer for ever: the union [0, 1) has none."""
    nearest = [Box([0], [1 - 1 / k]).project([2.0])[0] for k in range(2, 99)]
    assert all(a < b < 1 for a, b in pairwise(nearest)) and UNIT.project([2.0]) == 1


def test_costs_need_not_lie_in_the_unit_interval():
    x = np.array([2.0, 0.0])
    loss = hinge(x[None], [-1.0])
    assert loss.values(5 * x / 2) == 11
    slopes = [(1 - np.sqrt(h)) - 1 for h in (1e-2, 1e-4, 1e-6)]
    assert np.allclose(slopes / np.array([1e-2, 1e-4, 1e-6]), [-10, -100, -1000])  # in [0, 1], no G
    shifted = play(zinkevich(Ball(2, 5.0)), [Quadratic([9.0, 0.0])] * 50)  # costs up to 98
    assert shifted.paid.max() > 40
    assert shifted.regret(Ball(2, 5.0)) <= theorems.ZinkevichSharp(10, 14, 0, 50).bound


# ---------------------------------------------------------------- experts


def test_the_simplex_of_two_experts_is_a_segment():
    y = np.random.default_rng(0).uniform(-3, 3, (50, 2))
    x = Simplex(2).project(y)
    s = np.clip((1 + y[:, 0] - y[:, 1]) / 2, 0, 1)
    assert np.allclose(x, np.stack([s, 1 - s], axis=-1))


@given(vectors(5), st.floats(-100, 100))
def test_the_simplex_projection_ignores_a_common_shift(y, shift):
    assert np.allclose(Simplex(5).project(y + shift), Simplex(5).project(y), atol=1e-9)


@pytest.mark.parametrize(
    "over", [Simplex(4), Ball(4, 0.7), Box([-1, 0, 0, -2], [0, 1, 2, 3]), L1Ball(4, 1.5)]
)
def test_each_projection_is_the_solvers(over):
    for y in np.random.default_rng(1).normal(0, 2, (8, 4)):
        assert np.abs(over.project(y) - oracle.project(y, over)).max() < 1e-6


def test_an_expert_drawn_from_x_costs_the_inner_product():
    rng, T, many = np.random.default_rng(2), 50, 4000
    losses = rng.random((T, 3))
    trace = play(zinkevich(Simplex(3)), losses)
    drawn = np.array([rng.choice(3, many, p=x) for x in trace.points])
    costs = losses[np.arange(T)[:, None], drawn].sum(axis=0)
    assert abs(costs.mean() - trace.paid.sum()) < 4 * np.sqrt(T / 4 / many)  # four deviations at most


def test_the_experts_rates():
    n, T = 16, 4000
    losses = np.random.default_rng(4).integers(0, 2, (T, n)).astype(float)
    centred = losses - losses.mean(axis=1, keepdims=True)
    assert np.linalg.norm(centred, axis=1).max() <= np.sqrt(n) / 2
    simplex, G = Simplex(n), np.sqrt(n) / 2
    scale = np.sqrt(2) / (G * np.sqrt(2))
    same, trace = (play(zinkevich(simplex, scale=scale), Z) for Z in (centred, losses))
    assert np.allclose(same.points, trace.points)  # the common part of a loss moves nobody
    promised = theorems.ZinkevichSharp(np.sqrt(2), G, 0, T, scale=scale).bound
    assert promised <= np.sqrt(n * T)
    assert trace.regret(simplex) <= promised
    hedge = play(Hedge(n, np.sqrt(8 * np.log(n) / T)), losses).regret(simplex)
    assert hedge <= np.sqrt(T * np.log(n) / 2) < promised
    assert np.isclose(theorems.Zinkevich(np.sqrt(2), np.sqrt(1000), 0, 10**4).bound, 100_100)
    assert np.isclose(theorems.Zinkevich(np.sqrt(2), np.sqrt(1000) / 2, 0, 10**4).bound, 25_100)


# ---------------------------------------------------------------- 4.2: the SVM


def test_a_tie_is_called_positive():
    losses = hinge(np.array([[1.0, 0.0], [1.0, 0.0]]), [1.0, -1.0])
    trace = play(OnlineSVM(2, 1.0, lambda t: 1e-9), losses)
    assert list(trace.mistakes) == [False, True]  # w_1 = 0 predicts +1; so does the tiny w_2


def test_augmenting_rewrites_the_classifier_but_not_the_problem():
    X, y = np.array([[10.0], [11.0]]), np.array([-1.0, 1.0])
    plus = np.hstack([X, np.ones((2, 1))])
    assert np.allclose(plus @ [2.0, -21.0], X @ [2.0] - 21.0)
    assert hinge(plus, y).values([2.0, -21.0]).sum() == 0  # ‖w‖ = 2, and b is free
    w = oracle.best_point(hinge(plus, y), Ball(2, 2.0))
    best = hinge(plus, y).values(w).sum()
    assert np.isclose(best, 2 - (11 + np.sqrt(487)) / 122, atol=1e-6) and np.isclose(best, 1.729, atol=1e-3)
    wide = np.hstack([X, np.full((2, 1), 100.0)])  # append 100 for 1 and b costs a hundredth
    assert hinge(wide, y).values([1.98, -0.2079]).sum() < 0.03 and np.hypot(1.98, 0.2079) <= 2
    assert np.isclose(np.square(plus[0]).sum(), np.square(X[0]).sum() + 1)


def test_the_hinge_problem_is_the_margin_problem_at_one_radius():
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    u, gamma = oracle.max_margin(X, y)
    assert np.allclose(u, [1, 0], atol=1e-6) and np.isclose(gamma, 1)
    tilted = np.array([1.0, np.sqrt(3)])
    assert hinge(X, y).values(tilted).sum() == 0 and np.isclose(np.linalg.norm(tilted), 2)
    assert np.isclose((y * (X @ tilted)).min() / 2, 0.5)  # half the margin, and optimal at λ = 2
    X, y, _ = adversaries.separable(30, 3, 0.2, seed=5)
    u, gamma = oracle.max_margin(X, y)
    at = oracle.best_point(hinge(X, y), Ball(3, 1 / gamma))
    assert np.allclose(at, u / gamma, atol=1e-3)
    below = oracle.best_point(hinge(X, y), Ball(3, 0.3 / gamma))
    assert (y * (X @ below)).min() / np.linalg.norm(below) < 0.95 * gamma  # another direction


def test_the_hinge_is_minimal_among_convex_majorants_and_not_least():
    m = np.linspace(-3, 3, 601)
    zero_one = (m <= 0).astype(float)
    family = [np.maximum(0, 1 - m / a) for a in (0.01, 0.1, 0.5, 1.0, 2.0, 50.0)]
    assert all((h >= zero_one).all() for h in family)
    one = family[3]
    assert np.array_equal(one, hinge(m[:, None], np.ones(601)).values([1.0]))
    assert family[4][m == -2.0] == 2 < one[m == -2.0]
    assert (np.min(family, axis=0) <= zero_one + 3 / 50 + 1e-9)[m <= 0].all()
    assert (np.min(family, axis=0) == 0)[m >= 0.01].all()
    # minimal: lower it anywhere, and either a chord or the 0-1 loss is above it
    for at in (-2.0, -0.5, 0.5):
        lower = one.copy()
        lower[np.abs(m - at) < 1e-9] -= 0.1
        chords = (lower[:-2] + lower[2:]) / 2 - lower[1:-1]
        assert chords.min() < 0


def test_hinge_values_at_the_corners():
    values = hinge(np.array([[-1.0], [0.0], [1.0], [2.0]]), np.ones(4)).values([1.0])
    assert list(values) == [2, 1, 0, 0]


def test_the_hinge_has_a_kink_at_margin_one_only():
    f = hinge(np.array([[1.0]]), [1.0])
    for m, left, right in ((1.0, -1, 0), (0.5, -1, -1), (1.5, 0, 0)):
        h = 1e-6
        slopes = [(f.values([m + s * h]) - f.values([m]))[0] / (s * h) for s in (-1, 1)]
        assert np.allclose(slopes, [left, right], atol=1e-6)


@given(vectors(3, 2.0), vectors(3, 2.0), vectors(3, 2.0), st.sampled_from([-1.0, 1.0]), st.floats(0, 1))
def test_the_chosen_subgradient_and_every_mixture_is_one(x, w, u, y, share):
    for kink in (0.0, 1.0, share):
        loss = hinge(x[None], [y], kink)[0]
        gap = loss.value(u) - loss.value(w) - loss.subgradient(w) @ (u - w)
        assert gap >= -1e-9 * (1 + abs(loss.value(u)) + abs(loss.value(w)))


def test_subgradients_at_the_kink_are_the_interval_between_the_one_sided_slopes():
    x0, grid = 1.0, np.linspace(-4, 4, 81)
    c = np.maximum(0, 1 - grid)
    for v in np.linspace(-2, 1, 31):
        below = (c >= v * (grid - x0) - 1e-12).all()
        assert below == (-1 - 1e-9 <= v <= 1e-9)
    loss = hinge(np.array([[2.0, 1.0]]), [1.0])[0]
    w = np.array([0.5, 0.0])  # margin exactly 1
    assert not loss.subgradient(w).any()
    points = np.random.default_rng(0).normal(size=(200, 2))
    for v, good in (([-2.0, -1.0], True), ([-1.0, -0.5], True), ([-1.0, 0.5], False), ([2.0, 1.0], False)):
        gaps = [loss.value(p) - loss.value(w) - np.array(v) @ (p - w) for p in points]
        assert (min(gaps) >= -1e-12) == good


# ---------------------------------------------------------------- 4.2.3: the online SVM


def test_projection_onto_the_ball_scales_only_what_is_outside():
    ball = Ball(2, 1.0)
    inside = np.array([0.1, 0.0])
    assert np.array_equal(ball.project(inside), inside)
    assert np.array_equal(ball.project(np.zeros(2)), np.zeros(2))
    assert np.allclose(inside / np.linalg.norm(inside), [1, 0])  # (4.2.5) without its proviso
    out = np.array([3.0, 4.0])
    assert np.allclose(ball.project(out), [0.6, 0.8])
    for y in (inside, out, np.zeros(2)):
        assert np.abs(ball.project(y) - oracle.project(y, ball)).max() < 1e-6


def test_the_online_svm_by_hand_and_within_its_bound():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), np.array([1.0, -1.0, 1.0])
    trace = play(OnlineSVM(2, 1.0, inverse_sqrt(1.0)), hinge(X, y))
    third = np.array([1.0, -1 / np.sqrt(2)])
    third /= np.linalg.norm(third)
    assert np.allclose(trace.points, [[0, 0], [1, 0], third])
    assert not trace.updates[2]  # margin 2·0.816 ≥ 1
    for seed in range(3):
        X, y, _ = adversaries.separable(300, 4, 0.0, seed)
        flip = np.random.default_rng(seed).random(300) < 0.2
        losses, ball = hinge(X, np.where(flip, -y, y)), Ball(4, 2.0)
        trace = play(OnlineSVM(4, 2.0, inverse_sqrt(1.0)), losses)
        G = np.linalg.norm(X, axis=1).max()
        assert np.linalg.norm(trace.subgradients, axis=1).max() <= G
        assert ball.contains(trace.points).all()
        assert 0 < oracle.regret(trace, ball) <= theorems.ZinkevichSharp(4, G, 0, 300).bound
        assert theorems.ZinkevichSharp(4, G, 0, 300).bound <= (2 * 2.0**2 + G**2) * np.sqrt(300)


def test_the_drifting_stream_keeps_its_margin():
    X, y, U = adversaries.drifting(500, 4, turn=3.0, margin=0.1, seed=2)
    assert (y * (X * U).sum(axis=1) >= 0.1 - 1e-12).all()
    assert np.linalg.norm(X, axis=1).max() <= 1 + 1e-12
    assert np.allclose(np.linalg.norm(U, axis=1), 1) and abs(length(U) - 3.0) < 1e-4
    assert (y * (X @ U[0]))[400:].min() < 0  # the first vector does not serve to the end
    again = adversaries.drifting(500, 4, turn=3.0, margin=0.1, seed=2)
    assert np.array_equal(X, again[0])
    with pytest.raises(ValueError, match="dim"):
        adversaries.drifting(5, 1, 1.0, 0.1, 0)
    with pytest.raises(ValueError, match="margin"):
        adversaries.drifting(5, 2, 1.0, 1.1, 0)


# ---------------------------------------------------------------- 4.3: late gradients


def by_definition(over, Z, eta, tau):
    """w_{t+1} = Π(w_t − η_{t−τ} z_{t−τ}) for t > τ, and w_{t+1} = w_t before."""
    w = [over.project(np.zeros(over.dim))]
    for t in range(1, len(Z) + 1):
        w.append(over.project(w[-1] - eta(t - tau) * Z[t - tau - 1]) if t > tau else w[-1])
    return np.array(w)


@given(st.integers(0, 6), st.integers(1, 12), st.integers(0, 99))
def test_a_fixed_delay_is_the_lectures_update(tau, T, seed):
    Z = np.random.default_rng(seed).normal(size=(T, 2))
    disk, eta = Ball(2), inverse_sqrt(0.5)
    plays = play(DelayedOGD(disk, eta, tau), Z).plays
    assert np.allclose(plays, by_definition(disk, Z, eta, tau))
    assert np.array_equal(plays[: min(tau, T) + 1], np.zeros((min(tau, T) + 1, 2)))
    assert np.allclose(play(DelayedOGD(disk, eta, np.full(T, tau)), Z).plays, plays)


def test_no_delay_is_eager_descent_and_runs_can_be_batched():
    Z = adversaries.random_directions(20, 3, seed=1, runs=(4,))
    ball = Ball(3)
    assert np.allclose(play(DelayedOGD(ball, 0.3), Z).points, play(OGD(ball, 0.3, "eager"), Z).points)
    late = play(DelayedOGD(ball, 0.3, 3), Z).points
    assert np.allclose(late[2], play(DelayedOGD(ball, 0.3, 3), Z[2]).points)


def test_the_gradient_used_belongs_to_the_round_of_its_play():
    """Bowls, τ = 2, by hand: w_1 = w_2 = w_3 = 0, and z_1 = z_2 = z_3 = −1 were all computed at 0."""
    trace = play(DelayedOGD(Box([-9], [9]), 0.5, 2), [Quadratic([1.0])] * 6)
    assert np.allclose(trace.points[:, 0], [0, 0, 0, 0.5, 1.0, 1.5])
    assert np.allclose(trace.subgradients[:, 0], [-1, -1, -1, -0.5, 0, 0.5])


def test_the_first_rounds_need_a_rule():
    """τ = 5, all gradients 1: holding w_1 and reusing z_1 part company before round 6 is over."""
    Z, line = np.ones((6, 1)), Box([-9], [9])
    held = play(DelayedOGD(line, 0.1, 5), Z).points[5]
    assert held == 0 and not np.isclose(held, -0.1 * 5)


def test_gradients_arrive_in_any_order_once_each():
    ball = Ball(2)
    Z = np.random.default_rng(3).normal(size=(5, 2))
    trace = play(DelayedOGD(ball, inverse_sqrt(1.0), [2, 0, 3, 0, 0]), Z)
    player = DelayedOGD(ball, inverse_sqrt(1.0)).player()
    for arrivals, w in zip([[], [2], [1], [4], [5]], trace.points, strict=True):
        assert np.allclose(player.predict(), w)
        player.receive((s, Z[s - 1]) for s in arrivals)
    assert np.allclose(player.predict(), trace.last)  # that of round 3 is still under way
    player.receive([(3, Z[2])])
    assert list(player.received) == [2, 1, 4, 5, 3]
    with pytest.raises(ValueError, match="round"):
        player.receive([(4, Z[3])])
    with pytest.raises(ValueError, match="round"):
        player.receive([(0, Z[3])])


def test_steps_are_numbered_by_arrival():
    player = DelayedOGD(Box([-9], [9]), inverse_sqrt(1.0)).player()
    player.receive([(3, np.ones(1)), (1, np.ones(1))])
    assert np.allclose(player.predict(), -1 - 1 / np.sqrt(2))


@pytest.mark.parametrize("delay", [-1, 1.5, [0, -2], [0, 0.5], "two"])
def test_a_bad_delay_is_refused(delay):
    with pytest.raises(ValueError, match="delay"):
        DelayedOGD(Ball(2), 0.1, delay)


def test_delays_must_last_to_the_end():
    with pytest.raises(ValueError, match="delay must have an entry"):
        play(DelayedOGD(Ball(2), 0.1, [0, 1]), np.ones((3, 2)))


@pytest.mark.parametrize("tau", [0, 1, 5, 20])
def test_the_delayed_bound_holds_and_shrinking_it_does_not(tau):
    T, line = 400, Box([-1], [1])
    tuned = theorems.Delayed(2, 1, tau, T).scale
    assert np.isclose(theorems.Delayed(2, 1, tau, T).bound, 2 * np.sqrt((2 + 4 * tau) * T))
    for scale in (tuned, 1.0, 0.05):
        regrets = []
        for losses in blind(T, tau):
            trace = play(DelayedOGD(line, inverse_sqrt(scale), tau), losses, rounds=T)
            u = line.minimize_linear(trace.subgradients.sum(axis=0))
            chain = theorems.Delayed.of(trace, 2.0, 1.0).proof(trace, u)
            assert chain.holds()
            regrets.append(trace.regret(line))
            assert np.isclose(chain.values[0], regrets[-1])
            assert chain.values[-1] <= theorems.Delayed(2, 1, tau, T, scale).bound
        if scale >= tuned:  # a tiny step needs longer to cross, and the bound allows for it
            assert max(regrets) > theorems.Delayed(2, 1, tau, T, scale).bound / 4
    assert theorems.Delayed(2, 1, tau, T).bound <= theorems.Delayed(2, 1, tau, T, 1.1 * tuned).bound
    assert theorems.Delayed(2, 1, tau, T).bound <= theorems.Delayed(2, 1, tau, T, 0.9 * tuned).bound


def test_untuned_steps_pay_for_the_delay_in_full():
    T, tau, line = 2000, 20, Box([-1], [1])
    uphill = blind(T, tau)[2]
    lecture = play(DelayedOGD(line, inverse_sqrt(1.0), tau), uphill, rounds=T).regret(line)
    tuned = play(DelayedOGD(line, inverse_sqrt(theorems.Delayed(2, 1, tau, T).scale), tau), uphill, rounds=T)
    assert lecture > 3 * tuned.regret(line)
    longer = play(DelayedOGD(line, inverse_sqrt(1.0), 40), uphill, rounds=8000).regret(line)
    # the untuned step breaks what the tuned one promises
    assert longer > theorems.Delayed(2, 1, 40, 8000).bound


@given(st.integers(1, 25), st.integers(0, 99))
def test_any_delays_any_order(T, seed):
    rng = np.random.default_rng(seed)
    delays, Z, disk = rng.integers(0, 8, T), rng.uniform(-1, 1, (T, 2)), Ball(2)
    trace = play(DelayedOGD(disk, 0.2, delays), Z)
    u = disk.minimize_linear(Z.sum(axis=0))
    chain = theorems.DelayedConstant.of(trace, 1.0, np.sqrt(2)).proof(trace, u)
    bound = theorems.DelayedConstant(1.0, np.sqrt(2), delays, 0.2).bound
    assert np.isclose(chain.values[0], trace.regret(disk)) and trace.regret(disk) <= bound
    assert np.isclose(chain.values[-1], bound)  # so the overlaps count the arrivals in between, exactly
    assert chain.holds()


def test_overlaps_count_rounds_played_before_the_gradient_is_in():
    assert list(theorems.delayed.overlaps([2, 0, 3, 5, 1])) == [2, 0, 2, 1, 0]
    with pytest.raises(ValueError, match="delays"):
        theorems.delayed.overlaps([1, -1])


@pytest.mark.parametrize("tau", [0, 1, 4])
def test_the_constant_step_bound_is_met_by_blind_rounds(tau):
    T, line = tau + 1, Box([-1], [1])
    regret = play(DelayedOGD(line, 1 / T, tau), np.ones((T, 1))).regret(line)
    assert np.isclose(regret, theorems.DelayedConstant(1, 1, [tau] * T, 1 / T).bound) and np.isclose(
        regret, T
    )


@pytest.mark.parametrize(("tau", "blocks"), [(0, 9), (3, 9), (9, 4)])
def test_no_step_beats_the_floor_of_a_delay(tau, blocks):
    """A fresh direction every τ + 1 rounds: regret √((τ + 1)T) for every step, on the unit ball."""
    Z = np.repeat(np.eye(blocks), tau + 1, axis=0)
    T, ball = len(Z), Ball(blocks)
    floor = np.sqrt((tau + 1) * T)
    for eta in (0.01, 0.3, 2.0):
        assert np.isclose(play(DelayedOGD(ball, eta, tau), Z).regret(ball), floor)
    eta = 1 / np.sqrt((1 + 2 * tau) * T)
    assert floor <= theorems.DelayedConstant(1, 1, [tau] * T, eta).bound <= np.sqrt(2) * floor


@pytest.mark.parametrize(("tau", "turns"), [(0, 9), (1, 8), (3, 9), (9, 4)])
def test_copies_of_descent_that_take_turns_reach_the_floor(tau, turns):
    """In the plane, R = 2 and ρ = 3, against the adversary of the floor; and never more against others."""
    T, R, rho, disk = turns * (tau + 1), 2.0, 3.0, Ball(2, 2.0)
    learner = limits.Interleaved(OGD(disk, R / rho / np.sqrt(turns), "eager"), tau)
    floor = limits.delayed(R, rho, tau, T)
    assert np.isclose(floor, R * rho * np.sqrt((tau + 1) * T))
    assert np.isclose(play(learner, limits.blocks(learner, rho, tau), rounds=T).regret(disk), floor)
    for seed in range(5):
        Z = adversaries.random_directions(T, 2, seed, rho=rho)
        for losses in (Z, np.repeat(Z[:turns], tau + 1, axis=0), np.tile(Z[0], (T, 1))):
            assert play(learner, losses).regret(disk) <= floor + 1e-9


@pytest.mark.parametrize("eta", [0.02, 0.1, 0.5, 1.0])
def test_both_prices_of_a_constant_step_are_real(eta):
    """On [0, 1], 1/T ≤ η ≤ 1: always uphill costs 1/2η and a bit, to and fro costs ηT/2."""
    T = 100
    player = OGD(UNIT, eta, "eager", [0.0])
    creeps = play(player, -np.ones((T, 1))).regret(UNIT)
    pushed = play(player, np.where(np.arange(T) % 2 == 0, -1.0, 1.0)[:, None]).regret(UNIT)
    assert 1 / (2 * eta) <= creeps <= 1 / (2 * eta) + eta * T / 2
    assert np.isclose(pushed, eta * T / 2)


@pytest.mark.parametrize("tau", [0, 1, 5, 20])
def test_the_strongly_convex_delayed_theorem(tau):
    line, D, T = Box([-1], [1]), 2.0, 300
    for H in (0.5, 2.0):
        rho = H * D  # ½H(w − c)² with c in [−1, 1]
        targets = [
            np.where((np.arange(T) // (tau + 1)) % 2 == 0, 1.0, -1.0),
            np.random.default_rng(0).uniform(-1, 1, T),
        ]
        games = [[Quadratic([c], H) for c in row] for row in targets]
        games.append(lambda t, w, past, H=H: Quadratic(np.where(w >= 0, -1.0, 1.0), H))
        for losses in games:
            trace = play(DelayedOGD(line, lambda k, H=H: 1 / (H * k), tau), losses, rounds=T)
            u = line.project(np.mean([f.center for f in trace.losses], axis=0))
            chain = theorems.DelayedStronglyConvex.of(trace, D, rho).proof(trace, u)
            assert chain.holds() and np.isclose(chain.values[0], trace.regret(line))
            bound = theorems.DelayedStronglyConvex(D, rho, H, tau, T).bound
            assert trace.regret(line) <= chain.values[-1] <= bound + 1e-9
    if tau >= 5:
        # the delay is not free
        assert trace.regret(line) > theorems.DelayedStronglyConvex(D, rho, H, 0, T).bound


def test_the_term_with_the_diameter_is_used():
    """From u to the far end and back: the squares that do not cancel are positive."""
    trace = play(DelayedOGD(Box([-1], [1]), lambda k: 1 / k, 1), [Quadratic([1.0]), Quadratic([-2.0])])
    chain = theorems.DelayedStronglyConvex.of(trace, 2.0, 3.0).proof(trace, [0.0])
    assert chain.holds()
    assert chain.values[2] > chain.values[3] - 1.0 * 1 * 2.0**2 / 2 + 0.4


def test_the_strongly_convex_chain_asks_for_its_steps():
    trace = play(DelayedOGD(UNIT, 0.1, 1), [Quadratic([1.0])] * 4)
    with pytest.raises(ValueError, match="with the step η"):
        theorems.DelayedStronglyConvex.of(trace, 1.0, 1.0).proof(trace, [1.0])


@pytest.mark.parametrize(
    ("bound", "good", "bad"),
    [
        (
            lambda *of: theorems.Zinkevich(*of).bound,
            (1, 1, 0, 5),
            [(0, 1, 0, 5), (1, -1, 0, 5), (1, 1, -1, 5), (1, 1, 0, 0)],
        ),
        (
            lambda *of: theorems.ZinkevichSharp(*of).bound,
            (1, 1, 0, 5),
            [(np.nan, 1, 0, 5), (1, 1, 0, 5, 0), (1, 1, 0, 5, None, 0)],
        ),
        (
            lambda *of: theorems.Delayed(*of).bound,
            (1, 1, 0, 5),
            [(1, 1, -1, 5), (1, 1, 0.5, 5), (1, 1, 0, 5, 0)],
        ),
        (
            lambda *of: theorems.DelayedStronglyConvex(*of).bound,
            (1, 1, 1, 0, 5),
            [(1, 1, 0, 0, 5), (1, 1, 1, -1, 5)],
        ),
        (
            lambda *of: theorems.DelayedConstant(*of).bound,
            (1, 1, [0, 1], 1),
            [(1, 1, [0, 1], 0), (1, 1, [-1], 1)],
        ),
    ],
)
def test_bounds_refuse_what_makes_no_sense(bound, good, bad):
    assert np.isfinite(bound(*good))
    for arguments in bad:
        with pytest.raises(ValueError, match="must be"):
            bound(*arguments)
