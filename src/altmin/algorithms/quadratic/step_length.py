r"""How long a step is, and when it decays.

A batch's estimate of what the model misses has variance :math:`\delta^2` in units of the loss, so a
step :math:`\eta` leaves :math:`f(\eta) = (1 - \eta)^2 + \eta^2 \delta^2` of it, least for
:math:`\eta = 1 / (1 + \delta^2)`. Where the loss stops falling at that pace, what is left is noise, and
:math:`\eta \sim 1/t` averages it over all rows instead of over one batch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

SMALLEST_CUT = 1e-3
_WINDOW = 5
S = TypeVar("S", bound=Any)


def batch_noise(constant: float, d: float, n: float) -> float:
    """delta^2 of a batch of n rows."""
    return constant * d / max(n, 1e-300)


def pace(state: S, noise: float, fixed: float | None, reuses: bool) -> tuple[S, float]:
    """The step for this batch, and the state with its trail.

    Parameters
    ----------
    state : record
        With ``loss``, ``loss_error``, ``cut``, ``slow`` and ``trail`` (at most 5 rows of log loss, its
        standard error, and the log of the fall that was expected so far).
    noise : float
        delta^2 of the batch.
    fixed : float or None
        A step that the user asked for.
    reuses : bool
        Whether rows have been seen before: the estimates are then not independent, and the step stays
        at most 1/2.

    Returns
    -------
    state : record
        With ``trail`` and ``slow`` brought up to date.
    step : float
        eta.
    """
    trail = np.empty((0, 3)) if state.trail is None else state.trail
    expected = trail[-1, 2] if len(trail) else 0.0
    error = state.loss_error / max(state.loss, 1e-300)
    trail = np.vstack([trail, [np.log(max(state.loss, 1e-300)), error, expected]])[-_WINDOW:]
    slow = _slow(trail, state.slow)
    eta = 1 / (1 + noise)
    if fixed is not None:
        eta = fixed
    elif reuses:
        eta = min(eta, 0.5)
    else:
        eta /= 1 + 0.3 * slow
    eta *= state.cut
    trail[-1, 2] -= np.log((1 - eta) ** 2 + eta**2 * noise)
    return replace(state, trail=trail, slow=slow), eta


def _slow(trail: np.ndarray, slow: int) -> int:
    """Count how often the loss fell clearly less than steps of this length make it fall without noise.

    Over the window, so a short step isn't taken for noise: what is expected of it is less. Only a fall
    that sampling can't explain counts as one.
    """
    if len(trail) < 3:
        return slow
    fall, hoped = trail[0, 0] - trail[-1, 0], trail[-1, 2] - trail[0, 2]
    on_pace = fall > 0.35 * hoped and fall > 2 * np.hypot(trail[-1, 1], trail[0, 1])
    return max(slow - 2, 0) if on_pace else slow + 1
