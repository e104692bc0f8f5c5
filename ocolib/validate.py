"""Check the arguments of public functions; each error names the argument, the rule and the value received.

Array entries may be at most 1e150 in absolute value and positive numbers must lie in [1e-150, 1e150], so that
neither squares nor products of two such numbers overflow. Array entries may be arbitrarily small, because
weights often underflow to 0.

>>> positive("eta", -1)
Traceback (most recent call last):
    ...
ValueError: eta must be positive (between 1e-150 and 1e+150), got -1
"""

from typing import Any

import numpy as np

from ocolib.types import Array

LARGEST = 1e150
POSITIVE = f"positive (between {1 / LARGEST:g} and {LARGEST:g})"


def number(name: str, value: Any, low: float = -np.inf, high: float = np.inf, strict: bool = False) -> float:
    """Check a finite number with low ≤ value ≤ high (low < value if `strict`) and return it as a float."""
    try:
        x = None if isinstance(value, (str, bytes)) or np.ndim(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        x = None
    if x is None:
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not np.isfinite(x) or x < low or x > high or (strict and x == low):
        rule = "finite" if low == -np.inf else f"finite and {'>' if strict else '≥'} {low:g}"
        rule = rule if high == np.inf else f"in {'(' if strict else '['}{low:g}, {high:g}]"
        raise ValueError(f"{name} must be {rule}, got {value!r}")
    return x


def positive(name: str, value: Any) -> float:
    """Check a positive number, such as a radius, a step size or a margin, and return it as a float."""
    x = number(name, value)
    if not 1 / LARGEST <= x <= LARGEST:
        raise ValueError(f"{name} must be {POSITIVE}, got {value!r}")
    return x


def positives(name: str, value: Any) -> Array:
    """Check a non-empty array of positive numbers, of any shape, and return it."""
    x = numbers(name, value)
    if not x.size or not (x.min() >= 1 / LARGEST and x.max() <= LARGEST):
        raise ValueError(f"{name} must be {POSITIVE}, got {value}")
    return x


def count(name: str, value: Any, low: int = 1) -> int:
    """Check an integer ≥ low and return it as an int."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise ValueError(f"{name} must be an integer ≥ {low}, got {value!r}")
    return int(value)


def numbers(name: str, value: Any) -> Array:
    """Convert to an array of floats, nan and inf allowed; reject text and ragged lists."""
    try:
        x = np.asarray(value)
        missing = x.dtype.kind == "O" and any(entry is None for entry in x.flat)
        if x.dtype.kind in "fiubO" and not missing:
            return x.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    shown = repr(value)
    shown = shown if len(shown) <= 200 else f"{shown[:200]} …"
    raise ValueError(f"{name} must be an array of numbers, got {shown}")


def array(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> Array:
    """Check a non-empty array of finite numbers with `ndim` axes, the last of length `dim`; return floats."""
    x = numbers(name, value)
    if x.ndim == 0 or (ndim is not None and x.ndim != ndim):
        wanted = "at least one axis" if ndim is None else f"{ndim} axis" if ndim == 1 else f"{ndim} axes"
        raise ValueError(f"{name} must have {wanted}, got shape {x.shape}")
    if x.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {x.shape}")
    if dim is not None and x.shape[-1] != dim:
        raise ValueError(f"{name} must have {dim} entries on its last axis, got shape {x.shape}")
    flat = x.ravel()
    with np.errstate(all="ignore"):
        square = flat.dot(flat)  # one fast test that settles the usual case
    if not square <= LARGEST**2 and not (np.abs(x) <= LARGEST).all():
        bad = x[~(np.abs(x) <= LARGEST)][0]
        raise ValueError(f"{name} must be finite, its entries of size at most {LARGEST:g}, got {bad} in it")
    return x


def frozen(name: str, value: Any, dim: int | None = None, ndim: int | None = None) -> Array:
    """Return `array` as a read-only copy, so that later changes to the caller's data have no effect."""
    x = owner = array(name, value, dim, ndim)
    while isinstance(owner.base, np.ndarray):  # a read-only view of writable data can still change
        owner = owner.base
    if x.flags.writeable or owner.flags.writeable:
        x = x.copy()
        x.flags.writeable = False
    return x


def vector(name: str, value: Any, dim: int | None = None) -> Array:
    """Check a non-empty vector and return it as a read-only array of floats."""
    return frozen(name, value, dim, ndim=1)


def labels(name: str, value: Any, count: int, takes: str = "signs") -> Array:
    """Check `count` labels: −1 or +1 for "signs", numbers ≥ 0 for "counts", any numbers for "reals"."""
    y = vector(name, value)
    if len(y) != count:
        raise ValueError(f"{name} must have {count} entries, one per example, got {len(y)}")
    if takes == "counts" and (y < 0).any():
        raise ValueError(f"{name} must be ≥ 0, got {y[y < 0][0]:g}")
    if takes == "signs" and not (np.abs(y) == 1.0).all():
        hint = "; write 2*y - 1" if np.isin(y, (0.0, 1.0)).all() else ""
        raise ValueError(f"{name} must be −1 or +1, got {y[np.abs(y) != 1.0][0]:g}{hint}")
    return y


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Check that the value is one of the allowed strings and return it."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
    return value
