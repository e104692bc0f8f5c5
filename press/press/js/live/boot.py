"""Run the cells of a page in the reader's browser and report the results.

The worker (worker.js) calls `run(source, name, exercise, above, setting)`. Results go to the page by
`post(kind, text)`, where kind is stdout, warning, error, text or html (the last value), capped; and, as JSON,
chain, figure, verdict and room.
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
from js_live import post  # defined in worker.js

LIMIT = 100_000  # characters that a run may write; the rest is dropped
FRAMES = 8  # shown at each end of a long traceback
ABSENT = {
    "cvxpy": "solver cvxpy",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "IPython": "IPython",
}
namespace = {"__name__": "__main__"}

# A book may change these in `adapt(runtime)` of its hook, where `runtime` is this module.
packages = "NumPy"  # what cells can import, in words
by_asserts = True  # an exercise without a checker is right when its asserts hold
advisers = []  # functions: error -> a helpful sentence, or ""
viewers = []  # functions: value that is shown -> (kind, text) for the page, or None


class Stream:
    """A text stream to the page, sent in pieces at most every tenth of a second."""

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
                f"Output stops here, after {LIMIT:,} characters; the cell kept running.",
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
    """Execute one cell; return "ok", "error" or "stopped".

    A cell runs in the namespace of the page. An answer runs in a fresh namespace instead: then `above` lists
    the printed cells above it as JSON, [[number, source], …]. `setting` is JSON with `width`, the width of a
    figure in pixels, and `prelude`, the imports that a figure takes from cells that do not run here.
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
    except BaseException as error:  # a cell may raise anything; the page must keep working
        sys.stdout.flush()
        if answering:
            judge(source, error)
            if by_asserts and isinstance(error, AssertionError):
                return "ok"  # the verdict has the message
        post("error", explain(error, name))
        return "stopped" if isinstance(error, KeyboardInterrupt) else "error"
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        tell_verdicts()


def execute(source, name, namespace):
    """Execute the source and display the value of a last expression, as in a notebook."""
    tree = ast.parse(source, name)
    last = tree.body[-1] if tree.body else None
    shown = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
    body = ast.Module(tree.body[:-1] if shown else tree.body, type_ignores=[])
    exec(compile(body, name, "exec"), namespace)
    if shown:
        display(eval(compile(ast.Expression(last.value), name, "eval"), namespace))


def answer(source, name, above):
    """Run an answer after only those printed cells that it builds on, and the imports of the others.

    What the reader has changed elsewhere does not affect the verdict. The page is told which cells the answer
    builds on; afterwards the other cells can use its names.
    """
    from live_depends import dependencies, imports_of, names_of, unchecked

    ast.parse(source, name)  # report a syntax error before anything runs
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
    """Return the cells, of [[number, source], …] as JSON, that this code builds on or that import."""
    from live_depends import dependencies, names_of

    cells = json.loads(cells)
    needed = dependencies([*(code for _, code in cells), source], set())
    wanted = set(needed[-1])
    for place, (_, code) in enumerate(cells, 1):
        if names_of(code).imported:
            wanted |= {place, *needed[place - 1]}
    return json.dumps([cells[place - 1][0] for place in sorted(wanted)])


def members(path):
    """Return the attributes of a dotted path as JSON [[name, kind], …], without evaluating properties."""
    first, *rest = path.split(".")
    found = namespace.get(first)
    for name in rest:
        found = inspect.getattr_static(found, name, None)
    names = [] if found is None else [name for name in dir(found) if not name.startswith("_")]
    return json.dumps([[name, kind(inspect.getattr_static(found, name, None))] for name in names])


def kind(value):
    """Return the kind of a value in the terms of the editor."""
    if inspect.ismodule(value):
        return "namespace"
    return "class" if isinstance(value, type) else "function" if callable(value) else "property"


def forget():
    """Delete all variables of the page."""
    namespace.clear()
    namespace["__name__"] = "__main__"


def display(*values):
    """Show values as a notebook does: as HTML if they support it, otherwise as text."""
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
    """Return the text, cut to `LIMIT` characters."""
    return text if len(text) <= LIMIT else text[:LIMIT] + f"\n… {len(text) - LIMIT:,} more characters"


# ------------------------------------------------ errors and warnings in words


def show_warning(name, message, category, filename, lineno, file=None, line=None):
    """Write a warning, with its line if that is in the cell."""
    where = f"Line {lineno}: " if filename == name else ""
    sys.stdout.flush()
    sys.stderr.write(f"{where}{category.__name__}: {message}\n")
    sys.stderr.flush()


def explain(error, name):
    """Return the error as text: the calls from the reader's own line on, the error, and advice."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return explain_syntax(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_ours(frame)]
    while frames and not frames[0].filename.startswith("<cell "):
        frames.pop(0)
    lines = [text for frame in shortened(frames) for text in told(frame, name)]
    advice = advise(error)
    return "\n".join([*lines, headline(error), *([advice] if advice else [])])


def is_ours(frame):
    """Return whether a frame belongs to this file or to code without source lines."""
    return frame.filename == __file__ or frame.filename == "<string>"


def explain_syntax(error):
    """Return a syntax error as text, with a mark below the place."""
    lines = [f"Line {error.lineno} of this cell"]
    if error.text:
        code = error.text.rstrip("\n")
        lines += [
            f"    {code.strip()}",
            "    " + " " * (error.offset - 1 - (len(code) - len(code.lstrip()))) + "^",
        ]
    return "\n".join([*lines, f"{type(error).__name__}: {error.msg}"])


def headline(error):
    """Return type and message of an error."""
    if isinstance(error, KeyboardInterrupt):
        return "Stopped. All variables are kept."
    if isinstance(error, SystemExit):
        return "SystemExit: the cell asked Python to exit. The page keeps running."
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return short(text.removeprefix("builtins."))[:4000]


def shortened(frames):
    """Return the first and last calls of a deep recursion, and how many are left out."""
    if len(frames) <= 2 * FRAMES:
        return frames
    return [*frames[:FRAMES], len(frames) - 2 * FRAMES, *frames[-FRAMES:]]


def told(frame, name):
    """Return a call as lines of text."""
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
    """Return a sentence of advice for an error, or an empty string."""
    if isinstance(error, ModuleNotFoundError):
        module, _, part = (error.name or "").partition(".")
        if module == "matplotlib" and part:
            return f"The browser draws with a small part of matplotlib, without {part}."
        what = ABSENT.get(module, f"package “{module}”")
        return f"There is no {what} in the browser: this page has {packages}."
    if isinstance(error, MemoryError):
        return "The browser is out of memory: try fewer rounds or a smaller array."
    if isinstance(error, RecursionError):
        return "A function calls itself without end, or too deeply for the browser."
    if type(error) is AssertionError and not error.args:
        return failed_check(error)
    near = next((words for words in (adviser(error) for adviser in advisers) if words), "")
    if isinstance(error, NameError) and getattr(error, "name", None) and not near:
        return "Is it defined in a cell above? Cells above run first if they have not run."
    return near or likely_cause(error)


def likely_cause(error):
    """Return what the values on the reader's line suggest as the cause of the error, or an empty string."""
    text = str(error)
    if missing := re.match(r"cannot import name '(\w+)' from '([\w.]+)'", text):
        near = difflib.get_close_matches(missing[1], dir(sys.modules.get(missing[2])), 1)
        return f"Did you mean {near[0]}?" if near else ""
    values = [(name, value) for name, value in values_on_line(error) if not callable(value)]
    if "NoneType" in text:
        nothing = " and ".join(name for name, value in values if value is None) or "Something on this line"
        return f"{nothing} is None: a function without a return statement returns None."
    if isinstance(error, ValueError) and re.search("core dimension|broadcast|not aligned", text):
        shapes = [f"{name} has shape {value.shape}" for name, value in values if hasattr(value, "shape")]
        return "The shapes do not fit: " + ", ".join(shapes) + "." if shapes else ""
    if isinstance(error, IndexError):
        lengths = [f"{name} has {len(value)} entries" for name, value in values if hasattr(value, "__len__")]
        return ", ".join(lengths) + "; indices start at 0." if lengths else ""
    if isinstance(error, KeyError):
        keys = [f"{name} has {short_line([*value])}" for name, value in values if isinstance(value, dict)]
        return ", ".join(keys) + "." if keys else ""
    return ""


def values_on_line(error):
    """Return the names on the innermost line of a cell, with their values."""
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
    """Return what an assert without a message compared, and that a change above may be the cause."""
    step = error.__traceback__
    while step.tb_next:
        step = step.tb_next
    frame, line = step.tb_frame, step.tb_lineno
    advice = "A check fails: look at what was changed, here or in a cell above."
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
        (check,) = [
            n for n in ast.walk(tree) if isinstance(n, ast.Assert) and n.lineno <= line <= n.end_lineno
        ]
        facts = [f"    {ast.unparse(part)}  is  {value}" for part, value in sides(check.test, frame)]
    except Exception:  # the details are optional
        return advice
    return "\n".join([*facts, advice])


def sides(test, frame):
    """Return the sides of the comparison that failed, with their values; constants are omitted."""

    def value(part):
        code = compile(ast.Expression(part), "<check>", "eval")
        return eval(code, frame.f_globals, frame.f_locals)

    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        test = next(part for part in test.values if not value(part))
    parts = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    return [(part, short_line(value(part))) for part in parts if not isinstance(part, ast.Constant)]


def short_line(value):
    """Return the repr of a value on one line, cut to 200 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else text[:200] + " …"


# ------------------------------------------------ checkers that answer in the page

verdicts, answering = [], False


def hear(verdict):
    """Take a verdict: in an exercise the page shows it, elsewhere it is printed."""
    if answering:
        verdicts.append({key: fact for key, fact in vars(verdict).items() if fact is not None})
    else:
        print(verdict)


def judge(source, error=None):
    """Judge an exercise without a checker by its asserts: all hold, or the first that fails says why."""
    if by_asserts and isinstance(error, AssertionError):
        hear(SimpleNamespace(passed=False, message=str(error) or headline(error)))
    elif error is not None:
        hear(SimpleNamespace(passed=False, message=f"The check did not finish: {headline(error)}"))
    elif by_asserts and not verdicts and any(isinstance(n, ast.Assert) for n in ast.walk(ast.parse(source))):
        hear(SimpleNamespace(passed=True, message="right: every check of this cell holds"))


def tell_verdicts():
    """Send the verdicts to the page."""
    for verdict in verdicts:
        post("verdict", json.dumps(verdict))
    verdicts.clear()


# ------------------------------------------------ what a worker cannot do


def no_input(prompt=""):
    """Replace `input`, which a worker cannot support."""
    raise RuntimeError("a cell in the browser cannot ask for input: write the value into the code")


def patient_sleep(seconds, *, nap=time.sleep):
    """Sleep in short intervals, so that Stop takes effect."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        nap(min(left, 0.05))


def replace_poisson():
    """Replace NumPy's Poisson generator, which crashes in this build of Python.

    The replacement returns the same numbers, by NumPy's own method for small means.
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
    """Set up what differs from Python elsewhere; called once, before the first cell."""
    replace_poisson()
    svgplot.install(post)
    builtins.input, builtins.display, time.sleep = no_input, display, patient_sleep
    import live_hook

    if hasattr(live_hook, "adapt"):
        live_hook.adapt(sys.modules[__name__])
