r"""Guarded steps on a stream: how long a step is, when it decays, and when it is taken back.

A batch's estimate of what the model misses has variance :math:`\delta^2` in units of the loss, so a
step :math:`\eta` leaves :math:`f(\eta) = (1 - \eta)^2 + \eta^2 \delta^2` of it, least for
:math:`\eta = 1 / (1 + \delta^2)`. Where the loss stops falling at that pace, what is left is noise, and
:math:`\eta \sim 1/t` averages it over all rows instead of over one batch.

Each step is judged by the loss on the next rows. One that made it worse, beyond what sampling explains,
is taken back: the model before it looks at the same rows again, with half the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from altmin.contract import All, Next, Rows, Same, Stats, record
from altmin.io.records import replace

SMALLEST_CUT = 1e-3
_WINDOW = 5
_SLOWER = 0.3  # by which a step is divided for each time that the loss fell behind
S = TypeVar("S", bound="GuardedState")


@record
class GuardedState:
    """What the state of every algorithm of guarded steps holds beside its model."""

    _: KW_ONLY
    phase: str
    again: bool = False  # whether the next round looks at the same rows again (after a step taken back)
    steps: int = 0
    rows: int = 0  # rows used by steps
    batch_rows: float = 0.0  # of the last batch; a weight counts as so many rows
    loss: float = np.inf  # mean square of the residual on fresh rows, in the algorithm's units
    loss_error: float = 0.0
    cut: float = 1.0
    slow: int = 0  # how often the loss fell behind its expected pace
    trail: Any = None  # at most 5 rows: log loss, its standard error, log of the fall expected so far
    change: float = np.inf
    step: float = 0.0
    taken_back: int = 0


@record
class GuardedSteps:
    """Parameters that algorithms of guarded steps share, and the guard.

    ``batch_size`` 0 takes all rows in each step; ``step`` None follows from the batch; ``wrap`` starts over
    at the end of data that can be read again; ``total`` is the number of rows where it is known. Losses
    below ``minimum_loss`` are rounding.
    """

    _: KW_ONLY
    batch_size: int = 0
    step: float | None = None
    wrap: bool = False
    total: int | None = None
    minimum_loss: float = 1e-26

    def batches(self, state: Any) -> tuple[Rows, Rows]:
        """The rows in hand, and the next ones."""
        if self.batch_size == 0:
            return All(), All()
        return Same(), Next(self.batch_size, wrap=self.wrap, keep=True)

    def resume(self, state: Any) -> Any:
        """A finished state, ready for more rows."""
        return replace(state, phase="u" if state.steps else "moments", again=False)

    def after(self, state: S, n: float) -> S:
        """A model fitted to n rows: the next batch counts in it as its share of all of them."""
        return replace(state, slow=round(n / max(self.batch_size, 1) / _SLOWER))

    def measure(self, state: GuardedState) -> Mapping[str, float]:
        """Size of the step in units of y, loss on fresh rows, step, rows so far, steps taken back."""
        return {
            "change": state.change,
            "loss": state.loss,
            "step": state.step,
            "rows": float(state.rows),
            "taken_back": float(state.taken_back),
        }

    def reuses(self, state: GuardedState) -> bool:
        """Whether rows have been seen before: the estimates are then not independent."""
        return self.batch_size == 0 or (self.total is not None and state.rows > self.total)

    def settled(self, state: GuardedState) -> bool:
        """Whether no step lowers the loss of all rows any more."""
        return self.batch_size == 0 and state.cut <= SMALLEST_CUT

    def worse(self, state: GuardedState, loss: float, error: float) -> bool:
        """Whether the last step made the loss worse, beyond what sampling explains."""
        if state.again or not np.isfinite(loss):
            return not state.again
        if state.steps == 0 or loss < self.minimum_loss:
            return False
        if self.batch_size == 0:
            return loss > state.loss * (1 + 1e-9)
        return loss > state.loss + 3 * np.hypot(error, state.loss_error) and loss > 1.02 * state.loss

    def pace(self, state: S, noise: float, fixed: float | None) -> tuple[S, float]:
        """The step for this batch, whose estimate has variance ``noise``, and the state with its trail."""
        trail = np.empty((0, 3)) if state.trail is None else state.trail
        expected = trail[-1, 2] if len(trail) else 0.0
        error = state.loss_error / max(state.loss, 1e-300)
        trail = np.vstack([trail, [np.log(max(state.loss, 1e-300)), error, expected]])[-_WINDOW:]
        slow = _slow(trail, state.slow)
        eta = 1 / (1 + noise)
        if fixed is not None:
            eta = fixed
        else:
            if self.batch_size:
                eta /= 1 + _SLOWER * slow
            if self.reuses(state):
                eta = min(eta, 0.5)
        eta *= state.cut
        trail[-1, 2] -= np.log((1 - eta) ** 2 + eta**2 * noise)
        return replace(state, trail=trail, slow=slow), eta


def loss_of(stats: Stats, size: float | None = None) -> tuple[float, float]:
    """Mean square of the residual and its standard error, in units of ``size`` (a sum over the rows)."""
    n = max(stats["n"], 1e-300)  # rows of a batch may all have no weight
    error = float(np.sqrt(max(stats["rrrr"] / n - (stats["rr"] / n) ** 2, 0.0) / n))
    return (stats["rr"] / n, error) if size is None else (stats["rr"] / size, error * n / size)


def take_back(state: S, **before: Any) -> S:
    """The state ``before`` the last step, which is tried again at half the length."""
    return replace(
        state, cut=max(state.cut * 0.5, SMALLEST_CUT), again=True, taken_back=state.taken_back + 1, **before
    )


def accept(state: S, stats: Stats, loss: float, error: float, **safe: Any) -> S:
    """The state after a step that passed the guard; ``safe`` holds the model to return to."""
    return replace(
        state,
        loss=float(loss),
        loss_error=error,
        cut=state.cut if state.again else min(state.cut * 1.15, 1.0),
        rows=state.rows + stats["rows"],
        batch_rows=stats["n"],
        **safe,
    )


def batch_noise(constant: float, d: float, n: float) -> float:
    """delta^2 of a batch of n rows."""
    return constant * d / max(n, 1e-300)


def _slow(trail: NDArray[Any], slow: int) -> int:
    """Count how often the loss fell clearly less than steps of this length make it fall without noise.

    Over the window, so a short step isn't taken for noise: what is expected of it is less. Only a fall
    that sampling can't explain counts as one.
    """
    if len(trail) < 3:
        return slow
    fall, hoped = trail[0, 0] - trail[-1, 0], trail[-1, 2] - trail[0, 2]
    on_pace = fall > 0.35 * hoped and fall > 2 * np.hypot(trail[-1, 1], trail[0, 1])
    return max(slow - 2, 0) if on_pace else slow + 1
