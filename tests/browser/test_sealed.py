"""A live session behind the seal: what is not ours is refused, nothing of the reader leaves the machine."""

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from built_pages import VIOLATIONS

pytestmark = pytest.mark.browser

PAGE = "book/lecture-13-oco/the-game.html"
START = 180_000  # milliseconds: a busy machine must not decide
PLAIN = re.compile(r"/[\w./-]*(\?(v|digest)=[0-9a-f]+)?")  # a file of the book, at most with its own version
ATTEMPTS = """\
import js

def tried(what, attempt):
    try:
        attempt()
    except Exception as error:
        print(what, type(error).__name__)
    else:
        print(what, "went through")

def ask():
    question = js.XMLHttpRequest.new()
    question.open("POST", "{0}/asked", False)
    question.send("what the reader wrote")

tried("request", ask)
tried("script", lambda: js.importScripts("{0}/script.js"))
tried("socket", lambda: js.WebSocket.new("{0}/socket".replace("http", "ws")))
tried("events", lambda: js.EventSource.new("{0}/events"))"""


class Recording(SimpleHTTPRequestHandler):
    """Serves a folder, some files `changed`, and keeps who asked for what."""

    def __init__(self, *arguments, asked, changed, **settings):
        self.asked, self.changed = asked, changed
        super().__init__(*arguments, **settings)

    def translate_path(self, path):
        file = super().translate_path(path)
        return self.changed.get(file, file)

    def parse_request(self):
        known = super().parse_request()
        if known:
            self.asked.append((self.command, self.path, self.headers.get("Content-Length")))
        return known

    def log_message(self, *arguments):
        pass


@pytest.fixture
def recorded(tmp_path):
    """recorded(folder, {file: what is sent instead}) → (address, list of requests)."""
    running = []

    def start(folder, changed=None):
        asked = []
        handler = partial(Recording, asked=asked, changed=changed or {}, directory=folder)
        server = ThreadingHTTPServer(("localhost", 0), handler)
        Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://localhost:{server.server_port}", asked

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def tab(browser, html):
    if not (html / "_static" / "live.js").exists():
        pytest.skip("this book was built without Python for the browser")
    context = browser.new_context()
    context.set_default_timeout(START)
    context.add_init_script(VIOLATIONS)
    yield context.new_page()
    context.close()


def run(cell, button="Run"):
    cell.get_by_role("button", name=re.compile(f"^{button}")).click()
    cell.locator(".live-run:not([aria-disabled=true])").wait_for()


def test_nothing_of_the_reader_leaves_the_machine(tab, html, recorded, tmp_path):
    """Run, edit, solve: only files of the book are asked for, and no other origin hears of it."""
    home, asked = recorded(html)
    foreign, heard = recorded(tmp_path)
    wanted, sockets = [], []
    tab.context.on("request", lambda request: wanted.append((request.method, request.url, request.post_data)))
    tab.on("websocket", lambda socket: sockets.append(socket.url))
    tab.goto(f"{home}/{PAGE}", wait_until="load")
    cell = tab.locator(".live-cell:not(.tag_hide-input, .tag_check)").first  # a folded cell shows no button
    run(cell)
    assert not tab.evaluate("window.violations")
    exercise = tab.locator(".live-cell.tag_exercise").first
    run(exercise, "Run and check")
    cell.get_by_role("button", name=re.compile("^Edit")).click()
    cell.locator(".live-editor .cm-content").click()
    tab.keyboard.press("Control+A")
    tab.keyboard.insert_text(ATTEMPTS.format(foreign))
    run(cell)
    told = cell.locator(".live-output-body").inner_text().split("\n")
    tries = ["request AttributeError", "script TypeError", "socket AttributeError", "events AttributeError"]
    assert [line for line in told if line.strip()] == tries
    assert not sockets
    tab.wait_for_timeout(500)
    assert not heard, "another origin was reached"
    ours = [call for call in wanted if not call[1].startswith(("blob:", "data:", foreign))]
    assert ours and all(method == "GET" and url.startswith(home) and not body for method, url, body in ours)
    odd = [call for call in asked if call[0] != "GET" or call[2] or not PLAIN.fullmatch(call[1])]
    assert asked and not odd


def tampered(html, tmp_path, part):
    """{a runtime file of the book: the same with one bit turned round}."""
    (file,) = (html / "_static" / "live").glob(f"{part}-*")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / file.name).write_bytes(data)
    return {str(file): str(tmp_path / file.name)}


def check_refusal(tab, html, recorded, changed):
    address, asked = recorded(html, changed)
    tab.goto(f"{address}/{PAGE}", wait_until="load")
    cell = tab.locator(".live-cell:not(.tag_hide-input, .tag_check)").first
    run(cell)
    assert "is not the file that this book was built with" in cell.locator(".live-state").inner_text()
    assert not cell.locator(".live-output-body").filter(has_text=re.compile(".")).count()
    assert any(Path(file).name in path for _, path, _ in asked for file in changed)


def test_a_changed_file_is_refused_and_said_so(tab, html, recorded, tmp_path):
    check_refusal(tab, html, recorded, tampered(html, tmp_path, "worker"))


@pytest.mark.long
@pytest.mark.parametrize("part", ["engine", "wasm", "stdlib", "numpy", "ocolib"])
def test_every_changed_part_is_refused_and_said_so(tab, html, recorded, tmp_path, part):
    check_refusal(tab, html, recorded, tampered(html, tmp_path, part))


def test_a_changed_editor_is_refused_and_a_plain_field_takes_its_place(tab, html, recorded, tmp_path):
    tab.goto(f"{recorded(html, tampered(html, tmp_path, 'editor'))[0]}/{PAGE}", wait_until="load")
    cell = tab.locator(".live-cell:not(.tag_hide-input, .tag_check)").first
    cell.get_by_role("button", name=re.compile("^Edit")).click()
    cell.get_by_text("the editor could not be loaded: using a plain text field instead.").wait_for()


def test_the_list_of_parts_is_complete(html):
    """A part that the page loads without a checksum would escape the tests above."""
    text = (html / "_static" / "live.js").read_text("utf8")
    parts = re.findall(r'(\w+):\{[^{}]*sha256:"[0-9a-f]{64}"[^{}]*\}', text)
    assert sorted(parts) == ["editor", "engine", "numpy", "packages", "stdlib", "wasm", "worker"]
