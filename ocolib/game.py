"""Play the online game: in round t the learner plays w_t, then f_t is revealed and it pays f_t(w_t).

`play(learner, losses)` returns a `Trace` with all plays, subgradients and payments; `trace.regret()` compares
them with the best fixed point. Most games run in one loop, round by round. For linear losses that are known
in advance, a learner with a closed form `points(Z)` computes all plays at once instead.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from ocolib import referee, validate
from ocolib.losses import Example, Examples, Linear, inner
from ocolib.sets import Set
from ocolib.trace import Trace
from ocolib.types import Adversary, Array, Losses

END = object()  # comes after the last loss


def play(learner: Any, losses: Losses | Adversary, rounds: int | None = None, check: bool = False) -> Any:
    """Play `learner` against `losses` and return the `Trace`.

    `losses` is an array `(..., T, n)` of linear losses, losses over data such as `hinge(X, y)`, any iterable
    of losses, or an adversary `adversary(t, w, past)`. `rounds` is the number of rounds: all losses by
    default, and required for an adversary. Iterables are read lazily, one loss per round, so they may be
    endless. With `check=True`, a play outside the learner's set `over` raises an error.

    To write your own learner, give it a method `player()` that returns a fresh object with two methods:
    `predict()` returns the next play, and `step(z)` receives the subgradient z_t (or `update(loss)` receives
    the loss itself). `predict` is called once per round and once at the end, for w_{T+1}. An optional method
    `points(Z)` returns all plays against linear losses at once.

    An error in round t of the loop is raised as a `ValueError` that starts with "round t:"; an error in a
    closed form names no round. A `KernelPerceptron` returns a `KernelTrace`, because its plays are functions
    and not vectors.

    >>> from ocolib import adversaries, learners, sets
    >>> interval = sets.Box([-1], [1])
    >>> trace = play(learners.FTL(interval), adversaries.alternating(10))
    >>> float(trace.regret())  # Example 2 of Lecture 13: T − ½
    9.5
    >>> float(trace.regret()) == max(float(trace.regret(against=[u])) for u in (-1, 0, 1))
    True

    A learner of your own, against the absolute loss of your own:

    >>> class HalfSteps:
    ...     over = interval
    ...     def player(self):
    ...         return HalfStepsPlayer()
    >>> class HalfStepsPlayer:
    ...     w = np.zeros(1)
    ...     def predict(self):
    ...         return self.w
    ...     def step(self, z):
    ...         self.w = np.clip(self.w - 0.5 * z, -1, 1)
    >>> class Distance:
    ...     def value(self, w):
    ...         return abs(w[0] - 0.75)
    ...     def subgradient(self, w):
    ...         return np.sign(w - 0.75)
    >>> play(HalfSteps(), [Distance()] * 4).points[:, 0]
    array([0. , 0.5, 1. , 0.5])
    """
    referee.check_arguments(learner, losses)
    rounds = None if rounds is None else validate.count("rounds", rounds)
    if callable(losses) and rounds is None:
        raise ValueError("rounds must be given when an adversary chooses the losses: play(…, rounds=100)")
    if isinstance(losses, (np.ndarray, Examples)):
        losses = _first_rounds(losses, rounds)
    if hasattr(learner, "play"):  # a kernel learner returns its own kind of trace
        return learner.play(losses)
    if hasattr(learner, "sees") and isinstance(losses, (np.ndarray, Examples)):
        losses = learner.sees(losses)
    if isinstance(losses, np.ndarray) and _has_closed_form(learner):
        trace = _closed_form(learner, losses)
        if check:
            referee.check_inside(referee.set_of(learner), trace.plays)
        return trace
    return loop(learner, losses, rounds, check)


def _first_rounds(losses: Any, rounds: int | None) -> Any:
    """Return the first `rounds` losses (all by default) of an array, which is copied, or of `Examples`."""
    T = losses.shape[-2] if isinstance(losses, np.ndarray) else len(losses)
    if rounds is not None and rounds > T:
        raise ValueError(f"rounds must be ≤ {T}, the number of losses, got {rounds}")
    if isinstance(losses, np.ndarray):
        return validate.frozen("losses", losses[..., :rounds, :])
    return losses if rounds is None else losses[:rounds]


def _has_closed_form(learner: Any) -> bool:
    """Test whether `points` can be used: a set of your own may project only one point at a time."""
    over = getattr(learner, "over", None)
    many = over is None or isinstance(over, Set) or not hasattr(learner, "player")
    return many and hasattr(learner, "points")


def _closed_form(learner: Any, Z: Array) -> Trace:
    """Play linear losses by the learner's closed form `points(Z)`."""
    n, dim = Z.shape[-1], getattr(getattr(learner, "over", None), "dim", Z.shape[-1])
    if n != dim:
        raise ValueError(f"the losses have dimension {n}, but the learner plays in dimension {dim}")
    plays = validate.numbers("points(Z)", learner.points(Z))
    if plays.ndim < 2 or plays.shape[-2:] != (Z.shape[-2] + 1, Z.shape[-1]):
        raise ValueError(
            f"points(Z) must have shape (..., T + 1, n) for Z of shape {Z.shape}, got {plays.shape}"
        )
    points, last = plays[..., :-1, :], plays[..., -1, :]
    return Trace(learner, Z, points, np.broadcast_to(Z, points.shape), inner(Z, points), last)


def loop(learner: Any, losses: Any, rounds: int | None = None, check: bool = False) -> Trace:
    """Play round by round, even if the learner has a closed form; return the `Trace`.

    `play` does the same after checking its arguments and uses closed forms where it can.
    """
    reveal = _loss_source(losses, rounds)
    batch = losses.shape[:-2] if isinstance(losses, np.ndarray) else ()
    player, over = learner.player(), referee.set_of(learner) if check else None
    points, played, paid = [], [], []
    with np.errstate(all="ignore"):  # nan and inf raise an error that names the round instead of a warning
        for t in count(1):
            try:
                w = referee.checked_play(player.predict(), batch, over)
                if t == 1:
                    subgradients = np.empty((rounds or 64, *w.shape))
                loss = reveal(t, w.copy(), subgradients[: t - 1])
                if loss is END:  # w is w_{T+1}
                    break
                loss = referee.checked_loss(learner, loss, w)
                z = validate.array("the subgradient", loss.subgradient(w.copy()), w.shape[-1])
                paid.append(referee.checked_price(loss.value(w.copy()), batch))
                points.append(w)
                played.append(loss)
                if t > len(subgradients):
                    subgradients = np.concatenate([subgradients, np.empty_like(subgradients)])
                subgradients[t - 1] = z
                player.step(z.copy()) if hasattr(player, "step") else player.update(loss)
            except Exception as error:
                raise ValueError(f"round {t}: {referee.explain(error, learner, batch)}") from error
    if not points:
        raise ValueError("losses must not be empty")
    whole = losses if isinstance(losses, (np.ndarray, Examples)) else _stacked(played)
    Z = np.moveaxis(subgradients[: len(points)], 0, -2).copy()
    return Trace(learner, whole, np.stack(points, axis=-2), Z, np.stack(paid, axis=-1), w)


def _loss_source(losses: Any, rounds: int | None) -> Callable[[int, Array, Array], Any]:
    """Return a function of (t, w_t, past) that gives the loss of round t, or `END` after the last round."""
    if callable(losses):

        def ask(t: int, w: Array, past: Array) -> Any:
            return losses(t, w, past.copy()) if t <= rounds else END  # type: ignore[operator]

        return ask
    rows = np.moveaxis(losses, -2, 0) if isinstance(losses, np.ndarray) else losses
    source = iter(rows)

    def pull(t: int, w: Array, past: Array) -> Any:
        if rounds is not None and t > rounds:
            return END
        loss = next(source, END)
        if loss is END and rounds is not None:
            raise ValueError(f"there are only {t - 1} losses, but rounds = {rounds}")
        return Linear(loss) if isinstance(losses, np.ndarray) and loss is not END else loss

    return pull


def _stacked(played: list[Any]) -> Any:
    """Return linear losses as one array, examples with the same φ and reg as `Examples`, else the list."""
    if all(type(f) is Linear for f in played):
        return validate.frozen("losses", np.array([f.z for f in played]))
    f = played[0]
    if all(type(g) is Example and (g.phi, g.reg) == (f.phi, f.reg) for g in played):
        return Examples(np.array([g.x for g in played]), np.array([g.y for g in played]), f.phi, f.reg)
    return played
