"""A proof as a chain of numbers: each line's value on the trace just played, its reason and its slack.

The first line is what the theorem bounds, the last its promise; a slack is how much a line gives away, and
the slacks add up to last − first. A proof that is right has no negative slack, whatever the game.
"""

import re
from dataclasses import dataclass
from html import escape

import numpy as np

from ocolib import validate
from ocolib.learners import steps
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


# ---------------------------------------------------------------- Lecture 9, the mistake bound


def _updates(trace, u, margin):
    """The rounds with an update and the vectors −z_t = y_t·x_t added in them."""
    validate.vector("u", u, trace.dim), validate.positive("margin", margin)
    if not trace.updates.any():
        raise ValueError("the trace must have at least one update, got none")
    return np.flatnonzero(trace.updates), -trace.subgradients[trace.updates]


def perceptron_growth(trace, u, margin):
    """γM ≤ ⟨w_T, u⟩ − ⟨w_0, u⟩, one line an update: each adds y_i⟨u, x_i⟩ ≥ γ."""
    rounds, added = _updates(trace, u, margin)
    gains = added @ np.asarray(u, dtype=float) - margin
    lines = [Line(margin * len(rounds), "γM")]
    for i, value in zip(rounds, lines[0].value + np.cumsum(gains), strict=True):
        lines.append(Line(value, f"γ → y_{i + 1}⟨u, x_{i + 1}⟩", f"the margin of example {i + 1} is ≥ γ"))
    return Chain("The growth along u", tuple(lines))


def perceptron_length(trace, radius):
    """‖w_T‖² − ‖w_0‖² ≤ R²M, one line an update: 2y_i⟨w_{i−1}, x_i⟩ ≤ 0 is dropped, ‖x_i‖ ≤ R used."""
    radius = validate.positive("radius", radius)
    rounds, w = np.flatnonzero(trace.updates), plays(trace)
    grown = np.diff(np.square(w).sum(axis=1))[rounds]
    lines = [Line(grown.sum(), "‖w_T‖² − ‖w_0‖²")]
    for i, value in zip(rounds, grown.sum() + np.cumsum(radius**2 - grown), strict=True):
        reason = f"y_{i + 1}⟨w_{i}, x_{i + 1}⟩ ≤ 0 and ‖x_{i + 1}‖ ≤ R"
        lines.append(Line(value, f"round {i + 1} adds at most R²", reason))
    return Chain("The growth of the length", tuple(lines))


def mistake_bound(trace, u, radius, margin):
    """M ≤ (R/γ)² as the lecture proves it: γM ≤ ⟨w_T, u⟩ ≤ ‖w_T‖ ≤ R√M, for a start at 0 and a unit u.

    Every line v is shown as v²/(γ²M) (with the sign of v), so that the first is M and the last (R/γ)².
    """
    radius = validate.positive("radius", radius)
    M, w, u = len(_updates(trace, u, margin)[0]), trace.last, np.asarray(u, dtype=float)

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


# ---------------------------------------------------------------- Lecture 4


def _squares(x, u):
    """‖x − u‖², row by row."""
    return np.square(x - u).sum(axis=-1)


def zinkevich(trace, comparators, rho, diameter, center=None):
    """Theorem 4.1.3 on one trace of eager descent with η_t = 1/√t, against u_1, …, u_T.

    With the `center` of the smallest ball around the set the drift is measured from there, and R·L + R²/2
    takes the place of D·L; R is the radius of that ball. In the lines L_t is ‖u_{t+1} − u_t‖, the noise
    ½Σ η_t‖z_t‖², the drift Σ (‖w_{t+1} − u_{t+1}‖² − ‖w_{t+1} − u_t‖²)/2η_t.
    """
    u, w, z = validate.array("comparators", comparators, trace.dim), plays(trace), trace.subgradients
    T, D, L = trace.rounds, diameter, np.sqrt(_squares(u[1:], u[:-1]))
    eta = steps(trace.learner.eta, T)
    if not np.allclose(eta, 1 / np.sqrt(np.arange(1, T + 1))):
        raise ValueError(f"trace must be one of eta = inverse_sqrt(1.0), got steps {eta[:3].round(4)} …")
    noise = (eta * np.square(z).sum(axis=-1)).sum() / 2
    near, after = _squares(w[:-1], u), _squares(w[1:], u)
    drift = ((_squares(w[1:-1], u[1:]) - after[:-1]) / (2 * eta[:-1])).sum()
    growth = np.diff(1 / eta, prepend=0.0)
    base, last = D**2 / 2 * np.sqrt(T), np.sqrt(T - 1)
    lines = [
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
        Line(base + drift + noise, "D²/2η_T + drift + noise", "‖w_t − u_t‖ ≤ D"),
    ]
    if center is None:
        word, full, drifted = "D·L", D * L.sum() * last, D * (L / eta[:-1]).sum()
        formula, why = "D²/2η_T + D Σ L_t/η_t + noise", "w_{t+1} is within D of u_t and u_{t+1}"
        lines.append(Line(base + drifted + noise, formula, why))
    else:
        center = validate.vector("center", center, trace.dim)
        R, from_center = trace.learner.over.farthest(center), _squares(u, center)
        carried = (np.diff(from_center) / (2 * eta[:-1])).sum()
        word, full = "(R·L + R²/2)", (R * L.sum() + R**2 / 2) * last
        lines += [
            Line(
                base + carried + R * (L / eta[:-1]).sum() + noise,
                "D²/2η_T + Σ (‖u_{t+1} − c‖² − ‖u_t − c‖²)/2η_t + R Σ L_t/η_t + noise",
                "distances taken from c; w_{t+1} is within R of it",
            ),
            Line(
                base + R**2 / 2 * last + R * (L / eta[:-1]).sum() + noise,
                "D²/2η_T + R²/2η_{T−1} + R Σ L_t/η_t + noise",
                "Abel once more; ‖u_t − c‖ ≤ R",
            ),
        ]
    sharp = base + rho**2 * (np.sqrt(T) - 0.5) + full
    lines.append(Line(sharp, f"(D²/2)√T + ρ²(√T − ½) + {word}√(T−1)", "‖z_t‖ ≤ ρ; Σ 1/√t ≤ 2√T − 1"))
    if center is None:
        printed = (D**2 / 2 + rho**2 + 2 * D * L.sum()) * np.sqrt(T)
        lines.append(Line(printed, "(D²/2 + ρ² + 2D·L)√T, as printed", "room to spare"))
    return Chain(
        "Theorem 4.1.3, drift from the " + ("diameter" if center is None else "circumradius"), tuple(lines)
    )


def delayed(trace, u, rho, diameter, curvature=0.0):
    """The delayed theorems on one trace of `DelayedOGD`, whatever the delays; v_k is where the k-th gradient
    to arrive, that of round s, finds the player. The noise is ½Σ α_k‖z_s‖², what is late Σ ⟨z_s, w_s − v_k⟩.

    With `curvature` H > 0 the losses are H-strongly convex, the steps 1/(H·k), and the delay is a number.
    """
    u, learner, T, H = validate.vector("u", u, trace.dim), trace.learner, trace.rounds, curvature
    when = np.array([learner.arrival(s) for s in range(1, T + 1)])
    order = np.argsort(when, kind="stable")  # rounds in the order of arrival, counted from 0
    alpha, z, w = steps(learner.eta, T), trace.subgradients[order], trace.points[order]
    v = [trace.points[0]]
    for k in range(T):  # also those that arrive after the game
        v.append(learner.over.project(v[-1] - alpha[k] * z[k]))
    v, size = np.array(v), np.sqrt(np.square(z).sum(axis=-1))
    known = np.searchsorted(when[order], order + 1)  # how many had arrived when round s_k was played
    passed, lengths = np.append(0.0, np.cumsum(alpha)), np.append(0.0, np.cumsum(alpha * size))
    k = np.arange(T)
    noise, late = (alpha * size**2).sum() / 2, (z * (w - v[:-1])).sum()
    late_most = (size * (lengths[k] - lengths[known])).sum()
    bend, D = H / 2 * _squares(w, u).sum(), diameter
    curved = " − (H/2)‖w_s − u‖²" if H else ""
    telescope = ((_squares(v[:-1], u) - _squares(v[1:], u)) / (2 * alpha)).sum() - bend
    if H:
        if np.ndim(learner.delay) or not np.allclose(alpha, 1 / (H * (k + 1))):
            raise ValueError(
                "curvature > 0 needs one delay for all rounds and eta = lambda k: 1/(curvature·k)"
            )
        start, first, why = H * learner.delay * D**2 / 2, "HτD²/2", "Abel; all but τ squares cancel, ≤ D²"
    else:
        start, first, why = D**2 / (2 * alpha[-1]), "D²/2α_T", "Abel; ‖v_k − u‖ ≤ D"
    counted = rho**2 * (alpha.sum() / 2 + (passed[k] - passed[known]).sum())
    return Chain(
        "Descent on late gradients" + (", strongly convex" if H else ""),
        (
            Line(trace.regret(against=u), "Σ f_s(w_s) − f_s(u)"),
            Line((z * (w - u)).sum() - bend, f"Σ ⟨z_s, w_s − u⟩{curved}", "z_s is a subgradient at w_s"),
            Line(
                telescope + noise + late,
                f"Σ (‖v_k − u‖² − ‖v_{{k+1}} − u‖²)/2α_k{curved} + noise + late",
                "w_s = v_k + (w_s − v_k); projection",
            ),
            Line(start + noise + late, f"{first} + noise + late", why),
            Line(
                start + noise + late_most,
                f"{first} + noise + Σ ‖z_s‖ Σ_j α_j‖z_j‖",
                "j: the arrivals between playing w_s and using z_s",
            ),
            Line(start + counted, f"{first} + ρ²(½Σ α_k + Σ Σ_j α_j)", "‖z_s‖ ≤ ρ"),
        ),
    )


# ---------------------------------------------------------------- Regret bounds, (3)


def descent_slacks(trace, H, u, G):
    """What (4) and (5) give away in each round of eager descent with η_t = 1/(Ht), `(3, T)`.

    Rows: strong convexity, f_t(u) − f_t(w_t) − ⟨z_t, u − w_t⟩ − (H/2)‖w_t − u‖²; projection,
    (‖w_t − η_t z_t − u‖² − ‖w_{t+1} − u‖²)/2η_t; the gradient bound, (η_t/2)(G² − ‖z_t‖²).
    """
    u, w, z = validate.vector("u", u, trace.dim), plays(trace), trace.subgradients
    eta = 1.0 / (validate.positive("H", H) * np.arange(1, trace.rounds + 1))
    away = np.square(w - u).sum(axis=-1)
    moved = np.square(w[:-1] - eta[:, None] * z - u).sum(axis=-1)
    bent = values(trace.losses, u) - trace.paid + (z * (w[:-1] - u)).sum(axis=-1) - H / 2 * away[:-1]
    size = np.square(z).sum(axis=-1)
    return np.array([bent, (moved - away[1:]) / (2 * eta), eta / 2 * (G**2 - size)])


def strongly_convex(trace, H, u, G):
    """The proof of (3) on one trace: (5) summed, what the telescope leaves, what is dropped, the bound.

    In its lines d_t = ‖w_t − u‖ and η_t = 1/(Ht).
    """
    u, w, T = validate.vector("u", u, trace.dim), plays(trace), trace.rounds
    t, away = np.arange(1, T + 1), np.square(w - u).sum(axis=-1)
    seen = (np.square(trace.subgradients).sum(axis=-1) / (2 * H * t)).sum()
    linear = (trace.subgradients * (trace.points - u)).sum() - H / 2 * away[:-1].sum()
    summed = (H * t / 2 * (away[:-1] - away[1:]) - H / 2 * away[:-1]).sum() + seen
    harmonic = G**2 / (2 * H) * (1 / t).sum()
    return Chain(
        "Logarithmic regret, (3)",
        (
            Line(trace.paid.sum() - values(trace.losses, u).sum(), "Σ f_t(w_t) − f_t(u)"),
            Line(linear, "Σ ⟨z_t, w_t − u⟩ − H d_{t}²/2", "strong convexity"),
            Line(summed, "(5) summed, ‖z_t‖ in place of G", "projection"),
            Line(seen - H * T / 2 * away[-1], "Σ ‖z_t‖²/2Ht − HT d_{T+1}²/2", "all others cancel"),
            Line(seen, "Σ ‖z_t‖²/2Ht", "the last square is dropped"),
            Line(harmonic, "(G²/2H)(1 + ½ + … + 1/T)", "‖z_t‖ ≤ G"),
            Line(G**2 / (2 * H) * (1 + np.log(T)), "(G²/2H)(1 + log T)", "the harmonic sum"),
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
