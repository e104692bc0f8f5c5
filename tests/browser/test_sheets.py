"""Exercise sheets on paper, printed by Chromium."""

import re
import subprocess
import sys

import pytest
from leaks import solutions, squeezed
from pypdf import PdfReader
from test_sheet import exercises_of

from press.html import maths
from press.print import chromium, sheet


@pytest.mark.browser
def test_sheets_are_printed(tmp_path):
    if not chromium.chromium() or not maths.node():
        pytest.skip("no Chromium, or no node")
    # a process of its own: the browser of the other tests holds this one's event loop
    subprocess.run([sys.executable, "-m", "press", "sheet", "9", "--into", tmp_path], check=True)
    names = [f"{sheet.sheet_of('9').name}-{kind}" for kind in sheet.KINDS]
    files = [tmp_path / f"{name}.{form}" for name in names for form in ("ipynb", "pdf")]
    assert len(files) == 4 and all(file.exists() for file in files)
    without, told = ("".join(page.extract_text() for page in PdfReader(file).pages) for file in files[1::2])
    for name, title in exercises_of("9"):
        words = re.sub(r"\$[^$]*\$", "", title)
        assert squeezed(words) in squeezed(without) and squeezed(words) in squeezed(told)
        assert not [line for line in solutions()[name] if line in squeezed(without)]
        assert any(line in squeezed(told) for line in solutions()[name])
