"""Compute the worst case of the last iterate of descent by a semidefinite program, with an exact certificate.

Descent plays x_{k+1} = x_k − h_k·g_k for k = 1, …, N, where g_k is a subgradient of one convex f at x_k with
‖g_k‖ ≤ 1. The comparator u satisfies ‖x_1 − u‖ ≤ R, and the dimension is arbitrary. `worst` returns the
largest possible f(x_{N+1}) − f(u), up to the accuracy of a solver. For linearly decreasing steps,
h_k = (N + 1 − k)/(N + 1) with R² = N + 1, this number is 1: `certificate(N)` returns multipliers that prove
the bound, and `prove` checks such multipliers in exact fractions.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ocolab.certificates import Refused, psd
from ocolib import validate

#: {(j, k): multiplier of the condition f(x_j) ≥ f(x_k) + ⟨g_k, x_j − x_k⟩}, where x_0 stands for u
Multipliers = Mapping[tuple[int, int], Fraction]


def worst(steps: Sequence[float], radius: float = 1.0) -> float:
    """Return the largest f(x_{N+1}) − f(u) over all convex f with subgradients of norm at most 1.

    `steps` are h_1, …, h_N > 0, and `radius` is the bound R on ‖x_1 − u‖. This is a performance estimation
    problem: the unknowns are the Gram matrix of x_1 − u, g_1, …, g_{N+1} and the values of f at u and the
    x_k, which must satisfy the subgradient inequalities. Conversely, if they do, the convex function
    max_k f(x_k) + ⟨g_k, · − x_k⟩ has these values at the x_k, where the g_k are subgradients, and is at most
    f(u) at u. Needs cvxpy.
    """
    import cvxpy as cp

    h, R = validate.positives("steps", steps), validate.positive("radius", radius)
    M = len(h) + 1
    basis = np.eye(M + 1)  # x_1 − u, g_1, …, g_M
    x = [np.zeros(M + 1), basis[0]]  # x_0 = u = 0
    for k in range(1, M):
        x.append(x[-1] - h[k - 1] * basis[k])
    G, f = cp.Variable((M + 1, M + 1), PSD=True), cp.Variable(M + 1)

    def inner(a: Any, b: Any) -> Any:
        return cp.sum(cp.multiply(0.5 * (np.outer(a, b) + np.outer(b, a)), G))

    asked = [f[0] == 0, G[0, 0] <= R**2, *(G[k, k] <= 1 for k in range(1, M + 1))]
    asked += [
        f[j] >= f[k] + inner(basis[k], x[j] - x[k]) for k in range(1, M + 1) for j in range(M + 1) if j != k
    ]
    problem = cp.Problem(cp.Maximize(f[M]), asked)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def linear_steps(N: int) -> list[Fraction]:
    """Return the linearly decreasing steps h_k = (N + 1 − k)/(N + 1), k = 1, …, N, which are for R² = N + 1.

    >>> [str(h) for h in linear_steps(3)]
    ['3/4', '1/2', '1/4']
    """
    M = validate.count("N", N) + 1
    return [Fraction(M - k, M) for k in range(1, M)]


def certificate(N: int) -> dict[tuple[int, int], Fraction]:
    """Return the multipliers {(j, k): number} that prove the bound 1 for `linear_steps(N)`.

    They follow from the averages of the proof: y_0 = u and y_k = (x_k + (M − k)·y_{k−1})/(M − k + 1), where
    M = N + 1. The subgradient inequality of g_k is used between x_k and y_k with weight 1/(M − k), and that
    of g_M between x_M and y_N with weight 1.

    >>> {key: str(x) for key, x in certificate(1).items()}
    {(0, 1): '1/2', (0, 2): '1/2', (1, 2): '1/2'}
    """
    M = validate.count("N", N) + 1
    shares, found = {0: Fraction(1)}, dict[tuple[int, int], Fraction]()
    for k in range(1, M):
        shares = {j: a * Fraction(M - k, M - k + 1) for j, a in shares.items()}
        shares[k] = Fraction(1, M - k + 1)
        found |= {(j, k): a / (M - k) for j, a in shares.items() if j != k}
    return found | {(j, M): a for j, a in shares.items()}


def prove(N: int, multipliers: Multipliers, steps: Sequence[Fraction] | None = None) -> Fraction:
    """Return the bound on f(x_{N+1}) − f(u) that the multipliers prove for R² = N + 1, or raise `Refused`.

    The constraints ‖x_1 − u‖² ≤ R² and ‖g_k‖² ≤ 1, k = 1, …, M = N + 1, have the multiplier 1/(2M) each. In
    the weighted sum of all conditions the values of f must add up to f(x_M) − f(u), and what remains must be
    a positive semidefinite quadratic form. `steps` are `linear_steps(N)` by default.

    >>> prove(3, certificate(3))
    Fraction(1, 1)
    """
    M = validate.count("N", N) + 1
    h = linear_steps(N) if steps is None else [Fraction(step) for step in steps]
    if len(h) != N:
        raise Refused(f"steps must have N = {N} entries, got {len(h)}")
    x: list[list[Fraction]] = [[Fraction(0)] * (M + 1)]
    x.append([Fraction(i == 0) for i in range(M + 1)])
    for k in range(1, M):
        x.append([a - h[k - 1] * (i == k) for i, a in enumerate(x[-1])])
    weight = Fraction(1, 2 * M)
    form = [[weight * (i == j) for j in range(M + 1)] for i in range(M + 1)]
    values = [Fraction(0)] * (M + 1)
    for (j, k), share in multipliers.items():
        if not (0 <= j <= M and 1 <= k <= M and j != k):
            raise Refused(f"there is no condition {(j, k)}")
        if share < 0:
            raise Refused(f"the multiplier of {(j, k)} is negative: {share}")
        values[k] += share
        values[j] -= share
        for i, (a, b) in enumerate(zip(x[j], x[k], strict=True)):  # + share·⟨g_k, x_j − x_k⟩
            form[i][k] += share * (a - b) / 2
            form[k][i] += share * (a - b) / 2
    wanted = [Fraction((k == M) - (k == 0)) for k in range(M + 1)]
    if values != wanted:
        raise Refused(f"the values of f do not add up to f(x_M) − f(u): {[str(v) for v in values]}")
    if not psd(form):
        raise Refused("the form that is left over takes negative values")
    return weight * M + weight * M
