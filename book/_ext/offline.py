"""Serve MathJax from the book itself, so that no page asks another host."""

from importlib.metadata import files
from pathlib import Path
from shutil import copy2

PARTS = ("tex-chtml-full.js", "output/chtml/fonts/woff-v2/")


def mathjax_files():
    """Pairs (file in the wheel, path below mathjax/) of what the pages load."""
    for file in files("sphinx-mathjax-offline"):
        path = file.as_posix().partition("static/mathjax/")[2]
        if path.startswith(PARTS):
            yield Path(file.locate()), path


def copy_mathjax(app, exception):
    if exception or app.builder.format != "html":
        return
    for source, path in mathjax_files():
        target = Path(app.outdir, "_static", "mathjax", path)
        target.parent.mkdir(parents=True, exist_ok=True)
        copy2(source, target)


def setup(app):
    app.config.mathjax_path = "mathjax/tex-chtml-full.js"
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
