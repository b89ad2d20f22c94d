"""Filling in missing pixels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.engine.plan import allowed_threads
from altmin.engine.progress import make_progress
from altmin.images.denoise import clean_channels
from altmin.images.fillers import PASSES, group_fill, mmse_fill, pursuit_fill, smooth_fill, threshold_fill
from altmin.images.frame import Frame, as_frame, check_image, check_mask
from altmin.images.noise import channel_sigmas, unit_noise
from altmin.images.reconstruct import split_channels

# Pursuits and the linear estimate cost more, and gain less from overlap.
_STEPS: dict[str, Any] = {"threshold": 1, "mmse": "tile", "omp": "tile", "ormp": "tile"}


def inpaint(
    image: ArrayLike,
    mask: ArrayLike,
    dictionary: ArrayLike | None = None,
    *,
    sigma: ArrayLike | Literal["auto"] | None = None,
    method: Literal["threshold", "mmse", "omp", "ormp"] = "threshold",
    patch_size: int | tuple[int, int] | None = None,
    step: int | Literal["tile"] | None = None,
    n_nonzero_coefs: int | None = None,
    code_variances: ArrayLike | None = None,
    max_iter: int = 80,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> NDArray[Any]:
    r"""Fill in the pixels under a mask with what a sparse model of the patches says.

    Without a dictionary, each patch is estimated together with those around it that look alike, by Wiener
    filters along the principal axes of the group, in eight passes over the image (:func:`denoise` explains
    one of them). Given the strength of the noise, the known pixels are denoised by the same passes.

    With an orthogonal dictionary D, the default repeats, for thresholds :math:`\zeta` that fall from the
    contrast of the image to a fiftieth of it,

    .. math:: x_{\text{missing}} \leftarrow \Big[\text{average of }
              \mathrm{HT}_\zeta(x_p D^\top) D \text{ over the patches } p\Big]_{\text{missing}}

    The coder matters more than the dictionary: least squares on the observed half of a tile (`'omp'`, as
    in the paper) is several dB worse than this.

    Parameters
    ----------
    image : array-like of shape (H, W) or (H, W, channels)
        Integers or floats; missing pixels may hold anything.
    mask : array-like of bool of shape (H, W) or (H, W, channels)
        True where a pixel, or one of its channels, is missing, as in
        ``skimage.restoration.inpaint_biharmonic``.
    dictionary : array-like of shape (n_atoms, n_pixels), or None
        Atoms as in :func:`reconstruct`. None uses groups of similar patches instead; the parameters from
        ``method`` to ``max_iter`` are for dictionaries.
    sigma : float, array-like of shape (channels,), 'auto' or None
        Standard deviation of the noise of the known pixels, which are then denoised too; 'auto' estimates
        it (:func:`estimate_noise`). None returns the known pixels as they are. Without a dictionary only.
    method : {'threshold', 'mmse', 'omp', 'ormp'}
        Iterated thresholds on overlapping patches (for orthogonal dictionaries); the linear estimate of
        least mean square error given the variances of the codes; or a pursuit on the observed pixels.
    patch_size : int, (int, int) or None
        Height and width; None: square patches.
    step : int, 'tile' or None
        Distance of neighbouring patches. None: 1 for thresholds, 'tile' for the others.
    n_nonzero_coefs : int or None
        Atoms of a patch in a pursuit; None: a tenth of the pixels.
    code_variances : array-like of shape (n_atoms,), or None
        Mean squares of the codes, for 'mmse' and as weights of a pursuit; None estimates them for 'mmse'
        from the image as it is filled, and weighs all atoms alike in a pursuit.
    max_iter : int
        Thresholds.
    n_jobs : int or None
        Threads; the result doesn't depend on it.
    verbose : bool or int
        Whether to show progress.

    Returns
    -------
    ndarray
        Of the shape and type of the image; known pixels are unchanged, unless ``sigma`` is given.

    Notes
    -----
    **Guarantee.** None of recovery; without ``sigma`` known pixels are returned bit by bit. With a single
    tiling and a fixed threshold each round lowers the objective.

    **Cost.** Without a dictionary, about that of eight times :func:`denoise`'s second pass; with one,
    ``max_iter`` transforms of all overlapping patches, n_pixels * patch_size^4 each.

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves complete
    dictionary learning, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.images import inpaint
    >>> x, y = np.meshgrid(np.linspace(0, 1, 32), np.linspace(0, 1, 32))
    >>> image, missing = np.sin(5 * x) * y, np.random.default_rng(0).random((32, 32)) < 0.5
    >>> bool(np.abs(inpaint(np.where(missing, 0, image), missing) - image).max() < 0.1)
    True
    """
    missing = check_mask(mask, check_image(image).shape)
    frame = as_frame(image, ~missing)
    if not missing.any() and sigma is None:
        return np.array(image)
    if missing.all(axis=(0, 1)).any():
        raise ValueError("mask covers the whole image, or a whole channel: there is nothing to go by")
    if method not in ("threshold", "mmse", "omp", "ormp"):
        raise ValueError(f"method is {method!r}; allowed are 'threshold', 'mmse', 'omp' and 'ormp'")
    if dictionary is not None and sigma is not None:
        raise ValueError("sigma is given with a dictionary; noise is taken out without a dictionary only")
    n_jobs = allowed_threads(n_jobs)
    if dictionary is None:
        filled = _by_groups(frame, missing, sigma, n_jobs, verbose)
    else:
        count = n_nonzero_coefs or max(np.shape(dictionary)[-1] // 10, 1)
        call: Any
        call, options = {
            "threshold": (threshold_fill, (max_iter, n_jobs)),
            "mmse": (mmse_fill, (code_variances, n_jobs)),
        }.get(method, (pursuit_fill, (count, method, code_variances, n_jobs)))
        D, start = np.asarray(dictionary, dtype=np.float32), smooth_fill(frame.values, missing)
        size, layers = split_channels(start, D, patch_size)
        holes = [missing] if len(layers) == 1 else [missing[:, :, [c]] for c in range(len(layers))]
        stride = step or _STEPS[method]
        parts = [call(x, hole, D, size, stride, *options) for x, hole in zip(layers, holes, strict=True)]
        filled = np.concatenate(parts, axis=-1)
    result = frame.restore(filled)
    if sigma is None:
        known = ~missing.reshape(result.shape)
        result[known] = np.asarray(image)[known]
    return result


def _by_groups(
    frame: Frame, missing: NDArray[np.bool_], sigma: Any, n_jobs: int, verbose: bool | int
) -> NDArray[Any]:
    """Fill in by groups of similar patches; given sigma, known pixels are denoised as well."""
    sigmas = None if sigma is None else channel_sigmas(frame, sigma, ~missing)
    start, progress = smooth_fill(frame.values, missing), make_progress(verbose)
    progress.begin(f"filling in {missing.mean():.0%} of {start.shape[0]} x {start.shape[1]} pixels", PASSES)
    filled = group_fill(start, missing, sigmas, n_jobs, progress)
    if sigmas is not None and sigmas.any():  # the filters have fed on noise, thresholds lose detail: the mean
        noise = unit_noise(frame, sigmas * frame.scale)
        filled = (filled + clean_channels(np.where(missing, filled, start), noise, n_jobs, progress)) / 2
    progress.end("done")
    return filled
