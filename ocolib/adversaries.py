"""Generate sequences of losses: fixed in advance (oblivious) or in response to the plays (adaptive).

An oblivious adversary is an array of linear losses `(..., T, n)`, or data `(X, y)`, in some cases with the
vector u (or the vectors u_t) that separates them. An adaptive adversary is a function `adversary(t, w, past)`
of the play w_t and the past subgradients `(t − 1, n)`; it returns a loss, or the vector z of a linear loss.

>>> alternating(4)[:, 0]
array([-0.5,  1. , -1. ,  1. ])
"""

from itertools import pairwise
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.losses import Quadratic, perceptron_loss
from ocolib.types import Adversary, Array

# ---------------------------------------------------------------- sequences of linear losses


def alternating(T: int) -> Array:
    """Return the slopes of Example 2 of Lecture 13, `(T, 1)`: losses −w/2, then w, −w, w, … on [−1, 1]."""
    T = validate.count("T", T)
    z = np.where(np.arange(1, T + 1) % 2 == 0, 1.0, -1.0)
    z[0] = -0.5
    return z[:, None]


def all_signs(T: int) -> Array:
    """Return all 2^T sequences of T slopes ±1, `(2^T, T, 1)`, for exhaustive play in one dimension.

    >>> all_signs(2)[..., 0]
    array([[-1., -1.],
           [ 1., -1.],
           [-1.,  1.],
           [ 1.,  1.]])
    """
    T = validate.count("T", T)
    if T > 20:
        raise ValueError(f"T must be ≤ 20, because there are 2^T sequences, got {T}")
    bits = (np.arange(2**T)[:, None] >> np.arange(T)) & 1
    return (2.0 * bits - 1.0)[..., None]


def geometric_phases(T: int, first: int = 10, ratio: float = 2) -> Array:
    """Return slopes −1, then +1, then −1, … in phases of growing length, `(T, 1)`.

    The sign changes after the rounds first, first·ratio, first·ratio², …, rounded down. Two changes after the
    same round cancel.

    >>> geometric_phases(7, first=1)[:, 0]
    array([-1.,  1., -1., -1.,  1.,  1.,  1.])
    """
    T, first = validate.count("T", T), validate.count("first", first)
    ratio = validate.number("ratio", ratio, low=1.0, strict=True)
    turns = first * ratio ** np.arange(np.ceil(max(np.log(T / first), 0) / np.log(ratio)) + 1)
    phase = np.searchsorted(turns, np.arange(1, T + 1))
    return np.where(phase % 2 == 0, -1.0, 1.0)[:, None]


def random_directions(T: int, dim: int, seed: Any, rho: float = 1.0, runs: tuple[int, ...] = ()) -> Array:
    """Return linear losses of norm rho in uniformly random directions, shape `runs + (T, dim)`.

    >>> Z = random_directions(100, dim=3, seed=0, rho=2.0)
    >>> Z.shape, bool(np.allclose(np.linalg.norm(Z, axis=1), 2.0))
    ((100, 3), True)
    """
    T, dim = validate.count("T", T), validate.count("dim", dim)
    z = _rng(seed).standard_normal((*runs, T, dim))
    return validate.positive("rho", rho) * z / np.linalg.norm(z, axis=-1, keepdims=True)


def spiral(radius: float, rho: float, T: int, eta: float) -> Array:
    """Return T vectors of norm ρ in the plane: the worst case of descent with step η on the ball of radius R.

    The step must satisfy R/(Tρ) ≤ η ≤ R/ρ. The norms of the sums Z_1, …, Z_T grow evenly from ρ to R/η, so no
    play leaves the ball: Σ⟨z_t, w_t⟩ = (η/2)(Tρ² − ‖Z_T‖²), and u = −ηZ_T, a point of the sphere, gains
    η‖Z_T‖². The regret is R²/(2η) + ηTρ²/2. Such vectors exist because a vector of norm ρ leads from norm a
    to every norm b with |b − a| ≤ ρ ≤ a + b.

    >>> from ocolib import learners, sets
    >>> from ocolib.game import play
    >>> trace = play(learners.OGD(sets.Ball(2), 0.5), spiral(radius=1, rho=1, T=4, eta=0.5))
    >>> round(float(trace.regret()), 9)  # 1/(2·½) + ½·4/2
    2.0
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
    """Return (Z, path): T ≥ 2 losses of norm ρ that move lazy descent with η = D/(ρ√(2T)) to distance D.

    They alternate between two directions (for T = 2 there is only one). The path is 0, −ηZ_1, …, −ηZ_T. On
    its convex hull, which has diameter D, no projection changes a play, and the regret is D²/(2η) + ηTρ²/2 =
    ¾·Dρ√(2T): three quarters of the bound of Theorem 2 of Lecture 13.

    >>> from ocolib import learners, sets
    >>> from ocolib.game import play
    >>> Z, path = zigzag(diameter=2, rho=1, T=8)
    >>> trace = play(learners.OGD(sets.Hull(path), eta=0.5), Z)
    >>> round(float(trace.regret()), 6)  # ¾·2·√16
    6.0
    """
    D, rho = validate.positive("diameter", diameter), validate.positive("rho", rho)
    T = validate.count("T", T, low=2)
    eta, m2 = D / (rho * np.sqrt(2 * T)), 2.0 * T  # the sum must end with norm ‖Z_T‖ = m·ρ, where m² = 2T
    cos2 = m2 / T**2 if T % 2 == 0 else (m2 - 1) / (T**2 - 1)
    sign = np.where(np.arange(T) % 2 == 0, 1.0, -1.0)
    Z = rho * np.stack([np.full(T, np.sqrt(cos2)), sign * np.sqrt(1 - cos2)], axis=1)
    return Z, np.vstack([np.zeros(2), -eta * np.cumsum(Z, axis=0)])


# ---------------------------------------------------------------- data (X, y)


def separable(T: int, dim: int, margin: float, seed: Any) -> tuple[Array, Array, Array]:
    """Return (X, y, u): T random examples in the unit ball that the unit vector u separates.

    Every example satisfies y⟨u, x⟩ ≥ margin, up to rounding.

    >>> X, y, u = separable(100, dim=3, margin=0.1, seed=0)
    >>> X.shape, bool((y * (X @ u)).min() >= 0.1 - 1e-12)
    ((100, 3), True)
    """
    T, dim = validate.count("T", T), validate.count("dim", dim, low=2)
    margin = validate.number("margin", margin, low=0.0, high=1.0)
    rng = _rng(seed)
    u = rng.standard_normal(dim)
    u /= np.linalg.norm(u)
    y = rng.choice([-1.0, 1.0], T)
    along = rng.uniform(margin, 1.0, T)  # y⟨u, x⟩; the rest of x is orthogonal to u, inside the unit ball
    across = rng.standard_normal((T, dim))
    across -= np.outer(across @ u, u)
    across *= (np.sqrt(1 - along**2) * rng.uniform(0, 1, T) / np.linalg.norm(across, axis=1))[:, None]
    return y[:, None] * along[:, None] * u + across, y, u


def drifting(T: int, dim: int, turn: float, margin: float, seed: Any) -> tuple[Array, Array, Array]:
    """Return (X, y, U): T random examples in the unit ball that a rotating unit vector u_t separates.

    Row t of U is u_t, and y_t⟨u_t, x_t⟩ ≥ margin up to rounding. From u_1 = e_1 the vector rotates evenly in
    the plane of the first two axes, by `turn` radians in total.
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
    """Return (X, y): Boolean examples with labels x_1 ∨ … ∨ x_relevant, positive with probability ½.

    >>> X, y = disjunction(5, dim=4, relevant=2, seed=0)
    >>> X.shape, bool(np.array_equal(y > 0, X[:, :2].any(axis=1)))
    ((5, 4), True)
    """
    T, dim = validate.count("T", T), validate.count("dim", dim)
    relevant = validate.count("relevant", relevant)
    if relevant > dim:
        raise ValueError(f"relevant must be ≤ dim = {dim}, got {relevant}")
    rng = _rng(seed)
    rate = 1.0 - 0.5 ** (1.0 / relevant)
    X = (rng.random((T, dim)) < rate).astype(float)
    return X, np.where(X[:, :relevant].any(axis=1), 1.0, -1.0)


def ties(kink: float, margin: float) -> tuple[Array, Array, Array]:
    """Return (X, y, u) on which the Perceptron with factor `kink` ≥ 1/3 at ties nearly attains its bound.

    All x and u have norm 1, y = −1, and y⟨u, x⟩ = margin up to rounding. The stream starts with ties, −e_1,
    −e_2, …; then come examples with y⟨w, x⟩ = −1e-9 at the play w of that Perceptron, as long as such an x
    exists.
    """
    kink = validate.number("kink", kink, low=1 / 3, high=1.0)
    margin = validate.number("margin", margin, low=0.02, high=0.2)  # up to 4/margin⁴ entries
    tied = int((1 + kink) / (4 * kink) / margin**2 * (1 - margin))
    dim = int(2 / margin**2)  # a fresh coordinate in every round
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
    """Return the adaptive adversary that forces regret ≥ R·rho·√T on the ball of radius R around 0, dim ≥ 2.

    z_t has norm rho, is orthogonal to Z_{t−1} = z_1 + … + z_{t−1}, and satisfies ⟨z_t, w_t⟩ ≥ 0. So the
    learner never gains, while ‖Z_T‖ = rho·√T and the best point of the ball gains R·rho·√T.

    >>> from ocolib import learners, sets
    >>> from ocolib.game import play
    >>> float(play(learners.FTL(sets.Ball(2)), orthogonal(), rounds=25).regret()) >= 5
    True
    """
    validate.positive("rho", rho)

    def adversary(t: int, w: Array, past: Array) -> Any:
        if len(w) < 2:
            raise ValueError("orthogonal needs dim ≥ 2: in one dimension only 0 is orthogonal to Z ≠ 0")
        total = past.sum(axis=0)
        size = np.linalg.norm(total)
        unit = total / size if size > 0 else np.zeros_like(total)
        z = w - (w @ unit) * unit
        parallel = np.linalg.norm(z) <= 1e-9 * np.linalg.norm(w)
        if parallel:  # w is a multiple of Z: any direction orthogonal to Z will do
            z = np.eye(len(w))[np.argmin(np.abs(unit))]
        z = z - (z @ unit) * unit
        return np.copysign(rho, z @ w) * z / np.linalg.norm(z)

    return adversary


def nature(radius: float = 1.0) -> Adversary:
    """Return the adaptive adversary that makes every predictor sign⟨w, x⟩ err in each of `dim` rounds.

    Round t shows x_t = radius·e_t with the label opposite to the prediction; the sign of 0 is +1. After n =
    dim rounds the unit vector (y_1, …, y_n)/√n has margin radius/√n on all examples. So n = (radius/margin)²
    mistakes were forced on separable data.

    >>> from ocolib import learners
    >>> from ocolib.game import play
    >>> int(play(learners.Perceptron(9), nature(), rounds=9).mistakes.sum())
    9
    """
    radius = validate.positive("radius", radius)

    def adversary(t: int, w: Array, past: Array) -> Any:
        if t > len(w):
            raise ValueError(f"nature needs dim ≥ rounds: in {len(w)} dimensions no e_{t} is left")
        x = radius * np.eye(len(w))[t - 1]
        return perceptron_loss([x], [-1.0 if w @ x >= 0 else 1.0])[0]

    return adversary


def at_distance(rho: float, curvature: float) -> Adversary:
    """Return the adversary that plays (H/2)‖w − c_t‖² with c_t at distance ρ/H from w_t, so that ‖z_t‖ = ρ.

    Against it eager descent with η_t = 1/(Ht) attains its sharp bound for H-strongly convex losses.

    >>> from ocolib import learners, sets
    >>> from ocolib.game import play
    >>> learner = learners.OGD(sets.Space(1), learners.inverse(2.0), "eager")
    >>> trace = play(learner, at_distance(rho=3.0, curvature=0.5), rounds=4)
    >>> np.abs(trace.subgradients[:, 0])
    array([3., 3., 3., 3.])
    """
    rho, curvature = validate.positive("rho", rho), validate.positive("curvature", curvature)

    def adversary(t: int, w: Array, past: Array) -> Any:
        c = np.array(w)
        c[0] += (-1.0) ** t * rho / curvature
        return Quadratic(c, curvature)

    return adversary


def against_winnow(relevant: int, threshold: float) -> Adversary:
    """Return a greedy adversary that makes Winnow err in every round, with labels x_1 ∨ … ∨ x_relevant.

    While the irrelevant variables together reach the threshold, it shows the heaviest of them with label −1,
    so that they are demoted. Otherwise it shows the lightest relevant variable together with as many
    irrelevant ones as fit below the threshold, with label +1.
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
    """Return an adversary that makes NormalizedWinnow err in every round while each update teaches little.

    The label is +1, x_1 = margin, and the other entries lie in [−1, 1], chosen so that ⟨w, x⟩ is just below
    0. The vector e_1 has margin `margin` on all examples.
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
    """Return a random generator for this seed, or raise a `ValueError` that names the seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the seed must be one that np.random.default_rng takes: {error}") from None
