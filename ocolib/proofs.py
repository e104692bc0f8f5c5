"""A proof as a chain of numbers: each line's value on the trace just played, its reason and its slack.

The first line is what the theorem bounds, the last its promise; a slack is how much a line gives away, and
the slacks add up to last − first. A proof that is right has no negative slack, whatever the game.
"""

import re
from dataclasses import dataclass
from html import escape

import numpy as np

from ocolib import validate
from ocolib.losses import values
from ocolib.regularizers import gibbs


@dataclass(frozen=True)
class Line:
    """One line of a chain: its value, the formula and why it is at least the line before."""

    value: float
    formula: str
    reason: str = ""


@dataclass(frozen=True)
class Chain:
    """first ≤ … ≤ last, with reasons."""

    title: str
    lines: tuple

    @property
    def values(self):
        return np.array([line.value for line in self.lines])

    @property
    def slacks(self):
        """What each line after the first gives away."""
        return np.diff(self.values)

    def holds(self, tol=1e-9):
        """Is no slack negative (beyond rounding)?"""
        return bool((self.slacks >= -tol * max(1.0, np.abs(self.values).max())).all())

    def _rows(self):
        slacks = ["", *(_number(s) for s in self.slacks)]
        for line, slack in zip(self.lines, slacks, strict=True):
            yield ("≤ " if slack else "") + line.formula, _number(line.value), slack, line.reason

    def __repr__(self):
        rows = "\n".join(f"{f:<44} {v:>12} {s:>12}  {r}" for f, v, s, r in self._rows())
        return f"{self.title}\n{'line':<44} {'value':>12} {'slack':>12}  reason\n{rows}"

    def _repr_html_(self):
        body = "".join(
            f"<tr><td>{subscripts(escape(f), '<sub>', '</sub>')}</td><td class='num'>{v}</td>"
            f"<td class='num'>{s}</td><td>{subscripts(escape(r), '<sub>', '</sub>')}</td></tr>"
            for f, v, s, r in self._rows()
        )
        return (
            f"<table class='proof-chain'><caption>{escape(self.title)}</caption>"
            "<thead><tr><th>line</th><th>value</th><th>slack</th><th>reason</th></tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def subscripts(text, begin, end):
    """`w_{t+1}` and `w_12` with their indices between `begin` and `end`."""
    return re.sub(r"_(?:\{([^}]*)\}|(\w+))", lambda m: begin + (m[1] or m[2]) + end, text)


def _number(x):
    return f"{x + 0.0:.6f}" if abs(x) >= 5e-7 else "0.000000"


def plays(trace):
    """w_1, …, w_{T+1}."""
    return np.concatenate([trace.points, trace.last[..., None, :]], axis=-2)


# ---------------------------------------------------------------- Lecture 13, Theorem 1


def leader_slacks(trace, regularizer, eta):
    """What round t of Theorem 1's induction gives away, `(..., T)`: with F = f_1 + … + f_{t−1} + R/eta,

    F(w_{t+1}) − F(w_t) ≥ 0, because w_t is a minimiser of F. For t = 1 this is the base case, F = R/eta.
    """
    w = plays(trace)
    spread = np.diff(regularizer.value(w), axis=-1) / validate.positive("eta", eta)
    return np.diff(_past(trace, w), axis=0)[0] + spread


def _past(trace, w):
    """f_1 + … + f_{t−1} at w_t and at w_{t+1}, stacked on axis 0."""
    here, there = w[..., :-1, :], w[..., 1:, :]
    if isinstance(trace.losses, np.ndarray):
        before = np.cumsum(trace.losses, axis=-2) - trace.losses
        return np.stack([(before * here).sum(-1), (before * there).sum(-1)])
    table = np.array([values(trace.losses, point) for point in w])  # f_t at every play
    sums = np.array([[table[t + k, :t].sum() for t in range(trace.rounds)] for k in (0, 1)])
    return sums


def _sum(t):
    """f_1 + … + f_t + R, written out when it is short."""
    losses = [f"f_{i}" for i in range(1, t + 1)] if t < 3 else ["f_1", "…", f"f_{t}"]
    return " + ".join([*losses, "R"])


def theorem1(trace, regularizer, eta, u):
    """Theorem 1 for FTRL on one trace, from the regret against u up to the promise, one line a round.

    The induction (4), (5) unrolled: round t replaces w_{t+1} by w_t, the leader after t − 1 rounds.
    """
    u = validate.vector("u", u, trace.dim)
    slacks = leader_slacks(trace, regularizer, eta)
    w = plays(trace)
    final = values(trace.losses, w[-1]).sum() + regularizer.value(w[-1]) / eta
    rival = values(trace.losses, u).sum() + regularizer.value(u) / eta
    value = trace.paid.sum() - values(trace.losses, u).sum()
    T = trace.rounds
    lines = [Line(value, "Σ f_t(w_t) − Σ f_t(u)")]
    value += rival - final
    lines.append(Line(value, f"u → w_{T + 1}", f"(4) from (5): w_{T + 1} minimises {_sum(T)}"))
    for t in range(T, 0, -1):
        value += slacks[t - 1]
        reason = f"w_{t} minimises {_sum(t - 1)}, w_{t + 1} need not" + (" (base case)" if t == 1 else "")
        lines.append(Line(value, f"round {t}" + (": the promise" if t == 1 else ""), reason))
    return Chain("Theorem 1, the induction unrolled", tuple(lines))


# ---------------------------------------------------------------- Lecture 13, Theorem 2


def theorem2(trace, eta, u, rho, size, sharp=False):
    """Theorem 2 for lazy descent on one trace: (8), (9), (10) and the last line, where `size` is D ≥ ‖u‖.

    `sharp` keeps what (9) throws away, ‖w_{t+1} − w_t‖²/(2·eta) a round, and so pays eta/2 where the
    lecture pays eta; `size` is then called B.
    """
    u, eta = validate.vector("u", u, trace.dim), validate.positive("eta", eta)
    w, z = plays(trace), trace.subgradients
    moves = np.diff(w, axis=0)
    ends = (u @ u - w[0] @ w[0]) / (2 * eta)
    price, kept = (eta / 2, np.square(moves).sum() / (2 * eta)) if sharp else (eta, 0.0)
    words = ("(η/2)", "B", " − ‖w_{t+1} − w_t‖²/2η") if sharp else ("η", "D", "")
    split = "Theorem 1 on the surrogates ⟨z_t, ·⟩" + (", its slack kept" if sharp else "")
    product = "ab − a²/2η ≤ ηb²/2" if sharp else "Cauchy–Schwarz; projection does not expand"
    return Chain(
        "Theorem 2, " + ("the sharp chain" if sharp else "the lecture's chain"),
        (
            Line(trace.paid.sum() - values(trace.losses, u).sum(), "Σ f_t(w_t) − f_t(u)"),
            Line((z * (trace.points - u)).sum(), "(8) Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
            Line(
                -(z * moves).sum() - kept + ends,
                f"(9) Σ ⟨z_t, w_t − w_{{t+1}}⟩{words[2]} + (‖u‖² − ‖w_1‖²)/2η",
                split,
            ),
            Line(
                price * np.square(z).sum() + ends, f"(10) {words[0]} Σ ‖z_t‖² + (‖u‖² − ‖w_1‖²)/2η", product
            ),
            Line(
                price * trace.rounds * rho**2 + size**2 / (2 * eta),
                f"{words[0]} T ρ² + {words[1]}²/2η",
                f"‖z_t‖ ≤ ρ, ‖u‖ ≤ {words[1]}",
            ),
        ),
    )


# ---------------------------------------------------------------- Lecture 13, the Perceptron and Winnow


def perceptron(trace, u, radius, margin, sharp=True):
    """M ≤ (R/γ)² for the updates of the Perceptron, from (10) on the surrogates, every line in updates.

    With `u` the unit vector that has margin γ, put c = Mγ. On the update rounds
    c² ≤ −Σ⟨z_t, cu⟩ ≤ Σ⟨z_t, w_t − cu⟩ ≤ ½Σ‖z_t‖² + ½c² ≤ ½MR² + ½c²; a line v is shown as (2v − c²)/(Mγ²).
    Without `sharp` the third step is (10) as printed, with Σ‖z_t‖² for its half: the promise doubles.
    """
    u, radius = validate.vector("u", u, trace.dim), validate.positive("radius", radius)
    margin, z, w = validate.positive("margin", margin), trace.subgradients, trace.points
    M = int(trace.updates.sum())
    if not M:
        raise ValueError("the trace must have at least one update, got none")
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


def winnow(trace, relevant):
    """M ≤ 2n/θ + 3k(1 + log₂ θ) for Winnow with factor 2, on a disjunction of the first k features.

    k is `relevant`; p counts promotions, d demotions, p_i the promotions in which feature i was on.
    """
    k, theta = validate.count("relevant", relevant), trace.learner.threshold
    if trace.learner.factor != 2:
        raise ValueError(f"the chain is that of Winnow with factor 2, got {trace.learner!r}")
    promoted = trace.updates & (trace.losses.y > 0)
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
                "a relevant weight never shrinks, and is ≤ θ when doubled",
            ),
        ),
    )


def normalized_winnow(trace, u, margin, size):
    """M ≤ ln(n)/(ηγ − η²X²/2) for the updates of NormalizedWinnow with step η < 2γ/X², every line in updates.

    At η = γ/X² this is 2X² ln(n)/γ². The potential is KL(u‖w_t) = Σ u_i ln(u_i/w_{t,i}).
    """
    u, eta = validate.vector("u", u, trace.dim), trace.learner.eta
    margin, size = validate.positive("margin", margin), validate.positive("size", size)
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
                "each update lowers it by δ = ηγ − η²X²/2",
            ),
            Line(potential[0] / drop, "KL(u‖w_1)/δ", "KL ≥ 0"),
            Line(np.log(trace.dim) / drop, "ln n/δ", "KL(u‖w_1) = ln n − H(u) and H ≥ 0"),
        ),
    )


# ---------------------------------------------------------------- Lecture 17


def ftrl(trace, regularizer, eta, u, over, rho, sharp=False):
    """(17.2) and (17.3) for FTRL with φ/eta on one trace; ‖·‖* is the regulariser's dual norm.

    `sharp` keeps round t's slack of Theorem 1, and so pays F_t(w_t) − min F_t ≤ (eta/2)‖z_t‖*² a round,
    F_t = f_1 + … + f_t + φ/eta.
    """
    u, eta = validate.vector("u", u, trace.dim), validate.positive("eta", eta)
    w, T, D = plays(trace), trace.rounds, regularizer.range(over)
    unstable = (trace.paid - values(trace.losses, w[1:])).sum()
    if sharp:
        unstable -= leader_slacks(trace, regularizer, eta).sum()
    ends = (regularizer.value(u) - regularizer.value(w[0])) / eta
    squares = np.square(regularizer.dual_norm(trace.subgradients)).sum()
    share, word = (eta / 2, "(η/2)") if sharp else (eta, "η")
    drop = "Σ F_t(w_t) − F_t(w_{t+1})" if sharp else "Σ f_t(w_t) − f_t(w_{t+1})"
    cost = "F_{t−1} is 1/η-strongly convex" if sharp else "stability: ‖w_t − w_{t+1}‖ ≤ η‖z_t‖*"
    return Chain(
        "(17.2), " + ("the sharp chain" if sharp else "the lecture's chain"),
        (
            Line(trace.paid.sum() - values(trace.losses, u).sum(), "Σ f_t(w_t) − f_t(u)"),
            Line(unstable + ends, f"{drop} + (φ(u) − φ(w_1))/η", f"w_{{{T + 1}}} minimises F_{{{T}}}"),
            Line(share * squares + ends, f"{word} Σ ‖z_t‖*² + (φ(u) − φ(w_1))/η", cost),
            Line(share * squares + D / eta, f"{word} Σ ‖z_t‖*² + D/η", "D is the range of φ"),
            Line(share * T * rho**2 + D / eta, f"{word} T G² + D/η", "‖z_t‖* ≤ G"),
        ),
    )


def hedge(trace, eta):
    """Hedge with a fixed step against the best expert: the mixed loss, then Hoeffding.

    m_t = −(1/eta) log Σ p_t(j) exp(−eta·ℓ_t(j)); the m_t add up to M = −(1/eta) log mean exp(−eta·L).
    """
    p, losses, eta = trace.points, trace.losses, validate.positive("eta", eta)
    n, T, L = trace.dim, trace.rounds, losses.sum(axis=0)
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
