"""Run the checkers of the book on a student's answers; only the judge's process runs this module.

Checkers and references come from the solved pages of the checkout that grades (`checker`); no student's
notebook, and nothing behind the fence, has a say in them.
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
    """The page of an exercise, as its address has it: "lecture-13-oco/the-game"."""
    return book()[name][0].relative_to(notebooks.TEXT).with_suffix("").as_posix()


@cache
def checker(name):
    """Get the checker of an exercise: (names it finds, parts of its cell). The one place where checkers come
    from.
    """
    page, _ = book()[name]
    before, cell = above(page, name)
    return before, exercise.parts(cell)


def functions(name):
    """The names of the functions that an exercise asks for."""
    return [part.node.name for part in checker(name)[1] if exercise.is_answer(part.node)]


def verdicts(name, ask, fresh):
    """Say what the checkers think of the functions that `ask(function, args, kwargs)` answers for."""
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
    """The student's function as the judge sees it: name and signature of the stub, answered elsewhere."""
    stub = {}
    exec(ast.unparse(ast.Module([part.node], [])), {"np": np}, stub)
    name = part.node.name

    def call(*args, **kwargs):
        return ask(name, args, kwargs)

    call.asked_elsewhere = True  # its lines are not the student's
    call.__name__, call.__signature__ = name, inspect.signature(stub[name])
    return call
