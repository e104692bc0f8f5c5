"""Test courses: selected pages in another order, with links to omitted pages replaced."""

import re
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup

from press import ROOT, config, edition
from press.print import built, pdf, slides
from press.sphinx import course

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
SITE = "https://owner.github.io/name"
ALONE = {
    "title": "One lecture",
    "site": SITE,
    "parts": [{"title": "The lecture", "pages": ["lecture-13-oco"]}],
}


def test_a_course_has_its_pages_in_its_order():
    asked = {"parts": [{"title": "B", "pages": ["regret-bounds/losses", "lecture-13-oco/the-game"]}]}
    made = edition.chosen(asked, TOC)
    assert [entry["file"] for entry in made["parts"][0]["chapters"]] == [
        "book/regret-bounds/losses",
        "book/lecture-13-oco/the-game",
    ]
    assert made["root"] == TOC["root"] and made["parts"][-1]["caption"] == "Back matter"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "list the pages under"),
        ({"parts": [{"title": "A", "pages": ["lecture-99"]}]}, "no page or chapter lecture-99"),
        ({"titel": "A", "parts": []}, "unknown key titel; known are lecturer, parts, site, title"),
        ({"parts": ["lecture-13-oco"]}, "a part needs `title:`"),
        ({"parts": [{"pages": ["lecture-13-oco"]}]}, "a part needs `title:`"),
        ({"parts": [{"title": "A", "pages": "lecture-13-oco"}]}, "a list `pages:`"),
        ({"parts": [{"title": "A", "pages": ["lecture-13-oco", "lecture-13-oco/the-game"]}]}, "listed twice"),
    ],
)
def test_a_mistake_in_it_is_a_sentence(asked, said):
    with pytest.raises(SystemExit, match=said):
        edition.chosen(asked, TOC)


def test_a_link_to_a_page_left_out_leads_to_the_full_book_or_is_plain():
    text = "See [the game](the-game.ipynb), [losses](../regret-bounds/losses.ipynb#x) and [a](https://x.org/a.md)."
    here, kept = "book/lecture-13-oco/winnow", {"book/lecture-13-oco/the-game"}
    linked = course.relink(text, here, kept, SITE)
    assert f"[losses]({SITE}/book/regret-bounds/losses.html#x)" in linked and "(the-game.ipynb)" in linked
    assert course.relink(text, here, kept, "") == text.replace(
        "[losses](../regret-bounds/losses.ipynb#x)", "losses"
    )


@pytest.mark.long
@pytest.mark.parametrize("site", [SITE, ""])
def test_lecture_13_alone_is_a_book(tmp_path, site):
    """Built strictly: no reference leads nowhere, and no other page of the book is in it."""
    file = tmp_path / "course.yml"
    file.write_text(yaml.safe_dump(ALONE | {"site": site}), "utf8")
    command = [
        sys.executable,
        "-m",
        "press",
        "book",
        "student",
        "--course",
        str(file),
        "--into",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    pages = {
        path.relative_to(tmp_path / "html").as_posix()
        for path in (tmp_path / "html" / "book").rglob("*.html")
    }
    assert "book/lecture-13-oco/the-game.html" in pages and "book/notation.html" in pages
    assert not [page for page in pages if re.match(r"book/(lecture-(?!13)|regret|limits|scale)", page)]
    assert not list((tmp_path / "html").rglob("_downloads/**/*.ipynb"))
    text = (tmp_path / "html" / "book" / "lecture-13-oco" / "online-subgradient-descent.html").read_text(
        "utf8"
    )
    assert (f'href="{SITE}/book/limits/' in text) == bool(site)
    home = (tmp_path / "html" / "book" / "intro.html").read_text("utf8")
    assert "<h1>One lecture" in home and "The lecture</h2>" in home.replace('<a class="headerlink"', "</h2>")
    assert nowhere(tmp_path / "html") == set()


def test_its_slides_and_its_pdf_open_with_its_title(tmp_path, monkeypatch):
    """And they name whose text it is."""
    folder = tmp_path / "_build" / "course"
    folder.mkdir(parents=True)
    ours = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    (folder / "_config.yml").write_text(yaml.safe_dump(ours | {"title": "Mine", "author": "Me"}), "utf8")
    monkeypatch.setitem(config.FILES, "folder", ROOT)
    monkeypatch.setattr(built, "ROOT", tmp_path)
    built.edition("course")
    for text in (pdf.title_page(".."), slides.Deck("Week 1", [], "..").cover()):
        assert "Mine" in text and "Me" in text and ours["title"] not in text
    assert ours["author"] in pdf.title_page("..")


def nowhere(html):
    """Return {(page, link)} for links that lead to no file."""
    found = set()
    for page in html.rglob("*.html"):
        for link in BeautifulSoup(page.read_text("utf8"), "html.parser").select("a[href]"):
            address = urlsplit(link["href"])
            if not address.scheme and not (page.parent / unquote(address.path)).exists():
                found.add((page.name, link["href"]))
    return found


def test_its_first_page_names_its_pages_and_no_other():
    made = edition.chosen(ALONE, TOC)
    page = edition.home({"title": "One lecture", "author": "Name"}, made, SITE)
    assert page.startswith("# One lecture\n\nName\n\n## The lecture\n\n- [](/book/lecture-13-oco/")
    assert "Back matter" not in page and f"({SITE})" in page
