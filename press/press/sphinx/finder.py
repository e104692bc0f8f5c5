"""Build the search index: pages, statements, sections, exercises, terms and functions.

The index is a script, not a data file, so that search also works when the book is opened as files. It is
loaded when a reader begins to type. `press/press/js/finder/main.js` searches in it, with MiniSearch.
"""

import html
import json
import re
from pathlib import Path

import yaml
from docutils import nodes
from sphinx import addnodes

from press import ROOT, config, ledger
from press.html import maths
from press.js import build
from press.sphinx import boxes

WORD = re.compile(r"\d+(?:\.\d+)+|\w+")
TERMS = ROOT / "book" / "terms.yml"
MATHS = re.compile(r"\$([^$]+)\$")
NOT_PROSE = (
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
)


def words(text):
    """Return the words of a text in lower case."""
    return [word.lower() for word in WORD.findall(text)]


def note(app, doctree):
    """Store the headings, boxes, exercises, terms, functions and words of a page that is read."""
    found = {"sections": [], "boxes": [], "exercises": [], "terms": [], "functions": []}
    for section in doctree.findall(nodes.section):
        if isinstance(section.parent, nodes.section) and section["ids"]:
            found["sections"].append((section["ids"][0], with_dollars(section[0])))
    for box in doctree.findall(lambda node: isinstance(node, boxes.KINDS)):
        found["boxes"].append((box["ids"][0], box["realtype"], with_dollars(box[0]), source(box[1])))
    for exercise in doctree.findall(nodes.admonition):
        if "exercise" in exercise["classes"] and exercise["ids"]:
            found["exercises"].append((exercise["ids"][0], with_dollars(exercise[0]).removesuffix("#")))
    for glossary in doctree.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            terms = [child for child in item if isinstance(child, nodes.term)]
            found["terms"] += [(term["ids"][0], with_dollars(term), source(item[-1])) for term in terms]
    for signature in doctree.findall(addnodes.desc_signature):
        if signature["ids"]:
            found["functions"].append((signature["ids"][0], signature.get("fullname") or signature.astext()))
    prose = (t for t in doctree.findall(nodes.Text) if not isinstance(t.parent, NOT_PROSE))
    found["words"] = sorted({word for text in prose for word in words(text) if len(word) > 1})
    app.env.metadata[app.env.docname]["finder"] = found


def with_dollars(node):
    """Return the text of a title, with formulas in dollars."""
    texts = node.findall(nodes.Text)
    return "".join(f"${text}$" if isinstance(text.parent, nodes.math) else text.astext() for text in texts)


def source(content, length=160):
    """Return the beginning of a statement, with formulas in dollars, cut at a word."""
    first = next(content.findall(nodes.paragraph), None)
    parts, size = [], 0
    for child in first.children if first else []:
        text = f"${child.astext()}$" if isinstance(child, nodes.math) else child.astext()
        size += len(child.astext())
        if size > length and not isinstance(child, nodes.math):
            return "".join(parts) + text[: max(0, length - size + len(text))].rpartition(" ")[0] + " …"
        parts.append(text)
    return "".join(parts)


def entries(env):
    """Yield every possible search result: page, anchor, kind, title, text, lecture and more words."""
    pages = [name for name in env.found_docs if "finder" in env.metadata[name]]
    rooms = sorted(name for name in pages if name.startswith("book/reference/"))
    order = {name: place for place, name in enumerate(["book/intro", *config.parts(), *rooms])}
    pages = sorted((name for name in pages if name in order), key=order.get)
    terms = yaml.safe_load(TERMS.read_text("utf8"))
    part_of = config.parts()
    for page in pages:
        found, part = env.metadata[page]["finder"], part_of.get(page, "")
        more = "; ".join(terms["pages"].get(page.removeprefix("book/"), []))
        yield entry(
            page,
            "",
            "Page",
            with_dollars(env.titles[page]),
            env.metadata[page]["begins"],
            part,
            more,
        )
        kinds = {identifier.lower(): (kind, title, says) for identifier, kind, title, says in found["boxes"]}
        for identifier, kind, title, says, lecture, more in statements(page, kinds):
            yield entry(page, identifier, kind, title, says, lecture, more)
        for identifier, title in found["sections"]:
            yield entry(page, identifier, "Section", title, "", with_dollars(env.titles[page]))
        for identifier, title in found["exercises"]:
            yield entry(page, identifier, "Exercise", title, "", with_dollars(env.titles[page]))
        for identifier, title, says in found["terms"]:
            yield entry(page, identifier, "Term", title, says, "Glossary")
        for identifier, title in found["functions"]:
            yield entry(page, identifier, "Function", title, "", "Reference")


def statements(page, kinds):
    """Yield the items and errata of the lectures on a page, then the book's own boxes."""
    for part in ledger.load().values():
        lecture = part["lecture"].partition(":")[0]
        for sort in ("items", "errata"):
            for item in part[sort]:
                if f"book/{item['page']}" != page or not ledger.done(item):
                    continue
                identifier = ledger.anchor(item["id"])
                kind, title, _ = kinds.pop(identifier.lower(), ("item", item["item"], ""))
                title = title if re.search(r"[a-z]{4}", title) else item["item"]
                number = "" if set(words(item["item"])) <= set(words(title)) else item["item"]
                shown = f"{title} [{number}]" if number and re.search(r"\d", number) else title
                kind = "Erratum" if sort == "errata" else kind.title()
                yield identifier, kind, shown, item["says"], lecture, item["item"]
    for identifier, (kind, title, says) in kinds.items():
        yield identifier, kind.title(), title, says, "", ""


def entry(page, anchor, kind, title, says, lecture, more=""):
    """Return a search result with short keys, which keep the index small."""
    return {
        "p": f"{page}.html",
        "a": anchor,
        "k": kind,
        "t": title,
        "s": says,
        "l": lecture,
        "m": more,
    }


def with_maths(text, known):
    """Return the text as HTML with typeset formulas (as TeX without node)."""
    parts = MATHS.split(text)
    for place, part in enumerate(parts):
        if place % 2 and known and (part.strip(), False) in known.table:
            parts[place] = known.table[part.strip(), False][0]
        else:
            parts[place] = html.escape(part, quote=False)
    return "".join(parts)


def write(app, pages):
    """Write the index and the search script."""
    env = app.env
    found = list(entries(env))
    known = None
    if app.config.html_math_renderer == "built":
        known = maths.Maths(Path(app.outdir).parent / ".maths.json")
        wanted = [(tex.strip(), False) for e in found for tex in MATHS.findall(e["s"] + e["t"])]
        missing = [formula for formula in wanted if formula not in known.table]
        if missing:
            maths.renew(app, known, missing)
    for e in found:
        e["x"] = MATHS.sub(" ", e["s"])
        e["s"], e["h"] = with_maths(e["s"], known), with_maths(e["t"], known)
        e["t"] = e["t"].replace("$", "")
        if e["h"] == html.escape(e["t"], quote=False):
            del e["h"]
    pages = list(dict.fromkeys(e["p"] for e in found))
    said = {}
    for number, page in enumerate(pages):
        for word in env.metadata[page.removesuffix(".html")]["finder"]["words"]:
            said.setdefault(word, []).append(number)
    index = {
        "pages": pages,
        "entries": found,
        "words": said,
        "same": yaml.safe_load(TERMS.read_text("utf8"))["same"],
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    static = Path(app.outdir, "_static")
    (static / "finder-index.js").write_text(f"window.finderIndex = {text};\n", "utf8")
    try:
        build.packages()
    except build.Unavailable:  # press.live reports why; the search field shows that it cannot search
        return
    (static / "finder.js").write_text(build.bundle("finder/main.js"), "utf8")


def instead(app):
    """Turn off Sphinx's own search index."""
    if app.builder.format == "html":
        app.builder.search = False


def search_page(app):
    """Yield our search page."""
    yield "search", {}, "search.html"


def setup(app):
    app.connect("builder-inited", instead)
    app.connect("html-collect-pages", search_page)
    app.connect("doctree-read", note, priority=600)  # after boxes and exercises have their ids
    return {"parallel_read_safe": True, "parallel_write_safe": True}
