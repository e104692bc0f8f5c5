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


# ---------------------------------------------------------------- Regret bounds


@promise("tight", "shi.thm-ogd")
def strongly_convex(G, H, T):
    """(3): (G²/2H)(1 + log T) for eager descent with η_t = 1/(Ht), losses H-strongly convex, ‖z_t‖ ≤ G.

    Met at T = 1.
    """
    G, H, T = _size(G=G), _size(H=H), validate.count("T", T)
    return G**2 / (2 * H) * (1 + np.log(T))


@promise("tight", "shi.thm-ogd")
def strongly_convex_sharp(G, H, T):
    """(G²/2H)(1 + ½ + … + 1/T), what the proof of (3) gives before the sum is bounded by 1 + log T."""
    G, H, T = _size(G=G), _size(H=H), validate.count("T", T)
    return G**2 / (2 * H) * (1.0 / np.arange(1, T + 1)).sum()


@promise("tight", "shi.rem.no-projection")
def strongly_convex_seen(trace, H):
    """Σ ‖z_t‖²/(2Ht), with the subgradients of the trace in place of G: it needs no projection."""
    t = np.arange(1, trace.rounds + 1)
    return (np.square(trace.subgradients).sum(axis=-1) / (2 * _size(H=H) * t)).sum(axis=-1)


@promise("upper", "shi.claim.pegasos-lemma1")
def pegasos(radius, reg, T, project=False):
    """(3) for `Pegasos` with ‖x_t‖ ≤ R and H = reg: G = 2R, or √H + R with the projection step."""
    R, H = _size(radius=radius), _size(reg=reg)
    return strongly_convex(np.sqrt(H) + R if project else 2 * R, H, T)
