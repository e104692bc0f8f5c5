"""Slides from the finished pages: a reveal.js deck a chapter, _build/slides/<chapter>/index.html.

python tools/slides.py [--to FOLDER] [chapter ...]    `make book` must have built the pages

On a slide stands what a class should see: statements, pictures (moving where they move on the page), proofs
as tables, what breaks, what to remember. The prose between them becomes the speaker's notes. Chromium
measures every slide here; what does not fit is made smaller, or split.
"""

import argparse
import re
import shutil
import sys
import tempfile
from copy import copy
from html import escape
from pathlib import Path

import built  # which finds the book's extensions
import chromium_print
import offline
import runtime
import sealed
from bs4 import BeautifulSoup

RECIPE = Path(__file__).with_name("slides")
TARGET = built.ROOT / "_build" / "slides"
REVEAL = built.ROOT / "_build" / "reveal"
REVEAL_FILES = ("dist/reveal.js", "dist/reveal.css", "LICENSE")
REVEAL_FILES += ("plugin/notes/notes.js", "plugin/notes/speaker-view.html")
BOOK_FILES = ("pygments.css", "companion.css", "figures/figures.css", "figures.js")
STYLES = ("reveal", "mathjax", "pygments", "letters", "type", "companion", "figures", "deck")
SCRIPTS = ("reveal.js", "notes.js", "deck.js")
SIZE = {"width": 1280, "height": 720}
DECK = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-from="file">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{head}
</head>
<body>
<div class="reveal"><div class="slides bd-article">
{slides}
</div></div>
{scripts}
</body>
</html>
"""


# ---------------------------------------------------------------- what a page has to show


class Reader:
    """Goes through a page and collects slides; prose goes to the notes of the slide that it stands with."""

    def __init__(self, page):
        self.page, self.slides, self.waiting = page, [], []
        self.section, self.anchor = "", ""
        self.exercises = []
        self.walk(page.article)

    def walk(self, parent):
        for element in parent.find_all(True, recursive=False):
            if element.name == "section":
                self.walk(element)
            elif re.fullmatch("h[1-6]", element.name):
                self.enter(element)
            else:
                self.take(element)

    def enter(self, heading):
        """A new section: prose that waits for a slide belongs to the one before."""
        if self.slides:
            self.slides[-1].notes += self.waiting
            self.waiting = []
        self.section, self.anchor = "" if heading.name == "h1" else heading, heading.parent.get("id", "")

    def breaks(self):
        return bool(self.section) and self.section.get_text().startswith("Break it")

    def take(self, element):
        classes = element.get("class", [])
        if "exercise" in classes:
            self.exercises.append(element)
        elif "box" in classes and "proof" not in classes:
            self.show("statement", element)
        elif "remember" in classes:
            self.section, self.anchor = "", ""
            self.show("remember", element)
        elif "goals" in classes:
            self.show("goals", element)
        elif element.name == "moving-figure":
            element["class"] = "mf-full"  # the size for a hall
            self.show("moving", element)
        elif "cell" in classes:
            self.cell(element)
        elif element.name == "figure" or element.select_one("figure, img"):
            self.show("picture", element)
        elif element.select_one(".box:not(.proof)"):
            self.walk(element)
        elif element.name in ("details", "div", "p", "ul", "ol", "dl", "table"):
            self.say(element)

    def cell(self, cell):
        """Of code only its picture; else, where something breaks, all of an open cell; else its proof."""
        if "tag_exercise" in cell["class"] or "tag_solution" in cell["class"]:
            return
        picture = cell.select_one("figure, img")
        chain = cell.select_one("table.proof-chain")
        folded = cell.select_one("details")
        if picture:
            self.show("picture", picture)
        elif self.breaks() and not folded and cell.select_one(".cell_output"):
            self.show("break", *self.claim(), cell)
        elif chain:
            self.show("chain", chain)

    def claim(self):
        """The words in bold that open what is broken."""
        found = [prose.find("strong", recursive=False) for prose in self.waiting if prose.name == "p"]
        return [headline(strong) for strong in found[-1:] if strong]

    def say(self, element):
        if self.slides and self.slides[-1].section is self.section and not self.breaks():
            self.slides[-1].notes.append(element)
        else:
            self.waiting.append(element)

    def show(self, kind, *content):
        identifier = next((e["id"] for e in content if e.get("id")), "") or self.anchor
        self.slides.append(Slide(self, kind, identifier, content, self.waiting))
        self.waiting = []


def headline(strong):
    result = copy(strong)
    result.name, result["class"] = "p", "claim"
    return result


class Slide:
    """What is shown, and what is said."""

    def __init__(self, source, kind, identifier, content, notes):
        self.page, self.section, self.kind = source.page, source.section, kind
        self.identifier, self.content, self.notes = identifier, content, list(notes)


def slides_of(page):
    """The slides of a page, the first its title; none if it has nothing to show."""
    reader = Reader(page)
    if reader.slides:
        reader.slides[-1].notes += reader.waiting
    shown = [slide for slide in reader.slides if slide.kind != "goals"]
    goals = [slide for slide in reader.slides if slide.kind == "goals"]
    if not shown:
        return []
    reader.section = ""
    title = Slide(reader, "title", built.slug(page.name), [heading(page), *(g.content[0] for g in goals)], [])
    title.notes = [note for slide in goals for note in slide.notes]
    last = [Slide(reader, "exercises", "", [list_of(reader.exercises)], [])] if reader.exercises else []
    return [title, *shown, *last]


def element(markup):
    return BeautifulSoup(markup, "html.parser").find(True)


def heading(page):
    return element(f"<h2>{page.heading}</h2>")


def list_of(exercises):
    """The titles of a page's exercises; the exercises themselves are on the page."""
    titles = ((box["id"], box.select_one(".admonition-title").decode_contents()) for box in exercises)
    items = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in titles)
    return element(f'<div class="list"><p class="claim">Exercises</p><ul>{items}</ul></div>')


# ---------------------------------------------------------------- a deck


class Deck:
    """One chapter as markup. It knows where the book is, and which pictures it needs."""

    def __init__(self, caption, pages, home):
        self.caption, self.home, self.pictures, self.taken = caption, home, set(), set()
        stacks = [slides_of(page) for page in pages]
        self.markup = self.cover() + "".join(self.stack(slides) for slides in stacks if slides)

    def cover(self):
        config = built.config()
        return (
            f'<section id="start" class="leaf cover"><div class="fit"><h1>{escape(self.caption)}</h1>'
            f'<p><a href="{self.home}/index.html">{escape(config["title"])}</a></p>'
            f"<p>{escape(config['author'])}</p></div></section>\n"
        )

    def stack(self, slides):
        return f"<section>\n{''.join(map(self.slide, slides))}</section>\n"

    def slide(self, slide):
        content = "".join(str(self.cleaned(slide.page, part)) for part in slide.content)
        notes = "".join(str(spoken(self.cleaned(slide.page, note))) for note in slide.notes)
        address = f"{self.home}/{slide.page.name}.html"
        place = f"#{slide.identifier}" if slide.identifier and slide.kind != "title" else ""
        where = f'<a href="{address}{place}">{slide.page.title}</a>'
        if slide.section:
            where += f"<span>{self.cleaned(slide.page, slide.section).decode_contents()}</span>"
        return (
            f'<section id="{self.name(slide)}" class="leaf {slide.kind}"><p class="where">{where}</p>'
            f'<div class="fit">{content}</div><aside class="notes">{notes}</aside></section>\n'
        )

    def name(self, slide):
        """An address that no other slide has."""
        wanted = slide.identifier or f"{built.slug(slide.page.name)}-{slide.kind}"
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}-{number}", number + 1
        self.taken.add(name)
        return name

    def cleaned(self, page, part):
        """A copy whose links lead to the book and whose pictures lie with the slides."""
        part = copy(part)
        for inner in [part, *part.find_all(True)]:
            if inner.get("id") and inner.name != "moving-figure":
                del inner["id"]
            if inner.name == "a" and inner.get("href") and (target := page.target(inner["href"])):
                name, place = target
                inner["href"] = f"{self.home}/{name}.html" + (f"#{place}" if place else "")
            if inner.name == "img" and not inner["src"].startswith("../"):
                self.pictures.add(inner["src"])
                inner["src"] = f"../{inner['src']}"
            if inner.name == "details":
                inner["open"] = ""
        return part


def spoken(part):
    """Prose for the notes, whose window has none of our styles: formulas as MathML."""
    for formula in part.select("mjx-container"):
        formula.replace_with(formula.select_one("math"))
    for picture in part.select("img"):
        picture.decompose()
    return part


# ---------------------------------------------------------------- files


def reveal():
    """reveal.js out of the npm registry, with checksum, once."""
    if not all((REVEAL / Path(name).name).exists() for name in REVEAL_FILES):
        with tempfile.TemporaryDirectory() as work:
            runtime.install_npm(Path(work), RECIPE)
            REVEAL.mkdir(parents=True, exist_ok=True)
            for name in REVEAL_FILES:
                shutil.copy(Path(work, "node_modules", "reveal.js", name), REVEAL)
    return REVEAL


def write_files(target, html):
    """Scripts, styles and letters beside the decks: they need no others, also from a file."""
    static = target / "_static"
    static.mkdir(parents=True, exist_ok=True)
    for file in reveal().iterdir():
        shutil.copy(file, static)
    for name in BOOK_FILES:
        shutil.copy(html / "_static" / name, static)
    for name in ("deck.css", "deck.js"):
        shutil.copy(RECIPE / name, static)
    colours = re.sub(
        r"^@font-face .*url.*\n", "", (html / "_static" / "type.css").read_text("utf8"), flags=re.M
    )
    (static / "type.css").write_text(colours, "utf8")
    (static / "letters.css").write_text(built.letters(html), "utf8")
    mathjax = (html / "_static" / "mathjax.css").read_text("utf8")
    (static / "mathjax.css").write_text(with_letters(mathjax, html / "_static"), "utf8")


def with_letters(css, static):
    """A stylesheet with its fonts inside: a page that is a file may fetch no other."""
    return re.sub(r'url\("([^"]*)"\)', lambda match: f"url({offline.as_data(static / match[1])})", css)


def page_of(title, slides, scripts):
    """A deck, or without scripts what is measured."""
    head = "\n".join(f'<link rel="stylesheet" href="../_static/{name}.css">' for name in STYLES)
    tags = "\n".join(f'<script src="../_static/{name}"></script>' for name in scripts)
    view = (REVEAL / "speaker-view.html").read_text("utf8")
    rules = sealed.policy(view) + "; frame-src 'self'"
    policy = sealed.META.format(policy=rules)
    return DECK.format(title=escape(title), policy=policy, head=head, slides=slides, scripts=tags)


def fitted(file):
    """The slides of a file, each made to fit its frame."""
    with chromium_print.opened(file, **SIZE) as page:
        page.emulate_media(media="screen")
        return page.evaluate((RECIPE / "fit.js").read_text("utf8"), SIZE)


def write(caption, names, target=TARGET, html=built.HTML):
    """The deck of one chapter; returns its file."""
    folder = target / folder_of(names)
    folder.mkdir(parents=True, exist_ok=True)
    home = built.reader.site(built.config()) or built.relative(folder, html)
    deck = Deck(caption, [built.Page(name, html) for name in names], home)
    (target / "_images").mkdir(exist_ok=True)
    for picture in deck.pictures:
        shutil.copy(html / picture, target / picture)
    file = folder / "index.html"
    file.write_text(page_of(caption, deck.markup, ()), "utf8")
    slides = fitted(file)
    moving = ("figures.js",) if "<moving-figure" in slides else ()
    file.write_text(page_of(caption, slides, (*moving, *SCRIPTS)), "utf8")
    return file


def chapters():
    """{folder: (caption, pages)} of the parts that are made for a class."""
    parts = [(part, names) for part, names in built.contents() if part not in ("", built.BACK)]
    return {folder_of(names): (part, names) for part, names in parts}


def folder_of(names):
    """The folder in which the pages of a chapter lie; one page of it may lie in `book/` itself."""
    return names[-1].split("/")[-2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapter", nargs="*", help="chapters, such as lecture-13-oco (default: all)")
    parser.add_argument("--to", type=Path, default=TARGET, metavar="FOLDER")
    wanted = parser.parse_args()
    target = wanted.to.resolve()
    try:
        write_files(target, built.HTML)
        for chapter, (caption, names) in chapters().items():
            if not wanted.chapter or chapter in wanted.chapter:
                print(write(caption, names, target))
    except (chromium_print.NoChromium, runtime.Unavailable) as reason:
        print(f"No slides: {reason}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
