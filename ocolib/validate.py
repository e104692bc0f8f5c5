"""What may come in: each check names the argument, what is allowed and what came.

Entries of arrays end at ±1e150 (`floats` and `shaped` do not look at them); what `size` and `sizes` check
ends at 1e150 and begins at 1e-150: then no square overflows and no product of two of them. Smaller entries
of other arrays are legal: weights vanish every day.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from ocolib.protocols import Array

SMALLEST, LARGEST = 1e-150, 1e150


def guarded(function: Callable) -> Callable:
    """The function, with a finite answer or a sentence: arithmetic, lookup and type errors are refused.

    Of answers, floats and arrays are looked at.
    """

    @wraps(function)
    def answer(*args: Any, **named: Any) -> Any:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                found = function(*args, **named)
            if not isinstance(found, (float, np.ndarray)) or np.isfinite(found).all():
                return found
            reason: Any = f"{found} is not finite"
        except (ArithmeticError, LookupError, TypeError) as error:
            reason = error
        given = signature(function).bind(*args, **named).arguments  # a TypeError if the call itself is wrong
        shown = ", ".join(f"{name} = {value!r}" for name, value in given.items())
        raise ValueError(f"{function.__name__} must stay within the floats, got {shown}: {reason}")

    return answer


def asked(who: str, function: Callable, *given: Any) -> Any:
    """What a function of the reader's says; it gets copies of arrays, and its errors carry `who`."""
    try:
        return function(*(x.copy() if isinstance(x, np.ndarray) else x for x in given))
    except Exception as error:
        raise ValueError(f"{who} failed with {type(error).__name__}: {error}") from error


def number(name: str, value: Any, low: float = -np.inf, high: float = np.inf, strict: bool = False) -> float:
    """A finite float with low ≤ value ≤ high (low < value if `strict`)."""
    try:
        x = None if np.ndim(value) else float(value)
    except (TypeError, ValueError, OverflowError):
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


def floats(name: str, value: Any) -> Array:
    """An array of floats of any shape and size."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of numbers, got {value!r}") from None


def shaped(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> Array:
    """A non-empty float array, last axis of length `dim`, with `ndim` axes if given."""
    x = floats(name, value)
    if x.ndim == 0 or (ndim is not None and x.ndim != ndim):
        wanted = "at least one axis" if ndim is None else f"{ndim} axes"
        raise ValueError(f"{name} must have {wanted}, got shape {x.shape}")
    if x.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {x.shape}")
    if dim is not None and x.shape[-1] != dim:
        raise ValueError(f"{name} must have {dim} entries on its last axis, got shape {x.shape}")
    return x


def measured(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> tuple[Array, float]:
    """A `shaped` array, entries up to ±1e150; and the largest size of its entries."""
    x = shaped(name, value, dim, ndim)
    if x.size < 8192:  # sooner than min() and max(); of nan they say nan
        flat = x.ravel()
        least, most = flat[flat.argmin()], flat[flat.argmax()]
    else:
        least, most = x.min(), x.max()
    if not (least >= -LARGEST and most <= LARGEST):
        bad = x[~(np.abs(x) <= LARGEST)][0]
        raise ValueError(f"{name} must be finite, its entries of size at most {LARGEST:g}, got {bad} in it")
    return x, max(most, -least)


def array(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> Array:
    """A non-empty float array, entries up to ±1e150."""
    return measured(name, value, dim, ndim)[0]


def frozen(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> Array:
    """`array`, read-only, so that nobody changes it by accident: a copy, unless it is marked so already."""
    return freeze(array(name, value, dim, ndim))


def freeze(x: Array) -> Array:
    """x read-only: a copy, unless it is marked so already."""
    if x.flags.writeable:
        x = x.copy()
        x.flags.writeable = False
    return x


def finite(name: str, values: Array) -> None:
    """Values of all rounds, `(..., T, n)`: the first round with nan or inf is named."""
    if not np.isfinite(values).all():
        bad = np.moveaxis(~np.isfinite(values), -2, 0)
        t = int(np.argmax(bad.reshape(len(bad), -1).any(axis=1)))
        raise ValueError(f"every {name} must be finite, got {values[..., t, :][bad[t]][0]} in round {t + 1}")


def vector(name: str, value: Any, dim: int | None = None) -> Array:
    """A non-empty float vector, entries up to ±1e150, frozen."""
    return frozen(name, value, dim, ndim=1)


def sizes(name: str, value: Any) -> Array:
    """Radii or steps in an array of any shape, not empty: each from 1e-150 to 1e150."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        x = np.array(np.nan)
    if not x.size or not (x.min() >= SMALLEST and x.max() <= LARGEST):
        raise ValueError(f"{name} must be finite and > 0, from {SMALLEST:g} to {LARGEST:g}, got {value}")
    return x


def weights(name: str, value: Any, dim: int | None = None) -> Array:
    """A non-empty float array, entries from 0 to 1e150."""
    x = array(name, value, dim)
    if (x < 0).any():
        raise ValueError(f"{name} must be ≥ 0, got {x[x < 0][0]:g}")
    return x


def labels(name: str, value: Any, count: int, takes: str = "signs") -> Array:
    """A vector of `count` labels: each −1 or +1, or, as the loss `takes`, numbers ≥ 0 (counts) or any."""
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
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
    return value
