"""The ledger: every item of the lectures, with its page and its tests."""

import sys
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "book" / "ledger"
sys.path.append(str(ROOT / "tests"))  # pytest knows it; Sphinx does not

from promises import tests_of  # noqa: E402


@cache
def load(folder=FOLDER):
    """All lectures: {prefix: {lecture, source, finished, items, errata}}.

    An item's tests are those its file names and those marked for one of its bounds.
    """
    parts = {
        file.stem: yaml.load(file.read_text("utf8"), yaml.CSafeLoader)
        for file in sorted(folder.glob("*.yml"))
    }
    for entry in entries(parts):
        entry["tests"] = list(dict.fromkeys([*entry["tests"], *tests_of(entry["id"])]))
    return parts


def entries(ledger):
    """Every item and erratum of every lecture."""
    return [entry for part in ledger.values() for entry in part["items"] + part["errata"]]


def anchor(identifier):
    """The address of an item on its page: ox13.thm2 -> ox13-thm2."""
    return identifier.replace(".", "-")


def done(entry):
    """A page states it and a test checks it; a typo has nothing to check."""
    return bool(entry["page"] and (entry["tests"] or entry.get("severity") == "typo"))
