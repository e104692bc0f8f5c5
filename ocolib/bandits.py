"""Play bandit games, in which the learner sees only the loss of the arm that it chose.

A bandit learner is a frozen dataclass of parameters, and `learner.player()` returns a fresh player for one
game. A player has `predict()`, which returns the probabilities of the arms, and `update(arm, loss)`, which
receives the drawn arm and its loss. A learner of your own needs `player()` and `n`, the number of arms.

>>> losses = np.tile([1.0, 0.0], (200, 1))  # the second arm never has a loss
>>> trace = play_bandit(EXP3(2, eta=0.1), losses, seed=0)
>>> bool((trace.arms == 1).mean() > 0.8)
True

The losses are an array `(T, n)` that is fixed before the first round: the adversary is *oblivious*.
`play_bandit` draws the arms at random. `all_paths` enumerates every sequence of arms with its probability, so
that expectations are exact.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.types import Array

# ---------------------------------------------------------------- learners


@description
class EXP3:
    """Run EXP3: Hedge on the estimates loss/probability for the drawn arm and 0 for the others.

    With the step size η = √(2 ln(n)/(nT)) its expected regret on losses in [0, 1] fixed in advance is at most
    √(2nT ln n) (`theorems.EXP3`).

    >>> player = EXP3(2, eta=np.log(3)).player()
    >>> player.update(arm=0, loss=0.5)  # estimated as 0.5/0.5 = 1
    >>> player.predict().round(12)
    array([0.25, 0.75])
    """

    n: int
    eta: float

    def __post_init__(self) -> None:
        keep(self, n=validate.count("n", self.n, low=2), eta=validate.positive("eta", self.eta))

    @property
    def bias(self) -> float:
        """Return 0: nothing is added to the probability in the estimate loss/probability."""
        return 0.0

    def player(self) -> "ExponentialPlayer":
        """Return a fresh player."""
        return ExponentialPlayer(self.n, self.eta, self.bias)


@description
class EXP3IX:
    """Run EXP3-IX (implicit exploration): estimate the loss of the drawn arm by loss/(probability + γ).

    γ = η/2 by default. The estimates are biased downwards, but none exceeds 1/γ for losses in [0, 1], and the
    regret is small with high probability (`theorems.EXP3IX`).
    """

    n: int
    eta: float
    gamma: float | None = None

    def __post_init__(self) -> None:
        eta = validate.positive("eta", self.eta)
        gamma = eta / 2 if self.gamma is None else validate.positive("gamma", self.gamma)
        keep(self, n=validate.count("n", self.n, low=2), eta=eta, gamma=gamma)

    @property
    def bias(self) -> float:
        """Return γ, which is added to the probability in the estimate loss/(probability + γ)."""
        assert self.gamma is not None
        return self.gamma

    def player(self) -> "ExponentialPlayer":
        """Return a fresh player."""
        return ExponentialPlayer(self.n, self.eta, self.bias)


@description
class UCB1:
    """Run UCB1: draw each arm once, then the arm with the smallest value of mean loss − √(2 ln(t − 1)/draws).

    It is designed for losses that are drawn independently from a fixed distribution for each arm. It is
    deterministic, so an adversary can predict it.

    >>> player = UCB1(2).player()
    >>> for arm, loss in ((0, 1.0), (1, 0.0)):
    ...     player.update(arm, loss)
    >>> player.predict()
    array([0., 1.])
    """

    n: int

    def __post_init__(self) -> None:
        keep(self, n=validate.count("n", self.n, low=2))

    def player(self) -> "UCBPlayer":
        """Return a fresh player."""
        return UCBPlayer(self.n)


class ExponentialPlayer:
    """Play one game of `EXP3` or `EXP3IX`; it stores the sum of the estimates of each arm."""

    def __init__(self, n: int, eta: float, bias: float) -> None:
        self.eta, self.bias, self.estimates = eta, bias, np.zeros(n)

    def predict(self) -> Array:
        weights = np.exp(-self.eta * (self.estimates - self.estimates.min()))
        return weights / weights.sum()

    def update(self, arm: int, loss: float) -> None:
        added = np.zeros(len(self.estimates))
        added[arm] = loss / (self.predict()[arm] + self.bias)
        self.estimates = self.estimates + added  # a new array, because copies of the player share the old one

    def copy(self) -> "ExponentialPlayer":
        """Return a copy of the player with the same history."""
        other = ExponentialPlayer(len(self.estimates), self.eta, self.bias)
        other.estimates = self.estimates
        return other


class UCBPlayer:
    """Play one game of `UCB1`; it stores the number of draws and the sum of the losses of each arm."""

    def __init__(self, n: int) -> None:
        self.draws, self.sums = np.zeros(n, dtype=int), np.zeros(n)

    def predict(self) -> Array:
        seen = np.maximum(self.draws, 1)
        optimistic = self.sums / seen - np.sqrt(2 * np.log(max(self.draws.sum(), 1)) / seen)
        values = np.where(self.draws == 0, -np.inf, optimistic)
        return np.eye(len(self.sums))[values.argmin()]  # ties go to the first arm

    def update(self, arm: int, loss: float) -> None:
        drawn = np.arange(len(self.sums)) == arm
        self.draws, self.sums = self.draws + drawn, self.sums + loss * drawn

    def copy(self) -> "UCBPlayer":
        """Return a copy of the player with the same history."""
        other = UCBPlayer(len(self.sums))
        other.draws, other.sums = self.draws, self.sums
        return other


# ---------------------------------------------------------------- games


@dataclass(frozen=True, eq=False)
class BanditTrace:
    """Store one bandit game: the drawn `arms`, `(T,)`, and the `probabilities` of all arms, `(T, n)`."""

    learner: Any
    losses: Array
    arms: Array
    probabilities: Array

    def __repr__(self) -> str:
        who, mean = type(self.learner).__name__, self.paid.mean()
        return f"BanditTrace({who}: {len(self.arms)} rounds, mean loss {mean:.6g})"

    @property
    def paid(self) -> Array:
        """Return the losses of the drawn arms, `(T,)`."""
        return self.losses[np.arange(len(self.arms)), self.arms]

    def regret(self) -> float:
        """Return the regret: total paid minus total loss of the best arm."""
        return float(self.paid.sum() - self.losses.sum(axis=0).min())


@dataclass(frozen=True, eq=False)
class Paths:
    """Store all possible games: P sequences of arms, `(P, T)`, with their probabilities `chances`, `(P,)`.

    `probabilities` are those of the arms in each round of each path, `(P, T, n)`.
    """

    learner: Any
    losses: Array
    arms: Array
    probabilities: Array
    chances: Array

    def __repr__(self) -> str:
        return f"Paths({type(self.learner).__name__}: {len(self.arms)} paths of {self.rounds} rounds)"

    @property
    def dim(self) -> int:
        """Return the number of arms."""
        return self.losses.shape[1]

    @property
    def rounds(self) -> int:
        """Return the number of rounds."""
        return len(self.losses)

    @property
    def paid(self) -> Array:
        """Return the losses of the drawn arms, `(P, T)`."""
        return self.losses[np.arange(self.rounds), self.arms]

    @property
    def regrets(self) -> Array:
        """Return the regret of each path against the best arm, `(P,)`."""
        return self.paid.sum(axis=1) - self.losses.sum(axis=0).min()

    @property
    def estimates(self) -> Array:
        """Return the loss estimates of `EXP3` or `EXP3IX`, `(P, T, n)`."""
        drawn = np.arange(self.dim) == self.arms[..., None]
        return drawn * self.losses / np.where(drawn, self.probabilities + self.learner.bias, 1.0)

    def mean(self, of: ArrayLike) -> float:
        """Return the expectation of a quantity with one value per path, `(P,)`."""
        return float(self.chances @ validate.array("of", of, len(self.chances), ndim=1))

    def quantile(self, delta: float) -> float:
        """Return the smallest r that the regret exceeds with probability at most δ."""
        delta = validate.number("delta", delta, 0.0, 1.0)
        order = np.argsort(self.regrets)
        above = 1 - np.cumsum(self.chances[order])
        return float(self.regrets[order][np.argmax(above <= delta + 1e-12)])

    def again(self, losses: ArrayLike) -> "Paths":
        """Return all possible games of the same learner on other losses."""
        return all_paths(self.learner, losses)


def play_bandit(learner: Any, losses: ArrayLike, seed: int) -> BanditTrace:
    """Play one game on losses `(T, n)`: draw arms at random and reveal only the loss of the drawn arm.

    >>> trace = play_bandit(UCB1(2), np.tile([1.0, 0.0], (5, 1)), seed=0)
    >>> trace.arms, trace.regret()
    (array([0, 1, 1, 1, 1]), 1.0)
    """
    losses = _losses(learner, losses)
    rng, player = np.random.default_rng(seed), learner.player()
    arms, drawn_from = [], []
    for row in losses:
        p = _probabilities(player, learner.n)
        arm = int(rng.choice(len(row), p=p))
        player.update(arm, float(row[arm]))
        arms.append(arm)
        drawn_from.append(p)
    return BanditTrace(learner, losses, np.array(arms), np.array(drawn_from))


def all_paths(learner: Any, losses: ArrayLike) -> Paths:
    """Enumerate every sequence of arms with positive probability, at most n^T of them, as `Paths`.

    >>> paths = all_paths(EXP3(2, eta=1.0), [[1, 0], [1, 0]])
    >>> len(paths.arms), round(paths.mean(paths.regrets), 4)
    (4, 0.8096)
    """
    losses = _losses(learner, losses)
    level: list[tuple[Any, float, list, list]] = [(learner.player(), 1.0, [], [])]
    for row in losses:
        following = []
        for player, chance, arms, drawn_from in level:
            p = _probabilities(player, learner.n)
            for arm in np.flatnonzero(p):
                child = player.copy() if hasattr(player, "copy") else deepcopy(player)
                child.update(int(arm), float(row[arm]))
                following.append((child, chance * p[arm], [*arms, int(arm)], [*drawn_from, p]))
        level = following
    _, chances, arms, drawn_from = (list(part) for part in zip(*level, strict=True))
    return Paths(learner, losses, np.array(arms), np.array(drawn_from), np.array(chances))


def _losses(learner: Any, losses: ArrayLike) -> Array:
    """Check the learner and its losses, and return the losses as an array `(T, n)`."""
    if isinstance(learner, type) or not (hasattr(learner, "player") and hasattr(learner, "n")):
        found = f"the class {learner.__name__}" if isinstance(learner, type) else type(learner).__name__
        raise ValueError(
            f"learner must be an object with player() and n, the number of arms, such as UCB1(2), got {found}"
        )
    return validate.frozen("losses", losses, learner.n, ndim=2)


def _probabilities(player: Any, n: int) -> Array:
    """Return what `predict` says, after checking that it is a distribution on n arms."""
    p = validate.numbers("predict()", player.predict())
    if p.shape != (n,) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-8:
        raise ValueError(f"predict() must return {n} probabilities with sum 1, got {p}")
    return p


# ---------------------------------------------------------------- the distribution of the regret in one game


def switch_losses(T: int) -> Array:
    """Return 0/1 losses of two arms, `(T, 2)`: arm 1 is right for a quarter of the game, then arm 2."""
    first = np.arange(validate.count("T", T, low=4)) < T // 4
    return np.column_stack([~first, first]).astype(float)


def switch_law(learner: Any, T: int) -> tuple[Array, Array]:
    """Return the possible regrets of `EXP3` or `EXP3IX` on `switch_losses(T)` and their probabilities.

    In each part of the game only one arm has losses, and its estimate depends only on how often it was drawn.
    So a dynamic program over the two numbers of draws computes the distribution exactly.
    """
    losses = switch_losses(T)
    early = int(losses[:, 1].sum())
    late = T - early
    if getattr(learner, "n", None) != 2 or not hasattr(learner, "bias"):
        raise ValueError(f"learner must be EXP3 or EXP3IX with two arms, got {learner!r}")
    eta, bias = learner.eta, learner.bias
    first = _draws(early, 0.0, eta, bias)
    law = np.zeros(T + 1)
    ahead = 0.0  # the estimate of the second arm after k draws
    for k, chance in enumerate(first):
        if chance > 0:
            law[k : k + late + 1] += chance * _draws(late, -ahead, eta, bias)
            ahead += 1 / (_chance(ahead, eta) + bias)
    return np.arange(T + 1) - float(losses.sum(axis=0).min()), law


def _chance(gap: Any, eta: float) -> Any:
    """Return the probability of the arm whose estimate is larger by `gap`."""
    return np.exp(-np.logaddexp(0.0, eta * np.minimum(gap, 700 / eta)))


def _draws(rounds: int, gap: float, eta: float, bias: float) -> Array:
    """Return the distribution of the number of draws of an arm with loss 1 that starts `gap` behind."""
    chances = np.zeros(rounds + 1)
    for k in range(rounds + 1):
        chances[k] = _chance(gap, eta)
        gap = min(gap + 1 / (chances[k] + bias), 700 / eta)
    law = np.zeros(rounds + 1)
    law[0] = 1.0
    for _ in range(rounds):
        drawn = law * chances
        law = law - drawn
        law[1:] += drawn[:-1]
    return law
