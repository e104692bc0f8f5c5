"""nbval: kernels that start at once, the longest pages first, and how long each took, for the status page."""

from collections import Counter, defaultdict

from press import files, kernels

seconds = defaultdict(float)


def pytest_configure():
    kernels.fork_kernels()


def page(nodeid):
    return nodeid.partition("::")[0]


def pytest_collection_modifyitems(items):
    """A long page at the end is one worker working and the others waiting."""
    cells = Counter(page(item.nodeid) for item in items)
    times = files.times()
    length = {name: times.get(name, 0.2 * count) for name, count in cells.items()}
    items.sort(key=lambda item: -length[page(item.nodeid)])


def pytest_runtest_logreport(report):
    name = page(report.nodeid)
    if name.endswith(".ipynb"):
        seconds[name] += report.duration


def pytest_sessionfinish(session):
    if seconds and not hasattr(session.config, "workerinput"):
        files.keep_times(seconds)
