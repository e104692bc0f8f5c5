"""Define online learners: follow the leader, FTRL, gradient descent, Hedge, Perceptron, Winnow and others.

A learner is a frozen dataclass of parameters, and `learner.player()` returns a fresh player for one game. A
player has `predict()`, which returns the next play, and `step(z)` or `update(loss)`, which receive the
subgradient or the loss of the round. There are two kinds of learners; each is one formula:

- Leaders (`FTL`, `FTRL`, `Hedge`) minimise the sum of the losses. Their formula `lead(t, a, b)` returns the
  play after t rounds with f_1 + … + f_t = ½a‖w‖² + ⟨b, w⟩ + const, so they need losses with `coefficients`.
- First-order learners (`OGD`, `Perceptron`, `Winnow`, …) use only the subgradient z_t at their own play.
  Their formula `after(t, w, z, Z)` returns w_{t+1} from w = w_t, z = z_t and Z = z_1 + … + z_t.
  `Linearized(leader)` turns a leader into a first-order learner.

`points(Z)` returns all plays w_1, …, w_{T+1} against linear losses that are known in advance,
`(..., T, n)` → `(..., T + 1, n)`. It applies the same formula to running sums; w_t depends on the first t − 1
rows only.

A step size `eta` is a number, an array with one entry per run of a batch, or a schedule that is called with
t = 1, 2, …. The step η_t is used after round t: by lazy learners and leaders on the whole sum Z_t, by eager
learners on z_t, and by `DelayedOGD` on the t-th gradient to arrive.

To write a learner of your own, give a class a method `player()`, or derive it from `FirstOrder` or `Leader`
and write only the formula. `ocolib.testing.check_learner` tests it.

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
from ocolib.sets import Ball, Orthant, Set, Simplex, Space, inside, require_set
from ocolib.types import Array, Step

# ---------------------------------------------------------------- step sizes


@description
class inverse_sqrt:
    """Represent the step size schedule η_t = scale/√t.

    >>> float(inverse_sqrt(0.5)(4))
    0.25
    """

    scale: float

    def __post_init__(self) -> None:
        keep(self, scale=validate.positive("scale", self.scale))

    def __call__(self, t: Any) -> Any:
        return self.scale / np.sqrt(t)


@description
class inverse:
    """Represent the schedule η_t = scale/t; scale = 1/H is the choice for H-strongly convex losses."""

    scale: float

    def __post_init__(self) -> None:
        keep(self, scale=validate.positive("scale", self.scale))

    def __call__(self, t: Any) -> Any:
        return self.scale / t


def step_at(eta: Step, t: Any) -> Array:
    """Return the step size η_t for one round t, or for an array of rounds: `(..., T)`.

    A schedule of your own is called with one round at a time, so it need not work with arrays.

    >>> step_at(inverse_sqrt(1.0), np.array([1, 4, 16]))
    array([1.  , 0.5 , 0.25])
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
    """Return the step sizes of the T rounds after round `before`, `(..., T)`."""
    found = step_at(eta, np.arange(before + 1, before + T + 1))
    return np.broadcast_to(found, (*found.shape[:-1], T)).copy()


def kept_step(eta: Step) -> Step:
    """Check a step size and return it as a schedule, a float or a read-only array."""
    if not callable(eta):
        try:
            validate.numbers("eta", eta)
        except ValueError:
            allowed = "a number, an array of numbers or a schedule eta(t)"
            raise ValueError(f"eta must be {allowed}, got {eta!r}") from None
    first = step_at(eta, 1)
    return eta if callable(eta) else validate.frozen("eta", first) if first.ndim else float(first)


def kept_start(over: Any, start: Any) -> Array | None:
    """Check that `start` is a point of the set and return it as a read-only vector; None stays None."""
    if start is None:
        return None
    start = validate.vector("start", start, over.dim)
    if not inside(over, start):
        raise ValueError(f"start must lie in {over!r}, got {start}")
    return start


# ---------------------------------------------------------------- what learners share


def running_sums(Z: ArrayLike, over: Any) -> Array:
    """Return the running sums 0, Z_1, Z_1 + Z_2, … of the shifted rows: `(..., T, n)` → `(..., T + 1, n)`."""
    Z = validate.array("Z", Z, over.dim)
    if Z.ndim < 2:
        raise ValueError(f"Z must have shape (..., T, n), got {Z.shape}")
    return np.cumsum(np.concatenate([np.zeros_like(Z[..., :1, :]), shifted(Z, over)], axis=-2), axis=-2)


def shifted(z: Array, over: Any) -> Array:
    """Return z without the common offset that does not matter on the set (see `Set.shift`)."""
    return z - over.shift(z) if hasattr(over, "shift") else z


class StepPlayer:
    """Derive `update(loss)` from `predict()` and `step(z)`, for players that use only the subgradient z."""

    def predict(self) -> Array:
        raise NotImplementedError

    def step(self, z: Array) -> None:
        raise NotImplementedError

    def update(self, loss: Any) -> None:
        """Move to the next play with a subgradient of the loss at the last one."""
        self.step(loss.subgradient(self.predict()))


class Leader:
    """Define a learner that minimises the sum of the losses; a subclass has `over` and `lead(t, a, b)`."""

    over: Any

    def lead(self, t: Any, a: Any, b: Array) -> Array:
        """Return the play after t rounds with f_1 + … + f_t = ½a‖w‖² + ⟨b, w⟩ + const.

        t is a number, or an array with one entry per row of b.
        """
        raise NotImplementedError

    def player(self) -> "LeaderPlayer":
        """Return a fresh player."""
        return LeaderPlayer(self)

    def points(self, Z: ArrayLike) -> Array:
        """Return all plays w_1, …, w_{T+1} against linear losses."""
        sums = running_sums(Z, self.over)
        return self.lead(np.arange(sums.shape[-2]), 0.0, sums)


class LeaderPlayer:
    """Play one game of a `Leader`; it stores the coefficients of the sum of the losses."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.t, self.a, self.b = learner, 0, 0.0, np.zeros(learner.over.dim)

    def predict(self) -> Array:
        return self.learner.lead(self.t, self.a, self.b)

    def update(self, loss: Any) -> None:
        if not hasattr(loss, "coefficients"):
            who, found = type(self.learner).__name__, type(loss).__name__
            raise ValueError(
                f"{who} needs Linear or Quadratic losses, got {found}; use Linearized({who}(...)), or "
                "oracle.FTRL for losses with a cvxpy form"
            )
        a, b, _ = loss.coefficients
        self.t, self.a, self.b = self.t + 1, self.a + a, self.b + shifted(b, self.learner.over)


class FirstOrder:
    """Define a learner that uses only the subgradients at its plays; a subclass has `over` and `after`."""

    over: Any
    lazy = False  #: True if w_{t+1} depends on t and Z only, so that `points` needs no loop

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        """Return w_{t+1} from the play w = w_t, its subgradient z = z_t and the sum Z = z_1 + … + z_t.

        On a set with a `shift` (the simplex) the common offset has already been subtracted from z. For a lazy
        learner t may be an array with one entry per row of Z.
        """
        raise NotImplementedError

    @property
    def first(self) -> Array:
        """Return w_1, the point of the set nearest to 0."""
        return self.over.project(np.zeros(self.over.dim))

    def player(self) -> "FirstOrderPlayer":
        """Return a fresh player."""
        return FirstOrderPlayer(self)

    def points(self, Z: ArrayLike) -> Array:
        """Return all plays w_1, …, w_{T+1} against linear losses."""
        sums, w = running_sums(Z, self.over)[..., 1:, :], self.first
        rounds, Z = range(sums.shape[-2]), shifted(np.asarray(Z, dtype=float), self.over)
        if self.lazy:
            w = self.after(np.arange(1, len(rounds) + 1), w, Z, sums)
            return np.concatenate([np.broadcast_to(self.first, w[..., :1, :].shape), w], axis=-2)
        plays = [w] + [w := self.after(t + 1, w, Z[..., t, :], sums[..., t, :]) for t in rounds]
        return np.stack(np.broadcast_arrays(*plays), axis=-2)


class FirstOrderPlayer(StepPlayer):
    """Play one game of a `FirstOrder` learner."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.over, self.t, self.w = learner, learner.over, 0, learner.first
        self.Z: Array = np.zeros(len(self.w))

    def predict(self) -> Array:
        return self.w.copy()

    def step(self, z: Array) -> None:
        """Move to the next play, given the subgradient z at the last one."""
        z = shifted(z, self.over)
        self.t, self.Z = self.t + 1, self.Z + z
        self.w = self.learner.after(self.t, self.w, z, self.Z)


# ---------------------------------------------------------------- leaders


@description
class FTL(Leader):
    """Follow the leader: w_t ∈ argmin over the set of f_1 + … + f_{t−1} (Lecture 13, (2)).

    Of several minimisers it plays the one of least norm.

    >>> FTL(Ball(1)).points(np.array([[-0.5], [1.0], [-1.0]]))[:, 0]  # it jumps between the ends
    array([ 0.,  1., -1.,  1.])
    """

    over: Set

    def __post_init__(self) -> None:
        require_set(self.over)
        if not hasattr(self.over, "minimize_linear"):
            found = type(self.over).__name__
            raise ValueError(f"FTL needs a set with minimize_linear(c), got {found} without it")

    def lead(self, t: Any, a: Any, b: Array) -> Array:
        return self.over.project(-b / a) if a > 0 else self.over.minimize_linear(b)


@description
class FTRL(Leader):
    """Follow the regularised leader: w_{t+1} = argmin over the set of f_1 + … + f_t + R/η_t.

    The first play is w_1 = argmin R. See Lecture 13, (3), and Lecture 17, (17.1). `over` is the set,
    `regularizer` is R, and `eta` is the step size or schedule.

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
        require_set(self.over)
        keep(self, eta=kept_step(self.eta))
        self.regularizer.minimize(np.zeros(self.over.dim), 1.0, self.over)  # raises without a closed form

    def lead(self, t: Any, a: Any, b: Array) -> Array:
        eta = step_at(self.eta, np.maximum(t, 1))  # before round 1 a = b = 0, so the step does not matter
        return self.regularizer.minimize(b, eta, self.over, curvature=a)


def Hedge(n: int, eta: Step) -> FTRL:
    """Return Hedge (exponential weights) on n experts: w_{t+1} = softmax(−η_t·Z_t).

    It is FTRL on the simplex with the negative entropy.

    >>> Hedge(2, eta=np.log(3)).points(np.array([[0.0, 1.0]]))[-1]
    array([0.75, 0.25])
    """
    return FTRL(Simplex(validate.count("n", n)), NegativeEntropy(), eta)


# ---------------------------------------------------------------- first-order learners


@description
class Linearized:
    """Run a leader on the linear surrogates g_t(w) = ⟨z_t, w⟩, where z_t is a subgradient of f_t at w_t.

    >>> from ocolib.game import play
    >>> from ocolib.losses import Quadratic
    >>> learner = Linearized(FTRL(Ball(1), SquaredNorm(), eta=0.5))
    >>> play(learner, [Quadratic([1.0])] * 3).plays[:, 0]  # the slopes are −1, −½, −¼
    array([0.   , 0.5  , 0.75 , 0.875])
    """

    learner: Any

    @property
    def over(self) -> Any:
        return self.learner.over

    def player(self) -> "LinearizedPlayer":
        """Return a fresh player."""
        return LinearizedPlayer(self.learner.player())

    @property
    def points(self) -> Callable[[ArrayLike], Array]:
        """Return the leader's `points`: linear losses are their own surrogates."""
        return self.learner.points


class LinearizedPlayer(StepPlayer):
    """Play one game of a `Linearized` learner."""

    def __init__(self, player: Any) -> None:
        self.player = player

    def predict(self) -> Array:
        return self.player.predict()

    def step(self, z: Array) -> None:
        """Give the leader the linear loss ⟨z, w⟩, where z is a subgradient at the last play."""
        self.player.update(Linear(z))


@description
class OGD(FirstOrder):
    """Run online (sub)gradient descent over a closed convex set `over`, with step size or schedule `eta`.

    projection="lazy":   w_{t+1} = Π(start − η_t(z_1 + … + z_t)), FTRL on the surrogates (Lecture 13, section
    3); projection="eager":  w_{t+1} = Π(w_t − η_t z_t), Zinkevich's algorithm (Lecture 4).

    `start` is the first play w_1, a point of the set. By default the lazy sum starts at 0, and w_1 = Π(0).

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
        require_set(self.over)
        keep(self, eta=kept_step(self.eta))
        validate.choice("projection", self.projection, ("lazy", "eager"))
        keep(self, start=kept_start(self.over, self.start))

    @property
    def lazy(self) -> bool:  # type: ignore[override]
        return self.projection == "lazy"

    @property
    def origin(self) -> Array:
        """Return the point from which the lazy sum is subtracted."""
        return np.zeros(self.over.dim) if self.start is None else self.start

    @property
    def first(self) -> Array:
        return self.over.project(self.origin)

    @property
    def leader(self) -> FTRL:
        """Return the FTRL learner that equals lazy descent on the linear surrogates."""
        return FTRL(self.over, SquaredNorm(self.start), self.eta)

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        eta = step_at(self.eta, t)[..., None]
        return self.over.project(self.origin - eta * Z if self.lazy else w - eta * z)


def OnlineSVM(dim: int, radius: float, eta: Step) -> OGD:
    """Return eager subgradient descent over the ball ‖w‖ ≤ radius, for hinge losses (Lecture 4, 4.2.3).

    w_1 = 0 and w_{t+1} = Π(w_t − η_t z_t), where z_t = −y_t·x_t if the margin y_t⟨w_t, x_t⟩ is below 1, else
    0.

    >>> from ocolib.game import play
    >>> from ocolib.losses import hinge
    >>> play(OnlineSVM(1, radius=2.0, eta=0.5), hinge([[1.0]] * 4, [1] * 4)).plays[:, 0]
    array([0. , 0.5, 1. , 1. , 1. ])
    """
    return OGD(Ball(dim, radius), eta, projection="eager")


def Pegasos(dim: int, reg: float, project: bool = False) -> OGD:
    """Return Pegasos: eager descent with η_t = 1/(reg·t) from w_1 = 0, for `hinge(X, y).regularized(reg)`.

    With `project=True` the plays stay in the ball of radius 1/√reg, which contains the best point.

    >>> from ocolib.game import play
    >>> from ocolib.losses import hinge
    >>> losses = hinge([[1.0]] * 3, [1] * 3).regularized(0.5)
    >>> play(Pegasos(1, reg=0.5), losses).points[:, 0]  # η_1 = 2, z_1 = −1; η_2 = 1, z_2 = 1
    array([0., 2., 1.])
    """
    reg = validate.positive("reg", reg)
    over: Set = Ball(dim, 1.0 / np.sqrt(reg)) if project else Space(dim)
    return OGD(over, inverse(1.0 / reg), projection="eager")


@description
class DelayedOGD:
    """Run eager descent on delayed gradients: w ← Π(w − η_k z) for the k-th gradient to arrive; w_1 = Π(0).

    The gradient of round s arrives after round s + delay, where `delay` is one integer τ ≥ 0 or a list with
    one integer per round. With one τ, as in Lecture 4, 4.3, we have w_1 = … = w_{τ+1} and then w_{t+1} =
    Π(w_t − η_{t−τ} z_{t−τ}); the lecture writes η_t for η_{t−τ}. τ = 0 gives eager `OGD`.

    >>> from ocolib.game import play
    >>> play(DelayedOGD(Ball(1), eta=0.25, delay=2), np.ones((4, 1))).plays[:, 0]
    array([ 0.  ,  0.  ,  0.  , -0.25, -0.5 ])
    """

    over: Set
    eta: Step
    delay: Any = 0

    def __post_init__(self) -> None:
        require_set(self.over)
        many = isinstance(self.delay, (list, tuple, np.ndarray))
        delay = [validate.count("delay", d, low=0) for d in (self.delay if many else [self.delay])]
        keep(self, eta=kept_step(self.eta), delay=tuple(delay) if many else delay[0])

    @property
    def first(self) -> Array:
        """Return w_1."""
        return self.over.project(np.zeros(self.over.dim))

    def player(self) -> "DelayedPlayer":
        """Return a fresh player; it also has `receive`, for gradients that arrive in any order."""
        return DelayedPlayer(self)

    def arrival(self, s: int) -> int:
        """Return the round after which the gradient of round s arrives."""
        if isinstance(self.delay, int):
            return validate.count("s", s) + self.delay
        if validate.count("s", s) > len(self.delay):
            raise ValueError(f"delay must have an entry for each round, got {len(self.delay)} for round {s}")
        return s + self.delay[s - 1]


class DelayedPlayer(StepPlayer):
    """Play one game of `DelayedOGD`; it stores the current play and the gradients in transit."""

    def __init__(self, learner: DelayedOGD) -> None:
        self.learner, self.w, self.t = learner, learner.first, 0
        self.under_way: dict[int, list[tuple[int, Array]]] = {}
        self.received: dict[int, int] = {}

    def predict(self) -> Array:
        return self.w.copy()

    def step(self, z: Array) -> None:
        """End round t: send its gradient z, and receive all gradients that are due now."""
        self.t += 1
        self.under_way.setdefault(self.learner.arrival(self.t), []).append((self.t, z))
        self.receive(self.under_way.pop(self.t, []))

    def receive(self, pairs: Iterable[tuple[int, Array]]) -> None:
        """Apply each (round, gradient) pair in the given order; every round may arrive once.

        Parallel workers can call this directly, in any order.
        """
        for s, z in pairs:
            if validate.count("round", s) in self.received:
                raise ValueError(f"each round must arrive once, got a second gradient of round {s}")
            self.received[s] = k = len(self.received) + 1
            over, eta = self.learner.over, step_at(self.learner.eta, k)
            self.w = over.project(self.w - eta[..., None] * shifted(z, over))


# ---------------------------------------------------------------- classifiers


class ReadsExamples:
    """Accept only the perceptron loss with the learner's threshold; choose the subgradient at its kink."""

    kink: float = 1.0
    threshold: float = 0.0

    def sees(self, losses: Any) -> Any:
        """Return the losses with the learner's own kink; raise a `ValueError` for any other loss."""
        phi = losses.phi if isinstance(losses, (Example, Examples)) else None
        if not isinstance(phi, PerceptronLoss) or phi.threshold != self.threshold or losses.reg:
            raise ValueError(
                f"{type(self).__name__} plays perceptron_loss(X, y, threshold={self.threshold:g}), "
                f"got {phi or type(losses).__name__}{' with a reg' if phi and losses.reg else ''}"
            )
        return losses if phi.kink == self.kink else losses.with_kink(self.kink)


class OnExamples(ReadsExamples, FirstOrder):
    """Define a learner for the perceptron loss whose play depends on the sum Z of the subgradients only."""

    dim: int
    lazy = True

    @property
    def first(self) -> Array:
        return self.after(0, np.empty(0), np.empty(0), np.zeros(self.dim))


@description
class Perceptron(OnExamples):
    """Run the Perceptron: w_1 = 0; if y⟨w, x⟩ < 0, add y·x; at a tie y⟨w, x⟩ = 0, add kink·y·x.

    `kink` lies in [0, 1] and is 1 by default, so ties count as mistakes.

    >>> from ocolib.game import play
    >>> from ocolib.losses import perceptron_loss
    >>> trace = play(Perceptron(2), perceptron_loss([[1, 0], [1, 1], [0, 1]], [1, -1, -1]))
    >>> trace.last, int(trace.updates.sum())
    (array([ 0., -1.]), 2)
    """

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
    """Run Winnow: w_1 = (1, …, 1); if y(⟨w, x⟩ − threshold) ≤ 0, multiply each w_i by factor^(y·x_i).

    On Boolean examples this is Littlestone's Winnow2, except that Winnow2 makes no update at a tie with y =
    −1.

    >>> from ocolib.game import play
    >>> from ocolib.losses import perceptron_loss
    >>> losses = perceptron_loss([[1, 0, 0], [0, 1, 1]], [1, -1], threshold=2)
    >>> play(Winnow(3, threshold=2), losses).plays  # promote feature 1, then demote features 2 and 3
    array([[1. , 1. , 1. ],
           [2. , 1. , 1. ],
           [2. , 0.5, 0.5]])
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
    """Run normalised Winnow: w_1 is uniform; if y⟨w, x⟩ ≤ 0, multiply w_i by exp(eta·y·x_i), normalise.

    >>> from ocolib.game import play
    >>> from ocolib.losses import perceptron_loss
    >>> play(NormalizedWinnow(2, eta=np.log(3)), perceptron_loss([[-1, 0]], [1])).last
    array([0.25, 0.75])
    """

    dim: int
    eta: float

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim), eta=validate.positive("eta", self.eta))

    @property
    def over(self) -> Simplex:
        return Simplex(self.dim)

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        return NegativeEntropy().minimize(Z, self.eta, self.over)
