"""Test quick questions, hints and proof exercises, on a page that has them all and in the whole book."""

import ast
import re
import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from directives import asked, verifications, written

from press.pages import depends, notebooks, plain, questions
from press.print import pdf, slides

PAGE = r"""
# A page

```{quick} q-which-end
:verify: 1 + 1 == 2

Where does the leader play after the slope $z_1 = \tfrac12$?

- [ ] at $1$

  There it would pay $\tfrac12$ again.
- [x] at $-1$

  The smallest $\tfrac12 w$ on $[-1, 1]$.
- [ ] at $0$, because
  nothing is known

  One slope is known.
```

```{quick} q-how-much
:answer: 5.5
:tolerance: 0.01
:verify: abs(paid - 5.5) < 1e-9

What does it pay in six rounds?

- 6 = `6 * 1.0`

  You forgot that the first slope is a half.
- [x] Half in the first round, then one in each.
```

```{task} Exercise 1: the price of staying
:name: ex-the-price-of-staying
:level: warm-up
:minutes: 8

What is $1 + 1$? There is a slip {slip}`ox13.e05`.
```

```{hints} ex-the-price-of-staying
1. Count.
2. Count $1$, then the other $1$.
```

```{proof-order} ex-order
:title: Exercise 2: the telescope
:level: standard
:minutes: 5

Show that the sum telescopes.

1. Write the sum.
2. Every term but two appears twice,
   with both signs.
3. Two terms are left.
```

```{proof-reasons} ex-reasons

1. $f(w) \le f(u) + \langle z, w - u\rangle$.

   - [x] $z$ is a subgradient at $w$

     Its definition, turned round.
   - [ ] Cauchy–Schwarz

     No norm appears.
2. So we are done.
```

```{proof-flaw} ex-flaw

All numbers are equal.

1. Let $a = b$.

   That may be.
2. [x] Divide by $a - b$.

   It is $0$.
```

```{proof-rubric} ex-rubric
:level: challenge

Prove that $0$ is the smallest square.

- It says that squares are nonnegative.

  A product of two numbers of one sign is nonnegative.
- It gives a number whose square is $0$.

  $0^2 = 0$.
```
"""
CONF = """
extensions = ["myst_nb", "press.sphinx.boxes", "press.sphinx.tables", "press.sphinx.questions"]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
html_static_path = [{static!r}]
"""
ASKING = ("quick", "hints", *questions.PROOFS)


def built(folder, page=PAGE):
    """Return the page as HTML, made by Sphinx with only our directives."""
    source, target = folder / "in", folder / "out"
    errata = source / "book" / "lecture-13-oco" / "errata.md"
    errata.parent.mkdir(parents=True)
    errata.write_text("# Errata\n\n(ox13-e05-thm2-zero-not-in-S)=\nOne.\n", "utf8")
    (source / "index.md").write_text(f"{page}\n\n```{{toctree}}\nbook/lecture-13-oco/errata\n```\n", "utf8")
    (source / "conf.py").write_text(CONF.format(static=str(notebooks.BOOK / "_static")), "utf8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return target / "index.html"


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    return built(tmp_path_factory.mktemp("questions"))


def test_a_page_asks_with_native_controls_and_labels(page):
    html = BeautifulSoup(page.read_text("utf8"), "html.parser")
    for field in html.select("article input, div.body input, textarea"):
        assert html.select_one(f'label[for="{field["id"]}"]'), field
    assert len(html.select("#q-which-end input[type=radio]")) == 3
    assert all(group.legend for group in html.select("fieldset"))
    assert html.select_one("#q-how-much .field")["data-answer"] == "5.5"
    (wrong,) = html.select("#q-how-much .answer[data-number]")
    assert wrong["data-number"] == "6.0" and "Not 6." in wrong.get_text() and "1.0" not in wrong.get_text()
    right = html.select("#q-which-end .answer[data-right]")
    assert len(right) == 1 and "The smallest" in right[0].get_text()
    box = html.select_one("div.admonition.exercise#ex-the-price-of-staying")
    assert "warm-up · about 8 minutes" in box.get_text()
    link = box.select_one(".slip a")
    assert link["href"].lower().endswith("errata.html#ox13-e05-thm2-zero-not-in-s")
    assert [fold.summary.get_text() for fold in html.select(".hints details")] == [
        "Hint 1 of 2",
        "Hint 2 of 2",
    ]
    places = [int(line["data-place"]) for line in html.select("#ex-order ol.order > li")]
    assert places != sorted(places) and sorted(places) == [0, 1, 2]
    assert not html.select("script:not([src]):not([type])[onclick], [onclick], [onchange]")


def test_the_plain_notebook_folds_every_answer():
    text = plain.Page("lecture-13-oco/the-game").markdown(PAGE)
    assert "{" not in re.sub(r"\$[^$]*\$", "", text)
    shown = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    for answer in ("The smallest", "**5.5.**", "Count", "That may be", "Its definition", "0^2"):
        assert answer in text and answer not in shown, answer
    assert "**Exercise 1: the price of staying** (warm-up, about 8 minutes)" in text.replace(" · ", ", ")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("- [x] at $-1$", "- [ ] at $-1$"), "exactly one is marked"),
        (("  One slope is known.\n", ""), "needs an explanation"),
        (("q-which-end", "which-end"), "the id must be q-"),
        ((":verify: abs(paid - 5.5) < 1e-9\n", ""), "needs :verify:"),
        (("- 6 = `6 * 1.0`\n", "- 5.505\n"), "within the tolerance"),
        (("- 6 = `6 * 1.0`\n", "- 6 = 6\n"), "its expression in backticks"),
        (("- 6 = `6 * 1.0`\n", "- six\n"), "must be a number"),
        ((":level: warm-up", ":level: easy"), "the level must be"),
        (("2. Count $1$, then the other $1$.\n", ""), "two or more"),
        (("2. [x] Divide", "2. Divide"), "the false one"),
        (("ox13.e05", "ox13.e99"), "must name one erratum"),
    ],
)
def test_a_fault_is_told_by_its_name(wrong, said):
    before, after = wrong
    assert before in PAGE
    with pytest.raises(ValueError, match=said):
        plain.Page("limits/experts", "https://example.org").markdown(PAGE.replace(before, after))


# ---------------------------------------------------------------- every question of the book


def test_ids_are_the_books_own_and_hints_belong_to_an_exercise():
    seen, tasks, hinted = [], [], []
    for name in plain.documents():
        seen += [block.argument for block in asked(name, "quick", *questions.PROOFS)]
        tasks += [block.inside()[0].get("name") for block in asked(name, "task", "admonition")]
        hinted += [block.argument for block in asked(name, "hints")]
    assert len(seen) == len(set(seen))
    assert set(hinted) <= {*tasks, *seen}
    assert len(hinted) == len(set(hinted))


@cache
def shown_lines(name):
    """Return {proof: (claims, the function that makes them)} from the cells with the lines of a proof.

    Of the live cells above, only those run that they build on.
    """
    made = notebooks.make(notebooks.TEXT / f"{name}.md").cells
    cells = [cell for cell in made if cell.cell_type == "code" and "live" in notebooks.tags(cell)]
    proofs = [place for place, cell in enumerate(cells) if "lines" in notebooks.tags(cell)]
    needs = depends.dependencies([cell.source for cell in cells], set())
    wanted = {number - 1 for place in proofs for number in needs[place]}
    values, shown = {"__name__": "__main__"}, {}
    for place, cell in enumerate(cells):
        if place not in proofs:
            source = cell.source if place in wanted else depends.imports_of(cell.source)
            exec(compile(source, name, "exec"), values)
            continue
        *before, last = ast.parse(cell.source).body
        exec(compile(ast.Module(before, []), name, "exec"), values)
        shown[cell.metadata["proof"]] = eval(ast.unparse(last), values), values["claims"]
    return shown


def test_the_answers_of_pages_without_code_are_right():
    """Those of the others are computed with their live cells, in test_notebooks."""
    for name in plain.documents():
        if not plain.has_notebook(name):
            assert all(map(eval, verifications(name).values())), name


def test_a_written_number_is_compared_to_its_last_digit():
    right = [("2 / 3", "0.667"), ("-9.5", "-9.5"), ("0.0013", "1e-3"), ("15", "15"), ("15.4", "15")]
    assert all(eval(written(*pair)) for pair in right)
    assert not eval(written("2 / 3", "0.666")) and not eval(written("15.6", "15"))


FLAWS = {block.argument: name for name in plain.documents() for block in asked(name, "proof-flaw")}
#: proofs whose lines no single game computes: the first speaks of all learners or all families of losses;
#: in the second a reason is false (Hoeffding with a random number of draws), and no number shows that
IN_WORDS = {"ex-no-regret-below-the-root", "ex-a-shorter-proof"}


def vectors(rng, count, dim=2):
    return rng.normal(size=(count, dim))


def labelled(rng):
    """Return examples, labels and a unit vector that separates them."""
    X, u = vectors(rng, 6), vectors(rng, 1)[0]
    return X, np.where(X @ u >= 0, 1.0, -1.0), u


def leaning(rng):
    X, y, u = labelled(rng)
    return y[:, None] * X, u


def parabola(rng):
    lowest = rng.normal()
    return (lambda w: w**2 + lowest), *rng.normal(size=2), 0.3


def stubborn(rng):
    guess = rng.choice([-1, 1])
    return (lambda past: guess), int(rng.integers(1, 9))


def mix(rng, dim):
    """Return positive weights, none of them tiny."""
    return rng.uniform(0.05, 1, dim)


def unit(rng, count, dim=2):
    """Return slopes of length at most 1."""
    Z = vectors(rng, count, dim)
    return Z / np.maximum(1, np.linalg.norm(Z, axis=1, keepdims=True))


#: what a reader may try instead of the printed numbers
NUMBERS = {
    "ex-a-bound-that-is-too-good": lambda rng: (rng.random((9, 4)) < 0.5, rng.random(9) < 0.5),
    "ex-a-square-too-few": leaning,
    "ex-least-squares-and-strong-convexity": lambda rng: (*vectors(rng, 3), rng.normal()),
    "ex-the-square-of-a-loss": parabola,
    "ex-does-the-average-vanish": lambda rng: (np.repeat(rng.uniform(-1, 1, 6), 9),),
    "ex-a-perceptron-without-noise": labelled,
    "ex-the-late-part": lambda rng: (rng.uniform(-1, 2, 30), int(rng.integers(0, 9)), rng.uniform(0.1, 1)),
    "ex-half-the-mistakes": stubborn,
    "ex-gains-instead-of-losses": lambda rng: (rng.random((6, 3)), rng.uniform(0.05, 0.5), rng.integers(99)),
    "ex-a-bound-without-r": lambda rng: (rng.uniform(0.01, 1, (int(rng.integers(1, 9)), 3)), mix(rng, 3)),
    "ex-the-arguments-are-swapped": lambda rng: (rng.random((5, 3)), mix(rng, 3), rng.uniform(0.05, 3)),
    "ex-half-the-bound": lambda rng: (unit(rng, int(rng.integers(1, 20))),),
    "ex-tested-on-its-own-data": lambda rng: (*rng.random(2), int(rng.integers(1, 6)), rng.random()),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_the_computed_lines_break_where_the_proof_is_false(flaw):
    """On the printed numbers exactly there, and on no numbers anywhere else."""
    name = FLAWS[flaw]
    if flaw in IN_WORDS:
        assert flaw not in shown_lines(name)
        return
    (block,) = [block for block in asked(name, "proof-flaw") if block.argument == flaw]
    proof = questions.read_proof(block.kind, flaw, block.inside()[1])
    (false,) = [place for place, line in enumerate(proof.lines, 1) if line.right]
    printed, claims = shown_lines(name)[flaw]
    assert len(printed.lines) == len(proof.lines) and printed.broken == [false]
    assert sum(case is not None for case in printed.cases) >= 2
    assert "✗" in str(printed).split("\n")[false + 1]
    rng = np.random.default_rng(28)
    tried = [claims(*NUMBERS[flaw](rng)).broken for _ in range(200)]
    assert [false] in tried and all(found in ([], [false]) for found in tried)


def test_on_paper_the_answers_stand_at_the_end(page):
    html = BeautifulSoup(page.read_text("utf8"), "html.parser")
    article = html.select_one("div.body")
    pdf.answers_last(SimpleNamespace(article=article))
    assert not article.select(".quick details, .proof-work details.answers")
    last = article.select("section.answers")[-1]
    links = [link["href"] for link in last.select(":scope > p > a")]
    assert links == ["#q-which-end", "#q-how-much", "#ex-order", "#ex-reasons", "#ex-flaw", "#ex-rubric"]
    assert "The smallest" in last.get_text() and "It is" in last.get_text()


def test_on_paper_and_on_slides_the_computed_lines_do_not_tell_the_answer():
    cell = '<div class="cell tag_lines"><table class="proof-chain"><td>✗</td></table></div>'
    fold = '<details class="answers"><summary>Answer</summary><p>Line 2.</p></details>'
    work = f'<div class="proof-work"><p class="admonition-title">Exercise 4</p>{fold}</div>'
    made = BeautifulSoup(
        f'<article><div class="admonition" id="ex-a">{work}</div>\n{cell}<p>Next.</p></article>',
        "html.parser",
    )
    pdf.answers_last(SimpleNamespace(article=made.article))
    assert [part.name for part in made.article.find_all(recursive=False)] == ["div", "p", "section"]
    assert made.select_one("section.answers .tag_lines")
    deck = SimpleNamespace(show=lambda *shown: pytest.fail("the answer is on a slide"), breaks=lambda: False)
    slides.Reader.cell(deck, made.select_one(".tag_lines"))


def test_a_slide_has_the_question_and_not_the_answer(page):
    html = BeautifulSoup(page.read_text("utf8"), "html.parser")
    shown = slides.question(html.select_one("#q-which-end"))
    assert "Where does the leader play" in shown.get_text() and "The smallest" not in shown.get_text()
    assert not shown.select("input, details") and len(shown.select("label")) == 3
