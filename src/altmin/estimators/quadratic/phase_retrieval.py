"""Phase retrieval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.utils.validation import check_is_fitted

from altmin.algorithms.quadratic.phase import Phase, PhaseState, design
from altmin.contract import Block
from altmin.engine import AnySource, Result, Source, map_rows, open_source
from altmin.engine.sources import is_block_list
from altmin.estimators.base import Estimator
from altmin.estimators.parameters import Count, NotNegative, UpToOne
from altmin.estimators.quadratic.report import mean_square_left
from altmin.estimators.quadratic.shared import fresh_ratio, regression_target
from altmin.estimators.sklearn_bridge import RegressorMixin, fit_context
from altmin.guarantees.contract import judge
from altmin.guarantees.refits import on_halves
from altmin.guarantees.report import GuaranteeReport
from altmin.guarantees.sensing import PHASE, SensingEvidence
from altmin.kernels.diffraction import CodedDiffraction


class PhaseRetrieval(RegressorMixin, Estimator):
    r"""Find a signal, real or complex, from the squared sizes of its measurements.

    .. math:: y = |x^T s|^2, \qquad s \in \mathbb{R}^d \text{ or } \mathbb{C}^d

    Rank-one sensing of M = s s^H (Lin and Ye 2016): a stream is read once with O(d) memory; rows that can
    be read again start from their largest intensities and are polished by reweighted amplitude flow, which
    needs fewer of them.

    Parameters
    ----------
    batch_size : 'auto' or int
        Rows of a batch of the stream algorithm; 'auto' polishes where rows can be read again, and takes
        12 * n_features rows of a stream.
    polish : bool
        Whether rows that can be read again are polished.
    step : 'auto' or float
        Length of a step of the stream algorithm.

    Attributes
    ----------
    signal_ : ndarray of shape (n_features,)
        s, complex if X is; its global sign or phase is free: its largest entry is real and positive.
    loss_ : float
        Mean square of the error of the intensities, as a share of their mean square.

    Notes
    -----
    **Guarantee.** Theorem 1 for rank 1 on a stream; the polish has the guarantees of reweighted amplitude
    flow. Some four complex Gaussian rows an unknown suffice where rows can be read again; a stream needs
    batches of 8 to 12 an unknown. The verdict is 'plausible' at most.

    **Cost.** O(n_features) operations per row and step. Memory: O(n_features) on a stream; rows that can be
    read again are read once in each step.

    References
    ----------
    M. Lin and J. Ye, A non-convex one-pass framework for generalized factorization machine and
    rank-one matrix sensing, NIPS 2016.
    G. Wang, G. B. Giannakis, Y. Saad and J. Chen, Phase retrieval via reweighted amplitude flow,
    IEEE Transactions on Signal Processing 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import PhaseRetrieval
    >>> rng = np.random.default_rng(0)
    >>> s = np.array([3.0, -1.0, 2.0, 0.5, 1.0])
    >>> X = rng.standard_normal((60, 5))
    >>> PhaseRetrieval(random_state=0).fit(X, (X @ s) ** 2).signal_.round(6)
    array([ 3. , -1. ,  2. ,  0.5,  1. ])
    """

    _power: ClassVar[int] = 4  # the start looks at fourth powers

    batch_size: Literal["auto"] | Count = "auto"
    polish: bool = True
    step: Literal["auto"] | UpToOne = "auto"
    max_iter: Count = 5000
    tol: NotNegative = 1e-14

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the signal.

        Parameters
        ----------
        X : array-like, path, list of blocks or stream, of shape (n_samples, n_features)
            Designs, real or complex; or designs that are never formed: a ``CodedDiffraction``, or any
            ``scipy.sparse.linalg.LinearOperator`` with ``matvec`` and ``rmatvec`` (its dtype says whether
            the signal is complex).
        y : array-like of shape (n_samples,)
            Intensities (noise may have put some below zero); None where blocks bring them along.
        """
        if isinstance(X, CodedDiffraction | LinearOperator):
            return self._fit_unformed(X, y, sample_weight)
        self._shape: tuple[int, ...] = ()
        target = regression_target(self, X, y)
        source, self._complex = self._open_designs(X, target, sample_weight)
        algorithm = self._algorithm(source)
        self._adopt(algorithm, self._run(algorithm, source), source.info.n_rows)
        return self

    def _fit_unformed(self, designs: Any, y: Any, sample_weight: Any) -> Self:
        """Designs that are never formed: rows of masks, or one row for an operator, intensities beside."""
        operator = designs if isinstance(designs, LinearOperator) else None
        needed = (designs.shape[0],) if operator is not None else designs.masks.shape
        if y is None or np.shape(y) != needed:
            raise ValueError(f"y has shape {np.shape(y)}; these designs need intensities of shape {needed}")
        if sample_weight is not None:
            raise ValueError("sample_weight: designs that aren't formed have no weights")
        measured = np.asarray(y, dtype=np.float64)
        if operator is not None:
            if self.checkpoint is not None:
                raise ValueError("checkpoint: an operator can't be kept in one")
            self._shape, self._complex = (operator.shape[1],), operator.dtype.kind == "c"
            source = open_source(np.zeros((1, 1)), None, None, measured[None])
        else:
            masks = designs.masks
            self._shape, self._complex = masks.shape[1:], True
            flat = masks.reshape(len(masks), -1).astype(np.complex128)
            source = open_source(_real(flat), None, None, measured.reshape(len(masks), -1))
        self.n_features_in_ = int(np.prod(self._shape))
        algorithm = replace(self._algorithm(source), operator=operator)
        self._adopt(algorithm, self._run(algorithm, source), measured.size)
        return self

    @fit_context
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on with more rows of a stream, each of which is read once.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), real or complex
            The next rows; the first ones should be several times ``n_features``.
        y : array-like of shape (n_samples,)
            Their intensities.
        """
        known: PhaseState | None = getattr(self, "_state", None)
        target = regression_target(self, X, y)
        source, is_complex = self._open_designs(X, target, sample_weight, reset=known is None)
        if known is not None and is_complex != self._complex:
            raise ValueError("X: the first rows were complex and these are real, or the other way round")
        self._complex = is_complex
        algorithm = self._algorithm(source, once=True)
        state = None if known is None else algorithm.resume(known)
        result = self._run(algorithm, source, state, max_iter=None, checkpoint=None, tol=0.0)
        self._adopt(algorithm, result, None)
        return self

    def predict(self, X: Any) -> Any:
        """Intensities of the signal.

        Parameters
        ----------
        X : as in ``fit``
            Designs.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of ``|x's|^2``.
        """
        check_is_fitted(self)
        if isinstance(X, CodedDiffraction):
            return X.intensities(self.signal_)
        if isinstance(X, LinearOperator):
            return np.asarray(np.square(np.abs(X.matvec(self.signal_.ravel()))))
        source, is_complex = self._open_designs(X, None, None, reset=False)
        reader = Phase(complex_design=is_complex)

        def values(block: Block) -> NDArray[Any]:
            return np.square(np.abs(design(reader, block) @ self.signal_)).astype(block.X.dtype)

        return map_rows(values, source, self.n_jobs, power=self._power)

    def _open_designs(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[AnySource, bool]:
        """Complex designs become rows [Re x, Im x]: the engine's blocks are real."""
        X, is_complex = _real_designs(X)
        source = None
        if not reset and not is_complex:
            source = self._open(X, y, sample_weight, reset=False, accept_sparse=False)
        if source is None:
            seen = getattr(self, "n_features_in_", None)
            source = self._open(X, y, sample_weight, reset=True, accept_sparse=False)
            if is_complex:
                self.n_features_in_ //= 2
            if not reset and seen != self.n_features_in_:
                found, self.n_features_in_ = self.n_features_in_, int(seen or 0)
                raise ValueError(f"X has {found} features, but PhaseRetrieval is expecting {seen} features")
        return source, bool(is_complex)

    def _algorithm(self, source: AnySource, once: bool = False) -> Phase:
        total = None if once else source.info.n_rows
        rows = 12 * self.n_features_in_ if self.batch_size == "auto" else int(self.batch_size)
        polishing = total is not None and self.polish and self.batch_size == "auto"
        return Phase(
            complex_design=self._complex,
            shape=getattr(self, "_shape", ()),
            batch_size=0 if polishing else rows,
            polish=polishing,
            calm=self.tol,
            step=None if self.step == "auto" else float(self.step),
            wrap=total is not None,
            total=total,
        )

    def _adopt(self, algorithm: Phase, result: Result, n_rows: int | None) -> None:
        self._set_run(result)
        self._state = result.state
        s = result.state.s / result.state.unit * np.sqrt(result.state.scale)
        top = s[np.argmax(np.abs(s))]
        s = s * (np.conj(top) / abs(top) if abs(top) > 0 else 1.0)
        self.signal_: NDArray[Any] = s.reshape(getattr(self, "_shape", ()) or -1)
        self.loss_ = float(result.state.loss)
        polished = algorithm.batch_size == 0
        self._facts: dict[str, Any] = {
            "parameters": float(len(s) * (2 if self._complex else 1)),
            "ratio": float("nan") if polished else fresh_ratio(self.history_, len(self.history_), 1.0),
            "excess": float(result.state.excess),
        }
        seen = float(n_rows or result.state.rows)
        self.guarantee_ = judge(PHASE, SensingEvidence(n_rows=seen, loss=self.loss_, **self._facts))

    def _open_again(self, X: Any, y: Any, sample_weight: Any) -> AnySource:
        if isinstance(X, CodedDiffraction | LinearOperator):
            raise ValueError("X: designs that aren't formed are judged by fit; guarantee_ is its report")
        source, is_complex = self._open_designs(X, regression_target(self, X, y), sample_weight, reset=False)
        if is_complex != self._complex:
            raise ValueError("X: the rows of fit were complex and these are real, or the other way round")
        return source

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        loss = mean_square_left(source, self._block_values, centred=False)
        found = SensingEvidence(n_rows=float(source.n_rows), loss=loss, **self._facts)
        if not full:
            return judge(PHASE, found)
        size = float(np.linalg.norm(self.signal_))

        def apart(half: Source) -> float:
            state = self._run(self._algorithm(half), half, checkpoint=None).state
            other = state.s / state.unit * np.sqrt(state.scale)
            overlap = np.vdot(other, self.signal_)
            turned = other * (overlap / abs(overlap) if abs(overlap) > 0 else 1.0)
            return float(np.linalg.norm(turned - self.signal_)) / max(size, 1e-300)

        return judge(PHASE, replace(found, halves=max(on_halves(apart, source))), effort="full")

    def _block_values(self, block: Block) -> NDArray[Any]:
        rows = design(Phase(complex_design=self._complex), block)
        return np.square(np.abs(rows @ self.signal_)).astype(block.X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True  # |x's|^2 has no linear part: it cannot fit linear data
        return tags


def _real_designs(X: Any) -> tuple[Any, bool]:
    """Designs as real rows, and whether they were complex."""
    if is_block_list(X):
        is_complex = np.iscomplexobj(X[0][0] if isinstance(X[0], tuple) else X[0])
        return ([_real_block(block) for block in X] if is_complex else X), is_complex
    if hasattr(X, "__iter__") and not isinstance(X, str | Path | list) and not hasattr(X, "shape"):
        blocks = iter(X)
        first = next(blocks, None)
        if first is None:
            raise ValueError("X is an empty iterable: it gave no block of rows")
        is_complex = np.iscomplexobj(first[0] if isinstance(first, tuple) else first)
        return _chain(first, blocks, is_complex), is_complex
    is_complex = getattr(getattr(X, "dtype", None), "kind", "") == "c"
    return (_real(X) if is_complex else X), is_complex


def _real(X: Any) -> NDArray[Any]:
    X = np.asarray(X)
    return np.hstack([X.real, X.imag])


def _real_block(block: Any) -> Any:
    return (_real(block[0]), *block[1:]) if isinstance(block, tuple) else _real(block)


def _chain(first: Any, rest: Iterator[Any], is_complex: bool) -> Iterator[Any]:
    yield _real_block(first) if is_complex else first
    for block in rest:
        yield _real_block(block) if is_complex else block
