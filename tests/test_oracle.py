"""The oracle states each problem as the lecture does: checked where the answer is known by hand."""

import cvxpy as cp
import numpy as np
import pytest
from strategies import examples, members

from ocolib import losses, oracle, phi
from ocolib.adversaries import separable
from ocolib.game import play
from ocolib.learners import OGD, inverse_sqrt
from ocolib.losses import Linear, Quadratic, hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Halfspace, Hull, L1Ball, Orthant, Simplex, Space


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
    for data in (perceptron_loss(X, y, 0.2), hinge(X, y)):
        assert oracle.expression(data, w).value == pytest.approx(data.values(w.value).sum())
        assert oracle.expression(list(data), w).value == pytest.approx(data.values(w.value).sum())
    assert oracle.expression(X, w).value == pytest.approx((X @ w.value).sum())


def test_what_has_no_cvxpy_form_is_refused():
    for call in (
        lambda: oracle.constraints("a set", cp.Variable(1)),
        lambda: oracle.expression("a loss", cp.Variable(1)),
    ):
        with pytest.raises(ValueError, match=r"'a.* has no cvxpy form: give str a method"):
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
        with pytest.raises(ValueError, match="cvxpy found no solution: unbounded"):
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
    for f in (phi.PerceptronLoss(), phi.PerceptronLoss(1.0), phi.HingeLoss()):
        np.testing.assert_allclose(f.expression(p, y).value, f.value(p.value, y))


# ---------------------------------------------------------------- by hand


P = np.array([-2.3, -0.4, 0.0, 0.3, 1.0, 1.7])
SIGNED = [phi.PerceptronLoss(0.3), phi.HingeLoss(), phi.SQUARED_HINGE, phi.EXPONENTIAL, phi.LOGISTIC]
REAL = [phi.TubeLoss(2.0, 0.5, 0.7), phi.LEAST_SQUARES, phi.HUBER, phi.POISSON]


@pytest.mark.parametrize("loss", [*SIGNED, *REAL], ids=str)
def test_a_loss_of_a_prediction_is_the_same_in_cvxpy(loss):
    labels = (-1.0, 1.0) if loss in SIGNED else (0.0, 2.0, 3.5)
    for y in labels:
        shown = loss.expression(cp.Constant(P), np.full(len(P), y)).value
        assert shown == pytest.approx(loss.value(P, y), abs=1e-12)


def test_losses_of_scores_are_the_same_in_cvxpy():
    f, gamma = np.array([0.2, -0.5, 1.1]), np.array([[9.0, 1.5, 0.5], [2.0, 9.0, 1.0], [0.7, 3.0, 9.0]])
    soft = phi.SoftMargin(np.arange(9.0).reshape(3, 3), gamma)
    for y in range(3):
        for loss in (soft, phi.SOFTMAX):
            assert loss.expression(cp.Constant(f), y).value == pytest.approx(loss.value(f, y))
    form, y = phi.QuadraticForm([[2.0, 1.0], [1.0, 3.0]]), np.array([0.5, 4.0])
    assert form.expression(cp.Constant(f[:2]), y).value == pytest.approx(form.value(f[:2], y))


X, Y, W = np.array([[1.0, 2.0], [-0.5, 1.5], [2.0, 0.0]]), np.array([1.0, -1.0, 1.0]), np.array([0.4, 0.3])
HINGE = losses.hinge(X, Y)
EXPRESSIONS = [
    losses.Linear([2.0, -3.0]),
    losses.Quadratic([2.0, -3.0], 1.7),
    HINGE[0],
    HINGE.regularized(0.8)[1],
    losses.softmax(X, [2, 0, 1], 2 + 1)[0],
]


def test_a_loss_is_the_same_in_cvxpy():
    for f in EXPRESSIONS:
        w = np.linspace(-1, 2, 6) if f.dim == 6 else W
        assert oracle.expression(f, cp.Constant(w)).value == pytest.approx(f.value(w))
    w = cp.Constant(W)
    total = sum(f.value(W) for f in EXPRESSIONS[:4])
    assert oracle.expression(EXPRESSIONS[:4], w).value == pytest.approx(total)
    for data in (HINGE, HINGE.regularized(0.8)):
        assert oracle.expression(data, w).value == pytest.approx(data.values(W).sum())
    Z = np.arange(12.0).reshape(2, 3, 2)
    assert oracle.expression(Z, w).value == pytest.approx((Z @ W).sum())
    for R in (SquaredNorm(), SquaredNorm([1.0, -2.0]), NegativeEntropy(), UnnormalizedEntropy()):
        assert oracle.expression(R, w).value == pytest.approx(R.value(W))
    for ask in (oracle.expression, oracle.constraints):
        with pytest.raises(ValueError, match="'x' has no cvxpy form: give str a method"):
            ask("x", w)


def violation(over, point):
    x = cp.Variable(2)
    x.value = np.array(point)
    return max([float(np.max(c.violation())) for c in oracle.constraints(over, x)], default=0.0)


@pytest.mark.parametrize(
    ("over", "point", "excess"),
    [
        (Space(2), (9.0, 9.0), 0.0),
        (Orthant(2), (0.0, 1.0), 0.0),
        (Orthant(2), (-0.5, 1.0), 0.5),
        (Ball(2, 2.0, [1.0, 0.0]), (4.0, 4.0), 3.0),
        (Ball(2, 2.0, [1.0, 0.0]), (3.0, 0.0), 0.0),
        (Box([0.0, 1.0], [2.0, 3.0]), (2.5, 2.0), 0.5),
        (Box([0.0, 1.0], [2.0, 3.0]), (1.0, 0.25), 0.75),
        (Box([0.0, 1.0], [2.0, 3.0]), (2.0, 1.0), 0.0),
        (Simplex(2), (0.25, 0.75), 0.0),
        (Simplex(2), (0.5, 1.0), 0.5),
        (Simplex(2), (-0.25, 1.25), 0.25),
        (L1Ball(2, 2.0), (-1.5, 1.0), 0.5),
        (L1Ball(2, 2.0), (-1.0, 1.0), 0.0),
        (Halfspace([3.0, 4.0], 5.0), (1.0, 1.0), 2.0),
        (Halfspace([3.0, 4.0], 5.0), (1.0, 0.5), 0.0),
    ],
)
def test_a_set_is_the_same_in_cvxpy(over, point, excess):
    assert violation(over, point) == pytest.approx(excess, abs=1e-12)


def test_a_hull_by_the_solver():
    over = Hull([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]])
    for y in ([3.0, 3.0], [-1.0, 1.0], [1.0, 0.5], [5.0, -2.0]):
        assert oracle.project(y, over) == pytest.approx(over.project(y), abs=1e-5)


# ---------------------------------------------------------------- margins, of one example or two


def test_margins_by_hand():
    one, label = [[2.0, 0.0]], [1.0]
    u, gamma = oracle.max_margin(one, label)
    assert u == pytest.approx([1.0, 0.0], abs=1e-6) and gamma == pytest.approx(2.0)
    u, gamma = oracle.ball_margin(one, label)
    assert u == pytest.approx([1.0, 0.0], abs=1e-5) and gamma == pytest.approx(2.0)
    w, alpha = oracle.hard_margin(one, label)
    assert w == pytest.approx([0.5, 0.0], abs=1e-6) and alpha == pytest.approx([0.25])
    assert oracle.penalty_threshold(one, label) == pytest.approx(0.25)
    for C, slope, value in ((0.1, 0.2, 0.08), (0.3, 0.5, 0.125)):
        w, found = oracle.soft_margin(one, label, C)
        assert w == pytest.approx([slope, 0.0], abs=1e-5) and found == pytest.approx(value)
    with pytest.raises(ValueError, match="separable"):
        oracle.max_margin([[1.0], [1.0]], [1.0, -1.0])
    assert oracle.ball_margin([[1.0], [1.0]], [1.0, -1.0])[1] == pytest.approx(0.0, abs=1e-6)


def test_a_threshold_of_three_examples():
    """x_3 lies between the others and binds too: its share may be moved."""
    X = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    w, alpha = oracle.hard_margin(X, [1.0, 1.0, 1.0])
    assert w == pytest.approx([1.0, 1.0], abs=1e-5) and (alpha > -1e-6).all()
    assert alpha.sum() == pytest.approx(2.0, abs=1e-4)
    # α = (1 − a/2, 1 − a/2, a): the largest is least at a = 2/3
    assert oracle.penalty_threshold(X, [1.0, 1.0, 1.0]) == pytest.approx(2 / 3, abs=1e-5)


def test_a_threshold_has_no_negative_multipliers():
    """1 binds, 2 and 3 do not: α = (1, 0, 0). With (⅔, ⅔, −⅓) the sums would be right as well."""
    assert oracle.penalty_threshold([[1.0], [2.0], [3.0]], [1.0] * 3) == pytest.approx(1.0, abs=1e-5)


# ---------------------------------------------------------------- answers


def test_the_best_path_is_as_long_as_it_may_be():
    over, Z = Box([-1.0], [1.0]), np.array([[1.0], [-1.0]])
    kinds = {
        "array": (Z, -0.5),
        "list": ([losses.Linear(z) for z in Z], -0.5),
        "data": (losses.hinge([[1.0], [1.0]], [1.0, -1.0]), 1.5),
    }
    for kind, (game, value) in kinds.items():
        u = oracle.best_path(game, over, 0.5)
        assert abs(u[1] - u[0])[0] == pytest.approx(0.5, abs=1e-5), kind
        assert losses.values(game, u).sum() == pytest.approx(value, abs=1e-5)
    assert oracle.best_path(Z[:1], over, 0.0) == pytest.approx(np.array([[-1.0]]), abs=1e-6)
    still = oracle.best_path(Z, over, 0.0)
    assert still[0] == pytest.approx(still[1], abs=1e-6)
    with pytest.raises(ValueError, match="length"):
        oracle.best_path(Z, over, -0.1)


def test_the_length_of_a_path_is_euclidean():
    over, Z = Ball(2, 5.0), np.array([[1.0, 1.0], [0.0, 0.0], [-1.0, -1.0]])
    u = oracle.best_path(Z, over, 1.0)
    assert np.linalg.norm(np.diff(u, axis=0), axis=1).sum() == pytest.approx(1.0, abs=1e-5)
    assert u[2] - u[0] == pytest.approx([0.5**0.5, 0.5**0.5], abs=1e-4)
    assert oracle.ball_margin([[1.0, 1.0]], [1.0])[1] == pytest.approx(2**0.5, abs=1e-6)


@pytest.mark.parametrize("failures", [0, 1, 2, 3, 4, 5])
def test_a_solver_that_gives_up_is_asked_for_less(failures, monkeypatch):
    asked, usual = [], cp.Problem.solve

    def stubborn(problem, **settings):
        asked.append(settings.get("tol_feas", settings["solver"]))
        if len(asked) <= failures:
            raise cp.SolverError("too hard")
        return usual(problem, **settings)

    monkeypatch.setattr(cp.Problem, "solve", stubborn)
    x = cp.Variable()
    if failures == 5:
        with pytest.raises(ValueError, match="cvxpy found no solution: too hard"):
            oracle.solve(cp.square(x - 2), [])
    else:
        assert oracle.solve(cp.square(x - 2) + 1, []) == pytest.approx(1.0)
    assert asked == [*oracle.TOLERANCES, "SCS"][: failures + 1]
    assert sorted(oracle.TOLERANCES) == list(oracle.TOLERANCES) and oracle.TOLERANCES[-1] == 1e-8


def test_a_problem_without_a_solution_is_named():
    x = cp.Variable()
    with pytest.raises(ValueError, match="cvxpy found no solution: unbounded"):
        oracle.solve(x, [x <= 0])
    with pytest.raises(ValueError, match="cvxpy found no solution: infeasible"):
        oracle.solve(x, [x <= 0, x >= 1])
    assert oracle.solve(cp.square(x - 2) + 3, [x <= 1]) == pytest.approx(4.0)


def test_the_solver_that_plays_leads_with_the_step_of_the_round():
    over, steps = Ball(1, 5.0), []

    def eta(t):
        steps.append(int(t))
        return 0.5 / t

    player = oracle.FTRL(over, SquaredNorm([1.0]), eta).player()
    assert player.predict() == pytest.approx([1.0], abs=1e-6)
    player.update(losses.Linear([2.0]))
    assert player.predict() == pytest.approx([0.0], abs=1e-6)  # 1 − ½·2
    player.update(losses.Quadratic([3.0], 2.0))
    # 2w + (w − 3)² + (w − 1)²/(2·¼): 2 + 2w − 6 + 4w − 4 = 0
    assert player.predict() == pytest.approx([8 / 6], abs=1e-6)
    assert steps == [1, 1, 2]
    leader = oracle.FTRL(over, None).player()
    assert over.contains(leader.predict(), tol=1e-6)
    leader.update(losses.Quadratic([3.0]))
    assert leader.predict() == pytest.approx([3.0], abs=1e-5) and oracle.FTRL(over, None).eta == 1.0


class Own:
    """A set and a loss of your own, with a cvxpy form."""

    dim = 1

    def constraints(self, x):
        return [x >= 2]

    def expression(self, w):
        return cp.sum_squares(w - 1)


def test_what_has_a_cvxpy_form_of_its_own_is_solved_with():
    assert oracle.best_point([Own()], Own()) == pytest.approx([2.0], abs=1e-6)
    assert oracle.project([0.0], Own()) == pytest.approx([2.0], abs=1e-6)
    with pytest.raises(ValueError, match=r"give str a method constraints\(x\)"):
        oracle.constraints("a set", cp.Variable(1))


@pytest.mark.parametrize("size", [1e3, 1e4, 1e5])
def test_large_numbers_are_solved_too(size):
    for y in size * np.random.default_rng(0).standard_normal((5, 3)):
        for over in (Ball(3, size / 2), Box([0.0] * 3, [size] * 3), Simplex(3)):
            near = np.linalg.norm(oracle.project(y, over) - y)
            assert near == pytest.approx(np.linalg.norm(over.project(y) - y), rel=1e-5)
