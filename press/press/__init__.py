"""Make the book: notebooks, HTML, downloads, PDF, slides, exercise sheets, grades, recorded measurements.

`python -m press` lists the commands. They work on the book in the current folder.
"""

from pathlib import Path

HOME = Path(__file__).resolve().parent


def find_root():
    """Return the book's folder: this one or one above it; elsewhere, the project that press belongs to."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "_config.yml").exists() and (folder / "pages").is_dir():
            return folder
    return HOME.parents[1]


ROOT = find_root()
