"""When nbval runs the pages, write down how long each took, for the status page."""

import json
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMES = ROOT / "_build" / "times.json"
seconds = defaultdict(float)


def pytest_runtest_logreport(report):
    page = report.nodeid.partition("::")[0]
    if page.endswith(".ipynb"):
        seconds[page] += report.duration


def pytest_sessionfinish(session):
    if seconds and not hasattr(session.config, "workerinput"):
        TIMES.parent.mkdir(exist_ok=True)
        TIMES.write_text(json.dumps(seconds, indent=1, sort_keys=True))
