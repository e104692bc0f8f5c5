"""Return minimax values of bandit games, in which the learner sees only the loss of its own arm."""

from ocolab import bandits
from ocolab.limits.base import limit


@limit("tight", "ban.thm.values")
def bandit(n: int, T: int) -> float:
    """Return the minimax expected regret of n arms with oblivious losses in [0, 1], for small n and T.

    The fraction itself is `ocolab.bandits.value`; its certificate has a learner that guarantees it and a
    mixture of binary losses that forces it. Binary losses suffice: a learner may round what it sees at
    random.
    """
    return float(bandits.value(n, T))
