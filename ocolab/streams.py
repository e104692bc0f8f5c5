"""A game too long for the memory: its losses come in pieces, each is played and forgotten.

A file of float64 needs none of this where the game is compiled and no gradient comes late: `play(learner,
np.load("Z.npy", mmap_mode="r"), keep=False)` reads it once.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ocolib import engine, validate
from ocolib.learners import DelayedOGD
from ocolib.losses import Examples
from ocolib.protocols import Array, Learner, Reader


class Stream(NamedTuple):
    """What is left of a streamed game."""

    learner: Any
    paid: Array  #: f_t(w_t), `(T,)`
    last: Array  #: w_{T+1}


def stream(learner: Learner, pieces: Iterable[Any]) -> Stream:
    """Play pieces, arrays `(B, n)` of linear losses or losses over data, as one game; 8 bytes a round stay.

    On losses over data `FTRL` is played as its `Linearized`. Needs numba. After two seconds the pieces are
    counted, on a terminal or in Jupyter, if `tqdm` is there.
    """
    if isinstance(learner, DelayedOGD):
        raise ValueError(f"learner must be one without delay, got {learner!r}")
    try:
        rounds = engine.Rounds(learner)
        n, paid = len(rounds.w), [np.empty(0)]
        for piece in _bar(validate.asked("the list of pieces", iter, pieces)):
            losses = learner.sees(piece) if isinstance(learner, Reader) else piece
            if not isinstance(losses, Examples):
                losses = validate.array("losses", losses, n, ndim=2)
            paid.append(rounds.play(losses, keep=False).paid.copy())
    except (LookupError, ModuleNotFoundError) as reason:
        raise ValueError(f"only what is compiled can be streamed: {reason}") from None
    return Stream(learner, np.concatenate(paid), rounds.w)


def _bar(pieces: Iterable[Any]) -> Iterator[Any]:
    """The pieces, counted where somebody may be watching."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return iter(pieces)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return iter(pieces)
    return iter(tqdm(pieces, delay=2, unit="piece"))
