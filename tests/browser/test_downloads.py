"""What the download button gives works alone: where there are Jupyter and NumPy and nothing else."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from press.html import downloads

pytestmark = pytest.mark.browser
ALONE = "one-algorithm"  # all its cells need NumPy and ocolib alone
RUN = """
import sys
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""


def needed(*names):
    """{name: distribution} of these and of all that they need."""
    found, waiting = {}, list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = distribution(name)
            asked = map(Requirement, found[name].requires or [])
            waiting += [r.name for r in asked if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


def link(source, target):
    """A second name for the same file, or a copy where there cannot be one."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """The Python of an environment with pip, ipykernel, nbclient and NumPy, as they are here."""
    home = tmp_path_factory.mktemp("jupyter") / "venv"
    venv.create(home)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)}))
    parts = {
        found.locate_file(file.parts[0])
        for found in needed("pip", "ipykernel", "nbclient", "numpy").values()
        for file in found.files
        if file.parts[0] not in ("..", "__pycache__")
    }
    for part in map(Path, parts):
        if part.is_dir():
            shutil.copytree(part, site / part.name, copy_function=link)
        else:
            link(part, site / part.name)
    return home / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def executed(python, path):
    """Run the notebook in its own folder; its outputs by cell."""
    done = subprocess.run([python, "-c", RUN, path.name], cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads(path.read_text("utf8"))["cells"]
    return {cell["id"]: cell["outputs"] for cell in cells if cell["cell_type"] == "code"}


def taken(page, address, name, folder):
    """Press the button below a page; the file that the browser saves."""
    page.goto(f"{address}/book/{name}.html")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the notebook").click()
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target


def printed(outputs):
    return "".join("".join(output.get("text", "")) for output in outputs)


def test_the_button_writes_the_address_of_the_site(desktop, address, tmp_path):
    file = taken(desktop, address, "lecture-13-oco/the-game", tmp_path)
    assert file.name == "the-game.ipynb"
    cells = json.loads(file.read_text("utf8"))["cells"]
    assert f'\naddress = "{address}/{downloads.wheel_name()}"\n' in "".join(cells[0]["source"])
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert f"[subgradients]({address}/book/lecture-13-oco/subgradients.html)" in text
    assert ".ipynb" not in text


def test_without_scripts_the_notebook_is_downloaded_as_it_is(browser, address, tmp_path):
    context = browser.new_context(java_script_enabled=False)
    cells = json.loads(taken(context.new_page(), address, ALONE, tmp_path).read_text("utf8"))["cells"]
    context.close()
    assert '\naddress = ""\n' in "".join(cells[0]["source"])


def test_from_a_file_a_sentence_says_what_to_do(desktop, html):
    desktop.goto((html / "book" / f"{ALONE}.html").as_uri())
    assert (
        "take all notebooks"
        in desktop.locator(".page-foot li", has_text="Download the notebook").inner_text()
    )


def test_a_downloaded_notebook_runs_alone(desktop, address, jupyter, tmp_path):
    """The page's own numbers, from a wheel that its first cell fetched."""
    probe = subprocess.run([jupyter, "-c", "import ocolib"], cwd=tmp_path, capture_output=True)
    assert probe.returncode, "the environment is not empty"
    file = taken(desktop, address, ALONE, tmp_path)
    before = {c["id"]: c["outputs"] for c in json.loads(file.read_text("utf8"))["cells"] if "outputs" in c}
    after = executed(jupyter, file)
    first, *rest = after
    assert not [line for line in printed(after[first]).splitlines() if "rror" in line]
    assert len(rest) > 10 and all(printed(after[name]) == printed(before[name]) for name in rest)


@pytest.mark.long
def test_the_zip_runs_without_the_site(html, jupyter, tmp_path):
    """The wheel lies beside the notebooks. No index is asked: what else is needed is there."""
    subprocess.run([jupyter, "-m", "pip", "uninstall", "-q", "-y", "ocolib"], capture_output=True, check=True)
    with zipfile.ZipFile(html / downloads.BUNDLE) as bundle:
        bundle.extractall(tmp_path)
    folder = tmp_path / downloads.TOP
    assert (folder / "scale" / "phases.csv").exists() and (folder / "READ-ME.txt").exists()
    file = folder / "limits" / "certificates.ipynb"
    notebook = json.loads(file.read_text("utf8"))
    last = next(n for n, cell in enumerate(notebook["cells"]) if printed(cell.get("outputs", [])))
    notebook["cells"] = notebook["cells"][: last + 1]  # the first that prints something will do
    file.write_text(json.dumps(notebook), "utf8")
    assert printed(executed(jupyter, file)[notebook["cells"][last]["id"]])


def test_where_nothing_can_be_had_a_sentence_says_so(html, jupyter, tmp_path):
    subprocess.run([jupyter, "-m", "pip", "uninstall", "-q", "-y", "ocolib"], capture_output=True, check=True)
    file = Path(shutil.copy(html / "downloads" / f"{ALONE}.ipynb", tmp_path))
    done = subprocess.run([jupyter, "-c", RUN, file.name], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and "This page needs ocolib, which is not installed here" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", ["regret-bounds/pegasos", "scale/phases"])
def test_a_page_that_needs_more_runs_alone_too(name, desktop, address, jupyter, tmp_path):
    """Solver, records and recorded data: from the index and from the site."""
    after = executed(jupyter, taken(desktop, address, name, tmp_path))
    assert sum(bool(outputs) for outputs in after.values()) > 10


def test_all_that_is_offered_is_there(html):
    names = zipfile.ZipFile(io.BytesIO((html / downloads.BUNDLE).read_bytes())).namelist()
    for page in (html / "book").rglob("*.html"):
        for link in re.findall(r'href="([^"]*/downloads/[^"]+)"', page.read_text("utf8")):
            assert (page.parent / link).resolve().exists(), link
        name = page.relative_to(html / "book").with_suffix(".ipynb").as_posix()
        if (html / "downloads" / name).exists():
            assert f"{downloads.TOP}/{name}" in names


def test_figures_have_the_numbers_of_the_page(html):
    for file in sorted((html / "downloads").rglob("*.ipynb")):
        page = html / "book" / file.relative_to(html / "downloads").with_suffix(".html")
        shown = re.findall(r'class="caption-number">\s*Figure (\d+)', page.read_text("utf8"))
        assert re.findall(r"\*\*Figure (\d+)\.\*\*", file.read_text("utf8")) == shown, file.name
