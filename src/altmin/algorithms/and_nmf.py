r"""AND: alternating non-negative gradient descent (Li and Liang 2017, Algorithm 1).

.. math:: y = x A, \qquad x \ge 0, \quad A \in \mathbb{R}^{D \times W} \text{ of any sign}

Rows are samples here; the paper writes y = A x with samples as columns. In stage j, with the
threshold :math:`\alpha_j` and the working matrix fixed,

.. math:: z = \phi_{\alpha_j}(y A^+), \qquad A \leftarrow A + \eta \sum (z^T y - z^T z A),
   \qquad \phi_\alpha(t) = t \,[t \ge \alpha],

and :math:`\alpha_j` falls from stage to stage (Theorem 4; constant 1/4 for binary x, Theorem 1).

Where we differ from the paper, and why:

- The inner steps of a stage share one Z, so they have a closed form (`kernels.gradient`): a stage is
  one pass over the data for G = Z'Z and B = Z'Y.
- The step is 1 / lambda_max(G), not a constant: the authors' .5/D diverges for many samples.
- ``thresholds="auto"``: true weights are never negative, so negative decoded ones measure the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.starts import spa_norms, spa_project
from altmin.contract import Block, Done, Info, Max, Min, Round, Stats, record
from altmin.kernels.gradient import gradient_steps
from altmin.kernels.gram import row_norms2, times, transpose_times


@record
class AndState:
    """Phase, working matrix and its decoder, and the thresholds of the next stage."""

    phase: str
    A: Any  # (D, W): the paper's A, transposed
    decoder: Any  # (W, D): pseudo-inverse of A, so codes are Y @ decoder
    directions: Any  # (j, W): orthonormal directions that the start has peeled off so far
    alpha: Any  # (D,): thresholds of the next stage
    stage: int = 0
    change: float = np.inf
    negative: float = np.inf  # N: most negative decoded weight, in units of its component's largest
    mass: Any = None  # (D,): sum of each component's codes
    squares: float = 0.0  # sum of squares of the data
    residual: float = np.inf  # sum of squares of what the codes leave over


@record
class AndNmf:
    """Parameters of the algorithm; :class:`altmin.AND` explains them."""

    n_components: int
    start: Any = None
    schedule: tuple[float, float] | None = None
    inner_steps: int | None = None
    step: float | None = None

    def init(self, info: Info, seed: int) -> AndState:
        """The given start, or none yet: then the first rounds pick pure samples (SPA)."""
        shape = (self.n_components, info.n_features)
        empty = np.zeros((0, info.n_features), info.dtype)
        nothing = np.zeros(self.n_components)
        if self.start is None:
            return AndState("norms", np.zeros(shape, info.dtype), None, empty, nothing)
        A = np.array(self.start, dtype=info.dtype)
        return self._first_stage(AndState("start", A, None, empty, nothing))

    def next_round(self, state: AndState) -> Round | Done:
        """SPA's argmax passes, one pass that only measures (automatic thresholds), then the stages."""
        match state.phase:
            case "norms":
                return Round(spa_norms, name="start", writes=("spa_left",))
            case "pick":
                return Round(spa_project, name="start", reads=("spa_left",), writes=("spa_left",))
            case "measure":
                return Round(stage_map, name="measure")
            case "stages":
                return Round(stage_map, name="stage", iteration=True)
            case "residual":
                return Round(residual_map, name="residual")
        return Done("converged")

    def update(self, state: AndState, stats: Stats) -> AndState:
        """What follows from the sums of a round."""
        match state.phase:
            case "norms" | "pick":
                return self._pick(state, stats)
            case "measure":
                largest, smallest = stats["largest"].value, stats["smallest"].value
                state = _rescale(state, largest)
                negative = float(max(-np.min(smallest / _positive(largest)), 0.0))
                alpha = np.full(self.n_components, min(max(negative, 0.25), 0.5))
                return replace(state, phase="stages", alpha=alpha, negative=negative)
            case "residual":
                return replace(state, phase="done", residual=stats["residual"], squares=stats["squares"])
        return self._stage(state, stats)

    def finish(self, state: AndState) -> AndState:
        """One closing pass: what is left of the data."""
        return replace(state, phase="residual")

    def measure(self, state: AndState) -> Mapping[str, float]:
        """How much the factors moved, the largest threshold, the negative part of the codes."""
        return {
            "change": state.change,
            "threshold": float(np.max(state.alpha)),
            "negative": state.negative,
        }

    def _pick(self, state: AndState, stats: Stats) -> AndState:
        """Take the sample farthest from the span of those taken so far as the next component."""
        found = len(state.directions)
        best = stats["farthest"]
        sample = np.asarray(best.payload, dtype=state.A.dtype)
        left = sample - (sample @ state.directions.T) @ state.directions
        left -= (left @ state.directions.T) @ state.directions
        norm = float(np.linalg.norm(left))
        A = state.A.copy()
        A[found] = sample
        if norm <= 10 * np.finfo(A.dtype).eps * float(np.linalg.norm(sample)):
            raise ValueError(
                f"n_components={self.n_components}: the samples span only {found} dimension(s); "
                f"use at most {found} components"
            )
        directions = np.vstack([state.directions, left / norm])
        state = replace(state, phase="pick", A=A, directions=directions)
        return state if found + 1 < self.n_components else self._first_stage(state)

    def _first_stage(self, state: AndState) -> AndState:
        state = replace(state, decoder=pseudo_inverse(state.A), directions=state.directions[:0])
        if self.schedule is None:
            return replace(state, phase="measure", alpha=np.full(self.n_components, np.inf))
        return replace(state, phase="stages", alpha=np.full(self.n_components, self.schedule[0]))

    def _stage(self, state: AndState, stats: Stats) -> AndState:
        """Algorithm 1, lines 3-8, for all samples at once."""
        A = gradient_steps(state.A, stats["G"], stats["B"], self.inner_steps, self.step)
        moved = np.linalg.norm(A - state.A, axis=1) / _positive(np.linalg.norm(state.A, axis=1))
        largest, smallest = stats["largest"].value, stats["smallest"].value
        negative = float(max(-np.min(smallest / _positive(largest)), 0.0))
        after = replace(
            state,
            A=A,
            stage=state.stage + 1,
            change=float(np.max(moved)),
            negative=negative,
            mass=stats["mass"],
        )
        if self.schedule is None:
            after = _rescale(after, largest)
            a = float(np.max(state.alpha))
            a = min(a, max(min(a / 1.1, max(negative, a / 1.5)), negative / 3))
            alpha = np.full(self.n_components, a)
        else:
            alpha = np.full(self.n_components, self.schedule[0] / self.schedule[1] ** after.stage)
        return replace(after, alpha=alpha, decoder=pseudo_inverse(after.A))


def stage_map(algorithm: AndNmf, state: AndState, block: Block) -> Stats:
    """Decode a block and sum up G = Z'Z and B = Z'Y; extremes of the codes before the threshold."""
    block = without_weightless(block)
    Z = times(block.X, state.decoder)
    largest, smallest = Max(Z.max(axis=0, initial=0.0)), Min(Z.min(axis=0, initial=0.0))
    Z[Z < state.alpha] = 0.0
    weighted = Z if block.weight is None else Z * block.weight[:, None]
    return {
        "G": weighted.T @ Z,
        "B": transpose_times(weighted, block.X),
        "mass": weighted.sum(axis=0, dtype=np.float64),
        "largest": largest,
        "smallest": smallest,
    }


def without_weightless(block: Block) -> Block:
    """Rows of weight 0 leave no trace, not even in the extremes."""
    if block.weight is None or (block.weight > 0).all():
        return block
    seen = block.weight > 0
    return replace(block, X=block.X[seen], weight=block.weight[seen])


def residual_map(algorithm: AndNmf, state: AndState, block: Block) -> Stats:
    """Squares of the data and of what non-negative codes leave over."""
    Z = decode(block.X, state.decoder)
    left = block.X - Z @ state.A
    return {
        "residual": float(np.sum(np.square(left, dtype=np.float64))),
        "squares": float(row_norms2(block.X).sum()),
    }


def decode(X: Any, decoder: NDArray[Any], alpha: Any = 0.0) -> NDArray[Any]:
    """Non-negative codes: the paper's decoding with threshold ``alpha``."""
    Z = times(X, decoder)
    Z[Z < alpha] = 0.0
    return Z


def pseudo_inverse(A: NDArray[Any]) -> NDArray[Any]:
    """The (W, D) decoder of A: computed in float64, as its condition enters the codes."""
    return np.ascontiguousarray(np.linalg.pinv(A.astype(np.float64)).astype(A.dtype))


def _rescale(state: AndState, largest: NDArray[Any]) -> AndState:
    """Scale each component so that its largest code is 1: thresholds are then in its own units."""
    scale = _positive(largest).astype(state.A.dtype)
    A = state.A * scale[:, None]
    decoder = None if state.decoder is None else state.decoder / scale
    return replace(state, A=A, decoder=decoder)


def _positive(values: NDArray[Any]) -> NDArray[Any]:
    """The values, with 1 in place of those that cannot be divided by."""
    return np.where(values > 0, values, 1.0)
