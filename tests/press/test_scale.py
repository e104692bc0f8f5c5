"""Test that the recorded sweep equals what the command plays, also on a cluster."""

import csv
import subprocess
import sys

import numpy as np
import pytest

from ocolab.sweep import cells
from press.record import phases


def test_the_recorded_phases_are_those_that_the_tool_plays():
    """One cell of each learner and game, all its seeds, played again."""
    with open(phases.RECORDS / "phases.csv", newline="", encoding="utf8") as file:
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
        [sys.executable, "-m", "press", "cluster"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0 and "equal to a run without a cluster" in said.stdout, said.stderr[-2000:]
