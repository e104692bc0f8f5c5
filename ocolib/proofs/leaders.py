"""Leaders: Theorem 1 of Lecture 13, (17.2) of Lecture 17, and Hedge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ocolib import validate
from ocolib.bounds import leader_of
from ocolib.losses import values
from ocolib.proofs.chain import Chain, Line, plays
from ocolib.regularizers import NegativeEntropy, gibbs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ocolib.game import Trace

# ---------------------------------------------------------------- Lecture 13, Theorem 1


def ftrl_stability_slacks(trace: Trace) -> np.ndarray:
    """What round t of Theorem 1's induction gives away, `(..., T)`: with F = f_1 + … + f_{t−1} + R/eta,

    F(w_{t+1}) − F(w_t) ≥ 0, because w_t is a minimiser of F. For t = 1 this is the base case, F = R/eta.
    """
    leader, w = leader_of(trace), plays(trace)
    spread = np.diff(leader.regularizer.value(w), axis=-1) / leader.eta
    return np.diff(_past(trace, w), axis=0)[0] + spread


def _past(trace, w):
    """f_1 + … + f_{t−1} at w_t and at w_{t+1}, stacked on axis 0."""
    here, there = w[..., :-1, :], w[..., 1:, :]
    if isinstance(trace.losses, np.ndarray):
        before = np.cumsum(trace.losses, axis=-2) - trace.losses
        return np.stack([(before * here).sum(-1), (before * there).sum(-1)])
    table = np.array([values(trace.losses, point) for point in w])  # f_t at every play
    return np.array([[table[t + k, :t].sum() for t in range(trace.rounds)] for k in (0, 1)])


def _sum(t):
    """f_1 + … + f_t + R, written out when it is short."""
    losses = [f"f_{i}" for i in range(1, t + 1)] if t < 3 else ["f_1", "…", f"f_{t}"]
    return " + ".join([*losses, "R"])


def ftrl_stability(trace: Trace, u: ArrayLike) -> Chain:
    """Theorem 1 for FTRL on one trace, from the regret against u up to the promise, one line a round.

    The induction (4), (5) unrolled: round t replaces w_{t+1} by w_t, the leader after t − 1 rounds. In the
    reasons R is the regulariser over eta.
    """
    leader, u = leader_of(trace), validate.vector("u", u, trace.dim)
    slacks, R, T = ftrl_stability_slacks(trace), leader.regularizer, trace.rounds
    final = values(trace.losses, trace.last).sum() + R.value(trace.last) / leader.eta
    rival = values(trace.losses, u).sum() + R.value(u) / leader.eta
    value = trace.regret(against=u)
    lines = [Line(value, "Σ f_t(w_t) − Σ f_t(u)")]
    value += rival - final
    lines.append(Line(value, f"u → w_{T + 1}", f"(4) from (5): w_{T + 1} minimises {_sum(T)}"))
    for t in range(T, 0, -1):
        value += slacks[t - 1]
        reason = f"w_{t} minimises {_sum(t - 1)}, w_{t + 1} need not" + (" (base case)" if t == 1 else "")
        lines.append(Line(value, f"round {t}" + (": the promise" if t == 1 else ""), reason))
    return Chain("Theorem 1, the induction unrolled", tuple(lines))


# ---------------------------------------------------------------- Lecture 17


def ftrl(trace: Trace, u: ArrayLike, rho: float) -> Chain:
    """(17.2) for FTRL with φ/eta on one trace; ‖·‖* is the regulariser's dual norm, ‖z_t‖* ≤ rho.

    In the lines G is `rho`. With the step `bounds.ftrl_step` the last line is (17.3), corrected.
    """
    words = "(17.2), the lecture's chain", "η", "Σ f_t(w_t) − f_t(w_{t+1})", "Theorem 1 of Lecture 13"
    return _ftrl(trace, u, rho, 1.0, 0.0, words, "stability: ‖w_t − w_{t+1}‖ ≤ η‖z_t‖*")


def ftrl_sharp(trace: Trace, u: ArrayLike, rho: float) -> Chain:
    """(17.2) with η/2: it keeps round t's slack of Theorem 1, and so pays F_t(w_t) − min F_t ≤ (eta/2)‖z_t‖*²

    a round, F_t = f_1 + … + f_t + φ/eta.
    """
    last, kept = trace.rounds, ftrl_stability_slacks(trace)
    why = f"w_{{{last + 1}}} minimises F_{{{last}}}"
    words = "(17.2), the sharp chain", "(η/2)", "Σ F_t(w_t) − F_t(w_{t+1})", why
    return _ftrl(trace, u, rho, 0.5, kept.sum(), words, "F_{t−1} is 1/η-strongly convex")


def _ftrl(trace, u, rho, share, kept, words, cost):
    """Both chains of (17.2): share·eta is paid for a squared gradient, `kept` is what was not thrown away."""
    leader, u = leader_of(trace), validate.vector("u", u, trace.dim)
    phi, eta, T, (title, price, drop, why) = leader.regularizer, leader.eta, trace.rounds, words
    if not hasattr(phi, "range"):
        raise ValueError(f"trace must be one of a strongly convex regulariser, got {phi!r}")
    unstable = (trace.paid - values(trace.losses, plays(trace)[1:])).sum() - kept
    ends, D = (phi.value(u) - phi.value(trace.points[0])) / eta, phi.range(leader.over)
    squares = share * eta * np.square(phi.dual_norm(trace.subgradients)).sum()
    most = share * eta * T * validate.size("rho", rho) ** 2
    return Chain(
        title,
        (
            Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
            Line(unstable + ends, f"{drop} + (φ(u) − φ(w_1))/η", why),
            Line(squares + ends, f"{price} Σ ‖z_t‖*² + (φ(u) − φ(w_1))/η", cost),
            Line(squares + D / eta, f"{price} Σ ‖z_t‖*² + D/η", "D is the range of φ"),
            Line(most + D / eta, f"{price} T G² + D/η", "‖z_t‖* ≤ G"),
        ),
    )


def hedge(trace: Trace) -> Chain:
    """Hedge with a fixed step, losses in [0, 1], against the best of N experts: mixed loss, then Hoeffding.

    m_t = −(1/eta) log Σ p_t(j) exp(−eta·ℓ_t(j)); with L the sum of the ℓ_t the m_t
    add up to M = −(1/eta) log mean exp(−eta·L).
    """
    leader, p, losses = leader_of(trace), trace.points, trace.losses
    if not isinstance(leader.regularizer, NegativeEntropy) or not isinstance(losses, np.ndarray):
        raise ValueError(f"trace must be one of Hedge on linear losses, got {trace.learner!r}")
    eta, n, T, L = leader.eta, trace.dim, trace.rounds, losses.sum(axis=0)
    mixed = -gibbs(p, -eta * losses)[0] / eta
    gaps = (trace.paid - mixed).sum()
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
