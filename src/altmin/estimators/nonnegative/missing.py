"""Input with holes: NaN, masked arrays, explicit masks, sparse tables of which only stored entries count."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.engine import AnySource


def with_holes(X: Any, mask: Any, missing: str) -> Any:
    """X with NaN where it is masked; what can't be read so is refused by name.

    Parameters
    ----------
    X : array-like, sparse, path, ...
        The user's data; not changed.
    mask : array-like of bool or None
        True where X was observed.
    missing : {'raise', 'mask', 'unstored'}
        The estimator's parameter.

    Returns
    -------
    object
        X itself, or a copy with NaN in the holes.
    """
    if mask is None and not isinstance(X, np.ma.MaskedArray):
        return X
    if mask is not None and missing != "mask":
        raise ValueError(f"mask is given, but missing={missing!r}; it needs missing='mask'")
    if missing != "mask":
        raise ValueError(f"X is a masked array, but missing={missing!r}; it needs missing='mask'")
    if sp.issparse(X):
        raise ValueError("mask needs a dense X; for a sparse X use missing='unstored'")
    values = np.asarray(np.ma.getdata(X))
    seen = ~np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else np.ones(values.shape, bool)
    if mask is not None:
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != values.shape:
            raise ValueError(
                f"mask has shape {given.shape} and dtype {given.dtype}; booleans of the shape of X, "
                f"{values.shape}, True where X was observed, are needed"
            )
        seen &= given
    dtype = values.dtype if values.dtype == np.float32 else np.float64
    return np.where(seen, values, np.nan).astype(dtype, copy=False)


def check_holes(source: AnySource, missing: str) -> None:
    """Refuse what the completion can't read: streams, and sparse or dense data of the other kind."""
    if missing == "raise":
        return
    source.require_replayable(f"missing={missing!r}")
    if missing == "unstored" and not source.info.sparse:
        raise ValueError("missing='unstored' needs a sparse X; use missing='mask' with NaN in a dense one")
    if missing == "mask" and source.info.sparse:
        raise ValueError("missing='mask' needs a dense X; use missing='unstored' with a sparse one")
