"""What the README shows is what happens."""

import contextlib
import io
import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text("utf8")


def test_the_ten_lines_print_what_they_say():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    said = re.search(r"print\(.*#\s*(.+)$", code, re.MULTILINE)[1]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(code, {})
    assert shown.getvalue().strip() == said
    assert len(code.splitlines()) <= 12


def test_every_file_the_readme_names_exists():
    root = Path(__file__).parents[2]
    layout = re.search(r"## What is where\n\n(.*?)\n\n", README, re.DOTALL)[1]
    named = [line.split()[0] for line in layout.splitlines()]
    assert len(named) > 5 and all((root / name).exists() for name in named)
