r"""Approximate dictionary learning: peel a dictionary off, then improve it in sweeps.

.. math:: X \approx Y A, \qquad \|y_i\|_0 \le k, \quad \|a_j\| = 1

Without assumptions on coherence or randomness, and with outliers (Bhaskara and Tai). The phases:

``norms``   one pass: length of the longest row, whose square is the unit of the weights
``gather``  a sample of rows (all of them for exact peeling), peeled where it is; where rows share a
            direction, and atoms are coherent, some of the rows are the start instead
``peel``    theory mode, many rows: peeling in passes over all of them
``sweep``   :mod:`altmin.algorithms.overcomplete.improve`, two passes each; not in theory mode
``final``   one pass: the codes, their error and norms, spectra of data and residual for the report
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.overcomplete.exact_peeling import peel_all
from altmin.algorithms.overcomplete.improve import (
    SUPPORTS,
    begin_sweeps,
    encode,
    refit_map,
    refit_update,
    sweep_map,
    sweep_update,
)
from altmin.algorithms.overcomplete.peeling import (
    begin_peeling,
    peel_codes,
    peel_round,
    peel_sample,
)
from altmin.algorithms.overcomplete.peeling_sizes import PeelPlan, levels
from altmin.algorithms.overcomplete.unit_rows import row_weights, squares_left, unit_rows
from altmin.contract import All, Block, Concat, Done, Info, Max, Round, Stats, Take, record
from altmin.kernels.peel import subtract_codes
from altmin.kernels.pursuit import SparseRows

_SPECTRUM_FEATURES = 2048
_ALIGNED = 0.3  # share of the squares of unit rows along one axis: .05 for 100 atoms in 64 dimensions


@record
class ApproximateState:
    """The phase, what its own steps know, and the closing figures."""

    phase: str
    n_features: int
    dtype: str
    n_rows: int
    seed: int
    longest: float = 1.0
    peel: Any = None  # PeelState, while peeling in passes
    sweep: Any = None  # SweepState, from the first sweep on
    atoms: Any = None
    figures: Any = None  # sums of the closing pass, and ...
    codes: Any = None  # ... its atoms, codes, counts and relative errors of all rows


@record
class ApproximateDictionary:
    """Parameters; :class:`altmin.ApproximateDictionaryLearning` explains them.

    ``stop_drop`` (theory mode with outliers) ends the peeling after a round that lowers the error by
    less (Algorithm 2, as a do-while), ``stop_error`` ends it where the error is reached.
    """

    plan: PeelPlan
    sweeps: Any  # SweepPlan, or None in theory mode
    exact: bool = False
    equal: bool = False
    start: Any = None
    stop_drop: float = 0.0
    stop_error: float = 0.0

    def init(self, info: Info, seed: int) -> ApproximateState:
        """Nothing is known yet, not even the scale of the data."""
        return ApproximateState("norms", info.n_features, str(info.dtype), info.n_rows or 0, seed)

    def next_round(self, state: ApproximateState) -> Round | Done:
        """The pass that the phase needs, and what follows from it."""
        theory = self.sweeps is None
        match state.phase:
            case "norms":
                return Round(norms_map, name="norms", then=self._begin)
            case "gather":
                rows = self._sample(state)
                return Round(gather_map, rows, name="peel", iteration=theory, then=self._peel_gathered)
            case "peel":
                step = peel_round(self.plan, state.peel)
                counts = theory and state.peel.step == "peel"
                return replace(step, iteration=counts, then=partial(self._after_peel, step))
            case "sweep" if state.sweep.refit:
                return Round(refit_map, name="refit", reads=SUPPORTS, then=self._refitted)
            case "sweep":
                return Round(sweep_map, name="sweep", iteration=True, writes=SUPPORTS, then=self._swept)
            case "final":
                return Round(final_map, name="final", then=self._close)
        return Done("converged", _ENDINGS.get(state.phase, ""))

    def finish(self, state: ApproximateState) -> ApproximateState:
        """One closing pass over what there is."""
        atoms = state.atoms
        if state.sweep is not None:
            atoms = state.sweep.best if state.sweep.extra else state.sweep.atoms
            state = replace(state, sweep=replace(state.sweep, atoms=atoms, extra=0))
        elif state.peel is not None:
            atoms = state.peel.atoms
        if atoms is None or not len(atoms):
            atoms = fill_up(np.zeros((0, state.n_features), state.dtype), 1, None, state.seed)
        return replace(state, phase="final", atoms=atoms)

    def measure(self, state: ApproximateState) -> Mapping[str, float]:
        """Relative squared error, its change, number of atoms."""
        if state.sweep is not None:
            sweep = state.sweep
            change = min(sweep.change, 1e300)
            return {"change": change, "error": sweep.error, "atoms": float(len(sweep.atoms))}
        if state.peel is not None:
            return {"error": state.peel.left, "atoms": float(len(state.peel.atoms))}
        return {"atoms": float(0 if state.atoms is None else len(state.atoms))}

    def code(self, atoms: NDArray[Any], U: NDArray[Any]) -> SparseRows:
        """Codes of unit rows: pursuit, or in theory mode the peeling itself."""
        if self.sweeps is not None:
            return encode(self.sweeps, atoms, U)
        threshold = levels(self.plan, self.plan.tau)[1]
        found, codes, counts = peel_codes(U, atoms, threshold, self.plan.n_nonzero)
        return SparseRows(found.astype(np.intp), codes, counts.astype(np.intp), len(atoms))

    def _begin(self, state: ApproximateState, stats: Stats) -> ApproximateState:
        longest = float(stats["longest"].value)
        state = replace(state, longest=longest if longest > 0 else 1.0)
        if self.start is not None or longest == 0.0:
            start = self.start
            if start is None:
                start = fill_up(np.zeros((0, state.n_features)), self.plan.n_atoms, None, state.seed)
            return self._peeled(state, np.asarray(start, dtype=state.dtype))
        if self.exact or self.sweeps is not None:
            return replace(state, phase="gather")
        peel = begin_peeling(self.plan, state.n_features, state.dtype)
        return replace(state, phase="peel", peel=peel)

    def _sample(self, state: ApproximateState) -> All | Take:
        """All rows, or as many at random as practical peeling looks at."""
        if self.exact or state.n_rows <= self.plan.n_rows:
            return All()
        rng = np.random.default_rng([state.seed, 2])
        return Take(np.sort(rng.choice(state.n_rows, self.plan.n_rows, replace=False)))

    def _peel_gathered(self, state: ApproximateState, stats: Stats) -> ApproximateState:
        U, w = stats["U"].value, stats["w"].value
        if self.sweeps is not None and not self.equal and share_a_direction(U, self.plan.n_atoms):
            chosen = np.random.default_rng([state.seed, 3]).choice(len(U), self.plan.n_atoms, replace=False)
            atoms, drawn = U[chosen], None
        elif self.exact:
            atoms, drawn = peel_all(self, U, w), None
        else:
            peel = peel_sample(self, state, U, w)
            atoms, drawn = peel.atoms, peel.candidates
        return self._peeled(state, atoms, drawn)

    def _after_peel(self, step: Round, state: ApproximateState, stats: Stats) -> ApproximateState:
        """After a pass of the peeling."""
        before, peel = state.peel, step.then(state.peel, stats)
        state = replace(state, peel=peel)
        # Algorithm 2 stops after a round that gained too little; Theorem 4's goal is met at gamma* + eps.
        nothing_new = not self.plan.strict and len(before.atoms) == before.n_peeled
        small = before.step == "peel" and (nothing_new or before.left - peel.left < self.stop_drop)
        if peel.step == "done" or small or peel.left <= self.stop_error:
            return self._peeled(state, peel.atoms)
        return state

    def _peeled(self, state: ApproximateState, atoms: Any, drawn: Any = None) -> ApproximateState:
        if self.sweeps is None:
            return replace(state, phase="peeled", atoms=atoms)
        atoms = fill_up(atoms, self.plan.n_atoms, drawn, state.seed)
        return replace(state, phase="sweep", atoms=atoms, peel=None, sweep=begin_sweeps(atoms))

    def _swept(self, state: ApproximateState, stats: Stats) -> ApproximateState:
        return replace(state, sweep=sweep_update(self.sweeps, state.sweep, stats))

    def _refitted(self, state: ApproximateState, stats: Stats) -> ApproximateState:
        return replace(state, sweep=refit_update(self.sweeps, state.sweep, stats))

    def _close(self, state: ApproximateState, stats: Stats) -> ApproximateState:
        error = stats["left"] / stats["total"] if stats["total"] > 0 else 0.0
        sweep = state.sweep
        # The last update of the atoms was never measured: the best dictionary that was, if it was worse.
        if sweep is not None and error > sweep.best_error and sweep.atoms is not sweep.best:
            sweep = replace(sweep, atoms=sweep.best)
            return replace(state, sweep=sweep, atoms=sweep.best)
        codes = tuple(part.value for part in stats["codes"])
        figures = {name: sums for name, sums in stats.items() if name != "codes"}
        return replace(state, phase="done", figures=figures, codes=codes)


_ENDINGS = {"peeled": "no direction is left that reaches the threshold, or the error is reached"}


def norms_map(algorithm: ApproximateDictionary, state: ApproximateState, block: Block) -> Stats:
    """Length of the longest row."""
    return {"longest": Max(float(unit_rows(block.X)[1].max(initial=0.0)))}


def gather_map(algorithm: ApproximateDictionary, state: ApproximateState, block: Block) -> Stats:
    """The rows themselves (exact peeling is n^2: for few rows, in one place)."""
    U, norms = unit_rows(block.X)
    return {"U": Concat(U), "w": Concat(row_weights(norms, algorithm.equal, state.longest))}


def share_a_direction(U: NDArray[Any], n_atoms: int) -> bool:
    """Whether atoms must be coherent: one axis holds a large part of the unit rows.

    Rows that agree are then no sign of an atom, and sweeps do better from rows as they are.
    """
    d = U.shape[1]
    if len(U) < 2 * n_atoms or d > _SPECTRUM_FEATURES or not np.all(U.any(axis=1)):
        return False
    moments = (U.T @ U).astype(np.float64)
    return bool(np.linalg.eigvalsh(moments)[-1] > max(_ALIGNED, 3 / d) * np.trace(moments))


def final_map(algorithm: ApproximateDictionary, state: ApproximateState, block: Block) -> Stats:
    """The codes, their error, use and size, spectra of data and residual."""
    U, norms = unit_rows(block.X)
    w = row_weights(norms, algorithm.equal, state.longest)
    kept = w
    code = algorithm.code(state.atoms, U)
    Z = U.copy()
    subtract_codes(Z, code.atoms, code.codes, code.counts, state.atoms)
    left = squares_left(Z)
    if state.sweep is not None:
        kept = np.where(left <= state.sweep.cut, w, 0.0)
    inside = np.arange(code.atoms.shape[1]) < code.counts[:, None]
    used = code.atoms[inside]
    m = len(state.atoms)
    squares = (np.square(code.codes, dtype=np.float64) * inside).sum(axis=1)
    codes = code.codes * norms[:, None].astype(U.dtype)
    rows = (code.atoms.astype(np.int32), codes, code.counts, np.minimum(left, 1.0).astype(U.dtype))
    scaled = np.square(code.codes * norms[:, None])[inside]
    return {
        "codes": tuple(Concat(part) for part in rows),
        "left": float((kept * left).sum()),
        "total": float(kept.sum()),
        "squares": float(np.sum(norms**2)),
        "residual": float(np.sum(norms**2 * left)),
        "use": np.bincount(used, minlength=m).astype(np.float64),
        "energy": np.bincount(used, scaled, minlength=m),
        "nonzeros": float(code.counts.sum()),
        "rows": float(len(U)),
        "largest_code": Max(float(squares.max(initial=0.0))),
        "most_nonzeros": Max(float(code.counts.max(initial=0))),
        "data_gram": _weighted_gram(U, kept),
        "left_gram": _weighted_gram(Z, kept),
    }


def _weighted_gram(rows: NDArray[Any], w: NDArray[Any]) -> NDArray[Any]:
    """Sum of w x x', whose spectrum the report uses; empty where that is d^2 numbers too many."""
    if rows.shape[1] > _SPECTRUM_FEATURES:
        return np.zeros((0, 0))
    scaled = rows * np.sqrt(w)[:, None].astype(rows.dtype)
    return (scaled.T @ scaled).astype(np.float64)


def fill_up(atoms: NDArray[Any], n_atoms: int, drawn: NDArray[Any] | None, seed: int) -> NDArray[Any]:
    """As many atoms as asked for: residuals where the peeling found too few, then random directions."""
    missing = n_atoms - len(atoms)
    if missing <= 0:
        return atoms
    rng = np.random.default_rng([seed, 1])
    extra = rng.standard_normal((missing, atoms.shape[1])).astype(atoms.dtype)
    extra /= np.linalg.norm(extra, axis=1, keepdims=True)
    if drawn is not None:
        extra[: len(drawn)] = drawn[:missing]
    return np.concatenate([atoms, extra])
