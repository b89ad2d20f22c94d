r"""Do all rows follow one law? What a mixture of two would do to the squares of a residual.

Where a share q of the rows follows another quadratic, which differs by :math:`\Delta(x)`, a fit finds their
mean, :math:`q\Delta` off, and the squares of what it leaves grow by :math:`q(1-q)\Delta^2`. So the slope v
of squared residuals on :math:`\Delta^2` bounds what such rows can have done, whichever they are: with two
fifths of the rows at most, the fit is :math:`\sqrt{v q / (1 - q)}` off along :math:`\Delta`. Noise may be
uneven by itself; its squares grow as well, but not its shape. What a second law adds to a residual takes two
values, :math:`(1 - q)\Delta` and :math:`-q\Delta`, and of these the excess kurtosis is the squared skewness
less 2; what uneven noise adds has neither (or heavy tails), whatever shape the rest has. Where that can be
seen, two fifths of what the squares allow count.

Tried are the fitted values (targets that were scaled, lost or mixed up), each feature times its derivative
(another unit, another sign, another value), and the directions of the parameters along which squared
residuals grow most (anything else).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, cholesky, eigh, solve_triangular
from scipy.sparse.linalg import eigsh

Array = NDArray[Any]
_SHARE = 0.4  # of the rows that may follow another law
_CLIPS = (3.0, 10.0)  # robust deviations: against heavy tails, and where noise is small beside the mixture
_FAR = 4.0  # times its mean, beyond which a squared difference counts no more
_CHANCE = 2.0  # standard errors of a slope
_RIDGE = 1e-9  # where parameters can't be told apart
_PART = 0.4  # of what squares allow that counts where noise is uneven by its shape
_SLIGHT = 0.02  # of the model: up to it shapes change nothing
_COLUMNS = 8  # at most, whose skewness is looked at
_LEANS = 2.5  # standard errors of a skewness
_SURE = 3.0  # those of a kurtosis
_WIDE = 5.0  # deviations, beyond which rows count no more in a skewness or kurtosis
_DIRECTIONS = 2  # of the parameters, with each clip
_LANCZOS = 100  # parameters from which on it is quicker


def other_laws(
    r: Array, J: Array, gram: Array, influence: Array, differences: Array, size: float, first: int
) -> tuple[float, float]:
    """How far a second law among the rows has moved the model: what squares show, and what they could hide.

    Parameters
    ----------
    r : ndarray of shape (n_samples,)
        Residual of least squares.
    J : ndarray of shape (n_samples, n_parameters)
        Jacobian, whose columns from `first` on measure (w, M).
    gram : ndarray of shape (n_parameters, n_parameters)
        J'J.
    influence : ndarray of shape (n_samples, n_parameters)
        Of each row's target on each parameter.
    differences : ndarray of shape (n_samples, n_differences)
        What the values of another law could differ by.
    size : float
        Of the model, in units of the residual.
    first : int
        Parameters that don't count: 1 where there is an intercept.

    Returns
    -------
    seen, hidden : float
        Relative to the model; `seen` is below, and `hidden` above the estimate by two standard errors.
    """
    Q, root = _whitened(J, gram)
    leverage = np.einsum("ij,ij->i", influence, J)
    squares = r**2 / np.maximum(1 - leverage, 0.1)
    unit = (float(np.median(np.abs(r))) / 0.6745) ** 2
    clipped = [np.minimum(squares, clip**2 * unit) for clip in _CLIPS]
    weight = 1 / (1 + leverage / (3 * float(leverage.mean())))  # far rows alone give no direction
    columns, directions = _steepest(Q, weight, clipped)
    coefficients = np.linalg.norm(solve_triangular(root, directions)[:, first:], axis=1)
    changed = np.linalg.norm((influence.T @ differences.astype(influence.dtype))[first:], axis=0)
    moved = [changed / _size(differences), coefficients.mean(axis=0) * np.sqrt(len(r))]
    D = np.hstack([differences, columns])
    D = D / _size(D)
    far = np.concatenate(moved) / size * np.sqrt(_SHARE / (1 - _SHARE))
    slopes = [_slopes(part, D**2) for part in clipped]
    each = np.max([np.sqrt(np.maximum(v - _CHANCE * se, 0.0)) * far for v, se in slopes], axis=0)
    seen, counts = float(each.max()), 1.0
    if seen > _SLIGHT:
        most = np.argsort(-each)[:_COLUMNS]
        most = most[each[most] > _PART * seen]  # the others allow no more than what is left
        equal = r / np.sqrt(np.maximum(1 - leverage, 0.1))
        uneven = _uneven_by_shape(equal, D[:, most], slopes[1][0][most], float(clipped[1].mean()))
        counts = _PART if uneven else 1.0
    most_of = [np.sqrt(counts**2 * np.maximum(v, 0.0) + _CHANCE * se) * far for v, se in slopes]
    return counts * seen, float(np.max(most_of))


def _size(columns: Array) -> Array:
    return np.asarray(np.maximum(np.sqrt(np.mean(np.square(columns), axis=0)), 1e-300))


def _whitened(J: Array, gram: Array) -> tuple[Array, Array]:
    """Rows in coordinates where J'J is the identity, and the upper triangle that leads back."""
    p = len(gram)
    root = cholesky(gram + _RIDGE * float(np.trace(gram)) / p * np.eye(p))
    few = np.float32  # of a direction few digits are enough
    return blas.strsm(1.0, root.astype(few), J.T.astype(few, copy=False), trans_a=1).T, root


def _steepest(Q: Array, weight: Array, clipped: list[Array]) -> tuple[Array, Array]:
    """Directions along which squares grow most; those of every other row are found on the rows between.

    What is steepest by chance alone is so among the rows that it was chosen on, and not among others.

    Parameters
    ----------
    Q : ndarray of shape (n_samples, n_parameters)
        Rows in coordinates where their Gram matrix is the identity.
    weight : ndarray of shape (n_samples,)
        Of each row.
    clipped : list of ndarrays of shape (n_samples,)
        Squares, from the most clipped ones on.

    Returns
    -------
    columns : ndarray of shape (n_samples, n_directions)
        Values along the directions.
    directions : ndarray of shape (2, n_parameters, n_directions)
        Those of either half of the rows.
    """
    halves = (slice(0, None, 2), slice(1, None, 2))
    directions = []
    for rows in halves:
        part = Q[rows] * np.sqrt(weight[rows]).astype(Q.dtype)[:, None]
        whole, found = part.T @ part, []
        grown: Any = 0.0
        last: Any = 0.0
        for squares in clipped:
            more = np.sqrt(squares[rows] - last).astype(Q.dtype)
            further = part[more > 0] * more[more > 0, None]  # few rows are beyond the first clip
            grown, last = grown + further.T @ further, squares[rows]
            matrix = grown - Q.dtype.type(squares.mean()) * whole
            found.append(_largest(matrix))
        directions.append(np.hstack(found))
    columns = np.empty((len(Q), directions[0].shape[1]))
    for rows, other in zip(halves, directions[::-1], strict=True):
        columns[rows] = Q[rows] @ other
    return columns, np.array(directions)


def _uneven_by_shape(r: Array, D: Array, v: Array, mean: float) -> bool:
    """Whether the part of a residual that grows along D neither leans nor takes two values, as laws do.

    Skewness and excess kurtosis of independent parts add up, each times a power of its share of the variance:
    they are fitted to that of the part that grows, and to that of the rest, which may be anything.

    Parameters
    ----------
    r : ndarray of shape (n_samples,)
        Residual.
    D : ndarray of shape (n_samples, n_differences)
        What laws could differ by, of mean square 1; the most likely one first.
    v : ndarray of shape (n_differences,)
        Slope of squared residuals on the square of each.
    mean : float
        Of the squared residuals.
    """
    variance = np.maximum(mean + v * (D**2 - 1), 0.05 * mean)
    x = np.clip(r[:, None] / np.sqrt(variance), -_WIDE, _WIDE).T
    u = np.clip(np.sqrt(np.maximum(v, 0.0)) * D / np.sqrt(variance), -1, 1).T
    rest = 1 - u**2
    # Hermite polynomials, for which a variance that is a little off doesn't count.
    leans = [_first(a**3 - 3 * a, b**3, c**1.5) for a, b, c in zip(x, u, rest, strict=True)]
    if any(abs(lean) > _LEANS * error for lean, error in leans):
        return False
    (lean, error), (tails, vague) = leans[0], _first(x[0] ** 4 - 6 * x[0] ** 2 + 3, u[0] ** 4, rest[0] ** 2)
    return bool(tails + 2 - lean**2 > _SURE * np.hypot(vague, 2 * lean * error))


def _first(values: Array, *terms: Array) -> tuple[float, float]:
    """Coefficient of the first term in least squares, and its error, whatever the noise of each row."""
    A = np.column_stack(terms)
    inverse = np.linalg.pinv(A.T @ A, hermitian=True)
    found = inverse @ (A.T @ values)
    each = (values - A @ found) * (A @ inverse[0])
    return float(found[0]), float(np.linalg.norm(each))


def _largest(matrix: Array) -> Array:
    """Eigenvectors of the largest eigenvalues; a few digits of them, by Lanczos, where it is large."""
    p = len(matrix)
    if p < _LANCZOS:
        return np.asarray(eigh(matrix, subset_by_index=(max(p - _DIRECTIONS, 0), p - 1))[1])
    return np.asarray(eigsh(matrix, _DIRECTIONS, which="LA", tol=1e-3, v0=np.ones(p, matrix.dtype))[1])


def _slopes(squares: Array, D2: Array) -> tuple[Array, Array]:
    """Slope of squares on each column of mean 1, and its standard error; rows far out count as others do."""
    near = np.minimum(D2, _FAR)
    z = near - near.mean(axis=0)
    spread = np.maximum(np.mean(z * D2, axis=0), 1e-300)
    rest = (squares - squares.mean())[:, None]
    slope = np.mean(z * rest, axis=0) / spread
    error = np.sqrt(np.mean(np.square(z * (rest - slope * z)), axis=0) / len(squares))
    return slope, error / spread
