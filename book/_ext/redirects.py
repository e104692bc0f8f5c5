"""A page or an item that moves leaves its address behind: see book/redirects.yml."""

from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.osutil import relative_uri

FILE = Path(__file__).resolve().parents[1] / "redirects.yml"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{target}">
<script src="{script}"></script>
<meta http-equiv="refresh" content="0; url={target}">
</head>
<body>
<main><h1>This page has moved</h1><p><a href="{target}">Here it is.</a></p></main>
</body>
</html>
"""


def load(file=FILE):
    """Pairs ((old page, anchor), (new page, anchor)); an anchor may be empty."""

    def address(text):
        page, _, anchor = text.partition("#")
        return "book/" + page, anchor

    table = yaml.safe_load(file.read_text("utf8"))
    return [(address(old), address(new)) for old, new in table.items()]


def faults(table, pages):
    """What is wrong with the table, in words, when the book has these pages."""
    for (old, anchor), (new, _) in table:
        if new not in pages:
            yield f"{old} moves to {new}, which is no page of the book"
        if anchor and old not in pages:
            yield f"{old}#{anchor}: the page is gone, so redirect the page itself"
        if not anchor and old in pages:
            yield f"{old} moves to {new}, but is still a page of the book"


def check(app, env):
    for fault in faults(load(), env.found_docs):
        raise ExtensionError(f"book/redirects.yml: {fault}")


def link(source, page, anchor):
    """The address of `page#anchor` as seen from the page `source`."""
    uri = relative_uri(source + ".html", page + ".html")
    return uri + (f"#{anchor}" if anchor else "")


def old_page(old, new, anchor):
    """The file that stands at the old address of a page."""
    target = escape(link(old, new, anchor))
    script = relative_uri(old + ".html", "_static/redirect.js")
    return PAGE.format(target=target, script=script)


def moved_items(app, doctree, docname):
    """The anchor of an item that left a page stands at the end and says where to."""
    for (old, anchor), (new, place) in load():
        if anchor and old == docname:
            title = app.env.titles[new].astext()
            there = nodes.reference("", title, internal=True, refuri=link(old, new, place))
            note = nodes.paragraph("", "Moved: ", there, ids=[anchor], classes=["moved"])
            doctree.append(note)


def pages_with_moved_items(app, env, added, changed, removed):
    """The table is not a file that Sphinx watches."""
    table = load()
    before, env.redirects_seen = getattr(env, "redirects_seen", []), table
    changed_items = set(table) ^ set(before)
    return [old for (old, anchor), _ in changed_items if anchor and old in env.found_docs]


def write_old_pages(app, exception):
    if exception or app.builder.format != "html":
        return
    for (old, anchor), (new, place) in load():
        if not anchor:
            file = Path(app.outdir, old + ".html")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(old_page(old, new, place), "utf8")


def setup(app):
    app.connect("env-get-outdated", pages_with_moved_items)
    app.connect("env-check-consistency", check)
    app.connect("doctree-resolved", moved_items)
    app.connect("build-finished", write_old_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
