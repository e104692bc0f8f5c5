"""Feedback on a student's code. A checker runs the student's function on small inputs first, stops at the
first that fails, and says what is wrong with it.

It prints a verdict and never raises; with `strict=True` (for grading) a wrong answer raises `WrongAnswer`.
All needs NumPy alone.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np

from ocolib.game import play
from ocolib.protocols import Array, Learner, Set


class WrongAnswer(AssertionError):
    """Raised by a checker in strict mode."""


class _Stop(Exception):
    """Carries the explanation from the first failing input to the verdict."""


def _checker(check: Callable[..., str]) -> Callable[..., None]:
    """Turn `check(...)`, which raises `_Stop` with an explanation, into one that prints a verdict."""

    @wraps(check)
    def wrapped(*args: Any, strict: bool = False, **kwargs: Any) -> None:
        try:
            praise = check(*args, **kwargs)
        except _Stop as stop:
            if strict:
                raise WrongAnswer(str(stop)) from None
            print(stop)
        else:
            print(f"✓ {praise}")

    return wrapped


def _ask(function: Callable[..., Any], *inputs: Any, shape: tuple[int, ...] | None = None) -> Array:
    """The student's answer as floats, or an explanation of why there is none."""
    shown = ", ".join(_show(x) for x in inputs)
    try:
        answer = function(*(np.array(x) if isinstance(x, np.ndarray) else x for x in inputs))
    except Exception as error:  # whatever the student's code does, the reader gets a sentence
        raise _Stop(f"✗ On ({shown}) your function raised {type(error).__name__}: {error}") from None
    if answer is None or (isinstance(answer, list) and any(part is None for part in answer)):
        raise _Stop("… not yet: your function returns None. Replace the stub and run the cell again.")
    try:
        answer = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        raise _Stop(f"✗ On ({shown}) your function returned {answer!r}, which is not numeric.") from None
    if shape is not None and answer.shape != shape:
        raise _Stop(f"✗ On ({shown}) your answer has shape {answer.shape}; it should be {shape}.")
    if not np.isfinite(answer).all():
        raise _Stop(f"✗ On ({shown}) your answer is {_show(answer)}: not finite.")
    return answer


def _show(x: Any) -> str:
    if np.ndim(x) == 0:
        return f"{float(x):.6g}" if isinstance(x, (int, float, np.number, np.ndarray)) else repr(x)
    return np.array2string(np.asarray(x, dtype=float), precision=4, separator=", ", suppress_small=True)


def inputs(dim: int, seed: int, scale: float = 3.0, many: int = 30) -> Iterator[Array]:
    """Small whole vectors first: a failure there is easy to follow by hand. Then short and long ones, so
    that a set is tried inside and out.
    """
    rng = np.random.default_rng(seed)
    yield np.zeros(dim)
    yield from np.eye(dim)
    yield from rng.integers(-2, 3, (10, dim)).astype(float)
    yield from np.geomspace(0.1, scale, many)[:, None] * rng.standard_normal((many, dim))


@_checker
def check_projection(project: Callable[[Array], Any], onto: Set, seed: int = 0) -> str:
    """Is `project(y)` the nearest point of the set `onto`?"""
    points = list(inputs(onto.dim, seed))
    edge = [onto.project(y) for y in points if not onto.contains(y)]  # and points on the boundary
    for y in points + edge:
        x, best = _ask(project, y, shape=y.shape), onto.project(y)
        if not onto.contains(x, tol=1e-7):
            raise _Stop(f"✗ project({_show(y)}) = {_show(x)} is not in {onto!r}.")
        mine, possible = np.linalg.norm(x - y), np.linalg.norm(best - y)
        if mine > possible + 1e-7:
            raise _Stop(
                f"✗ project({_show(y)}) = {_show(x)} is in the set, at distance {mine:.4f} from y; "
                f"{_show(best)} is in the set too, and nearer: {possible:.4f}."
            )
    return f"nearest point of the set on all {len(points + edge)} inputs"


@_checker
def check_argmin(
    argmin: Callable[[Array], Any],
    objective: Callable[[Array, Array], Any],
    best: Callable[[Array], Array],
    over: Set,
    seed: int = 0,
) -> str:
    """Does `argmin(c)` minimise `objective(w, c)` over the set? `best(c)` is a known minimiser."""
    tried = 0
    for c in inputs(over.dim, seed):
        w = _ask(argmin, c, shape=c.shape)
        if not over.contains(w, tol=1e-7):
            raise _Stop(f"✗ For c = {_show(c)} your w = {_show(w)} is not in {over!r}.")
        mine, possible = float(objective(w, c)), float(objective(best(c), c))
        if mine > possible + 1e-7 * max(1.0, abs(possible)):
            raise _Stop(
                f"✗ For c = {_show(c)} your w = {_show(w)} has value {mine:.6f}; "
                f"{_show(best(c))} is in the set and has {possible:.6f}."
            )
        tried += 1
    return f"a minimiser on all {tried} inputs"


@_checker
def check_subgradient(
    subgradient: Callable[[Array], Any],
    value: Callable[[Array], Any],
    dim: int,
    over: Set | None = None,
    seed: int = 0,
) -> str:
    """Is `subgradient(w)` a subgradient of the function `value` at w (relative to `over`, if given)?"""
    points = list(inputs(dim, seed))
    if over is not None:
        points = [over.project(w) for w in points]
    for w in points:
        z = _ask(subgradient, w, shape=w.shape)
        for u in points:
            line, truth = float(value(w) + z @ (u - w)), float(value(u))
            if line > truth + 1e-8 * max(1.0, abs(truth)):
                raise _Stop(
                    f"✗ At w = {_show(w)} your z = {_show(z)} is no subgradient: at u = {_show(u)} the line "
                    f"f(w) + ⟨z, u − w⟩ is {line:.4f}, above f(u) = {truth:.4f}."
                )
    return f"below the function at all {len(points) ** 2} pairs of points"


@_checker
def check_learner(rule: Callable[[Array], Any], reference: Learner, rounds: int = 12, seed: int = 0) -> str:
    """Does `rule(past)`, with the past z_1, …, z_{t−1} as rows, play w_t as the learner `reference` does?"""
    dim = reference.player().predict().shape[-1]
    rng = np.random.default_rng(seed)
    there_and_back = np.where(np.arange(rounds) < rounds / 2, -1.0, 1.0)[:, None] * np.ones(dim)
    games = [
        rng.integers(-1, 2, (rounds, dim)).astype(float),
        there_and_back,  # past the walls, if there are any, and home again
        10 * there_and_back,
        rng.standard_normal((rounds, dim)),
    ]
    for Z in games:
        wanted = play(reference, Z).points
        for t in range(rounds):
            w = _ask(rule, Z[:t], shape=(dim,))
            if np.abs(w - wanted[t]).max() > 1e-7 * max(1.0, np.abs(wanted[t]).max()):
                raise _Stop(
                    f"✗ Round {t + 1}, after z = {_show(Z[:t]) if t else 'nothing yet'}: "
                    f"you play {_show(w)}, the rule gives {_show(wanted[t])}."
                )
    return f"the same play in all {len(games) * rounds} rounds"


@_checker
def check_bound(
    bound: Callable[..., Any],
    games: Sequence[tuple[tuple[Any, ...], float]],
    best: Callable[..., Any] | None = None,
) -> str:
    """Is `bound(*args)` at least what was measured in every game, and equal to `best(*args)`, what is proved?

    `games` lists pairs (args, measured).
    """
    for args, measured in games:
        promised = float(_ask(bound, *args, shape=()))
        if promised < measured - 1e-9 * max(1.0, abs(measured)):
            raise _Stop(
                f"✗ A game with {args} reaches {measured:.4f}: your bound, {promised:.4f}, is broken."
            )
    for args, _ in games:
        if best is None:
            break
        promised, proved = float(_ask(bound, *args, shape=())), float(best(*args))
        if promised > proved + 1e-9 * abs(proved):
            raise _Stop(
                f"✗ True, but loose: for {args} you promise {promised:.4f}, but {proved:.4f} is proved."
            )
        if promised < proved - 1e-4 * max(1.0, abs(proved)):  # room for a proved value found on a grid
            raise _Stop(
                f"✗ No game here breaks it, but for {args} you promise {promised:.4f} and only "
                f"{proved:.4f} is proved."
            )
    return f"holds in all {len(games)} games" + (", and it is the sharp one" if best else "")


@_checker
def check_value(answer: Any, expected: Any, hints: Sequence[tuple[Any, str]] = ()) -> str:
    """Is the number (or array) `answer`, or what the function `answer` returns, right?

    `hints` lists pairs (wrong value, what may have happened).
    """
    answer = _ask(answer if callable(answer) else lambda: answer)
    expected = np.asarray(expected, dtype=float)
    if answer.shape != expected.shape:
        raise _Stop(f"✗ Your answer has shape {answer.shape}; it should be {expected.shape}.")

    def same(x: Any) -> bool:
        return np.allclose(answer, x, rtol=1e-6, atol=1e-9)

    if not same(expected):
        hint = next(
            (text for wrong, text in hints if same(np.asarray(wrong, dtype=float))), "Not this number."
        )
        raise _Stop(f"✗ You have {_show(answer)}. {hint}")
    return "right"
