"""Adversaries made for one theorem: each comes near what the theorem promises."""

import numpy as np

from ocolib.losses import perceptron_loss


def spiteful_to_winnow(n, k, theta):
    """Demote the heaviest irrelevant variables while they reach θ; else promote as much weight as fits."""

    def adversary(t, w, past):
        x, order = np.zeros(n), k + np.argsort(-w[k:], kind="stable")
        if w[k:].sum() >= theta:
            x[order[: 1 + np.searchsorted(np.cumsum(w[order]), theta)]] = 1.0
            return perceptron_loss([x], [-1], theta)[0]
        x[np.argmin(w[:k])] = 1.0
        for i in order:
            x[i] = w @ x + w[i] <= theta
        return perceptron_loss([x], [1], theta)[0]

    return adversary


def spiteful_to_normalized_winnow(n, margin):
    """x_1 = γ, and the rest ±1 so that ⟨w, x⟩ is just not positive: an update that teaches the least."""

    def adversary(t, w, past):
        x, order = np.full(n, -1.0), 1 + np.argsort(-w[1:], kind="stable")
        x[0], down, up = margin, order[::2], order[1::2]
        gain, room = margin * w[0] + w[up].sum(), w[down].sum()
        if gain <= room:
            x[up], x[down] = 1.0, -gain * (1 + 1e-9) / room
        else:
            x[up] = (room * (1 - 1e-9) - margin * w[0]) / max(w[up].sum(), 1e-300)
        return perceptron_loss([np.clip(x, -1, 1)], [1])[0]

    return adversary


def static_worst(T, scale=1.0):
    """On [0, 1] from 0, against η_t = scale/√t: zigzag, then a drag to the upper end."""
    t = np.arange(1, T + 1)
    z = -np.ones(T)
    zigzag = (T - int(np.ceil(np.sqrt(T) / scale))) // 2 * 2
    z[0:zigzag:2] = -np.sqrt(t[0:zigzag:2] / (t[0:zigzag:2] + 1))
    z[1:zigzag:2] = 1.0
    return z[:, None]


def blind(T, tau):
    """Adversaries against a delay on [−1, 1]: same sign for τ + 1 rounds, never turn, uphill of the play."""
    block = np.where((np.arange(T) // (tau + 1)) % 2 == 0, 1.0, -1.0)[:, None]
    return [block, np.ones((T, 1)), lambda t, w, past: np.where(w >= 0, 1.0, -1.0)]
