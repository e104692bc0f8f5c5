"""Enclosures against sixty digits of `decimal`, and small games that can be solved by hand."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import log

import pytest

from ocolab import certificates as cert
from ocolab import exact


@pytest.fixture(autouse=True)
def sixty_digits():
    with localcontext() as context:
        context.prec = 60
        yield


def fractions(text):
    return list(map(Fraction, text.split()))


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def encloses(pair, value, width=Decimal("1e-20")):
    low, high = map(decimal, pair)
    return low <= value <= high and high - low <= width


def test_outward_keeps_25_digits():
    third, ten = Fraction(1, 3), 10**25
    low, high = exact.outward(third, third)
    assert low == Fraction(ten // 3, ten) and high == Fraction(ten // 3 + 1, ten)
    assert exact.outward(-third, -third) == (-high, -low)
    assert exact.outward(Fraction(1, 4), Fraction(3, 4)) == (Fraction(1, 4), Fraction(3, 4))


@pytest.mark.parametrize("x", ["0", "1/1000", "1/3", "1/2", "2/3", "1", "7/2", "-1/3", "-5", "12"])
def test_the_exponential_is_enclosed(x):
    q = Fraction(x)
    value = decimal(q).exp()
    assert encloses(exact.exp_bounds(q), value, Decimal("1e-23") * max(1, value) ** 2)


@pytest.mark.parametrize(("n", "T"), [(2, 1), (2, 7), (3, 5), (10, 100)])
def test_the_step_of_hedge_is_enclosed(n, T):
    value = (8 * Decimal(n).ln() / T).sqrt()
    low, high = exact.hedge_step(n, T)
    assert encloses((low, high), value, Decimal("1e-12"))
    width = Fraction(1, 10**14)
    for bound, q, sign in ((low, Fraction(log(n)) - width, -1), (high, Fraction(log(n)) + width, 1)):
        middle, error = cert.root(8 * q / T, 25)
        assert bound == middle + sign * error


def weights(gaps, eta):
    """Of Hedge, in sixty digits."""
    raw = [(-eta * decimal(Fraction(g))).exp() for g in gaps]
    return [x / sum(raw) for x in raw]


def test_the_weights_of_hedge_are_enclosed_for_every_step_between_two():
    gaps, step = [0, 1, Fraction(5, 2)], (Fraction(1, 2), Fraction(3, 5))
    bounds = exact.hedge_weights(gaps, step)
    for eta in (Decimal("0.5"), Decimal("0.55"), Decimal("0.6")):
        for pair, value in zip(bounds, weights(gaps, eta), strict=True):
            assert encloses(pair, value, Decimal("0.2"))
    for pair, value in zip(
        exact.hedge_weights(gaps, (step[0],) * 2), weights(gaps, Decimal("0.5")), strict=True
    ):
        assert encloses(pair, value) and pair[0] < pair[1]
    raw = [(exact.exp_bounds(-step[1] * g)[0], exact.exp_bounds(-step[0] * g)[1]) for g in gaps]
    for i, (low, high) in enumerate(raw):
        others = [raw[j] for j in range(3) if j != i]
        least = low / (low + sum(other for _, other in others))
        most = high / (high + sum(other for other, _ in others))
        assert bounds[i] == exact.outward(least, most)


def regret(losses, eta):
    """Of Hedge on these losses, in sixty digits."""
    total, cost = [Fraction(0)] * len(losses[0]), Decimal(0)
    for loss in losses:
        cost += sum(p * decimal(Fraction(c)) for p, c in zip(weights(total, eta), loss, strict=True))
        total = [x + Fraction(c) for x, c in zip(total, loss, strict=True)]
    return cost - decimal(min(total))


@pytest.mark.parametrize(
    "losses", [[["1", "0"]], [[1, "0.7", 0], [0, 0, 1], [1, 0, 1]], [["1/2", 1], [1, 0], [1, "1/3"]]], ids=len
)
def test_a_regret_of_hedge_is_enclosed(losses):
    pair = exact.hedge_regret(losses, "3/4")
    assert encloses(pair, regret(losses, Decimal("0.75")))
    n, T = len(losses[0]), len(losses)
    assert T == 1 or pair[0] < pair[1]
    tuned = (8 * Decimal(n).ln() / T).sqrt()
    assert encloses(exact.hedge_regret(losses), regret(losses, tuned), Decimal("1e-11"))


@pytest.mark.parametrize(("n", "T"), [(2, 3), (3, 2)])
def test_the_worst_case_of_hedge_is_that_of_all_binary_games(n, T):
    bits = list(product((0, 1), repeat=n))
    worst = max(regret(game, Decimal("0.75")) for game in product(bits, repeat=T))
    pair = exact.hedge(n, T, "3/4")
    assert encloses(pair, worst) and pair[0] < pair[1]
    tuned = (8 * Decimal(n).ln() / T).sqrt()
    worst = max(regret(game, tuned) for game in product(bits, repeat=T))
    assert encloses(exact.hedge(n, T), worst, Decimal("1e-11"))


def test_coins_by_counting():
    assert exact.coin_sums(2) == [(-2, Fraction(1, 4)), (0, Fraction(1, 2)), (2, Fraction(1, 4))]
    assert exact.coin_sums(0) == [(0, Fraction(1))]  # no coin at all
    assert exact.interval(4) == Fraction(3, 2) and exact.interval(1) == 1
    assert exact.experts_floor(2, 2) == Fraction(3, 8)
    for n, T in ((1, 3), (3, 2), (2, 4)):
        sums = [sum(signs) for signs in product((-1, 1), repeat=T)]
        mean = Fraction(sum(max(row) for row in product(sums, repeat=n)), len(sums) ** n)
        assert exact.experts_floor(n, T) == mean / 2


def test_square_losses_by_hand():
    assert exact.square_loss(1) == Fraction(1, 2)
    assert exact.square_loss(4) == (Fraction(1, 4) + (a := Fraction(5, 16)) + (b := a + a**2) + b + b**2) / 2
    assert [exact.leader_square_loss(T) for T in (1, 2, 3)] == [
        Fraction(1, 2),
        Fraction(3, 2),
        Fraction(5, 3),
    ]


@pytest.mark.parametrize(
    ("A", "value", "p", "q"),
    [
        ([[3]], 3, [1], [1]),
        ([[1, 2], [3, 4]], 2, [1, 0], [0, 1]),
        (
            [[2, -1], [-1, 1]],
            Fraction(1, 5),
            [Fraction(2, 5), Fraction(3, 5)],
            [Fraction(2, 5), Fraction(3, 5)],
        ),
        ([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], 0, fractions("1/3 1/3 1/3"), fractions("1/3 1/3 1/3")),
        (
            [[-7, -4], [-3, -9]],
            Fraction(-17, 3),
            [Fraction(2, 3), Fraction(1, 3)],
            [Fraction(5, 9), Fraction(4, 9)],
        ),
    ],
    ids=range(5),
)
def test_small_matrix_games(A, value, p, q):
    """p pays at most the value in every column, q earns at least the value in every row."""
    exactly = [[Fraction(x) for x in row] for row in A]
    assert exact.matrix_game(exactly) == (value, p, q)


def test_experts_by_hand():
    assert [exact.experts(2, T) for T in (1, 2, 3)] == [Fraction(1, 2), Fraction(1, 2), Fraction(3, 4)]
    assert [exact.experts(n, 1) for n in (2, 3, 4, 5)] == [Fraction(n - 1, n) for n in (2, 3, 4, 5)]
    for name in (exact.experts, exact.hedge):
        with pytest.raises(ValueError, match="n must be an integer ≥ 2, got 1"):
            name(1, 3)


def test_one_expert_makes_no_game():
    from ocolab import limits

    for call in (exact.hedge_step, exact.hedge, limits.prediction.hedge_game):
        with pytest.raises(ValueError, match="n must be"):
            call(1, 3)
