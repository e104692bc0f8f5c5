"""Test the installation for other machines: the lock file on every Python, the wheel with only NumPy."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13")


def run(*command, **settings):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1800, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_pythons_that_are_tested_are_those_that_are_promised():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf8")
    assert str(list(PYTHONS)).replace("'", '"') in workflow
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
    assert settings["project"]["requires-python"] == f">={PYTHONS[0]}"


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-lab.txt"])
def test_every_requirement_has_its_checksums(lock):
    """One line without any, and pip refuses them all."""
    text = (ROOT / lock).read_text("utf8").replace("\\\n", " ")
    wanted = [line for line in text.splitlines() if line and not line.lstrip().startswith(("#", "-c "))]
    assert len(wanted) > 20
    for line in wanted:
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==\S+ ", line) and "--hash=sha256:" in line, line[:60]


@pytest.mark.long
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.skipif(not shutil.which("uv"), reason="uv asks the index for another Python than this one")
def test_the_lock_installs(python, tmp_path):
    """Every package has a file for this Python, with a checksum of the lock."""
    command = ["uv", "pip", "install", "--dry-run", "--require-hashes", "--only-binary", ":all:"]
    run(*command, "--python-version", python, "--target", tmp_path, "-r", ROOT / "requirements.txt")


@pytest.mark.long
def test_a_wheel_runs_the_ten_lines_on_numpy_alone(tmp_path):
    source, wheels, home = tmp_path / "source", tmp_path / "wheels", tmp_path / "home"
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        source.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source)
    for name in ("ocolib", "ocolab"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = f"from setuptools import build_meta; print(build_meta.build_wheel({str(wheels)!r}))"
    wheels.mkdir()
    run(sys.executable, "-c", build, cwd=source)
    (wheel,) = wheels.glob("*.whl")
    run(sys.executable, "-m", "venv", home)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    found = json.loads(run(python, "-m", "pip", "list", "--format=json"))
    assert {package["name"] for package in found} - {"pip", "setuptools"} == {"ocolib", "numpy"}
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf8"), re.DOTALL)
    said = re.search(r"print\(.*#\s*(.+)$", code, re.MULTILINE)[1]
    assert run(python, "-I", "-W", "error", "-c", code, cwd=tmp_path).strip() == said
    data = "from ocolab import certificates; print(len(certificates.stored()))"
    assert int(run(python, "-I", "-c", data, cwd=tmp_path)) > 100, "its data comes with it"
