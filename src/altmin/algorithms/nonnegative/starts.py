r"""Starts from the data alone, on the coordinates of a :class:`~altmin.algorithms.nonnegative.subspace.View`.

SPA (successive projection; Araujo et al. 2001, Gillis and Vavasis 2014) takes the sample farthest from
the span of those taken so far. VCA (Nascimento and Bioucas-Dias 2005) takes the one farthest along a
random direction orthogonal to them. Both are one argmax over all samples for each component, so they run
out of core. Samples are compared on the simplex (divided by their sums) where the data are non-negative
and without noise: there the size of a sample says nothing about its purity. With noise it does: small
samples are mostly noise, and dividing by their sums would make them the extreme ones.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.algorithms.nonnegative.subspace import COLUMNS, View, coordinates, weights
from altmin.contract import ArgMax, Block, Concat, Round, Rows, Stats, record
from altmin.io.records import replace
from altmin.kernels.gram import row_norms2


@record
class Picks:
    """The samples taken so far."""

    picked: Any  # (j, K) coordinates of the samples
    directions: Any  # (j, K) orthonormal, the span of their normalised forms
    probe: Any = None  # (K,) the random direction of VCA
    seed: int = 0
    done: bool = False


def begin_picks(view: View, method: str, seed: int) -> Picks:
    """Nothing taken yet."""
    empty = np.zeros((0, view.basis.shape[1]), view.basis.dtype)
    return _next_probe(Picks(empty, empty, seed=seed), method)


def picks_round(picks: Picks, method: str, rows: Rows, n: int) -> Round:
    """The pass that takes the next of n samples (random ones: all); its ``then`` takes and gives Picks."""
    seen: dict[str, Any] = {"name": "start", "reads": COLUMNS, "needs_data": False}
    farthest = partial(_take_farthest, method=method, n=n)
    match method:
        case "random":
            return Round(lottery_map, rows, then=partial(_take_winners, n=n), **seen)
        case "vca":
            return Round(vca_map, rows, then=farthest, **seen)
    if not len(picks.directions):
        return Round(norms_map, rows, writes=("left",), then=farthest, **seen)
    seen["reads"] += ("left",)
    return Round(spa_map, rows, writes=("left",), then=farthest, **seen)


def _take_winners(picks: Picks, stats: Stats, n: int) -> Picks:
    """The samples with the lowest tickets."""
    order = np.argsort(stats["tickets"].value, kind="stable")[:n]
    return replace(picks, picked=stats["samples"].value[order], done=True)


def _take_farthest(picks: Picks, stats: Stats, method: str, n: int) -> Picks:
    """Take the best sample; done when there are n, or when the samples span no more directions."""
    best = stats["farthest"]
    sample, point = best.payload
    left = point - (point @ picks.directions.T) @ picks.directions
    left -= (left @ picks.directions.T) @ picks.directions
    norm, size = float(np.linalg.norm(left)), float(np.linalg.norm(point))
    if not norm > 100 * np.finfo(left.dtype).eps * size:
        return replace(picks, done=True)
    picks = replace(
        picks,
        picked=np.vstack([picks.picked, sample]),
        directions=np.vstack([picks.directions, left / norm]),
    )
    found, K = picks.picked.shape
    return _next_probe(replace(picks, done=found >= min(n, K)), method)


def norms_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """First pass of SPA: the sample of largest norm."""
    points, fit = _points(state.view, block)
    return _farthest(block, points, np.where(fit, row_norms2(points), -1.0))


def spa_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Next pass: the newest direction is taken out of what is left of each squared norm.

    Only norms of residuals are needed, and they fall by the squared coordinate along each direction.
    """
    points, _ = _points(state.view, block)
    along = (points @ state.picks.directions[-1]).astype(np.float64)
    return _farthest(block, points, block.columns["left"] - along**2)


def vca_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """The sample farthest along the probe, to either side."""
    points, fit = _points(state.view, block)
    along = np.abs(points @ state.picks.probe).astype(np.float64)
    return _farthest(block, points, np.where(fit, along, -1.0))[0]


def lottery_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Samples of the block with a random ticket each; the lowest win."""
    keep = weights(block) > 0
    tickets = block.rng().random(block.n_rows)
    keep &= tickets <= np.sort(np.where(keep, tickets, 2.0))[: algorithm.n_components][-1]
    return {
        "tickets": Concat(tickets[keep]),
        "samples": Concat(np.array(block.columns["coordinates"][keep])),
    }


def anchor_words(view: View, moments: NDArray[Any], n: int) -> NDArray[Any]:
    """Topics from anchor words (Arora et al. 2013), in the coordinates of the view.

    Row w of the normalised co-occurrence X'X says with which words w occurs; those of anchor words
    are the corners, SPA finds them, and each corner is close to a topic's own co-occurrence.
    """
    basis = np.asarray(view.basis, dtype=np.float64)
    rows = basis @ moments  # co-occurrence of each word, in coordinates
    sums = rows @ basis.sum(axis=0)
    common = sums > 1e-3 * np.mean(sums[sums > 0])
    points = rows / np.where(common, sums, 1.0)[:, None]
    anchors = np.flatnonzero(common)[spa(points[common], n, project=False)]
    # p(topic | word) from the corners, Bayes to p(word | topic), then back to coordinates.
    share = np.maximum(points @ np.linalg.pinv(points[anchors]), 0.0) * np.where(common, sums, 0.0)[:, None]
    return np.ascontiguousarray((basis.T @ share).T)


def _points(view: View, block: Block) -> tuple[NDArray[Any], NDArray[Any]]:
    """Samples as a start compares them, and which of them may be taken."""
    S, fit = coordinates(view, block), weights(block) > 0
    if not (view.nonnegative and view.noiseless):
        return S, fit
    sums = S @ view.basis.sum(axis=0)
    fit = fit & (sums > 1e-3 * np.sqrt(view.energy / max(view.count, 1.0)))
    return S / np.where(fit, sums, 1.0)[:, None], fit


def _farthest(block: Block, points: NDArray[Any], value: NDArray[Any]) -> tuple[Stats, dict[str, Any]]:
    row = int(np.argmax(value))
    payload = (np.array(block.columns["coordinates"][row]), np.array(points[row]))
    return {"farthest": ArgMax(float(value[row]), block.start + row, payload)}, {"left": value}


def _next_probe(picks: Picks, method: str) -> Picks:
    if method != "vca":
        return picks
    found, K = picks.directions.shape
    probe = np.random.default_rng([picks.seed, found]).standard_normal(K)
    probe -= (probe @ picks.directions.T) @ picks.directions
    norm = np.linalg.norm(probe)
    return replace(picks, probe=(probe / norm if norm > 0 else probe).astype(picks.picked.dtype))
