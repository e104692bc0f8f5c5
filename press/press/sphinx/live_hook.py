"""Adapt Python in the browser to this book: `press.live` sends this file there and calls `adapt`."""

import json

from ocolib import exercises


def adapt(runtime):
    """Checkers report to the page, a proof is drawn, and an error gets ocolib's advice."""
    runtime.packages = "NumPy and ocolib"
    runtime.by_asserts = False  # only a checker can say that an answer is right
    runtime.advisers.append(lambda error: exercises.meant(error).removeprefix(". "))
    runtime.viewers.append(draw)
    exercises.tell = runtime.hear


def draw(value):
    """What a picture of a proof needs: ("chain", each line's value, formula and reason), or nothing."""
    if type(value).__name__ != "Chain" or not hasattr(value, "lines"):
        return None
    lines = [
        {"value": float(line.value), "formula": line.formula, "reason": line.reason} for line in value.lines
    ]
    return "chain", json.dumps({"title": value.title, "lines": lines})
