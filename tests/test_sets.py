"""Projections and linear minimisers: against cvxpy, against the definition, and at the ends of the floats."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from strategies import BOUNDED, KINDS, entries, example, examples, members, sets, vectors, violation

from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Halfspace, Hull, L1Ball, Orthant, Set, Simplex, Space, inside, norm, unit
from ocolib.testing import all_of, check_set

every_kind = pytest.mark.parametrize("kind", KINDS)
bounded_kind = pytest.mark.parametrize("kind", BOUNDED)


# ---------------------------------------------------------------- projections


@pytest.mark.parametrize("kind", all_of(Set), ids=lambda kind: kind.__name__)
def test_every_set_of_the_library_passes_check_set(kind):
    check_set(kind)


@every_kind
@given(data=st.data())
def test_projection_carries_its_certificate(kind, data):
    """Feasible, idempotent, non-expansive, at an obtuse angle with every point of the set, which stays."""
    over = data.draw(sets(kind))
    y, other = data.draw(vectors(over.dim)), data.draw(vectors(over.dim))
    p, q = over.project(y), over.project(other)
    assert violation(over, p) <= 1e-13 * max(1.0, np.abs(y).max())
    assert over.contains(p)
    np.testing.assert_allclose(over.project(p), p, atol=1e-14, rtol=1e-14)
    assert np.linalg.norm(p - q) <= np.linalg.norm(y - other) + 1e-12
    inside = members(over)
    assert ((inside - p) @ (y - p)).max() <= 1e-10
    assert over.contains(inside).all()
    np.testing.assert_allclose(over.project(inside), inside, atol=1e-14, rtol=1e-14)


def exact_simplex(y, total):
    """The projection in rational arithmetic: no rounding at all."""
    y, total = [Fraction(v) for v in y], Fraction(total)
    best = None
    for k, u in enumerate(sorted(y, reverse=True), start=1):
        theta = (sum(sorted(y, reverse=True)[:k]) - total) / k
        if u > theta:
            best = theta
    return [max(v - best, Fraction(0)) for v in y]


def far(p, exact):
    """The largest error of a coordinate."""
    return max(abs(Fraction(a) - b) for a, b in zip(p.tolist(), exact, strict=True))


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e8, 1e15, 1e150, -1e150])
def test_simplex_projection_is_exact_at_any_offset(offset):
    """The shift by the maximum: without it an offset of 1e8 costs eight digits."""
    for y in np.random.default_rng(0).standard_normal((20, 7)) + offset:
        p = Simplex(7).project(y)
        assert abs(p.sum() - 1.0) <= 1e-12
        assert far(p, exact_simplex(y, 1)) <= 1e-14


@pytest.mark.parametrize(
    "y",
    [
        [0.8e150, 0.8e150, -0.6e150],
        [1e150, 1.0, 0.0],
        [5e-324, -5e-324, 0.0],
        [2.0, 2.0, 2.0],
        [0.0, 0.0, 0.0],
        [-1e150, 1e-308, 1e150],
        [1e8, 1e8 + 0.25, -1e8],
    ],
)
def test_projections_are_exact_on_extreme_input(y):
    y = np.array(y)
    assert far(Simplex(3).project(y), exact_simplex(y, 1)) <= 1e-15
    size = [abs(Fraction(v)) for v in y]
    wanted = y.tolist()
    if sum(size) > Fraction(0.75):
        wanted = [int(np.sign(v)) * p for v, p in zip(y, exact_simplex(np.abs(y), 0.75), strict=True)]
    assert far(L1Ball(3, 0.75).project(y), [Fraction(v) for v in wanted]) <= 1e-15

    n, b = [Fraction(1), Fraction(2), Fraction(2)], Fraction(1, 2)
    excess = max(sum(a * Fraction(v) for a, v in zip(n, y, strict=True)) - b, 0) / 9
    wanted = [Fraction(v) - excess * a for a, v in zip(n, y, strict=True)]
    assert far(Halfspace([1, 2, 2], 0.5).project(y), wanted) <= 2e-15 * max(1, max(size))

    ball = Ball(3, 0.5, [1.0, 0.0, -1.0])
    p = ball.project(y)
    unit = (y - ball.center) / np.abs(y - ball.center).max()
    np.testing.assert_allclose(p, ball.center + 0.5 * unit / np.linalg.norm(unit), rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(Box([-1] * 3, [2] * 3).project(y), np.minimum(np.maximum(y, -1), 2))
    np.testing.assert_array_equal(Orthant(3).project(y), np.maximum(y, 0))
    np.testing.assert_array_equal(Space(3).project(y), y)


def test_the_largest_ball_and_the_farthest_points_are_projected_like_any_other():
    ball = Ball(1, 1e149, [1e150])
    np.testing.assert_allclose(ball.project([-1e150]), [0.9e150], rtol=1e-14)
    assert not ball.contains([-1e150])
    tiny = Ball(2, 1e-150)
    np.testing.assert_allclose(tiny.project([6e149, 8e149]), [6e-151, 8e-151], rtol=1e-14)
    np.testing.assert_array_equal(tiny.project([1e-200, 0.0]), [1e-200, 0.0])


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e148])
def test_projection_lands_in_the_set_at_every_scale(scale):
    """`contains` forgives rounding in proportion to the point, so project → contains always holds."""
    center = scale * np.array([1.0, -2.0, 0.5])
    rng = np.random.default_rng(2)
    for over in (Ball(3, scale, center), L1Ball(3, scale), Halfspace([1.0, -2.0, 0.3], scale)):
        y = scale * 10 * rng.standard_normal((50, 3))
        p = over.project(y)
        assert over.contains(p).all()
        np.testing.assert_allclose(over.project(p), p, rtol=1e-14, atol=1e-14 * scale)


def test_halfspace_projection_meets_the_boundary_from_afar():
    """One pass would leave the rounding of 1e8 in the answer."""
    p = Halfspace([1.0, 1.0], 1.0).project([1e8, 1e8 + 0.5])
    np.testing.assert_allclose(p, [0.25, 0.75], atol=1e-15)
    over = Halfspace([1.0, -2.0, 0.3], 1.0)
    for y in 1e8 * np.random.default_rng(4).standard_normal((50, 1)) * over.normal + [0.1, 0.2, 0.3]:
        assert violation(over, over.project(y)) <= 1e-14


def test_a_halfspace_with_a_tiny_normal_is_the_one_its_formula_says():
    over = Halfspace([3e-310, 4e-310], 5e-310)
    np.testing.assert_allclose(over.project([3.0, 4.0]), [0.6, 0.8], rtol=1e-12)
    huge = Halfspace([1e150, 1e150], 0.0)
    np.testing.assert_allclose(huge.project([1.0, 1.0]), [0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("dim", [1, 3])
def test_many_points_at_once_are_the_points_one_by_one(dim):
    y = np.random.default_rng(3).integers(-3, 4, (4, 5, dim)).astype(float)
    for over in examples(dim):
        many = over.project(y)
        assert many.shape == y.shape
        assert over.contains(y).shape == (4, 5)
        for i, j in product(range(4), range(5)):
            np.testing.assert_allclose(many[i, j], over.project(y[i, j]), rtol=1e-14, atol=1e-15)
            assert over.contains(y)[i, j] == over.contains(y[i, j])
        if np.isfinite(over.diameter):
            best = over.minimize_linear(y)
            assert best.shape == y.shape
            for i, j in product(range(4), range(5)):
                np.testing.assert_allclose(best[i, j], over.minimize_linear(y[i, j]), rtol=1e-14, atol=1e-15)


def test_projection_neither_returns_nor_changes_its_argument():
    for over in examples(3):
        for y in (over.project(np.zeros(3)), np.array([9.0, -8.0, 7.0])):
            before = y.copy()
            p = over.project(y)
            p += 1.0
            np.testing.assert_array_equal(y, before)


def test_whole_numbers_are_as_good_as_floats():
    for over in examples(3):
        np.testing.assert_array_equal(over.project([3, -1, 2]), over.project([3.0, -1.0, 2.0]))
    np.testing.assert_array_equal(Ball(2, 1, [1, 0]).project([5, 0]), [2.0, 0.0])
    np.testing.assert_array_equal(Box([0], [2]).project([7]), [2.0])


def test_no_set_answers_with_a_minus_zero():
    """A play is printed as 0, never as -0, although its linear minimiser or projection changes signs."""
    y = np.array([[0, 0, 0], [-9, 0, 1], [-9, -8, 7], [5, -4, 0], [0, 0, -2]])
    for over in [over for kind in all_of(Set) for over in kind.examples(3, np.random.default_rng(1))]:
        for answer in (over.project(y), over.minimize_linear(y) if np.isfinite(over.diameter) else y):
            assert not np.signbit(answer[answer == 0]).any(), f"{over!r}: {answer}"


@given(y=entries(), c=entries())
def test_in_one_dimension_three_sets_are_one_interval(y, c):
    interval = Box([-2.0], [2.0])
    for over in (Ball(1, 2.0), L1Ball(1, 2.0)):
        np.testing.assert_allclose(over.project([y]), interval.project([y]), atol=1e-15)
        np.testing.assert_array_equal(over.minimize_linear([c]), interval.minimize_linear([c]))
        assert over.diameter == interval.diameter == 4.0
    np.testing.assert_array_equal(Simplex(1).project([y]), [1.0])
    assert Simplex(1).diameter == 0.0


def test_a_set_keeps_its_own_copy_of_what_it_was_given():
    center = np.zeros(2)
    ball = Ball(2, 1.0, center)
    center[0] = 100.0
    np.testing.assert_array_equal(ball.center, [0.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        ball.center[0] = 1.0


# ---------------------------------------------------------------- linear minimisers


@bounded_kind
@given(data=st.data())
def test_minimize_linear_beats_every_point_of_the_set(kind, data):
    over = data.draw(sets(kind))
    c = data.draw(vectors(over.dim, 3.0))
    best = over.minimize_linear(c)
    assert violation(over, best) <= 1e-14 * max(1.0, np.abs(best).max())
    assert c @ best <= (members(over) @ c).min() + 1e-12 * max(1.0, np.abs(best).max())


@bounded_kind
@given(data=st.data())
def test_minimize_linear_is_the_limit_of_ftrl_as_the_step_grows(kind, data):
    """So of several minimisers it is the one of least norm."""
    over = data.draw(sets(kind))
    c = np.round(data.draw(vectors(over.dim, 3.0)))
    np.testing.assert_allclose(
        over.minimize_linear(c), SquaredNorm().minimize(c, 1e9, over), atol=2e-7 * max(1.0, over.diameter)
    )


def test_of_several_minimisers_the_shortest_is_chosen():
    np.testing.assert_allclose(Simplex(3).minimize_linear([1, 0, 0]), [0, 0.5, 0.5])
    np.testing.assert_allclose(L1Ball(3, 2.0).minimize_linear([-3, 3, 1]), [1, -1, 0])
    np.testing.assert_allclose(L1Ball(3).minimize_linear([0, 0, 0]), [0, 0, 0])
    np.testing.assert_allclose(Box([-1, 2, -5], [1, 3, -4]).minimize_linear([0, 0, 0]), [0, 2, -4])
    np.testing.assert_allclose(Ball(2, 1.0, [3, 4]).minimize_linear([0, 0]), [2.4, 3.2])
    np.testing.assert_allclose(Halfspace([0, 2], 4).minimize_linear([0, -3]), [0, 2])
    np.testing.assert_allclose(Halfspace([0, 2], -4).minimize_linear([0, 0]), [0, -2])
    np.testing.assert_allclose(Halfspace([0, 2], 4).minimize_linear([0, 0]), [0, 0])
    np.testing.assert_allclose(Orthant(2).minimize_linear([0, 3]), [0, 0])
    np.testing.assert_allclose(Space(2).minimize_linear([0, 0]), [0, 0])
    corner = Hull([[1.0, -1.0], [1.0, 3.0], [4.0, 0.0]])
    np.testing.assert_allclose(corner.minimize_linear([1.0, 0.0]), [1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e100, 1e150])
def test_minimize_linear_sees_only_the_direction_of_c(size):
    c = np.array([1.0, 1.0, 0.0])
    for over in (Ball(3, 2.0, [1, 0, 0]), Box([-1] * 3, [2] * 3), Simplex(3), L1Ball(3)):
        np.testing.assert_allclose(over.minimize_linear(size * c), over.minimize_linear(c), atol=1e-15)
    np.testing.assert_allclose(Halfspace(c, 2.0).minimize_linear(-size * c), [1, 1, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("over", "c"),
    [
        (Space(2), [0, 1]),
        (Space(2), [[0, 0], [0, 1]]),
        (Orthant(2), [1, -1e-9]),
        (Orthant(2), [[1, 1], [1, -1]]),
        (Halfspace([1, 0], 1), [1, 0]),
        (Halfspace([1, 0], 1), [-1, 1e-6]),
        (Halfspace([1, 0], 1), [[-1, 0], [0, 1]]),
        (Halfspace([1, 1], 1), [1e150, 1e150]),
    ],
)
def test_an_unbounded_minimum_is_refused(over, c):
    with pytest.raises(ValueError, match="unbounded below on"):
        over.minimize_linear(c)


# ---------------------------------------------------------------- sizes and membership


def extremes(over):
    """Points that include all corners, and the ends of the ball along the axes and diagonals."""
    signs = np.array([s for s in product([-1.0, 0.0, 1.0], repeat=over.dim) if any(s)])
    return over.minimize_linear(signs)


@bounded_kind
@given(data=st.data())
def test_diameter_is_the_largest_distance_between_two_points(kind, data):
    over = data.draw(sets(kind, max_dim=3))
    ends = extremes(over)
    widest = max(np.linalg.norm(ends - x, axis=1).max() for x in ends)
    assert over.diameter == pytest.approx(widest, abs=1e-12)


@bounded_kind
@given(data=st.data())
def test_farthest_is_the_largest_distance_from_a_point(kind, data):
    over = data.draw(sets(kind, max_dim=3))
    point = data.draw(vectors(over.dim))
    ends = extremes(over)
    middle = ends.mean(axis=0)  # of a ball its center: the farthest point lies across it
    ends = np.vstack([ends, over.minimize_linear(point - middle)])
    assert over.farthest(point) == pytest.approx(np.linalg.norm(ends - point, axis=1).max(), abs=1e-12)


def test_unbounded_sets_have_infinite_size():
    for over in (Space(2), Orthant(2), Halfspace([1, 0], 0)):
        assert over.diameter == np.inf
        assert over.farthest([0.0, 0.0]) == np.inf


def test_the_simplex_wants_both_its_conditions():
    assert not Simplex(2).contains([2.0, -1.0])
    assert not Simplex(2).contains([0.5, 0.4])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_inf_are_in_no_set(bad):
    for over in examples(3):
        assert not over.contains([bad, 0.0, 0.0])
        assert not over.contains([[bad, -bad, 0.0], [0.0, 0.0, bad]]).any()


def test_what_is_beyond_1e150_is_in_no_set():
    for over in examples(2):
        assert not over.contains([1.7e308, 1.7e308])
        assert not over.contains([[1.1e150, 0.0], [0.0, -1.1e150]]).any()
    assert Halfspace([-1, -1], 0).contains([1e150, 1e150])


@every_kind
@pytest.mark.parametrize("call, name", [("project", "y"), ("minimize_linear", "c")])
def test_entries_beyond_1e150_are_refused_at_the_door(kind, call, name):
    with pytest.raises(ValueError, match=rf"{name} must be .* at most 1e\+150, got -1e\+151"):
        getattr(example(kind, 2), call)([0.0, -1e151])


@pytest.mark.parametrize("radius", [0.9e-150, 1.1e150, 1e308])
def test_a_radius_whose_square_is_no_float_is_refused(radius):
    for make in (Ball, L1Ball):
        with pytest.raises(ValueError, match=r"radius must be positive \(between 1e-150 and 1e\+150\), got"):
            make(2, radius)
    with pytest.raises(ValueError, match=r"offset/‖normal‖ must be in \[-1e\+150, 1e\+150\]"):
        Halfspace([1e-300, 0.0], 1.0)


@given(x=vectors(4))
def test_norm_and_direction_are_those_of_numpy(x):
    assert norm(x)[0] == pytest.approx(np.linalg.norm(x), rel=1e-14)
    np.testing.assert_allclose(norm(x)[0] * unit(x), x, rtol=1e-14, atol=1e-300)


def test_a_direction_is_right_at_every_legal_size():
    assert norm(np.array([3e150, 4e150]))[0] == pytest.approx(5e150, rel=1e-15)
    for size in (1e-310, 1e-200, 1.0, 1e150):
        np.testing.assert_allclose(unit(size * np.array([0.6, 0.8])), [0.6, 0.8], rtol=1e-12)


# ---------------------------------------------------------------- by hand

#: a set, a point of its boundary with entries up to 1, and the unit vector that leaves the set there
BORDERS = [
    (Orthant(2), [0.0, 1.0], [-1.0, 0.0]),
    (Ball(2, 1.0, [0.0, 0.5]), [1.0, 0.5], [1.0, 0.0]),
    (Box([-1.0, 0.0], [1.0, 1.0]), [0.0, 1.0], [0.0, 1.0]),
    (Box([-1.0, 0.0], [1.0, 2.0]), [-1.0, 0.5], [-1.0, 0.0]),
    (Simplex(2), [0.5, 0.5], [0.5**0.5, 0.5**0.5]),
    (Simplex(2), [0.5, 0.5], [-(0.5**0.5), -(0.5**0.5)]),
    (Simplex(2), [0.0, 1.0], [-(0.5**0.5), 0.5**0.5]),
    (L1Ball(2), [0.5, -0.5], [0.5**0.5, -(0.5**0.5)]),
    (Halfspace([0.0, 2.0], 2.0), [0.0, 1.0], [0.0, 1.0]),
    (Hull(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])), [0.5, 0.0], [0.0, -1.0]),
]


@pytest.mark.parametrize(("over", "point", "out"), BORDERS, ids=lambda x: type(x).__name__)
def test_contains_forgives_a_distance_of_tol_and_no_more(over, point, out):
    point, out = np.array(point), np.array(out)
    assert over.contains(point) and over.contains(point + 0.9e-9 * out)
    assert not over.contains(point + 1.2e-9 * out)
    assert over.contains(point + 0.2 * out, tol=0.25) and not over.contains(point + 0.35 * out, tol=0.25)


def test_contains_forgives_tol_times_the_largest_entry():
    assert Ball(1, 1e6).contains([1e6 + 0.9e-3]) and not Ball(1, 1e6).contains([1e6 + 1.2e-3])
    assert Box([0.0], [1.0]).contains([1.25], tol=0.25) and not Orthant(1).contains([-0.25], tol=0.2)
    assert Space(2).contains([1e150, 0.0]) and not Space(2).contains([1e151, 0.0])


@pytest.mark.parametrize("width", [1e-3, 1e-7, 1e-8])
def test_a_point_inside_a_sliver_is_inside(width):
    rng = np.random.default_rng(0)
    for turn in rng.uniform(0, 2 * np.pi, 60):
        axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        V = np.array([[0, 0], [1, 0], [0, width], [1, width]]) @ axes + rng.uniform(-10, 10, 2)
        x = rng.dirichlet(np.ones(4)) @ V
        assert Hull(V).contains(x)
        out = V[2] + 2e-7 * axes[1]
        assert not Hull(V).contains(out), "above the upper edge"


@pytest.mark.parametrize("over", [over for over, _, _ in BORDERS], ids=lambda over: type(over).__name__)
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


def test_a_tie_is_one_though_large_numbers_are_rounded():
    """0.1·x + 0.3·y is −1e6 along (3, −1); the point of least norm is a corner, or between two."""
    over = Hull([[-1e7, 0.0], [-1e6, -3e6], [0.0, 0.0], [5e6, 5e6]])
    assert over.minimize_linear([0.1, 0.3]) == pytest.approx([-1e6, -3e6])
    over = Hull([[-6666667.0, -1111111.0], [-1.0, -3333333.0], [0.0, 0.0], [5e6, 5e6]])
    assert over.minimize_linear([0.1, 0.3]) == pytest.approx([-1e6, -3e6])


@pytest.mark.parametrize("shape", [(40, 3), (5, 7, 20), (2, 300)])
def test_many_rows_on_the_simplex_have_the_right_sum_each(shape):
    """A batch, with few and with many shares: by halving, row by row."""
    rng = np.random.default_rng(0)
    Y = rng.choice([0.01, 1.0, 30.0], (*shape[:-1], 1)) * rng.standard_normal(shape)
    for over, total in ((Simplex(shape[-1]), 1.0), (L1Ball(shape[-1], 0.25), 0.25)):
        P = over.project(Y)
        rows = zip(np.abs(P).reshape(-1, shape[-1]), np.abs(Y).reshape(-1, shape[-1]), strict=True)
        if isinstance(over, Simplex):
            rows = zip(P.reshape(-1, shape[-1]), Y.reshape(-1, shape[-1]), strict=True)
        for p, y in rows:
            wanted = y if not isinstance(over, Simplex) and y.sum() <= total else poured(y, total)
            assert p == pytest.approx(wanted, abs=1e-12)


def test_the_simplex_shifts_losses_by_their_least_entry_and_no_other_set_does():
    z = np.array([[3.0, 1.0], [5.0, 7.0]])
    assert Simplex(2).shift(z).tolist() == [[1.0], [5.0]]
    assert all(np.all(over.shift(z) == 0.0) for over in examples(2) if not isinstance(over, Simplex))


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
    assert over.contains(size * np.ones(2)) and not over.contains([-size, 0.0], tol=0.5 * min(1.0, size))


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_point_of_a_hull_of_many_corners(seed):
    rng = np.random.default_rng(seed)
    V, y = rng.standard_normal((25, 6)), 0.7 * rng.standard_normal(6)
    x = Hull(V).project(y)
    _, missing = nnls(np.vstack([V.T, np.ones(25)]), np.append(x, 1.0))
    assert missing <= 1e-9 and ((V - x) @ (y - x)).max() <= 1e-9


def test_a_thin_hull_contains_its_mixtures_up_to_rounding():
    rng = np.random.default_rng(5)
    for width in (1e-5, 1e-7, 1e-8, 1e-9, 1e-12):
        for n in (2, 3, 4, 4):
            vertices = rng.normal(size=(n + 3, n)) * [width, *[1] * (n - 1)]
            hull = Hull(vertices @ np.linalg.qr(rng.normal(size=(n, n)))[0])
            assert hull.contains(rng.dirichlet(np.ones(n + 3), 5) @ hull.vertices, 1e-12).all(), (width, n)


def test_a_set_of_ones_own_has_to_say_all():
    bare = Set()
    for call in (bare.farthest, bare.project, bare.minimize_linear, bare.constraints):
        with pytest.raises(NotImplementedError):
            call([0.0])
    with pytest.raises(NotImplementedError):
        Set.examples(1, None)


def test_what_a_set_keeps_are_floats_that_nobody_can_change():
    for over, names in (
        (Ball(2, 3, [1, 2]), ["center"]),
        (Box([0, 0], [1, 2]), ["low", "high"]),
        (Halfspace([3, 4], 10), ["normal", "unit"]),
        (Hull([[0, 0], [1, 2]]), ["vertices"]),
    ):
        for name in names:
            kept = getattr(over, name)
            assert kept.dtype == float and not kept.flags.writeable, (over, name)
    assert type(Ball(2, 3).radius) is float and type(Halfspace([3, 4], 10).offset) is float


def test_the_row_without_a_minimum_is_the_one_that_is_named():
    for over, c in ((Space(2), [[0.0, 0.0], [5.0, 0.0]]), (Orthant(2), [[1.0, 0.0], [-5.0, 0.0]])):
        with pytest.raises(ValueError, match=r"c = \[-?5\. +0\.\]$"):
            over.minimize_linear(c)
        assert over.minimize_linear(c[:1]).tolist() == [[0.0, 0.0]]


def test_a_large_row_forgives_no_small_one():
    class Line:
        """A set of one's own: the points (t, 0)."""

        dim = 2

        def project(self, y):
            return np.array([y[0], 0.0])

    assert inside(Line(), [[1e6, 1e-6], [1.0, 1e-6], [1.0, 1e-10]]).tolist() == [True, False, True]
