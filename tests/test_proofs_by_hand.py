"""Every line of every chain, computed a second time: by loops over the rounds, as the formula is written.

The numbers are chosen so that nothing is 1 by accident: u is no unit vector, the sizes handed in are not
those of the game (a line may then break, but it still has a value), no two constants are alike.
"""

from dataclasses import replace
from math import exp, log, log2, sqrt

import numpy as np
import pytest

from ocolib import proofs
from ocolib.adversaries import random_directions
from ocolib.game import play
from ocolib.learners import (
    FTRL,
    OGD,
    DelayedOGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
    inverse,
    inverse_sqrt,
)
from ocolib.losses import Linear, Quadratic, perceptron_loss
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Simplex, Space

CENTERS = np.array([[1.5, -0.5], [-2.0, 1.0], [0.25, 3.0], [2.0, 2.0], [-1.0, -1.5]])
CURVED = [Quadratic(c, 1.5) for c in CENTERS]
U = np.array([0.7, -1.1])


def square(x):
    return float(sum(xi * xi for xi in np.ravel(x)))


def dot(x, y):
    return float(sum(a * b for a, b in zip(x, y, strict=True)))


def game(trace):
    """(T, w, z): rounds, plays w[1] … w[T + 1] and subgradients z[1] … z[T], counted as on paper."""
    T, nothing = trace.rounds, np.full(trace.dim, np.nan)
    return T, [nothing, *trace.points, trace.last], [nothing, *trace.subgradients]


def costs(losses, w, u):
    """Σ f_t(w_t) − f_t(u), the loss of each round asked for on its own."""
    return sum(float(f.value(w[t]) - f.value(u)) for t, f in enumerate(losses, start=1))


def agree(chain, lines):
    assert chain.values == pytest.approx(lines, rel=1e-10, abs=1e-10)


# ---------------------------------------------------------------- descent


@pytest.mark.parametrize("start", [None, (0.3, -0.2)], ids=["from 0", "from elsewhere"])
@pytest.mark.parametrize(("share", "kept"), [(1.0, 0.0), (0.5, 0.5)], ids=["lecture", "sharp"])
def test_both_chains_of_theorem2(start, share, kept):
    eta, size, rho = 0.3, 2.5, 1.7
    trace = play(OGD(Ball(2, 0.8), eta, start=start), CURVED)
    T, w, z = game(trace)
    proof, c = (proofs.descent_sharp if kept else proofs.descent), np.zeros(2) if start is None else start
    ends = (square(U - c) - square(w[1] - c)) / (2 * eta)
    moves = [w[t] - w[t + 1] for t in range(1, T + 1)]
    agree(
        proof(trace, U, size, rho),
        [
            costs(CURVED, w, U),
            sum(dot(z[t], w[t] - U) for t in range(1, T + 1)),
            sum(dot(z[t], moves[t - 1]) - kept * square(moves[t - 1]) / eta for t in range(1, T + 1)) + ends,
            share * eta * sum(square(z[t]) for t in range(1, T + 1)) + ends,
            share * eta * T * rho**2 + size**2 / (2 * eta),
        ],
    )


def test_theorem2_counts_the_first_play_where_the_projection_put_it():
    """A leader whose centre is in the set starts there, so the term of w_1 is 0; linear losses may be led
    by any FTRL, and its first play shows."""
    trace = play(Linearized(FTRL(Ball(2), SquaredNorm([0.25, 0.0]), 0.5)), random_directions(4, 2, 0))
    chain = proofs.descent(trace, [0.5, 0.5], 1.0, 1.0)
    assert chain.values[3] == pytest.approx(0.5 * 4 + (0.0625 + 0.25) / 1.0)


def path(rounds):
    return np.array([[0.4 * k, 1.0 - 0.3 * k**2] for k in range(rounds)])


def through_the_path(trace, u, D):
    """The five lines that both forms of Theorem 4.1.3 begin with, and the last of them without its drift."""
    T, w, z = game(trace)
    u, eta, rounds = [None, *u], [None, *(1 / sqrt(t) for t in range(1, T + 1))], range(1, T + 1)
    noise = sum(eta[t] * square(z[t]) for t in rounds) / 2
    drift = sum((square(w[t + 1] - u[t + 1]) - square(w[t + 1] - u[t])) / (2 * eta[t]) for t in rounds[:-1])
    growth = [None, 1 / eta[1], *(1 / eta[t] - 1 / eta[t - 1] for t in rounds[1:])]
    lines = [
        sum(float(f.value(w[t]) - f.value(u[t])) for t, f in enumerate(CURVED, start=1)),
        sum(dot(z[t], w[t] - u[t]) for t in rounds),
        sum((square(w[t] - u[t]) - square(w[t + 1] - u[t])) / (2 * eta[t]) for t in rounds) + noise,
        sum(square(w[t] - u[t]) * growth[t] for t in rounds) / 2 + drift + noise,
        D**2 / (2 * eta[T]) + drift + noise,
    ]
    return lines, D**2 / (2 * eta[T]) + noise


def test_theorem_4_1_3_line_by_line():
    D, rho, over = 2.6, 1.7, Box([-1.0, -0.5], [1.0, 1.5])
    trace, u, T = play(OGD(over, inverse_sqrt(1.0), "eager"), CURVED), path(5), 5
    steps = [sqrt(square(u[t + 1] - u[t])) for t in range(T - 1)]
    lines, rest = through_the_path(trace, u, D)
    L = sum(steps)
    agree(
        proofs.zinkevich(trace, u, D, rho),
        [
            *lines,
            rest + D * sum(step * sqrt(t) for t, step in enumerate(steps, start=1)),
            D**2 / 2 * sqrt(T) + rho**2 * (sqrt(T) - 0.5) + D * L * sqrt(T - 1),
            (D**2 / 2 + rho**2 + 2 * D * L) * sqrt(T),
        ],
    )


def test_theorem_4_1_3_from_a_centre_line_by_line():
    D, rho, over, c = 2.6, 1.7, Box([-1.0, -0.5], [1.0, 1.5]), np.array([0.2, 0.4])
    R = sqrt(1.2**2 + 1.1**2)  # to the corner (−1, 1.5)
    trace, u, T = play(OGD(over, inverse_sqrt(1.0), "eager"), CURVED), path(5), 5
    steps = [sqrt(square(u[t + 1] - u[t])) for t in range(T - 1)]
    lines, rest = through_the_path(trace, u, D)
    moved = R * sum(step * sqrt(t) for t, step in enumerate(steps, start=1))
    turned = sum((square(u[t] - c) - square(u[t - 1] - c)) * sqrt(t) / 2 for t in range(1, T))
    agree(
        proofs.zinkevich_sharp(trace, u, D, rho, c),
        [
            *lines,
            rest + turned + moved,
            rest + R**2 / 2 * sqrt(T - 1) + moved,
            D**2 / 2 * sqrt(T) + rho**2 * (sqrt(T) - 0.5) + (R * sum(steps) + R**2 / 2) * sqrt(T - 1),
        ],
    )


def test_the_proof_of_logarithmic_regret_line_by_line():
    H, G = 1.25, 4.5
    trace = play(OGD(Ball(2, 0.9), inverse(1 / H), "eager"), CURVED)
    (T, w, z), rounds = game(trace), range(1, 6)
    d = [None, *(square(w[t] - U) for t in range(1, T + 2))]
    eta, seen = [None, *(1 / (H * t) for t in rounds)], sum(square(z[t]) / (2 * H * t) for t in rounds)
    agree(
        proofs.strongly_convex(trace, U, G),
        [
            costs(CURVED, w, U),
            sum(dot(z[t], w[t] - U) - H * d[t] / 2 for t in rounds),
            sum(H * t * (d[t] - d[t + 1]) / 2 - H * d[t] / 2 for t in rounds) + seen,
            seen - H * T * d[T + 1] / 2,
            seen,
            G**2 / (2 * H) * (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5),
            G**2 / (2 * H) * (1 + log(5)),
        ],
    )
    slacks = [
        [
            float(f.value(U) - f.value(w[t])) - dot(z[t], U - w[t]) - H / 2 * d[t]
            for t, f in enumerate(CURVED, start=1)
        ],
        [(square(w[t] - eta[t] * z[t] - U) - d[t + 1]) / (2 * eta[t]) for t in rounds],
        [eta[t] / 2 * (G**2 - square(z[t])) for t in rounds],
    ]
    np.testing.assert_allclose(proofs.strongly_convex_slacks(trace, U, G), slacks, atol=1e-12)


# ---------------------------------------------------------------- late gradients


def late_lines(trace, u, rho, first, H=0.0):
    """The player and its post are simulated: who has arrived is looked up in a list, not counted."""
    learner, T = trace.learner, trace.rounds
    w, z = trace.points, trace.subgradients
    delays = np.broadcast_to(learner.delay, T)
    post = sorted(range(T), key=lambda s: (s + delays[s], s))  # heard of at the end of round s + d_s
    alpha = [float(learner.eta(k)) if callable(learner.eta) else learner.eta for k in range(1, T + 1)]
    v, noise, late, moved, bend, worst, counted = w[0], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k, s in enumerate(post):
        found, v = v, learner.over.project(v - alpha[k] * z[s])
        noise += alpha[k] * square(z[s]) / 2
        late += dot(z[s], w[s] - found)
        moved += (square(found - u) - square(v - u)) / (2 * alpha[k])
        bend += H / 2 * square(w[s] - u)
        unheard = [j for j in range(k) if post[j] + delays[post[j]] >= s]
        worst += sqrt(square(z[s])) * sum(alpha[j] * sqrt(square(z[post[j]])) for j in unheard)
        counted += rho**2 * (alpha[k] / 2 + sum(alpha[j] for j in unheard))
    return [
        costs(CURVED, [None, *w], u),
        sum(dot(z[s], w[s] - u) for s in range(T)) - bend,
        moved - bend + noise + late,
        first + noise + late,
        first + noise + worst,
        first + counted,
    ]


@pytest.mark.parametrize("delay", [0, 1, 2, [2, 0, 3, 1, 0]], ids=str)
def test_the_delayed_theorems_line_by_line(delay):
    D, rho, over = 2.6, 1.7, Ball(2, 0.9)
    falling = play(DelayedOGD(over, inverse_sqrt(0.4), delay), CURVED)
    agree(proofs.delayed(falling, U, D, rho), late_lines(falling, U, rho, D**2 / (2 * 0.4 / sqrt(5))))
    still = play(DelayedOGD(over, 0.3, delay), CURVED)
    agree(proofs.delayed_constant(still, U, D, rho), late_lines(still, U, rho, D**2 / 0.6))
    agree(proofs.delayed(still, U, D, rho), late_lines(still, U, rho, D**2 / 0.6))


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_the_delayed_theorem_for_curved_losses_line_by_line(delay):
    D, rho, H = 2.6, 1.7, 1.25
    trace = play(DelayedOGD(Ball(2, 0.9), inverse(1 / H), delay), CURVED)
    agree(
        proofs.delayed_strongly_convex(trace, U, D, rho), late_lines(trace, U, rho, H * delay * D**2 / 2, H)
    )


# ---------------------------------------------------------------- leaders


@pytest.mark.parametrize("losses", [np.array([c / 2 for c in CENTERS]), CURVED], ids=["linear", "curved"])
def test_the_chains_of_17_2_line_by_line(losses):
    c = np.array([1.6, -0.9])  # not in the ball, so that φ is not 0 at the first play
    eta, rho, over, R = 0.4, 1.7, Ball(2, 0.9, [0.1, 0.2]), SquaredNorm(c)
    trace = play(FTRL(over, R, eta), losses)
    (T, w, z), f = game(trace), [Linear(x) if isinstance(x, np.ndarray) else x for x in losses]
    rounds = range(1, T + 1)

    def phi(x):
        return square(x - c) / 2

    def F(t, x):
        return sum(float(f[s].value(x)) for s in range(t)) + phi(x) / eta

    ends, squares = (phi(U) - phi(w[1])) / eta, eta * sum(square(z[t]) for t in rounds)
    gained = sum(float(f[t - 1].value(w[t]) - f[t - 1].value(w[t + 1])) for t in rounds)
    kept = [F(t - 1, w[t + 1]) - F(t - 1, w[t]) for t in rounds]
    near, far = sqrt(1.5**2 + 1.1**2) - 0.9, sqrt(1.5**2 + 1.1**2) + 0.9  # from c to the ball, and across it
    D, regret = (far**2 - near**2) / 2, costs(f, w, U)
    agree(
        proofs.ftrl(trace, U, rho),
        [regret, gained + ends, squares + ends, squares + D / eta, eta * T * rho**2 + D / eta],
    )
    agree(
        proofs.ftrl_sharp(trace, U, rho),
        [
            regret,
            gained - sum(kept) + ends,
            squares / 2 + ends,
            squares / 2 + D / eta,
            eta / 2 * T * rho**2 + D / eta,
        ],
    )
    np.testing.assert_allclose(proofs.ftrl_stability_slacks(trace), kept, atol=1e-12)
    value, lines = regret + F(T, U) - F(T, w[T + 1]), [regret]
    for slack in [0.0, *kept[::-1]]:
        value += slack
        lines.append(value)
    agree(proofs.ftrl_stability(trace, U), lines)


def test_the_last_round_of_theorem1_is_named_the_promise():
    chain = proofs.ftrl_stability(play(FTRL(Ball(2), SquaredNorm(), 0.5), random_directions(4, 2, 0)), U)
    assert [line.formula for line in chain.lines[1:]] == [
        "u → w_5", "round 4", "round 3", "round 2", "round 1: the promise",
    ]  # fmt: skip
    assert [line.reason for line in chain.lines[1:]] == [
        "(4) from (5): w_5 minimises f_1 + … + f_4 + R",
        "w_4 minimises f_1 + … + f_3 + R, w_5 need not",
        "w_3 minimises f_1 + f_2 + R, w_4 need not",
        "w_2 minimises f_1 + R, w_3 need not",
        "w_1 minimises R, w_2 need not (base case)",
    ]


@pytest.mark.parametrize("eta", [0.4, 2.5])
def test_the_chain_of_hedge_line_by_line(eta):
    losses = np.array([[0.3, 1.0, 0.0], [0.9, 0.1, 0.5], [0.2, 0.2, 0.7], [1.0, 0.0, 0.6]])
    trace = play(Hedge(3, eta), losses)
    p, L = trace.points, losses.sum(axis=0)
    mixed = [-log(sum(p[t][j] * exp(-eta * losses[t][j]) for j in range(3))) / eta for t in range(4)]
    paid = [dot(p[t], losses[t]) for t in range(4)]
    M = -log(sum(exp(-eta * x) for x in L) / 3) / eta
    gaps = sum(paid) - sum(mixed)
    agree(
        proofs.hedge(trace),
        [
            sum(paid) - min(L),
            gaps + M - min(L),
            gaps + log(3) / eta,
            eta * 4 / 8 + log(3) / eta,
        ],
    )


def test_hedge_wants_linear_losses_and_entropy():
    Z = np.array([[0.3, 1.0], [0.9, 0.1]])
    for trace in (
        replace(play(Hedge(2, 0.5), Z), losses=[Linear(z) for z in Z]),
        play(FTRL(Simplex(2), SquaredNorm(), 0.5), Z),
    ):
        with pytest.raises(ValueError, match=r"^trace must be one of "):
            proofs.hedge(trace)


# ---------------------------------------------------------------- mistakes

X = np.array([[1.0, 0.5], [-0.5, 1.0], [1.5, 0.25], [0.25, -1.0], [-1.0, -2.0], [0.5, 0.5]])
Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])


def by_hand(X, y, w):
    """The Perceptron once through the data: (w, the (x, y, w before) of each update)."""
    w, updates = np.array(w, dtype=float), []
    for x, label in zip(X, y, strict=True):
        if label * dot(w, x) <= 0:
            updates.append((x, label, w))
            w = w + label * x
    return w, updates


@pytest.mark.parametrize("sharp", [True, False])
def test_the_mistake_bound_of_lecture_13_line_by_line(sharp):
    radius, margin = 2.7, 0.35
    trace = play(Perceptron(2), perceptron_loss(X, Y))
    _, updates = by_hand(X, Y, [0, 0])
    M = len(updates)
    assert 2 < M < len(X) and trace.updates.sum() == M
    c, half = M * margin, 0.5 if sharp else 1.0
    along = sum(y * dot(U, x) for x, y, _ in updates)
    values = [
        c**2,
        c * along,
        c * along - sum(y * dot(w, x) for x, y, w in updates),
        half * sum(square(x) for x, _, _ in updates) + c**2 / 2 * square(U),
        half * M * radius**2 + c**2 / 2,
    ]
    agree(
        proofs.perceptron(trace, U, radius, margin, sharp),
        [(2 * value - c**2) / (M * margin**2) for value in values],
    )


def test_sharp_is_the_default():
    trace = play(Perceptron(2), perceptron_loss(X, Y))
    assert proofs.perceptron(trace, U, 2.7, 0.35) == proofs.perceptron(trace, U, 2.7, 0.35, sharp=True)


def test_the_mistake_bound_of_lecture_9_line_by_line():
    radius, margin = 2.7, 0.35
    trace = play(Perceptron(2), perceptron_loss(X, Y))
    w, updates = by_hand(X, Y, [0, 0])
    M, scale = len(updates), margin**2 * len(updates)
    for u in (U, -U):  # a line that is negative keeps its sign
        along = dot(w, u)
        agree(
            proofs.perceptron_direct(trace, u, radius, margin),
            [M, along * abs(along) / scale, square(w) / scale, radius**2 * M / scale],
        )


@pytest.mark.parametrize("start", [(0.0, 0.0), (-0.6, 0.9)], ids=["from 0", "from elsewhere"])
def test_growth_and_length_line_by_line(start):
    radius, margin = 2.7, 0.35
    trace = play(OGD(Space(2), 1.0, start=start), perceptron_loss(X, Y))
    w, updates = by_hand(X, Y, start)
    M, growth, length = len(updates), [margin * len(updates)], [square(w) - square(start)]
    for x, y, before in updates:
        growth.append(growth[-1] - margin + y * dot(U, x))
        length.append(length[-1] + radius**2 - (square(before + y * x) - square(before)))
    agree(proofs.perceptron_growth(trace, U, margin), growth)
    agree(proofs.perceptron_length(trace, radius), length)
    assert length[-1] == pytest.approx(radius**2 * M)
    rounds = 1 + np.flatnonzero(trace.updates)
    assert [line.formula for line in proofs.perceptron_length(trace, radius).lines[1:]] == [
        f"round {i} adds at most R²" for i in rounds
    ]
    assert [line.reason for line in proofs.perceptron_growth(trace, U, margin).lines[1:]] == [
        f"the margin of example {i} is ≥ γ" for i in rounds
    ]


def test_a_perceptron_that_never_errs_has_no_chain():
    trace = play(OGD(Space(2), 1.0, start=[9.0, 0.0]), perceptron_loss(X[:1], Y[:1]))
    with pytest.raises(ValueError, match="at least one update, got none"):
        proofs.perceptron_growth(trace, U, 1.0)


def test_the_perceptron_may_take_or_leave_a_tie_and_has_no_threshold():
    """kink 0 leaves it, kink 1 takes it: both make whole updates, which is all that the proof needs."""
    for kink, many in ((0.0, 1), (1.0, 2)):
        trace = play(
            OGD(Space(2), 1.0, start=[0.0, 1.0]), perceptron_loss([[1, 0], [0, 1]], [1, -1], kink=kink)
        )
        assert len(proofs.perceptron_growth(trace, U, 1.0).lines) == 1 + many
    trace = play(OGD(Space(2), 1.0), perceptron_loss(X, Y, threshold=0.5))
    with pytest.raises(ValueError, match=r"^trace must be one of the Perceptron"):
        proofs.perceptron_growth(trace, U, 1.0)


def test_the_chain_of_winnow_line_by_line():
    """Features 1 and 2 are relevant; n = 3, θ = 1.5."""
    on = np.array([[1, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    labels = np.where(on[:, :2].any(axis=1), 1.0, -1.0)
    theta, w, promoted, demoted, doubled = 1.5, np.ones(3), 0, 0, 0
    for x, y in zip(on, labels, strict=True):
        if y > 0 and dot(w, x) <= theta:
            promoted, doubled, w = promoted + 1, doubled + x[0] + x[1], np.where(x > 0, 2 * w, w)
        elif y < 0 and dot(w, x) >= theta:
            demoted, w = demoted + 1, np.where(x > 0, w / 2, w)
    trace = play(Winnow(3, theta), perceptron_loss(on, labels, theta))
    assert promoted and trace.updates.sum() == promoted + demoted
    for k in (1, 2):
        agree(
            proofs.winnow(trace, k),
            [
                promoted + demoted,
                2 * 3 / theta + 3 * promoted,
                2 * 3 / theta + 3 * trace.losses.X[trace.updates & (labels > 0), :k].sum(),
                2 * 3 / theta + 3 * k * (1 + log2(theta)),
            ],
        )
    assert proofs.winnow(trace, 2).values[2] == pytest.approx(4 + 3 * doubled)


@pytest.mark.parametrize("size", [1.0, 1.3])
def test_the_chain_of_normalised_winnow_line_by_line(size):
    eta, margin, n = 0.2, 0.3, 3
    on = np.array([[1.0, -0.5, 0.2], [-0.4, 1.0, -1.0], [0.3, 0.6, -0.9], [-1.0, 0.1, 0.5], [0.9, 0.8, 0.1]])
    labels = np.array([-1.0, -1.0, 1.0, -1.0, -1.0])
    trace = play(NormalizedWinnow(n, eta), perceptron_loss(on, labels))
    assert 1 < trace.updates.sum() < 5 and trace.updates[0] and trace.updates[-1]
    u, drop = np.array([0.2, 0.0, 0.8]), eta * margin - eta**2 * size**2 / 2

    def kl(w):
        return 0.2 * log(0.2 / w[0]) + 0.8 * log(0.8 / w[2])  # 0·log 0 is 0

    agree(
        proofs.normalized_winnow(trace, u, margin, size),
        [
            trace.updates.sum(),
            (kl(trace.points[0]) - kl(trace.last)) / drop,
            kl(np.full(3, 1 / 3)) / drop,
            log(3) / drop,
        ],
    )


def test_normalised_winnow_has_size_1_unless_told_and_a_step_below_its_end():
    trace = play(NormalizedWinnow(2, 0.5), perceptron_loss([[1.0, -1.0]], [1.0]))
    u = [1.0, 0.0]
    assert proofs.normalized_winnow(trace, u, 1.0) == proofs.normalized_winnow(trace, u, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"eta must be in \(0, 2γ/X²\) = \(0, 0.5\), got 0.5"):
        proofs.normalized_winnow(trace, u, 1.0, 2.0)


# ---------------------------------------------------------------- which traces, which words


def test_a_step_that_grows_even_once_is_refused():
    trace = play(DelayedOGD(Ball(2), lambda k: 1 / abs(k - 2.4), 1), CURVED)
    with pytest.raises(ValueError, match="steps that do not grow"):
        proofs.delayed(trace, U, 1.0, 1.0)


def test_one_round_is_enough_for_the_delayed_theorem():
    trace = play(DelayedOGD(Ball(2, 3.0), 0.25, 1), np.array([[2.0, 0.0]]))
    agree(
        proofs.delayed_constant(trace, [-1.0, 0.0], 3.0, 2.0),
        [2.0, 2.0, (1 - 0.25) / 0.5 + 0.5, 18.0 + 0.5, 18.0 + 0.5, 18.0 + 0.5],
    )


@pytest.mark.parametrize("start", [(-2.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("proof", [proofs.perceptron, proofs.perceptron_direct])
def test_a_mistake_bound_counts_from_0(proof, start):
    trace = play(OGD(Space(2), 1.0, start=start), perceptron_loss(X, Y))
    with pytest.raises(ValueError, match=r"^trace must start at 0"):
        proof(trace, U, 1.0, 0.2)


def test_a_chain_says_what_it_does():
    lazy = play(OGD(Ball(2), 0.3), CURVED)
    for proof, move in (
        (proofs.descent, "Cauchy–Schwarz; projection does not expand"),
        (proofs.descent_sharp, "ab − a²/2η ≤ ηb²/2"),
    ):
        reasons = [line.reason for line in proof(lazy, U, 1.0, 1.0).lines]
        assert reasons[2].startswith("Theorem 1 on the surrogates") and reasons[3] == move
    late = play(DelayedOGD(Ball(2), inverse(1.0), 1), CURVED)
    bent = [
        " − (H/2)‖w_s − u‖²" in line.formula for line in proofs.delayed_strongly_convex(late, U, 1, 1).lines
    ]
    straight = [" − (H/2)" in line.formula for line in proofs.delayed(late, U, 1, 1).lines]
    assert bent == [False, True, True, False, False, False] and not any(straight)
    trace = play(Perceptron(2), perceptron_loss(X, Y))
    for sharp, title, third, last in (
        (True, "The mistake bound, the sharp chain", "(10) ½ Σ ‖z_t‖² + ½ ‖cu‖²", "(R/γ)²"),
        (False, "The mistake bound, with (10) as printed", "(10) Σ ‖z_t‖² + ½ ‖cu‖²", "2 (R/γ)²"),
    ):
        chain = proofs.perceptron(trace, U, 1.0, 0.2, sharp)
        assert (chain.title, chain.lines[3].formula, chain.lines[4].formula) == (title, third, last)


# ---------------------------------------------------------------- a chain


def test_a_chain_forgives_in_proportion_to_its_largest_line():
    def falls(by, size):
        return proofs.Chain("", (proofs.Line(-size, "a"), proofs.Line(0.0, "b"), proofs.Line(-by, "c")))

    assert falls(0.9e-9, 0.5).holds() and not falls(1.1e-9, 0.5).holds()
    assert falls(0.9e-6, 1e3).holds() and not falls(1.1e-6, 1e3).holds()
    assert falls(0.25, 0.5).holds(tol=0.25), "the limit itself is forgiven"


def test_indices_are_lowered():
    assert proofs.subscripts("w_{t+1} ≤ z_12 + x", "<", ">") == "w<t+1> ≤ z<12> + x"
