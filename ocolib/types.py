"""Define the type aliases used in signatures."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

Array: TypeAlias = np.ndarray
#: a step size schedule, called with the round t = 1, 2, …
Schedule: TypeAlias = Callable[[Any], Any]
#: a step size: a number, an array with one entry per run of a batch, or a schedule
Step: TypeAlias = ArrayLike | Schedule
#: `adversary(t, w, past)` receives the play w_t and the past subgradients `(t − 1, n)`; it returns a loss,
#: or the vector z of a linear loss
Adversary: TypeAlias = Callable[[int, Array, Array], Any]
#: linear losses as an array `(..., T, n)`, losses over data (`hinge(X, y)`, …), or any iterable of losses
Losses: TypeAlias = Array | Iterable[Any]
