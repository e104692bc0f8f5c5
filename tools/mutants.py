"""Would the tests notice? Change the package in one place at a time, and run the tests that pass there.

    make mutants                            all; what has not changed since the last run is kept
    make mutants MODULE=ocolib/bounds.py    one module
    make mutants MUTANTS_SAMPLE=60 SEED=1   a random sample

How it is quick: coverage.py has told once which test passes which line. One process imports everything and
collects the tests; for each mutant it forks, and the child gives the functions of the module their mutated
code and runs tests of the changed line (up to 20 seconds of them, or one), first the one that noticed it last
time, then the quickest, until one fails. What no test notices there and no reason explains, and what is no
part of a function (a default, a decorator, a constant of a module), is tried in a child that imports the
mutated module afresh. A test that takes far longer than it should has noticed: an endless loop.

`book/mutants.json` has the counts, which the status page shows; `tests/mutants_explained.yml` the reason why
a survivor is no gap in the tests; `_build/mutants` what is known of each mutant. See `mutations` for what is
changed.
"""

import argparse
import ast
import contextlib
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import signal
import sys
from collections import defaultdict
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from _pytest.runner import runtestprotocol
from mutations import explained, mutants_of

PRELOAD = "numpy scipy.optimize cvxpy matplotlib.pyplot hypothesis sklearn.svm joblib pandas"
WORKERS = 2
ENOUGH = 20.0  # seconds of tests for one mutant
MEMORY = 6 << 30
FOLDER = Path("_build/mutants")
HAS_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
LOOKS_AT_ALL = "tests/test_descriptions.py"  # at every dataclass of ocolib, by introspection
LEFT_OUT = "tests/test_answers.py"  # its first tests prepare each page, and would do so for each mutant

# ---------------------------------------------------------------- which tests pass which line


@cache
def content(path):
    return Path(path).read_bytes()


def digest(*paths):
    """Of what the files held when they were first asked for."""
    return hashlib.sha256(b"".join(map(content, paths))).hexdigest()[:16]


@cache
def alone(test):
    """A digest of a test with all that stands beside it in its file, but the other tests."""
    path, _, name = test.partition("::")
    if not Path(path).exists():
        return "gone"
    tree, own = ast.parse(content(path)), name.partition("[")[0]
    tree.body = [
        node for node in tree.body if not getattr(node, "name", "").startswith("test_") or node.name == own
    ]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


@cache
def meaning(module):
    """A digest of what a module does: neither its comments and docstrings nor its lines count."""
    tree = ast.parse(content(module))
    for node in ast.walk(tree):
        if isinstance(node, HAS_DOCSTRING) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


def pytest_run(files, plugin):
    """Collect the tests of the files and run them with the plugin; what goes to stdout is lost."""
    options = "-q -s -p no:xdist -p no:cacheprovider --rootdir=."
    options += " --assert=plain"  # else pytest reads what has doctests past our loader
    marks = ["-m", "not browser and not long"]
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    return pytest.main([*options.split(), *marks, *map(str, files)], plugins=[plugin])


class Recorder:
    """A plugin that writes down the lines of the package that each test passes, and its time."""

    def __init__(self, package, file):
        import coverage

        self.file, self.times, self.failed = file, {}, ""
        self.coverage = coverage.Coverage(source=package.split(), data_file=None, config_file=False)
        self.coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.coverage.switch_context(item.nodeid)
        before = sum(os.times()[:4])  # of the processor, children included: a busy machine does not count
        yield
        self.times[item.nodeid] = sum(os.times()[:4]) - before
        self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed = f"{report.nodeid} fails without any mutant:\n{report.longreprtext}"

    def pytest_sessionfinish(self):
        self.coverage.stop()
        data, tests = self.coverage.get_data(), list(self.times)
        number, lines = {test: k for k, test in enumerate(tests)}, {}
        for path in sorted(data.measured_files()):
            by_line = data.contexts_by_lineno(path).items()
            lines[os.path.relpath(path)] = {n: [number[c] for c in found if c] for n, found in by_line}
        assert not self.failed, self.failed
        kept = {"times": [round(self.times[t], 4) for t in tests], "tests": tests, "lines": lines}
        self.file.write_text(json.dumps(kept))


def sources_of(packages):
    """The modules of packages whose names are given in one line."""
    return sorted(path for name in packages.split() for path in Path(name).rglob("*.py"))


def record(package, files):
    """{module: {line: {test}}} and {test: seconds}; tests are run again only if something has changed."""
    sources = sources_of(package)
    beside = {p for file in files for p in file.parent.glob("*.py") if not p.name.startswith("test_")}
    helpers = sorted(beside - set(files) - set(sources))
    common, jobs = digest(*sources, *helpers), {}
    for file in files:
        name = f"{file.as_posix().replace('/', '-')}-{digest(file)}-{common}.json"
        jobs[file] = FOLDER / "coverage" / name
    stale = [file for file, kept in jobs.items() if not kept.exists()]
    tasks = [lambda file=file: pytest_run([file], Recorder(package, jobs[file])) for file in stale]
    for task, (ended, said) in forked(tasks):
        if not jobs[stale[task]].exists():
            sys.exit(f"the tests of {stale[task]} do not pass (status {ended}): {said}")
        print(f"recorded {stale[task]}", flush=True)
    lines, times = defaultdict(lambda: defaultdict(set)), {}
    for kept in jobs.values():
        data = json.loads(kept.read_text())
        times.update(zip(data["tests"], data["times"], strict=True))
        for module, found in data["lines"].items():
            for line, tests in found.items():
                lines[module][int(line)].update(data["tests"][k] for k in tests)
    return lines, times


# ---------------------------------------------------------------- one mutant, one child


def forked(tasks):
    """(number, (exit status, what it wrote)) of each task, as they end: `WORKERS` children at a time."""
    running, waiting = {}, list(enumerate(tasks))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < WORKERS:
                number, task = waiting.pop()
                reading, writing = os.pipe()
                pid = os.fork()
                if pid == 0:
                    os.close(reading)
                    child(task, writing)
                os.close(writing)
                running[pid] = number, reading
            pid, status = os.wait()
            end(pid)  # what the tests have started and left
            number, reading = running.pop(pid)
            with open(reading) as pipe:
                yield number, (os.waitstatus_to_exitcode(status), pipe.read())
    finally:
        for pid in running:
            end(pid)


def end(pid):
    """End the child and all of its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def child(task, writing):
    """Run the task, write what it returns or raises, and end here."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told us to ignore it
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))  # a browser reserves more than it uses
    status = 70
    try:
        os.write(writing, str(task()).encode())
        status = 0
    except BaseException as error:
        os.write(writing, f"{type(error).__name__}: {error}".encode()[:2000])
    finally:
        os._exit(status)


def file_of(test):
    return test.partition("::")[0]


def first_failure(items, times):
    """The first test that fails, or an empty string. One that takes too long ends the process."""
    slowest = defaultdict(float)  # of a file: what its tests share is made by the one that comes first
    for test, seconds in times.items():
        slowest[file_of(test)] = max(slowest[file_of(test)], seconds)
    for item, after in zip(items, [*items[1:], None], strict=True):
        usual = 10 * times.get(item.nodeid, 0.0) + 2 * slowest[file_of(item.nodeid)]
        signal.setitimer(signal.ITIMER_PROF, 5 + usual)  # of the processor; by the clock, if it sleeps:
        signal.setitimer(signal.ITIMER_REAL, 60 + 3 * usual)
        if any(report.failed for report in runtestprotocol(item, nextitem=after, log=False)):
            return item.nodeid
    return ""


class InPlace:
    """A plugin that tries mutants of functions in children of the process that has collected the tests."""

    def __init__(self, mutants, chosen, times, said):
        self.mutants, self.chosen, self.times, self.said = mutants, chosen, times, said

    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        live = defaultdict(list)
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                live[thing.__code__.co_filename].append(thing)

        def attempt(mutant):
            path = os.path.abspath(mutant.module)
            codes = dict(codes_of(compile(mutant.tree(), path, "exec", dont_inherit=True)))
            for function in live[path]:
                function.__code__ = codes.get(name_of(function.__code__), function.__code__)
            return first_failure([items[test] for test in self.chosen[mutant] if test in items], self.times)

        self.control(sorted(items.values(), key=lambda item: self.times.get(item.nodeid, 0.0)))
        tasks = [lambda mutant=mutant: attempt(mutant) for mutant in self.mutants]
        for number, ended in forked(tasks):
            self.said(self.mutants[number], *ended)
        return True

    def control(self, items):
        """Without a mutant the first tests, `ENOUGH` seconds of them, pass in this order and in a child."""
        for _, (status, said) in forked([lambda: first_failure(enough(items, self.times), self.times)]):
            if status or said:
                print(f"fails without any mutant when the quickest comes first: {said}", file=sys.stderr)
                os._exit(1)


def enough(tests, times):
    """The first of these tests (items or their names), up to `ENOUGH` seconds of them, but at least one."""
    spent = 0.0
    for count, test in enumerate(tests):
        spent += times.get(getattr(test, "nodeid", test), 0.0)
        if spent > ENOUGH and count:
            return tests[:count]
    return tests


def name_of(code):
    """(qualified name, first line, column): two lambdas may stand in one line."""
    first = code.co_firstlineno
    columns = [left for line, _, left, right in code.co_positions() if line == first and right]
    return code.co_qualname, first, min(columns, default=0)


def codes_of(code):
    """(its name, code) of a module and of all that is defined in it."""
    yield name_of(code), code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


class Afresh:
    """A plugin that runs the chosen tests of a process that imports the mutated module."""

    def __init__(self, mutant, chosen, times):
        self.chosen, self.times, self.failed = {t: k for k, t in enumerate(chosen)}, times, "at its import"
        path, tree, usual = os.path.abspath(mutant.module), mutant.tree(), SourceFileLoader.get_code

        def get_code(loader, name):
            mine = loader.path == path
            return compile(tree, path, "exec", dont_inherit=True) if mine else usual(loader, name)

        SourceFileLoader.get_code = get_code

    def pytest_runtestloop(self, session):
        items = [item for item in session.items if item.nodeid in self.chosen]
        items.sort(key=lambda item: self.chosen[item.nodeid])
        if not session.testsfailed:
            self.failed = first_failure(items, self.times)
        return True


def afresh(mutant, chosen, times):
    signal.setitimer(signal.ITIMER_PROF, 60)  # an import may be endless too
    plugin = Afresh(mutant, chosen, times)
    pytest_run(dict.fromkeys(file_of(test) for test in chosen), plugin)
    return plugin.failed


# ---------------------------------------------------------------- all of them


class Results:
    """What is known of each mutant: a line for each outcome that was found, the last one counts."""

    def __init__(self):
        self.file, self.known = FOLDER / "results.jsonl", {}
        if self.file.exists():
            for line in self.file.read_text("utf8").splitlines():
                entry = json.loads(line)
                self.known[entry["key"]] = entry

    def mark(self, mutant, by, chosen):
        """What a result hangs on: the module, and the test that noticed, else the files of those chosen."""
        if "::" in by:
            return meaning(mutant.module) + "-" + alone(by)
        files = {file_of(test) for test in chosen}
        return meaning(mutant.module) + "-" + digest(*sorted(files)) + ("" if by else f"-{len(chosen)}")

    def get(self, mutant, chosen):
        """The outcome, if nothing that it hangs on has changed since it was found; else None."""
        entry = self.known.get(mutant.key)
        if entry and entry["mark"] == self.mark(mutant, entry["by"], chosen):
            return entry["outcome"]
        return None

    def noticed(self, mutant):
        """What noticed the mutant when it was last tried, most often a test; empty if none is named."""
        return self.known.get(mutant.key, {}).get("by", "")

    def put(self, mutant, chosen, outcome, by=""):
        entry = {"key": mutant.key, "outcome": outcome, "by": by, "mark": self.mark(mutant, by, chosen)}
        self.known[mutant.key] = entry
        with self.file.open("a", encoding="utf8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def choose(mutant, lines, times, before=""):
    """The tests that pass the mutant's lines, and those that look at all if it is in no function, up to
    `ENOUGH` seconds: first the one that noticed the mutant `before` something changed, then the quickest."""
    first, last = mutant.lines
    found = set().union(*(lines[mutant.module][n] for n in range(first, last + 1)))
    if not mutant.inside:  # a decorator is passed by nobody
        found |= {test for test in times if test.startswith(LOOKS_AT_ALL)}
    return enough(sorted(found, key=lambda test: (test != before, times[test], test)), times)


def judge(status, said):
    """(outcome, by): a child that ended by a signal ran into its time limit, or crashed."""
    if status < 0:
        return "endless", ""
    if status:  # pytest itself broke on the mutant
        return "killed", f"outside of any test: {said}"
    return ("killed", said) if said else ("survived", "")


def run(package, files, mutants, reasons):
    """{mutant: outcome}; what is in a function is tried in place, if it has to be; what is left and not
    explained, afresh."""
    (FOLDER / "coverage").mkdir(parents=True, exist_ok=True)
    lines, times = record(package, files)
    results = Results()
    chosen = {mutant: choose(mutant, lines, times, results.noticed(mutant)) for mutant in mutants}
    todo = [mutant for mutant in mutants if results.get(mutant, chosen[mutant]) is None]
    for mutant in [mutant for mutant in todo if not chosen[mutant]]:
        results.put(mutant, [], "untested")
        todo.remove(mutant)
    print(f"{len(mutants)} mutants, {len(todo)} of them to try", flush=True)

    def said(mutant, status, text):
        outcome, by = judge(status, text)
        if outcome == "endless" or (outcome == "killed" and by in times):
            results.put(mutant, chosen[mutant], outcome, by)

    inside = [mutant for mutant in todo if mutant.inside]
    if inside and os.fork() == 0:  # this process stays without the package
        used = sorted({file_of(test) for mutant in inside for test in chosen[mutant]})
        pytest_run(used, InPlace(inside, chosen, times, said))
        os._exit(0)
    if inside and os.wait()[1]:
        sys.exit("the tests could not be run in place")
    results = Results()
    for mutant in [mutant for mutant in inside if mutant.key in reasons]:
        if results.get(mutant, chosen[mutant]) is None:
            results.put(mutant, chosen[mutant], "survived")
    todo = [mutant for mutant in todo if results.get(mutant, chosen[mutant]) is None]
    print(f"{len(todo)} to try afresh", flush=True)
    tasks = [lambda mutant=mutant: afresh(mutant, chosen[mutant], times) for mutant in todo]
    for number, ended in forked(tasks):
        results.put(todo[number], chosen[todo[number]], *judge(*ended))
    return {mutant: results.get(mutant, chosen[mutant]) for mutant in mutants}


def known(mutants):
    """{mutant: outcome} without trying any: what a test noticed, if it and the module are still the same.

    The rest counts as survived, unless it is known that no test passes it.
    """
    results = Results()
    return {mutant: results.get(mutant, []) or "survived" for mutant in mutants}


def counts(outcomes, reasons, modules):
    """{module: {mutants, killed, explained}}."""
    found = {module: {"mutants": 0, "killed": 0, "explained": 0} for module in modules}
    for mutant, outcome in outcomes.items():
        row, killed = found[mutant.module], outcome in ("killed", "endless")
        row["mutants"] += 1
        row["killed"] += killed
        row["explained"] += not killed and mutant.key in reasons
    return found


def imports(file, package):
    """Does a file of tests import the package?"""
    nodes = list(ast.walk(ast.parse(file.read_text("utf8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] in package.split() for name in names)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--package", default="ocolib ocolab")
    parser.add_argument("--module", action="append", help="only this file; again for more")
    parser.add_argument("--tests", default="tests/test_*.py", help="only these files of tests, and doctests")
    parser.add_argument("--sample", type=int, help="only so many, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--known", action="store_true", help="try nothing, count what is known")
    parser.add_argument("--preload", default=PRELOAD, help="what to import before anything else")
    options = parser.parse_args(arguments)
    sys.path.insert(0, os.getcwd())
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # what is compiled is traced and changed as Python
    for name in options.preload.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    modules = [path.as_posix() for path in sources_of(options.package)]
    mutants = [mutant for module in options.module or modules for mutant in mutants_of(module)]
    if options.sample:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    found = [file for pattern in options.tests.split() for file in sorted(Path().glob(pattern))]
    files = [file for file in found if imports(file, options.package) and file.as_posix() != LEFT_OUT]
    files += [path for module in modules if ">>>" in (path := Path(module)).read_text("utf8")]
    reasons = explained(Path("tests/mutants_explained.yml"))
    outcomes = known(mutants) if options.known else run(options.package, files, mutants, reasons)
    for mutant, outcome in outcomes.items():
        if outcome in ("survived", "untested") and mutant.key not in reasons:
            print(f"{outcome}  {mutant.module}:{mutant.lines[0]}  {mutant.where}: {mutant.change}")
    rows = counts(outcomes, reasons, options.module or modules)
    for module, row in rows.items():
        print("{:32} killed {killed:4} of {mutants:4}, {explained} explained".format(module, **row))
    print("killed {killed} of {mutants}, {explained} explained".format(**total(rows)))
    if not options.sample:
        keep(rows, modules)


def total(rows):
    return {name: sum(row[name] for row in rows.values()) for name in ("mutants", "killed", "explained")}


def keep(rows, modules):
    """Write the counts of these modules beside those of the others; a module that is gone is forgotten."""
    file = Path("book/mutants.json")
    before = json.loads(file.read_text("utf8"))["modules"] if file.exists() else {}
    rows = {module: row for module, row in sorted((before | rows).items()) if module in modules}
    file.write_text(json.dumps({"total": total(rows), "modules": rows}, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
