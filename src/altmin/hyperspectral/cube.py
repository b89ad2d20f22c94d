"""Cubes as tables of pixels, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Pixels:
    """The usable pixels of a cube as rows.

    ``X`` (n_pixels, n_good_bands) may hold NaN; ``valid`` (rows, columns) says which pixels the rows are.
    """

    X: NDArray[Any]
    valid: NDArray[np.bool_]

    def maps(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the pixels (n_pixels, k) as maps (rows, columns, k), 0 where a pixel was unusable."""
        maps = np.zeros((*self.valid.shape, values.shape[1]), values.dtype)
        maps[self.valid] = values
        return maps


def check_cube(cube: ArrayLike) -> NDArray[Any]:
    """The cube as a float array with NaN where it is masked; an error unless it has three axes."""
    hidden = np.ma.getmask(cube)
    array = np.asarray(np.ma.getdata(cube))
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(f"cube has shape {array.shape}; (rows, columns, bands) is needed")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"cube has dtype {array.dtype}; numbers are needed")
    array = array.astype(array.dtype if array.dtype in (np.float32, np.float64) else np.float64, copy=False)
    return np.where(hidden, np.nan, array) if np.any(hidden) else array


def usable_pixels(cube: NDArray[Any], good: NDArray[np.bool_], mask: ArrayLike | None) -> Pixels:
    """Pixels inside the mask that have at least one number other than 0 in the good bands."""
    valid = np.any(np.nan_to_num(cube[:, :, good], nan=0.0) != 0, axis=2)
    if mask is not None:
        inside = np.asarray(mask)
        if inside.shape != valid.shape or inside.dtype != bool:
            raise ValueError(
                f"mask has shape {inside.shape} and dtype {inside.dtype}; booleans of shape {valid.shape}, "
                "True for the pixels to use, are needed"
            )
        valid &= inside
    if not valid.any():
        raise ValueError("cube: no pixel is left to work with (all are masked, 0 or NaN)")
    return Pixels(np.ascontiguousarray(cube[valid][:, good]), valid)


def check_bands(bands: ArrayLike, n_bands: int) -> NDArray[np.bool_]:
    """Bad bands as a boolean mask, from booleans or band numbers."""
    given = np.asarray(bands)
    if given.dtype == bool and given.shape == (n_bands,):
        return given
    if given.dtype.kind in "iu" and given.ndim == 1 and np.all((given >= -n_bands) & (given < n_bands)):
        bad = np.zeros(n_bands, bool)
        bad[given] = True
        return bad
    raise ValueError(
        f"bad_bands has shape {given.shape} and dtype {given.dtype}; 'auto', None, {n_bands} booleans "
        f"or band numbers below {n_bands} are allowed"
    )
