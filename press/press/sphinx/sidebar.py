"""Make the sidebar of every page from the table of contents: numbered parts that fold, errata together.

The theme resolves the whole tree of contents again for every page, which takes a third of a build. Here the
titles are set once, and book/_templates/sbt-sidebar-nav.html writes the links of a page.
"""

from functools import cache

from press.config import contents

BACK = "Back matter"  # the part that is not numbered; the errata stand before it


def outline(toc):
    """Return [(number, caption, entries)], the parts of a table of contents as the sidebar shows them.

    >>> page, errata = {"file": "one/page"}, {"file": "one/errata"}
    >>> back = {"caption": "Back matter", "chapters": [{"file": "notation"}]}
    >>> for part in outline({"parts": [{"caption": "One", "chapters": [page, errata]}, back]}):
    ...     print(part)
    (1, 'One', [{'file': 'one/page'}])
    ('', 'Errata', [{'file': 'one/errata'}])
    ('', 'Back matter', [{'file': 'notation'}])
    """
    parts, errata = [], []
    for part in toc.get("parts", []):
        own = [entry for entry in part["chapters"] if not entry["file"].endswith("/errata")]
        errata += [entry for entry in part["chapters"] if entry not in own]
        if part["caption"] == BACK:
            parts.append(("", "Errata", errata))
            parts.append(("", BACK, own))
        else:
            parts.append((len(parts) + 1, part["caption"], own))
    return [part for part in parts if part[2]]


def add(app, pagename, templatename, context, doctree):
    """Give the template of the sidebar its parts, as this page shows them."""

    @cache
    def parts():
        return [shown(app, pagename, *part) for part in outline(contents())]

    context["parts_of_book"] = parts


def shown(app, pagename, number, caption, entries):
    """Return a part as the template needs it; it is open if the page is in it."""
    links = [link(app, pagename, entry) for entry in entries]
    return {
        "number": number,
        "caption": caption,
        "open": any(one["around"] for one in links),
        "links": links,
    }


def link(app, pagename, entry):
    """Return one entry: its title and address, and the pages below it if the reader is among them."""
    page, here = entry["file"], entry["file"] == pagename
    below = [link(app, pagename, one) for one in entry.get("sections", ())]
    around = here or any(one["around"] for one in below)
    address = "#" if here else app.builder.get_relative_uri(pagename, page)
    return {
        "title": title(app, page),
        "address": address,
        "here": here,
        "around": around,
        "parent": bool(below),
        "below": below if around else [],
    }


def title(app, page):
    """Return the title of a page as HTML; each is set once."""
    known = app.builder.__dict__.setdefault("titles_in_sidebar", {})
    if page not in known:
        known[page] = app.builder.render_partial(app.env.titles[page])["title"]
    return known[page]


def setup(app):
    app.connect("html-page-context", add, priority=400)  # the theme renders the sidebar at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
