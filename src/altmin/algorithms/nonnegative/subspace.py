r"""A view of the data in few coordinates: the first rounds of AND, and of every start.

Stages cost nothing in the number of features W once the data are written in coordinates:

- *Exactly.* A random sketch of the rows finds their span, and a pass proves that nothing is left over.
  If :math:`Y = S Q^T` with orthonormal Q (W x K), every stage on Y is the same stage on S.
- *To rank D.* Data with noise are projected onto their D leading directions. This changes the
  algorithm (the paper decodes in all W directions), for the better: the noise outside is gone. The
  directions of narrow rows come from their Gram matrix, in one pass; those of wide ones from subspace
  iteration, in four.

Before the second, gross outliers are screened out: a sample that takes a leading direction for itself
(leverage), or that lies far outside the leading directions of the others, is left out of the fit and
named. It is directions that are compared, not sizes: the screen looks at large samples as if they were of
the median size. Where what is left would have fewer directions than before, the samples carried one, and all
are kept. All of it is sums over rows: Gram matrices of K coordinates, histograms for medians. Directions that
were found with the outliers among the samples are found again without them, and all judged once more.

Where entries are missing, `holes` finds the leading directions and coordinates.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.holes import (
    begin_completion,
    complete_map,
    coordinates_map,
    update_completion,
)
from altmin.contract import Block, Concat, Max, Min, Round, Rows, Stats, record
from altmin.io.records import replace
from altmin.kernels.counts import refuse_negative
from altmin.kernels.gram import row_norms2, times, transpose_times

_POWER_ROUNDS = 4
_GRAM_WIDTHS = 8  # 2 W operations an entry, against 4 x 4 widths
_SCREEN_ROUNDS = 6
_RARE = 1e-9  # added to frequencies: features that never occur
_OCTAVES = (-104, 24)  # of squared residuals relative to the mean square of a sample, 4 bins each
_STANDS = 1.2  # eigenvalue of a direction over that of the next: it is more than noise
COLUMNS = ("coordinates", "weight", "outside")


@record
class View:
    """The data as the stages see them, and what the first passes learned."""

    phase: str
    basis: Any = None  # (W, K) orthonormal, or None: the data's own coordinates
    columns: bool = False  # whether the coordinates are a row column
    exact: bool = False  # whether the coordinates hold all of the data
    noiseless: bool = False  # whether the kept samples have no more directions than components
    count: float = 0.0  # number of samples, by weight
    energy: float = 0.0  # sum of squares of the data
    nonnegative: bool = False
    weighted: bool = False  # whether weights other than 0 and 1 occur
    rounds: int = 0
    turn: Any = None  # (K, D) leading directions of the kept samples, with ...
    values: Any = None  # ... their eigenvalues
    stands: bool = True  # whether the last leading direction is more than noise, and ...
    stood: bool = True  # ... was so before the screen
    limit: float = np.inf  # squared residual above which a sample is dropped
    typical: float = np.inf  # median of the squared norms of the samples
    gram: bool = False  # whether the leading directions come from the Gram matrix
    cleaned: bool = False  # whether the directions were found again without what was screened out
    dropped: Any = None  # row numbers of the samples that were screened out, and ...
    lost: float = 0.0  # ... their share of the squares of the data
    completion: Any = None  # of data with holes: the low-rank model that gave the coordinates
    noise: float = 0.0  # standard deviation of an entry outside the leading directions (0: not known)
    mean: Any = None  # (K,) mean coordinates of the kept samples
    negative_share: float = 0.0  # squares of the negative entries, relative to all squares
    scale: Any = None  # (W,) of counts: factors that give all features the same noise


@record
class Reduction:
    """What to reduce to. ``rank=None``: exactly or not at all; ``screen``: leave gross outliers out.

    ``missing``: the data have holes; a rank is needed then. ``counts``: samples are divided by the roots of
    their totals and features by the roots of their frequencies, so that Poisson noise is the same everywhere.
    """

    rank: int | None
    width: int
    screen: bool = True
    missing: bool = False
    counts: bool = False

    def begin(self, n_features: int, sparse: bool, dtype: Any) -> View:
        """Before any data: a sketch can say something only if it is narrower than the data."""
        if self.missing:
            return View("complete", completion=begin_completion(n_features, self.rank or n_features, dtype))
        if self.counts:
            return View("frequencies")
        return self._first(n_features, sparse, dtype)

    def _whitened(self, view: View, stats: Stats, dtype: Any) -> View:
        """Poisson noise of an entry goes with the total of its sample and the frequency of its feature."""
        columns = stats["columns"]
        frequency = columns / max(columns.sum(), 1.0)
        sparse, W = bool(stats["sparse"].value), len(columns)
        if sparse or W <= self.width:
            first = self._first(W, sparse, dtype)
        else:  # noise spans all directions: no sketch finds a smaller span
            first = self._noisy(View("ready"), W, dtype)
        return replace(first, scale=(1.0 / np.sqrt(frequency + _RARE)).astype(dtype))

    def _first(self, n_features: int, sparse: bool, dtype: Any) -> View:
        if not sparse and n_features > self.width:
            return View("sketch")
        if self.rank is None:
            return View("ready")
        if not sparse and n_features <= 2 * self.width:
            return View("project")
        return self._power_start(View("power"), n_features, dtype)

    def round(self, view: View, rows: Rows, dtype: Any) -> Round:
        """The pass that comes next; its ``then`` takes and gives a View."""
        known = ("weight",) if view.cleaned else ()
        seen: dict[str, Any] = {
            "reads": COLUMNS if view.columns else COLUMNS[1:],
            "needs_data": not view.columns,
        }
        match view.phase:
            case "complete":
                return Round(complete_map, rows, name="complete", holes=True, then=_completed)
            case "coordinates":
                return Round(coordinates_map, rows, name="complete", writes=COLUMNS, holes=True, then=_placed)
            case "frequencies":
                return Round(totals_map, rows, name="subspace", then=partial(self._whitened, dtype=dtype))
            case "sketch":
                return Round(sketch_map, rows, name="subspace", reads=known, then=self._sketched)
            case "gram":
                return Round(gram_map, rows, name="subspace", reads=known, then=self._directions)
            case "power":
                return Round(power_map, rows, name="subspace", reads=known, then=_powered)
            case "project":
                writes = COLUMNS if view.basis is not None else COLUMNS[1:]
                return Round(
                    project_map, rows, name="subspace", writes=writes, reads=known, then=self._projected
                )
            case "moments":
                return Round(moments_map, rows, name="screen", then=self._summed, **seen)
            case "sizes":
                return Round(sizes_map, rows, name="screen", then=_sized, **seen)
            case "directions":
                return Round(directions_map, rows, name="screen", then=self._directed, **seen)
            case "judge":
                return Round(
                    judge_map, rows, name="screen", writes=("leverage", "leftover"), then=set_limit, **seen
                )
            case "drop":
                seen["reads"] += ("leverage", "leftover")
                return Round(drop_map, rows, name="screen", writes=("weight",), then=self._dropped, **seen)
        turned = partial(_turned, dtype=dtype)
        return Round(turn_map, rows, name="subspace", writes=("coordinates", "outside"), then=turned, **seen)

    def _sketched(self, view: View, stats: Stats) -> View:
        """The span of the rows, if the sketch has room to spare; otherwise the leading directions."""
        view, sketch = _learn(view, stats), stats["sketch"]
        W = sketch.shape[1]
        _, s, Vt = np.linalg.svd(sketch, full_matrices=False)
        K = max(int(np.sum(s > _tolerance(sketch.dtype) * s[0])), 1)
        if K <= min(sketch.shape) - 5:
            return replace(view, phase="project", basis=np.ascontiguousarray(Vt[:K].T), exact=True)
        if self.rank is None:
            return replace(view, phase="ready")
        return self._noisy(view, W, sketch.dtype)

    def _noisy(self, view: View, n_features: int, dtype: Any) -> View:
        """Where dense rows span all directions: those of narrow ones are turned once, without a sketch."""
        if n_features <= 2 * self.width:
            return replace(view, phase="project")
        return self._leading_start(view, n_features, dtype)

    def _leading_start(self, view: View, n_features: int, dtype: Any) -> View:
        """The Gram matrix of dense rows gives their leading directions in one pass, and up to this width with
        fewer operations than the passes of subspace iteration take.
        """
        if n_features <= _GRAM_WIDTHS * self.width:
            return replace(view, phase="gram", basis=None, exact=False, gram=True)
        return self._power_start(view, n_features, dtype)

    def _power_start(self, view: View, n_features: int, dtype: Any) -> View:
        # The directions are random but always the same: a fit has no seed unless its start has one.
        directions = np.random.default_rng(0).standard_normal((n_features, min(self.width, n_features)))
        return replace(view, phase="power", basis=directions.astype(dtype), exact=False, rounds=0)

    def _directions(self, view: View, stats: Stats) -> View:
        """The leading eigenvectors of the Gram matrix."""
        gram = stats["gram"]
        directions = np.linalg.eigh(gram.astype(np.float64))[1][:, : -self.width - 1 : -1]
        basis = np.ascontiguousarray(directions, gram.dtype)
        return replace(_learn(view, stats), phase="project", basis=basis)

    def _projected(self, view: View, stats: Stats) -> View:
        """Whether a basis that should hold all of the data does; if not, the leading directions."""
        view = _learn(view, stats)
        if view.exact and not stats["worst"].value <= (10 * _tolerance(view.basis.dtype)) ** 2:
            if self.rank is None:
                return replace(view, phase="ready", basis=None, exact=False)
            W, dtype = len(view.basis), view.basis.dtype
            return self._noisy(replace(view, basis=None, exact=False), W, dtype)
        view = replace(view, columns=view.basis is not None)
        if self.rank is None:
            return replace(view, phase="ready")
        return replace(view, phase="sizes" if self.screen else "moments")

    def _summed(self, view: View, stats: Stats) -> View:
        """The leading directions of what the screen has kept; without a screen, or before it, of all."""
        screened = not self.screen or view.dropped is not None
        view = _leading(view, stats["moments"], self.rank)
        return replace(view, phase="turn" if screened else "sizes")

    def _directed(self, view: View, stats: Stats) -> View:
        view = _leading(view, stats["moments"], self.rank)
        return replace(view, phase="judge", rounds=0, stood=view.stands)

    def _dropped(self, view: View, stats: Stats) -> View:
        """Next look at the samples that are left; give up the screen where it would take too much."""
        rounds = view.rounds + 1
        given_up = view.values is None
        after = _leading(view, stats["moments"], self.rank)
        ends = given_up or rounds >= _SCREEN_ROUNDS or stats["changed"] == 0
        carried = ends and view.stood and not after.stands
        if stats["lost"] > 0.2 * view.count or (carried and stats["lost"] > 0):
            return replace(view, phase="drop", limit=np.inf, values=None, rounds=_SCREEN_ROUNDS)
        lost = float(stats["mass"] / view.energy) if view.energy > 0 else 0.0
        view = replace(after, rounds=rounds, dropped=stats["ids"].value, lost=lost)
        if not ends:
            return replace(view, phase="judge")
        found_with_outliers = len(view.dropped) and view.basis is not None and not view.exact
        if found_with_outliers and not view.cleaned and view.completion is None:
            return replace(view, phase="gram" if view.gram else "power", rounds=0, cleaned=True, dropped=None)
        return replace(view, phase="moments")


def _completed(view: View, stats: Stats) -> View:
    completion = update_completion(view.completion, stats)
    return replace(view, completion=completion, phase="coordinates" if completion.done else "complete")


def _placed(view: View, stats: Stats) -> View:
    completion = replace(view.completion, poor=stats["poor"] / stats["rows"])
    view = replace(_learn(view, stats), completion=completion, basis=completion.basis, columns=True)
    return replace(view, exact=completion.exact, phase="moments")


def _powered(view: View, stats: Stats) -> View:
    """The directions after a step of subspace iteration."""
    power = stats["power"]
    basis = np.linalg.qr(power.astype(np.float64))[0].astype(power.dtype)
    view = replace(_learn(view, stats), basis=basis, rounds=view.rounds + 1)
    return replace(view, phase="project") if view.rounds >= _POWER_ROUNDS else view


def _turned(view: View, stats: Stats, dtype: Any) -> View:
    """The leading directions of the kept samples are the basis."""
    basis = view.turn if view.basis is None else view.basis @ view.turn
    exact = view.exact and view.turn.shape[0] == view.turn.shape[1]
    W, D = basis.shape
    free = max(stats["kept"] - D, 1.0) * max(W - D, 1)
    noise = 0.0 if view.completion is not None else float(np.sqrt(stats["outside"] / free))
    mean = stats["sum"] / max(stats["kept"], 1.0)
    view = replace(view, basis=basis.astype(dtype), exact=exact, columns=True, turn=None, values=None)
    return replace(view, phase="ready", noise=noise, mean=mean)


def coordinates(view: View, block: Block) -> Any:
    """The block in the coordinates of the view."""
    return block.columns["coordinates"] if view.columns else seen(view, block).X


def seen(view: View, block: Block) -> Block:
    """The block as the fit looks at it: counts with the same noise everywhere, other data as they are."""
    if view.scale is None:
        return block
    totals = np.asarray(block.X.sum(axis=1), np.float64).ravel()
    rows = (1.0 / np.sqrt(np.maximum(totals, 1.0))).astype(block.X.dtype)
    if sp.issparse(block.X):
        X = block.X
        data = X.data * np.repeat(rows, np.diff(X.indptr)) * view.scale[X.indices]
        return replace(block, X=sp.csr_array((data, X.indices, X.indptr), shape=X.shape))
    return replace(block, X=block.X * rows[:, None] * view.scale)


def totals_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Totals of the features."""
    refuse_negative(block.X, block.start)
    columns = np.asarray(np.maximum(weights(block), 0.0) @ block.X, np.float64).ravel()
    return {"columns": columns, "sparse": Max(float(sp.issparse(block.X)))}


def weights(block: Block) -> NDArray[Any]:
    """Weights of the block's rows: the user's or ones; not positive where the screen left a row out."""
    if "weight" in block.columns:
        return block.columns["weight"]
    return np.ones(block.n_rows) if block.weight is None else block.weight.astype(np.float64)


def sketch_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Random signed sums of the unit rows: their span is that of the rows, up to the sketch's width."""
    block = seen(state.view, block)
    w = weights(block)
    norms = np.sqrt(row_norms2(block.X))
    scale = np.where(w > 0, 1.0 / np.where(norms > 0, norms, 1.0), 0.0)
    rng = np.random.default_rng(block.start)  # not the fit's seed: this start has no randomness to choose
    signs = 2.0 * rng.integers(0, 2, (block.n_rows, algorithm.reduction.width), np.int8) - 1.0
    signs *= scale[:, None]
    return {"facts": _facts(block, w, norms), "sketch": transpose_times(signs.astype(block.X.dtype), block.X)}


def gram_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """X'X of the kept samples."""
    block = seen(state.view, block)
    w = weights(block)
    rows = block.X
    if not np.all(w == 1.0):
        rows = rows * np.sqrt(np.maximum(w, 0.0)).astype(rows.dtype)[:, None]
    return {"facts": _facts(block, w, np.sqrt(row_norms2(block.X))), "gram": rows.T @ rows}


def power_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """A step of subspace iteration, X'X times the directions."""
    block = seen(state.view, block)
    w = weights(block)
    along = times(block.X, state.view.basis) * np.maximum(w, 0.0).astype(block.X.dtype)[:, None]
    return {
        "facts": _facts(block, w, np.sqrt(row_norms2(block.X))),
        "power": transpose_times(along, block.X).T,
    }


def project_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Coordinates of the rows, and what lies outside."""
    block = seen(state.view, block)
    w, basis = weights(block), state.view.basis
    squares = row_norms2(block.X)
    columns = {"weight": w, "outside": np.zeros(block.n_rows)}
    if basis is not None:
        S = times(block.X, basis)
        columns["coordinates"] = S
        inside = row_norms2(S)
        left = squares - inside if sp.issparse(block.X) else row_norms2(block.X - S @ basis.T)
        columns["outside"] = np.maximum(left, 0.0)
    share = columns["outside"] / np.where(squares > 0, squares, 1.0)
    stats = {
        "facts": _facts(block, w, np.sqrt(squares)),
        "worst": Max(float(np.max(share[w > 0], initial=0.0))),
    }
    return stats, columns


def moments_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Gram matrix of the coordinates of the kept samples."""
    S = coordinates(state.view, block)
    return {"moments": _moments(S, weights(block))}


def sizes_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """How many samples are of which size."""
    mean = state.view.energy / max(state.view.count, 1.0)
    return {"squares": _histogram(_squares(state.view, block), mean, np.maximum(weights(block), 0.0))}


def _sized(view: View, stats: Stats) -> View:
    mean = view.energy / max(view.count, 1.0)
    return replace(view, phase="directions", typical=_median(stats["squares"], mean))


def directions_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Gram matrix of the kept samples, none larger than the median size."""
    S = coordinates(state.view, block)
    return {"moments": _moments(S, weights(block) * _shrink(state.view, block))}


def judge_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Leverage and residual of every sample with respect to the leading directions of the kept ones."""
    view = state.view
    S, shrink = coordinates(view, block), _shrink(view, block)
    T = S @ view.turn
    leverage = shrink * np.sum(np.square(T, dtype=np.float64) / view.values, axis=1)
    leftover = shrink * (_leftover(S, T) + block.columns["outside"])
    kept = np.maximum(weights(block), 0.0)
    stats = {"leftover": _histogram(leftover, view.typical, kept)}
    return stats, {"leverage": leverage, "leftover": leftover}


def set_limit(view: View, stats: Stats) -> View:
    """A sample is dropped where its residual is far above the median."""
    median = _median(stats["leftover"], view.typical)
    return replace(view, phase="drop", limit=25 * median + 1e-12 * view.typical)


def drop_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Leave out the samples that failed; those that now pass come back."""
    view, columns = state.view, block.columns
    # Given weights are kept in sign: a sample that is left out has minus its weight.
    given, rank = np.abs(columns["weight"]), len(view.turn.T)
    bad = np.zeros(len(given), bool)
    if view.values is not None:
        bad = (columns["leverage"] > max(0.3, 10 * rank / view.count)) | (columns["leftover"] > view.limit)
    bad &= given > 0
    weight = np.where(bad, -given, given)
    stats = {
        "moments": _moments(coordinates(view, block), weight * _shrink(view, block)),
        "lost": float(given[bad].sum()),
        "mass": float(given[bad] @ _squares(view, block)[bad]),
        "changed": float(np.sum(weight != columns["weight"])),
        "ids": Concat(block.start + np.flatnonzero(bad)),
    }
    return stats, {"weight": weight}


def _squares(view: View, block: Block) -> NDArray[Any]:
    """Squared norms of the samples."""
    return row_norms2(coordinates(view, block)) + block.columns["outside"]


def _shrink(view: View, block: Block) -> NDArray[Any]:
    """What large samples have to be weighted by to be of the median size."""
    return view.typical / np.maximum(_squares(view, block), max(view.typical, np.finfo(float).tiny))


def turn_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Coordinates along the leading directions alone."""
    S = coordinates(state.view, block)
    T = S @ state.view.turn
    outside, kept = _leftover(S, T) + block.columns["outside"], np.maximum(weights(block), 0.0)
    stats = {"kept": float(kept.sum()), "outside": float(kept @ outside), "sum": kept @ T.astype(np.float64)}
    return stats, {"coordinates": T, "outside": outside}


def _leftover(S: NDArray[Any], T: NDArray[Any]) -> NDArray[Any]:
    """Squared norm of what T, the coordinates of S along orthonormal directions, does not hold."""
    if S.shape[1] == T.shape[1]:
        return np.zeros(len(S))
    return np.maximum(row_norms2(S) - row_norms2(T), 0.0)


def _moments(S: NDArray[Any], weight: NDArray[Any]) -> NDArray[Any]:
    S = S.astype(np.float64, copy=False)
    return (S * np.maximum(weight, 0.0)[:, None]).T @ S


def _leading(view: View, moments: NDArray[Any], rank: int | None) -> View:
    values, V = np.linalg.eigh(moments)
    found = int(np.sum(values > values[-1] * len(values) * 4 * np.finfo(np.float64).eps))
    D = max(min(rank or len(values), found), 1)
    turn = np.ascontiguousarray(V[:, ::-1][:, :D])
    values = np.maximum(values[::-1], np.finfo(float).tiny)
    stands = found >= (rank or 1) and (len(values) == D or bool(values[D - 1] > _STANDS * values[D]))
    noiseless = found <= D and (view.completion is None or view.completion.exact)
    return replace(view, turn=turn, values=values[:D], noiseless=noiseless, stands=stands)


def _facts(block: Block, w: NDArray[Any], norms: NDArray[Any]) -> Stats:
    """What the first pass learns besides its own purpose."""
    w = np.abs(w)  # what was screened out counts as a sample
    values = block.X.data if sp.issparse(block.X) else block.X if w.all() else block.X[w > 0]
    lowest = float(np.min(values, initial=0.0))
    return {
        "count": float(w.sum()),
        "energy": float(w @ np.square(norms)),
        "lowest": Min(lowest),
        "below": float(np.sum(np.square(np.minimum(values, 0.0), dtype=np.float64))) if lowest < 0 else 0.0,
        "uneven": Max(float(np.max(np.abs(w[w > 0] - 1.0), initial=0.0))),
    }


def _learn(view: View, stats: Stats) -> View:
    facts = stats["facts"]
    return replace(
        view,
        count=facts["count"],
        energy=facts["energy"],
        nonnegative=bool(facts["lowest"].value >= 0),
        negative_share=float(facts["below"] / facts["energy"]) if facts["energy"] > 0 else 0.0,
        weighted=bool(facts["uneven"].value > 0),
    )


def _histogram(values: NDArray[Any], unit: float, weight: NDArray[Any]) -> NDArray[Any]:
    """Weights of values in bins of a quarter of an octave, from which `_median` reads."""
    low, high = _OCTAVES
    relative = np.log2(np.maximum(values / (unit if unit > 0 else 1.0), 2.0**low))
    place = np.minimum(4 * (relative - low), 4 * (high - low) - 1).astype(np.intp)
    return np.bincount(place, weights=weight, minlength=4 * (high - low))


def _median(counts: NDArray[Any], mean: float) -> float:
    """Upper edge of the bin in which half of the weight is reached, as a squared residual."""
    place = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    return float(mean * 2.0 ** (_OCTAVES[0] + (place + 1) / 4))


def _tolerance(dtype: Any) -> float:
    return 1e-12 if np.dtype(dtype) == np.float64 else 2e-6
