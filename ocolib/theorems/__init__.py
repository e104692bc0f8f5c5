"""Theorems: each is a class with its hypotheses, its bound, its proof on a game, and its worst known game.

An instance is the theorem with its numbers:

>>> from ocolib import adversaries, learners, sets, theorems
>>> from ocolib.game import play
>>> theorem = theorems.Descent(diameter=2, rho=1, T=16)
>>> interval = sets.Box([-1], [1])
>>> trace = play(learners.OGD(interval, theorem.step), adversaries.alternating(16))
>>> bool(trace.regret(interval) <= theorem.bound)
True

`theorem.proof(trace, u)` evaluates its proof line by line, and refuses a game that breaks a hypothesis;
`theorem.chain(trace, u)` evaluates the same lines without asking. `Claims` shows which line of a false proof
fails. `THEOREMS` lists the classes, and `ocolib.testing.check_theorem` checks one.

The names of the fields are the same everywhere: `diameter` D and `radius` R of a set or of the data, `rho`
≥ ‖z_t‖, `T` rounds, `eta` or `scale` for the step, `curvature` H, `margin` γ, `path` L, `delay` τ.
"""

from ocolib.theorems.adaptive import AdaGrad, AdaGradDiagonal, AdaHedge
from ocolib.theorems.bandits import EXP3, EXP3IX
from ocolib.theorems.base import THEOREMS, Chain, Claims, Line, Theorem
from ocolib.theorems.batch import AverageIterate, LastIterate
from ocolib.theorems.betting import CoinBetting, ExponentiatedGradient, UniversalPortfolio
from ocolib.theorems.delayed import Delayed, DelayedConstant, DelayedStronglyConvex
from ocolib.theorems.descent import Descent, DescentAnytime, DescentSharp
from ocolib.theorems.games import Boosting, HedgeGame, OptimisticGame
from ocolib.theorems.hedge import Hedge, HedgeAnytime
from ocolib.theorems.leaders import FTRL, Example2, FTRLSharp, FTRLTuned, FTRLTunedSharp, Stability
from ocolib.theorems.logistic import LogisticDescent
from ocolib.theorems.mirror import Mirror, MirrorFalling
from ocolib.theorems.mistakes import (
    MistakesFloor,
    NormalizedWinnow,
    Perceptron,
    PerceptronFrom,
    PerceptronTies,
    Winnow,
)
from ocolib.theorems.strongly_convex import Pegasos, StronglyConvex, StronglyConvexSeen, StronglyConvexSharp
from ocolib.theorems.zinkevich import Zinkevich, ZinkevichSharp
