"""Let two learners play a matrix game against each other: the row player pays ⟨x, A y⟩ to the column player.

`play_game(A, row, column, rounds)` returns a `GameTrace`. Both choose before either sees the other's choice.
The row player's loss in round t is A y_t, the column player's −Aᵀx_t.

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
from ocolib.game import Trace, loop
from ocolib.learners import FirstOrder
from ocolib.losses import Linear
from ocolib.sets import Simplex
from ocolib.types import Adversary, Array

# ---------------------------------------------------------------- learners


@description
class HedgeFrom(FirstOrder):
    """Hedge from a given distribution: w_{t+1} ∝ start · exp(−eta·(z_1 + … + z_t + hint·z_t)).

    With hint = 0 it is Hedge; from the uniform start it is `learners.Hedge`. With hint = 1 it is *optimistic*
    Hedge: it plays as if the last loss came once more.
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
    """Return Hedge that counts the last loss twice, from `start` or from the uniform distribution."""
    n = validate.count("n", n)
    return HedgeFrom(np.full(n, 1 / n) if start is None else validate.vector("start", start, n), eta, 1.0)


# ---------------------------------------------------------------- two learners as one


@description
class Pair:
    """Two learners as one: its play is (x, y), and its loss (z, v) goes to each in part."""

    row: Any
    column: Any

    def player(self) -> "PairPlayer":
        """Begin a game of each."""
        return PairPlayer(self.row.player(), self.column.player())


class PairPlayer:
    """A game of a `Pair`."""

    def __init__(self, row: Any, column: Any) -> None:
        self.row, self.column, self.n = row, column, len(row.predict())

    def predict(self) -> Array:
        return np.concatenate([self.row.predict(), self.column.predict()])

    def step(self, z: Array) -> None:
        """Tell each player its own part of the loss."""
        for player, part in ((self.row, z[: self.n]), (self.column, z[self.n :])):
            if hasattr(player, "step"):
                player.step(part)
            else:
                player.update(Linear(part))


# ---------------------------------------------------------------- the game


@dataclass(frozen=True, eq=False, repr=False)
class GameTrace(Trace):
    """Keep what two learners leave behind: a `Trace` of the pair, whose plays are (x_t, y_t)."""

    matrix: Any = None  #: A; the row player pays ⟨x, A y⟩

    @property
    def x(self) -> Array:
        """The row player's plays x_1, …, x_T, `(T, n)`."""
        return self.points[:, : len(self.matrix)]

    @property
    def y(self) -> Array:
        """The column player's plays y_1, …, y_T, `(T, m)`."""
        return self.points[:, len(self.matrix) :]

    @property
    def payments(self) -> Array:
        """⟨x_t, A y_t⟩, what the row player pays in each round."""
        return ((self.x @ self.matrix) * self.y).sum(axis=1)

    @property
    def regrets(self) -> tuple[float, float]:
        """Return (R_1, R_2): of the row player, who pays, and of the column player, who is paid."""
        paid, least = self.payments.sum(), (self.matrix @ self.y.sum(axis=0)).min()
        return float(paid - least), float((self.x.sum(axis=0) @ self.matrix).max() - paid)

    @property
    def gap(self) -> float:
        """Return the duality gap of the two averages."""
        return duality_gap(self.matrix, self.x.mean(axis=0), self.y.mean(axis=0))


def play_game(matrix: ArrayLike, row: Any, column: Any, rounds: int) -> GameTrace:
    """Play `rounds` rounds of the game with this matrix; each learner sees only its own losses.
    Both choose before either learns what the other has chosen.
    """
    A, rounds = validate.frozen("matrix", matrix, ndim=2), validate.count("rounds", rounds)
    for name, learner, size in (("row", row, A.shape[0]), ("column", column, A.shape[1])):
        if not hasattr(learner, "player"):
            raise ValueError(f"{name} must have a method player(), got {type(learner).__name__}")
        found = len(learner.player().predict())
        if found != size:
            raise ValueError(f"{name} must play {size} choices, as the matrix has, got {found}")
    n = len(A)

    def nature(t: int, w: Array, past: Array) -> Array:
        return np.concatenate([A @ w[n:], -(w[:n] @ A)])

    both = loop(Pair(row, column), nature, rounds)
    return GameTrace(
        both.learner, both.losses, both.points, both.subgradients, both.paid, both.last, matrix=A
    )


def duality_gap(matrix: ArrayLike, x: ArrayLike, y: ArrayLike) -> float:
    """Return max_j (Aᵀx)_j − min_i (A y)_i ≥ 0: what both together could gain by answering the other.

    >>> duality_gap([[0, 1], [1, 0]], [0.5, 0.5], [0.25, 0.75])
    0.25
    """
    A = validate.array("matrix", matrix, ndim=2)
    x, y = validate.vector("x", x, A.shape[0]), validate.vector("y", y, A.shape[1])
    return float((x @ A).max() - (A @ y).min())


def best_column(matrix: ArrayLike) -> Adversary:
    """Answer a play w on the rows with the column of the matrix that has the largest ⟨w, column⟩.

    Ties go to the first one. In boosting w weighs the examples, a column is a hypothesis (+1 where it is
    right), and ⟨w, column⟩ is its edge.
    """
    M = validate.frozen("matrix", matrix, ndim=2)
    return lambda t, w, past: M[:, int((w @ M).argmax())]
