"""Assemble what a live page loads on the first click: Python, NumPy and the editor.

python -m press runtime      assemble into _build/runtime (later calls do nothing until the recipe changes)

All of it comes from the package registries, pinned and checked by checksum: Pyodide and CodeMirror from npm
(see `press.js.build`), NumPy out of a wheel that carries a build for
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
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from press import ROOT
from press.js import build

COMPILE = build.SCRIPTS / "live" / "compile.mjs"
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
        parts = {name: store(ready, name, suffix, data) for name, suffix, data in made(work)}
        (ready / listing.name).write_text(json.dumps({"recipe": recipe, "parts": parts}, indent=1), "utf8")
        shutil.rmtree(TARGET, ignore_errors=True)
        os.replace(ready, TARGET)
    return TARGET, parts


def recipe_digest():
    files = [
        Path(__file__),
        build.LOCK,
        COMPILE,
        *(COMPILE.with_name(f"{name}.js") for name in ("editor", "complete")),
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def store(folder, name, suffix, data):
    """Write one part under a name that changes with its content, so that no cache can mix two versions."""
    digest = hashlib.sha256(data).hexdigest()
    file = f"{name}-{digest[:12]}.{suffix}"
    (folder / file).write_bytes(data)
    return {"name": file, "sha256": digest, "bytes": len(data)}


def made(work):
    """Triples (part, suffix, bytes). `.bin` is gzip under a name that no server tries to be clever about."""
    pyodide = build.packages() / "pyodide"
    engine = b"".join((pyodide / name).read_bytes() + b"\n" for name in ("pyodide.asm.js", "pyodide.js"))
    yield "engine", "bin", packed(engine.replace(b"//# sourceMappingURL=pyodide.js.map", b""))
    yield "wasm", "bin", packed((pyodide / "pyodide.asm.wasm").read_bytes())
    yield "stdlib", "bin", packed(archive(standard_library(work)))
    yield "numpy", "bin", packed(archive(numpy(work)))
    yield "editor", "js", build.bundle("live/editor.js", global_name="LiveEditor").encode()


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


def compile_python(work, folder, optimise):
    """Bytecode for the browser's own Python: importing it costs a third of compiling the source there."""
    build.run(work, build.node_wheel()[0], COMPILE, build.packages() / "pyodide", folder, str(optimise))


def standard_library(work):
    folder = work / "stdlib"
    with zipfile.ZipFile(build.packages() / "pyodide" / "python_stdlib.zip") as bundle:
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
        build.run(work, sys.executable, "-m", "pip", *install, PIP_NO_CACHE_DIR="1")
    else:
        build.run(work, "uv", "pip", *install, "--python", sys.executable, UV_NO_CACHE="1")
    data = next(wheel.rglob(NUMPY_TAR)).read_bytes()
    if hashlib.sha256(data).hexdigest() != NUMPY_SHA256:
        raise build.Unavailable(f"{NUMPY_TAR} is not the file that was checked")
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


def main(arguments=()):
    try:
        folder, parts = assemble()
    except build.Unavailable as reason:
        print(f"No runtime: {reason}.")
        return 1
    for part in parts.values():
        print(f"{part['bytes']:>10,}  {part['name']}")
    print(f"{sum(part['bytes'] for part in parts.values()):>10,}  bytes in {folder}")
    return 0
