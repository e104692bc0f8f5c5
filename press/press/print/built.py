"""Read the finished pages of the book, for the printed book and the slides.

They are read as they were built, with formulas set and boxes drawn, so nothing is made twice.
"""

import os
import posixpath
from collections import Counter
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from press import ROOT
from press.html import offline
from press.sphinx import reader

HTML = ROOT / "_build" / "html"

BACK = "Back matter"
# What only a screen needs: the foot, buttons, permalinks, the dark twins of figures, scripts.
ON_SCREEN = ".page-foot, .page-facts, .headerlink, .equation-link, .filter, .moved, .pst-js-only, .face-dark"
ON_SCREEN += ", button, script, picture > source"


def edition(name):
    """Read an edition from now on; return (where its pages are, where to put what is made of them)."""
    if not name:
        return HTML, ROOT / "_build"
    folder = ROOT / "_build" / name
    reader.FILES["folder"] = folder  # its own table of contents
    reader.parts.cache_clear()
    return folder / "html", folder


def config():
    return yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))


def contents():
    """[(caption, [page, ...])] in reading order; the introduction stands before the first part."""
    result = {"": ["book/intro"]}
    for page, part in reader.parts().items():
        result.setdefault(part, []).append(page)
    return list(result.items())


class Page:
    """One finished page: its title, its article without what only a screen needs, its stylesheets."""

    def __init__(self, name, html=HTML):
        self.name, self.html = name, html
        soup = BeautifulSoup((html / f"{name}.html").read_text("utf8"), "html.parser")
        self.sheets = [self.path(link["href"]) for link in soup.select("head link[rel=stylesheet]")]
        self.article = soup.select_one("article.bd-article")
        for part in self.article.select(ON_SCREEN):
            part.decompose()
        for narrow in self.article.select("picture > source"):  # for phones
            narrow.decompose()
        for picture in self.article.select("img"):
            del picture["loading"], picture["decoding"]
            picture["src"] = self.path(picture["src"])
        self.heading = self.article.h1.decode_contents()
        self.title = self.article.h1.get_text()
        self.sections = [(head.parent, head.get_text()) for head in self.article.select("section > h2")]

    def path(self, address):
        """A file that the page names, as seen from the root of the book."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.name), address.partition("?")[0]))

    def target(self, address):
        """Where a link leads: a page or file of the book and the place on it; None if it leads elsewhere."""
        if ":" in address.partition("#")[0]:
            return None
        file, _, place = address.partition("#")
        return (self.path(file).removesuffix(".html") if file else self.name), place

    def ids(self):
        return [element["id"] for element in self.article.select("[id]")]


def sheets(pages):
    """Every stylesheet that one of the pages has; what a page adds follows the one before it there."""
    result = []
    for page in pages:
        place = 0
        for sheet in page.sheets:
            if sheet not in result:
                result.insert(place, sheet)
            place = result.index(sheet) + 1
    return result


def names(pages):
    """{(page, id): its name in one document}; an id that two pages have gets the page's name before it."""
    often = Counter(identifier for page in pages for identifier in set(page.ids()))
    return {
        (page.name, identifier): identifier if often[identifier] == 1 else f"{slug(page.name)}--{identifier}"
        for page in pages
        for identifier in page.ids()
    }


def slug(name):
    return name.removeprefix("book/").replace("/", "-")


def relative(folder, html=HTML):
    """What stands before an address of the book in a file of that folder."""
    return Path(os.path.relpath(html, folder)).as_posix()


def letters(html=HTML):
    """The book's fonts inside a stylesheet."""
    return offline.letters(html / "_static").replace("font-display: swap", "font-display: block")
