"""Learners: the loop and the closed form agree, nobody sees the future, and the classics are themselves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import vectors

from ocolib import oracle
from ocolib.adversaries import disjunction, random_directions, separable
from ocolib.game import loop as game_loop
from ocolib.game import play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
    inverse_sqrt,
    step_at,
    steps,
)
from ocolib.losses import Linear, Quadratic, hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space

schedule = inverse_sqrt(0.7)
CUBE = Box([-1] * 3, [1, 2, 3])
LEARNERS = {
    "FTL on a ball": FTL(Ball(3)),
    "FTL on the simplex": FTL(Simplex(3)),
    "FTL on a box": FTL(CUBE),
    "FTL on the l1 ball": FTL(L1Ball(3, 2.0)),
    "FTRL on a ball": FTRL(Ball(3), SquaredNorm(), 0.4),
    "FTRL with a centre": FTRL(CUBE, SquaredNorm([0.5, 1.0, 9.0]), 0.4),
    "FTRL with a schedule": FTRL(L1Ball(3), SquaredNorm(), schedule),
    "FTRL with entropy on the orthant": FTRL(Orthant(3), UnnormalizedEntropy(), schedule),
    "Hedge": Hedge(3, 0.3),
    "Hedge with a schedule": Hedge(3, schedule),
    "Linearized FTRL": Linearized(FTRL(Ball(3), SquaredNorm(), 0.4)),
    "lazy OGD": OGD(Ball(3), 0.4),
    "lazy OGD from a start": OGD(CUBE, schedule, start=[0.0, 1.0, 3.0]),
    "lazy OGD in a halfspace": OGD(Halfspace([1, 2, -1], -0.5), 0.4),
    "eager OGD": OGD(Ball(3), 0.4, "eager"),
    "eager OGD from a start": OGD(Simplex(3), schedule, "eager", start=[0.0, 0.0, 1.0]),
    "eager OGD in the orthant": OGD(Orthant(3), schedule, "eager"),
    "OGD in space": OGD(Space(3), 0.4, "eager"),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
T = 9
Z = np.random.default_rng(7).integers(-2, 3, (4, T, 3)) + 0.25 * random_directions(T, 3, 8, runs=(4,))


def loop(learner, Z):
    """Predict, update, predict: the plays w_1, …, w_{T+1} of one game."""
    player, points = learner.player(), []
    for z in Z:
        points.append(player.predict())
        player.update(Linear(z))
    return np.array([*points, player.predict()])


# ---------------------------------------------------------------- what every learner owes


@every_learner
def test_the_closed_form_plays_as_the_loop_does(learner):
    together = learner.points(Z)
    assert together.shape == (4, T + 1, 3)
    for run in range(4):
        np.testing.assert_allclose(together[run], loop(learner, Z[run]), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(together[run], learner.points(Z[run]), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(together[0], game_loop(learner, Z[0]), rtol=1e-12, atol=1e-13)


@every_learner
@pytest.mark.parametrize("t", [1, 2, 5, T])
def test_no_play_depends_on_losses_still_to_come(learner, t):
    """w_1, …, w_t stay when z_t, z_{t+1}, … are others; w_{t+1} does not."""
    other = Z.copy()
    other[:, t - 1 :] = 5.0 - 3.0 * Z[:, t - 1 :]
    before, after = learner.points(Z), learner.points(other)
    np.testing.assert_array_equal(before[:, :t], after[:, :t])
    assert not np.array_equal(before[:, t], after[:, t])


@every_learner
def test_every_start_is_fresh(learner):
    np.testing.assert_array_equal(loop(learner, Z[0]), loop(learner, Z[0]))


@every_learner
def test_every_play_lies_in_the_set(learner):
    learner_in = getattr(learner, "learner", learner)
    assert learner_in.over.contains(learner.points(10 * Z)).all()


@every_learner
def test_a_play_handed_out_cannot_be_used_to_change_the_player(learner):
    player = learner.player()
    player.update(Linear(Z[0, 0]))
    kept = player.predict()
    player.predict()[:] = 99.0
    np.testing.assert_array_equal(player.predict(), kept)
    player.update(Linear(Z[0, 1]))
    np.testing.assert_array_equal(kept, loop(learner, Z[0, :1])[1])


def test_players_of_examples_and_of_the_oracle_hand_out_copies_too():
    for learner in (
        Perceptron(2),
        Winnow(2, 1.0),
        NormalizedWinnow(2, 0.5),
        oracle.FTRL(Ball(2), SquaredNorm()),
    ):
        player = learner.player()
        kept = player.predict().copy()
        player.predict()[:] = 99.0
        np.testing.assert_array_equal(player.predict(), kept)


# ---------------------------------------------------------------- leaders


def test_ftl_is_the_argmin_of_the_past():
    rng = np.random.default_rng(0)
    for over in (Ball(3, 2.0, [1, 0, 0]), CUBE, Simplex(3), L1Ball(3)):
        player, past = FTL(over).player(), []
        for center, curvature in zip(rng.standard_normal((5, 3)) * 3, [1.0, 2.0, 0.5, 3.0, 1.0], strict=True):
            past.append(Quadratic(center, curvature))
            player.update(past[-1])
            np.testing.assert_allclose(player.predict(), oracle.best_point(past, over), atol=1e-6)


def test_ftl_takes_the_mean_of_the_centres_seen():
    trace = play(FTL(Space(1)), [Quadratic([c]) for c in (3.0, 5.0, 1.0)])
    np.testing.assert_allclose(trace.points[:, 0], [0.0, 3.0, 4.0])
    np.testing.assert_allclose(trace.last, [3.0])


def test_ftl_before_and_after_the_first_curved_loss():
    trace = play(FTL(Box([-1], [1])), [Linear([1.0]), Quadratic([1.0]), Linear([-1.0])])
    np.testing.assert_allclose(trace.points[:, 0], [0.0, -1.0, 0.0])
    np.testing.assert_allclose(trace.last, [1.0])


@pytest.mark.parametrize("eta", [0.5, inverse_sqrt(1.0)], ids=["number", "schedule"])
@pytest.mark.parametrize(
    "over", [Ball(2), Box([0.2, -1], [1, 1]), Simplex(2), Halfspace([1, 1], -0.5)], ids=repr
)
def test_ftrl_on_quadratics_is_the_argmin_that_cvxpy_finds(over, eta):
    rng = np.random.default_rng(1)
    losses = [
        Quadratic(c, a) for c, a in zip(rng.standard_normal((5, 2)) * 2, [1, 2, 0.5, 1, 1], strict=True)
    ]
    losses.insert(2, Linear([0.5, -1.0]))
    R = SquaredNorm([0.3, 0.1])
    ours, theirs = play(FTRL(over, R, eta), losses), play(oracle.FTRL(over, R, eta), losses)
    np.testing.assert_allclose(ours.points, theirs.points, atol=2e-6)
    np.testing.assert_allclose(ours.last, theirs.last, atol=2e-6)


@pytest.mark.parametrize(
    ("over", "R"),
    [(Ball(2), SquaredNorm()), (Simplex(2), NegativeEntropy()), (Orthant(2), UnnormalizedEntropy())],
)
def test_ftrl_on_linear_losses_is_the_argmin_that_cvxpy_finds(over, R):
    Z = random_directions(6, 2, 3)
    np.testing.assert_allclose(
        play(FTRL(over, R, 0.5), Z).points, play(oracle.FTRL(over, R, 0.5), Z).points, atol=2e-5
    )


def test_ftrl_on_the_losses_is_not_ftrl_on_the_surrogates():
    losses = [Quadratic([1.0])] * 5
    descent = play(OGD(Space(1), 1.0), losses)
    surrogates = play(Linearized(FTRL(Space(1), SquaredNorm(), 1.0)), losses)
    leader = play(FTRL(Space(1), SquaredNorm(), 1.0), losses)
    np.testing.assert_allclose(descent.points[:, 0], [0, 1, 1, 1, 1])
    np.testing.assert_array_equal(surrogates.points, descent.points)
    np.testing.assert_allclose(leader.points[:, 0], [0, 1 / 2, 2 / 3, 3 / 4, 4 / 5])


@given(Z=st.lists(vectors(4, 3.0), min_size=1, max_size=6), eta=st.sampled_from([0.1, 1.0]))
def test_hedge_multiplies_weights(Z, eta):
    weights = np.ones(4)
    for t, w in enumerate(Hedge(4, eta).points(np.array(Z))):
        np.testing.assert_allclose(w, weights / weights.sum(), rtol=1e-12)
        if t < len(Z):
            weights = weights * np.exp(-eta * Z[t])


def test_a_leader_refuses_losses_it_cannot_add_up():
    for learner in (FTL(Ball(2)), FTRL(Ball(2), SquaredNorm(), 1.0)):
        with pytest.raises(ValueError, match=r"Linear and Quadratic ones, got Example.*oracle\.FTRL"):
            play(learner, hinge([[1.0, 0.0]], [1]))


# ---------------------------------------------------------------- descent


def test_lazy_and_eager_descent_part_at_the_boundary():
    Z = np.array([[1.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0]])
    lazy = OGD(Box([-1], [1]), 1.0).points(Z)[:, 0]
    eager = OGD(Box([-1], [1]), 1.0, "eager").points(Z)[:, 0]
    np.testing.assert_array_equal(lazy, [0, -1, -1, -1, -1, -1, 0])
    np.testing.assert_array_equal(eager, [0, -1, -1, -1, 0, 1, 1])


def test_without_a_boundary_lazy_and_eager_descent_are_one():
    np.testing.assert_allclose(
        OGD(Space(3), 0.3).points(Z), OGD(Space(3), 0.3, "eager").points(Z), atol=1e-14
    )


def test_descent_starts_where_it_is_told_and_else_next_to_zero():
    far = Box([2, -1], [3, 1])
    for projection in ("lazy", "eager"):
        np.testing.assert_array_equal(OGD(far, 1.0, projection).player().predict(), [2, 0])
        np.testing.assert_array_equal(OGD(far, 1.0, projection, start=[3, 1]).player().predict(), [3, 1])
    np.testing.assert_allclose(OGD(far, 0.5, start=[3, 1]).points(np.array([[1.0, 1.0]]))[1], [2.5, 0.5])
    np.testing.assert_allclose(OGD(far, 0.5).points(np.array([[-5.0, 1.0]]))[1], [2.5, -0.5])


def test_the_step_of_round_t_is_the_schedule_at_t():
    def eta(t):
        return 1.0 / t

    Z = np.array([[1.0], [10.0], [100.0]])
    np.testing.assert_allclose(OGD(Space(1), eta).points(Z)[:, 0], [0, -1, -11 / 2, -111 / 3])
    np.testing.assert_allclose(OGD(Space(1), eta, "eager").points(Z)[:, 0], [0, -1, -6, -6 - 100 / 3])
    np.testing.assert_allclose(steps(inverse_sqrt(2.0), 4), [2, 2 / np.sqrt(2), 2 / np.sqrt(3), 1])
    assert step_at(inverse_sqrt(2.0), 4) == 1.0


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_an_array_of_steps_is_one_game_for_each(projection):
    eta = np.array([0.1, 0.5, 1.0, 2.0])
    runs = OGD(Ball(3), eta, projection).points(Z)
    shared = OGD(Ball(3), eta, projection).points(Z[0])
    assert shared.shape == (4, T + 1, 3)
    for i in range(4):
        one = OGD(Ball(3), eta[i], projection)
        np.testing.assert_allclose(runs[i], one.points(Z[i]), atol=1e-14)
        np.testing.assert_allclose(shared[i], one.points(Z[0]), atol=1e-14)
    grid = play(OGD(Ball(3), eta[:, None], projection), Z).regret(Ball(3))
    assert grid.shape == (4, 4)
    for i in range(4):
        np.testing.assert_allclose(
            grid[i], play(OGD(Ball(3), eta[i], projection), Z).regret(Ball(3)), atol=1e-12
        )


def test_a_schedule_may_return_an_array_of_steps():
    eta = np.array([0.1, 0.5, 1.0, 2.0])
    runs = FTRL(Ball(3), SquaredNorm(), lambda t: eta / t).points(Z)
    for i in range(4):
        np.testing.assert_allclose(
            runs[i], FTRL(Ball(3), SquaredNorm(), lambda t, i=i: eta[i] / t).points(Z[i]), atol=1e-14
        )


def test_a_schedule_is_asked_for_all_rounds_at_once():
    """Over 10^5 rounds it must not be asked 10^5 times."""
    asked = []

    def eta(t):
        asked.append(t)
        return 1.0 / t

    long = np.ones((100_000, 1))
    np.testing.assert_allclose(OGD(Space(1), eta).points(long)[1:], -1.0)
    assert len(asked) <= 10
    np.testing.assert_array_equal(steps(eta, 4), [1, 1 / 2, 1 / 3, 1 / 4])
    assert steps(np.array([1.0, 2.0]), 3).tolist() == [[1, 1, 1], [2, 2, 2]]


@pytest.mark.parametrize(
    "eta",
    [
        lambda t: 1.0 if t < 3 else 0.5,  # refuses an array
        lambda t: 1 / math.sqrt(t),  # refuses an array
        lambda t: 0.25,  # does not see that it was given many
        lambda t: 1 / max(np.min(t), 2),  # nor does this
        lambda t: 10.0 / 7**t,  # as whole numbers of 64 bits it overflows
        lambda t: {1: 0.5}.get(t, 2.0) if isinstance(t, int) else np.full(len(t), 2.0),  # lies
    ],
)
@pytest.mark.parametrize("T", [1, 2, 4, 30])
def test_a_schedule_made_for_one_round_is_asked_round_by_round(eta, T):
    np.testing.assert_allclose(steps(eta, T), [eta(t) for t in range(1, T + 1)], rtol=1e-12)


def test_as_many_runs_as_rounds_are_not_taken_for_rounds():
    """With four runs and four rounds the array η/t of all t has the right shape and the wrong meaning."""
    eta = np.array([0.1, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(steps(lambda t: eta / t, 4), eta[:, None] / np.arange(1, 5))


def test_the_first_bad_step_of_a_schedule_is_named():
    with pytest.raises(ValueError, match=r"eta\(4\) must be finite and > 0, .*got 0"):
        steps(lambda t: 4.0 - t, 9)


# ---------------------------------------------------------------- learners of examples


def real(name):
    from sklearn import datasets

    data = {"breast cancer": datasets.load_breast_cancer, "digits, odd or even": datasets.load_digits}[name]()
    y = data.target % 2
    return data.data, np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("name", ["breast cancer", "digits, odd or even"])
def test_the_perceptron_is_that_of_scikit_learn_weight_for_weight(name):
    from sklearn.linear_model import Perceptron as Reference

    X, y = real(name)
    theirs = Reference(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(X, y)
    ours = play(Perceptron(X.shape[1]), perceptron_loss(X, y))
    np.testing.assert_array_equal(ours.last, theirs.coef_[0])
    assert ours.updates.sum() > 20


@pytest.mark.parametrize("kink", [0.0, 0.5, 1.0])
def test_the_perceptron_is_descent_on_the_perceptron_loss(kink):
    X, y, _ = separable(80, 4, 0.05, 0)
    X[::7] = 0.0  # ties
    losses = perceptron_loss(X, y, kink=kink)
    perceptron = play(Perceptron(4, kink), perceptron_loss(X, y))
    for projection in ("lazy", "eager"):
        np.testing.assert_allclose(
            perceptron.points, play(OGD(Space(4), 1.0, projection), losses).points, atol=1e-13
        )
    weights = np.zeros(4)  # and it is the rule in the book
    for x, label, w in zip(X, y, perceptron.points, strict=True):
        np.testing.assert_allclose(w, weights, atol=1e-13)
        margin = label * (weights @ x)
        weights = weights + (margin < 0) * label * x + (margin == 0) * kink * label * x


def test_the_perceptron_with_kink_zero_never_leaves_zero():
    X, y, _ = separable(20, 3, 0.1, 1)
    assert not play(Perceptron(3, kink=0.0), perceptron_loss(X, y)).points.any()


@pytest.mark.parametrize("factor", [2.0, 1.5])
def test_winnow_is_ftrl_with_the_unnormalised_entropy(factor):
    X, y = disjunction(200, 12, 2, 0)
    losses = perceptron_loss(X, y, threshold=6.0)
    ours = play(Winnow(12, 6.0, factor), losses)
    leader = play(Linearized(FTRL(Orthant(12), UnnormalizedEntropy(), np.log(factor))), losses)
    np.testing.assert_allclose(ours.points, leader.points, rtol=1e-12)
    weights = np.ones(12)  # and it is the rule in the book
    for x, label, w in zip(X, y, ours.points, strict=True):
        np.testing.assert_allclose(w, weights, rtol=1e-12)
        if label * (weights @ x - 6.0) <= 0:
            weights = weights * factor ** (label * x)
    assert ours.updates.sum() > 3


def test_normalised_winnow_is_ftrl_with_the_entropy():
    X, y, _ = separable(100, 5, 0.05, 2)
    losses = perceptron_loss(X, y)
    ours = play(NormalizedWinnow(5, 0.3), losses)
    leader = play(Linearized(FTRL(Simplex(5), NegativeEntropy(), 0.3)), losses)
    np.testing.assert_allclose(ours.points, leader.points, rtol=1e-12)
    weights = np.full(5, 0.2)
    for x, label, w in zip(X, y, ours.points, strict=True):
        np.testing.assert_allclose(w, weights, rtol=1e-10)
        if label * (weights @ x) <= 0:
            weights = weights * np.exp(0.3 * label * x)
            weights = weights / weights.sum()


def test_normalised_winnow_recovers_from_weights_too_small_for_a_float():
    """exp(−2000) is 0; a rule that multiplies the stored weights would end at 0/0."""
    X = np.array([[-1000.0, 1000.0], [1.0, -3000.0], [1.0, 1.0]])
    trace = play(NormalizedWinnow(2, 1.0), perceptron_loss(X, [-1, 1, 1]))
    np.testing.assert_array_equal(trace.points[1], [1.0, 0.0])
    player = NormalizedWinnow(2, 1.0).player()
    player.step(np.array([-1000.0, 1000.0]))
    player.step(np.array([3000.0, -1000.0]))
    np.testing.assert_array_equal(player.predict(), [0.0, 1.0])


def test_players_of_examples_bring_their_own_kink():
    X, y = [[1.0, 0.0]], [1]
    for kink in (0.0, 0.5):
        assert play(Winnow(2, 1.0), perceptron_loss(X, y, 1.0, kink)).updates.all()
        assert play(Perceptron(2), perceptron_loss(X, y, kink=kink)).updates.all()
    assert not play(Perceptron(2, kink=0.0), perceptron_loss(X, y, kink=1.0)).updates.any()


@pytest.mark.parametrize("losses", [hinge([[1.0, 0.0]], [1]), perceptron_loss([[1.0, 0.0]], [1], 0.5)])
def test_players_of_examples_refuse_another_loss(losses):
    for learner in (Perceptron(2), Winnow(2, 1.0), NormalizedWinnow(2, 1.0)):
        with pytest.raises(ValueError, match=r"plays perceptron_loss\(X, y, threshold="):
            play(learner, losses)
    with pytest.raises(ValueError, match="plays perceptron_loss"):
        play(Perceptron(2), np.ones((3, 2)))
