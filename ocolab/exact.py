"""Compute the sums and dynamic programs of `limits` in exact fractions, or with bounded rounding.

`experts`, `interval`, `experts_floor`, `square_loss` and `leader_square_loss` return the value itself. The
weights of Hedge are mostly irrational: `hedge` and `hedge_regret` return two fractions with the value between
them. Everything here is the arithmetic of whole numbers, but for a guess of ln n, which is proved.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, log

from ocolab.certificates import Number, Pair, Refused, root
from ocolib import validate

DIGITS = 25  # of the bounds that enter Hedge


# ---------------------------------------------------------------- coins, and the square loss


def coin_sums(T: int) -> list[tuple[int, Fraction]]:
    """Return [(value, probability)] of S_T, the sum of T fair signs."""
    return [(2 * k - T, Fraction(comb(T, k), 2**T)) for k in range(validate.count("T", T, low=0) + 1)]


def interval(T: int) -> Fraction:
    """Return E|S_T|, the minimax regret of linear losses |z_t| ≤ 1 on [−1, 1].

    >>> str(interval(3))
    '3/2'
    """
    return sum((abs(s) * chance for s, chance in coin_sums(validate.count("T", T))), Fraction(0))


def experts_floor(n: int, T: int) -> Fraction:
    """Return ½·E max_i S_i of n independent sums S_i like S_T:
    what fair coins as losses force on every learner.
    """
    n, T = validate.count("n", n), validate.count("T", T)
    total = below = Fraction(0)
    for s, chance in coin_sums(T):
        total += s * ((below + chance) ** n - below**n)
        below += chance
    return total / 2


def square_loss(T: int) -> Fraction:
    """Return ½Σα_t with α_T = 1/T, α_{t−1} = α_t + α_t²: the minimax regret of ½‖w − c_t‖², ‖c_t‖ ≤ 1.

    >>> str(square_loss(2)), str(square_loss(3))
    ('5/8', '115/162')
    """
    alpha = Fraction(1, validate.count("T", T))
    total = alpha
    for _ in range(T - 1):
        alpha += alpha**2
        total += alpha
    return total / 2


def leader_square_loss(T: int) -> Fraction:
    """Return the largest regret of the running mean from w_1 = 0 on ½(w − c_t)², c_t ∈ [−1, 1];
    the worst are ±1.
    """

    @cache
    def to_come(t, s):
        if t > T:
            return Fraction(0)
        mean = Fraction(s, max(t - 1, 1))
        return max((c - mean) ** 2 / (2 * t) + to_come(t + 1, s + c) for c in (1, -1))

    validate.count("T", T)
    return to_come(1, 0)


# ---------------------------------------------------------------- experts


def matrix_game(A: Sequence[Sequence[Fraction]]) -> tuple[Fraction, list[Fraction], list[Fraction]]:
    """Return (value, p, q): p on the rows pays at most `value` against every column,
    q on the columns makes every row pay at least that.

    A simplex method finds p and q (Bland's rule, so it ends); that they are optimal is checked, not believed.
    """
    rows, columns = len(A), len(A[0])
    shift = 1 - min(map(min, A))  # all entries ≥ 1: then maximise Σx with Σ_i x_i A_ij ≤ 1, x ≥ 0
    table = [[A[i][j] + shift for i in range(rows)] + [Fraction(1)] for j in range(columns)]
    table.append([Fraction(-1)] * rows + [Fraction(0)])
    free, basic = list(range(rows)), list(range(rows, rows + columns))
    while entering := [k for k in range(rows) if table[-1][k] < 0]:
        k = min(entering, key=free.__getitem__)
        leaving = [(table[j][-1] / table[j][k], basic[j], j) for j in range(columns) if table[j][k] > 0]
        j = min(leaving)[2]
        pivot, old = table[j][k], table[j]
        table[j] = [x / pivot for x in old]
        table[j][k] = 1 / pivot
        for i, row in enumerate(table):
            if i != j:
                c = row[k]
                table[i] = [x - c * y for x, y in zip(row, table[j], strict=True)]
                table[i][k] = -c / pivot
        free[k], basic[j] = basic[j], free[k]
    total = table[-1][-1]
    p, q = [Fraction(0)] * rows, [Fraction(0)] * columns
    for j, name in enumerate(basic):
        if name < rows:
            p[name] = table[j][-1] / total
    for k, name in enumerate(free):
        if name >= rows:
            q[name - rows] = table[-1][k] / total
    high = max(sum((p[i] * A[i][j] for i in range(rows)), Fraction(0)) for j in range(columns))
    low = min(sum((q[j] * A[i][j] for j in range(columns)), Fraction(0)) for i in range(rows))
    if low != high or min(*p, *q) < 0 or not sum(p) == sum(q) == 1:
        raise Refused("no solution of the matrix game was found")
    return high, p, q


def experts(n: int, T: int) -> Fraction:
    """Return the minimax regret of n experts over T rounds, losses in [0, 1], as a fraction.

    `limits.solve_experts` says why binary losses and the sorted gaps suffice, and why a gap may be cut to
    the rounds left. Each state is a small matrix game; its solution is checked exactly from both sides.

    >>> [str(experts(3, T)) for T in range(1, 6)]
    ['2/3', '5/6', '1', '9/8', '5/4']
    """
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    losses = list(product((0, 1), repeat=n))

    @cache
    def value(gaps, left):
        if not left:
            return Fraction(0)
        worth = []
        for loss in losses:
            best, after = _gaps(gaps, loss, left - 1)
            worth.append(value(after, left - 1) - best)
        A = [[loss[i] + x for loss, x in zip(losses, worth, strict=True)] for i in range(n)]
        return matrix_game(A)[0]

    return value((0,) * n, T)


def _gaps(gaps, loss, cut=None):
    """Return how much the smallest sum grows, and the sorted gaps after the round, cut at `cut` if given."""
    total = sorted(x + c for x, c in zip(gaps, loss, strict=True))
    return total[0], tuple(x - total[0] if cut is None else min(x - total[0], cut) for x in total)


# ---------------------------------------------------------------- Hedge


def outward(low: Fraction, high: Fraction) -> Pair:
    """Return two fractions with DIGITS digits after the point, at most `low` and at least `high`."""
    ten = 10**DIGITS
    return Fraction(low * ten // 1, ten), Fraction(-(-high * ten // 1), ten)


@cache
def exp_bounds(x: Fraction) -> Pair:
    """Return (low, high) around e^x for a fraction x ≥ 0:
    Taylor at x/2^k ∈ [0, ½], remainder ≤ the last term, then k squarings. For x < 0 it is one over e^(−x).

    >>> low, high = exp_bounds(Fraction(1)); float(low), float(high - low) < 1e-20
    (2.718281828459045, True)
    """
    if x < 0:
        low, high = exp_bounds(-x)
        return outward(1 / high, 1 / low)
    halvings = 0
    while x > Fraction(1, 2):
        x, halvings = x / 2, halvings + 1
    term = total = Fraction(1)
    for k in range(1, 30):
        term *= x / k
        total += term
    low, high = outward(total, total + term)
    for _ in range(halvings):
        low, high = outward(low**2, high**2)
    return low, high


def hedge_step(n: int, T: int) -> Pair:
    """Return (low, high) around √(8 ln(n)/T). A guess of the logarithm is proved by `exp_bounds`."""
    guess, width = Fraction(log(validate.count("n", n, low=2))), Fraction(1, 10**14)
    if not exp_bounds(guess - width)[1] <= n <= exp_bounds(guess + width)[0]:
        raise Refused(f"ln {n} is not where it was guessed")
    low, error = root(8 * (guess - width) / validate.count("T", T), DIGITS)
    high, error2 = root(8 * (guess + width) / T, DIGITS)
    return low - error, high + error2


def hedge_weights(gaps: Sequence[Fraction | int], step: Pair) -> list[Pair]:
    """Return [(low, high)] around the weights e^(−η·gap)/Σ of Hedge, min gap = 0,
    η between the two of `step`.
    """
    raw = [(exp_bounds(-step[1] * g)[0], exp_bounds(-step[0] * g)[1]) for g in gaps]
    lows, highs = sum(low for low, _ in raw), sum(high for _, high in raw)
    return [outward(low / (low + highs - high), high / (high + lows - low)) for low, high in raw]


def hedge(n: int, T: int, step: Number | None = None) -> Pair:
    """Return (low, high) around the largest regret of Hedge over *binary* losses,
    η = √(8 ln(n)/T) unless given.
    """
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    eta = hedge_step(n, T) if step is None else (Fraction(step), Fraction(step))
    losses = list(product((0, 1), repeat=n))
    weights = cache(lambda gaps: hedge_weights(gaps, eta))

    @cache
    def value(gaps, left):
        if not left:
            return Fraction(0), Fraction(0)
        bounds = []
        for loss in losses:
            best, after = _gaps(gaps, loss)
            ahead = value(after, left - 1)
            bounds.append(
                [
                    sum(p[s] * c for p, c in zip(weights(gaps), loss, strict=True)) + ahead[s] - best
                    for s in (0, 1)
                ]
            )
        return max(low for low, _ in bounds), max(high for _, high in bounds)

    return value((0,) * n, T)


def hedge_regret(losses: Sequence[Sequence[Number]], step: Number | None = None) -> Pair:
    """Return (low, high) around the regret of Hedge on given losses ≥ 0, fractions or text such as '0.7'.

    η = √(8 ln(n)/T) unless given.
    """
    rounds = [[Fraction(c) for c in loss] for loss in losses]
    n, T = len(rounds[0]), len(rounds)
    eta = hedge_step(n, T) if step is None else (Fraction(step), Fraction(step))
    total, cost = [Fraction(0)] * n, [Fraction(0), Fraction(0)]
    for loss in rounds:
        weights = hedge_weights([x - min(total) for x in total], eta)
        cost = [cost[s] + sum(p[s] * c for p, c in zip(weights, loss, strict=True)) for s in (0, 1)]
        total = [x + c for x, c in zip(total, loss, strict=True)]
    return cost[0] - min(total), cost[1] - min(total)
