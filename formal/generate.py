"""Turn the stored certificates into Coq files: `python formal/generate.py FOLDER`.

Only data are written: the numbers of `ocolab/certificates.json`, a witness that each matrix is positive
semidefinite, and for each certificate a theorem whose proof is one computation. Nothing written here has to
be believed: Coq checks it against the definitions of `Game.v`.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt, lcm
from pathlib import Path
from typing import Any, TypeAlias

from ocolab import certificates as cert

#: linear combination {place: coefficient}; form [(coefficient, place, place)]
Lin: TypeAlias = dict[int, int]
Form: TypeAlias = list[tuple[int, int, int]]
Whole: TypeAlias = list[list[int]]
#: s and squares (d, v) with s·M = Σ d·v·vᵀ + a diagonally dominant rest; v begins at its own row
Witness: TypeAlias = tuple[int, list[tuple[int, list[int]]]]

PER_FILE = 24


class Vectors:
    """Number the vectors of a game as `Upper.v` does."""

    def __init__(self, problem: cert.Descent):
        self.p, self.T, self.delay = problem, problem.T, problem.delay
        self.count = self.T + max(self.T - self.delay - 1, 0) + 1

    def z(self, t: int) -> Lin:
        return {t - 1: 1}

    def corner(self, name: str) -> Lin:
        if name == "u":
            return {self.count - 1: 1}
        t = int(name[1:])
        return {} if t <= self.delay + 1 else {self.T + t - self.delay - 2: 1}

    def start(self, t: int) -> Lin:
        return self.corner(f"w{t - 1}") if self.p.projection == "eager" else {}

    def heard(self, t: int) -> Lin:
        return self.z(t - 1) if self.p.projection == "eager" else dict.fromkeys(range(t - 1 - self.delay), 1)


def minus(a: Lin, b: Lin) -> Lin:
    """Return a − b."""
    return {i: a.get(i, 0) - b.get(i, 0) for i in {*a, *b}}


def product(k: int, a: Lin, b: Lin) -> Form:
    """Return k⟨a, b⟩."""
    return [(k * x * y, i, j) for i, x in a.items() for j, y in b.items()]


def steps(problem: cert.Descent) -> tuple[int, list[tuple[int, int]]]:
    """Return (d, [(a, b), …]): d·η_t lies within b of a."""
    roots = [cert.root(q) for q in problem.eta2]
    d = lcm(*(x.denominator for pair in roots for x in pair))
    return d, [(int(middle * d), int(error * d)) for middle, error in roots]


def slack(problem: cert.Descent, multipliers: dict[str, int], unit: int) -> Whole:
    """Return the matrix that `upper_check` assembles, for multipliers over a common denominator."""
    at = Vectors(problem)
    d, near = steps(problem)
    F: Form = []
    for name, m in multipliers.items():
        kind, first, *rest = name.split()
        if kind == "gradient":
            z = at.z(int(first[1:]))
            F += product(2 * d * m, z, z)
        elif kind == "distance":
            v = minus(at.corner(first), at.corner(rest[0]))
            F += product(2 * d * m, v, v)
        else:
            t, (a, b) = int(first[1:]), near[int(first[1:]) - 2]
            v, heard = minus(at.corner(rest[0]), at.corner(first)), at.heard(t)
            F += product(2 * d * m, at.start(t), v) + product(-2 * a * m, heard, v)
            F += product(-2 * d * m, at.corner(first), v)
            F += product(-b * m, heard, heard) + product(-b * m, v, v)
    for t in range(1, problem.T + 1):
        F += product(-2 * d * unit, at.z(t), minus(at.corner(f"w{t}"), at.corner("u")))
    M = [[0] * at.count for _ in range(at.count)]
    for c, i, j in F:
        M[i][j] += c
        M[j][i] += c
    return M


# ---------------------------------------------------------------- witnesses


def dominant(R: Sequence[Sequence[int]]) -> bool:
    """Test whether every diagonal entry is at least the sum of the absolute values beside it."""
    return all(2 * row[i] >= sum(map(abs, row)) + (row[i] - abs(row[i])) for i, row in enumerate(R))


def rounded(M: Whole, bits: int) -> Witness | None:
    """Return a witness from a rounded Cholesky factor of 4^bits·M; None if M is singular or nearly so."""
    n, s = len(M), 4**bits
    A = [[s * x for x in row] for row in M]
    margin = 2 * n * max(isqrt(max(A[i][i], 0)) + 1 for i in range(n))
    L = [[0] * n for _ in range(n)]
    for j in range(n):
        pivot = A[j][j] - margin - sum(x * x for x in L[j][:j])
        if pivot <= 0:
            return None
        L[j][j] = isqrt(pivot)
        if L[j][j] == 0:
            return None
        for i in range(j + 1, n):
            rest = A[i][j] - sum(x * y for x, y in zip(L[i][:j], L[j][:j], strict=True))
            L[i][j] = (2 * rest + L[j][j]) // (2 * L[j][j])
    rest = [
        [A[i][j] - sum(x * y for x, y in zip(L[i], L[j], strict=True)) for j in range(n)] for i in range(n)
    ]
    return (s, [(1, [L[i][k] for i in range(k, n)]) for k in range(n)]) if dominant(rest) else None


def exact(M: Whole) -> Witness:
    """Return a witness from M = L·D·Lᵀ in fractions; raise `Refused` if M is not positive semidefinite."""
    n, A = len(M), [[Fraction(x) for x in row] for row in M]
    squares: list[tuple[Fraction, list[int]]] = []
    for k in range(n):
        pivot = A[k][k]
        if pivot < 0 or (pivot == 0 and any(A[i][k] for i in range(k, n))):
            raise cert.Refused("the matrix is not positive semidefinite")
        if pivot == 0:
            squares.append((Fraction(0), []))
            continue
        column = [A[i][k] / pivot for i in range(k, n)]
        q = lcm(*(x.denominator for x in column))
        squares.append((pivot / q**2, [int(x * q) for x in column]))
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                A[i][j] -= column[i - k] * A[j][k]
    s = lcm(*(d.denominator for d, _ in squares))
    return s, [(int(d * s), v) for d, v in squares]


def witness(M: Whole) -> Witness:
    """Return a witness that M is positive semidefinite: a short one if possible, else an exact one."""
    for bits in (0, 8, 16, 32, 64):
        found = rounded(M, bits)
        if found:
            return found
    return exact(M)


# ---------------------------------------------------------------- text


def q(x: Fraction) -> str:
    return f"({x.numerator} # {x.denominator})"


def listed(items: Iterable[str]) -> str:
    return "[" + "; ".join(items) + "]"


def zs(v: Iterable[int]) -> str:
    return listed(map(str, v))


def triangle(M: Whole) -> str:
    return listed(f"({row[i]}, {zs(row[i + 1 :])})" for i, row in enumerate(M))


def witnessed(w: Witness) -> str:
    return f"({w[0]}, {listed(f'({d}, {zs(v)})' for d, v in w[1])})"


def corner(name: str) -> str:
    return "U" if name == "u" else f"(W {name[1:]})"


def condition(name: str) -> str:
    kind, first, *rest = name.split()
    if kind == "gradient":
        return f"Gradient {first[1:]}"
    if kind == "distance":
        return f"Distance {corner(first)} {corner(rest[0])}"
    return f"Project {first[1:]} {corner(rest[0])}"


def problem_text(p: cert.Descent) -> str:
    """Return the problem as a Coq term; `read_problem` reads it back."""
    flags = (str(p.projection == "eager").lower(), str(p.within == "diameter").lower())
    return f"Problem {p.T} {listed(map(q, p.eta2))} {q(p.rho2)} {flags[0]} {flags[1]} {p.delay}"


def read_problem(text: str, size2: Fraction) -> cert.Descent:
    """Return the `Descent` of a Coq term that `problem_text` wrote."""
    found = re.fullmatch(r"Problem (\d+) \[(.*)\] \((\d+) # (\d+)\) (\w+) (\w+) (\d+)", text)
    if found is None:
        raise ValueError(f"not a problem: {text}")
    T, squares, top, bottom, eager, diameter, delay = found.groups()
    eta2 = [Fraction(int(a), int(b)) for a, b in re.findall(r"\((\d+) # (\d+)\)", squares)]
    return cert.Descent(
        int(T), eta2, size2, Fraction(int(top), int(bottom)), "eager" if eager == "true" else "lazy",
        "diameter" if diameter == "true" else "ball", int(delay),
    )  # fmt: skip


def upper_text(p: cert.Descent, multipliers: dict[str, Fraction]) -> str:
    unit = lcm(*(x.denominator for x in multipliers.values()))
    whole = {name: int(x * unit) for name, x in multipliers.items()}
    d, near = steps(p)
    pairs = listed(f"({a}, {b})" for a, b in near)
    parts = listed(f"({condition(name)}, {m})" for name, m in whole.items())
    return f"Upper {d} {pairs} {unit}\n  {parts}\n  {witnessed(witness(slack(p, whole, unit)))}"


def lower_text(gram: cert.Gram) -> str:
    rows = [[Fraction(x) for x in row] for row in gram]
    g = lcm(*(x.denominator for row in rows for x in row))
    n = len(rows)
    K = [[int(rows[max(i, j)][min(i, j)] * g) for j in range(n)] for i in range(n)]
    return f"Lower {g}\n  {triangle(K)}\n  {witnessed(witness(K))}"


def ends(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Return the numbers of the statement: decimals rounded outward, or fractions if they are exact."""
    if low == high:
        return low, high
    return Fraction(cert.decimal(low, up=False)), Fraction(cert.decimal(high, up=True))


def certificate_text(number: int, name: str, found: cert.Certificate) -> str:
    """Return a section of a Coq file: the data of a certificate, and its theorem."""
    sizes = [Fraction(x) for x in found["problem"]["size2"]]
    p = cert.game(found)
    multipliers = {key: Fraction(x) for key, x in found["multipliers"].items()}
    out = [f"(** {number}. {name}\n\n    {found['statement']} *)"]
    out.append(f"Definition p_{number} : problem :=\n  {problem_text(p)}.")
    out.append(f"Definition above_{number} : upper :=\n  {upper_text(p, multipliers)}.")
    for i, gram in enumerate(found["grams"]):
        out.append(f"Definition below_{number}{'' if not i else '_'} : lower :=\n  {lower_text(gram)}.")
    if len(sizes) == 1:
        low, high = ends(*cert.enclose(p, multipliers, found["grams"][0]))
        out.append(
            f"Theorem certificate_{number} :\n"
            f"  at_least p_{number} (Q2R {q(sizes[0])}) (Q2R {q(low)}) /\\\n"
            f"  at_most p_{number} (Q2R {q(sizes[0])}) (Q2R {q(high)}).\n"
            f"Proof. apply (enclosed p_{number} above_{number} below_{number}). "
            f"vm_cast_no_check (eq_refl true). Qed."
        )
    else:
        a, b = cert.line(p, multipliers)
        out.append(
            f"Theorem certificate_{number} : forall s, (Q2R {q(sizes[0])} <= s <= Q2R {q(sizes[1])})%R ->\n"
            f"  at_least p_{number} s (Q2R {q(a)} + Q2R {q(b)} * s)%R /\\\n"
            f"  at_most p_{number} s (Q2R {q(a)} + Q2R {q(b)} * s)%R.\n"
            f"Proof. apply (enclosed_line p_{number} above_{number} below_{number} below_{number}_). "
            f"vm_cast_no_check (eq_refl true). Qed."
        )
    return "\n".join(out)


#: the steps ηρ/R of the certificates "long steps", in the order of the page
RATIOS = ("5/4", "3/2", "2", "3", "5")


def share(lines: Sequence[cert.Pair], sizes: Sequence[Fraction], lows: Sequence[Fraction]) -> Fraction:
    """Return the share of the first of two lines in the mixture that stays farthest below the two numbers."""

    def least(c: Fraction) -> Fraction:
        a, b = (c * x + (1 - c) * y for x, y in zip(*lines, strict=True))
        return min(low - (a + b * size) for size, low in zip(sizes, lows, strict=True))

    return max((Fraction(k, 64) for k in range(65)), key=least)


def comparison_text(stored: dict[str, Any], T: int, which: int) -> str:
    """Return the theorem that eager descent is worse than lazy at all sizes between two of "long steps"."""
    names = [f"long steps, {{}}, ηρ/R = {ratio}, T = {T}" for ratio in RATIOS[which : which + 2]]
    eager, lazy = ([stored[name.format(kind)] for name in reversed(names)] for kind in ("eager", "lazy"))
    sizes = [cert.game(found).size2 for found in eager]
    lows = [cert.lower(cert.game(found), found["grams"][0]) for found in eager]
    claimed = [Fraction(cert.decimal(low, up=False)) for low in lows]
    proofs = [{key: Fraction(x) for key, x in found["multipliers"].items()} for found in lazy]
    c = share([cert.line(cert.game(f), m) for f, m in zip(lazy, proofs, strict=True)], sizes, claimed)
    mixed = {
        key: c * proofs[0].get(key, 0) + (1 - c) * proofs[1].get(key, 0) for key in {**proofs[0], **proofs[1]}
    }
    mixed = {key: x for key, x in mixed.items() if x}
    name = f"{T}_{which + 1}"
    between = f"ηρ/R from {RATIOS[which]} to {RATIOS[which + 1]}"
    out = [f"(** T = {T}, η = ρ = 1, {between}: eager descent is worse than lazy. *)"]
    out.append(f"Definition eager_{name} : problem :=\n  {problem_text(cert.game(eager[0]))}.")
    out.append(f"Definition lazy_{name} : problem :=\n  {problem_text(cert.game(lazy[0]))}.")
    out.append(f"Definition above_{name} : upper :=\n  {upper_text(cert.game(lazy[0]), mixed)}.")
    for end, found in zip("ab", eager, strict=True):
        out.append(f"Definition below_{name}_{end} : lower :=\n  {lower_text(found['grams'][0])}.")
    ends = " ".join(map(q, [*sizes, *claimed]))
    out.append(
        f"Theorem eager_worse_{name} : forall s, (Q2R {q(sizes[0])} <= s <= Q2R {q(sizes[1])})%R ->\n"
        f"  exists B C : R, (B < C)%R /\\ at_most lazy_{name} s B /\\ at_least eager_{name} s C.\n"
        f"Proof. apply (exceeds_between eager_{name} lazy_{name} above_{name} below_{name}_a below_{name}_b\n"
        f"  {ends}). vm_cast_no_check (eq_refl true). Qed."
    )
    return "\n".join(out)


HEAD = """(** * {title}

    Made by formal/generate.py from ocolab/certificates.json. *)
From Coq Require Import Reals ZArith QArith Qreals List.
From Formal Require Import Space Psd Game Upper Lower Certificates.
Import ListNotations.
Open Scope Z_scope.
Arguments W _%nat.
Arguments Gradient _%nat.
Arguments Project _%nat _.
Arguments Problem _%nat _%list _%Q _ _ _%nat.
Arguments at_least _ _%R _%R.
Arguments at_most _ _%R _%R.
"""


def files(stored: dict[str, Any]) -> dict[str, str]:
    """Return {file name: text} for all certificates and the comparisons that follow from them."""
    texts = [certificate_text(i, name, found) for i, (name, found) in enumerate(stored.items(), 1)]
    compared = [comparison_text(stored, T, k) for T in range(3, 11) for k in range(len(RATIOS) - 1)]
    found = {}
    for kind, parts in (("Stored", texts), ("Compared", compared)):
        for k, begin in enumerate(range(0, len(parts), PER_FILE), 1):
            head = HEAD.format(title=f"{kind} certificates, part {k}")
            found[f"{kind}_{k:02}.v"] = head + "\n" + "\n\n".join(parts[begin : begin + PER_FILE]) + "\n"
    return found


def main(folder: str) -> None:
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files(cert.stored()).items():
        (path / name).write_text(text, "utf8")


if __name__ == "__main__":
    main(sys.argv[1])
