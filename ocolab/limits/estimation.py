"""Compute the worst case of gradient descent: in closed form on a ball, and by performance estimation.

Performance estimation finds the worst case over all sets in a ball or of bounded diameter, with a proof and
a game that attains it, by a semidefinite program.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolab.limits.base import limit
from ocolib import validate
from ocolib.learners import OGD, step_at
from ocolib.sets import Hull
from ocolib.types import Array

#: the name of a condition, and {name: multiplier}
Name = tuple[str, ...]
Proof = dict[Name, float]


@limit("tight", "ox13.thm2")
def descent(radius: float, rho: float, T: int, eta: float) -> float:
    """Return R²/(2η) + ηTρ²/2, the worst case of gradient descent with step η on the ball ‖w‖ ≤ R.

    It holds for lazy and eager descent from 0 with R/(Tρ) ≤ η ≤ R/ρ, in dimension ≥ 2. The textbook proof
    gives the upper bound. `adversaries.spiral` attains it: descent never leaves the ball, so the projection
    changes nothing and Σ⟨z_t, w_t⟩ = (η/2)(Tρ² − ‖Z_T‖²), while the comparator u = −ηZ_T on the sphere gains
    η‖Z_T‖².

    >>> descent(1.0, 1.0, T=4, eta=0.5)
    2.0
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
    corners of the set `over` are computed from the Gram matrix, and scaled down if rounding made them too
    long.
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

    The problem is to maximise Σ_t ⟨z_t, w_t − u⟩ over all dimensions, closed convex sets S ∋ 0, comparators
    u ∈ S and losses ‖z_t‖ ≤ ρ, where w_1 = 0, w_t = Π_S(y_t), and y_{t+1} = −η_t(z_1 + … + z_t) (lazy) or
    y_{t+1} = w_t − η_t·z_t (eager); η is a number or a schedule. The set S lies in the ball of radius `size`
    around 0 (`within` 'ball') or has diameter at most `size` ('diameter').

    This is a finite problem for the following reasons. Linear losses suffice: with the same subgradients a
    convex loss has at most the regret of ⟨z_t, ·⟩. The set enters only through w_t, u ∈ S and the
    inequalities ⟨y_t − w_t, s − w_t⟩ ≤ 0 for all s ∈ S. They are affine in s, so S can be replaced by the
    convex hull of 0, w_2, …, w_T, u, where it is enough to require them at these points; these points also
    determine whether the hull lies in the ball, and its diameter. What remains are inner products of the
    vectors z_1, …, z_T, w_2, …, w_T, u: the objective and every condition is linear in their Gram matrix G,
    and every G ⪰ 0 is the Gram matrix of some vectors. (Drori and Teboulle 2014; Taylor, Hendrickx and
    Glineur 2017.)
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
        """Return z_1, …, z_T and the corners w_1, …, w_T, u as coefficient vectors, one row each.

        A row lists the coefficients of z_1, …, z_T, w_2, …, w_T, u, the vectors of the Gram matrix.
        """
        rows = np.eye(2 * self.T)
        z, w, u = rows[: self.T], rows[self.T : -1], rows[-1]
        return z, np.vstack([np.zeros(2 * self.T), w, u])

    def objective(self) -> Array:
        """Return the matrix C with Σ⟨z_t, w_t − u⟩ = C • G."""
        z, corners = self.vectors()
        return sum(_inner(z[t], corners[t] - corners[-1]) for t in range(self.T))

    def conditions(self) -> dict[Name, tuple[Array, float]]:
        """Return the constraints as {name: (A, b)}, each meaning A • G ≤ b."""
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
        """Solve the semidefinite program with cvxpy and return a `WorstCase`.

        The value has an error of about 1e-6 if `size` and `rho` are near 1.
        """
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
        """Return losses and a set with Gram matrix G, without directions that are only rounding errors."""
        size, axes = np.linalg.eigh(G)
        keep = size > 1e-7 * size.max()
        V = axes[:, keep] * np.sqrt(size[keep])
        Z, corners = V[: self.T], np.vstack([np.zeros(V.shape[1]), V[self.T :]])
        Z = Z * np.minimum(1.0, self.rho / np.linalg.norm(Z, axis=1, keepdims=True))
        hull = Hull(corners)
        widest = hull.diameter if self.within == "diameter" else hull.farthest(corners[0])
        return Z, Hull(corners * min(1.0, self.size / widest))

    def textbook(self) -> Proof:
        """Return the multipliers of the textbook proof, for a constant step size η.

        They are η/2 for each ‖z_t‖² ≤ ρ², 1/(2η) for ‖u − w_1‖² ≤ size², and 1/η for the projections: eager
        descent compares each of w_2, …, w_T with u (Pythagoras, then telescoping); lazy descent compares each
        with the next and only the last with u (be the leader). All other multipliers are 0. Together they
        prove the bound size²/(2η) + ηTρ²/2.
        """
        eta, T = validate.positive("eta", self.eta), self.T  # a schedule would need another proof
        proof: Proof = {("gradient", f"z{t}"): eta / 2 for t in range(1, T + 1)}
        proof["distance", "w1", "u"] = 1 / (2 * eta)
        for t in range(2, T + 1):
            follower = f"w{t + 1}" if self.projection == "lazy" and t < T else "u"
            proof["projection", f"w{t}", follower] = 1 / eta
        return proof

    def certify(self, multipliers: Proof) -> tuple[float, Array]:
        """Return (bound, slack) for multipliers λ ≥ 0: the bound Σ λb holds if the matrix slack is ⪰ 0.

        slack = Σ λA − C. If it is positive semidefinite, C • G = Σ λ(A • G) − slack • G ≤ Σ λb for the Gram
        matrix G of every game. This is weak duality, and it proves the bound in all dimensions.
        """
        if min(multipliers.values()) < 0:
            raise ValueError(f"multipliers must be ≥ 0, got {min(multipliers.values()):g}")
        conditions = self.conditions()
        bound = sum(x * conditions[name][1] for name, x in multipliers.items())
        return bound, sum(x * conditions[name][0] for name, x in multipliers.items()) - self.objective()


def worst_case(learner: Any, rho: float, T: int) -> WorstCase:
    """Find the largest regret of T rounds of gradient descent with ‖z_t‖ ≤ rho, and a game that attains it.

    `learner` is an `OGD` from w_1 = 0 over a bounded set that contains 0. Only the radius R of this set
    matters, the largest distance of its points from 0: the worst case is taken over all dimensions and all
    closed convex sets that contain 0 and lie in the ball of radius R around it. Returns a `WorstCase` with
    the `value`, the losses `Z` and the set `over` of a worst game, and the `multipliers` of a proof.
    `DescentProblem` has more options. Needs cvxpy.

    >>> from ocolib.learners import OGD
    >>> from ocolib.sets import Ball
    >>> found = worst_case(OGD(Ball(2), eta=0.5), rho=1, T=4)
    >>> round(found.value, 4)  # R²/2η + ηTρ²/2
    2.0
    """
    if not isinstance(learner, OGD):
        raise ValueError(f"learner must be an OGD(over, eta, projection), got {type(learner).__name__}")
    zero = np.zeros(learner.over.dim)
    if not learner.over.contains(zero) or (learner.start is not None and np.any(learner.start)):
        raise ValueError(
            f"learner must be descent that starts at 0, over a set that contains 0, got {learner!r}"
        )
    radius = float(learner.over.farthest(zero))
    if not 0 < radius < np.inf:
        raise ValueError(f"learner.over must be a bounded set of more than one point, got {learner.over!r}")
    return DescentProblem(radius, rho, T, learner.eta, learner.projection).solve()


def _inner(a, b):
    """Return the symmetric matrix M with M • G = ⟨a, b⟩ for vectors given by their coefficients."""
    return (np.outer(a, b) + np.outer(b, a)) / 2
