"""Gradient descent: its worst case on a ball, exactly, and performance estimation: the worst case
over all sets in a ball or of bounded diameter, with a proof and a game that attains it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolab.limits.base import Array, limit
from ocolib import validate
from ocolib.learners import OGD, step_at
from ocolib.sets import Hull

#: the name of a condition, and the multiplier of each
Name = tuple[str, ...]
Proof = dict[Name, float]


@limit("tight", "ox13.thm2")
def descent(radius: float, rho: float, T: int, eta: float) -> float:
    """Return the worst case of gradient descent with step η on a centred ball, lazy or eager:
    R²/(2η) + ηTρ²/2.

    For R/(Tρ) ≤ η ≤ R/ρ, dimension ≥ 2. Upper: the textbook proof. Attained by `adversaries.spiral`, which
    the ball never stops: then Σ⟨z_t, w_t⟩ = (η/2)(Tρ² − ‖Z_T‖²), and u = −ηZ_T on the sphere gains ‖Z_T‖²η.
    """
    T, eta = validate.count("T", T), validate.positive("eta", eta)
    R, rho = validate.positive("radius", radius), validate.positive("rho", rho)
    if not R / (T * rho) * (1 - 1e-12) <= eta <= R / rho * (1 + 1e-12):
        raise ValueError(f"eta must be in [R/(Tρ), R/ρ] = [{R / (T * rho):g}, {R / rho:g}], got {eta:g}")
    return R**2 / (2 * eta) + eta * T * rho**2 / 2


@dataclass(frozen=True, eq=False)
class WorstCase:
    """Hold the result of performance estimation: the value, the proof, and the game that attains it.

    `multipliers` maps the name of each condition to its dual variable. The losses `Z`, `(T, d)`, and the
    corners of the set are read off the Gram matrix, and scaled down where rounding made them too long.
    """

    value: float
    multipliers: Proof
    Z: np.ndarray
    over: Hull

    def __repr__(self) -> str:
        (T, d), many = self.Z.shape, len(self.multipliers)
        return f"WorstCase(value {self.value:.6g}: {T} losses in dimension {d}, {many} multipliers)"


@dataclass(frozen=True)
class DescentProblem:
    """State the largest regret of T rounds of gradient descent as a semidefinite program.

    maximise Σ_t ⟨z_t, w_t − u⟩ over all dimensions, closed convex S ∋ 0, comparators u ∈ S, losses ‖z_t‖ ≤ ρ,
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

    size: float
    rho: float
    T: int
    eta: Any
    projection: str = "lazy"
    within: str = "ball"

    def __post_init__(self):
        validate.count("T", self.T)
        validate.positive("size", self.size), validate.positive("rho", self.rho), step_at(self.eta, 1)
        for name, allowed in (("projection", ("lazy", "eager")), ("within", ("ball", "diameter"))):
            validate.choice(name, getattr(self, name), allowed)

    def vectors(self) -> tuple[Array, Array]:
        """Return z_1 … z_T and the corners w_1 … w_T, u, by their coefficients in the Gram matrix."""
        rows = np.eye(2 * self.T)
        z, w, u = rows[: self.T], rows[self.T : -1], rows[-1]
        return z, np.vstack([np.zeros(2 * self.T), w, u])

    def objective(self) -> Array:
        """Return the matrix C with Σ⟨z_t, w_t − u⟩ = C • G."""
        z, corners = self.vectors()
        return sum(_inner(z[t], corners[t] - corners[-1]) for t in range(self.T))

    def conditions(self) -> dict[Name, tuple[Array, float]]:
        """Return {name: (A, b)}, each the condition A • G ≤ b."""
        z, corners = self.vectors()
        names = [f"w{t}" for t in range(1, self.T + 1)] + ["u"]
        listed: dict[Name, tuple[Array, float]] = {
            ("gradient", f"z{t + 1}"): (_inner(z[t], z[t]), self.rho**2) for t in range(self.T)
        }
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

    def solve(self) -> WorstCase:
        """Solve the program: a `WorstCase`; near size = rho = 1 its value is exact to about 1e-6."""
        import cvxpy as cp

        from ocolib import oracle

        conditions = self.conditions()
        G = cp.Variable((2 * self.T, 2 * self.T), PSD=True)
        A = np.array([matrix.ravel() for matrix, _ in conditions.values()])
        b = np.array([bound for _, bound in conditions.values()])
        flat = cp.vec(G, order="C")
        allowed = A @ flat <= b
        value = -oracle.solve(-self.objective().ravel() @ flat, [allowed])
        multipliers = dict(zip(conditions, map(float, allowed.dual_value), strict=True))
        return WorstCase(value, multipliers, *self._rebuild(G.value))

    def _rebuild(self, G):
        """Return vectors with Gram matrix G, without the directions that are only rounding errors."""
        size, axes = np.linalg.eigh(G)
        keep = size > 1e-7 * size.max()
        V = axes[:, keep] * np.sqrt(size[keep])
        Z, corners = V[: self.T], np.vstack([np.zeros(V.shape[1]), V[self.T :]])
        Z = Z * np.minimum(1.0, self.rho / np.linalg.norm(Z, axis=1, keepdims=True))
        hull = Hull(corners)
        widest = hull.diameter if self.within == "diameter" else hull.farthest(corners[0])
        return Z, Hull(corners * min(1.0, self.size / widest))

    def textbook(self) -> Proof:
        """Return the multipliers of the textbook proof; conditions not named have multiplier 0.

        η/2 on each ‖z_t‖² ≤ ρ², 1/(2η) on ‖u − w_1‖² ≤ size², 1/η on projections: eager compares each of
        w_2, …, w_T with u (Pythagoras, then telescoping); lazy compares each with the next and only the last
        with u (be the leader). Together they promise size²/(2η) + ηTρ²/2. Only for a number η.
        """
        eta, T = validate.positive("eta", self.eta), self.T  # a schedule has another proof
        proof: Proof = {("gradient", f"z{t}"): eta / 2 for t in range(1, T + 1)}
        proof["distance", "w1", "u"] = 1 / (2 * eta)
        for t in range(2, T + 1):
            follower = f"w{t + 1}" if self.projection == "lazy" and t < T else "u"
            proof["projection", f"w{t}", follower] = 1 / eta
        return proof

    def certify(self, multipliers: Proof) -> tuple[float, Array]:
        """Return (promise, slack): what multipliers λ ≥ 0 prove, and the matrix Σ λA − C that must be ⪰ 0 for
        it.

        If it is, C • G = Σ λ(A • G) − slack • G ≤ Σ λb for every game: weak duality, a proof in all
        dimensions.
        """
        if min(multipliers.values()) < 0:
            raise ValueError(f"multipliers must be ≥ 0, got {min(multipliers.values()):g}")
        conditions = self.conditions()
        promise = sum(x * conditions[name][1] for name, x in multipliers.items())
        return promise, sum(x * conditions[name][0] for name, x in multipliers.items()) - self.objective()


def worst_case(learner: Any, rho: float, T: int) -> WorstCase:
    """Find the largest regret of T rounds of gradient descent with ‖z_t‖ ≤ rho, and a game that attains it.

    `learner` is an `OGD` from w_1 = 0 over a bounded set that contains 0. What counts of the set is its
    radius R, the largest distance from 0: the worst case is over all dimensions and all closed convex sets
    that contain 0 and lie within distance R of it. The result has the `value`, the losses `Z` and the set
    `over` of a worst game, and the `multipliers` of a proof. (`DescentProblem` has more options.)

    >>> from ocolib.learners import OGD
    >>> from ocolib.sets import Ball
    >>> found = worst_case(OGD(Ball(2), eta=0.5), rho=1, T=4)
    >>> round(found.value, 4)  # R²/2η + ηTρ²/2
    2.0
    """
    if not isinstance(learner, OGD):
        raise ValueError(f"worst_case knows OGD(over, eta, projection), got {type(learner).__name__}")
    zero = np.zeros(learner.over.dim)
    if not learner.over.contains(zero) or (learner.start is not None and np.any(learner.start)):
        raise ValueError("worst_case needs descent that starts at 0, in a set that contains 0")
    radius = float(learner.over.farthest(zero))
    if not 0 < radius < np.inf:
        raise ValueError(f"worst_case needs a bounded set of more than one point, got {learner.over!r}")
    return DescentProblem(radius, rho, T, learner.eta, learner.projection).solve()


def _inner(a, b):
    """Return the symmetric matrix M with M • G = ⟨a, b⟩ for vectors given by their coefficients."""
    return (np.outer(a, b) + np.outer(b, a)) / 2
