"""What is known of a mixture beyond that nothing is negative, and profiles that keep to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.kernels.nnls import nnls
from altmin.kernels.unimodal import one_peak
from altmin.metrics.matching import match_components

_SWEEPS = 5  # over the components, in one alternation


@dataclass(frozen=True)
class Constraints:
    """What is asked of profiles and spectra, checked.

    Parameters
    ----------
    runs : ndarray of int of shape (n_runs + 1,)
        Where each run begins in the stacked rows, and where the last one ends.
    closure : float or None
        What the contributions of a row add up to.
    unimodal : ndarray of bool of shape (n_components,)
        Components with one peak in each run.
    absent : ndarray of bool of shape (n_rows, n_components)
        Where a component is known to be missing.
    known : dict of int to ndarray
        Spectra that are given.
    """

    runs: NDArray[np.intp]
    closure: float | None
    unimodal: NDArray[np.bool_]
    absent: NDArray[np.bool_]
    known: dict[int, NDArray[Any]]

    @property
    def any(self) -> bool:
        """Whether anything is asked but non-negativity; closure alone only sets scales."""
        return bool(self.unimodal.any() or self.absent.any() or self.known)

    def said(self) -> list[str]:
        """The constraints in sentences, for reports."""
        lines = ["Spectra and contributions are not negative."]
        if len(self.runs) > 2:
            lines.append(f"{len(self.runs) - 1} runs share their spectra.")
        if self.closure is not None:
            lines.append(f"Contributions of a row add up to {self.closure:g} (in least squares, by scale).")
        if self.unimodal.any():
            lines.append(f"One peak in each run: {_listed(self.unimodal)}.")
        if self.absent.any():
            share = self.absent.mean(axis=0)
            parts = [f"{k + 1} in {share[k]:.0%} of the rows" for k in np.flatnonzero(share)]
            lines.append(f"Known to be absent: component {', '.join(parts)}.")
        if self.known:
            lines.append(
                f"Known spectra: {_listed(np.isin(np.arange(len(self.unimodal)), list(self.known)))}."
            )
        return lines


def _listed(mask: NDArray[np.bool_]) -> str:
    if mask.all():
        return "all components"
    return "component " + ", ".join(str(k + 1) for k in np.flatnonzero(mask))


def check_constraints(
    X: NDArray[Any],
    n_components: int,
    runs: Sequence[int] | None,
    closure: float | None,
    unimodal: bool | Sequence[int],
    absent: ArrayLike | None,
    known: dict[int, ArrayLike] | None,
) -> Constraints:
    """The constraints as arrays; an error that names what doesn't fit.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_wavelengths)
        The spectra.
    n_components, runs, closure, unimodal, absent, known
        As in :func:`altmin.mixtures.resolve`.

    Returns
    -------
    Constraints
        Checked.
    """
    n, W = X.shape
    lengths = [n] if runs is None else [int(length) for length in runs]
    if sum(lengths) != n or min(lengths) < 1:
        raise ValueError(f"runs={lengths} add up to {sum(lengths)} rows; X has {n}")
    if closure is not None and not (np.isfinite(closure) and closure > 0):
        raise ValueError(f"closure={closure}: a positive sum of the contributions is needed")
    peaks = np.full(n_components, unimodal is True)
    if not isinstance(unimodal, bool):
        peaks[_numbers(unimodal, n_components, "unimodal")] = True
    gone = np.zeros((n, n_components), bool) if absent is None else np.asarray(absent)
    if gone.shape != (n, n_components) or gone.dtype != bool:
        raise ValueError(
            f"absent has shape {gone.shape} and dtype {gone.dtype}; booleans of shape {(n, n_components)}, "
            "True where a component is known to be missing, are needed"
        )
    if gone.all(axis=1).any():
        raise ValueError(f"absent: nothing is left in row {int(np.argmax(gone.all(axis=1)))}")
    spectra = {int(k): np.asarray(s, np.float64) for k, s in (known or {}).items()}
    _numbers(spectra, n_components, "known")
    for k, spectrum in spectra.items():
        if spectrum.shape != (W,) or not np.all(np.isfinite(spectrum)) or spectrum.sum() <= 0:
            raise ValueError(f"known[{k}] has shape {spectrum.shape}; {W} numbers of positive sum are needed")
    return Constraints(np.concatenate([[0], np.cumsum(lengths)]), closure, peaks, gone, spectra)


def _numbers(given: Any, n_components: int, name: str) -> list[int]:
    numbers = [int(k) for k in given]
    if any(not 0 <= k < n_components for k in numbers):
        raise ValueError(f"{name}={numbers}: components are numbered from 0 to {n_components - 1}")
    return numbers


def in_order(S: NDArray[Any], C: NDArray[Any], asked: Constraints) -> NDArray[np.intp]:
    """Which found component plays which part: known spectra by cosine, others by where they are absent."""
    K = len(S)
    order = np.full(K, -1)
    if asked.known:
        numbers = list(asked.known)
        index, _ = match_components(S, np.array([asked.known[k] for k in numbers]), signed=True)
        order[numbers] = index
    places = np.flatnonzero(order < 0)
    rest = np.setdiff1d(np.arange(K), order[order >= 0])
    if len(rest) and asked.absent.any():
        from scipy.optimize import linear_sum_assignment

        size = C / np.maximum(np.linalg.norm(C, axis=0), 1e-300)
        wrong = asked.absent[:, places].T.astype(float) @ size[:, rest] ** 2
        _, chosen = linear_sum_assignment(wrong)
        rest = rest[chosen]
    order[places] = rest
    return order


def contributions(
    X: NDArray[Any], S: NDArray[Any], asked: Constraints, C: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Non-negative contributions of the spectra that keep to the constraints, going on from C if it is given.

    The exact least squares; where peaks are asked for, sweeps over the components, each of which takes the
    best profile that keeps to its constraints while the others stay.
    """
    G, H = S @ S.T, X @ S.T
    peaked = bool(asked.unimodal.any())
    if C is None or not peaked:
        C = np.zeros(H.shape)
        for pattern in np.unique(asked.absent, axis=0):
            rows, on = np.all(asked.absent == pattern, axis=1), ~pattern
            C[np.ix_(rows, on)] = nnls(G[np.ix_(on, on)], H[np.ix_(rows, on)])
    for _ in range(_SWEEPS if peaked else 0):
        for k in np.flatnonzero(np.diag(G) > 0):
            wanted = np.maximum(C[:, k] + (H[:, k] - C @ G[:, k]) / G[k, k], 0.0)
            wanted[asked.absent[:, k]] = 0.0
            if asked.unimodal[k]:
                for low, high in zip(asked.runs[:-1], asked.runs[1:], strict=True):
                    wanted[low:high] = one_peak(wanted[low:high])
            C[:, k] = wanted
    return C


def spectra_of(X: NDArray[Any], C: NDArray[Any], asked: Constraints) -> NDArray[Any]:
    """Non-negative spectra of the contributions; known ones as they are."""
    K = C.shape[1]
    S = np.zeros((K, X.shape[1]))
    for k, spectrum in asked.known.items():
        S[k] = spectrum
    free = np.setdiff1d(np.arange(K), list(asked.known))
    rest = X - C @ S
    S[free] = nnls(C[:, free].T @ C[:, free], rest.T @ C[:, free]).T
    return S
