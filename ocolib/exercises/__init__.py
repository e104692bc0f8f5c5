"""Give feedback on answers to exercises.

A checker calls the student's function, on small inputs first, and produces a `Verdict`. If the answer is
wrong, the verdict says what is wrong and, if possible, for which input, in which line, what was returned and
what was expected.

The author of a page calls `check_formula`, `check_learner`, … with a reference solution and with `slips`: a
dictionary {sentence: the function that a student with this misconception would write}. These are evaluated
once and stored as `Cases`, plain data. The student's cell calls `check("ex-…", my_answer)`, which uses only
the stored data, so no student sees the reference.

>>> check_formula(lambda T: T**2, lambda T: T * T, [(1,), (2,), (3,)])
✓ right in all 3 cases
>>> check_formula(lambda T: 2 * T, lambda T: T * T, [(1,), (2,), (3,)])
✗ Not yet: for this input the answer is different.
  input:    T = 1
  you have: 2
  expected: 1

The function `tell` receives every verdict: by default it prints; the browser page shows the verdict, and
grading records it. With `strict=True` a wrong or missing answer raises `WrongAnswer` instead. Everything
needs only NumPy.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import wraps
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib.exercises.asking import (
    Stop,
    Verdict,
    anywhere,
    ask,
    called,
    likely,
    meant,
    quiet,
    same,
    show,
    wrong,
)
from ocolib.exercises.cases import Cases, Fingerprint, pasts, recorded
from ocolib.game import play
from ocolib.sets import Set, Space
from ocolib.types import Array

__all__ = [
    "Cases",
    "Verdict",
    "WrongAnswer",
    "check",
    "check_argmin",
    "check_bound",
    "check_construction",
    "check_formula",
    "check_learner",
    "check_projection",
    "check_subgradient",
    "check_value",
    "inputs",
    "meant",
    "same",
    "show",
]

Slips = Mapping[str, Any] | None

#: receives every verdict; the browser page and the grader replace this function by their own
tell: Callable[[Verdict], Any] = print

#: added to the seed of every checker, so that the grader can use instances that no page shows
fresh: int = 0

#: collects the cases of all checkers while the notebooks are being made
record: list[Cases] | None = None

#: relative tolerance for minimisers found by a numerical search, which have half the digits
SEARCH = 1e-6


class WrongAnswer(AssertionError):
    """Signal a wrong or missing answer in strict mode."""


def _judge(cases: Cases, answer: Any, properties: Mapping[str, Any], strict: bool) -> None:
    """Judge an answer and pass the verdict to `tell`."""
    try:
        verdict = Verdict(True, JUDGES[cases.kind](answer, cases, **properties))
    except Stop as stop:
        verdict = stop.args[0]
    if strict and not verdict.passed:
        raise WrongAnswer(str(verdict))
    tell(verdict)


def check(name: str, answer: Any, part: int = 1, strict: bool = False, **properties: Any) -> None:
    """Judge an answer by the recorded cases of the exercise `name`.

    `part` is the number of the check if the exercise has several. Functions cannot be recorded, so they are
    passed as `properties`: the `rules` and `reaches` of a construction, the `objective` and the set `over` of
    a minimiser.
    """
    _judge(recorded(name)[part - 1], answer, properties, strict)


def _checker(build: Callable[..., tuple[Cases, dict[str, Any]]]) -> Callable[..., None]:
    """Turn `build(…)`, which returns cases and properties, into a checker of its first argument."""

    @wraps(build)
    def wrapped(answer: Any, *args: Any, strict: bool = False, **kwargs: Any) -> None:
        cases, properties = build(*args, **kwargs)
        if record is not None:
            record.append(cases)
        _judge(cases, answer, properties, strict)

    asked = inspect.signature(build)
    first = inspect.Parameter("answer", inspect.Parameter.POSITIONAL_ONLY, annotation=Any)
    last = inspect.Parameter("strict", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)
    both = [first, *asked.parameters.values(), last]
    wrapped.__signature__ = asked.replace(parameters=both, return_annotation=None)  # type: ignore[attr-defined]
    return wrapped


# ---------------------------------------------------------------- inputs and slips


def inputs(dim: int, seed: int, scale: float = 3.0, many: int = 30) -> Iterator[Array]:
    """Yield test vectors: small integer vectors first, because failures there are easy to follow by hand.

    Random vectors of increasing length follow, so that a set around 0 of size about `scale` is tested inside
    and out.
    """
    rng = np.random.default_rng(seed + fresh)
    yield np.zeros(dim)
    yield from np.eye(dim)
    yield from rng.integers(-2, 3, (10, dim)).astype(float)
    yield from np.geomspace(0.1, scale, many)[:, None] * rng.standard_normal((many, dim))


def _others(cases: Sequence[Sequence[Any]], truth: Callable[..., Any]) -> list[list[Any]]:
    """Return varied cases for the grader: floats changed by up to 10 %, ints increased by up to 2.

    Cases where the truth is not finite, or raises an error, are left out.
    """
    rng, found = np.random.default_rng(fresh), []
    for case in cases if fresh else ():
        other = [_varied(x, rng) for x in case]
        try:
            if np.isfinite(np.asarray(truth(*other), dtype=float)).all():
                found.append(other)
        except Exception:  # these numbers are outside the domain
            continue
    return found


def _varied(x: Any, rng: np.random.Generator) -> Any:
    """Return a float changed by up to 10 %, an int increased by up to 2, anything else unchanged."""
    if isinstance(x, float):
        return x * rng.uniform(0.9, 1.1)
    return x + int(rng.integers(3)) if type(x) is int else x


def _said(slips: Slips, cases: Sequence[Sequence[Any]]) -> list[tuple[str, list[Any]]]:
    """Return, for each slip, its sentence and what a student with this slip would get in each case."""
    return [(text, [quiet(slip, case) for case in cases]) for text, slip in (slips or {}).items()]


def _why(answer: Any, cases: Cases, failed: int, default: str, more: Sequence[Any] = ()) -> str:
    """Return the sentence of the slip that explains the answer, or the default.

    Slips of this exercise come first, then those of its kind, then those of any formula.
    """
    given = [quiet(answer, case) for case in cases.inputs]
    named = likely(cases.slips, given, failed)
    if named is None and _overflows(answer, cases, failed):
        bits = 8 * np.dtype(int).itemsize
        return f"Whole numbers have {bits} bits here, and these overflow: with floats your answer is right."
    generic = [*more, *(anywhere(cases.expected) if _distinct(cases.expected) else ())]
    apart = [pair for pair in generic if not _no_slip(pair[1], cases.expected, failed)]
    return named or likely(apart, given, failed) or default


def _distinct(expected: Sequence[Any]) -> bool:
    """Test whether there are at least three different answers; with fewer, wrong formulas fit by chance."""
    return len({np.asarray(e, dtype=float).tobytes() for e in expected if e is not None}) >= 3


def _no_slip(values: Sequence[Any], expected: Sequence[Any], failed: int) -> bool:
    """Test whether this slip gives the right answer, or none, in the case that failed."""
    return values[failed] is None or same(values[failed], expected[failed], SEARCH)


def _overflows(answer: Any, cases: Cases, failed: int) -> bool:
    """Test whether the answer is right if the integers among its inputs are passed as floats."""
    case = cases.inputs[failed]
    if not any(type(x) is int for x in case) or cases.expected[failed] is None:
        return False
    found = quiet(answer, [float(x) if type(x) is int else x for x in case])
    return found is not None and same(
        found, np.squeeze(np.asarray(cases.expected[failed], dtype=float)), SEARCH
    )


# ---------------------------------------------------------------- formulas and numbers


@_checker
def check_formula(
    truth: Callable[..., Any],
    cases: Sequence[Sequence[Any]],
    slips: Slips = None,
    close: float = 1e-9,
) -> tuple[Cases, dict[str, Any]]:
    """Check that `formula(*case)` equals `truth(*case)` in every case.

    Call it as `check_formula(formula, truth, cases, …)`, and start with a case that is easy by hand. An
    answer that comes from a numerical search, with about six digits, is accepted too.
    """
    asked = [list(case) for case in [*cases, *_others(cases, truth)]]
    expected = [np.asarray(truth(*case), dtype=float) for case in asked]
    return Cases("formula", asked, expected, _said(slips, asked), {"close": close}), {}


def _judge_formula(answer: Any, cases: Cases) -> str:
    close, exact = cases.facts["close"], True
    for place, (case, expected) in enumerate(zip(cases.inputs, cases.expected, strict=True)):
        got = ask(answer, case, expected.shape)
        if same(got, expected, close):
            continue
        exact = False
        if not same(got, expected, max(close, SEARCH)):
            default = "Not yet: for this input the answer is different."
            if same(got, expected, 1e-3):
                default += " It is close: search more finely, or find the formula."
            wrong(_why(answer, cases, place, default), called(answer, case), got, expected)
    return f"right in all {len(cases.inputs)} cases" + ("" if exact else ", to six digits at least")


@_checker
def check_value(
    expected: ArrayLike, slips: Any = None, close: float = 1e-9, hints: Any = None
) -> tuple[Cases, dict[str, Any]]:
    """Check that `answer()` returns the expected number or array.

    Call it as `check_value(answer, expected, …)`. `slips` is {sentence: the wrong value that it explains}, or
    a list of pairs (value, sentence), which may also be passed as `hints`.

    >>> check_value(lambda: 3.0, 1.5)
    ✗ It is twice what is asked for: is a factor ½ missing?
      you have: 3
    """
    known = {text: wrong for wrong, text in slips or hints or ()} if not isinstance(slips, Mapping) else slips
    expected = np.asarray(expected, dtype=float)
    facts = {"close": close, "shape": expected.shape}
    return Cases("value", [[]], [expected], _said(known, [()]), facts), {}


def _judge_value(answer: Any, cases: Cases) -> str:
    (expected,), close = cases.expected, cases.facts["close"]
    got = ask(answer, (), tuple(cases.facts["shape"]))
    if _is(got, expected, close):
        return "right"
    for text, (value,) in cases.slips:
        if value is not None and _is(np.squeeze(got), value, 1e-6):
            wrong(text, None, got)
    for text, (back,) in (
        ("The sign is wrong.", (-got,)),
        ("It is twice what is asked for: is a factor ½ missing?", (got / 2,)),
        ("It is half of what is asked for: is there a ½ too many?", (2 * got,)),
    ):
        if got.any() and _is(back, expected, close):
            wrong(text, None, got)
    wrong("Not this value: work it out again.", None, got)


def _is(got: Array, expected: Any, close: float) -> bool:
    """Test whether the answer equals the expected value or fits its fingerprint."""
    return expected.fits(got) if isinstance(expected, Fingerprint) else same(got, expected, close)


@_checker
def check_construction(
    shape: tuple[int | None, ...],
    rules: Mapping[str, Callable[[Array], Any]],
    reaches: Callable[[Array], float] | None = None,
    at_least: float = 0.0,
    slips: Slips = None,
) -> tuple[Cases, dict[str, Any]]:
    """Check that the array returned by `answer()` satisfies all rules and reaches a given value.

    Call it as `check_construction(answer, shape, rules, …)`. `rules` is {sentence: condition}; the sentence
    is shown if the condition fails. If `reaches` is given, `reaches(array)` must be at least `at_least`.
    """
    facts = {"shape": list(shape), "at_least": at_least}
    cases = Cases("construction", [[]], [None], _said(slips, [()]), facts)
    return cases, {"rules": rules, "reaches": reaches}


def _judge_construction(
    answer: Any,
    cases: Cases,
    rules: Mapping[str, Callable[[Array], Any]],
    reaches: Callable[[Array], float] | None = None,
) -> str:
    made, at_least = ask(answer, (), tuple(cases.facts["shape"])), cases.facts["at_least"]
    for sentence, holds in rules.items():
        if not np.all(holds(made)):
            wrong(sentence, None, made)
    if reaches is None:
        return "legal, as asked"
    found = float(reaches(made))
    if found < at_least - 1e-9 * max(1.0, abs(at_least)):
        default = "Legal, but more is possible."
        message = likely(cases.slips, [quiet(answer, ())], 0) or default
        wrong(message, made, found, f"at least {at_least:.6g}")
    return f"legal, and it reaches {found:.6g}"


# ---------------------------------------------------------------- projections, minimisers, subgradients


@_checker
def check_projection(
    onto: Set, seed: int = 0, slips: Slips = None, scale: float = 3.0
) -> tuple[Cases, dict[str, Any]]:
    """Check that `project(y)` returns the nearest point of the set `onto`.

    Call it as `check_projection(project, onto, …)`.

    >>> from ocolib.sets import Box
    >>> check_projection(lambda y: np.clip(y, 0, 1), Box([0, 0], [1, 1]))
    ✓ nearest point of the set on all 76 inputs
    """
    points = list(inputs(onto.dim, seed, scale))
    edge = [onto.project(y) for y in points if not onto.contains(y)]  # and points on the boundary
    asked = [[y] for y in points + edge]
    expected = [np.asarray(onto.project(y), dtype=float) for (y,) in asked]
    return Cases("projection", asked, expected, _said(slips, asked), {"set": repr(onto)}), {}


def _judge_projection(answer: Any, cases: Cases) -> str:
    points = [case[0] for case in cases.inputs]

    def outside(x: Array) -> bool:
        """Test whether x is outside: x in the set would imply ⟨y − Π(y), x − Π(y)⟩ ≤ 0 for every y."""
        return any(
            (y - best) @ (x - best) > 1e-7 * np.linalg.norm(y - best)
            for y, best in zip(points, cases.expected, strict=True)
        )

    for place, (y, best) in enumerate(zip(points, cases.expected, strict=True)):
        x = ask(answer, [y], y.shape)
        away = float(np.linalg.norm(x - best))
        if away <= 1e-7 * max(1.0, float(np.linalg.norm(best))):
            continue
        far = f"at distance {np.linalg.norm(x - y):.4f}; {np.linalg.norm(best - y):.4f} is possible"
        default = f"Your point is in the set, but not the nearest: {far}."
        if outside(x):
            default = f"Your point is not in {cases.facts['set']}."
        wrong(_why(answer, cases, place, default), called(answer, [y]), x, best)
    return f"nearest point of the set on all {len(points)} inputs"


@_checker
def check_argmin(
    objective: Callable[[Array, Array], Any],
    best: Callable[[Array], Array],
    over: Set,
    seed: int = 0,
    slips: Slips = None,
    scale: float = 3.0,
) -> tuple[Cases, dict[str, Any]]:
    """Check that `argmin(c)` minimises `objective(w, c)` over the set; `best(c)` is a known minimiser.

    Call it as `check_argmin(argmin, objective, best, over, …)`.
    """
    asked = [[c] for c in inputs(over.dim, seed, scale)]
    expected = [np.asarray(best(c), dtype=float) for (c,) in asked]
    return Cases("argmin", asked, expected, _said(slips, asked)), {"objective": objective, "over": over}


def _judge_argmin(answer: Any, cases: Cases, objective: Callable[[Array, Array], Any], over: Set) -> str:
    def named(place: int) -> str | None:
        return likely(cases.slips, [quiet(answer, case) for case in cases.inputs], place)

    for place, ((c,), known) in enumerate(zip(cases.inputs, cases.expected, strict=True)):
        w = ask(answer, [c], c.shape)
        if not over.contains(w, tol=1e-7):
            wrong(named(place) or f"Your w is not in {over!r}.", called(answer, [c]), w, known)
        mine, possible = float(objective(w, c)), float(objective(known, c))
        if mine > possible + 1e-9 * max(1.0, abs(possible)):
            values = f"Your w has value {mine:.6f}, and {possible:.6f} is possible."
            wrong(named(place) or values, called(answer, [c]), w, known)
    return f"a minimiser on all {len(cases.inputs)} inputs"


def _around(w: Array) -> Array:
    """Return points near w that expose a wrong subgradient: along axes, diagonals and random directions."""
    axes = list(np.eye(len(w)))
    diagonals = [a + s * b for a, b in combinations(axes, 2) for s in (1, -1)]
    anywhere = list(np.random.default_rng(0).standard_normal((6, len(w))))
    return np.array([w + size * d for size in (0.01, -0.01, 0.3, -0.3) for d in axes + diagonals + anywhere])


@_checker
def check_subgradient(
    value: Callable[[Array], Any],
    dim: int,
    over: Set | None = None,
    seed: int = 0,
    slips: Slips = None,
    scale: float = 3.0,
    at: Sequence[ArrayLike] = (),
) -> tuple[Cases, dict[str, Any]]:
    """Check that `subgradient(w)` is a subgradient of `value` at w (on the set `over`, if given).

    Call it as `check_subgradient(subgradient, value, dim, …)`. The test points include ties between
    coordinates. Each is compared with points far away and with points nearby, where kinks matter. List the
    kinks of your function in `at`.
    """
    rng = np.random.default_rng(seed + fresh)
    ties = [np.ones(dim), -np.ones(dim), *-np.eye(dim), *rng.integers(-1, 2, (6, dim)).astype(float)]
    points = [*inputs(dim, seed, scale), *ties, *(np.array(w, dtype=float) for w in at)]
    if over is not None:
        points = [over.project(w) for w in points]
    near = [[u for u in _around(w) if over is None or over.contains(u)] for w in points]
    facts = {
        "values": np.array([float(value(w)) for w in points]),
        "near": [np.array([over is None or over.contains(u) for u in _around(w)]) for w in points],
        "near_values": [np.array([float(value(u)) for u in around]) for around in near],
    }
    asked = [[w] for w in points]
    return Cases("subgradient", asked, [None] * len(asked), _said(slips, asked), facts), {}


def _judge_subgradient(answer: Any, cases: Cases) -> str:
    points, values = np.array([w for (w,) in cases.inputs]), cases.facts["values"]
    for place, w in enumerate(points):
        z = ask(answer, [w], w.shape)
        others = np.concatenate([points, _around(w)[cases.facts["near"][place]]])
        truths = np.concatenate([values, cases.facts["near_values"][place]])
        lines = values[place] + (others - w) @ z
        above = lines > truths + 1e-8 * np.maximum(1.0, np.abs(truths))
        if above.any():
            far = int(np.flatnonzero(above)[0])
            default = (
                f"No subgradient: at u = {show(others[far])} the line f(w) + ⟨z, u − w⟩ is "
                f"{lines[far]:.4f}, above f(u) = {truths[far]:.4f}."
            )
            given = [quiet(answer, case) for case in cases.inputs]
            message = likely(cases.slips, given, place) or default
            wrong(message, called(answer, [w]), z)
    return f"below the function at all {len(points) * len(others)} pairs of points"


# ---------------------------------------------------------------- learners and bounds


@_checker
def check_learner(
    reference: Any, rounds: int = 12, seed: int = 0, slips: Slips = None
) -> tuple[Cases, dict[str, Any]]:
    """Check that `rule(past)`, with z_1, …, z_{t−1} as rows, returns the play w_t of the learner `reference`.

    Call it as `check_learner(rule, reference, …)`.
    """
    dim = reference.player().predict().shape[-1]
    rng = np.random.default_rng(seed + fresh)
    there_and_back = np.where(np.arange(rounds) < rounds / 2, -1.0, 1.0)[:, None] * np.ones(dim)
    games = [
        rng.integers(-1, 2, (rounds, dim)).astype(float),
        there_and_back,  # pushes the play to the boundary of the set, then back
        10 * there_and_back,
        rng.standard_normal((rounds, dim)),
        0.05 * rng.standard_normal((rounds, dim)),
    ]
    asked = pasts(games)
    expected = [w for Z in games for w in play(reference, Z).points]
    said = _said(slips, asked)
    said += _wrong_learners(reference, games)
    return Cases("learner", asked, expected, said, {"games": games}), {}


def _wrong_learners(reference: Any, games: Sequence[Array]) -> list[tuple[str, list[Any]]]:
    """Return what the learner would play with common mistakes.

    They are: no projection, steps twice or half as long, and the step size of the next round.
    """
    if not is_dataclass(reference):
        return []
    dim = games[0].shape[1]
    changes: list[tuple[str, dict[str, Any]]] = []
    if not isinstance(getattr(reference, "over", None), Space | None):
        changes.append(("It leaves the set: project onto it after every step.", {"over": Space(dim)}))
    step: Any = getattr(reference, "eta", None)
    long, short = "The step is twice as long as it should be.", "The step is half as long as it should be."
    if isinstance(step, int | float):
        changes += [(long, {"eta": 2 * step}), (short, {"eta": step / 2})]
    elif callable(step):
        changes.append((long, {"eta": lambda t: 2 * step(t)}))
        changes.append((short, {"eta": lambda t: step(t) / 2}))
        changes.append(("That is the step of the next round.", {"eta": lambda t: step(t + 1)}))
    found = []
    for text, change in changes:
        try:
            other: Any = replace(reference, **change)  # type: ignore[type-var]
            found.append((text, [np.squeeze(w) for Z in games for w in play(other, Z).points]))
        except (TypeError, ValueError):  # the learner does not allow this change
            continue
    return found


def _judge_learner(answer: Any, cases: Cases) -> str:
    rounds = len(cases.facts["games"][0])
    early: list[Any] = [
        None if place % rounds == 0 else w for place, w in enumerate([None, *cases.expected[:-1]])
    ]
    late: list[Any] = [*cases.expected[1:], None]
    late = [None if place % rounds == rounds - 1 else w for place, w in enumerate(late)]
    shifted = [
        ("That is the play of the round before: the index is off by one.", early),
        ("That is the play of the next round: the index is off by one.", late),
    ]
    for place, ((past,), play_) in enumerate(zip(cases.inputs, cases.expected, strict=True)):
        w = ask(answer, [past], play_.shape)
        if not np.allclose(w, play_, rtol=1e-8, atol=1e-8):
            default = f"In round {len(past) + 1} the rule plays a different point."
            seen = show(past) if len(past) else f"nothing yet, an array of shape {past.shape}"
            wrong(_why(answer, cases, place, default, shifted), f"past = {seen}", w, play_)
    return f"the same play in all {len(cases.inputs)} rounds"


@_checker
def check_bound(
    games: Sequence[tuple[Sequence[Any], float]],
    best: Callable[..., Any] | None = None,
    slips: Slips = None,
    close: float = 1e-9,
) -> tuple[Cases, dict[str, Any]]:
    """Check that `bound(*args)` holds in every game and, if `best` is given, equals `best(*args)`.

    Call it as `check_bound(bound, games, …)`. `games` is a list of pairs (args, measured) of games that were
    played. `best` is the best proved bound; if it was found on a grid, `close` is the relative tolerance.
    """
    asked = [list(args) for args, _ in games]
    others = [] if best is None else _others(asked, best)  # nobody played these; the bound is known
    measured = [float(measured) for _, measured in games] + [-np.inf] * len(others)
    asked += others
    expected = [None if best is None else float(best(*args)) for args in asked]
    facts = {"measured": measured, "close": close}
    return Cases("bound", asked, expected, _said(slips, asked), facts), {}


def _judge_bound(answer: Any, cases: Cases) -> str:
    bounds = []
    for place, (args, measured) in enumerate(zip(cases.inputs, cases.facts["measured"], strict=True)):
        bounds.append(ask(answer, args, ()))
        if bounds[-1] < measured - 1e-9 * max(1.0, abs(measured)):
            default = "Not a bound: a game with these numbers was played, and it cost more."
            expected = f"at least {measured:.6g}, what the game costs"
            wrong(_why(answer, cases, place, default), called(answer, args), bounds[-1], expected)
    for place, (args, got, proved) in enumerate(zip(cases.inputs, bounds, cases.expected, strict=True)):
        if proved is not None and not same(got, proved, max(cases.facts["close"], SEARCH)):
            less = "No game here breaks it, but it is less than what is proved."
            default = "True, but loose." if got > proved else less
            message = _why(answer, cases, place, default)
            wrong(message, called(answer, args), got, f"{proved:.6g}, which is proved")
    sharp = ", and it is the sharp one" if cases.expected[0] is not None else ""
    return f"holds in all {len(cases.inputs)} games{sharp}"


JUDGES: dict[str, Callable[..., str]] = {
    "formula": _judge_formula,
    "value": _judge_value,
    "construction": _judge_construction,
    "projection": _judge_projection,
    "argmin": _judge_argmin,
    "subgradient": _judge_subgradient,
    "learner": _judge_learner,
    "bound": _judge_bound,
}
