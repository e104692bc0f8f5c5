"""What a screen reader and a slow line need and the writers do not give: roles, headers, sizes of images."""

import re
import struct
from pathlib import Path

from docutils import nodes

import darken

IMAGE = re.compile(r'<img (?P<inner>[^>]*?src="(?P<path>[^"]*_images/(?P<name>[^"/]+))"[^>]*?) ?/?>')


def visit_citation(self, node):
    """One entry of a list; docutils gives it a role that browsers have given up."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<div role="list" class="citation-list">\n')
    self.body.append(self.starttag(node, "div", CLASS="citation", role="listitem"))


def depart_citation(self, node):
    self.body.append("</div>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        self.body.append("</div>\n")


def name_columns(app, doctree, docname):
    """A column without a heading holds the names of the rows: say so to whoever cannot see it."""
    for head in doctree.findall(nodes.thead):
        for entry in head.findall(nodes.entry):
            if not entry.astext().strip():
                entry.children = []
                entry += nodes.paragraph("", "", nodes.inline("", "name", classes=["visually-hidden"]))


def size(file):
    """Width and height of an image in CSS pixels, an SVG taken to be in points; None if it does not say."""
    if file.suffix == ".png":
        return struct.unpack(">II", file.read_bytes()[16:24])
    found = re.search(r'<svg[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"', file.read_text("utf8")[:4000])
    return tuple(round(4 / 3 * float(length)) for length in found.groups()) if found else None


def images(app, pagename, templatename, context, doctree):
    """Images keep their place before they come, and come when they are near. An SVG has a dark twin."""
    if app.builder.format != "html" or "_images/" not in context.get("body", ""):
        return
    files = {name: Path(app.srcdir, source) for source, (_, name) in app.env.images.items()}

    def better(match):
        file = files.get(match["name"])
        measures = size(file) if file and file.suffix in (".png", ".svg") else None
        place = f' width="{measures[0]}" height="{measures[1]}"' if measures else ""
        tag = f'<img {match["inner"]}{place} loading="lazy" decoding="async" />'
        if not file or file.suffix != ".svg":
            return tag
        twin = tag.replace(match["path"], match["path"].removesuffix(".svg") + "-dark.svg")
        return classed(tag, "face-light") + classed(twin, "face-dark")

    context["body"] = IMAGE.sub(better, context["body"])


def classed(tag, name):
    if 'class="' in tag:
        return tag.replace('class="', f'class="{name} ', 1)
    return tag.replace("<img ", f'<img class="{name}" ', 1)


def dark_images(app, exception):
    """Write the dark twin of every figure."""
    if exception or app.builder.format != "html":
        return
    for file in Path(app.outdir, "_images").glob("*.svg"):
        twin = file.with_name(f"{file.stem}-dark.svg")
        if file.stem.endswith("-dark") or (twin.exists() and twin.stat().st_mtime > file.stat().st_mtime):
            continue
        twin.write_text(darken.darken(file.read_text("utf8")), "utf8")


def setup(app):
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.connect("doctree-resolved", name_columns)
    app.connect("html-page-context", images, priority=910)
    app.connect("build-finished", dark_images)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
