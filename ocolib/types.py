"""Name the types that signatures share."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

Array: TypeAlias = np.ndarray
#: a step size for each round: called with t = 1, 2, …
Schedule: TypeAlias = Callable[[Any], Any]
#: a number, an array with one step for each run of a batch, or a schedule
Step: TypeAlias = ArrayLike | Schedule
#: `adversary(t, w, past)` sees the play w_t and the past subgradients, `(t − 1, n)`; it returns a loss, or z
Adversary: TypeAlias = Callable[[int, Array, Array], Any]
#: linear losses as an array `(..., T, n)`, losses over data, or any iterable of losses
Losses: TypeAlias = Array | Iterable[Any]
