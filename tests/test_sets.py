"""Projections and linear minimisers: against cvxpy, against the definition, and at the ends of the floats."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import BOUNDED, KINDS, entries, example, examples, members, sets, vectors, violation

from ocolib import oracle
from ocolib import sets as room
from ocolib.losses import Linear
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space, direction, norm

every_kind = pytest.mark.parametrize("kind", KINDS)
bounded_kind = pytest.mark.parametrize("kind", BOUNDED)


# ---------------------------------------------------------------- projections


@every_kind
@settings(max_examples=25)
@given(data=st.data())
def test_projection_agrees_with_cvxpy(kind, data):
    over = data.draw(sets(kind))
    y = data.draw(vectors(over.dim))
    ours, theirs = over.project(y), oracle.project(y, over)
    scale = max(1.0, np.abs(y).max())
    # where a constraint is met without force the solver's point is off by 1e-6, its objective is not
    assert abs(np.square(ours - y).sum() - np.square(theirs - y).sum()) <= 1e-8 * scale**2
    assert np.abs(ours - theirs).max() <= 1e-5 * scale


@every_kind
def test_projection_agrees_with_cvxpy_in_general_position(kind):
    over = example(kind, 6)
    for y in 3 * np.random.default_rng(1).standard_normal((8, 6)):
        np.testing.assert_allclose(over.project(y), oracle.project(y, over), atol=1e-7)


@every_kind
@given(data=st.data())
def test_projection_carries_its_certificate(kind, data):
    """Feasible, idempotent, non-expansive, and at an obtuse angle with every point of the set."""
    over = data.draw(sets(kind))
    y, other = data.draw(vectors(over.dim)), data.draw(vectors(over.dim))
    p, q = over.project(y), over.project(other)
    assert violation(over, p) <= 1e-13 * max(1.0, np.abs(y).max())
    assert over.contains(p)
    np.testing.assert_allclose(over.project(p), p, atol=1e-14, rtol=1e-14)
    assert np.linalg.norm(p - q) <= np.linalg.norm(y - other) + 1e-12
    assert ((members(over) - p) @ (y - p)).max() <= 1e-10


@every_kind
@given(data=st.data())
def test_points_of_the_set_stay_where_they_are(kind, data):
    over = data.draw(sets(kind))
    inside = members(over)
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
@settings(max_examples=10)
@given(data=st.data())
def test_minimize_linear_agrees_with_cvxpy(kind, data):
    over = data.draw(sets(kind))
    c = data.draw(vectors(over.dim, 3.0))
    assert c @ over.minimize_linear(c) == pytest.approx(
        c @ oracle.best_point([Linear(c)], over), abs=1e-7 * max(1.0, np.abs(c).max())
    )


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


def test_contains_forgives_tol_and_no_more():
    cases = [
        (Ball(2, 1.0), [1.0, 0.0], [1.0, 0.0]),
        (Box([0, 0], [1, 1]), [1.0, 0.5], [1.0, 0.0]),
        (Box([0, 0], [1, 1]), [0.0, 0.5], [-1.0, 0.0]),
        (L1Ball(2), [0.5, -0.5], [0.0, -1.0]),
        (Halfspace([0, 3], 3), [7.0, 1.0], [0.0, 7.0]),
        (Orthant(2), [0.0, 2.0], [-1.0, 0.0]),
        (Simplex(2), [0.5, 0.5], [0.0, 1.0]),
        (Simplex(2), [0.5, 0.5], [0.0, -1.0]),
    ]
    for over, edge, out in cases:
        edge, out = np.array(edge), np.array(out)
        assert over.contains(edge, tol=0.0)
        assert over.contains(edge + 0.9e-9 * out)
        assert not over.contains(edge + 1.2e-9 * out)
        assert over.contains(edge + 0.9e-3 * out, tol=1e-3)
        assert not over.contains(edge + 1.2e-3 * out, tol=1e-3)


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
        with pytest.raises(ValueError, match=r"radius must be finite and in \[1e-150, 1e\+150\], got"):
            make(2, radius)
    with pytest.raises(ValueError, match=r"offset/‖normal‖ must be finite and in \[-1e\+150, 1e\+150\]"):
        Halfspace([1e-300, 0.0], 1.0)


@given(x=vectors(4))
def test_norm_and_direction_are_those_of_numpy(x):
    assert norm(x)[0] == pytest.approx(np.linalg.norm(x), rel=1e-14)
    np.testing.assert_allclose(norm(x)[0] * direction(x), x, rtol=1e-14, atol=1e-300)


def test_a_direction_is_right_at_every_legal_size():
    assert norm(np.array([3e150, 4e150]))[0] == pytest.approx(5e150, rel=1e-15)
    for size in (1e-310, 1e-200, 1.0, 1e150):
        np.testing.assert_allclose(direction(size * np.array([0.6, 0.8])), [0.6, 0.8], rtol=1e-12)


def test_a_set_is_marked_in_one_place():
    """Every class of the room with a projection is registered, and each has its twin in the oracle.

    But `Hull`: it projects by iteration, and its twin has unknowns of its own. It is tested with its problem.
    """
    found = {thing.__name__: thing for thing in vars(room).values() if hasattr(thing, "project")}
    public = {thing for name, thing in found.items() if name not in ("Set", "Hull") and name[0] != "_"}
    assert public == set(KINDS)
    for over in examples(3):
        assert isinstance(over, room.Set) and type(over) in oracle.constraints.registry
