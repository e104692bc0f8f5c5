"""Read the submissions of a class: a folder of notebooks, or the zip file of a learning platform.

Moodle names a folder or file `Name_1234567_assignsubmission_file_…`, Canvas a file
`name_LATE_55501_777001_…`; elsewhere a folder, a zip or a file is named by its student. Zips may lie in zips.
Everything is read in memory, nothing is unpacked.
"""

import datetime as dt
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.DOTALL
)
CANVAS = re.compile(r"(?P<name>[^_/]+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<number>\d+)_(?P<rest>.+)", re.DOTALL)
STRAY = {"__MACOSX", ".ipynb_checkpoints", "__pycache__"}
LARGEST, DEEPEST, MEMBERS = 30 << 20, 4, 5000


@dataclass
class File:
    """One file: its place (zips count as folders), what it holds, and when it was written."""

    parts: tuple
    content: bytes | None  # None: it was not read, `reason` says why
    when: dt.datetime | None
    reason: str = ""

    @property
    def name(self):
        return "/".join(self.parts)


@dataclass
class Attempt:
    """A notebook of a student, or a file that is none and of which only that can be said."""

    student: str  # id
    name: str
    file: str
    content: bytes | None
    when: dt.datetime | None
    order: tuple
    reason: str = ""
    late: bool = False  # the platform says so
    folder: str = ""  # as the platform names it, for what goes back
    platform: str = ""


def files(folder):
    """All files below a folder, those in zips too."""
    folder = Path(folder)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        when = dt.datetime.fromtimestamp(path.stat().st_mtime)
        parts = path.relative_to(folder).parts
        if path.is_symlink():
            yield File(parts, None, when, "a link to another place, not followed")
        elif path.stat().st_size > 100 * LARGEST:
            yield File(parts, None, when, "too large")
        else:
            yield from opened(File(parts, path.read_bytes(), when), 1)


def opened(file, depth):
    """A file, or all files of a zip."""
    if not file.parts[-1].lower().endswith(".zip"):
        yield file
        return
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as bundle:
            members = [member for member in bundle.infolist() if not member.is_dir()]
            if depth > DEEPEST or len(members) > MEMBERS:
                raise ValueError("too many files in it, or zips in zips")
            for member in members:
                parts = (
                    *file.parts,
                    *(part for part in member.filename.split("/") if part not in ("", ".", "..")),
                )
                when = dt.datetime(*member.date_time) if member.date_time[0] > 1980 else file.when
                wanted = member.filename.lower().endswith((".ipynb", ".zip"))
                inner = File(parts, None, when, "" if wanted else "no notebook")
                if wanted:
                    limit = LARGEST if parts[-1].lower().endswith(".ipynb") else 10 * LARGEST
                    with bundle.open(member) as stream:
                        inner.content = stream.read(limit + 1)
                    if len(inner.content) > limit:
                        inner.content, inner.reason = None, "too large"
                if inner.content is None:
                    yield inner
                else:
                    yield from opened(inner, depth + 1)
    except Exception as error:  # a zip that is damaged, locked, or packed in a way that is not known here
        yield File(file.parts, None, file.when, f"a zip that cannot be opened ({error})"[:200])


def stray(file):
    """Is this one of the files that systems leave about?"""
    last = file.parts[-1]
    return (
        bool(STRAY & set(file.parts)) or last.startswith(("._", ".")) or last in ("Thumbs.db", "desktop.ini")
    )


def attempts(folder, roster):
    """(what is to be graded, [(file, why it is not)]) of a folder."""
    every = list(files(folder))
    tops = {file.parts[0] for file in every if not stray(file)}
    bundle = next(iter(tops)) if len(tops) == 1 else ""  # one zip alone is the class, not a student
    bundle = bundle if bundle.lower().endswith(".zip") else ""
    found, ignored = [], []
    for file in every:
        if stray(file):
            ignored.append((file.name, "left by a system"))
            continue
        parts = file.parts[1:] if bundle and len(file.parts) > 1 else file.parts
        who = owner(parts, roster)
        is_notebook = file.parts[-1].lower().endswith(".ipynb")
        if is_notebook or (who["sure"] and file.reason.startswith("a zip")):
            found.append(attempt(file, who))
        else:
            ignored.append((file.name, file.reason or "no notebook"))
            if who["sure"]:
                reason = f"no notebook was handed in, only {file.parts[-1]}"
                found.append(attempt(File(file.parts, None, file.when, reason), who))
    graded = {one.student for one in found if one.content is not None}
    return [one for one in found if one.content is not None or one.student not in graded], ignored


def attempt(file, who):
    return Attempt(
        student=who["id"],
        name=who["name"],
        file=file.name,
        content=file.content,
        when=file.when,
        order=(file.when or dt.datetime.min, who["number"], file.name),
        reason=file.reason or ("" if file.content is not None else "it could not be read"),
        late=who["late"],
        folder=who["folder"],
        platform=who["platform"],
    )


def owner(parts, roster):
    """Whose file is this? {id, name, sure, …}; sure if a platform or the roster says so."""
    for part in parts:
        if found := MOODLE.fullmatch(part):
            folder = part[: found.start("rest")]
            return known(roster, found["id"], found["name"], "moodle", folder)
        if found := CANVAS.fullmatch(part):
            folder = part[: found.start("rest")]
            number = int(found["number"][:18])
            return known(roster, found["id"], found["name"], "canvas", folder, number, bool(found["late"]))
    for part in parts:
        name = bare(part)
        if key := roster.find(name):
            return known(roster, key, roster.people[key], "", "")
    name = bare(parts[0])
    return {"id": name, "name": name, "sure": False, "platform": "", "folder": "", "number": 0, "late": False}


def known(roster, key, name, platform, folder, number=0, late=False):
    key = roster.find(key, name) or key
    return {"id": key, "name": roster.people.get(key, name), "sure": True, "platform": platform,
            "folder": folder, "number": number, "late": late}  # fmt: skip


def bare(part):
    """A name without the endings that files have."""
    return re.sub(r"(\.ipynb|\.zip|\.tar|\.gz)+$", "", part, flags=re.IGNORECASE)
