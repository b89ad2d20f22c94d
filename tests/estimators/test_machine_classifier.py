"""The classifier finds quadratic boundaries that a linear one cannot."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from altmin import FactorizationMachineClassifier


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
