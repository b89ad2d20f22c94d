"""The AND estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from altmin.algorithms.and_nmf import AndNmf, AndState, decode, pseudo_inverse
from altmin.contract import Block
from altmin.engine import AnySource
from altmin.estimators._base import SHARED_CONSTRAINTS, ComponentsEstimator


class AND(ComponentsEstimator):
    r"""Non-negative factorization that recovers the features, by alternating non-negative descent.

    .. math:: y = x A, \qquad x \ge 0

    where y is a sample (a row of X), x its non-negative weights, and A (``components_``) the features,
    of any sign. In stages with a falling threshold, AND decodes
    :math:`z = \phi_\alpha(y A^+)` and takes gradient steps on A (Li and Liang 2017, Algorithm 1;
    Theorems 1, 4 and 5 give the recovery).

    Parameters
    ----------
    n_components : int
        Number of features to find, D.
    init : 'spa' or ndarray of shape (n_components, n_features)
        Start: pure samples found by successive projection, or a matrix near the truth.
    thresholds : 'auto', float or (float, float)
        'auto' reads them off the negative part of the decoded weights; ``(start, decay)`` is the
        paper's schedule ``start / decay**stage``; a number stays constant (binary weights: 1/4).
    inner_steps : int or None
        Gradient steps of a stage, taken in closed form; None is infinitely many (least squares).
    step : 'auto' or float
        Step size on the summed data; 'auto' is 1 / (largest eigenvalue of Z'Z).
    warm_start : bool
        Whether ``fit`` starts from the components of the last fit.
    max_iter : int
        Stages at most.
    tol : float
        Stop where the components' largest relative change stays below it.
    random_state : int, RandomState or None
        Not used by the default start, which has no randomness.
    verbose : int
        Progress line.
    checkpoint : path-like or None
        Folder in which ``fit`` saves its state, and from which it goes on.
    n_jobs : int or None
        Threads; the result doesn't depend on it. None: as many as BLAS may use.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Features of unit norm, by falling total weight (in the order of ``init`` if it is an array).
    component_scales_ : ndarray of shape (n_components,)
        Largest weights: ``component_scales_[i] * components_[i]`` has codes of at most about 1.
    reconstruction_err_ : float
        Frobenius norm of what non-negative codes leave over.
    n_iter_ : int
        Stages taken.
    history_ : list of dict
        One row a stage.
    outcome_ : Outcome
        How the fit ended, and what to try.

    References
    ----------
    Y. Li and Y. Liang, Provable alternating gradient descent for non-negative matrix factorization
    with strong correlations, ICML 2017.

    Examples
    --------
    >>> from altmin import AND
    >>> from altmin.datasets import make_dir
    >>> from altmin.metrics import total_correlation_error
    >>> problem = make_dir(1000, 60, 5, random_state=0)
    >>> model = AND(5).fit(problem.X)
    >>> total_correlation_error(model.components_, problem.components) < 1e-6
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"spa"}), "array-like"],
        "thresholds": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), tuple],
        "inner_steps": [Interval(Integral, 1, None, closed="left"), None],
        "step": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        n_components: int,
        *,
        init: Any = "spa",
        thresholds: Any = "auto",
        inner_steps: int | None = None,
        step: Any = "auto",
        warm_start: bool = False,
        max_iter: int = 200,
        tol: float = 0.0,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.thresholds = thresholds
        self.inner_steps = inner_steps
        self.step = step
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AND:
        """Find the features.

        Parameters
        ----------
        X : array-like, sparse, path of a .npy file, or list of blocks, (n_samples, n_features)
            The data.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            How often each sample counts.

        Returns
        -------
        AND
            The fitted estimator.
        """
        source = self._open(X, sample_weight=sample_weight, reset=True)
        result = self._run(self._algorithm(source), source)
        self._set_run(result)
        self._set_components(result.state)
        return self

    def _algorithm(self, source: AnySource) -> AndNmf:
        schedule = self.thresholds
        if isinstance(schedule, Real):
            schedule = (float(schedule), 1.0)
        return AndNmf(
            n_components=self.n_components,
            start=self._start(source),
            schedule=None if isinstance(schedule, str) else tuple(schedule),
            inner_steps=self.inner_steps,
            step=None if isinstance(self.step, str) else float(self.step),
        )

    def _start(self, source: AnySource) -> Any:
        if self.warm_start and hasattr(self, "components_"):
            return self.components_ * self.component_scales_[:, None]
        if isinstance(self.init, str):
            return None
        start = np.asarray(self.init)
        shape = (self.n_components, source.info.n_features)
        if start.shape != shape:
            raise ValueError(f"init has shape {start.shape}; (n_components, n_features) = {shape} is needed")
        return start

    def _set_components(self, state: AndState) -> None:
        norms = np.linalg.norm(state.A, axis=1)
        order = np.argsort(-state.mass * norms, kind="stable")
        if not isinstance(self.init, str) or self.warm_start:
            order = np.arange(len(norms))
        safe = np.where(norms > 0, norms, 1.0)
        self.components_ = (state.A / safe[:, None])[order]
        self.component_scales_ = norms[order]
        self.reconstruction_err_ = float(np.sqrt(state.residual))

    def _codes(self, block: Block) -> Any:
        return decode(block.X, pseudo_inverse(self.components_))
