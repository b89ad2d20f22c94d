"""Halves are disjoint and of one size, and copies of a sample never fall into both."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.engine import open_source
from altmin.guarantees.refits import halves, spread_rows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["dense", "sparse", "holes", "second"])
def test_copies_stay_together(kind, seed):
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(200), 5)
    X = rng.standard_normal((200, 7))[rows]
    second = None
    if kind == "sparse":
        X = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    elif kind == "holes":
        X[:, 2] = np.where(rows % 3 == 0, np.nan, X[:, 2])
    elif kind == "second":
        second = rng.standard_normal((200, 3))[rows]
    first, other = halves(open_source(X, None, None, second), seed)
    assert sorted([*first, *other]) == list(range(1000))
    assert not set(rows[first]) & set(rows[other])
    assert 0.4 <= len(first) / 1000 <= 0.6


def test_near_and_scaled_copies_stay_together_but_for_few():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 6))
    copies = -2 * X * (1 + 1e-4 * rng.standard_normal(X.shape))
    first, _ = halves(open_source(np.vstack([X, copies])))
    side = np.isin(np.arange(1000), first)
    assert np.mean(side[:500] == side[500:]) > 0.97


def test_one_feature_is_split_by_size_and_one_row_not_at_all():
    first, other = halves(open_source(np.arange(1.0, 101.0)[:, None]))
    assert min(len(first), len(other)) >= 40
    with pytest.raises(ValueError, match="copies of one another"):
        halves(open_source(np.ones((50, 3))))


def test_at_most_so_many_rows_are_used():
    X = np.random.default_rng(0).standard_normal((1000, 4))
    assert [len(part) for part in halves(open_source(X), most=100)] == [100, 100]


def test_rows_of_a_sample_are_spread_but_at_no_fixed_distance():
    rows = spread_rows(12_000, 1000)
    assert len(rows) == 1000 and np.all(np.diff(rows) > 0) and np.all(rows // 12 == np.arange(1000))
    assert len(np.unique(rows % 12)) == 12  # a season of twelve rows is seen whole
    np.testing.assert_array_equal(spread_rows(5, 9), np.arange(5))
    assert spread_rows(10, 7).max() < 10 and len(np.unique(spread_rows(10, 7))) == 7
