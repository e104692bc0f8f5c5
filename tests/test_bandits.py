"""Bandits: the learners by hand, what they are told, the law of the regret, and the bounds on every path."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocolib import theorems
from ocolib.bandits import (
    EXP3,
    EXP3IX,
    UCB1,
    Paths,
    all_paths,
    play_bandit,
    switch_law,
    switch_losses,
)
from ocolib.learners import Hedge

LEARNERS = [EXP3(3, 0.4), EXP3IX(3, 0.4), EXP3IX(3, 0.4, 0.1), UCB1(3)]


def exp3_by_hand(losses, eta, gamma, rng):
    """Draw, pay, divide by the probability: the algorithm in six lines."""
    estimates, arms = np.zeros(losses.shape[1]), []
    for row in losses:
        p = np.exp(-eta * estimates) / np.exp(-eta * estimates).sum()
        arms.append(rng.choice(len(row), p=p))
        estimates[arms[-1]] += row[arms[-1]] / (p[arms[-1]] + gamma)
    return arms


@pytest.mark.parametrize("learner", [EXP3(3, 0.4), EXP3IX(3, 0.4), EXP3IX(3, 0.3, 0.2)])
def test_exp3_is_the_rule_written_by_hand(learner):
    losses = np.random.default_rng(5).random((60, 3))
    expected = exp3_by_hand(losses, learner.eta, learner.bias, np.random.default_rng(7))
    assert play_bandit(learner, losses, seed=7).arms.tolist() == expected


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_is_told_the_loss_of_its_own_arm_alone(learner):
    losses = np.random.default_rng(1).random((40, 3))
    trace = play_bandit(learner, losses, seed=3)
    other = 1 - losses
    other[np.arange(40), trace.arms] = trace.paid
    again = play_bandit(learner, other, seed=3)
    assert np.array_equal(again.arms, trace.arms)
    assert np.array_equal(again.probabilities, trace.probabilities)
    assert trace.regret() == pytest.approx(trace.paid.sum() - losses.sum(axis=0).min())


def test_a_bandit_game_is_shown_in_one_line():
    losses = np.tile([0.0, 1.0, 0.5], (4, 1))
    game = play_bandit(UCB1(3), losses, seed=0)
    assert repr(game) == f"BanditTrace(UCB1: 4 rounds, mean loss {game.paid.mean():.6g})"
    assert repr(all_paths(EXP3(3, 0.4), losses)) == "Paths(EXP3: 81 paths of 4 rounds)"


@pytest.mark.parametrize("learner", LEARNERS)
def test_all_paths_are_all_paths(learner):
    losses = np.random.default_rng(2).random((4, 3))
    paths = all_paths(learner, losses)
    assert paths.chances.sum() == pytest.approx(1)
    assert len({tuple(path) for path in paths.arms}) == len(paths.arms)
    assert len(paths.arms) == (1 if isinstance(learner, UCB1) else 3**4)
    drawn = np.take_along_axis(paths.probabilities, paths.arms[..., None], axis=2)[..., 0]
    assert np.allclose(drawn.prod(axis=1), paths.chances)
    assert (paths.dim, paths.rounds) == (3, 4) and isinstance(paths.again(losses), Paths)


def test_the_mean_over_all_paths_is_what_many_games_show():
    losses = np.random.default_rng(3).random((5, 2))
    paths = all_paths(EXP3(2, 0.7), losses)
    played = [play_bandit(EXP3(2, 0.7), losses, seed).regret() for seed in range(4000)]
    assert np.mean(played) == pytest.approx(paths.mean(paths.regrets), abs=0.05)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_estimates_of_exp3_are_right_on_average_those_of_ix_too_small(seed):
    losses = np.random.default_rng(seed).random((3, 3))
    fair, shy = all_paths(EXP3(3, 0.9), losses), all_paths(EXP3IX(3, 0.9), losses)
    for paths, sign in ((fair, 0.0), (shy, 1.0)):
        mean = np.einsum("p,ptn->tn", paths.chances, paths.estimates)
        assert np.allclose(mean, losses) if sign == 0 else (mean < losses).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_third_line_of_the_proof_holds_on_every_path(seed):
    """Σ⟨p, ℓ̂⟩ − ℓ̂(i) ≤ ln n/η + ½η Σ⟨p, ℓ̂²⟩ for every arm i, not on average alone."""
    losses = np.random.default_rng(seed).random((4, 3))
    for learner in (EXP3(3, 0.8), EXP3IX(3, 0.8)):
        paths = all_paths(learner, losses)
        p, guess = paths.probabilities, paths.estimates
        left = (p * guess).sum(axis=(1, 2))[:, None] - guess.sum(axis=1)
        right = np.log(3) / 0.8 + 0.4 * (p * guess * guess).sum(axis=(1, 2))
        assert (left <= right[:, None] + 1e-9).all()


def test_with_gains_the_third_line_fails():
    """e^x ≤ 1 + x + x²/2 is false for x > 0: an arm with a small probability gains once."""
    eta, total, mixed, squares = 0.5, np.zeros(2), 0.0, 0.0
    for arm in (0, 0, 0, 0, 0, 1):  # each drawn arm gains 1
        p = np.exp(eta * total) / np.exp(eta * total).sum()
        guess = (np.arange(2) == arm) / p
        mixed, squares, total = mixed + p @ guess, squares + p @ guess**2, total + guess
    assert total.max() - mixed > np.log(2) / eta + eta / 2 * squares + 10


def lemma(paths, alpha):
    """E exp Σ α(ℓ̃ − ℓ) over all paths, α a number for each arm."""
    return paths.mean(np.exp((alpha * (paths.estimates - paths.losses)).sum(axis=(1, 2))))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_lemma_of_implicit_exploration(seed):
    """E exp Σ α(ℓ̃ − ℓ) ≤ 1 if 0 ≤ α ≤ 2γ, and not for EXP3's own estimates."""
    rng = np.random.default_rng(seed)
    losses = rng.random((4, 2))
    paths = all_paths(EXP3IX(2, 0.8), losses)
    for alpha in (np.array([0.8, 0.8]), np.array([0.8, 0.0]), 0.8 * rng.random(2)):
        assert lemma(paths, alpha) <= 1 + 1e-12
    ones = np.tile([0.0, 1.0], (2, 1))
    assert lemma(all_paths(EXP3(2, 0.8), ones), np.array([0.0, 0.8])) > 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_lines_of_ix_hold_on_every_path(seed):
    """ℓ(a) = ⟨p, ℓ̃⟩ + γ Σ ℓ̃, and ⟨p, ℓ̃²⟩ ≤ Σ ℓ̃."""
    losses = np.random.default_rng(seed).random((4, 3))
    paths = all_paths(EXP3IX(3, 0.6), losses)
    p, guess = paths.probabilities, paths.estimates
    assert np.allclose(paths.paid, (p * guess).sum(axis=2) + 0.3 * guess.sum(axis=2))
    assert ((p * guess * guess).sum(axis=2) <= guess.sum(axis=2) + 1e-12).all()


def test_the_hypotheses_are_asked_for():
    losses = np.tile([0.0, 1.0], (4, 1))
    paths, stated = all_paths(EXP3(2, 0.5), losses), theorems.EXP3(2, 4, 0.5)
    assert stated.proof(paths).holds()
    for other, words in [
        (all_paths(EXP3IX(2, 0.5), losses), "EXP3 with the step"),
        (all_paths(EXP3(2, 0.6), losses), "EXP3 with the step"),
        (all_paths(EXP3(2, 0.5), 2 * losses), r"losses in \[0, 1\]"),
        (all_paths(EXP3(2, 0.5), losses[:3]), "4 rounds"),
    ]:
        with pytest.raises(ValueError, match=words):
            stated.proof(other)
    wrong = all_paths(EXP3IX(2, 0.5, 0.4), losses)
    with pytest.raises(ValueError, match="γ = η/2"):
        theorems.EXP3IX(2, 4, 0.5, 0.5).require(wrong)
    for delta in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="delta must be"):
            theorems.EXP3IX(2, 4, delta)


def test_an_adversary_that_sees_the_arms_breaks_the_bound():
    """Losses that follow the drawn arm: the regret against the best arm is no longer bounded by √T."""
    rng, T = np.random.default_rng(0), 400
    player, paid, totals = EXP3(2, theorems.EXP3(2, T).step).player(), 0.0, np.zeros(2)
    for _ in range(T):
        arm = int(rng.choice(2, p=player.predict()))
        loss = np.eye(2)[arm]  # the arm that was just drawn loses: not fixed in advance
        player.update(arm, loss[arm])
        paid, totals = paid + loss[arm], totals + loss
    assert paid - totals.min() > 2 * theorems.EXP3(2, T).bound


@pytest.mark.parametrize("learner", [EXP3(2, 0.6), EXP3IX(2, 0.6), EXP3(2, 2.0)])
@pytest.mark.parametrize("T", [4, 7, 8, 10])
def test_the_law_of_the_regret_is_that_of_all_paths(learner, T):
    values, law = switch_law(learner, T)
    paths = all_paths(learner, switch_losses(T))
    assert law.sum() == pytest.approx(1)
    for value, chance in zip(values, law, strict=True):
        assert chance == pytest.approx(paths.chances[np.isclose(paths.regrets, value)].sum(), abs=1e-12)


def test_luck_at_1200_rounds():
    T = 1200
    eta = theorems.EXP3(2, T).step
    values, law = switch_law(EXP3(2, eta), T)
    assert values @ law == pytest.approx(27.489, abs=0.001) and values @ law < theorems.EXP3(2, T).bound / 2
    assert law[values >= 0.45 * T].sum() == pytest.approx(0.0891, abs=0.0001)
    values, law = switch_law(EXP3IX(2, eta), T)
    assert law[values >= T / 4].sum() < 1e-11


def test_the_law_agrees_with_games_that_are_played():
    values, law = switch_law(EXP3(2, 0.2), 60)
    played = [play_bandit(EXP3(2, 0.2), switch_losses(60), seed).regret() for seed in range(1500)]
    assert np.mean(played) == pytest.approx(values @ law, abs=0.8)
    assert np.mean(np.array(played) >= 20) == pytest.approx(law[values >= 20].sum(), abs=0.04)


def pulls(a, b, T):
    """The expected draws of each arm by UCB1 on coins with chances a, b of a loss: a sum over all states."""
    states = {(0, 0, 0, 0): 1.0}
    for t in range(T):
        following: dict = {}
        for (n1, s1, n2, s2), chance in states.items():
            if t < 2:
                arm = t
            else:
                arm = int(s2 / n2 - np.sqrt(2 * np.log(t) / n2) < s1 / n1 - np.sqrt(2 * np.log(t) / n1))
            for lost in (0, 1):
                q = (a, b)[arm] if lost else 1 - (a, b)[arm]
                key = (n1 + 1, s1 + lost, n2, s2) if arm == 0 else (n1, s1, n2 + 1, s2 + lost)
                following[key] = following.get(key, 0.0) + chance * q
        states = following
    return np.array([sum(p * key[k] for key, p in states.items()) for k in (0, 2)])


def test_ucb1_stays_below_its_bound_exactly_on_two_coins():
    for a, b in ((0.2, 0.8), (0.5, 0.6), (0.0, 1.0)):
        gap, draws = b - a, pulls(a, b, 30)
        assert draws.sum() == pytest.approx(30)
        assert gap * draws[1] <= 8 * np.log(30) / gap + (1 + np.pi**2 / 3) * gap
    rng = np.random.default_rng(0)
    found = np.zeros(2)
    for _ in range(400):
        arms = play_bandit(UCB1(2), (rng.random((30, 2)) < [0.2, 0.8]).astype(float), seed=0).arms
        found += np.bincount(arms, minlength=2) / 400
    assert found == pytest.approx(pulls(0.2, 0.8, 30), abs=0.4)


def test_an_adversary_foresees_ucb1():
    """It is deterministic: the arm that it will draw loses 1, the other 0. Both are fixed in advance."""
    T, player, losses = 400, UCB1(2).player(), np.zeros((400, 2))
    for row in losses:
        arm = int(player.predict().argmax())
        row[arm] = 1.0
        player.update(arm, 1.0)
    assert play_bandit(UCB1(2), losses, seed=0).regret() >= T / 2
    assert all(theorems.EXP3(2, t).bound < t / 2 for t in range(12, 401))


def test_full_information_pays_less():
    """EXP3's bound is Hedge's √(T ln(n)/2) times 2√n."""
    for n, T in product((2, 5, 10), (10, 1000)):
        assert theorems.EXP3(n, T).bound == pytest.approx(2 * np.sqrt(n) * theorems.Hedge(n, T).bound)
    assert Hedge(2, 1.0)  # the learner of that bound


def test_ucb1_by_hand():
    """Mean minus √(2 ln(t − 1)/draws), the first of equal ones; other constants draw other arms."""
    losses = np.random.default_rng(1).random((300, 4))

    def arms(constant):
        seen = [[] for _ in range(4)]
        drawn = []
        for t, row in enumerate(losses):
            index = [np.mean(s) - np.sqrt(constant * np.log(t) / len(s)) if s else -np.inf for s in seen]
            drawn.append(int(np.argmin(index)))
            seen[drawn[-1]].append(row[drawn[-1]])
        return drawn

    assert play_bandit(UCB1(4), losses, seed=0).arms.tolist() == arms(2.0)
    assert arms(1.9) != arms(2.0) != arms(2.1)


class Saying:
    """A bandit learner of your own, without `copy`, whose player always says the same probabilities."""

    n = 2

    def __init__(self, probabilities):
        self.probabilities = probabilities

    def player(self):
        return self

    def predict(self):
        return self.probabilities

    def update(self, arm, loss):
        pass


def test_a_bandit_learner_of_your_own_needs_only_n_and_player():
    losses = np.tile([1.0, 0.0], (4, 1))
    paths = all_paths(Saying([0.25, 0.75]), losses)
    assert len(paths.arms) == 16 and paths.mean(paths.regrets) == pytest.approx(1.0)
    assert play_bandit(Saying([0.0, 1.0]), losses, seed=0).regret() == 0.0


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: EXP3(1, 0.1), "n must be an integer ≥ 2"),
        (lambda: EXP3(2, 0.0), "eta must be"),
        (lambda: EXP3IX(2, 0.1, -1), "gamma must be"),
        (lambda: UCB1(1), "n must be an integer ≥ 2"),
        (lambda: play_bandit(EXP3(2, 0.1), [1.0, 0.0], 0), "losses must have 2 axes"),
        (lambda: play_bandit(EXP3(2, 0.1), np.ones((4, 3)), 0), "losses must have 2 entries"),
        (lambda: play_bandit(EXP3, np.ones((4, 2)), 0), "such as UCB1\\(2\\), got the class EXP3"),
        (lambda: play_bandit(Saying([0.5]), np.ones((4, 2)), 0), "return 2 probabilities with sum 1, got"),
        (lambda: all_paths(Saying([0.5, 0.6]), np.ones((4, 2))), "return 2 probabilities with sum 1, got"),
        (lambda: all_paths(EXP3(3, 0.1), np.ones((4, 2))), "losses must have 3 entries"),
        (lambda: switch_law(EXP3(3, 0.1), 8), "learner must be EXP3"),
        (lambda: switch_law(UCB1(2), 8), "learner must be EXP3"),
        (lambda: switch_losses(3), "T must be an integer ≥ 4"),
    ],
)
def test_wrong_arguments_are_refused_by_name(made, words):
    with pytest.raises(ValueError, match=words):
        made()


def test_the_first_arm_is_right_for_a_whole_quarter_of_the_game():
    for T, quarter in ((4, 1), (6, 1), (7, 1), (8, 2), (11, 2)):
        assert switch_losses(T).tolist() == [[0.0, 1.0]] * quarter + [[1.0, 0.0]] * (T - quarter)


def test_a_bandit_has_two_arms_and_its_losses_two_axes():
    for make in (lambda: EXP3(1, 0.5), lambda: EXP3IX(1, 0.5), lambda: UCB1(1)):
        with pytest.raises(ValueError, match="n must be"):
            make()
    with pytest.raises(ValueError, match="losses must have 2 axes"):
        all_paths(EXP3(2, 0.5), np.zeros((1, 3, 2)))
    paths = all_paths(EXP3(2, 0.5), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="of must have 1 axis"):
        paths.mean(np.zeros((2, 4)))
