"""Test the notebooks: executed as written, described, portable, and exercises that can fail."""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from textwrap import dedent

import nbformat
import pytest
import yaml
from directives import name_of, verifications
from folded import for_each
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ocolib.exercises import cases
from press.pages import exercise, notebooks

TEXTS = notebooks.pages()
every_page = for_each("text", TEXTS, notebooks.shown)

MACHINE = re.compile(r"(?:^|[\s'\"=(])/(?:home|root|tmp|usr|work|Users)/|[A-Z]:\\|\b0x[0-9a-f]{6,}")
NOT_LIVE = re.compile(r"\b(cvxpy|oracle|plt|plots|matplotlib|scipy|sklearn)\b")
LONE = re.compile(r"^\s*[)\]}]+[,:]?\s+#")

BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"cvxpy", "scipy", "matplotlib", "sklearn"}:
            raise ModuleNotFoundError(f"a live cell needs NumPy alone, not {name}")

sys.meta_path.insert(0, Blocked())
"""

FORKS = f"""{BLOCK}
import json, os, traceback
from ocolib import adversaries, exercises, game, learners, losses, regularizers, sets, theorems

for line in sys.stdin:
    heard, told = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(told, 2)
        try:
            exec(json.loads(line), dict(__name__="__main__"))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(told)
    with open(heard) as said:
        text = said.read()
    print(json.dumps([os.wait()[1], text]), flush=True)
"""


@cache
def stored(text):
    """Return the committed notebook of a page."""
    return nbformat.read(notebooks.notebook_of(text), as_version=4)


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


tags = notebooks.tags


def texts(cell):
    """Return everything that a cell has shown, as text."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.text
        else:
            for kind, value in output.get("data", {}).items():
                if kind.startswith("text/"):
                    yield value


def speaks(cell):
    """Return whether the cell prints or ends in an expression."""
    last = ast.parse(cell.source).body[-1:]
    return "print(" in cell.source or any(isinstance(node, ast.Expr) for node in last)


# Text and notebook


@every_page
def test_text_and_notebook_agree(text):
    assert not (fault := notebooks.difference(text)), f"{fault}\nrun: make notebooks"


def test_every_notebook_has_a_text():
    wanted = {notebooks.notebook_of(text) for text in TEXTS}
    extra = {path for path in notebooks.BOOK.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts}
    assert not extra - wanted, "no text in pages/: delete it"


@every_page
def test_no_page_is_stripped(text):
    cells = code(stored(text).cells)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells[1:]:
        quiet = "checker" in tags(cell) or not speaks(cell)
        assert cell.outputs or quiet, f"no output stored for:\n{cell.source}"


@every_page
def test_notebooks_are_in_canonical_form(text):
    """Written by our tool, with nothing of the machine in the metadata; the first cell is silent."""
    notebook = stored(text)
    assert notebooks.written(notebook) == notebooks.notebook_of(text).read_text("utf8")
    assert notebook.metadata == notebooks.METADATA
    assert not notebook.cells[0].outputs
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_a_kernel_that_does_not_start_is_started_again():
    class Client:
        def __init__(self, ends):
            self.ends = iter(ends)

        def execute(self):
            if reason := next(self.ends):
                raise RuntimeError(reason)

    notebooks.begin(Client(["Kernel died", "Kernel died", ""]), lambda: 0)
    with pytest.raises(RuntimeError, match="the third"):
        notebooks.begin(Client(["the first", "the second", "the third"]), lambda: 0)
    with pytest.raises(RuntimeError, match="in a cell"):
        notebooks.begin(Client(["in a cell", ""]), lambda: 1)


def test_setting_the_repository_asks_for_no_new_notebooks(monkeypatch):
    monkeypatch.setattr(notebooks, "repository", lambda: "https://example.org/book")
    assert 'address = "git+https://example.org/book"' in notebooks.make(TEXTS[0]).cells[0].source
    assert not notebooks.difference(TEXTS[0])


# What a page shows


@every_page
def test_every_figure_is_described(text):
    for cell in code(stored(text).cells):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        if any(kind.startswith("image/") for kind in kinds):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 10, f"no alt text for:\n{cell.source}"


@every_page
def test_no_output_names_a_machine(text):
    for cell in code(stored(text).cells):
        for shown in texts(cell):
            assert not MACHINE.search(shown), shown
            assert all(output.get("name") != "stderr" for output in cell.outputs), shown


@pytest.fixture(scope="module")
def with_numpy_alone():
    """Run a script where only NumPy and ocolib can be imported; return (status, error).

    Each script runs in a fork; common imports are done once.
    """
    with subprocess.Popen(
        [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(script):
            print(json.dumps(script), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield run


@pytest.mark.live
@pytest.mark.parametrize("text", TEXTS, ids=notebooks.shown)
def test_live_cells_need_numpy_alone_and_verify_the_answers_of_quick_questions(text, with_numpy_alone):
    live = [cell.source for cell in code(stored(text).cells) if "live" in tags(cell)]
    for source in live:
        assert not NOT_LIVE.search(source), f"not live:\n{source}"
    answers = [f"assert {verify}, {name!r}" for name, verify in verifications(name_of(text)).items()]
    status, said = with_numpy_alone("\n\n".join([*live, *answers]))
    assert status == 0, said


@pytest.mark.live
def test_a_live_cell_with_a_fault_or_another_import_fails(with_numpy_alone):
    for script, words in (
        ("import matplotlib", "a live cell needs NumPy alone, not matplotlib"),
        ("from ocolib import oracle", "a live cell needs NumPy alone, not cvxpy"),
        ("assert 1 + 1 == 3, 'q-sum'", "AssertionError: q-sum"),
        ("raise SystemExit", "SystemExit"),
        ("losses", "NameError"),
    ):
        status, said = with_numpy_alone(script)
        assert status and words in said, said
    assert with_numpy_alone("print('x' * 10**6)") == [0, ""]


@every_page
def test_code_fits_its_column(text):
    """As written, and as derived: 79 characters, one blank line, no comment behind a lone bracket."""
    cells = notebooks.read(text)
    for cell in code([*cells, *notebooks.derived(cells)]):
        assert "\n\n\n" not in cell.source, f"two blank lines in:\n{cell.source}"
        for line in cell.source.split("\n"):
            assert len(line) <= 79, f"{len(line)} characters: {line}"
            assert not LONE.match(line), f"put the comment above the statement: {line}"


@every_page
def test_a_page_has_no_header(text):
    assert not text.read_text("utf8").startswith("---"), "jupytext.toml should have kept the header out"


# Exercises


def test_every_exercise_keeps_its_id():
    """The ids are anchors, unique, and none is lost: book/exercises.yml has them all."""
    ledger = yaml.safe_load((notebooks.BOOK / "exercises.yml").read_text("utf8"))
    written = []
    for text in TEXTS:
        page, cells = text.relative_to(notebooks.TEXT).with_suffix("").as_posix(), notebooks.read(text)
        for name, (_, title) in notebooks.exercises(cells).items():
            written.append({"id": name, "title": title, "page": page})
        for name, (_, _, title) in notebooks.proofs(cells).items():
            written.append({"id": name, "title": title, "page": page, "kind": "proof"})
    for entry in ledger:
        assert re.fullmatch(r"ex(-[a-z0-9]+)+", entry["id"]) and len(entry["id"]) <= 55, entry
    assert len({entry["id"] for entry in ledger}) == len(ledger)
    kept = [entry for entry in ledger if entry["page"] is not None]
    missing = [entry for entry in written if entry not in kept]
    assert not missing, f"enter in book/exercises.yml: {missing}"
    assert not [entry for entry in kept if entry not in written], "of a lost exercise say `page: null`"


@every_page
def test_every_exercise_has_one_cell(text):
    cells = notebooks.read(text)
    boxes = list(notebooks.exercises(cells))
    assert boxes == [cell.metadata.get("exercise") for cell in cells if "exercise" in tags(cell)]
    marks = (":class: exercise", "```{task}")
    assert sum(any(mark in cell.source for mark in marks) for cell in cells) == len(boxes)


SOLVED = """\
base = 2

# Why it is so:
# the square.
def my_square(x, power=2):
    \"\"\"Return x².\"\"\"
    return x**power  # the point

def others(x):
    # a helper keeps its comments
    return x * x

# twice
found = my_square(base)
exercises.check_value(found, others(base))

print(my_square(3))"""


def test_stub_solution_and_judge_come_from_one_cell():
    made = exercise.split(SOLVED, "ex-square")
    assert made.kept == "base = 2"  # what the student's cell needs; the reference is not shown
    assert made.stub == dedent('''\
        def my_square(x, power=2):
            """Return x²."""
            return None

        found = my_square(base)
        exercises.check("ex-square", found)''')
    assert made.solution == dedent('''\
        # Why it is so:
        # the square.
        def solution_square(x, power=2):
            """Return x²."""
            return x**power  # the point

        # twice
        found = solution_square(base)
        exercises.check("ex-square", found, strict=True)

        print(solution_square(3))''')
    assert "def others(x):" in made.judge and "exercises.check_value(found, others(base))" in made.judge
    assert "the point" not in made.judge


def test_a_property_goes_with_the_students_check_and_a_second_check_is_numbered():
    made = exercise.split(
        dedent("""\
            def my_slopes():
                return [1, -1]

            def cost(z):
                return sum(z)

            rules = {"Short.": lambda z: abs(z) <= 1}
            worst = [1, 1]
            exercises.check_construction(my_slopes, (2,), rules, cost, at_least=2.0)
            exercises.check_value(my_slopes, worst)
            assert worst == [1, 1]"""),
        "ex-slopes",
    )
    assert made.kept.startswith("def cost(z):") and "rules = " in made.kept and "worst" not in made.kept
    assert 'exercises.check("ex-slopes", my_slopes, rules=rules, reaches=cost)' in made.stub
    assert 'exercises.check("ex-slopes", my_slopes, part=2)' in made.stub
    assert made.solution.index("worst = [1, 1]") < made.solution.index("assert worst")


@pytest.mark.parametrize(("many", "lines"), [(10, 1), (45, 3), (80, 5)])
def test_a_strict_call_fits_its_column(many, lines):
    made = exercise.split(
        f"def my_{'f' * many}():\n    return 1\n\nexercises.check_value(my_{'f' * many}, 1)", "ex-f"
    )
    call = made.solution.split("\n\n")[-1]
    assert call.startswith("exercises.check(") and "strict=True" in call and call.count("\n") + 1 == lines


@pytest.mark.parametrize(
    "source",
    ["x = 1", "def my_f():\n    return 1", "exercises.check_value(1, 1)", SOLVED + "\n# and so on"],
)
def test_an_exercise_without_answer_or_check_is_refused(source):
    with pytest.raises(ValueError, match=r"exercises\.check|ends with a comment"):
        exercise.split(source, "ex-f")


# The tool


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Make a project of one page; write its text, return its notebook."""
    monkeypatch.setattr(notebooks, "TEXT", tmp_path / "pages")
    monkeypatch.setattr(notebooks, "BOOK", tmp_path / "book")
    text = tmp_path / "pages" / "chapter" / "page.md"
    text.parent.mkdir(parents=True)

    def write(*cells):
        text.write_text("\n".join(f"```{{code-cell}} ipython3\n{cell}\n```\n" for cell in cells), "utf8")
        return text

    return write


def test_executing_twice_gives_the_same_bytes(shelf):
    text = shelf("import sys\nprint(1)\nprint(2)\nsys.getrecursionlimit() > 0")
    path = notebooks.notebook_of(text)
    first, second = (notebooks.execute(text) and path.read_bytes() for _ in range(2))
    assert first == second
    assert b"1\\n" in first and b"execution_count" in first
    assert not notebooks.difference(text)
    shelf("import sys\nprint(3)")
    assert "differ at cell 2" in notebooks.difference(text)


def test_a_failing_page_keeps_its_notebook(shelf, tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "FOLDER", tmp_path / "recorded")
    text = shelf("print(1)")
    path = notebooks.notebook_of(text)
    notebooks.write(notebooks.make(text), path)
    before = path.read_bytes()
    assert "ZeroDivisionError" in notebooks.execute(shelf("1 / 0"))
    wrong = SOLVED.replace("x**power", "x + 3").replace("base = 2", "from ocolib import exercises\nbase = 2")
    page = f"---\nexercise: ex-a\ntags: [exercise, live]\n---\n{wrong}"
    assert "no exercise box has" in notebooks.execute(shelf(page))
    text.write_text(
        "```{admonition} Exercise 1: a\n:class: exercise\n:name: ex-a\n```\n\n" + text.read_text()
    )
    assert "does not pass its own check" in notebooks.execute(text)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_ids_stay_once_given():
    sources = ["a = 1", "print(a)", "b = [a] * 20", "a = 1"]
    old = [new_code_cell(source) for source in sources]
    notebooks.give_ids(old, [])
    ids = [cell.id for cell in old]
    assert len(set(ids)) == 4 and ids[3] == ids[0] + "-2"
    edited = [new_code_cell(s) for s in ("import numpy", "a = 1", "b = [a, a] * 20", "a = 1", "print(a)")]
    notebooks.give_ids(edited, old)
    assert [cell.id for cell in edited[1:]] == [ids[0], ids[2], ids[3], ids[1]]
    assert edited[0].id not in ids
    notebooks.give_ids(again := [new_code_cell("import numpy")], [])
    assert again[0].id == edited[0].id


def test_a_check_is_folded_and_keeps_its_output():
    cell = new_code_cell(
        "assert True", metadata={"tags": ["check", "live"], "mystnb": {"image": {"alt": "x"}}}
    )
    (made,) = notebooks.derived([cell])
    assert made.metadata.tags == ["check", "live", "hide-input"]
    assert made.metadata.mystnb == {"image": {"alt": "x"}, "code_prompt_show": "Check"}
    assert made.metadata.jupyter == {"source_hidden": True}, "JupyterLab folds it too"
    assert cell.metadata.tags == ["check", "live"]


def test_an_answer_takes_the_place_of_the_stub():
    stub = exercise.split(SOLVED, "ex-square").stub
    given = "from math import prod\n\ndef my_square(x):\n    return prod([x, x])"
    assert exercise.answered(stub, given) == dedent("""\
        from math import prod

        def my_square(x):
            return prod([x, x])

        found = my_square(base)
        exercises.check("ex-square", found)""")


def test_an_exercise_gives_three_cells_with_its_id():
    box = new_markdown_cell("```{admonition} Exercise 4: the square\n:class: exercise\n:name: ex-a\n```")
    source = new_code_cell(SOLVED, metadata={"exercise": "ex-a", "tags": ["exercise", "live"]})
    _, checker, stub, solution = notebooks.derived([box, source])
    assert checker.id == "ex-a-checker" and checker.metadata.tags == ["live", "checker", "hide-input"]
    assert stub.id == "ex-a" and stub.metadata.tags == ["exercise", "live"]
    assert solution.id == "ex-a-solution" and solution.metadata.tags == ["live", "solution", "hide-cell"]
    assert solution.metadata.mystnb.code_prompt_show == "Worked solution of exercise 4"


def test_without_ocolib_the_first_cell_says_how_to_get_it():
    """A sentence, and the rest of the page does not run."""
    hidden = "import importlib.util\nimportlib.util.find_spec = lambda name: None"
    cells = [new_code_cell(source) for source in (hidden, notebooks.BOOTSTRAP, "print('on')")]
    notebook = new_notebook(cells=cells, metadata=notebooks.METADATA)
    with pytest.raises(notebooks.CellControlSignal):
        notebooks.NotebookClient(notebook, kernel_name="python3").execute()
    (error,) = notebook.cells[1].outputs
    assert len(error.traceback) == 1 and "pip install" in error.traceback[0]
    assert "Traceback" not in error.traceback[0] and not notebook.cells[2].outputs


def test_a_page_is_named_by_its_text_or_its_notebook(shelf):
    text = shelf("1")
    assert notebooks.text_of(text) == text == notebooks.text_of(notebooks.notebook_of(text))
    with pytest.raises(ValueError, match="is not a page"):
        notebooks.text_of(text.with_name("other.md"))


def nbval(path):
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True)


def test_nbval_notices_a_corrupted_output(tmp_path):
    path = tmp_path / "page.ipynb"
    cells = [new_code_cell("print(round(2 ** 0.5, 6))", execution_count=n) for n in (1, 2)]
    for cell, text in zip(cells, ("1.414214\n", "1.414215\n"), strict=True):
        cell.outputs = [new_output("stream", name="stdout", text=text)]
    nbformat.write(new_notebook(cells=cells, metadata=notebooks.METADATA), path)
    done = nbval(path)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout
    assert "FAILED page.ipynb::Cell 1" in done.stdout and "1.414215" in done.stdout


@every_page
def test_the_answer_does_not_stand_in_the_students_cell(text):
    """What is expected has a name, and is folded away with the checker."""
    for cell in code(notebooks.derived(notebooks.read(text))):
        if "exercise" in tags(cell):
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "exercises.check_value":
                    assert isinstance(node.args[1], ast.Name), ast.unparse(node)
