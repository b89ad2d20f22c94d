"""Reconstruction, filling in and denoising on small pictures, and their promises about types and units."""

from __future__ import annotations

import numpy as np
import pytest

from altmin.images import Patches, denoise, estimate_noise, inpaint, learn_dictionary, reconstruct
from altmin.metrics import psnr
from altmin.plots.dictionary import plot_dictionary, tile_atoms


def scene(n=64, channels=0):
    """Smooth shading, an edge and a texture, between 0 and 1."""
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    grey = 0.3 + 0.3 * x * y + 0.3 * (x + 0.5 * y > 0.7) + 0.1 * np.sin(40 * x + 15 * y) * (y > 0.5)
    if not channels:
        return grey
    return np.stack([np.clip(grey * f, 0, 1) for f in (1.0, 0.8, 0.6)], axis=-1)[:, :, :channels]


def noisy(image, sigma, seed=0):
    return image + sigma * np.random.default_rng(seed).standard_normal(image.shape)


def cosines(n):
    k, x = np.arange(n)[:, None], np.arange(n)[None, :]
    C = np.cos(np.pi * k * (2 * x + 1) / (2 * n))
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    return np.kron(C, C)


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("channels", [0, 3])
def test_denoising_gains_many_decibels(sigma, channels):
    image = scene(channels=channels)
    before = noisy(image, sigma)
    assert psnr(denoise(before, sigma), image) > psnr(before, image) + 5
    assert psnr(denoise(before), image) > psnr(before, image) + 5


def test_denoising_is_equivariant_to_brightness_and_contrast():
    image = noisy(scene(48), 0.1)
    clean = denoise(image, 0.1)
    np.testing.assert_allclose(denoise(1e6 * image - 3e5, 1e5), 1e6 * clean - 3e5, rtol=0, atol=1e2)
    np.testing.assert_allclose(denoise(1e-150 * image, 1e-151), 1e-150 * clean, rtol=0, atol=1e-154)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [0, 3])
def test_type_shape_and_input_are_kept(dtype, channels):
    limit = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1.0
    image = np.clip(noisy(scene(32, channels), 0.05) * limit, 0, limit).astype(dtype)
    mask = np.random.default_rng(0).random((32, 32)) < 0.3
    image.flags.writeable = mask.flags.writeable = False
    results = [
        denoise(image, 0.05 * limit),
        inpaint(image, mask, max_iter=3),
        reconstruct(image, np.eye(16), 8),
    ]
    for result in results:
        assert result.dtype == dtype and result.shape == image.shape
    assert np.array_equal(results[1][~mask], image[~mask])


def test_sigma_zero_gives_the_image_back():
    image = scene(20)
    assert np.array_equal(denoise(image, 0.0), image)
    flat = np.full((20, 20), 7, np.uint8)
    assert np.array_equal(denoise(flat), flat)


def test_flat_channels_are_no_trouble():
    grey = noisy(scene(32), 0.1)
    colour = np.stack([grey, grey, grey], axis=-1)
    # The same noise thrice is no white noise: all of it is along the grey axis, sqrt(3) as strong.
    np.testing.assert_allclose(denoise(colour, 0.1 * 3**0.5)[:, :, 0], denoise(grey, 0.1), atol=1e-4)
    missing = np.random.default_rng(0).random((20, 20)) < 0.5
    np.testing.assert_allclose(inpaint(np.full((20, 20), 0.3), missing), 0.3, atol=1e-6)


def test_images_smaller_than_a_patch_are_denoised():
    assert np.isfinite(denoise(noisy(scene(5), 0.1), 0.1)).all()
    assert denoise(np.ones((1, 1)), 0.5).shape == (1, 1)


@pytest.mark.parametrize("sigma", [0.03, 0.1, 0.3])
def test_noise_is_estimated_within_a_tenth(sigma):
    assert estimate_noise(noisy(scene(128), sigma)) == pytest.approx(sigma, rel=0.1)
    assert estimate_noise(255 * noisy(scene(128), sigma)) == pytest.approx(255 * sigma, rel=0.1)


@pytest.mark.parametrize("method", ["threshold", "mmse", "omp", "ormp"])
@pytest.mark.parametrize("channels", [0, 3])
def test_filling_in_beats_the_mean(method, channels):
    image = scene(32, channels)
    missing = np.random.default_rng(0).random((32, 32)) < 0.4
    holes = np.where(missing if not channels else missing[:, :, None], np.nan, image)
    filled = inpaint(holes, missing, cosines(8), method=method)
    assert np.isfinite(filled).all() and psnr(filled, image) > 22


def test_learning_and_filling_in_turn_beats_smoothing():
    image = scene(64)
    missing = np.random.default_rng(0).random((64, 64)) < 0.5
    learnt = inpaint(np.where(missing, 0, image), missing)
    fixed = inpaint(np.where(missing, 0, image), missing, cosines(8))
    assert psnr(learnt, image) > psnr(fixed, image) - 0.3 > 27


def test_large_holes_are_filled_with_finite_values():
    image, missing = scene(48), np.zeros((48, 48), bool)
    missing[10:35, 12:40] = True
    for method in ("threshold", "mmse", "omp"):
        filled = inpaint(image, missing, cosines(8), method=method, max_iter=5)
        assert np.isfinite(filled).all() and 0 <= filled.min() + 0.5 and filled.max() < 1.5


def test_reconstruction_gets_better_with_atoms_and_is_exact_with_all():
    image = scene(30)
    quality = [psnr(reconstruct(image, cosines(8), L), image) for L in (2, 8, 30)]
    assert quality == sorted(quality)
    np.testing.assert_allclose(reconstruct(image, cosines(8), 64), image, atol=1e-4)  # float32, 64 eps each


def test_learnt_dictionary_is_orthogonal_and_codes_better_than_cosines():
    image = scene(64)
    D = learn_dictionary(Patches(image, 8, center=True), max_iter=10).components_
    np.testing.assert_allclose(D @ D.T, np.eye(64), atol=1e-10)
    ours, theirs = (psnr(reconstruct(image, A, 4, step=2), image) for A in (D, cosines(8)))
    assert ours > theirs


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: denoise(x, -1.0), "sigma is -1.0"),
        (lambda x: denoise(np.where(x > 0.5, np.nan, x)), "NaN"),
        (lambda x: inpaint(x, np.ones_like(x)), "whole image"),
        (lambda x: inpaint(x, np.ones((2, 2))), "mask has shape"),
        (lambda x: inpaint(x, x > 0.5, np.ones((64, 64))), "orthogonal"),
        (lambda x: inpaint(x, x > 0.5, cosines(8), method="magic"), "method is 'magic'"),
        (lambda x: reconstruct(x, np.ones((5, 7)), 2), "7 pixels"),
        (lambda x: reconstruct(x, cosines(4), 17), "n_nonzero_coefs is 17"),
        (lambda x: learn_dictionary(x, shares=()), "shares is empty"),
    ],
)
def test_errors_name_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call(scene(24))


def test_dictionaries_are_drawn_as_tiles():
    assert tile_atoms(np.eye(9)).shape == (11, 11)
    assert tile_atoms(np.ones((5, 48)), n_columns=5).shape == (4, 24, 3)
    with pytest.raises(ValueError, match="10 pixels"):
        tile_atoms(np.ones((2, 10)))
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert plot_dictionary(cosines(4), title="cosines").get_title() == "cosines"
