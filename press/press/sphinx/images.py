"""Add roles, table headers and image sizes for accessibility, and dark and narrow versions of figures.

Images are changed when Sphinx renders a page (`images`); the dark files are written by a pass of
`press.html`.
"""

import base64
import io
import json
import re
import struct
from pathlib import Path

import numpy as np
from docutils import nodes
from PIL import Image, ImageColor

from ocolib.plots import NARROW_SVG

# {colour of ocolib.plots or of matplotlib's defaults: its dark counterpart}
PALETTE = {
    "#c44e00": "#ff9455",
    "#0067a5": "#6cb6f2",
    "#8a4fbf": "#c79bf0",
    "#00805e": "#4fc9a2",
    "#b8356b": "#f285b0",
    "#222222": "#dde1e8",
    "#777777": "#9aa3b0",
    "#a07800": "#dcb544",
    "#d9e6f2": "#27384a",
    "#444444": "#b9c1cc",
    "#555555": "#b9c1cc",
    "#666666": "#a3acb9",
    "#888888": "#9aa3b0",
    "#999999": "#8b94a1",
    "#aaaaaa": "#77808d",
    "#bbbbbb": "#68717e",
    "#cccccc": "#545c68",
    "#dddddd": "#434b57",
    "#e5e5e5": "#323943",
    "#eeeeee": "#2a3039",
    "#000000": "#dde1e8",
    "#111111": "#dde1e8",
    "#262626": "#dde1e8",
    "#ffffff": "#15181d",
}
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
PAPER = re.compile(r"(fill: ?)#ffffff\b")
RASTER = re.compile(r"(data:image/png;base64,)([A-Za-z0-9+/=\s]+)")
SHADES = "#ffffff", "#0067a5"  # the ends of a colour scale, the first being the background
PLACES = re.compile(r' (?:d|x|y|points)="[^"]*"|translate\([^)]*\)')
PHONE = "(max-width: 500px)"  # a phone in portrait orientation
IMAGE = re.compile(r'<img (?P<inner>[^>]*?src="(?P<path>[^"]*_images/(?P<name>[^"/]+))"[^>]*?) ?/?>')


def visit_citation(self, node):
    """Open an entry of a bibliography as a list item; docutils would use an obsolete role."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<div role="list" class="citation-list">\n')
    self.body.append(self.starttag(node, "div", CLASS="citation", role="listitem"))


def depart_citation(self, node):
    self.body.append("</div>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        self.body.append("</div>\n")


def name_columns(app, doctree, docname):
    """Give a column without a heading, which holds the names of rows, a hidden one for screen readers."""
    for head in doctree.findall(nodes.thead):
        for entry in head.findall(nodes.entry):
            if not entry.astext().strip():
                entry.children = []
                entry += nodes.paragraph("", "", nodes.inline("", "name", classes=["visually-hidden"]))


def size(file):
    """Return (width, height) of an image in CSS pixels; None if an SVG has no view box (in points)."""
    if file.suffix == ".png":
        return struct.unpack(">II", file.read_bytes()[16:24])
    found = re.search(r'<svg[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"', file.read_text("utf8")[:4000])
    return tuple(round(4 / 3 * float(length)) for length in found.groups()) if found else None


def images(app, pagename, templatename, context, doctree):
    """Give images their size, lazy loading, a dark version, and a narrow version for phones.

    Only SVG files have a dark version, and only figures of notebooks a narrow one.
    """
    if app.builder.format != "html" or "_images/" not in context.get("body", ""):
        return
    files = {name: Path(app.srcdir, source) for source, (_, name) in app.env.images.items()}
    slim = narrow(Path(app.env.doc2path(pagename)))

    def better(match):
        file = files.get(match["name"])
        measures = size(file) if file and file.suffix in (".png", ".svg") else None
        place = f' width="{measures[0]}" height="{measures[1]}"' if measures else ""
        tag = f'<img {match["inner"]}{place} loading="lazy" decoding="async" />'
        if not file or file.suffix != ".svg":
            return tag
        path = match["path"].removesuffix(".svg")
        twin = tag.replace(match["path"], f"{path}-dark.svg")
        faces = [(classed(tag, "face-light"), ""), (classed(twin, "face-dark"), "-dark")]
        other = slim.get(file.read_text("utf8").strip())
        if other is None:
            return "".join(face for face, _ in faces)
        target = Path(app.outdir, "_images", f"{file.stem}-narrow.svg")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(other, "utf8")
        wide, high = size(target)
        source = f'<source media="{PHONE}" srcset="{path}-narrow{{}}.svg" width="{wide}" height="{high}" />'
        return "".join(f"<picture>{source.format(shade)}{face}</picture>" for face, shade in faces)

    context["body"] = IMAGE.sub(better, context["body"])


def narrow(page):
    """Return {SVG of a figure in a notebook: the same figure for a phone}."""
    if page.suffix != ".ipynb":
        return {}
    cells = json.loads(page.read_text("utf8"))["cells"]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    found = [data for data in shown if NARROW_SVG in data]
    return {"".join(data["image/svg+xml"]).strip(): "".join(data[NARROW_SVG]) for data in found}


def classed(tag, name):
    """Return the image tag with a class added."""
    if 'class="' in tag:
        return tag.replace('class="', f'class="{name} ', 1)
    return tag.replace("<img ", f'<img class="{name}" ', 1)


def darken(svg):
    """Return the SVG in dark colours: palette mapped, background transparent, default ink light.

    >>> darken('<path style="fill: #ffffff; stroke: #0067a5"/><path style="fill: #ffffff"/>')
    '<path style="fill: none; stroke: #6cb6f2"/><path style="fill: #15181d"/>'
    """
    svg = RASTER.sub(lambda match: match[1] + darkened(match[2]), svg)
    svg = PAPER.sub(r"\1none", svg, count=1)
    svg = COLOUR.sub(lambda match: PALETTE.get(match[0].lower(), match[0]), svg)
    # matplotlib does not write black: glyphs and tick marks inherit it
    return re.sub(r"<svg ", '<svg fill="#dde1e8" ', svg, count=1)


def darkened(raster):
    """Return a shaded raster image in dark colours.

    An image with colours that are not between the two `SHADES` stays as it is.
    """
    with Image.open(io.BytesIO(base64.b64decode(raster))) as picture:
        pixels = np.asarray(picture.convert("RGBA"), float)
    old, new = (
        np.array([ImageColor.getrgb(shade) for shade in ends], float)
        for ends in (SHADES, [PALETTE[shade] for shade in SHADES])
    )
    way = old[1] - old[0]
    share = (pixels[..., :3] - old[0]) @ way / (way @ way)
    if np.abs(old[0] + share[..., None] * way - pixels[..., :3])[pixels[..., 3] > 0].max(initial=0) > 2:
        return raster
    pixels[..., :3] = new[0] + share.clip(0, 1)[..., None] * (new[1] - new[0])
    out = io.BytesIO()
    Image.fromarray(pixels.round().astype(np.uint8)).save(out, "png")
    return base64.b64encode(out.getvalue()).decode()


def lighter(svg):
    r"""Return the SVG in fewer bytes: coordinates rounded, no metadata, comments and blanks.

    >>> lighter('<svg>\n <!-- t --> <path d="M 1.23456 7.5"/> <g style="scale(0.015625)"/>\n</svg>')
    '<svg><path d="M 1.23 7.5"/><g style="scale(0.015625)"/></svg>'
    """
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = PLACES.sub(lambda match: re.sub(r"-?\d+\.\d{3,}", rounded, match[0]), svg)
    return re.sub(r">\s+<", "><", re.sub(r"\s*\n\s*", "\n", svg))


def rounded(match):
    """Return a number with at most two decimals."""
    short = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def dark_images(app, pages):
    """Compress every figure and write its dark version."""
    for file in Path(app.outdir, "_images").glob("*.svg"):
        twin = file.with_name(f"{file.stem}-dark.svg")
        if file.stem.endswith("-dark") or (twin.exists() and twin.stat().st_mtime > file.stat().st_mtime):
            continue
        svg = lighter(file.read_text("utf8"))
        file.write_text(svg, "utf8")
        twin.write_text(darken(svg), "utf8")


def setup(app):
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.connect("doctree-resolved", name_columns)
    app.connect("html-page-context", images, priority=910)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
