"""Run inside the sandbox: execute the cells of a notebook, then call the functions that they define.

The judge starts it with nothing but Python, NumPy and ocolib in sight. Messages come on standard input and go
to standard output, a line of JSON each; what a cell prints goes nowhere. Nothing here is secret and nothing
here is trusted: a student's code shares this process and may change all of it, so the judge believes no
message, it only reads values.
"""

import ast
import builtins
import linecache
import os
import resource
import sys
import traceback
import warnings

sys.path.insert(0, "/packages")

import json

import wire

LONGEST = 500  # letters of an error that are told
STUBS = (ast.Pass, ast.Return, ast.Expr)


class Quiet:
    """Stand in for whatever a notebook offers and this place does not: any use of it does nothing."""

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __iter__(self):
        return iter(())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __len__(self):
        return 0


class Shell(Quiet):
    """`get_ipython()`: shell lines and magics do nothing, but for the code that some of them time."""

    def __init__(self, namespace):
        self.namespace = namespace

    def getoutput(self, *args, **kwargs):
        return []

    def run_line_magic(self, name, line, *args, **kwargs):
        if name in ("time", "prun"):
            exec(line, self.namespace)

    def run_cell_magic(self, name, line, cell="", *args, **kwargs):
        return None


# ---------------------------------------------------------------- cells


class Notebook:
    """The names that a notebook's cells have left behind, after each of them and at the end."""

    def __init__(self):
        self.space = {"__name__": "__main__", "__builtins__": builtins}
        shell = Shell(self.space)
        self.space |= {"get_ipython": lambda: shell, "display": Quiet()}
        self.bound = []  # for each cell: (its exercise, {name: is it still a stub?}, all names after it)
        self.wrong = {}  # {exercise: what its cell raised}

    def run(self, number, exercise, source, names):
        """Run one cell, statement by statement: one that fails does not take the others with it."""
        before = {name: self.space.get(name) for name in names}
        place, wrong = f"<cell {number}>", None
        linecache.cache[place] = (len(source), None, source.splitlines(True), place)
        stubs = set()
        try:
            statements = ast.parse(source, place).body
        except Exception as error:
            statements, wrong = [], told(error)
        for node in statements:
            try:
                exec(compile(ast.Module([node], []), place, "exec"), self.space)
            except BaseException as error:
                wrong = wrong or told(error)
            if isinstance(node, ast.FunctionDef) and node.name in names and unwritten(node):
                stubs.add(node.name)
        changed = {n: n in stubs for n in names if self.space.get(n) is not before[n] and n in self.space}
        self.bound.append((exercise, changed, dict(self.space) if changed else {}))
        if exercise and wrong:
            self.wrong[exercise] = wrong

    def written(self, exercise, name):
        """Find the cell whose function of this name is the answer to an exercise, or None.

        It is the last one written in the exercise's own cell. If that still has the stub, or is gone, a cell
        of the student's own counts, up to the next exercise that asks for the same name.
        """
        own = [k for k, (of, bound, _) in enumerate(self.bound) if of == exercise and name in bound]
        for k in reversed(own):
            if not self.bound[k][1][name]:
                return k
        first, last = 0, len(self.bound)
        if own:
            others = [
                k
                for k, (of, bound, _) in enumerate(self.bound)
                if of not in (None, exercise) and name in bound
            ]
            first = max([k for k in others if k < own[0]], default=0)
            last = min([k for k in others if k > own[-1]], default=last)
        for k in reversed(range(first, last)):
            of, bound, _ = self.bound[k]
            if of is None and name in bound and not bound[name]:
                return k
        return own[-1] if own else None

    def found(self, asked):
        """For {exercise: names of its functions}, which of them there are."""
        return {
            exercise: [name for name in names if self.written(exercise, name) is not None]
            for exercise, names in asked.items()
        }

    def call(self, exercise, names, name, args, kwargs):
        """Call an answer with the names that its cell saw; what it lacks there may stand further below."""
        places = {n: k for n in names if (k := self.written(exercise, n)) is not None}
        after = dict(self.bound[max(places.values())][2])
        after |= {n: self.bound[k][2][n] for n, k in places.items()}
        last = dict(self.space)
        self.space.update(after)
        try:
            return self.space[name](*args, **kwargs)
        finally:
            self.space.clear()
            self.space.update(last)


def unwritten(node):
    """Has a function still the body of a stub: a docstring, and `return None`, `pass` or `...`?"""
    body = node.body[ast.get_docstring(node) is not None :]
    return all(
        isinstance(part, ast.Pass)
        or (isinstance(part, ast.Return) and (part.value is None or getattr(part.value, "value", 0) is None))
        or (isinstance(part, ast.Expr) and getattr(part.value, "value", None) is ...)
        for part in body
    )


def told(error):
    """What can be told of an error: its type, its text, and the student's own line."""
    text = str(error)[:LONGEST]
    if isinstance(error, SyntaxError):
        return {"type": type(error).__name__, "text": str(error.msg)[:LONGEST], "line": error.lineno,
                "source": (error.text or "").strip()[:LONGEST]}  # fmt: skip
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<cell ")]
    line, source = (frames[-1].lineno, frames[-1].line) if frames else (None, "")
    return {"type": type(error).__name__, "text": text, "line": line, "source": (source or "")[:LONGEST]}


# ---------------------------------------------------------------- talking to the judge


class Pipe:
    """The two ends that were standard input and output."""

    def __init__(self):
        self.asked, self.said = os.fdopen(os.dup(0), "rb"), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)

    def say(self, message):
        data = wire.line(message)
        while data:
            data = data[os.write(self.said, data) :]

    def hear(self):
        return json.loads(self.asked.readline() or "null")

    def call_back(self, place, args):
        """Ask the judge what one of its functions says."""
        self.say({"back": place, "args": [wire.pack(value) for value in args]})
        heard = self.hear()
        if "raised" in heard:
            kind, text = heard["raised"]
            known = getattr(builtins, kind, None)
            known = known if isinstance(known, type) and issubclass(known, Exception) else Exception
            raise known(text)
        return wire.unpack(heard["value"], self.call_back)


def limit(limits):
    for name, most in limits.items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


def main():
    pipe = Pipe()
    warnings.simplefilter("ignore")
    sys.argv = [""]
    limit(pipe.hear())
    notebook, asked = Notebook(), {}
    pipe.say({"ready": True})
    while message := pipe.hear():
        if "cells" in message:
            notebook, asked = Notebook(), message["asked"]
            names = {name for found in asked.values() for name in found}
            for number, (exercise, source) in message["cells"]:
                notebook.run(number, exercise, source, names)
                pipe.say({"ran": number})
            pipe.say({"found": notebook.found(asked), "wrong": notebook.wrong})
            continue
        try:
            args = [wire.unpack(value, pipe.call_back) for value in message["args"]]
            kwargs = {k: wire.unpack(v, pipe.call_back) for k, v in message["kwargs"].items()}
            exercise = message["exercise"]
            value = notebook.call(exercise, asked[exercise], message["name"], args, kwargs)
            answer = {"value": wire.pack(value)}
        except BaseException as error:
            answer = {"error": told(error)}
        pipe.say(answer | {"id": message["id"]})


if __name__ == "__main__":
    main()
