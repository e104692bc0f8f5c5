"""Play the Perceptron with a kernel: w = Σ c_i·k(x_i, ·) is never formed. Lecture 9, remark on kernels.

>>> from ocolib.game import play
>>> from ocolib.losses import perceptron_loss
>>> corners, label = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]  # no line separates them
>>> quadratic = KernelPerceptron(lambda A, B: (1 + A @ B.T) ** 2)
>>> trace = play(quadratic, perceptron_loss(20 * corners, 20 * label))
>>> bool(trace.mistakes[40:].any()), trace.score(corners) > 0
(False, array([False,  True,  True, False]))
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description
from ocolib.learners import ReadsExamples
from ocolib.losses import Examples
from ocolib.types import Array


@description
class KernelPerceptron(ReadsExamples):
    """The Perceptron on the functions k(x, ·): w_1 = 0; if y·w(x) ≤ 0 add y·k(x, ·).

    `kernel(A, B)` is the matrix of all k(a, b), a row of A and b row of B.
    """

    kernel: Callable[[Array, Array], Array]

    def __post_init__(self) -> None:
        if not callable(self.kernel):
            raise ValueError(f"kernel must be a function of two arrays of rows, got {self.kernel!r}")

    def gram(self, A: Array, B: Array) -> Array:
        """Return the matrix of all k(a, b), checked; an answer of the right size is reshaped."""
        name = "the kernel's matrix"
        K = validate.numbers(name, self.kernel(A.copy(), B.copy()))
        if K.size != len(A) * len(B):
            raise ValueError(f"{name} must have {len(A)} rows and {len(B)} columns, got shape {K.shape}")
        return validate.array(name, K.reshape(len(A), len(B)))

    def player(self) -> "KernelPlayer":
        """Begin a game: it predicts no vector; its `margin(x)` is w(x)."""
        return KernelPlayer(self)

    def play(self, losses: Any, rounds: int | None = None) -> "KernelTrace":
        """Play all the examples, or the first `rounds`; `game.play` calls this."""
        if not isinstance(losses, Examples):
            raise ValueError(f"KernelPerceptron plays perceptron_loss(X, y), got {type(losses).__name__}")
        losses = self.sees(losses if rounds is None else losses[:rounds])
        player, scores, added = self.player(), np.empty(len(losses)), np.empty(len(losses))
        for t, example in enumerate(losses):
            try:
                scores[t] = player.margin(example.x)
                added[t] = 0.0 - losses.phi.slope(scores[t], example.y)
                player.add(example.x, added[t])
            except Exception as error:
                raise ValueError(f"round {t + 1}: the kernel failed: {error}") from error
        return KernelTrace(self, losses, scores, added)


class KernelPlayer:
    """A game of `KernelPerceptron`: w as the list of what was added to it."""

    def __init__(self, learner: KernelPerceptron) -> None:
        self.learner, self.coefficients = learner, np.zeros(0)
        self.support: Array | None = None

    def margin(self, x: Array) -> float:
        """Return w(x) = Σ coefficient_i·k(x_i, x), a kernel value for each update so far."""
        if self.support is None:
            return 0.0
        return float(self.learner.gram(self.support, np.asarray(x)[None, :])[:, 0] @ self.coefficients)

    def add(self, x: Array, coefficient: float) -> None:
        """Add coefficient·k(x, ·)."""
        if coefficient:
            self.support = x[None, :] if self.support is None else np.vstack([self.support, x])
            self.coefficients = np.append(self.coefficients, coefficient)

    def update(self, loss: Any) -> None:
        """Add −slope·k(x, ·) for the slope of the loss at w(x)."""
        self.add(loss.x, -self.learner.sees(loss).phi.slope(self.margin(loss.x), loss.y))


@dataclass(frozen=True, eq=False)
class KernelTrace:
    """What a game without weights leaves behind: w_{T+1} = Σ coefficients_t·k(x_t, ·)."""

    learner: KernelPerceptron
    losses: Examples  #: as played
    scores: Array  #: w_t(x_t), `(T,)`
    coefficients: Array  #: what round t added, `(T,)`: ±1 in an update, else 0

    def __repr__(self) -> str:
        return f"KernelTrace({len(self.scores)} rounds, {self.updates.sum()} updates)"

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
        """Return w_{T+1}(x) for every row x of X; with no update it is 0."""
        X, used = validate.array("X", X, self.losses.dim, ndim=2), self.updates
        if not used.any():
            return np.zeros(len(X))
        return self.learner.gram(X, self.losses.X[used]) @ self.coefficients[used]
