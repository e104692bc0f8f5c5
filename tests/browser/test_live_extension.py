"""The extension on its own: a book of ten lines, built by plain Sphinx, that knows nothing of ours."""

import os
import re
import shutil
import subprocess
import sys

import live_fixture
import pytest
from live_fixture import START, Reader

from press.live import SOURCES

pytestmark = pytest.mark.browser

REQUIRED = os.environ.get("OCOLIB_REQUIRE_BROWSER") == "1"
EXAMPLE = SOURCES.parents[1] / "live" / "example"
RUN, STUB = 1, 2


@pytest.fixture(scope="module")
def reader(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, folder / "book")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "book", "_build/html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if not (folder / "_build" / "html" / "_static" / "live.js").exists():
        (pytest.fail if REQUIRED else pytest.skip)("no runtime: run `python -m press runtime` to see why")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    with live_fixture.serve(folder / "_build" / "html") as address:
        page = Reader(context.new_page(), address)
        page.asked = []
        page.page.on("request", lambda request: page.asked.append(request.url))
        page.open("index")
        yield page
        assert not page.complaints
        assert not [url for url in page.asked if not url.startswith((address, "blob:", "data:"))]
    context.close()


def test_the_example_is_as_short_as_it_says():
    lines = (EXAMPLE / "conf.py").read_text("utf8").splitlines()
    assert len(lines) <= 10


def test_run_and_an_edit(reader):
    assert reader.run(RUN).strip() == "10"
    reader.write(RUN, "import numpy as np\nnumbers = np.arange(7)\nnumbers.sum()")
    assert reader.run(RUN).strip() == "21"
    reader.press(RUN, "Reset")


def test_stop(reader):
    reader.write(RUN, "while True:\n    pass")
    reader.press(RUN)
    reader.cell(RUN).get_by_text("Running", exact=True).wait_for(timeout=START)
    reader.press(RUN, "Stop")
    assert "All variables are kept" in reader.result(RUN)
    reader.press(RUN, "Reset")


def test_a_verdict(reader):
    def answer(body):
        stub = (EXAMPLE / "index.md").read_text("utf8")
        code = re.search(r"exercise: ex-twice\n---\n(.*?)```", stub, re.DOTALL)[1]
        reader.write(STUB, code.replace("None", body))
        reader.press(STUB, "Run and check")
        reader.result(STUB)
        return reader.cell(STUB).get_by_role("status").last.inner_text()

    assert answer("None") == "✗ twice(3) is 6, and yours is None"
    assert answer("[x, x]").startswith("✗ twice(3) is 6")
    assert answer("x / 0").startswith("✗ The check did not finish: ZeroDivisionError")
    assert answer("2 * x") == "✓ right: every check of this cell holds"
    assert reader.page.evaluate("localStorage.getItem('live:done:ex-twice') !== null")


def test_what_is_not_there_gets_a_sentence(reader):
    reader.write(RUN, "import scipy")
    assert "There is no SciPy in the browser: this page has NumPy." in reader.run(RUN)
