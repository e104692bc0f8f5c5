"""Play a matrix game between two learners: the row player pays ⟨x, Ay⟩ to the column player.

`play_game(A, row, column, rounds)` returns a `GameTrace`. Both players choose before either sees the other's
choice. In round t the linear loss of the row player is Ay_t and that of the column player is −Aᵀx_t.

>>> import numpy as np
>>> scissors = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
>>> row, column = HedgeFrom([0.5, 0.3, 0.2], 0.1), HedgeFrom([0.3, 0.3, 0.4], 0.1)
>>> trace = play_game(scissors, row, column, rounds=100)
>>> bool(np.isclose(trace.gap, sum(trace.regrets) / 100))
True
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.game import loop
from ocolib.learners import FirstOrder
from ocolib.losses import Linear
from ocolib.sets import Simplex
from ocolib.trace import Trace
from ocolib.types import Adversary, Array

# ---------------------------------------------------------------- learners


@description
class HedgeFrom(FirstOrder):
    """Run Hedge from a given distribution: w_{t+1} ∝ start · exp(−eta·(z_1 + … + z_t + hint·z_t)).

    With hint = 0 this is Hedge, and from the uniform distribution it equals `learners.Hedge`. With hint = 1
    it is *optimistic* Hedge, which counts the last loss twice.

    >>> for hint in (0, 1):
    ...     print(HedgeFrom([0.5, 0.5], np.log(3), hint).points([[1.0, 0.0]])[-1].round(12))
    [0.25 0.75]
    [0.1 0.9]
    """

    start: Any
    eta: float
    hint: float = 0.0

    def __post_init__(self) -> None:
        start = validate.vector("start", self.start)
        if not (start > 0).all() or abs(start.sum() - 1) > 1e-9:
            raise ValueError(f"start must be a distribution with positive entries, got {self.start}")
        eta, hint = validate.positive("eta", self.eta), validate.number("hint", self.hint, low=0.0)
        keep(self, start=start, eta=eta, hint=hint)

    @property
    def over(self) -> Simplex:
        return Simplex(len(self.start))

    @property
    def first(self) -> Array:
        return self.start.copy()

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        logs = np.log(self.start) - self.eta * (Z + self.hint * z)
        weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)


def OptimisticHedge(n: int, eta: float, start: Any = None) -> HedgeFrom:
    """Return optimistic Hedge, which counts the last loss twice; it starts at `start`, by default uniform."""
    n = validate.count("n", n)
    return HedgeFrom(np.full(n, 1 / n) if start is None else validate.vector("start", start, n), eta, 1.0)


# ---------------------------------------------------------------- two learners as one


@description
class Pair:
    """Combine two learners into one whose play is (x, y); each receives its part of the loss vector."""

    row: Any
    column: Any

    def player(self) -> "PairPlayer":
        """Return a fresh player that combines fresh players of both learners."""
        return PairPlayer(self.row.player(), self.column.player())


class PairPlayer:
    """Play one game of a `Pair`."""

    def __init__(self, row: Any, column: Any) -> None:
        self.row, self.column, self.n = row, column, 0

    def predict(self) -> Array:
        x = self.row.predict()
        self.n = len(x)  # where the loss vector is split
        return np.concatenate([x, self.column.predict()])

    def step(self, z: Array) -> None:
        """Give each player its own part of the loss vector."""
        for player, part in ((self.row, z[: self.n]), (self.column, z[self.n :])):
            if hasattr(player, "step"):
                player.step(part)
            else:
                player.update(Linear(part))


# ---------------------------------------------------------------- the game


@dataclass(frozen=True, eq=False, repr=False)
class GameTrace(Trace):
    """Store the result of a matrix game: a `Trace` of the pair, whose plays are (x_t, y_t)."""

    matrix: Any = None  #: A; the row player pays ⟨x, A y⟩

    def __repr__(self) -> str:
        row, column = type(self.learner.row).__name__, type(self.learner.column).__name__
        return f"GameTrace({row} against {column}: {self.rounds} rounds, duality gap {self.gap:.6g})"

    @property
    def x(self) -> Array:
        """Return the plays x_1, …, x_T of the row player, `(T, n)`."""
        return self.points[:, : len(self.matrix)]

    @property
    def y(self) -> Array:
        """Return the plays y_1, …, y_T of the column player, `(T, m)`."""
        return self.points[:, len(self.matrix) :]

    @property
    def payments(self) -> Array:
        """Return the payments ⟨x_t, Ay_t⟩ of the row player, `(T,)`."""
        return ((self.x @ self.matrix) * self.y).sum(axis=1)

    @property
    def regrets(self) -> tuple[float, float]:
        """Return the regrets (R_1, R_2) of the row and the column player."""
        paid, least = self.payments.sum(), (self.matrix @ self.y.sum(axis=0)).min()
        return float(paid - least), float((self.x.sum(axis=0) @ self.matrix).max() - paid)

    @property
    def gap(self) -> float:
        """Return the duality gap of the average plays."""
        return duality_gap(self.matrix, self.x.mean(axis=0), self.y.mean(axis=0))


def play_game(matrix: ArrayLike, row: Any, column: Any, rounds: int) -> GameTrace:
    """Play `rounds` rounds of the matrix game and return the `GameTrace`.

    Both players choose before either sees the other's choice, and each sees only its own losses.

    >>> row, column = HedgeFrom([0.9, 0.1], 0.1), HedgeFrom([0.5, 0.5], 0.1)
    >>> trace = play_game([[1, 0], [0, 1]], row, column, rounds=2)
    >>> trace.x[0], trace.y[0], float(trace.payments[0])
    (array([0.9, 0.1]), array([0.5, 0.5]), 0.5)
    """
    A, rounds = validate.frozen("matrix", matrix, ndim=2), validate.count("rounds", rounds)
    for name, learner, size in (("row", row, A.shape[0]), ("column", column, A.shape[1])):
        if not hasattr(learner, "player"):
            raise ValueError(f"{name} must have a method player(), got {type(learner).__name__}")
        found = len(learner.player().predict())
        if found != size:
            raise ValueError(f"{name} must have {size} choices, like the matrix, got {found}")
    n = len(A)

    def nature(t: int, w: Array, past: Array) -> Array:
        return np.concatenate([A @ w[n:], -(w[:n] @ A)])

    both = loop(Pair(row, column), nature, rounds)
    return GameTrace(
        both.learner, both.losses, both.points, both.subgradients, both.paid, both.last, matrix=A
    )


def duality_gap(matrix: ArrayLike, x: ArrayLike, y: ArrayLike) -> float:
    """Return the duality gap max_j (Aᵀx)_j − min_i (Ay)_i ≥ 0.

    It is what the two players together could gain by best responses.

    >>> duality_gap([[0, 1], [1, 0]], [0.5, 0.5], [0.25, 0.75])
    0.25
    """
    A = validate.array("matrix", matrix, ndim=2)
    x, y = validate.vector("x", x, A.shape[0]), validate.vector("y", y, A.shape[1])
    return float((x @ A).max() - (A @ y).min())


def best_column(matrix: ArrayLike) -> Adversary:
    """Return the adversary that answers a play w on the rows with the column of largest ⟨w, column⟩.

    Of columns that are equal up to rounding it takes the first. In boosting, w weights the examples, a column
    is a hypothesis (+1 where it is right, −1 where it is wrong), and ⟨w, column⟩ is its edge.

    >>> edges = best_column([[1, -1], [-1, 1], [1, 1]])
    >>> edges(1, np.array([0.2, 0.7, 0.1]), None)  # ⟨w, column⟩ is −0.4 and 0.6
    array([-1.,  1.,  1.])
    """
    M = validate.frozen("matrix", matrix, ndim=2)
    tie = 1e-9 * np.abs(M).max()

    def answer(t: int, w: Array, past: Array) -> Array:
        edges = w @ M
        return M[:, int((edges >= edges.max() - tie).argmax())]

    return answer
