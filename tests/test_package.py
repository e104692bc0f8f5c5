"""What the package promises as a whole: small, quick, layered, NumPy alone, and polite to bad input."""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import numpy as np
import pytest

import ocolib
from ocolib import adversaries, bounds, exercises, oracle, proofs
from ocolib.game import play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
    inverse_sqrt,
)
from ocolib.losses import Example, HingeLoss, Linear, PerceptronLoss, Quadratic, hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Halfspace, L1Ball, Orthant, Simplex, Space

HOME = Path(ocolib.__file__).parent
#: data flows down this list: a room imports only from rooms above it
ROOMS = (
    ["validate", "data"],
    ["sets", "losses"],
    ["regularizers"],
    ["learners"],
    ["adversaries"],
    ["game"],
    ["bounds"],
    ["proofs"],
    ["exercises"],
    ["oracle"],
    ["limits"],
    ["plots"],
)
CORE = "sets", "losses", "regularizers", "learners", "adversaries", "game"
NUMPY_ALONE = "validate", "data", *CORE, "bounds", "proofs", "exercises"
HEAVY = {"cvxpy", "matplotlib", "numba", "scipy", "sklearn", "pandas", "hypothesis"}
ALLOWED = {"oracle": {"cvxpy"}, "limits": {"cvxpy"}, "plots": {"matplotlib"}}
ZEROS = np.zeros((2, 2))


def run(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=HOME.parent, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---------------------------------------------------------------- small, quick, layered


def lines_of_code(path):
    """Lines that hold code: no blanks, comments or docstrings."""
    source = path.read_text("utf8")
    docs = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            docs.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    skip = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    held = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skip:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docs)


def test_the_core_is_below_1200_lines_of_code():
    sizes = {room: lines_of_code(HOME / f"{room}.py") for room in CORE}
    assert 300 < sum(sizes.values()) < 1200, sizes


def imports(room):
    for node in ast.walk(ast.parse((HOME / f"{room}.py").read_text("utf8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (f"{node.module}.{a.name}" for a in node.names) if node.module == "ocolib" else [node.module]
            )


def test_every_room_is_in_the_plan():
    assert {path.stem for path in HOME.glob("*.py")} - {"__init__"} <= {room for row in ROOMS for room in row}


@pytest.mark.parametrize("room", [r for row in ROOMS for r in row if (HOME / f"{r}.py").exists()])
def test_a_room_imports_only_from_rooms_above_it(room):
    level = next(i for i, row in enumerate(ROOMS) if room in row)
    above = {r for row in ROOMS[:level] for r in row}
    for name in imports(room):
        top, _, rest = name.partition(".")
        if top == "ocolib":
            assert rest.partition(".")[0] in above, f"{room} imports {name}"
        elif top in HEAVY:
            assert top in ALLOWED.get(room, set()), f"{room} imports {name}"
        else:
            assert top == "numpy" or top in sys.stdlib_module_names, f"{room} imports {name}"


def test_import_ocolib_takes_less_than_300_ms_and_brings_nothing_heavy():
    code = (
        "import time; start = time.perf_counter(); import ocolib; print(time.perf_counter() - start)\n"
        f"import sys; print({HEAVY!r} & set(sys.modules))"
    )
    seconds, heavy = min((run(code).split("\n", 1) for _ in range(3)), key=lambda lines: float(lines[0]))
    assert float(seconds) < 0.3
    assert heavy.strip() == "set()"


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
assert proofs.theorem1(trace, R, 0.5, [1, 0]).holds()
assert trace.regret(ball) <= bounds.osd_sharp(1.0, 1.0, 5) * 3
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
    (lambda: Ball(2, 0), "radius (0, inf) got 0"),
    (lambda: Ball(2, -1.5), "radius (0, inf) got -1.5"),
    (lambda: Ball(2, np.nan), "radius finite got nan"),
    (lambda: Ball(2, np.inf), "radius finite got inf"),
    (lambda: Ball(2, "1"), "radius number got '1'"),
    (lambda: Ball(2, [1, 2]), "radius number got [1, 2]"),
    (lambda: L1Ball(2, 0), "radius (0, inf) got 0"),
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
    (lambda: Quadratic([0.0], 0.0), "curvature (0, inf) got 0.0"),
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
        "no closed form NegativeEntropy Ball Simplex oracle",
    ),
    (lambda: UnnormalizedEntropy().minimize([0, 0], 1.0, Simplex(2)), "no closed form Orthant"),
    (lambda: UnnormalizedEntropy().minimize([-1e3], 1.0, Orthant(1)), "709.78 got 1000"),
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
    (lambda: NormalizedWinnow(2, -1.0), "eta (0, inf) got -1.0"),
    (lambda: NormalizedWinnow(0, 1.0), "dim integer ≥ 1 got 0"),
    (lambda: inverse_sqrt(0), "scale (0, inf) got 0"),
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
    (lambda: DATA.regret(Ball(2)), "oracle.regret against"),
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
    (lambda: bounds.osd(0, 1, 1), "diameter (0, inf) got 0"),
    (lambda: bounds.osd(np.inf, 1, 1), "diameter finite got inf"),
    (lambda: bounds.osd(1, np.nan, 1), "rho finite got nan"),
    (lambda: bounds.osd(1, 1, 0), "T integer ≥ 1 got 0"),
    (lambda: bounds.osd_step(1, 1, 2.5), "T integer ≥ 1 got 2.5"),
    (lambda: bounds.osd_sharp(-1, 1, 1), "radius (0, inf) got -1"),
    (lambda: bounds.osd_sharp_step(1, 0, 1), "rho (0, inf) got 0"),
    (lambda: bounds.perceptron(1, 0), "margin (0, inf) got 0"),
    (lambda: bounds.perceptron(0, 1), "radius (0, inf) got 0"),
    (lambda: bounds.winnow(4, 1, 0.5), "threshold [1, inf) got 0.5"),
    (lambda: bounds.winnow(4, 0, 2.0), "relevant integer ≥ 1 got 0"),
    (lambda: bounds.normalized_winnow(4, 0), "margin (0, inf) got 0"),
    (lambda: bounds.normalized_winnow(4, 1, -1), "size (0, inf) got -1"),
    (lambda: bounds.ftrl_stability(TRACE, SquaredNorm(), 0, [0, 0]), "eta (0, inf) got 0"),
    (lambda: bounds.ftrl_stability(TRACE, SquaredNorm(), 1, [0]), "u 2 entries got shape (1,)"),
    (lambda: proofs.theorem1(TRACE, SquaredNorm(), -1, [0, 0]), "eta (0, inf) got -1"),
    (lambda: proofs.theorem1(TRACE, SquaredNorm(), 1, [np.nan, 0]), "u finite got nan"),
    (lambda: proofs.theorem2(TRACE, 0, [0, 0], 1, 1), "eta (0, inf) got 0"),
    (lambda: proofs.theorem2(TRACE, 1, [0], 1, 1), "u 2 entries got shape (1,)"),
    # the oracle
    (lambda: oracle.project([1], Ball(2)), "y 2 entries got shape (1,)"),
    (lambda: oracle.minimize(SquaredNorm(), [0, 0], 0, Ball(2)), "eta (0, inf) got 0"),
    (lambda: oracle.max_margin(np.eye(2), [1, 3]), "y −1 or +1 got 3"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[f"{i}: {words}" for i, (_, words) in enumerate(BAD)])
def test_bad_input_gets_a_value_error_that_names_it(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    rest = message
    for word in words.split(" "):
        assert word in rest, f"{word!r} is not in {message!r}"


def test_every_public_name_has_a_docstring():
    for room in (
        adversaries,
        bounds,
        exercises,
        oracle,
        proofs,
        *(sys.modules[f"ocolib.{name}"] for name in CORE),
    ):
        assert room.__doc__
        for name, thing in vars(room).items():
            if (
                not name.startswith("_")
                and callable(thing)
                and getattr(thing, "__module__", "") == room.__name__
            ):
                assert thing.__doc__, f"{room.__name__}.{name}"
