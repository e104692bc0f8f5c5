"""How a long game is played: by the rounds of `compiled` where that pays, in the time of a few copies of the
data. `play` asks here first; what is `None` here is played by the loops in `game` and `learners`.
"""

from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ocolib import sets, validate
from ocolib.blocks import blocks
from ocolib.learners import (
    FTRL,
    OGD,
    DelayedOGD,
    KernelPerceptron,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
    steps,
)
from ocolib.losses import Examples
from ocolib.phi import Kinked, Scalar, TubeLoss
from ocolib.protocols import Array, Learner
from ocolib.regularizers import NegativeEntropy, SquaredNorm

LONG = 20_000  #: rounds from which compiling pays, or rather loading what was compiled once: half a second
KEPT = 2**28  #: bytes of plays that a trace keeps unless it is told


@cache
def present() -> bool:
    """Is numba there?"""
    return find_spec("numba") is not None


def wanted(engine: str | None, rounds: int) -> bool:
    """Shall the game be compiled?"""
    if engine is not None:
        validate.choice("engine", engine, ("compiled", "numpy"))
        if engine == "compiled" and not present():
            raise ValueError("engine must be 'numpy' where numba is not installed, got 'compiled'")
        return engine == "compiled"
    return rounds >= LONG and present()


class Played(NamedTuple):
    """What a compiled game gives back."""

    points: Array | None  #: w_1, …, w_T, if they were kept
    last: Array  #: w_{T+1}
    predictions: Array  #: ⟨w_t, x_t⟩
    paid: Array


# ---------------------------------------------------------------- translation


def geometry(over: Any) -> tuple[Any, ...] | None:
    """(kind, size, center, normal, low, high) of a set, `None` if it has no compiled form."""
    from ocolib import compiled as c

    n = over.dim
    match over:
        case sets.Space():
            return c.SPACE, 0.0, None, None, None, None
        case sets.Ball():
            return c.BALL, over.radius, over.center, None, None, None
        case sets.Box():
            return c.CLIP, 0.0, None, None, over.low, over.high
        case sets.Orthant():
            return c.CLIP, 0.0, None, None, np.zeros(n), np.full(n, np.inf)
        case sets.Halfspace():
            return c.HALFSPACE, over.distance, None, over.unit, None, None
        case sets.Simplex():
            return c.SIMPLEX, 1.0, None, np.ones(n), np.zeros(n), np.full(n, np.inf)
        case sets.L1Ball():
            return c.L1, over.radius, None, None, np.full(n, -np.inf), np.full(n, np.inf)
    return None


def code(phi: Scalar) -> tuple[int, float, float, float] | None:
    """(code, a, b, c) of a loss, `None` if it has no compiled form."""
    from ocolib import compiled

    if isinstance(phi, Kinked):
        return compiled.KINKED, phi.bend, phi.kink, phi.threshold
    if isinstance(phi, TubeLoss):
        return compiled.TUBE, phi.up, phi.down, phi.eps
    return (compiled.SMOOTH.index(phi), 0.0, 0.0, 0.0) if phi in compiled.SMOOTH else None


class Moves(NamedTuple):
    """How a learner moves: its set, its step, where it starts, and what it does with a sum of gradients."""

    over: Any
    eta: Any
    start: Array
    rule: int | None = None
    delay: Any = 0


def moves(learner: Any) -> Moves | None:
    """The learner as the compiled loops know it, `None` if they do not."""
    from ocolib import compiled

    match learner:
        case OGD(projection="eager"):
            return Moves(learner.over, learner.eta, learner.first)
        case OGD():
            return moves(Linearized(learner.leader))
        case DelayedOGD():
            return Moves(learner.over, learner.eta, learner.player().predict(), delay=learner.delay)
        case Perceptron():  # descent from 0 with step 1
            return Moves(sets.Space(learner.dim), 1.0, np.zeros(learner.dim))
        case Winnow():
            return Moves(sets.Space(learner.dim), learner.factor, np.ones(learner.dim), compiled.POWER)
        case NormalizedWinnow():
            uniform = np.full(learner.dim, 1.0 / learner.dim)
            return Moves(sets.Space(learner.dim), learner.eta, uniform, compiled.SOFTMAX)
        case Linearized(learner=FTRL(regularizer=NegativeEntropy()) as leader):
            n = leader.over.dim
            return Moves(sets.Space(n), leader.eta, np.full(n, 1.0 / n), compiled.SOFTMAX)
        case Linearized(learner=FTRL(regularizer=SquaredNorm() as R) as leader):
            center = np.zeros(leader.over.dim) if R.center is None else R.center
            return Moves(leader.over, leader.eta, center, compiled.LAZY)
    return None


# ---------------------------------------------------------------- games


def linear(learner: Learner, Z: Array, keep: bool | None, engine: str | None) -> Played | None:
    """A game of linear losses."""
    if Z.ndim > 2 or not wanted(engine, len(Z)):
        return None
    leader = learner if isinstance(learner, (OGD, DelayedOGD, Linearized)) else Linearized(learner)
    return _play(leader, Z, np.empty(0), None, 0.0, keep)


def examples(learner: Learner, losses: Examples, keep: bool | None, engine: str | None) -> Played | None:
    """A game over data."""
    if not wanted(engine, len(losses)) or (loss := code(losses.phi)) is None:
        return None
    played = _play(learner, losses.X, losses.y, loss, losses.reg, keep)
    if played is None:
        return None
    value = losses.phi.value(played.predictions, losses.y)
    return played._replace(paid=value + 0.5 * losses.reg * played.paid if losses.reg else value)


def _play(learner: Any, X: Array, y: Array, loss: Any, reg: float, keep: bool | None) -> Played | None:
    """`loss` is `None` for ⟨w, x_t⟩ itself; in place of `paid` come the ‖w_t‖², if they are needed."""
    from ocolib import compiled

    how, (T, n) = moves(learner), X.shape
    over = None if how is None else geometry(how.over)
    if how is None or over is None or np.ndim(how.eta(1) if callable(how.eta) else how.eta):
        return None
    keep = X.nbytes <= KEPT if keep is None else keep
    late = _late(learner, T) if isinstance(learner, DelayedOGD) else (None, None)
    rows = T + 1 if keep or (reg and late[0] is not None) else 1
    eta, w, total = steps(how.eta, T), how.over.project(how.start), None if how.rule is None else np.zeros(n)
    if loss is None and how.rule == compiled.SOFTMAX:
        return _hedge(X, eta, w, keep)
    points, predictions = np.empty((rows, n)), np.empty(T)
    if loss is None and late[0] is None and how.rule in (None, compiled.LAZY):
        compiled.linear(X, eta, over, how.start, w, total, points, predictions)
        return Played(points[:-1] if keep else None, w, predictions, predictions)
    steady, squares, slopes = how.rule is None or not callable(how.eta), np.empty(T), np.empty(T)
    loss, y = loss or (compiled.LINEAR, 0.0, 0.0, 0.0), y if loss else predictions
    state, out = (how.start, w, total, points), (predictions, slopes, squares)
    compiled.examples(X, y, loss, reg, eta, steady, how.rule or 0, over, *state, out, *late)
    return Played(points[:-1] if keep else None, w, predictions, squares)


def _hedge(Z: Array, eta: Array, w: Array, keep: bool) -> Played:
    """softmax(−η_t·Z_t) in blocks; the exponentials are NumPy's, which knows the machine best."""
    from ocolib import compiled

    T, n = Z.shape
    size = next(blocks(T, n)).stop
    points, paid, total = np.empty((T + 1 if keep else size + 1, n)), np.empty(T), np.zeros(n)
    points[0] = w
    for t in blocks(T, n):
        rows = points[t.start if keep else 0 :][: t.stop - t.start + 1]
        compiled.tilt(Z[t], eta[t], total, rows[1:])
        np.exp(rows[1:], out=rows[1:])
        compiled.normalize(rows[1:])
        compiled.inner(rows, Z[t], paid[t])
        w = rows[-1].copy()
        if not keep:
            points[0] = w
    return Played(points[:-1] if keep else None, w, paid, paid)


def _late(learner: DelayedOGD, T: int) -> tuple[Array, Array]:
    """(due, order): the k-th gradient to arrive is that of round order[k]; due[t] are there after t."""
    if isinstance(learner.delay, tuple) and len(learner.delay) < T:
        learner.arrival(len(learner.delay) + 1)  # it says what is wrong
    delay = np.broadcast_to(learner.delay, T) if isinstance(learner.delay, int) else learner.delay[:T]
    arrival = np.arange(T) + np.asarray(delay)
    order = np.argsort(arrival, kind="stable")
    return np.searchsorted(arrival[order], np.arange(T), side="right"), order


def kernel(learner: KernelPerceptron, losses: Examples, keep: Any, engine: str | None) -> Any:
    """(scores, coefficients) of a game without weights, a block of rounds at a time."""
    if not wanted(engine, 10 * len(losses)) or (loss := code(losses.phi)) is None:
        return None
    from ocolib import compiled

    X, y = losses.X, losses.y
    scores, coefficients = np.zeros(len(X)), np.zeros(len(X))
    for t in blocks(len(X), 128):
        used = np.flatnonzero(coefficients[: t.start])
        if len(used):
            scores[t] = coefficients[used] @ learner.kernel(X[used], X[t])
        compiled.expansion(learner.kernel(X[t], X[t]), loss, y[t], scores[t], coefficients[t])
    return scores, coefficients
