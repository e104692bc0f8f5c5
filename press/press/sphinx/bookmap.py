"""Draw ``{bookmap}``: the pages in reading order, with arcs to the earlier pages that each refers to."""

from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press.config import parts
from press.sphinx import reader

# In pixels: row height (a finger needs 24), height of a caption, left end of the arcs, width of the map.
ROW, HEAD, LEFT, WIDTH = 28, 34, 302, 384


class bookmap(nodes.General, nodes.Element):
    """A placeholder for the map until all links are known."""


class Bookmap(SphinxDirective):
    """``{bookmap}``: insert the map."""

    def run(self):
        return [bookmap()]


def places():
    """Return [(y, caption)] of the parts, {page: y} of the pages, and the height of the map.

    Errata and back matter are left out.
    """
    heads, pages, y, before = [], {}, 0, None
    for page, part in parts().items():
        if page.endswith(reader.LOOKED_UP) or part == "Back matter":
            continue
        if part != before:
            y += HEAD
            heads.append((y, part))
            before = part
        y += ROW
        pages[page] = y
    return heads, pages, y + ROW


ARC = (
    '<path data-ends="{ends}" d="M{x} {y} C{bend} {y} {bend} {z} {x} {z}" style="stroke-width:{width:.1f}" />'
)
PART = '<text class="part" x="0" y="{y}">{part}</text>'
PAGE = """<a id="{name}" href="{uri}"><rect x="0" y="{top}" width="{width}" height="{height}" />
<text x="8" y="{y}">{title}</text></a>"""
MAP = """<svg class="map" viewBox="0 0 {width} {height}" role="group"
 aria-label="Map of the book: the chapters' pages, with an arc to each earlier page they use">{inner}</svg>"""


def arc(page, earlier, times, pages, height):
    """Return an arc from a page to an earlier one that it uses: wider if far, thicker for more links."""
    y, z = pages[page] - 4, pages[earlier] - 4
    bend = LEFT + 14 + 4 / 3 * (WIDTH - LEFT - 20) * min(1, 1.4 * (y - z) / height)
    ends, width = f"{name(page)} {name(earlier)}", min(3, 0.6 + 0.4 * times)
    return ARC.format(ends=ends, x=LEFT, y=y, z=z, bend=round(bend), width=width)


def draw(titles, uri, links):
    """Return the map as SVG; names are drawn above the arcs so that they can be clicked."""
    heads, pages, height = places()
    inner = [
        arc(page, earlier, times, pages, height)
        for page in pages
        for earlier, times in links[page].items()
        if earlier in pages
    ]
    inner += [PART.format(y=y, part=escape(part)) for y, part in heads]
    for page, y in pages.items():
        size = {"top": y - 18, "y": y, "width": LEFT - 6, "height": ROW}
        inner.append(PAGE.format(name=name(page), uri=uri(page), title=escape(short(titles[page])), **size))
    return MAP.format(width=WIDTH, height=height, inner="".join(inner))


def name(page):
    """Return the id of a page on the map."""
    return "map-" + page.removeprefix("book/").replace("/", "-")


def short(title, length=48):
    """Shorten a title at a word."""
    return title if len(title) <= length else title[: length - 1].rsplit(" ", 1)[0] + " …"


def put(app, doctree, docname):
    """Replace the placeholder by the map."""
    for node in list(doctree.findall(bookmap)):
        titles = {page: title.astext() for page, title in app.env.titles.items()}
        uri = (
            (lambda page: app.builder.get_relative_uri(docname, page))
            if app.builder.format == "html"
            else str
        )
        node.replace_self(nodes.raw("", draw(titles, uri, reader.uses(app.env)), format="html"))


def always_fresh(app, env, added, changed, removed):
    """Rebuild the map whenever any page changes."""
    return ["book/map"] if added or changed or removed else []


def setup(app):
    app.add_node(bookmap)
    app.add_directive("bookmap", Bookmap)
    app.connect("doctree-resolved", put)
    app.connect("env-get-outdated", always_fresh)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
