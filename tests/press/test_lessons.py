"""Test that each page is a lesson: opens with goals, shows before it checks, ends with a summary."""

import ast
import re

from folded import for_each

from press.pages import notebooks, plain, questions

GOALS = re.compile(r"^:::\{admonition\} On this page\n:class: goals\n\n(.+?)\n:::$", re.MULTILINE | re.DOTALL)
KEEP = re.compile(
    r"^:::\{admonition\} To remember\n:class: remember\n\n(.+?)\n:::$", re.MULTILINE | re.DOTALL
)
CELL = re.compile(r"^```\{code-cell\}(.*?)\n```$", re.MULTILINE | re.DOTALL)
ASIDE = {"check", "exercise", "lines", "hide-input", "hide-cell", "remove-cell"}
LINES = 12
PAGES = [text for text in notebooks.pages() if GOALS.search(text.read_text("utf8"))]
every_lesson = for_each("text", PAGES, notebooks.shown)


def bullets(block):
    return re.findall(r"^[-*] ", block, re.MULTILINE)


@every_lesson
def test_a_page_opens_with_goals_and_ends_with_what_to_remember(text):
    source = text.read_text("utf8")
    (goals,) = GOALS.findall(source)
    assert 2 <= len(bullets(goals)) <= 5 and "**You need**" in goals
    first = next(
        cell for cell in CELL.finditer(source) if "hide-input" not in cell[1]
    )  # a picture may come first
    assert source.index(":::{admonition} On this page") < first.start()
    (keep,) = KEEP.findall(source)
    assert len(bullets(keep)) == 3
    lesson = source.split("\n## Beyond\n")[0]  # everything after it is optional
    assert lesson.index(":::{admonition} To remember") > lesson.rindex("```{code-cell}")


def lines(source):
    """Count lines of code without blank lines, comments and imports."""
    imports = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    return sum(
        1
        for number, line in enumerate(source.split("\n"), 1)
        if line.strip() and not line.strip().startswith("#") and number not in imports
    )


@every_lesson
def test_the_lesson_comes_first_and_the_check_second(text):
    """A cell that a reader is meant to read has 12 lines and one assert at most; the rest is folded.

    The tag `listing` is for code that is itself the subject: a learner or a proof given in full.
    """
    for cell in notebooks.read(text):
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type != "code" or tags & ASIDE:
            continue
        assert "listing" in tags or lines(cell.source) <= LINES, f"{lines(cell.source)} lines:\n{cell.source}"
        asserts = sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source)))
        assert asserts <= 1, f"{asserts} asserts, which belong into a cell tagged check:\n{cell.source}"


# ---------------------------------------------------------------- what a lesson asks

#: pages that report: measurements, a list of formal statements. They ask nothing
REPORTS = {"formal", "scale/phases", "speed"}
LESSONS = {text.relative_to(notebooks.TEXT).with_suffix("").as_posix(): text for text in PAGES}


def asked(name, *kinds):
    """Return the directives of these kinds on a page in their order, including nested ones."""

    def inner(text):
        for block in plain.split(text):
            if isinstance(block, plain.Block):
                yield block
                yield from inner("\n".join(block.lines))

    return [block for block in inner(plain.documents()[name]) if block.kind in kinds]


@for_each("name", LESSONS)
def test_a_lesson_has_three_questions_three_levels_and_hints(name):
    exercises = asked(name, "task", *questions.PROOFS)
    if name in REPORTS:
        assert not exercises, "this page is a lesson now"
        return
    assert len(asked(name, "quick")) >= 3, "three quick questions"
    facts = [questions.read_facts(block.inside()[0]) for block in exercises]
    assert {level for level, _ in facts} == set(questions.LEVELS), "warm-up, standard and challenge"
    assert facts[0][0] == "warm-up", "an easy one first"
    assert all(minutes for _, minutes in facts), "an honest time"
    hints = {
        block.argument: questions.read_hints(block.argument, block.inside()[1])
        for block in asked(name, "hints")
    }
    for block in asked(name, "task"):
        assert 2 <= len(hints.get(block.inside()[0]["name"], [])) <= 3, (
            f"{block.argument}: two or three hints"
        )


@for_each("name", LESSONS)
def test_a_page_with_a_theorem_has_a_proof_exercise(name):
    if asked(name, "prf:theorem"):
        assert asked(name, *questions.PROOFS)


def test_a_chapter_has_a_proof_exercise():
    chapters = {name.partition("/")[0] for name in LESSONS if "/" in name}
    practised = {name.partition("/")[0] for name in LESSONS if asked(name, *questions.PROOFS)}
    assert chapters <= practised, chapters - practised
