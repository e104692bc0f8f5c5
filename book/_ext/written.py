"""Which pages still wait for the last touches: those written since the last build that came to its end."""

from pathlib import Path


def stamp(app):
    return Path(app.outdir, ".finished")


def pages(app):
    """The files of the pages that were written since."""
    since = stamp(app).stat().st_mtime if stamp(app).exists() else 0
    return [page for page in Path(app.outdir).rglob("*.html") if page.stat().st_mtime >= since]


def finish(app, exception):
    if not exception and app.builder.format == "html":
        stamp(app).touch()


def setup(app):
    app.connect("build-finished", finish, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
