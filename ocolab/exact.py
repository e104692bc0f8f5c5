"""Compute the values of `ocolab.limits` in exact fractions, or between two fractions.

`interval`, `experts_floor`, `experts`, `square_loss` and `leader_square_loss` return the exact value. The
weights of Hedge are irrational in general, so `hedge` and `hedge_regret` return two fractions that enclose
the value. All computations use integer arithmetic; only an approximation of ln n comes from floats, and it is
verified exactly.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, log

from ocolab.certificates import Number, Pair, Refused, root
from ocolib import validate

DIGITS = 25  # decimals of the bounds on the weights of Hedge


# ---------------------------------------------------------------- fair coins, and the square loss


def coin_sums(T: int) -> list[tuple[int, Fraction]]:
    """Return the distribution of S_T, the sum of T fair signs ±1, as [(value, probability)].

    >>> [(s, str(p)) for s, p in coin_sums(2)]
    [(-2, '1/4'), (0, '1/2'), (2, '1/4')]
    """
    return [(2 * k - T, Fraction(comb(T, k), 2**T)) for k in range(validate.count("T", T, low=0) + 1)]


def interval(T: int) -> Fraction:
    """Return E|S_T|, the minimax regret over T rounds of linear losses |z_t| ≤ 1 on [−1, 1].

    S_T is the sum of T fair signs; `limits.interval` has the proof.

    >>> str(interval(3))
    '3/2'
    """
    return sum((abs(s) * chance for s, chance in coin_sums(validate.count("T", T))), Fraction(0))


def experts_floor(n: int, T: int) -> Fraction:
    """Return ½·E max_i S_i, the expected regret that fair coin losses force on every learner with n experts.

    S_1, …, S_n are independent sums of T fair signs; `limits.experts_floor` has the proof.

    >>> str(experts_floor(2, 2))
    '3/8'
    """
    n, T = validate.count("n", n), validate.count("T", T)
    total = below = Fraction(0)
    for s, chance in coin_sums(T):
        total += s * ((below + chance) ** n - below**n)
        below += chance
    return total / 2


def square_loss(T: int) -> Fraction:
    """Return ½Σα_t, the minimax regret over T rounds of the losses ½‖w − c_t‖² with ‖c_t‖ ≤ 1.

    α_T = 1/T and α_{t−1} = α_t + α_t²; `limits.square_loss` has the proof.

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
    """Return the largest regret of the running mean from w_1 = 0 on the losses ½(w − c_t)², c_t ∈ [−1, 1].

    The worst centres are ±1, so a dynamic program over their sum suffices; `limits.leader_square_loss` has
    the proof.

    >>> str(leader_square_loss(3))
    '5/3'
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
    """Solve the matrix game in which the row player pays A_ij: return (value, p, q).

    The mixed strategy p on the rows pays at most `value` against every column, and q on the columns makes
    every row pay at least `value`. The simplex method finds p and q; Bland's rule guarantees that it stops.
    Their optimality is then checked exactly.

    >>> [str(x) for x in matrix_game([[Fraction(0), Fraction(2)], [Fraction(1), Fraction(0)]])[1]]
    ['1/3', '2/3']
    """
    rows, columns = len(A), len(A[0])
    shift = 1 - min(map(min, A))  # now all entries are ≥ 1; maximise Σx with Σ_i x_i A_ij ≤ 1, x ≥ 0
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
        raise Refused("the simplex method found no optimal strategies of the matrix game")
    return high, p, q


def experts(n: int, T: int) -> Fraction:
    """Return the minimax regret of n ≥ 2 experts over T rounds with losses in [0, 1], as a fraction.

    It is computed by a dynamic program over the sorted gaps to the best expert. `limits.solve_experts`
    explains why binary losses and these gaps suffice, and why a gap may be cut to the number of rounds left.
    Every state is a small matrix game, whose solution is checked exactly from both sides.

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
    """Return how much the smallest total grows, and the sorted gaps after a round, cut to `cut` if given."""
    total = sorted(x + c for x, c in zip(gaps, loss, strict=True))
    return total[0], tuple(x - total[0] if cut is None else min(x - total[0], cut) for x in total)


# ---------------------------------------------------------------- Hedge


def outward(low: Fraction, high: Fraction) -> Pair:
    """Round `low` down and `high` up to DIGITS decimals."""
    ten = 10**DIGITS
    return Fraction(low * ten // 1, ten), Fraction(-(-high * ten // 1), ten)


@cache
def exp_bounds(x: Fraction) -> Pair:
    """Return fractions (low, high) with low ≤ e^x ≤ high.

    For x ≥ 0 the Taylor series at x/2^k ∈ [0, ½] is summed, its remainder bounded by the last term, and the
    bounds are squared k times. For x < 0 the result is 1/e^(−x).

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
    """Return fractions (low, high) around √(8 ln(n)/T), the step size of Hedge for n ≥ 2 experts.

    The logarithm is approximated by a float, and `exp_bounds` proves the bounds on it.
    """
    guess, width = Fraction(log(validate.count("n", n, low=2))), Fraction(1, 10**14)
    if not exp_bounds(guess - width)[1] <= n <= exp_bounds(guess + width)[0]:
        raise Refused(f"ln {n} does not lie within 1e-14 of its approximation {float(guess)}")
    low, error = root(8 * (guess - width) / validate.count("T", T), DIGITS)
    high, error2 = root(8 * (guess + width) / T, DIGITS)
    return low - error, high + error2


def hedge_weights(gaps: Sequence[Fraction | int], step: Pair) -> list[Pair]:
    """Return fractions [(low, high)] around the weights of Hedge, e^(−η·gap_i)/Σ_j e^(−η·gap_j).

    The smallest gap is 0, and η lies between the two numbers of `step`.
    """
    raw = [(exp_bounds(-step[1] * g)[0], exp_bounds(-step[0] * g)[1]) for g in gaps]
    lows, highs = sum(low for low, _ in raw), sum(high for _, high in raw)
    return [outward(low / (low + highs - high), high / (high + lows - low)) for low, high in raw]


def hedge(n: int, T: int, step: Number | None = None) -> Pair:
    """Return fractions (low, high) around the largest regret of Hedge over all *binary* losses.

    n ≥ 2 is the number of experts and T the number of rounds; the step size η is √(8 ln(n)/T) by default.
    Losses inside (0, 1) can be worse for Hedge, see `limits.hedge`.

    >>> low, high = hedge(2, 2); round(float(low), 6), float(high - low) < 1e-10
    (0.659077, True)
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
            pairs = list(zip(weights(gaps), loss, strict=True))
            bounds.append([sum(p[s] * c for p, c in pairs) + ahead[s] - best for s in (0, 1)])
        return max(low for low, _ in bounds), max(high for _, high in bounds)

    return value((0,) * n, T)


def hedge_regret(losses: Sequence[Sequence[Number]], step: Number | None = None) -> Pair:
    """Return fractions (low, high) around the regret of Hedge on the given losses.

    `losses` has one row per round, with entries ≥ 0 given as integers, fractions or text such as '0.7'. The
    step size η is √(8 ln(n)/T) by default.

    >>> low, high = hedge_regret([(0, 1), (0, 1)]); round(float(low), 6), float(high - low) < 1e-10
    (0.659077, True)
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
