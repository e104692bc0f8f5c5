"""The door: where each check begins to refuse, and what a user reads who gives something wrong."""

import re

import numpy as np
import pytest
from folded import for_each

from ocolib import adversaries, batch, games, losses, oracle, phi, validate
from ocolib.game import play
from ocolib.learners import (
    FTL,
    FTRL,
    OGD,
    Hedge,
    Linearized,
    NormalizedWinnow,
    Perceptron,
    Winnow,
    inverse_sqrt,
)
from ocolib.losses import Example, Linear, Quadratic, hinge, perceptron_loss
from ocolib.phi import HingeLoss, PerceptronLoss
from ocolib.regularizers import NegativeEntropy, SquaredNorm, UnnormalizedEntropy
from ocolib.sets import Ball, Box, Halfspace, Hull, L1Ball, Orthant, Simplex, Space

LARGE, SMALL = 1e150, 1e-150
OVER, UNDER = np.nextafter(1e150, np.inf), np.nextafter(1e-150, 0.0)


def refused(words, check, *arguments, **options):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        check("x", *arguments, **options)


def test_a_number_has_ends():
    assert validate.number("x", 2, low=2, high=3) == 2.0 and validate.number("x", 3, 2, 3) == 3.0
    assert validate.number("x", -1e300) == -1e300 and type(validate.number("x", np.int64(3))) is float
    refused("x must be in [2, 3], got 1.9", validate.number, 1.9, 2, 3)
    refused("x must be in [2, 3], got 3.1", validate.number, 3.1, 2, 3)
    refused("x must be in (2, 3], got 2", validate.number, 2, 2, 3, strict=True)
    assert validate.number("x", 3, 2, 3, strict=True) == 3.0
    refused("x must be finite, got nan", validate.number, np.nan)
    refused("x must be finite, got inf", validate.number, np.inf)
    refused("x must be finite and ≥ 0, got -1", validate.number, -1, low=0)
    refused("x must be finite and > 1, got 1", validate.number, 1, low=1, strict=True)
    refused("x must be a number, got '2'", validate.number, "2")
    refused("x must be a number, got 'two'", validate.number, "two")
    refused("x must be a number, got None", validate.number, None)


def test_what_is_positive_ends_where_squares_would_leave_the_floats():
    assert validate.positive("x", LARGE) == LARGE and validate.positive("x", SMALL) == SMALL
    for value in (OVER, UNDER, 0.0, -1.0, np.nan, np.inf):
        words = "x must be positive (between 1e-150 and 1e+150), got"
        refused(words if np.isfinite(value) else "x must be finite, got", validate.positive, value)
        refused(words, validate.positives, [1.0, value])
    assert validate.positives("x", [[1, 2], [3, 4]]).shape == (2, 2)
    refused("x must be an array of numbers, got 'small'", validate.positives, "small")
    refused("x must be a number, got '0.1'", validate.positive, "0.1")


def test_a_count_is_a_whole_number():
    assert validate.count("x", 1) == 1 and validate.count("x", np.int32(7), low=7) == 7
    assert validate.count("x", 0, low=0) == 0 and type(validate.count("x", np.int64(2))) is int
    for value in (0, 1.0, True, "1", None, -3):
        refused(f"x must be an integer ≥ 1, got {value!r}", validate.count, value)
    refused("x must be an integer ≥ 3, got 2", validate.count, 2, low=3)


def test_an_array_has_the_shape_that_is_asked_for():
    assert validate.array("x", [[1, 2, 3]]).dtype == float
    assert validate.array("x", [[1, 2, 3]], dim=3, ndim=2).shape == (1, 3)
    refused("x must have at least one axis, got shape ()", validate.array, 1.0)
    refused("x must have 1 axis, got shape (1, 2)", validate.array, [[1, 2]], ndim=1)
    refused("x must have 2 axes, got shape (2,)", validate.array, [1, 2], ndim=2)
    refused("x must not be empty, got shape (2, 0)", validate.array, [[], []])
    refused(
        "x must have 2 entries on its last axis, got shape (2, 3)", validate.array, np.ones((2, 3)), dim=2
    )
    refused("x must be an array of numbers, got ['a']", validate.array, ["a"])
    assert np.array_equal(validate.array("x", [LARGE, -LARGE, 0.0, 1e-320]), [LARGE, -LARGE, 0.0, 1e-320])
    for value in (OVER, -OVER, np.nan, np.inf):
        said = f"x must be finite, its entries of size at most 1e+150, got {value}"
        refused(said, validate.array, [1.0, value])


def test_what_is_frozen_is_a_copy_unless_nobody_could_change_it():
    mine = np.array([1.0, 2.0])
    for check in (validate.frozen, validate.vector):
        kept = check("x", mine)
        assert kept is not mine and not kept.flags.writeable and mine.flags.writeable
        assert check("x", kept) is kept
    refused("x must have 1 axis", validate.vector, [[1.0]])
    refused("x must have 3 entries", validate.vector, mine, 3)
    refused("x must have 3 entries", validate.frozen, mine, 3)
    refused("x must have 2 axes", validate.frozen, mine, ndim=2)


def test_labels_are_what_the_loss_takes():
    assert list(validate.labels("x", [-1, 1], 2)) == [-1, 1]
    refused("x must have 3 entries, one per example, got 2", validate.labels, [-1, 1], 3)
    refused("x must be −1 or +1, got 0.5", validate.labels, [1, 0.5, -1], 3)
    refused("x must be −1 or +1, got 0", validate.labels, [0, 1], 2)
    assert list(validate.labels("x", [0, 0.5, 3], 3, "counts")) == [0, 0.5, 3]
    refused("x must be ≥ 0, got -2", validate.labels, [0, -2, 3], 3, "counts")
    assert list(validate.labels("x", [0, -2.5], 2, "reals")) == [0, -2.5]


def test_a_choice_is_one_of_the_words():
    assert validate.choice("x", "lazy", ("lazy", "eager")) == "lazy"
    refused("x must be 'lazy' or 'eager', got 'busy'", validate.choice, "busy", ("lazy", "eager"))


@pytest.mark.parametrize("check", [validate.number, validate.positive, validate.positives, validate.array])
def test_a_whole_number_beyond_the_floats_is_refused_by_name(check):
    with pytest.raises(ValueError, match=r"^huge must be"):
        check("huge", 10**400 if check in (validate.number, validate.positive) else [10**400])


# ---------------------------------------------------------------- what a user can meet


class Table:
    """What pandas gives: it has a shape, and iterating it gives the names of its columns."""

    def to_numpy(self):
        return np.ones((3, 2))

    def __iter__(self):
        return iter(["a", "b"])


class Sloped:
    def value(self, w):
        return 0.0

    def gradient(self, w):
        return 0 * w


class OnlyProject:
    dim = 2

    def project(self, y):
        return 0 * y


class Wrong:
    def value(self, w):
        return w

    def subgradient(self, w):
        return w


class Says:
    """A player who always plays the same, whatever that is."""

    def __init__(self, play):
        self.play_ = play

    def player(self):
        return self

    def predict(self):
        return self.play_

    def step(self, z):
        pass


class Alone(Says):
    """Plays one game: its memory has the shape (2,)."""

    def __init__(self):
        self.play_ = np.zeros(2)

    def step(self, z):
        self.play_ += z


class OnlyPoints:
    def points(self, Z):
        return Z


ZEROS = np.zeros((2, 2))
TRACE = play(OGD(Ball(2), 0.5), np.ones((3, 2)))
DATA = play(Perceptron(2), perceptron_loss(np.eye(2), [1, -1]))

#: (what is called, words that the message must contain: the argument, the range, what came)
IN_THE_PLANE = (
    Ball(2),
    Box([0, 0], [1, 1]),
    Simplex(2),
    L1Ball(2),
    Halfspace([1, 0], 0),
    Orthant(2),
    Space(2),
)
BAD = [
    # sets
    (lambda: Ball(0), "dim integer ≥ 1 got 0"),
    (lambda: Ball(2.0), "dim integer ≥ 1 got 2.0"),
    (lambda: Ball(-3), "dim integer ≥ 1 got -3"),
    (lambda: Ball(True), "dim integer ≥ 1 got True"),
    (lambda: Ball("2"), "dim integer ≥ 1 got '2'"),
    (lambda: Simplex(0), "dim integer ≥ 1 got 0"),
    (lambda: Orthant(0), "dim integer ≥ 1 got 0"),
    (lambda: Space(None), "dim integer ≥ 1 got None"),
    (lambda: L1Ball(0), "dim integer ≥ 1 got 0"),
    (lambda: Ball(2, 0), "radius positive got 0"),
    (lambda: Ball(2, -1.5), "radius positive got -1.5"),
    (lambda: Ball(2, np.nan), "radius finite got nan"),
    (lambda: Ball(2, np.inf), "radius finite got inf"),
    (lambda: Ball(2, "1"), "radius number got '1'"),
    (lambda: Ball(2, [1, 2]), "radius number got [1, 2]"),
    (lambda: L1Ball(2, 0), "radius positive got 0"),
    (lambda: Ball(2, 1, [0, 0, 0]), "center 2 entries got shape (3,)"),
    (lambda: Ball(2, 1, [0, np.nan]), "center finite got nan"),
    (lambda: Ball(2, 1, 0.0), "center 1 axis got shape ()"),
    (lambda: Box([1], [0]), "low ≤ high low[0] = 1 high[0] = 0"),
    (lambda: Box([0, 5], [1, 4]), "low ≤ high low[1] = 5 high[1] = 4"),
    (lambda: Box([0], [1, 2]), "low and high same shape (1,) (2,)"),
    (lambda: Box([], []), "low empty got shape (0,)"),
    (lambda: Box([0], [np.inf]), "high finite got inf"),
    (lambda: Box(0, 1), "low 1 axis got shape ()"),
    (lambda: Halfspace([0, 0], 1), "normal zero"),
    (lambda: Halfspace([1, 0], np.nan), "offset finite got nan"),
    (lambda: Halfspace([[1, 0]], 1), "normal 1 axis got shape (1, 2)"),
    (lambda: Halfspace([], 1), "normal empty"),
    *[
        (lambda s=s, m=m, n=n: getattr(s, m)([1.0, 2.0, 3.0]), f"{n} 2 entries got shape (3,)")
        for s in IN_THE_PLANE
        for m, n in (("project", "y"), ("minimize_linear", "c"), ("contains", "x"))
    ],
    *[
        (lambda s=s, m=m, b=b: getattr(s, m)([0.0, b]), f"{n} finite got {b}")
        for s in IN_THE_PLANE
        for m, n in (("project", "y"), ("minimize_linear", "c"))
        for b in (np.nan, np.inf, -np.inf)
    ],
    (lambda: Ball(2).project([]), "y empty got shape (0,)"),
    (lambda: Ball(1).project(3.0), "y at least one axis got shape ()"),
    (lambda: Ball(2).project(["a", "b"]), "y array of numbers got ['a', 'b']"),
    (lambda: Ball(2).project([[1, 2], [3]]), "y array of numbers"),
    (lambda: Ball(2).farthest([1]), "point 2 entries got shape (1,)"),
    # losses
    (lambda: Linear([np.nan]), "z finite got nan"),
    (lambda: Linear([]), "z empty"),
    (lambda: Linear(3.0), "z at least one axis"),
    (lambda: Quadratic([0.0], 0.0), "curvature positive got 0.0"),
    (lambda: Quadratic([np.inf]), "center finite got inf"),
    (lambda: perceptron_loss(np.eye(2), [1, 0]), "y −1 or +1 got 0"),
    (lambda: perceptron_loss(np.eye(2), [1, 2]), "y −1 or +1 got 2"),
    (lambda: perceptron_loss(np.eye(2), [1]), "y 2 entries got 1"),
    (lambda: perceptron_loss([1.0, 2.0], [1, 1]), "X 2 axes got shape (2,)"),
    (lambda: perceptron_loss(np.empty((0, 2)), []), "X empty got shape (0, 2)"),
    (lambda: perceptron_loss([[np.nan]], [1]), "X finite got nan"),
    (lambda: perceptron_loss([[1.0]], [1], threshold=np.inf), "threshold finite got inf"),
    (lambda: perceptron_loss([[1.0]], [1], kink=1.5), "kink [0, 1] got 1.5"),
    (lambda: hinge([[1.0]], [1], kink=-0.1), "kink [0, 1] got -0.1"),
    (lambda: hinge([[1.0]], [np.nan]), "y finite got nan"),
    (lambda: PerceptronLoss(kink=np.nan), "kink [0, 1] got nan"),
    (lambda: Example([1.0], 0, HingeLoss()), "y −1 or +1 got 0"),
    (lambda: Example([np.nan], 1, HingeLoss()), "x finite got nan"),
    # regularisers
    (lambda: SquaredNorm([np.nan]), "center finite got nan"),
    (lambda: SquaredNorm([1.0]).minimize([0, 0], 1.0, Ball(2)), "center 2 entries got shape (1,)"),
    (lambda: SquaredNorm().minimize([0, 0], 0.0, Ball(2)), "eta positive got 0.0"),
    (lambda: SquaredNorm().minimize([0, 0], np.nan, Ball(2)), "eta positive got nan"),
    (lambda: SquaredNorm().minimize([0, 0], "big", Ball(2)), "eta array of numbers got 'big'"),
    (lambda: SquaredNorm().minimize([0, 0, 0], 1.0, Ball(2)), "c 2 entries got shape (3,)"),
    (lambda: NegativeEntropy().minimize([0, np.inf], 1.0, Simplex(2)), "c finite got inf"),
    (
        lambda: NegativeEntropy().minimize([0, 0], 1.0, Ball(2)),
        "NegativeEntropy() no closed form Ball(dim=2 Simplex oracle.minimize",
    ),
    (lambda: UnnormalizedEntropy().minimize([0, 0], 1.0, Simplex(2)), "no closed form Orthant"),
    (lambda: UnnormalizedEntropy().minimize([-1e3], 1.0, Orthant(1)), "−eta·c at most 345 got 1000"),
    # learners
    (lambda: FTRL(Ball(2), NegativeEntropy(), 1.0), "NegativeEntropy no closed form Ball"),
    (lambda: FTRL(Ball(2), SquaredNorm(), 0), "eta positive got 0"),
    (lambda: FTRL(Ball(2), SquaredNorm([1.0]), 1.0), "center 2 entries got shape (1,)"),
    (lambda: FTRL(Ball(2), SquaredNorm(), [1.0, -1.0]), "eta positive got [1.0, -1.0]"),
    (lambda: FTRL(Ball(2), SquaredNorm(), None), "eta number array schedule got None"),
    (lambda: OGD(Ball, 1.0), "over the class Ball write Ball(…)"),
    (lambda: OGD(0.1, Ball(2)), "over set dim and project(y) got 0.1"),
    (lambda: FTL(2), "over set dim and project(y) got 2"),
    (lambda: OGD(Ball(2), -1.0), "eta positive got -1.0"),
    (lambda: OGD(Ball(2), np.inf), "eta positive got inf"),
    (lambda: OGD(Ball(2), lambda t: 2.0 - t).points(ZEROS), "eta(2) positive got 0.0"),
    (lambda: play(OGD(Ball(2), lambda t: 2.0 - t), list(ZEROS)), "eta(2) positive got 0.0"),
    (lambda: OGD(Ball(2), 1.0, "sideways"), "projection 'lazy' 'eager' got 'sideways'"),
    (lambda: OGD(Ball(2), 1.0, start=[2, 0]), "start lie in Ball got [2. 0.]"),
    (lambda: OGD(Simplex(2), 1.0, start=[0, 0]), "start lie in Simplex"),
    (lambda: OGD(Ball(2), 1.0, start=[0]), "start 2 entries got shape (1,)"),
    (lambda: OGD(Ball(2), 1.0, start=[0, np.nan]), "start finite got nan"),
    (lambda: Hedge(0, 1.0), "n integer ≥ 1 got 0"),
    (lambda: Hedge(2, 0.0), "eta positive got 0.0"),
    (lambda: Perceptron(0), "dim integer ≥ 1 got 0"),
    (lambda: Perceptron(2, kink=2), "kink [0, 1] got 2"),
    (lambda: Winnow(2, 0.0), "threshold positive got 0.0"),
    (lambda: Winnow(2, 1.0, factor=1.0), "factor > 1 got 1.0"),
    (lambda: Winnow(0, 1.0), "dim integer ≥ 1 got 0"),
    (lambda: NormalizedWinnow(2, -1.0), "eta positive got -1.0"),
    (lambda: NormalizedWinnow(0, 1.0), "dim integer ≥ 1 got 0"),
    (lambda: inverse_sqrt(0), "scale positive got 0"),
    (lambda: FTL(Space(2)).points(np.ones((2, 2))), "unbounded below Space"),
    (lambda: FTL(Ball(2)).points(np.ones((2, 3))), "Z 2 entries got shape (2, 3)"),
    (lambda: OGD(Ball(2), 1.0, "eager").points(np.full((2, 2), np.nan)), "Z finite got nan"),
    (lambda: OGD(Ball(2), 1.0).points(np.ones(2)), "Z shape (..., T, n) got (2,)"),
    (lambda: OGD(Ball(2), 1.0, "eager").points(np.ones(2)), "Z shape (..., T, n) got (2,)"),
    # the game
    (lambda: play(OGD(Ball(2), 1.0), np.ones(2)), "losses shape (..., T, n) got (2,)"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 4))), "losses dimension 4 learner dimension 2"),
    (lambda: play(OGD(Ball(2), 1.0), np.empty((0, 2))), "losses empty"),
    (lambda: play(OGD(Ball(2), 1.0), []), "losses empty"),
    (lambda: play(OGD(Ball(2), 1.0), [[1, np.nan]]), "z finite got nan"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 2)), rounds=0), "rounds integer ≥ 1 got 0"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 2)), rounds=4), "rounds ≤ 3 got 4"),
    (lambda: play(OGD(Ball(2), 1.0), np.ones((3, 2)), rounds=1.5), "rounds integer ≥ 1 got 1.5"),
    (lambda: play(OGD(Ball(2), 1.0), lambda t, w, past: w), "rounds must be given"),
    (
        lambda: play(OGD(Ball(2), 1.0), lambda t, w, past: [1, 2, 3], 1),
        "round 1: z 2 entries got shape (3,)",
    ),
    (lambda: play(OGD(Ball(2), 1.0), lambda t, w, past: [1, np.inf], 1), "round 1: z finite got inf"),
    (lambda: play(Perceptron(3), perceptron_loss(np.eye(2), [1, 1])), "loss dimension 2 dimension 3"),
    (lambda: play(OGD(Ball(3), 1.0), [Quadratic([1.0, 2.0])]), "loss dimension 2 dimension 3"),
    (lambda: play(Linearized(FTL(Ball(3))), hinge(np.eye(2), [1, 1])), "loss dimension 2 dimension 3"),
    (lambda: TRACE.regret(Ball(2), [0, 0]), "over against not both"),
    (lambda: TRACE.regret_curve(Ball(2), [0, 0]), "over against not both"),
    (lambda: TRACE.regret(Ball(3)), "over dimension 2 Ball(dim=3"),
    (lambda: TRACE.regret_curve(Ball(3)), "over dimension 2 Ball(dim=3"),
    (lambda: TRACE.regret(against=[0, 0, 0]), "against 2 entries got shape (3,)"),
    (lambda: TRACE.regret(against=[0, np.nan]), "against finite got nan"),
    (lambda: TRACE.regret(Space(2)), "unbounded below Space"),
    (lambda: TRACE.dynamic_regret(np.ones((2, 2))), "comparators (3, 2) got (2, 2)"),
    (lambda: TRACE.dynamic_regret(np.full((3, 2), np.nan)), "comparators finite got nan"),
    (lambda: TRACE.margins, "margins data"),
    (lambda: DATA.regret_curve(L1Ball(2)), "linear or quadratic against=u ocolab.comparators"),
    # what misled before: each says what is wrong and what to write
    (lambda: Space(-1), "dim integer ≥ 1 got -1"),
    (lambda: OGD(Ball(2), "0.1"), "eta a number schedule got '0.1'"),
    (lambda: FTL(OnlyProject()), "FTL minimize_linear(c) got OnlyProject"),
    (lambda: play(OGD(Ball(1), 0.1), [1.0, 2.0]), "round 1: a vector got the number 1.0 write [1.0]"),
    (lambda: Ball(2).project(["1", "2"]), "y array of numbers"),
    (lambda: play(np.ones((3, 2)), OGD(Ball(2), 0.1)), "arguments are swapped play(learner, losses)"),
    (lambda: play([Linear([1.0])], FTL(Ball(1))), "arguments are swapped play(learner, losses)"),
    (lambda: play(OGD, np.ones((3, 2))), "learner an object got the class OGD write OGD(…)"),
    (lambda: play(OGD(Ball(2), 0.1).player(), np.ones((3, 2))), "learner player() looks like a player"),
    (lambda: play("OGD", np.ones((3, 2))), "learner must have a method player() got str"),
    (lambda: play(OGD(Ball(2), 0.1), Table()), "losses array (T, n) got a Table write losses.to_numpy()"),
    (lambda: play(OGD(Ball(2), 0.1), np.ones(3)), "losses shape (..., T, n) got (3,) write losses[:, None]"),
    (lambda: play(OGD(Ball(2), 0.1), 7), "losses an array (T, n) an iterable got int"),
    (
        lambda: play(OGD(Ball(2), 0.1), Linear([1.0, 2.0])),
        "losses must be a sequence got one Linear write [loss] * T",
    ),
    (lambda: play(Perceptron(2), (np.eye(2), [1, -1])), "tuple of arrays write perceptron_loss(X, y)"),
    (
        lambda: play(OGD(Ball(2), 0.1), [Sloped()]),
        "round 1: subgradient(w) got Sloped rename its method `gradient` to `subgradient`",
    ),
    (lambda: play(OGD(Ball(2), 0.1), lambda t, w, past: None, 3), "round 1: must not be None a return?"),
    (lambda: play(OGD(Ball(2), 0.1), [[1.0, 0.0], None]), "round 2: must not be None a return?"),
    (lambda: play(OGD(Ball(2), 0.1), [np.sum]), "round 1: a loss must have value(w) and subgradient(w)"),
    (lambda: play(OGD(Ball(2), 0.1), [hinge(np.eye(2), [1, 1])]), "round 1: a single example, losses[0]"),
    (
        lambda: play(Says(0.5), np.ones((3, 1))),
        "round 1: the play must be a vector (n,) got the number 0.5 return np.array([x])",
    ),
    (lambda: play(Says(None), np.ones((3, 1))), "round 1: the play must be an array of numbers got None"),
    (lambda: play(Says([[1.0, 2.0]]), np.ones((3, 2))), "round 1: the play must have shape (n,) got (1, 2)"),
    (lambda: play(Says("left"), np.ones((3, 2))), "round 1: the play must be an array of numbers got 'left'"),
    (lambda: play(Alone(), np.ones((5, 3, 2))), "round 1: 5 games at once Alone play one losses[0]"),
    (
        lambda: play(OGD(Ball(2), 0.1), [Linear([1.0, 0.0]), Wrong()]),
        "round 2: the value of the loss one number got shape (2,)",
    ),
    (lambda: play(OnlyPoints(), [Linear([1.0])]), "OnlyPoints only points(Z) array"),
    (lambda: play(OnlyPoints(), np.ones((3, 1))), "points(Z) shape (..., T + 1, n) got (3, 1)"),
    (lambda: perceptron_loss(np.eye(2), [0, 1]), "y −1 or +1 got 0 write 2*y - 1"),
    (lambda: play(OGD(Ball(2), lambda t: 1 / (t - 3)), np.ones((5, 2))), "eta(1) positive"),
    (
        lambda: play(OGD(Ball(2), lambda t: [1.0, 0.5][t - 1]), np.ones((5, 2))),
        "schedule eta failed at t = 3 IndexError",
    ),
    (
        lambda: SquaredNorm().minimize([1.0], 0.5, Space(1), curvature=-2.0),
        "curvature greater than −1/eta got -2",
    ),
    # adversaries
    (lambda: adversaries.alternating(0), "T integer ≥ 1 got 0"),
    (lambda: adversaries.all_signs(21), "T ≤ 20 got 21"),
    (lambda: adversaries.random_directions(3, 0, 0), "dim integer ≥ 1 got 0"),
    (lambda: adversaries.random_directions(3, 2, 0, rho=0), "rho positive got 0"),
    (lambda: adversaries.orthogonal(-1), "rho positive got -1"),
    (lambda: play(OGD(Ball(1), 1.0), adversaries.orthogonal(), 1), "orthogonal dim ≥ 2"),
    (lambda: adversaries.separable(3, 1, 0.1, 0), "dim integer ≥ 2 got 1"),
    (lambda: adversaries.separable(3, 2, 1.1, 0), "margin [0, 1] got 1.1"),
    (lambda: adversaries.disjunction(3, 2, 3, 0), "relevant ≤ dim 2 got 3"),
    # the oracle
    (lambda: oracle.project([1], Ball(2)), "y 2 entries got shape (1,)"),
    (lambda: oracle.minimize(SquaredNorm(), [0, 0], 0, Ball(2)), "eta positive got 0"),
    (lambda: oracle.max_margin(np.eye(2), [1, 3]), "y −1 or +1 got 3"),
]


@for_each("call, words", BAD, lambda case: case[1])
def test_bad_input_gets_a_value_error_that_names_it(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    # the words in this order, each whole: "got 0" is neither in "got 0.5" nor in "got 10"
    whole = (rf"(?<![\w.+−-]){re.escape(word)}(?!\w|\.\d)" for word in words.split(" "))
    assert re.search(".*?".join(whole), str(caught.value), re.DOTALL), f"{words!r} is not in {caught.value}"


THREE, EIGHT = np.ones(3), np.ones((2, 2, 2))
TABLES = {
    "hinge": lambda X: hinge(X, np.ones(len(X))),
    "Pieces": batch.Pieces,
    "play_game": lambda A: games.play_game(A, Hedge(2, 0.5), Hedge(2, 0.5), 3),
    "duality_gap": lambda A: games.duality_gap(A, np.ones(2) / 2, np.ones(2) / 2),
    "best_column": games.best_column,
    "multivariate_regression": lambda Y: losses.multivariate_regression(np.ones((2, 2)), Y, np.eye(2)),
    "max_margin": lambda X: oracle.max_margin(X, np.ones(len(X))),
    "ball_margin": lambda X: oracle.ball_margin(X, np.ones(len(X))),
    "hard_margin": lambda X: oracle.hard_margin(X, np.ones(len(X))),
    "SoftMargin": lambda delta: phi.SoftMargin(delta, np.ones((2, 2))),
    "SoftMargin, gamma": lambda gamma: phi.SoftMargin(np.ones((2, 2)), gamma),
    "QuadraticForm": phi.QuadraticForm,
    "Hull": Hull,
}


@pytest.mark.parametrize("name", TABLES)
def test_what_has_rows_and_columns_has_two_axes(name):
    for wrong in (THREE, EIGHT):
        with pytest.raises(ValueError, match=r"must have 2 (axes|entries)"):
            TABLES[name](wrong)


def test_one_point_has_one_axis():
    for make in (
        lambda: hinge(np.ones((1, 2)), [1])[0].subgradient(np.ones((3, 2))),
        lambda: Quadratic(np.ones((1, 2))),
        lambda: Ball(2, 1.0, np.ones((1, 2))),
    ):
        with pytest.raises(ValueError, match="must have 1 axis"):
            make()


def test_a_game_without_losses_is_refused():
    with pytest.raises(ValueError, match="losses must not be empty"):
        play(OGD(Ball(2), 0.5), [])
    with pytest.raises(ValueError, match="losses must not be empty"):
        play(OGD(Ball(2), 0.5), iter(()))


def test_the_hint_of_an_optimist_is_not_negative():
    assert games.HedgeFrom([0.5, 0.5], 1.0, 0.0).hint == 0.0
    with pytest.raises(ValueError, match="hint must be"):
        games.HedgeFrom([0.5, 0.5], 1.0, -0.1)
