"""Build an edition of the book: python -m press book [student | appendix] [--course course.yml]
[--into FOLDER] [--url ADDRESS]

`student` leaves all worked solutions out, `appendix` puts them on a last page. Each edition has a folder of
its own, such as _build/student, and disturbs no other. `--url` builds as if _config.yml named that
repository. `--course` builds a book of some pages, in the order that a lecturer wants:

    title: Online learning in four weeks
    lecturer: Name
    site: https://owner.github.io/name    # the full book; pages that are left out are linked there
    parts:
      - title: "Week 1: the game"
        pages: [lecture-13-oco]           # a chapter with all its pages, or single pages
      - title: "Week 2: losses"
        pages: [regret-bounds/losses, regret-bounds/projections]
"""

import argparse
import os
import shutil
from pathlib import Path

import yaml

from press import ROOT

EDITIONS = ("student", "appendix")
LAST = "book/solutions"
#: what a course keeps of the back matter: pages that say nothing of the whole book
KEPT = ("book/run-it", "book/notation", "book/glossary", "book/bibliography")


class Wrong(SystemExit):
    """The course asks for something that is not there."""


def chosen(course, toc):
    """The table of contents of a course, from that of the book."""
    every = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    parts = []
    for part in course.get("parts") or ():
        pages = []
        for name in part.get("pages") or ():
            found = [page for page in every if page == f"book/{name}" or page.startswith(f"book/{name}/")]
            if not found:
                raise Wrong(f"course: the book has no page or chapter {name}")
            pages += found
        parts.append({"caption": str(part["title"]), "chapters": [{"file": page} for page in pages]})
    if not parts:
        raise Wrong("course: say which pages, `parts:` with `title:` and `pages:`")
    twice = [entry["file"] for part in parts for entry in part["chapters"]]
    if len(set(twice)) < len(twice):
        raise Wrong(f"course: {max(twice, key=twice.count)} is named twice")
    back = {"caption": "Back matter", "chapters": [{"file": page} for page in KEPT if page not in twice]}
    return {"format": toc["format"], "root": toc["root"], "parts": [*parts, back]}


def read(path):
    """Read course.yml; what is wrong with it is a sentence."""
    try:
        course = yaml.safe_load(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise Wrong(f"{path} cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise Wrong(f"{path} is no YAML: {error}") from None
    if not isinstance(course, dict):
        raise Wrong(f"{path} must have `parts:` with `title:` and `pages:`")
    return course


def contents(course=None):
    """The table of contents of the book, or of a course."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    return chosen(course, toc) if course else toc


def name(course, edition):
    """The name of its folder in _build, from the file of the course and the edition; the book has none."""
    return "-".join(filter(None, (course and Path(course).stem, edition)))


def home(config, toc, site):
    """The first page of a course, as text: title, lecturer, its pages by part."""
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
    """Build into folder/html, strictly; return whether it went well."""
    from jupyter_book.sphinx import build_sphinx

    folder = Path(folder).resolve()
    config, toc = files(folder, edition, url, course)
    known = ROOT / "_build" / ".maths.json"  # formulas that are set already
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
    if result:  # a failed build forgets what it read: the next one must warn again
        shutil.rmtree(folder / ".doctrees", ignore_errors=True)
    return not result


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("edition", nargs="?", choices=EDITIONS)
    parser.add_argument("--into", type=Path, help="default: _build/ and the edition")
    parser.add_argument("--url", default="")
    parser.add_argument("--course", type=Path, help="a file course.yml: which pages, in which order")
    asked = parser.parse_args(arguments)
    if not (asked.edition or asked.into or asked.course):
        parser.error("say which edition, or where it goes; the book itself is built by make book")
    course = read(asked.course) if asked.course else None
    folder = asked.into or ROOT / "_build" / name(asked.course, asked.edition)
    if not build(folder, asked.edition or "", asked.url, course):
        return 1
    print(f"\nThe book:  {folder.resolve() / 'html' / 'index.html'}")
    return 0
