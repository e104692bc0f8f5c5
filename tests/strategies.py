"""Generated sets and vectors, and what is true of a set by its definition: by its twin in `oracle`, of which
no formula of ours is part. A new subclass of `sets.Set` is found here by itself.
"""

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st

from ocolib import sets as room
from ocolib.testing import all_of


def entries(size=10.0):
    """Whole numbers, which make ties and kinks, and floats, which seldom do."""
    whole = st.integers(-3, 3).map(float)
    return whole | st.floats(-size, size, allow_subnormal=False).map(lambda x: round(x, 6))


def vectors(dim, size=10.0):
    return st.lists(entries(size), min_size=dim, max_size=dim).map(np.array)


def sizes():
    return st.sampled_from([0.1, 0.5, 1.0, 2.0, 7.0])


def example(kind, dim):
    """A set of the kind in general position."""
    return list(kind.examples(dim, np.random.default_rng(1)))[-1]


def examples(dim):
    """All examples of each kind."""
    return [over for kind in KINDS for over in kind.examples(dim, np.random.default_rng(1))]


#: `Hull` projects by iteration, and its cvxpy form has unknowns of its own: it has tests of its own
KINDS = tuple(kind for kind in all_of(room.Set) if kind is not room.Hull)
BOUNDED = tuple(kind for kind in KINDS if np.isfinite(example(kind, 2).diameter))


@st.composite
def sets(draw, kind, max_dim=5):
    """A set of the kind, in one to `max_dim` dimensions."""
    dim, seed = draw(st.integers(1, max_dim)), draw(st.integers(0, 999))
    return draw(st.sampled_from(list(kind.examples(dim, np.random.default_rng(seed)))))


def violation(over, points):
    """By how much the points (or the one) break the conditions of the set's twin, and 0 if they do not."""
    x = cp.Variable(over.dim)
    conditions, worst = over.constraints(x), 0.0
    for point in np.reshape(points, (-1, over.dim)):
        x.value = point
        worst = max(worst, *(float(np.max(c.violation())) for c in conditions), 0.0)
    return worst


def members(over, many=12, seed=0):
    """Points of the set, inside and on the boundary: they are made with our projection, and the twin agrees
    that they are in the set, so that a wrong projection fails here.
    """
    rng = np.random.default_rng(seed)
    far = rng.choice([1.0, 10.0, 1000.0], (many, 1)) * rng.standard_normal((many, over.dim))
    edge = over.project(np.vstack([far, 50 * np.eye(over.dim), -50 * np.eye(over.dim)]))
    share = rng.uniform(size=(len(edge), 1))
    assert violation(over, edge) <= 1e-12 * max(1.0, np.abs(edge).max())  # and so does each segment
    return np.vstack([edge, share * edge + (1 - share) * edge[::-1]])
