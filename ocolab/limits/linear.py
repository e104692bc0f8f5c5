"""Compute the minimax regret of linear losses on an interval and on a ball, with the optimal players."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolab.limits.base import limit
from ocolib import validate
from ocolib.learners import StepPlayer
from ocolib.sets import Ball
from ocolib.types import Adversary, Array


class FromSum(StepPlayer):
    """Play one game of a `BySum` learner; it stores the number t of rounds and the sum Z of the gradients."""

    def __init__(self, learner: Any):
        self.learner, self.t, self.Z = learner, 0, np.zeros(learner.over.dim)

    def predict(self) -> Array:
        return self.learner.move(self.t, self.Z)

    def step(self, z: Array) -> None:
        self.t, self.Z = self.t + 1, self.Z + z


class BySum:
    """Define a learner that plays `move(t, Z)` after t rounds with gradient sum Z; a subclass has `over`."""

    def player(self) -> FromSum:
        """Return a fresh player."""
        return FromSum(self)


# ---------------------------------------------------------------- an interval


def coin_sums(T: int) -> tuple[Array, Array]:
    """Return the values of S_T, the sum of T fair signs ±1, and their probabilities, both `(T + 1,)`.

    >>> values, chances = coin_sums(2); values.tolist(), chances.round(6).tolist()
    ([-2, 0, 2], [0.25, 0.5, 0.25])
    """
    k = np.arange(validate.count("T", T, low=0) + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, T + 1)))])
    log_chance = log_factorial[T] - log_factorial[k] - log_factorial[T - k] - T * np.log(2.0)
    return 2 * k - T, np.exp(log_chance)


def mean_distance(x: float, T: int) -> float:
    """Return E|x + S_T|, the expected distance from 0 of a fair random walk that starts at x, after T steps.

    >>> round(mean_distance(0.0, 2), 6)
    1.0
    """
    values, chances = coin_sums(T)
    return float(np.abs(validate.number("x", x) + values) @ chances)


@limit("tight", "ox13.thm2")
def interval(radius: float, rho: float, T: int) -> float:
    """Return the minimax regret R·ρ·E|S_T| ≈ R·ρ·√(2T/π) of linear losses |z_t| ≤ ρ on [−R, R].

    S_T is the sum of T fair signs. The claim is that with r rounds left and gradient sum Z the value of the
    game is V_r(Z) = R·E|Z + ρS_r|. V_0 = R|Z| is the gain of the comparator. In a round the worst z is ±ρ,
    because z ↦ zw + V_r(Z + z) is convex. Both signs are equally bad for the play
    w = −(V_r(Z + ρ) − V_r(Z − ρ))/(2ρ), which lies in [−R, R] because V_r is R-Lipschitz; what remains is the
    mean of V_r(Z ± ρ), which is V_{r+1}(Z). A fair coin ±ρ forces the value, because every play has expected
    loss 0 against it. (Cover 1966.)

    >>> round(interval(1.0, 1.0, 3), 6)
    1.5
    """
    T = validate.count("T", T)
    return validate.positive("radius", radius) * validate.positive("rho", rho) * mean_distance(0.0, T)


@dataclass(frozen=True)
class IntervalMinimax(BySum):
    """Run the optimal player of `interval`: w = −(V_r(Z + ρ) − V_r(Z − ρ))/(2ρ), r rounds after this one."""

    radius: float
    rho: float
    T: int

    def __post_init__(self):
        interval(self.radius, self.rho, self.T)  # checks the arguments

    @property
    def over(self) -> Ball:
        """Return the set of plays, [−R, R]."""
        return Ball(1, self.radius)

    def move(self, t: int, Z: Array) -> Array:
        """Return the play after t rounds whose gradients have the sum Z."""
        left, x = max(self.T - t - 1, 0), float(Z[0]) / self.rho
        return np.array([-0.5 * self.radius * (mean_distance(x + 1, left) - mean_distance(x - 1, left))])


def coin(radius: float, rho: float, T: int) -> Adversary:
    """Return the adversary of `interval`, which plays ±ρ with the sign that is worse for the learner.

    It forces the value on every learner, because the larger of zw + V_r(Z + z) for z = ±ρ is at least their
    mean.
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
    """Return the minimax regret R·ρ·√T of linear losses ‖z_t‖ ≤ ρ on the ball ‖w‖ ≤ R in dimension ≥ 2.

    Upper bound: the potential Φ_t(Z) = R√(‖Z‖² + ρ²(T − t)) starts at R·ρ·√T and ends at R‖Z_T‖, the gain of
    the comparator. Let A = Φ_t/R. The play w = −R·Z/A pays ⟨w, z⟩ = −R⟨Z, z⟩/A in the round, and
    Φ_{t+1}(Z + z) ≤ R√(A² + 2⟨Z, z⟩) ≤ Φ_t(Z) + R⟨Z, z⟩/A, so payments plus potential never increase. Lower
    bound: `adversaries.orthogonal`. (Abernethy, Bartlett, Rakhlin and Tewari 2008.)

    >>> float(ball(1.0, 2.0, 100))
    20.0
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
        """Return the play after t rounds whose gradients have the sum Z."""
        length = np.sqrt(Z @ Z + self.rho**2 * max(self.T - t, 0))
        return -self.radius * Z / (length or 1.0)
