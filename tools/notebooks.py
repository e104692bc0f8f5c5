"""Execute, normalise and convert the notebooks of the book.

python tools/notebooks.py run [page.ipynb ...]      execute and normalise (default: every page)
python tools/notebooks.py new draft.md page.ipynb   make a page from a MyST-markdown draft
python tools/notebooks.py text page.ipynb           print a page as MyST markdown
"""

import argparse
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
TIMES = ROOT / "_build" / "times.json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
INSTALL = """\
# Installs ocolib where it is missing (on Colab); does nothing elsewhere.
import importlib.util

if importlib.util.find_spec("ocolib") is None:
    {action}"""
ASK = 'raise ModuleNotFoundError("run `pip install -e .` in the project folder")'


def pages():
    """Every notebook of the book."""
    return sorted(p for p in ROOT.glob("book/**/*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def bootstrap_source():
    """The first cell of every page."""
    url = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]["url"]
    action = f'%pip install -q "ocolib[oracle,plots] @ git+{url}"' if url else ASK
    return INSTALL.format(action=action)


def normalise(notebook):
    """One canonical form: bootstrap cell first, ids from content, no trace of the machine."""
    cells = [cell for cell in notebook.cells if not is_bootstrap(cell)]
    first = nbformat.v4.new_code_cell(bootstrap_source(), metadata={"tags": ["remove-cell"]})
    if notebook.cells and is_bootstrap(notebook.cells[0]):
        first.execution_count = notebook.cells[0].execution_count
    seen = {}
    notebook.cells = [first, *cells]
    for cell in notebook.cells:
        for name in ("execution", "collapsed", "scrolled", "jupyter"):
            cell.metadata.pop(name, None)
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def is_bootstrap(cell):
    return cell.cell_type == "code" and cell.source.startswith(INSTALL.partition("\n")[0])


def write(notebook, path):
    """All or nothing: the page is replaced in one step, or not at all."""
    nbformat.validate(notebook)
    text = nbformat.writes(notebook)  # indent 1, sorted keys
    spare = path.with_name(f".{path.name}.new")
    try:
        spare.write_text(text.rstrip("\n") + "\n", "utf8")
        os.replace(spare, path)
    finally:
        spare.unlink(missing_ok=True)


def execute(path):
    """Run one page; return its seconds, or the traceback as a string."""
    notebook = normalise(nbformat.read(path, as_version=4))
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=600,
        coalesce_streams=True,
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    start = time.perf_counter()
    try:
        client.execute()
    except CellExecutionError as error:
        return str(error)
    write(normalise(notebook), path)
    return time.perf_counter() - start


def run(paths, jobs):
    """Execute pages side by side; a page that fails keeps its file."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    times = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    failed = 0
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(execute, path): path for path in paths}
        for number, future in enumerate(as_completed(waiting), 1):
            name = shown(waiting[future])
            outcome = future.result()
            if isinstance(outcome, str):
                failed += 1
                print(f"[{number}/{len(paths)}] {name} FAILED, file untouched\n{outcome}", flush=True)
            else:
                times[name] = round(outcome, 2)
                print(f"[{number}/{len(paths)}] {name} {outcome:.1f} s", flush=True)
    TIMES.parent.mkdir(exist_ok=True)
    TIMES.write_text(json.dumps(times, indent=1, sort_keys=True))
    return 1 if failed else 0


def shown(path):
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def new(draft, page):
    notebook = jupytext.read(draft, fmt="md:myst")
    page.parent.mkdir(parents=True, exist_ok=True)
    write(normalise(notebook), page)
    print(f"{page} written; execute it with: make notebooks")


def text(page):
    notebook = nbformat.read(page, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if not is_bootstrap(cell)]
    print(jupytext.writes(notebook, fmt="md:myst"), end="")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("paths", nargs="*", type=Path)
    runner.add_argument("--jobs", type=int, default=2)
    maker = commands.add_parser("new")
    maker.add_argument("draft", type=Path)
    maker.add_argument("page", type=Path)
    commands.add_parser("text").add_argument("page", type=Path)
    options = parser.parse_args()
    if options.command == "run":
        return run([path.resolve() for path in options.paths] or pages(), options.jobs)
    if options.command == "new":
        return new(options.draft, options.page)
    return text(options.page)


if __name__ == "__main__":
    sys.exit(main())
