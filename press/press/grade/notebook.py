"""Read a submitted notebook: find the cells to run, and disable magics and shell lines.

Its content is not trusted. A cell belongs to the book if it has the id or the tag of one of the book's cells.
Its exercise is named by its metadata, or by its id if an editor has dropped the metadata.
"""

import ast
import json
import math
import re
import time
from functools import cache

from press.pages import notebooks

LARGEST = 20 << 20  # bytes per notebook
TOO_LARGE = f"it is larger than {LARGEST >> 20} MB"
CODE = 1 << 20  # characters in all its cells
MAGICAL, SECONDS = 300, 20  # limits on the search for magics: lines per cell, total time
CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*\n")
RUNS_CODE = {"time", "timeit", "capture", "prun", "python", "python3", "ipython", "jupyter"}


#: errors raised by a file that is not a valid notebook
DAMAGED = ValueError, KeyError, TypeError, AttributeError, RecursionError


class NoNotebook(Exception):
    """The file is not graded; the message says why."""


@cache
def known_ids():
    """Return the ids of all cells of the book."""
    return {
        cell["id"]
        for path in notebooks.BOOK.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
        for cell in json.loads(path.read_text("utf8"))["cells"]
    }


def asked_in(content, exercises):
    """Return the exercises whose cells are in a notebook; none if it is damaged."""
    try:
        return {found[0] for cell in opened(content) if (found := read(cell, exercises)) and found[0]}
    except (NoNotebook, *DAMAGED):
        return set()


def opened(content):
    """Return the cells of a file, unchanged."""
    if len(content) > LARGEST:
        raise NoNotebook(TOO_LARGE)
    return json.loads(content.decode("utf-8-sig"))["cells"]


def cells(content, exercises):
    """Return [(exercise or None, source)] for the cells to run, from the bytes of a file.

    Worked solutions are left out. The book's own cells that need more than NumPy, such as plots, run only
    their imports and definitions, because a student may have added one there.
    """
    try:
        kept = [found for cell in opened(content) if (found := read(cell, exercises))]
        if sum(len(text) for _, text, _ in kept) > CODE:
            raise NoNotebook(f"it has more than {CODE >> 20} MB of code")
        until = time.monotonic() + SECONDS
        return [(name, definitions(text) if only else plain(text, until)) for name, text, only in kept]
    except DAMAGED:
        raise NoNotebook("it is not a notebook, or it is damaged") from None


def read(cell, exercises):
    """Return (exercise or None, source, whether only its definitions run) for a cell; None to skip it."""
    if cell["cell_type"] != "code":
        return None
    source = cell["source"]
    source = source if isinstance(source, str) else "".join(source)
    metadata = cell.get("metadata") or {}
    tags, name = metadata.get("tags") or [], cell.get("id")
    asked = next((n for n in (metadata.get("exercise"), name) if isinstance(n, str) and n in exercises), None)
    if "solution" in tags or str(name).endswith("-solution"):
        return None
    if "checker" in tags:
        asked = None
    if asked and ("exercise" in tags or name == asked or not tags):
        return asked, source, False
    ours = name in known_ids() or "book" in tags
    return None, source, ours and "live" not in tags


def plain(source, until=math.inf):
    """Disable magics and shell lines. IPython itself finds them, so that `% 2)` in an expression is no magic.

    This is slow if there are hundreds of them, hence the limits.
    """
    while (magic := CELL_MAGIC.match(source)) and magic[1] in RUNS_CODE:
        source = "\n" * magic[0].count("\n") + source[magic.end() :]
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if source.count("\n") > MAGICAL or len(source) > 100 * MAGICAL or time.monotonic() > until:
            return source
        from IPython.core.inputtransformer2 import TransformerManager

        try:
            return TransformerManager().transform_cell(source)
        except Exception:  # not Python at all; the error appears when it runs
            return source
    return source


def definitions(source):
    """Return only the imports and definitions of a cell, each on its original line."""
    try:
        nodes = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    wanted = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    lines, kept = source.split("\n"), [""] * (source.count("\n") + 1)
    for node in nodes:
        if isinstance(node, wanted):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            kept[first - 1 : node.end_lineno] = lines[first - 1 : node.end_lineno]
    return "\n".join(kept)
