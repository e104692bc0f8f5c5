"""Moving figures: ``{moving-figure} name`` makes a picture one that you can touch.

The picture is what print, PDF and Jupyter show; the page's script takes its place. The
script is made here from the modules in ``book/_static/figures``; the numbers that it
does not compute come from ``figure_numbers``.
"""

import hashlib
import json
import posixpath
import re
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "book" / "_static" / "figures"
GREEK = [f"_static/fonts/{name}-greek.woff2" for name in ("text", "sans", "code")]
IMPORT = re.compile(r'^import (?:(.+) from )?"\./([\w-]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (const|class) (\w+)", re.MULTILINE)


# ---------------------------------------------------------------- the script


@cache
def joined():
    """All modules as one classic script, in the order in which main.js names them.

    Every figure gets a block of its own; what the first modules export, all can see.
    """
    main, parts = (SOURCE / "main.js").read_text("utf8"), []
    for names, module in IMPORT.findall(main):
        text = (SOURCE / f"{module}.js").read_text("utf8")
        body = EXPORT.sub(r"\1 \2", IMPORT.sub("", text))
        parts.append(body if names else f"{{\n{body}}}\n")
        if names.startswith("* as "):
            all_names = ", ".join(name for _, name in EXPORT.findall(text))
            parts.append(f"const {names[5:]} = {{ {all_names} }};\n")
    lines = "".join([*parts, IMPORT.sub("", main)]).splitlines()
    code = [line.strip() for line in lines if not line.lstrip().startswith("//")]
    return '(() => {\n"use strict";\n' + "\n".join(filter(None, code)) + "\n})();\n"


def write_script(app, exception):
    if not exception and app.builder.format == "html":
        Path(app.outdir, "_static", "figures.js").write_text(joined(), "utf8")


# ---------------------------------------------------------------- the numbers


NAMES = ("projection", "fan", "adversary", "step", "lazy-eager", "hedge", "perceptron", "delay", "waterfall")


@cache
def makers():
    """A stamp of our own code that the numbers come from."""
    own = [file for kind in ("*.py", "*.json") for file in sorted((ROOT / "ocolib").rglob(kind))]
    files = [Path(__file__).with_name("figure_numbers.py"), *own]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


@cache
def numbers(name):
    """The JSON of a figure, or nothing; computed again only when that code has changed."""
    kept = ROOT / "_build" / "figures" / f"{name}-{makers()}.json"
    if not kept.exists():
        from figure_numbers import NUMBERS  # which needs the solver: seconds

        found = NUMBERS[name]()
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.glob(f"{name}-????????????.json"):
            old.unlink()
        kept.write_text(text, "utf8")
    return kept.read_text("utf8")


# ---------------------------------------------------------------- the page


class moving_figure(nodes.General, nodes.Element):
    """A picture that a script may bring to life."""


class MovingFigure(SphinxDirective):
    """``{moving-figure} name``; its content is the picture, with alt text."""

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
    """The element with its numbers; the picture follows."""
    data = numbers(name)
    quoted = escape(data, quote=False).replace("'", "&#39;")
    extra = f" data-numbers='{quoted}'" if data else ""
    return (
        f'<moving-figure role="figure" id="figure-{name}" data-figure="{name}"{extra}>'
        '<div class="mf-static">\n'
    )


def visit_html(translator, node):
    first = next(translator.document.findall(moving_figure))
    if node is first:  # the script stands before it: the figure moves before it is laid out
        folder = posixpath.dirname(translator.builder.current_docname)
        script = posixpath.relpath(script_address(), folder or ".")
        translator.body.append(f'<script src="{script}"></script>\n')
    translator.body.append(opening(node["name"]))


def depart_html(translator, node):
    translator.body.append("</div></moving-figure>\n")


def pass_over(translator, node):
    """Elsewhere it is the picture and nothing more."""


def script_address():
    version = hashlib.sha256(joined().encode()).hexdigest()[:8]
    return f"_static/figures.js?v={version}"


def add_style(app, pagename, templatename, context, doctree):
    """The stylesheet where it is needed; the script comes to every page, at leisure, for the next one."""
    context["later"] = [script_address(), *GREEK]
    if doctree is not None and any(doctree.findall(moving_figure)):
        app.add_css_file("figures/figures.css")


def setup(app):
    app.add_directive("moving-figure", MovingFigure)
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_over, pass_over))
    app.add_node(moving_figure, html=(visit_html, depart_html), **others)
    app.connect("html-page-context", add_style)
    app.connect("build-finished", write_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
