"""Who plays. A learner is a frozen description; `learner.start()` gives a fresh player with `predict()`
and `update(loss)`.

Two kinds of player:

- leaders (`FTL`, `FTRL`) minimise the true sum of the losses, and take those with `coefficients`
  (linear and isotropic quadratic ones);
- first-order players (`OGD`, `Perceptron`, `Winnow`, …) see only a subgradient z_t at their own play and
  have `step(z)` as well. `Linearized(leader)` makes one of a leader.

`learner.points(Z)` gives all plays w_1, …, w_{T+1} against linear losses known in advance, `(..., T, n)` →
`(..., T + 1, n)`; w_t depends on the first t − 1 rows alone.

A step `eta` is a number, an array of the batch shape, or a schedule called with t = 1, 2, …: η_t is the
step taken after round t. Lazy learners and leaders use it on the whole sum Z_t = z_1 + … + z_t, eager
ones on z_t.
"""

from dataclasses import dataclass

import numpy as np

from ocolib import validate
from ocolib.losses import Linear, PerceptronLoss
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Simplex, Space


def inverse_sqrt(scale):
    """The schedule η_t = scale/√t."""
    validate.positive("scale", scale)
    return lambda t: scale / np.sqrt(t)


def step_at(eta, t):
    """η_t of a number, an array or a schedule; finite and > 0."""
    return validate.positives(f"eta({t})", eta(t)) if callable(eta) else validate.positives("eta", eta)


def steps(eta, T):
    """η_1, …, η_T on the last axis, `(..., T)`."""
    if not callable(eta):
        return np.repeat(step_at(eta, 1)[..., None], T, axis=-1)
    return np.stack(np.broadcast_arrays(*(step_at(eta, t) for t in range(1, T + 1))), axis=-1)


def _check_eta(eta):
    step_at(eta, 1)


def _linear(Z, dim):
    """Linear losses known in advance, `(..., T, dim)`."""
    Z = validate.array("Z", Z, dim)
    if Z.ndim < 2:
        raise ValueError(f"Z must have shape (..., T, n), got {Z.shape}")
    return Z


def _sums(Z, dim):
    """0, Z_1, …, Z_T on axis −2."""
    Z = _linear(Z, dim)
    return np.concatenate([np.zeros_like(Z[..., :1, :]), np.cumsum(Z, axis=-2)], axis=-2)


# ---------------------------------------------------------------- leaders


@dataclass(frozen=True)
class FTL:
    """Follow the leader: w_t ∈ argmin over the set of f_1 + … + f_{t−1}; of several, the one of least norm.

    Lecture 13, (2).
    """

    over: object

    def start(self):
        return _Leader(self)

    def minimize(self, a, b, t):
        """argmin of ½a‖w‖² + ⟨b, w⟩ over the set."""
        return self.over.project(-b / a) if np.all(a > 0) else self.over.minimize_linear(b)

    def points(self, Z):
        return self.over.minimize_linear(_sums(Z, self.over.dim))


@dataclass(frozen=True)
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

    over: object
    regularizer: object
    eta: object

    def __post_init__(self):
        _check_eta(self.eta)
        self.regularizer.minimize(np.zeros(self.over.dim), 1.0, self.over)  # is there a closed form?

    def start(self):
        return _Leader(self)

    def minimize(self, a, b, t):
        """argmin of ½a‖w‖² + ⟨b, w⟩ + R(w)/η_t over the set (at t = 0, where a = b = 0, of R alone)."""
        return self.regularizer.minimize(b, step_at(self.eta, max(t, 1)), self.over, curvature=a)

    def points(self, Z):
        sums = _sums(Z, self.over.dim)
        eta = steps(self.eta, sums.shape[-2] - 1)
        eta = np.concatenate([eta[..., :1], eta], axis=-1)  # any step serves for w_1: the sum is 0
        return self.regularizer.minimize(sums, eta, self.over)


class _Leader:
    """Keeps the sum of the losses as its coefficients and asks the learner for the argmin."""

    def __init__(self, learner):
        self.learner = learner
        self.t = 0
        self.a = 0.0
        self.b = np.zeros(learner.over.dim)

    def predict(self):
        return self.learner.minimize(self.a, self.b, self.t)

    def update(self, loss):
        if not hasattr(loss, "coefficients"):
            raise ValueError(
                f"{type(self.learner).__name__} sums its losses exactly and takes Linear and Quadratic "
                f"ones, got {type(loss).__name__}; use Linearized(...) or, for any convex loss, oracle.FTRL"
            )
        a, b, _ = loss.coefficients
        self.t, self.a, self.b = self.t + 1, self.a + a, self.b + b


def Hedge(n, eta):
    """Exponential weights on n experts, w_{t+1} = softmax(−η_t·Z_t): FTRL with entropy on the simplex."""
    return FTRL(Simplex(n), NegativeEntropy(), eta)


# ---------------------------------------------------------------- first-order players


class _FirstOrder:
    """A player that needs of a loss only a subgradient at its own play."""

    def predict(self):
        return self.w.copy()

    def update(self, loss):
        self.step(loss.subgradient(self.predict()))


@dataclass(frozen=True)
class Linearized:
    """Feed a leader the surrogates g_t(w) = ⟨z_t, w⟩ in place of the losses, z_t a subgradient at w_t."""

    learner: object

    def start(self):
        return _Linearized(self.learner.start())

    def points(self, Z):
        return self.learner.points(Z)


class _Linearized(_FirstOrder):
    def __init__(self, player):
        self.player = player

    def predict(self):
        return self.player.predict()

    def step(self, z):
        self.player.update(Linear(z))


@dataclass(frozen=True, eq=False)
class OGD:
    """Online (sub)gradient descent over a closed convex set.

    lazy:   w_{t+1} = Π(start − η_t(z_1 + … + z_t)), FTRL on the surrogates (Lecture 13, section 3);
    eager:  w_{t+1} = Π(w_t − η_t z_t) (Zinkevich).

    `start` is a point of the set; without one the lazy sum starts at 0, and w_1 = Π(0).

    >>> from ocolib.sets import Box
    >>> Z = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> OGD(Box([-1], [1]), eta=1.0).points(Z)[:, 0]
    array([ 0., -1., -1., -1.,  0.])
    >>> OGD(Box([-1], [1]), eta=1.0, projection="eager").points(Z)[:, 0]
    array([ 0., -1., -1.,  0.,  1.])
    """

    over: object
    eta: object
    projection: str = "lazy"
    center: np.ndarray | None = None

    def __init__(self, over, eta, projection="lazy", start=None):
        _check_eta(eta)
        if projection not in ("lazy", "eager"):
            raise ValueError(f"projection must be 'lazy' or 'eager', got {projection!r}")
        if start is not None:
            start = validate.vector("start", start, over.dim)
            if not over.contains(start):
                raise ValueError(f"start must lie in {over!r}, got {start}")
        for name, value in zip(self.__dataclass_fields__, (over, eta, projection, start), strict=True):
            object.__setattr__(self, name, value)  # `start` is the method, so the point is `center`

    @property
    def leader(self):
        """Lazy descent is this leader on the surrogates."""
        return FTRL(self.over, SquaredNorm(self.center), self.eta)

    @property
    def first(self):
        return self.over.project(np.zeros(self.over.dim) if self.center is None else self.center)

    def start(self):
        return _Linearized(self.leader.start()) if self.projection == "lazy" else _Eager(self)

    def points(self, Z):
        if self.projection == "lazy":
            return self.leader.points(Z)
        Z = _linear(Z, self.over.dim)
        moves = steps(self.eta, Z.shape[-2])[..., None] * Z
        w = np.empty((*moves.shape[:-2], Z.shape[-2] + 1, Z.shape[-1]))
        w[..., 0, :] = self.first
        for t in range(Z.shape[-2]):  # each projection needs the one before: no closed form over time
            w[..., t + 1, :] = self.over.project(w[..., t, :] - moves[..., t, :])
        return w


class _Eager(_FirstOrder):
    def __init__(self, learner):
        self.learner, self.w, self.t = learner, learner.first, 0

    def step(self, z):
        self.t += 1
        self.w = self.learner.over.project(self.w - step_at(self.learner.eta, self.t)[..., None] * z)


# ---------------------------------------------------------------- learners of examples


class _OnExamples(_FirstOrder):
    """Plays the perceptron loss alone, with the kink and threshold of its own rule; its play is a
    function of the sum of the subgradients.
    """

    def __init__(self, learner):
        self.learner, self.sum = learner, np.zeros(learner.dim)

    def predict(self):
        return self.learner.after(self.sum)

    def update(self, loss):
        super().update(as_seen(self.learner, loss))

    def step(self, z):
        self.sum = self.sum + z


def as_seen(learner, losses):
    """The losses as the learner reads them: the Perceptron and the Winnows bring a kink of their own."""
    if not hasattr(learner, "kink"):
        return losses
    phi = getattr(losses, "phi", None)
    if not isinstance(phi, PerceptronLoss) or phi.threshold != learner.threshold:
        raise ValueError(
            f"{type(learner).__name__} plays perceptron_loss(X, y, threshold={learner.threshold:g}), "
            f"got {phi or type(losses).__name__}"
        )
    return losses.with_kink(learner.kink)


@dataclass(frozen=True)
class Perceptron:
    """w_1 = 0; if y⟨w, x⟩ < 0 add y·x, at a tie add kink·y·x. A tie updates fully with kink = 1."""

    dim: int
    kink: float = 1.0
    threshold = 0.0

    def __post_init__(self):
        validate.count("dim", self.dim)
        validate.probability("kink", self.kink)

    def start(self):
        return _OnExamples(self)

    def after(self, Z):
        return 0.0 - Z


@dataclass(frozen=True)
class Winnow:
    """w_1 = (1, …, 1); on y(⟨w, x⟩ − threshold) ≤ 0 multiply w_i by factor^(y·x_i): Winnow2."""

    dim: int
    threshold: float
    factor: float = 2.0
    kink = 1.0

    def __post_init__(self):
        validate.count("dim", self.dim)
        validate.positive("threshold", self.threshold)
        validate.number("factor", self.factor, low=1.0, strict=True)

    def start(self):
        return _OnExamples(self)

    def after(self, Z):
        return self.factor**-Z


@dataclass(frozen=True)
class NormalizedWinnow:
    """w_1 uniform on the simplex; on y⟨w, x⟩ ≤ 0 multiply w_i by exp(eta·y·x_i) and normalise."""

    dim: int
    eta: float
    kink = 1.0
    threshold = 0.0

    def __post_init__(self):
        validate.count("dim", self.dim)
        validate.positive("eta", self.eta)

    def start(self):
        return _OnExamples(self)

    def after(self, Z):
        return NegativeEntropy().minimize(Z, self.eta, Simplex(self.dim))


# ---------------------------------------------------------------- Lecture 9


@dataclass(frozen=True)
class KernelPerceptron:
    """The Perceptron on the functions k(x, ·): w_1 = 0; if y·w(x) ≤ 0 add y·k(x, ·).

    `kernel(A, B)` is the matrix of all k(a, b), a row of A and b row of B. Lecture 9, remark on kernels.
    """

    kernel: object
    kink = 1.0
    threshold = 0.0

    def __post_init__(self):
        if not callable(self.kernel):
            raise ValueError(f"kernel must be a function of two arrays of rows, got {self.kernel!r}")

    def start(self):
        return _Expansion(self.kernel)


class _Expansion:
    """w as the list of what was added to it: no vector w is ever formed."""

    def __init__(self, kernel):
        self.kernel, self.support, self.coefficients = kernel, None, np.zeros(0)

    def margin(self, x):
        """w(x) = Σ coefficient_i·k(x_i, x), a kernel value for each update so far."""
        if self.support is None:
            return 0.0
        return float(self.kernel(self.support, x[None, :])[:, 0] @ self.coefficients)

    def update(self, loss):
        self.step(loss.x, -loss.phi.slope(self.margin(loss.x), loss.y))

    def step(self, x, coefficient):
        """Add coefficient·k(x, ·)."""
        if coefficient:
            self.support = x[None, :] if self.support is None else np.vstack([self.support, x])
            self.coefficients = np.append(self.coefficients, coefficient)


# ---------------------------------------------------------------- Lecture 4


def OnlineSVM(dim, radius, eta):
    """Subgradient descent on the hinge over ‖w‖ ≤ radius: w_{t+1} = Π(w_t − η_t z_t), from w_1 = 0.

    Lecture 4, 4.2.3: eager, and z_t = −y_t·x_t while the margin y_t⟨w_t, x_t⟩ is below 1.
    """
    return OGD(Ball(dim, radius), eta, projection="eager")


@dataclass(frozen=True, eq=False)
class DelayedOGD:
    """Eager descent on gradients that come late: w ← Π(w − η_k z) for the k-th to arrive; w_1 = Π(0).

    That of round s arrives after round s + delay; `delay` is one number τ ≥ 0, or one for each round.
    Lecture 4, 4.3, has one: w_1 = … = w_{τ+1}, then w_{t+1} = Π(w_t − η_{t−τ} z_{t−τ}). τ = 0 is `OGD`.
    """

    over: object
    eta: object
    delay: object = 0

    def __post_init__(self):
        _check_eta(self.eta)
        for d in np.ravel(self.delay):
            validate.count("delay", d, low=0)

    def start(self):
        return _Delayed(self)

    def arrival(self, s):
        """After which round the gradient of round s arrives."""
        if np.ndim(self.delay) and s > len(self.delay):
            raise ValueError(f"delay must have an entry for each round, got {len(self.delay)} for round {s}")
        return s + int(self.delay[s - 1] if np.ndim(self.delay) else self.delay)


class _Delayed(_FirstOrder):
    def __init__(self, learner):
        self.learner, self.w = learner, learner.over.project(np.zeros(learner.over.dim))
        self.t, self.under_way, self.received = 0, {}, {}

    def step(self, z):
        """Round t ends: z sets out, and what is due after round t comes in."""
        self.t += 1
        self.under_way.setdefault(self.learner.arrival(self.t), []).append((self.t, z))
        self.receive(self.under_way.pop(self.t, []))

    def receive(self, pairs):
        """Move by each (round, gradient) in turn. No clock is needed: real workers may call this."""
        for s, z in pairs:
            if validate.count("round", s) in self.received:
                raise ValueError(f"round must come once, got a second gradient of round {s}")
            self.received[s] = k = len(self.received) + 1
            eta = step_at(self.learner.eta, k)
            self.w = self.learner.over.project(self.w - eta[..., None] * z)


# ---------------------------------------------------------------- Regret bounds


def inverse(scale):
    """The schedule η_t = scale/t; with scale = 1/H the one for H-strongly convex losses."""
    validate.positive("scale", scale)
    return lambda t: scale / t


def Pegasos(dim, reg, project=False):
    """Eager descent with η_t = 1/(reg·t) from w_1 = 0, for the losses `hinge(X, y).regularized(reg)`.

    `project` keeps the plays in the ball of radius 1/√reg, which holds the best point.
    """
    validate.positive("reg", reg)
    over = Ball(dim, 1.0 / np.sqrt(reg)) if project else Space(dim)
    return OGD(over, inverse(1.0 / reg), projection="eager")
