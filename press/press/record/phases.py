"""Record the phase diagrams: regret, loss or mistakes over step and horizon, for learners that have a step.

    python -m press phases                              plays all, and times a part on one and two processes
    python -m press phases --scheduler tcp://host:8786  plays all on a dask cluster; nothing is timed

writes book/scale/phases.csv (a row a learner, game, step and horizon: mean and spread over the seeds) and, if
timed, book/scale/phases.json (how long the part took). What _build/phases.db holds is not played again, so an
interrupted run goes on where it stopped.
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
DISK, EXPERTS, DELAY, RADIUS = Ball(2), 10, 8, 5.0


# ---------------------------------------------------------------- games, each of size at most 1 in its norm


def biased(T, rng):
    """Noise with a small mean: directions in the plane that lean one way."""
    Z = rng.normal([0.3, 0.0], 1.0, (T, 2))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def turning(T, rng):
    """A direction that turns round once in the course of the game, and noise."""
    angle = 2 * np.pi * (np.arange(T) / T + rng.random())
    Z = 0.3 * np.stack([np.cos(angle), np.sin(angle)], -1) + rng.standard_normal((T, 2))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def spiteful(T, rng):
    """An adversary that charges across the sum so far."""
    return adversaries.orthogonal()


def tipsters(T, rng):
    """Ten experts, wrong half the time, but one a little less often."""
    wrong = rng.random((T, EXPERTS)) < 0.5
    wrong[:, 0] &= rng.random(T) < 0.8
    return wrong.astype(float)


def noisy(T, rng):
    """Examples with margin 0.1, one label in ten reversed."""
    X, y, _ = adversaries.separable(T, 5, 0.1, seed=rng)
    return hinge(X, np.where(rng.random(T) < 0.1, -y, y))


def separable(T, rng):
    """Examples of 20 signs, told apart by the majority of the first three."""
    X = rng.choice([-1.0, 1.0], (T, 20))
    return perceptron_loss(X, np.sign(X[:, :3].sum(axis=1)))


# ---------------------------------------------------------------- what is measured


def regret(trace):
    """The regret over the learner's own set."""
    return {"value": float(trace.regret(trace.learner.over))}


def paid(trace):
    """What was paid in all."""
    return {"value": float(trace.paid.sum())}


def mistakes(trace):
    """Wrong predictions."""
    return {"value": float(trace.mistakes.sum())}


def winnow(eta):
    return NormalizedWinnow(20, eta)


def svm(eta):
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
    """All rows of all sweeps."""
    rows = []
    for learners, games, measure in CHOSEN:
        rows += sweep(learners, games, HORIZONS, STEPS, SEEDS, measure=measure, file=file, **options)
    return rows


def summary(rows):
    """Mean and standard deviation over the seeds."""
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
    """Seconds of processor time, this process and those it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def timed(action):
    began, used = time.perf_counter(), processor()
    action()
    return {"wall": round(time.perf_counter() - began, 1), "processor": round(processor() - used, 1)}


def part():
    """What is timed: descent on directions that lean, half of the seeds."""
    learners, games, measure = CHOSEN[0]
    return learners, games[:1], HORIZONS, STEPS, SEEDS[::2], measure


def bare():
    """The games of the part in a loop, without the table."""
    for cell in cells(*part()):
        cell.measure(cell.trace())


def timings():
    """Wall and processor time of the part: in a bare loop, by sweep in one process, by sweep in two."""
    from joblib.externals.loky import get_reusable_executor

    def two():
        sweep(*part(), n_jobs=2, progress=False)
        get_reusable_executor().shutdown(wait=True)  # its workers count only once they have ended

    bare()  # everything is imported and warm
    times = {
        "bare loop": timed(bare),
        "sweep, 1 process": timed(lambda: sweep(*part(), n_jobs=1, progress=False)),
        "sweep, 2 processes": timed(two),
    }
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__}
    return {"cells": len(cells(*part())), "times": times, **machine}


def carried(folder):
    """Return a zip of this module, for workers that have ocolib but no press."""
    with zipfile.ZipFile(folder / "games.zip", "w") as bundle:
        for name in ("__init__.py", "record/__init__.py", "record/phases.py"):
            bundle.write(HOME / name, f"press/{name}")
    return str(folder / "games.zip")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scheduler", help="address of a running dask scheduler")
    parser.add_argument("--jobs", type=int, default=-1)
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
