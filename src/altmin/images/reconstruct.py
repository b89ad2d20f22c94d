"""An image from a few atoms a patch."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.engine.plan import allowed_threads
from altmin.images.frame import as_frame
from altmin.images.patches import Patches
from altmin.kernels.pursuit import Pursuit


def reconstruct(
    image: ArrayLike,
    dictionary: ArrayLike,
    n_nonzero_coefs: int,
    *,
    patch_size: int | tuple[int, int] | None = None,
    step: int | Literal["tile"] = "tile",
    center: bool = True,
    selection: str = "omp",
    n_jobs: int | None = None,
) -> NDArray[Any]:
    r"""Code each patch with a few atoms and put the image together again.

    .. math:: x_p \approx m_p + c_p D, \qquad \|c_p\|_0 \le L

    Parameters
    ----------
    image : array-like of shape (H, W) or (H, W, channels)
        Integers or floats.
    dictionary : array-like of shape (n_atoms, n_pixels)
        Atoms as flattened patches (row by row, channels last). With the pixels of a grey patch they code
        each channel of a colour image by itself.
    n_nonzero_coefs : int
        Atoms of a patch, L.
    patch_size : int, (int, int) or None
        Height and width; None: square patches.
    step : int or 'tile'
        Distance of neighbouring patches; where they overlap, they are averaged.
    center : bool
        Whether the mean of a patch is coded apart, besides the L atoms.
    selection : {'omp', 'ormp'}
        As in :func:`altmin.omp`.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray
        Of the shape and type of the image.

    Notes
    -----
    **Cost.** That of :func:`altmin.omp` for the patches.

    References
    ----------
    R. Rubinstein, M. Zibulevsky and M. Elad, Efficient implementation of the K-SVD algorithm using batch
    orthogonal matching pursuit, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.images import reconstruct
    >>> image = np.kron(np.arange(16).reshape(4, 4), np.ones((4, 4))).astype(np.uint8)
    >>> bool((reconstruct(image, np.eye(16), 1) == image).all())
    True
    """
    frame = as_frame(image)
    D = np.asarray(dictionary, dtype=np.float32)
    size, layers = split_channels(frame.values, D, patch_size)
    if not 1 <= n_nonzero_coefs <= len(D):
        raise ValueError(f"n_nonzero_coefs is {n_nonzero_coefs}; allowed is 1 to the {len(D)} atoms")
    n_jobs = allowed_threads(n_jobs)
    pursuit = Pursuit(D, n_nonzero_coefs, selection)

    def code(X: NDArray[Any], rows: slice) -> tuple[NDArray[Any], NDArray[Any]]:
        return pursuit(X).dense() @ D, np.ones(len(X), X.dtype)

    parts = [Patches(layer, size, step=step, center=center).rebuild(code, n_jobs) for layer in layers]
    return frame.restore(np.concatenate(parts, axis=-1))


def split_channels(
    values: NDArray[Any], dictionary: NDArray[Any], patch_size: int | tuple[int, int] | None
) -> tuple[tuple[int, int], list[NDArray[Any]]]:
    """Size of the dictionary's patches, and the image as layers (H, W, C) that it can code.

    Parameters
    ----------
    values : ndarray of shape (H, W, C)
        The image.
    dictionary : ndarray of shape (n_atoms, n_pixels)
        Atoms of grey patches, or of patches with C channels.
    patch_size : int, (int, int) or None
        Height and width; None: square.

    Returns
    -------
    size : (int, int)
        Height and width.
    layers : list of ndarray
        The whole image, or its channels.
    """
    if dictionary.ndim != 2 or not np.isfinite(dictionary).all():
        raise ValueError(f"dictionary has shape {dictionary.shape}; finite atoms, one a row, are needed")
    channels, n_pixels = values.shape[2], dictionary.shape[1]
    for used in dict.fromkeys((channels, 1)):
        side = round((n_pixels / used) ** 0.5)
        given = patch_size if patch_size is not None else side
        height, width = (given, given) if isinstance(given, int) else given
        if height * width * used == n_pixels:
            layers = [values] if used == channels else [values[:, :, [c]] for c in range(channels)]
            return (height, width), layers
    raise ValueError(
        f"dictionary has atoms of {n_pixels} pixels, patch_size is {patch_size}, the image has {channels} "
        "channel(s): no patch has that many pixels"
    )
