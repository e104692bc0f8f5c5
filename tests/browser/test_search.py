"""Search puts the right page first: a table of what readers type."""

import re

import pytest
from contrast import contrast

pytestmark = pytest.mark.browser

L4, L9, L13, L17 = "lecture-04-online-svm", "lecture-09-perceptron", "lecture-13-oco", "lecture-17-ftrl"
RIGHT = {
    "regret": f"{L13}/the-game",
    "Pinsker": f"{L17}/entropy-and-pinsker",
    "lazy projection": f"{L17}/gradient-descent-lazy-eager",
    "kernel": f"{L9}/kernels-and-optimisation",
    "delay": f"{L4}/late-gradients",
    "softmax": f"{L17}/gibbs-and-softmax",
    "Winnow": f"{L13}/winnow",
    "FTRL": f"{L13}/follow-the-leader",
    "FTL": f"{L13}/follow-the-leader",
    "hedge": f"{L17}/experts",
    "MWU": f"{L17}/experts",
    "multiplicative weights": f"{L17}/experts",
    "exponential weights": f"{L17}/experts",
    "mistake bound": f"{L9}/mistake-bound",
    "OGD": f"{L4}/zinkevich",
    "online gradient descent": f"{L4}/zinkevich",
    "Zinkevich": f"{L4}/zinkevich",
    "dynamic regret": f"{L4}/moving-comparators",
    "online subgradient descent": f"{L13}/online-subgradient-descent",
    "follow the leader": f"{L13}/follow-the-leader",
    "follow the regularized leader": f"{L13}/follow-the-leader",
    "Theorem 1 of Lecture 13": f"{L13}/follow-the-leader",
    "Theorem 2 of Lecture 13": f"{L13}/online-subgradient-descent",
    "theorem 2 lecture 13": f"{L13}/online-subgradient-descent",
    "Example 2 of Lecture 13": f"{L13}/follow-the-leader",
    "(17.3)": f"{L17}/ftrl-bound",
    "17.3": f"{L17}/ftrl-bound",
    "Theorem 17.4": f"{L17}/implicit-bias",
    "Lemma 17.1": f"{L17}/entropy-and-pinsker",
    "Theorem 4.1.3": f"{L4}/zinkevich",
    "subgradient": f"{L13}/subgradients",
    "hinge": f"{L4}/svm-hinge-subgradients",
    "pegasos": "regret-bounds/pegasos",
    "logarithmic regret": "regret-bounds/logarithmic-regret",
    "strongly convex": "regret-bounds/logarithmic-regret",
    "projection": "regret-bounds/projections",
    "huber": "regret-bounds/losses",
    "implicit bias": f"{L17}/implicit-bias",
    "dual averaging": f"{L17}/gradient-descent-lazy-eager",
    "lower bound": "limits/summary",
    "Cover": "limits/experts",
    "sunspots": "reference/data",
    "winow": f"{L13}/winnow",  # one slip is forgiven
    "multiplicative wieghts": f"{L17}/experts",
    "perceptrn": f"{L9}/mistake-bound",
    "sgd": "regret-bounds/pegasos",
    "learning rate": f"{L13}/online-subgradient-descent",
    "step size": f"{L13}/online-subgradient-descent",
    "mirror descent": "mirror-descent/bregman",
    "xyzzy": None,
}
FIND = """async query => {
  const load = source => new Promise((done, failed) => {
    const script = document.createElement('script');
    document.head.append(Object.assign(script, {src: source, onload: done, onerror: failed}));
  });
  if (!window.book) {
    await load('_static/finder.js');
    await load('_static/finder-index.js');
    window.book = await window.finder.prepare(window.finderIndex);
  }
  const found = window.finder.find(query, window.book).slice(0, 5);
  return found.map(({entry, score}) => [entry.p, entry.k, entry.t, score]);
}"""


@pytest.fixture(scope="module")
def search_page(desktop, address):
    desktop.goto(f"{address}/search.html", wait_until="load")
    return desktop


def test_the_right_page_comes_first(search_page):
    wrong = []
    for query, page in RIGHT.items():
        found = search_page.evaluate(FIND, query)
        first = found[0][0] if found else None
        if first != (f"book/{page}.html" if page else None):
            wrong.append((query, page, found))
    assert not wrong


PAINTED = """element => {
  const numbers = colour => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const ink = numbers(getComputedStyle(element).color);
  for (let at = element; at; at = at.parentElement) { // the first that is painted is what the eye sees
    const paper = numbers(getComputedStyle(at).backgroundColor);
    if (paper[3] > 0 || at.localName === 'dialog') return [ink, paper, at.id || at.localName];
  }
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_results_in_the_dialog_stand_out_from_what_is_behind_them(desktop, address, theme):
    """A dialog lies on the page: without paper of its own the text of the page shines through."""
    desktop.emulate_media(color_scheme=theme)
    desktop.goto(f"{address}/book/lecture-13-oco/the-game.html")
    desktop.keyboard.press("Control+k")
    dialog = desktop.locator("#pst-search-dialog")
    dialog.locator("input").fill("regret")
    dialog.locator(".finder li a").first.wait_for()
    for selector in (".finder li a", ".finder li", "input"):
        ink, paper, place = dialog.locator(selector).first.evaluate(PAINTED)
        assert paper[3] == 255, f"{theme}: {selector} lies on {place}, which is transparent"
        assert contrast(ink, paper) >= 4.5, f"{theme}: {selector} on {place}"
    desktop.emulate_media(color_scheme="light")  # as other tests expect it


def titles(page, words):
    """Type into the field and return the titles of the rows."""
    page.locator("#search-results input").fill(words)
    page.locator("#search-results .finder li a").first.wait_for(timeout=20_000)
    return page.locator("#search-results .finder .title").all_inner_texts()


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_what_was_asked_is_marked_and_nothing_stands_twice(scheme, browser, address, html):
    page = browser.new_page()
    page.goto(f"{address}/search.html" if scheme == "http" else (html / "search.html").as_uri())
    found = titles(page, "hedge")
    assert len(found) == len({title.casefold() for title in found})
    marked = page.locator("#search-results .finder mark").all_inner_texts()
    assert marked and all(re.match("hedg|multiplicative|weight", word.casefold()) for word in marked)
    first = page.locator("#search-results .finder li").first
    assert first.locator("a").count() >= 1 and first.bounding_box()["height"] > 20
    found = titles(page, "Theorem 2 of Lecture 13")
    assert not [title for title in found if title.count("Theorem 2") > 1]
    for line in page.locator("#search-results .finder .also").all():
        links = line.locator("a").all_inner_texts()
        assert len(set(links)) == len(links), "links to several places can be told apart"
    page.close()


def test_formulas_in_results_are_set(desktop, address):
    """No row shows TeX, and some show a formula."""
    desktop.goto(f"{address}/search.html", wait_until="load")
    titles(desktop, "subgradient")
    rows = desktop.locator("#search-results .finder li")
    assert rows.locator("mjx-container").count() > 0
    shown = desktop.evaluate(
        """() => [...document.querySelectorAll('#search-results .finder :is(.title, .says)')].map(part => {
          const copy = part.cloneNode(true);
          copy.querySelectorAll('mjx-container').forEach(formula => formula.remove());
          return copy.textContent; })"""
    )
    assert not [text for text in shown if "\\" in text or "$" in text]
