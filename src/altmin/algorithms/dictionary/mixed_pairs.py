r"""Two atoms that are mixed up: the mistake that exact zeros alone don't show.

A rotation of two true atoms, for example :math:`(x_1 \pm x_2)/\sqrt2`, also has many exact zeros, and a
polish keeps it. But its codes share their support: samples with :math:`x_1 = 0` lie on a line
:math:`z_i = c z_j`, so :math:`z_i - c z_j` has more zeros than :math:`z_i`. The gain is at most

.. math:: n_{ij} - (n_j - n_{ij})

samples, with n_j that use j and n_ij that use both, so counts of supports clear almost all pairs at once. It
is weighed against n_j: where atoms are rare, what a mixed pair gains is rare among all samples, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import signals
from altmin.contract import Block, Concat, Stats
from altmin.kernels.compiled import compiled
from altmin.kernels.gram import times

_SUSPECT = -0.1  # pairs whose gain of zeros is known to be below this share of the uses are cleared
_LEAST = 0.05  # share of the uses that a pair gains if it is mixed up
_ON_LINE = 1e-6  # relative distance at which a ratio of two codes counts as equal to another


def support_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """How many samples use each pair of atoms (each atom: on the diagonal), and how many use any."""
    used = (np.abs(times(signals(state, block), state.decoder)) >= state.thresholds).astype(np.float32)
    return {"joint": (used.T @ used).astype(np.float64), "active": int(used.any(axis=1).sum())}


def ratio_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Codes of the atoms under suspicion, zeros exact."""
    atoms = np.unique(state.search.suspects)
    Z = times(signals(state, block), np.ascontiguousarray(state.decoder[:, atoms]))
    Z[np.abs(Z) < state.thresholds[atoms]] = 0.0
    return {"codes": Concat(Z)}


def fewest_zeros(stats: Stats) -> int:
    """Samples that use other atoms but not this one, for the atom with the fewest of them."""
    return int(stats["active"] - stats["joint"].diagonal().max())


def suspicious_pairs(joint: NDArray[Any]) -> NDArray[np.intp]:
    """Ordered pairs (i, j) for which z_i - c z_j may have more zeros than z_i, worst first."""
    uses = np.diag(joint)
    gain = 2 * joint / np.maximum(uses, 1.0) - 1
    np.fill_diagonal(gain, -1.0)
    pairs = np.argwhere(gain > _SUSPECT)
    return pairs[np.argsort(-gain[tuple(pairs.T)], kind="stable")]


def zeros_gained(z: NDArray[Any], other: NDArray[Any]) -> tuple[float, float]:
    """The c for which z - c other has most zeros, and their increase as a share of the uses of the other."""
    c, most, lost = _most_on_a_line(z, other, _ON_LINE)
    return float(c), (most - lost) / max(np.count_nonzero(other), 1)


@compiled
def _most_on_a_line(z, other, near):  # type: ignore[no-untyped-def] # numba
    """Most common ratio z / other, how often it occurs, and how many zeros of z are not zeros of other."""
    ratios, n, lost = np.empty(len(z)), 0, 0
    for t in range(len(z)):
        if other[t] != 0:
            if z[t] != 0:
                ratios[n] = z[t] / other[t]
                n += 1
            else:
                lost += 1
    ratios = np.sort(ratios[:n])
    c, most, end = 0.0, 0, 0
    for start in range(n):
        limit = ratios[start] + near * (1 + abs(ratios[start]))
        while end < n and ratios[end] <= limit:
            end += 1
        if end - start > most:
            most = end - start
            c = 0.5 * (ratios[start + (most - 1) // 2] + ratios[start + most // 2])  # their median
    return c, most, lost


def unmixed(W: NDArray[Any], suspects: NDArray[np.intp], codes: NDArray[Any]) -> NDArray[Any]:
    """Decoder rows with each mixed pair taken apart; the same array where nothing is gained.

    One row after the other, each against the codes as they are by then: two rows of a mixed pair judged
    against the old codes could both become the same atom.
    """
    column = {atom: k for k, atom in enumerate(np.unique(suspects))}
    parted, rows, done = W, np.array(codes.T, order="C"), set()
    for i, j in suspects:
        z, other = rows[column[i]], rows[column[j]]
        c, gain = zeros_gained(z, other)
        if gain <= _LEAST or i in done:
            continue
        parted = parted.copy() if parted is W else parted
        parted[i] -= c * parted[j]
        left = z - c * other
        rows[column[i]] = np.where(np.abs(left) > _ON_LINE * (np.abs(z) + np.abs(c * other)), left, 0.0)
        done.add(i)
    return parted
