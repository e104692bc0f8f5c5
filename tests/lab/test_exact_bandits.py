"""Exact values of tiny bandit games: both halves of each certificate are checked again, by other code."""

from copy import deepcopy
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import factorial

import pytest

from ocolab import bandits, exact, solve_bandits
from ocolab.certificates import Refused

STORED = bandits.stored()
VALUES = {
    (2, 1): "1/2",
    (2, 2): "1/2",
    (2, 3): "3/4",
    (2, 4): "33/40",
    (2, 5): "53/56",
    (3, 1): "2/3",
    (3, 2): "1",
    (3, 3): "10/9",
    (3, 4): "23/17",
    (3, 5): "700/471",
    (4, 1): "3/4",
    (4, 2): "5/4",
    (4, 3): "3/2",
    (4, 4): "47/28",
    (5, 1): "4/5",
    (5, 2): "7/5",
    (5, 3): "9/5",
}
SMALL = [game for game in VALUES if game[0] * game[1] <= 10]


@pytest.mark.parametrize("game", VALUES)
def test_a_stored_certificate_proves_its_value(game):
    assert str(bandits.value(*game)) == VALUES[game]


def test_what_is_stored_is_what_is_listed():
    assert set(STORED) == set(VALUES) == set(solve_bandits.GAMES)


# ---------------------------------------------------------------- once more, with names for the arms


def named(learner, n, arms, bits):
    """The probabilities of arms 0, …, n − 1 after a history of named arms."""
    order, history = [], ""
    for arm, bit in zip(arms, bits, strict=True):
        if arm not in order:
            order.append(arm)
        history += "abcde"[order.index(arm)] + str(bit)
    row = [Fraction(x) for x in learner[history]]
    fresh = [arm for arm in range(n) if arm not in order]
    p = dict(zip(order, row, strict=False))
    return [p[arm] if arm in p else row[len(order)] / len(fresh) for arm in range(n)]


def expected_regret(learner, n, losses):
    """The sum over all n^T sequences of arms, with their probabilities."""
    T, total = len(losses), Fraction(0)
    for path in product(range(n), repeat=T):
        chance = Fraction(1)
        for t in range(T):
            bits = [losses[s][path[s]] for s in range(t)]
            chance *= named(learner, n, path[:t], bits)[path[t]]
            if not chance:
                break
        total += chance * sum(losses[t][path[t]] for t in range(T))
    return total - min(map(sum, zip(*losses, strict=True)))


@pytest.mark.parametrize("game", [game for game in SMALL if game[0] * game[1] <= 8])
def test_the_learner_keeps_the_value_on_every_matrix(game):
    n, T = game
    found = [
        expected_regret(STORED[game]["learner"], n, losses)
        for losses in product(list(product((0, 1), repeat=n)), repeat=T)
    ]
    assert max(found) == Fraction(VALUES[game]) and len(found) == 2 ** (n * T)


def bayes(weights, n, T, t=0):
    """The least expected loss against weighted matrices (rows of losses), over all named arms."""
    if t == T or not weights:
        return Fraction(0)
    costs = []
    for arm in range(n):
        parts = [[(m, x) for m, x in weights if m[t][arm] == bit] for bit in (0, 1)]
        costs.append(sum((x for _, x in parts[1]), Fraction(0)) + sum(bayes(p, n, T, t + 1) for p in parts))
    return min(costs)


@pytest.mark.parametrize("game", SMALL)
def test_the_mixture_forces_the_value_on_every_learner(game):
    n, T = game
    weights, best = [], Fraction(0)
    for text, chance in STORED[game]["mixture"].items():
        columns = [tuple(map(int, column)) for column in text.split("/")]
        best += Fraction(chance) * min(map(sum, columns))
        for order in permutations(columns):
            weights.append((tuple(zip(*order, strict=True)), Fraction(chance) / factorial(n)))
    assert bayes(weights, n, T) - best == Fraction(VALUES[game])


@pytest.mark.parametrize("game", [(2, 3), (2, 5), (3, 3), (4, 2), (5, 2)])
def test_the_solver_finds_it_again(game):
    assert solve_bandits.solve(*game)["value"] == VALUES[game]


# ---------------------------------------------------------------- false certificates


def spoiled(**changes):
    certificate = deepcopy(STORED[2, 4])
    for part, change in changes.items():
        certificate[part] = change(certificate[part]) if callable(change) else change
    return certificate


def moved(learner):
    """Shift a hundredth of one probability that matters."""
    history = next(h for h, row in learner.items() if h and len(row) == 2 and "0" not in row)
    p, q = (Fraction(x) for x in learner[history])
    return learner | {history: [str(p - Fraction(1, 100)), str(q + Fraction(1, 100))]}


def tilted(mixture):
    first, second, *_ = mixture
    shift = min(Fraction(mixture[first]), Fraction(1, 100))
    return mixture | {
        first: str(Fraction(mixture[first]) - shift),
        second: str(Fraction(mixture[second]) + shift),
    }


FALSE = {
    "too small a value": (spoiled(value="32/40"), "the learner has regret 33/40"),
    "too large a value": (spoiled(value="34/40"), "some learner has regret 33/40 against the mixture"),
    "another learner": (spoiled(learner=moved), "the learner has regret"),
    "another mixture": (spoiled(mixture=tilted), "against the mixture, less than 33/40"),
    "probabilities above 1": (
        spoiled(learner=lambda p: p | {"a0": ["1", "1"]}),
        "after 'a0' the learner must have 2 probabilities",
    ),
    "a negative probability": (spoiled(learner=lambda p: p | {"a0": ["3/2", "-1/2"]}), "after 'a0'"),
    "a third arm": (spoiled(learner=lambda p: p | {"a0": ["1/2", "1/4", "1/4"]}), "after 'a0'"),
    "a history that cannot be": (spoiled(learner=lambda p: p | {"b0": ["1/2", "1/2"]}), "is no history"),
    "a history too long": (spoiled(learner=lambda p: p | {"a0a0a0a0": ["1", "0"]}), "is no history"),
    "half a round": (spoiled(learner=lambda p: p | {"a0a": ["1", "0"]}), "is no history"),
    "a history left out": (
        spoiled(learner=lambda p: {h: x for h, x in p.items() if h != "a1"}),
        "says nothing about the history 'a1'",
    ),
    "chances above 1": (spoiled(mixture=lambda q: q | {"0000/0000": "1/8"}), "add up to 1"),
    "a negative chance": (
        spoiled(mixture=lambda q: q | {"0000/0000": "1/8", "0000/0001": "-1/8"}),
        "must be at least 0",
    ),
    "no mixture": (spoiled(mixture={}), "add up to 1"),
    "a matrix of three arms": (spoiled(mixture={"0000/0000/1111": "1"}), "is no matrix of 2 arms"),
    "a matrix of three rounds": (spoiled(mixture={"000/111": "1"}), "is no matrix of 2 arms"),
    "losses of 2": (spoiled(mixture={"0000/0002": "1"}), "is no matrix of 2 arms"),
    "a float": (spoiled(value=0.825), "a number must be whole"),
    "no arms": (spoiled(n=0), "n and T must be whole numbers from 1 to 8, got 0 and 4"),
    "nine arms": (spoiled(n=9), "n and T must be whole numbers"),
    "nine rounds": (spoiled(T=9), "n and T must be whole numbers"),
    "a truth value": (spoiled(T=True), "n and T must be whole numbers"),
    "another game": (spoiled(T=5), "is no matrix of 2 arms"),
    "a part missing": ({"n": 2, "T": 1, "value": "1/2"}, "a certificate has"),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_certificate_is_refused(name):
    certificate, words = FALSE[name]
    with pytest.raises(Refused, match=words):
        bandits.verify(certificate)


def test_the_certificate_that_was_spoiled_is_right():
    assert bandits.verify(spoiled()) == Fraction(33, 40)


def test_rounding_at_random_keeps_the_value_on_fractions():
    """Two arms, two rounds, losses in thirds: on random bits the learner has regret at most ½."""
    learner = STORED[2, 2]["learner"]
    thirds = [Fraction(k, 3) for k in range(4)]
    for losses in product(thirds, repeat=4):
        total = Fraction(0)
        for bits in product((0, 1), repeat=4):
            chance = Fraction(1)
            for x, b in zip(losses, bits, strict=True):
                chance *= x if b else 1 - x
            if chance:
                game = [bits[:2], bits[2:]]
                paid = expected_regret(learner, 2, game) + min(map(sum, zip(*game, strict=True)))
                total += chance * paid  # the mean loss is that of the fractions
        assert total - min(losses[0] + losses[2], losses[1] + losses[3]) <= Fraction(1, 2)


# ---------------------------------------------------------------- what the page says of the table


@cache
def full(n, T):
    return exact.experts(n, T)


def test_not_seeing_costs_nothing_in_the_first_rounds_only():
    equal = [game for game in VALUES if bandits.value(*game) == full(*game)]
    assert equal == [(2, 1), (2, 2), (2, 3), (3, 1), (4, 1), (5, 1)]
    assert all(bandits.value(*game) >= full(*game) for game in VALUES)


def test_one_good_arm_is_the_worst_case_exactly_when_there_are_many_arms():
    for n, T in VALUES:
        if n >= T:
            assert bandits.value(n, T) >= bandits.needle(n, T)
    equal = [game for game in VALUES if game[1] <= game[0] and bandits.value(*game) == bandits.needle(*game)]
    many = [(n, T) for n, T in VALUES if n > T]
    assert equal == [*sorted([*many, (2, 2)])]
    with pytest.raises(ValueError, match="n must be at least T"):
        bandits.needle(2, 3)


def test_the_needle_is_forced_by_its_mixture():
    for n, T in ((2, 2), (3, 2), (4, 3), (5, 4)):
        mixture = {("0" * T, *["1" * T] * (n - 1)): Fraction(1)}
        assert bandits.forced(n, T, mixture) == bandits.needle(n, T)


def simple(history):
    """Stay after a win; toss after a first loss; leave an arm that lost twice, else stay."""
    if not history:
        return ["1"]
    if history[-1] == "0":
        last = history[-2]
        return ["1", "0"] if last == "a" else ["0", "1"]
    if len(history) == 2:
        return ["1/2", "1/2"]
    return {
        "a1a1": ["0", "1"],
        "a1b1": ["0", "1"],
        "a0a1": ["1/2", "1/2"],
    }[history]


def test_a_rule_for_three_rounds_that_one_can_remember():
    learner = {
        h: [Fraction(x) for x in simple(h)] for h in bandits.histories(2, 3) if h != "a0b0" and h != "a0b1"
    }
    assert bandits.guaranteed(2, 3, learner) == Fraction(3, 4)


def test_values_that_are_not_stored_are_refused():
    with pytest.raises(ValueError, match=r"\(n, T\) must be one of \(2, 1\)"):
        bandits.value(2, 99)
    with pytest.raises(ValueError, match="n must be an integer"):
        bandits.value(2.0, 1)


def test_all_that_is_solved_is_written_a_line_each(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(solve_bandits, "__file__", str(tmp_path / "solve_bandits.py"))
    monkeypatch.setattr(solve_bandits, "GAMES", ((2, 1), (2, 2)))
    monkeypatch.setattr(solve_bandits, "solve", lambda n, T: {"value": f"{n}/{T}", "n": n})
    solve_bandits.main()
    text = (tmp_path / "bandits.json").read_text("utf8")
    assert text == '[\n{"value":"2/1","n":2},\n{"value":"2/2","n":2}\n]\n'
    assert capsys.readouterr().out == "2 1 2/1\n2 2 2/2\n"
