"""What every estimator shares: opening the input, running the engine, the fitted attributes.

An estimator file validates its own parameters, builds the algorithm, calls ``self._run`` and sets its
attributes. An error in ``fit`` or ``partial_fit`` leaves the model as it was, down to the last attribute.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from altmin.contract import Algorithm, Block, Info, State
from altmin.docstrings import fill_class
from altmin.engine import (
    AnySource,
    Result,
    Settings,
    Source,
    make_progress,
    map_rows,
    open_source,
    run,
)
from altmin.engine.checks import check_given, naming
from altmin.engine.dask_source import is_dask, open_dask
from altmin.engine.outcome import Outcome
from altmin.engine.sources import is_block_list, is_queue
from altmin.estimators.callbacks import with_callbacks
from altmin.estimators.notebook import NotebookMixin
from altmin.estimators.parameters import CountOrZero, NotNegative, Parameters, PathLike, Seed, Verbosity
from altmin.estimators.sklearn_bridge import (
    BaseEstimator,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_sample_weight,
)
from altmin.estimators.when_asked import KEPT_BYTES, MadeWhenAsked, forget, owe, settle
from altmin.guarantees.report import GuaranteeReport


class Fitted:
    """Types of fitted attributes: an annotation in an estimator itself would declare a parameter."""

    n_features_in_: int
    n_iter_: int
    history_: list[dict[str, Any]]
    outcome_: Outcome
    guarantee_ = MadeWhenAsked()
    components_: NDArray[Any]
    component_scales_: NDArray[Any]
    reconstruction_err_: float
    thresholds_: NDArray[Any]


class Estimator(Parameters, NotebookMixin, CallbackSupportMixin, Fitted, BaseEstimator):
    """Opening the input, running the engine, attributes that every fit has."""

    max_iter: CountOrZero = 100
    tol: NotNegative = 0.0
    random_state: Seed = None
    verbose: Verbosity = 0
    checkpoint: PathLike | None = None
    n_jobs: int | None = None

    _assumptions: ClassVar[tuple[str, ...]] = ()  # that guarantee() may be told of
    _power: ClassVar[int] = 2  # of the values, sums of which a fit forms: bounds their magnitude
    _retired: ClassVar[tuple[str, ...]] = ()  # parameters that files of earlier versions may still name
    _shared_attributes: ClassVar[tuple[str, ...]] = ("n_iter_", "history_", "outcome_", "guarantee_")

    def __init_subclass__(cls, **options: Any) -> None:
        """Make ``fit`` and ``partial_fit`` of every estimator all or nothing, and docstrings complete."""
        super().__init_subclass__(**options)
        for name in ("fit", "partial_fit"):
            if name in vars(cls):
                setattr(cls, name, _all_or_nothing(vars(cls)[name]))
        fill_class(cls, cls._shared_attributes if "fit" in vars(cls) else ())

    def _open(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        reset: bool,
        accept_sparse: bool = True,
    ) -> AnySource:
        """Validate X (and what is aligned with it) and open it as a source.

        Arrays, frames and sparse matrices go through scikit-learn's validation; then every kind of input
        through the engine's own checks. NaN and Inf are always found block by block, so the error names
        block and row.
        """
        source = self._open_lazily(X, y, sample_weight)
        if source is not None:
            self._check_width(source.info.n_features, reset)
            return source
        check_given(X)
        with naming("X"):
            X = validate_data(
                self,
                X,
                reset=reset,
                dtype=[np.float64, np.float32],
                accept_sparse="csr" if accept_sparse else False,
                ensure_all_finite=False,
            )
        if y is not None:
            y = _aligned("y", y, X.shape[0])
        if sample_weight is not None:
            with naming("sample_weight"):
                sample_weight = check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        return open_source(X, y, sample_weight)

    @staticmethod
    def _open_lazily(X: Any, y: Any, sample_weight: Any) -> AnySource | None:
        """A source that is read piece by piece, or None where X is an array, a frame or sparse."""
        if isinstance(X, AnySource):
            return X
        if is_dask(X):
            return open_dask(X, y, sample_weight)
        if isinstance(X, np.memmap | str | Path) or is_block_list(X) or _is_stream(X):
            return open_source(X, _target(y), _target(sample_weight))
        return None

    def _check_width(self, n_features: int, reset: bool) -> None:
        if reset:
            self.n_features_in_ = n_features
        elif n_features != self.n_features_in_:
            raise ValueError(
                f"X has {n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )

    def _run(
        self, algorithm: Algorithm, source: AnySource, state: State | None = None, **changes: Any
    ) -> Result:
        """Run the algorithm with this estimator's settings (``changes`` override them)."""
        settings = {
            "max_iter": self.max_iter,
            "tol": 0.0 if getattr(algorithm, "stops_itself", False) else self.tol,
            "n_jobs": self.n_jobs,
            "checkpoint": self.checkpoint,
            "seed": self._seed(),
            "power": self._power,
            "held": self._held_bytes(source.info),
        }
        with with_callbacks(self, make_progress(self.verbose)) as progress:
            return run(algorithm, source, Settings(**{**settings, **changes}, progress=progress), state)

    def _held_bytes(self, info: Info) -> int:
        """What a fit holds besides blocks of rows: factors, statistics, columns, the rows of its report."""
        return 4 * 8 * (info.n_rows or 0)

    def _folder_for(self, problem: str) -> Path | None:
        """A checkpoint folder of its own for another problem that the fit leads to: a folder serves one."""
        return None if self.checkpoint is None else Path(self.checkpoint) / problem

    def _seed(self) -> int | None:
        """The seed that ``random_state`` stands for; None: the engine draws one."""
        if self.random_state is None:
            return None
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _set_run(self, result: Result, more: bool = False) -> None:
        """The attributes that come from the loop; the history goes on where rows come in several calls."""
        before = getattr(self, "history_", []) if more else []
        self.history_ = [
            *before, *({**row, "iteration": len(before) + i} for i, row in enumerate(result.history, 1))
        ]  # fmt: skip
        self.n_iter_ = len(before) + result.n_iter
        self.outcome_ = result.outcome
        if result.outcome == "max_iter":
            warnings.warn(f"{type(self).__name__}: {result.outcome}", ConvergenceWarning, stacklevel=5)

    def guarantee(
        self,
        X: Any,
        y: Any = None,
        *,
        effort: str = "full",
        sample_weight: Any = None,
        assume: str | None = None,
    ) -> GuaranteeReport:
        """Look again, with data: whether the fit found what made X, and why or why not.

        Parameters
        ----------
        X : as in ``fit``, not a one-way stream
            The data of the fit, or fresh ones of the same kind.
        y : array-like of shape (n_samples,) or None
            The target, where ``fit`` takes one.
        effort : {'cheap', 'full'}
            'cheap' looks at the data once more; 'full' also fits disjoint halves (near copies of a sample
            stay together), where it helps from other starts as well, and compares: up to four more fits.
        sample_weight : array-like of shape (n_samples,) or None
            How often each sample counts; samples of weight 0 are left out.
        assume : str or None
            What you know and data can't decide; the report prints it. 'pure' (:class:`altmin.AND`): each
            feature occurs nearly alone in some samples. 'exogenous' (machines and sensing): no unobserved
            cause affects both the features and the target.

        Returns
        -------
        GuaranteeReport
            The verdict and its reasons.
        """
        check_is_fitted(self)
        if assume is not None and assume not in self._assumptions:
            known = ", ".join(map(repr, self._assumptions)) or "none"
            raise ValueError(f"assume={assume!r}: {type(self).__name__} knows the assumptions {known}")
        if effort not in ("cheap", "full"):
            raise ValueError(f"effort={effort!r}: allowed are 'cheap' and 'full'")
        source = self._open_again(X, y, sample_weight).require_replayable("guarantee")
        if sample_weight is not None:
            source = source.subset(np.flatnonzero(np.asarray(sample_weight) > 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # refits repeat the warnings of the fit
            return self._judge(source, full=effort == "full", assume=assume)

    def _open_again(self, X: Any, y: Any, sample_weight: Any) -> AnySource:
        """Data for :meth:`guarantee`, checked as in ``fit``."""
        return self._open(X, None, sample_weight, reset=False)

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        """The report of this fit on these rows; what each family of models fills in."""
        raise NotImplementedError

    def _report_when_asked(
        self, source: AnySource | None, report: Callable[[Self, Any], GuaranteeReport], held: int = 0
    ) -> None:
        """Let ``guarantee_`` be ``report(model, rows)``: of a copy of both where the rows are few, else now.

        Without rows (those of a stream are gone, or sums do) there is nothing to copy but the model; what
        else the report would hold are so many bytes.
        """
        forget(self)
        rows = source if source is None else source.copied(KEPT_BYTES)
        if (rows is None and source is not None) or held > KEPT_BYTES:
            self.guarantee_ = report(self, source)
        else:
            owe(self, partial(report, self._twin(), rows))

    def _twin(self) -> Self:
        """The model as it is now, whatever its owner does to its parameters and arrays."""
        twin = object.__new__(type(self))
        for name, value in vars(self).items():
            vars(twin)[name] = value.copy() if isinstance(value, np.ndarray) else value
        return twin

    def __getstate__(self) -> Any:
        settle(self)
        return super().__getstate__()

    def _map_rows(self, call: Any, X: Any, y: Any = None, *, holes: bool = False) -> Any:
        """Apply ``call(block)`` to the blocks of new data: an array, or a generator for a stream."""
        check_is_fitted(self)
        return map_rows(call, self._open(X, y, reset=False), self.n_jobs, holes, self._power)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ComponentsEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """An estimator with ``components_``: codes by ``transform``, data by ``inverse_transform``."""

    def _block_coder(self) -> Callable[[Block], Any]:
        """From a block to its codes; what all blocks share (a pseudo-inverse) is computed once, here."""
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        """Codes of the samples; a stream gives a generator of blocks of codes."""
        check_is_fitted(self)
        return self._map_rows(self._block_coder(), X)

    def inverse_transform(self, X: Any) -> Any:
        """Data from codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Codes.
        """
        check_is_fitted(self)
        codes = X if sp.issparse(X) else np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != len(self.components_):
            raise ValueError(
                f"X has shape {codes.shape}; codes need {len(self.components_)} columns, one per component"
            )
        return codes @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _all_or_nothing(method: Any) -> Any:
    """The method, after whose failure (Ctrl-C included) the estimator is as it was before."""

    @functools.wraps(method)
    def guarded(self: Any, *arguments: Any, **options: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *arguments, **options)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded


def _is_stream(X: Any) -> bool:
    one_way = hasattr(X, "__iter__") and not hasattr(X, "__len__")
    return not hasattr(X, "shape") and (one_way or is_queue(X))


def _target(values: Any) -> Any:
    return None if values is None else np.asarray(values)


def _aligned(name: str, values: Any, n_rows: int) -> Any:
    values = values if hasattr(values, "dask") else np.asarray(values)
    if values.shape[0] != n_rows:
        raise ValueError(f"{name} has {values.shape[0]} rows, X has {n_rows}: they must agree")
    return values
