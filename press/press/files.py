"""Write files atomically, so that they are complete even if the process is killed; store page timings."""

import json
import os

from press import ROOT

TIMES = ROOT / "_build" / "times.json"


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
    """Seconds by page, as last measured: for the order of the tests and the status page."""
    return json.loads(TIMES.read_text("utf8")) if TIMES.exists() else {}


def keep_times(seconds):
    write(TIMES, json.dumps(seconds, indent=1, sort_keys=True))
