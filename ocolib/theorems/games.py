"""Games between two learners: the duality gap is the sum of the regrets over T; boosting as a game."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import learners, validate
from ocolib.game import play
from ocolib.games import HedgeFrom, Pair, best_column, play_game
from ocolib.learners import FTRL
from ocolib.regularizers import NegativeEntropy
from ocolib.theorems.base import Chain, Line, Theorem, leader_of, most


@dataclass(frozen=True, eq=False)
class HedgeGame(Theorem):
    """Two Hedges play a matrix game with payments in [0, 1], n × m with n, m ≥ 2, for T rounds.

    With the steps √(8 ln(n)/T) and √(8 ln(m)/T) the averages of their plays have a duality gap of at most
    √(ln(n)/2T) + √(ln(m)/2T). The gap is *equal* to the sum of the two regrets over T.
    """

    item, kind, tightness = "gam.thm.gap", "upper", 0.45
    matrix: Any
    T: int

    def __post_init__(self):
        self._check(matrix=_matrix, T=validate.count)
        if min(self.matrix.shape) < 2:
            raise ValueError(f"matrix must have at least 2 rows and 2 columns, got {self.matrix.shape}")

    @property
    def step(self) -> tuple[float, float]:
        """The two steps, √(8 ln(n)/T) and √(8 ln(m)/T)."""
        n, m = np.sqrt(8 * np.log(self.matrix.shape) / self.T)
        return float(n), float(m)

    @property
    def bound(self) -> float:
        """√(ln(n)/2T) + √(ln(m)/2T)."""
        return float(np.sqrt(np.log(self.matrix.shape) / (2 * self.T)).sum())

    @property
    def players(self) -> tuple[FTRL, FTRL]:
        """The two Hedges of the theorem."""
        return learners.Hedge(self.matrix.shape[0], self.step[0]), learners.Hedge(
            self.matrix.shape[1], self.step[1]
        )

    def hypotheses(self, trace, u=None):
        """Ask for two Hedges with these steps, payments in [0, 1], and that this matrix was played."""
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

    def measure(self, trace, u=None):
        """Measure the duality gap of the averages."""
        x, y = np.split(trace.points.mean(axis=0), [len(self.matrix)])
        return (x @ self.matrix).max() - (self.matrix @ y).min()

    def chain(self, trace, u=None):
        """The payments cancel; then the bound of Hedge, twice."""
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
    def games(cls, rng):
        """Play every 2 × 2 game of zeros and ones, and random ones of other sizes."""
        for bits in product((0.0, 1.0), repeat=4):
            for T in (1, 5):
                yield _played_by(cls(np.reshape(bits, (2, 2)), T))
        for n, m, T in ((3, 3, 40), (2, 5, 17), (4, 3, 100)):
            yield _played_by(cls(rng.uniform(size=(n, m)), T))
            yield _played_by(cls(rng.integers(0, 2, (n, m)).astype(float), T))

    @classmethod
    def worst(cls):
        """Play one round of 4 × 4: one row costs nothing, one column is always paid."""
        A = np.zeros((4, 4))
        A[:, 0] = 1.0
        A[0] = 0.0
        return _played_by(cls(A, 1))


@dataclass(frozen=True, eq=False)
class Boosting(Theorem):
    """Hedge over m ≥ 2 examples against a weak learner: the margin of the vote (boosting by a game).

    M has entries ±1, M_ij = +1 if hypothesis j is right on example i. Hedge on the examples, with step
    √(2 ln(m)/T), pays ⟨w_t, M_j⟩ for the hypothesis j_t with the largest edge ⟨w_t, M_j⟩. Then for every
    distribution u on the hypotheses the vote of j_1, …, j_T has margin
    min_i (1/T) Σ_t M_{i,j_t} ≥ min_i (M u)_i − √(2 ln(m)/T).
    """

    item, kind, tightness = "gam.thm.boosting", "upper", 0.9
    matrix: Any
    T: int

    def __post_init__(self):
        self._check(matrix=_matrix, T=validate.count)
        if len(self.matrix) < 2:
            raise ValueError(f"matrix must have at least 2 rows, got {self.matrix.shape}")

    @property
    def step(self) -> float:
        """√(2 ln(m)/T)."""
        return float(np.sqrt(2 * np.log(len(self.matrix)) / self.T))

    @property
    def bound(self) -> float:
        """√(2 ln(m)/T), by which the margin may fall short of that of u."""
        return self.step

    def hypotheses(self, trace, u=None):
        """Ask for Hedge on the examples, a best answer in every round, and a distribution u."""
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

    def measure(self, trace, u=None):
        """Measure how much the margin of the vote is below that of u."""
        return (self.matrix @ np.asarray(u)).min() - trace.subgradients.mean(axis=0).min()

    def chain(self, trace, u=None):
        """The weak learner answers at least as well as u; Hedge pays nearly as little as the best example."""
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
    def games(cls, rng):
        """Play random matrices of signs against random votes."""
        for m, k, T in ((2, 3, 1), (3, 4, 7), (5, 6, 20), (8, 8, 50), (4, 2, 3)):
            for _ in range(4):
                stated = cls(rng.choice([-1.0, 1.0], (m, k)), T)
                trace = play(learners.Hedge(m, stated.step), best_column(stated.matrix), rounds=T)
                yield stated, trace, rng.dirichlet(np.ones(k))
                yield stated, trace, np.eye(k)[rng.integers(k)]

    @classmethod
    def worst(cls):
        """Play one round with four hypotheses, each wrong on one of four examples."""
        stated = cls(np.ones((4, 4)) - 2 * np.eye(4), 1)
        trace = play(learners.Hedge(4, stated.step), best_column(stated.matrix), rounds=1)
        return stated, trace, np.full(4, 0.25)


@dataclass(frozen=True, eq=False)
class OptimisticGame(Theorem):
    """Two optimistic Hedges play a matrix game with payments in [−1, 1], n × m, n, m ≥ 2, for T rounds.

    From uniform starts with a common step η ≤ 1/√8 the duality gap of the averages is at most
    (ln(nm)/η + 2η)/T: of order 1/T, not 1/√T.
    """

    item, kind, tightness = "gam.thm.optimistic", "upper", 0.95
    matrix: Any
    T: int
    eta: float = 8**-0.5

    def __post_init__(self):
        self._check(matrix=_matrix, T=validate.count, eta=validate.positive)
        if min(self.matrix.shape) < 2:
            raise ValueError(f"matrix must have at least 2 rows and 2 columns, got {self.matrix.shape}")

    @property
    def bound(self) -> float:
        """(ln(nm)/η + 2η)/T."""
        return float((np.log(self.matrix.shape).sum() / self.eta + 2 * self.eta) / self.T)

    @property
    def players(self) -> tuple[HedgeFrom, HedgeFrom]:
        """The two learners of the theorem."""
        n, m = self.matrix.shape
        return HedgeFrom(np.full(n, 1 / n), self.eta, 1.0), HedgeFrom(np.full(m, 1 / m), self.eta, 1.0)

    def hypotheses(self, trace, u=None):
        """Ask for two optimistic Hedges with this step from uniform starts, and payments in [−1, 1]."""
        A, pair = self.matrix, trace.learner
        players = isinstance(pair, Pair) and all(
            isinstance(found, HedgeFrom)
            and found.hint == 1
            and bool(np.isclose(found.eta, self.eta, rtol=1e-9, atol=0.0))
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

    def measure(self, trace, u=None):
        """Measure the duality gap of the averages."""
        x, y = np.split(trace.points.mean(axis=0), [len(self.matrix)])
        return (x @ self.matrix).max() - (self.matrix @ y).min()

    def chain(self, trace, u=None):
        """Sums over both players, each with its own losses z and plays w; z_0 = 0."""
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
    def games(cls, rng):
        """Play every 2 × 2 game of signs, and random ones of other sizes."""
        for bits in product((-1.0, 1.0), repeat=4):
            for T in (1, 6):
                yield _played_by(cls(np.reshape(bits, (2, 2)), T))
        for n, m, T in ((3, 3, 40), (2, 5, 17), (4, 3, 100)):
            yield _played_by(cls(rng.uniform(-1, 1, size=(n, m)), T, 0.2))
            yield _played_by(cls(rng.choice([-1.0, 1.0], (n, m)), T))

    @classmethod
    def worst(cls):
        """Play a game in which each player has one choice that is always better, with a short step."""
        return _played_by(cls(np.array([[0.0, -1.0], [1.0, 0.0]]), 128, 0.1))


# ---------------------------------------------------------------- what they share


def _matrix(name, A):
    return validate.frozen(name, A, ndim=2)


def _is_hedge(found, n, eta):
    return (
        isinstance(found, FTRL)
        and isinstance(found.regularizer, NegativeEntropy)
        and found.over.dim == n
        and not callable(found.eta)
        and bool(np.isclose(found.eta, eta, rtol=1e-9, atol=0.0))
    )


def _played(trace, A):
    """Is each loss of the trace (A y_t, −Aᵀx_t)?"""
    n, m = A.shape
    w, z = trace.points, trace.subgradients
    if w.shape[1:] != (n + m,):
        return False
    return np.allclose(z, np.hstack([w[:, n:] @ A.T, -(w[:, :n] @ A)]), rtol=1e-9, atol=1e-12)


def _played_by(stated):
    row, column = stated.players
    return stated, play_game(stated.matrix, row, column, stated.T), None
