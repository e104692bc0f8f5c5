"""The best point in hindsight: against cvxpy, and its own certificate against points of the set."""

import numpy as np
import pytest

from ocolib import comparators, losses, oracle
from ocolib.game import play
from ocolib.learners import OGD
from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space

rng = np.random.default_rng(3)
X, n = rng.standard_normal((60, 3)), 3
signs = np.where(X @ [1.0, -2.0, 0.5] + rng.standard_normal(60) > 0, 1.0, -1.0)
reals = X @ [0.5, 1.0, -1.0] + rng.standard_normal(60)
LOSSES = {
    "hinge": losses.hinge(X, signs),
    "hinge, regularised": losses.hinge(X, signs).regularized(0.1),
    "perceptron": losses.perceptron_loss(X, signs, threshold=0.3),
    "logistic": losses.logistic(X, signs),
    "least squares": losses.least_squares(X, reals),
    "huber": losses.huber(X, reals),
    "quantile": losses.quantile(X, reals, 0.3),
}
SETS = [
    Ball(n),
    Ball(n, 0.3, [1.0, 1.0, 1.0]),
    Box([-0.2] * n, [0.3] * n),
    Simplex(n),
    Orthant(n),
    Space(n),
    Halfspace([1.0, 2.0, 3.0], -0.5),
]


@pytest.mark.parametrize("over", SETS, ids=repr)
@pytest.mark.parametrize("name", LOSSES)
def test_the_best_point_is_that_of_cvxpy(name, over):
    data = LOSSES[name]
    best = comparators.best(data, over)
    theirs = data.values(oracle.best_point(data, over)).sum()
    assert over.contains(best.point)
    assert best.value == pytest.approx(data.values(best.point).sum(), rel=1e-14)
    assert best.value == pytest.approx(theirs, rel=1e-7, abs=1e-7)
    assert 0 <= best.gap <= 1e-8 * max(1.0, best.value)


@pytest.mark.parametrize("over", [Ball(n), Box([-1] * n, [1] * n), Simplex(n)], ids=repr)
def test_a_gap_is_honest_where_the_point_is_not_the_best(over):
    """At any point and with any slopes, no point of the set pays less than value − gap."""
    data = LOSSES["hinge"]
    least = comparators.best(data, over).value
    problem = comparators.Problem(data, over)
    for _ in range(50):
        u = over.project(rng.standard_normal(n))
        value, gap = problem.gap(u, rng.random(len(problem.h)))
        assert value - gap <= least + 1e-9


@pytest.mark.parametrize("name", ["hinge", "logistic", "huber"])
def test_a_curve_is_the_least_value_of_every_prefix(name):
    data = LOSSES[name][:12]
    trace = play(OGD(Ball(n), 0.3), data)
    curve = trace.regret_curve(Ball(n))
    for t in (1, 2, 5, 12):
        prefix = play(OGD(Ball(n), 0.3), data, rounds=t)
        assert curve[t - 1] == pytest.approx(prefix.regret(Ball(n)), abs=1e-7)
        assert curve[t - 1] == pytest.approx(oracle.regret(prefix, Ball(n)), abs=1e-6)


HARD = {
    "hinge": losses.hinge,
    "perceptron": losses.perceptron_loss,
    "logistic, regularised": lambda X, y: losses.logistic(X, y).regularized(0.01),
    "least squares": losses.least_squares,
    "huber": lambda X, y: losses.huber(X, 2.0 * y),
    "absolute": losses.absolute,
    "quantile 1": lambda X, y: losses.quantile(X, y, 1.0),
}


@pytest.mark.parametrize("make", [Ball, Simplex, Orthant, Space], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", HARD)
def test_few_examples_of_any_size_have_a_best_point(name, make):
    """Fewer examples than numbers, many best points, slopes that are constant far out: nothing is refused."""
    rng = np.random.default_rng(1)
    for T in [1, 2, 5, 12] * 8:
        over = make(int(rng.integers(1, 6)))
        X = rng.standard_normal((T, over.dim)) * rng.choice([0.1, 1.0, 10.0])
        best = comparators.best(HARD[name](X, rng.choice([-1.0, 1.0], T)), over)
        assert best.gap <= 1e-8 * max(1.0, best.value) and over.contains(best.point)


def test_far_points_are_found_in_parts():
    """Huber's loss of u − c is linear but near c: the way to c = 300 has no curvature."""
    best = comparators.best(losses.huber([[1.0], [1.0]], [300.0, 300.0]), Space(1))
    assert best.point == pytest.approx([300.0], abs=1e-3) and best.value <= 1e-8
    best = comparators.best(losses.huber(np.eye(2), [-5.0, 300.0]), Orthant(2))
    assert best.point == pytest.approx([0.0, 300.0], abs=1e-3) and best.value == pytest.approx(4.5)
    assert [part.radius for part in comparators._parts(Space(2))] == [1, 10, 100, 1e3, 1e4, 1e5, 1e6]
    assert comparators._parts(Orthant(2))[1] == Box([0, 0], [10, 10]) and comparators._parts(Ball(2)) == []


def test_an_infimum_that_is_not_attained_is_approached():
    separable = losses.logistic([[1.0], [2.0]], [1, 1])
    assert comparators.best(separable, Space(1)).value <= 1e-8  # the infimum 0 is not attained
    assert not comparators.knows(LOSSES["hinge"], L1Ball(n))
