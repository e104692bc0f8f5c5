"""How a set, a loss, a regulariser or a learner is written down: a frozen dataclass that can be compared and
whose `repr` can be evaluated, unless it holds a function or a long array.

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
    """Make the class a frozen dataclass with `==` field by field, arrays included, and an exact `repr`.

    A class may bring its own `repr`. An array of more than 1000 entries is abbreviated, as NumPy does it.
    """
    own = cls.__dict__.get("__repr__", _repr)
    cls = dataclass(frozen=True, eq=False, repr=False)(cls)
    cls.__repr__, cls.__eq__, cls.__hash__ = own, _equal, _hash  # type: ignore[method-assign]
    return cls


def keep(self: Any, **values: Any) -> None:
    """Store values, checked before, in a frozen object: most often from its `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(self, name, value)


def changed(self: T, **values: Any) -> T:
    """A copy with some fields replaced by values that need no check."""
    other = copy(self)
    keep(other, **values)
    return other


def _parts(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _repr(self: Any) -> str:
    with np.printoptions(floatmode="unique"):
        parts = [f"{field.name}={part!r}" for field, part in zip(fields(self), _parts(self), strict=True)]
    return f"{type(self).__name__}({', '.join(parts)})"


def _equal(self: Any, other: object) -> Any:
    if type(self) is not type(other):
        return NotImplemented
    pairs = zip(_parts(self), _parts(other), strict=True)
    return all(_same(a, b) for a, b in pairs)


def _same(a: Any, b: Any) -> bool:
    arrays = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    return np.array_equal(a, b) if arrays else bool(a == b)


def _hash(self: Any) -> int:
    return hash((type(self), *(p.shape if isinstance(p, np.ndarray) else p for p in _parts(self))))
