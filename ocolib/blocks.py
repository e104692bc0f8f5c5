"""Long arrays in pieces that stay in the processor's cache; whole ones are fetched anew every time."""

from collections.abc import Iterator

import numpy as np

from ocolib.protocols import Array


def blocks(T: int, row: int) -> Iterator[slice]:
    """0, …, T − 1 in pieces of about 256 kB of rows of `row` floats: what follows finds them in the cache."""
    size = max(1, 2**15 // row)
    return (slice(a, min(a + size, T)) for a in range(0, T, size))


def inner(a: Array, b: Array) -> Array:
    """⟨a, b⟩ over the last axis, `(..., T, n)` → `(..., T)`; a or b may be one row for all."""
    if a.ndim < 2 or a.shape != b.shape:
        return (a * b).sum(axis=-1)
    out = np.empty(a.shape[:-1])
    for t in blocks(a.shape[-2], a[..., 0, :].size):
        out[..., t] = (a[..., t, :] * b[..., t, :]).sum(axis=-1)
    return out
