"""Compute the certificates of `ocolab.certificates`: run `python -m ocolab.certify` to write them again.

Where a proof is known in closed form, its fractions are used directly. Elsewhere a barrier method searches
for multipliers λ: it minimises

    Σ λb − μ·log det M(λ) − μ·Σ log λ,      M(λ) = Σ λA − C,

for smaller and smaller μ. The last iterate proves both bounds. At the minimum, G = μ·M⁻¹ satisfies
A • G = b − μ/λ < b for every condition; M ≻ 0 proves the upper bound, G ≻ 0 is a game that proves the lower
bound, and the two differ by μ·(size of M + number of conditions). All inequalities are strict, so they
survive rounding to enough digits, and `ocolab.certificates` checks the rounded numbers exactly. The search
needs extended precision, because M is nearly singular at the end.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np

from ocolab import certificates
from ocolab.certificates import Descent, Refused, certificate, decimal

FILE = Path(__file__).with_name("certificates.json")
WIDTH = 5e-7  # of an enclosure before rounding, in units of Rρ
REAL = np.longdouble


def cholesky(M):
    """Return L with LLᵀ = M in extended precision, or None if M is not positive definite."""
    A, n = M.copy(), len(M)
    for k in range(n):
        if not A[k, k] > 0:
            return None
        A[k:, k] /= np.sqrt(A[k, k])
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k + 1 :, k])
    return np.tril(A)


def solve(L, B):
    """Return (LLᵀ)⁻¹B by forward and backward substitution."""
    X = np.array(B, dtype=REAL)
    for k in range(len(L)):
        X[k] = (X[k] - L[k, :k] @ X[:k]) / L[k, k]
    for k in reversed(range(len(L))):
        X[k] = (X[k] - L[k + 1 :, k] @ X[k + 1 :]) / L[k, k]
    return X


def matrices(problem):
    """Return (names, A, b, C) in extended precision: A[i] • G ≤ b[i] is condition i, and C • G the regret."""
    n = len(problem.vectors())

    def dense(form):
        M = np.zeros((n, n), dtype=REAL)
        for (i, j), x in form.items():
            M[i, j] += REAL(x.numerator) / REAL(x.denominator) / 2
            M[j, i] += REAL(x.numerator) / REAL(x.denominator) / 2
        return M

    conditions = problem.conditions()
    A = np.array([dense({k: Fraction(x) for k, x in form.items()}) for form, _, _ in conditions.values()])
    b = np.array([REAL(x.numerator) / REAL(x.denominator) for _, _, x in conditions.values()])
    return list(conditions), A, b, dense({k: Fraction(x) for k, x in problem.objective().items()})


def central_path(problem, gap):
    """Return (names, multipliers, Gram matrix) on the central path, where the two bounds differ by `gap`."""
    names, A, b, C = matrices(problem)
    size, flat = len(C), A.reshape(len(A), -1)
    x = np.array([0.01 if name[0] == "p" else 10.0 * problem.T for name in names], dtype=REAL)
    mu, last = REAL(1), REAL(gap) / (size + len(A))
    while True:
        for _ in range(60):
            L = cholesky(np.tensordot(x, A, 1) - C)
            G = mu * solve(L, np.eye(size))
            AG = A @ G
            gradient = (b - flat @ G.ravel() - mu / x) * x  # with respect to log λ: every λ has its own scale
            products = AG.transpose(0, 2, 1).reshape(len(A), -1)
            hessian = np.outer(x, x) * (AG.reshape(len(A), -1) @ products.T) / mu + mu * np.eye(len(A))
            step = -solve(cholesky(hessian), gradient)
            decrement = np.sqrt(max(-gradient @ step / mu, 0))
            length = REAL(1) if decrement < 0.2 else 1 / (1 + decrement)
            while (trial := x * (1 + length * step)).min() <= 0 or cholesky(
                np.tensordot(trial, A, 1) - C
            ) is None:
                length /= 2
            x = trial
            if decrement < 1e-5:
                break
        if mu <= last:
            return names, x, mu * solve(cholesky(np.tensordot(x, A, 1) - C), np.eye(size))
        mu = max(mu / 4, last)


def rounded(x, digits):
    """Round x to this many decimals and return it as text."""
    return decimal(round(Fraction(*x.as_integer_ratio()) * 10**digits) / Fraction(10**digits), False, digits)


def enclosure(problem, unit=1.0):
    """Search for a certificate of width at most 2·WIDTH·unit and return it.

    The numbers get 7 to 17 decimals: first the fewest for which the multipliers are accepted, then the fewest
    for the Gram matrix.
    """
    game = Descent(**problem | {"size2": problem["size2"][0]})
    names, x, G = central_path(game, WIDTH * unit)

    def proof(digits):
        listed = {name: rounded(value, digits) for name, value in zip(names, x, strict=True)}
        return {name: value for name, value in listed.items() if value != "0"}

    def gram(digits):
        return [[rounded(G[i, j], digits) for j in range(i + 1)] for i in range(len(G))]

    def accepted(check, made):
        for candidate in map(made, range(7, 18)):
            with suppress(Refused):
                yield candidate, check(game, candidate)

    for multipliers, high in accepted(certificates.upper, proof):
        for table, low in accepted(certificates.lower, gram):
            if high - low <= 2 * WIDTH * unit:
                return certificate(problem, multipliers, [table])
    raise RuntimeError(f"no certificate of width ≤ {2 * WIDTH * unit:g} was found for {game}")


# ---------------------------------------------------------------- proofs known in closed form, η = ρ = 1


def textbook(T, projection, ratio=1):
    """Return the multipliers of the textbook proof against the point `ratio`·u of S instead of u.

    With ratio 1 they are ½ for each ‖z_t‖² ≤ ρ² and for ‖u‖², and 1 for the projections. A smaller
    ratio = T/R is for steps so short that T of them do not reach the boundary: the remaining term
    ⟨Z_T, (ratio − 1)u⟩ is bounded by the lengths of the z_t and of u, which adds to their multipliers.
    """
    R = T / Fraction(ratio)
    proof = {f"gradient z{t}": Fraction(1, 2) + (R - T) / 2 for t in range(1, T + 1)}
    proof["distance w1 u"] = Fraction(ratio) / 2
    for t in range(2, T + 1):
        if projection == "lazy" and t < T:
            proof[f"projection w{t} w{t + 1}"] = Fraction(1)
        else:
            proof[f"projection w{t} u"] = Fraction(ratio)
            proof[f"projection w{t} w1"] = 1 - Fraction(ratio)
    return {name: str(x) for name, x in proof.items() if x}


def walk(T, inner, reach=None):
    """Return the Gram matrix of a game without projections: w_t = −Z_{t−1} and u = −reach·Z_T.

    `inner(s, t)` returns ⟨Z_s, Z_t⟩; `reach` is 1 by default.
    """
    rows: list[dict] = [{t: 1, t - 1: -1} for t in range(1, T + 1)] + [{t: -1} for t in range(1, T)]
    rows += [{T: Fraction(-1 if reach is None else -reach)}]

    def entry(a, b):
        return str(sum(x * y * inner(s, t) for s, x in a.items() for t, y in b.items()))

    return [[entry(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]


def simplex(s, t):
    """Return ⟨Z_s, Z_t⟩ if 0, Z_1, …, Z_T are the vertices of a regular simplex with edges of length 1."""
    return Fraction(s > 0 and t > 0) * Fraction(1 + (s == t), 2)


def straight(s, t):
    """Return ⟨Z_s, Z_t⟩ if all z_t are the same unit vector."""
    return Fraction(s * t)


# ---------------------------------------------------------------- all certificates


def closed_forms():
    """Yield (name, certificate) for every problem whose proof is known in closed form."""
    for T in range(1, 11):
        for projection in ("lazy", "eager"):
            for within in ("ball", "diameter"):
                ends = [(1, simplex), (T**2, straight)][: 1 if T == 1 else 2]
                problem = data(T, 1, [size for size, _ in ends], projection, within)
                grams = [walk(T, inner) for _, inner in ends]
                name = f"range, {projection}, {within}, T = {T}"
                yield name, certificate(problem, textbook(T, projection), grams)
            if T > 1:
                problem = data(T, 1, [4 * T**2], projection)
                grams = [walk(T, straight, reach=2)]
                name = f"short steps, {projection}, T = {T}"
                yield name, certificate(problem, textbook(T, projection, Fraction(1, 2)), grams)


def searched():
    """Yield (name, problem, Rρ in the problem's units) for every problem that needs a search."""
    for T in range(3, 11):
        for eta in (Fraction(n, 4) for n in (5, 6, 8, 12, 20)):
            for projection in ("lazy", "eager"):
                problem = data(T, 1, [1 / eta**2], projection)
                yield f"long steps, {projection}, ηρ/R = {eta}, T = {T}", problem, 1 / float(eta)
    for T in range(2, 11):
        for within in ("ball", "diameter"):
            problem = data(T, [Fraction(1, t) for t in range(1, T)], [1], "eager", within)
            yield f"schedule 1/√t, {within}, T = {T}", problem, 1.0
    for delay in (1, 2):
        for T in range(delay + 2, 11):
            problem = data(T, Fraction(1, (delay + 1) * T), [1]) | {"delay": delay}
            yield f"delay {delay}, T = {T}", problem, 1.0


def data(T, eta2, size2, projection="lazy", within="ball"):
    """Return the arguments of `Descent` as JSON data; `size2` lists one value or the two ends of a range."""
    eta2 = [str(x) for x in eta2] if isinstance(eta2, list) else str(eta2)
    size2 = [str(x) for x in size2]
    return {"T": T, "eta2": eta2, "size2": size2, "projection": projection, "within": within}


def main():
    """Compute all certificates and write them to `certificates.json`."""
    if np.finfo(REAL).eps > 1e-18:
        sys.exit("certify needs extended precision: run it where np.longdouble has 80 bits, as on x86")
    found = dict(closed_forms())
    with ProcessPoolExecutor() as pool:
        jobs = {name: pool.submit(enclosure, problem, unit) for name, problem, unit in searched()}
        for name, job in jobs.items():
            found[name] = job.result()
            print(name, flush=True)
    lines = [
        json.dumps({name: value}, ensure_ascii=False, separators=(",", ":"))[1:-1]
        for name, value in found.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf8")
    print(f"{len(found)} certificates, {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
