r"""What measurements say about a fitted matrix: y = u'Mv, or x'Mx with one design.

With J the Jacobian of the predictions along the tangent of the matrices of rank k at M, the error that
noise leaves is about :math:`\hat\sigma \|J^+\|_F`, and :math:`J^+ r` is how far the fit is from least
squares. What is left over must look like noise.
"""

from __future__ import annotations

import numpy as np

from altmin.guarantees.misfit import Misfit, first_of_copies, misfit
from altmin.guarantees.mixture import other_laws
from altmin.guarantees.residuals import (
    EVEN,
    EXACT,
    Array,
    attenuation,
    drift,
    gradient_t,
    half_grams,
    influence,
    inverse_gram,
    robust_error,
    robustness,
    singular_ratio,
    white_ratio,
)
from altmin.io.records import record

MAX_PARAMETERS = 1200
_REAL = 1e-8  # singular values below this share of the largest are rounding


@record
class Measured:
    """Evidence of a sample of measurements; errors are relative to the size of M in standardised designs."""

    parameters: int
    distinct: float  # measurements, of all, that aren't near copies of others
    conditioning: float  # sigma_min / sigma_max of J for whitened designs, or 1000 times that for scaled ones
    left: float  # relative residual after one more Gauss-Newton step
    noise_error: float  # sigma-hat ||J^+||_F
    step: float  # ||J^+ r||
    misfit: Misfit  # what the residual still holds
    gradient_t: float  # of r^2 against the squared gradient: noise in the designs
    n_sample: int
    spread: float = 0.0  # ||S - I||_2 of the scaled designs, as they are
    white: float = 0.0  # dependence of r^2 on the designs, over that of permuted r^2
    attenuation: float = 0.0  # share of M that noise in one column may hide
    drift: float = 0.0  # early against late measurements, over what noise explains
    size: float = 1.0  # of the model, in units of y
    robustness: float = 1.0  # share of noise and design that a hidden cause needs to move M by a tenth
    vagueness: float = 0.0  # relative error of noise_error
    other_law: float = 0.0  # how far other rows, as the squares of the residual show them, moved M
    hidden_law: float = 0.0  # and how far such that those don't show could have
    design_t: float | None = None  # largest |t| of a left and a right column; None for one design


def n_parameters(rank: int, d: int, second: int = 0) -> int:
    """Free parameters of a matrix of this rank: symmetric, or d x second."""
    return rank * (d + second - rank) if second else d * rank - rank * (rank - 1) // 2


def look(
    left: Array, values: Array, right: Array, y: Array, U: Array, V: Array | None, distinct: float
) -> Measured | None:
    """Measure the evidence.

    Parameters
    ----------
    left, right : ndarray of shape (rank, n_features), (rank, n_second_features)
        Factors of M = left' diag(values) right.
    values : ndarray of shape (rank,)
        Singular values or eigenvalues.
    y : ndarray of shape (n_samples,)
        Measurements.
    U, V : ndarray
        Designs; V is None for the symmetric case.
    distinct : float
        Measurements, of all, that aren't near copies of others.

    Returns
    -------
    Measured or None
        None where there are too many parameters for a Jacobian, or nothing was measured.
    """
    real = np.abs(values) > _REAL * np.abs(values).max(initial=1e-300)
    L, c, R = left[real], values[real], right[real]
    p = n_parameters(len(c), U.shape[1], 0 if V is None else V.shape[1])
    if p > MAX_PARAMETERS or len(y) < 2 or not len(c):
        return None
    parts = [scaled(part)[0] for part in (U, V, y[:, None]) if part is not None]
    own = first_of_copies(np.hstack(parts))
    U, V, y = U[own], None if V is None else V[own], y[own]
    S, su = scaled(U)
    T, sv = (S, su) if V is None else scaled(V)
    L, R = L * su, R * sv
    a, b = S @ L.T, T @ R.T
    unit = max(float(np.sqrt(np.mean(y**2))), 1e-300)
    r, c = (y - (a * b) @ c) / unit, c / unit
    J = tangent(S, L, None if V is None else T, R)
    white, spread = _white_tangent(S, L, None if V is None else T, R)
    halves = half_grams(J)
    gram = halves[0] + halves[1]
    inverse = inverse_gram(gram)
    sigma = float(np.sqrt(np.sum(r**2) / max(len(r) - p, 1)))
    size = max(float(np.linalg.norm((L.T * c) @ R)), 1e-3)
    step = inverse @ (J.T @ r)
    left_over = r - J @ step  # after one more Gauss-Newton step: what no parameter explains
    gradient = (a * c) @ R * 2 if V is None else np.hstack([(b * c) @ L, (a * c) @ R])
    exact = bool(np.sqrt(np.mean(left_over**2)) <= EXACT)  # rounding follows no further law
    few = J.astype(np.float32)  # of what chance gives few digits are enough
    each = influence(J, inverse)
    noise, vague = robust_error(each, inverse, left_over, exact)
    noise_error = noise / size
    designs = (S,) if V is None else (S, T)
    across, further = _directions(designs, a, b)
    fitted, uneven = (a * b) @ c, 0.0 if exact else white_ratio(left_over, S, T)
    spread_of_noise = np.column_stack([fitted**2, *(part**2 for part in designs)])
    differences = np.column_stack([fitted, np.hstack(designs) * gradient])
    other = (0.0, 0.0) if exact else other_laws(left_over, few, gram, each, differences, size, first=0)
    return Measured(
        p,
        distinct,
        min(singular_ratio(white.T @ white), 1e3 * singular_ratio(gram)),
        float(np.sqrt(np.mean(left_over**2))),
        noise_error,
        float(np.linalg.norm(step)) / size,
        misfit(left_over, few, designs, across, fitted, further, inverse=inverse),
        0.0 if exact else gradient_t(left_over, np.sum(gradient**2, axis=1)),
        len(r),
        spread,
        white=uneven,
        attenuation=0.0 if exact else attenuation(left_over, gradient, spread_of_noise, size, uneven <= EVEN),
        drift=0.0 if exact else drift(J, halves, inverse, r, noise_error, size),
        size=size,
        robustness=robustness(size, sigma),
        vagueness=vague,
        other_law=other[0],
        hidden_law=other[1],
        design_t=None if V is None else float(np.abs(S.T @ T).max() / np.sqrt(len(S))),
    )


def scaled(X: Array) -> tuple[Array, Array]:
    """Columns of root mean square 1, and their sizes (1 for empty ones)."""
    X = np.asarray(X, dtype=np.float64)
    size = np.sqrt(np.mean(X**2, axis=0))
    size = np.where(size > 0, size, 1.0)
    return X / size, size


def tangent(S: Array, L: Array, T: Array | None, R: Array) -> Array:
    """Derivatives of u'Mv along the tangent space at the spans of L and R, an orthonormal basis of it."""
    k = len(L)
    s = S @ np.linalg.qr(np.hstack([L.T, np.eye(S.shape[1])]))[0]
    if T is None:
        columns = [
            (s[:, [i]] * s[:, i:]) * np.where(np.arange(i, s.shape[1]) > i, np.sqrt(2), 1.0) for i in range(k)
        ]
        return np.hstack(columns)
    t = T @ np.linalg.qr(np.hstack([R.T, np.eye(T.shape[1])]))[0]
    columns = [s[:, [i]] * t for i in range(k)] + [s[:, k:] * t[:, [j]] for j in range(k)]
    return np.hstack(columns)


def _white_tangent(S: Array, L: Array, T: Array | None, R: Array) -> tuple[Array, float]:
    """The same for designs with identity second moments; how far theirs were from that."""
    Z, back, spread = _whitened(S)
    if T is None:
        return tangent(Z, L @ back, None, R), spread
    W, back_right, other = _whitened(T)
    return tangent(Z, L @ back, W, R @ back_right), max(spread, other)


def _whitened(S: Array) -> tuple[Array, Array, float]:
    """S in coordinates with identity second moments, the map of factors into them, ||S'S/n - I||_2."""
    values, vectors = np.linalg.eigh(S.T @ S / len(S))
    root = np.sqrt(np.maximum(values, 0.0))
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 1e-7 * root[-1])
    return S @ (vectors * inverse), vectors * root, float(np.abs(values - 1).max())


def _directions(designs: tuple[Array, ...], a: Array, b: Array) -> tuple[Array, Array]:
    """Standardised directions, and terms that a matrix lacks: an offset, linear ones, mixed shapes."""
    a = a / np.maximum(a.std(axis=0), 1e-300)
    ones = np.ones((len(a), 1))
    if len(designs) == 1:
        return np.hstack([a, *designs]), np.hstack([ones, *designs])
    b = b / np.maximum(b.std(axis=0), 1e-300)
    sa, sb = np.clip(a, -5, 5), np.clip(b, -5, 5)
    mixed = [sa**3 * sb, sa * sb**3, np.abs(sa) * sb, sa * np.abs(sb), np.abs(sa * sb), sa**2, sb**2]
    return np.hstack([a, b, *designs]), np.hstack([ones, *designs, *mixed])
