"""The same answers from cvxpy: slow, generic, and with none of our closed forms in them.

Projections, regularised minimisers and best points have their twins here. `constraints(set, x)`,
`expression(loss, w)` and `scalar(phi, p, y)` translate our objects into cvxpy's; the rest states a problem
and lets a solver answer.

Accuracy: quadratic problems are solved to about 1e-8, or 1e-6 where a constraint is met without force; those
with entropy (the exponential cone) to about 1e-5 of the largest coordinate, on the orthant to 1e-4 while
|eta·c_i| ≤ 10. Compare components no closer than that; the values of the objective agree to about 1e-8,
relative to max(1, |value|). All this for numbers, given or found, not far from 1: 1e3 may cost digits, and
from about 1e4 on cvxpy may call a problem infeasible that has a solution.
"""

import warnings
from functools import singledispatch
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from ocolib import losses as loss_room
from ocolib import regularizers, sets, validate
from ocolib.descriptions import description
from ocolib.game import Trace
from ocolib.learners import step_at
from ocolib.protocols import Array, Loss, Player, Regularizer, Set, Step

TOLERANCES = 1e-13, 1e-11, 1e-9, 1e-8  # asked of the solver in turn, until it delivers
LIMITS = "tol_gap_abs", "tol_gap_rel", "tol_feas"


# ---------------------------------------------------------------- translation: sets


@singledispatch
def constraints(over: Any, x: Any) -> list[Any]:
    """The set as a list of cvxpy constraints on the variable x."""
    raise ValueError(f"no cvxpy form of {over!r}")


@constraints.register
def _(over: sets.Space, x: Any) -> Any:
    return []


@constraints.register
def _(over: sets.Orthant, x: Any) -> Any:
    return [x >= 0]


@constraints.register
def _(over: sets.Ball, x: Any) -> Any:
    return [cp.norm(x - over.center, 2) <= over.radius]


@constraints.register
def _(over: sets.Box, x: Any) -> Any:
    return [x >= over.low, x <= over.high]


@constraints.register
def _(over: sets.Simplex, x: Any) -> Any:
    return [x >= 0, cp.sum(x) == 1]


@constraints.register
def _(over: sets.L1Ball, x: Any) -> Any:
    return [cp.norm(x, 1) <= over.radius]


@constraints.register
def _(over: sets.Halfspace, x: Any) -> Any:
    return [over.normal @ x <= over.offset]


@constraints.register
def _(over: sets.Hull, x: Any) -> Any:
    share = cp.Variable(len(over.vertices), nonneg=True)
    return [x == over.vertices.T @ share, cp.sum(share) == 1]


# ---------------------------------------------------------------- translation: losses and regularisers


@singledispatch
def expression(loss: Any, w: Any) -> Any:
    """A loss, many losses (their sum) or a regulariser as a cvxpy expression in the variable w.

    Many losses are an array of linear ones, losses over data, a list or a tuple.
    """
    if isinstance(loss, (list, tuple)):
        return cp.sum([expression(f, w) for f in loss])
    raise ValueError(f"no cvxpy form of {loss!r}")


@expression.register
def _(loss: np.ndarray, w: Any) -> Any:
    return loss.reshape(-1, loss.shape[-1]).sum(axis=0) @ w


@expression.register
def _(loss: loss_room.Linear, w: Any) -> Any:
    return loss.z @ w


@expression.register
def _(loss: loss_room.Quadratic, w: Any) -> Any:
    return 0.5 * loss.curvature * cp.sum_squares(w - loss.center)


@expression.register
def _(loss: loss_room.Examples, w: Any) -> Any:
    total = cp.sum(scalar(loss.phi, loss.X @ w, loss.y))
    return total + 0.5 * loss.reg * len(loss) * cp.sum_squares(w) if loss.reg else total


@expression.register
def _(loss: loss_room.Example, w: Any) -> Any:
    return scalar(loss.phi, loss.x @ w, loss.y) + 0.5 * loss.reg * cp.sum_squares(w)


@expression.register
def _(loss: loss_room.VectorExample, w: Any) -> Any:
    return scalar(loss.phi, cp.reshape(w, (loss.outputs, len(loss.x)), order="C") @ loss.x, loss.y)


@expression.register
def _(loss: regularizers.SquaredNorm, w: Any) -> Any:
    return 0.5 * cp.sum_squares(w if loss.center is None else w - loss.center)


@expression.register
def _(loss: regularizers.NegativeEntropy, w: Any) -> Any:
    return -cp.sum(cp.entr(w))


@expression.register
def _(loss: regularizers.UnnormalizedEntropy, w: Any) -> Any:
    return -cp.sum(cp.entr(w) + w)


# ---------------------------------------------------------------- translation: φ(p, y)


@singledispatch
def scalar(phi: Any, p: Any, y: Any) -> Any:
    """φ(p, y) as a cvxpy expression in the prediction p: elementwise, or of one vector of scores."""
    raise ValueError(f"no cvxpy form of {phi!r}")


@scalar.register
def _(phi: loss_room.PerceptronLoss, p: Any, y: Any) -> Any:
    return cp.pos(-cp.multiply(y, p - phi.threshold))


@scalar.register
def _(phi: loss_room.HingeLoss, p: Any, y: Any) -> Any:
    return cp.pos(1 - cp.multiply(y, p))


DIFFERENTIABLE = {
    "squared hinge": lambda p, y: 0.5 * cp.square(cp.pos(1 - cp.multiply(y, p))),
    "exponential": lambda p, y: cp.exp(-cp.multiply(y, p)),
    "logistic": lambda p, y: cp.logistic(-cp.multiply(y, p)),
    "least squares": lambda p, y: 0.5 * cp.square(p - y),
    "huber": lambda p, y: 0.5 * cp.huber(p - y, 1),
    "poisson": lambda p, y: cp.exp(p) - cp.multiply(y, p),
    "softmax": lambda f, y: cp.log_sum_exp(f) - f[y],
}


@scalar.register
def _(phi: loss_room.Differentiable, p: Any, y: Any) -> Any:
    return DIFFERENTIABLE[phi.name](p, y)


@scalar.register
def _(phi: loss_room.TubeLoss, p: Any, y: Any) -> Any:
    return cp.pos(cp.maximum(phi.up * (p - y - phi.eps), phi.down * (y - p - phi.eps)))


@scalar.register
def _(phi: loss_room.SoftMargin, f: Any, y: Any) -> Any:
    return cp.max(cp.multiply(phi.gamma[y], f - f[y] + phi.delta[y]))


@scalar.register
def _(phi: loss_room.QuadraticForm, f: Any, y: Any) -> Any:
    return 0.5 * cp.quad_form(f - y, cp.psd_wrap(phi.M))


# ---------------------------------------------------------------- answers


def solve(objective: Any, conditions: list[Any]) -> float:
    """Minimise a cvxpy expression to the accuracy above: the value, or a `ValueError` if cvxpy finds none."""
    problem = cp.Problem(cp.Minimize(objective), conditions)
    for tolerance in TOLERANCES:
        settings = dict.fromkeys(LIMITS, tolerance)
        settings |= {f"reduced_{name}": 1e-7 for name in LIMITS}  # what "inaccurate" may mean at worst
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Solution may be inaccurate")
                problem.solve(solver=cp.CLARABEL, **settings)
            break
        except cp.SolverError:
            if tolerance == TOLERANCES[-1]:
                raise
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise ValueError(f"found no solution: cvxpy says {problem.status}")
    return float(problem.value)


def project(y: ArrayLike, over: Set) -> Array:
    """argmin over the set of ‖x − y‖², of one y."""
    y = validate.vector("y", y, over.dim)
    x = cp.Variable(over.dim)
    solve(cp.sum_squares(x - y), constraints(over, x))
    return x.value


def minimize(regularizer: Regularizer, c: ArrayLike, eta: float, over: Set) -> Array:
    """argmin over the set of ⟨c, w⟩ + R(w)/eta, of one c and a number eta."""
    c, eta = validate.vector("c", c, over.dim), validate.positive("eta", eta)
    w = cp.Variable(over.dim)
    solve(eta * (c @ w) + expression(regularizer, w), constraints(over, w))
    return w.value


def best_point(losses: Any, over: Set) -> Array:
    """A point of the set with the least total loss; if there is none, one that comes near, or an error."""
    w = cp.Variable(over.dim)
    solve(expression(losses, w), constraints(over, w))
    return w.value


def best_path(losses: loss_room.Losses, over: Set, length: float) -> Array:
    """u_1, …, u_T of the set with least Σ f_t(u_t) of all paths with Σ ‖u_{t+1} − u_t‖ ≤ length, `(T, n)`.

    For the learner it is a worst comparator of at most that length. `losses` are those of one game.
    """
    length = validate.number("length", length, low=0.0)
    u = cp.Variable((len(losses), over.dim))
    if isinstance(losses, np.ndarray):
        total = cp.sum(cp.multiply(losses, u))
    elif isinstance(losses, loss_room.Examples):
        total = cp.sum(scalar(losses.phi, cp.sum(cp.multiply(losses.X, u), axis=1), losses.y))
        total += 0.5 * losses.reg * cp.sum_squares(u)
    else:
        total = cp.sum([expression(f, u[t]) for t, f in enumerate(losses)])
    inside = [condition for t in range(len(losses)) for condition in constraints(over, u[t])]
    moves = cp.norm(u[1:] - u[:-1], 2, axis=1) if len(losses) > 1 else cp.norm(0 * u[0])
    solve(total, [*inside, cp.sum(moves) <= length])
    return u.value


def regret(trace: Trace, over: Set) -> float:
    """Σ f_t(w_t) − min over the set of Σ f_t, for all losses with a cvxpy form and one run."""
    if trace.paid.ndim != 1:
        raise ValueError(f"oracle.regret takes one run, got runs of shape {trace.paid.shape[:-1]}")
    w = cp.Variable(over.dim)
    return float(trace.paid.sum()) - solve(expression(trace.losses, w), constraints(over, w))


# ---------------------------------------------------------------- margins


def max_margin(X: ArrayLike, y: ArrayLike) -> tuple[Array, float]:
    """(u, γ): the unit vector with the largest γ = min_t y_t⟨u, x_t⟩; `ValueError` if none separates."""
    X = validate.array("X", X, ndim=2)
    y = validate.labels("y", y, len(X))
    w = cp.Variable(X.shape[1])
    try:  # the closest point to 0 with all margins ≥ 1 has the direction u and the length 1/γ
        solve(cp.sum_squares(w), [cp.multiply(y, X @ w) >= 1])
    except ValueError:
        raise ValueError("X, y must be separable by a hyperplane through 0") from None
    length = np.linalg.norm(w.value)
    return w.value / length, float(1.0 / length)


def ball_margin(X: ArrayLike, y: ArrayLike) -> tuple[Array, float]:
    """(u, γ): (1) of Lecture 9, max over ‖u‖ ≤ 1 of min_i y_i⟨u, x_i⟩; γ = 0 if nothing separates."""
    X = validate.array("X", X, ndim=2)
    y = validate.labels("y", y, len(X))
    u = cp.Variable(X.shape[1])
    gamma = -solve(-cp.min(cp.multiply(y, X @ u)), [cp.norm(u, 2) <= 1])
    return u.value, gamma


def hard_margin(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """(w, α): (2) of Lecture 9, min ½‖w‖² with y_i⟨w, x_i⟩ ≥ 1, and multipliers of its constraints.

    `ValueError` if no w separates.
    """
    X = validate.array("X", X, ndim=2)
    y = validate.labels("y", y, len(X))
    w = cp.Variable(X.shape[1])
    margins = cp.multiply(y, X @ w) >= 1
    solve(0.5 * cp.sum_squares(w), [margins])
    return w.value, margins.dual_value


def soft_margin(X: ArrayLike, y: ArrayLike, C: float) -> tuple[Array, float]:
    """(w, value): min ½‖w‖² + C·Σ max(0, 1 − y_i⟨w, x_i⟩)."""
    losses, C = loss_room.hinge(X, y), validate.positive("C", C)
    w = cp.Variable(losses.dim)
    value = solve(0.5 * cp.sum_squares(w) + C * expression(losses, w), [])
    return w.value, value


def penalty_threshold(X: ArrayLike, y: ArrayLike) -> float:
    """The least C with which the soft margin has the hard-margin solution, of separable data.

    It is the least max_i α_i over the multipliers of (2): α ≥ 0 with Σ α_i y_i x_i = w and Σ α_i = ‖w‖².
    """
    _, first = hard_margin(X, y)
    first, Z = np.maximum(first, 0.0), np.asarray(y)[:, None] * np.asarray(X)
    alpha, C = cp.Variable(len(first), nonneg=True), cp.Variable()
    return solve(C, [Z.T @ alpha == Z.T @ first, cp.sum(alpha) == first.sum(), alpha <= C])


# ---------------------------------------------------------------- a learner


@description
class FTRL:
    """w_{t+1} = argmin over the set of f_1 + … + f_t + R/η_t, for losses with a cvxpy form: a solve a round.

    `eta` is a number or a schedule. `regularizer=None` follows the leader without one; then w_1 is any point
    of the set.
    """

    over: Set
    regularizer: Regularizer | None
    eta: Step = 1.0

    def player(self) -> Player:
        """A fresh player."""
        return _Solver(self)


class _Solver:
    def __init__(self, learner: FTRL) -> None:
        self.learner = learner
        self.losses: list[Loss] = []
        self.w: Array | None = None

    def predict(self) -> Array:
        if self.w is None:
            over, regularizer = self.learner.over, self.learner.regularizer
            w = cp.Variable(over.dim)
            total = expression(self.losses, w) if self.losses else 0
            if regularizer is not None:
                eta = float(step_at(self.learner.eta, max(len(self.losses), 1)))
                total = total + expression(regularizer, w) / eta
            solve(total + 0 * cp.sum(w), constraints(over, w))
            self.w = np.array(w.value)
        return self.w.copy()

    def update(self, loss: Loss) -> None:
        self.losses.append(loss)
        self.w = None
