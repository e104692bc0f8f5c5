"""The game and its trace: the order of events, every regret by brute force, and what examples add."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BOUNDED, sets, vectors

import ocolib
from ocolib import data, oracle
from ocolib.adversaries import orthogonal, random_directions, separable
from ocolib.game import play
from ocolib.kernels import KernelPerceptron
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
)
from ocolib.losses import Examples, Linear, Quadratic, hinge, perceptron_loss, soft_margin, softmax
from ocolib.phi import Phi
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, L1Ball, Set, Simplex, Space

QUADRATICS = [Quadratic([2.0, 1.0]), Linear([1.0, -1.0]), Quadratic([-1.0, 0.5], 3.0), Quadratic([0.0, -4.0])]


# ---------------------------------------------------------------- the order of events


class Diary:
    """A learner that writes down what it is asked."""

    def __init__(self, log):
        self.log, self.w = log, 0.0

    def player(self):
        return Diary(self.log)

    def predict(self):
        self.log.append("predict")
        return np.array([self.w])

    def update(self, loss):
        self.log.append(f"update {loss.z[0]:g}")
        self.w += 1.0


def test_in_every_round_the_learner_plays_before_the_loss_is_chosen_and_learns_after():
    log = []

    def adversary(t, w, past):
        log.append(f"choose {t} at {w[0]:g} after {past[:, 0].tolist()}")
        return [10.0 * t]

    trace = play(Diary(log), adversary, rounds=2)
    events = [e for e in log if e != "predict"]
    assert events == ["choose 1 at 0 after []", "update 10", "choose 2 at 1 after [10.0]", "update 20"]
    assert log.index("predict") < log.index(events[0])
    np.testing.assert_array_equal(trace.points, [[0.0], [1.0]])
    np.testing.assert_array_equal(trace.subgradients, [[10.0], [20.0]])
    np.testing.assert_array_equal(trace.paid, [0.0, 20.0])
    np.testing.assert_array_equal(trace.last, [2.0])


def test_an_adversary_cannot_change_the_game_through_what_it_is_shown():
    def vandal(t, w, past):
        w[:] = 77.0
        past[:] = 77.0
        return [1.0, 0.0]

    trace = play(OGD(Ball(2), 0.1), vandal, rounds=4)
    fair = play(OGD(Ball(2), 0.1), np.tile([1.0, 0.0], (4, 1)))
    np.testing.assert_allclose(trace.points, fair.points, atol=1e-15)
    np.testing.assert_array_equal(trace.subgradients, fair.subgradients)

    def curved(t, w, past):
        w[:] = 77.0
        return Quadratic([1.0, 0.0])

    trace = play(OGD(Ball(2), 0.1), curved, rounds=2)
    np.testing.assert_allclose(trace.subgradients, [[-1.0, 0.0], [-0.9, 0.0]])


def test_an_adversary_may_reuse_its_own_array():
    z = np.zeros(2)

    def adversary(t, w, past):
        z[:] = [t, 0.0]
        return z if t < 3 else Linear(z)

    np.testing.assert_array_equal(play(OGD(Ball(2), 1.0), adversary, rounds=3).subgradients[:, 0], [1, 2, 3])


def test_a_trace_does_not_change_when_the_losses_do_afterwards():
    Z = random_directions(5, 2, 0)
    trace = play(OGD(Ball(2), 0.3), Z)
    before = trace.regret(Ball(2))
    Z[:] = 0.0
    assert trace.regret(Ball(2)) == before > 0


def test_every_form_of_the_same_losses_is_the_same_game():
    Z = random_directions(7, 2, 1)
    learner = OGD(Ball(2), 0.3)
    reference = play(learner, Z)
    for losses in (list(Z), Z.tolist(), [Linear(z) for z in Z], (Linear(z) for z in Z)):
        trace = play(learner, losses)
        np.testing.assert_allclose(trace.points, reference.points, atol=1e-15)
        np.testing.assert_allclose(trace.paid, reference.paid, atol=1e-15)
        np.testing.assert_allclose(trace.last, reference.last, atol=1e-15)
        np.testing.assert_array_equal(trace.losses, Z)
    adversary = play(learner, lambda t, w, past: Z[t - 1], rounds=7)
    np.testing.assert_allclose(adversary.points, reference.points, atol=1e-15)
    whole = play(OGD(Ball(2), 1), np.array([[1, 0], [0, 1]]))
    assert whole.points.dtype == whole.paid.dtype == float


class Breaks:
    """A player whose plays hold `last` from round 3 on."""

    def __init__(self, last):
        self.t, self.last = 0, last

    def player(self):
        return Breaks(self.last)

    def predict(self):
        return np.array([0.0, self.last if self.t >= 2 else 1.0])

    def update(self, loss):
        self.t += 1


class Steep:
    """A loss that is not finite at w = (0, 1)."""

    def value(self, w):
        return np.inf if w[1] == 1 else 0.0

    def subgradient(self, w):
        return np.zeros(2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_game_names_the_round_in_which_a_play_or_a_payment_is_not_finite(bad):
    with np.errstate(invalid="ignore"):
        for losses in (np.ones((5, 2)), [Linear([1.0, 1.0])] * 5, np.ones((2, 5, 2))):
            with pytest.raises(ValueError, match=f"round 3: the play must be finite.*{bad}"):
                play(Breaks(bad), losses)
    with pytest.raises(ValueError, match="round 2: the value of the loss must be finite, got inf"):
        play(OGD(Box([0, 0], [1, 1]), 1.0), [Linear([0.0, -1.0]), Steep()])


def test_rounds_stops_a_game_early():
    Z = random_directions(7, 2, 1)
    X, y, _ = separable(7, 2, 0.1, 0)
    for losses in (Z, list(Z), perceptron_loss(X, y)):
        short, long = play(OGD(Ball(2), 0.3), losses, rounds=3), play(OGD(Ball(2), 0.3), losses)
        assert (short.rounds, long.rounds) == (3, 7)
        np.testing.assert_allclose(short.points, long.points[:3], atol=1e-15)
        np.testing.assert_allclose(short.last, long.points[3], atol=1e-15)


def test_a_trace_holds_what_was_played():
    trace = play(OGD(Ball(2), 0.3), QUADRATICS)
    assert (trace.rounds, trace.dim) == (4, 2)
    for t, f in enumerate(QUADRATICS):
        np.testing.assert_allclose(trace.subgradients[t], f.subgradient(trace.points[t]))
        assert trace.paid[t] == pytest.approx(f.value(trace.points[t]))
    assert trace.losses == QUADRATICS
    assert trace.learner.over.dim == 2


def test_linearized_plays_arrays_even_without_a_closed_form():
    Z = random_directions(4, 2, 5)
    learner = Linearized(oracle.FTRL(Ball(2), SquaredNorm(), 0.5))
    trace = play(learner, Z)
    assert trace.learner is learner
    np.testing.assert_allclose(trace.points, play(FTRL(Ball(2), SquaredNorm(), 0.5), Z).points, atol=1e-6)


# ---------------------------------------------------------------- regret


def grid(over, per_axis=81):
    """A fine net of a plane set."""
    axis = np.linspace(-2.0, 2.0, per_axis)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return points[over.contains(points)]


@pytest.mark.parametrize("over", [Ball(2), Box([-1, 0], [2, 1]), L1Ball(2, 1.5)], ids=repr)
@pytest.mark.parametrize("losses", [random_directions(6, 2, 4), QUADRATICS], ids=["linear", "quadratic"])
def test_regret_is_the_best_of_all_comparators(losses, over):
    trace = play(OGD(over, 0.3), losses)
    exact = trace.regret(over)
    net = max(trace.regret(against=u) for u in grid(over))
    assert net <= exact + 1e-12
    assert exact <= net + 0.2
    assert exact == pytest.approx(oracle.regret(trace, over), abs=1e-7)


@pytest.mark.parametrize("kind", BOUNDED)
@given(data=st.data())
def test_the_curve_is_the_regret_of_every_prefix(kind, data):
    over = data.draw(sets(kind, max_dim=3))
    Z = np.array(data.draw(st.lists(vectors(over.dim, 3.0), min_size=1, max_size=5)))
    mixed = [Linear(z) if t % 2 == 0 else Quadratic(z, 2.0) for t, z in enumerate(Z)]
    u = over.project(np.ones(over.dim))
    for losses in (Z, mixed):
        trace = play(OGD(over, 0.5), losses)
        curve, versus = trace.regret_curve(over), trace.regret_curve(against=u)
        for t in range(1, len(Z) + 1):
            prefix = play(OGD(over, 0.5), losses, rounds=t)
            scale = 1e-9 * max(1.0, np.abs(trace.paid).max())
            assert curve[t - 1] == pytest.approx(prefix.regret(over), abs=scale)
            assert versus[t - 1] == pytest.approx(prefix.regret(against=u), abs=scale)


def test_regret_of_many_runs_is_that_of_each():
    Z = random_directions(6, 3, 2, runs=(4, 5))
    trace = play(OGD(Ball(3), 0.3), Z)
    assert trace.regret(Ball(3)).shape == (4, 5)
    assert trace.regret_curve(Ball(3)).shape == (4, 5, 6)
    one = play(OGD(Ball(3), 0.3), Z[2, 3])
    np.testing.assert_allclose(trace.regret(Ball(3))[2, 3], one.regret(Ball(3)))
    np.testing.assert_allclose(trace.regret(against=[1, 0, 0])[2, 3], one.regret(against=[1, 0, 0]))
    np.testing.assert_allclose(trace.regret_curve(Ball(3))[2, 3], one.regret_curve(Ball(3)))
    np.testing.assert_allclose(
        trace.dynamic_regret(np.ones((6, 3)))[2, 3], one.dynamic_regret(np.ones((6, 3)))
    )


def test_regret_needs_only_the_whole_sum_to_be_bounded():
    """In all of space the prefix z_1 has no minimum; z_1 + z_2 = 0 has one."""
    trace = play(OGD(Space(1), 0.5), np.array([[1.0], [-1.0]]))
    assert trace.regret(Space(1)) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="unbounded below"):
        trace.regret_curve(Space(1))


def test_regret_of_far_away_quadratics_keeps_its_digits():
    """½a‖w‖² + ⟨b, w⟩ + k would lose all sixteen of them."""
    far = 1e8
    trace = play(FTL(Space(1)), [Quadratic([far]), Quadratic([far + 1.0]), Quadratic([far])])
    wanted = 0.5 * far**2 + 0.5 + 0.125 - (2 * 0.5 / 9 + 0.5 * 4 / 9)
    assert trace.regret(Space(1)) == pytest.approx(wanted, rel=1e-15)
    assert trace.paid[1:].sum() == pytest.approx(0.625)


def test_dynamic_regret_by_hand():
    trace = play(OGD(Box([-1], [1]), 1.0), np.array([[1.0], [-1.0], [2.0]]))
    np.testing.assert_array_equal(trace.points[:, 0], [0.0, -1.0, 0.0])
    assert trace.dynamic_regret([[-1.0], [1.0], [-1.0]]) == 1.0 - (-1.0 - 1.0 - 2.0)
    assert trace.dynamic_regret(np.full((3, 1), 0.5)) == trace.regret(against=[0.5])
    data = play(Perceptron(1), perceptron_loss([[1.0], [2.0]], [1, -1]))
    assert data.dynamic_regret([[3.0], [1.0]]) == data.paid.sum() - 2.0
    mixed = play(OGD(Box([-1], [1]), 1.0), [Quadratic([1.0]), Linear([1.0])])
    assert mixed.dynamic_regret([[1.0], [-1.0]]) == pytest.approx(mixed.paid.sum() + 1.0)


def test_a_curve_without_a_closed_form_names_the_ways_out():
    trace = play(Perceptron(2), perceptron_loss([[1.0, 0.0]], [1]))
    with pytest.raises(ValueError, match=r"name one comparator, against=u, .* or use ocolab\.comparators"):
        trace.regret_curve(L1Ball(2))
    assert trace.regret(L1Ball(2)) == pytest.approx(0.0, abs=1e-7)


def test_regret_over_data_agrees_with_a_fine_net():
    X, y, _ = separable(30, 2, 0.01, 3)
    trace = play(OGD(Ball(2), 0.3), hinge(X, y))
    net = max(trace.regret(against=u) for u in grid(Ball(2)))
    assert net - 1e-7 <= oracle.regret(trace, Ball(2)) <= net + 0.05 * 30
    assert trace.regret(Ball(2)) == pytest.approx(oracle.regret(trace, Ball(2)), abs=1e-6)


# ---------------------------------------------------------------- examples


def test_examples_are_played_as_their_losses_one_by_one():
    X, y, _ = separable(25, 3, 0.1, 0)
    X[5] = 0.0
    for make in (perceptron_loss, hinge):
        losses = make(X, y)
        for learner in (OGD(Ball(3), 0.3), OGD(Ball(3), 0.3, "eager"), Linearized(Hedge(3, 0.2))):
            together, apart = play(learner, losses), play(learner, list(losses))
            np.testing.assert_allclose(together.points, apart.points, atol=1e-14)
            np.testing.assert_allclose(together.paid, apart.paid, atol=1e-14)
            np.testing.assert_allclose(together.subgradients, apart.subgradients, atol=1e-14)
            np.testing.assert_allclose(together.last, apart.last, atol=1e-14)
            assert isinstance(apart.losses, Examples)
            np.testing.assert_array_equal(apart.margins, together.margins)


def test_a_mistake_and_an_update_are_two_things():
    """The sign of 0 is +1: at a tie a positive example is no mistake, but the Perceptron updates."""
    X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], [1, -1, 1, 1]
    trace = play(Perceptron(2), perceptron_loss(X, y))
    np.testing.assert_array_equal(trace.points, [[0, 0], [1, 0], [1, -1], [2, 0]])
    np.testing.assert_array_equal(trace.margins, [0, 0, 0, 2])
    np.testing.assert_array_equal(trace.updates, [True, True, True, False])
    np.testing.assert_array_equal(trace.mistakes, [False, True, False, False])
    np.testing.assert_array_equal(trace.last, [2, 0])


def test_margins_and_mistakes_are_measured_from_the_threshold():
    losses = perceptron_loss([[1.0], [3.0], [2.0]], [1, -1, -1], threshold=2.0)
    trace = play(OGD(Box([1], [1]), 1.0), losses)
    np.testing.assert_array_equal(trace.margins, [-1, -1, 0])
    np.testing.assert_array_equal(trace.mistakes, [True, True, True])
    np.testing.assert_array_equal(trace.paid, [1, 1, 0])


def test_the_hinge_updates_on_correct_examples_too():
    trace = play(OGD(Space(1), 0.25), hinge([[1.0]] * 5, [1] * 5))
    np.testing.assert_array_equal(trace.points[:, 0], [0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_array_equal(trace.updates, [True, True, True, True, False])
    assert not trace.mistakes.any()


def test_only_losses_over_data_have_margins():
    trace = play(OGD(Ball(2), 0.3), random_directions(3, 2, 0))
    for name in ("margins", "updates", "mistakes"):
        with pytest.raises(ValueError, match="belong to losses over data"):
            getattr(trace, name)


def test_an_adversary_may_choose_examples():
    losses = perceptron_loss([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    trace = play(Perceptron(2), lambda t, w, past: losses[(t - 1) % 2], rounds=4)
    assert isinstance(trace.losses, Examples)
    np.testing.assert_array_equal(trace.updates, [True, True, False, False])


def test_a_mixed_game_keeps_its_list_of_losses():
    one = perceptron_loss([[1.0]], [1])[0]
    trace = play(OGD(Ball(1), 0.5), [one, Linear([1.0]), hinge([[1.0]], [1])[0]])
    assert isinstance(trace.losses, list)
    assert oracle.regret(trace, Ball(1)) == pytest.approx(trace.paid.sum() - 1.0, abs=1e-6)


def test_solving_every_round_follows_the_true_losses():
    X, y, _ = separable(6, 2, 0.1, 4)
    trace = play(oracle.FTRL(Ball(2, 5.0), SquaredNorm(), 4.0), hinge(X, y))
    for t in range(1, 6):
        best = oracle.FTRL(Ball(2, 5.0), SquaredNorm(), 4.0).player()
        for f in hinge(X, y)[:t]:
            best.update(f)
        np.testing.assert_allclose(trace.points[t], best.predict(), atol=1e-9)
    assert not np.allclose(trace.points[3], play(OGD(Ball(2, 5.0), 4.0), hinge(X, y)).points[3], atol=1e-3)


def test_entropy_leads_to_the_same_game_by_the_oracle():
    Z = random_directions(5, 3, 9)
    ours = play(Hedge(3, 0.5), Z)
    theirs = play(oracle.FTRL(Simplex(3), NegativeEntropy(), 0.5), Z)
    assert ours.regret(Simplex(3)) == pytest.approx(theirs.regret(Simplex(3)), abs=1e-4)


def test_the_orthogonal_adversary_is_adaptive():
    here, there = (play(OGD(Ball(2, 5.0), 0.1, start=[x, 0]), orthogonal(), rounds=1) for x in (0.5, -0.5))
    np.testing.assert_allclose(here.subgradients, [[1, 0]])
    np.testing.assert_allclose(there.subgradients, [[-1, 0]])


# ---------------------------------------------------------------- losses that are not the learner's


@pytest.mark.parametrize("learner", [Perceptron(2), Winnow(2, 1.0), NormalizedWinnow(2, 0.5)])
def test_a_learner_of_examples_plays_no_other_losses(learner):
    with pytest.raises(ValueError, match=r"plays perceptron_loss\(X, y, threshold=.*\), got ndarray"):
        play(learner, np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"round 1: .* plays perceptron_loss\(X, y.*\), got Linear"):
        play(learner, [Linear([1.0, 0.0])])
    regularized = perceptron_loss(np.eye(2), [1, -1], threshold=learner.threshold).regularized(0.5)
    with pytest.raises(ValueError, match=r"got PerceptronLoss\(.*\) with a reg"):
        play(learner, regularized)


def test_a_loss_without_a_regulariser_is_refused_without_a_word_of_one():
    with pytest.raises(ValueError, match=r"got HingeLoss\(kink=0.0\)$"):
        play(Perceptron(2), hinge(np.eye(2), [1, -1]))


def test_a_kernel_learner_plays_examples_alone():
    learner, losses = KernelPerceptron(lambda A, B: A @ B.T), perceptron_loss(np.eye(2), [1, -1])
    for other in (np.eye(2), [losses[0]], lambda t, w, past: losses[0]):
        with pytest.raises(ValueError, match="KernelPerceptron plays perceptron_loss"):
            play(learner, other, rounds=1)
    assert play(learner, losses).updates.sum() == 2


def test_classes_are_one_for_each_example():
    with pytest.raises(ValueError, match="y must have 1 axis"):
        softmax(np.eye(2), [[0], [1]], 2)
    with pytest.raises(ValueError, match="y must have 1 axis"):
        soft_margin(np.eye(2), [[0], [1]], 1.0 - np.eye(2))


def test_classes_may_be_given_as_floats():
    f, g = softmax([[1.0, 2.0]], [1.0], 2)[0], softmax([[1.0, 2.0]], [1], 2)[0]
    w = np.array([0.1, 0.2, 0.3, 0.4])
    assert f.value(w) == g.value(w) and np.array_equal(f.subgradient(w), g.subgradient(w))


# ---------------------------------------------------------------- learners and losses of your own


class Steps:
    """The least that a learner needs: w ← w − z/2, and a count of what it is asked."""

    def __init__(self, dim=2):
        self.dim, self.predicted = dim, 0

    def player(self):
        self.w = np.zeros(self.dim)
        return self

    def predict(self):
        self.predicted += 1
        return self.w

    def step(self, z):
        self.w -= 0.5 * z  # in place: what was played must not change


def test_nobody_can_write_into_what_the_others_read():
    """A loss, an adversary and a learner overwrite every array that they are given."""

    class Overwriting:
        def __init__(self, z):
            self.z = z

        def value(self, w):
            price = w @ self.z
            w[:] = 9.0
            return price

        def subgradient(self, w):
            w[:] = 9.0
            return self.z

    class Careless(Steps):
        def step(self, z):
            self.w = self.w - 0.5 * z
            z[:] = 9.0

    def adversary(t, w, past):
        w[:] = past[:] = 9.0
        played.append(Overwriting(np.array([1.0, -t])))
        return played[-1]

    played = []
    trace = play(Careless(), adversary, rounds=3)
    slopes = [[1.0, -1.0], [1.0, -2.0], [1.0, -3.0]]
    assert trace.subgradients.tolist() == slopes == [loss.z.tolist() for loss in played]
    assert trace.points.tolist() == [[0.0, 0.0], [-0.5, 0.5], [-1.0, 1.5]]
    assert trace.paid.tolist() == [0.0, -1.5, -5.5]


def endless(pulled):
    while True:
        pulled.append(1)
        yield Linear([1.0, 0.0])


def test_an_endless_generator_is_pulled_one_loss_a_round():
    pulled = []
    trace = play(Steps(), endless(pulled), rounds=50)
    assert trace.rounds == 50 and len(pulled) == 50
    assert trace.points[:, 0].tolist() == [-0.5 * t for t in range(50)]


def test_losses_are_pulled_after_the_play_that_pays_for_them():
    learner, seen = Steps(), []

    def watching():
        for _ in range(3):
            seen.append(learner.predicted)
            yield [1.0, 0.0]

    assert play(learner, watching()).rounds == 3
    assert seen == [1, 2, 3] and learner.predicted == 4, "once a round, and once for w_4"
    with pytest.raises(ValueError, match="round 3: there are only 2 losses, but rounds = 5"):
        play(Steps(), iter([[1.0, 0.0]] * 2), rounds=5)
    long = play(Steps(), ([1.0, 0.0] for _ in range(200)))
    assert long.rounds == 200 and long.subgradients.tolist() == [[1.0, 0.0]] * 200


@pytest.mark.parametrize("rounds", [None, 3])
@pytest.mark.parametrize("make", [list, np.array, iter])
def test_predict_is_called_once_a_round_and_once_more(make, rounds):
    learner = Steps()
    play(learner, make([[1.0, 0.0]] * 5), rounds)
    assert learner.predicted == (rounds or 5) + 1


class Fails(Steps):
    def step(self, z):
        if self.predicted == 17:
            raise self.error
        super().step(z)


@pytest.mark.parametrize(
    ("error", "words"), [(ValueError("too far"), "too far"), (KeyError("k"), "KeyError: 'k'")]
)
def test_an_error_in_a_round_names_the_round(error, words):
    learner = Fails()
    learner.error = error
    with pytest.raises(ValueError, match=f"^round 17: {words}$") as caught:
        play(learner, np.ones((20, 2)))
    assert caught.value.__cause__ is error


class Outside(Steps):
    over = Simplex(2)


def test_check_refuses_plays_outside_the_set():
    Z = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
    assert play(Outside(), Z).rounds == 3, "without check it is allowed"
    with pytest.raises(ValueError, match=r"round 1: the play \[0\. 0\.\] is outside Simplex"):
        play(Outside(), Z, check=True)
    assert play(Hedge(2, 0.1), Z, check=True).rounds == 3

    class Closed:
        over = Box([-1], [1])

        def points(self, Z):
            return np.vstack([[0.0], -np.cumsum(Z, axis=0)])

    with pytest.raises(ValueError, match=r"round 3: the play \[-2\.\] is outside Box"):
        play(Closed(), np.ones((4, 1)), check=True)
    with pytest.raises(ValueError, match="Steps has no set `over`"):
        play(Steps(), Z, check=True)


class Bowl:
    """½‖w − c‖², with no form but its two methods."""

    def __init__(self, c):
        self.c = np.array(c)

    def value(self, w):
        return 0.5 * np.square(w - self.c).sum()

    def subgradient(self, w):
        return w - self.c


class SolvedBowl(Bowl):
    def expression(self, w):
        import cvxpy as cp

        return 0.5 * cp.sum_squares(w - self.c)


class Disk:
    """The unit disk: no base class, and nothing but its projection and its diameter."""

    dim, diameter = 2, 2.0

    def project(self, y):
        return y / max(1.0, np.linalg.norm(y))


class SolvedDisk(Disk):
    def constraints(self, x):
        import cvxpy as cp

        return [cp.norm(x, 2) <= 1]


def own_game(bowl, over):
    centers = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0], [2.0, 1.0]])
    learner = Steps()
    learner.over = over
    trace = play(learner, [bowl(c) for c in centers])
    mean = centers.mean(axis=0)
    best = mean / np.linalg.norm(mean)
    return trace, best, trace.paid.sum() - 0.5 * np.square(best - centers).sum()


def test_regret_of_your_own_set_and_losses_by_cvxpy():
    trace, best, regret = own_game(SolvedBowl, SolvedDisk())
    found = trace.comparator()
    assert found.method == "cvxpy" and found.point == pytest.approx(best, abs=1e-5)
    assert trace.regret() == pytest.approx(regret, abs=1e-6) == trace.regret(SolvedDisk())


def test_regret_of_your_own_set_and_losses_by_descent_has_a_true_gap():
    trace, _, regret = own_game(Bowl, Disk())
    found = trace.comparator()
    least = trace.paid.sum() - regret
    assert found.method == "projected subgradient method" and np.linalg.norm(found.point) <= 1 + 1e-12
    assert least - 1e-12 <= found.value <= least + 1e-3 and found.value - found.gap <= least < np.inf
    with pytest.warns(UserWarning, match="the regret may be larger by at most"):
        assert trace.regret() == pytest.approx(regret, abs=1e-3)


def test_regret_of_linear_losses_on_your_own_set():
    learner = Steps()
    learner.over = Disk()
    trace = play(learner, np.array([[1.0, 0.0], [1.0, 2.0]]))
    with pytest.warns(UserWarning, match="may be larger"):
        assert trace.regret() == pytest.approx(trace.paid.sum() + 8**0.5, abs=1e-2)


class Wedge:
    """The least that a set needs, x ≥ |y|: one point at a time, no diameter."""

    dim = 2

    def project(self, y):
        a, b = max(y[0] + y[1], 0.0) / 2, max(y[0] - y[1], 0.0) / 2
        return np.array([a + b, a - b])


def test_check_asks_the_projection_of_a_set_that_has_nothing_else():
    inside, outside = np.array([[-1.0, 0.0], [-1.0, 1.0]]), np.array([[-1.0, 0.0], [4.0, 0.0]])
    assert play(with_set(Steps(), Wedge()), inside, check=True).rounds == 2
    with pytest.raises(ValueError, match=r"round 3: the play \[-1.5  0. \] is outside .*Wedge"):
        play(with_set(Steps(), Wedge()), outside, check=True)


def with_set(learner, over):
    learner.over = over
    return learner


@pytest.mark.parametrize(
    "learner",
    [OGD(Wedge(), 0.3), OGD(Wedge(), 0.3, "eager", [1.0, 0.5]), FTRL(Wedge(), SquaredNorm(), 0.3)],
)
def test_a_learner_of_the_library_plays_on_a_set_that_projects_one_point_at_a_time(learner):
    Z = np.array([[-1.0, 0.5], [0.5, 2.0], [1.0, -1.0]])
    trace = play(learner, Z, check=True)
    eager = getattr(learner, "projection", "lazy") == "eager"
    w, total = (np.array([1.0, 0.5]) if eager else np.zeros(2)), np.zeros(2)
    for play_, z in zip(trace.plays, [*Z, np.zeros(2)], strict=True):
        assert play_ == pytest.approx(w)
        total = total + z
        w = Wedge().project(w - 0.3 * z if eager else -0.3 * total)


def test_a_start_outside_a_set_that_has_only_a_projection_is_refused():
    with pytest.raises(ValueError, match="start must lie in"):
        OGD(Wedge(), 0.3, start=[-1.0, 0.0])


class Segment:
    """[−1, 1] × {0}, one point at a time."""

    dim = 2

    def project(self, y):
        return np.array([min(max(y[0], -1.0), 1.0), 0.0])

    def minimize_linear(self, c):
        return np.array([-np.sign(c[0]), 0.0])


def test_regret_and_its_curve_on_a_set_that_takes_one_point_at_a_time():
    linear = play(OGD(Segment(), 0.3), np.array([[1.0, 5.0], [-3.0, 0.0]]))
    assert linear.regret() == pytest.approx(linear.paid.sum() + 2.0)
    assert linear.regret_curve() == pytest.approx(np.cumsum(linear.paid) + np.array([1.0, 2.0]))
    curved = play(OGD(Segment(), 0.3, "eager"), [Quadratic([3.0, 0.0]), Quadratic([0.0, 1.0])])
    assert curved.comparator().method == "closed form" and curved.best() == pytest.approx([1.0, 0.0])
    assert curved.regret() == pytest.approx(curved.paid.sum() - 2.0 - 1.0)
    with pytest.raises(ValueError, match="regret_curve needs minimize_linear"):
        play(OGD(Wedge(), 0.3), np.ones((2, 2))).regret_curve()
    with pytest.raises(ValueError, match="regret_curve needs minimize_linear"):
        play(with_set(Steps(), Bare()), np.ones((2, 2))).regret_curve()


class Slanted(Phi):
    """A φ without a cvxpy form."""

    takes = "reals"

    def value(self, p, y):
        return np.abs(p - y)

    def slope(self, p, y):
        return np.sign(p - y)


class Bare(Set):
    """A set of your own that derives from `Set` and implements no more than it must for a game."""

    dim, diameter, project = 2, 2.0, Disk.project


def test_a_regret_with_a_gap_says_what_cvxpy_needs(monkeypatch):
    bowls, slanted = [SolvedBowl([2.0, 1.0])], Examples([[1.0, 2.0]], [3.0], Slanted())
    phi = r"give the φ of the losses `expression\(p, y\)`$"
    for over, losses, words in (
        (SolvedDisk(), [Bowl([2.0, 1.0])], r"give the losses `expression\(w\)`$"),
        (SolvedDisk(), slanted, phi),
        (SolvedDisk(), [slanted[0], Quadratic([9.0, 0.0])], phi),
        (Bare(), bowls, r"give the set `constraints\(x\)`$"),
        (Bare(), np.array([[1.0, 2.0]]), r"give the set `constraints\(x\)`$"),
    ):
        with pytest.warns(UserWarning, match=words):
            play(with_set(Steps(), over), losses).regret()
    monkeypatch.setitem(sys.modules, "ocolib.oracle", None)
    monkeypatch.delattr(ocolib, "oracle")
    with pytest.warns(UserWarning, match="install cvxpy to find it"):
        play(with_set(Steps(), SolvedDisk()), bowls).regret()


def test_a_regret_without_any_gap_says_so():
    with pytest.warns(UserWarning, match="by an unknown amount.*give the set a `diameter`"):
        play(with_set(Steps(), Wedge()), [Bowl(np.array([0.0, 2.0]))]).regret()


def test_a_set_is_the_learners_own_unless_named():
    Z = random_directions(9, 2, 0)
    trace = play(OGD(Ball(2), 0.3), Z)
    assert trace.regret() == trace.regret(Ball(2)) and (trace.best() == trace.best(Ball(2))).all()
    assert trace.regret_curve()[-1] == pytest.approx(trace.regret())
    with pytest.raises(ValueError, match=r"Steps has no set `over`: name one, regret\(over=…\)"):
        play(Steps(), Z).regret()
    with pytest.raises(ValueError, match="got list; a point is against=u"):
        trace.regret([1.0, 0.0])
    with pytest.raises(ValueError, match="not both"):
        trace.regret(Ball(2), against=[1.0, 0.0])


# ---------------------------------------------------------------- digits, words, tables


@pytest.mark.parametrize("learner", [Hedge(4, 0.1), Simplex(4), FTL(Simplex(4)), OGD(Simplex(4), 0.1)])
def test_a_common_offset_of_all_experts_changes_no_digit(learner):
    """Losses 1e9 + u: the plays, the best expert and the regret are those of u."""
    learner = OGD(learner, 0.1, "eager") if isinstance(learner, Simplex) else learner
    Z = np.round(np.random.default_rng(0).random((2000, 4)) * 2**20) / 2**20  # 1e9 + Z is exact
    far, near = play(learner, 1e9 + Z), play(learner, Z)
    assert far.points == pytest.approx(near.points, abs=1e-12)
    assert far.regret() == pytest.approx(near.regret(), rel=1e-9)
    assert far.regret(against=[1, 0, 0, 0]) == pytest.approx(near.regret(against=[1, 0, 0, 0]), rel=1e-9)
    assert far.regret_curve()[-1] == pytest.approx(near.regret(), rel=1e-9)


def test_an_offset_counts_for_a_play_outside_the_simplex():
    learner = Outside()
    trace = play(learner, np.full((3, 2), 10.0))  # it plays 0, and −5 in both coordinates, …
    assert trace.regret() == pytest.approx(trace.paid.sum() - 30.0)


def test_a_million_small_numbers_are_summed_exactly():
    Z = np.tile([[0.1], [-0.1 + 1e-9]], (100_000, 1))
    trace = play(OGD(Box([1], [1]), 1.0), Z)
    exact = 100_000 * (0.1 + (-0.1 + 1e-9))
    assert trace.regret(against=[0.0]) == pytest.approx(exact, rel=1e-12)


def test_a_trace_is_shown_in_one_line():
    assert repr(play(OGD(Ball(2), 0.3), np.ones((3, 2)))) == (
        "Trace(OGD: 3 rounds, dimension 2, mean loss -0.6)"
    )
    many = play(OGD(Ball(20), 0.3), random_directions(500, 20, 0, runs=(4, 5)))
    assert "20 runs of 500 rounds" in repr(many) and len(repr(many)) < 100
    X, y, _ = separable(300, 20, 0.1, 0)
    kernel = play(KernelPerceptron(lambda A, B: A @ B.T), perceptron_loss(X, y))
    assert len(repr(kernel)) < 100 and len(repr(perceptron_loss(X, y))) < 160


def test_the_plays_end_with_the_next():
    trace = play(OGD(Ball(2), 0.3), random_directions(5, 2, 0))
    assert trace.plays.shape == (6, 2) and (trace.plays[:-1] == trace.points).all()
    assert (trace.plays[-1] == trace.last).all()


def test_a_trace_becomes_a_table():
    pytest.importorskip("pandas")
    trace = play(OGD(Ball(2), 0.3), random_directions(5, 2, 0))
    table = trace.to_frame()
    assert list(table.columns) == ["paid", "w_1", "w_2", "z_1", "z_2"] and table.index.tolist() == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert table[["z_1", "z_2"]].to_numpy().tolist() == trace.subgradients.tolist()
    assert table["paid"].sum() == pytest.approx(trace.paid.sum())
    with pytest.raises(ValueError, match="one run"):
        play(OGD(Ball(2), 0.3), random_directions(5, 2, 0, runs=(2,))).to_frame()


def test_the_years_of_the_sunspots():
    years, numbers = data.sunspots()
    assert years[0] == 1700 and years[-1] == 2008 and len(years) == len(numbers) == 309
    assert (np.diff(years) == 1).all()
    assert numbers[years == 1957] == 190.2 and numbers.max() == 190.2


def test_an_offset_costs_no_digits_against_a_point_or_a_path_either():
    Z = np.round(np.random.default_rng(1).random((2000, 3)) * 2**20) / 2**20  # 1e9 + Z is exact
    far, near = play(Hedge(3, 0.1), 1e9 + Z), play(Hedge(3, 0.1), Z)
    for found, wanted in (
        (far.regret_curve(against=[0, 1, 0]), near.regret_curve(against=[0, 1, 0])),
        (far.dynamic_regret(np.eye(3)[Z.argmin(1)]), near.dynamic_regret(np.eye(3)[Z.argmin(1)])),
    ):
        assert found == pytest.approx(wanted, rel=1e-11, abs=1e-11)
    assert far.dynamic_regret(np.zeros((2000, 3))) == pytest.approx(2000e9)  # off the simplex it counts


def test_the_kernel_of_a_round_that_fails_is_named():
    def kernel(A, B):
        if (B == 2.0).any():
            raise RuntimeError("no twos")
        return A @ B.T

    data = perceptron_loss([[1.0], [2.0]], [1, 1])
    with pytest.raises(ValueError, match="round 2: the kernel failed: no twos"):
        play(KernelPerceptron(kernel), data)
    trace = play(KernelPerceptron(lambda A, B: A @ B.T), data)
    with pytest.raises(ValueError, match="X must have 2 axes"):
        trace.score([1.0])
    assert trace.score([[1.0], [3.0]]).tolist() == [1.0, 3.0]


def test_the_best_point_of_many_runs_needs_a_closed_form():
    trace = play(OGD(Ball(2), 0.5), np.ones((2, 3, 2)))
    assert trace.comparator().method == "closed form"
    other = replace(trace, losses=[Bowl(np.zeros(2))] * 3)
    with pytest.raises(ValueError, match="has no closed form: play one run at a time"):
        other.comparator()


def test_a_descent_that_meets_a_minimum_stops_there_without_a_gap():
    from ocolib.trace import best_by_descent

    found = best_by_descent([Quadratic([0.0, 0.0])] * 2, Ball(2))
    assert (found.point.tolist(), found.value, found.gap) == ([0.0, 0.0], 0.0, 0.0)
    found = best_by_descent(np.array([[3.0, 4.0]]), Ball(2))
    assert found.value == pytest.approx(-5.0) and 0 <= found.gap <= 1e-6, "the tangents bound it from below"
    assert found.value - found.gap <= -5.0


def test_the_gap_of_a_descent_is_the_tangents_own():
    """One step from 0 on ½(w − 2)² over [−1, 1]: after it every line through w = 1 shows that 1 is best."""
    from ocolib.trace import best_by_descent

    found = best_by_descent([Quadratic([2.0])], Ball(1))
    assert found.point.tolist() == [1.0] and found.value == 0.5
    assert found.value - found.gap <= 0.5, "no lower bound above the minimum"
    slope, level, weight, u = 0.0, 0.0, 0.0, 0.0
    for k in range(1, 5001):
        s = 2.0 / (2.0 - u) / np.sqrt(k)
        slope, weight, level = slope + s * (u - 2), weight + s, level + s * ((u - 2) ** 2 / 2 - (u - 2) * u)
        u = min(u - s * (u - 2), 1.0)
    assert found.gap == pytest.approx(0.5 - (level + slope * 1.0) / weight, rel=1e-6)
