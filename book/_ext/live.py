"""Python in the reader's browser: which cells run there, what they need, all exercises.

Tags on cells drive everything. A cell tagged `live` gets a Run button; one tagged
`exercise` (with its box's name in the metadata, `exercise: ex-…`) answers with a
verdict; one tagged `solution` never counts as an answer. What a page loads is put
together here: the scripts of `_static/live`, the package, and Python itself, which
`tools/runtime.py` assembles. Where that cannot be had, there are no Run buttons.
"""

import hashlib
import importlib.util
import io
import json
import re
import shutil
import zipfile
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import figures
from depends import Names, dependencies

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "book" / "_static" / "live"
OUTPUT = ROOT / "_build" / "live"
PAGE = [
    "dom",
    "memory",
    "store",
    "sanitise",
    "engine",
    "output",
    "cell",
    "exercise",
    "progress",
    "book",
    "main",
]
WORKER = ["store", "interrupt", "worker"]
JUPYTER = "run-in-jupyter"  # the section that says how
NEEDS = {
    "oracle": "the solver",
    "cvxpy": "the solver",
    "cp": "the solver",
    "sklearn": "scikit-learn",
    "scipy": "SciPy",
    "plots": "matplotlib",
    "plt": "matplotlib",
}
WITHOUT = (
    "This copy of the book was built without Python for the browser: its pages have no "
    "Run buttons. Solve the exercises in Jupyter, as described below."
)
log = logging.getLogger(__name__)


# ------------------------------------------------ what is sent to the browser


def joined(names):
    """Modules as one script: they import each other only, so those lines go."""
    text = "\n".join((SOURCES / f"{name}.js").read_text("utf8") for name in names)
    return re.sub(r"^(import .*\n|export (?=\w))", "", text, flags=re.MULTILINE)


def script(text):
    """The bytes of a script that leaves no names behind."""
    return f"(() => {{\n{text}}})();\n".encode()


def package():
    """ocolib and ocolab as a zip with their data, sources and all, so that a traceback can show its lines."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for path in sorted(path for path in ROOT.glob("oco*/**/*") if path.suffix in (".py", ".json")):
            info = zipfile.ZipInfo(path.relative_to(ROOT).as_posix())
            bundle.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def load_runtime():
    """The module tools/runtime.py."""
    spec = importlib.util.spec_from_file_location("runtime", ROOT / "tools" / "runtime.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(app):
    """Before anything is read: put scripts and parts where Sphinx finds them."""
    app.live = False
    if app.builder.format != "html":
        return
    runtime = load_runtime()
    log.info("live pages: looking for Python (%s)", runtime.TARGET.relative_to(ROOT))
    try:
        folder, parts = runtime.assemble()
    except runtime.Unavailable as reason:
        log.info(
            "\nNO RUN BUTTONS: %s.\nThe pages are complete, but cannot run code. "
            "Python for the browser comes from npm and PyPI: build once with a network.\n",
            reason,
        )
        return
    target = OUTPUT / "live"
    target.mkdir(parents=True, exist_ok=True)
    boot = json.dumps((SOURCES / "boot.py").read_text("utf8"))
    ours = {
        "ocolib": runtime.store(target, "ocolib", "zip", package()),
        "worker": runtime.store(target, "worker", "js", script(f"const BOOT = {boot};\n{joined(WORKER)}")),
    }
    parts = parts | ours
    for part in parts.values():
        if not (target / part["name"]).exists():
            (target / part["name"]).write_bytes((folder / part["name"]).read_bytes())
    names, built = {part["name"] for part in parts.values()}, Path(app.outdir, "_static", "live")
    for old in [*target.iterdir(), *built.glob("*-????????????.*")]:  # of an earlier build
        if old.name not in names:
            old.unlink()
    known = f"const PARTS = {json.dumps(parts)};\n"
    known += "const SCRIPT = document.currentScript.src;\n"
    known += f"const FIGURES = {json.dumps(figures.script_address().removeprefix('_static/'))};\n"
    (OUTPUT / "live.js").write_bytes(script(known + joined(PAGE)))
    shutil.copy(SOURCES / "live.css", OUTPUT / "live.css")
    app.config.html_static_path.append(str(OUTPUT))
    app.add_js_file("live.js", loading_method="defer")
    app.add_css_file("live.css")
    app.live = True


# ------------------------------------------------ what the cells of a page need


def reason(source):
    """What a cell needs that the browser has not, in words."""
    names = Names(source)
    used = names.used | set(names.imported) | set(names.imported.values())
    words = [NEEDS[name] for name in NEEDS if name in used]
    return " and ".join(dict.fromkeys(words)) or "more than NumPy"


def cells_of(doctree):
    """The code cells that a page shows, as (container, source, tags, metadata)."""
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            code = next(node.findall(nodes.literal_block), None)
            if code is not None:
                metadata = node.get("cell_metadata", {})
                yield node, code.astext(), set(metadata.get("tags", [])), metadata


def page_data(app, docname, doctree):
    """What the scripts of one page must know about its cells, in order."""
    found = list(cells_of(doctree))
    sources = [source for _, source, _, _ in found]
    passive = {n for n, (_, _, tags, _) in enumerate(found) if "solution" in tags}
    needs = dependencies(sources, passive)
    seen, cells = {}, []
    for (_, source, tags, metadata), needed in zip(found, needs, strict=True):
        cell = {"needs": needed}
        if "live" in tags:
            if "exercise" in tags and metadata.get("exercise"):
                cell["exercise"] = metadata["exercise"]
            key = cell.get("exercise") or hashlib.sha256(source.encode()).hexdigest()[:8]
            seen[key] = seen.get(key, 0) + 1
            cell["key"] = key if seen[key] == 1 else f"{key}-{seen[key]}"
        else:
            cell["why"] = reason(source)
        cells.append(cell)
    return {"name": docname, "jupyter": jupyter_address(app, docname), "cells": cells}


def jupyter_address(app, docname):
    target = app.env.domaindata["std"]["anonlabels"].get(JUPYTER, ("book/intro", "how-to-run-it"))
    return f"{app.builder.get_relative_uri(docname, target[0])}#{target[1]}"


def add_page_data(app, doctree, docname):
    """Leave the data in the page, as a block that no browser executes."""
    if not app.live or not any("live" in tags for _, _, tags, _ in cells_of(doctree)):
        return
    data = json.dumps(page_data(app, docname, doctree)).replace("<", "\\u003c")
    doctree += nodes.raw(
        "",
        f'<script type="application/json" id="live-page">{data}</script>',
        format="html",
    )


# ------------------------------------------------ all exercises of the book


def collect(app, doctree):
    """Remember a page's exercises: name and title of each box that a cell answers."""
    boxes = {name: title_of(box) for box in doctree.findall(nodes.admonition) for name in box["ids"]}
    found = []
    for _, _, tags, metadata in cells_of(doctree):
        name = metadata.get("exercise")
        if "exercise" in tags and name in boxes:
            found.append({"name": name, "title": boxes[name], "live": "live" in tags})
    exercises_in(app.env)[app.env.docname] = found


def title_of(box):
    title = box.next_node(nodes.title)
    return title.astext().removesuffix("#") if title else ""  # the sign of its permalink


def exercises_in(env):
    if not hasattr(env, "live_exercises"):
        env.live_exercises = {}
    return env.live_exercises


def forget(app, env, docname):
    exercises_in(env).pop(docname, None)


def merge(app, env, docnames, other):
    exercises_in(env).update(
        {name: exercises_in(other)[name] for name in docnames if name in exercises_in(other)}
    )


class exercise_list(nodes.General, nodes.Element):
    """Stands for the list until every page is read."""


class Exercises(SphinxDirective):
    """``{exercises}``: all exercises of the book by chapter, with links."""

    def run(self):
        return [exercise_list()]


def chapters(env):
    """Pairs (caption, pages) in the order of the book."""
    root = env.get_doctree(env.config.root_doc)
    for toctree in root.findall(lambda node: node.tagname == "toctree"):
        yield (
            toctree.get("caption") or "The book",
            [page for _, page in toctree["entries"]],
        )


def fill_exercise_list(app, doctree, docname):
    for place in list(doctree.findall(exercise_list)):
        parts = []
        for caption, pages in chapters(app.env):
            entries = [page for page in pages if exercises_in(app.env).get(page)]
            if entries:
                parts.append(nodes.rubric("", caption))
                parts += [entry for page in entries for entry in page_entry(app, docname, page)]
        if not app.live:
            parts.insert(0, nodes.paragraph("", WITHOUT))
        box = nodes.container("", *parts, classes=["live-exercises"])
        place.replace_self(box)


def page_entry(app, docname, page):
    """The title of a page and the list of its exercises."""
    address = app.builder.get_relative_uri(docname, page)
    title = nodes.paragraph("", "", nodes.strong("", app.env.titles[page].astext()))
    items = nodes.bullet_list()
    for entry in exercises_in(app.env)[page]:
        link = nodes.reference("", entry["title"], internal=True, refuri=f"{address}#{entry['name']}")
        items += nodes.list_item("", nodes.paragraph("", "", link))
    return title, items


def write_exercises(app, exception):
    """The exercises of each page, from which the sidebar sees which pages are done."""
    if exception or not app.live:
        return
    pages = {
        page: [entry["name"] for entry in found] for page, found in exercises_in(app.env).items() if found
    }
    target = Path(app.outdir, "_static", "live", "exercises.json")
    target.write_text(json.dumps(pages, sort_keys=True), "utf8")


def always_fresh(app, env, added, changed, removed):
    """The list of exercises depends on every other page."""
    if not (added or changed or removed):
        return []
    return [name for name in env.all_docs if name.endswith("book/exercises") or name == "exercises"]


def setup(app):
    app.add_directive("exercises", Exercises)
    app.add_node(exercise_list)
    app.connect("builder-inited", prepare)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-get-outdated", always_fresh)
    app.connect("doctree-resolved", fill_exercise_list)
    app.connect("doctree-resolved", add_page_data)
    app.connect("build-finished", write_exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
