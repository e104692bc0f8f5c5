"""Lecture 13, sections 1 and 2: subgradients, their length, the game and its regret."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BOUNDED, entries, members, sets, vectors

from ocolib import adversaries, oracle, theorems
from ocolib.game import play
from ocolib.learners import FTL, FTRL, OGD, Hedge, Linearized, Perceptron, Winnow, inverse_sqrt
from ocolib.losses import Example, Linear, Quadratic, absolute, hinge, perceptron_loss, soft_margin
from ocolib.phi import PerceptronLoss, TubeLoss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, L1Ball, Orthant, Simplex, Space

INTERVAL = Box([-1], [1])


def excess(f, w, z, U):
    """Largest f(w) + ⟨z, u − w⟩ − f(u) over the rows of U: positive for no subgradient."""
    return max(float(f(w) + z @ (u - w) - f(u)) for u in U)


def solved_excess(loss, w, z, over):
    """The same over a whole set, by cvxpy."""
    u = oracle.best_point([loss, Linear(-z)], over)
    return float(loss.value(w) + z @ (u - w) - loss.value(u))


def normal(over, w, d):
    """Is d in the normal cone of the set at w, ⟨d, u − w⟩ ≤ 0 for all u? Exact: one linear problem."""
    return d @ over.minimize_linear(-d) <= d @ w + 1e-9


# ---------------------------------------------------------------- what the lecture claims


@pytest.mark.parametrize("seed", range(5))
def test_perceptron_and_winnow_are_regularised_leaders(seed):
    X, y, _ = adversaries.separable(200, 6, 0.02, seed)
    leader = Linearized(FTRL(Space(6), SquaredNorm(), 1.0))
    trace = play(Perceptron(6), perceptron_loss(X, y))
    assert trace.updates.sum() > 1
    assert np.array_equal(trace.points, play(leader, perceptron_loss(X, y)).points)

    X, y = adversaries.disjunction(200, 12, 2, seed)
    data = perceptron_loss(X, y, threshold=6.0)
    leader = Linearized(FTRL(Orthant(12), UnnormalizedEntropy(), np.log(2)))
    trace = play(Winnow(12, threshold=6.0), data)
    assert trace.updates.sum() > 1
    assert np.allclose(trace.points, play(leader, data).points, rtol=1e-12)


# ---------------------------------------------------------------- subgradients

CONVEX = [
    lambda x, y: Linear(y * x),
    lambda x, y: Quadratic(x, 1.5),
    lambda x, y: perceptron_loss([x], [y], kink=0.4)[0],
    lambda x, y: hinge([x], [y], kink=0.7)[0],
]


@pytest.mark.parametrize("make", CONVEX)
@given(data=st.data())
def test_library_subgradients_support_their_losses(make, data):
    dim = data.draw(st.integers(1, 4))
    x, w = data.draw(vectors(dim, 3.0)), data.draw(vectors(dim, 3.0))
    loss = make(x, data.draw(st.sampled_from([-1.0, 1.0])))
    U = np.vstack([members(Space(dim)), w + np.eye(dim), w - np.eye(dim)])
    assert excess(loss.value, w, loss.subgradient(w), U) <= 1e-9


@pytest.mark.parametrize("make", CONVEX)
def test_sampled_and_solved_excess_agree_on_what_is_no_subgradient(make):
    rng = np.random.default_rng(0)
    over = Ball(2, 2.0)
    for _ in range(6):
        loss, w = make(rng.normal(size=2), 1.0), over.project(rng.normal(size=2))
        z = loss.subgradient(w)
        assert abs(solved_excess(loss, w, z, over)) < 1e-6
        wrong = z - 5 * w / np.linalg.norm(w)  # inwards, so not normal to the disk even at its edge
        sampled = excess(loss.value, w, wrong, members(over, 400))
        assert 0.01 < sampled <= solved_excess(loss, w, wrong, over) + 1e-6


@given(kinks=st.lists(st.integers(-4, 4), min_size=1, max_size=4), w=st.integers(-5, 5), data=st.data())
def test_kinks_and_ends_decide_for_piecewise_linear_functions(kinks, w, data):
    """Also when f is not convex: between two kinks f − z is linear, so its least value is at one of them."""
    bends = data.draw(
        st.lists(st.sampled_from([-2.0, -1.0, 1.0, 2.0]), min_size=len(kinks), max_size=len(kinks))
    )
    z, parts = np.array([data.draw(st.integers(-16, 16)) / 2]), absolute(np.ones((len(kinks), 1)), kinks)

    def f(u):
        return parts.values(u) @ bends

    w = np.array([float(w)])
    decisive = excess(f, w, z, np.array([-5.0, *kinks, 5.0])[:, None])
    everywhere = excess(f, w, z, np.linspace(-5, 5, 401)[:, None])
    assert np.isclose(max(decisive, 0), everywhere)


def test_subgradients_everywhere_make_a_function_convex():
    """The function is the greatest of its supporting lines; one that is not convex lacks some."""
    points = np.linspace(-2, 2, 81)[:, None]
    f = Example([1.0], 0.0, TubeLoss(), reg=2.0)  # |w| + w²
    lines = [f.value(w) + (points - w) @ f.subgradient(w) for w in points]
    assert np.allclose(np.max(lines, axis=0), f.value(points))

    def bump(u):
        return -Example([1.0], 0.0, TubeLoss()).value(u)

    assert all(excess(bump, np.zeros(1), np.array([z]), [[-1.0], [1.0]]) > 0 for z in np.linspace(-3, 3, 61))


@given(a=st.lists(st.integers(-4, 4), min_size=2, max_size=4), z=st.integers(-40, 40))
def test_the_subdifferential_of_a_maximum_is_the_hull_of_its_active_slopes(a, z):
    """max_c (a_c − a_0)u at 0, where all pieces are active: the soft margin along a line."""
    a, z = np.array(a, dtype=float), z / 4
    phi = soft_margin([[1.0]], [0], np.zeros((len(a), len(a))))[0].phi
    legal = excess(lambda u: phi.value(a * u[0], 0), np.zeros(1), np.array([z]), [[-1.0], [1.0]]) <= 0
    slopes = phi.subdifferential(np.zeros(len(a)), 0) @ a
    assert legal == (slopes.min() <= z <= slopes.max())


@pytest.mark.parametrize("kind", BOUNDED)
@given(data=st.data())
def test_the_subdifferential_of_a_linear_function_is_v_plus_the_normal_cone(kind, data):
    over = data.draw(sets(kind, max_dim=3))
    v, z = data.draw(vectors(over.dim, 3.0)), data.draw(vectors(over.dim, 3.0))
    U = members(over, 24)
    for w in U[:10]:
        worst = (v - z) @ w - (v - z) @ over.minimize_linear(v - z)  # exact
        assert worst >= excess(Linear(v).value, w, z, U) - 1e-9
        assert normal(over, w, z - v) == (worst <= 1e-9)


# ---------------------------------------------------------------- the smooth case


@given(c=vectors(3, 3.0), w=vectors(3, 3.0), z=vectors(3, 3.0), curvature=st.sampled_from([0.5, 1.0, 4.0]))
def test_inside_a_gradient_is_the_only_subgradient(c, w, z, curvature):
    f = Quadratic(c, curvature)
    gradient = f.subgradient(w)
    worst = np.sum((z - gradient) ** 2) / (2 * curvature)  # at u = w + (z − ∇f)/curvature
    assert np.isclose(excess(f.value, w, z, [w, w + (z - gradient) / curvature]), worst, atol=1e-8)
    h = 1e-5 * np.eye(3)
    assert np.allclose((f.value(w + h) - f.value(w - h)) / 2e-5, gradient, atol=1e-5)


# ---------------------------------------------------------------- Example 1


@pytest.mark.parametrize(("w", "low", "high"), [(-2.0, -1, -1), (-1e-9, -1, -1), (0.0, -1, 0), (3.0, 0, 0)])
def test_example1_on_the_line(w, low, high):
    def f(u):
        return max(0.0, -u[0])

    U = np.array([[w - 5], [0.0], [w + 5]])
    for z in np.arange(-16, 9) / 8:
        legal = excess(f, np.array([w]), np.array([z]), U) <= 1e-12
        assert legal == (low <= z <= high)
    (loss,) = perceptron_loss([[1.0]], [1.0], kink=0.25)
    assert loss.value(np.array([w])) == f([w])
    assert low <= loss.subgradient(np.array([w]))[0] <= high


@given(x=vectors(2, 3.0), y=st.sampled_from([-1.0, 1.0]), alpha=entries(2.0), tilt=entries(1.0))
def test_example1_with_data(x, y, alpha, tilt):
    """On the kink exactly the multiples −αyx with 0 ≤ α ≤ 1; off it a single one."""
    x = x if x.any() else np.array([1.0, -2.0])
    across = np.array([-x[1], x[0]])
    loss = Example(x, y, PerceptronLoss())
    U = np.array([s * x + r * across for s in (-1.0, 0.0, 1.0) for r in (-1.0, 0.0, 1.0)])

    def legal(w, z):
        return excess(loss.value, w, z, w + U) <= 1e-9

    assert loss.value(across) < 1e-9  # across is on the kink
    assert legal(np.zeros(2), -alpha * y * x) == (max(-alpha, alpha - 1) * (x @ x) <= 1e-9)
    if abs(tilt) > 0.01 and x @ x > 0.01:
        assert not legal(np.zeros(2), -0.5 * y * x + tilt * across)
    assert legal(y * x, np.zeros(2)) and legal(-y * x, -y * x)
    if x @ x > 0.01:
        assert not legal(y * x, -0.1 * y * x) and not legal(-y * x, -0.9 * y * x)


def test_example1_excess_by_cvxpy():
    x, y, w = np.array([3.0, 4.0]), 1.0, np.array([4.0, -3.0])
    loss = Example(x, y, PerceptronLoss())
    for alpha in (-1.0, -0.2, 0.0, 0.6, 1.0, 1.2, 2.0):
        formula = 5.0 * max(0.0, -alpha, alpha - 1)  # ‖x‖ times the distance of α from [0, 1]
        assert abs(solved_excess(loss, w, -alpha * y * x, Ball(2, 1.0, w)) - formula) < 1e-6


def test_e11_the_loss_of_an_example_lives_in_n_dimensions():
    loss = Example([1.0, 2.0, -1.0], 1.0, PerceptronLoss())
    assert loss.dim == 3 and loss.subgradient(np.zeros(3)).shape == (3,)
    with pytest.raises(ValueError, match="dimension"):
        play(Perceptron(1), perceptron_loss([[1.0, 2.0, -1.0]], [1.0]))


def test_e12_the_hinge_is_another_loss():
    x, origin = [[1.0]], np.zeros(1)
    assert perceptron_loss(x, [1.0])[0].value(origin) == 0
    assert hinge(x, [1.0])[0].value(origin) == 1


def test_e13_a_supporting_line_is_affine_and_need_not_be_tangent():
    """|w| at 0 with slope ½: it supports, and neither one-sided slope of |w| is ½."""
    f, zero = Example([1.0], 0.0, TubeLoss()).value, np.zeros(1)
    assert excess(f, zero, np.array([0.5]), np.linspace(-2, 2, 41)[:, None]) <= 0
    assert {(f([h]) - f(zero)) / h for h in (-0.5, 0.5)} == {-1.0, 1.0} == {*TubeLoss().subdifferential(0, 0)}
    square, two = Quadratic([0.0], curvature=2.0), np.array([2.0])
    assert square.value(two) + square.subgradient(two) @ (zero - two) != 0  # affine, not linear


# ---------------------------------------------------------------- length


@pytest.mark.parametrize("make", CONVEX[:1] + CONVEX[2:])
@given(data=st.data())
def test_library_losses_are_lipschitz_with_short_subgradients(make, data):
    dim = data.draw(st.integers(1, 4))
    x, u, w = (data.draw(vectors(dim, 3.0)) for _ in range(3))
    loss, rho = make(x, 1.0), np.linalg.norm(x)
    assert abs(loss.value(u) - loss.value(w)) <= rho * np.linalg.norm(u - w) + 1e-9
    assert np.linalg.norm(loss.subgradient(w)) <= rho + 1e-12


def test_the_lipschitz_constant_of_a_linear_loss_is_met():
    v = np.array([3.0, -4.0])
    f = Linear(v)
    assert f.value(v) - f.value(-v) == 5.0 * np.linalg.norm(2 * v)
    assert np.linalg.norm(f.subgradient(v)) == 5.0


def random_chain(seed):
    """ε‖z‖², f(u) − f(w), |f(u) − f(w)|, ρε‖z‖ for a soft margin f (a maximum of lines), w often a kink."""
    rng = np.random.default_rng(seed)
    n, k = rng.integers(1, 5), rng.integers(2, 6)
    x, W, active = rng.normal(size=n), rng.normal(size=(k, n)), rng.permutation(k)[: rng.integers(1, k + 1)]
    room = np.where(np.isin(np.arange(k), active), 0.0, rng.uniform(0, 1, k))
    delta = np.tile((W[0] - W) @ x - room, (k, 1))  # the active pieces are 0 at W, the others below
    (f,), w = soft_margin([x], [0], delta), W.ravel()
    unit = np.eye(k)
    z = np.outer(rng.dirichlet(np.ones(len(active))) @ (unit[active] - unit[0]), x).ravel()
    eps, rho = 10.0 ** rng.uniform(-4, 1), f.phi.lipschitz * np.linalg.norm(x)
    rise = f.value(w + eps * z) - f.value(w)
    return np.array([eps * z @ z, rise, abs(rise), rho * eps * np.linalg.norm(z)]), z, rho


def test_inside_a_subgradient_is_no_longer_than_rho():
    ratios = []
    for seed in range(400):
        _, z, rho = random_chain(seed)
        ratios.append(np.linalg.norm(z) / rho)
    assert max(ratios) <= 1 + 1e-12
    assert max(ratios) > 0.999  # a single active piece of slope ρ: the bound is met


def test_the_chain_of_the_length_proof_never_descends():
    slack = np.array([np.diff(random_chain(seed)[0]) for seed in range(400)])
    assert slack.min() >= -1e-9
    assert (slack[:, 0] > 1e-3).any() and (slack[:, 2] > 1e-3).any()


# ---------------------------------------------------------------- errata of section 1


def test_e06_a_lipschitz_function_has_long_subgradients_at_the_edge():
    """Theorem 2 has ‖z‖ ≤ ρ from ρ-Lipschitz: true inside, at the edge of a closed set only of some z."""
    f, w = Linear([1.0]), np.array([-1.0])
    long = np.array([-1000.0])
    assert excess(f.value, w, long, [[-1.0], [1.0]]) <= 0 and np.abs(long)[0] > 1
    assert excess(f.value, np.array([-0.999]), long, [[-1.0], [1.0]]) > 0

    disk, v = Ball(2), np.array([0.6, 0.8])
    for angle in np.linspace(0, 2 * np.pi, 17):
        edge = np.array([np.cos(angle), np.sin(angle)])
        assert normal(disk, edge, 1000 * edge)  # so v + 1000·edge is legal
        assert excess(Linear(v).value, edge, v + 1000 * edge, members(disk, 200)) <= 1e-9
        assert excess(Linear(v).value, edge, v, members(disk, 200)) <= 1e-9  # and v is, of length ρ = 1
        assert not normal(disk, 0.999 * edge, 1000 * edge)


@given(slope=st.integers(-12, 12))
def test_e06_the_extension_keeps_exactly_the_short_subgradients(slope):
    """F(v) = min_s f(s) + ρ|v − s| for f(s) = |s − ½| on [−1, 1], ρ = 1, at the left end."""
    z, s, v = slope / 4, np.arange(-32, 33) / 32, np.arange(-128, 129) / 32
    loss = Example([1.0], 0.5, TubeLoss())
    f, rho = loss.value(s[:, None]), loss.phi.lipschitz
    F = (f + rho * np.abs(v[:, None] - s)).min(axis=1)
    assert np.allclose(F[np.isin(v, s)], f)
    assert (np.abs(np.diff(F)) <= rho * np.diff(v) + 1e-12).all() and (np.diff(F, 2) >= -1e-12).all()
    on_S = (f[0] + z * (s + 1) <= f + 1e-12).all()
    everywhere = (f[0] + z * (v + 1) <= F + 1e-12).all()
    assert everywhere == (on_S and abs(z) <= rho)


def test_e07_a_linear_function_has_more_than_one_subgradient_at_the_edge():
    ends = np.array([[-1.0], [1.0]])
    for z, legal in ((-50.0, True), (0.0, True), (1.0, True), (1.5, False)):
        assert (excess(Linear([1.0]).value, ends[0], np.array([z]), ends) <= 0) == legal
    inside = np.array([0.25])
    assert [
        z for z in (-50.0, 0.0, 1.0, 1.5) if excess(Linear([1.0]).value, inside, np.array([z]), ends) <= 0
    ] == [1]

    v, corners = np.array([2.0, -1.0, 0.5]), np.eye(3)
    for w in members(Simplex(3)):
        assert excess(Linear(v).value, w, v + 5, corners) <= 1e-12
        assert abs(solved_excess(Linear(v), w, v + 5, Simplex(3))) < 1e-6


@given(z=st.floats(-1e6, 1e6))
def test_e08_minus_root_has_no_subgradient_at_zero(z):
    """−√w on [0, 1]: at 0 no z bounds the regret of a round by that of its surrogate."""

    class MinusRoot:
        dim = 1

        def value(self, w):
            return -np.sqrt(w[0])

        def subgradient(self, w):
            return np.array([-0.5 / np.sqrt(w[0]) if w[0] > 0 else z])

    def lost(start, u):
        """Regret minus regret of the surrogate."""
        trace = play(OGD(Box([0], [1]), 1.0, start=[start]), [MinusRoot()])
        return trace.regret(against=[u]) - (trace.subgradients * (trace.points - u)).sum()

    u = 1.0 if z > -1 else 1 / (4 * z**2)
    assert lost(0.0, u) > 0  # printed: every point has one
    assert max(lost(1e-6 + u / 2, v) for v in np.linspace(0, 1, 21)) <= 1e-9  # inside it has


def test_e09_uniqueness_needs_an_interior_point():
    zero, ends = Linear([0.0]), [[0.0], [1.0]]
    at_the_end = [
        z for z in (-7.0, -1.0, 0.0, 1.0) if excess(zero.value, np.zeros(1), np.array([z]), ends) <= 0
    ]
    inside = [
        z for z in (-7.0, -1.0, 0.0, 1.0) if excess(zero.value, np.array([0.5]), np.array([z]), ends) <= 0
    ]
    assert at_the_end == [-7.0, -1.0, 0.0] and inside == [0.0]


@given(v=vectors(3, 3.0))
def test_e10_another_norm_bounds_the_dual_norm_of_a_subgradient(v):
    f = Linear(v)
    z, rho = f.subgradient(np.zeros(3)), -f.value(L1Ball(3).minimize_linear(v))  # Lipschitz in ℓ1
    assert rho == pytest.approx(np.abs(z).max())  # corrected: the dual norm, and it is met
    if np.count_nonzero(z) > 1:
        assert np.abs(z).sum() > rho  # printed, read in ℓ1: broken


# ---------------------------------------------------------------- the game


class Stays:
    """A learner that never moves."""

    def __init__(self, point):
        self.point = np.array(point, dtype=float)

    def player(self):
        return self

    def predict(self):
        return self.point

    def update(self, loss):
        pass


LEARNERS = [
    FTL(Simplex(3)),
    FTRL(Simplex(3), SquaredNorm(), 0.4),
    FTRL(Simplex(3), NegativeEntropy(), inverse_sqrt(0.5)),
    OGD(Simplex(3), inverse_sqrt(0.5)),
    OGD(Simplex(3), 0.3, "eager"),
    Hedge(3, 0.5),
    Linearized(FTRL(Simplex(3), SquaredNorm(), 0.4)),
    Stays([0.2, 0.3, 0.5]),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_play_is_the_protocol(learner):
    """Predict, then the loss, then pay, then update: spelled out, the same game."""
    losses = [Linear(z) for z in np.random.default_rng(1).normal(size=(15, 3))]
    for sequence in (losses, np.array([f.z for f in losses])):
        trace, player = play(learner, sequence), learner.player()
        for t, f in enumerate(losses):
            w = player.predict()
            assert np.allclose(trace.points[t], w, rtol=0, atol=1e-12)
            assert np.isclose(trace.paid[t], f.value(w))
            player.update(f)
        assert np.allclose(trace.last, player.predict(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_no_learner_sees_the_loss_before_it_plays(learner):
    Z = np.random.default_rng(2).normal(size=(10, 3))
    before = play(learner, Z).points
    for t in range(10):
        other = np.vstack([Z[:t], 5 - Z[t:]])
        assert np.array_equal(play(learner, other).points[: t + 1], before[: t + 1])


def test_the_causality_check_catches_a_clairvoyant():
    class Clairvoyant:
        def points(self, Z):
            replies = INTERVAL.minimize_linear(Z)
            return np.vstack([replies, replies[-1:]])

    Z = adversaries.alternating(30)
    trace = play(Clairvoyant(), Z)
    assert trace.regret(INTERVAL) == -29
    assert not np.array_equal(trace.points, play(Clairvoyant(), -Z).points)
    for losses in np.random.default_rng(3).normal(size=(20, 8, 1)):
        assert play(Clairvoyant(), losses).regret(INTERVAL) <= 1e-12


def test_the_adversary_sees_the_play_and_cannot_change_it():
    seen = []

    def adversary(t, w, past):
        assert past.shape == (t - 1, 1)
        seen.append(w.copy())
        w[:] = 99.0
        return np.where(seen[-1] >= 0, 1.0, -1.0)

    trace = play(OGD(INTERVAL, 0.3, "eager"), adversary, rounds=20)
    assert np.array_equal(trace.points, seen) and (trace.paid >= 0).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_an_adaptive_game_replayed_from_tape_is_the_same_game(learner):
    live = play(learner, lambda t, w, past: np.eye(3)[w.argmax()] - past.sum(axis=0) / t, rounds=15)
    tape = play(learner, live.losses)
    assert np.allclose(tape.points, live.points, rtol=0, atol=1e-12)
    assert np.isclose(tape.regret(Simplex(3)), live.regret(Simplex(3)))


# ---------------------------------------------------------------- regret


@given(over=st.sampled_from(BOUNDED).flatmap(lambda kind: sets(kind, max_dim=3)), seed=st.integers(0, 99))
def test_regret_is_the_supremum_over_the_set(over, seed):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-2, 3, (6, over.dim)).astype(float)
    bowls = [Quadratic(c, 0.5) for c in Z]
    for losses in (Z, bowls):
        trace = play(OGD(over, 0.4), losses)
        regret = trace.regret(over)
        rivals = [trace.regret(against=u) for u in members(over)]
        assert max(rivals) <= regret + 1e-9 * max(1, abs(regret))
        assert abs(oracle.regret(trace, over) - regret) < 1e-5 * max(1.0, abs(regret))
        assert np.isclose(trace.regret_curve(over)[-1], regret)


def test_regret_on_the_interval_by_hand():
    for Z in itertools.product((-1.0, 1.0), repeat=6):
        Z = np.array(Z)[:, None]
        trace = play(OGD(INTERVAL, 0.5), Z)
        assert np.isclose(trace.regret(INTERVAL), trace.paid.sum() + abs(Z.sum()))


def test_regret_is_infinite_on_an_unbounded_set():
    trace = play(Stays([0.0]), np.ones((1, 1)))
    with pytest.raises(ValueError, match="unbounded"):
        trace.regret(Space(1))
    assert [trace.regret(against=[-u]) for u in (1.0, 10.0, 100.0)] == [1, 10, 100]


def test_no_learner_has_more_than_linear_regret_and_some_have_it_all():
    rng = np.random.default_rng(5)
    T, rho, D = 12, 2.0, 2.0
    plays = Ball(2).project(2 * rng.normal(size=(500, T, 2)))
    Z = adversaries.random_directions(T, 2, seed=6, rho=rho, runs=(500,))
    regret = (plays * Z).sum(axis=(1, 2)) + np.linalg.norm(Z.sum(axis=1), axis=1)
    assert regret.max() <= rho * D * T
    met = play(Stays([0.0, 1.0]), np.tile([0.0, rho], (T, 1))).regret(Ball(2))
    assert np.isclose(met, rho * D * T)


def test_one_game_two_linear_regrets_and_one_of_order_root_T():
    T = 900
    t, square = np.arange(1, T + 1), Box([-1, -1], [1, 1])
    Z = np.hstack([adversaries.alternating(T), np.full((T, 1), -0.5)])
    assert np.array_equal(play(FTL(square), Z).regret_curve(square), t)
    assert np.allclose(play(Stays([0, 0]), Z).regret_curve(square), t / 2 + 1 / 2)
    descent = play(OGD(square, inverse_sqrt(1.0)), Z).regret_curve(square)
    assert (descent <= np.sqrt(t) + 1).all() and (descent >= np.sqrt(t) - 1).all()


@pytest.mark.parametrize("learner", [FTL(INTERVAL), OGD(INTERVAL, 0.1), Stays([-0.4])])
def test_nobody_keeps_up_with_the_best_point_of_each_round(learner):
    T = 100
    trace = play(learner, lambda t, w, past: np.where(w >= 0, 1.0, -1.0), rounds=T)
    replies = INTERVAL.minimize_linear(trace.losses)
    assert trace.dynamic_regret(replies) >= T
    assert trace.regret(INTERVAL) <= trace.dynamic_regret(replies)
    if isinstance(learner, OGD):
        assert trace.regret(INTERVAL) <= theorems.DescentSharp(1, 1, T).bound


@pytest.mark.parametrize(("k", "T"), [(2, 8), (4, 32), (7, 98), (20, 800), (3, 12), (7, 28), (20, 80)])
def test_e29_regret_can_be_linearly_negative(k, T):
    """A sublinear upper bound does not make the average regret tend to 0: −1 is possible. T ≥ 4/η, even."""
    eta = 1 / k
    Z = np.repeat([1.0, -1.0], T // 2)[:, None]
    eager = play(OGD(INTERVAL, eta, "eager"), Z).regret(INTERVAL)
    assert np.isclose(eager, -T + 5 * k / 2 + 3 / 2)
    assert eager / T < (-0.9 if T == 800 else 0)
    assert np.isclose(play(OGD(INTERVAL, eta), Z).regret(INTERVAL), 1)
    assert eager <= theorems.Descent(2, 1, T).bound  # the upper bound holds
    short = np.repeat([1.0, -1.0], 2 * k - 1)[:, None]  # T = 4/η − 2: the walk back does not end in time
    assert play(OGD(INTERVAL, eta, "eager"), short).regret(INTERVAL) < -len(short) + 5 * k / 2 + 1.49


def test_e29_in_one_endless_game_the_average_regret_tends_to_minus_one():
    k = np.arange(1, 15)
    Z = np.repeat(np.where(k % 2 == 0, 1.0, -1.0), k**3)[:, None]
    regret = play(OGD(INTERVAL, inverse_sqrt(1.0), "eager"), Z).regret_curve(INTERVAL)
    T, K = np.arange(1, len(Z) + 1), np.repeat(k, k**3)
    assert (regret >= -T).all()
    assert (regret <= -T + K * (2 * np.sqrt(T) + 2) + K**3).all()
    assert (regret[4000:] / T[4000:] < -0.7).all()
