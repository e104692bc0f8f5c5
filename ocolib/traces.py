"""What a game leaves behind: a `Trace`, from which regrets are read, or a `KernelTrace`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import comparators, validate
from ocolib import losses as loss_room
from ocolib.descriptions import keep
from ocolib.learners import KernelPerceptron
from ocolib.losses import Examples, coefficients
from ocolib.protocols import Array, Set


@dataclass(frozen=True, eq=False)
class Trace:
    """What a game leaves behind. Time is axis −2 of vectors and axis −1 of numbers; runs come before."""

    learner: Any  #: who played: its step and its regulariser are read from here
    losses: Any  #: the losses as played: an array of linear ones, `Examples`, or a list
    points: Any  #: w_1, …, w_T, `(..., T, n)`; if not kept, played again when first asked for
    subgradients: Any  #: z_1, …, z_T, z_t a subgradient of f_t at w_t; if not kept, made when asked for
    paid: Array  #: f_t(w_t), `(..., T)`
    last: Array  #: w_{T+1}, what the learner would play next
    predictions: Array | None = None  #: ⟨w_t, x_t⟩ of a compiled game over data
    again: Callable[..., Any] | None = None  #: plays the same game, to be kept

    def __post_init__(self) -> None:
        for name in ("points", "subgradients"):
            if getattr(self, name) is None:
                object.__delattr__(self, name)  # `__getattr__` is asked for what is not there
        shown = self.paid if isinstance(self.losses, np.ndarray) else self.predictions
        if shown is None or not np.isfinite(shown).all():  # ⟨w, x⟩ is finite only if w is
            validate.finite("play", self.points)
        validate.finite("payment", self.paid[..., None])

    def __getattr__(self, name: str) -> Any:
        if name == "points" and self.again is not None:
            made = self.again(keep=True).points
        elif name == "subgradients" and isinstance(self.losses, Examples):
            made = self.losses.subgradients(self.points, self.predictions)
        else:
            raise AttributeError(f"a trace has no {name}")
        keep(self, **{name: made})
        return made

    @property
    def rounds(self) -> int:
        """T."""
        return self.paid.shape[-1]

    @property
    def dim(self) -> int:
        """n."""
        return self.last.shape[-1]

    # ------------------------------------------------------------ regret

    def regret(self, over: Set | None = None, against: ArrayLike | None = None) -> Any:
        """Σ f_t(w_t) − min_{u ∈ over} Σ f_t(u), or − Σ f_t(against) for one comparator; `(...,)`."""
        _one_of(over, against)
        if over is not None:
            rival = self.best(over)[..., None, :]
        else:
            rival = validate.vector("against", against, self.dim)
        return (self.paid - loss_room.values(self.losses, rival)).sum(axis=-1)

    def regret_curve(self, over: Set | None = None, against: ArrayLike | None = None) -> Array:
        """The regret after rounds 1, …, T, `(..., T)`; the best point of the set is found anew for each."""
        _one_of(over, against)
        if over is None:
            against = validate.vector("against", against, self.dim)
            return np.cumsum(self.paid - loss_room.values(self.losses, against), axis=-1)
        if comparators.knows(self.losses, over):
            return np.cumsum(self.paid) - comparators.least(self.losses, over)
        a, b, k = self._sums(over, np.cumsum)
        best = _argmin(over, a, b)
        least = 0.5 * a * np.square(best).sum(axis=-1) + (b * best).sum(axis=-1) + k
        return np.cumsum(self.paid, axis=-1) - least

    def best(self, over: Set) -> Array:
        """argmin over the set of f_1 + … + f_T, `(..., n)`; of least norm if all f_t are linear."""
        if comparators.knows(self.losses, over):
            return self.certified(over).point
        a, b, _ = self._sums(over, np.sum)
        return _argmin(over, a, b)

    def certified(self, over: Set) -> comparators.Best:
        """The best point for losses over data, its value and its gap, as `comparators.Best` explains them."""
        return comparators.best(self.losses, over)

    def _sums(self, over: Set, add: Callable[..., Any]) -> tuple[Any, Array, Any]:
        """(a, b, k) with f_1 + … = ½a‖w‖² + ⟨b, w⟩ + k; `add` makes one sum or all."""
        if over.dim != self.dim:
            raise ValueError(f"over must have dimension {self.dim}, got {over!r}")
        parts = coefficients(self.losses)
        if parts is None:
            raise ValueError(
                "the best point is known for linear and quadratic losses, and for most over data on the sets "
                f"that `comparators` knows, not for these over {over!r}; use "
                "oracle.regret(trace, over), or regret(against=u) for one comparator"
            )
        return add(parts[0], -1), add(parts[1], -2), add(parts[2], -1)

    def dynamic_regret(self, comparators: ArrayLike) -> Any:
        """Σ f_t(w_t) − Σ f_t(u_t) against a path u_1, …, u_T, `(T, n)`."""
        u = validate.array("comparators", comparators, self.dim)
        if u.ndim != 2 or len(u) != self.rounds:
            raise ValueError(f"comparators must have shape {(self.rounds, self.dim)}, got {u.shape}")
        return (self.paid - loss_room.values(self.losses, u)).sum(axis=-1)

    # ------------------------------------------------------------ examples

    def _examples(self) -> Examples:
        if not isinstance(self.losses, Examples) or self.losses.phi.takes != "signs":
            raise ValueError("margins, updates and mistakes belong to losses over data (X, y), y = ±1")
        return self.losses

    def _predictions(self) -> Array:
        return self.losses.predictions(self.points) if self.predictions is None else self.predictions

    @property
    def margins(self) -> Array:
        """y_t(⟨w_t, x_t⟩ − threshold), `(T,)`."""
        examples = self._examples()
        return examples.phi.margin(self._predictions(), examples.y)

    @property
    def updates(self) -> Array:
        """In which rounds the subgradient was not 0, `(T,)` of bool."""
        examples = self._examples()
        if self.predictions is None or examples.reg:
            return np.any(self.subgradients, axis=-1)
        return (examples.phi.slope(self.predictions, examples.y) != 0) & examples.X.any(axis=-1)

    @property
    def mistakes(self) -> Array:
        """In which rounds the sign of ⟨w_t, x_t⟩ − threshold was wrong, `(T,)` of bool; that of 0 is +1."""
        examples = self._examples()
        positive = self._predictions() >= examples.phi.threshold
        return positive != (examples.y > 0)


def _one_of(over: Any, against: Any) -> None:
    if (over is None) == (against is None):
        raise ValueError("regret takes either a set `over` or a point `against`")


def _argmin(over: Set, a: Any, b: Array) -> Array:
    """argmin over the set of ½a‖w‖² + ⟨b, w⟩, of least norm if a = 0."""
    curved = np.asarray(a > 0)  # rounds before the first quadratic loss have a linear sum
    if not curved.any():
        return over.minimize_linear(b)
    best = np.empty_like(b)
    best[curved] = over.project(-b[curved] / a[curved][..., None])
    if not curved.all():
        best[~curved] = over.minimize_linear(b[~curved])
    return best


@dataclass(frozen=True, eq=False)
class KernelTrace:
    """What a game of a learner without weights leaves behind: w_{T+1} = Σ coefficients_t·k(x_t, ·)."""

    learner: KernelPerceptron
    losses: Examples  #: as played
    scores: Array  #: w_t(x_t), `(T,)`
    coefficients: Array  #: what round t added, `(T,)`: ±1 in an update, else 0

    @property
    def margins(self) -> Array:
        """y_t·w_t(x_t)."""
        return self.losses.y * self.scores

    @property
    def updates(self) -> Array:
        """In which rounds something was added."""
        return self.coefficients != 0

    @property
    def mistakes(self) -> Array:
        """In which rounds the predicted sign was wrong; the sign of 0 is +1."""
        return (self.scores >= 0) != (self.losses.y > 0)

    def score(self, X: ArrayLike) -> Array:
        """w_{T+1}(x) for every row x of X; with no update it is 0."""
        X, used = validate.array("X", X, self.losses.dim, ndim=2), self.updates
        if not used.any():
            return np.zeros(len(X))
        return self.learner.kernel(X, self.losses.X[used]) @ self.coefficients[used]
