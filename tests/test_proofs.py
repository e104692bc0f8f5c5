"""A proof chain adds up, never steps down, ends at the promise, and catches a learner that cheats."""

import numpy as np
import pytest

from ocolib import bounds, oracle, proofs
from ocolib.adversaries import all_signs, alternating, orthogonal, random_directions, separable
from ocolib.game import play
from ocolib.learners import FTRL, OGD
from ocolib.losses import Linear, Quadratic, hinge
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Box, L1Ball, Simplex

INTERVAL = Box([-1.0], [1.0])


def sound(chain, tol=1e-9):
    assert chain.holds(tol)
    assert (chain.slacks >= -tol * max(1.0, np.abs(chain.values).max())).all()
    assert chain.slacks.sum() == pytest.approx(chain.values[-1] - chain.values[0], abs=1e-9)
    return True


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
        chain = proofs.theorem1(trace, R, eta, u)
        assert sound(chain)
        assert len(chain.lines) == trace.rounds + 2
        assert chain.values[0] == pytest.approx(trace.regret(against=u))
        assert chain.values[-1] == pytest.approx(bounds.ftrl_stability(trace, R, eta, u))


def test_the_lines_of_theorem1_are_the_lines_of_the_induction():
    """After round t is done, the line is Σ_{s<t} f_s(w_s) − f_s(w_t) + Σ_{s≥t} f_s(w_s) − f_s(w_{s+1}) + …"""
    Z, eta, u = random_directions(5, 2, 7), 0.7, np.array([0.6, 0.8])
    R, trace = SquaredNorm(), play(FTRL(Ball(2), SquaredNorm(), eta), Z)
    w, T = proofs.plays(trace), 5
    chain = proofs.theorem1(trace, R, eta, u)
    for row, t in enumerate(range(T + 1, 0, -1), start=1):
        led = sum(Z[s] @ (w[s] - w[t - 1]) for s in range(t - 1))
        moved = sum(Z[s] @ (w[s] - w[s + 1]) for s in range(t - 1, T))
        assert chain.values[row] == pytest.approx(led + moved + (R.value(u) - R.value(w[t - 1])) / eta)


@pytest.mark.parametrize("eta", [0.3, 1.0, 3.0])
def test_no_round_of_theorem1_steps_down_in_any_of_all_games(eta):
    trace = play(FTRL(INTERVAL, SquaredNorm(), eta), all_signs(10))
    slacks = proofs.leader_slacks(trace, SquaredNorm(), eta)
    assert slacks.shape == (1024, 10)
    assert slacks.min() >= -1e-12
    assert slacks.max() > 0.1
    one = play(FTRL(INTERVAL, SquaredNorm(), eta), all_signs(10)[337])
    np.testing.assert_allclose(proofs.leader_slacks(one, SquaredNorm(), eta), slacks[337], atol=1e-14)


def test_both_ways_to_sum_the_past_agree():
    Z = random_directions(6, 2, 8)
    trace = play(FTRL(Ball(2), SquaredNorm(), 0.5), Z)
    listed = type(trace)(
        trace.learner, [Linear(z) for z in Z], trace.points, trace.subgradients, trace.paid, trace.last
    )
    np.testing.assert_allclose(
        proofs.leader_slacks(listed, SquaredNorm(), 0.5),
        proofs.leader_slacks(trace, SquaredNorm(), 0.5),
        atol=1e-13,
    )


def test_theorem1_holds_on_the_true_hinge_losses_solved_by_cvxpy():
    X, y, u = separable(8, 2, 0.1, 1)
    trace = play(oracle.FTRL(Ball(2, 3.0), SquaredNorm(), 2.0), hinge(X, y))
    chain = proofs.theorem1(trace, SquaredNorm(), 2.0, u)
    assert sound(chain, tol=1e-6)
    assert chain.values[-1] == pytest.approx(bounds.ftrl_stability(trace, SquaredNorm(), 2.0, u))


class FalseStart:
    """FTRL, except that its first play is not the minimiser of R."""

    def __init__(self, leader, first):
        self.leader, self.first = leader, np.array(first)

    def points(self, Z):
        w = self.leader.points(Z)
        w[0] = self.first
        return w


def test_a_missing_base_case_shows_as_a_negative_slack():
    cheat = FalseStart(FTRL(INTERVAL, SquaredNorm(), 1.0), [1.0])
    chain = proofs.theorem1(play(cheat, np.array([[-0.1], [0.1]])), SquaredNorm(), 1.0, [0.0])
    assert not chain.holds()
    assert np.argmin(chain.slacks) == len(chain.slacks) - 1
    assert chain.slacks[-1] < -0.4
    assert (chain.slacks[:-1] >= -1e-12).all()


def test_a_leader_who_climbs_shows_as_negative_slacks():
    """The sign of the lecture's box, taken literally."""
    Z = np.ones((4, 1))
    honest = play(FTRL(INTERVAL, SquaredNorm(), 0.2), Z)
    wrong = type(honest)(None, Z, -honest.points, Z, -honest.paid, -honest.last)
    assert proofs.theorem1(honest, SquaredNorm(), 0.2, [-1.0]).holds()
    assert not proofs.theorem1(wrong, SquaredNorm(), 0.2, [-1.0]).holds()


def test_holds_forgives_rounding_only():
    lines = [proofs.Line(1.0, "a"), proofs.Line(1.0 - 1e-8, "b")]
    assert not proofs.Chain("", tuple(lines)).holds()
    assert proofs.Chain("", tuple(lines)).holds(tol=1e-7)
    assert proofs.Chain("", (lines[0], proofs.Line(1.0 - 1e-12, "b"))).holds()


# ---------------------------------------------------------------- Theorem 2


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("eta", [0.05, 0.5, 2.0])
def test_theorem2_goes_from_the_regret_to_the_promise_without_a_step_down(sharp, eta):
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
            chain = proofs.theorem2(trace, eta, u, rho, size=1.0, sharp=sharp)
            assert sound(chain)
            assert chain.values[0] == pytest.approx(trace.regret(against=u))
            assert chain.values[-1] == pytest.approx(
                (0.5 if sharp else 1.0) * eta * 15 * rho**2 + 1 / (2 * eta)
            )


def test_the_chains_of_theorem2_end_at_their_bounds():
    T, u = 16, np.array([1.0])
    for step, bound, sharp in [
        (bounds.osd_step, bounds.osd, False),
        (bounds.osd_sharp_step, bounds.osd_sharp, True),
    ]:
        eta = step(1.0, 1.0, T)
        trace = play(OGD(INTERVAL, eta), all_signs(T)[12345])
        chain = proofs.theorem2(trace, eta, u, 1.0, 1.0, sharp)
        assert chain.values[-1] == pytest.approx(bound(1.0, 1.0, T))


def test_the_sharp_chain_gives_nothing_away_in_the_worst_game():
    T = 4
    eta = bounds.osd_sharp_step(1.0, 1.0, T)
    games = all_signs(T)
    worst = games[np.argmax(play(OGD(INTERVAL, eta), games).regret(INTERVAL))]
    u = INTERVAL.minimize_linear(worst.sum(axis=0))
    chain = proofs.theorem2(play(OGD(INTERVAL, eta), worst), eta, u, 1.0, 1.0, sharp=True)
    np.testing.assert_allclose(chain.slacks, 0.0, atol=1e-12)


def test_the_first_step_of_theorem2_is_free_for_linear_losses_only():
    linear = proofs.theorem2(play(OGD(Ball(2), 0.5), random_directions(5, 2, 0)), 0.5, [1, 0], 1.0, 1.0)
    assert linear.slacks[0] == pytest.approx(0.0, abs=1e-14)
    curved = proofs.theorem2(play(OGD(Ball(2), 0.5), [Quadratic([0.0, 1.0])] * 3), 0.5, [1, 0], 2.0, 1.0)
    assert curved.slacks[0] > 0.1


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
