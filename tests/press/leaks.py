"""Find lines of worked solutions in the files that students get."""

import html
import io
import re
import zipfile
from functools import cache
from pathlib import Path

import nbformat
from pypdf import PdfReader

from press.pages import notebooks, plain

TEXT = (".html", ".ipynb", ".js", ".json", ".txt", ".md", ".css", ".svg", ".csv", ".inv", ".xml", ".py")
FOREIGN = "_static/mathjax/"  # written by others, long before the book
PACKED = (".zip", ".whl")
LEAST = 12  # letters; shorter lines and rows of digits prove nothing


def squeezed(text):
    """Return only letters and digits, so that markup, escapes and blanks hide nothing."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\W+", "", re.sub(r"\\[nrt]", " ", text))


@cache
def solutions():
    """Return {exercise: lines of its solution that occur nowhere else in the book}."""
    cells = [
        cell for text in notebooks.pages() for cell in nbformat.read(notebooks.notebook_of(text), 4).cells
    ]
    others = [*notebooks.BOOK.rglob("*.md"), *notebooks.ROOT.glob("oco*/**/*.py")]
    others += (notebooks.ROOT / "press").rglob("*.py")  # pages contain the code that draws their plots
    rest = [cell.source for cell in cells if not plain.is_solution(cell)]
    rest = "\n".join(map(squeezed, [*rest, *(path.read_text("utf8") for path in others)]))
    told = {cell.metadata["exercise"]: cell.source for cell in cells if plain.is_solution(cell)}
    lines = {name: [squeezed(line) for line in source.split("\n")] for name, source in told.items()}
    return {
        name: {line for line in found if sum(map(str.isalpha, line)) >= LEAST and line not in rest}
        for name, found in lines.items()
    }


def texts(folder):
    """Yield (name, text) of every file below a folder, including files in archives."""
    for path in sorted(Path(folder).rglob("*")):
        if FOREIGN in path.as_posix():
            continue
        if path.suffix in PACKED:
            yield from unpacked(path.name, path.read_bytes())
        elif path.suffix == ".pdf":
            text = "".join(page.extract_text() for page in PdfReader(path).pages)
            yield path.relative_to(folder).as_posix(), squeezed(text)
        elif path.suffix in TEXT:
            yield (
                path.relative_to(folder).as_posix(),
                says(path.suffix, path.read_text("utf8", errors="replace")),
            )


def unpacked(name, content):
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        for member in bundle.namelist():
            inner = bundle.read(member)
            if member.endswith(PACKED):
                yield from unpacked(f"{name}/{member}", inner)
            else:
                yield f"{name}/{member}", says(Path(member).suffix, inner.decode("utf8", errors="replace"))


def says(kind, text):
    if kind in (".html", ".svg"):
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    return squeezed(text)


def leaks(folder):
    """Return {exercise: files that contain a line of its solution}."""
    found = {name: set() for name in solutions()}
    for file, text in texts(folder):
        for name, lines in solutions().items():
            if any(line in text for line in lines):
                found[name].add(file)
    return found
