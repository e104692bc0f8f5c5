"""Make the concordance: a table of every item of the lectures, where it is stated, and what tests it.

The directive `{concordance}` makes the tables; two passes of `press.html` write the names of the tests and
restore the case of anchors.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import ledger
from press.sphinx import elsewhere, formal
from press.sphinx.tables import link, table

FILTER = """<div class="filter pst-js-only"><label for="filter">Show only rows with these words</label>
<input id="filter" type="search" autocomplete="off"
 placeholder="theorem 2, hinge, delay …" />
<output for="filter" role="status"></output></div>"""


class Filter(SphinxDirective):
    """``{concordance-filter}``: a field that filters all lists of the page."""

    def run(self):
        return [nodes.raw("", FILTER, format="html")]


class Concordance(SphinxDirective):
    """``{concordance} ox13``: list the items and errata of one lecture, with their pages and checks."""

    required_arguments = 1

    def run(self):
        prefix = self.arguments[0]
        part = ledger.load()[prefix]
        self.env.note_dependency(str(ledger.FOLDER / f"{prefix}.yml"))
        self.env.note_dependency(str(elsewhere.FILE))
        self.env.note_dependency(str(formal.FOLDER / "coverage.yml"))
        result = []
        for kind, header in (("items", "In the lecture"), ("errata", "Where it errs, or is loose")):
            found = part[kind]
            if not found:
                continue
            columns, rows = [header, "In short", "Checked by"], map(self.row, found)
            if kind == "items":
                columns += ["Proved in Coq", "Formalised elsewhere"]
                rows = [
                    (*row, formal.cell(entry["id"]) or "", elsewhere.cell(entry["id"]) or "")
                    for row, entry in zip(rows, found, strict=True)
                ]
            body = table(columns, rows, ["concordance"])
            for line, entry in zip(body.findall(is_body_row), found, strict=True):
                line["ids"] = [f"row-{ledger.anchor(entry['id'])}"]
            summary = f"<details open><summary>{self.count(kind, found)}</summary>"
            result += [
                nodes.raw("", summary, format="html"),
                body,
                nodes.raw("", "</details>", format="html"),
            ]
        return result

    def count(self, kind, found):
        """Return the number of entries, and how many are done if some are not."""
        name = {"items": "item", "errata": "erratum"}[kind] if len(found) == 1 else kind
        ready = sum(map(ledger.done, found))
        return f"{len(found)} {name}" + (f", {ready} done so far" if ready < len(found) else "")

    def row(self, entry):
        """Return the cells of one entry: its name with a link, what it says, and its checks."""
        says, _ = self.state.inline_text(entry["says"], self.lineno)
        name, _ = self.state.inline_text(entry["item"], self.lineno)
        if not ledger.done(entry):
            return (
                name,
                says,
                [nodes.inline("", "not yet written", classes=["pending"])],
            )
        place = link("book/" + entry["page"], ledger.anchor(entry["id"]), text=" ")
        place.children = []
        place += name
        return (
            [place],
            says,
            [checks_cell(entry)] if checks(entry) else [nodes.Text("nothing to run")],
        )


def checks(entry):
    """Return the names of the theorems, limits and tests that check an entry.

    `check_theorem` checks each theorem: its games, its proof, its worst case.
    """
    names = [f"theorems.{name}" for name in entry["theorems"]]
    names += [f"limits.{name}" for name in entry["limits"]]
    return names + [test.removeprefix("tests/") for test in entry["tests"]]


def checks_cell(entry):
    """Return a fold with the number of theorems, limits and tests.

    Their names are loaded when a reader opens the fold (`write_checks`).
    """
    words = ("theorem", "theorems"), ("limit", "limits"), ("test", "tests")
    counts = ", ".join(
        f"{len(entry[many])} {one if len(entry[many]) == 1 else many}" for one, many in words if entry[many]
    )
    fold = f'<details class="concordance-tests"><summary>{counts}</summary></details>'
    return nodes.raw("", fold, format="html")


def write_checks(app, pages):
    """Write the names of all checks to a script, because they are a quarter of the page and rarely read."""
    entries = ledger.entries(ledger.load())
    named = {f"row-{ledger.anchor(entry['id'])}": checks(entry) for entry in entries if ledger.done(entry)}
    text = json.dumps({row: names for row, names in named.items() if names}, separators=(",", ":"))
    Path(app.outdir, "_static", "checks.js").write_text(f"window.checks = {text};\n", "utf8")


def is_body_row(node):
    """Return whether a node is a row in the body of a table."""
    return isinstance(node, nodes.row) and isinstance(node.parent, nodes.tbody)


def exact_anchors(app, pages):
    """Restore the upper-case letters in anchors of the ledger, which docutils lowers."""
    exact = map(ledger.anchor, (entry["id"] for entry in ledger.entries(ledger.load())))
    lost = {name.lower(): name for name in exact if name != name.lower()}
    if not lost:
        return
    pattern = re.compile(rf'(\bid="|\bhref="[^"#]*#)({"|".join(map(re.escape, lost))})(?=")')
    for file, text in pages.items():
        pages[file] = pattern.sub(lambda match: match[1] + lost[match[2]], text)


def setup(app):
    app.setup_extension("press.sphinx.tables")
    app.add_directive("concordance", Concordance)
    app.add_directive("concordance-filter", Filter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
