"""Lecture 9: the claims of the pages on margins, the mistake bound, ties and kernels, with other numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocolib import adversaries, oracle, theorems
from ocolib.game import play
from ocolib.kernels import KernelPerceptron
from ocolib.learners import OGD, Perceptron
from ocolib.losses import Quadratic, hinge, least_squares, logistic, perceptron_loss
from ocolib.phi import HingeLoss, PerceptronLoss
from ocolib.sets import Space
from ocolib.sets import unit as direction


def linear(A, B):
    return A @ B.T


def quadratic(A, B):
    return (1 + A @ B.T) ** 2


def gaussian(A, B, width=0.5):
    distances = np.square(A).sum(1)[:, None] + np.square(B).sum(1) - 2 * A @ B.T
    return np.exp(-np.maximum(distances, 0) / (2 * width**2))


def explicit(X):
    """φ with ⟨φ(x), φ(x′)⟩ = (1 + ⟨x, x′⟩)² in the plane."""
    a, b = X.T
    r = np.sqrt(2)
    return np.column_stack([np.ones(len(X)), r * a, r * b, a * a, r * a * b, b * b])


XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 1.0, -1.0, -1.0])


def perceptron_from(start, X, y):
    return play(OGD(Space(X.shape[1]), 1.0, start=start), perceptron_loss(X, y))


# ---------------------------------------------------------------- batch and online


def gradient(data, w):
    """Of the average loss."""
    return data.subgradients(w).mean(axis=0)


def test_descent_on_the_average_loss_finds_the_batch_minimum():
    rng = np.random.default_rng(2)
    data = logistic(rng.standard_normal((40, 3)), rng.choice([-1.0, 1.0], 40))  # random labels: not separable
    w = np.zeros(3)
    for _ in range(3000):
        w = w - gradient(data, w)
    assert np.linalg.norm(gradient(data, w)) < 1e-8
    assert np.abs(w - oracle.best_point(data, Space(3))).max() < 1e-4
    nearby = w + 0.1 * rng.standard_normal((200, 3))
    assert all(data.values(v).sum() > data.values(w).sum() for v in nearby)


def test_descent_on_separable_logistic_loss_turns_to_the_widest_margin_the_perceptron_does_not():
    Z = np.array([[2.0, 0.2], [0.3, 1.0], [3.0, 2.0]])
    u, _ = oracle.max_margin(Z, np.ones(3))
    data, w, angles = logistic(Z, np.ones(3)), np.zeros(2), []
    for t in range(1, 30_001):
        w = w - 0.5 * gradient(data, w)
        if t in (30, 1000, 30_000):
            angles.append(np.arccos(w @ u / np.linalg.norm(w)))
    assert angles[0] > 1.5 * angles[1] > 2 * angles[2] > 0
    stopped = play(Perceptron(2), perceptron_loss(np.tile(Z, (50, 1)), np.ones(150))).last
    assert (Z @ stopped > 0).all() and np.arccos(stopped @ u / np.linalg.norm(stopped)) > angles[2]


def test_nature_beats_a_predictor_that_is_no_vector():
    """Any deterministic rule, here a majority vote over all past labels and one that counts the rounds."""
    for rule in (lambda x, past: 1 if sum(past) >= 0 else -1, lambda x, past: 1 if len(past) % 3 else -1):
        past = []
        for e in np.eye(25):
            past.append(-rule(e, past))
        u = np.array(past) / 5
        assert (np.array(past) * u).min() == pytest.approx(0.2)  # margin 1/√25, and 25 mistakes were made
    assert theorems.MistakesFloor(1.0, 0.2).bound == 25


def test_if_nature_wrote_the_predictions_the_theorem_would_fail():
    """One example of margin 1, shown 60 times: the Perceptron may err once, nature's ŷ = −y errs always."""
    stream = perceptron_loss(np.ones((60, 1)), -np.ones(60))
    printed = (-stream.y != stream.y).sum()
    corrected = play(Perceptron(1), stream).mistakes.sum()
    assert corrected == 1 <= theorems.Perceptron(1.0, 1.0).bound < printed == 60


def test_nature_needs_room():
    with pytest.raises(ValueError, match="dim ≥ rounds"):
        play(Perceptron(3), adversaries.nature(), rounds=4)
    with pytest.raises(ValueError, match="margin must be ≤ radius"):
        theorems.MistakesFloor(1.0, 1.5)


def test_a_random_learner_still_errs_half_the_time_on_random_labels():
    """All 2^n label sequences: whatever is predicted, the average number of mistakes is n/2."""
    n = 8
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 2))
    labels = 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) - 1
    for start in rng.standard_normal((3, 2)):  # each is a deterministic learner; a random one is a mixture
        mistakes = [perceptron_from(start, X, y).mistakes.sum() for y in labels]
        assert np.mean(mistakes) == n / 2 and np.ptp(mistakes) > 2


# ---------------------------------------------------------------- separability and the SVM


def test_a_convex_loss_of_a_linear_score_is_convex_in_the_weights():
    rng = np.random.default_rng(5)
    x, v, w = rng.standard_normal((3, 500, 4))
    y, s = rng.choice([-1.0, 1.0], 500), rng.random(500)
    between = s[:, None] * v + (1 - s[:, None]) * w
    for kind in (hinge, perceptron_loss, logistic, least_squares):
        f = kind(x, y).values
        assert (f(between) <= s * f(v) + (1 - s) * f(w) + 1e-12).all()
    errs = [hinge(x, y).margins(p) <= 0 for p in (v, w, (v + w) / 2)]
    assert (errs[2] > 0.5 * errs[0] + 0.5 * errs[1]).any()  # the loss one cares about is not


def test_the_generated_streams_have_their_margin():
    X, y, u = adversaries.separable(300, 4, 0.07, seed=9)
    assert np.linalg.norm(u) == pytest.approx(1) and (y * (X @ u)).min() >= 0.07
    assert oracle.max_margin(X, y)[1] >= 0.07


@pytest.mark.parametrize("seed", range(4))
def test_the_three_forms_have_one_solution(seed):
    X, y, _ = adversaries.separable(25, 3, 0.1, seed)
    Z = y[:, None] * X
    w, alpha = oracle.hard_margin(X, y)
    u, margin = oracle.ball_margin(X, y)
    assert np.abs(u - w * margin).max() < 1e-5 and np.linalg.norm(u) == pytest.approx(1)  # (1) and (2)
    assert (Z @ u).min() == pytest.approx(margin, abs=1e-7)
    assert (Z @ u / margin).min() == pytest.approx(1, abs=1e-6)  # (1) rescaled
    assert w @ w / 2 == pytest.approx(1 / (2 * margin**2), rel=1e-7)
    # KKT by hand: stationarity, signs, complementarity, equal dual value
    assert alpha.min() > -1e-6 and np.abs(Z.T @ alpha - w).max() < 1e-5 * np.abs(w).max()
    assert np.abs(alpha * (Z @ w - 1)).max() < 1e-4
    assert alpha.sum() - np.square(Z.T @ alpha).sum() / 2 == pytest.approx(w @ w / 2, rel=1e-6)
    # (3): the penalty is exact from the threshold on, and not before
    C = oracle.penalty_threshold(X, y)
    above, value = oracle.soft_margin(X, y, 1.01 * C)
    assert np.abs(above - w).max() < 1e-5 * np.abs(w).max() and value == pytest.approx(w @ w / 2, rel=1e-7)
    below, value = oracle.soft_margin(X, y, 0.9 * C)
    assert value < w @ w / 2 * (1 - 1e-5) and np.abs(below - w).max() > 1e-3


def test_no_direction_has_a_wider_margin_in_the_plane():
    X, y, _ = adversaries.separable(12, 2, 0.05, seed=3)
    angle = np.linspace(0, 2 * np.pi, 200_001)
    scanned = (y[:, None] * (X @ np.stack([np.cos(angle), np.sin(angle)]))).min(axis=0).max()
    margin = oracle.max_margin(X, y)[1]
    assert scanned <= margin + 1e-9 and scanned == pytest.approx(margin, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_margin_is_the_distance_of_the_hull(seed):
    """Each point of the hull is an upper bound on each margin; the multipliers of (2) give the nearest."""
    X, y, _ = adversaries.separable(20, 4, 0.1, seed)
    Z = y[:, None] * X
    margin, (_, alpha) = oracle.max_margin(X, y)[1], oracle.hard_margin(X, y)
    mixtures = np.random.default_rng(seed).dirichlet(np.full(20, 0.3), 2000) @ Z
    assert np.linalg.norm(mixtures, axis=1).min() >= margin - 1e-9
    assert np.linalg.norm(Z.T @ (alpha / alpha.sum())) == pytest.approx(margin, abs=1e-6)


def test_by_hand_two_examples():
    """z = (2, 0), (0, 1): w = (½, 1), α = (¼, 1), γ = 2/√5, and soft(C) = (min(2C, ½), min(C, 1))."""
    Z, y = np.array([[2.0, 0.0], [0.0, 1.0]]), np.ones(2)
    w, alpha = oracle.hard_margin(Z, y)
    assert np.allclose(w, [0.5, 1], atol=1e-7) and np.allclose(alpha, [0.25, 1], atol=1e-6)
    assert oracle.penalty_threshold(Z, y) == pytest.approx(1, abs=1e-6)
    for C in (0.05, 0.3, 0.8, 1.5):
        assert np.allclose(oracle.soft_margin(Z, y, C)[0], [min(2 * C, 0.5), min(C, 1)], atol=1e-6)


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_the_threshold_takes_the_best_of_many_multipliers(copies):
    """One example m times over: α_1 + … + α_m = 1, so the least largest one is 1/m."""
    X, y = np.ones((copies, 1)), np.ones(copies)
    assert oracle.penalty_threshold(X, y) == pytest.approx(1 / copies, abs=1e-7)
    assert oracle.soft_margin(X, y, 1.02 / copies)[0] == pytest.approx(1, abs=1e-6)
    assert oracle.soft_margin(X, y, 0.9 / copies)[0] == pytest.approx(0.9, abs=1e-6)


def test_the_threshold_is_less_than_the_multipliers_a_solver_happens_to_return():
    """w = (1, 0) and α = ((1 − 1.5t)/2, (1 − 0.5t)/2, t): the largest is least, 0.4, at t = 0.4."""
    Z, y = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.5]]), np.ones(3)
    w, alpha = oracle.hard_margin(Z, y)
    assert np.allclose(w, [1, 0], atol=1e-6) and alpha.max() > 0.41
    assert oracle.penalty_threshold(Z, y) == pytest.approx(0.4, abs=1e-6)
    assert np.allclose(oracle.soft_margin(Z, y, 0.405)[0], [1, 0], atol=1e-5)
    assert np.abs(oracle.soft_margin(Z, y, 0.39)[0] - [1, 0]).max() > 1e-3


@pytest.mark.parametrize("C", [0.5, 30.0, 1e4])
def test_svc_on_mirrored_data_has_no_intercept_and_the_same_weights(C):
    X, y, _ = adversaries.separable(40, 3, 0.1, seed=8)
    from sklearn.svm import SVC  # takes two seconds, which other tests need not wait for

    svc = SVC(kernel="linear", C=C / 2, tol=1e-9).fit(np.vstack([X, -X]), np.concatenate([y, -y]))
    ours = oracle.soft_margin(X, y, C)[0]
    assert np.abs(svc.coef_[0] - ours).max() < 1e-4 * np.abs(ours).max() and abs(svc.intercept_[0]) < 1e-4


def test_without_separation_two_is_infeasible_and_ball_and_sphere_differ():
    Z = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    with pytest.raises(ValueError, match="no solution"):
        oracle.hard_margin(Z, np.ones(4))
    with pytest.raises(ValueError, match="separable"):
        oracle.max_margin(Z, np.ones(4))
    assert abs(oracle.ball_margin(Z, np.ones(4))[1]) < 1e-7
    angle = np.linspace(0, 2 * np.pi, 40_001)
    sphere = (Z @ np.stack([np.cos(angle), np.sin(angle)])).min(axis=0).max()
    assert sphere == pytest.approx(-1 / np.sqrt(2), abs=1e-6)  # while u = 0 of the ball has 0
    assert (Z @ np.zeros(2)).min() == 0 > sphere


def test_three_is_a_penalty_and_not_the_lagrangian():
    """One example, z = 1: w = 2 is feasible and not optimal."""
    size, data, w = Quadratic([0.0]).value, hinge([[1.0]], [1.0]), np.array([2.0])
    (least,), (alpha,) = oracle.hard_margin(data.X, data.y)
    assert (least, alpha) == pytest.approx((1.0, 1.0))
    lagrangian, penalty = size(w) + alpha * (1 - data.margins(w)[0]), size(w) + data.values(w)[0]
    assert lagrangian == pytest.approx(1.0) and penalty == 2.0
    off = np.array([0.5])  # not feasible: the sup over C is infinite
    assert size(off) + 1e6 * data.values(off)[0] > 1e5


def test_the_hinge_of_the_lecture_is_a_function_of_minus_the_margin():
    m = np.linspace(-3, 3, 61)
    assert np.allclose(np.maximum(0, 1 + (-m)), HingeLoss().value(m, 1.0))
    assert np.allclose(np.maximum(0, 1 + (-m)), HingeLoss().value(-m, -1.0))


def test_the_soft_margin_is_the_scaled_objective_of_pegasos():
    X, y, _ = adversaries.separable(15, 2, 0.05, seed=4)
    C, n = 0.7, 15
    w, value = oracle.soft_margin(X, y, C)
    lam = 1 / (n * C)
    assert value / (n * C) == pytest.approx(lam / 2 * w @ w + hinge(X, y).values(w).mean(), abs=1e-7)


# ---------------------------------------------------------------- the Perceptron


def test_the_relu_has_all_slopes_between_0_and_1_at_its_kink():
    z = np.linspace(-2, 2, 41)
    for alpha in (0.0, 0.3, 1.0):
        assert (np.maximum(0, z) >= alpha * z - 1e-15).all()
        assert PerceptronLoss(kink=alpha).slope(0.0, -1.0) == alpha
    for alpha in (-0.1, 1.1):
        assert (np.maximum(0, z) < alpha * z).any()


def test_the_perceptron_is_descent_and_sklearn_agrees():
    X, y, _ = adversaries.separable(400, 7, 0.02, seed=6)
    ours = play(Perceptron(7), perceptron_loss(X, y))
    for eta in (0.01, 1.0, 50.0):
        run = play(OGD(Space(7), eta), perceptron_loss(X, y, kink=1.0))
        assert np.array_equal(run.updates, ours.updates)
    from sklearn.linear_model import Perceptron as ScikitPerceptron

    theirs = ScikitPerceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(X, y)
    assert np.allclose(ours.last, theirs.coef_[0], atol=1e-13)


def test_an_update_never_turns_away_from_its_example():
    X, y, u = adversaries.separable(500, 3, 0.03, seed=12)
    trace = play(Perceptron(3), perceptron_loss(X, y))
    w, moved = trace.plays, np.flatnonzero(trace.updates)

    def cos(a, b):
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    towards = [(cos(w[i], y[i] * X[i]), cos(w[i + 1], y[i] * X[i])) for i in moved if w[i].any()]
    assert len(towards) > 5 and all(after > before for before, after in towards)
    potential = [1 - cos(w[i + 1], u) for i in moved]
    assert max(np.diff(potential)) > 0  # but the angle to u may grow
    assert not np.diff(w, axis=0)[~trace.updates].any()


def test_an_update_may_turn_away_from_the_separator():
    u, first = np.array([1.0, 0, 0]), np.array([0.9, np.sqrt(0.19), 0])
    second = np.array([0.1, -0.09 / np.sqrt(0.19), 0])
    second[2] = np.sqrt(1 - second @ second)
    trace = play(Perceptron(3), perceptron_loss([first, second - 1e-12 * np.eye(3)[1]], [1.0, 1.0]))
    cosines = [w @ u / np.linalg.norm(w) for w in (trace.points[1], trace.last)]
    assert trace.updates.all() and cosines == pytest.approx([0.9, np.sqrt(0.5)], abs=1e-6)


def test_mistakes_are_updates_and_ties_are_the_difference():
    rng = np.random.default_rng(1)
    X = rng.integers(-1, 2, (2000, 3)).astype(float)
    y = np.where(X @ [2.0, 1.0, -3.0] >= 0, 1.0, -1.0)
    trace = play(Perceptron(3), perceptron_loss(X, y))
    assert (trace.updates | ~trace.mistakes).all()
    extra = trace.updates & ~trace.mistakes
    assert extra.any() and (trace.margins[extra] == 0).all() and (y[extra] == 1).all()
    assert trace.points[extra].any()  # away from w = 0 too


def test_a_tie_away_from_zero_updates_without_a_mistake():
    trace = perceptron_from([1.0, 0.0], np.array([[0.0, 1.0]]), np.ones(1))
    assert trace.updates.all() and not trace.mistakes.any()


@given(
    seed=st.integers(0, 10_000),
    dim=st.integers(2, 8),
    margin=st.sampled_from([0.01, 0.1, 0.4, 0.9]),
    scale=st.sampled_from([0.3, 1.0, 20.0]),
)
def test_the_mistake_bound_holds_line_by_line(seed, dim, margin, scale):
    X, y, u = adversaries.separable(120, dim, margin, seed)
    X = scale * X
    trace = play(Perceptron(dim), perceptron_loss(X, y))
    R, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    M = trace.updates.sum()
    assert trace.mistakes.sum() <= M <= theorems.Perceptron(R, gamma).bound * (1 + 1e-12)
    chains = (
        theorems.Perceptron(R, gamma).proof(trace, u),
        theorems.Perceptron.growth(trace, u, gamma),
        theorems.Perceptron.length(trace, R),
    )
    assert all(chain.holds() for chain in chains)
    whole, growth, length = chains
    assert whole.values[[0, -1]] == pytest.approx([M, theorems.Perceptron(R, gamma).bound])
    assert growth.values[[0, -1]] == pytest.approx([gamma * M, trace.last @ u])
    assert length.values[[0, -1]] == pytest.approx([trace.last @ trace.last, R**2 * M])


@pytest.mark.parametrize("n", [1, 2, 9, 64])
def test_orthonormal_examples_meet_the_bound(n):
    for label in (-1.0, 1.0):
        trace = play(Perceptron(n), perceptron_loss(np.eye(n), np.full(n, label)))
        assert trace.updates.sum() == n and trace.mistakes.sum() == (n if label < 0 else 0)
        u = np.full(n, label / np.sqrt(n))
        assert theorems.Perceptron(1.0, 1 / np.sqrt(n)).bound == pytest.approx(n)
        assert np.abs(theorems.Perceptron(1.0, 1 / np.sqrt(n)).proof(trace, u).slacks).max() < 1e-9 * n


def test_the_chains_fail_when_the_margin_is_overstated():
    X, y, u = adversaries.separable(200, 4, 0.1, seed=2)
    trace = play(Perceptron(4), perceptron_loss(X, y))
    most = (y * (X @ u))[trace.updates].max()
    assert not theorems.Perceptron.growth(trace, u, 1.01 * most).holds()
    assert not theorems.Perceptron(1.0, 1.01 * most).chain(trace, u).holds()
    assert not theorems.Perceptron(1.0, 0.1).chain(trace, -u).holds()
    least = np.linalg.norm(X[trace.updates][0])  # the first update starts from 0: it adds its whole length
    assert not theorems.Perceptron.length(trace, 0.9 * least).holds()


def test_without_an_update_there_is_nothing_to_grow():
    still = play(Perceptron(1, kink=0.0), perceptron_loss(np.ones((3, 1)), np.ones(3)))
    chain = theorems.Perceptron(1.0, 1.0).proof(still, [1.0])
    assert chain.values[0] == 0 and chain.values[-1] == 1
    with pytest.raises(ValueError, match="at least one update"):
        theorems.Perceptron.growth(still, [1.0], 1.0)


def test_without_coherence_the_mistakes_never_end():
    trace = play(Perceptron(2), perceptron_loss(np.tile([[0.6, 0.8]], (400, 1)), np.tile([-1.0, 1.0], 200)))
    assert trace.updates.all()
    assert trace.mistakes.sum() >= 200


def test_half_the_squared_distance_of_directions_is_one_minus_their_cosine():
    X, y, u = adversaries.separable(100, 4, 0.05, seed=0)
    w = direction(play(Perceptron(4), perceptron_loss(X, y)).points[1:])
    gap, cosine = np.linalg.norm(w - u, axis=1), w @ u
    assert np.allclose(gap**2 / 2, 1 - cosine)
    assert (np.abs(gap / 2 - (1 - cosine)) > 1e-3).mean() > 0.9  # the unsquared form


@given(seed=st.integers(0, 10_000), noise=st.sampled_from([0.0, 0.05, 0.5]), length=st.floats(0, 20))
def test_the_mistake_bound_survives_without_a_margin(seed, noise, length):
    """For any vector v: M ≤ L + R‖v‖√M, with L the hinge loss of v on the updates."""
    rng = np.random.default_rng(seed)
    X, y, u = adversaries.separable(150, 4, 0.1, seed)
    y = np.where(rng.random(150) < noise, -y, y)
    v = length * (u + rng.choice([0.0, 0.3]) * rng.standard_normal(4))
    run = play(Perceptron(4), perceptron_loss(X, y))
    count, b = run.updates.sum(), np.linalg.norm(X, axis=1).max() * np.linalg.norm(v)
    cost = hinge(X, y).values(v)
    for L in (cost[run.updates].sum(), cost.sum()):
        assert count <= L + b * np.sqrt(count) + 1e-9
        assert count <= L + b * np.sqrt(L) + b**2 + 1e-9


@pytest.mark.parametrize("c", [0.0, 0.25, 0.5, 1.0])
def test_orthonormal_examples_meet_the_bound_without_a_margin(c, n=49):
    run = play(Perceptron(n), perceptron_loss(np.eye(n), -np.ones(n)))
    v = np.full(n, -c)
    count, L, b = run.updates.sum(), hinge(np.eye(n), -np.ones(n)).values(v).sum(), np.linalg.norm(v)
    assert count == n == pytest.approx(L + b * np.sqrt(n))
    assert (count > 1.01 * (L + b**2)) == (c in (0.25, 0.5))  # the middle term is needed


def test_the_potential_has_no_value_at_zero_and_one_ever_after():
    X, y, u = adversaries.separable(50, 3, 0.1, seed=7)
    w = play(Perceptron(3), perceptron_loss(X, y)).plays
    assert not w[0].any() and np.linalg.norm(w[1:], axis=1).min() > 0 and (w[1:] @ u).min() >= 0.1


@pytest.mark.parametrize("u", [[0.6, 0.8], [0.6, -0.8], [0.01, np.sqrt(1 - 1e-4)], [1.0, 0.0]])
def test_the_weights_need_not_turn_to_the_separator(u):
    X, y = np.tile([[1.0, 0.0]], (100, 1)), np.ones(100)
    trace = play(Perceptron(2), perceptron_loss(X, y))
    assert (trace.points[1:] == [1.0, 0.0]).all() and trace.updates.sum() == 1
    assert (y * (X @ u)).min() == u[0] > 0 and theorems.Perceptron(1.0, u[0]).bound >= 1


@pytest.mark.parametrize("depth", [3, 10, 50])
def test_the_bound_needs_a_start_at_zero(depth):
    """x = y = 1 for ever from −depth: 1/γ² = 1, but depth mistakes and one tie."""
    trace = perceptron_from([-float(depth)], np.ones((3 * depth, 1)), np.ones(3 * depth))
    assert trace.mistakes.sum() == depth and trace.updates.sum() == depth + 1
    assert trace.updates.sum() <= theorems.PerceptronFrom(1.0, 1.0, -depth, depth).bound


def test_the_bound_needs_a_unit_separator():
    X, y, u = np.eye(9), -np.ones(9), -np.ones(9)
    trace = play(Perceptron(9), perceptron_loss(X, y))
    literal, general = 1 / (y * (X @ u)).min() ** 2, (np.linalg.norm(u) / 1.0) ** 2
    assert literal < trace.mistakes.sum() == 9 <= general


def test_the_norm_sum_needs_its_last_round():
    trace = play(Perceptron(2), perceptron_loss([[0.6, 0.8], [0.8, -0.6]], [1.0, 1.0]))
    for t in (1, 2):
        w, updates = trace.plays[t], trace.updates
        assert updates[: t - 1].sum() < w @ w <= updates[:t].sum() + 1e-12


# ---------------------------------------------------------------- ties


def test_the_subgradient_zero_never_starts():
    X, y = np.ones((100, 1)), -np.ones(100)
    for kink, mistakes in ((0.0, 100), (0.1, 1), (1.0, 1)):
        assert play(Perceptron(1, kink=kink), perceptron_loss(X, y)).mistakes.sum() == mistakes


def test_ties_at_half_a_step_meet_the_whole_part_of_the_bound():
    X, _, _ = adversaries.ties(0.5, margin=0.1)
    assert len(X) == int(theorems.PerceptronTies(1.0, 0.1, 0.5).bound) == 112


def test_ties_refuses_what_it_cannot_build():
    for kink, margin, word in ((0.2, 0.1, "kink"), (0.5, 0.5, "margin"), (0.5, 0.0, "margin")):
        with pytest.raises(ValueError, match=word):
            adversaries.ties(kink, margin)
    with pytest.raises(ValueError, match="kink"):
        theorems.PerceptronTies(1.0, 0.1, 0.0)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.7, 1.0])
def test_three_dimensions_reach_the_factor_for_every_share(share, gamma=0.04, radius=2.0):
    """A tie, full steps, then ties: only the part of w across u has to be tracked, a turning plane."""
    full = int((1 + share) / (4 * gamma**2))
    w, updates, least, longest = np.zeros(3), 0, np.inf, 0.0
    while True:
        tie = updates == 0 or updates > full
        size = np.hypot(w[1], w[2])
        across = w[1:] / size if size > 0 else np.array([1.0, 0.0])
        back = 0.0 if updates == 0 else (gamma * w[0] + (0.0 if tie else 1e-10)) / size
        if back**2 > 1 - gamma**2:
            break
        turned = np.sqrt(1 - gamma**2 - back**2) * np.array([-across[1], across[0]])
        z = radius * np.append(gamma, -back * across + turned)
        assert abs(w @ z) < 1e-11 if tie else w @ z < 0
        least, longest = min(least, z[0]), max(longest, np.linalg.norm(z))
        w, updates = w + (share if tie else 1.0) * z, updates + 1
    promise = theorems.PerceptronTies(longest, least, share).bound
    assert 0.99 * promise < updates <= promise
    if share < 0.5:  # a small share is dear: the bound for full steps is broken by far
        assert updates > 1.5 * theorems.Perceptron(longest, least).bound


# ---------------------------------------------------------------- without convexity


def test_the_proof_survives_a_homogeneous_model():
    """A maximum of three linear functions minus a maximum of two: homogeneous, not convex."""
    certified = 0
    for seed in range(8):
        X = np.random.default_rng(seed).uniform(-1, 1, (120, 2))
        lead = np.abs(X[:, 0]) - 0.7 * np.abs(X[:, 1])
        X, y = X[np.abs(lead) > 0.15], np.sign(lead[np.abs(lead) > 0.15])
        w, added = np.zeros((5, 2)), []
        for x, label in zip(np.tile(X, (30, 1)), np.tile(y, 30), strict=True):
            scores, g = w @ x, np.zeros((5, 2))
            i, j = scores[:3].argmax(), 3 + scores[3:].argmax()
            g[i], g[j] = x, -x
            assert (w * g).sum() == pytest.approx(scores[i] - scores[j], abs=1e-9)
            if label * (scores[i] - scores[j]) <= 0:
                w = w + label * g
                added.append(label * g.ravel())
        added = np.array(added)
        R, length = np.linalg.norm(added, axis=1).max(), np.linalg.norm(w)
        assert length**2 <= R**2 * len(added) + 1e-9  # with a margin or without
        gamma = (added @ w.ravel()).min() / length
        if gamma > 0:
            certified += 1
            assert len(added) <= theorems.Perceptron(R, gamma).bound
            assert gamma * len(added) <= length + 1e-9
    assert certified >= 4


def test_a_dead_unit_updates_for_ever():
    """A rectified unit in the plane: once ⟨w, x⟩ < 0 on an example labelled −1, its ties add nothing."""
    x = np.array([0.6, -0.8])

    class Unit:
        """max(0, −y·max(0, ⟨w, x⟩)) with y = −1."""

        dim = 2

        def value(self, w):
            return max(0.0, w @ x)

        def subgradient(self, w):
            return x * (w @ x >= 0)

    trace = play(OGD(Space(2), 1.0), [Unit()] * 50)
    assert (trace.paid == 0).all()  # every round is a tie, so the rule updates in each
    assert np.array_equal(trace.last, -x) and not trace.subgradients[1:].any()


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("seed", range(3))
def test_the_linear_kernel_gives_the_perceptron(seed):
    X, y, _ = adversaries.separable(300, 6, 0.02, seed)
    X = np.round(8 * X)  # whole numbers: sums are exact in any order
    keep = X.any(axis=1)
    losses = perceptron_loss(X[keep], y[keep])
    kernel, vector = play(KernelPerceptron(linear), losses), play(Perceptron(6), losses)
    assert np.array_equal(kernel.updates, vector.updates)
    assert np.array_equal(kernel.mistakes, vector.mistakes)
    assert np.array_equal(kernel.margins, vector.margins)
    assert np.array_equal(kernel.score(X), X @ vector.last)
    assert np.array_equal(kernel.coefficients, np.where(kernel.updates, losses.y, 0))


def test_the_quadratic_kernel_gives_the_perceptron_on_explicit_features():
    X = np.random.default_rng(4).uniform(-1, 1, (400, 2))
    y = np.where(np.square(X).sum(1) > 0.6, 1.0, -1.0)
    kernel = play(KernelPerceptron(quadratic), perceptron_loss(X, y))
    vector = play(Perceptron(6), perceptron_loss(explicit(X), y))
    assert np.array_equal(kernel.updates, vector.updates)
    assert np.allclose(kernel.score(X), explicit(X) @ vector.last)


def test_xor_stops_with_a_quadratic_kernel_and_never_with_a_linear_one():
    X, y = np.tile(XOR[0], (50, 1)), np.tile(XOR[1], 50)
    line, conic = (play(KernelPerceptron(k), perceptron_loss(X, y)) for k in (linear, quadratic))
    assert line.updates[-4:].any() and not conic.updates[16:].any()
    assert (np.sign(conic.score(XOR[0])) == XOR[1]).all()
    K = XOR[1][:, None] * quadratic(XOR[0], XOR[0]) * XOR[1]
    squared = np.full(4, 0.25) @ K @ np.full(4, 0.25)  # the hull's nearest point to 0, by symmetry
    assert squared == pytest.approx(2)
    assert oracle.max_margin(explicit(XOR[0]), XOR[1])[1] ** 2 == pytest.approx(2, abs=1e-6)
    assert conic.updates.sum() <= theorems.Perceptron(3.0, np.sqrt(squared)).bound == pytest.approx(4.5)


@pytest.mark.parametrize("seed", range(3))
def test_the_mistake_bound_holds_in_the_space_of_the_kernel(seed):
    """The separator is the one the run ends with: γ ≥ min y·w(x)/‖w‖, ‖w‖² = cᵀKc."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.where(np.sin(4 * X[:, 0]) + X[:, 1] > 0, 1.0, -1.0)
    trace = play(KernelPerceptron(gaussian), perceptron_loss(np.tile(X, (400, 1)), np.tile(y, 400)))
    assert not trace.updates[-60:].any()
    used = trace.updates
    c, S = trace.coefficients[used], trace.losses.X[used]
    length = np.sqrt(c @ gaussian(S, S) @ c)
    margin = (y * trace.score(X)).min() / length
    assert margin > 0 and used.sum() <= theorems.Perceptron(1.0, margin).bound


def test_a_function_that_is_no_kernel_has_no_bound():
    """k = −⟨x, x′⟩ is not positive semidefinite: one example, an update in every round."""
    trace = play(KernelPerceptron(lambda A, B: -(A @ B.T)), perceptron_loss(np.ones((70, 1)), np.ones(70)))
    assert trace.updates.all()


def test_the_kernel_player_pays_one_kernel_value_a_support_point():
    asked = []

    def counting(A, B):
        asked.append(len(A) * len(B))
        return linear(A, B)

    X, y, _ = adversaries.separable(200, 4, 0.05, seed=3)
    trace = play(KernelPerceptron(counting), perceptron_loss(X, y))
    before = np.cumsum(trace.updates) - trace.updates
    assert sum(asked) == before.sum()


def test_the_kernel_player_updates_at_a_tie_whatever_the_label():
    for label in (-1.0, 1.0):
        player = KernelPerceptron(linear).player()
        player.update(perceptron_loss([[2.0, 1.0]], [label])[0])
        assert player.coefficients.tolist() == [label] and player.margin(np.ones(2)) == 3 * label


def test_the_kernel_player_alone():
    player = KernelPerceptron(quadratic).player()
    x, other = np.array([1.0, 2.0]), np.array([-1.0, 0.5])
    assert player.margin(x) == 0
    losses = perceptron_loss([x, other], [-1.0, -1.0])
    player.update(losses[0])
    assert player.margin(other) == -quadratic(x[None], other[None])[0, 0] == -1.0
    player.update(losses[1])  # −1·−1 > 0: no update
    assert player.coefficients.tolist() == [-1.0]


def test_the_kernel_learner_refuses_bad_input():
    with pytest.raises(ValueError, match="kernel must be a function"):
        KernelPerceptron("rbf")
    with pytest.raises(ValueError, match="perceptron_loss"):
        play(KernelPerceptron(linear), hinge(*XOR))
    quiet = play(KernelPerceptron(linear), perceptron_loss(*XOR), rounds=1)
    with pytest.raises(ValueError, match="X must have 2 entries"):
        quiet.score(np.ones((3, 5)))


# ---------------------------------------------------------------- the optimisation view


def objective(w, Z):
    return np.maximum(0, -Z @ w).sum()


def test_zero_is_one_minimiser_of_a_cone():
    X, y, u = adversaries.separable(40, 3, 0.1, seed=5)
    Z = y[:, None] * X
    assert objective(np.zeros(3), Z) == objective(u, Z) == objective(7 * u, Z) == 0
    inside = u + 0.09 * np.random.default_rng(0).uniform(-1, 1, (50, 3)) / np.sqrt(3)
    assert all(objective(w, Z) == 0 for w in inside)  # the cone has an interior
    assert objective(-u, Z) > 0


@pytest.mark.parametrize("second, after", [([0.6, 0.8], 0.0), ([-0.5, np.sqrt(0.75)], 0.5)])
def test_the_first_step_may_stay_optimal_or_not(second, after):
    Z = np.array([[1.0, 0.0], second])
    trace = play(Perceptron(2), perceptron_loss(np.tile(Z, (3, 1)), np.ones(6)))
    w = trace.plays
    assert [objective(w[0], Z), objective(w[1], Z)] == pytest.approx([0.0, after])
    assert (Z @ trace.last).min() > 0


def test_mistakes_are_bounded_while_the_surrogate_rises_and_falls():
    X, y, u = adversaries.separable(60, 5, 0.05, seed=11)
    Z = y[:, None] * X
    trace = play(Perceptron(5), perceptron_loss(np.tile(X, (100, 1)), np.tile(y, 100)))
    curve = np.array([objective(w, Z) for w in trace.plays])
    assert curve[0] == 0 and curve.max() > 0 and curve[-1] == 0
    assert (np.diff(curve) > 0).any() and (np.diff(curve) < 0).any()
    assert trace.updates.sum() <= theorems.Perceptron(1.0, (y * (X @ u)).min()).bound
    assert (Z @ trace.last > 0).all()
