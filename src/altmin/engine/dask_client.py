"""The Dask client that runs rounds, and what both of its ends do to what travelled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from altmin.io.records import flatten, restore

_CHOSEN: ContextVar[Any] = ContextVar("altmin_cluster", default=None)


@contextmanager
def on_cluster(client: Any) -> Iterator[None]:
    """Within this context the rounds of every fit run on the workers of this ``distributed`` client.

    Rows that are in memory here are sent to the workers; files are read by the workers themselves, so
    all of them must see the files. The result has the bits of a local fit.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    """
    token = _CHOSEN.set(client)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def chosen_client() -> Any:
    """The client of :func:`on_cluster`, or None outside of it."""
    return _CHOSEN.get()


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


def aligned(tree: Any) -> Any:
    """The tree with arrays at proper addresses: those that came over a wire needn't be, and NumPy
    multiplies such arrays by another routine, whose sums have other bits.
    """
    structure, arrays = flatten(tree)
    if all(array.flags.aligned for array in arrays):
        return tree
    return restore(structure, [np.require(array, requirements="A") for array in arrays])
