"""What may come in: each check names the argument, what is allowed and what came.

Sizes end at 1e150, and radii and steps begin at 1e-150: then no square overflows and no product of two of
them, and what is inside needs no care. Smaller entries of a vector are legal: weights vanish every day.
"""

from typing import Any

import numpy as np

from ocolib.protocols import Array

SMALLEST, LARGEST = 1e-150, 1e150


def number(name: str, value: Any, low: float = -np.inf, high: float = np.inf, strict: bool = False) -> float:
    """A finite float with low ≤ value ≤ high (low < value if `strict`)."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        x = None
    if x is None or isinstance(value, str):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not np.isfinite(x) or x < low or x > high or (strict and x == low):
        bracket = "(" if strict or low == -np.inf else "["
        close = ")" if high == np.inf else "]"
        raise ValueError(f"{name} must be finite and in {bracket}{low:g}, {high:g}{close}, got {value!r}")
    return x


def positive(name: str, value: Any) -> float:
    """A finite float > 0."""
    return number(name, value, low=0.0, strict=True)


def size(name: str, value: Any) -> float:
    """A radius or a step: a float from 1e-150 to 1e150."""
    return number(name, value, low=SMALLEST, high=LARGEST)


def count(name: str, value: Any, low: int = 1) -> int:
    """An integer ≥ low."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low:
        raise ValueError(f"{name} must be an integer ≥ {low}, got {value!r}")
    return int(value)


def array(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> Array:
    """A non-empty float array, entries up to 1e150, last axis of length `dim`, with `ndim` axes if given."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers, got {value!r}") from None
    if x.ndim == 0 or (ndim is not None and x.ndim != ndim):
        wanted = "at least one axis" if ndim is None else f"{ndim} axes"
        raise ValueError(f"{name} must have {wanted}, got shape {x.shape}")
    if x.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {x.shape}")
    if dim is not None and x.shape[-1] != dim:
        raise ValueError(f"{name} must have {dim} entries on its last axis, got shape {x.shape}")
    flat = x.ravel(order="K")
    # one pass, on one thread, tells of most arrays that all is well; not so of nan
    square = flat @ flat if x.size < 8192 else np.einsum("i,i", flat, flat)
    if not square <= LARGEST**2:
        legal = np.abs(x) <= LARGEST
        if not legal.all():
            raise ValueError(
                f"{name} must be finite, its entries at most {LARGEST:g}, got {x[~legal][0]} in it"
            )
    return x


def frozen(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> Array:
    """`array`, kept so that nobody changes it behind our back: a copy, unless it is read-only already."""
    x = array(name, value, dim, ndim)
    if x.flags.writeable:
        x = x.copy()
        x.flags.writeable = False
    return x


def vector(name: str, value: Any, dim: int | None = None) -> Array:
    """A non-empty float vector, frozen."""
    return frozen(name, value, dim, ndim=1)


def sizes(name: str, value: Any) -> Array:
    """Radii or steps in an array of any shape."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        x = np.array(np.nan)
    if not ((x >= SMALLEST) & (x <= LARGEST)).all():
        raise ValueError(f"{name} must be finite and > 0, from {SMALLEST:g} to {LARGEST:g}, got {value}")
    return x


def labels(name: str, value: Any, count: int, takes: str = "signs") -> Array:
    """A vector of `count` labels: each −1 or +1, or, as the loss `takes`, reals, or counts ≥ 0."""
    y = vector(name, value)
    if len(y) != count:
        raise ValueError(f"{name} must have {count} entries, one an example, got {len(y)}")
    if takes == "counts" and (y < 0).any():
        raise ValueError(f"{name} must be ≥ 0, got {y[y < 0][0]:g}")
    if takes == "signs" and not (np.abs(y) == 1.0).all():
        raise ValueError(f"{name} must be −1 or +1, got {y[np.abs(y) != 1.0][0]:g}")
    return y


def probability(name: str, value: Any) -> float:
    """A number in [0, 1]."""
    return number(name, value, low=0.0, high=1.0)


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in allowed:
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
    return value
