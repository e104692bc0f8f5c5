"""The game: in round t the learner plays w_t, then the loss f_t is revealed, and the learner pays f_t(w_t).

`play(learner, losses)` plays it and returns a `Trace`, from which regrets are read. The loops below
define a game; a long one may be played by `engine`, which gives the same trace sooner, up to
rounding, which may settle a tie otherwise.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, overload

import numpy as np

from ocolib import engine as engines
from ocolib import validate
from ocolib.blocks import inner
from ocolib.learners import KernelPerceptron, Linearized, small
from ocolib.losses import Example, Examples, Linear, Losses
from ocolib.protocols import Adversary, Array, ClosedForm, GradientPlayer, Learner, Loss, Reader
from ocolib.traces import KernelTrace, Trace

# ---------------------------------------------------------------- playing


@overload
def play(
    learner: KernelPerceptron, losses: Examples, rounds: Any = None, keep: Any = None, engine: Any = None
) -> KernelTrace: ...


@overload
def play(
    learner: Learner,
    losses: Losses | Iterable[Any] | Adversary,
    rounds: int | None = None,
    keep: bool | None = None,
    engine: str | None = None,
) -> Trace: ...


def play(
    learner: Learner, losses: Any, rounds: Any = None, keep: Any = None, engine: Any = None
) -> Trace | KernelTrace:
    """Play `learner` against `losses` and return the `Trace` (of a kernel learner, a `KernelTrace`).

    `losses`: an array `(..., T, n)` of linear losses, a sequence of losses, losses over data
    (`perceptron_loss(X, y)`, …), or an adversary `adversary(t, w, past)`, which needs `rounds`. Of other
    losses the first `rounds` are played, or all. A kernel learner takes `perceptron_loss(X, y)` alone.

    `keep`: shall the trace of a compiled game keep all plays? Else they are played again when `trace.points`
    is asked for. If not said: up to 256 MiB. `engine`: "compiled", where there is such a form, or
    "numpy"; if not said, compiled for long games if numba is installed.

    >>> from ocolib import adversaries, learners, sets
    >>> interval = sets.Box([-1], [1])
    >>> trace = play(learners.FTL(interval), adversaries.alternating(10))
    >>> float(trace.regret(interval))  # Example 2: T − ½
    9.5
    >>> float(trace.regret(interval)) == max(float(trace.regret(against=[u])) for u in (-1, 0, 1))
    True
    """
    if rounds is not None:
        rounds = validate.count("rounds", rounds)
    engines.wanted(engine, 0)  # is it the name of one?
    how = {"keep": keep, "engine": engine}
    if isinstance(learner, KernelPerceptron) and not isinstance(losses, Examples):
        raise ValueError(f"KernelPerceptron plays perceptron_loss(X, y), got {type(losses).__name__}")
    if callable(losses):
        if rounds is None:
            raise ValueError("rounds must be given when an adversary chooses the losses")
        return _play_adversary(learner, losses, rounds)
    if isinstance(losses, np.ndarray):
        Z = validate.freeze(validate.shaped("losses", losses))
        if Z.ndim < 2:
            raise ValueError(f"losses must have shape (..., T, n), got {Z.shape}")
        return _play_linear(learner, Z[..., : _stop(rounds, Z.shape[-2]), :], **how)
    if isinstance(losses, Examples):
        return _play_examples(learner, losses[: _stop(rounds, len(losses))], **how)
    sequence = validate.asked("the list of losses", list, losses)
    if not sequence:
        raise ValueError("losses must not be empty")
    return _play_adversary(learner, lambda t, w, past: sequence[t - 1], _stop(rounds, len(sequence)))


def _stop(rounds: int | None, available: int) -> int:
    if rounds is not None and rounds > available:
        raise ValueError(f"rounds must be ≤ {available}, the number of losses, got {rounds}")
    return rounds or available


def _play_linear(learner: Learner, Z: Array, **how: Any) -> Trace:
    played = engines.played(learner, Z, **how)  # entries beyond 1e120 are not compiled
    if played is not None:
        again = partial(play, learner, Z, engine="compiled")
        return Trace(learner, Z, played.points, Z, played.predictions, played.last, again=again)
    leader = learner.learner if isinstance(learner, Linearized) else learner  # Z is its own surrogate
    w = leader.points(Z) if isinstance(leader, ClosedForm) else loop(leader, validate.array("losses", Z))
    points, last = w[..., :-1, :], w[..., -1, :]
    return Trace(learner, Z, points, Z, inner(Z, points), last)


def loop(learner: Learner, Z: Array) -> Array:
    """The plays w_1, …, w_{T+1} round by round: what `points` must reproduce."""
    player = learner.player()
    _same_dim(Linear(Z[..., 0, :]), player.predict().shape[-1])
    direct = isinstance(player, GradientPlayer) and not isinstance(learner, Reader)
    w = np.empty((*Z.shape[:-2], Z.shape[-2] + 1, Z.shape[-1]))
    for t in range(Z.shape[-2]):
        w[..., t, :] = player.predict()
        player.step(Z[..., t, :]) if direct else player.update(Linear(Z[..., t, :]))
    w[..., -1, :] = player.predict()
    return w


def _play_examples(learner: Learner, losses: Examples, **how: Any) -> Trace | KernelTrace:
    player, losses = learner.player(), getattr(learner, "sees", lambda x: x)(losses)
    if isinstance(learner, KernelPerceptron):
        return KernelTrace(
            learner, losses, *(engines.kernel(learner, losses, how["engine"]) or _expand(player, losses))
        )
    if not hasattr(player, "step"):  # it wants the losses themselves, not a subgradient
        return _play_adversary(learner, lambda t, w, past: losses[t - 1], len(losses))
    _same_dim(losses, player.predict().shape[-1])
    played = engines.played(learner, losses, **how)
    if played is not None:
        kept, again = (played.points, None), partial(play, learner, losses, engine="compiled")
        return Trace(learner, losses, *kept, played.paid, played.last, played.predictions, again)
    with np.errstate(all="ignore"):  # what is not finite is refused by name
        points, subgradients = _rounds(player, getattr(player, "rush", player.step), losses)
        if hasattr(player, "rush") and not small(points[0], player.largest * subgradients):
            player = learner.player()  # once more, with a look at every step
            points, subgradients = _rounds(player, player.step, losses)
        validate.finite("play", points)
        return Trace(learner, losses, points, subgradients, losses.values(points), player.predict())


def _rounds(player: GradientPlayer, step: Callable[[Array], None], losses: Examples) -> tuple[Array, Array]:
    """(points, subgradients) of a player who moves by `step`."""
    X, y, slope, reg, predict = losses.X, losses.y.tolist(), losses.phi.slope, losses.reg, player.predict
    points, slopes, w, rests = np.empty_like(X), np.empty(len(X)), predict(), getattr(player, "rests", False)
    for t, x in enumerate(X):
        points[t] = w
        slopes[t] = s = slope(float(w.dot(x)), y[t])
        if s or reg or not rests:
            step(s * x + reg * w if reg else s * x)
            w = predict()
    return points, slopes[:, None] * X + reg * points if reg else slopes[:, None] * X


def _expand(player: Any, losses: Examples) -> tuple[Array, Array]:
    X, y, slope = losses.X, losses.y, losses.phi.slope
    scores, coefficients = np.empty(len(X)), np.empty(len(X))
    for t in range(len(X)):
        scores[t] = player.margin(X[t])
        coefficients[t] = 0.0 - slope(scores[t], y[t])
        player.step(X[t], coefficients[t])
    return scores, coefficients


def _play_adversary(learner: Learner, adversary: Adversary, rounds: int) -> Trace:
    player, sees = learner.player(), getattr(learner, "sees", lambda loss: loss)
    played: list[Loss] = []
    dim = player.predict().shape[-1]
    points, subgradients = np.empty((rounds, dim)), np.empty((rounds, dim))
    for t in range(1, rounds + 1):
        w = points[t - 1] = player.predict()
        loss = validate.asked(f"the adversary in round {t}", adversary, t, w, subgradients[: t - 1])
        if not isinstance(loss, Loss):
            loss = Linear(validate.vector("the adversary's z", loss, dim))
        _same_dim(loss, dim)
        played.append(sees(loss))
        name = f"the subgradient of {type(played[-1]).__name__} in round {t}"
        subgradients[t - 1] = validate.vector(name, validate.asked(name, played[-1].subgradient, w), dim)
        player.update(loss)
    validate.finite("play", points)
    paid = np.array([_price(f, w) for f, w in zip(played, points, strict=True)])
    return Trace(learner, _gather(played), points, subgradients, paid, player.predict())


def _price(loss: Loss, w: Array) -> float:
    return validate.asked(f"the value of {type(loss).__name__}", lambda w: float(loss.value(w)), w)


def _same_dim(losses: Any, dim: int) -> None:
    if getattr(losses, "dim", dim) != dim:
        raise ValueError(f"the losses must have the dimension of the learner, {dim}, got {losses.dim}")


def _gather(played: list[Any]) -> Losses:
    """Linear losses as one array, examples of one φ and one reg as one `Examples`; else the list."""
    if all(isinstance(f, Linear) for f in played):
        return np.array([f.z for f in played])
    f = played[0]
    if all(isinstance(g, Example) and (g.phi, g.reg) == (f.phi, f.reg) for g in played):
        return Examples(np.array([g.x for g in played]), np.array([g.y for g in played]), f.phi, f.reg)
    return played
