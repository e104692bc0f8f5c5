"""Write files atomically, so that they are complete even if the process is killed; store page timings."""

import json
import os
import platform
from datetime import date

from press import ROOT

TIMES = ROOT / "_build" / "times.json"
RECORDED = ROOT / "book" / "times.json"


def write(path, text):
    """All or nothing: the file is replaced in one step, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spare = path.with_name(f".{path.name}.new")
    try:
        spare.write_text(text, "utf8")
        os.replace(spare, path)
    finally:
        spare.unlink(missing_ok=True)


def times():
    """Seconds by page, as last measured here, else as recorded: for the order of the tests."""
    if TIMES.exists():
        return json.loads(TIMES.read_text("utf8"))
    return {page: seconds for run in recorded() for page, seconds in run["seconds"].items()}


def keep_times(seconds):
    write(TIMES, json.dumps(seconds, indent=1, sort_keys=True))


def recorded():
    """Processor seconds by page for the status page: a list of runs, each with its day and its machine."""
    return json.loads(RECORDED.read_text("utf8")) if RECORDED.exists() else []


def record_times(seconds, again=False):
    """Record the pages that have no time yet; with `again` also those that have one.

    Without `again` a second run finds every page recorded and changes nothing.
    """
    runs = recorded()
    for run in runs:  # a page that was renamed or given up
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
    """The kind of this machine, in words that name none."""
    return f"{platform.system()}, {platform.machine()}, Python {platform.python_version()}"
