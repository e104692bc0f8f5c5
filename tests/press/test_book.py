"""Test that the book's sources agree: ledger, labels, tests, table of contents, citations."""

import ast
import re
from functools import cache

import nbformat
import pytest
import yaml
from folded import for_each

from ocolab.limits import LIMITS
from ocolib.theorems import THEOREMS
from press import ledger

ROOT = ledger.ROOT
LEDGER = ledger.load()
LABEL = re.compile(r"^\(([\w.-]+)\)=|^:(?:label|name): +([\w.-]+)", re.MULTILINE)
CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


def listed(node):
    """Return every file that a table of contents names."""
    if isinstance(node, list):
        return [name for part in node for name in listed(part)]
    if isinstance(node, dict):
        own = [node[key] for key in ("root", "file") if key in node]
        return own + [name for part in node.values() for name in listed(part)]
    return []


CONTENTS = listed(yaml.safe_load((ROOT / "_toc.yml").read_text("utf8")))


def source(docname):
    """Return the Markdown of a page, from either kind of file."""
    notebook = ROOT / f"{docname}.ipynb"
    if notebook.exists():
        cells = nbformat.read(notebook, as_version=4).cells
        return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return (ROOT / f"{docname}.md").read_text("utf8")


SOURCES = {name: source(name) for name in CONTENTS}
LABELS = [(label or name, page) for page, text in SOURCES.items() for label, name in LABEL.findall(text)]


def names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@cache
def functions(file):
    """Return {function of a test file: whether it uses what it tests, directly or through calls}."""
    body, used = ast.parse((ROOT / file).read_text("utf8")).body, {"ledger"}
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ("ocolib", "ocolab"):
            used |= {alias.asname or alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module == "strategies":
            used |= {alias.name for alias in node.names if functions("tests/strategies.py")[alias.name]}
    uses = {node.name: names(node) for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in body:
        if isinstance(node, ast.Assign):
            uses |= {name: names(node) for target in node.targets for name in names(target)}
    while more := {name for name, inside in uses.items() if inside & used} - used:
        used |= more
    return {name: name in used for name in uses}


DONE = [entry for entry in ledger.entries(LEDGER) if ledger.done(entry)]


@for_each("entry", DONE, lambda entry: entry["id"])
def test_a_done_item_has_one_anchor_and_its_tests_exist(entry):
    name = ledger.anchor(entry["id"])
    pages = [page for label, page in LABELS if label == name]
    assert pages == ["book/" + entry["page"]], f"label {name} stands on {pages or 'no page'}"
    for test in entry["tests"]:
        file, _, function = test.partition("::")
        used = functions(file).get(function.partition("[")[0])
        assert used is not None, f"no test {test}"
        assert used, f"{test} tests nothing of ours"


@pytest.mark.parametrize("prefix", LEDGER)
def test_a_finished_lecture_has_no_gaps(prefix):
    part = LEDGER[prefix]
    gaps = [entry["id"] for entry in part["items"] + part["errata"] if not ledger.done(entry)]
    assert not (part["finished"] and gaps)


def test_an_item_has_the_theorems_and_limits_that_name_it(tmp_path):
    entry = {"id": "ox13.thm2", "page": "", "tests": ["tests/test_x.py::test_listed"]}
    (tmp_path / "x.yml").write_text(yaml.safe_dump({"items": [entry], "errata": []}))
    loaded = ledger.load(tmp_path)["x"]["items"][0]
    assert loaded["tests"] == entry["tests"]
    assert loaded["theorems"] == ["Descent", "DescentSharp", "DescentAnytime"]
    assert loaded["limits"] == ["interval", "ball", "descent"]
    bare = {"page": "x", "tests": [], "theorems": [], "limits": []}
    assert not ledger.done(bare) and ledger.done(bare | {"limits": ["ball"]})


def test_every_theorem_and_limit_names_an_item_that_a_page_states():
    stated = {label for label, _ in LABELS}
    items = {entry["id"] for entry in ledger.entries(LEDGER)}
    for entry in [*THEOREMS, *LIMITS]:
        assert entry.item in items and ledger.anchor(entry.item) in stated, entry


def test_ledger_ids_are_unique_and_belong_to_their_file():
    ids = [entry["id"] for entry in ledger.entries(LEDGER)]
    assert len(ids) == len(set(map(str.lower, ids)))
    for prefix, part in LEDGER.items():
        assert all(e["id"].startswith(prefix + ".") for e in part["items"] + part["errata"])


def test_a_label_of_a_lecture_is_in_the_ledger():
    """A misspelt label would otherwise be an anchor that nobody finds."""
    known = {ledger.anchor(entry["id"]) for entry in ledger.entries(LEDGER)}
    lectures = re.compile(rf"({'|'.join(LEDGER)})-")
    assert not [label for label, _ in LABELS if lectures.match(label) and label not in known]


def test_labels_are_unique():
    names = [label.lower() for label, _ in LABELS]
    assert len(names) == len(set(names))


def test_contents_name_every_notebook():
    files = {p.relative_to(ROOT).with_suffix("").as_posix() for p in ROOT.glob("book/**/*.ipynb")}
    assert {name for name in files if ".ipynb_checkpoints" not in name} <= set(CONTENTS)


def test_the_concordance_shows_every_lecture():
    shown = re.findall(r"\{concordance\} (\w+)", SOURCES["book/concordance"])
    assert sorted(shown) == sorted(LEDGER)


def test_every_citation_is_in_the_bibliography():
    bibliography = (ROOT / "book/references.bib").read_text("utf8")
    entries = re.findall(r"^@\w+\{([^,]+),\n(?:  .+\n)+\}$", bibliography, re.MULTILINE)
    assert len(entries) == bibliography.count("@"), "an entry is cut off"
    known = set(entries)
    assert len(known) == len(entries), "an entry stands twice"
    cited = {
        key.strip() for text in SOURCES.values() for keys in CITATION.findall(text) for key in keys.split(",")
    }
    assert cited <= known


def test_the_reference_names_every_module():
    modules = {p.stem for p in (ROOT / "ocolib").glob("*.py") if not p.stem.startswith("_")}
    rooms = [text for page, text in SOURCES.items() if page.startswith("book/reference/")]
    named = set(re.findall(r"{room} ocolib\.(\w+)", "\n".join(rooms)))
    assert modules - {"validate", "describe", "types", "referee"} <= named  # helpers of other tests


@pytest.mark.parametrize("room", ["certificates", "exact"])
def test_the_reference_lists_what_a_room_takes_from_the_laboratory(room):
    (listed,) = re.findall(rf"ocolab\.{room}\n:members: ([\w, ]+)\n`", SOURCES[f"book/reference/{room}"])
    body = ast.parse((ROOT / "ocolab" / f"{room}.py").read_text("utf8")).body
    names = [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert re.split(r",\s+", listed) == [name for name in names if not name.startswith("_")]
