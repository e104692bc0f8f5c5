"""Prediction with expert advice: the game solved exactly, for two experts by a formula, for more by a dynamic
program over the gaps; and the worst that binary losses can do to Hedge."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from ocolab.limits.base import Array, limit
from ocolab.limits.linear import BySum, IntervalMinimax, coin_sums, interval
from ocolib import validate
from ocolib.sets import Simplex

# ---------------------------------------------------------------- two experts


@limit("tight", "ma17.claim.logN")
def two_experts(T: int) -> float:
    """Return the minimax regret of two experts with losses in [0, 1]: ½·E|S_T| ≈ √(T/2π).

    With weights (1 + w)/2, (1 − w)/2 and z = ℓ_1 − ℓ_2 the regret is half that of `interval`, R = ρ = 1.
    """
    return 0.5 * interval(1.0, 1.0, T)


@dataclass(frozen=True)
class Cover(BySum):
    """Run the optimal player for two experts with losses in [0, 1].

    While the gap is whole an expert's weight is the chance that it leads after the rounds that follow this
    one, if each moves the gap by a fair ±1, a tie counting half; between whole gaps the weight is linear, and
    the chance need not be optimal.
    """

    T: int
    over = Simplex(2)

    def move(self, t: int, Z: Array) -> Array:
        """Return the two weights after t rounds of losses with sum Z."""
        w = IntervalMinimax(1.0, 1.0, self.T).move(t, Z[:1] - Z[1:])[0]
        return np.array([1 + w, 1 - w]) / 2


# ---------------------------------------------------------------- n experts: dynamic programs over the gaps


@limit("lower", "ma17.claim.logN")
def experts_floor(n: int, T: int) -> float:
    """Return the regret that fair coins force on every learner with n experts:
    ½·E max_i S_i, S_i the sum of T fair signs.

    If all losses are independent fair bits, each play costs ½ on average, and the best expert ends at
    (T − max_i S_i)/2. Exact for all n and T: the maximum of n independent copies has distribution function
    F^n. The ratio to √(T ln(n)/2) tends to 1 as T → ∞ and then n → ∞ (Cesa-Bianchi and Lugosi, section 3.7).
    """
    n, T = validate.count("n", n), validate.count("T", T)
    values, chances = coin_sums(T)
    F = np.cumsum(chances) / chances.sum()
    return 0.5 * float(values @ np.diff(F**n, prepend=0.0))


class Gaps:
    """Represent cumulative losses as a state: sorted, minus the smallest, 0 = x_1 ≤ … ≤ x_n ≤ size.

    Adding c to every loss of a round costs learner and comparator c alike, and names do not matter: the gaps
    are all of the past that counts. One row of `states` each; `bits` are the binary losses of a round.
    """

    def __init__(self, n: int, size: int):
        rows = combinations_with_replacement(range(size + 1), n - 1)
        self.states = np.array([(0, *row) for row in rows])
        self.bits = np.array(list(product((0, 1), repeat=n)))
        self.where = np.zeros((size + 1,) * (n - 1), dtype=int)
        self.where[tuple(self.states[:, 1:].T)] = np.arange(len(self.states))

    def after(self, following: "Gaps") -> tuple[Array, Array]:
        """Return the row in `following` of each state after each binary loss, and how the least sum grows."""
        L = np.sort(self.states[:, None, :] + self.bits, axis=-1)
        best = L[..., 0]
        gaps = np.minimum(L - best[..., None], len(following.where) - 1)
        return following.where[tuple(np.moveaxis(gaps[..., 1:], -1, 0))], best


@dataclass(frozen=True, eq=False)
class ExpertsGame(BySum):
    """Hold the solved game of n experts with binary losses over T rounds; t counts the rounds played.

    The game is itself the learner that plays `plays`.

    With `values[t]` the regret still to come from each state, a round gives
    max over ℓ of ⟨p, ℓ⟩ + `to_come[t][state, ℓ]`; `plays[t]` is the learner's p in each state.
    """

    n: int
    T: int
    gaps: list[Gaps]
    plays: list[Array]
    values: list[Array]
    to_come: list[Array]

    @property
    def value(self) -> float:
        """Return the regret of the whole game: the worst case of a rule, or the minimax regret."""
        return float(self.values[0][0])

    @property
    def over(self) -> Simplex:
        """Return the simplex of the n experts."""
        return Simplex(self.n)

    def state(self, t: int, L: Array) -> tuple[int, Array]:
        """Return the row of the cumulative losses L after t rounds, and the experts from best to worst."""
        if not np.array_equal(L, np.round(L)):
            raise ValueError(f"the losses must be 0 or 1 (round fractions at random), got the sum {L}")
        order = np.argsort(L, kind="stable")
        where = self.gaps[t].where
        gaps = np.minimum(L[order] - L.min(), len(where) - 1).astype(int)
        return where[tuple(gaps[1:])], order

    def move(self, t: int, L: Array) -> Array:
        """Return the learner's weights after t rounds of losses with sum L; each loss must be 0 or 1."""
        if t >= self.T:
            return np.full(self.n, 1.0 / self.n)  # the game is over
        row, order = self.state(t, L)
        p = np.empty(self.n)
        p[order] = self.plays[t][row]
        return p

    def adversary(self, t: int, w: Array, past: Array) -> Array:
        """Return the worst binary loss of round t for the play w; without a rule it forces `value`."""
        row, order = self.state(t - 1, past.sum(axis=0))
        bits = self.gaps[t - 1].bits
        loss = np.empty(self.n)
        worth = bits @ w[order] + self.to_come[t - 1][row]
        loss[order] = bits[np.argmax(worth.round(9))]  # of equally bad ones the first, on every machine
        return loss

    def losses(self) -> Array:
        """Return the game of `plays` against `adversary`, `(T, n)`: losses that attain `value`."""
        past = np.empty((self.T, self.n))
        for t in range(self.T):
            past[t] = self.adversary(t + 1, self.move(t, past[:t].sum(axis=0)), past[:t])
        return past


def solve_experts(n: int, T: int, rule: Callable[[Array], Array] | None = None) -> ExpertsGame:
    """Return the game of n experts over T rounds, solved backwards over the gaps: an `ExpertsGame`.

    `rule(states)` gives the weights of a learner, a row a state, the best expert first; then `value` is its
    exact worst case over binary losses. Without a rule the learner plays optimally, and `value` is the
    minimax regret over all losses in [0, 1]. For the optimum binary losses suffice: V_0(L) = −min_i L_i is
    convex; if V_r is, then so is ⟨p, ℓ⟩ + V_r(L + ℓ), in ℓ and in (p, L); so the worst ℓ is a vertex of the
    cube, and the maximum over vertices, minimised over p, leaves a convex V_{r+1}(L).

    The optimal weights of all states of a round are one linear program: least Σ v with v_x ≥ ⟨p_x, ℓ⟩ +
    V_r(x + ℓ) for every binary ℓ. An expert behind by the rounds left or more can at best tie, not
    overtake, so its gap is cut to that number; a learner's rule sees the whole gap.
    """
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    size = [t if rule else min(t, T - t) for t in range(T + 1)]
    gaps = [Gaps(n, m) for m in size]
    values: list[Array] = [np.zeros(len(gaps[T].states))]
    plays: list[Array] = []
    to_come: list[Array] = []
    for t in reversed(range(T)):
        following, best = gaps[t].after(gaps[t + 1])
        C = values[0][following] - best  # what is still to come after each loss, less the leader's own
        p = rule(gaps[t].states) if rule else _equalize(gaps[t].states, gaps[t].bits, C)
        values.insert(0, (p @ gaps[t].bits.T + C).max(axis=1))
        plays.insert(0, p)
        to_come.insert(0, C)
    return ExpertsGame(n, T, gaps, plays, values, to_come)


def _equalize(states, bits, C):
    """Return, per state, the p with the smallest max over ℓ of ⟨p, ℓ⟩ + C[state, ℓ], equal for equal gaps."""
    import cvxpy as cp

    p, v = cp.Variable(states.shape, nonneg=True), cp.Variable((len(states), 1))
    conditions = [cp.sum(p, axis=1) == 1, p @ bits.T + C <= v @ np.ones((1, len(bits)))]
    conditions += [cp.multiply(np.diff(states) == 0, p[:, 1:] - p[:, :-1]) == 0]
    cp.Problem(cp.Minimize(cp.sum(v)), conditions).solve(solver=cp.SCIPY, scipy_options={"method": "highs"})
    weights = np.maximum(p.value, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


@limit("tight", "ma17.claim.logN")
def experts(n: int, T: int) -> float:
    """Return the minimax regret of n experts with losses in [0, 1],
    from the dynamic program of `solve_experts`.
    """
    return solve_experts(n, T).value


# ---------------------------------------------------------------- Hedge


def hedge_game(n: int, T: int, eta: float | None = None) -> ExpertsGame:
    """Return the game of Hedge on binary losses, p = softmax(−η·gaps); η = √(8 ln n / T) unless given."""
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    eta = np.sqrt(8 * np.log(n) / T) if eta is None else validate.positive("eta", eta)

    def weights(states):
        p = np.exp(-eta * states)
        return p / p.sum(axis=1, keepdims=True)

    return solve_experts(n, T, weights)


@limit("tight", "ma17.claim.logN")
def hedge(n: int, T: int, eta: float | None = None) -> float:
    """Return the largest regret of Hedge over binary losses; `hedge_losses` attains it.

    Binary losses are the worst for the optimum, not always for Hedge: this is a lower bound on its worst case
    over [0, 1]. With n = T = 3 and the default step the losses (1, .7, 0), (0, 0, 1), (1, 0, 1) cost 1.086
    against 1.075; with n = T = 2 and η = 5 the losses (½, 0), (0, 1) cost 0.674 against 0.507.
    """
    return hedge_game(n, T, eta).value


def hedge_losses(n: int, T: int, eta: float | None = None) -> Array:
    """Return binary losses that give Hedge its largest regret, `(T, n)`."""
    return hedge_game(n, T, eta).losses()
