"""The orthogonal matrix nearest to a matrix: the dictionary update of the orthogonal case."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def polar(M: ArrayLike, toward: ArrayLike | None = None) -> NDArray[Any]:
    r"""Orthogonal polar factor: the solution of the Procrustes problem.

    .. math:: \mathrm{Polar}(M) = U V^\top = \arg\max_{Q^\top Q = I} \langle Q, M \rangle,
       \qquad M = U \Sigma V^\top

    Parameters
    ----------
    M : array-like of shape (m, n)
        The matrix.
    toward : array-like of shape (m, n) or None
        Where M has no full rank its polar factor isn't unique: among the solutions, the one nearest to
        this matrix is taken (a small multiple of it is added, which leaves fixed points where they are).

    Returns
    -------
    ndarray of shape (m, n)
        With orthonormal rows or columns, whichever are fewer.

    Notes
    -----
    **Guarantee.** The exact maximiser, orthonormal to rounding.

    **Cost.** A singular value decomposition, O(m n min(m, n)).

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves complete
    dictionary learning, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import polar
    >>> polar(np.array([[0.0, -3.0], [2.0, 0.0]])).round(12).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    A = np.asarray(M)
    if A.ndim != 2:
        raise ValueError(f"M has {A.ndim} dimension(s); a matrix is needed")
    kept = np.float32 if A.dtype == np.float32 else np.float64
    A = A.astype(np.float64)
    largest = float(np.abs(A).max(initial=0.0))
    if not np.isfinite(largest):
        raise ValueError("M contains NaN or infinity")
    if largest > 0:
        A /= largest  # a product of data may be near the ends of the floating-point range
    if toward is not None:
        A += 1e-8 * max(float(np.linalg.norm(A)), 1.0) * np.asarray(toward, np.float64)
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return np.ascontiguousarray(U @ Vt, dtype=kept)
