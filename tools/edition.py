"""Build an edition of the book: python tools/edition.py [student | appendix] [--into FOLDER] [--url ADDRESS]

`student` leaves all worked solutions out, `appendix` puts them on a last page. Each edition has a folder of
its own, such as _build/student, and disturbs no other. `--url` builds as if _config.yml named that
repository.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
EDITIONS = ("student", "appendix")
LAST = "book/solutions"


def files(folder, edition, url):
    """Write _config.yml and _toc.yml of an edition; return their paths."""
    config, toc = (yaml.safe_load((ROOT / name).read_text("utf8")) for name in ("_config.yml", "_toc.yml"))
    config["sphinx"]["config"] |= {"edition": edition, "book_files": str(folder)}
    ours = config["sphinx"]["local_extensions"]  # which are looked for beside _config.yml
    ours |= {name: str(ROOT / place) for name, place in ours.items()}
    if url:
        config["repository"]["url"] = url
    if edition == "appendix":
        toc["parts"][-1]["chapters"].append({"file": LAST})
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("_config.yml", config), ("_toc.yml", toc)):
        (folder / name).write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), "utf8")
    return folder / "_config.yml", folder / "_toc.yml"


def build(folder, edition="", url=""):
    """Build into folder/html, strictly; return whether it went well."""
    from jupyter_book.sphinx import build_sphinx

    folder = Path(folder).resolve()
    config, toc = files(folder, edition, url)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("edition", nargs="?", choices=EDITIONS)
    parser.add_argument("--into", type=Path, help="default: _build/ and the edition")
    parser.add_argument("--url", default="")
    asked = parser.parse_args()
    if not (asked.edition or asked.into):
        parser.error("say which edition, or where it goes; the book itself is built by make book")
    folder = asked.into or ROOT / "_build" / asked.edition
    if not build(folder, asked.edition or "", asked.url):
        return 1
    print(f"\nThe book:  {folder.resolve() / 'html' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
