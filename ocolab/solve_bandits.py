"""Find the certificates of `ocolab.bandits`: a linear program over histories, then fractions.

`python -m ocolab.solve_bandits` writes `bandits.json` again.
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
    """Find the minimax value of n arms and T rounds with a learner and a mixture that prove it.

    The learner is a plan: r(h, a) is the probability that it draws the arms of the history h and then a, if
    the losses are those of h. Its expected loss on a matrix is linear in r, so the best guarantee is a linear
    program, and its multipliers are the mixture. Arms are named by their first draw, which makes the program
    small. HiGHS solves it in floats; the fractions nearest to its vertices are handed to `verify`, which
    decides.
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
    return len(set(history[::2]))


def _program(n, T, plan, matrices):
    """Return (value, r, chances) in floats: the smallest v that bounds the regret on every matrix."""
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
    """Write all certificates."""
    found = []
    for n, T in GAMES:
        found.append(solve(n, T))
        print(n, T, found[-1]["value"], flush=True)
    text = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in found)
    Path(__file__).with_name("bandits.json").write_text(f"[\n{text}\n]\n", "utf8")


if __name__ == "__main__":
    main()
