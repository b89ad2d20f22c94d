"""Rank-one sensing finds M from symmetric and asymmetric measurements."""

import numpy as np
import pytest

from altmin import RankOneSensing


def low_rank(rng, d1, d2, k):
    return np.linalg.qr(rng.standard_normal((d1, k)))[0] @ np.linalg.qr(rng.standard_normal((d2, k)))[0].T


@pytest.mark.seeds(3)
def test_asymmetric_sensing_is_exact(seed):
    rng = np.random.default_rng(seed)
    M = low_rank(rng, 30, 12, 2)
    U, V = rng.standard_normal((840, 30)), rng.standard_normal((840, 12))
    y = np.einsum("ij,ij->i", U @ M, V)
    model = RankOneSensing(2, random_state=seed).fit((U, V), y)
    assert np.linalg.norm(model.matrix() - M, 2) < 1e-9
    np.testing.assert_allclose(model.predict((U, V)), y, atol=1e-8)


def test_correlated_binary_designs_are_whitened():
    rng = np.random.default_rng(0)
    M = low_rank(rng, 15, 10, 2)
    U = ((rng.random((4000, 15)) < 0.3) | (rng.random((4000, 1)) < 0.4)).astype(float)
    V = ((rng.random((4000, 10)) < 0.3) | (rng.random((4000, 1)) < 0.4)).astype(float)
    y = np.einsum("ij,ij->i", U @ M, V)
    fit = lambda **kw: RankOneSensing(2, random_state=0, **kw).fit((U, V), y)  # noqa: E731
    assert np.linalg.norm(fit().matrix() - M, 2) < 1e-8
    assert np.linalg.norm(fit(whiten=False).matrix() - M, 2) < 1e-8  # the true loss needs no whitening
    assert np.linalg.norm(fit(whiten=False, step=0.5).matrix() - M, 2) > 1e-4  # steps of a stream do


@pytest.mark.seeds
@pytest.mark.parametrize("batch_size", ["auto", 1500])
def test_symmetric_sensing_is_exact(batch_size, seed):
    rng = np.random.default_rng(seed)
    S = np.linalg.qr(rng.standard_normal((25, 3)))[0]
    M = (S * [1, -1, 0.5]) @ S.T
    X = rng.standard_normal((3000 if batch_size == "auto" else 45000, 25))
    model = RankOneSensing(3, batch_size=batch_size, random_state=0).fit(X, np.einsum("ij,ij->i", X @ M, X))
    assert np.linalg.norm(model.matrix() - M, 2) < 1e-9


def test_scale_of_measurements_carries_over():
    rng = np.random.default_rng(2)
    U, V = rng.standard_normal((300, 6)), rng.standard_normal((300, 5))
    y = np.einsum("ij,ij->i", U @ low_rank(rng, 6, 5, 1), V)
    small, large = (RankOneSensing(1, random_state=0).fit((U, V), s * y) for s in (1e-120, 1e120))
    np.testing.assert_allclose(small.matrix() * 1e120, large.matrix() * 1e-120, rtol=1e-6, atol=1e-9)


def test_designs_must_agree():
    with pytest.raises(ValueError, match="must agree"):
        RankOneSensing(1).fit((np.ones((4, 2)), np.ones((5, 2))), np.ones(4))
