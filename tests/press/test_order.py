"""Test the reading order: what a page or proof needs comes earlier in the table of contents."""

import posixpath
import re

import pytest
import yaml

from press import ledger

ROOT = ledger.ROOT
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
ORDER = [
    chapter["file"].removeprefix("book/")
    for part in TOC["parts"]
    if part["caption"] != "Back matter"  # pages for reference
    for chapter in part["chapters"]
]
LABEL = re.compile(r"^\(([\w.-]+)\)=|^:(?:label|name): +([\w.-]+)", re.MULTILINE)
LEANS = re.compile(
    r"\*\*You need\*\*(.*?)(?:\n\n|\n:::)|^(`{3,})\{prf:proof\}(.*?)^\2$", re.MULTILINE | re.DOTALL
)
PAGE = re.compile(r"\]\(([^)#\s]+)\.(?:ipynb|md)(?:#[^)]*)?\)")
ITEM = re.compile(r"\{(?:prf:ref|ref)\}`[^<`]*<([^>]+)>`")


def text(page):
    own = ROOT / "pages" / f"{page}.md"
    return (own if own.exists() else ROOT / "book" / f"{page}.md").read_text("utf8")


def later(order, text):
    """Return [(page, later page that it needs or that a proof on it uses)]."""
    place = {page: number for number, page in enumerate(order)}
    home = {label or name: page for page in order for label, name in LABEL.findall(text(page))}
    found = []
    for page in order:
        for needs, _, proof in LEANS.findall(text(page)):
            folder = posixpath.dirname(page)
            named = [posixpath.normpath(posixpath.join(folder, name)) for name in PAGE.findall(needs + proof)]
            named += [home[label] for label in ITEM.findall(needs + proof) if label in home]
            found += [(page, name) for name in named if place.get(name, -1) > place[page]]
    return found


def test_no_page_needs_a_later_one():
    assert later(ORDER, text) == []


@pytest.mark.parametrize(
    "leans",
    [
        "**You need** [the end](b.ipynb).\n\n",
        "**You need** {ref}`a fact <fact>`\n:::\n",
        "```{prf:proof}\nBy {prf:ref}`a fact <fact>`.\n```\n",
    ],
)
def test_a_later_page_is_found(leans):
    pages = {"x/a": leans, "x/b": "(fact)=\nA fact.\n"}
    assert later(["x/a", "x/b"], pages.get) == [("x/a", "x/b")]
    assert later(["x/b", "x/a"], pages.get) == []
    assert later(["x/a", "x/b"], (pages | {"x/a": "[the end](b.ipynb)"}).get) == []


def test_every_chapter_begins_with_its_opening_page():
    for part in TOC["parts"]:
        if part["caption"] != "Back matter":
            assert part["chapters"][0]["file"].endswith("/index"), part["caption"]
