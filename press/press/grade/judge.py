"""Judge one notebook: call the student's functions in the sandbox and pass the values to the checkers.

Each exercise is judged separately. If a cell hangs, ends its process or writes garbage, only its own
exercises are lost: the process is started again without that cell, and the other exercises are judged as
usual.
"""

import time
import unicodedata
from dataclasses import dataclass, field

from press.grade import checks, notebook, pipe

SECONDS = 20  # for a cell, and for all calls of an exercise
WHOLE = 600  # for a notebook
SHOWN = 1500  # characters of any feedback
NOT_HANDED_IN = "Not handed in: none of the notebooks contains its cell."


@dataclass
class Row:
    """The verdict on one exercise: whether it passed, and the feedback."""

    exercise: str
    passed: bool = False
    message: str = ""
    input: str | None = None
    got: str | None = None
    expected: str | None = None
    line: int | None = None
    source: str = ""
    absent: bool = False  # its cell is not in this notebook

    def __post_init__(self):
        for key, value in vars(self).items():
            if isinstance(value, str):
                setattr(self, key, harmless(value))


@dataclass
class Judged:
    """The result for one notebook: a row per exercise, or the reason why there is none."""

    rows: list = field(default_factory=list)
    reason: str = ""


def judge(content, names, fence, fresh=0, seconds=SECONDS, whole=WHOLE):
    """Judge a notebook, given as bytes, on the exercises `names`.

    `fresh` is the seed of the numbers that no page shows, `seconds` the limit for a cell, `whole` for the
    notebook.
    """
    try:
        cells = list(enumerate(notebook.cells(content, set(checks.book()))))
    except notebook.NoNotebook as reason:
        return Judged(reason=str(reason))
    judged = Judging(cells, list(names), fence, fresh, seconds, whole)
    try:
        return Judged([judged.row(name) for name in names])
    finally:
        judged.end()


class Judging:
    """A notebook while it is judged: its process, and the cells that are skipped."""

    def __init__(self, cells, names, fence, fresh, seconds, whole):
        self.cells, self.fence, self.fresh, self.seconds = cells, fence, fresh, seconds
        self.asked = {name: checks.functions(name) for name in names}
        self.until = time.monotonic() + whole
        self.student, self.skipped, self.lost = None, {}, {}

    def start(self):
        """Start a process and run the cells, unless one is running; skip cells that break it."""
        while self.student is None:
            if time.monotonic() > self.until:
                raise pipe.Stopped("the whole notebook took too long and was stopped")
            at = [None]
            student = pipe.Student(self.fence)
            try:
                cells = [(n, cell) for n, cell in self.cells if n not in self.skipped]
                self.found, self.wrong = student.run(cells, self.asked, self.seconds, at.append)
                self.student = student
            except pipe.Stopped as reason:
                student.end()
                if at[-1] is None:  # every cell has run; only the last message was bad
                    raise
                self.skipped[at[-1]] = str(reason)
                exercise = dict(self.cells)[at[-1]][0]
                if exercise:
                    self.lost[exercise] = str(reason)

    def row(self, name):
        """Return the verdict on one exercise; if the process breaks, the row says why."""
        try:
            self.start()
            return self.verdict(name)
        except pipe.Stopped as reason:
            self.end()
            return Row(name, message=sentence(f"Not judged, because {reason}"))

    def verdict(self, name):
        """Check one exercise in the running process, first on the page's numbers, then on fresh ones."""
        missing = [f for f in self.asked[name] if f not in self.found[name]]
        if missing:
            return self.without(name, missing[0])
        self.student.begin(self.seconds)
        self.student.error = None
        heard = []
        try:
            for instance in dict.fromkeys((0, self.fresh)):
                heard += checks.verdicts(name, self.ask(name), instance)
                if not all(verdict.passed for verdict in heard):
                    break
        except Exception as problem:  # the checker itself failed on an unexpected value
            return Row(
                name,
                message=short(f"Your answer could not be checked ({type(problem).__name__}: {problem})."),
            )
        if not heard:
            return Row(name, message="Nothing was checked.")
        told = next((verdict for verdict in heard if not verdict.passed), heard[0])
        error = self.student.error if not told.passed and " raised " in told.message else None
        facts = {key: short(getattr(told, key, None)) for key in ("input", "got", "expected")}
        row = Row(name, all(verdict.passed for verdict in heard), short(told.message), **facts)
        if error:
            row.line, row.source = error["line"], error["source"]
        return row

    def ask(self, name):
        """Return the function with which checkers call the student's functions for this exercise."""
        return lambda function, args, kwargs: self.student.ask(name, function, args, kwargs)

    def without(self, name, missing):
        """Return the row of an exercise whose function `missing` is not defined."""
        if name in self.lost:
            return Row(name, message=sentence(f"Your cell did not finish, because {self.lost[name]}"))
        if name in self.wrong:
            error = self.wrong[name]
            why = f"The function {missing} is not defined. Your cell raised {error['type']}: {error['text']}"
            return Row(name, message=short(why), line=error["line"], source=error["source"])
        if not any(exercise == name for _, (exercise, _) in self.cells):
            return Row(name, message=NOT_HANDED_IN, absent=True)
        return Row(name, message=f"The function {missing} is not defined.")

    def end(self):
        """Stop the process."""
        if self.student:
            self.student.end()
        self.student = None


def harmless(text):
    """Return a student's text in a form that is safe for any file and terminal.

    Broken characters, control characters and marks that reverse the reading direction are replaced.
    """
    text = text.encode("utf8", "replace").decode("utf8")
    return "".join(s if s in "\n\t" or unicodedata.category(s) not in ("Cc", "Cf") else " " for s in text)


def sentence(text):
    """Return the text with a capital letter at the start and a full stop at the end."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "…", "?", "!")) else text + "."


def short(text):
    """Return the text, cut to `SHOWN` characters."""
    text = text if text is None else str(text)
    return text if text is None or len(text) <= SHOWN else text[:SHOWN] + " …"
