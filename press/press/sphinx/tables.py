"""Make tables for directives, with links that are resolved when the location of every page is known."""

from docutils import nodes
from sphinx.errors import NoUri


def table(header, rows, classes):
    """Return a docutils table; a cell is a string or a list of inline nodes."""
    group = nodes.tgroup("", cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]

    def row(cells):
        line = nodes.row()
        for cell in cells:
            inline = [nodes.Text(cell)] if isinstance(cell, str) else cell
            block = isinstance(inline[0], nodes.raw)  # a fold is not allowed inside a paragraph
            line += nodes.entry("", *inline) if block else nodes.entry("", nodes.paragraph("", "", *inline))
        return line

    group += nodes.thead("", row(header))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group, classes=classes)


def link(docname, anchor="", text=""):
    """Return a link that `resolve_links` fills in later; without text it shows the title of the page."""
    return nodes.reference("", text, internal=True, place=(docname, anchor), refuri="")


def resolve_links(app, doctree, docname):
    """Fill in the addresses and titles of the links made by `link`."""
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


def setup(app):
    app.connect("doctree-resolved", resolve_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
