"""Many games as one table: learners × steps × games × horizons × seeds, on as many machines as you have.

`sweep(...)` plays every combination, a *cell*, and returns a `Table`, a list of rows. joblib carries it:
`n_jobs` processes on this machine (one unless said), or by `joblib.parallel_config(backend="dask")` whatever
a dask scheduler has. With a `file` each finished cell is kept, and a second call with the same file plays
only what is not there. A kept row is used only if what would run now is what ran then: see `ocolab.keys`.

A cell's random numbers come from the name of its game, the horizon and the seed: not from the worker, not
from the order, and not from the learner, so that all learners meet the same losses, unless an adversary looks
at the plays. Needs the extra `ocolib[sweep]` for more than one process, and for the bar.
"""

import csv
import hashlib
import inspect
import json
import numbers
import sqlite3
import sys
import time
import traceback
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import ocolib
from ocolab import keys
from ocolib import validate
from ocolib.game import play
from ocolib.trace import Trace

#: what every row has, in this order; what is measured comes after it, then `error`
COLUMNS = ("learner", "step", "game", "T", "seed")
RESERVED = (*COLUMNS, "error")


def regret(trace: Trace) -> float:
    """Measure the regret over the learner's own set: what a sweep measures unless told otherwise."""
    return float(trace.regret())


class Table(list):
    """Rows as dictionaries: the five columns of a cell, what was measured, `error` (a traceback, or None)."""

    def csv(self, path: str | Path) -> None:
        """Write the rows as comma-separated values."""
        names = list(dict.fromkeys(name for row in self for name in row))
        with open(path, "w", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self)

    def pandas(self) -> Any:
        """Return the rows as a pandas `DataFrame`."""
        import pandas

        return pandas.DataFrame(list(self))

    def parquet(self, path: str | Path) -> None:
        """Write the rows as Parquet; needs pandas and pyarrow."""
        self.pandas().to_parquet(path)


class CellFailed(RuntimeError):
    """A cell of a sweep raised an exception; the message names the cell and has the traceback."""


# ---------------------------------------------------------------- cells


@dataclass(frozen=True)
class Cell:
    """One game to be played."""

    names: tuple[Any, ...]  #: learner, step, game, T, seed as the row shows them
    learner: Any
    eta: Any
    game: Any
    measure: Callable[[Trace], Any]

    @property
    def shown(self) -> dict[str, Any]:
        """The columns of the row."""
        return dict(zip(COLUMNS, self.names, strict=True))

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator, made from the name of the game, the horizon and the seed alone."""
        text = json.dumps([str(self.names[2]), *self.names[3:]])
        return np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest(), 16))

    def trace(self) -> Trace:
        """Play the game."""
        T = self.names[3]
        eta = self.eta(T) if callable(self.eta) else self.eta
        if eta is None:
            learner = self.learner
        else:
            learner = self.learner(eta) if callable(self.learner) else replace(self.learner, eta=eta)
        made = self.game(T, self.rng) if callable(self.game) else self.game
        return play(learner, made, rounds=T)

    def row(self) -> dict[str, Any]:
        """Play and measure. An exception, or an exit, becomes a row with its traceback."""
        try:
            return self.shown | _numbers(self.measure, self.measure(self.trace())) | {"error": None}
        except (Exception, SystemExit):
            return self.shown | {"error": traceback.format_exc(limit=-4)}


def _key(cell: Cell) -> str:
    """Return the digest of all that the row of a cell depends on."""
    parts = {"learner": cell.learner, "step": cell.eta, "game": cell.game, "measure": cell.measure}
    names = *cell.names[:3], _name(cell.measure)
    made = [
        keys.key(f"the {what} {name!r}", part)
        for (what, part), name in zip(parts.items(), names, strict=True)
    ]
    return _sum([ocolib.__version__, keys.key("Cell", Cell), *made, *map(str, cell.names[2:])])


def _numbers(measure: Any, found: Any) -> dict[str, Any]:
    """Return what was measured as {name: number}; a lone number is named after its function."""
    if not isinstance(found, Mapping):
        name = getattr(measure, "__name__", "value")
        found = {name if name.isidentifier() else "value": found}
    for name, value in found.items():
        if name in RESERVED:
            raise ValueError(f"measure must not use the name {name!r}, which every row has; choose another")
        if not (value is None or isinstance(value, (str, bool, np.bool_, numbers.Real))):
            raise ValueError(f"measure must give numbers, got {type(value).__name__} for {name!r}")
    return {str(name): _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    """Return a number as Python's own int or float, which a file can keep."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _sum(parts: Any) -> str:
    """Return a checksum of what json can write."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _named(what: str, things: Any) -> dict[Any, Any]:
    """Return {name: thing}."""
    if not isinstance(things, Mapping):
        if isinstance(things, (str, bytes)) or not isinstance(things, Iterable):
            raise ValueError(f"{what} must be a list or a dict {{name: …}}, got {things!r}")
        things = list(things)
        functions = {id(thing): thing.__name__ for thing in things if inspect.isroutine(thing)}
        if len(set(functions.values())) < len(functions):
            raise ValueError(f"functions in {what} must have different names; in a dict they need not")
        things = {_name(thing): thing for thing in things}
    if not things:
        raise ValueError(f"{what} must not be empty")
    return dict(things)


def _name(thing: Any) -> Any:
    return thing.__name__ if inspect.isroutine(thing) else thing if np.isscalar(thing) else repr(thing)


def _counts(what: str, values: Any, low: int) -> list[int]:
    if not isinstance(values, Iterable):
        hint = f"; for {values} of them write range({values})" if what == "seeds" else f"; write [{values}]"
        raise ValueError(f"{what} must be a list of integers, got {values!r}{hint}")
    return [validate.count(what, value, low=low) for value in values]


def cells(
    learners: Any,
    games: Any,
    horizons: Iterable[int],
    steps: Any = (None,),
    seeds: Iterable[int] = (0,),
    measure: Callable[[Trace], Any] = regret,
) -> list[Cell]:
    """List all combinations, in the order of `COLUMNS`."""
    named = [_named(w, t) for w, t in (("learners", learners), ("steps", steps), ("games", games))]
    axes: list[Any] = [*named, _counts("horizons", horizons, 1), _counts("seeds", seeds, 0)]
    who, how, where = named
    return [Cell((a, b, c, *rest), who[a], how[b], where[c], measure) for a, b, c, *rest in product(*axes)]


# ---------------------------------------------------------------- playing them


def sweep(
    learners: Any,
    games: Any,
    horizons: Iterable[int],
    steps: Any = (None,),
    seeds: Iterable[int] = (0,),
    measure: Callable[[Trace], Any] = regret,
    file: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    errors: str = "raise",
) -> Table:
    """Play learners × steps × games × horizons × seeds and return one row a cell.

    `learners` and `games` are {name: …} or lists, in which two with one `repr` are one. A learner is a
    description, whose `eta` each step replaces, or a function of the step. A game is an array or `Examples`,
    of which the first T rounds are played, or a function `game(T, rng)` that makes the losses or the
    adversary. A step is a number or a function of T; None leaves a description as it is. `measure(trace)`
    gives a number, or {name: number}.

    With a `file` finished cells are kept there, and not played again. A cell that fails raises `CellFailed`;
    with `errors="keep"` it becomes a row with its traceback, and the others go on. A cell that failed is not
    kept in the file, so the next call tries it again.

    >>> from ocolib import adversaries, sets
    >>> from ocolib.learners import OGD
    >>> interval = sets.Box([-1], [1])
    >>> rows = sweep({"lazy": OGD(interval, 1.0)}, {"example 2": adversaries.alternating(100)}, [50, 100],
    ...              steps=[0.1, 1.0])
    >>> [(row["step"], row["T"], round(row["regret"], 2)) for row in rows]
    [(0.1, 50, 2.95), (0.1, 100, 5.45), (1.0, 50, 25.0), (1.0, 100, 50.0)]
    """
    validate.choice("errors", errors, ("raise", "keep"))
    wanted = cells(learners, games, horizons, steps, seeds, measure)
    with _opened(file) as store:
        keys.remember(call := uuid.uuid4().hex)
        known = [str(i) if store is None else _key(cell) for i, cell in enumerate(wanted)]
        keys.remember("")
        rows = {} if store is None else store.rows(set(known))
        missing = {key: cell for key, cell in zip(known, wanted, strict=True) if key not in rows}
        with _bar(len(missing), progress) as bar:
            played = _played(missing, n_jobs, None if store is None else call)
            for key, row in played:
                if row["error"] and errors == "raise":
                    with warnings.catch_warnings():  # joblib's, about cells that were under way
                        warnings.simplefilter("ignore")
                        played.close()
                    cell = ", ".join(f"{name} {row[name]!r}" for name in COLUMNS)
                    raise CellFailed(f"the cell with {cell} failed:\n{row['error']}")
                if store is not None and not row["error"]:
                    store.add(key, row)
                rows[key] = row
                bar(row)
    return Table(rows[key] | cell.shown for key, cell in zip(known, wanted, strict=True))


def _played(
    missing: Mapping[str, Cell], n_jobs: int | None, call: str | None
) -> Generator[tuple[str, dict[str, Any]], None, None]:
    """Yield (key, row) as they are finished: here, or by the backend that joblib was told to use."""
    if not missing or _alone(n_jobs):
        return ((key, cell.row()) for key, cell in missing.items())
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    return parallel(delayed(_elsewhere)(call, key, cell) for key, cell in missing.items())


def _alone(n_jobs: int | None) -> bool:
    """Is one process, this one, to play all?"""
    if n_jobs is None and "joblib" in sys.modules:
        from joblib.parallel import get_active_backend

        backend, jobs = get_active_backend()
        return type(backend).__name__ in ("LokyBackend", "SequentialBackend") and jobs in (None, 1)
    return n_jobs in (None, 1)


def _elsewhere(call: str | None, key: str, cell: Cell) -> tuple[str, dict[str, Any]]:
    """Play a cell in a worker, unless the code there is not the code that was asked for."""
    if call is not None:
        keys.remember(call)
        if _key(cell) != key:
            said = (
                "this worker has loaded other code than the session that asks: has a file been edited since?"
            )
            return key, cell.shown | {"error": f"{said} Restart both."}
    return key, cell.row()


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show cells done, failed, time left; by default only where somebody is looking, if tqdm is there."""
    failed = 0
    looking = (sys.stderr.isatty() or "ipykernel" in sys.modules) and find_spec("tqdm")
    if not total or not (looking if progress is None else progress):
        yield lambda row: None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="cell", delay=2.0 if progress is None else 0.0) as bar:

        def tell(row: dict[str, Any]) -> None:
            nonlocal failed
            failed += row["error"] is not None
            bar.set_postfix(failed=failed, refresh=False)
            bar.update()

        yield tell


# ---------------------------------------------------------------- keeping them

MARK = 0x0C01AB  #: SQLite's application id of our files
LAYOUT = "CREATE TABLE cells (key TEXT PRIMARY KEY, row TEXT NOT NULL, sum TEXT NOT NULL)"


class Store:
    """Finished cells in SQLite, each with a checksum. Only the process that called `sweep` writes."""

    def __init__(self, connection: sqlite3.Connection, path: Any) -> None:
        self.connection, self.path = connection, path

    def rows(self, wanted: set[str]) -> dict[str, dict[str, Any]]:
        """Return {key: row} of the wanted cells that are there; a damaged row is named and left out."""
        found = {}
        for key, text, checksum in self._ask("SELECT key, row, sum FROM cells"):
            if key in wanted and isinstance(text, str) and checksum == _sum([key, text]):
                found[key] = json.loads(text)
            elif key in wanted:
                print(f"sweep: {self.path}: a kept row is damaged (cell {key[:12]}…); it is played again",
                      file=sys.stderr)  # fmt: skip
        return found

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Write one cell in one transaction: what is written stays, also if the process is killed."""
        text = json.dumps(row)
        self._ask("INSERT OR REPLACE INTO cells VALUES (?, ?, ?)", (key, text, _sum([key, text])))

    def _ask(self, text: str, values: tuple = ()) -> list[Any]:
        """Run a statement. While another process writes, wait, and say so once."""
        said = False
        while True:
            try:
                with self.connection:
                    return self.connection.execute(text, values).fetchall()
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (
                    sqlite3.SQLITE_BUSY,
                    sqlite3.SQLITE_LOCKED,
                ):
                    raise OSError(f"{self.path}: {error}; the cells finished before are kept") from error
                if not said:
                    print(f"sweep: {self.path} is in use by another program; waiting", file=sys.stderr)
                said = True
                time.sleep(0.2)
            except sqlite3.DatabaseError as error:
                raise ValueError(f"{self.path} is damaged ({error}); move it away and sweep again") from error


@contextmanager
def _opened(file: str | Path | None) -> Iterator[Store | None]:
    """Open the file, or make it; a file that sweep did not make is refused and left as it is."""
    if file is None:
        yield None
        return
    new = not Path(file).exists() or Path(file).stat().st_size == 0
    try:
        connection = sqlite3.connect(file, timeout=0.5)
    except sqlite3.OperationalError as error:
        raise OSError(f"{file}: {error}") from error
    with closing(connection):
        connection.text_factory = lambda text: text.decode(errors="replace")  # the checksum notices
        store = Store(connection, file)
        if new:
            store._ask(LAYOUT.replace("TABLE", "TABLE IF NOT EXISTS"))
            store._ask(f"PRAGMA application_id = {MARK}")
        try:
            ((mark,),) = store._ask("PRAGMA application_id")
            layout = store._ask("SELECT sql FROM sqlite_master WHERE name = 'cells'")
        except ValueError:
            mark, layout = None, []
        if mark != MARK or layout != [(LAYOUT,)]:
            raise ValueError(f"file must be one that this version of sweep made, or new; {file} is another")
        store._ask("PRAGMA journal_mode = WAL")
        store._ask("PRAGMA synchronous = NORMAL")
        yield store
