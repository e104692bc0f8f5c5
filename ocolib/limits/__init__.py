"""What nobody can beat: minimax values, exact worst cases of our learners, and who attains them.

Two numbers belong to a theorem besides its promise. The *worst case* of a learner is its largest regret
over all games the theorem allows. The *floor* (or minimax value) is what the best adversary forces on every
learner. Always floor ≤ worst case ≤ promise. Some that are known are computed here, most of them with a
player or an adversary for `game.play`, or with losses, that attain them.

Functions that return a worst case or a floor carry one of the words of `bounds`, are listed in
`bounds.PROMISES` and take their arguments in the same order: `tight` (a learner guarantees it and a game
attains it; `hedge` on binary losses only) or `lower` (an adversary forces it). What a bound says already is
not repeated: the worst case of descent without projection on strongly convex losses is
`bounds.strongly_convex_sharp`, the mistakes that no deterministic learner avoids are `bounds.mistakes_floor`.

The rooms: `linear` (an interval, a ball), `prediction` (experts, Hedge), `estimation` (gradient descent),
`curved` (strongly convex losses), `late` (delays, moving comparators). Linear and semidefinite programs are
handed to cvxpy, imported where it is needed; the rest needs NumPy alone.
"""

from ocolib.limits.curved import (
    SquareMinimax,
    at_distance,
    away,
    leader_centers,
    leader_square_loss,
    square_loss,
)
from ocolib.limits.estimation import DescentProblem, WorstCase, descent, spiral, zigzag
from ocolib.limits.late import Delayed, Interleaved, best_pieces, blocks, delayed, moving, restarts
from ocolib.limits.linear import BallMinimax, IntervalMinimax, ball, coin, coin_sums, interval, mean_distance
from ocolib.limits.prediction import (
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
