"""Exercise sheets on paper, printed by Chromium."""

import re

import chromium_print
import mathtime
import pytest
import sheet
from leaks import solutions, squeezed
from pypdf import PdfReader
from test_sheet import exercises_of


@pytest.mark.browser
def test_sheets_are_printed(tmp_path):
    if not chromium_print.chromium() or not mathtime.node():
        pytest.skip("no Chromium, or no node")
    files = sheet.write("9", tmp_path)
    assert [file.suffix for file in files] == [".ipynb", ".pdf"] * 2 and all(file.exists() for file in files)
    without, told = ("".join(page.extract_text() for page in PdfReader(file).pages) for file in files[1::2])
    for name, title in exercises_of("9"):
        words = re.sub(r"\$[^$]*\$", "", title)
        assert squeezed(words) in squeezed(without) and squeezed(words) in squeezed(told)
        assert not [line for line in solutions()[name] if line in squeezed(without)]
        assert any(line in squeezed(told) for line in solutions()[name])
