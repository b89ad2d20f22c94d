r"""The lens: coordinates in which features look as Lin and Ye 2016 assume, without ever forming them.

Their theory wants independent standard Gaussian features. Ours are :math:`z = T^T (x - \mu)` with T
diagonal (1 / standard deviation) or a whitening matrix, and products with z are taken as products with
x and small factors, so that sparse features stay sparse:

.. math:: Z A = X (T A) - \mu^T (T A), \qquad Z^T B = T^T (X^T B - \mu\, 1^T B).

What is left of the distribution, the third and fourth moments :math:`\kappa_j, \varphi_j` of each
coordinate, enters through :func:`split_diagonal`. A lens that is slightly off costs speed, never
truth: at the true model the residual is zero in any coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.contract import Block, Max, Min, Stats, record
from altmin.io.records import replace
from altmin.kernels.column_moments import central_sums, column_extremes
from altmin.kernels.gram import times

MAX_WHITENED = 1000  # columns: whitening is the only thing here that forms a d x d array
_SMALL_DETERMINANT = 0.05
_HELD_BYTES = 128 << 10  # of coordinates at a time: what is made of a slice stays in the cache


@record
class Lens:
    """An affine change of coordinates, and what is known of the features in them."""

    centre: Any  # (d,): mu
    T: Any  # (d,) or (d, d)
    target_centre: float
    target_scale: float
    kappa: Any = None  # (d,): third moments; None where the features are taken for Gaussian
    phi: Any = None  # (d,): fourth moments
    blind: Any = None  # (d,): columns whose square tells nothing (binary, constant)
    correlation: float = 0.0  # ||S - I||_2 before whitening
    skewness: float = 0.0  # max |kappa|
    excess: float = 0.0  # max |phi - 3|
    metric: Any = None  # (d, d): |u|^2 of a factor of the standardised columns, for factors of z; None: 1

    def factors(self, A: NDArray[Any]) -> NDArray[Any]:
        """T A: factors of z as factors of x - mu."""
        return self.T @ A if self.T.ndim == 2 else (self.T[:, None] * A if A.ndim == 2 else self.T * A)

    def gather(self, B: NDArray[Any], sums: Any) -> NDArray[Any]:
        """Z'b from X'b and 1'b."""
        B = B - (np.outer(self.centre, sums) if B.ndim == 2 else self.centre * sums)
        return self.T.T @ B if self.T.ndim == 2 else (self.T[:, None] * B if B.ndim == 2 else self.T * B)

    def project(self, X: Any, A: NDArray[Any]) -> NDArray[Any]:
        """Z A for a block of rows, in the dtype of X."""
        TA = self.factors(A)
        return times(X, TA.astype(X.dtype, copy=False)) - (self.centre @ TA).astype(X.dtype)

    def squares(self, X: Any, r: NDArray[Any], Xr: NDArray[Any], total: float) -> NDArray[Any]:
        """Sum over the rows of r z^2, coordinate by coordinate; ``Xr`` is X'r."""
        if self.T.ndim == 2:
            Z = self.project(X, np.eye(len(self.centre)))
            return np.square(Z).T @ r
        square = X.multiply(X).T @ r if sp.issparse(X) else np.square(X).T @ r
        return self.T**2 * (square - 2 * self.centre * Xr + self.centre**2 * total)

    @property
    def units(self) -> NDArray[Any]:
        """1 / standard deviation of each of the user's columns, 0 for constant ones."""
        if self.T.ndim == 1:
            return np.asarray(self.T)
        return np.sqrt(np.sum(self.T**2, axis=1) / np.maximum(np.diag(self.metric), 1e-300))

    @property
    def whitening(self) -> NDArray[Any] | None:
        """From standardised columns to z (transposed); None where they are z."""
        if self.T.ndim == 1:
            return None
        units = self.units
        return np.divide(self.T, units[:, None], out=np.zeros_like(self.T), where=units[:, None] > 0)

    def own_squares(self, X: Any, centred: bool) -> NDArray[Any]:
        """Squares of the standardised columns (minus 1, if centred), as float64; 0 for constant ones."""
        units = self.units
        X = X.toarray() if sp.issparse(X) else X
        S = (np.asarray(X, dtype=np.float64) - self.centre) * units
        return (np.square(S) - centred) * (units > 0)

    def target(self, y: NDArray[Any]) -> NDArray[Any]:
        """The target in units of its own spread."""
        return (y - self.target_centre) / self.target_scale


def split_diagonal(lens: Lens, h: NDArray[Any], g: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    r"""Solve each coordinate's pair of moments for its linear and its square coefficient.

    With :math:`h = E[r z]` and :math:`g = E[r (z^2 - 1)]` of a centred residual
    :math:`r = z^T \delta + z^T \Delta z`,

    .. math:: h = \delta + \kappa D, \; g = \kappa \delta + (\varphi - 1) D, \; D = \mathrm{diag}\,\Delta,

    so :math:`D = (g - \kappa h) / (\varphi - 1 - \kappa^2)` and :math:`\delta = h - \kappa D`. The
    determinant is zero for binary columns: the square repeats the column, and D is set to 0.

    Parameters
    ----------
    lens : Lens
        With ``kappa`` and ``phi``.
    h, g : ndarray of shape (d,)
        The moments.

    Returns
    -------
    delta, D : ndarray of shape (d,)
        Linear and square coefficients.
    """
    determinant = lens.phi - 1 - lens.kappa**2
    D = np.where(lens.blind, 0.0, (g - lens.kappa * h) / np.where(lens.blind, 1.0, determinant))
    return h - lens.kappa * D, D


def mean_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Means and extremes of features and target: the units in which the next round measures."""
    if block.y is None:
        raise ValueError("the blocks of X bring no target y: give tuples (X, y), or y beside X")
    weight = weights_of(block)
    seen = weight > 0
    y, w = block.y[seen].astype(np.float64), weight[seen]
    x, low, high = _extremes(block.X, weight)
    return {
        "n": float(w.sum()),
        "rows": int(seen.sum()),
        "x": x,
        "y": float(w @ y),
        "x_low": Min(low),
        "x_high": Max(high),
        "y_low": Min(y.min(initial=np.inf)),
        "y_high": Max(y.max(initial=-np.inf)),
    }


def shape_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Central moments in units of each column's range, and the covariance where it is wanted."""
    lens: Lens = state.lens
    w = weights_of(block)
    t = lens.target(block.y.astype(np.float64))  # type: ignore[union-attr]
    X = block.X
    wt = (w * t).astype(X.dtype)
    powers, products = _central_sums(X, lens, w, algorithm.may_whiten(X.shape[1]))
    stats = {
        "n": float(w.sum()),
        "powers": powers,
        "yy": float(w @ t**2),
        "y": float(w @ t),
        "xy": lens.gather(np.asarray(X.T @ wt, np.float64), float(w @ t)),
    }
    return stats if products is None else {**stats, "cov": products}


def first_lens(stats: Stats, centred: bool, target_centred: bool) -> Lens:
    """Units after :func:`mean_map`: the range of each column, 0 for constant ones."""
    if stats["n"] == 0:
        raise ValueError("sample_weight is 0 for all of the first rows: at least one must count")
    span = _span(stats["x_low"].value, stats["x_high"].value, centred)
    y_span = float(
        _span(np.array([stats["y_low"].value]), np.array([stats["y_high"].value]), target_centred)[0]
    )
    centre = stats["x"] / stats["n"] if centred else np.zeros_like(stats["x"])
    T = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
    return Lens(centre, T, stats["y"] / stats["n"] if target_centred else 0.0, y_span if y_span > 0 else 1.0)


def second_lens(lens: Lens, stats: Stats, moments: str, whiten: bool | str, raw: bool) -> Lens:
    """Standardise, and decide from the sample what the features need.

    Parameters
    ----------
    lens : Lens
        Of :func:`first_lens`.
    stats : Stats
        Of :func:`shape_map`.
    moments : {'auto', 'gaussian', 'sample'}
        Whether third and fourth moments are those of a Gaussian.
    whiten : bool or 'auto'
        Whether correlated columns are whitened.
    raw : bool
        Features are taken as they are (the printed algorithm).

    Returns
    -------
    Lens
        Standardised, perhaps whitened, with moments where they matter.
    """
    n = stats["n"]
    _, second, third, fourth = stats["powers"] / n
    sd = np.sqrt(np.maximum(second, 0.0))
    live = sd > 1e-12
    unit = np.divide(1.0, sd, out=np.zeros_like(sd), where=live)
    kappa, phi = third * unit**3, fourth * unit**4
    y_sd = float(np.sqrt(max(stats["yy"] / n, 0.0)))
    y_scale = lens.target_scale * (y_sd if y_sd > 0 else 1.0)
    about = {
        "skewness": float(np.max(np.abs(kappa[live]), initial=0.0)),
        "excess": float(np.max(np.abs(phi[live] - 3), initial=0.0)),
    }
    blind = ~live | (phi - 1 - kappa**2 < _SMALL_DETERMINANT * phi)
    if raw:
        identity = np.ones_like(lens.T)
        return Lens(np.zeros_like(lens.centre), identity, lens.target_centre, y_scale, blind=blind, **about)
    correction = moments == "sample" or (moments == "auto" and _not_gaussian(kappa[live], phi[live], n))
    T: NDArray[Any] = lens.T * unit
    correlation, metric = 0.0, None
    if "cov" in stats:
        S = stats["cov"] / n * np.outer(unit, unit)
        values, vectors = np.linalg.eigh(S)
        spread = values[values > 1e-10] - 1
        correlation = float(np.max(np.abs(spread), initial=0.0))
        d = max(int(live.sum()), 1)
        expected = 2 * np.sqrt(d / n) + d / n
        if whiten is True or correlation > expected + 0.1:
            # A small ridge: fewer rows than columns, or collinear ones, must not be blown up.
            ridge = 1e-9 + 1e-2 * d / n
            root = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 0) + ridge), 0.0)
            T = T[:, None] * ((vectors * root) @ vectors.T)
            metric = (vectors * root**2) @ vectors.T
    return Lens(
        lens.centre,
        T,
        lens.target_centre,
        y_scale,
        kappa if correction else None,
        phi if correction else None,
        blind,
        correlation,
        **about,
        metric=metric,
    )


def whitened_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Moments of the whitened coordinates."""
    w = weights_of(block)
    Z = state.lens.project(block.X, np.eye(block.X.shape[1]))
    square = Z * Z
    return {
        "n": float(w.sum()),
        "powers": np.array([w @ Z, w @ square, w @ (square * Z), w @ (square * square)]),
    }


def whitened_lens(lens: Lens, stats: Stats, moments: str) -> Lens:
    """The lens with the moments of its whitened coordinates, where they aren't those of a Gaussian."""
    n = stats["n"]
    _, second, third, fourth = stats["powers"] / n
    unit = np.where(second > 1e-3, 1 / np.sqrt(np.maximum(second, 1e-3)), 0.0)
    kappa, phi = third * unit**3, fourth * unit**4
    live = unit > 0
    blind = ~live | (phi - 1 - kappa**2 < _SMALL_DETERMINANT * phi)
    about = {
        "skewness": float(np.max(np.abs(kappa[live]), initial=0.0)),
        "excess": float(np.max(np.abs(phi[live] - 3), initial=0.0)),
    }
    if moments == "auto" and not _not_gaussian(kappa[live], phi[live], n):
        return replace(lens, kappa=None, phi=None, **about)
    return replace(lens, kappa=kappa, phi=phi, blind=blind, **about)


def weights_of(block: Block) -> NDArray[Any]:
    """The rows' weights, 1 where none were given."""
    return np.ones(block.n_rows) if block.weight is None else block.weight.astype(np.float64)


def _not_gaussian(kappa: NDArray[Any], phi: NDArray[Any], n: float) -> bool:
    """Whether some column's moments are off by more than sampling explains."""
    limit = 5 + np.sqrt(2 * np.log(max(len(kappa), 1)))
    return bool(
        (np.abs(kappa) > limit * np.sqrt(6 / n)).any() or (np.abs(phi - 3) > limit * np.sqrt(24 / n)).any()
    )


def _span(low: NDArray[Any], high: NDArray[Any], centred: bool) -> NDArray[Any]:
    return high - low if centred else np.maximum(np.abs(low), np.abs(high))


def _extremes(X: Any, w: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Sums of the columns over rows that count, their minima and their maxima."""
    if sp.issparse(X):
        X = X[w > 0]
        sums = np.asarray(X.T @ w[w > 0].astype(X.dtype), dtype=np.float64)
        if not X.shape[0]:
            return sums, np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
        low, high = (part.toarray().ravel().astype(float) for part in (X.min(axis=0), X.max(axis=0)))
        return sums, low, high
    sums = np.zeros(X.shape[1])
    low, high = np.full_like(sums, np.inf), np.full_like(sums, -np.inf)
    column_extremes(X, w, sums, low, high)
    return sums, low, high


def _central_sums(
    X: Any, lens: Lens, w: NDArray[Any], whiten: bool
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Sums of ((x - mu) T)^p for p = 1..4, one row a power; and of products, where they are wanted."""
    d = X.shape[1]
    if not sp.issparse(X):
        powers, products = np.zeros((4, d)), np.zeros((d, d) if whiten else (0, 0))
        height = max(_HELD_BYTES // (8 * d), 8)
        central_sums(X, lens.centre, lens.T, w, height, powers, products)
        return powers, products if whiten else None
    zero = -lens.centre * lens.T  # what an entry that isn't stored becomes
    stored, empty = X.data * lens.T[X.indices] + zero[X.indices], zero[X.indices]
    sums = []
    for power in (1, 2, 3, 4):
        moved = sp.csr_array((stored**power - empty**power, X.indices, X.indptr), shape=X.shape)
        sums.append(np.asarray(moved.T @ w) + w.sum() * zero**power)
    return np.array(sums), _products(X, lens, w) if whiten else None


def _products(X: Any, lens: Lens, w: NDArray[Any]) -> NDArray[Any]:
    """Sums of products of sparse columns."""
    Z = sp.csr_array(X.astype(np.float64) * lens.T[None, :])
    m = lens.centre * lens.T
    total = np.asarray(Z.T @ w)
    cross = np.outer(total, m)
    return (Z.T @ (Z * w[:, None])).toarray() - cross - cross.T + w.sum() * np.outer(m, m)
