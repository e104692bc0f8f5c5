"""Lecture 4: descent on late gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ocolib import validate
from ocolib.learners import DelayedOGD, steps
from ocolib.proofs.chain import Chain, Line
from ocolib.proofs.gradients import squares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ocolib.game import Trace


def delayed(trace: Trace, u: ArrayLike, diameter: float, rho: float) -> Chain:
    """The delayed theorem on one trace of `DelayedOGD` whose steps do not grow, whatever the delays.

    v_k is where the k-th gradient to arrive, that of round s, finds the player, and α_k its step. The noise
    is ½Σ α_k‖z_s‖², what is late Σ ⟨z_s, w_s − v_k⟩. The last line is what `bounds.delayed` promises for one
    delay, before its sums are bounded.
    """
    late, D = _Arrivals.of(trace), validate.size("diameter", diameter)
    if (np.diff(late.alpha) > 0).any():
        raise ValueError(f"trace must be one of steps that do not grow, got {trace.learner!r}")
    telescoped = D**2 / (2 * late.alpha[-1]), "D²/2α_T", "Abel; ‖v_k − u‖ ≤ D"
    return late.chain("Descent on late gradients", trace, u, rho, telescoped)


def delayed_constant(trace: Trace, u: ArrayLike, radius: float, rho: float) -> Chain:
    """The same with one step for all, which needs of the set only B = `radius` ≥ ‖u − w_1‖."""
    late, B = _Arrivals.of(trace), validate.size("radius", radius)
    if np.ptp(late.alpha) > 0:
        raise ValueError(f"trace must be one of a constant step, got {trace.learner!r}")
    telescoped = B**2 / (2 * late.alpha[0]), "B²/2η", "the squares telescope; ‖w_1 − u‖ ≤ B"
    return late.chain("Descent on late gradients, one step", trace, u, rho, telescoped)


def delayed_strongly_convex(trace: Trace, u: ArrayLike, diameter: float, rho: float) -> Chain:
    """The same for H-strongly convex losses, one delay τ for all rounds and steps 1/(H·k), which tell H.

    The last line is what `bounds.delayed_strongly_convex` promises, before its sums are bounded.
    """
    late, D = _Arrivals.of(trace), validate.size("diameter", diameter)
    H, tau = 1 / late.alpha[0], trace.learner.delay
    if np.ndim(tau) or not np.allclose(late.alpha, 1 / (H * np.arange(1, trace.rounds + 1)), atol=0.0):
        raise ValueError(
            f"trace must be one of one delay for all and eta = inverse(1/curvature), got {trace.learner!r}"
        )
    telescoped = H * tau * D**2 / 2, "HτD²/2", "Abel; at most τ squares remain, each ≤ D²"
    return late.chain("Descent on late gradients, strongly convex", trace, u, rho, telescoped, H)


@dataclass(frozen=True)
class _Arrivals:
    """The gradients in the order in which they arrive; row k belongs to the k-th of them."""

    alpha: np.ndarray  #: its step
    z: np.ndarray  #: the gradient z_s
    w: np.ndarray  #: the play w_s
    v: np.ndarray  #: the point it finds; one row more
    known: np.ndarray  #: how many had arrived when round s was played

    @classmethod
    def of(cls, trace):
        learner, T = trace.learner, trace.rounds
        if not isinstance(learner, DelayedOGD):
            raise ValueError(f"trace must be one of DelayedOGD, got {learner!r}")
        when = np.array([learner.arrival(s) for s in range(1, T + 1)])
        order = np.argsort(when, kind="stable")  # rounds in the order of arrival, counted from 0
        alpha, z = steps(learner.eta, T), trace.subgradients[order]
        v = [trace.points[0]]
        for k in range(T):  # also those that arrive after the game
            v.append(learner.over.project(v[-1] - alpha[k] * z[k]))
        return cls(alpha, z, trace.points[order], np.array(v), np.searchsorted(when[order], order + 1))

    def between(self, amounts):
        """For each k the sum of the amounts that arrived between playing w_s and using z_s."""
        sums = np.append(0.0, np.cumsum(amounts))
        return sums[:-1] - sums[self.known]

    def chain(self, title, trace, u, rho, telescoped, H=0.0):
        """The lines of all three theorems; they differ in what the squares telescope to."""
        u, rho = validate.vector("u", u, trace.dim), validate.size("rho", rho)
        alpha, z, w, v, (start, first, why) = self.alpha, self.z, self.w, self.v, telescoped
        size, bend = np.linalg.norm(z, axis=-1), H / 2 * squares(w, u).sum()
        noise, late = (alpha * size**2).sum() / 2, (z * (w - v[:-1])).sum()
        moved = ((squares(v[:-1], u) - squares(v[1:], u)) / (2 * alpha)).sum() - bend
        late_most = (size * self.between(alpha * size)).sum()
        counted = rho**2 * (alpha.sum() / 2 + self.between(alpha).sum())
        curved = " − (H/2)‖w_s − u‖²" if H else ""
        return Chain(
            title,
            (
                Line(trace.regret(against=u), "Σ f_s(w_s) − f_s(u)"),
                Line((z * (w - u)).sum() - bend, f"Σ ⟨z_s, w_s − u⟩{curved}", "(strong) convexity at w_s"),
                Line(
                    moved + noise + late,
                    f"Σ (‖v_k − u‖² − ‖v_{{k+1}} − u‖²)/2α_k{curved} + noise + late",
                    "w_s = v_k + (w_s − v_k); projection",
                ),
                Line(start + noise + late, f"{first} + noise + late", why),
                Line(
                    start + noise + late_most,
                    f"{first} + noise + Σ ‖z_s‖ Σ_j α_j‖z_j‖",
                    "j: the arrivals between playing w_s and using z_s",
                ),
                Line(start + counted, f"{first} + ρ²(½Σ α_k + Σ Σ_j α_j)", "‖z_s‖ ≤ ρ"),
            ),
        )
