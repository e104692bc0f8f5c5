"""State the bound on the risk of gradient descent for separable logistic regression (Lecture 17, step 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocolib import validate
from ocolib.adversaries import separable
from ocolib.game import play
from ocolib.learners import OGD
from ocolib.sets import Space
from ocolib.theorems.base import Chain, Game, Line, Theorem, eager, most, same_step, squares


class Risk:
    """Represent the logistic risk L(w) = mean of log(1 + exp(−y_i⟨w, x_i⟩)) as a loss.

    >>> risk = Risk([[1.0], [2.0]], [1, 1])
    >>> print(round(risk.value(np.zeros(1)), 4), risk.subgradient(np.zeros(1)))
    0.6931 [-0.75]
    """

    def __init__(self, X: Any, y: Any) -> None:
        X = validate.array("X", X, ndim=2)
        self.signed = validate.labels("y", y, len(X))[:, None] * X  #: the rows y_i·x_i
        self.dim = X.shape[1]

    @property
    def smoothness(self) -> float:
        """Return λ = σ_max(X)²/(4n); the gradient is λ-Lipschitz."""
        return float(np.linalg.norm(self.signed, 2) ** 2 / (4 * len(self.signed)))

    def value(self, w: np.ndarray) -> Any:
        """Return L(w) for one point w or for each row of w."""
        return np.logaddexp(0.0, -np.asarray(w) @ self.signed.T).mean(axis=-1)

    def subgradient(self, w: np.ndarray) -> np.ndarray:
        """Return the gradient of L at w."""
        return -(self.signed / (1 + np.exp(self.signed @ w))[:, None]).mean(axis=0)


@dataclass(frozen=True, eq=False)
class LogisticDescent(Theorem):
    """Bound the risk of gradient descent on separable logistic regression (Lecture 17, step 1).

    Let a unit vector u satisfy y_i⟨u, x_i⟩ ≥ γ > 0 for all n examples. Gradient descent from 0 on the
    logistic risk L, with step size η ≤ 1/λ and λ = σ_max(X)²/(4n), satisfies L(w) ≤ 1/t + log²(t)/(2ηγ²t)
    after t ≥ 1 steps. `t` may be an array. The worst known game attains 0.693 of the bound, at t = 1.

    >>> print(LogisticDescent(margin=1, t=1, eta=1).bound)
    1.0
    """

    item, kind, tightness = "ma17.step1", "upper", np.log(2) * (1 - 1e-5)
    margin: float
    t: Any
    eta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        t = np.asarray(self.t, dtype=float)
        if not (t >= 1).all():
            raise ValueError(f"t must be ≥ 1, got {t.min():g}")
        object.__setattr__(self, "t", t)

    @property
    def step(self) -> float:
        """Return η, which may be any number in (0, 1/λ]."""
        return self.eta

    @property
    def bound(self) -> Any:
        """Return 1/t + log²(t)/(2ηγ²t)."""
        return 1 / self.t + np.log(self.t) ** 2 / (2 * self.eta * self.margin**2 * self.t)

    def hypotheses(self, trace: Any, u: Any = None) -> dict[str, bool]:
        """Check every hypothesis of the theorem on this game and comparator."""
        risk: Any = trace.losses[0] if isinstance(trace.losses, list) else None
        one = isinstance(risk, Risk) and all(f is risk for f in trace.losses)
        u = np.asarray(u, dtype=float)
        shaped = u.shape == (trace.dim,)
        return {
            "gradient descent (eager OGD, no projection) with the step η": eager(trace)
            and isinstance(trace.learner.over, Space)
            and same_step(trace.learner.eta, self.eta),
            "the same logistic risk in every round": one,
            "t steps": bool(np.ndim(self.t) == 0 and trace.rounds == self.t),
            "w_1 = 0": not trace.points[0].any(),
            "η ≤ 1/λ": one and most(self.eta * risk.smoothness, 1.0),
            "‖u‖ = 1": shaped and bool(np.isclose(np.linalg.norm(u), 1.0)),
            "u has margin at least γ on all examples": one
            and shaped
            and most(self.margin, (risk.signed @ u).min()),
        }

    def measure(self, trace: Any, u: Any = None) -> Any:
        """Return L(w) after t steps."""
        return float(trace.losses[0].value(trace.last))

    def chain(self, trace: Any, u: Any = None) -> Chain:
        """Evaluate the proof: descent on a smooth convex function, compared with v = (log t/γ)·u."""
        risk, w, t, eta = trace.losses[0], trace.plays, trace.rounds, self.eta
        v = np.log(t) / self.margin * validate.vector("u", u, trace.dim)
        there, away = float(risk.value(v)), squares(w[-1], v) / (2 * eta * t)
        start = squares(v) / (2 * eta * t)
        return Chain(
            "Step 1: the risk goes to 0",
            (
                Line(self.measure(trace), "L(w_{t+1})"),
                Line(
                    float(risk.value(w[1:]).mean()),
                    "mean of L(w_2), …, L(w_{t+1})",
                    "η ≤ 1/λ: the risk never grows",
                ),
                Line(
                    there + start - away,
                    "L(v) + (‖v‖² − ‖w_{t+1} − v‖²)/2ηt",
                    "L is convex and smooth; the squares telescope",
                ),
                Line(there + start, "L(v) + ‖v‖²/2ηt", "a square is dropped"),
                Line(
                    np.log1p(1 / t) + start, "log(1 + 1/t) + ‖v‖²/2ηt", "v = (log t/γ)u has margins ≥ log t"
                ),
                Line(self.bound, "1/t + log²t/2ηγ²t", "log(1 + x) ≤ x, ‖u‖ = 1"),
            ),
        )

    @classmethod
    def games(cls, rng: np.random.Generator) -> Iterator[Game]:
        """Play random separable samples after 1, 2, …, 50 steps."""
        for t in (1, 2, 5, 20, 50):
            X, y, u = separable(30, 3, 0.2, rng)
            risk, margin = Risk(X, y), (y * (X @ u)).min()
            eta = rng.uniform(0.2, 1.0) / risk.smoothness
            yield cls._game(risk, margin, t, eta, u)
        yield cls._game(Risk(np.ones((1, 1)), [1.0]), 1.0, 9, 4.0, np.ones(1))

    @classmethod
    def worst(cls) -> Game:
        """Play one tiny step on one example: the risk stays near log 2, while the bound is 1."""
        return cls._game(Risk(np.ones((1, 1)), [1.0]), 1.0, 1, 4e-6, np.ones(1))

    @classmethod
    def _game(cls, risk, margin, t, eta, u):
        trace = play(OGD(Space(risk.dim), eta, "eager"), [risk] * t)
        return cls(margin, t, eta), trace, u
