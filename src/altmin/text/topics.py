"""Topics of a document-term matrix."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.validation import check_is_fitted, check_non_negative

from altmin.algorithms.nonnegative.nmf import Nmf, even_codes
from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.contract import Block
from altmin.engine import AnySource, open_source
from altmin.engine.checks import check_smallest, check_values
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.estimators.parameters import NotNegative
from altmin.estimators.sklearn_bridge import Interval
from altmin.kernels.counts import improve_codes, ratios
from altmin.kernels.gram import transpose_times
from altmin.text.quality import top_words

_UPDATES = 50  # of the words of the topics


class TopicModel(AND):
    r"""Topics of documents: :class:`altmin.AND` with settings for text.

    .. math:: y_d \approx \sum_k x_{dk} a_k, \qquad x_{dk} \ge 0, \quad a_k \ge 0

    where y is a document (the weights of its words) and a_k is a topic. Text is mostly noise, so
    the thresholds are higher than AND's default (3 root mean squares of the negative codes) and no document
    is trimmed. The start takes the purest of the longer documents, so the same documents always give the
    same topics.

    Parameters
    ----------
    n_components : int
        Number of topics.
    weighting : {'auto', 'tfidf'} or None
        'tfidf' weights counts by (1 + log tf) idf and divides documents by their norms; None takes X as it
        is, from a ``TfidfVectorizer`` say; 'auto' weights where all entries are whole numbers.
    start_quantile : float
        Documents with fewer distinct words than this quantile are not candidates for the start.
    noise_factor : float
        Thresholds stay above this many root mean squares of the negative codes.
    tol : float
        As in :class:`altmin.AND`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_words)
        Topics: non-negative weights of the words, of unit norm, by falling total weight.
    component_scales_ : ndarray of shape (n_components,)
        Large weights of each topic in a document.
    idf_ : ndarray of shape (n_words,) or None
        Inverse document frequencies; None where the documents are not weighted.
    topic_word_ : ndarray of shape (n_components, n_words)
        Probabilities of the words in each topic, fitted to the counts by their Poisson likelihood (to X as
        it is where the documents are not weighted).
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Shares of the topics in the words of each document of the fit.

    Notes
    -----
    **Guarantee.** That of :class:`altmin.AND`; ``guarantee_`` says what is supported, which for real
    text is seldom recovery. The same documents always give the same topics.

    **Cost.** That of :class:`altmin.AND` on sparse rows, which are never made dense, and a few non-negative
    least squares of n_components unknowns per document.

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

    weighting: Literal["auto", "tfidf"] | None = "auto"
    start_quantile: Annotated[float, Interval(Real, 0, 1, closed="left")] = 0.3
    noise_factor: NotNegative = 3.0

    # What text settles among the parameters of AND.
    init = "spa"
    threshold = "auto"
    trim = None
    inner_steps = None
    step = "auto"
    batch_size = None
    decoder = "nnls"
    nonnegative_components = True
    noise = "gaussian"
    missing = "raise"
    warm_start = False

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Find the topics; documents have no weights, and no entry may be missing."""
        super().fit(X)
        source = super()._open(X, reset=False).require_replayable("the words of the topics")
        counts = source.read(0, source.n_rows).X
        # Shares of the topics in a document give the words of each topic; both are then fitted to the counts.
        shares = _shares(self.transform(X))
        words = Nmf(transpose_times(shares, counts), "counts")
        # Without a checkpoint of its own: one of the fit leads here again.
        fit = self._run(words, source, max_iter=_UPDATES, tol=1e-5, checkpoint=None)
        self.topic_word_ = fit.state.A.astype(self.components_.dtype)
        codes = improve_codes(counts, even_codes(counts, fit.state.A), fit.state.A, _UPDATES)
        self.doc_topic_ = _shares(codes).astype(self.components_.dtype)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Go on with a batch of documents: a stage of :class:`altmin.AND`, then the words of the topics.

        The first batch says how words are weighted and gives the start. ``topic_word_`` comes from the
        expected counts of all batches (incremental expectation maximisation); ``doc_topic_`` is of this one.
        """
        begun = getattr(self, "_state", None) is not None
        super().partial_fit(X)
        source = super()._open(X, reset=False).require_replayable("the words of the topics")
        counts = source.read(0, source.n_rows).X
        if begun:
            A = self.topic_word_.astype(np.float64)
        else:
            self._words = np.full(self.components_.shape, 1e-9)
            A = _shares(transpose_times(_shares(self.transform(X)), counts) + 1e-9)
        for _ in range(_UPDATES if not begun else 1):
            codes = improve_codes(counts, even_codes(counts, A), A, _UPDATES)
            expected = A * np.asarray(transpose_times(codes, ratios(counts, codes, A)[0]))
            A = _shares(self._words + expected)
        self._words = self._words + expected
        self.topic_word_ = A.astype(self.components_.dtype)
        self.doc_topic_ = _shares(codes).astype(self.components_.dtype)
        return self

    def top_words(
        self,
        vocabulary: Any = None,
        n_words: int = 10,
        by: Literal["weight", "probability", "lift"] = "weight",
    ) -> list[list[Any]]:
        """The words that say most of each topic; see :func:`altmin.text.top_words`.

        Parameters
        ----------
        vocabulary : sequence of str or None
            The words; None: names seen in ``fit`` if X had any, else numbers.
        n_words : int
            How many words of each topic.
        by : {'weight', 'probability', 'lift'}
            By ``components_``, which favour words of few documents where these are weighted; by
            ``topic_word_``; or by how much likelier the topic makes a word, times the root of its
            probability, so that words that hardly occur don't lead.

        Returns
        -------
        list of list
            One list per topic.
        """
        check_is_fitted(self)
        if vocabulary is None:
            vocabulary = getattr(self, "feature_names_in_", None)
        tables = {
            "weight": lambda: self.components_,
            "probability": lambda: self.topic_word_,
            "lift": lambda: self.topic_word_**1.5 / np.maximum(self.topic_word_.mean(axis=0), 1e-300),
        }
        if by not in tables:
            raise ValueError(f"by={by!r}: allowed are {', '.join(map(repr, tables))}")
        return top_words(tables[by](), vocabulary, n_words)

    def _open(self, X: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> AnySource:
        """Documents are weighted as they are opened: what AND and its guarantee see are their weights."""
        source = super()._open(X, y, sample_weight, **options).require_replayable("weighting words")
        table = source.read(0, source.n_rows)
        rows = Block(0, 0, table.X)
        check_smallest(check_values(rows, self._power), source.dtype, self._power)
        check_non_negative(table.X, "TopicModel (words have weights of at least 0)")
        if options["reset"]:
            weighted = self.weighting == "tfidf" or (self.weighting == "auto" and _are_counts(table.X))
            self.idf_: NDArray[Any] | None = None
            if weighted:
                self.idf_ = TfidfTransformer().fit(table.X).idf_
        if self.idf_ is None:
            return source
        weights = TfidfTransformer(sublinear_tf=True)
        weights.idf_ = self.idf_
        X = table.X
        if sp.issparse(X) and not X.data.all():  # a stored 0 has no logarithm
            X = X.copy()
            X.eliminate_zeros()
        return open_source(weights.transform(X), table.y, table.weight)

    def _start(self, source: AnySource) -> Any:
        """The purest of the longer documents; AND's own start where these are too few or too alike."""
        rows = source.require_replayable("the start")
        documents = rows.read(0, rows.n_rows).X
        sizes = np.diff(documents.indptr) if sp.issparse(documents) else np.count_nonzero(documents, axis=1)
        filled = sizes > 0
        if self.start_quantile == 0 or filled.sum() == 0:
            return None
        long = documents[sizes >= np.quantile(sizes[filled], self.start_quantile)]
        if min(long.shape) <= self.n_components:
            return None
        picked = spa(long, self.n_components)
        if len(picked) < self.n_components:
            return None
        return long[picked].toarray() if sp.issparse(long) else long[picked]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _shares(codes: NDArray[Any]) -> NDArray[Any]:
    """Rows divided by their sums; empty ones stay 0."""
    sums = codes.sum(axis=1, keepdims=True)
    return codes / np.where(sums > 0, sums, 1.0)


def _are_counts(X: Any) -> bool:
    values = X.data if sp.issparse(X) else X
    return bool(np.all(values == np.round(values)))
