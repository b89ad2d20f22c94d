"""The CompleteDictionaryLearning estimator."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any, Literal, Self

import numpy as np

from altmin.algorithms.dictionary.complete import Complete, CompleteState
from altmin.engine import AnySource
from altmin.estimators.dictionary.shared import (
    DictionaryEstimator,
    checked_start,
    wants_intercept,
)
from altmin.estimators.parameters import Count, CountOrZero, Matrix, NotNegative
from altmin.estimators.sklearn_bridge import fit_context

_AMPLIFIED = 10.0


class CompleteDictionaryLearning(DictionaryEstimator):
    r"""Dictionary learning with at most as many atoms as features; exact where the codes are sparse.

    .. math:: Y = X A, \qquad X \text{ sparse}, \quad A \in \mathbb{R}^{k \times n}, \; k \le n

    where Y are the samples (rows) and A (``components_``) the atoms. The data are whitened, rotations
    under which the codes look sparse are searched from several starts, and a least-squares polish makes
    the best of them exact (Liang et al. 2022, Algorithm 2 and Theorem 2; the portfolio of starts and the
    polish are ours).

    Parameters
    ----------
    n_components : int or None
        Number of atoms, at most n_features; None is the number of dimensions that the samples span.
    init : 'portfolio' or array-like of shape (n_components, n_features)
        Start: several searches, or atoms near the truth.
    threshold : 'auto' or float
        Smallest code of a unit atom that is kept, in units of the data; 'auto' needs no scale and knows
        about noise.
    batch_size : int or None
        Samples of a polish pass (Algorithm 2's mini-batches), drawn at random; None is all of them.
    fit_intercept : bool or 'auto'
        Whether the data are codes times atoms plus a constant row; 'auto' finds out whether their mean is
        larger than that of samples around zero.
    n_restarts : int
        How many starts must lead to the same dictionary before the search ends, unless the codes of one
        vanish exactly: then that one is enough.
    max_iter : int
        Largest number of passes over the data, for all starts together.
    tol : float
        Stop where the decoder moved by less than this for three passes.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit atoms, by falling energy of their codes (in the order of ``init`` if it is an array).
    density_ : ndarray of shape (n_components,)
        Share of nonzero codes of each atom, theta of the paper.
    row_scaling_ : bool
        Whether large rows were shrunk to one size, because a few held most of the energy of the data;
        thresholds are then shares of the norm of a row, or of ``row_level_`` if that is larger.
    row_level_ : float
        The median norm of the rows, to which larger ones were shrunk; 0 where ``row_scaling_`` is False.
    outlier_mask_ : ndarray of bool of shape (n_samples,)
        Rows that were left out as outliers; only where ``row_scaling_``.

    Notes
    -----
    **Guarantee.** Theorem 2, and the contraction of the polish by about the density of the codes in each
    pass, proven in the documentation: exact recovery of noiseless data, whatever the condition of the
    atoms. At best 'recovered', up to order, sign and scale.

    **Cost.** A pass takes O(n_samples * n_features * n_components); the search looks at a sample, the
    preconditioner takes O(n_features^3) once. Memory: a few n_features^2, the sample, a few blocks of rows.

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves
    complete dictionary learning, 2022.

    Examples
    --------
    >>> from altmin import CompleteDictionaryLearning
    >>> from altmin.datasets import make_sparse_dictionary
    >>> from altmin.metrics import atom_error
    >>> problem = make_sparse_dictionary(2000, 20, kind="gauss", random_state=0)
    >>> model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    >>> atom_error(model.components_, problem.components) < 1e-12
    True
    """

    n_components: Count | None = field(default=None, kw_only=False)
    init: Literal["portfolio"] | Matrix = "portfolio"
    threshold: Literal["auto"] | NotNegative = "auto"
    batch_size: Count | None = None
    fit_intercept: Literal["auto"] | bool = "auto"
    n_restarts: Count = 2
    max_iter: CountOrZero = 2000

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the dictionary."""
        source = self._open(X, reset=True)
        result = self._run(self._algorithm(source), source)
        self._set_run(result)
        given = None if isinstance(self.init, str) else self.init
        facts = {"agreeing": result.state.search.agreeing, "theorem": 2, "batch": self.batch_size}
        self._set_fit(result.state, source.info.dtype, given, **facts)
        self._report_when_asked(source, lambda model, rows: model._judge(rows, full=False))
        self._warn_of_span(source.info.n_features)
        self._warn_of_whitening(result.state)
        return self

    def _algorithm(self, source: AnySource) -> Complete:
        n_features = source.info.n_features
        k = None if self.n_components is None else int(self.n_components)
        if k is not None and k > n_features:
            raise ValueError(
                f"n_components={k} is more than the {n_features} features: codes are not unique then; "
                "ApproximateDictionaryLearning learns overcomplete dictionaries"
            )
        start = None
        if not isinstance(self.init, str):
            k = n_features if k is None else k
            start = checked_start(self.init, (k, n_features))
        return Complete(
            n_components=k,
            start=start,
            threshold=None if isinstance(self.threshold, str) else float(self.threshold),
            batch_size=self.batch_size,
            n_restarts=self.n_restarts,
            intercept=wants_intercept(self.fit_intercept),
        )

    def _warn_of_span(self, n_features: int) -> None:
        if self.n_components is None and len(self.components_) < n_features:
            warnings.warn(
                f"the samples span only {len(self.components_)} of {n_features} dimensions: as many atoms "
                "were learnt, within that span. Give n_components to choose their number",
                UserWarning,
                stacklevel=5,
            )

    def _warn_of_whitening(self, state: CompleteState) -> None:
        """Image patches hold little in most directions, and whitening makes those as loud as the rest."""
        spread = float(np.linalg.norm(state.frame.unwhiten, 2) * np.linalg.norm(state.frame.whiten, 2))
        if spread > _AMPLIFIED and not state.converged:
            warnings.warn(
                f"whitening amplified the weakest directions of the data {spread:.3g} times, and no sparse "
                "dictionary was found in them. For image patches and other smooth signals "
                "OrthogonalDictionaryLearning(init='dct', keep=0.1) codes better, without whitening",
                UserWarning,
                stacklevel=5,
            )
