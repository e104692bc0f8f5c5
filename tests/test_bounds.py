"""Every promise is put to the test its word demands.

`tight`: held in every game tried, met with equality by one, and broken when scaled down; `upper`: held, and
broken when scaled below its known tightness; `lower`: reached. A test sees that no bound was forgotten.
"""

import ledger
import numpy as np
import promises
import pytest
from hypothesis import given
from hypothesis import strategies as st
from promises import DEMANDED, checked, checks, items
from spite import spiteful_to_normalized_winnow, spiteful_to_winnow

from ocolib import bounds, limits
from ocolib.adversaries import (
    all_signs,
    alternating,
    disjunction,
    nature,
    orthogonal,
    random_directions,
    separable,
    ties,
)
from ocolib.game import play
from ocolib.learners import FTL, FTRL, OGD, Hedge, NormalizedWinnow, Perceptron, Winnow, inverse, inverse_sqrt
from ocolib.losses import Quadratic, perceptron_loss
from ocolib.oracle import max_margin
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, L1Ball, Simplex, Space

INTERVAL = Box([-1.0], [1.0])
ROUNDING = 1 + 1e-12


def name_of(promised):
    return f"{promised.__module__.split('.')[1]}.{promised.__name__}"


@pytest.mark.parametrize("promised", bounds.PROMISES, ids=name_of)
def test_every_promise_has_the_tests_its_word_demands(promised):
    """Here the bounds and the limits alike."""
    assert DEMANDED[promised.kind] <= checked()[name_of(promised)]


def test_the_promises_are_those_of_the_ledger_and_their_tests_are_found_without_an_import():
    assert items() == {name_of(promised): promised.item for promised in bounds.PROMISES}
    assert set(items().values()) <= {entry["id"] for entry in ledger.entries(ledger.load())}
    found = promises.tests_of("ox13.thm2")
    assert len(found) == len(set(found))
    assert "tests/test_bounds.py::test_the_sharp_bound_is_met_by_the_orthogonal_adversary" in found
    assert "tests/test_limits.py::test_descent_is_attained_on_the_ball" in found
    assert not promises.tests_of("ox13.thm99")


def test_a_promise_is_one_of_three_words():
    with pytest.raises(ValueError, match="tight, upper or lower, got 'sharp'"):
        bounds.promise("sharp", "ox13.thm2")


# ---------------------------------------------------------------- Lecture 13, Example 2


@checks(bounds.example2, "held", "met")
@pytest.mark.parametrize("T", [1, 2, 3, 4, 5, 16, 101])
@pytest.mark.parametrize("eta", [1e-3, 0.1, 0.5, 1.0, 1.9, 2.0, 3.0, 100.0, np.inf])
def test_example2_is_an_equality(T, eta):
    leader = FTL(INTERVAL) if eta == np.inf else FTRL(INTERVAL, SquaredNorm(), eta)
    regret = play(leader, alternating(T)).regret(INTERVAL)
    assert regret == pytest.approx(bounds.example2(T, eta), rel=1e-12)


@checks(bounds.example2, "broken")
def test_example2_for_the_leader_is_T_minus_a_half():
    regret = play(FTL(INTERVAL), alternating(50)).regret(INTERVAL)
    assert regret == 49.5 == bounds.example2(50)


# ---------------------------------------------------------------- Lecture 13, Theorem 1


@checks(bounds.ftrl_stability, "held")
@pytest.mark.parametrize("eta", [0.1, 1.0, 5.0])
def test_theorem1_is_never_broken(eta):
    for over, R, Z in [
        (INTERVAL, SquaredNorm(), all_signs(10)),
        (Ball(3), SquaredNorm(), random_directions(20, 3, 0, runs=(50,))),
        (L1Ball(3), SquaredNorm(), random_directions(20, 3, 1, runs=(50,))),
        (Simplex(3), NegativeEntropy(), random_directions(20, 3, 2, runs=(50,))),
    ]:
        trace = play(FTRL(over, R, eta), Z)
        rivals = over.minimize_linear(random_directions(10, over.dim, 3))
        for u in [*rivals, over.project(np.zeros(over.dim))]:
            promised = bounds.ftrl_stability(trace, u)
            assert (trace.regret(against=u) <= promised + 1e-11 * np.maximum(1, np.abs(promised))).all()


@checks(bounds.ftrl_stability, "held")
def test_theorem1_holds_for_curved_losses():
    losses = [Quadratic(c) for c in random_directions(12, 2, 4, rho=3.0)]
    trace = play(FTRL(Ball(2), SquaredNorm(), 0.5), losses)
    for u in Ball(2).minimize_linear(random_directions(20, 2, 5)):
        assert trace.regret(against=u) <= bounds.ftrl_stability(trace, u) + 1e-12


@checks(bounds.ftrl_stability, "met")
def test_theorem1_is_met_by_a_leader_that_has_no_reason_to_move():
    trace = play(FTRL(Box([1.0], [2.0]), SquaredNorm(), 0.5), np.ones((5, 1)))
    assert trace.paid.sum() == 5.0
    assert trace.regret(against=[1.0]) == bounds.ftrl_stability(trace, [1.0]) == 0.0


@checks(bounds.ftrl_stability, "broken")
@pytest.mark.parametrize("T", [1, 10, 200])
def test_theorem1_is_approached_by_a_constant_loss(T):
    """Against u = w_{T+1} the regret is (T + 1)/(T + 2) of the promise, which is eta·T(T + 2)/2."""
    trace = play(FTRL(Space(1), SquaredNorm(), 0.5), np.ones((T, 1)))
    regret = trace.regret(against=trace.last)
    promised = bounds.ftrl_stability(trace, trace.last)
    assert promised == pytest.approx(0.5 * T * (T + 2) / 2)
    assert regret == pytest.approx(promised * (T + 1) / (T + 2))


# ---------------------------------------------------------------- Lecture 13, Theorem 2


@checks(bounds.descent, "held")
@pytest.mark.parametrize(
    "over", [INTERVAL, Box([0.0], [1.0]), Box([-0.3], [2.0])], ids=["[-1,1]", "[0,1]", "[-.3,2]"]
)
def test_theorem2_is_never_broken_by_any_signs(over):
    T, D = 12, over.diameter
    regret = play(OGD(over, bounds.descent_step(D, 1.0, T)), all_signs(T)).regret(over)
    assert regret.shape == (2**T,)
    assert regret.max() <= bounds.descent(D, 1.0, T)


@checks(bounds.descent, "held")
@checks(bounds.descent_sharp, "held")
@pytest.mark.parametrize("T", [1, 7, 60])
@pytest.mark.parametrize("rho", [0.5, 4.0])
def test_theorem2_is_never_broken_on_balls_and_other_sets(T, rho):
    for over in (Ball(3, 2.0), Ball(3, 2.0, [1, 0, 0]), L1Ball(3), Box([-1, 0, 0], [1, 2, 0])):
        D, B = over.diameter, over.farthest(np.zeros(3))
        lazy, sharp = (
            OGD(over, bounds.descent_step(D, rho, T)),
            OGD(over, bounds.descent_sharp_step(B, rho, T)),
        )
        for Z in (
            random_directions(T, 3, 0, rho, runs=(100,)),
            np.tile(random_directions(1, 3, 1, rho), (T, 1)),
        ):
            assert play(lazy, Z).regret(over).max() <= bounds.descent(D, rho, T)
            assert play(sharp, Z).regret(over).max() <= bounds.descent_sharp(B, rho, T) * ROUNDING
        assert play(lazy, orthogonal(rho), rounds=T).regret(over) <= bounds.descent(D, rho, T)
        assert (
            play(sharp, orthogonal(rho), rounds=T).regret(over) <= bounds.descent_sharp(B, rho, T) * ROUNDING
        )


@checks(bounds.descent_sharp, "held")
def test_the_sharp_bound_counts_from_the_start_wherever_that_is():
    over, start, T = Simplex(3), np.array([0.0, 0.0, 1.0]), 30
    B = over.farthest(start)
    learner = OGD(over, bounds.descent_sharp_step(B, 1.0, T), start=start)
    for Z in (random_directions(T, 3, 6, runs=(200,)), np.tile([0.6, 0.0, 0.8], (T, 1))):
        assert play(learner, Z).regret(over).max() <= bounds.descent_sharp(B, 1.0, T) * ROUNDING


@checks(bounds.descent, "broken")
@pytest.mark.parametrize("T", [2, 8])
def test_theorem2_is_three_quarters_of_its_promise_on_the_unit_interval(T):
    """Exhaustively: the worst of all 2^T games on [0, 1] has regret ¾·D·rho·√(2T) for T = 2m²."""
    over = Box([0.0], [1.0])
    worst = play(OGD(over, bounds.descent_step(1.0, 1.0, T)), all_signs(T)).regret(over).max()
    assert worst == pytest.approx(0.75 * bounds.descent(1.0, 1.0, T), rel=1e-12)


@checks(bounds.descent_sharp, "met", "broken")
@pytest.mark.parametrize("T", [4, 16])
def test_the_sharp_bound_is_met_by_the_worst_of_all_signs(T):
    worst = play(OGD(INTERVAL, bounds.descent_sharp_step(1.0, 1.0, T)), all_signs(T)).regret(INTERVAL).max()
    assert worst == pytest.approx(bounds.descent_sharp(1.0, 1.0, T), rel=1e-12)


@checks(bounds.descent_sharp, "met")
@pytest.mark.parametrize("T", [1, 3, 10, 50])
def test_the_sharp_bound_is_met_by_the_orthogonal_adversary(T):
    learner = OGD(Ball(2, 3.0), bounds.descent_sharp_step(3.0, 2.0, T))
    regret = play(learner, orthogonal(2.0), rounds=T).regret(Ball(2, 3.0))
    assert regret == pytest.approx(bounds.descent_sharp(3.0, 2.0, T), rel=1e-12)


@checks(bounds.descent_anytime, "held", "broken")
def test_the_anytime_bound_holds_at_every_round_at_once():
    """And at 0.7 of it no round does: the orthogonal adversary takes B·rho·√T."""
    t = np.arange(1, 41)
    promised = np.array([bounds.descent_anytime(2.0, 3.0, int(k)) for k in t])
    learner = OGD(Ball(2, 2.0), inverse_sqrt(2.0 / (3.0 * np.sqrt(2))))
    for Z in (random_directions(40, 2, 0, 3.0, runs=(100,)), np.tile([3.0, 0.0], (40, 1))):
        assert (play(learner, Z).regret_curve(Ball(2, 2.0)) <= promised).all()
    spite = play(learner, orthogonal(3.0), rounds=40).regret_curve(Ball(2, 2.0))
    assert (spite <= promised).all()
    assert (spite > 0.7 * promised).all()
    signs = play(OGD(INTERVAL, inverse_sqrt(1 / np.sqrt(2))), all_signs(12)).regret_curve(INTERVAL)
    assert (signs.max(axis=0) <= [bounds.descent_anytime(1.0, 1.0, k) for k in range(1, 13)]).all()


def test_the_steps_make_their_bounds_least():
    for step, promised, share in [
        (bounds.descent_step, bounds.descent, 1.0),
        (bounds.descent_sharp_step, bounds.descent_sharp, 0.5),
    ]:
        size, rho, T = 2.0, 3.0, 7

        def line(eta, share=share, size=size, rho=rho, T=T):
            return share * eta * T * rho**2 + size**2 / (2 * eta)

        eta = step(size, rho, T)
        assert line(eta) == pytest.approx(promised(size, rho, T))
        assert line(eta) < min(line(0.99 * eta), line(1.01 * eta))


# ---------------------------------------------------------------- Lecture 13, Perceptron and Winnow


@checks(bounds.perceptron, "held")
@pytest.mark.parametrize("margin", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("size", [1.0, 10.0])
def test_the_perceptron_never_updates_more_than_promised(margin, size):
    for seed in range(5):
        X, y, u = separable(400, 6, margin, seed)
        X = size * X
        R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
        updates = play(Perceptron(6), perceptron_loss(X, y)).updates.sum()
        assert updates <= bounds.perceptron(R, gamma)
    best = max_margin(X, y)[1]
    assert best >= gamma - 1e-6
    assert updates <= bounds.perceptron(R, best)


@checks(bounds.perceptron, "met", "broken")
@pytest.mark.parametrize("n", [1, 4, 9, 25])
def test_the_perceptron_bound_is_met_by_orthonormal_examples(n):
    """u = (y_1, …, y_n)/√n has margin 1/√n, and each example is new: n updates."""
    y = np.where(np.arange(n) % 2 == 0, -1.0, 1.0)
    updates = play(Perceptron(n), perceptron_loss(np.eye(n), y)).updates.sum()
    assert updates == n == pytest.approx(bounds.perceptron(1.0, 1 / np.sqrt(n)))


@checks(bounds.winnow, "held")
@pytest.mark.parametrize(
    ("n", "k", "theta"), [(8, 1, 4.0), (40, 2, 20.0), (40, 3, 7.5), (100, 5, 10.0), (30, 1, 1.0)]
)
def test_winnow_never_updates_more_than_promised(n, k, theta):
    promised = bounds.winnow(n, k, theta)
    for seed in range(3):
        X, y = disjunction(300, n, k, seed)
        assert play(Winnow(n, theta), perceptron_loss(X, y, theta)).updates.sum() <= promised
    spite = play(Winnow(n, theta), spiteful_to_winnow(n, k, theta), rounds=150)
    np.testing.assert_array_equal(spite.losses.y > 0, spite.losses.X[:, :k].any(axis=1))
    assert spite.updates.sum() <= promised


@checks(bounds.winnow, "broken")
def test_winnow_comes_within_a_tenth_of_its_promise():
    spite = play(Winnow(1024, 32.0), spiteful_to_winnow(1024, 1, 32.0), rounds=100)
    np.testing.assert_array_equal(spite.losses.y > 0, spite.losses.X[:, 0] > 0)
    assert 0.9 * bounds.winnow(1024, 1, 32.0) < spite.updates.sum() <= bounds.winnow(1024, 1, 32.0)


@checks(bounds.normalized_winnow, "held")
@pytest.mark.parametrize("size", [1.0, 5.0])
def test_normalised_winnow_never_updates_more_than_promised_on_doubled_features(size):
    """With (x, −x) every u of ℓ1 norm 1 becomes a point of the simplex."""
    for seed in range(4):
        X, y, u = separable(500, 6, 0.3, seed)
        X, u = size * X / np.abs(X).max(), u / np.abs(u).sum()
        doubled = np.hstack([X, -X])
        gamma = (y * (X @ u)).min()
        assert gamma > 0
        updates = play(NormalizedWinnow(12, gamma / size**2), perceptron_loss(doubled, y)).updates.sum()
        assert 0 < updates <= bounds.normalized_winnow(12, gamma, size)


@checks(bounds.normalized_winnow, "held", "broken")
@pytest.mark.parametrize(("n", "margin", "share"), [(9, 0.2, 0.6), (65, 0.2, 0.75), (1025, 0.2, 0.85)])
def test_normalised_winnow_comes_near_its_promise(n, margin, share):
    promised = bounds.normalized_winnow(n, margin)
    spite = play(
        NormalizedWinnow(n, margin), spiteful_to_normalized_winnow(n, margin), rounds=int(promised) + 9
    )
    assert spite.losses.X[:, 0].min() == margin
    assert np.abs(spite.losses.X).max() <= 1.0
    assert share * promised < spite.updates.sum() <= promised


# ---------------------------------------------------------------- Lecture 9


def perceptron_from(start, X, y):
    return play(OGD(Space(X.shape[1]), 1.0, start=start), perceptron_loss(X, y))


@checks(bounds.mistakes_floor, "reached")
@pytest.mark.parametrize("radius, n", [(1.0, 1), (2.5, 7), (0.3, 40)])
def test_nature_forces_the_bound_on_every_learner_that_predicts_by_sign(radius, n):
    learners = Perceptron(n), OGD(Ball(n), 0.3), OGD(Space(n), 2.0, start=np.arange(n) - 1.5)
    for learner in learners:
        trace = play(learner, nature(radius), rounds=n)
        X, y = trace.losses.X, trace.losses.y
        u = y / np.sqrt(n)
        margin = (y * (X @ u)).min()
        assert margin == pytest.approx(radius / np.sqrt(n))
        assert trace.mistakes.sum() == n == bounds.mistakes_floor(radius, margin)


@checks(bounds.perceptron_from, "held")
@given(seed=st.integers(0, 10_000), size=st.sampled_from([0.0, 0.5, 3.0, 10.0]))
def test_the_bound_from_another_start_holds(seed, size):
    X, y, u = separable(400, 3, 0.2, seed)
    start = size * np.random.default_rng(seed).standard_normal(3)
    M = perceptron_from(start, X, y).updates.sum()
    promise = bounds.perceptron_from(1.0, (y * (X @ u)).min(), start @ u, np.linalg.norm(start))
    assert promise >= M


@checks(bounds.perceptron_from, "met", "broken")
@pytest.mark.parametrize("n, k", [(4, 0), (9, 3), (25, 24)])
def test_the_bound_from_another_start_is_met_by_a_run_begun_in_the_middle(n, k):
    start, u = np.where(np.arange(n) < k, 1.0, 0.0), np.full(n, 1 / np.sqrt(n))
    trace = perceptron_from(start, np.eye(n)[k:], np.ones(n - k))
    promise = bounds.perceptron_from(1.0, 1 / np.sqrt(n), start @ u, np.linalg.norm(start))
    assert trace.updates.sum() == n - k == pytest.approx(promise)


@checks(bounds.perceptron_ties, "held")
@given(
    seed=st.integers(0, 10_000),
    kink=st.sampled_from([0.05, 0.25, 0.5, 0.9, 1.0]),
    margin=st.sampled_from([0.05, 0.2]),
)
def test_the_bound_with_ties_holds_on_whole_numbers(seed, kink, margin):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (300, 4)).astype(float)  # whole numbers make ties
    u = rng.standard_normal(4)
    u /= np.linalg.norm(u)
    keep = np.abs(X @ u) >= margin
    X, y = X[keep], np.sign(X[keep] @ u)
    trace = play(Perceptron(4, kink=kink), perceptron_loss(X, y))
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    assert trace.updates.sum() <= bounds.perceptron_ties(R, gamma, kink)
    factors = np.abs(trace.subgradients[trace.updates]).sum(1) / np.abs(X[trace.updates]).sum(1)
    assert np.isin(factors.round(12), np.round([kink, 1.0], 12)).all()


@checks(bounds.perceptron_ties, "held", "broken")
@pytest.mark.parametrize("kink", [1 / 3, 0.5, 0.6, 0.8])
def test_the_factor_of_the_bound_with_ties_is_reached(kink):
    X, y, u = ties(kink, margin=0.05)
    trace = play(Perceptron(X.shape[1], kink=kink), perceptron_loss(X, y))
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    assert pytest.approx(1, abs=1e-9) == R and gamma == pytest.approx(0.05, abs=1e-9)
    promise = bounds.perceptron_ties(R, gamma, kink)
    assert trace.mistakes.all() and 0.99 * promise < len(X) <= promise
    assert len(X) > bounds.perceptron(R, gamma)  # more than a full step at ties would allow


# ---------------------------------------------------------------- Lecture 17


@checks(bounds.ftrl, "held")
@checks(bounds.ftrl_sharp, "held")
@pytest.mark.parametrize("eta", [0.03, 0.4, 5.0])
def test_ftrl_stays_below_17_2_with_either_regulariser(eta):
    simplex = Simplex(4)
    for over, phi in ((INTERVAL, SquaredNorm()), (simplex, SquaredNorm()), (simplex, NegativeEntropy())):
        Z = random_directions(40, over.dim, seed=1, rho=3.0, runs=(50,))
        trace = play(FTRL(over, phi, eta), Z)
        sharp = bounds.ftrl_sharp(phi.range(over), phi.dual_norm(Z), eta)
        assert (trace.regret(over) <= sharp * ROUNDING).all()
        assert (sharp < bounds.ftrl(phi.range(over), phi.dual_norm(Z), eta)).all()


@checks(bounds.ftrl, "broken")
@checks(bounds.ftrl_sharp, "met", "broken")
@checks(bounds.ftrl_tuned_sharp, "held", "met", "broken")
@pytest.mark.parametrize("rho", [1.0, 7.0])
def test_some_game_meets_the_sharp_bound_and_two_thirds_of_17_2(rho):
    T, D = 16, 0.5
    eta = bounds.ftrl_sharp_step(D, rho, T)
    worst = play(FTRL(INTERVAL, SquaredNorm(), eta), rho * all_signs(T)).regret(INTERVAL).max()
    assert worst == pytest.approx(bounds.ftrl_sharp(D, np.full(T, rho), eta))
    assert worst == pytest.approx(bounds.ftrl_tuned_sharp(D, rho, T))
    assert 0.66 * bounds.ftrl(D, np.full(T, rho), eta) < worst


@checks(bounds.ftrl_tuned, "held", "broken")
def test_ftrl_at_the_lectures_step_pays_three_quarters_of_its_promise():
    T = 16
    learner = FTRL(INTERVAL, SquaredNorm(), bounds.ftrl_step(0.5, 2.0, T))
    worst = play(learner, 2.0 * all_signs(T)).regret(INTERVAL).max()
    assert 0.74 * bounds.ftrl_tuned(0.5, 2.0, T) < worst <= 0.75 * bounds.ftrl_tuned(0.5, 2.0, T)


def coin_games(T):
    """All games of two experts with losses (0, 1) and (1, 0)."""
    z = all_signs(T)[..., 0]
    return np.stack([z > 0, z < 0], axis=-1).astype(float)


@checks(bounds.hedge, "held", "broken")
def test_hedge_comes_within_an_eighth_of_its_promise():
    for T in (3, 10, 16):
        worst = play(Hedge(2, bounds.hedge_step(2, T)), coin_games(T)).regret(Simplex(2)).max()
        assert worst <= bounds.hedge(2, T)
    assert worst > 0.88 * bounds.hedge(2, 16)


@checks(bounds.hedge_anytime, "held", "broken")
def test_anytime_hedge_pays_two_thirds_of_its_promise():
    curves = play(Hedge(2, bounds.hedge_schedule(2)), coin_games(14)).regret_curve(Simplex(2))
    assert (curves <= [bounds.hedge_anytime(2, t) for t in range(1, 15)]).all()
    losses = np.tile(np.eye(2), (1000, 1))
    losses[-150:] = [1.0, 0.0]
    curve = play(Hedge(2, bounds.hedge_schedule(2)), losses).regret_curve(Simplex(2))
    assert 0.67 * bounds.hedge_anytime(2, 2000) < curve[-1] <= bounds.hedge_anytime(2, 2000)


@checks(bounds.logistic_descent, "held", "broken")
@pytest.mark.parametrize("share", [1e-6, 0.3, 1.0])
def test_logistic_descent_on_one_point(share):
    """One point at 1: margin 1, smoothness ¼. A tiny step stays at log 2 after round 1, bound 1."""
    w, eta = 0.0, 4 * share
    for t in range(1, 200):
        w += eta / (1 + np.exp(w))
        assert np.log1p(np.exp(-w)) <= bounds.logistic_descent(1.0, t, eta)
        if t == 1 and share < 1e-3:
            assert np.log1p(np.exp(-w)) > 0.69 * bounds.logistic_descent(1.0, 1, eta)


# ---------------------------------------------------------------- one value of each by hand


def two_rounds():
    """FTRL on all of the line with eta = ½ against z = 1, 1: it plays 0, −½ and would play −1."""
    return play(FTRL(Space(1), SquaredNorm(), 0.5), np.ones((2, 1)))


def halved():
    """Eager descent with η_t = 2/t, for H = ½, against z = 1, 2, 3."""
    return play(OGD(Space(1), inverse(2.0), "eager"), np.array([[1.0], [2.0], [3.0]]))


BY_HAND = [
    (bounds.example2, (5, 0.5), 1.5),  # ¼·4 + ½
    (bounds.ftrl_stability, (two_rounds(), [2.0]), 5.0),  # ½ + ½ + 2²/(2·½)
    (bounds.descent, (2.0, 3.0, 8), 24.0),
    (bounds.descent_sharp, (2.0, 3.0, 4), 12.0),
    (bounds.descent_anytime, (2.0, 3.0, 8), 24.0),
    (bounds.perceptron, (2.0, 0.5), 16.0),
    (bounds.winnow, (32, 2, 4.0), 34.0),  # 16 + 6·3
    (bounds.normalized_winnow, (8, 0.5, 2.0), 66.54212933),  # 96 ln 2
    (bounds.perceptron_from, (1.0, 1.0, -1.0, 1.0), 3.0),  # (M − 1)² = 1 + M
    (bounds.perceptron_ties, (2.0, 0.5, 1 / 3), 64 / 3),  # 16·(4/3)²/(4/3)
    (bounds.mistakes_floor, (1.0, 0.3), 11),  # ⌊100/9⌋
    (bounds.zinkevich, (2.0, 3.0, 1.0, 4), 30.0),  # (2 + 9 + 4)·2
    (bounds.zinkevich_sharp, (2.0, 3.0, 3**0.5, 4), 23.5),  # 4 + 9·1½ + 2√3·√3
    (bounds.zinkevich_sharp, (2.0, 3.0, 3**0.5, 4, None, 2.0), 32.0),  # 2 + 18·1½ + √3·√3
    (bounds.zinkevich_sharp, (2.0, 3.0, 3**0.5, 4, 1.0), 20.5 + 3**0.5 / 2),  # √3·1 + ½ for 2√3
    (bounds.delayed, (2.0, 3.0, 1, 6), 36.0),
    (bounds.delayed, (2.0, 3.0, 1, 4, 1.0), 58.0),  # (2 + 9·3)·2
    (bounds.delayed_constant, (2.0, 3.0, [1, 0, 2], 0.5), 15.25),  # 4 + 4½·(1½ + 1)
    (bounds.delayed_strongly_convex, (2.0, 3.0, 0.5, 2, 1), 47.0),  # 2 + 2½·18
    (bounds.delayed_strongly_convex, (2.0, 3.0, 0.5, 2, 7), 134.5659567),  # ln 7 = 1.945910149
    (bounds.strongly_convex, (3.0, 0.5, 7), 26.51319134),
    (bounds.strongly_convex_sharp, (3.0, 0.5, 3), 16.5),  # 9·11/6
    (bounds.strongly_convex_seen, (halved(),), 6.0),  # 1 + 4/2 + 9/3
    (bounds.pegasos, (2.0, 0.5, 7), 47.13456238),  # ρ = 4
    (bounds.pegasos, (1.0, 4.0, 1, True), 1.125),  # ρ = 3
    (bounds.ftrl, (2.0, [1.0, 3.0], 0.5), 9.0),
    (bounds.ftrl_sharp, (2.0, [1.0, 3.0], 0.5), 6.5),
    (bounds.ftrl_tuned, (4.0, 3.0, 25), 60.0),
    (bounds.ftrl_tuned_sharp, (2.0, 3.0, 25), 30.0),
    (bounds.hedge, (10, 50), 7.587135646),  # 5√2.302585093
    (bounds.hedge_anytime, (10, 49), 10.62198990),
    (bounds.logistic_descent, (0.5, np.e, 2.0), 0.7357588823),  # 2/e
    # again with numbers for which squaring is not doubling and no divisor is 1
    (bounds.perceptron_from, (3.0, 0.5, 0.4, 1.2), 34.54819875),  # 4·(4.3 + √18.81)
    (bounds.zinkevich, (3.0, 5.0, 0.7, 9), 101.1),  # (4.5 + 25 + 4.2)·3
    (bounds.zinkevich_sharp, (3.0, 5.0, 0.7, 9, None, 0.4), 73.59924241),  # 33.75 + 25 + 5.25·√8
    (bounds.zinkevich_sharp, (3.0, 5.0, 4.0, 9, 1.6, 0.4), 113.0558008),  # 33.75 + 25 + 19.2·√8
    (bounds.delayed, (3.0, 5.0, 2, 9, 0.4), 183.75),  # (11.25 + 50)·3
    (bounds.delayed, (3.0, 5.0, 2, 9), 142.3024947),  # 15·√90
    (bounds.delayed, (3.0, 5.0, 0, 8), 60.0),  # 15·√16
    (bounds.delayed_constant, (3.0, 5.0, [1, 0, 2], 0.25), 33.625),  # 18 + 6.25·2½
    (bounds.delayed_strongly_convex, (3.0, 5.0, 0.25, 2, 7), 738.7275373),  # 2.25 + 250·2.945910149
    (bounds.delayed_strongly_convex, (3.0, 5.0, 0.25, 0, 1), 50.0),
    (bounds.strongly_convex_sharp, (3.0, 0.25, 3), 33.0),  # 18·11/6
    (bounds.logistic_descent, (0.5, np.e**2, 3.0), 0.4962293718),  # (1 + 4/1.5)/e²
    (limits.interval, (2.0, 3.0, 4), 9.0),  # E|S_4| = 3/2
    (limits.ball, (2.0, 3.0, 4), 12.0),
    (limits.two_experts, (4,), 0.75),
    (limits.experts_floor, (2, 2), 0.375),  # max(S, S') is 2 with chance 7/16, −2 with 1/16
    (limits.experts, (3, 2), 5 / 6),
    (limits.hedge, (2, 2, np.log(3)), 0.75),  # the same expert twice: ½ + ¼
    (limits.descent, (2.0, 3.0, 4, 0.5), 13.0),  # 4 + 9
    (limits.square_loss, (2,), 0.625),  # ½(¾ + ½)
    (limits.leader_square_loss, (3,), 5 / 3),
    (limits.delayed, (2.0, 3.0, 1, 8), 24.0),
    (limits.moving, (2.0, 3.0, 4, 16), 48.0),
]


@pytest.mark.parametrize(("promised", "arguments", "value"), BY_HAND, ids=[name_of(p) for p, _, _ in BY_HAND])
def test_a_promise_has_the_value_worked_out_by_hand(promised, arguments, value):
    """So that none can be scaled, up or down, unnoticed: an upper bound stays one when it grows."""
    assert promised(*arguments) == pytest.approx(value, rel=1e-9) and value > 0


def test_every_promise_has_a_value_by_hand():
    assert {name_of(promised) for promised in bounds.PROMISES} == {name_of(p) for p, _, _ in BY_HAND}


def test_steps_by_hand():
    assert bounds.descent_step(2.0, 3.0, 8) == pytest.approx(1 / 6)
    assert bounds.descent_sharp_step(2.0, 3.0, 4) == pytest.approx(1 / 3)
    assert bounds.delayed_scale(2.0, 3.0, 1) == pytest.approx(0.2721655270)  # 2/(3√6)
    assert bounds.delayed_scale(3.0, 5.0, 2) == pytest.approx(0.1897366596)  # 3/(5√10)
    assert bounds.delayed_scale(3.0, 5.0, 0) == pytest.approx(0.4242640687)  # 3/(5√2)
    assert bounds.ftrl_step(4.0, 0.5, 25) == pytest.approx(0.8)
    assert bounds.ftrl_sharp_step(2.0, 0.5, 25) == pytest.approx(0.8)
    assert bounds.hedge_step(10, 50) == pytest.approx(0.6069708517)
    assert bounds.hedge_schedule(10)(8) == pytest.approx(1.011618086)
    for t in (0, [3, 0]):
        with pytest.raises(ValueError, match="t must be ≥ 1, got 0"):
            bounds.logistic_descent(1.0, t, 1.0)


def test_what_a_bound_refuses():
    with pytest.raises(ValueError, match="along"):
        bounds.perceptron_from(1.0, 0.5, 1.01, 1.0)  # no vector of length 1 has it
    rounded = bounds.perceptron_from(1.0, 0.5, 1 + 5e-13, 1.0)
    assert rounded == pytest.approx(bounds.perceptron_from(1.0, 0.5, 1.0, 1.0))
    with pytest.raises(ValueError, match="kink"):
        bounds.perceptron_ties(1.0, 0.5, 1.01)


def test_a_curvature_is_read_off_steps_that_have_one():
    bowls = [Quadratic([1.0], 2.0)] * 3
    assert bounds.curvature_of(play(OGD(INTERVAL, inverse(0.4), "eager"), bowls)) == pytest.approx(2.5)
    for eta in (inverse_sqrt(0.4), lambda t: 0.4 / t + 1e-8 * t, 1e-10):
        with pytest.raises(ValueError, match="curvature"):
            bounds.curvature_of(play(OGD(INTERVAL, eta, "eager"), bowls))
