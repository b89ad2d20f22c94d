"""What a residual says: is it noise, or is there more to find? Tests that machines and sensing share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
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


def attenuation(r: Array, gradient: Array, size: float) -> float:
    """Largest share of the model that noise in one feature may hide, by what the residuals allow.

    Noise of variance tau^2 in a feature adds tau^2 g^2 to the squared residual, g being the derivative, and
    shrinks its coefficients by tau^2. Where g varies, the slope of r^2 on g^2 bounds tau^2; where it doesn't,
    only the size of the residual does.
    """
    squares, g2 = r**2, gradient**2
    mean = np.maximum(g2.mean(axis=0), 1e-300)
    bound = np.minimum(float(squares.mean()) / mean, 1.0)  # half of a feature at most
    spread = g2 - g2.mean(axis=0)
    variance = np.maximum(np.mean(spread**2, axis=0), 1e-300)
    slope = np.mean(spread * (squares - squares.mean())[:, None], axis=0) / variance
    left = squares[:, None] - squares.mean() - spread * slope
    se = np.sqrt(np.mean((spread * left) ** 2, axis=0) / len(r)) / variance
    tau2 = np.minimum(bound, np.maximum(slope, 0.0) + 2 * se)
    return float(np.max(np.sqrt(mean) * tau2)) / size
