"""Serve MathJax from the book itself, so that no page asks another host."""

from importlib.metadata import files
from pathlib import Path
from shutil import copy2

# What the pages load: the whole of it where no node set the formulas, and for a reader who asks to explore
# a formula or to hear it, the explorer with its speech rules.
PARTS = (
    "tex-chtml-full.js",
    "mml-chtml.js",
    "output/chtml/fonts/",
    "a11y/",
    "sre/mathmaps/en.json",
    "sre/mathmaps/base.json",
)
PARTS += ("sre/mathmaps/nemeth.json",)


def folder():
    """MathJax as the wheel brings it."""
    (loader,) = (
        file for file in files("sphinx-mathjax-offline") if file.as_posix().endswith("mathjax/loader.js")
    )
    return Path(loader.locate()).resolve().parent


def copy_mathjax(app, exception):
    if exception or app.builder.format != "html":
        return
    here = folder()
    for source in here.rglob("*"):
        path = source.relative_to(here).as_posix()
        if source.is_file() and path.startswith(PARTS):
            target = Path(app.outdir, "_static", "mathjax", path)
            target.parent.mkdir(parents=True, exist_ok=True)
            copy2(source, target)


def setup(app):
    app.config.mathjax_path = "mathjax/tex-chtml-full.js"
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
