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
    start_distance,
)
from altmin.estimators.parameters import Count, CountOrZero, Matrix, NotNegative
from altmin.estimators.sklearn_bridge import fit_context

_AMPLIFIED = 10.0


class CompleteDictionaryLearning(DictionaryEstimator):
    r"""Sparse codes under a dictionary of linearly independent atoms, recovered to machine precision.

    .. math:: Y = X A, \qquad X \text{ sparse}, \quad A \in \mathbb{R}^{k \times n}, \; k \le n

    where Y are the samples (rows) and A (``components_``) the atoms. The data are whitened, rotations
    under which the codes look sparse are searched from several starts, and a least-squares polish makes
    the best of them exact (Liang et al. 2022, Algorithm 2 and Theorem 2; the portfolio of starts and the
    polish are ours).

    Parameters
    ----------
    init : 'portfolio' or array-like of shape (n_components, n_features)
        Start: several searches, or atoms near the truth.
    threshold : 'auto' or float
        Smallest code of a unit atom that is kept, in units of the data; 'auto' needs no scale and knows
        about noise.
    batch_size : int or None
        Samples of a polish pass (Algorithm 2's mini-batches); None is all of them.
    n_restarts : int
        How many starts must lead to the same dictionary before the search ends.
    max_iter : int
        Passes over the data at most, those of all starts together.
    tol : float
        Stop where the decoder moved by less than this for three passes.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit atoms, by falling energy of their codes (in the order of ``init`` if it is an array).
    density_ : ndarray of shape (n_components,)
        Share of nonzero codes of each atom, theta of the paper.

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
    n_restarts: Count = 2
    max_iter: CountOrZero = 2000

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the dictionary."""
        source = self._open(X, reset=True)
        result = self._run(self._algorithm(source), source)
        self._set_run(result)
        self._set_fit(result.state, source.info.dtype)
        self.guarantee_ = self._judge(source, full=False)  # type: ignore[arg-type]
        return self

    def _algorithm(self, source: AnySource) -> Complete:
        n_features = source.info.n_features
        k = n_features if self.n_components is None else int(self.n_components)
        if k > n_features:
            raise ValueError(
                f"n_components={k} is more than the {n_features} features: codes are not unique then; "
                "ApproximateDictionaryLearning learns overcomplete dictionaries"
            )
        start = None if isinstance(self.init, str) else checked_start(self.init, (k, n_features))
        return Complete(
            n_components=k,
            start=start,
            threshold=None if isinstance(self.threshold, str) else float(self.threshold),
            batch_size=self.batch_size,
            n_restarts=self.n_restarts,
        )

    def _set_fit(self, state: CompleteState, dtype: Any) -> None:
        norms = np.linalg.norm(state.atoms, axis=1)
        given = not isinstance(self.init, str)
        atoms = state.atoms / norms[:, None]
        order = self._set_dictionary(atoms, state.squares * norms**2, dtype, keep_order=given)
        unit = (norms * state.scale)[order]  # a code of the unit atom, for one of the whitened atom
        rms = np.sqrt(state.squares / np.maximum(state.counts, 1.0))
        self.component_scales_ = rms[order] * unit
        self.thresholds_ = state.thresholds[order] * unit
        self.density_ = state.counts[order] / state.n_rows
        self.noise_std_ = state.noise * state.scale
        self.reconstruction_err_ = float(np.sqrt(state.residual)) * state.scale
        start = start_distance(self.init if given else None, self.components_)
        facts = {"batch": self.batch_size, "start": start}
        self._set_guarantee(state, order, state.search.agreeing, theorem=2, **facts)
        self._warn_of_whitening(state)

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
