"""Fits that lead to a second problem: each has a checkpoint folder of its own, and can be repeated."""

import numpy as np
import pytest

import altmin
import altmin.algorithms.quadratic.least_squares as least_squares
from altmin.datasets import make_dir
from altmin.text import TopicModel

RNG = np.random.default_rng(0)
TOPICS = make_dir(300, 20, 3, random_state=0).X
COUNTS = RNG.poisson(300 * TOPICS).astype(float)
BURSTS = np.round(COUNTS * 5.0 * RNG.gamma(0.2, 5, COUNTS.shape))
FLAT = np.column_stack([RNG.standard_normal((300, 4)) * (RNG.random((300, 4)) < 0.3), np.zeros((300, 2))])

FITS = {
    "words of topics": (lambda **c: TopicModel(3, **c), np.round(300 * TOPICS), None),
    "counts": (lambda **c: altmin.AND(3, **c), COUNTS, "counts after"),
    "whole numbers that are no counts": (lambda **c: altmin.AND(3, **c), BURSTS, "no counts"),
    "data that miss directions": (altmin.OrthogonalDictionaryLearning, FLAT, "falling threshold"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_such_a_fit_is_repeated_to_the_same_bits_and_can_be_prolonged(name, tmp_path):
    make, X, folder = FITS[name]
    alone = make(max_iter=5, random_state=0).fit(X)
    for _ in range(3):
        again = make(max_iter=5, random_state=0, checkpoint=tmp_path).fit(X)
        np.testing.assert_array_equal(again.components_, alone.components_)
        assert (again.n_iter_, str(again.outcome_)) == (alone.n_iter_, str(alone.outcome_))
    assert folder is None or any(tmp_path.glob(f"{folder}*"))
    longer = make(max_iter=9, random_state=0).fit(X)
    prolonged = make(max_iter=9, random_state=0, checkpoint=tmp_path).fit(X)
    np.testing.assert_array_equal(prolonged.components_, longer.components_)


def test_a_machine_too_wide_for_moments_starts_by_power_rounds(monkeypatch):
    """Above 1,000 dense features the matrix of moments isn't formed."""
    monkeypatch.setattr(least_squares, "MOST_MOMENTS", 10)
    X = RNG.standard_normal((4000, 20))
    y = np.square(X @ RNG.standard_normal(20)) / 20 - np.square(X[:, 3]) + X[:, 0]
    model = altmin.FactorizationMachineRegressor(2, random_state=0).fit(X, y)
    assert model.score(X, y) > 1 - 1e-9
