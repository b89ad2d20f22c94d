"""Wrong programs for claims on real data: what an estimator found is spoiled before it is judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_found(components: NDArray[Any]) -> NDArray[Any]:
    """The components as they were found: the right program."""
    return components


def shuffled(components: NDArray[Any]) -> NDArray[Any]:
    """Entries of a vector, or of each row, in a random order: the values are right, their places are not."""
    rng = np.random.default_rng(0)
    values = np.asarray(components)
    if values.ndim == 1:
        return np.asarray(rng.permutation(values))
    return np.array([rng.permutation(row) for row in values])
