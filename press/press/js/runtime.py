"""Assemble what a live page loads on the first click: Python, NumPy and the editor.

python -m press runtime      assemble into _build/runtime (again only if the recipe has changed)

All parts come from the package registries, pinned and verified by checksum: Pyodide and CodeMirror from npm
(see `press.js.build`), NumPy from a wheel that contains a build for the same Python. They are not committed.
All parts except the editor are compressed here, so that downloads are small on every host.
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

# Not used in a browser: compilers, headers, examples, an experimental API, test suites.
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
    """Return (folder, {part: {name, sha256, bytes}}); assemble the parts if the recipe has changed."""
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
    """Return a hash of the files that determine the parts."""
    files = [
        Path(__file__),
        build.LOCK,
        COMPILE,
        *(COMPILE.with_name(f"{name}.js") for name in ("editor", "complete")),
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def store(folder, name, suffix, data):
    """Write a part under a name that contains its hash, so that caches never mix two versions."""
    digest = hashlib.sha256(data).hexdigest()
    file = f"{name}-{digest[:12]}.{suffix}"
    (folder / file).write_bytes(data)
    return {"name": file, "sha256": digest, "bytes": len(data)}


def made(work):
    """Yield (part, suffix, bytes). `.bin` is gzip under a suffix that web servers do not decompress."""
    pyodide = build.packages() / "pyodide"
    engine = b"".join((pyodide / name).read_bytes() + b"\n" for name in ("pyodide.asm.js", "pyodide.js"))
    yield "engine", "bin", packed(engine.replace(b"//# sourceMappingURL=pyodide.js.map", b""))
    yield "wasm", "bin", packed((pyodide / "pyodide.asm.wasm").read_bytes())
    yield "stdlib", "bin", packed(archive(standard_library(work)))
    yield "numpy", "bin", packed(archive(numpy(work)))
    yield "editor", "js", build.bundle("live/editor.js", global_name="LiveEditor").encode()


def packed(data):
    """Return the data compressed, reproducibly."""
    return gzip.compress(data, 9, mtime=0)


def archive(folder):
    """Return an uncompressed zip of a folder without sources; Python imports from it directly."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".py":
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                bundle.writestr(info, path.read_bytes())
    return buffer.getvalue()


def compile_python(work, folder, optimise):
    """Compile a folder to bytecode for the browser's Python, which loads three times as fast as source."""
    build.run(work, build.node_wheel()[0], COMPILE, build.packages() / "pyodide", folder, str(optimise))


def standard_library(work):
    """Return the folder of the compiled standard library."""
    folder = work / "stdlib"
    with zipfile.ZipFile(build.packages() / "pyodide" / "python_stdlib.zip") as bundle:
        bundle.extractall(folder)
    compile_python(work, folder, optimise=2)
    return folder


def numpy(work):
    """Return the folder of NumPy for this Python and WebAssembly, without the parts that no page uses."""
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
        raise build.Unavailable(f"{NUMPY_TAR} does not have the expected checksum")
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
    """Return whether a page may use this file of NumPy."""
    name = path.rpartition("/")[2]
    return (
        path.endswith((".py", ".so"))
        and name != "setup.py"
        and "/tests/" not in f"/{path}"
        and not path.startswith(NUMPY_UNUSED)
        and not name.startswith(NUMPY_TESTS)
    )


def main(arguments=()):
    """Assemble the parts and list them."""
    try:
        folder, parts = assemble()
    except build.Unavailable as reason:
        print(f"Python for the browser was not assembled: {reason}.")
        return 1
    for part in parts.values():
        print(f"{part['bytes']:>10,}  {part['name']}")
    print(f"{sum(part['bytes'] for part in parts.values()):>10,}  bytes in {folder}")
    return 0
