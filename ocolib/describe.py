"""Define frozen dataclasses that compare arrays with `==` and print a `repr` that can be evaluated.

Sets, losses and learners are such dataclasses: they hold parameters and never change.

>>> from numpy import array
>>> from ocolib.sets import Ball
>>> Ball(2, 3, [1 / 3, 0])
Ball(dim=2, radius=3.0, center=array([0.3333333333333333, 0.                ]))
>>> eval(repr(Ball(2, 3, [1 / 3, 0]))) == Ball(2, 3, [1 / 3, 0])
True
"""

from copy import copy
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

import numpy as np

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def description(cls: type[T]) -> type[T]:
    """Turn a class into a frozen dataclass whose `==` compares arrays entry by entry.

    Its `repr` can be evaluated, unless a field is a function or an array with more than 40 entries.
    """
    own = cls.__dict__.get("__repr__", _repr)
    cls = dataclass(frozen=True, eq=False, repr=False)(cls)
    cls.__repr__, cls.__eq__, cls.__hash__ = own, _equal, _hash  # type: ignore[method-assign]
    return cls


def keep(self: Any, **values: Any) -> None:
    """Set fields of a frozen object, usually in its `__post_init__` after checking them."""
    for name, value in values.items():
        object.__setattr__(self, name, value)


def changed(self: T, **values: Any) -> T:
    """Return a copy with some fields replaced, without checking the new values again."""
    other = copy(self)
    keep(other, **values)
    return other


def _parts(self: Any) -> list[Any]:
    """Return the values of all fields."""
    return [getattr(self, field.name) for field in fields(self)]


def _shown(part: Any) -> str:
    """Return the `repr` of a field; large arrays show only their shape."""
    if isinstance(part, np.ndarray) and part.size > 40:
        return f"<array of shape {part.shape}>"
    return repr(part)


def _repr(self: Any) -> str:
    """Return `Class(field=value, …)`, with floats that can be read back exactly."""
    with np.printoptions(floatmode="unique"):
        shown = ", ".join(f"{field.name}={_shown(getattr(self, field.name))}" for field in fields(self))
    return f"{type(self).__name__}({shown})"


def _equal(self: Any, other: object) -> Any:
    """Compare type and fields."""
    if type(self) is not type(other):
        return NotImplemented
    return all(_same(a, b) for a, b in zip(_parts(self), _parts(other), strict=True))


def _same(a: Any, b: Any) -> bool:
    """Compare two fields, arrays entry by entry."""
    arrays = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    return np.array_equal(a, b) if arrays else bool(a == b)


def _hash(self: Any) -> int:
    """Hash the type and the fields, arrays by their shape only."""
    return hash((type(self), *(p.shape if isinstance(p, np.ndarray) else p for p in _parts(self))))
