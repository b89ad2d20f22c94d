"""What the dictionary algorithms share: the maps over a block, and thresholds that need no scale.

Inside, data are divided by a power of two near their largest entry, so squares neither overflow nor
vanish, and results scale exactly with the data. Rows are samples: codes are ``Z = X @ decoder``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.contract import Block, Concat, Max, Round, Stats, Take, record
from altmin.kernels.gram import row_norms2, times, transpose_times
from altmin.kernels.pursuit import Pursuit
from altmin.kernels.thresholds import N_BINS, bin_edges, histogram_quantile, keep_large, magnitude_histogram

WARM_END = 0.4
"""A descent of thresholds ends at this share of the rms of the kept codes."""

NOISE_FACTOR = 3.0
"""Thresholds are at least this many standard deviations of the noise in a code."""

LOUD = 0.5
"""Noise threshold, in units of a code's deviation, above which codes come from a pursuit."""

WORST_CONDITION = 1e6
"""Condition of whitened atoms, which should be nearly orthogonal, at which two of them have become one."""

_SAMPLED = 1 << 14  # entries of a block that enter the histogram: plenty for a quantile, and cheap
_FALL = 0.3  # thresholds fall by at most this factor from one pass to the next
_SAFE = 10.0  # times the rms change of an atom's codes: no zero code can pass such a threshold
_ROUNDING = 1e3  # times the rounding error of a code


def extent_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Largest entry of the data, and the number of rows."""
    values = block.X.data if sp.issparse(block.X) else block.X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return {"largest": Max(largest), "n_rows": block.n_rows}


def power_of_two(largest: float) -> float:
    """The power of two next above: a division by it is exact."""
    if largest == 0:
        raise ValueError("X contains only zeros: there is no dictionary to learn")
    return float(2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000))


def covariance_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Second moments of the scaled data, in float64 whatever the data's dtype."""
    X = block.X / state.scale
    C = X.T @ X
    C = C.toarray() if sp.issparse(C) else C
    return {"covariance": np.asarray(C, dtype=np.float64)}


def code_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Threshold the codes of a block and sum up what the dictionary update needs.

    ``cross`` = Z'X always, ``gram`` = Z'Z where the update is by least squares.
    """
    Z = times(block.X, state.decoder)
    stats: dict[str, Any] = {"magnitudes": sampled_magnitudes(Z, state.noise_gain), "n_rows": block.n_rows}
    stats["counts"], stats["squares"] = keep_large(Z, state.thresholds)
    stats["cross"] = transpose_times(Z, block.X).astype(np.float64)
    if algorithm.least_squares:
        stats["gram"] = (Z.T @ Z).astype(np.float64)
    return stats


def sampled_magnitudes(Z: NDArray[Any], noise_gain: NDArray[Any]) -> NDArray[Any]:
    """Histogram of |z_i| / ||w_i|| over some rows: noise has the same size in all of them."""
    step = max(Z.size // _SAMPLED, 1)
    return magnitude_histogram(Z[::step] / noise_gain.astype(Z.dtype))


def pursuit_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """As :func:`code_map`, with codes by a pursuit that stops at the noise.

    An ill-conditioned inverse blows the noise of the data up in the codes; a pursuit measures it in the
    data, where it is what it is.
    """
    k, n = state.atoms.shape
    atoms = (state.atoms * state.scale).astype(block.X.dtype)
    Z = Pursuit(atoms, k, "ormp")(block.X, n * (state.noise * state.scale) ** 2).dense()
    linear = times(block.X, state.decoder)
    return {
        "magnitudes": sampled_magnitudes(linear, state.noise_gain),
        "n_rows": block.n_rows,
        "counts": np.count_nonzero(Z, axis=0).astype(np.float64),
        "squares": np.einsum("ij,ij->j", Z, Z, dtype=np.float64),
        "cross": transpose_times(Z, block.X).astype(np.float64),
        "gram": (Z.T @ Z).astype(np.float64),
    }


def residual_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Squares of the data and of what the final codes leave over, in units of the scaled data."""
    Z = times(block.X, state.decoder)
    counts, squares = keep_large(Z, state.thresholds)
    X = block.X.toarray() if sp.issparse(block.X) else block.X
    left = X / state.scale - Z @ state.atoms.astype(Z.dtype)
    stats = {
        "residual": float(np.sum(np.square(left, dtype=np.float64))),
        "total": float(row_norms2(block.X / state.scale).sum()),
        "counts": counts,
        "squares": squares,
    }
    if algorithm.least_squares:
        stats |= {"gram": (Z.T @ Z).astype(np.float64), "left": (Z.T @ left).astype(np.float64)}
    return stats


def sample_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Codes of some rows before any threshold: what the guarantee looks at."""
    return {"codes": Concat(times(block.X, state.decoder))}


def with_residual(state: Any, stats: Stats) -> Any:
    """After :func:`residual_map`, the round of :func:`evidence_round` closes a fit."""
    names = ("residual", "total", "counts", "squares")
    return replace(state, phase="evidence", **{name: stats[name] for name in names})


def evidence_round(state: Any) -> Round:
    """Codes of rows evenly over the data, for the guarantee: enough to see a span of all atoms."""
    n = min(state.n_rows, max(1000, 12 * len(state.atoms)))
    rows = Take(np.unique(np.linspace(0, state.n_rows - 1, n).astype(np.intp)))
    return Round(sample_map, rows=rows, name="evidence", then=_with_sample)


def _with_sample(state: Any, stats: Stats) -> Any:
    return replace(state, phase="done", sample=stats["codes"].value)


def noise_level(magnitudes: NDArray[Any], density: float) -> float:
    """Noise of the data from codes that should be zero: half of them lie below .6745 sigma.

    In data without noise this is the current error of the codes, which falls as the atoms converge.
    """
    return histogram_quantile(magnitudes, (1 - min(density, 0.99)) / 2) / 0.6745


def fallen_thresholds(
    thresholds: NDArray[Any], moved: NDArray[Any], noise: NDArray[Any], rounding: NDArray[Any]
) -> NDArray[Any]:
    """Thresholds of the next pass, per atom.

    They fall as fast as the atoms converge, since codes of size 'almost zero' must be let in for the
    atoms to become exact, and never below what would let in a code that should be zero: its change
    since the last pass (rms ``moved``), its noise, its rounding error.
    """
    least = np.maximum(np.maximum(_SAFE * moved, NOISE_FACTOR * noise), _ROUNDING * rounding)
    return np.minimum(thresholds, np.maximum(_FALL * thresholds, least))


def relative_threshold(magnitudes: NDArray[Any], share: float = WARM_END) -> float:
    """The largest threshold that is at most ``share`` of the rms of the magnitudes above it."""
    low, high = bin_edges()
    filled = np.flatnonzero(magnitudes)
    if len(filled) == 0 or filled[-1] == 0:
        return 0.0
    counts = magnitudes[filled].astype(np.float64)
    middle = (low[filled] + high[filled]) / 2
    above = np.cumsum(counts[::-1])[::-1]
    rms = np.sqrt(np.cumsum((counts * middle**2)[::-1])[::-1] / above)
    passed = np.flatnonzero(low[filled] <= share * rms)
    return float(share * rms[passed[-1]]) if len(passed) else float(low[filled[0]])


def largest_magnitude(magnitudes: NDArray[Any]) -> float:
    """Upper edge of the last bin in use."""
    last = int(np.flatnonzero(magnitudes)[-1]) if magnitudes.any() else 0
    return float(bin_edges()[1][min(last, N_BINS - 1)])


def rms_change(step: NDArray[Any], covariance: NDArray[Any]) -> NDArray[Any]:
    """Root mean square, over the samples, of the change of codes that a step of the decoder makes.

    ``step`` has a decoder row for each atom; exact, and costs no pass over the data.
    """
    return np.sqrt(np.maximum(np.einsum("ij,ij->i", step @ covariance, step), 0.0))


@record
class Frame:
    """Second moments of the data, a preconditioner P with P'CP = I, and the pseudo-inverse of P."""

    covariance: Any = None  # (n, n)
    whiten: Any = None  # (n, k): P
    unwhiten: Any = None  # (k, n)


def whitening(covariance: NDArray[Any], n_components: int) -> Frame:
    """The frame of the leading principal axes.

    Any P with P'CP = I serves; principal axes also drop what lies outside the span of k atoms.
    """
    values, axes = np.linalg.eigh(covariance)
    values, axes = values[::-1], axes[:, ::-1]
    rank = int(np.sum(values > 100 * np.finfo(np.float64).eps * values[0]))
    if rank < n_components:
        raise ValueError(
            f"n_components={n_components}: the samples span only {rank} dimension(s) (an atom that no sample "
            f"uses, or constant, duplicated or too few samples); use at most {rank} components"
        )
    root = np.sqrt(values[:n_components])
    return Frame(covariance, axes[:, :n_components] / root, (axes[:, :n_components] * root).T)


def least_squares_decoder(
    W: NDArray[Any], gram: NDArray[Any], cross: NDArray[Any]
) -> tuple[NDArray[Any], float]:
    """The polish: A = (Z'Z)^-1 Z'V with unit rows, as a decoder, and how far that moved.

    An atom that no sample used stays where it was; infinitely far says that two atoms became one.
    """
    before = np.linalg.inv(W).T  # atoms, one a row: V = Z @ before
    ridge = 1e-10 * max(float(gram.diagonal().max()), np.finfo(float).tiny)
    atoms = np.linalg.solve(gram + ridge * np.eye(len(gram)), cross + ridge * before)
    norms = np.linalg.norm(atoms, axis=1, keepdims=True)
    atoms = np.where(norms > 0, atoms / np.where(norms > 0, norms, 1.0), before)
    if not np.isfinite(atoms).all() or np.linalg.cond(atoms) > WORST_CONDITION:
        return W, np.inf
    decoder = np.ascontiguousarray(np.linalg.inv(atoms).T)
    return decoder, float(np.max(np.linalg.norm(decoder - W, axis=1)))
