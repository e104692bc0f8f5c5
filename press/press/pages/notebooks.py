"""Make the book's notebooks from the text of its pages: edit `pages/`, never `book/*.ipynb`.

The first step from text to book: each page is split into cells, its exercises become a cell for the student
and a folded solution, and the notebook is executed and stored in `book/` for Sphinx to read.

python -m press notebooks                 make and execute every page
python -m press notebooks --stale         only pages whose notebook is out of date
python -m press notebooks pages/x.md      one page, given by its text or its notebook
python -m press notebooks --times         every page, one at a time; store the times in book/times.json
"""

import argparse
import ast
import copy
import difflib
import hashlib
import json
import os
import re
import threading
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import yaml
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from press import ROOT, files
from press.pages import exercise

TEXT, BOOK = ROOT / "pages", ROOT / "book"
PATIENCE = 300  # seconds that a cell may take; the same limit as in `make pages`
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
ADDRESS = re.compile(r'^address = ".*"$', re.MULTILINE)
NEEDS = re.compile(r"^needs = .*$", re.MULTILINE)
# Packages that a page may need besides NumPy: {module: (extra of ocolib, imports that require it)}.
EXTRAS = {
    "cvxpy": ("oracle", {"oracle", "cvxpy"}),
    "matplotlib": ("plots", {"plots", "matplotlib"}),
    "sklearn": ("records", {"sklearn"}),
    "joblib": ("sweep", {"sweep"}),
    "numba": ("fast", {"numba", "fast"}),
}
BOOTSTRAP = """\
# What this page needs beside NumPy. Where something is missing, this cell
# installs it: from the wheel that lies in the folder of the notebooks, or
# from the address. If that fails, it says what to do.
import importlib.util
import pathlib

address = ""
needs = {"ocolib": ""}

class Missing(Exception):
    \"""Shown as a sentence, without a traceback.\"""

    def _render_traceback_(self):
        return [str(self)]

def missing():
    importlib.invalidate_caches()
    return [name for name in needs if importlib.util.find_spec(name) is None]

if missing():
    home = pathlib.Path("..")
    wheels = [*pathlib.Path().glob("ocolib-*.whl"), *home.glob("ocolib-*.whl")]
    found = "".join(w.resolve().as_uri() for w in wheels[:1]) or address
    package = "ocolib[" + ",".join(filter(None, needs.values())) + "]"
    package += f" @ {found}" * ("ocolib" in missing())
    if found or "ocolib" not in missing():
        %pip install -q --find-links {home} --find-links . "{package}"
if missing():
    raise Missing(
        f"This page needs {', '.join(missing())}, which is not installed here. "
        "In the folder of the project run: pip install '.[pages]' Elsewhere "
        "take all notebooks in one zip from the page “Run it” of the book: "
        "they bring it along. Then restart the kernel and run this again."
    )"""
TITLE = re.compile(r"```\{(admonition|task)\} Exercise (\d+): (.+)\n((?::\w+:.*\n)+)")
PROOF = re.compile(r"```\{(proof-[a-z]+)\} (ex-\S+)\n((?::\w+:.*\n)*)")


def pages():
    """Return the text files of all pages that have code."""
    return sorted(path for path in TEXT.rglob("*.md") if ".ipynb_checkpoints" not in path.parts)


def notebook_of(text):
    """Return the path of a page's notebook."""
    return BOOK / text.relative_to(TEXT).with_suffix(".ipynb")


def text_of(path):
    """Return the text file of a page, given by its text or its notebook."""
    path = path.resolve()
    if path.suffix == ".ipynb" and path.is_relative_to(BOOK):
        path = TEXT / path.relative_to(BOOK).with_suffix(".md")
    if not (path.is_file() and path.suffix == ".md" and path.is_relative_to(TEXT)):
        raise ValueError(f"{shown(path)} is not a page: give a file pages/….md or its notebook")
    return path


def shown(path):
    """Return a path as messages show it: relative to the project if it is inside."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def tags(cell):
    """Return the tags of a cell."""
    return cell.metadata.get("tags", [])


def read(text):
    """Return the cells of a page as they are written; the caller may change them."""
    return copy.deepcopy(parsed(text.read_text("utf8")))


@cache
def parsed(text):
    """Return the cells of a text. Parsing takes a hundred times longer than copying what was parsed."""
    return jupytext.reads(text, fmt="md:myst").cells


def exercises(cells):
    """Return the exercise boxes as {id: (number, title)}; the id is the box's `:name:`."""
    found = {}
    for cell in cells:
        if cell.cell_type == "markdown":
            for kind, number, title, options in TITLE.findall(cell.source):
                if kind == "task" or ":class: exercise" in options:
                    name = re.search(r"^:name: (.+)$", options, re.MULTILINE)
                    if not name or name[1] in found:
                        raise ValueError(f"exercise “{title}” needs a unique :name:")
                    found[name[1]] = int(number), title
    return found


def proofs(cells):
    """Return the proof exercises as {id: (kind, number, title)}; a title is `Exercise 4: the telescope`."""
    found = {}
    for cell in cells:
        for kind, name, options in PROOF.findall(cell.source) if cell.cell_type == "markdown" else ():
            title = re.search(r"^:title: Exercise (\d+): (.+)$", options, re.MULTILINE)
            if not title or name in found:
                raise ValueError(f"{name} needs “:title: Exercise 4: …” and may occur only once")
            found[name] = kind, int(title[1]), title[2]
    return found


def derived(cells):
    """Yield the cells of the notebook: exercises split, checks folded, everything else as written."""
    boxes = exercises(cells)
    for cell in cells:
        if "lines" in tags(cell):
            yield lines_of_a_proof(cell, proofs(cells))
            continue
        if "exercise" in tags(cell):
            yield from stub_and_solution(cell, boxes)
        elif "check" in tags(cell):
            yield folded(cell, "hide-input", "Check")
        else:
            yield cell


def lines_of_a_proof(cell, known):
    """Fold the cell that evaluates the lines of a `{proof-flaw}`: its output gives the answer away."""
    name = cell.metadata.get("proof")
    if known.get(name, ("",))[0] != "proof-flaw":
        raise ValueError(f"a cell is tagged `lines`, but {name} is not a {{proof-flaw}} on this page")
    return folded(cell, "hide-cell", f"Compute the lines of exercise {known[name][1]} on your own numbers")


def folded(cell, how, prompt):
    """Return the cell folded, both in the book and in JupyterLab.

    `how` is the tag ("hide-input" or "hide-cell"), `prompt` the label of the fold.
    """
    metadata = {**cell.metadata, "mystnb": {**cell.metadata.get("mystnb", {}), "code_prompt_show": prompt}}
    metadata["tags"] = [*tags(cell), how]
    metadata["jupyter"] = {"source_hidden": True} | ({"outputs_hidden": True} if how == "hide-cell" else {})
    return new_code_cell(cell.source, metadata=metadata)


def stub_and_solution(cell, boxes):
    """Yield the two or three cells of an exercise, made from its solved cell.

    First, if needed, a folded cell with what the student's cell uses; then the student's cell, which has the
    id of the exercise; last the folded solution.
    """
    name = cell.metadata.get("exercise")
    if name not in boxes:
        raise ValueError(f"a cell is tagged `exercise`, but no exercise box has “:name: {name}”")
    try:
        made = exercise.split(cell.source, name)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if made.kept:
        kept = [tag for tag in tags(cell) if tag != "exercise"]
        before = new_code_cell(made.kept, metadata={**cell.metadata, "tags": [*kept, "checker"]})
        before = folded(before, "hide-input", f"How exercise {boxes[name][0]} is checked")
        before.id = f"{name}-checker"
        yield before
    yield new_code_cell(made.stub, metadata=cell.metadata, id=name)
    told = new_code_cell(made.solution, metadata={**cell.metadata, "tags": [*tags(cell), "solution"]})
    told.metadata["tags"].remove("exercise")
    told = folded(told, "hide-cell", f"Worked solution of exercise {boxes[name][0]}")
    told.id = f"{name}-solution"
    yield told


def needs(cells, folder=None):
    """Return what a page needs besides NumPy, as {module: extra of ocolib that installs it}.

    Python files in `folder` that the page imports count as part of it.
    """
    code = [cell for cell in cells if cell.cell_type == "code"]
    names = set().union(*(imports(cell.source) for cell in code))
    beside = [file for file in sorted(folder.glob("*.py")) if file.stem in names] if folder else []
    names |= set().union(*(imports(file.read_text("utf8")) for file in beside))
    if any("limits." in cell.source and "live" not in tags(cell) for cell in code):
        names.add("cvxpy")  # some limits are solved as optimisation problems
    found = {module: extra for module, (extra, asks) in EXTRAS.items() if names & asks}
    return {"ocolib": ""} | found


def imports(source):
    """Return the modules that a cell imports, and the names that it imports from ocolib or ocolab."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {part for name in node.names for part in name.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            found |= set(node.module.split("."))
            found |= {name.name for name in node.names} if node.module in ("ocolib", "ocolab") else set()
    return found


def repository():
    """Return the address of the book's repository from _config.yml, or an empty string."""
    return yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]["url"]


def make(text):
    """Return the notebook of a page, not yet executed. Cells that it already had keep their ids."""
    target = notebook_of(text)
    old = nbformat.read(target, as_version=4).cells if target.exists() else []
    cells = list(derived(read(text)))
    cells.insert(0, first_cell(needs(cells, target.parent), f"git+{repository()}" if repository() else ""))
    give_ids(cells, old)
    notebook = new_notebook(cells=cells, metadata=METADATA)
    notebook.nbformat_minor = 5
    return notebook


def first_cell(needed, address=""):
    """Return the cell that installs missing packages. It is not shown in the book."""
    source = addressed(BOOTSTRAP, address)
    source = NEEDS.sub(f"needs = {json.dumps(needed)}", source)
    return new_code_cell(source, metadata={"tags": ["remove-cell"]})


def addressed(source, address):
    """Return the source of the first cell with the address from which pip can install ocolib."""
    return ADDRESS.sub(lambda match: f'address = "{address}"', source)


def give_ids(cells, old):
    """Give every cell an id, and keep the ids of old cells.

    An old id goes to the identical cell, or else to the most similar one if that is similar enough. A new
    cell is named by a hash of its content. Cells of exercises already have their ids.
    """
    given = {cell.metadata["exercise"] for cell in cells if "exercise" in cell.metadata}
    waiting = [cell for cell in cells if "exercise" not in cell.metadata]
    spare = [cell for cell in old if "exercise" not in cell.metadata]
    for least in (1.0, 0.6):
        for cell in waiting[:]:
            rated = [(likeness(cell, other, least), -place) for place, other in enumerate(spare)]
            best, place = max(rated, default=(0.0, 0))
            if best >= least:
                cell.id = spare.pop(-place).id
                given.add(cell.id)
                waiting.remove(cell)
    for cell in waiting:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        copies = (digest, *(f"{digest}-{n}" for n in range(2, len(cells) + 2)))
        cell.id = next(name for name in copies if name not in given)
        given.add(cell.id)


def likeness(cell, other, least):
    """Return how similar two cells are, from 0 to 1 (identical).

    Return 0 as soon as a quick estimate shows that the similarity is below `least`.
    """
    if cell.cell_type != other.cell_type:
        return 0.0
    if cell.source == other.source:
        return 1.0
    matcher = difflib.SequenceMatcher(None, cell.source, other.source, autojunk=False)
    if least == 1.0 or matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return 0.0
    return matcher.ratio()


def difference(text):
    """Describe the first difference between a page's text and its notebook; return "" if there is none.

    The address in the first cell is ignored, so it can be set without executing every page again.
    """
    target = notebook_of(text)
    if not target.exists():
        return f"{shown(text)} has no notebook"
    stored, wanted = nbformat.read(target, as_version=4).cells, make(text).cells
    for place, (cell, other) in enumerate(zip(stored, wanted, strict=False), 1):
        same = [(c.cell_type, c.id, c.metadata, ADDRESS.sub("", c.source)) for c in (cell, other)]
        if same[0] != same[1]:
            return f"{shown(text)} and its notebook differ at cell {place}:\n{other.source}"
    return f"{shown(text)} and its notebook differ in length" if len(stored) != len(wanted) else ""


def write(notebook, path):
    """Validate the notebook and write it to `path`."""
    nbformat.validate(notebook)
    files.write(path, written(notebook))


def written(notebook):
    """Return the notebook as the text of its file."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"  # indent 1, sorted keys


def execute(text, patience=PATIENCE):
    """Make and execute one page. Return (seconds, processor seconds), or an error message as a string."""
    start, before, place = time.perf_counter(), of_children(), [0]
    try:
        from press.pages import judging  # imported here because it imports this module

        notebook = make(text)
        judging.record(text)
        folder = notebook_of(text).parent
        folder.mkdir(parents=True, exist_ok=True)
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=patience,
            coalesce_streams=True,
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": str(folder)}},
            on_cell_execute=lambda cell, cell_index: place.append(cell_index + 1),
        )
        begin(client, lambda: place[-1])
        notebook.metadata = nbformat.from_dict(METADATA)  # drop what the kernel reports about this machine
        write(notebook, notebook_of(text))
    except (CellControlSignal, DeadKernelError) as error:
        return f"cell {place[-1]}: {error}"
    except (NoSuchKernel, RuntimeError) as error:  # not installed, or it does not start
        return f"the kernel python3 does not start ({error}): delete .venv and run make again"
    except OSError as error:
        reason = f"{error.strerror or error}: {error.filename or notebook_of(text)}"
        return f"the notebook could not be written ({reason}). Free some space or make the folder writable"
    except ValueError as error:
        return str(error)
    return time.perf_counter() - start, of_children() - before


def of_children():
    """Return the processor seconds of all finished kernels, which other programs do not inflate."""
    spent = os.times()
    return spent.children_user + spent.children_system


def begin(client, cell, tries=3):
    """Execute a notebook, and try again if the kernel dies before the first cell.

    Two kernels that start at the same time may be given the same port. `cell()` returns the number of the
    current cell.
    """
    try:
        client.execute()
    except RuntimeError:
        if cell() or tries == 1:
            raise
        begin(client, cell, tries - 1)


def end_with(parent):
    """End this worker, and with it its kernel, when its parent process has been killed."""

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(texts, jobs, patience=PATIENCE, again=False):
    """Execute pages in parallel; a page that fails keeps its old notebook. Return the exit code.

    A page without a recorded time gets one; with `again`, every page does.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    times, spent = files.times(), {}
    failed = 0
    with ProcessPoolExecutor(jobs, initializer=end_with, initargs=(os.getpid(),)) as pool:
        waiting = {pool.submit(execute, text, patience): text for text in texts}
        for number, future in enumerate(as_completed(waiting), 1):
            text, outcome = waiting[future], result(future)
            if isinstance(outcome, str):
                failed += 1
                print(
                    f"[{number}/{len(texts)}] {shown(text)} FAILED, notebook untouched\n{outcome}", flush=True
                )
            else:
                seconds, spent[shown(notebook_of(text))] = outcome
                times[shown(notebook_of(text))] = round(seconds, 2)
                print(f"[{number}/{len(texts)}] {shown(text)} {seconds:.1f} s", flush=True)
    try:
        files.keep_times(times)
        files.record_times(spent, again)
    except OSError as error:
        print(f"The times could not be stored ({error.strerror}: {error.filename}). Is the disk full?")
        failed += 1
    return 1 if failed else 0


def result(future):
    """Return what `execute` returned, or a message if the worker process died."""
    try:
        return future.result()
    except BrokenProcessPool:
        return "a worker process died; if memory is short, use --jobs 1"


def main(arguments):
    """Parse the command line and make the notebooks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, help="pages/….md or notebooks (default: all pages)")
    parser.add_argument("--jobs", type=int, default=2, help="pages executed in parallel (default 2)")
    parser.add_argument("--stale", action="store_true", help="only pages whose notebook is out of date")
    parser.add_argument("--times", action="store_true", help="measure and store the times again")
    parser.add_argument("--patience", type=int, default=PATIENCE, help="seconds that a cell may take")
    options = parser.parse_args(arguments)
    try:
        texts = [text_of(path) for path in options.paths] or pages()
    except ValueError as error:
        parser.error(str(error))
    texts = [text for text in texts if not options.stale or difference(text)]
    return run(texts, 1 if options.times else options.jobs, options.patience, options.times)
