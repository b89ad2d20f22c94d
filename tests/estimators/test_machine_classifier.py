"""The classifier finds quadratic boundaries that a linear one cannot."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from altmin import FactorizationMachineClassifier
from altmin.estimators.quadratic import classifier
from altmin.estimators.quadratic.classifier import SparseStream


def logistic_data(seed, n=8000, d=20, k=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    F = np.linalg.qr(rng.standard_normal((d, k)))[0]
    odds = 0.5 * X @ rng.standard_normal(d) / np.sqrt(d) + 2 * np.square(X @ F) @ np.array([1.0, -1.0])
    return X, rng.random(n) < 1 / (1 + np.exp(-odds)), odds


def test_close_to_the_oracle_on_a_quadratic_boundary():
    X, y, odds = logistic_data(0)
    train, test = slice(0, 5000), slice(5000, None)
    model = FactorizationMachineClassifier(2, random_state=0).fit(X[train], y[train])
    found = roc_auc_score(y[test], model.decision_function(X[test]))
    linear = roc_auc_score(y[test], LogisticRegression().fit(X[train], y[train]).decision_function(X[test]))
    assert found > roc_auc_score(y[test], odds[test]) - 0.02
    assert found > linear + 0.1


def test_three_classes_and_probabilities():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 6))
    y = np.array(["in", "ring", "out"])[np.digitize(X[:, 0] ** 2 + X[:, 1] ** 2, [1.0, 3.0])]
    model = FactorizationMachineClassifier(2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_partial_fit_comes_close_to_fit():
    X, y, odds = logistic_data(2, n=12000)
    whole = FactorizationMachineClassifier(2, random_state=0).fit(X[:8000], y[:8000])
    model = FactorizationMachineClassifier(2, random_state=0)
    for low in range(0, 8000, 1000):
        model.partial_fit(X[low : low + 1000], y[low : low + 1000], classes=[False, True])
    test = slice(8000, None)
    found = [roc_auc_score(y[test], each.decision_function(X[test])) for each in (whole, model)]
    assert found[1] > found[0] - 0.01
    assert roc_auc_score(y[test], odds[test]) - found[1] < 0.02


def test_partial_fit_begins_with_few_rows_and_one_class():
    X, y, _ = logistic_data(3, n=300, d=5)
    model = FactorizationMachineClassifier(1, random_state=0)
    model.partial_fit(X[:5], np.zeros(5, bool), classes=[False, True])
    assert not model.predict(X[:5]).any()
    for low in range(5, 300, 59):
        model.partial_fit(X[low : low + 59], y[low : low + 59])
    assert model.score(X, y) > 0.6
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:2], ["a", "b"])


def test_the_sample_of_partial_fit_is_fair_and_bounded(monkeypatch):
    from altmin.engine.sources import Table
    from altmin.estimators.quadratic import reservoir

    monkeypatch.setattr(reservoir, "ROWS", 100)
    numbers = np.arange(5000.0)
    kept = None
    for part in np.array_split(numbers, 37):
        table = Table(part[:, None], part)
        kept = reservoir.Reservoir.of(table, 0) if kept is None else kept.more(table)
    assert kept.n_seen == 5000
    assert len(np.unique(kept.y)) == len(kept.y) == 100
    np.testing.assert_array_equal(kept.X[:, 0], kept.y)
    assert abs(kept.y.mean() - 2500) < 4 * 1443 / 10


@pytest.mark.parametrize("seed", range(2))
def test_its_report_is_plausible_for_a_law_and_red_for_noise(seed):
    X, y, _ = logistic_data(seed, n=6000, d=8)
    model = FactorizationMachineClassifier(2, random_state=0).fit(X, y)
    assert model.guarantee_.verdict == "unknown"
    assert model.guarantee(X, y).verdict == "plausible"
    again = model.guarantee(X, y, effort="cheap")
    assert again.effort == "cheap"
    assert again["classes_differ"].measured == pytest.approx(model.guarantee_["classes_differ"].measured)
    noise = np.random.default_rng(seed).random(6000) < 0.5
    report = FactorizationMachineClassifier(2, random_state=0).fit(X, noise).guarantee(X, noise)
    assert report.verdict == "contradicted"
    assert report["2 gain / p"].status == report["halves"].status == "violated"
    assert report["link"].status == "cannot be checked"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_after_a_whole_fit_no_rows_are_kept_and_after_parts_those_that_wait_are(n_classes):
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    X = sp.csr_array(np.hstack([np.eye(40)[rng.integers(0, 40, 300)], np.eye(30)[rng.integers(0, 30, 300)]]))
    y = rng.integers(0, n_classes, 300)
    whole = FactorizationMachineClassifier(2, max_iter=3, random_state=0).fit(X, y)
    assert len(whole._streams) == (1 if n_classes == 2 else 3)
    for stream in whole._streams:
        assert vars(stream) == {**vars(SparseStream(stream.state)), "state": stream.state}
    assert whole.n_iter_ <= 3
    parts = FactorizationMachineClassifier(2, max_iter=3, random_state=0)
    parts.partial_fit(X[:150], y[:150], classes=range(n_classes)).partial_fit(X[150:], y[150:])
    assert any(vars(s) != {**vars(SparseStream(s.state)), "state": s.state} for s in parts._streams)
    assert [row["iteration"] for row in parts.history_] == list(range(1, len(parts.history_) + 1))


def test_the_gain_over_shares_by_hand():
    scores, codes = np.array([[0.2], [-1.0], [3.0], [0.0]]), np.array([1, 0, 1, 1])
    p = 1 / (1 + np.exp(-scores[:, 0]))
    likelihood = np.sum(np.log(np.where(codes == 1, p, 1 - p)))
    nothing = 3 * np.log(3 / 4) + np.log(1 / 4)
    assert classifier._gain(scores, codes, 2) == pytest.approx(2 * (likelihood - nothing))
    assert classifier._share_left(scores, codes, 2) == pytest.approx(likelihood / nothing)
    three = np.column_stack([np.zeros(4), scores, scores - 50.0])
    assert classifier._gain(three, codes, 3) == pytest.approx(2 * (likelihood - nothing))
