"""Test exercise sheets: all exercises of the lecture, and solutions only where they are wanted."""

import re

import pytest
from leaks import solutions, squeezed

from press import edition
from press.grade import checks, notebook
from press.pages import notebooks, plain
from press.print import sheet

TOC = edition.contents()
FOLDERS = ["4", "9", "13", "17", "gentle-start", "regret-bounds", "limits", "scale"]


def exercises_of(asked):
    """Return [(id, title)] of all exercises of a lecture."""
    _, _, pages = sheet.lecture(asked, TOC)
    boxes = [notebooks.exercises(notebooks.read(notebooks.TEXT / f"{page}.md")) for page in pages]
    return [(name, title) for found in boxes for name, (_, title) in found.items()]


@pytest.mark.parametrize("asked", FOLDERS)
def test_a_sheet_has_every_exercise_and_no_solution_unless_asked(asked):
    without, told = (sheet.notebook(sheet.sheet_of(asked), wanted) for wanted in (False, True))
    names = [name for name, _ in exercises_of(asked)]
    for made in (without, told):
        found = [cell.metadata["exercise"] for cell in made.cells if "exercise" in notebooks.tags(cell)]
        assert found == names
        assert len({cell.id for cell in made.cells}) == len(made.cells)
    for name, title in exercises_of(asked):
        assert any(f": {title}**" in cell.source for cell in without.cells)
        hidden, shown = (squeezed("\n".join(cell.source for cell in made.cells)) for made in (without, told))
        assert not [line for line in solutions()[name] if line in hidden]
        assert all(line in shown for line in solutions()[name])


def test_a_sheet_with_solutions_runs():
    """Its cells bring all that the checks need; a solution is strict."""
    made = sheet.notebook(sheet.sheet_of("13"), True)
    notebooks.NotebookClient(made, kernel_name="python3", timeout=600).execute()
    answers = [c for c in made.cells if plain.is_solution(c)]
    assert len(answers) == len(exercises_of("13"))
    for cell in answers:
        assert any("✓" in output.get("text", "") for output in cell.outputs), cell.source


def test_an_unknown_lecture_is_a_sentence():
    with pytest.raises(SystemExit, match="no lecture 99"):
        sheet.lecture("99", TOC)


def test_exercises_are_numbered_through():
    numbers = [
        int(found[1])
        for cell in sheet.notebook(sheet.sheet_of("13"), False).cells
        if (found := re.match(r".*\*\*Exercise (\d+): ", cell.source, re.DOTALL))
        and cell.cell_type == "markdown"
    ]
    _, _, pages = sheet.lecture("13", TOC)
    texts = [notebooks.read(notebooks.TEXT / f"{page}.md") for page in pages]
    proofs = [name for text in texts for name in notebooks.proofs(text)]
    assert len(proofs) > 5 and numbers == list(range(1, len(exercises_of("13")) + len(proofs) + 1))


def test_a_sheet_has_the_proofs_and_their_answers_only_with_the_solutions():
    without, told = (
        "\n".join(c.source for c in sheet.notebook(sheet.sheet_of("13"), wanted).cells)
        for wanted in (False, True)
    )
    for shown in (without, told):
        assert "does the average vanish?**" in shown and "1. The right side tends to $0$." in shown
        assert "<details>" not in shown
    for answer in ("This is the false line.", "*The right order.*", "*Compare with the rubric.*"):
        assert answer in told and answer not in without


def assigned(folder):
    path = folder / "sheet-3.yml"
    path.write_text(
        "title: Sheet 3\ndue: 2026-11-20 23:59\nexercises:\n"
        "  ex-three-kinks: 1\n  ex-the-price-of-staying: 2.5\n  ex-the-best-threshold: 3\n",
        "utf8",
    )
    return path


def test_an_assignment_has_its_own_sheet(tmp_path):
    """Only its exercises, with points and date; and the notebook is one that the grader knows."""
    path = assigned(tmp_path)
    made = sheet.notebook(sheet.sheet_of(path), False)
    found = [cell.metadata["exercise"] for cell in made.cells if "exercise" in notebooks.tags(cell)]
    assert found == ["ex-three-kinks", "ex-the-price-of-staying", "ex-the-best-threshold"]
    text = "\n".join(cell.source for cell in made.cells)
    assert "# Sheet 3: exercises" in text and "Hand in by 20 November 2026, 23:59." in text
    assert "**Exercise 1: three kinks** (1 point)" in text and "staying** (2.5 points)" in text
    known = notebook.cells(notebooks.written(made).encode(), set(checks.book()))
    assert [name for name, _ in known if name] == found


def test_paper_has_room_for_a_name_and_no_checks(tmp_path):
    path = assigned(tmp_path)
    page = sheet.page(sheet.notebook(sheet.sheet_of(path), False), "Sheet 3", sheet.sheet_of(path))
    assert "Name <i>" in page and "of 6.5" in page and "Hand in by 20 November 2026" in page
    assert "check" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    assert page.count('<div class="exercise">') == 3


COURSE = """\
title: Four weeks
lecturer: A. Lecturer
parts:
  - {title: "Week 1", pages: [lecture-13-oco/winnow, lecture-13-oco/the-game]}
  - {title: "Week 2", pages: [regret-bounds]}
"""


@pytest.fixture
def course(tmp_path):
    file = tmp_path / "autumn.yml"
    file.write_text(COURSE, "utf8")
    return file


def test_a_course_has_a_sheet_for_each_part_in_its_own_order(course):
    made = sheet.sheet_of("1", course)
    assert (made.name, made.title) == ("autumn-1", "Week 1")
    assert made.pages == ["lecture-13-oco/winnow", "lecture-13-oco/the-game"]
    cells = sheet.notebook(made, False).cells
    found = [cell.metadata["exercise"] for cell in cells if "exercise" in notebooks.tags(cell)]
    here = [notebooks.TEXT / f"{page}.md" for page in made.pages]
    assert found == [name for text in here for name in notebooks.exercises(notebooks.read(text))]
    assert cells[1].source == "Four weeks, A. Lecturer"


def test_a_part_that_the_course_has_not_is_a_sentence(course):
    for asked in ("3", "13x", "0"):
        with pytest.raises(SystemExit, match="the course has parts 1 to 2"):
            sheet.sheet_of(asked, course)


def test_an_assignment_asks_only_for_pages_of_the_course(course, tmp_path):
    file = tmp_path / "sheet.yml"
    file.write_text("title: One\nexercises: [ex-another-first-move]\n", "utf8")
    assert sheet.sheet_of(file).pages == ["lecture-13-oco/follow-the-leader"]
    with pytest.raises(SystemExit, match="leaves out the page of ex-another-first-move"):
        sheet.sheet_of(file, course)
