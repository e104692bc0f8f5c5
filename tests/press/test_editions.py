"""Test that the student edition contains no solution anywhere, and that editions have the same addresses."""

import os
import re
import subprocess
import sys

import pytest
from leaks import leaks

from press import ledger
from press.pages import notebooks

ROOT = notebooks.ROOT
BUILD = ROOT / "_build"
ID = re.compile(r'\bid="([^"]+)"')
pytestmark = pytest.mark.long


def built(folder, *options):
    """Build as `make book EDITION=…` does; return the folder of the pages."""
    command = [sys.executable, "-m", "press", "book", *options, "--into", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "html"


@pytest.fixture(scope="module")
def student():
    return built(BUILD / "student", "student")


@pytest.fixture(scope="module")
def appendix():
    return built(BUILD / "appendix", "appendix")


def test_no_file_of_the_student_edition_tells_a_solution(student):
    assert not {name: files for name, files in leaks(student).items() if files}


def test_the_search_would_find_them():
    """In the full book each solution is on its page, in its notebook, and in the zip."""
    for name, files in leaks(BUILD / "html").items():
        kinds = {file.rpartition(".")[2] for file in files}
        assert {"html", "ipynb"} <= kinds and any(".zip/" in file for file in files), name


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return {edition: folder} with slides, PDF and sheets of one lecture, without and with solutions."""
    file = tmp_path_factory.mktemp("course") / "alone.yml"
    file.write_text("parts: [{title: The lecture, pages: [lecture-13-oco]}]", "utf8")
    found = {}
    for edition in ("student", ""):
        folder = BUILD / "-".join(filter(None, ("alone", edition)))
        command = [sys.executable, "-m", "press"]
        others = ["--edition", folder.name]
        for words in (
            ["book", *filter(None, [edition]), "--course", str(file)],
            ["slides", *others],
            ["pdf", *others],
            ["sheet", "13", "--edition", edition, "--into", str(folder / "sheets")],
        ):
            done = subprocess.run([*command, *words], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        found[edition] = folder
    return found


@pytest.mark.parametrize("kind", ["html", "slides", "pdf", "sheets"])
def test_nothing_made_from_a_student_edition_tells_a_solution(made, kind):
    assert not {name: files for name, files in leaks(made["student"] / kind).items() if files}
    if kind != "slides":  # slides never have solutions
        found = {name for name, files in leaks(made[""] / kind).items() if files}
        ours = {name for name in found if name.startswith("ex-")}
        assert len(ours) >= 15, "in the full book the search finds them"


def test_the_appendix_has_them_all_and_no_other_page_has(appendix):
    for name, files in leaks(appendix).items():
        assert files == {"book/solutions.html"}, name
    page = (appendix / "book" / "solutions.html").read_text("utf8")
    for text in notebooks.pages():
        docname = notebooks.notebook_of(text).relative_to(ROOT).with_suffix(".html")
        for name in notebooks.exercises(notebooks.read(text)):
            assert f'id="solution-{name}"' in page and f"{docname.relative_to('book')}#{name}" in page
            assert f"solutions.html#solution-{name}" in (appendix / docname).read_text("utf8")


@pytest.mark.parametrize("edition", ["student", "appendix"])
def test_addresses_are_the_same_in_all_editions(edition, request):
    html = request.getfixturevalue(edition)
    known = {ledger.anchor(entry["id"]) for entry in ledger.entries(ledger.load())}
    known |= {name for text in notebooks.pages() for name in notebooks.exercises(notebooks.read(text))}
    seen = set()
    for page in (BUILD / "html" / "book").rglob("*.html"):
        there, here = (
            known & set(ID.findall(file.read_text("utf8")))
            for file in (page, html / page.relative_to(BUILD / "html"))
        )
        assert there == here, page.name
        seen |= here
    assert seen == known


def test_a_student_edition_opens_no_notebook_with_solutions(tmp_path_factory):
    """Its buttons lead to the branch with the downloads of this edition; no link leads to the source."""
    html = built(tmp_path_factory.mktemp("class"), "student", "--url", "https://github.com/Owner/name")
    page = (html / "book" / "lecture-13-oco" / "the-game.html").read_text("utf8")
    assert "blob/notebooks/lecture-13-oco/the-game.ipynb" in page and "/blob/main/" not in page
    assert "/edit/main/" not in page


def test_a_book_with_an_address_has_its_links(tmp_path_factory):
    """A made-up repository: links to edit, report and launch, and downloads that know the site."""
    html = built(tmp_path_factory.mktemp("somewhere"), "--url", "https://github.com/Owner/name")
    page = (html / "book" / "lecture-13-oco" / "the-game.html").read_text("utf8")
    for link in (
        "https://github.com/Owner/name/edit/main/pages/lecture-13-oco/the-game.md",
        "https://github.com/Owner/name/issues/new?title=The%20game%20and%20its%20regret",
        "https://colab.research.google.com/github/Owner/name/blob/notebooks/lecture-13-oco/the-game.ipynb",
        "https://mybinder.org/v2/gh/Owner/name/notebooks?urlpath=lab%2Ftree%2Flecture-13-oco%2Fthe-game.ipynb",
    ):
        assert f'href="{link}"' in page or f'href="{link.replace("%2F", "/")}"' in page, link
    card = "_static/cards/book-lecture-13-oco-the-game.png"
    assert f'content="https://owner.github.io/name/{card}"' in page and (html / card).exists()
    notebook = (html / "downloads" / "lecture-13-oco" / "the-game.ipynb").read_text("utf8")
    assert re.search(r"address = .{1,2}https://owner.github.io/name/downloads/ocolib-[\d.]+-py3", notebook)
    env = {"BOOK_HTML": str(html)}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "tests/browser/test_built_book.py"]
    command += ["tests/browser/test_links.py"]
    command += ["-k", "(link and not dead_link) or the-game or for-lecturers"]  # 404 has its address
    done = subprocess.run(command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
