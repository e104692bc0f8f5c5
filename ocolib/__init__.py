"""Learn online convex optimisation by playing it.

The rooms a game is made of: `sets` (where the learner may play), `losses` (what a round costs) with `phi`
(what a prediction costs), `regularizers` (what keeps a leader steady), `learners` and `kernels` (they play),
`adversaries` (they choose the losses), `data` (what the world chose), `game` (play, and the trace it leaves).

Beyond the lectures: `mirror` (mirror descent), `adaptive` (AdaGrad, AdaHedge), `batch` (one function, and the
point handed over at the end), `bandits` (only the chosen loss is seen), `games` (two learners play each
other), `betting` and `portfolios` (learning with money).

What is known of it: `theorems` (a class each: hypotheses, step, bound, proof, worst case); `oracle` gives the
answers of the closed forms from cvxpy.

For the reader: `exercises` (feedback on your own answers), `testing` (checks of your own sets, losses,
learners and theorems), `plots` (pictures).

What all rooms share: `types` (names for signatures), `describe` (how an object is written down), `validate`
(what may come in).

NumPy is enough for a game. `oracle` needs cvxpy, `plots` matplotlib.
"""

__version__ = "0.3.0"
