"""What the book makes from the project itself: concordance, status, anchors."""

import ast
import json
import re
from importlib.metadata import version

import nbformat
from docutils import nodes
from sphinx.errors import NoUri
from sphinx.util.docutils import SphinxDirective

import elsewhere
import ledger
import written

ROOT = ledger.ROOT
PACKAGES = ["ocolib", "numpy", "scipy", "cvxpy", "clarabel", "matplotlib"]
PACKAGES += ["jupyter-book", "sphinx", "nbval", "hypothesis"]
MUTANTS = ROOT / "book" / "mutants.json"
ASSERT = re.compile(r"^\s*assert\b", re.MULTILINE)


def table(header, rows, classes):
    """A docutils table; a cell is a string or a list of inline nodes."""
    group = nodes.tgroup("", cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]

    def row(cells):
        line = nodes.row()
        for cell in cells:
            inline = [nodes.Text(cell)] if isinstance(cell, str) else cell
            block = isinstance(inline[0], nodes.raw)  # a fold may not stand inside a paragraph
            line += nodes.entry("", *inline) if block else nodes.entry("", nodes.paragraph("", "", *inline))
        return line

    group += nodes.thead("", row(header))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group, classes=classes)


def link(docname, anchor="", text=""):
    """A link that `resolve_links` fills in when the place of every page is known; no text means its title."""
    return nodes.reference("", text, internal=True, place=(docname, anchor), refuri="")


def resolve_links(app, doctree, docname):
    for node in list(doctree.findall(nodes.reference)):
        if "place" not in node:
            continue
        page, anchor = node["place"]
        if not node.astext():
            node += nodes.Text(app.env.titles[page].astext())
        try:
            uri = app.builder.get_relative_uri(docname, page)
        except NoUri:  # a builder that does not write this page
            node.replace_self(nodes.Text(node.astext()))
            continue
        node["refuri"] = f"{uri}#{anchor}" if anchor else uri
        del node["place"]


FILTER = """<div class="filter pst-js-only"><label for="filter">Show only rows with these words</label>
<input id="filter" type="search" autocomplete="off"
 placeholder="theorem 2, hinge, delay …" />
<output for="filter" role="status"></output></div>"""


class Concordance(SphinxDirective):
    """``{concordance} ox13``: the items of one lecture, where they are stated, what checks them."""

    required_arguments = 1

    def run(self):
        prefix = self.arguments[0]
        part = ledger.load()[prefix]
        self.env.note_dependency(str(ledger.FOLDER / f"{prefix}.yml"))
        self.env.note_dependency(str(elsewhere.FILE))
        result = []
        if not self.env.temp_data.get("filter"):
            self.env.temp_data["filter"] = True
            result.append(nodes.raw("", FILTER, format="html"))
        for kind, header in (("items", "In the lecture"), ("errata", "Where it errs, or is loose")):
            found = part[kind]
            if not found:
                continue
            columns, rows = [header, "In short", "Checked by"], map(self.row, found)
            if kind == "items":
                columns.append("Formalised elsewhere")
                rows = [
                    (*row, elsewhere.cell(entry["id"]) or "") for row, entry in zip(rows, found, strict=True)
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
        """How many there are; that some are not done yet is said only when it is so."""
        name = {"items": "item", "errata": "erratum"}[kind] if len(found) == 1 else kind
        ready = sum(map(ledger.done, found))
        return f"{len(found)} {name}" + (f", {ready} done so far" if ready < len(found) else "")

    def row(self, entry):
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
            [tests_cell(entry["tests"])] if entry["tests"] else [nodes.Text("nothing to run")],
        )


def tests_cell(tests):
    """How many tests, and their names for whoever opens the fold."""
    names = "".join(f"<code>{test.removeprefix('tests/')}</code>" for test in tests)
    count = f"{len(tests)} test" + "s" * (len(tests) > 1)
    fold = f'<details class="concordance-tests"><summary>{count}</summary>{names}</details>'
    return nodes.raw("", fold, format="html")


def is_body_row(node):
    return isinstance(node, nodes.row) and isinstance(node.parent, nodes.tbody)


class Status(SphinxDirective):
    """``{status}``: versions, execution times, and how much was checked."""

    def run(self):
        file = ROOT / "_build" / "times.json"
        times = json.loads(file.read_text()) if file.exists() else {}
        pages = {path.relative_to(ROOT).as_posix(): nbformat.read(path, as_version=4) for path in notebooks()}
        seconds = [
            (
                [link(name.removesuffix(".ipynb"))],
                f"{times[name]:.1f} s" if name in times else "not measured",
            )
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
    return sorted(p for p in ROOT.glob("book/**/*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def counts(pages):
    """Rows (what, how many) for the status page."""
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
        *mutants(),
    ]


def mutants():
    """What `make mutants` has found, and how many modules it has not seen; nothing before it was run."""
    if not MUTANTS.exists():
        return []
    found = json.loads(MUTANTS.read_text("utf8"))
    said = "killed {killed} of {mutants}, {explained} explained".format(**found["total"])
    modules = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("oco*/**/*.py")}
    unseen = len(modules - set(found["modules"]))
    return [("mutants of ocolib and ocolab", said + f"; {unseen} modules not yet tried" * (unseen > 0))]


def tagged(cell, tag):
    return tag in cell.metadata.get("tags", [])


def exact_anchors(app, exception):
    """Give mixed-case ledger ids back the case that docutils takes away."""
    exact = map(ledger.anchor, (entry["id"] for entry in ledger.entries(ledger.load())))
    lost = {name.lower(): name for name in exact if name != name.lower()}
    if exception or app.builder.format != "html" or not lost:
        return
    pattern = re.compile(rf'(\bid="|\bhref="[^"#]*#)({"|".join(map(re.escape, lost))})(?=")')
    for page in written.pages(app):
        text = page.read_text("utf8")
        fixed = pattern.sub(lambda match: match[1] + lost[match[2]], text)
        if fixed != text:
            page.write_text(fixed, "utf8")


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
            result += [f"   {'  ' if n else '* '}- {cell}" for n, cell in enumerate(cells)]
        else:
            result.append(line if example else literal(line))
        table = row
    lines[:] = result


def literal(line):
    r"""Keep `code` as code and take their meaning from the signs \ * | _ elsewhere."""
    parts = re.split(r"`+([^`]+)`+", line)
    parts[::2] = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def when_others_change(app, env, added, changed, removed):
    """Two pages read files that Sphinx does not watch: ledger, tests, package, notebooks, times.

    Styles and scripts are among them because Sphinx copies those only when it writes some page.
    """
    files = [*ledger.FOLDER.glob("*.yml"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("oco*/**/*.py")]
    files += [*notebooks(), ROOT / "_build" / "times.json", ROOT / "requirements.txt", MUTANTS]
    files += [path for path in ROOT.glob("book/_static/**/*") if path.is_file()]
    seen = [(str(file), file.stat().st_mtime) for file in files if file.exists()]
    before, env.companion_seen = getattr(env, "companion_seen", None), seen
    return ["book/concordance", "book/status"] if seen != before else []


def setup(app):
    app.add_directive("concordance", Concordance)
    app.add_directive("status", Status)
    app.connect("doctree-resolved", resolve_links)
    app.connect("autodoc-process-docstring", plain_docstrings)
    app.connect("env-get-outdated", when_others_change)
    app.connect("build-finished", exact_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
