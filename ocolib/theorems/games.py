"""State the results on learners in matrix games: Hedge, optimistic Hedge, and boosting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import learners
from ocolib.game import play
from ocolib.games import HedgeFrom, OptimisticHedge, Pair, best_column, play_game
from ocolib.learners import FTRL
from ocolib.regularizers import NegativeEntropy
from ocolib.theorems.base import Chain, Game, Line, Theorem, leader_of, most, same_step


@dataclass(frozen=True, eq=False)
class HedgeGame(Theorem):
    """Bound the duality gap of two Hedge learners in a matrix game by √(ln(n)/2T) + √(ln(m)/2T).

    Let the matrix be n × m with n, m ≥ 2 and payments in [0, 1]. If both players use Hedge with step sizes
    √(8 ln(n)/T) and √(8 ln(m)/T) for T rounds, the averages of their plays have at most this duality gap,
    because the gap equals the sum of the two regrets divided by T. The worst known game attains 0.45 of the
    bound.

    >>> print(round(HedgeGame(matrix=np.eye(2), T=100).bound, 4))
    0.1177
    """

    item, kind, tightness = "gam.thm.gap", "upper", 0.45
    matrix: Any
    T: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.matrix.shape) < 2:
            raise ValueError(f"matrix must have at least 2 rows and 2 columns, got {self.matrix.shape}")

    @property
    def step(self) -> tuple[float, float]:
        """Return the two step sizes √(8 ln(n)/T) and √(8 ln(m)/T)."""
        n, m = np.sqrt(8 * np.log(self.matrix.shape) / self.T)
        return float(n), float(m)

    @property
    def bound(self) -> float:
        """Return √(ln(n)/2T) + √(ln(m)/2T)."""
        return float(np.sqrt(np.log(self.matrix.shape) / (2 * self.T)).sum())

    @property
    def players(self) -> tuple[FTRL, FTRL]:
        """Return the two Hedge learners of the theorem."""
        (n, m), (first, second) = self.matrix.shape, self.step
        return learners.Hedge(n, first), learners.Hedge(m, second)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        A, pair = self.matrix, trace.learner
        players = isinstance(pair, Pair) and all(
            _is_hedge(found, wanted, eta)
            for found, wanted, eta in zip((pair.row, pair.column), A.shape, self.step, strict=True)
        )
        return {
            "two Hedges with the steps of the theorem": players,
            f"{self.T} rounds": trace.rounds == self.T,
            "payments in [0, 1]": most(0.0, A.min()) and most(A.max(), 1.0),
            "the losses of a round are A y and −Aᵀx": _played(trace, A),
        }

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the duality gap of the averages."""
        x, y = np.split(trace.points.mean(axis=0), [len(self.matrix)])
        return (x @ self.matrix).max() - (self.matrix @ y).min()

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: the payments cancel, and the bound of Hedge applies to each player."""
        A, T = self.matrix, trace.rounds
        x, y = trace.points[:, : len(A)], trace.points[:, len(A) :]
        paid = ((x @ A) * y).sum()
        first, second = paid - (A @ y.sum(axis=0)).min(), (x.sum(axis=0) @ A).max() - paid
        a, b = np.sqrt(np.log(A.shape) / (2 * T))
        return Chain(
            "Two Hedges in a matrix game",
            (
                Line(self.measure(trace), "max Aᵀx̄ − min Aȳ"),
                Line((first + second) / T, "(R_1 + R_2)/T", "equal: what x pays, y gets"),
                Line(a + second / T, "√(ln n/2T) + R_2/T", "the bound of Hedge for the rows"),
                Line(a + b, "√(ln n/2T) + √(ln m/2T)", "and for the columns"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play every 2 × 2 game with entries 0 and 1, and random games of other sizes."""
        for bits in product((0.0, 1.0), repeat=4):
            for T in (1, 5):
                yield _played_by(cls(np.reshape(bits, (2, 2)), T))
        for n, m, T in ((3, 3, 40), (2, 5, 17), (4, 3, 100)):
            yield _played_by(cls(rng.uniform(size=(n, m)), T))
            yield _played_by(cls(rng.integers(0, 2, (n, m)).astype(float), T))

    @classmethod
    def worst(cls) -> Game:
        """Play one round of a 4 × 4 game in which one row is 0 and one column is 1 in all other rows."""
        A = np.zeros((4, 4))
        A[:, 0] = 1.0
        A[0] = 0.0
        return _played_by(cls(A, 1))


@dataclass(frozen=True, eq=False)
class Boosting(Theorem):
    """Bound how far the margin of a boosted vote can fall below the best margin, by √(2 ln(m)/T).

    Let M have entries ±1 and m ≥ 2 rows, with M_ij = +1 if hypothesis j is right on example i. Hedge plays
    weights w_t on the examples with step size √(2 ln(m)/T), and the weak learner answers with the hypothesis
    j_t of largest edge ⟨w_t, M_j⟩, which is the loss of Hedge. For every distribution u on the hypotheses,
    the vote of j_1, …, j_T has margin min_i (1/T) Σ_t M_{i,j_t} ≥ min_i (Mu)_i − √(2 ln(m)/T). The worst
    known game attains 0.9 of the bound.

    >>> print(round(Boosting(matrix=np.ones((4, 4)) - 2 * np.eye(4), T=50).bound, 4))
    0.2355
    """

    item, kind, tightness = "gam.thm.boosting", "upper", 0.9
    matrix: Any
    T: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.matrix) < 2:
            raise ValueError(f"matrix must have at least 2 rows, got {self.matrix.shape}")

    @property
    def step(self) -> float:
        """Return √(2 ln(m)/T)."""
        return float(np.sqrt(2 * np.log(len(self.matrix)) / self.T))

    @property
    def bound(self) -> float:
        """Return √(2 ln(m)/T)."""
        return self.step

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        M, leader, Z = self.matrix, leader_of(trace), trace.subgradients
        hedge = leader is not None and _is_hedge(leader, len(M), self.step)
        shapes = Z.shape == (self.T, len(M))
        u = np.asarray(u, dtype=float)
        return {
            "Hedge on the examples with the step η": hedge,
            f"{self.T} rounds": shapes,
            "the entries of M are ±1": bool((np.abs(M) == 1).all()),
            "the answer is a hypothesis": shapes and all((z == M.T).all(axis=1).any() for z in Z),
            "its edge is the largest": shapes
            and most((trace.points @ M).max(axis=1), (trace.points * Z).sum(axis=1)),
            "u is a distribution on the hypotheses": u.shape == M.shape[1:]
            and most(0.0, u.min())
            and bool(abs(u.sum() - 1) < 1e-9),
        }

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the margin of u minus the margin of the vote."""
        return (self.matrix @ np.asarray(u)).min() - trace.subgradients.mean(axis=0).min()

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: each answer has at least the edge of u, and Hedge has small regret."""
        u, T, m = np.asarray(u, dtype=float), trace.rounds, len(self.matrix)
        best = trace.subgradients.mean(axis=0).min()
        return Chain(
            "Boosting as a game",
            (
                Line(self.measure(trace, u), "min Mu − margin of the vote"),
                Line(
                    (trace.points.mean(axis=0) @ self.matrix) @ u - best,
                    "⟨w̄, Mu⟩ − margin",
                    "an average of Mu is at least its minimum",
                ),
                Line(trace.paid.mean() - best, "R_T/T", "each answer is the best one, u is no better"),
                Line(np.sqrt(2 * np.log(m) / T), "√(2 ln m/T)", "the bound of Hedge, losses in [−1, 1]"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play random sign matrices against random distributions u."""
        for m, k, T in ((2, 3, 1), (3, 4, 7), (5, 6, 20), (8, 8, 50), (4, 2, 3)):
            for _ in range(4):
                stated = cls(rng.choice([-1.0, 1.0], (m, k)), T)
                trace = play(learners.Hedge(m, stated.step), best_column(stated.matrix), rounds=T)
                yield stated, trace, rng.dirichlet(np.ones(k))
                yield stated, trace, np.eye(k)[rng.integers(k)]

    @classmethod
    def worst(cls) -> Game:
        """Play one round with four hypotheses, each wrong on one of the four examples."""
        stated = cls(np.ones((4, 4)) - 2 * np.eye(4), 1)
        trace = play(learners.Hedge(4, stated.step), best_column(stated.matrix), rounds=1)
        return stated, trace, np.full(4, 0.25)


@dataclass(frozen=True, eq=False)
class OptimisticGame(Theorem):
    """Bound the duality gap of two optimistic Hedge learners by (ln(nm)/η + 2η)/T, of order 1/T.

    Let the matrix be n × m with n, m ≥ 2 and payments in [−1, 1]. Both players use optimistic Hedge from the
    uniform distribution with the same step size η ≤ 1/√8 for T rounds. The worst known game attains 0.95 of
    the bound.

    >>> print(round(OptimisticGame(matrix=np.eye(2), T=100).bound, 4))
    0.0463
    """

    item, kind, tightness = "gam.thm.optimistic", "upper", 0.95
    matrix: Any
    T: int
    eta: float = 8**-0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.matrix.shape) < 2:
            raise ValueError(f"matrix must have at least 2 rows and 2 columns, got {self.matrix.shape}")

    @property
    def bound(self) -> float:
        """Return (ln(nm)/η + 2η)/T."""
        return float((np.log(self.matrix.shape).sum() / self.eta + 2 * self.eta) / self.T)

    @property
    def players(self) -> tuple[HedgeFrom, HedgeFrom]:
        """Return the two learners of the theorem."""
        n, m = self.matrix.shape
        return OptimisticHedge(n, self.eta), OptimisticHedge(m, self.eta)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        A, pair = self.matrix, trace.learner
        players = isinstance(pair, Pair) and all(
            isinstance(found, HedgeFrom)
            and found.hint == 1
            and same_step(found.eta, self.eta)
            and found.start.shape == (size,)
            and np.allclose(found.start, 1 / size)
            for found, size in zip((pair.row, pair.column), A.shape, strict=True)
        )
        return {
            "two optimistic Hedges with the step η from uniform starts": players,
            "η ≤ 1/√8": most(self.eta, 8**-0.5),
            f"{self.T} rounds": trace.rounds == self.T,
            "payments in [−1, 1]": most(np.abs(A).max(), 1.0),
            "the losses of a round are A y and −Aᵀx": _played(trace, A),
        }

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the duality gap of the averages."""
        x, y = np.split(trace.points.mean(axis=0), [len(self.matrix)])
        return (x @ self.matrix).max() - (self.matrix @ y).min()

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof; sums run over both players, each with its losses z and plays w, and z_0 = 0."""
        A, T, eta = self.matrix, trace.rounds, self.eta
        sides = [slice(None, len(A)), slice(len(A), None)]
        logs, turns, moves = np.log(A.shape).sum(), 0.0, 0.0
        for side in sides:
            z, w = trace.subgradients[:, side], trace.points[:, side]
            change = np.diff(np.vstack([np.zeros_like(z[0]), z]), axis=0)
            turns += np.square(np.abs(change).max(axis=1)).sum()
            moves += np.square(np.abs(np.diff(w, axis=0)).sum(axis=1)).sum()
        return Chain(
            "Two optimistic Hedges in a matrix game",
            (
                Line(self.measure(trace), "max Aᵀx̄ − min Aȳ"),
                Line(
                    (logs / eta + eta * turns - moves / (8 * eta)) / T,
                    "(ln(nm)/η + η Σ ‖z_t − z_{t−1}‖∞² − Σ ‖w_t − w_{t−1}‖_1²/8η)/T",
                    "(R_1 + R_2)/T, and the optimistic bound for each",
                ),
                Line(
                    (logs / eta + 2 * eta + (eta - 1 / (8 * eta)) * moves) / T,
                    "(ln(nm)/η + 2η + (η − 1/8η) Σ ‖w_t − w_{t−1}‖_1²)/T",
                    "a player's loss moves no more than the other player",
                ),
                Line(self.bound, "(ln(nm)/η + 2η)/T", "η ≤ 1/√8"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play every 2 × 2 game with entries ±1, and random games of other sizes."""
        for bits in product((-1.0, 1.0), repeat=4):
            for T in (1, 6):
                yield _played_by(cls(np.reshape(bits, (2, 2)), T))
        for n, m, T in ((3, 3, 40), (2, 5, 17), (4, 3, 100)):
            yield _played_by(cls(rng.uniform(-1, 1, size=(n, m)), T, 0.2))
            yield _played_by(cls(rng.choice([-1.0, 1.0], (n, m)), T))

    @classmethod
    def worst(cls) -> Game:
        """Play a game in which each player has a dominant choice, with a small step size."""
        return _played_by(cls(np.array([[0.0, -1.0], [1.0, 0.0]]), 128, 0.1))


# ---------------------------------------------------------------- shared by these theorems


def _is_hedge(found, n, eta):
    """Test whether a learner is Hedge on n experts with step size eta."""
    return (
        isinstance(found, FTRL)
        and isinstance(found.regularizer, NegativeEntropy)
        and found.over.dim == n
        and same_step(found.eta, eta)
    )


def _played(trace, A):
    """Test whether every loss of the trace is (A y_t, −Aᵀx_t)."""
    n, m = A.shape
    w, z = trace.points, trace.subgradients
    if w.shape[1:] != (n + m,):
        return False
    return np.allclose(z, np.hstack([w[:, n:] @ A.T, -(w[:, :n] @ A)]), rtol=1e-9, atol=1e-12)


def _played_by(stated):
    """Play the game of the theorem with its own two learners."""
    row, column = stated.players
    return stated, play_game(stated.matrix, row, column, stated.T), None
