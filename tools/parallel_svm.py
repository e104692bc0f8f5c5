"""Lecture 4's parallel online SVM on real processes: an actor holds w, workers read it and send gradients.

    python tools/parallel_svm.py

trains on breast cancer records with 1, 2 and 4 worker processes, one record a gradient and a large batch of
records with many features a gradient, and writes book/scale/parallel.json: who read and wrote when, what
error w had by then, and what a message and a gradient cost on this machine.
"""

import json
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

from ocolib.learners import DelayedOGD
from ocolib.sets import Ball

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "book" / "scale" / "parallel.json"
RADIUS, ETA = 10.0, 0.3
CREWS = (1, 2, 4)
CHEAP = {"features": 30, "batch": 1, "gradients": 569}
DEAR = {"features": 2000, "batch": 512, "gradients": 120}
SIZES = [(n, b) for n in (30, 300, 3000) for b in (1, 16, 256, 1024)]


def records(features=30):
    """(X, y): breast cancer, standardised, no row longer than 1; benign is +1.

    More than 30 features are cosines of random projections, which make of the records a richer model.
    """
    from sklearn.datasets import load_breast_cancer

    X, benign = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    X, y = ((X - X.mean(axis=0)) / X.std(axis=0))[order], np.where(benign[order] == 1, 1.0, -1.0)
    if features > 30:
        X = np.cos(X @ rng.normal(0, 0.1, (30, features)) + rng.uniform(0, 2 * np.pi, features))
    return X / np.linalg.norm(X, axis=1).max(), y


def batches(gradients, batch, rows):
    """Which records gradient t is computed on, `(gradients, batch)`: pass after pass, each in a new order."""
    rng = np.random.default_rng(1)
    passes = -(-gradients * batch // rows)
    return np.concatenate([rng.permutation(rows) for _ in range(passes)])[: gradients * batch].reshape(
        gradients, batch
    )


def gradient(w, X, y):
    """A subgradient of the mean hinge loss on these records."""
    missed = y * (X @ w) < 1
    return -(y * missed) @ X / len(y)


class Server:
    """Holds w. A read begins a round; a gradient that came in by then is in w, in the order of rounds."""

    def __init__(self, dim, every):
        self.player = DelayedOGD(Ball(dim, RADIUS), ETA).player()
        self.every, self.kept = every, []
        self.rounds, self.waiting, self.log, self.last = 0, [], {}, None
        self.began = time.perf_counter()

    def now(self):
        return time.perf_counter() - self.began

    def read(self, worker):
        self.player.receive(sorted(self.waiting, key=lambda pair: pair[0]))
        self.waiting.clear()
        self.rounds += 1
        self.log[self.rounds] = {"worker": worker, "read": self.now()}
        w = self.player.predict()
        if self.rounds % self.every == 1 % self.every:
            self.kept.append((self.now(), w))
        self.last = w
        return self.rounds, w

    def send(self, t, which, z):
        self.waiting.append((t, z))
        self.log[t] |= {"which": which, "write": self.now(), "delay": self.rounds - t}

    def history(self):
        return [self.log[t] for t in sorted(self.log)], self.kept, self.last


def work(server, worker, mine, X, y, chosen):
    """One worker: read, compute, send, for each of its gradients."""
    for which in mine:
        t, w = server.read(worker).result()
        z = gradient(w, X[chosen[which]], y[chosen[which]])
        server.send(t, int(which), z).result()


def run(client, crew, features, batch, gradients):
    """One run: what each round did, and the error over time."""
    X, y = records(features)
    chosen = batches(gradients, batch, len(X))
    first, *others = client.scheduler_info()["workers"]
    every = max(1, gradients // 40)
    server = client.submit(Server, features, every, actor=True, workers=[first], pure=False).result()
    jobs = [
        client.submit(
            work, server, k, range(k, gradients, crew), X, y, chosen, workers=[others[k]], pure=False
        )
        for k in range(crew)
    ]
    client.gather(jobs)
    history, kept, last = server.history().result()
    columns = {name: [row[name] for row in history] for name in ("worker", "which", "delay")}
    times = {name: [round(1e3 * row[name], 1) for row in history] for name in ("read", "write")}
    error = [[round(1e3 * at, 1), float(np.mean(y * (X @ w) <= 0))] for at, w in kept]
    found = {"crew": crew, "features": features, "batch": batch, **columns, **times, "error": error}
    return found | ({"last": last.tolist()} if batch == 1 else {})


def costs(client):
    """Milliseconds: a read and a send, and a gradient of each size; medians."""
    first, second, *_ = client.scheduler_info()["workers"]
    found = {}
    for n in sorted({n for n, _ in SIZES}):
        server = client.submit(Server, n, 1 << 30, actor=True, workers=[first], pure=False).result()
        found[f"message, {n}"] = client.submit(message, server, n, workers=[second], pure=False).result()
    for n, b in SIZES:
        found[f"gradient, {n}, {b}"] = client.submit(one, n, b, workers=[second], pure=False).result()
    return {name: round(1e3 * value, 4) for name, value in found.items()}


def message(server, n):
    def there_and_back():
        t, _ = server.read(0).result()
        server.send(t, 0, np.zeros(n)).result()

    return median(there_and_back, 50)


def one(n, b):
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(b, n)), np.ones(b), np.zeros(n)
    return median(lambda: gradient(w, X, y), 30)


def median(action, times):
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        spent.append(time.perf_counter() - began)
    return float(np.median(spent))


def main():
    from distributed import Client, LocalCluster

    runs = []
    with (
        LocalCluster(n_workers=max(CREWS) + 1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(sys.path.insert, 0, str(ROOT / "tools"))
        for size in (CHEAP, DEAR):
            for crew in CREWS:
                runs.append(run(client, crew, **size))
                print(f"{size}, {crew} workers: {max(runs[-1]['write']) / 1e3:.1f} s", flush=True)
        about = {"costs": costs(client)}
    about |= {"cores": os.cpu_count(), "python": platform.python_version(), "eta": ETA, "radius": RADIUS}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(about | {"runs": runs}, separators=(",", ":")) + "\n", "utf8")


if __name__ == "__main__":
    import parallel_svm  # so that workers find the classes by their module's name

    parallel_svm.main()
