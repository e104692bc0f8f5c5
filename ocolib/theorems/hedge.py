"""Hedge on n experts with losses in [0, 1] (Lecture 17): with the best fixed step, and without a horizon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import learners, validate
from ocolib.game import play
from ocolib.learners import steps
from ocolib.regularizers import NegativeEntropy, gibbs
from ocolib.theorems.base import Chain, Line, Theorem, attacks, leader_of, same_steps


@dataclass(frozen=True)
class Hedge(Theorem):
    """Hedge with a fixed step (Lecture 17, the dependence on log N). n ≥ 2 experts, linear losses in [0, 1].

    With step η its regret against the best expert after T rounds is at most ηT/8 + ln(n)/η. The best step,
    η = √(8 ln(n)/T), gives √(T ln(n)/2).
    """

    item, kind, tightness = "ma17.claim.logN", "upper", 0.96
    n: int
    T: int
    eta: float | None = None

    def __post_init__(self):
        self._check(n=_experts, T=validate.count, eta=validate.positive)

    @classmethod
    def of(cls, trace: Any) -> Hedge:
        """Take n, T and η from a trace."""
        leader = _hedge(trace)
        return cls(trace.dim, trace.rounds, leader.eta)

    @property
    def step(self) -> float:
        """The η given, else √(8 ln(n)/T), which makes the bound least."""
        return self.eta or np.sqrt(8 * np.log(self.n) / self.T)

    @property
    def bound(self) -> float:
        """ηT/8 + ln(n)/η; with the best step this is √(T ln(n)/2)."""
        if self.eta is None:
            return np.sqrt(self.T * np.log(self.n) / 2)
        return self.eta * self.T / 8 + np.log(self.n) / self.eta

    def hypotheses(self, trace, u=None):
        """Ask for Hedge with this step on n experts, T rounds, linear losses in [0, 1]."""
        leader = leader_of(trace)
        hedge = leader is not None and isinstance(leader.regularizer, NegativeEntropy)
        return {
            "Hedge with the step η": hedge and bool(np.isclose(leader.eta, self.step, rtol=1e-9, atol=0.0))
        } | _common(self, trace)

    def measure(self, trace, u=None):
        """Measure the regret against the best expert."""
        return trace.paid.sum() - trace.subgradients.sum(axis=0).min()

    def chain(self, trace, u=None):
        """Mixed loss, then Hoeffding: m_t = −(1/η) log Σ p_t(j) exp(−η·ℓ_t(j)).

        With L the sum of the ℓ_t the m_t add up to M = −(1/η) log mean exp(−η·L).
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
    def games(cls, rng):
        """Play all losses of three experts that are 0 or 1; the best step and another."""

        def arena(eta):
            def game(losses):
                stated = cls(3, len(losses), eta)
                return stated, play(learners.Hedge(3, stated.step), np.array(losses)), None

            return game

        bits = [np.array(row) for row in product((0.0, 1.0), repeat=3)]
        yield from attacks(arena(None), bits, rng)
        yield from attacks(arena(0.9), bits, rng, short=2)

    @classmethod
    def worst(cls, T=400):
        """Play two experts that take turns, then one that is always right."""
        stated = cls(2, T)
        return stated, play(learners.Hedge(2, stated.step), turns(T, 36)), None


@dataclass(frozen=True)
class HedgeAnytime(Theorem):
    """Hedge without a horizon (Lecture 17). n ≥ 2 experts, linear losses in [0, 1].

    If round t is played with the step h_t = 2√(ln(n)/t), the regret against the best expert is after every
    T at most √(T ln n).
    """

    item, kind, tightness = "ma17.claim.logN", "upper", 0.96
    n: int
    T: int

    def __post_init__(self):
        self._check(n=_experts, T=validate.count)

    @property
    def step(self) -> Callable:
        """The schedule η(t) = 2√(ln(n)/(t + 1)): round t is then played with 2√(ln(n)/t), no horizon
        needed.
        """
        scale = 2 * np.sqrt(np.log(self.n))
        return lambda t: scale / np.sqrt(t + 1)

    @property
    def bound(self) -> float:
        """√(T ln n)."""
        return np.sqrt(self.T * np.log(self.n))

    def hypotheses(self, trace, u=None):
        """Ask for Hedge with these steps on n experts, T rounds, linear losses in [0, 1]."""
        learner = trace.learner
        hedge = isinstance(learner, learners.FTRL) and isinstance(learner.regularizer, NegativeEntropy)
        return {
            "Hedge with the steps η_t": hedge and same_steps(learner.eta, self.step, trace.rounds)
        } | _common(self, trace)

    def measure(self, trace, u=None):
        """Measure the regret against the best expert."""
        return trace.paid.sum() - trace.subgradients.sum(axis=0).min()

    def chain(self, trace, u=None):
        """m_t is the mixed loss with the step h_t of round t. With M_t(h) = −(1/h) log mean exp(−h·L_t) it
        is M_t(h_t) − M_{t−1}(h_t), and M_t(h) falls in h: for steps that fall the m_t add up to at most
        M_T(h_T).
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
    def games(cls, rng):
        """Play all losses of three experts that are 0 or 1."""

        def game(losses):
            stated = cls(3, len(losses))
            return stated, play(learners.Hedge(3, stated.step), np.array(losses)), None

        yield from attacks(game, [np.array(row) for row in product((0.0, 1.0), repeat=3)], rng)

    @classmethod
    def worst(cls, T=2000):
        """Play two experts that take turns, then one that is always right."""
        stated = cls(2, T)
        return stated, play(learners.Hedge(2, stated.step), turns(T, 140)), None


def turns(T: int, end: int) -> np.ndarray:
    """Return losses of two experts: in turn (1, 0) and (0, 1), in the last `end` rounds always (1, 0)."""
    losses = np.tile(np.eye(2), (T // 2 + 1, 1))[:T]
    losses[T - end :] = [1.0, 0.0]
    return losses


def _experts(name, n):
    return validate.count(name, n, low=2)


def _hedge(trace):
    leader = leader_of(trace)
    if (
        leader is None
        or not isinstance(leader.regularizer, NegativeEntropy)
        or not isinstance(trace.losses, np.ndarray)
    ):
        raise ValueError(f"trace must be one of Hedge on linear losses, got {trace.learner!r}")
    return leader


def _common(stated, trace):
    linear = isinstance(trace.losses, np.ndarray) and trace.losses.ndim == 2
    return {
        f"{stated.n} experts": trace.dim == stated.n,
        f"{stated.T} rounds": trace.rounds == stated.T,
        "linear losses": linear,
        "losses in [0, 1]": linear and bool((trace.losses >= 0).all() and (trace.losses <= 1).all()),
    }
