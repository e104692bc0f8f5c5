"""The live page in Firefox: Run, Stop and one exercise. Safari is untested."""

import json
import shutil
import socket
import subprocess
import time

import live_fixture
import pytest
from live_fixture import ARRAY, STUB, A

pytestmark = [pytest.mark.browser, pytest.mark.long]

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PREFERENCES = """\
user_pref("marionette.port", {port});
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.proxy.type", 0);
"""
HELPERS = """
const [number, done] = [arguments[0], arguments[arguments.length - 1]];
const cell = document.querySelectorAll('div.cell')[number - 1];
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
const until = async (holds) => { while (!holds()) await pause(50); };
const idle = () => cell.querySelector('.live-run').getAttribute('aria-disabled') !== 'true';
const type = async (source) => {
  [...cell.querySelectorAll('button')].find((button) => button.textContent === 'Edit').click();
  await until(() => cell.querySelector('.live-editor')?.shadowRoot?.querySelector('.cm-content'));
  const content = cell.querySelector('.live-editor').shadowRoot.querySelector('.cm-content');
  content.focus();
  document.execCommand('selectAll');
  document.execCommand('insertText', false, source);
  await pause(300);
};
const run = async () => { cell.querySelector('.live-run').click(); await pause(50); await until(idle); };
const said = () => cell.querySelector('.live-output-body').textContent;
"""


class Marionette:
    """As much of Firefox's own remote protocol as these tests need."""

    def __init__(self, port):
        self.socket, self.number = connect(port), 0
        self.receive()
        self("WebDriver:NewSession", {})
        self("WebDriver:SetTimeouts", {"script": 180_000, "pageLoad": 60_000})

    def __call__(self, command, parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self.receive()
        assert error is None, error
        return result

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            length += self.socket.recv(1)
        data = b""
        while len(data) < int(length[:-1]):
            data += self.socket.recv(int(length[:-1]) - len(data))
        return json.loads(data)

    def script(self, body, *arguments):
        script = f"{HELPERS}(async () => {{ {body} }})().then(done, (error) => done('failed: ' + error));"
        return self("WebDriver:ExecuteAsyncScript", {"script": script, "args": arguments})["value"]


def connect(port):
    for _ in range(600):
        try:
            return socket.create_connection(("localhost", port), timeout=200)
        except OSError:
            time.sleep(0.1)
    pytest.fail("Firefox did not start")


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    if not FIREFOX:
        pytest.skip("no Firefox found")
    folder = tmp_path_factory.mktemp("firefox")
    profile, port = folder / "profile", free_port()
    profile.mkdir()
    (profile / "user.js").write_text(PREFERENCES.format(port=port), "utf8")
    process = subprocess.Popen(
        [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", profile],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with live_fixture.serve(live_fixture.build(folder / "book")) as address:
        driver = Marionette(port)
        driver("WebDriver:Navigate", {"url": f"{address}/book/live.html"})
        yield driver
    driver.socket.close()
    process.terminate()
    process.wait(30)


def test_run(firefox):
    assert firefox.script("await run(); return said();", A) == "a is 2\n"


def test_stop_keeps_the_variables(firefox):
    loop = "a = 7\nwhile True:\n    pass"
    stopped = """
      await type(arguments[1]);
      cell.querySelector('.live-run').click();
      await until(() => cell.querySelector('.live-state').textContent === 'Running');
      await pause(1000);
      [...cell.querySelectorAll('button')].find((button) => button.textContent === 'Stop').click();
      await until(idle);
      return said();"""
    body = stopped.replace("arguments[1]", json.dumps(loop))
    assert firefox.script(body, A).endswith("Stopped. All variables are kept.")
    assert firefox.script("await type('a'); await run(); return said();", ARRAY) == "7"


def test_an_exercise(firefox):
    body = "await type({}); await run(); return cell.querySelector('.live-verdict').textContent;"
    assert firefox.script(body.format(json.dumps(live_fixture.ANSWER)), STUB) == "✓ right in all 2 cases"
    assert firefox.script("return localStorage.getItem('ocolib:done:ex-twice') !== null;", STUB) is True
