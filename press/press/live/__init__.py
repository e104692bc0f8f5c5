"""Make the cells of a page run in the reader's browser: a Sphinx extension for any book.

It knows nothing of any one book. A cell tagged `live` gets Run, Edit, Stop and Reset. One that is tagged
`exercise` too, and that its metadata names (`exercise: ex-…`), answers with a verdict; one tagged `solution`
never counts as an answer. README.md says how to use it, `press.sphinx.live` is what our own book adds.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

from press import HOME
from press.js import build, runtime
from press.pages import depends
from press.pages.depends import dependencies

SOURCES = HOME / "js" / "live"
SVGPLOT = SOURCES / "svgplot.py"
SENT = (".py", ".json")  # of a package
log = logging.getLogger(__name__)


def package(folders):
    """Packages as a zip with their data, sources and all, so that a traceback can show its lines."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for folder in map(Path, folders):
            for path in sorted(path for path in folder.rglob("*") if path.suffix in SENT):
                info = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix())
                bundle.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def prepare(app):
    """Before anything is read: put scripts and parts where Sphinx finds them."""
    app.live = False
    if app.builder.format != "html":
        return
    log.info("live pages: looking for Python")
    try:
        build.packages()
        folder, parts = runtime.assemble()
    except build.Unavailable as reason:
        log.info("\nNO RUN BUTTONS: %s.\nThe pages are complete all the same.\n", reason)
        return
    output = Path(app.outdir).parent / "live"
    target = output / "live"
    target.mkdir(parents=True, exist_ok=True)
    parts = parts | own_parts(app.config, target)
    for part in parts.values():
        if not (target / part["name"]).exists():
            (target / part["name"]).write_bytes((folder / part["name"]).read_bytes())
    names, built = {part["name"] for part in parts.values()}, Path(app.outdir, "_static", "live")
    for old in [*target.iterdir(), *built.glob("*-????????????.*")]:  # of an earlier build
        if old.name not in names:
            old.unlink()
    constants = {"PARTS": parts, "STORE": app.config.live_store, "SERVE": app.config.live_serve}
    constants["CHAINS"] = app.config.live_chains
    (output / "live.js").write_text(build.bundle("live/main.js", constants), "utf8")
    style = (SOURCES / "live.css").read_text("utf8") + app.config.live_style
    (output / "live.css").write_text(style, "utf8")
    app.config.html_static_path.append(str(output))
    app.add_js_file("live.js", loading_method="defer")
    app.add_css_file("live.css")
    app.live = True


def own_parts(config, target):
    """The worker with its Python files, and the packages of the book."""
    hook = Path(config.live_hook).read_text("utf8") if config.live_hook else ""
    python = {"BOOT": SOURCES / "boot.py", "DEPENDS": Path(depends.__file__), "SVGPLOT": SVGPLOT}
    texts = {name: file.read_text("utf8") for name, file in python.items()}
    worker = build.bundle("live/worker.js", texts | {"HOOK": hook})
    return {
        "packages": runtime.store(target, "packages", "zip", package(config.live_packages)),
        "worker": runtime.store(target, "worker", "js", worker.encode()),
    }


# ------------------------------------------------ what the cells of a page need


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
    passive = {place for place, (_, _, tags, _) in enumerate(found) if "solution" in tags}
    needs = dependencies([source for _, source, _, _ in found], passive)
    seen, cells = {}, []
    for (_, source, tags, metadata), needed in zip(found, needs, strict=True):
        cell = {"needs": needed}
        if "live" in tags:
            if "exercise" in tags and metadata.get("exercise"):
                cell["exercise"] = metadata["exercise"]
            key = cell.get("exercise") or hashlib.sha256(source.encode()).hexdigest()[:8]
            seen[key] = seen.get(key, 0) + 1
            cell["key"] = key if seen[key] == 1 else f"{key}-{seen[key]}"
        cells.append(cell)
    data = {"name": docname, "cells": cells}
    app.emit("live-page", docname, found, data)
    return data


def add_page_data(app, doctree, docname):
    """Leave the data in the page, as a block that no browser executes."""
    if not app.live or not any("live" in tags for _, _, tags, _ in cells_of(doctree)):
        return
    data = json.dumps(page_data(app, docname, doctree)).replace("<", "\\u003c")
    doctree += nodes.raw("", f'<script type="application/json" id="live-page">{data}</script>', format="html")


def setup(app):
    app.add_config_value("live_packages", [], "html")  # folders of packages that cells may import
    app.add_config_value("live_hook", "", "html")  # a file with adapt(runtime), run once in the browser
    app.add_config_value("live_store", "live", "html")  # before the names of what a browser remembers
    app.add_config_value("live_serve", "python -m http.server", "html")  # how a copy on disk is served
    app.add_config_value("live_style", "", "html")  # more CSS
    app.add_config_value("live_chains", "", "html")  # the script that draws chains: see book.js
    app.add_event("live-page")  # (app, docname, cells, data): what a book adds to a page's data
    app.connect("builder-inited", prepare)
    app.connect("doctree-resolved", add_page_data)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
