"""The live page as a reader uses it: Run, Edit, Stop, Reset and exercises, under a strict policy."""

import json
import os
import re
import time
from pathlib import Path

import live_fixture
import pytest
from built_pages import VIOLATIONS
from live_fixture import (
    ARRAY,
    CHAIN,
    END,
    FIGURE,
    FIRST,
    OTHER_PLOT,
    PLOT,
    SHOW,
    SOLUTION,
    SOLVER,
    START,
    STUB,
    A,
    B,
    Reader,
)

pytestmark = pytest.mark.browser

RUNTIME = re.compile(r"/_static/live/[a-z]+-[0-9a-f]{12}\.(bin|js|zip)$")
REQUIRED = os.environ.get("OCOLIB_REQUIRE_BROWSER") == "1"
SHORT = 20_000
HEARD = """state => {
  window.heard = [];
  new MutationObserver(() => window.heard.push(state.textContent)).observe(state, { childList: true });
}"""

SIZES = """texts => texts.map(text => {
  const { a, b } = text.getCTM();
  return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
})"""
INKS = """figure => {  // in the dark every ink is light enough to be seen
  document.documentElement.dataset.theme = 'dark';
  const dark = [...figure.querySelectorAll('text')].filter(text => {
    const [r, g, b] = getComputedStyle(text).fill.match(/[0-9.]+/g).map(Number);
    return r + g + b < 300;
  });
  document.documentElement.dataset.theme = 'light';
  return dark.map(text => text.textContent);
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    built = live_fixture.build(tmp_path_factory.mktemp("live") / "book")
    if not (built / "_static" / "live.js").exists():
        (pytest.fail if REQUIRED else pytest.skip)("no runtime: run `python -m press runtime` to see why")
    return built


@pytest.fixture(scope="module")
def site(folder):
    with live_fixture.serve(folder) as address:
        yield f"{address}/book"


@pytest.fixture(scope="module")
def context(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(SHORT)
    context.add_init_script(VIOLATIONS)
    yield context
    context.close()


@pytest.fixture(scope="module")
def opened(context, site):
    """One page with Python started, for all tests that need not start anew."""
    page = Reader(context.new_page(), site)
    page.open("live")
    return page


@pytest.fixture
def reader(opened):
    """The shared page, with the printed code in every cell and nothing solved."""
    opened.reset_all()
    opened.page.evaluate("localStorage.clear()")
    return opened


# ---------------------------------------------------------------- running


def test_loaded_on_the_first_click_and_never_again(browser, site, folder):
    context = browser.new_context()
    asked = []
    context.on("request", lambda request: RUNTIME.search(request.url) and asked.append(request.url))
    page = Reader(context.new_page(), site)
    page.open("live")
    assert not asked
    first, said = timed(page.run, A)
    assert "a is 2" in said
    second, said = timed(page.run, SHOW)
    assert "b is 3" in said
    names = [url.rpartition("/")[2] for url in asked]
    assert len(names) == len(set(names)) == 6
    total = sum((folder / "_static" / "live" / name).stat().st_size for name in names)
    asked.clear()
    page.page.reload(wait_until="load")
    again, said = timed(page.run, END)
    assert "the end" in said and not asked, "a second visit asks for nothing"
    print(f"\nfirst output after {first:.1f} s (second visit {again:.1f} s), next cell {second:.2f} s")
    print(f"{total / 1e6:.1f} MB compressed, nothing before the first click")
    assert total <= 12e6
    assert not page.complaints
    context.close()


def timed(action, *arguments):
    began = time.perf_counter()
    result = action(*arguments)
    return time.perf_counter() - began, result


@pytest.fixture(scope="module")
def second(browser, site):
    """Another reader, in another browser, whom a file reaches that was tampered with on its way."""
    context = browser.new_context()
    page = Reader(context.new_page(), site)
    part = re.compile(r"/packages-[0-9a-f]{12}\.zip$")
    page.page.route(part, lambda route: route.fulfill(body=b"tampered"))
    page.open("live")
    yield page
    context.close()


def test_a_file_that_was_tampered_with_is_refused_and_asked_for_again(second):
    second.press(END)
    second.result(END)
    assert "is not the file that this book was built with" in second.state(END)
    second.page.unroute_all()
    second.cell(END).locator(".live-state").evaluate(HEARD)
    assert "the end" in second.run(END), "the next click tries again"
    # a cell far down runs those above first
    assert "Running the cells above first: 6 of 6" in second.page.evaluate("window.heard")
    assert second.state(END).startswith("Done after 6 cells above")
    assert not second.cell(A).locator(".live-output").is_visible(), (
        "the printed output stays for cells not asked for"
    )


def test_a_figure_on_a_phone_has_type_of_at_least_eleven_pixels(second):
    second.page.unroute_all()
    second.page.set_viewport_size({"width": 390, "height": 844})
    second.cell(FIGURE).locator("summary").click()
    second.run(FIGURE)
    sizes = second.cell(FIGURE).locator("svg.live-figure text").evaluate_all(SIZES)
    assert sizes and min(sizes) >= 11


def test_values_are_shown_as_in_a_notebook(reader):
    assert reader.run(SHOW).split() == ["b", "is", "3", "30"]
    assert reader.run(ARRAY) == "array([0., 1., 4.])"


def test_a_chain_is_a_table_and_a_waterfall(reader):
    reader.run(CHAIN)
    table = reader.cell(CHAIN).locator(".live-output table.proof-chain")
    assert table.locator("caption").inner_text() == "Two lines" and table.locator("tbody tr").count() == 2
    drawn = reader.cell(CHAIN).locator(".live-output svg.mf-waterfall")
    drawn.wait_for()
    assert drawn.get_attribute("aria-label") == "Two lines: from 1.0000 to 3.0000 in 2 lines"
    assert "+2.000" in drawn.text_content()


def test_a_figure_is_drawn_and_follows_an_edit(reader):
    cell = reader.cell(FIGURE)
    cell.locator("summary").click()
    reader.run(FIGURE)
    figure = cell.locator("svg.live-figure")
    words = figure.locator("text").all_text_contents()
    assert {"rounds t", "height", "<b>a</b> lines", "8"} <= set(words), "text is text, and a = 2"
    assert figure.get_attribute("aria-label").startswith("Figure drawn in your browser. ")
    reader.write(A, "a = 50")
    reader.run(A)
    reader.run(FIGURE)
    assert "200" in figure.locator("text").all_text_contents()
    box = figure.bounding_box()
    assert 300 < box["width"] <= 640
    assert reader.page.evaluate(INKS, figure.element_handle()) == []


def test_html_of_a_cell_cannot_run_scripts(reader):
    html = "<b>bold</b><img src=x onerror=window.bad=1><script>window.bad=1</script><a href='x'>link</a>"
    reader.write(
        ARRAY, f"class Html:\n_repr_html_ = lambda self: {html!r}\n\nHtml()".replace("\n_", "\n    _")
    )
    assert reader.run(ARRAY) == "boldlink"
    assert reader.cell(ARRAY).locator(".live-output b").count() == 1
    assert reader.cell(ARRAY).locator(".live-output :is(img, script, a)").count() == 0
    assert reader.page.evaluate("window.bad === undefined")
    reader.page.evaluate("window.violations = []")  # the policy had something to say about the handler


def test_warnings_and_errors_name_the_readers_line(reader):
    reader.write(A, 'import warnings\n\na = 2\nwarnings.warn("careful")\nprint(1 / (a - 2))')
    told = reader.run(A).replace("\n\n", "\n").splitlines()
    assert told[0] == "Line 4: UserWarning: careful"
    assert told[1:4] == [
        "Line 5 of this cell",
        "    print(1 / (a - 2))",
        "ZeroDivisionError: division by zero",
    ]
    assert reader.state(A) == "Ended with an error"


def test_an_error_inside_the_package_begins_with_the_readers_line(reader):
    reader.write(A, "from ocolib.sets import Ball\n\na = Ball(-1)")
    told = reader.run(A).splitlines()
    assert told[0] == "Line 3 of this cell" and told[1] == "    a = Ball(-1)"
    assert told[2].startswith("ocolib/sets.py, line ") and told[-1].startswith("ValueError: ")


def test_a_syntax_error_points_at_the_place(reader):
    reader.write(A, "a = 2\nfor i in range(3)\n    print(i)")
    assert reader.run(A).splitlines() == [
        "Line 2 of this cell",
        "    for i in range(3)",
        "                     ^",
        "SyntaxError: expected ':'",
    ]


def test_a_module_that_is_not_there_gets_a_sentence(reader):
    reader.write(A, "import cvxpy")
    assert "There is no solver cvxpy in the browser" in reader.run(A)


def test_a_broken_cell_above_is_named(reader):
    reader.write(A, "a = nonsense")
    reader.press(B)
    reader.result(B)
    assert reader.state(B) == f"Cell {A} above ended with an error, so this one did not run."
    assert "NameError" in reader.cell(A).locator(".live-output-body").inner_text()


# ---------------------------------------------------------------- editing


def test_an_edit_is_marked_and_the_printed_output_comes_back(reader):
    reader.write(A, 'a = 5\nprint("a is", a)')
    reader.page.keyboard.press("Shift+Enter")
    assert reader.result(A).strip() == "a is 5"
    cell = reader.cell(A)
    assert cell.locator(".live-label").inner_text() == "Yours"
    reader.press(A, "Show the printed output")
    assert cell.locator(".cell_output").inner_text().strip() == "a is 2"
    assert not cell.locator(".live-output").is_visible()
    reader.press(A, "Show yours again")
    assert reader.run(SHOW).split() == ["b", "is", "6", "60"]
    reader.press(A, "Reset")
    assert cell.locator(".cell_output").is_visible() and not cell.locator(".live-output").is_visible()
    assert reader.run(SHOW).split()[2] == "3"


def test_pictures_say_that_they_are_printed(reader):
    note = "From the printed run"
    assert note not in reader.cell(PLOT).inner_text()
    reader.write(A, "a = 7")
    reader.run(A)
    assert note in reader.cell(PLOT).inner_text()
    assert note not in reader.cell(OTHER_PLOT).inner_text(), "this one does not depend on a"
    reader.press(A, "Reset")
    assert note not in reader.cell(PLOT).inner_text()


def test_other_cells_say_quietly_what_they_need(reader):
    assert "This cell needs matplotlib: run it in Jupyter." in reader.cell(PLOT).inner_text()
    assert "This cell needs the solver: run it in Jupyter." in reader.cell(SOLVER).inner_text()
    assert (
        reader.cell(SOLVER).locator(".live-elsewhere a").get_attribute("href")
        == "exercises.html#run-in-jupyter"
    )


def test_edits_survive_a_reload_and_reach_another_tab(context, site, reader):
    reader.write(ARRAY, "# mine & <yours>\n1 + 1")
    other = Reader(context.new_page(), site)
    other.open("live")
    draft = other.cell(ARRAY).locator(".live-draft")
    assert draft.inner_text() == "# mine & <yours>\n1 + 1"
    reader.write(ARRAY, "2 + 2")
    other.page.wait_for_function("() => document.querySelectorAll('.live-draft')[0] !== null")
    draft.get_by_text("2 + 2").wait_for()
    reader.reset_all()
    draft.wait_for(state="hidden")
    other.page.close()


def test_results_below_a_change_are_marked_and_renewed_with_one_click(reader):
    older = "Older than your change in cell 2."
    reader.write(A, "a = 11")
    reader.run(A)
    assert older in reader.cell(SHOW).inner_text() and older in reader.cell(FIGURE).inner_text()
    assert older not in reader.cell(END).inner_text()
    reader.cell(FIGURE).get_by_role("button", name="Bring up to date").click()
    reader.result(FIGURE)
    assert "40" in reader.cell(FIGURE).locator("svg.live-figure text").all_text_contents()
    assert "b is 12" in reader.result(SHOW)
    assert older not in reader.page.locator("article").inner_text()


def test_reset_heals_a_name_that_was_broken(reader):
    reader.write(B, "b = a + 1\nnp = None")
    reader.run(B)
    assert "TypeError" in reader.run(ARRAY) or "AttributeError" in reader.run(ARRAY)
    reader.press(B, "Reset")
    assert reader.run(ARRAY) == "array([0., 1., 4.])"


def test_the_scratch_cell_has_the_names_of_the_page_and_python_restarts(reader):
    reader.page.locator(".live-scratch-box summary").click()
    scratch = reader.page.locator("div.cell").count()
    reader.write(scratch, "mine = b * 2\nmine")
    assert reader.run(scratch).strip() == "6"
    reader.page.get_by_role("button", name="Restart Python").click()
    assert "Your code is kept" in reader.state(scratch)
    reader.write(scratch, "mine")
    assert "NameError" in reader.run(scratch)
    reader.page.locator(".live-scratch-box summary").click()


def test_the_keyboard_runs_indents_and_leaves(reader):
    reader.write(A, "if True:")
    for key in ("End", "Enter", "Home"):
        reader.page.keyboard.press(key)
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.insert_text("print('in')")
    label = reader.cell(A).locator(".cm-content").get_attribute("aria-label")
    assert "Tab indents or takes a name, Escape leaves" in label
    reader.page.keyboard.press("Control+Enter")
    assert reader.result(A).strip() == "in"
    reader.cell(A).locator(".cm-content").click()
    reader.page.keyboard.press("Escape")
    assert reader.page.evaluate("document.activeElement.textContent") == "Run"
    assert "Ctrl+Enter" in reader.cell(A).locator(".live-run").get_attribute("title")


def test_the_names_of_the_page_are_offered(reader):
    def offered(text):
        reader.write(B, text)
        reader.page.keyboard.press("Control+Space")
        offers = reader.cell(B).locator(".cm-tooltip-autocomplete li")
        offers.first.wait_for()
        return offers.all_text_contents()

    reader.write(A, "a = 2\nalphabet = 'abc'\n\n\ndef alpine(inner):\n    hidden = 1\n    return hidden")
    names = offered("value = 1\n")
    assert {"np", "exercises", "a", "alphabet", "alpine", "value"} <= set(names)
    assert not {"inner", "hidden", "my_double", "b"} & set(names), "neither locals nor what comes below"
    assert offered("b = al") == ["alphabet", "alpine"]
    reader.page.keyboard.press("Escape")
    assert reader.cell(B).locator(".cm-tooltip-autocomplete").count() == 0
    assert reader.page.evaluate("document.activeElement.className") == "live-editor", "Escape closes the list"
    offered("b = al")
    reader.page.keyboard.press("Tab")
    assert reader.cell(B).locator(".cm-content").inner_text() == "b = alphabet"
    offered("b = al")
    reader.page.keyboard.press("ArrowDown")
    reader.page.keyboard.press("ArrowDown")
    reader.page.keyboard.press("Enter")
    assert reader.cell(B).locator(".cm-content").inner_text() == "b = alpine"
    offered("b = al")
    reader.page.keyboard.press("Enter")
    assert reader.cell(B).locator(".cm-line").all_text_contents() == ["b = al", ""], "a line can be ended"
    reader.run(A)
    assert "linspace" in offered("np.lin") and "lstsq" in offered("np.linalg.ls")


# ---------------------------------------------------------------- stopping


def test_stop_takes_a_waiting_cell_out_of_the_queue(reader):
    reader.write(A, "import time\n\ntime.sleep(2)\nprint('slept')")
    reader.press(A)
    reader.cell(A).get_by_text("Running", exact=True).wait_for(timeout=START)
    # both clicks at once: the cell cannot get its turn in between
    reader.cell(END).evaluate("""cell => {
      const buttons = [...cell.querySelectorAll('button')];
      for (const words of ['Run', 'Stop']) buttons.find(button => button.textContent === words).click();
    }""")
    assert reader.state(END) == "Removed from the queue: it did not run."
    assert "slept" in reader.result(A), "the running cell went on"
    assert not reader.cell(END).locator(".live-output").is_visible()


def test_two_thousand_lines_are_shown_of_one_more(reader):
    reader.write(A, "a = 2\nfor i in range(2001):\n    print(i)")
    told = reader.run(A).split()
    assert told[1999] == "1999" and "2000" not in told[:2000] and told[2000:2002] == ["Output", "stops"]


def test_stop_ends_a_loop_and_keeps_the_variables(reader):
    reader.write(
        A, "a = 0\nwhile True:\n    a += 1\n    if a % 1000 == 0 and a < 10**6:\n        print('on')"
    )
    reader.press(A)
    reader.cell(A).locator(".live-stdout").wait_for(timeout=START)
    reader.press(A, "Stop")
    assert reader.result(A).splitlines()[-1] == "Stopped. All variables are kept."
    reader.write(ARRAY, "a > 1000")
    assert reader.run(ARRAY).strip() == "True"
    reader.press(ARRAY, "Reset")


def test_stop_ends_a_sleep(reader):
    reader.write(A, "import time\n\ntime.sleep(1000)")
    reader.press(A)
    reader.cell(A).get_by_text("Running", exact=True).wait_for(timeout=START)
    reader.press(A, "Stop")
    assert "Stopped" in reader.result(A)


def test_a_loop_that_will_not_stop_is_ended_and_python_starts_again(reader):
    reader.write(A, "sum(range(10**12))")  # one call: Python does not look up
    reader.press(A)
    reader.cell(A).get_by_text("Running", exact=True).wait_for(timeout=START)
    reader.press(A, "Stop")
    assert "Its variables are gone" in reader.result(A)
    assert "runs the cells above again" in reader.state(A)
    reader.press(A, "Reset")
    assert reader.run(SHOW).split()[:3] == ["b", "is", "3"]
    assert reader.state(SHOW).startswith("Done after 3 cells above")


def test_a_flood_of_output_is_cut_off(reader):
    reader.write(A, 'a = 2\nfor _ in range(2000):\n    print("x" * 50_000)')
    told = reader.run(A)
    assert "Output stops here" in told and len(told) < 150_000
    assert reader.state(A).startswith("Done")


def test_a_recursion_without_end_leaves_the_page_usable(reader):
    reader.write(A, "def f(n):\n    return f(n + 1)\n\n\nf(0)")
    told = reader.run(A)
    assert "RecursionError" in told or "too deep" in told
    assert len(told.splitlines()) < 60
    reader.press(A, "Reset")
    assert "a is 2" in reader.run(A)


# ---------------------------------------------------------------- exercises


def test_an_exercise_answers(reader):
    reader.press(STUB, "Run and check")
    reader.result(STUB)
    assert reader.verdict().startswith("… not yet")
    reader.write(STUB, live_fixture.CODE.replace("None", "x * x"))
    reader.press(STUB, "Run and check")
    reader.result(STUB)
    assert "That is the square." in reader.verdict()
    assert not reader.solved()


def test_hints_come_one_by_one_and_are_remembered(reader, context, site):
    hints = reader.page.locator(".hints details")
    assert hints.nth(0).is_visible() and not hints.nth(1).is_visible()
    hints.nth(0).locator("summary").press("Enter")
    hints.nth(1).wait_for()
    assert reader.page.evaluate("localStorage['ocolib:hints:ex-twice']") == "1"
    other = Reader(context.new_page(), site)  # a reload of this one would end Python
    other.open("live")
    assert other.page.locator(".hints details").nth(1).is_visible()
    other.page.close()


def test_a_choice_is_answered_by_keyboard(reader):
    box = reader.page.locator("#q-which")
    said = box.locator("[role=status]")
    assert not box.get_by_text("By one.").first.is_visible()
    box.get_by_role("button", name="Check").press("Enter")
    assert "Choose one first" in said.inner_text()
    box.get_by_role("radio").first.press("Space")
    box.get_by_role("button", name="Check").press("Enter")
    assert "Not this one" in said.inner_text() and "It is smaller" in said.inner_text()
    box.get_by_role("radio").first.press("ArrowDown")
    box.get_by_role("button", name="Check").press("Enter")
    assert "Right" in said.inner_text() and "By one" in said.inner_text()
    assert reader.page.evaluate("localStorage['ocolib:done:q-which']")


def test_a_number_is_answered(reader):
    box = reader.page.locator("#q-number")
    said, field = box.locator("[role=status]"), box.get_by_label("Your number")
    for given, words in (
        ("six", "Write a number"),
        ("6", "Half too much"),
        ("7", "Not this number"),
        ("11/2", "Right"),
    ):
        field.fill(given)
        field.press("Enter")
        assert words in said.inner_text(), given


def test_a_proof_is_put_in_order_and_a_false_line_found(reader):
    order = reader.page.locator("#ex-order")
    for wanted in range(3):  # bring each line up to its place, by keyboard
        while order.locator("ol.order > li").nth(wanted).get_attribute("data-place") != str(wanted):
            order.locator(f'li[data-place="{wanted}"]').get_by_label("Move this line up").press("Enter")
    order.get_by_role("button", name="Check").press("Enter")
    assert "This is the proof" in order.locator("[role=status]").inner_text()
    flaw = reader.page.locator("#ex-all-equal")
    flaw.get_by_role("radio").last.press("Space")
    flaw.get_by_role("button", name="Check").press("Enter")
    assert "This is the false line" in flaw.inner_text() and "solved" in flaw.inner_text()


def test_an_answer_does_not_see_what_the_reader_changed(reader):
    reader.write(FIRST, "np = exercises = None")
    reader.run(FIRST)
    reader.write(STUB, live_fixture.ANSWER)
    reader.press(STUB, "Run and check")
    reader.result(STUB)
    assert "right in all" in reader.verdict()


def test_a_solution_that_the_reader_runs_records_nothing(reader):
    reader.cell(SOLUTION).locator("summary").click()
    assert "✓ right" in reader.run(SOLUTION)
    assert not reader.solved()


def test_an_error_in_the_answer_is_no_tick(reader):
    reader.write(STUB, live_fixture.CODE.replace("return None", "return 1 / 0"))
    reader.press(STUB, "Run and check")
    reader.result(STUB)
    assert "ZeroDivisionError" in reader.verdict()
    reader.write(STUB, "exercises.check_value()")
    reader.press(STUB, "Run and check")
    assert "TypeError" in reader.result(STUB)
    assert "The check did not finish" in reader.verdict()
    assert not reader.solved()


def test_a_deleted_check_is_named_and_comes_back(reader):
    answer, _, check = live_fixture.ANSWER.rpartition("\n")
    reader.write(STUB, answer)
    reader.press(STUB, "Run and check")
    assert "no output" not in reader.result(STUB)
    assert "no longer has the line that checks your answer" in reader.verdict() and check in reader.verdict()
    assert not reader.solved()
    reader.press(STUB, "Put it back")
    assert "The check is back" in reader.verdict()
    reader.press(STUB, "Run and check")
    reader.result(STUB)
    assert reader.verdict() == "✓ right in all 2 cases" and reader.solved()


def test_a_right_answer_is_ticked_everywhere_and_remembered(reader, context, site, tmp_path):
    reader.write(STUB, live_fixture.ANSWER)
    reader.press(STUB, "Run and check")
    reader.result(STUB)
    assert reader.verdict() == "✓ right in all 2 cases" and reader.solved()
    other = Reader(context.new_page(), site)  # as after a reload, which would end Python here
    other.open("live")
    assert other.verdict() == "✓ Solved: this is the code that passed."
    assert "not yet" not in other.cell(STUB).inner_text()
    assert "return 2 * x" in other.cell(STUB).locator(".live-draft").inner_text()
    assert "✓ solved" in other.page.locator("#ex-twice .admonition-title").first.inner_text()
    other.open("exercises")
    items = other.page.locator(".live-exercises li")
    assert items.count() == 3 and items.first.inner_text() == "Exercise 1: twice ✓ solved warm-up, 2 minutes"
    sidebar = other.page.locator(".bd-sidebar-primary a", has_text="A live page")
    sidebar.locator(".live-count").wait_for()
    assert sidebar.inner_text().endswith("1/3")
    tools = other.page.locator(".live-tools").first
    assert "1 of 3 solved" in tools.inner_text()
    filters = other.page.locator(".live-filters")
    assert filters.get_by_role("link", name="Next unsolved").get_attribute("href").endswith("#ex-all-equal")
    for label, value, left in (("Kind", "proof", 2), ("Level", "standard", 1), ("State", "solved", 0)):
        filters.get_by_label(label).select_option(value)
        assert other.page.locator(".live-exercises li:visible").count() == left
        assert f"{left} shown" in filters.inner_text()
    assert not filters.get_by_role("link", name="Next unsolved").is_visible()

    with other.page.expect_download() as download:
        tools.get_by_role("button", name="Save to a file").click()
    file = tmp_path / "progress.json"
    download.value.save_as(file)
    saved = json.loads(file.read_text("utf8"))
    assert list(saved["done"]) == ["ex-twice"] and "return 2 * x" in saved["edits"]["book/live:ex-twice"]

    other.page.once("dialog", lambda dialog: dialog.accept())
    tools.get_by_role("button", name="Clear").click()
    assert "0 of 3 solved" in tools.inner_text()
    (tmp_path / "bad.json").write_text('{"done": 3}', "utf8")
    tools.locator("input[type=file]").set_input_files(tmp_path / "bad.json")
    tools.get_by_text("Nothing was changed").wait_for()
    tools.locator("input[type=file]").set_input_files(file)
    tools.get_by_text("Solved exercises: 1, changed cells: 1").wait_for()
    assert "1 of 3 solved" in tools.inner_text()
    other.open("live")
    assert "return 2 * x" in other.cell(STUB).locator(".live-draft").inner_text()
    other.page.close()


# ---------------------------------------------------------------- the seal

LEAK = """\
import js
from pyodide.http import open_url


def ask():
    request = js.XMLHttpRequest.new()
    request.open("GET", "/leak", False)
    request.send()


ways = {
    "XMLHttpRequest": ask,
    "fetch": lambda: js.fetch("/leak"),
    "self.fetch": lambda: js.self.fetch("/leak"),
    "prototype": lambda: js.Object.getPrototypeOf(js.self).fetch("/leak"),
    "importScripts": lambda: js.importScripts("/leak"),
    "Worker": lambda: js.Worker.new("/leak"),
    "WebSocket": lambda: js.WebSocket.new("ws://localhost/leak"),
    "EventSource": lambda: js.EventSource.new("/leak"),
    "sendBeacon": lambda: js.navigator.sendBeacon("/leak"),
    "FontFace": lambda: js.FontFace.new("x", "url(/leak)").load(),
    "caches": lambda: js.caches.open("x"),
    "files": lambda: js.webkitRequestFileSystemSync(0, 10),
    "storage": lambda: js.navigator.storage.getDirectory(),
    "open_url": lambda: open_url("/leak"),
    "eval": lambda: js.eval("fetch('/leak')"),
    "Function": lambda: js.Function.new("return import('/leak')")(),
    "again": lambda: js.Object.defineProperty(js.self, "fetch", js.JSON.parse('{"value": 1}')),
    "loadPyodide": lambda: js.loadPyodide(js.JSON.parse('{"indexURL": "/leak"}')),
}
for name, way in ways.items():
    try:
        way()
        print(name, "is open")
    except BaseException:
        print(name, "is closed")"""

# the worker obeys the messages of the page, and a cell can call what hears them
MESSAGES = """\
import js

part = '{"name": "leak", "bytes": 1, "sha256": "00"}'
parts = ", ".join(f'"{name}": {part}' for name in ("numpy", "packages", "wasm", "stdlib"))
busy = r"import time\\nend = time.monotonic() + 1\\nwhile time.monotonic() < end: pass"
for data in (
    '{"type": "start", "base": "%s/", "parts": {%s}}' % (js.location.origin, parts),
    '{"type": "run", "source": "%s", "name": "x", "setting": "{}", "address": "%s/leak"}'
    % (busy, js.location.origin),
):
    js.onmessage(js.JSON.parse('{"data": %s}' % data))"""


def test_a_cell_cannot_send_anything_not_even_to_its_own_server(reader):
    reader.write(A, LEAK)
    told = reader.run(A).splitlines()
    assert len(told) == 18 and not [line for line in told if not line.endswith("is closed")]
    reader.write(A, MESSAGES)
    reader.run(A)
    reader.page.wait_for_timeout(2000)
    assert not [path for path in live_fixture.Strict.asked if "leak" in path]
    reader.page.evaluate("window.violations = []")  # the policy had something to say about eval
    reader.press(A, "Reset")
    reader.write(A, "while True:\n    pass")
    reader.press(A)
    reader.cell(A).get_by_text("Running", exact=True).wait_for(timeout=START)
    reader.press(A, "Stop")
    assert "All variables are kept" in reader.result(A), "Stop still works"


def load_from_a_file(context, site, folder, number, source):
    """Load a progress file with other code for one cell on another tab; return that tab with the page."""
    other = Reader(context.new_page(), site)
    other.open("live")
    cells = other.page.evaluate("JSON.parse(document.getElementById('live-page').textContent).cells")
    file = folder / "progress.json"
    edits = {f"book/live:{cells[number - 1]['key']}": source}
    file.write_text(json.dumps({"format": "ocolib progress 1", "done": {}, "edits": edits}), "utf8")
    other.open("exercises")
    other.page.locator("input[type=file]").set_input_files(file)
    other.page.get_by_text("changed cells: 1").wait_for()
    other.open("live")
    return other


def test_code_from_a_file_runs_only_where_it_is_seen(context, site, reader, tmp_path):
    other = load_from_a_file(context, site, tmp_path, A, "a = 2\nprint('from a file')")
    assert "came from a file" in other.state(A) and "came from a file" in reader.state(A)
    other.page.close()
    reader.press(SHOW)
    reader.result(SHOW)
    assert f"Cell {A} has code from a file" in reader.state(SHOW)
    assert not reader.cell(A).locator(".live-output").is_visible()
    assert "from a file" in reader.run(A)
    assert "b is 3" in reader.run(SHOW)


def test_code_from_a_file_is_not_run_to_bring_a_result_up_to_date(context, site, reader, tmp_path):
    load_from_a_file(context, site, tmp_path, B, "b = 9\nprint('from a file')").page.close()
    reader.write(A, "a = 4")
    reader.run(A)
    reader.cell(SHOW).get_by_role("button", name="Bring up to date").click()
    reader.cell(B).get_by_text(f"Cell {B} has code from a file").wait_for()
    assert not reader.cell(B).locator(".live-output").is_visible()
    assert "b is 9" not in reader.cell(SHOW).locator(".live-output-body").inner_text()


def test_code_from_a_file_that_replaces_a_waiting_cell_is_not_run(context, site, reader, tmp_path):
    """Its Run was pressed for other code, which the reader had seen."""
    reader.write(A, "while True:\n    pass")
    reader.press(A)
    reader.cell(A).get_by_text("Running", exact=True).wait_for(timeout=START)
    reader.press(B)
    load_from_a_file(context, site, tmp_path, B, "b = 9\nprint('from a file')").page.close()
    reader.press(A, "Stop")
    reader.cell(B).get_by_text(f"Cell {B} has code from a file").wait_for(timeout=START)
    assert not reader.cell(B).locator(".live-output").is_visible()


# ---------------------------------------------------------------- the machinery


def test_the_policy_is_kept(reader):
    reader.write(A, "a = 3")
    broken = [
        text for text in reader.page.evaluate("window.violations") if "live" in text or "editor" in text
    ]
    assert not broken and not reader.complaints


def test_a_browser_that_cannot_gets_a_sentence(browser, site, folder):
    context = browser.new_context()
    page = context.new_page()
    page.goto(Path(folder, "book", "live.html").as_uri())
    assert "make serve" in page.locator("div.cell").first.inner_text()
    assert page.locator(".live-run").count() == 0
    context.add_init_script("delete globalThis.WebAssembly")
    page = context.new_page()
    page.goto(f"{site}/live.html")
    assert "no WebAssembly" in page.locator("div.cell").first.inner_text()
    context.close()


def test_without_storage_the_page_works_and_says_so(browser, site):
    context = browser.new_context()
    context.set_default_timeout(SHORT)
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('off'); } });"
        "delete window.caches;"
    )
    page = Reader(context.new_page(), site)
    page.open("live")
    page.write(A, 'print("kept nowhere")')
    assert "Storage is switched off" in page.state(A)
    context.close()


def test_the_keyboard_alone_is_enough(reader):
    reader.cell(A).get_by_role("button", name=re.compile("^Run")).focus()
    reader.page.keyboard.press("Enter")
    reader.result(A)
    if reader.cell(A).locator(".live-editor").count():
        reader.cell(A).locator(".live-editor .cm-content").focus()
    else:
        reader.page.keyboard.press("Tab")
        reader.page.keyboard.press("Enter")
        reader.cell(A).locator(".live-editor .cm-content").wait_for()
    reader.page.keyboard.press("Control+End")
    reader.page.keyboard.insert_text("\nprint('typed')")
    reader.page.keyboard.press("Shift+Enter")
    assert "typed" in reader.result(A)
    reader.page.keyboard.press("Escape")
    assert reader.page.evaluate("document.activeElement.classList.contains('live-run')")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_in_both_themes(browser, site, theme):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=theme)
    page = Reader(context.new_page(), site)
    page.open("live")
    page.write(STUB, live_fixture.ANSWER.replace("2 * x", "2 * x + " + "0 * " * 40 + "x"))
    width = page.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1]
    heights = page.page.locator(".live-button:visible").evaluate_all("all => all.map(b => b.offsetHeight)")
    assert min(heights) >= 24, "a finger needs 24 px"
    context.close()
