"""Test the recipes of CONTRIBUTING: add a set, a loss, a learner, a theorem and a page to a copy.

Each changes exactly the files that its recipe names, and the project's own checks find it.
"""

import os
import shutil
import subprocess
import sys

import pytest

from press import ROOT

SET = '''

@description
class NegativeOrthant(Unbounded):
    """Represent the nonpositive orthant {x : x_i ≤ 0 for every i}."""

    dim: int

    def __post_init__(self) -> None:
        keep(self, dim=validate.count("dim", self.dim))

    def project(self, y: ArrayLike) -> Array:
        return np.minimum(self.points("y", y), 0.0)

    def minimize_linear(self, c: ArrayLike) -> Array:
        c = self.points("c", c)
        self.refuse(c, (c > 0).any(axis=-1))
        return np.zeros_like(c)

    def constraints(self, x: Any) -> list[Any]:
        return [x <= 0]

    @classmethod
    def examples(cls, dim: int, rng: np.random.Generator) -> Iterator[Set]:
        yield cls(dim)
'''

PHI = '''

@description
class LogCosh(Phi):
    """Compute the loss log cosh(p − y), with slope tanh(p − y)."""

    takes = "reals"
    lipschitz = smooth = 1.0

    def value(self, p: Any, y: Any) -> Any:
        return np.logaddexp(p - y, y - p) - np.log(2.0)

    def slope(self, p: Any, y: Any) -> Any:
        return np.tanh(p - y)

    def expression(self, p: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.logistic(2 * (p - y)) - (p - y) - np.log(2.0)
'''

LOSS = '''

def log_cosh(X: ArrayLike, y: ArrayLike) -> Examples:
    """Return the losses f_t(w) = log cosh(⟨w, x_t⟩ − y_t)."""
    return Examples(X, y, phis.LogCosh())
'''

LEARNER = '''

@description
class Sleeper(FirstOrder):
    """Stay at w_1 = Π(0) in every round."""

    over: Set

    def after(self, t: Any, w: Array, z: Array, Z: Array) -> Array:
        return w
'''

THEOREM = '''"""Bound the regret of a learner that never moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ocolib.adversaries import random_directions
from ocolib.game import play
from ocolib.learners import Sleeper
from ocolib.sets import Ball
from ocolib.theorems.base import Chain, Line, Theorem, convex


@dataclass(frozen=True, eq=False)
class Staying(Theorem):
    """Bound the regret of staying at 0 in the ball of radius R around 0 by RρT.

    The losses are convex and ‖z_t‖ ≤ ρ in all T rounds.
    """

    item, kind, tightness = "ox13.staying", "tight", 1.0
    radius: float
    rho: float
    T: int

    @property
    def bound(self):
        """Return RρT."""
        return self.radius * self.rho * self.T

    def hypotheses(self, trace, u):
        """Check every hypothesis of the theorem on this game and comparator."""
        over, long = getattr(trace.learner, "over", None), np.linalg.norm(trace.subgradients, axis=-1)
        return {
            "a learner that stays": isinstance(trace.learner, Sleeper),
            "the ball of radius R around 0": isinstance(over, Ball)
            and over.radius == self.radius
            and not over.center.any(),
            "T rounds": trace.rounds == self.T,
            "‖z_t‖ ≤ ρ": bool(long.max() <= self.rho * (1 + 1e-9)),
            "f_t is convex": convex(trace, u),
            "‖u‖ ≤ R": bool(np.linalg.norm(u) <= self.radius * (1 + 1e-9)),
        }

    def chain(self, trace, u):
        """Evaluate the proof: convexity, then Cauchy–Schwarz."""
        z = trace.subgradients
        return Chain(
            "Staying",
            (
                Line(trace.regret(against=u), "Σ f_t(w_t) − f_t(u)"),
                Line((z * (trace.points - u)).sum(), "Σ ⟨z_t, w_t − u⟩", "z_t is a subgradient at w_t"),
                Line(
                    np.linalg.norm(z, axis=1).sum() * np.linalg.norm(u),
                    "Σ ‖z_t‖‖u‖",
                    "Cauchy–Schwarz, w_t = 0",
                ),
                Line(self.bound, "RρT", "‖z_t‖ ≤ ρ and ‖u‖ ≤ R"),
            ),
        )

    @classmethod
    def games(cls, rng):
        """Play random directions in the plane."""
        for seed in range(5):
            trace = play(Sleeper(Ball(2, 3.0)), random_directions(12, 2, seed=seed))
            yield cls(3.0, 1.0, 12), trace, trace.best(Ball(2, 3.0))

    @classmethod
    def worst(cls):
        """Play the same loss in every round."""
        trace = play(Sleeper(Ball(1, 2.0)), np.ones((10, 1)))
        return cls(2.0, 1.0, 10), trace, np.array([-2.0])
'''

LEDGER = """  - id: ox13.staying
    item: 'Staying'
    says: 'Never to move costs at most $R\\\\rho T$.'
    page: lecture-13-oco/staying
    tests: []
"""

PAGE = """# Staying

What does it cost never to move?

```{code-cell} ipython3
:tags: [live]

import numpy as np

from ocolib import theorems
from ocolib.game import play
from ocolib.learners import Sleeper
from ocolib.sets import Ball
```

````{prf:theorem} Staying
:label: ox13-staying

On the ball of radius $R$ the player who stays at $0$ has regret at most $R\\rho T$
if $\\lVert z_t\\rVert \\le \\rho$.
````

```{code-cell} ipython3
:tags: [live]

trace = play(Sleeper(Ball(1, 2.0)), np.ones((10, 1)))
theorems.Staying(2.0, 1.0, 10).proof(trace, [-2.0])
```
"""

BY_HAND = "    (theorems.Staying, (2.0, 3.0, 5), 30.0),\n"

#: tests that compare a list of names with what there is
LISTS = (
    "test_testing.py::test_all_of_finds_the_library_and_not_these",
    "test_formal.py::test_every_box_is_in_the_list",
    "test_formal.py::test_the_list_names_labels_of_pages",
    "test_theorems.py::test_every_theorem_has_a_value_by_hand",
)

CHECKS = """
import numpy as np

from ocolib import learners, losses, phi, sets, theorems
from ocolib.testing import all_of, check_learner, check_loss, check_phi, check_set, check_theorem
from press import ledger

assert sets.NegativeOrthant in all_of(sets.Set) and phi.LogCosh in all_of(phi.Phi)
check_set(sets.NegativeOrthant)
check_phi(phi.LogCosh)
check_loss(losses.log_cosh([[1.0, 2.0]], [0.5])[0], dim=2)
check_learner(learners.Sleeper(sets.Ball(3)))
assert theorems.Staying in theorems.THEOREMS
check_theorem(theorems.Staying)
(entry,) = (e for e in ledger.entries(ledger.load()) if e["id"] == "ox13.staying")
assert entry["theorems"] == ["Staying"] and ledger.done(entry)
print("all found and checked")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a copy of what a contributor edits, with one new thing of each kind."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("ocolib", "ocolab", "press", "pages", "tests", "formal"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("*.ipynb", "_static"))
    for name in ("_toc.yml", "_config.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    for file, text in {"sets": SET, "phi": PHI, "losses": LOSS, "learners": LEARNER}.items():
        with open(folder / "ocolib" / f"{file}.py", "a", encoding="utf8") as opened:
            opened.write(text)
    (folder / "ocolib" / "theorems" / "staying.py").write_text(THEOREM, "utf8")
    index = folder / "ocolib" / "theorems" / "__init__.py"
    index.write_text(index.read_text("utf8") + "\nfrom ocolib.theorems.staying import Staying\n", "utf8")
    (book,) = (folder / "book" / "ledger").glob("*13*.yml")
    book.write_text(book.read_text("utf8").replace("\nitems:\n", "\nitems:\n" + LEDGER, 1), "utf8")
    (folder / "pages" / "lecture-13-oco" / "staying.md").write_text(PAGE, "utf8")
    with open(folder / "formal" / "coverage.yml", "a", encoding="utf8") as opened:
        opened.write("ox13-staying: {reason: 'not yet formalised'}\n")
    hand = folder / "tests" / "test_theorems.py"
    hand.write_text(hand.read_text("utf8").replace("\nBY_HAND = [\n", "\nBY_HAND = [\n" + BY_HAND, 1), "utf8")
    toc = folder / "_toc.yml"
    entry = "      - file: book/lecture-13-oco/winnow\n"
    assert entry in toc.read_text("utf8")
    toc.write_text(
        toc.read_text("utf8").replace(entry, "      - file: book/lecture-13-oco/staying\n" + entry), "utf8"
    )
    return folder


def run(copy, *words):
    path = os.pathsep.join([str(copy), str(copy / "press")])
    return subprocess.run(
        [sys.executable, *words],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


def test_a_new_set_loss_learner_and_theorem_are_found_and_checked(copy):
    done = run(copy, "-c", CHECKS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all found and checked\n"


def test_a_new_page_is_made_into_a_notebook(copy):
    done = run(copy, "-m", "press", "notebooks", "pages/lecture-13-oco/staying.md")
    assert done.returncode == 0, done.stdout + done.stderr
    notebook = (copy / "book" / "lecture-13-oco" / "staying.ipynb").read_text("utf8")
    assert "20.000000" in notebook and "Cauchy" in notebook


def test_no_other_list_has_to_name_what_is_new(copy):
    options = ("-q", "-p", "no:cacheprovider", "-o", "addopts=", "-W", "default", "--import-mode=importlib")
    done = run(copy, "-m", "pytest", *options, *(f"tests/{test}" for test in LISTS))
    assert done.returncode == 0, done.stdout


def test_a_fault_in_a_recipe_is_noticed(copy):
    """Without this the test above could pass for nothing."""
    file = copy / "ocolib" / "sets.py"
    right = file.read_text("utf8")
    file.write_text(
        right.replace('np.minimum(self.points("y", y), 0.0)', 'np.minimum(self.points("y", y), 0.1)'), "utf8"
    )
    try:
        done = run(copy, "-c", CHECKS)
    finally:
        file.write_text(right, "utf8")
    assert done.returncode != 0 and "NegativeOrthant" in done.stderr
