"""What was recorded on real processes: it is what happened, and the theorem holds on it."""

import csv
import json
import subprocess
import sys

import numpy as np
import parallel_svm
import phases
import pytest

from ocolib import proofs
from ocolib.game import play
from ocolib.learners import DelayedOGD
from ocolib.losses import hinge
from ocolib.sets import Ball
from ocolib.sweep import cells

PARALLEL = json.loads(parallel_svm.FILE.read_text("utf8"))
SINGLE = [run for run in PARALLEL["runs"] if run["batch"] == 1]


def test_workers_that_read_and_send_in_turn_are_late_by_one():
    """Two workers by hand: w hears of round 1 when round 3 is read."""
    server = parallel_svm.Server(1, every=100)
    (t1, w1), (t2, w2) = server.read(0), server.read(1)
    server.send(t1, 7, np.array([1.0]))
    t3, w3 = server.read(0)
    server.send(t2, 8, np.array([1.0]))
    server.send(t3, 9, np.array([1.0]))
    _, w4 = server.read(0)
    eta = parallel_svm.ETA
    np.testing.assert_allclose([w1[0], w2[0], w3[0], w4[0]], [0, 0, -eta, -3 * eta])
    server.send(4, 10, np.array([0.0]))
    history, _, _ = server.history()
    assert [row["delay"] for row in history] == [1, 1, 0, 0]
    assert [row["which"] for row in history] == [7, 8, 9, 10]


@pytest.mark.parametrize("run", SINGLE, ids=lambda run: f"{run['crew']} workers")
def test_the_theorem_holds_on_what_really_happened(run):
    X, y = parallel_svm.records()
    chosen = parallel_svm.batches(len(run["which"]), 1, len(X))[run["which"], 0]
    losses = hinge(X[chosen], y[chosen])
    learner = DelayedOGD(Ball(X.shape[1], PARALLEL["radius"]), PARALLEL["eta"], run["delay"])
    trace = play(learner, losses)
    np.testing.assert_allclose(trace.points[-1], run["last"], rtol=0, atol=1e-9)
    u = trace.points[-1]
    chain = proofs.delayed_constant(trace, u, np.linalg.norm(u), 1.0)
    assert chain.holds()
    assert run["crew"] == 1 or max(run["delay"]) > 0
    assert sorted(run["which"]) == list(range(len(run["which"]))), "each gradient once"


def test_the_recorded_phases_are_those_that_the_tool_plays():
    """One cell of each learner and game, all its seeds, played again."""
    with open(phases.HOME / "phases.csv", newline="", encoding="utf8") as file:
        rows = {(r["learner"], r["game"], float(r["step"]), int(r["T"])): r for r in csv.DictReader(file)}
    for learners, games, measure in phases.CHOSEN:
        asked = cells(learners, games, [32], [phases.STEPS[8]], phases.SEEDS, measure=measure)
        found = {}
        for cell in asked:
            learner, step, game, T, _ = cell.names
            found.setdefault((learner, game, step, T), []).append(cell.row()["value"])
        for key, values in found.items():
            assert float(rows[key]["mean"]) == pytest.approx(np.mean(values), rel=1e-5), key


@pytest.mark.long
def test_a_scheduler_and_two_workers_of_their_own():
    said = subprocess.run(
        [sys.executable, str(phases.ROOT / "tools" / "cluster.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0 and "the same numbers as without a cluster" in said.stdout, said.stderr[
        -2000:
    ]
