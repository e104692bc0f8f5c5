"""argmin ⟨c, w⟩ + R(w)/eta: against cvxpy, against the optimality conditions, and for any finite input."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KINDS, example, members, sets, sizes, vectors, violation

from ocolib import losses, oracle
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy, gibbs, kl, xlogx
from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space

every_kind = pytest.mark.parametrize("kind", KINDS)


# ---------------------------------------------------------------- against cvxpy


@every_kind
@settings(max_examples=12)
@given(data=st.data())
def test_squared_norm_agrees_with_cvxpy(kind, data):
    over, eta = data.draw(sets(kind)), data.draw(sizes())
    c, center = data.draw(vectors(over.dim, 3.0)), data.draw(vectors(over.dim, 3.0))
    R = SquaredNorm(center) if data.draw(st.booleans()) else SquaredNorm()
    ours, theirs = R.minimize(c, eta, over), oracle.minimize(R, c, eta, over)
    scale = max(1.0, np.abs(eta * c).max(), np.abs(ours).max())
    gap = [eta * (c @ w) + R.value(w) for w in (ours, theirs)]
    assert abs(gap[0] - gap[1]) <= 1e-8 * scale**2
    assert np.abs(ours - theirs).max() <= 1e-5 * scale


@pytest.mark.parametrize(("R", "kind"), [(NegativeEntropy(), Simplex), (UnnormalizedEntropy(), Orthant)])
@settings(max_examples=15)
@given(data=st.data())
def test_entropies_agree_with_cvxpy(R, kind, data):
    over, eta = kind(data.draw(st.integers(1, 5))), data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    c = data.draw(vectors(over.dim, 3.0))
    ours, theirs = R.minimize(c, eta, over), oracle.minimize(R, c, eta, over)
    assert np.abs(ours - theirs).max() <= 2e-5 * max(1.0, ours.max())
    gap = [eta * (c @ w) + R.value(np.maximum(w, 0)) for w in (ours, theirs)]
    assert gap[0] <= gap[1] + 1e-8 * max(1.0, abs(gap[0]))
    assert gap[1] == pytest.approx(gap[0], abs=1e-8 * max(1.0, abs(gap[0])))


# ---------------------------------------------------------------- certificates


@every_kind
@given(data=st.data())
def test_squared_norm_carries_its_certificate(kind, data):
    """The gradient at the minimiser points into the set: ⟨eta·c + w − center + eta·a·w, v − w⟩ ≥ 0."""
    over, eta = data.draw(sets(kind)), data.draw(sizes())
    a = data.draw(st.sampled_from([0.0, 1.0, 3.0]))
    c, center = data.draw(vectors(over.dim, 3.0)), data.draw(vectors(over.dim, 3.0))
    w = SquaredNorm(center).minimize(c, eta, over, curvature=a)
    gradient = eta * c + w - center + eta * a * w
    assert violation(over, w) <= 1e-12
    assert ((members(over) - w) @ gradient).min() >= -1e-10
    assert (gradient @ gradient <= 1e-18) or not isinstance(over, Space)


@given(c=st.integers(1, 6).flatmap(lambda n: vectors(n, 30.0)), eta=sizes())
def test_negative_entropy_carries_its_certificate(c, eta):
    """eta·c_i + log w_i is one number, and the weights are a distribution."""
    w = NegativeEntropy().minimize(c, eta, Simplex(len(c)))
    assert (w > 0).all()
    assert w.sum() == pytest.approx(1.0, abs=1e-14)
    multiplier = eta * c + np.log(w)
    assert np.ptp(multiplier) <= 1e-12 * max(1.0, np.abs(eta * c).max())


@given(c=st.integers(1, 6).flatmap(lambda n: vectors(n, 30.0)), eta=sizes())
def test_unnormalized_entropy_carries_its_certificate(c, eta):
    w = UnnormalizedEntropy().minimize(c, eta, Orthant(len(c)))
    np.testing.assert_allclose(np.log(w), -eta * c, atol=1e-11)


def test_values_by_hand():
    assert SquaredNorm().value([3, 4]) == 12.5
    assert SquaredNorm([3, 3]).value([3, 4]) == 0.5
    assert NegativeEntropy().value([0.5, 0.5, 0.0]) == pytest.approx(-np.log(2))
    assert UnnormalizedEntropy().value([1.0, 0.0, np.e]) == pytest.approx(-1.0)
    assert SquaredNorm([1.0]).value([[1.0], [3.0]]).tolist() == [0.0, 2.0]
    assert xlogx([0.0, 1.0]).tolist() == [0.0, 0.0]
    assert np.isnan(xlogx(-1.0))


def test_the_least_point_of_each_regulariser():
    for over, R, least in [
        (Simplex(4), NegativeEntropy(), np.full(4, 0.25)),
        (Orthant(3), UnnormalizedEntropy(), np.ones(3)),
        (Ball(2), SquaredNorm(), np.zeros(2)),
        (Ball(2), SquaredNorm([3.0, 0.0]), np.array([1.0, 0.0])),
    ]:
        w = R.minimize(np.zeros(over.dim), 0.7, over)
        np.testing.assert_allclose(w, least, atol=1e-15)
        assert R.value(w) <= R.value(members(over)).min() + 1e-12


# ---------------------------------------------------------------- every legal size


@pytest.mark.parametrize("size", [1e6, 1e100, 1e150])
@pytest.mark.parametrize("eta", [1e-3, 1.0, 1e3, 1e150])
def test_entropy_on_the_simplex_never_overflows(size, eta):
    w = NegativeEntropy().minimize([size, -size, 0.0], eta, Simplex(3))
    np.testing.assert_array_equal(w, [0.0, 1.0, 0.0])
    tie = NegativeEntropy().minimize([size, size], eta, Simplex(2))
    np.testing.assert_array_equal(tie, [0.5, 0.5])


def test_a_million_shares_are_added_with_care():
    n = 10**6
    c = np.full((2, n), np.log(10.0))  # weights 1, 0.1, 0.1, …: one after the other they lose four digits
    c[:, 0] = 0.0
    shares = NegativeEntropy().minimize(c, 1.0, Simplex(n))
    np.testing.assert_allclose(shares[:, 0], 1 / (1 + 0.1 * (n - 1)), rtol=1e-13)


def test_entropy_keeps_its_digits_at_a_large_offset():
    c = np.array([0.25, 0.5, 1.0])
    small, large = (NegativeEntropy().minimize(c + b, 1.0, Simplex(3)) for b in (0.0, 2.0**40))
    np.testing.assert_allclose(large, small, rtol=1e-15)


@pytest.mark.parametrize("size", [1e6, 1e100, 1e148])
@pytest.mark.parametrize("eta", [1.0, 100.0])
def test_a_huge_coordinate_does_not_hide_what_the_small_ones_say(size, eta):
    c = np.array([size, 1e-3, 0.0])
    R = SquaredNorm()
    small = eta * 1e-3
    wanted = -np.array([1.0, small, 0.0])
    np.testing.assert_allclose(R.minimize(c, eta, Box([-1] * 3, [1] * 3)), wanted, rtol=1e-14)
    rest = (1 - small) / 2
    np.testing.assert_allclose(R.minimize(c, eta, Simplex(3)), [0.0, rest, 1 - rest], atol=1e-15)
    np.testing.assert_allclose(R.minimize(c, eta, L1Ball(3)), [-1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(R.minimize(c, eta, Ball(3)), [-1, 0, 0], atol=1e-8)
    np.testing.assert_allclose(R.minimize(c * [1, 0, 0], eta, Orthant(3)), [0, 0, 0])
    half = np.array([size, size / 2, 0.0])
    np.testing.assert_allclose(R.minimize(half, eta, Ball(3)), [-(0.8**0.5), -(0.2**0.5), 0], atol=1e-15)
    np.testing.assert_allclose(R.minimize(half, eta, L1Ball(3)), [-1, 0, 0], atol=1e-15)


def test_a_point_to_project_beyond_1e150_is_refused():
    for over in (Space(1), Orthant(1), Ball(1), Box([-1], [1]), Simplex(1), L1Ball(1), Halfspace([1], 0)):
        with pytest.raises(ValueError, match=r"y must be finite, .* of size at most 1e\+150, got 1e\+151"):
            SquaredNorm().minimize([-1e150], 10.0, over)


def test_an_exponential_beyond_1e150_is_refused():
    with pytest.raises(ValueError, match=r"−eta·c must be at most 345, got 400"):
        UnnormalizedEntropy().minimize([-800.0, 0.0], 0.5, Orthant(2))
    assert UnnormalizedEntropy().minimize([-345.0], 1.0, Orthant(1))[0] <= 1e150


@pytest.mark.parametrize("eta", [0.9e-150, 1.1e150, [1.0, 1e-200]])
def test_a_step_whose_square_is_no_float_is_refused(eta):
    for R, over in (
        (SquaredNorm(), Ball(2)),
        (NegativeEntropy(), Simplex(2)),
        (UnnormalizedEntropy(), Orthant(2)),
    ):
        with pytest.raises(ValueError, match=r"eta must be positive \(between 1e-150 and 1e\+150\), got"):
            R.minimize(np.zeros((2, 2)), eta, over)


# ---------------------------------------------------------------- shapes, and what has no closed form


@pytest.mark.parametrize(
    ("R", "over"),
    [
        (SquaredNorm(), Ball(3)),
        (SquaredNorm([1, 0, 0]), Simplex(3)),
        (SquaredNorm(), L1Ball(3)),
        (NegativeEntropy(), Simplex(3)),
        (UnnormalizedEntropy(), Orthant(3)),
    ],
)
def test_many_sums_with_many_steps_are_the_cases_one_by_one(R, over):
    rng = np.random.default_rng(0)
    c, eta = rng.standard_normal((4, 5, 3)), rng.uniform(0.1, 2.0, (4, 5))
    many = R.minimize(c, eta, over)
    assert many.shape == c.shape
    for i in range(4):
        np.testing.assert_allclose(R.minimize(c[i], 0.3, over)[2], R.minimize(c[i, 2], 0.3, over), rtol=1e-14)
        for j in range(5):
            np.testing.assert_allclose(many[i, j], R.minimize(c[i, j], eta[i, j], over), rtol=1e-13)


@pytest.mark.parametrize("R", [NegativeEntropy(), UnnormalizedEntropy()])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_without_a_closed_form_is_refused_and_the_others_are_named(R, kind):
    over = example(kind, 2)
    if (type(R), kind) in {(NegativeEntropy, Simplex), (UnnormalizedEntropy, Orthant)}:
        R.minimize([0, 1], 1.0, over)
        with pytest.raises(ValueError, match=r"quadratic losses.*oracle\.FTRL"):
            R.minimize([0, 1], 1.0, over, curvature=1.0)
    else:
        with pytest.raises(
            ValueError, match=r"no closed form.*NegativeEntropy over Simplex.*oracle\.minimize"
        ):
            R.minimize([0, 1], 1.0, over)


# ---------------------------------------------------------------- by hand


def test_each_regulariser_by_hand():
    c = np.array([1.0, -2.0, 0.5])
    R = SquaredNorm([1.0, 0.0, 2.0])
    assert R.value([2.0, 2.0, 0.0]) == 4.5 and SquaredNorm().value([3.0, 4.0]) == 12.5
    assert R.minimize(c, 0.5, Space(3)) == pytest.approx([0.5, 1.0, 1.75])
    assert R.minimize(c, 0.5, Space(3), 2.0) == pytest.approx([0.25, 0.5, 0.875])
    assert R.range(Ball(3, 1.0)) == pytest.approx(((5**0.5 + 1) ** 2 - (5**0.5 - 1) ** 2) / 2)
    z = np.array([[3.0, 4.0, 0.0], [0.0, -2.0, 0.0]])
    assert R.dual_norm(z).tolist() == [5.0, 2.0] and NegativeEntropy().dual_norm(z).tolist() == [4.0, 2.0]
    assert NegativeEntropy().value([0.5, 0.5, 0.0]) == pytest.approx(-log(2))
    assert NegativeEntropy().range(Simplex(5)) == pytest.approx(log(5))
    powers = [exp(-0.5), exp(1.0), exp(-0.25)]
    assert NegativeEntropy().minimize(c, 0.5, Simplex(3)) == pytest.approx(np.array(powers) / sum(powers))
    assert UnnormalizedEntropy().minimize(c, 0.5, Orthant(3)) == pytest.approx(powers)
    assert UnnormalizedEntropy().value([1.0, 2.0, 0.0]) == pytest.approx(2 * log(2) - 3)


def test_many_steps_at_once():
    c, eta = np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([0.5, 2.0])
    assert SquaredNorm().minimize(c, eta, Space(2)) == pytest.approx(np.array([[-0.5, 0.0], [-4.0, -2.0]]))
    steep = SquaredNorm().minimize(c, eta, Space(2), np.array([0.0, 1.0]))
    assert steep == pytest.approx(np.array([[-0.5, 0.0], [-4 / 3, -2 / 3]]))


def test_what_has_no_closed_form_is_refused():
    for R, over in ((NegativeEntropy(), Simplex(2)), (UnnormalizedEntropy(), Orthant(2))):
        with pytest.raises(ValueError, match="with quadratic losses"):
            R.minimize([[1.0, 2.0]] * 2, 1.0, over, np.array([0.0, 1.0]))
        with pytest.raises(ValueError, match="no closed form"):
            R.minimize([1.0, 2.0], 1.0, Ball(2))
    with pytest.raises(ValueError, match="center must have 2 entries on its last axis"):
        SquaredNorm([1.0, 2.0, 3.0]).minimize([1.0, 2.0], 1.0, Ball(2))


def test_a_weight_may_grow_to_1e150():
    R, over = UnnormalizedEntropy(), Orthant(1)
    assert R.minimize([-345.0], 1.0, over) == pytest.approx(exp(345.0))
    with pytest.raises(ValueError, match=r"−eta·c must be at most 345, got 345.5"):
        R.minimize([-345.5], 1.0, over)


def test_entropies_and_gibbs_by_hand():
    assert xlogx([0.0, 1.0, 2.0]) == pytest.approx([0.0, 0.0, 2 * log(2)])
    assert kl([0.5, 0.5, 0.0], [0.25, 0.5, 0.25]) == pytest.approx(0.5 * log(2))
    assert kl([1.0, 0.0], [1.0, 0.0]) == 0.0
    assert kl([0.5, 0.5], [1.0, 0.0]) == np.inf and kl([1.0, 0.0], [0.5, 0.5]) == pytest.approx(log(2))
    value, tilted = gibbs([0.5, 0.5, 0.0], [1.0, 2.0, 900.0])  # the third is not seen
    assert value == pytest.approx(log((exp(1) + exp(2)) / 2))
    assert tilted == pytest.approx([1 / (1 + exp(1)), exp(1) / (1 + exp(1)), 0.0])
    value, tilted = gibbs([[0.2, 0.8], [1.0, 0.0]], [[1000.0, 1000.0], [-3.0, 5.0]])
    assert value == pytest.approx([1000.0, -3.0]) and tilted == pytest.approx(
        np.array([[0.2, 0.8], [1.0, 0.0]])
    )


def test_many_games_of_linear_losses_have_coefficients_of_their_shape():
    a, b, k = losses.coefficients(np.ones((4, 3, 2)))
    assert a.shape == k.shape == (4, 3) and b.shape == (4, 3, 2)


@pytest.mark.parametrize("eta", [0.5, np.array([0.5, 0.1])])
def test_a_curvature_that_makes_the_objective_concave_is_refused(eta):
    """½·curvature·‖w‖² + ‖w‖²/2eta is convex for curvature > −1/eta only; else the formula is a maximiser."""
    c = np.array([[1.0, 2.0], [0.0, 1.0]])
    found = SquaredNorm().minimize(c, eta, Space(2), curvature=-1.0)
    step = np.broadcast_to(eta, 2)[:, None]
    assert found == pytest.approx(-step * c / (1 - step))
    for curvature in (-1 / 0.5, -3.0, np.array([0.0, -20.0])):
        with pytest.raises(ValueError, match="curvature must be greater than −1/eta"):
            SquaredNorm().minimize(c, eta, Space(2), curvature=curvature)


def test_many_c_and_many_steps_at_once_are_each_one_by_one():
    rng = np.random.default_rng(0)
    c, eta = rng.standard_normal((4, 5, 3)), rng.uniform(0.1, 3.0, (4, 5))
    for R, over in (
        (SquaredNorm([1, 0, 0]), Ball(3)),
        (NegativeEntropy(), Simplex(3)),
        (UnnormalizedEntropy(), Orthant(3)),
    ):
        many = R.minimize(c, eta, over)
        for i, j in np.ndindex(4, 5):
            assert many[i, j] == pytest.approx(R.minimize(c[i, j], eta[i, j], over), rel=1e-14, abs=1e-15)
    R, bend = SquaredNorm(), rng.uniform(0, 2, (4, 5))
    many = R.minimize(c, eta, Ball(3), bend)
    assert many[2, 3] == pytest.approx(R.minimize(c[2, 3], eta[2, 3], Ball(3), bend[2, 3]), rel=1e-14)


def test_entropies_of_large_sums():
    """exp(−1000) is the smaller weight; one coordinate beyond exp(345) is enough to refuse."""
    c = np.array([[3000.0, 2000.0], [-2000.0, -3000.0]])
    assert NegativeEntropy().minimize(c, 1.0, Simplex(2)).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="at most 345"):
        UnnormalizedEntropy().minimize([-346.0, 5.0], 1.0, Orthant(2))


def test_one_negative_weight_is_refused():
    for call in (lambda: kl([1.0, -2.0], [0.5, 0.5]), lambda: kl([0.5, 0.5], [1.0, -2.0])):
        with pytest.raises(ValueError, match="must be ≥ 0, got -2"):
            call()
    with pytest.raises(ValueError, match="mu must be ≥ 0, got -2"):
        gibbs([1.0, -2.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="mu must have an entry > 0"):
        gibbs([[1.0, 2.0], [0.0, 0.0]], [0.0, 0.0])


def test_one_bad_row_among_good_ones_is_refused():
    c = np.zeros((2, 3))
    with pytest.raises(ValueError, match="greater than −1/eta, got -2"):
        SquaredNorm().minimize(c, 1.0, Space(3), [1.0, -2.0])
    with pytest.raises(ValueError, match="quadratic"):
        NegativeEntropy().minimize(c, 1.0, Simplex(3), [0.0, 1.0])
    with pytest.raises(ValueError, match="mu must have an entry"):
        gibbs([[0.5, 0.5], [0.0, 0.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="must be ≥ 0, got -1"):
        gibbs([[0.5, 0.5], [2.0, -1.0]], [1.0, 2.0])


@pytest.mark.parametrize(
    "R", [SquaredNorm(), SquaredNorm([0.2, 0.1, 0.4]), NegativeEntropy(), UnnormalizedEntropy()]
)
def test_the_value_of_many_rows_is_that_of_each(R):
    W = np.random.default_rng(0).dirichlet(np.ones(3), 4)
    assert R.value(W) == pytest.approx([float(R.value(w)) for w in W])
