"""Register the limits: every function in this folder that returns one is decorated with `limit`."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np

Array: TypeAlias = np.ndarray
#: adversary(t, w, past) chooses the loss of round t
Adversary: TypeAlias = Callable[[int, Array, Array], Any]
Function = TypeVar("Function", bound=Callable)

LIMITS: list[Callable] = []  #: every function marked with `limit`, in the order of the files


def limit(kind: str, item: str) -> Callable[[Function], Function]:
    """Mark a function as a limit of the ledger item `item`, and list it in `LIMITS`.

    `kind` is "tight" (a learner guarantees it and a game attains it) or "lower" (an adversary forces it).
    """
    if kind not in ("tight", "lower"):
        raise ValueError(f"kind must be tight or lower, got {kind!r}")

    def mark(function: Function) -> Function:
        function.kind, function.item = kind, item  # type: ignore[attr-defined]
        LIMITS.append(function)
        return function

    return mark
