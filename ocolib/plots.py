"""Draw figures in the style of the book: its font at text size, named colours, labels beside the curves.

`with plots.figure(...) as ax:` draws and shows one figure. A notebook stores it in two widths, for a page and
for a phone, so that its text is as large as the surrounding text on both. `plots.regret({name: trace})` draws
regret curves:

    plots.regret({"FTL": play(FTL(S), Z), "FTRL": play(FTRL(S, SquaredNorm(), 0.1), Z)})
"""

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

#: one colour per learner; colour-blind readers may not tell all of them apart, so label the curves as well
COLORS = {
    "FTL": "#c44e00",
    "FTRL": "#0067a5",
    "lazy": "#0067a5",
    "eager": "#8a4fbf",
    "Hedge": "#00805e",
    "Perceptron": "#b8356b",
    "Winnow": "#00805e",
    "bound": "#222222",
    "floor": "#777777",
    "comparator": "#a07800",
    "set": "#d9e6f2",
}

FONTS = Path(__file__).parent / "fonts"
WIDE, NARROW = 6.4, 3.7  # inches: 614 and 355 pixels, the widths of a page and a phone
NARROW_SVG = "image/x-narrow+svg"  # the MIME type of the narrow version in a notebook

STYLE = {
    "figure.figsize": (WIDE, 3.8),
    "figure.dpi": 110,
    "font.size": 10,  # in points; 13 pixels
    "font.family": ["Companion Sans", "DejaVu Sans"],  # the second for characters that the first lacks
    "mathtext.fontset": "custom",
    "mathtext.rm": "Companion Sans",
    "mathtext.bf": "Companion Sans:bold",
    "mathtext.it": "STIXGeneral:italic",
    "mathtext.cal": "STIXGeneral:italic",
    "mathtext.fallback": "stix",
    "axes.titlesize": 10,
    "text.color": "#222222",
    "axes.labelcolor": "#444444",
    "axes.edgecolor": "#888888",
    "axes.facecolor": "none",
    "axes.prop_cycle": "cycler('color', ['#0067a5', '#c44e00', '#00805e', '#8a4fbf', '#b8356b', '#a07800'])",
    "xtick.color": "#888888",
    "ytick.color": "#888888",
    "xtick.labelcolor": "#444444",
    "ytick.labelcolor": "#444444",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e5e5e5",
    "lines.linewidth": 2.0,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.02,
    "svg.hashsalt": "ocolib",  # makes the SVG reproducible
    "figure.constrained_layout.use": True,
}


def as_svg(figure: Any) -> str:
    """Return the figure as an SVG string that is the same on all processors, whose last digits differ.

    It has no date, its ids are numbered, and its coordinates have two decimals: nobody sees a hundredth of a
    point.
    """
    paper = io.StringIO()
    figure.savefig(paper, format="svg", metadata={"Date": None, "Creator": None})
    places = r'(?<= d=")[^"]*|(?<= [xy]=")[^"]*|(?<=translate\()[^)]*|(?<=<svg )[^>]*'
    svg = re.sub(places, lambda place: _rounded(place[0]), paper.getvalue())
    ids = dict.fromkeys(re.findall(r' id="([a-z][0-9a-f]{10})"', svg))  # hashes of unrounded numbers
    numbers = {name: f"{name[0]}{number}" for number, name in enumerate(ids, 1)}
    return re.sub(r"\b[a-z][0-9a-f]{10}\b", lambda name: numbers.get(name[0], name[0]), svg)


def _rounded(path: str) -> str:
    """Round coordinates to two decimals, and drop points of a path that equal the point before.

    >>> _rounded("M 1.23456 0.5 \\nL 1.23 0.499999 \\nL 2 -0.001 \\n")
    'M 1.23 0.5 \\nL 2 0 \\n'
    """
    path = re.sub(r"-?\d+\.\d+", lambda number: f"{round(float(number[0]), 2) + 0.0:.10g}", path)
    return re.sub(r"([ML] )([^ ]+ [^ ]+ \n)(?:L \2)+", r"\1\2", path)


def show(figure: Any) -> None:
    """Show the figure; in a notebook, store it as SVG in two widths."""
    shell = _notebook()
    if shell is None:
        plt.show()
        return
    panels = len(figure.axes)
    dress(figure)
    width, height = figure.get_size_inches() * figure.dpi
    data = {
        "image/svg+xml": as_svg(figure),
        "text/plain": f"<Figure size {width:.0f}x{height:.0f} with {panels} Axes>",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            narrow(figure)
            data[NARROW_SVG] = as_svg(figure)
        except UserWarning:  # no room for the axes: a phone then shows the wide version, scaled down
            pass
    plt.close(figure)
    shell.display_pub.publish(data)


def _notebook() -> Any:
    """Return the shell of the running notebook, or None."""
    try:
        from IPython import get_ipython
    except ImportError:  # in the browser, or without Jupyter
        return None
    shell = get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _register() -> None:
    """Register the font of the book with matplotlib; in the browser this is not needed."""
    try:
        from matplotlib import font_manager
    except ImportError:
        return
    if not any(font.name == "Companion Sans" for font in font_manager.fontManager.ttflist):
        for file in sorted(FONTS.glob("*.ttf")):
            font_manager.fontManager.addfont(file)


def narrow(figure: Any) -> None:
    """Lay the figure out for a phone: stack the panels, wrap long labels, and thin out the tick labels.

    More than eight panels are placed in two columns, because one column would be three screens tall.
    """
    panels = figure.axes
    height = figure.get_size_inches()[1]
    grid = panels[0].get_gridspec()
    if grid.ncols > 1:
        columns = 2 if len(panels) > 8 else 1
        rows = -(-len(panels) // columns)
        height = 2.4 * rows if columns == 1 else 1.6 * rows
        stack = grid.__class__(rows, columns, figure=figure)
        for place, ax in enumerate(panels):
            ax.set_subplotspec(stack[divmod(place, columns)])
    figure.set_size_inches(NARROW, height if height > 3.8 else 0.85 * height)
    for ax in panels:
        for text in ax.texts:
            text.set_text(_wrapped(text.get_text(), 14 if getattr(text, "beside", False) else 26))
        for name, room in (("xlabel", 48), ("ylabel", 30), ("title", 46)):
            words = getattr(ax, f"get_{name}")()
            if len(words) > room:
                getattr(ax, f"set_{name}")(_wrapped(words, room))
    figure.draw_without_rendering()
    for ax in panels:
        _thin(ax.xaxis)


def _wrapped(text: str, room: int) -> str:
    """Wrap text to `room` characters between words, keeping formulas whole.

    >>> _wrapped("the bound of $w_t + 1$ here", 9)
    'the bound\\nof\\n$w_t + 1$\\nhere'
    """
    lines = []
    for line in text.split("\n"):
        now = ""
        for word in re.findall(r"(?:\$[^$]*\$|[^\s$])+", line):
            if now and len(f"{now} {word}") > room:
                lines.append(now)
                now = word
            else:
                now = f"{now} {word}".strip()
        lines.append(now)
    return "\n".join(lines)


def _thin(axis: Any) -> None:
    """Hide tick labels that would touch the label before them."""
    last = -np.inf
    for tick in sorted(axis.get_major_ticks(), key=lambda tick: tick.get_loc()):
        box = tick.label1.get_window_extent()
        if not tick.label1.get_text() or not tick.label1.get_visible():
            continue
        if box.x0 < last + 3:
            tick.label1.set_visible(False)
        else:
            last = box.x1


def end_with_data(ax: Any) -> None:
    """End the x-axis just after the last data point, so that labels beside it stand outside the axes."""
    names = [text for text in ax.texts if getattr(text, "beside", False)]
    if not names or ax.get_aspect() != "auto":
        return
    low, high = ax.get_xlim()
    end = ax.dataLim.x1
    if not low < end < high or any(_across(ax, text) > end for text in ax.texts):
        return
    log = ax.get_xscale() == "log"
    end = end * (end / low) ** 0.015 if log else end + 0.015 * (end - low)
    ax.set_xlim(low, min(end, high))


def dress(figure: Any) -> None:
    """Set all text in the font of the book; characters that it lacks, and powers of 10, become formulas."""
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            written = axis.get_major_formatter()
            if type(axis.get_major_locator()).__name__ == "FixedLocator":
                words = [label.get_text() for label in axis.get_majorticklabels()]
                if (signed := [with_signs(text) for text in words]) != words:
                    axis.set_ticks(axis.get_majorticklocs(), signed)
            elif type(written).__name__ == "LogFormatterSciNotation":
                axis.set_major_formatter(partial(_power, written))
    for text in figure.findobj(lambda artist: hasattr(artist, "set_text")):
        text.set_text(with_signs(text.get_text()))


def _power(written: Any, value: float, place: int) -> str:
    """Format a power like `written`, but set the base in the font of the other tick labels."""
    return re.sub(r"\$\\mathdefault\{(\d+)(\^\{[^}]*\})\}\$", r"\1$\2$", written(value, place))


@cache
def _letters() -> frozenset[int]:
    """Return the code points of all characters in the font of the book."""
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(FONTS / "sans.ttf")).get_charmap())


def with_signs(text: str) -> str:
    """Write characters that the font lacks as formulas, in text that contains a formula.

    Matplotlib can take missing characters from another font only if the text has no formula.

    >>> with_signs("gap γ̄ − ‖w$_t$‖")
    'gap $\\\\bar{γ}$ − $‖$w$_t$$‖$'
    """
    parts = re.split(r"(?<!\\)\$", text)
    if len(parts) < 3:
        return text
    for place in range(0, len(parts), 2):
        words = re.sub("(.)\u0304", r"$\\bar{\1}$", re.sub("(.)\u0302", r"$\\hat{\1}$", parts[place]))
        parts[place] = "".join(
            sign if ord(sign) in _letters() or sign == "\n" else f"${sign}$" for sign in words
        )
    return "$".join(parts)


def _across(ax: Any, text: Any) -> float:
    """Return the x-coordinate of a text."""
    x = text.xy[0] if hasattr(text, "xy") else text.get_position()[0]
    return float(ax.convert_xunits(x))


@contextmanager
def figure(xlabel: str = "", ylabel: str = "", columns: int = 1, rows: int = 1, **axes: Any) -> Iterator[Any]:
    """Create one figure and show it at the end of the `with` block; yield its axes.

    With several columns or rows it yields a list of axes. `xlabel` appears below the last row only; `**axes`
    is passed to the `set` method of each of the axes.
    """
    _register()
    with plt.rc_context(STYLE):
        # the width is that of a page, for any number of columns
        size = WIDE, 3.8 if rows == 1 else 1.9 * rows
        made, all_axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
        for ax in all_axes.flat:
            ax.set(xlabel=xlabel if ax in all_axes[-1] else "", ylabel=ylabel, **axes)
        yield all_axes[0][0] if all_axes.size == 1 else list(all_axes.flat)
        for ax in all_axes.flat:
            end_with_data(ax)
        show(made)


def label(ax: Any, x: Any, y: Any, text: str, color: str, **kwargs: Any) -> None:
    """Write `text` beside the point (x, y) in the given colour."""
    beside = not {"ha", "rotation", "textcoords"} & {*kwargs} and kwargs.get("xytext", (6, 0))[0] > 3
    kwargs = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"} | kwargs
    ax.annotate(text, (x, y), color=color, **kwargs).beside = beside


def curve(ax: Any, x: Any, y: Any, text: str, color: str | None = None, **kwargs: Any) -> None:
    """Draw a curve with its name at the last point; by default in the next colour of the cycle."""
    (line,) = ax.plot(x, y, color=color, **kwargs)
    label(ax, x[-1], y[-1], text, line.get_color())


def regret(traces: Mapping[str, Any], over: Any = None, against: Any = None) -> None:
    """Draw the regret after each round 1, …, T for every trace in {name: trace}, labelled with its name.

    `over` is the set of comparators, by default the learner's own; `against` is one comparator instead.
    Losses that are neither linear nor quadratic need `against`.
    """
    if not isinstance(traces, Mapping):
        raise ValueError("traces must be a dictionary: write plots.regret({'name': trace})")
    with figure("rounds", "regret") as ax:
        for name, trace in traces.items():
            if trace.paid.ndim > 1:
                raise ValueError(f"regret draws traces of one run, got runs of shape {trace.paid.shape[:-1]}")
            values = trace.regret_curve(over, against)
            curve(ax, np.arange(1, trace.rounds + 1), values, name, COLORS.get(name))


def waterfall(ax: Any, chain: Any, color: str = COLORS["FTRL"]) -> None:
    """Draw a proof chain as a waterfall chart: a bar for the first line, then the slack of each line."""
    from ocolib.theorems.base import subscripts

    values = chain.values
    names = [subscripts(line.formula, "$_{", "}$") for line in chain.lines]
    rows = np.arange(len(values))
    ax.barh(rows[0], values[0], color=color)
    ax.barh(rows[1:], chain.slacks, left=values[:-1], color=color, alpha=0.45)
    for row, value in zip(rows, values, strict=True):
        ax.plot([value, value], [row - 0.4, min(row + 1.4, rows[-1] + 0.4)], color="#444444", lw=1)
        label(ax, value, row, f"{value + 0.0:.2f}", "#222222")
    ax.set_yticks(rows, names)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.margins(x=0.12)


def outline(ax: Any, over: Any, color: str = COLORS["set"], corners: int = 200) -> None:
    """Fill a bounded set in the plane, as the polygon of its extreme points in `corners` directions."""
    angle = np.linspace(0, 2 * np.pi, corners)
    edge = over.minimize_linear(-np.stack([np.cos(angle), np.sin(angle)], axis=-1))
    ax.fill(edge[:, 0], edge[:, 1], color=color, zorder=0)
    ax.set_aspect("equal")
