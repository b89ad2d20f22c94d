r"""Sweeps that improve a dictionary: encode, solve for the atoms, swap weak ones.

.. math:: \min_{A, Y} \sum_i w_i \|x_i - y_i A\|^2, \qquad \|y_i\|_0 \le k, \quad \|a_j\| = 1

A sweep is one pass: orthogonal matching pursuit on each row, and the sums G = sum w y'y, B = sum w y'x.
From these alone the atoms are updated one after the other (block coordinate descent, as K-SVD and
online dictionary learning do). A second pass, much cheaper than the pursuit, fits the codes to these atoms
on the supports that they have, and the atoms once more: alone, either holds the other back.

Every few sweeps weak atoms are **swapped** for threshold-correlation directions of the residuals
(`swap_atoms`): the directions join the dictionary, all atoms settle for a few sweeps,
then as many of the weakest leave. A swap that hasn't paid a few sweeps later is undone; the second such
is the last.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.overcomplete.swap_atoms import propose, update_atoms, weak_atoms
from altmin.algorithms.overcomplete.unit_rows import reservoir, row_weights, squares_left, unit_rows
from altmin.contract import Block, Stats, record
from altmin.kernels.peel import add_moments, refit_codes, subtract_codes
from altmin.kernels.pursuit import Pursuit, SparseRows

SUPPORTS = ("sweep_atoms", "sweep_counts", "sweep_weights")  # columns that a sweep leaves for the refit
_BINS = 2048  # of the histogram of row errors, from 1e-12 to 1 on a logarithmic scale
_LOWEST = -12.0
_SAMPLE = 1024  # rows among which swap directions are looked for
_PAYS = 0.99  # error after a swap, relative to before, that shows that it paid
_WORTH = 0.01  # share of the error that a direction must explain to join
_FAILURES = 2  # swaps that didn't pay before no more are tried


@record
class SweepPlan:
    """Sparsity and rhythm of the sweeps."""

    n_nonzero: int
    tol: float = 0.0  # squared error of a unit row at which its coding stops
    trim: float = 0.0  # share of the rows left out of the sums, worst first
    inner: int = 2  # passes over the atoms for each pass over the data
    swap_every: int = 3
    max_atoms: int = 0  # the dictionary may grow up to this (0: its size is fixed)
    target: float = 0.0  # growing stops at this error


@record
class SweepState:
    """Dictionary, the best one so far, and what the sums of the last sweep said."""

    atoms: Any
    best: Any
    sweep: int = 0
    error: float = np.inf
    best_error: float = np.inf
    before_swap: float = np.inf
    failures: int = 0  # swaps that didn't pay
    extra: int = 0  # atoms that joined and have yet to be weighed against the others
    swapped: int = 0  # atoms of the last swap
    cut: float = np.inf  # rows with a larger error are trimmed
    change: float = np.inf
    energy: Any = None  # (m,) sum of w y_j^2
    refit: bool = False  # whether the codes of the last sweep are to be fitted again


def begin_sweeps(atoms: NDArray[Any]) -> SweepState:
    """Sweeps from this dictionary."""
    return SweepState(atoms, atoms)


def encode(plan: SweepPlan, atoms: NDArray[Any], U: NDArray[Any]) -> SparseRows:
    """Sparse codes of unit rows: the one coder of sweeps, ``codes_`` and ``transform``."""
    return Pursuit(atoms, plan.n_nonzero)(U, plan.tol)


def sweep_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, NDArray[Any]]]:
    """Encode a block and sum up what the dictionary update needs."""
    plan, sweep = algorithm.sweeps, state.sweep
    U, norms = unit_rows(block.X)
    w = row_weights(norms, algorithm.equal, state.longest)
    code = encode(plan, sweep.atoms, U)
    Z = U.copy()
    subtract_codes(Z, code.atoms, code.codes, code.counts, sweep.atoms)
    left = squares_left(Z)
    kept = np.where(left <= sweep.cut, w, 0.0)
    m, d = sweep.atoms.shape
    G, B = np.zeros((m, m)), np.zeros((m, d))
    add_moments(U, kept, code.atoms, code.codes, code.counts, G, B)
    stats = {"G": G, "B": B, "left": float((kept * left).sum()), "total": float(kept.sum())}
    if plan.trim:
        stats["histogram"] = error_histogram(left[norms > 0])
    if swap_is_due(plan, sweep) and not sweep.extra:
        stats["drawn"] = reservoir(block, w * left, _SAMPLE, U)
    columns = (code.atoms.astype(np.int32), code.counts.astype(np.int32), kept)
    return stats, dict(zip(SUPPORTS, columns, strict=True))


def refit_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Least squares for the codes of a block on their supports, and the sums of the sweep."""
    atoms = state.sweep.atoms
    U, _ = unit_rows(block.X)
    kinds = (np.intp, np.intp, np.float64)  # as the sweep had them, so that loops are compiled once
    used, counts, kept = (
        np.array(block.columns[name], kind) for name, kind in zip(SUPPORTS, kinds, strict=True)
    )
    m, d = atoms.shape
    G, B = np.zeros((m, m)), np.zeros((m, d))
    add_moments(U, kept, used, refit_codes(U, atoms, atoms @ atoms.T, used, counts), counts, G, B)
    return {"G": G, "B": B}


def refit_update(plan: SweepPlan, sweep: SweepState, stats: Stats) -> SweepState:
    """New atoms from the sums."""
    atoms = update_atoms(sweep.atoms, stats["G"], stats["B"], plan.inner)
    return replace(sweep, atoms=atoms, refit=False)


def sweep_update(plan: SweepPlan, sweep: SweepState, stats: Stats) -> SweepState:
    """New atoms from the sums; then undo, keep or make swaps."""
    error = stats["left"] / stats["total"] if stats["total"] > 0 else 0.0
    gain = (sweep.best_error - error) / sweep.best_error if 0 < sweep.best_error < np.inf else np.inf
    unsettled = bool(sweep.extra or sweep.swapped)
    energy = np.diag(stats["G"]).copy()
    after = replace(
        sweep,
        sweep=sweep.sweep + 1,
        error=error,
        # Pursuit can cycle between two codings: what counts is progress over the best so far.
        change=0.0 if error == 0 else np.inf if unsettled else max(gain, 0.0),
        energy=energy,
        atoms=update_atoms(sweep.atoms, stats["G"], stats["B"], plan.inner),
        cut=trimmed_cut(stats["histogram"], plan.trim) if plan.trim else np.inf,
        refit=True,
    )
    if error < sweep.best_error and not sweep.extra:
        after = replace(after, best=sweep.atoms, best_error=error)
    if not swap_is_due(plan, sweep):
        return after
    if sweep.extra:
        return _drop_weakest(after, energy)
    if sweep.swapped and after.best_error > _PAYS * sweep.before_swap:
        failures = sweep.failures + 1
        undone = {"atoms": after.best, "failures": failures, "swapped": 0, "change": np.inf}
        return replace(after, **undone, refit=False)
    return _add_directions(plan, after, stats)


def swap_is_due(plan: SweepPlan, sweep: SweepState) -> bool:
    """Every few sweeps, as long as swaps pay."""
    return sweep.failures < _FAILURES and sweep.sweep % plan.swap_every == plan.swap_every - 1


def _add_directions(plan: SweepPlan, sweep: SweepState, stats: Stats) -> SweepState:
    """Let directions that the residuals agree on join: for good where the dictionary may grow."""
    atoms, m = sweep.atoms, len(sweep.atoms)
    left = sweep.error * stats["total"]
    directions, gains = propose(partial(encode, plan), atoms, stats["drawn"].payload, left, max(3, m // 8))
    new = directions[gains > _WORTH * left]
    growing = plan.max_atoms > m and sweep.error > plan.target
    if growing:
        new = new[: plan.max_atoms - m]
    if not len(new):
        return replace(sweep, swapped=0)
    after = replace(sweep, atoms=np.concatenate([atoms, new]), change=np.inf)
    return after if growing else replace(after, extra=len(new), before_swap=sweep.best_error)


def _drop_weakest(sweep: SweepState, energy: NDArray[Any]) -> SweepState:
    """As many atoms as joined leave again, whichever are weakest now."""
    weak = weak_atoms(sweep.atoms, energy, sweep.extra)
    atoms = np.delete(sweep.atoms, weak, axis=0)
    left = {"atoms": atoms, "energy": np.delete(energy, weak)}
    return replace(sweep, **left, extra=0, swapped=len(weak), refit=False)


def error_histogram(left: NDArray[Any]) -> NDArray[Any]:
    """Numbers of rows by the logarithm of their relative error."""
    logs = np.log10(np.maximum(left, 10.0**_LOWEST))
    bins = np.clip((logs - _LOWEST) / -_LOWEST * _BINS, 0, _BINS - 1).astype(np.intp)
    return np.bincount(bins, minlength=_BINS).astype(np.float64)


def trimmed_cut(histogram: NDArray[Any], trim: float) -> float:
    """Error that all but a share ``trim`` of the rows stay under."""
    kept = np.searchsorted(np.cumsum(histogram), (1.0 - trim) * histogram.sum())
    return float(10.0 ** (_LOWEST * (1.0 - (kept + 1.0) / _BINS)))
