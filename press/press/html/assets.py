"""List the files that the built book ships, and the links that leave it, on the page book/assets.

The last pass of `press.html`, because it needs every other file to be written.
"""

import hashlib
import json
import re
from collections import defaultdict
from fnmatch import fnmatch
from html import escape, unescape
from importlib.metadata import version
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import HOME, ROOT
from press.html.stacked import stacked

PAGE = "book/assets.html"
LOCK = HOME / "js" / "package-lock.json"
NO_ASSETS = (".html", ".finished", ".nojekyll", "_headers")
SLOT = re.compile(r"(<!-- shipped (\w+) -->).*?(<!-- shipped end -->)", re.DOTALL)
LINK = re.compile(r'<a\b[^>]*?\bhref="(https?://[^"]+|//[^"]+)"')


class Shipped(SphinxDirective):
    """``{shipped} assets`` or ``{shipped} links``: mark the place of a list on the page."""

    required_arguments = 1

    def run(self):
        slot = f"<!-- shipped {self.arguments[0]} --><!-- shipped end -->"
        return [nodes.raw("", slot, format="html")]


def load():
    """Return the entries of book/assets.yml: name, version, licence and file patterns."""
    return yaml.safe_load((ROOT / "book" / "assets.yml").read_text("utf8"))


def shipped(html):
    """Yield the shipped files, without pages and their sources."""
    for file in sorted(html.rglob("*")):
        path = file.relative_to(html).as_posix()
        if file.is_file() and not path.startswith("_sources/") and not path.endswith(NO_ASSETS):
            yield path


def owner(path, entries):
    """Return the entry of book/assets.yml that a file belongs to, or None."""
    return next((e for e in entries if any(fnmatch(path, pattern) for pattern in e["files"])), None)


def version_of(entry):
    """Return the version of an entry: from package-lock.json, the installed package, or the entry itself."""
    if "lock" in entry:
        return json.loads(LOCK.read_text("utf8"))["packages"][f"node_modules/{entry['lock']}"]["version"]
    return version(entry["package"]) if "package" in entry else entry["version"]


def groups(html):
    """Return [(entry, files)]; files without an entry come last, without version and licence."""
    entries, found = load(), defaultdict(list)
    for path in shipped(html):
        entry = owner(path, entries)
        found[entry["name"] if entry else None].append(path)
    unknown = {"name": "Not yet in book/assets.yml", "version": "", "licence": ""}
    named = [(entry, found[entry["name"]]) for entry in entries if found[entry["name"]]]
    return named + [(unknown, found[None])] * bool(found[None])


def assets(html):
    """Return the table of shipped files as HTML."""
    rows = []
    for entry, files in groups(html):
        name = escape(entry["name"])
        if "source" in entry:
            name = f'<a class="reference external" href="{entry["source"]}">{name}</a>'
        listed = "".join(line(html / path, path) for path in files)
        size = sum((html / path).stat().st_size for path in files) / 1000
        count = f"{len(files)} file{'s' * (len(files) > 1)}, {size:,.0f} kB"
        rows.append((name, escape(version_of(entry)), escape(entry["licence"]), folded(count, listed)))
    return table(("What", "Version", "Licence", "Files and their SHA-256"), rows)


def line(file, path):
    """Return a file with its checksum as a list item."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return f"<li><code>{escape(path)}</code> <code>{digest}</code></li>"


def folded(summary, items):
    """Return a fold with a list."""
    return f'<details class="concordance-tests"><summary>{summary}</summary><ul>{items}</ul></details>'


def outward(html):
    """Return {address outside the book: pages that link to it}, without the lists on this page."""
    found = defaultdict(list)
    for file in sorted(html.rglob("*.html")):
        page = file.relative_to(html).as_posix()
        text = file.read_text("utf8")
        for address in dict.fromkeys(LINK.findall(SLOT.sub("", text) if page == PAGE else text)):
            found[unescape(address)].append(page)
    return found


def links(html):
    """Return the table of links that leave the book as HTML."""
    # include the links of the other list on this page
    found = outward(html)
    for entry in load():
        if "source" in entry:
            found[entry["source"]].append(PAGE)
    rows = []
    for address, pages in sorted(found.items()):
        anchor = f'<a class="reference external" href="{escape(address)}">{escape(address)}</a>'
        here = "".join(f'<li><a href="../{page}">{escape(page)}</a></li>' for page in dict.fromkeys(pages))
        count = len(set(pages))
        rows.append((anchor, folded(f"{count} page{'s' * (count > 1)}", here)))
    return table(("Address", "Linked from"), rows)


def table(header, rows):
    """Return an HTML table."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    inner = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>"
    return f'<div class="pst-scrollable-table-container"><table class="table shipped">{inner}</table></div>'


def fill(app, pages):
    """Fill in both lists."""
    html = Path(app.outdir)
    if not (html / PAGE).exists():
        return
    made = {"assets": assets, "links": links}
    text = (html / PAGE).read_text("utf8")
    text = SLOT.sub(lambda m: m[1] + stacked(made[m[2]](html)) + m[3], text)
    (html / PAGE).write_text(text, "utf8")


def setup(app):
    app.add_directive("shipped", Shipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
