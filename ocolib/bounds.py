"""What the theorems promise: each bound is a function, marked with one of three words and its item.

- `tight`: an upper bound that some game meets with equality;
- `upper`: never broken where its hypotheses hold, not claimed to be met;
- `lower`: no learner does better against the named adversary (no deterministic one, where it says so; in the
  mean, where coins choose the losses).

The word and the ledger id are attributes, `bounds.descent.kind` and `bounds.descent.item`; `PROMISES` lists
them all, those of `limits` too once it is imported.

A function's name that is in more than one of `bounds`, `proofs` and `limits` means one theorem:
`bounds.descent` is what Theorem 2 of Lecture 13 promises, `proofs.descent` its proof on a trace,
`limits.descent` the worst that can happen, on a ball. A suffix says which form (`_sharp`, `_anytime`,
`_seen`, …) or what belongs to it (`_step`, `_scale`, `_schedule`).

One order of arguments: the geometry (`diameter`, `radius`, `dim`, `n`), the size `rho` of the subgradients,
what the theorem adds (`path`, `curvature`, `delay`, `pieces`), the rounds `T`, then the step and
options. A bound or a proof on a `trace` takes it first, then `u` if it has one, and leaves out what the
trace knows: T, and from `trace.learner` the set, the regulariser and the step. A trace of another learner is
refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ocolib import validate
from ocolib.learners import OGD, Linearized, steps
from ocolib.losses import values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ocolib.game import Trace

PROMISES: list[Callable] = []


def promise(kind: str, item: str) -> Callable[[Callable], Callable]:
    """Mark a function as the bound of a ledger item; `kind` is tight, upper or lower."""
    if kind not in ("tight", "upper", "lower"):
        raise ValueError(f"kind must be tight, upper or lower, got {kind!r}")

    def mark(function: Callable) -> Callable:
        function = validate.guarded(function)
        function.kind, function.item = kind, item  # type: ignore[attr-defined]
        PROMISES.append(function)
        return function

    return mark


def _size(**named):
    """One number from 1e-150 to 1e150, checked under its own name."""
    ((name, value),) = named.items()
    return validate.size(name, value)


# ---------------------------------------------------------------- what a trace knows


def leader_of(trace: Trace, surrogates: bool = False) -> Any:
    """The FTRL with a constant step that made the trace: its `over`, its `regularizer`, its `eta`.

    It leads on the losses themselves or, with `surrogates`, on ⟨z_t, ·⟩: lazy descent and `Linearized`. For
    linear losses the two are one.
    """
    learner, linear, inner = trace.learner, isinstance(trace.losses, np.ndarray), None
    if isinstance(learner, Linearized):
        inner = learner.learner
    elif isinstance(learner, OGD) and learner.projection == "lazy":
        inner = learner.leader
    leader: Any = learner if inner is None else inner
    led = linear or (inner is not None) == surrogates
    if not led or getattr(leader, "regularizer", None) is None or callable(leader.eta):
        where = "the surrogates ⟨z_t, ·⟩ (lazy descent)" if surrogates else "the losses themselves"
        raise ValueError(f"trace must be one of FTRL on {where} with a number eta, got {learner!r}")
    return leader


def curvature_of(trace: Trace) -> float:
    """H, if the trace is one of eager descent with η_t = 1/(H·t)."""
    learner = trace.learner
    if isinstance(learner, OGD) and learner.projection == "eager":
        eta = steps(learner.eta, trace.rounds)
        if eta.ndim == 1 and np.allclose(eta * np.arange(1, trace.rounds + 1), eta[0], rtol=1e-9, atol=0.0):
            return float(1 / eta[0])
    raise ValueError(f"trace must be one of eager OGD with eta = inverse(1/curvature), got {learner!r}")


# ---------------------------------------------------------------- Lecture 13


@promise("tight", "ox13.ex2")
def example2(T: int, eta: float = np.inf) -> float:
    """Regret of FTRL with w²/(2·eta) on Example 2: (eta/2)(T − 1) + ½ for eta ≤ 2; from 2 on that of FTL.

    It is an equality for every T ≥ 1 and eta > 0; eta = ∞ is FTL.
    """
    T = validate.count("T", T)
    if not (isinstance(eta, float) and eta == np.inf):
        validate.positive("eta", eta)
    return 0.5 * min(eta, 2.0) * (T - 1) + 0.5


@promise("tight", "ox13.thm1")
def ftrl_stability(trace: Trace, u: ArrayLike) -> np.ndarray:
    """Theorem 1: Σ f_t(w_t) − f_t(w_{t+1}) + (R(u) − R(w_1))/eta, read off the trace of FTRL."""
    leader, u = leader_of(trace), validate.vector("u", u, trace.dim)
    w = np.concatenate([trace.points, trace.last[..., None, :]], axis=-2)
    gained = values(trace.losses, w[..., 1:, :])
    spread = leader.regularizer.value(u) - leader.regularizer.value(w[..., 0, :])
    return (trace.paid - gained).sum(axis=-1) + spread / validate.positive("eta", leader.eta)


@promise("upper", "ox13.thm2")
def descent(diameter: float, rho: float, T: int) -> float:
    """Theorem 2: D·rho·√(2T), for lazy descent with step `descent_step`, 0 in the set and ‖z_t‖ ≤ rho."""
    D, rho, T = _size(diameter=diameter), _size(rho=rho), validate.count("T", T)
    return D * rho * np.sqrt(2 * T)


def descent_step(diameter: float, rho: float, T: int) -> float:
    """The step of Theorem 2: D/(rho·√(2T))."""
    D, rho, T = _size(diameter=diameter), _size(rho=rho), validate.count("T", T)
    return D / (rho * np.sqrt(2 * T))


@promise("tight", "ox13.thm2")
def descent_sharp(radius: float, rho: float, T: int) -> float:
    """B·rho·√T for descent with step `descent_sharp_step`, lazy with centre w_1 or eager from w_1.

    ‖z_t‖ ≤ rho, w_1 is in the set, B = max ‖u − w_1‖ over it. Met on [−1, 1] for T = 4.
    """
    B, rho, T = _size(radius=radius), _size(rho=rho), validate.count("T", T)
    return B * rho * np.sqrt(T)


def descent_sharp_step(radius: float, rho: float, T: int) -> float:
    """The step that makes the sharp bound least: B/(rho·√T)."""
    B, rho, T = _size(radius=radius), _size(rho=rho), validate.count("T", T)
    return B / (rho * np.sqrt(T))


@promise("upper", "ox13.thm2")
def descent_anytime(radius: float, rho: float, T: int) -> float:
    """B·rho·√(2T) at every T at once, for lazy descent with η_t = B/(rho·√(2t)) and w_1 as its centre.

    B and rho are as in `descent_sharp`.
    """
    B, rho, T = _size(radius=radius), _size(rho=rho), validate.count("T", T)
    return B * rho * np.sqrt(2 * T)


@promise("tight", "ox13.alg.perceptron")
def perceptron(radius: float, margin: float) -> float:
    """Updates of the Perceptron from 0, kink 0 or 1: (R/γ)² if ‖x_t‖ ≤ R, y_t⟨u, x_t⟩ ≥ γ for a unit u."""
    R, margin = validate.positive("radius", radius), validate.positive("margin", margin)
    return (R / margin) ** 2


@promise("upper", "ox13.alg.winnow")
def winnow(dim: int, relevant: int, threshold: float) -> float:
    """Updates of Winnow, factor 2, for an OR of k of n Boolean variables: 2n/θ + 3k(1 + log₂ θ), θ ≥ 1."""
    n, k = validate.count("dim", dim), validate.count("relevant", relevant)
    theta = validate.number("threshold", threshold, low=1.0)
    return 2 * n / theta + 3 * k * (1 + np.log2(theta))


@promise("upper", "ox13.alg.winnow")
def normalized_winnow(dim: int, margin: float, size: float = 1.0) -> float:
    """Updates of NormalizedWinnow with eta = γ/X²: 2X² ln(n)/γ².

    Here |x_i| ≤ X = `size`, and some u on the simplex has y⟨u, x⟩ ≥ γ for every example.
    """
    n, margin = validate.count("dim", dim), validate.positive("margin", margin)
    return 2 * validate.positive("size", size) ** 2 * np.log(n) / margin**2


# ---------------------------------------------------------------- Lecture 9


@promise("tight", "tel9.thm")
def perceptron_from(radius: float, margin: float, along: float, length: float) -> float:
    """Updates of the Perceptron (kink 0 or 1) from w_0: the larger root M of (γM + along)² = length² + R²M.

    `along` is ⟨w_0, u⟩ and `length` is ‖w_0‖; R, γ and the unit vector u are as in `perceptron`. For w_0 = 0
    it is (R/γ)².
    """
    R, margin = validate.positive("radius", radius), validate.positive("margin", margin)
    length = validate.number("length", length, low=0.0)
    slack = length * (1 + 1e-12)  # a collinear w_0 may come out a rounding error longer along u
    along = validate.number("along", along, low=-slack, high=slack)
    half = R**2 / 2 - along * margin
    return (half + np.sqrt(half**2 + margin**2 * max(length**2 - along**2, 0.0))) / margin**2


@promise("upper", "tel9.conv.subgradient")
def perceptron_ties(radius: float, margin: float, kink: float) -> float:
    """Updates of the Perceptron that adds kink·y·x at a tie: (1 + kink)²/(4·kink)·(R/γ)², 0 < kink ≤ 1.

    As γ/R → 0 the factor is approached for every kink, in three dimensions already; on `adversaries.ties`
    for kink ≥ 1/3.
    """
    kink = validate.number("kink", kink, low=0.0, high=1.0, strict=True)
    return (1 + kink) ** 2 / (4 * kink) * perceptron(radius, margin)


@promise("lower", "tel9.thm")
def mistakes_floor(radius: float, margin: float) -> int:
    """Mistakes that `adversaries.nature` forces on every deterministic learner: ⌊(R/γ)²⌋, γ ≤ R.

    It needs that many dimensions. The Perceptron with kink 1 makes no more.
    """
    whole = perceptron(radius, margin)
    if whole < 1:
        raise ValueError(f"margin must be ≤ radius = {radius:g}, got {margin:g}")
    return int(np.floor(whole * (1 + 1e-12)))  # (0.3/0.1)² is 9, not 8.99…


# ---------------------------------------------------------------- Lecture 4


@promise("upper", "zin4.thm4.1.3")
def zinkevich(diameter: float, rho: float, path: float, T: int) -> float:
    """Theorem 4.1.3 as printed: (D²/2 + rho² + 2·D·L)·√T against a comparator whose path has length L.

    For eager descent with η_t = 1/√t on a set of diameter D, from any w_1 of the set, and ‖z_t‖ ≤ rho.
    """
    D, rho, T = _size(diameter=diameter), _size(rho=rho), validate.count("T", T)
    return (D**2 / 2 + rho**2 + 2 * D * validate.number("path", path, low=0.0)) * np.sqrt(T)


@promise("tight", "zin4.thm4.1.3.sharp")
def zinkevich_sharp(
    diameter: float, rho: float, path: float, T: int, circumradius: float | None = None, scale: float = 1.0
) -> float:
    """(D²/2σ)√T + σ·rho²(√T − ½) + (drift/σ)·√(T − 1) for η_t = σ/√t, σ = `scale`; else as `zinkevich`.

    The drift is D·L or, with the radius R = `circumradius` of the smallest ball around the set, R·L + R²/2
    if that is less. Met for T = 1, σ = D/rho: both sides are D·rho.
    """
    D, rho, T = _size(diameter=diameter), _size(rho=rho), validate.count("T", T)
    L, sigma = validate.number("path", path, low=0.0), _size(scale=scale)
    drift = D * L
    if circumradius is not None:
        R = _size(circumradius=circumradius)
        drift = min(drift, R * L + R**2 / 2)
    static = D**2 / (2 * sigma) * np.sqrt(T) + sigma * rho**2 * (np.sqrt(T) - 0.5)
    return static + drift / sigma * np.sqrt(T - 1)


@promise("upper", "zin4.thm.delayed")
def delayed(diameter: float, rho: float, delay: int, T: int, scale: float | None = None) -> float:
    """(D²/2σ)√T + σ·rho²(1 + 2τ)√T for `DelayedOGD` with η_k = σ/√k, gradients τ = `delay` rounds late.

    Without a `scale` σ it is that of `delayed_scale`, and the bound is D·rho·√((2 + 4τ)T).
    """
    D, rho, T = _size(diameter=diameter), _size(rho=rho), validate.count("T", T)
    tau = validate.count("delay", delay, low=0)
    sigma = delayed_scale(D, rho, tau) if scale is None else _size(scale=scale)
    return (D**2 / (2 * sigma) + sigma * rho**2 * (1 + 2 * tau)) * np.sqrt(T)


def delayed_scale(diameter: float, rho: float, delay: int) -> float:
    """The σ that makes `delayed` least: D/(rho·√(2 + 4τ))."""
    D, rho, tau = _size(diameter=diameter), _size(rho=rho), validate.count("delay", delay, low=0)
    return D / (rho * np.sqrt(2 + 4 * tau))


@promise("tight", "zin4.thm.delayed")
def delayed_constant(radius: float, rho: float, delays: ArrayLike, eta: float) -> float:
    """B²/(2·eta) + eta·rho²(T/2 + Σ min(d_s, T − s)) for a constant step and any delays d_1, …, d_T.

    B = max ‖u − w_1‖ over the set, T is the number of delays. Met when all are T − 1 and eta = B/(rho·T):
    all T rounds are blind.
    """
    B, rho, eta = _size(radius=radius), _size(rho=rho), _size(eta=eta)
    waits = overlaps(delays)
    return B**2 / (2 * eta) + eta * rho**2 * (len(waits) / 2 + waits.sum())


def overlaps(delays: ArrayLike) -> np.ndarray:
    """min(d_s, T − s): how many of the later rounds are played before the gradient of round s is in."""
    d = np.array([validate.count("delays", d, low=0) for d in validate.asked("delays", np.ravel, delays)])
    return np.minimum(d, np.arange(len(d))[::-1])


@promise("upper", "zin4.thm.delayed-sc")
def delayed_strongly_convex(diameter: float, rho: float, curvature: float, delay: int, T: int) -> float:
    """H·τ·D²/2 + (½ + τ)(rho²/H)(1 + ln T) for H-strongly convex losses, η_k = 1/(H·k), H = `curvature`."""
    D, rho, H = _size(diameter=diameter), _size(rho=rho), _size(curvature=curvature)
    T, tau = validate.count("T", T), validate.count("delay", delay, low=0)
    return H * tau * D**2 / 2 + (0.5 + tau) * rho**2 / H * (1 + np.log(T))


# ---------------------------------------------------------------- Regret bounds


@promise("tight", "shi.thm-ogd")
def strongly_convex(rho: float, curvature: float, T: int) -> float:
    """(3): (ρ²/2H)(1 + log T) for eager descent with η_t = 1/(Ht) and H-strongly convex losses, ‖z_t‖ ≤ ρ.

    H is the `curvature`. Met at T = 1.
    """
    rho, H, T = _size(rho=rho), _size(curvature=curvature), validate.count("T", T)
    return rho**2 / (2 * H) * (1 + np.log(T))


@promise("tight", "shi.thm-ogd")
def strongly_convex_sharp(rho: float, curvature: float, T: int) -> float:
    """(ρ²/2H)(1 + ½ + … + 1/T), what the proof of (3) gives before the sum is bounded by 1 + log T.

    It is the worst case of this descent without projection: on f_t = (H/2)‖w − c_t‖², against the best point,
    every line before ‖z_t‖ ≤ ρ is an equality, and `limits.at_distance` makes every ‖z_t‖ = ρ. (Hazan,
    Agarwal and Kale 2007; Bartlett, Hazan and Rakhlin 2007.)
    """
    rho, H, T = _size(rho=rho), _size(curvature=curvature), validate.count("T", T)
    return float(rho**2 / (2 * H) * (1.0 / np.arange(1, T + 1)).sum())


@promise("tight", "shi.rem.no-projection")
def strongly_convex_seen(trace: Trace) -> np.ndarray:
    """Σ ‖z_t‖²/(2Ht): (3) with the subgradients of the trace in place of ρ; with or without projection."""
    t = np.arange(1, trace.rounds + 1)
    return (np.square(trace.subgradients).sum(axis=-1) / (2 * curvature_of(trace) * t)).sum(axis=-1)


@promise("upper", "shi.claim.pegasos-lemma1")
def pegasos(radius: float, reg: float, T: int, project: bool = False) -> float:
    """(3) for `Pegasos` with ‖x_t‖ ≤ R and H = reg: ρ = 2R, or √H + R with the projection step."""
    R, H = _size(radius=radius), _size(reg=reg)
    return strongly_convex(np.sqrt(H) + R if project else 2 * R, H, T)


# ---------------------------------------------------------------- Lecture 17


@promise("upper", "ma17.eq17.2")
def ftrl(phi_range: float, dual_norms: ArrayLike, eta: float) -> np.ndarray:
    """(17.2): D/eta + eta·Σ‖z_t‖*², for FTRL with φ/eta, φ 1-strongly convex and of range D on the set."""
    D, eta = _size(phi_range=phi_range), _size(eta=eta)
    return D / eta + eta * np.square(validate.array("dual_norms", dual_norms)).sum(axis=-1)


@promise("tight", "ma17.eq17.2")
def ftrl_sharp(phi_range: float, dual_norms: ArrayLike, eta: float) -> np.ndarray:
    """D/eta + (eta/2)·Σ‖z_t‖*²: (17.2) with half the second term; met on [−1, 1] for T = 16, eta = ¼."""
    D, eta = _size(phi_range=phi_range), _size(eta=eta)
    return D / eta + 0.5 * eta * np.square(validate.array("dual_norms", dual_norms)).sum(axis=-1)


@promise("upper", "ma17.eq17.3")
def ftrl_tuned(phi_range: float, rho: float, T: int) -> float:
    """(17.3), corrected: 2·rho·√(D·T), for FTRL with step `ftrl_step` and ‖z_t‖* ≤ rho."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return 2 * rho * np.sqrt(D * T)


def ftrl_step(phi_range: float, rho: float, T: int) -> float:
    """The step that makes (17.2) least when every ‖z_t‖* is rho: √(D/T)/rho."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return np.sqrt(D / T) / rho


@promise("tight", "ma17.eq17.3")
def ftrl_tuned_sharp(phi_range: float, rho: float, T: int) -> float:
    """rho·√(2·D·T) with step `ftrl_sharp_step`; met on [−1, 1] for T = 16."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return rho * np.sqrt(2 * D * T)


def ftrl_sharp_step(phi_range: float, rho: float, T: int) -> float:
    """The step that makes `ftrl_sharp` least when every ‖z_t‖* is rho: √(2D/T)/rho."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return np.sqrt(2 * D / T) / rho


@promise("upper", "ma17.claim.logN")
def hedge(n: int, T: int) -> float:
    """√(T ln n / 2), for Hedge with step `hedge_step` on n ≥ 2 experts with losses in [0, 1]."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    return np.sqrt(T * np.log(n) / 2)


def hedge_step(n: int, T: int) -> float:
    """The step √(8 ln n / T), which makes ln n/eta + eta·T/8 least."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    return np.sqrt(8 * np.log(n) / T)


@promise("upper", "ma17.claim.logN")
def hedge_anytime(n: int, T: int) -> float:
    """√(T ln n) after every T, for Hedge with the schedule `hedge_schedule(n)` and losses in [0, 1]."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    return np.sqrt(T * np.log(n))


def hedge_schedule(n: int) -> Callable:
    """eta(t) = 2√(ln n/(t + 1)): round t is then played with the step 2√(ln n/t), no horizon needed."""
    scale = 2 * np.sqrt(np.log(validate.count("n", n, low=2)))
    return lambda t: scale / np.sqrt(t + 1)


@promise("upper", "ma17.step1")
def logistic_descent(margin: float, t: ArrayLike, eta: float) -> np.ndarray:
    """L(w_t) ≤ 1/t + log²t/(2·eta·γ²·t): logistic risk after t ≥ 1 gradient steps from 0.

    γ > 0 is the largest margin of the n examples, the rows of X; the risk is their mean loss, and eta ≤ 1/λ
    with λ = σ_max(X)²/(4n) its smoothness.
    """
    margin, eta = validate.positive("margin", margin), validate.positive("eta", eta)
    t = validate.floats("t", t)
    if not (t >= 1).all():
        raise ValueError(f"t must be ≥ 1, got {t.min():g}")
    return 1 / t + np.log(t) ** 2 / (2 * eta * margin**2 * t)
