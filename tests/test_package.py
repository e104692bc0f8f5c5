"""What the package promises as a whole: small, quick, layered, NumPy alone, and polite to bad input."""

import ast
import dataclasses
import importlib
import inspect
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import numpy as np
import pytest
from strategies import examples

import ocolab
import ocolib
from ocolib import (
    adversaries,
    bounds,
    game,
    learners,
    losses,
    oracle,
    phi,
    proofs,
    protocols,
    regularizers,
    sets,
)
from ocolib.game import play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    DelayedOGD,
    Hedge,
    KernelPerceptron,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
    inverse,
    inverse_sqrt,
)
from ocolib.losses import Example, HingeLoss, Linear, PerceptronLoss, Quadratic, hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space

HOME = Path(ocolib.__file__).parent
#: data flows down this list: a room imports only from itself and from rooms above it
ROOMS = (
    ["protocols", "descriptions"],
    ["validate", "data", "blocks"],
    ["sets", "phi"],
    ["losses", "regularizers", "compiled"],
    ["learners", "adversaries", "comparators"],
    ["engine", "traces"],
    ["game", "streams"],
    ["bounds"],
    ["proofs"],
    ["exercises"],
    ["oracle"],
    ["limits"],
    ["certificates"],
    ["exact"],
    ["plots"],
    ["sweep"],
)
#: the code of these is beside `ocolib`; there it has a name, which takes all from the laboratory
LAB = "certificates", "exact", "streams", "sweep"
NAMES = [room for row in ROOMS for room in row]
#: the six rooms that a game is made of, and φ, which `losses` hands on
CORE = "sets", "phi", "losses", "regularizers", "learners", "adversaries", "game"
NUMPY_ALONE = "protocols", "descriptions", "validate", "data", *CORE, "bounds", "proofs", "exercises"
NUMPY_ALONE += "certificates", "exact", "blocks", "engine", "traces", "comparators"
HEAVY = {
    "cvxpy",
    "matplotlib",
    "matplotlib_inline",
    "numba",
    "joblib",
    "dask",
    "distributed",
    "tqdm",
    "pyarrow",
    "scipy",
    "sklearn",
    "pandas",
    "hypothesis",
}
ALLOWED = {
    "compiled": {"numba"},
    "oracle": {"cvxpy"},
    "limits": {"cvxpy"},
    "plots": {"matplotlib", "matplotlib_inline"},
    "streams": {"tqdm"},
    "sweep": {"joblib", "tqdm", "pandas", "pyarrow"},  # imported where they are used
}
ZEROS = np.zeros((2, 2))


def files(room):
    """The modules of a room: one file, or a folder of them."""
    home = HOME.with_name("ocolab") if room in LAB else HOME
    return sorted((home / room).glob("**/*.py")) or [home / f"{room}.py"]


def module(room):
    """The name by which a room is imported."""
    return f"ocolab.{room}" if room in LAB else f"ocolib.{room}"


def run(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=HOME.parent, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---------------------------------------------------------------- small, quick, layered


def lines_of_code(path):
    """How many lines hold code: blanks, comments, docstrings and lines with nothing but a closing bracket do
    not count; a statement over three lines counts as three.
    """
    source = path.read_text("utf8")
    docs = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            docs.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    layout = tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT
    held = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (*layout, tokenize.ENDMARKER) and token.string not in set(")]},"):
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docs)


def test_lines_of_code_are_counted_as_said(tmp_path):
    source = [
        '"""Doc."""',
        "",
        "x = f(  # why",
        "    1,",
        ")",
        "def f(y):",
        '    """Doc,',
        '    long."""',
        "    return y",
    ]
    (tmp_path / "m.py").write_text("\n".join(source), "utf8")
    assert lines_of_code(tmp_path / "m.py") == 4


def test_every_module_and_the_whole_are_within_their_budget():
    """400 lines of code a module, 1,300 the core, 4,000 all of `ocolib`, 600 the laboratory: what grows
    beyond is split, or goes.
    """
    sizes = {path: lines_of_code(path) for path in HOME.glob("**/*.py")}
    lab = {path: lines_of_code(path) for path in HOME.with_name("ocolab").glob("*.py")}
    assert {path.name: n for path, n in (sizes | lab).items() if n > 400} == {}
    assert 500 < sum(lab.values()) <= 650
    core = {room: sum(sizes[path] for path in files(room)) for room in CORE}
    assert all(n > 20 for n in core.values()) and sum(core.values()) <= 1300, core
    assert sum(sizes.values()) <= 4000


def test_the_package_names_all_its_rooms():
    found = {path.relative_to(HOME).parts[0].removesuffix(".py") for path in HOME.glob("**/*.py")}
    assert found - {"__init__"} == set(NAMES)
    assert {path.stem for path in HOME.with_name("ocolab").glob("*.py")} - {"__init__"} == set(LAB)
    assert [room for room in NAMES if f"`{room}`" not in ocolib.__doc__] == []


@pytest.mark.parametrize("room", LAB)
def test_the_laboratory_is_known_by_the_names_of_the_package(room):
    known, made = (importlib.import_module(f"{home}.{room}") for home in ("ocolib", "ocolab"))
    _, only = ast.parse(Path(known.__file__).read_text("utf8")).body
    assert ast.unparse(only) == f"from ocolab.{room} import *"
    names = {name.split(".")[1] for name, _ in public(room)}
    assert names and all(getattr(known, name) is getattr(made, name) for name in names)
    assert f"`{room}`" in ocolab.__doc__


def imports(room):
    """What the modules of a room import, but not for the type checker alone."""
    for path in files(room):
        tree = ast.parse(path.read_text("utf8"))
        hints = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ]
        unseen = {child for node in hints for child in ast.walk(node)}
        for node in set(ast.walk(tree)) - unseen:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module in ("ocolib", "ocolab"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module


@pytest.mark.parametrize("room", NAMES)
def test_a_room_imports_only_from_rooms_above_it(room):
    level = next(i for i, row in enumerate(ROOMS) if room in row)
    above = {r for row in ROOMS[:level] for r in row} | {room}
    for name in imports(room):
        top, _, rest = name.partition(".")
        if top in ("ocolib", "ocolab"):
            assert rest.partition(".")[0] in above, f"{room} imports {name}"
        elif top in HEAVY:
            assert top in ALLOWED.get(room, set()), f"{room} imports {name}"
        else:
            assert top == "numpy" or top in sys.stdlib_module_names, f"{room} imports {name}"


def test_import_ocolib_brings_nothing_heavy():
    """Not even NumPy: how long it takes is measured by `make bench`."""
    assert run(f"import ocolib, sys; print(({HEAVY!r} | {{'numpy'}}) & set(sys.modules))").strip() == "set()"


def test_the_core_runs_on_numpy_alone():
    """With everything else blocked: import each room, play a game, evaluate a proof, check an exercise."""
    code = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
import importlib
for room in {NUMPY_ALONE!r}:
    importlib.import_module("ocolib." + room)
from ocolib import adversaries, bounds, exercises, game, learners, proofs, regularizers, sets
ball, R = sets.Ball(2), regularizers.SquaredNorm()
trace = game.play(learners.FTRL(ball, R, 0.5), adversaries.random_directions(5, 2, 0))
assert proofs.ftrl_stability(trace, [1, 0]).holds()
assert trace.regret(ball) <= bounds.descent_sharp(1.0, 1.0, 5) * 3
exercises.check_projection(ball.project, ball)
try:
    import cvxpy
except ModuleNotFoundError:
    print("blocked")
"""
    assert run(code) == "✓ nearest point of the set on all 62 inputs\nblocked\n"


def test_the_version_is_the_one_of_the_distribution():
    from importlib.metadata import version

    assert ocolib.__version__ == version("ocolib")


# ---------------------------------------------------------------- bad input

TRACE = play(OGD(Ball(2), 0.5), np.ones((3, 2)))
EAGER = play(OGD(Ball(2), 0.5, "eager"), np.ones((3, 2)))
DATA = play(Perceptron(2), perceptron_loss(np.eye(2), [1, -1]))

#: (what is called, words that the message must contain: the argument, the range, what came)
IN_THE_PLANE = (
    Ball(2),
    Box([0, 0], [1, 1]),
    Simplex(2),
    L1Ball(2),
    Halfspace([1, 0], 0),
    Orthant(2),
    Space(2),
)
BAD = [
    # sets
    (lambda: Ball(0), "dim integer ≥ 1 got 0"),
    (lambda: Ball(2.0), "dim integer ≥ 1 got 2.0"),
    (lambda: Ball(-3), "dim integer ≥ 1 got -3"),
    (lambda: Ball(True), "dim integer ≥ 1 got True"),
    (lambda: Ball("2"), "dim integer ≥ 1 got '2'"),
    (lambda: Simplex(0), "dim integer ≥ 1 got 0"),
    (lambda: Orthant(0), "dim integer ≥ 1 got 0"),
    (lambda: Space(None), "dim integer ≥ 1 got None"),
    (lambda: L1Ball(0), "dim integer ≥ 1 got 0"),
    (lambda: Ball(2, 0), "radius [1e-150, 1e+150] got 0"),
    (lambda: Ball(2, -1.5), "radius [1e-150, 1e+150] got -1.5"),
    (lambda: Ball(2, np.nan), "radius finite got nan"),
    (lambda: Ball(2, np.inf), "radius finite got inf"),
    (lambda: Ball(2, "1"), "radius number got '1'"),
    (lambda: Ball(2, [1, 2]), "radius number got [1, 2]"),
    (lambda: L1Ball(2, 0), "radius [1e-150, 1e+150] got 0"),
    (lambda: Ball(2, 1, [0, 0, 0]), "center 2 entries got shape (3,)"),
    (lambda: Ball(2, 1, [0, np.nan]), "center finite got nan"),
    (lambda: Ball(2, 1, 0.0), "center 1 axes got shape ()"),
    (lambda: Box([1], [0]), "low ≤ high low[0] = 1 high[0] = 0"),
    (lambda: Box([0, 5], [1, 4]), "low ≤ high low[1] = 5 high[1] = 4"),
    (lambda: Box([0], [1, 2]), "low and high one shape (1,) (2,)"),
    (lambda: Box([], []), "low empty got shape (0,)"),
    (lambda: Box([0], [np.inf]), "high finite got inf"),
    (lambda: Box(0, 1), "low 1 axes got shape ()"),
    (lambda: Halfspace([0, 0], 1), "normal zero"),
    (lambda: Halfspace([1, 0], np.nan), "offset finite got nan"),
    (lambda: Halfspace([[1, 0]], 1), "normal 1 axes got shape (1, 2)"),
    (lambda: Halfspace([], 1), "normal empty"),
    *[
        (lambda s=s, m=m, n=n: getattr(s, m)([1.0, 2.0, 3.0]), f"{n} 2 entries got shape (3,)")
        for s in IN_THE_PLANE
        for m, n in (("project", "y"), ("minimize_linear", "c"), ("contains", "x"))
    ],
    *[
        (lambda s=s, m=m, b=b: getattr(s, m)([0.0, b]), f"{n} finite got {b}")
        for s in IN_THE_PLANE
        for m, n in (("project", "y"), ("minimize_linear", "c"))
        for b in (np.nan, np.inf, -np.inf)
    ],
    (lambda: Ball(2).project([]), "y empty got shape (0,)"),
    (lambda: Ball(1).project(3.0), "y at least one axis got shape ()"),
    (lambda: Ball(2).project(["a", "b"]), "y array of numbers got ['a', 'b']"),
    (lambda: Ball(2).project([[1, 2], [3]]), "y array of numbers"),
    (lambda: Ball(2).farthest([1]), "point 2 entries got shape (1,)"),
    # losses
    (lambda: Linear([np.nan]), "z finite got nan"),
    (lambda: Linear([]), "z empty"),
    (lambda: Linear(3.0), "z at least one axis"),
    (lambda: Quadratic([0.0], 0.0), "curvature [1e-150, 1e+150] got 0.0"),
    (lambda: Quadratic([np.inf]), "center finite got inf"),
    (lambda: perceptron_loss(np.eye(2), [1, 0]), "y −1 or +1 got 0"),
    (lambda: perceptron_loss(np.eye(2), [1, 2]), "y −1 or +1 got 2"),
    (lambda: perceptron_loss(np.eye(2), [1]), "y 2 entries got 1"),
    (lambda: perceptron_loss([1.0, 2.0], [1, 1]), "X 2 axes got shape (2,)"),
    (lambda: perceptron_loss(np.empty((0, 2)), []), "X empty got shape (0, 2)"),
    (lambda: perceptron_loss([[np.nan]], [1]), "X finite got nan"),
    (lambda: perceptron_loss([[1.0]], [1], threshold=np.inf), "threshold finite got inf"),
    (lambda: perceptron_loss([[1.0]], [1], kink=1.5), "kink [0, 1] got 1.5"),
    (lambda: hinge([[1.0]], [1], kink=-0.1), "kink [0, 1] got -0.1"),
    (lambda: hinge([[1.0]], [np.nan]), "y finite got nan"),
    (lambda: PerceptronLoss(kink=np.nan), "kink [0, 1] got nan"),
    (lambda: Example([1.0], 0, HingeLoss()), "y −1 or +1 got 0"),
    (lambda: Example([np.nan], 1, HingeLoss()), "x finite got nan"),
    # regularisers
    (lambda: SquaredNorm([np.nan]), "center finite got nan"),
    (lambda: SquaredNorm([1.0]).minimize([0, 0], 1.0, Ball(2)), "center 2 entries got 1"),
    (lambda: SquaredNorm().minimize([0, 0], 0.0, Ball(2)), "eta finite > 0 got 0.0"),
    (lambda: SquaredNorm().minimize([0, 0], np.nan, Ball(2)), "eta finite > 0 got nan"),
    (lambda: SquaredNorm().minimize([0, 0], "big", Ball(2)), "eta finite > 0 got big"),
    (lambda: SquaredNorm().minimize([0, 0, 0], 1.0, Ball(2)), "c 2 entries got shape (3,)"),
    (lambda: NegativeEntropy().minimize([0, np.inf], 1.0, Simplex(2)), "c finite got inf"),
    (
        lambda: NegativeEntropy().minimize([0, 0], 1.0, Ball(2)),
        "no closed form NegativeEntropy() Ball(dim=2 Simplex oracle.minimize",
    ),
    (lambda: UnnormalizedEntropy().minimize([0, 0], 1.0, Simplex(2)), "no closed form Orthant"),
    (lambda: UnnormalizedEntropy().minimize([-1e3], 1.0, Orthant(1)), "−eta·c at most 345 got 1000"),
    # learners
    (lambda: FTRL(Ball(2), NegativeEntropy(), 1.0), "no closed form NegativeEntropy Ball"),
    (lambda: FTRL(Ball(2), SquaredNorm(), 0), "eta finite > 0 got 0"),
    (lambda: FTRL(Ball(2), SquaredNorm([1.0]), 1.0), "center 2 entries got 1"),
    (lambda: FTRL(Ball(2), SquaredNorm(), [1.0, -1.0]), "eta finite > 0 got [1.0, -1.0]"),
    (lambda: FTRL(Ball(2), SquaredNorm(), None), "eta finite > 0 got None"),
    (lambda: OGD(Ball(2), -1.0), "eta finite > 0 got -1.0"),
    (lambda: OGD(Ball(2), np.inf), "eta finite > 0 got inf"),
    (lambda: OGD(Ball(2), lambda t: 2.0 - t).points(ZEROS), "eta(2) finite > 0 got 0.0"),
    (lambda: play(OGD(Ball(2), lambda t: 2.0 - t), list(ZEROS)), "eta(2) finite > 0 got 0.0"),
    (lambda: OGD(Ball(2), 1.0, "sideways"), "projection 'lazy' 'eager' got 'sideways'"),
    (lambda: OGD(Ball(2), 1.0, start=[2, 0]), "start lie in Ball got [2. 0.]"),
    (lambda: OGD(Simplex(2), 1.0, start=[0, 0]), "start lie in Simplex"),
    (lambda: OGD(Ball(2), 1.0, start=[0]), "start 2 entries got shape (1,)"),
    (lambda: OGD(Ball(2), 1.0, start=[0, np.nan]), "start finite got nan"),
    (lambda: Hedge(0, 1.0), "dim integer ≥ 1 got 0"),
    (lambda: Hedge(2, 0.0), "eta finite > 0 got 0.0"),
    (lambda: Perceptron(0), "dim integer ≥ 1 got 0"),
    (lambda: Perceptron(2, kink=2), "kink [0, 1] got 2"),
    (lambda: Winnow(2, 0.0), "threshold (0, inf) got 0.0"),
    (lambda: Winnow(2, 1.0, factor=1.0), "factor (1, inf) got 1.0"),
    (lambda: Winnow(0, 1.0), "dim integer ≥ 1 got 0"),
    (lambda: NormalizedWinnow(2, -1.0), "eta [1e-150, 1e+150] got -1.0"),
    (lambda: NormalizedWinnow(0, 1.0), "dim integer ≥ 1 got 0"),
    (lambda: inverse_sqrt(0), "scale [1e-150, 1e+150] got 0"),
    (lambda: FTL(Space(2)).points(np.ones((2, 2))), "unbounded below Space"),
    (lambda: FTL(Ball(2)).points(np.ones((2, 3))), "Z 2 entries got shape (2, 3)"),
    (lambda: OGD(Ball(2), 1.0, "eager").points(np.full((2, 2), np.nan)), "Z finite got nan"),
    (lambda: OGD(Ball(2), 1.0).points(np.ones(2)), "Z shape (..., T, n) got (2,)"),
    (lambda: OGD(Ball(2), 1.0, "eager").points(np.ones(2)), "Z shape (..., T, n) got (2,)"),
    # the game
    (lambda: play(OGD(Ball(2), 1.0), np.ones(2)), "losses shape (..., T, n) got (2,)"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 4))), "2 entries got shape (3, 4)"),
    (lambda: play(OGD(Ball(2), 1.0), np.empty((0, 2))), "losses empty"),
    (lambda: play(OGD(Ball(2), 1.0), []), "losses empty"),
    (lambda: play(OGD(Ball(2), 1.0), [[1, np.nan]]), "z finite got nan"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 2)), rounds=0), "rounds integer ≥ 1 got 0"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 2)), rounds=4), "rounds ≤ 3 got 4"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 2)), rounds=1.5), "rounds integer ≥ 1 got 1.5"),
    (lambda: play(OGD(Ball(2), 1.0), lambda t, w, past: w), "rounds must be given"),
    (
        lambda: play(OGD(Ball(2), 1.0), lambda t, w, past: [1, 2, 3], 1),
        "adversary's z 2 entries got shape (3,)",
    ),
    (lambda: play(OGD(Ball(2), 1.0), lambda t, w, past: [1, np.inf], 1), "adversary's z finite got inf"),
    (lambda: play(Perceptron(3), perceptron_loss(np.eye(2), [1, 1])), "losses dimension learner 3 got 2"),
    (lambda: play(OGD(Ball(3), 1.0), [Quadratic([1.0, 2.0])]), "losses dimension learner 3 got 2"),
    (lambda: play(Linearized(FTL(Ball(3))), hinge(np.eye(2), [1, 1])), "losses dimension learner 3 got 2"),
    (lambda: TRACE.regret(), "either over against"),
    (lambda: TRACE.regret(Ball(2), [0, 0]), "either over against"),
    (lambda: TRACE.regret_curve(), "either over against"),
    (lambda: TRACE.regret_curve(Ball(2), [0, 0]), "either over against"),
    (lambda: TRACE.regret(Ball(3)), "over dimension 2 Ball(dim=3"),
    (lambda: TRACE.regret_curve(Ball(3)), "over dimension 2 Ball(dim=3"),
    (lambda: TRACE.regret(against=[0, 0, 0]), "against 2 entries got shape (3,)"),
    (lambda: TRACE.regret(against=[0, np.nan]), "against finite got nan"),
    (lambda: TRACE.regret(Space(2)), "unbounded below Space"),
    (lambda: TRACE.dynamic_regret(np.ones((2, 2))), "comparators (3, 2) got (2, 2)"),
    (lambda: TRACE.dynamic_regret(np.full((3, 2), np.nan)), "comparators finite got nan"),
    (lambda: TRACE.margins, "margins data"),
    (lambda: DATA.regret(L1Ball(2)), "oracle.regret against"),
    # adversaries
    (lambda: adversaries.alternating(0), "T integer ≥ 1 got 0"),
    (lambda: adversaries.all_signs(21), "T ≤ 20 got 21"),
    (lambda: adversaries.random_directions(3, 0, 0), "dim integer ≥ 1 got 0"),
    (lambda: adversaries.random_directions(3, 2, 0, rho=0), "rho (0, inf) got 0"),
    (lambda: adversaries.orthogonal(-1), "rho (0, inf) got -1"),
    (lambda: play(OGD(Ball(1), 1.0), adversaries.orthogonal(), 1), "orthogonal dim ≥ 2"),
    (lambda: adversaries.separable(3, 1, 0.1, 0), "dim integer ≥ 2 got 1"),
    (lambda: adversaries.separable(3, 2, 1.1, 0), "margin [0, 1] got 1.1"),
    (lambda: adversaries.disjunction(3, 2, 3, 0), "relevant ≤ dim 2 got 3"),
    # bounds and proofs
    (lambda: bounds.example2(0), "T integer ≥ 1 got 0"),
    (lambda: bounds.example2(3, 0.0), "eta (0, inf) got 0.0"),
    (lambda: bounds.example2(3, np.nan), "eta (0, inf) got nan"),
    (lambda: bounds.descent(0, 1, 1), "diameter [1e-150, 1e+150] got 0"),
    (lambda: bounds.descent(np.inf, 1, 1), "diameter finite got inf"),
    (lambda: bounds.descent(1, np.nan, 1), "rho finite got nan"),
    (lambda: bounds.descent(1, 1, 0), "T integer ≥ 1 got 0"),
    (lambda: bounds.descent_step(1, 1, 2.5), "T integer ≥ 1 got 2.5"),
    (lambda: bounds.descent_sharp(-1, 1, 1), "radius [1e-150, 1e+150] got -1"),
    (lambda: bounds.descent_sharp_step(1, 0, 1), "rho [1e-150, 1e+150] got 0"),
    (lambda: bounds.perceptron(1, 0), "margin (0, inf) got 0"),
    (lambda: bounds.perceptron(0, 1), "radius (0, inf) got 0"),
    (lambda: bounds.winnow(4, 1, 0.5), "threshold [1, inf) got 0.5"),
    (lambda: bounds.winnow(4, 0, 2.0), "relevant integer ≥ 1 got 0"),
    (lambda: bounds.normalized_winnow(4, 0), "margin (0, inf) got 0"),
    (lambda: bounds.normalized_winnow(4, 1, -1), "size (0, inf) got -1"),
    (lambda: bounds.ftrl_stability(EAGER, [0, 0]), "trace one of FTRL got OGD"),
    (lambda: bounds.ftrl_stability(TRACE, [0]), "u 2 entries got shape (1,)"),
    (lambda: proofs.ftrl_stability(EAGER, [0, 0]), "trace one of FTRL got OGD"),
    (lambda: proofs.ftrl_stability(TRACE, [np.nan, 0]), "u finite got nan"),
    (lambda: proofs.descent(TRACE, [0, 0], 0, 1), "diameter [1e-150, 1e+150] got 0"),
    (lambda: proofs.descent(TRACE, [0], 1, 1), "u 2 entries got shape (1,)"),
    # the oracle
    (lambda: oracle.project([1], Ball(2)), "y 2 entries got shape (1,)"),
    (lambda: oracle.minimize(SquaredNorm(), [0, 0], 0, Ball(2)), "eta (0, inf) got 0"),
    (lambda: oracle.max_margin(np.eye(2), [1, 3]), "y −1 or +1 got 3"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[f"{i}: {words}" for i, (_, words) in enumerate(BAD)])
def test_bad_input_gets_a_value_error_that_names_it(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    # the words in this order, each whole: "got 0" is neither in "got 0.5" nor in "got 10"
    whole = (rf"(?<![\w.+−-]){re.escape(word)}(?!\w|\.\d)" for word in words.split(" "))
    assert re.search(".*?".join(whole), str(caught.value), re.DOTALL), f"{words!r} is not in {caught.value}"


# ---------------------------------------------------------------- names and types


def public(room):
    """The public functions and classes that a room defines, and the public methods of its classes."""
    home = module(room)
    for name, thing in vars(importlib.import_module(home)).items():
        if (
            name.startswith("_")
            or not callable(thing)
            or not getattr(thing, "__module__", "").startswith(home)
        ):
            continue
        yield f"{room}.{name}", thing
        for method, code in vars(thing).items() if isinstance(thing, type) else ():
            code = code.fget if isinstance(code, property) else getattr(code, "func", code)
            if not method.startswith("_") and inspect.isfunction(code):
                yield f"{room}.{name}.{method}", code


def explained(protocol):
    """Names that need no docstring of their own, because the protocol (or base class) has it."""
    return {name for name in dir(protocol) if getattr(getattr(protocol, name), "__doc__", None)}


@pytest.mark.parametrize("room", NAMES)
def test_every_public_name_has_a_docstring(room):
    assert importlib.import_module(module(room)).__doc__
    owed = {protocols.Set, protocols.Summable, protocols.StronglyConvex, phi.Scalar}
    elsewhere = {"dim", "nearest", "lipschitz", "smooth", "curvature"}.union(*map(explained, owed))
    assert [n for n, thing in public(room) if not thing.__doc__ and n.split(".")[-1] not in elsewhere] == []


@pytest.mark.parametrize("room", NAMES)
def test_every_public_name_has_its_types(room):
    for name, thing in public(room):
        if isinstance(thing, type):
            continue
        signature = inspect.signature(thing)  # of a checker: that of the function it wraps
        bare = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name != "self"]
        assert not bare and signature.return_annotation is not signature.empty, (name, bare)


def test_nobody_imports_a_private_name():
    for path in [*HOME.parent.glob("oco*/**/*.py"), *Path(__file__).parent.glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ocolib"):
                assert not [a.name for a in node.names if a.name.startswith("_")], path


def test_rooms_owe_each_other_what_the_protocols_say():
    ball, data = Ball(2), hinge(np.eye(2), [1, -1])
    for thing, owed in [
        (ball, protocols.Set),
        (Linear([1.0]), protocols.Summable),
        (data[0], protocols.Loss),
        (SquaredNorm(), protocols.StronglyConvex),
        (UnnormalizedEntropy(), protocols.Regularizer),
        (OGD(ball, 1.0), protocols.ClosedForm),
        (OGD(ball, 1.0).player(), protocols.GradientPlayer),
        (FTL(ball).player(), protocols.Player),
        (oracle.FTRL(ball, None), protocols.Learner),
        (Perceptron(2), protocols.Reader),
    ]:
        assert isinstance(thing, owed), (thing, owed)
    for thing, more in [
        (data[0], protocols.Summable),
        (UnnormalizedEntropy(), protocols.StronglyConvex),
        (FTL(ball).player(), protocols.GradientPlayer),
        (Perceptron(2), protocols.ClosedForm),
        (OGD(ball, 1.0), protocols.Reader),
        ([1.0], protocols.Loss),
    ]:
        assert not isinstance(thing, more), (thing, more)


# ---------------------------------------------------------------- descriptions


def a_loss_of_each_kind():
    X, signs, reals = np.array([[1.0, 1 / 3], [0.1, -2.0]]), [1, -1], [0.3, 2.0]
    yield from (Linear([1 / 3, 2.0]), Quadratic([1 / 3, 0.0], 0.1), hinge(X, signs)[0], hinge(X, signs))
    yield from (perceptron_loss(X, signs, 0.1, 0.3), hinge(X, signs, 0.3).regularized(0.1), losses.novelty(X))
    yield from (make(X, signs) for make in (losses.squared_hinge, losses.exponential, losses.logistic))
    yield from (make(X, reals) for make in (losses.least_squares, losses.absolute, losses.huber))
    yield from (
        losses.quantile(X, reals, 0.3),
        losses.eps_insensitive(X, reals, 0.1),
        losses.poisson(X, [0, 3]),
    )
    yield from losses.soft_margin(X, [0, 1], 1 - np.eye(2))
    yield from losses.softmax(X, [0, 1], 2)
    yield from losses.multivariate_regression(X, X, np.diag([1.0, 1 / 3]))


def a_learner_of_each_kind():
    ball, box, eta = Ball(2, 1 / 3, [0.1, 0.2]), Box([-1, -1], [1, 1 / 3]), inverse_sqrt(0.7)
    yield from (FTL(box), FTRL(ball, SquaredNorm([0.1, 1 / 7]), eta), Hedge(3, 1 / 3), OGD(box, [0.1, 1 / 3]))
    yield from (
        OGD(box, eta, "eager", start=[0.1, 1 / 3]),
        Linearized(FTL(ball)),
        learners.OnlineSVM(2, 0.3, eta),
    )
    yield from (learners.Pegasos(2, 0.1), DelayedOGD(ball, inverse(0.3), 2), DelayedOGD(ball, 0.3, [2, 0, 1]))
    yield from (
        Perceptron(2, 0.3),
        Winnow(2, 1 / 3),
        NormalizedWinnow(2, 1 / 3),
        KernelPerceptron(inverse(1.0)),
    )
    yield oracle.FTRL(ball, SquaredNorm(), 0.3)


DESCRIPTIONS = [
    *examples(3),
    sets.Hull([[0.0, 0.0], [1 / 3, 1.0]]),
    *(SquaredNorm(), SquaredNorm([0.1, 1 / 3]), NegativeEntropy(), UnnormalizedEntropy()),
    *a_loss_of_each_kind(),
    *a_learner_of_each_kind(),
]


@pytest.mark.parametrize("thing", DESCRIPTIONS, ids=lambda x: type(x).__name__)
def test_a_description_can_be_read_back_from_what_it_shows(thing):
    names = {"array": np.array}
    for room in (phi, losses, sets, regularizers, learners):
        names |= vars(room)
    if isinstance(thing, oracle.FTRL):
        names["FTRL"] = oracle.FTRL
    again = eval(repr(thing), names)
    assert again == thing and hash(again) == hash(thing) and repr(again) == repr(thing)
    assert dataclasses.replace(thing) == thing


def test_every_kind_of_description_is_tried():
    """Each set, loss, regulariser, learner, each φ inside a loss and each schedule inside a learner."""
    parts = [getattr(x, name, None) for x in DESCRIPTIONS for name in ("phi", "eta")]
    tried = {type(x) for x in DESCRIPTIONS + parts}
    for room in (phi, losses, sets, regularizers, learners, oracle):
        kinds = {
            thing
            for thing in vars(room).values()
            if dataclasses.is_dataclass(thing) and isinstance(thing, type) and thing.__name__[0] != "_"
        }
        assert kinds - tried - {game.Trace} == set(), room


def test_descriptions_that_differ_are_not_equal():
    for i, one in enumerate(DESCRIPTIONS):
        assert [j for j, other in enumerate(DESCRIPTIONS) if one == other] == [i], one
    assert OGD(Ball(2), 0.3) != OGD(Ball(2), 0.3, start=[0, 0]) != OGD(Ball(2), 0.3, start=[0, 1])
    assert Ball(2) != "Ball(2)" and Ball(2) == Ball(2, 1, [0, 0])


def test_a_learner_can_be_changed_in_one_field():
    slow = dataclasses.replace(OGD(Ball(2), 1.0, "eager", start=[0.5, 0]), eta=0.3)
    assert slow == OGD(Ball(2), 0.3, "eager", start=[0.5, 0])
    with pytest.raises(ValueError, match="start must lie in"):
        dataclasses.replace(slow, over=Ball(2, 0.1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        slow.eta = 1.0


def test_a_learner_keeps_its_own_copy_of_its_steps():
    eta = np.array([0.1, 0.2])
    learner = OGD(Ball(2), eta)
    eta[:] = 9.0
    assert learner.eta.tolist() == [0.1, 0.2]
