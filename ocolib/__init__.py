"""ocolib: online convex optimisation, small enough to read in an evening.

The rooms: `sets` (where the learner may play), `losses` (what a round costs), `regularizers` (what keeps
a leader steady), `learners` (who plays), `adversaries` (who chooses the losses), `data` (what the world
chose), `game` (play, and the trace it leaves), `oracle` (the same answers from cvxpy), `bounds` (what the
theorems promise), `proofs` (a proof as a chain of numbers), `exercises` (feedback on your own code),
`plots` (pictures).

`import ocolib` needs NumPy alone; `oracle` brings cvxpy, `plots` brings matplotlib.
"""

__version__ = "0.1.0"
