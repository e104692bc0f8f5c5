"""Make an exercise sheet: python -m press sheet WHAT [--course course.yml] [--into FOLDER]

WHAT is the number of a lecture (13), a folder in pages/ (limits), or an assignment.yml. With an assignment
the sheet has its exercises, points and due date, and `make grade` grades it by the same file. With a course,
a number means a part of the course, starting from 1, and the pages come in the order of the course.

Writes a notebook and a PDF without solutions, both again with solutions, and the wheel of ocolib. Exercises
keep their ids, so submitted notebooks can be graded.
"""

import argparse
import itertools
import re
import shutil
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat.v4 import new_code_cell, new_markdown_cell
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from press import edition
from press.grade import assignment
from press.html import downloads, maths, offline
from press.pages import depends, exercise, notebooks, plain, questions
from press.print import chromium

HOW = """\
Write your answers into the cells that end with a check, and run the cells from the top. When you come back to
a section, run its cells from the heading on: sections share names."""
WHERE = "Each section is named after its page in the book; *above* and numbers such as (2) refer to it."
SCREEN = {"tags": ["screen"]}  # shown in the notebook, not on paper
BUILD = notebooks.ROOT / "_build"
STYLE = Path(__file__).with_name("sheet.css")
KINDS = {"exercises": False, "solutions": True}


@dataclass
class Sheet:
    """The content of a sheet: exercises of some pages, optionally with points and a due date."""

    name: str  # start of its file names
    title: str
    pages: list
    points: dict = field(default_factory=dict)  # {exercise: points}; empty: all exercises of the pages
    due: object = None
    of: str = ""  # course and lecturer

    def asks(self, name):
        """Return whether the exercise is on the sheet."""
        return not self.points or name in self.points


def sheet_of(asked, course=None):
    """Return the sheet of a lecture, an assignment, or a part of the course in the file `course`."""
    given = edition.read(course) if course else None
    toc = edition.contents(given)
    of = ", ".join(str(given[key]) for key in ("title", "lecturer") if given.get(key)) if given else ""
    if str(asked).endswith((".yml", ".yaml")):
        return _assigned(Path(asked), toc, of)
    if given:
        parts = dict(enumerate(toc["parts"][:-1], 1))  # without the back matter
        if not str(asked).isdigit() or int(asked) not in parts:
            raise SystemExit(f"no part {asked}: the course has parts 1 to {len(parts)}")
        part = parts[int(asked)]
        pages = [page for page in _pages(part) if plain.has_notebook(page)]
        return Sheet(f"{Path(course).stem}-{int(asked)}", part["caption"], pages, of=of)
    return Sheet(*lecture(asked, toc))


def _assigned(path, toc, of):
    """Return the sheet of an assignment."""
    given = assignment.read(path)
    wanted = {page_of(assignment.checks.book()[name][0]): name for name in given.exercises}
    ours = [page for part in toc["parts"] for page in _pages(part) if page in wanted]
    if missing := [name for page, name in wanted.items() if page not in ours]:
        raise SystemExit(f"{path}: the course leaves out the page of {missing[0]}")
    return Sheet(path.stem, given.title, ours, given.exercises, given.due, of)


def _pages(part):
    """Return the names of the pages in a part of the table of contents."""
    return [entry["file"].removeprefix("book/") for entry in part["chapters"]]


def lecture(asked, toc):
    """Return (folder, title, pages in reading order) of a lecture."""
    for part in toc["parts"]:
        pages = _pages(part)
        folder = next((page for page in pages if "/" in page), pages[0]).partition("/")[0]
        number = re.match(r"lecture-0*(\d+)", folder)
        if asked == folder or (number and asked.lstrip("0") == number[1]):
            return folder, part["caption"], [page for page in pages if plain.has_notebook(page)]
    raise SystemExit(f"no lecture {asked}: give the number of a lecture or a folder in pages/")


def asked_on(text, solutions=False):
    """Return {exercise: its box as text} for a page, including proofs, whose boxes have their answers."""
    found, known = {}, notebooks.exercises(notebooks.read(text))
    page = plain.Page(page_of(text), alone=True, answers="open" if solutions else "left out")
    for cell in notebooks.read(text):
        for block in plain.split(cell.source) if cell.cell_type == "markdown" else []:
            if not isinstance(block, plain.Block):
                continue
            name = block.argument if block.kind in questions.PROOFS else block.inside()[0].get("name")
            if name in known or block.kind in questions.PROOFS:
                found[name] = page.markdown(whole(block))
    return found


def page_of(text):
    """Return the name of a page, such as lecture-13-oco/the-game."""
    return text.relative_to(notebooks.TEXT).with_suffix("").as_posix()


def whole(block):
    """Return a directive as text again."""
    return "\n".join([f"````{{{block.kind}}} {block.argument}", *block.lines, "````"])


def needed(code, places):
    """Return one cell with everything that the cells at `places` build on, without exercises."""
    passive = {n for n, cell in enumerate(code) if plain.is_solution(cell)}
    uses = depends.dependencies([cell.source for cell in code], passive)
    wanted = {number - 1 for place in places for number in uses[place]}
    taken = []
    for n, cell in enumerate(code):
        if "exercise" in cell.metadata or ("live" not in notebooks.tags(cell) and n not in wanted):
            continue
        taken.append(cell.source if n in wanted else depends.imports_of(cell.source))
    return "\n\n".join(filter(None, taken))


def page_cells(text, solutions, sheet, numbers):
    """Yield the cells of one page's exercises; `numbers` numbers the exercises of the whole sheet."""
    boxes = {name: box for name, box in asked_on(text, solutions).items() if sheet.asks(name)}
    code = [cell for cell in notebooks.derived(notebooks.read(text)) if cell.cell_type == "code"]
    ours = [n for n, cell in enumerate(code) if cell.metadata.get("exercise") in boxes]
    if not boxes:
        return
    yield new_markdown_cell(f"## {plain.title(page_of(text))}")
    tags = {"tags": ["live", "hide-input"], "mystnb": {"code_prompt_show": "What these exercises need"}}
    if ours:
        yield plain.folded(new_code_cell(needed(code, ours), metadata=tags))
    for name, box in boxes.items():
        yield new_markdown_cell(headed(box, next(numbers), sheet.points.get(name)))
        for cell in code:
            if cell.metadata.get("exercise") == name and (solutions or not plain.is_solution(cell)):
                yield plain.folded(cell)


def headed(box, number, points):
    """Return the box of an exercise with its number on this sheet and its points."""
    worth = f" ({points:g} point{'s' * (points != 1)})" if points else ""
    named, count = re.subn(r"\*\*Exercise \d+: (.*?)\*\*", rf"**Exercise {number}: \1**{worth}", box, count=1)
    assert count, f"the box of an exercise has no title: {box}"
    return named


def notebook(sheet, solutions):
    """Return the sheet as a notebook."""
    numbers = itertools.count(1)
    words = "exercises and worked solutions" if solutions else "exercises"
    cells = [
        cell
        for page in sheet.pages
        for cell in page_cells(notebooks.TEXT / f"{page}.md", solutions, sheet, numbers)
    ]
    first = plain.folded(notebooks.first_cell(notebooks.needs(cells), site()))
    head = [
        new_markdown_cell(f"# {sheet.title}: {words}\n\n{WHERE}"),
        new_markdown_cell(HOW, metadata=SCREEN),
    ]
    if sheet.of:
        head.insert(1, new_markdown_cell(sheet.of))
    if sheet.due:
        head.insert(1, new_markdown_cell(f"Hand in by {sheet.due:%-d %B %Y, %H:%M}.", metadata=SCREEN))
    return plain.collected([*head, first, *cells])


def site():
    """Return the address from which pip can install ocolib without the wheel; empty if there is none."""
    return f"git+{notebooks.repository()}" if notebooks.repository() else ""


# ---------------------------------------------------------------- on paper


def shown(cell):
    """Return whether a cell is printed: text, the student's cells and solutions are."""
    tags = notebooks.tags(cell)
    return (cell.cell_type == "markdown" and not tags) or "exercise" in tags or "solution" in tags


def page(made, title, sheet):
    """Return the sheet as one HTML file with typeset formulas."""
    formulas = []

    def keep(tex, how):
        formulas.append([tex.strip(), how["display_mode"]])
        return f"\0{len(formulas) - 1}\0"

    reader = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=keep)
    parts = [reader.render(made.cells[0].source), lines_to_fill(sheet)]
    for cell in filter(shown, made.cells[1:]):
        if cell.cell_type != "markdown":
            parts.append(code(cell))
        elif cell.source.startswith("## "):
            parts.append(reader.render(cell.source))
        else:  # keep the question and the box for its answer together
            parts.append(f'<div class="exercise">{reader.render(cell.source)}</div>')
    typeset = maths.typeset(formulas, str(offline.folder()))
    body = re.sub("\0(\\d+)\0", lambda match: typeset["set"][int(match[1])][0], "\n".join(parts))
    css = typeset["css"].replace('url("mathjax/', f'url("{offline.folder().as_uri()}/')
    style = STYLE.read_text("utf8") + HtmlFormatter(style="bw").get_style_defs("pre") + css
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{style}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}</body></html>\n'


def lines_to_fill(sheet):
    """Return the top line for name, date and points."""
    due = (
        f"<span>Hand in by {sheet.due:%-d %B %Y, %H:%M}</span>" if sheet.due else "<span>Date <i></i></span>"
    )
    total = f" of {sum(sheet.points.values()):g}" if sheet.points else ""
    return (
        f'<p class="fill"><span class="name">Name <i></i></span>{due}<span>Points <i></i>{total}</span></p>'
    )


def code(cell):
    """Return a solution, or the student's functions without the check, which paper cannot run, as HTML."""
    if plain.is_solution(cell):
        kind, text = "solution", cell.source.replace("# @title ", "# ", 1)
    else:
        parts = [part for part in exercise.parts(cell.source) if not exercise.is_check(part.node)]
        kind, text = "answer", exercise.joined([(part, part.text()) for part in parts])
    return f'<pre class="{kind}">{highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))}</pre>'


def write(asked, into, without="", course=None):
    """Write the notebooks and PDFs, and copy the wheel, which the first cells install. Return the files.

    A student edition has no sheet with solutions.
    """
    sheet = sheet_of(asked, course)
    into.mkdir(parents=True, exist_ok=True)
    shutil.copy(downloads.wheel(), into)
    sheets = {
        kind: notebook(sheet, told) for kind, told in KINDS.items() if not (told and without == "student")
    }
    files = {kind: into / f"{sheet.name}-{kind}.ipynb" for kind in sheets}
    for kind, made in sheets.items():  # both, before Chromium is needed
        notebooks.write(made, files[kind])
    for kind, made in sheets.items():
        html, pdf = files[kind].with_suffix(".html"), files[kind].with_suffix(".pdf")
        html.write_text(page(made, f"{sheet.title}: {kind}", sheet), "utf8")
        try:
            chromium.to_pdf(html, pdf, f"{sheet.title}: {kind}")
        finally:
            html.unlink()
    return [file for made in files.values() for file in (made, made.with_suffix(".pdf"))]


def main(arguments):
    """Parse the command line and write the sheets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", help="13, limits, or assignment.yml")
    parser.add_argument("--edition", default="", help="student: without solutions")
    parser.add_argument("--course", type=Path, help="course.yml; WHAT is then the number of a part")
    parser.add_argument("--into", type=Path, help="output folder (default: _build/sheets)")
    asked = parser.parse_args(arguments)
    try:
        folder = asked.into or BUILD / edition.name(asked.course, asked.edition) / "sheets"
        files = write(asked.what, folder, asked.edition, asked.course)
    except chromium.NoChromium as reason:
        raise SystemExit(f"The notebooks are written, but not the PDF files: {reason}") from None
    print("\n".join(map(notebooks.shown, files)))
