"""Draw pictures in one style: a few colours with names, direct labels, no clutter.

`with plots.figure(...) as ax:` draws and shows one figure; on a phone its text is still legible.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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

STYLE = {
    "figure.figsize": (6.4, 3.8),
    "figure.dpi": 110,
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "lines.linewidth": 2.0,
    "savefig.bbox": "tight",
    "svg.hashsalt": "ocolib",  # the same figure is the same file, run after run
    "figure.constrained_layout.use": True,
}


def as_svg() -> None:
    """Let a notebook store its figures as SVG without a date: sharp on every screen, equal run after run."""
    if "ipykernel" in sys.modules:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})


@contextmanager
def figure(xlabel: str = "", ylabel: str = "", columns: int = 1, rows: int = 1, **axes: Any) -> Iterator[Any]:
    """Make one figure, shown on leaving; more than one column or row yields a list of axes.

    `xlabel` stands below the last row only; `**axes` goes to `set` of each of the axes.
    """
    as_svg()
    with plt.rc_context(STYLE):
        # never wider than one panel: on a phone the text shrinks with the width
        size = 6.4, 3.8 if rows == 1 else 1.9 * rows
        _, all_axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
        for ax in all_axes.flat:
            ax.set(xlabel=xlabel if ax in all_axes[-1] else "", ylabel=ylabel, **axes)
        yield all_axes[0][0] if all_axes.size == 1 else list(all_axes.flat)
        plt.show()


def label(ax: Any, x: Any, y: Any, text: str, color: str, **kwargs: Any) -> None:
    """Write `text` beside the point (x, y) in the colour of its line."""
    kwargs = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"} | kwargs
    ax.annotate(text, (x, y), color=color, **kwargs)


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
        label(ax, value, row, f"{value + 0.0:.2f}", "#222222", fontsize=10)
    ax.set_yticks(rows, names, fontsize=10)
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
