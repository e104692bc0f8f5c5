"""Test the downloads: plain text, the numbers of the page, and no solutions in the student edition."""

import ast
import json
import posixpath
import re
import tomllib
from functools import cache
from types import SimpleNamespace

import nbformat
import pytest
from folded import for_each
from leaks import solutions, squeezed

from press.html import downloads
from press.pages import notebooks, plain
from press.sphinx import editions

NAMES = [text.relative_to(notebooks.TEXT).with_suffix("").as_posix() for text in notebooks.pages()]
every_page = for_each("name", NAMES)
MARKUP = re.compile(r"\{[\w:]+\}`|^(?:`{3,}|:{3,})\{|^:::|^\([\w.-]+\)=", re.MULTILINE)
RELATIVE = re.compile(r"\]\((?!\w+:)([^)\s#]+)(?:#[^)\s]*)?\)")


downloaded = cache(plain.notebook)  # used by several tests


def prose(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@every_page
def test_a_download_is_plain_and_keeps_every_cell(name):
    made = downloaded(name)
    nbformat.validate(made)
    assert not MARKUP.findall(prose(made))
    stored = nbformat.read(notebooks.BOOK / f"{name}.ipynb", as_version=4)
    kept = [cell for cell in made.cells if not cell.id.endswith(("-caption", "references"))]
    assert [cell.id for cell in kept] == [cell.id for cell in stored.cells]
    for ours, theirs in zip(kept, stored.cells, strict=True):
        if ours.cell_type == "code":
            assert ours.source.endswith(theirs.source) and ours.outputs == theirs.outputs
            assert ours.metadata.get("exercise") == theirs.metadata.get("exercise")


@every_page
def test_links_of_a_download_lead_to_other_downloads(name):
    for target in RELATIVE.findall(prose(downloaded(name))):
        page, kind = posixpath.splitext(posixpath.join(posixpath.dirname(name), target))
        assert kind == ".ipynb" and posixpath.normpath(page) in NAMES, target


def test_statements_have_title_and_number():
    text = prose(plain.notebook("lecture-13-oco/follow-the-leader"))
    assert "**Theorem 1** (Lecture 13)\n\nLet $S$ be any nonempty set" in text
    assert "**Algorithm (2)** (Lecture 13) **Follow the leader**" in text
    assert "*Proof.* Take" in text and "That is (4). ∎" in text
    assert "**Exercise 1: the rule in one line**" in text and "**Figure 1.** What the two" in text
    assert "[Theorem 2](online-subgradient-descent.ipynb#ox13-thm2)" in text


def test_words_for_what_has_no_plain_form():
    page = plain.Page("limits/experts")
    assert page.inline("{doc}`gradient-descent`").endswith("](gradient-descent.ipynb)")
    assert page.inline("{term}`floor`") == "floor"
    assert page.inline("{cite:t}`Zinkevich2003`") == "Zinkevich (2003)"
    assert page.inline("{cite}`Zinkevich2003,Lecture9`") == "[Zinkevich 2003; Lecture 9]"
    published = plain.Page("limits/experts", "https://example.org")
    assert published.inline("{term}`floor`") == "[floor](https://example.org/book/glossary.html#term-floor)"
    for unknown in ("{abc}`x`", "```{abc}\n```"):
        with pytest.raises(ValueError, match="no plain form"):
            page.markdown(unknown)


def test_what_the_page_folds_is_folded():
    cells = {cell.id: cell for cell in plain.notebook("lecture-13-oco/the-game").cells}
    told, asked = cells["ex-the-price-of-staying-solution"], cells["ex-the-price-of-staying"]
    assert told.metadata.jupyter == {"source_hidden": True, "outputs_hidden": True}
    assert told.metadata.cellView == "form" and told.source.startswith(
        "# @title Worked solution of exercise 2\n"
    )
    assert "jupyter" not in asked.metadata and not asked.source.startswith("# @title")


def letters(notebook):
    """Return the letters of a notebook, given as JSON, without those that encode its pictures."""

    def plain_text(found):
        return {kind: value for kind, value in found.items() if not kind.startswith("image/")}

    return squeezed(json.dumps(json.loads(notebook, object_hook=plain_text)))


@every_page
def test_no_solution_is_left_where_none_is_wanted(name):
    """In the notebook that is downloaded, and in what the build of a student edition reads."""
    notebook = notebooks.BOOK / f"{name}.ipynb"
    source = [notebook.read_text("utf8")]
    env = SimpleNamespace(doc2path=lambda docname: str(notebook))
    app = SimpleNamespace(config=SimpleNamespace(edition="student"), env=env)
    editions.take_out(app, name, source)
    whole = letters(json.dumps(downloaded(name)))
    for text in (letters(source[0]), letters(json.dumps(downloaded(name, solutions=False)))):
        for exercise in notebooks.exercises(notebooks.read(notebooks.TEXT / f"{name}.md")):
            lines = solutions()[exercise]
            assert lines, f"nothing tells the solution of {exercise} from the rest: how would one find it?"
            assert not [line for line in lines if line in text]
            assert all(line in whole for line in lines)


def test_in_the_appendix_edition_a_link_stands_instead():
    notebook = notebooks.BOOK / "lecture-13-oco" / "the-game.ipynb"
    source = [notebook.read_text("utf8")]
    env = SimpleNamespace(doc2path=lambda docname: str(notebook))
    editions.take_out(SimpleNamespace(config=SimpleNamespace(edition="appendix"), env=env), "", source)
    texts = [cell["source"] for cell in json.loads(source[0])["cells"]]
    assert editions.LINK.format(name="ex-the-price-of-staying") in texts


@every_page
def test_the_first_cell_asks_for_what_the_page_imports(name):
    """Every import of a page is Python's own, NumPy, or named in its first cell."""
    cells = nbformat.read(notebooks.BOOK / f"{name}.ipynb", as_version=4).cells
    (needs,) = re.findall(r"^needs = (.*)$", cells[0].source, re.MULTILINE)
    needs = ast.literal_eval(needs)
    free = {
        "numpy",
        "ocolib",
        "ocolab",  # included in ocolib
        "math",
        "itertools",
        "functools",
        "time",
        "fractions",
        "dataclasses",
        "heapq",
        "csv",
        "json",
    }
    free |= {"pathlib", "tempfile", "textwrap", "copy", "collections"}
    free |= {file.stem for file in (notebooks.BOOK / name).parent.glob("*.py")}  # it is included
    for cell in cells[1:]:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(cell.source)):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                modules += [node.module] if isinstance(node, ast.ImportFrom) else []
                assert {module.partition(".")[0] for module in modules} <= free | set(needs)


def test_the_extra_for_pages_has_all_that_first_cells_ask_for():
    project = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text("utf8"))["project"]
    extras = project["optional-dependencies"]
    (pages,) = extras["pages"]
    wanted = {extra for extra, _ in notebooks.EXTRAS.values()}
    assert wanted == set(re.fullmatch(r"ocolib\[(.*)\]", pages)[1].split(","))
    assert wanted <= set(extras)
    assert downloads.wheel_name().rpartition("/")[2] in (notebooks.BOOK / "run-it.md").read_text("utf8")


def test_a_page_that_reads_files_brings_them_along():
    made = plain.notebook("scale/phases")
    files = downloads.data("scale/phases", made.cells)
    assert [file.name for file in files] == ["phases.csv", "phases.json"]
    assert (
        'for name in ["phases.csv", "phases.json"]:'
        in plain.with_data(made, "scale/phases", files).cells[0].source
    )


def test_the_wheel_holds_the_package():
    import zipfile

    with zipfile.ZipFile(downloads.wheel()) as bundle:
        names = set(bundle.namelist())
    wanted = {path.relative_to(notebooks.ROOT).as_posix() for path in notebooks.ROOT.glob("oco*/**/*.py")}
    assert wanted | {"ocolab/certificates.json"} <= names
    assert not [name for name in names if not name.startswith(("ocolib", "ocolab/"))]


def test_downloads_are_made_again_when_something_they_are_made_from_has_changed(tmp_path, monkeypatch):
    for name in ("book/page.ipynb", "press/press/pages/plain.py", "ocolib/sets.py", "pyproject.toml"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1", "utf8")
    monkeypatch.setattr(downloads, "ROOT", tmp_path)
    states = [downloads.digest("site", ""), downloads.digest("", ""), downloads.digest("site", "student")]
    for name in ("book/page.ipynb", "press/press/pages/plain.py", "ocolib/sets.py", "pyproject.toml"):
        (tmp_path / name).write_text("2", "utf8")
        states.append(downloads.digest("site", ""))
    (tmp_path / "book" / "new.svg").write_text("", "utf8")
    states.append(downloads.digest("site", ""))
    assert len(set(states)) == len(states) and downloads.digest("site", "") == states[-1]
