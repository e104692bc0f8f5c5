"""Derive the student's cell, the solution cell and the judge's cell from one solved exercise.

The cell defines the answer in functions named `my_…` and then calls `exercises.check_…` with a reference
and slips. The student's cell has the functions without their bodies, and `exercises.check("ex-…", my_…)`,
which judges by recorded cases: reference and slips stay with the judge. What the student's cell needs beside
the answers (the rules of a construction, a helper that calls an answer) is folded away in front of it. What
follows the last check is told with the solution only.
"""

import ast
import re
from dataclasses import dataclass
from functools import cache

from press.pages import depends

WIDTH = 79


@dataclass
class Part:
    """A statement at the top level of the cell, with the comments in front of it."""

    comments: str
    code: str
    spaced: bool  # a blank line stands in front
    node: ast.stmt

    def text(self):
        return self.comments + self.code


def parts(source):
    """The statements of a cell. A comment belongs to the statement that follows it."""
    lines, done, found = source.split("\n"), 0, []
    for node in ast.parse(source).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        gap = lines[done:first]
        comments = "".join(f"{line}\n" for line in gap if line.strip())
        code = "\n".join(lines[first : node.end_lineno])
        found.append(Part(comments, code, not all(line.strip() for line in gap), node))
        done = node.end_lineno
    if any(line.strip() for line in lines[done:]):
        raise ValueError("a comment stands last; put it in front of the line that it explains")
    return found


def is_answer(node):
    return isinstance(node, ast.FunctionDef) and node.name.startswith("my_")


def is_check(node):
    """Is the statement a call `exercises.check…(…)`?"""
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.func
    return bool(called) and ast.unparse(called).startswith("exercises.check")


@dataclass(frozen=True)
class Exercise:
    """The texts of an exercise's cells; `kept`, what the student's cell needs, may be empty."""

    kept: str
    stub: str
    solution: str
    judge: str


# what is no reference, and goes with the student's check: {checker: {name: place among its arguments}}
PROPERTIES = {
    "exercises.check_construction": {"rules": 2, "reaches": 3},
    "exercises.check_argmin": {"objective": 1, "over": 3},
}


@cache
def split(source, name):
    """The cells of an exercise from the one that is written; `name` is its id."""
    found = parts(source)
    checks = [place for place, part in enumerate(found) if is_check(part.node)]
    answers = [part.node.name for part in found if is_answer(part.node)]
    if not answers or not checks:
        raise ValueError("an exercise defines a function my_… and calls exercises.check…")
    asked, told = found[: checks[-1] + 1], found[checks[-1] + 1 :]
    repeated = dependent(asked, answers)
    others = [part for part in asked if part not in repeated]
    calls = {id(found[place]): number for number, place in enumerate(checks, 1)}
    short = [  # the same, with the short calls in place of the checks
        Part(part.comments, *recall(part, name, calls[id(part)])) if id(part) in calls else part
        for part in repeated
    ]
    # what the worked answer uses, and what is imported, is given to the student too
    given = needed(short, others)
    kept = [part for part in others if part in given or isinstance(part.node, ast.Import | ast.ImportFrom)]
    own = re.compile(rf"\b({'|'.join(answers)})\b")
    solution = [(part, told_text(part, own)) for part in short]
    solution += [(part, part.text()) for part in needed(told, others) if part not in kept]
    solution += [(part, told_text(part, own)) for part in told]
    return Exercise(
        joined([(part, part.text()) for part in kept]),
        joined([(part, asked_text(part)) for part in short]),
        joined(solution),
        joined([(part, asked_text(part) if is_answer(part.node) else part.text()) for part in asked]),
    )


def recall(part, name, number):
    """(code, spaced, node) of the student's check: by the recorded cases of the exercise."""
    call = part.node.value
    given = {word.arg: word.value for word in call.keywords}
    properties = {}
    for word, place in PROPERTIES.get(ast.unparse(call.func), {}).items():
        value = given.get(word) or (call.args[place] if place < len(call.args) else None)
        if value is not None:
            properties[word] = value
    row = [f'"{name}"', segment(part, call.args[0])]
    row += [f"part={number}"] if number > 1 else []
    row += [f"{word}={segment(part, value)}" for word, value in properties.items()]
    code = fitted("exercises.check", row)
    return code, part.spaced, ast.parse(code).body[0]


def segment(part, node):
    """The code of an argument as it was written; `node` counts its lines from the top of the cell."""
    lines = part.code.split("\n")
    first = node.lineno - part.node.lineno
    last = node.end_lineno - part.node.lineno
    if first == last:
        return lines[first].encode()[node.col_offset : node.end_col_offset].decode()
    inner = [lines[first].encode()[node.col_offset :].decode(), *lines[first + 1 : last]]
    return "\n".join([*inner, lines[last].encode()[: node.end_col_offset].decode()])


def needed(users, makers):
    """Those of the makers whose names the users need, and the names that these need in turn."""
    wanted = set().union(*(depends.names_of(part.code).used for part in users)) if users else set()
    found = []
    for part in reversed(makers):
        names = depends.names_of(part.code)
        if wanted & (names.bound | set(names.imported)):
            found.insert(0, part)
            wanted |= names.used
    return found


def dependent(asked, answers):
    """The answers, the checks, and what else names an answer, or what such a part defines."""
    known, found = set(answers), []
    for part in asked:
        names = [node for node in ast.walk(part.node) if isinstance(node, ast.Name)]
        if is_answer(part.node) or is_check(part.node) or known & {node.id for node in names}:
            found.append(part)
            if isinstance(part.node, ast.FunctionDef | ast.ClassDef):  # what is inside is its own
                known.add(part.node.name)
            else:
                known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return found


def asked_text(part):
    """What the student sees: of an answer head and docstring, of the rest the code; no comments in front."""
    node = part.node
    if not is_answer(node):
        return part.code
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    lines = [f"def {node.name}({ast.unparse(node.args)}){returns}:"]
    if ast.get_docstring(node) is not None:
        doc, first = node.body[0], node.lineno
        lines += part.code.split("\n")[doc.lineno - first : doc.end_lineno - first + 1]
    return "\n".join([*lines, "    return None"])


def told_text(part, own):
    """What the solution says: its own names, and a check that raises where the answer is wrong."""
    rename = own.sub(lambda match: "solution_" + match[0].removeprefix("my_"), part.text())
    return strict(rename) if is_check(part.node) else rename


def strict(text):
    """The call with `strict=True` added."""
    (part,) = parts(text)
    call = part.node.value
    given = [ast.get_source_segment(text, arg) for arg in call.args]
    given += [f"{word.arg}={ast.get_source_segment(text, word.value)}" for word in call.keywords]
    return part.comments + fitted(ast.unparse(call.func), [*given, "strict=True"])


def fitted(name, given):
    """A call: on one line, its arguments on another, or an argument a line."""
    row = ", ".join(given)
    for shape in (f"{name}({row})", f"{name}(\n    {row}\n)"):
        if "\n" not in row and max(map(len, shape.split("\n"))) <= WIDTH:
            return shape
    return f"{name}(\n" + "".join(f"    {arg},\n" for arg in given) + ")"


def joined(pieces):
    """One cell from statements: a blank line where one stood, and round every definition."""
    cell, after = "", False
    for part, text in pieces:
        definition = isinstance(part.node, ast.FunctionDef | ast.ClassDef)
        cell += ("\n\n" if part.spaced or definition or after else "\n") * bool(cell) + text
        after = definition
    return cell


def answered(stub, answer):
    """The student's cell with the functions `my_…` of `answer` in place of the stubs.

    What else the answer has (imports, helpers) comes with them; a function it lacks stays a stub.
    """
    given = parts(answer)
    written = {part.node.name for part in given if is_answer(part.node)}
    asked = parts(stub)
    first = next(place for place, part in enumerate(asked) if is_answer(part.node))
    kept = [(part, part.text()) for part in asked if getattr(part.node, "name", None) not in written]
    place = sum(1 for part in asked[:first] if getattr(part.node, "name", None) not in written)
    return joined([*kept[:place], *((part, part.text()) for part in given), *kept[place:]])
