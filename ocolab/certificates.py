"""Verify worst-case regrets of gradient descent in exact arithmetic, from stored certificates.

A solver answers "about 2.998230". A *certificate* is a short list of fractions from which exact arithmetic
derives that the worst case lies between two rational numbers. Finding a certificate needs a solver
(`ocolab.certify`); checking one needs only the standard library, and nothing is rounded. `stored()` returns
the certificates that ship with the package. `verify` checks one and raises `Refused` with the reason if it
does not prove its claim.
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
#: a field given as a `Number` (`eta2` also as a list of them) and stored as fractions
Exact: TypeAlias = Any
Matrix: TypeAlias = Sequence[Sequence[Fraction | int]]
#: a linear function A • G of the Gram matrix G, as {(i, j): coefficient of G_ij, i ≤ j}
Form: TypeAlias = dict[tuple[int, int], Fraction]
#: {name of a condition: its multiplier}; conditions that are not listed have multiplier 0
Proof: TypeAlias = Mapping[str, Number]
#: the rows of a symmetric matrix, up to the diagonal
Gram: TypeAlias = Sequence[Sequence[Number]]
#: two fractions, such as (low, high) around a number
Pair: TypeAlias = tuple[Fraction, Fraction]
#: a JSON object: statement, problem, multipliers, grams
Certificate: TypeAlias = dict[str, Any]

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+|/0*[1-9][0-9]*)?", re.ASCII)

# ---------------------------------------------------------------- exact linear algebra


LONGEST = 100  #: the most characters of a number
MOST = 20  #: the most rounds of a game
LARGEST = 20_000  #: the most rows × binary digits of a matrix, with its entries scaled to integers
FIELDS = {"statement", "problem", "multipliers", "grams"}  #: the fields of a certificate


class Refused(ValueError):
    """Signal that a certificate does not prove its claim; the message says where it fails."""


def number(x: Number) -> Fraction:
    """Convert an integer, a `Fraction`, or text such as "1/3", "-2" or "0.25" to a `Fraction`.

    Everything else is `Refused`: floats, because they are rounded already, exponents, and numbers so long
    that computing with them would take too much time.

    >>> number("-0.25"), number("10/4")
    (Fraction(-1, 4), Fraction(5, 2))
    """
    if isinstance(x, Rational) and not isinstance(x, bool):
        made = _fraction(x)
        if max(abs(made.numerator), made.denominator).bit_length() > 4 * LONGEST:
            raise Refused(f"a number must have at most {4 * LONGEST} binary digits, got a longer one")
        return made
    if not isinstance(x, str) or len(x) > LONGEST or not NUMBER.fullmatch(x):
        raise Refused(
            f"a number must be whole, a fraction or a decimal number, of at most {LONGEST} characters, "
            f"got {str(x)[:30]!r}"
        )
    return Fraction(x)


def _fraction(x: Any) -> Fraction:
    """Return a `Fraction` of Python integers in lowest terms.

    `Fraction(x)` would keep NumPy's integers, which overflow, and a denominator that is not positive.
    """
    if not int(x.denominator):
        raise Refused("a number must not have the denominator 0")
    return Fraction(int(x.numerator), int(x.denominator))


def psd(M: Matrix) -> bool:
    """Test exactly whether the symmetric rational matrix M is positive semidefinite.

    Gaussian elimination gives M = L·D·Lᵀ; M ⪰ 0 if and only if no pivot is negative and every entry below a
    zero pivot is zero. The elimination works with integers only (Bareiss): every entry is a minor of the
    integer matrix, so division by the previous pivot leaves no remainder. A matrix whose elimination would
    take too long is `Refused`.

    >>> psd([[1, 2], [2, 4]]), psd([[1, 2], [2, 3]])
    (True, False)
    """
    full = _symmetric(M)
    scale = _denominator((x for row in full for x in row), len(full))
    A = [[int(x * scale) for x in row[: i + 1]] for i, row in enumerate(full)]
    longest = max((abs(x).bit_length() for row in A for x in row), default=0)
    if len(A) * longest > LARGEST:
        raise Refused(
            f"M must have at most {LARGEST} rows × binary digits, with its entries scaled to integers, "
            f"got {len(A)} × {longest}"
        )
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
    """Return the common denominator of the entries of a matrix; raise `Refused` if it is too long."""
    common = 1
    for x in entries:
        common = lcm(common, x.denominator)
        if rows * common.bit_length() > LARGEST:
            raise Refused(
                f"the common denominator must have at most {LARGEST // rows} binary digits for {rows} rows, "
                "got a longer one"
            )
    return common


def direction(M: Matrix) -> list[Fraction] | None:
    """Return None if the symmetric rational matrix M is positive semidefinite, else a vector v with vᵀMv < 0.

    In step k, row k of `basis` is a vector v_k with v_kᵀMv_k equal to the pivot D_k, and orthogonal to the
    earlier rows in the sense of M. If the pivot is negative, v_k is the answer. If the pivot is zero but some
    entry c below it is not, let d be the diagonal entry of that row j: v = s·v_k + v_j has vᵀMv = 2sc + d,
    which is −1 for s = −(d + 1)/(2c).

    >>> direction([[1, 2], [2, 3]])  # vᵀMv = −1
    [Fraction(-2, 1), Fraction(1, 1)]
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
    raise AssertionError("psd found a negative direction, but the elimination did not")


def _symmetric(M: Matrix) -> list[list[Fraction]]:
    """Check that M is symmetric and rational, and return it as lists of fractions."""
    if not all(isinstance(x, Rational) for row in M for x in row):
        raise ValueError(
            "M must hold whole numbers and fractions only, got other entries, which may be rounded already; "
            "write Fraction(1, 3) or Fraction('0.3')"
        )
    A = [[_fraction(x) for x in row] for row in M]
    if [list(column) for column in zip(*A, strict=True)] != A:
        raise ValueError("M must be symmetric, got a matrix that is not")
    return A


def root(q: Number, digits: int = 18) -> Pair:
    """Return a rational approximation r of √q and its error: |√q − r| ≤ error ≤ 10^−digits.

    If √q is rational, r = √q and the error is 0.

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
    """Describe a class of games: T rounds of gradient descent from w_1 = 0 on a closed convex set S ∋ 0.

    This is the game of `limits.DescentProblem`, with an optional delay, and with the squares of step sizes
    and lengths as rational numbers. The dimension is arbitrary.

    - S lies in the ball of radius √size2 around 0 (`within` 'ball') or has diameter at most √size2
      (`within` 'diameter').
    - The losses are linear, ⟨z_t, w⟩ with ‖z_t‖ ≤ √rho2.
    - Lazy descent plays w_{t+1} = Π_S(−η_t(z_1 + … + z_{t−delay})); eager descent, which allows no delay,
      plays w_{t+1} = Π_S(w_t − η_t·z_t).
    - `eta2` is the list of the squares η_1², …, η_{T−1}², or one number for all rounds.

    >>> Descent(3, eta2="1/4").eta2
    (Fraction(1, 4), Fraction(1, 4))
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
            raise ValueError(f"eta2, size2 and rho2 must be > 0, got {self.eta2}, {size2} and {rho2}")
        for name, value in (("eta2", eta2), ("size2", size2), ("rho2", rho2)):
            object.__setattr__(self, name, value)

    def vectors(self) -> dict[str, int]:
        """Return the vectors of the Gram matrix, {name: index}.

        The plays before the first loss arrives are 0 and have no index.

        >>> Descent(2).vectors()
        {'z1': 0, 'z2': 1, 'w2': 2, 'u': 3}
        """
        plays = range(self.delay + 2, self.T + 1)
        names = [f"z{t}" for t in range(1, self.T + 1)] + [f"w{t}" for t in plays] + ["u"]
        return {name: i for i, name in enumerate(names)}

    def objective(self) -> Form:
        """Return the regret as a linear function C • G of the Gram matrix, {(i, j): coefficient}, i ≤ j."""
        return _form([({f"z{t}": 1}, {f"w{t}": 1, "u": -1}) for t in range(1, self.T + 1)], self.vectors())

    def conditions(self) -> dict[str, tuple[Form, Form, Fraction]]:
        """Return the constraints of the game as {name: (A, error, b)}, each meaning A • G ≤ b.

        Irrational step sizes are approximated: the true coefficient (i, j) differs from that in A by at most
        the one in `error`.
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
    """Return Σ⟨a, b⟩ over all pairs as a `Form`; a vector without a place in the Gram matrix is 0."""
    A: Form = {}
    for a, b in pairs:
        for p, x in a.items():
            for q, y in b.items():
                if p in place and q in place:
                    i, j = sorted((place[p], place[q]))
                    A[i, j] = A.get((i, j), Fraction(0)) + x * y
    return A


def slack(problem: Descent, multipliers: Proof) -> list[list[Fraction]]:
    """Return a rational matrix that is a lower bound on Σ λA − C, for multipliers λ ≥ 0.

    If the result is positive semidefinite, so is Σ λA − C with the true step sizes. The rounding of the steps
    changes Σ λA by a symmetric matrix E whose entries are bounded by those of Σ λ·error. By diagonal
    dominance E ⪰ −D, where the diagonal matrix D has the row sums of these bounds; so D is subtracted.
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
    """Return (a, b) for which the multipliers prove: the worst case is ≤ a + b·`size2`, for every `size2`.

    If all λ ≥ 0 and Σ λA − C ⪰ 0, then C • G = Σ λ(A • G) − (Σ λA − C) • G ≤ Σ λ·bound for the Gram matrix G
    of every game. Since `size2` appears only in the bounds, not in the matrices, this holds for every
    `size2`. Raises `Refused` if the multipliers prove nothing.

    >>> line(Descent(1), {"gradient z1": "1/2", "distance w1 u": "1/2"})
    (Fraction(1, 2), Fraction(1, 2))
    """
    conditions = problem.conditions()
    if unknown := multipliers.keys() - conditions.keys():
        raise Refused(f"there is no condition {min(unknown)!r}")
    proof = {name: number(x) for name, x in multipliers.items()}
    for name, x in proof.items():
        if x < 0:
            raise Refused(f"the multiplier of {name!r} is negative: {x}")
    _denominator(proof.values(), len(problem.vectors()))
    M = slack(problem, proof)
    if len(M) > 25 and not psd(M):  # `direction` would take too long
        raise Refused("the slack is not positive semidefinite")
    v = direction(M)
    if v is not None:
        shown = ", ".join(f"{name} = {float(v[i]):.3g}" for name, i in problem.vectors().items() if v[i])
        raise Refused(f"the slack is negative at {shown}")
    a = sum((x for name, x in proof.items() if name.startswith("gradient")), Fraction(0))
    b = sum((x for name, x in proof.items() if name.startswith("distance")), Fraction(0))
    return a * problem.rho2, b


def upper(problem: Descent, multipliers: Proof) -> Fraction:
    """Return the upper bound on the worst case of `problem` that the multipliers prove; see `line`.

    Raises `Refused` if they prove nothing.

    >>> upper(Descent(1), {"gradient z1": "1/2", "distance w1 u": "1/2"})
    Fraction(1, 1)
    """
    a, b = line(problem, multipliers)
    return a + b * problem.size2


def lower(problem: Descent, gram: Gram) -> Fraction:
    """Return the regret of the game with this Gram matrix, a lower bound on the worst case of `problem`.

    `gram` lists the rows of a symmetric matrix up to the diagonal, in the order of `problem.vectors()`. If it
    is positive semidefinite, it is the Gram matrix of vectors z, w, u in dimension len(gram) or less. If it
    satisfies the conditions for all step sizes within their error, these vectors are a game on the convex
    hull of 0, w and u. Otherwise it is `Refused`.

    >>> lower(Descent(1), [[1], [-1, 1]])  # u = −z_1
    Fraction(1, 1)
    """
    n = len(problem.vectors())
    if [len(row) for row in gram] != list(range(1, n + 1)) or any(isinstance(row, str) for row in gram):
        raise Refused(f"the Gram matrix must have {n} rows of 1, 2, … entries, up to the diagonal")
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
    """Write x as a decimal number, rounded down or up after `digits` ≥ 1 digits.

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
    """Write x as text without rounding: as a decimal number if nine decimals suffice, else as a fraction.

    >>> exact(Fraction(15, 2)), exact(Fraction(5, 3))
    ('7.5', '5/3')
    """
    return decimal(x, up=False) if not (x * 10**9).denominator > 1 else str(x)


def enclose(problem: Descent, multipliers: Proof, gram: Gram) -> Pair:
    """Return proved bounds (low, high) with low ≤ worst case of `problem` ≤ high; see `lower` and `upper`."""
    return lower(problem, gram), upper(problem, multipliers)


def statement(problems: Sequence[Descent], enclosures: Sequence[Pair]) -> str:
    """State in words what is proved for one problem, or for two that differ in `size2` and all between them.

    Equalities are exact. The lower end of an interval is rounded down, the upper end up.
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
    """Return a verified certificate as a JSON object.

    `problem` is a dict with the arguments of `Descent`, in which `size2` is a list of one or two values;
    `grams` has one Gram matrix for each of them. Raises `Refused` if they prove nothing.
    """
    found = {"problem": problem, "multipliers": multipliers, "grams": grams}
    return {"statement": statement(*_prove(found)), **_texts(found)}


def _texts(x: Any) -> Any:
    """Convert every fraction inside to text, for JSON."""
    if isinstance(x, Mapping):
        return {name: _texts(part) for name, part in x.items()}
    if isinstance(x, (list, tuple)):
        return [_texts(part) for part in x]
    return str(x) if isinstance(x, Fraction) else x


def game(found: Certificate, which: int = 0) -> Descent:
    """Return the `Descent` of a certificate, for the first of its sizes or for number `which`."""
    return Descent(**found["problem"] | {"size2": found["problem"]["size2"][which]})


def _prove(found: Certificate) -> tuple[list[Descent], list[Pair]]:
    """Return the problems of a certificate and the bounds that it proves for each of them."""
    sizes = found["problem"]["size2"]
    if not isinstance(sizes, (list, tuple)) or len(sizes) not in (1, 2):
        raise Refused(f"size2 must be a list of one size, or of two, got {str(sizes)[:40]}")
    problems = [game(found, i) for i in range(len(sizes))]
    enclosures = [enclose(p, found["multipliers"], g) for p, g in zip(problems, found["grams"], strict=True)]
    if len(problems) == 2 and any(low != high for low, high in enclosures):
        raise Refused("a certificate for two sizes must be exact at both ends")
    return problems, enclosures


def verify(found: Certificate) -> list[Pair]:
    """Check a certificate and return the proved bounds [(low, high)], one pair for each of its sizes.

    The bounds are exact fractions, and the certificate's statement must agree with them to the last digit;
    otherwise it is `Refused`. With two sizes, all sizes between them are proved as well: a convex combination
    of the two Gram matrices is a game for the same combination of the sizes, with the same combination of
    the regrets; and the upper bound is linear in the size (`line`).

    >>> [(str(low), str(high)) for low, high in verify(stored()["range, eager, ball, T = 3"])]
    [('2', '2'), ('6', '6')]
    """
    try:
        (problems, enclosures), claimed = _prove(found), found["statement"]
    except Refused:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
        raise Refused(f"not a certificate: {fault}") from fault
    if set(found) != FIELDS or type(claimed) is not str:
        raise Refused(
            f"a certificate must have the fields {sorted(FIELDS)} and nothing else, and its statement "
            f"must be text, got the fields {list(found)}"
        )
    proved = statement(problems, enclosures)
    if proved != claimed:
        raise Refused(f"it claims: {claimed}\nit proves: {proved}")
    return enclosures


@lru_cache(maxsize=1)
def _read() -> str:
    """Read the file of certificates that ships with the package."""
    return files("ocolab").joinpath("certificates.json").read_text("utf8")


def stored() -> dict[str, Certificate]:
    """Load the certificates that ship with the package, {name: certificate}; each call returns a new copy."""
    return json.loads(_read())


def excess(above: Sequence[Certificate], below: Sequence[Certificate]) -> Fraction:
    """Return a proved lower bound on the difference of two worst cases, for every size between two sizes.

    `above` and `below` are two certificates each, for the same two values of `size2` and otherwise the same
    game: `above` for the learner with the larger worst case, `below` for the other. As a function of `size2`
    the worst case is concave (see `verify`), so that of `above` lies above its chord; that of `below` lies
    below both of its lines. The smallest difference between the chord and the lower of the two lines is
    attained at one of the two sizes or where the lines cross.
    """
    sizes = [game(found).size2 for found in above]
    if sizes != [game(found).size2 for found in below] or sizes[0] == sizes[1]:
        raise ValueError("above and below must be for the same two sizes, which must differ")
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
