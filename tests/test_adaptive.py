"""AdaGrad and AdaHedge: against short loops, their theorems by hand, and what an unbounded set costs."""

from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest

from ocolib import theorems
from ocolib.adaptive import AdaGrad, AdaHedge
from ocolib.game import play
from ocolib.learners import Hedge
from ocolib.losses import hinge
from ocolib.sets import Ball, Box, Simplex, Space
from ocolib.testing import check_learner, check_theorem

INTERVAL = Box([-1.0], [1.0])
BOX = Box([-1.0, 0.0], [1.0, 3.0])


# ---------------------------------------------------------------- AdaGrad


@pytest.mark.parametrize(
    "learner",
    [
        AdaGrad(INTERVAL),
        AdaGrad(Ball(3), start=[0.5, 0.0, 0.0]),
        AdaGrad(BOX, diagonal=True),
        AdaGrad(Space(2), scale=1.5),
        AdaGrad(Space(2), diagonal=True, scale=[1.0, 2.0]),
        AdaGrad(Simplex(3)),
        AdaHedge(2),
        AdaHedge(4),
    ],
    ids=repr,
)
def test_they_keep_the_rules_of_the_game(learner):
    check_learner(learner)


@pytest.mark.parametrize("diagonal", [False, True])
def test_adagrad_in_six_lines(diagonal):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((40, 2)) * [1.0, 30.0]
    Z[:3, 1] = 0.0
    w, seen, plays = np.array([0.5, 1.0]), np.zeros(2), [np.array([0.5, 1.0])]
    for z in Z:
        seen = seen + (z**2 if diagonal else z @ z)
        size = np.array([2.0, 3.0]) if diagonal else sqrt(13)
        step = [s / sqrt(2 * q) if q else 0.0 for s, q in zip(np.ones(2) * size, seen, strict=True)]
        w = np.clip(w - step * z, [-1, 0], [1, 3])
        plays.append(w)
    learner = AdaGrad(BOX, diagonal, start=[0.5, 1.0])
    assert play(learner, Z).plays == pytest.approx(np.array(plays))
    assert learner.step_sizes(Z)[-1] == pytest.approx(step if diagonal else step[:1])
    assert play(learner, np.stack([Z, -Z])).plays[0] == pytest.approx(np.array(plays))


def test_adagrad_sees_data_as_any_first_order_learner():
    rng = np.random.default_rng(1)
    losses = hinge(rng.standard_normal((30, 2)), rng.choice([-1.0, 1.0], 30))
    trace = play(AdaGrad(Ball(2)), losses)
    w, seen = np.zeros(2), 0.0
    for x, y, played in zip(losses.X, losses.y, trace.points, strict=True):
        assert played == pytest.approx(w)
        z = -y * x if y * (w @ x) < 1 else np.zeros(2)
        seen += z @ z
        w = w - sqrt(2) / sqrt(seen) * z
        w = w / max(1.0, np.linalg.norm(w))


def test_the_first_step_has_the_same_length_for_every_gradient():
    for size in (1e-9, 1.0, 1e6):
        first = play(AdaGrad(Ball(2)), size * np.array([[0.6, -0.8]])).last
        assert first == pytest.approx([-0.6, 0.8]), "D/√2 = 1.41 beyond the ball, and projected"
        inside = play(AdaGrad(Ball(2), scale=0.5), size * np.array([[0.6, -0.8]])).last
        assert inside == pytest.approx([-0.3, 0.4])


def test_nothing_moves_before_the_first_gradient():
    trace = play(AdaGrad(INTERVAL, start=[0.25]), np.array([[0.0], [0.0], [-1.0]]))
    assert trace.plays[:, 0] == pytest.approx([0.25, 0.25, 0.25, 1.0])


@pytest.mark.parametrize("learner", [AdaGrad(BOX), AdaGrad(BOX, diagonal=True)])
def test_the_scale_of_the_losses_does_not_matter(learner):
    Z = np.random.default_rng(2).standard_normal((50, 2))
    assert play(learner, 1000 * Z).plays == pytest.approx(play(learner, Z).plays)
    one, two = play(learner, Z * [1.0, 1000.0]).plays, play(learner, Z).plays
    assert np.allclose(one, two) == learner.diagonal, "the diagonal form ignores the unit of each coordinate"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: AdaGrad(Space(2)), "scale must be given on an unbounded set"),
        (lambda: AdaGrad(Ball(2), diagonal=True), "diagonal AdaGrad needs a Box or a Space"),
        (lambda: AdaGrad(Ball(2), scale=-1.0), "scale must be finite and ≥ 0"),
        (lambda: AdaGrad(Ball(2), scale=np.inf), "scale must be finite and ≥ 0"),
        (lambda: AdaGrad(Ball(2), scale=[1.0, 2.0]), r"scale must have shape \(\)"),
        (lambda: AdaGrad(Ball(2), start=[2.0, 0.0]), "start must lie in"),
        (lambda: AdaHedge(1), "n must be an integer ≥ 2"),
        (lambda: theorems.AdaGradDiagonal([1.0], [1.0, 2.0]), "the same shape"),
        (lambda: theorems.AdaGradDiagonal([1.0], [0.0]), "totals must be ≥ 0 and not all 0"),
    ],
)
def test_what_is_refused(made, words):
    with pytest.raises(ValueError, match=words):
        made()


def test_without_a_set_the_regret_against_zero_grows_faster_than_linearly():
    """g = −1 for k rounds, then +1 for 3k: about T^(3/2)/6."""
    for T, value in ((40, 22), (400, 1071)):
        Z = np.where(np.arange(T) < T // 4, -1.0, 1.0)[:, None]
        trace = play(AdaGrad(Space(1), scale=1.0), Z)
        w, paid = 0.0, 0.0
        for t, z in enumerate(Z[:, 0], start=1):
            paid += z * w
            w -= z / sqrt(t)
        assert trace.regret(against=[0.0]) == pytest.approx(paid) and paid == pytest.approx(value, abs=0.6)
    assert paid / T**1.5 == pytest.approx(1 / 6, abs=0.04)


def test_two_rounds_from_an_end():
    """(1 + x(1 − 1/√2))/√(1 + x²) is largest at x = 1 − 1/√2, where it is √(5/2 − √2)."""
    for x in np.linspace(0.0, 2.0, 41):
        trace = play(AdaGrad(Box([0.0], [1.0]), start=[1.0]), np.array([[1.0], [x]]))
        assert trace.regret() / sqrt(1 + x**2) <= sqrt(2.5 - sqrt(2)) + 1e-12
    x = 1 - 1 / sqrt(2)
    trace = play(AdaGrad(Box([0.0], [1.0]), start=[1.0]), np.array([[1.0], [x]]))
    assert trace.regret() / sqrt(1 + x**2) == pytest.approx(sqrt(2.5 - sqrt(2)))


# ---------------------------------------------------------------- AdaHedge


def by_hand(losses):
    """(plays, Δ) of AdaHedge with logarithms written out."""
    n = losses.shape[1]
    L, total, plays = np.zeros(n), 0.0, []
    for loss in losses:
        if total == 0:
            p = (min(L) == L) / np.sum(min(L) == L)
            mixed = min(L + loss) - min(L)
        else:
            eta = log(n) / total
            p = np.array([exp(-eta * (x - min(L))) for x in L])
            p = p / p.sum()
            mixed = -log(sum(q * exp(-eta * x) for q, x in zip(p, loss, strict=True))) / eta
        plays.append(p)
        total += p @ loss - mixed
        L = L + loss
    return np.array(plays), total


def test_adahedge_by_hand():
    losses = np.random.default_rng(3).uniform(-1, 2, (60, 4))
    plays, total = by_hand(losses)
    assert play(AdaHedge(4), losses).points == pytest.approx(plays)
    assert AdaHedge(4).gaps(losses).sum() == pytest.approx(total)
    both = np.stack([losses, 3 * losses])
    assert AdaHedge(4).gaps(both).sum(axis=-1) == pytest.approx([total, 3 * total])


def test_the_first_rounds_of_adahedge():
    """(0, 1) twice: pays ½ and Δ = ½; then η = 2 ln 2, and the weights are (4/5, 1/5)."""
    trace = play(AdaHedge(2), np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert trace.points == pytest.approx(np.array([[0.5, 0.5], [0.8, 0.2]]))
    assert trace.regret() == pytest.approx(0.7)


def test_scale_and_offset_of_the_losses_do_not_matter():
    losses = np.random.default_rng(4).uniform(0, 1, (50, 3))
    plays = play(AdaHedge(3), losses).points
    for other in (1e6 * losses, 1e-6 * losses, losses - 7.0):
        assert play(AdaHedge(3), other).points == pytest.approx(plays, abs=1e-6)


def test_a_huge_step_is_followed_without_a_warning():
    losses = np.array([[0.0, 1e-12], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    with np.errstate(all="raise", under="ignore"):
        trace = play(AdaHedge(2), losses)
    assert trace.points == pytest.approx(by_hand(losses)[0])


def test_the_worst_short_games_of_adahedge():
    for T, worst in ((1, 0.5), (2, 0.7), (3, 0.8), (4, 1.0886), (5, 1.2519)):
        games = np.array(
            [[[0.0, 1.0] if b else [1.0, 0.0] for b in bits] for bits in product((1, 0), repeat=T)]
        )
        assert play(AdaHedge(2), games).regret().max() == pytest.approx(worst, abs=1e-4)


# ---------------------------------------------------------------- the theorems


@pytest.mark.parametrize("theorem", [theorems.AdaGrad, theorems.AdaGradDiagonal, theorems.AdaHedge])
def test_the_theorems(theorem):
    check_theorem(theorem)


def test_the_chain_of_adagrad_line_by_line():
    Z, u = np.array([[0.0], [2.0], [-1.0], [2.0]]), np.array([-1.0])
    trace = play(AdaGrad(INTERVAL), Z)
    eta = [0.0, 2 / sqrt(2 * 4), 2 / sqrt(2 * 5), 2 / sqrt(2 * 9)]
    w = [0.0]
    for z, step in zip(Z[:, 0], eta, strict=True):
        w.append(min(1.0, max(-1.0, w[-1] - step * z)))
    far = [(x + 1) ** 2 for x in w]
    noise = sum(e * z**2 for e, z in zip(eta, Z[:, 0], strict=True)) / 2
    regret = sum(z * (x + 1) for z, x in zip(Z[:, 0], w, strict=False))
    drop = sum((far[t] - far[t + 1]) / (2 * eta[t]) for t in (1, 2, 3))
    lines = [regret, regret, drop + noise, 4 / (2 * eta[3]) + noise, sqrt(2) * 2 * 3, sqrt(2) * 2 * 3]
    chain = theorems.AdaGrad.of(trace).chain(trace, u)
    assert chain.values == pytest.approx(lines) and chain.holds()


def test_the_chain_of_diagonal_adagrad_is_a_sum_over_coordinates():
    Z, u = np.array([[1.0, 0.0], [-1.0, 20.0], [1.0, 0.0], [1.0, -5.0]]), np.array([-1.0, 3.0])
    trace = play(AdaGrad(BOX, diagonal=True), Z)
    chain = theorems.AdaGradDiagonal.of(trace).chain(trace, u)
    parts = []
    for i, width in ((0, 2.0), (1, 3.0)):
        one = Box([BOX.low[i]], [BOX.high[i]])
        alone = play(AdaGrad(one), Z[:, i : i + 1])
        assert alone.points[:, 0] == pytest.approx(trace.points[:, i])
        parts.append(theorems.AdaGrad(width, float((Z[:, i] ** 2).sum())).chain(alone, u[i : i + 1]).values)
    assert chain.values == pytest.approx(sum(parts)) and chain.holds()


def test_the_chain_of_adahedge_line_by_line():
    losses = np.array([[0.3, 1.0, 0.0], [0.9, 0.1, 0.5], [0.2, 0.2, 0.7], [1.0, 0.0, 0.6]])
    trace = play(AdaHedge(3), losses)
    plays, total = by_hand(losses)
    before, L = by_hand(losses[:-1])[1], losses.sum(axis=0)
    eta = log(3) / before
    M = -log(sum(exp(-eta * x) for x in L) / 3) / eta
    regret = sum(p @ x for p, x in zip(plays, losses, strict=True)) - min(L)
    lines = [regret, total + M - min(L), total + before, 2 * total, 1 + sqrt(1 + 4 * log(3))]
    chain = theorems.AdaHedge(3, 4).chain(trace)
    assert chain.values == pytest.approx(lines) and chain.holds()


def test_the_square_of_the_gaps_grows_slowly():
    """Δ_t² − Δ_{t−1}² ≤ ln(n)/4 + δ_t, the line on which the bound of AdaHedge rests."""
    rng = np.random.default_rng(5)
    for losses in (rng.uniform(0, 1, (200, 3)), rng.integers(0, 2, (200, 3)).astype(float)):
        gaps = AdaHedge(3).gaps(losses)
        total = np.cumsum(gaps)
        assert (np.diff(np.append(0.0, total**2)) <= log(3) / 4 + gaps + 1e-12).all() and gaps.max() <= 1


def test_adahedge_beats_its_bound_on_easy_losses():
    losses = (np.random.default_rng(6).random((1000, 2)) < [0.2, 0.6]).astype(float)
    trace = play(AdaHedge(2), losses)
    assert 2 * AdaHedge(2).gaps(losses).sum() < 10 < theorems.AdaHedge(2, 1000).bound
    assert trace.regret() < play(Hedge(2, theorems.Hedge(2, 1000).step), losses).regret()


def test_no_smaller_constant_will_do_for_adagrad():
    shares = []
    for T in (200, 2000, 20_000):
        stated, trace, u = theorems.AdaGrad.worst(T)
        shares.append(stated.measure(trace, u) / stated.bound)
    assert shares == sorted(shares) and 0.97 < shares[-1] < 1


@pytest.mark.parametrize("scale", [[1.0, -1.0], [1.0, np.inf], [np.nan, 1.0]])
def test_one_bad_scale_among_good_ones_is_refused(scale):
    with pytest.raises(ValueError, match="scale"):
        AdaGrad(Space(2), scale=scale, diagonal=True)


def test_a_coordinate_without_slopes_adds_nothing_to_the_diagonal_bound():
    alone = theorems.AdaGradDiagonal([2.0], [9.0]).bound
    assert theorems.AdaGradDiagonal([2.0, 5.0], [9.0, 0.0]).bound == alone


def test_many_games_of_adahedge_at_once_are_the_games_one_by_one():
    Z = np.random.default_rng(1).standard_normal((3, 6, 2)) * np.array([1.0, 50.0, 0.01])[:, None, None]
    together = play(AdaHedge(2), Z)
    for games, each in zip(Z, together.points, strict=True):
        np.testing.assert_allclose(each, play(AdaHedge(2), games).points, rtol=1e-12)


@pytest.mark.parametrize("diagonal", [False, True])
def test_many_games_of_adagrad_at_once_are_the_games_one_by_one(diagonal):
    Z = np.random.default_rng(1).standard_normal((3, 5, 2)) * np.array([1.0, 50.0, 0.01])[:, None, None]
    learner = AdaGrad(Box([-1, -1], [1, 1]), 0.7, diagonal)
    for games, each in zip(Z, play(learner, Z).points, strict=True):
        np.testing.assert_allclose(each, play(learner, games).points, rtol=1e-12)
