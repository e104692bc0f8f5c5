"""Make the downloads: every notebook in plain form, the package as a wheel, and a zip file of everything.

They lie in `downloads/`. The button below a page writes the address of the wheel into its notebook
(`book/_static/download.js`); the zip holds the wheel itself.
"""

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from functools import cache
from pathlib import Path

from press import ledger

ROOT = ledger.ROOT
FOLDER = "downloads"
TOP = "online-convex-optimisation"
BUNDLE = f"{FOLDER}/{TOP}.zip"
PACKAGE = ("pyproject.toml", "README.md", "LICENSE", "ocolib", "ocolab")
UMASK = {"umask": 0o022} if os.name == "posix" else {}  # a wheel keeps the modes of its files
MAKE = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
README = """\
Online Convex Optimisation, Executed: all notebooks

Unpack this folder and open the notebooks in JupyterLab, Jupyter Notebook or VS Code. Where ocolib, the
package of the book, is missing, the first cell of each installs it from the file ocolib-….whl in this folder.

What else a notebook needs is named in its first cell: NumPy always, often matplotlib and cvxpy, sometimes
scikit-learn, joblib or numba. If these are not installed, that cell fetches them. For a class without
network fetch them once, on a machine of the same kind, into this folder:

    python -m pip download "./{wheel}[pages]"

The first cells find them here.
"""


def notebook(docname):
    """Where the notebook of a page lies in the built book."""
    return f"{FOLDER}/{docname.removeprefix('book/')}.ipynb"


@cache
def wheel_name():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["version"]
    return f"{FOLDER}/ocolib-{version}-py3-none-any.whl"


def package_files():
    found = [file for name in PACKAGE for file in [ROOT / name, *sorted((ROOT / name).rglob("*"))]]
    return [file for file in found if file.is_file() and file.suffix not in (".pyc", ".pyo")]


def wheel():
    """The package as a wheel, built once for each state of its files, away from the project's folder."""
    files = package_files()
    stamp = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    target = ROOT / "_build" / "wheel" / stamp / Path(wheel_name()).name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    make_wheel(files, target.parent)
    return target


def make_wheel(files, target):
    """Build a wheel of these files of the project into a folder; the same files give the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            copy = Path(folder, file.relative_to(ROOT))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            copy.chmod(0o644)
        environment = os.environ | {"SOURCE_DATE_EPOCH": "1577836800"}  # the same bytes each time
        command = [sys.executable, "-c", MAKE, str(target)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, **UMASK)
    if done.returncode:
        raise RuntimeError(f"no wheel of ocolib: {done.stderr[-2000:]}")


def data(name, cells):
    """The files beside a page that its code reads or imports."""
    from press.pages import notebooks

    folder = (ROOT / "book" / name).parent
    first = "# What this page needs"
    code = [c.source for c in cells if c.cell_type == "code" and not c.source.startswith(first)]
    said = {f"{module}.py" for source in code for module in notebooks.imports(source)}
    said |= {
        node.value
        for source in code
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return [file for file in sorted(folder.iterdir()) if file.is_file() and file.name in said]


def write(app, pages):
    from press.pages import notebooks, plain
    from press.sphinx import reader  # which links to what is made here

    target, kept = Path(app.outdir, FOLDER), Path(app.doctreedir, f"{FOLDER}.sha256")
    site = reader.site(reader.settings())
    state = digest(site, app.config.edition)
    if target.exists() and kept.exists() and kept.read_text("utf8") == state:
        return
    kept.unlink(missing_ok=True)  # until all is made
    shutil.rmtree(target, ignore_errors=True)
    address = f"{site}/{wheel_name()}" if site else ""
    for docname in app.env.found_docs:
        if app.env.doc2path(docname).endswith(".ipynb"):
            name = docname.removeprefix("book/")
            made = plain.notebook(name, site, solutions=not app.config.edition)
            files = data(name, made.cells)
            made = plain.with_data(made, name, files)
            made.cells[0].source = notebooks.addressed(made.cells[0].source, address)
            notebooks.write(made, Path(app.outdir, notebook(docname)))
            for file in files:
                shutil.copyfile(file, Path(app.outdir, notebook(docname)).with_name(file.name))
    shutil.copyfile(wheel(), Path(app.outdir, wheel_name()))
    pack(target)
    kept.write_text(state, "utf8")


def digest(*settings):
    """Of what the downloads are made from: book/, press/, the package and these settings."""
    folders = [ROOT / "book", ROOT / "press" / "press"]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    files = [file for file in files if file.suffix != ".pyc"] + package_files()
    state = hashlib.sha256(repr(settings).encode())
    for file in files:
        state.update(f"\n{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return state.hexdigest()


def pack(folder):
    """All that lies in the folder as one zip, and how to begin."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    with zipfile.ZipFile(folder / f"{TOP}.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr(entry("READ-ME.txt"), README.replace("{wheel}", Path(wheel_name()).name))
        for file in files:
            bundle.writestr(entry(file.relative_to(folder).as_posix()), file.read_bytes())


def entry(name):
    """A file of the zip, without the time at which it was made."""
    info = zipfile.ZipInfo(f"{TOP}/{name}")
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


def add_script(app, pagename, templatename, context, doctree):
    if doctree is not None and app.env.doc2path(pagename).endswith(".ipynb"):
        app.add_js_file("download.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
