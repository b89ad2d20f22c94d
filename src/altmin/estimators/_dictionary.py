"""What the dictionary estimators share: coding, order and sign of the atoms, fitted attributes."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from altmin.contract import Block
from altmin.estimators._base import ComponentsEstimator
from altmin.kernels.gram import times
from altmin.kernels.pursuit import Pursuit
from altmin.kernels.thresholds import hard_threshold

CODING_CONSTRAINTS: dict[str, list[Any]] = {
    "transform_algorithm": [StrOptions({"threshold", "omp", "ormp"})],
    "transform_n_nonzero_coefs": [Interval(Integral, 1, None, closed="left"), None],
}


class DictionaryEstimator(ComponentsEstimator):
    """A dictionary with linear codes: thresholds on ``X @ pinv(components_)``, or a pursuit."""

    transform_algorithm: str
    transform_n_nonzero_coefs: int | None

    def _codes(self, block: Block) -> NDArray[Any]:
        n_nonzero = self.transform_n_nonzero_coefs
        if self.transform_algorithm != "threshold":
            atoms = self.components_.astype(block.X.dtype, copy=False)
            n_nonzero = n_nonzero or max(block.X.shape[1] // 10, 1)
            return Pursuit(atoms, n_nonzero, self.transform_algorithm)(block.X).dense()
        Z = times(block.X, self._decoder().astype(block.X.dtype))
        if n_nonzero is None:
            return hard_threshold(Z, self.thresholds_.astype(Z.dtype))
        return largest_only(Z, n_nonzero)

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
