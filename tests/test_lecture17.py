"""Lecture 17: FTRL, experts, convex to linear. Each test checks a claim by other numbers than its page."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocolib import adversaries, data, oracle, theorems
from ocolib.game import play
from ocolib.learners import FTL, FTRL, OGD, Hedge, Linearized
from ocolib.losses import Quadratic, hinge
from ocolib.regularizers import NegativeEntropy, SquaredNorm, gibbs, kl
from ocolib.sets import Ball, Box, L1Ball, Simplex, Space

INTERVAL = Box([-1], [1])
PAIRS = [
    (INTERVAL, SquaredNorm()),
    (Ball(3, 2.0), SquaredNorm()),
    (Box([1.0, -2.0], [2.0, 5.0]), SquaredNorm()),
    (L1Ball(4, 1.5), SquaredNorm(np.full(4, 0.3))),
    (Simplex(5), SquaredNorm()),
    (Simplex(5), NegativeEntropy()),
]
each_pair = pytest.mark.parametrize(
    "over, phi", PAIRS, ids=lambda x: type(x).__name__ if hasattr(x, "value") else repr(x)[:12]
)
seeds = st.integers(0, 2**32 - 1)


def distribution(rng, n, sparse=False):
    p = rng.dirichlet(np.full(n, rng.choice([0.1, 1.0, 10.0])))
    if sparse:
        p[rng.random(n) < 0.4] = 0.0
        p[0] += 1e-3
    return p / p.sum()


# ---------------------------------------------------------------- 17.1: FTRL and its bound


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_be_the_leader_has_no_regret(seed):
    """Paying f_t at w_{t+1}: on the corners of the simplex any table of losses is linear."""
    f = np.random.default_rng(seed).integers(-2, 3, (6, 5)).astype(float)
    trace = play(FTL(Simplex(5)), f)
    ahead = np.vstack([trace.points[1:], trace.last])  # sees f_t before it plays
    assert (f * ahead).sum() <= f.sum(axis=0).min() + 1e-12


def test_being_the_leader_is_not_causal():
    """Its play in round 1 depends on the loss of round 1."""
    for z, play_ in ((1.0, -1.0), (-1.0, 1.0)):
        assert INTERVAL.minimize_linear(np.array([z]))[0] == play_


def test_the_set_belongs_under_the_minimum():
    """(17.1) without Omega leaves the set."""
    inside = FTRL(INTERVAL, SquaredNorm(), 1.0).lead(1, 0.0, np.array([-7.0]))
    outside = FTRL(Space(1), SquaredNorm(), 1.0).lead(1, 0.0, np.array([-7.0]))
    assert inside[0] == 1.0 and outside[0] == 7.0


def test_ftrl_is_rule_17_1_for_any_convex_loss():
    """With hinge losses no closed form helps: the solver's play has the least objective on a grid."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((6, 1)), rng.choice([-1.0, 1.0], 6)
    trace = play(oracle.FTRL(INTERVAL, SquaredNorm(), 0.7), hinge(X, y))
    grid = np.linspace(-1, 1, 4001)[:, None]
    for t in range(6):
        values = sum(hinge(X, y)[i].value(grid) for i in range(t)) + SquaredNorm().value(grid) / 0.7
        mine = sum(hinge(X, y)[i].value(trace.points[t]) for i in range(t))
        assert mine + SquaredNorm().value(trace.points[t]) / 0.7 <= values.min() + 1e-7


@each_pair
def test_range_is_the_range(over, phi):
    D = phi.range(over)
    rng = np.random.default_rng(0)
    extremes = over.minimize_linear(rng.standard_normal((4000, over.dim)))  # boundary points
    inside = over.project(0.5 * rng.standard_normal((4000, over.dim)))
    values = phi.value(np.vstack([extremes, inside]))
    least = phi.value(phi.minimize(np.zeros(over.dim), 1.0, over))
    assert values.max() - least <= D + 1e-12
    assert values.max() - least >= 0.99 * D


def test_ranges_in_closed_form():
    assert np.isclose(SquaredNorm().range(Ball(4, 3.0)), 4.5)
    assert np.isclose(SquaredNorm().range(Simplex(8)), (1 - 1 / 8) / 2)
    assert np.isclose(NegativeEntropy().range(Simplex(1000)), 6.907755278982137)
    assert np.isclose(SquaredNorm().range(Box([10], [11])), 10.5)
    assert np.isclose(SquaredNorm([10.0]).range(Box([10], [11])), 0.5)
    assert SquaredNorm().range(Space(2)) == np.inf
    with pytest.raises(ValueError, match="NegativeEntropy over Simplex"):
        NegativeEntropy().range(Ball(2))


def games(over, rng, T=30):
    """Linear losses, and quadratic ones where there are few dimensions."""
    size = rng.choice([0.1, 1.0, 5.0])
    Z = size * rng.standard_normal((T, over.dim))
    yield Z
    yield np.sign(Z)
    if over.dim < 5:
        bowls = [Quadratic(c, rng.uniform(0.1, 2)) for c in over.project(Z)]
        yield bowls


@each_pair
@pytest.mark.parametrize("eta", [0.02, 0.3, 3.0])
def test_17_2_is_never_broken(over, phi, eta):
    for seed in range(12):
        for losses in games(over, np.random.default_rng(seed)):
            trace = play(FTRL(over, phi, eta), losses)
            norms = phi.dual_norm(trace.subgradients)
            regret = trace.regret(over)
            sharp = theorems.FTRLSharp(phi.range(over), norms, eta).bound
            assert regret <= sharp + 1e-9 <= theorems.FTRL(phi.range(over), norms, eta).bound + 1e-9


def test_17_2_holds_for_hinge_losses():
    """FTRL on the losses themselves, curved or kinked: a solver a round."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((12, 2)), rng.choice([-1.0, 1.0], 12)
    disk = Ball(2)
    trace = play(oracle.FTRL(disk, SquaredNorm(), 0.4), hinge(X, y))
    norms = np.linalg.norm(trace.subgradients, axis=1)
    assert oracle.regret(trace, disk) <= theorems.FTRLSharp(0.5, norms, 0.4).bound + 1e-6


def test_the_sharp_bound_is_met_and_no_constant_below_it_holds():
    for T, eta in ((4, 0.5), (16, 0.25)):
        worst = play(FTRL(INTERVAL, SquaredNorm(), eta), adversaries.all_signs(T)).regret(INTERVAL).max()
        assert np.isclose(worst, theorems.FTRLSharp(0.5, np.ones(T), eta).bound)
        assert np.isclose(worst, theorems.FTRLTunedSharp(0.5, 1.0, T).bound)
        assert np.isclose(eta, theorems.FTRLTunedSharp(0.5, 1.0, T).step)


def test_17_3_is_17_2_at_its_best_step():
    D, rho, T = 0.7, 3.0, 50
    steps = np.geomspace(1e-4, 10, 20001)
    curve = D / steps + steps * T * rho**2
    assert np.isclose(curve.min(), theorems.FTRLTuned(D, rho, T).bound, rtol=1e-6)
    assert np.isclose(steps[curve.argmin()], theorems.FTRLTuned(D, rho, T).step, rtol=1e-3)
    assert np.isclose(
        (curve - steps * T * rho**2 / 2).min(), theorems.FTRLTunedSharp(D, rho, T).bound, rtol=1e-6
    )
    for c in (0.01, 7.0):  # a regret bound scales like the losses
        assert np.isclose(theorems.FTRLTuned(D, c * rho, T).bound, c * theorems.FTRLTuned(D, rho, T).bound)
        assert np.isclose(
            theorems.FTRLTunedSharp(D, c * rho, T).bound, c * theorems.FTRLTunedSharp(D, rho, T).bound
        )


@pytest.mark.parametrize("G", [2.5, 9.0, 400.0])
def test_17_3_as_printed_is_false_for_large_gradients(G):
    """One round, every step: the regret is G; 2√(DG) = √(2G) is less as soon as G > 2."""
    printed = 2 * np.sqrt(0.5 * G)
    for eta in np.geomspace(1e-5, 1e5, 21):
        regret = play(FTRL(INTERVAL, SquaredNorm(), eta), np.array([[G]])).regret(INTERVAL)
        assert printed < regret <= theorems.FTRLTunedSharp(0.5, G, 1).bound + 1e-9


def test_17_3_needs_the_tuned_step():
    """A step that ignores T: linear regret. (17.2) still holds."""
    T = 400
    regret = play(FTRL(INTERVAL, SquaredNorm(), 0.5), adversaries.alternating(T)).regret(INTERVAL)
    assert regret > 3 * theorems.FTRLTuned(0.5, 1.0, T).bound
    assert regret <= theorems.FTRLSharp(0.5, np.abs(adversaries.alternating(T)[:, 0]), 0.5).bound


def test_regret_subtracts_a_minimum_not_a_minimiser():
    trace = play(FTRL(INTERVAL, SquaredNorm(), 1.0), np.array([[5.0]]))
    minimum, minimiser = -5.0, -1.0
    assert trace.regret(INTERVAL) == trace.paid.sum() - minimum != trace.paid.sum() - minimiser


def test_the_comparator_form_needs_no_range():
    """On all of space D is infinite, (φ(u) − φ(w_1))/eta is not."""
    Z = adversaries.random_directions(60, 3, seed=5)
    trace = play(FTRL(Space(3), SquaredNorm(), 0.2), Z)
    assert SquaredNorm().range(Space(3)) == np.inf
    for u in 2 * np.random.default_rng(0).standard_normal((50, 3)):
        assert trace.regret(against=u) <= u @ u / 0.4 + 0.1 * 60 + 1e-9


@each_pair
def test_both_chains_of_17_2_hold(over, phi):
    for seed in range(5):
        for losses in games(over, np.random.default_rng(seed), T=12):
            trace = play(FTRL(over, phi, 0.3), losses)
            rho = phi.dual_norm(trace.subgradients).max()
            u = trace.best(over)
            slow = theorems.FTRL.of(trace, rho).proof(trace, u)
            fast = theorems.FTRLSharp.of(trace, rho).proof(trace, u)
            assert slow.holds() and fast.holds()
            assert np.isclose(slow.values[0], trace.regret(over)) and slow.values[0] == fast.values[0]
            norms = phi.dual_norm(trace.subgradients)
            assert np.isclose(slow.values[-2], theorems.FTRL(phi.range(over), norms, 0.3).bound)
            assert np.isclose(fast.values[-2], theorems.FTRLSharp(phi.range(over), norms, 0.3).bound)


def test_a_spoiled_chain_does_not_hold():
    """With a claimed rho below the gradients the last line fails."""
    trace = play(FTRL(INTERVAL, SquaredNorm(), 0.3), adversaries.alternating(12))
    assert not theorems.FTRL.of(trace, rho=0.5).chain(trace, [1.0]).holds()


# ---------------------------------------------------------------- 17.2: experts, two regularisers


def l2_experts(N, T, losses, shifted=False):
    """The regret and the promise for losses in [0, 1], as they are or counted from ½."""
    D, rho = SquaredNorm().range(Simplex(N)), np.sqrt(N) / (2 if shifted else 1)
    learner = FTRL(Simplex(N), SquaredNorm(), theorems.FTRLTunedSharp(D, rho, T).step)
    return play(learner, losses).regret(Simplex(N)), theorems.FTRLTunedSharp(D, rho, T).bound


@pytest.mark.parametrize("N", [2, 7, 40])
def test_l2_experts_stay_below_sqrt_NT(N):
    T, rng = 150, np.random.default_rng(N)
    for losses in (rng.random((T, N)), np.round(rng.random((T, N))), 1 - np.eye(N)[np.zeros(T, int)]):
        regret, promised = l2_experts(N, T, losses)
        assert regret <= promised + 1e-9 <= np.sqrt(N * T)
        regret, promised = l2_experts(N, T, losses, shifted=True)
        assert regret <= promised + 1e-9 and np.isclose(promised, np.sqrt((N - 1) * T) / 2)


@pytest.mark.parametrize("T", [4, 9])
def test_the_shifted_bound_of_the_squared_norm_is_met_by_two_experts(T):
    games = np.array(list(itertools.product(np.eye(2), repeat=T)))
    regret, promised = l2_experts(2, T, games, shifted=True)
    assert np.isclose(regret.max(), promised) and np.isclose(promised, np.sqrt(T) / 2)


@pytest.mark.parametrize("N", [4, 16, 64])
def test_no_step_saves_the_squared_norm_from_sqrt_NT(N):
    """One good expert punishes small steps, two halves in turn punish large ones."""
    T, S = 4 * N, Simplex(N)
    good = 1 - np.tile(np.eye(N)[0], (T, 1))
    halves = np.tile(np.vstack([np.arange(N) < N // 2, np.arange(N) >= N // 2]), (T // 2, 1)).astype(float)
    worst = [
        max(play(FTRL(S, SquaredNorm(), eta), z).regret(S) for z in (good, halves))
        for eta in np.geomspace(1e-4, 10, 60)
    ]
    assert min(worst) > np.sqrt(N * T) / 5


def test_entropy_is_better_for_many_experts_not_for_few():
    """With the lecture's constants and with the sharp ones for shifted losses: fewer than 4 experts."""
    T = 900
    for N, better in ((2, False), (3, False), (4, True), (50, True)):
        l2 = theorems.FTRLTunedSharp(SquaredNorm().range(Simplex(N)), np.sqrt(N), T).bound
        assert np.isclose(l2, np.sqrt((N - 1) * T))
        lecture_l2 = theorems.FTRLTuned(SquaredNorm().range(Simplex(N)), np.sqrt(N), T).bound
        entropy = theorems.FTRLTuned(np.log(N), 1.0, T).bound
        assert np.isclose(lecture_l2, np.sqrt(2 * (N - 1) * T))
        assert (entropy < lecture_l2) == better == (theorems.Hedge(N, T).bound < l2 / 2)


# ---------------------------------------------------------------- Lemma 17.1, Pinsker


def test_entropy_against_scipy():
    scipy = pytest.importorskip("scipy.special")
    p = np.random.default_rng(0).dirichlet(np.full(6, 0.3), 50)
    p[:10, 0] = 0.0
    assert np.allclose(NegativeEntropy().value(p), -scipy.entr(p).sum(axis=1), atol=1e-15)
    q = np.roll(p, 1, axis=0) + 1e-3
    assert np.allclose(kl(p, q), scipy.rel_entr(p, q).sum(axis=1), atol=1e-14)


def test_gradient_of_entropy_by_differences():
    q, h = np.array([0.1, 0.2, 0.3, 0.4]), 1e-6
    phi = NegativeEntropy().value
    slopes = [(phi(q + h * e) - phi(q - h * e)) / (2 * h) for e in np.eye(4)]
    assert np.allclose(slopes, 1 + np.log(q), atol=1e-8)
    base10 = [s / np.log(10) for s in slopes]  # the same entropy with log₁₀
    assert np.abs(base10 - (1 + np.log10(q))).min() > 0.1


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_bregman_is_kl(seed):
    rng = np.random.default_rng(seed)
    p, q = distribution(rng, 6, sparse=True), distribution(rng, 6)
    q = (q + 1e-9) / (q + 1e-9).sum()
    phi = NegativeEntropy().value
    bregman = phi(p) - phi(q) - (1 + np.log(q)) @ (p - q)
    assert np.isclose(bregman, kl(p, q), atol=1e-12)
    a, b = 3 * p, 0.5 * q  # off the simplex the totals stay
    bregman = phi(a) - phi(b) - (1 + np.log(b)) @ (a - b)
    assert np.isclose(bregman, kl(a, b) - a.sum() + b.sum(), atol=1e-11)
    assert abs(kl(a, b) - bregman) > 1


@settings(max_examples=300, deadline=None)
@given(seeds, st.integers(2, 9))
def test_pinsker(seed, n):
    rng = np.random.default_rng(seed)
    p, q = distribution(rng, n, sparse=True), distribution(rng, n, sparse=True)
    assert kl(p, q) >= 0.5 * np.abs(p - q).sum() ** 2 - 1e-12


def test_pinsker_is_tight_and_no_larger_constant_holds():
    for n in (2, 6):  # half the coordinates up, half down, from uniform
        sign = np.where(np.arange(n) % 2, 1.0, -1.0)
        q, d = np.full(n, 1 / n), 1e-3 / n
        p = q + d * sign
        half = 0.5 * np.abs(p - q).sum() ** 2
        assert half <= kl(p, q) < 1.001 * half
    p, q = np.array([0.51, 0.49]), np.array([0.5, 0.5])
    assert kl(p, q) / np.log(10) < 0.5 * np.abs(p - q).sum() ** 2 < kl(p, q) / np.log(2)


@settings(max_examples=200, deadline=None)
@given(seeds, st.floats(0, 1))
def test_strong_convexity_on_the_boundary_too(seed, a):
    """The form without gradients: φ(ap + (1−a)q) ≤ aφ(p) + (1−a)φ(q) − a(1−a)‖p − q‖₁²/2."""
    rng = np.random.default_rng(seed)
    p, q = distribution(rng, 4, sparse=True), distribution(rng, 4, sparse=True)
    phi = NegativeEntropy().value
    mixed = a * phi(p) + (1 - a) * phi(q) - 0.5 * a * (1 - a) * np.abs(p - q).sum() ** 2
    assert phi(a * p + (1 - a) * q) <= mixed + 1e-12


def test_no_gradient_on_the_boundary():
    p, q = np.array([0.6, 0.4, 0.0]), np.array([0.3, 0.7, 0.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        product = (1 + np.log(q)) @ (p - q)
    assert np.isnan(product) and np.isclose(kl(p, q), 0.6 * np.log(2) + 0.4 * np.log(4 / 7))
    assert kl([0.5, 0.5], [1.0, 0.0]) == np.inf and kl([1.0, 0.0], [0.5, 0.5]) == np.log(2)


def test_max_norm_is_dual_to_l1():
    Z = np.random.default_rng(0).standard_normal((200, 6))
    gain = -(Z * L1Ball(6).minimize_linear(Z)).sum(axis=1)
    assert np.allclose(gain, NegativeEntropy().dual_norm(Z))
    w = L1Ball(6).project(np.random.default_rng(1).standard_normal((500, 6)))
    assert (Z[:, None] @ w.T <= NegativeEntropy().dual_norm(Z)[:, None, None] + 1e-12).all()
    assert np.allclose(SquaredNorm().dual_norm(Z), -(Z * Ball(6).minimize_linear(Z)).sum(axis=1))


# ---------------------------------------------------------------- Gibbs, softmax, multiplicative weights


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_gibbs_identity(seed):
    """E_ν f − KL(ν‖μ) = log E_μ e^f − KL(ν‖ν*) for every ν that μ can see."""
    rng = np.random.default_rng(seed)
    mu, f = distribution(rng, 5, sparse=True), 4 * rng.standard_normal(5)
    value, best = gibbs(mu, f)
    assert np.isclose(value, np.log(mu @ np.exp(f)))
    nu = np.where(mu > 0, distribution(rng, 5), 0.0)
    nu /= nu.sum()
    assert np.isclose(nu @ f - kl(nu, mu), value - kl(nu, best), atol=1e-11)
    assert np.isclose(best @ f - kl(best, mu), value)


def test_gibbs_without_absolute_continuity():
    value, best = gibbs([0.25, 0.75, 0.0], [1.0, 2.0, 1e9])
    assert best[2] == 0.0 and np.isclose(value, np.log(0.25 * np.e + 0.75 * np.e**2))
    assert kl([0.0, 0.0, 1.0], [0.25, 0.75, 0.0]) == np.inf


def test_gibbs_survives_large_numbers():
    value, best = gibbs(np.full(3, 1 / 3), [1e6, 1e6 + 1, -1e6])
    assert np.isclose(value, 1e6 + np.log((1 + np.e) / 3), rtol=1e-15)
    assert np.allclose(best, [1 / (1 + np.e), np.e / (1 + np.e), 0])


def test_gibbs_against_cvxpy():
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(2)
    mu, f = rng.dirichlet(np.ones(6)), rng.standard_normal(6)
    nu = cp.Variable(6)
    found = -oracle.solve(cp.sum(cp.rel_entr(nu, mu)) - f @ nu, [cp.sum(nu) == 1])
    value, best = gibbs(mu, f)
    assert np.isclose(found, value, atol=1e-8) and np.allclose(nu.value, best, atol=1e-5)


def test_the_sentence_after_lemma_17_2_read_literally():
    """Plus KL: larger, and at a vertex. The supremum over μ: E_ν f, at μ = ν."""
    rng = np.random.default_rng(8)
    mu, nu, f = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4)), rng.standard_normal(4)
    value, _ = gibbs(mu, f)
    many = rng.dirichlet(np.full(4, 0.3), 5000)
    plus = many @ f + kl(many, mu)
    at_vertices = f - np.log(mu)
    assert plus.max() <= at_vertices.max() + 1e-12 and at_vertices.max() > value
    assert (nu @ f - kl(nu, many)).max() <= nu @ f


@settings(max_examples=50, deadline=None)
@given(seeds, st.floats(0.01, 20))
def test_corollary_17_3(seed, eta):
    """Cost minus entropy: value −log Σ e^{−f}, KKT certificate, no other distribution is better."""
    rng = np.random.default_rng(seed)
    f = eta * rng.random(5)
    p = NegativeEntropy().minimize(f, 1.0, Simplex(5))
    assert np.isclose(p @ f + NegativeEntropy().value(p), -np.log(np.exp(-f).sum()))
    assert np.ptp(f + 1 + np.log(p)) < 1e-9  # one multiplier for all coordinates
    others = rng.dirichlet(np.ones(5), 200)
    assert (others @ f + NegativeEntropy().value(others) >= p @ f + NegativeEntropy().value(p) - 1e-12).all()
    uniform = np.full(5, 0.2)
    assert np.isclose(kl(p, uniform), np.log(5) + NegativeEntropy().value(p), atol=1e-14)


def test_scaling_does_not_move_the_minimiser():
    """(17.20), by the solver on both objectives."""
    c = np.array([0.3, 1.1, 0.2])
    cp = pytest.importorskip("cvxpy")
    for eta in (0.1, 4.0):
        p = [cp.Variable(3) for _ in range(2)]
        oracle.solve(c @ p[0] - cp.sum(cp.entr(p[0])) / eta, [cp.sum(p[0]) == 1])
        oracle.solve(eta * c @ p[1] - cp.sum(cp.entr(p[1])), [cp.sum(p[1]) == 1])
        assert np.allclose(p[0].value, p[1].value, atol=1e-5)
        assert np.allclose(p[1].value, NegativeEntropy().minimize(c, eta, Simplex(3)), atol=1e-5)


def multiplicative(losses, eta, start=None):
    """p̃ multiplied by exp(−eta·ℓ), normalised only when asked: the paragraph before (17.22)."""
    weights = np.ones(losses.shape[1]) if start is None else np.array(start)
    plays = [weights / weights.sum()]
    for loss in losses:
        weights = weights * np.exp(-eta * loss)
        plays.append(weights / weights.sum())
    return np.array(plays)


def test_softmax_is_the_multiplicative_update():
    losses = np.random.default_rng(4).random((60, 7))
    trace = play(Hedge(7, 0.3), losses)
    assert np.allclose(trace.plays, multiplicative(losses, 0.3), atol=1e-14)
    assert np.allclose(play(Hedge(7, 0.3), losses + 5.0).points, trace.points)  # shifts do not matter


def test_the_product_underflows_and_the_softmax_does_not():
    """A factor below ½ ends in 0/0; one above ½ sticks at the smallest float and forgets who leads."""
    losses = np.column_stack([np.ones(2000), np.full(2000, 0.999)])
    with np.errstate(invalid="ignore"):
        assert np.isnan(multiplicative(losses, 0.8)[-1]).all()
    assert (multiplicative(losses, 0.5)[-1] == 0.5).all()
    assert np.allclose(play(Hedge(2, 0.5), losses).last, [1 / (1 + np.e), np.e / (1 + np.e)])


def test_hedge_is_causal_and_17_14_as_printed_is_not():
    rng = np.random.default_rng(6)
    losses = rng.integers(0, 2, (300, 3)).astype(float)
    changed = losses.copy()
    changed[100:] = 1 - changed[100:]
    a, b = play(Hedge(3, 0.2), losses).points, play(Hedge(3, 0.2), changed).points
    assert (a[:101] == b[:101]).all() and (a[101:] != b[101:]).any()
    t = np.arange(1, 301)[:, None]
    printed = NegativeEntropy().minimize((t + 1) * losses, 0.2, Simplex(3))  # (t + 1) f_t: sees round t
    assert (printed * losses).sum() - losses.sum(axis=0).min() < 0  # better than any causal rule may hope
    assert (a * losses).sum() - losses.sum(axis=0).min() > 0


def test_softmax_of_the_losses_trusts_the_worst():
    L = np.array([4.0, 1.0, 2.5])
    assert gibbs(np.full(3, 1 / 3), L)[1].argmax() == L.argmax()
    assert gibbs(np.full(3, 1 / 3), -L)[1].argmax() == L.argmin()


def test_the_literal_rule_ignores_fractions():
    """Multiply by e^{−eta} where the loss is 1, else nothing: no move on losses (0.3, 0)."""
    T, eta = 500, 0.2
    losses = np.tile([0.3, 0.0], (T, 1))
    literal = multiplicative((losses == 1).astype(float), eta)[:-1]
    assert (literal == 0.5).all() and np.isclose((literal * losses).sum(), 75.0)
    assert play(Hedge(2, eta), losses).regret(Simplex(2)) <= np.log(2) / eta + eta * T / 8
    whole = np.round(np.random.default_rng(0).random((T, 2)))
    assert np.allclose(
        multiplicative((whole == 1).astype(float), eta)[:-1], play(Hedge(2, eta), whole).points
    )


def test_unequal_starting_weights_are_another_algorithm():
    losses = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    last = play(Hedge(3, 0.5), losses).last
    assert np.allclose(multiplicative(losses, 0.5)[-1], last)
    assert np.abs(multiplicative(losses, 0.5, start=[0.8, 0.1, 0.1])[-1] - last).max() > 0.3


def test_linear_and_exponential_factors_agree_on_0_1_only():
    eta = 0.4
    eps = 1 - np.exp(-eta)
    for loss, same in ((0.0, True), (1.0, True), (0.5, False), (0.1, False)):
        linear = np.array([1 - eps * loss, 1.0])
        hedge = play(Hedge(2, eta), np.array([[loss, 0.0]])).last
        assert np.allclose(linear / linear.sum(), hedge, rtol=0, atol=1e-12) == same


# ---------------------------------------------------------------- Hedge: bounds


def worst_hedge_of_two(T, eta):
    """max over all sequences of losses (0,1), (1,0), (0,0), by dynamic programming on L_1 − L_2."""
    d = np.arange(-T, T + 1)
    p1 = 1 / (1 + np.exp(eta * d))
    value = np.maximum(d, 0).astype(float)  # L_1 − min(L_1, L_2)
    for _ in range(T):
        up, down = np.append(value[1:], -np.inf), np.append(-np.inf, value[:-1])
        value = np.maximum.reduce([p1 - 1 + up, 1 - p1 + down, value])
    return value[T]


def test_worst_case_by_dynamic_programming_is_right():
    for T, eta in ((6, 0.5), (8, 1.0)):
        games = np.array(list(itertools.product([0.0, 1.0], repeat=T)))
        losses = np.stack([games, 1 - games], axis=-1)
        assert np.isclose(play(Hedge(2, eta), losses).regret(Simplex(2)).max(), worst_hedge_of_two(T, eta))


@pytest.mark.parametrize("T", [3, 14, 200])
def test_hedge_bound_and_its_tightness(T):
    eta = theorems.Hedge(2, T).step
    worst = worst_hedge_of_two(T, eta)
    assert worst <= theorems.Hedge(2, T).bound
    assert worst > 0.75 * theorems.Hedge(2, T).bound  # three quarters of the bound would be broken
    lecture = theorems.FTRLTuned(np.log(2), 1.0, T).step
    assert worst_hedge_of_two(T, lecture) <= theorems.FTRLTuned(np.log(2), 1.0, T).bound
    assert np.isclose(theorems.FTRLTuned(np.log(2), 1.0, T).bound / theorems.Hedge(2, T).bound, np.sqrt(8))


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 8), st.integers(1, 60))
def test_hedge_never_breaks_its_bounds(seed, n, T):
    rng = np.random.default_rng(seed)
    for losses in (rng.random((T, n)), np.round(rng.random((T, n))), rng.beta(0.2, 0.2, (T, n))):
        tuned = play(Hedge(n, theorems.Hedge(n, T).step), losses)
        assert tuned.regret(Simplex(n)) <= theorems.Hedge(n, T).bound + 1e-9
        curve = play(Hedge(n, theorems.HedgeAnytime(n, T).step), losses).regret_curve(Simplex(n))
        assert (curve <= [theorems.HedgeAnytime(n, t).bound + 1e-9 for t in range(1, T + 1)]).all()
        chain = theorems.Hedge.of(tuned).proof(tuned)
        assert chain.holds() and np.isclose(chain.values[0], tuned.regret(Simplex(n)))
        assert np.isclose(chain.values[-1], theorems.Hedge(n, T).bound) and abs(chain.slacks[0]) < 1e-9


def test_hedge_against_an_adversary_that_hits_the_leader():
    n, T = 6, 400

    def hit(t, w, past):
        return np.eye(n)[w.argmax()]

    tuned = play(Hedge(n, theorems.Hedge(n, T).step), hit, rounds=T)
    assert 0 < tuned.regret(Simplex(n)) <= theorems.Hedge(n, T).bound
    anytime = play(Hedge(n, theorems.HedgeAnytime(n, T).step), hit, rounds=T)
    assert (anytime.regret_curve(Simplex(n)) <= np.sqrt(np.arange(1, T + 1) * np.log(n))).all()
    assert play(FTL(Simplex(n)), hit, rounds=T).regret(Simplex(n)) > 2 * theorems.Hedge(n, T).bound


def test_anytime_bound_is_not_vacuous():
    """Two thirds of it are broken: two experts in turn, then one of them alone."""
    T = 2000
    losses = np.tile(np.eye(2), (T // 2, 1))
    losses[-150:] = [1.0, 0.0]
    regret = play(Hedge(2, theorems.HedgeAnytime(2, T).step), losses).regret(Simplex(2))
    assert 2 / 3 * theorems.HedgeAnytime(2, T).bound < regret <= theorems.HedgeAnytime(2, T).bound


def test_the_constants_need_losses_between_0_and_1():
    losses = np.zeros((1, 500))
    losses[0, 1:] = 20.0
    regret = play(Hedge(500, theorems.Hedge(500, 1).step), losses).regret(Simplex(500))
    assert regret > theorems.FTRLTuned(np.log(500), 1.0, 1).bound > theorems.Hedge(500, 1).bound
    assert regret <= 20 * theorems.Hedge(500, 1).bound
    trace = play(Hedge(500, 1.0), losses)
    assert not theorems.Hedge.of(trace).chain(trace).holds()


def test_sunspots_are_the_published_series():
    years, numbers = data.sunspots()
    assert len(years) == len(numbers) == 309 and (years[0], years[-1]) == (1700, 2008)
    assert years[numbers.argmax()] == 1957 and numbers.max() == 190.2 and numbers.min() == 0.0
    assert np.isclose(numbers.sum(), 15373.4)
    assert numbers[years == 1816][0] == 45.8 and numbers[-1] == 2.9


# ---------------------------------------------------------------- 17.3: convex to linear


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_regret_is_at_most_that_of_the_surrogates(projection):
    disk, rng = Ball(2), np.random.default_rng(7)
    X, y = rng.standard_normal((40, 2)), rng.choice([-1.0, 1.0], 40)
    bowls = [Quadratic(c) for c in disk.project(rng.standard_normal((40, 2)))]
    for losses in (hinge(X, y), bowls):
        trace = play(OGD(disk, 0.2, projection), losses)
        for u in disk.project(2 * rng.standard_normal((20, 2))):
            left = trace.paid - (
                losses.values(u) if hasattr(losses, "values") else [f.value(u) for f in losses]
            )
            right = (trace.subgradients * (trace.points - u)).sum(axis=1)
            assert (left <= right + 1e-12).all()  # round by round


def test_linearized_sees_one_subgradient_a_round():
    """A loss that counts: no value, one subgradient, at the play."""
    asked = []

    class Spy:
        dim = 1

        def subgradient(self, w):
            asked.append(w.copy())
            return np.array([1.0])

        def value(self, w):
            raise AssertionError("the learner asked for a value")

    player = Linearized(FTRL(INTERVAL, SquaredNorm(), 0.1)).player()
    for _ in range(5):
        player.update(Spy())
    assert np.allclose(np.ravel(asked), [0, -0.1, -0.2, -0.3, -0.4])


def test_a_non_convex_loss_breaks_the_reduction():
    class Dent:
        """f(w) = −w²: concave, gradient −2w."""

        dim = 1

        def subgradient(self, w):
            return -2 * w

        def value(self, w):
            return -float(w @ w)

    trace = play(OGD(INTERVAL, 0.1), [Dent()] * 10)
    surrogate = (trace.subgradients * (trace.points - 1.0)).sum()
    assert trace.paid.sum() - (-10.0) > surrogate  # w stays at 0; the surrogates see nothing


def test_what_linearising_throws_away():
    T = 2000
    bowls = [Quadratic([(-1.0) ** t]) for t in range(T)]
    curved = play(FTL(INTERVAL), bowls).regret(INTERVAL)
    flat = play(Linearized(FTL(INTERVAL)), bowls).regret(INTERVAL)
    descent = play(OGD(INTERVAL, 1 / (2 * np.sqrt(T))), bowls).regret(INTERVAL)
    assert curved < 2 + np.log(T) < descent < 2 * np.sqrt(T) < T < flat


def test_the_guarantee_must_cover_the_gradients():
    T = 64
    learner = OGD(INTERVAL, 1 / np.sqrt(T))
    assert play(learner, adversaries.alternating(T)).regret(INTERVAL) <= np.sqrt(T)
    assert play(learner, 50 * adversaries.alternating(T)).regret(INTERVAL) > 10 * 50 * np.sqrt(T) / 2


def test_a_linear_approximation_has_a_constant():
    """f(w) = w² at w_t = 3: 9 + 6(w − 3), not 6(w − 3); the regret does not see it."""
    f, w_t, w = Quadratic([0.0], curvature=2.0), np.array([3.0]), np.linspace(2.999, 3.001, 5)[:, None]
    line = (w - w_t) @ f.subgradient(w_t)
    assert np.allclose(f.value(w), f.value(w_t) + line, rtol=0, atol=2e-6)
    assert np.abs(f.value(w) - line).min() > 8
    trace = play(OGD(Space(1), 0.1, start=w_t), [f])
    surrogate = play(OGD(Space(1), 0.1, start=w_t), trace.subgradients)
    assert np.array_equal(trace.last, surrogate.last)  # the learner needs the slope alone
    assert surrogate.regret(against=w[0]) == pytest.approx(-line[0])


# ---------------------------------------------------------------- 17.3.1: descent, lazy and eager


@pytest.mark.parametrize("over", [Space(2), Ball(2, 0.7), Box([-0.5, 0.1], [0.5, 2.0]), Simplex(2)])
def test_completing_the_square(over):
    """(17.30) with ½: argmin = Π(−eta·a), by a solver; as printed it is Π(−eta·a/2)."""
    cp = pytest.importorskip("cvxpy")
    a, eta = np.array([0.9, -0.4]), 0.6
    for factor, share in ((0.5, 1.0), (1.0, 0.5)):
        w = cp.Variable(2)
        oracle.solve(a @ w + factor * cp.sum_squares(w) / eta, oracle.constraints(over, w))
        assert np.allclose(w.value, over.project(-share * eta * a), atol=1e-6)
    w = np.random.default_rng(0).standard_normal((50, 2))
    square = np.square(w + eta * a).sum(axis=1) / (2 * eta)
    left = w @ a + np.square(w).sum(axis=1) / (2 * eta)
    assert np.allclose(left, square - eta / 2 * a @ a)
    assert not np.allclose(left, square - eta * a @ a)


def test_as_printed_17_27_halves_the_step():
    trace = play(FTRL(Ball(2), SquaredNorm(), 0.8), np.array([[1.0, 0.2], [0.3, -0.1]]))
    halved = play(FTRL(Ball(2), SquaredNorm(), 0.4), np.array([[1.0, 0.2], [0.3, -0.1]]))
    cp = pytest.importorskip("cvxpy")
    w = cp.Variable(2)
    oracle.solve(np.array([1.3, 0.1]) @ w + cp.sum_squares(w) / 0.8, [cp.norm(w) <= 1])
    assert np.allclose(w.value, halved.last, atol=1e-7) and np.abs(w.value - trace.last).max() > 0.1


def lazy_by_hand(over, Z, eta, u):
    plays = []
    for z in Z:
        plays.append(over.project(u))
        u = u - eta * z
    return np.array(plays)


def test_lazy_recursion_and_its_start():
    Z, disk = adversaries.random_directions(50, 3, seed=2), Ball(3, 0.5)
    assert np.allclose(play(OGD(disk, 0.3), Z).points, lazy_by_hand(disk, Z, 0.3, np.zeros(3)))
    assert np.abs(play(OGD(disk, 0.3), Z).points - lazy_by_hand(disk, Z, 0.3, np.ones(3))).max() > 0.1


def test_lazy_and_eager_agree_until_a_projection_acts():
    Z = adversaries.random_directions(50, 2, seed=9)
    free = [play(OGD(Space(2), 0.3, p), Z).points for p in ("lazy", "eager")]
    assert np.allclose(*free)
    lazy, eager = (play(OGD(Ball(2), 0.3, p), Z).points for p in ("lazy", "eager"))
    outside = np.flatnonzero(np.linalg.norm(free[0], axis=1) > 1)
    assert len(outside) and np.allclose(lazy[: outside[0] + 1], eager[: outside[0] + 1])
    assert np.abs(lazy - eager).max() > 0.1


@pytest.mark.parametrize("over", [Ball(2), Box([3.0, 0.0], [4.0, 2.0]), Simplex(2)])
def test_eager_bound_from_its_own_start(over):
    for seed in range(10):
        Z, eta = adversaries.random_directions(40, 2, seed=seed), 0.3
        first = over.project(np.array([5.0, -1.0]))
        trace = play(OGD(over, eta, "eager", start=first), Z)
        for u in over.minimize_linear(adversaries.random_directions(12, 2, seed=99)):
            bound = np.square(u - first).sum() / (2 * eta) + eta / 2 * 40
            assert trace.regret(against=u) <= bound + 1e-9


def test_far_from_0_lazy_pays_for_the_distance():
    T, S = 3000, Box([20], [21])
    eta, Z = 1 / np.sqrt(T), -np.ones((T, 1))
    lazy, eager = (play(OGD(S, eta, p), Z).regret(S) for p in ("lazy", "eager"))
    centred = play(OGD(S, eta, "lazy", start=[20.0]), Z).regret(S)
    assert lazy > 20 * eager and np.isclose(centred, eager)
    assert np.isclose(SquaredNorm().range(S), 20.5) and np.isclose(SquaredNorm([20.0]).range(S), 0.5)
    assert SquaredNorm().range(Simplex(9)) < Simplex(9).diameter ** 2 / 2  # it can, it need not, exceed


# ---------------------------------------------------------------- across the lectures


@pytest.mark.parametrize("B, G, T", [(3.0, 2.0, 50), (0.4, 11.0, 7)])
def test_theorem_2_and_17_3_are_one_bound(B, G, T):
    """With the radius B for the diameter of Lecture 13, bound and step coincide."""
    D = SquaredNorm().range(Ball(2, B))
    assert np.isclose(D, B**2 / 2) and Ball(2, B).diameter == 2 * B
    assert np.isclose(theorems.Descent(B, G, T).bound, theorems.FTRLTuned(D, G, T).bound)
    assert np.isclose(theorems.Descent(B, G, T).step, theorems.FTRLTuned(D, G, T).step)
    assert np.isclose(theorems.DescentSharp(B, G, T).bound, theorems.FTRLTunedSharp(D, G, T).bound)
    assert np.isclose(theorems.DescentSharp(B, G, T).step, theorems.FTRLTunedSharp(D, G, T).step)
    assert np.isclose(
        theorems.Descent(Ball(2, B).diameter, G, T).bound, 2 * theorems.FTRLTuned(D, G, T).bound
    )
