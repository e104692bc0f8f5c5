"""Read the submissions of a class: a folder of notebooks, or the zip file of a learning platform.

The first step of grading. Moodle names a folder or file `Name_1234567_assignsubmission_file_…`, Canvas a file
`name_LATE_55501_777001_…`; otherwise a folder, a zip or a file is named after its student. Zips may contain
zips. Everything is read in memory, and nothing is unpacked to the disk.
"""

import datetime as dt
import io
import os
import re
import unicodedata
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from press.grade.judge import harmless
from press.grade.notebook import LARGEST, TOO_LARGE

SUBMITTED = r"(?P<name>.+{few})_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>{rest})"
MOODLE_FOLDER = re.compile(SUBMITTED.format(few="", rest=""), re.DOTALL)  # a student may choose the name …
MOODLE_FILE = re.compile(SUBMITTED.format(few="?", rest=".*"), re.DOTALL)  # … and the rest
MOODLE_ID = re.compile(r"_(\d+)_assignsubmission_(?:file|onlinetext)")
CANVAS = re.compile(
    r"(?P<name>[^_/]+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<number>\d{4,18})_(?P<rest>.+)", re.DOTALL
)
NOTEBOOK = (".ipynb", ".ipynb.json", ".ipynb.txt")  # some browsers add an extension
STRAY = {"__MACOSX", ".ipynb_checkpoints", "__pycache__"}
DEEPEST, MEMBERS = 4, 5000
FILES = 50_000  # in all zips of one file on the disk
MOST = 200  # notebooks of one student; of more, the last ones are graded
RATIO = 20  # unpacked files may be this many times as large as packed ones
ROOM = 100 << 20  # and this many bytes larger in total, per file on the disk
METHODS = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED  # only of these can Python unpack a part and stop


@dataclass
class File:
    """One file: its path (zips count as folders), its content, and when it was written.

    `times` has (number of parts, time) for the file on the disk and for each zip member on the way to this
    one.
    """

    parts: tuple
    content: bytes | None  # None if it was not read; then `reason` says why
    times: tuple
    reason: str = ""
    weight: float = 0.0  # its share of the bytes on the disk

    @property
    def name(self):
        """Return the path as text."""
        return "/".join(self.parts)

    def when(self, part):
        """Return the time of the outermost file whose path includes the part with this number.

        Times inside a student's own zip do not count, because the student can set them.
        """
        return next(when for parts, when in self.times if parts > part)


@dataclass
class Attempt:
    """A submitted notebook, or a submitted file that is no notebook, with the reason why it is not graded."""

    student: str  # id
    name: str
    file: str
    content: bytes | None
    when: dt.datetime | None
    order: tuple
    reason: str = ""
    late: bool = False  # according to the platform
    folder: str = ""  # its name on the platform, for the feedback
    platform: str = ""
    within: str = ""  # the outermost folder or zip, if only a name inside it says whose file this is


@dataclass
class Room:
    """What unpacking a zip may still use: bytes beyond `RATIO`, and files."""

    bytes: float
    files: int

    def share(self):
        """Return half of it, for one member: a student's bomb leaves room for the others in the same zip."""
        return Room(self.bytes / 2, min((self.files + 1) // 2, MEMBERS))

    def take(self, used):
        """Subtract what a member has used of its share."""
        before = self.share()
        self.bytes -= before.bytes - used.bytes
        self.files -= before.files - used.files


def text(part):
    """Return a file name as text.

    Bytes that are not UTF-8 are read as an old Windows encoding; accented letters become one character.
    """
    try:
        part.encode("utf8")
    except UnicodeEncodeError:
        part = os.fsencode(part).decode("cp1252", "replace")
    return unicodedata.normalize("NFC", harmless(part))


def files(folder, leave=None):
    """Yield all files below a folder, including those in zips, except those below `leave`."""
    folder = Path(folder)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if leave and Path(leave).resolve() in path.parents:
            continue
        parts = tuple(map(text, path.relative_to(folder).parts))
        times = ((len(parts), dt.datetime.fromtimestamp(path.lstat().st_mtime)),)
        if path.is_symlink():
            yield File(parts, None, times, "a symbolic link, which is not followed")
            continue
        if not readable(parts[-1]):
            yield File(parts, None, times, "not a notebook")
            continue
        try:
            if path.stat().st_size > LARGEST and not packed(parts[-1]):
                yield File(parts, None, times, TOO_LARGE)
                continue
            content = path.read_bytes()
        except (OSError, MemoryError) as error:
            yield File(parts, None, times, f"it cannot be read ({type(error).__name__})")
            continue
        yield from opened(File(parts, content, times, weight=len(content)), 1, Room(ROOM, FILES))


def packed(name):
    """Return whether a file of this name is a zip."""
    return name.lower().endswith(".zip")


def readable(name):
    """Return whether a file of this name is a notebook or may contain one; films are never read."""
    return packed(name) or name.lower().endswith(NOTEBOOK)


def opened(file, depth, room):
    """Yield a file, or all files of a zip; `room` is what unpacking may still use."""
    if not packed(file.parts[-1]):
        yield file
        return
    try:
        if depth > DEEPEST or room.files <= 0:
            raise ValueError("too many files or too many nested zips")
        bundle = zipfile.ZipFile(io.BytesIO(file.content))
        members = [member for member in bundle.infolist() if not member.is_dir()]
        room.files -= len(members)
        if room.files < 0:
            raise ValueError("too many files")
        if sum(member.compress_size for member in members) > len(file.content):
            raise ValueError("its parts overlap")
    except Exception as error:  # damaged, encrypted, or an unknown compression
        yield File(file.parts, None, file.times, f"a zip that cannot be opened ({error})"[:200])
        return
    for member in members:
        share = room.share() if depth == 1 else room
        yield from unpacked(file, bundle, member, depth, share)
        if depth == 1:
            room.take(share)


def unpacked(file, bundle, member, depth, room):
    """Yield a member of a zip; a damaged member does not affect the others."""
    names = re.split(r"[/\\]", member.filename)  # some Windows programs write \
    inside = [text(part) for part in names if part not in ("", ".", "..")]
    parts = (*file.parts, *inside)
    try:
        when = dt.datetime(*member.date_time) if member.date_time[0] > 1980 else file.times[-1][1]
    except ValueError:
        when = file.times[-1][1]
    weight = member.compress_size * file.weight / len(file.content)
    inner = File(parts, None, (*file.times, (len(parts), when)), "not a notebook", weight)
    is_zip, beyond = packed(parts[-1]), member.file_size - RATIO * weight
    if beyond > room.bytes or (member.file_size > LARGEST and not is_zip):
        inner.reason = "too large"
    elif readable(parts[-1]):
        room.bytes -= max(0, beyond)
        try:
            if member.compress_type not in METHODS:
                raise ValueError("packed in an unusual way")
            with bundle.open(member) as content:  # with a length: the size that a zip claims may be a lie
                inner.content, inner.reason = content.read(member.file_size + 1), ""
        except Exception as error:
            inner.reason = f"a file in a zip that cannot be opened ({error})"[:200]
    if inner.content is None:
        yield inner
    else:
        yield from opened(inner, depth + 1, room)


def stray(file):
    """Return whether this is a file that an operating system or editor left behind."""
    last = file.parts[-1]
    return (
        bool(STRAY & set(file.parts)) or last.startswith(("._", ".")) or last in ("Thumbs.db", "desktop.ini")
    )


def attempts(folder, roster, leave=None):
    """Return ([Attempt], [(file, reason why it is not graded)]) for a folder."""
    every = list(files(folder, leave))
    tops = {file.parts[0] for file in every if not stray(file)}
    bundle = next(iter(tops)) if len(tops) == 1 else ""  # a single zip contains the class, not one student
    bundle = bundle if packed(bundle) and not owner((bundle,), roster)["sure"] else ""
    found, ignored = [], []
    for file in every:
        if stray(file):
            ignored.append((file.name, "left behind by an operating system or editor"))
            continue
        skipped = int(bool(bundle) and len(file.parts) > 1)
        who = owner(file.parts[skipped:], roster)
        within = file.parts[skipped] if who["part"] else ""
        who["part"] += skipped
        is_notebook = file.parts[-1].lower().endswith(NOTEBOOK)
        if is_notebook or (who["sure"] and file.reason.startswith("a zip")):
            found.append(attempt(file, who, within))
        else:
            ignored.append((file.name, file.reason or "not a notebook"))
            if who["sure"]:
                reason = "no notebook, and none came with it"
                found.append(attempt(File(file.parts, None, file.times, reason), who, within))
    count, kept = Counter(), []
    for one in sorted(found, key=lambda one: one.order, reverse=True):
        count[one.student] += 1
        if count[one.student] <= MOST:
            kept.append(one)
    ignored += [(who, f"{n} notebooks; only the last {MOST} count") for who, n in count.items() if n > MOST]
    found = kept[::-1]
    graded = {one.student for one in found if one.content is not None}
    return [one for one in found if one.content is not None or one.student not in graded], ignored


def attempt(file, who, within=""):
    """Return the `Attempt` for a file of the student `who`."""
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
        within=within,
    )


def owner(parts, roster):
    """Return whose file this is, as {id, name, sure, …}; sure if a platform or the roster says so.

    The outermost name counts, whatever a student calls the files within.
    """
    for place, part in enumerate(parts):
        if found := by_platform(part, roster.kind):
            return known(roster, place, **found)
        if key := roster.find(bare(part)):
            return known(roster, place, key, roster.people[key])
    return known(roster, 0, bare(parts[0]), bare(parts[0])) | {"sure": False}


def by_platform(part, kind):
    """Return the student whom Moodle or Canvas names in a part of a path, or None.

    Students choose the names of their files, and sometimes their own name, which may look like the other
    platform's or like another student's. A roster of one platform rules out the other. In the name of a
    folder of Moodle the last id is the platform's; in a file's it could be any of several different ones.
    """
    if kind != "canvas" and (found := MOODLE_FOLDER.fullmatch(part)):
        return {"key": found["id"], "name": found["name"], "platform": "moodle", "folder": part}
    if kind != "moodle" and (found := CANVAS.fullmatch(part)):
        return {"key": found["id"], "name": found["name"], "platform": "canvas",
                "folder": part[: found.start("rest")], "number": int(found["number"]),
                "late": bool(found["late"])}  # fmt: skip
    if kind != "canvas" and (found := MOODLE_FILE.fullmatch(part)) and len({*MOODLE_ID.findall(part)}) == 1:
        folder = part[: found.start("rest")]
        return {"key": found["id"], "name": found["name"], "platform": "moodle", "folder": folder}
    return None


def known(roster, part, key, name, platform="", folder="", number=0, late=False):
    """Return the description of a student, with id and name from the roster if it has them."""
    key = roster.find(key, name) or key
    return {"id": key, "name": roster.people.get(key, name), "sure": True, "part": part,
            "platform": platform, "folder": folder, "number": number, "late": late}  # fmt: skip


def bare(part):
    """Return a name without the extensions of notebooks and archives."""
    return re.sub(r"(\.ipynb|\.json|\.txt|\.zip|\.tar|\.gz)+$", "", part, flags=re.IGNORECASE)
