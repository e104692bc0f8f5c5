"""Play long games with compiled loops, and stream games that do not fit into memory.

`play(learner, losses)` returns the same `Trace` as `ocolib.game.play`, up to rounding (which can change the
subgradient chosen at a kink). `stream(learner, pieces)` takes the losses in pieces and stores what was paid
in each round, but no plays. Both have compiled versions for most learners, sets and losses of `ocolib`, which
they look up by exact type (`rule`, `SETS`, `code`); everything else, including your own classes, is played by
the ordinary loop. The compiled versions need numba (`ocolib[fast]`).
"""

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ocolib import game, learners, phi, referee, sets, validate
from ocolib.kernels import KernelPerceptron, KernelTrace
from ocolib.learners import steps
from ocolib.losses import Examples
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.trace import Trace
from ocolib.types import Array

# ---------------------------------------------------------------- which games have a compiled version

#: the numbers by which the compiled loops know sets, moves and losses
SPACE, BALL, CLIP, HALFSPACE, SIMPLEX, L1 = range(6)
EAGER, LAZY, SOFTMAX, POWER = range(4)
KINKED, TUBE, LINEAR = -1, -2, -3
SMOOTH = phi.SQUARED_HINGE, phi.EXPONENTIAL, phi.LOGISTIC, phi.LEAST_SQUARES, phi.HUBER, phi.POISSON

#: {type of set: (kind, size, a, b)}: size and a are radius and center of a ball, distance and unit normal of
#: a half-space; a and b are the two corners of a box
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
    """Describe how a learner moves: w ← Π(w − η·z) if eager, else by a function of the sum of the z."""

    move: int
    over: Any
    eta: Any  #: the step size or schedule; for Winnow its factor
    start: Array


def rule(learner: Any, data: bool) -> Rule | None:
    """Return the `Rule` by which the learner moves, or None if it has no compiled version.

    `data` says whether the losses are losses over data rather than linear ones. Such losses are not linear,
    so FTRL has a compiled version for them only inside `Linearized`.

    >>> from ocolib.learners import OGD
    >>> rule(OGD(sets.Ball(2), eta=0.1), data=True).eta
    0.1
    >>> rule(learners.FTL(sets.Ball(2)), data=True) is None
    True
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
    """Return (code, a, b, c), the number of a loss for the compiled loops and its constants.

    `losses` is an array of linear losses or losses over data; None means that there is no compiled version.

    >>> from ocolib.losses import hinge
    >>> code(hinge([[1.0, 2.0]], [1])), code(np.ones((3, 2)))
    ((-1, 1.0, 0.0, 0.0), (-3, 0.0, 0.0, 0.0))
    """
    if isinstance(losses, np.ndarray):
        return LINEAR, 0.0, 0.0, 0.0
    f = losses.phi
    if type(f) in (phi.PerceptronLoss, phi.HingeLoss):
        return KINKED, f.bend, f.kink, f.threshold
    if type(f) is phi.TubeLoss:
        return TUBE, f.up, f.down, f.eps
    known = [i for i, smooth in enumerate(SMOOTH) if smooth == f]
    return (known[0], 0.0, 0.0, 0.0) if known else None


# ---------------------------------------------------------------- play

#: {number of entries: memory}: the memory of at most one earlier game whose trace has been deleted
SPARE: dict[int, memoryview] = {}
KEPT = 2**23  #: the most entries that are kept for reuse, 64 MB


def room(T: int, n: int) -> Array:
    """Return an uninitialised array `(T, n)`, which reuses the memory of an earlier, deleted game if it fits.

    Reuse pays off because the operating system clears every new page of memory, which can take longer than
    playing the game. Every view of the array refers to `root`; so when `root` is deleted no view is left,
    and its memory is free for the next game.
    """
    memory = SPARE.pop(T * n, None) or np.empty(T * n).data
    root = np.frombuffer(memory)
    if T * n <= KEPT:
        weakref.finalize(root, _spare, memory).atexit = False
    return root.reshape(T, n)


def _spare(memory: memoryview) -> None:
    """Keep this memory, and only this, for the next game."""
    SPARE.clear()
    SPARE[len(memory)] = memory


class Rounds:
    """Play a compiled game piece by piece; the current play and the sum of gradients carry over."""

    def __init__(self, learner: Any, move: Rule) -> None:
        kind, size, a, b = SETS[type(move.over)](move.over)
        self.learner, self.t, self.eta, self.move = learner, 0, move.eta, move.move
        self.over = kind, float(size), a.copy(), b.copy()  # writable, so that numba compiles one version only
        self.start, self.w = move.start.copy(), move.over.project(move.start).copy()
        self.total = None if move.move == EAGER else np.zeros(len(self.w))

    def go(self, losses: Any, loss: Any, keep: bool) -> tuple[Any, Array, Array]:
        """Play the next piece; return (plays or None, predictions ⟨w_t, x_t⟩, payments)."""
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
        paid[~np.isfinite(predictions)] = np.nan  # else the hinge loss 0 at +∞ would hide the overflow
        return points, predictions, paid


class Played(Trace):
    """Store the result of a compiled game over data; the subgradients are computed on first use.

    They would take as much memory as the plays, and about as much time as the game itself.
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
    """Play `learner` against `losses` with compiled loops and return the `Trace`.

    The arguments and the result are those of `ocolib.game.play`, and the plays agree up to rounding. Compiled
    versions exist for arrays `(T, n)` of linear losses and for losses over data (`perceptron_loss(X, y)`, …),
    with the learners that `rule` knows; the first call compiles, which takes a while. Every other game is
    passed to `ocolib.game.play`. So is a game whose numbers become infinite, because the error message of
    the ordinary loop names the round.

    >>> from ocolib.learners import OGD
    >>> from ocolib.sets import Ball
    >>> trace = play(OGD(Ball(2), eta=0.1), np.ones((1000, 2)))
    >>> round(float(trace.regret(Ball(2))), 6)  # 8√2 − 5.6: it takes eight rounds to reach the boundary
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
    """Return the compiled game and the code of its losses, or None if there is no compiled version."""
    data = isinstance(losses, Examples)
    if not (data or (isinstance(losses, np.ndarray) and losses.ndim == 2)) or find_spec("numba") is None:
        return None
    move, n = rule(learner, data), losses.dim if data else losses.shape[1]
    if move is None or type(move.over) not in SETS or move.over.dim != n or not len(losses):
        return None
    if np.ndim(move.eta(1) if callable(move.eta) else move.eta):  # an array of steps is many games
        return None
    if data and hasattr(learner, "sees"):
        losses = learner.sees(losses)
    loss = code(losses)
    return None if loss is None else (Rounds(learner, move), loss)


def _late(learner: learners.DelayedOGD, T: int) -> tuple[Array, Array]:
    """Return (due, order): round order[k] is the k-th to arrive, and due[t] have arrived after round t.

    Rounds and arrivals are counted from 0.
    """
    if isinstance(learner.delay, tuple) and len(learner.delay) < T:
        learner.arrival(len(learner.delay) + 1)  # raises the error for a missing delay
    delay = np.broadcast_to(learner.delay, T) if isinstance(learner.delay, int) else learner.delay[:T]
    arrival = np.arange(T) + np.asarray(delay)
    order = np.argsort(arrival, kind="stable")
    return np.searchsorted(arrival[order], np.arange(T), side="right"), order


def _kernel(learner: KernelPerceptron, losses: Examples) -> Any:
    """Play the kernel Perceptron in blocks of 128 rounds, each with two calls of the kernel at most."""
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


# ---------------------------------------------------------------- stream


@dataclass(frozen=True, eq=False)
class Stream:
    """Store the result of a streamed game: the payments, the next play and the sum of the linear losses."""

    learner: Any
    paid: Array  #: f_t(w_t), `(T,)`
    last: Array  #: w_{T+1}
    total: Array | None  #: z_1 + … + z_T if all losses were given as arrays, else None
    #: (Σ⟨z_t', w_t⟩, Σ z_t') if the learner's set has a `shift`, where z_t' is z_t without its offset;
    #: it gives the same regret, without the rounding errors of a large offset
    level: tuple[float, Array] | None = None

    def __repr__(self) -> str:
        who, mean = type(self.learner).__name__, self.paid.mean()
        return f"Stream({who}: {len(self.paid)} rounds, dimension {len(self.last)}, mean loss {mean:.6g})"

    def regret(self, over: Any = None, against: Any = None, pieces: Iterable[Any] | None = None) -> float:
        """Return the regret Σ f_t(w_t) − min_{u ∈ over} Σ f_t(u), or Σ f_t(w_t) − Σ f_t(against).

        `over` is the learner's own set by default. If all losses were arrays of linear losses, nothing else
        is needed. For other losses pass a point `against` and the same `pieces` again, because they were not
        stored.
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
                    "the losses were not stored: pass the same pieces again, regret(against=u, pieces=…)"
                )
            return spent - sum(_cost(piece, u) for piece in pieces)
        if total is None:
            raise ValueError(
                "regret(over) needs linear losses, because the best point needs all the data; "
                "for a point u write regret(against=u, pieces=…)"
            )
        over = home if over is None else over
        if not hasattr(over, "minimize_linear"):
            name = type(self.learner if over is None else over).__name__
            raise ValueError(
                f"{name} has no set `over`: name one, regret(over=…), or a point, regret(against=u)"
                if over is None
                else f"{name} has no minimize_linear(c), which regret(over=…) needs to find the best point; "
                "add it, or name a point, regret(against=u)"
            )
        if self.level is not None and type(over) is type(home):
            spent, total = self.level
        return float(spent - total @ over.minimize_linear(total))


def stream(learner: Any, pieces: Iterable[Any]) -> Stream:
    """Play the pieces as one long game, storing only 8 bytes per round, and return a `Stream`.

    A piece is an array `(B, n)` of linear losses, losses over data, or a list of losses; all pieces must be
    of the same kind. Learners without a compiled version, including your own, are played round by round
    with their `player()`. A game that takes longer than two seconds shows a progress bar on a terminal or in
    Jupyter, if `tqdm` is installed.

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
        if hasattr(piece, "subgradient"):
            name = type(piece).__name__
            raise ValueError(
                f"a piece must be an array or a list of losses, got one {name}; write [[loss], …]"
            )
        if isinstance(piece, np.ndarray) and piece.ndim != 2:
            raise ValueError(f"a piece must be an array (B, n) of linear losses, got shape {piece.shape}")
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
        raise ValueError("pieces must not be empty: pass at least one array or piece of losses")
    return Stream(learner, np.concatenate(paid), run.w, total, level)


class _ByLoops:
    """Play pieces with the compiled loops."""

    def __init__(self, rounds: Rounds, loss: Any) -> None:
        self.rounds, self.loss = rounds, loss

    @property
    def w(self) -> Array:
        return self.rounds.w

    def go(self, piece: Any, shift: Any) -> tuple[Array, Array | None]:
        """Play a piece; return the payments, and the payments without the `shift` of each round."""
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
        raise ValueError("all pieces must be of one kind: arrays, or losses over data with the same φ")


class _ByPlayer:
    """Play pieces round by round with the learner's player; `predict` is called T + 1 times."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.player, self.t = learner, learner.player(), 0
        self._next()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Raise any error again as a `ValueError` that names the round, as `play` does."""
        try:
            yield
        except Exception as error:
            raise ValueError(f"round {self.t}: {referee.explain(error, self.learner, ())}") from error

    def _next(self) -> None:
        """Ask the player for the play of the next round."""
        self.t += 1
        with self._named():
            self.w = referee.checked_play(self.player.predict(), ())

    def go(self, piece: Any, shift: Any) -> tuple[Array, Array | None]:
        """Play a piece; return payments with and without `shift`, None for the latter if some Σ w_i ≠ 1."""
        costs, plays = [], []
        for loss in piece:
            with self._named():
                loss = referee.checked_loss(self.learner, loss, self.w)
                plays.append(self.w)
                costs.append(referee.checked_price(loss.value(self.w.copy()), ()))
                if hasattr(self.player, "step"):
                    z = validate.array("the subgradient", loss.subgradient(self.w.copy()), len(self.w))
                    self.player.step(z.copy())
                else:
                    self.player.update(loss)
            self._next()
        paid = np.array(costs)
        if not np.any(shift):
            return paid, paid
        W = np.array(plays)
        inside = (np.abs(W.sum(axis=-1) - 1.0) <= 1e-9).all()  # only then does every play pay the offset
        return paid, ((piece - shift) * W).sum(axis=-1) if inside else None


def _cost(piece: Any, u: Array) -> float:
    """Return the total loss of the point u in all rounds of a piece."""
    if isinstance(piece, np.ndarray):
        return float((piece @ u).sum())
    return float(piece.values(u).sum() if isinstance(piece, Examples) else sum(f.value(u) for f in piece))


def _bar(pieces: Iterable[Any]) -> Iterator[Any]:
    """Show a progress bar over the pieces on a terminal or in a notebook."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules) or find_spec("tqdm") is None:
        return iter(pieces)
    from tqdm import tqdm

    return iter(tqdm(pieces, delay=2, unit="piece"))
