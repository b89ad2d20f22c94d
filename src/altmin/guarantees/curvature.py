"""Are samples sums of parts at all? Where features saturate or parts multiply, what is left over is curved.

A distortion of each feature adds about a square and a cube of the fitted value to it. Least squares hides
what the codes can explain of that; the rest of it must be found in the residual, or there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def curved(X: Array, codes: Array) -> float:
    """Largest |t| of the residual on squares and cubes of the fitted values, beyond what codes explain.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    codes : ndarray of shape (n_samples, n_components)
        What they are made of.

    Returns
    -------
    float
        Each sample counts once, whatever its noise; about 2 for sums with noise. NaN where nothing is left.
    """
    inverse = np.linalg.pinv(codes.T @ codes, rcond=1e-12, hermitian=True)
    fitted = codes @ (inverse @ (codes.T @ X))
    rest = X - fitted
    unit = fitted / max(float(np.sqrt(np.mean(fitted**2))), 1e-300)
    found = []
    for power in (2, 3):
        shape = np.clip(unit, -5, 5) ** power
        shape = shape - codes @ (inverse @ (codes.T @ shape))
        by_row = np.sum(rest * shape, axis=1)
        size = float(np.sqrt(np.sum(by_row**2)))
        found.append(abs(float(np.sum(by_row))) / size if size > 0 else np.nan)
    return float(np.nanmax(found)) if not np.isnan(found).all() else np.nan


def cut_share(X: Array) -> float:
    """Share of the entries that equal the largest one, where that is a pile: values were cut at a level.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples with noise; without any, equal entries are no surprise.

    Returns
    -------
    float
        0 where fewer than ten entries are at the top, or others just below it are half as many.
    """
    top = float(X.max(initial=0.0))
    at_top = int(np.sum(X >= top * (1 - 1e-9)))
    window = max(0.03 * top, 1.0 if _whole(X) else 0.0)
    below = int(np.sum(X >= top - window - 1e-9 * top)) - at_top
    return at_top / max(X.size, 1) if top > 0 and at_top >= max(10, 2 * below) else 0.0


def _whole(X: Array) -> bool:
    """Whether all entries are whole numbers, to rounding."""
    return bool(np.all(np.abs(X - np.round(X)) <= 1e-6 * max(float(np.abs(X).max(initial=0.0)), 1.0)))
