"""Learn online convex optimisation by playing it.

Play a game: `sets` (the convex set of plays), `losses` and `phi` (loss functions), `regularizers`, `learners`
and `kernels` (algorithms), `adversaries` (sequences of losses), `data` (small real data sets), `game`
(`play`), `trace` (its result: plays, payments and regret).

Go beyond the lectures: `mirror` (mirror descent), `adaptive` (AdaGrad, AdaHedge), `batch` (online-to-batch
conversion), `bandits` (partial feedback), `games` (two learners in a matrix game), `betting` (coin betting)
and `portfolios` (online portfolio selection).

Check what you claim: `theorems` (one class per theorem: hypotheses, step size, bound, proof, worst case),
`oracle` (the same minimisers and projections, computed by cvxpy), `testing` (checks for your own sets,
losses, learners and theorems), `exercises` (feedback on answers), `plots` (figures).

Used by all of these: `types` (type aliases), `describe` (frozen dataclasses), `validate` and `referee`
(argument checks).

A game needs only NumPy; `oracle` needs cvxpy and `plots` needs matplotlib.

>>> from ocolib import adversaries, learners, sets
>>> from ocolib.game import play
>>> trace = play(learners.FTL(sets.Box([-1], [1])), adversaries.alternating(100))
>>> float(trace.regret())
99.5
"""

__version__ = "0.3.0"
