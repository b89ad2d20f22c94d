"""How close two images are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def psnr(image: ArrayLike, reference: ArrayLike, *, data_range: float | None = None) -> float:
    r"""Peak signal to noise ratio, in decibels.

    .. math:: 10 \log_{10} \frac{R^2}{\frac1N \sum_i (x_i - y_i)^2}

    Parameters
    ----------
    image, reference : array-like of the same shape
        Integers or floats.
    data_range : float or None
        R; None: 255 for uint8 (the range of any integer type), 1 for floats.

    Returns
    -------
    float
        Infinite for equal images.

    Notes
    -----
    **Cost.** One pass.

    Examples
    --------
    >>> from altmin.metrics import psnr
    >>> round(psnr([[0.0, 0.1]], [[0.0, 0.0]]), 2)
    23.01
    """
    x, y, R = _pair(image, reference, data_range)
    error = float(np.mean((x - y) ** 2))
    return float(10.0 * np.log10(R * R / error)) if error > 0 else np.inf


def ssim(image: ArrayLike, reference: ArrayLike, *, data_range: float | None = None) -> float:
    r"""Mean structural similarity (Wang, Bovik, Sheikh and Simoncelli 2004).

    .. math:: \frac{(2\mu_x\mu_y + c_1)(2\sigma_{xy} + c_2)}
              {(\mu_x^2 + \mu_y^2 + c_1)(\sigma_x^2 + \sigma_y^2 + c_2)}

    with Gaussian windows of standard deviation 1.5 (11 x 11), :math:`c_1 = (.01R)^2, c_2 = (.03R)^2`,
    averaged over the windows inside the image and over channels. The images need at least 11 x 11 pixels.

    Parameters
    ----------
    image, reference : array-like of shape (H, W) or (H, W, channels)
        Integers or floats.
    data_range : float or None
        R, as in :func:`psnr`.

    Returns
    -------
    float
        1 for equal images.

    Notes
    -----
    **Cost.** Five Gaussian filters of the image.

    References
    ----------
    Z. Wang, A. C. Bovik, H. R. Sheikh and E. P. Simoncelli, Image quality assessment: from error visibility
    to structural similarity, IEEE Transactions on Image Processing 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import ssim
    >>> image = np.random.default_rng(0).random((32, 32))
    >>> ssim(image, image)
    1.0
    """
    from scipy.ndimage import gaussian_filter

    x, y, R = _pair(image, reference, data_range)
    if x.ndim not in (2, 3) or min(x.shape[:2]) < 11:
        raise ValueError(f"image has shape {x.shape}; (H, W) or (H, W, channels) from 11 x 11 up is needed")
    x, y = x.reshape(*x.shape[:2], -1), y.reshape(*y.shape[:2], -1)
    c1, c2 = (0.01 * R) ** 2, (0.03 * R) ** 2

    def blur(z: NDArray[Any]) -> NDArray[Any]:
        return gaussian_filter(z, 1.5, truncate=3.5, axes=(0, 1))[5:-5, 5:-5]

    mx, my = blur(x), blur(y)
    vx, vy, vxy = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
    likeness = (2 * mx * my + c1) * (2 * vxy + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2))
    return float(likeness.mean())


def _pair(image: ArrayLike, reference: ArrayLike, data_range: float | None) -> tuple[Any, Any, float]:
    x, y = np.asarray(image), np.asarray(reference)
    if x.shape != y.shape or x.size == 0:
        raise ValueError(f"image has shape {x.shape}, reference {y.shape}: they must agree and not be empty")
    if data_range is None:
        if y.dtype.kind in "ui":
            data_range = float(np.iinfo(y.dtype).max) - float(np.iinfo(y.dtype).min)
        else:
            data_range = 1.0
    elif not data_range > 0:
        raise ValueError(f"data_range is {data_range}; a number > 0 is needed")
    return x.astype(np.float64), y.astype(np.float64), float(data_range)
