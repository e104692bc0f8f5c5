"""Provide fixtures for the browser tests: the built book, a server, and a Chromium without network access."""

import json
import os
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from built_pages import FILES, Page
from playwright.sync_api import expect, sync_playwright

from press import serve
from press.print.chromium import ARGUMENTS, NAMES, chromium

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
CHROMIUM = chromium()
DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}}
BEGAN = time.time()
BAR, BAR_OF_A_CELL = 2, 5  # seconds that an exercise and a cell may take on an idle machine
ONE_PROCESS_LESS = "--in-process-gpu"  # no graphics card is needed; saves a quarter of the time of a new page
REQUIRED = os.environ.get("OCOLIB_REQUIRE_BROWSER") == "1"
expect.set_options(timeout=30_000)  # as long as an action waits: a busy machine must not decide


# Files in order of their run time. `make browser` runs each file in one process, so that a small book, a deck
# or a PDF is made once; with the longest first, the processes finish at about the same time.
BY_TIME = ["built_book", "figures", "live", "reader", "slides", "pdf", "downloads", "first_contact", "sheets"]


def pytest_collection_modifyitems(items):
    """Run the slowest files first."""

    def place(item):
        name = item.path.stem.removeprefix("test_")
        return BY_TIME.index(name) if item.path.parent == HERE and name in BY_TIME else len(BY_TIME)

    if not os.environ.get("ORDER"):
        items.sort(key=place)


class Quiet(SimpleHTTPRequestHandler):
    """A file server that logs nothing."""

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def html():
    """Return the folder of the built book."""
    assert (HTML / "index.html").exists(), "there is no built book: run `make book` first"
    return HTML


@pytest.fixture(scope="session")
def site(html):
    """Return {name: page} for all pages, without the theme's templates in _static."""
    return {path.as_posix(): Page(html / path) for path in FILES if path.parts[0] != "_static"}


@pytest.fixture(scope="session")
def address(html):
    """Serve the book; return its address."""
    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=html))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def packed_address(html):
    """Serve the book compressed, as `make serve` and web hosts do; return its address."""
    running = serve.server(html)
    Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://localhost:{running.server_port}"
    running.shutdown()
    running.server_close()


@pytest.fixture(scope="session")
def browser():
    """Start Chromium, or skip the test if there is none."""
    if not CHROMIUM and REQUIRED:
        pytest.fail(f"none of {', '.join(NAMES)} was found; install Chromium or set CHROMIUM to its path")
    if not CHROMIUM:
        pytest.skip("no Chromium found")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, ONE_PROCESS_LESS])
        yield whole(running)
        running.close()


# Distant parts of a page are laid out late and have no inner text before; tests need the whole page.
WHOLE = """const all = new CSSStyleSheet();
all.replaceSync(':is(*, #any) { content-visibility: visible !important; }');
document.adoptedStyleSheets = [all];"""


def whole(running):
    """Return a browser that lays out whole pages at once; `as_read` makes contexts as readers have them."""
    running.as_read, page = running.new_context, running.new_page

    def prepared(made):
        made.add_init_script(WHOLE)
        return made

    running.new_context = lambda **settings: prepared(running.as_read(**settings))
    running.new_page = lambda **settings: prepared(page(**settings))
    return running


@pytest.fixture(scope="session")
def desktop(browser):
    """Return a page in a window of desktop size."""
    return browser.new_page(**DESK)


@pytest.fixture(scope="session")
def phone(browser):
    """Return a page in a window of phone size."""
    return browser.new_page(**PHONE)


class Tabs:
    """Pages that stay open between tests, for each kind of window.

    Opening a new page takes four times as long as reusing one.
    """

    def __init__(self, browser):
        self.browser, self.kept, self.visits = browser, {}, 0

    def take(self, busy, script, settings):
        """Return a page with these settings that is not `busy`; `script` runs before its own scripts."""
        kept = self.kept.setdefault(json.dumps([script, settings], sort_keys=True), [])
        page = next((page for page in kept if page not in busy), None)
        if page is None:
            page = self.browser.new_context(**settings).new_page()
            if script:
                page.add_init_script(script)
            page.wrong, page.asked = [], []
            page.on("pageerror", lambda error: page.wrong.append(str(error)))
            page.on("request", lambda request: page.asked.append(request.url))
            kept.append(page)
        if page.viewport_size != settings["viewport"]:
            page.set_viewport_size(settings["viewport"])
        page.wrong.clear()
        page.asked.clear()
        return page

    def visit(self, page, url):
        """Load the address again, with a number that makes it differ from the current one."""
        self.visits += 1
        place, sign, words = url.partition("#")
        page.goto(f"{place}?{self.visits}{sign}{words}", wait_until="load")


@pytest.fixture(scope="session")
def tabs(browser):
    """Return the pages that stay open."""
    return Tabs(browser)


@pytest.fixture
def visit(tabs):
    """Open an address in a reused page, a different one for each call; errors of the page fail the test."""
    busy = []

    def visit(url, script=None, page=None, **settings):
        page = page or tabs.take(busy, script, settings or DESK)
        busy.append(page)
        tabs.visit(page, url)
        return page

    yield visit
    for page in busy:
        assert not page.wrong, page.url


@pytest.fixture
def tell(request):
    """Store a line to be printed at the end of the run, from any worker."""

    def tell(line):
        folder = ROOT / "_build" / "told"
        folder.mkdir(exist_ok=True)
        with (folder / f"{os.getpid()}.txt").open("a", encoding="utf8") as file:
            file.write(f"{request.node.originalname}\t{line}\n")

    return tell


def tell_lines(terminalreporter):
    """Print measurements that tests report but do not judge."""
    told = {}
    for file in sorted((ROOT / "_build" / "told").glob("*.txt")):
        if file.stat().st_mtime > BEGAN:
            for line in file.read_text("utf8").splitlines():
                test, _, words = line.partition("\t")
                told.setdefault(test, []).append(words)
        if not hasattr(terminalreporter.config, "workerinput"):
            file.unlink()
    for test, lines in told.items():
        terminalreporter.section(test)
        for line in lines:
            terminalreporter.line(line)


def tell_times(terminalreporter, kind, bar, most):
    """Print how long exercises or cells took, slowest first, and mark those beyond the limit."""
    folder = ROOT / "_build" / "live-times"
    found = [file for file in folder.glob(f"{kind}-*.json") if file.stat().st_mtime > BEGAN]
    times = [
        (seconds, name, page)
        for file in found
        for page, all_of in json.loads(file.read_text("utf8")).items()
        for name, seconds in all_of.items()
    ]
    if not times:
        return
    times.sort(reverse=True)
    slow = sum(seconds > bar for seconds, *_ in times)
    terminalreporter.section(f"from the click to the end: {kind}s over {bar} s: {slow} of {len(times)}")
    for seconds, name, page in times[: max(most, slow)]:
        terminalreporter.line(f"{seconds:7.2f} s  {name}  ({page}){'  TOO SLOW' if seconds > bar else ''}")


def pytest_terminal_summary(terminalreporter):
    """Print measurements, times, and a warning if there was no browser."""
    tell_lines(terminalreporter)
    tell_times(terminalreporter, "exercise", BAR, most=1000)
    tell_times(terminalreporter, "cell", BAR_OF_A_CELL, most=10)
    if CHROMIUM or REQUIRED:
        return
    terminalreporter.section("THE BOOK WAS NOT CHECKED IN A BROWSER", sep="!")
    terminalreporter.line(f"None of {', '.join(NAMES)} was found.")
    terminalreporter.line("Install Chromium, or set CHROMIUM to its path; then: make browser")
    terminalreporter.section("THE BOOK WAS NOT CHECKED IN A BROWSER", sep="!")
