"""The factorization machine for regression."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from altmin.algorithms.quadratic.least_squares import LeastSquares, LeastSquaresState
from altmin.algorithms.quadratic.low_rank import UserModel, user_model
from altmin.algorithms.quadratic.one_pass import OnePass
from altmin.algorithms.sparse.machine import SparseMachine, SparseState
from altmin.algorithms.sparse.machine import user_model as sparse_user_model
from altmin.contract import Block, Info
from altmin.engine import AnySource, Result, Source, map_rows
from altmin.engine.sources import Table
from altmin.estimators.parameters import Count, NotNegative, UpToOne
from altmin.estimators.quadratic.categories import OpensFrames
from altmin.estimators.quadratic.report import mean_square_left, report
from altmin.estimators.quadratic.reservoir import ROWS, Reservoir
from altmin.estimators.quadratic.shared import (
    auto_batch,
    is_sparse_table,
    machine_bytes,
    reads_again,
    regression_target,
)
from altmin.estimators.quadratic.sparse_stream import SparseStream, feed
from altmin.estimators.sklearn_bridge import RegressorMixin, fit_context
from altmin.guarantees.contract import judge
from altmin.guarantees.machine import SWEPT
from altmin.guarantees.machine_rows import column_units, difference, n_parameters
from altmin.guarantees.refits import on_halves, sample
from altmin.guarantees.report import GuaranteeReport

_KEPT_NUMBERS, _KEPT_ROWS = 40_000, (1000, 5000)  # of the fair sample of a stream
_FIT_AGAIN = 1.25  # times the rows of the last fit of that sample
_LEAST_CHANGED, _LOST = 30, 1.5  # rows of a chunk, and their loss over their variance, after which all is new


class FactorizationMachineRegressor(RegressorMixin, OpensFrames):
    r"""Regression on products of features: a linear model plus a quadratic one of low rank, also on streams.

    .. math:: y = b + x^T w + x^T M x, \qquad M = M^T = \sum_{i \le k} \lambda_i f_i f_i^T

    M has a diagonal and eigenvalues of any sign, which other factorization machines cannot represent. Where
    the data show a law of products of *different* columns, as those machines assume, squares of single
    columns get coefficients of their own beside the k factors (``diagonal_``).
    Each batch gives an estimate of what M and w still miss, and a noisy power step follows (Lin and Ye
    2016, Algorithm 1; Theorem 1 gives linear convergence for Gaussian features). Features that aren't
    Gaussian are standardised, corrected by their third and fourth moments and, if correlated, whitened;
    each step is judged by the loss on the next rows and taken back if it made it worse. One-hot and very
    sparse features, and frames with categorical columns, are learned by variational sweeps instead: their
    moments say too little.

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
    max_iter : int
        Largest number of steps (batches, sweeps); data that can be read again are read in several epochs.
    tol : float
        Stop where steps stay below it, in units of the spread of y.

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
        Coefficients of squares of single columns beside the factors, where the data ask for them; part of
        ``matrix()``. None: the factors hold all squares.
    encoded_names_ : list of str
        For frames with categorical columns: the one-hot columns to which ``coef_`` and ``factors_`` refer.
    unidentified_ : ndarray of int
        Columns whose own square the data cannot tell from the column (binary, constant).
    loss_ : float
        Share of the variance of y that was left on the last fresh rows (on all rows, if they were reused).
    history_ : list of dict
        One row per step: change, loss on fresh rows, step, rows so far, steps taken back.

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
    _retired: ClassVar[tuple[str, ...]] = ("refine", "alpha")

    rank: Count = field(default=8, kw_only=False)
    batch_size: Literal["auto"] | Count = "auto"
    step: Literal["auto"] | UpToOne = "auto"
    fit_intercept: bool = True
    moments: Literal["auto", "gaussian", "sample"] = "auto"
    whiten: Literal["auto"] | bool = "auto"
    max_iter: Count = 1000
    tol: NotNegative = 1e-13

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the model.

        Parameters
        ----------
        X : array-like, sparse, path of a .npy file, list of blocks or stream, (n_samples, n_features)
            The features. Blocks of a list or stream may be tuples (X, y) or (X, y, weight).
        y : array-like of shape (n_samples,)
            The target; None where the blocks bring it along.
        """
        target = regression_target(self, X, y)
        source = self._open_encoded(X, target, sample_weight, reset=True)
        if is_sparse_table(source):
            result = self._run(SparseMachine(min(self.rank, source.info.n_features)), source)
            self._adopt(result)
            self._kept: Reservoir | None = None
            self._n_fitted = 0
            self._stream: SparseStream | None = SparseStream(result.state)
            self.guarantee_ = judge(SWEPT, self.loss_)
            return self
        algorithm = self._algorithm(source)
        self._adopt(self._run(algorithm, source))
        self._kept, self._stream, self._n_fitted = None, None, source.info.n_rows or 0
        self._report_on(source, algorithm, self._state)
        return self

    @fit_context
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on with more rows, each of which is read once.

        Parameters
        ----------
        X : as in ``fit``
            The next rows. Until there are a few times ``n_features`` of them they are kept.
        y : array-like of shape (n_samples,)
            Their target.
        """
        known = getattr(self, "_state", None)
        target = regression_target(self, X, y)
        if known is None:
            self._categories, self.encoded_names_ = {}, []
            self._kept, self._n_fitted, self._stream = None, 0, None
        source = self._open(X, target, sample_weight, reset=known is None)
        if isinstance(known, SparseState) or (known is None and is_sparse_table(source)):
            return self._feed(source.require_replayable("partial_fit on sparse rows"))
        algorithm = self._algorithm(source, once=True)
        if not source.replayable:
            self._adopt(self._go_on(algorithm, source, self._ready(algorithm)), more=True)
            self.guarantee_ = report(
                algorithm, self._state, self._model, None, self._losses, n_jobs=self.n_jobs
            )
            return self
        rows = source.require_replayable("partial_fit")
        self._read(algorithm, rows, rows.take(np.arange(rows.n_rows)))
        return self

    def _read(self, algorithm: OnePass, source: Source, rows: Table) -> None:
        """The next rows of a stream; a fair sample of all so far is fitted anew from time to time.

        The first rows may look unlike the later ones: smaller, or sorted. While the sample holds all rows,
        its fit is as good as any; later it is taken where it promises to do better than the stream's own
        model. Rows that a model predicts worse than their mean does make it begin anew with them.
        """
        d = source.info.n_features
        if self._n_fitted and _worse_than_nothing(self._model, rows):
            self._kept, self._n_fitted = None, 0
        if self._kept is None:
            room = np.clip(_KEPT_NUMBERS // d, *_KEPT_ROWS)
            size = min(max(6 * n_parameters(d, min(self.rank, d)), int(room)), ROWS)
            self._kept = Reservoir.of(rows, self._seed() or 0, size)
        else:
            self._kept = self._kept.more(rows)
        kept = self._kept
        early = kept.n_seen < _FIT_AGAIN * self._n_fitted
        if early or self._asks_for_stream_steps:  # whoever sets the steps of the stream gets those alone
            self._adopt(self._go_on(algorithm, source, self._ready(algorithm)), more=True)
        else:
            again = self._run(self._algorithm(kept.source()), kept.source(), checkpoint=None)
            model = user_model(again.state.lens, again.state.model, self.fit_intercept)
            n, p = len(kept.y), n_parameters(d, min(self.rank, d))
            on_new_rows = _loss(model, kept) * (n + p) / max(n - p, 1)  # fitted rows look better
            better = not self._n_fitted or _loss(self._model, kept) > on_new_rows
            if kept.complete or better:
                self._adopt(again, more=True)
            else:
                self._adopt(self._go_on(algorithm, source, self._ready(algorithm)), more=True)
            self._n_fitted = kept.n_seen
        self._report_on(kept.source(), algorithm, replace(self._state, rows=kept.n_seen))

    def _report_on(self, source: AnySource, algorithm: OnePass, state: Any) -> None:
        """Let these rows, or copies of them, be what the report looks at."""
        model, losses = deepcopy(self._model), self._losses  # coef_ and factors_ are arrays of the model
        self._report_when_asked(
            source, lambda twin, rows: report(algorithm, state, model, rows, losses, n_jobs=twin.n_jobs)
        )

    def _ready(self, algorithm: OnePass) -> Any:
        """What is known, as a state of the stream algorithm; None before the first rows."""
        known = getattr(self, "_state", None)
        if known is None:
            return None
        if isinstance(known, LeastSquaresState):
            return algorithm.after(LeastSquares(self.rank).resume(known), known.n)
        return algorithm.resume(known)

    def _feed(self, source: Source) -> Self:
        """Sparse rows: the posterior of those so far is the prior of the next ones."""
        machine = SparseMachine(min(self.rank, source.info.n_features))
        self._stream, result = feed(getattr(self, "_stream", None), source, machine, self._go_on)
        self._adopt(result, more=True)
        self.guarantee_ = judge(SWEPT, self.loss_)
        return self

    def _go_on(self, algorithm: Any, source: AnySource, state: Any) -> Result:
        return self._run(algorithm, source, state, max_iter=None, checkpoint=None, tol=0.0)

    @property
    def _asks_for_stream_steps(self) -> bool:
        printed = self.moments == "gaussian" and self.whiten is False
        return self.batch_size != "auto" or self.step != "auto" or printed

    def _held_bytes(self, info: Info) -> int:
        return machine_bytes(info, self.rank)

    def _algorithm(self, source: AnySource, once: bool = False) -> OnePass:
        info = source.info
        rows = auto_batch(info, self.rank) if self.batch_size == "auto" else int(self.batch_size)
        total = None if once else info.n_rows
        if total is not None and self.batch_size == "auto" and total < 10 * rows:
            rows = 0
        finished = not once and not self._asks_for_stream_steps and reads_again(source)
        return (LeastSquares if finished else OnePass)(
            rank=self.rank,
            batch_size=0 if finished else rows,
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
        if isinstance(self._state, SparseState):
            left = mean_square_left(source, self._block_values)
            return judge(SWEPT, left, effort="full" if full else "cheap")
        algorithm = self._algorithm(source)
        fitted = (algorithm, self._state, self._model, source, self._losses)
        if not full:
            return report(*fitted, exogenous=assume == "exogenous", n_jobs=self.n_jobs)

        def refit(half: Source) -> UserModel:
            state = self._run(self._algorithm(half), half, checkpoint=None).state
            return user_model(state.lens, state.model, self.fit_intercept)

        unit = column_units(sample(source, 3000)[0])
        apart = max(difference(self._model, other, unit) for other in on_halves(refit, source))
        return report(*fitted, halves=apart, exogenous=assume == "exogenous", n_jobs=self.n_jobs)

    @property
    def _losses(self) -> list[float]:
        return [row["loss"] for row in self.history_]

    def _adopt(self, result: Result, more: bool = False) -> None:
        self._set_run(result, more)
        self._state = state = result.state
        if isinstance(state, SparseState):
            self._set_model(sparse_user_model(state))
            self.unidentified_ = np.flatnonzero(state.binary | (state.unit == 0))
        else:
            self._set_model(user_model(state.lens, state.model, self.fit_intercept))
            self.unidentified_ = np.flatnonzero(state.lens.blind)
        self.loss_ = float(state.loss)

    def _set_model(self, model: UserModel) -> None:
        self._model = model
        self.eigenvalues_: NDArray[Any] = model.eigenvalues
        self.factors_: NDArray[Any] = model.factors
        self.coef_: NDArray[Any] = model.coef
        self.intercept_ = float(model.intercept)
        self.diagonal_: NDArray[Any] | None = model.diagonal

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
        return map_rows(self._block_values, source, self.n_jobs, power=self._power)

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


def _loss(model: UserModel, rows: Any) -> float:
    return float(np.mean(np.square(np.asarray(rows.y, dtype=np.float64) - model.predict(rows.X))))


def _worse_than_nothing(model: UserModel, rows: Table) -> bool:
    """Whether a constant predicts these rows better: the law has changed."""
    return len(rows.y) >= _LEAST_CHANGED and _loss(model, rows) > _LOST * float(np.var(rows.y))  # type: ignore
