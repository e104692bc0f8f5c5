"""A grid of games as one table: the same numbers on any backend, kept whatever happens."""

import csv
import importlib
import linecache
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import sweep_games
from sweep_games import BALL, LEARNERS, coins, failing, slow

from ocolib import adversaries
from ocolib.game import play
from ocolib.learners import OGD, inverse_sqrt
from ocolib.losses import hinge
from ocolib.sweep import COLUMNS, Table, cells, sweep

STEPS = [0.1, 0.5]
HERE = Path(__file__).parent


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
    losses = coins(20, np.random.default_rng(int(cell.stream, 16)))
    assert (row["learner"], row["T"], row["seed"]) == ("eager", 20, 2)
    assert row["regret"] == play(learner, losses).regret(BALL)


def test_learners_meet_the_same_losses_and_seeds_do_not():
    assert len({cell.stream for cell in cells(LEARNERS, [coins], [5, 20], STEPS, range(3))}) == 2 * 3


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


def test_a_cell_that_raises_is_a_row_and_the_others_go_on():
    table = small(games=[coins, failing])
    wrong = [row for row in table if row["error"]]
    assert {row["game"] for row in wrong} == {"failing"} and len(wrong) == len(table) / 2
    assert "RuntimeError: no game of 20" in wrong[-1]["error"] and "regret" not in wrong[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("games", {"f": lambda T, rng: 1}),
        ("learners", {"f": lambda eta: 1}),
        ("steps", {"f": lambda T: 1}),
        ("measure", lambda trace: {}),
    ],
)
def test_a_callable_that_no_other_process_finds_is_refused(name, value):
    with pytest.raises(ValueError, match=f"callables in {name} must be defined at the top of.*lambda"):
        small(**{name: value})


def test_a_class_that_no_other_process_finds_is_refused():
    class Local(OGD):
        pass

    with pytest.raises(ValueError, match=r"callables in learners must be.*Local"):
        small(learners={"local": Local})


def test_the_source_of_a_game_is_part_of_its_key(tmp_path, monkeypatch):
    """The same name in the same module, edited in between, is another game."""
    monkeypatch.syspath_prepend(tmp_path)
    keys = []
    for size in ("1.0", "2.0", "1.0"):
        (tmp_path / "edited_game.py").write_text(
            f"def edited(T, rng):\n    return rng.random((T, 2)) * {size}\n"
        )
        monkeypatch.delitem(sys.modules, "edited_game", raising=False)
        linecache.clearcache()
        importlib.invalidate_caches()
        keys.append(small_key(importlib.import_module("edited_game").edited))
    assert keys[0] == keys[2] != keys[1]


def small_key(game):
    return cells(LEARNERS, [game], [5], STEPS)[0].key


def test_what_has_no_description_or_is_empty_is_refused():
    with pytest.raises(ValueError, match="learners must be described by their repr"):
        small(learners={"f": OGD(BALL, lambda t: 1.0)})
    with pytest.raises(ValueError, match="functions in games must have different names"):
        small(games=[coins, sweep_games.Elsewhere.coins])
    with pytest.raises(ValueError, match="games must not be empty"):
        small(games={})
    with pytest.raises(ValueError, match="horizons must be"):
        small(horizons=[0])


def test_the_key_changes_with_all_that_matters_and_with_nothing_else(tmp_path):
    base = {"learners": {"a": OGD(BALL, 1.0)}, "games": [coins], "horizons": [5], "steps": [0.1]}
    (cell,) = cells(**base)
    others = [
        base | {"learners": {"a": OGD(BALL, 1.0, "eager")}},
        base | {"learners": {"a": OGD(BALL, 1.0, start=[0.5, 0])}},
        base | {"games": [slow]},
        base | {"horizons": [6]},
        base | {"steps": [0.2]},
        base | {"seeds": [1]},
        base | {"measure": sweep_games.paid},
        base | {"games": {"coins": np.ones((5, 2))}},
        base | {"games": {"coins": np.full((5, 2), 1.0 + 1e-15)}},
        base | {"games": {"coins": [np.ones(2)] * 5}},
        base | {"games": {"coins": [np.full(2, 1.0 + 1e-15)] * 5}},
    ]
    keys = [cells(**other)[0].key for other in others]
    assert len({cell.key, *keys}) == len(others) + 1
    assert cells(**(base | {"learners": {"b": OGD(BALL, 1.0)}}))[0].key == cell.key
    code = "from test_sweep import *; print(cells({'a': OGD(BALL, 1.0)}, [coins], [5], [0.1])[0].key)"
    asked = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == cell.key, "another process gives another key"


def test_a_second_call_plays_only_what_is_not_there(tmp_path, monkeypatch):
    file = tmp_path / "table.db"
    first = small(file=file)
    monkeypatch.setattr("ocolab.sweep._play", lambda key, cell: pytest.fail("played again"))
    assert small(file=file) == first
    monkeypatch.undo()
    assert small(file=file, seeds=range(4))[0] == first[0]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM cells").fetchone() == (32,)


def test_a_table_can_be_taken_elsewhere(tmp_path):
    table = small(games=[coins, failing])
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


def test_parquet_if_it_is_there(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    small().parquet(tmp_path / "table.parquet")
    assert parquet.read_table(tmp_path / "table.parquet").num_rows == 24


def test_a_bar_tells_done_and_failed(capsys):
    small(games=[slow, failing], progress=True)
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
    small(games=[failing], seeds=[0], horizons=[5], progress=progress)
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
        cell.key = "another"


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
    (row,) = small(learners={"lazy": LEARNERS["lazy"]}, games=[deep], horizons=[9], steps=[0.1], seeds=[0])
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
    with pytest.raises(ValueError, match=r"file must be a table that sweep made.*notes\.txt"):
        small(file=file)
    assert file.read_text() == "dear diary\n" * 100


FULL = """
import resource, signal, sys
sys.path.insert(0, {here!r})
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
    code = FULL.format(here=str(HERE), file=str(file))
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "OSError:" in said.stdout and "took no more cells" in said.stdout, said.stderr[-2000:]
    assert small(file=file) == first


LONG = """
import sys
sys.path.insert(0, {here!r})
from test_sweep import *
sweep(LEARNERS, [slow], [10], STEPS, range(10), file={file!r}, n_jobs=2, progress=False)
"""


def count(file):
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM cells").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_parent_that_dies_loses_only_what_was_running(tmp_path, how):
    file = tmp_path / "table.db"
    code = LONG.format(here=str(HERE), file=str(file))
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL, start_new_session=True)
    while count(file) < 5:
        assert parent.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    parent.send_signal(how)
    parent.wait(30)
    if how == signal.SIGKILL:
        os.killpg(parent.pid, signal.SIGKILL)
    before = count(file)
    assert 5 <= before < 40
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
            patch.setattr("ocolib.sweep.Store.add", spying(kill_one))
            table = sweep(**options, file=file, progress=False)
    assert killed and table == sweep(**options, n_jobs=1, progress=False)


def spying(act):
    """`Store.add`, and then something else."""
    from ocolib.sweep import Store

    add = Store.add

    def wrapped(self, key, row):
        add(self, key, row)
        act(row)

    return wrapped


def test_a_table_of_nothing_is_still_one(tmp_path):
    Table().csv(tmp_path / "empty.csv")
    assert (tmp_path / "empty.csv").read_text() == "\n"
