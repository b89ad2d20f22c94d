"""Perturbations of non-negative factorizations on which rules may be tuned: a term that nobody asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin_lab.adversary.compose import Array, Draft, Part, between, whole
from altmin_lab.adversary.cones import features


def _amount(d: Draft) -> Array:
    """How much of the term a sample holds: by its weights, its place, or of its own."""
    n, D = d.codes.shape
    i, j = d.rng.permutation(D)[:2]
    t = np.linspace(0, 1, n)
    own, other = d.codes[:, i] / d.codes[:, i].max(), d.codes[:, j] / d.codes[:, j].max()
    found: tuple[Any, ...] = (
        own**2,
        np.sqrt(own),
        own * (other > np.median(other)),
        np.abs(own - other),
        own * t,
        t**2,
        own * d.rng.random(n),
        d.rng.random(n),
        (own > d.rng.uniform(0.2, 0.8)).astype(float),
        np.where(d.rng.random(n) < d.rng.uniform(0.05, 0.5), own, 0.0),
    )
    return np.asarray(found[whole(d.rng, 0, 9)])


def _direction(d: Draft) -> Array:
    """Of the term: a feature of its own, a difference of two, a wave, or a few features of the table."""
    W = d.factors.shape[1]
    size = float(np.abs(d.factors).mean())
    x = np.arange(W) / W
    found: tuple[Any, ...] = (
        features(d.rng, 1, W, "sparse")[0] * size,
        features(d.rng, 1, W, "dense")[0] * size,
        features(d.rng, 1, W, "sparse")[0] * size - d.factors[0],
        size * (1 + np.cos(2 * np.pi * (d.rng.uniform(0.3, 3.0) * x + d.rng.random()))),
        size * 5.0 * (d.rng.random(W) < 0.1),
    )
    return np.asarray(found[whole(d.rng, 0, 4)])


def hidden_term(d: Draft) -> None:
    """Something of its own is added, as much as some function of the weights or of the place says."""
    d.holds = d.sound = False
    extra = between(d.rng, 0.05, 1.0) * _amount(d)[:, None] * _direction(d)
    d.after.append(lambda X: X + extra)


def seasons(d: Draft) -> None:
    """A feature turns into another one and back, several times."""
    d.holds = d.sound = False
    t = np.linspace(0, 1, len(d.codes))[:, None]
    phase = 0.5 + 0.5 * np.sin(2 * np.pi * (d.rng.uniform(0.5, 3.0) * t + d.rng.random()))
    other = features(d.rng, 1, d.factors.shape[1], "sparse") - d.factors[:1]
    extra = between(d.rng, 0.1, 1.0) * phase * d.codes[:, :1] * other
    d.after.append(lambda X: X + extra)


def wavy_baseline(d: Draft) -> None:
    """A slow wave of its own size is added to each sample."""
    d.holds = d.sound = False
    x = np.arange(d.factors.shape[1]) / d.factors.shape[1]
    wave = 1 + np.cos(2 * np.pi * (d.rng.uniform(0.2, 2.0) * x + d.rng.random()))
    size = d.rng.uniform(0, between(d.rng, 0.1, 0.6), (len(d.codes), 1))
    d.after.append(lambda X: X + size * np.abs(X).mean() * wave)


def threshold(d: Draft) -> None:
    """What is measured begins at a level: all values lose it, before the noise."""
    d.holds = d.sound = False
    level = between(d.rng, 0.05, 0.5)
    size = np.abs(d.codes @ d.factors)
    d.by_nature = bool(np.mean(size < level * size.mean()) <= 0.01)
    d.after.append(lambda X: np.sign(X) * np.maximum(np.abs(X) - level * np.abs(X).mean(), 0.0))


HIDDEN_TERMS = tuple(Part(act.__name__.replace("_", " "), act) for act in (
    hidden_term, seasons, wavy_baseline, threshold,
))  # fmt: skip
