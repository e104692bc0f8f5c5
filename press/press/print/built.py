"""Read the finished HTML pages of the book, for the PDF and the slides.

Formulas are already typeset and boxes already drawn there, so no work is done twice.
"""

import os
import posixpath
from collections import Counter
from pathlib import Path

from bs4 import BeautifulSoup

from press import ROOT, config
from press.html import offline

HTML = ROOT / "_build" / "html"

BACK = "Back matter"
# Elements that only a screen needs: the foot, buttons, permalinks, dark versions of figures, scripts.
ON_SCREEN = ".page-foot, .page-facts, .headerlink, .equation-link, .filter, .moved, .pst-js-only, .face-dark"
ON_SCREEN += ", button, script, picture > source"


def edition(name):
    """Select an edition; return (folder of its pages, folder for what is made from them)."""
    if not name:
        return HTML, ROOT / "_build"
    folder = ROOT / "_build" / name
    config.use(folder)  # its own table of contents
    return folder / "html", folder


def contents():
    """Return [(caption, [page, ...])] in reading order; the introduction comes before the first part."""
    result = {"": ["book/intro"]}
    for page, part in config.parts().items():
        result.setdefault(part, []).append(page)
    return list(result.items())


class Page:
    """One finished page: title, style sheets, and the article without elements that only a screen needs."""

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
        """Return the path, from the root of the book, of a file that the page refers to."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.name), address.partition("?")[0]))

    def target(self, address):
        """Return (page or file of the book, anchor) for a link; None if it leaves the book."""
        if ":" in address.partition("#")[0]:
            return None
        file, _, place = address.partition("#")
        return (self.path(file).removesuffix(".html") if file else self.name), place

    def ids(self):
        """Return all ids in the article."""
        return [element["id"] for element in self.article.select("[id]")]


def sheets(pages):
    """Return all style sheets of the pages, in an order that agrees with the order on each page."""
    result = []
    for page in pages:
        place = 0
        for sheet in page.sheets:
            if sheet not in result:
                result.insert(place, sheet)
            place = result.index(sheet) + 1
    return result


def names(pages):
    """Return {(page, id): id in one document}; an id that occurs on two pages is prefixed with the page."""
    often = Counter(identifier for page in pages for identifier in set(page.ids()))
    return {
        (page.name, identifier): identifier if often[identifier] == 1 else f"{slug(page.name)}--{identifier}"
        for page in pages
        for identifier in page.ids()
    }


def slug(name):
    """Return the name of a page as part of an id."""
    return name.removeprefix("book/").replace("/", "-")


def relative(folder, html=HTML):
    """Return the relative path from a folder to the built book."""
    return Path(os.path.relpath(html, folder)).as_posix()


def letters(html=HTML):
    """Return a style sheet with the book's fonts embedded."""
    return offline.letters(html / "_static").replace("font-display: swap", "font-display: block")
