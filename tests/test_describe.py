"""What is described is frozen, compared by its fields, and read back from what it shows."""

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest
from folded import for_each
from strategies import examples

import ocolab
import ocolib
from ocolib import adversaries, bandits, betting, games, learners, losses, oracle, phi, regularizers, sets
from ocolib.game import play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    DelayedOGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
    inverse,
    inverse_sqrt,
)
from ocolib.losses import Linear, Quadratic, hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box


def dataclasses_of(package):
    """Every dataclass that is defined in a module of the package."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for thing in vars(module).values():
            if isinstance(thing, type) and dataclasses.is_dataclass(thing) and thing.__module__ == found.name:
                yield thing


@for_each("kind", [*dataclasses_of(ocolib), *dataclasses_of(ocolab)], lambda kind: kind.__name__)
def test_nothing_described_can_be_changed(kind):
    assert kind.__dataclass_params__.frozen
    thing = object.__new__(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(thing, dataclasses.fields(kind)[0].name if dataclasses.fields(kind) else "any", 1)


@for_each("kind", list(dataclasses_of(ocolib)), lambda kind: kind.__name__)
def test_what_holds_arrays_is_not_compared_field_by_field(kind):
    """Two arrays have no one truth value; `description` knows how to compare them."""
    types = " ".join(str(field.type) for field in dataclasses.fields(kind))
    if not kind.__name__.startswith("_") and ("Array" in types or "ndarray" in types):
        assert not kind.__dataclass_params__.eq


def test_a_class_may_keep_its_own_words_and_compares_by_its_fields():
    from ocolib.describe import description

    @description
    class Named:
        size: int

        def __repr__(self):
            return f"<{self.size}>"

    assert repr(Named(3)) == "<3>" and Named(3) == Named(3) != Named(4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Named(3).size = 4
    assert Box([0, 1], [2, 3]) == Box([0, 1], [2, 3]) != Box([0, 1], [2, 4])
    assert Ball(2, 1.0, [0, 1]) != Ball(2, 1.0, [1, 0]) and hash(Ball(2, 1.0, [0, 1])) == hash(
        Ball(2, 1.0, [1, 0])
    )
    assert Ball(2) != Box([0, 1], [2, 3])


def a_loss_of_each_kind():
    X, signs, reals = np.array([[1.0, 1 / 3], [0.1, -2.0]]), [1, -1], [0.3, 2.0]
    yield from (Linear([1 / 3, 2.0]), Quadratic([1 / 3, 0.0], 0.1), hinge(X, signs)[0], hinge(X, signs))
    yield from (perceptron_loss(X, signs, 0.1, 0.3), hinge(X, signs, 0.3).regularized(0.1), losses.novelty(X))
    yield from (make(X, signs) for make in (losses.squared_hinge, losses.exponential, losses.logistic))
    yield from (make(X, reals) for make in (losses.least_squares, losses.absolute, losses.huber))
    yield from (
        losses.quantile(X, reals, 0.3),
        losses.eps_insensitive(X, reals, 0.1),
        losses.poisson(X, [0, 3]),
    )
    yield from losses.soft_margin(X, [0, 1], 1 - np.eye(2))
    yield from losses.softmax(X, [0, 1], 2)
    yield from losses.multivariate_regression(X, X, np.diag([1.0, 1 / 3]))


def a_learner_of_each_kind():
    ball, box, eta = Ball(2, 1 / 3, [0.1, 0.2]), Box([-1, -1], [1, 1 / 3]), inverse_sqrt(0.7)
    yield from (FTL(box), FTRL(ball, SquaredNorm([0.1, 1 / 7]), eta), Hedge(3, 1 / 3), OGD(box, [0.1, 1 / 3]))
    yield from (
        OGD(box, eta, "eager", start=[0.1, 1 / 3]),
        Linearized(FTL(ball)),
        learners.OnlineSVM(2, 0.3, eta),
    )
    yield from (learners.Pegasos(2, 0.1), DelayedOGD(ball, inverse(0.3), 2), DelayedOGD(ball, 0.3, [2, 0, 1]))
    yield from (
        Perceptron(2, 0.3),
        Winnow(2, 1 / 3),
        NormalizedWinnow(2, 1 / 3),
    )
    yield oracle.FTRL(ball, SquaredNorm(), 0.3)


DESCRIPTIONS = [
    *examples(3),
    *sets.Hull.examples(2, np.random.default_rng(0)),
    *(SquaredNorm(), SquaredNorm([0.1, 1 / 3]), NegativeEntropy(), UnnormalizedEntropy()),
    *a_loss_of_each_kind(),
    *a_learner_of_each_kind(),
]


@for_each("thing", DESCRIPTIONS, repr)
def test_a_description_can_be_read_back_from_what_it_shows(thing):
    names = {"array": np.array}
    for room in (phi, losses, sets, regularizers, learners):
        names |= vars(room)
    if isinstance(thing, oracle.FTRL):
        names["FTRL"] = oracle.FTRL
    again = eval(repr(thing), names)
    assert again == thing and hash(again) == hash(thing) and repr(again) == repr(thing)
    assert dataclasses.replace(thing) == thing


def test_every_kind_of_description_is_tried():
    """Each set, loss, regulariser, learner, each φ inside a loss and each schedule inside a learner."""
    parts = [getattr(x, name, None) for x in DESCRIPTIONS for name in ("phi", "eta")]
    tried = {type(x) for x in DESCRIPTIONS + parts}
    for room in (phi, losses, sets, regularizers, learners, oracle):
        kinds = {
            thing
            for thing in vars(room).values()
            if dataclasses.is_dataclass(thing) and isinstance(thing, type) and thing.__name__[0] != "_"
        }
        assert kinds - tried == set(), room


def test_descriptions_that_differ_are_not_equal():
    for i, one in enumerate(DESCRIPTIONS):
        assert [j for j, other in enumerate(DESCRIPTIONS) if one == other] == [i], one
    assert OGD(Ball(2), 0.3) != OGD(Ball(2), 0.3, start=[0, 0]) != OGD(Ball(2), 0.3, start=[0, 1])
    assert Ball(2) != "Ball(2)" and Ball(2) == Ball(2, 1, [0, 0])


def test_a_learner_can_be_changed_in_one_field():
    slow = dataclasses.replace(OGD(Ball(2), 1.0, "eager", start=[0.5, 0]), eta=0.3)
    assert slow == OGD(Ball(2), 0.3, "eager", start=[0.5, 0])
    with pytest.raises(ValueError, match="start must lie in"):
        dataclasses.replace(slow, over=Ball(2, 0.1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        slow.eta = 1.0


def test_a_learner_keeps_its_own_copy_of_its_steps():
    eta = np.array([0.1, 0.2])
    learner = OGD(Ball(2), eta)
    eta[:] = 9.0
    assert learner.eta.tolist() == [0.1, 0.2]


def test_long_arrays_are_not_shown():
    assert repr(Linear(np.zeros(41))) == "Linear(z=<array of shape (41,)>)"
    assert repr(play(OGD(Ball(2), 0.1), np.ones((500, 2))).losses.shape) == "(500, 2)"


# ---------------------------------------------------------------- every number is checked, by its name

COUNTS, SIZES = [0, -1, 1.5, True, "2", np.nan], [0.0, -1.0, np.nan, np.inf, "1", [1.0, 2.0]]
#: what is made, from what, and which of these are counts and which are sizes > 0
MADE = [
    (adversaries.alternating, {"T": 3}, "T", ""),
    (adversaries.all_signs, {"T": 3}, "T", ""),
    (adversaries.geometric_phases, {"T": 9, "first": 2, "ratio": 2.0}, "T first", "ratio"),
    (adversaries.random_directions, {"T": 3, "dim": 2, "seed": 0, "rho": 1.0}, "T dim", "rho"),
    (adversaries.spiral, {"radius": 1.0, "rho": 1.0, "T": 5, "eta": 0.5}, "T", "radius rho eta"),
    (adversaries.zigzag, {"diameter": 1.0, "rho": 1.0, "T": 5}, "T", "diameter rho"),
    (adversaries.separable, {"T": 3, "dim": 2, "margin": 0.1, "seed": 0}, "T dim", ""),
    (adversaries.drifting, {"T": 3, "dim": 2, "turn": 0.1, "margin": 0.1, "seed": 0}, "T dim", ""),
    (adversaries.disjunction, {"T": 3, "dim": 4, "relevant": 2, "seed": 0}, "T dim relevant", ""),
    (adversaries.orthogonal, {"rho": 1.0}, "", "rho"),
    (adversaries.nature, {"radius": 1.0}, "", "radius"),
    (adversaries.at_distance, {"rho": 1.0, "curvature": 1.0}, "", "rho curvature"),
    (adversaries.against_winnow, {"relevant": 2, "threshold": 0.5}, "relevant", "threshold"),
    (learners.inverse_sqrt, {"scale": 1.0}, "", "scale"),
    (learners.Perceptron, {"dim": 2}, "dim", ""),
    (learners.Winnow, {"dim": 2, "threshold": 0.5, "factor": 2.0}, "dim", "threshold"),
    (learners.NormalizedWinnow, {"dim": 2, "eta": 0.1}, "dim", "eta"),
    (bandits.EXP3, {"n": 3, "eta": 0.1}, "n", "eta"),
    (bandits.EXP3IX, {"n": 3, "eta": 0.1, "gamma": 0.1}, "n", "eta gamma"),
    (betting.KT, {"dim": 1, "epsilon": 1.0}, "dim", "epsilon"),
    (games.HedgeFrom, {"start": [0.5, 0.5], "eta": 0.1}, "", "eta"),
    (sets.Ball, {"dim": 2, "radius": 1.0}, "dim", "radius"),
    (sets.L1Ball, {"dim": 2, "radius": 1.0}, "dim", "radius"),
    (sets.Simplex, {"dim": 2}, "dim", ""),
    (sets.Space, {"dim": 2}, "dim", ""),
    (sets.Orthant, {"dim": 2}, "dim", ""),
]


@pytest.mark.parametrize("make, good, counts, sizes", MADE, ids=lambda x: getattr(x, "__name__", ""))
def test_every_number_is_checked_by_its_name(make, good, counts, sizes):
    make(**good)
    for names, wrong in ((counts, COUNTS), (sizes, SIZES)):
        for name in names.split():
            for value in wrong:
                with pytest.raises(ValueError, match=name):
                    make(**good | {name: value})
                    pytest.fail(f"{make.__name__} takes {name} = {value!r}")


@pytest.mark.parametrize("make, good, counts, sizes", MADE, ids=lambda x: getattr(x, "__name__", ""))
def test_numbers_of_numpy_are_kept_as_numbers_of_python(make, good, counts, sizes):
    if isinstance(make, type):
        for name, kind in [*((n, int) for n in counts.split()), *((n, float) for n in sizes.split())]:
            wide = {int: np.int64, float: np.float32}[kind](good[name])
            assert type(getattr(make(**good | {name: wide}), name)) is kind
