"""Test the HTML passes, and that building the same project twice gives the same bytes."""

import os
import re
from importlib import import_module
from types import SimpleNamespace

import nbformat
import pytest

from press import html
from press.html import downloads, light, maths, offline
from press.pages import plain


@pytest.mark.parametrize("name", html.PASSES)
def test_every_pass_is_there(name):
    module, function = name.split(":")
    assert callable(getattr(import_module(module), function))


def test_passes_run_in_order_for_parts_that_are_set_up(tmp_path, monkeypatch):
    called = []
    for name in html.PASSES:
        module, function = name.split(":")
        monkeypatch.setattr(
            import_module(module), function, lambda app, pages, name=name: called.append(name)
        )
    builder = SimpleNamespace(format="html")
    parts = {name.partition(":")[0]: None for name in html.PASSES} | {"press.html.sealed": None}
    del parts["press.sphinx.live"]
    app = SimpleNamespace(builder=builder, outdir=tmp_path, doctreedir=tmp_path, extensions=parts)
    html.finish(app, ValueError())
    assert not called and not html.stamp(app).exists(), "a build that failed is not finished"
    html.finish(app, None)
    assert called == [name for name in html.PASSES if "live" not in name] and html.stamp(app).exists()


PAGE = """<link href="../_static/styles/theme.css?digest=1" rel="stylesheet" />
<link rel="stylesheet" type="text/css" href="../_static/type.css" />
<script src="../_static/doctools.js?v=1"></script>
<script>DOCUMENTATION_OPTIONS.pagename = 'x';</script>
<script src="../_static/figures.js"></script>
<script defer src="../_static/scripts/bootstrap.js"></script>
<p class="seen">text</p><td class='num'>1</td>"""


@pytest.fixture
def book(tmp_path):
    """Return a book of one page with its style sheets and scripts."""
    html = tmp_path / "html"
    for name, text in {
        "_static/styles/theme.css": '@import "../basic.css"; .seen, .unseen { background: url("../a.png") }',
        "_static/basic.css": "@media print { .unseen { color: red } } .made-by-script { color: blue }",
        "_static/type.css": '@font-face { src: url("fonts/a.woff2") } .seen::before { content: "}" }'
        " .num { x: y }",
        "_static/doctools.js": "element.className = 'made-by-script'",
        "book/page.html": PAGE,
    }.items():
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        (html / name).write_text(text, "utf8")
    return SimpleNamespace(outdir=html)


def test_a_page_asks_for_one_style_sheet_and_one_script_that_waits(book, monkeypatch):
    monkeypatch.setattr(light, "smaller", lambda css: css)
    pages = {}
    light.join(book, pages)
    (page,) = pages.values()
    assert len(re.findall("stylesheet", page)) == 1
    assert re.findall(r"<script[^>]*>", page) == [
        re.search(r'<script defer src="../_static/book.js\?v=[0-9a-f]{8}">', page)[0],
        '<script src="../_static/figures.js">',
    ]
    css = (book.outdir / "_static" / "book.css").read_text("utf8")
    assert (
        css.index(".made-by-script") < css.index('.seen{background: url("a.png")') < css.index("@font-face")
    )
    assert 'url("fonts/a.woff2")' in css and '.seen::before{content: "}"}' in css
    assert "unseen" not in css, "nobody has this name"
    assert ".num{" in css, "a name in single quotes is one"


def test_a_page_that_was_kept_follows_when_the_style_sheet_changes(book, monkeypatch):
    monkeypatch.setattr(light, "smaller", lambda css: css)
    pages = {}
    light.join(book, pages)
    for file, text in pages.items():
        file.write_text(text, "utf8")
    again = {}
    light.join(book, again)
    assert again == {}, "nothing has changed"
    (book.outdir / "_static" / "type.css").write_text(".seen { color: green }", "utf8")
    light.join(book, again)
    (before,), (after,) = pages.values(), again.values()
    assert before != after and re.sub(r"\?v=\w+", "", before) == re.sub(r"\?v=\w+", "", after)
    assert "green" in (book.outdir / "_static" / "book.css").read_text("utf8")


def test_the_wheel_does_not_depend_on_the_umask(tmp_path):
    files = [file for file in downloads.package_files() if file.suffix != ".json"]
    made = []
    for mask in (0o022, 0o077):
        before = os.umask(mask)
        try:
            folder = tmp_path / oct(mask)
            folder.mkdir()
            downloads.make_wheel(files, folder)
        finally:
            os.umask(before)
        (wheel,) = folder.glob("*.whl")
        made.append(wheel.read_bytes())
    assert made[0] == made[1]


def test_fonts_do_not_carry_the_time(tmp_path, monkeypatch):
    made = []
    for moment in ("1000000000", "1500000000"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", moment)
        static = tmp_path / moment
        font = "output/chtml/fonts/woff-v2/MathJax_Main-Regular.woff"
        (static / "mathjax" / font).parent.mkdir(parents=True)
        (static / "mathjax" / font).write_bytes((offline.folder() / font).read_bytes())
        face = f'@font-face {{\n  font-family: MJXTEX;\n  src: url("mathjax/{font}") format("woff");\n}}\n'
        css = maths.lean_fonts(face + '.mjx-c3B1::before { content: "a"; }', static)
        assert "mathjax/lean/MathJax_Main-Regular.woff" in css
        made.append((static / "mathjax" / "lean" / "MathJax_Main-Regular.woff").read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize(("page", "place"), [("speed", ""), ("scale/phases", "scale/")])
def test_a_notebook_asks_for_its_data_beside_the_page(page, place, tmp_path):
    cell = nbformat.v4.new_code_cell("first")
    made = plain.with_data(SimpleNamespace(cells=[cell]), page, [tmp_path / "data.json"])
    assert f'urljoin(address, f"{place}{{name}}")' in made.cells[0].source
