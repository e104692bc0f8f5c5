"""Check every proof with Coq: `python formal/check.py [--theory] [--coqchk]`.

Copies `formal/*.v` to `_build/formal`, writes the stored certificates as Coq files beside them, compiles what
has changed, and asks Coq which axioms the theorems use. It fails if a file does not compile, if anything is
admitted without proof, or if an axiom is not listed in `formal/assumptions.txt`. `--theory` leaves out the
certificates; `--coqchk` also runs Coq's second, independent checker on the compiled theory.
"""

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import generate

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "_build" / "formal"
#: names in Coq's library change between versions
VERSION = "8.16"
#: commands with which a Coq file could assume what it should prove
FORBIDDEN = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|bypass_check|Unset Guard Checking)\b"
)
STATEMENT = re.compile(r"^(?:Theorem|Lemma|Corollary) ([\w']+)", re.MULTILINE)


def bare(text: str) -> str:
    """Return a Coq text without its comments."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif not depth:
            kept.append(part)
    return "".join(kept)


def sources(stored: bool = True) -> dict[str, str]:
    """Return {module: text}, ordered such that imports come first."""
    texts = {path.stem: path.read_text("utf8") for path in HERE.glob("*.v")}
    if stored:
        texts |= {name[:-2]: text for name, text in generate.files(generate.cert.stored()).items()}
    ordered: dict[str, str] = {}
    while texts:
        ready = [name for name in sorted(texts) if all(used not in texts for used in imports(texts[name]))]
        if not ready:
            raise ValueError(f"these files import each other in a circle: {', '.join(texts)}")
        for name in ready:
            ordered[name] = texts.pop(name)
    return ordered


def imports(text: str) -> list[str]:
    """Return our own modules that a file imports."""
    return [
        name for line in re.findall(r"From Formal Require Import ([^.]*)\.", text) for name in line.split()
    ]


def statements(text: str) -> list[str]:
    """Return the names of the theorems, lemmas and corollaries of a file."""
    return STATEMENT.findall(bare(text))


def coq(program: str, *arguments: str) -> str:
    """Run a Coq program in the build folder and return its output; exit with its error if it fails."""
    done = subprocess.run([program, *arguments], cwd=BUILD, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{program} {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def unusable() -> str:
    """Return why no proof can be checked here; empty if proofs can be checked."""
    if shutil.which("coqc") is None:
        return "Coq is not installed (Debian 12: apt install coq)"
    version = coq_version()
    if not version.startswith(VERSION) and not os.environ.get("OCOLIB_ANY_COQ"):
        return f"The proofs need Coq {VERSION}, this is {version} (OCOLIB_ANY_COQ=1 tries it anyway)"
    return ""


def coq_version() -> str:
    """Return the version of the installed Coq."""
    done = subprocess.run(["coqc", "--print-version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


@contextmanager
def locked() -> Iterator[None]:
    """Allow only one build at a time, because tests may start it from several processes."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compile_one(name: str, text: str, key: str, after: list[Future]) -> bool:
    """Compile a module unless it was already compiled from the same text and imports."""
    for future in after:
        future.result()
    source, made, stamp = BUILD / f"{name}.v", BUILD / f"{name}.vo", BUILD / f".{name}.key"
    if made.exists() and stamp.exists() and stamp.read_text() == key:
        return False
    source.write_text(text, "utf8")
    coq("coqc", "-q", "-Q", ".", "Formal", source.name)
    stamp.write_text(key)
    return True


def build(stored: bool = True, jobs: int = 2) -> dict[str, str]:
    """Compile all modules; return {module: text}."""
    version = coq_version()
    with locked():
        texts, keys = sources(stored), {}
        futures: dict[str, Future] = {}
        with ThreadPoolExecutor(jobs) as pool:
            for name, text in texts.items():
                used = imports(text)
                keys[name] = hashlib.sha256(
                    (version + text + "".join(keys[u] for u in used)).encode()
                ).hexdigest()
                futures[name] = pool.submit(compile_one, name, text, keys[name], [futures[u] for u in used])
        for future in futures.values():
            future.result()
    return texts


def assumptions(texts: dict[str, str]) -> set[str]:
    """Return the names of all axioms that the statements of these modules depend on."""
    names = [f"Formal.{module}.{name}" for module, text in texts.items() for name in statements(text)]
    lines = [f"From Formal Require {' '.join(texts)}."]
    # one term that contains every proof, so that Coq traverses the library only once
    lines += ["Definition everything : True :=", *(f"  let _ := @{name} in" for name in names), "  I."]
    with locked():
        (BUILD / "Assumptions.v").write_text("\n".join([*lines, "Print Assumptions everything.", ""]))
        printed = coq("coqc", "-q", "-Q", ".", "Formal", "Assumptions.v")
    if "Closed under the global context" in printed:
        return set()
    return set(re.findall(r"^([\w.']+)\s*(?::|$)", printed.split("Axioms:", 1)[1], re.MULTILINE))


def allowed() -> set[str]:
    """Return the axioms that we accept: those of the standard library's real numbers."""
    lines = (HERE / "assumptions.txt").read_text("utf8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def main() -> int:
    """Check all proofs and print a summary; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--theory", action="store_true", help="leave the stored certificates out")
    parser.add_argument("--coqchk", action="store_true", help="check the compiled theory a second time")
    arguments = parser.parse_args()
    if missing := unusable():
        print(f"\n*** {missing}: NO PROOF WAS CHECKED ***\n", file=sys.stderr)
        return 1 if os.environ.get("OCOLIB_REQUIRE_COQ") else 0
    began = time.perf_counter()
    texts = build(not arguments.theory, int(os.environ.get("FORMAL_JOBS", "2")))
    for name, text in texts.items():
        if found := FORBIDDEN.search(bare(text)):
            print(f"{name}.v contains {found[0]}: something is assumed or left unproved", file=sys.stderr)
            return 1
    found, known = assumptions(texts), allowed()
    if found != known:
        print("Assumed, but not in formal/assumptions.txt:", *sorted(found - known), file=sys.stderr)
        print("In formal/assumptions.txt, but not assumed:", *sorted(known - found), file=sys.stderr)
        return 1
    if arguments.coqchk:
        theory = [name for name in texts if (HERE / f"{name}.v").exists()]
        coq("coqchk", "-silent", "-o", "-Q", ".", "Formal", *(f"Formal.{name}" for name in theory))
    names = [name for text in texts.values() for name in statements(text)]
    certificates = sum(name.startswith("certificate_") for name in names)
    comparisons = sum(name.startswith("eager_worse_") for name in names)
    print(
        f"Coq: {len(names) - certificates - comparisons} theorems and lemmas, {certificates} certificates, "
        f"{comparisons} comparisons, {len(known)} assumptions, all known; {time.perf_counter() - began:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
