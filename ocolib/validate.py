"""What may come in: each check names the argument, what is allowed and what came."""

import numpy as np


def number(name, value, low=-np.inf, high=np.inf, strict=False):
    """A finite float with low ≤ value ≤ high (low < value if `strict`)."""
    try:
        x = float(value if not isinstance(value, str) else None)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None
    if not np.isfinite(x) or x < low or x > high or (strict and x == low):
        bracket = "(" if strict or low == -np.inf else "["
        close = ")" if high == np.inf else "]"
        raise ValueError(f"{name} must be finite and in {bracket}{low:g}, {high:g}{close}, got {value!r}")
    return x


def positive(name, value):
    """A finite float > 0."""
    return number(name, value, low=0.0, strict=True)


def count(name, value, low=1):
    """An integer ≥ low."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low:
        raise ValueError(f"{name} must be an integer ≥ {low}, got {value!r}")
    return int(value)


def array(name, value, dim=None, ndim=None):
    """A finite, non-empty float array whose last axis has length `dim`, with `ndim` axes if given."""
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
    if not np.isfinite(x).all():
        raise ValueError(f"{name} must be finite, got {x[~np.isfinite(x)][0]} in it")
    return x


def frozen(name, value, dim=None, ndim=None):
    """`array`, kept so that nobody changes it behind our back: a copy, unless it is read-only already."""
    x = array(name, value, dim, ndim)
    if x.flags.writeable:
        x = x.copy()
        x.flags.writeable = False
    return x


def vector(name, value, dim=None):
    """A finite, non-empty float vector, frozen."""
    return frozen(name, value, dim, ndim=1)


def positives(name, value):
    """An array of any shape with finite entries > 0."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        x = np.array(np.nan)
    if not (np.isfinite(x).all() and (x > 0).all()):
        raise ValueError(f"{name} must be finite and > 0, got {value}")
    return x


def labels(name, value, count, takes="signs"):
    """A vector of `count` labels: each −1 or +1, or, as the loss `takes`, reals, or counts ≥ 0."""
    y = vector(name, value)
    if len(y) != count:
        raise ValueError(f"{name} must have {count} entries, one an example, got {len(y)}")
    if takes == "counts" and (y < 0).any():
        raise ValueError(f"{name} must be ≥ 0, got {y[y < 0][0]:g}")
    if takes == "signs" and not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(f"{name} must be −1 or +1, got {y[~np.isin(y, (-1.0, 1.0))][0]:g}")
    return y


def probability(name, value):
    """A number in [0, 1]."""
    return number(name, value, low=0.0, high=1.0)
