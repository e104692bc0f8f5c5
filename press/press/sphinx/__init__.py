"""Set up the Sphinx extension of the book: its parts, in this order."""

PARTS = (
    "press.html",
    "press.sphinx.editions",
    "press.sphinx.course",
    "press.html.downloads",
    "press.html.offline",
    "press.html.maths",
    "press.sphinx.boxes",
    "press.sphinx.formal",
    "press.sphinx.questions",
    "press.sphinx.reader",
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
    for part in PARTS:
        app.setup_extension(part)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
