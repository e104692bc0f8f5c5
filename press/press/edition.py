"""Build an edition of the book: python -m press book [student | appendix] [--course course.yml]
[--into FOLDER] [--url ADDRESS]

The edition `student` has no worked solutions, `appendix` has them on a last page. Each edition is built into
its own folder, such as _build/student. `--url` builds as if _config.yml named that repository. `--course`
builds a book of selected pages, in the order that a lecturer wants:

    title: Online learning in four weeks
    lecturer: Name
    site: https://owner.github.io/name    # the full book; pages that are left out are linked there
    parts:
      - title: "Week 1: the game"
        pages: [lecture-13-oco]           # a chapter with all its pages, or single pages
      - title: "Week 2: losses"
        pages: [regret-bounds/losses, regret-bounds/projections]

This module writes _config.yml and _toc.yml of the edition and runs Sphinx; `press.sphinx.editions` and
`press.sphinx.course` then change the pages.
"""

import argparse
import os
import shutil
from pathlib import Path

import yaml

from press import ROOT

EDITIONS = ("student", "appendix")
LAST = "book/solutions"
KEYS = {"title", "lecturer", "site", "parts"}
#: pages of the back matter that a course keeps, because they do not depend on the whole book
KEPT = ("book/run-it", "book/notation", "book/glossary", "book/bibliography")


class Wrong(SystemExit):
    """The course has an error, which the message explains."""


def chosen(course, toc):
    """Return the table of contents of a course, made from that of the book."""
    if unknown := sorted(map(str, set(course) - KEYS)):
        raise Wrong(f"course: unknown key {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}")
    every = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    parts = []
    for part in course.get("parts") or ():
        if not isinstance(part, dict) or "title" not in part or not isinstance(part.get("pages"), list):
            raise Wrong(f"course: a part needs `title:` and a list `pages:`, not {part}")
        pages = []
        for name in part["pages"]:
            place = f"book/{name}".removesuffix("/")
            found = [page for page in every if page == place or page.startswith(f"{place}/")]
            if not found:
                raise Wrong(f"course: the book has no page or chapter {name}")
            pages += found
        parts.append({"caption": str(part["title"]), "chapters": [{"file": page} for page in pages]})
    if not parts:
        raise Wrong("course: list the pages under `parts:`, each part with `title:` and `pages:`")
    twice = [entry["file"] for part in parts for entry in part["chapters"]]
    if len(set(twice)) < len(twice):
        raise Wrong(f"course: {max(twice, key=twice.count)} is listed twice")
    back = {"caption": "Back matter", "chapters": [{"file": page} for page in KEPT if page not in twice]}
    return {"format": toc["format"], "root": toc["root"], "parts": [*parts, back]}


def read(path):
    """Read course.yml; raise `Wrong` with a message about the first error."""
    try:
        course = yaml.safe_load(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise Wrong(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise Wrong(f"{path} is not valid YAML: {error}") from None
    if not isinstance(course, dict):
        raise Wrong(f"{path} must have `parts:` with `title:` and `pages:`")
    return course


def contents(course=None):
    """Return the table of contents of the book or of a course."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    return chosen(course, toc) if course else toc


def name(course, edition):
    """Return the name of the edition's folder in _build, from course file and edition; empty for the book."""
    return "-".join(filter(None, (course and Path(course).stem, edition)))


def home(config, toc, site):
    """Return the first page of a course as text: title, lecturer, and its pages by part."""
    lines = [f"# {config['title']}", config["author"]]
    for part in toc["parts"][:-1]:
        kinds = [(entry["file"], (ROOT / f"{entry['file']}.md").exists()) for entry in part["chapters"]]
        pages = [f"- [](/{page}{'.md' if text else '.ipynb'})" for page, text in kinds]
        lines += [f"## {part['caption']}", "\n".join(pages)]
    lines += [f"This course is a selection from [a larger book]({site})."] if site else []
    return "\n\n".join(lines) + "\n"


def files(folder, edition, url, course=None):
    """Write _config.yml and _toc.yml of an edition; return their paths."""
    config, toc = yaml.safe_load((ROOT / "_config.yml").read_text("utf8")), contents(course)
    config["sphinx"]["config"] |= {"edition": edition, "book_files": str(folder)}
    if url:
        config["repository"]["url"] = url
    if course:
        config["title"] = str(course.get("title", config["title"]))
        config["author"] = str(course.get("lecturer", config["author"]))
        site = str(course.get("site") or "").rstrip("/")
        config["sphinx"]["config"]["html_theme_options"]["logo"]["text"] = config["title"]
        config["sphinx"]["config"]["course"] = {"site": site, "home": home(config, toc, site)}
    if edition == "appendix":
        toc["parts"][-1]["chapters"].append({"file": LAST})
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in (("_config.yml", config), ("_toc.yml", toc)):
        (folder / file).write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), "utf8")
    return folder / "_config.yml", folder / "_toc.yml"


def build(folder, edition="", url="", course=None):
    """Build the edition into folder/html, with warnings as errors; return whether that succeeded."""
    from jupyter_book.sphinx import build_sphinx

    folder = Path(folder).resolve()
    config, toc = files(folder, edition, url, course)
    known = ROOT / "_build" / ".maths.json"  # formulas that are already typeset
    if known.exists() and not (folder / ".maths.json").exists():
        shutil.copy(known, folder)
    os.chdir(ROOT)
    result = build_sphinx(
        ROOT,
        folder / "html",
        noconfig=True,
        path_config=config,
        confoverrides={"external_toc_path": str(toc), "nitpicky": True, "latex_individualpages": False},
        doctreedir=folder / ".doctrees",
        warningiserror=True,
        keep_going=True,
    )
    if result:  # forget what was read, so that the next build warns again
        shutil.rmtree(folder / ".doctrees", ignore_errors=True)
    return not result


def main(arguments):
    """Parse the command line and build the edition; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("edition", nargs="?", choices=EDITIONS)
    parser.add_argument("--into", type=Path, help="output folder (default: _build/ and the edition)")
    parser.add_argument("--url", default="", help="address of the repository, instead of that in _config.yml")
    parser.add_argument("--course", type=Path, help="course.yml: which pages, in which order")
    asked = parser.parse_args(arguments)
    if not (asked.edition or asked.into or asked.course):
        parser.error("give an edition, --course or --into; for the full book use make book")
    course = read(asked.course) if asked.course else None
    folder = asked.into or ROOT / "_build" / name(asked.course, asked.edition)
    if not build(folder, asked.edition or "", asked.url, course):
        return 1
    print(f"\nThe book:  {folder.resolve() / 'html' / 'index.html'}")
    return 0
