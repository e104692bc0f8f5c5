"""Run inside the sandbox: execute the cells of a notebook, then call the functions that they define.

The judge starts this file with only Python, NumPy and ocolib available. Messages arrive on standard input and
leave on standard output, one line of JSON each; what a cell prints is discarded. Nothing here is secret and
nothing here is trusted: the student's code shares this process and may change everything in it. The judge
therefore takes values from the messages, but never a verdict.
"""

import __future__

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

LONGEST = 500  # characters of an error that are reported
FUTURE = __future__.annotations.compiler_flag


class Quiet:
    """Replace things that a notebook has and the sandbox lacks, such as `display`: any use does nothing."""

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
    """Replace `get_ipython()`: magics and shell lines do nothing, except that timed code is executed."""

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
    """The names that the cells of a notebook define, after each cell and at the end."""

    def __init__(self):
        self.space = {"__name__": "__main__", "__builtins__": builtins}
        shell = Shell(self.space)
        self.space |= {"get_ipython": lambda: shell, "display": Quiet()}
        self.future = 0  # flags of `from __future__ import …`
        self.bound = []  # for each cell: (its exercise, {name: is it still a stub?}, all names after it)
        self.wrong = {}  # {exercise: what its cell raised}

    def run(self, number, exercise, source, names):
        """Run one cell statement by statement, so that one that fails does not stop the others."""
        before = {name: self.space.get(name) for name in names}
        place, wrong = f"<cell {number}>", None
        linecache.cache[place] = (len(source), None, source.splitlines(True), place)
        stubs = set()
        try:
            statements = ast.parse(source, place).body
        except Exception as error:
            statements, wrong = [], told(error)
        for node in apart(statements):
            try:
                code = compile(ast.Module([node], []), place, "exec", self.future, dont_inherit=True)
                self.future |= code.co_flags & FUTURE  # as in a notebook, it holds for later cells too
                exec(code, self.space)
            except BaseException as error:
                wrong = wrong or told(error)
            if isinstance(node, ast.FunctionDef) and node.name in names and unwritten(node):
                stubs.add(node.name)
        changed = {n: n in stubs for n in names if self.space.get(n) is not before[n] and n in self.space}
        self.bound.append((exercise, changed, dict(self.space) if changed else {}))
        if exercise and wrong:
            self.wrong[exercise] = wrong

    def written(self, exercise, name):
        """Return the number of the cell whose function of this name answers an exercise, or None.

        It is the last one written in the exercise's own cell. If that still has the stub, or is gone, a cell
        that the student added counts, up to the next exercise that asks for the same name.
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
        """Return the functions that are defined, for {exercise: names of its functions}."""
        return {
            exercise: [name for name in names if self.written(exercise, name) is not None]
            for exercise, names in asked.items()
        }

    def call(self, exercise, names, name, args, kwargs):
        """Call an answer with the names that exist after its cell, or, failing that, after the last cell."""
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


def apart(statements):
    """Yield the statements; an import of several names as several, so that one missing costs no other."""
    for node in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}), node)
        else:
            yield node


def unwritten(node):
    """Return whether a function is still a stub: a docstring, and `return None`, `pass` or `...`."""
    body = node.body[ast.get_docstring(node) is not None :]
    return all(
        isinstance(part, ast.Pass)
        or (isinstance(part, ast.Return) and (part.value is None or getattr(part.value, "value", 0) is None))
        or (isinstance(part, ast.Expr) and getattr(part.value, "value", None) is ...)
        for part in body
    )


def told(error):
    """Return an error as {type, text, line, source}, with the line of the student's own code."""
    text = str(error)[:LONGEST]
    if isinstance(error, SyntaxError):
        return {"type": type(error).__name__, "text": str(error.msg)[:LONGEST], "line": error.lineno,
                "source": (error.text or "").strip()[:LONGEST]}  # fmt: skip
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<cell ")]
    line, source = (frames[-1].lineno, frames[-1].line) if frames else (None, "")
    return {"type": type(error).__name__, "text": text, "line": line, "source": (source or "")[:LONGEST]}


# ---------------------------------------------------------------- talking to the judge


class Pipe:
    """The connection to the judge, over what was standard input and output."""

    def __init__(self):
        self.asked, self.said = os.fdopen(os.dup(0), "rb"), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)

    def say(self, message):
        """Send a message."""
        data = wire.line(message)
        os.set_blocking(self.said, True)  # a student's code may have changed it
        while data:
            data = data[os.write(self.said, data) :]

    def hear(self):
        """Return the next message, or None at the end."""
        os.set_blocking(self.asked.fileno(), True)
        return json.loads(self.asked.readline() or "null")

    def call_back(self, place, args):
        """Ask the judge to evaluate one of its functions."""
        self.say({"back": place, "args": [wire.pack(value) for value in args]})
        heard = self.hear()
        if "raised" in heard:
            kind, text = heard["raised"]
            known = getattr(builtins, kind, None)
            known = known if isinstance(known, type) and issubclass(known, Exception) else Exception
            raise known(text)
        return wire.unpack(heard["value"], self.call_back)


def limit(limits):
    """Set the resource limits of this process."""
    for name, most in limits.items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


def leave_root():
    """Become an ordinary user inside the sandbox: the kernel limits the threads of all users except root."""
    os.closerange(3, 64)  # file descriptors that bubblewrap used
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(1, 1, 1)
        os.setresuid(1, 1, 1)


def main():
    """Set the limits, run the cells, then answer the judge's calls until the input ends."""
    leave_root()
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
