"""Certificates: the checker accepts what is proved, refuses what is not, and agrees with solver and play."""

import copy
import json
import random
import re
import time
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from folded import for_each
from hypothesis import given, settings
from hypothesis import strategies as st

from ocolab import certificates as cert
from ocolab import exact, limits
from ocolib import adversaries, theorems
from ocolib.game import play
from ocolib.learners import OGD, Hedge, inverse_sqrt
from ocolib.sets import Ball, Hull, Simplex

STORED = cert.stored()
every_certificate = for_each("name", STORED)
WIDTH = Fraction(1, 10**6)


def one(name):
    ((low, high),) = cert.verify(STORED[name])
    return low, high


# ---------------------------------------------------------------- exact linear algebra


small = st.integers(-4, 4)


@given(st.lists(st.lists(small, min_size=4, max_size=4), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_psd_agrees_with_eigenvalues_and_convicts_with_a_vector(V):
    """VᵀV is positive semidefinite, also singular; less 1 in a corner it may not be, as a vector shows."""
    G = [
        [sum(x * y for x, y in zip(a, b, strict=True)) for b in zip(*V, strict=True)]
        for a in zip(*V, strict=True)
    ]
    assert cert.psd(G)
    G[0][0] -= 1
    v = cert.direction(G)
    values = np.linalg.eigvalsh(np.array(G, dtype=float))
    if v is None:
        assert values.min() > -1e-9
    else:
        assert sum(G[i][j] * x * y for i, x in enumerate(v) for j, y in enumerate(v)) < 0
        assert values.min() < 1e-9


@pytest.mark.parametrize(
    "M", [[[0, 1], [1, 5]], [[0, 1], [1, 0]], [[1, 2], [2, 3]], [[-1]], [[0, 0], [0, -1]]]
)
def test_psd_refuses(M):
    v = cert.direction(M)
    assert sum(M[i][j] * x * y for i, x in enumerate(v) for j, y in enumerate(v)) < 0


def test_psd_decides_where_floats_cannot():
    tiny = Fraction(1, 10**40)
    assert cert.psd([[1, 1], [1, 1]]) and not cert.psd([[1, 1], [1, 1 - tiny]])


@given(st.fractions(0, 100, max_denominator=1000))
def test_root_encloses(q):
    middle, error = cert.root(q)
    assert (middle - error) ** 2 <= q <= (middle + error) ** 2 and error <= Fraction(1, 10**18)
    assert middle - error >= 0


@given(st.fractions(-100, 100, max_denominator=10**6))
def test_decimals_are_rounded_outward(x):
    low, high = Fraction(cert.decimal(x, up=False, digits=3)), Fraction(cert.decimal(x, up=True, digits=3))
    assert low <= x <= high and high - low in (0, Fraction(1, 1000))


# ---------------------------------------------------------------- the problem is the one of `limits`


@pytest.mark.parametrize("within", ["ball", "diameter"])
@pytest.mark.parametrize("projection", ["lazy", "eager"])
@pytest.mark.parametrize("T", [1, 2, 4])
def test_conditions_are_those_of_the_semidefinite_program(T, projection, within):
    """The same names, matrices and bounds as the floating-point program, stated independently."""
    ours = cert.Descent(T, Fraction(9, 4), 3, 2, projection, within)
    theirs = limits.DescentProblem(np.sqrt(3), np.sqrt(2), T, 1.5, projection, within)
    conditions, n = ours.conditions(), len(ours.vectors())
    assert n == 2 * T

    def dense(form):
        M = np.zeros((n, n))
        for (i, j), x in form.items():
            M[i, j] += float(x) / 2
            M[j, i] += float(x) / 2
        return M

    expected = {" ".join(name): value for name, value in theirs.conditions().items()}
    assert set(conditions) == set(expected)
    for name, (A, error, b) in conditions.items():
        assert not error  # √(9/4) is rational
        assert np.allclose(dense(A), expected[name][0]) and np.isclose(float(b), expected[name][1]), name
    assert np.allclose(dense(ours.objective()), theirs.objective())


@pytest.mark.parametrize("multiplier", [1, Fraction(1, 3)])
def test_no_float_enters_the_slack(multiplier):
    problem = cert.Descent(3, [2, Fraction(1, 2)], projection="eager", within="diameter")
    M = cert.slack(problem, dict.fromkeys(problem.conditions(), multiplier))
    assert all(type(x) is Fraction for row in M for x in row)
    for A, error, b in problem.conditions().values():
        assert not any(isinstance(x, float) for x in (*A.values(), *error.values(), b))


def test_unknown_digits_are_counted_against_the_prover():
    """With an irrational step a matrix that is just feasible is refused, for both sides."""
    T, proof = 3, {f"gradient z{t}": "1/2" for t in (1, 2, 3)}
    proof |= {"distance w1 u": "1/2", "projection w2 u": "1", "projection w3 u": "1"}
    assert cert.upper(cert.Descent(T, 1, 9, projection="eager"), proof) == 6
    almost = cert.Descent(T, 1 + Fraction(1, 10**40), 9, projection="eager")
    with pytest.raises(cert.Refused, match="the slack is negative at"):
        cert.upper(almost, proof)
    gram = STORED["range, eager, ball, T = 3"]["grams"][1]
    assert cert.lower(cert.Descent(T, 1, 9, projection="eager"), gram) == 6
    with pytest.raises(cert.Refused, match="the game breaks 'projection"):
        cert.lower(almost, gram)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"T": 0}, "T must be an integer from 1 to 20"),
        ({"T": 2.0}, "T must be an integer from 1 to 20"),
        ({"T": 21}, "T must be an integer from 1 to 20"),
        ({"T": True}, "T must be an integer from 1 to 20"),
        ({"delay": -1}, "delay must be an integer from 0 to 20"),
        ({"projection": "busy"}, "projection must be one of"),
        ({"within": "box"}, "within must be one of"),
        ({"projection": "eager", "delay": 1}, "delay must be 0 for eager"),
        ({"eta2": [1, 1, 1]}, "eta2 must have T − 1 = 1 entries"),
        ({"size2": 0}, "must be > 0"),
        ({"rho2": 0}, "must be > 0"),
        ({"eta2": -1}, "must be > 0"),
    ],
)
def test_bad_problems_are_named(change, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        cert.Descent(**{"T": 2} | change)


def test_bad_matrices_are_named():
    with pytest.raises(ValueError, match="M must be symmetric"):
        cert.psd([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="M must hold whole numbers and fractions"):
        cert.psd([[1.0, 0], [0, 1]])
    with pytest.raises(cert.Refused, match="4 rows of"):
        cert.lower(cert.Descent(2), [[1]])
    with pytest.raises(cert.Refused, match="no condition 'gradient z3'"):
        cert.upper(cert.Descent(2), {"gradient z3": 1})
    with pytest.raises(cert.Refused, match="negative: -1"):
        cert.upper(cert.Descent(2), {"gradient z1": -1})
    with pytest.raises(ValueError, match="q must be ≥ 0"):
        cert.root(-1)


# ---------------------------------------------------------------- those that ship


@every_certificate
def test_every_stored_certificate_is_verified_and_narrow(name):
    found = STORED[name]
    for (low, high), size2 in zip(cert.verify(found), found["problem"]["size2"], strict=True):
        unit, _ = cert.root(Fraction(size2))  # Rρ in the units of the problem, where η or R is 1
        assert 0 <= high - low <= WIDTH * unit
    for words in ("w_1 = 0", "all dimensions", "closed convex S ∋ 0", "convex losses", "‖z_t‖² ≤ 1"):
        assert words in found["statement"]


def flips(found):
    """Copies of a certificate with one digit changed: of the claim, or the first but 0 of some datum."""

    def other(text):
        place = re.search(r"[1-9]", text).start()
        return text[:place] + str(int(text[place]) % 9 + 1) + text[place + 1 :]

    for place in [m.start() for m in re.finditer(r"\d", found["statement"])][-3:]:
        spoiled, text = copy.deepcopy(found), found["statement"]
        spoiled["statement"] = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        yield spoiled
    spoiled = copy.deepcopy(found)
    spoiled["problem"]["size2"][0] = other(spoiled["problem"]["size2"][0])
    yield spoiled
    largest = max(found["multipliers"], key=lambda name: Fraction(found["multipliers"][name]))
    for name in {"gradient z1", "distance w1 u", largest}:
        spoiled = copy.deepcopy(found)
        spoiled["multipliers"][name] = other(spoiled["multipliers"][name])
        yield spoiled
    for i in (0, len(found["grams"][0]) - 1):
        spoiled = copy.deepcopy(found)
        row = spoiled["grams"][0][i]
        row[i] = other(row[i])  # the length of a vector
        yield spoiled


def shortest_of_its_kind(name):
    kind, _, T = name.rpartition(" = ")
    return int(T) == min(int(other.rpartition(" = ")[2]) for other in STORED if other.startswith(kind))


@pytest.mark.parametrize(
    "name",
    [name if shortest_of_its_kind(name) else pytest.param(name, marks=pytest.mark.long) for name in STORED],
)
def test_a_flipped_digit_is_refused(name):
    for spoiled in flips(STORED[name]):
        with pytest.raises(cert.Refused):
            cert.verify(spoiled)


@given(st.sampled_from([name for name in STORED if re.search(r"T = [234]$", name)]), st.data())
@settings(max_examples=60, deadline=None)
def test_a_digit_anywhere_changes_the_claim_or_nothing(name, data):
    """Whatever digit is changed, the certificate is refused or proves the very same statement, still true."""
    text = json.dumps(STORED[name])
    place = data.draw(st.sampled_from([m.start() for m in re.finditer(r"\d", text)]))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != text[place]]))
    try:
        spoiled = json.loads(text[:place] + digit + text[place + 1 :])
        cert.verify(spoiled)
    except (json.JSONDecodeError, cert.Refused):
        return
    assert spoiled["statement"] == STORED[name]["statement"]


@pytest.mark.parametrize(
    "change",
    [
        {"problem": {"T": 2, "eta0": "1", "size2": ["16"], "projection": "lazy", "within": "ball"}},
        {"problem": {"T": 2}},
        {"multipliers": {"gradient z1": "1/0"}},
        {"grams": []},
        {"grams": [["1"]]},
        {"multipliers": None},
        {"multipliers": ["1"]},
        {"problem": STORED["short steps, lazy, T = 2"]["problem"] | {"size2": []}, "grams": []},
    ],
)
def test_what_is_no_certificate_is_refused(change):
    with pytest.raises(cert.Refused, match=r"not a certificate|rows of|a number must|a list of one size"):
        cert.verify(STORED["short steps, lazy, T = 2"] | change)


def test_a_certificate_between_two_sizes_must_be_exact():
    found = copy.deepcopy(STORED["range, lazy, ball, T = 3"])
    found["multipliers"]["gradient z1"] = "0.6"
    with pytest.raises(cert.Refused, match="exact at both ends"):
        cert.verify(found)


# ---------------------------------------------------------------- they agree with solver, formula and play


@for_each("T, projection, within", list(product(range(1, 11), ["lazy", "eager"], ["ball", "diameter"])))
def test_the_useful_range_is_the_closed_form(T, projection, within):
    found = STORED[f"range, {projection}, {within}, T = {T}"]
    sizes = list(map(Fraction, found["problem"]["size2"]))
    assert sizes == ([1] if T == 1 else [1, T**2])
    for size2, (low, high) in zip(sizes, cert.verify(found), strict=True):
        assert low == high == (size2 + T) / 2
        assert float(low) == pytest.approx(
            limits.descent(T=T, eta=1.0, radius=float(size2) ** 0.5, rho=1.0), rel=1e-12
        )


def mixed(T, size2, projection="lazy", within="ball"):
    """The game of the useful range for a size between, by the recipe of the page."""
    found = STORED[f"range, {projection}, {within}, T = {T}"]
    share = (Fraction(size2) - 1) / (T**2 - 1)
    return [
        [(1 - share) * Fraction(x) + share * Fraction(y) for x, y in zip(p, q, strict=True)]
        for p, q in zip(*found["grams"], strict=True)
    ]


@pytest.mark.parametrize("within", ["ball", "diameter"])
@pytest.mark.parametrize("size2", ["3/2", 4, "59/4"])
def test_between_two_sizes_the_mixture_is_a_game(size2, within):
    for projection in ("lazy", "eager"):
        problem = cert.Descent(4, 1, size2, 1, projection, within)
        low = cert.lower(problem, mixed(4, size2, projection, within))
        proof = STORED[f"range, {projection}, {within}, T = 4"]["multipliers"]
        assert low == cert.upper(problem, proof) == (Fraction(size2) + 4) / 2


def test_lecture_13_three_quarters_follows():
    for T in range(2, 11):
        value = (Fraction(2 * T) + T) / 2  # η = ρ = 1, R² = 2T, inside [1, T²]
        assert 1 <= 2 * T <= T**2
        assert float(value) / np.sqrt(2 * T) == pytest.approx(0.75 * np.sqrt(2 * T))


@pytest.mark.parametrize(
    "name, problem",
    [
        ("long steps, lazy, ηρ/R = 2, T = 5", limits.DescentProblem(0.5, 1.0, 5, 1.0)),
        ("long steps, eager, ηρ/R = 3/2, T = 4", limits.DescentProblem(2 / 3, 1.0, 4, 1.0, "eager")),
        (
            "schedule 1/√t, diameter, T = 6",
            limits.DescentProblem(1.0, 1.0, 6, inverse_sqrt(1.0), "eager", "diameter"),
        ),
        ("schedule 1/√t, ball, T = 5", limits.DescentProblem(1.0, 1.0, 5, inverse_sqrt(1.0), "eager")),
        ("short steps, eager, T = 4", limits.DescentProblem(8.0, 1.0, 4, 1.0, "eager")),
    ],
)
def test_enclosures_contain_the_solver(name, problem):
    low, high = one(name)
    assert float(low) - 1e-5 <= problem.solve().value <= float(high) + 1e-5


@pytest.mark.parametrize("T, delay, value", [(4, 1, 2.998230), (6, 1, 3.842316), (6, 2, 4.622656)])
def test_delay_agrees_with_the_recorded_values(T, delay, value):
    low, high = one(f"delay {delay}, T = {T}")
    assert float(low) - 1e-6 <= value <= float(high) + 1e-6


def vectors(found):
    """The game of a certificate as vectors: losses Z and corners 0, w, u."""
    gram = found["grams"][-1]
    n = len(gram)
    G = np.array([[float(Fraction(gram[max(i, j)][min(i, j)])) for j in range(n)] for i in range(n)])
    values, axes = np.linalg.eigh(G)
    V = axes * np.sqrt(np.maximum(values, 0))
    T = found["problem"]["T"]
    return V[:T], np.vstack([np.zeros(n), V[T:]])


@pytest.mark.parametrize(
    "name",
    [
        "long steps, eager, ηρ/R = 2, T = 5",
        "schedule 1/√t, diameter, T = 5",
        "delay 1, T = 6",
        "delay 2, T = 7",
    ],
)
def test_the_games_below_are_played(name):
    """Descent itself, on the hull of the corners, regrets what the Gram matrix proves."""
    found = STORED[name]
    Z, corners = vectors(found)
    problem, hull = found["problem"], Hull(corners)
    eta2 = problem["eta2"]
    eta = [
        float(Fraction(x)) ** 0.5 for x in ([eta2] * problem["T"] if isinstance(eta2, str) else [*eta2, "1"])
    ]
    learner = OGD(hull, lambda t: eta[min(t, len(eta)) - 1], problem["projection"])
    if problem.get("delay"):
        learner = limits.Delayed(OGD(hull, eta[0]), problem["delay"])
    regret = play(learner, Z).regret(hull)
    assert regret >= float(one(name)[0]) - 1e-5
    assert regret <= float(one(name)[1]) + 1e-5


@pytest.mark.parametrize("T", range(3, 11))
def test_eager_is_strictly_worse_for_long_steps(T):
    ratios = ["5/4", "3/2", "2", "3", "5"]
    for a, b in pairwise(ratios):
        eager, lazy = (
            [STORED[f"long steps, {kind}, ηρ/R = {r}, T = {T}"] for r in (a, b)] for kind in ("eager", "lazy")
        )
        assert cert.excess(eager, lazy) > 0
        assert cert.excess(lazy, eager) < 0


def test_excess_compares_like_with_like():
    def lazy(r, T):
        return STORED[f"long steps, lazy, ηρ/R = {r}, T = {T}"]

    with pytest.raises(ValueError, match="same two sizes"):
        cert.excess([lazy("2", 3), lazy("3", 3)], [lazy("2", 3), lazy("3/2", 3)])
    with pytest.raises(ValueError, match="below must be one game"):
        cert.excess([lazy("2", 3), lazy("3", 3)], [lazy("2", 3), lazy("3", 4)])


def test_short_steps_are_the_straight_line():
    for T in range(2, 11):
        for kind in ("lazy", "eager"):
            low, high = one(f"short steps, {kind}, T = {T}")
            assert low == high == 2 * T * T - Fraction(T * (T - 1), 2)


def test_stored_gives_a_fresh_copy():
    cert.stored()["delay 1, T = 4"]["statement"] = "nothing"
    assert cert.stored()["delay 1, T = 4"]["statement"] != "nothing"


# ---------------------------------------------------------------- dynamic programs in fractions


@pytest.mark.parametrize("n, T", [(2, 1), (2, 10), (3, 4), (3, 10), (4, 5)])
def test_experts_exactly(n, T):
    value = exact.experts(n, T)
    assert float(value) == pytest.approx(limits.solve_experts(n, T).value, abs=1e-9)
    assert value >= exact.experts_floor(n, T)
    if n == 2:
        assert 2 * value == exact.interval(T)


@given(st.lists(st.lists(small, min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_matrix_games_have_a_value(A):
    value, p, q = exact.matrix_game([[Fraction(x) for x in row] for row in A])
    assert all(sum(x * row[j] for x, row in zip(p, A, strict=True)) <= value for j in range(3))
    assert all(sum(y * x for y, x in zip(q, row, strict=True)) >= value for row in A)


@pytest.mark.parametrize("T", [1, 2, 3, 7, 10])
def test_square_loss_and_coins_exactly(T):
    assert float(exact.square_loss(T)) == pytest.approx(limits.square_loss(T), rel=1e-12)
    value = limits.interval(T=T, radius=1.0, rho=1.0)
    assert float(exact.interval(T)) == pytest.approx(value, rel=1e-12)
    assert float(exact.experts_floor(5, T)) == pytest.approx(limits.experts_floor(5, T), rel=1e-9)


@pytest.mark.parametrize("T", [1, 2, 3, 7])
def test_the_worst_of_the_mean_by_exhaustion(T):
    """All ±1 sequences, the regret from its definition: losses of the running mean less those of the last."""

    def regret(centres):
        means = [Fraction(sum(centres[:t]), max(t, 1)) for t in range(T + 1)]
        paid = sum((c - m) ** 2 for c, m in zip(centres, means[:-1], strict=True))
        return (paid - sum((c - means[-1]) ** 2 for c in centres)) / 2

    assert exact.leader_square_loss(T) == max(map(regret, product((1, -1), repeat=T)))


def test_fractions_stay_fractions():
    values = [exact.experts(3, 4), exact.interval(3), exact.experts_floor(3, 3), exact.square_loss(4)]
    values += [exact.leader_square_loss(4), *exact.hedge(2, 3), *exact.hedge_regret([("1", "0.3"), (0, 1)])]
    values += [*exact.hedge_step(3, 3), *exact.exp_bounds(Fraction(-1, 3))]
    assert all(type(x) is Fraction for x in values)


@given(st.fractions(-20, 20, max_denominator=1000))
def test_exponentials_are_enclosed(x):
    low, high = exact.exp_bounds(x)
    assert low <= high and float(low) == pytest.approx(np.exp(float(x)), rel=1e-12)
    below, above = exact.exp_bounds(x / 2)
    assert below**2 <= high and above**2 >= low  # (e^{x/2})² = e^x lies in both


@pytest.mark.parametrize("n, T", [(2, 10), (3, 3), (3, 8)])
def test_hedge_is_enclosed(n, T):
    low, high = exact.hedge(n, T)
    assert 0 <= high - low < Fraction(1, 10**12)
    eta = theorems.Hedge(n, T).step

    def weights(states):
        return np.exp(-eta * states) / np.exp(-eta * states).sum(axis=1, keepdims=True)

    assert float(low) == pytest.approx(limits.solve_experts(n, T, weights).value, abs=1e-10)


def test_hedge_is_worse_beyond_binary_losses():
    game = [("1", "0.7", "0"), (0, 0, 1), (1, 0, 1)]
    low, high = exact.hedge_regret(game)
    assert low > exact.hedge(3, 3)[1]
    Z = np.array([[float(x) for x in row] for row in game])
    played = play(Hedge(3, theorems.Hedge(3, 3).step), Z).regret(Simplex(3))
    assert float(low) == pytest.approx(played, abs=1e-10) and high - low < Fraction(1, 10**12)
    assert exact.hedge_regret([("1/2", 0), (0, 1)], step=5)[0] > exact.hedge(2, 2, step=5)[1]


def test_the_ball_floor_is_met_by_the_certificate_of_the_sharp_step():
    """R² = T in units η = ρ = 1: the worst case T is Rρ√T, the minimax value on the ball."""
    for T in (2, 5, 10):
        R = np.sqrt(T)
        assert cert.upper(cert.Descent(T, 1, T), STORED[f"range, lazy, ball, T = {T}"]["multipliers"]) == T
        assert limits.ball(radius=R, rho=1.0, T=T) == pytest.approx(T)
        Z = adversaries.spiral(radius=R, rho=1.0, T=T, eta=1.0)
        assert play(OGD(Ball(2, R), 1.0), Z).regret(Ball(2, R)) == pytest.approx(T)


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
        with pytest.raises(cert.Refused, match=r"exact at both ends|of one size, or of two"):
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


# ---------------------------------------------------------------- crafted: false, malformed or huge


def line_of(T, scale):
    """A certificate for two sizes of a game scaled so that its values are `scale` times those of ρ = 1."""
    found = STORED[f"range, lazy, ball, T = {T}"]
    q = Fraction(scale)
    problem = found["problem"] | {"rho2": q**2, "eta2": 1 / q**2, "T": T}
    grams = []
    for gram in found["grams"]:  # z grows by the scale, w and u stay
        size = [q] * T + [Fraction(1)] * (len(gram) - T)
        grams.append(
            [[Fraction(x) * size[i] * size[j] for j, x in enumerate(row)] for i, row in enumerate(gram)]
        )
    proof = {
        name: Fraction(x) / q if name.startswith("gradient") else Fraction(x) * q
        for name, x in found["multipliers"].items()
    }
    return cert.certificate(problem, proof, grams)


def test_ends_that_no_decimal_number_hits_are_written_as_fractions():
    """Both were once printed rounded down, as if exact: "from 0 to 0", "1.666666666"."""
    for scale in (Fraction(1, 10**12), Fraction(10, 9)):
        found = line_of(2, scale)
        (low, _), (high, _) = cert.verify(json.loads(json.dumps(found)))
        assert f"from {low} to {high}." in found["statement"] and Fraction(str(low)) == low
        for end in (low, high):
            rounded = found["statement"].replace(str(end), cert.decimal(end, up=False))
            assert rounded != found["statement"]
            with pytest.raises(cert.Refused, match="it claims"):
                cert.verify(found | {"statement": rounded})


def test_a_certificate_of_fractions_is_json():
    found = line_of(3, Fraction(7, 3))
    assert cert.verify(json.loads(json.dumps(found))) == cert.verify(found)
    problem = {"T": 1, "eta2": Fraction(1, 3), "size2": [Fraction(4, 9)]}
    gram = [[Fraction(1)], [Fraction(-2, 3), Fraction(4, 9)]]
    made = cert.certificate(problem, {"gradient z1": Fraction(1, 3), "distance w1 u": Fraction(3, 4)}, [gram])
    assert json.loads(json.dumps(made)) == made and "the largest regret is 2/3." in made["statement"]


def changed(found, *path, to):
    """A copy of a certificate with one entry replaced."""
    found = copy.deepcopy(found)
    inner = found
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to(inner[path[-1]]) if callable(to) else to  # a field that was left out is added
    return found


RANGE, LONG = "range, lazy, ball, T = 3", "long steps, lazy, ηρ/R = 5/4, T = 3"
CRAFTED = {
    "a rounded value": (RANGE, "statement", lambda s: s.replace("from 2 ", "from 1.999999999 ")),
    "a smaller upper end": (LONG, "statement", lambda s: s.replace("1.790833084", "1.790833083")),
    "a larger lower end": (LONG, "statement", lambda s: s.replace("1.79083267", "1.79083268")),
    "another T in words": (RANGE, "statement", lambda s: s.replace("T = 3", "T = 4")),
    "another class of sets in words": (RANGE, "statement", lambda s: s.replace("in the ball", "near a ball")),
    "another learner in words": (RANGE, "statement", lambda s: s.replace("Lazy", "Eager")),
    "no statement": (RANGE, "statement", None),
    "another learner": (LONG, "problem", "projection", "eager"),
    "a longer gradient": (LONG, "problem", "rho2", "2"),
    "a larger set": (LONG, "problem", "size2", ["17/25"]),
    "a wider range": (RANGE, "problem", "size2", ["1", "10"]),
    "three sizes": (RANGE, "problem", "size2", ["1", "4", "9"]),
    "no size": (RANGE, "problem", "size2", []),
    "sizes as text": (RANGE, "problem", "size2", "19"),
    "two sizes that are not exact": (LONG, "problem", "size2", ["16/25", "16/25"]),
    "a delay that eager descent has not": ("range, eager, ball, T = 3", "problem", "delay", 1),
    "an unknown field": (RANGE, "problem", "note", "true"),
    "T as text": (RANGE, "problem", "T", "3"),
    "T as a truth value": ("range, lazy, ball, T = 1", "problem", "T", True),
    "a negative multiplier": (RANGE, "multipliers", "projection w2 w3", "-1"),
    "a multiplier too small": (LONG, "multipliers", "gradient z1", "0.1"),
    "a condition that is none": (RANGE, "multipliers", "projection w9 u", "1"),
    "no multipliers": (RANGE, "multipliers", {}),
    "a Gram matrix that no vectors have": (LONG, "grams", 0, 1, 0, "9"),
    "a gradient too long": (LONG, "grams", 0, 0, 0, "2"),
    "a row too short": (LONG, "grams", 0, 1, ["0"]),
    "a Gram matrix of text": (LONG, "grams", 0, ["1", "23", "456", "7890", "12345", "123456"]),
    "one Gram matrix for two sizes": (RANGE, "grams", lambda grams: grams[:1]),
    "a float": (LONG, "grams", 0, 0, 0, 0.1),
    "a truth value": (LONG, "grams", 0, 0, 0, True),
    "not a number": (LONG, "grams", 0, 0, 0, "nan"),
    "infinity": (LONG, "multipliers", "gradient z1", "inf"),
    "a division by 0": (LONG, "multipliers", "gradient z1", "1/0"),
    "digits of another script": (LONG, "multipliers", "gradient z1", "١"),
    "an exponent": (LONG, "multipliers", "gradient z1", "1e100000000"),
    "a negative exponent": (LONG, "grams", 0, 0, 0, "1e-100000000"),
    "a huge size": (LONG, "problem", "size2", ["1e100000000"]),
    "a huge step": (LONG, "problem", "eta2", "1/" + "9" * 10**6),
    "a huge whole number": (LONG, "multipliers", "gradient z1", 10**10**6),
    "a million digits": (LONG, "multipliers", "gradient z1", "1" * 10**6),
    "a billion rounds": (LONG, "problem", "T", 10**9),
    "a billion rounds late": (LONG, "problem", "delay", 10**9),
    "a million sizes": (LONG, "problem", "size2", ["1"] * 10**6),
}  # fmt: skip


def crafted(numerator, denominator):
    """A `Fraction` that is not in lowest terms with a positive denominator."""
    made = object.__new__(Fraction)
    made._numerator, made._denominator = numerator, denominator
    return made


def test_a_number_is_made_anew_from_whole_numbers():
    """5/(−1) would not count as negative, and a number of NumPy overflows."""
    assert cert.number(crafted(5, -1)) == -5 and str(cert.number(crafted(4, 2))) == "2"
    assert cert.number(np.int64(2**62)) ** 2 == 2**124 and type(cert.number(np.int64(3)).numerator) is int
    assert not cert.psd([[crafted(1, -1)]]) and cert.psd([[np.int64(2**62), 0], [0, np.int64(2**62)]])
    with pytest.raises(cert.Refused, match="must not have the denominator 0"):
        cert.number(crafted(1, 0))
    with pytest.raises(cert.Refused, match="is negative"):
        cert.upper(cert.Descent(1), {"gradient z1": crafted(1, -2), "distance w1 u": "1/2"})


@pytest.mark.parametrize("kind", CRAFTED)
def test_what_is_false_malformed_or_huge_is_refused_at_once(kind):
    name, *path, to = CRAFTED[kind]
    found = changed(STORED[name], *path, to=to)
    began = time.process_time()
    with pytest.raises(cert.Refused):
        cert.verify(found)
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "found", [None, [], {}, {"problem": {}}, "text", 7, {"problem": [], "grams": 1}], ids=repr
)
def test_what_has_not_even_the_shape_of_a_certificate_is_refused(found):
    with pytest.raises(cert.Refused):
        cert.verify(found)


def huge(T, value, grams=0):
    """A game in which nothing happens, with one long number as every multiplier, or beside every diagonal."""
    problem = {"T": T, "eta2": "1", "size2": ["1"], "rho2": "1"}
    game = cert.Descent(T)
    rows = range(1, len(game.vectors()) + 1)
    gram = [[value() if grams and j == i - 1 else "0" for j in range(i)] for i in rows]
    multipliers = {name: "1" if grams else value() for name in game.conditions()}
    return {"statement": "", "problem": problem, "multipliers": multipliers, "grams": [gram]}


@pytest.mark.parametrize("T", [12, 18])
@pytest.mark.parametrize("grams", [0, 1])
@pytest.mark.parametrize("digits", [1, 40])
def test_many_denominators_do_not_hold_up_the_check(T, grams, digits):
    rng = random.Random(T)
    found = huge(T, lambda: f"1/{rng.randrange(10**digits, 10 ** (digits + 1))}", grams)
    began = time.process_time()
    with pytest.raises(cert.Refused):
        cert.verify(found)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "change",
    [
        {"corollary": "the largest regret of every learner is 2"},
        {"statement": ["text"]},
        {"statement": type("Agreeable", (str,), {"__ne__": lambda self, other: False})("false")},
    ],
)
def test_nothing_stands_beside_the_statement_and_the_statement_is_plain_text(change):
    with pytest.raises(cert.Refused, match="nothing else"):
        cert.verify(STORED[RANGE] | change)


def test_a_name_that_is_no_condition_is_refused_before_its_number_is_read():
    """A million wrong names do not cost the time of a million numbers."""
    made = {"gradient z1": "1", "no condition": "not a number"}
    with pytest.raises(cert.Refused, match="there is no condition 'no condition'"):
        cert.line(cert.Descent(2), made)


def test_a_matrix_whose_elimination_would_take_long_is_refused():
    n = 20
    for digits, fine in ((990, True), (1000, False)):  # binary digits: 20·1000 is the limit
        M = [[(1 << digits) * (i == j) for j in range(n)] for i in range(n)]
        if fine:
            assert cert.psd(M)
        else:
            with pytest.raises(cert.Refused, match=r"at most 20000 rows × binary digits.*got 20 × 1001"):
                cert.psd(M)


def test_how_long_a_number_and_a_common_denominator_may_be():
    for sign in (1, -1):
        assert cert.number(sign * 2**399) == sign * 2**399
        with pytest.raises(cert.Refused, match="a number must have at most 400 binary digits"):
            cert.number(sign * 2**400)
    with pytest.raises(cert.Refused, match="a number must have at most 400 binary digits"):
        cert.number(Fraction(1, 2**400))
    assert cert._denominator([Fraction(1, 2**999), Fraction(1, 2)], 20) == 2**999
    with pytest.raises(cert.Refused, match="at most 1000 binary digits for 20 rows"):
        cert._denominator([Fraction(1, 2**1000)], 20)


def test_where_a_slack_is_negative_is_said_of_small_matrices_only():
    with pytest.raises(cert.Refused, match="the slack is negative at z1 = "):
        cert.line(cert.Descent(12), {})
    with pytest.raises(cert.Refused, match=r"^the slack is not positive semidefinite$"):
        cert.line(cert.Descent(13), {})
