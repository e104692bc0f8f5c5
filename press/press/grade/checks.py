"""Run the book's checkers on a student's answers; only the judge's process imports this module.

Checkers and references come from the solved pages of the project that grades. Nothing in a student's notebook
or in the sandbox can influence them.
"""

import ast
import inspect
from functools import cache

import numpy as np

from ocolib import exercises
from press.pages import exercise, notebooks
from press.pages.judging import above, book, needed, run_quietly

__all__ = ["above", "book", "checker", "functions", "needed", "page_of", "run_quietly", "verdicts"]


def page_of(name):
    """Return the address of an exercise's page, such as "lecture-13-oco/the-game"."""
    return book()[name][0].relative_to(notebooks.TEXT).with_suffix("").as_posix()


@cache
def checker(name):
    """Return the checker of an exercise: (namespace in which it runs, parts of the judge's cell)."""
    page, _ = book()[name]
    before, cell = above(page, name)
    return before, exercise.parts(cell)


def functions(name):
    """Return the names of the functions that an exercise asks for."""
    return [part.node.name for part in checker(name)[1] if exercise.is_answer(part.node)]


def verdicts(name, ask, fresh):
    """Run the checkers of an exercise and return their verdicts.

    `ask(function, args, kwargs)` evaluates the student's functions, `fresh` is the seed of the instances (0:
    those of the page).
    """
    before, parts = checker(name)
    namespace, heard = dict(before), []
    for part in parts:
        if exercise.is_answer(part.node):
            namespace[part.node.name] = proxy(part, ask)
    rest = "\n".join(part.code for part in parts if not exercise.is_answer(part.node))
    old = exercises.tell, exercises.fresh
    exercises.tell, exercises.fresh = heard.append, fresh
    try:
        run_quietly(rest, namespace)
    finally:
        exercises.tell, exercises.fresh = old
    return heard


def proxy(part, ask):
    """Return a function with the stub's name and signature that calls the student's function by `ask`."""
    stub = {}
    exec(ast.unparse(ast.Module([part.node], [])), {"np": np}, stub)
    name = part.node.name

    def call(*args, **kwargs):
        return ask(name, args, kwargs)

    call.asked_elsewhere = True  # its source lines are ours, not the student's
    call.__name__, call.__signature__ = name, inspect.signature(stub[name])
    return call
