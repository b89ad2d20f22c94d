"""Steps of second-order minimisers, as pure functions of what they remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

_LEAST = (1e-9, 1e-6, 1e-3, 1.0)  # shares of the largest diagonal entry that are added until J'J is positive


def marquardt_step(
    JJ: NDArray[Any], Jr: NDArray[Any], mu: float, pairs: NDArray[Any] | None = None
) -> tuple[NDArray[Any], float]:
    """Levenberg-Marquardt step for least squares, and the fall of the sum of squares that it predicts.

    Parameters
    ----------
    JJ : ndarray of shape (p, p)
        J'J (and the ridge, if there is one).
    Jr : ndarray of shape (p,)
        J'r, r the residual: minus half the gradient.
    mu : float
        Damping, in units of the diagonal of J'J.
    pairs : ndarray of shape (m, 2, p) or None
        Steps and changes of the gradient since J'J was taken, which correct it as L-BFGS does.

    Returns
    -------
    step : ndarray of shape (p,)
        What to add to the parameters.
    fall : float
        Predicted.
    """
    factor = _factor(JJ, mu)

    def solve(right: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(sla.cho_solve(factor, right, check_finite=False))

    if pairs is not None:
        step = lbfgs_direction(-Jr, pairs, solve)
        return step, float(step @ Jr)
    step = solve(Jr)
    return step, float(2 * step @ Jr - step @ JJ @ step)


def _factor(JJ: NDArray[Any], mu: float) -> tuple[NDArray[Any], bool]:
    """Cholesky's factor of the damped J'J, and of as little more on its diagonal as makes it positive.

    Along collinear columns J'J is 0, and rounding of a few digits may leave less than that.
    """
    diagonal = np.diag(JJ)
    largest = max(float(diagonal.max(initial=0.0)), 1e-300)
    damping = mu * np.maximum(diagonal, _LEAST[0] * largest)
    for share in _LEAST:
        damped = with_diagonal(JJ, damping + share * largest)
        try:  # symmetric: transposed, LAPACK needs no copy
            return sla.cho_factor(damped.T, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("J'J is far from positive")


def with_diagonal(A: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    """A + diag(more), without forming the second matrix.

    Parameters
    ----------
    A : ndarray of shape (p, p)
        The matrix.
    more : ndarray of shape (p,)
        What its diagonal gets.

    Returns
    -------
    ndarray of shape (p, p)
        The sum.
    """
    found = A.copy()
    found.flat[:: len(A) + 1] += more
    return found


def lbfgs_direction(
    gradient: NDArray[Any],
    pairs: NDArray[Any] | None,
    solve: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """Descent direction of limited-memory BFGS.

    Parameters
    ----------
    gradient : ndarray of shape (p,)
        At the current point.
    pairs : ndarray of shape (m, 2, p) or None
        Steps and changes of the gradient, oldest first; without any, steepest descent.
    solve : callable or None
        Multiplies with an inverse of second derivatives as they were; None: with a number, by the last pair.

    Returns
    -------
    ndarray of shape (p,)
        The direction.
    """
    q = -gradient
    if pairs is None or not len(pairs):
        return np.asarray(q)
    weights = []
    for s, y in pairs[::-1]:
        weights.append((s @ q) / (s @ y))
        q = q - weights[-1] * y
    s, y = pairs[-1]
    q = q * ((s @ y) / (y @ y)) if solve is None else solve(q)
    for (s, y), weight in zip(pairs, weights[::-1], strict=True):
        q = q + (weight - (y @ q) / (s @ y)) * s
    return np.asarray(q)


def lbfgs_remember(
    pairs: NDArray[Any] | None, step: NDArray[Any], change: NDArray[Any], memory: int = 10
) -> NDArray[Any] | None:
    """The pairs with one more, where its curvature is positive.

    Parameters
    ----------
    pairs : ndarray of shape (m, 2, p) or None
        So far.
    step, change : ndarray of shape (p,)
        Step, and change of the gradient along it.
    memory : int
        Pairs at most.

    Returns
    -------
    ndarray of shape (m, 2, p) or None
        The pairs.
    """
    if step @ change <= 1e-12 * np.linalg.norm(step) * np.linalg.norm(change):
        return pairs
    new = np.array([[step, change]])
    return new if pairs is None else np.concatenate([pairs, new])[-memory:]
