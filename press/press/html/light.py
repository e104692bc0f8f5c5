"""Combine all style sheets into one and all scripts into one, so that a page needs few requests.

The style sheet has the rules of all parts, in their order, without those for names that no page and no
script of this book has. The script comes after the text (`defer`).
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
# scripts that want the whole page; those of figures and of Run find their own files by their own address
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
DROPPED = ("scripts/bootstrap.js",)  # only a tooltip of a button that these pages do not have asks for it
# The theme measures every block of code in one go, to let the keyboard scroll it, and so lays out all that is
# far away. Here each block is measured when it comes near; one that was not seen yet counts as wide.
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
# The theme scrolls the contents to where they were; where they are folded away, after the first paint.
PLACE = 'e(function(){if(!document.querySelector(".bd-docs-nav"))return;'
LATER = """const afterPaint = work => requestAnimationFrame(() => setTimeout(work));
const beside = matchMedia("(min-width: 992px)").matches;
"""
TAG = re.compile(r'[ \t]*<script\b[^>]*\bsrc="([^"]*?)_static/([^"?]+)[^"]*"[^>]*></script>\n?')
# names, brackets and blanks have the colour of code anyway
PLAIN = re.compile(r'<span class="[npw]">([^<]*)</span>')
# no rule of this book speaks of odd rows, nor of links in a cell
ROW = re.compile(r'(<tr) class="row-(?:odd|even)"|(<t[dh]><p><a) class="reference internal"')
UNUSED = re.compile(r"[ \t]*<script>(?:DOCUMENTATION_OPTIONS\.|let toggle)[^<]*</script>\n?")
PRELOAD = re.compile(r'[ \t]*<link\b(?=[^>]*\brel="preload")(?=[^>]*\bas="script")[^>]*>\n?')
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!data:|#|https?:|/)([^"')]+)\1\s*\)""")
IMPORT = re.compile(r"""@import\s+(?:url\()?\s*["']?([^"')]+)["']?\s*\)?\s*;""")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"[.#]((?:[\w-]|\\.|[^\x00-\x7f])+)")
FUNCTION = re.compile(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)")
LAST = ("type.css", "companion.css", "chrome.css")  # the book's own: after all that they change


def join(app, pages):
    """Name one style sheet and one script in every page; both are written anew."""
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
            continue  # it was kept, and names what is there
        lighter = light(text, versions)
        if lighter != text:
            pages[file] = lighter


def unhurried(js):
    """Let the theme's scripts lay out nothing that is not looked at, and nothing before the first paint."""
    if found := AT_ONCE.search(js):
        js = WHEN_NEAR.replace("CONDITION", found[1]) + AT_ONCE.sub(".forEach(measure)", js)
    return LATER + js.replace(PLACE, PLACE.replace("e(", "(beside?e:afterPaint)(", 1), 1)


def light(page, versions):
    """A page with one link and one script in the place of the first of each."""
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
        if match[2] == "figures.js":  # it stands before its figure, which moves before it is laid out
            return match[0]
        return match[0] if re.search(r"\bdefer\b|\basync\b|\bmodule\b", match[0]) else deferred(match[0])

    return TAG.sub(tag, page)


def deferred(tag):
    return tag.replace("<script ", "<script defer ", 1)


def sheets(pages):
    """Every style sheet that a page has; what a page adds follows the one before it there."""
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
    """Pages that were kept name no parts any more: what they had is known from the build before."""
    note = Path(app.outdir).parent / ".sheets.json"
    old = json.loads(note.read_text("utf8")) if note.exists() else []
    known = found + [name for name in old if name not in found]
    known = [name for name in known if name not in LAST] + [name for name in LAST if name in known]
    note.write_text(json.dumps(known), "utf8")
    return known


def inlined(static, part):
    """A style sheet with what it imports, and with addresses as seen from `_static`."""
    folder = posixpath.dirname(part)
    css = COMMENT.sub("", (static / part).read_text("utf8"))
    css = re.sub(r'@charset "[^"]*";', "", css)
    css = ADDRESS.sub(lambda m: f'url("{posixpath.normpath(posixpath.join(folder, m[2]))}")', css)

    # an address in url() was made one of `_static` above; one in quotes alone was not
    found = lambda said: said if (static / said).exists() else posixpath.join(folder, said)  # noqa: E731
    return IMPORT.sub(lambda m: inlined(static, posixpath.normpath(found(m[1]))), css) + "\n"


def names(pages, static):
    """Every class and id in a page, and every word in a script: a script may give it to something."""
    found = set()
    for page in pages:
        for _, given in re.findall(r"""\b(?:class|id)=(["'])(.*?)\1""", page):
            found.update(given.split())
    for file in static.rglob("*.js"):
        if "mathjax/" not in file.as_posix() and file.name != SCRIPT:
            found.update(re.findall(r"[\w-]+", file.read_text("utf8")))
    return found


def used(css, wanted):
    """The rules whose names are wanted, with the blocks round them.

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
    own = FUNCTION.sub("", re.sub(r"\[[^\]]*\]", "", selector))
    return all(re.sub(r"\\(.)", r"\1", name) in wanted for name in NAME.findall(own))


def split(head):
    """The selectors of a rule: commas inside brackets part nothing."""
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
    """(head, body) of each rule; a statement without a block is (statement, None). Strings are left whole."""
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
    """The same in fewer bytes, where esbuild is at hand."""
    try:
        return build.minified(css)
    except build.Unavailable:
        return css


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
