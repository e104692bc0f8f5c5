"""Draw the book's figures in the browser: the part of matplotlib that the pages use, with NumPy alone.

The worker installs this module as `matplotlib.pyplot`, so that `ocolib.plots` works unchanged. A figure
becomes a list of shapes, [tag, attributes, content], in points, which figure.js turns into SVG. A method that
is not supported raises an error that says so. Axis ranges follow matplotlib's rules.
"""

import datetime
import json
import math
import re
import sys
import types
from contextlib import contextmanager

import numpy as np

EM = 10.0  # font size in points
GRID, INK, FRAME = "#e5e5e5", "#222222", "#777777"
CYCLE = ["#0067a5", "#c44e00", "#00805e", "#8a4fbf", "#b8356b", "#a07800"]
NAMES = {"white": "#ffffff", "black": "#000000", "red": "#d62728", "blue": "#1f77b4", "green": "#2ca02c"}
NAMES |= {"grey": "#808080", "gray": "#808080", "orange": "#ff7f0e", "purple": "#9467bd"}
NAMES |= {"w": "#ffffff", "k": "#000000", "r": "#d62728", "b": "#1f77b4", "g": "#2ca02c"}
DASHES = {"--": (3.7, 1.6), ":": (1, 1.65), "-.": (6.4, 1.6, 1, 1.6)}
DASHES |= {"dashed": DASHES["--"], "dotted": DASHES[":"], "dashdot": DASHES["-."]}
MARKERS = "o.s^vDx+*X"
SHORT = {"lw": "linewidth", "ls": "linestyle", "ms": "markersize", "mfc": "markerfacecolor", "c": "color"}
SHORT |= {"mec": "markeredgecolor", "mew": "markeredgewidth", "size": "fontsize", "weight": "fontweight"}
SHORT |= {"ha": "horizontalalignment", "va": "verticalalignment", "fc": "facecolor", "ec": "edgecolor"}
LINE = {"color", "linewidth", "linestyle", "alpha", "zorder", "clip_on", "label", "solid_capstyle"}
MARK = {"marker", "markersize", "markerfacecolor", "markeredgecolor", "markeredgewidth", "drawstyle"}
AREA = {"color", "facecolor", "edgecolor", "linewidth", "linestyle", "alpha", "zorder", "clip_on", "label"}
WORDS = {"color", "fontsize", "fontweight", "fontstyle", "horizontalalignment", "verticalalignment"}
WORDS |= {"rotation", "bbox", "zorder", "alpha", "clip_on", "multialignment", "linespacing"}

figures = []  # not shown yet
post = None  # function (kind, text) that sends to the page, set by `install`
width = 460.8  # of a figure in points: 6.4 inches, or less on a phone


class Unknown(AttributeError):
    """A feature of matplotlib that the browser does not support."""


def unknown(what):
    """Return the error for a feature that is not supported."""
    return Unknown(
        f"The browser draws with a small part of matplotlib, which has no {what}: run this cell in Jupyter."
    )


def known(given, allowed, method):
    """Return the keywords by their long names; raise an error for one that is not supported."""
    found = {SHORT.get(name, name): value for name, value in given.items()}
    for name in found.keys() - allowed:
        raise unknown(f"keyword {name} for {method}")
    return found


def hexadecimal(color):
    """Return a colour as #rrggbb, or "none"."""
    if color is None or (isinstance(color, str) and color == "none"):
        return "none"
    if not isinstance(color, str):
        return "#" + "".join(f"{round(255 * float(part)):02x}" for part in list(color)[:3])
    color = NAMES.get(color, color)
    if re.fullmatch(r"C\d", color):
        return CYCLE[int(color[1]) % len(CYCLE)]
    if re.fullmatch(r"#[0-9a-fA-F]{3}", color):
        color = "#" + "".join(2 * digit for digit in color[1:])
    if re.fullmatch(r"#[0-9a-fA-F]{6}", color):
        return color.lower()
    try:
        return hexadecimal(3 * [float(color)])
    except ValueError:
        raise ValueError(f"the browser does not know the colour {color!r}: write it as '#rrggbb'") from None


def column(values):
    """Return values as a one-dimensional array of numbers."""
    return np.atleast_1d(plain(values)).ravel()


def plain(values):
    """Return values as numbers; dates become days since 1970, as in matplotlib."""
    values = np.asarray(values)
    if values.dtype.kind == "M" or (values.dtype == object and isinstance(values.ravel()[0], datetime.date)):
        return values.astype("datetime64[D]").astype(float)
    return values.astype(float)


def are_dates(values):
    """Return whether the values are dates."""
    first = values
    while np.ndim(first) and len(first):
        first = first[0]
    return isinstance(first, datetime.date | np.datetime64)


# ------------------------------------------------ text with a little mathematics

SIGNS = {"eta": "η", "gamma": "γ", "sqrt": "√", "le": "≤", "ge": "≥", "cdot": "·", "times": "×", "infty": "∞"}
SIGNS |= {
    "alpha": "α",
    "beta": "β",
    "lambda": "λ",
    "mu": "μ",
    "sigma": "σ",
    "pi": "π",
    "tau": "τ",
    "ell": "ℓ",
}
SIGNS |= {
    "delta": "δ",
    "epsilon": "ε",
    "theta": "θ",
    "rho": "ρ",
    "phi": "φ",
    "sum": "∑",
    "log": "log ",
    "ln": "ln ",
}
SIGNS |= {
    "left": "",
    "right": "",
    "quad": " ",
    ",": " ",
    ";": " ",
    "in": "∈",
    "to": "→",
    "pm": "±",
    "approx": "≈",
}
SIGNS |= {"exp": "exp ", "max": "max ", "min": "min ", "Delta": "Δ", "Phi": "Φ", "Sigma": "Σ", "star": "*"}
ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303"}
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([_^])|([{}])|(.)", re.DOTALL)


def runs(text):
    """Split a line with formulas into pieces [text, -1 for an index, 1 for an exponent or 0, italic?].

    >>> runs("play $w_{t+1}$")
    [['play ', 0, False], ['w', 0, True], ['t', -1, True], ['+1', -1, False]]
    """
    found = []

    def add(words, level, slanted):
        if found and found[-1][1:] == [level, slanted]:
            found[-1][0] += words
        elif words:
            found.append([words, level, slanted])

    for place, part in enumerate(re.split(r"(?<!\\)\$", text)):
        if place % 2 == 0:
            add(part.replace(r"\$", "$"), 0, False)
            continue
        levels, following, accent = [0], 0, ""
        for command, script, brace, plain in TOKEN.findall(part):
            if script:
                following = -1 if script == "_" else 1
            elif brace == "{":
                levels.append(following or levels[-1])
                following = 0
            elif brace == "}":
                levels.pop()
            elif command in ACCENTS:
                accent = ACCENTS[command]
            elif not command.startswith(("math", "text", "rm")):
                sign = SIGNS.get(command, command) if command else plain.replace("-", "−").strip()
                if sign:
                    add(sign + accent, following or levels[-1], sign.isalpha() and len(sign) == 1)
                    following, accent = 0, ""
    return found


def measure(text, size):
    """Return the approximate width of a line of text."""
    total = 0.0
    for words, level, _ in runs(text):
        em = size * (0.72 if level else 1)
        for sign in words:
            if sign in "iljtf.,:;'|!()[] ":
                total += 0.31 * em
            elif sign in "mwMW∑√":
                total += 0.85 * em
            else:
                total += (0.66 if sign.isupper() else 0.55) * em
    return total


# ------------------------------------------------ what is drawn


class Artist:
    """An element of a figure, with its style; a larger `zorder` is drawn on top."""

    def __init__(self, style, zorder):
        self.style, self.zorder = style, style.get("zorder", zorder)

    def opacity(self):
        """Return the opacity as an attribute, if there is one."""
        return {"opacity": number(self.style["alpha"])} if self.style.get("alpha") is not None else {}


def number(value):
    """Return a number as text with at most two decimals."""
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def path(points, closed=False):
    """Return the `d` of a path; points that are not finite split it, points that hardly move are dropped."""
    words, last = [], None
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            last = None
            continue
        if last is not None and abs(x - last[0]) + abs(y - last[1]) < 0.25 and not closed:
            continue
        words.append(f"{'M' if last is None else 'L'}{number(x)} {number(y)}")
        last = x, y
    return "".join(words) + ("Z" if closed and words else "")


class Line(Artist):
    """A curve with or without markers; `across` is "x" or "y" for lines over the whole width or height."""

    def __init__(self, x, y, style, across=None):
        super().__init__(style, 2)
        self.x, self.y, self.across = x, y, across

    def get_color(self):
        return self.style["color"]

    def get_xdata(self):
        return self.x

    def get_ydata(self):
        return self.y

    def shapes(self, axes):
        style, ink = self.style, hexadecimal(self.style["color"])
        points = axes.place(*stepped(self.x, self.y, style.get("drawstyle")), self.across)
        wide = style.get("linewidth", 2.0)
        pattern = style.get("linestyle", "-")
        if pattern not in ("", "none", "None", " ") and wide:
            look = {
                "d": path(clamped(points, axes)),
                "stroke": ink,
                "fill": "none",
                "stroke-width": number(wide),
            }
            if pattern in DASHES:
                look["stroke-dasharray"] = " ".join(number(part * wide) for part in DASHES[pattern])
            yield ["path", look | {"stroke-linejoin": "round"} | self.opacity()]
        marker = style.get("marker")
        if marker and marker != "none":
            across = style.get("markersize", 6.0) * (0.5 if marker == "." else 1)
            inside = [p for p in axes.place(self.x, self.y, self.across) if np.isfinite(p).all()]
            shape = "".join(mark(marker, x, y, across / 2) for x, y in inside)
            look = {"d": shape, "stroke": hexadecimal(style.get("markeredgecolor", style["color"]))}
            look["fill"] = (
                hexadecimal(style.get("markerfacecolor", style["color"])) if marker not in "x+" else "none"
            )
            yield [
                "path",
                look | {"stroke-width": number(style.get("markeredgewidth", 1.0))} | self.opacity(),
            ]


def stepped(x, y, how):
    """Return the corners of the steps if a line is drawn as steps."""
    if how == "steps-post":
        return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    if how == "steps-pre":
        return np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]
    return x, y


def clamped(points, axes):
    """Limit coordinates far outside the figure, which browsers draw badly."""
    return np.clip(points, -5 * width, 6 * width)


def mark(kind, x, y, r):
    """Return the path of a marker."""
    if kind in "o.":
        half = f"a{number(r)} {number(r)} 0 1 0"
        return f"M{number(x - r)} {number(y)}{half} {number(2 * r)} 0{half} {number(-2 * r)} 0Z"
    corners = {
        "s": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        "D": [(0, -1), (1, 0), (0, 1), (-1, 0)],
        "^": [(0, -1), (1, 1), (-1, 1)],
        "v": [(0, 1), (1, -1), (-1, -1)],
        "*": [
            (
                math.sin(k * math.pi / 5) * (1 if k % 2 == 0 else 0.4),
                -math.cos(k * math.pi / 5) * (1 if k % 2 == 0 else 0.4),
            )
            for k in range(10)
        ],
    }
    half = [(-1, -0.5), (-0.5, -1), (0, -0.5), (0.5, -1), (1, -0.5), (0.5, 0)]
    corners["X"] = half + [(-a, -b) for a, b in half]
    if kind in corners:
        return path([(x + r * a, y + r * b) for a, b in corners[kind]], closed=True)
    d = r if kind == "+" else r * 0.71
    ends = [((-d, 0), (d, 0)), ((0, -d), (0, d))] if kind == "+" else [((-d, -d), (d, d)), ((-d, d), (d, -d))]
    return "".join(path([(x + a, y + b), (x + c, y + e)]) for (a, b), (c, e) in ends)


class Area(Artist):
    """One or several filled polygons, separated by nan; `across` as for lines.

    If it is not `closed`, the outline stays open.
    """

    def __init__(self, x, y, style, across=None, zorder=1, pale=1.0, closed=True):
        super().__init__(style, zorder)
        self.x, self.y, self.across, self.pale, self.closed = x, y, across, pale, closed

    def shapes(self, axes):
        style = self.style
        fill = style.get("facecolor", style.get("color", CYCLE[0]))
        edge = style.get("edgecolor", style.get("color") if style.get("linewidth") else "none")
        look = {"d": path(clamped(axes.place(self.x, self.y, self.across), axes), closed=self.closed)}
        look |= {"fill": hexadecimal(fill), "stroke": hexadecimal(edge)}
        look["stroke-width"] = number(style.get("linewidth") or 0)
        if self.pale < 1:
            look["fill-opacity"] = number(self.pale)
        yield ["path", look | self.opacity()]


def cut(x, y, z):
    """Cut a grid of heights at 0; return the polygons above it, and the contour line.

    Each is an array of x and y, with pieces separated by nan.
    """
    polygons, segments, nothing = [], [], (math.nan, math.nan)
    up = z >= 0
    whole = up[:-1, :-1] & up[:-1, 1:] & up[1:, :-1] & up[1:, 1:]
    for i, row in enumerate(whole):
        ends = np.flatnonzero(np.diff(np.r_[False, row, False]))
        for a, b in zip(ends[::2], ends[1::2], strict=True):
            polygons += [(x[a], y[i]), (x[b], y[i]), (x[b], y[i + 1]), (x[a], y[i + 1]), nothing]
    some = up[:-1, :-1] | up[:-1, 1:] | up[1:, :-1] | up[1:, 1:]
    for i, j in np.argwhere(some & ~whole):
        corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        piece, line = [], []
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
            if up[a]:
                piece.append((x[a[1]], y[a[0]]))
            if up[a] != up[b]:
                s = z[a] / (z[a] - z[b])
                piece.append((x[a[1]] + s * (x[b[1]] - x[a[1]]), y[a[0]] + s * (y[b[0]] - y[a[0]])))
                line.append(piece[-1])
        polygons += [*piece, nothing]
        for start in range(0, len(line), 2):
            segments += [*line[start : start + 2], nothing]
    return [np.array(found or [nothing]).T for found in (polygons, segments)]


class Text(Artist):
    """Words at a point of the data or, with `inside`, at a fraction of the axes; `shift` is in points."""

    def __init__(self, x, y, text, style, shift=(0, 0), inside=False):
        super().__init__(style, 3)
        self.x, self.y, self.text, self.shift, self.inside = x, y, str(text), shift, inside

    def get_text(self):
        return self.text

    def get_position(self):
        return self.x, self.y

    def box(self, axes):
        """Return left, top, right and bottom of the words, and the x at which they are anchored."""
        x, y = axes.share(self.x, self.y) if self.inside else axes.place([self.x], [self.y])[0]
        x, y = x + self.shift[0], y - self.shift[1]
        size, lines = self.style.get("fontsize", EM), self.text.split("\n")
        wide, high = max(measure(line, size) for line in lines), 1.2 * size * len(lines)
        left = (
            x - wide * {"left": 0, "center": 0.5, "right": 1}[self.style.get("horizontalalignment", "left")]
        )
        how = self.style.get("verticalalignment", "baseline")
        top = (
            y
            - {
                "top": 0,
                "center": high / 2,
                "center_baseline": high / 2,
                "bottom": high,
                "baseline": high - 0.25 * size,
            }[how]
        )
        return left, top, left + wide, top + high, x

    def shapes(self, axes):
        left, top, right, bottom, x = self.box(axes)
        if not (math.isfinite(left) and math.isfinite(top)) or not self.text.strip():
            return
        style, size = self.style, self.style.get("fontsize", EM)
        if style.get("bbox"):
            frame = {SHORT.get(name, name): value for name, value in style["bbox"].items()}
            pad = 0.3 * size if "boxstyle" in frame else frame.get("pad", 4)
            look = {
                "x": left - pad,
                "y": top - pad,
                "width": right - left + 2 * pad,
                "height": bottom - top + 2 * pad,
            }
            look = {name: number(value) for name, value in look.items()}
            look |= {
                "rx": "4" if "boxstyle" in frame else "0",
                "fill": hexadecimal(frame.get("facecolor", "white")),
            }
            yield ["rect", look | {"stroke": hexadecimal(frame.get("edgecolor", "black"))}]
        for row, line in enumerate(self.text.split("\n")):
            yield words(line, x, top + (1.2 * row + 0.95) * size, style)


def words(line, x, y, style, size=EM):
    """Return one line of text as a shape; indices, exponents and italics are separate pieces."""
    side = {"left": "start", "center": "middle", "right": "end"}[style.get("horizontalalignment", "left")]
    size = style.get("fontsize", size)
    look = {"x": number(x), "y": number(y), "text-anchor": side, "font-size": number(size)}
    look["fill"] = hexadecimal(style.get("color", INK))
    if style.get("fontweight") in ("bold", 700):
        look["font-weight"] = "bold"
    if style.get("alpha") is not None:
        look["opacity"] = number(style["alpha"])
    turn = {"vertical": 90, "horizontal": 0}.get(style.get("rotation", 0), style.get("rotation", 0))
    if turn:
        look["transform"] = f"rotate({number(-turn)} {number(x)} {number(y)})"
    pieces, height = [], 0.0
    for text, level, slanted in runs(line):
        wanted = size * {-1: 0.2, 0: 0.0, 1: -0.35}[level]
        piece = {"dy": number(wanted - height)}
        if level:
            piece["font-size"] = number(0.72 * size)
        if slanted:
            piece["font-style"] = "italic"
        pieces.append([text, piece])
        height = wanted
    return ["text", look, pieces]


class Arrow(Artist):
    """A line with an arrowhead, from one point of the data to another."""

    def __init__(self, tail, tip, look):
        super().__init__({}, 3)
        self.tail, self.tip, self.look = (
            tail,
            tip,
            {SHORT.get(name, name): value for name, value in look.items()},
        )

    def shapes(self, axes):
        tail, tip = axes.place(*np.transpose([self.tail, self.tip]))
        way = tip - tail
        length = float(np.hypot(*way))
        if not length:
            return
        way = way / length
        tail, tip = tail + self.look.get("shrinkA", 2) * way, tip - self.look.get("shrinkB", 2) * way
        ink, wide = hexadecimal(self.look.get("color", "black")), self.look.get("linewidth", 1.0)
        side, size = np.array([-way[1], way[0]]), 3 + 2 * wide
        yield ["path", {"d": path([tail, tip]), "stroke": ink, "fill": "none", "stroke-width": number(wide)}]
        if "arrowstyle" in self.look and ">" in self.look["arrowstyle"]:
            ends = [tip - size * way + size / 2 * side, tip, tip - size * way - size / 2 * side]
            filled = "|" in self.look["arrowstyle"]
            look = {"d": path(ends, closed=filled), "stroke": ink, "stroke-width": number(wide)}
            yield ["path", look | {"fill": ink if filled else "none", "stroke-linejoin": "round"}]


# ------------------------------------------------ axes


class Axis:
    """One direction of a plot: its scale, range, ticks and label."""

    def __init__(self, name):
        self.name, self.scale, self.base, self.label, self.margin = name, "linear", 10, "", 0.05
        self.data, self.sticky = [], []
        self.view, self.auto, self.stale, self.inverted = (0.0, 1.0), True, False, False
        self.ticks = self.ticklabels = None
        self.fontsize, self.grid, self.dates = EM, True, False

    def to(self, values):
        """Return values on the scale of the axis: unchanged, or as logarithms."""
        values = np.asarray(values, dtype=float)
        if self.scale == "linear":
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(values > 0, np.log10(np.maximum(values, 1e-320)), np.nan)

    def back(self, value):
        """Return the value at a position on the scale of the axis."""
        return value if self.scale == "linear" else 10.0**value

    def add(self, *values):
        """Add data that the automatic range must include."""
        self.data += [column(part) for part in values]
        self.stale = self.stale or self.auto

    def range(self):
        """Return the lower and the upper limit, independent of direction."""
        if self.stale:
            self.stale = False
            self.view = self.fit()
        return self.view

    def fit(self):
        """Return the automatic range of the data, with margins."""
        values = np.concatenate([np.zeros(0), *self.data])
        values = values[np.isfinite(values)]
        log = self.scale == "log"
        if log:
            values = values[values > 0]
        if not len(values):
            return (1.0, 10.0) if log else (0.0, 1.0)
        low, high = float(values.min()), float(values.max())
        if low == high:
            if log:
                power = math.log10(low)
                low, high = 10.0 ** (math.ceil(power) - 1), 10.0 ** (math.floor(power) + 1)
            else:
                room = 0.05 * abs(low) or 0.05
                low, high = low - room, high + room
        a, b = float(self.to(low)), float(self.to(high))
        room = self.margin * (b - a)
        below = [edge for edge in self.sticky if abs(edge - low) <= 1e-9 * max(1.0, abs(high - low))]
        above = [edge for edge in self.sticky if abs(edge - high) <= 1e-9 * max(1.0, abs(high - low))]
        return (low if below else self.back(a - room)), (high if above else self.back(b + room))

    def limit(self, low=None, high=None):
        """Set one or both limits."""
        if low is not None and high is None and np.ndim(low):
            low, high = low
        self.dates = self.dates or are_dates(low)
        old = self.limits()
        low, high = (old[0] if low is None else plain(low)[()]), (old[1] if high is None else plain(high)[()])
        self.inverted = low > high
        self.view, self.auto, self.stale = (min(low, high), max(low, high)), False, False

    def limits(self):
        """Return the limits in the direction of the axis."""
        low, high = self.range()
        return (high, low) if self.inverted else (low, high)

    def rescale(self, scale, base=10):
        """Set a linear or logarithmic scale."""
        if scale not in ("linear", "log"):
            raise unknown(f"scale {scale!r}")
        self.scale, self.base, self.stale = scale, base, self.auto

    def set_ticks(self, ticks, labels=None, fontsize=None):
        """Set the ticks, and extend the range to include them."""
        self.ticks = column(ticks) if len(ticks) else np.zeros(0)
        self.ticklabels = None if labels is None else [str(label) for label in labels]
        self.fontsize = fontsize or self.fontsize
        if len(self.ticks):
            low, high = self.range()
            self.view = min(low, float(self.ticks.min())), max(high, float(self.ticks.max()))

    def marks(self, length):
        """Return [(value, label)] of the ticks, for an axis of this length in points."""
        low, high = self.range()
        if self.ticks is not None:
            values = self.ticks
        elif self.dates:
            return years(low, high, max(1, min(9, int(length / (3 * EM)))))
        elif self.scale == "log":
            values = powers(low, high, self.base)
        else:
            values = rounds(low, high, max(1, min(9, int(length / (EM * (3 if self.name == "x" else 2))))))
        names = self.ticklabels or numerals(values, self.scale, self.base)
        slack = 1e-9 * (self.to(high) - self.to(low))
        shown = (self.to(values) >= self.to(low) - slack) & (self.to(values) <= self.to(high) + slack)
        return [(value, name) for value, name, is_in in zip(values, names, shown, strict=False) if is_in]


def rounds(low, high, most):
    """Return round numbers in a range, with at most `most` steps."""
    if not high > low:
        return np.array([low])
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 2.5, 5, 10, 20) if unit * k >= rough * (1 - 1e-9))
    return step * np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)


def years(low, high, most):
    """Return [(day, label)]: first days of years in a range of days since 1970."""
    first, last = (1970 + day / 365.2425 for day in (low, high))
    if last - first < 2:
        return [(day, str(np.datetime64(int(day), "D"))) for day in rounds(low, high, max(1, most // 3))]
    chosen = np.unique(np.round(rounds(first, last, most))).astype(int)
    found = [(plain(datetime.date(year, 1, 1))[()], str(year)) for year in chosen]
    return [(day, name) for day, name in found if low <= day <= high]


def powers(low, high, base):
    """Return powers of the base in a range; if there are fewer than two, also small multiples of them."""
    first, last = math.floor(math.log(low, base) - 1e-9), math.ceil(math.log(high, base) + 1e-9)
    stride = max(1, (last - first) // 8)
    found = float(base) ** np.arange(first, last + 1, stride)
    if ((found >= low) & (found <= high)).sum() >= 2:
        return found
    return np.sort(
        np.outer(
            float(base) ** np.arange(first, last + 1), [1, 2, 3, 4, 5, 6, 8] if base == 10 else [1]
        ).ravel()
    )


def numerals(values, scale, base):
    """Return the labels of ticks."""
    if scale == "log":
        return [power(value, base) for value in values]
    steps = np.diff(np.unique(values))
    digits = 0
    while (
        digits < 8
        and len(values)
        and not np.allclose(
            values, np.round(values, digits), rtol=0, atol=1e-6 * (steps.min() if len(steps) else 1)
        )
    ):
        digits += 1
    return [f"{value + 0.0:.{digits}f}".replace("-", "−") for value in np.round(values, digits)]


def power(value, base):
    """Return the label of a tick on a logarithmic axis."""
    exponent = math.log(value, base)
    if abs(exponent - round(exponent)) < 1e-9:
        return f"{base}$^{{{round(exponent)}}}$"
    if 1e-3 <= value < 1e4:
        return f"{value:g}"
    whole = math.floor(math.log10(value))
    return f"{value / 10.0**whole:g}×10$^{{{whole}}}$"


class Axes:
    """One panel of a figure, with the methods that the pages use; others raise an error that says so."""

    def __init__(self, figure):
        self.figure, self.artists, self.title, self.title_style = figure, [], "", {}
        self.xaxis, self.yaxis = Axis("x"), Axis("y")
        self.shown, self.equal, self.turn = True, False, 0
        self.box = 0.0, 0.0, 1.0, 1.0  # left, top, width, height in points
        self.transAxes, self.transData = "axes", "data"

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise unknown(f"ax.{name}")

    @property
    def lines(self):
        return [part for part in self.artists if isinstance(part, Line)]

    @property
    def texts(self):
        return [part for part in self.artists if isinstance(part, Text)]

    def put(self, artist):
        """Add an artist."""
        self.artists.append(artist)
        return artist

    # --- curves and areas

    def next_color(self):
        """Return the next colour of the cycle."""
        self.turn += 1
        return CYCLE[(self.turn - 1) % len(CYCLE)]

    def plot(self, *given, **style):
        """Plot curves as matplotlib does: x and y, or y alone, with a format such as "o-" or "--"."""
        style = known(style, LINE | MARK, "plot")
        values = [part for part in given if not isinstance(part, str)]
        for form in (part for part in given if isinstance(part, str)):
            style = styled(form) | style
        if not 1 <= len(values) <= 2:
            raise TypeError(f"plot needs x and y for one curve, got {len(values)} arrays")
        self.xaxis.dates = self.xaxis.dates or (len(values) == 2 and are_dates(values[0]))
        y = plain(values[-1])
        x = plain(values[0]) if len(values) == 2 else np.arange(len(y), dtype=float)
        x, y = np.atleast_1d(x), np.atleast_1d(y)
        if len(x) != len(y):
            raise ValueError(
                f"x and y must have same first dimension, but have shapes {x.shape} and {y.shape}"
            )
        made = []
        count = max(x.shape[1] if x.ndim > 1 else 1, y.shape[1] if y.ndim > 1 else 1)
        for k in range(count):
            own = dict(style)
            if own.get("color") is None:
                own["color"] = self.next_color()
            one = Line(
                x[:, k % x.shape[1]] if x.ndim > 1 else x, y[:, k % y.shape[1]] if y.ndim > 1 else y, own
            )
            self.xaxis.add(one.x), self.yaxis.add(one.y)
            made.append(self.put(one))
        return made

    def step(self, x, y, *form, where="pre", **style):
        return self.plot(x, y, *form, drawstyle=f"steps-{where}", **style)

    def scatter(self, x, y, s=36, c=None, **style):
        style = known(style, LINE | AREA | MARK, "scatter")
        color = style.pop("color", c) if c is None or isinstance(c, str) else "C0"
        color = style.pop("facecolor", color) or self.next_color()
        look = {
            "color": color,
            "linestyle": "none",
            "marker": style.pop("marker", "o"),
            "markersize": math.sqrt(np.mean(s)),
        }
        line = self.put(Line(column(x), column(y), look | {"zorder": 1} | style))
        self.xaxis.add(line.x), self.yaxis.add(line.y)
        return line

    def axhline(self, y=0, **style):
        style = {"color": CYCLE[0]} | known(style, LINE, "axhline")
        self.yaxis.add(y)
        return self.put(Line(np.array([0.0, 1.0]), np.array([y, y], dtype=float), style, "x"))

    def axvline(self, x=0, **style):
        style = {"color": CYCLE[0]} | known(style, LINE, "axvline")
        self.xaxis.add(x)
        return self.put(Line(np.array([x, x], dtype=float), np.array([0.0, 1.0]), style, "y"))

    def axvspan(self, low, high, **style):
        style = {"color": CYCLE[0]} | known(style, AREA, "axvspan")
        self.xaxis.add([low, high])
        return self.put(
            Area(np.array([low, low, high, high], dtype=float), np.array([0.0, 1, 1, 0]), style, "y")
        )

    def axhspan(self, low, high, **style):
        style = {"color": CYCLE[0]} | known(style, AREA, "axhspan")
        self.yaxis.add([low, high])
        return self.put(
            Area(np.array([0.0, 1, 1, 0]), np.array([low, low, high, high], dtype=float), style, "x")
        )

    def hlines(self, y, xmin, xmax, **style):
        for level, a, b in zip(*np.broadcast_arrays(column(y), column(xmin), column(xmax)), strict=True):
            self.plot([a, b], [level, level], **({"color": CYCLE[0]} | {"lw": 1.5} | style))

    def vlines(self, x, ymin, ymax, **style):
        for place, a, b in zip(*np.broadcast_arrays(column(x), column(ymin), column(ymax)), strict=True):
            self.plot([place, place], [a, b], **({"color": CYCLE[0]} | {"lw": 1.5} | style))

    def stairs(self, values, edges, baseline=0, **style):
        style = {"linewidth": 1.0} | known(style, AREA, "stairs")
        values, edges = column(values), column(edges)
        x, y = np.repeat(edges, 2)[1:-1], np.repeat(values, 2)
        if baseline is not None:
            x, y = np.r_[x[0], x, x[-1]], np.r_[baseline, y, baseline]
            self.yaxis.sticky.append(baseline)
        self.xaxis.add(x), self.yaxis.add(y)
        color = style.pop("color", None) or self.next_color()
        look = {"facecolor": "none", "edgecolor": color} | style
        return self.put(Area(x, y, look, closed=False))

    def contour(self, x, y, z, levels, colors, **style):
        """Draw the contour line at one level."""
        (level,), style = levels, known(style, LINE, "contour")
        _, segments = cut(column(x), column(y), np.asarray(z, dtype=float) - level)
        look = {"facecolor": "none", "edgecolor": colors[0], "linewidth": 1.5} | style
        return self.field(x, y, Area(*segments, look, zorder=2, closed=False))

    def contourf(self, x, y, z, levels, colors):
        """Fill the region where a function is above one level."""
        if len(levels) != 2 or levels[1] != np.inf:
            raise unknown("contourf except for one level and above")
        above, _ = cut(column(x), column(y), np.asarray(z, dtype=float) - levels[0])
        look = {"facecolor": colors[0], "edgecolor": colors[0], "linewidth": 0.6}  # hides seams
        return self.field(x, y, Area(*above, look, closed=False))

    def field(self, x, y, area):
        """Add an area over a grid, without margins around it."""
        self.xaxis.add(x), self.yaxis.add(y)
        self.xaxis.margin = self.yaxis.margin = 0.0
        return self.put(area)

    def fill(self, x, y, **style):
        style = known(style, AREA, "fill")
        style.setdefault("color", style.get("facecolor") or self.next_color())
        x, y = column(x), column(y)
        self.xaxis.add(x), self.yaxis.add(y)
        return self.put(Area(x, y, style))

    def fill_between(self, x, y1, y2=0, step=None, **style):
        style = known(style, AREA, "fill_between")
        style.setdefault("color", style.get("facecolor") or self.next_color())
        x, low, high = np.broadcast_arrays(column(x), column(y1), column(y2))
        if step:
            (_, low), (x, high) = stepped(x, low, f"steps-{step}"), stepped(x, high, f"steps-{step}")
        self.xaxis.add(x), self.yaxis.add(low, high)
        return self.put(Area(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]), style))

    def bar(self, x, height, width=0.8, bottom=0, **style):
        return self.bars(x, height, width, bottom, style, "bar")

    def barh(self, y, width, height=0.8, left=0, **style):
        return self.bars(y, width, height, left, style, "barh")

    def bars(self, middle, length, thick, start, style, method):
        """Draw bars, vertical for `bar` and horizontal for `barh`."""
        style = known(style, AREA, method)
        colors = style.pop("color", None)
        parts = np.broadcast_arrays(column(middle), column(length), column(thick), column(start))
        if colors is None:
            colors = self.next_color()
        if isinstance(colors, str):
            colors = [colors] * len(parts[0])
        made = []
        for at, long, wide, foot, color in zip(*parts, colors, strict=False):
            across, along = at + wide / 2 * np.array([-1, -1, 1, 1]), foot + long * np.array([0, 1, 1, 0])
            x, y = (across, along) if method == "bar" else (along, across)
            (self.yaxis if method == "bar" else self.xaxis).sticky.append(foot)
            self.xaxis.add(x), self.yaxis.add(y)
            made.append(self.put(Area(x, y, {"color": color} | style)))
        return made

    def imshow(self, values, cmap=None, vmin=None, vmax=None):
        """Draw a table in shades of blue, for any colour map; row 0 is at the top."""
        values = np.asarray(values, dtype=float)
        low = np.nanmin(values) if vmin is None else vmin
        high = np.nanmax(values) if vmax is None else vmax
        share = np.clip((values - low) / ((high - low) or 1), 0, 1)
        for (row, place), pale in np.ndenumerate(share):
            x, y = place + np.array([-0.5, 0.5, 0.5, -0.5]), row + np.array([-0.5, -0.5, 0.5, 0.5])
            self.put(Area(x, y, {"facecolor": "#0067a5"}, zorder=0, pale=float(np.nan_to_num(pale))))
        rows, columns = values.shape
        self.xaxis.sticky += [-0.5, columns - 0.5]
        self.yaxis.sticky += [-0.5, rows - 0.5]
        self.xaxis.add([-0.5, columns - 0.5]), self.yaxis.add([-0.5, rows - 0.5])
        self.yaxis.inverted, self.equal = True, True

    # --- words

    def text(self, x, y, text, transform=None, **style):
        style = known(style, WORDS, "text")
        if transform not in (None, "axes", "data"):
            raise unknown("transform except transAxes and transData")
        return self.put(Text(plain(x)[()], plain(y)[()], text, style, inside=transform == "axes"))

    def annotate(self, text, xy, xytext=None, xycoords="data", textcoords=None, arrowprops=None, **style):
        style = known(style, WORDS, "annotate")
        if xycoords not in ("data", "axes fraction") or textcoords not in (None, "data", "offset points"):
            raise unknown("coordinates except data, axes fraction and offset points")
        at = np.array([plain(part)[()] for part in xy])
        there = at if xytext is None or textcoords == "offset points" else np.asarray(xytext, dtype=float)
        shift = tuple(xytext) if xytext is not None and textcoords == "offset points" else (0, 0)
        if arrowprops is not None:
            self.put(Arrow(there, at, arrowprops))
        made = self.put(Text(float(there[0]), float(there[1]), text, style, shift, xycoords != "data"))
        made.xy = at
        return made

    def set_title(self, text, loc="center", **style):
        self.title = str(text)
        self.title_style = known(style, WORDS, "set_title") | {"horizontalalignment": loc}

    def set_xlabel(self, text):
        self.xaxis.label = str(text)

    def set_ylabel(self, text):
        self.yaxis.label = str(text)

    def get_xlabel(self):
        return self.xaxis.label

    def get_ylabel(self):
        return self.yaxis.label

    def get_title(self):
        return self.title

    # --- ranges and ticks

    def set(self, **properties):
        for name, value in properties.items():
            getattr(self, f"set_{name}")(value)

    def set_xlim(self, left=None, right=None):
        self.xaxis.limit(left, right)

    def set_ylim(self, bottom=None, top=None):
        self.yaxis.limit(bottom, top)

    def get_xlim(self):
        return self.xaxis.limits()

    def get_ylim(self):
        return self.yaxis.limits()

    def get_xscale(self):
        return self.xaxis.scale

    def get_aspect(self):
        return 1.0 if self.equal else "auto"

    def convert_xunits(self, x):
        return plain(x)[()]

    @property
    def dataLim(self):
        values = np.concatenate([np.zeros(0), *self.xaxis.data])
        return types.SimpleNamespace(x1=np.nanmax(values, initial=-math.inf))

    def set_xscale(self, scale, base=10):
        self.xaxis.rescale(scale, base)

    def set_yscale(self, scale, base=10):
        self.yaxis.rescale(scale, base)

    def set_xticks(self, ticks, labels=None, fontsize=None):
        self.xaxis.set_ticks(ticks, labels, fontsize)

    def set_yticks(self, ticks, labels=None, fontsize=None):
        self.yaxis.set_ticks(ticks, labels, fontsize)

    def set_xticklabels(self, labels):
        self.xaxis.ticklabels = [str(label) for label in labels]

    def set_yticklabels(self, labels):
        self.yaxis.ticklabels = [str(label) for label in labels]

    def invert_yaxis(self):
        self.yaxis.inverted = not self.yaxis.inverted

    def invert_xaxis(self):
        self.xaxis.inverted = not self.xaxis.inverted

    def margins(self, *both, x=None, y=None):
        for axis, value in ((self.xaxis, both[0] if both else x), (self.yaxis, both[-1] if both else y)):
            if value is not None:
                axis.margin, axis.stale = value, axis.auto

    def minorticks_off(self):
        """Do nothing, because there are no minor ticks."""

    def set_axisbelow(self, below):
        """Do nothing, because the grid is always below."""

    def set_aspect(self, aspect):
        self.equal = aspect in ("equal", 1)

    def set_axis_off(self):
        self.shown = False

    def axis(self, how):
        if how not in ("off", "on", "equal"):
            raise unknown(f"ax.axis({how!r})")
        if how == "equal":
            self.equal = True
        else:
            self.shown = how == "on"

    def grid(self, visible=True, axis="both"):
        for one in (self.xaxis, self.yaxis):
            if axis in ("both", one.name):
                one.grid = visible

    # --- on paper

    def place(self, x, y, across=None):
        """Convert data to points of the figure; with `across` one coordinate is a fraction of the axes."""
        left, top, wide, high = self.box
        shares = []
        for axis, values in ((self.xaxis, x), (self.yaxis, y)):
            if across == axis.name:
                shares.append(np.asarray(values, dtype=float))
                continue
            low, high_end = (float(axis.to(end)) for end in axis.limits())
            shares.append((axis.to(values) - low) / ((high_end - low) or 1))
        return np.stack([left + wide * shares[0], top + high * (1 - shares[1])], axis=-1)

    def share(self, x, y):
        """Convert fractions of the axes to points of the figure."""
        left, top, wide, high = self.box
        return np.array([left + wide * x, top + high * (1 - y)])

    def squared(self):
        """Return the box shrunk and centred such that units are equal on both axes."""
        left, top, wide, high = self.box
        x, y = (abs(float(np.diff(axis.to(axis.range()))[0])) for axis in (self.xaxis, self.yaxis))
        unit = min(wide / x, high / y)
        return left + (wide - unit * x) / 2, top + (high - unit * y) / 2, unit * x, unit * y

    def room(self):
        """Return the space for ticks and labels: left, top, right, bottom."""
        if not self.shown:
            return 4.0, 4.0 + 1.6 * EM * bool(self.title), 4.0, 4.0
        x, y = self.xaxis.marks(self.box[2]), self.yaxis.marks(self.box[3])
        widest = max(
            (measure(part, self.yaxis.fontsize) for _, name in y for part in name.split("\n")), default=0
        )
        rows = max((name.count("\n") + 1 for _, name in x), default=0)
        left = 8 + widest + 1.5 * EM * bool(self.yaxis.label) * (self.yaxis.label.count("\n") + 1)
        bottom = 8 + 1.2 * rows * self.xaxis.fontsize + 1.4 * EM * bool(self.xaxis.label)
        return left, 6 + 1.6 * EM * bool(self.title) * (self.title.count("\n") + 1), 8.0, bottom

    def overhang(self):
        """Return how far words extend beyond the panel: left, right."""
        left, right = 0.0, 0.0
        for text in self.texts:
            box = text.box(self)
            if text.text.strip() and all(map(math.isfinite, box)):
                left, right = max(left, self.cell[0] - box[0]), max(right, box[2] - self.cell[2])
        return left, right

    def shapes(self):
        """Yield the shapes of the panel."""
        if self.equal:
            self.box = self.squared()
        left, top, wide, high = self.box
        if self.shown:
            yield from self.frame()
        inner, outer = [], []
        for artist in sorted(self.artists, key=lambda one: one.zorder):
            (outer if isinstance(artist, Text) or artist.style.get("clip_on") is False else inner).extend(
                artist.shapes(self)
            )
        sizes = [number(value) for value in (left, top, wide, high)]
        view = dict(zip(("x", "y", "width", "height"), sizes, strict=True)) | {"viewBox": " ".join(sizes)}
        yield ["svg", view, inner]
        yield from outer
        if self.title:
            side = self.title_style["horizontalalignment"]
            x = left + wide * {"left": 0, "center": 0.5, "right": 1}[side]
            lines = self.title.split("\n")
            for row, line in enumerate(lines):
                yield words(line, x, top - 6 - 1.2 * EM * (len(lines) - 1 - row), self.title_style)

    def frame(self):
        """Yield the grid, the axes, the ticks and the labels."""
        left, top, wide, high = self.box
        bottom, middle = top + high, {"horizontalalignment": "center"}
        rule = {"stroke": GRID, "stroke-width": "0.8", "fill": "none"}
        xs = [(self.place([v], [0], "y")[0][0], name) for v, name in self.xaxis.marks(wide)]
        ys = [(self.place([0], [v], "x")[0][1], name) for v, name in self.yaxis.marks(high)]
        lines = [f"M{number(x)} {number(top)}V{number(bottom)}" for x, _ in xs if self.xaxis.grid]
        lines += [f"M{number(left)} {number(y)}H{number(left + wide)}" for y, _ in ys if self.yaxis.grid]
        if lines:
            yield ["path", {"d": "".join(lines)} | rule]
        ticks = "".join(f"M{number(x)} {number(bottom)}v3" for x, _ in xs) + "".join(
            f"M{number(left)} {number(y)}h-3" for y, _ in ys
        )
        corner = f"M{number(left)} {number(top)}V{number(bottom)}H{number(left + wide)}"
        yield ["path", {"d": corner + ticks, "stroke": FRAME, "stroke-width": "0.8", "fill": "none"}]
        last = -math.inf
        for x, name in sorted(xs, key=lambda mark: mark[0]):
            reach = max((measure(part, self.xaxis.fontsize) for part in name.split("\n")), default=0) / 2
            if x - reach < last + 2:
                continue  # a narrow screen has no room for every label
            last = x + reach
            for row, part in enumerate(name.split("\n")):
                yield words(
                    part, x, bottom + 5 + (0.9 + 1.2 * row) * self.xaxis.fontsize, middle, self.xaxis.fontsize
                )
        for y, name in ys:
            rows = name.split("\n")
            for row, part in enumerate(rows):
                base = y + (0.35 + 1.2 * (row - (len(rows) - 1) / 2)) * self.yaxis.fontsize
                yield words(part, left - 6, base, {"horizontalalignment": "right"}, self.yaxis.fontsize)
        rows = max((name.count("\n") + 1 for _, name in xs), default=0)
        if self.xaxis.label:
            base = bottom + 8 + 1.2 * rows * self.xaxis.fontsize + 0.9 * EM
            yield words(self.xaxis.label, left + wide / 2, base, middle)
        rows = self.yaxis.label.split("\n")
        for row, part in enumerate(rows if self.yaxis.label else []):
            x = self.cell[0] + EM * (0.95 + 1.2 * row)
            yield words(part, x, top + high / 2, middle | {"rotation": 90})


def styled(form):
    """Return a format such as "o-", "--" or "k:" as keywords; a marker alone draws no line."""
    found, rest = {}, form
    for pattern in ("--", "-.", "-", ":"):
        if pattern in rest:
            found["linestyle"], rest = pattern, rest.replace(pattern, "", 1)
            break
    for sign in rest:
        if sign in MARKERS:
            found["marker"] = sign
            found.setdefault("linestyle", "none")
        elif sign in NAMES or sign in "mcy":
            found["color"] = {"m": "#e377c2", "c": "#17becf", "y": "#bcbd22"}.get(sign, sign)
        else:
            raise ValueError(f"the browser does not know the format {form!r}")
    return found


class Figure:
    """A grid of panels."""

    def __init__(self, rows=1, columns=1, figsize=(6.4, 3.8)):
        self.size, self.grid = tuple(figsize), (rows, columns)
        self.axes = [Axes(self) for _ in range(rows * columns)]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise unknown(f"figure.{name}")

    def set_size_inches(self, wide, high=None):
        self.size = tuple(wide) if high is None else (wide, high)

    def set_figheight(self, high):
        self.size = self.size[0], high

    def points(self):
        """Return width and height in points; on a phone narrower, and higher in proportion."""
        whole = self.size[0] * 72
        wide = min(whole, width)
        return wide, self.size[1] * 72 * max(wide / whole, 0.8)

    def lay_out(self):
        """Place the panels so that ticks, labels and words fit."""
        rows, columns = self.grid
        wide, high = self.points()
        for place, axes in enumerate(self.axes):
            row, place = divmod(place, columns)
            axes.cell = (
                place * wide / columns,
                row * high / rows,
                (place + 1) * wide / columns,
                (row + 1) * high / rows,
            )
            axes.box = axes.cell[0] + 40, axes.cell[1] + 10, wide / columns - 50, high / rows - 50
        extra = [0.0, 0.0]
        for turn in range(4):  # making room for words may change the ticks
            rooms = np.max([axes.room() for axes in self.axes], axis=0)
            for axes in self.axes:
                a, b, c, d = axes.cell
                left, right = rooms[0] + extra[0], rooms[2] + extra[1]
                axes.box = (
                    a + left,
                    b + rooms[1],
                    max(40, c - a - left - right),
                    max(40, d - b - rooms[1] - rooms[3]),
                )
                if axes.equal:
                    axes.box = axes.squared()
            over = np.max([axes.overhang() for axes in self.axes], axis=0)
            if turn and max(over) < 0.5:
                break
            extra = [min(extra[k] + max(0.0, float(over[k])), 0.4 * wide / columns) for k in (0, 1)]

    def drawing(self):
        """Return all shapes, with the size of the figure and a description in words."""
        self.lay_out()
        shapes = [shape for axes in self.axes for shape in axes.shapes()]
        return {
            "size": [round(value, 1) for value in self.points()],
            "label": self.described(),
            "shapes": shapes,
        }

    def described(self):
        """Return a description of the figure for screen readers."""
        parts = []
        for axes in self.axes:
            names = [axes.title, *(text.text for text in axes.texts)]
            names = " · ".join(
                re.sub(r"[$\\{}]", "", name).replace("\n", " ") for name in names if name.strip()
            )
            (a, b), (c, d) = axes.get_xlim(), axes.get_ylim()
            across, up = axes.xaxis.label or "horizontal", axes.yaxis.label or "vertical"
            parts.append(
                f"{across} from {a:.3g} to {b:.3g}, {up} from {c:.3g} to {d:.3g}"
                + (f": {names}" if names else "")
            )
        return "Figure drawn in your browser. " + "; ".join(parts)


# ------------------------------------------------ in the place of pyplot


def subplots(rows=1, columns=1, figsize=(6.4, 4.8), squeeze=True):
    """Make a figure with a grid of panels, as pyplot does."""
    made = Figure(rows, columns, figsize)
    figures.append(made)
    grid = np.empty((rows, columns), dtype=object)
    grid.ravel()[:] = made.axes
    if squeeze:
        grid = grid.squeeze()[()]
    return made, grid


@contextmanager
def rc_context(style=None):
    """Ignore the style, because the browser has only one."""
    yield


def show():
    """Send every figure to the page."""
    sys.stdout.flush()
    for made in figures:
        post("figure", json.dumps(made.drawing()))
    figures.clear()


def missing(name):
    """Raise an error for a function of pyplot that is not supported."""
    if name.startswith("_"):
        raise AttributeError(name)
    raise unknown(f"plt.{name}")


def pyplot():
    """Return the supported part of pyplot as a module."""
    here = types.ModuleType("matplotlib.pyplot")
    here.subplots, here.rc_context, here.show, here.__getattr__ = subplots, rc_context, show, missing
    return here


def install(to):
    """Register this module as matplotlib; figures are sent to the page by `to(kind, text)`."""
    global post
    post, package = to, types.ModuleType("matplotlib")
    package.__path__, package.pyplot = [], pyplot()
    sys.modules["matplotlib"], sys.modules["matplotlib.pyplot"] = package, package.pyplot
