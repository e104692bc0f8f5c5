"""Many games as one table: learners × steps × games × horizons × seeds, on as many machines as you have.

`sweep(...)` plays every combination and returns a `Table`, a list of rows. joblib carries it: `n_jobs`
processes on this machine (one unless said), or by `joblib.parallel_config(backend="dask")` whatever a dask
scheduler has. With a `file` each finished cell is kept, a failed one too; a second call with the same file
plays only what is not there.

A cell's random numbers come from its game, horizon and seed alone: not from the worker, not from the order,
and not from the learner, so that all learners meet the same losses, unless an adversary looks at the plays.
Needs the extra `ocolib[sweep]`.
"""

import csv
import hashlib
import inspect
import json
import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.game import Trace, play
from ocolib.losses import Examples

#: what every row has, in this order; what is measured comes after it
COLUMNS = ("learner", "step", "game", "T", "seed")


def regret(trace: Trace) -> dict[str, float]:
    """What a cell measures unless told otherwise: the regret over the learner's own set."""
    return {"regret": float(trace.regret(trace.learner.over))}


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
        """The rows as a pandas `DataFrame`."""
        import pandas

        return pandas.DataFrame(list(self))

    def parquet(self, path: str | Path) -> None:
        """Write the rows as Parquet; needs pandas and pyarrow."""
        self.pandas().to_parquet(path)


# ---------------------------------------------------------------- cells


@dataclass(frozen=True)
class Cell:
    """One game to be played."""

    names: tuple[Any, ...]  #: learner, step, game, T, seed as the row shows them
    learner: Any
    eta: Any
    game: Any
    measure: Callable[[Trace], Mapping[str, float]]
    stream: str  #: a digest of game, T and seed, from which the random numbers come
    key: str  #: a digest of learner, step, measure, ocolib's version and `stream`

    def row(self) -> dict[str, Any]:
        """Play it. An exception becomes a row with its traceback."""
        shown = dict(zip(COLUMNS, self.names, strict=True))
        try:
            return shown | {**self.measure(self.trace()), "error": None}
        except Exception:
            return shown | {"error": traceback.format_exc(limit=-4)}

    def trace(self) -> Trace:
        """The game of this cell."""
        T = self.names[3]
        eta = self.eta(T) if callable(self.eta) else self.eta
        if eta is None:
            learner = self.learner
        else:
            learner = self.learner(eta) if callable(self.learner) else replace(self.learner, eta=eta)
        made = self.game
        if callable(made):
            made = made(T, np.random.default_rng(int(self.stream, 16)))
        return play(learner, made, rounds=T)


def _digest(*parts: Any) -> str:
    """The same on every machine."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _source(what: str, thing: Any) -> Any:
    """A learner, a step, a game or a measure as JSON that changes when it does; of a function or a class
    its source, so that what it calls or reads may change unseen."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, np.ndarray):
        return [str(thing.dtype), thing.shape, hashlib.sha256(np.ascontiguousarray(thing).data).hexdigest()]
    if isinstance(thing, (list, tuple)):
        return [_source(what, part) for part in thing]
    if isinstance(thing, Examples):
        return [_source(what, thing.X), _source(what, thing.y), repr(thing.phi), thing.reg]
    if inspect.isfunction(thing) or inspect.isclass(thing):
        return [thing.__module__, thing.__qualname__, inspect.getsource(thing)]
    with np.printoptions(threshold=sys.maxsize):
        text = repr(thing)
    if " at 0x" in text:
        raise ValueError(f"{what} must be described by their repr, as those of ocolib are, got {text}")
    return text


def _named(what: str, things: Any) -> dict[str, Any]:
    """{name: thing}; a callable must be one that another process can find by its name."""
    if not isinstance(things, Mapping):
        things = list(things)
        functions = {thing for thing in things if inspect.isroutine(thing)}
        if len({function.__name__ for function in functions}) < len(functions):
            raise ValueError(f"functions in {what} must have different names; in a dict they need not")
        things = {_name(thing): thing for thing in things}
    if not things:
        raise ValueError(f"{what} must not be empty")
    for name, thing in things.items():
        if "<" in getattr(thing, "__qualname__", ""):  # a lambda, or inside a function
            raise ValueError(
                f"callables in {what} must be defined at the top of a module, so that every process finds "
                f"them; got {thing.__qualname__} for {name!r}"
            )
    return dict(things)


def _name(thing: Any) -> Any:
    return thing.__name__ if inspect.isroutine(thing) else thing if np.isscalar(thing) else repr(thing)


def cells(
    learners: Any,
    games: Any,
    horizons: Iterable[int],
    steps: Any = (None,),
    seeds: Iterable[int] = (0,),
    measure: Callable[[Trace], Mapping[str, float]] = regret,
) -> list[Cell]:
    """All combinations, in the order of `COLUMNS`."""
    horizons = [validate.count("horizons", T) for T in horizons]
    seeds = [validate.count("seeds", seed, low=0) for seed in seeds]
    chosen = {"learners": learners, "steps": steps, "games": games, "measure": [measure]}
    named = {what: _named(what, things) for what, things in chosen.items()}
    written = {
        what: {name: _source(what, thing) for name, thing in things.items()} for what, things in named.items()
    }
    found: list[Cell] = []
    axes: list[Any] = [*list(named.values())[:3], horizons, seeds]
    for who, step, game, T, seed in product(*axes):
        stream = _digest(written["games"][game], T, seed)
        depends = written["learners"][who], written["steps"][step], written["measure"]
        key = _digest(version("ocolib"), *depends, stream)
        parts = named["learners"][who], named["steps"][step], named["games"][game], measure
        found.append(Cell((who, step, game, T, seed), *parts, stream, key))
    return found


# ---------------------------------------------------------------- playing them


def sweep(
    learners: Any,
    games: Any,
    horizons: Iterable[int],
    steps: Any = (None,),
    seeds: Iterable[int] = (0,),
    measure: Callable[[Trace], Mapping[str, float]] = regret,
    file: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Table:
    """Play learners × steps × games × horizons × seeds and return one row a cell.

    `learners` and `games` are {name: …} or lists, in which two with one `repr` are one. A learner is a
    description, whose `eta` each step replaces, or a function of the step. A game is an array or `Examples`,
    of which the first T rounds are played, or a function `game(T, rng)` that makes the losses or the
    adversary. A step is a number or a function of T; None leaves a description as it is. `measure(trace)`
    gives the numbers of a row, {name: number}. With a `file` finished cells are kept; then the numbers
    must be such as `json` writes, or a number of NumPy's.

    >>> from ocolib import adversaries, sets
    >>> from ocolib.learners import OGD
    >>> interval = sets.Box([-1], [1])
    >>> rows = sweep({"lazy": OGD(interval, 1.0)}, {"example 2": adversaries.alternating(100)}, [50, 100],
    ...              steps=[0.1, 1.0], n_jobs=1)
    >>> [(row["step"], row["T"], round(row["regret"], 2)) for row in rows]
    [(0.1, 50, 2.95), (0.1, 100, 5.45), (1.0, 50, 25.0), (1.0, 100, 50.0)]
    """
    wanted = cells(learners, games, horizons, steps, seeds, measure)
    keys = [cell.key for cell in wanted]
    with _opened(file) as kept:
        rows = {key: row for key, row in kept.rows() if key in set(keys)}
        missing = {key: cell for key, cell in zip(keys, wanted, strict=True) if key not in rows}
        with _bar(len(missing), progress) as bar:
            for key, row in _played(missing, n_jobs):
                kept.add(key, row)
                rows[key] = row
                bar(row)
    names = [dict(zip(COLUMNS, cell.names, strict=True)) for cell in wanted]
    return Table(rows[key] | name for key, name in zip(keys, names, strict=True))


def _play(key: str, cell: Cell) -> tuple[str, dict[str, Any]]:
    return key, cell.row()


def _played(missing: Mapping[str, Cell], n_jobs: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """(key, row) as they are finished, by whatever backend joblib was told to use."""
    from joblib import Parallel, delayed

    if not missing:
        return iter(())
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    return parallel(delayed(_play)(key, cell) for key, cell in missing.items())


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Cells done, failed, time left; by default only where somebody is looking, if tqdm is there."""
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


def _json(row: dict[str, Any]) -> str:
    return json.dumps(row, default=lambda x: x.item())  # a number of NumPy's


class Store:
    """Finished cells in SQLite. Only the process that called `sweep` writes."""

    def __init__(self, connection: sqlite3.Connection | None, path: Any) -> None:
        self.connection, self.path = connection, path

    def rows(self) -> list[tuple[str, dict[str, Any]]]:
        """(key, row) of every finished cell."""
        if self.connection is None:
            return []
        found = self.connection.execute("SELECT key, row FROM cells").fetchall()
        return [(key, json.loads(row)) for key, row in found]

    def add(self, key: str, row: dict[str, Any]) -> None:
        """One cell, one transaction: what is written stays, also if the process is killed."""
        if self.connection is None:
            return
        try:
            with self.connection:
                self.connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?)", (key, _json(row)))
        except sqlite3.OperationalError as error:
            raise OSError(
                f"{self.path} took no more cells ({error}); those finished before are kept"
            ) from error


@contextmanager
def _opened(file: str | Path | None) -> Iterator[Store]:
    if file is None:
        yield Store(None, None)
        return
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(closing(sqlite3.connect(file)))
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("CREATE TABLE IF NOT EXISTS cells (key TEXT PRIMARY KEY, row TEXT)")
        except sqlite3.DatabaseError as error:
            raise ValueError(f"file must be a table that sweep made, or new; got {file}: {error}") from error
        yield Store(connection, file)
