"""Collect what an exercise needs from its page, and record the cases against which answers are checked.

Recording runs the solved cell of each exercise while the notebooks are made, and stores what the reference
and the slips return in `ocolib/exercises/recorded/ex-….json`. The student's check reads these files. The
grader instead runs the judge's cell, with the reference itself.
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
    """Return {exercise: (page, title)} for the whole book."""
    return {
        name: (page, title)
        for page in notebooks.pages()
        for name, (_, title) in notebooks.exercises(notebooks.read(page)).items()
    }


def page_cells(page):
    """Return [(exercise or None, source)] for the live cells of a page, with exercises solved."""
    return cells_in(page, page.read_text("utf8"))


@cache
def cells_in(page, text):
    """Cache `page_cells`. The text is a parameter so that a changed page is read again."""
    return [
        (cell.metadata.get("exercise") if "exercise" in notebooks.tags(cell) else None, cell.source)
        for cell in notebooks.read(page)
        if cell.cell_type == "code" and "live" in notebooks.tags(cell)
    ]


def run_quietly(source, namespace):
    """Execute the source in the namespace, without output and warnings."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(source, "<book>", "exec"), namespace)


@cache
def above(page, name, answer=""):
    """Return (namespace in which an exercise runs, its judge's cell).

    The namespace also has the names that `answer` needs. It comes from the cells above that are not
    exercises: those that the exercise builds on are run completely, of the others only the imports.
    """
    cells = page_cells(page)
    place = [found for found, _ in cells].index(name)
    source = cells[place][1]
    return names_above(page, place, f"{answer}\n{source}"), exercise.split(source, name).judge


@cache
def student(page, name, answer=""):
    """Return (namespace, stub) for a student: as `above`, plus the names of the folded cell."""
    sources, stub = needed(page, name, answer)
    return left_behind(sources), stub


def names_above(page, place, source):
    """Return the namespace that the needed cells above `place` leave behind."""
    return left_behind(sources_above(page, place, source))


def sources_above(page, place, source):
    """Return the cells above that the source builds on, without exercises, and the imports of the others."""
    cells = page_cells(page)[:place]
    needs = depends.dependencies([*(above for _, above in cells), source], set())
    found = []
    for number, (name, above) in enumerate(cells, 1):
        if not name:
            found.append(above if number in needs[-1] else depends.imports_of(above))
    return tuple(filter(None, found))


@cache
def needed(page, name, answer=""):
    """Return (sources that a student's notebook runs before an answer, the cell that awaits it)."""
    cells = page_cells(page)
    place = [found for found, _ in cells].index(name)
    made = exercise.split(cells[place][1], name)
    above = sources_above(page, place, f"{answer}\n{made.kept}\n{made.stub}")
    return (*above, made.kept), made.stub


@cache
def left_behind(sources):
    """Return the namespace after these cells have run."""
    namespace = {"__name__": "__main__"}
    for source in sources:
        run_quietly(source, namespace)
    return namespace


# ---------------------------------------------------------------- recording


def recordings(page):
    """Return {exercise: content of its file} for a page: the inputs of its checks and the expected values."""
    found = {}
    for place, (name, source) in enumerate(page_cells(page)):
        if name is None:
            continue
        old, heard = (exercises.tell, exercises.record), []
        exercises.tell, exercises.record = heard.append, []
        try:
            run_quietly(source, dict(names_above(page, place, source)))
            found[name] = cases.written(name, exercises.record)
        except Exception as error:  # a cell of the page may raise anything
            raise ValueError(f"{name}: {type(error).__name__}: {error}") from None
        finally:
            exercises.tell, exercises.record = old
        wrong = [verdict for verdict in heard if not verdict.passed]
        if wrong:
            raise ValueError(f"{name}: the worked solution does not pass its own check\n{wrong[0]}")
    return found


def record(page):
    """Write the cases of a page's exercises if they have changed."""
    cases.FOLDER.mkdir(exist_ok=True)
    for name, text in recordings(page).items():
        file = cases.FOLDER / f"{name}.json"
        if not file.exists() or not alike(json.loads(file.read_text("utf8")), json.loads(text)):
            files.write(file, text)


def alike(a, b):
    """Return whether two recordings agree up to the last digits, which differ between machines."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a)) or (a != a and b != b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    return a == b


def main(arguments=None):
    """Record the test cases of the exercises, on all pages or on those given."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages/….md (default: all pages)")
    asked = parser.parse_args(arguments)
    for page in map(notebooks.text_of, asked.pages) if asked.pages else notebooks.pages():
        record(page)
    return 0
