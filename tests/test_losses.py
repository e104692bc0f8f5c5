"""A loss is the function it says, and its subgradient is one."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import entries, sizes, vectors

from ocolib import losses, phi
from ocolib.losses import (
    Example,
    Examples,
    Linear,
    Quadratic,
    coefficients,
    hinge,
    perceptron_loss,
    values,
)
from ocolib.phi import HingeLoss, PerceptronLoss, Phi
from ocolib.testing import all_of, check_loss, check_phi

NAMES = "Linear", "Quadratic", "perceptron", "perceptron with threshold", "hinge"
every_loss = pytest.mark.parametrize("name", NAMES)


@st.composite
def drawn(draw, name, dim=3):
    kink = draw(st.sampled_from([0.0, 0.5, 1.0]))
    x, y = draw(vectors(dim, 3.0)), draw(st.sampled_from([-1.0, 1.0]))
    return {
        "Linear": Linear(x),
        "Quadratic": Quadratic(x, draw(sizes())),
        "perceptron": perceptron_loss([x], [y], kink=kink)[0],
        "perceptron with threshold": perceptron_loss([x], [y], 1.0, kink)[0],
        "hinge": hinge([x], [y], kink)[0],
    }[name]


@every_loss
@given(data=st.data())
def test_every_subgradient_lies_below_its_loss(name, data):
    f = data.draw(drawn(name))
    w, u = data.draw(vectors(3, 3.0)), data.draw(vectors(3, 3.0))
    gap = f.value(u) - f.value(w) - f.subgradient(w) @ (u - w)
    assert gap >= -1e-10 * max(1.0, abs(f.value(u)), abs(f.value(w)))


@every_loss
@given(data=st.data())
def test_a_subgradient_away_from_kinks_is_the_slope(name, data):
    f, w, h = data.draw(drawn(name)), data.draw(vectors(3, 3.0)), 1e-5
    if hasattr(f, "phi"):
        bend = 1.0 if isinstance(f.phi, HingeLoss) else 0.0
        if abs(f.phi.margin(w @ f.x, f.y) - bend) < 1e-3:
            return
    slope = [(f.value(w + h * e) - f.value(w - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(f.subgradient(w), slope, atol=1e-5)


@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("kink", [0.0, 0.25, 1.0])
def test_at_a_kink_the_loss_owns_the_choice(kink, y):
    x = np.array([2.0, -1.0])
    np.testing.assert_array_equal(perceptron_loss([x], [y], kink=kink)[0].subgradient([0, 0]), -kink * y * x)
    np.testing.assert_array_equal(hinge([x], [y], kink)[0].subgradient([y, y]), -kink * y * x)
    np.testing.assert_array_equal(
        perceptron_loss([x], [y], threshold=2.0, kink=kink)[0].subgradient([1, 0]), -kink * y * x
    )


@pytest.mark.parametrize("kind", all_of(Phi), ids=lambda kind: kind.__name__)
def test_every_phi_of_the_library_passes_check_phi(kind):
    check_phi(kind)


def test_the_kinks_are_full_for_the_perceptron_and_none_for_the_hinge():
    assert perceptron_loss([[1.0]], [1])[0].subgradient([0.0]) == -1.0
    assert hinge([[1.0]], [1])[0].subgradient([1.0]) == 0.0


def test_values_by_hand():
    X, y = [[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]], [1, -1, 1]
    w = np.array([1.0, -1.0])
    np.testing.assert_array_equal(perceptron_loss(X, y).values(w), [1.0, 4.0, 1.0])
    np.testing.assert_array_equal(perceptron_loss(X, y, threshold=-2.0).values(w), [0.0, 6.0, 0.0])
    np.testing.assert_array_equal(hinge(X, y).values(w), [2.0, 5.0, 2.0])
    np.testing.assert_array_equal(perceptron_loss(X, y, 1.0).margins(w), [-2.0, -3.0, -2.0])
    assert Linear([2, 3]).value(w) == -1.0
    assert Quadratic([0, 1], 2.0).value(w) == 5.0
    np.testing.assert_array_equal(Quadratic([0, 1], 2.0).subgradient([1, -1]), [2.0, -4.0])


@pytest.mark.parametrize("make", [perceptron_loss, hinge, lambda X, y: perceptron_loss(X, y, 0.5, 0.25)])
def test_losses_over_data_are_their_examples(make):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, (12, 3)).astype(float), rng.choice([-1.0, 1.0], 12)
    data, W = make(X, y), rng.integers(-1, 2, (12, 3)).astype(float)
    assert (len(data), data.dim, data[0].dim) == (12, 3, 3)
    for w in (W[0], W):
        row = np.broadcast_to(w, (12, 3))
        np.testing.assert_allclose(data.values(w), [data[t].value(row[t]) for t in range(12)])
        np.testing.assert_allclose(data.subgradients(w), [data[t].subgradient(row[t]) for t in range(12)])
        np.testing.assert_allclose(data.predictions(w), [row[t] @ X[t] for t in range(12)])
        np.testing.assert_allclose(data.margins(w), y * (data.predictions(w) - data.phi.threshold))
    some = data[3:7]
    assert isinstance(some, Examples)
    np.testing.assert_array_equal(some.X, X[3:7])
    np.testing.assert_array_equal(some.y, y[3:7])
    assert some.phi == data.phi
    assert [f.y for f in data] == y.tolist()
    other = data.with_kink(0.125)
    assert (other.phi.kink, other.phi.threshold) == (0.125, data.phi.threshold)
    assert data[0].with_kink(0.125).phi == other.phi


@pytest.mark.parametrize("name", ["Linear", "Quadratic"])
@given(data=st.data())
def test_coefficients_are_those_of_the_loss(name, data):
    f, w = data.draw(drawn(name)), data.draw(vectors(3))
    a, b, k = f.coefficients
    assert f.value(w) == pytest.approx(0.5 * a * (w @ w) + b @ w + k, rel=1e-12, abs=1e-9)


@given(w=vectors(2), c=entries(3.0))
def test_values_of_any_form_of_losses_agree(w, c):
    Z = np.array([[1.0, c], [c, -2.0], [0.0, 3.0]])
    path = np.array([w, -w, 2 * w])
    for point in (w, path):
        wanted = (Z * point).sum(axis=1)
        np.testing.assert_allclose(values(Z, point), wanted)
        np.testing.assert_allclose(values([Linear(z) for z in Z], point), wanted)
        np.testing.assert_allclose(values(np.stack([Z, -Z]), point), [wanted, -wanted])
    mixed = [Linear(Z[0]), Quadratic(Z[1], 3.0), hinge([Z[2]], [1])[0]]
    np.testing.assert_allclose(values(mixed, path), [f.value(p) for f, p in zip(mixed, path, strict=True)])
    np.testing.assert_allclose(values(mixed, w), [f.value(w) for f in mixed])


def test_coefficients_of_every_form_of_losses():
    Z = np.arange(6.0).reshape(3, 2)
    a, b, k = coefficients(Z)
    assert a.shape == k.shape == (3,)
    np.testing.assert_array_equal(b, Z)
    a, b, k = coefficients([Linear(Z[0]), Quadratic(Z[1], 2.0)])
    np.testing.assert_array_equal(a, [0.0, 2.0])
    np.testing.assert_array_equal(b, [[0.0, 1.0], [-4.0, -6.0]])
    np.testing.assert_array_equal(k, [0.0, 13.0])
    assert coefficients(hinge([[1.0]], [1])) is None
    assert coefficients([Linear([1.0]), hinge([[1.0]], [1])[0]]) is None


def test_a_loss_keeps_its_own_copy_of_what_it_was_given():
    z, X, y = np.ones(2), np.ones((2, 2)), np.ones(2)
    kept = Linear(z), perceptron_loss(X, y), Quadratic(z), Example(z, 1, PerceptronLoss())
    for given_array in (z, X, y):
        given_array *= -7.0
    assert kept[0].value([1, 1]) == 2.0
    assert kept[1].predictions([1, 1]).tolist() == [2.0, 2.0]
    assert kept[1].y.tolist() == [1.0, 1.0]
    assert kept[2].value([1, 1]) == 0.0
    assert kept[3].x.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        kept[0].subgradient([1, 1])[0] = 5.0


def test_all_rounds_of_examples_are_the_examples_themselves():
    data = hinge(np.eye(3), [1, -1, 1])
    assert data[:3] == data
    assert len(data[1:3]) == 2 and np.array_equal(data[1:3].X, np.eye(3)[1:]) and list(data[1:3].y) == [-1, 1]


# ---------------------------------------------------------------- φ by hand


P = [-2.3, -1.0, -0.4, 0.0, 0.3, 1.0, 1.7]


def above(p, y):
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
        above,
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
        lambda p, y: above(p, y) ** 2 / 2,
        lambda p, y: -y * above(p, y),
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
    with pytest.raises(ValueError, match=r"only PerceptronLoss and HingeLoss have a kink .*, got Logistic"):
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
        with pytest.raises(ValueError, match="M must be symmetric and positive semidefinite"):
            phi.QuadraticForm(M)


# ---------------------------------------------------------------- losses over data

X, W = np.array([[1.0, 2.0], [-0.5, 1.5], [2.0, 0.0]]), np.array([0.4, -0.3])
SIGNS, REALS = [1.0, -1.0, 1.0], [0.5, -1.0, 2.0]
DATA = {
    "perceptron": (losses.perceptron_loss(X, SIGNS, 0.1), lambda p, y: max(0.0, -y * (p - 0.1))),
    "hinge": (losses.hinge(X, SIGNS), above),
    "squared hinge": (losses.squared_hinge(X, SIGNS), lambda p, y: above(p, y) ** 2 / 2),
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
        (lambda: losses.softmax(X, [0, 1], 3), "y must have 3 entries, one per example, got 2"),
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


def test_every_loss_passes_check_loss():
    X, y = np.random.default_rng(0).integers(-2, 3, (6, 3)).astype(float), np.array([1.0, -1, 1, 1, -1, -1])
    delta = 1.0 - np.eye(3)
    made = [Linear([1.0, -2.0, 0.5]), Quadratic([1.0, 0.0, -1.0], 0.7)]
    made += [*perceptron_loss(X, y, 0.5, 0.3), *hinge(X, y).regularized(0.4), *losses.logistic(X, y)]
    made += [*losses.novelty(X), *losses.quantile(X, y, 0.3), *losses.huber(X, y), *losses.poisson(X, y + 1)]
    made += [*losses.soft_margin(X, [0, 1, 2, 0, 1, 2], delta), *losses.softmax(X, [0, 1, 2, 0, 1, 2], 3)]
    made += losses.multivariate_regression(X, X[:, :2], [[2.0, 1.0], [1.0, 2.0]])
    for loss in made:
        check_loss(loss)


def test_many_plays_at_once_are_each_one_by_one():
    rng = np.random.default_rng(1)
    X, y, W = rng.standard_normal((5, 3)), np.array([1.0, -1, 1, 1, -1]), rng.standard_normal((4, 5, 3))
    for data in (hinge(X, y).regularized(0.3), perceptron_loss(X, y, 0.2), losses.logistic(X, y)):
        paid, slopes, one = data.values(W), data.subgradients(W), data.values(W[0, 0])
        for i, t in np.ndindex(4, 5):
            assert paid[i, t] == pytest.approx(data[t].value(W[i, t]), rel=1e-13)
            assert slopes[i, t] == pytest.approx(data[t].subgradient(W[i, t]), rel=1e-13, abs=1e-15)
            assert one[t] == pytest.approx(data[t].value(W[0, 0]), rel=1e-13)
    with pytest.raises(ValueError, match="w must have a row for each of 5 rounds"):
        data.values(W[:, :4])


def test_phi_lives_in_its_own_room():
    assert not any(hasattr(losses, name) for name in ("HingeLoss", "LOGISTIC", "SoftMargin"))


def test_one_bad_label_among_good_ones_is_refused():
    rows = np.ones((3, 2))
    with pytest.raises(ValueError, match=r"got 0\.5$"):
        losses.hinge(rows, [1.0, -1.0, 0.5])
    with pytest.raises(ValueError, match=r"got 0; write 2\*y - 1"):
        losses.hinge(rows, [1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=r"got 2$"):
        losses.hinge(rows, [1.0, -1.0, 2.0])
    with pytest.raises(ValueError, match="≥ 0, got -1"):
        losses.poisson(rows, [0, 2, -1])
    for labels in ([0, 1, 3], [0, 1, 1.5], [-1, 0, 1]):
        with pytest.raises(ValueError):
            losses.softmax(rows, labels, 3)
    with pytest.raises(ValueError, match="gamma ≥ 0"):
        losses.soft_margin(rows, [0, 1, 0], np.ones((2, 2)), [[1.0, -1.0], [1.0, 1.0]])


def test_a_phi_of_ones_own_has_to_say_all():
    bare = Phi()
    for call in (bare.value, bare.slope, bare.expression):
        with pytest.raises(NotImplementedError):
            call(0.0, 1.0)
    assert (bare.lipschitz, bare.smooth, bare.curvature, bare.takes, bare.threshold) == (
        None,
        None,
        None,
        "signs",
        0,
    )
