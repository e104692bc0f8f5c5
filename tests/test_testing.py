"""The checks of `ocolib.testing` pass what is right, and notice every fault that is planted here."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from ocolib import theorems
from ocolib.learners import OGD, FirstOrder, Hedge
from ocolib.losses import Linear, Quadratic, hinge
from ocolib.phi import HingeLoss, LeastSquares, Logistic, QuadraticForm, SoftMargin, Softmax, TubeLoss
from ocolib.sets import Ball, Box, Set, Simplex, onto_simplex
from ocolib.testing import (
    all_of,
    by_loop,
    check_learner,
    check_loss,
    check_phi,
    check_set,
    check_theorem,
    variations,
)


def planted(base, **methods):
    """A subclass with some methods replaced."""
    return type(f"Faulty{base.__name__}", (base,), methods)


def scaled(method, by):
    return lambda self, *given: by * method(self, *given)


SETS = {
    "projects too far": planted(Ball, project=scaled(Ball.project, 0.99)),
    "leaves points outside": planted(Ball, project=lambda self, y: np.array(y, dtype=float)),
    "not the nearest": planted(Ball, project=lambda self, y: np.clip(Ball.project(self, y), -0.5, 0.5)),
    "clips one side": planted(Box, project=lambda self, y: np.maximum(self.points("y", y), self.low)),
    "changes its argument": planted(Box, project=lambda self, y: np.clip(y, self.low, self.high, out=y)),
    "a batch that sums to more": planted(
        Simplex, project=lambda self, y: onto_simplex(self.points("y", y), 1.0 if np.ndim(y) == 1 else 1.06)
    ),
    "contains too much": planted(Ball, contains=lambda self, x, tol=1e-9: Ball.contains(self, x, 0.01)),
    "contains too little": planted(
        Ball, contains=lambda self, x, tol=1e-9: Ball.contains(self, 1.001 * np.array(x))
    ),
    "the greatest, not the least": planted(Ball, minimize_linear=scaled(Ball.minimize_linear, -1.0)),
    "a tie settled by the first": planted(
        Simplex, minimize_linear=lambda self, c: np.eye(self.dim)[np.argmin(self.points("c", c), axis=-1)]
    ),
    "a small c vanishes": planted(
        Ball, minimize_linear=lambda self, c: Ball.minimize_linear(self, np.where(np.abs(c) < 1e-150, 0.0, c))
    ),
    "a diameter that is a radius": planted(Ball, diameter=1.0),
    "a farthest that is too far": planted(
        Ball, farthest=lambda self, point: 1.2 * Ball.farthest(self, point)
    ),
    "takes nan": planted(Ball, points=lambda self, name, x: np.nan_to_num(np.asarray(x, dtype=float))),
    "constraints of another set": planted(
        Ball, constraints=lambda self, x: Ball(self.dim, 0.5).constraints(x)
    ),
    "a diameter 4 % too large": planted(Box, diameter=property(lambda self: 1.04 * Box.diameter.fget(self))),
    "a shift that changes the costs": planted(Box, shift=lambda self, z: z.min(axis=-1, keepdims=True)),
}


SAID_OF_SETS = {
    "projects too far": "moves the point",
    "leaves points outside": "violates the constraints",
    "not the nearest": "comes nearer",
    "clips one side": "violates the constraints",
    "changes its argument": "must not change its argument",
    "a batch that sums to more": "project of many points differs",
    "contains too much": "must be false",
    "contains too little": "must be true",
    "the greatest, not the least": "is not a minimiser",
    "a tie settled by the first": "must have least norm",
    "a small c vanishes": "depend only on the direction",
    "a diameter that is a radius": "two points have distance",
    "a farthest that is too far": "no point is farther",
    "takes nan": "must raise a ValueError",
    "constraints of another set": "violates the constraints",
    "a diameter 4 % too large": "no two points are farther apart",
    "a shift that changes the costs": "shift must cost all points of the set the same",
}


@pytest.mark.parametrize("fault", SETS)
def test_faults_in_sets_are_noticed(fault):
    kind = SETS[fault]
    made = kind([-1.0, -2.0], [1.0, 2.0]) if issubclass(kind, Box) else kind(2)
    with pytest.raises(AssertionError, match=f"Faulty.*{SAID_OF_SETS[fault]}"):
        check_set(made)


PHIS = {
    "slope of the wrong sign": planted(Logistic, slope=scaled(Logistic.slope, -1.0)),
    "slope as printed in the slides": planted(Logistic, slope=lambda self, p, y: -y / (1 + np.exp(-y * p))),
    "slope 1 % too steep": planted(Logistic, slope=scaled(Logistic.slope, 1.01)),
    "not convex": planted(Logistic, value=lambda self, p, y: np.sin(p), slope=lambda self, p, y: np.cos(p)),
    "lipschitz too small": planted(Logistic, lipschitz=0.9),
    "lipschitz too large": planted(Logistic, lipschitz=1.1),
    "smooth too small": planted(Logistic, smooth=0.2),
    "curvature that it has not": planted(Logistic, curvature=0.01),
    "half a kink": planted(HingeLoss, subdifferential=lambda self, p, y: (self.slope(p, y),) * 2),
    "a slope outside its subdifferential": planted(HingeLoss, slope=lambda self, p, y: 0.0 * p * y - 1.0),
    "expression of another loss": planted(
        TubeLoss, expression=lambda self, p, y: 2 * TubeLoss.expression(self, p, y)
    ),
    "overflows far away": planted(Logistic, value=lambda self, p, y: np.log(1 + np.exp(-y * p))),
    "changes p": planted(LeastSquares, value=lambda self, p, y: 0.5 * np.subtract(p, y, out=p) ** 2),
    "lipschitz too large for scores": planted(Softmax, lipschitz=2.0),
    "smooth too large for scores": planted(Softmax, smooth=0.6),
}


SAID_OF_PHIS = {
    "slope of the wrong sign": "not a subgradient",
    "slope as printed in the slides": "not a subgradient",
    "slope 1 % too steep": "not a subgradient",
    "not convex": "not a subgradient",
    "lipschitz too small": "but we measure",
    "lipschitz too large": "but we only measure",
    "smooth too small": "but we measure",
    "curvature that it has not": "but we measure",
    "half a kink": "but differences give",
    "a slope outside its subdifferential": "not a subgradient",
    "expression of another loss": "expression and value differ",
    "overflows far away": "must be finite at p",
    "changes p": "must not change p",
    "lipschitz too large for scores": "but we only measure",
    "smooth too large for scores": "but we only measure",
}


@pytest.mark.parametrize("fault", PHIS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_faults_in_phi_are_noticed(fault):
    with pytest.raises(AssertionError, match=f"Faulty.*{SAID_OF_PHIS[fault]}"):
        check_phi(PHIS[fault]())


def test_faults_in_phi_of_scores_are_noticed():
    def first(self, f, y):
        return SoftMargin.subdifferential(self, f, y)[:1]

    ties = planted(SoftMargin, subdifferential=first)(1 - np.eye(3), np.ones((3, 3)))
    with pytest.raises(AssertionError, match="the subdifferential must reach"):
        check_phi(ties)
    for name, wrong in (("smooth", 6.0), ("curvature", 0.9), ("curvature", 1.1)):
        with pytest.raises(AssertionError, match=f"{name} is {wrong}, but we"):
            check_phi(planted(QuadraticForm, **{name: wrong})(np.diag([1.0, 2.0, 3.0])))


LOSSES = {
    "subgradient of another point": planted(
        Quadratic, subgradient=lambda self, w: Quadratic.subgradient(self, 2 * np.array(w))
    ),
    "gradient of the wrong size": planted(Quadratic, subgradient=scaled(Quadratic.subgradient, 1.1)),
    "coefficients without the constant": planted(
        Quadratic, coefficients=property(lambda self: (1.0, -self.center, 0.0))
    ),
    "expression without the half": planted(Quadratic, expression=scaled(Quadratic.expression, 2.0)),
    "a concave loss": planted(
        Quadratic, value=scaled(Quadratic.value, -1.0), subgradient=scaled(Quadratic.subgradient, -1.0)
    ),
    "a subgradient that is a number": planted(Quadratic, subgradient=lambda self, w: 1.0),
    "a value that is a vector": planted(Quadratic, value=lambda self, w: np.square(w - self.center) / 2),
    "another answer later": planted(Quadratic, subgradient=lambda self, w, left=[60]: _tired(self, w, left)),
}


def _tired(loss, w, left):
    """The right subgradient, but only while `left` lasts."""
    left[0] -= 1
    return np.sign(left[0]) * Quadratic.subgradient(loss, w)


@pytest.mark.parametrize("fault", LOSSES)
def test_faults_in_losses_are_noticed(fault):
    with pytest.raises(AssertionError, match="Faulty"):
        check_loss(LOSSES[fault]([1.0, 2.0]))


def test_a_loss_that_changes_its_argument_or_has_a_gradient_is_noticed():
    class Shifts:
        dim = 1

        def value(self, w):
            w += 1.0
            return float(w[0])

        def subgradient(self, w):
            return np.ones(1)

    with pytest.raises(AssertionError, match="must not change w"):
        check_loss(Shifts())
    with pytest.raises(AssertionError, match="a loss must have"):
        check_loss(planted(object, value=lambda self, w: 0.0, gradient=lambda self, w: w)(), dim=1)
    with pytest.raises(ValueError, match="has no dim"):
        check_loss(planted(object, value=lambda self, w: 0.0, subgradient=lambda self, w: 0 * w)())


def test_what_is_no_set_loss_learner_or_theorem_gets_a_sentence():
    with pytest.raises(AssertionError, match=r"a set must have dim and project\(y\)"):
        check_set(3)
    with pytest.raises(ValueError, match=r"pass an object, Diagonal\(…\)"):
        check_set(Diagonal)
    with pytest.raises(AssertionError, match=r"check one of them, such as losses\[0\]"):
        check_loss(hinge([[1.0, 2.0]], [1.0]))
    with pytest.raises(AssertionError, match=r"a learner must have a method player\(\)"):
        check_learner("FTL")
    with pytest.raises(ValueError, match="learner must be an object, got the class OGD"):
        check_learner(OGD)
    with pytest.raises(ValueError, match="theorem must be the class"):
        check_theorem(theorems.Perceptron(1, 0.5))


class Remembers(FirstOrder):
    """Its players share one memory."""

    over = Ball(2)

    def __init__(self):
        self.seen = np.zeros(2)

    def after(self, t, w, z, Z):
        self.seen = self.seen + z
        return self.over.project(-0.1 * self.seen)


class Peeks(OGD):
    def points(self, Z):
        return super().points(np.asarray(Z) - np.mean(Z, axis=-2, keepdims=True))


class Arithmetic(OGD):
    """Chooses its arithmetic from all of Z: right up to rounding, but not exactly."""

    def points(self, Z):
        return super().points(Z) * (1.0 + 1e-15 * (np.abs(Z).max() > 2))


class Wanders:
    """Leaves its set, which has only a projection."""

    def __init__(self, over):
        self.over = over

    def player(self):
        return MyPlayer(lambda z: z)


class Changes(OGD):
    def player(self):
        player = super().player()
        step = player.step

        def changing(z):
            step(z.copy())
            z *= 1.0001

        player.step = changing
        return player


LEARNERS = {
    "players that share a memory": Remembers(),
    "a closed form that sees the future": Peeks(Ball(2), 0.1),
    "rounding that depends on the future": Arithmetic(Ball(2), 0.1),
    "plays outside its set": planted(OGD, after=lambda self, t, w, z, Z: w - z)(Ball(2), 0.1),
    "a closed form that is not the loop": planted(OGD, points=lambda self, Z: OGD(self.over, 0.2).points(Z))(
        Ball(2), 0.1
    ),
    "a closed form wrong for batches": planted(
        OGD, points=lambda self, Z: OGD(self.over, 0.1 if np.ndim(Z) == 2 else 0.11).points(Z)
    )(Ball(2), 0.1),
    "plays of another dimension than its set": Wanders(Ball(3)),
    "changes z": Changes(Ball(2), 0.1, "eager"),
}


SAID_OF_LEARNERS = {
    "players that share a memory": "must return a fresh player",
    "a closed form that sees the future": "depends on the losses of round",
    "rounding that depends on the future": "depends on the losses of round",
    "plays outside its set": "the play of round 4 is outside",
    "a closed form that is not the loop": "but the game has",
    "a closed form wrong for batches": "points of a batch of games differs",
    "plays of another dimension than its set": "the plays have dimension 2, but the set is",
    "changes z": "must not modify its argument",
}


@pytest.mark.parametrize("fault", LEARNERS)
def test_faults_in_learners_are_noticed(fault):
    with pytest.raises(AssertionError, match=SAID_OF_LEARNERS[fault]):
        check_learner(LEARNERS[fault])


class Diagonal:
    """A set of your own without a base class: {(a, a)}."""

    dim = 2

    def project(self, y):
        return np.full(2, np.mean(y))


class Mine:
    """A learner of your own without a base class."""

    over = Diagonal()

    def player(self):
        return MyPlayer()


class MyPlayer:
    def __init__(self, move=np.mean):
        self.w, self.move = np.zeros(2), move

    def predict(self):
        return self.w

    def step(self, z):
        self.w -= self.move(z)


def test_what_is_right_passes_without_a_base_class():
    check_set(Diagonal())
    check_learner(Mine())
    check_loss(
        planted(object, value=lambda self, w: np.abs(w).sum(), subgradient=lambda self, w: np.sign(w))(),
        dim=2,
    )
    check_loss(Linear([1.0, 2.0]))


def test_what_a_set_with_a_projection_alone_cannot_hide():
    with pytest.raises(AssertionError, match=r"the play of round \d+ is outside"):
        check_learner(Wanders(Diagonal()))
    small = planted(object, dim=2, diameter=1.0, project=lambda self, y: Ball(2).project(y))()
    with pytest.raises(AssertionError, match=r"the diameter is 1\.0, but two points have distance"):
        check_set(small)


@pytest.mark.parametrize(
    ("theorem", "missing"),
    [
        (theorems.Descent, "f_t is convex"),
        (theorems.Descent, "‖z_t‖ ≤ ρ"),
        (theorems.Perceptron, "the perceptron loss"),
        (theorems.Zinkevich, "η_t = σ/√t"),
        (theorems.StronglyConvex, "η_t = 1/(Ht)"),
        (theorems.LogisticDescent, "w_1 = 0"),
    ],
)
def test_a_missing_hypothesis_is_noticed(theorem, missing):
    def fewer(self, trace, u=None):
        found = theorem.hypotheses(self, trace, u)
        left = {words: true for words, true in found.items() if missing not in words}
        assert len(left) < len(found)
        return left

    kind = type("Fewer", (theorem,), {"__doc__": "Fewer.", "hypotheses": fewer}, register=False)
    with pytest.raises(AssertionError, match=r"Fewer: .*(bound|line|proof)"):
        check_theorem(dataclass(frozen=True)(kind))


def test_all_of_finds_the_library_and_not_these():
    names = {kind.__name__ for kind in all_of(Set)}
    assert {"Space", "Orthant", "Ball", "Box", "Simplex", "L1Ball", "Halfspace", "Hull"} <= names
    assert "Unbounded" not in names and not [name for name in names if name.startswith("Faulty")]


def test_by_loop_plays_without_the_closed_form():
    learner = planted(Hedge(2, 0.3).__class__, points=lambda self, Z: 1 / 0)(
        Simplex(2), Hedge(2, 0.3).regularizer, 0.3
    )
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert by_loop(learner, Z) == pytest.approx(Hedge(2, 0.3).points(Z))


def test_a_loss_must_be_finite_and_so_must_its_slopes():
    for value, slope in ((np.inf, 0.0), (0.0, np.nan)):
        kind = planted(
            object,
            value=lambda self, w, value=value: value * np.ones(len(np.atleast_1d(w)))[0],
            subgradient=lambda self, w, slope=slope: np.full(1, slope),
        )
        with pytest.raises(AssertionError, match="value and subgradient must be finite"):
            check_loss(kind(), dim=1)


def test_numbers_that_a_theorem_does_not_allow_do_not_end_the_search_for_others():
    _, trace, _ = theorems.Perceptron.worst()
    others = [stated for stated, _, _ in variations(theorems.EXP3IX(2, 4, 0.6), trace, None)]
    numbers = {(other.n, other.T, round(other.delta, 9)) for other in others}
    assert {(2, 4, 0.3), (2, 4, 0.54), (4, 4, 0.6), (2, 2, 0.6), (2, 8, 0.6)} <= numbers
    assert {n for n, _, _ in numbers} == {2, 4} and max(delta for *_, delta in numbers) == 0.6


def test_every_game_of_a_theorem_is_checked():
    """The fault is in one game among the good ones, which is neither the first, the middle nor the worst."""

    class OneWrong(theorems.Descent, register=False):
        """A theorem whose second game is not its own."""

        @classmethod
        def games(cls, rng):
            games = list(super().games(rng))
            stated, trace, u = games[1]
            games[1] = replace(stated, rho=stated.rho / 2), trace, u
            return games

    with pytest.raises(AssertionError, match="violates the hypothesis"):
        check_theorem(dataclass(frozen=True)(OneWrong))


def test_how_near_coefficients_must_come():
    for error, fine in ((1e-12, True), (1e-6, False)):

        def coefficients(self, error=error):
            a, b, k = Quadratic.coefficients.fget(self)
            return a, b, k + error

        loss = planted(Quadratic, coefficients=property(coefficients))([1.0, 2.0])
        if fine:
            check_loss(loss)
        else:
            with pytest.raises(AssertionError, match="coefficients and value differ"):
                check_loss(loss)
