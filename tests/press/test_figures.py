"""Test that the formulas in interactive figures agree with ocolib, and that the figures stay small."""

import gzip
import json
import re
import subprocess
from itertools import product

import numpy as np
import pytest

from ocolab import limits
from ocolib import adversaries, theorems
from ocolib.game import play
from ocolib.games import HedgeFrom, duality_gap, play_game
from ocolib.learners import FTL, FTRL, OGD, Hedge, Perceptron
from ocolib.losses import perceptron_loss
from ocolib.phi import HingeLoss, PerceptronLoss, TubeLoss
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Hull, L1Ball, Simplex
from press import ledger
from press.figure_numbers import NUMBERS, SCALES
from press.js import build
from press.sphinx import figures

N = 200
DISK, INTERVAL = Ball(2), Box([-1], [1])
SETS = {"ball": DISK, "box": Box([-1, -0.6], [1, 0.6]), "simplex": Simplex(2), "l1": L1Ball(2)}
LOSSES = {"perceptron": (PerceptronLoss(), 1.0), "hinge": (HingeLoss(), 1.0), "absolute": (TubeLoss(), 0.0)}
KINK = {"perceptron": 0.0, "hinge": 1.0, "absolute": 0.0}
RUN = """
import * as f from {formulas};
import {{ readFileSync, writeFileSync }} from "node:fs";
const named = name => name.split('.').reduce((at, key) => at[key], f);
const argument = a => a === 'inf' ? Infinity : a?.loss ? f.losses[a.loss] : a;
const jobs = JSON.parse(readFileSync(process.argv[1], "utf8"));
writeFileSync(process.argv[1], JSON.stringify(
  jobs.map(([name, inputs]) => inputs.map(input => named(name)(...input.map(argument))))));
"""


def rng(name):
    return np.random.default_rng([ord(letter) for letter in name])


def steps(name):
    return rng(name).uniform(0.01, 3.0, N)


def slopes(name, T=16):
    return rng(name).choice([-1.0, -0.5, 0.5, 1.0], (N, T))


def learner(eta):
    return FTL(INTERVAL) if eta == "inf" else FTRL(INTERVAL, SquaredNorm(), eta)


def directions(name, T=24):
    return adversaries.random_directions(T, 2, seed=7, runs=(N,)) * rng(name).uniform(0, 1, (N, T, 1))


def clouds():
    """Return clouds of six labelled points; half of them have a margin."""
    for seed in range(N):
        if seed % 2:
            X, y, _ = adversaries.separable(6, 2, margin=0.02, seed=seed)
        else:
            X, y = rng(f"cloud{seed}").uniform(-1, 1, (6, 2)), rng(f"label{seed}").choice([-1.0, 1.0], 6)
        yield np.column_stack([X, y])


def at_kinks(name, kink):
    """Return random points and slopes, with every fourth point at the kink."""
    pairs = np.column_stack([rng(name).uniform(-1.5, 1.5, N), rng(name + "z").uniform(-2, 2, N)])
    pairs[::4, 0] = kink
    return pairs


INPUTS = {
    **{f"nearest.{name}": [[y] for y in rng(name).uniform(-2, 2, (N, 2)).tolist()] for name in SETS},
    "game": [
        [z, "inf" if i % 4 == 0 else eta]
        for i, (z, eta) in enumerate(zip(slopes("game").tolist(), steps("game").tolist(), strict=True))
    ],
    "worst": [
        [1 + i % 5, "inf" if i % 4 == 0 else eta]
        for i, eta in enumerate(rng("worst").uniform(0.05, 2, N).tolist())
    ],
    "sharpBound": [[1 + i, eta] for i, eta in enumerate(steps("sharp").tolist())],
    "lectureBound": [[1 + i, eta] for i, eta in enumerate(steps("lecture").tolist())],
    "worstDescent": [
        [2 + i % 30, eta] for i, eta in enumerate(rng("descent").uniform(0.001, 1.2, N).tolist())
    ],
    "descents": [
        [z, eta]
        for z, eta in zip(directions("d").tolist(), rng("descents").uniform(0.05, 1, N).tolist(), strict=True)
    ],
    "hedge": [[L, 3 * L[0] + 0.01] for L in rng("hedge").uniform(0, 1, (N, 5)).tolist()],
    "hedgeBound": [[2 + i % 9, 1 + i, eta] for i, eta in enumerate(steps("bound").tolist())],
    "perceptron": [[points.tolist(), 30] for points in clouds()],
    "margin": [[points.tolist()] for points in clouds()],
    "triangle": [[40, eta, i % 2] for i, eta in enumerate(steps("triangle").tolist()[:20])],
}
for loss, kink in KINK.items():
    INPUTS[f"slopes {loss}"] = [[{"loss": loss}, w] for w, _ in at_kinks(loss, kink).tolist()]
    INPUTS[f"excess {loss}"] = [[{"loss": loss}, w, z] for w, z in at_kinks(loss, kink).tolist()]


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Return the results of the JavaScript formulas for all inputs, from node."""
    jobs = tmp_path_factory.mktemp("figures") / "jobs.json"
    jobs.write_text(json.dumps([[name.partition(" ")[0], inputs] for name, inputs in INPUTS.items()]), "utf8")
    code = RUN.format(formulas=json.dumps((build.SCRIPTS / "figures" / "formulas.js").as_uri()))
    subprocess.run([build.node_wheel()[0], "--input-type=module", "-e", code, jobs], timeout=120, check=True)
    found = json.loads(jobs.read_text("utf8"))
    return dict(zip(INPUTS, found, strict=True))


def agree(ours, theirs):
    """Check equality to 1e-12, absolute or relative."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    assert ours.shape == theirs.shape
    assert (np.abs(ours - theirs) <= 1e-12 * np.maximum(1.0, np.abs(theirs))).all()


@pytest.mark.parametrize("name", SETS)
def test_projection(name, computed):
    points = np.array([y for (y,) in INPUTS[f"nearest.{name}"]])
    agree(computed[f"nearest.{name}"], SETS[name].project(points))


@pytest.mark.parametrize("name", LOSSES)
def test_subgradients_and_excess(name, computed):
    phi, label = LOSSES[name]
    w, z = at_kinks(name, KINK[name]).T
    agree(computed[f"slopes {name}"], np.stack(phi.subdifferential(w, label), axis=1))
    U = np.union1d(np.linspace(-2, 2, 401), [KINK[name]])[:, None]
    heights = phi.value(w, label) + z * (U - w) - phi.value(U, label)
    agree(computed[f"excess {name}"], np.maximum(heights.max(axis=0), 0))


def test_the_leader_and_the_regularised_leader(computed):
    for (z, eta), found in zip(INPUTS["game"], computed["game"], strict=True):
        trace = play(learner(eta), np.array(z)[:, None])
        agree(found["plays"], np.append(trace.points, trace.last))
        agree(found["regret"], trace.regret_curve(INTERVAL))


def test_the_worst_game(computed):
    games = {T: np.array(list(product([-1.0, -0.5, 0.5, 1.0], repeat=T)))[..., None] for T in range(1, 6)}
    for (T, eta), found in zip(INPUTS["worst"], computed["worst"], strict=True):
        agree(found["value"], play(learner(eta), games[T]).regret(INTERVAL).max())
        attained = play(learner(eta), np.array(found["slopes"])[:, None]).regret(INTERVAL)
        agree(found["value"], attained)


def test_bounds_and_the_worst_case_of_descent(computed):
    for (T, eta), found in zip(INPUTS["sharpBound"], computed["sharpBound"], strict=True):
        agree(found, theorems.FTRLSharp(0.5, np.ones(T), eta).bound)
    for (T, eta), found in zip(INPUTS["lectureBound"], computed["lectureBound"], strict=True):
        agree(found, theorems.FTRL(DISK.diameter**2 / 2, np.ones(T), eta).bound)
    for (T, eta), found in zip(INPUTS["worstDescent"], computed["worstDescent"], strict=True):
        if eta > 1:
            assert found is None
        elif eta >= 1 / T:
            agree(found, limits.descent(1.0, 1.0, T, eta))
        else:  # no projection is active, and a constant loss is the worst
            straight = play(OGD(DISK, eta), np.tile([1.0, 0.0], (T, 1))).regret(DISK)
            agree(found, straight)


def test_lazy_and_eager_descent(computed):
    for (Z, eta), found in zip(INPUTS["descents"], computed["descents"], strict=True):
        plays = {}
        for way in ("lazy", "eager"):
            trace = play(OGD(DISK, eta, way), np.array(Z))
            plays[way] = np.vstack([trace.points, trace.last])
            agree(found[way], plays[way])
            agree(found["regret"][way], trace.regret_curve(DISK))
        apart = np.abs(plays["lazy"] - plays["eager"]).max(axis=1) > 1e-9
        assert found["part"] == (int(np.argmax(apart)) if apart.any() else -1)


def test_hedge(computed):
    for (L, eta), found in zip(INPUTS["hedge"], computed["hedge"], strict=True):
        agree(found, play(Hedge(len(L), eta), np.array([L])).last)
    for (n, T, eta), found in zip(INPUTS["hedgeBound"], computed["hedgeBound"], strict=True):
        agree(found, theorems.FTRLSharp(np.log(n), np.full(T, 0.5), eta).bound)
    agree(
        theorems.FTRLSharp(np.log(5), np.full(80, 0.5), theorems.Hedge(5, 80).step).bound,
        theorems.Hedge(5, 80).bound,
    )


def test_the_perceptron_and_its_margin(computed):
    for points, run, wide in zip(clouds(), computed["perceptron"], computed["margin"], strict=True):
        X, y = points[:, :2], points[:, 2]
        trace = play(Perceptron(2), perceptron_loss(np.tile(X, (5, 1)), np.tile(y, 5)))
        agree(run["w"], np.vstack([trace.points, trace.last]))
        assert run["updates"] == trace.updates.tolist()
        gamma = np.linalg.norm(Hull(y[:, None] * X).project(np.zeros(2)))
        assert (wide is None) == (gamma < 1e-9)
        if wide:
            agree(wide["gamma"], gamma)
            agree(wide["radius"], np.linalg.norm(X, axis=1).max())
            agree((y * (X @ wide["u"])).min(), gamma)
    assert {wide is None for wide in computed["margin"]} == {True, False}


def test_two_hedges_in_the_triangle(computed):
    rps = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    for (T, eta, hint), found in zip(INPUTS["triangle"], computed["triangle"], strict=True):
        pair = [HedgeFrom(start, eta, hint) for start in ([0.5, 0.3, 0.2], [0.3, 0.3, 0.4])]
        trace = play_game(rps, *pair, rounds=T + 1)
        agree(found["x"], trace.x)
        agree(found["mean"], np.cumsum(trace.x, axis=0) / np.arange(1, T + 2)[:, None])
        agree(found["last"], [duality_gap(rps, x, y) for x, y in zip(trace.x, trace.y, strict=True)])
        agree(found["average"][-1], trace.gap)


# ---------------------------------------------------------------- the numbers in the pages


def test_the_code_is_small_and_asks_nobody():
    script, style = figures.script(), (figures.SOURCE / "figures.css").read_text("utf8")
    assert len(gzip.compress((script + style).encode())) <= 25_000
    addresses = re.findall(r"https?://[^\s\"']+|url\(|@import", script + style)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}  # a name, not a path
    assert not re.search(r"innerHTML|insertAdjacentHTML|\beval\b|\bimport\b|\bexport\b", script)


PLACED = {
    path: re.findall(
        r":::\{moving-figure\} ([\w-]+)\n\n!\[([^\]]+)\]\((\S+)\)\n\n:::", path.read_text("utf8")
    )
    for path in [*ledger.ROOT.glob("pages/**/*.md"), ledger.ROOT / "book" / "intro.md"]
}


def test_every_figure_is_on_a_page_with_its_picture():
    placed = [(path, *figure) for path, found in PLACED.items() for figure in found]
    assert {name for _, name, _, _ in placed} == set(figures.NAMES) == set(NUMBERS)
    assert len({(path, name) for path, name, _, _ in placed}) == len(placed), "twice on one page"
    for path, name, alt, picture in placed:
        assert len(alt) > 60
        page = ledger.ROOT.joinpath("book", *path.relative_to(ledger.ROOT).parts[1:])
        assert (page.parent / picture).resolve() == figures.SOURCE / "static" / f"{name}.svg"


def test_figures_of_a_page_bring_little_data():
    for found in PLACED.values():
        assert sum(len(figures.numbers(name).encode()) for name, _, _ in found) <= 10_000


def test_the_regrets_of_the_step_are_below_the_worst_case():
    found = json.loads(figures.numbers("step"))
    for T in found["T"]:
        for name, regrets in found["regret"].items():
            for eta, regret in zip(found["eta"], regrets[str(T)], strict=True):
                if regret is None:
                    assert name == "spiral" and not 1 / T <= eta <= 1
                elif 1 / T <= eta <= 1:
                    worst = limits.descent(1.0, 1.0, T, eta)
                    assert regret <= worst + 1e-6
                    assert name != "spiral" or np.isclose(regret, worst)


def test_every_chain_of_the_waterfall_holds():
    found = json.loads(figures.numbers("waterfall"))
    assert found["scales"] == list(SCALES)
    for chain in found["chains"].values():
        for rows in chain["values"].values():
            for row in rows:
                assert len(row) == len(chain["formulas"]) and (np.diff(row) >= -2e-6).all()
    sharp = found["chains"]["sharp"]["values"]["hostile"]
    assert np.allclose(sharp, np.array(sharp)[:, :1])  # the spiral leaves no slack at any step
    equal = found["chains"]["mistakes"]["values"]["hostile"][0]
    assert np.allclose(equal, 9)


def test_hedge_in_the_page_is_hedge_on_the_whole_stream():
    found = json.loads(figures.numbers("hedge"))
    for stream in found["streams"].values():
        n, T = len(stream["experts"]), stream["T"]
        for eta, regret in zip(found["eta"], stream["regret"], strict=True):
            assert regret <= theorems.FTRLSharp(np.log(n), np.full(T, 0.5), eta).bound + 1e-6
    # spite: the expert with the largest weight errs, for every step
    eta = 0.25
    trace = play(Hedge(4, eta), lambda t, w, past: np.eye(4)[w.argmax()], rounds=120)
    spite = found["streams"]["spite"]
    assert np.allclose(trace.subgradients.sum(axis=0), spite["L"][-1])
    assert np.isclose(trace.regret(Simplex(4)), spite["regret"][found["eta"].index(eta)], atol=1e-6)


def test_the_crew_stays_below_the_bound():
    found = json.loads(figures.numbers("delay"))
    for crew in found["crews"].values():
        assert all(0 < row["careful"] <= row["bound"] for row in crew)
        assert [row["delay"] for row in crew] == sorted(row["delay"] for row in crew)
        assert crew[0]["delay"] == 0
        for row in crew:
            for s, (_, start, end, late) in enumerate(row["bars"]):
                reads = [other[1] for other in row["bars"][s + 1 :]]
                # count the shown reads after its own and before its end, apart from ties in time
                assert sum(start < read < end for read in reads) <= late
