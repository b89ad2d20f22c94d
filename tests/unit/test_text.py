"""Topics: planted ones are found, sparse to the end, in a pipeline; their measures mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import altmin
from altmin import select_n_components
from altmin.metrics import match_components
from altmin.text import TopicModel, diversity, npmi_coherence, top_words, topic_stability


def corpus(n=1500, words=300, topics=5, length=80, seed=0):
    """Counts of documents that mix few topics; each topic has words of its own and shares the rest."""
    rng = np.random.default_rng(seed)
    truth = 0.2 * rng.dirichlet(np.full(words, 0.5), topics)
    for k in range(topics):
        truth[k, 20 * k : 20 * k + 20] += 0.8 / 20
    shares = rng.dirichlet(np.full(topics, 0.2), n)
    counts = rng.multinomial(length, shares @ truth / (shares @ truth).sum(axis=1, keepdims=True))
    return sp.csr_array(counts.astype(float)), truth


@pytest.mark.parametrize("seed", range(3))
def test_planted_topics_are_found_by_their_own_words(seed):
    counts, _ = corpus(seed=seed)
    model = TopicModel(5).fit(counts)
    found = sorted(min(line) // 20 for line in model.top_words(n_words=10))
    assert found == [0, 1, 2, 3, 4]
    assert all(len({word // 20 for word in line}) == 1 for line in model.top_words(n_words=10))


def test_nothing_is_made_dense(monkeypatch):
    counts, _ = corpus(400)
    widest = []
    original = sp.csr_array.toarray
    monkeypatch.setattr(
        sp.csr_array, "toarray", lambda self, *a, **k: widest.append(self.shape) or original(self, *a, **k)
    )
    TopicModel(5).fit(counts).transform(counts)
    assert all(rows <= 5 for rows, _ in widest)


def test_sparse_and_dense_documents_give_the_same_topics():
    counts, _ = corpus(400)
    one, other = TopicModel(5).fit(counts), TopicModel(5).fit(counts.toarray())
    _, cosine = match_components(one.components_, other.components_, signed=True)
    assert cosine.min() > 1 - 1e-6


def test_a_pipeline_with_tfidf_goes_from_text_to_topics():
    text = ["the cat and the dog", "dog eats cat food", "stars and the moon", "moon and sun and stars"] * 10
    pipeline = make_pipeline(TfidfVectorizer(stop_words="english", sublinear_tf=True), TopicModel(2))
    codes = pipeline.fit_transform(text)
    assert codes.shape == (40, 2) and codes.min() >= 0
    assert pipeline[-1].idf_ is None
    topics = pipeline[-1].top_words(pipeline[0].get_feature_names_out(), 2)
    assert {frozenset(topic) for topic in topics} == {frozenset({"cat", "dog"}), frozenset({"moon", "stars"})}
    assert list(pipeline.get_feature_names_out()) == ["topicmodel0", "topicmodel1"]


def test_counts_are_weighted_and_weights_are_left_alone():
    counts, _ = corpus(300)
    assert TopicModel(3).fit(counts).idf_ is not None
    assert TopicModel(3).fit(counts * 0.5).idf_ is None
    assert TopicModel(3, weighting=None).fit(counts).idf_ is None


def test_a_topic_model_ends_saves_and_judges_like_every_other_estimator(tmp_path):
    counts, _ = corpus(300)
    model = TopicModel(3, max_iter=20).fit(counts)
    assert model.outcome_.kind in ("converged", "max_iter") and len(model.history_) == model.n_iter_
    altmin.save(model, tmp_path / "topics.altmin")
    back = altmin.load(tmp_path / "topics.altmin")
    assert isinstance(back, TopicModel) and back.guarantee_.verdict == model.guarantee_.verdict
    np.testing.assert_array_equal(back.transform(counts), model.transform(counts))


def test_documents_without_words_are_harmless():
    counts, _ = corpus(400)
    empty = sp.csr_array(sp.vstack([counts, sp.csr_array((7, 300))]))
    codes = TopicModel(5).fit(empty).transform(empty)
    assert np.isfinite(codes).all() and np.all(codes[-7:] == 0)


def test_coherence_is_one_for_words_always_together_and_minus_one_for_never():
    documents = np.array([[1, 1, 0, 0]] * 5 + [[0, 0, 1, 0]] * 5 + [[0, 0, 0, 1]] * 5)
    together, never = [[0.9, 0.8, 0, 0]], [[0.9, 0, 0.8, 0]]
    assert npmi_coherence(together, documents, 2)[0] == pytest.approx(1.0)
    assert npmi_coherence(never, sp.csr_array(documents), 2)[0] == -1.0


def test_coherence_of_independent_words_is_about_zero():
    documents = np.random.default_rng(0).random((4000, 6)) < 0.3
    assert abs(npmi_coherence([[1, 0.9, 0.8, 0, 0, 0]], documents, 3)[0]) < 0.05


def test_diversity_is_the_share_of_distinct_top_words():
    assert diversity([[3, 2, 1, 0], [0, 1, 2, 3]], 2) == 1.0
    assert diversity([[3, 2, 1, 0], [3, 2, 1, 0]], 2) == 0.5


def test_topics_of_planted_documents_come_again_in_halves():
    counts, _ = corpus(2000)
    assert topic_stability(TopicModel(5), counts, n_splits=2) > 0.9


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="vocabulary has shape"):
        top_words([[1.0, 2.0]], ["one"], 1)
    with pytest.raises(ValueError, match="n_words=9"):
        top_words([[1.0, 2.0]], ["one", "two"], 9)
    with pytest.raises(ValueError, match="Negative values"):
        TopicModel(2).fit(-np.ones((5, 4)))


@parametrize_with_checks([TopicModel(2, max_iter=10)])
def test_keeps_the_contract(estimator, check):
    check(estimator)


def test_each_topic_has_its_stability():
    counts, _ = corpus(1000)
    each = topic_stability(TopicModel(5), counts, n_splits=1, per_topic=True)
    assert each.shape == (5,) and each.min() > 0.8


def test_the_number_of_topics_comes_from_held_out_counts():
    counts, _ = corpus(500)
    found = select_n_components(TopicModel(2), counts, [3, 4, 5, 6, 7], n_splits=1)
    assert abs(found.n_components - 5) <= 1
    assert all(np.isfinite(row["held_out"]) for row in found.curve)


def test_batches_of_documents_give_the_topics():
    counts, truth = corpus(2000)
    model = TopicModel(5)
    for begin in range(0, 2000, 400):
        model.partial_fit(counts[begin : begin + 400])
    whole = TopicModel(5).fit(counts)
    assert match_components(model.topic_word_, truth, signed=True)[1].min() > 0.9
    assert match_components(model.topic_word_, whole.topic_word_, signed=True)[1].min() > 0.95
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0)
    assert model.doc_topic_.shape == (400, 5)


@pytest.mark.parametrize("batches", [1, 3])
def test_components_words_and_documents_speak_of_the_same_topics_in_the_same_order(batches):
    rng = np.random.default_rng(5)
    words = rng.dirichlet(np.full(40, 0.1), 4)
    shares = rng.dirichlet([0.2, 0.3, 0.4, 0.5], 300)
    counts = rng.poisson(80 * shares @ words).astype(float)
    model = TopicModel(4, random_state=0)
    if batches == 1:
        documents, codes = model.fit(counts).doc_topic_, model.transform(counts)
    else:
        for part in np.array_split(counts, batches):
            model.partial_fit(part)
        documents, codes = model.doc_topic_, model.transform(part)
    assert documents.shape == codes.shape
    for table, other in ((model.topic_word_, model.components_), (documents.T, codes.T)):
        alike = np.corrcoef(table, other)[:4, 4:]
        np.testing.assert_array_equal(alike.argmax(axis=1), np.arange(4))
        np.testing.assert_array_equal(alike.argmax(axis=0), np.arange(4))
    np.testing.assert_allclose(documents.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0, rtol=1e-6)
