"""Read a submitted notebook: find the cells to run, and disable magics and shell lines.

It is read, never believed: a cell is the book's where it has the id or the tag of one, and its exercise is
named by its metadata, or by its id where an editor has dropped the metadata.
"""

import ast
import json
import math
import re
import time
from functools import cache

from press.pages import notebooks

LARGEST = 20 << 20  # bytes of a notebook
CODE = 1 << 20  # letters of all its cells
MAGICAL, SECONDS = 300, 20  # lines of a cell in which magics are looked for, and how long that may take
CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*\n")
RUNS_CODE = {"time", "timeit", "capture", "prun", "python", "python3", "ipython", "jupyter"}


#: what goes wrong with a file that is none
DAMAGED = ValueError, KeyError, TypeError, AttributeError, RecursionError


class NoNotebook(Exception):
    """Why a file is not graded."""


@cache
def known_ids():
    """The ids of all cells of the book."""
    return {
        cell["id"]
        for path in notebooks.BOOK.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
        for cell in json.loads(path.read_text("utf8"))["cells"]
    }


def asked_in(content, exercises):
    """The exercises whose cells are in a notebook; none if it is damaged."""
    try:
        return {found[0] for cell in opened(content) if (found := read(cell, exercises)) and found[0]}
    except (NoNotebook, *DAMAGED):
        return set()


def opened(content):
    """The cells of a file, as they are."""
    if len(content) > LARGEST:
        raise NoNotebook(f"it is larger than {LARGEST >> 20} MB")
    return json.loads(content.decode("utf-8-sig"))["cells"]


def cells(content, exercises):
    """[(exercise or None, source)] of the cells that are to run, from the bytes of a file.

    Worked solutions are left out. Of the book's other cells that need more than NumPy, a plot say, only
    imports and definitions run: a student may have added one.
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
    """(exercise or None, source, only its definitions?) of a cell that is to run; else None."""
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
    """Neutralise magics and shell lines: IPython itself says which they are, so `% 2)` stays what it is.
    It is slow where there are hundreds of them.
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
        except Exception:  # no Python, with or without magics: told when it runs
            return source
    return source


def definitions(source):
    """The imports and definitions of a cell, each on its line."""
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
