"""Adapt Python in the browser to this book: `press.live` sends this file there and calls `adapt`."""

import json

from ocolib import exercises


def adapt(runtime):
    """Make checkers report to the page, draw proofs as pictures, and add ocolib's advice to errors."""
    runtime.packages = "NumPy and ocolib"
    runtime.by_asserts = False  # only a checker may accept an answer
    runtime.advisers.append(lambda error: exercises.meant(error).removeprefix(". "))
    runtime.viewers.append(draw)
    exercises.tell = runtime.hear


def draw(value):
    """Return ("chain", value, formula and reason of each line as JSON) for a proof, else None."""
    if type(value).__name__ != "Chain" or not hasattr(value, "lines"):
        return None
    lines = [
        {"value": float(line.value), "formula": line.formula, "reason": line.reason} for line in value.lines
    ]
    return "chain", json.dumps({"title": value.title, "lines": lines})
