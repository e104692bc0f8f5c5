"""Who plays. A learner is a frozen description; `learner.player()` gives a fresh player with `predict()` and
`update(loss)` (that of `KernelPerceptron` has `margin(x)` in place of `predict()`).

The other players are of two kinds:

- leaders (`FTL`, `FTRL`) minimise the true sum of the losses, and take those with `coefficients`
  (linear and isotropic quadratic ones; with an entropy, linear ones);
- first-order players (`OGD`, `Perceptron`, `Winnow`, …) see only a subgradient z_t at their own play and
  have `step(z)` as well. `Linearized(leader)` makes one of a leader.

`points(Z)` of leaders, their `Linearized` and `OGD` gives all plays w_1, …, w_{T+1} against linear losses
known in advance, `(..., T, n)` → `(..., T + 1, n)`; w_t depends on the first t − 1 rows alone.

A step `eta` is a number, an array of the batch shape, or a schedule called with t = 1, 2, … or, if it can
take one, an array of such t: η_t is the step taken after round t. Lazy learners and leaders use it on the
whole sum (of linear losses Z_t = z_1 + … + z_t), eager ones on z_t, `DelayedOGD` on the t-th gradient to
arrive. (That of `NormalizedWinnow` is one number.)
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import protocols, validate
from ocolib.blocks import blocks, running
from ocolib.descriptions import description, keep
from ocolib.losses import Example, Examples, Linear, PerceptronLoss
from ocolib.protocols import Array, GradientPlayer, Learner, Loss, Player, Regularizer, Set, Step, Vector
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Simplex, Space, nearest

SMALL = 1e120  #: the plays of games that stay below need no check a round

# ---------------------------------------------------------------- steps


@description
class inverse_sqrt:
    """The schedule η_t = scale/√t."""

    scale: float

    def __post_init__(self) -> None:
        keep(self, scale=validate.size("scale", self.scale))

    def __call__(self, t: Any) -> Any:
        return self.scale / np.sqrt(t)


@description
class inverse:
    """The schedule η_t = scale/t; with scale = 1/H the one for H-strongly convex losses."""

    scale: float

    def __post_init__(self) -> None:
        keep(self, scale=validate.size("scale", self.scale))

    def __call__(self, t: Any) -> Any:
        return self.scale / t


def step_at(eta: Step, t: int) -> Array:
    """η_t of a number, an array or a schedule; from 1e-150 to 1e150."""
    if callable(eta):
        return validate.sizes(f"eta({t})", validate.asked(f"the schedule eta, at t = {t},", eta, t))
    return validate.sizes("eta", eta)


def steps(eta: Step, T: int, before: int = 0) -> Array:
    """η of the T rounds after round `before`, `(..., T)`; a schedule is asked for all at once if it can."""
    if not callable(eta):
        return np.repeat(step_at(eta, 1)[..., None], T, axis=-1)
    t = np.arange(before + 1, before + T + 1)
    if step_at(eta, before + 1).ndim == 0:
        with suppress(Exception):  # it was made for one t: ask for one at a time, and let that complain
            together = validate.sizes("eta", eta(t))
            some = [0, T // 2, T - 1]
            if together.shape == (T,) and (abs(together[some] / [eta(s) for s in t[some]] - 1) < 1e-12).all():
                return together
    return np.stack(np.broadcast_arrays(*(step_at(eta, int(s)) for s in t)), axis=-1)


def _kept(eta: Step) -> Step:
    """A step as a learner keeps it: a schedule, a float or a frozen array."""
    first = step_at(eta, 1)
    if callable(eta):
        return eta
    return validate.frozen("eta", first) if first.ndim else float(first)


# ---------------------------------------------------------------- leaders


@description
class FTL:
    """Follow the leader: w_t ∈ argmin over the set of f_1 + … + f_{t−1}; of several, the one of least norm.

    Lecture 13, (2).
    """

    over: Set

    def player(self) -> Player:
        """A fresh player."""
        return _Leader(self)

    def minimize(self, a: float, b: Array, t: int) -> Array:
        """argmin of ½a‖w‖² + ⟨b, w⟩ over the set."""
        return self.over.project(-b / a) if np.all(a > 0) else self.over.minimize_linear(b)

    def points(self, Z: ArrayLike) -> Array:
        """All plays against linear losses."""
        return _led(lambda sums, *_: self.over.minimize_linear(sums), _linear(Z, self.over.dim)[0])


@description
class FTRL:
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
    regularizer: Regularizer
    eta: Step

    def __post_init__(self) -> None:
        keep(self, eta=_kept(self.eta))
        self.regularizer.minimize(np.zeros(self.over.dim), 1.0, self.over)  # is there a closed form?

    def player(self) -> Player:
        """A fresh player."""
        return _Leader(self)

    def minimize(self, a: float, b: Array, t: int) -> Array:
        """argmin of ½a‖w‖² + ⟨b, w⟩ + R(w)/η_t over the set (at t = 0, where a = b = 0, of R alone)."""
        return self.regularizer.minimize(b, step_at(self.eta, max(t, 1)), self.over, curvature=a)

    def points(self, Z: ArrayLike) -> Array:
        """All plays against linear losses."""
        Z, largest = _linear(Z, self.over.dim)
        eta: Any = self.eta if isinstance(self.eta, float) else steps(self.eta, Z.shape[-2])
        calm = largest * Z.shape[-2] * max(1.0, np.max(eta)) < SMALL  # then no sum needs a check
        known = calm and isinstance(self.regularizer, (SquaredNorm, NegativeEntropy))
        # where little changes in a few rounds, an entropy need not look for the least in each of them
        slow = calm and largest * np.max(eta) < 0.25 and Z.size >= 4096 and Z.shape[-1] >= 16
        level = slow and isinstance(self.regularizer, NegativeEntropy)

        def minimize(sums: Array, t: slice, out: Array | None) -> Array:
            step, place = eta if isinstance(eta, float) else eta[..., t], {"out": out} if known else {}
            if level:
                place["level"] = out is not None  # type: ignore[assignment]
            return self.regularizer.minimize(sums, step, self.over, **place)  # type: ignore[arg-type]

        return _led(minimize, Z, level)


class _Leader:
    """Keeps the sum of the losses as its coefficients and asks the learner for the argmin."""

    def __init__(self, learner: FTL | FTRL) -> None:
        self.learner = learner
        self.t = 0
        self.a = 0.0
        self.b = np.zeros(learner.over.dim)

    def predict(self) -> Array:
        return self.learner.minimize(self.a, self.b, self.t)

    def update(self, loss: Loss) -> None:
        if not isinstance(loss, protocols.Summable):
            raise ValueError(
                f"{type(self.learner).__name__} sums its losses exactly and takes Linear and Quadratic "
                f"ones, got {type(loss).__name__}; use Linearized(...), or oracle.FTRL if cvxpy can say it"
            )
        a, b, _ = loss.coefficients
        self.t, self.a, self.b = self.t + 1, self.a + a, self.b + b


def Hedge(n: int, eta: Step) -> FTRL:
    """Exponential weights on n experts, w_{t+1} = softmax(−η_t·Z_t): FTRL with entropy on the simplex."""
    return FTRL(Simplex(n), NegativeEntropy(), eta)


def _linear(Z: ArrayLike, dim: int) -> tuple[Array, float]:
    """Linear losses known in advance, `(..., T, dim)`, and the largest size of their entries."""
    Z, largest = validate.measured("Z", Z, dim)
    if Z.ndim < 2:
        raise ValueError(f"Z must have shape (..., T, n), got {Z.shape}")
    return Z, largest


def small(start: Array, moves: Array) -> bool:
    """Does nobody who goes these ways from `start` come near 1e150? Else every step is looked at."""
    return bool(
        np.abs(start).max() + np.sqrt(moves.size * np.einsum("...i,...i", moves, moves).sum()) < SMALL
    )


def _led(minimize: Callable[[Array, slice, Any], Array], Z: Array, level: bool = False) -> Array:
    """minimize(Z_t, t, out) for t = 0, …, T, a block at once; Z_0 = 0, for which the step of t = 1 serves.

    The sums are made where the plays go, and may be overwritten there while they are in the cache.
    """
    T, row = Z.shape[-2], Z[..., 0, :].size
    first = minimize(np.zeros_like(Z[..., :1, :]), slice(0, 1), None)
    w = np.empty((*first.shape[:-2], T + 1, Z.shape[-1]))
    w[..., :1, :] = first
    total = np.zeros_like(first)
    for t in blocks(T, row):
        sums = w[..., t.start + 1 : t.stop + 1, :]
        running(Z[..., t, :], total, sums, level)
        total[...] = sums[..., -1:, :]
        if (plays := minimize(sums, t, sums)) is not sums:
            sums[...] = plays
    return w


# ---------------------------------------------------------------- first-order players


class FirstOrder:
    """A player that needs of a loss only a subgradient at its own play w: a subclass has `step(z)`."""

    w: Array

    def predict(self) -> Array:
        """A copy of w."""
        return self.w.copy()

    def update(self, loss: Loss) -> None:
        """`step` by a subgradient of the loss at w."""
        self.step(loss.subgradient(self.predict()))

    def step(self, z: Array) -> None:
        """Move, knowing the subgradient z at w."""
        raise NotImplementedError


@description
class Linearized:
    """Feed a leader the surrogates g_t(w) = ⟨z_t, w⟩ in place of the losses, z_t a subgradient at w_t."""

    learner: Learner

    def player(self) -> GradientPlayer:
        """A fresh player."""
        return _Linearized(self.learner.player())

    def points(self, Z: ArrayLike) -> Array:
        """All plays against linear losses, which are their own surrogates."""
        if not isinstance(self.learner, protocols.ClosedForm):
            raise ValueError(f"points needs a learner with a closed form, got {self.learner!r}")
        return self.learner.points(Z)


class _Linearized(FirstOrder):
    def __init__(self, player: Player) -> None:
        self.player = player

    def predict(self) -> Array:
        return self.player.predict()

    def step(self, z: Array) -> None:
        self.player.update(Linear(z))


@description
class OGD:
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
    start: Vector = None

    def __post_init__(self) -> None:
        keep(self, eta=_kept(self.eta))
        validate.choice("projection", self.projection, ("lazy", "eager"))
        if self.start is not None:
            keep(self, start=validate.vector("start", self.start, self.over.dim))
            if not self.over.contains(self.start):
                raise ValueError(f"start must lie in {self.over!r}, got {self.start}")

    @property
    def leader(self) -> FTRL:
        """Lazy descent is this leader on the surrogates."""
        return FTRL(self.over, SquaredNorm(self.start), self.eta)

    @property
    def first(self) -> Array:
        """w_1."""
        return self.over.project(np.zeros(self.over.dim) if self.start is None else self.start)

    def player(self) -> GradientPlayer:
        """A fresh player."""
        return _Linearized(self.leader.player()) if self.projection == "lazy" else _Eager(self)

    def points(self, Z: ArrayLike) -> Array:
        """All plays against linear losses."""
        if self.projection == "lazy":
            return self.leader.points(Z)
        Z = _linear(Z, self.over.dim)[0]
        moves = steps(self.eta, Z.shape[-2])[..., None] * Z
        w = np.empty((*moves.shape[:-2], Z.shape[-2] + 1, Z.shape[-1]))
        w[..., 0, :] = self.first
        step = nearest(self.over) if small(w[..., 0, :], moves) else self.over.project
        rows, play = np.moveaxis(w, -2, 0), w[..., 0, :]
        for t, move in enumerate(np.moveaxis(moves, -2, 0), 1):  # each projection needs the one before
            rows[t] = play = step(play - move)
        return w


class _Eager(FirstOrder):
    def __init__(self, learner: OGD) -> None:
        self.eta, self.over, self.w, self.t = learner.eta, learner.over, learner.first, 0
        self.nearest = nearest(learner.over)
        self.largest = self.eta if isinstance(self.eta, float) else 0.0  #: step so far

    def step(self, z: Array) -> None:
        self.t += 1
        self.w = self.over.project(self.w - step_at(self.eta, self.t)[..., None] * z)

    def rush(self, z: Array) -> None:
        """A step whose result is not checked."""
        self.t += 1
        eta: Any = self.eta
        if not isinstance(eta, float):
            eta = step_at(eta, self.t)[..., None]
            self.largest = max(self.largest, eta.max())
        self.w = self.nearest(self.w - eta * z)


def OnlineSVM(dim: int, radius: float, eta: Step) -> OGD:
    """Subgradient descent on the hinge over ‖w‖ ≤ radius: w_{t+1} = Π(w_t − η_t z_t), from w_1 = 0.

    Lecture 4, 4.2.3: eager, and z_t = −y_t·x_t where the margin y_t⟨w_t, x_t⟩ is below 1, else 0.
    """
    return OGD(Ball(dim, radius), eta, projection="eager")


def Pegasos(dim: int, reg: float, project: bool = False) -> OGD:
    """Eager descent with η_t = 1/(reg·t) from w_1 = 0, for the losses `hinge(X, y).regularized(reg)`.

    `project` keeps the plays in the ball of radius 1/√reg, which holds the best point.
    """
    reg = validate.size("reg", reg)
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
        delay = [validate.count("delay", d, low=0) for d in validate.asked("delay", np.ravel, self.delay)]
        keep(self, eta=_kept(self.eta), delay=tuple(delay) if np.ndim(self.delay) else delay[0])

    def player(self) -> "_Delayed":
        """A fresh player; it has `receive` as well."""
        return _Delayed(self)

    def arrival(self, s: int) -> int:
        """After which round the gradient of round s arrives."""
        if isinstance(self.delay, int):
            return validate.count("s", s) + self.delay
        if validate.count("s", s) > len(self.delay):
            raise ValueError(f"delay must have an entry for each round, got {len(self.delay)} for round {s}")
        return s + self.delay[s - 1]


class _Delayed(FirstOrder):
    def __init__(self, learner: DelayedOGD) -> None:
        self.learner, self.w = learner, learner.over.project(np.zeros(learner.over.dim))
        self.t = 0
        self.under_way: dict[int, list[tuple[int, Array]]] = {}
        self.received: dict[int, int] = {}

    def step(self, z: Array) -> None:
        """Round t ends: z sets out, and what is due after round t comes in."""
        self.t += 1
        self.under_way.setdefault(self.learner.arrival(self.t), []).append((self.t, z))
        self.receive(self.under_way.pop(self.t, []))

    def receive(self, pairs: Iterable[tuple[int, Array]]) -> None:
        """Move by each (round, gradient) in turn, each round once. No clock is needed: workers may call."""
        for s, z in pairs:
            if validate.count("round", s) in self.received:
                raise ValueError(f"round must come once, got a second gradient of round {s}")
            self.received[s] = k = len(self.received) + 1
            eta = step_at(self.learner.eta, k)
            self.w = self.learner.over.project(self.w - eta[..., None] * z)


# ---------------------------------------------------------------- learners of examples


class _Reads:
    """A learner that takes only the perceptron loss, with its threshold, and plays it with its own kink."""

    kink: float = 1.0
    threshold: float = 0.0

    def sees(self, losses: Any) -> Any:
        """The losses, one example or many, with the learner's own kink; other losses are refused."""
        phi = losses.phi if isinstance(losses, (Example, Examples)) else None
        if not isinstance(phi, PerceptronLoss) or phi.threshold != self.threshold or losses.reg:
            raise ValueError(
                f"{type(self).__name__} plays perceptron_loss(X, y, threshold={self.threshold:g}), "
                f"got {phi or type(losses).__name__}{' with a reg' if phi and losses.reg else ''}"
            )
        return losses.with_kink(self.kink)


class _OnExamples(FirstOrder):
    """Its play is a function of the sum of the subgradients."""

    rests = True  #: where a subgradient is 0

    def __init__(self, learner: Any) -> None:
        self.learner, self.sum = learner, np.zeros(learner.dim)

    def predict(self) -> Array:
        return self.learner.after(self.sum)

    def update(self, loss: Loss) -> None:
        super().update(self.learner.sees(loss))

    def step(self, z: Array) -> None:
        self.sum = self.sum + z


@description
class Perceptron(_Reads):
    """w_1 = 0; if y⟨w, x⟩ < 0 add y·x, at a tie, y⟨w, x⟩ = 0, add kink·y·x; 0 ≤ kink ≤ 1."""

    dim: int
    kink: float = 1.0

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim), kink=validate.probability("kink", self.kink))

    def player(self) -> GradientPlayer:
        """A fresh player."""
        return _OnExamples(self)

    def after(self, Z: Array) -> Array:
        """The play when Z is the sum of the subgradients."""
        return 0.0 - Z


@description
class Winnow(_Reads):
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

    def player(self) -> GradientPlayer:
        """A fresh player."""
        return _OnExamples(self)

    def after(self, Z: Array) -> Array:
        """The play when Z is the sum of the subgradients."""
        return self.factor**-Z


@description
class NormalizedWinnow(_Reads):
    """w_1 uniform on the simplex; on y⟨w, x⟩ ≤ 0 multiply w_i by exp(eta·y·x_i) and normalise."""

    dim: int
    eta: float

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim), eta=validate.size("eta", self.eta))

    def player(self) -> GradientPlayer:
        """A fresh player."""
        return _OnExamples(self)

    def after(self, Z: Array) -> Array:
        """The play when Z is the sum of the subgradients."""
        return NegativeEntropy().minimize(Z, self.eta, Simplex(self.dim))


@description
class KernelPerceptron(_Reads):
    """The Perceptron on the functions k(x, ·): w_1 = 0; if y·w(x) ≤ 0 add y·k(x, ·).

    `kernel(A, B)` is the matrix of all k(a, b), a row of A and b row of B. Lecture 9, remark on kernels.
    """

    kernel: Callable[[Array, Array], Array]

    def __post_init__(self) -> None:
        if not callable(self.kernel):
            raise ValueError(f"kernel must be a function of two arrays of rows, got {self.kernel!r}")

    def player(self) -> "_Expansion":
        """A fresh player: it predicts no vector; its `margin(x)` is w(x)."""
        return _Expansion(self)


def gram(kernel: Callable[[Array, Array], Array], A: Array, B: Array) -> Array:
    """The matrix of all k(a, b), as the reader's kernel says; an answer of the right size is reshaped."""
    name = "the kernel's matrix"
    K = validate.floats(name, validate.asked("the kernel", kernel, A, B))
    if K.size != len(A) * len(B):
        raise ValueError(f"{name} must have {len(A)} rows and {len(B)} columns, got shape {K.shape}")
    return validate.array(name, K.reshape(len(A), len(B)))


class _Expansion:
    """w as the list of what was added to it: no vector w is ever formed."""

    def __init__(self, learner: KernelPerceptron) -> None:
        self.learner, self.coefficients = learner, np.zeros(0)
        self.support: Array | None = None

    def margin(self, x: Array) -> float:
        """w(x) = Σ coefficient_i·k(x_i, x), a kernel value for each update so far."""
        if self.support is None:
            return 0.0
        return float(gram(self.learner.kernel, self.support, x[None, :])[:, 0] @ self.coefficients)

    def update(self, loss: Any) -> None:
        """Add −slope·k(x, ·) for the slope of the loss at w(x)."""
        self.step(loss.x, -self.learner.sees(loss).phi.slope(self.margin(loss.x), loss.y))

    def step(self, x: Array, coefficient: float) -> None:
        """Add coefficient·k(x, ·)."""
        if coefficient:
            self.support = x[None, :] if self.support is None else np.vstack([self.support, x])
            self.coefficients = np.append(self.coefficients, coefficient)
