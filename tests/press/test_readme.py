"""Test that README, CONTRIBUTING and the architecture page describe the repository correctly."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf8")
#: made by a build, or installed
MADE = "_build", ".venv"


def test_the_ten_lines_print_what_they_say():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    said = re.search(r"print\(.*#\s*(.+)$", code, re.MULTILINE)[1]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(code, {})
    assert shown.getvalue().strip() == said
    assert len(code.splitlines()) <= 12


def test_every_file_of_the_layout_exists():
    layout = re.search(r"## What is where\n\n(.*?)\n\n", README, re.DOTALL)[1]
    named = [line.split()[0] for line in layout.splitlines()]
    assert len(named) > 5 and all((ROOT / name).exists() for name in named)


def missing(text):
    """Return the files and folders that a text names in backticks but that do not exist.

    A name without a folder may be anywhere in the repository; one with `…` is a pattern for a new file.
    """
    named = {re.sub(r":\d+$", "", name) for name in re.findall(r"`([^`\s]+)`", text)}
    paths = {
        name
        for name in named
        if re.fullmatch(r"[\w.*/-]+", name)
        and (name.count("/") or re.search(r"\.(py|md|yml|json|toml|txt|js|css|bib)$", name))
        and not name.startswith(MADE)
    }
    places = "ocolib", "ocolab", "press", "book", "tests", "formal", "pages", ".github"
    return sorted(
        name
        for name in paths
        if not list(ROOT.glob(name.rstrip("/")))
        and not any(next((ROOT / place).glob(f"**/{name.rstrip('/')}"), None) for place in places)
    )


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "book/architecture.md"])
def test_every_path_that_is_named_exists(page):
    assert not missing((ROOT / page).read_text("utf8"))


def test_a_path_that_is_not_there_is_noticed():
    there, not_there = "`ocolib/sets.py`, `sphinx/`, `pages/….md`", "`tests/test_nothing.py`, `nothing.js`"
    found = missing(f"{there}, {not_there}, `tests/js/*.nothing`")
    assert found == ["nothing.js", "tests/js/*.nothing", "tests/test_nothing.py"]
