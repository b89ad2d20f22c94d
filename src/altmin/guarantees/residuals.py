"""What a residual says: is it noise, or is there more to find? Tests that machines and sensing share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import nnls

from altmin.engine.side_by_side import Begin, at_once

Array = NDArray[Any]
EVEN = 1.5  # of white_ratio: up to it noise doesn't depend on the features
EXACT = 1e-6  # relative residual below which nothing is left to test
_FEW_COLUMNS = 64  # of which the norm of a matrix is computed as it is
_APART = 1e6  # condition number of a Gram matrix up to which single precision is enough
_POWERS = 8  # iterations for that of others
_SAFE = 1e-12  # reciprocal condition from which on Cholesky's inverse of a Gram matrix is as good as any


def singular_ratio(gram: Array) -> float:
    """Smallest over largest singular value of a Jacobian: 0 where the rows can't tell parameters apart."""
    values = np.linalg.eigvalsh(gram)
    return float(np.sqrt(max(values[0], 0.0) / max(values[-1], 1e-300)))


def inverse_gram(gram: Array) -> Array:
    """(J'J)^-1; the pseudo-inverse, at ten times the cost, where parameters can hardly be told apart."""
    factor, failed = lapack.dpotrf(gram.T)
    if not failed and lapack.dpocon(factor, np.abs(gram).sum(axis=0).max())[0] > _SAFE:
        upper = lapack.dpotri(factor, overwrite_c=True)[0]
        upper.flat[:: len(gram) + 1] *= 0.5
        return np.asarray(upper + upper.T)
    return np.asarray(np.linalg.pinv(gram, rcond=1e-14, hermitian=True))


def weighted_norms(left: Array, weights: Array, right: Array) -> Array:
    """||sum w u v'|| over the rows, for each row of weights.

    Of many columns by power iterations from below, as what chance leaves is compared with more of its kind.
    """
    if min(left.shape[1], right.shape[1]) <= _FEW_COLUMNS:
        M = np.stack([left.T @ (w[:, None] * right) for w in weights])
        return np.asarray(np.linalg.norm(M, 2, axis=(1, 2)) if left is not right else _largest(M))
    W = weights.T
    V = np.random.default_rng(0).standard_normal((right.shape[1], len(weights))).astype(right.dtype)
    for _ in range(_POWERS):
        U = left.T @ (W * (right @ (V / np.maximum(np.linalg.norm(V, axis=0), 1e-30))))
        V = right.T @ (W * (left @ (U / np.maximum(np.linalg.norm(U, axis=0), 1e-30))))
    return np.asarray(np.linalg.norm(V, axis=0))


def _largest(M: Array) -> Array:
    return np.abs(np.linalg.eigvalsh(M)).max(axis=1)


def gradient_t(r: Array, gradient: Array) -> float:
    """|t| of r^2 against the squared gradient: large where features carry noise."""
    if np.std(gradient) == 0 or np.std(r) == 0:
        return 0.0
    return float(abs(np.corrcoef(r**2, gradient)[0, 1]) * np.sqrt(len(r)))


def white_ratio(r: Array, left: Array, right: Array, seed: int = 0) -> float:
    """||sum (r^2 - mean) u v'|| over its largest value for eight permutations: noise that depends on x."""
    centred = r**2 / max(float(np.mean(r**2)), 1e-300) - 1.0
    rng = np.random.default_rng(seed)
    drawn = np.stack([centred, *(rng.permutation(centred) for _ in range(8))]).astype(np.float32)
    few = left.astype(np.float32)  # of a ratio few digits are enough
    norms = weighted_norms(few, drawn, few if left is right else right.astype(np.float32))
    return float(norms[0] / max(float(norms[1:].max()), 1e-300))


def influence(J: Array, inverse: Array) -> Array:
    """What the target of each row adds to each parameter; with few digits, where these are well apart."""
    apart = float(np.vdot(J, J)) * float(np.linalg.norm(inverse)) / len(inverse) < _APART
    kind = np.float32 if apart else np.float64
    return np.asarray(J.astype(kind) @ inverse.astype(kind))


def robust_error(each: Array, inverse: Array, r: Array, exact: bool) -> tuple[float, float]:
    """Norm of the standard errors of the parameters, whatever the noise of each row; its relative error.

    Few rows may make up most of it. Where fits are exact, what is left is rounding, which is of one size.

    Parameters
    ----------
    each : ndarray of shape (n_samples, n_parameters)
        Influence of each row.
    inverse : ndarray of shape (n_parameters, n_parameters)
        Of J'J.
    r : ndarray of shape (n_samples,)
        Residual.
    exact : bool
        Whether nothing but rounding is left.
    """
    n, p = each.shape
    scale = n / max(n - p, 1)
    plain = float(np.mean(r**2)) * scale * float(np.trace(inverse))
    if exact:
        return float(np.sqrt(plain)), 0.0
    parts = r**2 * np.einsum("ij,ij->i", each, each)
    total = float(parts.sum())
    return float(np.sqrt(max(plain, scale * total))), float(np.linalg.norm(parts)) / max(total, 1e-300)


def half_grams(J: Array, begin: Begin = at_once) -> tuple[Array, Array]:
    """J'J of the early rows, and of the late ones."""
    half = len(J) // 2
    early, late = (begin(np.matmul, part.T, part) for part in (J[:half], J[half:]))
    return early.result(), late.result()


def drift(
    J: Array, halves: tuple[Array, Array], inverse: Array, r: Array, noise: float, size: float
) -> float:
    """Difference of the least-squares steps of early and late rows, over what noise explains.

    Of many rows that is twice the noise of all; half of a few is worse than its number.
    """
    half = len(r) // 2
    if half < J.shape[1]:
        return float("nan")
    inverses = [inverse_gram(part) for part in halves]
    steps = [
        part @ (J[rows].T @ r[rows])
        for part, rows in zip(inverses, (slice(0, half), slice(half, None)), strict=True)
    ]
    apart = float(np.linalg.norm((steps[0] - steps[1])[1:])) / size
    more = sum(float(np.trace(part)) for part in inverses) / max(float(np.trace(inverse)), 1e-300)
    return apart / max(0.01, 1.5 * float(np.sqrt(max(more, 4.0))) * noise)


def robustness(size: float, sigma: float) -> float:
    """Share of noise and feature that a hidden cause has to explain to move the model by a tenth."""
    f2 = (0.1 * size) ** 2 / max(sigma**2, 1e-300)
    return 2 / (1 + np.sqrt(1 + 4 / f2))  # the share q with q^2 / (1 - q) = f2


def attenuation(r: Array, gradient: Array, spread: Array, size: float, even: bool) -> float:
    """Largest share of the model that noise in one feature may hide, by what the residuals allow.

    Noise of variance tau^2 in a feature adds tau^2 g^2 to the squared residual, g being the derivative, and
    shrinks its coefficients by tau^2. Whatever other noise there is, tau^2 is at most the mean of w r^2 over
    that of w g^2 for any weights w of the rows; those that ask where noise is small and g large say most.
    Where noise is even, the slope of r^2 on g^2 bounds it, too.

    Parameters
    ----------
    r : ndarray of shape (n_samples,)
        Residual.
    gradient : ndarray of shape (n_samples, n_features)
        Derivatives of the prediction.
    spread : ndarray of shape (n_samples, n_terms)
        What the size of noise may follow: non-negative functions of the features.
    size : float
        Of the model, in units of the residual.
    even : bool
        Whether noise was found not to depend on the features.
    """
    squares, g2 = r**2, gradient**2
    mean = np.maximum(g2.mean(axis=0), 1e-300)
    tau2 = np.minimum(float(squares.mean()) / mean, 1.0)  # half of a feature at most
    noise = np.maximum(_variance(squares, spread), 1e-3 * squares.mean() + 1e-300)[:, None]
    share = g2 / noise / np.maximum((g2 / noise).mean(axis=0), 1e-300)
    for power in range(4):
        w = share**power / noise
        weighted = w * squares[:, None]
        most = weighted.mean(axis=0) + 2 * weighted.std(axis=0) / np.sqrt(len(r))
        tau2 = np.minimum(tau2, most / np.maximum((w * g2).mean(axis=0), 1e-300))
    if even:
        tau2 = np.minimum(tau2, _slope_bound(squares, g2))
    return float(np.max(np.sqrt(mean) * tau2)) / size


def _variance(squares: Array, spread: Array) -> Array:
    """Squared residuals as a sum of an even part and some of these functions, none of them negative."""
    terms = np.column_stack([np.ones(len(spread)), spread])
    unit = np.maximum(terms.mean(axis=0), 1e-300)
    # The same problem, of few rows.
    R = np.asarray(np.linalg.qr(np.column_stack([terms / unit, squares]), mode="r"))
    return np.asarray(terms @ (nnls(R[:, :-1], R[:, -1], maxiter=50 * len(R))[0] / unit))


def _slope_bound(squares: Array, g2: Array) -> Array:
    """What the slope of r^2 on each g^2 is at most, where g varies."""
    spread = g2 - g2.mean(axis=0)
    variance = np.maximum(np.mean(spread**2, axis=0), 1e-300)
    slope = np.mean(spread * (squares - squares.mean())[:, None], axis=0) / variance
    left = squares[:, None] - squares.mean() - spread * slope
    se = np.sqrt(np.mean((spread * left) ** 2, axis=0) / len(squares)) / variance
    return np.asarray(np.maximum(slope, 0.0) + 2 * se)
