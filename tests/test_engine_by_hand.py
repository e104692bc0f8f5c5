"""The parts of the engine, each alone: blocks of time, compiled sets and losses, how far a game may reach."""

import re
from math import exp

import numpy as np
import pytest

from ocolib import engine, learners, losses, phi, sets
from ocolib.blocks import blocks, inner, running
from ocolib.game import play
from ocolib.regularizers import SquaredNorm

compiled = pytest.importorskip("ocolib.compiled")

# ---------------------------------------------------------------- blocks


def test_blocks_by_hand():
    """Eight rows, or as many eights as fit into 2^16 floats."""

    def cuts(T, row):
        return [(t.start, t.stop) for t in blocks(T, row)]

    assert cuts(20, 2**16) == [(0, 8), (8, 16), (16, 20)] == cuts(20, 2**14)
    assert cuts(50, 2**12) == [(0, 16), (16, 32), (32, 48), (48, 50)] == cuts(50, 3000)
    assert cuts(5, 1) == [(0, 5)] and cuts(16, 2**13) == [(0, 8), (8, 16)]
    assert cuts(2**16 + 1, 1) == [(0, 2**16), (2**16, 2**16 + 1)]


@pytest.mark.parametrize(
    "shape",
    [(300, 16), (257, 16), (3, 100, 20), (5, 3), (2, 7, 40), (8, 600), (7, 600), (2000, 15), (2, 8, 256)],
)
def test_running_sums_of_whole_numbers(shape):
    rng = np.random.default_rng(0)
    Z = rng.integers(-9, 9, shape).astype(float)
    before = rng.integers(-9, 9, (*shape[:-2], 1, shape[-1])).astype(float)
    out, kept = np.full(shape, np.nan), before.copy()
    running(Z, before, out)
    expected = np.empty(shape)
    total = before[..., 0, :].copy()
    for t in range(shape[-2]):
        total += Z[..., t, :]
        expected[..., t, :] = total
    assert np.array_equal(out, expected) and np.array_equal(before, kept)
    assert np.array_equal(inner(Z, before), (Z * before).sum(axis=-1))


def test_levelled_sums_are_the_sums_less_a_number_a_row():
    rng = np.random.default_rng(0)
    Z, before = rng.integers(-9, 9, (300, 16)).astype(float), rng.integers(-9, 9, (1, 16)).astype(float)
    plain, level = np.empty_like(Z), np.empty_like(Z)
    running(Z, before, plain)
    running(Z, before, level, level=True)
    assert plain.tolist() == (before + np.cumsum(Z, axis=0)).tolist()
    taken = (plain - level)[:, 0]
    assert (plain - level == taken[:, None]).all()
    begins = np.vstack([before, plain[7:295:8]]).min(axis=1)  # the least before each group of eight
    assert taken.tolist() == [*np.repeat(begins, 8)[:296], *[begins[-1]] * 4]


# ---------------------------------------------------------------- compiled parts


def test_powers():
    for x in [-0.0, -1e-9, -0.1, -0.34, -0.35, -1.0, -2.5, -50.0, -300.0, -707.9]:
        assert compiled.power(x) == pytest.approx(exp(x), rel=1e-14)
    assert compiled.power(-1e9) == compiled.power(-708.0) == pytest.approx(exp(-708.0), rel=1e-12)


LOSSES = {
    "perceptron": losses.perceptron_loss([[1.0]], [1.0], 0.25, 0.5).phi,
    "hinge": losses.hinge([[1.0]], [1.0], 0.5).phi,
    "tube": phi.TubeLoss(2.0, 0.5, 0.75),
} | {loss.name: loss for loss in compiled.SMOOTH}


@pytest.mark.parametrize("name", LOSSES)
def test_slopes(name):
    loss = LOSSES[name]
    made = engine.code(loss)
    for y in (-1.0, 1.0):
        for p in (-2.0, -1.75, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.75, 3.0):
            assert compiled.slope(*made, p, y) == pytest.approx(loss.slope(p, y), rel=1e-15)
    assert compiled.slope(compiled.LINEAR, 0.0, 0.0, 0.0, 5.0, 7.0) == 1.0
    assert engine.code(phi.SOFTMAX) is None


def test_the_level_of_what_is_poured():
    assert compiled.level(np.array([0.0, -0.25, -3.0]), 1.0) == -0.625
    assert compiled.level(np.array([0.0, -2.0]), 1.0) == -1.0
    assert compiled.level(np.array([-1.0, 0.0, -1.0]), 4.0) == -2.0
    assert compiled.level(np.array([0.0, -1.0]), 1.0) == -1.0
    assert compiled.level(np.array([0.0]), 3.0) == -3.0


@pytest.mark.parametrize(
    "over",
    [
        sets.Space(3),
        sets.Orthant(3),
        sets.Ball(3, 1.5, [1.0, 0.0, -2.0]),
        sets.Box([-1.0, 0.0, 1.0], [1.0, 0.5, 2.0]),
        sets.Halfspace([2.0, -1.0, 2.0], 1.5),
        sets.Simplex(3),
        sets.L1Ball(3, 1.5),
    ],
    ids=lambda over: type(over).__name__,
)
def test_projections(over):
    for y in np.random.default_rng(1).standard_normal((40, 3)) * np.resize([[0.3], [2.0]], (40, 1)):
        w = y.copy()
        compiled.project(engine.geometry(over), w)
        assert w == pytest.approx(over.project(y), rel=1e-12, abs=1e-12)


def test_a_point_of_the_set_stays_to_the_last_bit():
    for over, y in (
        (sets.Ball(2, 5.0), [3.0, 4.0]),
        (sets.Ball(2, 5.0), [0.1, 0.7]),
        (sets.Ball(1, 0.1, [0.1]), [1e-18]),
        (sets.L1Ball(2, 1.0), [0.1, 0.9]),
        (sets.L1Ball(2, 1.0), [0.1, -0.7]),
        (sets.L1Ball(2, 1.0), [0.25, -0.75]),
        (sets.Halfspace([1.0, 0.0], 2.0), [1.9, 0.3]),
    ):
        w = np.array(y)
        compiled.project(engine.geometry(over), w)
        assert w.tolist() == y


def test_no_digit_of_a_large_number_is_lost():
    """One step at 1e16 is 2."""
    for over, y, nearest in (
        (sets.Simplex(3), [1e16, 1e16 + 2, 0.0], [0.0, 1.0, 0.0]),
        (sets.Simplex(2), [1e16 + 2, 1e16 + 2], [0.5, 0.5]),
        (sets.L1Ball(3, 1.0), [1e16, -1e16 - 2, 0.0], [0.0, -1.0, 0.0]),
    ):
        w = np.array(y)
        compiled.project(engine.geometry(over), w)
        assert w.tolist() == nearest
    w = np.empty(3)
    compiled.softmax(1.0, np.array([2000.0, 2001.0, 2002.0]), w)
    assert w == pytest.approx(np.array([1.0, exp(-1), exp(-2)]) / (1 + exp(-1) + exp(-2)), rel=1e-14)


def test_a_set_without_a_compiled_form():
    assert engine.geometry(sets.Hull([[0.0], [1.0]])) is None
    with pytest.raises(LookupError, match="no compiled form of OGD"):
        engine.Rounds(learners.OGD(sets.Hull([[0.0], [1.0]]), 0.1))
    with pytest.raises(LookupError, match="no compiled form"):
        engine.Rounds(learners.FTL(sets.Ball(2)))
    with pytest.raises(LookupError, match="no compiled form"):
        engine.Rounds(learners.Linearized(learners.FTL(sets.Ball(2))))
    for eta in (np.array([0.1, 0.2]), lambda t: np.array([0.1, 0.2]) / t):
        with pytest.raises(LookupError, match="no compiled form"):
            engine.Rounds(learners.OGD(sets.Ball(2), eta))


def test_what_a_leader_does_with_the_sum():
    total, w, start = np.array([1.0, -2.0, 0.5]), np.empty(3), np.array([0.5, 0.0, 1.0])
    over = engine.geometry(sets.Box([-9.0] * 3, [0.8] * 3))
    compiled.softmax(0.4, total, w)
    powers = np.exp(-0.4 * total)
    assert w == pytest.approx(powers / powers.sum(), rel=1e-14)
    compiled.lead(compiled.SOFTMAX, 0.7, start, total, over, w)
    assert w == pytest.approx(np.exp(-0.7 * total) / np.exp(-0.7 * total).sum(), rel=1e-14)
    compiled.lead(compiled.POWER, 3.0, start, total, over, w)
    assert w == pytest.approx([1 / 3, 9.0, 3**-0.5])
    compiled.lead(compiled.LAZY, 0.4, start, total, over, w)
    assert w == pytest.approx([0.1, 0.8, 0.8])
    assert compiled.inner(total, start) == 1.0


# ---------------------------------------------------------------- games


def test_who_wants_compiled_rounds(monkeypatch):
    assert engine.LONG == 20_000 and engine.KEPT == 256 * 2**20
    assert engine.wanted(None, 20_000) and not engine.wanted(None, 19_999)
    assert engine.wanted("compiled", 1) and not engine.wanted("numpy", 10**6)
    with pytest.raises(ValueError, match="engine must be"):
        engine.wanted("fast", 1)
    monkeypatch.setattr(engine, "present", lambda: False)
    assert not engine.wanted(None, 10**6) and not engine.wanted("numpy", 1)
    with pytest.raises(ValueError, match="where numba is not installed"):
        engine.wanted("compiled", 1)


Z = np.array([[3.0, 0.0], [0.0, -4.0], [1.0, 1.0]])


def test_plays_are_kept_up_to_a_size(monkeypatch):
    learner = learners.OGD(sets.Ball(2), 0.1)
    monkeypatch.setattr(engine, "KEPT", Z.nbytes)
    assert engine.played(learner, Z, None, "compiled").points is not None
    monkeypatch.setattr(engine, "KEPT", Z.nbytes - 1)
    assert engine.played(learner, Z, None, "compiled").points is None
    assert engine.played(learner, Z, True, "compiled").points is not None
    assert engine.played(learner, np.stack([Z, Z]), True, "compiled") is None
    assert engine.played(learner, Z, True, "numpy") is None


@pytest.mark.parametrize("eta", [0.5, 3.0])
def test_how_far_a_game_may_reach(eta):
    """From where it starts: T steps, each no longer than the root of all squares."""
    over = sets.Ball(2, 9.0, [1.0, 0.0])
    rounds = engine.Rounds(learners.OGD(over, eta, "eager", [2.0, -3.0]))
    assert rounds.reach == 3.0 + 3.0 and rounds.total is None
    rounds.play(Z, keep=False)
    reach = 6.0 + max(1.0, eta) * 3 * 27**0.5
    assert rounds.reach == pytest.approx(reach) and rounds.t == 3
    rounds.play(Z[:2], keep=False)
    assert rounds.reach == pytest.approx(reach + max(1.0, eta) * 5 * 5.0) and rounds.t == 5


@pytest.mark.parametrize("reg", [0.0, 0.5])
def test_how_far_a_game_over_data_may_reach(reg):
    """With reg also its part of the gradient, reg·‖w‖, and ‖w‖ itself, which the payments bound."""
    X, y = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([1.0, -1.0])
    data = losses.hinge(X, y)
    data = data.regularized(reg) if reg else data
    rounds = engine.Rounds(learners.OGD(sets.Space(2), 1.5, "eager", [0.0, 1.0]))
    played = rounds.play(data, keep=False)
    # m = 2: no loss at (0, 1); with reg it moves to (0, ¼), where m = ¼
    w, paid = (np.array([0.0, 1.0]), [0.0, 0.0]) if not reg else (np.array([0.0, 0.25]), [0.25, 0.765625])
    assert played.paid == pytest.approx(paid)
    length = np.sqrt(2 * max(paid) / reg) if reg else 0.0
    most = data.steepest(played.predictions)
    assert rounds.reach == pytest.approx(2.0 + 1.5 * 2 * (most + reg * length) + length)
    assert played.predictions == pytest.approx([2.0, X[1] @ w])


def test_the_longest_step_of_a_schedule_counts():
    rounds = engine.Rounds(learners.OGD(sets.Ball(2), learners.inverse(3.0)))
    rounds.play(Z, keep=False)
    assert rounds.reach == pytest.approx(3.0 * 3 * 27**0.5)


def test_a_late_game_reaches_as_far_as_its_rows():
    rounds = engine.Rounds(learners.DelayedOGD(sets.Ball(2), 0.1, 1))
    rounds.play(Z, keep=True)
    assert rounds.reach == pytest.approx(3 * 4.0 * 2)


def test_what_is_near_the_limit_is_left_to_the_loop(monkeypatch):
    learner = learners.OGD(sets.Ball(2), 0.5)
    edge = 3 * 27**0.5
    monkeypatch.setattr(learners, "SMALL", 1.001 * edge)
    assert engine.played(learner, Z, True, "compiled") is not None
    monkeypatch.setattr(learners, "SMALL", 0.999 * edge)
    assert engine.played(learner, Z, True, "compiled") is None
    assert play(learner, Z, engine="compiled").points == pytest.approx(play(learner, Z).points)


def test_who_is_late():
    due, order = engine._late(learners.DelayedOGD(sets.Ball(2), 0.1, [2, 0, 3, 0, 7]), 4)
    assert order.tolist() == [1, 0, 3, 2] and due.tolist() == [0, 1, 2, 3]
    due, order = engine._late(learners.DelayedOGD(sets.Ball(2), 0.1, 1), 3)
    assert order.tolist() == [0, 1, 2] and due.tolist() == [0, 1, 2]
    due, order = engine._late(learners.DelayedOGD(sets.Ball(2), 0.1, [1, 0]), 2)
    assert order.tolist() == [0, 1] and due.tolist() == [0, 2]
    with pytest.raises(ValueError, match="got 2 for round 3"):
        engine._late(learners.DelayedOGD(sets.Ball(2), 0.1, [0, 1]), 3)


@pytest.mark.parametrize("engine_name", ["compiled", "numpy"])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_losses_of_another_dimension_are_refused(n, engine_name):
    """Compiled code does not look where it writes."""
    ball = sets.Ball(3)
    for learner in (
        learners.OGD(ball, 0.1),
        learners.OGD(ball, 0.1, "eager"),
        learners.DelayedOGD(ball, 0.1, 2),
        learners.Hedge(3, 0.1),
        learners.FTL(ball),
        learners.Perceptron(3),
        learners.Winnow(3, 1.0),
    ):
        with pytest.raises(ValueError, match=r"must have (3 entries|the dimension of the learner, 3)"):
            play(learner, np.ones((9, n)), engine=engine_name)
    with pytest.raises(LookupError, match=f"dimension 3, the losses have {n}"):
        engine.Rounds(learners.OGD(ball, 0.1)).play(np.ones((9, n)), keep=False)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e151])
def test_a_bad_number_in_a_long_game_is_named(bad):
    Z = np.ones((9, 3))
    Z[7, 1] = bad
    everywhere = sets.Space(3), sets.Ball(3), sets.Box([-1.0] * 3, [1.0] * 3), sets.Simplex(3), sets.L1Ball(3)
    for over in everywhere:
        for projection in ("lazy", "eager"):
            with pytest.raises(ValueError, match=re.escape(f"got {bad} in it")):
                play(learners.OGD(over, 0.1, projection), Z, engine="compiled")


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("keep", [True, False])
def test_the_next_prediction_is_known_before_the_step(n, keep):
    """⟨w − s·x, x'⟩ = ⟨w, x'⟩ − s·⟨x, x'⟩, for few numbers and many, with a regulariser and without."""
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((150, n)), rng.choice([-1.0, 1.0], 150)
    for data in (losses.hinge(X, y), losses.hinge(X, y).regularized(0.3), losses.logistic(X, y)):
        learner = learners.OGD(sets.Space(n), 0.1, "eager", rng.standard_normal(n))
        fast, plain = (play(learner, data, engine=name, keep=keep) for name in ("compiled", "numpy"))
        for name in ("points", "paid", "last", "subgradients"):
            assert getattr(fast, name) == pytest.approx(getattr(plain, name), rel=1e-11, abs=1e-12)


def test_moves_by_hand():
    ball = sets.Ball(2, 9.0)
    lazy = engine.moves(learners.OGD(ball, 0.1, start=[1.0, 2.0]))
    assert (lazy.over, lazy.eta, lazy.rule) == (ball, 0.1, compiled.LAZY) and lazy.start.tolist() == [
        1.0,
        2.0,
    ]
    assert engine.moves(learners.FTRL(ball, SquaredNorm(), 0.1)).start.tolist() == [0.0, 0.0]
    hedge = engine.moves(learners.Linearized(learners.Hedge(4, 0.3)))
    assert (hedge.eta, hedge.rule) == (0.3, compiled.SOFTMAX) and hedge.start.tolist() == [0.25] * 4
    perceptron = engine.moves(learners.Perceptron(3))
    assert (perceptron.eta, perceptron.rule) == (1.0, compiled.EAGER) and perceptron.start.tolist() == [
        0.0
    ] * 3
    winnow = engine.moves(learners.Winnow(3, 1.5, 4.0))
    assert (winnow.eta, winnow.rule) == (4.0, compiled.POWER) and winnow.start.tolist() == [1.0] * 3


@pytest.mark.parametrize("reg", [2.0, 11.0, 25.0])
def test_a_scale_that_shrinks_or_grows_for_long(reg):
    """A step on ½·reg·‖w‖² multiplies by 1 − η·reg: 0.8, −0.1 or −1.5; over two hundred rounds."""
    rng = np.random.default_rng(2)
    data = losses.hinge(rng.standard_normal((200, 3)), rng.choice([-1.0, 1.0], 200)).regularized(reg)
    learner = learners.OGD(sets.Space(3), 0.1, "eager", [1.0, -1.0, 0.5])
    fast, plain = (play(learner, data, engine=name) for name in ("compiled", "numpy"))
    for name in ("points", "paid", "last"):
        ours, theirs = getattr(fast, name), getattr(plain, name)
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_a_long_kernel_game_in_blocks(monkeypatch):
    rng = np.random.default_rng(3)
    data = losses.perceptron_loss(rng.standard_normal((1100, 2)), rng.choice([-1.0, 1.0], 1100))
    asked = []

    def kernel(A, B):
        asked.append((len(A), len(B)))
        return (1.0 + A @ B.T) ** 2

    learner = learners.KernelPerceptron(kernel)
    fast = engine.kernel(learner, learner.sees(data), "compiled")
    sizes = [b for _, b in asked]
    slow = play(learner, data, engine="numpy")
    assert fast[0] == pytest.approx(slow.scores, rel=1e-9, abs=1e-9)
    assert np.array_equal(fast[1], slow.coefficients) and sizes == [512, 512, 512, 76, 76]
    assert engine.kernel(learner, data[:1999], None) is None, "from a tenth of the usual length"
    monkeypatch.setattr(engine, "wanted", lambda engine, rounds: rounds == 50)
    assert (
        engine.kernel(learner, data[:4], None) is None and engine.kernel(learner, data[:5], None) is not None
    )


def test_a_block_of_a_kernel_game():
    """Two updates at ties, then one by a wrong sign; what was known before counts."""
    K = np.array([[1.0, -1.0, 2.0], [-1.0, 1.0, 0.5], [2.0, 0.5, 1.0]])
    scores, coefficients = np.array([0.0, 1.0, 0.25]), np.zeros(3)
    loss = engine.code(phi.PerceptronLoss())
    compiled.expansion(K, loss, np.array([1.0, -1.0, -1.0]), scores, coefficients)
    assert coefficients.tolist() == [1.0, -1.0, -1.0] and scores.tolist() == [0.0, 0.0, 1.75]


# ---------------------------------------------------------------- whole games: compiled, and round by round

rng = np.random.default_rng(7)
ROWS = np.vstack([rng.standard_normal((9, 3)), np.zeros((2, 3)), 2 * rng.standard_normal((9, 3))])
SIGNS, REALS = rng.choice([-1.0, 1.0], 20), rng.standard_normal(20)


def flicker(t):
    return 0.3 if t % 3 else 0.1


PLAYERS = {
    "eager, ball": learners.OGD(sets.Ball(3, 0.7, [0.2, 0.0, -0.1]), 0.3, "eager"),
    "eager, space": learners.OGD(sets.Space(3), flicker, "eager"),
    "eager, box": learners.OGD(sets.Box([-0.2] * 3, [0.3] * 3), learners.inverse(0.7), "eager"),
    "eager, simplex": learners.OGD(sets.Simplex(3), 0.3, "eager"),
    "lazy, ball": learners.OGD(sets.Ball(3, 0.7, [0.2, 0.0, -0.1]), 0.3),
    "lazy, space": learners.OGD(sets.Space(3), flicker, start=[0.5, -0.5, 0.1]),
    "lazy, halfspace": learners.OGD(sets.Halfspace([1.0, 2.0, 2.0], 0.3), 0.3),
    "Hedge": learners.Linearized(learners.Hedge(3, flicker)),
    "late, ball": learners.DelayedOGD(sets.Ball(3, 0.7), flicker, 2),
    "late, space": learners.DelayedOGD(sets.Space(3), learners.inverse(0.7), [t * t % 5 for t in range(20)]),
}
DATA = {
    "linear": ROWS,
    "hinge": losses.hinge(ROWS, SIGNS),
    "perceptron": losses.perceptron_loss(ROWS, SIGNS, 0.3, 0.5),
    "quantile": losses.quantile(ROWS, REALS, 0.3),
    "logistic": losses.logistic(ROWS, SIGNS),
}


def alike(learner, data):
    """The compiled game is that of the loop, which knows nothing of it."""
    fast, plain = (play(learner, data, engine=name) for name in ("compiled", "numpy"))
    assert fast.again is not None and plain.again is None
    for name in ("points", "subgradients", "paid", "last"):
        assert getattr(fast, name) == pytest.approx(getattr(plain, name), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize(
    ("name", "reg"), [(name, reg) for name in DATA for reg in (0.0, 0.4)[: 1 + (name != "linear")]]
)
def test_compiled_games_are_those_of_the_loop(player, name, reg):
    alike(PLAYERS[player], DATA[name].regularized(reg) if reg else DATA[name])


def test_compiled_learners_of_examples():
    signs = losses.perceptron_loss(ROWS, SIGNS)
    for learner in (learners.Perceptron(3), learners.Perceptron(3, 0.5), learners.NormalizedWinnow(3, 0.4)):
        alike(learner, signs)
    alike(learners.Winnow(3, 1.5), losses.perceptron_loss(np.abs(np.sign(ROWS)), SIGNS, 1.5))
