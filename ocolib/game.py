"""Play the online game: in round t the learner plays w_t, then f_t is revealed and it pays f_t(w_t).

`play(learner, losses)` returns a `Trace` with all plays, subgradients and payments; `trace.regret()` compares
them with the best fixed point. Most games run in one loop, round by round. For linear losses that are known
in advance, a learner with a closed form `points(Z)` computes all plays at once instead.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ocolib import losses as loss_room
from ocolib import validate
from ocolib.losses import Example, Examples, Linear, coefficients, inner
from ocolib.sets import Set, inside, rows
from ocolib.types import Adversary, Array, Losses

# ---------------------------------------------------------------- playing


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

    Any error during round t is raised as a `ValueError` that starts with "round t:". A `KernelPerceptron`
    returns a `KernelTrace`, because its plays are functions and not vectors.

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
    check_arguments(learner, losses)
    rounds = None if rounds is None else validate.count("rounds", rounds)
    if callable(losses) and rounds is None:
        raise ValueError("rounds must be given when an adversary chooses the losses: play(…, rounds=100)")
    if isinstance(losses, (np.ndarray, Examples)):
        T = losses.shape[-2] if isinstance(losses, np.ndarray) else len(losses)
        if rounds is not None and rounds > T:
            raise ValueError(f"rounds must be ≤ {T}, the number of losses, got {rounds}")
        if isinstance(losses, np.ndarray):
            losses = validate.frozen("losses", losses[..., :rounds, :])
        elif rounds is not None:
            losses = losses[:rounds]
        rounds = rounds or T
    if hasattr(learner, "play"):  # a kernel learner returns its own kind of trace
        return learner.play(losses)
    if hasattr(learner, "sees") and isinstance(losses, (np.ndarray, Examples)):
        losses = learner.sees(losses)
    if isinstance(losses, np.ndarray) and _has_closed_form(learner):
        trace = _closed_form(learner, losses)
        if check:
            _check_inside(_set_of(learner), trace.plays)
        return trace
    return loop(learner, losses, rounds, check)


def _has_closed_form(learner: Any) -> bool:
    """Test whether `points` can be used: a set of your own may project only one point at a time."""
    over = getattr(learner, "over", None)
    many = over is None or isinstance(over, Set) or not hasattr(learner, "player")
    return many and hasattr(learner, "points")


def _closed_form(learner: Any, Z: Array) -> "Trace":
    """Play linear losses by the learner's closed form `points(Z)`."""
    plays = validate.numbers("points(Z)", learner.points(Z))
    if plays.ndim < 2 or plays.shape[-2:] != (Z.shape[-2] + 1, Z.shape[-1]):
        raise ValueError(
            f"points(Z) must have shape (..., T + 1, n) for Z of shape {Z.shape}, got {plays.shape}"
        )
    points, last = plays[..., :-1, :], plays[..., -1, :]
    return Trace(learner, Z, points, np.broadcast_to(Z, points.shape), inner(Z, points), last)


def loop(learner: Any, losses: Any, rounds: int | None = None, check: bool = False) -> "Trace":
    """Play round by round, even if the learner has a closed form; return the `Trace`.

    `play` does the same after checking its arguments and uses closed forms where it can.
    """
    reveal = _loss_source(losses, rounds)
    batch = losses.shape[:-2] if isinstance(losses, np.ndarray) else ()
    player, over = learner.player(), _set_of(learner) if check else None
    points, played, paid = [], [], []
    with np.errstate(all="ignore"):  # nan and inf raise an error that names the round instead of a warning
        for t in count(1):
            try:
                w = _checked_play(player.predict(), batch)
                if over is not None and not np.all(inside(over, w)):
                    raise ValueError(f"the play {w} is outside {over!r}")
                if t == 1:
                    subgradients = np.empty((rounds or 64, *w.shape))
                loss = reveal(t, w.copy(), subgradients[: t - 1])
                if loss is None:  # the game is over; w is w_{T+1}
                    break
                loss = _checked_loss(learner, loss, w)
                z = validate.array("the subgradient", loss.subgradient(w.copy()), w.shape[-1])
                paid.append(_checked_price(loss.value(w.copy()), batch))
                points.append(w)
                played.append(loss)
                if t > len(subgradients):
                    subgradients = np.concatenate([subgradients, np.empty_like(subgradients)])
                subgradients[t - 1] = z
                player.step(z.copy()) if hasattr(player, "step") else player.update(loss)
            except Exception as error:
                raise ValueError(f"round {t}: {_message(error)}{_batch_hint(batch, learner)}") from error
    if not points:
        raise ValueError("losses must not be empty")
    whole = losses if isinstance(losses, (np.ndarray, Examples)) else _stacked(played)
    Z = np.moveaxis(subgradients[: len(points)], 0, -2).copy()
    return Trace(learner, whole, np.stack(points, axis=-2), Z, np.stack(paid, axis=-1), w)


def _loss_source(losses: Any, rounds: int | None) -> Callable[[int, Array, Array], Any]:
    """Return a function of (t, w_t, past) that gives the loss of round t, or None after the last round."""
    if callable(losses):

        def ask(t: int, w: Array, past: Array) -> Any:
            return losses(t, w, past.copy()) if t <= rounds else None  # type: ignore[operator]

        return ask
    rows = np.moveaxis(losses, -2, 0) if isinstance(losses, np.ndarray) else losses
    source = iter(rows)

    def pull(t: int, w: Array, past: Array) -> Any:
        if rounds is not None and t > rounds:
            return None
        loss = next(source, None)
        if loss is None and rounds is not None:
            raise ValueError(f"there are only {t - 1} losses, but rounds = {rounds}")
        return Linear(loss) if isinstance(losses, np.ndarray) and loss is not None else loss

    return pull


# ---------------------------------------------------------------- checking what comes in


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


def _set_of(learner: Any) -> Any:
    """Return the learner's set `over`."""
    if not hasattr(getattr(learner, "over", None), "project"):
        who = type(learner).__name__
        raise ValueError(f"{who} has no set `over` to check against: give it one, or leave out check=True")
    return learner.over


def _check_inside(over: Any, plays: Array) -> None:
    """Raise a `ValueError` that names the first round whose play is outside the set, in any run."""
    good = inside(over, plays)
    if not good.all():
        t = int(np.argmin(good.reshape(-1, good.shape[-1]).all(axis=0)))
        raise ValueError(f"round {t + 1}: the play {plays[..., t, :]} is outside {over!r}")


def _checked_play(play: Any, batch: tuple[int, ...]) -> Array:
    """Check what `predict` returned and return it as a new array of shape batch + (n,)."""
    w = validate.numbers("the play", play)
    if w.ndim == 0:
        raise ValueError(f"the play must be a vector of shape (n,), got the number {w}; return np.array([x])")
    w = validate.array("the play", w)
    if w.ndim == 1 and not batch:
        return w.copy()
    try:
        return np.broadcast_to(w, (*batch, w.shape[-1])).copy()
    except ValueError:
        wanted = f"(n,) or {(*batch, 'n')}" if batch else "(n,)"
        raise ValueError(f"the play must have shape {wanted}, got {w.shape}") from None


def _checked_loss(learner: Any, found: Any, w: Array) -> Any:
    """Check what was revealed; a vector z stands for the linear loss ⟨z, w⟩."""
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


def _checked_price(value: Any, batch: tuple[int, ...]) -> Array:
    """Check f_t(w_t): one finite number for each run of the batch."""
    price = validate.numbers("the value of the loss", value)
    if price.size != math.prod(batch):
        raise ValueError(f"the value of the loss must be one number per run, got shape {price.shape}")
    if not np.isfinite(price).all():
        raise ValueError(f"the value of the loss must be finite, got {value}")
    return price.reshape(batch)


def _message(error: Exception) -> str:
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _batch_hint(batch: tuple[int, ...], learner: Any) -> str:
    """Explain, for losses with more than two axes, that a learner of your own may play one run only."""
    if not batch:
        return ""
    runs, who = math.prod(batch), type(learner).__name__
    return f" (the losses hold {runs} games at once; if {who} can only play one, pass losses[0])"


def _stacked(played: list[Any]) -> Any:
    """Return linear losses as one array, examples with the same φ and reg as `Examples`, else the list."""
    if all(type(f) is Linear for f in played):
        return validate.frozen("losses", np.array([f.z for f in played]))
    f = played[0]
    if all(type(g) is Example and (g.phi, g.reg) == (f.phi, f.reg) for g in played):
        return Examples(np.array([g.x for g in played]), np.array([g.y for g in played]), f.phi, f.reg)
    return played


# ---------------------------------------------------------------- the trace


class Best(NamedTuple):
    """Hold the best point in hindsight: no point of the set has total loss below value − gap."""

    point: Array
    value: Any
    gap: float  #: 0 for a closed form, nan if cvxpy solved to its own accuracy, ∞ if no bound is known
    method: str  #: "closed form", "cvxpy" or "projected subgradient method"


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Store the result of a game: plays, subgradients, payments, and the regret computed from them.

    In arrays of vectors time is axis −2, in arrays of numbers axis −1. A batch of runs adds axes in front.

    >>> from ocolib import learners, sets
    >>> trace = play(learners.OGD(sets.Ball(1), eta=0.5), np.ones((3, 1)))
    >>> trace
    Trace(OGD: 3 rounds, dimension 1, mean loss -0.5)
    >>> trace.paid, float(trace.regret())
    (array([ 0. , -0.5, -1. ]), 1.5)
    """

    learner: Any  #: the learner that played
    losses: Any  #: the losses that were played: an array (linear losses), `Examples`, or a list
    points: Array  #: w_1, …, w_T, `(..., T, n)`
    subgradients: Array  #: z_1, …, z_T, z_t a subgradient of f_t at w_t, `(..., T, n)`
    paid: Array  #: f_t(w_t), `(..., T)`
    last: Array  #: w_{T+1}, the play after the last round

    def __post_init__(self) -> None:
        for name, values in (("play", self.points), ("payment", self.paid[..., None])):
            if not np.isfinite(values).all():
                bad = np.moveaxis(~np.isfinite(values), -2, 0)
                t = int(np.argmax(bad.reshape(len(bad), -1).any(axis=1)))
                found = values[..., t, :][bad[t]][0]
                raise ValueError(f"round {t + 1}: the {name} must be finite, got {found}")

    def __repr__(self) -> str:
        runs = f"{math.prod(self.paid.shape[:-1])} runs of " if self.paid.ndim > 1 else ""
        who, mean = type(self.learner).__name__, self.paid.mean()
        return f"Trace({who}: {runs}{self.rounds} rounds, dimension {self.dim}, mean loss {mean:.6g})"

    @property
    def rounds(self) -> int:
        """Return the number of rounds T."""
        return self.paid.shape[-1]

    @property
    def dim(self) -> int:
        """Return the dimension n."""
        return self.last.shape[-1]

    @property
    def plays(self) -> Array:
        """Return all plays w_1, …, w_{T+1}, `(..., T + 1, n)`."""
        return np.concatenate([self.points, self.last[..., None, :]], axis=-2)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per round and the columns paid, w_1, …, w_n, z_1, …, z_n."""
        import pandas as pd

        if self.paid.ndim > 1:
            raise ValueError(f"to_frame takes one run, got runs of shape {self.paid.shape[:-1]}")
        columns: dict[str, Array] = {"paid": self.paid}
        for name, values in (("w", self.points), ("z", self.subgradients)):
            columns |= {f"{name}_{i + 1}": values[:, i] for i in range(self.dim)}
        return pd.DataFrame(columns, index=pd.RangeIndex(1, self.rounds + 1, name="t"))

    # ------------------------------------------------------------ regret

    def regret(self, over: Any = None, against: ArrayLike | None = None) -> Any:
        """Return the regret Σ f_t(w_t) − min_{u ∈ over} Σ f_t(u), or Σ f_t(w_t) − Σ f_t(against).

        `over` defaults to the learner's own set; `against` is one comparator. A batch of runs gives an array.
        The best point comes from a closed form, from cvxpy or from a subgradient method (see `comparator`).
        In the last case the true regret may be larger by the gap of that method, and a warning says so.
        """
        if against is not None:
            if over is not None:
                raise ValueError("regret takes a set `over` or a point `against`, not both")
            rival = validate.vector("against", against, self.dim)
            own: Any = getattr(self.learner, "over", None)
            member = hasattr(own, "contains") and bool(np.all(own.contains(rival)))
            paid, losses = self._without_offset(own if member else None)
            return _sum(paid - loss_room.values(losses, rival))
        over = self._set(over)
        best, (paid, losses) = self.comparator(over), self._without_offset(over)
        total = _sum(paid - loss_room.values(losses, best.point[..., None, :]))
        if best.gap > 0 and best.gap > 1e-6 * abs(best.value):
            excess = f"at most {best.gap:.2g}" if np.isfinite(best.gap) else "an unknown amount"
            text = f"the regret may be larger by {excess}: {best.method}; {_hint(losses, over)}"
            warnings.warn(text, stacklevel=2)
        return total

    def regret_curve(self, over: Any = None, against: ArrayLike | None = None) -> Array:
        """Return the regret after each round 1, …, T, `(..., T)`, against the best point of that round.

        Over a set this requires linear or quadratic losses, whose best points have a closed form. For other
        losses pass one comparator `against`, or use `ocolab.comparators`.
        """
        if against is not None:
            if over is not None:
                raise ValueError("regret_curve takes a set `over` or a point `against`, not both")
            rival = validate.vector("against", against, self.dim)
            return np.cumsum(self.paid - loss_room.values(self.losses, rival), axis=-1)
        over = self._set(over)
        paid, losses = self._without_offset(over)
        parts = coefficients(losses)
        if parts is None:
            raise ValueError(
                "regret_curve over a set needs linear or quadratic losses; for others "
                "name one comparator, against=u, such as trace.best(), or use ocolab.comparators"
            )
        if not hasattr(over, "minimize_linear"):
            found = type(over).__name__
            raise ValueError(f"regret_curve needs minimize_linear(c), which {found} lacks; or name against=u")
        a, b, k = np.cumsum(parts[0], -1), np.cumsum(parts[1], -2), np.cumsum(parts[2], -1)
        best = _argmin(over, a, b)
        least = 0.5 * a * np.square(best).sum(axis=-1) + (b * best).sum(axis=-1) + k
        return np.cumsum(paid, axis=-1) - least

    def dynamic_regret(self, comparators: ArrayLike) -> Any:
        """Return the dynamic regret Σ f_t(w_t) − Σ f_t(u_t) against the path u_1, …, u_T, `(T, n)`."""
        u = validate.array("comparators", comparators, self.dim)
        if u.ndim != 2 or len(u) != self.rounds:
            raise ValueError(f"comparators must have shape {(self.rounds, self.dim)}, got {u.shape}")
        return _sum(self.paid - loss_room.values(self.losses, u))

    def best(self, over: Any = None) -> Array:
        """Return the best fixed point, argmin over the set of f_1 + … + f_T, `(..., n)`.

        If all losses are linear and several points are optimal, it is the one of least norm.
        """
        return self.comparator(over).point

    def comparator(self, over: Any = None) -> Best:
        """Return the best fixed point as a `Best`: point, total loss, optimality gap and method.

        The method is the first that applies: a closed form (linear and quadratic losses, a set with
        `minimize_linear`), cvxpy (losses with `expression`, a set with `constraints`), or a projected
        subgradient method (any loss, any set with `project`).
        """
        over = self._set(over)
        _, losses = self._without_offset(over)
        parts = coefficients(losses)
        if parts is not None and hasattr(over, "minimize_linear"):
            point = _argmin(over, np.asarray(parts[0].sum(-1)), parts[1].sum(-2))
            return Best(point, self._value(point), 0.0, "closed form")
        if self.paid.ndim > 1:
            raise ValueError("the best point of these losses has no closed form: play one run at a time")
        solved = _best_by_cvxpy(losses, over)
        if solved is not None:
            return Best(solved, self._value(solved), np.nan, "cvxpy")
        return _best_by_descent(losses, over)

    def _value(self, point: Array) -> Any:
        return _sum(loss_room.values(self.losses, point[..., None, :]))

    def _set(self, over: Any) -> Any:
        over = getattr(self.learner, "over", None) if over is None else over
        if over is None:
            who = type(self.learner).__name__
            raise ValueError(
                f"{who} has no set `over`: name one, regret(over=…), or a point, regret(against=u)"
            )
        if not hasattr(over, "project"):
            found = type(over).__name__
            raise ValueError(f"over must be a set with project(y), got {found}; a point is against=u")
        if getattr(over, "dim", self.dim) != self.dim:
            raise ValueError(f"over must have dimension {self.dim}, got {over!r}")
        return over

    def _without_offset(self, over: Any) -> tuple[Array, Any]:
        """Return payments and losses without the offset of each round that all points of the set pay alike.

        On the simplex every play pays at least min z_t. Regret does not change if we subtract it, and the
        sums keep more digits when the offsets are large.
        """
        linear = isinstance(self.losses, np.ndarray) and hasattr(over, "shift")
        shift = over.shift(self.losses) if linear else 0.0
        if not np.any(shift):
            return self.paid, self.losses
        mass = over.project(np.zeros(over.dim)).sum()
        if (np.abs(self.points.sum(axis=-1) - mass) > 1e-9).any():  # a play outside does not pay the offset
            return self.paid, self.losses
        Z = self.losses - shift
        return inner(Z, self.points), Z

    # ------------------------------------------------------------ examples

    def _examples(self) -> Examples:
        if not isinstance(self.losses, Examples) or self.losses.phi.takes != "signs":
            raise ValueError("margins, updates and mistakes belong to losses over data (X, y) with labels ±1")
        return self.losses

    @property
    def margins(self) -> Array:
        """Return the margins y_t(⟨w_t, x_t⟩ − threshold), `(T,)`."""
        return self._examples().margins(self.points)

    @property
    def updates(self) -> Array:
        """Mark the rounds whose subgradient is not 0, `(T,)` of bool."""
        self._examples()
        return np.any(self.subgradients, axis=-1)

    @property
    def mistakes(self) -> Array:
        """Mark the rounds with a wrong prediction, `(T,)` of bool.

        The prediction is the sign of ⟨w_t, x_t⟩ − threshold; the sign of 0 is +1.
        """
        examples = self._examples()
        return (examples.predictions(self.points) >= examples.phi.threshold) != (examples.y > 0)


# ---------------------------------------------------------------- the best point in hindsight


def _sum(x: Array) -> Any:
    """Sum over time: with one rounding for a single run, with NumPy's pairwise sum for a batch."""
    return np.float64(math.fsum(x)) if x.ndim == 1 else x.sum(axis=-1)


def _argmin(over: Any, a: Array, b: Array) -> Array:
    """Return argmin over the set of ½a‖w‖² + ⟨b, w⟩; if a = 0, the minimiser of least norm."""
    curved = np.asarray(a > 0)  # before the first quadratic loss the sum is still linear
    if not curved.any():
        return rows(over, "minimize_linear", b)
    best = np.empty_like(b)
    best[curved] = rows(over, "project", -b[curved] / a[curved][..., None])
    if not curved.all():
        best[~curved] = rows(over, "minimize_linear", b[~curved])
    return best


def _best_by_cvxpy(losses: Any, over: Any) -> Array | None:
    """Return the best point by cvxpy; None if it is not installed or an object has no cvxpy form."""
    known = isinstance(losses, (np.ndarray, Examples)) or all(hasattr(f, "expression") for f in losses)
    if not known or not hasattr(over, "constraints"):
        return None
    try:
        from ocolib import oracle

        return over.project(oracle.best_point(losses, over))
    except (ImportError, NotImplementedError):
        return None


def _hint(losses: Any, over: Any) -> str:
    """Say which methods of the set and the losses would give a better comparator."""
    known = isinstance(losses, (np.ndarray, Examples)) or all(hasattr(f, "expression") for f in losses)
    missing = [] if known else ["the losses `expression(w)`"]
    missing += [] if hasattr(over, "constraints") else ["the set `constraints(x)`"]
    bounded = "" if hasattr(over, "diameter") else "; or give the set a `diameter`"
    return f"to use cvxpy, give {' and '.join(missing)}{bounded}" if missing else "cvxpy could not solve it"


def _best_by_descent(losses: Any, over: Any) -> Best:
    """Approximate the best point by the projected subgradient method u ← Π(u − s·g), and bound the gap.

    Let F be the sum of the losses. For every u in the set, Σ s_k(F(u_k) − F(u)) ≤ Σ s_k⟨g_k, u_k − u⟩. The
    right-hand side is largest at the u that minimises ⟨Σ s_k g_k, u⟩, and in a set of diameter D it is at
    most ½D² + ½Σ s_k²‖g_k‖².
    """
    losses = [f if hasattr(f, "value") else Linear(f) for f in losses]
    D = float(getattr(over, "diameter", np.inf))
    steps = max(100, min(5000, 200_000 // len(losses)))
    u = over.project(np.zeros(over.dim))
    best, value, slope, level, weight, spread = u, np.inf, np.zeros(over.dim), 0.0, 0.0, 0.0
    for k in range(1, steps + 1):
        here = math.fsum(float(f.value(u)) for f in losses)
        g = np.sum([f.subgradient(u) for f in losses], axis=0)
        best, value = (u, here) if here < value else (best, value)
        length = float(np.linalg.norm(g))
        if length == 0:
            return Best(u, here, 0.0, "projected subgradient method")
        s = (D if np.isfinite(D) else 1.0) / (length * np.sqrt(k))
        slope, level, weight = slope + s * g, level + s * (here - g @ u), weight + s
        spread += s**2 * length**2
        u = over.project(u - s * g)
    gap = (0.5 * D**2 + 0.5 * spread) / weight
    if hasattr(over, "minimize_linear") and np.isfinite(D):
        gap = min(gap, value - (level + slope @ over.minimize_linear(slope)) / weight)
    return Best(best, np.float64(value), max(gap, 0.0), "projected subgradient method")
