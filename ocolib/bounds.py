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


# ---------------------------------------------------------------- Lecture 17


@promise("upper", "ma17.eq17.2")
def ftrl(phi_range, eta, dual_norms):
    """(17.2): D/eta + eta·Σ‖z_t‖*², for FTRL with φ/eta, φ 1-strongly convex and of range D on the set."""
    D, eta = _size(phi_range=phi_range), _size(eta=eta)
    return D / eta + eta * np.square(dual_norms).sum(axis=-1)


@promise("tight", "ma17.eq17.2")
def ftrl_sharp(phi_range, eta, dual_norms):
    """D/eta + (eta/2)·Σ‖z_t‖*²: (17.2) with half the second term; met on [−1, 1] for T = 16, eta = ¼."""
    D, eta = _size(phi_range=phi_range), _size(eta=eta)
    return D / eta + 0.5 * eta * np.square(dual_norms).sum(axis=-1)


@promise("upper", "ma17.eq17.3")
def ftrl_tuned(phi_range, rho, T):
    """(17.3), corrected: 2·rho·√(D·T), for FTRL with step `ftrl_step` and ‖z_t‖* ≤ rho."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return 2 * rho * np.sqrt(D * T)


def ftrl_step(phi_range, rho, T):
    """The step that makes (17.2) least: √(D/T)/rho."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return np.sqrt(D / T) / rho


@promise("tight", "ma17.eq17.3")
def ftrl_tuned_sharp(phi_range, rho, T):
    """rho·√(2·D·T) with step `ftrl_sharp_step`; met on [−1, 1] for T = 16."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return rho * np.sqrt(2 * D * T)


def ftrl_sharp_step(phi_range, rho, T):
    """The step that makes the sharp bound least: √(2D/T)/rho."""
    D, rho, T = _size(phi_range=phi_range), _size(rho=rho), validate.count("T", T)
    return np.sqrt(2 * D / T) / rho


@promise("upper", "ma17.claim.logN")
def hedge(n, T):
    """√(T ln n / 2), for Hedge with step `hedge_step` on n ≥ 2 experts with losses in [0, 1]."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    return np.sqrt(T * np.log(n) / 2)


def hedge_step(n, T):
    """The step √(8 ln n / T), which makes ln n/eta + eta·T/8 least."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    return np.sqrt(8 * np.log(n) / T)


@promise("upper", "ma17.claim.logN")
def hedge_anytime(n, T):
    """√(T ln n) after every T, for Hedge with the schedule `hedge_schedule(n)` and losses in [0, 1]."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    return np.sqrt(T * np.log(n))


def hedge_schedule(n):
    """eta(t) = 2√(ln n/(t + 1)): round t is then played with the step 2√(ln n/t), no horizon needed."""
    scale = 2 * np.sqrt(np.log(validate.count("n", n, low=2)))
    return lambda t: scale / np.sqrt(t + 1)


@promise("upper", "ma17.step1")
def logistic_descent(margin, eta, t):
    """L(w_t) ≤ 1/t + log²t/(2·eta·γ²·t): logistic risk after t ≥ 1 gradient steps from 0.

    γ is the largest margin of the data, and eta ≤ 1/λ with λ = σ_max(X)²/(4n) the smoothness of the risk.
    """
    margin, eta = validate.positive("margin", margin), validate.positive("eta", eta)
    t = np.asarray(t, dtype=float)
    if not (t >= 1).all():
        raise ValueError(f"t must be ≥ 1, got {t.min():g}")
    return 1 / t + np.log(t) ** 2 / (2 * eta * margin**2 * t)
