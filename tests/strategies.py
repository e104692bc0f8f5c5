"""Generated sets and vectors, and what is true of a set by its definition alone (no code of ocolib's)."""

import numpy as np
from hypothesis import strategies as st

from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space

KINDS = Ball, Box, Simplex, L1Ball, Halfspace, Orthant, Space
BOUNDED = Ball, Box, Simplex, L1Ball


def entries(size=10.0):
    """Whole numbers, which make ties and kinks, and floats, which do not."""
    whole = st.integers(-3, 3).map(float)
    return whole | st.floats(-size, size, allow_subnormal=False).map(lambda x: round(x, 6))


def vectors(dim, size=10.0):
    return st.lists(entries(size), min_size=dim, max_size=dim).map(np.array)


def sizes():
    return st.sampled_from([0.1, 0.5, 1.0, 2.0, 7.0])


@st.composite
def sets(draw, kind, max_dim=5):
    """A set of the kind, in one to `max_dim` dimensions."""
    dim = draw(st.integers(1, max_dim))
    if kind is Ball:
        return Ball(dim, draw(sizes()), draw(vectors(dim, 3.0)))
    if kind is Box:
        low = draw(vectors(dim, 3.0))
        return Box(low, low + np.abs(draw(vectors(dim, 3.0))))
    if kind is L1Ball:
        return L1Ball(dim, draw(sizes()))
    if kind is Halfspace:
        return Halfspace(draw(vectors(dim, 3.0).filter(lambda v: np.abs(v).max() > 0.1)), draw(entries(3.0)))
    return kind(dim)


def examples(dim):
    """One set of each kind."""
    center = np.linspace(-1, 2, dim)
    return [
        Ball(dim, 1.5, center),
        Box(center - 1, center + 0.5),
        Simplex(dim),
        L1Ball(dim, 1.5),
        Halfspace(np.arange(1.0, dim + 1), 0.5),
        Orthant(dim),
        Space(dim),
    ]


def violation(over, x):
    """By how much x breaks the definition of the set, and 0 if it does not."""
    if isinstance(over, Ball):
        return max(0.0, np.linalg.norm(x - over.center) - over.radius)
    if isinstance(over, Box):
        return max(0.0, np.max(over.low - x), np.max(x - over.high))
    if isinstance(over, Simplex):
        return max(0.0, -x.min(), abs(x.sum() - 1.0))
    if isinstance(over, L1Ball):
        return max(0.0, np.abs(x).sum() - over.radius)
    if isinstance(over, Halfspace):
        return max(0.0, (over.normal @ x - over.offset) / np.linalg.norm(over.normal))
    if isinstance(over, Orthant):
        return max(0.0, -x.min())
    return 0.0


def members(over, many=40, seed=0):
    """Points of the set, inside and on the boundary, `(many, dim)`."""
    rng = np.random.default_rng(seed)
    v = 4 * rng.standard_normal((many, over.dim))
    depth = rng.choice([0.0, 0.5, 1.0], (many, 1))
    share = rng.dirichlet(np.full(over.dim, 0.5), many)
    if isinstance(over, Ball):
        return over.center + over.radius * depth * v / np.linalg.norm(v, axis=1, keepdims=True)
    if isinstance(over, Box):
        return over.low + (over.high - over.low) * rng.choice([0.0, 0.3, 1.0], v.shape)
    if isinstance(over, Simplex):
        return np.vstack([share, np.eye(over.dim)])
    if isinstance(over, L1Ball):
        return over.radius * np.vstack([depth * np.sign(v) * share, np.eye(over.dim), -np.eye(over.dim)])
    if isinstance(over, Halfspace):
        excess = (v @ over.normal - over.offset)[:, None]
        return v - (excess + 3 * depth) * over.normal / (over.normal @ over.normal)
    return np.abs(v) * depth if isinstance(over, Orthant) else v
