"""Extend `press.live` for this book: its packages, live figures, and the list of all exercises.

`press.live` makes cells run in the reader's browser. This module configures the packages that cells import,
explains what a cell needs that the browser lacks, finds the figures that the browser can draw, and collects
the exercises for the directive `{exercises}` and the progress marks in the sidebar.
"""

import ast
import importlib.util
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import ROOT
from press.live import SVGPLOT, cells_of
from press.pages.depends import Names, dependencies, names_of
from press.sphinx import figures, images

HOOK = Path(__file__).with_name("live_hook.py")
JUPYTER = "run-in-jupyter"  # label of the section that explains how to run the book in Jupyter
NEEDS = {
    "oracle": "the solver",
    "cvxpy": "the solver",
    "cp": "the solver",
    "sklearn": "scikit-learn",
    "scipy": "SciPy",
    "plots": "matplotlib",
    "plt": "matplotlib",
}
DRAWN = {"plots", "plt"}  # partly available in the browser
WITHOUT = (
    "This copy of the book was built without Python for the browser: its pages have no "
    "Run buttons. Solve the exercises in Jupyter, as described below."
)


# ------------------------------------------------ what is sent to the browser


def configure(app):
    """Set the options of `press.live` before it assembles what the pages load."""
    app.config.live_packages = [ROOT / "ocolib", ROOT / "ocolab"]
    app.config.live_hook = HOOK
    app.config.live_store = "ocolib"
    app.config.live_serve = "make serve"
    app.config.live_style = dark_inks()
    if app.builder.format == "html" and figures.script():
        app.config.live_chains = figures.script_address().removeprefix("_static/")


def dark_inks():
    """Return CSS with the colours of live figures in dark mode, those of static figures (see figure.js)."""
    inks = "".join(f" --live-ink-{light[1:]}: {dark};" for light, dark in images.PALETTE.items())
    return f'@media not print {{ html[data-theme="dark"] .live-figure {{{inks} }} }}\n'


# ------------------------------------------------ what the cells of a page need


def reason(source):
    """Return in words what a cell needs that the browser lacks."""
    names = Names(source)
    used = names.used | set(names.imported) | set(names.imported.values())
    words = [NEEDS[name] for name in NEEDS if name in used]
    return " and ".join(dict.fromkeys(words)) or "more than NumPy"


@cache
def undrawn():
    """Return the methods of matplotlib's axes that the browser's axes lack."""
    spec = importlib.util.spec_from_file_location("live_svgplot", SVGPLOT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from matplotlib.axes import Axes

    ours = {*dir(module.Axes), "figure", "lines", "texts", "xaxis", "yaxis"}
    common = {*dir(np.ndarray), *dir(dict), *dir(str), "contains"}  # methods that other values have too
    return {name for name in dir(Axes) if not name.startswith("_")} - ours - common


def drawable(sources, lives):
    """Return the other cells whose figures the browser can draw, as {place: imports that they need}.

    Places count from 0; `lives` are those of the live cells. A figure can be drawn if it is made with
    `plots.figure` from values of live cells. A module that no live cell imports is imported for the figure
    alone.
    """
    needs, found, lines = dependencies(sources, set()), {}, {}
    tagged, lives = set(lives), set(lives)
    for place, source in enumerate(sources):
        names = names_of(source)
        if place in tagged:
            lines |= dict.fromkeys(names.imported, "")
        elif "plots.figure(" in source and not needs_more(source):
            wanted = {name for name in names.used if name in lines and lines[name] != ""}
            if None not in map(lines.get, wanted) and {n - 1 for n in needs[place]} <= lives:
                found[place] = "\n".join(sorted({lines[name] for name in wanted}))
                lives.add(place)
        if place not in tagged:
            lines |= {name: line for name, line in import_lines(source).items() if lines.get(name) != ""}
    return found


def needs_more(source):
    """Return whether a cell needs a module or a method of matplotlib's axes that the browser lacks."""
    names = names_of(source)
    asked = {*names.imported, *names.imported.values(), *names.used}
    if asked & (NEEDS.keys() - DRAWN | {"matplotlib", "open", "Path"}):  # files next to the page are not sent
        return True
    if {*names.imported.values()} - {"numpy", "ocolib", "ocolab", *sys.stdlib_module_names}:
        return True
    tree = ast.parse(source)
    return any(isinstance(node, ast.Attribute) and node.attr in undrawn() for node in ast.walk(tree))


def import_lines(source):
    """Return {name: a line that imports only this name, or None if the browser cannot import it}."""
    found = {}
    try:
        tree = ast.parse(source)
    except SyntaxError:  # an IPython magic
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                module = f"{getattr(node, 'module', None) or ''}.{alias.name}".strip(".").split(".")
                lacking = {*module, name} & (NEEDS.keys() - DRAWN | {"matplotlib"})
                alone = type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]})
                found[name] = None if lacking else ast.unparse(alone)
    return found


def mark_figures(app, doctree):
    """Tag the figures that the browser can draw as live, before cells are counted."""
    found = list(cells_of(doctree))
    lives = [place for place, (_, _, tags, _) in enumerate(found) if "live" in tags]
    for place, prelude in drawable([source for _, source, _, _ in found], lives).items():
        node, _, _, metadata = found[place]
        tags = [*metadata.get("tags", []), "live"]
        node["cell_metadata"] = {**metadata, "tags": tags, "live_prelude": prelude}
        node["classes"] = [*node["classes"], "tag_live"]


def add_to_page(app, docname, found, data):
    """Add to the page data why a cell is not live, and the imports of figures that became live."""
    data["jupyter"] = jupyter_address(app, docname)
    for (_, source, tags, metadata), cell in zip(found, data["cells"], strict=True):
        if "live" not in tags:
            cell["why"] = reason(source)
        elif "live_prelude" in metadata:
            cell |= {"figure": True, "prelude": metadata["live_prelude"]}


def jupyter_address(app, docname):
    """Return the link to the section on running the book in Jupyter."""
    target = app.env.domaindata["std"]["anonlabels"].get(JUPYTER, ("book/intro", "how-to-run-it"))
    return f"{app.builder.get_relative_uri(docname, target[0])}#{target[1]}"


# ------------------------------------------------ all exercises of the book


def collect(app, doctree):
    """Store the exercises of a page (boxes with a cell, and proofs) with level and minutes."""
    answered = {metadata.get("exercise") for _, _, tags, metadata in cells_of(doctree) if "exercise" in tags}
    found = []
    for box in doctree.findall(nodes.admonition):
        told = box.get("exercise", {"level": "standard", "minutes": 0, "kind": "code"})
        name = next((name for name in box["ids"] if name in answered or told["kind"] == "proof"), None)
        if name:
            found.append({"name": name, "title": title_of(box), **told})
    exercises_in(app.env)[app.env.docname] = found


def title_of(box):
    """Return the title of an exercise box."""
    title = box.next_node(nodes.title)
    return title.astext().removesuffix("#") if title else ""  # the text of its permalink


def exercises_in(env):
    """Return {page: exercises}, stored in Sphinx's environment."""
    if not hasattr(env, "live_exercises"):
        env.live_exercises = {}
    return env.live_exercises


def forget(app, env, docname):
    """Drop the exercises of a page that is read again."""
    exercises_in(env).pop(docname, None)


def merge(app, env, docnames, other):
    """Take over the exercises that a parallel reader found."""
    exercises_in(env).update(
        {name: exercises_in(other)[name] for name in docnames if name in exercises_in(other)}
    )


class exercise_list(nodes.General, nodes.Element):
    """A placeholder for the list until every page is read."""


class Exercises(SphinxDirective):
    """``{exercises}``: list all exercises of the book by chapter, with links."""

    def run(self):
        return [exercise_list()]


def chapters(env):
    """Yield (caption, pages) for each chapter, in the order of the book."""
    root = env.get_doctree(env.config.root_doc)
    for toctree in root.findall(lambda node: node.tagname == "toctree"):
        yield (
            toctree.get("caption") or "The book",
            [page for _, page in toctree["entries"]],
        )


def fill_exercise_list(app, doctree, docname):
    """Replace the placeholder by the list of exercises."""
    for place in list(doctree.findall(exercise_list)):
        parts = []
        for caption, pages in chapters(app.env):
            entries = [page for page in pages if exercises_in(app.env).get(page)]
            if entries:
                listed = [entry for page in entries for entry in page_entry(app, docname, page)]
                parts.append(nodes.container("", nodes.rubric("", caption), *listed, classes=["chapter"]))
        if not app.live:
            parts.insert(0, nodes.paragraph("", WITHOUT))
        box = nodes.container("", *parts, classes=["live-exercises"])
        place.replace_self(box)


def page_entry(app, docname, page):
    """Return the title of a page and the list of its exercises, in one box."""
    address = app.builder.get_relative_uri(docname, page)
    title = nodes.paragraph("", "", nodes.strong("", app.env.titles[page].astext()))
    items = nodes.bullet_list()
    for entry in exercises_in(app.env)[page]:
        link = nodes.reference("", entry["title"], internal=True, refuri=f"{address}#{entry['name']}")
        told = entry["level"] + ", proof" * (entry["kind"] == "proof")
        told += f", {entry['minutes']} minutes" * bool(entry["minutes"])
        tags = nodes.inline("", f" {told}", classes=["exercise-facts"])
        item = nodes.list_item("", nodes.paragraph("", "", link, tags))
        item["classes"] += [f"level-{entry['level']}", f"kind-{entry['kind']}"]
        items += item
    return [nodes.container("", title, items, classes=["lesson"])]


def write_exercises(app, pages):
    """Write exercises.json, from which the sidebar knows which pages are done."""
    if not app.live:
        return
    pages = {
        page: [entry["name"] for entry in found] for page, found in exercises_in(app.env).items() if found
    }
    target = Path(app.outdir, "_static", "live", "exercises.json")
    target.write_text(json.dumps(pages, sort_keys=True), "utf8")


def always_fresh(app, env, added, changed, removed):
    """Rebuild the list of exercises whenever any page changes."""
    if not (added or changed or removed):
        return []
    return [name for name in env.all_docs if name.endswith("book/exercises") or name == "exercises"]


def setup(app):
    app.add_directive("exercises", Exercises)
    app.add_node(exercise_list)
    app.setup_extension("press.live")
    app.connect("builder-inited", configure, priority=400)
    app.connect("live-page", add_to_page)
    app.connect("doctree-read", mark_figures, priority=100)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-get-outdated", always_fresh)
    app.connect("doctree-resolved", fill_exercise_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
