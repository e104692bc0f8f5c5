"""Every φ against its definition, in plain Python: value, slopes on both sides, constants."""

from math import exp, log, sqrt

import numpy as np
import pytest

from ocolib import losses, phi

P = [-2.3, -1.0, -0.4, 0.0, 0.3, 1.0, 1.7]


def hinge(p, y):
    return max(0.0, 1 - y * p)


#: φ, the labels to try, its value, its slope just left and just right of p, the slope that it chooses
SCALARS = {
    "perceptron": (
        phi.PerceptronLoss(0.3, 0.25),
        (-1.0, 1.0),
        lambda p, y: max(0.0, -y * (p - 0.3)),
        lambda p, y: -y if -y * (p - 0.3) > 0 or (p == 0.3 and y > 0) else 0.0,
        lambda p, y: -y if -y * (p - 0.3) > 0 or (p == 0.3 and y < 0) else 0.0,
        lambda p, y: -0.25 * y if p == 0.3 else None,
    ),
    "hinge": (
        phi.HingeLoss(0.75),
        (-1.0, 1.0),
        hinge,
        lambda p, y: -y if y * p < 1 or (y * p == 1 and y > 0) else 0.0,
        lambda p, y: -y if y * p < 1 or (y * p == 1 and y < 0) else 0.0,
        lambda p, y: -0.75 * y if y * p == 1 else None,
    ),
    "tube": (
        phi.TubeLoss(2.0, 0.5, 0.7),
        (0.0, 0.3, 2.4),
        lambda p, y: max(0.0, 2 * (p - y - 0.7), 0.5 * (y - p - 0.7)),
        lambda p, y: 2.0 if p - y > 0.7 else -0.5 if p - y <= -0.7 else 0.0,
        lambda p, y: 2.0 if p - y >= 0.7 else -0.5 if p - y < -0.7 else 0.0,
        lambda p, y: 0.0 if abs(p - y) == 0.7 else None,
    ),
    "squared hinge": (
        phi.SQUARED_HINGE,
        (-1.0, 1.0),
        lambda p, y: hinge(p, y) ** 2 / 2,
        lambda p, y: -y * hinge(p, y),
    ),
    "exponential": (phi.EXPONENTIAL, (-1.0, 1.0), lambda p, y: exp(-y * p), lambda p, y: -y * exp(-y * p)),
    "logistic": (
        phi.LOGISTIC,
        (-1.0, 1.0),
        lambda p, y: log(1 + exp(-y * p)),
        lambda p, y: -y / (1 + exp(y * p)),
    ),
    "least squares": (phi.LEAST_SQUARES, (0.0, 0.3, -1.1), lambda p, y: (p - y) ** 2 / 2, lambda p, y: p - y),
    "huber": (
        phi.HUBER,
        (0.0, 0.3, -1.1),
        lambda p, y: (p - y) ** 2 / 2 if abs(p - y) < 1 else abs(p - y) - 0.5,
        lambda p, y: max(-1.0, min(1.0, p - y)),
    ),
    "poisson": (phi.POISSON, (0.0, 1.0, 4.0), lambda p, y: exp(p) - y * p, lambda p, y: exp(p) - y),
}
#: sup |slope|, the Lipschitz constant of the slope, the modulus of strong convexity
CONSTANTS = {
    "perceptron": (1.0, None, None),
    "hinge": (1.0, None, None),
    "tube": (2.0, None, None),
    "squared hinge": (None, 1.0, None),
    "exponential": (None, None, None),
    "logistic": (1.0, 0.25, None),
    "least squares": (None, 1.0, 1.0),
    "huber": (1.0, 1.0, None),
    "poisson": (None, None, None),
}


@pytest.mark.parametrize("name", SCALARS)
def test_a_loss_of_a_prediction_is_what_it_says(name):
    loss, labels, value, left, *more = SCALARS[name]
    right, kink = more or (left, lambda p, y: None)
    for y in labels:
        for p in [*P, y - 0.7, y + 0.7]:
            assert loss.value(p, y) == pytest.approx(value(p, y), abs=1e-12)
            least, greatest = loss.subdifferential(p, y)
            assert (least, greatest) == pytest.approx((left(p, y), right(p, y)), abs=1e-12)
            chosen = left(p, y) if kink(p, y) is None else kink(p, y)
            assert loss.slope(p, y) == pytest.approx(chosen, abs=1e-12)
            if kink(p, y) is not None:
                assert least < greatest
    assert (loss.lipschitz, loss.smooth, loss.curvature) == CONSTANTS[name]


def test_the_labels_that_each_takes():
    kinds = {name: loss.takes for name, (loss, *_) in SCALARS.items()}
    signs = {"perceptron", "hinge", "squared hinge", "exponential", "logistic"}
    assert {name for name, kind in kinds.items() if kind == "signs"} == signs
    assert {name for name, kind in kinds.items() if kind == "reals"} == {"tube", "least squares", "huber"}
    assert kinds["poisson"] == "counts"
    assert phi.SOFTMAX.takes == "classes"


def test_margins_and_defaults():
    assert (
        phi.PerceptronLoss(0.3).margin(2.0, -1.0) == -1.7 and phi.PerceptronLoss().margin(2.0, -1.0) == -2.0
    )
    assert phi.HingeLoss().margin(2.0, -1.0) == -2.0 and phi.LOGISTIC.threshold == 0.0
    assert phi.PerceptronLoss() == phi.PerceptronLoss(0.0, 1.0) and phi.HingeLoss() == phi.HingeLoss(0.0)
    assert phi.TubeLoss() == phi.TubeLoss(1.0, 1.0, 0.0) and phi.TubeLoss(0.5, 3.0).lipschitz == 3.0
    assert phi.HingeLoss(0.2).with_kink(1.0) == phi.HingeLoss(1.0)
    for part in ("up", "down", "eps"):
        assert getattr(phi.TubeLoss(**{part: 0.0}), part) == 0.0
        with pytest.raises(ValueError, match=part):
            phi.TubeLoss(**{part: -0.1})
    with pytest.raises(ValueError, match="kink belongs to PerceptronLoss and HingeLoss, got LOGISTIC"):
        phi.LOGISTIC.with_kink(0.5)


def test_the_logistic_loss_overflows_nowhere():
    for y in (-1.0, 1.0):
        assert phi.LOGISTIC.value(-2000.0 * y, y) == 2000.0 and phi.LOGISTIC.value(2000.0 * y, y) == 0.0
        assert phi.LOGISTIC.slope(-2000.0 * y, y) == -y and phi.LOGISTIC.slope(2000.0 * y, y) == 0.0


# ---------------------------------------------------------------- vectors of scores

F = np.array([0.2, -0.5, 1.1])


def test_softmax_is_the_cost_of_the_class():
    total = exp(0.2) + exp(-0.5) + exp(1.1)
    for y in range(3):
        assert phi.SOFTMAX.value(F, y) == pytest.approx(log(total) - F[y])
        slope = [exp(f) / total - (c == y) for c, f in enumerate(F)]
        assert phi.SOFTMAX.slope(F, y) == pytest.approx(slope)
    assert phi.SOFTMAX.lipschitz == pytest.approx(sqrt(2)) and phi.SOFTMAX.smooth == 0.5


DELTA = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.0, 0.0]])
GAMMA = np.array([[9.0, 1.5, 0.5], [2.0, 9.0, 1.0], [0.7, 3.0, 9.0]])


def test_a_soft_margin_is_its_largest_violation():
    loss = phi.SoftMargin(DELTA, GAMMA)
    for y in range(3):
        each = [GAMMA[y, c] * (F[c] - F[y] + DELTA[y, c]) for c in range(3)]
        assert loss.scaled(F, y) == pytest.approx(each)
        assert loss.value(F, y) == pytest.approx(max(each))
        worst = each.index(max(each))
        slope = [GAMMA[y, worst] * ((c == worst) - (c == y)) for c in range(3)]
        assert loss.slope(F, y) == pytest.approx(slope)
        assert loss.subdifferential(F, y) == pytest.approx(np.array([slope]))
    assert loss.lipschitz == pytest.approx(3 * sqrt(2)), "the diagonal does not count"


def test_a_tie_has_a_corner_for_each_winner():
    loss = phi.SoftMargin([[0.0, 1.0, 1.0]] * 3, np.ones((3, 3)))
    corners = loss.subdifferential(np.array([0.5, 2.0, 2.0]), 0)
    assert corners.tolist() == [[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]


def test_a_soft_margin_needs_square_tables():
    assert phi.SoftMargin(DELTA, np.zeros((3, 3))).lipschitz == 0.0
    one = np.where(np.arange(9).reshape(3, 3) == 5, -GAMMA, GAMMA)
    for delta, gamma in (
        (DELTA, -GAMMA),
        (DELTA, one),
        (DELTA[:2], GAMMA),
        (DELTA, GAMMA[:2]),
        (DELTA, GAMMA[:, :2]),
        (DELTA[:2], GAMMA[:2]),
    ):
        with pytest.raises(ValueError, match="delta and gamma must be square"):
            phi.SoftMargin(delta, gamma)


def test_a_quadratic_form_by_hand():
    loss = phi.QuadraticForm([[2.0, 1.0], [1.0, 3.0]])
    f, y = np.array([1.0, 2.0]), np.array([0.5, 4.0])  # the difference is (½, −2)
    assert loss.value(f, y) == pytest.approx((2 * 0.25 - 2 * 1.0 + 3 * 4) / 2)
    assert loss.slope(f, y) == pytest.approx([1.0 - 2.0, 0.5 - 6.0])
    assert loss.smooth == pytest.approx((5 + sqrt(5)) / 2)
    assert loss.curvature == pytest.approx((5 - sqrt(5)) / 2)
    assert phi.QuadraticForm([[3.0]]).smooth == phi.QuadraticForm([[3.0]]).curvature == 3.0
    assert phi.QuadraticForm([[1.0, 1.0], [1.0, 1.0]]).curvature is None
    assert phi.QuadraticForm([[1.0, 0.0], [0.0, 1e-6]]).curvature == pytest.approx(1e-6)
    for M in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]], [[1.0, 0.0]], [[1.0, 0.0], [0.0, -1e-6]]):
        with pytest.raises(ValueError, match="M must be symmetric with no negative eigenvalue"):
            phi.QuadraticForm(M)


# ---------------------------------------------------------------- losses over data

X, W = np.array([[1.0, 2.0], [-0.5, 1.5], [2.0, 0.0]]), np.array([0.4, -0.3])
SIGNS, REALS = [1.0, -1.0, 1.0], [0.5, -1.0, 2.0]
DATA = {
    "perceptron": (losses.perceptron_loss(X, SIGNS, 0.1), lambda p, y: max(0.0, -y * (p - 0.1))),
    "hinge": (losses.hinge(X, SIGNS), hinge),
    "squared hinge": (losses.squared_hinge(X, SIGNS), lambda p, y: hinge(p, y) ** 2 / 2),
    "exponential": (losses.exponential(X, SIGNS), lambda p, y: exp(-y * p)),
    "logistic": (losses.logistic(X, SIGNS), lambda p, y: log(1 + exp(-y * p))),
    "novelty": (losses.novelty(X, 0.7), lambda p, y: max(0.0, 0.7 - p)),
    "novelty, usual": (losses.novelty(X), lambda p, y: max(0.0, 1 - p)),
    "least squares": (losses.least_squares(X, REALS), lambda p, y: (p - y) ** 2 / 2),
    "absolute": (losses.absolute(X, REALS), lambda p, y: abs(p - y)),
    "quantile": (losses.quantile(X, REALS, 0.3), lambda p, y: max(0.3 * (p - y), -0.7 * (p - y))),
    "insensitive": (losses.eps_insensitive(X, REALS, 0.6), lambda p, y: max(0.0, abs(p - y) - 0.6)),
    "huber": (losses.huber(X, REALS), SCALARS["huber"][2]),
    "poisson": (losses.poisson(X, [0, 3, 1]), lambda p, y: exp(p) - y * p),
}


@pytest.mark.parametrize("reg", [0.0, 0.8])
@pytest.mark.parametrize("name", DATA)
def test_a_loss_over_data_by_hand(name, reg):
    data, value = DATA[name]
    data = data.regularized(reg) if reg else data
    labels = [1.0] * 3 if name.startswith("novelty") else list(data.y)
    expected = [value(x[0] * 0.4 - x[1] * 0.3, y) + reg / 2 * 0.25 for x, y in zip(X, labels, strict=True)]
    assert data.values(W) == pytest.approx(expected) and len(data) == 3 and data.dim == 2
    rows = np.array([W, -W, 2 * W])
    mixed = [data[t].value(rows[t]) for t in range(3)]
    assert data.values(rows) == pytest.approx(mixed)
    assert [data[t].value(W) for t in range(3)] == pytest.approx(expected)
    assert data[1:].values(W) == pytest.approx(expected[1:])
    assert losses.values(data, W) == pytest.approx(expected)
    h = 1e-6
    for t in range(3):
        slope = [(data[t].value(W + h * e) - data[t].value(W - h * e)) / (2 * h) for e in np.eye(2)]
        assert data[t].subgradient(W) == pytest.approx(slope, abs=1e-6)
    assert data.subgradients(W) == pytest.approx(np.array([data[t].subgradient(W) for t in range(3)]))
    assert data.subgradients(rows) == pytest.approx(
        np.array([data[t].subgradient(rows[t]) for t in range(3)])
    )


def test_margins_over_data():
    data = losses.perceptron_loss(X, SIGNS, 0.1)
    assert data.margins(W) == pytest.approx([-0.2 - 0.1, 0.65 + 0.1, 0.8 - 0.1])
    assert losses.novelty([[1.0]], 1.0)[0].subgradient([1.0]) == 0.0
    assert losses.novelty([[0.5]]).values([1.0]).tolist() == [0.5]
    assert data.with_kink(0.5).phi.kink == data[0].with_kink(0.5).phi.kink == 0.5
    for reg in (0.0, -1.0):
        with pytest.raises(ValueError, match="reg must be"):
            data.regularized(reg)
    assert losses.Examples(X, SIGNS, phi.LOGISTIC).reg == losses.Example([1.0], 1.0, phi.LOGISTIC).reg == 0.0
    with pytest.raises(ValueError, match="reg must be"):
        losses.Examples(X, SIGNS, phi.LOGISTIC, -0.1)
    with pytest.raises(ValueError, match="reg must be"):
        losses.Example(X[0], 1.0, phi.LOGISTIC, -0.1)


def test_quantiles_lie_between_0_and_1():
    assert losses.quantile(X, REALS, 0.0).phi == phi.TubeLoss(0.0, 1.0)
    assert losses.quantile(X, REALS, 1.0).phi == phi.TubeLoss(1.0, 0.0)
    with pytest.raises(ValueError, match="tau"):
        losses.quantile(X, REALS, 1.1)


def test_a_matrix_of_weights_is_scored_row_by_row():
    weights = np.array([[0.4, -0.3], [1.0, 0.2], [-0.6, 0.5]])
    scores = [[w[0] * x[0] + w[1] * x[1] for w in weights] for x in X]
    classes = [2, 0, 1]
    for made, loss in (
        (losses.soft_margin(X, classes, DELTA, GAMMA), phi.SoftMargin(DELTA, GAMMA)),
        (losses.soft_margin(X, classes, DELTA), phi.SoftMargin(DELTA, np.ones((3, 3)))),
        (losses.softmax(X, classes, 3), phi.SOFTMAX),
    ):
        for f, x, y, score in zip(made, X, classes, scores, strict=True):
            assert f.dim == 6 and f.scores(weights.ravel()) == pytest.approx(score)
            assert f.value(weights.ravel()) == pytest.approx(loss.value(np.array(score), y))
            slope = loss.slope(np.array(score), y)
            assert f.subgradient(weights.ravel()) == pytest.approx([s * xi for s in slope for xi in x])
    Y, M = np.array([[0.5, 1.0], [0.0, -1.0], [2.0, 0.3]]), [[2.0, 1.0], [1.0, 3.0]]
    for f, y, score in zip(losses.multivariate_regression(X, Y, M), Y, scores, strict=True):
        assert f.dim == 4
        difference = np.array(score[:2]) - y
        assert f.value(weights[:2].ravel()) == pytest.approx(difference @ np.array(M) @ difference / 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: losses.softmax(X, [0, 1, 3], 3), "y must hold classes 0, …, 2"),
        (lambda: losses.softmax(X, [0, 1], 3), "y must have 3 entries, one an example, got 2"),
        (lambda: losses.softmax(X, [0, 1, -1], 3), "y must hold classes"),
        (lambda: losses.softmax(X, [0, 1, 0], 0), "classes must be an integer ≥ 1"),
        (lambda: losses.softmax(X[0], [0], 3), "X must have 2 axes"),
        (lambda: losses.multivariate_regression(X, np.ones((3, 3)), np.eye(2)), "Y must have 2 entries"),
    ],
)
def test_what_losses_of_a_matrix_refuse(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_sums_of_quadratics_by_hand():
    f = losses.Quadratic([1.0, -2.0], 3.0)
    a, b, k = f.coefficients
    assert (a, k) == (3.0, 7.5) and b.tolist() == [-3.0, 6.0] and f.dim == 2
    assert f.value([2.0, 1.0]) == 15.0 and f.subgradient([2.0, 1.0]).tolist() == [3.0, 9.0]
    assert losses.Quadratic([1.0]).curvature == 1.0
    g = losses.Linear([2.0, 5.0])
    assert g.coefficients[0] == g.coefficients[2] == 0.0 and g.value([3.0, -1.0]) == 1.0 and g.dim == 2
    a, b, k = losses.coefficients([f, g])
    assert a.tolist() == [3.0, 0.0] and b.tolist() == [[-3.0, 6.0], [2.0, 5.0]] and k.tolist() == [7.5, 0.0]
    a, b, k = losses.coefficients(np.array([[2.0, 5.0]]))
    assert a.tolist() == k.tolist() == [0.0] and b.tolist() == [[2.0, 5.0]]
    assert losses.coefficients(losses.hinge(X, SIGNS)) is None
    assert losses.coefficients([f, losses.hinge(X, SIGNS)[0]]) is None
    assert losses.values([f, g], [[2.0, 1.0], [3.0, -1.0]]).tolist() == [15.0, 1.0]
    assert losses.values([f, g], [2.0, 1.0]).tolist() == [15.0, 9.0]
    assert losses.values(np.array([[2.0, 5.0], [1.0, 1.0]]), [2.0, 1.0]).tolist() == [9.0, 3.0]
