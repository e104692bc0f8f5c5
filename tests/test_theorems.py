"""Every theorem is true in its own games, proves its bound, and is as tight as it says: `check_theorem`.

It is tried on planted faults. Each bound has a value worked out by hand, each chain is computed again by
loops over the rounds.
"""

import re
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import islice, pairwise
from math import exp, log, log2, sqrt

import numpy as np
import pytest
from folded import for_each
from hypothesis import given
from hypothesis import strategies as st

from ocolib import theorems
from ocolib.adversaries import all_signs, alternating, nature, orthogonal, random_directions, separable
from ocolib.describe import changed
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
from ocolib.regularizers import SquaredNorm
from ocolib.sets import Ball, Box, Simplex, Space
from ocolib.testing import check_theorem, variations
from ocolib.theorems import THEOREMS, Chain, Claims, Line
from ocolib.trace import Trace

INTERVAL = Box([-1.0], [1.0])


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.__name__)
def test_a_theorem_is_true_proved_and_as_tight_as_it_says(theorem):
    check_theorem(theorem)


def test_every_theorem_is_reachable_by_its_name():
    assert all(getattr(theorems, theorem.__name__) is theorem for theorem in THEOREMS)
    assert len({theorem.__name__ for theorem in THEOREMS}) == len(THEOREMS)


# ---------------------------------------------------------------- planted faults


@dataclass(frozen=True)
class SmallBound(theorems.Descent, register=False):
    """Too small a constant."""

    @property
    def bound(self):
        return 0.7 * super().bound


@dataclass(frozen=True)
class LargeBound(theorems.DescentSharp, register=False):
    """Too large a constant."""

    @property
    def bound(self):
        return 1.3 * super().bound


@dataclass(frozen=True)
class WrongStep(theorems.Descent, register=False):
    """A step that is not the best."""

    @property
    def step(self):
        return 1.5 * super().step


@dataclass(frozen=True)
class WrongSchedule(theorems.FTRLTuned, register=False):
    """A step for which the bound is not proved."""

    @property
    def step(self):
        return 1.2 * super().step


@dataclass(frozen=True)
class AnyGradients(theorems.Descent, register=False):
    """‖z_t‖ ≤ ρ forgotten."""

    def hypotheses(self, trace, u=None):
        return {words: true for words, true in super().hypotheses(trace, u).items() if "z_t" not in words}


@dataclass(frozen=True)
class AnyComparator(theorems.DescentSharp, register=False):
    """u anywhere."""

    def hypotheses(self, trace, u=None):
        return super().hypotheses(trace, trace.points[0])


@dataclass(frozen=True)
class AnyLearner(theorems.Descent, register=False):
    """The learner forgotten."""

    def hypotheses(self, trace, u=None):
        return {words: true for words, true in super().hypotheses(trace, u).items() if "OGD" not in words}


@dataclass(frozen=True)
class AnyMargin(theorems.Perceptron, register=False):
    """The margin forgotten."""

    def hypotheses(self, trace, u=None):
        return {words: true for words, true in super().hypotheses(trace, u).items() if "margin" not in words}


@dataclass(frozen=True)
class AnyLosses(theorems.Hedge, register=False):
    """Losses in [0, 1] forgotten."""

    def hypotheses(self, trace, u=None):
        return {words: true for words, true in super().hypotheses(trace, u).items() if "[0, 1]" not in words}


@dataclass(frozen=True)
class Disordered(theorems.StronglyConvex, register=False):
    """Two lines of the proof exchanged."""

    def chain(self, trace, u=None):
        chain = super().chain(trace, u)
        a, b, c, *rest = chain.lines
        return Chain(chain.title, (a, *rest[:-1], c, b, rest[-1]))


@dataclass(frozen=True)
class Unfinished(theorems.Descent, register=False):
    """A proof whose last line is not the bound."""

    def chain(self, trace, u=None):
        chain = super().chain(trace, u)
        return Chain(chain.title, chain.lines[:-1])


@dataclass(frozen=True)
class Headless(theorems.Descent, register=False):
    """A proof that does not begin at the regret."""

    def chain(self, trace, u=None):
        chain = super().chain(trace, u)
        return Chain(chain.title, chain.lines[2:])


@dataclass(frozen=True)
class Overstated(theorems.Descent, register=False):
    """Said to be tighter than it is."""

    tightness = 0.8


@dataclass(frozen=True)
class Understated(theorems.Descent, register=False):
    """Said to be less tight than it is."""

    tightness = 0.7


@dataclass(frozen=True)
class NotTight(theorems.Descent, register=False):
    """Said to be met."""

    kind = "tight"


@dataclass(frozen=True)
class OtherMeasure(theorems.DescentSharp, register=False):
    """Measures something else."""

    def measure(self, trace, u=None):
        return trace.paid.sum()


@dataclass(frozen=True)
class Narrow(theorems.Hedge, register=False):
    """Refuses its own games."""

    def hypotheses(self, trace, u=None):
        return super().hypotheses(trace, u) | {"at most three rounds": trace.rounds <= 3}


@dataclass(frozen=True)
class HighFloor(theorems.MistakesFloor, register=False):
    """A lower bound that nobody is forced to."""

    @property
    def bound(self):
        return super().bound + 1

    def hypotheses(self, trace, u=None):
        return theorems.MistakesFloor(self.radius, self.margin).hypotheses(trace, u)


FAULTS = {
    SmallBound: "ends at|above the bound",
    LargeBound: "the proof ends at",
    WrongStep: "does not make the bound least|not that of its own step|ends at|takes",
    WrongSchedule: "the proof ends at",
    AnyGradients: "AnyGradients: ",
    AnyComparator: "AnyComparator: ",
    AnyLearner: "AnyLearner",
    AnyMargin: "AnyMargin: ",
    AnyLosses: "AnyLosses: ",
    Disordered: "smaller than the line before",
    Unfinished: "the proof ends at",
    Headless: "the proof starts at",
    Overstated: "but the worst game attains 0.75",
    Understated: "tightness is 0.7, but the worst game attains 0.75",
    NotTight: "a tight bound must have tightness 1",
    OtherMeasure: "starts at|above the bound",
    Narrow: "violates the hypothesis: at most three rounds",
    HighFloor: "is below the lower bound",
}


@pytest.mark.parametrize("theorem", FAULTS, ids=lambda theorem: theorem.__name__)
def test_check_theorem_notices_a_planted_fault(theorem):
    with pytest.raises(AssertionError, match=FAULTS[theorem]):
        check_theorem(theorem)
    assert theorem not in THEOREMS


# ---------------------------------------------------------------- one value of each by hand


def two_rounds():
    """FTRL on all of the line with η = ½ against z = 1, 1: it plays 0, −½ and would play −1."""
    return play(FTRL(Space(1), SquaredNorm(), 0.5), np.ones((2, 1)))


def halved():
    """Eager descent with η_t = 2/t, for H = ½, against z = 1, 2, 3."""
    return play(OGD(Space(1), inverse(2.0), "eager"), np.array([[1.0], [2.0], [3.0]]))


BY_HAND = [
    (theorems.Example2, (5, 0.5), 1.5),  # ¼·4 + ½
    (theorems.Stability.of, (two_rounds(), [2.0]), 5.0),  # ½ + ½ + 2²/(2·½)
    (theorems.Descent, (2.0, 3.0, 8), 24.0),
    (theorems.DescentSharp, (2.0, 3.0, 4), 12.0),
    (theorems.DescentAnytime, (2.0, 3.0, 8), 24.0),
    (theorems.AverageIterate, (2.0, 3.0, 4), 3.0),
    (theorems.LastIterate, (2.0, 3.0, 3), 3.0),
    (theorems.HedgeGame, (np.eye(2), 8), 0.4162773056),  # 2√(ln 2/16)
    (theorems.Boosting, (np.ones((4, 2)), 8), 0.5887050113),  # √(ln 4/4)
    (theorems.OptimisticGame, (np.eye(2), 4, 0.25), 1.5112943611),  # (4 ln 4 + ½)/4
    (theorems.Perceptron, (2.0, 0.5), 16.0),
    (theorems.Winnow, (32, 2, 4.0), 34.0),  # 16 + 6·3
    (theorems.NormalizedWinnow, (8, 0.5, 2.0), 66.54212933),  # 96 ln 2
    (theorems.PerceptronFrom, (1.0, 1.0, -1.0, 1.0), 3.0),  # (M − 1)² = 1 + M
    (theorems.PerceptronTies, (2.0, 0.5, 1 / 3), 64 / 3),  # 16·(4/3)²/(4/3)
    (theorems.MistakesFloor, (1.0, 0.3), 11),  # ⌊100/9⌋
    (theorems.Zinkevich, (2.0, 3.0, 1.0, 4), 30.0),  # (2 + 9 + 4)·2
    (theorems.ZinkevichSharp, (2.0, 3.0, 3**0.5, 4), 23.5),  # 4 + 9·1½ + 2√3·√3
    (theorems.ZinkevichSharp, (2.0, 3.0, 3**0.5, 4, None, 2.0), 32.0),  # 2 + 18·1½ + √3·√3
    (theorems.ZinkevichSharp, (2.0, 3.0, 3**0.5, 4, 1.0), 20.5 + 3**0.5 / 2),  # √3·1 + ½ for 2√3
    (theorems.Delayed, (2.0, 3.0, 1, 6), 36.0),
    (theorems.Delayed, (2.0, 3.0, 1, 4, 1.0), 58.0),  # (2 + 9·3)·2
    (theorems.DelayedConstant, (2.0, 3.0, [1, 0, 2], 0.5), 15.25),  # 4 + 4½·(1½ + 1)
    (theorems.DelayedStronglyConvex, (2.0, 3.0, 0.5, 2, 1), 47.0),  # 2 + 2½·18
    (theorems.DelayedStronglyConvex, (2.0, 3.0, 0.5, 2, 7), 134.5659567),  # ln 7 = 1.945910149
    (theorems.StronglyConvex, (3.0, 0.5, 7), 26.51319134),
    (theorems.StronglyConvexSharp, (3.0, 0.5, 3), 16.5),  # 9·11/6
    (theorems.StronglyConvexSeen.of, (halved(),), 6.0),  # 1 + 4/2 + 9/3
    (theorems.Pegasos, (2.0, 0.5, 7), 47.13456238),  # ρ = 4
    (theorems.Pegasos, (1.0, 4.0, 1, True), 1.125),  # ρ = 3
    (theorems.FTRL, (2.0, [1.0, 3.0], 0.5), 9.0),
    (theorems.FTRLSharp, (2.0, [1.0, 3.0], 0.5), 6.5),
    (theorems.FTRLTuned, (4.0, 3.0, 25), 60.0),
    (theorems.FTRLTunedSharp, (2.0, 3.0, 25), 30.0),
    (theorems.Hedge, (10, 50), 7.587135646),  # 5√2.302585093
    (theorems.HedgeAnytime, (10, 49), 10.62198990),
    (theorems.EXP3, (10, 50), 47.98525912),  # √(1000·2.302585093)
    (theorems.EXP3, (2, 6, 0.5), 4.386294361),  # 2 ln 2 + 3
    (theorems.EXP3IX, (2, 8, 0.5, 0.5), 13.54517744),  # 2 ln 8 + 8 + ln 4
    (theorems.LogisticDescent, (0.5, np.e, 2.0), 0.7357588823),  # 2/e
    (theorems.CoinBetting, (1, (np.e - 1) ** 0.5 / 2), 1.155416248),  # the logarithm is 1: ½√(e − 1) + ½
    (theorems.CoinBetting, (4, 3.0, 2.0), 14.8851565074),  # 6√ln 145 + 3/2
    (theorems.UniversalPortfolio, (3,), 1.386294361),  # ln 4
    (theorems.UniversalPortfolio, (4, 0.5), 1.2966822024),  # ln(256/70)
    (theorems.ExponentiatedGradient, (2, 50, 0.5), 4.162773056),  # ρ = 1: 5√ln 2
    (theorems.ExponentiatedGradient, (2, 8, 0.2, 0.5), 9.386294361),  # ρ = 4: 2 ln 2 + 8
    (theorems.Mirror, (2.0, 3.0, 4), 12.0),
    (theorems.Mirror, (2.0, 3.0, 4, 0.5), 13.0),  # 4 + ¼·36
    (theorems.MirrorFalling, (4.0, 3.0, 9), 36.0),
    (theorems.MirrorFalling, (4.0, 3.0, 9, 0.5), 37.5),  # (8 + 4½)·3
    (theorems.AdaGrad, (3.0, 50.0), 30.0),
    (theorems.AdaGradDiagonal, ([3.0, 5.0], [50.0, 2.0]), 40.0),
    (theorems.AdaHedge, (10, 50, 2.0), 23.55265688),  # 2·(1 + √116.1292546)
    # again with numbers for which squaring is not doubling and no divisor is 1
    (theorems.PerceptronFrom, (3.0, 0.5, 0.4, 1.2), 34.54819875),  # 4·(4.3 + √18.81)
    (theorems.Zinkevich, (3.0, 5.0, 0.7, 9), 101.1),  # (4.5 + 25 + 4.2)·3
    (theorems.ZinkevichSharp, (3.0, 5.0, 0.7, 9, None, 0.4), 73.59924241),  # 33.75 + 25 + 5.25·√8
    (theorems.ZinkevichSharp, (3.0, 5.0, 4.0, 9, 1.6, 0.4), 113.0558008),  # 33.75 + 25 + 19.2·√8
    (theorems.Delayed, (3.0, 5.0, 2, 9, 0.4), 183.75),  # (11.25 + 50)·3
    (theorems.Delayed, (3.0, 5.0, 2, 9), 142.3024947),  # 15·√90
    (theorems.Delayed, (3.0, 5.0, 0, 8), 60.0),  # 15·√16
    (theorems.DelayedConstant, (3.0, 5.0, [1, 0, 2], 0.25), 33.625),  # 18 + 6.25·2½
    (theorems.DelayedStronglyConvex, (3.0, 5.0, 0.25, 2, 7), 738.7275373),  # 2.25 + 250·2.945910149
    (theorems.DelayedStronglyConvex, (3.0, 5.0, 0.25, 0, 1), 50.0),
    (theorems.StronglyConvexSharp, (3.0, 0.25, 3), 33.0),  # 18·11/6
    (theorems.LogisticDescent, (0.5, np.e**2, 3.0), 0.4962293718),  # (1 + 4/1.5)/e²
]


@for_each("theorem, numbers, value", BY_HAND)
def test_a_bound_has_the_value_worked_out_by_hand(theorem, numbers, value):
    """So that none can be scaled, up or down, unnoticed: an upper bound stays one when it grows."""
    assert theorem(*numbers).bound == pytest.approx(value, rel=1e-9) and value > 0


def test_every_theorem_has_a_value_by_hand():
    assert {getattr(theorem, "__self__", theorem) for theorem, _, _ in BY_HAND} == set(THEOREMS)


def test_steps_by_hand():
    assert theorems.Descent(2.0, 3.0, 8).step == pytest.approx(1 / 6)
    assert theorems.Descent(2.0, 3.0, 8, 0.5).step == 0.5
    assert theorems.Descent(2.0, 3.0, 8, 0.5).bound == 40.0  # ½·8·9 + 4
    assert theorems.DescentSharp(2.0, 3.0, 4).step == pytest.approx(1 / 3)
    assert theorems.DescentSharp(2.0, 3.0, 4, 0.5).bound == 13.0  # 9 + 4
    assert theorems.DescentAnytime(2.0, 3.0, 8).step(2) == pytest.approx(1 / 3)
    assert theorems.Delayed(2.0, 3.0, 1, 7).scale == pytest.approx(0.2721655270)  # 2/(3√6)
    assert theorems.Delayed(3.0, 5.0, 2, 7).scale == pytest.approx(0.1897366596)  # 3/(5√10)
    assert theorems.Delayed(3.0, 5.0, 0, 7).step(4) == pytest.approx(0.4242640687 / 2)  # 3/(5√2)
    assert theorems.FTRLTuned(4.0, 0.5, 25).step == pytest.approx(0.8)
    assert theorems.FTRLTunedSharp(2.0, 0.5, 25).step == pytest.approx(0.8)
    assert theorems.Hedge(10, 50).step == pytest.approx(0.6069708517)
    assert theorems.Hedge(10, 8, 2.0).bound == pytest.approx(2 + np.log(10) / 2)
    assert theorems.HedgeAnytime(10, 50).step(8) == pytest.approx(1.011618086)
    assert theorems.NormalizedWinnow(8, 0.5, 2.0).step == 0.125
    assert theorems.NormalizedWinnow(8, 0.5, 2.0, 0.2).bound == pytest.approx(np.log(8) / 0.02)  # 0.1 − 0.08
    assert theorems.StronglyConvex(3.0, 0.5, 7).step(4) == 0.5
    assert theorems.Zinkevich(2.0, 3.0, 1.0, 4).step(4) == 0.5


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: theorems.Descent(np.inf, 1, 5), "diameter must be finite"),
        (lambda: theorems.Descent(2, 0, 5), "rho must be"),
        (lambda: theorems.Descent(2, 1, 5.0), "T must be an integer"),
        (lambda: theorems.Descent(2, 1, 5, -0.1), "eta must be"),
        (lambda: theorems.Hedge(1, 5), "n must be an integer ≥ 2"),
        (lambda: theorems.Delayed(1, 1, -1, 5), "delay must be an integer ≥ 0"),
        (lambda: theorems.Delayed(1, 1, [1, 2], 5), "delay must have an entry for each of the 5 rounds"),
        (lambda: theorems.DelayedConstant(1, 1, [1, -2], 0.1), "delays must be an integer ≥ 0"),
        (lambda: theorems.Zinkevich(1, 1, -0.1, 5), "path must be"),
        (lambda: theorems.PerceptronFrom(1.0, 0.5, 1.01, 1.0), "along"),  # no vector of length 1 has it
        (lambda: theorems.PerceptronTies(1.0, 0.5, 1.01), "kink"),
        (lambda: theorems.MistakesFloor(1.0, 1.5), "margin must be ≤ radius"),
        (lambda: theorems.Winnow(4, 1, 0.5), "threshold"),
        (
            lambda: theorems.NormalizedWinnow(4, 1.0, 2.0, 0.5),
            r"eta must be in \(0, 2γ/X²\) = \(0, 0.5\), got 0.5",
        ),
        (lambda: theorems.LogisticDescent(1.0, [3, 0], 1.0), "t must be ≥ 1, got 0"),
    ],
)
def test_a_theorem_refuses_wrong_numbers_by_name(made, words):
    with pytest.raises(ValueError, match=words):
        made()


def test_a_collinear_start_may_be_a_rounding_error_longer_along_u():
    rounded = theorems.PerceptronFrom(1.0, 0.5, 1 + 5e-13, 1.0).bound
    assert rounded == pytest.approx(theorems.PerceptronFrom(1.0, 0.5, 1.0, 1.0).bound)


# ---------------------------------------------------------------- which games a proof refuses

X9, Y9, U9 = separable(9, 2, 0.2, 3)
DISK = Ball(2)
LINEAR, HINGE, PERCEPTRON = random_directions(9, 2, 0), hinge(X9, Y9), perceptron_loss(X9, Y9)
AWAY = Ball(2, 1.0, [3.0, 0.0])
REFUSED = [
    (theorems.Stability(1.0, 1.0), FTRL(DISK, SquaredNorm(), 1.0), LINEAR, [0, 1], "are those of this trace"),
    (theorems.Stability(1.0, 1.0), OGD(DISK, 0.5), HINGE, U9, "FTRL on the losses themselves"),
    (theorems.Stability(1.0, 1.0), FTRL(DISK, SquaredNorm(), 1.0), LINEAR, [2, 1], "u is in the set"),
    (theorems.Descent(2, 1, 9), OGD(DISK, 0.5), HINGE, U9, "lazy OGD.* with the step η"),
    (theorems.Descent(2, 1, 9, 0.5), OGD(DISK, 0.5, "eager"), HINGE, U9, "lazy OGD"),
    (theorems.Descent(2, 1, 8, 0.5), OGD(DISK, 0.5), HINGE, U9, "8 rounds"),
    (theorems.Descent(2, 0.5, 9, 0.5), OGD(DISK, 0.5), LINEAR, U9, "‖z_t‖ ≤ ρ"),
    (theorems.Descent(0.5, 1, 9, 0.5), OGD(DISK, 0.5), LINEAR, U9, "‖u − w_1‖ ≤ D"),
    (theorems.Descent(4, 1, 9, 0.5), OGD(AWAY, 0.5), LINEAR, [3, 0], "0, or the start, is in the set"),
    (theorems.DescentSharp(1, 1, 9), OGD(DISK, inverse_sqrt(1.0)), LINEAR, U9, "with the step η"),
    (theorems.Zinkevich(2, 1, 0, 9), OGD(DISK, inverse_sqrt(1.0)), LINEAR, U9, "eager OGD"),
    (theorems.Zinkevich(2, 1, 0, 9), OGD(DISK, inverse_sqrt(2.0), "eager"), LINEAR, U9, "σ = 1 as printed"),
    (
        theorems.Zinkevich(2, 1, 1, 9),
        OGD(DISK, inverse_sqrt(1.0), "eager"),
        LINEAR,
        LINEAR,
        "no longer than L",
    ),
    (
        theorems.ZinkevichSharp(2, 1, 0, 9, circumradius=1),
        OGD(DISK, inverse_sqrt(1.0), "eager"),
        LINEAR,
        U9,
        "`center` is given",
    ),
    (theorems.StronglyConvex(1, 1, 9), OGD(DISK, inverse(1.0)), LINEAR, U9, "eager OGD"),
    (theorems.StronglyConvex(1, 1, 9), OGD(DISK, inverse(1.0), "eager"), LINEAR, U9, "H-strongly convex"),
    (theorems.Delayed(2, 1, 1, 9), OGD(DISK, 0.5, "eager"), LINEAR, U9, "DelayedOGD"),
    (
        theorems.Delayed(2, 1, 2, 9, 0.5),
        DelayedOGD(DISK, inverse_sqrt(0.5), 1),
        LINEAR,
        U9,
        "the delays given",
    ),
    (
        theorems.FTRL(0.5, [1.0] * 9, 1.0),
        Linearized(FTRL(DISK, SquaredNorm(), 1.0)),
        HINGE,
        U9,
        "on the losses",
    ),
    (theorems.FTRL(0.4, [1.0] * 9, 1.0), FTRL(DISK, SquaredNorm(), 1.0), LINEAR, U9, "range at most D"),
    (
        theorems.FTRL(0.5, [0.9] * 9, 1.0),
        FTRL(DISK, SquaredNorm(), 1.0),
        LINEAR,
        U9,
        "at most the bound given",
    ),
    (theorems.Hedge(2, 9, 1.0), FTRL(Simplex(2), SquaredNorm(), 1.0), LINEAR, None, "Hedge with the step"),
    (theorems.Hedge(2, 9, 1.0), Hedge(2, 1.0), LINEAR, None, r"losses in \[0, 1\]"),
    (theorems.Perceptron(1, 0.2), OGD(DISK, 1.0), PERCEPTRON, U9, "step 1 on all of space"),
    (theorems.Perceptron(1, 0.2), OGD(Space(2), 0.5), PERCEPTRON, U9, "step 1 on all of space"),
    (theorems.Perceptron(1, 0.2), OGD(Space(2), 1.0), HINGE, U9, "the perceptron loss"),
    (theorems.Perceptron(1, 0.2), Perceptron(2, kink=0.5), PERCEPTRON, U9, "whole updates"),
    (theorems.Perceptron(1, 0.2), OGD(Space(2), 1.0, start=-5 * U9), PERCEPTRON, U9, "w_1 = 0"),
    (theorems.Perceptron(1, 0.2), Perceptron(2), PERCEPTRON, 2 * U9, "‖u‖ = 1"),
    (theorems.Perceptron(1, 0.9), Perceptron(2), PERCEPTRON, U9, "margin at least γ"),
    (theorems.Winnow(2, 1, 1.0), Perceptron(2), PERCEPTRON, None, "Winnow with factor 2"),
    (theorems.NormalizedWinnow(2, 0.1), NormalizedWinnow(2, 0.1), PERCEPTRON, [0.6, 0.6], "on the simplex"),
]


@for_each("stated, learner, losses, u, words", REFUSED)
def test_a_proof_refuses_a_game_that_breaks_a_hypothesis_and_names_it(stated, learner, losses, u, words):
    trace = play(learner, losses)
    with pytest.raises(ValueError, match=rf"^{type(stated).__name__} requires: .*{words}"):
        stated.proof(trace, u)


def test_a_trace_of_another_learner_tells_no_numbers():
    lazy, led = play(OGD(DISK, 0.5), HINGE), play(FTL(DISK), LINEAR)
    for made in (
        lambda: theorems.Stability.of(lazy, U9),
        lambda: theorems.FTRL.of(led, 1.0),
        lambda: theorems.Descent.of(led, 2, 1),
        lambda: theorems.StronglyConvexSeen.of(lazy),
        lambda: theorems.Delayed.of(lazy, 2, 1),
        lambda: theorems.DelayedConstant.of(play(DelayedOGD(DISK, inverse(1.0)), LINEAR), 2, 1),
        lambda: theorems.Hedge.of(lazy),
        lambda: theorems.Winnow.of(lazy, 1),
        lambda: theorems.NormalizedWinnow.of(lazy, 1),
    ):
        with pytest.raises(ValueError, match=r"^trace must come from "):
            made()


def test_a_missing_base_case_shows_as_a_negative_slack():
    honest = play(FTRL(INTERVAL, SquaredNorm(), 1.0), np.array([[-0.1], [0.1]]))
    cheat = replace(honest, points=np.array([[1.0], honest.points[1]]), paid=np.array([-0.1, honest.paid[1]]))
    stated = theorems.Stability.of(cheat, [0.0])
    chain = stated.chain(cheat, [0.0])
    assert np.argmin(chain.slacks) == len(chain.slacks) - 1 and chain.slacks[-1] < -0.4
    assert not chain.holds() and (chain.slacks[:-1] >= -1e-12).all()
    with pytest.raises(ValueError, match=r"requires: w_{t\+1} minimises"):
        stated.proof(cheat, [0.0])


# ---------------------------------------------------------------- games that the ledger asks for by name


def test_some_game_meets_the_sharp_bound_and_two_thirds_of_17_2():
    T, D, rho = 16, 0.5, 7.0
    eta = theorems.FTRLTunedSharp(D, rho, T).step
    worst = play(FTRL(INTERVAL, SquaredNorm(), eta), rho * all_signs(T)).regret(INTERVAL).max()
    assert worst == pytest.approx(theorems.FTRLSharp(D, np.full(T, rho), eta).bound)
    assert worst == pytest.approx(theorems.FTRLTunedSharp(D, rho, T).bound)
    assert 0.66 * theorems.FTRL(D, np.full(T, rho), eta).bound < worst


@pytest.mark.parametrize("radius, n", [(1.0, 1), (2.5, 7), (0.3, 40)])
def test_nature_forces_the_bound_on_every_learner_that_predicts_by_sign(radius, n):
    learners = Perceptron(n), OGD(Ball(n), 0.3), OGD(Space(n), 2.0, start=np.arange(n) - 1.5)
    for learner in learners:
        trace = play(learner, nature(radius), rounds=n)
        X, y = trace.losses.X, trace.losses.y
        margin = (y * (X @ (y / np.sqrt(n)))).min()
        assert margin == pytest.approx(radius / np.sqrt(n))
        assert trace.mistakes.sum() == n == theorems.MistakesFloor(radius, margin).bound


def perceptron_from(start, X, y):
    return play(OGD(Space(X.shape[1]), 1.0, start=start), perceptron_loss(X, y))


@given(seed=st.integers(0, 10_000), size=st.sampled_from([0.0, 0.5, 3.0, 10.0]))
def test_the_bound_from_another_start_holds(seed, size):
    X, y, u = separable(400, 3, 0.2, seed)
    start = size * np.random.default_rng(seed).standard_normal(3)
    stated = theorems.PerceptronFrom(1.0, (y * (X @ u)).min(), start @ u, np.linalg.norm(start))
    assert stated.proof(perceptron_from(start, X, y), u).holds()


@pytest.mark.parametrize("n, k", [(4, 0), (9, 3), (25, 24)])
def test_the_bound_from_another_start_is_met_by_a_run_begun_in_the_middle(n, k):
    start, u = np.where(np.arange(n) < k, 1.0, 0.0), np.full(n, 1 / np.sqrt(n))
    trace = perceptron_from(start, np.eye(n)[k:], np.ones(n - k))
    stated = theorems.PerceptronFrom(1.0, 1 / np.sqrt(n), start @ u, np.linalg.norm(start))
    assert trace.updates.sum() == n - k == pytest.approx(stated.bound)


@pytest.mark.parametrize("T", [2, 8])
def test_theorem2_takes_three_quarters_of_its_bound_on_the_unit_interval(T):
    """Exhaustively: the worst of all 2^T games on [0, 1] has regret ¾·D·ρ·√(2T) for T = 2m²."""
    over, stated = Box([0.0], [1.0]), theorems.Descent(1.0, 1.0, T)
    worst = play(OGD(over, stated.step), all_signs(T)).regret(over).max()
    assert worst == pytest.approx(0.75 * stated.bound, rel=1e-12)


def test_many_games_at_once_have_their_bounds():
    games = all_signs(6)
    trace = play(FTRL(INTERVAL, SquaredNorm(), 0.4), games)
    bounds = theorems.Stability.of(trace, [1.0]).bound
    assert bounds.shape == (64,) and theorems.Stability.slacks(trace).shape == (64, 6)
    assert (trace.regret(against=[1.0]) <= bounds + 1e-12).all()
    sharp = theorems.FTRLSharp(0.5, np.abs(games[..., 0]), 0.4).bound
    assert sharp.shape == (64,) and (trace.regret(INTERVAL) <= sharp + 1e-12).all()


# ---------------------------------------------------------------- every line of every chain, by loops
# The numbers are chosen so that nothing is 1 by accident: u is no unit vector, the sizes handed in are not
# those of the game (a line may then break, but it still has a value), no two constants are alike.

CENTERS = np.array([[1.5, -0.5], [-2.0, 1.0], [0.25, 3.0], [2.0, 2.0], [-1.0, -1.5]])
CURVED = [Quadratic(c, 1.5) for c in CENTERS]
U = np.array([0.7, -1.1])


def square(x):
    return float(sum(xi * xi for xi in np.ravel(x)))


def dot(x, y):
    return float(sum(a * b for a, b in zip(x, y, strict=True)))


def game(trace):
    """(T, w, z): rounds, plays w[1] … w[T + 1] and subgradients z[1] … z[T], counted as on paper."""
    T, nothing = trace.rounds, np.full(trace.dim, np.nan)
    return T, [nothing, *trace.points, trace.last], [nothing, *trace.subgradients]


def costs(losses, w, u):
    """Σ f_t(w_t) − f_t(u), the loss of each round asked for on its own."""
    return sum(float(f.value(w[t]) - f.value(u)) for t, f in enumerate(losses, start=1))


def agree(chain, lines):
    assert chain.values == pytest.approx(lines, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("start", [None, (0.3, -0.2)], ids=["from 0", "from elsewhere"])
@pytest.mark.parametrize(("share", "kept"), [(1.0, 0.0), (0.5, 0.5)], ids=["lecture", "sharp"])
def test_both_chains_of_theorem2(start, share, kept):
    eta, size, rho = 0.3, 2.5, 1.7
    trace = play(OGD(Ball(2, 0.8), eta, start=start), CURVED)
    T, w, z = game(trace)
    theorem, c = (
        (theorems.DescentSharp if kept else theorems.Descent),
        np.zeros(2) if start is None else start,
    )
    ends = (square(U - c) - square(w[1] - c)) / (2 * eta)
    moves = [w[t] - w[t + 1] for t in range(1, T + 1)]
    agree(
        theorem.of(trace, size, rho).chain(trace, U),
        [
            costs(CURVED, w, U),
            sum(dot(z[t], w[t] - U) for t in range(1, T + 1)),
            sum(dot(z[t], moves[t - 1]) - kept * square(moves[t - 1]) / eta for t in range(1, T + 1)) + ends,
            share * eta * sum(square(z[t]) for t in range(1, T + 1)) + ends,
            share * eta * T * rho**2 + size**2 / (2 * eta),
        ],
    )


def test_theorem2_counts_the_first_play_where_the_projection_put_it():
    """A leader whose centre is in the set starts there, so the term of w_1 is 0; linear losses may be led
    by any FTRL, and its first play shows."""
    trace = play(Linearized(FTRL(Ball(2), SquaredNorm([0.25, 0.0]), 0.5)), random_directions(4, 2, 0))
    chain = theorems.Descent.of(trace, 1.0, 1.0).chain(trace, [0.5, 0.5])
    assert chain.values[3] == pytest.approx(0.5 * 4 + (0.0625 + 0.25) / 1.0)


def path(rounds):
    return np.array([[0.4 * k, 1.0 - 0.3 * k**2] for k in range(rounds)])


def through_the_path(trace, u, D):
    """The five lines that both forms of Theorem 4.1.3 begin with, and the last of them without its drift."""
    T, w, z = game(trace)
    u, eta, rounds = [None, *u], [None, *(1 / sqrt(t) for t in range(1, T + 1))], range(1, T + 1)
    noise = sum(eta[t] * square(z[t]) for t in rounds) / 2
    drift = sum((square(w[t + 1] - u[t + 1]) - square(w[t + 1] - u[t])) / (2 * eta[t]) for t in rounds[:-1])
    growth = [None, 1 / eta[1], *(1 / eta[t] - 1 / eta[t - 1] for t in rounds[1:])]
    lines = [
        sum(float(f.value(w[t]) - f.value(u[t])) for t, f in enumerate(CURVED, start=1)),
        sum(dot(z[t], w[t] - u[t]) for t in rounds),
        sum((square(w[t] - u[t]) - square(w[t + 1] - u[t])) / (2 * eta[t]) for t in rounds) + noise,
        sum(square(w[t] - u[t]) * growth[t] for t in rounds) / 2 + drift + noise,
        D**2 / (2 * eta[T]) + drift + noise,
    ]
    return lines, D**2 / (2 * eta[T]) + noise


def test_theorem_4_1_3_line_by_line():
    D, rho, over = 2.6, 1.7, Box([-1.0, -0.5], [1.0, 1.5])
    trace, u, T = play(OGD(over, inverse_sqrt(1.0), "eager"), CURVED), path(5), 5
    steps = [sqrt(square(u[t + 1] - u[t])) for t in range(T - 1)]
    lines, rest = through_the_path(trace, u, D)
    L = sum(steps)
    agree(
        theorems.Zinkevich.of(trace, u, D, rho).chain(trace, u),
        [
            *lines,
            rest + D * sum(step * sqrt(t) for t, step in enumerate(steps, start=1)),
            D**2 / 2 * sqrt(T) + rho**2 * (sqrt(T) - 0.5) + D * L * sqrt(T - 1),
            (D**2 / 2 + rho**2 + 2 * D * L) * sqrt(T),
        ],
    )


def test_theorem_4_1_3_from_a_centre_line_by_line():
    D, rho, over, c = 2.6, 1.7, Box([-1.0, -0.5], [1.0, 1.5]), np.array([0.2, 0.4])
    R = sqrt(1.2**2 + 1.1**2)  # to the corner (−1, 1.5)
    trace, u, T = play(OGD(over, inverse_sqrt(1.0), "eager"), CURVED), path(5), 5
    steps = [sqrt(square(u[t + 1] - u[t])) for t in range(T - 1)]
    lines, rest = through_the_path(trace, u, D)
    moved = R * sum(step * sqrt(t) for t, step in enumerate(steps, start=1))
    turned = sum((square(u[t] - c) - square(u[t - 1] - c)) * sqrt(t) / 2 for t in range(1, T))
    agree(
        theorems.ZinkevichSharp.of(trace, u, D, rho, c).chain(trace, u),
        [
            *lines,
            rest + turned + moved,
            rest + R**2 / 2 * sqrt(T - 1) + moved,
            D**2 / 2 * sqrt(T) + rho**2 * (sqrt(T) - 0.5) + (R * sum(steps) + R**2 / 2) * sqrt(T - 1),
        ],
    )


def test_the_proof_of_logarithmic_regret_line_by_line():
    H, G = 1.25, 4.5
    trace = play(OGD(Ball(2, 0.9), inverse(1 / H), "eager"), CURVED)
    (T, w, z), rounds = game(trace), range(1, 6)
    d = [None, *(square(w[t] - U) for t in range(1, T + 2))]
    eta, seen = [None, *(1 / (H * t) for t in rounds)], sum(square(z[t]) / (2 * H * t) for t in rounds)
    agree(
        theorems.StronglyConvex.of(trace, G).chain(trace, U),
        [
            costs(CURVED, w, U),
            sum(dot(z[t], w[t] - U) - H * d[t] / 2 for t in rounds),
            sum(H * t * (d[t] - d[t + 1]) / 2 - H * d[t] / 2 for t in rounds) + seen,
            seen - H * T * d[T + 1] / 2,
            seen,
            G**2 / (2 * H) * (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5),
            G**2 / (2 * H) * (1 + log(5)),
        ],
    )
    slacks = [
        [
            float(f.value(U) - f.value(w[t])) - dot(z[t], U - w[t]) - H / 2 * d[t]
            for t, f in enumerate(CURVED, start=1)
        ],
        [(square(w[t] - eta[t] * z[t] - U) - d[t + 1]) / (2 * eta[t]) for t in rounds],
        [eta[t] / 2 * (G**2 - square(z[t])) for t in rounds],
    ]
    np.testing.assert_allclose(theorems.StronglyConvex.of(trace, G).slacks(trace, U), slacks, atol=1e-12)


def late_lines(trace, u, rho, first, H=0.0):
    """The player and its post are simulated: who has arrived is looked up in a list, not counted."""
    learner, T = trace.learner, trace.rounds
    w, z = trace.points, trace.subgradients
    delays = np.broadcast_to(learner.delay, T)
    post = sorted(range(T), key=lambda s: (s + delays[s], s))  # heard of at the end of round s + d_s
    alpha = [float(learner.eta(k)) if callable(learner.eta) else learner.eta for k in range(1, T + 1)]
    v, noise, late, moved, bend, worst, counted = w[0], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k, s in enumerate(post):
        found, v = v, learner.over.project(v - alpha[k] * z[s])
        noise += alpha[k] * square(z[s]) / 2
        late += dot(z[s], w[s] - found)
        moved += (square(found - u) - square(v - u)) / (2 * alpha[k])
        bend += H / 2 * square(w[s] - u)
        unheard = [j for j in range(k) if post[j] + delays[post[j]] >= s]
        worst += sqrt(square(z[s])) * sum(alpha[j] * sqrt(square(z[post[j]])) for j in unheard)
        counted += rho**2 * (alpha[k] / 2 + sum(alpha[j] for j in unheard))
    return [
        costs(CURVED, [None, *w], u),
        sum(dot(z[s], w[s] - u) for s in range(T)) - bend,
        moved - bend + noise + late,
        first + noise + late,
        first + noise + worst,
        first + counted,
    ]


@pytest.mark.parametrize("delay", [0, 1, 2, [2, 0, 3, 1, 0]], ids=str)
def test_the_delayed_theorems_line_by_line(delay):
    D, rho, over, T = 2.6, 1.7, Ball(2, 0.9), 5
    falling = play(DelayedOGD(over, inverse_sqrt(0.4), delay), CURVED)
    lines = late_lines(falling, U, rho, D**2 / (2 * 0.4 / sqrt(T)))
    if not isinstance(delay, list):
        lines.append((D**2 / 0.8 + 0.4 * rho**2 * (1 + 2 * delay)) * sqrt(T))
    agree(theorems.Delayed.of(falling, D, rho).chain(falling, U), lines)
    assert theorems.Delayed.of(falling, D, rho).bound == pytest.approx(lines[-1])
    still = play(DelayedOGD(over, 0.3, delay), CURVED)
    agree(theorems.DelayedConstant.of(still, D, rho).chain(still, U), late_lines(still, U, rho, D**2 / 0.6))


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_the_delayed_theorem_for_curved_losses_line_by_line(delay):
    D, rho, H = 2.6, 1.7, 1.25
    trace = play(DelayedOGD(Ball(2, 0.9), inverse(1 / H), delay), CURVED)
    lines = late_lines(trace, U, rho, H * delay * D**2 / 2, H)
    lines.append(H * delay * D**2 / 2 + (0.5 + delay) * rho**2 / H * (1 + log(5)))
    agree(theorems.DelayedStronglyConvex.of(trace, D, rho).chain(trace, U), lines)


@pytest.mark.parametrize("losses", [np.array([c / 2 for c in CENTERS]), CURVED], ids=["linear", "curved"])
def test_the_chains_of_17_2_line_by_line(losses):
    c = np.array([1.6, -0.9])  # not in the ball, so that φ is not 0 at the first play
    eta, rho, over, R = 0.4, 1.7, Ball(2, 0.9, [0.1, 0.2]), SquaredNorm(c)
    trace = play(FTRL(over, R, eta), losses)
    (T, w, z), f = game(trace), [Linear(x) if isinstance(x, np.ndarray) else x for x in losses]
    rounds = range(1, T + 1)

    def phi(x):
        return square(x - c) / 2

    def F(t, x):
        return sum(float(f[s].value(x)) for s in range(t)) + phi(x) / eta

    ends, squares = (phi(U) - phi(w[1])) / eta, eta * sum(square(z[t]) for t in rounds)
    gained = sum(float(f[t - 1].value(w[t]) - f[t - 1].value(w[t + 1])) for t in rounds)
    kept = [F(t - 1, w[t + 1]) - F(t - 1, w[t]) for t in rounds]
    near, far = sqrt(1.5**2 + 1.1**2) - 0.9, sqrt(1.5**2 + 1.1**2) + 0.9  # from c to the ball, and across it
    D, regret = (far**2 - near**2) / 2, costs(f, w, U)
    agree(
        theorems.FTRL.of(trace, rho).chain(trace, U),
        [regret, gained + ends, squares + ends, squares + D / eta, eta * T * rho**2 + D / eta],
    )
    agree(
        theorems.FTRLSharp.of(trace, rho).chain(trace, U),
        [
            regret,
            gained - sum(kept) + ends,
            squares / 2 + ends,
            squares / 2 + D / eta,
            eta / 2 * T * rho**2 + D / eta,
        ],
    )
    np.testing.assert_allclose(theorems.Stability.slacks(trace), kept, atol=1e-12)
    value, lines = regret + F(T, U) - F(T, w[T + 1]), [regret]
    for slack in [0.0, *kept[::-1]]:
        value += slack
        lines.append(value)
    agree(theorems.Stability.of(trace, U).chain(trace, U), lines)


def test_the_last_round_of_theorem1_is_named_the_bound():
    trace = play(FTRL(Ball(2), SquaredNorm(), 0.5), random_directions(4, 2, 0))
    chain = theorems.Stability.of(trace, U).chain(trace, U)
    assert [line.formula for line in chain.lines[1:]] == [
        "u → w_5", "round 4", "round 3", "round 2", "round 1: the bound",
    ]  # fmt: skip
    assert [line.reason for line in chain.lines[1:]] == [
        "(4) from (5): w_5 minimises f_1 + … + f_4 + R",
        "w_4 minimises f_1 + … + f_3 + R, w_5 need not",
        "w_3 minimises f_1 + f_2 + R, w_4 need not",
        "w_2 minimises f_1 + R, w_3 need not",
        "w_1 minimises R, w_2 need not (base case)",
    ]


@pytest.mark.parametrize("eta", [0.4, 2.5])
def test_the_chain_of_hedge_line_by_line(eta):
    losses = np.array([[0.3, 1.0, 0.0], [0.9, 0.1, 0.5], [0.2, 0.2, 0.7], [1.0, 0.0, 0.6]])
    trace = play(Hedge(3, eta), losses)
    p, L = trace.points, losses.sum(axis=0)
    mixed = [-log(sum(p[t][j] * exp(-eta * losses[t][j]) for j in range(3))) / eta for t in range(4)]
    paid = [dot(p[t], losses[t]) for t in range(4)]
    M = -log(sum(exp(-eta * x) for x in L) / 3) / eta
    gaps = sum(paid) - sum(mixed)
    agree(
        theorems.Hedge.of(trace).chain(trace),
        [
            sum(paid) - min(L),
            gaps + M - min(L),
            gaps + log(3) / eta,
            eta * 4 / 8 + log(3) / eta,
        ],
    )


X = np.array([[1.0, 0.5], [-0.5, 1.0], [1.5, 0.25], [0.25, -1.0], [-1.0, -2.0], [0.5, 0.5]])
Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])


def by_hand(X, y, w):
    """The Perceptron once through the data: (w, the (x, y, w before) of each update)."""
    w, updates = np.array(w, dtype=float), []
    for x, label in zip(X, y, strict=True):
        if label * dot(w, x) <= 0:
            updates.append((x, label, w))
            w = w + label * x
    return w, updates


@pytest.mark.parametrize("sharp", [True, False])
def test_the_mistake_bound_of_lecture_13_line_by_line(sharp):
    X, y, u = separable(60, 3, 0.1, 4)
    radius, margin = 1.25, 0.75 * (y * (X @ u)).min()
    trace = play(Perceptron(3), perceptron_loss(X, y))
    _, updates = by_hand(X, y, [0, 0, 0])
    M = len(updates)
    assert 2 < M < len(X) and trace.updates.sum() == M
    c, half = M * margin, 0.5 if sharp else 1.0
    along = sum(y * dot(u, x) for x, y, _ in updates)
    values = [
        c**2,
        c * along,
        c * along - sum(y * dot(w, x) for x, y, w in updates),
        half * sum(square(x) for x, _, _ in updates) + c**2 / 2,
        half * M * radius**2 + c**2 / 2,
    ]
    chain = theorems.Perceptron(radius, margin).by_regret(trace, u, sharp)
    agree(chain, [(2 * value - c**2) / (M * margin**2) for value in values])
    assert chain.lines[-1].formula == ("(R/γ)²" if sharp else "2 (R/γ)²")


def test_the_mistake_bound_of_lecture_9_line_by_line():
    radius, margin = 2.7, 0.35
    trace = play(Perceptron(2), perceptron_loss(X, Y))
    w, updates = by_hand(X, Y, [0, 0])
    M, scale = len(updates), margin**2 * len(updates)
    for u in (U, -U):  # a line that is negative keeps its sign
        along = dot(w, u)
        agree(
            theorems.Perceptron(radius, margin).chain(trace, u),
            [M, along * abs(along) / scale, square(w) / scale, radius**2 * M / scale],
        )


@pytest.mark.parametrize("start", [(0.0, 0.0), (-0.6, 0.9)], ids=["from 0", "from elsewhere"])
def test_growth_and_length_line_by_line(start):
    radius, margin = 2.7, 0.35
    trace = play(OGD(Space(2), 1.0, start=start), perceptron_loss(X, Y))
    w, updates = by_hand(X, Y, start)
    M, growth, length = len(updates), [margin * len(updates)], [square(w) - square(start)]
    for x, y, before in updates:
        growth.append(growth[-1] - margin + y * dot(U, x))
        length.append(length[-1] + radius**2 - (square(before + y * x) - square(before)))
    agree(theorems.Perceptron.growth(trace, U, margin), growth)
    agree(theorems.Perceptron.length(trace, radius), length)
    assert length[-1] == pytest.approx(radius**2 * M)
    rounds = 1 + np.flatnonzero(trace.updates)
    assert [line.formula for line in theorems.Perceptron.length(trace, radius).lines[1:]] == [
        f"round {i} adds at most R²" for i in rounds
    ]
    assert [line.reason for line in theorems.Perceptron.growth(trace, U, margin).lines[1:]] == [
        f"the margin of example {i} is ≥ γ" for i in rounds
    ]


def test_the_chain_of_winnow_line_by_line():
    """Features 1 and 2 are relevant; n = 3, θ = 1.5."""
    on = np.array([[1, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    labels = np.where(on[:, :2].any(axis=1), 1.0, -1.0)
    theta, w, promoted, demoted, doubled = 1.5, np.ones(3), 0, 0, 0
    for x, y in zip(on, labels, strict=True):
        if y > 0 and dot(w, x) <= theta:
            promoted, doubled, w = promoted + 1, doubled + x[0] + x[1], np.where(x > 0, 2 * w, w)
        elif y < 0 and dot(w, x) >= theta:
            demoted, w = demoted + 1, np.where(x > 0, w / 2, w)
    trace = play(Winnow(3, theta), perceptron_loss(on, labels, theta))
    assert promoted and trace.updates.sum() == promoted + demoted
    for k in (1, 2):
        agree(
            theorems.Winnow.of(trace, k).chain(trace),
            [
                promoted + demoted,
                2 * 3 / theta + 3 * promoted,
                2 * 3 / theta + 3 * trace.losses.X[trace.updates & (labels > 0), :k].sum(),
                2 * 3 / theta + 3 * k * (1 + log2(theta)),
            ],
        )
    assert theorems.Winnow.of(trace, 2).chain(trace).values[2] == pytest.approx(4 + 3 * doubled)


@pytest.mark.parametrize("size", [1.0, 1.3])
def test_the_chain_of_normalised_winnow_line_by_line(size):
    eta, margin, n = 0.2, 0.3, 3
    on = np.array([[1.0, -0.5, 0.2], [-0.4, 1.0, -1.0], [0.3, 0.6, -0.9], [-1.0, 0.1, 0.5], [0.9, 0.8, 0.1]])
    labels = np.array([-1.0, -1.0, 1.0, -1.0, -1.0])
    trace = play(NormalizedWinnow(n, eta), perceptron_loss(on, labels))
    assert 1 < trace.updates.sum() < 5 and trace.updates[0] and trace.updates[-1]
    u, drop = np.array([0.2, 0.0, 0.8]), eta * margin - eta**2 * size**2 / 2

    def kl(w):
        return 0.2 * log(0.2 / w[0]) + 0.8 * log(0.8 / w[2])  # 0·log 0 is 0

    agree(
        theorems.NormalizedWinnow.of(trace, margin, size).chain(trace, u),
        [
            trace.updates.sum(),
            (kl(trace.points[0]) - kl(trace.last)) / drop,
            kl(np.full(3, 1 / 3)) / drop,
            log(3) / drop,
        ],
    )


def test_example_2_pays_half_a_step_in_every_round_but_the_first():
    trace = play(FTRL(INTERVAL, SquaredNorm(), 0.5), alternating(6))
    assert trace.paid.tolist() == [0.0, 0.25, 0.25, 0.25, 0.25, 0.25]
    agree(theorems.Example2(6, 0.5).proof(trace), [1.75, 1.75, 1.75, 1.75])


def test_eager_descent_has_the_sharp_chain_too():
    trace = play(OGD(INTERVAL, 0.5, "eager"), np.array([[1.0], [1.0], [-2.0]]))
    assert trace.plays[:, 0].tolist() == [0.0, -0.5, -1.0, 0.0]
    chain = theorems.DescentSharp.of(trace, 1.0, 2.0).proof(trace, [-1.0])
    agree(chain, [1.5, 1.5, 1.5, 2.5, 4.0])  # ¼·6 + (1 − 1), then + 1 for the last square, then ¼·12 + 1


# ---------------------------------------------------------------- how a chain reads


def test_a_chain_reads_as_a_table():
    chain = Chain("A <title>", (Line(1.0, "a < b"), Line(3.5, "c", "since & so")))
    assert repr(chain) == "<Chain 'A <title>': 1.000000 ≤ … ≤ 3.500000 in 2 lines>"
    assert [line.split() for line in str(chain).splitlines()[1:]] == [
        ["line", "value", "slack", "reason"],
        ["a", "<", "b", "1.000000"],
        ["≤", "c", "3.500000", "2.500000", "since", "&", "so"],
    ]
    html = chain._repr_html_()
    assert html.startswith("<table class='proof-chain'><caption>A &lt;title&gt;</caption>")
    assert "<td data-label='line'>a &lt; b</td><td data-label='value' class='num'>1.000000</td>" in html
    assert (
        "<td data-label='slack' class='num'>2.500000</td><td data-label='reason'>since &amp; so</td>" in html
    )
    assert html.count("<tr>") == 3


def test_claims_show_the_worst_case_of_each_line():
    made = Claims(
        "A <title>",
        [("x_t ≤ 1", [0.5, 2.0, 1.0], "≤", 1), "so", ("y ≥ 0", 0, "≥", [0, -1]), ("1 = 2", 1, "=", 2)],
    )
    assert made.cases == [(2.0, 1.0, -1.0), None, (0.0, 0.0, 0.0), (1.0, 2.0, -1.0)]
    assert made.broken == [1, 4] and repr(made) == "<Claims 'A <title>': 4 lines, false here: 1, 4>"
    html = made._repr_html_()
    assert "<caption>A &lt;title&gt;</caption>" in html and html.count("✗") == 2
    assert "<td data-label='claim'>x<sub>t</sub> ≤ 1</td><td data-label='left' class='num'>2</td>" in html
    assert str(made).count("✗") == 2 and len(str(made).splitlines()) == 6
    assert "no case" in str(Claims("", [("a", [], "≤", [])])) and "no case" not in str(made)


def test_claims_forgive_rounding_only_and_ask_for_a_relation():
    def broken(*line):
        return Claims("", [("a", *line)]).broken

    assert not broken(1e6 + 1e-4, "≤", 1e6) and broken(1e6 + 1e-2, "≤", 1e6)
    assert broken(np.nan, "=", np.nan) == [1] and broken([], "≤", []) == []
    with pytest.raises(ValueError, match="must be ≤, ≥ or =, got '<' in 'a'"):
        broken(1, "<", 2)


def test_a_chain_becomes_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = Chain("", (Line(1.0, "a"), Line(3.5, "b", "so"))).to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["line", "value", "slack", "reason"]
    assert frame["value"].tolist() == [1.0, 3.5] and frame["slack"][1] == 2.5


def test_no_table_shows_a_negative_zero():
    chain = Chain("", (Line(-1e-12, "a"), Line(-0.0, "b"), Line(-1e-5, "c")))
    assert "-0.000000" not in str(chain) and "-0.000010" in str(chain)


def test_a_chain_forgives_in_proportion_to_its_largest_line():
    def falls(by, size):
        return Chain("", (Line(-size, "a"), Line(0.0, "b"), Line(-by, "c")))

    assert falls(0.9e-9, 0.5).holds() and not falls(1.1e-9, 0.5).holds()
    assert falls(0.9e-6, 1e3).holds() and not falls(1.1e-6, 1e3).holds()
    assert falls(0.25, 0.5).holds(tol=0.25), "the limit itself is forgiven"


def test_indices_are_lowered():
    assert theorems.base.subscripts("w_{t+1} ≤ z_12 + x", "<", ">") == "w<t+1> ≤ z<12> + x"


def rivals():
    """[(theorem, a game of it, its comparator)] of those whose proof speaks of a vector u."""
    for cls in THEOREMS:
        stated, trace, u = next(iter(cls.games(np.random.default_rng(0))))
        if np.ndim(u) == 1 and cls is not theorems.Boosting:
            yield cls.__name__, stated, trace, u


def test_a_proof_refuses_a_comparator_that_is_none():
    found = list(rivals())
    assert len(found) > 20
    for name, stated, trace, u in found:
        for wrong in (np.append(u, 0.0), np.full(len(u), np.nan), np.full(len(u), np.inf)):
            with pytest.raises(ValueError):
                stated.chain(trace, wrong)
                pytest.fail(f"{name} takes {wrong}")


@pytest.mark.parametrize("margin", [0.0, -0.1, np.nan])
def test_growth_and_length_refuse_what_is_not_positive(margin):
    trace = play(OGD(Space(2), 1.0), perceptron_loss(X, Y))
    with pytest.raises(ValueError, match="margin"):
        theorems.Perceptron.growth(trace, U, margin)
    with pytest.raises(ValueError, match="radius"):
        theorems.Perceptron.length(trace, margin)
    with pytest.raises(ValueError, match="u must"):
        theorems.Perceptron.growth(trace, [*U, 0.0], 0.1)


# ---------------------------------------------------------------- hypotheses of games that break them

FOREIGN = [
    lambda: play(OGD(Ball(2), 0.5), np.ones((3, 2))),
    lambda: play(OGD(Ball(2), 0.5), [Quadratic([1.0, 0.0])] * 3),
    lambda: play(Perceptron(2), perceptron_loss(np.ones((3, 2)), [1, -1, 1])),
    lambda: play(Hedge(2, 0.5), np.ones((3, 2))),
    lambda: play(Linearized(FTRL(Simplex(2), SquaredNorm(), 0.5)), [Quadratic([1.0, 0.0])] * 3),
]


def test_whatever_the_game_hypotheses_are_true_or_false_and_no_error():
    """Games of another learner, other losses and another dimension, and a u with one entry too many."""
    foreign = [make() for make in FOREIGN]
    for theorem in THEOREMS:
        stated, trace, u = next(iter(theorem.games(np.random.default_rng(0))))
        tries = [(other, np.zeros(other.dim)) for other in foreign]
        tries += [(trace, np.append(np.ravel(u), 0.0))] if u is not None else []
        for other, point in tries:
            found = stated.hypotheses(other, point)
            assert {type(true) for true in found.values()} <= {bool, np.bool_}, theorem
            assert not all(found.values()), (theorem, other.learner)


def test_steps_of_another_size_and_other_regularisers_are_refused():
    from ocolib import bandits, portfolios

    Z = np.tile([0.0, 1.0], (4, 1))
    for kind, stated in ((bandits.EXP3, theorems.EXP3(2, 4)), (bandits.EXP3IX, theorems.EXP3IX(2, 4, 0.5))):
        for share, fine in ((1.0, True), (0.9, False)):
            trace = bandits.all_paths(kind(2, share * stated.step), Z)
            found = {words: true for words, true in stated.hypotheses(trace).items() if "step η" in words}
            assert list(found.values()) == [fine]
    stated, trace, u = theorems.ExponentiatedGradient.worst()
    other = Linearized(FTRL(Simplex(trace.dim), SquaredNorm(), stated.step))
    found = stated.hypotheses(play(other, portfolios.market([f.x for f in trace.losses])), u)
    assert [words for words, true in found.items() if not true] == ["exponentiated gradient with the step η"]


def test_the_attacks_on_a_theorem_are_random_greedy_and_exhaustive():
    """Four games of 30 rounds; 3 + 2 greedy ones, one round longer each; all of 3 rounds with 2 moves."""
    moves, played = [np.array([1.0]), np.array([-1.0])], []

    def arena(losses):
        played.append([float(z[0]) for z in losses])
        trace = play(OGD(INTERVAL, 1.0), np.array(losses))
        return theorems.Descent(2.0, 1.0, len(losses)), trace, trace.best(INTERVAL)

    from ocolib.theorems.base import attacks

    games = list(attacks(arena, moves, np.random.default_rng(0), short=3))
    lengths = [trace.rounds for _, trace, _ in games]
    assert lengths == [30] * 4 + [1, 2, 3, 4, 5] + [3] * 8
    assert len({tuple(losses) for losses in played[-8:]}) == 8
    ratios = [trace.regret(against=u) / stated.bound for stated, trace, u in games]
    assert ratios[5] == pytest.approx(max(
        game.regret(INTERVAL) / theorems.Descent(2.0, 1.0, 2).bound
        for game in (play(OGD(INTERVAL, 1.0), np.array([games[4][1].losses[0], z])) for z in moves)
    ))  # fmt: skip
    many = list(
        attacks(arena, [np.array([x]) for x in np.linspace(-1, 1, 16)], np.random.default_rng(0), short=3)
    )
    assert [trace.rounds for _, trace, _ in many[9:]] == [1] * 16, "16² is more than 250"


def test_the_two_chains_of_17_2_say_what_they_do():
    trace = play(FTRL(DISK, SquaredNorm(), 0.5), LINEAR)
    lecture, sharp = (kind.of(trace, 1.0).chain(trace, U9) for kind in (theorems.FTRL, theorems.FTRLSharp))
    assert (lecture.title, sharp.title) == ("(17.2), the lecture's chain", "(17.2), the sharp chain")
    shown = [" ".join(f"{line.formula} {line.reason}" for line in chain.lines) for chain in (lecture, sharp)]
    for words, place in (("f_t(w_{t+1})", 0), ("F_t(w_{t+1})", 1), ("Theorem 1", 0), ("minimises F_", 1),
                         ("stability", 0), ("strongly convex", 1), ("(η/2)", 1)):  # fmt: skip
        assert [words in text for text in shown] == [place == 0, place == 1], words


def test_the_chain_of_optimistic_hedge_line_by_line():
    A = np.array([[0.3, -0.9, 0.5], [-0.2, 0.8, -1.0]])
    stated = theorems.OptimisticGame(A, 5, 0.3)
    from ocolib.games import play_game

    trace = play_game(A, *stated.players, 5)
    x, y, eta = trace.points[:, :2], trace.points[:, 2:], 0.3
    turns = moves = 0.0
    for w, z in ((x, [A @ q for q in y]), (y, [-A.T @ p for p in x])):
        before = 0.0 * z[0]
        for now in z:
            turns, before = turns + max(abs(now - before)) ** 2, now
        moves += sum(sum(abs(b - a)) ** 2 for a, b in pairwise(w))
    gap, logs = max(x.mean(0) @ A) - min(A @ y.mean(0)), log(2) + log(3)
    agree(
        stated.chain(trace),
        [
            gap,
            (logs / eta + eta * turns - moves / (8 * eta)) / 5,
            (logs / eta + 2 * eta + (eta - 1 / (8 * eta)) * moves) / 5,
            (logs / eta + 2 * eta) / 5,
        ],
    )


def test_a_theorem_of_ones_own_has_to_say_all():
    class Bare(theorems.Theorem, register=False):
        pass

    assert Bare not in THEOREMS
    for call in (lambda: Bare().hypotheses(None), lambda: Bare.games(None), Bare.worst):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(NotImplementedError, match="Bare has no proof chain"):
        Bare().chain(None)
    with pytest.raises(ValueError, match="at least 2 rows and 2 columns"):
        theorems.OptimisticGame(np.ones((2, 1)), 3)


def test_a_refusal_says_what_was_probably_meant():
    theorem = theorems.Descent(2, 1, 3)
    learner = OGD(Ball(2), theorem.step)
    one, runs = play(learner, np.full((3, 2), 0.1)), play(learner, np.full((4, 3, 2), 0.1))
    X, y, u = separable(5, 2, 0.1, seed=0)
    data = play(Perceptron(2), perceptron_loss(X, y))
    for stated, trace, u, words in (
        (theorem, one, None, r"u is in the set\..* violates it: pass a comparator, proof\(trace, u\)$"),
        (theorem, one, np.zeros(3), r"u must have 2 entries, got shape \(3,\)$"),
        (theorem, one, np.full(2, 5.0), "violates it$"),
        (theorem, runs, np.zeros(2), r"one run, and the trace holds runs of shape \(4,\)$"),
        (theorems.Perceptron(1, 0.1), data, None, r"‖u‖ = 1.*: pass a comparator, proof\(trace, u\)$"),
    ):
        with pytest.raises(ValueError, match=words):
            stated.proof(trace, u)
    with pytest.raises(ValueError, match=r"write proof\(trace, u\): .*got ndarray"):
        theorem.proof(np.zeros(2), one)


def test_steps_that_a_theorem_prescribes():
    assert theorems.StronglyConvexSeen([1.0, 2.0], 4.0).step(3) == 1 / 12
    assert theorems.Pegasos(radius=1.0, reg=2.0, T=9).step(3) == pytest.approx(1 / 6)
    assert theorems.LogisticDescent(1.0, 5, 0.25).step == 0.25


def test_schedules_that_cannot_be_asked_are_no_schedule_of_the_theorem():
    from ocolib.theorems.base import convex, same_steps

    assert same_steps(inverse(0.5), inverse(0.5), 4) and not same_steps(inverse(0.5), inverse(0.4), 4)
    assert not same_steps(lambda t: 1 / 0, inverse(0.5), 4)
    trace = play(OGD(DISK, 0.5), LINEAR)
    assert convex(trace, U9) and not convex(trace, np.zeros(3)) and not convex(trace, np.zeros((2, 2)))


def spoiled(stated, trace, u):
    """Change one thing of a game: a number of the theorem, losses, u, learner, plays, payments or rounds."""
    yield from variations(stated, trace, u)
    if isinstance(trace, Trace):
        yield stated, replace(trace, learner=FTL(Space(trace.dim))), u
        if is_dataclass(trace.learner) and callable(getattr(trace.learner, "eta", None)):
            yield stated, replace(trace, learner=changed(trace.learner, eta=lambda t: 1 / 0)), u
        yield stated, replace(trace, paid=trace.paid + 1.0), u
        yield stated, replace(trace, subgradients=1.5 * trace.subgradients), u
        yield stated, replace(trace, points=trace.points + 0.1), u
        short = (part[:-1] for part in (trace.losses, trace.points, trace.subgradients, trace.paid))
        if trace.rounds > 1:
            yield stated, Trace(trace.learner, *short, trace.last), u
        if isinstance(trace.losses, list):
            yield stated, replace(trace, losses=[copy(f) for f in trace.losses]), u
        if type(trace.learner) is OGD:
            away = Ball(trace.dim, 0.01, np.full(trace.dim, 7.0))
            yield stated, replace(trace, learner=replace(trace.learner, over=away, start=None)), u


#: hypotheses that no such change breaks: a game that does is another kind of game
OTHER_GAMES = {
    "linear losses", "all paths of a bandit game", "γ = η/2", "the same function in every round",
    "‖z_M‖ ≤ ρ, z_M a subgradient at w_M", "min x_t ≥ r·max x_t", "the path u_1, …, u_T is no longer than L",
    "payments in [0, 1]", "the losses of a round are A y and −Aᵀx", "φ has range at most D on the set",
    "w_{t+1} minimises f_1 + … + f_t + R/η over the set", "the perceptron loss on examples",
    "the perceptron loss, with whole updates: κ = 0 or 1",
}  # fmt: skip


def test_every_hypothesis_is_false_in_some_game():
    for theorem in THEOREMS:
        asked, broken = set(), set()
        for stated, trace, u in islice(theorem.games(np.random.default_rng(0)), 2):
            for other, *game in spoiled(stated, trace, u):
                for words, true in other.hypotheses(*game).items():
                    words = re.sub(r"^\d+ ", "", words)
                    asked.add(words)
                    broken |= set() if true else {words}
        assert asked - broken <= OTHER_GAMES, theorem


def test_a_margin_is_one_on_every_example():
    """With one label exchanged, or one example more, u has the margin on all the others but not on all."""
    words = "u has margin at least γ on all examples"
    for theorem in (theorems.Perceptron, theorems.NormalizedWinnow):
        stated, trace, u = next(iter(theorem.games(np.random.default_rng(0))))
        y = trace.losses.y.copy()
        y[0] = -y[0]
        other = replace(trace, losses=replace(trace.losses, y=y))
        assert stated.hypotheses(trace, u)[words] and not stated.hypotheses(other, u)[words], theorem
    stated, trace, u = next(iter(theorems.LogisticDescent.games(np.random.default_rng(0))))
    risk = copy(trace.losses[0])
    risk.signed = np.vstack([risk.signed, -risk.signed[0]])
    other = replace(trace, losses=[risk] * trace.rounds)
    assert stated.hypotheses(trace, u)[words] and not stated.hypotheses(other, u)[words]


def test_every_theorem_about_a_step_refuses_another_one():
    def steeper(learner):
        if hasattr(learner, "learner"):
            return changed(learner, learner=steeper(learner.learner))
        eta = learner.eta
        return changed(learner, eta=(lambda t: 1.1 * eta(t)) if callable(eta) else 1.1 * eta)

    asked = 0
    for theorem in THEOREMS:
        stated, trace, u = next(iter(theorem.games(np.random.default_rng(0))))
        if hasattr(getattr(trace.learner, "learner", trace.learner), "eta"):
            other = changed(trace, learner=steeper(trace.learner))
            assert all(stated.hypotheses(trace, u).values()) and not all(
                stated.hypotheses(other, u).values()
            ), theorem
            asked += 1
    assert asked >= 25


def test_the_regulariser_of_17_2_must_be_strongly_convex():
    class Flat:
        """A regulariser without a range."""

        def minimize(self, b, eta, over):
            return over.minimize_linear(b)

        def value(self, w):
            return 0.0

    trace = play(FTRL(DISK, SquaredNorm(), 0.5), LINEAR)
    other = replace(trace, learner=changed(trace.learner, regularizer=Flat()))
    with pytest.raises(ValueError, match="the regulariser must be strongly convex"):
        theorems.FTRL.of(other, 1.0)
    with pytest.raises(ValueError, match="the regulariser must be strongly convex"):
        theorems.FTRL.of(trace, 1.0).chain(other, U9)


def test_the_bound_on_the_logistic_risk_after_many_numbers_of_steps():
    bounds = theorems.LogisticDescent(0.5, [1, 2, 10], 0.25).bound
    assert bounds == pytest.approx([1 / t + log(t) ** 2 / (2 * 0.25 * 0.25 * t) for t in (1, 2, 10)])


def test_u_of_boosting_is_a_distribution():
    stated, trace, u = next(iter(theorems.Boosting.games(np.random.default_rng(0))))
    words = "u is a distribution on the hypotheses"
    away = np.zeros(len(u))
    away[:2] = 1.5, -0.5
    found = [stated.hypotheses(trace, v)[words] for v in (u, away, 2 * u, u[1:])]
    assert found == [True, False, False, False]


def test_a_path_is_inside_if_each_of_its_points_is():
    from ocolib.theorems.base import inside

    path = np.array([[0.0, 0.0], [0.6, 0.8], [2.0, 0.0]])
    assert inside(DISK, path[:2]) and not inside(DISK, path) and not inside(DISK, path[2])
    assert not inside(DISK, np.zeros(3)) and not inside(None, np.zeros(2))


class OnlyProjects:
    """A disk that has nothing but its projection, of one point at a time."""

    dim = 2

    def project(self, y):
        return y / max(1.0, np.linalg.norm(y))


def test_a_theorem_can_be_proved_on_a_set_of_your_own():
    stated, u = theorems.DescentSharp(1.0, 1.0, 9), np.array([0.6, 0.8])
    trace = play(OGD(OnlyProjects(), stated.step), orthogonal(), rounds=9)
    assert stated.proof(trace, u).holds() and not stated.hypotheses(trace, 2 * u)["u is in the set"]
    eager = play(OGD(OnlyProjects(), inverse_sqrt(1.0), "eager"), trace.subgradients)
    late = play(DelayedOGD(OnlyProjects(), inverse_sqrt(1.0), 1), trace.subgradients)
    for other, game in (
        (theorems.Zinkevich(2.0, 1.0, 0.0, 9), eager),
        (theorems.Delayed(2.0, 1.0, 1, 9, 1.0), late),
    ):
        with pytest.raises(ValueError, match="requires: the set has diameter at most D"):
            other.proof(game, u)  # the set does not say how large it is


OPTIONAL = {
    kind.__name__: (kind, [field.name for field in fields(kind) if field.default is None])
    for kind in THEOREMS
    if kind is not theorems.Mirror  # its games all use the step that minimises the bound
}


@for_each("name", [name for name, (_, names) in OPTIONAL.items() if names])
def test_a_number_that_may_be_left_out_is_given_in_some_games(name):
    kind, names = OPTIONAL[name]
    games = [stated for stated, *_ in kind.games(np.random.default_rng(0))]
    assert not [left for left in names if all(getattr(stated, left) is None for stated in games)]
