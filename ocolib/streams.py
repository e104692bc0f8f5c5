"""A game too long for the memory: its losses come in pieces, each is played and forgotten.

A file needs none of this: `play(learner, np.load("Z.npy", mmap_mode="r"), keep=False)` reads it once to check
it and once to play it.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ocolib import engine, validate
from ocolib.learners import step_at
from ocolib.losses import Examples
from ocolib.protocols import Array, Learner, Reader


class Stream(NamedTuple):
    """What is left of a streamed game."""

    learner: Any
    paid: Array  #: f_t(w_t), `(T,)`
    last: Array  #: w_{T+1}


def stream(learner: Learner, pieces: Iterable[Any]) -> Stream:
    """Play pieces, arrays `(B, n)` of linear losses or losses over data, as one game; 8 bytes a round stay.

    After two seconds a bar shows how far it is, on a terminal or in Jupyter, if `tqdm` is there.
    """
    from ocolib import compiled

    how = engine.moves(learner)
    over = None if how is None else engine.geometry(how.over)
    if how is None or over is None or how.delay:
        raise ValueError(f"learner must be one that `engine` compiles, without delay, got {learner!r}")
    w, total = how.over.project(how.start), None if how.rule is None else np.zeros(how.over.dim)
    loss: Any
    steady, paid, t = how.rule is None or not callable(how.eta), [np.empty(0)], 0
    for piece in _bar(pieces):
        data = learner.sees(piece) if isinstance(learner, Reader) else piece
        if not isinstance(data, Examples):
            X = validate.array("losses", data, how.over.dim, ndim=2)
            y, loss, reg = X[:, 0], (compiled.LINEAR, 0.0, 0.0, 0.0), 0.0
        elif (loss := engine.code(data.phi)) is not None and data.dim == how.over.dim:
            X, y, reg = data.X, data.y, data.reg
        else:
            raise ValueError(
                f"losses must have a compiled form and dimension {how.over.dim}, got {data.phi!r}"
            )
        eta, out = _steps(how.eta, t, len(X)), tuple(np.empty((3, len(X))))
        state = how.start, w, total, np.empty((1, how.over.dim)), out
        compiled.examples(X, y, loss, reg, eta, steady, how.rule or 0, over, *state, None, None)
        values = out[0] if not isinstance(data, Examples) else data.phi.value(out[0], y)
        paid.append(values + 0.5 * reg * out[2] if reg else values)
        t += len(X)
    return Stream(learner, np.concatenate(paid), w)


def _steps(eta: Any, before: int, count: int) -> Array:
    """η of the next `count` rounds."""
    if not callable(eta):
        return np.full(count, float(eta))
    return np.array([float(step_at(eta, before + k)) for k in range(1, count + 1)])


def _bar(pieces: Iterable[Any]) -> Iterator[Any]:
    """The pieces, with a bar where somebody may be watching."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return iter(pieces)
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return iter(pieces)
    return iter(tqdm(pieces, delay=2, unit="piece"))
