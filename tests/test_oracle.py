"""The oracle states each problem as the lecture does: checked where the answer is known by hand."""

import cvxpy as cp
import numpy as np
import pytest
from strategies import examples, members

from ocolib import oracle
from ocolib.adversaries import separable
from ocolib.game import play
from ocolib.learners import OGD, inverse_sqrt
from ocolib.losses import HingeLoss, Linear, PerceptronLoss, Quadratic, hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Orthant, Simplex, Space


@pytest.mark.parametrize("over", examples(3), ids=lambda s: type(s).__name__)
def test_the_constraints_are_the_set(over):
    x = cp.Variable(3)
    conditions = oracle.constraints(over, x)
    for point in np.vstack([members(over, 20), 3 * np.random.default_rng(0).standard_normal((20, 3))]):
        x.value = point
        broken = max((float(np.max(c.violation())) for c in conditions), default=0.0)
        assert (broken <= 1e-9) == over.contains(point)


@pytest.mark.parametrize(
    "loss",
    [
        Linear([1.0, -2.0]),
        Quadratic([1.0, 2.0], 3.0),
        perceptron_loss([[1.0, 2.0]], [-1], 0.5)[0],
        hinge([[1.0, 2.0]], [-1])[0],
        SquaredNorm(),
        SquaredNorm([1.0, 2.0]),
        NegativeEntropy(),
        UnnormalizedEntropy(),
    ],
    ids=lambda f: type(f).__name__,
)
def test_an_expression_has_the_value_of_its_loss(loss):
    w = cp.Variable(2)
    for point in np.random.default_rng(1).uniform(0.01, 2.0, (10, 2)):
        w.value = point
        assert oracle.expression(loss, w).value == pytest.approx(float(loss.value(point)), abs=1e-12)


def test_an_expression_of_many_losses_is_their_sum():
    w = cp.Variable(2)
    w.value = [0.3, -0.4]
    X, y, _ = separable(6, 2, 0.1, 0)
    for losses in (perceptron_loss(X, y, 0.2), hinge(X, y)):
        assert oracle.expression(losses, w).value == pytest.approx(losses.values(w.value).sum())
        assert oracle.expression(list(losses), w).value == pytest.approx(losses.values(w.value).sum())
    assert oracle.expression(X, w).value == pytest.approx((X @ w.value).sum())


def test_what_has_no_cvxpy_form_is_refused():
    for call in (
        lambda: oracle.constraints("a set", cp.Variable(1)),
        lambda: oracle.expression("a loss", cp.Variable(1)),
        lambda: oracle.scalar("a loss", cp.Variable(1), 1.0),
    ):
        with pytest.raises(ValueError, match="no cvxpy form of 'a"):
            call()


def test_answers_known_by_hand():
    np.testing.assert_allclose(oracle.project([3.0, 4.0], Ball(2)), [0.6, 0.8], atol=1e-8)
    np.testing.assert_allclose(oracle.project([1.0, 1.0], Simplex(2)), [0.5, 0.5], atol=1e-8)
    np.testing.assert_allclose(
        oracle.minimize(NegativeEntropy(), [0.0, np.log(3)], 1.0, Simplex(2)), [0.75, 0.25], atol=1e-6
    )
    np.testing.assert_allclose(
        oracle.minimize(UnnormalizedEntropy(), [0.0, 1.0], 2.0, Orthant(2)), [1.0, np.exp(-2)], atol=1e-6
    )
    np.testing.assert_allclose(oracle.minimize(SquaredNorm(), [1.0], 0.25, Space(1)), [-0.25], atol=1e-8)
    np.testing.assert_allclose(
        oracle.best_point([Quadratic([1.0], 3.0), Quadratic([5.0], 1.0)], Space(1)), [2.0], atol=1e-7
    )


def test_regret_known_by_hand():
    trace = play(OGD(Box([-1], [1]), 1.0), hinge([[1.0], [1.0]], [1, -1]))
    assert oracle.regret(trace, Box([-1], [1])) == pytest.approx(trace.paid.sum() - 2.0, abs=1e-8)
    many = play(OGD(Ball(2), 1.0), np.ones((3, 2, 2)))
    with pytest.raises(ValueError, match=r"one run, got runs of shape \(3,\)"):
        oracle.regret(many, Ball(2))


def test_a_problem_without_a_minimum_is_refused():
    for over in (Space(1), Orthant(1)):
        with pytest.raises(ValueError, match="no solution: cvxpy says unbounded"):
            oracle.best_point([Linear([-1.0])], over)


def test_max_margin_is_that_of_the_support_vector_machine():
    from sklearn.svm import SVC

    X, y, hidden = separable(60, 3, 0.2, 5)
    u, gamma = oracle.max_margin(X, y)
    assert np.linalg.norm(u) == pytest.approx(1.0)
    assert (y * (X @ u)).min() == pytest.approx(gamma, abs=1e-7)
    assert gamma >= (y * (X @ hidden)).min() - 1e-9
    doubled, signs = np.vstack([X, -X]), np.concatenate([y, -y])  # the mirror makes the intercept 0
    svc = SVC(C=1e8, kernel="linear", tol=1e-8).fit(doubled, signs)
    assert gamma == pytest.approx(1 / np.linalg.norm(svc.coef_), rel=1e-4)
    np.testing.assert_allclose(
        oracle.max_margin([[3.0, 0.0], [0.0, 4.0]], [1, -1])[0], [0.8, -0.6], atol=1e-7
    )


def test_max_margin_refuses_what_no_plane_separates():
    with pytest.raises(ValueError, match="separable"):
        oracle.max_margin([[1.0], [1.0]], [1, -1])


def test_solving_every_round_with_a_schedule_and_without_a_regulariser():
    player = oracle.FTRL(Space(1), SquaredNorm(), inverse_sqrt(1.0)).player()
    for t in range(1, 4):
        player.update(Linear([1.0]))
        np.testing.assert_allclose(player.predict(), [-t / np.sqrt(t)], atol=1e-7)
    leader = oracle.FTRL(Box([-1], [1]), None).player()
    assert -1 <= leader.predict()[0] <= 1
    leader.update(Linear([1.0]))
    np.testing.assert_allclose(leader.predict(), [-1], atol=1e-7)


def test_scalar_losses_are_translated_elementwise():
    p = cp.Variable(3)
    p.value = np.array([-2.0, 0.5, 3.0])
    y = np.array([1.0, -1.0, 1.0])
    for phi in (PerceptronLoss(), PerceptronLoss(1.0), HingeLoss()):
        np.testing.assert_allclose(oracle.scalar(phi, p, y).value, phi.value(p.value, y))
