"""Make the editions of the book: complete, without worked solutions, or with all solutions at the end.

`press.edition` sets the option `edition` and builds each edition into its own folder. Solutions are removed
before Sphinx parses a page, so that they cannot reach the search index or the scripts; downloads omit them
too.
"""

import json

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import ROOT
from press.sphinx import tables

LINK = "The worked solution is {{ref}}`in the appendix <solution-{name}>`."


def is_solution(cell):
    """Return whether a cell is a worked solution."""
    return "solution" in cell.get("metadata", {}).get("tags", [])


def take_out(app, docname, source):
    """Remove the solutions from a notebook; in the edition with an appendix, replace them by links."""
    if not app.config.edition or app.env.doc2path(docname).endswith(".md"):
        return
    notebook = json.loads(source[0])
    linked = app.config.edition == "appendix"
    notebook["cells"] = [
        link(cell) if is_solution(cell) else cell
        for cell in notebook["cells"]
        if linked or not is_solution(cell)
    ]
    source[0] = json.dumps(notebook)


def link(cell):
    """Return a cell with a link to the solution in the appendix."""
    text = LINK.format(name=cell["metadata"]["exercise"])
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": text}


class Solutions(SphinxDirective):
    """``{solutions}``: show every worked solution of the book, by page."""

    def run(self):
        result = []
        for docname in self.env.config.external_site_map:
            file = ROOT / f"{docname}.ipynb"
            if file.exists():
                self.env.note_dependency(str(file))
                result += self.page(docname, nbformat.read(file, as_version=4))
        return result

    def page(self, docname, notebook):
        """Return a section with the solutions of a page, linked to its exercises; empty if it has none."""
        found = [cell for cell in notebook.cells if is_solution(cell)]
        if not found:
            return []
        first = next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        words, _ = self.state.inline_text(first.partition("\n")[0].removeprefix("# "), self.lineno)
        name = f"solutions-of-{docname.removeprefix('book/').replace('/', '-')}"
        section = nodes.section("", nodes.title("", "", *words), ids=[name])
        for cell in found:
            section += self.solution(docname, cell)
        return [section]

    def solution(self, docname, cell):
        """Return one solution: a target, a link back to the exercise, and the code."""
        name, told = cell.metadata["exercise"], cell.metadata["mystnb"]["code_prompt_show"]
        label = f"solution-{name}"
        target = nodes.target("", "", ids=[label], names=[label])
        self.state.document.note_explicit_target(target)
        back = nodes.paragraph("", "", tables.link(docname, name, told))
        return [target, back, nodes.literal_block(cell.source, cell.source, language="python")]


def setup(app):
    app.add_config_value("edition", "", "env")
    app.add_directive("solutions", Solutions)
    app.connect("source-read", take_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
