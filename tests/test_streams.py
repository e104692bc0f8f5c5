"""A game in pieces is the game in one piece."""

import io
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

from ocolib import engine
from ocolib.game import play
from ocolib.learners import OGD, DelayedOGD, Pegasos, Perceptron, inverse_sqrt
from ocolib.losses import hinge, perceptron_loss
from ocolib.sets import Ball
from ocolib.streams import stream

rng = np.random.default_rng(0)
X, y = rng.standard_normal((500, 3)), rng.choice([-1.0, 1.0], 500)
CUTS = [slice(0, 1), slice(1, 200), slice(200, 500)]


@pytest.mark.parametrize(
    ("learner", "losses"),
    [
        (OGD(Ball(3), inverse_sqrt(0.5), "eager"), X),
        (OGD(Ball(3), inverse_sqrt(0.5)), X),
        (Perceptron(3), perceptron_loss(X, y)),
        (Pegasos(3, 0.1), hinge(X, y).regularized(0.1)),
    ],
    ids=["eager", "lazy", "Perceptron", "Pegasos"],
)
def test_pieces_make_the_same_game(learner, losses):
    whole, streamed = play(learner, losses), stream(learner, (losses[cut] for cut in CUTS))
    np.testing.assert_allclose(streamed.paid, whole.paid, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(streamed.last, whole.last, rtol=1e-12, atol=1e-13)


def test_what_cannot_be_streamed_is_refused():
    with pytest.raises(ValueError, match="without delay"):
        stream(DelayedOGD(Ball(3), 0.1, 2), [X])
    with pytest.raises(ValueError, match="dimension 2"):
        stream(Perceptron(2), [perceptron_loss(X, y)])
    with pytest.raises(ValueError, match="finite"):
        stream(OGD(Ball(3), 0.1), [np.full((2, 3), np.nan)])


def test_the_bar_comes_late_and_only_where_somebody_looks(monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    stream(Perceptron(3), (perceptron_loss(X[cut], y[cut]) for cut in CUTS))
    assert screen.getvalue().strip() == ""  # it was over within two seconds


def test_a_file_is_played_where_it_lies(tmp_path):
    np.save(tmp_path / "Z.npy", X)
    Z = np.load(tmp_path / "Z.npy", mmap_mode="r")
    trace = play(OGD(Ball(3), 0.1, "eager"), Z, engine="compiled", keep=False)
    assert np.shares_memory(trace.losses, Z)
    np.testing.assert_allclose(trace.paid, play(OGD(Ball(3), 0.1, "eager"), X).paid, atol=1e-13)


def test_without_numba_a_stream_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "ocolib.compiled", raising=False)
    monkeypatch.delattr("ocolib.compiled", raising=False)
    with pytest.raises(ValueError, match=r"only what is compiled can be streamed: .*numba"):
        stream(Perceptron(3), [perceptron_loss(X, y)])


@pytest.mark.parametrize("screen", [False, True])
@pytest.mark.parametrize("notebook", [False, True])
def test_the_bar_is_asked_for_where_somebody_may_look(monkeypatch, screen, notebook):
    tqdm, asked = pytest.importorskip("tqdm.auto"), []
    monkeypatch.setattr(tqdm, "tqdm", lambda pieces, **how: asked.append(how) or pieces)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: screen, raising=False)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    if not notebook:
        monkeypatch.delitem(sys.modules, "ipykernel")
    stream(OGD(Ball(3), 0.1), [X[:2], X[2:4]])
    assert asked == [{"delay": 2, "unit": "piece"}] * (screen or notebook)


def test_no_play_is_kept(monkeypatch):
    kept, play_on = [], engine.Rounds.play
    monkeypatch.setattr(
        engine.Rounds, "play", lambda self, losses, keep: kept.append(keep) or play_on(self, losses, keep)
    )
    stream(OGD(Ball(3), 0.1), [X[:2], X[2:4]])
    assert kept == [False, False]
