"""The passes that close a fit of AND: non-negative components, and what is left of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.subspace import coordinates, weights
from altmin.contract import Block, Concat, Stats
from altmin.kernels.gram import row_norms2, times, transpose_times
from altmin.kernels.masked import masked_codes, masked_nnls, observed, products, squared_residuals
from altmin.kernels.nnls import nnls


def nonnegative_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Non-negative least squares codes of the clipped components."""
    if algorithm.missing:
        Y, P = observed(block.X)
        Z = masked_codes(block.X, state.A, nonnegative=True)
        w = np.maximum(weights(block), 0.0)[:, None]
        return {"G": transpose_times(products(Z.T) * w, P), "B": transpose_times(Z * w, Y)}
    Z = nnls_codes(block.X, state.A)
    Zw = Z * np.maximum(weights(block), 0.0).astype(Z.dtype)[:, None]
    return {"G": Zw.T @ Z, "B": transpose_times(Zw, block.X)}


def refitted(stats: Stats, missing: bool) -> NDArray[Any]:
    """Non-negative least squares for the components, given the codes."""
    solve = masked_nnls if missing else nnls
    # Where entries are missing, each feature has a Gram matrix of its own.
    return solve(stats["G"].T, stats["B"].T).T


def residual_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Squares of the data and of what non-negative codes leave over; codes of every so many samples."""
    if algorithm.missing and not state.view.columns:
        return _residual_with_holes(algorithm, state, block)
    S = coordinates(state.view, block)
    linear = times(S, state.decoder)
    Z = nnls_codes(S, state.A) if algorithm.decoder == "nnls" else np.maximum(linear, 0.0)
    squares = row_norms2(S)
    if isinstance(S, np.ndarray):
        fit = Z @ state.A
        fit[:, : S.shape[1]] -= S
        left = row_norms2(fit)
    else:  # |s - zA|^2 by Gram matrices: zA has no zeros, and would be as wide as the data
        along, G = times(S, state.A.T), state.A @ state.A.T
        left = squares + np.einsum("ij,ij->i", Z, Z @ G - 2 * along, dtype=np.float64)
    if state.view.columns:
        left, squares = left + block.columns["outside"], squares + block.columns["outside"]
    return _left_over(state, block, np.maximum(left, 0.0), squares, linear)


def _residual_with_holes(algorithm: Any, state: Any, block: Block) -> Stats:
    """The same over the observed entries."""
    linear = masked_codes(block.X, state.A, nonnegative=False)
    Z = np.maximum(linear, 0.0)
    if algorithm.decoder == "nnls":
        Z = masked_codes(block.X, state.A, nonnegative=True)
    left = squared_residuals(block.X, Z, state.A)
    return _left_over(state, block, left, row_norms2(observed(block.X)[0]), linear)


def _left_over(state: Any, block: Block, left: Any, squares: Any, codes: NDArray[Any]) -> Stats:
    """Sums over all samples and over those that weren't left out (their weight is positive)."""
    given = weights(block)
    w, kept = np.abs(given), np.maximum(given, 0.0)
    some = ((block.start + np.arange(block.n_rows)) % state.stride == 0) & (given > 0)
    return {
        "residual": float(w @ left),
        "squares": float(w @ squares),
        "kept": np.array([kept @ left, kept @ squares]),
        "codes": Concat(codes[some].astype(np.float64)),
    }


def close(state: Any, stats: Stats) -> Any:
    """The figures of the closing pass, in the state."""
    return replace(
        state,
        phase="done",
        residual=stats["residual"],
        squares=stats["squares"],
        codes=stats["codes"].value,
        kept_share=float(stats["kept"][0] / max(stats["kept"][1], np.finfo(float).tiny)),
    )


def decode(X: Any, decoder: NDArray[Any], alpha: Any = 0.0) -> NDArray[Any]:
    """Non-negative codes: the paper's decoding with threshold ``alpha``."""
    Z = times(X, decoder)
    Z[Z < alpha] = 0.0
    return Z


def nnls_codes(X: Any, A: NDArray[Any]) -> NDArray[Any]:
    """Non-negative codes of least squares."""
    return nnls(A @ A.T, times(X, A[:, : X.shape[1]].T)).astype(A.dtype)
