"""Add to every page where it belongs, how long it takes and what it uses; load only the files it needs."""

import hashlib
import posixpath
import re
import subprocess
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from urllib.parse import quote

import yaml
from docutils import nodes
from sphinx import addnodes

from press import HOME, ledger
from press.html import cards, downloads

WORDS_A_MINUTE = 200
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
# Styles and scripts of extensions, and the sign in a page that it needs them.
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
NAVIGATION = re.compile(r'(<nav class="bd-links[^>]*>)(.*?)(</div>\s*</nav>)', re.DOTALL)
CAPTION = re.compile(r'<p[^>]*class="caption"[^>]*><span class="caption-text">(.*?)</span></p>')
ERRATUM = re.compile(r'<li class="toctree-l1[^"]*"><a [^>]*>Errata[^<]*</a></li>\n?')
# pages below a page of which the reader is not among them
BELOW = re.compile(
    r'(<li class="toctree-l1 has-children">(?:(?!<details>).)*)<details>.*?</details></li>', re.DOTALL
)
HEAD = '<p class="page-kicker">{part}</p>\n{title}\n<p class="page-facts">{facts}</p>'


#: the branch with what the published edition offers to download, and no solution that it leaves out
LAUNCHED = "notebooks"
FILES = {"folder": ledger.ROOT}  # where _config.yml and _toc.yml of this build are


def find_files(app, config):
    FILES["folder"] = Path(config.book_files or ledger.ROOT)
    parts.cache_clear()


def settings():
    return yaml.safe_load((FILES["folder"] / "_config.yml").read_text("utf8"))


def site(config):
    """Where the book is published: as _config.yml says, or GitHub's own address, or nowhere."""
    said = (config.get("html") or {}).get("baseurl", "")
    owner, _, name = config["repository"]["url"].rstrip("/").partition("github.com/")[2].partition("/")
    return said.rstrip("/") or (f"https://{owner.lower()}.github.io/{name}" if name else "")


@cache
def parts():
    """{docname: caption of its part of the book}, in reading order."""
    toc = yaml.safe_load((FILES["folder"] / "_toc.yml").read_text("utf8"))
    return {chapter["file"]: part["caption"] for part in toc.get("parts", []) for chapter in part["chapters"]}


@cache
def changed(root=ledger.ROOT):
    """{file: day of its last commit}; empty where git, or the whole history, is not at hand."""
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
    """Note while reading how much there is to read and which labels a page refers to."""
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
    """A link to a page is written from where it stands, one to a label is not."""
    page = posixpath.normpath(posixpath.join(posixpath.dirname(env.docname), target))
    return page if page in env.found_docs else target


def plain(node):
    """The first sentences of a paragraph, up to one with a formula or to 180 characters, but at least one.

    All of it, with … for each formula, if the first sentence has one.
    """
    words = (FORMULA if isinstance(t.parent, nodes.math) else t.astext() for t in node.findall(nodes.Text))
    text = re.sub(r"\s+", " ", "".join(words)).strip()
    result = ""
    for sentence in re.split(r"(?<=[.?!]) ", text):
        if FORMULA in sentence or len(result) + len(sentence) > max(180, len(sentence)):
            break
        result += f" {sentence}"
    return result.strip() or text.replace(FORMULA, "…")


def page_of(env, label, known):
    """The page on which a label stands, or None."""
    label = label.lower()
    proofs = {name.lower(): entry["docname"] for name, entry in getattr(env, "proof_list", {}).items()}
    if label in proofs:
        return proofs[label]
    standard = env.get_domain("std")
    if label in standard.anonlabels:
        return standard.anonlabels[label][0]
    return label if label in known else None


def uses(env):
    """{page: Counter of the earlier pages it refers to} by the book's own links, but for `LOOKED_UP`."""
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
    """Head and foot of a page, its description, and no file it does not need."""
    if app.builder.format != "html":
        return
    body = context.get("body", "")
    for kind in ("css_files", "script_files"):
        context[kind] = [file for file in context.get(kind, []) if needed(str(file), body)]
    facts = app.env.metadata.get(pagename, {})
    part = parts().get(pagename)
    first = pagename == app.config.root_doc
    context["description"] = app.config.book_description if first else facts.get("begins")
    config = settings()
    url = config["repository"]["url"].rstrip("/")
    card = cards.of(pagename, body, app.config.root_doc) if cards.available() else "_static/readme.png"
    # those who read a link want a whole address; without one the way from the page may still help
    context["preview"] = f"{site(config)}/{card}" if site(config) else context["pathto"](card, 1)
    if not body or templatename != "page.html":
        return
    if part and part != "Back matter":
        body = with_head(app, pagename, body, part, facts)
    if part or pagename == "book/intro":
        body += foot(app, pagename, context, url, config)
    context["body"] = body


def needed(file, body):
    sign = next((sign for name, sign in NEEDED.items() if name in file), "")
    return sign == "" or bool(sign and sign in body)


def with_head(app, pagename, body, part, facts):
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
    """A BibTeX entry for one page."""
    year = re.match(r"\d{4}", str(config["copyright"]))[0]
    address = f"\n  url = {{{site(config)}/{pagename}.html}}," if site(config) else ""
    return (
        f"@incollection{{ocolib-{pagename.rpartition('/')[2]},\n  author = {{{{{config['author']}}}}},\n"
        f"  title = {{{title}}},\n  booktitle = {{{config['title']}}},{address}\n  year = {{{year}}}\n}}"
    )


def lost(app):
    """A page for readers who followed a dead link; hosts look for it at the root."""
    config = settings()
    yield "404", {"home": f"{site(config)}/"}, "404.html"


def fold_sidebar(app, pages):
    """Fold the chapters of the sidebar but for the reader's own; number them; put all errata together."""
    bare = '<summary><span class="toctree-toggle"'  # the theme leaves its arrows without a word
    for file, text in pages.items():
        text = text.replace(bare, bare.replace("<summary>", '<summary aria-label="Pages below">'))
        pages[file] = NAVIGATION.sub(lambda match: match[1] + folded(match[2]) + match[3], text)


def folded(contents):
    """
    >>> folded('<p class="caption"><span class="caption-text">One</span></p><ul><li>x</li></ul>')
    '<details class="part"><summary><span class="number">1</span> One</summary><ul><li>x</li></ul></details>'
    """
    first, *chapters = CAPTION.split(BELOW.sub(r"\1</li>", contents))
    made, number, errata = [first], 0, []
    for caption, pages in zip(chapters[::2], chapters[1::2], strict=True):
        errata += ERRATUM.findall(pages)
        pages = ERRATUM.sub("", pages)
        if caption == "Back matter":
            made.append(part("", "Errata", f'<ul class="nav bd-sidenav">{"".join(errata)}</ul>'))
            made.append(part("", caption, pages))
        else:
            number += 1
            made.append(part(f'<span class="number">{number}</span> ', caption, pages))
    return "".join(made)


def part(number, caption, pages):
    if "<li" not in pages:
        return ""
    opened = " open" if 'class="current' in pages or " current" in pages else ""
    return f'<details class="part"{opened}><summary>{number}{caption}</summary>{pages.strip()}</details>'


def write_index(app, pages):
    """Write the first address of the book: it says what the book is to whoever shares it, and leads on."""
    config = settings()
    known = {"title": config["title"], "description": app.config.book_description}
    card = cards.name(app.config.root_doc) if cards.available() else "_static/readme.png"
    known |= {"site": site(config), "first": f"{app.config.root_doc}.html"}
    known["preview"] = f"{site(config)}/{card}" if site(config) else card
    pages[Path(app.outdir, "index.html")] = app.builder.templates.render("index.html", known)


def write_headers(app, pages):
    """Forbid other sites to frame the pages, on the hosts that read this file (a page itself cannot)."""
    Path(app.outdir, "_headers").write_text(HEADERS, "utf8")


def remove_unused(app, pages):
    """Remove what no page asks for; let a static host serve folders that begin with an underscore."""
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
        remove(Path(app.outdir, "_static", unused))
        pages.pop(Path(app.outdir, "_static", unused), None)
    for waste in Path(app.outdir, "_static").rglob("*.map"):
        waste.unlink()


def remove(path):
    for inner in sorted(path.rglob("*"), reverse=True) if path.is_dir() else []:
        inner.rmdir() if inner.is_dir() else inner.unlink()
    if path.exists():
        path.rmdir() if path.is_dir() else path.unlink()


def makers():
    """A stamp of the files of this package: when it changes, Sphinx makes every page anew."""
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
