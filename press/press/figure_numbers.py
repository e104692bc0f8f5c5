"""Compute, with ``ocolib``, the numbers that interactive figures show but do not compute themselves.

`NUMBERS` has one function per figure; `press.sphinx.figures` writes its result as JSON into the page.
"""

import heapq

import numpy as np

from ocolib import adversaries, data, oracle, theorems
from ocolib.game import play
from ocolib.learners import FTRL, OGD, DelayedOGD, Hedge, Perceptron
from ocolib.losses import hinge, perceptron_loss
from ocolib.regularizers import NegativeEntropy, SquaredNorm
from ocolib.sets import Ball, Simplex

DISK = Ball(2)


def rounded(values, digits=6):
    """Return numbers rounded for JSON, nested as given; nan becomes null."""
    if isinstance(values, (list, tuple, np.ndarray)):
        return [rounded(value, digits) for value in values]
    if np.isnan(values):
        return None
    value = round(float(values), digits)
    return int(value) if value == int(value) else value


def step():
    """Return the regret of lazy descent on the disk, for a grid of steps and four adversaries."""
    grid, horizons = 2.0 ** (np.arange(-36, 9) / 4), (16, 64, 256)

    def spiral(T, eta):
        return adversaries.spiral(1.0, 1.0, T, eta) if 1 / T <= eta <= 1 else np.full((T, 2), np.nan)

    losses = {
        "spiral": spiral,
        "straight": lambda T, eta: np.tile([1.0, 0.0], (T, 1)),
        "back": lambda T, eta: np.outer((-1.0) ** np.arange(T), [1.0, 0.0]),
        "random": lambda T, eta: adversaries.random_directions(T, 2, seed=T),
    }

    def regret(Z, eta):
        return np.nan if np.isnan(Z).any() else play(OGD(DISK, eta), Z).regret(DISK)

    return {
        "eta": grid.tolist(),
        "T": horizons,
        "names": {
            "spiral": "the worst: a spiral",
            "straight": "never turns",
            "back": "there and back",
            "random": "random directions",
        },
        "regret": {
            name: {T: rounded([regret(make(T, eta), eta) for eta in grid]) for T in horizons}
            for name, make in losses.items()
        },
    }


def lazy_eager(T=24):
    """Return streams of T losses of length 1 in the plane, to four digits."""
    turning, round_and_round = np.linspace(-0.4, 2.9, T), 2 * np.pi * np.arange(T) / 8
    away = np.repeat([[-1.0, -0.1], [1.0, -0.1]], T // 2, axis=0)
    return {
        "T": T,
        "names": {
            "wind": "a wind that turns",
            "back": "there and back",
            "random": "random directions",
            "circle": "round and round",
        },
        "streams": {
            "wind": rounded(-np.stack([np.cos(turning), np.sin(turning)], axis=1), 4),
            "back": rounded(away / np.linalg.norm(away, axis=1, keepdims=True), 4),
            "random": rounded(adversaries.random_directions(T, 2, seed=9), 4),
            "circle": rounded(np.stack([np.cos(round_and_round), np.sin(round_and_round)], axis=1), 4),
        },
    }


def sunspot_losses(first=22):
    """Return losses, years and names of the seven forecasting rules of the page on experts."""
    years, spots = data.sunspots()
    when = range(first, len(spots))

    def regression(t):
        A = np.column_stack([np.ones(t - 2), spots[1 : t - 1], spots[: t - 2]])
        fit = np.linalg.lstsq(A, spots[2:t], rcond=None)[0]
        return fit @ [1, spots[t - 1], spots[t - 2]]

    rules = {
        "last year": lambda t: spots[t - 1],
        "11 years ago": lambda t: spots[t - 11],
        "trend": lambda t: 2 * spots[t - 1] - spots[t - 2],
        "half the trend": lambda t: 1.5 * spots[t - 1] - 0.5 * spots[t - 2],
        "mean of 11": lambda t: spots[t - 11 : t].mean(),
        "mean so far": lambda t: spots[:t].mean(),
        "regression": regression,
    }
    forecasts = np.array([[rule(t) for rule in rules.values()] for t in when])
    losses = np.abs(np.clip(forecasts, 0, 200) - spots[first:, None]) / 200
    return losses, years[first:], list(rules)


def hedge():
    """Return four streams: cumulative losses at some rounds, and Hedge's regret for each step."""
    grid = 2.0 ** (np.arange(-12, 9) / 2)

    def stream(title, losses, experts, start=0, xlabel="round", ticks=(0, 40, 80, 120), every=2):
        T, n = losses.shape
        sums = np.vstack([np.zeros(n), np.cumsum(losses, axis=0)])
        rounds = np.unique([*range(0, T, every), T])
        regrets = [play(Hedge(n, eta), losses).regret(Simplex(n)) for eta in grid]
        return {
            "title": title,
            "T": T,
            "experts": experts,
            "xlabel": xlabel,
            "ticks": ticks,
            "x": (start + rounds).tolist(),
            "L": rounded(sums[rounds], 4),
            "regret": rounded(regrets),
        }

    named = [f"expert {j}" for j in (1, 2, 3, 4)]
    sun, years, rules = sunspot_losses()
    coins = np.random.default_rng(2).random((120, 4)) < [0.3, 0.5, 0.5, 0.5]
    phases = adversaries.geometric_phases(150)[:, 0]
    turns = np.stack([phases > 0, phases < 0], axis=1)
    decades = (1750, 1800, 1850, 1900, 1950, 2000)
    # the current leader always errs, so the experts err in turn, for every step
    spite = np.eye(4)[np.arange(120) % 4]
    return {
        "eta": grid.tolist(),
        "streams": {
            "sun": stream("sunspots, 1722–2008", sun, rules, int(years[0]), "year", decades, 8),
            "chance": stream("coins, one is better", coins.astype(float), named),
            "spite": stream("spite: leaders err", spite, named, every=1),
            "phases": stream(
                "leaders that change",
                turns.astype(float),
                named[:2],
                ticks=(0, 50, 100, 150),
            ),
        },
    }


def crew(speeds, eta, losses, over, seed):
    """Play workers that read w, compute for a while and then deliver a subgradient.

    As on the page on the parallel online SVM. Return the total loss and, for each round, the worker, the time
    of reading, the time of writing and the delay.
    """
    rng, player = np.random.default_rng(seed), DelayedOGD(over, eta).player()
    X, y, slope = losses.X, losses.y, losses.phi.slope
    plays, rounds, busy = [], [], []

    def read(worker, now):
        t = len(rounds)
        if t < len(losses):
            plays.append(w := player.predict())
            done = now + rng.gamma(4.0, 0.25) / speeds[worker]  # mean 1/speed
            rounds.append([worker, now, done, 0])
            heapq.heappush(busy, (done, t, slope(w @ X[t], y[t]) * X[t]))

    for worker in range(len(speeds)):
        read(worker, 0.0)
    while busy:
        now, t, z = heapq.heappop(busy)
        player.receive([(t + 1, z)])
        rounds[t][3] = len(rounds) - 1 - t  # reads between its own read and its arrival
        read(rounds[t][0], now)
    return losses.values(np.array(plays)).sum(), rounds


def delay(T=400, dim=6, radius=3.0, shown=24):
    """Return delay, regret for two steps and a timeline, for crews of 1 to 64 on hinge losses."""
    X, y, _ = adversaries.separable(T, dim, margin=0.02, seed=3)
    y = np.where(np.random.default_rng(3).random(T) < 0.1, -y, y)
    losses, over, G = hinge(X, y), Ball(dim, radius), np.linalg.norm(X, axis=1).max()
    offline = losses.values(oracle.best_point(losses, over)).sum()
    workers = (1, 2, 4, 8, 16, 32, 64)

    def row(m, kind):
        speeds = np.ones(m)
        if kind == "slow" and m > 1:
            speeds[-1] = 0.1
        careless, rounds = crew(speeds, radius / (G * np.sqrt(T)), losses, over, m)
        late = [entry[3] for entry in rounds]
        eta = radius / (G * np.sqrt(T + 2 * theorems.delayed.overlaps(late).sum()))
        careful, _ = crew(speeds, eta, losses, over, m)  # the timing does not depend on the step
        return {
            "delay": rounded(np.mean(late), 4),
            "time": rounded(max(write for _, _, write, _ in rounds), 3),  # when the last gradient arrives
            "careless": rounded(careless - offline, 3),
            "careful": rounded(careful - offline, 3),
            "bound": rounded(theorems.DelayedConstant(radius, G, late, eta).bound, 3),
            "bars": [[w, *rounded([a, b], 2), d] for w, a, b, d in rounds[:shown]],
        }

    return {
        "T": T,
        "shown": shown,
        "workers": workers,
        "crews": {kind: [row(m, kind) for m in workers] for kind in ("equal", "slow")},
    }


SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)


def disk_losses(game, T, eta):
    """Return the T losses on the unit disk of one of the three games."""
    return {
        "random": adversaries.random_directions(T, 2, seed=4),
        "hostile": adversaries.spiral(1.0, 1.0, T, float(np.clip(eta, 1 / T, 1))),
        "straight": np.tile([1.0, 0.0], (T, 1)),
    }[game]


def leader(over, eta):
    """Return lazy descent in the form that Theorem 1 is about."""
    return FTRL(over, SquaredNorm(), eta)


def on_disk(theorem, T, learner=OGD):
    """Return a function (game, c) -> chain of numbers, for T rounds on the unit disk with step c/√T."""

    def played(game, c):
        eta = c / np.sqrt(T)
        trace = play(learner(DISK, eta), disk_losses(game, T, eta))
        best = DISK.minimize_linear(trace.subgradients.sum(axis=0))
        return theorem(trace, best).proof(trace, best)

    return played


def on_simplex(game, c, n=4, T=16):
    """Return the chain of (17.2) with entropy and losses in [0, 1]; the step is c times the best one."""
    S, R = Simplex(n), NegativeEntropy()
    eta = c * theorems.FTRLTunedSharp(R.range(S), 1.0, T).step
    losses = {
        "random": np.random.default_rng(3).random((T, n)),
        "hostile": np.eye(n)[np.arange(T) % n],
        "straight": np.tile([0.0, 1.0, 1.0, 1.0], (T, 1)),
    }[game]
    trace = play(FTRL(S, R, eta), losses)
    return theorems.FTRL.of(trace, rho=1.0).proof(trace, S.minimize_linear(losses.sum(axis=0)))


def mistakes(game, c):
    """Return the chain of the Perceptron's mistake bound."""
    X, y, u = {
        "random": lambda: adversaries.separable(40, 2, margin=0.2, seed=22),
        "hostile": lambda: (np.eye(9), np.ones(9), np.full(9, 1 / 3)),
        "straight": lambda: (
            np.tile([0.6, 0.8], (9, 1)),
            np.ones(9),
            np.array([0.6, 0.8]),
        ),
    }[game]()
    trace = play(Perceptron(X.shape[1]), perceptron_loss(X, y))
    R, margin = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    return theorems.Perceptron(R, margin).proof(trace, u)


# Apart from `on_simplex` and `mistakes`, the only lines that name theorems.
PROOFS = {
    "leader": ("Theorem 1", on_disk(theorems.Stability.of, T=4, learner=leader)),
    "descent": (
        "Theorem 2, lecture",
        on_disk(lambda trace, u: theorems.Descent.of(trace, 2.0, 1.0), T=16),
    ),
    "sharp": (
        "Theorem 2, sharp",
        on_disk(lambda trace, u: theorems.DescentSharp.of(trace, 1.0, 1.0), T=16),
    ),
    "ftrl": ("(17.2), entropy", on_simplex),
    "mistakes": ("Mistake bound", mistakes),
}


def waterfall():
    """Return every proof in every game: the value of each line, and its justification."""
    games = {
        "random": "chance",
        "hostile": "a hostile adversary",
        "straight": "the same loss again",
    }
    chains = {}
    for name, (title, chain) in PROOFS.items():
        scales = SCALES if name != "mistakes" else (1.0,)
        played = {game: [chain(game, c) for c in scales] for game in games}
        lines = played["random"][0].lines
        chains[name] = {
            "title": title,
            "formulas": [line.formula for line in lines],
            "reasons": [line.reason for line in lines],
            "values": {game: [rounded(c.values) for c in found] for game, found in played.items()},
        }
    return {"scales": SCALES, "games": games, "chains": chains}


def none():
    """Return nothing: this figure is computed in the page, by formulas that a test compares with ocolib."""


NUMBERS = {
    "projection": none,
    "fan": none,
    "adversary": none,
    "duel": none,
    "step": step,
    "lazy-eager": lazy_eager,
    "hedge": hedge,
    "perceptron": none,
    "delay": delay,
    "waterfall": waterfall,
    "triangle": none,
}
