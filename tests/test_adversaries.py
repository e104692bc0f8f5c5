"""Adversaries do what their names say."""

from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from ocolib import adversaries
from ocolib.adversaries import (
    all_signs,
    alternating,
    disjunction,
    drifting,
    geometric_phases,
    nature,
    orthogonal,
    random_directions,
    separable,
    ties,
)
from ocolib.game import play
from ocolib.learners import FTL, OGD, Hedge, NormalizedWinnow, Winnow
from ocolib.sets import Ball, Box, Hull, Space


def test_alternating_is_example_2():
    np.testing.assert_array_equal(alternating(5)[:, 0], [-0.5, 1, -1, 1, -1])
    assert alternating(1).shape == (1, 1)
    leader = play(FTL(Box([-1], [1])), alternating(6))
    np.testing.assert_array_equal(leader.points[:, 0], [0, 1, -1, 1, -1, 1])


def test_all_signs_are_all_and_each_once():
    Z = all_signs(5)
    assert Z.shape == (32, 5, 1)
    assert set(Z.ravel()) == {-1.0, 1.0}
    assert len({tuple(row) for row in Z[..., 0].tolist()}) == 32


def test_random_directions_have_their_length_and_their_seed():
    Z = random_directions(50, 3, 1, rho=2.5, runs=(4,))
    assert Z.shape == (4, 50, 3)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=-1), 2.5)
    np.testing.assert_array_equal(Z, random_directions(50, 3, 1, rho=2.5, runs=(4,)))
    assert not np.array_equal(Z, random_directions(50, 3, 2, rho=2.5, runs=(4,)))
    assert np.abs(random_directions(4000, 2, 0).mean(axis=0)).max() < 0.05


@pytest.mark.parametrize("radius", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rho", [1.0, 3.0])
@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_no_learner_on_a_ball_beats_the_orthogonal_adversary(radius, rho, projection):
    T, ball = 40, Ball(3, radius)
    trace = play(OGD(ball, radius / (rho * np.sqrt(T)), projection), orthogonal(rho), rounds=T)
    np.testing.assert_allclose(np.linalg.norm(trace.subgradients, axis=-1), rho)
    sums = np.cumsum(trace.subgradients, axis=0)
    across = np.abs((sums[:-1] * trace.subgradients[1:]).sum(axis=-1))
    assert across.max() <= 1e-12 * rho**2 * T
    assert (trace.paid >= -1e-12 * rho * radius).all()
    assert np.linalg.norm(sums[-1]) == pytest.approx(rho * np.sqrt(T), rel=1e-12)
    assert trace.regret(ball) >= radius * rho * np.sqrt(T) * (1 - 1e-12)


def test_the_orthogonal_adversary_never_pays_the_learner_even_next_to_the_sum():
    for tilt in (1e-15, -1e-15, 1e-11, -1e-11):
        w = np.array([1.0, tilt])
        z = orthogonal()(2, w, np.array([[1.0, 0.0]]))
        np.testing.assert_allclose(z, [0.0, np.sign(tilt)], atol=1e-15)
        assert z @ w >= 0


def test_the_orthogonal_adversary_also_faces_plays_across_the_sum():
    trace = play(Hedge(4, 0.7), orthogonal(), rounds=30)
    sums = np.cumsum(trace.subgradients, axis=0)
    assert np.abs((sums[:-1] * trace.subgradients[1:]).sum(axis=-1)).max() <= 1e-12
    assert (trace.paid >= -1e-12).all()


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.7, 1.0])
def test_separable_examples_have_their_margin_and_lie_in_the_unit_ball(margin):
    X, y, u = separable(300, 5, margin, 0)
    assert np.linalg.norm(u) == pytest.approx(1.0)
    assert (y * (X @ u)).min() >= margin - 1e-12
    assert np.linalg.norm(X, axis=1).max() <= 1 + 1e-12
    assert set(y) == {-1.0, 1.0}
    if margin < 1:
        assert (y * (X @ u)).min() <= margin + 0.05
        assert np.linalg.norm(X - np.outer(X @ u, u), axis=1).max() > 0.3 * np.sqrt(1 - margin**2)


@pytest.mark.parametrize("relevant", [1, 3])
def test_disjunctions_are_labelled_by_their_relevant_variables(relevant):
    X, y = disjunction(2000, 10, relevant, 0)
    assert set(X.ravel()) == {0.0, 1.0}
    np.testing.assert_array_equal(y > 0, X[:, :relevant].sum(axis=1) > 0)
    assert abs((y > 0).mean() - 0.5) < 0.05


# ---------------------------------------------------------------- by hand


def row(losses):
    return "".join("+" if z > 0 else "-" for z in losses[:, 0])


def test_sequences_of_signs():
    assert alternating(5)[:, 0].tolist() == [-0.5, 1.0, -1.0, 1.0, -1.0]
    assert [row(game) for game in all_signs(2)] == ["--", "+-", "-+", "++"]
    assert row(geometric_phases(10, 2)) == "--++----++"
    assert row(geometric_phases(10, 2, 1.5)) == "--+-++----"
    assert row(geometric_phases(3, 5)) == "---"
    assert row(geometric_phases(9, 1, 3)) == "-++------"
    assert row(geometric_phases(16, 1)) == "-+--++++--------"
    assert row(geometric_phases(25)) == "-" * 10 + "+" * 10 + "-" * 5
    assert np.abs(geometric_phases(25)).tolist() == [[1.0]] * 25
    with pytest.raises(ValueError, match="ratio"):
        geometric_phases(5, 2, 1.0)


def test_signs_end_where_memory_does():
    with pytest.raises(ValueError, match="T must be ≤ 20"):
        all_signs(21)


def across_of(raw, u, length):
    """What is left of a vector without its part along u, of the given length."""
    rest = raw - sum(a * b for a, b in zip(raw, u, strict=True)) * u
    return rest / sqrt(sum(a * a for a in rest)) * length


@pytest.mark.parametrize(("T", "dim", "margin"), [(6, 2, 0.1), (5, 4, 0.5)])
def test_separable_examples_are_made_along_and_across(T, dim, margin):
    rng = np.random.default_rng(7)
    u = rng.standard_normal(dim)
    u = u / sqrt(sum(a * a for a in u))
    y, along, raw = rng.choice([-1.0, 1.0], T), rng.uniform(margin, 1.0, T), rng.standard_normal((T, dim))
    share = rng.uniform(0, 1, T)
    X = [y[t] * along[t] * u + across_of(raw[t], u, sqrt(1 - along[t] ** 2) * share[t]) for t in range(T)]
    found = separable(T, dim, margin, 7)
    for one, other in zip(found, (np.array(X), y, u), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize(("T", "dim", "turn"), [(6, 2, pi / 2), (5, 4, 7.0)])
def test_drifting_examples_follow_a_vector_that_turns(T, dim, turn):
    rng, margin = np.random.default_rng(3), 0.2
    y, along, raw = rng.choice([-1.0, 1.0], T), rng.uniform(margin, 1.0, T), rng.standard_normal((T, dim))
    share = rng.uniform(0, 1, T)
    angles = [turn * t / (T - 1) for t in range(T)]
    U = np.array([[cos(a), sin(a), *[0.0] * (dim - 2)] for a in angles])
    X = [
        y[t] * along[t] * U[t] + across_of(raw[t], U[t], sqrt(1 - along[t] ** 2) * share[t]) for t in range(T)
    ]
    found = drifting(T, dim, turn, margin, 3)
    for one, other in zip(found, (np.array(X), y, U), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_directions_have_their_length():
    Z = random_directions(4, 3, 5, 2.5, runs=(2, 6))
    raw = np.random.default_rng(5).standard_normal((2, 6, 4, 3))
    assert Z.shape == (2, 6, 4, 3)
    for z, v in zip(Z.reshape(-1, 3), raw.reshape(-1, 3), strict=True):
        np.testing.assert_allclose(z, 2.5 * v / sqrt(sum(a * a for a in v)))
    np.testing.assert_allclose(np.linalg.norm(random_directions(3, 2, 0), axis=1), 1.0)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_disjunction_is_true_half_the_time(k):
    X, y = disjunction(20_000, 4, k, 1)
    for x, label in zip(X[:200], y[:200], strict=True):
        assert label == (1.0 if any(x[:k]) else -1.0)
    assert set(X.ravel()) == {0.0, 1.0}
    assert X.mean() == pytest.approx(1 - 0.5 ** (1 / k), abs=0.01)
    assert (y > 0).mean() == pytest.approx(0.5, abs=0.02)
    with pytest.raises(ValueError, match="relevant must be ≤ dim = 4, got 5"):
        disjunction(5, 4, 5, 1)


def test_orthogonal_goes_across_the_past_and_uphill():
    adversary, none = orthogonal(2.0), np.zeros((0, 3))
    w = np.array([3.0, 0.0, -4.0])
    assert adversary(1, w, none) == pytest.approx([1.2, 0.0, -1.6])
    past = np.array([[0.0, 0.0, 1.0]])
    assert adversary(2, w, past) == pytest.approx([2.0, 0.0, 0.0])
    assert adversary(2, np.array([0.0, 0.0, 5.0]), past) == pytest.approx([2.0, 0.0, 0.0]), "any way across"
    assert adversary(2, np.array([0.0, 0.0, 5.0]), np.array([[1.0, 0, 1.0]]))[1] == pytest.approx(0.0)
    tilted = np.array([[3.0, 4.0, 0.0]])
    along = adversary(2, np.array([0.3, 0.4, 0.0]), tilted)
    assert along == pytest.approx([0.0, 0.0, 2.0]), "the axis least like the past"
    assert adversary(1, np.zeros(3), none) == pytest.approx([2.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="orthogonal needs dim ≥ 2"):
        adversary(1, np.ones(1), np.zeros((0, 1)))
    assert orthogonal()(1, np.array([0.0, 2.0]), np.zeros((0, 2))) == pytest.approx([0.0, 1.0])


def test_nature_says_the_opposite():
    adversary = nature(2.5)
    for t, w, label in ((1, [1.0, 0.0], -1.0), (2, [1.0, -0.5], 1.0), (1, [0.0, 3.0], -1.0)):
        loss = adversary(t, np.array(w), None)
        assert loss.x.tolist() == [2.5 * (t == 1), 2.5 * (t == 2)] and loss.y == label
    assert nature()(1, np.ones(1), None).x.tolist() == [1.0]
    with pytest.raises(ValueError, match="no e_3 is left"):
        adversary(3, np.ones(2), None)


@pytest.mark.parametrize(("kink", "margin"), [(1 / 3, 0.1), (1.0, 0.2), (0.5, 0.07)])
def test_ties_are_tied_first_and_then_just_wrong(kink, margin):
    X, y, u = ties(kink, margin)
    tied = int((1 + kink) / (4 * kink) / margin**2 * (1 - margin))
    assert X.shape[1] == int(2 / margin**2) and len(X) > tied and set(y) == {-1.0}
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    np.testing.assert_allclose(y * (X @ u), margin, atol=1e-12)
    assert np.linalg.norm(u) == pytest.approx(1.0) and (u[:tied] == margin).all() and not u[tied:-1].any()
    w = np.zeros(len(u))
    for t, x in enumerate(X):
        assert -x @ w == pytest.approx(0.0 if t < tied else -1e-9, abs=1e-13)
        w = w - (kink if t < tied else 1.0) * x
    along = w @ u  # no further example of length 1 and this margin has a negative product
    assert (margin * along + 1e-9) ** 2 > (1 - margin**2) * (w @ w - along**2)


def test_what_ties_refuse():
    for kink, margin in ((0.33, 0.1), (1.01, 0.1), (0.5, 0.0), (0.5, 0.019), (0.5, 0.21)):
        with pytest.raises(ValueError, match=r"kink|margin"):
            ties(kink, margin)


# ---------------------------------------------------------------- worst games of theorems


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_the_spiral_costs_descent_what_it_says(projection):
    R, rho, T, eta = 2.0, 0.5, 30, 0.6
    Z = adversaries.spiral(R, rho, T, eta)
    assert np.linalg.norm(Z, axis=1) == pytest.approx(rho)
    trace = play(OGD(Ball(2, R), eta, projection), Z)
    assert trace.regret() == pytest.approx(R**2 / (2 * eta) + eta * T * rho**2 / 2)
    with pytest.raises(ValueError, match=r"eta must be in \[R/\(Tρ\), R/ρ\]"):
        adversaries.spiral(R, rho, T, 5.0)


@pytest.mark.parametrize("T", [2, 3, 10, 31])
def test_the_zigzag_costs_three_quarters_of_the_bound(T):
    D, rho = 2.0, 0.5
    Z, path = adversaries.zigzag(D, rho, T)
    trace = play(OGD(Hull(path), D / (rho * np.sqrt(2 * T))), Z)
    assert trace.plays == pytest.approx(path, abs=1e-9)
    assert trace.regret() == pytest.approx(0.75 * D * rho * np.sqrt(2 * T))


def test_a_center_at_distance_gives_slopes_of_one_length():
    trace = play(OGD(Space(2), 0.1, "eager"), adversaries.at_distance(3.0, 2.0), rounds=6)
    assert np.linalg.norm(trace.subgradients, axis=1) == pytest.approx(3.0)
    assert trace.paid == pytest.approx(3.0**2 / (2 * 2.0))


def test_against_winnow_every_round_is_an_update_on_a_disjunction():
    relevant, dim, theta = 2, 12, 6.0
    trace = play(Winnow(dim, theta), adversaries.against_winnow(relevant, theta), rounds=15)
    labels = np.where(trace.losses.X[:, :relevant].any(axis=1), 1.0, -1.0)
    assert trace.updates.all() and np.array_equal(labels, trace.losses.y)


def test_against_normalized_winnow_every_round_is_an_update_with_the_margin():
    trace = play(NormalizedWinnow(5, 0.2), adversaries.against_normalized_winnow(0.3), rounds=10)
    assert trace.updates.all() and np.abs(trace.losses.X).max() <= 1
    assert trace.losses.margins(np.eye(5)[0]) == pytest.approx(0.3)


@pytest.mark.parametrize("seed", ["seven", -1, 1.5])
def test_a_seed_that_makes_no_generator_is_named(seed):
    with pytest.raises(ValueError, match=r"the seed must be one that np\.random\.default_rng takes"):
        random_directions(3, 2, seed)


def test_a_zigzag_has_at_least_two_losses():
    Z, path = adversaries.zigzag(2.0, 1.0, 2)
    assert len(Z) == 2 and len(path) == 3
    with pytest.raises(ValueError, match="T must be"):
        adversaries.zigzag(2.0, 1.0, 1)


@pytest.mark.parametrize("margin", [0.0, -0.1, 1.5])
def test_a_margin_is_above_0_and_at_most_1(margin):
    assert callable(adversaries.against_normalized_winnow(1.0))
    with pytest.raises(ValueError, match="margin must be"):
        adversaries.against_normalized_winnow(margin)
