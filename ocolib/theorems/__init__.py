"""State and check the theorems: one class each, with hypotheses, step size, bound, proof and worst case.

An instance is the theorem with its numbers:

>>> from ocolib import adversaries, learners, sets, theorems
>>> from ocolib.game import play
>>> theorem = theorems.Descent(diameter=2, rho=1, T=16)
>>> interval = sets.Box([-1], [1])
>>> trace = play(learners.OGD(interval, theorem.step), adversaries.alternating(16))
>>> bool(trace.regret(interval) <= theorem.bound)
True

`theorem.proof(trace, u)` evaluates the proof line by line on a game and raises a `ValueError` if the game
violates a hypothesis; `theorem.chain(trace, u)` evaluates the same lines without that check. `Claims` shows
which line of a false proof fails. `THEOREMS` lists all classes, and `ocolib.testing.check_theorem` tests one.

Fields have the same names everywhere: `diameter` D and `radius` R (or B) of a set or of the data, `rho` ρ for
the bound on ‖z_t‖, `T` for the number of rounds, `eta` η or `scale` σ for the step size, `curvature` H,
`margin` γ, `path` L, `delay` τ.
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
