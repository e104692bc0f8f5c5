"""Gradient descent: lazy (Lecture 13, Theorem 2), eager against a path (Lecture 4, Theorem 4.1.3), and on
strongly convex losses (Regret bounds, (3))."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ocolib import validate
from ocolib.bounds import curvature_of, leader_of
from ocolib.learners import OGD, steps
from ocolib.losses import values
from ocolib.proofs.chain import Chain, Line, plays
from ocolib.regularizers import SquaredNorm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ocolib.game import Trace


def squares(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """‖x − u‖², row by row."""
    return np.square(x - u).sum(axis=-1)


# ---------------------------------------------------------------- Lecture 13, Theorem 2


def descent(trace: Trace, u: ArrayLike, diameter: float, rho: float) -> Chain:
    """Theorem 2 for lazy descent on one trace: (8), (9), (10) and the last line, less its stray D.

    D = `diameter` ≥ ‖u‖. With a start other than 0, ‖u‖ and ‖w_1‖ are distances from there.
    """
    words = "Theorem 2, the lecture's chain", "η", "D", ""
    reasons = "Theorem 1 on the surrogates ⟨z_t, ·⟩", "Cauchy–Schwarz; projection does not expand"
    return _lazy(trace, u, validate.size("diameter", diameter), rho, 1.0, 0.0, words, reasons)


def descent_sharp(trace: Trace, u: ArrayLike, radius: float, rho: float) -> Chain:
    """Theorem 2 with B = `radius` ≥ ‖u‖ and η/2: of what (9) throws away it keeps ‖w_{t+1} − w_t‖²/(2·eta) a
    round, and so pays eta/2 where the lecture pays eta. A start other than 0 as in `descent`.
    """
    words = "Theorem 2, the sharp chain", "(η/2)", "B", " − ‖w_{t+1} − w_t‖²/2η"
    reasons = "Theorem 1 on the surrogates ⟨z_t, ·⟩, part of its slack kept", "ab − a²/2η ≤ ηb²/2"
    return _lazy(trace, u, validate.size("radius", radius), rho, 0.5, 0.5, words, reasons)


def _lazy(trace, u, size, rho, share, kept, words, reasons):
    """Both chains of Theorem 2: share·eta is paid for ‖z_t‖², kept/eta is kept of ‖w_{t+1} − w_t‖²."""
    leader, u, rho = leader_of(trace, surrogates=True), validate.vector("u", u, trace.dim), _rho(rho)
    R, eta, (title, price, letter, move) = leader.regularizer, leader.eta, words
    center = np.zeros(trace.dim) if getattr(R, "center", None) is None else R.center
    if not isinstance(R, SquaredNorm) or not leader.over.contains(center):
        raise ValueError(
            f"trace must be one of lazy OGD from 0, or a start, in the set, got {trace.learner!r}"
        )
    z, moves = trace.subgradients, np.diff(plays(trace), axis=0)
    ends = (squares(u, center) - squares(trace.points[0], center)) / (2 * eta)
    paid = share * eta * np.square(z).sum()
    return Chain(
        title,
        (
            Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
            Line((z * (trace.points - u)).sum(), "(8) Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
            Line(
                -(z * moves).sum() - kept / eta * np.square(moves).sum() + ends,
                f"(9) Σ ⟨z_t, w_t − w_{{t+1}}⟩{move} + (‖u‖² − ‖w_1‖²)/2η",
                reasons[0],
            ),
            Line(paid + ends, f"(10) {price} Σ ‖z_t‖² + (‖u‖² − ‖w_1‖²)/2η", reasons[1]),
            Line(
                share * eta * trace.rounds * rho**2 + size**2 / (2 * eta),
                f"{price} T ρ² + {letter}²/2η",
                f"‖z_t‖ ≤ ρ, ‖u‖ ≤ {letter}",
            ),
        ),
    )


def _rho(rho):
    return validate.size("rho", rho)


# ---------------------------------------------------------------- Lecture 4, Theorem 4.1.3


def zinkevich(trace: Trace, comparators: ArrayLike, diameter: float, rho: float) -> Chain:
    """Theorem 4.1.3 on one trace of eager descent with η_t = 1/√t, against u_1, …, u_T.

    In the lines L_t is ‖u_{t+1} − u_t‖ and L their sum, the noise ½Σ η_t‖z_t‖², the drift
    Σ (‖w_{t+1} − u_{t+1}‖² − ‖w_{t+1} − u_t‖²)/2η_t.
    """
    D, rho, T = validate.size("diameter", diameter), _rho(rho), trace.rounds
    u, eta, L = _moving(trace, comparators)
    lines, rest = _against_a_path(trace, u, eta, D)
    lines += [
        Line(
            rest + D * (L / eta[:-1]).sum(),
            "D²/2η_T + D Σ L_t/η_t + noise",
            "w_{t+1} is within D of u_t and u_{t+1}",
        ),
        _promise(D, rho, T, D * L.sum(), "D·L"),
        Line(
            (D**2 / 2 + rho**2 + 2 * D * L.sum()) * np.sqrt(T),
            "(D²/2 + ρ² + 2D·L)√T, as printed",
            "room to spare",
        ),
    ]
    return Chain("Theorem 4.1.3, drift from the diameter", tuple(lines))


def zinkevich_sharp(
    trace: Trace, comparators: ArrayLike, diameter: float, rho: float, center: ArrayLike
) -> Chain:
    """Theorem 4.1.3 with the drift measured from the `center` c of the smallest ball around the set.

    R·L + R²/2 takes the place of D·L, even where it is more; R is the radius of that ball.
    """
    D, rho, T = validate.size("diameter", diameter), _rho(rho), trace.rounds
    u, eta, L = _moving(trace, comparators)
    center = validate.vector("center", center, trace.dim)
    R, from_center = trace.learner.over.farthest(center), squares(u, center)
    lines, rest = _against_a_path(trace, u, eta, D)
    moved = R * (L / eta[:-1]).sum()
    lines += [
        Line(
            rest + (np.diff(from_center) / (2 * eta[:-1])).sum() + moved,
            "D²/2η_T + Σ (‖u_{t+1} − c‖² − ‖u_t − c‖²)/2η_t + R Σ L_t/η_t + noise",
            "distances taken from c; w_{t+1} is within R of it",
        ),
        Line(
            rest + R**2 / 2 * np.sqrt(T - 1) + moved,
            "D²/2η_T + R²/2η_{T−1} + R Σ L_t/η_t + noise",
            "Abel once more; ‖u_t − c‖ ≤ R",
        ),
        _promise(D, rho, T, R * L.sum() + R**2 / 2, "(R·L + R²/2)"),
    ]
    return Chain("Theorem 4.1.3, drift from the circumradius", tuple(lines))


def _moving(trace, comparators):
    """(u, η, L): the path u_1, …, u_T, the steps 1/√t and the lengths ‖u_{t+1} − u_t‖."""
    learner, T = trace.learner, trace.rounds
    u, _ = validate.array("comparators", comparators, trace.dim), trace.dynamic_regret(comparators)
    eager = isinstance(learner, OGD) and learner.projection == "eager"
    if not eager or not np.allclose(steps(learner.eta, T), 1 / np.sqrt(np.arange(1, T + 1)), atol=0.0):
        raise ValueError(f"trace must be one of eager OGD with eta = inverse_sqrt(1.0), got {learner!r}")
    return u, steps(learner.eta, T), np.sqrt(squares(u[1:], u[:-1]))


def _against_a_path(trace, u, eta, D):
    """The lines up to D²/2η_T + drift + noise, and the value of D²/2η_T + noise."""
    w, z = plays(trace), trace.subgradients
    noise = (eta * np.square(z).sum(axis=-1)).sum() / 2
    near, after = squares(w[:-1], u), squares(w[1:], u)
    drift = ((squares(w[1:-1], u[1:]) - after[:-1]) / (2 * eta[:-1])).sum()
    growth = np.diff(1 / eta, prepend=0.0)
    rest = D**2 / (2 * eta[-1]) + noise
    return [
        Line(trace.dynamic_regret(u), "Σ f_t(w_t) − f_t(u_t)"),
        Line((z * (w[:-1] - u)).sum(), "Σ ⟨z_t, w_t − u_t⟩", "z_t is a subgradient at w_t"),
        Line(
            ((near - after) / (2 * eta)).sum() + noise,
            "Σ (‖w_t − u_t‖² − ‖w_{t+1} − u_t‖²)/2η_t + noise",
            "projection: no farther from u_t",
        ),
        Line(
            (near * growth).sum() / 2 + drift + noise,
            "½Σ ‖w_t − u_t‖²(1/η_t − 1/η_{t−1}) + drift + noise",
            "u_t → u_{t+1} in the second square; Abel; drop ‖w_{T+1} − u_T‖²",
        ),
        Line(rest + drift, "D²/2η_T + drift + noise", "‖w_t − u_t‖ ≤ D"),
    ], rest


def _promise(D, rho, T, drift, word):
    """The line of either form in which the sums over the steps and the gradients are bounded."""
    value = D**2 / 2 * np.sqrt(T) + rho**2 * (np.sqrt(T) - 0.5) + drift * np.sqrt(T - 1)
    return Line(value, f"(D²/2)√T + ρ²(√T − ½) + {word}√(T−1)", "‖z_t‖ ≤ ρ; Σ 1/√t ≤ 2√T − 1")


# ---------------------------------------------------------------- Regret bounds, (3)


def strongly_convex_slacks(trace: Trace, u: ArrayLike, rho: float) -> np.ndarray:
    """What (4) and (5) give away in each round of eager descent with η_t = 1/(Ht), `(3, T)`.

    Rows: strong convexity, f_t(u) − f_t(w_t) − ⟨z_t, u − w_t⟩ − (H/2)‖w_t − u‖²; projection,
    (‖w_t − η_t z_t − u‖² − ‖w_{t+1} − u‖²)/2η_t; the gradient bound, (η_t/2)(G² − ‖z_t‖²), G = `rho`.
    """
    u, w, z = validate.vector("u", u, trace.dim), plays(trace), trace.subgradients
    H, away = curvature_of(trace), squares(plays(trace), u)
    eta = 1.0 / (H * np.arange(1, trace.rounds + 1))
    moved = squares(w[:-1] - eta[:, None] * z, u)
    bent = values(trace.losses, u) - trace.paid + (z * (w[:-1] - u)).sum(axis=-1) - H / 2 * away[:-1]
    size = np.square(z).sum(axis=-1)
    return np.array([bent, (moved - away[1:]) / (2 * eta), eta / 2 * (_rho(rho) ** 2 - size)])


def strongly_convex(trace: Trace, u: ArrayLike, rho: float) -> Chain:
    """The proof of (3) on one trace: (5) summed, what the telescope leaves, what is dropped, the bound.

    H is that of the steps η_t = 1/(Ht); in the lines d_t = ‖w_t − u‖, and G is `rho`.
    """
    u, H, G, T = validate.vector("u", u, trace.dim), curvature_of(trace), _rho(rho), trace.rounds
    t, away = np.arange(1, T + 1), squares(plays(trace), u)
    seen = (np.square(trace.subgradients).sum(axis=-1) / (2 * H * t)).sum()
    linear = (trace.subgradients * (trace.points - u)).sum() - H / 2 * away[:-1].sum()
    summed = (H * t / 2 * (away[:-1] - away[1:]) - H / 2 * away[:-1]).sum() + seen
    return Chain(
        "Logarithmic regret, (3)",
        (
            Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
            Line(linear, "Σ ⟨z_t, w_t − u⟩ − H d_{t}²/2", "strong convexity"),
            Line(summed, "(5) summed, ‖z_t‖ in place of G", "projection"),
            Line(seen - H * T / 2 * away[-1], "Σ ‖z_t‖²/2Ht − HT d_{T+1}²/2", "all others cancel"),
            Line(seen, "Σ ‖z_t‖²/2Ht", "the last square is dropped"),
            Line(G**2 / (2 * H) * (1 / t).sum(), "(G²/2H)(1 + ½ + … + 1/T)", "‖z_t‖ ≤ G"),
            Line(G**2 / (2 * H) * (1 + np.log(T)), "(G²/2H)(1 + log T)", "the harmonic sum"),
        ),
    )
