"""Register the functions that return a limit (a worst case or a lower bound), with the decorator `limit`."""

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable)

LIMITS: list[Callable] = []  #: every function decorated with `limit`, in the order of definition


def limit(kind: str, item: str) -> Callable[[Function], Function]:
    """Mark a function as a limit and list it in `LIMITS`.

    `kind` is "tight" (a learner guarantees the number and a game attains it) or "lower" (an adversary forces
    it). `item` is the label of the statement in the ledger to which it belongs.
    """
    if kind not in ("tight", "lower"):
        raise ValueError(f"kind must be 'tight' or 'lower', got {kind!r}")

    def mark(function: Function) -> Function:
        function.kind, function.item = kind, item  # type: ignore[attr-defined]
        LIMITS.append(function)
        return function

    return mark
