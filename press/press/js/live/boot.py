"""Run the cells of a page in the reader's browser and report the results.

The worker calls `run(source, name, exercise, above, setting)`. All that a cell has to say goes through
`post(kind, text)`: stdout, warning, error, text or html (the last value), capped, and
as JSON chain, figure, verdict and room.
"""

import ast
import builtins
import difflib
import functools
import inspect
import io
import json
import linecache
import re
import sys
import time
import traceback
import warnings
from types import SimpleNamespace

import live_svgplot as svgplot
from js_live import post  # the worker's side

LIMIT = 100_000  # characters a run may write; the rest is counted, not kept
FRAMES = 8  # of a long traceback
ABSENT = {
    "cvxpy": "solver cvxpy",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "IPython": "IPython",
}
namespace = {"__name__": "__main__"}

# What a book may add to, in `adapt(runtime)` of its hook: `runtime` is this module.
packages = "NumPy"  # what cells can import, in words
by_asserts = True  # an exercise without a checker is right when its asserts hold
advisers = []  # of an error, a sentence that helps, or ""
viewers = []  # of a value that is shown, (kind, text) for the page, or None


class Stream:
    """Text on its way to the page, in pieces of up to a tenth of a second."""

    encoding = "utf-8"

    def __init__(self, kind):
        self.kind, self.pending, self.room, self.sent = kind, [], LIMIT, 0.0

    def write(self, text):
        text = str(text)
        if self.room > 0:
            self.pending.append(text[: self.room])
        was, self.room = self.room, self.room - len(text)
        if self.room <= 0 < was:
            self.flush()
            post(
                "capped",
                f"Output stops here, after {LIMIT:,} characters; the cell went on.",
            )
        elif time.monotonic() - self.sent > 0.1:
            self.flush()
        return len(text)

    def flush(self):
        if self.pending:
            post(self.kind, "".join(self.pending))
            self.pending.clear()
        self.sent = time.monotonic()

    def isatty(self):
        return False


def run(source, name, exercise, above=None, setting="{}"):
    """Execute one cell: "ok", "error" or "stopped".

    It runs in the page's namespace; an answer, for which `above` lists the printed cells
    above it as JSON, [[number, source], …], in a clean room. `setting` is JSON too: how
    wide a figure may be, in pixels, and imports of a figure from cells that do not run here.
    """
    global answering
    answering, setting = exercise, json.loads(setting)
    svgplot.figures.clear()
    svgplot.width = min(460.8, max(255.0, 0.75 * setting.get("width", 640)))  # pixels to points
    sys.stdout, sys.stderr = Stream("stdout"), Stream("warning")
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = functools.partial(show_warning, name)
            if above is None:
                exec(setting.get("prelude", ""), namespace)
                execute(source, name, namespace)
            else:
                answer(source, name, json.loads(above))
                judge(source)
        return "ok"
    except BaseException as error:  # a reader's cell may raise anything; the page must go on
        sys.stdout.flush()
        if answering:
            judge(source, error)
            if by_asserts and isinstance(error, AssertionError):
                return "ok"  # the verdict says all
        post("error", explain(error, name))
        return "stopped" if isinstance(error, KeyboardInterrupt) else "error"
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        tell_verdicts()


def execute(source, name, namespace):
    """As in a notebook: the value of a last expression is shown."""
    tree = ast.parse(source, name)
    last = tree.body[-1] if tree.body else None
    shown = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
    body = ast.Module(tree.body[:-1] if shown else tree.body, type_ignores=[])
    exec(compile(body, name, "exec"), namespace)
    if shown:
        display(eval(compile(ast.Expression(last.value), name, "eval"), namespace))


def answer(source, name, above):
    """Run an answer after those printed cells alone that it builds on, or that import.

    What a reader has changed elsewhere, or left behind, does not touch the verdict. The
    page is told which cells the answer builds on; afterwards its names are there for the
    other cells.
    """
    from live_depends import dependencies, imports_of, names_of, unchecked

    ast.parse(source, name)  # a slip of the pen is told before anything runs
    needs = dependencies([*(code for _, code in above), source], set())
    wanted = set(needs[-1])
    used = names_of(source).used.union(*(names_of(above[place - 1][1]).used for place in wanted))
    post("room", json.dumps([above[place - 1][0] for place in needs[-1]]))
    room, said = {"__name__": "__main__"}, sys.stdout
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.stdout = io.StringIO()
        try:
            for place, (number, code) in enumerate(above, 1):
                code = ast.Module(unchecked(code, used), []) if place in wanted else imports_of(code)
                exec(compile(code, f"<cell {number}>", "exec"), room)
        finally:
            sys.stdout = said
    execute(source, name, room)
    for word in names_of(source).bound:
        if word in room:
            namespace[word] = room[word]


def needs(source, cells):
    """Which of the cells, [[number, source], …] as JSON, this code builds on, with those that import."""
    from live_depends import dependencies, names_of

    cells = json.loads(cells)
    needed = dependencies([*(code for _, code in cells), source], set())
    wanted = set(needed[-1])
    for place, (_, code) in enumerate(cells, 1):
        if names_of(code).imported:
            wanted |= {place, *needed[place - 1]}
    return json.dumps([cells[place - 1][0] for place in sorted(wanted)])


def members(path):
    """What stands behind a dotted path of names, as JSON [[name, kind], …]; no property is called for it."""
    first, *rest = path.split(".")
    found = namespace.get(first)
    for name in rest:
        found = inspect.getattr_static(found, name, None)
    names = [] if found is None else [name for name in dir(found) if not name.startswith("_")]
    return json.dumps([[name, kind(inspect.getattr_static(found, name, None))] for name in names])


def kind(value):
    """What an editor calls it."""
    if inspect.ismodule(value):
        return "namespace"
    return "class" if isinstance(value, type) else "function" if callable(value) else "property"


def forget():
    """All variables of the page go."""
    namespace.clear()
    namespace["__name__"] = "__main__"


def display(*values):
    """Show values as a notebook does: as HTML where they have it, else as text."""
    sys.stdout.flush()
    for value in values:
        if value is None:
            continue
        if not isinstance(value, type) and hasattr(value, "_repr_html_"):
            post("html", value._repr_html_()[:LIMIT])
        else:
            post("text", short(repr(value)))
        for view in viewers:
            if (seen := view(value)) is not None:
                post(*seen)


def short(text):
    return text if len(text) <= LIMIT else text[:LIMIT] + f"\n… {len(text) - LIMIT:,} more characters"


# ------------------------------------------------ errors and warnings in words


def show_warning(name, message, category, filename, lineno, file=None, line=None):
    where = f"Line {lineno}: " if filename == name else ""
    sys.stdout.flush()
    sys.stderr.write(f"{where}{category.__name__}: {message}\n")
    sys.stderr.flush()


def explain(error, name):
    """The error from the reader's own line on: where, the line, the calls, then why."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return explain_syntax(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_ours(frame)]
    while frames and not frames[0].filename.startswith("<cell "):
        frames.pop(0)
    lines = [text for frame in shortened(frames) for text in told(frame, name)]
    advice = advise(error)
    return "\n".join([*lines, headline(error), *([advice] if advice else [])])


def is_ours(frame):
    """A step of this file, or of code that has no lines to show."""
    return frame.filename == __file__ or frame.filename == "<string>"


def explain_syntax(error):
    lines = [f"Line {error.lineno} of this cell"]
    if error.text:
        code = error.text.rstrip("\n")
        lines += [
            f"    {code.strip()}",
            "    " + " " * (error.offset - 1 - (len(code) - len(code.lstrip()))) + "^",
        ]
    return "\n".join([*lines, f"{type(error).__name__}: {error.msg}"])


def headline(error):
    if isinstance(error, KeyboardInterrupt):
        return "Stopped. All variables are kept."
    if isinstance(error, SystemExit):
        return "SystemExit: the cell asked Python to end. The page goes on."
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return short(text.removeprefix("builtins."))[:4000]


def shortened(frames):
    """A deep recursion needs its first and last calls only."""
    if len(frames) <= 2 * FRAMES:
        return frames
    return [*frames[:FRAMES], len(frames) - 2 * FRAMES, *frames[-FRAMES:]]


def told(frame, name):
    if isinstance(frame, int):
        return [f"    … {frame:,} more calls …"]
    if frame.filename == name:
        place = f"Line {frame.lineno} of this cell"
    elif frame.filename.startswith("<cell "):
        place = f"Line {frame.lineno} of {frame.filename.strip('<>')}"
    else:
        place = f"{frame.filename.rpartition('site-packages/')[2]}, line {frame.lineno}"
    if not frame.name.startswith("<"):
        place += f", in {frame.name}"
    return [place, f"    {frame.line}"] if frame.line else [place]


def advise(error):
    """A sentence that helps, for what goes wrong in a browser."""
    if isinstance(error, ModuleNotFoundError):
        module, _, part = (error.name or "").partition(".")
        if module == "matplotlib" and part:
            return f"The browser draws with a small part of matplotlib, without {part}."
        what = ABSENT.get(module, f"package “{module}”")
        return f"There is no {what} in the browser: this page has {packages}."
    if isinstance(error, MemoryError):
        return "The browser has no more memory: try fewer rounds or a smaller array."
    if isinstance(error, RecursionError):
        return "A function calls itself without end, or too deep for the browser."
    if type(error) is AssertionError and not error.args:
        return failed_check(error)
    near = next((words for words in (adviser(error) for adviser in advisers) if words), "")
    if isinstance(error, NameError) and getattr(error, "name", None) and not near:
        return "Is it defined in a cell above? Cells above run first if they have not run."
    return near or likely_cause(error)


def likely_cause(error):
    """What the values on the reader's line say about the error, or nothing."""
    text = str(error)
    if missing := re.match(r"cannot import name '(\w+)' from '([\w.]+)'", text):
        near = difflib.get_close_matches(missing[1], dir(sys.modules.get(missing[2])), 1)
        return f"Did you mean {near[0]}?" if near else ""
    values = [(name, value) for name, value in values_on_line(error) if not callable(value)]
    if "NoneType" in text:
        nothing = " and ".join(name for name, value in values if value is None) or "Something on this line"
        return f"{nothing} is None: a function that does not return anything gives None."
    if isinstance(error, ValueError) and re.search("core dimension|broadcast|not aligned", text):
        shapes = [f"{name} has shape {value.shape}" for name, value in values if hasattr(value, "shape")]
        return "The shapes do not fit: " + ", ".join(shapes) + "." if shapes else ""
    if isinstance(error, IndexError):
        lengths = [f"{name} has {len(value)} entries" for name, value in values if hasattr(value, "__len__")]
        return ", ".join(lengths) + "; the first has number 0." if lengths else ""
    if isinstance(error, KeyError):
        keys = [f"{name} has {short_line([*value])}" for name, value in values if isinstance(value, dict)]
        return ", ".join(keys) + "." if keys else ""
    return ""


def values_on_line(error):
    """The names on the innermost line of a cell, with their values."""
    step, found = error.__traceback__, None
    while step:
        if step.tb_frame.f_code.co_filename.startswith("<cell "):
            found = step
        step = step.tb_next
    if found is None:
        return []
    frame = found.tb_frame
    line = linecache.getline(frame.f_code.co_filename, found.tb_lineno)
    known = frame.f_globals | frame.f_locals
    return [(name, known[name]) for name in dict.fromkeys(re.findall(r"\b[^\W\d]\w*", line)) if name in known]


def failed_check(error):
    """What an assert without a message compared, and that a change above may be the cause."""
    step = error.__traceback__
    while step.tb_next:
        step = step.tb_next
    frame, line = step.tb_frame, step.tb_lineno
    advice = "A check does not hold any more: look at what was changed, here or in a cell above."
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
        (check,) = [
            n for n in ast.walk(tree) if isinstance(n, ast.Assert) and n.lineno <= line <= n.end_lineno
        ]
        facts = [f"    {ast.unparse(part)}  is  {value}" for part, value in sides(check.test, frame)]
    except Exception:  # to say more is a courtesy
        return advice
    return "\n".join([*facts, advice])


def sides(test, frame):
    """The two sides of the comparison that failed, with their values; what is a number stands for itself."""

    def value(part):
        code = compile(ast.Expression(part), "<check>", "eval")
        return eval(code, frame.f_globals, frame.f_locals)

    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        test = next(part for part in test.values if not value(part))
    parts = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    return [(part, short_line(value(part))) for part in parts if not isinstance(part, ast.Constant)]


def short_line(value):
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else text[:200] + " …"


# ------------------------------------------------ checkers that answer in the page

verdicts, answering = [], False


def hear(verdict):
    """A verdict: in an exercise the page shows it, elsewhere it is printed."""
    if answering:
        verdicts.append({key: fact for key, fact in vars(verdict).items() if fact is not None})
    else:
        print(verdict)


def judge(source, error=None):
    """Where no checker spoke, the asserts of an exercise do: all hold, or the first that fails says why."""
    if by_asserts and isinstance(error, AssertionError):
        hear(SimpleNamespace(passed=False, message=str(error) or headline(error)))
    elif error is not None:
        hear(SimpleNamespace(passed=False, message=f"The check did not finish: {headline(error)}"))
    elif by_asserts and not verdicts and any(isinstance(n, ast.Assert) for n in ast.walk(ast.parse(source))):
        hear(SimpleNamespace(passed=True, message="right: every check of this cell holds"))


def tell_verdicts():
    for verdict in verdicts:
        post("verdict", json.dumps(verdict))
    verdicts.clear()


# ------------------------------------------------ what a worker cannot do


def no_input(prompt=""):
    raise RuntimeError("a cell in the browser cannot ask for input: write the value into the code")


def patient_sleep(seconds, *, nap=time.sleep):
    """Sleep in short naps, so that Stop is heard."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        nap(min(left, 0.05))


def mend_poisson():
    """NumPy's own Poisson numbers end this Python, a fault of its build.

    These are the same, number by number, by its own method for small means.
    """
    import math

    import numpy as np

    def draw(uniform, lam):
        if not 0 <= lam < 10:
            raise ValueError(f"in the browser lam must be at least 0 and below 10, got {lam}")
        product, count = 1.0, 0
        while lam > 0:
            product *= uniform()
            if product <= math.exp(-lam):
                break
            count += 1
        return count

    class Generator(np.random.Generator):
        def poisson(self, lam=1.0, size=None):
            shape = np.shape(lam) if size is None else size
            lams = np.broadcast_to(np.asarray(lam, dtype=float), shape)
            drawn = [draw(self.random, rate) for rate in lams.ravel()]
            return np.array(drawn, dtype=np.int64).reshape(lams.shape)[()] if lams.ndim else drawn[0]

    plain = np.random.default_rng

    def default_rng(seed=None):
        if isinstance(seed, np.random.Generator):
            return seed
        return Generator(plain(seed).bit_generator)

    np.random.default_rng = default_rng


def adapt():
    """Once, before the first cell: what differs from Python elsewhere."""
    mend_poisson()
    svgplot.install(post)
    builtins.input, builtins.display, time.sleep = no_input, display, patient_sleep
    import live_hook

    if hasattr(live_hook, "adapt"):
        live_hook.adapt(sys.modules[__name__])
