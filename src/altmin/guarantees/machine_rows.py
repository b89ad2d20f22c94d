r"""What rows say about a fitted factorization machine, y = b + x'w + x'Mx.

With J the Jacobian of the predictions along (b, w, tangent of M), without gauge directions, the error that
noise leaves is about :math:`\hat\sigma \|J^+\|_F`, and :math:`J^+ r` is how far the fit is from least
squares. What is left over must look like noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.lens import Lens
from altmin.algorithms.quadratic.low_rank import UserModel
from altmin.contract import record
from altmin.engine.side_by_side import Begin, at_once
from altmin.guarantees.misfit import Misfit, first_of_copies, misfit
from altmin.guarantees.mixture import other_laws
from altmin.guarantees.residuals import (
    EVEN,
    EXACT,
    attenuation,
    drift,
    gradient_t,
    half_grams,
    influence,
    inverse_gram,
    robust_error,
    robustness,
    singular_ratio,
    weighted_norms,
    white_ratio,
)

MAX_PARAMETERS = 1200


@record
class RowEvidence:
    """What a sample of rows says about a fitted quadratic model."""

    parameters: int
    distinct: float  # rows of all that aren't near copies of others
    conditioning: float  # sigma_min / sigma_max of J in whitened columns, or standardised ones
    residual: float  # relative
    noise_error: float  # sigma-hat ||J^+||_F, relative to the size of (w, M)
    step: float  # ||J^+ r||, relative
    misfit: Misfit  # what the residual still holds
    gradient_t: float  # of r^2 against the squared gradient: noise in the features
    rip: float  # shifted CI-RIP constant on a quarter of the rows
    rip_more: float  # and on all of them: half of it, if it is sampling error
    n_sample: int
    sigma: float  # of the noise, as a share of the spread of y
    left: float = 1.0  # of the residual after one more Gauss-Newton step, relative
    kurtosis: float = 3.0  # of that residual
    tail: float = 0.0  # norm of the quadratic that it still holds: sigma_(k+1), in units of y
    smallest: float = 0.0  # sigma_k, in standardised columns and units of y
    largest: float = 0.0  # sigma_1
    slope: float = 0.0  # ||w||
    white: float = 0.0  # dependence of r^2 on the features, over that of permuted r^2
    attenuation: float = 0.0  # share of the model that noise in one feature may hide
    drift: float = 0.0  # early against late rows, over what noise explains
    size: float = 1.0  # of the model, in units of y
    robustness: float = 1.0  # share of noise and feature that a hidden cause needs to move it by a tenth
    vagueness: float = 0.0  # relative error of noise_error
    other_law: float = 0.0  # how far other rows, as the squares of the residual show them, moved the model
    hidden_law: float = 0.0  # and how far such that those don't show could have
    two_valued: float = np.inf  # rank of M beside a column with two values, over its error
    own: bool = False  # whether squares of single columns have coefficients beside those of rank k


def rows_to_look_at(p: int, full: bool = False) -> int:
    """Rows whose Jacobian costs a fraction of a second, but six per parameter; more at full effort."""
    return int(np.clip((4e8 if full else 1e8) / p**2, max(6 * p, 1000), 50_000))


def n_parameters(d: int, k: int) -> int:
    """Free parameters of (b, w, M)."""
    return 1 + d + d * k - k * (k - 1) // 2


def measure_rows(
    lens: Lens,
    model: UserModel,
    X: NDArray[Any],
    y: NDArray[Any],
    distinct: float,
    seed: int = 0,
    begin: Begin = at_once,
) -> RowEvidence | None:
    """Look at a sample of rows through the fitted model.

    Parameters
    ----------
    lens : Lens
        Coordinates of the fit.
    model : UserModel
        The fit.
    X, y : ndarray
        The sample.
    distinct : float
        How many rows, of all, aren't near copies of others.
    seed : int
        For permutations.
    begin : callable
        Begins what can be computed side by side.

    Returns
    -------
    RowEvidence or None
        None where there are too many parameters for a Jacobian.
    """
    values = model.eigenvalues
    real = np.abs(values) > 1e-8 * np.abs(values).max(initial=1e-300)
    F, k, beside = model.factors[real], int(real.sum()), model.diagonal is not None
    p = n_parameters(X.shape[1], k) + X.shape[1] * beside
    if p > MAX_PARAMETERS or len(y) < 2:
        return None
    own = first_of_copies(np.column_stack([X / column_units(X), y / max(float(np.std(y)), 1e-300)]))
    X, y = X[own], y[own]
    r = np.asarray(y - model.predict(X), dtype=np.float64) / lens.target_scale
    target = lens.target(np.asarray(y, dtype=np.float64))
    Z = lens.project(np.asarray(X, dtype=np.float64), np.eye(X.shape[1]))
    unit = column_units(X)
    size = _size(model, unit, lens.target_scale)
    S = (np.asarray(X, dtype=np.float64) - model.centre) / unit
    single = np.eye(len(unit)) if beside else None  # squares of these directions are free
    J = jacobian(S, F * unit, single)
    halves = half_grams(J, begin)
    p, gram = J.shape[1], halves[0] + halves[1]
    inverse, white_gram = inverse_gram(gram), gram
    if lens.T.ndim == 2:
        white_J = jacobian(Z, _through(lens, F), None if single is None else _through(lens, single / unit))
        white_gram = white_J.T @ white_J
    ratio = begin(singular_ratio, white_gram)
    sigma = float(np.sqrt(np.sum(r**2) / max(len(r) - p, 1)))
    step = inverse @ (J.T @ r)
    step_error = float(np.linalg.norm(step[1:])) / size
    left = r - J @ step  # after one more Gauss-Newton step: what no parameter explains
    directions = _directions(S, model, unit)
    spread = max(float(np.linalg.norm(target - target.mean())), 1e-300)
    share = float(np.linalg.norm(left)) / spread
    exact = share <= EXACT  # rounding follows no further law
    fitted, rest = target - left, np.zeros_like(left) if exact else left
    few = J.astype(np.float32)  # of what chance gives few digits are enough
    each = influence(J, inverse)
    noise, vague = robust_error(each, inverse, left, exact)
    further = misfit(rest, few, (S,), directions, fitted, seed=seed, inverse=inverse)
    noise_error = noise / size
    white = 0.0 if exact else white_ratio(left, S, S, seed)
    scaled = values[real] / lens.target_scale
    spread_of_noise = np.column_stack([fitted**2, S**2])
    gradient = model.slope * unit / lens.target_scale + 2 * (S @ (F * unit).T * scaled) @ (F * unit)
    if beside:
        gradient += 2 * S * (model.diagonal * unit**2 / lens.target_scale)
    differences = np.column_stack([fitted - fitted.mean(), S * gradient])
    other = (0.0, 0.0) if exact else other_laws(left, few, gram, each, differences, size, first=1)
    error = float(np.hypot(noise_error, step_error)) * size
    two_valued = np.inf if beside else _beside_two_valued(F * unit, scaled, lens, error)
    return RowEvidence(
        p,
        distinct,
        ratio.result(),
        float(np.linalg.norm(r)) / spread,
        noise_error,
        step_error,
        further,
        0.0 if exact else gradient_t(left, np.sum(gradient**2, axis=1)),
        _rip(Z[: max(len(Z) // 4, 1)], _through(lens, F), values[real]),
        _rip(Z, _through(lens, F), values[real]),
        len(r),
        sigma,
        share,
        float(np.mean(left**4)) / max(float(np.mean(left**2)) ** 2, 1e-300),
        float(weighted_norms(S, left[None], S)[0]) / (2 * len(left)),
        *_spectrum(F * unit, scaled),
        float(np.linalg.norm(model.slope * unit)) / lens.target_scale,
        white=white,
        attenuation=0.0 if exact else attenuation(left, gradient, spread_of_noise, size, white <= EVEN),
        drift=0.0 if exact else drift(J, halves, inverse, r, noise_error, size),
        size=size,
        robustness=robustness(size, sigma),
        vagueness=vague,
        other_law=other[0],
        hidden_law=other[1],
        two_valued=two_valued,
        own=beside,
    )


def jacobian(Z: NDArray[Any], F: NDArray[Any], squares: NDArray[Any] | None = None) -> NDArray[Any]:
    """Derivatives of b + z'w + z'Mz in (b, w, tangent of M), without gauge directions.

    M is of the rank of F, beside squares of the given directions (the rows of `squares`). Columns beyond b
    and w are z'Tz for orthonormal matrices T: where a square can be written by the factors, too (those of
    x1 x2 are of x1 and x2 alone), it counts once, as M doesn't depend on who has it.
    """
    n, d = Z.shape
    basis = np.linalg.qr(np.hstack([F.T, np.eye(d)]))[0] if len(F) else np.eye(d)
    first, second = np.triu_indices(len(F), m=d)
    weight = np.where(first == second, 1.0, np.sqrt(2))
    t = Z @ basis
    quadratic = weight * t[:, first] * t[:, second]
    if squares is not None:
        # Inner products of the matrices of both kinds of columns.
        s = squares @ basis
        across = weight * s[:, first] * s[:, second]
        gram = np.block([[np.eye(len(weight)), across.T], [across, np.square(squares @ squares.T)]])
        unit = 1 / np.sqrt(np.diag(gram))
        values, vectors = np.linalg.eigh(gram * unit * unit[:, None])
        apart = values > 1e-12 * values[-1]
        columns = np.hstack([quadratic, np.square(Z @ squares.T)]) * unit
        quadratic = columns @ (vectors[:, apart] / np.sqrt(values[apart]))
    return np.hstack([np.ones((n, 1)), Z, quadratic])


def column_units(X: NDArray[Any]) -> NDArray[Any]:
    """Standard deviations of the columns, 1 for constant ones."""
    sd = np.asarray(X, dtype=np.float64).std(axis=0)
    return np.where(sd > 0, sd, 1.0)


def _size(model: UserModel, unit: NDArray[Any], target_scale: float) -> float:
    """Norm of (w, M) in standardised columns and units of y; a model of next to nothing counts as 1e-3."""
    M = _matrix_norm(model.factors * unit, model.eigenvalues, _own(model) * unit**2)
    return max(float(np.hypot(np.linalg.norm(model.slope * unit), M)) / target_scale, 1e-3)


def _matrix_norm(F: NDArray[Any], values: NDArray[Any], own: NDArray[Any]) -> float:
    """||F' diag(values) F + diag(own)||_F, without forming it."""
    R = np.linalg.qr(F.T)[1] if len(F) else np.zeros((0, 0))
    across = 2 * own @ (values @ np.square(F)) + own @ own
    return float(np.sqrt(max(np.sum(np.square((R * values) @ R.T)) + across, 0.0)))


def _own(model: UserModel) -> NDArray[Any]:
    return np.zeros(len(model.centre)) if model.diagonal is None else np.asarray(model.diagonal)


def _spectrum(F: NDArray[Any], values: NDArray[Any]) -> tuple[float, float]:
    """Smallest and largest magnitude of the eigenvalues of F' diag(values) F; 0 without any."""
    if not len(values):
        return 0.0, 0.0
    R = np.linalg.qr(F.T)[1]
    found = np.abs(np.linalg.eigvalsh((R * values) @ R.T))
    return float(found.min()), float(found.max())


def _beside_two_valued(F: NDArray[Any], values: NDArray[Any], lens: Lens, error: float) -> float:
    """Smallest eigenvalue of M without a column whose square tells nothing, over the error of M.

    That square's coefficient follows from the rank: M beside its row and column must have all of it, clearly
    above noise, or another coefficient does as well, however small the error is to first order.
    """
    k, d = F.shape
    found = np.inf
    for j in np.flatnonzero(lens.blind) if k and lens.blind is not None else ():
        left = _spectrum(np.delete(F, j, axis=1), values)[0] if d > k else 0.0
        found = min(found, left / max(error, 1e-300))
    return float(found)


def _through(lens: Lens, F: NDArray[Any]) -> NDArray[Any]:
    """Factors of x as (unnormalised) factors of z."""
    if lens.T.ndim == 2:
        return np.asarray(F @ np.linalg.pinv(lens.T).T)
    return np.asarray(F * np.divide(1.0, lens.T, out=np.zeros_like(lens.T), where=lens.T > 0))


def _directions(S: NDArray[Any], model: UserModel, unit: NDArray[Any]) -> NDArray[Any]:
    across = np.column_stack([S * unit @ model.slope, S * unit @ model.factors.T, S])
    spread = across.std(axis=0)
    return np.asarray(across / np.where(spread > 0, spread, 1.0))


def _rip(Z: NDArray[Any], F: NDArray[Any], values: NDArray[Any]) -> float:
    """||A'A(M)/2n - tr(M) I/2 - M||_2 / ||M||_2 on these rows (Theorem 4)."""
    if not len(F):
        return float("nan")
    m = np.square(Z @ F.T) @ values
    M = (F.T * values) @ F
    shifted = Z.T @ ((m - m.mean())[:, None] * Z) / (2 * len(Z)) - M
    return float(np.abs(np.linalg.eigvalsh(shifted)).max() / max(np.abs(np.linalg.eigvalsh(M)).max(), 1e-300))


def difference(model: UserModel, other: UserModel, unit: NDArray[Any]) -> float:
    """||(w, M) - (w', M')|| / ||(w, M)||, about the first one's centre, in columns scaled by unit."""
    shift = other.centre - model.centre
    moved = other.slope - 2 * (other.eigenvalues * (other.factors @ shift)) @ other.factors
    moved = moved - 2 * _own(other) * shift
    both = np.vstack([model.factors, other.factors]) * unit
    values = np.concatenate([model.eigenvalues, -other.eigenvalues])
    apart = _matrix_norm(both, values, (_own(model) - _own(other)) * unit**2)
    whole = _matrix_norm(model.factors * unit, model.eigenvalues, _own(model) * unit**2)
    gap = np.hypot(apart, np.linalg.norm((model.slope - moved) * unit))
    return float(gap / max(np.hypot(whole, np.linalg.norm(model.slope * unit)), 1e-300))
