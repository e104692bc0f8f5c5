"""An exercise sheet: python tools/sheet.py LECTURE [--into FOLDER]

LECTURE is a number (13) or the name of a folder in pages/ (limits). Writes four files, and the wheel
beside them: a notebook and a PDF without solutions, and both with them. Exercises keep their ids, so that
`make grade` knows them.
"""

import argparse
import re
import shutil
import sys
from html import escape
from pathlib import Path

import chromium_print
import notebooks
import plain
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat.v4 import new_code_cell, new_markdown_cell
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

sys.path.append(str(notebooks.ROOT / "book" / "_ext"))

import depends
import downloads
import mathtime
import offline

HOW = """\
Write your answers into the cells that end with a check, and run the cells from the top. When you come back to
a section, run its cells from the heading on: sections share names."""
SCREEN = {"tags": ["screen"]}  # said in the notebook, not on paper
STYLE = Path(__file__).with_name("sheet.css")
KINDS = {"exercises": False, "solutions": True}


def lecture(asked):
    """(folder, title, pages) of a lecture, the pages in reading order."""
    toc = yaml.safe_load((notebooks.ROOT / "_toc.yml").read_text("utf8"))
    for part in toc["parts"]:
        pages = [entry["file"].removeprefix("book/") for entry in part["chapters"]]
        folder = next((page for page in pages if "/" in page), pages[0]).partition("/")[0]
        number = re.match(r"lecture-0*(\d+)", folder)
        if asked == folder or (number and asked.lstrip("0") == number[1]):
            return folder, part["caption"], [page for page in pages if plain.has_notebook(page)]
    raise SystemExit(f"no lecture {asked}: say a number, or a folder in pages/")


def asked_on(text):
    """{exercise: its box, as text} of a page."""
    found = {}
    for cell in notebooks.read(text):
        for block in plain.split(cell.source) if cell.cell_type == "markdown" else []:
            if isinstance(block, plain.Block) and (name := block.inside()[0].get("name")):
                found[name] = plain.Page(page_of(text), alone=True).markdown(whole(block))
    return found


def page_of(text):
    return text.relative_to(notebooks.TEXT).with_suffix("").as_posix()


def whole(block):
    return "\n".join([f"````{{{block.kind}}} {block.argument}", *block.lines, "````"])


def needed(code, places):
    """One cell with what the cells at these places build on, but for exercises: imports, and other cells."""
    passive = {n for n, cell in enumerate(code) if plain.is_solution(cell)}
    uses = depends.dependencies([cell.source for cell in code], passive)
    wanted = {number - 1 for place in places for number in uses[place]}
    wanted |= {
        n
        for n, cell in enumerate(code)
        if depends.Names(cell.source).imported and "live" in notebooks.tags(cell)
    }
    taken = [code[n].source for n in sorted(wanted) if "exercise" not in code[n].metadata]
    return "\n\n".join(taken)


def page_cells(text, solutions):
    """The part of a sheet that comes from one page."""
    boxes = asked_on(text)
    code = [cell for cell in notebooks.derived(notebooks.read(text)) if cell.cell_type == "code"]
    ours = [n for n, cell in enumerate(code) if "exercise" in cell.metadata]
    if not ours:
        return
    yield new_markdown_cell(f"## {plain.title(page_of(text))}")
    tags = {"tags": ["live", "hide-input"], "mystnb": {"code_prompt_show": "What these exercises need"}}
    yield plain.folded(new_code_cell(needed(code, ours), metadata=tags))
    for name, box in boxes.items():
        yield new_markdown_cell(box)
        for cell in code:
            if cell.metadata.get("exercise") == name and (solutions or not plain.is_solution(cell)):
                yield plain.folded(cell)


def notebook(asked, solutions):
    """The sheet of a lecture as a notebook."""
    _, title, pages = lecture(asked)
    words = "exercises and worked solutions" if solutions else "exercises"
    cells = [cell for page in pages for cell in page_cells(notebooks.TEXT / f"{page}.md", solutions)]
    first = plain.folded(notebooks.first_cell(notebooks.needs(cells)))
    head = [new_markdown_cell(f"# {title}: {words}"), new_markdown_cell(HOW, metadata=SCREEN)]
    return plain.collected([*head, first, *cells])


# ---------------------------------------------------------------- on paper


def shown(cell):
    """What a sheet of paper shows: the text, the student's cell, the solution."""
    tags = notebooks.tags(cell)
    return (cell.cell_type == "markdown" and not tags) or "exercise" in tags or "solution" in tags


def page(sheet, title):
    """The sheet as one HTML file, its formulas set."""
    formulas = []

    def keep(tex, how):
        formulas.append([tex.strip(), how["display_mode"]])
        return f"\0{len(formulas) - 1}\0"

    reader = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=keep)
    parts = [
        reader.render(c.source) if c.cell_type == "markdown" else code(c) for c in filter(shown, sheet.cells)
    ]
    maths = mathtime.typeset(formulas, str(offline.folder()))
    body = re.sub("\0(\\d+)\0", lambda match: maths["set"][int(match[1])][0], "\n".join(parts))
    css = maths["css"].replace('url("mathjax/', f'url("{offline.folder().as_uri()}/')
    style = STYLE.read_text("utf8") + HtmlFormatter(style="bw").get_style_defs("pre") + css
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{style}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}</body></html>\n'


def code(cell):
    marked = highlight(cell.source.replace("# @title ", "# ", 1), PythonLexer(), HtmlFormatter(nowrap=True))
    kind = "solution" if plain.is_solution(cell) else "answer"
    return f'<pre class="{kind}">{marked}</pre>'


def write(asked, into):
    """Both sheets in both forms; the wheel lies beside them, for their first cells. Returns the files."""
    folder, title, _ = lecture(asked)
    into.mkdir(parents=True, exist_ok=True)
    shutil.copy(downloads.wheel(), into)
    sheets = {kind: notebook(asked, solutions) for kind, solutions in KINDS.items()}
    files = {kind: into / f"{folder}-{kind}.ipynb" for kind in KINDS}
    for kind, sheet in sheets.items():  # both, before anything asks for Chromium
        notebooks.write(sheet, files[kind])
    for kind, sheet in sheets.items():
        html, pdf = files[kind].with_suffix(".html"), files[kind].with_suffix(".pdf")
        html.write_text(page(sheet, f"{title}: {kind}"), "utf8")
        try:
            chromium_print.to_pdf(html, pdf, f"{title}: {kind}")
        finally:
            html.unlink()
    return [file for made in files.values() for file in (made, made.with_suffix(".pdf"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lecture")
    parser.add_argument("--into", type=Path, default=notebooks.ROOT / "_build" / "sheets")
    asked = parser.parse_args()
    try:
        files = write(asked.lecture, asked.into)
    except chromium_print.NoChromium as reason:
        raise SystemExit(f"The notebooks are written; no PDF: {reason}") from None
    print("\n".join(map(notebooks.shown, files)))


if __name__ == "__main__":
    sys.exit(main())
