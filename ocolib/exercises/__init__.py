"""Feedback on a student's code. A checker calls the student's function, on small inputs first where it
chooses them, and answers with a `Verdict`: if one fails, what is wrong and, where it can be told, on which
input, in which line, what came, what was expected.

A page's author calls `check_formula`, `check_learner`, … with a reference and `slips`, {sentence: what a
student with this slip would write}. They become `Cases`, plain data, and these are judged. In the student's
cell stands `check("ex-…", my_answer)`, which judges by the data that were recorded when the page was made:
no student sees a reference. `tell` hears the verdict: in a notebook it prints, in the browser the page shows
it, grading notes it down. With `strict=True` a wrong or missing answer raises `WrongAnswer`, and `tell` hears
nothing of it. All needs NumPy alone.
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

#: what receives a verdict; a page in the browser and the judge put their own function in its place
tell: Callable[[Verdict], Any] = print

#: added to the seed of every checker that draws: the judge tries instances that no page shows
fresh: int = 0

#: where the checkers write down their cases, when the notebooks are made
record: list[Cases] | None = None

#: what a search finds of an argument that minimises: about the root of the last digit
SEARCH = 1e-6


class WrongAnswer(AssertionError):
    """Raised by a checker in strict mode."""


def _judge(cases: Cases, answer: Any, properties: Mapping[str, Any], strict: bool) -> None:
    """Tell the verdict of one check."""
    try:
        verdict = Verdict(True, JUDGES[cases.kind](answer, cases, **properties))
    except Stop as stop:
        verdict = stop.args[0]
    if strict and not verdict.passed:
        raise WrongAnswer(str(verdict))
    tell(verdict)


def check(name: str, answer: Any, part: int = 1, strict: bool = False, **properties: Any) -> None:
    """Judge an answer by the recorded cases of an exercise.

    `part` says which check, where an exercise has several. What a property decides is handed over: the
    `rules` of a construction and what it `reaches`, the `objective` of a minimiser and the set it is `over`.
    """
    _judge(recorded(name)[part - 1], answer, properties, strict)


def _checker(build: Callable[..., tuple[Cases, dict[str, Any]]]) -> Callable[..., None]:
    """Turn `build(…)`, which makes cases and properties, into a check of the first argument."""

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
    """Yield inputs: small whole vectors first, because a failure there is easy to follow by hand.

    Then short and long ones, so that, if `scale` suits it, a set around 0 is tried inside and out.
    """
    rng = np.random.default_rng(seed + fresh)
    yield np.zeros(dim)
    yield from np.eye(dim)
    yield from rng.integers(-2, 3, (10, dim)).astype(float)
    yield from np.geomspace(0.1, scale, many)[:, None] * rng.standard_normal((many, dim))


def _others(cases: Sequence[Sequence[Any]], truth: Callable[..., Any]) -> list[list[Any]]:
    """Return cases for the judge: floats up to 10 % off, ints up to 2 more, where the truth is finite."""
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


def _said(slips: Slips, cases: Sequence[Sequence[Any]]) -> list[tuple[str, list[Any]]]:
    """What a student with each slip would get in each case."""
    return [(text, [quiet(slip, case) for case in cases]) for text, slip in (slips or {}).items()]


def _why(answer: Any, cases: Cases, failed: int, default: str, more: Sequence[Any] = ()) -> str:
    """The slip that explains what came: of this exercise, of its kind, of any formula; or the default."""
    given = [quiet(answer, case) for case in cases.inputs]
    named = likely(cases.slips, given, failed)
    if named is None and _overflows(answer, cases, failed):
        bits = 8 * np.dtype(int).itemsize
        return f"Whole numbers have {bits} bits here, and these overflow: with floats your answer is right."
    generic = [*more, *(anywhere(cases.expected) if _varied(cases.expected) else ())]
    apart = [pair for pair in generic if not _no_slip(pair[1], cases.expected, failed)]
    return named or likely(apart, given, failed) or default


def _varied(expected: Sequence[Any]) -> bool:
    """Are there three different answers at least? Else many a wrong formula fits by chance."""
    return len({np.asarray(e, dtype=float).tobytes() for e in expected if e is not None}) >= 3


def _no_slip(values: Sequence[Any], expected: Sequence[Any], failed: int) -> bool:
    """Would this slip give the right answer?"""
    return values[failed] is None or same(values[failed], expected[failed], SEARCH)


def _overflows(answer: Any, cases: Cases, failed: int) -> bool:
    """Is the answer right once the whole numbers among its inputs are floats?"""
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
    """Is `formula(*case)` equal to `truth(*case)` in every case? Begin with a case that is easy by hand.

    Called as `check_formula(formula, truth, cases, …)`. An answer that a search found counts too: it has half
    of the digits that a formula has.
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
            default = "Not yet: here the answer is another one."
            if same(got, expected, 1e-3):
                default += " It is near: search finer, or find the formula."
            wrong(_why(answer, cases, place, default), called(answer, case), got, expected)
    return f"right in all {len(cases.inputs)} cases" + ("" if exact else ", to six digits at least")


@_checker
def check_value(
    expected: ArrayLike, slips: Any = None, close: float = 1e-9, hints: Any = None
) -> tuple[Cases, dict[str, Any]]:
    """Does `answer()` return the number (or array) that is expected?

    Called as `check_value(answer, expected, …)`. `slips` is {sentence: the wrong value that it explains}, or
    pairs (value, sentence), also named `hints`.
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
        ("The sign is the other one.", (-got,)),
        ("It is twice what is asked for: is a factor ½ missing?", (got / 2,)),
        ("It is half of what is asked for: is there a ½ too many?", (2 * got,)),
    ):
        if got.any() and _is(back, expected, close):
            wrong(text, None, got)
    wrong("Not this: work it out once more.", None, got)


def _is(got: Array, expected: Any, close: float) -> bool:
    return expected.fits(got) if isinstance(expected, Fingerprint) else same(got, expected, close)


@_checker
def check_construction(
    shape: tuple[int | None, ...],
    rules: Mapping[str, Callable[[Array], Any]],
    reaches: Callable[[Array], float] | None = None,
    at_least: float = 0.0,
    slips: Slips = None,
) -> tuple[Cases, dict[str, Any]]:
    """Is what `answer()` makes legal, and does it reach what is asked?

    Called as `check_construction(answer, shape, rules, …)`. `rules` is {sentence: what must be true of it},
    the sentence told where it is not. `reaches`, if given, measures it, and must come to `at_least`.
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
        return "legal, and as it was asked for"
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
    """Is `project(y)` the nearest point of the set `onto`? Called as `check_projection(project, onto, …)`."""
    points = list(inputs(onto.dim, seed, scale))
    edge = [onto.project(y) for y in points if not onto.contains(y)]  # and points on the boundary
    asked = [[y] for y in points + edge]
    expected = [np.asarray(onto.project(y), dtype=float) for (y,) in asked]
    return Cases("projection", asked, expected, _said(slips, asked), {"set": repr(onto)}), {}


def _judge_projection(answer: Any, cases: Cases) -> str:
    points = [case[0] for case in cases.inputs]

    def outside(x: Array) -> bool:
        """Of a convex set every projection tells a half-space: ⟨y − Π(y), x − Π(y)⟩ ≤ 0 for x in the set."""
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
    """Does `argmin(c)` minimise `objective(w, c)` over the set? `best(c)` is a known minimiser.

    Called as `check_argmin(argmin, objective, best, over, …)`.
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
    """Where a wrong subgradient at w shows close by: along the axes, along their diagonals, and anywhere."""
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
    """Is `subgradient(w)` a subgradient of the function `value` at w (relative to `over`, if given)?

    Called as `check_subgradient(subgradient, value, dim, …)`. Points where several things are equal come too,
    and each point is compared with others far away and with some close by: there a kink shows. Name the kinks
    of your function in `at`.
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
    """Does `rule(past)`, with the past z_1, …, z_{t−1} as rows, play w_t as the learner `reference` does?

    Called as `check_learner(rule, reference, …)`.
    """
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
    asked = pasts(games)
    expected = [w for Z in games for w in play(reference, Z).points]
    said = _said(slips, asked)
    said += _wrong_learners(reference, games)
    return Cases("learner", asked, expected, said, {"games": games}), {}


def _wrong_learners(reference: Any, games: Sequence[Array]) -> list[tuple[str, list[Any]]]:
    """What the same learner plays that never projects, or takes steps that are twice or half as long, or
    those of the next round."""
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
        except (TypeError, ValueError):  # it cannot do without
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
            default = f"In round {len(past) + 1} the rule plays another point."
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
    """Is `bound(*args)` at least what was measured in every game and, if `best` is given, equal to
    `best(*args)`?

    Called as `check_bound(bound, games, …)`. `games` lists pairs (args, measured) of games that were played:
    the verdict speaks of them. `best` is the least that is proved; where it was found on a grid, `close` says
    how close that comes.
    """
    asked = [list(args) for args, _ in games]
    expected = [None if best is None else float(best(*args)) for args in asked]
    facts = {"measured": [float(measured) for _, measured in games], "close": close}
    return Cases("bound", asked, expected, _said(slips, asked), facts), {}


def _judge_bound(answer: Any, cases: Cases) -> str:
    promised = []
    for place, (args, measured) in enumerate(zip(cases.inputs, cases.facts["measured"], strict=True)):
        promised.append(ask(answer, args, ()))
        if promised[-1] < measured - 1e-9 * max(1.0, abs(measured)):
            default = "Broken: a game with these numbers was played, and costs more."
            expected = f"at least {measured:.6g}, what the game costs"
            wrong(_why(answer, cases, place, default), called(answer, args), promised[-1], expected)
    for place, (args, got, proved) in enumerate(zip(cases.inputs, promised, cases.expected, strict=True)):
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
