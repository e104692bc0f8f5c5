"""Draw the preview picture of a page for shared links: title and first figure, 1200 × 630 pixels.

A pass of `press.html`; the pictures are PNG files in `_static/cards`, and `press.sphinx.reader` links to
them.
"""

import hashlib
import json
import re
import tempfile
from html import escape, unescape
from pathlib import Path

from ocolib.plots import FONTS
from press import ROOT
from press.js import build

FOLDER = "_static/cards"
WIDE, HIGH = 1200, 630
FIGURE = re.compile(r'src="[^"]*?(?:_images/(?P<image>[\w-]+?)|figures/static/(?P<moving>[\w-]+))\.svg"')
OPENING = re.compile(r"<svg\b[^>]*>", re.DOTALL)
MEASURES = re.compile(r'viewBox="([-\d.]+) ([-\d.]+) ([\d.]+) ([\d.]+)"')
TITLE = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
KICKER = re.compile(r'<p class="page-kicker">(.*?)</p>')
CARD = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
width="{WIDE}" height="{HIGH}" font-family="Companion Sans" fill="#1d2229">
<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/><rect width="14" height="{HIGH}" fill="#17568c"/>
<text x="64" y="72" font-size="28" fill="#565e6a">{kicker}</text>
{title}
{figure}
</svg>"""


def available():
    """Return whether pictures can be drawn here."""
    return not isinstance(build.tried(), build.Unavailable)


def name(page):
    """Return the path of a page's card in the built book."""
    return f"{FOLDER}/{page.replace('/', '-')}.png"


def of(page, body, root):
    """Return the card of a page: its own if it has a figure, otherwise that of the first page."""
    return name(page if FIGURE.search(body) else root)


def write(app, pages):
    """Draw the cards of all written pages that have a figure."""
    if not available():
        return
    html = Path(app.outdir)
    note = html.parent / ".cards.json"
    known = json.loads(note.read_text("utf8")) if note.exists() else {}
    (html / FOLDER).mkdir(parents=True, exist_ok=True)
    jobs = []
    for file, text in pages.items():
        page = file.relative_to(html).with_suffix("").as_posix()
        found = FIGURE.search(text)
        if not page.startswith("book/") or not found:
            continue
        svg = card(app, text, picture(html, found))
        digest = hashlib.sha256(svg.encode()).hexdigest()
        target = html / name(page)
        if known.get(page) != digest or not target.exists():
            jobs.append((svg, str(target)))
        known[page] = digest
    if jobs:
        draw(jobs)
    note.write_text(json.dumps(known, sort_keys=True), "utf8")


def picture(html, found):
    """Return the SVG of the figure that was found on a page."""
    if found["image"]:
        return (html / "_images" / f"{found['image'].removesuffix('-dark')}.svg").read_text("utf8")
    return (ROOT / "book" / "_static" / "figures" / "static" / f"{found['moving']}.svg").read_text("utf8")


def card(app, page, svg):
    """Return the card of a page as SVG."""
    title = words(TITLE.search(page)[1]) if TITLE.search(page) else app.config.project
    kicker = words(KICKER.search(page)[1]) if KICKER.search(page) else "A book that runs"
    lines = broken(title)
    rows = "".join(
        f'<text x="64" y="{140 + 62 * row}" font-size="54" font-weight="bold">{escape(line)}</text>'
        for row, line in enumerate(lines)
    )
    top = 112 + 62 * len(lines)
    return CARD.format(
        WIDE=WIDE,
        HIGH=HIGH,
        kicker=escape(kicker),
        title=rows,
        figure=placed(svg, 64, top, 1072, HIGH - top - 24),
    )


def words(markup):
    """Return the visible text of a title, without the hidden MathML of formulas.

    >>> words('Regret &amp; <em>bounds</em>')
    'Regret & bounds'
    """
    markup = re.sub(
        r"<(mjx-assistive-mml|a class=\"headerlink\").*?</(mjx-assistive-mml|a)>", "", markup, flags=re.DOTALL
    )
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", markup))).strip()


def broken(title, room=40):
    """Break a title into one or two lines.

    >>> broken("How far is each theorem from the truth, really?")
    ['How far is each theorem from the truth,', 'really?']
    """
    lines = [""]
    for word in title.split():
        if lines[-1] and len(lines[-1]) + len(word) >= room:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[:2] if len(lines) <= 2 else [lines[0], f"{lines[1]} …"]


def placed(svg, x, y, wide, high):
    """Return a figure scaled to fit a rectangle and centred in it."""
    opening = OPENING.search(svg)
    measures = MEASURES.search(opening[0])[0]
    inner = svg[opening.end() :].rpartition("</svg>")[0]
    box = f'x="{x}" y="{y}" width="{wide}" height="{high}" {measures}'
    return f'<svg {box} preserveAspectRatio="xMidYMid meet" font-size="13" fill="#000000">{inner}</svg>'


def draw(jobs):
    """Convert SVG cards to PNG files with node; `jobs` are pairs (svg, path)."""
    fonts = [str(file) for file in sorted(FONTS.glob("*.ttf"))]
    with tempfile.TemporaryDirectory() as spare:
        file = Path(spare, "jobs.json")
        file.write_text(
            json.dumps({"packages": str(build.packages()), "fonts": fonts, "cards": jobs}), "utf8"
        )
        build.run(build.SCRIPTS, build.node_wheel()[0], "cards/draw.mjs", file, error=RuntimeError)


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
