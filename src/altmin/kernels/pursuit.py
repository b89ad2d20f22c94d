"""Sparse codes of blocks of signals: the dictionary prepared once, then any number of blocks.

What surrounds the compiled loops of :mod:`altmin.kernels.omp`: atoms of any norm, signals of any scale,
dense or sparse blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.kernels.gram import row_norms2, times
from altmin.kernels.omp import ROUNDING, pivot_floor, pursue_gram, pursue_masked, scatter

_CHUNK = 1 << 18  # correlations held at once: 2 MiB in float64


@dataclass(frozen=True)
class SparseRows:
    """Codes of some signals: row r has ``codes[r, :counts[r]]`` at ``atoms[r, :counts[r]]``."""

    atoms: NDArray[np.intp]
    codes: NDArray[Any]
    counts: NDArray[np.intp]
    n_atoms: int

    def dense(self, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Array of shape (n_samples, n_atoms); ``out`` is one of zeros to write into."""
        if out is None:
            out = np.zeros((len(self.counts), self.n_atoms), self.codes.dtype)
        scatter(self.atoms, self.codes, self.counts, out)
        return out

    def csr(self) -> sp.csr_array:
        """CSR array of shape (n_samples, n_atoms)."""
        indptr = np.concatenate([[0], np.cumsum(self.counts)])
        used = np.arange(self.atoms.shape[1]) < self.counts[:, None]
        entries = (self.codes[used], self.atoms[used], indptr)
        return sp.csr_array(entries, shape=(len(self.counts), self.n_atoms))


class Pursuit:
    """Orthogonal matching pursuit with one dictionary.

    Parameters
    ----------
    dictionary : ndarray of shape (n_atoms, n_features)
        Atoms of any norm; those of norm 0 are never chosen.
    n_nonzero : int
        Nonzeros of a signal at most (and never more than features).
    selection : {'omp', 'ormp'}
        By correlation with the residual, or by the decrease of the error.
    weights : ndarray of shape (n_atoms,) or None
        Prior variances of the codes of unit atoms: factors of the squared scores.
    """

    def __init__(
        self,
        dictionary: NDArray[Any],
        n_nonzero: int,
        selection: str = "omp",
        weights: NDArray[Any] | None = None,
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if dictionary.dtype == np.float32 else np.float64)
        self.norms, atoms = _unit_rows(np.asarray(dictionary, np.float64))
        self.n_atoms, self.n_features = atoms.shape
        self.n_nonzero = min(int(n_nonzero), self.n_atoms, self.n_features)
        self.optimised = selection == "ormp"
        self.gram = (atoms @ atoms.T).astype(self.dtype)
        self.columns = np.ascontiguousarray(atoms.T, dtype=self.dtype)
        trust = np.ones(self.n_atoms) if weights is None else np.asarray(weights) / np.max(weights)
        self.weights = np.where(self.norms > 0, trust, 0.0).astype(self.dtype)

    def __call__(self, X: Any, tol: Any = 0.0, mask: NDArray[Any] | None = None) -> SparseRows:
        """Codes of a block.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_samples, n_features)
            Signals, in any scale.
        tol : float or ndarray of shape (n_samples,)
            Squared norm of the residual at which a signal is done.
        mask : ndarray of bool of shape (n_samples, n_features), or None
            Observed entries; the others of X (dense) don't count.

        Returns
        -------
        SparseRows
            With codes for the dictionary as it was given.
        """
        n_samples = X.shape[0]
        tol = np.broadcast_to(np.asarray(tol, np.float64), (n_samples,))
        shape = (n_samples, self.n_nonzero)
        atoms, codes = np.zeros(shape, np.intp), np.zeros(shape, self.dtype)
        counts = np.zeros(n_samples, np.intp)
        step = max(_CHUNK // self.n_atoms, 64)
        for start in range(0, n_samples, step):
            rows = slice(start, start + step)
            part = None if mask is None else mask[rows]
            self._pursue(X[rows], tol[rows], part, atoms[rows], codes[rows], counts[rows])
        used = np.where(self.norms > 0, self.norms, 1.0).astype(self.dtype)
        codes /= used[atoms]
        return SparseRows(atoms, codes, counts, self.n_atoms)

    def _pursue(
        self, X: Any, tol: Any, mask: Any, atoms: NDArray[Any], codes: NDArray[Any], counts: NDArray[Any]
    ) -> None:
        """Fill the results of some rows."""
        X = X.astype(self.dtype, copy=False)
        if mask is not None:
            X = np.where(mask, X, self.dtype.type(0))
        X, energies, scales = _safe_scale(X, self.dtype)
        tols = np.minimum(tol / scales / scales, np.finfo(self.dtype).max).astype(self.dtype)
        pivot = self.dtype.type(pivot_floor(self.dtype))
        noise = self.dtype.type(ROUNDING * np.finfo(self.dtype).eps)
        rest = (tols, self.weights, pivot, noise, self.optimised, atoms, codes, counts)
        if mask is None:
            pursue_gram(times(X, self.columns), energies.astype(self.dtype), self.gram, *rest)
        else:
            pursue_masked(X, np.array(mask, dtype=np.bool_, order="C"), self.columns, *rest)
        codes *= scales[:, None].astype(self.dtype)


def _unit_rows(D: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Norms and unit rows, without overflow; zero rows stay zero."""
    peak = np.abs(D).max(axis=1, initial=0.0, keepdims=True)
    D = D / np.where(peak > 0, peak, 1.0)
    norms = np.linalg.norm(D, axis=1, keepdims=True)
    return (norms * peak).ravel(), D / np.where(norms > 0, norms, 1.0)


def _safe_scale(X: Any, dtype: np.dtype[Any]) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """Rows (times a power of two where their squares would leave the dtype's range), energies, scales."""
    limit = np.finfo(dtype).max ** 0.5
    energies = row_norms2(X)
    ones = np.ones(len(energies))
    if np.all((energies < limit) & (energies > 1.0 / limit)):
        return X, energies, ones
    peak = np.asarray(abs(X).max(axis=1).todense()).ravel() if sp.issparse(X) else np.abs(X).max(axis=1)
    scales = np.where(peak > 0, np.exp2(np.frexp(peak)[1] - 1.0), 1.0)
    X = sp.csr_array(X.multiply(1 / scales[:, None])) if sp.issparse(X) else X / scales[:, None]
    X = X.astype(dtype, copy=False)
    return X, row_norms2(X), scales
