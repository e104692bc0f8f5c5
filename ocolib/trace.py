"""Store the result of a game and compute regret from it, with the best point in hindsight."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ocolib import losses as loss_room
from ocolib import validate
from ocolib.losses import Example, Examples, Linear, VectorExample, coefficients, inner
from ocolib.phi import Phi
from ocolib.sets import Set, rows
from ocolib.types import Array


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
    >>> from ocolib.game import play
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
            return _sum(self._excess(validate.vector("against", against, self.dim)))
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
            return np.cumsum(self._excess(validate.vector("against", against, self.dim)), axis=-1)
        over = self._set(over)
        paid, losses = self._without_offset(over)
        parts = coefficients(losses)
        if parts is None:
            raise ValueError(
                "regret_curve over a set needs linear or quadratic losses; for others "
                "name one comparator, against=u, such as trace.best(), or use ocolab.comparators"
            )
        if not _implements(over, "minimize_linear", Set):
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
        return _sum(self._excess(u))

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

        >>> from ocolib import learners, losses, sets
        >>> from ocolib.game import play
        >>> found = play(learners.OGD(sets.Ball(1), 0.5), [losses.Quadratic([3.0])] * 2).comparator()
        >>> found.point, float(found.value), found.method
        (array([1.]), 4.0, 'closed form')
        """
        over = self._set(over)
        _, losses = self._without_offset(over)
        parts = coefficients(losses)
        if parts is not None and _implements(over, "minimize_linear", Set):
            point = _argmin(over, np.asarray(parts[0].sum(-1)), parts[1].sum(-2))
            return Best(point, self._value(point), 0.0, "closed form")
        if self.paid.ndim > 1:
            raise ValueError("the best point of these losses has no closed form: play one run at a time")
        solved = _best_by_cvxpy(losses, over)
        if solved is not None:
            return Best(solved, self._value(solved), np.nan, "cvxpy")
        return best_by_descent(losses, over)

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

    def _excess(self, comparators: Array) -> Array:
        """Return f_t(w_t) − f_t(u_t) in every round, `(..., T)`, for one comparator or a path of them."""
        own: Any = getattr(self.learner, "over", None)
        member = isinstance(own, Set) and bool(np.all(own.contains(comparators)))
        paid, losses = self._without_offset(own if member else None)
        return paid - loss_room.values(losses, comparators)

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
    if _forms_missing(losses, over):
        return None
    try:
        from ocolib import oracle
    except ImportError:
        return None
    return over.project(oracle.best_point(losses, over))


def _forms_missing(losses: Any, over: Any) -> list[str]:
    """Return the methods that cvxpy would need and that the losses or the set lack, with their owners."""
    parts = [] if isinstance(losses, np.ndarray) else [losses] if isinstance(losses, Examples) else losses
    over_data = [f for f in parts if isinstance(f, (Examples, Example, VectorExample))]
    missing = []
    if not all(hasattr(f, "expression") for f in parts):
        missing.append("the losses `expression(w)`")
    if not all(_implements(f.phi, "expression", Phi) for f in over_data):
        missing.append("the φ of the losses `expression(p, y)`")
    return missing if _implements(over, "constraints", Set) else [*missing, "the set `constraints(x)`"]


def _implements(thing: Any, method: str, base: type) -> bool:
    """Test whether an object has this method, and not the one of `base`, which only raises an error."""
    return hasattr(thing, method) and getattr(type(thing), method, None) is not getattr(base, method)


def _hint(losses: Any, over: Any) -> str:
    """Return what to do so that cvxpy can find the best point."""
    missing = _forms_missing(losses, over)
    if not missing:
        return "install cvxpy to find it"
    bounded = "" if hasattr(over, "diameter") else "; or give the set a `diameter`"
    return f"to use cvxpy, give {' and '.join(missing)}{bounded}"


def best_by_descent(losses: Any, over: Any) -> Best:
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
    if _implements(over, "minimize_linear", Set) and np.isfinite(D):
        gap = min(gap, value - (level + slope @ over.minimize_linear(slope)) / weight)
    return Best(best, np.float64(value), max(gap, 0.0), "projected subgradient method")
