"""A proof chain starts at the regret, never steps down and ends at the promise; it catches a learner that
cheats and refuses one of another theorem."""

from dataclasses import replace

import numpy as np
import pytest

from ocolib import bounds, oracle, proofs
from ocolib.adversaries import all_signs, alternating, orthogonal, random_directions, separable
from ocolib.game import play
from ocolib.learners import FTL, FTRL, OGD, DelayedOGD, Hedge, Linearized, Perceptron, inverse, inverse_sqrt
from ocolib.losses import Linear, Quadratic, hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, L1Ball, Orthant, Simplex, Space

INTERVAL = Box([-1.0], [1.0])


GAMES = [
    (INTERVAL, SquaredNorm(), alternating(9)),
    (Ball(3), SquaredNorm(), random_directions(12, 3, 0)),
    (L1Ball(3), SquaredNorm([0.1, 0.2, 0.3]), random_directions(12, 3, 1)),
    (Simplex(3), NegativeEntropy(), random_directions(12, 3, 2)),
    (Ball(2), SquaredNorm(), [Quadratic(c, 2.0) for c in random_directions(8, 2, 3, rho=2.0)]),
    (Ball(2), SquaredNorm(), [Linear([1.0, 0.5]), Quadratic([0.0, 1.0]), Linear([-2.0, 0.0])]),
]


@pytest.mark.parametrize(("over", "R", "losses"), GAMES)
@pytest.mark.parametrize("eta", [0.1, 1.0])
def test_theorem1_goes_from_the_regret_to_the_promise_without_a_step_down(over, R, losses, eta):
    trace = play(FTRL(over, R, eta), losses)
    for u in over.minimize_linear(random_directions(6, over.dim, 4)):
        chain = proofs.ftrl_stability(trace, u)
        assert chain.holds()
        assert len(chain.lines) == trace.rounds + 2
        assert chain.values[0] == pytest.approx(trace.regret(against=u))
        assert chain.values[-1] == pytest.approx(bounds.ftrl_stability(trace, u))


def test_the_lines_of_theorem1_are_the_lines_of_the_induction():
    """After round t is done, the line is Σ_{s<t} f_s(w_s) − f_s(w_t) + Σ_{s≥t} f_s(w_s) − f_s(w_{s+1}) + …"""
    Z, eta, u = random_directions(5, 2, 7), 0.7, np.array([0.6, 0.8])
    R, trace = SquaredNorm(), play(FTRL(Ball(2), SquaredNorm(), eta), Z)
    w, T = proofs.plays(trace), 5
    chain = proofs.ftrl_stability(trace, u)
    for row, t in enumerate(range(T + 1, 0, -1), start=1):
        led = sum(Z[s] @ (w[s] - w[t - 1]) for s in range(t - 1))
        moved = sum(Z[s] @ (w[s] - w[s + 1]) for s in range(t - 1, T))
        assert chain.values[row] == pytest.approx(led + moved + (R.value(u) - R.value(w[t - 1])) / eta)


@pytest.mark.parametrize("eta", [0.3, 1.0, 3.0])
def test_no_round_of_theorem1_steps_down_in_any_of_all_games(eta):
    trace = play(FTRL(INTERVAL, SquaredNorm(), eta), all_signs(10))
    slacks = proofs.ftrl_stability_slacks(trace)
    assert slacks.shape == (1024, 10)
    assert slacks.min() >= -1e-12
    assert slacks.max() > 0.1
    one = play(FTRL(INTERVAL, SquaredNorm(), eta), all_signs(10)[337])
    np.testing.assert_allclose(proofs.ftrl_stability_slacks(one), slacks[337], atol=1e-14)


def test_both_ways_to_sum_the_past_agree():
    Z = random_directions(6, 2, 8)
    trace = play(FTRL(Ball(2), SquaredNorm(), 0.5), Z)
    listed = replace(trace, losses=[Linear(z) for z in Z])
    np.testing.assert_allclose(
        proofs.ftrl_stability_slacks(listed),
        proofs.ftrl_stability_slacks(trace),
        atol=1e-13,
    )


def test_theorem1_holds_on_the_true_hinge_losses_solved_by_cvxpy():
    X, y, u = separable(8, 2, 0.1, 1)
    trace = play(oracle.FTRL(Ball(2, 3.0), SquaredNorm(), 2.0), hinge(X, y))
    chain = proofs.ftrl_stability(trace, u)
    assert chain.holds(tol=1e-6)
    assert chain.values[-1] == pytest.approx(bounds.ftrl_stability(trace, u))


class FalseStart(FTRL):
    """FTRL, except that its first play is 1, which is not the minimiser of R."""

    def points(self, Z):
        w = super().points(Z)
        w[0] = 1.0
        return w


def test_a_missing_base_case_shows_as_a_negative_slack():
    cheat = play(FalseStart(INTERVAL, SquaredNorm(), 1.0), np.array([[-0.1], [0.1]]))
    chain = proofs.ftrl_stability(cheat, [0.0])
    assert not chain.holds()
    assert np.argmin(chain.slacks) == len(chain.slacks) - 1
    assert chain.slacks[-1] < -0.4
    assert (chain.slacks[:-1] >= -1e-12).all()


def test_a_leader_who_climbs_shows_as_negative_slacks():
    """The sign of the lecture's box, taken literally."""
    Z = np.ones((4, 1))
    honest = play(FTRL(INTERVAL, SquaredNorm(), 0.2), Z)
    wrong = replace(honest, points=-honest.points, paid=-honest.paid, last=-honest.last)
    assert proofs.ftrl_stability(honest, [-1.0]).holds()
    assert not proofs.ftrl_stability(wrong, [-1.0]).holds()


def test_holds_forgives_rounding_only():
    lines = [proofs.Line(1.0, "a"), proofs.Line(1.0 - 1e-8, "b")]
    assert not proofs.Chain("", tuple(lines)).holds()
    assert proofs.Chain("", tuple(lines)).holds(tol=1e-7)
    assert proofs.Chain("", (lines[0], proofs.Line(1.0 - 1e-12, "b"))).holds()


# ---------------------------------------------------------------- Theorem 2


@pytest.mark.parametrize(("proof", "share"), [(proofs.descent, 1.0), (proofs.descent_sharp, 0.5)])
@pytest.mark.parametrize("eta", [0.05, 0.5, 2.0])
def test_theorem2_goes_from_the_regret_to_the_promise_without_a_step_down(proof, share, eta):
    X, y, _ = separable(15, 3, 0.1, 0)
    ball = Ball(3)
    games = [
        random_directions(15, 3, 1),
        np.tile([0.6, 0.0, 0.8], (15, 1)),
        hinge(X, y),
        [Quadratic(c, 0.5) for c in random_directions(15, 3, 2)],
    ]
    traces = [play(OGD(ball, eta), losses) for losses in games]
    traces.append(play(OGD(ball, eta), orthogonal(), rounds=15))
    for trace in traces:
        rho = np.linalg.norm(trace.subgradients, axis=-1).max()
        for u in ball.minimize_linear(random_directions(5, 3, 3)):
            chain = proof(trace, u, 1.0, rho)
            assert chain.holds()
            assert chain.values[0] == pytest.approx(trace.regret(against=u))
            assert chain.values[-1] == pytest.approx(share * eta * 15 * rho**2 + 1 / (2 * eta))


def test_the_chains_of_theorem2_end_at_their_bounds():
    T, u = 16, np.array([1.0])
    for step, bound, proof in [
        (bounds.descent_step, bounds.descent, proofs.descent),
        (bounds.descent_sharp_step, bounds.descent_sharp, proofs.descent_sharp),
    ]:
        eta = step(1.0, 1.0, T)
        trace = play(OGD(INTERVAL, eta), all_signs(T)[12345])
        chain = proof(trace, u, 1.0, 1.0)
        assert chain.values[-1] == pytest.approx(bound(1.0, 1.0, T))


def test_the_sharp_chain_gives_nothing_away_in_the_worst_game():
    T = 4
    eta = bounds.descent_sharp_step(1.0, 1.0, T)
    games = all_signs(T)
    worst = games[np.argmax(play(OGD(INTERVAL, eta), games).regret(INTERVAL))]
    u = INTERVAL.minimize_linear(worst.sum(axis=0))
    chain = proofs.descent_sharp(play(OGD(INTERVAL, eta), worst), u, 1.0, 1.0)
    np.testing.assert_allclose(chain.slacks, 0.0, atol=1e-12)


def test_the_first_step_of_theorem2_is_free_for_linear_losses_only():
    linear = proofs.descent(play(OGD(Ball(2), 0.5), random_directions(5, 2, 0)), [1, 0], 1.0, 1.0)
    assert linear.slacks[0] == pytest.approx(0.0, abs=1e-14)
    curved = proofs.descent(play(OGD(Ball(2), 0.5), [Quadratic([0.0, 1.0])] * 3), [1, 0], 1.0, 2.0)
    assert curved.slacks[0] > 0.1


@pytest.mark.parametrize("eta", [0.1, 2.0])
def test_theorem2_measures_from_the_start_wherever_that_is(eta):
    over, start = Simplex(3), np.array([0.0, 0.0, 1.0])
    B = over.farthest(start)
    trace = play(OGD(over, eta, start=start), random_directions(20, 3, 5))
    for u in (start, *np.eye(3)):
        chain = proofs.descent_sharp(trace, u, B, 1.0)
        assert chain.holds() and chain.values[0] == pytest.approx(trace.regret(against=u))
        assert chain.values[-1] == pytest.approx(eta * 20 / 2 + B**2 / (2 * eta))
        assert proofs.descent(trace, u, over.diameter, 1.0).holds()


def test_lazy_descent_is_a_leader_on_the_surrogates():
    """On linear losses it may be asked for Theorem 1, and FTRL for Theorem 2: the same plays and lines."""
    Z, u = random_directions(6, 2, 9), [0.6, -0.8]
    lazy = play(OGD(Ball(2), 0.4), Z)
    traces = [play(FTRL(Ball(2), SquaredNorm(), 0.4), Z), play(Linearized(lazy.learner.leader), Z)]
    for trace in traces:
        for proof in (lambda t: proofs.ftrl_stability(t, u), lambda t: proofs.descent(t, u, 2.0, 1.0)):
            np.testing.assert_allclose(proof(trace).values, proof(lazy).values, atol=1e-13)


# ---------------------------------------------------------------- a trace of another theorem


X, Y, U = separable(9, 2, 0.2, 3)
HINGE, LINEAR, PERCEPTRON = hinge(X, Y), random_directions(9, 2, 0), perceptron_loss(X, Y)
DISK, AWAY = Ball(2), Ball(2, 1.0, [3.0, 0.0])
LATE = np.array([0, 1] * 4 + [0])
OTHERS = [
    # Theorem 1 needs the leader of the losses themselves, with one step
    (lambda: proofs.ftrl_stability(play(OGD(DISK, 0.5), HINGE), U), "FTRL on the losses themselves"),
    (lambda: proofs.ftrl_stability(play(OGD(DISK, 0.5, "eager"), LINEAR), U), "FTRL on the losses"),
    (lambda: proofs.ftrl_stability_slacks(play(FTL(DISK), LINEAR)), r"FTRL .* got FTL"),
    (lambda: bounds.ftrl_stability(play(OGD(DISK, inverse_sqrt(1.0)), LINEAR), U), "a number eta"),
    (
        lambda: proofs.ftrl(play(Linearized(FTRL(DISK, SquaredNorm(), 1.0)), HINGE), U, 1),
        "FTRL on the losses",
    ),
    (lambda: proofs.hedge(play(FTRL(Simplex(2), SquaredNorm(), 1.0), LINEAR)), "one of Hedge"),
    (
        lambda: proofs.ftrl(play(FTRL(Orthant(2), UnnormalizedEntropy(), 1.0), LINEAR), [1, 1], 1),
        "a strongly convex regulariser",
    ),
    # Theorem 2 needs lazy descent from a point of the set
    (lambda: proofs.descent(play(OGD(DISK, 0.5, "eager"), HINGE), U, 2, 1), "lazy descent"),
    (lambda: proofs.descent_sharp(play(OGD(DISK, inverse_sqrt(1.0)), HINGE), U, 1, 1), "a number eta"),
    (lambda: proofs.descent(play(oracle.FTRL(DISK, SquaredNorm()), HINGE[:2]), U, 2, 1), "lazy descent"),
    (lambda: proofs.descent(play(OGD(AWAY, 0.5), HINGE), [3, 0], 2, 1), "in the set"),
    (lambda: proofs.descent(play(Hedge(2, 0.5), LINEAR), [1, 0], 2, 1), "lazy OGD"),
    # the steps of Lecture 4 and of Regret bounds
    (lambda: proofs.zinkevich(play(OGD(DISK, inverse_sqrt(1.0)), LINEAR), LINEAR, 2, 1), "eager OGD"),
    (lambda: proofs.zinkevich(play(OGD(DISK, 0.5, "eager"), LINEAR), LINEAR, 2, 1), "inverse_sqrt"),
    (lambda: proofs.strongly_convex(play(OGD(DISK, inverse_sqrt(1.0), "eager"), LINEAR), U, 1), "inverse"),
    (lambda: proofs.strongly_convex_slacks(play(OGD(DISK, inverse(1.0)), LINEAR), U, 1), "eager OGD"),
    (lambda: bounds.strongly_convex_seen(play(DelayedOGD(DISK, inverse(1.0), 1), LINEAR)), "eager OGD"),
    (lambda: proofs.delayed(play(OGD(DISK, 0.5, "eager"), LINEAR), U, 2, 1), "one of DelayedOGD"),
    (lambda: proofs.delayed(play(DelayedOGD(DISK, np.sqrt, 1), LINEAR), U, 2, 1), "do not grow"),
    (
        lambda: proofs.delayed_constant(play(DelayedOGD(DISK, inverse(1.0), 1), LINEAR), U, 1, 1),
        "constant step",
    ),
    (lambda: proofs.delayed_strongly_convex(play(DelayedOGD(DISK, 0.1, 1), LINEAR), U, 2, 1), "curvature"),
    (
        lambda: proofs.delayed_strongly_convex(play(DelayedOGD(DISK, inverse(1.0), LATE), LINEAR), U, 2, 1),
        "one delay",
    ),
    # mistakes
    (lambda: proofs.perceptron(play(OGD(Space(2), 0.5), PERCEPTRON), U, 1, 0.2), "the Perceptron"),
    (lambda: proofs.perceptron(play(OGD(DISK, 1.0), PERCEPTRON), U, 1, 0.2), "the Perceptron"),
    (lambda: proofs.perceptron(play(OGD(Space(2), 1.0), HINGE), U, 1, 0.2), "the Perceptron"),
    (lambda: proofs.perceptron_length(play(Perceptron(2, kink=0.5), PERCEPTRON), 1), "full updates"),
    (
        lambda: proofs.perceptron_growth(play(OGD(Space(2), 1.0), PERCEPTRON.regularized(0.5)), U, 1),
        "the Perceptron",
    ),
    (
        lambda: proofs.perceptron_direct(play(OGD(Space(2), 1.0, start=-5 * U), PERCEPTRON), U, 1, 0.2),
        "start at 0",
    ),
    (lambda: proofs.winnow(play(Perceptron(2), PERCEPTRON), 1), "Winnow with factor 2"),
    (lambda: proofs.normalized_winnow(play(Perceptron(2), PERCEPTRON), U, 0.2), "NormalizedWinnow"),
]


@pytest.mark.parametrize(
    ("call", "words"), OTHERS, ids=[f"{i}: {words}" for i, (_, words) in enumerate(OTHERS)]
)
def test_a_chain_refuses_a_trace_of_another_theorem(call, words):
    with pytest.raises(ValueError, match=rf"^trace must .*{words}"):
        call()


def test_the_growth_of_the_perceptron_is_proved_from_any_start():
    trace = play(OGD(Space(2), 1.0, start=-5 * U), PERCEPTRON)
    margin = (Y * (X @ U)).min()
    growth, length = proofs.perceptron_growth(trace, U, margin), proofs.perceptron_length(trace, 1.0)
    assert growth.holds() and growth.values[-1] == pytest.approx(trace.last @ U + 5)
    assert length.holds() and length.values[0] == pytest.approx(trace.last @ trace.last - 25)


# ---------------------------------------------------------------- how a chain reads


def test_a_chain_reads_as_a_table():
    chain = proofs.Chain("A <title>", (proofs.Line(1.0, "a < b"), proofs.Line(3.5, "c", "since & so")))
    text = repr(chain)
    assert text.splitlines()[0] == "A <title>"
    assert [line.split() for line in text.splitlines()[1:]] == [
        ["line", "value", "slack", "reason"],
        ["a", "<", "b", "1.000000"],
        ["≤", "c", "3.500000", "2.500000", "since", "&", "so"],
    ]
    html = chain._repr_html_()
    assert "<caption>A &lt;title&gt;</caption>" in html
    assert "<td>a &lt; b</td>" in html
    assert (
        "<td>≤ c</td><td class='num'>3.500000</td><td class='num'>2.500000</td><td>since &amp; so</td>"
        in html
    )
    assert html.count("<tr>") == 3


def test_no_table_shows_a_negative_zero():
    chain = proofs.Chain("", (proofs.Line(-1e-12, "a"), proofs.Line(-0.0, "b"), proofs.Line(-1e-5, "c")))
    assert "-0.000000" not in repr(chain)
    assert "-0.000010" in repr(chain)
