"""Copy MathJax and the fonts into the book, so that no page contacts another host.

The files are copied by passes of `press.html`.
"""

import base64
import re
from importlib.metadata import files
from pathlib import Path
from shutil import copy2

# What pages may load: the complete MathJax if formulas were not typeset in the build, and the explorer with
# its speech rules for readers who explore a formula or have it read aloud.
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
    """Return the folder with MathJax in the installed package."""
    (loader,) = (
        file for file in files("sphinx-mathjax-offline") if file.as_posix().endswith("mathjax/loader.js")
    )
    return Path(loader.locate()).resolve().parent


def copy_mathjax(app, pages):
    """Copy the parts of MathJax that pages may load."""
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
    """Return a style sheet that contains the book's fonts, for pages that are opened as files.

    Such pages may not load other files. `optional` becomes `swap`, because embedded fonts may arrive late and
    would then never be shown.
    """
    faces = re.findall(r"^@font-face .*url\(.*$", (static / "type.css").read_text("utf8"), re.MULTILINE)
    css = re.sub(r'(font-family: "[^"]*)', r"\1 here", "\n".join(faces)).replace("optional", "swap")
    return re.sub(r'url\("([^"]*)"\)', lambda match: f"url({as_data(static / match[1])})", css)


def as_data(font):
    """Return a font as a data URL."""
    return f"data:font/woff2;base64,{base64.b64encode(font.read_bytes()).decode()}"


def write_letters(app, pages):
    """Write the style sheet with the embedded fonts."""
    static = Path(app.outdir, "_static")
    (static / "letters.css").write_text(letters(static), "utf8")


def setup(app):
    """Load MathJax from the book itself."""
    app.config.mathjax_path = "mathjax/tex-chtml-full.js"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
