"""Groups of similar patches against plain loops, and what denoising and filling in promise on top of them."""

from __future__ import annotations

import numpy as np
import pytest

from altmin.images import denoise, estimate_noise, inpaint
from altmin.images.learn import cosine_patches
from altmin.kernels.groups import haar, match, wiener_groups
from altmin.metrics import psnr


def texture(n=64, channels=0):
    """Stripes on a slope with an edge, between 0 and 1."""
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    grey = 0.4 + 0.2 * x * y + 0.2 * (x > 0.55) + 0.15 * np.sin(50 * x + 20 * y) * (y > 0.4)
    return np.stack([grey, 0.9 - 0.6 * grey, 0.2 + 0.5 * grey], axis=-1) if channels else grey


def noisy(image, sigma, seed=0):
    return image + sigma * np.random.default_rng(seed).standard_normal(image.shape)


def test_matches_are_the_nearest_patches_of_the_window():
    guide = np.random.default_rng(0).standard_normal((20, 23)).astype(np.float32)
    tops, lefts, radius, n = np.array([0, 7, 15]), np.array([2, 18]), 4, 5
    places = np.empty((6, n), np.int32)
    order = np.zeros((2 * radius + 1,) * 2, np.float32)
    assert match(guide, tops, lefts, 5, 4, np.float32(0), order, places) == n
    for row, (top, left) in zip(places, [(t, s) for t in tops for s in lefts], strict=True):
        reference = guide[top : top + 5, left : left + 4]
        inside = [
            (float(np.sum((guide[y : y + 5, x : x + 4] - reference) ** 2)), y * 23 + x)
            for y in range(max(0, top - radius), min(15, top + radius) + 1)
            for x in range(max(0, left - radius), min(19, left + radius) + 1)
        ]
        assert row.tolist() == [place for _, place in sorted(inside)[:n]]


def test_patches_that_look_equal_are_taken_by_the_given_order():
    guide = np.random.default_rng(0).standard_normal((30, 30)).astype(np.float32)
    order = np.random.default_rng(1).random((9, 9)).astype(np.float32)
    places = np.empty((1, 6), np.int32)
    match(guide, np.array([10]), np.array([12]), 4, 4, np.float32(1e6), order, places)
    first = np.argsort(order, axis=None)
    expected = [(10 + i // 9 - 4) * 30 + 12 + i % 9 - 4 for i in first if i != 40][:5]
    assert places[0].tolist() == [10 * 30 + 12, *expected]


def test_haar_is_orthonormal_and_its_inverse_undoes_it():
    G, work = np.random.default_rng(0).standard_normal((16, 7)), np.empty((16, 7))
    Z = G.copy()
    haar(Z, work, False)
    assert np.linalg.norm(Z) == pytest.approx(np.linalg.norm(G))
    np.testing.assert_allclose(Z[0], G.sum(axis=0) / 4, atol=1e-12)
    haar(Z, work, True)
    np.testing.assert_allclose(Z, G, atol=1e-12)


def test_the_group_filter_is_wiener_along_the_principal_axes():
    rng = np.random.default_rng(0)
    pilot = rng.standard_normal((12, 12))
    y = pilot + 0.3 * rng.standard_normal(pilot.shape)
    places = np.array([[0, 13, 40, 66, 84, 5]], np.int32)
    part, mass = np.zeros((12, 12)), np.zeros((12, 12))
    cosines = cosine_patches(3, 3).astype(float)
    wiener_groups(y, pilot, places, 0.09, cosines, np.ones((3, 3)), 0, part, mass)
    corners = [(p // 12, p % 12) for p in places[0]]
    P, Y = (np.array([image[a : a + 3, b : b + 3].ravel() for a, b in corners]) for image in (pilot, y))
    power, axes = np.linalg.eigh(np.cov(P.T, bias=True))
    factors = power / (power + 0.09)
    shares = (cosines @ P.mean(0)) ** 2
    shares = np.append(1.0, (shares / (shares + 0.09 / 6))[1:])
    mean = cosines.T @ (shares * (cosines @ Y.mean(0)))
    expected = (Y - Y.mean(0)) @ (axes * factors) @ axes.T + mean
    canvas, weight = np.zeros((12, 12)), 1 / (1 + factors.sum())
    for patch, (a, b) in zip(expected, corners, strict=True):
        canvas[a : a + 3, b : b + 3] += weight * patch.reshape(3, 3)
    np.testing.assert_allclose(part, canvas, atol=1e-10)


@pytest.mark.parametrize("channels", [0, 3])
def test_threads_change_nothing(channels):
    image = noisy(texture(150, channels), 0.1)  # several strips
    assert np.array_equal(denoise(image, 0.1, n_jobs=1), denoise(image, 0.1, n_jobs=3))


def test_flat_pictures_lose_nearly_all_of_their_noise():
    # Groups of equal noise would keep a quarter of it, a mean patch that isn't filtered a sixteenth.
    flat = noisy(np.full((64, 64), 0.5), 0.1)
    flat[:8, :8] += 0.5
    assert np.std(denoise(flat, 0.1)[16:, 16:]) < 0.004


def test_small_pictures_do_not_learn_their_noise():
    # Atoms learnt from 32 x 32 pixels would keep an eighth more of it.
    clean = np.tile(np.linspace(0, 1, 32), (32, 1)) ** 2
    left = [np.std(denoise(noisy(clean, 0.3, seed), 0.3) - clean) for seed in range(4)]
    assert np.mean(left) < 0.04


def test_a_picture_without_noise_is_left_alone_with_a_warning():
    drawing = np.kron([[1.0, 0.0], [0.0, 1.0]], np.ones((24, 24)))
    with pytest.warns(UserWarning, match="no noise is seen in channel 0"):
        assert np.array_equal(denoise(drawing), drawing)
    missing = np.random.default_rng(0).random(drawing.shape) < 0.1
    with pytest.warns(UserWarning, match="no noise is seen"):
        inpaint(drawing, missing, sigma="auto")


def test_the_error_of_the_estimate_covers_the_truth_without_texture():
    misses = [
        (estimate_noise(e) - 1) / estimate_noise(e).error
        for e in (np.random.default_rng(s).standard_normal((40, 40)) for s in range(20))
    ]
    assert np.mean(np.abs(misses) < 2) >= 0.9 and np.std(misses) > 0.2


@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (3, 50), (17, 9), (8, 8), (9, 33, 3), (30, 30, 2)])
def test_odd_sizes_are_denoised_and_filled(shape):
    image = noisy(np.full(shape, 0.5), 0.1)
    assert np.isfinite(denoise(image, 0.1)).all()
    missing = np.random.default_rng(0).random(shape[:2]) < 0.3
    assert np.isfinite(inpaint(image, missing, sigma=0.1)).all()


def test_each_channel_may_have_its_own_noise_and_flat_ones_are_left_alone():
    clean = texture(96, 3)
    sigma = np.array([0.02, 0.05, 0.15])
    image = noisy(clean, sigma)
    estimated = estimate_noise(image).channels
    np.testing.assert_allclose(estimated, sigma, rtol=0.12)
    assert psnr(denoise(image, sigma), clean) > psnr(denoise(image, float(np.sqrt(np.mean(sigma**2)))), clean)
    alpha = np.dstack([image, np.full((96, 96), 0.7)])
    assert np.array_equal(denoise(alpha, 0.05)[:, :, 3], alpha[:, :, 3])


@pytest.mark.parametrize("side", [8, 14, 16, 20, 32])
def test_small_pictures_get_an_estimate(side):
    estimates = [
        estimate_noise(25 * np.random.default_rng(s).standard_normal((side, side))) for s in range(8)
    ]
    assert 25 * 0.8 < np.mean(estimates) < 25 * 1.1
    assert all(e.error > 0 for e in estimates)


def test_too_few_pixels_are_an_error_not_a_silent_zero():
    for call in (estimate_noise, denoise):
        with pytest.raises(ValueError, match="give sigma"):
            call(np.random.default_rng(0).standard_normal((5, 5)))


def test_clipped_pixels_do_not_hide_the_noise():
    clean = np.where(np.arange(128)[:, None] < 50, 2.0, 120.0) + np.zeros((128, 128))
    image = np.clip(np.rint(noisy(clean, 20)), 0, 255).astype(np.uint8)
    assert estimate_noise(image) == pytest.approx(20, rel=0.1)


def test_noise_under_a_mask_is_estimated_from_what_is_known():
    image = noisy(texture(128), 0.05)
    missing = np.random.default_rng(0).random(image.shape) < 0.5
    holes = np.where(missing, 9.0, image)
    assert estimate_noise(holes, missing) == pytest.approx(0.05, rel=0.25)


def test_photon_noise_is_seen_and_taken_out_better_for_it():
    clean = 40 * texture(160)
    photons = np.random.default_rng(0).poisson(clean).astype(float)
    estimate = estimate_noise(photons)
    assert estimate.gain[0] == pytest.approx(1.0, rel=0.25)
    stabilised = psnr(denoise(photons), clean, data_range=40)
    constant = psnr(denoise(photons, np.sqrt(clean.mean())), clean, data_range=40)
    assert stabilised > constant - 0.1 and abs(np.mean(denoise(photons)) - clean.mean()) < 0.1
    assert estimate_noise(noisy(clean, 4.0)).gain[0] == 0


def test_filling_in_and_denoising_together_beats_one_after_the_other():
    clean = texture(80)
    missing = np.random.default_rng(1).random(clean.shape) < 0.5
    gains = []
    for seed in range(3):
        before = np.where(missing, 0.0, noisy(clean, 0.1, seed))
        joint = inpaint(before, missing, sigma=0.1)
        gains.append(psnr(joint, clean) - psnr(denoise(inpaint(before, missing), 0.1), clean))
    assert np.mean(gains) > 0.3
    assert psnr(inpaint(before, missing, sigma="auto"), clean) > psnr(joint, clean) - 0.5


def test_masks_of_single_channels_leave_the_others_as_they_are():
    clean = texture(64, 3)
    missing = np.random.default_rng(0).random(clean.shape) < np.array([0.7, 0.3, 0.0])
    filled = inpaint(np.where(missing, np.nan, clean), missing)
    assert np.array_equal(filled[~missing], clean[~missing])
    for c, alone in ((0, 0.7), (1, 0.3)):
        grey = inpaint(clean[:, :, c], missing[:, :, c])
        assert psnr(filled[:, :, c], clean[:, :, c]) > psnr(grey, clean[:, :, c]), alone


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: denoise(x, [0.1, 0.2]), "sigma is"),
        (lambda x: denoise(x, "much"), "sigma is 'much'"),
        (lambda x: inpaint(x, x > 0.5, sigma=-1), "sigma is -1"),
        (lambda x: inpaint(x, x > 0.5, np.eye(64), sigma=0.1), "with a dictionary"),
        (lambda x: inpaint(np.dstack([x, x]), np.dstack([x > 9, x < 9])), "whole channel"),
    ],
)
def test_errors_name_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call(texture(24))
