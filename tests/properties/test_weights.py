"""Rows without weight don't exist: each way of fitting finds the law of the others, and misses it unweighted.

A weight that is ignored anywhere would let the junk rows in; that they do harm is shown beside it.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import (
    AND,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    PhaseRetrieval,
    RankOneSensing,
)
from altmin.datasets import make_dir

RNG = np.random.default_rng(0)
D = 6
LAW = np.diag([2.0, -1.0, 0, 0, 0, 0])
X = RNG.standard_normal((3000, D))
Y = X @ np.arange(D) + np.einsum("ij,jk,ik->i", X, LAW, X)
WEIGHT = np.repeat([1.0, 0.0], 3000)


def junk(X, y):
    """The rows, and as many that follow the opposite law."""
    return np.vstack([X, X]), np.concatenate([y, -y])


def batches(*columns, size=1000):
    """Batches in which good rows and junk alternate."""
    order = np.arange(len(columns[0])).reshape(2, -1).T.ravel()
    for low in range(0, len(order), size):
        yield tuple(column[order[low : low + size]] for column in columns)


def regression(weight):
    X2, y2 = junk(X, Y)
    return FactorizationMachineRegressor(2, random_state=0).fit(X2, y2, sample_weight=weight).score(X, Y)


def regression_stream(weight):
    model = FactorizationMachineRegressor(2, random_state=0)
    for rows, target, share in batches(*junk(X, Y), np.ones(6000) if weight is None else weight):
        model.partial_fit(rows, target, sample_weight=share)
    return model.score(X, Y)


def sensing(weight):
    y = np.einsum("ij,jk,ik->i", X, LAW, X)
    X2, y2 = junk(X, y)
    return RankOneSensing(2, random_state=0).fit(X2, y2, sample_weight=weight).score(X, y)


def clicks(weight):
    labels = (Y > 0).astype(int)
    X2, y2 = np.vstack([X, X]), np.concatenate([labels, 1 - labels])
    return (
        FactorizationMachineClassifier(2, random_state=0).fit(X2, y2, sample_weight=weight).score(X, labels)
    )


def clicks_stream(weight):
    labels = (Y > 0).astype(int)
    rows, target = np.vstack([X, X]), np.concatenate([labels, 1 - labels])
    model = FactorizationMachineClassifier(2, random_state=0)
    for part, said, share in batches(rows, target, np.ones(6000) if weight is None else weight):
        model.partial_fit(part, said, classes=[0, 1], sample_weight=share)
    return model.score(X, labels)


def one_hot_clicks(weight):
    codes = RNG.integers(0, 10, (3000, 2))
    labels = ((codes[:, 0] < 5) ^ (codes[:, 1] < 5)).astype(int)
    table = sp.csr_array(np.hstack([np.eye(10)[codes[:, 0]], np.eye(10)[codes[:, 1]]]))
    both = sp.vstack([table, table]).tocsr()
    target = np.concatenate([labels, 1 - labels])
    model = FactorizationMachineClassifier(2, random_state=0).fit(both, target, sample_weight=weight)
    return model.score(table, labels)


def phase(weight):
    signal = np.arange(1.0, D + 1)
    power = (X @ signal) ** 2
    other = (X @ signal[::-1]) ** 2
    X2, y2 = np.vstack([X, X]), np.concatenate([power, other])
    found = PhaseRetrieval(random_state=0).fit(X2, y2, sample_weight=weight).signal_
    return abs(found @ signal) / np.linalg.norm(found) / np.linalg.norm(signal)


WAYS = [regression, regression_stream, sensing, clicks, clicks_stream, one_hot_clicks, phase]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_rows_without_weight_have_no_say(way):
    assert way(WEIGHT) > 0.95
    assert way(None) < 0.9


MIXTURE = make_dir(1500, 40, 4, random_state=0)
OTHER = make_dir(1500, 40, 4, random_state=1)
BOTH = np.vstack([MIXTURE.X, OTHER.X])
SHARE = np.repeat([1.0, 0.0], 1500)


def test_and_in_batches_learns_from_rows_with_weight_alone():
    def found(weight):
        model = AND(4, init=MIXTURE.start)
        for rows, share in batches(BOTH, weight, size=600):
            model.partial_fit(rows[share > 0], sample_weight=share[share > 0])
        return model.components_

    weighted = AND(4, init=MIXTURE.start)
    for rows, share in batches(BOTH, SHARE, size=600):
        weighted.partial_fit(rows, sample_weight=share)
    np.testing.assert_allclose(weighted.components_, found(SHARE), atol=1e-10)
    assert np.abs(found(np.ones(3000)) - found(SHARE)).max() > 0.01


def test_the_report_of_and_looks_at_rows_with_weight_alone():
    model = AND(4).fit(MIXTURE.X)
    weighted = model.guarantee(BOTH, effort="cheap", sample_weight=SHARE)
    assert weighted.verdict == model.guarantee(MIXTURE.X, effort="cheap").verdict
    assert weighted["residual"].status == "holds"
    assert model.guarantee(BOTH, effort="cheap").verdict == "contradicted"
