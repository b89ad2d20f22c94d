"""Hypotheses of the papers as checks that are computed from the data of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin_lab.ledger import Check

Array = NDArray[Any]
_SURE = 6.0  # standard errors: about one in 10^9


def gaussian_rows(X: Array, M: Array | None = None, rank: int = 0) -> Check:
    """Whether rows look standard Gaussian (mean, covariance, fourth moments) and M has this rank."""
    n, d = X.shape
    root = np.sqrt(n)
    mean = float(np.abs(X.mean(axis=0)).max() * root)
    second = X.T @ X / n - np.eye(d)
    spread = float(np.abs(second * root / np.where(np.eye(d) > 0, np.sqrt(2), 1.0)).max())
    fourth = float(np.abs((X**4).mean(axis=0) - 3).max() * root / np.sqrt(96))
    found = f"mean, second and fourth moments off by {mean:.1f}, {spread:.1f}, {fourth:.1f} standard errors"
    met = max(mean, spread, fourth) < _SURE
    if M is not None:
        found += f"; rank {np.linalg.matrix_rank(M, tol=1e-10)}"
        met &= bool(np.allclose(M, M.T) and np.linalg.matrix_rank(M, tol=1e-10) == rank)
    return Check(bool(met), found)


def bounded_codes(codes: Array, least: float) -> Check:
    """Assumption 1 of Liang et al. (2022): nonzeros of size Gamma at least, of mean zero."""
    used = codes[codes != 0]
    mean = float(abs(used.mean()) / used.std() * np.sqrt(len(used)))
    return Check(
        bool(np.abs(used).min() >= least and mean < _SURE),
        f"smallest nonzero {np.abs(used).min():.2f}, mean {mean:.1f} standard errors from 0",
    )


def sparse_codes(problem: Any, n_nonzero: int, bound: float, error: float) -> Check:
    """Theorem 4 of Bhaskara and Tai (2019): unit atoms, k nonzeros, with Lambda and gamma* of the codes."""
    most = int(np.count_nonzero(problem.codes, axis=1).max())
    unit = float(np.abs(np.linalg.norm(problem.components, axis=1) - 1).max())
    return Check(
        bool(most <= n_nonzero and unit < 1e-8 and error < 1),
        f"at most {most} nonzeros, atoms of length 1 to {unit:.0e}, Lambda {bound:.2g}, gamma* {error:.2g}",
    )
