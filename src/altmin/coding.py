"""Sparse coding with a given dictionary."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from altmin.contract import Block
from altmin.engine import map_rows, open_source
from altmin.kernels.pursuit import Pursuit


def omp(
    X: Any,
    dictionary: ArrayLike,
    n_nonzero_coefs: int | None = None,
    *,
    tol: Any = None,
    mask: Any = None,
    selection: str = "omp",
    weights: Any = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    r"""Sparse codes by orthogonal matching pursuit.

    .. math:: \min_c \|x - c D\|_2^2 \quad\text{subject to}\quad \|c\|_0 \le L
              \quad\text{(or the fewest nonzeros with}\quad \|x - c D\|_2^2 \le \text{tol)}

    for each sample x (a row of X) and atoms D (rows), greedily: an atom is added, then all codes are the
    least-squares fit to the atoms chosen so far. Where no atom brings anything new (all are in the span of
    the chosen ones to a third of the digits, or the signal is represented to rounding) a signal stops early.

    Parameters
    ----------
    X : array-like or sparse, of shape (n_samples, n_features)
        Signals. float32 stays, everything else is computed in float64.
    dictionary : array-like of shape (n_atoms, n_features)
        Atoms of any norm: which ones are chosen doesn't depend on their norms.
    n_nonzero_coefs : int or None
        Nonzeros of a signal at most, L. None: a tenth of ``n_features`` (at least 1), or as many as needed
        where ``tol`` is given.
    tol : float or array-like of shape (n_samples,), or None
        Squared norm of the residual (as in scikit-learn) at which a signal is done.
    mask : array-like of bool of shape (n_samples, n_features), or None
        True where an entry was observed. Choice, least squares and ``tol`` then refer to those entries
        alone; the others may hold anything.
    selection : {'omp', 'ormp'}
        'omp' adds the atom most correlated with the residual, 'ormp' (order-recursive, optimised) the one
        that lowers the error most; SPAMS's ``omp`` is the second.
    weights : array-like of shape (n_atoms,), or None
        Prior variances of the codes (of unit atoms): the squared score of an atom is multiplied by its
        weight, so that with few observed entries the usual atoms come first. The codes themselves stay
        least squares.
    n_jobs : int or None
        Threads; the result doesn't depend on it. None: as many as BLAS may use.

    Returns
    -------
    ndarray of shape (n_samples, n_atoms)
        The codes.

    Notes
    -----
    **Guarantee.** Each code is the least-squares fit to its atoms, to rounding; duplicated or dependent
    atoms never give infinite codes. The supports are those of exact arithmetic unless scores tie.

    **Cost.** With K atoms and L nonzeros a signal takes K (n_features + L^2 / 2) operations; the Gram
    matrix K^2 * n_features once. With a mask K * n_features * L a signal. Memory: the codes and K * L
    numbers a thread.

    References
    ----------
    R. Rubinstein, M. Zibulevsky and M. Elad, Efficient implementation of the K-SVD algorithm using batch
    orthogonal matching pursuit, 2008; L. Rebollo-Neira and D. Lowe, Optimized orthogonal matching pursuit
    approach, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import omp
    >>> D = np.random.default_rng(0).standard_normal((30, 20))
    >>> x = 2.0 * D[3] - 0.5 * D[17]
    >>> codes = omp(x[None], D, 2)
    >>> np.flatnonzero(codes), codes[0, [3, 17]].round(12)
    (array([ 3, 17]), array([ 2. , -0.5]))
    """
    X, D = _check_pair(X, dictionary)
    if selection not in ("omp", "ormp"):
        raise ValueError(f"selection is {selection!r}; allowed are 'omp' and 'ormp'")
    tols = _check_tol(tol, X.shape[0])
    seen = None if mask is None else _check_mask(mask, X)
    if seen is not None:
        X = np.where(seen, X, X.dtype.type(0))
    pursuit = Pursuit(
        D.astype(X.dtype, copy=False),
        _check_count(n_nonzero_coefs, tol, *D.shape),
        selection,
        _check_weights(weights, len(D)),
    )

    codes = np.zeros((X.shape[0], len(D)), X.dtype)

    def code(block: Block) -> NDArray[Any]:
        rows = slice(block.start, block.start + block.n_rows)
        found = pursuit(block.X, tols[rows], None if seen is None else seen[rows])
        found.dense(out=codes[rows])  # blocks write to rows of their own
        return found.counts

    map_rows(code, open_source(X), n_jobs)
    return codes


def _check_pair(X: Any, dictionary: Any) -> tuple[Any, NDArray[Any]]:
    dtypes = [np.float64, np.float32]
    X = check_array(X, accept_sparse="csr", dtype=dtypes, ensure_all_finite=False, input_name="X")
    D = check_array(dictionary, dtype=dtypes, input_name="dictionary")
    if X.shape[1] != D.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, the dictionary's atoms have {D.shape[1]}")
    return X, D


def _check_count(n_nonzero_coefs: Any, tol: Any, n_atoms: int, n_features: int) -> int:
    if n_nonzero_coefs is None:
        return min(n_atoms, n_features) if tol is not None else min(max(n_features // 10, 1), n_atoms)
    whole = isinstance(n_nonzero_coefs, Integral) and not isinstance(n_nonzero_coefs, bool)
    if not whole or not 1 <= n_nonzero_coefs <= n_atoms:
        raise ValueError(
            f"n_nonzero_coefs is {n_nonzero_coefs!r}; an integer from 1 to the number of atoms ({n_atoms}) "
            "is needed"
        )
    return int(n_nonzero_coefs)


def _check_tol(tol: Any, n_samples: int) -> NDArray[Any]:
    tols = np.asarray(0.0 if tol is None else tol, dtype=np.float64)
    if tols.shape not in ((), (n_samples,)) or not np.all(tols >= 0):
        raise ValueError(
            f"tol has shape {tols.shape} and minimum {tols.min(initial=0.0)}; a number >= 0, or one for each "
            f"of the {n_samples} samples, is needed"
        )
    return np.broadcast_to(tols, (n_samples,))


def _check_mask(mask: Any, X: Any) -> NDArray[np.bool_]:
    if sp.issparse(X):
        raise TypeError("mask needs a dense X: a sparse matrix has no unobserved entries, only zeros")
    seen = np.asarray(mask)
    if seen.shape != X.shape or (seen.dtype != bool and not np.isin(seen, (0, 1)).all()):
        raise ValueError(
            f"mask has shape {seen.shape} and dtype {seen.dtype}; booleans of the shape of X, {X.shape}, "
            "are needed (true: observed)"
        )
    return np.ascontiguousarray(seen, dtype=np.bool_)


def _check_weights(weights: Any, n_atoms: int) -> NDArray[Any] | None:
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n_atoms,) or not np.isfinite(values).all() or values.min() < 0 or not values.any():
        raise ValueError(
            f"weights has shape {values.shape}; {n_atoms} finite numbers >= 0, not all of them 0, are needed"
        )
    return values
