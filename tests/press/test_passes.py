"""What happens to the written pages, and that the same project gives the same bytes."""

import os
from importlib import import_module
from types import SimpleNamespace

import nbformat
import pytest

from press import html
from press.html import downloads, maths, offline
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


def test_late_style_sheets_have_one_name_on_every_page(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "mathjax.css").write_text("a {}")
    (tmp_path / "old.html").write_text('<link href="_static/mathjax.css" />')
    new = tmp_path / "new.html"
    new.write_text("")
    pages = {new: '<link href="_static/mathjax.css?v=0123abcd" /> mathjax/tex.js'}
    app = SimpleNamespace(outdir=tmp_path)
    offline.name_sheets(app, pages)
    first, second = pages.values()
    assert (
        first.partition(" /")[0] == second.partition(" /")[0] and "?v=" in first and "0123abcd" not in first
    )
    again = dict(pages)
    offline.name_sheets(app, again)
    assert again == pages


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
        face = f'@font-face {{\n  font-family: M;\n  src: url("mathjax/{font}") format("woff");\n}}\n'
        css = maths.lean_fonts(face + '.mjx-c3B1::before { content: "a"; }', static)
        assert "mathjax/lean/MathJax_Main-Regular.woff" in css
        made.append((static / "mathjax" / "lean" / "MathJax_Main-Regular.woff").read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize(("page", "place"), [("speed", ""), ("scale/phases", "scale/")])
def test_a_notebook_asks_for_its_data_beside_the_page(page, place, tmp_path):
    cell = nbformat.v4.new_code_cell("first")
    made = plain.with_data(SimpleNamespace(cells=[cell]), page, [tmp_path / "data.json"])
    assert f'urljoin(address, f"{place}{{name}}")' in made.cells[0].source
