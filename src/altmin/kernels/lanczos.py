"""The largest eigenvalue of a symmetric matrix that is known by its products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GONE = 1e-6  # of the first value: what is left of a vector when all that it spans has been seen


def largest_eigenvalue(
    times: Callable[[NDArray[Any]], NDArray[Any]], start: NDArray[Any], steps: int
) -> float:
    """Lanczos' estimate after some steps, from below.

    Parameters
    ----------
    times : callable
        From a vector v to a new array, the matrix times v.
    start : ndarray of shape (n,)
        Not orthogonal to what is looked for.
    steps : int
        Products at most.

    Returns
    -------
    float
        The largest eigenvalue of the matrix on the space of ``start``, its image, the image of that, ...
    """
    diagonal: list[float] = []
    beside: list[float] = []
    before, v = np.zeros_like(start), start / np.sqrt(start @ start)
    for _ in range(steps):
        w = times(v)
        if beside:
            w = w - beside[-1] * before
        diagonal.append(float(v @ w))
        w = w - diagonal[-1] * v
        length = float(np.sqrt(w @ w))
        if length <= _GONE * abs(diagonal[0]):
            break
        before, v = v, w / length
        beside.append(length)
    small = np.diag(diagonal) + np.diag(beside[: len(diagonal) - 1], -1)
    return float(np.linalg.eigvalsh(small)[-1])
