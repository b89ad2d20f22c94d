r"""Online dictionary learning (Liang, Zhang, Fattahi and Zhang 2022, Algorithm 3), by blocks.

.. math:: y_t = x_t A_t, \qquad x_t \text{ sparse}, \quad A_t \text{ constant, drifting, or changing at times}

A block of samples is coded with the current dictionary, its sums join those of the past, and one
least-squares step gives the next dictionary. A sample costs O(n^2) operations, since the O(n^3) of the
factorisations are shared by a block: what Section 3.4.2 of the paper leaves open.

Where we differ from the paper, and why:

- Algorithm 3 uses P^(-1) and Y^(-1), which it never sets, and no D^(0): the first rows go to the search of
  Algorithm 2 here.
- The preconditioner comes from second moments summed in float64 and factorised once a block: Algorithm 5's
  pair of rank-one updates drifts (6e-9 after 1e5 samples at condition 100), this stays at rounding.
- Sums of a block are weighted by 1 / (its noise)^2, so blocks that were coded while the dictionary was still
  off soon don't count; without noise the last block is as good as exact.
- A block whose small codes are larger than they should be, or that has more of them, was made by another
  dictionary: it is polished on its own, and if that fails twice running the search has to begin anew. More
  codes are what shows that a few atoms have changed: the other atoms' small codes stay as small as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import (
    WARM_END,
    code_map,
    covariance_map,
    fallen_thresholds,
    least_squares_decoder,
    noise_level,
    signals,
    whitening,
)
from altmin.contract import Block, Concat, Done, Info, Next, Round, Same, Stats, record
from altmin.kernels.bernoulli_gauss import sparse_posterior

_DISTURBED = 2.0  # times the usual noise
_DENSER = 1.05  # times the usual density, beyond what chance does
_SETTLED = 1.2  # times the usual noise, at which a polished block is believed
_POLISH_PASSES = 25
_SAME = 0.98  # |cos| of an atom before and after a block
_EVIDENCE_ROWS = 1000  # of a block, kept for the guarantee
_LOST = 2  # disturbed blocks running that could not be polished


@record
class OnlineState:
    """Dictionary, sums of the past, and what is usual (scaled units, codes of unit atoms)."""

    phase: str
    atoms: Any  # (k, n): unit rows
    decoder: Any  # (n, k): pseudo-inverse / scale, in the data's dtype
    thresholds: Any  # (k,)
    noise_gain: Any  # (k,): norms of the decoder's columns
    scale: float
    centre: Any  # (n,): the intercept, None where there is none
    covariance: Any  # (n, n): second moments with forgetting
    gram: Any  # (k, k): weighted sum of Z'Z
    cross: Any  # (k, n): weighted sum of Z'X
    noise: float  # of a usual block
    density: float
    size: Any  # (k,): rms of the kept codes of each atom
    n_rows: int = 0
    n_blocks: int = 0
    passes: int = 0
    change: float = 1.0
    least_change: float = np.inf
    waited: int = 0
    lost: int = 0
    anchor: Any = None  # atoms before a disturbed block
    block_density: float = 0.0
    block_noise: float = 0.0
    residual: float = 0.0  # squares that the codes of the last block left over
    recent: Any = None  # some of the last rows of this run, for the guarantee
    levelled: bool = False  # whether large rows are shrunk to one size
    level: float = 0.0  # which is this
    changes: tuple[Any, ...] = ()  # (rows so far, atoms that are new) of each block that was polished


@record
class Online:
    """Parameters of the algorithm; :class:`altmin.OnlineDictionaryLearning` explains them."""

    window: int
    memory: float | None = None

    least_squares = True

    def init(self, info: Info, seed: int) -> OnlineState:
        """A stream is tracked from a dictionary that was found before."""
        raise ValueError("the tracker starts from a state: see `begin`")

    def begin(self, found: Any, dtype: Any) -> OnlineState:
        """The state after a search (:class:`altmin.algorithms.dictionary.complete.CompleteState`)."""
        norms = np.linalg.norm(found.atoms, axis=1)
        k, n = found.atoms.shape
        prior = found.prior
        size = np.sqrt(found.squares / np.maximum(found.counts, 1.0)) * norms
        size = size if prior is None else np.sqrt(prior.sizes)
        atoms = found.atoms / norms[:, None]
        # The search's atoms are a least-squares solution, of sums that are nearly diagonal as codes are
        # uncorrelated: these have the same solution, and the same weight against the blocks to come.
        floor = float(np.finfo(dtype).eps) * float(np.sqrt(found.frame.energy))
        frame = found.frame
        covariance = frame.covariance if frame.axes is None else frame.axes @ frame.covariance @ frame.axes.T
        gram = np.diag(found.squares * norms**2) / max(found.noise, floor) ** 2
        state = OnlineState(
            "next",
            atoms,
            np.zeros((n, k), dtype),
            found.thresholds * norms,
            np.ones(k),
            found.scale,
            found.centre,
            covariance,
            gram,
            gram @ atoms,
            noise=found.noise,
            density=float(np.mean(found.counts / found.n_rows if prior is None else prior.density)),
            size=size,
            n_rows=found.n_rows,
            residual=found.residual,
            levelled=found.levelled,
            level=found.level,
        )
        return self.at(state)

    def as_blocks_are(self, state: OnlineState, X: Any) -> OnlineState:
        """The state after a search; one that left rows out knows too little of the noise of usual blocks."""
        usual = max(state.noise, 10 * self.rounding(state))
        noise = noise_level(code_map(self, state, Block(0, 0, X))["magnitudes"], state.density)
        if noise <= _DISTURBED * usual:
            return state
        weight = (usual / noise) ** 2
        return replace(state, noise=noise, gram=weight * state.gram, cross=weight * state.cross)

    def next_round(self, state: OnlineState) -> Round | Done:
        """The next block of the stream, or the same one again while it is polished."""
        match state.phase:
            case "next":
                rows = Next(self.window, keep=True)
                return Round(block_map, rows=rows, name="track", iteration=True, then=self._tracked)
            case "again":
                return Round(coding_map, rows=Same(), name="polish", then=self._polished)
            case "lost":
                return Done("stalled", "the samples no longer fit the dictionary: it has to be searched anew")
        return Done("end_of_stream")

    def finish(self, state: OnlineState) -> OnlineState:
        """Nothing to close: what has been read is gone."""
        return replace(state, phase="done")

    def measure(self, state: OnlineState) -> Mapping[str, float]:
        """Move of the decoder, kept share, noise of the block, rows so far."""
        return {
            "change": state.change,
            "density": state.block_density,
            "noise": state.block_noise * state.scale,
            "rows": float(state.n_rows),
        }

    def resumed(self, state: OnlineState) -> OnlineState:
        """The state of a finished run, ready for more rows."""
        return replace(state, phase="next", changes=(), recent=None)

    def seen(self, state: OnlineState, rows: NDArray[Any]) -> OnlineState:
        """The state with these as its last rows, after some of those before them."""
        most = max(_EVIDENCE_ROWS, 12 * len(state.atoms))
        before = rows[:0] if state.recent is None else state.recent
        return replace(state, recent=np.concatenate([before, rows])[-most:])

    def _tracked(self, state: OnlineState, stats: Stats) -> OnlineState:
        """Follow a calm block; a disturbed one is polished."""
        rows = stats["n_rows"]
        noise = noise_level(stats["magnitudes"], state.density)
        state = self._remember(state, stats["covariance"], rows)
        state = replace(state, n_rows=state.n_rows + rows, n_blocks=state.n_blocks + 1, block_noise=noise)
        state = self.seen(state, stats["recent"].value)
        k = len(state.atoms)
        usual = max(state.noise, 10 * self.rounding(state))
        if (noise > _DISTURBED * usual or self._is_dense(state, stats)) and rows >= 5 * k:
            thresholds = WARM_END * state.size
            state = replace(state, phase="again", anchor=state.atoms, passes=0, waited=0, least_change=np.inf)
            return replace(state, thresholds=thresholds, change=1.0)
        return self._follow(state, stats, noise)

    def _remember(self, state: OnlineState, covariance: NDArray[Any], rows: int) -> OnlineState:
        past = state.n_rows if self.memory is None else min(state.n_rows, self.memory)
        share = rows / max(past + rows, 1)
        return replace(state, covariance=(1 - share) * state.covariance + share * covariance / rows)

    def _follow(self, state: OnlineState, stats: Stats, noise: float) -> OnlineState:
        """One least-squares step with the weighted sums of past and present."""
        rows = stats["n_rows"]
        # ||X - Z A||^2 from the sums; below 1e-16 of the data it is rounding
        left = float(np.trace(stats["covariance"]))
        left -= 2 * float(np.vdot(stats["cross"] / state.scale, state.atoms))
        left += float(np.vdot(stats["gram"], state.atoms @ state.atoms.T))
        weight = 1.0 / max(noise, self.rounding(state)) ** 2
        kept = 1.0 if self.memory is None else max(1.0 - rows / self.memory, 0.0)
        gram = kept * state.gram + weight * stats["gram"]
        cross = kept * state.cross + weight * stats["cross"] / state.scale
        state = replace(state, gram=gram, cross=cross, lost=0)
        density = float(np.mean(stats["counts"])) / rows
        mix = min(rows / (10 * self.window), 1.0)  # what is usual changes slowly
        state = replace(
            state,
            block_density=density,
            residual=max(left, 0.0),
            density=(1 - mix) * state.density + mix * density,
            # a rise is slowed down: the dictionary may be drifting away
            noise=min((1 - mix) * state.noise + mix * noise, 1.01 * max(state.noise, self.rounding(state))),
        )
        return self._step(state, gram, cross, noise)

    def _step(self, state: OnlineState, gram: NDArray[Any], cross: NDArray[Any], noise: float) -> OnlineState:
        """Atoms by least squares in whitened coordinates; thresholds that fit how far they moved."""
        k = len(state.atoms)
        frame = whitening(state.covariance, k)
        before = state.atoms @ frame.whiten
        long = np.linalg.norm(before, axis=1)
        # sums of codes of unit atoms become those of atoms that are unit in whitened coordinates
        gram = gram * np.outer(long, long)
        try:
            W = np.linalg.inv(before / long[:, None]).T
            W, moved = least_squares_decoder(W, gram, (cross * long[:, None]) @ frame.whiten @ W.T - gram)
            atoms = np.linalg.solve(W.T, frame.unwhiten)
        except np.linalg.LinAlgError:  # two atoms are alike
            return state
        if not np.isfinite(moved):
            return state
        atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
        after = self.at(replace(state, change=moved, atoms=atoms))
        step = (after.decoder - state.decoder).T.astype(np.float64) * state.scale
        change = np.sqrt(np.maximum(np.einsum("ij,ij->i", step @ state.covariance, step), 0.0))
        gain = after.noise_gain
        top = np.minimum(state.thresholds / 0.3, WARM_END * state.size)  # they may rise again, too
        thresholds = fallen_thresholds(top, change, noise * gain, self.rounding(state) * gain)
        return replace(after, thresholds=thresholds)

    def _polished(self, state: OnlineState, stats: Stats) -> OnlineState:
        """A disturbed block on its own, until it stands still."""
        density = float(np.mean(stats["counts"])) / stats["n_rows"]
        noise = noise_level(stats["magnitudes"], density)
        cross = stats["cross"] / state.scale
        after = self._step(state, stats["gram"], cross, noise)
        progress = after.change < 0.9 * state.least_change
        after = replace(
            after,
            passes=state.passes + 1,
            waited=0 if progress else state.waited + 1,
            least_change=min(after.change, state.least_change),
            block_density=density,
            block_noise=noise,
        )
        eps = np.finfo(state.decoder.dtype).eps
        if after.change > 100 * eps and after.waited < 4 and after.passes < _POLISH_PASSES:
            return after
        size = np.sqrt(stats["squares"] / np.maximum(stats["counts"], 1.0))
        floor = 10 * self.rounding(state)
        if noise > _SETTLED * max(state.noise, floor) or self._is_dense(state, stats):
            lost = state.lost + 1
            before = replace(state, lost=lost, thresholds=WARM_END * state.size, atoms=state.anchor)
            return replace(self.at(before), phase="lost" if lost >= _LOST else "next")
        weight = 1.0 / max(noise, self.rounding(after)) ** 2
        new = changed_atoms(state.anchor, after.atoms)
        return replace(
            after,
            phase="next",
            changes=(*state.changes, (state.n_rows, new)) if len(new) else state.changes,
            noise=noise,
            density=density,
            size=size,
            gram=weight * stats["gram"],
            cross=weight * cross,
            lost=0,
        )

    def _is_dense(self, state: OnlineState, stats: Stats) -> bool:
        """Whether a block has more codes than usual: samples that use an atom which has changed have many."""
        n = stats["n_rows"] * len(state.atoms)
        chance = 6 * np.sqrt(state.density / n)
        return bool(stats["counts"].sum() / n > _DENSER * state.density + chance)

    def rounding(self, state: OnlineState) -> float:
        """Rounding error of the data's entries."""
        eps = float(np.finfo(state.decoder.dtype).eps)
        return eps * float(np.sqrt(np.trace(state.covariance)))

    def at(self, state: OnlineState) -> OnlineState:
        """The state with the decoder of its atoms."""
        decoder = np.linalg.pinv(state.atoms)
        return replace(
            state,
            noise_gain=np.linalg.norm(decoder, axis=0),
            decoder=np.ascontiguousarray((decoder / state.scale).astype(state.decoder.dtype)),
        )


def changed_atoms(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.intp]:
    """Numbers of the atoms that are others than before, and not the same one a little drifted."""
    cosine = np.abs(np.einsum("ij,ij->i", before, after))
    return np.flatnonzero(cosine < _SAME * np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1))


def block_map(algorithm: Online, state: OnlineState, block: Block) -> Stats:
    """Codes of a new block, its second moments, and some of its rows."""
    stride = -(-algorithm.window // max(_EVIDENCE_ROWS, 12 * len(state.atoms)))
    X = block.X[::stride]
    recent = {"recent": Concat(X.toarray() if sp.issparse(X) else X.copy())}
    return {**coding_map(algorithm, state, block), **covariance_map(algorithm, state, block), **recent}


def coding_map(algorithm: Online, state: OnlineState, block: Block) -> Stats:
    """Sums of codes by thresholds where there is no noise, of largest evidence where there is."""
    stats = code_map(algorithm, state, block)
    if state.noise <= 1e4 * algorithm.rounding(state):
        return stats
    X = signals(state, block)
    X = np.asarray(X.toarray() if sp.issparse(X) else X, np.float64) / state.scale
    density = np.full(len(state.atoms), np.clip(state.density, 1e-4, 0.9))
    Z, _ = sparse_posterior(X, state.atoms, state.noise**2, state.size**2, density)
    return {
        **stats,
        "counts": np.count_nonzero(Z, axis=0).astype(np.float64),
        "squares": np.einsum("ij,ij->j", Z, Z),
        "cross": Z.T @ X * state.scale,
        "gram": Z.T @ Z,
    }
