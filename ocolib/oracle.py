"""Solve projections, regularised minimisers and best points with cvxpy, as an independent check.

These functions are slow and generic and use none of the closed forms of the library. A set describes itself
to cvxpy by `over.constraints(x)`, a loss or a regulariser by `loss.expression(w)`, a φ by `phi.expression(p,
y)`. Your own classes work here as soon as they have these methods.

>>> from ocolib.sets import Simplex
>>> project([1.0, 1.0, -3.0], Simplex(3)).round(4) + 0.0
array([0.5, 0.5, 0. ])

Accuracy, for numbers not far from 1: quadratic problems are solved to about 1e-8 per component, or 1e-6 where
a constraint is active with multiplier 0; problems with entropy (the exponential cone) to about 1e-5 of the
largest component, on the orthant to 1e-4 while |eta·c_i| ≤ 10. Objective values agree to about 1e-8, relative
to max(1, |value|). With numbers around 1e3 some of these digits may be lost.
"""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from ocolib import losses as loss_room
from ocolib import validate
from ocolib.describe import description
from ocolib.learners import step_at
from ocolib.types import Array, Step

if TYPE_CHECKING:
    from ocolib.trace import Trace

TOLERANCES = 1e-13, 1e-11, 1e-9, 1e-8  # tried in this order until the solver succeeds
LIMITS = "tol_gap_abs", "tol_gap_rel", "tol_feas"


# ---------------------------------------------------------------- translation


def constraints(over: Any, x: Any) -> list[Any]:
    """Return the set as a list of cvxpy constraints on the variable x."""
    return _form(over, "constraints", "x")(x)


def expression(losses: Any, w: Any) -> Any:
    """Return a loss, a sum of losses or a regulariser as a cvxpy expression in the variable w.

    `losses` is an array of linear losses, losses over data, a list or tuple of losses, or one such object.
    """
    if isinstance(losses, np.ndarray):
        return losses.reshape(-1, losses.shape[-1]).sum(axis=0) @ w
    if isinstance(losses, (list, tuple)):
        return cp.sum([expression(f, w) for f in losses])
    return _form(losses, "expression", "w")(w)


def _form(thing: Any, name: str, argument: str) -> Any:
    """Return the method that gives the cvxpy form, or raise a `ValueError` that says which method to add."""
    if not hasattr(thing, name):
        who = type(thing).__name__
        raise ValueError(f"{thing!r} has no cvxpy form: give {who} a method {name}({argument})")
    return getattr(thing, name)


# ---------------------------------------------------------------- minimisers


def solve(objective: Any, conditions: list[Any]) -> float:
    """Minimise a cvxpy expression and return the value; raise a `ValueError` if no solver finds one.

    We call Clarabel with decreasing accuracy and then SCS, because Clarabel sometimes fails, or reports a
    feasible problem as infeasible, when the numbers are far from 1.
    """
    return _solve(cp.Problem(cp.Minimize(objective), conditions))


def _solve(problem: Any) -> float:
    """Solve a cvxpy problem as `solve` does and return its value."""
    said = ""
    asked = [(cp.CLARABEL, _clarabel(tolerance)) for tolerance in TOLERANCES]
    for solver, settings in [*asked, (cp.SCS, {"eps": 1e-9, "max_iters": 100_000})]:
        if said in ("infeasible", "unbounded") and solver == cp.CLARABEL:
            continue  # another tolerance rarely changes this answer
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Solution may be inaccurate")
                problem.solve(solver=solver, **settings)
        except cp.SolverError as error:
            said = said or str(error)
            continue
        if problem.status in ("optimal", "optimal_inaccurate"):
            return float(problem.value)
        said = problem.status
    raise ValueError(f"cvxpy found no solution: {said}")


def _clarabel(tolerance: float) -> dict[str, float]:
    """Return Clarabel settings for this tolerance; a result called "inaccurate" is still good to 1e-7."""
    return dict.fromkeys(LIMITS, tolerance) | {f"reduced_{name}": 1e-7 for name in LIMITS}


def project(y: ArrayLike, over: Any) -> Array:
    """Project one point y: return argmin over the set of ‖x − y‖²."""
    return projector(over)(y)


def projector(over: Any) -> Callable[[ArrayLike], Array]:
    """Return the projection onto one set as a function, for many points: cvxpy compiles the problem once."""
    x, center = cp.Variable(over.dim), cp.Parameter(over.dim)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - center)), constraints(over, x))

    def nearest(y):
        center.value = validate.vector("y", y, over.dim)
        _solve(problem)
        return x.value

    return nearest


def minimize(regularizer: Any, c: ArrayLike, eta: float, over: Any) -> Array:
    """Return argmin over the set of ⟨c, w⟩ + R(w)/eta, for one vector c and one number eta."""
    c, eta = validate.vector("c", c, over.dim), validate.positive("eta", eta)
    w = cp.Variable(over.dim)
    solve(eta * (c @ w) + expression(regularizer, w), constraints(over, w))
    return w.value


def best_point(losses: Any, over: Any) -> Array:
    """Return a point of the set with the smallest total loss.

    If the minimum is not attained, the result is a nearly optimal point or a `ValueError`.

    >>> from ocolib.losses import absolute
    >>> from ocolib.sets import Ball
    >>> best_point(absolute([[1.0], [1.0], [1.0]], [1.0, 2.0, 9.0]), Ball(1, 5.0)).round(4)  # the median
    array([2.])
    """
    w = cp.Variable(over.dim)
    solve(expression(losses, w), constraints(over, w))
    return w.value


def best_path(losses: Any, over: Any, length: float) -> Array:
    """Return the path u_1, …, u_T in the set, of length ≤ `length`, that minimises Σ f_t(u_t), `(T, n)`.

    The length of a path is Σ ‖u_{t+1} − u_t‖. Among all comparator paths of at most this length, it gives the
    largest dynamic regret. `losses` are those of one game.
    """
    length = validate.number("length", length, low=0.0)
    u = cp.Variable((len(losses), over.dim))
    if isinstance(losses, np.ndarray):
        total = cp.sum(cp.multiply(losses, u))
    elif isinstance(losses, loss_room.Examples):
        total = cp.sum(losses.phi.expression(cp.sum(cp.multiply(losses.X, u), axis=1), losses.y))
        total += 0.5 * losses.reg * cp.sum_squares(u)
    else:
        total = cp.sum([expression(f, u[t]) for t, f in enumerate(losses)])
    inside = [condition for t in range(len(losses)) for condition in constraints(over, u[t])]
    moves = cp.norm(u[1:] - u[:-1], 2, axis=1) if len(losses) > 1 else cp.norm(0 * u[0])
    solve(total, [*inside, cp.sum(moves) <= length])
    return u.value


def regret(trace: "Trace", over: Any) -> float:
    """Return the regret Σ f_t(w_t) − min over the set of Σ f_t(u) of one run, solved by cvxpy."""
    if trace.paid.ndim != 1:
        raise ValueError(f"oracle.regret takes one run, got runs of shape {trace.paid.shape[:-1]}")
    w = cp.Variable(over.dim)
    return float(trace.paid.sum()) - solve(expression(trace.losses, w), constraints(over, w))


# ---------------------------------------------------------------- margins


def max_margin(X: ArrayLike, y: ArrayLike) -> tuple[Array, float]:
    """Return (u, γ): the unit vector u with the largest margin γ = min_t y_t⟨u, x_t⟩.

    Raise a `ValueError` if no hyperplane through 0 separates the data.

    >>> u, gamma = max_margin([[3.0, 4.0], [-3.0, -4.0]], [1, -1])
    >>> u.round(4), round(gamma, 4)
    (array([0.6, 0.8]), 5.0)
    """
    X = validate.array("X", X, ndim=2)
    y = validate.labels("y", y, len(X))
    w = cp.Variable(X.shape[1])
    try:  # the shortest w with all margins ≥ 1 has the direction u and the norm 1/γ
        solve(cp.sum_squares(w), [cp.multiply(y, X @ w) >= 1])
    except ValueError:
        raise ValueError("X, y must be separable by a hyperplane through 0") from None
    length = np.linalg.norm(w.value)
    return w.value / length, float(1.0 / length)


def ball_margin(X: ArrayLike, y: ArrayLike) -> tuple[Array, float]:
    """Return (u, γ) solving (1) of Lecture 9: maximise γ = min_i y_i⟨u, x_i⟩ over ‖u‖ ≤ 1.

    γ is 0 if the data are not separable.
    """
    X = validate.array("X", X, ndim=2)
    y = validate.labels("y", y, len(X))
    u = cp.Variable(X.shape[1])
    gamma = -solve(-cp.min(cp.multiply(y, X @ u)), [cp.norm(u, 2) <= 1])
    return u.value, gamma


def hard_margin(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return (w, α) solving (2) of Lecture 9: minimise ½‖w‖² subject to y_i⟨w, x_i⟩ ≥ 1.

    α are Lagrange multipliers of the constraints. Raise a `ValueError` if no w separates the data.
    """
    X = validate.array("X", X, ndim=2)
    y = validate.labels("y", y, len(X))
    w = cp.Variable(X.shape[1])
    margins = cp.multiply(y, X @ w) >= 1
    solve(0.5 * cp.sum_squares(w), [margins])
    return w.value, margins.dual_value


def soft_margin(X: ArrayLike, y: ArrayLike, C: float) -> tuple[Array, float]:
    """Return (w, value) of the soft-margin SVM: minimise ½‖w‖² + C·Σ max(0, 1 − y_i⟨w, x_i⟩).

    >>> w, value = soft_margin([[1.0], [-1.0]], [1, -1], C=10.0)
    >>> w.round(4), round(value, 4)
    (array([1.]), 0.5)
    """
    losses, C = loss_room.hinge(X, y), validate.positive("C", C)
    w = cp.Variable(losses.dim)
    value = solve(0.5 * cp.sum_squares(w) + C * expression(losses, w), [])
    return w.value, value


def penalty_threshold(X: ArrayLike, y: ArrayLike) -> float:
    """Return the smallest C for which the soft-margin and hard-margin SVMs agree on separable data.

    It is the smallest possible max_i α_i over all multipliers of (2): α ≥ 0, Σ α_i y_i x_i = w, Σ α_i = ‖w‖².
    """
    _, first = hard_margin(X, y)
    first, Z = np.maximum(first, 0.0), np.asarray(y)[:, None] * np.asarray(X)
    alpha, C = cp.Variable(len(first), nonneg=True), cp.Variable()
    return solve(C, [Z.T @ alpha == Z.T @ first, cp.sum(alpha) == first.sum(), alpha <= C])


# ---------------------------------------------------------------- a learner


@description
class FTRL:
    """Follow the regularised leader by calling cvxpy in every round, for any losses with a cvxpy form.

    w_{t+1} = argmin over the set of f_1 + … + f_t + R/η_t, where `eta` is a number or a schedule. With
    `regularizer=None` it follows the leader; then w_1 is an arbitrary point of the set.

    >>> from ocolib.game import play
    >>> from ocolib.losses import Quadratic
    >>> from ocolib.regularizers import SquaredNorm
    >>> from ocolib.sets import Box
    >>> learner = FTRL(Box([-1], [1]), SquaredNorm(), eta=1.0)
    >>> play(learner, [Quadratic([1.0])] * 2).plays[:, 0].round(4) + 0.0  # w = t/(t + 1)
    array([0.    , 0.5   , 0.6667])
    """

    over: Any
    regularizer: Any
    eta: Step = 1.0

    def player(self) -> "_Solver":
        """Return a fresh player."""
        return _Solver(self)


class _Solver:
    def __init__(self, learner: FTRL) -> None:
        self.learner = learner
        self.losses: list[Any] = []
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

    def update(self, loss: Any) -> None:
        self.losses.append(loss)
        self.w = None
