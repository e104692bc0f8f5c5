"""Play long games sooner, by compiled rounds; and games too long for the memory, in pieces.

`play(learner, losses)` gives the `Trace` of `ocolib.game.play`, up to rounding, which may settle a tie at a
kink otherwise. `stream(learner, pieces)` keeps of a game what was paid, and no plays. Both know a compiled
form for most learners, sets and losses of `ocolib`, found by their exact type (`rule`, `SETS`, `code`), and
use the simple loop for all others, your own included. The compiled forms need numba (`ocolib[fast]`).
"""

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ocolib import game, learners, phi, referee, sets, validate
from ocolib.kernels import KernelPerceptron, KernelTrace
from ocolib.learners import steps
from ocolib.losses import Examples, Linear
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.trace import Trace

Array = np.ndarray

# ---------------------------------------------------------------- what has a compiled form

#: kinds of sets, of moves and of losses, as the compiled loops number them
SPACE, BALL, CLIP, HALFSPACE, SIMPLEX, L1 = range(6)
EAGER, LAZY, SOFTMAX, POWER = range(4)
KINKED, TUBE, LINEAR = -1, -2, -3
SMOOTH = phi.SQUARED_HINGE, phi.EXPONENTIAL, phi.LOGISTIC, phi.LEAST_SQUARES, phi.HUBER, phi.POISSON

#: {type of set: (kind, size, a, b)}: a ball has radius and center, a box its two corners, a halfspace
#: distance and unit normal
SETS: dict[type, Callable[[Any], tuple[int, float, Array, Array]]] = {
    sets.Space: lambda s: (SPACE, 0.0, np.zeros(s.dim), np.zeros(s.dim)),
    sets.Ball: lambda s: (BALL, s.radius, s.center, np.zeros(s.dim)),
    sets.Box: lambda s: (CLIP, 0.0, s.low, s.high),
    sets.Orthant: lambda s: (CLIP, 0.0, np.zeros(s.dim), np.full(s.dim, np.inf)),
    sets.Halfspace: lambda s: (HALFSPACE, s.distance, s.unit, np.zeros(s.dim)),
    sets.Simplex: lambda s: (SIMPLEX, 1.0, np.zeros(s.dim), np.zeros(s.dim)),
    sets.L1Ball: lambda s: (L1, s.radius, np.zeros(s.dim), np.zeros(s.dim)),
}


class Rule(NamedTuple):
    """How a learner moves: w ← Π(w − η·z) if eager, else a function of the sum of the z."""

    move: int
    over: Any
    eta: Any  #: of Winnow its factor
    start: Array


def rule(learner: Any, data: bool) -> Rule | None:
    """Return how the learner moves, or None if there is no compiled form.

    With `data` the losses are those of examples, which a leader has to see linearised.
    """
    kind = type(learner)
    if kind is learners.OGD and learner.projection == "eager":
        return Rule(EAGER, learner.over, learner.eta, learner.first)
    if kind is learners.OGD:
        start = np.zeros(learner.over.dim) if learner.start is None else learner.start
        return Rule(LAZY, learner.over, learner.eta, start)
    if kind is learners.DelayedOGD:
        return Rule(EAGER, learner.over, learner.eta, learner.over.project(np.zeros(learner.over.dim)))
    if kind is learners.Perceptron and data:
        return Rule(EAGER, sets.Space(learner.dim), 1.0, np.zeros(learner.dim))
    if kind is learners.Winnow and data:
        return Rule(POWER, sets.Space(learner.dim), learner.factor, np.ones(learner.dim))
    if kind is learners.NormalizedWinnow and data:
        return rule(learners.Hedge(learner.dim, learner.eta), data=False)
    if kind is learners.Linearized:
        return rule(learner.learner, data=False) if type(learner.learner) is learners.FTRL else None
    if kind is not learners.FTRL or data:
        return None
    n, R = learner.over.dim, learner.regularizer
    if type(R) is NegativeEntropy and type(learner.over) is sets.Simplex:
        return Rule(SOFTMAX, sets.Space(n), learner.eta, np.full(n, 1.0 / n))
    if type(R) is SquaredNorm:
        return Rule(LAZY, learner.over, learner.eta, np.zeros(n) if R.center is None else R.center)
    return None


def code(losses: Any) -> tuple[int, float, float, float] | None:
    """Return (code, a, b, c) of linear losses, an array, or of losses over data; None if there is no form."""
    if isinstance(losses, np.ndarray):
        return LINEAR, 0.0, 0.0, 0.0
    f = losses.phi
    if type(f) in (phi.PerceptronLoss, phi.HingeLoss):
        return KINKED, f.bend, f.kink, f.threshold
    if type(f) is phi.TubeLoss:
        return TUBE, f.up, f.down, f.eps
    known = [i for i, smooth in enumerate(SMOOTH) if smooth == f]
    return (known[0], 0.0, 0.0, 0.0) if known else None


# ---------------------------------------------------------------- playing

#: {number of entries: memory} of the plays of a game whose trace is gone, at most one
SPARE: dict[int, memoryview] = {}
KEPT = 2**23  #: entries: up to 64 MB stay with the process


def room(T: int, n: int) -> Array:
    """Return an array `(T, n)` to write into, in the memory of an earlier game if nobody holds it any more.

    Memory that is new to the process is cleared by the system page by page, which takes longer than the
    rounds do. All views of the array hold on to `root`, so its end is the end of them all.
    """
    memory = SPARE.pop(T * n, None) or np.empty(T * n).data
    root = np.frombuffer(memory)
    if T * n <= KEPT:
        weakref.finalize(root, _spare, memory).atexit = False
    return root.reshape(T, n)


def _spare(memory: memoryview) -> None:
    SPARE.clear()
    SPARE[len(memory)] = memory


class Rounds:
    """A compiled game under way: its play w and its sum of gradients go from one piece to the next."""

    def __init__(self, learner: Any, move: Rule) -> None:
        kind, size, a, b = SETS[type(move.over)](move.over)
        self.learner, self.t, self.eta, self.move = learner, 0, move.eta, move.move
        self.over = kind, float(size), a.copy(), b.copy()  # writable like the rest: one version is compiled
        self.start, self.w = move.start.copy(), move.over.project(move.start).copy()
        self.total = None if move.move == EAGER else np.zeros(len(self.w))

    def go(self, losses: Any, loss: Any, keep: bool) -> tuple[Any, Array, Array]:
        """Play on; return (points, predictions ⟨w_t, x_t⟩, paid); the plays are None unless kept."""
        from ocolab.fast import loops

        data: Any = None if isinstance(losses, np.ndarray) else losses
        X, reg = (losses, None) if data is None else (data.X, data.reg or None)
        T, n = X.shape
        late = _late(self.learner, T) if type(self.learner) is learners.DelayedOGD else None
        eta, self.t = steps(self.eta, T if callable(self.eta) else 1, self.t), self.t + T
        points = room(T, n) if keep or late else None
        predictions, paid = np.empty(T), np.empty(T)
        other = None if loss[0] == KINKED else loss[0]
        if data is None and late is None:
            how = eta, self.move, self.start
            kind, size, a, b = self.over
            radius = size if kind == BALL and not a.any() else None
            low, high = (a, b) if kind == CLIP else (None, None)
            over = None if radius or low is not None or kind == SPACE else self.over
            loops.linear(X, how, radius, low, high, over, self.w, self.total, points, paid)
            return points, predictions, paid
        if late is None and self.total is None and self.over[0] == SPACE:
            how = (*loss[1:], eta)
            loops.descent(X, data.y, other, reg, how, self.w, points, predictions, paid)
        else:
            y = predictions if data is None else data.y
            over = None if self.over[0] == SPACE and self.total is None else self.over
            how = (*loss[1:], eta, self.move, self.start)
            loops.examples(X, y, other, reg, how, over, self.w, self.total, points, late, predictions, paid)
        if data is None:
            return points, predictions, predictions
        if other is not None:
            paid += data.phi.value(predictions, data.y)
        paid[~np.isfinite(predictions)] = np.nan  # a payment may hide it: the hinge at +∞ is 0
        return points, predictions, paid


class Played(Trace):
    """The trace of a compiled game over data: its subgradients are made when first asked for.

    They fill as much memory as the plays, and to write them takes as long as the game.
    """

    predictions: Array  #: ⟨w_t, x_t⟩

    def __init__(
        self, learner: Any, losses: Any, points: Array, predictions: Array, paid: Array, last: Array
    ):
        vars(self).update(learner=learner, losses=losses, points=points, paid=paid, last=last)
        vars(self).update(predictions=predictions)

    @cached_property
    def subgradients(self) -> Array:
        """Return z_1, …, z_T, `(T, n)`."""
        losses = self.losses
        z = losses.phi.slope(self.predictions, losses.y)[:, None] * losses.X
        return z + losses.reg * self.points if losses.reg else z


def play(learner: Any, losses: Any, rounds: int | None = None) -> Any:
    """Play `learner` against `losses` and return the `Trace`, as `ocolib.game.play` does, but sooner.

    Compiled are arrays `(T, n)` of linear losses and losses over data (`perceptron_loss(X, y)`, …), against
    the learners that `rule` knows; the first call compiles. Every other game is played by the simple loop,
    and so is one in which a number gets too large: the loop names the round.

    >>> from ocolib.learners import OGD
    >>> from ocolib.sets import Ball
    >>> trace = play(OGD(Ball(2), eta=0.1), np.ones((1000, 2)))
    >>> round(float(trace.regret(Ball(2))), 6)  # 8√2 − 5.6: eight rounds to reach the edge
    5.713708
    """
    if type(learner) is KernelPerceptron and isinstance(losses, Examples):
        return _kernel(learner, losses if rounds is None else losses[:rounds]) or game.play(
            learner, losses, rounds
        )
    found = _compiled(learner, losses)
    if found is None or (rounds is not None and not 1 <= rounds <= len(losses)):
        return game.play(learner, losses, rounds)
    under_way, loss = found
    given = losses if rounds is None else losses[:rounds]
    if isinstance(given, Examples):
        given = getattr(learner, "sees", lambda x: x)(given)
    else:
        given = validate.frozen("losses", given, ndim=2)
    with np.errstate(all="ignore"):
        points, predictions, paid = under_way.go(given, loss, keep=True)
    if not (np.isfinite(paid).all() and np.isfinite(under_way.w).all()):
        return game.play(learner, losses, rounds)
    if isinstance(given, np.ndarray):
        return Trace(learner, given, points, given, paid, under_way.w)
    return Played(learner, given, points, predictions, paid, under_way.w)


def _compiled(learner: Any, losses: Any) -> tuple[Rounds, Any] | None:
    """Return the compiled game and the code of its losses; None if there is no compiled form."""
    data = isinstance(losses, Examples)
    if not (data or (isinstance(losses, np.ndarray) and losses.ndim == 2)) or find_spec("numba") is None:
        return None
    move, n = rule(learner, data), losses.dim if data else losses.shape[1]
    if move is None or type(move.over) not in SETS or move.over.dim != n or not len(losses):
        return None
    if np.ndim(move.eta(1) if callable(move.eta) else move.eta):  # an array of steps: many games at once
        return None
    if data and hasattr(learner, "sees"):
        losses = learner.sees(losses)
    loss = code(losses)
    return None if loss is None else (Rounds(learner, move), loss)


def _late(learner: learners.DelayedOGD, T: int) -> tuple[Array, Array]:
    """Return (due, order), from 0: the k-th to arrive is of round order[k], due[t] are there after t."""
    if isinstance(learner.delay, tuple) and len(learner.delay) < T:
        learner.arrival(len(learner.delay) + 1)  # it says what is wrong
    delay = np.broadcast_to(learner.delay, T) if isinstance(learner.delay, int) else learner.delay[:T]
    arrival = np.arange(T) + np.asarray(delay)
    order = np.argsort(arrival, kind="stable")
    return np.searchsorted(arrival[order], np.arange(T), side="right"), order


def _kernel(learner: KernelPerceptron, losses: Examples) -> Any:
    """Play a game without weights, 128 rounds at a time: one call of the kernel for a whole block."""
    losses = learner.sees(losses)
    loss = code(losses)
    if loss is None or find_spec("numba") is None:
        return None
    from ocolab.fast import loops

    X, y, T = losses.X, losses.y, len(losses)
    scores, coefficients = np.zeros(T), np.zeros(T)
    for t in (slice(a, min(a + 128, T)) for a in range(0, T, 128)):
        used = np.flatnonzero(coefficients[: t.start])
        if len(used):
            scores[t] = coefficients[used] @ learner.gram(X[used], X[t])
        loops.expansion(learner.gram(X[t], X[t]), loss, y[t], scores[t], coefficients[t])
    return KernelTrace(learner, losses, scores, coefficients)


# ---------------------------------------------------------------- streaming


@dataclass(frozen=True, eq=False)
class Stream:
    """What is left of a streamed game: what was paid, the next play, and the sum of linear losses."""

    learner: Any
    paid: Array  #: f_t(w_t), `(T,)`
    last: Array  #: w_{T+1}
    total: Array | None  #: z_1 + … + z_T if all losses were linear, else None
    #: (Σ⟨z_t', w_t⟩, Σ z_t') for z_t' = z_t less its offset, if the learner's set has a `shift`, else None
    level: tuple[float, Array] | None = None

    def regret(self, over: Any = None, against: Any = None, pieces: Iterable[Any] | None = None) -> float:
        """Return Σ f_t(w_t) − min over the set of Σ f_t, or − Σ f_t(against).

        The set is the learner's unless given. Linear losses need no more; for other losses name a point
        `against` and hand in the `pieces` once more, because they were not kept.
        """
        spent, total = float(self.paid.sum()), self.total
        home: Any = getattr(self.learner, "over", None)
        if against is not None:
            u = validate.vector("against", against, len(self.last))
            if self.level is not None and home.contains(u):
                spent, total = self.level
            if total is not None:
                return float(spent - total @ u)
            if pieces is None:
                raise ValueError(
                    "the losses were not kept: pass the same pieces again, regret(against=u, pieces=…)"
                )
            return spent - sum(_cost(piece, u) for piece in pieces)
        if total is None:
            raise ValueError(
                "the best point needs all the data: use regret(against=u, pieces=…) for one point u"
            )
        over = home if over is None else over
        if not hasattr(over, "minimize_linear"):
            name = type(self.learner if over is None else over).__name__
            raise ValueError(
                f"{name} has no set `over`: name one, regret(over=…), or a point, regret(against=u)"
                if over is None
                else f"{name} has no minimize_linear(c), which finds the best point; name a point, against=u"
            )
        if self.level is not None and type(over) is type(home):
            spent, total = self.level
        return float(spent - total @ over.minimize_linear(total))


def stream(learner: Any, pieces: Iterable[Any]) -> Stream:
    """Play pieces as one game and keep 8 bytes a round.

    A piece is an array `(B, n)` of linear losses, losses over data, or a list of losses; all are of one kind.
    A learner of your own is played by its `player()`, a round at a time. After two seconds the pieces are
    counted, on a terminal or in Jupyter, if `tqdm` is there.

    >>> from ocolib.learners import OGD
    >>> from ocolib.sets import Ball
    >>> game = stream(OGD(Ball(2), eta=0.1), (np.ones((100, 2)) for _ in range(10)))
    >>> round(game.regret(), 6)
    5.713708
    """
    run: Any = None
    paid: list[Array] = [np.empty(0)]
    total: Any = 0.0
    level: Any = (0.0, 0.0) if hasattr(getattr(learner, "over", None), "shift") else None
    for piece in _bar(pieces):
        referee.check_arguments(learner, piece)
        if isinstance(piece, Examples):
            piece = getattr(learner, "sees", lambda x: x)(piece)
        elif isinstance(piece, np.ndarray):
            piece = validate.array("losses", piece, ndim=2)
        if run is None:
            found = None if type(learner) is learners.DelayedOGD else _compiled(learner, piece)
            run = _ByPlayer(learner) if found is None else _ByLoops(*found)
        shift = learner.over.shift(piece) if level and isinstance(piece, np.ndarray) else 0.0
        costs, low = run.go(piece, shift)
        if not np.isfinite(costs).all():
            t = sum(map(len, paid)) + int(np.argmin(np.isfinite(costs))) + 1
            raise ValueError(
                f"every payment must be finite, got {costs[~np.isfinite(costs)][0]} in round {t}"
            )
        paid.append(costs)
        total = total + piece.sum(axis=0) if isinstance(piece, np.ndarray) and total is not None else None
        if level:
            kept = isinstance(piece, np.ndarray) and low is not None
            level = (level[0] + low.sum(), level[1] + (piece - shift).sum(axis=0)) if kept else None
    if run is None:
        raise ValueError("pieces must not be empty")
    return Stream(learner, np.concatenate(paid), run.w, total, level)


class _ByLoops:
    """Play pieces by compiled rounds."""

    def __init__(self, rounds: Rounds, loss: Any) -> None:
        self.rounds, self.loss = rounds, loss

    @property
    def w(self) -> Array:
        return self.rounds.w

    def go(self, piece: Any, shift: Any) -> tuple[Array, Array | None]:
        """Play a piece and return the payments, and those without the `shift` of each round."""
        if isinstance(piece, (np.ndarray, Examples)) and code(piece) == self.loss:
            n = piece.dim if isinstance(piece, Examples) else piece.shape[1]
            if n != len(self.w):
                raise ValueError(f"the losses must have the dimension of the learner, {len(self.w)}, got {n}")
            with np.errstate(all="ignore"):
                if not np.any(shift):
                    paid = self.rounds.go(piece, self.loss, keep=False)[2]
                    return paid, paid
                low = self.rounds.go(piece - shift, self.loss, keep=False)[2]
                return low + shift[:, 0], low
        raise ValueError("all pieces must be of one kind: arrays, or losses over data with one φ")


class _ByPlayer:
    """Play pieces by the learner's own player, a round at a time: `predict` once a round, and for w_{T+1}."""

    def __init__(self, learner: Any) -> None:
        self.player, self.sees = learner.player(), getattr(learner, "sees", lambda loss: loss)
        self.w = self._next()

    def _next(self) -> Array:
        return validate.array("the play", self.player.predict(), ndim=1).copy()

    def go(self, piece: Any, shift: Any) -> tuple[Array, Array | None]:
        n = piece.shape[-1] if isinstance(piece, np.ndarray) else getattr(piece, "dim", len(self.w))
        if n != len(self.w):
            raise ValueError(f"the losses must have the dimension of the learner, {len(self.w)}, got {n}")
        costs, plays = [], []
        for loss in map(self.sees, map(Linear, piece) if isinstance(piece, np.ndarray) else piece):
            plays.append(self.w)
            costs.append(float(loss.value(self.w.copy())))
            if hasattr(self.player, "step"):
                self.player.step(loss.subgradient(self.w.copy()))
            else:
                self.player.update(loss)
            self.w = self._next()
        paid = np.array(costs)
        if not np.any(shift):
            return paid, paid
        W = np.array(plays)
        inside = (np.abs(W.sum(axis=-1) - 1.0) <= 1e-9).all()  # else some play avoids the offset
        return paid, ((piece - shift) * W).sum(axis=-1) if inside else None


def _cost(piece: Any, u: Array) -> float:
    """Return what the point u pays in all rounds of a piece."""
    if isinstance(piece, np.ndarray):
        return float((piece @ u).sum())
    return float(piece.values(u).sum() if isinstance(piece, Examples) else sum(f.value(u) for f in piece))


def _bar(pieces: Iterable[Any]) -> Iterator[Any]:
    """Count the pieces where somebody may be watching."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules) or find_spec("tqdm") is None:
        return iter(pieces)
    from tqdm import tqdm

    return iter(tqdm(pieces, delay=2, unit="piece"))
