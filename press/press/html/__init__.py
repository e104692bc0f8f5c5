"""Finish the HTML pages that Sphinx has written, in an ordered list of passes.

A pass is a function `(app, pages)`. `pages` is {file: text} of the pages written since the last finished
build; a pass may change these texts or write other files. `write` near the end of the list stores the texts.
The passes of a module run only if that module is set up as an extension.
"""

from importlib import import_module
from pathlib import Path

PASSES = (
    # files beside the pages
    "press.html.offline:copy_mathjax",
    "press.html.offline:write_letters",
    "press.sphinx.figures:write_script",
    "press.sphinx.live:write_exercises",
    "press.sphinx.concordance:write_checks",
    "press.html.downloads:write",
    "press.sphinx.images:dark_images",
    "press.sphinx.reader:remove_unused",
    # the text of the pages
    "press.html.maths:set_pages",
    "press.html.stacked:stack",
    "press.sphinx.concordance:exact_anchors",
    # files and texts that depend on all pages
    "press.sphinx.finder:write",
    "press.html.cards:write",
    "press.sphinx.reader:write_index",
    "press.sphinx.reader:write_headers",
    "press.html.light:join",
    "press.html.sealed:seal",
    "press.html:write",
    "press.html.assets:fill",
)


def stamp(app):
    """Return the file whose modification time marks the end of the last finished build."""
    return Path(app.outdir, ".finished")


def written(app):
    """Return {file: text} of the pages written since the last finished build."""
    since = stamp(app).stat().st_mtime if stamp(app).exists() else 0
    files = sorted(Path(app.outdir).rglob("*.html"))
    return {file: file.read_text("utf8") for file in files if file.stat().st_mtime >= since}


def finish(app, exception):
    """Run the passes of all modules that are set up."""
    if exception or app.builder.format != "html":
        return
    pages = written(app)
    keep_settings(app)
    for name in PASSES:
        module, function = name.split(":")
        if module in app.extensions:
            getattr(import_module(module), function)(app, pages)
    stamp(app).touch()


def write(app, pages):
    """Write the changed texts back to the pages."""
    for file, text in pages.items():
        file.write_text(text, "utf8")


def keep_settings(app):
    """Move Sphinx's `.buildinfo` out of the book, because it contains the paths of this machine."""
    note = Path(app.outdir, ".buildinfo")
    if note.exists():
        note.replace(Path(app.doctreedir, note.name))


def find_settings(app):
    """Move `.buildinfo` back, so that Sphinx knows which pages are up to date."""
    note = Path(app.doctreedir, ".buildinfo")
    if note.exists() and Path(app.outdir).exists():
        note.replace(Path(app.outdir, note.name))


def setup(app):
    """Connect the passes to the end of the build."""
    app.connect("builder-inited", find_settings)
    app.connect("build-finished", finish, priority=900)  # after the theme has written its style sheet
    return {"parallel_read_safe": True, "parallel_write_safe": True}
