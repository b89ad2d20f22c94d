"""The OrthogonalDictionaryLearning estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import Interval, StrOptions

from altmin.algorithms.dictionary.orthogonal import Orthogonal, OrthogonalState
from altmin.estimators.base import SHARED_CONSTRAINTS
from altmin.estimators.dictionary.shared import (
    CODING_CONSTRAINTS,
    DictionaryEstimator,
    start_atoms,
    start_distance,
)


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
    transform_algorithm : {'threshold', 'omp', 'ormp'}
        How ``transform`` codes: thresholded products, or a pursuit.
    transform_n_nonzero_coefs : int or None
        Nonzeros of a sample; None is by threshold (pursuits: a tenth of the features).
    max_iter : int
        Passes at most.
    tol : float
        Stop where no atom moved by more than this for three passes.
    random_state : int, RandomState or None
        For ``init='random'``.
    verbose : int
        Progress line.
    checkpoint : path-like or None
        Folder in which ``fit`` saves its state, and from which it goes on.
    n_jobs : int or None
        Threads; the result doesn't depend on it. None: as many as BLAS may use.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Orthonormal atoms, by falling energy of their codes (in the order of ``init`` if it is an array).
    component_scales_ : ndarray of shape (n_features,)
        Root mean square of each atom's nonzero codes.
    thresholds_ : ndarray of shape (n_features,)
        Thresholds at the end, in units of the data.
    density_ : ndarray of shape (n_features,)
        Share of nonzero codes of each atom, theta of the paper.
    noise_std_ : float
        Estimated noise of a feature.
    reconstruction_err_ : float
        Frobenius norm of what the codes leave over.
    n_iter_ : int
        Passes taken.
    history_ : list of dict
        One row a pass.
    outcome_ : Outcome
        How the fit ended, and what to try.
    guarantee_ : GuaranteeReport
        Whether these are the true atoms; ``guarantee(X)`` spends more on the answer.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **CODING_CONSTRAINTS,
        "init": [StrOptions({"identity", "dct", "random"}), "array-like"],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "keep": [Interval(Real, 0, 1, closed="right"), None],
        "warm_up": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        init: Any = "identity",
        threshold: Any = "auto",
        keep: float | None = None,
        warm_up: Any = "auto",
        transform_algorithm: str = "threshold",
        transform_n_nonzero_coefs: int | None = None,
        max_iter: int = 500,
        tol: float = 1e-13,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.init = init
        self.threshold = threshold
        self.keep = keep
        self.warm_up = warm_up
        self.transform_algorithm = transform_algorithm
        self.transform_n_nonzero_coefs = transform_n_nonzero_coefs
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> OrthogonalDictionaryLearning:
        """Learn the dictionary.

        Parameters
        ----------
        X : array-like, sparse, path of a .npy file, or list of blocks, (n_samples, n_features)
            The data.
        y : None
            Ignored.

        Returns
        -------
        OrthogonalDictionaryLearning
            The fitted estimator.
        """
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
