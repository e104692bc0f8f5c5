"""Compute the certificates of `ocolab.bandits` with a linear program over histories, rounded to fractions.

Run `python -m ocolab.solve_bandits` to write `bandits.json` again.
"""

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np

from ocolab.bandits import NAMES, histories, verify

GAMES = (
    *((2, T) for T in range(1, 6)),
    *((3, T) for T in range(1, 6)),
    *((4, T) for T in range(1, 5)),
    *((5, T) for T in range(1, 4)),
)


def solve(n: int, T: int, denominator: int = 10**5) -> dict[str, Any]:
    """Find the minimax value of n arms and T rounds, with a learner and a mixture that prove it.

    The learner is described by its plan: r(h, a) is the probability that it draws the arms of the history h
    and then the arm a, if the losses are those of h. The expected loss on a matrix is linear in r, so the
    best guarantee is the value of a linear program, whose multipliers are the mixture. Arms are named by
    their first draw, which keeps the program small. HiGHS solves it in floats; its solution is rounded to
    fractions with denominators up to `denominator`, and `verify` decides whether they are a proof.

    Returns the certificate; raises `Refused` if the rounded numbers prove nothing.
    """
    plan = {(h, arm): 0 for h in histories(n, T) for arm in range(min(_seen(h) + 1, n))}
    plan = {key: place for place, key in enumerate(plan)}
    columns = ["".join(bits) for bits in product("01", repeat=T)]
    matrices = list(combinations_with_replacement(columns, n))
    fun, r, chances = _program(n, T, plan, matrices)
    learner = {}
    for h in histories(n, T):
        row = [r[plan[h, arm]] for arm in range(min(_seen(h) + 1, n))]
        fractions = [Fraction(float(x)).limit_denominator(denominator) for x in row]
        if sum(fractions) > 0:
            learner[h] = [str(x / sum(fractions)) for x in fractions]
    weights = [Fraction(float(max(x, 0.0))).limit_denominator(denominator) for x in chances]
    mixture = {"/".join(m): str(x / sum(weights)) for m, x in zip(matrices, weights, strict=True) if x}
    found = {
        "n": n,
        "T": T,
        "value": str(Fraction(float(fun)).limit_denominator(denominator)),
        "learner": learner,
        "mixture": mixture,
    }
    verify(found)
    return found


def _seen(history: str) -> int:
    """Return the number of different arms drawn in a history."""
    return len(set(history[::2]))


def _program(n, T, plan, matrices):
    """Solve the linear program "minimise v ≥ regret on every matrix" in floats: return (v, r, mixture)."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    many, rows = len(plan), []
    for matrix in matrices:
        cost: Counter = Counter()
        for order in permutations(matrix):
            level = [""]
            for t in range(T):
                following = []
                for h in level:
                    for arm in range(min(_seen(h) + 1, n)):
                        lost = order[arm][t]
                        cost[plan[h, arm]] += int(lost)
                        following.append(h + NAMES[arm] + lost)
                level = following
        rows.append({place: c / factorial(n) for place, c in cost.items() if c} | {many: -1.0})
    best = np.array([min(column.count("1") for column in matrix) for matrix in matrices])
    flow = []
    for h in histories(n, T):
        row = {plan[h, arm]: 1.0 for arm in range(min(_seen(h) + 1, n))}
        flow.append(row | ({plan[h[:-2], NAMES.index(h[-2])]: -1.0} if h else {}))
    start = np.zeros(len(flow))
    start[0] = 1.0

    def sparse(rows):
        entries = [(x, i, j) for i, row in enumerate(rows) for j, x in row.items()]
        values, i, j = zip(*entries, strict=True)
        return csr_matrix((values, (i, j)), shape=(len(rows), many + 1))

    goal = np.eye(many + 1)[many]
    bounds = [(0, None)] * many + [(None, None)]
    found = linprog(goal, sparse(rows), best, sparse(flow), start, bounds, method="highs-ds")
    return found.fun, found.x[:many], -found.ineqlin.marginals


def main() -> None:
    """Compute all certificates and write them to `bandits.json`."""
    found = []
    for n, T in GAMES:
        found.append(solve(n, T))
        print(n, T, found[-1]["value"], flush=True)
    text = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in found)
    Path(__file__).with_name("bandits.json").write_text(f"[\n{text}\n]\n", "utf8")


if __name__ == "__main__":
    main()
