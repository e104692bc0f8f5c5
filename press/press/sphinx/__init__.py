"""Set up the book's Sphinx extension by loading its parts.

Sphinx reads the notebooks and turns them into HTML; `_config.yml` names this extension. Most parts add
directives, roles or elements to a page. The parts in `press.html` change the files once they are written.
"""

PARTS = (
    "press.html",
    "press.sphinx.editions",
    "press.sphinx.course",
    "press.html.downloads",
    "press.html.offline",
    "press.html.maths",
    "press.html.stacked",
    "press.sphinx.boxes",
    "press.sphinx.formal",
    "press.sphinx.questions",
    "press.sphinx.reader",
    "press.sphinx.sidebar",
    "press.sphinx.finder",
    "press.sphinx.images",
    "press.sphinx.bookmap",
    "press.sphinx.concordance",
    "press.sphinx.status",
    "press.sphinx.reference",
    "press.sphinx.live",
    "press.sphinx.figures",
    "press.sphinx.elsewhere",
    "press.html.cards",
    "press.html.light",
    "press.html.assets",
    "press.html.sealed",
)


def setup(app):
    """Load every part. Their order matters: handlers of the same event run in it."""
    for part in PARTS:
        app.setup_extension(part)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
