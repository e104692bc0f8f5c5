"""Make the downloads: every notebook in plain form, the package as a wheel, and a zip file of everything.

A pass of `press.html`; the files are in `downloads/` of the built book. The download button of a page writes
the address of the wheel into the notebook (`book/_static/download.js`); the zip contains the wheel itself.
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

from press import ROOT, config

FOLDER = "downloads"
TOP = "online-convex-optimisation"
BUNDLE = f"{FOLDER}/{TOP}.zip"
PACKAGE = ("pyproject.toml", "README.md", "LICENSE", "ocolib", "ocolab")
UMASK = {"umask": 0o022} if os.name == "posix" else {}  # a wheel stores the modes of its files
MAKE = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
README = """\
Online Convex Optimisation, Executed: all notebooks

Unpack this folder and open the notebooks in JupyterLab, Jupyter Notebook or VS Code. If ocolib, the package
of the book, is not installed, the first cell of each notebook installs it from ocolib-….whl in this folder.

The first cell also names the other packages that a notebook needs: always NumPy, often matplotlib and cvxpy,
sometimes scikit-learn, joblib or numba. It installs the missing ones. For a class without a network, download
them into this folder first, on a machine of the same kind:

    python -m pip download "./{wheel}[pages]"

The first cells find them here.
"""


def notebook(docname):
    """Return the path of a page's notebook in the built book."""
    return f"{FOLDER}/{docname.removeprefix('book/')}.ipynb"


@cache
def wheel_name():
    """Return the path of the wheel in the built book."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["version"]
    return f"{FOLDER}/ocolib-{version}-py3-none-any.whl"


def package_files():
    """Return the files of the project that the wheel is made from."""
    found = [file for name in PACKAGE for file in [ROOT / name, *sorted((ROOT / name).rglob("*"))]]
    return [file for file in found if file.is_file() and file.suffix not in (".pyc", ".pyo")]


def wheel():
    """Return the package as a wheel, built once for each state of its files."""
    files = package_files()
    stamp = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    target = ROOT / "_build" / "wheel" / stamp / Path(wheel_name()).name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    make_wheel(files, target.parent)
    return target


def make_wheel(files, target):
    """Build a reproducible wheel from these files of the project, in a temporary copy."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            copy = Path(folder, file.relative_to(ROOT))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            copy.chmod(0o644)
        environment = os.environ | {"SOURCE_DATE_EPOCH": "1577836800"}  # reproducible bytes
        command = [sys.executable, "-c", MAKE, str(target)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, **UMASK)
    if done.returncode:
        raise RuntimeError(f"the wheel of ocolib could not be built: {done.stderr[-2000:]}")


def data(name, cells):
    """Return the files beside a page that its code reads or imports."""
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
    """Write all downloads, if anything that they are made from has changed."""
    from press.pages import notebooks, plain

    target, kept = Path(app.outdir, FOLDER), Path(app.doctreedir, f"{FOLDER}.sha256")
    site = config.site(config.settings())
    state = digest(site, app.config.edition)
    if target.exists() and kept.exists() and kept.read_text("utf8") == state:
        return
    kept.unlink(missing_ok=True)  # written again when everything is complete
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
    """Return a hash of what the downloads are made from: book/, press/, the package and these settings."""
    folders = [ROOT / "book", ROOT / "press" / "press"]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    files = [file for file in files if file.suffix != ".pyc"] + package_files()
    state = hashlib.sha256(repr(settings).encode())
    for file in files:
        state.update(f"\n{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return state.hexdigest()


def pack(folder):
    """Pack the folder and a READ-ME into one zip file."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    with zipfile.ZipFile(folder / f"{TOP}.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr(entry("READ-ME.txt"), README.replace("{wheel}", Path(wheel_name()).name))
        for file in files:
            bundle.writestr(entry(file.relative_to(folder).as_posix()), file.read_bytes())


def entry(name):
    """Return the metadata of a file in the zip, without a time, so that the zip is reproducible."""
    info = zipfile.ZipInfo(f"{TOP}/{name}")
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


def add_script(app, pagename, templatename, context, doctree):
    """Add the script of the download button to pages that have a notebook."""
    if doctree is not None and app.env.doc2path(pagename).endswith(".ipynb"):
        app.add_js_file("download.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
