"""Measure time and memory of what a user calls, such as `fast.play(...)`, against other libraries.

    python -m press bench            print the table; fail if a limit is exceeded twice in a row
    python -m press bench --record   also store it in book/speed.json, which the page shows

Each row of the table is a ratio of median processor times; the two calls alternate within one run, because a
shared machine disturbs ratios less than seconds. BLAS and OpenMP use one thread unless the environment says
otherwise. Libraries that are not installed are listed; scikit-learn and numba are required.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from ocolab import fast
from ocolab.comparators import best
from ocolib import game
from ocolib.learners import OGD, Hedge, Pegasos, Perceptron
from ocolib.losses import hinge, perceptron_loss
from ocolib.sets import Ball, Box, Simplex
from press import ROOT

RECORD = ROOT / "book" / "speed.json"
PEERS = "scikit-learn", "POT", "river", "optax", "vowpalwabbit"
REG = 1e-3
AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"


@dataclass
class Line:
    """A row of the table: a call, the call it is compared with, and the largest ratio allowed, if limited."""

    work: str
    unit: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    bar: float | None = None
    repeats: int = 15
    clock: Callable[[], int] = time.process_time_ns


def ratio(line: Line) -> float:
    """Return the median time of `ours` over that of `theirs`, alternating, without the first call of each."""
    times: tuple[list[int], list[int]] = [], []
    for _ in range(line.repeats + 1):
        for taken, call in zip(times, (line.ours, line.theirs), strict=True):
            start = line.clock()
            call()
            taken.append(line.clock() - start)
    return float(np.median(times[0][1:]) / np.median(times[1][1:]))


def of_children() -> int:
    """Return the processor time of all finished child processes, in ns."""
    spent = os.times()
    return int(1e9 * (spent.children_user + spent.children_system))


# ---------------------------------------------------------------- data


def data(T: int, n: int, noise: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """Return examples separated by a hyperplane through 0, with a fraction of the labels flipped."""
    rng = np.random.default_rng(0)
    X, u = rng.standard_normal((T, n)), rng.standard_normal(n)
    y = np.where(X @ u > 0, 1.0, -1.0) * np.where(rng.random(T) < noise, -1.0, 1.0)
    return X, y


def there(*names: str) -> bool:
    """Return whether these modules are installed."""
    return all(importlib.util.find_spec(name) is not None for name in names)


# ---------------------------------------------------------------- the lines


def classifiers() -> list[Line]:
    """Compare classifiers as a user calls them: losses made from arrays, and all plays kept.

    Each trace is dropped before the next call, which reuses its memory.
    """
    from sklearn.linear_model import Perceptron as Reference
    from sklearn.linear_model import SGDClassifier

    once = {"fit_intercept": False, "shuffle": False, "max_iter": 1, "tol": None}
    settings = "(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(X, y)"
    lines = []
    for T, n in ((50_000, 20), (20_000, 200)):
        X, y = data(T, n)
        lines += [
            Line(
                f"Perceptron, T = {T:,}, n = {n}, all plays",
                f"sklearn Perceptron{settings}",
                lambda X=X, y=y, n=n: fast.play(Perceptron(n), perceptron_loss(X, y)),
                lambda X=X, y=y: Reference(**once).fit(X, y),
                1.0,
            ),
            Line(
                f"Pegasos, T = {T:,}, n = {n}, all plays",
                f"sklearn SGDClassifier(alpha=reg, …){settings}",
                lambda X=X, y=y, n=n: fast.play(Pegasos(n, REG), hinge(X, y).regularized(REG)),
                lambda X=X, y=y: SGDClassifier(alpha=REG, **once).fit(X, y),
                1.0,
            ),
            Line(
                f"Perceptron, T = {T:,}, n = {n}, streamed",
                f"sklearn Perceptron{settings}",
                lambda X=X, y=y, n=n: fast.stream(Perceptron(n), [perceptron_loss(X, y)]),
                lambda X=X, y=y: Reference(**once).fit(X, y),
            ),
        ]
    return lines


def linear() -> list[Line]:
    """Compare descent on linear losses with copying the losses."""
    rng = np.random.default_rng(0)
    T, n = 100_000, 20
    Z = rng.standard_normal((T, n))
    copy, box = Z.copy, Box(-np.ones(n), np.ones(n))
    return [
        Line(
            "eager descent on a ball", "Z.copy()", lambda: fast.play(OGD(Ball(n), 0.1, "eager"), Z), copy, 5.0
        ),
        Line("eager descent on a box", "Z.copy()", lambda: fast.play(OGD(box, 0.1, "eager"), Z), copy, 5.0),
        Line(
            "eager descent on the simplex",
            "Z.copy()",
            lambda: fast.play(OGD(Simplex(n), 0.1, "eager"), Z),
            copy,
        ),
        Line("lazy descent on a ball", "Z.copy()", lambda: fast.play(OGD(Ball(n), 0.1), Z), copy, 6.0),
        Line(
            "lazy descent on a ball, NumPy alone",
            "Z.copy()",
            lambda: game.play(OGD(Ball(n), 0.1), Z),
            copy,
        ),
    ]


def hedge() -> list[Line]:
    """Compare Hedge with one exponential per loss; limits hold for a NumPy that does not use AVX-512."""
    Z = np.random.default_rng(0).random((100_000, 100))
    unit, bars = ("np.exp(Z), by AVX-512", (None, None)) if vectorised() else ("np.exp(Z)", (1.5, None))
    ways = zip(("", ", NumPy alone"), (fast.play, game.play), bars, strict=True)
    return [
        Line(
            f"Hedge, T = 100,000, N = 100{name}",
            unit,
            lambda play=play: play(Hedge(100, 0.1), Z),
            lambda: np.exp(Z),
            bar,
        )
        for name, play, bar in ways
    ]


def vectorised() -> bool:
    """Return whether np.exp uses AVX-512 here."""
    found = np.lib.introspect.opt_func_info("^exp$", "float64").get("exp", {})
    return any(kind["current"].startswith(("AVX512", "X86_V4")) for kind in found.values())


def projections() -> list[Line]:
    """Compare the simplex projection with that of POT."""
    from ot.utils import proj_simplex

    lines, rng = [], np.random.default_rng(0)
    for k in range(1, 7):
        y, over = rng.standard_normal(10**k), Simplex(10**k)
        many = max(1, 2000 // 10**k)
        lines.append(
            Line(
                f"simplex projection, n = {10**k:,}",
                "ot.utils.proj_simplex(y)",
                lambda y=y, over=over, many=many: [over.project(y) for _ in range(many)],
                lambda y=y, many=many: [proj_simplex(y) for _ in range(many)],
                repeats=15 if k < 5 else 5,
            )
        )
    Y, over = rng.standard_normal((1000, 100)), Simplex(100)
    lines.append(
        Line(
            "simplex projection, 1,000 rows of 100",
            "ot.utils.proj_simplex(Y.T).T",
            lambda: over.project(Y),
            lambda: proj_simplex(Y.T).T,
        )
    )
    return lines


def comparators() -> list[Line]:
    """Compare the best point in hindsight with scikit-learn's LinearSVC."""
    from sklearn.svm import LinearSVC

    X, y = data(10_000, 20)
    return [
        Line(
            "best hinge comparator on a ball, T = 10,000, n = 20, gap 1e-8",
            'LinearSVC(loss="hinge", C=1, fit_intercept=False, tol=1e-5, max_iter=100000).fit(X, y)',
            lambda: best(hinge(X, y), Ball(20)),
            lambda: LinearSVC(loss="hinge", C=1, fit_intercept=False, tol=1e-5, max_iter=100000).fit(X, y),
            1.0,
            5,
        )
    ]


def others() -> list[Line]:
    """Measure libraries that learn one round at a time, in units of our own game."""
    lines = []
    X, y = data(20_000, 20)
    Z = np.random.default_rng(0).standard_normal((20_000, 20))
    if there("river"):
        from river import linear_model

        small, labels = [dict(enumerate(row)) for row in X[:1000].tolist()], y[:1000] > 0

        def perceptron() -> None:
            model = linear_model.Perceptron()
            for row, label in zip(small, labels, strict=True):
                model.learn_one(row, label)

        lines.append(
            Line(
                "river.linear_model.Perceptron().learn_one, 1,000 rounds",
                "a twentieth of fast.play(Perceptron(20), losses), 20,000 rounds",
                lambda: [perceptron() for _ in range(20)],
                lambda: fast.play(Perceptron(20), perceptron_loss(X, y)),
                repeats=3,
            )
        )
    if there("optax", "jax"):
        import jax
        import jax.numpy as jnp
        import optax

        jax.config.update("jax_enable_x64", True)
        sgd = optax.sgd(0.1)

        def one(carry: Any, z: Any) -> Any:
            w, state = carry
            updates, state = sgd.update(z, state, w)
            moved = optax.projections.projection_l2_ball(optax.apply_updates(w, updates), 1.0)
            return (moved, state), (w, w @ z)

        game = jax.jit(lambda Z: jax.lax.scan(one, (jnp.zeros(20), sgd.init(jnp.zeros(20))), Z))
        jax.block_until_ready(game(Z))
        lines.append(
            Line(
                "optax.sgd and projection_l2_ball in jax.lax.scan, compiled",
                'fast.play(OGD(Ball(20), 0.1, "eager"), Z)',
                lambda: jax.block_until_ready(game(Z)),
                lambda: fast.play(OGD(Ball(20), 0.1, "eager"), Z),
            )
        )
    if there("vowpalwabbit"):
        from vowpalwabbit import pyvw

        text = [
            f"{int(label)} | " + " ".join(f"f{i}:{v:.6f}" for i, v in enumerate(row))
            for row, label in zip(X[:5000], y, strict=False)
        ]

        def vowpal() -> None:
            model = pyvw.Workspace("--loss_function hinge --noconstant --sgd --quiet")
            for line in text:
                model.learn(line)
            model.finish()

        lines.append(
            Line(
                "VowpalWabbit --sgd --loss_function hinge, learn(line), 5,000 rounds",
                'fast.play(OGD(Ball(20), 0.1, "eager"), hinge(X, y)), 20,000 rounds, a quarter',
                lambda: [vowpal() for _ in range(4)],
                lambda: fast.play(OGD(Ball(20), 0.1, "eager"), hinge(X, y)),
                repeats=3,
            )
        )
    return lines


def loops() -> list[Line]:
    """Compare the readable loop, including its checks, with the same formula in bare NumPy."""
    X, y = data(2000, 20)
    Z = np.random.default_rng(0).standard_normal((2000, 20))

    def perceptron() -> Any:
        w, points = np.zeros(20), np.empty_like(X)
        for t, x in enumerate(X):
            points[t] = w
            if y[t] * (w @ x) <= 0:
                w = w + y[t] * x
        return points

    def eager() -> Any:
        w, points, paid = np.zeros(20), np.empty_like(Z), np.empty(len(Z))
        for t, z in enumerate(Z):
            points[t], paid[t] = w, w @ z
            w = w - 0.1 * z
            w = w / max(1.0, np.sqrt(w @ w))
        return points, paid

    return [
        Line(
            "the loop of the Perceptron, T = 2,000",
            "the same in bare NumPy",
            lambda: game.play(Perceptron(20), perceptron_loss(X, y)),
            perceptron,
        ),
        Line(
            "the loop of eager descent on a ball, T = 2,000",
            "the same in bare NumPy",
            lambda: game.play(OGD(Ball(20), 0.1, "eager"), Z),
            eager,
        ),
    ]


def floors() -> list[Line]:
    """Compare with reading the data once, the speed of memory."""
    X, y = data(50_000, 20)
    return [
        Line(
            "Perceptron, T = 50,000, n = 20, all plays",
            "X.sum(), the data read once",
            lambda: fast.play(Perceptron(20), perceptron_loss(X, y)),
            X.sum,
        )
    ]


def processes() -> list[Line]:
    """Measure what a reader waits for: an import, and building the book when nothing has changed."""
    said = [0]  # ns, as reported by the processes

    def imported(package: str) -> Callable[[], None]:
        code = f"import time; a = time.process_time_ns(); import {package}; print(time.process_time_ns() - a)"

        def call() -> None:
            said[0] += int(subprocess.check_output([sys.executable, "-c", code]))

        return call

    def again() -> None:
        subprocess.run(["make", "book"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    def second() -> None:
        code = "import time\nwhile time.process_time() < 1: pass"
        subprocess.run([sys.executable, "-c", code], check=True)

    return [
        Line("import ocolib", "import numpy", imported("ocolib"), imported("numpy"), 0.1, 9, lambda: said[0]),
        Line("make book, nothing changed", "a second of the processor", again, second, 5.0, 3, of_children),
    ]


def growth() -> dict[str, float]:
    """Return the exponent p in time ~ size^p between two sizes, for long games."""

    def seconds(T: int, n: int) -> float:
        Z = np.random.default_rng(0).standard_normal((T, n))
        times = []
        for _ in range(7):
            start = time.process_time_ns()
            fast.stream(OGD(Ball(n), 0.1, "eager"), [Z])
            times.append(time.process_time_ns() - start)
        return min(times)

    return {
        "T, from 50,000 to 400,000 at n = 20": float(
            np.log(seconds(400_000, 20) / seconds(50_000, 20)) / np.log(8)
        ),
        "n, from 20 to 320 at T = 20,000": float(
            np.log(seconds(20_000, 320) / seconds(20_000, 20)) / np.log(16)
        ),
    }


# ---------------------------------------------------------------- the whole


def measure(makers: list[Callable[[], list[Line]]]) -> tuple[list[dict[str, Any]], int]:
    """Print and return the table, with the number of limits exceeded."""
    table, missed = [], 0
    for line in (line for make in makers for line in make()):
        value = ratio(line)
        if line.bar is not None and value > line.bar:
            value = min(value, ratio(line))  # measure again: only a second miss counts
        failed = line.bar is not None and value > line.bar
        missed += failed
        bar = "" if line.bar is None else f"≤ {line.bar:g}"
        print(
            f"{'MISSED' if failed else '':7}{value:9.2f}  {bar:7} {line.work}  [{line.unit} = 1]", flush=True
        )
        table.append({"work": line.work, "unit": line.unit, "ratio": round(value, 3), "bar": line.bar})
    return table, missed


def main(arguments: list[str]) -> int:
    """Parse the command line, measure, and optionally store the table; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true", help="store the table in book/speed.json")
    parser.add_argument("--hedge", metavar="FILE", help="measure only Hedge and write the table to FILE")
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # LinearSVC warns that it does not converge at this tolerance
    if args.hedge:
        table, missed = measure([hedge])
        Path(args.hedge).write_text(json.dumps(table), "utf8")
        return int(missed > 0)
    missing = [peer for peer in PEERS if not _version(peer)]
    makers = [classifiers, linear, hedge, *([] if "POT" in missing else [projections]), comparators]
    makers += [loops, floors, others, processes]
    table, missed = measure(makers)
    if vectorised():  # the limits are for np.exp without AVX-512: measure that in another process
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "hedge.json"
            plain = os.environ | {"NPY_DISABLE_CPU_FEATURES": AVX512}
            command = [sys.executable, "-m", "press", "bench", "--hedge", str(file)]
            done = subprocess.run(command, env=plain, check=False)
            table += json.loads(file.read_text("utf8"))
            missed += done.returncode
    exponents = {name: round(p, 2) for name, p in growth().items()}
    for name, p in exponents.items():
        print(f"time grows like the power {p:.2f} of {name}")
    for peer in missing:
        print(f"not measured, because it is not installed: {peer}")
    if args.record:
        versions = {name: _version(name) for name in ("numpy", "numba", *PEERS)}
        machine = {"processor": _processor(), "python": platform.python_version(), "versions": versions}
        result = {"machine": machine, "table": table, "growth": exponents, "missing": missing}
        RECORD.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf8")
    return int(missed > 0)


def _version(name: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    """Return the name of the processor."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()
