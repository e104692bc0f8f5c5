"""The parallel SVM on real processes: what was recorded is what happened, and the theorem holds on it."""

import json

import numpy as np
import parallel_svm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocolib import theorems
from ocolib.game import play
from ocolib.learners import DelayedOGD
from ocolib.sets import Ball

pytest.importorskip("distributed")
RECORDED = json.loads(parallel_svm.FILE.read_text("utf8"))
FIRST = [run for run in RECORDED["runs"] if run["trial"] == 0]


def name(run):
    return f"{run['kind']}, {run['crew']} workers"


def game(run):
    """The run as a game with delays."""
    delay = parallel_svm.delays(run["served"])
    return play(parallel_svm.learner(run["data"], run["gradients"], delay), parallel_svm.losses(run))


def check_the_chain(run, plays):
    """Every line of the proof for any delays holds, and its end is the bound in terms of staleness."""
    trace = game(run)
    np.testing.assert_allclose(trace.points, plays, rtol=0, atol=1e-12)
    u, eta, T = plays[-1], trace.learner.eta, run["gradients"]
    B, rho = float(np.linalg.norm(u)), np.sqrt(2)
    assert np.linalg.norm(trace.subgradients, axis=1).max() <= rho + 1e-12
    chain = theorems.DelayedConstant.of(trace, B, rho).proof(trace, u)
    assert chain.holds()
    total = sum(run["staleness"])
    assert chain.values[-1] == pytest.approx(B**2 / (2 * eta) + eta * rho**2 * (T / 2 + total))
    assert chain.values[-1] == pytest.approx(theorems.DelayedConstant(B, rho, trace.learner.delay, eta).bound)


def serving(order, T):
    """A server on the line that was asked by these workers in turn, each bringing the gradient 1."""
    server, seen = parallel_svm.Server(DelayedOGD(Ball(1, 9.0), 1.0), T), set()
    plays = []
    for worker in order:
        plays.append(server.serve(worker, np.ones(1) if worker in seen else None))
        seen.add(worker)
    return server, plays


def test_a_log_by_hand():
    """A reads 0, B reads 0, A brings and reads −1, B brings a gradient that A's has overtaken, …"""
    server, plays = serving("ABABBA", 4)
    assert server.staleness == [0, 1, 0, 2]
    assert [None if w is None else w[0] for w in plays] == [0, 0, -1, -2, None, None]
    assert parallel_svm.delays("ABABBA") == [1, 1, 2, 0]
    assert server.log()["served"] == "ABABBA" and server.log()["last"] == [-4.0]


@st.composite
def logs(draw):
    """(order, T): m workers, who are served in any order until each was told to stop."""
    T, crew = draw(st.integers(1, 30)), draw(st.integers(1, 5))
    waiting, order = list(range(crew)), []
    while waiting:
        worker = draw(st.sampled_from(waiting))
        order.append(worker)
        if len(order) > T:
            waiting.remove(worker)
    return order, T


@given(logs())
def test_total_staleness_is_total_overlap_and_at_most_one_for_each_colleague(log):
    order, T = log
    server, _ = serving(order, T)
    late = parallel_svm.delays(order)
    assert len(server.staleness) == len(late) == T
    total = sum(server.staleness)
    assert total == theorems.delayed.overlaps(late).sum()
    assert total == sum(len(set(order[:q]) - {order[q]}) for q in range(T))
    crew = len(set(order))
    assert total <= (crew - 1) * T
    if order[:crew] == sorted(set(order)) and crew <= T:
        assert total == (crew - 1) * T - crew * (crew - 1) // 2


@pytest.fixture(scope="module")
def real():
    """A run of two real workers."""
    with parallel_svm.cluster(3) as client:
        return parallel_svm.run(client, 2, "cancer", batch=4, gradients=48)


@pytest.mark.long
def test_a_real_run_is_replayed_bit_for_bit(real):
    plays, server = parallel_svm.replayed(real)
    again = server.log()
    assert again["last"] == real["last"] and again["staleness"] == real["staleness"]
    assert len(real["served"]) == 48 + 2 and np.all(np.diff(real["at"]) >= 0)
    assert 0 < real["processor"]["gradient"] < real["processor"]["all"]
    check_the_chain(real, plays)


def test_a_log_that_was_tampered_with_is_caught():
    run = next(run for run in FIRST if run["kind"] == "cheap" and run["crew"] == 2)
    late = run["staleness"].copy()
    late[7] += 1
    with pytest.raises(ValueError, match="staleness is not that of the order"):
        parallel_svm.verified(run | {"staleness": late})
    with pytest.raises(ValueError, match="does not lead to the recorded w"):
        parallel_svm.verified(run | {"last": [1e-6 + x for x in run["last"]]})
    crew = sorted(set(run["served"]))
    turns = "".join(crew[t % len(crew)] for t in range(len(run["served"])))  # with its own staleness
    _, other = parallel_svm.replayed(run | {"served": turns})
    assert list(other.staleness) != list(run["staleness"]), "the recorded order is not taking turns"
    with pytest.raises(ValueError, match="does not lead"):
        parallel_svm.verified(run | {"served": turns, "staleness": other.staleness})
    assert len(parallel_svm.verified(run)) == len(run["served"]) - 2


@pytest.mark.parametrize("run", FIRST, ids=name)
def test_what_was_recorded_can_be_replayed_and_the_theorem_holds_on_it(run):
    plays = parallel_svm.verified(run)
    if run["kind"] == "cheap" or run["crew"] == max(parallel_svm.CREWS):  # a dear game takes seconds
        check_the_chain(run, plays)
    assert (max(run["staleness"]) > 0) == (run["crew"] > 1)


def test_the_recording_is_complete():
    kinds = {(run["kind"], run["crew"], run["trial"]) for run in RECORDED["runs"]}
    trials = max(trial for _, _, trial in kinds) + 1
    assert trials >= parallel_svm.TRIALS[0]
    assert len(kinds) == len(RECORDED["runs"]) == trials * len(parallel_svm.SIZES) * len(parallel_svm.CREWS)
    assert len(RECORDED["grid"]) == 2 * np.prod([len(axis) for axis in parallel_svm.GRID])
    assert parallel_svm.FILE.stat().st_size <= 300_000


def test_without_messages_one_worker_makes_the_same_w():
    for kind in parallel_svm.SIZES:
        alone, one = (r["last"] for r in FIRST if r["kind"] == kind and r["crew"] < 2)
        np.testing.assert_allclose(alone, one, rtol=0, atol=1e-12)
