"""The game: in round t the learner plays w_t, then the loss f_t is revealed, and the learner pays f_t(w_t).

`play(learner, losses)` plays it and returns a `Trace`, from which every regret is read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ocolib import losses as loss_room
from ocolib import validate
from ocolib.learners import KernelPerceptron, Linearized
from ocolib.losses import Example, Examples, Linear, Losses, coefficients
from ocolib.protocols import Adversary, Array, ClosedForm, GradientPlayer, Learner, Loss, Reader, Set

# ---------------------------------------------------------------- what a game leaves behind


@dataclass(frozen=True, eq=False)
class Trace:
    """What a game leaves behind. Time is axis −2 of vectors and axis −1 of numbers; runs come before."""

    learner: Any  #: who played: its step and its regulariser are read from here
    losses: Any  #: the losses as played: an array of linear ones, `Examples`, or a list
    points: Array  #: w_1, …, w_T, `(..., T, n)`
    subgradients: Array  #: z_1, …, z_T, z_t a subgradient of f_t at w_t
    paid: Array  #: f_t(w_t), `(..., T)`
    last: Array  #: w_{T+1}, what the learner would play next

    def __post_init__(self) -> None:
        _finite("play", self.points)
        _finite("payment", self.paid[..., None])

    @property
    def rounds(self) -> int:
        """T."""
        return self.points.shape[-2]

    @property
    def dim(self) -> int:
        """n."""
        return self.points.shape[-1]

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
        a, b, k = self._sums(over, np.cumsum)
        best = _argmin(over, a, b)
        least = 0.5 * a * np.square(best).sum(axis=-1) + (b * best).sum(axis=-1) + k
        return np.cumsum(self.paid, axis=-1) - least

    def best(self, over: Set) -> Array:
        """argmin over the set of f_1 + … + f_T, `(..., n)`."""
        a, b, _ = self._sums(over, np.sum)
        return _argmin(over, a, b)

    def _sums(self, over: Set, add: Callable[..., Any]) -> tuple[Any, Array, Any]:
        """(a, b, k) with f_1 + … = ½a‖w‖² + ⟨b, w⟩ + k; `add` makes one sum or all."""
        if over.dim != self.dim:
            raise ValueError(f"over must have dimension {self.dim}, got {over!r}")
        parts = coefficients(self.losses)
        if parts is None:
            raise ValueError(
                "the best point of a set is exact for linear and quadratic losses only; use "
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
        """In which rounds the predicted sign was wrong, `(T,)` of bool; the sign of 0 is +1."""
        examples = self._examples()
        positive = examples.predictions(self.points) >= examples.phi.threshold
        return positive != (examples.y > 0)


def _finite(name: str, values: Array) -> None:
    """Complain of the first round with nan or inf; `values` is `(..., T, n)`."""
    bad = np.moveaxis(~np.isfinite(values), -2, 0)
    if bad.any():
        t = int(np.argmax(bad.reshape(len(bad), -1).any(axis=1)))
        raise ValueError(f"every {name} must be finite, got {values[..., t, :][bad[t]][0]} in round {t + 1}")


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


# ---------------------------------------------------------------- playing


@overload
def play(learner: KernelPerceptron, losses: Examples, rounds: int | None = None) -> KernelTrace: ...


@overload
def play(
    learner: Learner, losses: Losses | Iterable[Any] | Adversary, rounds: int | None = None
) -> Trace: ...


def play(learner: Learner, losses: Any, rounds: int | None = None) -> Trace | KernelTrace:
    """Play `learner` against `losses` and return the `Trace` (of a kernel learner, a `KernelTrace`).

    `losses`: an array `(..., T, n)` of linear losses, a sequence of losses, losses over data
    (`perceptron_loss(X, y)`, …), or an adversary `adversary(t, w, past)`, which needs `rounds`.

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
    if callable(losses):
        if rounds is None:
            raise ValueError("rounds must be given when an adversary chooses the losses")
        return _play_adversary(learner, losses, rounds)
    if isinstance(losses, np.ndarray):
        Z = validate.frozen("losses", losses)
        if Z.ndim < 2:
            raise ValueError(f"losses must have shape (..., T, n), got {Z.shape}")
        return _play_linear(learner, Z[..., : _stop(rounds, Z.shape[-2]), :])
    if isinstance(losses, Examples):
        return _play_examples(learner, losses[: _stop(rounds, len(losses))])
    sequence = validate.asked("the list of losses", list, losses)
    if not sequence:
        raise ValueError("losses must not be empty")
    stop = _stop(rounds, len(sequence))
    return _play_adversary(learner, lambda t, w, past: sequence[t - 1], stop)


def _stop(rounds: int | None, available: int) -> int:
    if rounds is not None and rounds > available:
        raise ValueError(f"rounds must be ≤ {available}, the number of losses, got {rounds}")
    return rounds or available


def _eyes(learner: Learner) -> Callable[[Any], Any]:
    """How the learner reads losses."""
    return learner.sees if isinstance(learner, Reader) else lambda losses: losses


def _play_linear(learner: Learner, Z: Array) -> Trace:
    leader = learner.learner if isinstance(learner, Linearized) else learner  # Z is its own surrogate
    w = leader.points(Z) if isinstance(leader, ClosedForm) else loop(leader, Z)
    points, last = w[..., :-1, :], w[..., -1, :]
    return Trace(learner, Z, points, Z, (points * Z).sum(axis=-1), last)


def loop(learner: Learner, Z: Array) -> Array:
    """The plays w_1, …, w_{T+1} round by round: what `points` must reproduce."""
    player = learner.player()
    w = np.empty((*Z.shape[:-2], Z.shape[-2] + 1, Z.shape[-1]))
    for t in range(Z.shape[-2]):
        w[..., t, :] = player.predict()
        player.update(Linear(Z[..., t, :]))
    w[..., -1, :] = player.predict()
    return w


def _play_examples(learner: Learner, losses: Examples) -> Trace | KernelTrace:
    player, losses = learner.player(), _eyes(learner)(losses)
    if isinstance(learner, KernelPerceptron):
        return _play_kernel(learner, losses)
    if not isinstance(player, GradientPlayer):  # it wants the losses themselves, not a subgradient
        return _play_adversary(learner, lambda t, w, past: losses[t - 1], len(losses))
    _same_dim(losses, player.predict().shape[-1])
    X, y, slope, reg = losses.X, losses.y, losses.phi.slope, losses.reg
    points, subgradients = np.empty_like(X), np.empty_like(X)
    for t in range(len(X)):
        points[t] = w = player.predict()
        subgradients[t] = slope(w @ X[t], y[t]) * X[t] + reg * w
        player.step(subgradients[t])
    return Trace(learner, losses, points, subgradients, losses.values(points), player.predict())


def _play_kernel(learner: KernelPerceptron, losses: Examples) -> KernelTrace:
    player = learner.player()
    X, y, slope = losses.X, losses.y, losses.phi.slope
    scores, coefficients = np.empty(len(X)), np.empty(len(X))
    for t in range(len(X)):
        scores[t] = player.margin(X[t])
        coefficients[t] = 0.0 - slope(scores[t], y[t])
        player.step(X[t], coefficients[t])
    return KernelTrace(learner, losses, scores, coefficients)


def _play_adversary(learner: Learner, adversary: Adversary, rounds: int) -> Trace:
    player, sees = learner.player(), _eyes(learner)
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
    _finite("play", points)
    paid = np.array([_price(f, w) for f, w in zip(played, points, strict=True)])
    return Trace(learner, _gather(played), points, subgradients, paid, player.predict())


def _price(loss: Loss, w: Array) -> float:
    return validate.asked(f"the value of {type(loss).__name__}", lambda w: float(loss.value(w)), w)


def _same_dim(losses: Any, dim: int) -> None:
    if getattr(losses, "dim", dim) != dim:
        raise ValueError(f"the losses must have the dimension of the learner, {dim}, got {losses.dim}")


def _gather(played: list[Any]) -> Losses:
    """Losses of one kind as one array or one `Examples`; a list if they are mixed."""
    if all(isinstance(f, Linear) for f in played):
        return np.array([f.z for f in played])
    f = played[0]
    if all(isinstance(g, Example) and (g.phi, g.reg) == (f.phi, f.reg) for g in played):
        return Examples(np.array([g.x for g in played]), np.array([g.y for g in played]), f.phi, f.reg)
    return played
