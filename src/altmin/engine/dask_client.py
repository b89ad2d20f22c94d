"""The active Dask client, and what both of its ends do to what travelled."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from altmin.engine.threads import one_thread
from altmin.io.records import flatten, restore


def active_client() -> Any:
    """The active ``distributed`` client, or None: then rounds run here, chunk by chunk."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


@functools.cache
def one_blas_thread() -> Any:
    """Once in a worker, and never undone: the limit is process-wide, so tasks must not toggle it."""
    return one_thread()


def aligned(tree: Any) -> Any:
    """The tree with arrays at proper addresses: those that came over a wire needn't be, and NumPy
    multiplies such arrays by another routine, whose sums have other bits.
    """
    structure, arrays = flatten(tree)
    if all(array.flags.aligned for array in arrays):
        return tree
    return restore(structure, [np.require(array, requirements="A") for array in arrays])
