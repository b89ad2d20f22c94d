"""Peeling as a start: a dictionary for other learners, ours and others'."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.overcomplete.approximate import ApproximateDictionary, ApproximateState, fill_up
from altmin.algorithms.overcomplete.peeling import peel_sample
from altmin.algorithms.overcomplete.peeling_sizes import practical_plan
from altmin.algorithms.overcomplete.unit_rows import row_weights, unit_rows
from altmin.kernels.gram import row_norms2


def peel_dictionary(
    X: Any, n_components: int, *, n_nonzero_coefs: int | None = None, random_state: int = 0
) -> NDArray[Any]:
    r"""A dictionary peeled off the data: a start for any dictionary learner.

    .. math:: x_i \approx \sum_{j \in S_i} y_{ij} a_j, \qquad
              \langle z_i, a_j \rangle^2 \ge \tau \|x_i\|^2 \text{ where } a_j \text{ joins } S_i

    Parameters
    ----------
    X : ndarray or sparse of shape (n_samples, n_features)
        The data.
    n_components : int
        Number of atoms.
    n_nonzero_coefs : int or None
        Atoms of a row at most. None: a tenth of the number of features, at least 1.
    random_state : int
        Seed of the samples.

    Returns
    -------
    ndarray of shape (n_components, n_features)
        Unit rows.

    Notes
    -----
    **Guarantee.** Each atom's value is within the factor of Theorem 6 of the best direction for what is
    left of the sample; what a learner makes of the start isn't covered.

    **Cost.** A sample of max(4096, 256 n_components / n_nonzero_coefs) rows is peeled: the time doesn't
    grow with n_samples.

    References
    ----------
    A. Bhaskara and W. M. Tai, Approximate guarantees for dictionary learning, COLT 2019.

    Examples
    --------
    >>> from altmin import peel_dictionary
    >>> from altmin.datasets import make_planted_sparse
    >>> from sklearn.decomposition import MiniBatchDictionaryLearning
    >>> X = make_planted_sparse(500, 12, 15, 2, random_state=0).X
    >>> start = peel_dictionary(X, 15, n_nonzero_coefs=2)
    >>> model = MiniBatchDictionaryLearning(15, dict_init=start, max_iter=2, random_state=0).fit(X)
    >>> model.components_.shape
    (15, 12)
    """
    if getattr(X, "ndim", 0) != 2 or 0 in X.shape:
        raise ValueError(f"X has shape {getattr(X, 'shape', None)}: a matrix with rows is needed")
    if n_components < 1:
        raise ValueError(f"n_components={n_components}: at least 1 is needed")
    n, d = X.shape
    k = min(n_nonzero_coefs or max(d // 10, 1), d)
    plan = practical_plan(n_components, k, n)
    algorithm = ApproximateDictionary(plan, None)
    state = ApproximateState("gather", d, str(X.dtype), n, random_state)
    rows = np.arange(n)
    if n > plan.n_rows:
        rows = np.sort(np.random.default_rng(random_state).choice(n, plan.n_rows, replace=False))
        X = X[rows]
    finite = np.isfinite(row_norms2(X))
    if not finite.all():
        raise ValueError(f"X: row {rows[np.argmin(finite)]} holds NaN or Inf")
    U, norms = unit_rows(X)
    longest = float(norms.max())
    if longest == 0.0:
        return fill_up(U[:0], n_components, None, random_state)
    peel = peel_sample(algorithm, state, U, row_weights(norms, False, longest))
    return fill_up(peel.atoms, n_components, peel.candidates, random_state)
