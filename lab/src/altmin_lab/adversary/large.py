"""Kinds of the size that people have, for spot checks and no part of a round.

``campaign.examine(large(kind), number, seed)`` fits one, most in seconds, and asks for its reports. Where the
target of a law is a curve, the closest quadratic takes minutes and a gigabyte.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from altmin_lab.adversary.compose import Draft, Part, between, whole
from altmin_lab.adversary.cones import features
from altmin_lab.adversary.dictionaries import atoms
from altmin_lab.adversary.kinds import Kind
from altmin_lab.adversary.quadratics import Law, low_rank


def _atoms(rng: np.random.Generator, orthogonal: bool, noise: float = 0.0) -> Draft:
    """20 to 60 atoms, two to five of them in each of 5,000 to 20,000 samples."""
    k, n = whole(rng, 20, 60), whole(rng, 5_000, 20_000)
    x = rng.standard_normal((n, k))
    codes = np.sign(x) * (0.5 + np.abs(x)) * (rng.random((n, k)) < rng.uniform(2, 5) / k)
    return Draft(rng, atoms(rng, k, k, orthogonal), codes, noise=noise)


def _mixtures(rng: np.random.Generator, noise: float = 0.0, counts: float = 0.0) -> Draft:
    """20 to 60 features, a few of them in each of 5,000 to 20,000 samples, each alone in 20 and more."""
    D, n, W = whole(rng, 20, 60), whole(rng, 5_000, 20_000), whole(rng, 200, 500)
    codes = rng.dirichlet(np.full(D, 3 / D), n)
    codes[: 20 * D] = np.repeat(np.eye(D), 20, axis=0)
    codes = np.where(codes < 0.02, 0.0, codes)
    codes = rng.permutation(codes / codes.sum(axis=1, keepdims=True))
    return Draft(rng, features(rng, D, W, "sparse"), codes, noise=noise, counts=counts)


def _law(rng: np.random.Generator, linear: bool, noise: float = 0.0) -> Law:
    """30 to 60 features, a quadratic of rank one to three, and 5,000 to 20,000 rows."""
    d, k, n = whole(rng, 30, 60), whole(rng, 1, 3), whole(rng, 5_000, 20_000)

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.standard_normal((n, d))

    w = rng.standard_normal(d) / np.sqrt(d) if linear else np.zeros(d)
    return Law(rng, draw(rng, n), w, low_rank(rng, d, k), k, draw, noise)


def _some_noise(rng: np.random.Generator) -> float:
    """15 to 40 dB."""
    return float(10 ** (-rng.uniform(15, 40) / 20))


_ATOMS = {
    "clean": Part("many atoms", _atoms),
    "noisy": Part("many atoms, noise", lambda rng, o: _atoms(rng, o, _some_noise(rng)), group="noisy"),
}
_LAWS = {
    "clean": Part("many columns", _law),
    "noisy": Part("many columns, noise", lambda rng, o: _law(rng, o, between(rng, 0.01, 0.3)), group="noisy"),
}
_MIXTURES = {
    "clean": Part("many features", _mixtures),
    "noisy": Part("many features, noise", lambda rng: _mixtures(rng, _some_noise(rng)), group="noisy"),
    "counts": Part("many features, counts",
                   lambda rng: _mixtures(rng, counts=between(rng, 1_000, 20_000)), group="counts"),
}  # fmt: skip
_BASES = {
    "and": _MIXTURES,
    **dict.fromkeys(("complete", "orthogonal", "online"), _ATOMS),
    **dict.fromkeys(("machine", "sensing"), _LAWS),
}


def large(kind: Kind) -> Kind:
    """The same perturbation of a large base, with noise or counts if the small one has them."""
    return replace(kind, base=_BASES[kind.family][kind.base.group])
