"""Topics of a document-term matrix."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.guarantees.report import GuaranteeReport
from altmin.text.quality import top_words


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Topics of documents by :class:`altmin.AND`, with what text needs.

    .. math:: y_d \approx \sum_k x_{dk} a_k, \qquad x_{dk} \ge 0, \quad a_k \ge 0

    where y is a document (weights of its words), a a topic. Text is noise for the most part, so thresholds
    stand higher than AND's (3 root mean squares of the negative codes) and no document is trimmed; the start
    takes the purest of the longer documents. No seed: the same documents give the same topics.

    Parameters
    ----------
    n_components : int
        Number of topics.
    weighting : {'auto', 'tfidf'} or None
        'tfidf' weights counts by (1 + log tf) idf and divides documents by their norms; None takes X as it
        is, from a ``TfidfVectorizer`` say; 'auto' weights where all entries are whole numbers.
    start_quantile : float
        Documents with fewer distinct words than this quantile are no candidates for the start.
    noise_factor : float
        Thresholds stay above this many root mean squares of the negative codes.
    max_iter : int
        Stages at most.
    tol : float
        As in :class:`altmin.AND`.
    verbose : int
        Progress line.
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        Topics: non-negative weights of the words, of unit norm, by falling total weight.
    component_scales_ : ndarray of shape (n_components,)
        Large weights of each topic in a document.
    model_ : AND
        The fitted model.
    n_iter_ : int
        Stages taken.

    Notes
    -----
    **Guarantee.** That of :class:`altmin.AND`; ``model_.guarantee_`` says what is supported, which for real
    text is seldom recovery. The same documents always give the same topics.

    **Cost.** That of :class:`altmin.AND` on sparse rows, which are never made dense, and a few non-negative
    least squares of n_components unknowns a document.

    References
    ----------
    Y. Li and Y. Liang, Provable alternating gradient descent for non-negative matrix factorization with
    strong correlations, ICML 2017.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from altmin.text import TopicModel
    >>> documents = ["cat dog cat", "dog cat", "sun moon star", "moon sun", "cat dog sun moon", "star sun"]
    >>> pipeline = make_pipeline(TfidfVectorizer(), TopicModel(2)).fit(documents)
    >>> words = pipeline[0].get_feature_names_out()
    >>> sorted(sorted(topic) for topic in pipeline[-1].top_words(words, 2))
    [['cat', 'dog'], ['moon', 'sun']]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions({"auto", "tfidf"}), None],
        "start_quantile": [Interval(Real, 0, 1, closed="left")],
        "noise_factor": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components: int,
        *,
        weighting: str | None = "auto",
        start_quantile: float = 0.3,
        noise_factor: float = 3.0,
        max_iter: int = 200,
        tol: float = 0.0,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.weighting = weighting
        self.start_quantile = start_quantile
        self.noise_factor = noise_factor
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> TopicModel:
        """Find the topics.

        Parameters
        ----------
        X : sparse or array-like of shape (n_documents, n_words)
            Counts, or weights that are not negative. Sparse stays sparse.
        y : None
            Ignored.

        Returns
        -------
        TopicModel
            The fitted estimator.
        """
        counts = self._checked(X, reset=True)
        weighted = self.weighting == "tfidf" or (self.weighting == "auto" and _are_counts(counts))
        self.tfidf_ = TfidfTransformer(sublinear_tf=True).fit(counts) if weighted else None
        documents = self._weighted(counts)
        model = AND(
            self.n_components,
            init=self._start(documents),
            noise_factor=self.noise_factor,
            trim=None,
            nonnegative_components=True,
            decoder="nnls",
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=self.verbose,
            n_jobs=self.n_jobs,
        ).fit(documents)
        mass = model.transform(documents).sum(axis=0)
        order = np.argsort(-mass, kind="stable")
        self.model_ = model
        self.components_ = model.components_[order]
        self.component_scales_ = model.component_scales_[order]
        self.n_iter_ = model.n_iter_
        self._order = order
        return self

    def transform(self, X: Any) -> Any:
        """Weights of the topics in documents, by non-negative least squares.

        Parameters
        ----------
        X : sparse or array-like of shape (n_documents, n_words)
            As for ``fit``.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Not negative.
        """
        check_is_fitted(self)
        return self.model_.transform(self._weighted(self._checked(X, reset=False)))[:, self._order]

    def top_words(self, vocabulary: Any = None, n_words: int = 10) -> list[list[Any]]:
        """The words of the largest weight in each topic; see :func:`altmin.text.top_words`.

        Parameters
        ----------
        vocabulary : sequence of str or None
            The words; None: names seen in ``fit`` if X had any, else numbers.
        n_words : int
            How many.

        Returns
        -------
        list of list
            A list a topic.
        """
        check_is_fitted(self)
        if vocabulary is None:
            vocabulary = getattr(self, "feature_names_in_", None)
        return top_words(self.components_, vocabulary, n_words)

    @property
    def guarantee_(self) -> GuaranteeReport:
        """Whether these are the topics that made the documents, and why."""
        check_is_fitted(self)
        return self.model_.guarantee_

    def guarantee(
        self, X: Any, y: Any = None, *, effort: str = "full", sample_weight: Any = None
    ) -> GuaranteeReport:
        """Whether these are the topics that made the documents; see :meth:`altmin.AND.guarantee`.

        Parameters
        ----------
        X : sparse or array-like of shape (n_documents, n_words)
            As for ``fit``.
        y : None
            Ignored.
        effort : {'cheap', 'full'}
            'full' fits halves of the documents and from other starts, and compares.
        sample_weight : array-like of shape (n_documents,) or None
            How often each document counts.

        Returns
        -------
        GuaranteeReport
            The verdict and its reasons.
        """
        check_is_fitted(self)
        documents = self._weighted(self._checked(X, reset=False))
        return self.model_.guarantee(documents, effort=effort, sample_weight=sample_weight)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _checked(self, X: Any, reset: bool) -> Any:
        X = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr")
        check_non_negative(X, "TopicModel (words have weights of at least 0)")
        return X

    def _weighted(self, X: Any) -> Any:
        return X if self.tfidf_ is None else self.tfidf_.transform(X)

    def _start(self, documents: Any) -> Any:
        """The purest of the longer documents; AND's own start where these are too few or too alike."""
        sizes = np.diff(documents.indptr) if sp.issparse(documents) else np.count_nonzero(documents, axis=1)
        filled = sizes > 0
        if self.start_quantile == 0 or filled.sum() == 0:
            return "spa"
        long = documents[sizes >= np.quantile(sizes[filled], self.start_quantile)]
        if long.shape[0] <= self.n_components or long.shape[1] <= self.n_components:
            return "spa"
        picked = spa(long, self.n_components)
        if len(picked) < self.n_components:
            return "spa"
        return long[picked].toarray() if sp.issparse(long) else long[picked]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _are_counts(X: Any) -> bool:
    values = X.data if sp.issparse(X) else X
    return bool(np.all(values == np.round(values)))
