"""The checker of certificates, where a matrix or a number can be written down."""

import copy
from fractions import Fraction

import pytest

from ocolib import certificates as cert

STORED = cert.stored()


def dense(form, n):
    """A form {(i, j): coefficient of G_ij} as a symmetric matrix."""
    M = [[Fraction(0)] * n for _ in range(n)]
    for (i, j), x in form.items():
        M[i][j] += Fraction(x) / 2
        M[j][i] += Fraction(x) / 2
    return M


@pytest.mark.parametrize("projection", ["lazy", "eager"])
def test_what_is_unknown_of_a_step_is_taken_off_the_diagonal(projection):
    """√2 is known to 18 digits; the rows of the unknown part are added up and subtracted."""
    problem = cert.Descent(3, 2, 5, 3, projection)
    n, conditions = len(problem.vectors()), problem.conditions()
    proof = {name: Fraction(k + 1, 3) for k, name in enumerate(conditions)}
    expected = [[-x for x in row] for row in dense(problem.objective(), n)]
    for name, weight in proof.items():
        A, error, _ = conditions[name]
        known, unknown = dense(A, n), dense(error, n)
        for i in range(n):
            for j in range(n):
                expected[i][j] += weight * known[i][j]
            expected[i][i] -= weight * sum(unknown[i])
    assert cert.slack(problem, proof) == expected
    errors = [x for _, error, _ in conditions.values() for x in error.values()]
    assert errors and set(errors) <= {Fraction(1, 2 * 10**18), Fraction(1, 10**18)}


TEXTBOOK = {f"gradient z{t}": "1/2" for t in (1, 2, 3)} | {"distance w1 u": "1/2"}
TEXTBOOK |= {"projection w2 u": 1, "projection w3 u": 1}


def test_a_line_by_hand():
    """η = 1: the textbook proof promises size²/2 + 3ρ²/2."""
    problem = cert.Descent(3, 1, 9, 4, "eager")
    assert cert.line(problem, TEXTBOOK) == (6, Fraction(1, 2)) and cert.upper(problem, TEXTBOOK) == Fraction(
        21, 2
    )
    assert cert.upper(problem, TEXTBOOK | {"projection w2 w1": 0}) == Fraction(21, 2), "0 is no fault"
    with pytest.raises(cert.Refused, match="the slack is negative at z1 = "):
        cert.upper(problem, {name: x for name, x in TEXTBOOK.items() if name != "gradient z1"})


def test_defaults():
    assert cert.Descent(2) == cert.Descent(2, 1, 1, 1, "lazy", "ball", 0)
    assert cert.root(2)[1] == Fraction(1, 2 * 10**18) and cert.root(0) == (0, 0)
    assert cert.root(2, 3) == (Fraction(2 * 1414 + 1, 2000), Fraction(1, 2000))
    found = STORED["range, eager, ball, T = 3"]
    assert cert.game(found) == cert.game(found, 0) != cert.game(found, 1)
    with pytest.raises(AttributeError):
        cert.Descent(2).T = 3


@pytest.mark.parametrize(
    ("x", "digits", "down", "up"),
    [
        ("0", 3, "0", "0"),
        ("1/20", 1, "0", "0.1"),
        ("-1/20", 1, "-0.1", "0"),
        ("12.25", 1, "12.2", "12.3"),
        ("1/1000", 3, "0.001", "0.001"),
        ("200", 2, "200", "200"),
        ("-7/3", 2, "-2.34", "-2.33"),
    ],
)
def test_decimals_by_hand(x, digits, down, up):
    q = Fraction(x)
    assert (cert.decimal(q, False, digits), cert.decimal(q, True, digits)) == (down, up)
    assert cert.decimal(Fraction(1, 3), up=False) == "0.333333333"


def test_one_round_by_hand():
    """T = 1: z_1 and u at distance R, opposite: the regret is R·ρ = 6."""
    problem = cert.Descent(1, size2=4, rho2=9)
    assert list(problem.vectors()) == ["z1", "u"]
    assert cert.lower(problem, [[9], [-6, 4]]) == 6
    assert cert.upper(problem, {"gradient z1": Fraction(1, 3), "distance w1 u": Fraction(3, 4)}) == 6
    assert cert.enclose(problem, {"gradient z1": "1/3", "distance w1 u": "3/4"}, [[9], [-6, 4]]) == (6, 6)
    for gram, words in (
        ([[9], [-6, 3]], "not positive semidefinite"),
        ([[10], [-6, 4]], "breaks 'gradient z1'"),
        ([[9], [-6, 5]], "breaks 'distance w1 u'"),
        ([[9]], "2 rows of"),
        ([[9], [-6, 4], [0, 0, 0]], "2 rows of"),
        ([[9, 0], [-6, 4]], "2 rows of"),
    ):
        with pytest.raises(cert.Refused, match=words):
            cert.lower(problem, gram)


def test_between_sizes_both_ends_must_be_exact_and_there_are_two():
    found = STORED["range, eager, ball, T = 3"]
    (a, b), (g, h) = found["problem"]["size2"], found["grams"]
    assert len(cert.verify(found)) == 2
    for sizes, grams in (([a, b, b], [g, h, h]), ([a, b], [g, smaller(h)]), ([a, b], [smaller(g), h])):
        spoiled = copy.deepcopy(found)
        spoiled["problem"]["size2"], spoiled["grams"] = sizes, grams
        with pytest.raises(cert.Refused, match="two with a line that is exact"):
            cert.verify(spoiled)


def smaller(gram):
    """The same game at nine tenths: allowed, and not the worst."""
    return [[str(Fraction(x) * Fraction(9, 10)) for x in row] for row in gram]


ONE_ROUND = {"gradient z1": "1/3", "distance w1 u": "3/4"}  # proves ρ²/3 + ¾R², which is R·ρ for R = 2, ρ = 3


def one_round(size2, multipliers, gram):
    """A certificate of one round with ρ = 3: what it proves is what it says."""
    problem = {
        "T": 1,
        "eta2": 1,
        "size2": [size2],
        "rho2": 9,
        "projection": "lazy",
        "within": "ball",
        "delay": 0,
    }
    return cert.certificate(problem, multipliers, [gram])


def test_an_excess_by_hand():
    """One learner against itself: between R² = 4 and R² = 16 the chord of 3R lies below, its lines above.

    At R² = 4 the line is 3 + ¾R², at R² = 16 it is 6 + ⅜R². They cross at R² = 8 in 9, where the chord from
    6 to 12 has 8.
    """
    low = one_round(4, ONE_ROUND, [[9], [-6, 4]])
    high = one_round(16, {"gradient z1": "2/3", "distance w1 u": "3/8"}, [[9], [-12, 16]])
    assert cert.verify(low) == [(6, 6)] and cert.verify(high) == [(12, 12)]
    assert cert.excess([low, high], [low, high]) == cert.excess([high, low], [high, low]) == -1
    poorer = one_round(16, {"gradient z1": "2/3", "distance w1 u": "3/8"}, [[9], [-9, 16]])
    assert cert.excess([low, poorer], [low, high]) == -3, "9 is proved of the first, 12 of the second"
    same = one_round(
        16, ONE_ROUND, [[9], [-12, 16]]
    )  # the same line twice: no crossing; 15 − 12 at the far end
    assert cert.excess([low, high], [low, same]) == -3
    for above, below in (([low, low], [low, low]), ([low, high], [high, low]), ([low, high], [low, low])):
        with pytest.raises(ValueError, match="above and below must be for the same two sizes"):
            cert.excess(above, below)


def test_an_excess_is_of_one_game_for_two_sizes():
    low, high = one_round(4, ONE_ROUND, [[9], [-6, 4]]), one_round(16, ONE_ROUND, [[9], [-12, 16]])
    other = copy.deepcopy(high)
    other["problem"]["within"] = "diameter"
    for name, above, below in (("above", [low, other], [low, high]), ("below", [low, high], [low, other])):
        with pytest.raises(ValueError, match=f"^{name} must be one game for two sizes"):
            cert.excess(above, below)


@pytest.mark.parametrize(
    ("M", "yes"),
    [
        ([[0, 0, 0], [0, 0, 0], [0, 0, 1]], True),
        ([[1, 1, 0], [1, 1, 1], [0, 1, 5]], False),
        ([[2, 1, 1], [1, 2, 1], [1, 1, 2]], True),
        ([[2, 3, 1], [3, 5, 2], [1, 2, 1]], True),
        ([[2, 3, 1], [3, 5, 2], [1, 2, Fraction(99, 100)]], False),
        ([[0, 0], [0, -1]], False),
        ([[0, 0, 1], [0, 3, 0], [1, 0, 7]], False),
        ([[3, Fraction(1, 2), 0], [Fraction(1, 2), 1, -1], [0, -1, 2]], True),
    ],
    ids=range(8),
)
def test_small_matrices(M, yes):
    assert cert.psd(M) is yes
    v = cert.direction(M)
    assert (v is None) is yes
    if v is not None:
        n = range(len(v))
        assert sum(M[i][j] * v[i] * v[j] for i in n for j in n) < 0


def test_a_certificate_without_a_statement_is_refused():
    found = next(iter(cert.stored().values()))
    del found["statement"]
    with pytest.raises(cert.Refused, match="not a certificate"):
        cert.verify(found)


def test_what_is_unknown_of_a_step_counts_against_the_game():
    """‖z‖² = 4 with an error of a quarter of it may be 5."""

    class Unsure:
        def __init__(self, bound):
            self.bound = Fraction(bound)

        def vectors(self):
            return {"z": 0}

        def conditions(self):
            return {"length": ({(0, 0): 1}, {(0, 0): Fraction(1, 4)}, self.bound)}

        def objective(self):
            return {(0, 0): Fraction(3)}

    assert cert.lower(Unsure(5), [[4]]) == 12
    with pytest.raises(cert.Refused, match=r"the game breaks 'length': 5 > 4\.5"):
        cert.lower(Unsure(4.5), [[4]])
