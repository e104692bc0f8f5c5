"""Make figures interactive with ``{moving-figure} name``.

The directive contains a static picture, which print, PDF and Jupyter show; on the page a script replaces it.
The script is bundled from ``press/press/js/figures``, and numbers that it does not compute itself come from
``press.figure_numbers``.
"""

import hashlib
import json
import posixpath
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import HOME, ROOT
from press.js import build

SOURCE = ROOT / "book" / "_static" / "figures"
GREEK = [f"_static/fonts/{name}-greek.woff2" for name in ("text", "sans", "code")]


# ---------------------------------------------------------------- the script


@cache
def script():
    """Return the script of all figures; empty without esbuild, when only static pictures are shown."""
    try:
        build.packages()
    except build.Unavailable:  # press.live reports why
        return ""
    return build.bundle("figures/main.js")


def write_script(app, pages):
    """Write figures.js."""
    if script():
        Path(app.outdir, "_static", "figures.js").write_text(script(), "utf8")


# ---------------------------------------------------------------- the numbers


NAMES = (  # in the order of the book, which determines their numbers
    "duel",
    "adversary",
    "fan",
    "waterfall",
    "perceptron",
    "projection",
    "delay",
    "hedge",
    "lazy-eager",
    "step",
    "triangle",
)


@cache
def makers():
    """Return a hash of the code that computes the numbers."""
    own = [file for kind in ("*.py", "*.json") for file in sorted((ROOT / "ocolib").rglob(kind))]
    files = [HOME / "figure_numbers.py", *own]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


@cache
def numbers(name):
    """Return the JSON of a figure, or an empty string; recomputed only when that code has changed."""
    kept = ROOT / "_build" / "figures" / f"{name}-{makers()}.json"
    if not kept.exists():
        from press.figure_numbers import NUMBERS  # imported late: loading the solver takes seconds

        found = NUMBERS[name]()
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.glob(f"{name}-????????????.json"):
            old.unlink()
        kept.write_text(text, "utf8")
    return kept.read_text("utf8")


# ---------------------------------------------------------------- the page


class moving_figure(nodes.General, nodes.Element):
    """A picture that the script may replace by an interactive figure."""


class MovingFigure(SphinxDirective):
    """``{moving-figure} name``; the content is the static picture, with alt text."""

    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        if name not in NAMES:
            raise self.error(f"moving-figure must be one of {', '.join(NAMES)}, got {name}")
        node = moving_figure(name=name)
        self.state.nested_parse(self.content, self.content_offset, node)
        if not any(image.get("alt", "").strip() for image in node.findall(nodes.image)):
            raise self.error(f"moving-figure {name} needs a picture with alt text")
        return [node]


def opening(name):
    """Return the start tag with the numbers; the static picture follows it."""
    data = numbers(name)
    quoted = escape(data, quote=False).replace("'", "&#39;")
    number = NAMES.index(name)  # the game of the front page comes first and has none
    extra = f' data-number="{number}"' if number else ""
    extra += f" data-numbers='{quoted}'" if data else ""
    return (
        f'<moving-figure role="figure" id="figure-{name}" data-figure="{name}"{extra}>'
        '<div class="mf-static">\n'
    )


def visit_html(translator, node):
    """Write the start tag, and before the first figure of the page the script."""
    first = next(translator.document.findall(moving_figure))
    if node is first and script():  # before the figure, so that it is ready before the first layout
        folder = posixpath.dirname(translator.builder.current_docname)
        address = posixpath.relpath(script_address(), folder or ".")
        translator.body.append(f'<script src="{address}"></script>\n')
    translator.body.append(opening(node["name"]))


def depart_html(translator, node):
    translator.body.append("</div></moving-figure>\n")


def pass_over(translator, node):
    """Write only the static picture, in other output formats than HTML."""


def script_address():
    """Return the address of figures.js with its version."""
    version = hashlib.sha256(script().encode()).hexdigest()[:8]
    return f"_static/figures.js?v={version}"


def add_style(app, pagename, templatename, context, doctree):
    """Add the style sheet to pages with figures; all other pages prefetch the script for the next page."""
    context["later"] = [*context.get("later", []), *([script_address()] if script() else []), *GREEK]
    if doctree is not None and any(doctree.findall(moving_figure)):
        app.add_css_file("figures/figures.css")


def setup(app):
    app.add_directive("moving-figure", MovingFigure)
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_over, pass_over))
    app.add_node(moving_figure, html=(visit_html, depart_html), **others)
    app.connect("html-page-context", add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
