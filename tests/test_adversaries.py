"""Adversaries do what their names say."""

import numpy as np
import pytest

from ocolib.adversaries import all_signs, alternating, disjunction, orthogonal, random_directions, separable
from ocolib.game import play
from ocolib.learners import FTL, OGD, Hedge
from ocolib.sets import Ball, Box


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
