"""Hostile numbers: whatever comes in, an answer without nan, or a sentence of ours. Never a warning from
NumPy, a traceback from inside it, or a hang. Every public name but those in `INNER` is tried, found by
introspection.
"""

import ast
import contextlib
import copy
import dataclasses
import importlib
import inspect
import signal
import traceback
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import KINDS, example

import ocolab
import ocolib
from ocolib import bounds, comparators, learners, losses, phi, regularizers, sets, traces
from ocolib.game import play

HOMES = [Path(package.__file__).parent for package in (ocolib, ocolab)]
ROOMS = (
    "data",
    "sets",
    "phi",
    "losses",
    "regularizers",
    "learners",
    "adversaries",
    "game",
    "bounds",
    "proofs",
)
ROOMS += ("limits", "exact", "blocks", "compiled", "engine", "traces", "comparators", "streams")

X, SIGNS, REALS = np.array([[1.0, 0.5], [0.5, -1.0], [-0.25, 0.75]]), [1, -1, 1], [0.3, 2.0, -1.0]
BALL, Z = sets.Ball(2), np.array([[1.0, 0.5], [0.5, -1.0], [-0.25, 0.75]])
LAZY = play(learners.OGD(BALL, 0.5), Z)
EAGER = play(learners.OGD(BALL, 0.5, "eager"), Z)
SQUARES = play(learners.OGD(BALL, learners.inverse(1.0), "eager"), [losses.Quadratic(z) for z in Z])
HEDGE = play(learners.Hedge(2, 0.5), np.abs(Z))
DELAYED = play(learners.DelayedOGD(BALL, 0.5, 1), Z)
SEEN = play(learners.Perceptron(2), losses.perceptron_loss(X, SIGNS))

#: what an argument of this name is when nothing is wrong
VALUES = {
    "T": 3, "dim": 2, "n": 2, "t": 2, "s": 2, "rounds": 3, "radius": 1.0, "rho": 1.0, "diameter": 2.0,
    "eta": 0.5, "sharp": True,
    "margin": 0.1, "kink": 0.5, "delay": 1, "delays": [1, 0, 1], "path": 1.0, "scale": 1.0, "curvature": 1.0,
    "reg": 0.5, "phi_range": 0.7, "dual_norms": [1.0, 0.5], "size": 1.0, "relevant": 1, "threshold": 2.0,
    "along": 0.0, "length": 0.0, "pieces": 2, "seed": 0, "turn": 1.0, "first": 1, "ratio": 2.0, "runs": (),
    "over": BALL, "x": [0.25, 0.5], "y": [0.5, 2.0], "c": [1.0, -1.0], "point": [1.0, 1.0], "w": [0.5, 0.25],
    "z": [1.0, -0.5], "u": [0.5, 0.25], "Z": Z, "X": X, "p": 0.5, "f": np.array([1.0, -0.5]), "offset": 0.5,
    "normal": [1.0, 1.0], "low": [-1.0, 0.0], "high": [1.0, 2.0],
    "vertices": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
    "center": [0.1, 0.2], "tol": 1e-9, "tau": 0.3, "eps": 0.1, "up": 1.0, "down": 1.0, "M": np.eye(2),
    "delta": 1.0 - np.eye(2), "gamma": np.ones((2, 2)), "classes": 2, "Y": Z, "a": 1.0, "b": [1.0, 0.0],
    "trace": LAZY, "comparators": Z / 4, "against": [0.5, 0.25], "regularizer": regularizers.SquaredNorm(),
    "learner": learners.OGD(BALL, 0.5), "losses": Z, "projection": "lazy", "start": [0.1, 0.2], "factor": 2.0,
    "project": True, "outputs": 2, "phi": phi.HingeLoss(), "mu": [0.25, 0.75], "q": [0.5, 0.5],
    "kernel": lambda A, B: A @ B.T, "circumradius": 1.0, "surrogates": False, "step": None, "level": False,
    "within": "ball", "keep": None, "engine": None, "out": None, "predictions": None,
}  # fmt: skip


class Outcry(Exception):
    """Took too long."""


@contextlib.contextmanager
def within(seconds):
    def cry(*_):
        raise Outcry(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, cry)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def public(room):
    """(name, function or class, class of a method) of all that a room defines."""
    module = importlib.import_module(f"ocolib.{room}")
    homes = f"ocolib.{room}", f"ocolab.{room}"  # of some rooms the code lies in the laboratory
    for name, thing in list(vars(module).items()):
        if (
            name.startswith("_")
            or not callable(thing)
            or not getattr(thing, "__module__", "").startswith(homes)
        ):
            continue
        yield f"{room}.{name}", thing, None
        for method, code in vars(thing).items() if isinstance(thing, type) else ():
            if not method.startswith("_") and inspect.isfunction(code):
                yield f"{room}.{name}.{method}", code, thing


def masked(x):
    return np.ma.masked_array(x, mask=np.zeros(np.shape(x), bool))


NUMBERS = [
    np.nan, np.inf, -np.inf, -0.0, 0, 5e-324, 1e-320, 1e-300, 1e-150, 1e150, 1e154, 1e300, -1e300, -1, 2.5,
    True, "1", "two", None, [], [1.0, 2.0], np.array(0.5), np.array([0.5]), np.float32(0.5), Fraction(1, 2),
    1 + 2j, {},
]  # fmt: skip
ARRAYS = [
    0.5, [], [[]], np.empty((0, 2)), [1.0], [1.0, 2.0, 3.0], [np.nan, 0.0], [0.0, np.inf], [-np.inf, 0.0],
    [-0.0, 0.0], [5e-324, 1e-320], [1e-300, 1e-300], [1e150, -1e150], [1e154, 1e154], [1e300, 1e300], [1, 0],
    np.array([1, 2]), np.float32([0.5, 1.0]), np.array([0.5, 1.0], dtype=object),
    np.array([None, 1.0], dtype=object), ["a", "b"], "ab", None, [[1.0, 2.0], [3.0]], masked([0.5, 1.0]),
    np.ones((2, 3, 2)), np.ones((3, 2), order="F")[::-1],
    np.broadcast_to(0.5, (3, 2)), np.ones(4)[::2], [1 + 2j, 0.0], {}, np.ones((3, 3)), np.array([[0.5, 1.0]]),
]  # fmt: skip

WIDE = [0.5, 0.25, 1.0, -1.0]
ANY_TIME = play(learners.OGD(BALL, learners.inverse_sqrt(1.0), "eager"), Z)
LATE = play(learners.DelayedOGD(BALL, learners.inverse(1.0), 1), [losses.Quadratic(z) for z in Z])
BITS = losses.perceptron_loss([[1, 0], [0, 1], [1, 1]], [1, -1, 1], threshold=1.5)
WINNOW = play(learners.Winnow(2, 1.5), BITS)
NORMALIZED = play(learners.NormalizedWinnow(2, 0.05), losses.perceptron_loss(X, SIGNS))
KERNEL = play(learners.KernelPerceptron(lambda A, B: A @ B.T), losses.perceptron_loss(X, SIGNS))

#: where a name means something else
OTHERWISE = {
    "sets.Space.minimize_linear": {"c": [0.0, 0.0]},
    "sets.Orthant.minimize_linear": {"c": [1.0, 0.0]},
    "sets.Halfspace.minimize_linear": {"c": [-1.0, -1.0]},
    "losses.Example": {"y": 1.0},
    "losses.Examples": {"y": SIGNS},
    "losses.VectorExample": {"x": [1.0, 0.5], "y": 1, "phi": phi.SOFTMAX},
    **{f"losses.VectorExample.{name}": {"w": WIDE} for name in ("scores", "value", "subgradient")},
    "losses.softmax": {"y": [0, 1, 0]},
    "losses.soft_margin": {"y": [0, 1, 0]},
    "regularizers.NegativeEntropy.range": {"over": sets.Simplex(2)},
    "regularizers.NegativeEntropy.minimize": {"over": sets.Simplex(2), "curvature": 0.0},
    "regularizers.UnnormalizedEntropy.minimize": {"over": sets.Orthant(2), "curvature": 0.0},
    "regularizers.kl": {"p": [0.25, 0.75]},
    "learners.FTL.minimize": {"b": np.array([1.0, 0.0])},
    "learners.FTRL.minimize": {"b": np.array([1.0, 0.0])},
    **{
        f"learners.{name}.after": {"Z": np.array([1.0, -0.5])}
        for name in ("Perceptron", "Winnow", "NormalizedWinnow")
    },
    "adversaries.ties": {"margin": 0.2},
    "game.play": {"rounds": 2},
    "traces.Trace.regret": {"over": None},
    "traces.Trace.regret_curve": {"over": None},
    "traces.Trace.dynamic_regret": {},
    "traces.KernelTrace.score": {"x": [1.0, 0.5]},
    "bounds.strongly_convex_seen": {"trace": SQUARES},
    "bounds.curvature_of": {"trace": SQUARES},
    "proofs.strongly_convex": {"trace": SQUARES},
    "proofs.strongly_convex_slacks": {"trace": SQUARES},
    "proofs.zinkevich": {"trace": ANY_TIME},
    "proofs.zinkevich_sharp": {"trace": ANY_TIME},
    "proofs.delayed": {"trace": DELAYED},
    "proofs.delayed_constant": {"trace": DELAYED},
    "proofs.delayed_strongly_convex": {"trace": LATE},
    "proofs.hedge": {"trace": HEDGE},
    "proofs.winnow": {"trace": WINNOW},
    "proofs.normalized_winnow": {"trace": NORMALIZED},
    "comparators.best": {"losses": losses.hinge(X, SIGNS)},
    "comparators.least": {"losses": losses.hinge(X, SIGNS)},
    "traces.Trace.certified": {},
    "streams.stream": {"pieces": [Z, Z]},
    "limits.best_pieces": {"pieces": 3},
    "limits.delayed": {"T": 4},
    "limits.moving": {"T": 4},
    "limits.restarts": {"T": 4},
    "limits.mean_distance": {"x": 0.5},
    "exact.matrix_game": {"A": [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]]},
}
for _name in ("perceptron", "perceptron_direct", "perceptron_growth", "perceptron_length"):
    OTHERWISE[f"proofs.{_name}"] = {"trace": SEEN, "radius": 2.0, "margin": 0.1, "sharp": True}
for _kind in ("squared_hinge", "hinge", "exponential", "logistic", "perceptron_loss"):
    OTHERWISE[f"losses.{_kind}"] = {"y": SIGNS}
for _kind in ("least_squares", "absolute", "quantile", "eps_insensitive", "huber", "poisson"):
    OTHERWISE[f"losses.{_kind}"] = {"y": np.abs(REALS)}

#: what is not called by a reader with numbers, and why
INNER = {
    "sets.Source": "a protocol",
    "sets.kind": "marks a class",
    "sets.norm": "of an array that a set has checked",
    "sets.direction": "of an array that a set has checked",
    "phi": "formulas of a prediction and a label: the losses check what they hand over",
    "learners.FirstOrder": "a base class",
    "learners.FTL.minimize": "called by its player with sums of checked losses",
    "learners.FTRL.minimize": "called by its player with sums of checked losses",
    **{f"learners.{n}.after": "called by its player" for n in ("Perceptron", "Winnow", "NormalizedWinnow")},
    "losses.VectorExample": "made by softmax, soft_margin and multivariate_regression, which check",
    "sets.nearest": "the projection for who has checked",
    **{f"sets.{kind.__name__}.nearest": "the projection for who has checked" for kind in (*KINDS, sets.Hull)},
    "blocks": "of arrays that were checked",
    "compiled": "of arrays that were checked",
    "engine": "play and stream ask it, and check",
    "comparators.knows": "of losses and a set",
    "comparators.Problem": "made by best",
    "comparators.Best": "made by best",
    "streams.Stream": "made by stream",
    "traces.Trace": "made by play",
    "traces.KernelTrace": "made by play",
    "bounds.promise": "marks a function",
    "proofs.Chain": "made by a proof",
    "proofs.Line": "made by a proof",
    "proofs.subscripts": "of text",
    "proofs.plays": "of a trace alone",
    "limits.WorstCase": "made by a solver",
    "limits.DescentProblem.certify": "of the solver's multipliers",
    "limits.ExpertsGame": "made by solve_experts",
    "limits.Gaps": "made by solve_experts",
    **{
        f"limits.{n}.move": "called by its player"
        for n in ("BallMinimax", "IntervalMinimax", "Cover", "SquareMinimax")
    },
    "exact.outward": "of bounds of an interval made here",
    "exact.exp_bounds": "of a fraction made here",
    "exact.hedge_weights": "of gaps made here",
    "game.loop": "play has checked its losses",
    "learners.steps": "for a horizon that was checked",
    "learners.small": "of arrays that were checked",
    "learners.gram": "asked by the player, who has checked its points",
    "losses.coefficients": "of losses that were checked",
    "limits.Cover": "its first move checks T",
    "limits.solve_experts": "takes a rule of the package",
}
OURS = ("phi.PerceptronLoss", "phi.HingeLoss", "phi.TubeLoss", "phi.SoftMargin", "phi.QuadraticForm")
METHODS = ("traces.Trace.", "traces.KernelTrace.", "losses.VectorExample.")


def is_inner(name):
    """Neither it, nor its class, nor its room is a reader's."""
    if name in OURS or name.startswith(METHODS):
        return False
    parts = name.split(".")
    return any(".".join(parts[:k]) in INNER for k in range(1, len(parts) + 1))


def base(name, thing):
    """Arguments of which nothing is wrong."""
    own = OTHERWISE.get(name, {})
    names = [p for p in inspect.signature(thing).parameters if p != "self"]
    return {p: own[p] if p in own else VALUES[p] for p in names}


@cache
def instance(cls):
    made = {traces.Trace: LAZY, traces.KernelTrace: KERNEL}
    name = f"{cls.__module__.split('.')[1]}.{cls.__name__}"
    return made[cls] if cls in made else cls(**base(name, cls))


def bound(name, thing, cls):
    certified = name == "traces.Trace.certified"  # of losses over data alone
    return thing if cls is None else getattr(SEEN if certified else instance(cls), name.rpartition(".")[2])


#: objects of the package and switches, not numbers; fractions, which have a room of their own
NO_NUMBERS = {"over", "trace", "learner", "regularizer", "phi", "kernel"}
NO_NUMBERS |= {"surrogates", "project", "level", "sharp", "runs", "out", "predictions"}
FRACTIONS = {"exact.matrix_game", "exact.hedge", "exact.hedge_regret"}
#: where nan is the answer that the docstring gives
NAN_IS_SAID = {f"regularizers.{n}" for n in ("xlogx", "NegativeEntropy.value", "UnnormalizedEntropy.value")}
PUBLIC = [entry for room in ROOMS for entry in public(room) if not is_inner(entry[0])]
every_name = pytest.mark.parametrize("entry", PUBLIC, ids=lambda entry: entry[0])


def has_nan(found, depth=0):
    """Is nan anywhere in an answer?"""
    if isinstance(found, (float, np.ndarray)):
        return np.asarray(found).dtype.kind == "f" and bool(np.isnan(found).any())
    if isinstance(found, (list, tuple)) and depth < 4:
        return any(has_nan(part, depth + 1) for part in found[:20])
    if dataclasses.is_dataclass(found) and not isinstance(found, type) and depth < 4:
        return any(has_nan(getattr(found, field.name), depth + 1) for field in dataclasses.fields(found))
    return False


def raised_by_us(error):
    """Was it raised by a statement of the package, not by NumPy or Python inside one?"""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not any(Path(last.filename).is_relative_to(home) for home in HOMES):
        return False
    return last.lineno in raising(last.filename)


@cache
def raising(file):
    """The lines of the statements `raise` in a file."""
    tree = ast.parse(Path(file).read_text("utf8"))
    raises = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return {line for node in raises for line in range(node.lineno, node.end_lineno + 1)}


def complaint(call, arguments, nan_is_said=False):
    """What is wrong with the way a call ends; None if nothing is."""
    before = copy.deepcopy({k: v for k, v in arguments.items() if isinstance(v, (np.ndarray, list))})
    try:
        with within(20):
            found = call(**arguments)
    except ValueError as error:
        return None if raised_by_us(error) and str(error) else f"not in our words: {error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if has_nan(found) and not nan_is_said:
        return "a silent nan"
    changed = [k for k, v in before.items() if not same(v, arguments[k])]
    return f"{changed} changed" if changed else None


def same(a, b):
    return repr(a) == repr(b)


# ---------------------------------------------------------------- every name, one argument at a time


def test_every_reason_belongs_to_something():
    known = {name for room in ROOMS for name, _, _ in public(room)} | set(ROOMS)
    assert not set(INNER) - known and not set(OTHERWISE) - known


@every_name
def test_the_base_call_is_right(entry):
    name, thing, cls = entry
    assert complaint(lambda **arguments: bound(name, thing, cls)(**arguments), base(name, thing)) is None
    bound(name, thing, cls)(**base(name, thing))  # and it is answered, not refused


@every_name
def test_a_hostile_argument_is_answered_or_refused_in_our_words(entry):
    name, thing, cls = entry
    call, right = bound(name, thing, cls), base(name, thing)
    wrong = {}
    for argument in set(right) - NO_NUMBERS - ({"step", "losses", "A"} if name in FRACTIONS else set()):
        if argument == "losses" and name != "game.play":
            continue
        for value in NUMBERS + ARRAYS:
            if said := complaint(call, right | {argument: value}, name in NAN_IS_SAID):
                wrong[argument, repr(value)] = said
    assert not wrong


# ---------------------------------------------------------------- two arguments at a time, generated

SIZES = st.sampled_from([1e-300, 1e-150, 1e-20, 0.3, 1.0, 7.0, 1e20, 1e150, 1e300])
ENTRIES = st.floats(-1e155, 1e155) | st.sampled_from([0.0, -0.0, 5e-324, 1e-320, 1e150, np.nan, np.inf, 3.0])


@st.composite
def hostile_arrays(draw, dim=2):
    """Arrays of shapes and kinds that a reader may have at hand."""
    shape = draw(st.sampled_from([(), (0,), (dim,), (3, dim), (2, 3, dim), (dim + 1,), (1, dim), (0, dim)]))
    count = int(np.prod(shape))
    x = np.array(draw(st.lists(ENTRIES, min_size=count, max_size=count))).reshape(shape)
    with np.errstate(all="ignore"):  # what a cast loses is not our affair
        kind = draw(st.sampled_from(["float", "float32", "list", "masked", "object", "frozen", "strided"]))
        if kind == "float32":
            return x.astype(np.float32)
        if kind == "list":
            return x.tolist()
        if kind == "masked":
            return masked(x)
        if kind == "object":
            return x.astype(object)
        if kind == "frozen":
            x.flags.writeable = False
        return np.repeat(x, 2, axis=-1)[..., ::2] if kind == "strided" and x.ndim else x


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_a_set_answers_or_refuses(kind, data):
    """And what it answers lies in the set."""
    over = example(kind, 2)
    y = data.draw(hostile_arrays())
    assert complaint(over.project, {"y": y}) is None
    assert complaint(over.minimize_linear, {"c": y}) is None
    assert complaint(over.contains, {"x": y}) is None
    with contextlib.suppress(ValueError):
        near = over.project(y)
        assert over.contains(near, 1e-9 * max(1.0, float(np.abs(near).max()))).all()


@pytest.mark.parametrize("learner", ["OGD", "eager", "FTRL", "Hedge", "FTL"])
@given(data=st.data(), eta=SIZES)
def test_a_game_answers_or_refuses(learner, data, eta):
    """Its plays lie in the set, also where the sum of the losses leaves the floats."""

    def game_of(losses, eta):
        made = {
            "OGD": lambda: learners.OGD(BALL, eta),
            "eager": lambda: learners.OGD(BALL, eta, "eager"),
            "FTRL": lambda: learners.FTRL(sets.Box([-1, -1], [1, 1]), regularizers.SquaredNorm(), eta),
            "Hedge": lambda: learners.Hedge(2, eta),
            "FTL": lambda: learners.FTL(BALL),
        }
        player = made[learner]()
        over = getattr(player, "over", BALL)
        trace = play(player, losses)
        assert over.contains(trace.points, 1e-9).all()
        return trace, trace.regret(over), trace.regret_curve(over)

    assert complaint(game_of, {"losses": data.draw(hostile_arrays()), "eta": eta}) is None


@given(rho=SIZES, size=SIZES, T=st.sampled_from([1, 7, 10**6, 10**15]))
def test_a_bound_of_two_sizes_answers_or_refuses(rho, size, T):
    for name in ("descent", "descent_step", "descent_sharp", "descent_anytime", "ftrl_tuned", "ftrl_step"):
        call = getattr(bounds, name)
        first = next(iter(inspect.signature(call).parameters))
        assert complaint(call, {first: size, "rho": rho, "T": T}) is None
    assert complaint(bounds.strongly_convex, {"rho": rho, "curvature": size, "T": T}) is None
    assert complaint(bounds.perceptron, {"radius": rho, "margin": size}) is None
    assert complaint(bounds.zinkevich, {"diameter": size, "rho": rho, "path": size, "T": T}) is None


# ---------------------------------------------------------------- long and wide games


@pytest.mark.parametrize(("T", "n"), [(10**6, 2), (2, 10**6)])
@pytest.mark.parametrize("kind", [sets.Ball, sets.Simplex])
def test_a_long_and_a_wide_game_are_played(T, n, kind):
    Z = np.random.default_rng(0).uniform(-1, 1, (T, n))
    over = kind(n)
    learner = learners.OGD(over, 1e-3) if kind is sets.Ball else learners.Hedge(n, 1e-3)
    with within(120):
        trace = play(learner, Z)
    assert over.contains(trace.points[:: max(T // 5, 1)], 1e-9).all()
    assert np.isfinite(trace.regret(over))


def test_sums_beyond_the_stated_sizes_are_refused_and_within_them_right():
    trace = play(learners.OGD(BALL, 1.0), np.full((10, 2), 1e149))
    assert np.allclose(trace.points[1:], -np.sqrt(0.5)) and trace.paid[0] == 0.0
    assert trace.regret(BALL) == pytest.approx(np.sqrt(2) * 1e149)
    for learner in (learners.OGD(BALL, 1.0), learners.Hedge(2, 1.0), learners.FTL(BALL)):
        with pytest.raises(ValueError, match=r"of size at most 1e\+150, got 2e\+150"):
            play(learner, np.full((1000, 2), 1e150))


# ---------------------------------------------------------------- what readers write


class Loss:
    """A loss that misbehaves as told."""

    dim = 2

    def __init__(self, value=0.0, subgradient=(0.0, 0.0)):
        self.says = value, subgradient

    def value(self, w):
        w[...] = np.nan  # what it was given is its own
        return self.says[0](w) if callable(self.says[0]) else self.says[0]

    def subgradient(self, w):
        w[...] = np.nan
        return self.says[1](w) if callable(self.says[1]) else self.says[1]


def fails(*_):
    raise KeyError("lost")


def spoils(t, w, past):
    w[...], past[...] = np.nan, np.nan
    return [1.0, 0.0]


DATA = losses.perceptron_loss(X, SIGNS)
MISBEHAVING = [
    (
        lambda: play(learners.OGD(BALL, 1.0), fails, 3),
        "the adversary in round 1 failed with KeyError: 'lost'",
    ),
    (lambda: play(learners.OGD(BALL, 1.0), lambda t, w, past: [1.0], 3), "the adversary's z must have 2"),
    (lambda: play(learners.OGD(BALL, 1.0), lambda t, w, past: "no", 3), "the adversary's z must be an array"),
    (
        lambda: play(learners.OGD(BALL, 1.0), lambda t, w, past: [0.0, np.nan], 3),
        "the adversary's z must be fi",
    ),
    (lambda: play(learners.OGD(BALL, fails), Z), "the schedule eta, at t = 1, failed with KeyError: 'lost'"),
    (lambda: play(learners.OGD(BALL, lambda t: "no"), Z), r"eta\(1\) must be finite and > 0"),
    (lambda: play(learners.OGD(BALL, lambda t: 2.0 - t), Z), r"eta\(2\) must be finite and > 0"),
    (
        lambda: play(learners.OGD(BALL, 1.0), [Loss(subgradient=fails)]),
        "the subgradient of Loss in round 1 fa",
    ),
    (
        lambda: play(learners.OGD(BALL, 1.0), [Loss(subgradient=[1.0])]),
        "the subgradient of Loss in round 1 mu",
    ),
    (
        lambda: play(learners.OGD(BALL, 1.0), [Loss(subgradient=[np.nan, 0])]),
        "the subgradient of Loss in roun",
    ),
    (lambda: play(learners.OGD(BALL, 1.0), [Loss(value=fails)]), "the value of Loss failed with KeyError"),
    (
        lambda: play(learners.OGD(BALL, 1.0), [Loss(value=[1.0, 2.0])]),
        "the value of Loss failed with TypeError",
    ),
    (
        lambda: play(learners.OGD(BALL, 1.0), [Loss(value=np.nan)]),
        "every payment must be finite, got nan in r",
    ),
    (lambda: play(learners.KernelPerceptron(fails), DATA), "the kernel failed with KeyError: 'lost'"),
    (
        lambda: play(learners.KernelPerceptron(lambda A, B: [[1.0] * 5]), DATA),
        "the kernel's matrix must have 1 rows",
    ),
    (lambda: play(learners.KernelPerceptron(lambda A, B: A * np.nan), DATA), "the kernel's matrix must"),
]


@pytest.mark.parametrize(("call", "words"), MISBEHAVING, ids=[words for _, words in MISBEHAVING])
def test_who_misbehaves_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_who_changes_what_it_was_given_changes_nothing():
    honest = play(learners.OGD(BALL, 0.1), lambda t, w, past: [1.0, 0.0], 5)
    spoilt = play(learners.OGD(BALL, 0.1), spoils, 5)
    assert np.array_equal(honest.points, spoilt.points)
    assert np.array_equal(honest.subgradients, spoilt.subgradients)
    trace = play(learners.OGD(BALL, 0.1), [Loss(1.0, [1.0, 0.0])] * 5)
    assert np.array_equal(trace.points, honest.points)


# ---------------------------------------------------------------- compiled games

FAR = [1e-300, 1e-150, 1e-20, 1.0, 1e20, 1e100, 1e125, 1e149, 1e150]
PLAYERS = {
    "eager": lambda eta: learners.OGD(BALL, eta, "eager"),
    "eager in space": lambda eta: learners.OGD(sets.Space(2), eta, "eager"),
    "schedule": lambda eta: learners.OGD(sets.Simplex(2), learners.inverse_sqrt(eta), "eager"),
    "lazy": lambda eta: learners.OGD(BALL, eta),
    "Hedge": lambda eta: learners.Hedge(2, eta),
    "late": lambda eta: learners.DelayedOGD(BALL, eta, 2),
}
DATA_PLAYERS = {
    "Perceptron": (lambda eta: learners.Perceptron(2), losses.perceptron_loss),
    "NormalizedWinnow": (lambda eta: learners.NormalizedWinnow(2, eta), losses.perceptron_loss),
    "Pegasos": (lambda eta: learners.Pegasos(2, eta), lambda X, y: losses.hinge(X, y).regularized(0.5)),
    "exponential": (lambda eta: learners.OGD(BALL, eta, "eager"), losses.exponential),
    "least squares": (lambda eta: learners.OGD(sets.Space(2), eta, "eager"), losses.least_squares),
}


def ends(learner, given, engine):
    """What a game leaves, or what it says."""
    try:
        with within(60):
            trace = play(learner, given, engine=engine)
    except ValueError as error:
        assert raised_by_us(error), error
        return str(error)
    return trace.points, trace.paid, trace.last


@pytest.mark.parametrize("eta", [1e-150, 0.3, 1e20, 1e150])
@pytest.mark.parametrize("size", FAR)
@pytest.mark.parametrize("player", [*PLAYERS, *DATA_PLAYERS])
def test_a_compiled_game_answers_or_refuses_as_the_loop_does(player, size, eta):
    """In the same words: where numbers grow beyond reason the loop is asked to judge."""
    pytest.importorskip("numba")
    Z, signs = np.random.default_rng(1).uniform(-size, size, (30, 2)), np.resize([1, -1, -1], 30)
    if player in PLAYERS:
        learner, given = PLAYERS[player](eta), Z
    else:
        make, losses_of = DATA_PLAYERS[player]
        learner, given = make(eta), losses_of(Z, signs)
    plain, compiled = (ends(learner, given, engine) for engine in ("numpy", "compiled"))
    assert isinstance(plain, str) == isinstance(compiled, str), (plain, compiled)
    if isinstance(plain, str):
        assert plain == compiled
    else:
        for one, other in zip(plain, compiled, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize(
    "kernel", [fails, lambda A, B: [[1.0] * 5], lambda A, B: np.full((len(A), len(B)), np.nan)]
)
def test_a_compiled_kernel_game_names_who_misbehaves(kernel):
    pytest.importorskip("numba")
    for engine in ("numpy", "compiled"):
        with pytest.raises(ValueError, match=r"^the kernel('s matrix must| failed with KeyError: 'lost')"):
            play(learners.KernelPerceptron(kernel), DATA, engine=engine)


@pytest.mark.parametrize("size", FAR)
@pytest.mark.parametrize("kind", ["hinge", "logistic", "least_squares", "exponential", "absolute"])
def test_the_best_point_is_found_or_refused(kind, size):
    given = getattr(losses, kind)(X * size, SIGNS)
    trace = play(learners.OGD(BALL, 1e-3 / max(size, 1.0) ** 2 + 1e-150, "eager"), losses.hinge(X, SIGNS))
    for over in (BALL, sets.Box([-1, 0], [1, 2]), sets.Simplex(2), sets.Orthant(2), sets.Space(2)):
        assert complaint(lambda over=over: comparators.best(given, over), {}) is None
        assert complaint(lambda over=over: dataclasses.replace(trace, losses=given).regret(over), {}) is None
