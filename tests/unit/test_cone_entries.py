"""Counts with each entry in units of its own noise: sums are silent, and what is slight shows."""

from dataclasses import replace

import numpy as np
import pytest

from altmin import AND
from altmin.estimators.nonnegative import and_nmf
from altmin.guarantees.cone_entries import look_at_entries
from altmin.guarantees.cone_outside import look_outside
from altmin.guarantees.cone_rest import code_noise, counted_noise, negative_excess
from altmin.guarantees.contract import judge
from altmin.guarantees.features_apart import features_apart
from altmin.guarantees.nonnegative import NONNEGATIVE

RNG = np.random.default_rng(3)
A = RNG.gamma(0.3, size=(5, 60))
A /= A.sum(axis=1, keepdims=True)
Z = RNG.dirichlet(np.full(5, 0.4), 800)
Z[:80] = np.eye(5)[RNG.integers(5, size=80)]


def counted(mean, depth=1000, seed=0, dispersion=0.0):
    rng = np.random.default_rng(seed)
    rate = mean / mean.sum(axis=1, keepdims=True) * depth
    if dispersion:
        rate = rate * rng.gamma(1 / dispersion, dispersion, rate.shape)
    return rng.poisson(rate).astype(float)


@pytest.mark.parametrize("depth", [200, 5000])
@pytest.mark.parametrize("dispersion", [0.0, 0.05])
def test_counts_of_mixtures_are_silent(depth, dispersion):
    found = [look_at_entries(counted(Z @ A, depth, seed, dispersion), A) for seed in range(6)]
    assert 0.93 < min(one.shared for one in found) <= max(one.shared for one in found) < 1.04
    assert max(one.curved for one in found) < 3.5
    assert max(one.multiplied for one in found) < 2.8


def test_columns_of_very_different_size_are_silent():
    steep = A * np.exp(1.5 * np.random.default_rng(0).standard_normal(A.shape[1]))
    found = [look_at_entries(counted(Z @ steep, 1500, seed), steep) for seed in range(6)]
    assert max(one.shared for one in found) < 1.04
    assert max(one.curved for one in found) < 3.5


def test_a_little_that_is_where_nothing_should_be_shows_here_alone():
    foreign = np.zeros(60)
    foreign[np.argsort(A[0] - A.mean(axis=0))[:10]] = 0.1  # features of the others
    extra = 0.05 * np.random.default_rng(5).random((len(Z), 1)) * (Z[:, :1] > 0.5) * foreign
    X = counted(Z @ A + extra, 1500)
    assert look_outside(X, A, True).shared < 1.02
    assert look_at_entries(X, A).shared > 1.08


def test_small_counts_that_are_lost_show_more_than_in_common_units():
    X = counted(Z @ A, 2000)
    X = np.where(X <= 1, 0.0, X)
    assert look_at_entries(X, A).curved > 3.5 > features_apart(X, A, True).curved


def test_components_that_multiply_show():
    extra = np.random.default_rng(5).gamma(0.3, size=60)
    X = counted(Z @ A + 0.5 * Z[:, :1] * Z[:, 1:2] * extra / extra.sum())
    assert look_at_entries(X, A).multiplied > 2.8


def test_the_worst_of_many_pairs_counts_as_the_worst_of_many():
    rng = np.random.default_rng(0)
    B = rng.gamma(0.3, size=(9, 80))
    worst = [
        look_at_entries(counted(rng.dirichlet(np.full(9, 0.4), 500) @ B, 1000, seed), B).multiplied
        for seed in range(5)
    ]
    assert max(worst) < 2.8
    assert np.median(worst) < 1.5  # that of 45 would be 2.2


@pytest.mark.parametrize("scale", [0.5, -1.0])
def test_nothing_is_said_of_what_is_no_count(scale):
    assert look_at_entries(scale * (counted(Z @ A) + 1), A) is None


def test_nothing_is_said_where_half_of_the_features_do_not_fix_the_codes():
    assert look_at_entries(counted(Z @ A[:, :16]), A[:, :16]) is None


def test_features_that_are_never_there_do_not_matter():
    X = counted(Z @ A)
    wider = [np.hstack([M, np.zeros((len(M), 7))]) for M in (X, A)]
    assert look_at_entries(*wider) == look_at_entries(X, A)


def test_what_is_expected_tells_the_noise_that_few_large_columns_hide():
    hidden, known = [], []
    for seed in range(4):
        steep = A * np.exp(1.5 * np.random.default_rng(seed).standard_normal(A.shape[1]))
        X = counted(Z @ steep, 3000)
        codes = X @ np.linalg.pinv(steep)
        hidden.append(negative_excess(codes, code_noise(X - codes @ steep, steep), 0.005))
        known.append(negative_excess(codes, counted_noise(codes, steep, 1.0), 0.005))
    assert max(hidden) > 1.3  # where a fit is contradicted
    assert max(known) < 0.8


def test_halves_and_redrawn_samples_of_counts_count_together(counted_fit):
    evidence = counted_fit
    apart = replace(evidence, halves=np.full(5, 0.045), again=np.full(5, 0.01))
    assert np.sqrt((0.045**2 + 0.01**2) / 2) < 0.035
    rows = {row.id: row for row in judge(NONNEGATIVE, apart, effort="full").decisive}
    assert rows["again"].status == "holds"
    assert "halves" not in rows
    rows = {row.id: row for row in judge(NONNEGATIVE, replace(apart, entries=None), effort="full").decisive}
    assert rows["again"].status == "holds"
    assert rows["halves"].status == "violated"


@pytest.mark.parametrize(
    ("seen", "objects"),
    [({"shared": 1.06}, "noise_left"), ({"curved": 3.8}, "straight"), ({"multiplied": 3.0}, "none_multiply")],
)
def test_what_entries_say_decides(counted_fit, seen, objects):
    evidence = counted_fit
    assert judge(NONNEGATIVE, evidence, effort="full").verdict == "recovered"
    doubtful = replace(evidence, entries=replace(evidence.entries, **seen))
    report = judge(NONNEGATIVE, doubtful, effort="full")
    assert report.verdict == "plausible"
    assert [row.id for row in report.decisive if row.status != "holds"] == [objects]


@pytest.fixture(scope="module")
def counted_fit():
    """A fit to counts that is right, and what its full report rests on."""
    X = counted(Z @ A, 2000)
    model, found = AND(5).fit(X), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(and_nmf, "judge", lambda family, evidence, **options: found.append(evidence))
        model.guarantee(X, assume="pure")
    return found[0]
