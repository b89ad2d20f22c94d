"""Score functions of independent component analysis, applied to a block of codes in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled


def huber_score(Z: NDArray[Any], width: float) -> NDArray[Any]:
    """Clip the codes at ``width``, the derivative of Huber's |z|; gives how many of each column weren't."""
    inside = np.zeros(Z.shape[1])
    _huber_score(Z, Z.dtype.type(width), inside)
    return inside


@compiled
def _huber_score(Z, width, inside):  # type: ignore[no-untyped-def]
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            value = Z[i, j]
            if value > width:
                Z[i, j] = width
            elif value < -width:
                Z[i, j] = -width
            else:
                inside[j] += 1.0


def cube_score(Z: NDArray[Any]) -> NDArray[Any]:
    """Cube the codes, the derivative of the fourth moment; gives 3 sum z^2."""
    square = Z * Z
    slope = 3.0 * square.sum(axis=0, dtype=np.float64)
    Z *= square
    return np.asarray(slope)
