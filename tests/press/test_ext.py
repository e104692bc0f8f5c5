"""Test what the Sphinx extension adds to pages, without building the book."""

import base64
import io
import json
import os
import re
import subprocess
from datetime import date
from types import SimpleNamespace

import jinja2
import numpy as np
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from PIL import Image

from ocolib import plots
from press import ROOT, config
from press.html import cards, maths, sealed
from press.sphinx import boxes, images, reader, sidebar

NOWHERE = {"repository": {"url": "", "branch": "main"}, "title": "A Book", "author": "Its authors"}
NOWHERE |= {"copyright": "2026, its authors"}
SOMEWHERE = NOWHERE | {"repository": {"url": "https://github.com/Owner/book", "branch": "main"}}


@pytest.mark.parametrize(
    ("kind", "title", "head"),
    [
        ("theorem", "Theorem 1 of Lecture 13", ("Theorem 1", "")),
        ("algorithm", "(2) Follow the leader", ("Algorithm (2)", "Follow the leader")),
        (
            "definition",
            "(17.38), (17.39) The logistic risk",
            ("Definition (17.38), (17.39)", "The logistic risk"),
        ),
        ("theorem", "(17.27) to (17.29), corrected", ("Theorem (17.27) to (17.29)", "corrected")),
        ("lemma", "Lemma 17.2 (Gibbs)", ("Lemma 17.2", "(Gibbs)")),
        (
            "theorem",
            "Theorem (3): regret of online gradient descent",
            ("Theorem (3)", "regret of online gradient descent"),
        ),
        ("example", "Example 1 of Lecture 13, with data", ("Example 1", "with data")),
        (
            "proposition",
            "Theorem 2 of Lecture 13 and (17.3)",
            ("Proposition", "Theorem 2 of Lecture 13 and (17.3)"),
        ),
        ("theorem", "Cover's value", ("Theorem", "Cover's value")),
    ],
)
def test_a_head_says_the_kind_once_and_the_number(kind, title, head):
    assert boxes.heading(kind, title) == head


def test_the_words_of_a_link_may_hold_a_formula():
    link = nodes.reference("", "", nodes.inline("", r"$1/\eta$-strongly convex"), refuri="x")
    boxes.set_words_of_links(None, nodes.paragraph("", "", link), "page")
    formula, words = link[0].children
    assert isinstance(formula, nodes.math) and formula.astext() == r"1/\eta"
    assert words.astext() == "-strongly convex"


def test_a_policy_names_the_scripts_of_its_page():
    page = '<html><head><script>a</script><script src="b.js"></script><script type="application/json">{}'
    page += "</script>"
    policy = sealed.policy(page)
    assert policy.count("sha256-") == 1 and "unsafe-inline" not in policy.partition("style-src")[0]
    assert sealed.sealed(sealed.sealed(page)) == sealed.sealed(page)
    assert sealed.sealed(page).startswith("<html><head>\n  <meta http-equiv")


def test_a_link_to_a_page_counts_wherever_it_is_written():
    env = SimpleNamespace(docname="book/a/here", found_docs={"book/a/there", "book/b/far"})
    found = [reader.as_page(env, target) for target in ("there", "../b/far", "ox13-thm1")]
    assert found == ["book/a/there", "book/b/far", "ox13-thm1"]


def test_a_description_has_no_formula():
    def paragraph(*parts):
        return nodes.paragraph("", "", *(nodes.math("", p) if p[0] == "$" else nodes.Text(p) for p in parts))

    enough = "This sentence has more than sixty letters, so it describes a page."
    assert reader.plain(paragraph(f"{enough} Of order ", "$T", ". Four.")) == enough
    assert reader.plain(paragraph("Optional. Of order ", "$T", ". Why so much?")) == "Optional. Why so much?"
    marked = paragraph("One. ")
    marked += nodes.inline("", "", nodes.reference("", "slip"), classes=["slip"])
    assert reader.plain(marked) == "One."
    assert reader.plain(paragraph("Of order ", "$T", " at most.")) == "Of order … at most."
    assert reader.plain(paragraph("x" * 300 + ". More.")) == "x" * 300 + "."


def test_every_colour_of_the_figures_has_one_for_the_dark():
    assert {color.lower() for color in plots.COLORS.values()} <= set(images.PALETTE)


def test_a_dark_figure_has_no_paper_and_no_dark_ink():
    light = '<svg width="1"><path style="fill: #ffffff"/><path style="fill: none; stroke: #000000"/></svg>'
    dark = images.darken(light)
    assert "#ffffff" not in dark and "#000000" not in dark
    assert re.search(r'<svg fill="#[d-f]', dark), "text without a colour of its own is light"
    box = images.darken('<path style="fill: #ffffff"/><path id="behind-a-word" style="fill: #ffffff"/>')
    assert "fill: none" in box and "fill: #15181d" in box, "no white block, and no line through a word"


def test_shades_in_the_dark_begin_at_the_dark_paper():
    """A heat map is a picture inside the figure: its scale goes from the paper to the strongest shade."""

    def written(*colours):
        out = io.BytesIO()
        Image.fromarray(np.array([colours], np.uint8)).save(out, "png")
        return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"

    def read(svg):
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(svg.partition("base64,")[2]))))[0, :, :3]

    paper, middle, strong = read(images.darken(written((255, 255, 255), (128, 179, 210), (0, 103, 165))))
    assert paper.tolist() == [0x15, 0x18, 0x1D] and strong.tolist() == [0x6C, 0xB6, 0xF2]
    assert (paper < middle).all() and (middle < strong).all()
    photograph = written((255, 255, 255), (200, 30, 30))
    assert images.darken(photograph) == photograph


def test_chapters_of_the_sidebar_fold_but_for_the_readers_own(monkeypatch):
    parts = [{"caption": "First", "chapters": [{"file": "a"}, {"file": "a/errata"}]}]
    parts += [{"caption": "Second", "chapters": [{"file": "b", "sections": [{"file": "b/x"}]}]}]
    parts += [{"caption": "Back matter", "chapters": [{"file": "c", "sections": [{"file": "c/y"}]}]}]
    monkeypatch.setattr(sidebar, "contents", lambda: {"parts": parts})
    monkeypatch.setattr(sidebar, "title", lambda app, page: f"Title of {page}")
    builder = SimpleNamespace(get_relative_uri=lambda here, there: f"{there}.html")
    context = {}
    sidebar.add(SimpleNamespace(builder=builder), "b", "page.html", context, None)
    template = (ROOT / "book" / "_templates" / "sbt-sidebar-nav.html").read_text("utf8")
    soup = BeautifulSoup(jinja2.Template(template).render(context), "html.parser")
    parts = {part.summary.get_text(): part for part in soup.select("details.part")}
    assert list(parts) == ["1 First", "2 Second", "Errata", "Back matter"]
    assert [part.has_attr("open") for part in parts.values()] == [False, True, False, False]
    links = {name: [link["href"] for link in part.select("a")] for name, part in parts.items()}
    assert links["1 First"] == ["a.html"] and links["Errata"] == ["a/errata.html"]
    assert links["2 Second"] == ["#", "b/x.html"], "the pages below the reader's own are shown"
    assert links["Back matter"] == ["c.html"], "those below others are not"


def test_a_notebook_has_a_narrow_twin_for_each_of_its_figures(tmp_path):
    page = tmp_path / "page.ipynb"
    data = {"image/svg+xml": ["<svg>\n", "wide\n"], plots.NARROW_SVG: ["<svg>", "slim"]}
    page.write_text(json.dumps({"cells": [{}, {"outputs": [{"data": data}, {"data": {"text/plain": "1"}}]}]}))
    assert images.narrow(page) == {"<svg>\nwide": "<svg>slim"}, "the file has no line behind the last"
    assert images.narrow(tmp_path / "page.md") == {}


def test_a_card_has_the_title_and_the_figure_of_its_page():
    app = SimpleNamespace(config=SimpleNamespace(project="Book"))
    page = '<p class="page-kicker">Part</p><h1>A &amp; B<a class="headerlink" href="#a">#</a></h1>'
    made = cards.card(app, page, '<?xml?><svg width="9pt" viewBox="0 0 9 5"><path d="M0 0"/></svg>')
    assert ">A &amp; B</text>" in made and ">Part</text>" in made and "#</text>" not in made
    assert made.count("<svg") == 2 and 'viewBox="0 0 9 5"' in made and '<path d="M0 0"/>' in made
    own, none = 'src="../_images/a.svg"', "<p>no figure</p>"
    assert cards.of("book/a/b", own, "book/intro") == "_static/cards/book-a-b.png"
    assert cards.of("book/a/b", none, "book/intro") == "_static/cards/book-intro.png"


def test_a_book_without_an_address_names_none():
    assert config.site(NOWHERE) == ""
    assert "url" not in reader.citation("A page", "book/page", NOWHERE)


def test_a_book_on_github_knows_its_address():
    assert config.site(SOMEWHERE) == "https://owner.github.io/book"
    assert "url = {https://owner.github.io/book/book/page.html}" in reader.citation(
        "A page", "book/page", SOMEWHERE
    )


def test_an_address_that_is_given_wins():
    assert (
        config.site(SOMEWHERE | {"html": {"baseurl": "https://example.org/oco/"}})
        == "https://example.org/oco"
    )


def test_formulas_are_found_with_what_follows_them():
    formula = '<{0} class="math notranslate nohighlight">{1}</{0}>'
    inline, display = formula.format("span", r"\(a &lt; b\)"), formula.format("div", r"\[x\]")
    page = f"so {inline}, and {display}"
    assert maths.formulas(page) == [("a < b", False), ("x", True)]
    assert [match["after"] for match in maths.FORMULA.finditer(page)] == [",", ""]


def test_a_formula_that_is_set_is_left_alone():
    """A page that a build did not write again has its formulas already."""
    done = (
        '<div class="math notranslate nohighlight" id="e"><span class="eqno">(1)<a href="#e">#</a></span>'
        '<mjx-container>x</mjx-container></div><span class="math notranslate nohighlight">\\(y\\)</span>'
    )
    assert maths.formulas(done) == [("y", False)]


@pytest.mark.skipif(maths.node() is None, reason="no node")
def test_mathjax_sets_formulas_and_knows_their_width():
    from press.html import offline

    wanted = [["x", False], [r"\sum_{t=1}^T f_t(w_t) - f_t(u)", True]]
    result = maths.typeset(wanted, str(offline.folder()))
    (short, narrow), (long, wide) = result["set"]
    assert "<math" in short and 'display="true"' in long
    assert 0.4 < narrow < 0.7 and 6 < wide < 12
    assert "@font-face" in result["css"]
    with pytest.raises(ValueError, match="cannot read"):
        maths.typeset([[r"\frac{1", False]], str(offline.folder()))


@pytest.fixture
def two_commits(tmp_path):
    """Make a repository with an older and a newer page."""

    def git(*words, day="2026-01-02"):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        environment = os.environ | {"GIT_AUTHOR_DATE": f"{day}T12:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00Z"}
        subprocess.run(["git", *who, *words], cwd=tmp_path, env=environment, check=True, capture_output=True)

    git("init")
    (tmp_path / "pages").mkdir()
    for name, day in (("α.md", "2026-01-02"), ("new.md", "2026-03-04")):
        (tmp_path / "pages" / name).write_text("text", "utf8")
        git("add", ".")
        git("commit", "-m", "a page", day=day)
    return tmp_path


def test_a_page_knows_the_day_of_its_last_commit(two_commits, tmp_path_factory):
    days = {"pages/α.md": date(2026, 1, 2), "pages/new.md": date(2026, 3, 4)}
    assert reader.changed(two_commits) == days
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    subprocess.run(
        ["git", "clone", "--depth=1", two_commits.as_uri(), shallow], check=True, capture_output=True
    )
    assert reader.changed(shallow) == {}, "a cut history would call every page new"
    assert reader.changed(tmp_path_factory.mktemp("bare")) == {}
