"""Orthogonal dictionaries of image patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from altmin.algorithms.dictionary.orthogonal import Orthogonal
from altmin.engine import Settings, Source, open_source, run
from altmin.estimators.dictionary.orthogonal import OrthogonalDictionaryLearning
from altmin.estimators.dictionary.shared import dct_atoms
from altmin.kernels.polar import polar

# Keeping few codes moves the atoms fast, keeping many refines them: the faces of docs/theory gain .4 dB
# at 35 of 100 atoms over any constant share in the same time.
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3)
SPARSE_SHARES = (0.03, 0.05, 0.1)  # for filling in, where the few largest codes decide


def learn_dictionary(
    patches: Any,
    *,
    init: Any = "dct",
    shares: Sequence[float] = SHARES,
    max_iter: int = 25,
    n_jobs: int | None = None,
) -> OrthogonalDictionaryLearning:
    r"""Learn an orthogonal dictionary from patches: no whitening, from the cosine basis.

    .. math:: \min_{D \in \mathbb{O}(n),\, X} \|Y - X D\|_F^2 \quad\text{subject to}\quad
              \|X\|_0 \le \text{share} \cdot n\,p

    for each share in turn, each from where the last one ended.

    Parameters
    ----------
    patches : Patches or array-like of shape (n_patches, n_pixels)
        Centred ones learn best: the mean of a patch is coded apart.
    init : 'dct' or array-like of shape (n_pixels, n_pixels)
        Start.
    shares : sequence of float
        Shares of the codes that are kept. The default serves a close approximation (a third of the codes
        or so); for filling in missing pixels (.03, .05, .1) is better.
    max_iter : int
        Passes for each share.
    n_jobs : int or None
        Threads.

    Returns
    -------
    OrthogonalDictionaryLearning
        The last fit; ``components_`` are the atoms.

    Notes
    -----
    **Guarantee.** None claimed: patches don't follow the model of Theorem 1. Each pass lowers the objective
    for its share.

    **Cost.** A pass takes n_patches * n_pixels^2, for each share.

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves complete
    dictionary learning, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.images import Patches, learn_dictionary
    >>> image = np.random.default_rng(0).standard_normal((40, 40)).cumsum(0).cumsum(1)
    >>> learn_dictionary(Patches(image, 6, center=True), max_iter=3).components_.shape
    (36, 36)
    """
    if not shares:
        raise ValueError("shares is empty; at least one number in (0, 1] is needed")
    for share in shares[:-1]:
        if isinstance(init, str):
            init = dct_atoms(patches.shape[1])
        init = alternate(patches, init, keep=share, max_iter=max_iter, n_jobs=n_jobs)
    model = OrthogonalDictionaryLearning(init=init, keep=shares[-1], max_iter=max_iter, n_jobs=n_jobs)
    return model.fit(patches)


def alternate(
    patches: Any,
    start: NDArray[Any],
    *,
    keep: float | None = None,
    threshold: float | None = None,
    max_iter: int,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Atoms after some passes of Algorithm 1 from a start: the estimator without its report.

    Parameters
    ----------
    patches : Patches or ndarray of shape (n_patches, n_pixels)
        What to learn from.
    start : ndarray of shape (n_pixels, n_pixels)
        Orthogonal atoms.
    keep, threshold : float or None
        Share of the codes, or smallest code, that is kept.
    max_iter : int
        Passes.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (n_pixels, n_pixels)
        In the order of the start.
    """
    source = patches if isinstance(patches, Source) else open_source(np.asarray(patches))
    algorithm = Orthogonal(polar(np.asarray(start, np.float64)), threshold, keep, None)
    return run(algorithm, source, Settings(max_iter=max_iter, n_jobs=n_jobs)).state.atoms


def cosine_patches(height: int, width: int) -> NDArray[np.float32]:
    """The orthonormal cosine basis of patches, an atom a row."""
    lines, columns = (dct(np.eye(n), axis=0, norm="ortho") for n in (height, width))
    return np.kron(lines, columns).astype(np.float32)
