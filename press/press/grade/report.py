"""Write the results: marks for the lecturer, tables for Moodle and Canvas, a feedback page per student.

The last step of grading. Everything that comes from a student, including file names, is treated as text: it
is escaped in HTML, and in a table no cell starts like a formula.
"""

import csv
import io
import re
import zipfile
from dataclasses import dataclass, field
from html import escape

from press import files
from press.grade import checks
from press.grade.assignment import participant
from press.grade.judge import NOT_HANDED_IN, Row, sentence

STYLE = """
body { font: 1em/1.5 system-ui, sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #1c1c1c;
  background: #fff }
h2 { font-size: 1.1em; margin: 2em 0 .3em; display: flex; gap: .6em; align-items: baseline }
h2 .points { margin-left: auto; font-weight: normal; white-space: nowrap }
.total { font-size: 1.2em } .right { color: #17602b } .wrong { color: #a11a1a }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f4f2; padding: .5em .8em }
table { border-spacing: 0 } th { text-align: left; font-weight: normal; color: #555; padding: .1em 1em .1em 0;
  vertical-align: top; white-space: nowrap } td { white-space: pre-wrap; overflow-wrap: anywhere;
  font-family: ui-monospace, monospace }
"""


@dataclass
class Student:
    """Everything known about one student."""

    id: str
    name: str
    rows: dict = field(default_factory=dict)  # {exercise: Row}
    points: dict = field(default_factory=dict)  # {exercise: points}
    late: int = 0  # days
    when: object = None
    files: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    folder: str = ""
    platform: str = ""

    @property
    def total(self):
        """Return the sum of the points."""
        return round(sum(self.points.values()), 4)


def marks(assignment, results):
    """Return {id: Student} from [(attempt, judged)].

    Students on the roster who submitted nothing are included.
    """
    found = {key: Student(key, name) for key, name in assignment.roster.people.items()}
    for attempt, judged in sorted(results, key=lambda pair: pair[0].order):
        student = found.setdefault(attempt.student, Student(attempt.student, attempt.name))
        student.files.append(attempt.file)
        student.folder, student.platform = (
            attempt.folder or student.folder,
            attempt.platform or student.platform,
        )
        late, when = lateness(assignment, attempt)
        student.when = max(filter(None, (student.when, when)), default=None)
        reason = attempt.reason or judged.reason
        if attempt.late:
            student.notes.append("Marked late by Canvas; this counts as one day.")
        if reason:
            student.notes.append(f"{attempt.file.rpartition('/')[2]}: {reason}.")
        for row in judged.rows:
            take(assignment, student, row, late)
        if assignment.roster.people and attempt.student not in assignment.roster.people:
            student.notes.append("Not on the roster.")
        student.notes = list(dict.fromkeys(student.notes))
    found = dict(sorted(found.items()))
    places = {}
    for attempt, _ in results:
        places.setdefault(attempt.student, set()).add(attempt.within)
    for student in found.values():
        if len(places.get(student.id, ())) > 1:
            inside = ", ".join(sorted(places[student.id] - {""}))
            student.notes.append(f"Some files have this name only inside {inside}: check whose they are.")
        if not student.files:
            student.notes.append("Nothing was handed in.")
        for name in assignment.exercises:
            student.rows.setdefault(name, Row(name, message=NOT_HANDED_IN, absent=True))
            student.points.setdefault(name, 0)
    return found


def take(assignment, student, row, late):
    """Store an answer for its exercise if it is the one that counts: the best or the last, as assigned."""
    points = assignment.exercises[row.exercise] * assignment.factor(late) * row.passed
    known = student.rows.get(row.exercise)
    better = known is None or known.absent or assignment.attempts == "last"
    better = better or (points, row.passed) >= (student.points[row.exercise], known.passed)
    if better and not (row.absent and known):
        student.rows[row.exercise], student.points[row.exercise] = row, round(points, 4)
        student.late = max(student.late, late)


def lateness(assignment, attempt):
    """Return (days late, submission time); the platform's time counts before that of the file."""
    told = assignment.roster.times.get(attempt.student)
    when = told or attempt.when
    days = assignment.days_late(when)
    if attempt.platform == "canvas":  # file times are those of the download; only LATE is known
        return int(attempt.late), None
    return days, when


# ---------------------------------------------------------------- tables


def plain(cell):
    """Return a table cell as one line that no spreadsheet reads as a formula, even if split at semicolons."""
    if not isinstance(cell, str):
        return cell
    cell = re.sub(r"[\x00-\x1f\x7f]+", " ", cell)[:2000]
    return re.sub(r"(^|;)(?=\s*([=@＝＠]|[-+－＋].))", r"\1'", cell)  # Moodle itself uses a single -


def table(path, rows):
    """Write rows as a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows([plain(cell) for cell in row] for row in rows)
    files.write(path, text.getvalue())


VERDICTS = ("id", "name", "file", "exercise", "title", "passed", "points", "message", "line")


def verdicts(assignment, attempt, judged):
    """Return the rows of one notebook for verdicts.csv."""
    if attempt.reason or judged.reason:
        return [
            [attempt.student, attempt.name, attempt.file, "", "", 0, 0, attempt.reason or judged.reason, ""]
        ]
    late, _ = lateness(assignment, attempt)
    return [
        [
            attempt.student,
            attempt.name,
            attempt.file,
            row.exercise,
            checks.book()[row.exercise][1],
            int(row.passed),
            round(assignment.exercises[row.exercise] * assignment.factor(late) * row.passed, 4),
            row.message,
            row.line or "",
        ]
        for row in judged.rows
    ]


def grades(assignment, students):
    """Yield the rows of grades.csv: one line per student."""
    head = ["id", "name", "total", "of", "days late", "handed in", "files", *assignment.exercises, "notes"]
    yield head
    for student in students.values():
        when = student.when.isoformat(" ", "minutes") if student.when else ""
        points = [student.points[name] for name in assignment.exercises]
        yield [student.id, student.name, student.total, assignment.total, student.late, when,
               "; ".join(student.files), *points, " ".join(student.notes)]  # fmt: skip


def days_of(student):
    """Return how many days late a student was, in words."""
    return f"{student.late} day{'s' * (student.late > 1)}"


def comment(assignment, student):
    """Return the comment for the learning platform, one line."""
    solved = sum(row.passed for row in student.rows.values())
    late = f", {days_of(student)} late" if student.late else ""
    return f"{solved} of {len(assignment.exercises)} exercises solved{late}"


def moodle(assignment, students):
    """Yield the rows of a grading worksheet for Moodle; none if no submission came from Moodle."""
    if assignment.roster.kind == "moodle":
        yield assignment.roster.head
        for line in assignment.roster.lines:
            student = students[participant(line)]
            filled = dict(line, Grade=student.total)
            if "Feedback comments" in line:
                filled["Feedback comments"] = comment(assignment, student)
            yield [filled.get(name, "") for name in assignment.roster.head]
        return
    theirs = [student for student in students.values() if student.platform == "moodle"]
    if theirs:
        yield ["Identifier", "Full name", "Grade", "Maximum Grade", "Feedback comments"]
    for student in theirs:
        yield [f"Participant {student.id}", student.name, student.total, assignment.total,
               comment(assignment, student)]  # fmt: skip


def canvas(assignment, students):
    """Yield the rows of a gradebook for Canvas; none if no submission came from Canvas."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    if assignment.roster.kind == "canvas":
        named = [name for name in assignment.roster.head if name.startswith(f"{assignment.title} (")]
        yield [*head, named[0] if named else assignment.title]
        yield ["    Points Possible", "", "", "", "", assignment.total]
        for line in assignment.roster.lines:
            yield [*(line.get(name, "") for name in head), students[line["ID"].strip()].total]
        return
    theirs = [student for student in students.values() if student.platform == "canvas"]
    if theirs:
        yield [*head, assignment.title]
        yield ["    Points Possible", "", "", "", "", assignment.total]
    for student in theirs:
        yield [student.name, student.id, "", "", "", student.total]


# ---------------------------------------------------------------- feedback


def number(x):
    """Format a number without trailing zeros."""
    return f"{x:g}"


def page(assignment, student):
    """Return the feedback page of one student as HTML."""
    late = f", {days_of(student)} late" if student.late else ""
    parts = [
        f"<h1>{escape(assignment.title)}: {escape(student.name)}</h1>",
        f'<p class="total">{number(student.total)} of {number(assignment.total)} points{late}</p>',
        *lost(assignment, student),
        *(f"<p>{escape(note)}</p>" for note in student.notes),
    ]
    for name, most in assignment.exercises.items():
        parts += answer(assignment, student.rows[name], student.points[name], most)
    head = f"<title>{escape(assignment.title)}: {escape(student.name)}</title><style>{STYLE}</style>"
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    meta = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    meta += '<meta name="viewport" content="width=device-width">'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{meta}{head}</head>\n<body>\n{body}\n</body></html>\n'


def lost(assignment, student):
    """Yield what lateness cost, so that a student understands why a right answer has few points."""
    left = assignment.factor(student.late)
    if left < 1:
        counts = f"counts {number(round(100 * left, 2))} percent" if left else "does not count any more"
        yield f"<p>What came {days_of(student)} late {counts}.</p>"


def answer(assignment, row, points, most):
    """Yield the HTML of one exercise on the feedback page."""
    title, where = checks.book()[row.exercise][1], checks.page_of(row.exercise)
    title = title[:1].upper() + title[1:]
    kind, mark = ("right", "✓") if row.passed else ("wrong", "✗")
    if assignment.site:
        link = f'<a href="{escape(assignment.site)}/book/{where}.html#{row.exercise}">{escape(title)}</a>'
    else:
        link = escape(title)
    score = f'<span class="points">{number(points)} of {number(most)}</span>'
    yield f'<h2 id="{row.exercise}"><span class="{kind}">{mark}</span> {link} {score}</h2>'
    yield f"<p>{escape(sentence(row.message))}</p>"
    if row.source:
        line = f"line {row.line} of your cell" if row.line else "your line"
        yield f"<p>Look at {line}:</p><pre>{escape(row.source)}</pre>"
    facts = {"input": row.input, "you have": row.got, "expected": row.expected}
    told = [
        f"<tr><th>{name}</th><td>{escape(fact)}</td></tr>" for name, fact in facts.items() if fact is not None
    ]
    if told:
        yield f"<table>{''.join(told)}</table>"


def names(students):
    """Return {id: file name of the feedback page}, all different."""
    found, taken = {}, set()
    for key in students:
        base = name = cut(re.sub(r"[^\w.-]+", "_", key).strip("._"), 200) or "student"
        count = 1
        while name.casefold() in taken:
            count += 1
            name = f"{base}-{count}"
        taken.add(name.casefold())
        found[key] = f"{name}.html"
    return found


def cut(name, most):
    """Return a name cut to so many bytes, because files have names of at most 255 bytes."""
    return name.encode("utf8")[:most].decode("utf8", "ignore")


def write(assignment, students, ignored, into):
    """Write all result files; return those that a lecturer uploads."""
    table(into / "grades.csv", grades(assignment, students))
    written = []
    for name, rows in {"moodle.csv": moodle, "canvas.csv": canvas}.items():
        lines = list(rows(assignment, students))
        if lines:
            table(into / name, lines)
            written.append(into / name)
    files.write(into / "ignored.txt", "".join(f"{plain(name)}: {plain(why)}\n" for name, why in ignored))
    bundle = io.BytesIO()
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as packed:
        for key, name in names(students).items():
            student = students[key]
            text = page(assignment, student)
            files.write(into / "feedback" / name, text)
            folder = re.sub(r'[\\/:*?"<>|\x00-\x1f]', "_", student.folder)
            folder = folder if folder == cut(folder, 240) else ""  # no platform makes such a name
            inside = f"{folder}/feedback.html" if student.platform == "moodle" else f"{folder}feedback.html"
            packed.writestr(inside if folder else name, text)
    (into / "feedback.zip").write_bytes(bundle.getvalue())
    return [*written, into / "feedback.zip"]
