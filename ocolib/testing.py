"""Check sets, losses, learners and theorems, ours and yours: an `AssertionError` says what is wrong.

>>> from ocolib.sets import Ball
>>> check_set(Ball(2))  # nothing to say: all is well
>>> class Shrinks(Ball):
...     def project(self, y):
...         return 0.9 * super().project(y)
>>> check_set(Shrinks(2))
Traceback (most recent call last):
    ...
AssertionError: Shrinks(...): project moves the point [0.9 0. ] of the set

What has a cvxpy form (`constraints`, `expression`) is compared with the solver, if cvxpy is installed. The
formula of a learner cannot be checked without knowing it: write it once more in three lines, and compare.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from ocolib.game import loop, play
from ocolib.learners import FTL
from ocolib.losses import Examples, Linear, perceptron_loss
from ocolib.phi import Phi
from ocolib.sets import Set, Space
from ocolib.theorems.base import Theorem, share
from ocolib.types import Array


def all_of(base: type) -> list[type]:
    """Return every class of the library that describes a kind of `base`: all sets, all φ."""
    children: list[type] = base.__subclasses__()
    found = [cls for child in children for cls in [child, *all_of(child)]]
    return [
        cls for cls in found if "__dataclass_fields__" in vars(cls) and cls.__module__.startswith("ocolib")
    ]


def by_loop(learner: Any, Z: Array) -> Array:
    """Return the plays w_1, …, w_{T+1} against linear losses, round by round: what `points` must give."""
    return loop(learner, np.asarray(Z, dtype=float), Z.shape[-2]).plays


def _examples(thing: Any, seed: int) -> Iterator[Any]:
    """The object itself, or of a class its examples in a few dimensions."""
    if not isinstance(thing, type):
        yield thing
        return
    for dim in (1, 2, 3, 5):
        yield from thing.examples(dim, np.random.default_rng([seed, dim]))  # type: ignore[attr-defined]


def _require(truth: Any, message: str) -> None:
    if not truth:
        raise AssertionError(message)


def _solver() -> bool:
    return find_spec("cvxpy") is not None


def _name(thing: Any) -> str:
    return f"{type(thing).__name__}(...)"


# ---------------------------------------------------------------- sets


def check_set(over: Any, seed: int = 0) -> None:
    """Check a set, or all examples of a class of sets.

    `project` gives the nearest point (by the variational inequality, by cvxpy), of many points as of one;
    `contains`, `minimize_linear`, `farthest` and `diameter` agree with it, where the set has them. A subclass
    of `Set` must also refuse nan, inf and wrong shapes at its door.
    """
    for one in _examples(over, seed):
        rng = np.random.default_rng(seed)
        far = [
            s * rng.standard_normal(one.dim) for s in (0.1, 1.0, 1.0, 10.0, 10.0, 1000.0) for _ in range(4)
        ]
        Y = np.array([np.zeros(one.dim), *(50.0 * np.eye(one.dim)), *(-50.0 * np.eye(one.dim)), *far])
        P = _check_projection(one, Y)
        _check_membership(one, Y, P)
        if hasattr(one, "minimize_linear"):
            _check_minimiser(one, P, rng)
        if hasattr(one, "farthest") and hasattr(one, "minimize_linear"):
            _check_size(one, P, rng)
        if isinstance(one, Set):
            _check_door(one)


def _check_projection(over: Any, Y: Array) -> Array:
    before = Y.copy()
    P = np.array([over.project(y) for y in Y])
    who = _name(over)
    _require(P.shape == Y.shape, f"{who}: project must return shape ({over.dim},), got {P.shape[1:]}")
    _require(np.isfinite(P).all(), f"{who}: project must return finite points")
    _require(np.array_equal(Y, before), f"{who}: project must not change its argument")
    y = Y[0].copy()
    over.project(y)[...] = 7.0
    _require(np.array_equal(y, Y[0]), f"{who}: project must return a new array, not its argument")
    scale = np.maximum(1.0, np.abs(Y).max(axis=1))
    if hasattr(over, "constraints") and _solver():
        for p, s, excess in zip(P, scale, _violations(over, P), strict=True):
            _require(excess <= 1e-9 * s, f"{who}: project gives {p}, which breaks the constraints")
    for p, again, s in zip(P, (over.project(p) for p in P), scale, strict=True):
        _require(np.abs(p - again).max() <= 1e-9 * s, f"{who}: project moves the point {p} of the set")
    # p is the nearest point to y if and only if ⟨y − p, q − p⟩ ≤ 0 for all q of the set
    angle = ((Y - P)[:, None, :] * (P[None, :, :] - P[:, None, :])).sum(axis=-1)
    size = np.linalg.norm(Y - P, axis=1)[:, None] * np.linalg.norm(P[None] - P[:, None], axis=-1)
    i, j = np.unravel_index(np.argmax(angle - 1e-7 * size), angle.shape)
    _require(
        angle[i, j] <= 1e-7 * size[i, j] + 1e-9 * scale[i],
        f"{who}: project({Y[i]}) gives {P[i]}, but {P[j]} of the set is on the near side of it",
    )
    if hasattr(over, "constraints") and _solver():
        from ocolib import oracle

        nearest = oracle.projector(over)
        for y, p in zip(Y[::3], P[::3], strict=True):
            if np.abs(y).max() <= 100:
                near = np.linalg.norm(p - y) - np.linalg.norm(nearest(y) - y)
                _require(
                    near <= 1e-5 * max(1.0, np.abs(y).max()),
                    f"{who}: a point nearer than project({y}) exists",
                )
    many = over.project(np.stack([Y, Y[::-1]])) if isinstance(over, Set) else P
    together = many[0] if isinstance(over, Set) else P
    _require(
        np.allclose(together, P, rtol=1e-12, atol=1e-12), f"{who}: project of many points is not that of each"
    )
    return P


def _violations(over: Any, points: Array) -> list[float]:
    """Return by how much each point breaks the constraints, 0 if it does not."""
    import cvxpy as cp

    x = cp.Variable(over.dim)
    conditions, found = over.constraints(x), []
    if any(v is not x for c in conditions for v in c.variables()):  # variables of its own: ask the solver
        from ocolib import oracle

        nearest = oracle.projector(over)
        for point in points:
            away = float(np.linalg.norm(nearest(point) - point))
            found.append(max(0.0, away - 1e-5 * max(1.0, np.abs(point).max())))  # it is good to about 1e-6
        return found
    for point in points:
        x.value = point
        found.append(max((float(np.max(c.violation())) for c in conditions), default=0.0))
    return found


def _check_membership(over: Any, Y: Array, P: Array) -> None:
    if not hasattr(over, "contains"):
        return
    who, away = _name(over), np.linalg.norm(Y - P, axis=1)
    for y, p, d in zip(Y, P, away, strict=True):
        _require(over.contains(p), f"{who}: contains({p}) must be true, it is a projection")
        if d > 1e-3:
            out = p + (y - p) * (1e-4 * max(1.0, np.abs(p).max()) / d)
            _require(not over.contains(y), f"{who}: contains({y}) must be false, its nearest point is {p}")
            _require(not over.contains(out), f"{who}: contains({out}) must be false, it is just outside")
    if isinstance(over, Set):
        each = [bool(over.contains(y)) for y in Y]
        _require(
            np.array_equal(over.contains(Y), each), f"{who}: contains of many points is not that of each"
        )
        for bad in (np.nan, np.inf, -np.inf):
            _require(not over.contains(np.full(over.dim, bad)), f"{who}: {bad} is in no set")


def _check_minimiser(over: Any, P: Array, rng: np.random.Generator) -> None:
    who = _name(over)
    C = [*np.eye(over.dim), *-np.eye(over.dim), np.ones(over.dim), -np.ones(over.dim)]
    C = [*C, np.zeros(over.dim), *rng.standard_normal((12, over.dim))]
    bounded = []
    for c in C:
        far = np.array([over.project(-s * c) for s in (1.0, 1e3, 1e6)])
        try:
            x = over.minimize_linear(c)
        except ValueError:
            falls = far @ c
            still = falls[2] >= falls[1] - 1.0
            _require(not still, f"{who}: ⟨c, x⟩ with c = {c} has a minimum, and minimize_linear refuses")
            continue
        bounded.append(c)
        _require(np.shape(x) == (over.dim,), f"{who}: minimize_linear must return shape ({over.dim},)")
        _require(np.allclose(over.project(x), x, atol=1e-9), f"{who}: minimize_linear({c}) is not in the set")
        least = float(np.min(np.vstack([P, far]) @ c))
        _require(
            c @ x <= least + 1e-7 * max(1.0, abs(least)), f"{who}: minimize_linear({c}) is not the least"
        )
        near = far[2]
        _require(
            np.linalg.norm(x - near) <= 1e-3 * max(1.0, float(np.linalg.norm(near))),
            f"{who}: of several minimisers for c = {c} the one of least norm is wanted",
        )
        small = over.minimize_linear(1e-200 * c)
        _require(
            np.allclose(small, x, atol=1e-9), f"{who}: minimize_linear sees only the direction of c, not {c}"
        )
    if isinstance(over, Set) and bounded:
        together = over.minimize_linear(np.stack([bounded, bounded[::-1]]))[0]
        each = np.array([over.minimize_linear(c) for c in bounded])
        _require(
            np.allclose(together, each, atol=1e-12), f"{who}: minimize_linear of many is not that of each"
        )


def _check_size(over: Any, P: Array, rng: np.random.Generator) -> None:
    who = _name(over)
    if not np.isfinite(over.diameter):
        _require(over.farthest(P[0]) == np.inf, f"{who}: a set without bound has farthest = ∞")
        return
    directions = np.vstack([np.eye(over.dim), -np.eye(over.dim), rng.standard_normal((400, over.dim))])
    edge = np.array([over.minimize_linear(c) for c in directions])
    for point in (np.zeros(over.dim), rng.standard_normal(over.dim), edge[0]):
        reached, said = np.linalg.norm(edge - point, axis=1).max(), over.farthest(point)
        away = over.minimize_linear(point - edge[np.linalg.norm(edge - point, axis=1).argmax()])
        reached = max(reached, float(np.linalg.norm(away - point)))
        _require(
            reached <= said * (1 + 1e-9) + 1e-12,
            f"{who}: farthest({point}) is {said}, but {reached} is reached",
        )
        _require(
            said <= 1.05 * reached + 1e-9,
            f"{who}: farthest({point}) is {said}, and {reached} is all there is",
        )
    across = max(float(np.linalg.norm(edge - p, axis=1).max()) for p in edge)
    _require(across <= over.diameter * (1 + 1e-9) + 1e-12, f"{who}: two points are {across} apart")
    _require(
        over.diameter <= 1.05 * across + 1e-9, f"{who}: the diameter is about {across}, not {over.diameter}"
    )


def _check_door(over: Set) -> None:
    n = over.dim
    bad: list[Any] = [np.full(n, np.nan), np.full(n, np.inf), np.zeros(n + 1), np.zeros((0, n)), "x", 1.0]
    for method, x in product((over.project, over.minimize_linear), bad):
        with contextlib.suppress(ValueError):
            method(x)
            raise AssertionError(f"{_name(over)}: {method.__name__} must refuse {x!r} with a ValueError")


# ---------------------------------------------------------------- φ and losses


def check_phi(phi: Any, seed: int = 0) -> None:
    """Check a φ, or all examples of a class: convexity, slopes, constants, the cvxpy form."""
    for one in _examples(phi, seed):
        if one.takes in ("classes", "vectors"):
            _check_scores(one, np.random.default_rng(seed))
        else:
            _check_scalar(one)


def _labels(phi: Any) -> list[float]:
    return {"signs": [-1.0, 1.0], "counts": [0.0, 1.0, 4.0]}.get(phi.takes, [-1.5, 0.0, 2.0])


def _check_scalar(phi: Any) -> None:
    who, h = _name(phi), 1e-6
    kinks = [
        getattr(phi, "threshold", 0.0),
        *(s + getattr(phi, "eps", 0.0) * e for s in _labels(phi) for e in (1, -1)),
    ]
    p = np.unique(
        np.concatenate([np.linspace(-6, 6, 97), kinks, [k - 1.0 for k in kinks], [k + 1.0 for k in kinks]])
    )
    for y in _labels(phi):
        label = np.full(len(p), y)
        value, slope = phi.value(p, label), phi.slope(p, label)
        low, high = phi.subdifferential(p, label)
        _require(value.shape == slope.shape == p.shape, f"{who}: value and slope must have the shape of p")
        one = [float(phi.value(q, y)) for q in p], [float(phi.slope(q, y)) for q in p]
        _require(
            np.allclose([value, slope], one, rtol=1e-12, atol=1e-300), f"{who}: many p are not p one by one"
        )
        _require(((low <= slope) & (slope <= high)).all(), f"{who}: the slope is outside the subdifferential")
        for s, words in ((slope, "slope"), (low, "least slope"), (high, "greatest slope")):
            line = value[:, None] + s[:, None] * (p[None, :] - p[:, None])
            broken = line > value[None, :] + 1e-9 * np.maximum(1.0, np.abs(value[None, :]))
            _require(
                not broken.any(), f"{who}: at p = {p[broken.any(axis=1)][:1]} the {words} is no subgradient"
            )
        size = 1e-4 * np.maximum(1.0, np.abs(value) + np.abs(slope))
        left, right = (value - phi.value(p - h, label)) / h, (phi.value(p + h, label) - value) / h
        for s, seen in ((low, left), (high, right)):
            bad = np.abs(s - seen) > size
            _require(
                not bad.any(), f"{who}: at p = {p[bad][:1]} the slope is {seen[bad][:1]}, not {s[bad][:1]}"
            )
        _check_cvxpy(who, lambda x, y=label: phi.expression(x, y), phi, p, value)
    _check_constants(phi, who)


def _check_constants(phi: Any, who: str) -> None:
    p = np.concatenate([np.linspace(-40, 40, 8001)])
    slopes = np.array([phi.slope(p, np.full(len(p), y)) for y in _labels(phi)])
    steepest, bends = np.abs(slopes).max(), np.diff(slopes, axis=1) / np.diff(p)
    for name, seen, most in (
        ("lipschitz", steepest, True),
        ("smooth", bends.max(), True),
        ("curvature", bends.min(), False),
    ):
        said = getattr(phi, name)
        if said is not None:
            wrong = seen > said * (1 + 1e-6) if most else seen < said * (1 - 1e-6)
            _require(not wrong, f"{who}: {name} is {said}, but {seen:g} is seen")
            _require(np.isclose(seen, said, rtol=0.02), f"{who}: {name} is {said}, and only {seen:g} is seen")


def _check_cvxpy(who: str, form: Callable[..., Any], thing: Any, p: Array, value: Array) -> None:
    if not _solver() or getattr(type(thing), "expression", Phi.expression) is Phi.expression:
        return
    import cvxpy as cp

    _require(
        np.allclose(form(cp.Constant(p)).value, value, rtol=1e-6, atol=1e-9),
        f"{who}: expression is another function",
    )
    _require(form(cp.Variable(len(p))).is_convex(), f"{who}: cvxpy cannot see that expression is convex")


def _check_scores(phi: Any, rng: np.random.Generator) -> None:
    who = _name(phi)
    n = next((len(getattr(phi, name)) for name in ("M", "delta") if hasattr(phi, name)), 3)
    F = np.vstack([rng.integers(-2, 3, (8, n)).astype(float), 3 * rng.standard_normal((12, n))])
    targets = range(n) if phi.takes == "classes" else list(rng.standard_normal((2, n)))
    for y in targets:
        values = np.array([float(phi.value(f, y)) for f in F])
        for f, value in zip(F, values, strict=True):
            z = phi.slope(f, y)
            _require(np.shape(z) == (n,), f"{who}: the slope must be a vector of {n} entries")
            _require(
                (value + (F - f) @ z <= values + 1e-9 * (1 + np.abs(values))).all(),
                f"{who}: no subgradient at {f}",
            )
            _check_cvxpy(who, lambda x, y=y: phi.expression(x, y), phi, f, np.array(value))
            if phi.lipschitz is not None:
                _require(
                    np.linalg.norm(z) <= phi.lipschitz * (1 + 1e-9),
                    f"{who}: lipschitz is less than the slope",
                )
        for name, sign in (("smooth", 1.0), ("curvature", -1.0)):
            said = getattr(phi, name)
            if said is not None:
                Z = np.array([phi.slope(f, y) for f in F])
                bent = ((Z[:, None] - Z[None]) * (F[:, None] - F[None])).sum(-1)
                within = said * np.square(F[:, None] - F[None]).sum(-1)
                _require((sign * bent <= sign * within + 1e-7).all(), f"{who}: {name} = {said} is broken")


def check_loss(loss: Any, dim: int | None = None, over: Any = None, seed: int = 0) -> None:
    """Check one loss: its value is convex, its subgradient is one, its other forms agree.

    `dim` is needed if the loss has no `dim`; `over` is where it is defined, if not everywhere.
    """
    who, dim = _name(loss), getattr(loss, "dim", dim)
    _require(
        hasattr(loss, "value") and hasattr(loss, "subgradient"),
        f"{who}: a loss has value(w) and subgradient(w)",
    )
    if dim is None:
        raise ValueError(f"{who} has no dim: write check_loss(loss, dim=…)")
    rng = np.random.default_rng(seed)
    W = np.vstack(
        [np.zeros(dim), np.eye(dim), rng.integers(-2, 3, (8, dim)), 3 * rng.standard_normal((12, dim))]
    )
    W = W if over is None else np.array([over.project(w) for w in W])
    W = np.vstack([W, 0.5 * (W[:-1] + W[1:])])
    before = W.copy()
    values, Z = np.array([float(loss.value(w)) for w in W]), np.array([loss.subgradient(w) for w in W])
    _require(np.array_equal(W, before), f"{who}: value and subgradient must not change w")
    _require(Z.shape == W.shape, f"{who}: subgradient must return shape ({dim},), got {Z.shape[1:]}")
    _require(
        np.isfinite(values).all() and np.isfinite(Z).all(), f"{who}: value and subgradient must be finite"
    )
    for w, value, z in zip(W, values, Z, strict=True):
        excess = value + (W - w) @ z - values
        worst = int(np.argmax(excess))
        _require(
            excess[worst] <= 1e-8 * max(1.0, np.abs(values).max()),
            f"{who}: no subgradient at w = {w}: f(w) + ⟨z, u − w⟩ is above f(u) at u = {W[worst]}",
        )
    if hasattr(loss, "coefficients"):
        a, b, k = loss.coefficients
        sums = 0.5 * a * np.square(W).sum(axis=1) + W @ b + k
        _require(
            np.allclose(sums, values, rtol=1e-9, atol=1e-9),
            f"{who}: coefficients are those of another function",
        )
    if hasattr(loss, "expression") and _solver():
        import cvxpy as cp

        for w, value in zip(W, values, strict=True):
            said = float(loss.expression(cp.Constant(w)).value)
            _require(
                np.isclose(said, value, rtol=1e-6, atol=1e-9),
                f"{who}: expression is another function, at w = {w}",
            )
        _require(
            loss.expression(cp.Variable(dim)).is_convex(),
            f"{who}: cvxpy cannot see that expression is convex",
        )


# ---------------------------------------------------------------- learners


def check_learner(learner: Any, rounds: int = 20, seed: int = 0) -> None:
    """Check that a learner keeps the rules of the game.

    Every player is fresh, plays stay in the set `over`, no play depends on a loss that is still to come,
    what it is given stays unchanged, and `points(Z)`, if there is one, gives the plays of the loop, of many
    games as of one. Not checked: whether its formula is the one you wanted.
    """
    who, rng = _name(learner), np.random.default_rng(seed)
    n = np.shape(learner.player().predict())[-1]
    if hasattr(learner, "sees"):
        X, y = rng.choice([-1.0, 0.0, 1.0], (rounds, n)), rng.choice([-1.0, 1.0], rounds)
        threshold = getattr(learner, "threshold", 0.0)
        games: list[Any] = [perceptron_loss(X, y, threshold), perceptron_loss(np.abs(X), y, threshold)]
    else:
        turns = np.where(np.arange(rounds) < rounds / 2, -1.0, 1.0)[:, None] * np.ones(n)
        games = [rng.integers(-1, 2, (rounds, n)).astype(float), turns, rng.standard_normal((rounds, n))]
    for game in games:
        trace = play(learner, game)
        plays = trace.plays
        if hasattr(getattr(learner, "over", None), "contains"):
            inside = [bool(learner.over.contains(w, 1e-7)) for w in plays]
            _require(all(inside), f"{who}: play {np.argmin(inside) + 1} is outside {learner.over!r}")
        again = play(learner, game).plays
        _require(
            np.array_equal(plays, again),
            f"{who}: player() must be fresh: a second game begins with the first's",
        )
        _check_past(learner, game, plays, who)
        _check_player(learner, game, plays, who)
    if hasattr(learner, "points") and not hasattr(learner, "sees"):
        for Z in games:
            close = np.allclose(learner.points(Z), by_loop(learner, Z), rtol=1e-9, atol=1e-9)
            _require(close, f"{who}: points(Z) are not the plays of the loop")
        each, many = np.array([learner.points(Z) for Z in games]), learner.points(np.array(games))
        _require(
            np.allclose(many, each, rtol=1e-12, atol=1e-12),
            f"{who}: points of many games are not those of each",
        )


def _check_past(learner: Any, game: Any, plays: Array, who: str) -> None:
    """Change the losses from round t on: w_1, …, w_t must be the same to the last bit."""
    for t in (1, len(plays) // 2, len(plays) - 1):
        if isinstance(game, np.ndarray):
            other: Any = np.vstack([game[: t - 1], -3.0 * game[t - 1 :]])
        else:
            other = perceptron_loss(game.X, np.r_[game.y[: t - 1], -game.y[t - 1 :]], game.phi.threshold)
        same = np.array_equal(play(learner, other).plays[:t], plays[:t])
        _require(same, f"{who}: a play up to round {t} changes with the losses from round {t} on")


def _check_player(learner: Any, game: Any, plays: Array, who: str) -> None:
    """Play by hand with every method the player has: what it is given stays as it is."""
    for method in ("step", "update"):
        player = learner.player()
        if not hasattr(player, method):
            continue
        for t, w in enumerate(plays[:-1]):
            played = np.array(player.predict())
            _require(
                np.allclose(played, w, rtol=1e-9, atol=1e-9),
                f"{who}: with {method} play {t + 1} is another one",
            )
            loss = Linear(game[t]) if isinstance(game, np.ndarray) else learner.sees(game[t])
            z = np.array(loss.subgradient(played))
            given = z.copy()
            player.step(given) if method == "step" else player.update(loss)
            _require(np.array_equal(given, z), f"{who}: step must not change the z it is given")


# ---------------------------------------------------------------- theorems


def check_theorem(theorem: type[Theorem], seed: int = 0) -> None:
    """Check that a theorem is true in its own games, proves its bound, and is as tight as it says.

    In every game of `games` and in that of `worst` the hypotheses must hold, the measured quantity stay
    within the bound, and the chain begin at the measured quantity, never step down and end at the bound.
    The worst game must take the stated share of the bound. Then the numbers of the theorem, the comparator
    and the learner are changed: a hypothesis must fail, or the theorem be true of what it still allows.
    This is how a forgotten hypothesis shows. A step size that the theorem chooses must make its bound
    least.
    """
    name = theorem.__name__
    assert is_dataclass(theorem) and (theorem.__doc__ or "").strip(), (
        f"{name} needs a docstring and @dataclass"
    )
    assert theorem.kind in ("tight", "upper", "lower"), (
        f"kind must be tight, upper or lower: {theorem.kind!r}"
    )
    assert isinstance(theorem.item, str) and theorem.item, f"{name} needs the id of its ledger item"
    assert 0 < theorem.tightness <= 1, f"tightness must be in (0, 1], got {theorem.tightness}"
    assert theorem.kind == "upper" or theorem.tightness > 0.999, f"a {theorem.kind} bound has tightness 1"
    played = list(theorem.games(np.random.default_rng(seed)))
    assert len(played) > 1, f"{name}.games must yield some games"
    for game in played:
        _check_game(*game)
    worst = theorem.worst()
    _check_game(*worst)
    taken = share(*worst)
    assert taken >= theorem.tightness - 1e-9, (
        f"the worst game takes {taken:.6f} of the bound, not {theorem.tightness}"
    )
    assert taken <= theorem.tightness + 0.02, (
        f"the worst game takes {taken:.6f}: tightness {theorem.tightness} is too low"
    )
    _check_step(*worst)
    for game in (worst, played[0], played[len(played) // 2]):
        for stated, trace, u in _changed(*game):
            if all(_hypotheses(stated, trace, u).values()):
                _check_game(stated, trace, u)
        if theorem.kind != "lower":
            stated, trace, u = game
            other = replace(trace, learner=FTL(Space(trace.dim)))
            assert not all(_hypotheses(stated, other, u).values()), (
                f"{name} must say which learner it is about"
            )


def _hypotheses(stated: Any, trace: Any, u: Any) -> dict[str, bool]:
    found = stated.hypotheses(trace, u)
    assert found, f"{type(stated).__name__} has no hypotheses"
    for words, true in found.items():
        assert isinstance(words, str) and isinstance(true, (bool, np.bool_)), (
            f"{words!r}: {true!r} is no hypothesis"
        )
    return found


def _check_game(stated: Any, trace: Any, u: Any) -> None:
    name = type(stated).__name__
    for words, true in _hypotheses(stated, trace, u).items():
        assert true, f"{name} does not allow a game of its own: {words}"
    stated.require(trace, u)
    measured, bound = float(stated.measure(trace, u)), float(stated.bound)
    rounding = 1e-9 * max(1.0, abs(bound))
    if stated.kind == "lower":
        assert measured >= bound - rounding, (
            f"{name}: {measured} is below the lower bound {bound} in a game it allows"
        )
    else:
        assert measured <= bound + rounding, (
            f"{name}: {measured} is above the bound {bound} in a game it allows"
        )
    if type(stated).chain is not Theorem.chain:
        chain = stated.proof(trace, u)
        close: Any = {"rtol": 1e-9, "atol": rounding}
        assert np.isclose(chain.values[0], measured, **close), (
            f"{name}: the proof begins at {chain.values[0]}, not {measured}"
        )
        assert np.isclose(chain.values[-1], bound, **close), (
            f"{name}: the proof ends at {chain.values[-1]}, not {bound}"
        )
        assert chain.holds(), (
            f"{name}: line {chain.slacks.argmin() + 2} of the proof is below the one before\n{chain}"
        )


def _changed(stated: Any, trace: Any, u: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the game with one number of the theorem changed, with other losses, with another u."""
    for field in fields(stated):
        value = getattr(stated, field.name)
        if isinstance(value, (bool, str)) or value is None:
            continue
        for factor in (0.5, 0.9, 2):
            other: Any = np.asarray(value) * factor
            if np.ndim(value) == 0:
                other = int(other) if isinstance(value, (int, np.integer)) else float(other)
            try:
                yield replace(stated, **{field.name: other}), trace, u
            except ValueError:  # the theorem refuses such a number
                continue
    for other in _other_losses(trace.losses):
        yield stated, trace.again(other) if hasattr(trace, "again") else play(trace.learner, other), u
    if u is not None:
        u = np.asarray(u, dtype=float)
        for other in (10 * u, -u, u + 3.0, 0 * u):
            yield stated, trace, other


def _other_losses(losses: Any) -> Iterator[Any]:
    """Yield the losses three times as large, or with the opposite sign."""
    if isinstance(losses, np.ndarray):
        yield from (3 * losses, -losses)
    elif isinstance(losses, Examples):
        yield replace(losses, X=3 * losses.X)
        yield replace(losses, y=-losses.y)


def _check_step(stated: Any, trace: Any, u: Any) -> None:
    """A theorem that chooses its own step (a field `eta` or `scale` that is None) chooses the best one."""
    for name in ("eta", "scale"):
        if any(field.name == name and field.default is None for field in fields(stated)):
            own = replace(stated, **{name: None})
            step = getattr(own, name)
            best = float(own.step) if step is None else step
            at = [float(replace(own, **{name: factor * best}).bound) for factor in (0.9, 1.0, 1.1)]
            assert np.isclose(at[1], own.bound, rtol=1e-9), (
                f"the bound with {name} = {best} is not that of its own step"
            )
            assert min(at) == at[1], (
                f"{type(stated).__name__}: its own {name} = {best} does not make the bound least"
            )
