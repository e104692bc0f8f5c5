"""The best point in hindsight: against cvxpy, and its own certificate against points of the set."""

import numpy as np
import pytest
from folded import for_each

from ocolab import comparators
from ocolib import losses, oracle
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


@for_each("over", SETS, repr)
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


HARD = {
    "hinge": losses.hinge,
    "perceptron": losses.perceptron_loss,
    "logistic, regularised": lambda X, y: losses.logistic(X, y).regularized(0.01),
    "least squares": losses.least_squares,
    "huber": lambda X, y: losses.huber(X, 2.0 * y),
    "absolute": losses.absolute,
    "quantile 1": lambda X, y: losses.quantile(X, y, 1.0),
}


@for_each("make", [Ball, Simplex, Orthant, Space])
@pytest.mark.parametrize("name", HARD)
def test_few_examples_of_any_size_have_a_best_point(name, make):
    """Fewer examples than numbers, many best points, slopes that are constant far out: nothing is refused."""
    rng = np.random.default_rng(1)
    for T in [1, 2, 5, 12] * 4:
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


def test_the_least_of_every_prefix_is_that_of_its_own_search():
    for name in ("hinge", "logistic", "huber"):
        data = LOSSES[name][:12]
        alone = [comparators.best(data[: t + 1], Ball(n)).value for t in range(12)]
        np.testing.assert_allclose(comparators.least(data, Ball(n)), alone, rtol=2e-8, atol=2e-8)


def test_an_infimum_that_is_not_attained_is_approached():
    separable = losses.logistic([[1.0], [2.0]], [1, 1])
    assert comparators.best(separable, Space(1)).value <= 1e-8  # the infimum 0 is not attained
    assert not comparators.knows(LOSSES["hinge"], L1Ball(n))


# ---------------------------------------------------------------- ordinary games

TABLE = {
    "perceptron": lambda X, s, r, c: losses.perceptron_loss(X, s),
    "hinge": lambda X, s, r, c: losses.hinge(X, s),
    "squared hinge": lambda X, s, r, c: losses.squared_hinge(X, s),
    "exponential": lambda X, s, r, c: losses.exponential(X, s),
    "logistic": lambda X, s, r, c: losses.logistic(X, s),
    "novelty": lambda X, s, r, c: losses.novelty(X),
    "least squares": lambda X, s, r, c: losses.least_squares(X, r),
    "absolute": lambda X, s, r, c: losses.absolute(X, r),
    "quantile": lambda X, s, r, c: losses.quantile(X, r, 0.3),
    "eps-insensitive": lambda X, s, r, c: losses.eps_insensitive(X, r, 0.1),
    "huber": lambda X, s, r, c: losses.huber(X, r),
    "poisson": lambda X, s, r, c: losses.poisson(X, c),
}
RADII = 0.1, 1.0, 10.0, 100.0, 1000.0
BOUNDED = [*(Ball(n, r) for r in RADII), *(Box([-r] * n, [r] * n) for r in RADII), Simplex(n)]


@for_each("scale", [1.0, 1000.0, "1 to 1000"])
@pytest.mark.parametrize("name", TABLE)
def test_ordinary_games_have_a_certified_best_point(name, scale):
    """Few examples on bounded sets of any size, more also on the orthant and the space; any features."""
    for T, over in [(5, BOUNDED), (30, [*BOUNDED[::3], Orthant(n), Space(n)])]:
        rng = np.random.default_rng(T)
        X = rng.standard_normal((T, n)) * (np.logspace(0, 3, n) if scale == "1 to 1000" else scale)
        data = TABLE[name](X, rng.choice([-1.0, 1.0], T), 3 * rng.standard_normal(T), rng.integers(0, 5, T))
        for each in over:
            best = comparators.best(data, each)
            assert best.gap <= 1e-8 * max(1.0, abs(best.value)), each
            assert each.contains(best.point) and best.value == pytest.approx(data.values(best.point).sum())


@pytest.mark.parametrize("name", TABLE)
def test_a_ball_away_from_0_has_a_certified_best_point(name):
    """Its rows are large everywhere, and at its centre an exponential may be near the largest float."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        for T, radius, scale in [(2, 0.3, 300.0), (30, 3.0, np.logspace(0, 2, n)), (12, 300.0, 1.0)]:
            away = rng.standard_normal(n)
            over = Ball(n, radius, 0.9 * radius * away / np.linalg.norm(away))
            X, signs = scale * rng.standard_normal((T, n)), rng.choice([-1.0, 1.0], T)
            data = TABLE[name](X, signs, 3 * rng.standard_normal(T), rng.integers(0, 5, T))
            best = comparators.best(data, over)
            assert over.contains(best.point) and best.gap <= 1e-8 * max(1.0, abs(best.value)), (seed, over)


@pytest.mark.parametrize("seed", range(6))
def test_the_perceptron_loss_on_a_large_ball_has_its_minimum_at_0(seed):
    rng = np.random.default_rng(seed)
    data = losses.perceptron_loss(rng.standard_normal((5, 3)), rng.choice([-1.0, 1.0], 5))
    assert comparators.best(data, Ball(3, 100.0)).value <= 1e-8


def test_a_gap_is_reported_however_small_it_is():
    """½(u − 5)² + ½(u + 5)² on [−1, 1] at u = δ: its tangent is 2δ² + 2δ below at u = −1."""
    problem = comparators.Problem(losses.least_squares([[1.0], [1.0]], [5.0, -5.0]), Ball(1))
    for delta in (1e-3, 1e-8, 1e-10, 1e-12):
        found = comparators._better(None, problem, np.array([delta]), np.zeros(1))
        assert found.gap == pytest.approx(2 * delta**2 + 2 * delta, rel=1e-3)


def test_on_a_bounded_set_there_is_an_answer_with_its_gap_even_if_the_search_fails(monkeypatch):
    def fails(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(comparators, "_search", fails)
    best = comparators.best(LOSSES["hinge"], Ball(n))
    assert best.point.tolist() == [0.0] * n and best.value == 60.0 and best.gap <= 60.0
    with pytest.raises(ValueError, match=r"only one with a gap of .*: is there a minimum\?"):
        comparators.best(LOSSES["hinge"], Space(n))


def test_losses_beyond_the_floats_are_named():
    """Two exponents 1500·u_1 + 1000·u_2 and 1000·u_1 + 1500·u_2: their sum is least, 2·e^1250, at (½, ½)."""
    E = np.array([[1500.0, 1000.0], [1000.0, 1500.0]])
    for data in (losses.exponential(-E, [1.0, 1.0]), losses.poisson(E, [0, 3])):
        with pytest.raises(ValueError, match=r"on all of Simplex.* is at least e\^1251, beyond the floats"):
            comparators.best(data, Simplex(2))
    with pytest.raises(ValueError, match="beyond the floats at every point tried"):
        comparators.best(losses.exponential([[-1.0]], [1.0]), Ball(1, 1.0, [1000.0]))


@pytest.mark.parametrize("top", [300.0, 700.0, 708.0])
def test_losses_just_within_the_floats_have_a_certified_best_point(top):
    """Exponents top + 250(d − 0.4) and top − 500(d − 0.4), d = u_1 − u_2: least where e^(750(d − 0.4)) = 2.

    Their slopes are beyond the floats, and at (½, ½) so is the sum.
    """
    E = top + np.array([[150.0, -350.0], [-300.0, 700.0]])
    least = np.exp(top) * (2 ** (1 / 3) + 2 ** (-2 / 3))
    for data in (losses.exponential(E, [-1.0, -1.0]), losses.poisson(E, [0, 3])):
        best = comparators.best(data, Simplex(2))
        assert best.point[0] - best.point[1] == pytest.approx(0.4 + np.log(2) / 750, abs=1e-6)
        assert best.value == pytest.approx(least, rel=1e-8) and best.gap <= 1e-8 * best.value


def test_a_search_that_begins_near_the_largest_float_ends_at_a_small_sum():
    """exp(2100·u_1 − 3) + exp(3 − 2100·u_1), which at u_1 = ⅓ is e^697, is least where both are 1."""
    E = np.array([[2097.0, -3.0, -3.0], [-2097.0, 3.0, 3.0]])
    best = comparators.best(losses.exponential(E, [-1.0, -1.0]), Simplex(3))
    assert best.value == pytest.approx(2.0) and best.gap <= 1e-8


def ordinary(seed):
    """List the games of one sample of data: (name, scale, losses, set)."""
    rng = np.random.default_rng(seed)
    X, signs = rng.standard_normal((5, n)), rng.choice([-1.0, 1.0], 5)
    reals, counts = 3 * rng.standard_normal(5), rng.integers(0, 5, 5)
    scales = {1: 1.0, 10: 10.0, 100: 100.0, 1000: 1000.0, "1 to 1000": np.logspace(0, 3, n)}
    return [
        (name, scale, TABLE[name](X * factor, signs, reals, counts), over)
        for name in TABLE
        for scale, factor in scales.items()
        for over in [*BOUNDED, Orthant(n), Space(n)]
    ]


def solved(name, scale, data, over):
    """A certified answer, or what another program says too: every point pays more than the largest float."""
    try:
        best = comparators.best(data, over)
    except ValueError as error:
        from scipy.optimize import linprog  # the least of the largest exponent

        E = data.X if name == "poisson" else -data.y[:, None] * data.X
        rows, one = np.c_[E, -np.ones(len(E))], [[*np.ones(n), 0.0]]
        least = linprog(
            [*np.zeros(n), 1.0], rows, np.zeros(len(E)), one, [1.0], [(0, None)] * n + [(None, None)]
        )
        assert isinstance(over, Simplex) and "on all of Simplex" in str(error) and least.fun > 705, (
            name,
            scale,
        )
        return
    assert over.contains(best.point), (name, scale, over)
    assert best.gap <= 1e-8 * max(1.0, abs(best.value)), (name, scale, over)


def test_a_sample_of_ordinary_games_is_solved():
    for i, game in enumerate(ordinary(40)):  # in 40 one game is beyond the floats
        if i % 13 == 3 * (i // 13) % 13 or ("1000" in str(game[1]) and isinstance(game[3], Simplex)):
            solved(*game)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_all_ordinary_games_are_solved(seed):
    games = ordinary(seed)
    assert len(games) == 780
    for game in games:
        solved(*game)


# ---------------------------------------------------------------- by hand

FOUR = np.array([[1.0, 2.0], [-0.5, 1.5], [2.0, -1.0], [0.3, 0.4]])
SIGNS, REALS, COUNTS = np.array([1.0, -1.0, -1.0, 1.0]), np.array([0.5, -1.0, 2.0, 0.1]), [0, 3, 1, 2]
KINKED = {
    "hinge": losses.hinge(FOUR, SIGNS),
    "hinge, regularised": losses.hinge(FOUR, SIGNS).regularized(0.3),
    "perceptron": losses.perceptron_loss(FOUR, SIGNS, threshold=0.3),
    "tube": losses.eps_insensitive(FOUR, REALS, 0.2),
    "quantile": losses.quantile(FOUR, REALS, 0.3),
    "huber": losses.huber(FOUR, 3.0 * REALS),
}
SMOOTH = {
    "squared hinge": losses.squared_hinge(FOUR, SIGNS),
    "exponential": losses.exponential(FOUR, SIGNS).regularized(0.3),
    "logistic": losses.logistic(FOUR, SIGNS),
    "least squares": losses.least_squares(FOUR, REALS),
    "poisson": losses.poisson(FOUR, COUNTS),
}
ALL = KINKED | SMOOTH
PLANE = [
    Space(2),
    Orthant(2),
    Ball(2, 2.0, [0.5, -0.25]),
    Box([-0.5, -1.0], [1.5, 0.5]),
    Simplex(2),
    Halfspace([3.0, 4.0], 10.0),
]
U = np.array([0.4, -0.3])


@pytest.mark.parametrize("name", KINKED)
def test_kinks_make_the_loss(name):
    data = KINKED[name]
    A, b, h, q = comparators._kinks(data)
    reg = data.reg * len(data) / 2

    def psi(r, h):
        return h * max(0.0, r) if name != "huber" else 0.5 * max(0.0, min(r, 1.0)) ** 2 + max(0.0, r - 1.0)

    for u in (U, -U, 3 * U, np.array([-1.0, 2.0])):
        total = sum(psi(r, steep) for r, steep in zip(A @ u + b, h, strict=True)) + reg * u @ u
        assert total == pytest.approx(data.values(u).sum())
    assert q == (name == "huber")
    assert [len(part) for part in comparators._kinks(SMOOTH["logistic"])[:3]] == [0, 0, 0]


def test_a_side_that_costs_nothing_is_no_kink():
    A, b, h, _ = comparators._kinks(losses.quantile(FOUR, REALS, 1.0))
    assert A.tolist() == FOUR.tolist() and b.tolist() == (-REALS).tolist() and h.tolist() == [1.0] * 4


@pytest.mark.parametrize("name", ALL)
def test_value_and_derivatives(name):
    data, tiny = ALL[name], 1e-5
    problem = comparators.Problem(data, Space(2))
    assert problem.value(U) == pytest.approx(data.values(U).sum())
    assert problem.smooth == (name if name in SMOOTH else "") and problem.weight == 4 * data.reg
    assert problem.soft == {"tube": 8, "quantile": 8, "huber": 8}.get(name, 4 if name in KINKED else 0)

    def smooth(u):
        return data.values(u).sum() if name in SMOOTH else 0.5 * problem.weight * (u @ u)

    gradient, H = problem.derivatives(U)
    for i, e in enumerate(tiny * np.eye(2)):
        assert gradient[i] == pytest.approx((smooth(U + e) - smooth(U - e)) / (2 * tiny), abs=1e-7)
        change = (problem.derivatives(U + e)[0] - problem.derivatives(U - e)[0]) / (2 * tiny)
        assert H[i] == pytest.approx(change, abs=2e-5)
    if name == "squared hinge":
        bent = sum((y * (x @ U) < 1) * np.outer(x, x) for x, y in zip(FOUR, data.y, strict=True))
        assert pytest.approx(bent + 1e-6 * FOUR.T @ FOUR, rel=1e-12) == H


def inside(over, x):
    """The conditions of a set, the simplex' sum left out, each as a number ≤ 0."""
    match over:
        case Orthant() | Simplex():
            return [-x[0], -x[1]]
        case Box():
            return [x[0] - 1.5, x[1] - 0.5, -0.5 - x[0], -1.0 - x[1]]
        case Halfspace():
            return [0.6 * x[0] + 0.8 * x[1] - 2.0]
        case Ball():
            return [((x[0] - 0.5) ** 2 + (x[1] + 0.25) ** 2 - 4.0) / 4.0]
    return []


@pytest.mark.parametrize("over", PLANE, ids=repr)
def test_rows_by_hand(over):
    problem = comparators.Problem(KINKED["perceptron"], over)
    for u in (U, np.array([2.0, 3.0])):
        rows = problem.rows(u).copy()
        assert rows[:4] == pytest.approx([y * 0.3 - y * (x @ u) for x, y in zip(FOUR, SIGNS, strict=True)])
        assert rows[4:] == pytest.approx(inside(over, u))
        tiny = 1e-6
        slopes = [(problem.rows(u + e) - problem.rows(u - e)) / (2 * tiny) for e in tiny * np.eye(2)]
        problem.rows(u)
        assert pytest.approx(np.array(slopes).T, abs=1e-8) == problem.A
    assert problem.h.tolist() == [1.0] * 4 + [np.inf] * (len(rows) - 4)
    assert problem.ball == isinstance(over, Ball)


def lowest(over, g, far):
    """The least ⟨g, x⟩ on the set, or what serves where there may be none."""
    match over:
        case Space():
            return -far * np.linalg.norm(g)
        case Orthant():
            return -far * np.linalg.norm([min(0.0, gi) for gi in g])
        case Ball():
            return g @ [0.5, -0.25] - 2.0 * np.linalg.norm(g)
        case Box():
            return min(g @ np.array([x, y]) for x in (-0.5, 1.5) for y in (-1.0, 0.5))
        case Simplex():
            return min(g)
    t = max(0.0, -(0.6 * g[0] + 0.8 * g[1]))  # g = −t·unit + rest: −2t and the rest as in all of space
    return -2.0 * t - far * np.linalg.norm(g + t * np.array([0.6, 0.8]))


@for_each("over", PLANE, repr)
@pytest.mark.parametrize("name", ["perceptron", "hinge, regularised", "quantile", "huber", "logistic"])
def test_the_gap_by_hand(name, over):
    """The value less the least, over the set, of the tangents with slopes a in place of the losses."""
    data, rng = ALL[name], np.random.default_rng(1)
    problem = comparators.Problem(data, over)
    for scale in (0.3, 1.0, 5.0):
        u = scale * rng.standard_normal(2)
        a = np.where(np.isinf(problem.h), 1.0, problem.h) * rng.random(len(problem.h))
        soft = problem.soft
        r, A = problem.rows(u)[:soft].copy(), problem.A[:soft].copy()
        smooth = data.values(u).sum() if name == "logistic" else 0.5 * problem.weight * u @ u
        g = problem.derivatives(u)[0] + A.T @ a[:soft]
        far = 10.0 * max(1.0, np.sqrt(u[0] ** 2 + u[1] ** 2))
        least = smooth + a[:soft] @ r - g @ u + lowest(over, g, far)
        least -= 0.5 * (a[:soft] ** 2).sum() if name == "huber" else 0.0  # ψ(r) ≥ a·r − ½a²
        value, gap = problem.gap(u, a)
        assert value == pytest.approx(data.values(u).sum())
        assert value - gap == pytest.approx(max(least, 0.0)), "every φ here is at least 0"


def test_answers_by_hand():
    """|u − 1| + |u − 2| + |u − 4| is least at 2, where it is 3; on other sets at the point nearest to 2."""
    data = losses.absolute(np.ones((3, 1)), [1.0, 2.0, 4.0])
    for over, point, value in (
        (Space(1), 2.0, 3.0),
        (Orthant(1), 2.0, 3.0),
        (Ball(1, 0.5, [3.0]), 2.5, 3.5),
        (Box([-1.0], [1.5]), 1.5, 3.5),
        (Simplex(1), 1.0, 4.0),
        (Halfspace([-2.0], -6.0), 3.0, 4.0),
    ):
        found = comparators.best(data, over)
        assert found.point == pytest.approx([point], abs=1e-6) and found.value == pytest.approx(
            value, abs=1e-7
        )
    assert comparators.least(data, Space(1)) == pytest.approx([0.0, 1.0, 3.0], abs=1e-7)


def test_a_bowl_on_a_ball_by_hand():
    """½(u − 4)² + ½(u − 6)², with or without ½·2·reg·u²."""
    data = losses.least_squares(np.ones((2, 1)), [4.0, 6.0])
    for centre, radius, point in ((0.0, 2.0, 2.0), (0.0, 9.0, 5.0), (7.0, 1.0, 6.0), (1.0, 4.0, 5.0)):
        assert comparators.best(data, Ball(1, radius, [centre])).point == pytest.approx([point], abs=1e-8)
    steep = comparators.best(data.regularized(1.0), Ball(1, 9.0))
    assert steep.point == pytest.approx([2.5], abs=1e-8) and steep.value == pytest.approx(13.5)


def test_what_is_known():
    data = KINKED["hinge"]
    assert all(comparators.knows(some, over) for some in ALL.values() for over in PLANE)
    assert not comparators.knows(data, Ball(3)) and not comparators.knows(FOUR, Ball(2))
    with pytest.raises(ValueError, match="not known here for Examples over Ball"):
        comparators.best(data, Ball(3))


def test_an_answer_is_certified_up_to_a_hundred_millionth_of_its_value():
    for value, gap, fine in (
        (0.5, 0.9e-8, True),
        (0.5, 1.1e-8, False),
        (-200.0, 1.9e-6, True),
        (-200.0, 2.1e-6, False),
        (np.inf, 0.0, False),
        (1.0, np.nan, False),
    ):
        assert comparators._certified(comparators.Best(np.zeros(1), value, gap)) is fine
