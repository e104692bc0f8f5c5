"""Compute the minimax regret of the square loss and the worst case of follow-the-leader on this loss."""

from dataclasses import dataclass

import numpy as np

from ocolab.limits.base import limit
from ocolab.limits.linear import BySum, FromSum
from ocolib import validate
from ocolib.losses import Quadratic
from ocolib.sets import Ball
from ocolib.types import Adversary, Array


def _alphas(T):
    """Return the numbers α_1, …, α_T of `square_loss`."""
    alphas = [1.0 / T]
    for _ in range(T - 1):
        alphas.append(alphas[-1] + alphas[-1] ** 2)
    return np.array(alphas[::-1])


@limit("tight", "shi.thm-ogd")
def square_loss(T: int) -> float:
    """Return the minimax regret ½Σα_t of the losses ½‖w − c_t‖² with ‖c_t‖ ≤ 1, in any dimension.

    α_T = 1/T and α_{t−1} = α_t + α_t². Let s be the sum of the first t centres c, and q the sum of their
    ‖c‖². The claim is that the value of the game after t rounds is ½(α_t‖s‖² − q + α_{t+1} + … + α_T). At the
    end, t = T, this is −min_u Σ½‖u − c‖². The induction goes backwards. With s now the sum of t − 1 centres
    and α = α_t, the function ½‖w − c‖² + ½(α‖s + c‖² − ‖c‖²) is convex in c, so ‖c‖ = 1 in the worst case,
    and its maximum is ½‖w‖² + ½α‖s‖² + ½α + ‖αs − w‖. This is smallest at w = αs as long as ‖αs‖ ≤ 1, which
    holds since α_t ≤ 1/t, and what remains is ½(α + α²)‖s‖² + ½α. (Takimoto and Warmuth 2000; Koolen, Malek
    and Bartlett 2014.)

    >>> square_loss(2)
    0.625
    """
    return 0.5 * float(_alphas(validate.count("T", T)).sum())


@dataclass(frozen=True)
class SquareMinimax(BySum):
    """Run the optimal player of `square_loss`: w_t = α_t·(c_1 + … + c_{t−1}), the mean shrunk towards 0.

    The losses must be `Quadratic(c)` with curvature 1, because the player recovers c from the gradient w − c.
    """

    dim: int
    T: int

    def __post_init__(self):
        validate.count("T", self.T), validate.count("dim", self.dim)

    @property
    def over(self) -> Ball:
        """Return the set of plays, the unit ball, which contains the centres."""
        return Ball(self.dim)

    def player(self) -> FromSum:
        """Return a fresh player; it adds up the centres, not the gradients."""
        return _FromCenters(self)

    def move(self, t: int, s: Array) -> Array:
        """Return the play after t rounds whose centres have the sum s."""
        return _alphas(self.T)[min(t, self.T - 1)] * s


class _FromCenters(FromSum):
    """Play one game of `SquareMinimax`, which needs the sum of the centres, not of the gradients."""

    def step(self, z):
        super().step(self.predict() - z)  # the gradient of ½‖w − c‖² is w − c


def away(T: int) -> Adversary:
    """Return the adversary of `square_loss`, whose centre is the unit vector along α_t·s − w.

    s is the sum of the earlier centres; if α_t·s = w, the centre is e_1. It forces the value on every
    learner: since ‖αs‖ ≤ 1, ½‖w‖² + ‖αs − w‖ ≥ ½‖αs‖² for every w.
    """
    alphas = _alphas(validate.count("T", T))
    centers: list[np.ndarray] = []

    def adversary(t, w, past):
        del centers[t - 1 :]
        c = alphas[t - 1] * np.sum(centers, axis=0) - w
        length = np.linalg.norm(c)
        centers.append(c / length if length > 1e-12 else np.eye(len(w))[0])
        return Quadratic(centers[-1])

    return adversary


@limit("tight", "shi.thm-ogd")
def leader_square_loss(T: int) -> float:
    """Return the worst case of follow-the-leader on the losses ½(w − c_t)² with c_t ∈ [−1, 1].

    The leader plays the mean m_t of the past centres (0 at first), and its regret is exactly
    Σ(c_t − m_t)²/(2t). This is convex in every c_t, so the worst centres are ±1, and a dynamic program over
    their sum finds them; `leader_centers` returns them. In the plane the worst case can be larger: for T = 3
    it is at least 1.7, against 5/3 here.

    >>> round(leader_square_loss(3), 6)
    1.666667
    """
    return _leader_program(T)[0]


def leader_centers(T: int) -> Array:
    """Return centres c_t = ±1 that give follow-the-leader its largest regret, `(T, 1)`.

    Each row is the center of a `Quadratic` loss.
    """
    s, centers = 0, []
    for t, choice in enumerate(_leader_program(T)[1], start=1):
        centers.append(choice[s + t - 1])
        s += centers[-1]
    return np.array(centers, dtype=float)[:, None]


def _leader_program(T):
    """Return (value, choices): choices[t − 1][s + t − 1] is the worst c_t after centres with sum s."""
    T = validate.count("T", T)
    to_come = np.zeros(2 * T + 1)  # entry s + T belongs to the sum s
    choices: list[np.ndarray] = []
    for t in range(T, 0, -1):
        s = np.arange(-t + 1, t)
        mean = s / max(t - 1, 1)
        worth = np.stack([(c - mean) ** 2 / (2 * t) + to_come[s + c + T] for c in (1, -1)])
        choices.insert(0, np.where(worth[0] >= worth[1], 1, -1))
        to_come[s + T] = worth.max(axis=0)
    return float(to_come[T]), choices
