"""State the regret bounds of Hedge (Lecture 17): with a constant step size and without a horizon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import learners
from ocolib.game import play
from ocolib.learners import steps
from ocolib.regularizers import NegativeEntropy, gibbs
from ocolib.theorems.base import Chain, Game, Line, Theorem, attacks, leader_of, same_step, same_steps


@dataclass(frozen=True)
class Hedge(Theorem):
    """Bound the regret of Hedge against the best expert by √(T ln(n)/2) (Lecture 17).

    For n ≥ 2 experts and linear losses with entries in [0, 1], Hedge with step size η has regret at most
    ηT/8 + ln(n)/η after T rounds. The best step size η = √(8 ln(n)/T) gives √(T ln(n)/2). The worst known
    game attains 0.96 of the bound.

    >>> print(round(Hedge(n=10, T=100).bound, 4))
    10.7298
    """

    item, kind, tightness = "ma17.claim.logN", "upper", 0.96
    n: int
    T: int
    eta: float | None = None

    @classmethod
    def of(cls, trace: Any) -> Hedge:
        """Read n, T and η from a trace."""
        leader = _hedge(trace)
        return cls(trace.dim, trace.rounds, leader.eta)

    @property
    def step(self) -> float:
        """Return the given η, or √(8 ln(n)/T), which minimises the bound."""
        return self.eta or np.sqrt(8 * np.log(self.n) / self.T)

    @property
    def bound(self) -> float:
        """Return ηT/8 + ln(n)/η; with the best step this is √(T ln(n)/2)."""
        if self.eta is None:
            return np.sqrt(self.T * np.log(self.n) / 2)
        return self.eta * self.T / 8 + np.log(self.n) / self.eta

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        leader = leader_of(trace)
        hedge = leader is not None and isinstance(leader.regularizer, NegativeEntropy)
        return {"Hedge with the step η": hedge and same_step(leader.eta, self.step)} | _common(self, trace)

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the regret against the best expert."""
        return trace.paid.sum() - trace.subgradients.sum(axis=0).min()

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof by the mixed losses m_t = −(1/η) log Σ_j p_t(j) exp(−η·ℓ_t(j)).

        With L = Σ ℓ_t, the mixed losses add up to M = −(1/η) log mean_j exp(−η·L(j)).
        """
        leader, p, losses = _hedge(trace), trace.points, trace.losses
        eta, n, T, L = leader.eta, trace.dim, trace.rounds, losses.sum(axis=0)
        gaps = (trace.paid + gibbs(p, -eta * losses)[0] / eta).sum()
        M = -gibbs(np.full(n, 1 / n), -eta * L)[0] / eta
        return Chain(
            "Hedge against the best expert",
            (
                Line(trace.paid.sum() - L.min(), "Σ ⟨p_t, ℓ_t⟩ − min L"),
                Line(gaps + M - L.min(), "Σ (⟨p_t, ℓ_t⟩ − m_t) + M − min L", "Σ m_t = M: logs telescope"),
                Line(gaps + np.log(n) / eta, "Σ (⟨p_t, ℓ_t⟩ − m_t) + ln N/η", "mean ≥ largest/N"),
                Line(eta * T / 8 + np.log(n) / eta, "ηT/8 + ln N/η", "Hoeffding's lemma: ℓ_t ∈ [0, 1]"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play 0/1 losses of three experts, with the best step size and another one."""

        def arena(eta):
            def game(losses):
                stated = cls(3, len(losses), eta)
                return stated, play(learners.Hedge(3, stated.step), np.array(losses)), None

            return game

        bits = [np.array(row) for row in product((0.0, 1.0), repeat=3)]
        yield from attacks(arena(None), bits, rng)
        yield from attacks(arena(0.9), bits, rng, short=2)

    @classmethod
    def worst(cls, T: int = 400) -> Game:
        """Play two experts that alternate; in the last rounds the second one is always right."""
        stated = cls(2, T)
        return stated, play(learners.Hedge(2, stated.step), turns(T, 36)), None


@dataclass(frozen=True)
class HedgeAnytime(Theorem):
    """Bound the regret of Hedge with decreasing step sizes by √(T ln n), for every T at once (Lecture 17).

    For n ≥ 2 experts and linear losses with entries in [0, 1], let Hedge use the step size h_t = 2√(ln(n)/t)
    in round t. Its regret against the best expert is at most √(T ln n) after every T. The worst known game
    attains 0.96 of the bound.

    >>> print(round(HedgeAnytime(n=10, T=100).bound, 4))
    15.1743
    """

    item, kind, tightness = "ma17.claim.logN", "upper", 0.96
    n: int
    T: int

    @property
    def step(self) -> Callable:
        """Return the schedule η_t = 2√(ln(n)/(t + 1)), with which round t uses 2√(ln(n)/t)."""
        scale = 2 * np.sqrt(np.log(self.n))
        return lambda t: scale / np.sqrt(t + 1)

    @property
    def bound(self) -> float:
        """Return √(T ln n)."""
        return np.sqrt(self.T * np.log(self.n))

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        hedge = isinstance(learner, learners.FTRL) and isinstance(learner.regularizer, NegativeEntropy)
        return {
            "Hedge with the steps η_t": hedge and same_steps(learner.eta, self.step, trace.rounds)
        } | _common(self, trace)

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the regret against the best expert."""
        return trace.paid.sum() - trace.subgradients.sum(axis=0).min()

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof by the mixed losses m_t with the step size h_t of round t.

        With M_t(h) = −(1/h) log mean_j exp(−h·L_t(j)), m_t = M_t(h_t) − M_{t−1}(h_t). Since M_t(h) decreases
        in h and the steps decrease, the m_t add up to at most M_T(h_T).
        """
        p, losses, T, n = trace.points, trace.losses, trace.rounds, trace.dim
        h = np.append(2 * np.sqrt(np.log(n)), steps(trace.learner.eta, T)[:-1])
        mixed = np.array([-gibbs(q, -e * x)[0] / e for q, e, x in zip(p, h, losses, strict=True)])
        gaps, L = (trace.paid - mixed).sum(), losses.sum(axis=0)
        M = -gibbs(np.full(n, 1 / n), -h[-1] * L)[0] / h[-1]
        return Chain(
            "Hedge without a horizon",
            (
                Line(trace.paid.sum() - L.min(), "Σ ⟨p_t, ℓ_t⟩ − min L"),
                Line(gaps + M - L.min(), "Σ (⟨p_t, ℓ_t⟩ − m_t) + M − min L", "Σ m_t ≤ M: the steps fall"),
                Line(gaps + np.log(n) / h[-1], "Σ (⟨p_t, ℓ_t⟩ − m_t) + ln N/h_T", "mean ≥ largest/N"),
                Line(
                    h.sum() / 8 + np.log(n) / h[-1], "⅛ Σ h_t + ln N/h_T", "Hoeffding's lemma: ℓ_t ∈ [0, 1]"
                ),
                Line(self.bound, "√(T ln N)", "h_t = 2√(ln N/t), Σ 1/√t ≤ 2√T"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play 0/1 losses of three experts."""

        def game(losses):
            stated = cls(3, len(losses))
            return stated, play(learners.Hedge(3, stated.step), np.array(losses)), None

        yield from attacks(game, [np.array(row) for row in product((0.0, 1.0), repeat=3)], rng)

    @classmethod
    def worst(cls, T: int = 2000) -> Game:
        """Play two experts that alternate; in the last rounds the second one is always right."""
        stated = cls(2, T)
        return stated, play(learners.Hedge(2, stated.step), turns(T, 140)), None


def turns(T: int, end: int) -> np.ndarray:
    """Return losses of two experts: (1, 0) and (0, 1) in turn, and always (1, 0) in the last `end` rounds."""
    losses = np.tile(np.eye(2), (T // 2 + 1, 1))[:T]
    losses[T - end :] = [1.0, 0.0]
    return losses


def _hedge(trace):
    """Return the learner of a trace, which must be Hedge on linear losses."""
    leader: Any = leader_of(trace)
    hedge = leader is not None and isinstance(leader.regularizer, NegativeEntropy)
    if not hedge or not isinstance(trace.losses, np.ndarray):
        raise ValueError(f"trace must come from Hedge on linear losses, got {trace.learner!r}")
    return leader


def _common(stated, trace):
    """Return the hypotheses on the size of the game and on the losses."""
    linear = isinstance(trace.losses, np.ndarray) and trace.losses.ndim == 2
    return {
        f"{stated.n} experts": trace.dim == stated.n,
        f"{stated.T} rounds": trace.rounds == stated.T,
        "linear losses": linear,
        "losses in [0, 1]": linear and bool((trace.losses >= 0).all() and (trace.losses <= 1).all()),
    }
