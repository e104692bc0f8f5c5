"""The built book, a server for it, and a Chromium that can reach nothing else."""

import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import sync_playwright

from press import serve
from press.print.chromium import ARGUMENTS, NAMES, chromium

ROOT = Path(__file__).resolve().parents[2]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
CHROMIUM = chromium()
REQUIRED = os.environ.get("OCOLIB_REQUIRE_BROWSER") == "1"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def html():
    assert (HTML / "index.html").exists(), "no built book: run `make book`"
    return HTML


@pytest.fixture(scope="session")
def address(html):
    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=html))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def packed_address(html):
    """The book as `make serve` and every host send it: compressed."""
    running = serve.server(html)
    Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://localhost:{running.server_port}"
    running.shutdown()
    running.server_close()


@pytest.fixture(scope="session")
def browser():
    if not CHROMIUM and REQUIRED:
        pytest.fail(f"no browser: none of {', '.join(NAMES)} found, and CHROMIUM is not set")
    if not CHROMIUM:
        pytest.skip("no Chromium found")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def desktop(browser):
    return browser.new_page(viewport={"width": 1280, "height": 900})


@pytest.fixture(scope="session")
def phone(browser):
    return browser.new_page(viewport={"width": 390, "height": 844})


def pytest_terminal_summary(terminalreporter):
    if CHROMIUM or REQUIRED:
        return
    terminalreporter.section("THE BOOK WAS NOT CHECKED IN A BROWSER", sep="!")
    terminalreporter.line(f"None of {', '.join(NAMES)} was found.")
    terminalreporter.line("Install Chromium, or set CHROMIUM to its path; then: make browser")
    terminalreporter.section("THE BOOK WAS NOT CHECKED IN A BROWSER", sep="!")
