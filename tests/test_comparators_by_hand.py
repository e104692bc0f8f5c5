"""The search for the best point, line by line: its numbers by hand, its step by the whole Newton system."""

import numpy as np
import pytest

from ocolib import comparators, losses
from ocolib.comparators import Problem
from ocolib.sets import Ball, Box, Halfspace, Orthant, Simplex, Space

X = np.array([[1.0, 2.0], [-0.5, 1.5], [2.0, -1.0], [0.3, 0.4]])
SIGNS, REALS, COUNTS = np.array([1.0, -1.0, -1.0, 1.0]), np.array([0.5, -1.0, 2.0, 0.1]), [0, 3, 1, 2]
KINKED = {
    "hinge": losses.hinge(X, SIGNS),
    "hinge, regularised": losses.hinge(X, SIGNS).regularized(0.3),
    "perceptron": losses.perceptron_loss(X, SIGNS, threshold=0.3),
    "tube": losses.eps_insensitive(X, REALS, 0.2),
    "quantile": losses.quantile(X, REALS, 0.3),
    "huber": losses.huber(X, 3.0 * REALS),
}
SMOOTH = {
    "squared hinge": losses.squared_hinge(X, SIGNS),
    "exponential": losses.exponential(X, SIGNS).regularized(0.3),
    "logistic": losses.logistic(X, SIGNS),
    "least squares": losses.least_squares(X, REALS),
    "poisson": losses.poisson(X, COUNTS),
}
ALL = KINKED | SMOOTH
SETS = [
    Space(2),
    Orthant(2),
    Ball(2, 2.0, [0.5, -0.25]),
    Box([-0.5, -1.0], [1.5, 0.5]),
    Simplex(2),
    Halfspace([3.0, 4.0], 10.0),
]
U = np.array([0.4, -0.3])

# ---------------------------------------------------------------- the problem


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
    A, b, h, _ = comparators._kinks(losses.quantile(X, REALS, 1.0))
    assert A.tolist() == X.tolist() and b.tolist() == (-REALS).tolist() and h.tolist() == [1.0] * 4


@pytest.mark.parametrize("name", ALL)
def test_value_and_derivatives(name):
    data, tiny = ALL[name], 1e-5
    problem = Problem(data, Space(2))
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
        bent = sum((y * (x @ U) < 1) * np.outer(x, x) for x, y in zip(X, data.y, strict=True))
        assert pytest.approx(bent + 1e-6 * X.T @ X, rel=1e-12) == H


def test_second_derivatives_at_the_kinks_of_the_slope():
    one = np.array([1.0])
    assert comparators.CURVATURES["squared hinge"](one, one) == pytest.approx([1e-6])


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


@pytest.mark.parametrize("over", SETS, ids=repr)
def test_rows_by_hand(over):
    problem = Problem(KINKED["perceptron"], over)
    for u in (U, np.array([2.0, 3.0])):
        rows = problem.rows(u).copy()
        assert rows[:4] == pytest.approx([y * 0.3 - y * (x @ u) for x, y in zip(X, SIGNS, strict=True)])
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


@pytest.mark.parametrize("over", SETS, ids=repr)
@pytest.mark.parametrize("name", ["perceptron", "hinge, regularised", "quantile", "huber", "logistic"])
def test_the_gap_by_hand(name, over):
    """The value less the least, over the set, of the tangents with slopes a in place of the losses."""
    data, rng = ALL[name], np.random.default_rng(1)
    problem = Problem(data, over)
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
        assert value - gap == pytest.approx(least)


# ---------------------------------------------------------------- where the search begins


@pytest.mark.parametrize("over", SETS, ids=repr)
@pytest.mark.parametrize("name", KINKED)
def test_the_start_is_on_the_path(name, over):
    """s·a = v·(h − a) = μ and v − s = r where a loss has its kinks; a condition has s·a = μ alone."""
    near = np.array([0.7, 0.3])
    middle = {Ball: [0.5, -0.25], Box: [0.5, -0.25], Orthant: [1.0, 1.0], Simplex: [0.5, 0.5]}
    for mu, told in ((1.0, None), (0.01, near)):
        problem = Problem(KINKED[name], over)
        u, a, s, v, nu = comparators._start(problem, told)
        centre = np.array(middle.get(type(over), [0.0, 0.0]))
        assert u == pytest.approx(centre if told is None else 0.99 * near + 0.01 * centre) and nu == 0.0
        r, k, h = problem.rows(u), problem.soft, problem.h
        assert (v - s)[:k] == pytest.approx(r[:k], abs=1e-12) and (v[k:] == 0).all()
        assert (s * a)[:k] == pytest.approx(mu) and v[:k] * (h - a)[:k] == pytest.approx(mu)
        assert s[k:] == pytest.approx(-r[k:]) and (s * a)[k:] == pytest.approx(mu)


def test_a_start_on_the_edge_keeps_away_from_it():
    problem = Problem(KINKED["hinge"], Simplex(2))
    _, a, s, _, _ = comparators._start(problem, np.array([1.0, -0.1]))
    assert s[4] == pytest.approx(0.995) and s[5] == 1e-3 and a[5] == pytest.approx(10.0)


def test_how_far_all_stay_positive():
    one, none = np.ones(2), np.zeros(2)
    big = np.full(2, 9.0)
    assert comparators._length(one, none, one, none, one, none, big) == 1.0
    assert comparators._length(one, -0.5 * one, one, none, one, none, big) == 1.0
    assert comparators._length(2 * one, np.array([-8.0, 1.0]), one, none, one, none, big) == pytest.approx(
        0.995 / 4
    )
    assert comparators._length(one, none, 2 * one, np.array([3.0, -6.0]), one, none, big) == pytest.approx(
        0.995 / 3
    )
    assert comparators._length(
        one, none, np.array([0.0, 2.0]), np.array([-9.0, -5.0]), one, none, big
    ) == pytest.approx(0.398), "what is 0 stays 0"
    assert comparators._length(one, none, one, none, 4 * one, np.array([-8.0, 0.0]), big) == pytest.approx(
        0.4975
    )
    assert comparators._length(one, none, one, none, 4 * one, np.array([-1.0, 10.0]), big) == pytest.approx(
        0.4975
    )
    assert comparators._length(one, none, one, none, one, none, np.full(2, np.inf)) == 1.0
    nobody = np.zeros(0)
    assert comparators._length(*[nobody] * 7) == 1.0


# ---------------------------------------------------------------- one step


def newton(problem, u, a, s, v, nu, over, right):
    """The step of the whole linear system, nothing eliminated; `right` are the four right-hand sides."""
    n, m = len(u), len(a)
    hard, simplex = np.isinf(problem.h), isinstance(over, Simplex)
    H = problem.derivatives(u)[1] + (a[-1] / over.radius if isinstance(over, Ball) else 0.0) * np.eye(n)
    A, zero, eye = problem.A.copy(), np.zeros((m, m)), np.eye(m)
    above = np.where(hard, 1.0, problem.h - a)
    system = np.block(
        [
            [H, A.T, np.zeros((n, 2 * m)), np.ones((n, 1))],
            [A, -np.diag(problem.q), eye, -eye, np.zeros((m, 1))],
            [np.zeros((m, n)), np.diag(s), np.diag(a), zero, np.zeros((m, 1))],
            [np.zeros((m, n)), np.diag(np.where(hard, 0.0, -v)), zero, np.diag(above), np.zeros((m, 1))],
            [np.full((1, n), float(simplex)), np.zeros((1, 3 * m)), np.full((1, 1), float(not simplex))],
        ]
    )
    solved = np.linalg.solve(system, -np.concatenate(right))
    return np.split(solved, [n, n + m, n + 2 * m, n + 3 * m])


def one_step(problem, over, u, a, s, v, nu):
    """Mehrotra's step: first to μ = 0, then to a target that hangs on how well that would have gone."""
    hard, soft, simplex = np.isinf(problem.h), ~np.isinf(problem.h), isinstance(over, Simplex)
    r = problem.rows(u).copy()
    dual = problem.derivatives(u)[0] + problem.A.T @ a + nu
    total = [u.sum() - 1.0] if simplex else [0.0]

    def sides(target, ds, da, dv):
        upper = np.where(hard, 0.0, v * np.where(hard, 1.0, problem.h - a) - dv * da - target)
        return dual, r - v + s - problem.q * a, s * a + ds * da - target, upper, total

    def longest(da, ds, dv):
        ways = [*zip(s, ds, strict=True), *zip(a, da, strict=True)]
        ways += [*zip((problem.h - a)[soft], -da[soft], strict=True), *zip(v[soft], dv[soft], strict=True)]
        return min([1.0] + [0.995 * x / -d for x, d in ways if d < 0])

    def product(a, s, v):
        return s @ a + v[soft] @ (problem.h - a)[soft]

    none = np.zeros_like(a)
    du, da, ds, dv, dnu = newton(problem, u, a, s, v, nu, over, sides(0.0, none, none, none))
    pairs, step = len(s) + soft.sum(), longest(da, ds, dv)
    mu = product(a, s, v) / pairs
    after = product(a + step * da, s + step * ds, v + step * dv) / pairs
    bent = problem.smooth or isinstance(over, Ball)  # something is not linear
    target = mu * max(min(1.0, after / mu) ** 3, 0.1 if bent else 0.0)
    du, da, ds, dv, dnu = newton(problem, u, a, s, v, nu, over, sides(target, ds, da, dv))
    step = longest(da, ds, dv)

    def there(share):
        t = share * step
        return u + t * du, a + t * da, s + t * ds, v + t * dv, nu + t * (dnu[0] if simplex else 0.0)

    def missing(u, a, s, v, nu):
        first = problem.derivatives(u)[0] + nu, problem.rows(u) - v + s - problem.q * a, s * a - target
        last = v[soft] * (problem.h - a)[soft] - target
        return np.sqrt(sum((x**2).sum() for x in (first[0] + problem.A.T @ a, *first[1:], last)))

    if not bent:
        return there(1.0), target, 1.0
    before = missing(u, a, s, v, nu)
    share = 1.0
    while share > 2.0**-12 and missing(*there(share)) > (1 - 0.01 * share * step) * before:
        share /= 2
    return there(share if share > 2.0**-12 else 1.0), target, share


def state_of(problem, rng):
    """Anywhere inside, off the path."""
    h, m = problem.h, len(problem.h)
    a = np.where(np.isinf(h), 0.2 + rng.random(m), h * (0.1 + 0.8 * rng.random(m)))
    v = np.where(np.isinf(h), 0.0, 0.1 + rng.random(m))
    return U + 0.3 * rng.standard_normal(2), a, 0.1 + rng.random(m), v, rng.standard_normal()


@pytest.mark.parametrize("over", SETS[1:], ids=repr)
@pytest.mark.parametrize(
    "name", ["hinge, regularised", "perceptron", "quantile", "huber", "logistic", "poisson"]
)
def test_a_step_solves_the_whole_system(name, over):
    if name in SMOOTH and isinstance(over, Ball):
        pytest.skip("smooth losses on a ball are Newton's")
    rng = np.random.default_rng(5)
    for _ in range(4):
        problem = Problem(ALL[name], over)
        u, a, s, v, nu = state_of(problem, rng)
        nu = nu if isinstance(over, Simplex) else 0.0
        expected, _, _ = one_step(Problem(ALL[name], over), over, u, a, s, v, nu)
        for found, right in zip(comparators._improve(problem, u, a, s, v, nu), expected, strict=True):
            assert found == pytest.approx(right, rel=1e-7, abs=1e-9)


def test_a_residual_by_hand():
    problem = Problem(KINKED["hinge, regularised"], Orthant(2))
    a, s, v = np.linspace(0.1, 0.6, 6), np.linspace(1.0, 2.0, 6), np.array([0.5, 0.4, 0.3, 0.2, 0.0, 0.0])
    dual = 1.2 * U + np.vstack([-SIGNS[:, None] * X, -np.eye(2)]).T @ a + 0.7
    rows = np.append(1.0 - SIGNS * (X @ U), -U) - v + s
    below, above = s * a - 0.05, (v * (1 - a) - 0.05)[:4]  # of the last two no slope is too much
    expected = np.sqrt(sum((part**2).sum() for part in (dual, rows, below, above)))
    assert problem.residual((U, a, s, v, 0.7), 0.05) == pytest.approx(expected)


def test_a_residual_with_bends_by_hand():
    """Huber's: r = a + v − s, two rows for each example."""
    problem = Problem(KINKED["huber"], Space(2))
    a, s, v = np.linspace(0.1, 0.8, 8), np.linspace(1.0, 2.0, 8), np.linspace(0.5, 0.2, 8)
    error = X @ U - 3.0 * REALS
    dual = np.vstack([X, -X]).T @ a
    rows = np.append(error, -error) - v + s - a
    expected = np.sqrt(sum((part**2).sum() for part in (dual, rows, s * a - 0.05, v * (1 - a) - 0.05)))
    assert problem.residual((U, a, s, v, 0.0), 0.05) == pytest.approx(expected)


def test_of_many_moves_the_least():
    assert comparators._solve(np.diag([2.0, 4.0]), np.array([1.0, 2.0])).tolist() == [0.5, 0.5]
    assert comparators._solve(np.ones((2, 2)), np.array([2.0, 2.0])) == pytest.approx([1.0, 1.0])


def test_a_search_in_parts_begins_where_each_begins(monkeypatch):
    """What is near the answer serves the whole set, and need not lie in a part."""
    asked = []

    def search(problem, near):
        asked.append((problem.part, near))
        return comparators.Best(U, 1.0, 1.0)

    monkeypatch.setattr(comparators, "_search", search)
    with pytest.raises(ValueError, match=r"The gap is 1$"):
        comparators._best(KINKED["hinge"], Space(2), U)
    assert asked[0][0] == Space(2) and asked[0][1] is U
    assert [(part.radius, near) for part, near in asked[1:]] == [(10.0**k, None) for k in range(7)]


def test_a_step_that_is_too_long_is_halved():
    """e^p − 3p at p = −10 has slope about −3 and curvature e^−10: Newton's step leaves the floats."""
    data = losses.poisson([[1.0]], [3])
    found = comparators._best(data, Ball(1, 20.0), np.array([-10.0]))
    assert found.point == pytest.approx([np.log(3.0)]) and found.value == pytest.approx(3 - 3 * np.log(3.0))


def test_the_better_answer_stays():
    data = KINKED["hinge"]
    problem = Problem(data, Box([-0.5, -1.0], [1.5, 0.5]))
    first = comparators._better(None, problem, np.array([2.0, 0.0]), np.full(8, 0.5))
    assert first.point.tolist() == [1.5, 0.0] and first.value == pytest.approx(data.values([1.5, 0.0]).sum())
    assert comparators._better(first._replace(gap=0.0), problem, U, np.full(8, 0.5)).point is first.point
    better = comparators._better(first._replace(gap=1e9), problem, U, np.full(8, 0.5))
    assert better.point.tolist() == U.tolist()
    assert better.gap == pytest.approx(problem.gap(U, np.full(8, 0.5))[1])
    cut = comparators._better(None, problem, U, np.array([-1.0, 2.0, 0.5, 0.5, -1.0, 3.0, 1.0, 1.0]))
    clipped = np.array([0.0, 1.0, 0.5, 0.5, 0.0, 3.0, 1.0, 1.0])
    assert cut.gap == pytest.approx(problem.gap(U, clipped)[1])


# ---------------------------------------------------------------- answers that can be seen


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
    assert all(comparators.knows(some, over) for some in ALL.values() for over in SETS)
    assert not comparators.knows(data, Ball(3)) and not comparators.knows(X, Ball(2))
    with pytest.raises(ValueError, match="not known here for Examples over Ball"):
        comparators.best(data, Ball(3))


@pytest.mark.parametrize(("value", "gap"), [(0.5, 1e-8), (-0.5, 1e-8), (7.0, 7e-8), (-7.0, 7e-8)])
def test_an_answer_is_as_good_as_its_gap(monkeypatch, value, gap):
    """At most 1e-8, or of a large value this share."""
    answers = iter([comparators.Best(U, value, gap), comparators.Best(U, value, 1.01 * gap)])
    monkeypatch.setattr(comparators, "_search", lambda *_: next(answers))
    assert comparators.best(KINKED["hinge"], Ball(2)).gap == gap
    with pytest.raises(ValueError, match="no best point was found"):
        comparators.best(KINKED["hinge"], Ball(2))


def test_a_singular_matrix_is_no_answer(monkeypatch):
    def fails(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(comparators, "_search", fails)
    with pytest.raises(ValueError, match=r"no best point was found.* nan"):
        comparators.best(KINKED["hinge"], Space(2))
