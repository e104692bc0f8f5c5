"""Write files atomically, so that they are complete even if the process is killed; store page timings."""

import json
import os
import platform
from datetime import date

from press import ROOT

TIMES = ROOT / "_build" / "times.json"  # of this machine
RECORDED = ROOT / "book" / "times.json"  # shown on the status page


def write(path, text):
    """Write the text to the file in one step: a killed process leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spare = path.with_name(f".{path.name}.new")
    try:
        spare.write_text(text, "utf8")
        os.replace(spare, path)
    finally:
        spare.unlink(missing_ok=True)


def times():
    """Return {page: seconds}, as last measured here or else as recorded; tests run in this order."""
    if TIMES.exists():
        return json.loads(TIMES.read_text("utf8"))
    return {page: seconds for run in recorded() for page, seconds in run["seconds"].items()}


def keep_times(seconds):
    """Store the seconds of each page in _build."""
    write(TIMES, json.dumps(seconds, indent=1, sort_keys=True))


def recorded():
    """Return the recorded runs for the status page: processor seconds by page, day and machine."""
    return json.loads(RECORDED.read_text("utf8")) if RECORDED.exists() else []


def record_times(seconds, again=False):
    """Record the pages that have no time yet; with `again` also those that have one.

    Without `again` a second run finds every page recorded and changes nothing.
    """
    runs = recorded()
    for run in runs:  # drop pages that were renamed or deleted
        run["seconds"] = {page: time for page, time in run["seconds"].items() if (ROOT / page).exists()}
    known = {page for run in runs for page in run["seconds"]}
    new = {page: round(time, 1) for page, time in seconds.items() if again or page not in known}
    if not new:
        return
    today = {"day": date.today().isoformat(), "machine": machine()}
    for run in runs:
        run["seconds"] = {page: time for page, time in run["seconds"].items() if page not in new}
        if today.items() <= run.items():
            new |= run.pop("seconds")
    runs = [run for run in runs if run.get("seconds")]
    write(RECORDED, json.dumps([*runs, today | {"seconds": new}], indent=1, sort_keys=True) + "\n")


def machine():
    """Describe this machine without identifying it."""
    return f"{platform.system()}, {platform.machine()}, Python {platform.python_version()}"
