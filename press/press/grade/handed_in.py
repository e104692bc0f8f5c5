"""Read the submissions of a class: a folder of notebooks, or the zip file of a learning platform.

Moodle names a folder or file `Name_1234567_assignsubmission_file_…`, Canvas a file
`name_LATE_55501_777001_…`; elsewhere a folder, a zip or a file is named by its student. Zips may lie in zips.
Everything is read in memory, nothing is unpacked on the disk.
"""

import datetime as dt
import io
import os
import re
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path

from press.grade.judge import harmless
from press.grade.notebook import LARGEST

MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.DOTALL
)
CANVAS = re.compile(
    r"(?P<name>[^_/]+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<number>\d{4,18})_(?P<rest>.+)", re.DOTALL
)
NOTEBOOK = (".ipynb", ".ipynb.json", ".ipynb.txt")  # some browsers add an ending
STRAY = {"__MACOSX", ".ipynb_checkpoints", "__pycache__"}
DEEPEST, MEMBERS = 4, 5000
RATIO = 20  # what is packed may be so many times as large as it weighs on the disk
ROOM = 100 << 20  # bytes beyond that, for all that lies in one file on the disk


@dataclass
class File:
    """One file: its place (zips count as folders), what it holds, and when it was written.

    `times` has (parts, when) of the file on the disk and of each member on the way to this one.
    """

    parts: tuple
    content: bytes | None  # None: it was not read, `reason` says why
    times: tuple
    reason: str = ""
    weight: float = 0.0  # its bytes on the disk

    @property
    def name(self):
        return "/".join(self.parts)

    def when(self, part):
        """When that was handed in which has the part of this number in its name: what lies in a student's
        own zip carries times that the student can set.
        """
        return next(when for parts, when in self.times if parts > part)


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


def text(part):
    """A name as text: bytes that are no UTF-8 are those of an old Windows; ü is one sign, not two."""
    try:
        part.encode("utf8")
    except UnicodeEncodeError:
        part = os.fsencode(part).decode("cp1252", "replace")
    return unicodedata.normalize("NFC", harmless(part))


def files(folder, leave=None):
    """All files below a folder, those in zips too, but not those below `leave`."""
    folder = Path(folder)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if leave and Path(leave).resolve() in path.parents:
            continue
        parts = tuple(map(text, path.relative_to(folder).parts))
        times = ((len(parts), dt.datetime.fromtimestamp(path.lstat().st_mtime)),)
        if path.is_symlink():
            yield File(parts, None, times, "a link to another place, not followed")
            continue
        try:
            content = path.read_bytes()
        except (OSError, MemoryError) as error:
            yield File(parts, None, times, f"it cannot be read ({type(error).__name__})")
            continue
        yield from opened(File(parts, content, times, weight=len(content)), 1, [ROOM])


def opened(file, depth, room):
    """A file, or all files of a zip; `room` has the bytes that are left for what grows."""
    if not file.parts[-1].lower().endswith(".zip"):
        yield file
        return
    try:
        bundle = zipfile.ZipFile(io.BytesIO(file.content))
        members = [member for member in bundle.infolist() if not member.is_dir()]
        if depth > DEEPEST or len(members) > MEMBERS:
            raise ValueError("too many files in it, or zips in zips")
        if sum(member.compress_size for member in members) > len(file.content):
            raise ValueError("its parts overlap")
    except Exception as error:  # damaged, locked, or packed in a way that is not known here
        yield File(file.parts, None, file.times, f"a zip that cannot be opened ({error})"[:200])
        return
    for member in members:
        yield from unpacked(file, bundle, member, depth, room)


def unpacked(file, bundle, member, depth, room):
    """A member of a zip; one that is damaged does not take the others with it."""
    inside = [text(part) for part in member.filename.split("/") if part not in ("", ".", "..")]
    parts = (*file.parts, *inside)
    try:
        when = dt.datetime(*member.date_time) if member.date_time[0] > 1980 else file.times[-1][1]
    except ValueError:
        when = file.times[-1][1]
    weight = member.compress_size * file.weight / len(file.content)
    inner = File(parts, None, (*file.times, (len(parts), when)), "no notebook", weight)
    is_zip, beyond = parts[-1].lower().endswith(".zip"), member.file_size - RATIO * weight
    if beyond > room[0] or (member.file_size > LARGEST and not is_zip):
        inner.reason = "too large"
    elif is_zip or parts[-1].lower().endswith(NOTEBOOK):
        room[0] -= max(0, beyond)
        try:
            inner.content, inner.reason = bundle.read(member), ""
        except Exception as error:
            inner.reason = f"in a zip, and cannot be opened ({error})"[:200]
    if inner.content is None:
        yield inner
    else:
        yield from opened(inner, depth + 1, room)


def stray(file):
    """Is this one of the files that systems leave about?"""
    last = file.parts[-1]
    return (
        bool(STRAY & set(file.parts)) or last.startswith(("._", ".")) or last in ("Thumbs.db", "desktop.ini")
    )


def attempts(folder, roster, leave=None):
    """(what is to be graded, [(file, why it is not)]) of a folder."""
    every = list(files(folder, leave))
    tops = {file.parts[0] for file in every if not stray(file)}
    bundle = next(iter(tops)) if len(tops) == 1 else ""  # one zip alone is the class, not a student
    bundle = bundle if bundle.lower().endswith(".zip") else ""
    found, ignored = [], []
    for file in every:
        if stray(file):
            ignored.append((file.name, "left by a system"))
            continue
        skipped = int(bool(bundle) and len(file.parts) > 1)
        who = owner(file.parts[skipped:], roster)
        who["part"] += skipped
        is_notebook = file.parts[-1].lower().endswith(NOTEBOOK)
        if is_notebook or (who["sure"] and file.reason.startswith("a zip")):
            found.append(attempt(file, who))
        else:
            ignored.append((file.name, file.reason or "no notebook"))
            if who["sure"]:
                reason = f"no notebook was handed in, only {file.parts[-1]}"
                found.append(attempt(File(file.parts, None, file.times, reason), who))
    graded = {one.student for one in found if one.content is not None}
    return [one for one in found if one.content is not None or one.student not in graded], ignored


def attempt(file, who):
    when = file.when(who["part"])
    return Attempt(
        student=who["id"],
        name=who["name"],
        file=file.name,
        content=file.content,
        when=when,
        order=(when, who["number"], file.name),
        reason=file.reason,
        late=who["late"],
        folder=who["folder"],
        platform=who["platform"],
    )


def owner(parts, roster):
    """Whose file is this? {id, name, sure, …}; sure if a platform or the roster says so.

    The outermost name counts: what a student calls the files within is not asked.
    """
    for place, part in enumerate(parts):
        if found := MOODLE.fullmatch(part):
            folder = part[: found.start("rest")]
            return known(roster, place, found["id"], found["name"], "moodle", folder)
        if found := CANVAS.fullmatch(part):
            folder, number = part[: found.start("rest")], int(found["number"])
            late = bool(found["late"])
            return known(roster, place, found["id"], found["name"], "canvas", folder, number, late)
        if key := roster.find(bare(part)):
            return known(roster, place, key, roster.people[key])
    return known(roster, 0, bare(parts[0]), bare(parts[0])) | {"sure": False}


def known(roster, part, key, name, platform="", folder="", number=0, late=False):
    key = roster.find(key, name) or key
    return {"id": key, "name": roster.people.get(key, name), "sure": True, "part": part,
            "platform": platform, "folder": folder, "number": number, "late": late}  # fmt: skip


def bare(part):
    """A name without the endings that files have."""
    return re.sub(r"(\.ipynb|\.json|\.txt|\.zip|\.tar|\.gz)+$", "", part, flags=re.IGNORECASE)
