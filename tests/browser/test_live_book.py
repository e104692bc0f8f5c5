"""The live cells of the whole book in a real browser: every cell, every exercise wrongly and rightly."""

import ast
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import nbformat
import pytest
import yaml

from press.sphinx import live

pytestmark = [pytest.mark.browser, pytest.mark.long]

ROOT = live.ROOT
PAGES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in ROOT.glob("book/**/*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
KNOWN = yaml.safe_load((ROOT / "tests" / "browser" / "live_differences.yml").read_text("utf8")) or {}
TIMES = ROOT / "_build" / "live-times"
FOUND = ROOT / "_build" / "live-differences"
MINUTE = 60_000
ASK = """\
import js

ask = js.XMLHttpRequest.new()
ask.open("GET", "{}/index.html", False)
ask.send()
print(ask.status)"""
RUN = """async (cell) => {
  const run = cell.querySelector('.live-run');
  const began = performance.now();
  run.click();
  const body = cell.querySelector('.live-output-body');
  while (run.getAttribute('aria-disabled') === 'true') await new Promise(resolve => setTimeout(resolve, 20));
  const text = (name) => [...cell.querySelectorAll(name)].map(part => part.textContent).join('');
  return {
    number: Number(cell.querySelector('.live-number').textContent),
    stdout: text('.live-stdout'),
    verdict: [...cell.querySelectorAll('.live-verdict p')].map(part => part.textContent + '\\n').join(''),
    error: text('.live-error'),
    state: cell.querySelector('.live-state').textContent,
    seconds: (performance.now() - began) / 1000,
  };
}"""


@pytest.fixture(scope="module")
def context(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10 * MINUTE)
    yield context
    context.close()


def printed(page):
    """{number of the cell on the page: what it printed}, for the cells that a page shows."""
    cells = [cell for cell in nbformat.read(ROOT / f"{page}.ipynb", 4).cells if cell.cell_type == "code"]
    shown = [cell for cell in cells if "remove-cell" not in cell.metadata.get("tags", [])]
    return {
        number: "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")
        for number, cell in enumerate(shown, 1)
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_live_cell_prints_what_the_book_prints(page, context, address):
    """But for the differences that are listed, with their reasons, in live_differences.yml."""
    tab = context.new_page()
    tab.goto(f"{address}/{page}.html", wait_until="load")
    expected, differing, times = printed(page), {}, {}
    for cell in tab.locator(".live-cell:not(.live-scratch)").all():
        came = cell.evaluate(RUN)
        times[f"cell {came['number']}"] = came["seconds"]  # with the cells above that it waited for
        text = came["stdout"] + came["verdict"]
        if came["error"] or text != expected[came["number"]]:
            differing[came["number"]] = {"printed": expected[came["number"]], "browser": text, **came}
    tab.close()
    record("cell", page, dict([*times.items()][1:]))  # the first one waits for Python
    FOUND.mkdir(parents=True, exist_ok=True)
    report = FOUND / f"{page.replace('/', '-')}.json"
    report.write_text(json.dumps(differing, indent=1, ensure_ascii=False), "utf8")
    known = KNOWN.get(page, {})
    assert differing.keys() == known.keys(), f"see {report.relative_to(ROOT)}"


def with_exercises():
    """The pages that have exercises for the browser."""
    file = ROOT / "_build" / "html" / "_static" / "live" / "exercises.json"
    pages = json.loads(file.read_text("utf8")) if file.exists() else {}
    return [page for page in sorted(pages) if page in PAGES]


@pytest.mark.parametrize("page", with_exercises())
def test_every_exercise_answers_and_how_soon(page, browser, address):
    """The stub is no answer, a number that is none is refused, the worked solution is right.

    The seconds from the click to the verdict, with Python there, are printed at the end: see conftest.py.
    """
    context = browser.new_context()
    context.set_default_timeout(2 * MINUTE)
    tab = context.new_page()
    tab.goto(f"{address}/{page}.html", wait_until="load")
    data = json.loads(tab.locator("#live-page").text_content())
    cells, times = tab.locator("div.cell"), {}
    for place, about in enumerate(data["cells"]):
        if not about.get("exercise"):
            continue
        cell, slug = cells.nth(place), about["exercise"]
        stub = cell.locator("pre").first.evaluate("code => code.textContent")
        solution = solution_of(page, slug)
        title = tab.locator(f"#{slug} .admonition-title").first
        assert cell.evaluate(RUN)["verdict"].startswith(("…", "✗")), "the stub is not an answer"
        cell.get_by_role("button", name=re.compile("^Edit")).click()
        editor = cell.locator(".live-editor .cm-content")
        for answer, right in [(wrong(stub), False), (answered(stub, solution), True)]:
            editor.click()
            tab.keyboard.press("Control+A")
            tab.keyboard.insert_text(answer)
            came = cell.evaluate(RUN)
            assert came["verdict"].startswith("✓" if right else "✗"), (slug, came)
            assert ("✓ solved" in title.inner_text()) == right
            times[slug] = max(times.get(slug, 0), came["seconds"])
    tab.reload(wait_until="load")
    assert "✓ solved" in title.inner_text()
    context.close()
    record("exercise", page, times)


def record(kind, page, times):
    """For the summary at the end of the run: see conftest.py."""
    TIMES.mkdir(parents=True, exist_ok=True)
    (TIMES / f"{kind}-{page.replace('/', '-')}.json").write_text(json.dumps({page: times}), "utf8")


def solution_of(page, slug):
    for cell in nbformat.read(ROOT / f"{page}.ipynb", 4).cells:
        if cell.metadata.get("exercise") == slug and "solution" in cell.metadata.get("tags", []):
            return cell.source
    raise LookupError(f"{page} has no solution of {slug}")


class Foreign(BaseHTTPRequestHandler):
    """Another origin, which would answer everyone."""

    asked: ClassVar[list] = []

    def do_GET(self):
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def test_code_in_the_page_reaches_no_origin(browser, address):
    """The ways out are closed before a cell runs; the policy of the page binds the worker as well."""
    foreign = ThreadingHTTPServer(("localhost", 0), Foreign)
    Thread(target=foreign.serve_forever, daemon=True).start()
    tab = browser.new_page()
    tab.goto(f"{address}/{PAGES[0]}.html", wait_until="load")
    cell = tab.locator(".live-cell:not(.tag_hide-input, .tag_check)").first
    cell.get_by_role("button", name=re.compile("^Edit")).click()
    for origin in (address, f"http://localhost:{foreign.server_port}"):
        cell.locator(".live-editor .cm-content").click()
        tab.keyboard.press("Control+A")
        tab.keyboard.insert_text(ASK.format(origin))
        came = cell.evaluate(RUN)
        assert "200" not in came["stdout"] and "XMLHttpRequest" in came["error"], came
    tab.close()
    foreign.shutdown()
    foreign.server_close()
    assert not Foreign.asked


def wrong(stub):
    """The stub, returning a number that is no answer."""
    return stub.replace("None", "float('nan')", 1)


def answered(stub, solution):
    """The stub with the functions of the worked solution in place of its own, after what these use."""
    renamed = ast.parse(re.sub(r"\bsolution_(?=\w)", "my_", solution)).body
    checks = [place for place, node in enumerate(renamed) if "exercises.check" in ast.unparse(node)]
    functions = {node.name: node for node in renamed[: checks[0]] if isinstance(node, ast.FunctionDef)}
    tree = ast.parse(stub)
    asked = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    used = [node for node in renamed[: checks[0]] if getattr(node, "name", None) not in asked]
    tree.body = [*used, *(functions.get(getattr(node, "name", None), node) for node in tree.body)]
    return ast.unparse(tree)
