"""The factorization machine for classification."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from altmin.algorithms.quadratic.least_squares import LeastSquares
from altmin.algorithms.quadratic.low_rank import canonical_signs, symmetric_eigen
from altmin.algorithms.quadratic.one_pass import OnePass, OnePassState
from altmin.algorithms.sparse.machine import SparseMachine, predict, user_model
from altmin.contract import Block, Info
from altmin.engine import AnySource, Result, Source, collect_rows, map_rows, open_source
from altmin.estimators.parameters import Count, NotNegative, Positive
from altmin.estimators.quadratic.categories import OpensFrames
from altmin.estimators.quadratic.reservoir import Reservoir
from altmin.estimators.quadratic.shared import auto_batch, is_sparse_table, machine_bytes
from altmin.estimators.quadratic.sparse_stream import SparseStream, feed
from altmin.estimators.sklearn_bridge import ClassifierMixin, fit_context
from altmin.guarantees.classifier import CLASSIFIER, ClassifierEvidence
from altmin.guarantees.contract import judge
from altmin.guarantees.machine import SWEPT
from altmin.guarantees.refits import halves
from altmin.guarantees.report import GuaranteeReport


class FactorizationMachineClassifier(ClassifierMixin, OpensFrames):
    r"""Classification by products of features: logistic regression with a quadratic part of low rank.

    .. math:: \log \frac{P(y = 1)}{P(y = 0)} = b + x^T w + x^T M x, \qquad M = M^T \text{ of rank } k

    Moments (Lin and Ye 2016) of the 0/1 target show directions along which the second moments of the classes
    differ: M's eigenvectors, for Gaussian features. From there the log loss is minimised over b, w and M.
    A logistic regression on the features and the products of the directions follows; it serves more than two
    classes, too, each of which has a machine against the rest. One-hot and other very sparse features
    (clicks) are learned by variational sweeps instead, and stay sparse.

    Parameters
    ----------
    rank : int
        Number of directions per class.
    C : float
        Inverse strength of the ridge, as in scikit-learn's LogisticRegression.
    moments : {'auto', 'gaussian', 'sample'}
        As in :class:`altmin.FactorizationMachineRegressor`.
    whiten : 'auto' or bool
        As in :class:`altmin.FactorizationMachineRegressor`.
    max_iter : int
        Steps of the machine, and iterations of the logistic regression.
    tol : float
        Stop of the machine.
    checkpoint : path-like or None
        Not used for more than two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    factors_ : ndarray of shape (n_factors, n_features)
        Directions in the user's columns, after centring at ``centre_``; ``rank`` per pair of classes.
    encoded_names_ : list of str
        For frames with categorical columns: the one-hot columns to which the other attributes refer.
    coef_, intercept_ : ndarray
        Of the logistic regression on standardised features and products of directions.
    n_iter_, history_, outcome_
        Of the (last) machine.
    guarantee_ : GuaranteeReport
        The evidence for the boundary, 'plausible' at best; ``guarantee(X, y)`` compares halves.

    Notes
    -----
    **Guarantee.** Theorem 1 is about regression: on Gaussian features the machine finds the span of M, and
    the report, 'plausible' at best, gives the evidence for the boundary.

    **Cost.** That of the machine for each class, and of a logistic regression on n_features + rank (rank +
    1) / 2 columns.

    References
    ----------
    M. Lin and J. Ye, A non-convex one-pass framework for generalized factorization machine and
    rank-one matrix sensing, NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import FactorizationMachineClassifier
    >>> X = np.random.default_rng(0).standard_normal((2000, 6))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> FactorizationMachineClassifier(2, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    rank: Count = field(default=8, kw_only=False)
    C: Positive = 1.0
    moments: Literal["auto", "gaussian", "sample"] = "auto"
    whiten: Literal["auto"] | bool = "auto"
    max_iter: Count = 1000
    tol: NotNegative = 1e-6

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn to tell the classes apart.

        Parameters
        ----------
        X : array-like, sparse, path of a .npy file or list of blocks, (n_samples, n_features)
            The features; rows are read several times, so not a one-way stream.
        y : array-like of shape (n_samples,)
            Labels.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        opened = self._open_encoded(X, codes.astype(np.float64), sample_weight, reset=True)
        source = opened.require_replayable("fit (but not partial_fit)")
        _at_least_two(classes)
        self._streams: tuple[SparseStream, ...] = ()  # of sparse rows
        self._machines: tuple[OnePassState, ...] = ()  # of partial_fit, as is the next
        self._kept: Reservoir | None = None
        if is_sparse_table(source):
            self._sweep(source, codes, classes)
            return self
        result, states = self._find_directions(source, codes, len(classes))
        self._learn(source, codes, classes, states)
        self._set_run(result)
        return self

    @fit_context
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on with more rows: the machine reads each once, the regression rests on a sample of all.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like or None
            All labels there will be; needed in the first call where its rows don't have them all.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        kept = getattr(self, "_kept", None)
        self._streams = getattr(self, "_streams", ())
        new = kept is None and not self._streams
        if new:
            self._categories, self.encoded_names_ = {}, []
        labels = np.unique(y if classes is None else classes) if new else self.classes_
        unknown = np.setdiff1d(y, labels)
        if len(unknown):
            raise ValueError(f"y holds {unknown[:3].tolist()}, not among the classes {labels.tolist()}")
        _at_least_two(labels)
        codes = np.searchsorted(labels, y)
        opened = self._open(X, codes.astype(np.float64), sample_weight, reset=new)
        source = opened.require_replayable("partial_fit (which takes the blocks of a stream one by one)")
        if self._streams or (new and is_sparse_table(source)):
            self._sweep(source, codes, labels, more=True)
            return self
        rows = source.take(np.arange(source.n_rows))
        kept = Reservoir.of(rows, self._seed() or 0) if kept is None else kept.more(rows)
        fresh, machines = source, getattr(self, "_machines", ())
        if not machines:  # until there are enough rows, all of them are kept: the machine begins with those
            fresh = kept.source()
        codes = np.concatenate([np.asarray(piece.y) for piece in fresh.pieces]).astype(np.intp)
        result, machines = self._find_directions(fresh, codes, len(labels), machines, once=True)
        source = kept.source()
        self._learn(source, np.asarray(source.pieces[0].y).astype(np.intp), labels, machines)
        self._set_run(result, more=True)
        enough = kept.n_seen >= 4 * (self.n_features_in_ + 8)
        self._machines, self._kept = (machines if enough else ()), kept
        return self

    def _open_again(self, X: Any, y: Any, sample_weight: Any) -> AnySource:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            known = self.classes_.tolist()
            raise ValueError(f"y holds {unknown[:3].tolist()}, not among the classes {known}")
        codes = np.searchsorted(self.classes_, y).astype(np.float64)
        return self._open_encoded(X, codes, sample_weight, reset=False)

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        if self._streams:
            scores = collect_rows(self._scores, source, self.n_jobs)
            codes = collect_rows(lambda block: np.asarray(block.y), source).astype(np.intp)
            left = _share_left(scores, codes, len(self.classes_))
            return judge(SWEPT, left, effort="full" if full else "cheap")
        mine = collect_rows(self._scores, source, self.n_jobs)
        codes = collect_rows(lambda block: np.asarray(block.y), source).astype(np.intp)
        found = self._evidence(mine, codes)
        if not full:
            return judge(CLASSIFIER, found)
        again = clone(self).set_params(checkpoint=None, verbose=0)
        spread = max(float(np.linalg.norm(mine - mine.mean(axis=0))), 1e-300)
        apart = []
        for ids in halves(source):
            half = source.take(ids)
            if len(np.unique(np.asarray(half.y))) < len(self.classes_):
                apart.append(2.0)  # a class is missing: there is nothing to compare
                continue
            other = collect_rows(clone(again).fit(half.X, half.y)._scores, source, self.n_jobs)
            apart.append(float(np.linalg.norm(other - mine)) / spread)
        return judge(CLASSIFIER, replace(found, halves=max(apart)), effort="full")

    def _evidence(self, scores: NDArray[Any], codes: NDArray[Any]) -> ClassifierEvidence:
        gain = _gain(scores, codes, len(self.classes_)) / max(self.coef_.size, 1)
        parameters = float(self.coef_.size + self.intercept_.size)
        return ClassifierEvidence(self._lens, float(len(codes)), parameters, gain)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Log odds (one column per class for more than two).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores.
        """
        check_is_fitted(self)
        source = self._open_encoded(X, None, None, reset=False).require_replayable("decision_function")
        scores = np.asarray(map_rows(self._scores, source, self.n_jobs, power=self._power))
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of the classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        scores = scores - scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable classes.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes_[best])

    def _sweep(self, source: Source, codes: NDArray[Any], classes: NDArray[Any], more: bool = False) -> None:
        """One-hot and other sparse rows: a variational machine for each class against the rest."""
        algorithm = SparseMachine(min(self.rank, source.info.n_features), logistic=True)
        known = self._streams or (None,) * (1 if len(classes) == 2 else len(classes))
        streams = []

        def run(algorithm: Any, rows: Any, state: Any) -> Result:
            changes: dict[str, Any] = {"max_iter": None, "tol": 0.0, "checkpoint": None} if more else {}
            if len(classes) > 2:
                changes["checkpoint"] = None
            return self._run(algorithm, rows, state, **changes)

        for number, before in enumerate(known):
            target = (codes == (1 if len(classes) == 2 else number)).astype(np.float64)
            pieces = [piece.X for piece in source.pieces]
            one = open_source(pieces if len(pieces) > 1 else pieces[0], target, _weights(source))
            one = one.require_replayable("sweeps")
            stream, result = feed(before, one, algorithm, run)
            streams.append(stream if more else SparseStream(result.state))
        self._streams, self.classes_ = tuple(streams), classes
        models = [user_model(stream.state) for stream in streams]
        self.coef_ = np.array([model.slope for model in models])
        self.intercept_ = np.array([model.level for model in models])
        self.factors_ = np.vstack([model.factors for model in models])
        self.centre_ = np.zeros(source.info.n_features)
        self._set_run(result, more)
        scores = collect_rows(self._scores, source, self.n_jobs)
        self.guarantee_ = judge(SWEPT, _share_left(scores, codes, len(classes)))

    def _held_bytes(self, info: Info) -> int:
        return machine_bytes(info, self.rank)

    def _find_directions(
        self,
        source: Source,
        codes: NDArray[Any],
        n_classes: int,
        known: tuple[OnePassState, ...] = (),
        once: bool = False,
    ) -> tuple[Result, tuple[OnePassState, ...]]:
        """One-against-rest machines: their log loss, or one pass from where they were."""
        info = source.info
        whiten = self.whiten if isinstance(self.whiten, str) else bool(self.whiten)
        given: dict[str, Any] = {"moments": self.moments, "whiten": whiten}
        algorithm: OnePass = LeastSquares(self.rank, logistic=True, strength=1 / self.C, **given)
        if once:
            algorithm = OnePass(self.rank, batch_size=auto_batch(info, self.rank), **given)
        changes: dict[str, Any] = {"max_iter": None, "tol": 0.0} if once else {}
        states = []
        for number, label in enumerate([1] if n_classes == 2 else range(n_classes)):
            target = (codes == label).astype(info.dtype)
            pieces = [piece.X for piece in source.pieces]
            one = open_source(pieces if len(pieces) > 1 else pieces[0], target, _weights(source))
            before = algorithm.resume(known[number]) if known else None
            checkpoint = self.checkpoint if n_classes == 2 and not once else None
            result = self._run(algorithm, one, before, checkpoint=checkpoint, **changes)
            states.append(result.state)
        return result, tuple(states)

    def _learn(
        self, source: Source, codes: NDArray[Any], classes: NDArray[Any], states: tuple[OnePassState, ...]
    ) -> None:
        """The logistic regression on the features and the products of the machines' directions."""
        found = []
        for state in states:
            values, vectors = symmetric_eigen(state.model.U, state.model.V)
            order = np.argsort(-np.abs(values), kind="stable")[: state.model.U.shape[1]]
            found.append(canonical_signs(state.lens.factors(vectors[:, order]).T))
        self._lens = states[-1].lens
        self.centre_, self.factors_ = self._lens.centre, np.vstack(found)
        self._units = np.ones(1)
        features = collect_rows(self._features, source, self.n_jobs)
        weight = _weights(source)
        mean = np.average(features, axis=0, weights=weight)
        spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weight))
        self._units = np.where(spread > 0, spread, 1.0)
        present = np.unique(codes)
        self.classes_ = classes
        if len(present) < len(classes):  # of partial_fit: what hasn't come yet has no odds
            self.coef_ = np.zeros((1 if len(classes) == 2 else len(classes), features.shape[1]))
            self.intercept_ = np.where(np.isin(np.arange(len(classes)), present), 0.0, -30.0)
            self.intercept_ = (
                self.intercept_[1:] - self.intercept_[0] if len(classes) == 2 else self.intercept_
            )
        else:
            logistic = LogisticRegression(C=self.C, tol=1e-10, max_iter=max(self.max_iter, 1000))
            logistic.fit(features / self._units, codes, sample_weight=weight)
            self.coef_, self.intercept_ = logistic.coef_, logistic.intercept_
        scores = features / self._units @ self.coef_.T + self.intercept_
        self.guarantee_ = judge(CLASSIFIER, self._evidence(scores, codes))

    def _features(self, block: Block) -> NDArray[Any]:
        """The features, centred, and the products of each class's directions."""
        X = block.X.toarray() if hasattr(block.X, "toarray") else block.X
        X = X - self.centre_.astype(X.dtype)
        t = X @ self.factors_.T.astype(X.dtype)
        k = min(self.rank, X.shape[1])
        products = [t[:, [i]] * t[:, i : (i // k + 1) * k] for i in range(t.shape[1])]
        return np.asarray(np.hstack([X, *products]) / self._units.astype(X.dtype))

    def _scores(self, block: Block) -> NDArray[Any]:
        if self._streams:
            found = [predict(stream.state, block.X) for stream in self._streams]
            odds = np.column_stack([f / np.sqrt(1 + np.pi * variance / 8) for f, variance in found])
            # One column for each class: the logarithm of its probability against the rest.
            return odds if len(found) == 1 else -np.logaddexp(0.0, -odds)
        return np.asarray(self._features(block) @ self.coef_.T + self.intercept_)


def _weights(source: Source) -> NDArray[Any] | None:
    parts = [np.asarray(piece.weight) for piece in source.pieces if piece.weight is not None]
    return np.concatenate(parts) if parts else None


def _at_least_two(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(f"Classifier can't train when only one class is present: y is all {classes[0]!r}")


def _share_left(scores: NDArray[Any], codes: NDArray[Any], n_classes: int) -> float:
    """Log loss over that of knowing nothing but the shares of the classes."""
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    nothing = -2 * float(np.sum(np.log(np.maximum(shares[codes], 1e-300))))
    return 1 - _gain(scores, codes, n_classes) / max(nothing, 1e-300)


def _gain(scores: NDArray[Any], codes: NDArray[Any], n_classes: int) -> float:
    """Twice the gain in log likelihood over the shares of the classes."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    top = scores.max(axis=1, keepdims=True)
    logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    return float(2 * np.sum(logs[np.arange(len(codes)), codes] - np.log(np.maximum(shares[codes], 1e-300))))
