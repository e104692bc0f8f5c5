"""Make the cells of a page run in the reader's browser: a Sphinx extension for any book.

It does not depend on this book; README.md explains how to use it, and `press.sphinx.live` configures it for
ours. A cell tagged `live` gets the buttons Run, Edit, Stop and Reset. A cell that is also tagged `exercise`,
and named in its metadata (`exercise: ex-…`), shows a verdict. A cell tagged `solution` never counts as an
answer.

`prepare` bundles the scripts (`press/js/live`) and Python; `add_page_data` writes what the scripts need to
know about the cells into each page.
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
SENT = (".py", ".json")  # files of a package that are sent to the browser
log = logging.getLogger(__name__)


def package(folders):
    """Return packages as a zip with data and sources, so that tracebacks can show lines."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for folder in map(Path, folders):
            for path in sorted(path for path in folder.rglob("*") if path.suffix in SENT):
                info = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix())
                bundle.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def prepare(app):
    """Build the scripts and parts, and register them with Sphinx, before any page is read."""
    app.live = False
    if app.builder.format != "html":
        return
    log.info("live pages: assembling Python for the browser")
    try:
        build.packages()
        folder, parts = runtime.assemble()
    except build.Unavailable as reason:
        log.info("\nNO RUN BUTTONS: %s.\nThe pages are otherwise complete.\n", reason)
        return
    output = Path(app.outdir).parent / "live"
    target = output / "live"
    target.mkdir(parents=True, exist_ok=True)
    parts = parts | own_parts(app.config, target)
    for part in parts.values():
        if not (target / part["name"]).exists():
            (target / part["name"]).write_bytes((folder / part["name"]).read_bytes())
    names, built = {part["name"] for part in parts.values()}, Path(app.outdir, "_static", "live")
    for old in [*target.iterdir(), *built.glob("*-????????????.*")]:  # from earlier builds
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
    """Return the parts that depend on the book: the worker with its Python files, and the packages."""
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
    """Yield the code cells that a page shows, as (container, source, tags, metadata)."""
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            code = next(node.findall(nodes.literal_block), None)
            if code is not None:
                metadata = node.get("cell_metadata", {})
                yield node, code.astext(), set(metadata.get("tags", [])), metadata


def page_data(app, docname, doctree):
    """Return what the scripts of one page must know about its cells, in order."""
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
    """Write the data into the page, as JSON that no browser executes."""
    if not app.live or not any("live" in tags for _, _, tags, _ in cells_of(doctree)):
        return
    data = json.dumps(page_data(app, docname, doctree)).replace("<", "\\u003c")
    doctree += nodes.raw("", f'<script type="application/json" id="live-page">{data}</script>', format="html")


def setup(app):
    app.add_config_value("live_packages", [], "html")  # folders of the packages that cells may import
    app.add_config_value("live_hook", "", "html")  # a file with adapt(runtime), run once in the browser
    app.add_config_value("live_store", "live", "html")  # prefix of the keys in the browser's storage
    app.add_config_value("live_serve", "python -m http.server", "html")  # command that serves a copy on disk
    app.add_config_value("live_style", "", "html")  # additional CSS
    app.add_config_value("live_chains", "", "html")  # script that draws proof chains, see book.js
    app.add_event("live-page")  # (app, docname, cells, data): lets a book add to a page's data
    app.connect("builder-inited", prepare)
    app.connect("doctree-resolved", add_page_data)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
