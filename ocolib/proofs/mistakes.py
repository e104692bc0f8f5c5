"""Mistakes: the Perceptron as Lectures 13 and 9 prove it, Winnow and NormalizedWinnow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ocolib import validate
from ocolib.learners import OGD, NormalizedWinnow, Perceptron, Winnow
from ocolib.losses import PerceptronLoss
from ocolib.proofs.chain import Chain, Line, plays
from ocolib.sets import Space

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ocolib.game import Trace


def _rounds(trace, from_zero=False):
    """The rounds with an update, each of which adds y_t·x_t: of the Perceptron, or descent with step 1 on
    the whole space; no reg, kink 0 or 1. Any other trace is refused, and one with no update.
    """
    learner, phi = trace.learner, getattr(trace.losses, "phi", None)
    alike = isinstance(learner, OGD) and isinstance(learner.over, Space)
    alike = alike and not callable(learner.eta) and bool(np.all(learner.eta == 1))
    whole = isinstance(phi, PerceptronLoss) and phi.threshold == 0 and phi.kink in (0.0, 1.0)
    if not whole or trace.losses.reg or not (alike or isinstance(learner, Perceptron)):
        raise ValueError(f"trace must be one of the Perceptron, with full updates only, got {learner!r}")
    if from_zero and trace.points[0].any():
        raise ValueError(f"trace must start at 0, got w_1 = {trace.points[0]}")
    if not trace.updates.any():
        raise ValueError("the trace must have at least one update, got none")
    return np.flatnonzero(trace.updates)


# ---------------------------------------------------------------- Lecture 13


def perceptron(trace: Trace, u: ArrayLike, radius: float, margin: float, sharp: bool = True) -> Chain:
    """M ≤ (R/γ)² for the updates of the Perceptron, from (10) on the surrogates, every line in updates.

    With `u` the unit vector that has margin γ, put c = Mγ. On the update rounds
    c² ≤ −Σ⟨z_t, cu⟩ ≤ Σ⟨z_t, w_t − cu⟩ ≤ ½Σ‖z_t‖² + ½c² ≤ ½MR² + ½c²; a line v is shown as (2v − c²)/(Mγ²).
    Without `sharp` the third step is (10) as printed, with Σ‖z_t‖² for its half: the promise doubles.
    """
    u, radius = validate.vector("u", u, trace.dim), validate.size("radius", radius)
    margin, z, w = validate.size("margin", margin), trace.subgradients, trace.points
    M = len(_rounds(trace, from_zero=True))
    c, share = M * margin, 0.5 if sharp else 1.0

    def line(value, formula, reason=""):
        return Line((2 * value - c**2) / (M * margin**2), formula, reason)

    half, why10 = ("½ ", ", its slacks kept") if sharp else ("", ", moves by Cauchy–Schwarz")
    return Chain(
        "The mistake bound, " + ("the sharp chain" if sharp else "with (10) as printed"),
        (
            line(c**2, "M, the updates"),
            line(-c * (z @ u).sum(), "−Σ ⟨z_t, cu⟩", "y_t⟨u, x_t⟩ ≥ γ in each update"),
            line((z * (w - c * u)).sum(), "Σ ⟨z_t, w_t − cu⟩", "an update has y_t⟨w_t, x_t⟩ ≤ 0"),
            line(
                share * np.square(z).sum() + c**2 / 2 * (u @ u),
                f"(10) {half}Σ ‖z_t‖² + ½ ‖cu‖²",
                "Theorem 1 on the surrogates" + why10,
            ),
            line(share * M * radius**2 + c**2 / 2, ("" if sharp else "2 ") + "(R/γ)²", "‖z_t‖ ≤ R, ‖u‖ = 1"),
        ),
    )


def winnow(trace: Trace, relevant: int) -> Chain:
    """M ≤ 2n/θ + 3k(1 + log₂ θ) for Winnow with factor 2, on a disjunction of the first k features.

    The features are 0 or 1; k is `relevant`, θ ≥ 1; p counts promotions, d demotions, p_i the promotions in
    which feature i was on.
    """
    k, learner = validate.count("relevant", relevant), trace.learner
    if not isinstance(learner, Winnow) or learner.factor != 2:
        raise ValueError(f"trace must be one of Winnow with factor 2, got {learner!r}")
    promoted, theta = trace.updates & (trace.losses.y > 0), learner.threshold
    p, doubled = promoted.sum(), trace.losses.X[promoted, :k].sum()
    start = 2 * trace.dim / theta
    return Chain(
        "Winnow's mistake bound",
        (
            Line(float(trace.updates.sum()), "M = p + d"),
            Line(start + 3 * p, "2n/θ + 3p", "the total weight stays positive: d < 2n/θ + 2p"),
            Line(start + 3 * doubled, "2n/θ + 3 Σ_{i≤k} p_i", "each promotion doubles a relevant weight"),
            Line(
                start + 3 * k * (1 + np.log2(theta)),
                "2n/θ + 3k(1 + log₂ θ)",
                "a relevant weight never shrinks, and is ≤ θ before it doubles",
            ),
        ),
    )


def normalized_winnow(trace: Trace, u: ArrayLike, margin: float, size: float = 1.0) -> Chain:
    """M ≤ ln(n)/(ηγ − η²X²/2) for the updates of NormalizedWinnow with step η < 2γ/X², every line in updates.

    Here u is on the simplex with y⟨u, x⟩ ≥ γ = `margin`, and |x_i| ≤ X = `size`. At η = γ/X² the bound is
    2X² ln(n)/γ². The potential is KL(u‖w_t) = Σ u_i ln(u_i/w_{t,i}).
    """
    if not isinstance(trace.learner, NormalizedWinnow):
        raise ValueError(f"trace must be one of NormalizedWinnow, got {trace.learner!r}")
    u, eta = validate.vector("u", u, trace.dim), trace.learner.eta
    margin, size = validate.size("margin", margin), validate.size("size", size)
    drop = eta * margin - (eta * size) ** 2 / 2
    if drop <= 0:
        raise ValueError(f"eta must be in (0, 2γ/X²) = (0, {2 * margin / size**2:g}), got {eta:g}")
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(u > 0, u * np.log(u / plays(trace)), 0.0)
    potential = terms.sum(axis=-1)
    return Chain(
        "Normalised Winnow's mistake bound",
        (
            Line(float(trace.updates.sum()), "M, the updates"),
            Line(
                (potential[0] - potential[-1]) / drop,
                "(KL(u‖w_1) − KL(u‖w_{T+1}))/δ",
                "each update lowers it by at least δ = ηγ − η²X²/2",
            ),
            Line(potential[0] / drop, "KL(u‖w_1)/δ", "KL ≥ 0"),
            Line(np.log(trace.dim) / drop, "ln n/δ", "KL(u‖w_1) = ln n − H(u) and H ≥ 0"),
        ),
    )


# ---------------------------------------------------------------- Lecture 9


def perceptron_growth(trace: Trace, u: ArrayLike, margin: float) -> Chain:
    """γM ≤ ⟨w_T, u⟩ − ⟨w_0, u⟩, one line an update: each adds y_i⟨u, x_i⟩ ≥ γ."""
    u, margin = validate.vector("u", u, trace.dim), validate.size("margin", margin)
    rounds = _rounds(trace)
    gains = -trace.subgradients[rounds] @ u - margin
    lines = [Line(margin * len(rounds), "γM")]
    for i, value in zip(rounds, lines[0].value + np.cumsum(gains), strict=True):
        lines.append(Line(value, f"γ → y_{i + 1}⟨u, x_{i + 1}⟩", f"the margin of example {i + 1} is ≥ γ"))
    return Chain("The growth along u", tuple(lines))


def perceptron_length(trace: Trace, radius: float) -> Chain:
    """‖w_T‖² − ‖w_0‖² ≤ R²M, one line an update: 2y_i⟨w_{i−1}, x_i⟩ ≤ 0 is dropped, ‖x_i‖ ≤ R used."""
    radius, rounds = validate.size("radius", radius), _rounds(trace)
    grown = np.diff(np.square(plays(trace)).sum(axis=1))[rounds]
    lines = [Line(grown.sum(), "‖w_T‖² − ‖w_0‖²")]
    for i, value in zip(rounds, grown.sum() + np.cumsum(radius**2 - grown), strict=True):
        reason = f"y_{i + 1}⟨w_{i}, x_{i + 1}⟩ ≤ 0 and ‖x_{i + 1}‖ ≤ R"
        lines.append(Line(value, f"round {i + 1} adds at most R²", reason))
    return Chain("The growth of the length", tuple(lines))


def perceptron_direct(trace: Trace, u: ArrayLike, radius: float, margin: float) -> Chain:
    """M ≤ (R/γ)² as Lecture 9 proves it, without regret: γM ≤ ⟨w_T, u⟩ ≤ ‖w_T‖ ≤ R√M, w_0 = 0, ‖u‖ = 1.

    Every line v is shown as v²/(γ²M) (with the sign of v), so that the first is M and the last (R/γ)².
    """
    u, radius = validate.vector("u", u, trace.dim), validate.size("radius", radius)
    margin, w = validate.size("margin", margin), trace.last
    M = len(_rounds(trace, from_zero=True))

    def line(v, formula, reason=""):
        return Line(v * abs(v) / (margin**2 * M), formula, reason)

    return Chain(
        "The mistake bound, in updates",
        (
            line(margin * M, "M, from γM"),
            line(w @ u, "⟨w_T, u⟩²/γ²M", "each update adds at least γ along u"),
            line(np.linalg.norm(w), "‖w_T‖²/γ²M", "Cauchy–Schwarz, ‖u‖ = 1"),
            line(radius * np.sqrt(M), "(R/γ)²", "each update adds at most R² to ‖w‖²"),
        ),
    )
