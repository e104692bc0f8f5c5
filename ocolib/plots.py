"""Draw pictures in one style: the book's letters at their true size, a few colours with names, direct labels.

`with plots.figure(...) as ax:` draws and shows one figure. A notebook stores it twice, as wide as a page
and as wide as a phone, so that its letters are as large as those around it on both.
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

#: one colour for each learner; some look alike to readers who cannot tell red from green, so label the lines
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
WIDE, NARROW = 6.4, 3.7  # inches: 614 and 355 pixels, what a page and a phone have
NARROW_SVG = "image/x-narrow+svg"  # what a notebook calls the second picture

STYLE = {
    "figure.figsize": (WIDE, 3.8),
    "figure.dpi": 110,
    "font.size": 10,  # points: 13 pixels
    "font.family": ["Companion Sans", "DejaVu Sans"],  # the second for the signs that the first lacks
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
    "svg.hashsalt": "ocolib",  # the same figure is the same file, run after run
    "figure.constrained_layout.use": True,
}


def as_svg(figure: Any) -> str:
    """Return a figure as SVG without a date: sharp on every screen, equal run after run."""
    paper = io.StringIO()
    figure.savefig(paper, format="svg", metadata={"Date": None, "Creator": None})
    return paper.getvalue()


def show(figure: Any) -> None:
    """Show a figure; a notebook stores it as SVG in two widths."""
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
        except UserWarning:  # no room for the axes: a phone shows the wide one, smaller
            pass
    plt.close(figure)
    shell.display_pub.publish(data)


def _notebook() -> Any:
    """The shell of a notebook, or None."""
    try:
        from IPython import get_ipython
    except ImportError:  # in the browser, or without Jupyter
        return None
    shell = get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _register() -> None:
    """Make the book's letters known to matplotlib; the browser, which has them, needs nothing."""
    try:
        from matplotlib import font_manager
    except ImportError:
        return
    if not any(font.name == "Companion Sans" for font in font_manager.fontManager.ttflist):
        for file in sorted(FONTS.glob("*.ttf")):
            font_manager.fontManager.addfont(file)


def narrow(figure: Any) -> None:
    """Lay a figure out for a phone: panels one below the other, long names on several lines, ticks apart.

    More than eight panels stand in pairs: one below the other they would be three screens tall.
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
    """Break lines between words, formulas kept whole.

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
    """Leave out the words of ticks that would touch the words before them."""
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
    """Let the axis end a little after the last point: names beside it stand outside, not in a longer axis."""
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
    """Set all words in the book's letters; signs that these lack, and powers of 10, become formulas."""
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            written = axis.get_major_formatter()
            if hasattr(written, "seq"):
                written.seq = [with_signs(text) for text in written.seq]
            elif type(written).__name__ == "LogFormatterSciNotation":
                axis.set_major_formatter(partial(_power, written))
    for text in figure.findobj(lambda artist: hasattr(artist, "set_text")):
        text.set_text(with_signs(text.get_text()))


def _power(written: Any, value: float, place: int) -> str:
    """A power as `written` sets it, but with its base in the letters of the other ticks."""
    return re.sub(r"\$\\mathdefault\{(\d+)(\^\{[^}]*\})\}\$", r"\1$\2$", written(value, place))


@cache
def _letters() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(FONTS / "sans.ttf")).get_charmap())


def with_signs(text: str) -> str:
    """In words that hold a formula, write signs that the letters lack as formulas too.

    Words without a formula take such signs from other letters; words with one cannot.

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
    """Where on the axis a text hangs."""
    x = text.xy[0] if hasattr(text, "xy") else text.get_position()[0]
    return float(ax.convert_xunits(x))


@contextmanager
def figure(xlabel: str = "", ylabel: str = "", columns: int = 1, rows: int = 1, **axes: Any) -> Iterator[Any]:
    """Make one figure, shown on leaving; more than one column or row yields a list of axes.

    `xlabel` stands below the last row only; `**axes` goes to `set` of each of the axes.
    """
    _register()
    with plt.rc_context(STYLE):
        # never wider than one panel: a page is no wider
        size = WIDE, 3.8 if rows == 1 else 1.9 * rows
        made, all_axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
        for ax in all_axes.flat:
            ax.set(xlabel=xlabel if ax in all_axes[-1] else "", ylabel=ylabel, **axes)
        yield all_axes[0][0] if all_axes.size == 1 else list(all_axes.flat)
        for ax in all_axes.flat:
            end_with_data(ax)
        show(made)


def label(ax: Any, x: Any, y: Any, text: str, color: str, **kwargs: Any) -> None:
    """Write `text` beside the point (x, y) in the colour of its line."""
    beside = not {"ha", "rotation", "textcoords"} & {*kwargs} and kwargs.get("xytext", (6, 0))[0] > 3
    kwargs = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"} | kwargs
    ax.annotate(text, (x, y), color=color, **kwargs).beside = beside


def curve(ax: Any, x: Any, y: Any, text: str, color: str | None = None, **kwargs: Any) -> None:
    """Draw a line with its name at its last point; without a colour the next of matplotlib's own."""
    (line,) = ax.plot(x, y, color=color, **kwargs)
    label(ax, x[-1], y[-1], text, line.get_color())


def regret(traces: Mapping[str, Any], over: Any = None, against: Any = None) -> None:
    """Draw the regret of each trace after rounds 1, …, T, labelled with its name: {name: trace}.

    `over` is the learner's own set unless given; `against` is one comparator instead.
    """
    with figure("rounds", "regret") as ax:
        for name, trace in traces.items():
            if trace.paid.ndim > 1:
                raise ValueError(f"regret draws traces of one run, got runs of shape {trace.paid.shape[:-1]}")
            values = trace.regret_curve(over, against)
            curve(ax, np.arange(1, trace.rounds + 1), values, name, COLORS.get(name))


def waterfall(ax: Any, chain: Any, color: str = COLORS["FTRL"]) -> None:
    """Draw a proof chain as steps: a bar for the first line, then the slack of each line."""
    values = chain.values
    names = [_subscripts(line.formula) for line in chain.lines]
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


def _subscripts(text: str) -> str:
    """`w_{t+1}` and `w_12` with their indices as matplotlib sets them."""
    return re.sub(r"_(?:\{([^}]*)\}|(\w+))", lambda m: "$_{" + (m[1] or m[2]) + "}$", text)


def outline(ax: Any, over: Any, color: str = COLORS["set"], corners: int = 200) -> None:
    """Fill a bounded set in the plane: a polygon of farthest points, in `corners` directions from 0 to 2π."""
    angle = np.linspace(0, 2 * np.pi, corners)
    edge = over.minimize_linear(-np.stack([np.cos(angle), np.sin(angle)], axis=-1))
    ax.fill(edge[:, 0], edge[:, 1], color=color, zorder=0)
    ax.set_aspect("equal")
