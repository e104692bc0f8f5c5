"""Run the kernel Perceptron, whose weight vector w = Σ c_i·k(x_i, ·) is stored only by its coefficients.

See the remark on kernels in Lecture 9.

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
    """Run the Perceptron in the feature space of a kernel: w_1 = 0; if y·w(x) ≤ 0, add y·k(x, ·).

    `kernel(A, B)` returns the matrix of all k(a, b), where a is a row of A and b a row of B.
    """

    kernel: Callable[[Array, Array], Array]

    def __post_init__(self) -> None:
        if not callable(self.kernel):
            raise ValueError(f"kernel must be a function of two arrays of rows, got {self.kernel!r}")

    def gram(self, A: Array, B: Array) -> Array:
        """Return the kernel matrix of all k(a, b), checked and reshaped to len(A) × len(B)."""
        name = "the kernel's matrix"
        K = validate.numbers(name, self.kernel(A.copy(), B.copy()))
        if K.size != len(A) * len(B):
            raise ValueError(f"{name} must have {len(A)} rows and {len(B)} columns, got shape {K.shape}")
        return validate.array(name, K.reshape(len(A), len(B)))

    def player(self) -> "KernelPlayer":
        """Return a fresh player; it has `margin(x)`, the value w(x), in place of `predict()`."""
        return KernelPlayer(self)

    def play(self, losses: Any) -> "KernelTrace":
        """Play all examples; `game.play` calls this method."""
        if not isinstance(losses, Examples):
            raise ValueError(f"KernelPerceptron plays perceptron_loss(X, y), got {type(losses).__name__}")
        losses = self.sees(losses)
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
    """Play one game of `KernelPerceptron`; w is stored as support vectors and coefficients."""

    def __init__(self, learner: KernelPerceptron) -> None:
        self.learner, self.coefficients = learner, np.zeros(0)
        self.support: Array | None = None

    def margin(self, x: Array) -> float:
        """Return w(x) = Σ coefficient_i·k(x_i, x), summed over the updates so far."""
        if self.support is None:
            return 0.0
        return float(self.learner.gram(self.support, np.asarray(x)[None, :])[:, 0] @ self.coefficients)

    def add(self, x: Array, coefficient: float) -> None:
        """Add coefficient·k(x, ·) to w."""
        if coefficient:
            self.support = x[None, :] if self.support is None else np.vstack([self.support, x])
            self.coefficients = np.append(self.coefficients, coefficient)

    def update(self, loss: Any) -> None:
        """Add −slope·k(x, ·), where slope is that of the loss at w(x)."""
        self.add(loss.x, -self.learner.sees(loss).phi.slope(self.margin(loss.x), loss.y))


@dataclass(frozen=True, eq=False)
class KernelTrace:
    """Store the result of a kernel game: w_{T+1} = Σ coefficients_t·k(x_t, ·)."""

    learner: KernelPerceptron
    losses: Examples  #: the losses that were played
    scores: Array  #: w_t(x_t), `(T,)`
    coefficients: Array  #: the coefficient that round t added, `(T,)`: ±1 in an update, else 0

    def __repr__(self) -> str:
        return f"KernelTrace({len(self.scores)} rounds, {self.updates.sum()} updates)"

    @property
    def margins(self) -> Array:
        """Return the margins y_t·w_t(x_t), `(T,)`."""
        return self.losses.y * self.scores

    @property
    def updates(self) -> Array:
        """Mark the rounds with an update, `(T,)` of bool."""
        return self.coefficients != 0

    @property
    def mistakes(self) -> Array:
        """Mark the rounds with a wrong predicted sign, `(T,)` of bool; the sign of 0 is +1."""
        return (self.scores >= 0) != (self.losses.y > 0)

    def score(self, X: ArrayLike) -> Array:
        """Return w_{T+1}(x) for every row x of X."""
        X, used = validate.array("X", X, self.losses.dim, ndim=2), self.updates
        if not used.any():
            return np.zeros(len(X))
        return self.learner.gram(X, self.losses.X[used]) @ self.coefficients[used]
