"""The slides: no slide overflows its frame, nothing is fetched, the notes open, links lead to the book."""

import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from press.print import slides

pytestmark = pytest.mark.browser
# Two pages with every kind of slide; all decks are made in `make long`.
SOME = ["book/lecture-17-ftrl/index", "book/lecture-17-ftrl/experts"]
MAKE_SOME = """
import sys
from pathlib import Path
from press.print import built, slides
target = Path(sys.argv[1])
slides.write_files(target, built.HTML)
print(slides.write("Two pages", sys.argv[2:], target, built.HTML))
"""
# Each slide in turn, as it is shown: what is larger than its frame, or not where the frame is.
OVERFLOWS = """() => Reveal.getSlides().flatMap(slide => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const body = slide.querySelector('.fit'), figure = slide.querySelector('moving-figure');
  const [frame, inner] = [slide, body].map(e => e.getBoundingClientRect().bottom);
  const tall = slide.scrollHeight > slide.clientHeight + 1 || inner > frame - 30;
  const wide = body.scrollWidth > body.clientWidth + 1;
  const cut = figure && figure.scrollHeight > figure.clientHeight + 1;
  const away = slide.getBoundingClientRect().top > 30;
  const wrong = tall || wide || cut || away;
  return wrong ? [[slide.id, slide.scrollHeight, body.scrollWidth, body.clientWidth, away]] : [];
})"""
# The smallest letters of each slide, as a hall sees them; formulas have indices, which are smaller.
SMALL = """() => Reveal.getSlides().flatMap(slide => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const zoomed = element => {
    let zoom = 1;
    for (let e = element; e !== slide; e = e.parentElement) zoom *= parseFloat(getComputedStyle(e).zoom);
    return zoom;
  };
  const found = [], walk = document.createTreeWalker(slide.querySelector('.fit'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const words = walk.currentNode.data.trim(), element = walk.currentNode.parentElement;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    if (!words || element.closest('mjx-container, style') || !range.getClientRects().length) continue;
    const { a, b, c, d } = element.closest('svg') ? element.getScreenCTM() : {};
    const scale = a === undefined ? zoomed(element) : Math.sqrt(Math.abs(a * d - b * c));
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < 17.95) found.push([slide.id, size, words.slice(0, 40)]);
  }
  return found.slice(0, 1);
})"""
KINDS = "() => Reveal.getSlides().map(slide => slide.dataset.kind)"


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.long)])
def decks(request, html, browser, tmp_path_factory):
    target = tmp_path_factory.mktemp("slides")
    some, every = ["-c", MAKE_SOME, target, *SOME], ["-m", "press", "slides", "--to", target]
    command = [sys.executable, *(some if request.param == "some" else every)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    files = [Path(line) for line in done.stdout.splitlines()]
    made = {slides.folder_of(SOME)} if request.param == "some" else set(slides.chapters())
    assert {file.parent.name for file in files} == made
    return files


@pytest.fixture
def opened(browser):
    """A deck as a class sees it, in a page that notes what goes wrong and what is asked for."""
    page = browser.as_read(viewport=slides.SIZE).new_page()
    page.wrong, page.asked = [], []
    page.on("console", lambda message: message.type == "error" and page.wrong.append(message.text))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    page.context.close()


def show(page, file):
    page.goto(file.as_uri())
    page.locator(".reveal.ready").wait_for()
    page.evaluate("document.fonts.ready.then(() => true)")


def test_every_slide_fits_its_frame(decks, opened):
    for file in decks:
        show(opened, file)
        assert opened.evaluate(OVERFLOWS) == [], file
        assert opened.evaluate("Reveal.getTotalSlides()") > 5


def test_letters_can_be_read_in_the_last_row(decks, opened):
    """18 pixels and more on a frame of 1280 by 720, in drawings too; smaller ones would be noticed."""
    for file in decks:
        show(opened, file)
        assert opened.evaluate(SMALL) == [], file
    opened.evaluate("document.querySelector('.fit p').style.fontSize = '12px'")
    assert opened.evaluate(SMALL)


def test_no_slide_answers_its_exercise_or_has_what_only_a_page_needs(decks, opened):
    for file in decks:
        show(opened, file)
        for wrong in (".exercise :is(details, input, button)", ".fit :is(.slip, details.formal)"):
            assert opened.locator(wrong).count() == 0
        texts = opened.evaluate(
            "[...document.querySelectorAll('[data-kind=exercise] .fit')].map(e => [...e.querySelectorAll("
            "'.exercise > :not(.admonition-title, .exercise-facts)')].map(p => p.textContent).join(''))"
        )
        assert texts and all(len(text) > 20 for text in texts), "each has the text of its exercise"


def test_the_spoken_form_of_a_formula_is_not_shown_beside_it(decks, opened):
    show(opened, decks[0])
    add = """document.querySelector('.present .fit').insertAdjacentHTML(
      'beforeend', '<p>○ <span class="visually-hidden">3 4</span></p>')"""
    opened.evaluate(add)
    box = opened.locator(".present .visually-hidden").last.bounding_box()
    assert box["width"] < 2 and box["height"] < 2


def test_a_slide_that_is_too_long_would_be_noticed(decks, opened):
    show(opened, decks[0])
    opened.evaluate("document.querySelector('.fit').style.paddingTop = '900px'")
    assert opened.evaluate(OVERFLOWS)


def measured(page, deck, content):
    """A slide with this content after it was made to fit, as markup."""
    slide = f'<section id="x" class="leaf"><div class="fit">{content}</div><aside>said</aside></section>'
    file = deck.with_name("long.html")
    file.write_text(slides.page_of("long", f"<section>{slide}</section>", ()), "utf8")
    page.goto(file.as_uri())
    file.unlink()
    made = page.evaluate((slides.RECIPE / "fit.js").read_text("utf8"), slides.SIZE)
    return made.removeprefix("\n<section>").removesuffix("</section>\n")


def test_what_does_not_fit_is_split_and_nothing_is_lost(decks, opened):
    words = [f"sentence {n}" for n in range(40)]
    paragraphs = "".join(f"<p>{w}</p>" for w in words)
    made = measured(opened, decks[0], f'<div class="box"><p class="box-head">Head</p>{paragraphs}</div>')
    assert made.count("<section") > 1 and made.count("Head") == made.count("<section")
    assert [word for word in words if f"<p>{word}</p>" not in made] == []
    assert made.count("sentence") == 40 and made.count("said") == 1


def test_a_sentence_is_never_taken_apart(decks, opened):
    """A paragraph that is too long alone stays whole, with every formula."""
    words = " ".join(f"where <i>x{n}</i> {'is small ' * 30}" for n in range(12))
    made = measured(opened, decks[0], f"<p>{words}</p>")
    assert made.count("<section") == 1 and made.count("<i>") == 12


def test_letters_and_layout_are_there_before_anything_is_measured(decks, opened):
    """A browser fetches letters for what it has laid out, and lays a far section out late."""
    measured(opened, decks[0], "<p>short</p>")
    status = set(opened.evaluate("[...document.fonts].map(face => face.status)"))
    assert "loaded" in status <= {"loaded", "error"}, "one that stands in may be missing here"
    assert opened.evaluate("getComputedStyle(document.querySelector('.leaf')).contentVisibility") == "visible"


def test_it_needs_no_one_and_keeps_to_its_policy(decks, opened):
    for file in decks:
        show(opened, file)
        assert 'http-equiv="Content-Security-Policy"' in file.read_text("utf8")
        opened.evaluate(OVERFLOWS)
    assert opened.wrong == []
    assert {urlsplit(url).scheme for url in opened.asked} <= {"file", "data"}


def test_it_shows_all_kinds(decks, opened):
    kinds = set()
    for file in decks:
        show(opened, file)
        kinds |= set(opened.evaluate(KINDS))
    shown = {
        "cover",
        "title",
        "statement",
        "picture",
        "moving",
        "chain",
        "break",
        "remember",
        "proof",
        "exercise",
    }
    assert shown <= kinds


def test_a_proof_appears_line_by_line(decks, opened):
    """A key shows the next line, and only after the last one the next slide."""
    show(opened, decks[0])
    name, lines = opened.evaluate(
        "() => { const s = Reveal.getSlides().find(s => s.dataset.kind === 'proof' && "
        "s.querySelectorAll('.fragment').length > 1); return [s.id, s.querySelectorAll('.fragment').length] }"
    )
    opened.goto(f"{decks[0].as_uri()}#/{name}")
    opened.reload()
    opened.locator(".reveal.ready").wait_for()
    visible = "Reveal.getCurrentSlide().querySelectorAll('.fragment.visible').length"
    for number in range(lines):
        assert opened.evaluate(visible) == number
        opened.keyboard.press("Space")
    assert opened.evaluate("Reveal.getCurrentSlide().id") == name and opened.evaluate(visible) == lines


def test_figures_move(decks, opened):
    show(opened, decks[0])
    assert opened.evaluate(
        "() => [...document.querySelectorAll('moving-figure')].every(f => f.querySelector('.mf-stage svg'))"
    )


def test_links_lead_to_pages_of_the_book_and_pictures_are_there(decks, opened):
    for file in decks:
        show(opened, file)
        found = opened.evaluate("[...document.querySelectorAll('.slides a[href]')].map(a => a.href)")
        local = {unquote(urlsplit(urldefrag(url)[0]).path) for url in found if url.startswith("file:")}
        assert local and all(Path(path).exists() for path in local)
        sources = opened.evaluate(
            "[...document.querySelectorAll('.slides img')].map(i => i.dataset.src || i.src)"
        )
        assert all(Path(unquote(urlsplit(url).path)).exists() for url in sources)


def test_prose_is_in_the_speakers_notes(decks, opened):
    show(opened, decks[0])
    opened.evaluate("Reveal.slide(1, 1)")
    words = opened.evaluate("Reveal.getCurrentSlide().querySelector('aside.notes').textContent.trim()")
    assert words
    with opened.expect_popup() as popup:
        opened.keyboard.press("s")
    view = popup.value
    first = " ".join(words.split()[:3])
    view.locator(".speaker-controls-notes .value").filter(has_text=first).wait_for()
    view.close()
    assert opened.wrong == []


def test_keys_turn_slides_and_the_address_names_them(decks, opened):
    show(opened, decks[0])
    opened.keyboard.press("ArrowRight")
    opened.keyboard.press("ArrowDown")
    indices = opened.evaluate("Reveal.getIndices()")
    assert (indices["h"], indices["v"]) == (1, 1)
    name = opened.evaluate("Reveal.getCurrentSlide().id")
    opened.wait_for_url(lambda url: url.endswith(f"#/{name}"))  # reveal.js writes it a little later


def test_it_prints_a_sheet_a_slide(decks, opened, tmp_path):
    from pypdf import PdfReader

    show(opened, decks[0])
    many = opened.evaluate("Reveal.getTotalSlides()")
    opened.goto(decks[0].as_uri() + "?print-pdf")
    opened.locator(".pdf-page").nth(many - 1).wait_for()
    place = "[...document.querySelectorAll('.pdf-page .fit')].map(e => e.getBoundingClientRect().left)"
    assert min(opened.evaluate(place)) > 60, "a printer leaves the margin white"
    opened.pdf(path=tmp_path / "deck.pdf", prefer_css_page_size=True, print_background=True)
    assert len(PdfReader(tmp_path / "deck.pdf").pages) == many
