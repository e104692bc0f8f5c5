"""What the book makes from the project itself: concordance, status, anchors."""

import ast
import json
import re
from importlib.metadata import version
from pathlib import Path

import nbformat
import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import proof_node

import ledger

ROOT = ledger.ROOT
PACKAGES = ["ocolib", "numpy", "scipy", "cvxpy", "clarabel", "matplotlib"]
PACKAGES += ["jupyter-book", "sphinx", "nbval", "hypothesis"]
ASSERT = re.compile(r"^\s*assert\b", re.MULTILINE)


def table(header, rows, classes):
    """A docutils table; a cell is a string or a list of inline nodes."""
    group = nodes.tgroup("", cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]

    def row(cells):
        line = nodes.row()
        for cell in cells:
            inline = [nodes.Text(cell)] if isinstance(cell, str) else cell
            line += nodes.entry("", nodes.paragraph("", "", *inline))
        return line

    group += nodes.thead("", row(header))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group, classes=classes)


class Concordance(SphinxDirective):
    """``{concordance} ox13``: the items of one lecture, their pages, their tests."""

    required_arguments = 1

    def run(self):
        prefix = self.arguments[0]
        part = ledger.load()[prefix]
        self.env.note_dependency(str(ledger.FOLDER / f"{prefix}.yml"))
        result = []
        for kind in ("items", "errata"):
            found = part[kind]
            if not found:
                continue
            ready = sum(map(ledger.done, found))
            header = ["Item" if kind == "items" else "Where", "In short", "Checked by"]
            body = table(header, map(self.row, found), ["concordance"])
            opened = " open" if ready else ""
            summary = f"{kind}: {ready} of {len(found)} done"
            result += [
                nodes.raw(
                    "", f"<details{opened}><summary>{summary}</summary>", format="html"
                ),
                body,
                nodes.raw("", "</details>", format="html"),
            ]
        return result

    def row(self, entry):
        says, _ = self.state.inline_text(entry["says"], self.lineno)
        if not ledger.done(entry):
            return (
                entry["item"],
                says,
                [nodes.inline("", "not yet written", classes=["pending"])],
            )
        builder = self.env.app.builder
        uri = builder.get_relative_uri(self.env.docname, "book/" + entry["page"])
        link = nodes.reference(
            "",
            entry["item"],
            internal=True,
            refuri=f"{uri}#{ledger.anchor(entry['id'])}",
        )
        tests = [
            nodes.literal("", test.removeprefix("tests/")) for test in entry["tests"]
        ]
        spaced = [node for test in tests for node in (nodes.Text(" "), test)][1:]
        return [link], says, spaced


class Status(SphinxDirective):
    """``{status}``: versions, execution times, and how much was checked."""

    def run(self):
        file = ROOT / "_build" / "times.json"
        times = json.loads(file.read_text()) if file.exists() else {}
        pages = {
            path.relative_to(ROOT).as_posix(): nbformat.read(path, as_version=4)
            for path in notebooks()
        }
        seconds = [
            (name, f"{times[name]:.1f} s" if name in times else "not measured")
            for name in pages
        ]
        return [
            nodes.rubric("", "What was checked"),
            table(["What", "How many"], counts(pages.values()), ["status"]),
            nodes.rubric("", "Time to execute each page"),
            table(["Page", "Time"], seconds, ["status"]),
            nodes.rubric("", "Versions"),
            table(
                ["Package", "Version"],
                [(name, version(name)) for name in PACKAGES],
                ["status"],
            ),
        ]


def notebooks():
    return sorted(
        p for p in ROOT.glob("book/**/*.ipynb") if ".ipynb_checkpoints" not in p.parts
    )


def counts(pages):
    """Rows (what, how many) for the status page."""
    parts = ledger.load().values()
    cells = [cell for page in pages for cell in page.cells if cell.cell_type == "code"]
    trees = [
        ast.parse(path.read_text("utf8")) for path in ROOT.glob("tests/**/test_*.py")
    ]
    tests = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    property_based = [
        test
        for test in tests
        if any("given" in ast.unparse(d) for d in test.decorator_list)
    ]

    def share(kind):
        found = [entry for part in parts for entry in part[kind]]
        return f"{sum(map(ledger.done, found))} of {len(found)}"

    return [
        ("lecture items stated and tested", share("items")),
        ("errata executed and tested", share("errata")),
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
    return tag in cell.metadata.get("tags", [])


def exact_anchors(app, exception):
    """Give mixed-case ledger ids back the case that docutils takes away.

    On the way, drop the id that sphinx-proof gives to every directive alike.
    """
    exact = map(ledger.anchor, (entry["id"] for entry in ledger.entries(ledger.load())))
    lost = {name.lower(): name for name in exact if name != name.lower()}
    if exception or app.builder.format != "html" or not lost:
        return
    pattern = re.compile(
        rf'(\bid="|\bhref="[^"#]*#)({"|".join(map(re.escape, lost))})(?=")'
    )
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text("utf8")
        fixed = pattern.sub(lambda match: match[1] + lost[match[2]], text)
        fixed = fixed.replace(' id="proof-content"', "")
        if fixed != text:
            page.write_text(fixed, "utf8")


def proofs_have_addresses(app, doctree, docname):
    """sphinx-proof writes no ids for a proof: put them on a target in front of it."""
    for proof in doctree.findall(proof_node):
        if proof["ids"]:
            place = proof.parent.index(proof)
            proof.parent.insert(place, nodes.target("", "", ids=proof["ids"]))
            proof["ids"] = []


def plain_docstrings(app, what, name, obj, options, lines):
    """Docstrings are plain text with `code` and | tables |: say so to Sphinx."""
    result, example, table = [], False, False
    for line in lines:
        text = line.strip()
        if re.fullmatch(r"\|[|: -]+\|", text):
            continue  # the rule below a table's head
        example = bool(text) and (example or text.startswith(">>>"))
        row = text.startswith("|") and text.endswith("|")
        if row and not table:
            result += ["", ".. list-table::", "   :header-rows: 1", ""]
        if row:
            cells = [literal(cell.strip()) for cell in text.strip("|").split(" | ")]
            result += [
                f"   {'  ' if n else '* '}- {cell}" for n, cell in enumerate(cells)
            ]
        else:
            result.append(line if example else literal(line))
        table = row
    lines[:] = result


def literal(line):
    """Keep `code` as code and take the meaning from all other markup."""
    parts = re.split(r"`+([^`]+)`+", line)
    parts[::2] = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def launch_buttons(app, config):
    """Launch and source buttons, once _config.yml names a repository."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]
    if settings["url"]:
        config.html_theme_options |= {
            "repository_url": settings["url"],
            "repository_branch": settings["branch"],
            "use_repository_button": True,
            "launch_buttons": {
                "colab_url": "https://colab.research.google.com",
                "binderhub_url": "https://mybinder.org",
            },
        }


def always_fresh(app, env, added, changed, removed):
    """These two read files that Sphinx does not watch."""
    return ["book/concordance", "book/status"]


def setup(app):
    app.add_directive("concordance", Concordance)
    app.add_directive("status", Status)
    app.connect("config-inited", launch_buttons)
    app.connect("autodoc-process-docstring", plain_docstrings)
    app.connect("env-get-outdated", always_fresh)
    app.connect("doctree-resolved", proofs_have_addresses)
    app.connect("build-finished", exact_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
