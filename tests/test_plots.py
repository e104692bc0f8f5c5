"""Pictures are checked by what is drawn."""

import re
from itertools import pairwise
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ocolib import plots
from ocolib.game import play
from ocolib.learners import FTL, Hedge
from ocolib.sets import Ball, Box, Simplex
from ocolib.theorems import Chain, Line


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    """Count calls of show, and leave no figure open."""
    calls = []
    monkeypatch.setattr(plt, "show", lambda: calls.append(1))
    yield calls
    plt.close("all")


def test_a_figure_has_labelled_axes_and_is_shown_once(shown):
    with plots.figure("round t", "regret", title="a title", xlim=(0, 5)) as ax:
        assert not shown
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(), ax.get_xlim()) == (
        "round t",
        "regret",
        "a title",
        (0, 5),
    )
    assert shown == [1]


def test_columns_are_a_list_of_axes():
    with plots.figure("x", "y", columns=2) as axes:
        assert [ax.get_xlabel() for ax in axes] == ["x", "x"]


def test_the_style_stays_inside_the_figure():
    before = plt.rcParams["lines.linewidth"], plt.rcParams["axes.grid"]
    with plots.figure():
        assert plt.rcParams["axes.grid"]
    assert (plt.rcParams["lines.linewidth"], plt.rcParams["axes.grid"]) == before


def test_a_curve_carries_its_name_at_its_right_end():
    with plots.figure() as ax:
        plots.curve(ax, [1, 2, 3], [4.0, 5.0, 6.0], "regret", plots.COLORS["FTRL"])
    (line,), (text,) = ax.lines, ax.texts
    np.testing.assert_array_equal(line.get_xydata(), [[1, 4], [2, 5], [3, 6]])
    assert line.get_color() == text.get_color() == plots.COLORS["FTRL"]
    assert (text.get_text(), text.xy) == ("regret", (3, 6.0))


def test_a_waterfall_shows_each_value_and_what_each_line_gives_away():
    chain = Chain("", (Line(1.0, "a"), Line(3.0, "b"), Line(3.5, "c")))
    with plots.figure() as ax:
        plots.waterfall(ax, chain)
    bars = [(bar.get_x(), bar.get_width(), round(bar.get_y() + bar.get_height() / 2)) for bar in ax.patches]
    assert bars == [(0, 1.0, 0), (1.0, 2.0, 1), (3.0, 0.5, 2)]
    assert [t.get_text() for t in ax.texts] == ["1.00", "3.00", "3.50"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c"]
    low, high = ax.get_ylim()
    assert low > high  # the first line on top


def test_a_waterfall_drops_a_line_from_each_value_to_the_next_bar():
    chain = Chain("", (Line(1.0, "a"), Line(3.0, "b"), Line(3.5, "c"), Line(-2.0, "d_{t+1}")))
    with plots.figure() as ax:
        plots.waterfall(ax, chain)
    drawn = [line.get_xydata().tolist() for line in ax.lines]
    assert drawn == [
        [[1.0, -0.4], [1.0, 1.4]],
        [[3.0, 0.6], [3.0, 2.4]],
        [[3.5, 1.6], [3.5, 3.4]],
        [[-2.0, 2.6], [-2.0, pytest.approx(3.4)]],
    ]
    assert [tuple(text.xy) for text in ax.texts] == [(1.0, 0), (3.0, 1), (3.5, 2), (-2.0, 3)]
    assert ax.get_yticklabels()[3].get_text() == "d$_{t+1}$"
    first, *others = ax.patches
    assert first.get_alpha() is None and {bar.get_alpha() for bar in others} == {0.45}
    assert len(others) == 3 and not any(line.get_visible() for line in ax.get_ygridlines())


def test_a_name_stands_just_right_of_its_point():
    with plots.figure() as ax:
        plots.label(ax, 1.0, 2.0, "here", "#123456")
        plots.label(ax, 1.0, 2.0, "there", "#123456", xytext=(0, 9), va="top")
    here, there = ax.texts
    assert here.xyann == (6, 0) and here.get_va() == "center" and here.anncoords == "offset points"
    assert there.xyann == (0, 9) and there.get_va() == "top"


@pytest.mark.parametrize(
    ("options", "panels", "size"),
    [({}, 1, (6.4, 3.8)), ({"columns": 3}, 3, (6.4, 3.8)), ({"rows": 3, "columns": 2}, 6, (6.4, 5.7))],
)
def test_a_figure_is_as_wide_as_a_phone_can_bear(options, panels, size):
    with plots.figure("x", "y", **options) as axes:
        all_axes = [axes] if panels == 1 else axes
    assert len(all_axes) == panels
    assert tuple(all_axes[0].figure.get_size_inches()) == pytest.approx(size)
    columns = options.get("columns", 1)
    assert [ax.get_xlabel() for ax in all_axes] == [""] * (panels - columns) + ["x"] * columns
    assert {ax.get_ylabel() for ax in all_axes} == {"y"}
    with plots.figure("x", rows=2) as (top, bottom):
        assert (top.get_xlabel(), bottom.get_xlabel()) == ("", "x")


@pytest.fixture
def notebook(monkeypatch):
    """What a notebook would store."""
    stored = []
    shell = SimpleNamespace(display_pub=SimpleNamespace(publish=stored.append))
    monkeypatch.setattr(plots, "_notebook", lambda: shell)
    return stored


def letters(svg):
    """The sizes of type in a figure, in pixels, from the scales of the letters' outlines."""
    return {round(4 / 3 * 100 * float(scale)) for scale in re.findall(r"scale\(([\d.]+) -", svg)}


def width(svg):
    return 4 / 3 * float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])


def test_a_notebook_stores_a_figure_for_a_page_and_for_a_phone(notebook):
    for _ in range(2):
        with plots.figure("rounds", "regret", xlim=(0, 500)) as ax:
            plots.curve(ax, [1, 100], [0.0, 9.0], "a learner with quite a long name", plots.COLORS["FTRL"])
    first, second = notebook
    assert first == second, "the same bytes, run after run"
    wide, slim = first["image/svg+xml"], first[plots.NARROW_SVG]
    assert 560 <= width(wide) <= 616 and 320 <= width(slim) <= 358
    assert letters(wide) == letters(slim) == {13}, "type of a page, whatever the width"
    assert "CompanionSans-" in wide and "DejaVu" not in wide and "<dc:date>" not in wide


def test_a_sign_that_the_letters_lack_comes_from_others(notebook):
    with plots.figure("√T ≤ 3", "regret of $\\sqrt{T}$, η", yscale="log", ylim=(1, 1e4)) as ax:
        ax.plot([1, 2], [1, 2000])
    others = set(re.findall(r'<path id="DejaVuSans-(\w+)"', notebook[0]["image/svg+xml"]))
    assert len(others) == 2, "the root and the sign of order; the Greek letter is in the book's own"


def test_outside_a_notebook_pyplot_shows(shown):
    with plots.figure():
        pass
    assert shown == [1] and plots._notebook() is None


def test_an_axis_ends_where_the_data_end():
    """A page may ask for a longer axis to make room for names; the names stand beside it instead."""
    with plots.figure(xlim=(0, 500)) as ax:
        plots.curve(ax, [1, 100], [0.0, 9.0], "name")
    assert 100 <= ax.get_xlim()[1] < 103
    with plots.figure(xscale="log", xlim=(1, 5000)) as ax:
        plots.curve(ax, [1, 100], [0.0, 9.0], "name")
    assert 100 <= ax.get_xlim()[1] < 110
    with plots.figure(xlim=(0, 500)) as ax:
        plots.curve(ax, [1, 100], [0.0, 9.0], "name")
        ax.annotate("far off", (300, 1.0))
    assert ax.get_xlim() == (0, 500), "something hangs there"


def test_panels_stand_one_below_the_other_on_a_phone(notebook):
    with plots.figure("x", "y", columns=2) as axes:
        for ax in axes:
            ax.plot([0, 1], [0, 1])
    tops = [ax.get_position().y0 for ax in axes]
    assert tops[0] > tops[1] + 0.3 and axes[0].get_position().x0 == pytest.approx(axes[1].get_position().x0)


def test_ticks_that_would_touch_lose_their_words(notebook):
    with plots.figure("x", "y") as ax:
        ax.plot([0, 19], [0, 1])
        ax.set_xticks(range(20), [f"number {place}" for place in range(20)])
    words = [tick.label1 for tick in ax.xaxis.get_major_ticks()]
    boxes = [word.get_window_extent() for word in words if word.get_visible()]
    assert 2 <= len(boxes) < 20
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_the_style_has_no_box_and_a_grid():
    with plots.figure() as ax:
        seen = {name: spine.get_visible() for name, spine in ax.spines.items()}
        assert seen == {"left": True, "bottom": True, "top": False, "right": False}
        assert plt.rcParams["axes.grid"] and ax.figure.get_constrained_layout()
        assert tuple(plt.rcParams["figure.figsize"]) == (6.4, 3.8), "the size of a panel"


@pytest.mark.parametrize(
    ("over", "area"), [(Ball(2, 2.0, [1, 0]), 4 * np.pi), (Box([0, 0], [1, 3]), 3.0), (Simplex(2), 0.0)]
)
def test_an_outline_fills_the_set(over, area):
    with plots.figure() as ax:
        plots.outline(ax, over)
    edge = ax.patches[0].get_xy()
    x, y = edge[:-1].T
    shoelace = abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2
    assert shoelace == pytest.approx(area, rel=2e-3, abs=1e-9)
    assert over.contains(edge).all()
    assert ax.get_aspect() == 1.0 and ax.patches[0].get_zorder() == 0, "behind all else"
    starts = over.minimize_linear(np.array([-1.0, 0.0]))
    assert edge[0] == pytest.approx(starts) and edge[-2] == pytest.approx(starts)


def test_colours_of_lines_stand_out_from_a_white_and_a_dark_page():
    """At least 3 : 1 against white for all that is drawn as a line."""

    def luminance(color):
        c = np.array(to_rgb(color))
        c = np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return c @ [0.2126, 0.7152, 0.0722]

    for name, color in plots.COLORS.items():
        if name != "set":
            assert 1.05 / (luminance(color) + 0.05) >= 3.0, name


def test_a_curve_without_a_colour_takes_the_next_one_and_labels_in_it():
    with plots.figure() as ax:
        plots.curve(ax, [1, 2], [1.0, 2.0], "one")
        plots.curve(ax, [1, 2], [2.0, 1.0], "two")
    drawn = [to_rgb(line.get_color()) for line in ax.lines]
    assert (
        drawn
        == [to_rgb(text.get_color()) for text in ax.texts]
        == [
            to_rgb(plots.COLORS["FTRL"]),
            to_rgb(plots.COLORS["FTL"]),
        ]
    )


def test_regrets_of_traces_are_drawn_by_name(shown):
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    traces = {
        "Hedge": play(Hedge(2, 0.5), Z),
        "FTL": play(FTL(Simplex(2)), Z),
        "mine": play(Hedge(2, 2.0), Z),
    }
    plots.regret(traces)
    (ax,) = plt.gcf().axes
    assert shown == [1] and [text.get_text() for text in ax.texts] == list(traces)
    for line, trace in zip(ax.lines, traces.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3])
        np.testing.assert_allclose(line.get_ydata(), trace.regret_curve(Simplex(2)))
    assert ax.lines[0].get_color() == plots.COLORS["Hedge"] and ax.lines[1].get_color() == plots.COLORS["FTL"]
    plots.regret({"Hedge": traces["Hedge"]}, against=[1.0, 0.0])
    np.testing.assert_allclose(
        plt.gcf().axes[0].lines[0].get_ydata(), traces["Hedge"].regret_curve(against=[1, 0])
    )
    with pytest.raises(ValueError, match="one run"):
        plots.regret({"many": play(Hedge(2, 0.5), np.stack([Z, Z]))})


def test_a_notebook_keeps_no_figure_open(notebook):
    with plots.figure() as ax:
        ax.plot([0, 1], [0, 1])
    assert len(notebook) == 1 and not plt.get_fignums()


def test_the_shell_of_a_notebook_is_the_one_with_a_kernel(monkeypatch):
    import IPython

    for shell, found in ((None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=1), True)):
        monkeypatch.setattr(IPython, "get_ipython", lambda shell=shell: shell)
        assert (plots._notebook() is shell) == found or shell is None


def test_an_axis_without_names_beside_it_keeps_its_length():
    with plots.figure(xlim=(0, 500)) as ax:
        ax.plot([1, 100], [0.0, 9.0])
        ax.text(50, 1.0, "a word inside")
    assert ax.get_xlim() == (0, 500)


def test_long_words_are_wrapped_on_a_phone_and_short_ones_are_not(notebook):
    with plots.figure("a label of the axis that is far too long for the width of a phone", "short") as ax:
        ax.plot([0, 1], [0, 1])
    assert "\n" in ax.get_xlabel() and ax.get_ylabel() == "short"


def test_ticks_with_words_of_their_own_get_their_signs(notebook):
    with plots.figure() as ax:
        ax.plot([0, 1], [0, 1])
        ax.set_xticks([0, 1], ["‖w$_t$‖", "T"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["$‖$w$_t$$‖$", "T"]


def test_regret_wants_a_name_for_every_trace():
    with pytest.raises(ValueError, match="traces must be a dictionary"):
        plots.regret([play(Hedge(2, 0.5), np.eye(2))])


def test_powers_of_ten_are_in_the_font_of_the_book_on_both_axes(notebook):
    with plots.figure(xscale="log", yscale="log") as ax:
        ax.plot([1, 1e4], [1, 1e4])
        ax.set_xlim(1, 1e4)
    for axis in (ax.xaxis, ax.yaxis):
        assert axis.get_major_formatter()(100.0, 0) == "10$^{2}$"


def test_words_of_ticks_get_their_signs_on_both_axes(notebook):
    with plots.figure() as ax:
        ax.plot([0, 1], [0, 1])
        ax.set_yticks([0, 1], ["‖w$_t$‖", "T"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$‖$w$_t$$‖$", "T"]


@pytest.mark.parametrize("panels, height", [(2, 4.8), (8, 19.2), (9, 8.0)])
def test_panels_are_so_tall_on_a_phone(panels, height):
    """2.4 inches each, one below the other; of more than eight 1.6 inches each pair."""
    figure, _ = plt.subplots(ncols=panels)
    plots.narrow(figure)
    assert figure.get_size_inches().tolist() == pytest.approx([plots.NARROW, height])


def test_on_a_phone_a_name_beside_a_curve_is_wrapped_sooner_than_words_inside(notebook):
    with plots.figure() as ax:
        plots.label(ax, 0.0, 1.0, "the bound of the theorem", "black")
        ax.text(0.0, 0.5, "the bound of the theorem")
    plots.narrow(ax.figure)
    assert [text.get_text() for text in ax.texts] == ["the bound of\nthe theorem", "the bound of the theorem"]


def test_the_last_digits_of_the_data_do_not_show():
    """A processor that adds in another order gives the same picture, letter by letter."""

    def drawn(error):
        fig, ax = plt.subplots()
        x = np.linspace(0, 1, 40)[[*range(20), 19, *range(20, 40)]]  # one point twice
        x[20] += error
        ax.plot(x * (1 + error), np.sqrt(x * (1 + error)), marker="o")
        ax.text(1 / 3 + error, 0.5, "label")
        svg = plots.as_svg(fig)
        plt.close(fig)
        return svg

    plain = drawn(0.0)
    assert all(drawn(error) == plain for error in (1e-13, -1e-13, 1e-11))
    assert drawn(1e-3) != plain
