"""Build a course from selected pages: links to other pages lead to the full book, or become plain text.

`press.edition` reads course.yml, writes the table of contents and sets the option `course`. Without a course
this module does nothing, and a broken link stays an error.
"""

import json
import posixpath
import re
from functools import cache
from urllib.parse import urldefrag

from docutils import nodes
from sphinx import addnodes

from press import ROOT
from press.pages import notebooks

LABEL = re.compile(r"^\(([\w.-]+)\)=|^\s*:(?:label|name): *([\w.-]+)", re.MULTILINE)
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([\w./-]+)\.(?:ipynb|md)(#[\w.-]+)?\)")


@cache
def places():
    """Return {label in lower case: (page, label)} for the whole book."""
    found = {}
    texts = {
        f"book/{page.relative_to(notebooks.TEXT).with_suffix('').as_posix()}": page
        for page in notebooks.pages()
    }
    texts |= {
        page.relative_to(ROOT).with_suffix("").as_posix(): page for page in notebooks.BOOK.rglob("*.md")
    }
    for docname, page in texts.items():
        for label in LABEL.findall(page.read_text("utf8")):
            name = label[0] or label[1]
            found.setdefault(name.lower(), (docname, name))
    return found


def elsewhere(site, docname, place=""):
    """Return the address of a page in the full book; empty if the book has no address."""
    return f"{site}/{docname}.html{place}" if site else ""


def relink(text, docname, kept, site):
    """Return a page's text with links to omitted pages replaced: by the full book, or by plain text."""

    def link(found):
        words, path, place = found[1], found[2], found[3] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(docname), path))
        known = any((ROOT / f"{target}{kind}").exists() for kind in (".md", ".ipynb"))
        if target in kept or not known:
            return found[0]
        address = elsewhere(site, target, place)
        return f"[{words}]({address})" if address else words

    return LINK.sub(link, text)


def read(app, docname, source):
    """Change the links of a page before Sphinx parses it, and use the course's own first page."""
    if not app.config.course:
        return
    if docname == app.config.root_doc:
        source[0] = app.config.course["home"]
        return
    kept, site = app.env.found_docs, app.config.course["site"]
    if not app.env.doc2path(docname).endswith(".ipynb"):
        source[0] = relink(source[0], docname, kept, site)
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = relink("".join(cell["source"]), docname, kept, site)
    source[0] = json.dumps(notebook)


def left_out(app, doctree):
    """Replace references to labels on omitted pages before Sphinx tries to resolve them."""
    if not app.config.course:
        return
    kept, site = app.env.found_docs, app.config.course["site"]
    for node in list(doctree.findall(addnodes.pending_xref)):
        docname, place = aim(app.env.docname, node)
        if docname and docname not in kept:
            address, words = elsewhere(site, docname, f"#{place}" if place else ""), node.astext()
            text = nodes.inline("", place if words == node["reftarget"] and place else words)
            node.replace_self(nodes.reference("", "", text, refuri=address) if address else text)


def resolved(app, doctree, docname):
    """Replace links to omitted pages that other parts have added, to errata or to the concordance."""
    if not app.config.course:
        return
    for node in list(doctree.findall(nodes.reference)):
        target = urldefrag(node.get("refuri", ""))
        page = posixpath.normpath(posixpath.join(posixpath.dirname(docname), target.url)).removesuffix(
            ".html"
        )
        if not node.get("internal") or not target.url or page in app.env.found_docs:
            continue
        place = f"#{target.fragment}" if target.fragment else ""
        address = elsewhere(app.config.course["site"], page, place)
        if address:
            node["refuri"], node["internal"] = address, False
        elif "slip" in node.parent.get("classes", []):
            node.parent.parent.remove(node.parent)
        else:
            node.replace_self(nodes.inline("", node.astext(), classes=node["classes"]))


def aim(here, node):
    """Return (page, label) that a reference leads to in the full book; ("", "") if it leads elsewhere."""
    target = str(node.get("reftarget", ""))
    if node.get("reftype") == "doc":
        docname = (
            target.lstrip("/") if target.startswith("/") else posixpath.join(posixpath.dirname(here), target)
        )
        docname = posixpath.normpath(docname)
        known = any((ROOT / f"{docname}{kind}").exists() for kind in (".md", ".ipynb"))
        return (docname, "") if known else ("", "")
    return places().get(target.lower(), ("", ""))


def setup(app):
    app.add_config_value("course", {}, "env")
    app.connect("source-read", read)
    app.connect("doctree-read", left_out)
    app.connect("doctree-resolved", resolved, priority=900)  # after the parts that add links
    return {"parallel_read_safe": True, "parallel_write_safe": True}
