"""Play the game: in round t the learner plays w_t, then f_t is revealed, and the learner pays f_t(w_t).

`play(learner, losses)` plays it and returns a `Trace`, from which regrets are read. There is one loop and,
for linear losses known in advance, the learner's closed form over time, `learner.points(Z)`, if it has one.
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
from ocolib.types import Adversary, Array, Losses

# ---------------------------------------------------------------- playing


def play(learner: Any, losses: Losses | Adversary, rounds: int | None = None, check: bool = False) -> Any:
    """Play `learner` against `losses` and return the `Trace` (of a kernel learner, a `KernelTrace`).

    `losses`: an array `(..., T, n)` of linear losses, losses over data (`perceptron_loss(X, y)`, …), any
    iterable of losses, or an adversary `adversary(t, w, past)`, which needs `rounds`. Losses are pulled one
    a round; the first `rounds` are played, or all. `check=True` refuses a play outside the learner's set.

    A learner of your own has `player()`, whose answer has `predict()` and `step(z)` or `update(loss)`;
    `predict` is called once a round, and once more for w_{T+1}. With `points(Z)` it has a closed form for
    linear losses. An error in a round is raised again as a `ValueError` that begins with the round.

    >>> from ocolib import adversaries, learners, sets
    >>> interval = sets.Box([-1], [1])
    >>> trace = play(learners.FTL(interval), adversaries.alternating(10))
    >>> float(trace.regret())  # Example 2: T − ½
    9.5
    >>> float(trace.regret()) == max(float(trace.regret(against=[u])) for u in (-1, 0, 1))
    True
    """
    meet(learner, losses)
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
    if hasattr(learner, "play"):  # it leaves a trace of its own kind
        return learner.play(losses)
    if hasattr(learner, "sees") and isinstance(losses, (np.ndarray, Examples)):
        losses = learner.sees(losses)
    if isinstance(losses, np.ndarray) and hasattr(learner, "points"):
        trace = _closed_form(learner, losses)
        if check:
            inside = _inside(_home(learner), trace.plays)
            t = int(np.argmin(np.reshape(inside, (-1, inside.shape[-1])).all(axis=0)))
            if not inside.all():
                raise ValueError(
                    f"round {t + 1}: the play {trace.plays[..., t, :]} is outside {learner.over!r}"
                )
        return trace
    return loop(learner, losses, rounds, check)


def _closed_form(learner: Any, Z: Array) -> "Trace":
    """Take all plays from the running sums of Z."""
    plays = validate.numbers("points(Z)", learner.points(Z))
    if plays.ndim < 2 or plays.shape[-2:] != (Z.shape[-2] + 1, Z.shape[-1]):
        raise ValueError(
            f"points(Z) must have shape (..., T + 1, n) for Z of shape {Z.shape}, got {plays.shape}"
        )
    points, last = plays[..., :-1, :], plays[..., -1, :]
    return Trace(learner, Z, points, np.broadcast_to(Z, points.shape), inner(Z, points), last)


def loop(learner: Any, losses: Any, rounds: int | None = None, check: bool = False) -> "Trace":
    """Play round by round, whatever closed form there is; `play` has met learner and losses before."""
    reveal, batch = _revealed(losses, rounds), losses.shape[:-2] if isinstance(losses, np.ndarray) else ()
    player, over = learner.player(), _home(learner) if check else None
    points, played, paid = [], [], []
    with np.errstate(all="ignore"):  # what is not finite is refused by name
        for t in count(1):
            try:
                w = _checked_play(player.predict(), batch)
                if over is not None and not np.all(_inside(over, w)):
                    raise ValueError(f"the play {w} is outside {over!r}")
                if t == 1:
                    subgradients = np.empty((rounds or 64, *w.shape))
                loss = reveal(t, w.copy(), subgradients[: t - 1])
                if loss is None:  # the game is over, and w is w_{T+1}
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
                raise ValueError(f"round {t}: {_words(error)}{_batched(batch, learner)}") from error
    if not points:
        raise ValueError("losses must not be empty")
    whole = losses if isinstance(losses, (np.ndarray, Examples)) else _gathered(played)
    Z = np.moveaxis(subgradients[: len(points)], 0, -2).copy()
    return Trace(learner, whole, np.stack(points, axis=-2), Z, np.stack(paid, axis=-1), w)


def _revealed(losses: Any, rounds: int | None) -> Callable[[int, Array, Array], Any]:
    """Return what reveals the loss of round t, or None when the game is over."""
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
            raise ValueError(f"there are only {t - 1} losses, and rounds = {rounds}")
        return Linear(loss) if isinstance(losses, np.ndarray) and loss is not None else loss

    return pull


# ---------------------------------------------------------------- what a game takes


def meet(learner: Any, losses: Any) -> None:
    """Raise a `ValueError` if the one is no learner or the other no losses, and say what to write."""
    if isinstance(learner, type):
        raise ValueError(
            f"learner must be an object, got the class {learner.__name__}; write {learner.__name__}(…)"
        )
    if not any(hasattr(learner, name) for name in ("player", "points", "play")):
        if hasattr(losses, "player"):
            raise ValueError("the arguments are swapped: write play(learner, losses)")
        hint = "; yours is a player: give it def player(self), which returns a fresh one"
        raise ValueError(
            f"learner must have a method player(), got {type(learner).__name__}"
            + (hint if hasattr(learner, "predict") else "")
        )
    if hasattr(losses, "to_numpy"):
        raise ValueError(
            f"losses must be an array (T, n), got a {type(losses).__name__}; write losses.to_numpy()"
        )
    if isinstance(losses, np.ndarray):
        if losses.ndim < 2:
            hint = "; in one dimension write losses[:, None]" if losses.ndim == 1 else ""
            raise ValueError(f"losses must have shape (..., T, n), got {losses.shape}{hint}")
        return
    if isinstance(losses, tuple) and len(losses) in (2, 3) and np.ndim(losses[0]) == 2:
        raise ValueError("losses must be losses, got a tuple of arrays; of data write perceptron_loss(X, y)")
    if hasattr(losses, "subgradient"):
        raise ValueError(f"losses must be many, got one {type(losses).__name__}; write [loss] * T")
    listed = hasattr(losses, "__iter__") or hasattr(losses, "__getitem__")
    if isinstance(losses, (str, bytes, Mapping)) or not (callable(losses) or listed):
        raise ValueError(
            "losses must be an array (T, n), losses over data, an iterable of losses or an adversary, "
            f"got {type(losses).__name__}"
        )
    if not hasattr(learner, "player") and not hasattr(learner, "play"):
        raise ValueError(
            f"{type(learner).__name__} has only points(Z): it plays linear losses given as one array"
        )


def _home(learner: Any) -> Any:
    """Return the learner's set."""
    if not hasattr(getattr(learner, "over", None), "project"):
        raise ValueError(f"{type(learner).__name__} has no set `over`: name one, or do without check")
    return learner.over


def _inside(over: Any, w: Array) -> Array:
    """Is each row of w in the set, up to 1e-9? A set of your own may have `project` alone."""
    if hasattr(over, "contains"):
        return np.asarray(over.contains(w))
    away = np.linalg.norm(w - np.apply_along_axis(over.project, -1, w), axis=-1)
    return away <= 1e-9 * np.maximum(np.abs(w).max(axis=-1), 1.0)


def _checked_play(play: Any, batch: tuple[int, ...]) -> Array:
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
    """Return the loss, or the linear one that z stands for."""
    missing = [name for name in ("value", "subgradient") if not hasattr(found, name)]
    if len(missing) == 2 and not isinstance(found, Examples) and not callable(found):
        loss: Any = Linear(validate.vector("z", found, w.shape[-1]))
    elif missing:
        hint = "; it has `gradient`: call it `subgradient`" if hasattr(found, "gradient") else ""
        hint = "; take one of them, losses[0]" if isinstance(found, Examples) else hint
        raise ValueError(
            f"a loss must have value(w) and subgradient(w), got {type(found).__name__} without "
            f"{' and '.join(missing)}{hint}"
        )
    else:
        loss = found
    if getattr(loss, "dim", w.shape[-1]) != w.shape[-1]:
        raise ValueError(f"the losses must have the dimension of the learner, {w.shape[-1]}, got {loss.dim}")
    return learner.sees(loss) if hasattr(learner, "sees") else loss


def _checked_price(value: Any, batch: tuple[int, ...]) -> Array:
    price = validate.numbers("the value of the loss", value)
    if price.size != math.prod(batch):
        raise ValueError(f"the value of the loss must be one number a game, got shape {price.shape}")
    if not np.isfinite(price).all():
        raise ValueError(f"the value of the loss must be finite, got {value}")
    return price.reshape(batch)


def _words(error: Exception) -> str:
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _batched(batch: tuple[int, ...], learner: Any) -> str:
    if not batch:
        return ""
    games = math.prod(batch)
    return (
        f" (the losses are {games} games at once; if {type(learner).__name__} plays one, give it losses[0])"
    )


def _gathered(played: list[Any]) -> Any:
    """Return linear losses as one array, examples of one φ and one reg as one `Examples`, else the list."""
    if all(type(f) is Linear for f in played):
        return validate.frozen("losses", np.array([f.z for f in played]))
    f = played[0]
    if all(type(g) is Example and (g.phi, g.reg) == (f.phi, f.reg) for g in played):
        return Examples(np.array([g.x for g in played]), np.array([g.y for g in played]), f.phi, f.reg)
    return played


# ---------------------------------------------------------------- the trace


class Best(NamedTuple):
    """The best point in hindsight: no point of the set has a sum of losses below value − gap."""

    point: Array
    value: Any
    gap: float  #: 0 for a closed form, nan if cvxpy answered to its own accuracy, ∞ if nothing is known
    method: str  #: "closed form", "cvxpy" or "projected subgradient method"


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Keep what a game leaves behind. Time is axis −2 of vectors and axis −1 of numbers; runs come before."""

    learner: Any  #: who played: its step and its regulariser are read from here
    losses: Any  #: the losses as played: an array of linear ones, `Examples`, or a list
    points: Array  #: w_1, …, w_T, `(..., T, n)`
    subgradients: Array  #: z_1, …, z_T, z_t a subgradient of f_t at w_t, `(..., T, n)`
    paid: Array  #: f_t(w_t), `(..., T)`
    last: Array  #: w_{T+1}, what the learner would play next

    def __post_init__(self) -> None:
        for name, values in (("play", self.points), ("payment", self.paid[..., None])):
            if not np.isfinite(values).all():
                bad = np.moveaxis(~np.isfinite(values), -2, 0)
                t = int(np.argmax(bad.reshape(len(bad), -1).any(axis=1)))
                found = values[..., t, :][bad[t]][0]
                raise ValueError(f"round {t + 1}: the {name} must be finite, got {found}")

    def __repr__(self) -> str:
        runs = f"{math.prod(self.paid.shape[:-1])} runs of " if self.paid.ndim > 1 else ""
        mean = f"mean loss {self.paid.mean():.6g}"
        return (
            f"Trace({type(self.learner).__name__}: {runs}{self.rounds} rounds, dimension {self.dim}, {mean})"
        )

    @property
    def rounds(self) -> int:
        """T."""
        return self.paid.shape[-1]

    @property
    def dim(self) -> int:
        """n."""
        return self.last.shape[-1]

    @property
    def plays(self) -> Array:
        """w_1, …, w_{T+1}, `(..., T + 1, n)`."""
        return np.concatenate([self.points, self.last[..., None, :]], axis=-2)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each round: paid, w_1, …, w_n, z_1, …, z_n."""
        import pandas as pd

        if self.paid.ndim > 1:
            raise ValueError(f"to_frame takes one run, got runs of shape {self.paid.shape[:-1]}")
        columns: dict[str, Array] = {"paid": self.paid}
        for name, values in (("w", self.points), ("z", self.subgradients)):
            columns |= {f"{name}_{i + 1}": values[:, i] for i in range(self.dim)}
        return pd.DataFrame(columns, index=pd.RangeIndex(1, self.rounds + 1, name="t"))

    # ------------------------------------------------------------ regret

    def regret(self, over: Any = None, against: ArrayLike | None = None) -> Any:
        """Return Σ f_t(w_t) − min_{u ∈ over} Σ f_t(u), or − Σ f_t(against) for one comparator; `(...,)`.

        `over` is the learner's own set unless given. If the best point is found only up to a gap, the
        regret may be larger by as much, and a warning says so (see `comparator`).
        """
        if against is not None:
            if over is not None:
                raise ValueError("regret takes a set `over` or a point `against`, not both")
            return _sum(self._excess(validate.vector("against", against, self.dim)))
        over = self._set(over)
        best, (paid, losses) = self.comparator(over), self._level(over)
        total = _sum(paid - loss_room.values(losses, best.point[..., None, :]))
        if best.gap > 0 and best.gap > 1e-6 * abs(best.value):
            known = f"by at most {best.gap:.2g}" if np.isfinite(best.gap) else "by an unknown amount"
            hint = (
                "" if np.isfinite(best.gap) else "; give the set a `diameter` or `constraints(x)` for cvxpy"
            )
            warnings.warn(f"the regret may be larger, {known}: {best.method}{hint}", stacklevel=2)
        return total

    def regret_curve(self, over: Any = None, against: ArrayLike | None = None) -> Array:
        """Return the regret after rounds 1, …, T, `(..., T)`; the best point is found anew for each.

        With a set this needs the closed form of linear and quadratic losses; for others name a comparator
        `against`, or see `ocolab.comparators`.
        """
        if against is not None:
            if over is not None:
                raise ValueError("regret_curve takes a set `over` or a point `against`, not both")
            return np.cumsum(self._excess(validate.vector("against", against, self.dim)), axis=-1)
        over = self._set(over)
        paid, losses = self._level(over)
        parts = coefficients(losses)
        if parts is None:
            raise ValueError(
                "the best points of all rounds have a closed form for linear and quadratic losses alone; "
                "name one comparator, against=u, such as trace.best(), or use ocolab.comparators"
            )
        a, b, k = np.cumsum(parts[0], -1), np.cumsum(parts[1], -2), np.cumsum(parts[2], -1)
        best = _argmin(over, a, b)
        least = 0.5 * a * np.square(best).sum(axis=-1) + (b * best).sum(axis=-1) + k
        return np.cumsum(paid, axis=-1) - least

    def dynamic_regret(self, comparators: ArrayLike) -> Any:
        """Return Σ f_t(w_t) − Σ f_t(u_t) against a path u_1, …, u_T, `(T, n)`."""
        u = validate.array("comparators", comparators, self.dim)
        if u.ndim != 2 or len(u) != self.rounds:
            raise ValueError(f"comparators must have shape {(self.rounds, self.dim)}, got {u.shape}")
        return _sum(self._excess(u))

    def best(self, over: Any = None) -> Array:
        """Return argmin over the set of f_1 + … + f_T, `(..., n)`; of least norm if all f_t are linear."""
        return self.comparator(over).point

    def comparator(self, over: Any = None) -> Best:
        """Find the best point of the set in hindsight, and say how far it is certified.

        By a closed form (linear and quadratic losses on a set with `minimize_linear`), else by cvxpy (losses
        with `expression`, a set with `constraints`), else by a projected subgradient method.
        """
        over = self._set(over)
        _, losses = self._level(over)
        parts = coefficients(losses)
        if parts is not None and hasattr(over, "minimize_linear"):
            point = _argmin(over, np.asarray(parts[0].sum(-1)), parts[1].sum(-2))
            return Best(point, self._value(point), 0.0, "closed form")
        if self.paid.ndim > 1:
            raise ValueError("without a closed form the best point is found for one run at a time")
        solved = _solved(losses, over)
        if solved is not None:
            return Best(solved, self._value(solved), np.nan, "cvxpy")
        return _descended(losses, over)

    def _value(self, point: Array) -> Any:
        return _sum(loss_room.values(self.losses, point[..., None, :]))

    def _set(self, over: Any) -> Any:
        over = getattr(self.learner, "over", None) if over is None else over
        if not hasattr(over, "project"):
            if over is not None:
                raise ValueError(
                    f"over must be a set with project(y), got {type(over).__name__}; a point is against=u"
                )
            who = type(self.learner).__name__
            raise ValueError(
                f"{who} has no set `over`: name one, regret(over=…), or a point, regret(against=u)"
            )
        if getattr(over, "dim", self.dim) != self.dim:
            raise ValueError(f"over must have dimension {self.dim}, got {over!r}")
        return over

    def _excess(self, rivals: Array) -> Array:
        """Return f_t(w_t) − f_t(u_t) for one rival or a path of them, `(..., T)`."""
        home: Any = getattr(self.learner, "over", None)
        level = hasattr(home, "contains") and bool(np.all(home.contains(rivals)))
        paid, losses = self._level(home if level else None)
        return paid - loss_room.values(losses, rivals)

    def _level(self, over: Any) -> tuple[Array, Any]:
        """Return payments and losses, without the common offset of each round that no play can avoid.

        On the simplex ⟨z_t, w⟩ is min z_t plus something small: summed without min z_t it keeps its digits.
        """
        shift = (
            getattr(over, "shift", lambda Z: 0.0)(self.losses) if isinstance(self.losses, np.ndarray) else 0.0
        )
        if not np.any(shift):
            return self.paid, self.losses
        mass = over.project(np.zeros(over.dim)).sum()
        if (np.abs(self.points.sum(axis=-1) - mass) > 1e-9).any():  # some play is outside, and avoids it
            return self.paid, self.losses
        Z = self.losses - shift
        return inner(Z, self.points), Z

    # ------------------------------------------------------------ examples

    def _examples(self) -> Examples:
        if not isinstance(self.losses, Examples) or self.losses.phi.takes != "signs":
            raise ValueError("margins, updates and mistakes belong to losses over data (X, y), y = ±1")
        return self.losses

    @property
    def margins(self) -> Array:
        """y_t(⟨w_t, x_t⟩ − threshold), `(T,)`."""
        return self._examples().margins(self.points)

    @property
    def updates(self) -> Array:
        """In which rounds the subgradient was not 0, `(T,)` of bool."""
        self._examples()
        return np.any(self.subgradients, axis=-1)

    @property
    def mistakes(self) -> Array:
        """In which rounds the sign of ⟨w_t, x_t⟩ − threshold was wrong, `(T,)` of bool; that of 0 is +1."""
        examples = self._examples()
        return (examples.predictions(self.points) >= examples.phi.threshold) != (examples.y > 0)


# ---------------------------------------------------------------- the best point in hindsight


def _sum(x: Array) -> Any:
    """Sum over time: exactly, then rounded once, for one run; pairwise for many."""
    return np.float64(math.fsum(x)) if x.ndim == 1 else x.sum(axis=-1)


def _argmin(over: Any, a: Array, b: Array) -> Array:
    """argmin over the set of ½a‖w‖² + ⟨b, w⟩, of least norm if a = 0."""
    curved = np.asarray(a > 0)  # rounds before the first quadratic loss have a linear sum
    if not curved.any():
        return over.minimize_linear(b)
    best = np.empty_like(b)
    best[curved] = over.project(-b[curved] / a[curved][..., None])
    if not curved.all():
        best[~curved] = over.minimize_linear(b[~curved])
    return best


def _solved(losses: Any, over: Any) -> Array | None:
    """The best point by cvxpy, if it is installed, all objects have a form, and it finds one."""
    known = isinstance(losses, (np.ndarray, Examples)) or all(hasattr(f, "expression") for f in losses)
    if not known or not hasattr(over, "constraints"):
        return None
    try:
        from ocolib import oracle

        return over.project(oracle.best_point(losses, over))
    except (ImportError, NotImplementedError):
        return None


def _descended(losses: Any, over: Any) -> Best:
    """The best point by the projected subgradient method u ← Π(u − s·g), with a gap where one is known.

    For every u of the set Σ s_k(F(u_k) − F(u)) ≤ Σ s_k⟨g_k, u_k − u⟩. The right side is largest at the
    linear minimiser of Σ s_k g_k, and at most ½D² + ½Σ s_k²‖g_k‖² in a set of diameter D.
    """
    losses = list(losses) if not isinstance(losses, Examples) else losses
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
