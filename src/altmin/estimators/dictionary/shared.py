"""What the dictionary estimators share: coding, order and sign of the atoms, fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from altmin.algorithms.dictionary.block_sums import power_of_two
from altmin.contract import Block, Info
from altmin.engine import Source
from altmin.engine.side_by_side import side_by_side
from altmin.estimators.base import ComponentsEstimator
from altmin.estimators.parameters import Count
from altmin.guarantees.contract import judge
from altmin.guarantees.dictionary import DICTIONARY, AtomsEvidence
from altmin.guarantees.dictionary_atoms import atom_facts
from altmin.guarantees.dictionary_theory import DictionaryEvidence, theorem_conditions
from altmin.guarantees.refits import halves, sample, worst_sines
from altmin.guarantees.report import GuaranteeReport
from altmin.kernels.gram import row_norms2, times
from altmin.kernels.pursuit import Pursuit
from altmin.kernels.thresholds import hard_threshold, keep_large
from altmin.metrics import match_components

_FULL_ROWS = 50_000  # of a half, in the full guarantee
_LOOK_ROWS, _LOOK_BLOCK = 20_000, 1000  # of a report, and of what is coded at a time
_LOOK_EACH, _LOOK_LEAST, _LOOK_MOST = 15, (400_000, 2_000_000), 10_000_000  # rows an atom; numbers in all


def look_rows(n_features: int, full: bool = False) -> int:
    """Rows of a report: enough for each atom, and a few copies of them that memory has room for."""
    enough = max(_LOOK_LEAST[full] // n_features, _LOOK_EACH * n_features)
    return max(min(_LOOK_ROWS, enough, _LOOK_MOST // n_features), _LOOK_BLOCK)


class DictionaryEstimator(ComponentsEstimator):
    """A dictionary with linear codes: thresholds on ``X @ pinv(components_)``, or a pursuit."""

    _power: ClassVar[int] = 1  # the algorithms bring the data to unit scale first
    _shared_attributes: ClassVar[tuple[str, ...]] = (
        "component_scales_",
        "intercept_",
        "thresholds_",
        "noise_std_",
        "reconstruction_err_",
        *ComponentsEstimator._shared_attributes,
    )

    transform_algorithm: Literal["threshold", "omp", "ormp"] = "threshold"
    transform_n_nonzero_coefs: Count | None = None

    def _block_coder(self) -> Callable[[Block], NDArray[Any]]:
        n_nonzero = self.transform_n_nonzero_coefs
        if self.transform_algorithm != "threshold":
            return self._pursue
        decoder = self._decoder()

        def code(block: Block) -> NDArray[Any]:
            X = self._centred(block.X)
            Z = times(X, decoder.astype(X.dtype, copy=False))
            if n_nonzero is None:
                sizes = self._sizes(X)[:, None] if self._is_levelled() else 1.0
                return hard_threshold(Z, (sizes * self.thresholds_).astype(Z.dtype))
            return largest_only(Z, n_nonzero)

        return code

    def _pursue(self, block: Block) -> NDArray[Any]:
        atoms = self.components_.astype(block.X.dtype, copy=False)
        n_nonzero = self.transform_n_nonzero_coefs or max(block.X.shape[1] // 10, 1)
        return Pursuit(atoms, n_nonzero, self.transform_algorithm)(self._centred(block.X)).dense()

    def _centred(self, X: Any) -> Any:
        """The samples without the intercept."""
        centre = getattr(self, "intercept_", None)  # models of files from before had none
        if centre is None or not np.any(centre):
            return X
        return (X.toarray() if sp.issparse(X) else X) - centre.astype(X.dtype)

    def _is_levelled(self) -> bool:
        """Whether the fit shrank large rows to one size: thresholds are then shares of :meth:`_sizes`."""
        return bool(getattr(self, "row_scaling_", False))

    def _sizes(self, X: Any) -> NDArray[Any]:
        """Norms of the rows, at least that to which large ones were shrunk."""
        level = getattr(self, "row_level_", 0.0)  # models of files from before had none
        return np.maximum(np.sqrt(row_norms2(X)), level)

    def _as_fitted(self, X: Any) -> Any:
        """The samples as the fit saw them: without the intercept, and shrunk if it did so."""
        X = self._centred(X)
        if not self._is_levelled():
            return X
        X = X.toarray() if sp.issparse(X) else X
        sizes = self._sizes(X)[:, None]
        return (X / np.where(sizes > 0, sizes, 1.0)).astype(X.dtype)

    def inverse_transform(self, X: Any) -> Any:
        """Data from codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Codes.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            ``X @ components_``, plus the intercept.
        """
        data = super().inverse_transform(X)
        centre = getattr(self, "intercept_", None)
        return data if centre is None or not np.any(centre) else data + centre.astype(data.dtype)

    def _held_bytes(self, info: Info) -> int:
        # The rows of the report, and what is made of them.
        return 13 * min(info.n_rows or 0, look_rows(info.n_features, full=True)) * info.n_features * 8

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        evidence = self._looked(sample(source, look_rows(source.info.n_features, full))[0], source.n_rows)
        if full and evidence.atoms is not None and evidence.atoms.noise > 0:  # exact zeros need no refits
            evidence = self._compared(evidence, source)
        return judge(DICTIONARY, evidence, effort="full" if full else "cheap")

    def _looked(self, X: NDArray[Any], n_samples: int) -> AtomsEvidence:
        """Evidence of these rows; what the fit alone knows (its starts, its pace) stays."""
        sizes = self._sizes(self._centred(X)) if self._is_levelled() else None
        X = self._as_fitted(X)
        scale = power_of_two(float(np.abs(X).max(initial=0.0)) or 1.0)  # squares of X may be no numbers
        X, thresholds, dtype = X / scale, self.thresholds_ / scale, self.components_.dtype
        decoder, k = self._decoder(), len(self.components_)
        codes, counts, squares, total, left = np.empty((len(X), k), dtype), np.zeros(k), np.zeros(k), 0.0, 0.0
        for start in range(0, len(X), _LOOK_BLOCK):
            part = X[start : start + _LOOK_BLOCK]
            kept = part @ decoder
            codes[start : start + _LOOK_BLOCK] = kept
            on, energy = keep_large(kept, thresholds)
            counts, squares = counts + on, squares + energy
            total += float(np.einsum("ij,ij->", part, part))
            rest = part - kept @ self.components_
            left += float(np.einsum("ij,ij->", rest, rest))
        fit = replace(
            self._fit_evidence,
            codes=codes,
            thresholds=thresholds,
            size=np.sqrt(squares / np.maximum(counts, 1)),
            density=counts / max(len(X), 1),
            components=self.components_,
            n_samples=n_samples,
            residual=float(np.sqrt(left / total)) if total > 0 else 1.0,
        )
        eps = float(np.finfo(dtype).eps)
        with side_by_side(self.n_jobs) as begin:
            theory = begin(theorem_conditions, fit)
            facts = atom_facts(X, self.components_, eps, sizes, begin)
            return AtomsEvidence(fit, facts, theory=theory.result())

    def _compared(self, evidence: AtomsEvidence, source: Source) -> AtomsEvidence:
        """The evidence, with this fit held against those on two halves and from another start."""
        again = clone(self).set_params(random_state=1, verbose=0, checkpoint=None)
        parts = halves(source, most=_FULL_ROWS)
        fits = [self._for_rows(again, len(ids)).fit(source.take(ids).X) for ids in parts]
        restart = self._from_another_start(again).fit(source.take(np.arange(source.n_rows)).X)
        return replace(
            evidence,
            halves=worst_sines([fit.components_ for fit in fits], self.components_),
            restarts=worst_sines([restart.components_], self.components_),
        )

    def _for_rows(self, model: Any, n_rows: int) -> Any:
        """A copy for a half of so many rows."""
        return clone(model)

    def _from_another_start(self, model: Any) -> Any:
        """A copy that searches from elsewhere."""
        return clone(model).set_params(random_state=2)

    def _set_fit(self, state: Any, dtype: Any, start: Any, agreeing: int | None, **facts: Any) -> None:
        """The attributes that a search or an alternation leads to; a ``start`` keeps its order."""
        norms = np.linalg.norm(state.atoms, axis=1)
        atoms = state.atoms / norms[:, None]
        order = self._set_dictionary(atoms, state.squares * norms**2, dtype, keep_order=start is not None)
        unit = (norms * state.scale)[order]  # a code of the unit atom, for one of the state's atom
        rms = np.sqrt(state.squares / np.maximum(state.counts, 1.0))
        self.component_scales_ = rms[order] * unit
        self.thresholds_ = state.thresholds[order] * unit
        self.density_ = state.counts[order] / state.n_rows
        self.noise_std_ = state.noise * state.scale
        self.intercept_ = intercept_of(state)
        self.row_scaling_, self.row_level_ = bool(state.levelled), state.level * state.scale
        if state.levelled:
            self.thresholds_ = self.thresholds_ / state.scale
            self.outlier_mask_ = np.isin(np.arange(state.n_rows), state.outliers)
            self._warn_of_rows()
        self.reconstruction_err_ = float(np.sqrt(state.residual)) * state.scale
        facts = {"start": start_distance(start, self.components_), **facts}
        self._set_guarantee(state, order, agreeing, **facts)

    def _warn_of_rows(self) -> None:
        outliers = np.flatnonzero(self.outlier_mask_)
        some = ", ".join(map(str, outliers[:5])) + (", ..." if len(outliers) > 5 else "")
        left = f"{len(outliers)} outliers were left out (outlier_mask_: rows {some})" if len(outliers) else ""
        warnings.warn(
            "a few rows hold most of the energy of the data: those above the median norm were shrunk to it "
            "(row_scaling_)" + (f", and {left}" if left else ""),
            UserWarning,
            stacklevel=6,
        )

    def _set_guarantee(
        self, state: Any, order: NDArray[np.intp], agreeing: int | None, theorem: int, **facts: Any
    ) -> None:
        """What the fit knows about itself; ``order`` is that of ``components_``."""
        self._fit_evidence = self._evidence(state, order, agreeing, theorem, **facts)

    def _evidence(
        self, state: Any, order: NDArray[np.intp], agreeing: int | None, theorem: int, **facts: Any
    ) -> DictionaryEvidence:
        counts = np.maximum(state.counts, 1.0)
        unit = np.linalg.norm(state.atoms, axis=1)[order]  # from codes of the state's atoms to unit ones'
        return DictionaryEvidence(
            codes=state.sample[:, order] * unit.astype(state.sample.dtype),
            thresholds=state.thresholds[order] * unit,
            size=np.sqrt(state.squares / counts)[order] * unit,
            density=state.counts[order] / state.n_rows,
            components=self.components_,
            n_samples=state.n_rows,
            residual=float(np.sqrt(state.residual / state.total)) if state.total > 0 else 1.0,
            changes=tuple(
                row["change"] for row in self.history_ if row.get("phase") in ("polish", "alternate")
            ),
            agreeing=agreeing,
            theorem=theorem,
            **facts,
        )

    def _decoder(self) -> NDArray[Any]:
        return np.linalg.pinv(self.components_.astype(np.float64))

    def _set_dictionary(
        self, atoms: NDArray[Any], energy: NDArray[Any], dtype: Any, *, keep_order: bool
    ) -> NDArray[np.intp]:
        """Unit atoms in canonical sign and order: the largest entry positive, most energy first."""
        order = np.arange(len(atoms)) if keep_order else np.argsort(-energy, kind="stable")
        atoms = atoms[order]
        if not keep_order:
            largest = np.abs(atoms).argmax(axis=1)
            atoms = atoms * np.where(atoms[np.arange(len(atoms)), largest] < 0, -1.0, 1.0)[:, None]
        self.components_ = np.ascontiguousarray(atoms.astype(dtype))
        return order


def wants_intercept(fit_intercept: Any) -> bool | None:
    """The algorithm's word for the parameter: None asks the data."""
    return None if isinstance(fit_intercept, str) else bool(fit_intercept)


def intercept_of(state: Any) -> NDArray[Any]:
    """The constant row of a fit, in units of the data."""
    if state.centre is None:
        return np.zeros(state.atoms.shape[1], state.decoder.dtype)
    return np.asarray(state.centre * state.scale, state.decoder.dtype)


def start_distance(start: Any, atoms: NDArray[Any]) -> float | None:
    """Frobenius distance of a start from the atoms, matched in order and sign; None without one."""
    if start is None:
        return None
    start = np.asarray(start, dtype=np.float64)
    start = start / np.linalg.norm(start, axis=1, keepdims=True)
    index, cosine = match_components(start, atoms)
    return float(np.linalg.norm(start[index] * np.sign(cosine)[:, None] - atoms))


def largest_only(Z: NDArray[Any], n_nonzero: int) -> NDArray[Any]:
    """The given number of largest codes of each sample, the rest zero."""
    if n_nonzero >= Z.shape[1]:
        return Z
    drop = np.argpartition(np.abs(Z), -n_nonzero, axis=1)[:, :-n_nonzero]
    np.put_along_axis(Z, drop, 0.0, axis=1)
    return Z


def start_atoms(init: Any, n_features: int) -> NDArray[Any] | None:
    """The start that a name or an array stands for; None is a random one."""
    if not isinstance(init, str):
        return checked_start(init, (n_features, n_features))
    if init == "random":
        return None
    return dct_atoms(n_features) if init == "dct" else np.eye(n_features)


def checked_start(init: Any, shape: tuple[int, int]) -> NDArray[Any]:
    """The user's own atoms, if they can be a start."""
    atoms = np.asarray(init, dtype=np.float64)
    if atoms.shape != shape:
        raise ValueError(f"init has shape {atoms.shape}; that of components_, {shape}, is needed")
    if not np.isfinite(atoms).all() or np.linalg.matrix_rank(atoms) < shape[0]:
        raise ValueError("init must be a finite matrix of full rank")
    return atoms


def dct_atoms(n_features: int) -> NDArray[Any]:
    """The cosine basis: of square patches where n_features is a square number, else of signals."""
    side = round(n_features**0.5)
    if side * side == n_features:
        return np.kron(_cosines(side), _cosines(side))
    return _cosines(n_features)


def _cosines(n: int) -> NDArray[Any]:
    k, x = np.arange(n)[:, None], np.arange(n)[None, :]
    C = np.cos(np.pi * k * (2 * x + 1) / (2 * n))
    return np.asarray(C / np.linalg.norm(C, axis=1, keepdims=True))
