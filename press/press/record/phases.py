"""Record the phase diagrams: regret, loss or mistakes over step and horizon, for learners that have a step.

    python -m press phases                              play all games, and time some on one and two processes
    python -m press phases --scheduler tcp://host:8786  play all games on a dask cluster, without timing

Writes book/scale/phases.csv (one row per learner, game, step and horizon: mean and standard deviation over
the seeds) and, if timed, book/scale/phases.json. Games in _build/phases.db are not played again, so an
interrupted run continues where it stopped.
"""

import argparse
import csv
import json
import os
import platform
import resource
import time
import zipfile
from collections import defaultdict

import numpy as np

from ocolab.sweep import cells, sweep
from ocolib import adversaries
from ocolib.learners import OGD, DelayedOGD, Hedge, NormalizedWinnow, OnlineSVM
from ocolib.losses import hinge, perceptron_loss
from ocolib.sets import Ball
from press import HOME, ROOT

RECORDS = ROOT / "book" / "scale"
HORIZONS = [2**k for k in range(4, 11)]
STEPS = [round(2.0 ** (k / 2), 6) for k in range(-16, 5)]
SEEDS = range(8)
DISK, EXPERTS, DELAY, RADIUS, SIGNS = Ball(2), 10, 8, 5.0, 21


# ---------------------------------------------------------------- games with losses of norm at most 1


def biased(T, rng):
    """Return noise with a small mean: directions in the plane that lean one way."""
    Z = rng.normal([0.3, 0.0], 1.0, (T, 2))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def turning(T, rng):
    """Return a direction that makes one full turn during the game, plus noise."""
    angle = 2 * np.pi * (np.arange(T) / T + rng.random())
    Z = 0.3 * np.stack([np.cos(angle), np.sin(angle)], -1) + rng.standard_normal((T, 2))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def spiteful(T, rng):
    """Return an adversary whose losses are orthogonal to the sum so far."""
    return adversaries.orthogonal()


def tipsters(T, rng):
    """Return losses of ten experts that are wrong half the time, one of them a little less often."""
    wrong = rng.random((T, EXPERTS)) < 0.5
    wrong[:, 0] &= rng.random(T) < 0.8
    return wrong.astype(float)


def noisy(T, rng):
    """Return hinge losses of examples with margin 0.1, with one label in ten flipped."""
    X, y, _ = adversaries.separable(T, 5, 0.1, seed=rng)
    return hinge(X, np.where(rng.random(T) < 0.1, -y, y))


def separable(T, rng):
    """Return losses of examples of 21 signs, labelled by the majority of the first three.

    The number of signs is odd, so Winnow meets no tie, which the last digit of a sum would decide.
    """
    X = rng.choice([-1.0, 1.0], (T, SIGNS))
    return perceptron_loss(X, np.sign(X[:, :3].sum(axis=1)))


# ---------------------------------------------------------------- what is measured


def regret(trace):
    """Return the regret over the learner's own set."""
    return {"value": float(trace.regret(trace.learner.over))}


def paid(trace):
    """Return the total loss."""
    return {"value": float(trace.paid.sum())}


def mistakes(trace):
    """Return the number of wrong predictions."""
    return {"value": float(trace.mistakes.sum())}


def winnow(eta):
    """Return normalised Winnow with this step."""
    return NormalizedWinnow(SIGNS, eta)


def svm(eta):
    """Return the online SVM with this step."""
    return OnlineSVM(5, RADIUS, eta)


CHOSEN = [  # learners, games, measure
    (
        {
            "lazy descent": OGD(DISK, 1.0),
            "eager descent": OGD(DISK, 1.0, "eager"),
            "late descent": DelayedOGD(DISK, 1.0, DELAY),
        },
        [biased, turning, spiteful],
        regret,
    ),
    ({"Hedge": Hedge(EXPERTS, 1.0)}, [tipsters], regret),
    ({"online SVM": svm}, [noisy], paid),
    ({"normalised Winnow": winnow}, [separable], mistakes),
]


def record(file, **options):
    """Return the rows of all sweeps."""
    rows = []
    for learners, games, measure in CHOSEN:
        rows += sweep(learners, games, HORIZONS, STEPS, SEEDS, measure=measure, file=file, **options)
    return rows


def summary(rows):
    """Return a table with mean and standard deviation over the seeds."""
    found = defaultdict(list)
    for row in rows:
        if row["error"]:
            raise SystemExit(row["error"])
        found[row["learner"], row["game"], row["step"], row["T"]].append(row["value"])
    names = ("learner", "game", "step", "T", "mean", "spread")
    return [names] + [
        (*key, f"{np.mean(values):.6g}", f"{np.std(values):.6g}") for key, values in found.items()
    ]


# ---------------------------------------------------------------- how long it takes


def processor():
    """Return the processor time in seconds of this process and its finished children."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def timed(action):
    """Return the wall and processor time of an action."""
    began, used = time.perf_counter(), processor()
    action()
    return {"wall": round(time.perf_counter() - began, 1), "processor": round(processor() - used, 1)}


def part():
    """Return the sweep that is timed: descent on biased directions, half of the seeds."""
    learners, games, measure = CHOSEN[0]
    return learners, games[:1], HORIZONS, STEPS, SEEDS[::2], measure


def bare():
    """Play the games of this sweep in a simple loop, without `sweep`."""
    for cell in cells(*part()):
        cell.measure(cell.trace())


def timings():
    """Return the times of this sweep: in a simple loop, and by `sweep` in one and in two processes."""
    from joblib.externals.loky import get_reusable_executor

    def two():
        sweep(*part(), n_jobs=2, progress=False)
        get_reusable_executor().shutdown(wait=True)  # workers are counted only after they have ended

    bare()  # warm up
    times = {
        "bare loop": timed(bare),
        "sweep, 1 process": timed(lambda: sweep(*part(), n_jobs=1, progress=False)),
        "sweep, 2 processes": timed(two),
    }
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__}
    return {"cells": len(cells(*part())), "times": times, **machine}


def carried(folder):
    """Return a zip of this module, for workers that have ocolib but not press."""
    with zipfile.ZipFile(folder / "games.zip", "w") as bundle:
        for name in ("__init__.py", "record/__init__.py", "record/phases.py"):
            bundle.write(HOME / name, f"press/{name}")
    return str(folder / "games.zip")


def main(arguments):
    """Parse the command line, play the games and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scheduler", help="address of a running dask scheduler")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    chosen = parser.parse_args(arguments)
    RECORDS.mkdir(exist_ok=True)
    file = ROOT / "_build" / "phases.db"
    file.parent.mkdir(exist_ok=True)
    if chosen.scheduler:
        from distributed import Client
        from joblib import parallel_config

        with Client(chosen.scheduler) as client, parallel_config(backend="dask"):
            client.upload_file(carried(ROOT / "_build"))
            rows = record(file)
    else:
        rows = record(file, n_jobs=chosen.jobs)
        (RECORDS / "phases.json").write_text(json.dumps(timings(), indent=1) + "\n", "utf8")
    with open(RECORDS / "phases.csv", "w", newline="", encoding="utf8") as out:
        csv.writer(out, lineterminator="\n").writerows(summary(rows))
    print(f"{len(rows)} games → {RECORDS / 'phases.csv'}")
