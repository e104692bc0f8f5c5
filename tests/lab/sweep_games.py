"""What the tests of `sweep` play: in a module, so that every process finds it."""

import time
from pathlib import Path

import numpy as np

from ocolib.learners import OGD
from ocolib.sets import Ball

__all__ = ["BALL", "LEARNERS", "coins", "failing", "made", "paid", "slow", "tuned"]
BALL = Ball(2)
LEARNERS = {"lazy": OGD(BALL, 1.0), "eager": OGD(BALL, 1.0, "eager")}


def coins(T, rng):
    return rng.choice([-1.0, 1.0], (T, 2)) / np.sqrt(2)


def slow(T, rng):
    pace = Path("seconds_a_game")  # in the current folder; a file is not part of the key
    time.sleep(float(pace.read_text()) if pace.exists() else 0.05)
    return coins(T, rng)


def failing(T, rng):
    raise RuntimeError(f"no game of {T}")


def leaving(T, rng):
    raise SystemExit(3)


def tuned(T):
    return T**-0.5


def made(eta):
    return OGD(BALL, eta, "eager")


def paid(trace):
    return {"paid": float(trace.paid.sum())}


def total(trace):
    return trace.paid.sum()


def rounds(trace):
    return {"rounds": np.int64(trace.rounds)}


class Elsewhere:
    @staticmethod
    def coins(T, rng):
        return -coins(T, rng)
