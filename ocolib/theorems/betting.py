"""State the regret bounds of the KT bettor, Cover's universal portfolio and exponentiated gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, log
from typing import Any

import numpy as np

from ocolib import betting, portfolios, validate
from ocolib.game import play
from ocolib.learners import FTRL, Linearized
from ocolib.portfolios import LogLoss, best_rebalanced, market, split
from ocolib.regularizers import NegativeEntropy, gibbs
from ocolib.sets import Simplex
from ocolib.theorems.base import Chain, Game, Line, Theorem, attacks, inside, most, not_negative, same_step
from ocolib.theorems.hedge import turns


@dataclass(frozen=True)
class CoinBetting(Theorem):
    """Bound the regret of the KT bettor on the line, which needs no step size.

    Let the losses be linear with |z_t| ≤ 1 in all T rounds, and let the starting wealth be ε > 0. Against
    every u with |u| ≤ U = `size` the regret is at most U√(T ln(1 + 4T²U²/ε²)) + ε(1 − 1/(2√T)). The algorithm
    does not depend on U, so this holds for every U at once. The worst known game attains 0.94 of the bound.

    >>> print(round(CoinBetting(T=100).bound, 4))
    33.5025
    """

    item, kind, tightness = "bet.thm-kt", "upper", 0.94
    T: int
    size: float = 1.0
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(size=not_negative)

    @property
    def bound(self) -> float:
        """Return U√(T ln(1 + 4T²U²/ε²)) + ε(1 − 1/(2√T))."""
        T, U, eps = self.T, self.size, self.epsilon
        return U * np.sqrt(T * np.log1p((2 * T * U / eps) ** 2)) + eps * (1 - 0.5 / np.sqrt(T))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        return {
            "the KT bettor on the line, with starting wealth ε": isinstance(learner, betting.KT)
            and (learner.dim, learner.epsilon) == (1, self.epsilon),
            "T linear losses": isinstance(trace.losses, np.ndarray) and trace.rounds == self.T,
            "|z_t| ≤ 1": most(np.abs(trace.subgradients), 1.0),
            "|u| ≤ U": np.shape(u) == (1,) and most(np.abs(u), self.size),
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: the regret is uC − W_T + ε, and W_T ≥ F_T(C) ≥ ε/(2√T)·exp(C²/2T)."""
        T, eps, (u,) = self.T, self.epsilon, u
        C = -trace.subgradients.sum()
        potential = betting.potential(np.clip(C, -T, T), T, eps)
        least = 0.5 * eps / np.sqrt(T) * np.exp(C**2 / (2 * T))
        return Chain(
            "The KT bettor, from wealth to regret",
            (
                Line(trace.regret(against=[u]), "Σ z_t(w_t − u)"),
                Line(
                    u * C - (eps - trace.paid.sum()) + eps, "uC − W_T + ε", "W_T = ε − Σ z_t w_t, C = −Σ z_t"
                ),
                Line(u * C - potential + eps, "uC − F_T(C) + ε", "W_T ≥ F_T(C), round by round"),
                Line(
                    abs(u * C) - least + eps,
                    "|uC| − ε/(2√T)·exp(C²/2T) + ε",
                    "the KT inequality, and Pinsker",
                ),
                Line(self.bound, "U√(T ln(1 + 4T²U²/ε²)) + ε(1 − 1/(2√T))", "the largest value over all C"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play slopes ±1 and ½ against three comparators."""

        def arena(u, epsilon):
            def game(losses):
                trace = play(betting.KT(1, epsilon), np.array(losses))
                return cls(len(losses), abs(u), epsilon), trace, np.array([u])

            return game

        moves = [np.array([z]) for z in (1.0, -1.0, 0.5)]
        for u, epsilon in ((1.0, 1.0), (-3.0, 0.1), (0.0, 2.0)):
            yield from attacks(arena(u, epsilon), moves, rng, short=4)

    @classmethod
    def worst(cls, T: int = 400, lead: int = 212, u: float = 1e24) -> Game:
        """Play heads and tails in turn, then 212 heads in a row, against a very large u."""
        z = np.where((np.arange(T) < T - lead) & (np.arange(T) % 2 == 1), 1.0, -1.0)[:, None]
        return cls(T, u), play(betting.KT(), z), np.array([u])


@dataclass(frozen=True)
class UniversalPortfolio(Theorem):
    """Bound the regret of Cover's universal portfolio of two assets by ln(T + 1), or ln(2√T).

    The market has T days with price relatives x_t ≥ 0, x_t ≠ 0, and the prior is Beta(α, α). The log-wealth
    of every constant rebalanced portfolio u exceeds that of the universal portfolio by at most ln(T + 1) for
    α = 1, and by at most ln(4^T/C(2T, T)) ≤ ln(2√T) for α = ½. The bound is tight: a market in which one
    asset pays nothing attains it.

    >>> print(round(UniversalPortfolio(T=99).bound, 4), round(UniversalPortfolio(T=99, prior=0.5).bound, 4))
    4.6052 2.8712
    """

    item, kind, tightness = "bet.thm-cover", "tight", 1.0
    T: int
    prior: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior not in (1.0, 0.5):
            raise ValueError(f"prior must be 1 or 1/2, got {self.prior!r}")

    @property
    def bound(self) -> float:
        """Return ln(T + 1), or ln(4^T/C(2T, T))."""
        return log(self.T + 1) if self.prior == 1 else self.T * log(4) - log(comb(2 * self.T, self.T))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        return {
            "the universal portfolio with this prior": isinstance(learner, portfolios.Universal)
            and learner.prior == self.prior,
            "T days of a market of two assets": _days(trace, self.T, 2),
            "u is a portfolio": inside(Simplex(2), u),
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: the wealth of u is a binomial mean of a_k = q_k/p_k, and ours is Σ p_k a_k."""
        T, k = self.T, np.arange(self.T + 1)
        q = split([loss.x for loss in trace.losses], self.prior)
        ways, p = _binomials(T), _binomials(T) + _log_beta(T, self.prior)
        peaks = ways + _xlogy(k, k / T) + _xlogy(T - k, (T - k) / T)
        chances = ways + _xlogy(k, u[0]) + _xlogy(T - k, u[1])
        return Chain(
            "The universal portfolio against u",
            (
                Line(self.measure(trace, u), "ln S(u) − ln S"),
                Line(
                    np.log((np.exp(chances - p) * q).sum()) - np.log(q.sum()),
                    "ln Σ B_u(k) a_k − ln Σ p_k a_k",
                    "piles: a_k = q_k/p_k",
                ),
                Line(
                    np.log((np.exp(peaks - p) * q).sum()) - np.log(q.sum()),
                    "ln Σ M_k a_k − ln Σ p_k a_k",
                    "B_u(k) ≤ M_k, its largest value over u",
                ),
                Line(np.max(peaks - p), "max ln(M_k/p_k)", "each term of the sum"),
                Line(self.bound, "ln(T + 1), or ln(4^T/C(2T, T))", "largest at k = 0"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play markets made of four kinds of days against the best rebalanced portfolio."""

        def arena(prior):
            def game(days):
                X = np.array(days)
                return cls(len(X), prior), play(portfolios.Universal(prior), market(X)), best_rebalanced(X)[0]

            return game

        days = [np.array(x) for x in ((1.0, 0.0), (0.0, 1.0), (2.0, 1.0), (0.5, 1.0))]
        for prior in (1.0, 0.5):
            yield from attacks(arena(prior), days, rng, short=3)

    @classmethod
    def worst(cls, T: int = 30) -> Game:
        """Play a market in which asset 1 pays nothing on every day."""
        X = np.tile([0.0, 1.0], (T, 1))
        return cls(T), play(portfolios.Universal(), market(X)), np.array([0.0, 1.0])


@dataclass(frozen=True)
class ExponentiatedGradient(Theorem):
    """Bound the regret of exponentiated gradient on n ≥ 2 assets by ρ√(T ln(n)/2), where ρ = (1 − r)/r.

    On each of T days let min x_t ≥ r·max x_t, with 0 < r = `ratio` < 1. With step size η the log-wealth of
    every constant rebalanced portfolio exceeds ours by at most ln(n)/η + ηTρ²/8. The best step size η = √(8
    ln(n)/T)/ρ gives ρ√(T ln(n)/2). The worst known market attains 0.95 of the bound.

    >>> print(round(ExponentiatedGradient(n=2, T=100, ratio=0.5).bound, 4))
    5.8871
    """

    item, kind, tightness = "bet.thm-eg", "upper", 0.95
    n: int
    T: int
    ratio: float
    eta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < validate.number("ratio", self.ratio) < 1:
            raise ValueError(f"ratio must be in (0, 1), got {self.ratio!r}")

    @property
    def range(self) -> float:
        """Return ρ = (1 − r)/r, the largest difference between two entries of a gradient."""
        return (1 - self.ratio) / self.ratio

    @property
    def step(self) -> float:
        """Return the given η, or √(8 ln(n)/T)/ρ, which minimises the bound."""
        return self.eta or np.sqrt(8 * np.log(self.n) / self.T) / self.range

    @property
    def bound(self) -> float:
        """Return ln(n)/η + ηTρ²/8; with the best step this is ρ√(T ln(n)/2)."""
        return np.log(self.n) / self.step + self.step * self.T * self.range**2 / 8

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner, days = trace.learner, _days(trace, self.T, self.n)
        leader: Any = learner.learner if isinstance(learner, Linearized) else None
        own = isinstance(leader, FTRL) and isinstance(leader.regularizer, NegativeEntropy)
        X = np.array([loss.x for loss in trace.losses]) if days else np.ones((1, 1))
        return {
            "exponentiated gradient with the step η": own and same_step(leader.eta, self.step),
            "T days of a market of n assets": days,
            "min x_t ≥ r·max x_t": most(self.ratio * X.max(axis=1), X.min(axis=1)),
            "u is a portfolio": inside(Simplex(self.n), u),
        }

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: linearise, then use m_t = −(1/η) ln Σ_i w_t(i)·exp(−η·z_t(i))."""
        eta, w, z = self.step, trace.points, trace.subgradients
        linear = (z * (w - u)).sum()
        gaps = ((w * z).sum(axis=1) + gibbs(w, -eta * z)[0] / eta).sum()
        return Chain(
            "Exponentiated gradient against u",
            (
                Line(self.measure(trace, u), "ln S(u) − ln S"),
                Line(linear, "Σ ⟨z_t, w_t − u⟩", "−ln is convex"),
                Line(
                    gaps + np.log(self.n) / eta,
                    "Σ (⟨w_t, z_t⟩ − m_t) + ln n/η",
                    "Σ (m_t − ⟨z_t, u⟩) ≤ ln n/η",
                ),
                Line(self.bound, "ηTρ²/8 + ln n/η", "Hoeffding's lemma: the range is ρ"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play days with r = ½ against the best single asset and against a mixture."""

        def arena(eta, mixed):
            def game(days):
                X = np.array(days)
                stated, best = cls(3, len(X), 0.5, eta), np.eye(3)[X.prod(axis=0).argmax()]
                learner = portfolios.ExponentiatedGradient(3, stated.step)
                return stated, play(learner, market(X)), (best + np.ones(3)) / 4 if mixed else best

            return game

        days = [np.array(x) for x in ((1.0, 0.5, 0.5), (0.5, 1.0, 0.5), (0.5, 1.0, 1.0), (2.0, 1.5, 1.0))]
        yield from attacks(arena(None, False), days, rng, short=3)
        yield from attacks(arena(0.3, True), days, rng, short=3)

    @classmethod
    def worst(cls, T: int = 400, ratio: float = 1 - 1e-4) -> Game:
        """Play two assets whose prices hardly move: they alternate, then one of them always loses."""
        stated, X = cls(2, T, ratio), 1 - (1 - ratio) * turns(T, 36)
        best = np.eye(2)[X.prod(axis=0).argmax()]
        return stated, play(portfolios.ExponentiatedGradient(2, stated.step), market(X)), best


def _days(trace: Any, T: int, n: int) -> bool:
    """Test whether the losses are those of a market with T days and n assets."""
    losses = trace.losses
    days = isinstance(losses, list) and len(losses) == T
    return days and all(isinstance(loss, LogLoss) and loss.dim == n for loss in losses)


def _binomials(T: int) -> np.ndarray:
    """Return ln C(T, k) for k = 0, …, T."""
    logs = np.cumsum(np.log(np.maximum(np.arange(T + 1), 1)))
    return logs[-1] - logs - logs[::-1]


def _log_beta(T: int, prior: float) -> np.ndarray:
    """Return ln of the mean of x^k(1 − x)^(T − k) over Beta(prior, prior), for k = 0, …, T."""
    up = np.append(0.0, np.cumsum(np.log(np.arange(T) + prior)))
    return up + up[::-1] - np.log(np.arange(T) + 2 * prior).sum()


def _xlogy(x: np.ndarray, y: Any) -> np.ndarray:
    """Return x·ln y, 0 where x = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == 0, 0.0, x * np.log(y))
