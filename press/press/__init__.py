"""Make the book: from the text of the pages to notebooks, HTML, PDF, slides, exercise sheets and grades.

The text in `pages/` becomes executed notebooks in `book/` (`press.pages`). Sphinx turns these into HTML with
our extension (`press.sphinx`, and `press.live` for cells that run in the browser); a list of passes then
finishes the files (`press.html`). From the finished pages come the PDF and the slides (`press.print`).
`press.grade` grades notebooks that students hand in, `press.record` stores long measurements, and `press.js`
holds the scripts of the pages. `press.config` reads the settings and the table of contents of a build,
`press.ledger` the ledger of the lectures.

`python -m press` lists the commands. They work on the book in the current folder.
"""

from pathlib import Path

HOME = Path(__file__).resolve().parent  # the folder of this package


def find_root():
    """Return the book's folder: the current folder or the nearest parent that contains a book.

    Outside of any book, return the project that this package belongs to.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "_config.yml").exists() and (folder / "pages").is_dir():
            return folder
    return HOME.parents[1]


ROOT = find_root()
