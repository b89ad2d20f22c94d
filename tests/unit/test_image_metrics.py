"""PSNR and SSIM agree with scikit-image."""

from __future__ import annotations

import numpy as np
import pytest

from altmin.metrics import psnr, ssim

skimage = pytest.importorskip("skimage.metrics")


@pytest.mark.parametrize("shape", [(40, 30), (32, 32, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64, np.float32])
def test_agree_with_scikit_image(shape, dtype):
    rng = np.random.default_rng(0)
    x, y = rng.random(shape), rng.random(shape)
    if dtype == np.uint8:
        x, y = 255 * x, 255 * y
    x, y = x.astype(dtype), (0.7 * x + 0.3 * y).astype(dtype)
    R = 255 if dtype == np.uint8 else 1.0
    assert psnr(y, x) == pytest.approx(skimage.peak_signal_noise_ratio(x, y, data_range=R), rel=1e-6)
    theirs = skimage.structural_similarity(
        x.astype(np.float64),
        y.astype(np.float64),
        data_range=R,
        gaussian_weights=True,
        sigma=1.5,
        use_sample_covariance=False,
        channel_axis=2 if len(shape) == 3 else None,
    )
    assert ssim(y, x) == pytest.approx(theirs, abs=1e-10)


def test_equal_images_are_perfect():
    x = np.random.default_rng(0).random((20, 20))
    assert psnr(x, x) == np.inf and ssim(x, x) == 1.0


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="must agree"):
        psnr(np.ones((3, 3)), np.ones((3, 4)))
    with pytest.raises(ValueError, match="11 x 11"):
        ssim(np.ones((3, 3)), np.ones((3, 3)))
