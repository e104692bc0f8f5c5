"""A grid of games as one table: the same numbers on any backend, kept whatever happens."""

import builtins
import csv
import functools
import importlib
import math
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from threading import Lock
from types import SimpleNamespace

import numpy as np
import pytest
import sweep_games
from sweep_games import BALL, LEARNERS, coins, failing, slow

from ocolab import keys
from ocolab.sweep import COLUMNS, CellFailed, Table, _elsewhere, _key, _opened, cells, sweep
from ocolib import adversaries, sets
from ocolib.game import play
from ocolib.learners import OGD, inverse_sqrt
from ocolib.losses import Examples, hinge, logistic

STEPS = [0.1, 0.5]
HERE = Path(__file__).parent
THERE = os.environ | {"PYTHONPATH": str(HERE)}  # for programs that import this file


def small(**options):
    chosen = {"learners": LEARNERS, "games": [coins], "horizons": [5, 20], "steps": STEPS, "seeds": range(3)}
    return sweep(**(chosen | {"n_jobs": 1, "progress": False} | options))


def test_a_row_is_the_game_that_it_names():
    table = small()
    assert len(table) == 2 * 2 * 2 * 3
    for row in table:
        assert tuple(row) == (*COLUMNS, "regret", "error") and row["error"] is None
    row = table[-1]
    cell = cells(LEARNERS, [coins], [5, 20], STEPS, range(3))[-1]
    learner = OGD(BALL, row["step"], "eager")
    assert (row["learner"], row["T"], row["seed"]) == ("eager", 20, 2)
    assert row["regret"] == play(learner, coins(20, cell.rng)).regret(BALL)


def test_random_numbers_depend_on_game_horizon_and_seed_alone():
    found = cells(LEARNERS, {"a": coins, "b": coins}, [5, 20], STEPS, range(3))
    assert len({cell.rng.random() for cell in found}) == 2 * 2 * 3
    (cell,) = cells(LEARNERS | {"lazy": 1}, {"a": failing}, [5], [9.0], [2])[:1]
    assert cell.rng.random() in {cell.rng.random() for cell in found}, (
        "what plays and what is played do not matter"
    )


def test_steps_may_depend_on_the_horizon_and_games_may_be_data():
    X, y, _ = adversaries.separable(30, 2, 0.1, seed=1)
    table = sweep(
        {"eager": OGD(BALL, 1.0, "eager"), "made": sweep_games.made},
        {"tape": coins(30, np.random.default_rng(0)), "examples": hinge(X, y)},
        [10, 30],
        steps={"tuned": sweep_games.tuned, "as it is": 0.2, "schedule": inverse_sqrt(0.5)},
        measure=sweep_games.paid,
        n_jobs=1,
    )
    assert len(table) == 2 * 3 * 2 * 2 and not [row for row in table if row["error"]]
    tuned = next(
        r for r in table if (r["learner"], r["step"], r["game"], r["T"]) == ("eager", "tuned", "examples", 10)
    )
    assert tuned["paid"] == play(OGD(BALL, 10**-0.5, "eager"), hinge(X, y), rounds=10).paid.sum()
    assert [r["paid"] for r in table if r["learner"] == "eager"] == [
        r["paid"] for r in table if r["learner"] == "made"
    ]


def test_processes_and_their_number_change_nothing():
    assert small(n_jobs=2) == small()


# ---------------------------------------------------------------- failures


def test_a_cell_that_raises_stops_the_sweep_and_is_named():
    with pytest.raises(
        CellFailed, match=r"learner 'lazy', step 0.1, game 'failing', T 5, seed 0 failed(.|\n)*no game of 5"
    ):
        small(games=[failing])


def test_with_errors_kept_a_failed_cell_is_a_row_and_the_others_go_on():
    table = small(games=[coins, failing], errors="keep")
    wrong = [row for row in table if row["error"]]
    assert {row["game"] for row in wrong} == {"failing"} and len(wrong) == len(table) / 2
    assert "RuntimeError: no game of 20" in wrong[-1]["error"] and "regret" not in wrong[-1]
    with pytest.raises(ValueError, match="errors must be 'raise' or 'keep'"):
        small(errors="ignore")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exit_inside_a_game_is_that_cells_failure(n_jobs):
    table = small(games=[coins, sweep_games.leaving], errors="keep", n_jobs=n_jobs, horizons=[5], seeds=[0])
    assert ["SystemExit: 3" in (row["error"] or "") for row in table] == [False, True] * 4


def test_what_failed_is_tried_again(tmp_path):
    """Also a transient failure: memory that ran out once."""
    options = {
        "file": tmp_path / "table.db",
        "horizons": [5],
        "seeds": [0],
        "learners": {"a": LEARNERS["lazy"]},
    }
    tries = tmp_path / "tries"

    def hungry(T, rng):
        with tries.open("a") as file:  # a file is not part of the key
            file.write("x")
        if tries.read_text() == "x":
            raise MemoryError("once")
        return coins(T, rng)

    first = small(games=[hungry], steps=[0.1], errors="keep", **options)
    assert "MemoryError: once" in first[0]["error"]
    second = small(games=[hungry], steps=[0.1], **options)
    assert second[0]["error"] is None and tries.read_text() == "xx"
    assert small(games=[hungry], steps=[0.1], **options) == second and tries.read_text() == "xx"


def test_an_interruption_is_not_a_failure_but_an_interruption():
    def stopped(T, rng):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(games=[stopped], errors="keep")


# ---------------------------------------------------------------- what may be handed in


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_functions_inside_functions_are_played_too(n_jobs):
    table = sweep(
        {"made": lambda eta: OGD(BALL, eta)},
        {"g": lambda T, rng: coins(T, rng)},
        [5],
        {"tuned": lambda T: T**-0.5},
        range(3),
        measure=lambda trace: trace.paid.sum(),
        n_jobs=n_jobs,
    )
    assert [row["seed"] for row in table] == [0, 1, 2] and all(
        isinstance(row["value"], float) for row in table
    )


def test_a_measure_may_give_one_number_or_several_under_names_of_its_own():
    assert small(measure=sweep_games.total)[0].keys() - COLUMNS == {"total", "error"}
    assert small(measure=sweep_games.paid)[0].keys() - COLUMNS == {"paid", "error"}
    for name in (*COLUMNS, "error"):
        with pytest.raises(CellFailed, match=f"must not use the name '{name}'"):
            small(measure=lambda trace, name=name: {name: 1.0})
    with pytest.raises(CellFailed, match="must give numbers, got list for 'a'"):
        small(measure=lambda trace: {"a": [1.0]})
    with pytest.raises(CellFailed, match=r"Still has no field `eta` for a step: write \[lambda eta: Still"):
        small(learners=[Still()])


class Still:
    """A learner without a step size."""

    def player(self):
        raise AssertionError("it has no step to be given")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seeds": 3}, r"seeds must be a list of integers, got 3; for 3 seeds write range\(3\)"),
        ({"horizons": 5}, r"horizons must be a list of integers, got 5; write \[5\]"),
        ({"horizons": [0]}, "horizons must be an integer ≥ 1"),
        ({"seeds": [-1]}, "seeds must be an integer ≥ 0"),
        ({"games": {}}, "games must not be empty"),
        ({"games": "coins"}, "games must be a list or a dict"),
        ({"games": np.ones((5, 2))}, "got one ndarray; write {'name': losses}"),
        ({"games": hinge([[1.0]], [1])}, "got one Examples; write {'name': losses}"),
        ({"learners": OGD(BALL, 1.0)}, r"learners must be a list or a dict.*; write \[OGD\("),
        ({"games": [coins, sweep_games.Elsewhere.coins]}, "have different names, got .*; write a dict"),
        ({"games": [np.zeros((999, 2)), np.eye(999, 2, -500)]}, "two that are written"),
        ({"learners": [OGD(sets.Ball(50), 1.0, start=np.eye(50)[i]) for i in (0, 1)]}, "two that are"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_makes_no_grid_is_refused_with_a_word(options, said):
    with pytest.raises(ValueError, match=said):
        small(**options)


# ---------------------------------------------------------------- keys


def key(**changed):
    base = {"learners": {"a": OGD(BALL, 1.0)}, "games": [coins], "horizons": [5], "steps": [0.1]}
    return _key(cells(**(base | changed))[0])


@dataclass
class Tilted:
    """A game of the reader's, a callable object."""

    Z: np.ndarray
    sign: float = 1.0

    def __call__(self, T, rng):
        return self.sign * self.Z[:T]


def learner(eta):
    return OGD(BALL, eta, "eager")


def other(eta):
    return OGD(BALL, eta, "eager", [0.5, 0.0])


def loss(name, f, slope):
    return Examples(np.ones((5, 2)), np.ones(5), Own(name, f, slope))


@dataclass(frozen=True)
class Own:
    """A loss of the reader's: two with one name are not one loss."""

    name: str
    value: object
    slope: object
    takes = "reals"
    threshold = 0.0

    def __repr__(self):
        return self.name


X = np.arange(10.0).reshape(5, 2) / 10
VARIANTS = {
    "as it is": {},
    "another projection": {"learners": {"a": OGD(BALL, 1.0, "eager")}},
    "another start": {"learners": {"a": OGD(BALL, 1.0, start=[0.5, 0])}},
    "another set": {"learners": {"a": OGD(sets.Ball(2, 1.0 + 1e-15), 1.0)}},
    "a schedule": {"learners": {"a": OGD(BALL, lambda t: 1.0 / t)}},
    "another schedule": {"learners": {"a": OGD(BALL, lambda t: 2.0 / t)}},
    "a function": {"learners": {"a": learner}},
    "another function": {"learners": {"a": other}},
    "another game": {"games": {"coins": slow}},
    "another name, other random numbers": {"games": {"other": coins}},
    "another horizon": {"horizons": [6]},
    "another step": {"steps": [0.2]},
    "a step that depends on T": {"steps": {"0.1": sweep_games.tuned}},
    "another seed": {"seeds": [1]},
    "another measure": {"measure": sweep_games.paid},
    "an array": {"games": {"coins": X}},
    "an array of floats of half the size": {"games": {"coins": X.astype(np.float32)}},
    "an array of zeros": {"games": {"coins": np.zeros((5, 2))}},
    "an array of whole zeros": {"games": {"coins": np.zeros((5, 2), int)}},
    "an array in another shape": {"games": {"coins": np.zeros((2, 5))}},
    "an array with the last bit changed": {"games": {"coins": np.nextafter(X, 1.0)}},
    "a list of arrays": {"games": {"coins": list(X)}},
    "losses over data": {"games": {"coins": hinge(X, np.ones(5))}},
    "other labels": {"games": {"coins": hinge(X, -np.ones(5))}},
    "another φ": {"games": {"coins": logistic(X, np.ones(5))}},
    "another kink": {"games": {"coins": hinge(X, np.ones(5), kink=0.5)}},
    "with reg": {"games": {"coins": hinge(X, np.ones(5)).regularized(0.1)}},
    "with another reg": {"games": {"coins": hinge(X, np.ones(5)).regularized(0.2)}},
    "a loss of one's own": {"games": {"coins": loss("L", lambda p, y: p * p, lambda p, y: 2 * p)}},
    "another of the same name": {"games": {"coins": loss("L", lambda p, y: p**4, lambda p, y: 4 * p**3)}},
    "a callable object": {"games": {"coins": Tilted(X)}},
    "another, 4e-9 apart": {"games": {"coins": Tilted(X + 4e-9)}},
    "another sign": {"games": {"coins": Tilted(X, -1.0)}},
}


def test_the_key_changes_with_all_that_matters():
    keys.remember("all variants")  # follows each function once
    made = {name: key(**changed) for name, changed in VARIANTS.items()}
    keys.remember("")
    same = [(a, b) for a, b in combinations(made, 2) if made[a] == made[b]]
    assert not same
    assert key(learners={"b": OGD(BALL, 1.0)}) == made["as it is"], "the name of a learner changes no number"


def test_another_process_makes_the_same_key():
    code = "from test_sweep import *; print(key(), key(games={'coins': Tilted(X)}))"
    asked = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=True)
    import test_sweep

    tilted = test_sweep.key(games={"coins": test_sweep.Tilted(X)})
    assert asked.stdout.split() == [test_sweep.key(), tilted]


@pytest.mark.parametrize("package", ["ocolib", "numpy"])
def test_the_key_changes_with_the_version_of_what_is_used(package, monkeypatch):
    before = key()
    monkeypatch.setattr(f"{package}.__version__", "0.0.1")
    keys._version.cache_clear()
    try:
        assert key() != before
    finally:
        monkeypatch.undo()
        keys._version.cache_clear()
    assert key() == before


def test_the_key_changes_with_the_code_of_the_package(monkeypatch):
    before = key()
    monkeypatch.setattr(OGD, "player", lambda self: None)
    assert key() != before
    monkeypatch.undo()
    monkeypatch.setattr("ocolib.game.play.__code__", (lambda learner, losses, rounds=None: None).__code__)
    assert key() != before


GAME = """
def edited(T, rng):
    return helper(T, rng)

def helper(T, rng):
    return rng.random((T, 2)) * {size}
"""


def test_the_key_is_that_of_the_loaded_code_and_not_of_the_file(tmp_path, monkeypatch):
    """A helper edited on disk changes nothing until it is loaded; then it does."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "edited_game.py"
    file.write_text(GAME.format(size="1.0"))
    module = importlib.import_module("edited_game")
    first = key(games=[module.edited])
    file.write_text(GAME.format(size="22.0"))
    assert key(games=[module.edited]) == first
    importlib.reload(module)
    assert key(games=[module.edited]) != first
    monkeypatch.delitem(sys.modules, "edited_game")


def test_a_worker_that_loads_other_code_than_was_asked_for_says_so(tmp_path, monkeypatch):
    """The session has the old code, the file and so the workers the new one."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    file = tmp_path / "changing_game.py"
    file.write_text(GAME.format(size="1.0"))
    module = importlib.import_module("changing_game")
    file.write_text(GAME.format(size="22.0"))
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # workers that start now find the new file
    with pytest.raises(CellFailed, match="loaded other code than the session"):
        small(games=[module.edited], n_jobs=2, file=tmp_path / "table.db")
    get_reusable_executor().shutdown(wait=True)
    monkeypatch.delitem(sys.modules, "changing_game")


def test_functions_that_swap_places_make_another_key():
    def scaled(c):
        return lambda t: c / t

    a, b = scaled(1.0), scaled(2.0)
    assert keys.key("x", partial(max, a, b)) != keys.key("x", partial(max, b, a))
    assert keys.key("x", partial(max, a, b)) == keys.key("x", partial(max, scaled(1.0), scaled(2.0)))


def test_functions_that_call_each_other_have_keys():
    assert keys.key("deep", deep) != keys.key("deeper", deeper)


@pytest.mark.parametrize(
    "thing", [Lock(), (i for i in range(3)), sys.stderr], ids=["lock", "generator", "file"]
)
def test_what_cannot_be_keyed_completely_is_refused_by_name(thing, tmp_path):
    def game(T, rng):
        return thing and coins(T, rng)

    with pytest.raises(ValueError, match=r"thing, which the game 'game' uses cannot be kept in a file"):
        small(games=[game], file=tmp_path / "table.db")
    assert len(small(games=[game])) == 24, "without a file no key is needed"


# ---------------------------------------------------------------- the file


def test_a_second_call_plays_only_what_is_not_there(tmp_path, monkeypatch):
    file = tmp_path / "table.db"
    first = small(file=file)
    monkeypatch.setattr("ocolab.sweep._played", lambda missing, *_: pytest.fail("played") if missing else ())
    assert small(file=file) == first
    monkeypatch.undo()
    assert small(file=file, seeds=range(4))[0] == first[0]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM cells").fetchone() == (32,)


def test_a_table_can_be_taken_elsewhere(tmp_path):
    table = small(games=[coins, failing], errors="keep")
    table.csv(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="", encoding="utf8") as file:
        back = list(csv.DictReader(file))
    assert len(back) == len(table) and float(back[0]["regret"]) == table[0]["regret"]
    assert "RuntimeError" in back[-1]["error"]
    pandas = pytest.importorskip("pandas")
    assert isinstance(table.pandas(), pandas.DataFrame)


def test_a_number_of_numpy_is_stored(tmp_path):
    options = {"measure": sweep_games.rounds, "file": tmp_path / "table.db"}
    first, again = (sweep({"a": OGD(BALL, 1.0)}, [coins], [5], [0.1], **options) for _ in range(2))
    assert first[0]["rounds"] == again[0]["rounds"] == 5 and first[0]["error"] is None


def test_a_row_that_failed_hides_no_column(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = Table([{"T": 1, "error": "it failed"}, {"T": 2, "regret": 0.5, "error": None}])
    rows.parquet(tmp_path / "table.parquet")
    assert pandas.read_parquet(tmp_path / "table.parquet")["regret"].tolist()[1] == 0.5


def test_parquet_is_written_by_pandas(monkeypatch):
    asked, rows = [], small()
    monkeypatch.setattr(
        Table, "pandas", lambda self: SimpleNamespace(to_parquet=lambda path: asked.append((self, path)))
    )
    rows.parquet("table.parquet")
    assert asked == [(rows, "table.parquet")]


def test_parquet_if_it_is_there(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    small().parquet(tmp_path / "table.parquet")
    assert parquet.read_table(tmp_path / "table.parquet").num_rows == 24


def test_a_bar_tells_done_and_failed(capsys):
    small(games=[slow, failing], progress=True, errors="keep")
    said = capsys.readouterr().err
    assert "48/48" in said and "failed=24" in said
    assert re.search(r"\[\d\d:\d\d<\d\d:\d\d,", said), "time spent and time left"
    small(progress=None)
    assert capsys.readouterr().err == "", "nobody is looking"


class FakeBar:
    """Stands for a bar of tqdm: notes what it is told."""

    def __init__(self, **options):
        self.options, self.told = options, []
        FakeBar.last = self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def set_postfix(self, failed, refresh):
        self.told.append((failed, refresh))

    def update(self):
        self.told.append("one more")


@pytest.mark.parametrize(
    ("progress", "terminal", "notebook", "delay"),
    [
        (True, False, False, 0.0),
        (None, True, False, 2.0),
        (None, False, True, 2.0),
        (None, False, False, None),
        (False, True, True, None),
    ],
)
def test_a_bar_is_there_if_it_is_asked_for_or_somebody_looks(
    progress, terminal, notebook, delay, monkeypatch
):
    """If nobody asked for it, only after two seconds. It counts from 0 and draws itself once a cell."""
    monkeypatch.setattr("tqdm.tqdm", FakeBar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    FakeBar.last = None
    small(games=[failing], seeds=[0], horizons=[5], progress=progress, errors="keep")
    if delay is None:
        assert FakeBar.last is None
    else:
        assert FakeBar.last.options == {"total": 4, "unit": "cell", "delay": delay}
        assert FakeBar.last.told[::2] == [(count, False) for count in (1, 2, 3, 4)]
        assert FakeBar.last.told[1::2] == 4 * ["one more"]


def test_where_there_is_no_tqdm_the_games_are_played_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr("ocolab.sweep.find_spec", lambda name: None if name == "tqdm" else 1)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert small(progress=None) == small(progress=False)


def test_there_is_no_bar_where_nothing_is_left_to_play(tmp_path, monkeypatch):
    monkeypatch.setattr("tqdm.tqdm", FakeBar)
    small(file=tmp_path / "table.db")
    FakeBar.last = None
    small(file=tmp_path / "table.db", progress=True)
    assert FakeBar.last is None


def test_without_seeds_there_is_one_and_it_is_0():
    assert [cell.names[4] for cell in cells(LEARNERS, [coins], [5])] == [0, 0]
    (row,) = sweep({"lazy": LEARNERS["lazy"]}, [coins], [5], n_jobs=1, progress=False)
    assert row["seed"] == 0
    with pytest.raises(ValueError, match="seeds must be"):
        small(seeds=[-1])


def test_a_cell_is_what_it_is():
    cell = cells(LEARNERS, [coins], [5])[0]
    assert cell.row() == cell.row()
    with pytest.raises(AttributeError):
        cell.measure = None


def test_names_of_what_has_none():
    """A function by its name, a number by itself, all else by its repr."""
    found = cells([LEARNERS["lazy"]], [coins], [5], [0.1, sweep_games.tuned])
    assert [cell.names[:3] for cell in found] == [
        (repr(LEARNERS["lazy"]), 0.1, "coins"),
        (repr(LEARNERS["lazy"]), "tuned", "coins"),
    ]


def deep(T, rng):
    return deeper(T - 1, rng) if T else failing(T, rng)


def deeper(T, rng):
    return deep(T, rng)


def test_the_last_four_calls_of_an_error_are_shown():
    (row,) = small(
        learners={"lazy": LEARNERS["lazy"]}, games=[deep], horizons=[9], steps=[0.1], seeds=[0], errors="keep"
    )
    assert [line.split()[-1] for line in row["error"].splitlines() if "File " in line] == [
        "deep",
        "deeper",
        "deep",
        "failing",
    ]


# ---------------------------------------------------------------- what goes wrong


def test_a_file_that_is_no_table_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("dear diary\n" * 100)
    with pytest.raises(ValueError, match=r"file must be one that this version of sweep made.*notes\.txt"):
        small(file=file)
    assert file.read_text() == "dear diary\n" * 100


@pytest.mark.parametrize("table", ["films (title)", "cells (key TEXT PRIMARY KEY, row TEXT)"])
def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path, table):
    file = tmp_path / "films.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE {table}")
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"films\.db is another"):
        small(file=file)
    assert file.read_bytes() == before and os.listdir(tmp_path) == ["films.db"]


@pytest.mark.parametrize(
    "damage",
    [
        "row = replace(row, '0.', '1.')",
        "row = 'no json'",
        "row = '{}'",
        "row = '[1, 2]'",
        "row = NULLIF(substr(row, 1, 20), '')",
        "sum = ''",
        "(row, sum) = (SELECT row, sum FROM cells ORDER BY key DESC LIMIT 1)",  # whole, but of another cell
    ],
)
def test_a_damaged_row_is_named_and_played_again(tmp_path, capsys, damage):
    file = tmp_path / "table.db"
    first = small(file=file)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE cells SET {damage} WHERE key = (SELECT min(key) FROM cells)")
    assert small(file=file) == first
    said = capsys.readouterr().err
    assert f"{file}: a kept row is damaged" in said and said.count("\n") == 1
    assert small(file=file) == first and capsys.readouterr().err == ""


def test_a_damaged_file_is_named(tmp_path):
    file = tmp_path / "table.db"
    small(file=file)
    size = file.stat().st_size
    with open(file, "r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (size - 4096))
    with pytest.raises(ValueError, match=r"table\.db is (damaged|another)"):
        small(file=file)


def test_a_busy_file_is_waited_for_with_a_word(tmp_path, capsys, monkeypatch):
    file = tmp_path / "table.db"
    first = small(file=file)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        # the other program ends at the third look
        looks = iter([lambda: None, lambda: None, lambda: other.execute("ROLLBACK")])
        monkeypatch.setattr(time, "sleep", lambda seconds: next(looks)())
        table = small(file=file, seeds=range(4))
        assert not other.in_transaction
    assert len(table) == 32 and [row for row in table if row["seed"] < 3] == first
    assert capsys.readouterr().err == f"sweep: {file} is in use by another program; waiting\n"


FULL = """
import resource, signal, sys
from test_sweep import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))  # a disk with 64 kB left
try:
    small(file={file!r}, seeds=range(300))
except OSError as error:
    print("OSError:", error)
"""


def test_a_full_disk_is_said_and_what_was_there_stays(tmp_path):
    file = tmp_path / "table.db"
    first = small(file=file)
    code = FULL.format(file=str(file))
    said = subprocess.run(
        [sys.executable, "-c", code], env=THERE, capture_output=True, text=True, check=False
    )
    assert "OSError:" in said.stdout and "the cells finished before are kept" in said.stdout, said.stderr[
        -2000:
    ]
    assert small(file=file) == first


LONG = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
from test_sweep import *
sweep(LEARNERS, [slow], [10], STEPS, range(10), file={file!r}, n_jobs=2, progress=False)
"""


def count(file):
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM cells").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_parent_that_dies_loses_only_what_was_running(tmp_path, how, monkeypatch):
    file = tmp_path / "table.db"
    code = LONG.format(file=str(file))
    monkeypatch.chdir(tmp_path)
    Path("seconds_a_game").write_text("0.5")  # a busy machine must find it running still
    quiet = {"stderr": subprocess.DEVNULL, "start_new_session": True}
    parent = subprocess.Popen([sys.executable, "-c", code], env=THERE, **quiet)
    while count(file) < 5:
        assert parent.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    parent.send_signal(how)
    parent.wait(30)
    if how == signal.SIGKILL:
        os.killpg(parent.pid, signal.SIGKILL)
    before = count(file)
    assert 5 <= before < 40
    Path("seconds_a_game").write_text("0")
    again = {"n_jobs": 1, "progress": False}
    whole = sweep(LEARNERS, [slow], [10], STEPS, range(10), file=file, **again)
    assert len(whole) == 40 and count(file) == 40
    assert whole == sweep(LEARNERS, [slow], [10], STEPS, range(10), **again)


@pytest.mark.long
def test_a_cluster_that_loses_a_worker_finishes_with_the_same_numbers(tmp_path):
    distributed = pytest.importorskip("distributed")
    from joblib import parallel_config

    options = {"learners": LEARNERS, "games": [slow], "horizons": [10], "steps": STEPS, "seeds": range(15)}
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(sys.path.insert, 0, str(HERE))
        victim = next(iter(client.run(os.getpid).values()))
        file, killed = tmp_path / "table.db", []

        def kill_one(row):
            if not killed and count(file) >= 5:
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        with (
            parallel_config(backend="dask"),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr("ocolab.sweep.Store.add", spying(kill_one))
            table = sweep(**options, file=file, progress=False)
    assert killed and table == sweep(**options, n_jobs=1, progress=False)


def spying(act):
    """`Store.add`, and then something else."""
    from ocolab.sweep import Store

    add = Store.add

    def wrapped(self, key, row):
        add(self, key, row)
        act(row)

    return wrapped


def test_a_table_of_nothing_is_still_one(tmp_path):
    Table().csv(tmp_path / "empty.csv")
    assert (tmp_path / "empty.csv").read_text() == "\n"


def executed(text):
    """Run a definition where no module is named, as `exec` does."""
    space = {}
    exec(text, space)
    return space["made"]


class Private:
    __slots__ = ("__hidden",)

    def __init__(self, hidden):
        self.__hidden = hidden


class Times:
    """A decorator that is an object: it takes over what the function says of itself, and holds a number."""

    def __init__(self, factor):
        functools.update_wrapper(self, failing)
        self.factor = factor


class Draws(random.Random):
    pass


def nested(value, depth=9):
    return nested([value], depth - 1) if depth else value


def with_attribute(value):
    def made():
        return made.value

    made.value = value
    return made


def lately(value):
    class Made:
        @functools.cached_property
        def play(self):
            return value

    return Made


class Whole(int):
    pass


class Marked(np.ndarray):
    pass


class Text(str):
    def __str__(self):
        return "the same for all"


class Twice:
    """Keeps twice its number, which may be set or out of date."""

    def __init__(self, number, kept=None):
        self.number = number
        if kept is not None:
            self.twice = kept

    @functools.cached_property
    def twice(self):
        return 2 * self.number


class Below(Private):
    __slots__ = ("__hidden",)

    def __init__(self, hidden):
        super().__init__(hidden)
        type(self).__slots__ = ()


def remembering(value):
    @functools.lru_cache
    def made():
        return made.value

    made.value = value
    return made


def with_metadata(value):
    @dataclass
    class Made:
        x: int = field(default=0, metadata={"of": value})

    return Made


def dispatched(value):
    @functools.singledispatch
    def made(x):
        return value

    return made


@pytest.mark.parametrize(
    "make",
    [
        lambda n: executed(f"class made:\n    def play(self): return {n}")(),
        lambda n: executed(f"def made(): return {n}"),
        lambda n: type("Meta", (type,), {"__call__": lambda cls: n})("Made", (), {}),
        lambda n: np.zeros(2, dtype=[(f"name {n}", float)]),
        lambda n: np.dtype([(f"name {n}", float)]),
        lambda n: Private(n),
        lambda n: Times(n),
        lambda n: Draws(n),
        lambda n: with_attribute(n),
        lambda n: [nested(n), nested(3 - n)],
        lambda n: partial(nested(n, 1).append, n),
        lambda n: Tilted(X, n).__call__,
        lambda n: lately(n),
        lambda n: lately(n)(),
        lambda n: Whole(n),
        lambda n: (np.arange(3) + n).view(Marked),
        lambda n: {n},
        lambda n: {n: 0},
        lambda n: functools.lru_cache(lambda: n),
        lambda n: np.ones((2, 3), order="CF"[n - 1]),
        lambda n: np.ones((4, 6))[:: 3 - n, ::2][:2, :2],
        lambda n: np.array(0x7FF8000000000000 + n).view(float).item(),  # two that are not numbers
        lambda n: Text(n),
        lambda n: Twice(n, 7),
        lambda n: Twice(3, n),
        lambda n: Below(n),
        lambda n: remembering(n),
        lambda n: with_metadata(n),
    ],
)
def test_no_part_of_a_value_is_left_out_of_its_key(make):
    assert keys.key("it", make(1)) == keys.key("it", make(1))
    assert keys.key("it", make(1)) != keys.key("it", make(2))


class OwnProperty(property):
    def __get__(self, owner, kind=None):
        return 1


class Lying:
    @property
    def __class__(self):
        return slice


def reads_the_environment():
    return os.environ["HOME"]


@pytest.mark.parametrize(
    "make",
    [
        dispatched,
        lambda n: np.frompyfunc(lambda x: n, 1, 1),
        lambda n: OwnProperty(lambda self: n),
        lambda n: reads_the_environment,
        lambda n: os.getenv,
    ],
)
def test_what_hides_a_function_is_refused(make):
    with pytest.raises(ValueError, match="cannot be kept in a file"):
        keys.key("it", make(1))


FACTOR = 1.0


def builds_a_class():
    class Inside:
        factor = FACTOR

    return Inside.factor


def test_a_global_that_a_class_inside_a_function_reads_is_in_the_key(monkeypatch):
    before = keys.key("it", builds_a_class)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 2.0)
    assert keys.key("it", builds_a_class) != before


@pytest.mark.parametrize(
    "line", ["from .random import FACTOR", "from . import random; FACTOR = random.FACTOR"]
)
def test_an_import_with_a_dot_means_the_neighbour_and_not_a_module_of_python(tmp_path, monkeypatch, line):
    name = f"package_{len(line)}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / name / "random.py").write_text("FACTOR = 1.0\n")
    (tmp_path / name / "game.py").write_text(f"def play():\n    {line}\n    return FACTOR\n")
    monkeypatch.syspath_prepend(tmp_path)
    game, neighbour = (importlib.import_module(f"{name}.{room}") for room in ("game", "random"))
    before = keys.key("it", game.play)
    neighbour.FACTOR = 2.0
    assert keys.key("it", game.play) != before


def test_options_of_compiled_functions_are_in_the_key():
    numba = pytest.importorskip("numba")
    assert keys.key("it", numba.njit(builds_a_class)) != keys.key(
        "it", numba.njit(builds_a_class, fastmath=True)
    )


@pytest.mark.parametrize("damage", ["x'00ff'", "CAST(x'ff' AS TEXT)"])
def test_a_row_that_is_no_text_is_played_again(tmp_path, capsys, damage):
    table = small(file=tmp_path / "t.db")
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection, connection:
        connection.execute(f"UPDATE cells SET row = {damage}")
    assert small(file=tmp_path / "t.db") == table
    assert "t.db: a kept row is damaged" in capsys.readouterr().err


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        small(file=tmp_path)


@pytest.mark.parametrize("value", [Fraction(1, 4), np.longdouble(0.25), np.float32(0.25), 0.25])
def test_every_kind_of_real_number_is_kept_as_a_float(tmp_path, value):
    options = {"file": tmp_path / "t.db", "measure": lambda trace: {"found": value}}
    for _ in range(2):
        assert {(row["found"], type(row["found"])) for row in small(**options)} == {(0.25, float)}


def test_the_key_of_a_set_does_not_depend_on_the_order_in_which_it_was_filled():
    assert list({0, 8}) != list({8, 0}) and keys.key("it", {0, 8}) == keys.key("it", {8, 0})
    assert keys.key("it", frozenset([0, 8])) == keys.key("it", frozenset([8, 0]))


def test_what_is_computed_from_the_rest_of_an_object_is_not_in_its_key():
    asked, fresh = lately(1)(), lately(1)()
    assert asked.play == 1 and keys.key("it", asked) == keys.key("it", fresh)


def test_a_name_without_a_value_yet_and_a_module_that_is_not_there_are_in_the_key():
    def early():
        return late

    def imports():
        import no_such_module

        return no_such_module

    first = keys.key("it", early), keys.key("it", imports)
    late = 1
    assert keys.key("it", early) != first[0] and keys.key("it", imports) == first[1]


def library():
    import math

    return np.linalg.norm(np.ones(2)) + abs(Fraction(1, 3)) * np.pi + math.sin(1.0)


@pytest.mark.parametrize(
    ("owner", "name", "others"),
    [
        (np.linalg, "norm", [lambda x: 7.0, functools.wraps(np.linalg.norm)(lambda x: 8.0), np.linalg.det,
                             partial(np.dot, 9.0), Times(2.0)]),
        (np, "pi", [3.0]),
        (math, "sin", [math.cos]),
        (builtins, "abs", [lambda x: x, round]),
        (Fraction, "__abs__", [lambda x: 7]),
        (Fraction, "numerator", [property(lambda x: 7)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_was_put_in_place_of_a_part_of_a_library_is_in_the_key(monkeypatch, owner, name, others):
    before = keys.key("it", library)
    for other in others:
        monkeypatch.setattr(owner, name, other)
        changed = keys.key("it", library)
        monkeypatch.undo()
        assert changed != before == keys.key("it", library)


def test_a_name_of_a_module_is_in_the_key_however_the_module_is_reached(monkeypatch):
    neighbour = importlib.import_module("sweep_games")

    def in_a_closure():
        return neighbour.BALL

    def as_a_default(module=neighbour):
        return module.BALL

    through_another = SimpleNamespace(held=[neighbour])
    for it in (in_a_closure, as_a_default, through_another, partial(getattr, neighbour)):
        before = keys.key("it", it)
        monkeypatch.setattr(neighbour, "BALL", sets.Ball(2, 3.0))
        assert keys.key("it", it) != before
        monkeypatch.undo()


@pytest.mark.parametrize("seeds", [[1], [1, 2]])
def test_what_changes_while_it_is_played_is_refused_and_not_kept(tmp_path, seeds):
    """The second cell would be stored as one that is played first."""
    calls = []

    def counting(T, rng):
        calls.append(T)
        return np.full((T, 1), float(len(calls)))

    given = {"learners": [OGD(sets.Ball(1), 0.5)], "horizons": [3], "seeds": seeds, "steps": [0.5]}
    with pytest.raises(ValueError, match=r"with learner .*, game 'counting', T 3, seed 1 uses .* changed"):
        sweep(**given, games=[counting], file=tmp_path / "kept")
    with _opened(tmp_path / "kept") as store:
        assert not store._ask("SELECT * FROM cells")
    assert len(sweep(**given, games=[counting])) == len(seeds)


def asked(module):
    return module.BALL


def handed_over():
    return asked(sweep_games)


def imported_and_handed_over():
    import sweep_games as under_another_name

    return asked(under_another_name)


def looked_up():
    return getattr(sweep_games, "BALL"), vars(sweep_games)  # noqa: B009


def renamed():
    games = sweep_games
    return [asked(it) for it in [games]]


def read_only():
    return sweep_games.LEARNERS


@pytest.mark.parametrize("it", [handed_over, imported_and_handed_over, looked_up, renamed])
def test_all_of_a_module_that_is_handed_on_is_in_the_key(it, monkeypatch):
    """Whoever receives it may read any of its names; otherwise only the names that are read count."""
    before, other = keys.key("it", it), keys.key("it", read_only)
    monkeypatch.setattr(sweep_games, "BALL", sets.Ball(2, 3.0))
    monkeypatch.setattr(sweep_games, "LEARNERS", sweep_games.LEARNERS)
    assert keys.key("it", it) != before
    monkeypatch.undo()
    monkeypatch.setattr(sweep_games, "tuned", None)
    assert keys.key("it", read_only) == other


def first_of_two():
    try:
        return FIRST
    except NameError:
        return SECOND  # noqa: F821


def test_which_of_two_names_has_a_value_is_in_the_key(monkeypatch):
    found = []
    for name in ("FIRST", "SECOND"):
        monkeypatch.setitem(globals(), name, 1.0)
        found.append(keys.key("it", first_of_two))
        monkeypatch.undo()
    assert found[0] != found[1]


def test_a_cell_finds_the_same_state_everywhere():
    """It may draw from the generators that all code shares, and divide as a new process does."""

    def drawing(T, rng):
        assert str(Decimal(1) / 3) == "0." + 28 * "3"
        if np.geterr() != {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}:
            raise FloatingPointError
        return np.random.random((T, 2)) + random.random()  # noqa: NPY002

    first = small(games=[drawing])
    np.random.seed(1), random.seed(1)  # noqa: NPY002
    after = np.random.random(), random.random()  # noqa: NPY002
    np.random.seed(1), random.seed(1)  # noqa: NPY002
    with np.errstate(all="raise"), localcontext(prec=2):
        assert small(games=[drawing]) == first != small(games={"other": drawing})
    assert (np.random.random(), random.random()) == after  # noqa: NPY002


def test_an_array_has_one_key_in_memory_and_in_a_file(tmp_path):
    """joblib hands large arrays to its workers as files; the worker must find the key that was asked for."""
    for order in "CF":
        Z = np.array(np.random.default_rng(0).standard_normal((5, 2)), order=order)
        held = np.memmap(tmp_path / order, float, "w+", shape=Z.shape, order=order)
        held[:] = Z
        assert keys.key("it", held) == keys.key("it", Z)


class Named:
    def __str__(self):
        return "T"


@pytest.mark.parametrize("names, said", [
    ((1, "1"), "every number a name of its own"),
    ((Named(),), "must not use the name 'T'"),
    ((np.str_("seed"),), "must not use the name 'seed'"),
])  # fmt: skip
def test_no_number_that_was_measured_is_lost_to_another_of_its_name(names, said):
    with pytest.raises(CellFailed, match=said):
        sweep({"a": OGD(BALL, 1.0)}, [coins], [5], measure=lambda trace: dict.fromkeys(names, 1.0))


@pytest.mark.parametrize("value", [True, np.True_, None, "text"])
def test_what_is_no_number_but_plain_is_kept_as_it_is(tmp_path, value):
    options = {"measure": lambda trace: {"it": value}, "file": tmp_path / "table.db"}
    for _ in range(2):
        (row,) = sweep({"a": OGD(BALL, 1.0)}, [coins], [5], **options)
        assert row["it"] == value and type(row["it"]) in (bool, type(None), str)


def test_a_file_that_fails_says_that_the_rest_is_kept(tmp_path):
    with _opened(tmp_path / "table.db") as store, pytest.raises(OSError, match=r"no such table.*are kept"):
        store._ask("SELECT * FROM absent")


def test_a_worker_plays_what_it_was_asked_for():
    (cell,) = cells({"a": OGD(BALL, 1.0)}, [coins], [5])
    assert _elsewhere(None, "key", cell) == ("key", cell.row())
    keys.remember("call")
    assert _elsewhere("call", _key(cell), cell) == (_key(cell), cell.row())
    name, row = _elsewhere("call", "another key", cell)
    keys.remember("")
    assert name == "another key" and "other code" in row["error"] and row["T"] == 5
