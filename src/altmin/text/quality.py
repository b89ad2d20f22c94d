"""How good topics are: words that belong together, topics that differ, topics that come again."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from altmin.metrics.matching import match_components


def top_words(topics: Any, vocabulary: ArrayLike | None = None, n_words: int = 10) -> list[list[Any]]:
    """The words of the largest weight in each topic.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words), or fitted estimator
        Weights of the words, or what has them as ``components_``.
    vocabulary : sequence of str or None
        The words, as ``TfidfVectorizer.get_feature_names_out()`` gives them; None: their numbers.
    n_words : int
        How many words of each topic.

    Returns
    -------
    list of list
        One list per topic, best words first.

    Notes
    -----
    **Cost.** A partial sort of each topic.

    Examples
    --------
    >>> from altmin.text import top_words
    >>> top_words([[0.1, 0.9, 0.3]], ["cat", "sun", "moon"], 2)
    [['sun', 'moon']]
    """
    best = _top(topics, n_words)
    if vocabulary is None:
        return [line.tolist() for line in best]
    words = np.asarray(vocabulary, dtype=object)
    size = _weights(topics).shape[1]
    if words.shape != (size,):
        raise ValueError(f"vocabulary has shape {words.shape}; {size} words, one a column, are needed")
    return [[str(word) for word in words[line]] for line in best]


def npmi_coherence(topics: Any, documents: Any, n_words: int = 10) -> NDArray[Any]:
    r"""Normalised pointwise mutual information of each topic's top words, by documents.

    .. math:: \frac{1}{\binom{n}{2}} \sum_{i < j} \frac{\log (p_{ij} / p_i p_j)}{-\log p_{ij}}

    where p is the share of documents with the word, or with both. 1: the words always occur together;
    0: independently; -1: never.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words), or fitted estimator
        Weights of the words.
    documents : sparse or array-like of shape (n_documents, n_words)
        Counts or weights; only where they are not 0 matters. Held-out documents tell more.
    n_words : int
        Top words of a topic.

    Returns
    -------
    ndarray of shape (n_topics,)
        One value per topic.

    Notes
    -----
    **Cost.** One product of the documents, restricted to the top words, with themselves.

    References
    ----------
    G. Bouma, Normalized (pointwise) mutual information in collocation extraction, GSCL 2009.

    Examples
    --------
    >>> from altmin.text import npmi_coherence
    >>> documents = [[1, 1, 0], [2, 1, 0], [0, 0, 1], [0, 0, 3]]
    >>> npmi_coherence([[0.7, 0.7, 0.0]], documents, n_words=2).round(6).tolist()
    [1.0]
    """
    best = _top(topics, n_words)
    used, place = np.unique(best, return_inverse=True)
    place = place.reshape(best.shape)
    seen = (sp.csc_array(documents)[:, used] != 0).astype(np.float64)
    joint = (seen.T @ seen).toarray() / seen.shape[0]
    alone = np.diag(joint)
    scores = np.empty(len(best))
    for number, words in enumerate(place):
        i, j = (words[side] for side in np.triu_indices(len(words), 1))
        both, apart = joint[i, j], alone[i] * alone[j]
        known = (both > 0) & (both < 1)
        value = np.where(both >= 1, 1.0, -1.0)
        value[known] = np.log(both[known] / apart[known]) / -np.log(both[known])
        scores[number] = value.mean() if len(value) else 0.0
    return scores


def diversity(topics: Any, n_words: int = 25) -> float:
    """Share of the top words of all topics that are distinct: 1 where no two topics share one.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words), or fitted estimator
        Weights of the words.
    n_words : int
        Top words of a topic (25 as in Dieng, Ruiz and Blei 2020).

    Returns
    -------
    float
        Between 1 / n_topics and 1.

    Notes
    -----
    **Cost.** A partial sort of each topic.

    References
    ----------
    A. B. Dieng, F. J. R. Ruiz and D. M. Blei, Topic modeling in embedding spaces, Transactions of the
    Association for Computational Linguistics 2020.

    Examples
    --------
    >>> from altmin.text import diversity
    >>> diversity([[0.9, 0.8, 0.0], [0.0, 0.8, 0.9]], n_words=2)
    0.75
    """
    best = _top(topics, n_words)
    return float(len(np.unique(best)) / best.size)


def topic_stability(
    estimator: Any, documents: Any, *, n_splits: int = 3, random_state: Any = 0, per_topic: bool = False
) -> float | NDArray[Any]:
    """Mean cosine between the matched topics of fits on disjoint random halves of the documents.

    Parameters
    ----------
    estimator : estimator
        An estimator with ``components_`` after ``fit``; it is cloned.
    documents : sparse or array-like of shape (n_documents, n_words)
        What it is fitted to.
    n_splits : int
        Random splits to average over.
    random_state : int or Generator
        Seed of the splits.
    per_topic : bool
        Instead, for each topic of a fit to all documents, the lower cosine of its matches in the two halves.

    Returns
    -------
    float, or ndarray of shape (n_topics,)
        1 where the topics come again exactly.

    Notes
    -----
    **Cost.** Two fits to half of the documents for each split; ``per_topic`` one more to all.

    Examples
    --------
    >>> from altmin.datasets import make_dir
    >>> from altmin.text import TopicModel, topic_stability
    >>> X = make_dir(300, 40, 3, concentration=1.0, random_state=0).X
    >>> topic_stability(TopicModel(3, weighting=None), X, n_splits=1) > 0.99
    True
    """
    rng = np.random.default_rng(random_state)
    X = sp.csr_array(documents) if sp.issparse(documents) else np.asarray(documents)
    whole: Any = clone(estimator).fit(X).components_ if per_topic else None
    cosines = []
    for _ in range(n_splits):
        order = rng.permutation(X.shape[0])
        halves = (np.sort(order[::2]), np.sort(order[1::2]))
        first, second = (clone(estimator).fit(X[rows]).components_ for rows in halves)
        if per_topic:
            both = [match_components(half, whole, signed=True)[1] for half in (first, second)]
            cosines.append(np.min(both, axis=0))
        else:
            cosines.append(match_components(first, second, signed=True)[1].mean())
    return np.mean(cosines, axis=0) if per_topic else float(np.mean(cosines))


def _weights(topics: Any) -> NDArray[Any]:
    weights = np.asarray(getattr(topics, "components_", topics))
    if weights.ndim != 2:
        raise ValueError(f"topics have shape {weights.shape}; (n_topics, n_words) is needed")
    return weights


def _top(topics: Any, n_words: int) -> NDArray[np.intp]:
    weights = _weights(topics)
    if not 1 <= n_words <= weights.shape[1]:
        raise ValueError(f"n_words={n_words}: between 1 and the {weights.shape[1]} words of the vocabulary")
    return np.argsort(-weights, axis=1, kind="stable")[:, :n_words]
