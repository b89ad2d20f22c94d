"""What a residual says: is it noise, or is there more to find? Tests that machines and sensing share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[Any]
EVEN = 1.5  # of white_ratio: up to it noise doesn't depend on the features
EXACT = 1e-6  # relative residual below which nothing is left to test


def singular_ratio(J: Array) -> float:
    """Smallest over largest singular value of a Jacobian: 0 where the rows can't tell parameters apart."""
    values = np.linalg.eigvalsh(J.T @ J)
    return float(np.sqrt(max(values[0], 0.0) / max(values[-1], 1e-300)))


def gradient_t(r: Array, gradient: Array) -> float:
    """|t| of r^2 against the squared gradient: large where features carry noise."""
    if np.std(gradient) == 0 or np.std(r) == 0:
        return 0.0
    return float(abs(np.corrcoef(r**2, gradient)[0, 1]) * np.sqrt(len(r)))


def white_ratio(r: Array, left: Array, right: Array, seed: int = 0) -> float:
    """||sum (r^2 - mean) u v'|| over its largest value for eight permutations: noise that depends on x."""
    centred = r**2 - np.mean(r**2)
    rng = np.random.default_rng(seed)

    def norm(weights: Array) -> float:
        return float(np.linalg.norm(left.T @ (weights[:, None] * right), 2))

    return norm(centred) / max(*(norm(rng.permutation(centred)) for _ in range(8)), 1e-300)


def robust_error(J: Array, inverse: Array, r: Array) -> float:
    """Norm of the standard errors of the parameters, whatever the noise of each row."""
    n, p = J.shape
    scale = n / max(n - p, 1)
    plain = float(np.mean(r**2)) * scale * float(np.trace(inverse))
    weighted = J * r[:, None]
    sandwich = float(np.sum((inverse @ (weighted.T @ weighted)) * inverse))
    return float(np.sqrt(max(plain, scale * sandwich)))


def drift(J: Array, gram: Array, r: Array, noise: float, size: float) -> float:
    """Difference of the least-squares steps of early and late rows, over what noise explains."""
    half = len(r) // 2
    if half < J.shape[1]:
        return float("nan")
    early = J[:half].T @ J[:half]
    steps = [
        np.linalg.pinv(part, rcond=1e-14, hermitian=True) @ (J[rows].T @ r[rows])
        for part, rows in ((early, slice(0, half)), (gram - early, slice(half, None)))
    ]
    apart = float(np.linalg.norm((steps[0] - steps[1])[1:])) / size
    return apart / max(0.01, 3 * noise)


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
    Q, R = np.linalg.qr(terms / unit)  # the same problem, of few rows
    return np.asarray(terms @ (nnls(R, Q.T @ squares, maxiter=50 * len(R))[0] / unit))


def _slope_bound(squares: Array, g2: Array) -> Array:
    """What the slope of r^2 on each g^2 is at most, where g varies."""
    spread = g2 - g2.mean(axis=0)
    variance = np.maximum(np.mean(spread**2, axis=0), 1e-300)
    slope = np.mean(spread * (squares - squares.mean())[:, None], axis=0) / variance
    left = squares[:, None] - squares.mean() - spread * slope
    se = np.sqrt(np.mean((spread * left) ** 2, axis=0) / len(squares)) / variance
    return np.asarray(np.maximum(slope, 0.0) + 2 * se)
