"""Choose the losses. Oblivious adversaries are arrays of linear losses, `(..., T, n)`, or data `(X, y)`,
some with the u, or u_t, that separates them; an adaptive one is a function `adversary(t, w, past)` that
sees the play w_t and the past subgradients, `(t − 1, n)`, and returns a loss or the z of a linear one.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.losses import Quadratic, perceptron_loss
from ocolib.types import Adversary, Array

# ---------------------------------------------------------------- sequences of linear losses


def alternating(T: int) -> Array:
    """Return the losses of Example 2 of Lecture 13 on [−1, 1]: −w/2, then w, −w, w, …; `(T, 1)`."""
    T = validate.count("T", T)
    z = np.where(np.arange(1, T + 1) % 2 == 0, 1.0, -1.0)
    z[0] = -0.5
    return z[:, None]


def all_signs(T: int) -> Array:
    """Return every sequence of T losses ±w, `(2^T, T, 1)`: exhaustive play in one dimension."""
    T = validate.count("T", T)
    if T > 20:
        raise ValueError(f"T must be ≤ 20 (2^T sequences are made), got {T}")
    bits = (np.arange(2**T)[:, None] >> np.arange(T)) & 1
    return (2.0 * bits - 1.0)[..., None]


def geometric_phases(T: int, first: int = 10, ratio: float = 2) -> Array:
    """Return losses −w, then +w, …, `(T, 1)`:
    turns after rounds first, first·ratio, first·ratio², …, rounded down.

    Two turns after the same round undo each other.
    """
    T, first = validate.count("T", T), validate.count("first", first)
    ratio = validate.number("ratio", ratio, low=1.0, strict=True)
    turns = first * ratio ** np.arange(np.ceil(max(np.log(T / first), 0) / np.log(ratio)) + 1)
    phase = np.searchsorted(turns, np.arange(1, T + 1))
    return np.where(phase % 2 == 0, -1.0, 1.0)[:, None]


def random_directions(T: int, dim: int, seed: Any, rho: float = 1.0, runs: tuple[int, ...] = ()) -> Array:
    """Return linear losses of length rho in uniformly random directions, `runs + (T, dim)`."""
    T, dim = validate.count("T", T), validate.count("dim", dim)
    z = _rng(seed).standard_normal((*runs, T, dim))
    return validate.positive("rho", rho) * z / np.linalg.norm(z, axis=-1, keepdims=True)


def spiral(radius: float, rho: float, T: int, eta: float) -> Array:
    """Return T vectors of length ρ in the plane, the worst for descent with step η on the ball of radius R.

    The norms of their sums Z_1, …, Z_T grow evenly from ρ to R/η, for R/(Tρ) ≤ η ≤ R/ρ, so the ball never
    stops a play: Σ⟨z_t, w_t⟩ = (η/2)(Tρ² − ‖Z_T‖²), and u = −ηZ_T on the sphere gains η‖Z_T‖². The regret is
    R²/(2η) + ηTρ²/2. (From norm a to norm b ≥ a, b − a ≤ ρ ≤ a + b, there is always a step of length ρ.)
    """
    R, rho, T = validate.positive("radius", radius), validate.positive("rho", rho), validate.count("T", T)
    eta = validate.positive("eta", eta)
    if not R / (T * rho) * (1 - 1e-12) <= eta <= R / rho * (1 + 1e-12):
        raise ValueError(f"eta must be in [R/(Tρ), R/ρ] = [{R / (T * rho):g}, {R / rho:g}], got {eta:g}")
    norms = np.linspace(rho, R / eta, T)
    Z, total = [np.array([rho, 0.0])], np.array([rho, 0.0])
    for a, b in pairwise(norms):
        along = (b**2 - a**2 - rho**2) / (2 * a)
        unit = total / np.linalg.norm(total)
        z = along * unit + np.sqrt(max(rho**2 - along**2, 0.0)) * np.array([-unit[1], unit[0]])
        Z, total = [*Z, z], total + z
    return np.array(Z)


def zigzag(diameter: float, rho: float, T: int) -> tuple[Array, Array]:
    """Return (Z, path): losses of length ρ that bring lazy descent with η = D/(ρ√(2T)) from 0 to distance D,
    T ≥ 2.

    They alternate between two directions (one for T = 2); the path is 0, −ηZ_1, …, −ηZ_T. On its hull, whose
    diameter is D, no projection acts, and the regret is D²/(2η) + ηTρ²/2 = ¾·Dρ√(2T): three quarters of the
    bound of Theorem 2 of Lecture 13.
    """
    D, rho = validate.positive("diameter", diameter), validate.positive("rho", rho)
    T = validate.count("T", T, low=2)
    eta, m2 = D / (rho * np.sqrt(2 * T)), 2.0 * T  # the sums have to end ‖Z_T‖ = m·ρ away, m² = 2T
    cos2 = m2 / T**2 if T % 2 == 0 else (m2 - 1) / (T**2 - 1)
    sign = np.where(np.arange(T) % 2 == 0, 1.0, -1.0)
    Z = rho * np.stack([np.full(T, np.sqrt(cos2)), sign * np.sqrt(1 - cos2)], axis=1)
    return Z, np.vstack([np.zeros(2), -eta * np.cumsum(Z, axis=0)])


# ---------------------------------------------------------------- data (X, y)


def separable(T: int, dim: int, margin: float, seed: Any) -> tuple[Array, Array, Array]:
    """Return examples in the unit ball with y⟨u, x⟩ ≥ margin, up to rounding, for a hidden unit u:
    (X, y, u).
    """
    T, dim = validate.count("T", T), validate.count("dim", dim, low=2)
    margin = validate.number("margin", margin, low=0.0, high=1.0)
    rng = _rng(seed)
    u = rng.standard_normal(dim)
    u /= np.linalg.norm(u)
    y = rng.choice([-1.0, 1.0], T)
    along = rng.uniform(margin, 1.0, T)  # y⟨u, x⟩; the rest of x is across u, inside the unit ball
    across = rng.standard_normal((T, dim))
    across -= np.outer(across @ u, u)
    across *= (np.sqrt(1 - along**2) * rng.uniform(0, 1, T) / np.linalg.norm(across, axis=1))[:, None]
    return y[:, None] * along[:, None] * u + across, y, u


def drifting(T: int, dim: int, turn: float, margin: float, seed: Any) -> tuple[Array, Array, Array]:
    """Return examples in the unit ball, y_t⟨u_t, x_t⟩ ≥ margin up to rounding,
    for a hidden unit u_t that turns.

    It turns evenly from e_1 (round 1) by `turn` radians (round T), in the plane of the first two axes:
    (X, y, U), row t of U is u_t. For T = 1 it stays e_1.
    """
    T, dim = validate.count("T", T), validate.count("dim", dim, low=2)
    turn, margin = validate.number("turn", turn), validate.number("margin", margin, 0.0, 1.0)
    rng, angle = _rng(seed), np.linspace(0.0, turn, T)
    U = np.zeros((T, dim))
    U[:, 0], U[:, 1] = np.cos(angle), np.sin(angle)
    y, along = rng.choice([-1.0, 1.0], T), rng.uniform(margin, 1.0, T)
    across = rng.standard_normal((T, dim))
    across -= (across * U).sum(axis=1, keepdims=True) * U
    across *= (np.sqrt(1 - along**2) * rng.uniform(0, 1, T) / np.linalg.norm(across, axis=1))[:, None]
    return (y * along)[:, None] * U + across, y, U


def disjunction(T: int, dim: int, relevant: int, seed: Any) -> tuple[Array, Array]:
    """Return Boolean examples labelled by x_1 ∨ … ∨ x_relevant, positive with chance one half: (X, y)."""
    T, dim = validate.count("T", T), validate.count("dim", dim)
    relevant = validate.count("relevant", relevant)
    if relevant > dim:
        raise ValueError(f"relevant must be ≤ dim = {dim}, got {relevant}")
    rng = _rng(seed)
    rate = 1.0 - 0.5 ** (1.0 / relevant)
    X = (rng.random((T, dim)) < rate).astype(float)
    return X, np.where(X[:, :relevant].any(axis=1), 1.0, -1.0)


def ties(kink: float, margin: float) -> tuple[Array, Array, Array]:
    """Return a stream on which the Perceptron with factor `kink` ≥ 1/3 at ties nearly meets its bound:
    (X, y, u).

    All x and u have length 1 and y⟨u, x⟩ = margin, up to rounding; y = −1. First come ties, −e_1, −e_2, …;
    then examples with y⟨w, x⟩ = −1e-9 at that Perceptron's play w, for as long as there is one.
    """
    kink = validate.number("kink", kink, low=1 / 3, high=1.0)
    margin = validate.number("margin", margin, low=0.02, high=0.2)  # up to 4/margin⁴ entries
    tied = int((1 + kink) / (4 * kink) / margin**2 * (1 - margin))
    dim = int(2 / margin**2)  # a fresh coordinate a round
    u = np.zeros(dim)
    u[:tied] = margin
    u[-1] = np.sqrt(1 - tied * margin**2)
    rows = list(np.eye(tied, dim))
    w = kink * np.sum(rows, axis=0)
    while True:
        along = w @ u
        across = w - along * u
        size = np.linalg.norm(across)
        back = -(margin * along + 1e-9) / size  # makes ⟨w, x⟩ = −1e-9
        if back**2 > 1 - margin**2:
            return -np.array(rows), -np.ones(len(rows)), u
        x = margin * u + back * across / size
        x[len(rows)] = np.sqrt(1 - margin**2 - back**2)
        rows.append(x)
        w = w + x


# ---------------------------------------------------------------- adaptive adversaries


def orthogonal(rho: float = 1.0) -> Adversary:
    """Return the adaptive adversary that forces regret ≥ R·rho·√T on a centred ball of radius R, for dim ≥ 2.

    z_t has length rho, is orthogonal to Z_{t−1} = z_1 + … + z_{t−1}, and ⟨z_t, w_t⟩ ≥ 0: the learner never
    gains, while ‖Z_T‖ = rho·√T, so the best point of the ball gains R·rho·√T.
    """
    validate.positive("rho", rho)

    def adversary(t: int, w: Array, past: Array) -> Any:
        if len(w) < 2:
            raise ValueError("orthogonal needs dim ≥ 2: in one dimension only 0 is orthogonal to Z ≠ 0")
        total = past.sum(axis=0)
        size = np.linalg.norm(total)
        unit = total / size if size > 0 else np.zeros_like(total)
        z = w - (w @ unit) * unit
        if np.linalg.norm(z) <= 1e-9 * np.linalg.norm(w):  # the play is along Z: any direction across will do
            z = np.eye(len(w))[np.argmin(np.abs(unit))]
        z = z - (z @ unit) * unit
        return np.copysign(rho, z @ w) * z / np.linalg.norm(z)

    return adversary


def nature(radius: float = 1.0) -> Adversary:
    """Return the adaptive adversary that makes every predictor ŷ = sign⟨w, x⟩ wrong in every round, t ≤ dim.

    Round t shows radius·e_t and then answers −ŷ_t; the sign of 0 is +1. After n = dim rounds
    (y_1, …, y_n)/√n has margin radius/√n on all of it, so n = (radius/margin)² mistakes were forced without
    breaking the hypothesis of a margin.
    """
    radius = validate.positive("radius", radius)

    def adversary(t: int, w: Array, past: Array) -> Any:
        if t > len(w):
            raise ValueError(f"nature needs dim ≥ rounds: in {len(w)} dimensions no e_{t} is left")
        x = radius * np.eye(len(w))[t - 1]
        return perceptron_loss([x], [-1.0 if w @ x >= 0 else 1.0])[0]

    return adversary


def at_distance(rho: float, curvature: float) -> Adversary:
    """Answer with (H/2)‖w − c_t‖², c_t at distance ρ/H from the play: every subgradient has length ρ.

    Against it eager descent with η_t = 1/(Ht) attains its sharp bound for H-strongly convex losses.
    """
    rho, curvature = validate.positive("rho", rho), validate.positive("curvature", curvature)

    def adversary(t: int, w: Array, past: Array) -> Any:
        c = np.array(w)
        c[0] += (-1.0) ** t * rho / curvature
        return Quadratic(c, curvature)

    return adversary


def against_winnow(relevant: int, threshold: float) -> Adversary:
    """Make Winnow err as often as it can: labels are x_1 ∨ … ∨ x_relevant, and every round is a mistake.

    Demote the heaviest irrelevant variables while together they reach the threshold; else promote one
    relevant variable beside as many irrelevant ones as fit below it.
    """
    k, theta = validate.count("relevant", relevant), validate.positive("threshold", threshold)

    def adversary(t: int, w: Array, past: Array) -> Any:
        x, order = np.zeros(len(w)), k + np.argsort(-w[k:], kind="stable")
        if w[k:].sum() >= theta:
            x[order[: 1 + np.searchsorted(np.cumsum(w[order]), theta)]] = 1.0
            return perceptron_loss([x], [-1], theta)[0]
        x[np.argmin(w[:k])] = 1.0
        for i in order:
            x[i] = w @ x + w[i] <= theta
        return perceptron_loss([x], [1], theta)[0]

    return adversary


def against_normalized_winnow(margin: float) -> Adversary:
    """Make NormalizedWinnow err in every round: x_1 = margin, the rest ±1, and ⟨w, x⟩ just not positive.

    The label is +1 and the expert e_1 has the margin; each update teaches as little as it can.
    """
    margin = validate.number("margin", margin, low=0.0, high=1.0, strict=True)

    def adversary(t: int, w: Array, past: Array) -> Any:
        x, order = np.full(len(w), -1.0), 1 + np.argsort(-w[1:], kind="stable")
        x[0], down, up = margin, order[::2], order[1::2]
        gain, room = margin * w[0] + w[up].sum(), w[down].sum()
        if gain <= room:
            x[up], x[down] = 1.0, -gain * (1 + 1e-9) / room
        else:
            x[up] = (room * (1 - 1e-9) - margin * w[0]) / max(w[up].sum(), 1e-300)
        return perceptron_loss([np.clip(x, -1, 1)], [1])[0]

    return adversary


def _rng(seed: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the seed must be one that np.random.default_rng takes: {error}") from None
