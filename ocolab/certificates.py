"""Worst cases as theorems: inequalities between rational numbers that anyone can check again.

A solver says "about 2.998230". A *certificate* is a short list of fractions from which exact arithmetic
derives that the worst case lies between two rational numbers. Finding it may take a solver and luck
(`ocolab.certify`); checking it takes neither: standard library, no rounding. `stored()` gives those that ship
with the package; `verify` checks one, and raises `Refused` with the reason if it does not prove its claim.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from math import isqrt, lcm
from numbers import Rational
from typing import Any, TypeAlias

#: a rational number, or text that `Fraction` reads, such as "1/3" or "0.25"
Number: TypeAlias = Fraction | int | str
#: a field given as a `Number`, or `eta2` as a list of them; kept as fractions
Exact: TypeAlias = Any
Matrix: TypeAlias = Sequence[Sequence[Fraction | int]]
#: A • G as {(i, j): coefficient of G_ij, i ≤ j}
Form: TypeAlias = dict[tuple[int, int], Fraction]
#: multipliers of conditions, by their names; of the others they are 0
Proof: TypeAlias = Mapping[str, Number]
#: the rows of a symmetric matrix, up to the diagonal
Gram: TypeAlias = Sequence[Sequence[Number]]
#: two fractions, such as (low, high) around a number
Pair: TypeAlias = tuple[Fraction, Fraction]
#: a JSON object: statement, problem, multipliers, grams
Certificate: TypeAlias = dict[str, Any]

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+|/0*[1-9][0-9]*)?", re.ASCII)

# ---------------------------------------------------------------- exact linear algebra


LONGEST = 100  #: characters of a number
MOST = 50  #: rounds of a game
LARGEST = 20_000  #: rows of a matrix times binary digits of its entries, as whole numbers
FIELDS = {"statement", "problem", "multipliers", "grams"}  #: of a certificate


class Refused(ValueError):
    """What was handed in does not prove what it claims; the message says where it fails."""


def number(x: Number) -> Fraction:
    """Read a fraction: a whole number, a `Fraction`, or text such as "1/3", "-2" or "0.25".

    Everything else is refused: floats, which are rounded already, exponents, and what is too long to be
    computed with.

    >>> number("-0.25"), number("10/4")
    (Fraction(-1, 4), Fraction(5, 2))
    """
    if isinstance(x, Rational) and not isinstance(x, bool):
        if max(abs(x.numerator), x.denominator).bit_length() > 4 * LONGEST:
            raise Refused(f"a number must have at most {LONGEST} digits")
        return Fraction(x)
    if not isinstance(x, str) or len(x) > LONGEST or not NUMBER.fullmatch(x):
        raise Refused(f"a number must be whole, a fraction or a decimal number, got {str(x)[:30]!r}")
    return Fraction(x)


def psd(M: Matrix) -> bool:
    """Return whether the symmetric rational matrix M is positive semidefinite, decided exactly.

    M = L·D·Lᵀ by elimination. M ⪰ 0 exactly if no pivot is negative and beside a zero pivot stand only zeros.
    Done without fractions (Bareiss): every entry stays a minor of the whole-number matrix, so that dividing
    by the previous pivot leaves no remainder. A matrix whose elimination would take long is `Refused`.

    >>> psd([[1, 2], [2, 4]]), psd([[1, 2], [2, 3]])
    (True, False)
    """
    full = _symmetric(M)
    scale = _denominator((x for row in full for x in row), len(full))
    A = [[int(x * scale) for x in row[: i + 1]] for i, row in enumerate(full)]
    longest = max((abs(x).bit_length() for row in A for x in row), default=0)
    if len(A) * longest > LARGEST:
        raise Refused(f"a matrix of {len(A)} rows must not hold whole numbers of {longest} binary digits")
    before = 1
    for k in range(len(A)):
        pivot, below = A[k][k], [row[k] for row in A[k + 1 :]]
        if pivot < 0 or (not pivot and any(below)):
            return False
        if pivot:
            for i, a in enumerate(below, k + 1):
                for j in range(k + 1, i + 1):
                    A[i][j] = (A[i][j] * pivot - a * below[j - k - 1]) // before
            before = pivot
    return True


def _denominator(entries: Iterable[Fraction], rows: int) -> int:
    """Return the common denominator of the entries of a matrix, or refuse it as too long."""
    common = 1
    for x in entries:
        common = lcm(common, x.denominator)
        if rows * common.bit_length() > LARGEST:
            raise Refused(f"{rows} rows of fractions must have a shorter common denominator")
    return common


def direction(M: Matrix) -> list[Fraction] | None:
    """Return None if the symmetric rational matrix M is positive semidefinite, else a vector v with vᵀMv < 0.

    In step k row k of `basis` is a vector v with vᵀMv = the pivot D_k, orthogonal in the sense of M to the
    rows before it: a negative pivot convicts M. So does a zero pivot with an entry c ≠ 0 beside it: with d
    the diagonal entry of that row, s·v_k + v_j costs 2sc + d, which is −1 for s = −(d + 1)/(2c).
    """
    if psd(M):
        return None
    A, n = _symmetric(M), len(M)
    basis = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    for k in range(n):
        if A[k][k] < 0:
            return basis[k]
        for j in range(k + 1, n):
            if c := A[j][k]:
                if not A[k][k]:
                    s = -(A[j][j] + 1) / (2 * c)
                    return [s * x + y for x, y in zip(basis[k], basis[j], strict=True)]
                share = c / A[k][k]
                for i in range(j, n):
                    A[i][j] -= share * A[i][k]
                basis[j] = [y - share * x for x, y in zip(basis[k], basis[j], strict=True)]
    raise AssertionError("psd found a fault that elimination did not")


def _symmetric(M: Matrix) -> list[list[Fraction]]:
    if not all(isinstance(x, Rational) for row in M for x in row):
        raise ValueError("M must hold whole numbers and fractions, got others: they may be rounded already")
    A = [[Fraction(x) for x in row] for row in M]
    if [list(column) for column in zip(*A, strict=True)] != A:
        raise ValueError("M must be symmetric, got a matrix that is not")
    return A


def root(q: Number, digits: int = 18) -> Pair:
    """Return (r, error) with |√q − r| ≤ error ≤ 10^−digits; error 0 if √q is rational.

    >>> root(Fraction(9, 4)), root(2, digits=2)
    ((Fraction(3, 2), Fraction(0, 1)), (Fraction(283, 200), Fraction(1, 200)))
    """
    q = Fraction(q)
    if q < 0:
        raise ValueError(f"q must be ≥ 0, got {q}")
    top, bottom = isqrt(q.numerator), isqrt(q.denominator)
    if top**2 == q.numerator and bottom**2 == q.denominator:
        return Fraction(top, bottom), Fraction(0)
    ten = 10**digits
    low = isqrt(q.numerator * ten**2 // q.denominator)  # ⌊10^digits·√q⌋
    return Fraction(2 * low + 1, 2 * ten), Fraction(1, 2 * ten)


# ---------------------------------------------------------------- gradient descent


@dataclass(frozen=True)
class Descent:
    """The game of `limits.DescentProblem`, also with a delay; steps and lengths enter by rational squares.

    T rounds of gradient descent from w_1 = 0 on a closed convex S ∋ 0, in any dimension: S in the ball of
    radius √`size2` around 0 (`within` 'ball') or of diameter at most √`size2` ('diameter'); losses
    ‖z_t‖ ≤ √`rho2`; w_{t+1} = Π_S(y_{t+1}) with y_{t+1} = −η_t(z_1 + … + z_{t−delay}), or, eager and without
    delay, w_t − η_t·z_t. `eta2` lists the squares of η_1, …, η_{T−1}, or is one number for all.
    """

    T: int
    eta2: Exact = 1
    size2: Exact = 1
    rho2: Exact = 1
    projection: str = "lazy"
    within: str = "ball"
    delay: int = 0

    def __post_init__(self):
        for name, low in (("T", 1), ("delay", 0)):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= MOST:
                raise ValueError(f"{name} must be an integer from {low} to {MOST}, got {str(value)[:40]}")
        for name, allowed in (("projection", ("lazy", "eager")), ("within", ("ball", "diameter"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")
        if self.delay and self.projection == "eager":
            raise ValueError(f"delay must be 0 for eager descent, got {self.delay}")
        steps = self.eta2 if isinstance(self.eta2, (list, tuple)) else [self.eta2] * (self.T - 1)
        if len(steps) != self.T - 1:
            raise ValueError(f"eta2 must have T − 1 = {self.T - 1} entries, got {len(steps)}")
        eta2, size2, rho2 = tuple(map(number, steps)), number(self.size2), number(self.rho2)
        if min(size2, rho2, *eta2) <= 0:
            raise ValueError("eta2, size2 and rho2 must be > 0")
        for name, value in (("eta2", eta2), ("size2", size2), ("rho2", rho2)):
            object.__setattr__(self, name, value)

    def vectors(self) -> dict[str, int]:
        """Return the vectors of the Gram matrix, {name: place};
        plays before a loss is heard of are 0, not in it.
        """
        plays = range(self.delay + 2, self.T + 1)
        names = [f"z{t}" for t in range(1, self.T + 1)] + [f"w{t}" for t in plays] + ["u"]
        return {name: i for i, name in enumerate(names)}

    def objective(self) -> Form:
        """Return the matrix C with Σ⟨z_t, w_t − u⟩ = C • G, as {(i, j): coefficient} with i ≤ j."""
        return _form([({f"z{t}": 1}, {f"w{t}": 1, "u": -1}) for t in range(1, self.T + 1)], self.vectors())

    def conditions(self) -> dict[str, tuple[Form, Form, Fraction]]:
        """Return {name: (A, error, b)}, each A • G ≤ b, in which entry (i, j) of A is known up to error[i,
        j].
        """
        place = self.vectors()
        corners = ["w1"] + [name for name in place if name[0] in "wu"]
        lengths = {f"gradient z{t}": ({f"z{t}": 1}, self.rho2) for t in range(1, self.T + 1)}
        for i, name in enumerate(corners):
            for other in corners[: i if self.within == "diameter" else min(i, 1)]:
                lengths[f"distance {other} {name}"] = {name: 1, other: -1}, self.size2
        listed: dict[str, tuple[Form, Form, Fraction]] = {
            name: (_form([(x, x)], place), {}, bound) for name, (x, bound) in lengths.items()
        }
        for name in corners[1:-1]:
            t = int(name[1:]) - 1  # w_{t+1} = Π(y_{t+1})
            step, error = root(self.eta2[t - 1])
            start = {f"w{t}": 1} if self.projection == "eager" else {}
            heard = [t] if self.projection == "eager" else range(1, t - self.delay + 1)
            for s in corners:
                if s != name:
                    y = start | {f"z{i}": -step for i in heard}
                    doubt = {f"z{i}": -error for i in heard}
                    apart = {s: 1, name: -1}
                    A = _form([(y, apart), ({name: -1}, apart)], place)
                    error_form = {k: abs(x) for k, x in _form([(doubt, apart)], place).items() if x}
                    listed[f"projection {name} {s}"] = A, error_form, Fraction(0)
        return listed


def _form(pairs: Iterable[tuple[Mapping, Mapping]], place: Mapping[str, int]) -> Form:
    """Σ⟨a, b⟩ as a symmetric matrix {(i, j): coefficient of G_ij, i ≤ j}; a vector without a place is 0."""
    A: Form = {}
    for a, b in pairs:
        for p, x in a.items():
            for q, y in b.items():
                if p in place and q in place:
                    i, j = sorted((place[p], place[q]))
                    A[i, j] = A.get((i, j), Fraction(0)) + x * y
    return A


def slack(problem: Descent, multipliers: Proof) -> list[list[Fraction]]:
    """Return Σ λA − C, less the most that the unknown digits of the steps could change.

    If all λ ≥ 0 and it is ⪰ 0, so is Σ λA − C.

    The unknown part is a symmetric matrix E with |E_ij| ≤ the entry of Σ λ·error. By diagonal dominance it
    is ⪰ −D for the diagonal matrix D of the row sums of these bounds.
    """
    n, conditions = len(problem.vectors()), problem.conditions()
    M = [[Fraction(0)] * n for _ in range(n)]
    forms = [(conditions[name][0], x) for name, x in multipliers.items()]
    for form, x in [*forms, (problem.objective(), -1)]:
        for (i, j), c in form.items():
            M[i][j] += Fraction(x) * c / 2
            M[j][i] += Fraction(x) * c / 2
    for name, x in multipliers.items():
        for (i, j), c in conditions[name][1].items():
            M[i][i] -= Fraction(x) * c / 2
            M[j][j] -= Fraction(x) * c / 2
    return M


def line(problem: Descent, multipliers: Proof) -> Pair:
    """Return (a, b): multipliers λ ≥ 0 prove, *whatever* `size2` is,
    that the worst case is at most a + b·size2.

    If Σ λA − C ⪰ 0, then C • G = Σ λ(A • G) − (Σ λA − C) • G ≤ Σ λ·bound for the Gram matrix G of every
    game; and `size2` enters none of the matrices, only the bounds.
    """
    proof = {name: number(x) for name, x in multipliers.items()}
    conditions = problem.conditions()
    for name, x in proof.items():
        if name not in conditions:
            raise Refused(f"there is no condition {name!r}")
        if x < 0:
            raise Refused(f"the multiplier of {name!r} is negative: {x}")
    _denominator(proof.values(), len(problem.vectors()))
    M = slack(problem, proof)
    if len(M) > 25 and not psd(M):  # looking for a direction would take long
        raise Refused("the slack is not positive semidefinite")
    v = direction(M)
    if v is not None:
        shown = ", ".join(f"{name} = {float(v[i]):.3g}" for name, i in problem.vectors().items() if v[i])
        raise Refused(f"the slack is negative at {shown}")
    a = sum((x for name, x in proof.items() if name.startswith("gradient")), Fraction(0))
    b = sum((x for name, x in proof.items() if name.startswith("distance")), Fraction(0))
    return a * problem.rho2, b


def upper(problem: Descent, multipliers: Proof) -> Fraction:
    """Return the number that multipliers prove no game of `problem` exceeds, by `line`;
    `Refused` if they do not.
    """
    a, b = line(problem, multipliers)
    return a + b * problem.size2


def lower(problem: Descent, gram: Gram) -> Fraction:
    """Return the number that a Gram matrix proves some game of `problem` reaches,
    in dimension len(gram) or less.

    `gram` is symmetric, given by its rows up to the diagonal. If it is ⪰ 0 it belongs to vectors z, w, u; if
    it obeys the conditions, whatever the unknown digits of the steps, they are a game on the hull of 0, w, u.
    """
    n = len(problem.vectors())
    if [len(row) for row in gram] != list(range(1, n + 1)) or any(isinstance(row, str) for row in gram):
        raise Refused(f"the Gram matrix must have {n} rows of 1, 2, … entries")
    G = {(j, i): number(x) for i, row in enumerate(gram) for j, x in enumerate(row)}
    _denominator(G.values(), n)
    for name, (A, error, bound) in problem.conditions().items():
        value = sum(c * G[k] for k, c in A.items()) + sum(c * abs(G[k]) for k, c in error.items())
        if value > bound:
            raise Refused(f"the game breaks {name!r}: {float(value):.12g} > {float(bound):.12g}")
    if not psd([[G[min(i, j), max(i, j)] for j in range(n)] for i in range(n)]):
        raise Refused("the Gram matrix is not positive semidefinite: no vectors have these inner products")
    return sum((c * G[k] for k, c in problem.objective().items()), Fraction(0))


# ---------------------------------------------------------------- certificates


def decimal(x: Fraction, up: bool, digits: int = 9) -> str:
    """Return x as a decimal number, rounded down or up after so many digits, at least 1.

    >>> decimal(Fraction(1, 3), up=False, digits=3), decimal(Fraction(-1, 3), up=False, digits=3)
    ('0.333', '-0.334')
    >>> decimal(Fraction(15, 2), up=True)
    '7.5'
    """
    scaled = x * 10**digits
    whole = -(-scaled // 1) if up else scaled // 1
    sign, text = "-" if whole < 0 else "", str(abs(whole)).rjust(digits + 1, "0")
    return (sign + text[:-digits] + "." + text[-digits:]).rstrip("0").rstrip(".")


def exact(x: Fraction) -> str:
    """Write x as text without rounding: as a decimal number of at most nine digits, else as a fraction.

    >>> exact(Fraction(15, 2)), exact(Fraction(5, 3))
    ('7.5', '5/3')
    """
    return decimal(x, up=False) if not (x * 10**9).denominator > 1 else str(x)


def enclose(problem: Descent, multipliers: Proof, gram: Gram) -> Pair:
    """Return (low, high): low ≤ the worst case of `problem` ≤ high, both proved, or `Refused`."""
    return lower(problem, gram), upper(problem, multipliers)


def statement(problems: Sequence[Descent], enclosures: Sequence[Pair]) -> str:
    """Say in words what is proved for one problem, or for two that differ in `size2` and all between them.

    Equalities are between exact numbers. Of an interval the lower end is rounded down and the upper one up.
    """
    p = problems[0]
    steps = sorted(set(p.eta2), reverse=True)
    if not steps:
        eta = "any step"
    elif len(steps) == 1:
        eta = f"η² = {steps[0]}"
    else:
        eta = f"η_1², η_2², … = {', '.join(map(str, p.eta2))}"
    late = f", every loss heard {p.delay} round{'s' * (p.delay > 1)} late" if p.delay else ""
    letter = {"ball": "R", "diameter": "D"}[p.within]
    sets = {"ball": "in the ball of radius R around 0", "diameter": "of diameter at most D"}[p.within]
    size = f"{letter}² = {p.size2}"
    low, high = enclosures[0]
    says = f"{decimal(low, up=False)} ≤ largest regret ≤ {decimal(high, up=True)}"
    if low == high:
        says = f"the largest regret is {exact(low)}"
    if len(problems) == 2:
        size = f"{letter}² anywhere from {p.size2} to {problems[1].size2}"
        says = f"the largest regret is linear in {letter}², from {exact(low)} to {exact(enclosures[1][0])}"
    return (
        f"{p.projection.capitalize()} gradient descent from w_1 = 0, T = {p.T}, {eta}{late}. "
        f"Over all dimensions, closed convex S ∋ 0 {sets}, {size}, and convex losses with subgradients "
        f"‖z_t‖² ≤ {p.rho2} at the plays: {says}."
    )


def certificate(problem: dict[str, Any], multipliers: Proof, grams: Sequence[Gram]) -> Certificate:
    """Return the JSON object for one problem and one Gram matrix, or for two values of `size2`,
    a Gram matrix each.

    `problem` is a dict as in the file: the arguments of `Descent`, `size2` a list of one or two.
    """
    found = {"problem": problem, "multipliers": multipliers, "grams": grams}
    return {"statement": statement(*_prove(found)), **_texts(found)}


def _texts(x: Any) -> Any:
    """Write every fraction inside as text, so that json takes it."""
    if isinstance(x, Mapping):
        return {name: _texts(part) for name, part in x.items()}
    if isinstance(x, (list, tuple)):
        return [_texts(part) for part in x]
    return str(x) if isinstance(x, Fraction) else x


def game(found: Certificate, which: int = 0) -> Descent:
    """Return the `Descent` of a certificate, for the first of its sizes or another."""
    return Descent(**found["problem"] | {"size2": found["problem"]["size2"][which]})


def _prove(found: Certificate) -> tuple[list[Descent], list[Pair]]:
    sizes = found["problem"]["size2"]
    if not isinstance(sizes, (list, tuple)) or len(sizes) not in (1, 2):
        raise Refused("it must be for a list of one size, or of two")
    problems = [game(found, i) for i in range(len(sizes))]
    enclosures = [enclose(p, found["multipliers"], g) for p, g in zip(problems, found["grams"], strict=True)]
    if len(problems) == 2 and any(low != high for low, high in enclosures):
        raise Refused("a certificate for two sizes must be exact at both ends")
    return problems, enclosures


def verify(found: Certificate) -> list[Pair]:
    """Check a certificate: [(low, high)] for each of its sizes, in exact fractions, or `Refused`.

    With two sizes all between are proved too. A mixture of the two Gram matrices is a game for the mixture
    of the sizes, and its regret is the same mixture; above is the same `line`. What is proved must be what
    the statement says, to the last digit.
    """
    try:
        (problems, enclosures), claimed = _prove(found), found["statement"]
    except Refused:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
        raise Refused(f"not a certificate: {fault}") from fault
    if set(found) != FIELDS or type(claimed) is not str:
        raise Refused(f"a certificate has a text and nothing else to claim, got the fields {list(found)}")
    proved = statement(problems, enclosures)
    if proved != claimed:
        raise Refused(f"it claims: {claimed}\nit proves: {proved}")
    return enclosures


@lru_cache(maxsize=1)
def _read() -> str:
    return files("ocolab").joinpath("certificates.json").read_text("utf8")


def stored() -> dict[str, Certificate]:
    """Return {name: certificate}, those that ship with the package; a fresh copy each time."""
    return json.loads(_read())


def excess(above: Sequence[Certificate], below: Sequence[Certificate]) -> Fraction:
    """Return a lower bound on one learner's worst case less another's, proved at every size between two.

    `above` and `below` are two certificates each, for the same two values of `size2` and otherwise one game
    of each learner. As a function of `size2` the worst case is concave (`verify`): the first lies above its
    chord, the second below each of its two lines. The least of the difference is at an end or where the
    lines cross.
    """
    sizes = [game(found).size2 for found in above]
    if sizes != [game(found).size2 for found in below] or sizes[0] == sizes[1]:
        raise ValueError("above and below must be for the same two sizes")
    for name, pair in (("above", above), ("below", below)):
        if len({replace(game(found), size2=1) for found in pair}) > 1:
            raise ValueError(f"{name} must be one game for two sizes, got two games")
    lows = [verify(found)[0][0] for found in above]
    lines = [line(game(found), found["multipliers"]) for found in below]
    (a, slope), (b, other) = lines
    crossing = [(b - a) / (slope - other)] if slope != other else []
    at = [*sizes, *(s for s in crossing if min(sizes) < s < max(sizes))]

    def difference(s):
        share = (s - sizes[0]) / (sizes[1] - sizes[0])
        return (1 - share) * lows[0] + share * lows[1] - min(c + d * s for c, d in lines)

    return min(map(difference, at))
