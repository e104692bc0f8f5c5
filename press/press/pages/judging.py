"""Collect what an exercise needs from its page, and record the cases by which answers are judged.

The judge has the cell as its author wrote it, with the reference. `record` runs it when the notebooks are
made and writes down what the reference and the slips say: `ocolib/exercises/recorded/ex-….json`.
"""

import argparse
import contextlib
import io
import json
import warnings
from functools import cache
from pathlib import Path

from ocolib import exercises
from ocolib.exercises import cases
from press import files
from press.pages import depends, exercise, notebooks


@cache
def book():
    """{exercise: (page, title)} of the whole book."""
    return {
        name: (page, title)
        for page in notebooks.pages()
        for name, (_, title) in notebooks.exercises(notebooks.read(page)).items()
    }


def page_cells(page):
    """[(exercise or None, source)] of a page's live cells as they are written: exercises are solved."""
    return cells_in(page, page.read_text("utf8"))


@cache
def cells_in(page, text):
    """The same; the text is there to notice that the page has changed."""
    return [
        (cell.metadata.get("exercise") if "exercise" in notebooks.tags(cell) else None, cell.source)
        for cell in notebooks.read(page)
        if cell.cell_type == "code" and "live" in notebooks.tags(cell)
    ]


def run_quietly(source, namespace):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(source, "<book>", "exec"), namespace)


@cache
def above(page, name, answer=""):
    """The names that an exercise finds (and that an answer to it needs), and its cell as the judge has it.

    They come from the book's own cells above it, but no exercise: those that it builds on, those that import.
    """
    cells = page_cells(page)
    place = [found for found, _ in cells].index(name)
    source = cells[place][1]
    return names_above(page, place, f"{answer}\n{source}"), exercise.split(source, name).judge


@cache
def student(page, name, answer=""):
    """The same for a student: the names, those of the folded cell too, and the cell that awaits an answer."""
    sources, stub = needed(page, name, answer)
    return left_behind(sources), stub


def names_above(page, place, source):
    """The names that the cells above leave behind: of those that the source builds on, or that import."""
    return left_behind(sources_above(page, place, source))


def sources_above(page, place, source):
    """The cells above, exercises apart, that the source builds on, and the imports of the others."""
    cells = page_cells(page)[:place]
    needs = depends.dependencies([*(above for _, above in cells), source], set())
    found = []
    for number, (name, above) in enumerate(cells, 1):
        if not name:
            found.append(above if number in needs[-1] else depends.imports_of(above))
    return tuple(filter(None, found))


@cache
def needed(page, name, answer=""):
    """The sources that a student's notebook runs before an answer, and the cell that awaits it."""
    cells = page_cells(page)
    place = [found for found, _ in cells].index(name)
    made = exercise.split(cells[place][1], name)
    above = sources_above(page, place, f"{answer}\n{made.kept}\n{made.stub}")
    return (*above, made.kept), made.stub


@cache
def left_behind(sources):
    """The names that these cells leave behind."""
    namespace = {"__name__": "__main__"}
    for source in sources:
        run_quietly(source, namespace)
    return namespace


# ---------------------------------------------------------------- recording


def recordings(page):
    """{exercise: the text of its file} of a page: what its checks ask, and what they expect."""
    found = {}
    for place, (name, source) in enumerate(page_cells(page)):
        if name is None:
            continue
        old, heard = (exercises.tell, exercises.record), []
        exercises.tell, exercises.record = heard.append, []
        try:
            run_quietly(source, dict(names_above(page, place, source)))
            found[name] = cases.written(name, exercises.record)
        except Exception as error:  # of a cell of the page, whatever it is
            raise ValueError(f"{name}: {type(error).__name__}: {error}") from None
        finally:
            exercises.tell, exercises.record = old
        wrong = [verdict for verdict in heard if not verdict.passed]
        if wrong:
            raise ValueError(f"{name}: the worked solution does not pass its own check\n{wrong[0]}")
    return found


def record(page):
    """Write the cases of a page's exercises where they have changed."""
    cases.FOLDER.mkdir(exist_ok=True)
    for name, text in recordings(page).items():
        file = cases.FOLDER / f"{name}.json"
        if not file.exists() or not alike(json.loads(file.read_text("utf8")), json.loads(text)):
            files.write(file, text)


def alike(a, b):
    """Are two recordings the same, but for the last digits, which differ from machine to machine?"""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a)) or (a != a and b != b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    return a == b


def main(arguments=None):
    """Record the cases of every page, or of those that are named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages/….md; without: all")
    asked = parser.parse_args(arguments)
    for page in map(notebooks.text_of, asked.pages) if asked.pages else notebooks.pages():
        record(page)
    return 0
