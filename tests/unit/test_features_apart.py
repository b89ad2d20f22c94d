"""One half of the features decodes, the other one is looked at: curves show, whatever noise depends on."""

import numpy as np
import pytest

from altmin import AND
from altmin.guarantees.cone_rest import left_over, redrawn
from altmin.guarantees.curvature import curved
from altmin.guarantees.features_apart import features_apart

RNG = np.random.default_rng(3)
A = RNG.gamma(0.5, size=(4, 40)) + 0.02
Z = RNG.dirichlet(np.full(4, 0.4), 900)
Z[:80] = np.eye(4)[RNG.integers(4, size=80)]


def counted(mean, depth, seed=0, dispersion=0.0):
    rng = np.random.default_rng(seed)
    rate = mean / mean.sum(axis=1, keepdims=True) * depth
    if dispersion:
        rate = rate * rng.gamma(1 / dispersion, dispersion, rate.shape)
    return rng.poisson(rate).astype(float)


@pytest.mark.parametrize("depth", [50, 500, 5000])
@pytest.mark.parametrize("dispersion", [0.0, 0.2])
def test_counts_of_sums_are_no_curve_however_uneven_their_noise(depth, dispersion):
    found = [features_apart(counted(Z @ A, depth, seed, dispersion), A, True) for seed in range(8)]
    assert max(one.curved for one in found) < 4
    assert max(one.multiplied for one in found) < 4


def test_the_same_counts_look_curved_where_all_features_decode():
    X = counted(Z @ A, 5000, 0, 0.2)
    assert curved(X, np.maximum(X @ np.linalg.pinv(A), 0)) > 4


@pytest.mark.parametrize(
    "distort",
    [lambda m: m**0.75, lambda m: m**1.25, lambda m: m / (1 + 0.4 * m / m.mean()),
     lambda m: m ** np.where(np.arange(40) % 2, 0.7, 1.4)],
    ids=["root", "power", "saturating", "each feature its own"],
)  # fmt: skip
def test_powered_and_saturated_counts_are_curved(distort):
    X = counted(distort(Z @ A), 1500)
    model = AND(4).fit(X)
    assert model.noise_ == "poisson"
    assert features_apart(X, model.components_, True).curved > 4
    assert model.guarantee(X, assume="pure").verdict == "contradicted"


def test_curves_of_single_features_show_where_their_sum_cancels(monkeypatch):
    unit = (Z @ A) / np.sqrt(np.mean((Z @ A) ** 2, axis=0))
    bent = Z @ A + 0.03 * np.where(np.arange(40) % 2, 1, -1) * unit**2
    X = bent + 0.05 * np.random.default_rng(0).standard_normal(bent.shape)
    assert features_apart(X, A, False).curved > 4
    monkeypatch.setattr("altmin.guarantees.features_apart.FAR_T2", 0.01)  # single features say nothing
    assert features_apart(X, A, False).curved < 4


def test_two_that_multiply_and_one_that_changes_as_it_grows_show():
    both = counted(Z @ A + 20 * Z[:, :1] * Z[:, 1:2] * A[2] * A[3], 3000)
    assert features_apart(both, A, True).multiplied > 4
    turned = counted(Z @ A + 0.3 * Z[:, :1] ** 2 * (A[0, ::-1] - A[0]), 3000)
    assert features_apart(turned, A, True).multiplied > 4


def test_noise_that_would_hide_a_power_is_told_by_the_error_that_it_would_make():
    deep, shallow = (features_apart(counted(Z @ A, depth), A, True).unseen for depth in (20_000, 60))
    assert 5 * deep < 0.05 < 5 * shallow
    shown = features_apart(counted((Z @ A) ** 1.02, 20_000), A, True).curved
    turned = [_sine(corner, corner**1.02) for corner in A]
    assert 0.5 < np.median(turned) / deep / shown < 2  # by about as many deviations as it shows


def _sine(a, b):
    return np.sqrt(1 - (a @ b) ** 2 / ((a @ a) * (b @ b)))


def test_copies_of_a_sample_are_one_fact():
    rounded = np.round(4 * Z @ A) / 4
    some = np.vstack([rounded[80:], np.repeat(rounded[:8], 40, axis=0)])
    found = [_left_over(X) for X in (some, np.vstack([rounded[80:], rounded[:8]]))]
    assert found[0]["curved"] == pytest.approx(found[1]["curved"])
    assert found[0]["structured"] == pytest.approx(found[1]["structured"])


def _left_over(X):
    codes = X @ np.linalg.pinv(A)
    return left_over(codes, X - codes @ A, A, counts=False, complete=True)


def test_of_few_features_each_count_is_dealt_by_a_coin():
    few = A[:, :9]
    assert max(features_apart(counted(Z @ few, 500, seed), few, True).curved for seed in range(8)) < 4
    X = counted((Z @ few) ** 0.7, 3000)
    assert features_apart(X, AND(4, noise="poisson").fit(X).components_, True).curved > 4


def test_without_features_to_spare_nothing_is_said():
    assert features_apart(Z @ A[:, :9], A[:, :9], False) is None
    assert features_apart(Z @ A[:, :4], A[:, :4], True) is None
    assert features_apart(np.zeros((20, 40)), A, True) is None
    X = counted(Z @ A[:, :4] + 0.01, 300)
    report = AND(4, noise="poisson").fit(X).guarantee(X, assume="pure")
    assert report["straight"].status == "cannot be checked"
    assert report.verdict != "recovered"


def test_samples_drawn_from_a_fit_have_its_means_and_the_noise_that_was_left():
    rest = np.random.default_rng(1).standard_normal((900, 40)) * np.linspace(0.1, 1, 40)
    drawn = redrawn(Z - 0.01, A, rest, None) - np.maximum(Z - 0.01, 0) @ A
    np.testing.assert_allclose(np.abs(drawn), np.abs(rest) * np.sqrt(40 / 36))
    assert abs(np.mean(drawn * rest)) < 0.1 * np.mean(rest**2)
    mean = 50 * Z @ A
    for dispersion in (1.0, 3.0):
        counts = redrawn(50 * Z, A, rest, dispersion)
        assert np.mean((counts - mean) ** 2) == pytest.approx(dispersion * mean.mean(), rel=0.1)
        assert counts.mean() == pytest.approx(mean.mean(), rel=0.02)


def test_what_leans_both_halves_shows_in_samples_that_are_drawn_from_the_fit():
    rng = np.random.default_rng(5)
    X = Z @ A + 0.12 * rng.standard_normal((len(Z), 40))
    model = AND(4).fit(X)
    report = model.guarantee(X, effort="full", assume="pure")
    again, halves = report["again"].measured, report["halves"].measured
    assert again > 0.3 * halves
    assert report.estimated_error > 0.7 * halves


def test_without_noise_nothing_is_drawn():
    X = Z @ A
    assert "again" not in {row.id for row in AND(4).fit(X).guarantee(X, effort="full").conditions}


def test_a_fit_that_was_stopped_early_is_not_known_by_its_noise():
    X = counted(Z @ A, 3000)
    settled, stopped = (AND(4, max_iter=most).fit(X) for most in (300, 1))
    verdicts = [model.guarantee(X, effort="cheap", assume="pure").verdict for model in (settled, stopped)]
    assert verdicts == ["recovered", "unknown"]
