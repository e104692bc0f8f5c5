"""Add the head and foot of every page, fold the sidebar, and drop files that the pages do not need.

The head shows the chapter, the reading time and the pages that this one builds on; the foot has downloads,
links to the source, and a citation. While Sphinx reads, we collect these facts (`read`); when it renders a
page, we add them (`decorate`). The functions with the arguments `(app, pages)` are passes of `press.html`.
"""

import hashlib
import posixpath
import re
import shutil
import subprocess
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx import addnodes

from press import HOME, ROOT
from press.config import parts, settings, site, use
from press.html import cards, downloads

WORDS_A_MINUTE = 200
ENOUGH = 60  # characters that describe a page
FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
LOOKED_UP = (
    "concordance",
    "status",
    "reference",
    "bibliography",
    "intro",
    "errata",
    "glossary",
    "404",
)
# {style sheet or script of an extension: text in a page that shows it is needed (None: never)}.
NEEDED = {
    "design-tabs": "sd-tab-set",
    "sphinx-design": 'class="sd-',
    "togglebutton": "dropdown",
    "proof.css": None,
    "sphinx_highlight": None,
    "copybutton": "highlight",
    "clipboard": "highlight",
}
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August"]
MONTHS += ["September", "October", "November", "December"]
HEADERS = "/*\n  X-Frame-Options: SAMEORIGIN\n  Content-Security-Policy: frame-ancestors 'self'\n"
HEAD = '<p class="page-kicker">{part}</p>\n{title}\n<p class="page-facts">{facts}</p>'


#: the branch that Colab and Binder open: the downloads of the published edition, which may omit solutions
LAUNCHED = "notebooks"


def find_files(app, config):
    """Read the settings of this build from its own folder, if it is an edition or a course."""
    use(Path(config.book_files or ROOT))


@cache
def changed(root=ROOT):
    """Return {file: date of its last commit}; empty without git or without the full history."""
    git = ["git", "-C", str(root), "-c", "core.quotePath=false"]
    history = [*git, "log", "--format=%x00%cs", "--name-only", "--no-renames", "--", "pages", "book"]
    try:
        shallow = subprocess.run(
            [*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True
        )
        log = subprocess.run(history, capture_output=True, text=True, encoding="utf8")
    except FileNotFoundError:
        return {}
    if log.returncode or shallow.stdout.strip() != "false":
        return {}
    days = {}
    for commit in log.stdout.split("\0")[1:]:
        day, *files = commit.split("\n")
        for file in filter(None, files):
            days.setdefault(file, date.fromisoformat(day))  # the newest commit comes first
    return days


def read(app, doctree):
    """Store the reading time, the number of live cells, the links and the first sentences of a page."""
    env = app.env
    prose = [
        text
        for text in doctree.findall(nodes.Text)
        if not isinstance(text.parent, (nodes.literal_block, nodes.math, nodes.math_block))
    ]
    words = sum(len(text.split()) for text in prose)
    formulas = sum(1 for _ in doctree.findall(nodes.math_block))
    cells = sum(
        node.get("nb_element") == "cell_code" and "live" in node.get("cell_metadata", {}).get("tags", [])
        for node in doctree.findall(nodes.container)
    )
    links = [
        as_page(env, node["reftarget"])
        for node in doctree.findall(addnodes.pending_xref)
        if node.get("reftarget")
    ]
    first = next(
        (
            p
            for p in doctree.findall(nodes.paragraph)
            if p.parent.tagname == "section" and len(p.astext()) > 60
        ),
        None,
    )
    env.metadata[env.docname] |= {
        "minutes": max(1, round((words + 40 * formulas) / WORDS_A_MINUTE)),
        "cells": cells,
        "refers": links,
        "begins": plain(first) if first else "",
    }


def as_page(env, target):
    """Return the target of a link: a page relative to the root, or a label unchanged."""
    page = posixpath.normpath(posixpath.join(posixpath.dirname(env.docname), target))
    return page if page in env.found_docs else target


def plain(node):
    """Return the first sentences of a paragraph as text, for the description of the page.

    Pass over sentences with formulas until there are `ENOUGH` characters; then stop before a formula or after
    180 characters. If every sentence has a formula, return the whole paragraph with … for each.
    """
    texts = [text for text in node.findall(nodes.Text) if "slip" not in classes_around(text)]
    words = (FORMULA if isinstance(text.parent, nodes.math) else text.astext() for text in texts)
    text = re.sub(r"\s+", " ", "".join(words)).strip()
    result = ""
    for sentence in re.split(r"(?<=[.?!]) ", text):
        if len(result) >= ENOUGH and (FORMULA in sentence or len(result) + len(sentence) > 180):
            break
        if FORMULA not in sentence:
            result += f" {sentence}"
    return result.strip() or text.replace(FORMULA, "…")


def classes_around(text):
    """Return the classes of what a text stands in: a link and what is around the link."""
    around = [text.parent, text.parent.parent]
    return [name for one in around if one is not None for name in one.get("classes", ())]


def page_of(env, label, known):
    """Return the page that defines a label, or None."""
    label = label.lower()
    proofs = {name.lower(): entry["docname"] for name, entry in getattr(env, "proof_list", {}).items()}
    if label in proofs:
        return proofs[label]
    standard = env.get_domain("std")
    if label in standard.anonlabels:
        return standard.anonlabels[label][0]
    return label if label in known else None


def uses(env):
    """Return {page: Counter of the earlier pages that it links to}, without pages in `LOOKED_UP`."""
    known = list(parts())
    place = {docname: number for number, docname in enumerate(known)}
    result = {}
    for docname in known:
        targets = (page_of(env, label, place) for label in env.metadata[docname].get("refers", []))
        result[docname] = Counter(
            t for t in targets if t in place and place[t] < place[docname] and not t.endswith(LOOKED_UP)
        )
    return result


def decorate(app, pagename, templatename, context, doctree):
    """Add head, foot and description to a page, and remove style sheets and scripts that it does not need."""
    if app.builder.format != "html":
        return
    body = context.get("body", "")
    for kind in ("css_files", "script_files"):
        context[kind] = [file for file in context.get(kind, []) if needed(str(file), body)]
    facts = app.env.metadata.get(pagename, {})
    part = parts().get(pagename)
    first = pagename == app.config.root_doc
    begins = "" if first else facts.get("begins")
    context["description"] = begins or app.config.book_description
    config = settings()
    url = config["repository"]["url"].rstrip("/")
    card = cards.of(pagename, body, app.config.root_doc) if cards.available() else "_static/readme.png"
    # link previews need a complete address; without one, a relative address may still work
    context["preview"] = f"{site(config)}/{card}" if site(config) else context["pathto"](card, 1)
    if not body or templatename != "page.html":
        return
    if part and part != "Back matter":
        body = with_head(app, pagename, body, part, facts)
    if part or pagename == "book/intro":
        body += foot(app, pagename, context, url, config)
    context["body"] = body


def needed(file, body):
    """Return whether a page with this body needs the file."""
    sign = next((sign for name, sign in NEEDED.items() if name in file), "")
    return sign == "" or bool(sign and sign in body)


def with_head(app, pagename, body, part, facts):
    """Return the body with the chapter above the title and the facts below it."""
    lines = [f"about {facts['minutes']} min to read"]
    if facts["cells"] and app.live:
        lines.append(f"{facts['cells']} cell{'s' * (facts['cells'] > 1)} to run")
    before = [] if 'class="goals' in body else [page for page, _ in uses(app.env)[pagename].most_common(3)]
    if before:
        links = ", ".join(
            f'<a href="{app.builder.get_relative_uri(pagename, page)}">{app.env.titles[page].astext()}</a>'
            for page in before
        )
        lines.append(f"builds on {links}")
    shown = "".join(f"<span>{line}</span>" for line in lines)
    return re.sub(
        r"<h1>.*?</h1>",
        lambda match: HEAD.format(part=part, title=match[0], facts=shown),
        body,
        count=1,
        flags=re.DOTALL,
    )


def foot(app, pagename, context, url, config):
    """Return the HTML of the page foot."""
    file = Path(app.env.doc2path(pagename)).relative_to(app.srcdir).as_posix()
    branch, title = config["repository"]["branch"], app.env.titles[pagename].astext()
    notebook = file.endswith(".ipynb")
    source = file.replace("book/", "pages/", 1).removesuffix(".ipynb") + ".md" if notebook else file
    owner = url.partition("github.com/")[2]
    plain = downloads.notebook(pagename).removeprefix(f"{downloads.FOLDER}/")
    return app.builder.templates.render(
        "page-foot.html",
        {
            "notebook": context["pathto"](downloads.notebook(pagename), 1) if notebook else None,
            "wheel": context["pathto"](downloads.wheel_name(), 1),
            "bundle": context["pathto"](downloads.BUNDLE, 1),
            "has_maths": 'class="math' in context["body"],
            "repository": url,
            "branch": branch,
            "source": source,
            "changed": changed().get(source),
            "month": lambda day: f"{MONTHS[day.month - 1]} {day.year}",
            "title": title,
            "edit": app.config.edition != "student",  # the source has the solutions
            "colab": f"https://colab.research.google.com/github/{owner}/blob/{LAUNCHED}/{plain}",
            "binder": f"https://mybinder.org/v2/gh/{owner}/{LAUNCHED}?urlpath={quote('lab/tree/' + plain)}",
            "citation": citation(title, pagename, config),
        },
    )


def citation(title, pagename, config):
    """Return a BibTeX entry for one page."""
    year = re.match(r"\d{4}", str(config["copyright"]))[0]
    address = f"\n  url = {{{site(config)}/{pagename}.html}}," if site(config) else ""
    return (
        f"@incollection{{ocolib-{pagename.rpartition('/')[2]},\n  author = {{{{{config['author']}}}}},\n"
        f"  title = {{{title}}},\n  booktitle = {{{config['title']}}},{address}\n  year = {{{year}}}\n}}"
    )


def lost(app):
    """Yield the page 404.html, which hosts show for a dead link."""
    config = settings()
    yield "404", {"home": f"{site(config)}/"}, "404.html"


def write_index(app, pages):
    """Write index.html, which describes the book for link previews and forwards to the first page."""
    config = settings()
    known = {"title": config["title"], "description": app.config.book_description}
    card = cards.name(app.config.root_doc) if cards.available() else "_static/readme.png"
    known |= {"site": site(config), "first": f"{app.config.root_doc}.html"}
    known["preview"] = f"{site(config)}/{card}" if site(config) else card
    pages[Path(app.outdir, "index.html")] = app.builder.templates.render("index.html", known)


def write_headers(app, pages):
    """Forbid other sites to frame the pages, on hosts that read `_headers` (a page itself cannot)."""
    Path(app.outdir, "_headers").write_text(HEADERS, "utf8")


def remove_unused(app, pages):
    """Delete files that no page loads, and let GitHub Pages serve folders that begin with `_`."""
    Path(app.outdir, ".nojekyll").touch()
    for unused in (
        "scripts/fontawesome.js",
        "scripts/fontawesome.js.map",
        "scripts/bootstrap.js",  # see DROPPED in press.html.light
        "vendor/fontawesome",
        "searchtools.js",
        "language_data.js",
        "webpack-macros.html",
        "sbt-webpack-macros.html",
    ):
        path = Path(app.outdir, "_static", unused)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        pages.pop(path, None)
    for waste in Path(app.outdir, "_static").rglob("*.map"):
        waste.unlink()


def makers():
    """Return a hash of this package's files: when it changes, Sphinx builds every page again."""
    files = sorted(file for file in HOME.rglob("*.*") if file.is_file() and file.suffix != ".pyc")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def setup(app):
    app.add_config_value("makers", makers(), "env")
    app.add_config_value("book_files", "", "env")
    app.add_config_value("book_description", "", "env")
    app.connect("config-inited", find_files)
    app.connect("doctree-read", read)
    app.connect("html-page-context", decorate, priority=900)
    app.connect("html-collect-pages", lost)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
