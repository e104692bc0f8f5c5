"""Test the page data of live cells and the Python code that runs them, without a browser."""

import ast
import importlib.util
import io
import json
import sys
import tomllib
import types
import zipfile

import numpy as np
import pytest

from ocolib import exercises
from press.js import runtime
from press.live import SOURCES, package
from press.pages import depends
from press.sphinx import live

BOOT = SOURCES / "boot.py"


@pytest.fixture
def said():
    return []


@pytest.fixture
def boot(said, monkeypatch):
    """Return the browser's boot code as a module; messages to the page go to `said`."""
    page = types.ModuleType("js_live")
    page.post = lambda kind, text: said.append((kind, text))
    monkeypatch.setitem(sys.modules, "js_live", page)
    monkeypatch.setitem(sys.modules, "live_depends", depends)
    monkeypatch.setitem(sys.modules, "live_svgplot", loaded("live_svgplot", live.SVGPLOT))
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setattr(exercises, "tell", print)
    module = loaded("live_boot", BOOT)
    loaded("live_hook", live.HOOK).adapt(module)
    return module


def loaded(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------- what a cell needs


def test_what_only_checks_is_left_out():
    loop = "for k in range(9):\n    z = k * a\n    assert z >= 0"

    def left(source, wanted=()):
        return "\n".join(map(ast.unparse, depends.unchecked(source, set(wanted))))

    assert left(f"a = 1\nassert a\n{loop}\nprint('✓')\nprinted = 2") == "a = 1\nprinted = 2"
    assert left(loop, ["z"]) == loop and left(f"{loop}\nb = z") == f"{loop}\nb = z", "its names are used"
    for line in ("b.append(z)", "b[k] = z", "rng.normal()"):
        assert left(f"{loop}\n    {line}") == f"{loop}\n    {line}", "it changes what others read"
    assert left("b = []\nb.append(print(1))") == "b = []\nb.append(print(1))"


def test_a_cell_needs_the_cells_whose_names_it_uses():
    cells = ["import numpy as np", "a = 1", "b = a + 1", "c = 5", "a = 2\nprint(a)", "print(b, np.pi)"]
    assert live.dependencies(cells, set()) == [[], [], [2], [], [], [2, 3]]


def test_a_name_bound_afresh_does_not_come_from_above():
    assert live.dependencies(["T = 3", "T = 4", "print(T)"], set()) == [[], [], [2]]
    assert live.dependencies(["t = 3", "for t in range(3):\n    print(t)"], set()) == [[], []]
    assert live.dependencies(["x = 3", "print([x for x in range(3)])"], set()) == [[], []]
    assert (
        live.dependencies(["e = 3", "try:\n    1 / 0\nexcept ValueError as e:\n    print(e)"], set())[1] == []
    )


def test_a_value_changed_in_place_comes_from_both_cells():
    assert live.dependencies(["a = []", "a.append(1)", "print(a)"], set()) == [[], [1], [1, 2]]
    assert live.dependencies(["a = {}", "a['x'] = 1", "print(a)"], set()) == [[], [1], [1, 2]]


def test_names_inside_functions_count_and_their_own_do_not():
    cells = ["scale = 2", "y = 1", "def f(y):\n    z = scale * y\n    return z", "f(3)"]
    assert live.dependencies(cells, set()) == [[], [], [1], [1, 3]]


def test_a_name_of_an_exercise_is_not_taken_from_its_solution():
    cells = ["def f(): return None", "def f(): return 1", "f()"]
    assert live.dependencies(cells, {1}) == [[], [], [1]]


def test_a_line_for_ipython_is_no_error():
    assert live.dependencies(["%pip install x", "a = 1"], set()) == [[], []]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("oracle.solve(a)", "the solver"),
        ("from sklearn.svm import SVC", "scikit-learn"),
        ("with plots.figure('x', 'y') as ax:\n    oracle.line(ax)", "the solver and matplotlib"),
        ("1 + 1", "more than NumPy"),
    ],
)
def test_a_cell_says_what_the_browser_lacks(source, words):
    assert live.reason(source) == words


# ---------------------------------------------------------------- the Python that runs cells


def test_a_cell_prints_and_shows_its_last_value(boot, said):
    assert boot.run("x = 3\nprint('x is', x)\nx * 2", "<cell 1>", False) == "ok"
    assert printed(said) == "x is 3\n" and said[-1] == ("text", "6")
    before = len(said)
    assert boot.run("x * 2;", "<cell 2>", False) == "ok" and len(said) == before


def test_an_error_begins_with_the_line_of_the_reader(boot, said):
    boot.run("def f(x):\n    return 1 / x", "<cell 1>", False)
    assert boot.run("y = 1\nf(0)", "<cell 2>", False) == "error"
    assert said[-1] == (
        "error",
        "Line 2 of this cell\n    f(0)\nLine 2 of cell 1, in f\n    return 1 / x\n"
        "ZeroDivisionError: division by zero",
    )


def test_a_stop_is_told_from_an_error(boot, said):
    assert boot.run("raise KeyboardInterrupt", "<cell 1>", False) == "stopped"
    assert said[-1][1].endswith("Stopped. All variables are kept.")
    assert boot.run("import sys\nsys.exit()", "<cell 2>", False) == "error"


def test_output_is_capped_and_says_so(boot, said):
    assert boot.run("for i in range(300):\n    print('x' * 1000)\n1", "<cell 1>", False) == "ok"
    assert len(printed(said)) == boot.LIMIT
    assert [kind for kind, _ in said].count("capped") == 1 and said[-1] == ("text", "1")


def printed(said):
    return "".join(text for kind, text in said if kind == "stdout")


def verdicts(said):
    return [json.loads(text) for kind, text in said if kind == "verdict"]


def test_a_checker_reports_a_verdict_and_the_student_keeps_the_printing(boot, said):
    setup = "from ocolib import exercises\n"
    boot.run(setup + "exercises.check_value(lambda: print('mine') or 6, 6)", "<cell 1>", True)
    assert verdicts(said) == [{"passed": True, "message": "right", "pending": False}]
    assert printed(said) == "mine\n"
    boot.run("exercises.check_value(5, 6)", "<cell 2>", True)
    assert not verdicts(said)[1]["passed"] and verdicts(said)[1]["got"] == "5"
    boot.run("exercises.check_value(lambda: None, 6)", "<cell 3>", True)
    assert verdicts(said)[2]["pending"]


def test_outside_an_exercise_a_checker_prints(boot, said):
    source = "from ocolib import exercises\nexercises.check_value(6, 6)\nprint('after')"
    assert boot.run(source, "<cell 1>", False) == "ok"
    assert printed(said) == "✓ right\nafter\n" and not verdicts(said)


def test_a_checker_that_fails_or_is_strict_is_no_pass(boot, said):
    boot.run("from ocolib import exercises\nexercises.check_value()", "<cell 1>", True)
    assert not verdicts(said)[0]["passed"] and "did not finish" in verdicts(said)[0]["message"]
    boot.run("exercises.check_value(5, 6, strict=True)", "<cell 2>", True)
    assert not verdicts(said)[1]["passed"]


# ---------------------------------------------------------------- the runtime


def test_a_part_changes_its_name_with_its_content(tmp_path):
    first, second = (runtime.store(tmp_path, "part", "bin", data) for data in (b"one", b"two"))
    assert first["name"] != second["name"] and first["bytes"] == 3
    assert (tmp_path / first["name"]).read_bytes() == b"one"


def test_what_numpy_needs_is_kept():
    assert runtime.used("core/_multiarray_umath.so") and runtime.used("linalg/linalg.py")
    assert not any(map(runtime.used, ("core/tests/test_x.py", "f2py/rules.py", "core/setup.py", "a.pyi")))


def test_the_package_that_is_sent_is_the_one_that_is_installed():
    """Its data too: a page reads certificates.json. The mark of a typed package serves no browser."""
    names = set(zipfile.ZipFile(io.BytesIO(package([live.ROOT / "ocolib", live.ROOT / "ocolab"]))).namelist())
    settings = tomllib.loads((live.ROOT / "pyproject.toml").read_text("utf8"))
    data = settings["tool"]["setuptools"]["package-data"]["ocolab"]
    shipped = {path.name for pattern in data for path in (live.ROOT / "ocolab").glob(pattern)}
    assert {f"ocolab/{name}" for name in shipped - {"py.typed"}} <= names
    sources = {path.relative_to(live.ROOT).as_posix() for path in live.ROOT.glob("oco*/**/*.py")}
    assert sources <= names


def test_a_check_without_a_message_says_what_it_compared(boot, said):
    source = "a, b = 3, [1, 2]\n\n\ndef f(c):\n    assert a > 2 and c == len(b)\n\n\nf(7)"
    assert boot.run(source, "<cell 4>", False) == "error"
    assert said[-1][1].splitlines() == [
        "Line 8 of this cell",
        "    f(7)",
        "Line 5 of this cell, in f",
        "    assert a > 2 and c == len(b)",
        "AssertionError",
        "    c  is  7",
        "    len(b)  is  2",
        "A check fails: look at what was changed, here or in a cell above.",
    ]
    boot.run("assert all(x > 1 for x in [1]), 'too small'", "<cell 5>", False)
    assert said[-1][1].endswith("AssertionError: too small"), "a message says enough"
    boot.run("assert not [n for n in range(999)]", "<cell 6>", False)
    assert "…" in said[-1][1] or "False" in said[-1][1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("X @ w", "The shapes do not fit: X has shape (4, 2), w has shape (3,)."),
        ("w + X", "The shapes do not fit: w has shape (3,), X has shape (4, 2)."),
        ("nothing + 1", "nothing is None: a function without a return statement returns None."),
        ("few[2]", "few has 2 entries; indices start at 0."),
        ("steps['etta']", "steps has ['eta']."),
        ("from ocolib.learners import OGDD", "Did you mean OGD?"),
        ("np.zero(3)", "Did you mean zeros?"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_an_error_ends_with_its_likely_cause(line, words, boot, said):
    boot.run(
        "import numpy as np\n\nX, w = np.ones((4, 2)), np.ones(3)\n"
        "few, steps, nothing = [1, 2], {'eta': 1}, None",
        "<cell 1>",
        False,
    )
    boot.run(line, "<cell 2>", False)
    told = said[-1][1].splitlines()
    assert told[:2] == ["Line 1 of this cell", f"    {line}"] and told[-1] == words


def test_poisson_numbers_in_the_browser_are_those_of_numpy(boot, monkeypatch):
    monkeypatch.setattr(np.random, "default_rng", np.random.default_rng)  # restored after the test
    native = np.random.default_rng
    boot.replace_poisson()
    for seed in range(20):
        ours, theirs = np.random.default_rng(seed), native(seed)
        lam = native(seed + 100).uniform(0, 10, (5, 4)) * (native(seed).random((5, 4)) > 0.1)
        assert (ours.poisson(lam) == theirs.poisson(lam)).all()
        assert ours.poisson(2.5) == theirs.poisson(2.5)
        assert (ours.poisson(3, 7) == theirs.poisson(3, 7)).all()
        assert ours.random() == theirs.random(), "and the stream goes on alike"
    with pytest.raises(ValueError, match="below 10, got 12"):
        ours.poisson(12)


# ---------------------------------------------------------------- an answer is judged in a clean room

PRINTED = [[1, "import numpy as np\nfrom ocolib import exercises"], [3, "width = 2.0"], [4, "1 / 0"]]
ANSWER = """\
def my_area(x):
    return width * x

exercises.check_formula(my_area, lambda x: 2 * x, [(1.0,), (3.0,)])"""


def test_an_answer_sees_the_printed_code_that_it_builds_on_and_nothing_else(boot, said):
    boot.run("width = 7.0\nnp = None\nleft = 1", "<cell 3>", False)
    assert boot.run(ANSWER, "<cell 5>", True, json.dumps(PRINTED)) == "ok"
    assert verdicts(said)[0]["passed"], "the reader's own width does not count, nor does cell 4"
    assert ("room", "[3]") in said
    assert boot.run("my_area(1.0)", "<cell 6>", False) == "ok" and said[-1] == ("text", "2.0")
    assert boot.run(ANSWER.replace("width * x", "left * x"), "<cell 5>", True, json.dumps(PRINTED)) == "ok"
    assert "name 'left' is not defined" in verdicts(said)[1]["message"]
    assert verdicts(said)[1]["line"] == "2: return left * x"


def test_the_name_that_is_asked_for_must_come_from_the_answer(boot, said):
    assert boot.run(ANSWER, "<cell 5>", True, json.dumps(PRINTED)) == "ok"
    renamed = ANSWER.replace("def my_area", "def my_aera")
    assert boot.run(renamed, "<cell 5>", True, json.dumps(PRINTED)) == "error"
    assert not verdicts(said)[-1]["passed"]
    assert "Did you mean my_aera?" in [text for kind, text in said if kind == "error"][-1]


def test_a_broken_answer_is_told_before_anything_runs(boot, said):
    assert boot.run("def my_area(x)\n    return 1", "<cell 5>", True, json.dumps([[1, "1 / 0"]])) == "error"
    assert "SyntaxError" in said[0][1] or "SyntaxError" in said[1][1]


# ---------------------------------------------------------------- figures, scratch, forgetting


def test_a_figure_runs_with_its_imports_and_fits_a_phone(boot, said, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot", "ocolib.plots"):
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    monkeypatch.delitem(sys.modules, "ocolib.plots")
    monkeypatch.setattr("ocolib.plots", None, raising=False)
    boot.svgplot.install(boot.post)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    source = "with plots.figure('rounds') as ax:\n    ax.plot([1, 2], [3, 4])"
    setting = json.dumps({"prelude": "import ocolib.plots as plots", "width": 340})
    assert boot.run(source, "<cell 1>", False, None, setting) == "ok", said
    (drawing,) = [json.loads(text) for kind, text in said if kind == "figure"]
    assert drawing["size"][0] == 255 and "rounds from 0.95 to 2.05" in drawing["label"]
    assert boot.run(source.replace("plot(", "hexbin("), "<cell 2>", False) == "error"
    assert "which has no ax.hexbin: run this cell in Jupyter" in said[-1][1]


def test_scratch_code_needs_the_cells_it_builds_on_and_those_that_import(boot):
    cells = [[1, "import numpy as np"], [2, "a = 1"], [4, "b = a + 1"], [5, "c = 3"]]
    assert json.loads(boot.needs("b * 2", json.dumps(cells))) == [1, 2, 4]


def test_forgetting_leaves_no_name(boot, said):
    boot.run("np = None", "<cell 1>", False)
    boot.forget()
    assert boot.run("np", "<cell 2>", False) == "error" and "NameError" in said[-1][1]
