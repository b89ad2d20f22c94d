"""The OrthogonalDictionaryLearning estimator."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from altmin.algorithms.dictionary.orthogonal import Orthogonal, OrthogonalState
from altmin.estimators.dictionary.shared import (
    DictionaryEstimator,
    start_atoms,
    start_distance,
)
from altmin.estimators.parameters import CountOrZero, Matrix, NotNegative, Share, UpToOne
from altmin.estimators.sklearn_bridge import fit_context


class OrthogonalDictionaryLearning(DictionaryEstimator):
    r"""Sparse codes under an orthogonal dictionary, by hard thresholds and polar factors.

    .. math:: \min_{D \in \mathbb{O}(n),\, X} \|Y - X D\|_F^2 + \zeta^2 \|X\|_0

    where Y are the samples (rows), D (``components_``) the atoms and X the sparse codes. Each pass is
    exact in both: :math:`X = \mathrm{HT}_\zeta(Y D^\top)`, :math:`D = \mathrm{Polar}(X^\top Y)` (Liang et
    al. 2022, Algorithm 1; Theorem 1 gives linear convergence from near the truth). No whitening is
    done: this is also the transform learning for image patches, from a cosine start.

    Parameters
    ----------
    init : 'identity', 'dct', 'random' or array-like of shape (n_features, n_features)
        Start; an array has the shape of ``components_``, an atom a row. 'dct' is the two-dimensional
        cosine basis where n_features is a square number.
    threshold : 'auto' or float
        Smallest code that is kept, in units of the data. 'auto' needs no scale: it descends to a share of
        the kept codes' size, then as far as convergence and the estimated noise allow.
    keep : float or None
        Share of the codes to keep, instead of a threshold: .1 is a good choice for image patches.
    warm_up : 'auto', float or None
        Factor by which Algorithm 4's threshold falls in each pass; 'auto' is .97 from the identity or a
        random start, and none from a meaningful one ('dct', an array) or with ``keep``.
    tol : float
        Stop where no atom moved by more than this for three passes.
    random_state : int, RandomState or None
        For ``init='random'``.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Orthonormal atoms, by falling energy of their codes (in the order of ``init`` if it is an array).
    density_ : ndarray of shape (n_features,)
        Share of nonzero codes of each atom, theta of the paper.

    Notes
    -----
    **Guarantee.** Theorem 1: linear convergence from near the truth for sparse codes bounded away from
    zero. The report measures its conditions and rests on zeros of the codes, spans and pairs; at best
    'recovered'. Recovered are the atoms up to order and sign.

    **Cost.** A pass is two products, O(n_samples * n_features^2), and a polar factor, O(n_features^3).
    Memory: n_features^2 and a few blocks of rows.

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves
    complete dictionary learning, 2022.

    Examples
    --------
    >>> from altmin import OrthogonalDictionaryLearning
    >>> from altmin.datasets import make_sparse_dictionary
    >>> from altmin.metrics import atom_error
    >>> problem = make_sparse_dictionary(2000, 20, orthogonal=True, random_state=0)
    >>> model = OrthogonalDictionaryLearning().fit(problem.X)
    >>> atom_error(model.components_, problem.components) < 1e-12
    True
    """

    init: Literal["identity", "dct", "random"] | Matrix = "identity"
    threshold: Literal["auto"] | NotNegative = "auto"
    keep: UpToOne | None = None
    warm_up: Literal["auto"] | Share | None = "auto"
    max_iter: CountOrZero = 500
    tol: NotNegative = 1e-13

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the dictionary."""
        source = self._open(X, reset=True)
        given = not isinstance(self.init, str)
        start = start_atoms(self.init, source.info.n_features)
        result = self._run(self._algorithm(start, given), source)
        self._set_run(result)
        self._set_fit(result.state, source.info.dtype, keep_order=given)
        self.guarantee_ = self._judge(source, full=False)  # type: ignore[arg-type]
        return self

    def _algorithm(self, start: np.ndarray | None, given: bool) -> Orthogonal:
        if self.keep is not None and not isinstance(self.threshold, str):
            raise ValueError(f"keep={self.keep} and threshold={self.threshold}: give one of them")
        decay: float | None = 0.97
        if self.warm_up != "auto":
            decay = self.warm_up
        elif given or self.init == "dct" or self.keep is not None:
            decay = None
        threshold = None if isinstance(self.threshold, str) else float(self.threshold)
        return Orthogonal(start, threshold, self.keep, decay)

    def _set_fit(self, state: OrthogonalState, dtype: Any, *, keep_order: bool) -> None:
        order = self._set_dictionary(state.atoms, state.squares, dtype, keep_order=keep_order)
        rms = np.sqrt(state.squares / np.maximum(state.counts, 1.0)) * state.scale
        self.component_scales_ = rms[order]
        self.thresholds_ = state.thresholds[order] * state.scale
        self.density_ = state.counts[order] / state.n_rows
        self.noise_std_ = state.noise * state.scale
        self.reconstruction_err_ = float(np.sqrt(state.residual)) * state.scale
        start = start_distance(start_atoms(self.init, self.n_features_in_), self.components_)
        self._set_guarantee(state, order, None, theorem=1, start=start)

    def _from_another_start(self, model: Any) -> Any:
        return clone(model).set_params(random_state=2, init="random")

    def _decoder(self) -> np.ndarray:
        return self.components_.T
