"""Sets, regularisers and Gibbs' variational principle, where the numbers are easy to see."""

from math import exp, log

import numpy as np
import pytest
from scipy.optimize import nnls

from ocolib import losses
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy, gibbs, kl, xlogx
from ocolib.sets import KINDS, Ball, Box, Halfspace, Hull, L1Ball, Orthant, Simplex, Space

#: a set, and a way out of it from a point of its boundary
BORDERS = [
    (Orthant(2), [0.0, 3.0], [-1.0, 0.0]),
    (Ball(2, 1.0, [0.0, 0.5]), [1.0, 0.5], [1.0, 0.0]),
    (Box([-1.0, 0.0], [1.0, 2.0]), [0.0, 2.0], [0.0, 1.0]),
    (Box([-1.0, 0.0], [1.0, 2.0]), [-1.0, 0.5], [-1.0, 0.0]),
    (Simplex(2), [0.5, 0.5], [1.0, 0.0]),
    (Simplex(2), [0.0, 1.0], [-1.0, 1.0]),
    (L1Ball(2), [0.5, -0.5], [1.0, 0.0]),
    (Halfspace([0.0, 2.0], 2.0), [0.0, 1.0], [0.0, 1.0]),
    (Hull(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])), [0.5, 0.0], [0.0, -1.0]),
]


@pytest.mark.parametrize(("over", "point", "out"), BORDERS, ids=lambda x: type(x).__name__)
def test_a_billionth_is_forgiven_and_no_more(over, point, out):
    point, out = np.array(point), np.array(out)
    assert over.contains(point) and over.contains(point + 0.9e-9 * out)
    assert not over.contains(point + 1.2e-9 * out)
    assert over.contains(point + 0.2 * out, tol=0.25) and not over.contains(point + 0.35 * out, tol=0.25)


def test_the_forgiven_border_itself_is_in():
    """Halves and quarters, so that nothing is rounded."""
    assert Simplex(2).contains([-0.25, 1.25], tol=0.25) and Simplex(2).contains([0.5, 0.75], tol=0.25)
    assert Orthant(1).contains([-0.25], tol=0.25)
    assert Box([0.0], [1.0]).contains([-0.25], tol=0.25) and Box([0.0], [1.0]).contains([1.25], tol=0.25)
    assert Halfspace([1.0], 0.5).contains([0.75], tol=0.25)
    assert L1Ball(1, 0.5).contains([0.75], tol=0.25) and Ball(1, 0.5).contains([0.75], tol=0.25)
    assert Space(2).contains([1e150, 0.0]) and not Space(2).contains([1e151, 0.0])


@pytest.mark.parametrize("over", [over for over, _, _ in BORDERS[:-1]], ids=lambda over: type(over).__name__)
def test_a_point_of_another_dimension_is_refused(over):
    for x in ([0.0, 0.0, 0.0], 0.5):
        with pytest.raises(ValueError, match="x must have 2 entries on its last axis"):
            over.contains(x)


def test_a_set_is_of_size_1_unless_told():
    assert Ball(2) == Ball(2, 1.0) and L1Ball(2) == L1Ball(2, 1.0)
    assert Ball(3, 2.5).diameter == L1Ball(3, 2.5).diameter == 5.0
    assert Simplex(1).diameter == 0.0 and Simplex(2).diameter == pytest.approx(2**0.5)
    assert Box([0.0, 1.0], [3.0, 5.0]).diameter == 5.0


def test_the_farthest_point_of_each():
    assert Ball(2, 2.0, [1.0, 0.0]).farthest([4.0, 4.0]) == 7.0
    assert Box([0.0, 0.0], [3.0, 1.0]).farthest([-1.0, 4.0]) == pytest.approx(32**0.5)
    assert Simplex(3).farthest([0.5, 0.1, 0.4]) == pytest.approx((0.25 + 0.81 + 0.16) ** 0.5)
    assert L1Ball(2, 2.0).farthest([1.0, 0.5]) == pytest.approx((9 + 0.25) ** 0.5)
    assert Hull([[0.0, 0.0], [3.0, 4.0]]).farthest([0.0, 0.0]) == 5.0
    assert Orthant(2).farthest([0, 0]) == Space(2).diameter == np.inf


def test_no_negative_nought_comes_out():
    shown = L1Ball(2).project([-0.1, -5.0])
    assert shown.tolist() == [0.0, -1.0] and not np.signbit(shown[0])


def test_a_box_names_the_coordinate_that_is_wrong():
    with pytest.raises(ValueError, match=r"got low\[2\] = 5 > high\[2\] = 3"):
        Box([0.0, 1.0, 5.0], [0.0, 2.0, 3.0])
    assert Box([1.0], [1.0]).project([7.0]) == 1.0


def test_a_halfspace_has_a_minimum_in_one_direction_only():
    over = Halfspace([3.0, 4.0], 10.0)
    lowest = over.minimize_linear([[0.0, 0.0], [-3.0, -4.0], [-0.3, -0.4]])
    assert lowest == pytest.approx(np.array([[0.0, 0.0], [1.2, 1.6], [1.2, 1.6]]))
    assert over.distance == pytest.approx(2.0) and over.unit == pytest.approx([0.6, 0.8])
    for c in ([3.0, 4.0], [-3.0, -4.1], [1.0, 0.0]):
        with pytest.raises(ValueError, match="unbounded below"):
            over.minimize_linear([[0.0, 0.0], c])
    assert Halfspace([3.0, 4.0], -10.0).minimize_linear([0.0, 0.0]) == pytest.approx([-1.2, -1.6])
    assert over.project([[3.0, 4.0], [1.0, 1.0]]) == pytest.approx(np.array([[1.2, 1.6], [1.0, 1.0]]))


def test_least_norm_settles_ties():
    assert Simplex(3).minimize_linear([1.0, 2.0, 1.0]).tolist() == [0.5, 0.0, 0.5]
    assert L1Ball(3, 2.0).minimize_linear([1.0, -3.0, 3.0]).tolist() == [0.0, 1.0, -1.0]
    assert Box([-1.0, 2.0], [1.0, 3.0]).minimize_linear([0.0, 0.0]).tolist() == [0.0, 2.0]
    assert Ball(2, 1.0, [3.0, 4.0]).minimize_linear([0.0, 0.0]) == pytest.approx([2.4, 3.2])
    assert Hull([[1.0, -1.0], [1.0, 3.0], [4.0, 0.0]]).minimize_linear([1.0, 0.0]) == pytest.approx(
        [1.0, 0.0]
    )


def triangle_nearest(y):
    """Nearest point of the triangle (0, 0), (4, 0), (0, 2): inside, or the nearest on one of its sides."""
    corners = [np.array(v) for v in ((0.0, 0.0), (4.0, 0.0), (0.0, 2.0))]
    if y[0] >= 0 and y[1] >= 0 and y[0] / 4 + y[1] / 2 <= 1:
        return y
    sides = [(a, b - a) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    near = [a + np.clip((y - a) @ d / (d @ d), 0, 1) * d for a, d in sides]
    return min(near, key=lambda x: np.linalg.norm(x - y))


def test_the_nearest_point_of_a_triangle():
    over = Hull([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0], [1.0, 0.5], [2.0, 0.0]])  # two of them are no corners
    points = np.array([[x, y] for x in (-3.0, -1.0, 0.5, 2.0, 5.0) for y in (-2.0, 0.0, 0.7, 1.0, 4.0)])
    nearest = np.array([triangle_nearest(y) for y in points])
    assert over.project(points) == pytest.approx(nearest, abs=1e-9)
    farther = np.array([triangle_nearest(1e6 * y) for y in points])
    assert over.project(1e6 * points) == pytest.approx(farther, abs=1e-6)
    assert over.contains(points).tolist() == np.isclose(points, nearest).all(axis=1).tolist()
    assert over.diameter == pytest.approx(20**0.5) and over.dim == 2


@pytest.mark.parametrize("seed", range(60))
def test_the_nearest_point_of_any_hull(seed):
    """It lies in the hull (by non-negative least squares), and no vertex is on the side of y."""
    rng = np.random.default_rng(seed)
    corners, dim = rng.integers(1, 12), rng.integers(1, 5)
    V = rng.integers(-3, 4, (corners, dim)) / 1.0 if seed % 2 else rng.standard_normal((corners, dim))
    y = rng.choice([0.3, 1.0, 20.0]) * rng.standard_normal(dim)
    x = Hull(V).project(y)
    _, missing = nnls(np.vstack([V.T, np.ones(corners)]), np.append(x, 1.0))
    assert missing <= 1e-9 and ((V - x) @ (y - x)).max() <= 1e-9 * max(1.0, np.linalg.norm(y - x))
    c = rng.integers(-2, 3, dim) / 1.0
    lowest = Hull(V).minimize_linear(c)
    face = V[V @ c <= (V @ c).min() + 1e-9]
    _, missing = nnls(np.vstack([face.T, np.ones(len(face))]), np.append(lowest, 1.0))
    assert missing <= 1e-9 and ((face - lowest) @ -lowest).max() <= 1e-9


def test_a_tetrahedron_in_space():
    over, y = Hull(np.vstack([np.zeros(3), np.eye(3)])), np.array([2.0, 3.0, -1.0])
    assert over.project(y) == pytest.approx([0.0, 1.0, 0.0])
    assert over.project([1.0, 1.0, 1.0]) == pytest.approx([1 / 3] * 3)
    assert over.project([0.2, 0.3, 0.1]) == pytest.approx([0.2, 0.3, 0.1])
    assert over.project([1.0, 0.8, -5.0]) == pytest.approx([0.6, 0.4, 0.0])


# ---------------------------------------------------------------- regularisers


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
    with pytest.raises(ValueError, match="center must have 2 entries, got 3"):
        SquaredNorm([1.0, 2.0, 3.0]).minimize([1.0, 2.0], 1.0, Ball(2))


def test_a_weight_may_grow_to_1e150():
    R, over = UnnormalizedEntropy(), Orthant(1)
    assert R.minimize([-345.0], 1.0, over) == pytest.approx(exp(345.0))
    with pytest.raises(ValueError, match=r"−eta·c must be at most 345 \(exp\), got 345.5"):
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


# ---------------------------------------------------------------- to the last bit, and in many dimensions


def poured(y, total):
    """max(y − θ, 0) with the θ that makes the sum right, by halving."""
    low, high = y.min() - total, y.max()
    for _ in range(200):
        theta = (low + high) / 2
        low, high = (theta, high) if np.maximum(y - theta, 0.0).sum() > total else (low, theta)
    return np.maximum(y - theta, 0.0)


@pytest.mark.parametrize("spread", [1e-4, 0.01, 1.0, 50.0])
def test_a_simplex_of_many_dimensions(spread):
    """If the spread is small everybody has a share; if it is large, few."""
    y = spread * np.random.default_rng(0).standard_normal(1000)
    assert Simplex(1000).project(y) == pytest.approx(poured(y, 1.0), abs=1e-12)
    assert L1Ball(1000, 0.7).project(-y) == pytest.approx(
        -np.sign(y) * poured(np.abs(y), 0.7) if np.abs(y).sum() > 0.7 else -y, abs=1e-12
    )


def test_a_point_of_the_set_is_its_own_nearest_to_the_last_bit():
    assert L1Ball(2).project([0.1, 0.9]).tolist() == [0.1, 0.9]
    assert Ball(1, 0.1, [0.1]).project([1e-18]).tolist() == [1e-18], "0.1 + (1e-18 − 0.1) is 0"


class Numbers:
    """(1, 2), (−3, 2), … in turn."""

    def __init__(self):
        self.turn = 0

    def vector(self):
        self.turn += 1
        return np.array([[1.0, 2.0], [-3.0, 2.0]][self.turn % 2 - 1])

    nonzero = vector

    def size(self):
        return 0.5


def test_examples_of_sets():
    assert KINDS[Box](2, Numbers()) == Box([1.0, 2.0], [4.0, 4.0])
    assert KINDS[Halfspace](2, Numbers()) == Halfspace([1.0, 2.0], -3.0)
    assert KINDS[Ball](2, Numbers()) == Ball(2, 0.5, [1.0, 2.0]) and KINDS[L1Ball](2, Numbers()) == L1Ball(
        2, 0.5
    )


def test_a_tie_is_one_though_large_numbers_are_rounded():
    """0.1·x + 0.3·y is −1e6 along (3, −1); the point of least norm is a corner, or between two."""
    over = Hull([[-1e7, 0.0], [-1e6, -3e6], [0.0, 0.0], [5e6, 5e6]])
    assert over.minimize_linear([0.1, 0.3]) == pytest.approx([-1e6, -3e6])
    over = Hull([[-6666667.0, -1111111.0], [-1.0, -3333333.0], [0.0, 0.0], [5e6, 5e6]])
    assert over.minimize_linear([0.1, 0.3]) == pytest.approx([-1e6, -3e6])


@pytest.mark.parametrize("n", [1, 7, 8, 9, 17, 100])
def test_rows_in_which_all_have_a_share(n):
    """Nearly equal entries: nothing is cut off, whether there are few rows or many."""
    for rows in (1, 2, 30):
        Y = 5.0 + np.random.default_rng(n).random((rows, n)) / n
        assert Simplex(n).project(Y) == pytest.approx(Y - (Y.sum(axis=1) - 1.0)[:, None] / n, abs=1e-12)


def test_a_slope_may_be_small():
    assert Hull([[1.0, 0.0], [-1.0, 0.0]]).minimize_linear([1e-13, 0.0]).tolist() == [-1.0, 0.0]
    assert Hull([[1e-13], [-1e-13]]).minimize_linear([2.0]).tolist() == [-1e-13]
    assert Hull([[3.0], [-1.0]]).minimize_linear([0.0]) == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("size", [1e-30, 1e-8, 1.0, 1e8, 1e60])
def test_a_hull_may_be_small_or_large(size):
    over = Hull(size * np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]))
    for y, nearest in (([1.0, -3.0], [1.0, 0.0]), ([3.0, 3.0], [2.0, 2.0]), ([1.0, 0.5], [1.0, 0.5])):
        assert over.project(size * np.array(y)) == pytest.approx(size * np.array(nearest), abs=1e-12 * size)
    assert over.contains(size * np.ones(2), tol=1e-9 * size) and not over.contains([-size, 0.0], tol=size / 2)


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_point_of_a_hull_of_many_corners(seed):
    rng = np.random.default_rng(seed)
    V, y = rng.standard_normal((25, 6)), 0.7 * rng.standard_normal(6)
    x = Hull(V).project(y)
    _, missing = nnls(np.vstack([V.T, np.ones(25)]), np.append(x, 1.0))
    assert missing <= 1e-9 and ((V - x) @ (y - x)).max() <= 1e-9
