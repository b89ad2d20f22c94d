"""What is left beside an atom must follow nothing that is known of its samples."""

import sys
from pathlib import Path

import numpy as np
import pytest

from altmin.guarantees.dictionary_follow import bent, followed, rhythm

sys.path.insert(0, str(Path(__file__).parent))
from noisy_codes import K, N, problem


def given(rng, A, S, level, clean):
    """Codes that are fitted to samples with noise, as a report does, the samples, atoms and noise."""
    X = clean + level * rng.standard_normal(clean.shape)
    codes = np.zeros(S.shape)
    for support in np.unique(S != 0, axis=0):
        rows = np.all((S != 0) == support, axis=1)
        codes[np.ix_(rows, support)] = X[rows] @ np.linalg.pinv(A[support])
    return codes, X, A, np.full(len(A), level)


def seen(*problem):
    return followed(*given(*problem))


@pytest.mark.parametrize(("k", "d"), [(6, 6), (6, 12), (40, 40), (30, 60)])
def test_noise_follows_nothing(k, d):
    for seed in range(3):
        rng, A, S, level = problem(seed, k, d)
        codes = given(rng, A, S, level, S @ A)
        each, of_all, _ = followed(*codes)
        assert each.max() < 1.0 and of_all < 1.0
        assert bent(*codes) < 1.0


@pytest.mark.parametrize("frequency", [0.011, 0.1, 0.37, 0.4999])
def test_a_hum_in_all_samples_is_a_rhythm_and_slow_noise_is_none(frequency):
    rng, A, S, level = problem(0)
    hum = np.cos(2 * np.pi * frequency * np.arange(len(S)) + 1.0)[:, None] * rng.standard_normal(S.shape[1])
    assert seen(rng, A, S, level, S @ A + 0.5 * level * hum)[2] > 1.0
    assert seen(rng, A, S, level, S @ A + 0.5 * level * rng.permutation(hum))[2] < 1.0  # no order, no rhythm
    noise = rng.standard_normal((N, 12))
    for row in range(1, N):
        noise[row] += 0.9 * noise[row - 1]  # goes on from sample to sample
    assert rhythm(noise) < 1.0
    assert rhythm(noise[:100] * hum[:100, :1]) == 0.0  # too few samples


def test_codes_that_are_not_large_tie_features_and_are_no_change():
    for seed in range(3):
        rng, A, S, level = problem(seed, 40, 40, density=0.1)
        A = rng.standard_normal((40, 40)) @ np.diag(np.geomspace(1, 0.02, 40)) @ A
        A /= np.linalg.norm(A, axis=1, keepdims=True)
        X = S @ A + level * rng.standard_normal(S.shape)
        known = np.where(np.arange(40) % 2, np.inf, level)  # of half of the atoms the noise hides all codes
        each, of_all, _ = followed(S, X, A, known)
        assert each.max() < 1.0 and of_all < 1.0
        assert bent(S, X, A, known) < 1.0


def test_atoms_that_are_a_little_off_or_of_another_length_are_no_change():
    rng, A, S, level = problem(1)
    S[:, 1], S[::100, 2] = np.abs(S[:, 1]), 20.0  # codes of one sign, and a few that are far larger
    near = A + 0.02 * rng.standard_normal(A.shape)
    codes = given(rng, near / np.linalg.norm(near, axis=1, keepdims=True), S, level, S @ A)
    each, of_all, _ = followed(*codes)
    assert each.max() < 1.0 and of_all < 1.0
    assert bent(*codes) < 1.0


def _negative(S, time):
    return np.where(S[:, 0] < 0, 0.4, 0.0)


def _large(S, time):
    return 0.5 * np.maximum(1 - 0.5 / np.maximum(np.abs(S[:, 0]), 0.5), 0.0)


def _turning(S, time):
    return 0.4 * np.sin(7 * time)


def _for_a_while(S, time):
    return np.where((time > 0.4) & (time < 0.7), 0.5, 0.0)


def _when_loud(S, time):
    others = np.maximum(np.count_nonzero(S[:, 1:], axis=1), 1)
    loud = np.linalg.norm(S[:, 1:], axis=1) / np.sqrt(others)  # not merely in company
    return np.where(loud > np.median(loud[loud > 0]), 0.5, np.where(loud > 0, 0.0, 0.25))


def _in_company(S, time):
    return np.where(np.count_nonzero(S, axis=1) > 2, 0.5, 0.0)


def _with_another(S, time):
    return np.where(S[:, 1] != 0, 0.5, 0.0) - np.where(S[:, 2] != 0, 0.5, 0.0)  # nor in more of it


@pytest.mark.parametrize(
    "when", [_negative, _large, _turning, _for_a_while, _when_loud, _in_company, _with_another]
)
def test_an_atom_that_looks_another_way_sometimes_is_seen_and_the_others_are_not_blamed(when):
    rng, A, S, level = problem(2)
    S[:, 1:] *= 2.0  # loud samples aren't those with a large code
    other = rng.standard_normal(K)
    other -= A[0] * (A[0] @ other)
    part = S[:, 0] * when(S, np.linspace(0, 1, N))
    X = S @ A + np.outer(part, other / np.linalg.norm(other))
    mean = A.copy()
    mean[0] = np.linalg.lstsq(S, X, rcond=None)[0][0]  # what a fit would take for the atom
    each, of_all, _ = seen(rng, mean / np.linalg.norm(mean, axis=1, keepdims=True), S, level, X)
    assert each[0] > 1.0 and each[1:].max() < 1.0
    assert of_all < 1.0  # one atom isn't all of them


def test_a_little_of_all_atoms_is_seen_in_all_of_them():
    rng, A, S, level = problem(4, 12, 12)
    gain = np.exp(np.outer(np.linspace(-1, 1, N), 0.12 * rng.standard_normal(12)))
    each, of_all, _ = seen(rng, A, S, level, S @ A * gain)
    assert of_all > 1.0
    assert of_all > each.max()


def test_a_few_samples_or_none_tell_nothing():
    rng, A, S, level = problem(5)
    S[np.flatnonzero(S[:, 2])[5:], 2] = 0.0
    each, *_ = seen(rng, A, S, level, S @ A)
    assert each[2] == 0.0 and each[0] != 0.0
    for n in (0, 3):
        each, of_all, hum = followed(np.zeros((n, K)), np.zeros((n, K)), A, np.ones(K))
        assert not each.any() and of_all == hum == 0.0
        assert bent(np.zeros((n, K)), np.zeros((n, K)), A, np.ones(K)) == 0.0
    each, of_all, _ = followed(S, S @ A, A, np.full(K, 1e-9))  # nothing is left over
    assert each.max() < 1.0 and of_all < 1.0


def test_an_intercept_that_is_off_is_no_distortion():
    rng, A, S, level = problem(7)
    assert bent(*given(rng, A, S, level, S @ A + 0.5 * level)) < 1.0


def _squared(x):
    return x + 0.15 * x**2


def _saturating(x):
    return np.tanh(x)


def _rectified_a_little(x):
    return np.where(x < 0, 0.6 * x, x)


def _moved(x):
    return x + 0.3 * np.sign(x)


def _partly(x):
    return np.where(np.abs(x) < 1.0, 0.7 * x, x)


def _deaf(level):
    return lambda x: np.where(np.abs(x) < level, 0.0, x)


@pytest.mark.parametrize(
    "change", [_squared, _saturating, _rectified_a_little, _moved, _deaf(0.4), _deaf(0.8), _partly]
)
def test_a_single_feature_that_is_distorted_is_seen(change):
    rng, A, S, level = problem(6)
    X = S @ A
    size = np.sqrt(np.mean(X[:, 3] ** 2))
    X[:, 3] = size * change(X[:, 3] / size)
    atoms = np.linalg.lstsq(S, X, rcond=None)[0]  # what a fit would take for them
    assert bent(*given(rng, atoms / np.linalg.norm(atoms, axis=1, keepdims=True), S, level, X)) > 1.0
