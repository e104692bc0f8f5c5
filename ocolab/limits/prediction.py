"""Solve prediction with expert advice, and compute the worst case of Hedge over binary losses.

Two experts have a closed form; more experts need a dynamic program over the gaps to the best expert.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from ocolab.limits.base import limit
from ocolab.limits.linear import BySum, IntervalMinimax, coin_sums, interval
from ocolib import validate
from ocolib.sets import Simplex
from ocolib.types import Array

# ---------------------------------------------------------------- two experts


@limit("tight", "ma17.claim.logN")
def two_experts(T: int) -> float:
    """Return ½·E|S_T| ≈ √(T/2π), the minimax regret of two experts with losses in [0, 1].

    S_T is the sum of T fair signs. With weights (1 + w)/2 and (1 − w)/2 and z = ℓ_1 − ℓ_2, the regret is half
    that of `interval` with R = ρ = 1.

    >>> round(two_experts(3), 6)
    0.75
    """
    return 0.5 * interval(1.0, 1.0, T)


@dataclass(frozen=True)
class Cover(BySum):
    """Run Cover's optimal player for two experts with losses in [0, 1] over T rounds.

    If the gap between the experts is an integer, the weight of an expert is the probability that it leads
    after the rounds that follow this one, when each of them moves the gap by a fair ±1 (a tie counts half).
    Between integer gaps the weights are interpolated linearly.
    """

    T: int
    over = Simplex(2)

    def move(self, t: int, Z: Array) -> Array:
        """Return the two weights after t rounds whose losses have the sum Z."""
        w = IntervalMinimax(1.0, 1.0, self.T).move(t, Z[:1] - Z[1:])[0]
        return np.array([1 + w, 1 - w]) / 2


# ---------------------------------------------------------------- n experts: dynamic programs over the gaps


@limit("lower", "ma17.claim.logN")
def experts_floor(n: int, T: int) -> float:
    """Return ½·E max_i S_i, the expected regret that fair coin losses force on every learner with n experts.

    S_1, …, S_n are independent sums of T fair signs. If all losses are independent fair bits, every play
    costs ½ per round in expectation, and the total loss of the best expert is (T − max_i S_i)/2. The
    expectation is computed exactly from the distribution function F^n of the maximum, where F is that of S_T.
    The ratio to √(T ln(n)/2) tends to 1 as first T → ∞ and then n → ∞ (Cesa-Bianchi and Lugosi, section 3.7).

    >>> round(experts_floor(2, 2), 6)
    0.375
    """
    n, T = validate.count("n", n), validate.count("T", T)
    values, chances = coin_sums(T)
    F = np.cumsum(chances) / chances.sum()
    return 0.5 * float(values @ np.diff(F**n, prepend=0.0))


class Gaps:
    """Enumerate the states of the experts game: the sorted gaps 0 = x_1 ≤ … ≤ x_n ≤ size to the best expert.

    Adding a constant to all losses of a round costs learner and comparator the same, and the order of the
    experts does not matter, so the gaps of the cumulative losses are the only part of the past that counts.
    Each row of `states` is one state, `where` maps gaps to rows, and `bits` are the binary losses of a round.
    """

    def __init__(self, n: int, size: int):
        rows = combinations_with_replacement(range(size + 1), n - 1)
        self.states = np.array([(0, *row) for row in rows])
        self.bits = np.array(list(product((0, 1), repeat=n)))
        self.where = np.zeros((size + 1,) * (n - 1), dtype=int)
        self.where[tuple(self.states[:, 1:].T)] = np.arange(len(self.states))

    def after(self, following: "Gaps") -> tuple[Array, Array]:
        """Return the row in `following` of each state after each loss, and the growth of the minimum."""
        L = np.sort(self.states[:, None, :] + self.bits, axis=-1)
        best = L[..., 0]
        gaps = np.minimum(L - best[..., None], len(following.where) - 1)
        return following.where[tuple(np.moveaxis(gaps[..., 1:], -1, 0))], best


@dataclass(frozen=True, eq=False)
class ExpertsGame(BySum):
    """Hold the solved game of n experts with binary losses over T rounds; it is also a learner.

    After t rounds, `plays[t]` has the learner's weights p in each state (one row for each row of
    `gaps[t].states`), and `values[t]` has the regret that is still to come: the maximum over the binary
    losses ℓ of ⟨p, ℓ⟩ + `to_come[t][state, ℓ]`. As a learner the object plays `plays`.
    """

    n: int
    T: int
    gaps: list[Gaps]
    plays: list[Array]
    values: list[Array]
    to_come: list[Array]

    def __repr__(self) -> str:
        return f"ExpertsGame(n={self.n}, T={self.T}, value {self.value:.6g})"

    @property
    def value(self) -> float:
        """Return the regret of the whole game: the worst case of the given rule, or the minimax regret."""
        return float(self.values[0][0])

    @property
    def over(self) -> Simplex:
        """Return the set of plays, the simplex of the n experts."""
        return Simplex(self.n)

    def state(self, t: int, L: Array) -> tuple[int, Array]:
        """Return the row of the state after t rounds with total losses L, and the experts, best first."""
        if not np.array_equal(L, np.round(L)):
            raise ValueError(
                f"losses must be 0 or 1, got losses with the sum {L}; round fractions to 0 or 1 at random"
            )
        order = np.argsort(L, kind="stable")
        where = self.gaps[t].where
        gaps = np.minimum(L[order] - L.min(), len(where) - 1).astype(int)
        return where[tuple(gaps[1:])], order

    def move(self, t: int, L: Array) -> Array:
        """Return the learner's weights after t rounds whose losses, each 0 or 1, have the sum L."""
        if t >= self.T:
            return np.full(self.n, 1.0 / self.n)  # the game is over
        row, order = self.state(t, L)
        p = np.empty(self.n)
        p[order] = self.plays[t][row]
        return p

    def adversary(self, t: int, w: Array, past: Array) -> Array:
        """Return the worst binary loss of round t against the play w, given the earlier losses.

        If the game was solved without a rule, this adversary forces `value` on every learner.
        """
        row, order = self.state(t - 1, past.sum(axis=0))
        bits = self.gaps[t - 1].bits
        loss = np.empty(self.n)
        worth = bits @ w[order] + self.to_come[t - 1][row]
        # rounding makes sure that ties are broken in the same way on every machine
        loss[order] = bits[np.argmax(worth.round(9))]
        return loss

    def losses(self) -> Array:
        """Return losses that attain `value` against `plays`, `(T, n)`: the answers of `adversary`."""
        past = np.empty((self.T, self.n))
        for t in range(self.T):
            past[t] = self.adversary(t + 1, self.move(t, past[:t].sum(axis=0)), past[:t])
        return past


def solve_experts(n: int, T: int, rule: Callable[[Array], Array] | None = None) -> ExpertsGame:
    """Solve the game of n ≥ 2 experts over T rounds by backward induction over the gaps, as an `ExpertsGame`.

    `rule(states)` returns the weights of a learner, one row per state, with the best expert first; then
    `value` is the exact worst case of this learner over binary losses. Without a rule the learner plays
    optimally, and `value` is the minimax regret over all losses in [0, 1] (this needs cvxpy).

    For the optimal learner binary losses suffice: V_0(L) = −min_i L_i is convex. If V_r is convex, then
    ⟨p, ℓ⟩ + V_r(L + ℓ) is convex in ℓ, so the worst ℓ is a vertex of the cube; it is also jointly convex in
    (p, L), so the maximum over the vertices, minimised over p, is a convex function V_{r+1}(L).

    The optimal weights of all states of a round solve one linear program: minimise Σ v_x subject to
    v_x ≥ ⟨p_x, ℓ⟩ + V_r(x + ℓ) for every binary ℓ. An expert whose gap is at least the number of rounds left
    can tie with the best expert but not overtake it, so its gap is cut to that number. The rule of a given
    learner sees the whole gap.
    """
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    size = [t if rule else min(t, T - t) for t in range(T + 1)]
    gaps = [Gaps(n, m) for m in size]
    values: list[Array] = [np.zeros(len(gaps[T].states))]
    plays: list[Array] = []
    to_come: list[Array] = []
    for t in reversed(range(T)):
        following, best = gaps[t].after(gaps[t + 1])
        C = values[0][following] - best  # regret to come after each loss
        p = rule(gaps[t].states) if rule else _equalize(gaps[t].states, gaps[t].bits, C)
        values.insert(0, (p @ gaps[t].bits.T + C).max(axis=1))
        plays.insert(0, p)
        to_come.insert(0, C)
    return ExpertsGame(n, T, gaps, plays, values, to_come)


def _equalize(states, bits, C):
    """Return for each state the p that minimises max_ℓ ⟨p, ℓ⟩ + C[state, ℓ], equal for equal gaps."""
    import cvxpy as cp

    p, v = cp.Variable(states.shape, nonneg=True), cp.Variable((len(states), 1))
    conditions = [cp.sum(p, axis=1) == 1, p @ bits.T + C <= v @ np.ones((1, len(bits)))]
    conditions += [cp.multiply(np.diff(states) == 0, p[:, 1:] - p[:, :-1]) == 0]
    cp.Problem(cp.Minimize(cp.sum(v)), conditions).solve(solver=cp.SCIPY, scipy_options={"method": "highs"})
    weights = np.maximum(p.value, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


@limit("tight", "ma17.claim.logN")
def experts(n: int, T: int) -> float:
    """Return the minimax regret of n ≥ 2 experts with losses in [0, 1] over T rounds; see `solve_experts`."""
    return solve_experts(n, T).value


# ---------------------------------------------------------------- Hedge


def hedge_game(n: int, T: int, eta: float | None = None) -> ExpertsGame:
    """Solve the game of Hedge, p = softmax(−η·gaps), on binary losses; η is √(8 ln(n)/T) by default."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    eta = np.sqrt(8 * np.log(n) / T) if eta is None else validate.positive("eta", eta)

    def weights(states):
        p = np.exp(-eta * states)
        return p / p.sum(axis=1, keepdims=True)

    return solve_experts(n, T, weights)


@limit("tight", "ma17.claim.logN")
def hedge(n: int, T: int, eta: float | None = None) -> float:
    """Return the largest regret of Hedge over binary losses; `hedge_losses` attains it.

    The step size η is √(8 ln(n)/T) by default. Binary losses are worst for the optimal learner, but not
    always for Hedge, so this is only a lower bound on its worst case over losses in [0, 1]. With n = T = 3
    and the default step, the losses (1, .7, 0), (0, 0, 1), (1, 0, 1) give regret 1.086 instead of 1.075;
    with n = T = 2 and η = 5, the losses (½, 0), (0, 1) give 0.674 instead of 0.507.

    >>> round(hedge(2, 2), 6), round(hedge(3, 3), 3)
    (0.659077, 1.075)
    """
    return hedge_game(n, T, eta).value


def hedge_losses(n: int, T: int, eta: float | None = None) -> Array:
    """Return binary losses that give Hedge its largest regret, `(T, n)`; same arguments as `hedge`."""
    return hedge_game(n, T, eta).losses()
