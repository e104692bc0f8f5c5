"""Make the editions of the book: complete, without worked solutions, or with all solutions at the end.

`press.edition` sets `edition` and builds each into a folder of its own. A solution is taken out before its
page is read, so nothing that is made from the page knows of it (search, scripts); downloads leave it out too.
"""

import json

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import ledger
from press.sphinx import tables

LINK = "The worked solution stands {{ref}}`in the appendix <solution-{name}>`."


def is_solution(cell):
    return "solution" in cell.get("metadata", {}).get("tags", [])


def take_out(app, docname, source):
    """The notebook without its solutions; in the edition with an appendix a link stands in their place."""
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
    text = LINK.format(name=cell["metadata"]["exercise"])
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": text}


class Solutions(SphinxDirective):
    """``{solutions}``: every worked solution of the book, by page."""

    def run(self):
        result = []
        for docname in self.env.config.external_site_map:
            file = ledger.ROOT / f"{docname}.ipynb"
            if file.exists():
                self.env.note_dependency(str(file))
                result += self.page(docname, nbformat.read(file, as_version=4))
        return result

    def page(self, docname, notebook):
        """A section for a page that has solutions: links to its exercises, and the code."""
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
