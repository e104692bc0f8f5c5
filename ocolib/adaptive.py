"""Run adaptive learners, which choose their step size from the gradients seen so far: AdaGrad and AdaHedge.

Neither needs a horizon or a bound on the losses: if all losses are multiplied by a positive number, both
learners play the same points.
"""

from typing import Any

import numpy as np

from ocolib import validate
from ocolib.describe import description, keep
from ocolib.learners import StepPlayer, kept_start, shifted
from ocolib.sets import Box, Set, Simplex, Space, require_set
from ocolib.types import Array


@description
class AdaGrad:
    """Run AdaGrad: eager descent w_{t+1} = Π(w_t − η_t z_t) with η_t = scale/√(‖z_1‖² + … + ‖z_t‖²).

    There is no step while all gradients are 0. With `diagonal=True` each coordinate has its own step size
    scale_i/√(z_{1,i}² + … + z_{t,i}²); the set must then be a `Box` or a `Space`. `scale` is D/√2 by default,
    where D is the diameter of the set, or the vector of widths of the box if `diagonal`. The first play is
    `start`, by default the point nearest to 0.

    >>> from ocolib.game import play
    >>> play(AdaGrad(Box([-1], [1])), np.array([[0.001], [-0.002]])).plays[:, 0].round(4)
    array([ 0.    , -1.    ,  0.2649])
    """

    over: Set
    diagonal: bool = False
    scale: Any = None
    start: Any = None

    def __post_init__(self) -> None:
        require_set(self.over)
        if self.diagonal and not isinstance(self.over, (Box, Space)):
            raise ValueError(f"diagonal AdaGrad needs a Box or a Space, got {self.over!r}")
        if self.scale is None:
            size: Any = self.over.diameter
            if self.diagonal and isinstance(self.over, Box):
                size = self.over.high - self.over.low
            if not np.all(np.isfinite(size)):
                raise ValueError(f"scale must be given on an unbounded set, got {self.over!r}")
            keep(self, scale=size / np.sqrt(2))
        scale = validate.numbers("scale", self.scale)
        if not (np.isfinite(scale).all() and (scale >= 0).all()):
            raise ValueError(f"scale must be finite and ≥ 0, got {self.scale}")
        shape = (self.over.dim,) if self.diagonal else ()
        if scale.shape not in ((), shape):
            raise ValueError(f"scale must have shape {shape}, got {scale.shape}")
        keep(self, scale=validate.frozen("scale", scale) if scale.ndim else float(scale))
        keep(self, start=kept_start(self.over, self.start))

    @property
    def first(self) -> Array:
        """Return w_1."""
        return self.over.project(np.zeros(self.over.dim) if self.start is None else self.start)

    def player(self) -> "AdaGradPlayer":
        """Return a fresh player."""
        return AdaGradPlayer(self)

    def step_sizes(self, Z: Array) -> Array:
        """Return the step sizes for the gradients Z: `(..., T, n)` if `diagonal`, else `(..., T, 1)`."""
        Z = validate.array("Z", Z, self.over.dim)
        squares = np.square(Z) if self.diagonal else np.square(Z).sum(axis=-1, keepdims=True)
        return _quotient(self.scale, np.sqrt(np.cumsum(squares, axis=-2)))


class AdaGradPlayer(StepPlayer):
    """Play one game of `AdaGrad`; it stores the current play and the sum of the squares so far."""

    def __init__(self, learner: AdaGrad) -> None:
        self.learner, self.w = learner, learner.first
        self.seen: Any = 0.0

    def predict(self) -> Array:
        return self.w.copy()

    def step(self, z: Array) -> None:
        """Add the squares of z, then move with the new step size."""
        squares = np.square(z) if self.learner.diagonal else np.square(z).sum(axis=-1, keepdims=True)
        self.seen = self.seen + squares
        eta = _quotient(self.learner.scale, np.sqrt(self.seen))
        self.w = self.learner.over.project(self.w - eta * z)


def _quotient(scale: Any, root: Array) -> Array:
    """Return scale/root, and 0 where the root is 0."""
    return np.where(root > 0, scale / np.where(root > 0, root, 1.0), 0.0)


@description
class AdaHedge:
    """Run AdaHedge: Hedge on n experts with step size η_t = ln(n)/Δ_{t−1}, where Δ sums the mixability gaps.

    In round t it plays w_t = softmax(−η_t L_{t−1}). The gap of the round is δ_t = ⟨w_t, ℓ_t⟩ − m_t, where
    m_t = −(1/η_t) log Σ_j w_t(j) exp(−η_t ℓ_t(j)) is the mixed loss, and Δ_t = δ_1 + … + δ_t. While Δ = 0 the
    step size is infinite: it plays uniformly on the leaders, and m_t is the increase of min L.

    >>> from ocolib.game import play
    >>> play(AdaHedge(2), np.array([[0.0, 1.0], [0.0, 1.0]])).plays[:, 0].round(4)
    array([0.5   , 0.8   , 0.9152])
    """

    n: int

    def __post_init__(self) -> None:
        keep(self, n=validate.count("n", self.n, low=2))

    @property
    def over(self) -> Simplex:
        return Simplex(self.n)

    def player(self) -> "AdaHedgePlayer":
        """Return a fresh player."""
        return AdaHedgePlayer(self)

    def gaps(self, losses: Array) -> Array:
        """Return the mixability gaps δ_1, …, δ_T against linear losses `(..., T, n)`."""
        player, found = self.player(), []
        for loss in np.moveaxis(validate.array("losses", losses, self.n), -2, 0):
            before = player.total
            player.step(loss)
            found.append(player.total - before)
        return np.stack(np.broadcast_arrays(*found), axis=-1)


class AdaHedgePlayer(StepPlayer):
    """Play one game of `AdaHedge`; it stores Δ and the cumulative losses L minus their minimum."""

    def __init__(self, learner: AdaHedge) -> None:
        self.learner, self.L = learner, np.zeros(learner.n)
        self.total: Any = np.float64(0.0)

    @property
    def rate(self) -> Any:
        """Return 1/η_t with a last axis of length 1; 0 stands for an infinite step size."""
        return (self.total / np.log(self.learner.n))[..., None]

    def weights(self, L: Array) -> Array:
        """Return exp(−η_t L); for an infinite step size, 1 where L = 0 and 0 elsewhere."""
        return np.where(self.rate > 0, np.exp(-L / np.where(self.rate > 0, self.rate, 1.0)), L == 0)

    def predict(self) -> Array:
        weights = self.weights(self.L)
        return weights / weights.sum(axis=-1, keepdims=True)

    def step(self, z: Array) -> None:
        """Add the gap of this round to Δ and its losses to L."""
        z = shifted(z, self.learner.over)
        L, least = self.L + z, (self.L + z).min(axis=-1, keepdims=True)
        shrink = self.weights(L - least).sum(-1, keepdims=True) / self.weights(self.L).sum(-1, keepdims=True)
        mixed = least - self.rate * np.log(shrink)
        gap = (self.predict() * z).sum(axis=-1) - mixed[..., 0]
        self.total, self.L = self.total + np.maximum(gap, 0.0), L - least
