"""Run a student's code in a sandbox, made of bubblewrap and a list of forbidden system calls.

The sandbox has an empty root with Python, NumPy, ocolib and ocolab, all read-only, and a /tmp of 16 MB that
is deleted when the process ends. It has no home folder, no project, no other submissions, no sockets, no
network, no environment variables and no second process. libseccomp writes the list of system calls; the
kernel enforces it, together with the limits on memory, files and time. If bubblewrap or libseccomp is
missing, or the kernel forbids them, `Fence` raises `NoFence` with instructions: nothing is ever graded
without the sandbox.
"""

import compileall
import ctypes
import ctypes.util
import errno
import json
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
ROOM = 16 << 20  # size of /tmp in bytes
#: Forbidden: other processes and namespaces, sockets (some families ignore namespaces), memory that no limit
#: counts, other processors, and parts of the kernel that no answer needs.
REFUSED = """
fork vfork unshare setns mount umount2 pivot_root chroot ptrace process_vm_readv process_vm_writev
pidfd_open pidfd_getfd kcmp socket shmget semget msgget mq_open memfd_create memfd_secret bpf perf_event_open
keyctl add_key request_key sched_setaffinity io_uring_setup userfaultfd personality name_to_handle_at
open_by_handle_at fsopen fspick fsmount fsconfig open_tree move_mount mount_setattr fanotify_init quotactl
syslog kexec_load
""".split()  # noqa: SIM905 (a list of strings is longer)
CLONE_THREAD = 0x10000
REFUSAL = "Nothing was graded: students' code runs only in a sandbox, and none is available: {}.\n{}"
INSTALL = (
    "It needs bubblewrap 0.8 or newer and libseccomp. Debian and Ubuntu: apt install bubblewrap libseccomp2; "
    "Fedora: dnf install bubblewrap libseccomp. On macOS and Windows grade in a Linux virtual machine or in "
    "WSL."
)
ALLOW = (
    "bubblewrap is installed; most likely this system gives you no user namespaces. Allow them as "
    "administrator. Ubuntu from 23.10 on: sysctl kernel.apparmor_restrict_unprivileged_userns=0; Debian "
    "before 11: sysctl kernel.unprivileged_userns_clone=1; elsewhere: sysctl user.max_user_namespaces=10000. "
    "In Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
    "systempaths=unconfined."
)

ORDINARY = "Grade as an ordinary user."


class NoFence(SystemExit):
    """The sandbox cannot be used here; the message says what to install or to allow."""

    def __init__(self, reason, advice=INSTALL):
        super().__init__(REFUSAL.format(reason, advice))


# ---------------------------------------------------------------- system calls


class Compare(ctypes.Structure):
    """libseccomp's struct for comparing an argument with a number."""

    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    ]


def write_filter(file):
    """Write the system call filter as a BPF program, the form that bubblewrap reads."""
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
            return  # unknown to this processor or this libseccomp
        if number < 0 or lib.seccomp_rule_add_array(rules, refuse | error, number, len(compared), array):
            raise NoFence(f"libseccomp cannot refuse {name}")

    try:
        for name in REFUSED:
            add(name, errno.EPERM)
        add("clone", errno.EPERM, Compare(0, masked_equal, CLONE_THREAD, 0))  # allow threads, not processes
        add("clone3", errno.ENOSYS)  # a filter cannot see its flags; libraries fall back to clone
        if lib.seccomp_export_bpf(rules, file.fileno()):
            raise NoFence("libseccomp cannot write the filter")
    finally:
        lib.seccomp_release(rules)


# ---------------------------------------------------------------- what is inside


def libraries(files):
    """Return the shared libraries that these programs and modules load."""
    said = subprocess.run(  # in a session of its own, where Ctrl-C does not cut its list short
        ["ldd", *map(str, files)], capture_output=True, text=True, start_new_session=True
    ).stdout
    return sorted({Path(found) for found in re.findall(r"(?:=>\s+|^\s+)(/\S+)\s+\(0x", said, re.MULTILINE)})


def python():
    """Return (interpreter, folders of its standard library), without installed packages."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix}
    standard = {Path(sysconfig.get_path(name, vars=base)).resolve() for name in ("stdlib", "platstdlib")}
    return program, sorted(standard)


def closure(packages):
    """Return the distributions with these names and everything that they require."""
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
    """Return {name inside /packages: path} for all files of these distributions."""
    found = {}
    for dist in closure(packages):
        for file in dist.files or ():
            first = file.parts[0]
            if first not in ("..", "__pycache__") and not first.startswith("_editable"):
                found[first] = Path(dist.locate_file(first)).resolve()
    return {name: path for name, path in found.items() if path.exists()}


NO_CHECKERS = '''"""Replace the checkers in the sandbox: only the judge has them, and it asks for values."""


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
    """Copy our own files into a folder: `inside.py`, `wire.py`, ocolib and ocolab, but not the checkers."""
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


def give_user(process, told, go):
    """Map a second, unprivileged user into the sandbox, because the kernel does not limit root's threads.

    bubblewrap reports the process id of its child and waits; `inside.leave_root` then switches to that user.
    """
    with os.fdopen(told, "rb") as answer, os.fdopen(go, "wb") as start:
        said = answer.read()
        if not said:
            return  # bubblewrap has ended; its own message says why
        child, user = json.loads(said)["child-pid"], 20_000 + process.pid % 40_000
        try:
            for kind in ("uid", "gid"):
                Path(f"/proc/{child}/{kind}_map").write_text(f"0 0 1\n1 {user} 1\n")
        except OSError as error:
            process.kill()
            process.wait()
            raise NoFence(f"root may not become another user ({error.strerror})", ORDINARY) from None
        start.write(b"1")


class Fence:
    """Start programs in the sandbox. Use it in a `with` statement, which removes its temporary files."""

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
        """Prepare the files and the filter, and test the sandbox."""
        folder = Path(self.home.name) / "packages"
        folder.mkdir()
        stage(folder)
        program, standard = python()
        brought = installed(packages)
        for name, path in brought.items():  # mount points, because the folder will be read-only
            (folder / name).mkdir() if path.is_dir() else (folder / name).touch()
        modules = [file for place in standard for file in (place / "lib-dynload").glob("*.so")]
        modules = [file for file in modules if not file.name.startswith(("_tkinter", "_test"))]
        modules += [file for place in brought.values() for file in place.rglob("*.so*") if file.is_file()]
        beside = {path.parent for path in brought.values()}  # packages contain these libraries themselves
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

    def command(self, listed, *users):
        """Return the complete command; `listed` is the file descriptor of the filter.

        For root, `users` are the two file descriptors that `give_user` needs.
        """
        words = [self.program, "--unshare-all", "--unshare-user", "--die-with-parent",
                 "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "fence",
                 "--seccomp", str(listed)]  # fmt: skip
        if users:
            words += ["--info-fd", str(users[0]), "--userns-block-fd", str(users[1])]
            words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            words += ["--disable-userns"]
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            words += ["--setenv", name, "1"]
        places = [Path("/dev/null"), *(target for _, target in self.binds)]
        for folder in sorted({folder for place in places for folder in place.parents} - {Path("/")}):
            words += ["--perms", "0755", "--dir", str(folder)]
        for source, target in self.binds:
            words += ["--ro-bind", str(source), str(target)]
        for place in self.hidden:
            words += ["--size", "4096", "--tmpfs", str(place), "--remount-ro", str(place)]
        for device in ("null", "zero", "urandom"):
            words += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
        words += ["--size", str(ROOM), "--perms", "1777", "--tmpfs", "/tmp", "--chdir", "/tmp"]
        words += ["--remount-ro", "/"]
        return [*words, "--", *self.inside]

    def start(self, stderr=subprocess.DEVNULL):
        """Start the program inside; its standard input and output are pipes to us."""
        ours, theirs = [], [os.open(self.filter, os.O_RDONLY)]
        if os.geteuid() == 0:
            (told, tell), (wait, go) = os.pipe(), os.pipe()
            ours, theirs = [told, go], [*theirs, tell, wait]
        try:
            process = subprocess.Popen(
                self.command(*theirs),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=theirs,
                env={},
                cwd="/",
                bufsize=0,
                start_new_session=True,
            )
        finally:
            for file in theirs:
                os.close(file)
        if ours:
            give_user(process, *ours)
        return process

    def probe(self):
        """Check that the sandbox works on this machine; raise `NoFence` with the reason if not."""
        process = self.start(stderr=subprocess.PIPE)
        try:
            said, wrong = process.communicate(b"{}\nnull\n", timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise NoFence("a program in the sandbox does not answer", ALLOW) from None
        if said.strip() != b'{"ready": true}':
            lines = wrong.decode(errors="replace").strip().splitlines() or ["(no message)"]
            too_old = "nknown option" in lines[-1]
            raise NoFence(f"bubblewrap says “{lines[-1]}”", INSTALL if too_old else ALLOW)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.home.cleanup()
