"""Call a student's function and explain what goes wrong: errors, shapes, and recognisable wrong numbers."""

import builtins
import contextlib
import difflib
import dis
import inspect
import io
import linecache
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ocolib.types import Array

# ---------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class Verdict:
    """Hold the result of a check; `input`, `got`, `expected` and `line` are given where they help."""

    passed: bool
    message: str
    input: str | None = None
    got: str | None = None
    expected: str | None = None
    line: str | None = None  #: the line of the student's cell that failed, "4: return x / 0"
    pending: bool = False  #: True if the answer is still the stub

    def __str__(self) -> str:
        facts = {"line": self.line, "input": self.input, "you have": self.got, "expected": self.expected}
        mark = "✓" if self.passed else "…" if self.pending else "✗"
        lines = [f"  {name + ':':10}{_indented(fact)}" for name, fact in facts.items() if fact is not None]
        return "\n".join([f"{mark} {self.message}", *lines])


def _indented(fact: str) -> str:
    """Indent the lines of a fact after the first."""
    return fact.replace("\n", "\n" + 12 * " ")


class Stop(Exception):
    """Carry a verdict to the end of the check."""


def wrong(message: str, input: Any = None, got: Any = None, expected: Any = None) -> NoReturn:
    """End the check with the verdict that the answer is wrong, for this reason."""
    mine, theirs = _told_apart(got, expected)
    shown = None if input is None else show(input)
    raise Stop(Verdict(False, message, shown, mine, theirs))


# ---------------------------------------------------------------- numbers as text


def floats(x: Any) -> Array:
    """Convert to an array of floats; reject complex numbers, whose imaginary part would be lost."""
    return np.asarray(str(x) if np.iscomplexobj(x) else x, dtype=float)


def show(x: Any, digits: int = 6) -> str:
    """Format numbers with six digits, arrays with four decimals, text as it is, else the `repr` or type."""
    if x is None or isinstance(x, str):
        return str(x)
    try:
        x = floats(x)
    except (TypeError, ValueError, OverflowError):
        text = repr(x)
        return text if " at 0x" not in text else f"an object of type {type(x).__name__}"
    if x.ndim == 0:
        return f"{x:.{digits}g}"
    return np.array2string(x, precision=digits - 2, separator=", ", suppress_small=digits == 6)


def _told_apart(got: Any, expected: Any) -> tuple[str | None, str | None]:
    """Return both as text, with enough digits to show that they differ."""
    if got is None or expected is None or isinstance(got, str) or isinstance(expected, str):
        return (None if got is None else show(got)), (None if expected is None else show(expected))
    for digits in (6, 8, 10, 12, 14, 17):
        texts = show(got, digits), show(expected, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _short(text: str) -> str:
    """Cut long text after 200 characters."""
    return text if len(text) <= 200 else text[:200] + " …"


def same(got: ArrayLike, expected: ArrayLike, close: float = 1e-9) -> bool:
    """Test whether shapes agree and entries differ by at most `close` times the largest finite |expected|.

    If all expected entries are 0, the tolerance is `close`.
    """
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    within = close * (np.abs(expected[np.isfinite(expected)]).max(initial=0.0) or 1.0)
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        return got.shape == expected.shape and bool(
            np.all((got == expected) | (np.abs(got - expected) <= within))
        )


# ---------------------------------------------------------------- calling the answer


def call(function: Any, inputs: Sequence[Any]) -> Any:
    """Call a student's function on copies of the inputs, without warnings; return a non-function as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # only the result is judged
        copies = [np.array(x) if isinstance(x, np.ndarray) else x for x in inputs]
        return function(*copies) if callable(function) else function


def ask(function: Any, inputs: Sequence[Any], shape: tuple[int | None, ...] | None) -> Array:
    """Return the student's answer as floats of this shape, or end the check with the reason."""
    shown, printed = called(function, inputs), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            answer = call(function, inputs)
    except (Exception, SystemExit) as error:  # even exit() gets a verdict
        message = f"Your function raised {type(error).__name__}: {error}{meant(error)}"
        if not _accepts(function, inputs):
            message += (
                f". It is called with {len(inputs)} argument{'s' * (len(inputs) != 1)}, as in the stub."
            )
        raise Stop(Verdict(False, message, shown, line=own_line(function, error))) from None
    finally:
        if printed.getvalue():
            print(printed.getvalue(), end="")  # students may print while debugging
    if _unwritten(answer):
        raise Stop(_nothing(function, answer, shown, printed.getvalue().strip()))
    try:
        found = floats(answer)
    except (TypeError, ValueError, OverflowError):
        wrong("What your function returned does not convert to floats.", shown, _short(show(answer)))
    if shape is not None:
        found = _fitted(found, shape, shown)
    if not np.isfinite(found).all():
        wrong("Your answer is not finite.", shown, found)
    return found


def _accepts(function: Any, inputs: Sequence[Any]) -> bool:
    """Test whether the function can be called with these inputs; True if its signature is unknown."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*inputs)
    except TypeError:
        return False
    return True


def quiet(function: Any, case: Sequence[Any]) -> Array | None:
    """Return the result of an answer or a slip as floats, or None if it raises an error."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return np.squeeze(np.asarray(call(function, case), dtype=float))
    except (Exception, SystemExit):  # a slip need not be defined in every case
        return None


def called(function: Any, inputs: Sequence[Any]) -> str | None:
    """Return the inputs with their names, as in "T = 4, c = 2"; None if there are no inputs.

    Names are left out if the signature is unknown or does not fit.
    """
    if not inputs:
        return None
    try:
        names = list(inspect.signature(function).bind(*inputs).arguments)
    except (TypeError, ValueError):  # wrong number of arguments, or no signature
        names = []
    if len(names) != len(inputs):
        return ", ".join(show(x) for x in inputs)
    return ", ".join(f"{name} = {show(x)}" for name, x in zip(names, inputs, strict=True))


def _unwritten(answer: Any) -> bool:
    """Test whether the answer, or a part of it, is still None."""
    return answer is None or (isinstance(answer, (list, tuple)) and any(part is None for part in answer))


def _nothing(function: Any, answer: Any, shown: str | None, printed: str) -> Verdict:
    """Explain a missing answer: still the stub, printed instead of returned, or a branch without return."""
    if printed:
        message = "Your function prints and returns None: write return instead of print."
        return Verdict(False, message, shown, _short(printed))
    if answer is None and not is_stub(function):
        message = "Here your function returns None: it ends without a return."
        return Verdict(False, message, shown)
    message = "not yet: your function returns None. Replace the stub and run the cell again."
    # the grader calls functions in another process, where a branch without return looks like the stub
    elsewhere = getattr(function, "asked_elsewhere", False)
    return Verdict(False, message, shown if elsewhere else None, pending=True)


def is_stub(function: Any) -> bool:
    """Test whether this function, or a my_… function that it calls, is still `return None`.

    Return True if the code cannot be inspected.
    """
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "asked_elsewhere", False):
        return True
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("RESUME", "CACHE", "NOP")]
    if len(steps) <= 2:  # load None, return it
        return True
    helpers = [function.__globals__.get(name) for name in code.co_names if name.startswith("my_")]
    return any(is_stub(helper) for helper in helpers if inspect.isfunction(helper) and helper is not function)


def _fitted(found: Array, shape: tuple[int | None, ...], shown: str | None) -> Array:
    """Return the answer in the required shape, where None stands for any length.

    Axes of length 1 may be missing or added; then None stands for any length except 1.
    """

    def same(a: Sequence[int | None], b: Sequence[int | None]) -> bool:
        return len(a) == len(b) and all(j in (i, None) for i, j in zip(a, b, strict=True))

    if same(found.shape, shape):
        return found
    squeezed, wanted = [n for n in found.shape if n != 1], [n for n in shape if n != 1]
    if same(squeezed, wanted):
        lengths = iter(squeezed)
        return found.reshape([1 if n == 1 else next(lengths) for n in shape])
    words = "a number" if shape == () else f"shape {str(shape).replace('None', 'any')}"
    message = f"Your answer has shape {found.shape}; it should be {words}."
    if found.ndim == 2 and same(found.shape[::-1], shape):
        message += " It is transposed: rows and columns are exchanged."
    elif None not in shape and found.size == math.prod(n for n in shape if n is not None) > 1:
        message += " It has the right number of entries in another shape: is it flattened, or should it be?"
    elif found.ndim == 1 < len(shape) and found.size % math.prod(n for n in shape if n is not None) == 0:
        message += " It is flattened: keep its rows."
    wrong(message, shown, found)


# ---------------------------------------------------------------- errors


def own_line(function: Any, error: BaseException) -> str | None:
    """Return the last line of the student's own cell in the traceback, as in "4: return x / 0"."""
    if getattr(function, "asked_elsewhere", False):
        return getattr(error, "own_line", None)
    code = getattr(function, "__code__", None)
    place, found = error.__traceback__, None
    while code is not None and place is not None:
        if place.tb_frame.f_code.co_filename == code.co_filename:
            found = place.tb_lineno
        place = place.tb_next
    if found is None or code is None:
        return None
    text = linecache.getline(code.co_filename, found).strip()
    return f"{found}: {text}" if text else str(found)


def meant(error: BaseException) -> str:
    """Return ". Did you mean …?" if a name is close to an existing one, else an empty string."""
    name = getattr(error, "name", None)
    if not isinstance(name, str):
        return ""
    if isinstance(error, NameError):
        known = [*dir(builtins)]
        place = error.__traceback__
        while place is not None:
            known += [*place.tb_frame.f_locals, *place.tb_frame.f_globals]
            place = place.tb_next
    elif isinstance(error, AttributeError):
        known = dir(error.obj)
    else:
        return ""
    close = difflib.get_close_matches(name, [word for word in known if word != name], 1, 0.6)
    return f". Did you mean {close[0]}?" if close else ""


# ---------------------------------------------------------------- common slips

Rule = tuple[str, Callable[[Array], Array]]
ANYWHERE: list[Rule] = [
    ("The sign is wrong everywhere.", lambda x: -x),
    ("It is twice what is asked for, everywhere: is a factor ½ missing?", lambda x: 2 * x),
    ("It is half of what is asked for, everywhere: is there a ½ too many?", lambda x: x / 2),
    ("It is the square of the right answer: a root is missing.", lambda x: x**2),
    ("It is the square root of the right answer.", lambda x: np.sqrt(np.abs(x))),
    ("Do not round: the exact number is asked for.", np.floor),
    ("Do not round: the exact number is asked for.", np.ceil),
    ("Do not round: the exact number is asked for.", np.round),
    ("It is too large by 1 everywhere.", lambda x: x + 1),
    ("It is too small by 1 everywhere.", lambda x: x - 1),
    ("It is the transpose of the right answer.", np.transpose),
    ("The entries stand in the reverse order.", lambda x: x[::-1] if x.ndim else x),
]


def anywhere(expected: Sequence[ArrayLike | None]) -> Iterator[tuple[str, list[Array | None]]]:
    """Yield (sentence, what a student with this slip would get) for every common slip."""
    for sentence, change in ANYWHERE:
        with np.errstate(all="ignore"):
            yield sentence, [None if e is None else change(np.asarray(e, dtype=float)) for e in expected]


def likely(
    slips: Sequence[tuple[str, Sequence[ArrayLike | None]]],
    given: Sequence[Array | None],
    failed: int,
) -> str | None:
    """Return the sentence of the slip that best explains the student's answers, or None.

    It must agree with the answer in the case that failed and in at least 80 % of the cases that were
    answered.
    """
    often: dict[str, int] = {}
    for text, values in slips:
        pairs = list(zip(given, values, strict=True))
        alike = [
            x is not None and y is not None and same(x, np.squeeze(np.asarray(y, dtype=float)), 1e-6)
            for x, y in pairs
        ]
        if alike[failed] and sum(alike) >= 0.8 * sum(x is not None for x in given):
            often[text] = max(sum(alike), often.get(text, 0))
    return max(often, key=lambda text: often[text]) if often else None
