"""Mark the tables that are too wide for a phone, so that each row becomes a card there.

The pass estimates the width of every table. In a table that does not fit, each cell gets the name of its
column in `data-label`, which the style sheet shows before it.
"""

import re
from html import escape, unescape

TABLE = re.compile(r"<table\b(?P<start>[^>]*)>(?P<inner>.*?)</table>", re.DOTALL)
CLASSES = re.compile(r"class=(['\"])(.*?)\1")
OWN = ("proof-chain", "concordance")  # these have their own cards
ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.DOTALL)
CELL = re.compile(r"(<t[dh]\b)([^>]*>)(.*?)(</t[dh]>)", re.DOTALL)
FORMULA = re.compile(r"<mjx-container.*?</mjx-container>", re.DOTALL)
HIDDEN = re.compile(r'<span class="visually-hidden">.*?</span>', re.DOTALL)
LETTERS = re.compile(r"<math\b.*?</math>", re.DOTALL)
NUMBER = "class='num'"  # tables that code cells print: smaller type and padding
ROOM = 358  # pixels: width of the text on a phone of 390 pixels
SIGN, EDGES = 7.2, 13  # pixels: average width of a character, padding of a cell
SMALL_SIGN, SMALL_EDGES = 6.7, 8


def stack(app, pages):
    """Mark the wide tables of all pages."""
    for file, text in pages.items():
        pages[file] = stacked(text)


def stacked(text):
    """Return the text of a page with its wide tables marked."""
    return TABLE.sub(changed, text)


def changed(match):
    """Return a table unchanged if it fits, else with labels.

    >>> table = "<table class='table'><thead><tr><th>{}</th></tr></thead><tr><td>a</td></tr></table>"
    >>> stacked(table.format("name")) == table.format("name")
    True
    >>> stacked(table.format("W" * 60)).partition("</thead>")[2]
    '<tr><td data-label="WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW">a</td></tr></table>'
    """
    classes = CLASSES.search(match["start"])
    head, end, body = match["inner"].partition("</thead>")
    rows = [CELL.findall(row) for row in ROW.findall(match["inner"])]
    if (
        not (end and classes)
        or any(name in classes[2].split() for name in OWN)
        or width(rows, NUMBER in body) <= ROOM
    ):
        return match[0]
    names = [words(cell) for _, _, cell, _ in CELL.findall(head)]

    def labelled(row):
        labels = iter(names)
        return CELL.sub(lambda cell: label(cell, next(labels, "")), row[0])

    start = match["start"].replace(classes[2], f"{classes[2]} stacked", 1)
    return f"<table{start}>{head}{end}{ROW.sub(labelled, body)}</table>"


def label(cell, name):
    """Return a cell with the name of its column; an empty cell gets no label and is not shown in a card."""
    name = escape(name) if words(cell[3]) else ""
    return f'{cell[1]} data-label="{name}"{cell[2]}{cell[3]}{cell[4]}'


def words(cell):
    """Return the text of a cell, with formulas as plain letters.

    >>> words('<p>slope &amp; <mjx-container><math><mi>p</mi></math></mjx-container></p>')
    'slope & p'
    """
    cell = FORMULA.sub(lambda formula: letters(formula[0]), HIDDEN.sub("", cell))
    return " ".join(unescape(re.sub(r"<[^>]*>", "", cell)).split())


def letters(formula):
    """Return the letters of a formula."""
    return re.sub(r"<[^>]*>|\s", "", "".join(LETTERS.findall(formula)))


def width(rows, small=False):
    """Return the least width of a table in pixels: the longest word, or unbreakable part, of each column."""
    sign, edges = (SMALL_SIGN, SMALL_EDGES) if small else (SIGN, EDGES)
    columns = zip(*([longest(cell) for _, _, cell, _ in row] for row in rows), strict=False)
    return sum(sign * max(column) + edges for column in columns)


def longest(cell):
    """Return the length of the longest part that must stay on one line, in characters.

    >>> longest("<p>a <em>longer</em> word</p>")
    6
    """
    sizes = [part.count("<mjx-c ") for formula in FORMULA.findall(cell) for part in formula.split("<wbr>")]
    said = unescape(re.sub(r"<[^>]*>", "", FORMULA.sub("", HIDDEN.sub("", cell))))
    return max([*sizes, *(len(word) for word in said.split())], default=0)


def setup(app):
    return {"parallel_read_safe": True, "parallel_write_safe": True}
