"""The engines: compiled rounds, blocks over time and the plain loop give the same trace."""

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import sets, vectors

from ocolib import engine, losses
from ocolib import sets as room
from ocolib.game import play
from ocolib.learners import (
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
)
from ocolib.regularizers import SquaredNorm

pytest.importorskip("numba")
SETS = [kind for kind in room.KINDS if kind is not room.Hull]
few = settings(max_examples=12)
STEPS = 0.3, inverse_sqrt(0.5), inverse(0.7), lambda t: 0.3 if t < 3 else 0.1


def same(learner, given_losses, kink=None):
    """The compiled game, with its plays kept and without, is that of the plain loop."""
    plain = play(learner, given_losses, engine="numpy")
    for keep in (True, False):
        fast = play(learner, given_losses, engine="compiled", keep=keep)
        for name in ("points", "subgradients", "paid", "last"):
            ours, theirs = getattr(fast, name), getattr(plain, name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(theirs).max()))
        if kink is not None and np.abs(plain.margins - kink).min() > 1e-12:
            np.testing.assert_array_equal(fast.updates, plain.updates)
            np.testing.assert_array_equal(fast.mistakes, plain.mistakes)
    return fast, plain


def rows(data, dim, least=1):
    return np.array(data.draw(st.lists(vectors(dim, 3.0), min_size=least, max_size=8)))


# ---------------------------------------------------------------- linear losses


@pytest.mark.parametrize("kind", SETS)
@few
@given(data=st.data())
def test_descent_on_linear_losses(kind, data):
    over, eta = data.draw(sets(kind, max_dim=4)), data.draw(st.sampled_from(STEPS))
    Z = rows(data, over.dim)
    late = data.draw(st.sampled_from([0, 2, tuple(t % 3 for t in range(len(Z)))]))
    for learner in (OGD(over, eta, "eager"), OGD(over, eta), DelayedOGD(over, eta, late)):
        same(learner, Z)


@few
@given(data=st.data(), eta=st.sampled_from(STEPS))
def test_leaders_on_linear_losses(data, eta):
    Z = rows(data, 3)
    same(Hedge(3, eta), Z)
    same(Linearized(Hedge(3, eta)), Z)
    same(FTRL(room.Ball(3), SquaredNorm([1.0, 0.0, 2.0]), eta), Z)
    same(OGD(room.Box([1, 0, 0], [2, 1, 1]), eta, start=[2, 1, 0]), Z)


def test_a_game_longer_than_a_block():
    """The sums go on where the block before ended."""
    Z = np.random.default_rng(0).standard_normal((5000, 20))
    for learner in (
        Hedge(20, inverse_sqrt(0.1)),
        OGD(room.Ball(20), 0.01),
        OGD(room.Simplex(20), 0.01, "eager"),
    ):
        _, plain = same(learner, Z)
        np.testing.assert_allclose(plain.points, np.array(list(by_hand(learner, Z))), rtol=1e-10, atol=1e-11)


def by_hand(learner, Z):
    player = learner.player()
    for z in Z:
        yield player.predict()
        player.update(losses.Linear(z))


# ---------------------------------------------------------------- losses over data

MAKERS = {
    "perceptron": lambda X, s, r, c: losses.perceptron_loss(X, s, 0.0, 0.5),
    "hinge": lambda X, s, r, c: losses.hinge(X, s, 0.5),
    "squared hinge": lambda X, s, r, c: losses.squared_hinge(X, s),
    "exponential": lambda X, s, r, c: losses.exponential(0.1 * X, s),
    "logistic": lambda X, s, r, c: losses.logistic(X, s),
    "least squares": lambda X, s, r, c: losses.least_squares(0.1 * X, r),
    "absolute": lambda X, s, r, c: losses.absolute(X, r),
    "quantile": lambda X, s, r, c: losses.quantile(X, r, 0.3),
    "eps-insensitive": lambda X, s, r, c: losses.eps_insensitive(X, r, 0.1),
    "huber": lambda X, s, r, c: losses.huber(X, r),
    "poisson": lambda X, s, r, c: losses.poisson(0.1 * X, c),
}


@pytest.mark.parametrize("name", MAKERS)
@few
@given(seed=st.integers(0, 10**6), eta=st.sampled_from(STEPS), reg=st.sampled_from([0.0, 0.2]))
def test_every_loss_of_the_tables(name, seed, eta, reg):
    rng = np.random.default_rng(seed)
    X, s, c = rng.standard_normal((30, 3)), rng.choice([-1.0, 1.0], 30), rng.integers(0, 4, 30)
    data = MAKERS[name](X, s, rng.standard_normal(30), c)
    data = data.regularized(reg) if reg else data
    kink = getattr(data.phi, "bend", None)
    ball = room.Ball(3, 0.7)
    for learner in (
        OGD(ball, eta, "eager"),
        OGD(ball, eta),
        DelayedOGD(ball, eta, 2),
        Linearized(Hedge(3, eta)),
    ):
        same(learner, data, kink)


@pytest.mark.parametrize("kind", SETS)
@few
@given(data=st.data())
def test_online_svm_on_every_set(kind, data):
    over = data.draw(sets(kind, max_dim=4))
    X = rows(data, over.dim)
    same(OGD(over, inverse_sqrt(0.5), "eager"), losses.hinge(X, np.resize([1, -1, -1], len(X))), kink=1.0)


@few
@given(seed=st.integers(0, 10**6))
def test_learners_of_examples(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 4)), rng.choice([-1.0, 1.0], 60)
    for learner in (Perceptron(4), Perceptron(4, 0.5), NormalizedWinnow(4, 0.3)):
        same(learner, losses.perceptron_loss(X, y), kink=0.0)
    same(OnlineSVM(4, 0.5, 0.1), losses.hinge(X, y), kink=1.0)
    for project in (False, True):
        same(Pegasos(4, 0.1, project), losses.hinge(X, y).regularized(0.1), kink=1.0)
    same(Winnow(4, 2.0, 1.5), losses.perceptron_loss(np.abs(X), y, 2.0), kink=0.0)


@given(seed=st.integers(0, 10**6))
def test_on_whole_numbers_every_tie_is_settled_alike(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (80, 3)).astype(float), rng.choice([-1.0, 1.0], 80)
    for learner, data in (
        (Perceptron(3), losses.perceptron_loss(X, y)),
        (Perceptron(3, 0.0), losses.perceptron_loss(X, y)),
        (Winnow(3, 2.0), losses.perceptron_loss(np.abs(X), y, 2.0)),
        (OGD(room.Space(3), 1.0, "eager"), losses.hinge(X, y, 1.0)),
    ):
        fast, plain = (play(learner, data, engine=e) for e in ("compiled", "numpy"))
        for name in ("points", "updates", "mistakes", "margins"):
            np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name))


def test_the_kernel_perceptron_in_blocks():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, (600, 3)).astype(float), rng.choice([-1.0, 1.0], 600)
    learner = KernelPerceptron(lambda A, B: (1.0 + A @ B.T) ** 2)
    fast, plain = (play(learner, losses.perceptron_loss(X, y), engine=e) for e in ("compiled", "numpy"))
    np.testing.assert_array_equal(fast.scores, plain.scores)
    np.testing.assert_array_equal(fast.coefficients, plain.coefficients)
    assert 50 < fast.updates.sum() < 600


# ---------------------------------------------------------------- when, and what is kept


def test_a_long_game_is_compiled_and_a_short_one_is_not(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((engine.LONG, 2))
    assert engine.wanted(None, engine.LONG) and not engine.wanted(None, engine.LONG - 1)
    assert play(OGD(room.Ball(2), 0.1, "eager"), Z).again is not None
    assert play(OGD(room.Ball(2), 0.1, "eager"), Z[:-1]).again is None
    monkeypatch.setattr(engine, "present", lambda: False)
    assert play(OGD(room.Ball(2), 0.1, "eager"), Z).again is None
    with pytest.raises(ValueError, match="engine must be 'numpy' where numba is not installed"):
        play(OGD(room.Ball(2), 0.1), Z, engine="compiled")
    with pytest.raises(ValueError, match="engine must be 'compiled' or 'numpy', got 'fast'"):
        play(OGD(room.Ball(2), 0.1), Z, engine="fast")


def test_plays_are_kept_up_to_a_size_and_else_played_again(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((50, 2))
    learner = OGD(room.Ball(2), 0.1, "eager")
    assert "points" in vars(play(learner, Z, engine="compiled"))
    monkeypatch.setattr(engine, "KEPT", 100)
    trace = play(learner, Z, engine="compiled")
    assert "points" not in vars(trace)
    np.testing.assert_array_equal(trace.points, play(learner, Z, engine="compiled", keep=True).points)
    assert "points" in vars(trace)
    again = dataclasses.replace(trace, paid=trace.paid + 1.0)
    np.testing.assert_array_equal(again.points, trace.points)
    with pytest.raises(AttributeError, match="a trace has no colour"):
        _ = trace.colour


@pytest.mark.parametrize("keep", [True, False])
def test_a_compiled_game_names_the_round_in_which_a_play_is_not_finite(keep):
    X = np.array([[2000.0, 0.0], [1.0, 1.0], [1.0, 0.0]])  # w_2 = (2^2000, 1) is too large
    data = losses.perceptron_loss(X, [1, 1, 1], 3000.0)
    with pytest.raises(ValueError, match="every play must be finite, got inf in round 2"):
        play(Winnow(2, 3000.0), data, engine="compiled", keep=keep)


def test_what_has_no_compiled_form_is_played_by_the_loop():
    hull = room.Hull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    Z = np.random.default_rng(0).standard_normal((20, 2))
    for learner, given_losses in (
        (OGD(hull, 0.1, "eager"), Z),
        (OGD(room.Ball(2), [0.1, 0.2], "eager"), Z),
        (OGD(room.Ball(2), 0.1, "eager"), np.stack([Z, -Z])),
    ):
        assert play(learner, given_losses, engine="compiled").again is None


SECOND = """
import json, sys
import numpy as np
from ocolib import compiled, game, learners, losses, sets
Z, y = np.random.default_rng(0).standard_normal((50, 3)), np.resize([1.0, -1.0], 50)
for learner in (learners.OGD(sets.Ball(3), 0.1, "eager"), learners.Hedge(3, 0.1)):
    game.play(learner, Z, engine="compiled")
game.play(learners.Perceptron(3), losses.perceptron_loss(Z, y), engine="compiled")
kernels = compiled.linear, compiled.examples
print(json.dumps([sum(map(len, (k.stats.cache_misses for k in kernels))), len(kernels)]))
"""


def test_a_second_process_compiles_nothing():
    command, compiling = [sys.executable, "-c", SECOND], os.environ | {"NUMBA_DISABLE_JIT": "0"}
    for _ in range(2):
        done = subprocess.run(command, env=compiling, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [0, 2]
