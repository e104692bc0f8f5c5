"""Compute minimax values and exact worst cases, with the learners and adversaries that attain them.

A theorem has a bound and two more numbers. The *worst case* of a learner is its largest regret over all games
that the theorem allows. The *floor* (or minimax value) is the regret that the best adversary forces on every
learner. Always floor ≤ worst case ≤ bound. This package computes those that are known, most of them together
with a player or an adversary for `game.play`, or with losses, that attain them.

Functions that return a worst case or a floor are decorated with `limit` and listed in `LIMITS`. Their `kind`
is "tight" (a learner guarantees the number and a game attains it; for `hedge`, among binary losses only) or
"lower" (an adversary forces it). Their arguments are in the order of the theorems: the geometry (`radius`,
`n`), the bound `rho` on the subgradients, what the theorem adds (`delay`, `pieces`), the number `T` of
rounds, the step size.

The modules are `linear` (an interval, a ball), `prediction` (experts, Hedge), `estimation` (gradient descent;
start with `worst_case`), `curved` (strongly convex losses), `late` (delays, moving comparators), `hidden`
(bandits) and `betting` (coins, portfolios). Linear and semidefinite programs are solved with cvxpy, which is
imported only when needed; everything else needs only NumPy.
"""

from ocolab.limits.base import LIMITS, limit
from ocolab.limits.betting import MinimaxPortfolio, OptionBettor, strike, wealth_ratio
from ocolab.limits.curved import (
    SquareMinimax,
    away,
    leader_centers,
    leader_square_loss,
    square_loss,
)
from ocolab.limits.estimation import DescentProblem, WorstCase, descent, worst_case
from ocolab.limits.hidden import bandit
from ocolab.limits.late import Delayed, Interleaved, best_pieces, blocks, delayed, moving, restarts
from ocolab.limits.linear import BallMinimax, IntervalMinimax, ball, coin, coin_sums, interval, mean_distance
from ocolab.limits.prediction import (
    Cover,
    ExpertsGame,
    Gaps,
    experts,
    experts_floor,
    hedge,
    hedge_game,
    hedge_losses,
    solve_experts,
    two_experts,
)
