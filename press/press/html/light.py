"""Combine all style sheets into one and all scripts into one, so that a page needs few requests.

A pass of `press.html`, run when all pages and their files are written. The style sheet keeps the rules in
their order and drops those for classes and ids that no page and no script of this book uses. The script runs
after the page is parsed (`defer`).
"""

import json
import posixpath
import re
import zlib
from pathlib import Path

from press.js import build

SHEET, SCRIPT = "book.css", "book.js"
LINK = re.compile(
    r'[ \t]*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^"]*?)_static/([^"?]+)[^"]*"[^>]*>\n?'
)
# Scripts joined into book.js. Those of figures and live cells stay apart: they load files beside themselves.
JOINED = (
    "documentation_options.js",
    "doctools.js",
    "clipboard.min.js",
    "copybutton.js",
    "scripts/sphinx-book-theme.js",
    "scripts/pydata-sphinx-theme.js",
    "download.js",
    "questions.js",
    "reader.js",
)
DROPPED = ("scripts/bootstrap.js",)  # only used by the tooltip of a button that these pages lack
# To make wide code scrollable by keyboard, the theme measures all code blocks at once, which forces a layout
# of the whole page. We measure each block when it comes near; until then it counts as wide.
AT_ONCE = re.compile(r"\.forEach\(e=>\{e\.tabIndex=(e\.scrollWidth>[^{}?]*)\?0:-1\}\)")
WHEN_NEAR = r"""const whenNear = new IntersectionObserver(list => {
  const near = list.filter(one => one.isIntersecting).map(one => one.target);
  near.map(e => CONDITION).forEach((wide, place) => { near[place].tabIndex = wide ? 0 : -1; });
}, {rootMargin: "100%"});
const measure = e => {
  if (!e.hasAttribute("tabindex")) e.tabIndex = 0;
  whenNear.unobserve(e);
  whenNear.observe(e);
};
"""
# The theme restores the scroll position of the sidebar; if that is hidden, do it after the first paint.
PLACE = 'e(function(){if(!document.querySelector(".bd-docs-nav"))return;'
# The theme marks a section when its heading passes, and misses those laid out late: reader.js does it.
MARK = 'querySelector("#pst-page-toc-nav");if(!e)return;'
LATER = """const afterPaint = work => requestAnimationFrame(() => setTimeout(work));
const beside = matchMedia("(min-width: 992px)").matches;
"""
TAG = re.compile(r'[ \t]*<script\b[^>]*\bsrc="([^"]*?)_static/([^"?]+)[^"]*"[^>]*></script>\n?')
# names, punctuation and blanks have the default colour of code, so their spans can go
PLAIN = re.compile(r'<span class="[npw]">([^<]*)</span>')
# no style rule of this book uses these classes
ROW = re.compile(r'(<tr) class="row-(?:odd|even)"|(<t[dh]><p><a) class="reference internal"')
UNUSED = re.compile(r"[ \t]*<script>(?:DOCUMENTATION_OPTIONS\.|let toggle)[^<]*</script>\n?")
PRELOAD = re.compile(r'[ \t]*<link\b(?=[^>]*\brel="preload")(?=[^>]*\bas="script")[^>]*>\n?')
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!data:|#|https?:|/)([^"')]+)\1\s*\)""")
IMPORT = re.compile(r"""@import\s+(?:url\()?\s*["']?([^"')]+)["']?\s*\)?\s*;""")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"[.#]((?:[\w-]|\\.|[^\x00-\x7f])+)")
FUNCTION = re.compile(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)")
LAST = ("type.css", "companion.css", "chrome.css")  # the book's own, which override the others


def join(app, pages):
    """Write book.css and book.js, and replace the links to their parts in every page."""
    static = Path(app.outdir, "_static")
    every = {
        file: pages.get(file) or file.read_text("utf8")
        for file in sorted(Path(app.outdir).rglob("*.html"))
        if static not in file.parents
    }
    wanted = names(every.values(), static)
    parts = remember(app, sheets(every.values()))
    css = used("".join(inlined(static, part) for part in parts if (static / part).exists()), wanted)
    js = ";\n".join((static / part).read_text("utf8") for part in JOINED if (static / part).exists())
    js = unhurried(js)
    versions = {}
    for name, text in ((SHEET, smaller(css)), (SCRIPT, js)):
        (static / name).write_text(text, "utf8")
        versions[name] = f"{name}?v={zlib.crc32(text.encode()):08x}"
    for file, text in every.items():
        if file not in pages and all(version in text for version in versions.values()):
            continue  # written by an earlier build and still up to date
        lighter = light(text, versions)
        if lighter != text:
            pages[file] = lighter


def unhurried(js):
    """Change the theme's scripts: measure only code that is near, and nothing before the first paint."""
    if found := AT_ONCE.search(js):
        js = WHEN_NEAR.replace("CONDITION", found[1]) + AT_ONCE.sub(".forEach(measure)", js)
    js = js.replace(MARK, "body;return;", 1)
    return LATER + js.replace(PLACE, PLACE.replace("e(", "(beside?e:afterPaint)(", 1), 1)


def light(page, versions):
    """Return a page with one style sheet and one script instead of many."""
    links, tags = LINK.findall(page), TAG.findall(page)
    if not links:
        return page
    up = links[0][0]
    sheet = f'    <link rel="stylesheet" href="{up}_static/{versions[SHEET]}" />\n'
    once = iter([sheet])
    page = LINK.sub(lambda match: next(once, ""), page)
    page = ROW.sub(r"\1\2", PLAIN.sub(r"\1", PRELOAD.sub("", page)))
    if not any("togglebutton" in name for _, name in tags):
        page = UNUSED.sub("", page)
    script = f'    <script defer src="{up}_static/{versions[SCRIPT]}"></script>\n'
    first = iter([script])

    def tag(match):
        if match[2] in (*JOINED, SCRIPT):
            return next(first, "")
        if match[2] in DROPPED:
            return ""
        if match[2] == "figures.js":  # must run before its figure is laid out
            return match[0]
        return match[0] if re.search(r"\bdefer\b|\basync\b|\bmodule\b", match[0]) else deferred(match[0])

    return TAG.sub(tag, page)


def deferred(tag):
    """Return the script tag with the attribute `defer`."""
    return tag.replace("<script ", "<script defer ", 1)


def sheets(pages):
    """Return all style sheets of the pages, in an order that agrees with the order on each page."""
    found = []
    for page in pages:
        before = -1
        for _, name in LINK.findall(page):
            if name == SHEET:
                continue
            if name not in found:
                found.insert(before + 1, name)
            before = found.index(name)
    return [name for name in found if name not in LAST] + [name for name in LAST if name in found]


def remember(app, found):
    """Return `found` plus the style sheets of earlier builds, which pages that were kept still need."""
    note = Path(app.outdir).parent / ".sheets.json"
    old = json.loads(note.read_text("utf8")) if note.exists() else []
    known = found + [name for name in old if name not in found]
    known = [name for name in known if name not in LAST] + [name for name in LAST if name in known]
    note.write_text(json.dumps(known), "utf8")
    return known


def inlined(static, part):
    """Return a style sheet including its imports, with addresses relative to `_static`."""
    folder = posixpath.dirname(part)
    css = COMMENT.sub("", (static / part).read_text("utf8"))
    css = re.sub(r'@charset "[^"]*";', "", css)
    css = ADDRESS.sub(lambda m: f'url("{posixpath.normpath(posixpath.join(folder, m[2]))}")', css)

    # addresses in url() are relative to `_static` by now, quoted ones are not
    found = lambda said: said if (static / said).exists() else posixpath.join(folder, said)  # noqa: E731
    return IMPORT.sub(lambda m: inlined(static, posixpath.normpath(found(m[1]))), css) + "\n"


def names(pages, static):
    """Return every class and id in the pages, and every word in the scripts, which may set classes."""
    found = set()
    for page in pages:
        for _, given in re.findall(r"""\b(?:class|id)=(["'])(.*?)\1""", page):
            found.update(given.split())
    for file in static.rglob("*.js"):
        if "mathjax/" not in file.as_posix() and file.name != SCRIPT:
            found.update(re.findall(r"[\w-]+", file.read_text("utf8")))
    return found


def used(css, wanted):
    """Return the rules whose classes and ids are in `wanted`, with the blocks around them.

    >>> used(".a{color:red}.b,.a:not(.c){x:y}@media print{.b{x:y}}@font-face{x:y}", {"a"})
    '.a{color:red}.a:not(.c){x:y}@font-face{x:y}'
    """
    kept = []
    for head, body in blocks(css):
        if body is None:
            kept.append(head)
        elif re.match(r"@(media|supports|layer|container)\b", head):
            if inner := used(body, wanted):
                kept.append(f"{head}{{{inner}}}")
        elif head.startswith("@"):
            if "Font Awesome" not in body and "FontAwesome" not in body:
                kept.append(f"{head}{{{body}}}")
        elif alive := [one for one in split(head) if is_wanted(one, wanted)]:
            kept.append(f"{','.join(alive)}{{{body}}}")
    return "".join(kept)


def is_wanted(selector, wanted):
    """Return whether every class and id in a selector is in `wanted`."""
    own = FUNCTION.sub("", re.sub(r"\[[^\]]*\]", "", selector))
    return all(re.sub(r"\\(.)", r"\1", name) in wanted for name in NAME.findall(own))


def split(head):
    """Return the selectors of a rule, ignoring commas inside brackets."""
    parts, depth, now = [], 0, ""
    for sign in head:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            parts.append(now.strip())
            now = ""
        else:
            now += sign
    return [*parts, now.strip()]


def blocks(css):
    """Yield (head, body) of each rule, and (statement, None) for a statement without a block."""
    head, depth, begin, quote, place = "", 0, 0, "", 0
    while place < len(css):
        sign = css[place]
        if sign == "\\":
            place += 2
            continue
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "{":
            if not depth:
                head, begin = css[begin:place].strip(), place + 1
            depth += 1
        elif sign == "}":
            depth -= 1
            if not depth:
                yield head, css[begin:place].strip()
                begin = place + 1
        elif sign == ";" and not depth:
            yield css[begin : place + 1].strip(), None
            begin = place + 1
        place += 1


def smaller(css):
    """Return the style sheet minified, if esbuild is available."""
    try:
        return build.minified(css)
    except build.Unavailable:
        return css


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
