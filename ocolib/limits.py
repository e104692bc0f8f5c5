"""What nobody can beat: minimax values, exact worst cases of our learners, and who attains them.

Three numbers belong to a theorem besides its promise. The *worst case* of a learner is its largest regret
over all games the theorem allows. The *floor* (or minimax value) is what the best adversary forces on every
learner. Always floor ≤ worst case ≤ promise. Here each of them is computed, with the player or the adversary
that attains it, in a form that `game.play` accepts.

Functions that return a number carry one of the words of `bounds`: `tight` (a learner guarantees it and a
game attains it) or `lower` (an adversary forces it); `LIMITS` lists them. Linear programs and semidefinite
programs are handed to cvxpy, imported where it is needed; the rest needs NumPy alone.
"""

import warnings
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise, product

import numpy as np

from ocolib import validate
from ocolib.adversaries import orthogonal
from ocolib.learners import _FirstOrder, step_at
from ocolib.losses import Example, Linear, PerceptronLoss, Quadratic
from ocolib.sets import Ball, Simplex

LIMITS = []


def limit(kind):
    """Mark a function as a value that is `tight` or `lower`."""

    def mark(function):
        function.kind = kind
        LIMITS.append(function)
        return function

    return mark


class _FromSum(_FirstOrder):
    """A player whose move depends on the number t of rounds seen and on Z_t, the sum of their z."""

    def __init__(self, learner):
        self.learner, self.t, self.Z = learner, 0, np.zeros(learner.over.dim)

    def predict(self):
        return self.learner.move(self.t, self.Z)

    def step(self, z):
        self.t, self.Z = self.t + 1, self.Z + z


# ---------------------------------------------------------------- linear losses on an interval, two experts


def coin_sums(T):
    """The values of S_T = ±1 ± … ± 1 (T fair signs) and their chances, both `(T + 1,)`."""
    k = np.arange(T + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, T + 1)))])
    log_chance = log_factorial[T] - log_factorial[k] - log_factorial[T - k] - T * np.log(2.0)
    return 2 * k - T, np.exp(log_chance)


def mean_distance(x, T):
    """E|x + S_T|: how far a fair walk of T steps is from −x."""
    values, chances = coin_sums(T)
    return float(np.abs(x + values) @ chances)


@limit("tight")
def interval(T, radius=1.0, rho=1.0):
    """The minimax regret of linear losses |z_t| ≤ ρ on [−R, R]: R·ρ·E|S_T| ≈ R·ρ·√(2T/π).

    Let V_r(Z) = R·E|Z + ρS_r| be the value with r rounds left. V_0 = R|Z| is the comparator's gain. In a
    round the worst z is ±ρ, because z ↦ zw + V_r(Z + z) is convex; the play that makes both signs equally
    bad is w = −(V_r(Z + ρ) − V_r(Z − ρ))/(2ρ), it lies in [−R, R] because V_r has slope at most R, and what
    remains is the mean of V_r(Z ± ρ), which is V_{r+1}(Z). A fair coin forces it: no play gains on it.
    (Cover 1966.)
    """
    T = validate.count("T", T)
    return validate.positive("radius", radius) * validate.positive("rho", rho) * mean_distance(0.0, T)


@limit("tight")
def two_experts(T):
    """The minimax regret of two experts with losses in [0, 1]: ½·E|S_T| ≈ √(T/2π).

    With weights (1 + w)/2, (1 − w)/2 and z = ℓ_1 − ℓ_2 the regret is half that of `interval`, R = ρ = 1.
    """
    return 0.5 * interval(T)


@dataclass(frozen=True)
class IntervalMinimax:
    """The optimal player of `interval`: w = −(V_r(Z + ρ) − V_r(Z − ρ))/(2ρ), r the rounds left after this."""

    T: int
    radius: float = 1.0
    rho: float = 1.0

    def __post_init__(self):
        interval(self.T, self.radius, self.rho)  # the same conditions on the arguments

    @property
    def over(self):
        return Ball(1, self.radius)

    def start(self):
        return _FromSum(self)

    def move(self, t, Z):
        left, x = max(self.T - t - 1, 0), float(Z[0]) / self.rho
        return np.array([-0.5 * self.radius * (mean_distance(x + 1, left) - mean_distance(x - 1, left))])


def coin(T, radius=1.0, rho=1.0):
    """The adversary of `interval`: of the two signs of ρ the one that leaves the learner worse off.

    It forces the value on every learner: the larger of zw + V_r(Z + z) over z = ±ρ is at least their mean.
    """
    interval(T, radius, rho)

    def adversary(t, w, past):
        x = past.sum() / rho
        worth = [s * w[0] + radius * mean_distance(x + s, T - t) for s in (1.0, -1.0)]
        return np.array([rho if worth[0] >= worth[1] else -rho])

    return adversary


@dataclass(frozen=True)
class Cover:
    """The optimal player for two experts with losses in [0, 1].

    While the gap is whole an expert's weight is the chance that it will lead after the rounds that follow
    this one, a tie counting half; between whole gaps the weight is linear, and the chance is not optimal.
    """

    T: int
    over = Simplex(2)

    def start(self):
        return _FromSum(self)

    def move(self, t, Z):
        w = IntervalMinimax(self.T).move(t, Z[:1] - Z[1:])[0]
        return np.array([1 + w, 1 - w]) / 2


# ---------------------------------------------------------------- experts: dynamic programs over the gaps


@limit("lower")
def experts_floor(n, T):
    """What fair coins force on every learner with n experts: ½·E max_i S_i, S_i the sum of T fair signs.

    If all losses are independent fair bits, each play costs ½ on average, and the best expert ends at
    (T − max_i S_i)/2. Exact for all n and T: the maximum of n independent copies has distribution function
    F^n. The ratio to √(T ln(n)/2) tends to 1 as T → ∞ and then n → ∞ (Cesa-Bianchi and Lugosi, section 3.7).
    """
    n, T = validate.count("n", n), validate.count("T", T)
    values, chances = coin_sums(T)
    F = np.cumsum(chances) / chances.sum()
    return 0.5 * float(values @ np.diff(F**n, prepend=0.0))


class Gaps:
    """Experts' cumulative losses as a state: sorted, less the smallest, 0 = x_1 ≤ … ≤ x_n ≤ size.

    Adding c to every loss of a round costs learner and comparator c alike, and names do not matter: the gaps
    are all of the past that counts. One row of `states` each; `bits` are the binary losses of a round.
    """

    def __init__(self, n, size):
        rows = combinations_with_replacement(range(size + 1), n - 1)
        self.states = np.array([(0, *row) for row in rows])
        self.bits = np.array(list(product((0, 1), repeat=n)))
        self.where = np.zeros((size + 1,) * (n - 1), dtype=int)
        self.where[tuple(self.states[:, 1:].T)] = np.arange(len(self.states))

    def after(self, following):
        """For each state and binary loss: the next state's row in `following`, and the leader's loss."""
        L = np.sort(self.states[:, None, :] + self.bits, axis=-1)
        best = L[..., 0]
        gaps = np.minimum(L - best[..., None], len(following.where) - 1)
        return following.where[tuple(np.moveaxis(gaps[..., 1:], -1, 0))], best


@dataclass(frozen=True, eq=False)
class ExpertsGame:
    """n experts, T rounds, binary losses, solved backwards; t counts the rounds already played.

    With `values[t]` the regret still to come from each state, a round gives
    max over ℓ of ⟨p, ℓ⟩ + `to_come[t][state, ℓ]`; `plays[t]` is the learner's p in each state.
    """

    n: int
    T: int
    gaps: list
    plays: list
    values: list
    to_come: list

    @property
    def value(self):
        """The regret from the start."""
        return float(self.values[0][0])

    @property
    def over(self):
        return Simplex(self.n)

    def start(self):
        """The game is itself the learner that plays `plays`. It takes losses 0 and 1."""
        return _FromSum(self)

    def state(self, t, L):
        """The row of the cumulative losses L after t rounds, and the experts from best to worst."""
        if not np.array_equal(L, np.round(L)):
            raise ValueError(f"the losses must be 0 or 1 (round fractions at random), got the sum {L}")
        order = np.argsort(L, kind="stable")
        where = self.gaps[t].where
        gaps = np.minimum(L[order] - L.min(), len(where) - 1).astype(int)
        return where[tuple(gaps[1:])], order

    def move(self, t, L):
        if t >= self.T:
            return np.full(self.n, 1.0 / self.n)  # the game is over
        row, order = self.state(t, L)
        p = np.empty(self.n)
        p[order] = self.plays[t][row]
        return p

    def adversary(self, t, w, past):
        """The binary loss that is worst for the play w. With no rule given it forces `value` on everyone."""
        row, order = self.state(t - 1, past.sum(axis=0))
        bits = self.gaps[t - 1].bits
        loss = np.empty(self.n)
        worth = bits @ w[order] + self.to_come[t - 1][row]
        loss[order] = bits[np.argmax(worth.round(9))]  # of equally bad ones the first, on every machine
        return loss


def solve_experts(n, T, rule=None):
    """The game of n experts over T rounds, solved backwards over the gaps: an `ExpertsGame`.

    `rule(states)` gives the weights of a learner in each state; then `value` is its exact worst case over
    binary losses. Without a rule the learner plays optimally, and `value` is the minimax regret over all
    losses in [0, 1]. For the optimum binary losses suffice: V_0(L) = −min_i L_i is convex; if V_r is, then
    so is ⟨p, ℓ⟩ + V_r(L + ℓ), in ℓ and in (p, L); so the worst ℓ is a vertex of the cube, and the maximum
    over vertices, minimised over p, leaves a convex V_{r+1}(L).

    The optimal weights of all states of a round are one linear program: least Σ v with v_x ≥ ⟨p_x, ℓ⟩ +
    V_r(x + ℓ) for every ℓ. A gap ≥ the rounds left never closes, so it is cut to that; a learner's rule sees
    the whole gap.
    """
    n, T = validate.count("n", n, low=2), validate.count("T", T)
    size = [t if rule else min(t, T - t) for t in range(T + 1)]
    gaps = [Gaps(n, m) for m in size]
    values, plays, to_come = [np.zeros(len(gaps[T].states))], [], []
    for t in reversed(range(T)):
        following, best = gaps[t].after(gaps[t + 1])
        C = values[0][following] - best  # what is still to come after each loss, less the leader's own
        p = rule(gaps[t].states) if rule else _equalize(gaps[t].states, gaps[t].bits, C)
        values.insert(0, (p @ gaps[t].bits.T + C).max(axis=1))
        plays.insert(0, p)
        to_come.insert(0, C)
    return ExpertsGame(n, T, gaps, plays, values, to_come)


def _equalize(states, bits, C):
    """For each state the weights p with the least max over ℓ of ⟨p, ℓ⟩ + C[state, ℓ]; equal gaps, equal p."""
    import cvxpy as cp

    p, v = cp.Variable(states.shape, nonneg=True), cp.Variable((len(states), 1))
    conditions = [cp.sum(p, axis=1) == 1, p @ bits.T + C <= v @ np.ones((1, len(bits)))]
    conditions += [cp.multiply(np.diff(states) == 0, p[:, 1:] - p[:, :-1]) == 0]
    cp.Problem(cp.Minimize(cp.sum(v)), conditions).solve(solver=cp.SCIPY, scipy_options={"method": "highs"})
    weights = np.maximum(p.value, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def hedge_step(n, T):
    """√(8 ln(n)/T), the step of the bound √(T ln(n)/2)."""
    return np.sqrt(8 * np.log(validate.count("n", n, low=2)) / validate.count("T", T))


def hedge_worst(n, T, eta=None):
    """(value, losses): the largest regret of Hedge over binary losses, and a sequence that attains it.

    A dynamic program over the gaps, p = softmax(−η·gaps). Binary losses need not be the worst for Hedge as
    they are for the optimum; for n = 2 finer grids of losses give the same values (tests), and no proof is
    claimed.
    """
    eta = hedge_step(n, T) if eta is None else validate.positive("eta", eta)

    def weights(states):
        p = np.exp(-eta * states)
        return p / p.sum(axis=1, keepdims=True)

    game = solve_experts(n, T, weights)
    losses = np.empty((T, n))
    for t in range(T):
        losses[t] = game.adversary(t + 1, game.move(t, losses[:t].sum(axis=0)), losses[:t])
    return game.value, losses


# ---------------------------------------------------------------- linear losses on a ball


@limit("tight")
def ball(T, radius=1.0, rho=1.0):
    """The minimax regret of linear losses ‖z_t‖ ≤ ρ on a ball of radius R in dimension ≥ 2: R·ρ·√T.

    Upper: Φ_t(Z) = R√(‖Z‖² + ρ²(T − t)) starts at R·ρ·√T and ends at R‖Z_T‖, the comparator's gain. With A =
    Φ_t/R and w = −R·Z/A a round costs ⟨w, z⟩ = −R⟨Z, z⟩/A, and Φ_{t+1}(Z + z) ≤ R√(A² + 2⟨Z, z⟩) ≤ Φ_t(Z) +
    R⟨Z, z⟩/A: the sum never grows. Lower: `adversaries.orthogonal`. (Abernethy, Bartlett, Rakhlin and Tewari
    2008.)
    """
    T = validate.count("T", T)
    return validate.positive("radius", radius) * validate.positive("rho", rho) * np.sqrt(T)


@dataclass(frozen=True)
class BallMinimax:
    """The optimal player of `ball`: w_{t+1} = −R·Z_t/√(‖Z_t‖² + ρ²(T − t))."""

    dim: int
    T: int
    radius: float = 1.0
    rho: float = 1.0

    def __post_init__(self):
        ball(self.T, self.radius, self.rho)  # the same conditions on the arguments

    @property
    def over(self):
        return Ball(self.dim, self.radius)

    def start(self):
        return _FromSum(self)

    def move(self, t, Z):
        length = np.sqrt(Z @ Z + self.rho**2 * max(self.T - t, 0))
        return -self.radius * Z / (length or 1.0)


# ---------------------------------------------------------------- gradient descent: performance estimation


@limit("tight")
def descent(T, eta, radius=1.0, rho=1.0):
    """The worst case of gradient descent with step η on a centred ball, lazy or eager: R²/(2η) + ηTρ²/2.

    For R/(Tρ) ≤ η ≤ R/ρ, dimension ≥ 2. Upper: the textbook proof. Attained by `spiral`, which the ball never
    stops: then Σ⟨z_t, w_t⟩ = (η/2)(Tρ² − ‖Z_T‖²), and u = −ηZ_T on the sphere gains ‖Z_T‖²η.
    """
    T, eta = validate.count("T", T), validate.positive("eta", eta)
    R, rho = validate.positive("radius", radius), validate.positive("rho", rho)
    if not R / (T * rho) * (1 - 1e-12) <= eta <= R / rho * (1 + 1e-12):
        raise ValueError(f"eta must be in [R/(Tρ), R/ρ] = [{R / (T * rho):g}, {R / rho:g}], got {eta:g}")
    return R**2 / (2 * eta) + eta * T * rho**2 / 2


def spiral(T, eta, radius=1.0, rho=1.0):
    """T vectors of length ρ in the plane whose sums grow evenly to ‖Z_T‖ = R/η: the losses of `descent`.

    The first has norm ρ; from norm a to norm b ≥ a, b − a ≤ ρ ≤ a + b, there is always a step of length ρ.
    """
    descent(T, eta, radius, rho)  # the same conditions on the arguments
    norms = np.linspace(rho, radius / eta, T)
    Z, sums = np.array([[rho, 0.0]]), np.array([rho, 0.0])
    for a, b in pairwise(norms):
        unit = sums / np.linalg.norm(sums)
        along = (b**2 - a**2 - rho**2) / (2 * a)
        z = along * unit + np.sqrt(max(rho**2 - along**2, 0.0)) * np.array([-unit[1], unit[0]])
        Z, sums = np.vstack([Z, z]), sums + z
    return Z


def zigzag(T, diameter=1.0, rho=1.0):
    """(Z, path): losses of length ρ in two alternating directions that bring lazy descent with the step of
    Theorem 2 of Lecture 13, η = D/(ρ√(2T)), from 0 to distance D; the path is 0, −ηZ_1, …, −ηZ_T, T ≥ 2.

    On the hull of the path, whose diameter is D, no projection acts, and the regret is
    D²/(2η) + ηTρ²/2 = ¾·Dρ√(2T): three quarters of the theorem's promise.
    """
    T = validate.count("T", T, low=2)
    eta, m2 = diameter / (rho * np.sqrt(2 * T)), 2.0 * T  # the path has to end ‖Z_T‖ = m·ρ away, m² = 2T
    cos2 = m2 / T**2 if T % 2 == 0 else (m2 - 1) / (T**2 - 1)
    sign = np.where(np.arange(T) % 2 == 0, 1.0, -1.0)
    Z = rho * np.stack([np.full(T, np.sqrt(cos2)), sign * np.sqrt(1 - cos2)], axis=1)
    return Z, np.vstack([np.zeros(2), -eta * np.cumsum(Z, axis=0)])


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of finitely many points, the rows of `vertices`."""

    vertices: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "vertices", validate.array("vertices", self.vertices, ndim=2))

    @property
    def dim(self):
        return self.vertices.shape[1]

    @property
    def diameter(self):
        return max(self.farthest(v) for v in self.vertices)

    def farthest(self, point):
        """max over the set of ‖x − point‖, attained at a vertex."""
        return float(np.linalg.norm(self.vertices - point, axis=1).max())

    def contains(self, x, tol=1e-9):
        return np.linalg.norm(self.project(x) - x, axis=-1) <= tol

    def project(self, y):
        return np.apply_along_axis(self._nearest, -1, validate.array("y", y, self.dim))

    def _nearest(self, y):
        """Wolfe's algorithm: the nearest point to y in the affine hull of a few corners, which change until
        that point lies between them and no other vertex is on the near side of it."""
        P = self.vertices - y
        corners, weights = [int(np.argmin((P**2).sum(axis=1)))], np.ones(1)
        tol = 1e-14 * max(1.0, (P**2).sum(axis=1).max())
        for _ in range(100 * len(P)):
            x = weights @ P[corners]
            new = int(np.argmin(P @ x))
            if P[new] @ x >= x @ x - tol or new in corners:
                break
            corners, weights = [*corners, new], np.append(weights, 0.0)
            while True:
                A, m = P[corners], len(corners)
                system = np.block([[A @ A.T, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
                target = np.linalg.lstsq(system, np.append(np.zeros(m), 1.0), rcond=None)[0][:m]
                if (target > 0).all():
                    weights = target
                    break
                falling = target <= 0  # walk towards the target until the first weight is 0; drop that corner
                share = np.min(weights[falling] / np.maximum(weights[falling] - target[falling], 1e-300))
                weights = weights + min(share, 1.0) * (target - weights)
                keep = weights > 1e-15
                corners, weights = [c for c, k in zip(corners, keep, strict=True) if k], weights[keep]
        return weights @ self.vertices[corners] / weights.sum()

    def minimize_linear(self, c):
        return np.apply_along_axis(self._lowest, -1, validate.array("c", c, self.dim))

    def _lowest(self, c):
        height = self.vertices @ c
        face = self.vertices[height <= height.min() + 1e-12 * max(1.0, np.abs(height).max())]
        return Hull(face).project(np.zeros(self.dim))


@dataclass(frozen=True, eq=False)
class WorstCase:
    """What performance estimation returns: the value, the proof and the game that attains it.

    `multipliers` maps the name of each condition to its dual variable. The losses `Z`, `(T, d)`, and the
    corners of the set are read off the Gram matrix and shrunk by rounding errors so that they obey the
    conditions.
    """

    value: float
    multipliers: dict
    Z: np.ndarray
    over: Hull


@dataclass(frozen=True)
class DescentProblem:
    """The largest regret of T rounds of gradient descent, as a semidefinite program.

    maximise  Σ_t ⟨z_t, w_t − u⟩  over all dimensions, convex sets S ∋ 0, comparators u ∈ S, losses ‖z_t‖ ≤ ρ,
    with w_1 = 0, w_t = Π_S(y_t), and y_{t+1} = −η_t(z_1 + … + z_t) (lazy) or w_t − η_t·z_t (eager); η is a
    number or a schedule.
    `within` says which sets are allowed: 'ball', inside the ball of radius `size` around 0, or 'diameter',
    of diameter at most `size`.

    Why this is a finite problem. Linear losses suffice: a convex loss is no worse than ⟨z_t, ·⟩ at the same
    subgradient. The set enters through w_t, u ∈ S and ⟨y_t − w_t, s − w_t⟩ ≤ 0 for all s ∈ S. These are
    linear in s, so S may be shrunk to the hull of 0, w_2, …, w_T, u, where it is enough to ask them of the
    corners; and the corners decide whether the hull lies in the ball, or what its diameter is. All that is
    left are inner products of the vectors z_1, …, z_T, w_2, …, w_T, u: the objective and each condition is
    linear in their Gram matrix G, and every G ⪰ 0 is the Gram matrix of some vectors. (Drori and Teboulle
    2014; Taylor, Hendrickx and Glineur 2017.)
    """

    T: int
    eta: object
    size: float = 1.0
    rho: float = 1.0
    projection: str = "lazy"
    within: str = "ball"

    def __post_init__(self):
        validate.count("T", self.T)
        validate.positive("size", self.size), validate.positive("rho", self.rho), step_at(self.eta, 1)
        for name, allowed in (("projection", ("lazy", "eager")), ("within", ("ball", "diameter"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")

    def vectors(self):
        """z_1 … z_T and the corners w_1 … w_T, u, as rows of coefficients over the Gram matrix."""
        rows = np.eye(2 * self.T)
        z, w, u = rows[: self.T], rows[self.T : -1], rows[-1]
        return z, np.vstack([np.zeros(2 * self.T), w, u])

    def objective(self):
        """The matrix C with Σ⟨z_t, w_t − u⟩ = C • G."""
        z, corners = self.vectors()
        return sum(_inner(z[t], corners[t] - corners[-1]) for t in range(self.T))

    def conditions(self):
        """{name: (A, b)}, each the condition A • G ≤ b."""
        z, corners = self.vectors()
        names = [f"w{t}" for t in range(1, self.T + 1)] + ["u"]
        listed = {("gradient", f"z{t + 1}"): (_inner(z[t], z[t]), self.rho**2) for t in range(self.T)}
        for i, name in enumerate(names):
            for j in range(i if self.within == "diameter" else min(i, 1)):  # ball: from w1 = 0
                apart = corners[i] - corners[j]
                listed["distance", names[j], name] = _inner(apart, apart), self.size**2
        for t in range(1, self.T):
            eta, lazy = step_at(self.eta, t), self.projection == "lazy"
            y = -eta * z[:t].sum(axis=0) if lazy else corners[t - 1] - eta * z[t - 1]
            for s, name in enumerate(names):
                if s != t:
                    normal = _inner(y - corners[t], corners[s] - corners[t])
                    listed["projection", names[t], name] = normal, 0.0
        return listed

    def solve(self):
        """Solve the program: a `WorstCase`, its value exact to about 1e-6."""
        import cvxpy as cp

        conditions = self.conditions()
        G = cp.Variable((2 * self.T, 2 * self.T), PSD=True)
        A = np.array([matrix.ravel() for matrix, _ in conditions.values()])
        b = np.array([bound for _, bound in conditions.values()])
        flat = cp.vec(G, order="C")
        problem = cp.Problem(cp.Maximize(self.objective().ravel() @ flat), [A @ flat <= b])
        for tolerance in (1e-9, 1e-8, 1e-7):  # a unique worst game makes the last digits hard
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Solution may be inaccurate")
                settings = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
                problem.solve(solver=cp.CLARABEL, **settings)
            if problem.status == "optimal":
                break
        else:
            raise ValueError(f"the solver ended {problem.status} for {self}")
        multipliers = dict(zip(conditions, map(float, problem.constraints[0].dual_value), strict=True))
        return WorstCase(float(problem.value), multipliers, *self._rebuild(G.value))

    def _rebuild(self, G):
        """Vectors with Gram matrix G, without the directions that are only rounding error."""
        size, axes = np.linalg.eigh(G)
        keep = size > 1e-7 * size.max()
        V = axes[:, keep] * np.sqrt(size[keep])
        Z, corners = V[: self.T], np.vstack([np.zeros(V.shape[1]), V[self.T :]])
        Z = Z * np.minimum(1.0, self.rho / np.linalg.norm(Z, axis=1, keepdims=True))
        hull = Hull(corners)
        widest = hull.diameter if self.within == "diameter" else hull.farthest(corners[0])
        return Z, Hull(corners * min(1.0, self.size / widest))

    def textbook(self):
        """The multipliers of the textbook proof; conditions not named have multiplier 0.

        η/2 on each ‖z_t‖² ≤ ρ², 1/(2η) on ‖u − w_1‖² ≤ size², 1/η on projections: eager compares each w_t
        with u (Pythagoras, then telescoping); lazy compares each w_t with the next and only the last with u
        (be the leader). Together they promise size²/(2η) + ηTρ²/2.
        """
        eta, T = validate.positive("eta", self.eta), self.T  # a schedule has another proof
        proof = {("gradient", f"z{t}"): eta / 2 for t in range(1, T + 1)}
        proof["distance", "w1", "u"] = 1 / (2 * eta)
        for t in range(2, T + 1):
            follower = f"w{t + 1}" if self.projection == "lazy" and t < T else "u"
            proof["projection", f"w{t}", follower] = 1 / eta
        return proof

    def certify(self, multipliers):
        """(promise, slack): what multipliers λ ≥ 0 prove, and the matrix Σ λA − C that must be ⪰ 0 for it.

        If it is, C • G = Σ λ(A • G) − slack • G ≤ Σ λb for every game: weak duality, a proof in all
        dimensions.
        """
        if min(multipliers.values()) < 0:
            raise ValueError(f"multipliers must be ≥ 0, got {min(multipliers.values()):g}")
        conditions = self.conditions()
        promise = sum(x * conditions[name][1] for name, x in multipliers.items())
        return promise, sum(x * conditions[name][0] for name, x in multipliers.items()) - self.objective()


def _inner(a, b):
    """The symmetric matrix M with M • G = ⟨a, b⟩ for vectors given by their coefficients."""
    return (np.outer(a, b) + np.outer(b, a)) / 2


# ---------------------------------------------------------------- strongly convex losses


@limit("tight")
def strongly_convex(T, curvature=1.0, rho=1.0):
    """The worst case of descent with step 1/(H·t) on H-strongly convex losses: (ρ²/2H)(1 + ½ + … + 1/T).

    ρ bounds the gradients at the plays; no projection. Upper: the textbook proof. On f_t = (H/2)‖w − c_t‖²
    every line of it is an equality, and the regret is Σ‖z_t‖²/(2Ht) whatever the centres: `at_distance`
    makes every ‖z_t‖ = ρ. (Hazan, Agarwal and Kale 2007; Bartlett, Hazan and Rakhlin 2007.)
    """
    T = validate.count("T", T)
    H, rho = validate.positive("curvature", curvature), validate.positive("rho", rho)
    return rho**2 / (2 * H) * float((1.0 / np.arange(1, T + 1)).sum())


def at_distance(curvature=1.0, rho=1.0):
    """The adversary of `strongly_convex`: (H/2)‖w − c_t‖² with c_t at distance ρ/H from the play."""

    validate.positive("curvature", curvature), validate.positive("rho", rho)

    def adversary(t, w, past):
        c = np.array(w)
        c[0] += (-1.0) ** t * rho / curvature
        return Quadratic(c, curvature)

    return adversary


def _alphas(T):
    """α_1, …, α_T of `square_loss`: α_T = 1/T, α_{t−1} = α_t + α_t²."""
    alphas = [1.0 / T]
    for _ in range(T - 1):
        alphas.append(alphas[-1] + alphas[-1] ** 2)
    return np.array(alphas[::-1])


@limit("tight")
def square_loss(T):
    """Minimax regret of ½‖w − c_t‖² with ‖c_t‖ ≤ 1, any dimension: ½Σα_t, α_T = 1/T, α_{t−1} = α_t + α_t².

    With s and q the sums of the c and of the ‖c‖², the claim is that t rounds from the start the value is
    ½(α_t‖s‖² − q + α_{t+1} + … + α_T); at the end this is −min_u Σ½‖u − c‖². One round earlier, with α = α_t:
    ½‖w − c‖² + ½(α‖s + c‖² − ‖c‖²) is convex in c, so ‖c‖ = 1, and the maximum over c is
    ½‖w‖² + ½α‖s‖² + ½α + ‖αs − w‖. It is least at w = αs as long as ‖αs‖ ≤ 1, which holds since α_t ≤ 1/t;
    what remains is ½(α + α²)‖s‖² + ½α. (Takimoto and Warmuth 2000; Koolen, Malek and Bartlett 2014.)
    """
    return 0.5 * float(_alphas(validate.count("T", T)).sum())


@dataclass(frozen=True)
class SquareMinimax:
    """The optimal player of `square_loss`: w_t = α_t·(c_1 + … + c_{t−1}), the mean shrunk towards 0."""

    dim: int
    T: int

    def __post_init__(self):
        validate.count("T", self.T)

    @property
    def over(self):
        return Ball(self.dim)

    def start(self):
        return _FromCenters(self)

    def move(self, t, s):
        return _alphas(self.T)[min(t, self.T - 1)] * s


class _FromCenters(_FromSum):
    def step(self, z):
        super().step(self.predict() - z)  # the gradient of ½‖w − c‖² is w − c


def away(T):
    """The adversary of `square_loss`: ½‖w − c‖² with the unit vector c along α_t·s − w (e_1 if that is 0).

    It forces the value on every learner: ½‖w‖² + ‖αs − w‖ is at least ½‖αs‖² for every w.
    """
    alphas, centers = _alphas(validate.count("T", T)), []

    def adversary(t, w, past):
        del centers[t - 1 :]
        c = alphas[t - 1] * np.sum(centers, axis=0) - w
        length = np.linalg.norm(c)
        centers.append(c / length if length > 1e-12 else np.eye(len(w))[0])
        return Quadratic(centers[-1])

    return adversary


def leader_square_loss(T):
    """(value, centers): the worst case of follow-the-leader on ½(w − c_t)² over c_t ∈ [−1, 1], and its c_t.

    The leader is the mean m of the past (0 at first), and its regret is Σ(c_t − m_t)²/(2t), the equality of
    `strongly_convex`. That is convex in every c_t, so c_t = ±1, and the sum s of the past is a state: a
    dynamic program over whole numbers. From dimension 2 on the worst case is larger: 1.7 against 5/3 for T =
    3.
    """
    T = validate.count("T", T)
    to_come, choices = np.zeros(2 * T + 1), []  # entry s + T belongs to the sum s
    for t in range(T, 0, -1):
        s = np.arange(-t + 1, t)
        mean = s / max(t - 1, 1)
        worth = np.stack([(c - mean) ** 2 / (2 * t) + to_come[s + c + T] for c in (1, -1)])
        choices.insert(0, np.where(worth[0] >= worth[1], 1, -1))
        to_come[s + T] = worth.max(axis=0)
    s, centers = 0, []
    for t in range(1, T + 1):
        centers.append(choices[t - 1][s + t - 1])
        s += centers[-1]
    return float(to_come[T]), np.array(centers, dtype=float)[:, None]


# ---------------------------------------------------------------- mistakes, delays, moving comparators


@limit("lower")
def forced_mistakes(radius, margin):
    """The mistakes that `contrary` forces on every deterministic learner, in dimension ≥ ⌊(R/γ)²⌋."""
    R, margin = validate.positive("radius", radius), validate.positive("margin", margin)
    return int(np.floor((R / margin) ** 2 * (1 + 1e-12)))


def contrary(radius=1.0):
    """Examples R·e_1, R·e_2, …, each labelled against the learner's sign (the sign of 0 is +1).

    Every round is a mistake. After k rounds the unit vector u = Σ y_t e_t/√k has margin R/√k on all of them:
    so k = ⌊(R/γ)²⌋ mistakes are forced with margin γ, in dimension ≥ k. The Perceptron makes no more.
    """

    validate.positive("radius", radius)

    def adversary(t, w, past):
        if t > len(w):
            raise ValueError(f"contrary has one example for each dimension, {len(w)}, got round {t}")
        x = np.zeros(len(w))
        x[t - 1] = radius
        return Example(x, -1.0 if w @ x >= 0 else 1.0, PerceptronLoss())

    return adversary


@limit("tight")
def delayed(T, delay, radius=1.0, rho=1.0):
    """The minimax regret of linear losses on a ball with delay τ, (τ + 1) | T, dim ≥ 2: R·ρ·√((τ + 1)T).

    In round t the learner knows z_1, …, z_{t−1−τ}. Upper: τ + 1 optimal players take turns, each plays T/(τ
    + 1) rounds and hears of its own before its next turn. Lower: `blocks`. (Weinberger and Ordentlich 2002.)
    """
    T, delay = validate.count("T", T), validate.count("delay", delay, low=0)
    if T % (delay + 1):
        raise ValueError(f"T must be a multiple of delay + 1 = {delay + 1}, got {T}")
    return ball(T, radius, rho) * np.sqrt(delay + 1)


@dataclass(frozen=True)
class Interleaved:
    """delay + 1 copies of a learner that take turns: round t belongs to copy t mod (delay + 1)."""

    learner: object
    delay: int

    def __post_init__(self):
        validate.count("delay", self.delay, low=0)

    def start(self):
        return _Interleaved([self.learner.start() for _ in range(self.delay + 1)])


class _Interleaved:
    def __init__(self, players):
        self.players = players

    def predict(self):
        return self.players[0].predict()

    def update(self, loss):
        self.players[0].update(loss)
        self.players = [*self.players[1:], self.players[0]]


@dataclass(frozen=True)
class Delayed:
    """Any learner, told of each loss `delay` rounds late: w_{t+1} uses z_1, …, z_{t−delay}."""

    learner: object
    delay: int

    def __post_init__(self):
        validate.count("delay", self.delay, low=0)

    def start(self):
        return _Delayed(self.learner.start(), self.delay)


class _Delayed:
    def __init__(self, player, delay):
        self.player, self.delay, self.waiting = player, delay, []

    def predict(self):
        return self.player.predict()

    def update(self, loss):
        self.waiting.append(loss)
        if len(self.waiting) > self.delay:
            self.player.update(self.waiting.pop(0))


def blocks(learner, delay, rho=1.0):
    """The adversary of `delayed`: the same z for delay + 1 rounds, orthogonal to the sum before the block.

    The plays of a block were fixed before its first loss is heard of, so the adversary can work them out: it
    plays the learner itself on the past, and takes the z that does not help the sum of the block's plays.
    """
    across = orthogonal(rho)

    def adversary(t, w, past):
        if (t - 1) % (delay + 1):
            return past[-1]
        player, total = learner.start(), np.zeros(len(w))
        for z in past:
            player.update(Linear(z))
        for _ in range(delay + 1):
            total += player.predict()
            player.update(Linear(np.zeros(len(w))))  # not heard of before the block ends
        return across(t, total, past)

    return adversary


@limit("lower")
def moving(T, pieces, radius=1.0, rho=1.0):
    """What `restarts` forces on every learner against comparators that stand still on K pieces: R·ρ·√(K·T).

    On a ball, dim ≥ 2, K | T; the comparator's path is at most 2R(K − 1) long. `ball` on each piece, which
    also shows who attains it if the pieces are known: `BallMinimax(dim, T // K)`, restarted with each.
    """
    T, K = validate.count("T", T), validate.count("pieces", pieces)
    if T % K:
        raise ValueError(f"T must be a multiple of pieces = {K}, got {T}")
    return K * ball(T // K, radius, rho)


def restarts(T, pieces, rho=1.0):
    """The adversary of `moving`: `orthogonal`, which forgets the past every T/K rounds."""
    moving(T, pieces, rho=rho)  # the same conditions on the arguments
    across, length = orthogonal(rho), T // pieces

    def adversary(t, w, past):
        return across(t, w, past[(t - 1) // length * length :])

    return adversary


def best_pieces(trace, pieces, over):
    """The comparator's path `(T, n)` for `Trace.dynamic_regret`: the best point of each of K equal pieces."""
    Z = trace.subgradients.reshape(pieces, -1, trace.dim)
    return np.repeat(over.minimize_linear(Z.sum(axis=1)), Z.shape[1], axis=0)
