"""The factorization machine for regression."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from altmin.algorithms.quadratic.low_rank import UserModel, user_model
from altmin.algorithms.quadratic.one_pass import OnePass, OnePassState
from altmin.contract import Block
from altmin.engine import AnySource, Result, Source, map_rows, open_source
from altmin.engine.outcome import make_outcome
from altmin.engine.sources import Table
from altmin.estimators.base import SHARED_CONSTRAINTS, Estimator
from altmin.estimators.quadratic.categories import encode, encoded_names, has_categories, learn_categories
from altmin.estimators.quadratic.report import mean_square_left, report
from altmin.estimators.quadratic.shared import auto_batch, regression_target
from altmin.estimators.quadratic.sweeps import looks_one_hot, refine
from altmin.guarantees.contract import judge
from altmin.guarantees.machine_rows import column_units, difference
from altmin.guarantees.quadratic import SWEPT
from altmin.guarantees.refits import on_halves, sample
from altmin.guarantees.report import GuaranteeReport


class FactorizationMachineRegressor(RegressorMixin, Estimator):
    r"""Quadratic regression of low rank, learned in one pass with a state of O(rank * n_features).

    .. math:: y = b + x^T w + x^T M x, \qquad M = M^T = \sum_{i \le k} \lambda_i f_i f_i^T

    M has a diagonal and eigenvalues of any sign, which other factorization machines cannot represent.
    Each batch gives an estimate of what M and w still miss, and a noisy power step follows (Lin and Ye
    2016, Algorithm 1; Theorem 1 gives linear convergence for Gaussian features). Features that aren't
    Gaussian are standardised, corrected by their third and fourth moments and, if correlated, whitened;
    each step is judged by the loss on the next rows and taken back if it made it worse.

    Parameters
    ----------
    rank : int
        Rank k of M; one above ``n_features`` is ``n_features``.
    batch_size : 'auto' or int
        Rows of a batch. 'auto' is about 20 * rank * n_features, or all rows in every step where there
        are fewer than ten such batches. Batches of a table in memory are random rows; files and streams
        are read in their order, which should be random.
    step : 'auto' or float
        Length of a step; 'auto' follows from the batch size and decays once the loss stops falling.
        The printed algorithm is ``step=1., fit_intercept=False, moments='gaussian', whiten=False``; with
        features and step taken as they are, steps aren't guarded either.
    fit_intercept : bool
        Whether there is b. Without it features aren't centred either.
    moments : {'auto', 'gaussian', 'sample'}
        Third and fourth moments of the features: those of a Gaussian, of the first rows, or of the first
        rows if they differ. 'gaussian' with ``whiten=False`` takes features as they are.
    whiten : 'auto' or bool
        Whether correlated features are whitened. The only place that forms an n_features x n_features
        array; 'auto' looks up to 1000 features.
    refine : {None, 'als'}
        'als' goes on with coordinate sweeps over rows that are in memory, each parameter to its ridge
        value in turn. One-hot and very sparse features, and frames with categorical columns, are always
        learned by sweeps: their moments say too little.
    alpha : float or (float, float)
        Ridge of the sweeps (on the linear part, on the factors), in units of the spread of y.
    max_iter : int
        Steps (batches, sweeps) at most; data that can be read again are read in several epochs.
    tol : float
        Stop where steps stay below it, in units of the spread of y.
    random_state : int, RandomState or None
        Seed of the start's random directions.
    verbose : int
        Progress line.
    checkpoint : path-like or None
        Folder in which ``fit`` saves its state, and from which it goes on.
    n_jobs : int or None
        Threads; the result doesn't depend on it. None: as many as BLAS may use.

    Attributes
    ----------
    intercept_ : float
        b.
    coef_ : ndarray of shape (n_features,)
        w, in the user's own columns.
    factors_ : ndarray of shape (rank, n_features)
        Unit rows f_i, by falling \|eigenvalue\|; their largest entry is positive.
    eigenvalues_ : ndarray of shape (rank,)
        lambda_i.
    diagonal_ : ndarray of shape (n_features,) or None
        After sweeps: squares of single columns beside the factors; part of ``matrix()``.
    encoded_names_ : list of str
        For frames with categorical columns: the one-hot columns that ``coef_`` and ``factors_`` speak of.
    unidentified_ : ndarray of int
        Columns whose own square the data cannot tell from the column (binary, constant).
    loss_ : float
        Share of the variance of y that was left on the last fresh rows (on all rows, if they were reused).
    n_iter_ : int
        Steps taken.
    history_ : list of dict
        One row a step: change, loss on fresh rows, step, rows so far, steps taken back.
    outcome_ : Outcome
        How the fit ended, and what to try.
    guarantee_ : GuaranteeReport
        Whether w and M were found, and why or why not; ``guarantee(X, y, effort="full")`` spends more.

    Notes
    -----
    **Guarantee.** Theorem 1: the error falls linearly in the batches for Gaussian features; corrected for
    moments, for independent ones. The report measures moments, correlations and the loss on fresh rows;
    'recovered' needs rows that can be looked at again. Claimed are b, w and M, not the factors; endogeneity
    can't be seen in data.

    **Cost.** A step on n rows takes O(n * n_features * rank), twice; no row is copied and sparse rows stay
    sparse. State: about ten times rank * n_features numbers, and n_features^2 where features are whitened.

    References
    ----------
    M. Lin and J. Ye, A non-convex one-pass framework for generalized factorization machine and
    rank-one matrix sensing, NIPS 2016.

    Examples
    --------
    >>> from altmin import FactorizationMachineRegressor
    >>> from altmin.datasets import make_quadratic
    >>> problem = make_quadratic(4000, 20, 2, mixed_signs=True, intercept=3.0, random_state=0)
    >>> model = FactorizationMachineRegressor(2, random_state=0).fit(problem.X, problem.y)
    >>> problem.error(model.coef_, model.factors_, model.eigenvalues_) < 1e-8
    True
    >>> round(model.intercept_, 6), sorted(model.eigenvalues_.round(6).tolist())
    (3.0, [-1.0, 1.0])
    """

    _assumptions = ("exogenous",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "rank": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "step": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="right")],
        "fit_intercept": ["boolean"],
        "moments": [StrOptions({"auto", "gaussian", "sample"})],
        "whiten": [StrOptions({"auto"}), "boolean"],
        "refine": [StrOptions({"als"}), None],
        "alpha": [Interval(Real, 0, None, closed="left"), tuple],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        rank: int = 8,
        *,
        batch_size: Any = "auto",
        step: Any = "auto",
        fit_intercept: bool = True,
        moments: str = "auto",
        whiten: Any = "auto",
        refine: str | None = None,
        alpha: Any = 10.0,
        max_iter: int = 100,
        tol: float = 1e-13,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rank = rank
        self.batch_size = batch_size
        self.step = step
        self.fit_intercept = fit_intercept
        self.moments = moments
        self.whiten = whiten
        self.refine = refine
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FactorizationMachineRegressor:
        """Learn the model.

        Parameters
        ----------
        X : array-like, sparse, path of a .npy file, list of blocks or stream, (n_samples, n_features)
            The features. Blocks of a list or stream may be tuples (X, y) or (X, y, weight).
        y : array-like of shape (n_samples,)
            The target; None where the blocks bring it along.
        sample_weight : array-like of shape (n_samples,) or None
            How often each row counts.

        Returns
        -------
        FactorizationMachineRegressor
            The fitted estimator.
        """
        target = regression_target(self, X, y)
        source = self._open_encoded(X, target, sample_weight, reset=True)
        if looks_one_hot(source):
            self._sweep(source, start=None)
            return self
        algorithm = self._algorithm(source)
        self._adopt(self._run(algorithm, source))
        if self.refine == "als":
            self._sweep(source, start=self._model)
        else:
            self.guarantee_ = report(algorithm, self._state, self._model, source, self._losses)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FactorizationMachineRegressor:
        """Go on with more rows, each of which is read once.

        Parameters
        ----------
        X : as in ``fit``
            The next rows. Until there are a few times ``n_features`` of them they are kept.
        y : array-like of shape (n_samples,)
            Their target.
        sample_weight : array-like of shape (n_samples,) or None
            How often each row counts.

        Returns
        -------
        FactorizationMachineRegressor
            The estimator.
        """
        known: OnePassState | None = getattr(self, "_state", None)
        kept = getattr(self, "_kept", ())
        target = regression_target(self, X, y)
        if known is None:
            self._categories: dict[str, list[str]] = {}
            self.encoded_names_: list[str] = []
        source = self._open(X, target, sample_weight, reset=known is None)
        algorithm = self._algorithm(source, once=True)
        state, pieces = None, []
        if known is not None and not kept:
            state = algorithm.resume(known)
        elif source.replayable:
            pieces = [*(Table(*part) for part in kept), *source.require_replayable("a first call").pieces]
            source = Source(pieces, source.dtype)
        result = self._run(algorithm, source, state, max_iter=None, checkpoint=None, tol=0.0)
        self._adopt(result)
        self.guarantee_ = report(algorithm, self._state, self._model, None, self._losses)
        enough = (source.info.n_rows or 0) >= 4 * (source.info.n_features + 8)
        self._kept = () if enough else tuple(_parts(piece) for piece in pieces)
        return self

    def _algorithm(self, source: AnySource, once: bool = False) -> OnePass:
        info = source.info
        rows = auto_batch(info, self.rank) if self.batch_size == "auto" else int(self.batch_size)
        total = None if once else info.n_rows
        if total is not None and self.batch_size == "auto" and total < 10 * rows:
            rows = 0
        return OnePass(
            rank=self.rank,
            batch_size=rows,
            step=None if self.step == "auto" else float(self.step),
            intercept=self.fit_intercept,
            moments=self.moments,
            whiten=self.whiten if isinstance(self.whiten, str) else bool(self.whiten),
            wrap=total is not None,
            total=total,
            shuffle=total is not None and not source.on_disk,
            minimum_loss=float(np.finfo(info.dtype).eps) ** 2 * 1e4,
        )

    def _open_again(self, X: Any, y: Any, sample_weight: Any) -> AnySource:
        return self._open_encoded(X, regression_target(self, X, y), sample_weight, reset=False)

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        if not hasattr(self, "_state"):
            return judge(SWEPT, mean_square_left(source, self._block_values))
        algorithm = self._algorithm(source)
        fitted = (algorithm, self._state, self._model, source, self._losses)
        if not full:
            return report(*fitted, exogenous=assume == "exogenous")

        def refit(half: Source) -> UserModel:
            state = self._run(algorithm, half, checkpoint=None).state
            return user_model(state.lens, state.model, self.fit_intercept)

        unit = column_units(sample(source, 3000)[0])
        apart = max(difference(self._model, other, unit) for other in on_halves(refit, source))
        return report(*fitted, halves=apart, exogenous=assume == "exogenous")

    @property
    def _losses(self) -> list[float]:
        return [row["loss"] for row in self.history_]

    def _adopt(self, result: Result) -> None:
        self._set_run(result)
        self._state = result.state
        self._set_model(user_model(result.state.lens, result.state.model, self.fit_intercept))
        self.unidentified_ = np.flatnonzero(result.state.lens.blind)
        self.loss_ = float(result.state.loss)

    def _sweep(self, source: AnySource, start: UserModel | None) -> None:
        rows = source.require_replayable("refine='als'")
        alpha = self.alpha if isinstance(self.alpha, tuple) else (self.alpha, self.alpha)
        if len(alpha) != 2 or min(alpha) < 0:
            raise ValueError(f"alpha={self.alpha!r}: a number or a pair of them, none negative")
        rank = min(self.rank, source.info.n_features)
        model, losses, binary = refine(
            rows, rank, start=start, alpha=alpha, sweeps=self.max_iter, seed=self._seed() or 0
        )
        swept = [{"iteration": i + 1, "phase": "sweep", "loss": loss} for i, loss in enumerate(losses)]
        self.history_ = [*(self.history_ if start else []), *swept]
        self.n_iter_ = len(self.history_)
        self.outcome_ = make_outcome("converged" if len(losses) < self.max_iter else "max_iter")
        self.loss_ = losses[-1]
        self.unidentified_ = np.flatnonzero(binary)
        self.guarantee_ = judge(SWEPT, self.loss_)
        self._set_model(model)

    def _set_model(self, model: UserModel) -> None:
        self._model = model
        self.eigenvalues_, self.factors_ = model.eigenvalues, model.factors
        self.coef_, self.intercept_ = model.coef, model.intercept
        self.diagonal_ = model.diagonal

    def _open_encoded(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> AnySource:
        """As ``_open``; a frame with categorical columns is one-hot encoded first."""
        if reset:
            self._categories = learn_categories(X) if has_categories(X) else {}
            self.encoded_names_ = encoded_names(self._categories)
        if not self._categories:
            return self._open(X, y, sample_weight, reset=reset)
        if not hasattr(X, "columns"):
            raise ValueError("X: this model was fitted on a frame with categorical columns, and needs one")
        encoded = encode(X, self._categories)
        if reset:
            self.n_features_in_ = X.shape[1]
            self.feature_names_in_ = np.asarray([str(name) for name in X.columns], dtype=object)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
        return open_source(encoded, y, sample_weight)

    def predict(self, X: Any) -> Any:
        """The model's values.

        Parameters
        ----------
        X : as in ``fit``
            The features; a stream gives a generator of arrays.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        check_is_fitted(self)
        source = self._open_encoded(X, None, None, reset=False)
        return map_rows(self._block_values, source, self.n_jobs)

    def _block_values(self, block: Block) -> NDArray[Any]:
        return self._model.predict(block.X)

    def matrix(self) -> NDArray[Any]:
        """M, formed as an array.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            M in the columns that were given.
        """
        check_is_fitted(self)
        M = (self.factors_.T * self.eigenvalues_) @ self.factors_
        return M if self.diagonal_ is None else M + np.diag(self.diagonal_)

    def interaction(self, i: int, j: int) -> float:
        """How much the product of columns i and j counts: 2 M_ij, or M_ii for i = j.

        Parameters
        ----------
        i, j : int
            Columns.

        Returns
        -------
        float
            The coefficient of x_i x_j.
        """
        check_is_fitted(self)
        value = float(np.sum(self.eigenvalues_ * self.factors_[:, i] * self.factors_[:, j]))
        own = 0.0 if self.diagonal_ is None else float(self.diagonal_[i])
        return value + own if i == j else 2 * value


def _parts(table: Any) -> tuple[Any, ...]:
    return (table.X, table.y, table.weight)
