"""Test figures drawn in the browser: svgplot.py draws the same data, words and ranges as matplotlib."""

import copy
import functools
import importlib.util
import io
import json
from contextlib import redirect_stdout

import jupytext
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from ocolib import plots
from press.pages import notebooks
from press.sphinx import live


def module():
    spec = importlib.util.spec_from_file_location("live_svgplot", live.SVGPLOT)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def svg(monkeypatch):
    """Install the browser's module as pyplot for `ocolib.plots`; its figures go to `svg.shown`."""
    made = module()
    made.shown = []
    here = made.pyplot()
    here.show = lambda: (made.shown.extend(made.figures), made.figures.clear())
    monkeypatch.setattr(plots, "plt", here)
    return made


@functools.cache
def cells(page):
    found = jupytext.read(page, fmt="md:myst").cells
    return [cell for cell in found if cell.cell_type == "code" and "remove-cell" not in notebooks.tags(cell)]


@functools.cache
def drawn(page):
    """Return {place of a figure: imports it needs} for a page."""
    lives = [place for place, cell in enumerate(cells(page)) if "live" in notebooks.tags(cell)]
    return live.drawable([cell.source for cell in cells(page)], lives)


PAGES = [page for page in notebooks.pages() if "plots.figure(" in page.read_text("utf8")]


@functools.cache
def before(page, place):
    """Return the names that a figure uses, from the live cells that it builds on or that import."""
    sources = [cell.source for cell in cells(page)]
    needs = live.dependencies(sources, set())
    wanted = {number - 1 for number in needs[place]}
    for above in range(place):
        if "live" in notebooks.tags(cells(page)[above]) and live.names_of(sources[above]).imported:
            wanted |= {above, *(number - 1 for number in needs[above])}
    namespace = {"__name__": "__main__"}
    figures = drawn(page)
    with redirect_stdout(io.StringIO()):
        for above in sorted(wanted):
            exec(figures.get(above, ""), namespace)
            exec(sources[above], namespace)
        exec(figures[place], namespace)
    plt.close("all")
    return namespace


def run(page, place):
    """Run the figure's cell in a copy of the names, so that a random generator is not advanced."""
    namespace = {
        name: copy.deepcopy(value) if isinstance(value, np.random.Generator | list | dict) else value
        for name, value in before(page, place).items()
    }
    with redirect_stdout(io.StringIO()):
        exec(cells(page)[place].source, namespace)


@pytest.mark.live
@pytest.mark.parametrize("page", PAGES, ids=notebooks.shown)
def test_every_figure_of_a_page_has_the_data_words_and_ranges_of_matplotlib(page, svg, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    for place in drawn(page):
        try:
            check_figure(page, place, svg, monkeypatch)
        except Exception as error:
            error.add_note(f"the figure of code cell {place + 1} of {notebooks.shown(page)}")
            raise


def check_figure(page, place, svg, monkeypatch):
    before(page, place)
    svg.shown.clear()  # an earlier figure that this one uses
    run(page, place)
    ours = svg.shown[0].axes
    with monkeypatch.context() as patch:
        patch.setattr(plots, "plt", plt)
        plt.close("all")
        run(page, place)
        theirs = plt.gcf().axes
        assert len(ours) == len(theirs) and len(svg.shown) == len(plt.get_fignums())
        for mine, other in zip(ours, theirs, strict=True):
            assert_alike(mine, other)
        plt.close("all")
    assert_sound(svg.shown[0].drawing())
    with monkeypatch.context() as patch:
        patch.setattr(svg, "width", 266)  # in points, on a phone
        assert_sound(svg.shown[0].drawing())


@pytest.mark.live
def test_some_figures_of_the_book_are_drawn_in_the_browser():
    assert any(map(drawn, PAGES))


def assert_alike(mine, other):
    np.testing.assert_allclose(mine.get_xlim(), other.get_xlim(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mine.get_ylim(), other.get_ylim(), rtol=1e-9, atol=1e-12)
    assert len(mine.lines) == len(other.lines)
    for line, twin in zip(mine.lines, other.lines, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), twin.get_xdata(orig=False))
        np.testing.assert_array_equal(line.get_ydata(), twin.get_ydata(orig=False))
    colors = [to_hex(twin.get_color()) for twin in other.lines]
    assert [to_hex(line.get_color()) for line in mine.lines] == colors
    assert [text.get_text() for text in mine.texts] == [text.get_text() for text in other.texts]
    areas = (
        len(other.patches) + len(other.collections) + sum(image.get_array().size for image in other.images)
    )
    assert sum(type(part).__name__ == "Area" for part in mine.artists) == areas
    assert (mine.get_xlabel(), mine.get_ylabel()) == (other.get_xlabel(), other.get_ylabel())
    assert mine.get_title() in {other.get_title(loc) for loc in ("left", "center", "right")}
    assert (mine.xaxis.scale, mine.yaxis.scale) == (other.get_xscale(), other.get_yscale())
    assert mine.shown == other.axison
    for axis, twin in ((mine.xaxis, other.xaxis), (mine.yaxis, other.yaxis)):
        if axis.ticks is not None:
            np.testing.assert_allclose(axis.ticks, twin.get_majorticklocs())
        if axis.ticklabels:
            assert axis.ticklabels == [label.get_text() for label in twin.get_majorticklabels()]


def assert_sound(drawing):
    """Check the shapes: known tags, text as text, every number finite."""
    text = json.dumps(drawing, allow_nan=False)
    assert "nan" not in text and "inf" not in text.replace("infinite", "").replace("info", "")
    wide, high = drawing["size"]
    assert 255 <= wide <= 461 and 150 <= high <= 700
    for tag, _, *_ in flat(drawing["shapes"]):
        assert tag in {"path", "rect", "text", "svg"}


def flat(shapes):
    for shape in shapes:
        yield shape
        if shape[0] == "svg":
            yield from flat(shape[2])


# ---------------------------------------------------------------- what it does not know


def test_what_the_browser_does_not_draw_names_itself(svg):
    with plots.figure("x", "y") as ax:
        for draw, words in (
            (lambda: ax.hexbin([1], [2]), "which has no ax.hexbin: run this cell in Jupyter"),
            (lambda: ax.plot([1], [2], dash_capstyle="round"), "no keyword dash_capstyle for plot"),
            (lambda: ax.set_xscale("symlog"), "no scale 'symlog'"),
            (
                lambda: ax.contourf([0, 1], [0, 1], np.eye(2), [0, 1], ["r"]),
                "no contourf except for one level",
            ),
            (lambda: ax.figure.colorbar(None), "no figure.colorbar"),
        ):
            with pytest.raises(AttributeError, match=words):
                draw()
        with pytest.raises(ValueError, match="same first dimension"):
            ax.plot([1, 2], [1, 2, 3])
    with pytest.raises(AttributeError, match=r"no plt\.hist"):
        plots.plt.hist([1])


def test_a_cell_with_an_unknown_method_does_not_become_live():
    cells = [
        "import numpy as np\nx = 1",
        "from ocolib import oracle, plots",
        "with plots.figure() as ax:\n    ax.plot(x)",
    ]
    assert live.drawable(cells, {0}) == {2: "from ocolib import plots"}
    assert live.drawable([*cells[:2], cells[2].replace("plot(x)", "hexbin(x)")], {0}) == {}
    assert live.drawable([*cells[:2], cells[2].replace("x)", "oracle.best(x))")], {0}) == {}
    assert live.drawable([cells[0], "y = oracle.x", cells[1], cells[2].replace("x)", "y)")], {0}) == {}


def test_a_grid_is_cut_at_its_level(svg):
    """The area above 0 and the length of the line, of a disk."""
    side = np.linspace(-1, 1, 81)
    (x, y), (a, b) = svg.cut(side, side, 0.64 - side[:, None] ** 2 - side[None] ** 2)
    area, pieces = 0.0, np.split(np.array([x, y]).T, np.flatnonzero(np.isnan(x)))
    for piece in pieces:
        u, v = piece[~np.isnan(piece[:, 0])].T
        area += abs(u @ np.roll(v, 1) - v @ np.roll(u, 1)) / 2
    long = np.nansum(np.hypot(np.diff(a), np.diff(b)))
    assert np.isclose(area, 0.64 * np.pi, rtol=2e-3) and np.isclose(long, 1.6 * np.pi, rtol=2e-3)


def test_small_mathematics_becomes_runs(svg):
    assert svg.runs(r"$-\eta Z_{12}$") == [["−", 0, False], ["ηZ", 0, True], ["12", -1, False]]
    assert svg.runs("‖w$_t$‖ is $x^2$") == [
        ["‖w", 0, False],
        ["t", -1, True],
        ["‖ is ", 0, False],
        ["x", 0, True],
        ["2", 1, False],
    ]
    assert svg.runs(r"$\hat w$")[0][0] == "w\u0302" and svg.runs(r"$R\sqrt{M}$")[0][0] == "R"
