"""ocolib: online convex optimisation, its core small enough to read in an evening.

The rooms a game is made of: `sets` (where the learner may play), `losses` (what a round costs) with `phi`
(what a prediction costs), `regularizers` (what keeps a leader steady), `learners` (who plays), `adversaries`
(who chooses the losses), `data` (what the world chose), `game` (play) with `traces` (what a game leaves).

How it is done fast: `engine` (long games) with `compiled` (their rounds) and `blocks` (what fits the cache),
`streams` (games too long for the memory), `comparators` (the best point in hindsight).

What is known of it: `bounds` (what the theorems promise), `proofs` (a proof as a chain of numbers), `limits`
(what nobody can beat), `certificates` (worst cases proved between fractions) with `exact` (games solved in
fractions), `oracle` (the same answers from cvxpy).

For the reader: `exercises` (feedback on your own code), `plots` (pictures), `sweep` (many games at once).

What all rooms share: `protocols` (what a set, a loss, a learner must have), `descriptions` (how one is
written down), `validate` (what may come in).

NumPy is enough for most of it. A long game brings numba, if it is there, and `streams` needs it; `oracle`
and the linear and semidefinite programs of `limits` need cvxpy, `plots` matplotlib, `sweep` joblib, and tqdm
for its bar. The code of `certificates`, `exact`, `streams` and `sweep` is in `ocolab`, the laboratory.
"""

__version__ = "0.2.0"
