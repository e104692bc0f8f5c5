"""State the regret bounds of EXP3 (in expectation) and EXP3-IX (with high probability).

A game is a `bandits.Paths`: all sequences of arms with their probabilities, so expectations are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ocolib import bandits, validate
from ocolib.theorems.base import Chain, Game, Line, Theorem, attacks, same_step


@dataclass(frozen=True)
class EXP3(Theorem):
    """Bound the expected regret of EXP3 against the best arm by √(2nT ln n).

    Let there be n ≥ 2 arms and losses in [0, 1] that are fixed before the first round (an oblivious
    adversary). With step size η the expected regret after T rounds is at most ln(n)/η + ηnT/2. The best step
    size η = √(2 ln(n)/(nT)) gives √(2nT ln n). The worst known game attains 0.53 of the bound.

    >>> print(round(EXP3(n=10, T=1000).bound, 2))
    214.6
    """

    item, kind, tightness = "ban.thm.exp3", "upper", 0.53
    n: int
    T: int
    eta: float | None = None

    @property
    def step(self) -> float:
        """Return the given η, or √(2 ln(n)/(nT)), which minimises the bound."""
        return self.eta or np.sqrt(2 * np.log(self.n) / (self.n * self.T))

    @property
    def bound(self) -> float:
        """Return ln(n)/η + ηnT/2; with the best step this is √(2nT ln n)."""
        return np.log(self.n) / self.step + self.step * self.n * self.T / 2

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        exp3 = isinstance(learner, bandits.EXP3)
        return {"EXP3 with the step η": exp3 and same_step(learner.eta, self.step)} | _common(self, trace)

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the expected regret against the best arm."""
        return trace.mean(trace.regrets)

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the expectations over all paths; the step to the third line holds on every path."""
        p, guess, eta, n = trace.probabilities, trace.estimates, trace.learner.eta, trace.dim
        best = trace.losses.sum(axis=0).argmin()
        mixed = (p * guess).sum(axis=(1, 2))
        squares = trace.mean((p * guess * guess).sum(axis=(1, 2)))
        start = np.log(n) / eta
        return Chain(
            "EXP3, on average over all paths",
            (
                Line(trace.mean(trace.regrets), "E Σ ℓ_t(a_t) − L(i)"),
                Line(
                    trace.mean(mixed - guess[:, :, best].sum(axis=1)),
                    "E Σ ⟨p_t, ℓ̂_t⟩ − ℓ̂_t(i)",
                    "the estimates are right on average",
                ),
                Line(
                    start + eta / 2 * squares,
                    "ln N/η + ½η·E Σ ⟨p_t, ℓ̂_t²⟩",
                    "e^−x ≤ 1 − x + x²/2 for x ≥ 0",
                ),
                Line(
                    start + eta / 2 * np.square(trace.losses).sum(),
                    "ln N/η + ½η·Σ Σ_i ℓ_t(i)²",
                    "average over the arm drawn",
                ),
                Line(start + eta * n * trace.rounds / 2, "ln N/η + ½ηNT", "ℓ_t(i) ≤ 1"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play 0/1 losses of two and three arms, with the best step size and another one."""

        def arena(n, eta):
            def game(losses):
                stated = cls(n, len(losses), eta)
                return stated, bandits.all_paths(bandits.EXP3(n, stated.step), np.array(losses)), None

            return game

        for n, eta in ((2, None), (3, None), (2, 0.9)):
            yield from attacks(arena(n, eta), _bits(n), rng, short=3, long=5)

    @classmethod
    def worst(cls, T: int = 10) -> Game:
        """Play two arms of which the second always has loss 1."""
        stated = cls(2, T)
        return stated, bandits.all_paths(bandits.EXP3(2, stated.step), np.tile([0.0, 1.0], (T, 1))), None


@dataclass(frozen=True)
class EXP3IX(Theorem):
    """Bound the regret of EXP3-IX with high probability by 2√(nT(ln n + ln(2/δ))) + ln(2/δ).

    Let there be n ≥ 2 arms, losses in [0, 1] that are fixed before the first round (an oblivious adversary),
    γ = η/2, and 0 < δ < 1. With probability at least 1 − δ, the regret against the best arm after T rounds is
    at most (ln n + ln(2/δ))/η + ηnT + ln(2/δ). The best step size is η = √((ln n + ln(2/δ))/(nT)). The worst
    known game attains 0.23 of the bound.

    >>> print(round(EXP3IX(n=10, T=1000, delta=0.1).bound, 2))
    463.36
    """

    item, kind, tightness = "ban.thm.ix", "upper", 0.23
    n: int
    T: int
    delta: float
    eta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(delta=_chance)

    @property
    def step(self) -> float:
        """Return the given η, or √((ln n + ln(2/δ))/(nT)), which minimises the bound."""
        return self.eta or np.sqrt((np.log(self.n) + np.log(2 / self.delta)) / (self.n * self.T))

    @property
    def bound(self) -> float:
        """Return (ln n + ln(2/δ))/η + ηnT + ln(2/δ)."""
        luck = np.log(2 / self.delta)
        return (np.log(self.n) + luck) / self.step + self.step * self.n * self.T + luck

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        learner = trace.learner
        ix = isinstance(learner, bandits.EXP3IX)
        return {
            "EXP3-IX with the step η": ix and same_step(learner.eta, self.step),
            "γ = η/2": ix and same_step(learner.bias, learner.eta / 2),
        } | _common(self, trace)

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return the smallest number that the regret exceeds with probability at most δ."""
        return trace.quantile(self.delta)

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play 0/1 losses of two arms with δ = 0.1 and 0.9, and of three arms with δ = 0.5."""

        def arena(n, delta, eta):
            def game(losses):
                stated = cls(n, len(losses), delta, eta)
                return stated, bandits.all_paths(bandits.EXP3IX(n, stated.step), np.array(losses)), None

            return game

        for n, delta, eta in ((2, 0.1, None), (3, 0.5, None), (2, 0.9, 0.5)):
            yield from attacks(arena(n, delta, eta), _bits(n), rng, short=3, long=5)

    @classmethod
    def worst(cls, T: int = 8) -> Game:
        """Play two arms of which the second always has loss 1, with δ = 0.5."""
        stated = cls(2, T, 0.5)
        return stated, bandits.all_paths(bandits.EXP3IX(2, stated.step), np.tile([0.0, 1.0], (T, 1))), None


def _chance(name, delta):
    """Check a number in (0, 1) and return it."""
    delta = validate.positive(name, delta)
    if delta >= 1:
        raise ValueError(f"{name} must be < 1, got {delta:g}")
    return delta


def _bits(n):
    """Return all vectors of n zeros and ones."""
    return [np.array(row) for row in product((0.0, 1.0), repeat=n)]


def _common(stated: Any, trace: Any) -> dict[str, bool]:
    """Return the hypotheses on the game and the losses."""
    paths = isinstance(trace, bandits.Paths)
    losses = trace.losses if paths else np.full((1, 1), np.nan)
    return {
        "all paths of a bandit game": paths,
        f"{stated.n} arms": losses.shape[1] == stated.n,
        f"{stated.T} rounds": len(losses) == stated.T,
        "losses in [0, 1]": bool((losses >= 0).all() and (losses <= 1).all()),
    }
