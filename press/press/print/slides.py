"""Make slides from the finished pages: one reveal.js deck per chapter, _build/slides/<chapter>/index.html.

python -m press slides [--edition student] [--to FOLDER] [chapter ...]    after make book

The slides show what a class should see: statements, pictures (interactive ones stay interactive), proofs line
by line, counterexamples, summaries and exercises. The prose between them becomes the speaker's notes.
Chromium measures every slide; one that does not fit is scaled down or split (`press/js/slides/fit.js`).
"""

import argparse
import re
import shutil
from copy import copy
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup

from press import HOME
from press.html import offline, sealed
from press.js import build
from press.print import (
    built,  # reads the finished pages
    chromium,
)

RECIPE = HOME / "js" / "slides"
TARGET = built.ROOT / "_build" / "slides"
REVEAL = ("dist/reveal.css", "LICENSE")
BOOK_FILES = ("pygments.css", "companion.css", "questions.css", "figures/figures.css", "figures.js")
STYLES = ("reveal", "mathjax", "pygments", "letters", "type", "companion", "questions", "figures", "deck")
SCRIPTS = ("deck.js",)
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
    """Walk through a page and collect slides; prose goes to the notes of the slide it belongs to."""

    def __init__(self, page):
        self.page, self.slides, self.waiting = page, [], []
        self.section, self.anchor = "", ""
        self.exercises = []
        self.walk(page.article)

    def walk(self, parent):
        """Visit the elements below `parent` in order."""
        for element in parent.find_all(True, recursive=False):
            if element.name == "section":
                self.walk(element)
            elif re.fullmatch("h[1-6]", element.name):
                self.enter(element)
            else:
                self.take(element)

    def enter(self, heading):
        """Begin a section; prose that still waits goes to the notes of the slide before."""
        if self.slides:
            self.slides[-1].notes += self.waiting
            self.waiting = []
        self.section, self.anchor = "" if heading.name == "h1" else heading, heading.parent.get("id", "")

    def breaks(self):
        """Return whether the current section is a “Break it” section."""
        return bool(self.section) and self.section.get_text().startswith("Break it")

    def take(self, element):
        """Turn an element into a slide, an exercise or notes, depending on its kind."""
        classes = element.get("class", [])
        if "exercise" in classes:
            self.exercises.append(asked(element))
        elif "quick" in classes:
            self.show("question", question(element))
        elif "hints" in classes:
            return  # hints stay on the page
        elif "proof" in classes and "box" in classes:
            self.show("proof", stepwise(element))
        elif "box" in classes:
            self.show("statement", element)
        elif "remember" in classes:
            self.section, self.anchor = "", ""
            self.show("remember", element)
        elif "goals" in classes:
            element.select_one(".admonition-title").string = "Goals"  # not "On this page"
            self.show("goals", element)
        elif element.name == "moving-figure":
            element["class"] = "mf-full"  # large enough for a lecture hall
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
        """Show a code cell: its picture if it has one; otherwise the output of a counterexample, or a proof.

        In a “Break it” section a visible cell is shown completely.
        """
        if {"tag_exercise", "tag_solution", "tag_lines"} & {*cell["class"]}:
            return
        picture = cell.select_one("figure, img")
        chain = cell.select_one("table.proof-chain")
        folded = cell.select_one("details")
        if picture:
            self.show("picture", picture)
        elif self.breaks() and not folded and cell.select_one(".cell_output"):
            self.show("break", *self.claim(), cell)
        elif chain:
            self.show("chain", stepwise(chain))

    def claim(self):
        """Return the bold words that announce what is broken, or else the heading, as a headline."""
        found = [prose.find("strong", recursive=False) for prose in self.waiting if prose.name == "p"]
        return [headline((found and found[-1]) or self.section)]

    def say(self, element):
        """Add prose to the notes of the current slide, or keep it for the next one."""
        if self.slides and self.slides[-1].section is self.section and not self.breaks():
            self.slides[-1].notes.append(element)
        else:
            self.waiting.append(element)

    def show(self, kind, *content):
        """Add a slide with this content."""
        identifier = next((e["id"] for e in content if e.get("id")), "") or self.anchor
        self.slides.append(Slide(self, kind, identifier, content, self.waiting))
        self.waiting = []


def stepwise(part):
    """Return a proof whose lines appear one by one: paragraphs and formulas of a box, or rows of a table."""
    result = copy(part)
    rows = result.select("tbody tr") or [
        line for line in result.find_all(True, recursive=False) if "box-head" not in line.get("class", [])
    ]
    for line in rows[1:]:  # the first line is visible from the start
        line["class"] = [*line.get("class", []), "fragment"]
    return result


def question(box):
    """Return a quick question for the class: the question and the choices, without the answer."""
    result = copy(box)
    for part in result.select("details, .field, .headerlink, legend, input"):
        part.decompose()
    return result


def asked(box):
    """Return an exercise for the class, without answers and input fields."""
    result = copy(box)
    for part in result.select("details, .field, .headerlink, input, textarea, button, .proof-work > label"):
        part.decompose()
    return result


def headline(words):
    """Return bold words as a headline."""
    result = copy(words)
    result.name, result["class"] = "p", "claim"
    return result


class Slide:
    """One slide: its content and the speaker's notes."""

    def __init__(self, source, kind, identifier, content, notes):
        self.page, self.section, self.kind = source.page, source.section, kind
        self.identifier, self.content, self.notes = identifier, content, list(notes)


def slides_of(page):
    """Return the slides of a page, starting with its title; none if it has nothing to show."""
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
    return [title, *shown, *(Slide(reader, "exercise", box["id"], [box], []) for box in reader.exercises)]


def element(markup):
    """Return the element that the markup describes."""
    return BeautifulSoup(markup, "html.parser").find(True)


def heading(page):
    """Return the title of a page as an element."""
    return element(f"<h2>{page.heading}</h2>")


# ---------------------------------------------------------------- a deck


class Deck:
    """The slides of one chapter as HTML, with the list of pictures that they need."""

    def __init__(self, caption, pages, home):
        self.caption, self.home, self.pictures, self.taken = caption, home, set(), set()
        stacks = [slides_of(page) for page in pages]
        self.markup = self.cover() + "".join(self.stack(slides) for slides in stacks if slides)

    def cover(self):
        """Return the first slide: chapter, book and author."""
        config = built.config.settings()
        return (
            '<section id="start" class="leaf" data-kind="cover">'
            f'<div class="fit"><h1>{escape(self.caption)}</h1>'
            f'<p><a href="{self.home}/index.html">{escape(config["title"])}</a></p>'
            f"<p>{escape(config['author'])}</p></div></section>\n"
        )

    def stack(self, slides):
        """Return the slides of one page as a vertical stack."""
        return f"<section>\n{''.join(map(self.slide, slides))}</section>\n"

    def slide(self, slide):
        """Return the HTML of one slide."""
        content = "".join(str(self.cleaned(slide.page, part)) for part in slide.content)
        notes = "".join(str(spoken(self.cleaned(slide.page, note))) for note in slide.notes)
        address = f"{self.home}/{slide.page.name}.html"
        place = f"#{slide.identifier}" if slide.identifier and slide.kind != "title" else ""
        where = f'<a href="{address}{place}">{slide.page.title}</a>'
        if slide.section:
            where += f"<span>{self.cleaned(slide.page, slide.section).decode_contents()}</span>"
        return (
            f'<section id="{self.name(slide)}" class="leaf" data-kind="{slide.kind}">'
            f'<p class="where">{where}</p>'
            f'<div class="fit">{content}</div><aside class="notes">{notes}</aside></section>\n'
        )

    def name(self, slide):
        """Return an id for the slide that no other slide has."""
        wanted = slide.identifier or f"{built.slug(slide.page.name)}-{slide.kind}"
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}-{number}", number + 1
        self.taken.add(name)
        return name

    def cleaned(self, page, part):
        """Return a copy whose links lead to the book and whose pictures lie with the slides."""
        part = copy(part)
        for inner in part.select(".slip, details.formal"):  # margin marks and Coq proofs
            inner.decompose()
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
    """Return prose for the notes window, which lacks our styles: formulas as MathML, no pictures."""
    for formula in part.select("mjx-container"):
        formula.replace_with(formula.select_one("math"))
    for unseen in part.select("img, .visually-hidden"):
        unseen.decompose()
    return part


# ---------------------------------------------------------------- files


def reveal():
    """Return the folder of reveal.js, as installed from the npm registry."""
    return build.packages() / "reveal.js"


def write_files(target, html):
    """Copy scripts, styles and fonts next to the decks, so that these also work as local files."""
    static = target / "_static"
    static.mkdir(parents=True, exist_ok=True)
    for name in REVEAL:
        shutil.copy(reveal() / name, static)
    for name in BOOK_FILES:
        shutil.copy(html / "_static" / name, static)
    shutil.copy(RECIPE / "deck.css", static)
    (static / "deck.js").write_text(build.bundle("slides/deck.js"), "utf8")
    colours = re.sub(
        r"^@font-face .*url.*\n", "", (html / "_static" / "type.css").read_text("utf8"), flags=re.M
    )
    (static / "type.css").write_text(colours, "utf8")
    (static / "letters.css").write_text(built.letters(html), "utf8")
    mathjax = (html / "_static" / "mathjax.css").read_text("utf8")
    (static / "mathjax.css").write_text(with_letters(mathjax, html / "_static"), "utf8")


def with_letters(css, static):
    """Return a style sheet with its fonts embedded, because a local page may not load other files."""
    return re.sub(r'url\("([^"]*)"\)', lambda match: f"url({offline.as_data(static / match[1])})", css)


def page_of(title, slides, scripts):
    """Return a deck as a complete page; without scripts it is the version that is measured."""
    head = "\n".join(f'<link rel="stylesheet" href="../_static/{name}.css">' for name in STYLES)
    tags = "\n".join(f'<script src="../_static/{name}"></script>' for name in scripts)
    view = (reveal() / "plugin" / "notes" / "speaker-view.html").read_text("utf8")
    rules = sealed.policy(view) + "; frame-src 'self'"
    policy = sealed.META.format(policy=rules)
    return DECK.format(title=escape(title), policy=policy, head=head, slides=slides, scripts=tags)


def fitted(file):
    """Return the slides of a file, each scaled or split to fit its frame."""
    with chromium.opened(file, **SIZE) as page:
        page.emulate_media(media="screen")
        return page.evaluate((RECIPE / "fit.js").read_text("utf8"), SIZE)


def write(caption, names, target=TARGET, html=built.HTML):
    """Write the deck of one chapter; return its file."""
    folder = target / folder_of(names)
    folder.mkdir(parents=True, exist_ok=True)
    home = built.config.site(built.config.settings()) or built.relative(folder, html)
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
    """Return {folder: (caption, pages)} for the chapters that get slides."""
    parts = [(part, names) for part, names in built.contents() if part not in ("", built.BACK)]
    return {folder_of(names): (part, names) for part, names in parts}


def folder_of(names):
    """Return the folder of a chapter's pages; its first page may be in `book/` itself."""
    return names[-1].split("/")[-2]


def main(arguments):
    """Parse the command line and write the decks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapter", nargs="*", help="chapters, such as lecture-13-oco (default: all)")
    parser.add_argument("--edition", default="", help="student or appendix, if that was built")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="output folder")
    wanted = parser.parse_args(arguments)
    html, folder = built.edition(wanted.edition)
    target = (wanted.to or folder / "slides").resolve()
    try:
        write_files(target, html)
        for chapter, (caption, names) in chapters().items():
            if not wanted.chapter or chapter in wanted.chapter:
                print(write(caption, names, target, html))
    except (chromium.NoChromium, build.Unavailable) as reason:
        print(f"The slides were not made: {reason}.")
        return 1
    return 0
