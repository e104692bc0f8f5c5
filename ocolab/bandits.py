"""Verify exact minimax values of small bandit games, given as certificates in exact fractions.

In the game with N arms and T rounds the losses are 0 or 1 and fixed in advance, and the learner sees only the
loss of the arm that it draws. A certificate has two halves. A *learner* (the probabilities of the next arm
after each history) has expected regret at most the value on every matrix of losses. A *mixture* of matrices
forces at least that value on every learner, even on the best reply, which knows the mixture. `verify` checks
both with the standard library and without rounding, and raises `Refused` if one of them fails.
`ocolab.solve_bandits` finds the certificates.

Neither half depends on how the arms are named. A learner calls them a, b, c, … in the order in which it first
draws them, and draws a new arm uniformly from those that are left; "a1b0" is the history in which the first
arm had loss 1 and then another arm had loss 0. A mixture lists matrices with their probabilities. A matrix is
written by its columns, one per arm with one bit per round ("01/11/10" has three arms and two rounds), and the
columns are shuffled uniformly before the game.
"""

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import combinations_with_replacement, permutations, product
from math import factorial, lcm
from typing import Any, TypeAlias

from ocolab.certificates import Refused, number
from ocolib import validate

NAMES = "abcdefghijklmnopqrstuvwxyz"
#: {history: probabilities of the arms drawn so far, in order, and then of a new arm, if there is one}
Learner: TypeAlias = Mapping[str, list[Fraction]]
#: {columns of a matrix: probability}
Mixture: TypeAlias = Mapping[tuple[str, ...], Fraction]


def stored() -> dict[tuple[int, int], dict[str, Any]]:
    """Load the certificates that ship with the package, {(N, T): certificate}."""
    text = files("ocolab").joinpath("bandits.json").read_text("utf8")
    return {(entry["n"], entry["T"]): entry for entry in json.loads(text)}


def value(n: int, T: int) -> Fraction:
    """Return the minimax expected regret of n arms over T rounds, as a fraction.

    It is read from a stored certificate, which is verified first. A `ValueError` lists the pairs (n, T) that
    are available.

    >>> str(value(2, 4)), str(value(3, 3))
    ('33/40', '10/9')
    """
    return _value(validate.count("n", n), validate.count("T", T))


@cache
def _value(n: int, T: int) -> Fraction:
    """Verify the stored certificate of (n, T) once and return its value."""
    found = stored().get((n, T))
    if found is None:
        known = ", ".join(f"({a}, {b})" for a, b in sorted(stored()))
        raise ValueError(f"(n, T) must be one of {known}, got {(n, T)}")
    return verify(found)


def verify(certificate: Mapping[str, Any]) -> Fraction:
    """Return the value that a certificate proves; raise `Refused` with the reason if it proves none.

    >>> str(verify(stored()[2, 4]))
    '33/40'
    """
    n, T, claim, learner, mixture = read(certificate)
    worst = guaranteed(n, T, learner)
    if worst > claim:
        raise Refused(f"the learner has regret {worst} on some matrix, more than {claim}")
    least = forced(n, T, mixture)
    if least < claim:
        raise Refused(f"some learner has regret {least} against the mixture, less than {claim}")
    return claim


def read(certificate: Mapping[str, Any]) -> tuple[int, int, Fraction, Learner, Mixture]:
    """Return (n, T, value, learner, mixture) of a certificate, after checking shapes and probabilities."""
    if not isinstance(certificate, Mapping) or set(certificate) != {"n", "T", "value", "learner", "mixture"}:
        raise Refused("a certificate has n, T, value, learner and mixture, and nothing else")
    n, T = certificate["n"], certificate["T"]
    if not all(isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= 8 for k in (n, T)):
        raise Refused(f"n and T must be whole numbers from 1 to 8, got {str(n)[:20]} and {str(T)[:20]}")
    learner = {h: [number(x) for x in row] for h, row in certificate["learner"].items()}
    for history, row in learner.items():
        seen = _seen(history, n, T)
        if len(row) != min(seen + 1, n) or min(row) < 0 or sum(row) != 1:
            raise Refused(
                f"after {history!r} the learner must have {min(seen + 1, n)} probabilities, at least 0 and "
                "with sum 1, one for each arm drawn so far and one for a new arm, if there is one"
            )
    mixture = {tuple(m.split("/")): number(x) for m, x in certificate["mixture"].items()}
    for matrix in mixture:
        if len(matrix) != n or any(len(column) != T or set(column) - {"0", "1"} for column in matrix):
            raise Refused(f"{'/'.join(matrix)!r} is no matrix of {n} arms and {T} rounds")
    if not mixture or min(mixture.values()) < 0 or sum(mixture.values()) != 1:
        raise Refused("the probabilities of the mixture must be at least 0 and add up to 1")
    return n, T, number(certificate["value"]), learner, mixture


def _seen(history: str, n: int, T: int) -> int:
    """Return the number of different arms drawn in a history such as "a1b0"."""
    arms, bits = history[::2], history[1::2]
    seen = 0
    for arm, bit in zip(arms, bits, strict=False):
        seen = max(seen, NAMES.find(arm) + 1) if arm in NAMES[: min(seen + 1, n)] and bit in "01" else 99
    if len(arms) != len(bits) or len(arms) >= T or seen > n:
        raise Refused(f"{history!r} is no history of {n} arms before round {T}")
    return seen


# ---------------------------------------------------------------- the learner


def guaranteed(n: int, T: int, learner: Learner) -> Fraction:
    """Return the largest expected regret of the learner over all matrices of binary losses.

    The learner does not depend on the names of the arms, so matrices that differ only in the order of their
    columns give the same regret, and one of them is tried.
    """
    columns = ["".join(bits) for bits in product("01", repeat=T)]
    whole = _whole(n, learner)
    return max(_regret(*whole, matrix) for matrix in combinations_with_replacement(columns, n))


def regret(learner: Learner, matrix: tuple[str, ...]) -> Fraction:
    """Return the expected regret of the learner on one matrix of losses, given by its columns.

    >>> shift = {"": [Fraction(1)], "a0": [Fraction(1), Fraction(0)], "a1": [Fraction(0), Fraction(1)]}
    >>> str(regret(shift, ("00", "11")))
    '1/2'
    """
    return _regret(*_whole(len(matrix), learner), matrix)


def _whole(n: int, learner: Learner) -> tuple[int, dict[str, list[int]]]:
    """Return D and D times the probabilities, all integers that up to n new arms can share evenly."""
    D = lcm(*range(1, n + 1), *(x.denominator for row in learner.values() for x in row)) * factorial(n)
    return D, {history: [int(x * D) for x in row] for history, row in learner.items()}


def _regret(D: int, learner: dict[str, list[int]], matrix: tuple[str, ...]) -> Fraction:
    """Return the expected regret of a learner whose probabilities are multiplied by D."""
    n, T = len(matrix), len(matrix[0])

    def to_come(history: str, order: tuple[int, ...]) -> int:
        """Return D^(T − t) times the expected loss after a history; `order` lists the columns drawn."""
        t = len(history) // 2
        if t == T:
            return 0
        if history not in learner:
            raise Refused(f"the learner says nothing about the history {history!r}, which can occur")
        total, unit = 0, D ** (T - t - 1)
        for arm, chance in enumerate(learner[history]):
            if chance:
                new = [k for k in range(n) if k not in order] if arm == len(order) else [order[arm]]
                for k in new:
                    lost = matrix[k][t]
                    after = order if arm < len(order) else (*order, k)
                    ahead = to_come(history + NAMES[arm] + lost, after)
                    total += chance // len(new) * (int(lost) * unit + ahead)
        return total

    return Fraction(to_come("", ()), D**T) - min(column.count("1") for column in matrix)


# ---------------------------------------------------------------- the mixture


def forced(n: int, T: int, mixture: Mixture) -> Fraction:
    """Return the smallest expected regret of any learner against the mixture, by backward induction.

    The columns are shuffled, so all arms that were not drawn yet are alike, and it suffices to consider
    learners that draw them in the order 1, 2, 3, ….
    """
    possible: list[tuple[tuple[str, ...], Fraction]] = []
    for matrix, chance in mixture.items():
        possible += [(order, chance / factorial(n)) for order in permutations(matrix)]

    def to_come(possible: list[tuple[tuple[str, ...], Fraction]], t: int, seen: int) -> Fraction:
        """Return the smallest expected loss times the probability of this history."""
        if t == T or not possible:
            return Fraction(0)
        costs = []
        for arm in range(min(seen + 1, n)):
            right = [(m, x) for m, x in possible if m[arm][t] == "0"]
            wrong = [(m, x) for m, x in possible if m[arm][t] == "1"]
            after = max(seen, arm + 1)
            cost = sum((x for _, x in wrong), Fraction(0))
            costs.append(cost + to_come(right, t + 1, after) + to_come(wrong, t + 1, after))
        return min(costs)

    best = sum(x * min(column.count("1") for column in m) for m, x in mixture.items())
    return to_come(possible, 0, 0) - best


def histories(n: int, T: int) -> Iterator[str]:
    """Yield all histories of n arms before round T, shortest first.

    >>> list(histories(2, 2))
    ['', 'a0', 'a1']
    """
    level = [""]
    for t in range(T):
        yield from level
        if t < T - 1:
            level = [
                history + arm + bit
                for history in level
                for arm in NAMES[: min(_seen(history, n, T) + 1, n)]
                for bit in "01"
            ]


def needle(n: int, T: int) -> Fraction:
    """Return a lower bound on the minimax regret for T ≤ n: the regret forced by one arm with loss 0.

    All other arms have loss 1, and the good arm is chosen uniformly at random. A learner that has drawn only
    bad arms knows nothing about the others, so after t rounds it has found the good one with probability at
    most t/n. Its expected loss is therefore at least Σ (1 − t/n) = T − T(T + 1)/(2n), and the best arm has
    loss 0.

    >>> str(needle(3, 3))
    '1'
    """
    n, T = validate.count("n", n), validate.count("T", T)
    if n < T:
        raise ValueError(f"n must be at least T = {T}, got {n}; the bound needs T ≤ n")
    return T - Fraction(T * (T + 1), 2 * n)
