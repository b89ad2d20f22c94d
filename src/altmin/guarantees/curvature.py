"""Are samples sums of parts at all? Where features saturate or parts multiply, what is left over is curved.

A distortion of each feature adds about a square and a cube of the fitted value to it, or a step at 0 where
values were moved towards 0 and small ones lost. Least squares hides what the codes can explain of that; the
rest of it must be found in the residual, or there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.gram import row_blocks

Array = NDArray[Any]
_STEP = 0.1  # half of a step's width
_FAR = 5.0  # root mean squares beyond which values count as these
_MOST = (1.0, 1.0, 2.0)  # of squares, cubes and steps: where small codes were missed, steps are doubled, too
_ONE_WAY = 3.0  # deviations of an even number of both signs


def curved(X: Array, codes: Array) -> float:
    """Largest |t| of the residual on squares, cubes and steps of fitted values, beyond what codes explain.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    codes : ndarray of shape (n_samples, n_components)
        What they are made of.

    Returns
    -------
    float
        Each sample counts once, whatever its noise; about 2 for sums with noise. NaN where nothing is left.
    """
    if not len(X):
        return np.nan
    gram = codes.T @ codes
    inverse = np.linalg.pinv(gram, rcond=1e-12, hermitian=True)
    atoms = inverse @ (codes.T @ X)
    size = float(np.sqrt(max(np.sum(atoms * (gram @ atoms)), 0.0) / X.size))
    blocks = list(row_blocks(len(X)))
    explained = inverse @ sum(codes[rows].T @ _shapes(codes[rows] @ atoms, size) for rows in blocks)
    sums = np.zeros((2, len(_MOST)))
    for rows in blocks:
        fitted = codes[rows] @ atoms
        by_row = np.einsum("ij,sij->si", X[rows] - fitted, _shapes(fitted, size) - codes[rows] @ explained)
        sums += by_row.sum(axis=1), np.square(by_row).sum(axis=1)
    told = sums[1] > 0
    t = np.abs(sums[0, told]) / (np.array(_MOST)[told] * np.sqrt(sums[1, told]))
    return float(t.max()) if len(t) else np.nan


def _shapes(fitted: Array, size: float) -> Array:
    """What a distortion adds to fitted values of this root mean square: squares, cubes, steps."""
    unit = np.clip(fitted / max(size, 1e-300), -_FAR, _FAR)
    return np.stack([unit * unit, unit * unit * unit, np.tanh(unit / _STEP)])


def leaning(rest: Array, codes: Array, atoms: Array) -> float:
    """Largest |t| of the cubes of what is left over in a feature: noise is as often positive as negative.

    The larger of two values, a size, or a value that is never negative leaves more on one side. Small codes
    that were missed do so, too, where most codes of an atom have one sign: what lies along such atoms is left
    out.

    Parameters
    ----------
    rest : ndarray of shape (n_samples, n_features)
        What the codes leave over.
    codes : ndarray of shape (n_samples, n_components)
        What samples are made of.
    atoms : ndarray of shape (n_components, n_features)
        Of what.

    Returns
    -------
    float
        0 where no direction says anything.
    """
    used = np.maximum(np.count_nonzero(codes, axis=0), 1)
    one_way = atoms[np.abs(np.sign(codes).sum(axis=0)) > _ONE_WAY * np.sqrt(used)]
    if len(one_way) >= rest.shape[1]:
        return 0.0
    if len(one_way):
        along = np.linalg.qr(one_way.T)[0]
        rest = rest - (rest @ along) @ along.T
    rest = rest - rest.mean(axis=0)
    told = np.sum(rest**2, axis=0) > 1e-12 * float(np.sum(rest**2))
    rest = rest[:, told]
    cubes = rest * rest * rest
    size = np.sqrt(np.einsum("ij,ij->j", cubes, cubes))
    return float(np.max(np.abs(cubes.sum(axis=0)) / size, initial=0.0))


def piled_share(X: Array) -> float:
    """Share of the entries that are piled up: values were cut at a level, or filled in.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples with noise, no copies among them; without any noise equal entries are no surprise.

    Returns
    -------
    float
        At the largest value of all or of a feature, at its least one where that is above 0, or at the one
        that it has most often; of the worst place. 0 where fewer than ten entries are there, or others next
        to it are half as many.
    """
    if not X.size:
        return 0.0
    grid, worst = max(grid_step(X), 1.0 if are_whole(X) else 0.0), 0.0
    for values in (X.ravel()[:, None], X):
        low, high = values.min(axis=0), values.max(axis=0)
        usual = _most_frequent(values, grid)
        for level, wide in (
            (np.where(high > 0, high, np.nan), 0.03),
            (np.where(low > 0, low, np.nan), 0.03),
            (np.where(usual != 0, usual, np.nan), 0.003),
        ):
            away, size = np.abs(values - level), np.maximum(np.abs(high), np.abs(low))
            there = np.sum(away <= 1e-7 * size, axis=0)
            near = np.sum(away <= np.maximum(wide * size, 1.5 * grid) + 1e-7 * size, axis=0) - there
            worst = max(worst, float(np.sum(there[there >= np.maximum(10, 2 * near)])) / X.size)
    return worst


def _most_frequent(X: Array, grid: float) -> Array:
    """Of each column the value that most entries share, other than 0 and those of the grid; or 0."""
    found = np.zeros(X.shape[1])
    for number, column in enumerate(X.T):
        column = np.sort(column[column != 0])
        if grid > 0:
            column = column[np.abs(column / grid - np.rint(column / grid)) > 1e-3]
        if len(column) < 2:
            continue
        starts = np.flatnonzero(np.r_[True, np.diff(column) > 1e-9 * np.abs(column[1:])])
        lengths = np.diff(np.r_[starts, len(column)])
        if lengths.max() > 1:
            found[number] = column[starts[lengths.argmax()]]
    return found


def cut_off(X: Array, grid: float = 0.0) -> float:
    """Share of the entries that are piled up at an end of all values, or of their own feature's.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples with noise.
    grid : float
        Distance of neighbouring values, where they lie on a grid: a level is no pile beside its neighbour.

    Returns
    -------
    float
        Of the worst end; 0 where there is no pile.
    """
    worst = 0.0
    for values in (X.ravel()[:, None], X):
        for side in (values, -values):
            top = side.max(axis=0, initial=0.0)
            at_top = np.sum(side >= top * (1 - 1e-9), axis=0)
            window = np.maximum(0.03 * top, 1.5 * grid)
            below = np.sum(side >= top - window, axis=0) - at_top
            piled = (top > 0) & (at_top >= np.maximum(10, 2 * below))
            worst = max(worst, float(np.sum(at_top[piled])) / max(X.size, 1))
    return worst


def lost_share(X: Array, fitted: Array) -> float:
    """Share of the entries that are exactly 0 where everything else says that there is much.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples with noise.
    fitted : ndarray of shape (n_samples, n_features)
        What they should be.

    Returns
    -------
    float
        Much is more than six times the noise of a typical entry, a fifth of a typical value, and 15 counts.
        All zeros count where the other values lie on a grid that misses 0: they were put in.
    """
    if X.size and _grid_misses_zero(X):
        return float(np.mean(X == 0))
    noise = 1.5 * float(np.median(np.abs(X - fitted))) if X.size else 0.0
    largest = max(float(np.abs(X).max(initial=0.0)), 1e-300)
    typical = largest * float(np.sqrt(np.mean(np.square(X / largest)))) if X.size else 0.0
    least = max(6 * noise, 0.2 * typical, 15.0 if are_whole(X) else 0.0)
    return float(np.sum((np.abs(X) <= 1e-9 * typical) & (fitted > least))) / max(X.size, 1)


def _grid_misses_zero(X: Array) -> bool:
    """Whether values are a whole number of steps apart, but no whole number of steps from 0."""
    values = np.abs(X[X != 0])
    levels = np.unique(np.round(values, 9))
    if not 1 < len(levels) <= 0.5 * len(values):
        return False
    turns = np.exp(2j * np.pi * values / float(np.median(np.diff(levels))))
    mean = complex(np.mean(turns))
    return bool(np.max(np.abs(turns - mean)) < 0.05 and abs(mean - 1) > 0.1)


def grid_step(X: Array) -> float:
    """Distance of neighbouring values of the feature whose grid is coarsest; 0 where values hardly repeat."""
    steps = [0.0]
    for column in X.T:
        values = column[column != 0]
        levels = np.unique(np.round(values, 9))
        if 1 < len(levels) <= 0.5 * len(values):
            steps.append(float(np.median(np.diff(levels))))
    return max(steps)


def are_whole(X: Array) -> bool:
    """Whether all entries are whole numbers, to rounding."""
    return bool(np.all(np.abs(X - np.round(X)) <= 1e-6 * max(float(np.abs(X).max(initial=0.0)), 1.0)))
