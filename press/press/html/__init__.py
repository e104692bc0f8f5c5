"""Run the passes over the pages that Sphinx has written: one handler, one ordered list.

A pass receives the application and {file: text}, the pages written since the last finished build, and may
change the texts. A part of the extension that is not set up has no pass.
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
    "press.sphinx.concordance:exact_anchors",
    "press.sphinx.reader:fold_sidebar",
    # what is made from all pages
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
    """Return the file that says when the last build came to its end."""
    return Path(app.outdir, ".finished")


def written(app):
    """Return {file: text} of the pages that were written since."""
    since = stamp(app).stat().st_mtime if stamp(app).exists() else 0
    files = sorted(Path(app.outdir).rglob("*.html"))
    return {file: file.read_text("utf8") for file in files if file.stat().st_mtime >= since}


def finish(app, exception):
    """Run the passes of the parts that are set up."""
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
    for file, text in pages.items():
        file.write_text(text, "utf8")


def keep_settings(app):
    """Keep Sphinx's note of its settings out of the book: it names folders of this machine."""
    note = Path(app.outdir, ".buildinfo")
    if note.exists():
        note.replace(Path(app.doctreedir, note.name))


def find_settings(app):
    """Put the note back, from which Sphinx sees whether every page must be written again."""
    note = Path(app.doctreedir, ".buildinfo")
    if note.exists() and Path(app.outdir).exists():
        note.replace(Path(app.outdir, note.name))


def setup(app):
    app.connect("builder-inited", find_settings)
    app.connect("build-finished", finish, priority=900)  # the theme writes a style sheet then, too
    return {"parallel_read_safe": True, "parallel_write_safe": True}
