"""Check the arguments of a game and every round of it; each error says what to write instead.

`ocolib.game` calls these functions so that its loop reads like the definition of the game.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.losses import Examples, Linear
from ocolib.sets import inside
from ocolib.types import Array


def check_arguments(learner: Any, losses: Any) -> None:
    """Raise a `ValueError` if `learner` is not a learner or `losses` are not losses; say what to write."""
    if isinstance(learner, type):
        name = learner.__name__
        raise ValueError(f"learner must be an object, got the class {name}; write {name}(…)")
    if not any(hasattr(learner, name) for name in ("player", "points", "play")):
        if hasattr(losses, "player"):
            raise ValueError("the arguments are swapped: write play(learner, losses)")
        hint = "; it looks like a player: put it into a class whose player() returns a fresh one"
        hint = hint if hasattr(learner, "predict") else ""
        raise ValueError(f"learner must have a method player(), got {type(learner).__name__}{hint}")
    if hasattr(losses, "to_numpy"):
        found = type(losses).__name__
        raise ValueError(f"losses must be an array (T, n), got a {found}; write losses.to_numpy()")
    if isinstance(losses, np.ndarray):
        if losses.ndim < 2:
            hint = "; in one dimension write losses[:, None]" if losses.ndim == 1 else ""
            raise ValueError(f"losses must have shape (..., T, n), got {losses.shape}{hint}")
        return
    if isinstance(losses, tuple) and len(losses) in (2, 3) and np.ndim(losses[0]) == 2:
        raise ValueError("losses must not be a tuple of arrays; for data (X, y) write perceptron_loss(X, y)")
    if hasattr(losses, "subgradient"):
        raise ValueError(f"losses must be a sequence, got one {type(losses).__name__}; write [loss] * T")
    listed = hasattr(losses, "__iter__") or hasattr(losses, "__getitem__")
    if isinstance(losses, (str, bytes, Mapping)) or not (callable(losses) or listed):
        raise ValueError(
            "losses must be an array (T, n), losses over data, an iterable of losses or an adversary, "
            f"got {type(losses).__name__}"
        )
    if not hasattr(learner, "player") and not hasattr(learner, "play"):
        who = type(learner).__name__
        raise ValueError(f"{who} has only points(Z), so its losses must be linear, given as one array")


def set_of(learner: Any) -> Any:
    """Return the learner's set `over`."""
    if not hasattr(getattr(learner, "over", None), "project"):
        who = type(learner).__name__
        raise ValueError(f"{who} has no set `over` to check against: give it one, or leave out check=True")
    return learner.over


def check_inside(over: Any, plays: Array) -> None:
    """Raise a `ValueError` that names the first round whose play is outside the set, in any run."""
    good = inside(over, plays)
    if not good.all():
        t = int(np.argmin(good.reshape(-1, good.shape[-1]).all(axis=0)))
        raise ValueError(f"round {t + 1}: the play {plays[..., t, :]} is outside {over!r}")


def checked_play(play: Any, batch: tuple[int, ...], over: Any = None) -> Array:
    """Check what `predict` returned, and that it lies in `over`; return a new array of shape batch + (n,)."""
    w = validate.numbers("the play", play)
    if w.ndim == 0:
        raise ValueError(f"the play must be a vector of shape (n,), got the number {w}; return np.array([x])")
    w = validate.array("the play", w)
    try:
        w = np.broadcast_to(w, (*batch, w.shape[-1])).copy()
    except ValueError:
        wanted = f"(n,) or {(*batch, 'n')}" if batch else "(n,)"
        raise ValueError(f"the play must have shape {wanted}, got {w.shape}") from None
    if over is not None and not inside(over, w).all():
        raise ValueError(f"the play {w} is outside {over!r}")
    return w


def checked_loss(learner: Any, found: Any, w: Array) -> Any:
    """Check what was revealed; a vector z stands for the linear loss ⟨z, w⟩."""
    if found is None:
        raise ValueError("a loss must not be None: does the function that chooses it end with a return?")
    missing = [name for name in ("value", "subgradient") if not hasattr(found, name)]
    if len(missing) == 2 and not isinstance(found, Examples) and not callable(found):
        if np.ndim(found) == 0 and validate.numbers("z", found).ndim == 0:
            raise ValueError(f"a linear loss must be a vector, got the number {found}; write [{found}]")
        loss: Any = Linear(validate.vector("z", found, w.shape[-1]))
    elif missing:
        hint = "; rename its method `gradient` to `subgradient`" if hasattr(found, "gradient") else ""
        hint = "; pass a single example, such as losses[0]" if isinstance(found, Examples) else hint
        lacks = f"got {type(found).__name__} without {' and '.join(missing)}"
        raise ValueError(f"a loss must have value(w) and subgradient(w), {lacks}{hint}")
    else:
        loss = found
    if getattr(loss, "dim", w.shape[-1]) != w.shape[-1]:
        raise ValueError(
            f"the loss has dimension {loss.dim}, but the learner plays in dimension {w.shape[-1]}"
        )
    return learner.sees(loss) if hasattr(learner, "sees") else loss


def checked_price(value: Any, batch: tuple[int, ...]) -> Array:
    """Check f_t(w_t): one finite number for each run of the batch."""
    price = validate.numbers("the value of the loss", value)
    if price.size != math.prod(batch):
        raise ValueError(f"the value of the loss must be one number per run, got shape {price.shape}")
    if not np.isfinite(price).all():
        raise ValueError(f"the value of the loss must be finite, got {value}")
    return price.reshape(batch)


def explain(error: Exception, learner: Any, batch: tuple[int, ...]) -> str:
    """Return the message of an error; add a hint if the losses hold several runs, with axes `batch`."""
    said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
    if not batch:
        return said
    runs, who = math.prod(batch), type(learner).__name__
    return f"{said} (the losses hold {runs} games at once; if {who} can only play one, pass losses[0])"
