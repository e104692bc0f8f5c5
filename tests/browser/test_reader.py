"""The book as it is read: accessible in light and dark, on a desk and a phone; light; kept in focus."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
from built_pages import FRAMES
from contrast import contrast

from press import ledger

pytestmark = pytest.mark.browser

FIVE = [
    "book/intro.html",
    "book/lecture-13-oco/follow-the-leader.html",
    "book/lecture-17-ftrl/experts.html",
    "book/limits/gradient-descent.html",
    "book/concordance.html",
]
ONCE = [
    (name, *way)
    for name, way in zip(
        [*FIVE[:4], "book/notation.html"],  # axe takes ten seconds for the concordance
        [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"), (1280, "light")],
        strict=True,
    )
]
HTML = ledger.ROOT / "_build" / "html"
OTHERS = sorted(p.relative_to(HTML).as_posix() for p in HTML.glob("book/**/*.html"))
# Shadows that hint at more to scroll, and sections that are not laid out yet, keep axe from reading the
# colour under a text, so they are taken away first. What it then leaves open was looked at by hand: single
# letters in code and formulas, and signs (they have the colours of longer neighbours, which it measures);
# what lies below the fold of its own scrolling column; the two lines of the title in the sidebar, under which
# different links scroll; letters in drawings, whose colour is a fill that it does not read, so `FILLS` does.
BY_HAND = ["shortTextContent", "nonBmp", "elmPartiallyObscured", "elmPartiallyObscuring", "bgOverlap"]
BY_HAND += ["imgNode"]
THEME = """theme => {
  document.documentElement.dataset.theme = document.documentElement.dataset.mode = theme;
  document.getAnimations().forEach(fading => fading.finish());
}"""
AXE = """async byHand => {
  const plain = new CSSStyleSheet();
  plain.replaceSync(
    ':is(*, #any) { background-image: none !important; content-visibility: visible !important; }');
  document.adoptedStyleSheets = [plain];
  const {violations, incomplete} = await axe.run(document, {resultTypes: ['violations', 'incomplete']});
  const open = node => ![...node.any, ...node.all, ...node.none]
    .some(check => byHand.includes(check.data?.messageKey));
  const said = (rule, nodes) => nodes.map(node => `${rule.id}: ${node.html.slice(0, 120)}`);
  return [...violations.flatMap(rule => said(rule, rule.nodes)),
          ...incomplete.flatMap(rule => said(rule, rule.nodes.filter(open)))];
}"""
FILLS = """() => [...document.querySelectorAll('article svg :is(text, tspan)')]
  .filter(node => node.textContent.trim() && node.getClientRects().length)
  .map(node => [node.textContent, getComputedStyle(node).fill,
                getComputedStyle(document.body).backgroundColor])"""
SHIFT = """() => new Promise(done => new PerformanceObserver(list =>
  done(list.getEntries().filter(e => !e.hadRecentInput).reduce((sum, e) => sum + e.value, 0)))
  .observe({type: 'layout-shift', buffered: true}) || setTimeout(() => done(0), 600))"""
# A page fetches the rest of its letters when all else is done: they are part of what the first page costs.
LETTERS = """async () => {
  while ([...document.fonts].some(face => face.family.includes('MJX') && face.status !== 'loaded')) {
    await new Promise(requestAnimationFrame);
  }
}"""
FIRST, NEXT, MOVES = 330_000, 50_000, 0.05
PAGE = FIVE[1]


@pytest.fixture(scope="module")
def axe():
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf8")


def violations(page, mode):
    """What a page breaks in this theme."""
    page.evaluate(THEME, mode)
    found = page.evaluate(AXE, BY_HAND)
    for words, *colours in page.evaluate(FILLS):
        if contrast(*([float(part) for part in re.findall(r"[\d.]+", colour)] for colour in colours)) < 4.5:
            found.append(f"in a drawing: {words} {colours}")
    return found


@pytest.mark.parametrize(("name", "width", "mode"), ONCE)
def test_five_pages_are_accessible(name, width, mode, visit, axe, address):
    """Each once, and all ways are among them; `make long` has every page in every way."""
    page = visit(f"{address}/{name}", viewport={"width": width, "height": 900})
    page.evaluate(axe)
    assert violations(page, mode) == []


@pytest.mark.long
@pytest.mark.parametrize("name", [*OTHERS, "search.html", "404.html"])
def test_every_page_is_accessible(name, visit, axe, address):
    """With its folds open; a page is loaded once and changes its width and its theme in place."""
    page = visit(f"{address}/{name}", viewport={"width": 1280, "height": 900})
    page.evaluate(axe)
    page.evaluate("document.querySelectorAll('article details').forEach(fold => { fold.open = true; })")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for mode in ("light", "dark"):
            assert violations(page, mode) == [], f"{width} {mode}"


@pytest.mark.parametrize("name", FIVE)
def test_a_page_is_light_and_holds_still(name, browser, packed_address, tell):
    """Bytes as they travel, before scrolling; then for the next page of the same visit."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    sizes = []
    client.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))

    def weigh(url):
        sizes.clear()
        page.goto(url, wait_until="load")
        shift = page.evaluate(SHIFT)
        page.evaluate(LETTERS)
        return sum(sizes), len(sizes), shift

    first, requests, shift = weigh(f"{packed_address}/{name}")
    after = FIVE[(FIVE.index(name) + 1) % len(FIVE)]
    following, *_ = weigh(f"{packed_address}/{after}")
    context.close()
    tell(f"{name}: {first / 1000:.0f} kB in {requests} requests, shift {shift:.3f}")
    tell(f"{after} as the next page: {following / 1000:.0f} kB")
    assert first <= FIRST
    assert shift < MOVES
    assert following <= NEXT


FACES = """() => [...document.fonts].filter(face => face.family.includes('Companion Serif')
  && face.status === 'loaded').map(face => face.display)"""


@pytest.mark.parametrize(("scheme", "display"), [("http", "optional"), ("file", "swap")])
def test_the_book_is_set_in_its_own_letters(scheme, display, browser, address, html):
    """From a file they come later than an optional face may: there it would be loaded and never shown."""
    page = browser.new_page()  # the letters of a page before this one would be there at once
    page.goto(f"{address}/{PAGE}" if scheme == "http" else Path(html, PAGE).as_uri(), wait_until="load")
    page.wait_for_function(f"({FACES})().length === 2")  # upright and italic
    assert page.evaluate(FACES) == [display] * 2
    page.close()


@pytest.mark.parametrize("name", FIVE)
def test_an_enlarged_page_needs_no_scrolling_sideways(name, visit, address):
    page = visit(f"{address}/{name}", viewport={"width": 640, "height": 450}, device_scale_factor=2)
    for width in (640, 320):  # a desk of 1,280 points, enlarged two and four times
        page.set_viewport_size({"width": width, "height": 450})
        page.evaluate(FRAMES)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def at(page, url):
    """Go there, unless it is there: the tests below leave the page as they found it, but for a fold."""
    if page.url != url:
        page.goto(url)


def test_a_box_says_what_it_is_and_has_an_address(desktop, address):
    at(desktop, f"{address}/{PAGE}")
    heads = desktop.locator(".box-head")
    assert heads.count() == 7
    assert heads.nth(0).locator(".kind").inner_text() == "Algorithm (2)"
    assert heads.nth(0).locator(".name").inner_text() == "Follow the leader"
    assert heads.nth(5).locator(".kind").inner_text() == "Theorem 1"
    for place in desktop.locator(".box:not(.proof), figure, div.exercise").all():
        identifier = place.get_attribute("id")
        assert place.locator(f'.headerlink[href="#{identifier}"]').count() == 1


def test_a_theorem_leads_to_its_row_and_the_row_back(desktop, address):
    desktop.goto(f"{address}/{PAGE}")
    desktop.locator("#ox13-thm1 .source").click()
    desktop.wait_for_url("**/concordance.html#row-ox13-thm1")
    desktop.locator("#row-ox13-thm1 a").first.click()
    desktop.wait_for_url("**/follow-the-leader.html#ox13-thm1")


def test_a_proof_has_a_head_and_an_end(desktop, address):
    at(desktop, f"{address}/{PAGE}")
    proofs = desktop.locator(".box.proof")
    assert proofs.count() > 0
    for proof in proofs.all():
        assert proof.locator(".kind").first.inner_text() == "Proof."
        assert proof.locator(".qed").count() == 1


def test_a_fold_keeps_its_title(desktop, address):
    at(desktop, f"{address}/{PAGE}")
    fold = desktop.locator("details.solution > summary").first
    title = fold.inner_text()
    assert title == "Worked solution of exercise 1"
    fold.click()
    assert fold.inner_text() == title
    assert desktop.get_by_role("group").locator("summary", has_text=title).count() == 1


def test_on_paper_no_box_stays_behind_when_its_text_moves_to_the_next_sheet(desktop, address):
    at(desktop, f"{address}/{PAGE}")
    desktop.emulate_media(media="print")
    kept = desktop.locator("article :is(.cell_input, .box, .quick):visible").evaluate_all(
        "boxes => boxes.map(box => getComputedStyle(box).breakInside)"
    )
    desktop.emulate_media(media="screen")
    assert len(kept) > 10 and set(kept) == {"avoid"}


INKS = """() => [...document.querySelectorAll('article .highlight span')]
  .filter(part => part.checkVisibility()).map(part => getComputedStyle(part).color)"""


def test_a_dark_page_is_printed_in_ink_under_its_own_title(desktop, address):
    at(desktop, f"{address}/{PAGE}")
    desktop.evaluate(THEME, "dark")
    desktop.emulate_media(media="print")
    inks, titles = set(desktop.evaluate(INKS)), desktop.locator("h1:visible").all_inner_texts()
    desktop.emulate_media(media="screen")
    desktop.evaluate(THEME, "light")
    assert inks
    for ink in inks:
        assert contrast([float(part) for part in re.findall(r"[\d.]+", ink)], [255, 255, 255]) >= 4.5, ink
    assert len(titles) == 1


def test_no_formula_is_a_stop_of_the_tabulator(desktop, address):
    at(desktop, f"{address}/{PAGE}")
    stops = "() => [...document.querySelectorAll('mjx-container')].filter(f => f.tabIndex >= 0).length"
    assert desktop.evaluate(stops) == 0
    assert desktop.locator("mjx-container mjx-assistive-mml math").count() > 50


@pytest.mark.parametrize("button", [".theme-switch-button", ".primary-toggle"])
def test_a_button_keeps_the_focus(button, desktop, address):
    desktop.goto(f"{address}/{PAGE}")
    desktop.locator(button).focus()
    desktop.keyboard.press("Enter")
    desktop.wait_for_function(f"document.activeElement.matches('{button}')")
    desktop.keyboard.press("Enter")


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_search_by_keyboard(scheme, browser, address, html):
    page = browser.new_page()
    page.goto(f"{address}/{PAGE}" if scheme == "http" else Path(html, PAGE).as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type("Theorem 2 of Lecture 13")
    first = page.locator("#pst-search-dialog .finder a").first
    first.wait_for()
    assert "Theorem · Lecture 13" in first.locator(".what").inner_text()
    assert first.locator("mjx-container").count() > 0, "its formulas are set"
    page.keyboard.press("Enter")
    page.wait_for_url("**/online-subgradient-descent.html#ox13-thm2")
    page.close()


def test_the_concordance_can_be_filtered(desktop, address):
    desktop.goto(f"{address}/book/concordance.html")
    rows = desktop.locator("table.concordance tbody tr")
    before = rows.count()
    desktop.locator("#filter").fill("pinsker")
    shown = rows.locator("visible=true").count()
    assert 0 < shown < before / 10
    assert desktop.locator(".filter output").inner_text() == f"{shown} of {before}"


def test_formulas_can_be_explored_on_demand(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/{PAGE}")
    page.locator("[data-explore]").click()
    page.wait_for_selector("[data-explore][aria-pressed=true]", timeout=60_000)
    formula = page.locator("mjx-container").nth(3)
    page.wait_for_function(
        "document.querySelectorAll('mjx-container[tabindex=\"0\"]').length > 50", timeout=60_000
    )
    formula.focus()
    page.keyboard.press("Enter")
    spoken = "document.querySelector('.MJX_LiveRegion, [aria-live]')?.textContent"
    page.wait_for_function(spoken, timeout=60_000)
    page.close()
