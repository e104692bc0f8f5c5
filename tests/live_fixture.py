"""A small book with every kind of live cell, made by the real extension, for the tests of the live page."""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zlib
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[1]
START = 120_000  # milliseconds: a busy machine must not decide
# The numbers of the cells on the page.
FIRST, A, B, SHOW, PLOT, OTHER_PLOT, SOLVER, CHAIN, ARRAY, STUB, SOLUTION, END, IMPORTS, FIGURE = range(1, 15)

CODE = """\
def my_double(x):
    return None


slips = {"That is the square.": lambda x: x * x}
exercises.check_formula(my_double, lambda x: 2 * x, [(3,), (-1,)], slips=slips)"""
ANSWER = CODE.replace("return None", "return 2 * x")
FIGURE_CODE = """\
with plots.figure("rounds $t$", "height") as ax:
    plots.curve(ax, np.arange(5), a * np.arange(5), "<b>a</b> lines", plots.COLORS["bound"])
    ax.plot([0, 4], [1, 1], "o--", color=plots.COLORS["FTRL"])"""
BOX = """\
```{task} Exercise 1: twice
:name: ex-twice
:level: warm-up
:minutes: 2

Return twice the number.
```

```{hints} ex-twice
1. Once more than once.
2. Addition will do.
```

```{proof-flaw} ex-all-equal
:title: Exercise 2: all numbers are equal
:level: challenge

1. Let $a = b$.

   That may be.
2. [x] Divide by $a - b$.

   It is $0$.
```"""
QUESTIONS = """\
```{quick} q-which
Which is larger?

- [ ] $1$

  It is smaller.
- [x] $2$

  By one.
```

```{quick} q-number
:answer: 5.5
:verify: True

How much?

- 6

  Half too much.
- [x] Half of eleven.
```

```{proof-order} ex-order
:title: Exercise 3: in order

1. First.
2. Second.
3. Third.
```"""


def pixel():
    """A picture of one grey pixel."""

    def chunk(kind, data):
        check = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + check

    header = (1).to_bytes(4, "big") * 2 + bytes([8, 0, 0, 0, 0])
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def cell(source, *tags, printed="", **metadata):
    outputs = [new_output("stream", name="stdout", text=printed)] if printed else []
    return new_code_cell(
        source, metadata={"tags": list(tags), **metadata}, outputs=outputs, execution_count=1
    )


def picture(source, *tags):
    shown = new_output("display_data", data={"image/png": pixel(), "text/plain": "<Figure>"})
    alt = {"mystnb": {"image": {"alt": "A grey pixel"}}}
    return new_code_cell(source, metadata={**alt, "tags": list(tags)}, outputs=[shown], execution_count=1)


def live_page():
    """Cells are numbered from 1 in this order, as on the page."""
    chain = "theorems.Chain('Two lines', (theorems.Line(1.0, 'a'), theorems.Line(3.0, 'b', 'because')))"
    cells = [
        new_markdown_cell("# A live page"),
        cell("import numpy as np\n\nfrom ocolib import exercises, theorems", "live"),
        cell('a = 2\nprint("a is", a)', "live", printed="a is 2\n"),
        cell("b = a + 1", "live"),
        cell('print("b is", b)\nb * 10', "live", printed="b is 3\n"),
        picture("import matplotlib.pyplot as plt\n\nplt.plot([a, b])\nplt.show()"),
        picture("plt.plot([1, 2])\nplt.show()"),
        cell("from ocolib import oracle\n\noracle", printed="solved\n"),
        new_markdown_cell("## Values"),
        cell(chain, "live"),
        cell("np.arange(3.0) ** 2", "live"),
        new_markdown_cell(f"## Exercises\n\n{BOX}"),
        cell(CODE, "exercise", "live", printed="… not yet\n", exercise="ex-twice"),
        cell(ANSWER, "live", "hide-cell", "solution", printed="✓ right\n", exercise="ex-twice"),
        cell('print("the end")', "live", printed="the end\n"),
        cell("from ocolib import oracle, plots", "hide-input"),
        picture(FIGURE_CODE, "hide-input"),
        new_markdown_cell(f"## Questions\n\n{QUESTIONS}"),
    ]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
    }
    return new_notebook(cells=cells, metadata=metadata)


def build(folder):
    """Build the fixture below `folder`; the folder of its pages is returned."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    config.pop("bibtex_bibfiles", None), config.pop("logo", None), config["html"].pop("favicon", None)
    sphinx = config["sphinx"]
    ours = [
        "press.html",
        "press.html.offline",
        "press.sphinx.live",
        "press.sphinx.figures",
        "press.sphinx.questions",
    ]
    known = {"sphinx_togglebutton", "sphinx_copybutton", "myst_nb", "jupyter_book", "sphinx_external_toc"}
    known |= {"sphinx_design", "sphinx_book_theme", "sphinx_comments", "sphinx_proof"}
    extensions = sphinx["config"]["extensions"]
    sphinx["config"]["extensions"] = [*(name for name in extensions if name in known), *ours]
    for name in ("html_static_path", "templates_path"):
        sphinx["config"][name] = [str(ROOT / folder) for folder in sphinx["config"][name]]
    for name in [name for name in sphinx["config"] if name.startswith(("bibtex", "autodoc"))]:
        del sphinx["config"][name]
    (folder / "book").mkdir(parents=True)
    (folder / "_config.yml").write_text(yaml.safe_dump(config), "utf8")
    toc = {"format": "jb-book", "root": "book/intro", "parts": [{"caption": "A chapter", "chapters": []}]}
    toc["parts"][0]["chapters"] = [{"file": "book/live"}, {"file": "book/exercises"}]
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc), "utf8")
    (folder / "book" / "intro.md").write_text("# A small book\n\nNothing to see.\n", "utf8")
    shutil.copy(ROOT / "book" / "exercises.md", folder / "book" / "exercises.md")
    nbformat.write(live_page(), folder / "book" / "live.ipynb")
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(folder), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "_build" / "html"


class Server(ThreadingHTTPServer):
    def handle_error(self, *arguments):
        """A reader who leaves in mid-download is no error."""


class Strict(SimpleHTTPRequestHandler):
    """Serves the fixture under a policy of 'self': inline scripts of the theme are named by hash."""

    asked: ClassVar[list] = []  # every path that was asked for

    def log_message(self, *arguments):
        pass

    def end_headers(self):
        self.asked.append(self.path)
        if self.path.partition("?")[0].endswith(".html"):
            self.send_header("Content-Security-Policy", policy(Path(self.translate_path(self.path))))
        super().end_headers()


def policy(page):
    inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page.read_text("utf8"), re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(["'self'", "'wasm-unsafe-eval'", *(f"'sha256-{digest}'" for digest in hashes)])
    return (
        f"default-src 'self'; script-src {scripts}; style-src 'self'; img-src 'self' data:; "
        "worker-src blob:; connect-src 'self' blob:"
    )


@contextmanager
def serve(folder):
    """The address of a server for `folder`, under the policy."""
    server = Server(("localhost", 0), partial(Strict, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


class Reader:
    """What a reader does and sees."""

    def __init__(self, page, site):
        self.page, self.site, self.complaints = page, site, []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, name):
        self.page.goto(f"{self.site}/{name}.html", wait_until="load")

    def cell(self, number):
        return self.page.locator("div.cell").nth(number - 1)

    def press(self, number, button="Run"):
        self.cell(number).get_by_role("button", name=re.compile(f"^{button}")).click()

    def state(self, number):
        return self.cell(number).locator(".live-state").inner_text()

    def run(self, number):
        """Run a cell to its end; what it says below itself."""
        self.press(number)
        return self.result(number)

    def result(self, number):
        done = self.cell(number).locator(".live-run:not([aria-disabled=true])")
        done.wait_for(state="attached", timeout=START)  # in a fold it is not visible
        return self.cell(number).locator(".live-output-body").inner_text()

    def write(self, number, source):
        """Replace the code of a cell, in the editor."""
        editor = self.cell(number).locator(".live-editor .cm-content")
        if not editor.count():
            self.press(number, "Edit")
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)

    def reset_all(self):
        buttons = self.page.get_by_role("button", name=re.compile("^Reset"))
        while buttons.count():
            buttons.first.click()

    def solved(self):
        return self.page.evaluate("localStorage.getItem('ocolib:done:ex-twice') !== null")

    def verdict(self):
        return self.cell(STUB).get_by_role("status").last.inner_text()
