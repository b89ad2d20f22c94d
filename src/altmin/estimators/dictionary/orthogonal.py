"""The OrthogonalDictionaryLearning estimator."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from altmin.algorithms.dictionary.block_sums import SpanError
from altmin.algorithms.dictionary.complete import Complete
from altmin.algorithms.dictionary.orthogonal import Orthogonal
from altmin.estimators.dictionary.shared import (
    DictionaryEstimator,
    start_atoms,
)
from altmin.estimators.parameters import CountOrZero, Matrix, NotNegative, Share, UpToOne
from altmin.estimators.sklearn_bridge import fit_context

_DECAY = 0.97  # of Algorithm 4's threshold, from pass to pass


class OrthogonalDictionaryLearning(DictionaryEstimator):
    r"""Dictionary learning with orthogonal atoms, by hard thresholds and polar factors.

    .. math:: \min_{D \in \mathbb{O}(n),\, X} \|Y - X D\|_F^2 + \zeta^2 \|X\|_0

    where Y are the samples (rows), D (``components_``) the atoms and X the sparse codes. Each pass is
    exact in both: :math:`X = \mathrm{HT}_\zeta(Y D^\top)`, :math:`D = \mathrm{Polar}(X^\top Y)` (Liang et
    al. 2022, Algorithm 1; Theorem 1 gives linear convergence from near the truth). No whitening is
    done: this is also the transform learning for image patches, from a cosine start.

    Parameters
    ----------
    init : 'portfolio', 'identity', 'dct', 'random' or array-like of shape (n_features, n_features)
        Start: the searches of :class:`CompleteDictionaryLearning` with orthogonal atoms, or one matrix.
        An array has the shape of ``components_``, one atom per row. 'dct' is the two-dimensional cosine
        basis where n_features is a square number. With ``keep`` or a ``warm_up`` of its own, 'portfolio'
        is 'identity'.
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
        For the starts.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Orthonormal atoms, by falling energy of their codes (in the order of ``init`` if it is an array).
    density_ : ndarray of shape (n_features,)
        Share of nonzero codes of each atom, theta of the paper.
    row_scaling_ : bool
        Whether large rows were shrunk to one size, because a few held most of the energy of the data.
    row_level_ : float
        The median norm of the rows, to which larger ones were shrunk; 0 where ``row_scaling_`` is False.

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

    init: Literal["portfolio", "identity", "dct", "random"] | Matrix = "portfolio"
    threshold: Literal["auto"] | NotNegative = "auto"
    keep: UpToOne | None = None
    warm_up: Literal["auto"] | Share | None = "auto"
    max_iter: CountOrZero = 500
    tol: NotNegative = 1e-13

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the dictionary."""
        source = self._open(X, reset=True)
        algorithm: Orthogonal | Complete = self._algorithm(source.info.n_features)
        # without a random_state the searches begin at fixed rotations: two fits of the same data are the same
        fixed = {"seed": 0} if self.random_state is None and isinstance(algorithm, Complete) else {}
        try:
            result = self._run(algorithm, source, **fixed)
        except SpanError:  # a search needs data in all directions, a falling threshold doesn't
            algorithm = Orthogonal(np.eye(source.info.n_features), algorithm.threshold, None, _DECAY)
            result = self._run(algorithm, source, checkpoint=self._folder_for("falling threshold"))
        self._set_run(result)
        agreeing = result.state.search.agreeing if isinstance(algorithm, Complete) else None
        given = None if isinstance(self.init, str) else self.init
        self._set_fit(result.state, source.info.dtype, given, agreeing, theorem=1)
        self._report_when_asked(source, lambda model, rows: model._judge(rows, full=False))
        return self

    def _algorithm(self, n_features: int) -> Orthogonal | Complete:
        if self.keep is not None and not isinstance(self.threshold, str):
            raise ValueError(f"keep={self.keep} and threshold={self.threshold}: give one of them")
        given = not isinstance(self.init, str)
        threshold = None if isinstance(self.threshold, str) else float(self.threshold)
        plain = self.keep is None and self.warm_up == "auto"
        if not given and self.init == "portfolio" and plain:
            return Complete(n_features, threshold=threshold, orthogonal=True)
        start = start_atoms(self.init, n_features)
        decay: float | None = _DECAY
        if self.warm_up != "auto":
            decay = self.warm_up
        elif given or self.init == "dct" or self.keep is not None:
            decay = None
        return Orthogonal(start, threshold, self.keep, decay)

    def _from_another_start(self, model: Any) -> Any:
        init = "portfolio" if isinstance(self.init, str) and self.init == "portfolio" else "random"
        return clone(model).set_params(random_state=2, init=init)

    def _decoder(self) -> np.ndarray:
        return self.components_.T
