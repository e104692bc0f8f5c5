"""Return minimax values of bandit games, in which the learner sees only the loss of the arm that it draws."""

from ocolab import bandits
from ocolab.limits.base import limit


@limit("tight", "ban.thm.values")
def bandit(n: int, T: int) -> float:
    """Return the minimax expected regret of n arms with oblivious losses in [0, 1], for small n and T.

    "Oblivious" means that the losses are fixed before the game. `ocolab.bandits.value` returns the number as
    a fraction; its certificate consists of a learner that guarantees it and a mixture of binary losses that
    forces it. Binary losses suffice, because a learner can round the losses that it sees at random.

    >>> bandit(2, 4)
    0.825
    """
    return float(bandits.value(n, T))
