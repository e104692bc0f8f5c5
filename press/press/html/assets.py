"""List the files that the built book ships and the links that leave it, after all files are written."""

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

from press import HOME, ledger

PAGE = "book/assets.html"
LOCK = HOME / "js" / "package-lock.json"
NO_ASSETS = (".html", ".finished", ".nojekyll", "_headers")
SLOT = re.compile(r"(<!-- shipped (\w+) -->).*?(<!-- shipped end -->)", re.DOTALL)
LINK = re.compile(r'<a\b[^>]*?\bhref="(https?://[^"]+|//[^"]+)"')


class Shipped(SphinxDirective):
    """``{shipped} assets`` or ``{shipped} links``: a place in the page for the list."""

    required_arguments = 1

    def run(self):
        slot = f"<!-- shipped {self.arguments[0]} --><!-- shipped end -->"
        return [nodes.raw("", slot, format="html")]


def load():
    return yaml.safe_load((ledger.ROOT / "book" / "assets.yml").read_text("utf8"))


def shipped(html):
    """The files that are not pages, nor what pages are made from."""
    for file in sorted(html.rglob("*")):
        path = file.relative_to(html).as_posix()
        if file.is_file() and not path.startswith("_sources/") and not path.endswith(NO_ASSETS):
            yield path


def owner(path, entries):
    """The entry that a file belongs to; None if nobody has named it."""
    return next((e for e in entries if any(fnmatch(path, pattern) for pattern in e["files"])), None)


def version_of(entry):
    if "lock" in entry:
        return json.loads(LOCK.read_text("utf8"))["packages"][f"node_modules/{entry['lock']}"]["version"]
    return version(entry["package"]) if "package" in entry else entry["version"]


def groups(html):
    """[(entry, files)]; files that nobody has named come last, without version and licence."""
    entries, found = load(), defaultdict(list)
    for path in shipped(html):
        entry = owner(path, entries)
        found[entry["name"] if entry else None].append(path)
    unknown = {"name": "Not yet in book/assets.yml", "version": "", "licence": ""}
    named = [(entry, found[entry["name"]]) for entry in entries if found[entry["name"]]]
    return named + [(unknown, found[None])] * bool(found[None])


def assets(html):
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
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return f"<li><code>{escape(path)}</code> <code>{digest}</code></li>"


def folded(summary, items):
    return f'<details class="concordance-tests"><summary>{summary}</summary><ul>{items}</ul></details>'


def outward(html):
    """{address: the pages that link to it}; this list itself does not count."""
    found = defaultdict(list)
    for file in sorted(html.rglob("*.html")):
        page = file.relative_to(html).as_posix()
        text = file.read_text("utf8")
        for address in dict.fromkeys(LINK.findall(SLOT.sub("", text) if page == PAGE else text)):
            found[unescape(address)].append(page)
    return found


def links(html):
    # what the other list on this page links to leaves the book too
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
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    inner = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>"
    return f'<div class="pst-scrollable-table-container"><table class="table shipped">{inner}</table></div>'


def fill(app, pages):
    """Fill in the lists; every other file is written by now, as are all pages."""
    html = Path(app.outdir)
    if not (html / PAGE).exists():
        return
    made = {"assets": assets, "links": links}
    text = (html / PAGE).read_text("utf8")
    text = SLOT.sub(lambda m: m[1] + made[m[2]](html) + m[3], text)
    (html / PAGE).write_text(text, "utf8")


def setup(app):
    app.add_directive("shipped", Shipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
