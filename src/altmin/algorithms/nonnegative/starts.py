r"""Starts from the data alone, on the coordinates of a :class:`~altmin.algorithms.nonnegative.subspace.View`.

SPA (successive projection; Araujo et al. 2001, Gillis and Vavasis 2014) takes the sample farthest from
the span of those taken so far. VCA (Nascimento and Bioucas-Dias 2005) takes the one farthest along a
random direction orthogonal to them. Both run out of core: VCA is one argmax over all samples for each
component, and a pass of SPA takes as many samples as it can. What is left of a sample only gets smaller, so
among those of which most was left the farthest one is known until it falls below the last of them. Samples
are compared on the simplex (divided by their sums) where the data are non-negative and without noise: there
the size of a sample says nothing about its purity. With noise it does: small samples are mostly noise, and
dividing by their sums would make them the extreme ones.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.algorithms.nonnegative.subspace import COLUMNS, View, coordinates, weights
from altmin.contract import ArgMax, Block, Concat, Round, Rows, Stats, TopRows, record
from altmin.io.records import replace
from altmin.kernels.gram import row_norms2

_AHEAD = 256  # samples of which most is left, among which a pass of SPA goes on


@record
class Picks:
    """The samples taken so far."""

    picked: Any  # (j, K) coordinates of the samples
    directions: Any  # (j, K) orthonormal, the span of their normalised forms
    known: int = 0  # how many of these have been taken out of what is left of each sample
    probe: Any = None  # (K,) the random direction of VCA
    seed: int = 0
    done: bool = False


def begin_picks(view: View, method: str, seed: int) -> Picks:
    """Nothing taken yet."""
    empty = np.zeros((0, view.basis.shape[1]), view.basis.dtype)
    picks = Picks(empty, empty, seed=seed)
    return _next_probe(picks) if method == "vca" else picks


def picks_round(picks: Picks, method: str, rows: Rows, n: int) -> Round:
    """The pass that takes the next of n samples (random ones: all); its ``then`` takes and gives Picks."""
    seen: dict[str, Any] = {"name": "start", "reads": COLUMNS, "needs_data": False}
    match method:
        case "random":
            return Round(lottery_map, rows, then=partial(_take_winners, n=n), **seen)
        case "vca":
            return Round(vca_map, rows, then=partial(_take_probed, n=n), **seen)
    if len(picks.directions):
        seen["reads"] += ("left",)
    return Round(spa_map, rows, writes=("left",), then=partial(_take_farthest, n=n), **seen)


def _take_winners(picks: Picks, stats: Stats, n: int) -> Picks:
    """The samples with the lowest tickets."""
    order = np.argsort(stats["tickets"].value, kind="stable")[:n]
    return replace(picks, picked=stats["samples"].value[order], done=True)


def _take_probed(picks: Picks, stats: Stats, n: int) -> Picks:
    """Take the sample farthest along the probe."""
    sample, point = stats["farthest"].payload
    return _next_probe(_taken(picks, sample, point, n))


def _take_farthest(picks: Picks, stats: Stats, n: int) -> Picks:
    """Take the farthest sample, and the next ones as long as they are known to be that."""
    top = stats["farthest"]
    left, (samples, points) = top.values, np.split(top.payload, 2, axis=1)
    lowest = left[-1] if len(left) == top.k else -np.inf
    before = len(picks.directions)
    best = 0
    while True:
        picks = replace(_taken(picks, samples[best], points[best], n), known=before)
        if picks.done:
            return picks
        left = left - (points @ picks.directions[-1]).astype(np.float64) ** 2
        best = int(np.argmax(left))
        if left[best] <= lowest:
            return picks


def _taken(picks: Picks, sample: NDArray[Any], point: NDArray[Any], n: int) -> Picks:
    """With one more sample; done when there are n, or when the samples span no more directions."""
    left = point - (point @ picks.directions.T) @ picks.directions
    left -= (left @ picks.directions.T) @ picks.directions
    norm, size = float(np.linalg.norm(left)), float(np.linalg.norm(point))
    if not norm > 100 * np.finfo(left.dtype).eps * size:
        return replace(picks, done=True)
    picked = np.concatenate([picks.picked, sample[None]])
    directions = np.concatenate([picks.directions, (left / norm)[None]])
    return replace(picks, picked=picked, directions=directions, done=len(picked) >= min(n, picked.shape[1]))


def spa_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """The samples of which most is left, once the newest directions are taken out of their squared norms.

    Only norms of residuals are needed, and they fall by the squared coordinate along each direction.
    """
    points, fit = _points(state.view, block)
    left = block.columns["left"] if "left" in block.columns else np.where(fit, row_norms2(points), -1.0)
    for direction in state.picks.directions[state.picks.known :]:
        left = left - (points @ direction).astype(np.float64) ** 2
    rows = np.arange(len(left))
    if len(left) > _AHEAD:
        rows = np.flatnonzero(left >= np.partition(left, -_AHEAD)[-_AHEAD])
    rows = rows[np.argsort(-left[rows], kind="stable")][:_AHEAD]
    payload = np.hstack([block.columns["coordinates"][rows], points[rows]])
    return {"farthest": TopRows(_AHEAD, left[rows], block.start + rows, payload)}, {"left": left}


def vca_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """The sample farthest along the probe, to either side."""
    points, fit = _points(state.view, block)
    along = np.where(fit, np.abs(points @ state.picks.probe).astype(np.float64), -1.0)
    row = int(np.argmax(along))
    payload = (np.array(block.columns["coordinates"][row]), np.array(points[row]))
    return {"farthest": ArgMax(float(along[row]), block.start + row, payload)}


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


def _next_probe(picks: Picks) -> Picks:
    found, K = picks.directions.shape
    probe = np.random.default_rng([picks.seed, found]).standard_normal(K)
    probe -= (probe @ picks.directions.T) @ picks.directions
    norm = np.linalg.norm(probe)
    return replace(picks, probe=(probe / norm if norm > 0 else probe).astype(picks.picked.dtype))
