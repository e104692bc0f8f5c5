"""Which room imports what: NumPy alone for a game, nothing of ocolab; docstrings and types for all."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

from folded import for_each

import ocolib
from ocolib.phi import Phi
from ocolib.sets import Set

HOME = Path(ocolib.__file__).parent
CORE = (
    "types",
    "describe",
    "validate",
    "sets",
    "phi",
    "losses",
    "regularizers",
    "learners",
    "kernels",
    "betting",
    "portfolios",
    "mirror",
    "adaptive",
    "adversaries",
    "referee",
    "trace",
    "game",
    "games",
    "batch",
    "bandits",
    "data",
    "theorems",
    "exercises",
    "testing",
)
ROOMS = (*CORE, "oracle", "plots")
#: packages that are imported at the top of a room, or inside a function of any room
HEAVY = {"oracle": {"cvxpy"}, "plots": {"matplotlib"}}
INSIDE = {"cvxpy", "pandas", "IPython"}


def run(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=HOME.parent, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def imports(path):
    """(package, is it at the top of the module?) of all imports, but for the type checker's."""
    tree = ast.parse(path.read_text("utf8"))
    hints = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    unseen = {child for node in hints for child in ast.walk(node)}
    for node in set(ast.walk(tree)) - unseen:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
            yield from ((name.partition(".")[0], node in tree.body) for name in names)


@for_each("room", ROOMS)
def test_a_room_imports_numpy_and_what_is_its_subject(room):
    one = HOME / f"{room}.py"
    files = [one] if one.exists() else (HOME / room).glob("**/*.py")
    for top, first in (pair for path in files for pair in imports(path)):
        if top not in ("numpy", "ocolib") and top not in sys.stdlib_module_names:
            assert top in HEAVY.get(room, set()) or (top in INSIDE and not first), f"{room} imports {top}"


def test_ocolib_never_imports_ocolab():
    for path in HOME.glob("**/*.py"):
        if "import *" not in path.read_text("utf8"):  # old names of what has moved
            assert "ocolab" not in {top for top, _ in imports(path)}, path


def test_import_ocolib_brings_nothing_heavy():
    """Not even NumPy."""
    assert run("import ocolib, sys; print('numpy' in sys.modules)").strip() == "False"


def test_the_core_runs_on_numpy_alone():
    """With everything else blocked: import each room, play games, check a set and an exercise."""
    code = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {{"numpy", "ocolib"}}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
import importlib
for room in {CORE!r}:
    importlib.import_module("ocolib." + room)
from ocolib import adversaries, exercises, game, learners, losses, regularizers, sets
ball, R = sets.Ball(2), regularizers.SquaredNorm()
trace = game.play(learners.FTRL(ball, R, 0.5), adversaries.random_directions(5, 2, 0))
assert 0 < trace.regret() < 5
X, y, _ = adversaries.separable(50, 3, 0.1, 0)
trace = game.play(learners.Perceptron(3), losses.perceptron_loss(X, y))
assert trace.comparator(sets.Ball(3)).method == "projected subgradient method"
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


def test_the_package_is_typed_and_names_its_rooms():
    assert (HOME / "py.typed").exists() and (HOME.parent / "ocolab" / "py.typed").exists()
    assert [room for room in ROOMS if f"`{room}`" not in ocolib.__doc__] == []


# ---------------------------------------------------------------- words and types


def public(room):
    """The public functions and classes that a room defines, and the public methods of its classes."""
    home = f"ocolib.{room}"
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
            code = code.__func__ if isinstance(code, (classmethod, staticmethod)) else code
            if not method.startswith("_") and inspect.isfunction(code):
                yield f"{room}.{name}.{method}", code


#: methods that many classes share: explained by a base class, or by the docstring of their room
SHARED = {name for base in (Set, Phi) for name in dir(base) if getattr(getattr(base, name), "__doc__", None)}
SHARED |= {"dim", "diameter", "lipschitz", "smooth", "curvature", "value", "subgradient", "coefficients"}
SHARED |= {"expression", "predict", "update", "step", "lead", "after", "first", "over", "lazy"}


@for_each("room", ROOMS)
def test_every_public_name_has_a_docstring(room):
    assert importlib.import_module(f"ocolib.{room}").__doc__
    assert [n for n, thing in public(room) if not thing.__doc__ and n.split(".")[-1] not in SHARED] == []


@for_each("room", [room for room in ROOMS if room not in ("theorems", "exercises")])
def test_every_public_name_has_its_types(room):
    for name, thing in public(room):
        if not isinstance(thing, type):
            signature = inspect.signature(thing)
            named = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
            bare = [p.name for p in named if p.annotation is p.empty]
            assert not bare and signature.return_annotation is not signature.empty, (name, bare)


def test_nobody_imports_a_private_name():
    for path in [*HOME.parent.glob("oco*/**/*.py"), *Path(__file__).parent.glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ocolib"):
                assert not [a.name for a in node.names if a.name.startswith("_")], path
