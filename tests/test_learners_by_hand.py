"""Every learner once more as a loop over its rule, and what a game leaves behind."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from ocolib import comparators
from ocolib.game import loop, play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    DelayedOGD,
    Hedge,
    KernelPerceptron,
    Linearized,
    NormalizedWinnow,
    OnlineSVM,
    Pegasos,
    Perceptron,
    Winnow,
    inverse,
    inverse_sqrt,
    small,
    step_at,
    steps,
)
from ocolib.losses import Example, Linear, PerceptronLoss, Quadratic, hinge, logistic, perceptron_loss
from ocolib.regularizers import SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, L1Ball, Orthant, Simplex, Space

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
        assert loop(learner, Z) == pytest.approx(np.array(expected))
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
    assert loop(Hedge(3, 0.4), losses) == pytest.approx(expected)


def test_a_leader_uses_the_step_of_the_last_round():
    linear = np.array([[1.0], [1.0], [1.0]])
    learner = FTRL(Space(1), SquaredNorm([2.0]), inverse(0.6))
    assert plays(play(learner, linear))[:, 0] == pytest.approx([2.0, 1.4, 1.4, 1.4])
    assert loop(learner, linear)[:, 0] == pytest.approx([2.0, 1.4, 1.4, 1.4])
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
    steps(lambda t: asked.append(np.ndim(t)) or 1.0 / t, 50)
    assert len(asked) < 10, "a schedule that takes all t is not asked fifty times"
    assert step_at(inverse(2.0), 4) == 0.5
    with pytest.raises(ValueError, match=r"eta\(3\) must be finite and > 0"):
        steps(lambda t: 3.0 - float(t), 4)


def cheating(t):
    """The right steps for one t, others for many."""
    return 1.0 / t if np.ndim(t) == 0 else 1.0 / np.where(np.arange(len(t)) == len(t) - 1, 7.0, t)


def test_a_schedule_that_answers_otherwise_for_many_is_asked_one_by_one():
    assert steps(cheating, 5) == pytest.approx([1.0, 0.5, 1 / 3, 0.25, 0.2])
    assert steps(lambda t: 1.0 / t if np.ndim(t) == 0 else np.ones(2), 3) == pytest.approx([1.0, 0.5, 1 / 3])


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
        assert loop(learner, games) == pytest.approx(learner.points(games))
        assert play(learner, games, rounds=3).points == pytest.approx(learner.points(games)[:, :3])


def test_a_schedule_is_tried_before_it_is_kept():
    for learner in (lambda eta: OGD(DISK, eta), lambda eta: FTRL(DISK, SquaredNorm(), eta)):
        with pytest.raises(ValueError, match=r"eta\(1\) must be finite and > 0"):
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
        (lambda: play(OGD(Space(3), 0.1), hinge(X, Y)), "dimension of the learner, 3, got 2"),
        (lambda: play(OGD(Space(3), 0.1), [Linear([1.0, 2.0])]), "dimension of the learner, 3, got 2"),
        (lambda: play(FTL(DISK), Z).regret(), "either a set"),
        (lambda: play(FTL(DISK), Z).regret(DISK, [0, 0]), "either a set"),
        (lambda: play(FTL(DISK), Z).regret(Ball(3)), "over must have dimension 2"),
        (lambda: play(FTL(DISK), Z).dynamic_regret(Z[:3]), r"comparators must have shape \(4, 2\)"),
        (lambda: play(FTL(DISK), Z).dynamic_regret(np.stack([Z] * 2)), "comparators must have shape"),
        (lambda: play(FTL(DISK), Z).mistakes, "belong to losses over data"),
        (lambda: play(OGD(Space(2), 0.1), logistic(X, Y)).regret(L1Ball(2)), "oracle.regret"),
        (lambda: play(Perceptron(2), hinge(X, Y)), "plays perceptron_loss"),
        (lambda: play(Perceptron(2), perceptron_loss(X, Y, 0.5)), "threshold=0"),
        (lambda: OGD(DISK, 0.1, start=[2.0, 0.0]), "start must lie in"),
        (lambda: OGD(DISK, 0.1, "busy"), "projection must be"),
        (lambda: FTL(DISK).points(Z[0]), r"Z must have shape \(..., T, n\)"),
        (lambda: play(FTL(DISK), hinge(X, Y)), "sums its losses exactly"),
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

    with pytest.raises(ValueError, match="every play must be finite, got nan in round 3"):
        play(Broken(), Z)
    with pytest.raises(ValueError, match="every play must be finite, got nan in round 3"):
        play(Broken(), np.stack([Z, Z]))


# ---------------------------------------------------------------- plain loops over data

LOUD = [
    lambda data: play(OGD(Space(1), 1e60, "eager"), data, engine="numpy"),
    lambda data: play(OGD(Space(1), inverse_sqrt(1e60), "eager"), data, engine="numpy"),
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


def test_small_by_hand():
    """|start| + √(number of moves · their squares) < 1e120."""
    moves = 1e119 * np.array([[3.0], [0.0], [4.0], [0.0]])  # the root is 2·5e119
    assert not small(np.zeros(2), moves) and small(np.zeros(2), 0.99 * moves)
    assert small(np.array([0.0, -4.9e119]), moves / 2) and not small(np.array([0.0, -5.1e119]), moves / 2)


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
    trace = play(OGD(Ball(2, 3.0), inverse(0.9), projection), data, engine="numpy")
    assert trace.points == pytest.approx(np.array(expected)) and trace.last == pytest.approx(w)
    assert trace.subgradients == pytest.approx(np.array(gradients))
    assert any(not z.any() for z in gradients[:-1]) or reg


def test_leaders_with_an_entropy_on_the_orthant():
    learner = FTRL(Orthant(2), UnnormalizedEntropy(), 0.5)
    sums = np.vstack([np.zeros(2), np.cumsum(Z, axis=0)])
    assert learner.points(Z) == pytest.approx(np.exp(-0.5 * sums)) == loop(learner, Z)


@pytest.mark.parametrize("shape", [(1003, 20), (2, 517, 16), (4100, 17), (300, 20)])
@pytest.mark.parametrize("drift", [-3.0, 0.0, 3.0])
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


def test_a_schedule_that_cheats_at_its_first():
    def eta(t):
        return 1.0 / t if np.ndim(t) == 0 else 1.0 / np.where(np.arange(len(t)) == 0, 7.0, t)

    assert steps(eta, 3) == pytest.approx([1.0, 0.5, 1 / 3])
    assert steps(inverse(2.0), 3, before=2) == pytest.approx([2 / 3, 0.5, 0.4]) and len(steps(0.5, 1)) == 1


# ---------------------------------------------------------------- traces


def test_a_trace_is_frozen_and_itself():
    trace = play(OGD(DISK, 0.1), Z)
    kernel = play(KernelPerceptron(lambda A, B: A @ B.T), perceptron_loss(X, Y))
    for left, again in ((trace, play(OGD(DISK, 0.1), Z)), (kernel, kernel.__class__(**vars(kernel)))):
        assert left == left and left != again and len({left, again}) == 2
        with pytest.raises(FrozenInstanceError):
            left.losses = None
    with pytest.raises(AttributeError, match="a trace has no weights"):
        _ = trace.weights


def test_what_a_compiled_trace_has_not_kept():
    pytest.importorskip("numba")
    rows, signs = np.vstack([[0.0, 0.0], [1.0, 0.0], X]), np.append([1.0, 1.0], Y)
    for learner, data in (
        (Perceptron(2), perceptron_loss(rows, signs)),
        (OGD(DISK, 0.3, "eager"), hinge(rows, signs).regularized(0.2)),
        (OGD(DISK, 0.3, "eager"), hinge(rows, signs)),
        (OGD(DISK, 0.3, "eager"), rows),
    ):
        trace, plain = play(learner, data, keep=False, engine="compiled"), play(learner, data, engine="numpy")
        assert "points" not in vars(trace) and trace.again is not None and plain.again is None
        with pytest.raises(AttributeError, match="a trace has no weights"):
            _ = trace.weights
        for name in ("points", "subgradients") + ("updates", "mistakes", "margins") * (data is not rows):
            assert getattr(trace, name) == pytest.approx(getattr(plain, name))
        assert "points" in vars(trace)


def test_curves_of_the_best_over_data():
    trace = play(OGD(DISK, 0.3), hinge(X, Y))
    curve = trace.regret_curve(DISK)
    least = [comparators.best(hinge(X, Y)[:t], DISK).value for t in range(1, 8)]
    assert curve == pytest.approx(np.cumsum(trace.paid) - least, abs=1e-6)
