r"""Starts on whitened data: rotations whose codes look least Gaussian.

With :math:`V = Y P` white, the codes of the true dictionary are nearly :math:`V W^\top` for a rotation W.
The symmetric fixed point of a contrast with derivative g (Hyvarinen 1999) finds it,

.. math:: W \leftarrow \mathrm{Polar}\big(E[g(z)\,v^\top] - \mathrm{diag}(E[g'(z)])\, W\big),

from a random rotation. Which contrast works depends on the codes: +-1 codes of density 1/3 have no excess
kurtosis, for denser ones its sign turns, and where samples are few all symmetric iterations fail although
single directions are still found. So there is a portfolio, the last resort of which is a bank of many
independent one-unit searches; true directions stand out by their small mean |z|.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Block, Stats
from altmin.kernels.contrasts import cube_score, huber_score
from altmin.kernels.gram import times, transpose_times
from altmin.kernels.polar import polar

PORTFOLIO = (
    "huber 1",
    "huber 0.5",
    "cube",
    "descent",
    "huber 0.25",
    "huber 1",
    "bank 12",
    "bank 40",
    "bank 40",
)
"""Kinds of start in the order in which they are tried, with the width of the Huber function or the number
of searches for each atom."""

_SAME = 0.7  # |cos| above which two directions of a bank are the same atom


def random_rotation(n: int, seed: list[int]) -> NDArray[Any]:
    """A random orthogonal matrix."""
    return polar(np.random.default_rng(seed).standard_normal((n, n)))


def random_directions(m: int, n: int, seed: list[int]) -> NDArray[Any]:
    """Random unit vectors."""
    W = np.random.default_rng(seed).standard_normal((m, n))
    return np.asarray(W / np.linalg.norm(W, axis=1, keepdims=True))


def contrast_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """E[g(z) x'] and E[g'(z)] of a block, for the contrast of the current start."""
    Z = times(block.X, state.decoder)
    kind, width = contrast_of(state.search.kind)
    slope = cube_score(Z) if kind == "cube" else huber_score(Z, width)
    return {"cross": transpose_times(Z, block.X).astype(np.float64), "slope": slope, "n_rows": block.n_rows}


def contrast_of(kind: str) -> tuple[str, float]:
    """Contrast and width; a bank searches with the Huber function of width 1/2."""
    name, _, number = kind.partition(" ")
    if name == "bank":
        return "huber", 0.5
    return name, float(number or 0)


def unit_rows(W: NDArray[Any], fallback: NDArray[Any]) -> NDArray[Any]:
    """Rows scaled to unit norm; a row that vanished is taken from the fallback."""
    norms = np.linalg.norm(W, axis=1, keepdims=True)
    return np.where(norms > 0, W / np.where(norms > 0, norms, 1.0), fallback)


def spread_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Sums of |z| and z^2 of each direction, by which directions and candidates are judged."""
    Z = times(block.X, state.decoder)
    np.abs(Z, out=Z)
    return {
        "absolute": Z.sum(axis=0, dtype=np.float64),
        "squares": np.einsum("ij,ij->j", Z, Z, dtype=np.float64),
        "n_rows": block.n_rows,
    }


def mean_absolute(stats: Stats) -> NDArray[Any]:
    """E|z| / rms(z) of each direction: .8 for a Gaussian, sqrt(theta) for +-1 codes of density theta."""
    rms = np.sqrt(stats["squares"] / stats["n_rows"])
    return np.asarray(stats["absolute"] / stats["n_rows"] / np.where(rms > 0, rms, 1.0))


def distinct_directions(W: NDArray[Any], scores: NDArray[Any], n: int, seed: list[int]) -> NDArray[Any]:
    """The best n distinct directions of a bank, made into a rotation.

    Greedy by score; where fewer than n are distinct, random directions fill up.
    """
    kept = np.zeros((0, W.shape[1]))
    for direction in W[np.argsort(scores, kind="stable")]:
        if len(kept) == n:
            break
        if np.all(np.abs(kept @ direction) < _SAME):
            kept = np.vstack([kept, direction])
    filled = np.vstack([kept, 0.1 * random_directions(n - len(kept), W.shape[1], seed)])
    return polar(filled)


def agree(W: NDArray[Any], other: NDArray[Any], least: float = 0.9) -> bool:
    """Whether two rotations have the same rows up to order and sign, each to within |cos| >= ``least``."""
    cosine = np.abs(unit_rows(W, W) @ unit_rows(other, other).T)
    match = cosine.argmax(axis=1)
    return len(set(match)) == len(match) and bool(np.all(cosine.max(axis=1) >= least))
