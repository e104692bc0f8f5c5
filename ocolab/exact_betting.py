"""Solve betting and portfolio games in exact fractions: option prices, KT wealth, ratios of wealth.

All computations use integers and fractions; nothing is rounded.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from ocolab.exact import coin_sums
from ocolib import validate

# ---------------------------------------------------------------- coins


def strike(T: int, both: bool = True) -> Fraction:
    """Return the smallest r for which some bettor has regret ≤ 1 at u = 0 and ≤ r at u = ±1.

    If `both` is False, only u = 0 and u = 1 count. The number r solves E(|S_T| − r + 1)₊ = 1, with S_T in
    place of |S_T| if `both` is False, where S_T is the sum of T fair signs: an option with strike r − 1 then
    costs 1. The left side is piecewise linear and decreasing in r, so we search for the right piece.

    >>> [str(strike(T)) for T in (1, 2, 3, 4, 5, 6, 8)]
    ['1', '1', '3/2', '9/5', '15/8', '25/11', '245/93']
    >>> [str(strike(T, both=False)) for T in (1, 2, 3, 4, 5, 6, 8)]
    ['0', '1/3', '1/2', '7/11', '7/8', '19/21', '39/31']
    """
    ends = sorted(
        ((abs(s) if both else s, chance) for s, chance in coin_sums(validate.count("T", T))), reverse=True
    )
    chance = worth = Fraction(0)
    for k, (s, c) in enumerate(ends):
        chance, worth = chance + c, worth + c * s
        r = (worth - 1) / chance + 1  # the solution if exactly the ends so far exceed the strike
        if k + 1 == len(ends) or ends[k + 1][0] <= r - 1:
            return r
    raise AssertionError("the loop returns at the last end")


def kt_wealth(heads: int, tails: int) -> Fraction:
    """Return the wealth F_T(heads − tails) of the KT bettor with ε = 1 after these heads and tails.

    With h heads and t tails, T = h + t, it is C(2h, h)·C(2t, t)·h!·t!/(2^T·T!), which follows from
    Γ(h + ½) = √π·(2h)!/(4^h·h!).

    >>> str(kt_wealth(3, 0)), str(kt_wealth(2, 1))
    ('5/2', '1/2')
    """
    h, t = validate.count("heads", heads, low=0), validate.count("tails", tails, low=0)
    return Fraction(comb(2 * h, h) * comb(2 * t, t), 2 ** (h + t) * comb(h + t, h))


def kt_regret(T: int) -> Fraction:
    """Return the largest regret at u = 1 of the KT bettor with ε = 1, over all sequences of T coins ±1.

    >>> [str(kt_regret(T)) for T in (1, 2, 3, 4, 5, 6, 8)]
    ['1', '3/2', '3/2', '19/8', '25/8', '59/16', '541/128']
    """
    T = validate.count("T", T)
    return max(2 * h - T - kt_wealth(h, T - h) + 1 for h in range(T + 1))


# ---------------------------------------------------------------- portfolios of two assets


def peaks(n: int) -> list[Fraction]:
    """Return M_0, …, M_n, where M_k is the largest binomial probability of k successes in n trials.

    The maximum over all success rates is attained at k/n: M_k = C(n, k)·(k/n)^k·((n − k)/n)^(n − k).

    >>> [str(x) for x in peaks(2)]
    ['1', '1/2', '1']
    """
    n = validate.count("n", n)
    return [Fraction(comb(n, k) * k**k * (n - k) ** (n - k), n**n) for k in range(n + 1)]


def urn(n: int, prior: Fraction) -> list[Fraction]:
    """Return p_0, …, p_n: the share of the universal portfolio with prior Beta(prior, prior) in pile k.

    Pile k contains all sequences of n days with k days in asset 1. Every share is 1/(n + 1) for prior 1, and
    C(2k, k)·C(2(n − k), n − k)/4^n for prior ½.

    >>> [str(x) for x in urn(2, Fraction(1, 2))]
    ['3/8', '1/4', '3/8']
    """
    p = [Fraction(1)]
    for t in range(validate.count("n", n)):
        share = [(k + prior) / (t + 2 * prior) for k in range(t + 1)]
        stay = [m * (1 - s) for m, s in zip(p, share, strict=True)]
        go = [m * s for m, s in zip(p, share, strict=True)]
        p = [a + b for a, b in zip([*stay, Fraction(0)], [Fraction(0), *go], strict=True)]
    return p


def worst_ratio(p: Sequence[Fraction]) -> Fraction:
    """Return min_k p_k/M_k, the smallest ratio of the wealth of the split p to the best rebalanced portfolio.

    M_k are the `peaks`, and p = (p_0, …, p_n) is a split of the wealth into piles, as in `urn`.

    >>> [str(worst_ratio(urn(n, Fraction(1)))) for n in (1, 2, 3, 4)]
    ['1/2', '1/3', '1/4', '1/5']
    >>> [str(worst_ratio(urn(n, Fraction(1, 2)))) for n in (1, 2, 3, 4, 5, 6)]
    ['1/2', '3/8', '5/16', '35/128', '63/256', '231/1024']
    """
    return min(a / m for a, m in zip(p, peaks(len(p) - 1), strict=True))


def minimax_ratio(n: int) -> Fraction:
    """Return V_n = 1/Σ_k M_k, the largest ratio to the best rebalanced portfolio that can be guaranteed.

    It is for two assets and n days; M_k are the `peaks`.

    >>> [str(minimax_ratio(n)) for n in range(1, 7)]
    ['1/2', '2/5', '9/26', '32/103', '625/2194', '324/1223']
    """
    return 1 / sum(peaks(n), Fraction(0))
