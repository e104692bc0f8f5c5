"""Compute the worst case of the last iterate of descent by a semidefinite program, with an exact certificate.

x_{k+1} = x_k − h_k·g_k for k = 1, …, N, g_k a subgradient of one convex f at x_k with ‖g_k‖ ≤ 1, and a
comparator u with ‖x_1 − u‖ ≤ R, in any dimension. `worst` is the largest f(x_{N+1}) − f(u), up to the
accuracy of a solver. `certificate(N)` has the multipliers that prove it for linearly falling steps, and
`prove` checks such multipliers in fractions: with R² = N + 1 the steps are h_k = (N + 1 − k)/(N + 1), and
the bound is 1.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ocolab.certificates import Refused, psd
from ocolib import validate

#: (j, k): the condition f(x_j) ≥ f(x_k) + ⟨g_k, x_j − x_k⟩, where x_0 stands for u
Multipliers = Mapping[tuple[int, int], Fraction]


def worst(steps: Sequence[float], radius: float = 1.0) -> float:
    """Return the largest f(x_{N+1}) − f(u) over all convex f with subgradients of length at most 1.

    Performance estimation: unknown are the Gram matrix of x_1 − u, g_1, …, g_{N+1} and the values of f at
    these points. Conversely max_k f(x_k) + ⟨g_k, · − x_k⟩ is a function with these values and subgradients.
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
    """Return h_k = (N + 1 − k)/(N + 1), k = 1, …, N: the steps for R² = N + 1."""
    M = validate.count("N", N) + 1
    return [Fraction(M - k, M) for k in range(1, M)]


def certificate(N: int) -> dict[tuple[int, int], Fraction]:
    """Return the multipliers of the conditions (j, k), read off the averages y_k of the proof.

    y_0 = u and y_k = (x_k + (M − k)·y_{k−1})/(M − k + 1). Subgradient g_k is used between x_k and y_k, with
    weight 1/(M − k), and g_M between x_M and y_N, with weight 1.
    """
    M = validate.count("N", N) + 1
    shares, found = {0: Fraction(1)}, dict[tuple[int, int], Fraction]()
    for k in range(1, M):
        shares = {j: a * Fraction(M - k, M - k + 1) for j, a in shares.items()}
        shares[k] = Fraction(1, M - k + 1)
        found |= {(j, k): a / (M - k) for j, a in shares.items() if j != k}
    return found | {(j, M): a for j, a in shares.items()}


def prove(N: int, multipliers: Multipliers, steps: Sequence[Fraction] | None = None) -> Fraction:
    """Return the bound on f(x_{N+1}) − f(u) that the multipliers prove, for R² = N + 1; else raise `Refused`.

    ‖x_1 − u‖² ≤ R² has the multiplier 1/(2M), and ‖g_k‖² ≤ 1 has 1/(2M). The conditions, each with its
    multiplier, must add up to f(x_M) − f(u) as far as values go, and the rest of the sum must be a form
    that is never negative.

    >>> prove(3, certificate(3))
    Fraction(1, 1)
    """
    M = validate.count("N", N) + 1
    h = linear_steps(N) if steps is None else [Fraction(step) for step in steps]
    if len(h) != N:
        raise Refused(f"there must be {N} steps, got {len(h)}")
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
