"""What the rooms owe each other: a set, a loss, a regulariser, a learner, a player.

No set, loss or learner inherits from these: whatever has the methods is one, a class on a page as well.
A kind that can do more has a protocol of its own below the one it extends; `isinstance(x, Summable)` asks
for it.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

Array: TypeAlias = np.ndarray
#: a field given as an array, or as what NumPy can make one of; where it is checked, kept as a frozen array
Vector: TypeAlias = Any
#: a step for each round: called with t = 1, 2, … or, if it can take one, with an array of such t
Schedule: TypeAlias = Callable[[Any], Any]
#: a number, an array of the batch shape, or a schedule
Step: TypeAlias = ArrayLike | Schedule
#: (a, b, k) with f(w) = ½a‖w‖² + ⟨b, w⟩ + k
Coefficients: TypeAlias = tuple[float, Array, float]


@runtime_checkable
class Set(Protocol):
    """A closed convex set. Every method but `farthest` takes one point `(n,)` or many `(..., n)`."""

    @property
    def dim(self) -> int:
        """n."""

    @property
    def diameter(self) -> float:
        """sup ‖x − y‖ over the set."""

    def farthest(self, point: ArrayLike) -> float:
        """sup ‖x − point‖ over the set."""

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> Any:
        """Is x in the set, up to `tol`? A truth value a point."""

    def project(self, y: ArrayLike) -> Array:
        """The nearest point of the set."""

    def minimize_linear(self, c: ArrayLike) -> Array:
        """The minimiser of ⟨c, x⟩ of least norm; `ValueError` if there is none."""


@runtime_checkable
class Loss(Protocol):
    """A convex function of the play."""

    def value(self, w: ArrayLike) -> Any:
        """f(w)."""

    def subgradient(self, w: ArrayLike) -> Array:
        """A subgradient of f at w."""


@runtime_checkable
class Summable(Loss, Protocol):
    """A loss ½a‖w‖² + ⟨b, w⟩ + k: a sum of them stays one, so leaders and comparators are exact."""

    @property
    def coefficients(self) -> Coefficients:
        """(a, b, k)."""


@runtime_checkable
class Regularizer(Protocol):
    """A strictly convex function R that keeps a leader steady."""

    def value(self, w: ArrayLike) -> Any:
        """R(w)."""

    def minimize(self, c: ArrayLike, eta: ArrayLike, over: Set, curvature: ArrayLike = 0.0) -> Array:
        """argmin over the set of ⟨c, w⟩ + ½·curvature·‖w‖² + R(w)/eta; `ValueError` for want of a formula."""


@runtime_checkable
class StronglyConvex(Regularizer, Protocol):
    """A regulariser that is 1-strongly convex in some norm."""

    def range(self, over: Set) -> float:
        """max R − min R over the set, ∞ if R has no bound there; `ValueError` for want of a formula."""

    def dual_norm(self, z: ArrayLike) -> Array:
        """The dual of that norm, over the last axis."""


@runtime_checkable
class Player(Protocol):
    """A game in progress."""

    def predict(self) -> Array:
        """The next play."""

    def update(self, loss: Any) -> None:
        """The loss of the round is revealed."""


@runtime_checkable
class GradientPlayer(Player, Protocol):
    """A player that needs of a loss only a subgradient at its own play."""

    def step(self, z: Array) -> None:
        """The round's subgradient is revealed."""


@runtime_checkable
class Learner(Protocol):
    """A frozen description of a way to play."""

    def player(self) -> Any:
        """A fresh `Player`; that of a kernel learner has no `predict`."""


@runtime_checkable
class ClosedForm(Protocol):
    """Who can give all plays against an array of linear losses; this alone is enough to play it."""

    def points(self, Z: ArrayLike) -> Array:
        """All plays w_1, …, w_{T+1}: `(..., T, n)` → `(..., T + 1, n)`."""


@runtime_checkable
class Reader(Learner, Protocol):
    """A learner that reads losses in its own way, such as with a kink of its own."""

    def sees(self, losses: Any) -> Any:
        """The losses as the learner reads them."""


#: `adversary(t, w, past)` sees the play w_t and the past subgradients, `(t − 1, n)`
Adversary: TypeAlias = Callable[[int, Array, Array], Loss | ArrayLike]
