"""An exercise sheet has all exercises of its lecture, and solutions only where they are wanted."""

import notebooks
import plain
import pytest
import sheet
from leaks import solutions, squeezed

FOLDERS = ["4", "9", "13", "17", "regret-bounds", "limits", "scale"]


def exercises_of(asked):
    """[(id, title)] of all exercises of a lecture."""
    _, _, pages = sheet.lecture(asked)
    boxes = [notebooks.exercises(notebooks.read(notebooks.TEXT / f"{page}.md")) for page in pages]
    return [(name, title) for found in boxes for name, (_, title) in found.items()]


@pytest.mark.parametrize("asked", FOLDERS)
def test_a_sheet_has_every_exercise_and_no_solution_unless_asked(asked):
    without, told = (sheet.notebook(asked, wanted) for wanted in (False, True))
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
    made = sheet.notebook("13", True)
    notebooks.NotebookClient(made, kernel_name="python3", timeout=600).execute()
    answers = [c for c in made.cells if plain.is_solution(c)]
    assert len(answers) == len(exercises_of("13"))
    for cell in answers:
        assert any("✓" in output.get("text", "") for output in cell.outputs), cell.source


def test_an_unknown_lecture_is_a_sentence():
    with pytest.raises(SystemExit, match="no lecture 99"):
        sheet.lecture("99")
