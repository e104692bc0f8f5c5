"""Compute the minimax regret of linear losses on an interval and on a ball, with the optimal players."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolab.limits.base import Adversary, Array, limit
from ocolib import validate
from ocolib.sets import Ball


class FromSum:
    """Play one game of a learner whose move depends on the number t of rounds and on the sum Z_t."""

    def __init__(self, learner: Any):
        self.learner, self.t, self.Z = learner, 0, np.zeros(learner.over.dim)

    def predict(self) -> Array:
        return self.learner.move(self.t, self.Z)

    def update(self, loss: Any) -> None:
        self.step(loss.subgradient(self.predict()))

    def step(self, z: Array) -> None:
        self.t, self.Z = self.t + 1, self.Z + z


class BySum:
    """Define a learner whose play after t rounds with gradients of sum Z is `move(t, Z)`."""

    def player(self) -> FromSum:
        """Return a fresh player."""
        return FromSum(self)


# ---------------------------------------------------------------- an interval


def coin_sums(T: int) -> tuple[Array, Array]:
    """Return the values of S_T = ±1 ± … ± 1 (T fair signs) and their probabilities, both `(T + 1,)`."""
    k = np.arange(validate.count("T", T, low=0) + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, T + 1)))])
    log_chance = log_factorial[T] - log_factorial[k] - log_factorial[T - k] - T * np.log(2.0)
    return 2 * k - T, np.exp(log_chance)


def mean_distance(x: float, T: int) -> float:
    """Return E|x + S_T|, the mean distance from 0 of a fair random walk of T steps from x."""
    values, chances = coin_sums(T)
    return float(np.abs(validate.number("x", x) + values) @ chances)


@limit("tight", "ox13.thm2")
def interval(radius: float, rho: float, T: int) -> float:
    """Return the minimax regret of linear losses |z_t| ≤ ρ on [−R, R]: R·ρ·E|S_T| ≈ R·ρ·√(2T/π).

    Let V_r(Z) = R·E|Z + ρS_r| be the value with r rounds left. V_0 = R|Z| is the comparator's gain. In a
    round the worst z is ±ρ, because z ↦ zw + V_r(Z + z) is convex; the play that makes both signs equally
    bad is w = −(V_r(Z + ρ) − V_r(Z − ρ))/(2ρ), it lies in [−R, R] because V_r is R-Lipschitz, and what
    remains is the mean of V_r(Z ± ρ), which is V_{r+1}(Z). A fair coin forces it: on average no play
    gains on it. (Cover 1966.)
    """
    T = validate.count("T", T)
    return validate.positive("radius", radius) * validate.positive("rho", rho) * mean_distance(0.0, T)


@dataclass(frozen=True)
class IntervalMinimax(BySum):
    """Run the optimal player of `interval`: w = −(V_r(Z + ρ) − V_r(Z − ρ))/(2ρ), r rounds left."""

    radius: float
    rho: float
    T: int

    def __post_init__(self):
        interval(self.radius, self.rho, self.T)  # the same conditions on the arguments

    @property
    def over(self) -> Ball:
        """Return the set of plays, [−R, R]."""
        return Ball(1, self.radius)

    def move(self, t: int, Z: Array) -> Array:
        """Return the play after t rounds with gradients of sum Z."""
        left, x = max(self.T - t - 1, 0), float(Z[0]) / self.rho
        return np.array([-0.5 * self.radius * (mean_distance(x + 1, left) - mean_distance(x - 1, left))])


def coin(radius: float, rho: float, T: int) -> Adversary:
    """Return the adversary of `interval`, which plays the sign of ρ that is worse for the learner.

    It forces the value on every learner: the larger of zw + V_r(Z + z) over z = ±ρ is at least their mean.
    """
    interval(radius, rho, T)

    def adversary(t, w, past):
        x = past.sum() / rho
        worth = [s * w[0] + radius * mean_distance(x + s, T - t) for s in (1.0, -1.0)]
        return np.array([rho if worth[0] >= worth[1] else -rho])

    return adversary


# ---------------------------------------------------------------- a ball


@limit("tight", "ox13.thm2")
def ball(radius: float, rho: float, T: int) -> float:
    """Return the minimax regret of linear losses ‖z_t‖ ≤ ρ on ‖w‖ ≤ R in dimension ≥ 2: R·ρ·√T.

    Upper: Φ_t(Z) = R√(‖Z‖² + ρ²(T − t)) starts at R·ρ·√T and ends at R‖Z_T‖, the comparator's gain. With A =
    Φ_t/R and w = −R·Z/A a round costs ⟨w, z⟩ = −R⟨Z, z⟩/A, and Φ_{t+1}(Z + z) ≤ R√(A² + 2⟨Z, z⟩) ≤ Φ_t(Z) +
    R⟨Z, z⟩/A: the sum never grows. Lower: `adversaries.orthogonal`. (Abernethy, Bartlett, Rakhlin and Tewari
    2008.)
    """
    T = validate.count("T", T)
    return validate.positive("radius", radius) * validate.positive("rho", rho) * np.sqrt(T)


@dataclass(frozen=True)
class BallMinimax(BySum):
    """Run the optimal player of `ball`: w_{t+1} = −R·Z_t/√(‖Z_t‖² + ρ²(T − t))."""

    dim: int
    radius: float
    rho: float
    T: int

    def __post_init__(self):
        ball(self.radius, self.rho, self.T), validate.count("dim", self.dim)

    @property
    def over(self) -> Ball:
        """Return the ball of radius R around 0."""
        return Ball(self.dim, self.radius)

    def move(self, t: int, Z: Array) -> Array:
        """Return the play after t rounds with gradients of sum Z."""
        length = np.sqrt(Z @ Z + self.rho**2 * max(self.T - t, 0))
        return -self.radius * Z / (length or 1.0)
