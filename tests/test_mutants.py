"""The runner of mutants, on a package of one function; and what it has found in ours."""

import json
import subprocess
import sys
from pathlib import Path

import companion
import mutations
import pytest

ROOT = Path(__file__).resolve().parents[1]
EXPLAINED = ROOT / "tests" / "mutants_explained.yml"

SOURCE = '''
SIZE = 3


def power(base: int, exponent: int = 2) -> int:
    """base to the exponent."""
    if exponent < 0:
        raise ValueError(f"exponent must be ≥ 0, got {exponent + 0}")
    result = 1
    while exponent > 0:
        result, exponent = result * base, exponent - 1
    return result


def quiet(x):
    return x + 0


def unseen(x):
    return x * 2


PAIR = (lambda x: x + 1, lambda x: 3 * x)
'''
TESTS = """
import pytest
from tiny import PAIR, SIZE, power, quiet


def test_power():
    assert power(2, 3) == 8 and power(3, 0) == 1 and power(5) == 25


def test_a_negative_exponent_is_refused():
    with pytest.raises(ValueError):
        power(2, -1)


def test_pair():
    assert PAIR[0](1) == 2 and PAIR[1](1)


def test_nothing():
    quiet(SIZE)
"""
OUTCOMES = {
    "module: 3 → 4": "survived",  # a constant of the module, which no assert looks at
    "power: 2 → 3": "killed",  # a default
    "power: exponent < 0 → exponent <= 0": "killed",
    "power: exponent < 0 → exponent < 1": "killed",
    "power: if exponent < 0: → if not exponent < 0:": "killed",
    "power: 1 → 2": "killed",
    "power: exponent > 0 → exponent >= 0": "killed",
    "power: exponent > 0 → exponent > 1": "killed",
    "power: while exponent > 0: → while not exponent > 0:": "killed",
    "power: result * base → result / base": "killed",
    "power: exponent - 1 → exponent + 1": "endless",
    "power: exponent - 1 → exponent - 2": "killed",
    "quiet: x + 0 → x - 0": "survived",  # no change
    "quiet: x + 0 → x + 1": "survived",  # a change, and a test that looks away
    "unseen: x * 2 → x / 2": "untested",
    "unseen: x * 2 → x * 3": "untested",
    "module: lambda x: x + 1 → lambda x: x - 1": "killed",
    "module: lambda x: x + 1 → lambda x: x + 2": "killed",
    "module: lambda x: 3 * x → lambda x: 3 / x": "survived",  # in the same line as the one before
    "module: lambda x: 3 * x → lambda x: 4 * x": "survived",
}


@pytest.fixture
def project(tmp_path):
    for folder in ("tiny", "tests", "book"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tiny" / "__init__.py").write_text(SOURCE, "utf8")
    (tmp_path / "tests" / "test_tiny.py").write_text(TESTS, "utf8")
    return tmp_path


def run(project, *options):
    command = [sys.executable, ROOT / "tools" / "mutants.py", "--package", "tiny", "--preload", "", *options]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300)


def outcomes(project):
    lines = (project / "_build" / "mutants" / "results.jsonl").read_text("utf8").splitlines()
    found = {entry["key"]: entry["outcome"] for entry in map(json.loads, lines)}
    return {key.removeprefix("tiny/__init__.py::"): outcome for key, outcome in found.items()}


def test_the_runner_tells_what_the_tests_notice(project):
    said = run(project).stdout
    assert outcomes(project) == OUTCOMES
    assert said.endswith("killed 13 of 20, 0 explained\n")
    assert "survived  tiny/__init__.py:16  quiet: x + 0 → x + 1\n" in said
    (project / "tests" / "mutants_explained.yml").write_text(
        'tiny/__init__.py:\n  quiet:\n    "x + 0 → x - 0": Nothing changes.\n', "utf8"
    )
    test = "from tiny import quiet\n\ndef test_quiet():\n    assert quiet(1) == 1\n"
    (project / "tests" / "test_quiet.py").write_text(test, "utf8")
    again = run(project).stdout
    assert "20 mutants, 3 of them to try\n" in again, "only what the new test passes is tried again"
    assert outcomes(project) == OUTCOMES | {"quiet: x + 0 → x + 1": "killed"}
    counts = {"mutants": 20, "killed": 14, "explained": 1}
    written = json.loads((project / "book" / "mutants.json").read_text("utf8"))
    assert written == {"total": counts, "modules": {"tiny/__init__.py": counts}}
    sample = run(project, "--sample", "5", "--seed", "3").stdout
    assert (
        "5 mutants, 0 of them to try" in sample
        and sample == run(project, "--sample", "5", "--seed", "3").stdout
    )
    source = project / "tiny" / "__init__.py"
    source.write_text("# Powers.\n" + SOURCE.replace("base to the exponent", "The power"), "utf8")
    assert "20 mutants, 0 of them to try\n" in run(project).stdout, "a comment or a docstring changes nothing"
    source.write_text(SOURCE.replace("result = 1", "result = 1 * 1"), "utf8")
    assert "22 mutants, 20 of them to try\n" in run(project).stdout, "all but the two untested"


def test_tests_that_fail_without_a_mutant_are_named(project):
    (project / "tests" / "test_tiny.py").write_text(TESTS + "    assert SIZE == 4\n", "utf8")
    done = run(project)
    assert done.returncode and "test_nothing fails without any mutant" in done.stderr


# ---------------------------------------------------------------- ours


def test_what_is_explained_still_stands_in_the_source():
    reasons = mutations.explained(EXPLAINED)
    modules = sorted({key.partition("::")[0] for key in reasons})
    keys = {mutant.key for module in modules for mutant in mutations.mutants_of(module, ROOT)}
    assert sorted(set(reasons) - keys) == []
    assert all(len(reason) > 20 for reason in reasons.values())


def test_the_tests_notice_nearly_all_mutants():
    found = json.loads(companion.MUTANTS.read_text("utf8"))
    assert set(found["total"]) == {"mutants", "killed", "explained"}
    for name, count in found["total"].items():
        assert count == sum(row[name] for row in found["modules"].values())
    total = found["total"]
    assert total["killed"] >= 0.95 * (total["mutants"] - total["explained"])
    assert len(mutations.explained(EXPLAINED)) >= total["explained"]
    ((what, said),) = companion.mutants()
    assert what == "mutants of ocolib and ocolab"
    assert said.startswith(f"killed {total['killed']} of {total['mutants']}")
