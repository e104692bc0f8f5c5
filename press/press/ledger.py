"""Read the ledger in book/ledger: every item and erratum of the lectures, with its page and its tests."""

from collections import defaultdict
from functools import cache

import yaml

from ocolab.limits import LIMITS
from ocolib.theorems import THEOREMS
from press import ROOT

FOLDER = ROOT / "book" / "ledger"


@cache
def load(folder=FOLDER):
    """Return {prefix: {lecture, source, finished, items, errata}} for all lectures.

    `tests` of an item are listed in its file. We add `theorems`, the names of the classes in
    `ocolib.theorems` that state it (each has its own check), and `limits`, the functions in `ocolab.limits`.
    """
    parts = {
        file.stem: yaml.load(file.read_text("utf8"), yaml.CSafeLoader)
        for file in sorted(folder.glob("*.yml"))
    }
    for entry in entries(parts):
        entry["theorems"] = theorems().get(entry["id"], [])
        entry["limits"] = limits().get(entry["id"], [])
    return parts


def entries(ledger):
    """Return every item and erratum of every lecture."""
    return [entry for part in ledger.values() for entry in part["items"] + part["errata"]]


def anchor(identifier):
    """Return the anchor of an item on its page: ox13.thm2 -> ox13-thm2."""
    return identifier.replace(".", "-")


def done(entry):
    """Return whether a page states the entry and something checks it; a typo needs no check."""
    checked = entry["tests"] or entry["theorems"] or entry["limits"]
    return bool(entry["page"] and (checked or entry.get("severity") == "typo"))


def erratum(name):
    """Return the erratum of the ledger that a `{slip}` names by the beginning of its id."""
    found = [
        entry
        for part in load().values()
        for entry in part["errata"]
        if entry["id"] == name or entry["id"].startswith(f"{name}-")
    ]
    if len(found) != 1:
        raise ValueError(f"slip {name!r} must name one erratum of the ledger, but it matches {len(found)}")
    return found[0]


@cache
def theorems():
    """Return {item: names of its theorems}, from `ocolib.theorems.THEOREMS`."""
    return _by_item(THEOREMS)


@cache
def limits():
    """Return {item: names of its limits}, from `ocolab.limits.LIMITS`."""
    return _by_item(LIMITS)


def _by_item(registry):
    """Return {item: names of the registry's entries for it}."""
    found = defaultdict(list)
    for entry in registry:
        found[entry.item].append(entry.__name__)
    return dict(found)
