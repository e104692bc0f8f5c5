"""Compute minimax values and exact worst cases, with the learners and adversaries that attain them.

Two numbers belong to a theorem besides its bound. The *worst case* of a learner is its largest regret over
all games the theorem allows. The *floor* (or minimax value) is what the best adversary forces on every
learner. Always floor ≤ worst case ≤ bound. Those that are known are computed here, most of them with a player
or an adversary for `game.play`, or with losses, that attain them.

Functions that return a worst case or a floor are marked by `limit` and listed in `LIMITS`. Their `kind` is
"tight" (a learner guarantees it and a game attains it; `hedge` on binary losses only) or "lower" (an
adversary forces it). They take their arguments in the order of the theorems: the geometry (`radius`, `n`),
the size `rho` of the subgradients, what the theorem adds (`delay`, `pieces`), the rounds `T`, the step.

The rooms: `linear` (an interval, a ball), `prediction` (experts, Hedge), `estimation` (gradient descent;
`worst_case` is the door), `curved` (strongly convex losses), `late` (delays, moving comparators), `hidden`
(bandits), `betting` (coins, portfolios). Linear and semidefinite programs are handed to cvxpy, imported where
it is needed; the rest needs NumPy alone.
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
