"""A student's notebook in a process of its own: runs its cells, then answers calls of its functions.

`grade.py` starts it without network (unless that is allowed) and with limited memory. It speaks
JSON, a line a message, on two pipes that the student's prints do not reach; nothing that it says is ever
executed.
"""

import json
import os
import re
import resource
import sys
from pathlib import Path

import numpy as np

MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)


def pack(value):
    """A value as JSON; what has no plain form is named by its type."""
    if isinstance(value, np.ndarray):
        return {"array": pack(value.tolist()), "shape": value.shape}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [pack(part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {"other": type(value).__name__}


def unpack(value):
    """The inverse, for numbers and arrays of numbers, not empty ones."""
    if isinstance(value, dict) and "array" in value:
        whole = all(isinstance(x, int) for x in np.ravel(np.array(value["array"], dtype=object)))
        return np.array(value["array"], dtype=int if whole else float).reshape(value["shape"])
    if isinstance(value, dict):
        return f"<{value['other']}>"
    return [unpack(part) for part in value] if isinstance(value, list) else value


def cells(path, ours):
    """(exercise or None, source) of what is to run: the book's live cells, exercises, the student's own.

    A cell of the book is known by its id, or by its tag where an editor has dropped the ids.
    """
    for cell in json.loads(Path(path).read_text("utf8"))["cells"]:
        source = "".join(cell["source"])
        metadata = cell.get("metadata", {})
        tags = metadata.get("tags", [])
        known = cell.get("id") in ours or "book" in tags
        needless = "solution" in tags or (known and "live" not in tags)
        if cell["cell_type"] == "code" and not needless:
            yield metadata.get("exercise") if "exercise" in tags else None, MAGIC.sub("", source)


def run(path, ours):
    """(the names at the end, {exercise: those after its cell}, {exercise or None: what went wrong last})."""
    namespace, found, wrong = {"__name__": "__main__"}, {}, {}
    for exercise, source in cells(path, ours):
        try:
            exec(compile(source, "<your cell>", "exec"), namespace)
        except (Exception, SystemExit) as error:
            wrong[exercise] = f"{type(error).__name__}: {error}"
        if exercise:
            found[exercise] = dict(namespace)
    return namespace, found, wrong


def call(namespace, after, name, args):
    """What the function says that had this name after a cell, with the helpers that it had there."""
    namespace.clear()
    namespace.update(after)
    return namespace[name](*args)


def main():
    path, ours, memory, to_us, from_us = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))  # should the judge be gone
    asked, said = os.fdopen(int(to_us), "r"), os.fdopen(int(from_us), "w")
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (for good)
    from ocolib import exercises

    exercises.tell = lambda verdict: None  # it is the judge who decides
    namespace, found, wrong = run(path, set(json.loads(ours)))
    names = {
        exercise: sorted(k for k, f in after.items() if k.startswith("my_") and callable(f))
        for exercise, after in found.items()
    }
    print(
        json.dumps({"found": names, "wrong": {k or "": v for k, v in wrong.items()}}), file=said, flush=True
    )
    for line in asked:
        asks = json.loads(line)
        try:
            value = call(namespace, found[asks["exercise"]], asks["name"], map(unpack, asks["args"]))
            answer = {"value": pack(value)}
        except (Exception, SystemExit) as error:
            answer = {"error": [type(error).__name__, str(error)[:500]]}
        print(json.dumps(answer), file=said, flush=True)


if __name__ == "__main__":
    main()
