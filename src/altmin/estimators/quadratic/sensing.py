"""Rank-one matrix sensing, symmetric and asymmetric."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from altmin.algorithms.quadratic.least_squares import LeastSquares
from altmin.algorithms.quadratic.low_rank import user_model
from altmin.algorithms.quadratic.one_pass import OnePass
from altmin.algorithms.quadratic.pair_least_squares import PairLeastSquares
from altmin.algorithms.quadratic.sensing import PairSensing, PairState, user_factors
from altmin.contract import Block, Info
from altmin.engine import AnySource, Source, map_rows, open_source
from altmin.estimators.base import Estimator
from altmin.estimators.parameters import Count, NotNegative, UpToOne
from altmin.estimators.quadratic.shared import (
    auto_batch,
    fresh_ratio,
    machine_bytes,
    reads_again,
    regression_target,
)
from altmin.estimators.sklearn_bridge import RegressorMixin, check_sample_weight, fit_context
from altmin.guarantees.contract import judge
from altmin.guarantees.machine_rows import rows_to_look_at
from altmin.guarantees.measurements import MAX_PARAMETERS, look, n_parameters
from altmin.guarantees.refits import count_distinct, on_halves, sample
from altmin.guarantees.report import GuaranteeReport
from altmin.guarantees.sensing import SENSING, SensingEvidence


class RankOneSensing(RegressorMixin, Estimator):
    r"""Find a low-rank matrix M from numbers of the form x'Mx or u'Mv.

    .. math:: y = x^T M x \quad (M = M^T) \qquad \text{or} \qquad y = u^T M v

    The symmetric case is the factorization machine without its linear part (Lin and Ye 2016, Algorithm
    1 and Theorem 4), the asymmetric one needs no shift (their Section 4). Designs that aren't white are
    whitened; steps are damped, and taken back where the next rows show that they did harm.

    Parameters
    ----------
    rank : int
        Rank of M.
    batch_size : 'auto' or int
        Rows of a batch; 'auto' takes all rows in every step where they are fewer than ten batches.
    step : 'auto' or float
        Length of a step.
    moments : {'auto', 'gaussian', 'sample'}
        As in :class:`altmin.FactorizationMachineRegressor`; for the symmetric case.
    whiten : 'auto' or bool
        Whether designs are whitened.
    tol : float
        Stop where steps stay below it, in units of y.

    Attributes
    ----------
    left_factors_, right_factors_ : ndarray of shape (rank, n_features), (rank, n_second_features)
        Unit rows; M = left' diag(values) right. The same for the symmetric case.
    values_ : ndarray of shape (rank,)
        Eigenvalues (symmetric) or singular values, by falling magnitude.
    loss_ : float
        Share of the mean square of y left on the last fresh rows.

    Notes
    -----
    **Guarantee.** Theorem 4 (shifted conditionally independent RIP) and Theorem 1: linear convergence for
    Gaussian designs; whitened second moments suffice in the asymmetric case. 'recovered' needs measurements
    that can be looked at again; on a one-way stream the verdict is 'plausible' at most.

    **Cost.** A step on n rows takes O(n * n_features * rank), twice. State: O(rank * n_features), and
    n_features^2 where designs are whitened.

    References
    ----------
    M. Lin and J. Ye, A non-convex one-pass framework for generalized factorization machine and
    rank-one matrix sensing, NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import RankOneSensing
    >>> rng = np.random.default_rng(0)
    >>> M = np.outer(rng.standard_normal(12), rng.standard_normal(8))
    >>> U, V = rng.standard_normal((800, 12)), rng.standard_normal((800, 8))
    >>> model = RankOneSensing(1, random_state=0).fit((U, V), np.einsum("ij,jk,ik->i", U, M, V))
    >>> bool(abs(model.matrix() - M).max() < 1e-8)
    True
    """

    _assumptions = ("exogenous",)

    rank: Count = field(default=1, kw_only=False)
    batch_size: Literal["auto"] | Count = "auto"
    step: Literal["auto"] | UpToOne = "auto"
    moments: Literal["auto", "gaussian", "sample"] = "auto"
    whiten: Literal["auto"] | bool = "auto"
    max_iter: Count = 1000
    tol: NotNegative = 1e-13

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find M.

        Parameters
        ----------
        X : array-like or tuple of two array-likes
            The design x of the symmetric case (also sparse, a path, blocks or a stream), or (U, V).
        y : array-like of shape (n_samples,)
            Measurements.
        """
        source = self._open_any(X, y, sample_weight, reset=True)
        result = self._run(self._algorithm_for(source), source)
        self.left_factors_, self.values_, self.right_factors_ = _factors(result.state)
        self.loss_ = float(result.state.loss)
        if isinstance(result.state, PairState):
            self.loss_ /= max(result.state.first_loss, 1e-300)
        self._set_run(result)
        self._facts = self._report_facts(source, result.state)
        self._report_when_asked(source, lambda model, rows: model._report(rows))
        return self

    def _open_again(self, X: Any, y: Any, sample_weight: Any) -> AnySource:
        return self._open_any(X, y, sample_weight, reset=False)

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        if not full:
            return self._report(source, exogenous=assume == "exogenous")
        units = [np.sqrt(np.mean(np.square(part), axis=0)) for part in self._sample(source)[:2]]
        mine = self.matrix() * np.outer(*units)

        def apart(half: Source) -> float:
            left, values, right = _factors(self._run(self._algorithm_for(half), half, checkpoint=None).state)
            other = (left.T * values) @ right * np.outer(*units)
            return float(np.linalg.norm(other - mine)) / max(float(np.linalg.norm(mine)), 1e-300)

        return self._report(source, max(on_halves(apart, source)), assume == "exogenous")

    def _report_facts(self, source: AnySource, state: Any) -> dict[str, Any]:
        """What the report needs to know of the fit itself."""
        n_rows = source.info.n_rows or state.rows
        pair = isinstance(state, PairState)
        return {
            "ratio": fresh_ratio(self.history_, n_rows, state.batch_rows),
            "spread": max(state.left_spread, state.right_spread) if pair else state.lens.correlation,
            "whitened": (state.left if pair else state.lens.T).ndim == 2,
            "n_rows": float(n_rows),
        }

    def _report(
        self, source: AnySource, halves: float | None = None, exogenous: bool = False
    ) -> GuaranteeReport:
        evidence = None
        d, second = self.n_features_in_, self.n_second_features_
        parameters = n_parameters(min(self.rank, d), d, second)
        facts = self._facts
        if source.replayable:
            source = source.require_replayable("the report")
            facts = {**facts, "n_rows": float(source.n_rows)}
            if parameters <= MAX_PARAMETERS:
                U, V, y = self._sample(source, halves is not None)
                given = (self.left_factors_, self.values_, self.right_factors_)
                evidence = look(*given, y, U, V if second else None, count_distinct(source))
        found = SensingEvidence(
            parameters=parameters, loss=self.loss_, rows=evidence, halves=halves, exogenous=exogenous, **facts
        )
        return judge(SENSING, found, effort="cheap" if halves is None else "full")

    def _sample(self, source: Source, full: bool = False) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Some measurements, dense: designs (the same twice for the symmetric case) and y."""
        d, second = self.n_features_in_, self.n_second_features_
        wanted = rows_to_look_at(n_parameters(min(self.rank, d), d, second), full)
        U, V, y = sample(source, wanted)
        return U, U if V is None else V, y

    def predict(self, X: Any) -> Any:
        """Measurements of M.

        Parameters
        ----------
        X : as in ``fit``
            A design, or a pair of them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of x'Mx or u'Mv.
        """
        check_is_fitted(self)
        if is_pair(X) != bool(self.n_second_features_):
            needed = "a pair (U, V)" if self.n_second_features_ else "one design X"
            raise ValueError(f"X: this model was fitted on {needed}, and predicts from the same")
        if is_pair(X):
            pair = self._open_pair(X, None, None, reset=False)
            return map_rows(self._block_values, pair, self.n_jobs, power=self._power)
        return self._map_rows(self._block_values, X)

    def matrix(self) -> NDArray[Any]:
        """M, formed as an array.

        Returns
        -------
        ndarray of shape (n_features, n_features) or (n_features, n_second_features)
            M in the columns of the design.
        """
        check_is_fitted(self)
        return (self.left_factors_.T * self.values_) @ self.right_factors_

    def _block_values(self, block: Block) -> NDArray[Any]:
        left = np.asarray(block.X @ self.left_factors_.T.astype(block.X.dtype))
        second = block.X if block.second is None else block.second
        right = np.asarray(second @ self.right_factors_.T.astype(block.X.dtype))
        return np.asarray((left * right) @ self.values_.astype(block.X.dtype))

    def _open_pair(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> AnySource:
        dtypes = [np.float64, np.float32]
        U, V = (check_array(part, accept_sparse="csr", dtype=dtypes, input_name="X") for part in X)
        if U.shape[0] != V.shape[0]:
            raise ValueError(f"X: U has {U.shape[0]} rows and V has {V.shape[0]}; they must agree")
        if reset or y is not None:
            y = regression_target(self, U, y)
            if len(y) != U.shape[0]:
                raise ValueError(f"y has {len(y)} rows, U and V have {U.shape[0]}: they must agree")
        if reset:
            self.n_features_in_, self.n_second_features_ = U.shape[1], V.shape[1]
        elif (U.shape[1], V.shape[1]) != (self.n_features_in_, self.n_second_features_):
            raise ValueError(
                f"X: (U, V) have {U.shape[1]} and {V.shape[1]} features, "
                f"{self.n_features_in_} and {self.n_second_features_} are expected"
            )
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, U, dtype=U.dtype, ensure_non_negative=True)
        return open_source(U, y, sample_weight, V)

    def _open_any(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> AnySource:
        if is_pair(X):
            return self._open_pair(X, y, sample_weight, reset)
        if reset:
            self.n_second_features_ = 0
        return self._open(X, regression_target(self, X, y), sample_weight, reset=reset)

    def _held_bytes(self, info: Info) -> int:
        return machine_bytes(info, self.rank)

    def _algorithm_for(self, source: AnySource) -> Any:
        return self._pair_algorithm(source) if self.n_second_features_ else self._algorithm(source)

    def _finished(self, source: AnySource) -> bool:
        """Whether the true loss is minimised: no steps of a stream are asked for, and rows stay."""
        printed = self.moments == "gaussian" and self.whiten is False
        asked = self.batch_size != "auto" or self.step != "auto" or printed
        return not asked and reads_again(source)

    def _rows(self, source: AnySource) -> int:
        rows = auto_batch(source.info, self.rank) if self.batch_size == "auto" else int(self.batch_size)
        total = source.info.n_rows
        return 0 if total is not None and self.batch_size == "auto" and total < 10 * rows else rows

    def _pair_algorithm(self, source: AnySource) -> PairSensing:
        info, finished = source.info, self._finished(source)
        return (PairLeastSquares if finished else PairSensing)(
            self.rank,
            batch_size=0 if finished else self._rows(source),
            step=None if self.step == "auto" else float(self.step),
            whiten=self.whiten if isinstance(self.whiten, str) else bool(self.whiten),
            wrap=info.n_rows is not None,
            total=info.n_rows,
            minimum_loss=float(np.finfo(info.dtype).eps) ** 2 * 1e4,
        )

    def _algorithm(self, source: AnySource) -> OnePass:
        info = source.info
        finished = self._finished(source)
        return (LeastSquares if finished else OnePass)(
            self.rank,
            batch_size=0 if finished else self._rows(source),
            step=None if self.step == "auto" else float(self.step),
            linear=False,
            intercept=False,
            moments=self.moments,
            whiten=self.whiten if isinstance(self.whiten, str) else bool(self.whiten),
            wrap=info.n_rows is not None,
            total=info.n_rows,
            minimum_loss=float(np.finfo(info.dtype).eps) ** 2 * 1e4,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # x'Mx has no linear part: it cannot fit linear data
        return tags


def _factors(state: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Left factors, values and right factors in the user's columns."""
    if isinstance(state, PairState):
        return user_factors(state)
    model = user_model(state.lens, state.model, intercept=False)
    return model.factors, model.eigenvalues, model.factors


def is_pair(X: Any) -> bool:
    """Whether X is a pair (U, V) of designs and not a list of blocks (U, y)."""
    return (
        isinstance(X, tuple)
        and len(X) == 2
        and all(np.ndim(part) == 2 or hasattr(part, "tocsr") for part in X)
    )
