"""Every page of the built book, seen as a reader sees it: in a browser, without the network."""

import re
from pathlib import Path
from urllib.parse import urlparse

import pytest
from built_pages import FILES, FRAMES, VIOLATIONS
from contrast import contrast
from fontTools.ttLib import TTFont

from press.html import maths

pytestmark = pytest.mark.browser

NOT_READ = ("_static", "index.html")  # the index only sends a reader on to the first page
PAGES = sorted(path.as_posix() for path in FILES if path.parts[0] not in NOT_READ)
# pages of one template: in `make test` the first of each folder stands for the others
ALIKE = [name for folder in ("book/formal/", "book/reference/") for name in PAGES if name.startswith(folder)]
FIRST = [
    next(name for name in ALIKE if name.startswith(folder)) for folder in ("book/formal", "book/reference")
]
every_page = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long) if name in ALIKE and name not in FIRST else name
        for name in PAGES
    ],
)

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
RAW_TEX = re.compile(r"\\[(\[]|\$\$|\\(?:frac|sum|eta|le)\b")
MATH = """async () => {
  if (window.MathJax) await MathJax.startup.promise;  // only where no node set the formulas
  const spots = [...document.querySelectorAll('.math')];
  const words = document.querySelector('article, main, body').cloneNode(true);
  words.querySelectorAll('pre, code, script, mjx-container').forEach(node => node.remove());
  return {
    unset: spots.filter(spot => !spot.querySelector('mjx-container')).map(s => s.textContent),
    errors: [...document.querySelectorAll('mjx-merror')].map(node => node.textContent),
    text: words.textContent,
  };
}"""
BARE = "() => [...document.images].filter(i => !i.alt.trim()).map(i => i.src)"
BROKEN = "() => [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
TOO_WIDE = """() => {
  const box = node => getComputedStyle(node).overflowX === 'visible' ? box(node.parentElement) : node;
  return [...document.querySelectorAll('mjx-container[display] > mjx-math')]
    .filter(math => math.getBoundingClientRect().width > box(math).clientWidth)
    .map(math => math.closest('.math').textContent.slice(0, 80));
}"""
WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
COLOURS = """() => {
  document.documentElement.dataset.theme = 'dark';
  document.documentElement.dataset.mode = 'dark';
  document.getAnimations().forEach(fading => fading.finish());
  const rgba = text => text.match(/[0-9.]+/g).map(Number);
  const behind = node => {  // a translucent background lies on that of the parent
    const [r, g, b, alpha = 1] = rgba(getComputedStyle(node).backgroundColor);
    const under = alpha < 1 && node.parentElement ? behind(node.parentElement) : [r, g, b];
    return [r, g, b].map((value, i) => alpha * value + (1 - alpha) * under[i]);
  };
  const read = 'body, article p, article td, article th, article caption, .admonition-title';
  return [...document.querySelectorAll(read)]
    .filter(node => node.textContent.trim())
    .map(node => [node.textContent.slice(0, 60), rgba(getComputedStyle(node).color), behind(node)]);
}"""


@pytest.fixture(scope="module")
def desktop(browser):
    """A page that keeps what its policy refused."""
    page = browser.new_page(viewport=DESK)
    page.add_init_script(VIOLATIONS)
    yield page
    page.close()


def visited(page, url):
    """Open a page on a desk; what it asked other hosts for, what its console and its policy complained of."""
    foreign, complaints = [], []

    def request(request):
        host = urlparse(request.url).hostname
        if host not in (None, "", "localhost"):
            foreign.append(request.url)

    def console(message):
        if message.type == "error":
            complaints.append(message.text)

    def error(exception):
        complaints.append(str(exception))

    watchers = {"request": request, "console": console, "pageerror": error}
    for event, watcher in watchers.items():
        page.on(event, watcher)
    page.goto(url, wait_until="commit")
    page.set_viewport_size(DESK)  # before anything is laid out: afterwards all of it would be laid out again
    page.wait_for_load_state("load")
    state = page.evaluate(MATH)
    complaints += page.evaluate("window.violations")
    for event, watcher in watchers.items():
        page.remove_listener(event, watcher)
    return foreign, complaints, state


def check(page, url):
    foreign, complaints, state = visited(page, url)
    assert not foreign
    assert not complaints
    assert not state["unset"] and not state["errors"]
    assert not RAW_TEX.search(state["text"])


@every_page
def test_a_page_on_a_desk_in_the_dark_and_on_a_phone(name, desktop, address):
    check(desktop, f"{address}/{name}")
    assert not desktop.evaluate(BARE), "images without alt text"
    assert not desktop.evaluate(BROKEN), "images that do not load"
    for words, *colours in desktop.evaluate(COLOURS):
        assert contrast(*colours) > 4.5, words
    desktop.set_viewport_size(PHONE)
    desktop.evaluate(FRAMES)
    width, window = desktop.evaluate(WIDTHS)
    assert width <= window, f"{width} px wide in a window of {window} px"
    assert not desktop.evaluate(TOO_WIDE), "display equations that do not fit"


ON_DISK = [name for name in PAGES if name != "404.html"]  # a server shows that one
ONE_OF_EACH = list({Path(name).parent: name for name in ON_DISK}.values())


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_page_from_a_file(name, desktop, html):
    check(desktop, Path(html, name).as_uri())


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(ON_DISK) - set(ONE_OF_EACH)))
def test_every_other_page_from_a_file(name, desktop, html):
    check(desktop, Path(html, name).as_uri())


def test_the_index_leads_to_the_first_page(desktop, address):
    desktop.goto(f"{address}/index.html")
    desktop.wait_for_url("**/book/intro.html")


def test_search_finds_a_word(desktop, address):
    desktop.goto(f"{address}/search.html?q=regret")
    desktop.wait_for_selector("#search-results .finder li a")


def test_the_seal_holds(desktop, address):
    """Neither a foreign host nor a script that nobody knows gets through."""
    desktop.goto(f"{address}/book/intro.html")
    desktop.evaluate("""() => {
      const script = document.createElement('script');
      script.textContent = 'window.foreign = true';
      document.head.append(script);
      fetch('https://example.org/').catch(() => {});
      setTimeout('window.foreign = true');
    }""")
    # all three were refused before they are reported
    desktop.wait_for_function(
        "kinds => kinds.every(kind => violations.some(text => text.split(' ')[0] === kind))",
        arg=["script-src-elem", "connect-src", "script-src"],
    )
    assert desktop.evaluate("window.foreign === undefined")


def test_the_first_address_says_what_the_book_is(html):
    text = (html / "index.html").read_text("utf8")
    assert "<title>Online Convex Optimisation, Executed</title>" in text
    assert re.search(
        r'<meta name="description" content="[^"]*online convex optimisation', text, re.IGNORECASE
    )
    assert 'url=book/intro.html"' in text and 'href="book/intro.html"' in text


def test_every_html_file_has_the_policy(html):
    texts = {file: file.read_text("utf8") for file in html.rglob("*.html")}
    assert not [file for file, text in texts.items() if "Content-Security-Policy" not in text]


def test_the_head_of_a_page_counts_the_cells_that_run(html):
    """Where nothing can run, nothing is promised."""
    counted = 0
    for file in (html / "book").rglob("*.html"):
        text = file.read_text("utf8")
        said = re.search(r"<span>(\d+) cells? to run</span>", text)
        cells = len(re.findall(r'<div class="cell [^"]*\btag_live\b', text))
        if 'class="page-facts"' in text:
            assert (int(said[1]) if said else 0) == cells, file
            counted += cells
    assert counted > 500


def test_all_pages_name_a_style_sheet_alike(html):
    sheets = {}
    for file in html.rglob("*.html"):
        for name, version in re.findall(
            r'href="[^"]*?(_static/[^"?]+\.css)(\?[^"]*)?"', file.read_text("utf8")
        ):
            sheets.setdefault(name, set()).add(version)
    assert {name: versions for name, versions in sheets.items() if len(versions) > 1} == {}


def test_every_sign_of_a_formula_is_in_its_font(html):
    static = html / "_static"
    css, has = (static / "mathjax.css").read_text("utf8"), {}
    for family, file in re.findall(r'font-family: MJX(TEX[\w-]*);[^}]*?url\("([^"]+)"\)', css):
        has[family] = set(TTFont(static / file).getBestCmap())
    rules = re.findall(r'([^{}]*)\{[^}]*?content: "((?:\\.|[^"\\])*)"', css)
    assert len(rules) > 200
    for selector, text in rules:
        kind = re.search(r"\.(TEX-\w+)::", selector)
        fonts = [kind[1]] if kind else maths.STRETCHED if "stretchy" in selector else ["TEX"]
        signs = set(map(ord, maths.unescape(text)))
        assert any(signs <= has[font] for font in fonts), selector


def test_a_dead_link_leads_to_a_page_with_search(desktop, packed_address):
    desktop.goto(f"{packed_address}/book/nowhere/at-all.html")
    assert desktop.locator("h1").inner_text().startswith("No such page")
    desktop.locator("#search-results input").fill("Pinsker")
    first = desktop.locator("#search-results .finder li a").first
    first.wait_for()
    first.click()
    desktop.wait_for_url("**/entropy-and-pinsker.html*")
