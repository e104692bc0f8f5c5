"""Limits: every value `tight` is guaranteed by a player and attained in a game, every value `lower` is forced
on a table of learners; closed forms agree with dynamic and semidefinite programs and exhaustive play."""

import importlib.util
from itertools import product

import numpy as np
import pytest

from ocolab import limits
from ocolib import adversaries, oracle, theorems
from ocolib.adversaries import all_signs, nature, orthogonal, random_directions
from ocolib.game import play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    DelayedOGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    inverse,
    inverse_sqrt,
)
from ocolib.losses import Linear, Quadratic
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Hull, Simplex, Space

RNG = np.random.default_rng(8)


def on_ball(dim, radius, T):
    """Learners of ours that play linear losses on a ball, and a stubborn one."""
    B = Ball(dim, radius)
    return {
        "FTL": FTL(B),
        "FTRL": FTRL(B, SquaredNorm(), 0.3),
        "FTRL, √t": Linearized(FTRL(B, SquaredNorm(), inverse_sqrt(radius))),
        "lazy": OGD(B, radius / np.sqrt(T)),
        "lazy, step of Lecture 13": OGD(B, theorems.Descent(B.diameter, 1.0, T).step),
        "eager": OGD(B, radius / np.sqrt(T), "eager"),
        "eager, √t": OGD(B, inverse_sqrt(radius), "eager"),
        "minimax": limits.BallMinimax(dim, radius, 1, T),
        "never moves": OGD(B, 1e-9, start=np.full(dim, radius / np.sqrt(dim) / 2)),
    }


def on_simplex(n, T):
    """Learners of ours that play experts."""
    S = Simplex(n)
    return {
        "Hedge": Hedge(n, theorems.Hedge(n, T).step),
        "Hedge, √t": Hedge(n, inverse_sqrt(1.0)),
        "FTL": FTL(S),
        "FTRL": FTRL(S, SquaredNorm(), 0.4),
        "lazy": OGD(S, 1 / np.sqrt(T)),
        "eager": OGD(S, 1 / np.sqrt(T), "eager"),
        "minimax": limits.solve_experts(n, T),
    } | ({"Cover": limits.Cover(T)} if n == 2 else {})


def named(table):
    return pytest.mark.parametrize("name", list(table))


# ---------------------------------------------------------------- interval and two experts


@pytest.mark.parametrize("T, value", [(1, 0.5), (5, 0.9375), (10, 1.23046875), (100, 3.979461869)])
def test_two_experts_value(T, value):
    assert limits.two_experts(T) == pytest.approx(value, abs=1e-8)
    if T <= 10:
        assert limits.solve_experts(2, T).value == pytest.approx(value, abs=1e-12)


def test_two_experts_asymptote():
    T = 10**6
    assert limits.two_experts(T) == pytest.approx(np.sqrt(T / (2 * np.pi)), rel=1e-6)


@pytest.mark.parametrize("T", [1, 2, 7])
@pytest.mark.parametrize("radius, rho", [(1.0, 1.0), (2.0, 0.5)])
def test_interval_player_has_the_same_regret_on_every_sequence_that_reaches_zero(T, radius, rho):
    """Exhaustive play: never above the value, and on the coin adversary exactly it."""
    player = limits.IntervalMinimax(radius, rho, T)
    value = limits.interval(radius, rho, T)
    regrets = [play(player, rho * Z).regret(player.over) for Z in all_signs(T)]
    assert max(regrets) == pytest.approx(value, abs=1e-12)
    trace = play(player, limits.coin(radius, rho, T), rounds=T)
    assert trace.regret(player.over) == pytest.approx(value, abs=1e-12)


def test_cover_on_fractional_losses():
    T = 9
    regrets = [play(limits.Cover(T), RNG.random((T, 2))).regret(Simplex(2)) for _ in range(300)]
    assert max(regrets) <= limits.two_experts(T) + 1e-12
    bits = [
        play(limits.Cover(T), Z).regret(Simplex(2)) for Z in RNG.integers(0, 2, (300, T, 2)).astype(float)
    ]
    assert max(bits) <= limits.two_experts(T) + 1e-12


@pytest.mark.parametrize("T", [1, 4, 7])
def test_cover_pays_the_value_whoever_wins_each_round(T):
    """With losses (0, 1) and (1, 0) alone every game of T rounds has the same regret."""
    z = all_signs(T)[..., 0]
    games = np.stack([z > 0, z < 0], axis=-1).astype(float)
    regrets = [play(limits.Cover(T), Z).regret(Simplex(2)) for Z in games]
    assert regrets == pytest.approx([limits.two_experts(T)] * 2**T, abs=1e-12)


def chance_of_leading(d, left):
    """P(d + S < 0), a tie counting half, S the sum of `left` fair signs."""
    values, chances = limits.coin_sums(left)
    return float(chances @ (1 - np.sign(np.round(d + values, 9))) / 2)


def test_cover_is_the_chance_of_leading_on_whole_gaps_only():
    T = 7
    for t in range(T):
        for d in range(-t, t + 1):
            weight = limits.Cover(T).move(t, np.array([d, 0.0]))[0]
            assert weight == pytest.approx(chance_of_leading(d, T - t - 1), abs=1e-12)
    # the chance itself, played on a half: three quarters where the value is a half
    Z = np.array([[0.0, 0.5], [1.0, 0.0]])
    first = np.array([chance_of_leading(d, 1 - t) for t, d in enumerate([0.0, -0.5])])
    plays = np.stack([first, 1 - first], axis=1)
    assert (plays * Z).sum() - Z.sum(axis=0).min() == pytest.approx(0.75)
    assert play(limits.Cover(2), Z).regret(Simplex(2)) <= limits.two_experts(2) + 1e-12 == 0.5 + 1e-12


@pytest.mark.parametrize("name", list(on_ball(1, 1.0, 1)))
def test_interval_is_forced_on_every_learner(name):
    T, R = 12, 2.0
    learner = on_ball(1, R, T)[name]
    assert play(learner, limits.coin(R, 1, T), rounds=T).regret(Ball(1, R)) >= limits.interval(R, 1, T) - 1e-9


# ---------------------------------------------------------------- experts


@pytest.mark.parametrize(
    "n, T, value",
    [
        (3, 1, 2 / 3),
        (3, 2, 5 / 6),
        (3, 3, 1),
        (3, 4, 9 / 8),
        (3, 5, 5 / 4),
        (3, 10, 1.72265625),
        (3, 20, 2.408026377),
        (4, 5, 1.45),
        (4, 12, 2.213563272),
    ],
)
def test_experts_value_is_attained_by_player_and_adversary(n, T, value):
    game = limits.solve_experts(n, T)
    assert limits.experts(n, T) == game.value == pytest.approx(value, abs=1e-8)
    assert play(game, game.adversary, rounds=T).regret(Simplex(n)) == pytest.approx(game.value, abs=1e-9)


def test_experts_value_by_brute_force():
    """A recursion without gaps, sorting or cutting: all cumulative losses, one linear program each."""
    from scipy.optimize import linprog

    def value(L, left):
        if not left:
            return -min(L)
        n = len(L)
        bits = np.array(list(product((0, 1), repeat=n)))
        worth = np.array([value(tuple(np.add(L, b)), left - 1) for b in bits])
        A = np.hstack([bits, -np.ones((2**n, 1))])
        sum_one, signs = [[1] * n + [0]], [(0, 1)] * n + [(None, None)]
        return linprog([0] * n + [1], A, -worth, sum_one, [1], signs).fun

    for n, T in ((2, 3), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2)):
        assert value((0,) * n, T) == pytest.approx(limits.experts(n, T), abs=1e-9)


def test_experts_player_never_exceeds_the_value_on_all_binary_games():
    game = limits.solve_experts(3, 3)
    bits = np.array(list(product((0.0, 1.0), repeat=3)))
    regrets = [play(game, bits[list(rounds)]).regret(Simplex(3)) for rounds in product(range(8), repeat=3)]
    assert max(regrets) == pytest.approx(limits.experts(3, 3), abs=1e-12)


def test_fractional_losses_do_not_help_against_the_optimum():
    """V_1 from its definition, the maximum taken over a grid of fractions: the vertices decide."""
    import cvxpy as cp

    grid = np.array(list(product((0, 0.25, 0.5, 0.75, 1.0), repeat=3)))
    p, v = cp.Variable(3, nonneg=True), cp.Variable()
    problem = cp.Problem(cp.Minimize(v), [cp.sum(p) == 1, grid @ p - grid.min(axis=1) <= v])
    problem.solve(solver=cp.SCIPY)
    assert problem.value == pytest.approx(limits.experts(3, 1), abs=1e-9)


@pytest.mark.parametrize("n, T", [(2, 9), (3, 8), (4, 6)])
def test_experts_value_is_forced_on_every_learner(n, T):
    game = limits.solve_experts(n, T)
    for name, learner in on_simplex(n, T).items():
        regret = play(learner, game.adversary, rounds=T).regret(Simplex(n))
        assert regret >= game.value - 1e-9, name


def test_experts_refuse_fractions():
    with pytest.raises(ValueError, match="0 or 1"):
        play(limits.solve_experts(3, 3), np.full((3, 3), 0.5) * [1, 0, 0])


def test_experts_floor_small_cases_by_enumeration():
    for n, T in ((1, 4), (2, 3), (3, 3), (5, 2)):
        sums = all_signs(T)[..., 0].sum(axis=1)
        brute = np.mean([max(c) for c in product(sums, repeat=n)]) / 2
        assert limits.experts_floor(n, T) == pytest.approx(brute, abs=1e-12)


def test_experts_floor_below_minimax_and_bound():
    for n, T in ((2, 10), (3, 20), (4, 12)):
        assert limits.experts_floor(n, T) < limits.experts(n, T) < theorems.Hedge(n, T).bound
    ratios = [limits.experts_floor(n, 10**4) / theorems.Hedge(n, 10**4).bound for n in (10, 100, 1000)]
    assert ratios == pytest.approx([0.717030, 0.826225, 0.872003], abs=1e-6)


def test_experts_floor_on_every_learner():
    """Fair bits, the mean of 4,000 games or 500: within four standard errors of the floor, whoever plays."""
    n, T, runs = 3, 8, 4000
    bits = np.random.default_rng(3).integers(0, 2, (runs, T, n)).astype(float)
    best = bits.sum(axis=1).min(axis=1)
    for name, learner in on_simplex(n, T).items():
        few = bits if hasattr(learner, "points") else bits[:500]
        paid = (
            play(learner, few).paid.sum(axis=-1)
            if few is bits
            else [play(learner, Z).paid.sum() for Z in few]
        )
        regrets = paid - best[: len(few)]
        assert abs(regrets.mean() - limits.experts_floor(n, T)) < 4 * regrets.std() / np.sqrt(len(few)), name


# ---------------------------------------------------------------- Hedge


@pytest.mark.parametrize("n, T, value", [(2, 10, 1.636792239), (2, 100, 5.550906253), (3, 20, 3.077184359)])
def test_hedge_worst_case_is_played(n, T, value):
    worst, Z = limits.hedge(n, T), limits.hedge_losses(n, T)
    assert worst == pytest.approx(value, abs=1e-8)
    assert play(Hedge(n, theorems.Hedge(n, T).step), Z).regret(Simplex(n)) == pytest.approx(worst, abs=1e-9)
    assert worst <= theorems.Hedge(n, T).bound


def test_hedge_worst_case_by_exhaustive_play():
    T = 4
    Z = np.array(list(product(product((0.0, 1.0), repeat=3), repeat=T)))
    regrets = play(Hedge(3, theorems.Hedge(3, T).step), Z).regret(Simplex(3))
    assert regrets.max() == pytest.approx(limits.hedge(3, T), abs=1e-12)


@pytest.mark.parametrize("parts", [2, 3])
def test_hedge_two_experts_on_a_finer_grid(parts):
    """Losses in {0, 1/k, …, 1} at the tuned step: for these T no fraction is worse than the bits."""
    for T in (4, 10):
        eta, steps = theorems.Hedge(2, T).step, np.arange(-parts, parts + 1)
        d = np.arange(-T * parts, T * parts + 1)
        weight = 1 / (1 + np.exp(eta * d / parts))
        V = np.maximum(0, -d / parts)
        for _ in range(T):
            worth = [weight * s / parts + np.interp(d + s, d, V, left=-np.inf, right=-np.inf) for s in steps]
            V = np.max(worth, axis=0)
        assert V[T * parts] == pytest.approx(limits.hedge(2, T), abs=1e-9)


@pytest.mark.parametrize("T", [2, 6, 12])
def test_fractions_are_worse_than_bits_for_follow_the_leader(T):
    """Over bits T/4 for even T; a first loss (ε, 0) breaks all ties and costs (T − ε)/2."""

    def leader(states):
        return (states == 0) / (states == 0).sum(axis=1, keepdims=True)

    bits = limits.solve_experts(2, T, leader).value
    assert bits == pytest.approx(T / 4, abs=1e-12)
    for eps in (0.5, 0.01):
        Z = np.vstack([[eps, 0.0], np.tile([[0.0, 1.0], [1.0, 0.0]], (T, 1))[: T - 1]])
        regret = play(FTL(Simplex(2)), Z).regret(Simplex(2))
        assert regret == pytest.approx((T - eps) / 2, abs=1e-9) and regret > bits


# ---------------------------------------------------------------- the ball


@pytest.mark.parametrize("dim, T, radius, rho", [(2, 7, 1.0, 1.0), (3, 100, 2.0, 0.5)])
def test_ball_player_attains_the_value_and_never_exceeds_it(dim, T, radius, rho):
    player, value = limits.BallMinimax(dim, radius, rho, T), limits.ball(radius, rho, T)
    trace = play(player, orthogonal(rho), rounds=T)
    assert trace.regret(player.over) == pytest.approx(value, rel=1e-12)
    for Z in random_directions(T, dim, seed=1, rho=rho, runs=(50,)):
        assert play(player, Z * RNG.random((T, 1))).regret(player.over) <= value + 1e-9
    assert player.over.contains(trace.points).all()


def relative(moves):
    """The adversary that goes along the past sum (+1), back (−1) or across it (0), move by move."""

    def adversary(t, w, past):
        total = past.sum(axis=0)
        size = np.linalg.norm(total)
        unit = total / size if size > 1e-9 else np.array([1.0, 0.0])
        return np.array([-unit[1], unit[0]]) if moves[t - 1] == 0 else moves[t - 1] * unit

    return adversary


def test_ball_player_in_every_game_of_moves_relative_to_the_sum():
    T = 6
    player = limits.BallMinimax(2, 1, 1, T)
    games = [play(player, relative(moves), rounds=T) for moves in product((-1, 0, 1), repeat=T)]
    assert max(game.regret(Ball(2)) for game in games) == pytest.approx(np.sqrt(T), rel=1e-9)


@pytest.mark.parametrize("name", list(on_ball(2, 1.0, 1)))
def test_ball_is_forced_on_every_learner(name):
    T, R = 30, 2.0
    trace = play(on_ball(3, R, T)[name], orthogonal(), rounds=T)
    assert trace.regret(Ball(3, R)) >= limits.ball(R, 1, T) - 1e-9


@pytest.mark.parametrize("T, floor", [(1, 3**-0.5), (2, np.sqrt(2 / 3) * np.cos(np.pi / 12))])
def test_a_triangle_has_a_higher_floor_than_the_disk(T, floor):
    """Of diameter 1: 0.577 against 0.5 for T = 1, 0.789 against 0.707 for T = 2, whoever plays."""
    angles = 2 * np.pi / 3 * np.arange(3)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=-1)  # towards the corners
    triangle = Hull(directions / np.sqrt(3))
    first = -directions if T == 1 else directions

    def adversary(t, w, past):
        if t == 1:
            return first[(first @ w).argmax()]
        z = np.array([-past[0, 1], past[0, 0]])
        return z if z @ w >= 0 else -z

    assert triangle.diameter == pytest.approx(1)
    assert floor > limits.ball(0.5, 1, T) + 0.07
    for start in (np.zeros(2), triangle.vertices[0], np.array([0.1, -0.2])):
        for kind in ("lazy", "eager"):
            for eta in (1e-9, 0.3, 2.0):
                trace = play(OGD(triangle, eta, kind, start=start), adversary, rounds=T)
                assert trace.regret(triangle) >= floor - 1e-12
    assert play(FTL(triangle), adversary, rounds=T).regret(triangle) >= floor - 1e-12


def test_ball_value_exceeds_the_interval():
    """One dimension is easier: no direction is orthogonal to the past there."""
    assert limits.interval(1, 1, 100) < 0.8 * limits.ball(1, 1, 100)


# ---------------------------------------------------------------- gradient descent


@pytest.mark.parametrize("projection", ["lazy", "eager"])
@pytest.mark.parametrize(
    "T, eta, R, rho",
    [(2, 0.5, 1, 1), (9, 0.6, 2, 1.5), (9, 2 / 1.5, 2, 1.5), (50, 0.1, 1, 1), (4, 0.25, 1, 1)],
)
def test_descent_is_attained_on_the_ball(T, eta, R, rho, projection):
    Z = adversaries.spiral(R, rho, T, eta)
    assert np.linalg.norm(Z, axis=1) == pytest.approx(np.full(T, rho))
    regret = play(OGD(Ball(2, R), eta, projection), Z).regret(Ball(2, R))
    assert regret == pytest.approx(limits.descent(R, rho, T, eta), rel=1e-12)


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_descent_is_never_exceeded(projection):
    T, R = 8, 1.5
    for eta in (R / T, 0.4, R):
        learner = OGD(Ball(2, R), eta, projection)
        regrets = play(learner, random_directions(T, 2, seed=2, runs=(500,))).regret(Ball(2, R))
        assert regrets.max() <= limits.descent(R, 1, T, eta)


@pytest.mark.parametrize("T", [1, 3, 5, 21])
@pytest.mark.parametrize("R, rho", [(1.0, 1.0), (0.5, 3.0)])
def test_a_long_step_throws_eager_descent_from_wall_to_wall(T, R, rho):
    """η ≥ 2R/ρ and odd T: T·R·ρ, as for a learner that never moves. Shorter, and for T ≥ 3 it is less."""
    Z = rho * np.where(np.arange(T) % 2 == 0, 1.0, -1.0)[:, None]
    for eta in (2 * R / rho, 3.5 * R / rho):
        assert play(OGD(Ball(1, R), eta, "eager"), Z).regret(Ball(1, R)) == pytest.approx(T * R * rho)
    shorter = play(OGD(Ball(1, R), 1.9 * R / rho, "eager"), Z).regret(Ball(1, R))
    assert T < 3 or shorter < T * R * rho - 0.05 * R * rho
    still = play(OGD(Ball(1, R), 1e-12), np.full((T, 1), rho)).regret(Ball(1, R))
    assert still == pytest.approx(T * R * rho)


def test_lazy_descent_is_thrown_from_wall_to_wall_too():
    """η = 2R/ρ: a first slope of ½, then alternating ones, cost T − ½ of the T that eager loses."""
    for T in (3, 5, 9):
        Z = np.where(np.arange(T) % 2 == 0, 1.0, -1.0)[:, None]
        Z[0] = 0.5
        assert play(OGD(Ball(1), 2.0), Z).regret(Ball(1)) == pytest.approx(T - 0.5)
    assert limits.DescentProblem(1, 1, 5, 2.0).solve().value > 4.6  # other sets are worse still


def test_descent_refuses_steps_outside_its_range():
    for eta in (0.09, 1.01):
        with pytest.raises(ValueError, match="eta must be in"):
            limits.descent(1, 1, 10, eta)


@pytest.mark.parametrize("projection", ["lazy", "eager"])
@pytest.mark.parametrize("within", ["ball", "diameter"])
@pytest.mark.parametrize("T", [1, 2, 3, 5, 8])
def test_semidefinite_program_agrees_with_the_closed_form_and_is_played(T, projection, within):
    """The step of Lecture 13 with D as `size`: ¾ of D·ρ·√(2T) from T = 2 on, D·ρ for T = 1."""
    eta, rho, size = 1.3 / (0.7 * np.sqrt(2 * T)), 0.7, 1.3
    problem = limits.DescentProblem(size, rho, T, eta, projection, within)
    worst = problem.solve()
    closed = size * rho if T == 1 else 0.75 * size * rho * np.sqrt(2 * T)
    assert worst.value == pytest.approx(closed, rel=2e-7)
    assert np.linalg.norm(worst.Z, axis=1).max() <= rho * (1 + 1e-12)
    assert (
        worst.over.farthest(np.zeros(worst.over.dim)) if within == "ball" else worst.over.diameter
    ) <= size * (1 + 1e-12)
    regret = play(OGD(worst.over, eta, projection), worst.Z).regret(worst.over)
    assert regret == pytest.approx(closed, rel=1e-6)
    assert regret <= closed * (1 + 1e-9)


@pytest.mark.parametrize("projection", ["lazy", "eager"])
@pytest.mark.parametrize("T, eta", [(3, 1.5), (5, 2.0), (5, 4.0), (5, 0.05)])
def test_worst_cases_outside_the_textbook_range_are_played(T, eta, projection):
    worst = limits.DescentProblem(1, 1, T, eta, projection=projection).solve()
    regret = play(OGD(worst.over, eta, projection), worst.Z).regret(worst.over)
    assert regret == pytest.approx(worst.value, rel=1e-6)
    assert worst.value < 1 / (2 * eta) + eta * T / 2 - 0.01
    if eta < 1 / T:
        assert worst.value == pytest.approx(T - eta * T * (T - 1) / 2, rel=1e-6)


def test_a_long_step_hurts_eager_more_than_lazy():
    lazy, eager = (limits.DescentProblem(1, 1, 5, 2.0, projection=p).solve().value for p in ("lazy", "eager"))
    assert lazy == pytest.approx(4.630976, abs=1e-5)
    assert eager == pytest.approx(5.0, abs=1e-5)


def test_a_schedule_of_steps_is_played():
    """Zinkevich's 1/√t, eager, all sets of diameter 1: below his bound, and attained."""
    T, eta = 6, inverse_sqrt(1.0)
    worst = limits.DescentProblem(1, 1, T, eta, projection="eager", within="diameter").solve()
    regret = play(OGD(worst.over, eta, "eager"), worst.Z).regret(worst.over)
    assert regret == pytest.approx(worst.value, rel=1e-6)
    assert worst.value < np.sqrt(T) / 2 + np.sqrt(T) - 0.5
    with pytest.raises(ValueError, match="eta must be a number"):
        limits.DescentProblem(1, 1, T, eta).textbook()


@pytest.mark.parametrize("projection", ["lazy", "eager"])
@pytest.mark.parametrize("T", [2, 3, 6, 15])
def test_textbook_multipliers_are_a_proof(T, projection):
    """Dual feasible: no negative eigenvalue of the slack; make one number smaller and there is."""
    problem = limits.DescentProblem(1.2, 0.8, T, 0.37, projection)
    proof = problem.textbook()
    promise, slack = problem.certify(proof)
    assert promise == pytest.approx(1.2**2 / (2 * 0.37) + 0.37 * T * 0.8**2 / 2)
    assert np.linalg.eigvalsh(slack).min() > -1e-12
    for name in proof:
        spoiled = proof | {name: 0.99 * proof[name]}
        assert np.linalg.eigvalsh(problem.certify(spoiled)[1]).min() < -1e-6, name
    other = limits.DescentProblem(1.2, 0.8, T, 0.37, "eager" if projection == "lazy" else "lazy")
    if T > 2:
        assert np.linalg.eigvalsh(problem.certify(other.textbook())[1]).min() < -1e-3


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_the_solver_finds_the_textbook_proof(projection):
    problem = limits.DescentProblem(1, 1, 4, 0.4, projection=projection)
    found, proof = problem.solve().multipliers, problem.textbook()
    for name, x in found.items():
        assert x == pytest.approx(proof.get(name, 0.0), abs=1e-4), name


@pytest.mark.parametrize("T", [2, 3, 4, 7, 100, 1001])
def test_lecture_13_three_quarters_and_three_eighths(T):
    D, rho = 1.7, 0.6
    promise, eta = theorems.Descent(D, rho, T).bound, theorems.Descent(D, rho, T).step
    Z, path = adversaries.zigzag(D, rho, T)
    assert np.linalg.norm(Z, axis=1) == pytest.approx(np.full(T, rho))
    hull = Hull(path)
    if T <= 100:
        assert hull.diameter == pytest.approx(D)
    if T <= 7:
        assert play(OGD(hull, eta), Z).regret(hull) == pytest.approx(0.75 * promise, rel=1e-9)
    wide = Ball(2, D)  # the path stays inside, so the ball plays the same game
    assert play(OGD(wide, eta), Z).regret(against=path[-1]) == pytest.approx(0.75 * promise, rel=1e-12)
    centred = Ball(2, D / 2)
    regret = play(OGD(centred, eta), adversaries.spiral(D / 2, rho, T, eta)).regret(centred)
    assert regret == pytest.approx(0.375 * promise, rel=1e-12)


def test_lecture_13_one_round():
    D, rho = 1.7, 0.6
    learner = lambda S: OGD(S, theorems.Descent(D, rho, 1).step)  # noqa: E731
    segment = Box([0.0], [D])
    assert play(learner(segment), np.array([[-rho]])).regret(segment) == pytest.approx(D * rho)
    centred = Ball(1, D / 2)
    assert play(learner(centred), np.array([[rho]])).regret(centred) == pytest.approx(D / 2 * rho)


def test_the_step_that_closes_the_gap():
    for T in (1, 2, 10, 100):
        eta = theorems.DescentSharp(2.0, 0.5, T).step
        assert limits.descent(2.0, 0.5, T, eta) == pytest.approx(limits.ball(2.0, 0.5, T))
        assert theorems.DescentSharp(2.0, 0.5, T).bound == pytest.approx(limits.ball(2.0, 0.5, T))


# ---------------------------------------------------------------- hulls


@pytest.mark.parametrize("dim, corners", [(2, 3), (2, 9), (5, 4), (6, 12), (3, 1)])
def test_hull_projection_has_its_certificate_and_agrees_with_cvxpy(dim, corners):
    import cvxpy as cp

    for k in range(10):
        hull = Hull(RNG.standard_normal((corners, dim)))
        y = 2 * RNG.standard_normal(dim)
        x = hull.project(y)
        assert ((hull.vertices - x) @ (y - x)).max() <= 1e-9  # obtuse angle at every corner
        assert hull.contains(x)
        if k == 0:
            share = cp.Variable(corners, nonneg=True)
            oracle.solve(cp.sum_squares(hull.vertices.T @ share - y), [cp.sum(share) == 1])
            assert x == pytest.approx(hull.vertices.T @ share.value, abs=1e-6)


def test_hull_of_the_signs_is_the_box():
    box, hull = Box([-1.0] * 3, [1.0] * 3), Hull(np.array(list(product((-1, 1), repeat=3))))
    y = 2 * RNG.standard_normal((40, 3))
    assert hull.project(y) == pytest.approx(box.project(y), abs=1e-12)
    assert hull.minimize_linear(y) == pytest.approx(box.minimize_linear(y))
    assert hull.minimize_linear([1.0, 0, 0]) == pytest.approx([-1, 0, 0])  # the least norm among the best
    assert hull.diameter == pytest.approx(box.diameter)
    assert not hull.contains(np.array([1.1, 0, 0]))


def test_hull_with_repeated_and_flat_corners():
    hull = Hull(np.array([[0.0, 0], [0, 0], [1, 0], [0.5, 0], [2, 0]]))
    assert hull.project(np.array([[3.0, 4], [1.5, -1], [-1, 0]])) == pytest.approx(
        np.array([[2, 0], [1.5, 0], [0, 0]])
    )


# ---------------------------------------------------------------- strong convexity


@pytest.mark.parametrize("T, H, rho, dim", [(1, 1, 1, 1), (10, 2.0, 3.0, 1), (50, 0.5, 1.0, 3)])
def test_harmonic_equality(T, H, rho, dim):
    learner = OGD(Space(dim), inverse(1 / H), "eager")
    trace = play(learner, adversaries.at_distance(rho, H), rounds=T)
    assert np.linalg.norm(trace.subgradients, axis=1) == pytest.approx(np.full(T, rho))
    assert trace.regret(Space(dim)) == pytest.approx(theorems.StronglyConvexSharp(rho, H, T).bound, rel=1e-10)


def test_harmonic_bound_on_random_quadratics():
    for _ in range(20):
        losses = [Quadratic(c, 2.0) for c in RNG.standard_normal((30, 2))]
        trace = play(OGD(Space(2), lambda t: 1 / (2 * t), "eager"), losses)
        rho = np.linalg.norm(trace.subgradients, axis=1).max()
        assert trace.regret(Space(2)) <= theorems.StronglyConvexSharp(rho, 2.0, 30).bound + 1e-12


@pytest.mark.parametrize("T, value", [(1, 0.5), (2, 0.625), (10, 1.013943933), (10**4, 3.653182478)])
def test_square_loss_value(T, value):
    assert limits.square_loss(T) == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("dim", [1, 3])
def test_square_loss_player_has_the_value_against_all_unit_centers(dim):
    T = 12
    player, value = limits.SquareMinimax(dim, T), limits.square_loss(T)
    assert play(player, limits.away(T), rounds=T).regret(Ball(dim)) == pytest.approx(value, rel=1e-12)
    for centers in random_directions(T, dim, seed=5, runs=(20,)):
        assert play(player, [Quadratic(c) for c in centers]).regret(Ball(dim)) == pytest.approx(
            value, rel=1e-9
        )
        inside = [Quadratic(c * r) for c, r in zip(centers, RNG.random(T), strict=True)]
        assert play(player, inside).regret(Ball(dim)) <= value + 1e-12


def test_square_loss_is_forced_on_every_learner():
    T, dim = 12, 2
    B = Ball(dim)
    table = {
        "FTL": FTL(B),
        "FTRL": FTRL(B, SquaredNorm(), 1.0),
        "OGD": OGD(B, lambda t: 1 / t, "eager"),
        "lazy": OGD(B, 0.2),
        "minimax": limits.SquareMinimax(dim, T),
    } | {name: learner for name, learner in on_ball(dim, 1.0, T).items() if "FT" not in name}
    for name, learner in table.items():
        assert play(learner, limits.away(T), rounds=T).regret(B) >= limits.square_loss(T) - 1e-12, name


@pytest.mark.parametrize("T, value", [(1, 0.5), (2, 1.5), (3, 5 / 3), (10, 2.379234064)])
def test_leader_on_square_losses(T, value):
    worst, centers = limits.leader_square_loss(T), limits.leader_centers(T)
    assert worst == pytest.approx(value, abs=1e-8)
    trace = play(FTL(Ball(1)), [Quadratic(c) for c in centers])
    assert trace.regret(Ball(1)) == pytest.approx(worst, rel=1e-12)
    if T <= 10:
        signs = all_signs(T)
        means = np.cumsum(signs, axis=1)[:, :-1, 0] / np.arange(1, T)
        gaps = signs[:, :, 0] - np.hstack([np.zeros((2**T, 1)), means])
        assert (gaps**2 / (2 * np.arange(1, T + 1))).sum(axis=1).max() == pytest.approx(worst)


def test_leader_on_square_losses_is_worse_off_in_the_plane():
    """T = 3: c_2 almost opposite c_1, at cosine 2/25 − 1, then c_3 opposite the mean: 1.7 > 5/3."""
    cos = 2 / 25 - 1
    c = np.array([[1.0, 0], [cos, np.sqrt(1 - cos**2)]])
    c = np.vstack([c, -c.sum(axis=0) / np.linalg.norm(c.sum(axis=0))])
    assert play(FTL(Ball(2)), [Quadratic(x) for x in c]).regret(Ball(2)) == pytest.approx(1.7)


# ---------------------------------------------------------------- mistakes, delays, moving comparators


@pytest.mark.parametrize("k", [1, 4, 9, 25])
@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_mistakes_are_forced_on_every_deterministic_learner(k, radius):
    margin = radius / np.sqrt(k)
    assert theorems.MistakesFloor(radius, margin).bound == k
    table = {
        "Perceptron": Perceptron(k),
        "Perceptron, half a step at ties": Perceptron(k, 0.5),
        "NormalizedWinnow": NormalizedWinnow(k, 0.3),
        "lazy": OGD(Ball(k), 0.3),
        "eager": OGD(Ball(k), 0.3, "eager"),
        "FTL on subgradients": Linearized(FTL(Ball(k))),
        "minimax": limits.BallMinimax(k, 1, 1, k),
    }
    for name, learner in table.items():
        trace = play(learner, nature(radius), rounds=k)
        assert trace.mistakes.sum() == k, name
        u = (trace.losses.y / np.sqrt(k)) @ np.eye(k)
        assert trace.losses.margins(u).min() >= margin - 1e-12
    trace = play(Perceptron(k), nature(radius), rounds=k)
    assert trace.updates.sum() == pytest.approx(theorems.Perceptron(radius, margin).bound)


@pytest.mark.parametrize("T, delay", [(12, 0), (12, 2), (20, 3), (100, 9)])
def test_delay_interleaved_players_attain_the_value(T, delay):
    R, rho = 2.0, 0.5
    learner = limits.Interleaved(limits.BallMinimax(2, R, rho, T // (delay + 1)), delay)
    value = limits.delayed(R, rho, delay, T)
    trace = play(learner, limits.blocks(learner, rho, delay), rounds=T)
    assert trace.regret(Ball(2, R)) == pytest.approx(value, rel=1e-9)
    for Z in random_directions(T, 2, seed=4, rho=rho, runs=(20,)):
        assert play(learner, Z).regret(Ball(2, R)) <= value + 1e-9
        assert (
            play(learner, np.repeat(Z[: T // (delay + 1)], delay + 1, axis=0)).regret(Ball(2, R))
            <= value + 1e-9
        )


def test_delay_is_forced_on_every_delayed_learner():
    T, delay = 24, 3
    table = on_ball(3, 1.0, T).values()
    late = [wrap(learner, delay) for learner in table for wrap in (limits.Delayed, limits.Interleaved)]
    for learner in (*late, DelayedOGD(Ball(3), 0.1, delay)):
        trace = play(learner, limits.blocks(learner, 1, delay), rounds=T)
        assert trace.regret(Ball(3)) >= limits.delayed(1, 1, delay, T) - 1e-9, learner


@pytest.mark.parametrize("eta", [0.3, inverse_sqrt(1.0)])
def test_delayed_eager_descent_is_delayed_ogd(eta):
    """For one delay. The wrapper is kept for the other learners, the floor being one for all of them."""
    Z = random_directions(15, 2, seed=11)
    for delay in (0, 3):
        wrapped = play(limits.Delayed(OGD(Ball(2), eta, "eager"), delay), Z)
        np.testing.assert_array_equal(wrapped.points, play(DelayedOGD(Ball(2), eta, delay), Z).points)


def test_a_learner_without_delay_escapes_the_blocks():
    """The floor is the delay's: the same losses do not hurt a learner that hears of them at once."""
    T, delay = 24, 3
    slow = limits.Delayed(OGD(Ball(2), 1 / np.sqrt(T)), delay)
    Z = play(slow, limits.blocks(slow, 1, delay), rounds=T).subgradients
    assert (
        play(limits.BallMinimax(2, 1, 1, T), Z).regret(Ball(2))
        <= limits.ball(1, 1, T)
        < 0.6 * limits.delayed(1, 1, delay, T)
    )


@pytest.mark.parametrize("wrapper", [limits.Interleaved, limits.Delayed])
def test_a_late_learner_hears_of_each_loss_exactly_when_it_may(wrapper):
    learner = wrapper(OGD(Ball(2), 0.3), 2)
    Z = random_directions(12, 2, seed=6)
    spoiled = Z.copy()
    spoiled[5:] = 0.0
    a, b = play(learner, Z).points, play(learner, spoiled).points
    assert np.array_equal(a[:8], b[:8])  # w_8, index 7, knows z_1 … z_5
    assert not np.array_equal(a[8], b[8])


@pytest.mark.parametrize("name", list(on_ball(2, 1.0, 1)))
def test_moving_comparator_is_forced_on_every_learner(name):
    T, K, R = 40, 5, 2.0
    trace = play(on_ball(2, R, T)[name], limits.restarts(1, K, T), rounds=T)
    u = limits.best_pieces(trace, K, Ball(2, R))
    assert trace.dynamic_regret(u) >= limits.moving(R, 1, K, T) - 1e-9
    assert np.linalg.norm(np.diff(u, axis=0), axis=1).sum() <= 2 * R * (K - 1) + 1e-9


def test_moving_floor_is_reached():
    """A learner that stays at 0 pays nothing, and the best pieces gain exactly the floor."""
    T, K, R = 40, 5, 2.0
    trace = play(OGD(Ball(2, R), 1e-12), limits.restarts(1, K, T), rounds=T)
    regret = trace.dynamic_regret(limits.best_pieces(trace, K, Ball(2, R)))
    assert regret == pytest.approx(limits.moving(R, 1, K, T), rel=1e-9)


def test_moving_floor_is_exact_for_a_player_that_knows_the_pieces():
    T, K, R = 40, 5, 2.0
    ball, length = Ball(2, R), T // K
    for Z in random_directions(T, dim=2, seed=3, runs=(50,)):
        pieces = [play(limits.BallMinimax(2, R, 1, length), Z[i : i + length]) for i in range(0, T, length)]
        assert sum(piece.regret(ball) for piece in pieces) <= limits.moving(R, 1, K, T) + 1e-9


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: limits.delayed(1, 1, 3, 10), "T must be a multiple"),
        (lambda: limits.moving(1, 1, 3, 10), "T must be a multiple"),
        (lambda: limits.restarts(1, 3, 10), "T must be a multiple"),
        (lambda: limits.two_experts(0), "T must be an integer"),
        (lambda: limits.Cover(2.5).player().predict(), "T must be an integer"),
        (lambda: limits.BallMinimax(2, -1, 1, 5), "radius must be positive"),
        (lambda: limits.SquareMinimax(2, 0), "T must be an integer"),
        (lambda: limits.Interleaved(Perceptron(2), -1), "delay must be an integer"),
        (lambda: limits.solve_experts(1, 3), "n must be an integer ≥ 2"),
        (lambda: limits.DescentProblem(1, 1, 3, 0.5, projection="late"), "projection must be 'lazy' or"),
        (lambda: limits.DescentProblem(1, 1, 3, -0.5), "eta must be positive"),
        (lambda: play(Perceptron(2), nature(), rounds=3), "nature needs dim ≥ rounds"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------- an independent witness


@pytest.mark.skipif(importlib.util.find_spec("PEPit") is None, reason="PEPit is an optional witness")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("T, factor", [(2, 1.0), (3, 1 / np.sqrt(2)), (3, 2.0)])
def test_pepit_agrees_on_eager_descent(T, factor):
    """An independent program: Lipschitz convex losses in place of linear ones, its own projection step."""
    from PEPit import PEP
    from PEPit.functions import ConvexIndicatorFunction, ConvexLipschitzFunction
    from PEPit.primitive_steps import proximal_step

    D, rho = 1.3, 0.7
    eta = factor * D / (rho * np.sqrt(T))
    problem = PEP()
    losses = [problem.declare_function(ConvexLipschitzFunction, M=rho) for _ in range(T)]
    inside = problem.declare_function(ConvexIndicatorFunction, D=D)
    u, _, _ = proximal_step(problem.set_initial_point(), inside, 1)
    w, _, _ = proximal_step(problem.set_initial_point(), inside, 1)
    regret = 0
    for f in losses:
        z, paid = f.oracle(w)
        regret = regret + paid - f(u)
        w, _, _ = proximal_step(w - eta * z, inside, eta)
    problem.set_performance_metric(regret)
    ours = limits.DescentProblem(D, rho, T, eta, "eager", "diameter").solve().value
    assert problem.solve(verbose=0) == pytest.approx(ours, rel=1e-4)


def value(Z, left, R, rho):
    """R·E|Z + ρS|: the mean over all sequences of signs."""
    return R * np.mean([abs(Z + rho * sum(signs)) for signs in product((-1, 1), repeat=left)])


@pytest.mark.parametrize(("R", "rho"), [(2.0, 0.5), (0.7, 3.0)])
def test_the_coin_falls_where_it_hurts_most(R, rho):
    T = 4
    adversary = limits.coin(R, rho, T)
    for t, w in product(range(1, T + 1), np.linspace(-R, R, 9)):
        for signs in product((-1, 1), repeat=t - 1):
            past = rho * np.array(signs, dtype=float).reshape(-1, 1)
            worth = {z: z * w + value(past.sum() + z, T - t, R, rho) for z in (rho, -rho)}
            if abs(worth[rho] - worth[-rho]) > 1e-9:
                assert adversary(t, np.array([w]), past)[0] == max(worth, key=worth.get)
    assert adversary(1, np.zeros(1), np.zeros((0, 1)))[0] == rho, "of two equal losses the positive one"


def test_a_bowl_at_a_distance_changes_sides():
    adversary, w = adversaries.at_distance(3.0, 2.0), np.array([0.5, 4.0])
    for t, center in ((1, [-1.0, 4.0]), (2, [2.0, 4.0]), (3, [-1.0, 4.0])):
        loss = adversary(t, w, None)
        assert loss.center.tolist() == center and loss.curvature == 2.0
    assert w.tolist() == [0.5, 4.0]


def test_the_adversary_of_the_square_loss_goes_away_from_the_play():
    """α_3 = 1/3, α_2 = 4/9, α_1 = 52/81; a second game begins anew."""
    adversary = limits.away(3)
    for _ in range(2):
        first = adversary(1, np.zeros(2), None).center
        assert first.tolist() == [1.0, 0.0]
        second = adversary(2, np.array([0.0, 0.3]), None).center
        assert second == pytest.approx(np.array([4 / 9, -0.3]) / np.hypot(4 / 9, 0.3))
        third = adversary(3, np.array([0.1, 0.2]), None).center
        along = (first + second) / 3 - [0.1, 0.2]
        assert third == pytest.approx(along / np.hypot(*along))
    assert adversary(2, np.array([0.0, 0.3]), None).center == pytest.approx(second), (
        "a round may be asked again"
    )


def test_the_leader_is_dragged_to_and_fro():
    assert limits.leader_centers(2).tolist() == [[1.0], [-1.0]]
    assert limits.leader_centers(1).tolist() == [[1.0]]


def test_the_players_after_the_game_and_where_they_play():
    Z = np.array([3.0, -4.0])
    assert limits.BallMinimax(2, 2.0, 1.5, 6).move(6, Z) == pytest.approx([-1.2, 1.6])
    assert limits.BallMinimax(2, 2.0, 1.5, 6).move(2, Z) == pytest.approx(-2 * Z / np.sqrt(25 + 9))
    assert limits.BallMinimax(2, 2.0, 1.5, 6).move(6, 0 * Z).tolist() == [0.0, 0.0]
    assert limits.Cover(3).over == Simplex(2)
    game = limits.solve_experts(3, 4)
    assert game.move(4, np.array([1.0, 2.0, 4.0])) == pytest.approx([1 / 3] * 3)
    assert [len(gaps.where) - 1 for gaps in game.gaps] == [0, 1, 2, 1, 0], "who cannot come back is cut off"
    whole = limits.hedge_game(2, 4)
    assert [len(gaps.where) - 1 for gaps in whole.gaps] == [0, 1, 2, 3, 4]


def test_spiral_and_zigzag_turn_left_first():
    Z = adversaries.spiral(2.0, 1.5, 7, 0.4)
    sums = np.cumsum(Z, axis=0)
    turns = sums[:-1, 0] * Z[1:, 1] - sums[:-1, 1] * Z[1:, 0]
    assert (turns > 0).all()
    assert np.linalg.norm(sums, axis=1) == pytest.approx(np.linspace(1.5, 5.0, 7))
    Z, path = adversaries.zigzag(2.0, 1.5, 4)
    assert np.sign(Z[:, 1]).tolist() == [1.0, -1.0, 1.0, -1.0] and (Z[:, 0] > 0).all()
    assert path[1] == pytest.approx(-2.0 / (1.5 * np.sqrt(8)) * Z[0])


class Scripted:
    """Plays (1, 0, 0), (0, 2, 0), (0, 0, 3), …, whatever happens."""

    over, rows = Ball(3, 9.0), np.diag([1.0, 2.0, 3.0])

    def player(self):
        twin = Scripted()
        twin.t = 0
        return twin

    def predict(self):
        return self.rows[self.t % 3]

    def update(self, loss):
        self.t += 1


def test_a_block_is_aimed_at_the_sum_of_its_plays():
    adversary = limits.blocks(Scripted(), 1.5, 1)
    first = adversary(1, np.array([1.0, 0.0, 0.0]), np.zeros((0, 3)))
    assert first == pytest.approx(1.5 * np.array([1.0, 2.0, 0.0]) / np.sqrt(5))
    np.testing.assert_array_equal(adversary(2, np.zeros(3), np.array([first])), first)
    total, unit = np.array([1.0, 0.0, 3.0]), np.array([1.0, 2.0, 0.0]) / np.sqrt(5)  # rounds 3 and 4
    across = total - total @ unit * unit
    third = adversary(3, np.array([0.0, 0.0, 3.0]), np.array([first, first]))
    assert third == pytest.approx(1.5 * across / np.linalg.norm(across))


def test_a_piece_forgets_the_one_before():
    adversary, w = limits.restarts(1.5, 3, 6), np.array([0.6, -0.8])
    past = np.array([[1.5, 0.0], [0.0, 1.5], [1.5, 0.0]])
    assert adversary(3, w, past[:2]) == pytest.approx(1.5 * w), "round 3 opens a piece"
    assert adversary(4, w, past) == pytest.approx([0.0, -1.5]), "round 4 is across round 3 alone"


def test_the_best_points_of_the_pieces():
    trace = play(OGD(Ball(2), 0.1), np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    assert limits.best_pieces(trace, 2, Ball(2, 3.0)).tolist() == [[-3, 0], [-3, 0], [0, -3], [0, -3]]


def test_late_news_arrive_in_order():
    player = limits.Delayed(OGD(Ball(1, 9.0), 1.0), 2).player()
    plays = []
    for z in (1.0, 2.0, 3.0, 4.0):
        plays.append(float(player.predict()[0]))
        player.update(Linear([z]))
    assert plays == [0.0, 0.0, 0.0, -1.0] and player.predict()[0] == -3.0


def test_multipliers_may_be_0_but_none_negative():
    problem = limits.DescentProblem(2.0, 1.5, 2, 0.4)
    proof = problem.textbook()
    promise, slack = problem.certify(proof | {("projection", "w2", "w1"): 0.0})
    assert promise == pytest.approx(4 / 0.8 + 0.4 * 2 * 2.25 / 2)
    assert promise == pytest.approx(problem.certify(proof)[0])
    assert np.linalg.eigvalsh(slack).min() > -1e-12
    with pytest.raises(ValueError, match=r"multipliers must be ≥ 0, got -0\.1"):
        problem.certify(proof | {("projection", "w2", "w1"): -0.1})


def test_what_holds_arrays_is_itself_alone():
    cases = [limits.WorstCase(1.0, {}, np.ones((2, 2)), Hull(np.eye(2))) for _ in range(2)]
    assert cases[0] == cases[0] != cases[1] and len(set(cases)) == 2
    games = [limits.solve_experts(2, 2) for _ in range(2)]
    assert games[0] == games[0] != games[1] and len(set(games)) == 2


@pytest.mark.parametrize(("rho", "size", "Z", "w"), [(3.0, 4.0, 2.0, 2.0), (1.0, 0.5, 1.0, 0.5)])
@pytest.mark.parametrize("within", ["ball", "diameter"])
def test_a_gram_matrix_becomes_vectors(rho, size, Z, w, within):
    """Of z1, z2, w2, u: at right angles, the first three of length 2, and u only rounding error."""
    problem = limits.DescentProblem(size, rho, 2, 0.4, within=within)
    losses, hull = problem._rebuild(np.diag([4.0, 4.0, 4.0, 1e-7 * 4.0]))
    vectors = np.vstack([losses, hull.vertices[1:]])
    assert vectors.shape == (4, 3) and not hull.vertices[0].any(), "no direction for what is no length"
    np.testing.assert_allclose(vectors @ vectors.T, np.diag([Z**2, Z**2, w**2, 0.0]), atol=1e-12)


def test_the_first_step_of_a_schedule_is_looked_at():
    with pytest.raises(ValueError, match=r"eta\(1\) must be positive .* got -1"):
        limits.DescentProblem(1.0, 1.0, 2, lambda t: -1.0 if t == 1 else 1.0)


# ---------------------------------------------------------------- the door


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_the_worst_case_of_a_learner_is_that_of_its_problem_and_is_played(projection):
    T, learner = 3, OGD(Ball(2, 2.0), 0.7, projection)
    found = limits.worst_case(learner, rho=1.5, T=T)
    problem = limits.DescentProblem(2.0, 1.5, T, 0.7, projection)
    assert found.value == pytest.approx(problem.solve().value, rel=1e-5)
    assert repr(found).startswith(f"WorstCase(value {found.value:.6g}: 3 losses in dimension ")
    again = play(OGD(found.over, 0.7, projection), found.Z)
    assert again.regret(found.over) == pytest.approx(found.value, rel=1e-3)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (1.0, "got float"),
        (Hedge(3, 0.1), "got FTRL"),
        (OGD(Ball(2), 0.1, start=[0.5, 0.0]), "starts at 0"),
        (OGD(Box([1.0], [2.0]), 0.1), "starts at 0"),
        (OGD(Space(2), 0.1), "bounded set"),
        (OGD(Box([0], [0]), 0.1), "more than one point"),
    ],
    ids=["number", "Hedge", "start", "set", "unbounded", "a point"],
)
def test_a_worst_case_that_is_not_known_is_refused(learner, words):
    with pytest.raises(ValueError, match=words):
        limits.worst_case(learner, 1.0, 4)


def test_arguments_that_make_no_sense_are_named():
    from ocolab.limits.base import limit
    from ocolab.limits.betting import MinimaxPortfolio
    from ocolab.limits.late import best_pieces

    with pytest.raises(ValueError, match="kind must be 'tight' or 'lower', got 'upper'"):
        limit("upper", "item")
    with pytest.raises(
        ValueError, match=r"MinimaxPortfolio plays market\(X\), where X has two columns, got Linear"
    ):
        MinimaxPortfolio(3).player().update(Linear([1.0, 0.0]))
    with pytest.raises(ValueError, match="pieces must divide the 5 rounds, got 2"):
        best_pieces(play(OGD(Ball(2), 0.5), np.ones((5, 2))), 2, Ball(2))


def test_the_ends_of_the_steps_for_which_descent_is_known():
    for eta, fine in (
        (0.5, True),
        (0.5 + 1e-13, True),
        (0.5 + 1e-9, False),
        (0.05, True),
        (0.05 - 1e-10, False),
    ):
        if fine:
            assert limits.descent(1.0, 2.0, 10, eta) == pytest.approx(1 / (2 * eta) + 20 * eta)
        else:
            with pytest.raises(ValueError, match="eta must be in"):
                limits.descent(1.0, 2.0, 10, eta)
