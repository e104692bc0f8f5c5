"""Serve MathJax and fonts from the book itself, so that no page contacts another host."""

import base64
import re
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


def copy_mathjax(app, pages):
    here = folder()
    for source in here.rglob("*"):
        path = source.relative_to(here).as_posix()
        if source.is_file() and path.startswith(PARTS):
            target = Path(app.outdir, "_static", "mathjax", path)
            if target.exists() and target.stat().st_mtime == source.stat().st_mtime:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            copy2(source, target)


def letters(static):
    """The book's fonts inside a stylesheet: a page that is opened as a file may fetch no other.

    They come from the disk, so they may come late: what is `optional` would be loaded and never shown.
    """
    faces = re.findall(r"^@font-face .*url\(.*$", (static / "type.css").read_text("utf8"), re.MULTILINE)
    css = re.sub(r'(font-family: "[^"]*)', r"\1 here", "\n".join(faces)).replace("optional", "swap")
    return re.sub(r'url\("([^"]*)"\)', lambda match: f"url({as_data(static / match[1])})", css)


def as_data(font):
    return f"data:font/woff2;base64,{base64.b64encode(font.read_bytes()).decode()}"


def write_letters(app, pages):
    static = Path(app.outdir, "_static")
    (static / "letters.css").write_text(letters(static), "utf8")


def setup(app):
    app.config.mathjax_path = "mathjax/tex-chtml-full.js"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
