"""Derive the student's cell, the solution cell and the judge's cell from one solved exercise.

On a page, the author writes one cell: functions named `my_…` with the answer, then calls of
`exercises.check_…` with a reference and typical mistakes ("slips"). While `press.pages.notebooks` builds the
notebook, it is split into:

- the student's cell: the functions without their bodies, and `exercises.check("ex-…", my_…)`, which compares
  with recorded cases, so that it contains neither reference nor slips;
- if needed, a folded cell in front of it with whatever else the student's cell uses;
- the solution: the complete functions, and everything that follows the last check;
- the judge's cell, used to record the cases and to grade: the stubs with the original checks.
"""

import ast
import re
from dataclasses import dataclass
from functools import cache

from press.pages import depends

WIDTH = 79


@dataclass
class Part:
    """A top-level statement of a cell, with the comments above it."""

    comments: str
    code: str
    spaced: bool  # preceded by a blank line
    node: ast.stmt

    def text(self):
        """Return the comments and the code."""
        return self.comments + self.code


def parts(source):
    """Return the statements of a cell. A comment belongs to the statement that follows it."""
    lines, done, found = source.split("\n"), 0, []
    for node in ast.parse(source).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        gap = lines[done:first]
        comments = "".join(f"{line}\n" for line in gap if line.strip())
        code = "\n".join(lines[first : node.end_lineno])
        found.append(Part(comments, code, not all(line.strip() for line in gap), node))
        done = node.end_lineno
    if any(line.strip() for line in lines[done:]):
        raise ValueError("the cell ends with a comment; move it in front of the line that it explains")
    return found


def is_answer(node):
    """Return whether the statement defines an answer, a function `my_…`."""
    return isinstance(node, ast.FunctionDef) and node.name.startswith("my_")


def is_check(node):
    """Return whether the statement is a call `exercises.check…(…)`."""
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.func
    return bool(called) and ast.unparse(called).startswith("exercises.check")


@dataclass(frozen=True)
class Exercise:
    """The sources of an exercise's cells.

    `kept` is what the student's cell needs in front of it and may be empty; `judge` is for the grader.
    """

    kept: str
    stub: str
    solution: str
    judge: str


# Arguments that do not reveal the reference and stay in the student's check: {checker: {name: position}}.
PROPERTIES = {
    "exercises.check_construction": {"rules": 2, "reaches": 3},
    "exercises.check_argmin": {"objective": 1, "over": 3},
}


@cache
def split(source, name):
    """Split the solved cell of the exercise `name` into the cells of the notebook and of the judge."""
    found = parts(source)
    checks = [place for place, part in enumerate(found) if is_check(part.node)]
    answers = [part.node.name for part in found if is_answer(part.node)]
    if not answers or not checks:
        raise ValueError("an exercise must define a function my_… and call exercises.check…")
    asked, told = found[: checks[-1] + 1], found[checks[-1] + 1 :]
    repeated = dependent(asked, answers)
    others = [part for part in asked if part not in repeated]
    calls = {id(found[place]): number for number, place in enumerate(checks, 1)}
    short = [  # `repeated`, with the checks replaced by their short form
        Part(part.comments, *recall(part, name, calls[id(part)])) if id(part) in calls else part
        for part in repeated
    ]
    # the student also gets all imports and everything that the solution uses
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
    """Return (code, spaced, node) of the student's check, which uses the recorded cases of the exercise."""
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
    """Return the code of an argument as written; the lines of `node` count from the top of the cell."""
    lines = part.code.split("\n")
    first = node.lineno - part.node.lineno
    last = node.end_lineno - part.node.lineno
    if first == last:
        return lines[first].encode()[node.col_offset : node.end_col_offset].decode()
    inner = [lines[first].encode()[node.col_offset :].decode(), *lines[first + 1 : last]]
    return "\n".join([*inner, lines[last].encode()[: node.end_col_offset].decode()])


def needed(users, makers):
    """Return the makers that define the names used by `users`, directly or through other makers."""
    wanted = set().union(*(depends.names_of(part.code).used for part in users)) if users else set()
    found = []
    for part in reversed(makers):
        names = depends.names_of(part.code)
        if wanted & (names.bound | set(names.imported)):
            found.insert(0, part)
            wanted |= names.used
    return found


def dependent(asked, answers):
    """Return the answers, the checks and every part that uses an answer, directly or indirectly."""
    known, found = set(answers), []
    for part in asked:
        names = [node for node in ast.walk(part.node) if isinstance(node, ast.Name)]
        if is_answer(part.node) or is_check(part.node) or known & {node.id for node in names}:
            found.append(part)
            if isinstance(part.node, ast.FunctionDef | ast.ClassDef):  # its inner names are local
                known.add(part.node.name)
            else:
                known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return found


def asked_text(part):
    """Return a part as the student sees it: without comments, and of an answer only head and docstring."""
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
    """Return a part as the solution has it: renamed `solution_…`, with a check that raises on errors."""
    rename = own.sub(lambda match: "solution_" + match[0].removeprefix("my_"), part.text())
    return strict(rename) if is_check(part.node) else rename


def strict(text):
    """Return the call with `strict=True` added."""
    (part,) = parts(text)
    call = part.node.value
    given = [ast.get_source_segment(text, arg) for arg in call.args]
    given += [f"{word.arg}={ast.get_source_segment(text, word.value)}" for word in call.keywords]
    return part.comments + fitted(ast.unparse(call.func), [*given, "strict=True"])


def fitted(name, given):
    """Return a call laid out on one line, with all arguments on a second one, or with one per line."""
    row = ", ".join(given)
    for shape in (f"{name}({row})", f"{name}(\n    {row}\n)"):
        if "\n" not in row and max(map(len, shape.split("\n"))) <= WIDTH:
            return shape
    return f"{name}(\n" + "".join(f"    {arg},\n" for arg in given) + ")"


def joined(pieces):
    """Join statements to one cell, with blank lines around definitions and where the author had them."""
    cell, after = "", False
    for part, text in pieces:
        definition = isinstance(part.node, ast.FunctionDef | ast.ClassDef)
        cell += ("\n\n" if part.spaced or definition or after else "\n") * bool(cell) + text
        after = definition
    return cell


def answered(stub, answer):
    """Return the student's cell with the stubs replaced by the functions `my_…` of `answer`.

    Imports and helpers of the answer are inserted too. A function that the answer lacks stays a stub.
    """
    given = parts(answer)
    written = {part.node.name for part in given if is_answer(part.node)}
    asked = parts(stub)
    first = next(place for place, part in enumerate(asked) if is_answer(part.node))
    kept = [(part, part.text()) for part in asked if getattr(part.node, "name", None) not in written]
    place = sum(1 for part in asked[:first] if getattr(part.node, "name", None) not in written)
    return joined([*kept[:place], *((part, part.text()) for part in given), *kept[place:]])
