"""Isolate a student's code with bubblewrap and a list of forbidden system calls.

Inside there is an empty root with Python, NumPy, ocolib and ocolab, all read-only, and a /tmp of 16 MB that
goes when the process ends. There is no home, no project, no other submission, no socket, no network, no
environment and no second process. libseccomp writes the list; the kernel enforces it, and the limits on
memory, files and time. Where bubblewrap or libseccomp is missing, or the kernel forbids them, `Fence` raises
`NoFence` with what to do: nothing is ever graded without it.
"""

import compileall
import ctypes
import ctypes.util
import errno
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
MEMORY = 2 << 30
LIMITS = {"AS": MEMORY, "FSIZE": 16 << 20, "NOFILE": 64, "CORE": 0, "NPROC": 64, "CPU": 900}
ROOM = 16 << 20  # bytes of /tmp
#: other processes and namespaces, sockets (some families know no namespace), memory that no limit counts,
#: doors into the kernel that no answer needs
REFUSED = """
fork vfork unshare setns mount umount2 pivot_root chroot ptrace process_vm_readv process_vm_writev
pidfd_open pidfd_getfd kcmp socket shmget semget msgget mq_open memfd_create memfd_secret bpf perf_event_open
keyctl add_key request_key io_uring_setup userfaultfd personality name_to_handle_at open_by_handle_at fsopen
fspick fsmount fsconfig open_tree move_mount mount_setattr fanotify_init quotactl syslog kexec_load
""".split()  # noqa: SIM905 (a list of strings is longer)
CLONE_THREAD = 0x10000
INSTALL = (
    "Nothing was graded. A student's code runs only behind a fence, and here none can be had: {}.\n"
    "It needs bubblewrap and libseccomp. Debian and Ubuntu: apt install bubblewrap libseccomp2; Fedora: "
    "dnf install bubblewrap libseccomp. On macOS and Windows grade in a Linux virtual machine or in WSL. "
    "A container must allow user namespaces (Docker: --security-opt seccomp=unconfined --security-opt "
    "apparmor=unconfined)."
)


class NoFence(SystemExit):
    """There is no fence here; the text says what to install."""

    def __init__(self, reason):
        super().__init__(INSTALL.format(reason))


# ---------------------------------------------------------------- system calls


class Compare(ctypes.Structure):
    """libseccomp's comparison of an argument with a number."""

    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    ]


def write_filter(file):
    """Write the program that refuses system calls, as bubblewrap reads it."""
    try:
        lib = ctypes.CDLL(ctypes.util.find_library("seccomp") or "libseccomp.so.2")
    except OSError:
        raise NoFence("libseccomp is not installed") from None
    lib.seccomp_init.restype = ctypes.c_void_p
    lib.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint,
                                           ctypes.c_void_p]  # fmt: skip
    lib.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lib.seccomp_release.argtypes = [ctypes.c_void_p]
    allow, refuse = 0x7FFF0000, 0x00050000
    masked_equal = 7
    rules = ctypes.c_void_p(lib.seccomp_init(allow))

    def add(name, error, *compared):
        number = lib.seccomp_syscall_resolve_name(name.encode())
        array = (Compare * len(compared))(*compared)
        if number < 0 and name not in ("clone", "clone3"):
            return  # this processor, or this libseccomp, has no such call
        if number < 0 or lib.seccomp_rule_add_array(rules, refuse | error, number, len(compared), array):
            raise NoFence(f"libseccomp cannot refuse {name}")

    try:
        for name in REFUSED:
            add(name, errno.EPERM)
        add("clone", errno.EPERM, Compare(0, masked_equal, CLONE_THREAD, 0))  # threads pass, processes do not
        add("clone3", errno.ENOSYS)  # its flags cannot be seen; libraries then take clone
        if lib.seccomp_export_bpf(rules, file.fileno()):
            raise NoFence("libseccomp cannot write its list")
    finally:
        lib.seccomp_release(rules)


# ---------------------------------------------------------------- what is inside


def libraries(files):
    """The shared libraries that these programs and modules load."""
    said = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True).stdout
    return sorted({Path(found) for found in re.findall(r"(?:=>\s+|^\s+)(/\S+)\s+\(0x", said, re.MULTILINE)})


def python():
    """The interpreter and its standard library, without anything that was installed beside it."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix}
    standard = {Path(sysconfig.get_path(name, vars=base)).resolve() for name in ("stdlib", "platstdlib")}
    return program, sorted(standard)


def closure(packages):
    """The distributions of these names and all that they require."""
    found, waiting = {}, list(packages)
    while waiting:
        name = re.match(r"[\w.-]+", waiting.pop())[0].lower().replace("_", "-")
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        waiting += [need for need in found[name].requires or () if "extra ==" not in need]
    return found.values()


def installed(packages):
    """{name inside /packages: where it is} of all that these distributions brought."""
    found = {}
    for dist in closure(packages):
        for file in dist.files or ():
            first = file.parts[0]
            if first not in ("..", "__pycache__") and not first.startswith("_editable"):
                found[first] = Path(dist.locate_file(first)).resolve()
    return {name: path for name, path in found.items() if path.exists()}


NO_CHECKERS = '''"""Here nothing is checked: the judge has the checkers, and asks for values."""


class Verdict:
    pass


class WrongAnswer(AssertionError):
    pass


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *args, **kwargs: None
'''


def stage(folder):
    """Copy what is ours into a folder: the program inside, ocolib and ocolab, but no checkers."""
    import ocolab
    import ocolib

    for package in (ocolib, ocolab):
        source = Path(package.__file__).parent
        shutil.copytree(
            source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__", "exercises*")
        )
    (folder / "ocolib" / "exercises.py").write_text(NO_CHECKERS, "utf8")
    for name in ("inside.py", "wire.py"):
        shutil.copy(HERE / name, folder)
    compileall.compile_dir(folder, quiet=2)


class Fence:
    """Start programs behind the fence. Use it in a `with`: what it prepared is removed at the end."""

    def __init__(self, packages=("numpy",)):
        self.program = shutil.which("bwrap")
        if not self.program:
            raise NoFence("bubblewrap (bwrap) is not installed")
        self.home = tempfile.TemporaryDirectory(prefix="fence-")
        try:
            self.build(packages)
        except BaseException:
            self.home.cleanup()
            raise

    def build(self, packages):
        folder = Path(self.home.name) / "packages"
        folder.mkdir()
        stage(folder)
        program, standard = python()
        brought = installed(packages)
        for name, path in brought.items():  # a place for each: the folder is read-only then
            (folder / name).mkdir() if path.is_dir() else (folder / name).touch()
        modules = [file for place in standard for file in (place / "lib-dynload").glob("*.so")]
        modules = [file for file in modules if not file.name.startswith(("_tkinter", "_test"))]
        modules += [file for place in brought.values() for file in place.rglob("*.so*") if file.is_file()]
        beside = {path.parent for path in brought.values()}  # what packages bring themselves is there already
        loaded = [path for path in libraries([program, *modules]) if not beside & set(path.resolve().parents)]
        self.binds = [(path, path) for path in [program, *standard, *loaded]]
        self.hidden = [path for place in standard if (path := place / "site-packages").is_dir()]
        self.binds += [(folder, Path("/packages"))]
        self.binds += [(path, Path("/packages", name)) for name, path in brought.items()]
        self.filter = Path(self.home.name) / "filter"
        with open(self.filter, "wb") as file:
            write_filter(file)
        self.inside = [str(program), "-I", "-S", "-B", "/packages/inside.py"]
        self.probe()

    def command(self, listed):
        """The whole command; the file number `listed` has the list of system calls."""
        words = [self.program, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent",
                 "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "fence",
                 "--seccomp", str(listed)]  # fmt: skip
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            words += ["--setenv", name, "1"]
        for source, target in self.binds:
            words += ["--ro-bind", str(source), str(target)]
        for place in self.hidden:
            words += ["--size", "4096", "--tmpfs", str(place), "--remount-ro", str(place)]
        for device in ("null", "zero", "urandom"):
            words += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
        words += ["--size", str(ROOM), "--perms", "0700", "--tmpfs", "/tmp", "--chdir", "/tmp"]
        words += ["--remount-ro", "/"]
        return [*words, "--", *self.inside]

    def start(self, stderr=subprocess.DEVNULL):
        """Start the program inside; its standard input and output are pipes to us."""
        listed = os.open(self.filter, os.O_RDONLY)
        try:
            return subprocess.Popen(
                self.command(listed),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=[listed],
                env={},
                cwd="/",
                bufsize=0,
                start_new_session=True,
            )
        finally:
            os.close(listed)

    def probe(self):
        """See that it works here, and say why not."""
        process = self.start(stderr=subprocess.PIPE)
        try:
            said, wrong = process.communicate(b"{}\nnull\n", timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise NoFence("a program behind it does not answer") from None
        if said.strip() != b'{"ready": true}':
            lines = wrong.decode(errors="replace").strip().splitlines() or ["it ends at once"]
            raise NoFence(f"bubblewrap says “{lines[-1]}”")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.home.cleanup()
