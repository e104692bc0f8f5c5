"""Compiled games and streamed games are the games of the simple loop."""

import json
import os
import re
import subprocess
import sys
from math import exp

import numpy as np
import pytest

from ocolab import fast
from ocolib import game, learners, losses, sets
from ocolib.kernels import KernelPerceptron
from ocolib.regularizers import SquaredNorm

loops = pytest.importorskip("ocolab.fast.loops")

rng = np.random.default_rng(7)
ROWS = np.vstack([rng.standard_normal((9, 3)), np.zeros((2, 3)), 2 * rng.standard_normal((29, 3))])
SIGNS, REALS, COUNTS = rng.choice([-1.0, 1.0], 40), rng.standard_normal(40), rng.integers(0, 4, 40)


def flicker(t):
    """A schedule that takes one t only, and repeats steps."""
    return 0.3 if t % 3 else 0.1


EVERYWHERE = [
    sets.Space(3),
    sets.Orthant(3),
    sets.Ball(3, 0.7),
    sets.Ball(3, 0.7, [0.2, 0.0, -0.1]),
    sets.Box([-0.2, 0.0, -1.0], [0.3, 0.5, 2.0]),
    sets.Halfspace([1.0, 2.0, 2.0], 0.3),
    sets.Simplex(3),
    sets.L1Ball(3, 0.8),
]
LATE = tuple(t * t % 5 for t in range(40))
OVER_DATA = {
    "perceptron": losses.perceptron_loss(ROWS, SIGNS, 0.3, 0.5),
    "hinge": losses.hinge(ROWS, SIGNS, 0.5),
    "squared hinge": losses.squared_hinge(ROWS, SIGNS),
    "exponential": losses.exponential(0.1 * ROWS, SIGNS),
    "logistic": losses.logistic(ROWS, SIGNS),
    "least squares": losses.least_squares(0.1 * ROWS, REALS),
    "absolute": losses.absolute(ROWS, REALS),
    "quantile": losses.quantile(ROWS, REALS, 0.3),
    "eps-insensitive": losses.eps_insensitive(ROWS, REALS, 0.1),
    "huber": losses.huber(ROWS, REALS),
    "poisson": losses.poisson(0.1 * ROWS, COUNTS),
}


def same(learner, given, tolerance=1e-11):
    """Assert that the game is compiled, and is that of the loop."""
    assert fast._compiled(learner, given) is not None, "the simple loop would play it"
    quick, simple = fast.play(learner, given), game.play(learner, given)
    for name in ("points", "subgradients", "paid", "last"):
        ours, theirs = getattr(quick, name), getattr(simple, name)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=f"{learner} {name}")
    return quick, simple


# ---------------------------------------------------------------- the same games


@pytest.mark.parametrize("over", EVERYWHERE, ids=repr)
@pytest.mark.parametrize("eta", [0.3, flicker, learners.inverse_sqrt(0.5)], ids=["0.3", "flicker", "1/√t"])
def test_descent_on_linear_losses_is_that_of_the_loop(over, eta):
    start = over.project([0.4, -0.1, 0.2])
    for learner in (
        learners.OGD(over, eta),
        learners.OGD(over, eta, "eager"),
        learners.OGD(over, eta, start=start),
        learners.OGD(over, eta, "eager", start),
        learners.FTRL(over, SquaredNorm([1.0, 0.0, 2.0]), eta),
        learners.DelayedOGD(over, eta, 2),
        learners.DelayedOGD(over, eta, LATE),
    ):
        same(learner, ROWS)


@pytest.mark.parametrize("reg", [0.0, 0.4])
@pytest.mark.parametrize("name", OVER_DATA)
def test_every_loss_over_data_is_that_of_the_loop(name, reg):
    data = OVER_DATA[name].regularized(reg) if reg else OVER_DATA[name]
    for learner in (
        learners.OGD(sets.Ball(3, 0.7, [0.2, 0.0, -0.1]), 0.3, "eager"),
        learners.OGD(sets.Space(3), learners.inverse(0.2), "eager", [0.5, -0.5, 0.1]),
        learners.OGD(sets.Box([-0.2] * 3, [0.3] * 3), flicker),
        learners.DelayedOGD(sets.Ball(3, 0.7), flicker, 2),
        learners.DelayedOGD(sets.Space(3), 0.05, LATE),
        learners.Linearized(learners.Hedge(3, flicker)),
    ):
        same(learner, data)


@pytest.mark.parametrize("over", EVERYWHERE, ids=repr)
def test_the_hinge_on_every_set_is_that_of_the_loop(over):
    for learner in (learners.OGD(over, flicker, "eager"), learners.OGD(over, flicker)):
        same(learner, losses.hinge(ROWS, SIGNS))


def test_learners_of_examples_are_those_of_the_loop():
    for learner in (learners.Perceptron(3), learners.Perceptron(3, 0.5), learners.NormalizedWinnow(3, 0.4)):
        quick, simple = same(learner, losses.perceptron_loss(ROWS, SIGNS))
        for name in ("updates", "mistakes"):
            np.testing.assert_array_equal(getattr(quick, name), getattr(simple, name))
    same(learners.Winnow(3, 1.5, 3.0), losses.perceptron_loss(np.abs(np.sign(ROWS)), SIGNS, 1.5))
    same(learners.OnlineSVM(3, 0.5, 0.1), losses.hinge(ROWS, SIGNS))
    for project in (False, True):
        same(learners.Pegasos(3, 0.1, project), losses.hinge(ROWS, SIGNS).regularized(0.1))


def test_on_whole_numbers_every_tie_is_settled_alike():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, (400, 3)).astype(float), rng.choice([-1.0, 1.0], 400)
    for learner, data in (
        (learners.Perceptron(3), losses.perceptron_loss(X, y)),
        (learners.Perceptron(3, 0.0), losses.perceptron_loss(X, y)),
        (learners.Winnow(3, 2.0), losses.perceptron_loss(np.abs(X), y, 2.0)),
        (learners.OGD(sets.Space(3), 1.0, "eager"), losses.hinge(X, y, 1.0)),
    ):
        quick, simple = fast.play(learner, data), game.play(learner, data)
        for name in ("points", "subgradients", "updates", "mistakes", "margins"):
            np.testing.assert_array_equal(getattr(quick, name), getattr(simple, name))


@pytest.mark.parametrize("n", [3, 40])
def test_the_next_prediction_is_known_before_the_step(n):
    """⟨w − s·x, x'⟩ = ⟨w, x'⟩ − s·⟨x, x'⟩, for few numbers and for many."""
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((150, n)), rng.choice([-1.0, 1.0], 150)
    for data in (losses.hinge(X, y), losses.hinge(X, y).regularized(0.3), losses.logistic(X, y)):
        same(learners.OGD(sets.Space(n), 0.1, "eager", rng.standard_normal(n)), data)


@pytest.mark.parametrize("reg", [2.0, 11.0, 25.0])
def test_a_play_that_shrinks_or_grows_for_long_is_that_of_the_loop(reg):
    """A step on ½·reg·‖w‖² multiplies w by 1 − η·reg: 0.8, −0.1 or −1.5; over two hundred rounds."""
    rng = np.random.default_rng(2)
    data = losses.hinge(rng.standard_normal((200, 3)), rng.choice([-1.0, 1.0], 200)).regularized(reg)
    same(learners.OGD(sets.Space(3), 0.1, "eager", [1.0, -1.0, 0.5]), data, tolerance=1e-9)


def test_the_kernel_perceptron_asks_its_kernel_a_block_at_a_time():
    rng = np.random.default_rng(3)
    X, y, asked = rng.integers(-2, 3, (300, 3)).astype(float), rng.choice([-1.0, 1.0], 300), []

    def kernel(A, B):
        asked.append(len(B))
        return (1.0 + A @ B.T) ** 2

    learner, data = KernelPerceptron(kernel), losses.perceptron_loss(X, y)
    quick = fast.play(learner, data)
    assert asked == [128, 128, 128, 44, 44]
    simple = game.play(learner, data)
    np.testing.assert_array_equal(quick.scores, simple.scores)
    np.testing.assert_array_equal(quick.coefficients, simple.coefficients)
    assert 50 < quick.updates.sum() < 300


# ---------------------------------------------------------------- values by hand


def test_two_rounds_of_each_move_by_hand():
    Z = np.array([[3.0, 0.0], [0.0, -4.0]])
    eager = fast.play(learners.OGD(sets.Ball(2), 1.0, "eager"), Z)
    assert eager.points.tolist() == [[0.0, 0.0], [-1.0, 0.0]] and eager.paid.tolist() == [0.0, 0.0]
    assert eager.last == pytest.approx(np.array([-1.0, 4.0]) / 17**0.5)
    lazy = fast.play(learners.OGD(sets.Ball(2), 1.0), Z)
    assert lazy.last == pytest.approx([-0.6, 0.8])
    hedge = fast.play(learners.Hedge(2, 0.5), Z)
    assert hedge.points[1] == pytest.approx([exp(-1.5) / (1 + exp(-1.5)), 1 / (1 + exp(-1.5))])
    X = np.array([[1.0, 2.0], [3.0, 1.0]])
    perceptron = fast.play(learners.Perceptron(2), losses.perceptron_loss(X, [1, -1]))
    assert perceptron.points.tolist() == [[0.0, 0.0], [1.0, 2.0]] and perceptron.last.tolist() == [-2.0, 1.0]
    assert perceptron.subgradients.tolist() == [[-1.0, -2.0], [3.0, 1.0]]
    winnow = fast.play(learners.Winnow(2, 4.0, 3.0), losses.perceptron_loss(X, [1, -1], 4.0))
    assert winnow.points.tolist() == [[1.0, 1.0], [3.0, 9.0]] and winnow.last.tolist() == [1 / 9, 3.0]


def test_hedge_gives_even_hopeless_experts_their_exact_weight():
    """Experts that lie 20, 45, 300 and 700 behind have weights e^−20 … e^−700 times the leader's."""
    behind = np.array([0.0, 20.0, 45.0, 300.0, 700.0])
    w = fast.play(learners.Hedge(5, 1.0), behind[None, :]).last
    np.testing.assert_allclose(w / w[0], np.exp(-behind), rtol=1e-12)
    for x in [-0.0, -1e-9, -0.34, -0.35, -39.9, -40.1, -300.0, -707.9]:
        assert loops.power(x) == pytest.approx(exp(x), rel=1e-14)


def test_an_offset_common_to_all_experts_costs_no_digits():
    Z = np.random.default_rng(0).integers(0, 2**20, (2000, 5)) / 2**20  # exact also when 2^30 is added
    plain, lifted = (fast.play(learners.Hedge(5, 0.3), Z + offset).points for offset in (0.0, 2.0**30))
    np.testing.assert_allclose(lifted, plain, rtol=1e-12)


@pytest.mark.parametrize("over", EVERYWHERE, ids=repr)
def test_compiled_projections_are_those_of_the_sets(over):
    for y in np.random.default_rng(1).standard_normal((40, 3)) * np.resize([[0.3], [2.0]], (40, 1)):
        w = y.copy()
        loops.project(fast.SETS[type(over)](over), w)
        np.testing.assert_allclose(w, over.project(y), rtol=1e-12, atol=1e-12)


def test_a_projection_loses_no_digit_of_a_large_number():
    """One step at 1e16 is 2."""
    for over, y, nearest in (
        (sets.Simplex(3), [1e16, 1e16 + 2, 0.0], [0.0, 1.0, 0.0]),
        (sets.L1Ball(3, 1.0), [1e16, -1e16 - 2, 0.0], [0.0, -1.0, 0.0]),
        (sets.Ball(2, 5.0), [3.0, 4.0], [3.0, 4.0]),
        (sets.L1Ball(2, 1.0), [0.25, -0.75], [0.25, -0.75]),
    ):
        w = np.array(y)
        loops.project(fast.SETS[type(over)](over), w)
        assert w.tolist() == nearest
    assert loops.level(np.array([0.0, -0.25, -3.0]), 1.0) == -0.625


def test_late_gradients_arrive_in_the_order_of_their_delays():
    due, order = fast._late(learners.DelayedOGD(sets.Ball(2), 0.1, [2, 0, 3, 0, 7]), 4)
    assert order.tolist() == [1, 0, 3, 2] and due.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="got 2 for round 3"):
        fast.play(learners.DelayedOGD(sets.Ball(2), 0.1, [0, 1]), np.ones((3, 2)))


# ---------------------------------------------------------------- what is not compiled


class Own(learners.OGD):
    """A learner of the reader's: it looks like OGD and is not."""

    def player(self):
        return Still()


class Still:
    def __init__(self):
        self.seen = 0

    def predict(self):
        return np.full(3, 0.25)

    def update(self, loss):
        self.seen += 1


def test_what_has_no_compiled_form_is_played_by_the_loop():
    hull = sets.Hull([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    ball = sets.Ball(3)
    for learner, given in (
        (learners.OGD(hull, 0.1, "eager"), ROWS),
        (learners.OGD(ball, np.array([0.1, 0.2]), "eager"), ROWS),
        (learners.OGD(ball, 0.1, "eager"), np.stack([ROWS, -ROWS])),
        (learners.FTL(ball), ROWS),
        (learners.Linearized(learners.FTL(ball)), ROWS),
        (learners.OGD(ball, 0.1), list(ROWS)),
    ):
        assert fast._compiled(learner, given) is None
        np.testing.assert_array_equal(fast.play(learner, given).points, game.play(learner, given).points)
    assert fast.play(learners.OGD(ball, 0.1), lambda t, w, past: np.ones(3), rounds=4).rounds == 4


def test_a_subclass_is_not_taken_for_its_base():
    assert fast.play(Own(sets.Ball(3), 0.1), list(ROWS)).last.tolist() == [0.25] * 3
    assert fast._compiled(Own(sets.Ball(3), 0.1), ROWS) is None

    class Smaller(sets.Ball):
        def project(self, y):
            return np.zeros(3)

    assert fast._compiled(learners.OGD(Smaller(3), 0.1), ROWS) is None


def test_rounds_cuts_the_game():
    for given in (ROWS, OVER_DATA["hinge"]):
        learner = learners.OGD(sets.Ball(3), 0.3, "eager")
        trace = fast.play(learner, given, rounds=5)
        assert trace.rounds == 5 == len(trace.losses)
        np.testing.assert_allclose(trace.points, fast.play(learner, given).points[:5], rtol=1e-14)
        with pytest.raises(ValueError, match="rounds must be"):
            fast.play(learner, given, rounds=41)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_losses_of_another_dimension_are_refused(n):
    """Compiled code does not look where it writes."""
    for learner in (
        learners.OGD(sets.Ball(3), 0.1),
        learners.Hedge(3, 0.1),
        learners.DelayedOGD(sets.Ball(3), 0.1),
    ):
        with pytest.raises(ValueError, match=r"3 entries|the learner plays in dimension 3"):
            fast.play(learner, np.ones((9, n)))
        with pytest.raises(ValueError, match=r"of the learner, 3|round 10: z must have 3 entries"):
            fast.stream(learner, [np.ones((9, 3)), np.ones((9, n))])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e151])
def test_a_bad_number_is_named(bad):
    Z = np.ones((9, 3))
    Z[7, 1] = bad
    for over in EVERYWHERE:
        with pytest.raises(ValueError, match=r"got (nan|inf|1e\+151)"):
            fast.play(learners.OGD(over, 0.1, "eager"), Z)


def test_a_number_that_gets_too_large_is_left_to_the_loop_which_names_the_round():
    X = np.array([[2000.0, 0.0], [1.0, 1.0], [1.0, 0.0]])  # w_2 = (2^2000, 1) is too large
    with pytest.raises(ValueError, match=r"round 2"):
        fast.play(learners.Winnow(2, 3000.0), losses.perceptron_loss(X, [1, 1, 1], 3000.0))
    huge = np.full((3, 3), 1e149)  # after a step of 1e10 its square is more than the largest float
    with pytest.raises(ValueError, match="finite"):
        fast.play(learners.OGD(sets.Ball(3), 1e10, "eager"), huge)


def test_a_trace_does_not_change_with_the_data():
    Z = ROWS.copy()
    trace = fast.play(learners.OGD(sets.Ball(3), 0.1), Z)
    before = trace.regret(sets.Ball(3))
    Z[:] = 0.0
    assert trace.regret(sets.Ball(3)) == before


def test_the_memory_of_plays_is_used_again_only_when_nobody_holds_them():
    learner, given = learners.OGD(sets.Ball(3), 0.1), rng.standard_normal((40, 3))
    first = fast.play(learner, given)
    row, kept = first.points[7], first.points.copy()
    place = first.points.ctypes.data
    del first  # one row is still held
    second = fast.play(learner, given + 1.0)
    assert second.points.ctypes.data != place
    np.testing.assert_array_equal(row, kept[7])
    del row
    third = fast.play(learner, given + 2.0)
    assert third.points.ctypes.data == place
    np.testing.assert_allclose(third.points, game.play(learner, given + 2.0).points, atol=1e-12)
    np.testing.assert_allclose(second.points, game.play(learner, given + 1.0).points, atol=1e-12)


def test_the_memory_of_one_game_stays_with_the_process_and_64_megabytes_at_most():
    for T in (30, 40, fast.KEPT + 1):
        array = fast.room(T, 1)
        assert array.shape == (T, 1)
        del array
        assert list(fast.SPARE) == [min(T, 40)]


# ---------------------------------------------------------------- streams


@pytest.mark.parametrize(
    ("learner", "given"),
    [
        (learners.OGD(sets.Ball(3), learners.inverse_sqrt(0.5), "eager"), ROWS),
        (learners.OGD(sets.Ball(3), learners.inverse_sqrt(0.5)), ROWS),
        (learners.Hedge(3, 0.2), ROWS),
        (learners.Perceptron(3), losses.perceptron_loss(ROWS, SIGNS)),
        (learners.Pegasos(3, 0.1), losses.hinge(ROWS, SIGNS).regularized(0.1)),
        (learners.DelayedOGD(sets.Ball(3), 0.1, 2), ROWS),
        (learners.FTL(sets.Ball(3)), ROWS),
        (Own(sets.Ball(3), 0.1), ROWS),
    ],
    ids=["eager", "lazy", "Hedge", "Perceptron", "Pegasos", "late", "FTL", "own"],
)
def test_a_game_in_pieces_is_the_game_in_one_piece(learner, given):
    whole = game.play(learner, list(given) if isinstance(learner, Own) else given)
    streamed = fast.stream(learner, (given[cut] for cut in (slice(0, 1), slice(1, 20), slice(20, 40))))
    np.testing.assert_allclose(streamed.paid, whole.paid, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(streamed.last, whole.last, rtol=1e-12, atol=1e-12)
    u = np.array([0.3, -0.2, 0.1])
    pieces = [given[:10], given[10:]]
    assert streamed.regret(against=u, pieces=pieces) == pytest.approx(whole.regret(against=u))
    if isinstance(given, np.ndarray):
        assert streamed.regret() == pytest.approx(whole.regret(learner.over))
        assert streamed.regret(sets.Ball(3, 2.0)) == pytest.approx(whole.regret(sets.Ball(3, 2.0)))
    else:
        with pytest.raises(ValueError, match="needs all the data"):
            streamed.regret(sets.Ball(3))
        with pytest.raises(ValueError, match="pass the same pieces again"):
            streamed.regret(against=u)


class Walker:
    """A learner with `step` alone, which counts how often it was asked."""

    asked = 0

    def player(self):
        self.w = np.zeros(3)
        return self

    def predict(self):
        self.asked += 1
        return self.w

    def step(self, z):
        self.w = self.w - 0.1 * z


@pytest.mark.parametrize("given", [ROWS, OVER_DATA["hinge"], list(OVER_DATA["hinge"])], ids=type)
def test_a_learner_with_steps_alone_is_streamed_and_asked_once_a_round(given):
    learner = Walker()
    streamed = fast.stream(learner, [given[:15], given[15:]])
    assert learner.asked == 41  # and once for w_41
    whole = game.play(Walker(), given)
    np.testing.assert_array_equal(streamed.paid, whole.paid)
    np.testing.assert_array_equal(streamed.last, whole.last)


class InPlace(Walker):
    """A learner that overwrites the subgradient it is given."""

    def step(self, z):
        z *= 0.1
        self.w = self.w - z


class Sloped:
    def value(self, w):
        return 0.0

    def gradient(self, w):
        return 0 * w


def test_a_stream_gives_copies_and_names_the_round_of_an_error():
    streamed = fast.stream(InPlace(), [ROWS[:15], ROWS[15:]])
    np.testing.assert_array_equal(streamed.paid, game.play(Walker(), ROWS).paid)
    with pytest.raises(ValueError, match=r"^round 41: a loss must have .* rename its method `gradient`"):
        fast.stream(Walker(), [ROWS, [Sloped()]])
    assert re.fullmatch(r"Stream\(InPlace: 40 rounds, dimension 3, mean loss \S+\)", repr(streamed))


def test_a_stream_without_a_set_asks_for_one():
    streamed = fast.stream(Walker(), [ROWS])
    with pytest.raises(ValueError, match=r"Walker has no set `over`: name one, regret\(over=…\)"):
        streamed.regret()
    assert streamed.regret(sets.Ball(3)) == pytest.approx(game.play(Walker(), ROWS).regret(sets.Ball(3)))
    with pytest.raises(ValueError, match="Own has no minimize_linear"):
        streamed.regret(Own(sets.Ball(3), 0.1))


def test_a_stream_refuses_what_play_refuses():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"got a DataFrame; write losses.to_numpy\(\)"):
        fast.stream(Walker(), [pandas.DataFrame(ROWS)])
    with pytest.raises(ValueError, match="Perceptron plays perceptron_loss"):
        fast.stream(learners.Perceptron(3), [ROWS])


def test_pieces_that_do_not_fit_together_are_refused():
    learner = learners.OGD(sets.Ball(3), 0.1)
    with pytest.raises(ValueError, match="of one kind"):
        fast.stream(learner, [ROWS, OVER_DATA["hinge"]])
    with pytest.raises(ValueError, match="of one kind"):
        fast.stream(learner, [OVER_DATA["hinge"], OVER_DATA["logistic"]])
    with pytest.raises(ValueError, match="must not be empty"):
        fast.stream(learner, [])
    with pytest.raises(ValueError, match=r"got one Linear; write \[\[loss\], …\]"):
        fast.stream(learner, (losses.Linear(z) for z in ROWS))
    with pytest.raises(ValueError, match="finite"):
        fast.stream(learner, [np.full((2, 3), np.nan)])
    with pytest.raises(ValueError, match=r"a piece must be an array \(B, n\) .*got shape \(3,\)"):
        fast.stream(learner, ROWS)


def test_a_stream_says_in_which_round_a_payment_is_not_finite():
    X = np.array([[1.0, 0.0], [2000.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    pieces = [losses.perceptron_loss(X[[t]], [1.0], 5000.0) for t in range(4)]
    with pytest.raises(ValueError, match="in round 3"):
        fast.stream(learners.Winnow(2, 5000.0), pieces)


def test_pieces_are_counted_where_somebody_may_look(monkeypatch):
    tqdm, asked = pytest.importorskip("tqdm"), []
    monkeypatch.setattr(tqdm, "tqdm", lambda pieces, **how: asked.append(how) or pieces)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for looking in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda looking=looking: looking, raising=False)
        fast.stream(learners.OGD(sets.Ball(3), 0.1), [ROWS[:2], ROWS[2:4]])
        assert asked == [{"delay": 2, "unit": "piece"}] * looking


def test_without_numba_the_loop_plays(monkeypatch):
    learner, data = learners.Perceptron(3), losses.perceptron_loss(ROWS, SIGNS)
    expected = fast.play(learner, data)
    monkeypatch.setattr(fast, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "ocolab.fast.loops", None)
    np.testing.assert_allclose(fast.play(learner, data).points, expected.points, atol=1e-12)
    np.testing.assert_allclose(fast.stream(learner, [data]).paid, expected.paid, atol=1e-12)


SECOND = """
import json
import numpy as np
from ocolab import fast
from ocolab.fast import loops
from ocolib import learners, losses, sets
Z, y = np.random.default_rng(0).standard_normal((50, 3)), np.resize([1.0, -1.0], 50)
for learner in (learners.OGD(sets.Ball(3), 0.1, "eager"), learners.Hedge(3, 0.1)):
    fast.play(learner, Z)
fast.play(learners.Perceptron(3), losses.perceptron_loss(Z, y))
kernels = loops.linear, loops.descent
made = [len(kernel.stats.cache_misses) for kernel in kernels], [len(kernel.signatures) for kernel in kernels]
print(json.dumps(made))
"""


def test_a_second_process_compiles_nothing():
    compiling = os.environ | {"NUMBA_DISABLE_JIT": "0"}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SECOND], env=compiling, capture_output=True, text=True, check=True
        )
    assert json.loads(done.stdout) == [[0, 0], [2, 1]]


class Plain:
    """A leader over the simplex that is played by its own player; `mass` 2 plays outside."""

    def __init__(self, mass=1.0):
        self.over, self.mass = sets.Simplex(3), mass

    def player(self):
        return learners.Hedge(3, 0.1).player() if self.mass == 1.0 else Doubled()


class Doubled:
    def predict(self):
        return np.full(3, 2 / 3)

    def step(self, z):
        pass


@pytest.mark.parametrize(
    "learner",
    [
        learners.Hedge(3, 0.1),
        learners.OGD(sets.Simplex(3), 0.01),
        learners.OGD(sets.Simplex(3), 0.01, "eager"),
        Plain(),
    ],
    ids=["hedge", "lazy", "eager", "own"],
)
def test_a_large_offset_costs_a_compiled_or_streamed_game_no_digits(learner):
    Z = np.round(np.random.default_rng(3).random((600, 3)) * 2**20) / 2**20  # 1e9 + Z is exact
    near = game.play(learner, Z)
    streamed = fast.stream(learner, np.array_split(1e9 + Z, 7))
    assert fast.play(learner, 1e9 + Z).points == pytest.approx(near.points, abs=1e-12)
    assert streamed.regret() == pytest.approx(near.regret(), rel=1e-11)
    assert streamed.regret(over=sets.Simplex(3)) == streamed.regret()
    assert streamed.regret(against=[0, 1, 0]) == pytest.approx(near.regret(against=[0, 1, 0]), rel=1e-11)
    assert streamed.paid == pytest.approx(1e9 + near.paid, rel=1e-15)


@pytest.mark.parametrize("learner", [learners.Hedge(3, 0.1), Plain()], ids=["hedge", "own"])
def test_an_offset_of_all_rounds_but_one_costs_no_digits(learner):
    Z = np.round(np.random.default_rng(3).random((60, 3)) * 2**20) / 2**20
    Z[7, 0] = 0.0
    offset = np.where(np.arange(60) == 7, 0.0, 1e9)[:, None]
    near = game.play(learner, Z)
    assert fast.stream(learner, [Z + offset]).regret() == pytest.approx(near.regret(), rel=1e-11)


def test_an_offset_that_a_play_or_a_rival_avoids_counts():
    Z = np.full((4, 3), 10.0)
    assert fast.stream(Plain(2.0), [Z]).regret() == pytest.approx(4 * (20.0 - 10.0))
    assert fast.stream(learners.Hedge(3, 0.1), [Z]).regret(against=[0, 0, 0]) == pytest.approx(40.0)
    assert fast.stream(learners.Hedge(3, 0.1), [Z]).regret(sets.Box([0] * 3, [1] * 3)) == pytest.approx(40.0)


def test_a_game_that_stops_early_is_a_compiled_one_too():
    data, learner = (
        losses.hinge(np.random.default_rng(0).standard_normal((6, 2)), np.ones(6)),
        learners.OGD(sets.Ball(2), 0.5),
    )
    for rounds in (1, 3, 6):
        assert type(fast.play(learner, data, rounds)) is fast.Played
        np.testing.assert_allclose(
            fast.play(learner, data, rounds).points, game.play(learner, data, rounds).points
        )
    for rounds in (0, 7):
        with pytest.raises(ValueError, match="rounds"):
            fast.play(learner, data, rounds)


def test_a_point_pays_in_every_piece():
    Z, u = np.random.default_rng(0).standard_normal((6, 2)), np.array([0.3, -0.4])
    assert fast._cost(Z, u) == pytest.approx(sum(z @ u for z in Z))
    assert fast._cost(losses.hinge(Z, np.ones(6)), u) == pytest.approx(sum(max(0.0, 1 - z @ u) for z in Z))
    assert fast._cost([losses.Linear(z) for z in Z], u) == pytest.approx(sum(z @ u for z in Z))


@pytest.mark.parametrize("reg", [0.4, 1.9])
def test_a_play_that_shrinks_or_grows_ten_orders_of_magnitude_pays_as_in_the_loop(reg):
    """(1 − 2·reg)^60 is 0.2^60 or 2.8^60. In most rounds there is no step: the square is only scaled."""
    X, y = np.zeros((60, 40)), -np.ones(60)
    X[::29, :3], y[::29] = [[1.0, 2.0, 3.0]] * 3, 1.0
    data = losses.perceptron_loss(X, y, threshold=0.1).regularized(reg)
    learner = learners.OGD(sets.Space(40), 2.0, "eager")
    mine, theirs = fast.play(learner, data), game.play(learner, data)
    assert (data.phi.slope(mine.predictions, y)[1:20] == 0).all()
    np.testing.assert_allclose(mine.paid, theirs.paid, rtol=1e-9)
    np.testing.assert_allclose(mine.points, theirs.points, rtol=1e-9)


def test_a_play_with_too_many_axes_is_refused_in_a_stream():
    class Player:
        def predict(self):
            return np.zeros((1, 2))

        def step(self, z):
            pass

    class Learner:
        over = sets.Ball(2)

        def player(self):
            return Player()

    with pytest.raises(ValueError, match=r"round 1: the play must have shape \(n,\), got \(1, 2\)"):
        fast.stream(Learner(), [np.ones((3, 2))])
