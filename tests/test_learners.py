"""Learners: the loop and the closed form agree, nobody sees the future, and the classics are themselves."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from folded import for_each
from hypothesis import given
from hypothesis import strategies as st
from strategies import vectors

from ocolib import oracle
from ocolib.adversaries import disjunction, random_directions, separable
from ocolib.game import play
from ocolib.kernels import KernelPerceptron
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    DelayedOGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    OnlineSVM,
    Pegasos,
    Perceptron,
    Winnow,
    inverse,
    inverse_sqrt,
    step_at,
    steps,
)
from ocolib.losses import Example, Linear, Quadratic, hinge, perceptron_loss
from ocolib.phi import PerceptronLoss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space
from ocolib.testing import by_loop as game_loop
from ocolib.testing import check_learner

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
every_learner = for_each("learner", LEARNERS.values(), repr)
T = 9
GAMES = np.random.default_rng(7).integers(-2, 3, (4, T, 3)) + 0.25 * random_directions(T, 3, 8, runs=(4,))


def loop(learner, GAMES):
    """Predict, update, predict: the plays w_1, …, w_{T+1} of one game."""
    player, points = learner.player(), []
    for z in GAMES:
        points.append(player.predict())
        player.update(Linear(z))
    return np.array([*points, player.predict()])


# ---------------------------------------------------------------- what every learner owes


@every_learner
def test_the_closed_form_plays_as_the_loop_does(learner):
    together = learner.points(GAMES)
    assert together.shape == (4, T + 1, 3)
    for run in range(4):
        np.testing.assert_allclose(together[run], loop(learner, GAMES[run]), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(together[run], learner.points(GAMES[run]), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(together[0], game_loop(learner, GAMES[0]), rtol=1e-12, atol=1e-13)


@every_learner
@pytest.mark.parametrize("t", [1, 2, 5, T])
def test_no_play_depends_on_losses_still_to_come(learner, t):
    """w_1, …, w_t stay when z_t, z_{t+1}, … are others; w_{t+1} does not."""
    other = GAMES.copy()
    other[:, t - 1 :] = 5.0 - 3.0 * GAMES[:, t - 1 :]
    before, after = learner.points(GAMES), learner.points(other)
    np.testing.assert_array_equal(before[:, :t], after[:, :t])
    assert not np.array_equal(before[:, t], after[:, t])


@every_learner
def test_every_start_is_fresh(learner):
    np.testing.assert_array_equal(loop(learner, GAMES[0]), loop(learner, GAMES[0]))


@every_learner
def test_every_play_lies_in_the_set(learner):
    learner_in = getattr(learner, "learner", learner)
    assert learner_in.over.contains(learner.points(10 * GAMES)).all()


@every_learner
def test_a_play_handed_out_cannot_be_used_to_change_the_player(learner):
    player = learner.player()
    player.update(Linear(GAMES[0, 0]))
    kept = player.predict()
    player.predict()[:] = 99.0
    np.testing.assert_array_equal(player.predict(), kept)
    player.update(Linear(GAMES[0, 1]))
    np.testing.assert_array_equal(kept, loop(learner, GAMES[0, :1])[1])


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
    GAMES = random_directions(6, 2, 3)
    np.testing.assert_allclose(
        play(FTRL(over, R, 0.5), GAMES).points, play(oracle.FTRL(over, R, 0.5), GAMES).points, atol=2e-5
    )


def test_ftrl_on_the_losses_is_not_ftrl_on_the_surrogates():
    losses = [Quadratic([1.0])] * 5
    descent = play(OGD(Space(1), 1.0), losses)
    surrogates = play(Linearized(FTRL(Space(1), SquaredNorm(), 1.0)), losses)
    leader = play(FTRL(Space(1), SquaredNorm(), 1.0), losses)
    np.testing.assert_allclose(descent.points[:, 0], [0, 1, 1, 1, 1])
    np.testing.assert_array_equal(surrogates.points, descent.points)
    np.testing.assert_allclose(leader.points[:, 0], [0, 1 / 2, 2 / 3, 3 / 4, 4 / 5])


@given(GAMES=st.lists(vectors(4, 3.0), min_size=1, max_size=6), eta=st.sampled_from([0.1, 1.0]))
def test_hedge_multiplies_weights(GAMES, eta):
    weights = np.ones(4)
    for t, w in enumerate(Hedge(4, eta).points(np.array(GAMES))):
        np.testing.assert_allclose(w, weights / weights.sum(), rtol=1e-12)
        if t < len(GAMES):
            weights = weights * np.exp(-eta * GAMES[t])


def test_a_leader_refuses_losses_it_cannot_add_up():
    for learner in (FTL(Ball(2)), FTRL(Ball(2), SquaredNorm(), 1.0)):
        with pytest.raises(ValueError, match=r"Linear or Quadratic losses, got Example.*oracle\.FTRL"):
            play(learner, hinge([[1.0, 0.0]], [1]))


# ---------------------------------------------------------------- descent


def test_lazy_and_eager_descent_part_at_the_boundary():
    GAMES = np.array([[1.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0]])
    lazy = OGD(Box([-1], [1]), 1.0).points(GAMES)[:, 0]
    eager = OGD(Box([-1], [1]), 1.0, "eager").points(GAMES)[:, 0]
    np.testing.assert_array_equal(lazy, [0, -1, -1, -1, -1, -1, 0])
    np.testing.assert_array_equal(eager, [0, -1, -1, -1, 0, 1, 1])


def test_without_a_boundary_lazy_and_eager_descent_are_one():
    np.testing.assert_allclose(
        OGD(Space(3), 0.3).points(GAMES), OGD(Space(3), 0.3, "eager").points(GAMES), atol=1e-14
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

    GAMES = np.array([[1.0], [10.0], [100.0]])
    np.testing.assert_allclose(OGD(Space(1), eta).points(GAMES)[:, 0], [0, -1, -11 / 2, -111 / 3])
    np.testing.assert_allclose(OGD(Space(1), eta, "eager").points(GAMES)[:, 0], [0, -1, -6, -6 - 100 / 3])
    np.testing.assert_allclose(steps(inverse_sqrt(2.0), 4), [2, 2 / np.sqrt(2), 2 / np.sqrt(3), 1])
    assert step_at(inverse_sqrt(2.0), 4) == 1.0


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_an_array_of_steps_is_one_game_for_each(projection):
    eta = np.array([0.1, 0.5, 1.0, 2.0])
    runs = OGD(Ball(3), eta, projection).points(GAMES)
    shared = OGD(Ball(3), eta, projection).points(GAMES[0])
    assert shared.shape == (4, T + 1, 3)
    for i in range(4):
        one = OGD(Ball(3), eta[i], projection)
        np.testing.assert_allclose(runs[i], one.points(GAMES[i]), atol=1e-14)
        np.testing.assert_allclose(shared[i], one.points(GAMES[0]), atol=1e-14)
    grid = play(OGD(Ball(3), eta[:, None], projection), GAMES).regret(Ball(3))
    assert grid.shape == (4, 4)
    for i in range(4):
        np.testing.assert_allclose(
            grid[i], play(OGD(Ball(3), eta[i], projection), GAMES).regret(Ball(3)), atol=1e-12
        )


def test_a_schedule_may_return_an_array_of_steps():
    eta = np.array([0.1, 0.5, 1.0, 2.0])
    runs = FTRL(Ball(3), SquaredNorm(), lambda t: eta / t).points(GAMES)
    for i in range(4):
        np.testing.assert_allclose(
            runs[i], FTRL(Ball(3), SquaredNorm(), lambda t, i=i: eta[i] / t).points(GAMES[i]), atol=1e-14
        )


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
    with pytest.raises(ValueError, match=r"eta\(4\) must be positive .*got 0"):
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


# ---------------------------------------------------------------- by hand


Z = np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.5], [2.0, 1.0]])
DISK = Ball(2, 0.8)


def clip(y, radius=0.8):
    return y * min(1.0, radius / max(np.sqrt(y[0] ** 2 + y[1] ** 2), 1e-300))


def plays(trace):
    return np.vstack([trace.points, trace.last])


SCHEDULES = [
    (0.3, lambda t: 0.3),
    (inverse_sqrt(0.7), lambda t: 0.7 / t**0.5),
    (inverse(0.7), lambda t: 0.7 / t),
]


@pytest.mark.parametrize(("eta", "at"), SCHEDULES, ids=["number", "1/√t", "1/t"])
@pytest.mark.parametrize("start", [None, (0.1, -0.4)], ids=["0", "start"])
def test_descent_by_hand(eta, at, start):
    first = np.zeros(2) if start is None else np.array(start)
    eager, lazy = [first], [first]
    for t in range(1, 5):
        eager.append(clip(eager[-1] - at(t) * Z[t - 1]))
        lazy.append(clip(first - at(t) * Z[:t].sum(axis=0)))
    for projection, expected in (("eager", eager), ("lazy", lazy)):
        learner = OGD(DISK, eta, projection, start)
        assert plays(play(learner, Z)) == pytest.approx(np.array(expected))
        assert game_loop(learner, Z) == pytest.approx(np.array(expected))
    assert OGD(DISK, eta) == OGD(DISK, eta, "lazy", None)


@pytest.mark.parametrize("delay", [0, 1, 2, [2, 0, 3, 0]], ids=str)
def test_late_descent_by_hand(delay):
    delays, w, heard, expected = np.broadcast_to(delay, 4), np.zeros(2), 0, [np.zeros(2)]
    for t in range(4):
        for s in range(t + 1):
            if s + delays[s] == t:
                heard += 1
                w = clip(w - 0.7 / heard * Z[s])
        expected.append(w)
    assert plays(play(DelayedOGD(DISK, inverse(0.7), delay), Z)) == pytest.approx(np.array(expected))
    learner = DelayedOGD(DISK, 0.1, delay)
    assert [learner.arrival(s) for s in (1, 2, 3, 4)] == [s + delays[s - 1] for s in (1, 2, 3, 4)]


def test_what_late_descent_refuses():
    assert DelayedOGD(DISK, 0.1).delay == 0
    with pytest.raises(ValueError, match="delay must be an integer ≥ 0"):
        DelayedOGD(DISK, 0.1, -1)
    with pytest.raises(ValueError, match="got 2 for round 3"):
        DelayedOGD(DISK, 0.1, [0, 1]).arrival(3)
    for delay in (1, [0, 1]):
        with pytest.raises(ValueError, match="s must be an integer ≥ 1, got 0"):
            DelayedOGD(DISK, 0.1, delay).arrival(0)
    player = DelayedOGD(DISK, inverse(0.5), 1).player()
    player.receive([(2, np.array([0.2, 0.0])), (1, np.array([0.0, 0.4]))])
    assert player.predict() == pytest.approx([-0.1, -0.1])
    with pytest.raises(ValueError, match="a second gradient of round 2"):
        player.receive([(2, np.zeros(2))])
    with pytest.raises(ValueError, match="round must be an integer ≥ 1"):
        player.receive([(0, np.zeros(2))])


def test_leaders_by_hand():
    line = Box([-1.0], [2.0])
    linear = np.array([[1.0], [-3.0], [2.0]])
    assert plays(play(FTL(line), linear))[:, 0].tolist() == [0.0, -1.0, 2.0, 0.0]
    bowls = [Quadratic([1.0], 2.0), Linear([3.0]), Quadratic([-4.0], 1.0)]
    # the sums are (w − 1)², then + 3w, then + ½(w + 4)²: leaders 1, −½, −1 (cut from −5/3)
    assert plays(play(FTL(line), bowls))[:, 0] == pytest.approx([0.0, 1.0, -0.5, -1.0])
    # with w²/(2·½) added: 2(w − 1) + 2w = 0, then + 3, then + w + 4
    found = plays(play(FTRL(line, SquaredNorm(), 0.5), bowls))[:, 0]
    assert found == pytest.approx([0.0, 0.5, -0.25, -1.0])
    losses = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    weights = np.exp(-0.4 * np.array([[0, 0, 0], [1, 0, 0.5], [1, 1, 1]]))
    expected = weights / weights.sum(axis=1, keepdims=True)
    assert plays(play(Hedge(3, 0.4), losses)) == pytest.approx(expected)
    assert game_loop(Hedge(3, 0.4), losses) == pytest.approx(expected)


def test_a_leader_uses_the_step_of_the_last_round():
    linear = np.array([[1.0], [1.0], [1.0]])
    learner = FTRL(Space(1), SquaredNorm([2.0]), inverse(0.6))
    assert plays(play(learner, linear))[:, 0] == pytest.approx([2.0, 1.4, 1.4, 1.4])
    assert game_loop(learner, linear)[:, 0] == pytest.approx([2.0, 1.4, 1.4, 1.4])
    assert plays(play(Linearized(learner), linear))[:, 0] == pytest.approx([2.0, 1.4, 1.4, 1.4])
    bowls = plays(play(Linearized(learner), [Quadratic([0.0], 1.0)] * 2))[:, 0]
    assert bowls == pytest.approx([2.0, 2.0 - 0.6 * 2.0, 2.0 - 0.3 * (2.0 + 0.8)])


X = np.array([[1.0, 0.5], [-0.5, 1.0], [1.5, 0.25], [0.25, -1.0], [-1.0, -2.0], [0.5, 0.5], [0.0, 0.0]])
Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0])


@pytest.mark.parametrize("kink", [0.0, 0.5, 1.0])
def test_the_perceptron_by_hand(kink):
    data, w, expected, wrong, updated = perceptron_loss(X, Y), np.zeros(2), [], [], []
    for x, y in zip(X, Y, strict=True):
        expected.append(w)
        margin = y * (w[0] * x[0] + w[1] * x[1])
        step = 1.0 if margin < 0 else kink if margin == 0 else 0.0
        wrong.append((1.0 if margin * y >= 0 else -1.0) != y)
        updated.append(bool(step) and bool(x.any()))
        w = w + step * y * x
    trace = play(Perceptron(2, kink), data)
    assert trace.points == pytest.approx(np.array(expected)) and trace.last == pytest.approx(w)
    assert trace.updates.tolist() == updated and trace.mistakes.tolist() == wrong
    assert trace.margins == pytest.approx(Y * (X * trace.points).sum(axis=1))
    assert Perceptron(2) == Perceptron(2, 1.0)
    if kink == 1.0:
        kernel = play(KernelPerceptron(lambda A, B: A @ B.T), data)
        assert kernel.scores == pytest.approx((X * trace.points).sum(axis=1))
        assert kernel.coefficients.tolist() == [y * u for y, u in zip(Y, [*updated[:-1], True], strict=True)]
        assert kernel.score(X) == pytest.approx(X @ w) and kernel.margins == pytest.approx(Y * kernel.scores)
        assert kernel.mistakes.tolist() == wrong and kernel.updates.tolist() == [*updated[:-1], True]


def test_a_kernel_learner_without_an_update_scores_0():
    trace = play(KernelPerceptron(lambda A, B: A @ B.T), perceptron_loss([[1.0]], [1.0]))
    assert trace.score([[2.0], [3.0]]).tolist() == [2.0, 3.0]
    quiet = type(trace)(trace.learner, trace.losses, np.ones(1), np.zeros(1))
    assert quiet.score([[2.0], [3.0]]).tolist() == [0.0, 0.0] and not quiet.updates.any()
    with pytest.raises(ValueError, match="kernel must be a function"):
        KernelPerceptron("linear")


@pytest.mark.parametrize("factor", [2.0, 3.0])
def test_winnow_by_hand(factor):
    on = np.array([[1, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    labels, theta, w, expected = np.array([1.0, -1, 1, 1, 1, -1]), 1.5, np.ones(3), []
    for x, y in zip(on, labels, strict=True):
        expected.append(w)
        if y * (x @ w - theta) <= 0:
            w = w * [factor ** (y * xi) for xi in x]
    trace = play(Winnow(3, theta, factor), perceptron_loss(on, labels, theta))
    assert trace.points == pytest.approx(np.array(expected)) and trace.last == pytest.approx(w)
    assert Winnow(3, theta) == Winnow(3, theta, 2.0)
    for bad in (1.0, 0.5):
        with pytest.raises(ValueError, match="factor must"):
            Winnow(3, theta, bad)


def test_normalised_winnow_by_hand():
    w, expected = np.full(2, 0.5), []
    for x, y in zip(X, Y, strict=True):
        expected.append(w)
        if y * (x @ w) <= 0:
            w = w * np.exp(0.4 * y * x)
            w = w / w.sum()
    trace = play(NormalizedWinnow(2, 0.4), perceptron_loss(X, Y))
    assert trace.points == pytest.approx(np.array(expected)) and trace.last == pytest.approx(w)


@pytest.mark.parametrize("project", [False, True])
def test_pegasos_by_hand(project):
    reg, w, expected = 0.5, np.zeros(2), []
    for t, (x, y) in enumerate(zip(X, Y, strict=True), start=1):
        expected.append(w)
        z = reg * w - (y * x if y * (x @ w) < 1 else 0.0)
        w = w - z / (reg * t)
        w = clip(w, reg**-0.5) if project else w
    trace = play(Pegasos(2, reg, project), hinge(X, Y).regularized(reg))
    assert trace.points == pytest.approx(np.array(expected)) and trace.last == pytest.approx(w)
    assert trace.paid == pytest.approx(
        [max(0.0, 1 - y * (x @ p)) + 0.25 * (p @ p) for x, y, p in zip(X, Y, expected, strict=True)]
    )
    assert Pegasos(2, reg) == Pegasos(2, reg, False) and OnlineSVM(2, 3.0, 0.1) == OGD(
        Ball(2, 3.0), 0.1, "eager"
    )


# ---------------------------------------------------------------- steps


def test_steps_by_hand():
    assert steps(0.5, 3).tolist() == [0.5] * 3 and steps(inverse(2.0), 3) == pytest.approx([2.0, 1.0, 2 / 3])
    assert steps(np.array([0.5, 2.0]), 2).tolist() == [[0.5, 0.5], [2.0, 2.0]]
    assert steps(lambda t: 1.0 if t < 3 else 0.25, 4).tolist() == [1.0, 1.0, 0.25, 0.25], "one t at a time"
    assert steps(lambda t: np.array([1.0, 2.0]) / t, 2).tolist() == [[1.0, 0.5], [2.0, 1.0]]
    asked = []
    steps(lambda t: asked.append(t) or 1.0 / t, 50)
    assert asked == list(range(1, 51)), "a schedule of yours is asked round by round"
    assert steps(inverse(2.0), 3, before=2) == pytest.approx([2 / 3, 0.5, 0.4]) and len(steps(0.5, 1)) == 1
    assert step_at(inverse(2.0), 4) == 0.5
    with pytest.raises(ValueError, match=r"eta\(3\) must be positive"):
        steps(lambda t: 3.0 - float(t), 4)


# ---------------------------------------------------------------- the game


def test_a_trace_by_hand():
    bowls = [Quadratic([1.0], 2.0), Linear([3.0]), Quadratic([-4.0], 1.0)]
    trace = play(OGD(Box([-1.0], [2.0]), 0.1), bowls)
    w = [0.0, 0.2, -0.1]  # z = −2, then 3, then 3.9
    assert trace.points[:, 0] == pytest.approx(w) and trace.subgradients[:, 0] == pytest.approx(
        [-2.0, 3.0, 3.9]
    )
    paid = [1.0, 0.6, 3.9**2 / 2]
    assert trace.paid == pytest.approx(paid) and trace.rounds == 3 and trace.dim == 1
    # the best after each round on [−1, 2]: 1; −½ of (w − 1)² + 3w; −1 of all
    best = [0.0, 2.25 - 1.5, 4.0 - 3.0 + 4.5]
    assert trace.regret_curve(Box([-1.0], [2.0])) == pytest.approx(np.cumsum(paid) - best)
    assert trace.regret(Box([-1.0], [2.0])) == pytest.approx(sum(paid) - best[2])
    assert trace.best(Box([-1.0], [2.0])) == pytest.approx([-1.0])
    at_half = [0.25, 1.5, 4.5**2 / 2]
    assert trace.regret(against=[0.5]) == pytest.approx(sum(paid) - sum(at_half))
    assert trace.regret_curve(against=[0.5]) == pytest.approx(np.cumsum(np.subtract(paid, at_half)))
    path = [[1.0], [-1.0], [0.0]]
    assert trace.dynamic_regret(path) == pytest.approx(sum(paid) - (0.0 - 3.0 + 8.0))


def test_flat_bowls_have_a_lowest_point_too():
    over = Box([-1.0], [2.0])
    trace = play(FTL(over), [Quadratic([1.0], 0.25), Quadratic([4.0], 0.25)])
    assert trace.best(over) == pytest.approx([2.0]) and trace.best(Box([-9.0], [9.0])) == pytest.approx([2.5])


def test_many_games_round_by_round():
    games = np.stack([Z, -Z, 2 * Z])
    for learner in (OGD(DISK, 0.1, "eager"), FTL(DISK)):
        assert game_loop(learner, games) == pytest.approx(learner.points(games))
        assert play(learner, games, rounds=3).points == pytest.approx(learner.points(games)[:, :3])


def test_a_schedule_is_tried_before_it_is_kept():
    for learner in (lambda eta: OGD(DISK, eta), lambda eta: FTRL(DISK, SquaredNorm(), eta)):
        with pytest.raises(ValueError, match=r"eta\(1\) must be positive"):
            learner(lambda t: t - 1.0)


def test_a_linear_sum_before_the_first_bowl():
    trace = play(FTL(Box([-1.0], [2.0])), [Linear([3.0]), Quadratic([1.0], 2.0)])
    curve = trace.regret_curve(Box([-1.0], [2.0]))
    assert curve == pytest.approx([0.0 + 3.0, 0.0 + 4.0 - (2.25 - 1.5)])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: play(FTL(DISK), Z, rounds=5), "rounds must be ≤ 4, the number of losses, got 5"),
        (lambda: play(FTL(DISK), Z, rounds=0), "rounds must be an integer ≥ 1"),
        (lambda: play(FTL(DISK), Z[0]), r"losses must have shape \(..., T, n\)"),
        (lambda: play(FTL(DISK), []), "losses must not be empty"),
        (lambda: play(FTL(DISK), lambda t, w, past: w), "rounds must be given"),
        (lambda: play(OGD(Space(3), 0.1), hinge(X, Y)), "loss has dimension 2, .*dimension 3"),
        (lambda: play(OGD(Space(3), 0.1), [Linear([1.0, 2.0])]), "loss has dimension 2, .*dimension 3"),
        (lambda: play(FTL(DISK), Z).regret(DISK, [0, 0]), "not both"),
        (lambda: play(FTL(DISK), Z).regret(Ball(3)), "over must have dimension 2"),
        (lambda: play(FTL(DISK), Z).dynamic_regret(Z[:3]), r"comparators must have shape \(4, 2\)"),
        (lambda: play(FTL(DISK), Z).dynamic_regret(np.stack([Z] * 2)), "comparators must have shape"),
        (lambda: play(FTL(DISK), Z).mistakes, "belong to losses over data"),
        (lambda: play(Perceptron(2), hinge(X, Y)), "plays perceptron_loss"),
        (lambda: play(Perceptron(2), perceptron_loss(X, Y, 0.5)), "threshold=0"),
        (lambda: OGD(DISK, 0.1, start=[2.0, 0.0]), "start must lie in"),
        (lambda: OGD(DISK, 0.1, "busy"), "projection must be"),
        (lambda: FTL(DISK).points(Z[0]), r"Z must have shape \(..., T, n\)"),
        (lambda: play(FTL(DISK), hinge(X, Y)), r"got Example; use Linearized\(FTL\(...\)\)"),
    ],
)
def test_what_a_game_refuses(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_part_of_the_losses_may_be_played():
    assert play(FTL(DISK), Z, rounds=2).rounds == 2 and play(FTL(DISK), Z, rounds=4).rounds == 4
    data = perceptron_loss(X, Y)
    assert play(Perceptron(2), data, rounds=3).rounds == 3
    assert play(OGD(DISK, 0.1), [Linear(z) for z in Z], rounds=3).rounds == 3
    assert play(FTL(DISK), np.stack([Z, -Z]), rounds=3).points.shape == (2, 3, 2)


def test_an_adversary_sees_the_past_and_cannot_change_it():
    seen = []

    def adversary(t, w, past):
        seen.append((t, w.copy(), past.copy()))
        w[:], past[:] = 99.0, 99.0
        return Z[t - 1]

    trace = play(OGD(DISK, 0.1), adversary, rounds=4)
    assert [t for t, _, _ in seen] == [1, 2, 3, 4]
    for t, w, past in seen:
        assert past.tolist() == Z[: t - 1].tolist() and w.tolist() == trace.points[t - 1].tolist()
    assert isinstance(trace.losses, np.ndarray) and plays(trace) == pytest.approx(
        plays(play(OGD(DISK, 0.1), Z))
    )


def test_examples_from_an_adversary_are_data_again_unless_they_are_mixed():
    def teacher(loss):
        return lambda t, w, past: loss(t)

    data = perceptron_loss(X, Y)
    trace = play(OGD(Space(2), 1.0), teacher(lambda t: data[t - 1]), rounds=6)
    assert trace.losses.X.tolist() == X[:6].tolist() and trace.losses.y.tolist() == Y[:6].tolist()
    reg = hinge(X, Y).regularized(0.5)
    trace = play(OGD(Space(2), 0.1), teacher(lambda t: reg[t - 1]), rounds=2)
    assert trace.losses.reg == 0.5
    for other in (
        Example(X[1], Y[1], reg.phi, 0.25),
        hinge(X, Y, 1.0).regularized(0.5)[1],
        Linear([1.0, 0.0]),
    ):
        pair = [reg[0], other]
        mixed = play(OGD(Space(2), 0.1), teacher(lambda t, pair=pair: pair[t - 1]), rounds=2)
        assert isinstance(mixed.losses, list)


def test_a_play_that_is_not_finite_is_named_with_its_round():
    class Broken:
        over = Simplex(2)

        def points(self, Z):
            w = np.zeros((*Z.shape[:-2], Z.shape[-2] + 1, Z.shape[-1]))
            w[..., 2, 1] = np.nan
            return w

    with pytest.raises(ValueError, match=r"round 3: the play must be finite.*nan"):
        play(Broken(), Z)
    with pytest.raises(ValueError, match=r"round 3: the play must be finite.*nan"):
        play(Broken(), np.stack([Z, Z]))


# ---------------------------------------------------------------- plain loops over data

LOUD = [
    lambda data: play(OGD(Space(1), 1e60, "eager"), data),
    lambda data: play(OGD(Space(1), inverse_sqrt(1e60), "eager"), data),
]


@pytest.mark.parametrize("loud", LOUD, ids=["number", "schedule"])
def test_a_play_beyond_1e150_is_refused(loud):
    with pytest.raises(ValueError, match="at most 1e\\+150"):
        loud(hinge([[1e100], [1e-100]], [1.0, 1.0]))
    quiet = loud(hinge([[1e20]], [1.0]))
    assert quiet.last == pytest.approx([1e80]) and quiet.points.tolist() == [[0.0]]


def test_a_row_beyond_1e150_is_refused():
    for start in (None, [3.0]):
        with pytest.raises(ValueError, match="at most 1e\\+150"):
            OGD(Space(1), 1e60, "eager", start).points(np.array([[1e100], [1.0]]))


@pytest.mark.parametrize("projection", ["eager", "lazy"])
@pytest.mark.parametrize("reg", [0.0, 0.5])
def test_a_round_without_a_loss_counts(projection, reg):
    """Its step is one of the schedule, and its gradient is that of the regulariser alone."""
    data = hinge(2 * X, Y)
    data = data.regularized(reg) if reg else data
    w, total, expected, gradients = np.zeros(2), np.zeros(2), [], []
    for t, (x, y) in enumerate(zip(2 * X, Y, strict=True), start=1):
        expected.append(w)
        z = reg * w - (y * x if y * (x @ w) < 1 else 0.0)
        gradients.append(z)
        total = total + z
        w = clip((w - 0.9 / t * z) if projection == "eager" else -0.9 / t * total, 3.0)
    trace = play(OGD(Ball(2, 3.0), inverse(0.9), projection), data)
    assert trace.points == pytest.approx(np.array(expected)) and trace.last == pytest.approx(w)
    assert trace.subgradients == pytest.approx(np.array(gradients))
    assert any(not z.any() for z in gradients[:-1]) or reg


def test_leaders_with_an_entropy_on_the_orthant():
    learner = FTRL(Orthant(2), UnnormalizedEntropy(), 0.5)
    sums = np.vstack([np.zeros(2), np.cumsum(Z, axis=0)])
    assert learner.points(Z) == pytest.approx(np.exp(-0.5 * sums)) == game_loop(learner, Z)


@pytest.mark.parametrize("shape", [(1003, 20), (2, 517, 16), (4100, 17), (300, 20)])
@for_each("drift", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("eta", [0.04, inverse_sqrt(0.04)])
def test_hedge_in_a_long_game_is_softmax_of_the_sums(shape, drift, eta):
    """Also where sums are levelled in groups, and go far up or down together."""
    rng = np.random.default_rng(7)
    Z = rng.uniform(-1.0, 1.0, shape) + drift
    Z[..., 0] -= 0.7  # one expert runs away from the others
    w, T = Hedge(shape[-1], eta).points(Z), shape[-2]
    C = np.cumsum(Z.astype(np.longdouble), axis=-2)
    steps_ = np.array([eta(t) if callable(eta) else eta for t in range(1, T + 1)])[:, None]
    powers = np.exp(-steps_ * (C - C.min(axis=-1, keepdims=True)))
    expected = powers / powers.sum(axis=-1, keepdims=True)
    assert w.shape == (*shape[:-2], T + 1, shape[-1]) and (w[..., 0, :] == 1 / shape[-1]).all()
    np.testing.assert_allclose(w[..., 1:, :], expected.astype(float), rtol=1e-11)


@pytest.mark.parametrize(
    ("shape", "eta", "slope"),
    [
        ((300, 20), 1000.0, 100.0),  # a step that is large in itself
        ((2000, 20), inverse(400.0), 1.0),  # or at the beginning
        ((2000, 20), lambda t: np.where(np.asarray(t) <= 99, 1e5, 0.1), 1.0),  # or for a while
        ((5000, 2), 0.1, 1.0),  # few experts, whose sums go down for long
        ((2, 5000, 2), 0.1, 1.0),
    ],
)
def test_hedge_overflows_nowhere(shape, eta, slope):
    Z = -slope - np.random.default_rng(1).random(shape)
    w = Hedge(shape[-1], eta).points(Z)
    assert np.isfinite(w).all() and w.sum(axis=-1) == pytest.approx(1.0)
    best = np.cumsum(Z, axis=-2).argmin(axis=-1)
    assert (
        np.take_along_axis(w[..., 1:, :], best[..., None], -1)[..., 0] >= w[..., 1:, :].max(axis=-1)
    ).all()


def test_sums_are_levelled_for_an_entropy_alone():
    Z = np.random.default_rng(3).standard_normal((400, 16)) + 1.0
    C = np.cumsum(Z, axis=0)
    expected = -C / np.linalg.norm(C, axis=1, keepdims=True)
    assert FTL(Ball(16)).points(Z)[1:] == pytest.approx(expected)


@pytest.mark.parametrize("eta", [1e100, np.array([1e-3, 1e100])])
def test_a_lazy_step_beyond_the_floats_is_refused(eta):
    with pytest.raises(ValueError, match="y must be finite"):
        OGD(DISK, eta).points(np.full((10, 2), 1e100))


def test_an_expansion_learns_of_one_loss():
    player = KernelPerceptron(lambda A, B: A @ B.T).player()
    for y, margin in ((-1.0, 0.0), (-1.0, -5.0), (1.0, -5.0)):
        assert player.margin(np.array([1.0, 2.0])) == margin
        player.update(Example([1.0, 2.0], y, PerceptronLoss()))
    assert player.coefficients.tolist() == [-1.0, 1.0]
    player.update(Example([2.0, -1.0], 1.0, PerceptronLoss(kink=0.5)))  # a tie: its own kink counts
    assert player.coefficients.tolist() == [-1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="KernelPerceptron plays perceptron_loss"):
        player.update(hinge([[1.0, 2.0]], [1.0])[0])


# ---------------------------------------------------------------- traces


def test_a_trace_is_frozen_and_itself():
    trace = play(OGD(DISK, 0.1), Z)
    kernel = play(KernelPerceptron(lambda A, B: A @ B.T), perceptron_loss(X, Y))
    for left, again in ((trace, play(OGD(DISK, 0.1), Z)), (kernel, kernel.__class__(**vars(kernel)))):
        assert left == left and left != again and len({left, again}) == 2
        with pytest.raises(FrozenInstanceError):
            left.losses = None


# ---------------------------------------------------------------- one formula a learner, in a few lines each


def simplest(learner, Z):
    """The plays by the formula on the board, for one game."""
    w, plays = learner.first, [learner.first]
    for t, z in enumerate(Z, 1):
        eta = learner.eta(t) if callable(learner.eta) else learner.eta
        w = learner.over.project((learner.origin - eta * Z[:t].sum(axis=0)) if learner.lazy else w - eta * z)
        plays.append(w)
    return np.array(plays)


@for_each("start", [None, [0.2, 0.3, 0.5]])
@for_each("projection", ["lazy", "eager"])
@for_each("eta", [0.4, inverse(1.5), lambda t: 0.3 / t**0.25])
@pytest.mark.parametrize("over", [Simplex(3), Box([-1] * 3, [1, 2, 3])], ids=["simplex", "box"])
def test_descent_is_its_formula(over, eta, projection, start):
    learner = OGD(over, eta, projection, start)
    for game in GAMES:
        assert learner.points(game) == pytest.approx(simplest(learner, game), abs=1e-12)


@every_learner
def test_every_learner_passes_check_learner(learner):
    check_learner(learner)


@pytest.mark.parametrize(
    "learner", [Perceptron(3, 0.5), Winnow(4, 2.0), NormalizedWinnow(3, 0.4), DelayedOGD(Ball(2), 0.4, 3)]
)
def test_learners_without_a_closed_form_pass_check_learner(learner):
    check_learner(learner)


@every_learner
def test_a_longer_game_begins_with_the_shorter_one_to_the_last_bit(learner):
    """Also where many rounds, or large losses, come later."""
    Z = np.random.default_rng(5).standard_normal((600, 3))
    Z[400:] *= 1e6 if not isinstance(getattr(learner, "regularizer", None), UnnormalizedEntropy) else 1.0
    whole = learner.points(Z)
    for T in (1, 7, 300, 400):
        assert np.array_equal(learner.points(Z[:T]), whole[: T + 1])
        assert np.array_equal(play(learner, Z[:T]).last, whole[T])


@every_learner
def test_the_closed_form_is_the_loop_to_the_last_bit(learner):
    assert np.array_equal(learner.points(GAMES[0]), game_loop(learner, GAMES[0]))


@pytest.mark.parametrize("eta", [1e-3, 0.7, 200.0, 1e5])
def test_hedge_by_its_formula_at_every_step(eta):
    """w_i ∝ exp(−eta·Z_i), from differences to the least: also where exp(−eta·Z) is no float."""
    sums = np.vstack([np.zeros(3), np.cumsum(GAMES[1], axis=0)])
    expected = [1 / np.exp(np.minimum(-eta * (row[None, :] - row[:, None]), 700)).sum(axis=1) for row in sums]
    assert Hedge(3, eta).points(GAMES[1]) == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        FTRL(Ball(3), SquaredNorm(), 0.4),
        FTRL(L1Ball(3), SquaredNorm([1, 0, 0]), inverse_sqrt(1.0)),
        Hedge(3, 0.7),
    ],
)
def test_leaders_are_what_cvxpy_says(learner):
    theirs = play(oracle.FTRL(learner.over, learner.regularizer, learner.eta), [Linear(z) for z in GAMES[2]])
    assert learner.points(GAMES[2])[:-1] == pytest.approx(theirs.points, abs=1e-4)


def test_ftl_and_ftrl_on_quadratics_are_what_cvxpy_says():
    bowls = [Quadratic([2.0, 1.0], 0.5), Linear([1.0, -1.0]), Quadratic([-1.0, 0.5], 3.0)]
    for learner in (FTL(Ball(2)), FTRL(Ball(2), SquaredNorm([0.5, 0.0]), 0.4)):
        theirs = oracle.FTRL(
            learner.over, getattr(learner, "regularizer", None), getattr(learner, "eta", 1.0)
        )
        assert play(learner, bowls).plays[1:] == pytest.approx(play(theirs, bowls).plays[1:], abs=1e-5)


def test_batches_of_steps_and_games_are_each_one_by_one():
    eta = np.array([0.1, 0.5, 1.0, 2.0])
    for make in (
        lambda e: FTRL(Ball(3), SquaredNorm(), e),
        lambda e: OGD(CUBE, e, "eager"),
        lambda e: Hedge(3, e),
    ):
        many = make(eta).points(GAMES)
        for i in range(4):
            assert many[i] == pytest.approx(make(float(eta[i])).points(GAMES[i]), rel=1e-13, abs=1e-14)


class Plain:
    """½‖w‖² as a regulariser of your own, with nothing but the method that FTRL calls."""

    def minimize(self, c, eta, over, curvature=0.0):
        return over.project(-np.asarray(eta)[..., None] * c)


def test_a_regulariser_of_your_own_needs_one_method():
    plays = FTRL(Space(2), Plain(), 0.5).points(np.array([[1.0, 0.0], [0.0, -4.0]]))
    assert plays.tolist() == [[0.0, 0.0], [-0.5, 0.0], [-0.5, 2.0]]


def test_also_the_play_after_the_last_round_is_checked():
    for eta in (1e60, inverse_sqrt(1e60)):
        with pytest.raises(ValueError, match=r"round 1: .*at most 1e\+150, got 1e\+160"):
            play(OGD(Space(1), eta, "eager"), hinge([[1e100]], [1.0]))


@pytest.mark.parametrize("shape", [(2, 3), (3,), (1, 2)])
def test_a_kernel_that_gives_too_few_numbers_is_told_how_many(shape):
    with pytest.raises(ValueError, match=r"the kernel's matrix must have 3 rows and 2 columns, got shape"):
        KernelPerceptron(lambda A, B: np.ones(shape)[..., :1]).gram(np.ones((3, 4)), np.ones((2, 4)))


def test_a_learner_of_ones_own_has_to_say_how_it_moves():
    from ocolib.learners import FirstOrder, Leader

    with pytest.raises(NotImplementedError):
        Leader().lead(1, 0.0, np.zeros(2))
    with pytest.raises(NotImplementedError):
        FirstOrder().after(1, np.zeros(2), np.zeros(2), np.zeros(2))
