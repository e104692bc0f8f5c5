"""Lecture 13, sections 3.1 and 4: Perceptron and Winnow are leaders, and their mistake bounds hold."""

from itertools import product

import numpy as np
import pytest

from ocolib import adversaries, oracle, theorems
from ocolib.game import play
from ocolib.learners import FTRL, OGD, Hedge, Linearized, NormalizedWinnow, Perceptron, Winnow
from ocolib.losses import hinge, perceptron_loss
from ocolib.phi import PerceptronLoss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Orthant, Simplex, Space

seeds = pytest.mark.parametrize("seed", range(6))


def slab(seed, T=300, dim=8, near=0.1):
    """Examples close to a hyperplane and spread along it, with their unit vector: hard for a Perceptron."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(dim)
    u /= np.linalg.norm(u)
    y = rng.choice([-1.0, 1.0], T)
    along = rng.uniform(-1, 1, (T, dim))
    along -= np.outer(along @ u, u)
    return np.outer(y * rng.uniform(near, 0.5, T), u) + along, y, u


def textbook_perceptron(X, y, eta=1.0):
    w = [np.zeros(X.shape[1])]
    for x_t, y_t in zip(X, y, strict=True):
        w.append(w[-1] + eta * y_t * x_t if y_t * (w[-1] @ x_t) <= 0 else w[-1])
    return np.array(w)


# ---------------------------------------------------------------- the Perceptron


@seeds
def test_perceptron_is_descent_with_kink_one(seed):
    X, y, _ = slab(seed)
    descent = play(OGD(Space(8), 1.0), perceptron_loss(X, y))
    w = textbook_perceptron(X, y)
    assert descent.updates.sum() > 5
    assert np.array_equal(descent.plays, w)
    assert np.array_equal(play(Perceptron(8), perceptron_loss(X, y)).plays, w)


@seeds
def test_the_step_of_the_perceptron_is_immaterial_from_zero_only(seed):
    X, y, _ = slab(seed)
    one = play(OGD(Space(8), 1.0), perceptron_loss(X, y))
    for eta in (2.0**-20, 0.3, 8.0):
        run = play(OGD(Space(8), eta), perceptron_loss(X, y))
        assert np.array_equal(run.updates, one.updates)
        assert np.allclose(run.points, eta * one.points, rtol=1e-12, atol=0)
    moved = [play(OGD(Space(8), eta, start=np.ones(8)), perceptron_loss(X, y)) for eta in (0.01, 1.0)]
    assert not np.array_equal(moved[0].updates, moved[1].updates)


@pytest.mark.parametrize("epochs", [1, 4])
def test_perceptron_equals_scikit_learn_weight_for_weight(epochs):
    datasets = pytest.importorskip("sklearn.datasets")
    linear = pytest.importorskip("sklearn.linear_model")
    reference = linear.Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=epochs)

    measurements, kind = datasets.load_breast_cancer(return_X_y=True)
    tumours = (measurements - measurements.mean(axis=0)) / measurements.std(axis=0)
    pixels, digit = datasets.load_digits(return_X_y=True)
    tasks = [(tumours, kind == 1), (pixels, digit % 2 == 0), (pixels[:, ::2], digit == 3)]
    for X, positive in tasks:
        y = np.where(positive, 1.0, -1.0)
        ours = play(Perceptron(X.shape[1]), perceptron_loss(np.tile(X, (epochs, 1)), np.tile(y, epochs)))
        assert np.array_equal(ours.last, reference.fit(X, y).coef_[0])
        assert ours.last.any()


def test_the_perceptron_loss_is_not_the_hinge():
    X, y, _ = slab(0)
    zero = np.zeros(8)
    assert (perceptron_loss(X, y).values(zero) == 0).all()
    assert (hinge(X, y).values(zero) == 1).all()
    counts = {eta: play(OGD(Space(8), eta), hinge(X, y)).updates for eta in (0.1, 1.0, 1e9)}
    assert not np.array_equal(counts[0.1], counts[1.0])  # the step matters to the hinge
    assert np.array_equal(counts[1e9], play(Perceptron(8), perceptron_loss(X, y)).updates)
    whole = np.ones((3, 1)), np.ones(3)  # margin 1 after the first update: the hinge's own kink
    assert [play(OGD(Space(1), 1.0), hinge(*whole, kink=a)).updates.sum() for a in (0.0, 1.0)] == [1, 2]


@seeds
def test_resting_at_zero_loss_never_moves(seed):
    X, y, _ = slab(seed)
    asleep = play(OGD(Space(8), 1.0), perceptron_loss(X, y, kink=0.0))
    assert not asleep.points.any() and not asleep.updates.any() and (asleep.margins == 0).all()
    for kink in (1e-3, 0.5, 1.0):  # every other choice at the tie gets it off the ground
        assert play(OGD(Space(8), 1.0), perceptron_loss(X, y, kink=kink)).updates.sum() > 1


@seeds
def test_regret_says_nothing_about_the_perceptron(seed):
    X, y, _ = slab(seed, T=60)
    trace = play(Perceptron(8), perceptron_loss(X, y))
    zero = np.zeros(8)
    assert trace.losses.values(zero).sum() == 0
    assert abs(oracle.regret(trace, Space(8)) - trace.paid.sum()) < 1e-6 < trace.paid.sum()
    with pytest.raises(ValueError, match="diameter"):
        theorems.Descent(Space(8).diameter, 1.0, 60)


@seeds
@pytest.mark.parametrize("near", [0.02, 0.1, 0.4])
def test_perceptron_bound_and_its_chain_hold(seed, near):
    X, y, u = slab(seed, near=near)
    R, margin = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    trace = play(Perceptron(8), perceptron_loss(X, y))
    sharp, printed = (theorems.Perceptron(R, margin).by_regret(trace, u, sharp=s) for s in (True, False))
    assert sharp.holds() and printed.holds()
    assert sharp.values[0] == pytest.approx(trace.updates.sum())
    assert sharp.values[-1] == pytest.approx(theorems.Perceptron(R, margin).bound)
    assert printed.values[-1] == pytest.approx(2 * theorems.Perceptron(R, margin).bound)
    # (10) on all of space is an identity but for ½‖cu − w_{T+1}‖²
    M = trace.updates.sum()
    missing = np.square(M * margin * u - trace.last).sum() / (M * margin**2)
    assert sharp.slacks[2] == pytest.approx(missing)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_orthonormal_examples_meet_the_perceptron_bound(n):
    y = np.random.default_rng(n).choice([-1.0, 1.0], n)
    trace = play(Perceptron(n), perceptron_loss(3 * np.eye(n), y))
    chain = theorems.Perceptron(radius=3.0, margin=3 / np.sqrt(n)).by_regret(trace, y / np.sqrt(n))
    assert trace.updates.sum() == n == pytest.approx(theorems.Perceptron(3.0, 3 / np.sqrt(n)).bound)
    assert np.allclose(chain.slacks, 0)


def test_the_mistake_chain_breaks_with_a_false_margin_or_radius():
    X, y, u = slab(1)
    R, margin = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    trace = play(Perceptron(8), perceptron_loss(X, y))
    assert not theorems.Perceptron(R, 5 * margin).chain(trace, u).holds()
    assert not theorems.Perceptron(R / 2, margin).chain(trace, u).holds()
    with pytest.raises(ValueError, match="requires: u has margin at least γ"):
        theorems.Perceptron(R, 5 * margin).by_regret(trace, u)
    with pytest.raises(ValueError, match="requires: ‖x_t‖ ≤ R"):
        theorems.Perceptron(R / 2, margin).by_regret(trace, u)
    with pytest.raises(ValueError, match="at least one update"):
        theorems.Perceptron(R, margin).by_regret(play(OGD(Space(8), 1.0), perceptron_loss(X, y, kink=0.0)), u)


def test_the_real_margin_bounds_the_updates_until_nothing_moves():
    pixels, digit = pytest.importorskip("sklearn.datasets").load_digits(return_X_y=True)
    y = np.where(digit == 6, 1.0, -1.0)
    _, margin = oracle.max_margin(pixels, y)
    w, total, before = np.zeros(64), 0, -1
    while total > before:
        before = total
        for x_t, y_t in zip(pixels, y, strict=True):
            if y_t * (w @ x_t) <= 0:
                w, total = w + y_t * x_t, total + 1
    assert (y * (pixels @ w) > 0).all()
    assert 100 < total <= theorems.Perceptron(np.linalg.norm(pixels, axis=1).max(), margin).bound


@pytest.mark.parametrize("alpha", [0.1, 0.25, 0.5, 0.9, 1.0])
def test_a_partial_step_at_ties_costs_at_most_the_stated_factor(alpha):
    """(1 + α)²/(4α): exercise 3 of the Perceptron's page, on examples that tie as often as they can."""
    factor = (1 + alpha) ** 2 / (4 * alpha)
    share = np.linspace(0, 1, 100_001)
    brute = ((1 - share * (1 - alpha**2)) / (1 - share * (1 - alpha)) ** 2).max()
    assert factor == pytest.approx(brute, rel=1e-6)
    for passes in (1, 2, 5):
        X, y = np.tile(np.eye(16), (passes, 1)), np.ones(16 * passes)
        trace = play(OGD(Space(16), 1.0), perceptron_loss(X, y, kink=alpha))
        assert trace.updates.sum() <= factor * theorems.Perceptron(1.0, 0.25).bound


def test_a_quarter_step_at_ties_breaks_the_bound_of_the_full_one():
    X, margin = np.array([[1.0, 0.0], [-0.3, np.sqrt(0.91)]]), np.sqrt(0.35)
    assert oracle.max_margin(X, np.ones(2))[1] == pytest.approx(margin, abs=1e-6)
    trace = play(OGD(Space(2), 1.0), perceptron_loss(X[[0, 1, 0]], np.ones(3), kink=0.25))
    assert theorems.Perceptron(1.0, margin).bound < trace.updates.sum() == 3
    assert trace.updates.sum() <= 1.25**2 * theorems.Perceptron(1.0, margin).bound  # (1 + α)²/(4α) = 25/16


def test_updates_end_or_not_by_what_is_shown_again_and_again():
    """No hyperplane separates (1, +1) from (1, −1). Both for ever: no end. One of them once: an end."""
    ones, both = np.ones((60, 1)), np.tile([1.0, -1.0], 30)
    assert play(Perceptron(1), perceptron_loss(ones, both)).updates.all()
    once = np.where(np.arange(60) == 1, -1.0, 1.0)
    assert np.flatnonzero(play(Perceptron(1), perceptron_loss(ones, once)).updates).tolist() == [0, 1, 2]


def test_zero_loss_right_and_left_alone_differ_at_a_tie():
    w, x = np.array([0.5, 0.5]), np.array([[1.0, -1.0]])
    losses = [perceptron_loss(x, [label]) for label in (1.0, -1.0)]
    assert [f.values(w)[0] for f in losses] == [0, 0]
    assert all(f.subgradients(w).any() for f in losses)  # both are updates
    right = [(f.predictions(w)[0] >= 0) == (f.y[0] > 0) for f in losses]
    assert right == [True, False]
    for label, mistakes in ((1.0, 0), (-1.0, 5)):
        trace = play(Perceptron(5), perceptron_loss(np.eye(5), np.full(5, label)))
        assert (trace.updates.sum(), trace.mistakes.sum()) == (5, mistakes)


# ---------------------------------------------------------------- entropy and (11)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_entropy_lies_between_zero_and_log_n(n):
    special = pytest.importorskip("scipy.special")
    p = np.vstack([np.random.default_rng(n).dirichlet(np.full(n, a), 200) for a in (0.2, 1, 9)])
    p = np.vstack([p, np.eye(n), np.full(n, 1 / n)])
    H = -NegativeEntropy().value(p)
    assert np.allclose(H, special.entr(p).sum(axis=1))
    assert (H >= -1e-12).all() and (np.log(n) - H >= -1e-12).all()
    assert (H[-n - 1 : -1] == 0).all() and H[-1] == pytest.approx(np.log(n))
    if n > 1:  # the uniform point is the only maximiser, and 0 log 0 = 0 is a limit
        assert (H[:-1] < np.log(n)).all()
        nearly = np.eye(n)[0] * (1 - 1e-9) + 1e-9 / n
        assert abs(-NegativeEntropy().value(nearly)) < 1e-7


@seeds
def test_surrogates_overstate_the_regret(seed):
    X, y, _ = slab(seed, dim=5)
    rng = np.random.default_rng(seed)
    for learner, draw in (
        (Linearized(Hedge(5, 0.4)), lambda: rng.dirichlet(np.ones(5))),
        (OGD(Space(5), 1.0), lambda: rng.standard_normal(5)),
    ):
        trace = play(learner, perceptron_loss(X, y))
        for _ in range(40):
            u = draw()
            on_surrogates = (trace.subgradients * (trace.points - u)).sum()
            assert trace.regret(against=u) <= on_surrogates + 1e-9


@seeds
def test_entropic_leaders_are_softmax_exponential_and_multiplicative(seed):
    rng = np.random.default_rng(seed)
    n, eta = int(rng.integers(2, 7)), float(rng.uniform(0.1, 2))
    Z = rng.standard_normal((6, n))
    simplex = play(Hedge(n, eta), Z)
    orthant = play(FTRL(Orthant(n), UnnormalizedEntropy(), eta), Z)
    w, v = np.full(n, 1 / n), np.ones(n)
    for t in range(6):
        assert np.allclose(simplex.points[t], w) and np.allclose(orthant.points[t], v)
        w, v = w * np.exp(-eta * Z[t]), v * np.exp(-eta * Z[t])
        w = w / w.sum()
    c = Z.sum(axis=0)
    soft = np.exp(-eta * c) / np.exp(-eta * c).sum()
    assert np.allclose(simplex.last, soft)
    solved = oracle.minimize(NegativeEntropy(), c, eta, Simplex(n))
    assert np.abs(solved - soft).max() < 2e-5
    solved = oracle.minimize(UnnormalizedEntropy(), c, eta, Orthant(n))
    assert np.abs(solved - orthant.last).max() < 2e-5 * orthant.last.max()
    # the certificate: the objective exceeds its least value by a relative entropy
    p = rng.dirichlet(np.ones(n), 50)
    value = p @ c + NegativeEntropy().value(p) / eta
    kl = (p * np.log(p / soft)).sum(axis=1)
    assert np.allclose(value - kl / eta, -np.log(np.exp(-eta * c).sum()) / eta)


# ---------------------------------------------------------------- Winnow


@seeds
@pytest.mark.parametrize("factor", [1.5, 2.0, 4.0])
def test_winnow_is_the_leader_with_unnormalised_entropy(seed, factor):
    n, theta = 40, 40 / 7  # a threshold that no sum of weights meets, so that rounding settles no tie
    X, y = adversaries.disjunction(600, n, 3, seed)
    losses = perceptron_loss(X, y, threshold=theta)
    winnow = play(Winnow(n, theta, factor), losses)
    leader = play(Linearized(FTRL(Orthant(n), UnnormalizedEntropy(), np.log(factor))), losses)
    assert winnow.updates.sum() > 10 and np.array_equal(winnow.updates, leader.updates)
    assert np.allclose(winnow.points, leader.points, rtol=1e-10, atol=0)
    by_hand = np.ones(n)
    for t in range(600):
        assert np.allclose(by_hand, winnow.points[t], rtol=1e-10, atol=0)
        if y[t] * (by_hand @ X[t] - theta) <= 0:
            by_hand = by_hand * factor ** (y[t] * X[t])


@seeds
def test_perceptron_and_winnow_are_leaders_with_two_regularisers(seed):
    X, y = adversaries.disjunction(500, 24, 2, seed)
    signed = 2 * X - 1
    family = [
        (Perceptron(24), FTRL(Space(24), SquaredNorm(), 1.0), signed, 0.0),
        (Winnow(24, 7.7), FTRL(Orthant(24), UnnormalizedEntropy(), np.log(2)), X, 7.7),
        (NormalizedWinnow(24, 0.3), FTRL(Simplex(24), NegativeEntropy(), 0.3), signed, 0.0),
    ]
    for learner, leader, features, threshold in family:
        losses = perceptron_loss(features, y, threshold)
        ours, theirs = play(learner, losses), play(Linearized(leader), losses)
        assert ours.updates.sum() > 3
        assert np.allclose(ours.points, theirs.points, rtol=1e-10, atol=0)


def wasteful(k, theta, overshoot=False):
    """Fill each promotion up to θ with irrelevant weight, then have the demotions eat it.

    A demotion is a tie, or with `overshoot` exceeds θ by the smallest weight left out: a mistake for sure.
    """

    def adversary(t, w, past):
        x = np.zeros(len(w))
        hungry = np.flatnonzero(w[:k] <= theta)
        x[hungry[:1]] = 1
        room, others = theta - w @ x, k + np.argsort(-w[k:], kind="stable")
        for i in others:
            if w[i] <= room:
                x[i], room = 1, room - w[i]
        if overshoot and not len(hungry):
            x[others[x[others] == 0][-1:]] = 1
        if not len(hungry) and (w @ x <= theta if overshoot else room > 0):
            x[:] = 0
        return perceptron_loss([x], [1.0 if len(hungry) else -1.0], threshold=theta)[0]

    return adversary


@seeds
@pytest.mark.parametrize(("n", "k", "theta"), [(16, 1, 16.0), (50, 4, 25.0), (50, 4, 1.0), (30, 30, 7.3)])
def test_winnow_bound_and_its_chain_hold(seed, n, k, theta):
    X, y = adversaries.disjunction(800, n, k, seed)
    for trace in (
        play(Winnow(n, theta), perceptron_loss(X, y, threshold=theta)),
        play(Winnow(n, theta), wasteful(k, theta), rounds=400),
        play(Winnow(n, theta), wasteful(k, theta, overshoot=True), rounds=400),
    ):
        chain = theorems.Winnow.of(trace, k).proof(trace)
        assert chain.holds() and chain.values[0] == trace.updates.sum()
        assert chain.values[-1] == pytest.approx(theorems.Winnow(n, k, theta).bound)
        W = trace.plays.sum(axis=1)
        up, down = (trace.updates & (trace.losses.y == sign) for sign in (1, -1))
        assert (np.diff(W)[up] <= theta * (1 + 1e-12)).all()
        assert (-np.diff(W)[down] >= theta / 2 * (1 - 1e-12)).all()


@pytest.mark.parametrize(("n", "k", "theta", "reached"), [(1024, 1, 1024, 0.85), (256, 1, 1, 0.98)])
def test_winnow_bound_is_nearly_met(n, k, theta, reached):
    promise = theorems.Winnow(n, k, theta).bound
    trace = play(Winnow(n, theta), wasteful(k, theta), rounds=int(promise) + 2)
    assert reached * promise < trace.updates.sum() <= promise
    assert not trace.updates[-1]  # the adversary has nothing left
    with pytest.raises(ValueError, match="factor 2"):
        theorems.Winnow.of(game := play(Winnow(n, theta, factor=3.0), wasteful(k, theta), rounds=3), k).proof(
            game
        )


@pytest.mark.parametrize("m", [3, 5, 9, 11])
def test_winnow_can_be_made_to_err_three_times_log_n(m):
    """The factor 3 is right for mistakes, not only for updates at ties: here no update is a tie."""
    n, theta = 2**m, 2**m + 0.5
    promise = theorems.Winnow(n, 1, theta).bound
    trace = play(Winnow(n, theta), wasteful(1, theta, overshoot=True), rounds=int(promise) + 2)
    assert 2.9 * m - 1 < trace.mistakes.sum() == 3 * m - 1 <= promise
    assert np.array_equal(trace.updates, trace.margins < 0) and not trace.updates[-1]
    tied = play(Winnow(n, n), wasteful(1, n), rounds=int(promise) + 2)
    assert tied.updates.sum() == 3 * m and (tied.margins[tied.updates] == 0).all()


@seeds
def test_a_round_moves_the_entropic_leader_by_at_most_eta_in_the_sum_norm(seed):
    rng = np.random.default_rng(seed)
    n, eta = int(rng.integers(2, 30)), float(rng.uniform(0.01, 2))
    Z = rng.standard_normal((40, n)) * rng.uniform(0.1, 5, (40, 1))
    moved = np.abs(np.diff(play(Hedge(n, eta), Z).plays, axis=0)).sum(axis=1)
    assert (moved <= eta * np.abs(Z).max(axis=1)).all()
    first = play(Hedge(2, eta), np.array([[1.0, -1.0]])).plays
    assert np.abs(first[1] - first[0]).sum() == pytest.approx(np.tanh(eta))  # η is met as η → 0


def test_without_a_constant_feature_a_disjunction_is_separated_but_at_zero_and_barely():
    n, k = 8, 2
    X = (np.arange(1, 2**n)[:, None] >> np.arange(n)) % 2.0  # every Boolean x but 0
    y = np.where(X[:, :k].any(axis=1), 1.0, -1.0)
    w = np.where(np.arange(n) < k, float(n), -1.0)
    assert (y * (X @ w) > 0).all()
    _, without = oracle.max_margin(X, y)
    wide = np.column_stack([np.vstack([np.zeros(n), X]), np.ones(2**n)])
    _, constant = oracle.max_margin(wide, np.concatenate([[-1.0], y]))
    assert without < 0.4 * constant


@seeds
def test_normalised_winnow_bound_and_its_chain_hold_on_doubled_features(seed):
    rng = np.random.default_rng(seed)
    X = 2.5 * rng.uniform(-1, 1, (1500, 20))
    target = np.zeros(20)
    target[[3, 8]] = 0.75, -0.25
    X = X[np.abs(X @ target) > 0.2]
    y = np.sign(X @ target)
    doubled = np.hstack([X, -X])
    u = np.concatenate([np.maximum(target, 0), np.maximum(-target, 0)])
    margin, size = (y * (doubled @ u)).min(), np.abs(X).max()
    for scale in (0.3, 1.0, 1.7):  # the chain holds for every step below 2γ/X²
        trace = play(NormalizedWinnow(40, scale * margin / size**2), perceptron_loss(doubled, y))
        chain = theorems.NormalizedWinnow.of(trace, margin, size).proof(trace, u)
        assert chain.holds() and trace.updates.sum() > 5
        if scale == 1.0:
            assert chain.values[-1] == pytest.approx(theorems.NormalizedWinnow(40, margin, size).bound)
            entropy = -NegativeEntropy().value(u)
            sharper = 2 * size**2 * (np.log(40) - entropy) / margin**2
            assert chain.values[-2] == pytest.approx(sharper)
    with pytest.raises(ValueError, match="eta"):
        theorems.NormalizedWinnow.of(trace, margin / 2, size).proof(trace, u)


def test_boolean_features_on_the_simplex_at_threshold_zero_never_say_no():
    X, y = adversaries.disjunction(2000, 30, 4, 7)
    X, y = X[X.any(axis=1)], y[X.any(axis=1)]
    for eta in (0.05, 0.5):
        stuck = play(NormalizedWinnow(30, eta), perceptron_loss(X, y))
        assert (stuck.losses.predictions(stuck.points) > 0).all()
        assert np.array_equal(stuck.updates, y < 0) and np.array_equal(stuck.mistakes, y < 0)
    cured = play(Winnow(30, 15), perceptron_loss(X, y, threshold=15))
    assert cured.updates.sum() <= theorems.Winnow(30, 4, 15).bound < (y < 0).sum()
    assert (cured.updates & (y > 0)).any()
    # reading (a): doubled features and a constant one, with margin 1/(2k + 1)
    wide = np.hstack([X, np.ones((len(X), 1))])
    wide = np.hstack([wide, -wide])
    trace = play(NormalizedWinnow(62, 1 / 9), perceptron_loss(wide, y))
    assert trace.updates.sum() <= theorems.NormalizedWinnow(62, 1 / 9).bound < (y < 0).sum()


def test_normalising_winnow_moves_the_threshold():
    X, y = adversaries.disjunction(1500, 20, 3, 1)
    theta = 10.1  # no sum of powers of two, so that rounding settles no tie
    winnow = play(Winnow(20, theta), perceptron_loss(X, y, threshold=theta))
    W = winnow.points.sum(axis=1)
    normalised = winnow.points / W[:, None]
    said = (X * winnow.points).sum(axis=1) - theta
    assert np.array_equal(np.sign(said), np.sign((X * normalised).sum(axis=1) - theta / W))
    assert (theta / W).max() > 2 * (theta / W).min()
    # with a threshold that stays, two positive examples are enough: both weights cannot exceed ½
    turns, labels = np.tile(np.eye(6)[:2], (200, 1)), np.ones(400)
    done = play(Winnow(6, 3), perceptron_loss(turns, labels, threshold=3))
    never = play(Linearized(Hedge(6, np.log(2))), perceptron_loss(turns, labels, threshold=0.5))
    assert done.updates.sum() == 4 and not done.updates[-100:].any()
    assert (never.updates[1:] | never.updates[:-1]).all()


@pytest.mark.parametrize(("n", "k"), [(2, 1), (8, 1), (6, 2), (8, 3), (9, 3)])
def test_on_the_simplex_a_low_fixed_threshold_learns_a_disjunction(n, k):
    """At most 2k² ln(n/k) updates with θ = 1/(2k) and η = 2/k; the nearest misses force half as many."""
    X = np.array(list(product((0.0, 1.0), repeat=n)))
    y = np.where(X[:, :k].any(axis=1), 1.0, -1.0)

    def nearest_miss(t, w, past):
        margins = y * (X @ w - 1 / (2 * k))
        i = np.where(margins <= 0, margins, -np.inf).argmax()  # x = 0, which is right, if none is missed
        return perceptron_loss(X[[i]], y[[i]], threshold=1 / (2 * k))[0]

    promise = 2 * k**2 * np.log(n / k)
    run = play(Linearized(Hedge(n, 2 / k)), nearest_miss, rounds=2 * int(promise) + 2)
    assert promise / 2 < run.updates.sum() <= promise and not run.updates[-1]


def test_doubled_features_tie_at_the_uniform_start():
    bits = 2.0 * np.random.default_rng(2).integers(0, 2, (200, 16)) - 1
    losses = perceptron_loss(np.hstack([bits, -bits]), bits[:, 0])
    assert not play(Linearized(Hedge(32, 0.5)), losses.with_kink(0.0)).updates.any()
    assert play(Linearized(Hedge(32, 0.5)), losses).updates[0]


def test_one_letter_for_the_loss_and_one_for_its_surrogate():
    """f_t is the loss and g_t = ⟨z_t, ·⟩ its surrogate: it touches the loss at w_t and stays below it."""
    f = perceptron_loss([[2.0, -1.0]], [1.0])[0]
    w = np.array([-1.0, 1.0])
    z = f.subgradient(w)
    assert f.value(w) == z @ w == 3.0
    for u in np.random.default_rng(0).standard_normal((50, 2)):
        assert f.value(u) >= f.value(w) + z @ (u - w) - 1e-12
    assert z @ np.array([3.0, 0.0]) < 0 == f.value([3.0, 0.0])  # the surrogate goes below 0, the loss never


@pytest.mark.parametrize("size", [8, 64, 512])
def test_winnow_pays_for_relevant_features_and_the_perceptron_for_all(size):
    X, y = adversaries.disjunction(10 * size + 500, size, 3, seed=size)
    winnow = play(Winnow(size, size / 2), perceptron_loss(X, y, threshold=size / 2)).updates.sum()
    wide = np.column_stack([X, np.ones(len(X))])
    perceptron = play(Perceptron(size + 1), perceptron_loss(wide, y)).updates.sum()
    assert winnow <= 4 + 9 * np.log2(size)
    assert perceptron <= 13 * wide.sum(axis=1).max()
    assert perceptron > size  # linear in n on these streams
    # one feature at a time and every second one relevant: here the Perceptron is ahead
    y = np.where(np.arange(size) % 2 == 0, 1.0, -1.0)
    single = np.tile(np.eye(size), (12, 1)), np.tile(y, 12)
    assert play(Perceptron(size), perceptron_loss(*single)).updates.sum() == size
    doublings = play(Winnow(size, size / 2), perceptron_loss(*single, threshold=size / 2)).updates.sum()
    assert doublings == size / 2 * np.log2(size) >= size


def test_learners_refuse_a_loss_with_another_threshold():
    losses = perceptron_loss(np.eye(3), np.ones(3), threshold=1.0)
    assert losses.phi == PerceptronLoss(1.0, 1.0)
    with pytest.raises(ValueError, match="threshold"):
        play(Winnow(3, 2.0), losses)
