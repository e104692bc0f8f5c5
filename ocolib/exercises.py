"""Feedback on a student's code. A checker calls the student's function, on small inputs first where it
chooses them, and answers with a `Verdict`: if one fails, what is wrong and, where it can be told, on which
input, what came, what was expected.

`tell` hears the verdict: in a notebook it prints, in the browser the page shows it, grading notes it down.
An exception in the student's function becomes a verdict. With `strict=True` a wrong or missing answer raises
`WrongAnswer`, and `tell` hears nothing of it.
`slips` name what may have happened: {sentence: what a student with this slip would write}.
All needs NumPy alone.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ocolib.game import play
from ocolib.protocols import Array, Learner, Set

Slips = Mapping[str, Any] | None

# ---------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class Verdict:
    """What a checker has to say."""

    passed: bool
    message: str
    input: str | None = None
    got: str | None = None
    expected: str | None = None
    pending: bool = False  #: something is still to be written

    def __str__(self) -> str:
        facts = {"input": self.input, "you have": self.got, "expected": self.expected}
        mark = "✓" if self.passed else "…" if self.pending else "✗"
        lines = [f"  {name + ':':10}{_indented(fact)}" for name, fact in facts.items() if fact is not None]
        return "\n".join([f"{mark} {self.message}", *lines])


def _indented(fact: str) -> str:
    return fact.replace("\n", "\n" + 12 * " ")


#: what hears a verdict; a page in the browser, or who grades, puts its own in place
tell: Callable[[Verdict], Any] = print


#: added to the seed of every checker that draws: who grades tries instances that no page shows
fresh: int = 0


class WrongAnswer(AssertionError):
    """Raised by a checker in strict mode."""


class _Stop(Exception):
    """Carries the verdict from where it fell to the end."""


def _wrong(message: str, input: Any = None, got: Any = None, expected: Any = None) -> NoReturn:
    words = {"input": input, "got": got, "expected": expected}
    shown: dict[str, Any] = {name: show(fact) for name, fact in words.items() if fact is not None}
    raise _Stop(Verdict(False, message, **shown))


def _checker(check: Callable[..., str]) -> Callable[..., None]:
    """Turn `check(...)`, which raises `_Stop` or returns a word of praise, into one that tells a verdict."""

    @wraps(check)
    def wrapped(*args: Any, strict: bool = False, **kwargs: Any) -> None:
        try:
            verdict = Verdict(True, check(*args, **kwargs))
        except _Stop as stop:
            verdict = stop.args[0]
        if strict and not verdict.passed:
            raise WrongAnswer(str(verdict))
        tell(verdict)

    return wrapped


def show(x: Any) -> str:
    """A number to six digits, an array to four decimals, words as they are, else the `repr` or the type."""
    if x is None or isinstance(x, str):
        return str(x)
    try:
        x = _floats(x)
    except (TypeError, ValueError, OverflowError):
        text = repr(x)
        return text if " at 0x" not in text else f"an object of type {type(x).__name__}"
    return f"{x:.6g}" if x.ndim == 0 else np.array2string(x, precision=4, separator=", ", suppress_small=True)


# ---------------------------------------------------------------- asking


def _floats(x: Any) -> Array:
    """x as floats; complex numbers are refused, of which NumPy would forget a part."""
    return np.asarray(str(x) if np.iscomplexobj(x) else x, dtype=float)


def _ask(function: Any, inputs: Sequence[Any], shape: tuple[int | None, ...] | None) -> Array:
    """The student's answer as floats of this shape, or a verdict on why there is none."""
    shown = _called(function, inputs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what comes of it is judged below
            copies = [np.array(x) if isinstance(x, np.ndarray) else x for x in inputs]
            answer = function(*copies) if callable(function) else function
    except (Exception, SystemExit) as error:  # exit() too becomes a sentence
        _wrong(f"Your function raised {type(error).__name__}: {error}", shown)
    if _unwritten(answer):
        message = "not yet: your function returns None. Replace the stub and run the cell again."
        raise _Stop(Verdict(False, message, pending=True))
    try:
        found = _floats(answer)
    except (TypeError, ValueError, OverflowError):
        _wrong("What your function returned does not convert to floats.", shown, _short(show(answer)))
    if shape is not None:
        found = _fitted(found, shape, shown)
    if not np.isfinite(found).all():
        _wrong("Your answer is not finite.", shown, found)
    return found


def _called(function: Any, inputs: Sequence[Any]) -> str | None:
    """The inputs by name, "T = 4, c = 2", or without where names do not fit; None if there are none."""
    if not inputs:
        return None
    try:
        names = list(inspect.signature(function).bind(*inputs).arguments)
    except (TypeError, ValueError):  # not so many, or no signature to be had
        names = []
    if len(names) != len(inputs):
        return ", ".join(show(x) for x in inputs)
    return ", ".join(f"{name} = {show(x)}" for name, x in zip(names, inputs, strict=True))


def _unwritten(answer: Any) -> bool:
    return answer is None or (isinstance(answer, (list, tuple)) and any(part is None for part in answer))


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + " …"


def _fitted(found: Array, shape: tuple[int | None, ...], shown: str | None) -> Array:
    """The answer in the shape that is asked for, where None is any length. If it has another, axes of length
    1 do not matter, but None is then any length other than 1."""

    def same(a: Sequence[int | None], b: Sequence[int | None]) -> bool:
        return len(a) == len(b) and all(j in (i, None) for i, j in zip(a, b, strict=True))

    if same(found.shape, shape):
        return found
    squeezed, wanted = [n for n in found.shape if n != 1], [n for n in shape if n != 1]
    if same(squeezed, wanted):
        lengths = iter(squeezed)
        return found.reshape([1 if n == 1 else next(lengths) for n in shape])
    words = "a number" if shape == () else f"shape {str(shape).replace('None', 'any')}"
    _wrong(f"Your answer has shape {found.shape}; it should be {words}.", shown, found)


def same(got: ArrayLike, expected: ArrayLike, close: float = 1e-9) -> bool:
    """Of one shape, and equal up to `close` times the largest finite |expected|, or 1 if that is 0."""
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    within = close * (np.abs(expected[np.isfinite(expected)]).max(initial=0.0) or 1.0)
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        return got.shape == expected.shape and bool(
            np.all((got == expected) | (np.abs(got - expected) <= within))
        )


def _likely(slips: Slips, answer: Any, cases: Sequence[Sequence[Any]], failed: int, default: str) -> str:
    """The slip that gives the student's answer in the case that failed and in at least 80 % of all that the
    student's code answers; of several, the one that does so most often; of none, the `default`."""

    def quiet(function: Any, case: Sequence[Any]) -> Array | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                copies = [np.array(x) if isinstance(x, np.ndarray) else x for x in case]
                return np.squeeze(
                    np.asarray(function(*copies) if callable(function) else function, dtype=float)
                )
        except (Exception, SystemExit):  # neither an answer nor a slip need make sense everywhere
            return None

    if not slips:
        return default
    given = [quiet(answer, case) for case in cases]
    often: dict[str, int] = {}
    for text, wrong in slips.items():
        pairs = zip(given, [quiet(wrong, case) for case in cases], strict=True)
        alike = [x is not None and y is not None and same(x, y, 1e-6) for x, y in pairs]
        if alike[failed] and sum(alike) >= 0.8 * sum(x is not None for x in given):
            often[text] = sum(alike)
    return max(often, key=lambda text: often[text]) if often else default


def _others(cases: Sequence[Sequence[Any]], truth: Callable[..., Any]) -> list[list[Any]]:
    """For who grades: the same cases, floats up to 10 % off, ints up to 2 more, where the truth is finite."""
    rng, found = np.random.default_rng(fresh), []
    for case in cases if fresh else ():
        other = [
            x * rng.uniform(0.9, 1.1)
            if isinstance(x, float)
            else x + int(rng.integers(3))
            if type(x) is int
            else x
            for x in case
        ]
        try:
            if np.isfinite(np.asarray(truth(*other), dtype=float)).all():
                found.append(other)
        except Exception:  # these numbers are not in its domain
            continue
    return found


def inputs(dim: int, seed: int, scale: float = 3.0, many: int = 30) -> Iterator[Array]:
    """Small whole vectors first: a failure there is easy to follow by hand. Then short and long ones, so
    that, if `scale` suits it, a set around 0 is tried inside and out.
    """
    rng = np.random.default_rng(seed + fresh)
    yield np.zeros(dim)
    yield from np.eye(dim)
    yield from rng.integers(-2, 3, (10, dim)).astype(float)
    yield from np.geomspace(0.1, scale, many)[:, None] * rng.standard_normal((many, dim))


# ---------------------------------------------------------------- formulas and numbers


@_checker
def check_formula(
    formula: Callable[..., Any],
    truth: Callable[..., Any],
    cases: Sequence[Sequence[Any]],
    slips: Slips = None,
    close: float = 1e-9,
) -> str:
    """Is `formula(*case)` equal to `truth(*case)` in every case? Begin with a case that is easy by hand."""
    cases = [*cases, *_others(cases, truth)]
    for place, case in enumerate(cases):
        expected = np.asarray(truth(*case), dtype=float)
        got = _ask(formula, case, expected.shape)
        if not same(got, expected, close):
            message = _likely(slips, formula, cases, place, "Not yet: here the answer is another one.")
            _wrong(message, _called(formula, case), got, expected)
    return f"right in all {len(cases)} cases"


@_checker
def check_value(
    answer: Callable[[], Any], expected: ArrayLike, slips: Any = None, close: float = 1e-9, hints: Any = None
) -> str:
    """Does `answer()` return the number (or array) that is expected?

    `slips` is {sentence: the wrong value that it explains}, or pairs (value, sentence), also named `hints`.
    """
    known = {text: wrong for wrong, text in slips or hints or ()} if not isinstance(slips, Mapping) else slips
    expected = np.asarray(expected, dtype=float)
    got = _ask(answer, (), expected.shape)
    if not same(got, expected, close):
        _wrong(_likely(known, answer, [()], 0, "Not this: work it out once more."), None, got)
    return "right"


@_checker
def check_construction(
    answer: Callable[..., Any],
    shape: tuple[int | None, ...],
    rules: Mapping[str, Callable[[Array], Any]],
    reaches: Callable[[Array], float] | None = None,
    at_least: float = 0.0,
    slips: Slips = None,
) -> str:
    """Is what `answer()` makes legal, and does it reach what is asked?

    `rules` is {sentence: what must be true of it}, the sentence told where it is not. `reaches`, if given,
    measures it, and must come to `at_least`.
    """
    made = _ask(answer, (), shape)
    for sentence, holds in rules.items():
        if not np.all(holds(made)):
            _wrong(sentence, None, made)
    if reaches is None:
        return "legal, and as it was asked for"
    found = float(reaches(made))
    if found < at_least - 1e-9 * max(1.0, abs(at_least)):
        message = _likely(slips, answer, [()], 0, "Legal, but more is possible.")
        _wrong(message, made, found, f"at least {at_least:.6g}")
    return f"legal, and it reaches {found:.6g}"


# ---------------------------------------------------------------- projections, minimisers, subgradients


@_checker
def check_projection(
    project: Callable[[Array], Any], onto: Set, seed: int = 0, slips: Slips = None, scale: float = 3.0
) -> str:
    """Is `project(y)` the nearest point of the set `onto`?"""
    points = list(inputs(onto.dim, seed, scale))
    edge = [onto.project(y) for y in points if not onto.contains(y)]  # and points on the boundary
    cases = [[y] for y in points + edge]
    for place, (y,) in enumerate(cases):
        x, best = _ask(project, [y], y.shape), onto.project(y)
        if not onto.contains(x, tol=1e-7):
            message = _likely(slips, project, cases, place, f"Your point is not in {onto!r}.")
            _wrong(message, _called(project, [y]), x, best)
        if np.linalg.norm(x - best) > 1e-7 * max(1.0, float(np.linalg.norm(best))):
            far = f"at distance {np.linalg.norm(x - y):.4f}; {np.linalg.norm(best - y):.4f} is possible"
            default = f"Your point is in the set, but not the nearest: {far}."
            _wrong(_likely(slips, project, cases, place, default), _called(project, [y]), x, best)
    return f"nearest point of the set on all {len(cases)} inputs"


@_checker
def check_argmin(
    argmin: Callable[[Array], Any],
    objective: Callable[[Array, Array], Any],
    best: Callable[[Array], Array],
    over: Set,
    seed: int = 0,
    slips: Slips = None,
    scale: float = 3.0,
) -> str:
    """Does `argmin(c)` minimise `objective(w, c)` over the set? `best(c)` is a known minimiser."""
    cases = [[c] for c in inputs(over.dim, seed, scale)]
    for place, (c,) in enumerate(cases):
        w, known = _ask(argmin, [c], c.shape), best(c)
        if not over.contains(w, tol=1e-7):
            message = _likely(slips, argmin, cases, place, f"Your w is not in {over!r}.")
            _wrong(message, _called(argmin, [c]), w, known)
        mine, possible = float(objective(w, c)), float(objective(known, c))
        if mine > possible + 1e-9 * max(1.0, abs(possible)):
            values = f"Your w has value {mine:.6f}, and {possible:.6f} is possible."
            _wrong(_likely(slips, argmin, cases, place, values), _called(argmin, [c]), w, known)
    return f"a minimiser on all {len(cases)} inputs"


@_checker
def check_subgradient(
    subgradient: Callable[[Array], Any],
    value: Callable[[Array], Any],
    dim: int,
    over: Set | None = None,
    seed: int = 0,
    slips: Slips = None,
    scale: float = 3.0,
) -> str:
    """Is `subgradient(w)` a subgradient of the function `value` at w (relative to `over`, if given)?"""
    points = list(inputs(dim, seed, scale))
    if over is not None:
        points = [over.project(w) for w in points]
    cases = [[w] for w in points]
    for place, w in enumerate(points):
        z = _ask(subgradient, [w], w.shape)
        for u in points:
            line, truth = float(value(w) + z @ (u - w)), float(value(u))
            if line > truth + 1e-8 * max(1.0, abs(truth)):
                why = (
                    f"No subgradient: at u = {show(u)} the line f(w) + ⟨z, u − w⟩ is {line:.4f}, "
                    f"above f(u) = {truth:.4f}."
                )
                _wrong(_likely(slips, subgradient, cases, place, why), _called(subgradient, [w]), z)
    return f"below the function at all {len(points) ** 2} pairs of points"


# ---------------------------------------------------------------- learners and bounds


@_checker
def check_learner(
    rule: Callable[[Array], Any], reference: Learner, rounds: int = 12, seed: int = 0, slips: Slips = None
) -> str:
    """Does `rule(past)`, with the past z_1, …, z_{t−1} as rows, play w_t as the learner `reference` does?"""
    dim = reference.player().predict().shape[-1]
    rng = np.random.default_rng(seed + fresh)
    there_and_back = np.where(np.arange(rounds) < rounds / 2, -1.0, 1.0)[:, None] * np.ones(dim)
    games = [
        rng.integers(-1, 2, (rounds, dim)).astype(float),
        there_and_back,  # one way, then back: for walls, if there are any
        10 * there_and_back,
        rng.standard_normal((rounds, dim)),
        0.05 * rng.standard_normal((rounds, dim)),
    ]
    cases = [[Z[:t]] for Z in games for t in range(rounds)]
    wanted = np.concatenate([play(reference, Z).points for Z in games])
    for place, (past,) in enumerate(cases):
        w = _ask(rule, [past], (dim,))
        if not np.allclose(w, wanted[place], rtol=1e-8, atol=1e-8):
            default = f"In round {len(past) + 1} the rule plays another point."
            seen = show(past) if len(past) else f"nothing yet, an array of shape {past.shape}"
            _wrong(_likely(slips, rule, cases, place, default), f"past = {seen}", w, wanted[place])
    return f"the same play in all {len(cases)} rounds"


@_checker
def check_bound(
    bound: Callable[..., Any],
    games: Sequence[tuple[Sequence[Any], float]],
    best: Callable[..., Any] | None = None,
    slips: Slips = None,
    close: float = 1e-9,
) -> str:
    """Is `bound(*args)` at least what was measured in every game and, if `best` is given, equal to
    `best(*args)`?

    `games` lists pairs (args, measured) of games that were played: the verdict speaks of them. `best` is the
    least that is proved; where it was found on a grid, `close` says how close that comes.
    """
    cases = [args for args, _ in games]
    promised = []
    for place, (args, measured) in enumerate(games):
        promised.append(_ask(bound, args, ()))
        if promised[-1] < measured - 1e-9 * max(1.0, abs(measured)):
            default = "Broken: a game with these numbers was played, and costs more."
            expected = f"at least {measured:.6g}, what the game costs"
            message = _likely(slips, bound, cases, place, default)
            _wrong(message, _called(bound, args), promised[-1], expected)
    for place, (args, got) in enumerate(zip(cases, promised, strict=True)):
        if best is None:
            break
        proved = float(best(*args))
        if not same(got, proved, close):
            less = "No game here breaks it, but it is less than what is proved."
            default = "True, but loose." if got > proved else less
            message = _likely(slips, bound, cases, place, default)
            _wrong(message, _called(bound, args), got, f"{proved:.6g}, which is proved")
    return f"holds in all {len(games)} games" + (", and it is the sharp one" if best else "")
