"""The K-SVD that altmin is compared with is a good one; claims say so where data are missing."""

from __future__ import annotations

import numpy as np
import pytest

from altmin import omp
from altmin.metrics import psnr, sine_errors
from altmin_lab.claims import images_denoise, images_faces
from altmin_lab.peers.ksvd import data_start, ksvd, ksvd_denoise
from altmin_lab.pictures import shrink


def test_ksvd_lowers_the_error_and_finds_a_planted_dictionary():
    rng = np.random.default_rng(0)
    D = rng.standard_normal((20, 16))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    codes = np.zeros((2000, 20))
    for row in codes:
        row[rng.choice(20, 2, replace=False)] = rng.choice([-1, 1], 2) * rng.uniform(1, 2, 2)
    X = codes @ D
    errors = []
    for rounds in (1, 5, 40):
        atoms = ksvd(X, data_start(X, 20), n_nonzero=2, max_iter=rounds)
        errors.append(np.linalg.norm(X - omp(X, atoms, 2) @ atoms))
    assert errors[0] > errors[1] > errors[2]
    assert np.median(sine_errors(atoms, D)) < 0.05


def test_ksvd_denoises():
    x, y = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 40))
    clean = 255 * (0.5 + 0.4 * np.sin(9 * x) * np.cos(5 * y))
    noisy = clean + 25 * np.random.default_rng(0).standard_normal(clean.shape)
    result = ksvd_denoise(noisy, 25.0, max_iter=3)
    assert psnr(result, clean, data_range=255) > psnr(noisy, clean, data_range=255) + 5


def test_shrinking_keeps_the_mean():
    images = np.random.default_rng(0).random((3, 92, 64))
    np.testing.assert_allclose(shrink(images, 50).mean(axis=(1, 2)), images.mean(axis=(1, 2)))


def test_claims_without_data_say_what_is_missing(monkeypatch):
    monkeypatch.delenv("ALTMIN_DATA", raising=False)
    images_faces._problem.cache_clear()
    for claim in (
        images_faces.images_face_reconstruction,
        images_faces.images_face_inpainting,
        images_denoise.images_denoising,
    ):
        evidence = claim(True)
        assert evidence.verdict == "cannot be run here" and "ALTMIN_DATA" in evidence.summary
    images_faces._problem.cache_clear()


@pytest.mark.data
@pytest.mark.slow
def test_quick_denoising_claim_has_a_verdict_and_a_picture():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    evidence = images_denoise.images_denoising(True)
    if evidence.verdict == "cannot be run here":
        pytest.skip(evidence.summary)
    assert evidence.tables["denoising"] and all(draw() for draw in evidence.figures.values())
