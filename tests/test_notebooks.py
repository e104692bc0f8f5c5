"""The pages are what they claim: executed, described, portable, and able to fail."""

import ast
import re
import subprocess
import sys

import nbformat
import notebooks
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

PAGES = notebooks.pages()
every_page = pytest.mark.parametrize("path", PAGES, ids=notebooks.shown)

MACHINE = re.compile(r"(?:^|[\s'\"=(])/(?:home|root|tmp|usr|work|Users)/|[A-Z]:\\|\b0x[0-9a-f]{6,}")
NOT_LIVE = re.compile(r"\b(cvxpy|oracle|plt|plots|matplotlib|scipy|sklearn)\b")

BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"cvxpy", "scipy", "matplotlib", "sklearn"}:
            raise ModuleNotFoundError(f"a live cell needs NumPy alone, not {name}")

sys.meta_path.insert(0, Blocked())
"""


def read(path):
    return nbformat.read(path, as_version=4)


def code(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def texts(cell):
    """Everything a cell has shown, as text."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.text
        else:
            for kind, value in output.get("data", {}).items():
                if kind.startswith("text/"):
                    yield value


def speaks(cell):
    """Does the cell print, or end in an expression?"""
    last = ast.parse(cell.source).body[-1:]
    return "print(" in cell.source or any(isinstance(node, ast.Expr) for node in last)


@every_page
def test_no_page_is_stripped(path):
    cells = code(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells[1:]:
        assert cell.outputs or not speaks(cell), f"no output stored for:\n{cell.source}"


@every_page
def test_pages_are_in_canonical_form(path):
    """Bootstrap cell first, ids from content, nothing of the machine in the metadata."""
    before = path.read_text("utf8")
    assert nbformat.writes(notebooks.normalise(read(path))).rstrip("\n") + "\n" == before
    assert notebooks.is_bootstrap(read(path).cells[0])
    assert not read(path).cells[0].outputs


@every_page
def test_every_figure_is_described(path):
    for cell in code(path):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        if any(kind.startswith("image/") for kind in kinds):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 10, f"no alt text for:\n{cell.source}"


@every_page
def test_no_output_names_a_machine(path):
    for cell in code(path):
        for text in texts(cell):
            assert not MACHINE.search(text), text
            assert all(output.get("name") != "stderr" for output in cell.outputs), text


@every_page
def test_live_cells_need_numpy_alone(path):
    live = [cell.source for cell in code(path) if "live" in tags(cell)]
    for source in live:
        assert not NOT_LIVE.search(source), f"not live:\n{source}"
    script = "\n\n".join([BLOCK, *live])
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def page(source, *, stored=None):
    """A page of one cell, with what it is said to have printed."""
    cell = new_code_cell(source)
    if stored is not None:
        cell.execution_count = 1
        cell.outputs = [new_output("stream", name="stdout", text=stored)]
    return new_notebook(cells=[cell], metadata=notebooks.METADATA)


def nbval(path):
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True)


def test_nbval_notices_a_corrupted_output(tmp_path):
    path = tmp_path / "page.ipynb"
    nbformat.write(page("print(round(2 ** 0.5, 6))", stored="1.414214\n"), path)
    honest = nbval(path)
    assert honest.returncode == 0, honest.stdout
    path.write_text(path.read_text().replace("1.414214", "1.414215"))
    corrupted = nbval(path)
    assert corrupted.returncode == 1 and "1.414215" in corrupted.stdout


def test_executing_twice_gives_the_same_bytes(tmp_path):
    path = tmp_path / "page.ipynb"
    nbformat.write(page("import sys\nprint(1)\nprint(2)\nsys.getrecursionlimit() > 0"), path)
    first, second = (notebooks.execute(path) and path.read_bytes() for _ in range(2))
    assert first == second
    assert b"1\\n" in first and b"execution_count" in first


def test_a_failing_page_keeps_its_file(tmp_path):
    path = tmp_path / "page.ipynb"
    nbformat.write(page("1 / 0"), path)
    before = path.read_bytes()
    assert "ZeroDivisionError" in notebooks.execute(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_draft_keeps_its_metadata(tmp_path, capsys):
    draft, path = tmp_path / "draft.md", tmp_path / "page.ipynb"
    draft.write_text(
        "# A page\n\n```{code-cell} ipython3\n---\nmystnb:\n  image:\n    alt: A line going up.\n"
        "tags: [live]\n---\n1 + 1\n```\n"
    )
    notebooks.new(draft, path)
    cell = read(path).cells[-1]
    assert cell.metadata.mystnb.image.alt == "A line going up." and cell.metadata.tags == ["live"]
    capsys.readouterr()
    notebooks.text(path)
    assert "alt: A line going up." in capsys.readouterr().out
