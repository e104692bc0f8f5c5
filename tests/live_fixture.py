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

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[1]
# The numbers of the cells on the page.
FIRST, A, B, SHOW, PLOT, OTHER_PLOT, SOLVER, CHAIN, ARRAY, STUB, SOLUTION, END = range(1, 13)

CODE = """\
def my_double(x):
    return None


slips = {"That is the square.": lambda x: x * x}
exercises.check_formula(my_double, lambda x: 2 * x, [(3,), (-1,)], slips=slips)"""
ANSWER = CODE.replace("return None", "return 2 * x")
BOX = """\
````{admonition} Exercise 1: twice
:class: exercise
:name: ex-twice

Return twice the number.

```{hint}
Once more than once.
```

```{hint}
Addition will do.
```
````"""


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


def picture(source):
    shown = new_output("display_data", data={"image/png": pixel(), "text/plain": "<Figure>"})
    alt = {"mystnb": {"image": {"alt": "A grey pixel"}}}
    return new_code_cell(source, metadata=alt, outputs=[shown], execution_count=1)


def live_page():
    """Cells are numbered from 1 in this order, as on the page."""
    chain = "proofs.Chain('Two lines', (proofs.Line(1.0, 'a'), proofs.Line(3.0, 'b', 'because')))"
    cells = [
        new_markdown_cell("# A live page"),
        cell("import numpy as np\n\nfrom ocolib import exercises, proofs", "live"),
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
    ours = ("offline", "live", "figures")
    sphinx["local_extensions"] = dict.fromkeys(ours, str(ROOT / "book/_ext"))
    wanted = ("companion", "sphinxcontrib.bibtex", "sphinx.ext.autodoc")
    known = {"sphinx_togglebutton", "sphinx_copybutton", "myst_nb", "jupyter_book", "sphinx_external_toc"}
    known |= {"sphinx_design", "sphinx_book_theme", "sphinx_comments", "sphinx_proof", *ours}
    extensions = sphinx["config"]["extensions"]
    sphinx["config"]["extensions"] = [name for name in extensions if name in known and name not in wanted]
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

    def log_message(self, *arguments):
        pass

    def end_headers(self):
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
