"""How far the factorizations reach that explain the same data: bands of feasible solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.feasible import slacks, wander
from altmin.mixtures.resolution import Resolution

_LINE = 0.05  # of the peak: a band that is thinner is drawn, and called, a line
_MOST_SLACK = 1.5  # times that of the solution
_OWN_NOISE = 2.0  # standard deviations of a profile's own noise that are added to its band


@dataclass(frozen=True)
class Bands:
    """What :func:`feasible_bands` found.

    Parameters
    ----------
    spectra : ndarray of shape (2, n_components, n_wavelengths)
        Lowest and highest feasible spectra, point by point.
    contributions : ndarray of shape (2, n_rows, n_components)
        Lowest and highest feasible contributions.
    shares : ndarray of shape (2, n_components)
        Smallest and largest share of each component in the data (norm of what it contributes over that of
        the data).
    widths : ndarray of shape (2, n_components)
        Widest place of the band of the spectrum, and of the contributions, over the peak of the solution.
    determined : ndarray of bool of shape (n_components,)
        Whether both bands are lines: nowhere wider than 5 % of the peak.
    slack : float
        How many standard deviations of the noise entries were allowed below 0.
    """

    spectra: NDArray[Any]
    contributions: NDArray[Any]
    shares: NDArray[Any]
    widths: NDArray[Any]
    determined: NDArray[np.bool_]
    slack: float

    def __str__(self) -> str:
        lines = []
        for k, (low, high) in enumerate(self.shares.T):
            width = f"spectrum {self.widths[0, k]:.0%}, contributions {self.widths[1, k]:.0%} of the peak"
            word = "a line: determined" if self.determined[k] else f"up to {width} wide"
            lines.append(f"component {k + 1}: share {low:.3f} to {high:.3f}, {word}")
        return "\n".join(lines)


def feasible_bands(resolution: Resolution, *, n_moves: int = 3000, random_state: int = 0) -> Bands:
    r"""Lowest and highest profiles that explain the data as well and keep all constraints.

    .. math:: C S = (C T^{-1})(T S), \qquad C T^{-1} \ge -\epsilon, \quad T S \ge -\epsilon

    Non-negativity and the other constraints rarely leave a single solution: any invertible T that keeps them
    makes another one that fits exactly as well. For each component the search goes to its largest and
    smallest contribution, and to the most and least of every other spectrum in its own. Where the band is a
    line the component is determined; else the width is the honest answer.

    Parameters
    ----------
    resolution : Resolution
        From :func:`resolve`; its constraints are kept.
    n_moves : int
        Random moves for each of the searches (two for each pair of components).
    random_state : int
        Seed.

    Returns
    -------
    Bands
        Bounds of spectra and contributions, in the units of the resolution.

    Notes
    -----
    **Guarantee.** Every solution inside was reached, so the bands are never too wide but for the noise. They
    may be too narrow where the search ended early: more moves can only widen them. Slack: entries may be
    below 0 by as much as the largest of that many noisy zeros; two standard deviations of a profile's own
    noise are added to its band.

    **Cost.** 2 n_components^2 searches of n_moves moves of n_components (n_rows + n_wavelengths) operations.

    References
    ----------
    R. Tauler, Calculation of maximum and minimum band boundaries of feasible solutions for species profiles
    obtained by multivariate curve resolution, Journal of Chemometrics 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.mixtures import feasible_bands, resolve
    >>> rng = np.random.default_rng(0)
    >>> C = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), 40)])  # each component once alone, and in pairs
    >>> C[5:20, 0], C[20:30, 1], C[30:, 2] = 0, 0, 0
    >>> S = np.exp(-((np.arange(50) - np.array([[10], [25], [40]])) ** 2) / 30)
    >>> bands = feasible_bands(resolve(C @ S, 3))
    >>> bool(bands.determined.all())
    True
    """
    C, S, asked = _in_span(resolution)
    n, K = C.shape
    z = float(np.sqrt(2 * np.log(max(n, S.shape[1]) * K)))
    loose, tight = np.empty(K), np.empty(K)
    slacks(C, S, resolution.noise, z, loose, tight)
    tiny = 1e-9 * np.array([np.abs(C).max(axis=0), np.abs(S).max(axis=1)])
    floor = np.maximum(tiny, [np.maximum(-C.min(axis=0), 0.0), np.maximum(-S.min(axis=1), 0.0)])
    limits = np.vstack([floor, np.maximum(floor, _MOST_SLACK * np.array([loose, tight]))])
    noise = (resolution.noise, z, float(np.linalg.norm(resolution.data)))
    bounds = (C.copy(), C.copy(), S.copy(), S.copy(), np.tile(_sizes(C, S), (2, 1)))
    rng = np.random.default_rng(random_state)
    for goal in _goals(K):
        start = C.copy(), S.copy(), np.eye(K)
        draws = rng.random((n_moves, 5)), rng.standard_normal((n_moves, K))
        wander(*start, noise, limits, asked, goal, *draws, bounds)
    return _bands(resolution, bounds, loose / z, tight / z, z)


def _goals(K: int) -> list[tuple[int, int, int]]:
    pairs = [(k, other) for k in range(K) for other in range(K)]
    return [(k, other, sign) for k, other in pairs for sign in (1, -1)] if K > 1 else []


def _in_span(resolution: Resolution) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Contributions by plain least squares: with the noise that non-negativity would hide."""
    S = np.ascontiguousarray(resolution.spectra)
    C = np.ascontiguousarray(np.linalg.lstsq(S.T, resolution.data.T, rcond=None)[0].T)
    asked = resolution.constraints
    known = np.isin(np.arange(len(S)), list(asked.known))
    return C, S, (np.ascontiguousarray(asked.absent), asked.unimodal, asked.runs.astype(np.int64), known)


def _sizes(C: NDArray[Any], S: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.linalg.norm(C, axis=0) * np.linalg.norm(S, axis=1))


def _bands(resolution: Resolution, bounds: Any, of_profiles: Any, of_spectra: Any, slack: float) -> Bands:
    low_c, high_c, low_s, high_s, sizes = bounds
    own_c, own_s = _OWN_NOISE * of_profiles, _OWN_NOISE * of_spectra[:, None]
    own_s[list(resolution.constraints.known)] = 0.0
    profiles = np.maximum([low_c - own_c, high_c + own_c], 0.0)
    spectra = np.maximum([low_s - own_s, high_s + own_s], 0.0)
    C, S = resolution.contributions, resolution.spectra
    widths = np.array(
        [
            np.max(spectra[1] - spectra[0], axis=1) / np.maximum(S.max(axis=1), 1e-300),
            np.max(profiles[1] - profiles[0], axis=0) / np.maximum(C.max(axis=0), 1e-300),
        ]
    )
    shares = sizes / max(float(np.linalg.norm(resolution.data)), 1e-300)
    return Bands(spectra, profiles, shares, widths, widths.max(axis=0) <= _LINE, slack)
