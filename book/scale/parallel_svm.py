"""Run Lecture 4's parallel online SVM on real processes: an actor holds w, and workers bring gradients.

    python book/scale/parallel_svm.py

runs it on dask, with 1, 2 and 4 workers and without any messages, on data that scikit-learn ships. It writes
book/scale/parallel-svm.json: the order in which the workers were served and the times, how stale each
gradient was, and the wall and processor time of each run.
"""

import json
import os
import platform
import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from pathlib import Path

import numpy as np

from ocolib.learners import DelayedOGD
from ocolib.sets import Ball

HERE = Path(__file__).resolve().parent
FILE = HERE / "parallel-svm.json"
CREWS = (0, 1, 2, 4)  # 0: one process does all, without messages
SIZES = {  # what is trained: data, records a gradient, gradients
    "cheap": {"data": "cancer", "batch": 1, "gradients": 300},
    "dear": {"data": "digits, products", "batch": 1024, "gradients": 96},
}
GRID = [
    ("cancer", "digits", "cancer, products", "digits, products"),
    (1, 16, 128, 1024),
]
GRID_GRADIENTS = 30
TRIALS, SECONDS = (
    (3, 9),
    120,
)  # trials: at least, at most; no further one begins after so many seconds
RADIUS = 10.0


# ---------------------------------------------------------------- data and losses


@cache
def records(data):
    """Return (X, y): standardised features, each row then scaled to length 1, and a 1 for the bias; y = ±1.

    The label says whether a tumour is benign ("cancer"), or whether a digit is 5 to 9 ("digits"). "products"
    adds all products of two features, including squares, so that the model is quadratic.
    """
    from sklearn.datasets import load_breast_cancer, load_digits

    name, _, richer = data.partition(", ")
    X, target = (load_breast_cancer if name == "cancer" else load_digits)(
        return_X_y=True
    )
    X, y = (
        X[:, X.std(axis=0) > 0],
        np.where(target >= (1 if name == "cancer" else 5), 1.0, -1.0),
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if richer:
        i, j = np.triu_indices(X.shape[1])
        X = np.hstack([X, X[:, i] * X[:, j]])
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.ascontiguousarray(np.hstack([X, np.ones((len(X), 1))])), y


@dataclass(frozen=True)
class Batch:
    """Represent the mean hinge loss of some rows of (X, y), with slope 0 at the kink."""

    X: np.ndarray
    y: np.ndarray
    rows: np.ndarray

    @property
    def dim(self):
        return self.X.shape[1]

    def value(self, w):
        X, y = self.X[self.rows], self.y[self.rows]
        return np.maximum(0.0, 1.0 - y * (X @ w)).mean()

    def subgradient(self, w):
        X, y = self.X[self.rows], self.y[self.rows]
        return -(y * (y * (X @ w) < 1.0)) @ X / len(y)


def batches(data, batch, worker=0, crew=1):
    """Yield the losses of a worker: batches drawn from its own shard, which is every crew-th record."""
    X, y = records(data)
    shard = np.random.default_rng(0).permutation(len(X))[worker::crew]
    X, y, rng = X[shard], y[shard], np.random.default_rng([1, worker])
    return (Batch(X, y, rng.integers(len(X), size=batch)) for _ in count())


def learner(data, gradients, delay=0):
    """Return descent over ‖w‖ ≤ λ with the step λ/(ρ√T) of the bound without delay; ρ bounds ‖x‖."""
    X, _ = records(data)
    rho = np.linalg.norm(X, axis=1).max()
    return DelayedOGD(
        Ball(X.shape[1], RADIUS), RADIUS / (rho * np.sqrt(gradients)), delay
    )


# ---------------------------------------------------------------- the machine


class Server:
    """Hold w, and log who was served, when, and how stale each gradient was."""

    def __init__(self, learner, gradients):
        self.player, self.gradients = learner.player(), gradients
        self.served, self.at, self.used, self.staleness = [], [], [], []
        self.under_way = {}  # worker: its round, and the updates before it

    def serve(self, worker, z=None):
        """Use the gradient that a worker brings, then let it read w.

        None in place of w tells it to stop.
        """
        if z is not None:
            s, seen = self.under_way[worker]
            self.staleness.append(len(self.staleness) - seen)
            self.player.receive([(s, z)])
        self.served.append(worker)
        self.at.append(time.perf_counter())
        self.used.append(time.process_time())
        self.under_way[worker] = len(self.served), len(self.staleness)
        enough = len(self.served) > self.gradients
        return None if enough else self.player.predict()

    def log(self):
        """Return what is stored of a run; of the last w at most 32 coordinates."""
        w = self.player.predict()
        return {
            "served": "".join(map(str, self.served)),
            "at": [round(1e3 * (at - self.at[0]), 2) for at in self.at],
            "staleness": self.staleness,
            "last": w[:: -(-len(w) // 32)].tolist(),
            "server": self.used[-1] - self.used[0],
        }


def work(serve, worker, losses):
    """Read w, compute a gradient on a batch, bring it and read again.

    Return the worker's processor time, in gradients and in all.
    """
    began, gradients = time.process_time(), 0.0
    w = serve(worker)
    while w is not None:
        start = time.thread_time()
        z = next(losses).subgradient(w)
        gradients += time.thread_time() - start
        w = serve(worker, z)
    return gradients, time.process_time() - began


def work_far(server, worker, crew, data, batch):
    """Run `work` with a server that is an actor in another process."""
    return work(
        lambda *sent: server.serve(*sent).result(),
        worker,
        batches(data, batch, worker, crew),
    )


def work_alone(data, batch, gradients):
    """Run `work` without messages: server and worker are one process."""
    server = Server(learner(data, gradients), gradients)
    spent = work(server.serve, 0, batches(data, batch))
    return server.log() | {"server": 0.0}, [spent]


# ---------------------------------------------------------------- runs


def run(client, crew, data, batch, gradients):
    """Play one run; return its log, its wall time, and the processor time per gradient, in milliseconds."""
    seat, *others = client.nthreads()
    if crew:
        server = client.submit(
            Server,
            learner(data, gradients),
            gradients,
            actor=True,
            workers=[seat],
            pure=False,
        ).result()
        jobs = [
            client.submit(
                work_far, server, k, crew, data, batch, workers=[others[k]], pure=False
            )
            for k in range(crew)
        ]
        spent = client.gather(jobs)
        log = server.log().result()
    else:
        log, spent = client.submit(
            work_alone, data, batch, gradients, workers=[seat], pure=False
        ).result()
    inside, workers = np.sum(spent, axis=0)
    each = {"gradient": inside, "all": workers + log.pop("server")}
    return {
        "crew": crew,
        "data": data,
        "batch": batch,
        "gradients": gradients,
        **log,
        "wall": log["at"][-1],
        "processor": {
            name: round(1e3 * float(used) / gradients, 4) for name, used in each.items()
        },
    }


def delays(served):
    """Return the delay d_s of each round s whose gradient arrived: how often others were served meanwhile."""
    last, found = {}, {}
    for place, worker in enumerate(served):
        if worker in last:
            found[last[worker]] = place - last[worker] - 1
        last[worker] = place
    return [found[s] for s in sorted(found)]


def losses(run):
    """Return f_1, …, f_T: f_t is the next batch of the worker that is the t-th entry of the log."""
    crew = max(run["crew"], 1)
    shards = [
        batches(run["data"], run["batch"], worker, crew) for worker in range(crew)
    ]
    return [next(shards[int(worker)]) for worker in run["served"][: run["gradients"]]]


def replayed(run):
    """Replay a run in this process, in the recorded order; return the plays w_1, …, w_T and the server."""
    played = losses(run)
    server, reading, plays = (
        Server(learner(run["data"], len(played)), len(played)),
        {},
        [],
    )
    for worker in run["served"]:
        z = None
        if worker in reading:
            t, w = reading[worker]
            z = played[t].subgradient(w)
        w = server.serve(worker, z)
        reading[worker] = len(plays), w
        plays.append(w)
    return np.array(plays[: len(played)]), server


def verified(run):
    """Replay a run; return its plays, or raise a `ValueError` if staleness or the last w differ."""
    plays, server = replayed(run)
    again = server.log()
    if again["staleness"] != run["staleness"]:
        raise ValueError(
            "the staleness is not that of the order in which the workers were served"
        )
    off = np.abs(np.subtract(again["last"], run["last"])).max()
    if off > 1e-9:
        raise ValueError(f"the order does not lead to the recorded w: {off:.1e} away")
    return plays


# ---------------------------------------------------------------- recording


@contextmanager
def cluster(workers):
    """Start worker processes on this machine that can import this module; yield their client."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(
            {"distributed.worker.profile.enabled": False}
        ),  # it would cost processor time
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0"
        ) as made,
        Client(made) as client,
    ):
        client.run(sys.path.insert, 0, str(HERE))  # where they find this module
        yield client


def prepare():
    """Make the data once in each process, before anything is timed."""
    for data in GRID[0]:
        records(data)


def median(trials):
    """Return the median times of some trials of one run, in milliseconds per gradient."""
    T = trials[0]["gradients"]
    found = {"wall": np.median([trial["wall"] for trial in trials]) / T}
    for name in trials[0]["processor"]:
        found[name] = np.median([trial["processor"][name] for trial in trials])
    return {name: round(float(value), 4) for name, value in found.items()}


def record(client):
    """Play all runs once per trial, so that a busy moment does not spoil all trials of one run."""
    runs, grid, began = [], defaultdict(list), time.perf_counter()
    for trial in range(TRIALS[1]):
        if trial >= TRIALS[0] and time.perf_counter() - began > SECONDS:
            break
        for kind, size in SIZES.items():
            for crew in CREWS:
                runs.append({"kind": kind, "trial": trial, **run(client, crew, **size)})
        for data, batch, crew in product(*GRID, (0, 2)):
            grid[data, batch, crew].append(
                run(client, crew, data, batch, GRID_GRADIENTS)
            )
        print(
            f"trial {trial + 1} done after {time.perf_counter() - began:.0f} s",
            flush=True,
        )
    for found in runs:
        verified(found)
    rows = [
        {
            "features": records(data)[0].shape[1],
            "data": data,
            "batch": batch,
            "crew": crew,
            **median(trials),
        }
        for (data, batch, crew), trials in grid.items()
    ]
    return {"runs": runs, "grid": rows}


def main():
    """Record all runs on new worker processes."""
    import distributed

    began = time.perf_counter()
    with cluster(max(CREWS) + 1) as client:
        client.run(prepare)
        found = record(client)
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    about = {
        "cores": os.cpu_count(),
        **versions,
        "distributed": distributed.__version__,
    }
    text = json.dumps({"machine": about, **found}, separators=(",", ":"))
    FILE.write_text(
        text.replace('{"kind"', '\n{"kind"').replace('{"features"', '\n{"features"')
        + "\n",
        "utf8",
    )
    print(
        f"{len(found['runs'])} runs in {time.perf_counter() - began:.0f} s → {FILE.name}"
    )


if __name__ == "__main__":
    import parallel_svm  # so that workers find the classes by their module's name

    parallel_svm.main()
