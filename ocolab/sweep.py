"""Play a grid of games: learners × steps × games × horizons × seeds, in one process or on many machines.

`sweep(...)` plays every combination, called a *cell*, and returns a `Table` with one row per cell. joblib
distributes the work: over `n_jobs` processes on this machine (one by default), or, inside
`joblib.parallel_config(backend="dask")`, over the workers of a dask scheduler. With a `file`, every finished
cell is stored, and a later call with the same file plays only the cells that are missing. A stored row is
used only if the code and the data that would run now are those that ran then; see `ocolab.keys`.

The random numbers of a cell depend on the name of its game, the horizon and the seed, but not on the worker,
the order of the cells or the learner. So all learners face the same losses, unless the adversary reacts to
their plays. More than one process, and the progress bar, need the extra `ocolib[sweep]`.
"""

import csv
import decimal
import hashlib
import inspect
import json
import numbers
import random
import sqlite3
import sys
import time
import traceback
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, is_dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import ocolib
from ocolab import keys
from ocolib import validate
from ocolib.game import play
from ocolib.losses import Examples
from ocolib.trace import Trace

#: the first columns of every row, in this order; the measured values and `error` follow
COLUMNS = ("learner", "step", "game", "T", "seed")
RESERVED = (*COLUMNS, "error")


def regret(trace: Trace) -> float:
    """Measure the regret of a trace over the learner's own set; this is the default `measure` of a sweep."""
    return float(trace.regret())


class Table(list):
    """Hold the rows of a sweep, one dictionary per cell.

    A row has the columns learner, step, game, T and seed, then the measured values, then `error` (a
    traceback, or None). In a row with an error the measured values are missing.
    """

    def csv(self, path: str | Path) -> None:
        """Write the rows to a file of comma-separated values; missing values are left empty."""
        names = list(dict.fromkeys(name for row in self for name in row))
        with open(path, "w", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self)

    def pandas(self) -> Any:
        """Return the rows as a pandas `DataFrame`; needs pandas."""
        import pandas

        return pandas.DataFrame(list(self))

    def parquet(self, path: str | Path) -> None:
        """Write the rows to a Parquet file; needs pandas and pyarrow."""
        self.pandas().to_parquet(path)


class CellFailed(RuntimeError):
    """Signal that a cell of a sweep raised an exception; the message names the cell and has the traceback."""


# ---------------------------------------------------------------- cells


@dataclass(frozen=True)
class Cell:
    """Describe one game to be played: learner, step, game and what to measure."""

    names: tuple[Any, ...]  #: learner, step, game, T and seed, as they appear in the row
    learner: Any
    eta: Any
    game: Any
    measure: Callable[[Trace], Any]

    @property
    def shown(self) -> dict[str, Any]:
        """Return the first columns of the row, {column: value}."""
        return dict(zip(COLUMNS, self.names, strict=True))

    @property
    def rng(self) -> np.random.Generator:
        """Return a fresh random generator that depends only on the game's name, the horizon and the seed."""
        text = json.dumps([str(self.names[2]), *self.names[3:]])
        return np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest(), 16))

    def trace(self) -> Trace:
        """Play the game and return its `Trace`."""
        T = self.names[3]
        eta = self.eta(T) if callable(self.eta) else self.eta
        if eta is None:
            learner = self.learner
        elif callable(self.learner):
            learner = self.learner(eta)
        elif is_dataclass(self.learner) and hasattr(self.learner, "eta"):
            learner = replace(self.learner, eta=eta)  # type: ignore[type-var]
        else:
            name = type(self.learner).__name__
            raise ValueError(
                f"{name} has no field `eta` for a step: write [lambda eta: {name}(…)] as learners"
            )
        made = self.game(T, self.rng) if callable(self.game) else self.game
        return play(learner, made, rounds=T)

    def row(self) -> dict[str, Any]:
        """Play, measure and return the row; an exception, or `sys.exit`, becomes a row with its traceback."""
        try:
            with _same_everywhere(self.rng):
                return self.shown | _numbers(self.measure, self.measure(self.trace())) | {"error": None}
        except (Exception, SystemExit):
            return self.shown | {"error": traceback.format_exc(limit=-4)}


@contextmanager
def _same_everywhere(rng: np.random.Generator) -> Iterator[None]:
    """Give a cell what it would find in a new process: NumPy's error state, the precision of `decimal`, and
    generators seeded by `rng`.

    A game may draw from `np.random` or `random` although it is given a generator.
    """
    kept, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(int(rng.integers(2**32)))
    np.random.seed(rng.integers(2**32))  # noqa: NPY002
    try:
        with np.errstate(all="warn", under="ignore"), decimal.localcontext(decimal.DefaultContext):
            yield
    finally:
        random.setstate(kept)
        np.random.set_state(legacy)  # noqa: NPY002


def _key(cell: Cell) -> str:
    """Return a hash of everything that the row of a cell depends on."""
    parts = {"learner": cell.learner, "step": cell.eta, "game": cell.game, "measure": cell.measure}
    names = *cell.names[:3], _name(cell.measure)
    called = [f"the {what} {name!r}" for what, name in zip(parts, names, strict=True)]
    made = [keys.key(name, part) for name, part in zip(called, parts.values(), strict=True)]
    return _sum([ocolib.__version__, keys.key("Cell", Cell), *made, *map(str, cell.names[2:])])


def _numbers(measure: Any, found: Any) -> dict[str, Any]:
    """Return the measured values as {name: number}; a single number is named after the function `measure`."""
    if not isinstance(found, Mapping):
        name = getattr(measure, "__name__", "value")
        found = {name if name.isidentifier() else "value": found}
    if len({str(name) for name in found}) < len(found):
        raise ValueError(f"measure must give every number a name of its own, got {list(found)}")
    for name, value in found.items():
        if str(name) in RESERVED:
            raise ValueError(
                f"measure must not use the name '{name}', which is a column of every row; choose another name"
            )
        if not (value is None or isinstance(value, (str, bool, np.bool_, numbers.Real))):
            raise ValueError(
                f"measure must give numbers, got {type(value).__name__} for {name!r}; return a number "
                "or a dict {name: number}"
            )
    return {str(name): _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    """Convert a number to a Python int, float or bool, which JSON can store."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _sum(parts: Any) -> str:
    """Return a checksum of values that JSON can store."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _named(what: str, things: Any) -> dict[Any, Any]:
    """Return {name: thing} for a list or a dict; `what` names the argument in errors."""
    if not isinstance(things, Mapping):
        if isinstance(things, Examples) or getattr(things, "ndim", 0) > 1:  # one game, not a list of games
            name = type(things).__name__
            raise ValueError(
                f"{what} must be a list or a dict {{name: …}}, got one {name}; write {{'name': losses}}"
            )
        if isinstance(things, (str, bytes)) or not isinstance(things, Iterable):
            hint = "" if isinstance(things, (str, bytes)) else f"; write [{things!r}]"
            raise ValueError(f"{what} must be a list or a dict {{name: …}}, got {things!r}{hint}")
        things = list(things)
        functions = {id(thing): thing.__name__ for thing in things if inspect.isroutine(thing)}
        if len(set(functions.values())) < len(functions):
            raise ValueError(
                f"functions in {what} must have different names, got {list(functions.values())}; "
                "write a dict {name: function}"
            )
        first = {_name(thing): thing for thing in reversed(things)}
        for thing in things:
            if not _equal(thing, first[name := _name(thing)]):
                raise ValueError(
                    f"{what} must have different names, got two that are written {str(name)[:200]}; write a "
                    "dict {name: …}"
                )
        things = {_name(thing): thing for thing in things}
    if not things:
        raise ValueError(f"{what} must not be empty")
    return dict(things)


def _equal(a: Any, b: Any) -> bool:
    """Test whether two entries of a list are the same thing, written twice."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or bool(np.all(a == b))


def _name(thing: Any) -> Any:
    """Return the name of an entry of a list: a function's name, a number or text itself, else the `repr`."""
    return thing.__name__ if inspect.isroutine(thing) else thing if np.isscalar(thing) else repr(thing)


def _counts(what: str, values: Any, low: int) -> list[int]:
    """Check a list of integers ≥ low; `what` names the argument in errors."""
    if not isinstance(values, Iterable):
        hint = f"; for {values} seeds write range({values})" if what == "seeds" else f"; write [{values}]"
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
    """Return the cells of a sweep, all combinations of its arguments in the order of `COLUMNS`.

    The arguments are those of `sweep`. Use this to inspect or replay a single cell of a table.

    >>> from ocolib import adversaries, sets
    >>> from ocolib.learners import OGD
    >>> grid = cells([OGD(sets.Ball(1), 1.0)], {"example 2": adversaries.alternating(9)}, [3, 9], steps=[0.5])
    >>> [(cell.shown["step"], cell.shown["T"]) for cell in grid]
    [(0.5, 3), (0.5, 9)]
    """
    named = [_named(w, t) for w, t in (("learners", learners), ("steps", steps), ("games", games))]
    axes: list[Any] = [*named, _counts("horizons", horizons, 1), _counts("seeds", seeds, 0)]
    learner, eta, game = named
    return [Cell((a, b, c, *rest), learner[a], eta[b], game[c], measure) for a, b, c, *rest in product(*axes)]


# ---------------------------------------------------------------- play the cells


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
    """Play learners × steps × games × horizons × seeds and return a `Table` with one row per cell.

    Arguments:

    - `learners`, `games`, `steps`: {name: …} or a list, whose entries are named by their `repr`, functions by
      their name; equal entries count once.
    - A learner is an object such as `OGD(…)`, whose `eta` is replaced by each step, or a function of the step
      that returns one.
    - A game is an array or `Examples`, of which the first T rounds are played, or a function `game(T, rng)`
      that returns the losses or an adversary.
    - A step is a number, a function of T that returns one, or None, which leaves the learner unchanged.
    - `horizons` and `seeds` are lists of integers, T ≥ 1 and seed ≥ 0.
    - `measure(trace)` returns a number or {name: number}; the default is the regret.
    - `file` stores finished cells, which later calls do not play again.
    - `n_jobs` is the number of processes; `progress` switches the progress bar on or off (by default it
      appears on a terminal and in notebooks).
    - With `errors="raise"` a cell that fails raises `CellFailed`. With `errors="keep"` it becomes a row with
      its traceback, and the sweep continues. Failed cells are not stored, so the next call tries them again.

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
                    with warnings.catch_warnings():  # joblib warns about cells that are still running
                        warnings.simplefilter("ignore")
                        played.close()
                    cell = ", ".join(f"{name} {row[name]!r}" for name in COLUMNS)
                    raise CellFailed(f"the cell with {cell} failed:\n{row['error']}")
                if store is not None and not row["error"]:
                    store.add(key, row)
                rows[key] = row
                bar(row)
        if store is not None:
            _check_unchanged(missing, store)
    return Table(rows[key] | cell.shown for key, cell in zip(known, wanted, strict=True))


def _check_unchanged(played: Mapping[str, Cell], store: "Store") -> None:
    """Raise a `ValueError` if playing has changed a learner, game or measure; then none of its rows is kept.

    Such rows depend on what was played before them: a game may count its calls, for example.
    """
    keys.remember(uuid.uuid4().hex)
    changed = {key: cell for key, cell in played.items() if _key(cell) != key}
    keys.remember("")
    for key in changed:
        store.remove(key)
    if changed:
        cell = ", ".join(f"{name} {value!r}" for name, value in next(iter(changed.values())).shown.items())
        raise ValueError(
            f"the cell with {cell} uses something that changed while it was played, so its numbers depend on "
            "what was played before; create it inside the function, or sweep without file="
        )


def _played(
    missing: Mapping[str, Cell], n_jobs: int | None, call: str | None
) -> Generator[tuple[str, dict[str, Any]], None, None]:
    """Yield (key, row) for each cell when it is finished, played here or by the active joblib backend."""
    if not missing or _alone(n_jobs):
        return ((key, cell.row()) for key, cell in missing.items())
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    return parallel(delayed(_elsewhere)(call, key, cell) for key, cell in missing.items())


def _alone(n_jobs: int | None) -> bool:
    """Test whether this process plays all cells itself, without joblib."""
    if n_jobs is None and "joblib" in sys.modules:
        from joblib.parallel import get_active_backend

        backend, jobs = get_active_backend()
        return type(backend).__name__ in ("LokyBackend", "SequentialBackend") and jobs in (None, 1)
    return n_jobs in (None, 1)


def _elsewhere(call: str | None, key: str, cell: Cell) -> tuple[str, dict[str, Any]]:
    """Play a cell in a worker; return an error if the worker has loaded different code than the caller."""
    if call is not None:
        keys.remember(call)
        if _key(cell) != key:
            said = "this worker has loaded other code than the session that called sweep: a file may have "
            said += "been edited since, so restart both; or an array is a view with gaps, which the worker "
            said += "receives without them, so copy it with np.ascontiguousarray"
            return key, cell.shown | {"error": said}
    return key, cell.row()


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a progress bar, by default only on a terminal or in a notebook, and only if tqdm is installed."""
    failed = 0
    visible = (sys.stderr.isatty() or "ipykernel" in sys.modules) and find_spec("tqdm")
    if not total or not (visible if progress is None else progress):
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


# ---------------------------------------------------------------- store the rows

MARK = 0x0C01AB  #: the application id that marks an SQLite file as one of ours
LAYOUT = "CREATE TABLE cells (key TEXT PRIMARY KEY, row TEXT NOT NULL, sum TEXT NOT NULL)"


class Store:
    """Store finished cells in SQLite, each with a checksum; only the process that called `sweep` writes."""

    def __init__(self, connection: sqlite3.Connection, path: Any) -> None:
        self.connection, self.path = connection, path

    def rows(self, wanted: set[str]) -> dict[str, dict[str, Any]]:
        """Return {key: row} for the wanted cells in the file; a damaged row is reported and left out."""
        found = {}
        for key, text, checksum in self._ask("SELECT key, row, sum FROM cells"):
            if key in wanted and isinstance(text, str) and checksum == _sum([key, text]):
                found[key] = json.loads(text)
            elif key in wanted:
                said = f"sweep: {self.path}: a kept row is damaged (cell {key[:12]}…); it is played again"
                print(said, file=sys.stderr)
        return found

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Write one cell in its own transaction, so that it survives if the process is killed later."""
        text = json.dumps(row)
        self._ask("INSERT OR REPLACE INTO cells VALUES (?, ?, ?)", (key, text, _sum([key, text])))

    def remove(self, key: str) -> None:
        """Delete one cell."""
        self._ask("DELETE FROM cells WHERE key = ?", (key,))

    def _ask(self, text: str, values: tuple = ()) -> list[Any]:
        """Run an SQL statement; while another process writes, wait and print one message."""
        said = False
        while True:
            try:
                with self.connection:
                    return self.connection.execute(text, values).fetchall()
            except sqlite3.OperationalError as error:
                reason = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if reason not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise OSError(f"{self.path}: {error}; the cells finished before are kept") from error
                if not said:
                    print(f"sweep: {self.path} is in use by another program; waiting", file=sys.stderr)
                said = True
                time.sleep(0.2)
            except sqlite3.DatabaseError as error:
                raise ValueError(
                    f"{self.path} is damaged ({error}); move it away and call sweep again"
                ) from error


@contextmanager
def _opened(file: str | Path | None) -> Iterator[Store | None]:
    """Open the file or create it; raise a `ValueError` for a file that sweep did not create."""
    if file is None:
        yield None
        return
    new = not Path(file).exists() or Path(file).stat().st_size == 0
    try:
        connection = sqlite3.connect(file, timeout=0.5)
    except sqlite3.OperationalError as error:
        raise OSError(f"{file}: {error}") from error
    with closing(connection):
        connection.text_factory = lambda text: text.decode(errors="replace")  # the checksum detects bad bytes
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
            raise ValueError(
                f"file must be one that this version of sweep made, or a new name; {file} is another file"
            )
        store._ask("PRAGMA journal_mode = WAL")
        store._ask("PRAGMA synchronous = NORMAL")
        yield store
