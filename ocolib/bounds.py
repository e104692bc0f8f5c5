"""What the theorems promise: one function a theorem, each marked with one of three words and its item.

- `tight`: an upper bound that some game meets with equality;
- `upper`: never broken, not claimed to be met;
- `lower`: no learner does better against the named adversary.

The word and the ledger id are attributes, `bounds.osd.kind` and `bounds.osd.item`; `BOUNDS` lists them all.
"""

import numpy as np

from ocolib import validate
from ocolib.losses import values

BOUNDS = []


def promise(kind, item):
    """Mark a function as the bound of a ledger item; `kind` is tight, upper or lower."""
    if kind not in ("tight", "upper", "lower"):
        raise ValueError(f"kind must be tight, upper or lower, got {kind!r}")

    def mark(function):
        function.kind, function.item = kind, item
        BOUNDS.append(function)
        return function

    return mark


def _size(**named):
    """One positive number, checked under its own name."""
    ((name, value),) = named.items()
    return validate.positive(name, value)


# ---------------------------------------------------------------- Lecture 13


@promise("tight", "ox13.ex2")
def example2(T, eta=np.inf):
    """Regret of FTRL with w²/(2·eta) on Example 2: (eta/2)(T − 1) + ½ for eta ≤ 2; from 2 on that of FTL.

    It is an equality for every T ≥ 1.
    """
    T = validate.count("T", T)
    if eta != np.inf:
        validate.positive("eta", eta)
    return 0.5 * min(eta, 2.0) * (T - 1) + 0.5


@promise("tight", "ox13.thm1")
def ftrl_stability(trace, regularizer, eta, u):
    """Theorem 1: Σ f_t(w_t) − f_t(w_{t+1}) + (R(u) − R(w_1))/eta, read off the trace of FTRL."""
    w = np.concatenate([trace.points, trace.last[..., None, :]], axis=-2)
    gained = values(trace.losses, w[..., 1:, :])
    spread = regularizer.value(validate.vector("u", u, trace.dim)) - regularizer.value(w[..., 0, :])
    return (trace.paid - gained).sum(axis=-1) + spread / validate.positive("eta", eta)


@promise("upper", "ox13.thm2")
def osd(diameter, rho, T):
    """Theorem 2: D·rho·√(2T), for lazy descent with step `osd_step`, 0 in the set and ‖z_t‖ ≤ rho."""
    D, rho, T = _size(diameter=diameter), _size(rho=rho), validate.count("T", T)
    return D * rho * np.sqrt(2 * T)


def osd_step(diameter, rho, T):
    """The step of Theorem 2: D/(rho·√(2T))."""
    D, rho, T = _size(diameter=diameter), _size(rho=rho), validate.count("T", T)
    return D / (rho * np.sqrt(2 * T))


@promise("tight", "ox13.thm2")
def osd_sharp(radius, rho, T):
    """B·rho·√T with B = max ‖u − w_1‖ over the set and step `osd_sharp_step`; met on [−1, 1] for T = 4."""
    B, rho, T = _size(radius=radius), _size(rho=rho), validate.count("T", T)
    return B * rho * np.sqrt(T)


def osd_sharp_step(radius, rho, T):
    """The step that makes the sharp bound least: B/(rho·√T)."""
    B, rho, T = _size(radius=radius), _size(rho=rho), validate.count("T", T)
    return B / (rho * np.sqrt(T))


@promise("upper", "ox13.thm2")
def osd_anytime(radius, rho, T):
    """B·rho·√(2T) at every T at once, for lazy descent with η_t = B/(rho·√(2t)) and w_1 as its centre."""
    B, rho, T = _size(radius=radius), _size(rho=rho), validate.count("T", T)
    return B * rho * np.sqrt(2 * T)


@promise("tight", "ox13.alg.perceptron")
def perceptron(radius, margin):
    """Updates of the Perceptron from w_1 = 0: (R/γ)², if ‖x_t‖ ≤ R and y_t⟨u, x_t⟩ ≥ γ for a unit u."""
    R, margin = validate.positive("radius", radius), validate.positive("margin", margin)
    return (R / margin) ** 2


@promise("upper", "ox13.alg.winnow")
def winnow(dim, relevant, threshold):
    """Updates of Winnow with factor 2 on a disjunction of k of n variables: 2n/θ + 3k(1 + log₂ θ), θ ≥ 1."""
    n, k = validate.count("dim", dim), validate.count("relevant", relevant)
    theta = validate.number("threshold", threshold, low=1.0)
    return 2 * n / theta + 3 * k * (1 + np.log2(theta))


@promise("upper", "ox13.alg.winnow")
def normalized_winnow(dim, margin, size=1.0):
    """Updates of NormalizedWinnow with eta = γ/X²: 2X² ln(n)/γ².

    Here |x_i| ≤ X = `size`, and some u on the simplex has y⟨u, x⟩ ≥ γ for every example.
    """
    n, margin = validate.count("dim", dim), validate.positive("margin", margin)
    return 2 * validate.positive("size", size) ** 2 * np.log(n) / margin**2


# ---------------------------------------------------------------- Lecture 9


@promise("tight", "tel9.thm")
def perceptron_from(radius, margin, along, length):
    """Updates of the Perceptron from w_0 with ⟨w_0, u⟩ = `along` and ‖w_0‖ = `length`: the larger root M of

    (γM + along)² = length² + R²M. It is (R/γ)² for w_0 = 0.
    """
    R, margin = validate.positive("radius", radius), validate.positive("margin", margin)
    length = validate.number("length", length, low=0.0)
    slack = length * (1 + 1e-12)  # a collinear w_0 may come out a rounding error longer along u
    along = validate.number("along", along, low=-slack, high=slack)
    half = R**2 / 2 - along * margin
    return (half + np.sqrt(half**2 + margin**2 * max(length**2 - along**2, 0.0))) / margin**2


@promise("upper", "tel9.conv.subgradient")
def perceptron_ties(radius, margin, kink):
    """Updates of the Perceptron that adds kink·y·x at a tie: (1 + kink)²/(4·kink)·(R/γ)², 0 < kink ≤ 1.

    As γ/R → 0 the factor is approached, on `adversaries.ties`, for every kink ≥ 1/3.
    """
    kink = validate.number("kink", kink, low=0.0, high=1.0, strict=True)
    return (1 + kink) ** 2 / (4 * kink) * perceptron(radius, margin)


@promise("lower", "tel9.thm")
def mistakes_floor(radius, margin):
    """Mistakes that `adversaries.nature` forces on every deterministic learner: ⌊(R/γ)²⌋, γ ≤ R.

    It needs that many dimensions. The Perceptron makes no more.
    """
    whole = perceptron(radius, margin)
    if whole < 1:
        raise ValueError(f"margin must be ≤ radius = {radius:g}, got {margin:g}")
    return int(np.floor(whole * (1 + 1e-12)))  # 1/0.1² is 100, not 99.99…
