"""Mixtures: constraints are kept and said, bands hold the truth and are lines where nothing is left open."""

from __future__ import annotations

import numpy as np
import pytest

from altmin.kernels.unimodal import one_peak
from altmin.metrics import match_components, spectral_angle
from altmin.mixtures import bands, feasible_bands, resolve


def chromatogram(seed=0, noise=0.0, runs=1):
    rng = np.random.default_rng(seed)
    time, channel = np.arange(50)[:, None], np.arange(70)[:, None]
    profiles = np.exp(-((time - [16, 25, 35]) ** 2) / 30)
    C = np.vstack([profiles * rng.uniform(0.5, 2, 3) for _ in range(runs)])
    S = (0.05 + np.exp(-((channel - [12, 30, 52]) ** 2) / 150)).T
    X = C @ S
    return X + noise * X.max() * rng.standard_normal(X.shape), C, S


def held(bands, found, S, C):
    order, _ = match_components(found.spectra, S, signed=True)
    sums = S.sum(axis=1)
    spectra, profiles = S / sums[:, None], C * sums
    low, high = bands.spectra[:, order]
    below, above = bands.contributions[:, :, order]
    inside = (low <= spectra) & (spectra <= high), (below <= profiles) & (profiles <= above)
    return min(inside[0].mean(), inside[1].mean())


def test_one_peak_is_the_closest_unimodal_curve():
    from sklearn.isotonic import isotonic_regression

    rng = np.random.default_rng(0)
    for _ in range(30):
        y = rng.standard_normal(rng.integers(1, 12))
        fit = one_peak(y)
        errors = []
        for peak in range(len(y)):
            rest = y[peak + 1 :]
            down = isotonic_regression(rest, increasing=False) if len(rest) else rest
            other = np.concatenate([isotonic_regression(y[: peak + 1]), down])
            errors.append(np.sum((other - y) ** 2))
        assert np.sum((fit - y) ** 2) == pytest.approx(min(errors))


def test_runs_share_spectra_and_peaks_are_single():
    X, _, S = chromatogram(noise=0.002, runs=3)
    found = resolve(X, 3, runs=[50] * 3, unimodal=True)
    assert spectral_angle(found.spectra, S).max() < 0.1
    for run in range(3):
        for profile in found.run(run).T:
            steps = np.diff(profile)
            fell = np.maximum.accumulate(steps < -1e-9)
            assert not np.any(fell & (steps > 1e-9)), "rises again after it fell"
    as_list = resolve([X[:50], X[50:100], X[100:]], 3, unimodal=True)
    np.testing.assert_allclose(as_list.spectra, found.spectra)
    assert any("3 runs" in line for line in found.constraints.said())


def test_known_spectra_and_absent_components_are_kept():
    X, C, S = chromatogram(noise=0.002)
    absent = np.zeros(C.shape, bool)
    absent[:10, 2] = absent[40:, 0] = True
    found = resolve(X, 3, absent=absent, known={1: S[1]})
    np.testing.assert_array_equal(found.contributions[absent], 0.0)
    np.testing.assert_allclose(found.spectra[1], S[1])
    order, _ = match_components(found.spectra, S, signed=True)
    assert order.tolist() == [0, 1, 2]  # components play the parts that the constraints gave them
    words = " ".join(found.constraints.said())
    assert "Known spectra: component 2" in words and "absent" in words


def test_closure_sets_the_scales():
    rng = np.random.default_rng(0)
    C = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), 60)])
    S = chromatogram()[2] * np.array([[1.0], [3.0], [0.5]])
    found = resolve(C @ S, 3, closure=1.0)
    np.testing.assert_allclose(found.contributions.sum(axis=1), 1.0, atol=0.02)
    order, _ = match_components(found.spectra, S, signed=True)
    np.testing.assert_allclose(found.spectra[order].max(axis=1), S.max(axis=1), rtol=0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"runs": [10, 10]}, "add up to 20 rows"),
        ({"closure": -1.0}, "positive sum"),
        ({"unimodal": [7]}, "numbered from 0 to 2"),
        ({"absent": np.ones((50, 3), bool)}, "nothing is left in row 0"),
        ({"absent": np.zeros((2, 3), bool)}, "absent has shape"),
        ({"known": {0: np.ones(3)}}, "70 numbers"),
    ],
)
def test_constraints_that_do_not_fit_are_named(options, said):
    with pytest.raises(ValueError, match=said):
        resolve(chromatogram()[0], 3, **options)


@pytest.mark.parametrize("seed", range(2))
def test_bands_hold_the_truth_where_the_solution_is_open(seed):
    rng = np.random.default_rng(seed)
    S = 0.3 + chromatogram()[2]  # nowhere 0: non-negativity leaves much open
    C = rng.dirichlet(np.ones(3), 400)
    C = C[C.max(axis=1) < 0.8][:100]
    X = C @ S
    found = resolve(X + 0.01 * rng.standard_normal(X.shape), 3)
    bands = feasible_bands(found, n_moves=1500)
    assert held(bands, found, S, C) > 0.95
    assert not bands.determined.any() and bands.widths.min() > 0.2


def test_constraints_narrow_the_bands_and_more_moves_widen_them():
    X, _, S = chromatogram(noise=0.001)
    found = resolve(X, 3)
    open_ = feasible_bands(found, n_moves=1500)
    short = feasible_bands(found, n_moves=20)
    assert short.widths.mean() < open_.widths.mean()
    known = feasible_bands(resolve(X, 3, known={0: S[0], 1: S[1]}), n_moves=1500)
    assert known.widths[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert known.widths[0].sum() < open_.widths[0].sum()


def test_moves_leave_the_product_as_it_is():
    from altmin.kernels.feasible import wander

    rng = np.random.default_rng(0)
    C, S = rng.random((20, 3)), rng.random((3, 15))
    S /= S.sum(axis=1, keepdims=True)
    product, T = C @ S, np.eye(3)
    start = S.copy()
    asked = (np.zeros((20, 3), bool), np.zeros(3, bool), np.array([0, 20]), np.zeros(3, bool))
    bounds = (C.copy(), C.copy(), S.copy(), S.copy(), np.ones((2, 3)))
    noise, limits = (0.0, 3.0, float(np.linalg.norm(product))), np.full((4, 3), 1e-9)
    draws = rng.random((300, 5)), rng.standard_normal((300, 3))
    wander(C, S, T, noise, limits, asked, (0, 1, 1), *draws, bounds)
    np.testing.assert_allclose(C @ S, product, atol=1e-9)
    np.testing.assert_allclose(T @ start, S, atol=1e-9)
    assert C.min() > -1e-6 and S.min() > -1e-6 and np.abs(T - np.eye(3)).max() > 1e-3


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_entries_may_be_as_negative_as_noise_and_the_fit_make_them(noise, monkeypatch):
    """At first as far as they are, or rounding; later as far as noise explains; never less than at first."""
    seen = []
    monkeypatch.setattr(bands, "wander", lambda *given: seen.append(given))
    found = resolve(chromatogram(noise=noise)[0], 3)
    bands.feasible_bands(found, n_moves=7, random_state=0)
    C, S, T, told, limits, _, _, chances, directions, bounds = seen[0]
    floors = np.array([-C.min(axis=0), -S.min(axis=1)])
    tiny = 1e-9 * np.array([np.abs(C).max(axis=0), np.abs(S).max(axis=1)])
    np.testing.assert_allclose(limits[:2], np.maximum(floors, tiny))
    assert (limits[2:] >= limits[:2]).all()
    if noise:
        assert (floors > tiny).any() and (limits[2:] > limits[:2]).any()
    np.testing.assert_array_equal(T, np.eye(3))
    assert told[1] == pytest.approx(np.sqrt(2 * np.log(70 * 3)))
    assert told[2] == pytest.approx(np.linalg.norm(found.data))
    assert chances.shape == (7, 5) and directions.shape == (7, 3)
    assert len(seen) == 18  # each component towards each, both ways
    for low, high, values in ((0, 1, C), (2, 3, S)):
        np.testing.assert_array_equal(bounds[low], values)
        np.testing.assert_array_equal(bounds[high], values)
    np.testing.assert_allclose(bounds[4], [np.linalg.norm(C, axis=0) * np.linalg.norm(S, axis=1)] * 2)
