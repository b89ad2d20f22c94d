r"""Starts in the data's own coordinates: online dictionary learning with an l1 penalty (Mairal et al. 2009).

.. math:: \min_{A, X} \tfrac12 \|Y - X A\|_F^2 + \lambda \|X\|_1, \qquad \|a_j\| = 1

Whitening makes white noise coloured, so that two searches on whitened data may agree on the same wrong
dictionary. A penalised search doesn't whiten: where it agrees with one that does, both are believed.
Each step codes a few samples by the lasso, adds to sums that forget, and takes each atom in turn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import signals
from altmin.algorithms.dictionary.rotations import random_directions
from altmin.contract import Block, Stats, record
from altmin.kernels.lasso import lasso_codes

if TYPE_CHECKING:
    from altmin.algorithms.dictionary.complete import CompleteState

_BATCH = 256  # samples of a step
_FORGET = 3.0  # the sums of step t weigh (1 - 1/t)^3 in the next


@record
class L1Sums:
    """Weighted sums of codes times codes, and of codes times samples."""

    gram: Any
    cross: Any


def first_atoms(k: int, n: int, seed: list[int]) -> tuple[NDArray[Any], L1Sums]:
    """Random atoms, and empty sums."""
    return random_directions(k, n, seed), L1Sums(np.zeros((k, k)), np.zeros((k, n)))


def penalty(kind: str, step: int) -> float:
    """The penalty of a step, in units of the rms norm of the samples: 'l1 first last steps', geometric."""
    first, last, steps = (float(word) for word in kind.split()[1:])
    return float(first * (last / first) ** min(step / steps, 1.0))


def n_steps(kind: str) -> int:
    """Steps of a start."""
    return int(kind.split()[-1])


def l1_map(algorithm: Any, state: CompleteState, block: Block) -> Stats:
    """Lasso codes of some samples of a block, drawn by the block's own random numbers."""
    X = signals(state, block)
    X = X[np.sort(block.rng().permutation(block.n_rows)[:_BATCH])]
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64) / state.scale
    size = float(np.sqrt(state.frame.energy))
    level = penalty(state.search.kind, state.progress.passes) * size
    Z = lasso_codes(X, state.atoms, level, tol=1e-3, max_sweeps=100)
    return {"gram": Z.T @ Z, "cross": Z.T @ X}


def l1_step(state: CompleteState, stats: Stats) -> CompleteState:
    """One sweep of block coordinate descent over the atoms; an atom that is never used starts anew."""
    step, k = state.progress.passes, len(state.atoms)
    kept = (1 - 1 / (step + 1)) ** _FORGET
    gram = kept * state.sums.gram + stats["gram"]
    cross = kept * state.sums.cross + stats["cross"]
    atoms, used = state.atoms.copy(), gram.diagonal() > 1e-8 * np.trace(gram)
    for j in np.flatnonzero(used):
        moved = atoms[j] + (cross[j] - gram[j] @ atoms) / gram[j, j]
        atoms[j] = moved / max(float(np.linalg.norm(moved)), 1e-300)
    fresh = random_directions(k, atoms.shape[1], [state.seed, 11, step])
    atoms = np.where(used[:, None], atoms, fresh)
    progress = replace(state.progress, passes=step + 1)
    state = replace(state, atoms=atoms, sums=L1Sums(gram, cross), progress=progress)
    return replace(state, phase="penalised") if step + 1 >= n_steps(state.search.kind) else state
