"""Make the status page: versions, numbers of checks, and the time that each page takes."""

import ast
import re
from importlib.metadata import version

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ocolab.limits import LIMITS
from ocolib.theorems import THEOREMS
from press import ROOT, files, ledger
from press.sphinx import reader
from press.sphinx.tables import link, table

PACKAGES = ["ocolib", "numpy", "scipy", "cvxpy", "clarabel", "matplotlib"]
PACKAGES += ["jupyter-book", "sphinx", "nbval", "hypothesis"]
ASSERT = re.compile(r"^\s*assert\b", re.MULTILINE)


class Status(SphinxDirective):
    """``{status}``: show versions, execution times and numbers of checks."""

    def run(self):
        runs = files.recorded()
        times = {page: seconds for run in runs for page, seconds in run["seconds"].items()}
        pages = {path.relative_to(ROOT).as_posix(): nbformat.read(path, as_version=4) for path in notebooks()}
        seconds = [
            (
                [link(name.removesuffix(".ipynb"))],
                f"{times[name]:.1f} s" if name in times else "not measured",
            )
            for name in in_order(pages)
        ]
        return [
            nodes.rubric("", "What was checked"),
            table(["What", "How many"], counts(pages.values()), ["status"]),
            nodes.rubric("", "Processor time to execute each page"),
            *(nodes.paragraph("", measured(run)) for run in runs),
            table(["Page", "Time"], seconds, ["status"]),
            nodes.rubric("", "Versions"),
            table(
                ["Package", "Version"],
                [(name, version(name)) for name in PACKAGES],
                ["status"],
            ),
        ]


def measured(run):
    """Return when, and on what kind of machine, a run of the pages was timed."""
    pages, total = len(run["seconds"]), sum(run["seconds"].values())
    together = f"{pages} page{'s' * (pages > 1)}, {total:,.0f} seconds in total"
    return f"{together}, with one thread. Measured on {run['day']} ({run['machine']})."


def in_order(pages):
    """Return notebooks in the order of the book; those outside its contents come last."""
    places = {f"{page}.ipynb": place for place, page in enumerate(reader.parts())}
    return sorted(pages, key=lambda page: places.get(page, len(places)))


def notebooks():
    """Return all notebooks of the book."""
    return sorted(p for p in ROOT.glob("book/**/*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def counts(pages):
    """Return rows (what, how many) for the status page."""
    parts = ledger.load().values()
    cells = [cell for page in pages for cell in page.cells if cell.cell_type == "code"]
    trees = [ast.parse(path.read_text("utf8")) for path in ROOT.glob("tests/**/test_*.py")]
    tests = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    property_based = [test for test in tests if any("given" in ast.unparse(d) for d in test.decorator_list)]

    def share(kind):
        found = [entry for part in parts for entry in part[kind]]
        ready = sum(map(ledger.done, found))
        return str(ready) if ready == len(found) else f"{ready} of {len(found)}"

    return [
        ("items stated and tested", share("items")),
        ("errata on a page, tested where there is something to run", share("errata")),
        ("theorems, each with its hypotheses, proof, games and worst case", str(len(THEOREMS))),
        ("limits: worst cases and floors that are known exactly", str(len(LIMITS))),
        ("pages that run", str(len(pages))),
        ("code cells compared with their stored output", str(len(cells))),
        (
            "cells that need NumPy alone",
            str(sum(tagged(cell, "live") for cell in cells)),
        ),
        (
            "asserts on the pages",
            str(sum(len(ASSERT.findall(cell.source)) for cell in cells)),
        ),
        ("test functions", str(len(tests))),
        ("of these property-based", str(len(property_based))),
    ]


def tagged(cell, tag):
    """Return whether a cell has a tag."""
    return tag in cell.metadata.get("tags", [])


def when_others_change(app, env, added, changed, removed):
    """Rebuild the concordance and the status page when files change that Sphinx does not watch.

    These are the ledger, tests, packages, notebooks and times; also styles and scripts, which Sphinx only
    copies when it writes some page.
    """
    seen = [*ledger.FOLDER.glob("*.yml"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("oco*/**/*.py")]
    seen += [*notebooks(), files.RECORDED, ROOT / "requirements.txt"]
    seen += [path for path in ROOT.glob("book/_static/**/*") if path.is_file()]
    seen = [(str(file), file.stat().st_mtime) for file in seen if file.exists()]
    before, env.status_seen = getattr(env, "status_seen", None), seen
    return ["book/concordance", "book/status"] if seen != before else []


def setup(app):
    app.setup_extension("press.sphinx.tables")
    app.add_directive("status", Status)
    app.connect("env-get-outdated", when_others_change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
