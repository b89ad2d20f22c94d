"""Images in the user's type and units, and the same as float channels in units of their range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Frame:
    """An image as float32 channels of shape (H, W, C), less ``offset`` and over ``scale``.

    In units of its own range single precision is ample (noise of 8-bit images is 1e-3 of the range), and
    what is computed is equivariant to brightness and contrast.
    """

    values: NDArray[np.float32]
    offset: float
    scale: float
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def restore(self, values: NDArray[Any]) -> NDArray[Any]:
        """Channels back to the type, shape and units of the image; integers are rounded and clipped."""
        image = values.astype(np.float64).reshape(self.shape) * self.scale + self.offset
        if self.dtype.kind in "ui":
            limits = np.iinfo(self.dtype)
            image = np.clip(np.rint(image), limits.min, limits.max)
        return image.astype(self.dtype)


def as_frame(image: ArrayLike, known: NDArray[np.bool_] | None = None) -> Frame:
    """Read an image.

    Parameters
    ----------
    image : array-like of shape (H, W) or (H, W, C)
        Grey or colour; integers, or floats of any range.
    known : ndarray of bool of shape (H, W, C), or None
        Pixels that count; the others may hold anything and become 0.

    Returns
    -------
    Frame
        Its channels.
    """
    pixels = check_image(image)
    channels = pixels.reshape(*pixels.shape[:2], -1)
    valid = channels if known is None else channels[known]
    if not np.isfinite(valid).all():
        row, column = np.argwhere(~np.isfinite(channels) & (True if known is None else known))[0, :2]
        raise ValueError(f"image contains NaN or infinity, first at row {row}, column {column}")
    low, high = (float(valid.min()), float(valid.max())) if valid.size else (0.0, 1.0)
    scale = high - low or 1.0
    if not np.isfinite(scale):
        raise ValueError(f"image spans {low:g} to {high:g}: its range overflows")
    values = np.zeros(channels.shape, np.float32)
    np.subtract(
        channels / scale, low / scale, out=values, where=True if known is None else known, casting="unsafe"
    )
    return Frame(values, low, scale, pixels.dtype, pixels.shape)


def check_image(image: ArrayLike) -> NDArray[Any]:
    """A numeric array of two or three dimensions, none of them empty."""
    pixels = np.asarray(image)
    if pixels.dtype.kind not in "uif":
        raise TypeError(f"image has dtype {pixels.dtype}; integers or floats are needed")
    if pixels.ndim not in (2, 3) or 0 in pixels.shape:
        raise ValueError(f"image has shape {pixels.shape}; (H, W) or (H, W, channels), not empty, is needed")
    return pixels


def check_mask(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The mask for each channel: (H, W, C)."""
    missing = np.asarray(mask)
    if missing.shape not in (shape, shape[:2]) or (
        missing.dtype != bool and not np.isin(missing, (0, 1)).all()
    ):
        raise ValueError(
            f"mask has shape {missing.shape} and dtype {missing.dtype}; booleans of shape {shape[:2]} (or "
            f"{shape}) are needed (true: missing)"
        )
    channels = np.broadcast_to(missing.reshape(*shape[:2], -1), (*shape[:2], *(shape[2:] or (1,))))
    return np.array(channels, np.bool_)
