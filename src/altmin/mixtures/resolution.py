"""From spectra of mixtures to the spectra of what is in them, and how much of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from altmin.estimators.nonnegative.and_nmf import AND
from altmin.guarantees.report import GuaranteeReport
from altmin.mixtures.constraints import Constraints, check_constraints, contributions, in_order, spectra_of

_MOST_ROUNDS = 500
_TOLERANCE = 1e-7  # relative fall of the residual at which the alternation ends


@dataclass(frozen=True)
class Resolution:
    """What :func:`resolve` found.

    Parameters
    ----------
    spectra : ndarray of shape (n_components, n_wavelengths)
        One spectrum per component; of sum 1, or in the units that closure or known spectra give.
    contributions : ndarray of shape (n_rows, n_components)
        How much of each component is in each row, of all runs.
    constraints : Constraints
        What was asked for; ``constraints.said()`` has it in sentences.
    residual : float
        What is left over, relative to the data, in norm.
    noise : float
        Standard deviation of an entry, from what lies outside the leading directions of the data.
    model : AND
        The fit from which the alternation started.
    data : ndarray of shape (n_rows, n_wavelengths)
        The stacked runs.
    """

    spectra: NDArray[Any]
    contributions: NDArray[Any]
    constraints: Constraints
    residual: float
    noise: float
    model: Any
    data: NDArray[Any]

    @property
    def guarantee(self) -> GuaranteeReport:
        """AND's report on the start, in which only non-negativity counts."""
        return self.model.guarantee_

    def run(self, number: int) -> NDArray[Any]:
        """The contributions in one run, numbered from 0."""
        begins = self.constraints.runs
        return self.contributions[begins[number] : begins[number + 1]]

    def __str__(self) -> str:
        head = f"{len(self.spectra)} components, {self.residual:.2%} of the data left over"
        noise = f"noise {self.noise:.3g}"
        return "\n".join([f"{head} ({noise})", *(f"  {line}" for line in self.constraints.said())])


def resolve(
    X: ArrayLike | Sequence[ArrayLike],
    n_components: int,
    *,
    runs: Sequence[int] | None = None,
    closure: float | None = None,
    unimodal: bool | Sequence[int] = False,
    absent: ArrayLike | None = None,
    known: dict[int, ArrayLike] | None = None,
) -> Resolution:
    r"""Multivariate curve resolution: pure spectra and contributions from spectra of mixtures.

    .. math:: X \approx C S, \qquad C \ge 0, \quad S \ge 0

    where a row of X is the spectrum of a mixture (at one time of a run), a row of S the spectrum of a
    component, and C says how much of it there is. The start is :class:`altmin.AND`, which needs no guess and
    no seed. Where more is known than that nothing is negative, alternating least squares with these
    constraints
    follow; otherwise they would only wander in what the data leave open, which
    :func:`feasible_bands` shows.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_wavelengths), or list of them
        Spectra in the order of time; a list holds several runs with the same wavelengths.
    n_components : int
        Number of components.
    runs : sequence of int or None
        Rows of each run, where X is one table; None: a single run.
    closure : float or None
        The sum of the contributions in each row (mass balance); it sets the scales of the spectra.
    unimodal : bool or sequence of int
        Whether contributions have a single peak in each run, as in chromatography; or which components do.
    absent : array-like of bool of shape (n_rows, n_components) or None
        True where a component is known to be missing (selectivity). The pattern says which component is
        meant: found ones are put in the order that fits it best.
    known : dict of int to array-like or None
        Spectra that are known, by the number of the component from 0.

    Returns
    -------
    Resolution
        Spectra, contributions, the constraints that were used.

    Notes
    -----
    **Guarantee.** Without constraints that of :class:`altmin.AND` (``result.guarantee``). In general many
    factorizations explain the data equally well; :func:`feasible_bands` says how far they reach.

    **Cost.** That of AND, and with constraints up to 500 alternations of non-negative least squares.

    References
    ----------
    J. Jaumot, R. Gargallo, A. de Juan and R. Tauler, A graphical user-friendly interface for MCR-ALS: a new
    tool for multivariate curve resolution in MATLAB, Chemometrics and Intelligent Laboratory Systems 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import spectral_angle
    >>> from altmin.mixtures import resolve
    >>> time, wavelength = np.arange(60)[:, None], np.arange(80)[:, None]
    >>> C = np.exp(-((time - [20, 32, 42]) ** 2) / 50)
    >>> S = np.exp(-((wavelength - [15, 40, 60]) ** 2) / 200).T
    >>> found = resolve(C @ S, 3, unimodal=True)
    >>> bool(spectral_angle(found.spectra, S).max() < 0.05)
    True
    """
    data, lengths = _stacked(X, runs)
    if not 1 <= n_components <= min(data.shape):
        raise ValueError(f"n_components={n_components}: 1 to {min(data.shape)} are possible for {data.shape}")
    asked = check_constraints(data, n_components, lengths, closure, unimodal, absent, known)
    model = AND(n_components, nonnegative_components=True, decoder="nnls", noise="gaussian")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the residual below says how good it is
        model.fit(data)
    S = np.maximum(model.components_.astype(np.float64), 0.0)
    free = check_constraints(data, n_components, lengths, None, False, None, None)
    S = S[in_order(S, contributions(data, S, free), asked)]
    C, S = _alternate(data, S, asked) if asked.any else (contributions(data, S, asked), S)
    C, S = scaled(C, S, asked)
    residual = float(np.linalg.norm(data - C @ S)) / max(float(np.linalg.norm(data)), 1e-300)
    return Resolution(S, C, asked, residual, noise_of(data, n_components), model, data)


def _stacked(
    X: ArrayLike | Sequence[ArrayLike], runs: Sequence[int] | None
) -> tuple[NDArray[Any], Sequence[int] | None]:
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2:
        parts = [np.asarray(part, np.float64) for part in X]
        widths = {part.shape[1] for part in parts}
        if runs is not None or len(widths) > 1:
            raise ValueError(
                f"runs have {sorted(widths)} wavelengths; one list of them, all alike, is needed"
            )
        data, runs = np.vstack(parts), [len(part) for part in parts]
    else:
        data = np.asarray(X, np.float64)
    if data.ndim != 2 or 0 in data.shape:
        raise ValueError(f"X has shape {data.shape}; (n_rows, n_wavelengths) is needed")
    if not np.isfinite(data).all():
        row, column = np.argwhere(~np.isfinite(data))[0]
        raise ValueError(f"X holds {data[row, column]} in row {row}, column {column}")
    return data, runs


def _alternate(X: NDArray[Any], S: NDArray[Any], asked: Constraints) -> tuple[NDArray[Any], NDArray[Any]]:
    """Constrained least squares for contributions and spectra in turn, until the residual stops falling."""
    before, C = np.inf, None
    for _ in range(_MOST_ROUNDS):
        C = contributions(X, S, asked, C)
        empty = np.linalg.norm(C, axis=0) == 0
        C[:, empty] = 1e-12  # a component that vanished may come back
        S = spectra_of(X, C, asked)
        error = float(np.sum((X - C @ S) ** 2))
        if before - error <= _TOLERANCE * max(error, 1e-300) and before >= error:
            break
        before = error
    return contributions(X, S, asked, C), S


def scaled(C: NDArray[Any], S: NDArray[Any], asked: Constraints) -> tuple[NDArray[Any], NDArray[Any]]:
    """Spectra of sum 1, or, with closure, contributions that add up; known spectra keep their units."""
    size = S.sum(axis=1)
    if asked.closure is not None:
        size = np.linalg.lstsq(C, np.full(len(C), asked.closure), rcond=None)[0]
        if not np.all(size > 0):
            raise ValueError("closure: no positive scales make the contributions add up; it doesn't hold")
    elif asked.known:
        size[list(asked.known)] = 1.0
    size = np.where(size > 0, size, 1.0)
    return C * size, S / size[:, None]


def noise_of(X: NDArray[Any], K: int) -> float:
    """Standard deviation of an entry, from the energy outside the K leading directions."""
    left = np.linalg.svd(X, compute_uv=False)[K:]
    freedom = (X.shape[0] - K) * (X.shape[1] - K)
    return float(np.sqrt(np.sum(left**2) / freedom)) if freedom > 0 else 0.0
