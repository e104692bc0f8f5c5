"""How a long game is played: by the rounds of `compiled` where that pays. With an array or losses over data
`play` asks here first; what is `None` here is played by `game` and `learners`.
"""

from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ocolib import learners, sets, validate
from ocolib.blocks import blocks
from ocolib.losses import Examples
from ocolib.phi import Kinked, Scalar, TubeLoss
from ocolib.protocols import Array, Learner
from ocolib.regularizers import NegativeEntropy, SquaredNorm

LONG = 20_000  #: rounds from which compiling pays, or rather loading what was compiled once: half a second
KEPT = 2**28  #: bytes of plays up to which the trace of a compiled game keeps them, if it is not told


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
    """What compiled rounds give back."""

    points: Array | None  #: w_1, …, w_T, if they were kept
    last: Array  #: w_{T+1}
    predictions: Array  #: ⟨w_t, x_t⟩, or ⟨w_t, z_t⟩
    paid: Array


# ---------------------------------------------------------------- translation


def geometry(over: Any) -> tuple[int, float, Array, Array] | None:
    """(kind, size, a, b) of a set as `compiled.project` knows it, `None` if it does not."""
    from ocolib import compiled as c

    zero, one = np.zeros(over.dim), np.ones(over.dim)
    match over:
        case sets.Space():
            return c.SPACE, 0.0, zero, zero
        case sets.Ball():
            return c.BALL, over.radius, over.center, zero
        case sets.Box():
            return c.CLIP, 0.0, over.low, over.high
        case sets.Orthant():
            return c.CLIP, 0.0, zero, np.inf * one
        case sets.Halfspace():
            return c.HALFSPACE, over.distance, over.unit, zero
        case sets.Simplex():
            return c.SIMPLEX, 1.0, zero, zero
        case sets.L1Ball():
            return c.L1, over.radius, zero, zero
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
    """How a learner moves: the set it projects on, step (Winnow: factor), start, and what a gradient does."""

    over: Any
    eta: Any
    start: Array
    rule: int


def moves(learner: Any) -> Moves | None:
    """The learner as the compiled loops know it, `None` if they do not."""
    from ocolib import compiled as c

    match learner:
        case learners.OGD(projection="eager"):
            return Moves(learner.over, learner.eta, learner.first, c.EAGER)
        case learners.OGD():
            return moves(learner.leader)
        case learners.DelayedOGD():
            return Moves(learner.over, learner.eta, learner.player().predict(), c.EAGER)
        case learners.Perceptron():  # descent from 0 with step 1
            return Moves(sets.Space(learner.dim), 1.0, np.zeros(learner.dim), c.EAGER)
        case learners.Winnow():
            return Moves(sets.Space(learner.dim), learner.factor, np.ones(learner.dim), c.POWER)
        case learners.NormalizedWinnow():
            return moves(learners.Hedge(learner.dim, learner.eta))
        case learners.Linearized():
            return moves(learner.learner) if isinstance(learner.learner, learners.FTRL) else None
        case learners.FTRL(regularizer=NegativeEntropy()):
            n = learner.over.dim
            return Moves(sets.Space(n), learner.eta, np.full(n, 1.0 / n), c.SOFTMAX)
        case learners.FTRL(regularizer=SquaredNorm(center=center)):
            start = np.zeros(learner.over.dim) if center is None else center
            return Moves(learner.over, learner.eta, start, c.LAZY)
    return None


# ---------------------------------------------------------------- games


class Rounds:
    """A compiled game under way: its play and its sum of gradients go from one piece to the next."""

    def __init__(self, learner: Any) -> None:
        from ocolib import compiled

        how = moves(learner)
        over = None if how is None else geometry(how.over)
        if how is None or over is None or np.ndim(how.eta(1) if callable(how.eta) else how.eta):
            raise LookupError(f"there is no compiled form of {learner!r}")
        self.learner, self.t, self.eta, self.rule = learner, 0, how.eta, how.rule
        self.over = *over[:2], over[2].copy(), over[3].copy()  # of one type: one version is compiled
        self.start, self.w = how.start.copy(), how.over.project(how.start)
        #: of plays, but for Winnow's, and of sums, if no step grows
        self.reach = np.abs(self.w).max() + np.abs(self.start).max()
        self.total = None if how.rule == compiled.EAGER else np.zeros(how.over.dim)

    def play(self, losses: Any, keep: bool) -> Played:
        """Go on with an array of linear losses or losses over data."""
        from ocolib import compiled as c

        data = losses if isinstance(losses, Examples) else None
        X, reg = (losses, None) if data is None else (data.X, data.reg or None)
        loss = (c.LINEAR, 0.0, 0.0, 0.0) if data is None else code(data.phi)
        if loss is None:
            raise LookupError(f"there is no compiled form of {losses.phi!r}")
        (T, n), other = X.shape, None if loss[0] == c.KINKED else loss[0]
        if n != len(self.w):  # what is compiled does not look where it reads and writes
            raise LookupError(f"the learner has dimension {len(self.w)}, the losses have {n}")
        late = _late(self.learner, T) if isinstance(self.learner, learners.DelayedOGD) else None
        eta, self.t = learners.steps(self.eta, T if callable(self.eta) else 1, self.t), self.t + T
        points = np.empty((T, n)) if keep or late else None
        predictions, paid, slopes = (np.empty(T if x else 0) for x in (True, data is not None or late, late))
        if data is None and late is None:
            row = np.empty((1, n)) if points is None else points
            kind, size, a, b = self.over
            radius = size if kind == c.BALL and not a.any() else None
            low, high = (a, b) if kind == c.CLIP else (None, None)
            over = None if radius or low is not None or kind == c.SPACE else self.over
            how: Any = eta, self.rule, self.start
            most = c.linear(X, how, radius, low, high, over, self.w, self.total, row, predictions) ** 0.5
        elif late is None and self.total is None and self.over[0] == c.SPACE:
            c.descent(X, losses.y, other, reg, (*loss[1:], eta), self.w, points, (predictions, paid))
            most = losses.steepest(predictions)
        else:
            y = predictions if data is None else data.y
            over = None if self.over[0] == c.SPACE and self.total is None else self.over
            how, out = (*loss[1:], eta, self.rule, self.start), (predictions, paid, slopes)
            c.examples(X, y, other, reg, how, over, self.w, self.total, points, out, late)
            most = np.abs(X).max() * n if data is None else data.steepest(predictions)
        length = np.sqrt(2.0 * paid.max() / reg) if reg else 0.0
        self.reach += max(1.0, eta.max()) * self.t * (most + (reg or 0.0) * length) + length
        # near 1e150 the loop looks at every step; it shall judge
        if not self.reach < learners.SMALL or not np.isfinite(predictions).all():
            raise LookupError(f"plays or gradients may be beyond {learners.SMALL:g}")
        if other is not None:
            paid = predictions if data is None else paid + data.phi.value(predictions, data.y)
        return Played(points if keep else None, self.w.copy(), predictions, paid)


def played(learner: Learner, losses: Any, keep: bool | None, engine: str | None) -> Played | None:
    """A whole game: an array `(T, n)` of linear losses or losses over data; `None` if it is not compiled."""
    X = losses.X if isinstance(losses, Examples) else losses
    if X.ndim > 2 or (X is losses and hasattr(learner, "sees")) or not wanted(engine, len(X)):
        return None
    with suppress(LookupError), np.errstate(all="ignore"):
        return Rounds(learner).play(losses, X.nbytes <= KEPT if keep is None else keep)
    return None


def _late(learner: learners.DelayedOGD, T: int) -> tuple[Array, Array]:
    """(due, order), from 0: the k-th gradient to arrive is of round order[k]; due[t] are there after t."""
    if isinstance(learner.delay, tuple) and len(learner.delay) < T:
        learner.arrival(len(learner.delay) + 1)  # it says what is wrong
    delay = np.broadcast_to(learner.delay, T) if isinstance(learner.delay, int) else learner.delay[:T]
    arrival = np.arange(T) + np.asarray(delay)
    order = np.argsort(arrival, kind="stable")
    return np.searchsorted(arrival[order], np.arange(T), side="right"), order


def kernel(learner: learners.KernelPerceptron, losses: Examples, engine: str | None) -> Any:
    """(scores, coefficients) of a game without weights, a block at a time; `None` if it is not compiled."""
    if not wanted(engine, 10 * len(losses)) or (loss := code(losses.phi)) is None:
        return None
    from ocolib import compiled

    X, y = losses.X, losses.y
    scores, coefficients = np.zeros(len(X)), np.zeros(len(X))
    for t in blocks(len(X), 128):
        used = np.flatnonzero(coefficients[: t.start])
        if len(used):
            scores[t] = coefficients[used] @ learners.gram(learner.kernel, X[used], X[t])
        compiled.expansion(learners.gram(learner.kernel, X[t], X[t]), loss, y[t], scores[t], coefficients[t])
    return scores, coefficients
