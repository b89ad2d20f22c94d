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
from altmin.kernels.thresholds import N_BINS, bin_edges, histogram_quantile, keep_large, magnitude_histogram

WARM_END = 0.4
"""A descent of thresholds ends at this share of the rms of the kept codes."""

NOISE_FACTOR = 3.0
"""Thresholds are at least this many standard deviations of the noise in a code."""

LOUD = 0.5
"""Noise threshold, in units of a code's deviation, above which thresholds lose too many codes."""

WORST_CONDITION = 1e6
"""Gain of a code from whitened data, where atoms are nearly orthogonal, at which two have become one."""

_SAMPLED = 1 << 14  # entries of a block that enter the histogram: plenty for a quantile, and cheap
_FALL = 0.3  # thresholds fall by at most this factor from one pass to the next
_EVEN = 0.11  # (sum r^2)^2 / (p sum r^4) is .37 or more for plain data, less for scales and outliers
_SAFE = 10.0  # times the rms change of an atom's codes: no zero code can pass such a threshold
_ROUNDING = 1e3  # times the rounding error of a code


def signals(state: Any, block: Block) -> Any:
    """The rows of a block as the atoms are to explain them.

    Without the intercept; those above the norm ``state.level`` shrunk to it where ``state.levelled``, as a
    dictionary that explains a row explains its multiples (small rows stay small: they may be noise alone);
    zero where the column ``inlier`` says so.
    """
    X = block.X
    if state.centre is None and not state.levelled:
        return X
    X = X.toarray() if sp.issparse(X) else X
    if state.centre is not None:
        X = X - (state.centre * state.scale).astype(X.dtype)
    if state.levelled:
        norms = np.maximum(np.sqrt(row_norms2(X)), state.level * state.scale)
        factor = np.divide(state.scale, norms, out=np.zeros_like(norms), where=norms > 0)
        X = X * (factor * block.columns.get("inlier", 1.0)).astype(X.dtype)[:, None]
    return X


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
    X = signals(state, block) / state.scale
    C = X.T @ X
    C = C.toarray() if sp.issparse(C) else C
    return {"covariance": np.asarray(C, dtype=np.float64)}


def moments_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """First and second moments, in the axes of a sketch if there is one."""
    X = signals(state, block) / state.scale
    norms = row_norms2(X)
    spread = {"energy": float(norms.sum()), "fourth": float(norms @ norms)}
    X = X if state.frame.axes is None else np.asarray(X @ state.frame.axes)
    C = X.T @ X
    C = C.toarray() if sp.issparse(C) else C
    total = np.asarray(X.sum(axis=0), np.float64).ravel()
    return {"covariance": np.asarray(C, dtype=np.float64), "sum": total, **spread}


def norms_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Histogram of the norms of the scaled rows, but for those that are zero."""
    # divided last: beside one huge entry the squares of all others would be 0
    norms = np.sqrt(row_norms2(signals(state, block))) / state.scale
    return {"norms": magnitude_histogram(norms[(norms > 0) & np.isfinite(norms)])}


def code_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Threshold the codes of a block and sum up what the dictionary update needs.

    ``cross`` = Z'X always, ``gram`` = Z'Z where the update is by least squares, and the sums of Z and X
    where it has an intercept.
    """
    X = signals(state, block)
    Z = times(X, state.decoder)
    stats: dict[str, Any] = {"magnitudes": sampled_magnitudes(Z, state.noise_gain), "n_rows": block.n_rows}
    stats["counts"], stats["squares"] = keep_large(Z, state.thresholds)
    stats["cross"] = transpose_times(Z, X).astype(np.float64)
    if algorithm.least_squares:
        stats["gram"] = (Z.T @ Z).astype(np.float64)
    return stats if state.centre is None else stats | first_moments(X, Z)


def in_single(state: Any, block: Block) -> tuple[Any, NDArray[Any]]:
    """Rows and decoder in single precision, scaled: plenty far from the truth, and twice as fast."""
    X = (signals(state, block) * (1 / state.scale)).astype(np.float32)  # a power of two: exact
    return X, (state.decoder * state.scale).astype(np.float32)


def first_moments(X: NDArray[Any], Z: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Sums of the codes and of the signals, from which least squares finds the intercept."""
    return {"codes_sum": Z.sum(axis=0, dtype=np.float64), "sum": X.sum(axis=0, dtype=np.float64)}


def sampled_magnitudes(Z: NDArray[Any], noise_gain: NDArray[Any]) -> NDArray[Any]:
    """Histogram of |z_i| / ||w_i|| over some rows: noise has the same size in all of them."""
    step = max(Z.size // _SAMPLED, 1)
    return magnitude_histogram(Z[::step] / noise_gain.astype(Z.dtype))


def residual_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Squares of the data and of what the final codes leave over, in units of the scaled data."""
    X = signals(state, block)
    Z = times(X, state.decoder)
    counts, squares = keep_large(Z, state.thresholds)
    X = (X.toarray() if sp.issparse(X) else X) / state.scale
    left = X - Z @ state.atoms.astype(Z.dtype)
    stats = {
        "residual": float(np.sum(np.square(left, dtype=np.float64))),
        "total": float(row_norms2(X).sum()),
        "counts": counts,
        "squares": squares,
    }
    if algorithm.least_squares:
        stats |= correction(Z.astype(np.float32), left.astype(np.float32))
    return stats if state.centre is None else stats | first_moments(left, Z) | {"n_rows": block.n_rows}


def correction(Z: NDArray[np.float32], left: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    """Z'Z and Z'left: a step of least squares that only has to be right in its leading digits."""
    return {"gram": (Z.T @ Z).astype(np.float64), "cross": (Z.T @ left).astype(np.float64)}


def sample_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Codes of some rows before any threshold: what the guarantee looks at."""
    return {"codes": Concat(times(signals(state, block), state.decoder))}


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


class SpanError(ValueError):
    """The samples span fewer dimensions than atoms were asked for."""


@record
class Frame:
    """Second moments of the data, a preconditioner P with P'CP = I, and the pseudo-inverse of P.

    Where there are many more features than atoms, second moments are those of coordinates in ``axes``.
    """

    covariance: Any = None  # (n, n), or (m, m) in axes
    whiten: Any = None  # (n, k): P
    unwhiten: Any = None  # (k, n)
    axes: Any = None  # (n, m)
    energy: float = 0.0  # mean squared norm of a sample, in or out of the axes

    @property
    def rank(self) -> int:
        """Number of atoms that the data can have."""
        return len(self.unwhiten)

    @property
    def variances(self) -> NDArray[Any]:
        """Variances of the data along the principal axes in use: P has columns of length 1 / sqrt of them."""
        return 1.0 / np.einsum("ij,ij->j", self.whiten, self.whiten)

    @property
    def rms(self) -> float:
        """Root mean square of an entry of the data."""
        return float(np.sqrt(self.energy / len(self.whiten)))

    def full(self, mean: NDArray[Any]) -> NDArray[Any]:
        """A vector of coordinates as one of features."""
        return mean if self.axes is None else self.axes @ mean


def sketch_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Second moments times the current axes: one step of subspace iteration."""
    X = signals(state, block) / state.scale
    return {"range": np.asarray(X.T @ (X @ state.frame.axes), np.float64)}


def are_uneven(stats: Stats, n_rows: int) -> bool:
    """Whether a few rows hold most of the data's energy: scales that differ by decades, or outliers."""
    return bool(stats["energy"] ** 2 < _EVEN * n_rows * stats["fourth"])


def has_mean(mean: NDArray[Any], moments: NDArray[Any], n_rows: int) -> bool:
    """Whether the mean is larger than that of as many samples around zero would be."""
    n = len(mean)
    if n_rows < 5 * n:
        return False
    spread = moments - np.outer(mean, mean)
    spread += 1e-10 * max(float(np.trace(moments)), np.finfo(float).tiny) / n * np.eye(n)
    squared = n_rows * float(mean @ np.linalg.solve(spread, mean))
    return squared > n + 10 * np.sqrt(2 * n)


def whitening(
    covariance: NDArray[Any],
    n_components: int | None,
    axes: NDArray[Any] | None = None,
    energy: float | None = None,
) -> Frame:
    """The frame of the leading principal axes; with None, of all that the data span.

    Any P with P'CP = I serves; principal axes also drop what lies outside the span of k atoms.
    """
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int(np.sum(values > 100 * np.finfo(np.float64).eps * values[0]))
    k = rank if n_components is None else n_components
    if rank < k:
        raise SpanError(
            f"n_components={n_components}: the samples span only {rank} dimension(s) (an atom that no sample "
            f"uses, or constant, duplicated or too few samples); use at most {rank} components"
        )
    root = np.sqrt(values[:k])
    whiten, unwhiten = vectors[:, :k] / root, (vectors[:, :k] * root).T
    if axes is not None:
        whiten, unwhiten = axes @ whiten, unwhiten @ axes.T
    energy = float(np.trace(covariance)) if energy is None else energy
    return Frame(covariance, whiten, unwhiten, axes, energy)


def without_mean(stats: Stats) -> Stats:
    """The sums of codes and signals from which their means were taken: least squares with an intercept."""
    if "codes_sum" not in stats:
        return stats
    codes, n = stats["codes_sum"], stats["n_rows"]
    gram = stats["gram"] - np.outer(codes, codes) / n
    return {**stats, "gram": gram, "cross": stats["cross"] - np.outer(codes, stats["sum"]) / n}


def least_squares_decoder(
    W: NDArray[Any], gram: NDArray[Any], rest: NDArray[Any]
) -> tuple[NDArray[Any], float]:
    """The polish: A = (Z'Z)^-1 Z'V with unit rows, as a decoder, and how far that moved.

    ``rest`` is Z'R for the codes R that thresholds dropped, so that V = (Z + R) A of before: atoms change by
    (Z'Z)^-1 Z'R A. An atom that no sample used stays where it was; infinitely far says that two atoms
    became one.
    """
    before = np.linalg.inv(W).T  # atoms, one a row
    ridge = 1e-10 * max(float(gram.diagonal().max()), np.finfo(float).tiny)
    atoms = before + np.linalg.solve(gram + ridge * np.eye(len(gram)), rest @ before)
    norms = np.sqrt(row_norms2(atoms))[:, None]
    atoms = np.where(norms > 0, atoms / np.where(norms > 0, norms, 1.0), before)
    try:
        decoder = np.ascontiguousarray(np.linalg.inv(atoms).T)
    except np.linalg.LinAlgError:
        return W, np.inf
    # the norm of a decoder's row is one over the distance of its atom from the span of the others
    farthest = float(np.sqrt(row_norms2(decoder).max()))
    if not farthest < WORST_CONDITION:
        return W, np.inf
    return decoder, float(np.sqrt(row_norms2(decoder - W).max()))
