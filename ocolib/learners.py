"""Define learners. A learner is a frozen description, and `learner.player()` begins a game.

A player has `predict()`, the next play, and `step(z)` or `update(loss)`, which tell it what the round
brought. There are two kinds, each one formula a learner:

- leaders (`FTL`, `FTRL`, `Hedge`) minimise the true sum of the losses: `lead(t, a, b)` is the play after t
  rounds with f_1 + … + f_t = ½a‖w‖² + ⟨b, w⟩ + const. They take losses with `coefficients`;
- first-order learners (`OGD`, `Perceptron`, `Winnow`, …) see only a subgradient z_t at their own play:
  `after(t, w, z, Z)` is w_{t+1} when round t was played at w = w_t, z = z_t and Z = z_1 + … + z_t.
  `Linearized(leader)` makes one of a leader.

`points(Z)` gives all plays w_1, …, w_{T+1} against linear losses known in advance, `(..., T, n)` →
`(..., T + 1, n)`: the same formula on running sums. w_t depends on the first t − 1 rows alone.

A step `eta` is a number, an array with one step for each run of a batch, or a schedule, called with
t = 1, 2, …: η_t is the step taken after round t. Lazy learners and leaders use it on the whole sum Z_t, eager
ones on z_t, `DelayedOGD` on the t-th gradient to arrive.

A learner of your own needs `player()`; `ocolib.testing.check_learner` says whether it keeps the rules. Derive
it from `FirstOrder` or `Leader` and the formula is all you write:

>>> from ocolib.game import play
>>> class Half(FirstOrder):
...     over = Ball(1)
...     def after(self, t, w, z, Z):
...         return self.over.project(w - 0.5 * z)
>>> play(Half(), np.ones((3, 1))).plays[:, 0]
array([ 0. , -0.5, -1. , -1. ])
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.losses import Example, Examples, Linear
from ocolib.phi import PerceptronLoss
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Orthant, Set, Simplex, Space
from ocolib.types import Array, Step

# ---------------------------------------------------------------- steps


@description
class inverse_sqrt:
    """The schedule η_t = scale/√t."""

    scale: float

    def __post_init__(self) -> None:
        keep(self, scale=validate.positive("scale", self.scale))

    def __call__(self, t: Any) -> Any:
        return self.scale / np.sqrt(t)


@description
class inverse:
    """The schedule η_t = scale/t; with scale = 1/H the one for H-strongly convex losses."""

    scale: float

    def __post_init__(self) -> None:
        keep(self, scale=validate.positive("scale", self.scale))

    def __call__(self, t: Any) -> Any:
        return self.scale / t


def step_at(eta: Step, t: Any) -> Array:
    """Return η_t for t = 1, 2, …, or for an array of such t: `(..., T)`.

    Schedules are asked for one round at a time, but for those of this library.
    """
    if not callable(eta):
        step = validate.positives("eta", eta)
        return step[..., None] if np.ndim(t) and step.ndim else step
    if np.ndim(t) and not isinstance(eta, (inverse, inverse_sqrt)):
        return np.stack(np.broadcast_arrays(*(step_at(eta, int(s)) for s in t)), axis=-1)
    try:
        step = eta(t)
    except Exception as error:
        raise ValueError(f"the schedule eta failed at t = {t}: {type(error).__name__}: {error}") from error
    return validate.positives(f"eta({t})" if np.ndim(t) == 0 else "eta", step)


def steps(eta: Step, T: int, before: int = 0) -> Array:
    """Return the steps of the T rounds after round `before`, `(..., T)`."""
    found = step_at(eta, np.arange(before + 1, before + T + 1))
    return np.broadcast_to(found, (*found.shape[:-1], T)).copy()


def kept_step(eta: Step) -> Step:
    """Check a step, and keep it as a schedule, a float or a frozen array."""
    first = step_at(eta, 1)
    return eta if callable(eta) else validate.frozen("eta", first) if first.ndim else float(first)


# ---------------------------------------------------------------- what learners share


def running_sums(Z: ArrayLike, over: Any) -> Array:
    """Return 0, Z_1, Z_1 + Z_2, …: `(..., T, n)` → `(..., T + 1, n)`, each row shifted as the set allows."""
    Z = validate.array("Z", Z, over.dim)
    if Z.ndim < 2:
        raise ValueError(f"Z must have shape (..., T, n), got {Z.shape}")
    return np.cumsum(np.concatenate([np.zeros_like(Z[..., :1, :]), shifted(Z, over)], axis=-2), axis=-2)


def shifted(z: Array, over: Any) -> Array:
    """Return z, less the common offset that does not matter on the set (see `Set.shift`)."""
    return z - over.shift(z) if hasattr(over, "shift") else z


class Leader:
    """A learner that minimises the sum of the losses so far: a subclass has `over` and `lead(t, a, b)`."""

    over: Any

    def lead(self, t: Any, a: Any, b: Array) -> Array:
        """Return the play after t rounds with f_1 + … + f_t = ½a‖w‖² + ⟨b, w⟩ + const.

        t is a number, or an array with one entry for each row of b.
        """
        raise NotImplementedError

    def player(self) -> "LeaderPlayer":
        """Begin a game."""
        return LeaderPlayer(self)

    def points(self, Z: ArrayLike) -> Array:
        """Return all plays against linear losses."""
        sums = running_sums(Z, self.over)
        return self.lead(np.arange(sums.shape[-2]), 0.0, sums)


class LeaderPlayer:
    """A game of a `Leader`: it keeps the sum of the losses as its coefficients."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.t, self.a, self.b = learner, 0, 0.0, np.zeros(learner.over.dim)

    def predict(self) -> Array:
        return self.learner.lead(self.t, self.a, self.b)

    def update(self, loss: Any) -> None:
        if not hasattr(loss, "coefficients"):
            raise ValueError(
                f"{type(self.learner).__name__} sums its losses exactly and takes Linear and Quadratic "
                f"ones, got {type(loss).__name__}; use Linearized(...), or oracle.FTRL if cvxpy can say it"
            )
        a, b, _ = loss.coefficients
        self.t, self.a, self.b = self.t + 1, self.a + a, self.b + shifted(b, self.learner.over)


class FirstOrder:
    """A learner that sees only subgradients at its own plays: a subclass has `over` and `after`."""

    over: Any
    lazy = False  #: is w_{t+1} a function of t and Z alone? Then `points` needs no loop

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        """Return w_{t+1}: round t was played at w, z is its subgradient, Z = z_1 + … + z_t.

        On a set with a `shift` (the simplex) z comes without the offset that does not matter there. For a
        lazy learner t may be an array with one entry for each row of Z.
        """
        raise NotImplementedError

    @property
    def first(self) -> Array:
        """w_1, the point of the set nearest to 0."""
        return self.over.project(np.zeros(self.over.dim))

    def player(self) -> "FirstOrderPlayer":
        """Begin a game."""
        return FirstOrderPlayer(self)

    def points(self, Z: ArrayLike) -> Array:
        """Return all plays against linear losses."""
        sums, w = running_sums(Z, self.over)[..., 1:, :], self.first
        rounds, Z = range(sums.shape[-2]), shifted(np.asarray(Z, dtype=float), self.over)
        if self.lazy:
            w = self.after(np.arange(1, len(rounds) + 1), w, Z, sums)
            return np.concatenate([np.broadcast_to(self.first, w[..., :1, :].shape), w], axis=-2)
        plays = [w] + [w := self.after(t + 1, w, Z[..., t, :], sums[..., t, :]) for t in rounds]
        return np.stack(np.broadcast_arrays(*plays), axis=-2)


class FirstOrderPlayer:
    """A game of a `FirstOrder` learner."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.over, self.t, self.w = learner, learner.over, 0, learner.first
        self.Z: Array = np.zeros(len(self.w))

    def predict(self) -> Array:
        return self.w.copy()

    def step(self, z: Array) -> None:
        """Move, knowing the subgradient z at the last play."""
        z = shifted(z, self.over)
        self.t, self.Z = self.t + 1, self.Z + z
        self.w = self.learner.after(self.t, self.w, z, self.Z)

    def update(self, loss: Any) -> None:
        """Move by a subgradient of the loss at the last play."""
        self.step(loss.subgradient(self.predict()))


# ---------------------------------------------------------------- leaders


@description
class FTL(Leader):
    """Follow the leader: w_t ∈ argmin over the set of f_1 + … + f_{t−1}; of several, the one of least norm.

    Lecture 13, (2).
    """

    over: Set

    def lead(self, t: Any, a: Any, b: Array) -> Array:
        return self.over.project(-b / a) if a > 0 else self.over.minimize_linear(b)


@description
class FTRL(Leader):
    """Follow the regularised leader: w_{t+1} = argmin over the set of f_1 + … + f_t + R/η_t.

    Lecture 13, (3), and Lecture 17, (17.1); w_1 = argmin R.

    >>> from ocolib.sets import Ball
    >>> w = FTRL(Ball(2), SquaredNorm(), eta=0.5).points(np.array([[1.0, 0.0], [0.0, -1.0]]))
    >>> w[-1]
    array([-0.5,  0.5])
    >>> bool(np.all(w[-1] + 0.5 * np.array([1.0, -1.0]) == 0))  # the gradient of Z_2·w + R/eta vanishes
    True
    """

    over: Set
    regularizer: Any
    eta: Step

    def __post_init__(self) -> None:
        keep(self, eta=kept_step(self.eta))
        self.regularizer.minimize(np.zeros(self.over.dim), 1.0, self.over)  # is there a closed form?

    def lead(self, t: Any, a: Any, b: Array) -> Array:
        eta = step_at(self.eta, np.maximum(t, 1))  # before round 1 any step will do: a = b = 0
        return self.regularizer.minimize(b, eta, self.over, curvature=a)


def Hedge(n: int, eta: Step) -> FTRL:
    """Return exponential weights on n experts, w_{t+1} = softmax(−η_t·Z_t): FTRL with entropy."""
    return FTRL(Simplex(n), NegativeEntropy(), eta)


# ---------------------------------------------------------------- first-order learners


@description
class Linearized:
    """Feed a leader the surrogates g_t(w) = ⟨z_t, w⟩ in place of the losses, z_t a subgradient at w_t."""

    learner: Any

    @property
    def over(self) -> Any:
        return self.learner.over

    def player(self) -> "LinearizedPlayer":
        """Begin a game."""
        return LinearizedPlayer(self.learner.player())

    @property
    def points(self) -> Callable[[ArrayLike], Array]:
        """All plays against linear losses, which are their own surrogates; for a leader that has `points`."""
        return self.learner.points


class LinearizedPlayer:
    """A game of a `Linearized` learner."""

    def __init__(self, player: Any) -> None:
        self.player = player

    def predict(self) -> Array:
        return self.player.predict()

    def step(self, z: Array) -> None:
        """Hand over ⟨z, ·⟩, z a subgradient at the last play."""
        self.player.update(Linear(z))

    def update(self, loss: Any) -> None:
        """Hand over the linear surrogate of the loss at the last play."""
        self.step(loss.subgradient(self.predict()))


@description
class OGD(FirstOrder):
    """Online (sub)gradient descent over a closed convex set.

    lazy:   w_{t+1} = Π(start − η_t(z_1 + … + z_t)), FTRL on the surrogates (Lecture 13, section 3);
    eager:  w_{t+1} = Π(w_t − η_t z_t) (Zinkevich).

    `start` is a point of the set, and w_1; without one the lazy sum starts at 0, and w_1 = Π(0).

    >>> from ocolib.sets import Box
    >>> Z = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> OGD(Box([-1], [1]), eta=1.0).points(Z)[:, 0]
    array([ 0., -1., -1., -1.,  0.])
    >>> OGD(Box([-1], [1]), eta=1.0, projection="eager").points(Z)[:, 0]
    array([ 0., -1., -1.,  0.,  1.])
    """

    over: Set
    eta: Step
    projection: str = "lazy"
    start: Any = None

    def __post_init__(self) -> None:
        keep(self, eta=kept_step(self.eta))
        validate.choice("projection", self.projection, ("lazy", "eager"))
        if self.start is not None:
            keep(self, start=validate.vector("start", self.start, self.over.dim))
            if not self.over.contains(self.start):
                raise ValueError(f"start must lie in {self.over!r}, got {self.start}")

    @property
    def lazy(self) -> bool:  # type: ignore[override]
        return self.projection == "lazy"

    @property
    def origin(self) -> Array:
        """Where the lazy sum starts."""
        return np.zeros(self.over.dim) if self.start is None else self.start

    @property
    def first(self) -> Array:
        return self.over.project(self.origin)

    @property
    def leader(self) -> FTRL:
        """Lazy descent is this leader on the surrogates."""
        return FTRL(self.over, SquaredNorm(self.start), self.eta)

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        eta = step_at(self.eta, t)[..., None]
        return self.over.project(self.origin - eta * Z if self.lazy else w - eta * z)


def OnlineSVM(dim: int, radius: float, eta: Step) -> OGD:
    """Return subgradient descent on the hinge over ‖w‖ ≤ radius: w_{t+1} = Π(w_t − η_t z_t), from w_1 = 0.

    Lecture 4, 4.2.3: eager, and z_t = −y_t·x_t where the margin y_t⟨w_t, x_t⟩ is below 1, else 0.
    """
    return OGD(Ball(dim, radius), eta, projection="eager")


def Pegasos(dim: int, reg: float, project: bool = False) -> OGD:
    """Return eager descent with η_t = 1/(reg·t) from w_1 = 0, for the losses `hinge(X, y).regularized(reg)`.

    `project` keeps the plays in the ball of radius 1/√reg, which holds the best point.
    """
    reg = validate.positive("reg", reg)
    over: Set = Ball(dim, 1.0 / np.sqrt(reg)) if project else Space(dim)
    return OGD(over, inverse(1.0 / reg), projection="eager")


@description
class DelayedOGD:
    """Eager descent on gradients that come late: w ← Π(w − η_k z) for the k-th to arrive; w_1 = Π(0).

    That of round s arrives after round s + delay; `delay` is one integer τ ≥ 0, or one for each round.
    With one τ, as in Lecture 4, 4.3 (which writes η_t for η_{t−τ}): w_1 = … = w_{τ+1}, then
    w_{t+1} = Π(w_t − η_{t−τ} z_{t−τ}). τ = 0 is eager `OGD`.
    """

    over: Set
    eta: Step
    delay: Any = 0

    def __post_init__(self) -> None:
        many = isinstance(self.delay, (list, tuple, np.ndarray))
        delay = [validate.count("delay", d, low=0) for d in (self.delay if many else [self.delay])]
        keep(self, eta=kept_step(self.eta), delay=tuple(delay) if many else delay[0])

    @property
    def first(self) -> Array:
        """w_1."""
        return self.over.project(np.zeros(self.over.dim))

    def player(self) -> "DelayedPlayer":
        """Begin a game; its player has `receive` as well."""
        return DelayedPlayer(self)

    def arrival(self, s: int) -> int:
        """Return after which round the gradient of round s arrives."""
        if isinstance(self.delay, int):
            return validate.count("s", s) + self.delay
        if validate.count("s", s) > len(self.delay):
            raise ValueError(f"delay must have an entry for each round, got {len(self.delay)} for round {s}")
        return s + self.delay[s - 1]


class DelayedPlayer:
    """A game of `DelayedOGD`: gradients under way, and the play that those received have made."""

    def __init__(self, learner: DelayedOGD) -> None:
        self.learner, self.w, self.t = learner, learner.first, 0
        self.under_way: dict[int, list[tuple[int, Array]]] = {}
        self.received: dict[int, int] = {}

    def predict(self) -> Array:
        return self.w.copy()

    def step(self, z: Array) -> None:
        """Round t ends: z sets out, and what is due after round t comes in."""
        self.t += 1
        self.under_way.setdefault(self.learner.arrival(self.t), []).append((self.t, z))
        self.receive(self.under_way.pop(self.t, []))

    def update(self, loss: Any) -> None:
        """Move by a subgradient of the loss at the last play."""
        self.step(loss.subgradient(self.predict()))

    def receive(self, pairs: Iterable[tuple[int, Array]]) -> None:
        """Move by each (round, gradient) in turn, each round once. No clock is needed: workers may call."""
        for s, z in pairs:
            if validate.count("round", s) in self.received:
                raise ValueError(f"round must come once, got a second gradient of round {s}")
            self.received[s] = k = len(self.received) + 1
            over, eta = self.learner.over, step_at(self.learner.eta, k)
            self.w = over.project(self.w - eta[..., None] * shifted(z, over))


# ---------------------------------------------------------------- learners of examples


class ReadsExamples:
    """Take only the perceptron loss, with the learner's threshold, and choose the slope at its kink."""

    kink: float = 1.0
    threshold: float = 0.0

    def sees(self, losses: Any) -> Any:
        """Return the losses, one example or many, with the learner's own kink; other losses are refused."""
        phi = losses.phi if isinstance(losses, (Example, Examples)) else None
        if not isinstance(phi, PerceptronLoss) or phi.threshold != self.threshold or losses.reg:
            raise ValueError(
                f"{type(self).__name__} plays perceptron_loss(X, y, threshold={self.threshold:g}), "
                f"got {phi or type(losses).__name__}{' with a reg' if phi and losses.reg else ''}"
            )
        return losses if phi.kink == self.kink else losses.with_kink(self.kink)


class OnExamples(ReadsExamples, FirstOrder):
    """A learner of the perceptron loss whose play is a function of Z, the sum of the subgradients."""

    dim: int
    lazy = True

    @property
    def first(self) -> Array:
        return self.after(0, np.empty(0), np.empty(0), np.zeros(self.dim))


@description
class Perceptron(OnExamples):
    """w_1 = 0; if y⟨w, x⟩ < 0 add y·x, at a tie, y⟨w, x⟩ = 0, add kink·y·x; 0 ≤ kink ≤ 1."""

    dim: int
    kink: float = 1.0

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim), kink=validate.number("kink", self.kink, 0.0, 1.0))

    @property
    def over(self) -> Space:
        return Space(self.dim)

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        return 0.0 - Z


@description
class Winnow(OnExamples):
    """w_1 = (1, …, 1); on y(⟨w, x⟩ − threshold) ≤ 0 multiply w_i by factor^(y·x_i).

    On Boolean examples Littlestone's Winnow2, except that he leaves a tie with y = −1 alone.
    """

    dim: int
    threshold: float
    factor: float = 2.0

    def __post_init__(self) -> None:
        dim, threshold = validate.count("dim", self.dim), validate.positive("threshold", self.threshold)
        factor = validate.number("factor", self.factor, low=1.0, strict=True)
        keep(self, dim=dim, threshold=threshold, factor=factor)

    @property
    def over(self) -> Orthant:
        return Orthant(self.dim)

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        return self.factor**-Z


@description
class NormalizedWinnow(OnExamples):
    """w_1 uniform on the simplex; on y⟨w, x⟩ ≤ 0 multiply w_i by exp(eta·y·x_i) and normalise."""

    dim: int
    eta: float

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim), eta=validate.positive("eta", self.eta))

    @property
    def over(self) -> Simplex:
        return Simplex(self.dim)

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        return NegativeEntropy().minimize(Z, self.eta, self.over)
