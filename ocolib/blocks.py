"""Long arrays in pieces that stay in the processor's cache; whole ones are fetched anew every time."""

from collections.abc import Iterator

import numpy as np

from ocolib.protocols import Array


def blocks(T: int, row: int) -> Iterator[slice]:
    """0, …, T − 1 in slices of a multiple of 8 rows of `row` floats: at most 512 KiB, but at least 8 rows.

    A piece of 512 KiB stays cached for what follows. The last may be shorter.
    """
    size = max(8, 2**16 // row // 8 * 8)
    return (slice(a, min(a + size, T)) for a in range(0, T, size))


def inner(a: Array, b: Array) -> Array:
    """⟨a, b⟩ over the last axis; a or b may be one row for all."""
    return np.einsum("...i,...i->...", a, b)


TRIANGLE = np.tril(np.ones((8, 8)))


def running(Z: Array, before: Array, out: Array, level: bool = False) -> None:
    """Put before + Z_1 + … + Z_t into row t of `out`, `(..., T, n)`.

    `before` is `(..., 1, n)`. Rows that are long and many go in groups of eight, a triangle of ones times
    each group: one after another, each sum waits for the last. To `level` them, the least entry of what came
    before a group is taken from all in it.
    """
    whole = Z.shape[-2] // 8 * 8 if Z.size >= 4096 and Z.shape[-1] >= 16 else 0
    if whole:
        given, sums = (x[..., :whole, :].reshape(*x.shape[:-2], -1, 8, x.shape[-1]) for x in (Z, out))
        np.matmul(TRIANGLE, given, out=sums)
        earlier = np.concatenate([before, sums[..., :-1, -1, :]], axis=-2)
        earlier = np.cumsum(earlier, axis=-2)
        sums += (earlier - earlier.min(axis=-1, keepdims=True) if level else earlier)[..., None, :]
        before = out[..., whole - 1 : whole, :]
    if whole < Z.shape[-2]:
        rest = out[..., whole:, :]
        rest[...] = Z[..., whole:, :]
        rest[..., :1, :] += before
        np.cumsum(rest, axis=-2, out=rest)
