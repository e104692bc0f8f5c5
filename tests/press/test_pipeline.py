"""Test that the pipeline is robust: a kill leaves complete files, and every failure gets a clear message."""

import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import conftest
import nbformat
import pytest

from press import files, serve
from press.pages import notebooks

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
SHELL = ("sh", "bash", "make", "cat", "rm", "mkdir", "touch", "find", "dirname", "ln")
CELL = "```{{code-cell}} ipython3\n{}\n```\n"


PAGES = ("a", "b")


def changing(name, number):
    """Return the cells of a page whose versions each print another number, and 100 kB in short lines.

    One line of that length would keep nbclient busy for seconds.
    """
    return "import time\ntime.sleep(0.1)", f"print('{name}', {number}, ('x' * 99 + chr(10)) * 1000)"


class Small:
    """A book of a few pages, made by the real press and the real Makefile."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("press", "pages", "book", ".venv", ".ci"):
            (folder / name).mkdir(parents=True)
        for name in ("Makefile", "book/conftest.py", ".ci/run"):
            shutil.copy(ROOT / name, folder / name)
        (folder / "_config.yml").write_text('repository: {url: ""}\n')
        for name in ("pyproject.toml", "press/pyproject.toml"):
            (folder / name).write_text(
                '[project]\nname = "small"\nversion = "0"\n[tool.pytest.ini_options]\n'
            )
        (folder / "requirements.txt").write_text("no-such-package-of-ours==1\n")

    def write(self, name, *cells):
        (self.folder / "pages" / f"{name}.md").write_text("\n".join(map(CELL.format, cells)), "utf8")

    def notebook(self, name):
        return self.folder / "book" / f"{name}.ipynb"

    def command(self, *options):
        return [sys.executable, "-m", "press", "notebooks", *options]

    def run(self, *command, **settings):
        settings = {"capture_output": True, "text": True, "timeout": 600, "cwd": self.folder} | settings
        settings["env"] = os.environ | {"MAKEFLAGS": "", "MFLAGS": ""} | settings.get("env", {})
        return subprocess.run(list(map(str, command)), **settings)

    def make(self, *targets, **settings):
        """Run make with the packages of this project, as if they were those of the small one."""
        (self.folder / ".venv" / ".installed").touch()
        return self.run("make", f"BIN={BIN}", f"HOME_OF_VENV={self.folder}", *targets, **settings)


@pytest.fixture
def small(tmp_path):
    return Small(tmp_path / "small")


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """Make the notebooks a and b of a small book once, with the real command."""
    book = Small(tmp_path_factory.mktemp("first") / "small")
    for name in PAGES:
        book.write(name, *changing(name, 0))
    began = time.monotonic()
    done = book.run(*book.command())
    assert done.returncode == 0, said(done)
    return [book.notebook(name) for name in PAGES], time.monotonic() - began


@pytest.fixture
def made(small, first_run):
    """Return a small book whose notebooks have been made, and how long that took."""
    notebooks, small.seconds = first_run
    for path in notebooks:
        shutil.copy(path, small.folder / "book")
    return small


@pytest.fixture
def path(tmp_path):
    """Return a PATH with only the shell and make; `path(name, script)` adds a command."""
    folder = tmp_path / "path"
    folder.mkdir()
    for name in SHELL:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)

    def add(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    add.env = {"PATH": str(folder)}
    return add


def said(done):
    return done.stdout + done.stderr


# ---------------------------------------------------------------- killed


def inside(folder):
    """Return the processes that still run in a folder."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.resolve(strict=True).is_relative_to(folder):
                found.append(int(link.parent.name))
        except OSError:
            continue  # it has just ended
    return found


def wait_until_empty(folder):
    end = time.monotonic() + 30
    while left := inside(folder):
        assert time.monotonic() < end, f"processes outlive the tool that started them: {left}"
        time.sleep(0.1)


def check_kills(small, points):
    """Kill the command, or it and its workers, at random moments of a run that changes every page."""
    chance = random.Random(19)
    for number in range(1, points + 1):
        for name in PAGES:
            small.write(name, *changing(name, number))
        moment = chance.uniform(0, small.seconds)
        process = subprocess.Popen(
            small.command(), cwd=small.folder, start_new_session=True, stdout=subprocess.DEVNULL
        )
        time.sleep(moment)
        (os.killpg if number % 2 else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        wait_until_empty(small.folder)
        for name in PAGES:
            notebook = nbformat.read(small.notebook(name), as_version=4)
            nbformat.validate(notebook)
            shown = notebook.cells[2].outputs[0].text.split()[1]
            assert shown in notebook.cells[2].source, f"killed at {moment:.2f} s: half of {name} is new"
    done = small.run(*small.command("--stale"))
    assert done.returncode == 0, said(done)
    assert not list((small.folder / "book").glob(".*.new"))
    assert all(f", {points}," in small.notebook(name).read_text() for name in PAGES)


needs_proc = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks for processes in /proc")


@needs_proc
def test_a_kill_leaves_every_notebook_whole(made):
    check_kills(made, 1)


@needs_proc
@pytest.mark.long
def test_twenty_kills_leave_every_notebook_whole(made):
    check_kills(made, 20)


def test_a_build_that_failed_or_was_killed_begins_anew(small, tmp_path):
    """What it had read and written may be half: the next build must not trust it."""
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "jupyter-book").write_text(
        "#!/bin/sh\nls _build/html\nmkdir -p _build/html\ntouch _build/html/half\ntest ! -e fail\n"
    )
    (fake / "jupyter-book").chmod(0o755)
    (small.folder / "fail").touch()
    first, second = (small.make("book", f"BIN={fake}") for _ in range(2))
    for done in (first, second):
        assert done.returncode and "The book was not built" in said(done) and "df -h" in said(done)
        assert "half" not in done.stdout
    (small.folder / "fail").unlink()
    assert "half" not in small.make("book", f"BIN={fake}").stdout
    third = small.make("book", f"BIN={fake}")
    assert third.returncode == 0 and "half" in third.stdout, "a finished build is kept"


# ---------------------------------------------------------------- a cell that fails, hangs or ends its kernel


BAD = {
    "fails": ("1 / 0", "ZeroDivisionError"),
    "hangs": ("while True:\n    pass", "timed out"),
    "ends": ("import os\nos._exit(1)", "died"),
}


def test_bad_cells_are_named_and_their_notebooks_stay(small):
    small.write("good", "print(1)", "print(2)")
    for name, (cell, _) in BAD.items():
        small.write(name, "print(1)", cell)
        nbformat.write(nbformat.v4.new_notebook(), small.notebook(name))
    before = {name: small.notebook(name).read_bytes() for name in BAD}
    done = small.run(*small.command("--patience", "2"))
    assert done.returncode == 1 and "pages/good.md FAILED" not in done.stdout
    for name, (_, words) in BAD.items():
        told = done.stdout.partition(f"pages/{name}.md FAILED, notebook untouched\n")[2]
        assert told.startswith("cell 3: ") and words in told, done.stdout
        assert small.notebook(name).read_bytes() == before[name]


@pytest.mark.long
def test_nbval_names_bad_cells(small):
    small.write("good", "print(1)", "print(2)")
    assert small.run(*small.command()).returncode == 0
    for name, (cell, _) in BAD.items():
        notebook = nbformat.read(small.notebook("good"), as_version=4)
        notebook.cells[2].source = cell
        nbformat.write(notebook, small.notebook(name))
    makefile = small.folder / "Makefile"
    makefile.write_text(makefile.read_text().replace("--nbval-cell-timeout 300", "--nbval-cell-timeout 2"))
    done = small.make("pages")
    summary = done.stdout.partition("short test summary")[2]
    assert done.returncode and "good" not in summary
    for name in BAD:
        assert f"FAILED book/{name}.ipynb::Cell 2" in summary, said(done)


# ---------------------------------------------------------------- sentences


def test_a_full_disk_is_said_and_the_notebook_stays(made):
    small, before = made, made.notebook("a").read_bytes()
    small.write("a", *changing("a", 1))

    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = small.run(*small.command(), preexec_fn=little)
    assert done.returncode == 1 and "Traceback" not in said(done)
    assert "pages/a.md FAILED" in done.stdout and "Free some space" in done.stdout
    assert small.notebook("a").read_bytes() == before and not list(small.notebook("a").parent.glob(".*"))


def test_a_folder_that_cannot_be_written_is_said(small):
    """Permissions do not stop a superuser; a file where a folder should be stops everybody."""
    small.write("chapter", "print(1)")
    (small.folder / "pages" / "x").mkdir()
    (small.folder / "pages" / "chapter.md").rename(small.folder / "pages" / "x" / "a.md")
    (small.folder / "book" / "x").touch()
    done = small.run(*small.command())
    assert (
        done.returncode == 1 and "make the folder writable" in done.stdout and "Traceback" not in said(done)
    )
    shutil.rmtree(small.folder / "_build")
    (small.folder / "_build").touch()
    done = small.make("book")
    assert done.returncode and "The book cannot be written: make room" in said(done)


def test_times_that_cannot_be_kept_are_said(small):
    small.write("a", "print(1)")
    (small.folder / "_build").touch()
    done = small.run(*small.command())
    assert (
        done.returncode == 1
        and "The times could not be stored" in done.stdout
        and "Traceback" not in said(done)
    )


@pytest.mark.long
def test_a_page_is_timed_once_and_again_when_asked(small):
    """The record lies beside the notebooks: two runs of `make notebooks` must leave the same bytes."""
    record = small.folder / "book" / "times.json"
    small.write("a", "x = 1")
    assert small.run(*small.command()).returncode == 0
    first = record.read_bytes()
    assert small.run(*small.command()).returncode == 0 and record.read_bytes() == first
    small.write("b", "print(1)")
    assert small.run(*small.command()).returncode == 0
    [run] = json.loads(record.read_bytes())
    before = json.loads(first)[0]["seconds"]["book/a.ipynb"]
    assert 0 < before < 60 and run["seconds"]["book/a.ipynb"] == before and "book/b.ipynb" in run["seconds"]
    small.write("a", "x = sum(i * i for i in range(8_000_000))")
    assert small.run(*small.command("--times", "pages/a.md")).returncode == 0
    assert json.loads(record.read_bytes())[-1]["seconds"]["book/a.ipynb"] > before


def test_every_page_has_a_recorded_time():
    timed = {page for run in files.recorded() for page in run["seconds"]}
    pages = {notebooks.shown(notebooks.notebook_of(text)) for text in notebooks.pages()}
    assert pages <= timed, "the next `make notebooks` records what is missing"


def test_a_missing_kernel_is_said(monkeypatch, tmp_path):
    def none(*arguments):
        raise notebooks.NoSuchKernel("python3")

    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager.get_kernel_spec", none)
    monkeypatch.setattr(notebooks, "TEXT", tmp_path / "pages")
    monkeypatch.setattr(notebooks, "BOOK", tmp_path / "book")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.md").write_text(CELL.format("1"))
    assert "delete .venv and run make again" in notebooks.execute(tmp_path / "pages" / "a.md")


@pytest.mark.long
def test_a_kernel_that_does_not_start_is_said(small, tmp_path):
    small.write("a", "print(1)")
    (tmp_path / "broken" / "ipykernel_launcher.py").parent.mkdir()
    (tmp_path / "broken" / "ipykernel_launcher.py").write_text("raise ImportError('half of ipykernel')")
    done = small.run(*small.command(), env={"PYTHONPATH": str(tmp_path / "broken")})
    assert done.returncode == 1 and "the kernel python3 does not start" in done.stdout
    assert "delete .venv" in done.stdout


@pytest.mark.parametrize("python", ["no-such-python", "old"])
def test_a_wrong_python_is_said(small, path, python):
    path("old", 'case "$1" in --version) echo Python 3.9.1;; *) exit 1;; esac')
    done = small.run("make", ".venv/.installed", f"PYTHON={python}", env=path.env)
    assert done.returncode and "Python 3.11 or newer is needed" in done.stdout
    assert "Try: make PYTHON=python3.12" in done.stdout
    assert ("Python 3.9.1" if python == "old" else "not found") in done.stdout


@pytest.mark.long
def test_no_network_is_said_by_pip(small, path):
    shutil.rmtree(small.folder / ".venv")
    path("python3", f'exec "{sys.executable}" "$@"')
    done = small.run("make", ".venv/.installed", env=path.env | {"PIP_NO_INDEX": "1"})
    assert done.returncode and "a network is needed once" in done.stdout
    assert not (small.folder / ".venv" / ".installed").exists(), "half an environment must not pass for one"


@pytest.mark.skipif(not shutil.which("uv"), reason="uv is not installed")
def test_no_network_is_said_by_uv(small, path):
    path("uv", f'exec "{shutil.which("uv")}" "$@"')
    done = small.run(
        "make", ".venv/.installed", f"PYTHON={sys.executable}", env=path.env | {"UV_OFFLINE": "1"}
    )
    assert done.returncode and "a network is needed once" in done.stdout


@pytest.mark.parametrize("trouble", ["moved", "no python", "half"])
def test_a_stale_environment_is_made_again(small, path, trouble):
    """Of another folder, without its Python, or never finished."""
    home = small.folder / ".venv"
    (home / "bin").mkdir()
    (home / "junk").touch()
    (home / "bin" / "python").symlink_to("/nowhere/python" if trouble == "no python" else sys.executable)
    if trouble != "half":
        (home / ".installed").write_text("/another/folder" if trouble == "moved" else str(small.folder))
    linked = f'mkdir -p .venv/bin && ln -s "{sys.executable}" .venv/bin/python'
    path("uv", f'case "$1" in venv) {linked};; *) echo "uv $*";; esac')
    path("python3", f'exec "{sys.executable}" "$@"')
    done = small.run("make", ".venv/.installed", env=path.env)
    assert done.returncode == 0 and "Making .venv again" in done.stdout, said(done)
    assert "-r requirements.txt" in done.stdout and not (home / "junk").exists()
    again = small.run("make", ".venv/.installed", env=path.env)
    assert again.returncode == 0 and "up to date" in again.stdout, said(again)
    (small.folder / "requirements.txt").touch()
    third = small.run("make", ".venv/.installed", env=path.env)
    assert "-r requirements.txt" in third.stdout and "again" not in third.stdout


def test_a_busy_port_is_said(small):
    (small.folder / "_build" / "html").mkdir(parents=True)
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = small.run(sys.executable, "-m", "press", "serve", port)
    assert done.returncode == 1 and f"Port {port} is in use" in done.stderr
    assert f"make serve PORT={max(port + 1, 8000)}" in done.stderr and "Traceback" not in done.stderr
    with pytest.raises(SystemExit, match="PORT must be a number from 0 to 65535, got 'web'"):
        serve.opened(small.folder, "web")


@pytest.mark.parametrize("required", [False, True])
def test_no_chromium_is_said_loudly(path, required):
    test = "tests/browser/test_built_book.py::test_search_finds_a_word"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", test]
    env = os.environ | path.env | {"CHROMIUM": "", "OCOLIB_REQUIRE_BROWSER": "1" if required else ""}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if required:
        assert done.returncode == 1 and "none of chromium" in done.stdout
    else:
        assert done.returncode == 0 and "THE BOOK WAS NOT CHECKED IN A BROWSER" in done.stdout
        assert "Install Chromium, or set CHROMIUM to its path; then: make browser" in done.stdout


def test_static_figures_without_chromium_say_so(path):
    command = [sys.executable, "-m", "press", "figures"]
    env = os.environ | path.env | {"CHROMIUM": ""}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 1 and "install Chromium" in done.stderr and "Traceback" not in done.stderr


def test_a_bare_machine_without_apt_is_told_what_to_install(small, path):
    done = small.run("sh", ".ci/run", env=path.env | {"CHROMIUM": ""})
    assert done.returncode == 1 and "Install Chromium" in done.stderr


# ---------------------------------------------------------------- order


def test_an_order_shuffles_the_tests_alike_in_every_process(monkeypatch):
    def shuffled(order):
        monkeypatch.setenv("ORDER", order)
        items = list(range(100))
        conftest.pytest_collection_modifyitems(items)
        return items

    assert shuffled("") == list(range(100))
    assert shuffled("1") == shuffled("1") != shuffled("2")
    assert sorted(shuffled("1")) == list(range(100))
