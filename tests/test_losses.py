"""A loss is the function it says, and its subgradient is one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import entries, sizes, vectors

from ocolib.losses import (
    Example,
    Examples,
    HingeLoss,
    Linear,
    PerceptronLoss,
    Quadratic,
    coefficients,
    hinge,
    perceptron_loss,
    values,
)

NAMES = "Linear", "Quadratic", "perceptron", "perceptron with threshold", "hinge"
every_loss = pytest.mark.parametrize("name", NAMES)


@st.composite
def losses(draw, name, dim=3):
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
    f = data.draw(losses(name))
    w, u = data.draw(vectors(3, 3.0)), data.draw(vectors(3, 3.0))
    gap = f.value(u) - f.value(w) - f.subgradient(w) @ (u - w)
    assert gap >= -1e-10 * max(1.0, abs(f.value(u)), abs(f.value(w)))


@every_loss
@given(data=st.data())
def test_a_subgradient_away_from_kinks_is_the_slope(name, data):
    f, w, h = data.draw(losses(name)), data.draw(vectors(3, 3.0)), 1e-5
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
    f, w = data.draw(losses(name)), data.draw(vectors(3))
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
    assert data[:3] is data and data[0:3] is data
    assert len(data[1:3]) == 2 and np.array_equal(data[1:3].X, np.eye(3)[1:]) and list(data[1:3].y) == [-1, 1]
