"""Loops of the sparse factorization machine: sums of each row, and a small system for each column.

A row of ``sums`` holds, of the entries x of the row and the means m and variances S of their columns,

    q = sum x m,  s = sum x^2 S,  t = sum x^3 m S            (one number for each factor)
    a = sum x w - sum (x m)^2 / 2                            (so that f = b + a + |q|^2 / 2)
    c = sum x^2 S_w - sum (x^2 S)^2 / 2 + sum x^4 S m^2      (so that var f = c + sum s^2 / 2 + q^2 s - 2 q t)

Column 0 of m and S is the linear coefficient w; the others are the factors.
"""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled


@compiled
def move_row(indptr, indices, data, scale, i, low, high, m, S, sign, row):  # type: ignore[no-untyped-def] # numba
    """Add (sign 1) or take off (sign -1) what the columns low to high contribute to the sums of row i.

    Parameters
    ----------
    indptr, indices, data : ndarray
        Rows in the CSR format, indices sorted.
    scale : ndarray of shape (d,)
        What the columns are multiplied with.
    i : int
        The row.
    low, high : int
        The columns; row j - low of ``m`` and ``S`` belongs to column j.
    m, S : ndarray of shape (high - low, 1 + k)
        Means and variances.
    sign : float
        1 or -1.
    row : ndarray of shape (3 k + 2,)
        The sums; changed in place.
    """
    k = m.shape[1] - 1
    for p in range(indptr[i], indptr[i + 1]):
        j = indices[p]
        if j < low or j >= high:
            continue
        v = data[p] * scale[j]
        vv = v * v
        a, c = v * m[j - low, 0], vv * S[j - low, 0]
        for f in range(k):
            mu, sigma = v * m[j - low, 1 + f], vv * S[j - low, 1 + f]
            row[f] += sign * mu
            row[k + f] += sign * sigma
            row[2 * k + f] += sign * mu * sigma
            a -= 0.5 * mu * mu
            c += sigma * mu * mu - 0.5 * sigma * sigma
        row[3 * k] += sign * a
        row[3 * k + 1] += sign * c


@compiled
def predict_rows(indptr, indices, data, scale, m, S, b, f, variance):  # type: ignore[no-untyped-def] # numba
    """Mean and variance of the model's value for each row.

    Parameters
    ----------
    indptr, indices, data, scale, m, S : as above
        The rows, and all columns.
    b : float
        Intercept.
    f, variance : ndarray of shape (n,)
        Written.
    """
    k = m.shape[1] - 1
    row = np.empty(3 * k + 2)
    for i in range(len(f)):
        row[:] = 0.0
        move_row(indptr, indices, data, scale, i, 0, len(scale), m, S, 1.0, row)
        f[i], variance[i] = row_value(row, b)


@compiled
def row_value(row, b):  # type: ignore[no-untyped-def] # numba
    """Mean and variance of f from the sums of a row."""
    k = (len(row) - 2) // 3
    value, spread = b + row[3 * k], row[3 * k + 1]
    for j in range(k):
        q, s, t = row[j], row[k + j], row[2 * k + j]
        value += 0.5 * q * q
        spread += 0.5 * s * s + q * q * s - 2 * q * t
    return value, max(spread, 0.0)


@compiled
def move_rows(indptr, indices, data, scale, low, high, old_m, old_S, m, S, b, sums, f, variance):  # type: ignore # numba
    """Bring sums up to date with columns low to high, whose means and variances changed; then the values.

    Parameters
    ----------
    indptr, indices, data, scale, low, high : as above
        Rows and columns.
    old_m, old_S, m, S : ndarray of shape (high - low, 1 + k)
        Means and variances that the sums hold, and those that they are to hold.
    b : float
        Intercept.
    sums : ndarray of shape (n, 3 k + 2)
        Changed in place.
    f, variance : ndarray of shape (n,)
        Written.
    """
    for i in range(len(f)):
        if high > low:
            move_row(indptr, indices, data, scale, i, low, high, old_m, old_S, -1.0, sums[i])
            move_row(indptr, indices, data, scale, i, low, high, m, S, 1.0, sums[i])
        f[i], variance[i] = row_value(sums[i], b)


@compiled
def column_systems(indptr, indices, data, scale, low, high, slots, m, S, sums, pull, kappa, out):  # type: ignore # numba
    """Sums G and h of the system G step = h of each column low to high.

    Where a row has several entries in the range, its curvature counts as many times: the joint step of
    those columns is then still a descent of the row's loss.

    Parameters
    ----------
    indptr, indices, data, scale, low, high : as above
        Rows and columns.
    slots : ndarray of int, (high - low,)
        The row of ``out`` that each column adds to.
    m, S : ndarray of shape (high - low, 1 + k)
        Means and variances of these columns.
    sums : ndarray of shape (n, 3 k + 2)
        With these columns included.
    pull, kappa : ndarray of shape (n,)
        ``target - kappa f`` and the curvature of each row's loss.
    out : ndarray of shape (n_slots, (k + 1) (k + 2) / 2 + k + 1)
        Added to: the lower triangle of G, then h.
    """
    k = m.shape[1] - 1
    z = np.empty(k + 1)
    spread = np.zeros(k + 1)
    for i in range(len(indptr) - 1):
        if kappa[i] == 0.0:
            continue
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            if low <= indices[p] < high:
                count += 1
        if count == 0:
            continue
        row, e, curvature = sums[i], pull[i], kappa[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p] - low
            if j < 0 or j >= high - low:
                continue
            target = out[slots[j]]
            v = data[p] * scale[j + low]
            vv = v * v
            z[0] = v
            at = (k + 1) * (k + 2) // 2
            target[at] += e * v
            for f in range(k):
                mean, variance = m[j, 1 + f], S[j, 1 + f]
                q = row[f] - v * mean
                s = max(row[k + f] - vv * variance, 0.0)
                t = row[2 * k + f] - v * vv * mean * variance
                z[1 + f] = v * q
                spread[1 + f] = vv * s
                target[at + 1 + f] += e * v * q - curvature * (v * (q * s - t) + vv * s * mean)
            at = 0
            for f in range(k + 1):
                left = curvature * count * z[f]
                for g in range(f + 1):
                    target[at + g] += left * z[g]
                at += f + 1
                target[at - 1] += curvature * count * spread[f]


@compiled
def solve_systems(packed, ids, prior_mean, prior_precision, m, S):  # type: ignore[no-untyped-def] # numba
    """Solve each column's system with its prior added, by Cholesky: m moves by G^-1 h, S is 1 / diag G.

    Parameters
    ----------
    packed : ndarray of shape (n_ids, (k + 1) (k + 2) / 2 + k + 1)
        Of :func:`column_systems`.
    ids : ndarray of int
        Rows of the other arrays that the systems belong to.
    prior_mean, prior_precision : ndarray of shape (n_columns, 1 + k)
        The prior.
    m, S : ndarray of shape (n_columns, 1 + k)
        Changed in place.
    """
    width = m.shape[1]
    L = np.zeros((width, width))
    h = np.empty(width)
    for number in range(len(ids)):
        j = ids[number]
        row = packed[number]
        at = width * (width + 1) // 2
        for f in range(width):
            h[f] = row[at + f] + prior_precision[j, f] * (prior_mean[j, f] - m[j, f])
        at = 0
        for f in range(width):
            for g in range(f + 1):
                value = row[at + g]
                if g == f:
                    value += prior_precision[j, f]
                for r in range(g):
                    value -= L[f, r] * L[g, r]
                L[f, g] = np.sqrt(max(value, 1e-300)) if g == f else value / L[g, g]
            at += f + 1
        for f in range(width):
            for r in range(f):
                h[f] -= L[f, r] * h[r]
            h[f] /= L[f, f]
        for back in range(width):
            f = width - 1 - back
            for r in range(f + 1, width):
                h[f] -= L[r, f] * h[r]
            h[f] /= L[f, f]
            m[j, f] += h[f]
        for f in range(width):  # S = diag G^-1, a column of L^-1 at a time
            total = 0.0
            for r in range(f, width):
                value = 1.0 if r == f else 0.0
                for q in range(f, r):
                    value -= L[r, q] * h[q]
                h[r] = value / L[r, r]
                total += h[r] * h[r]
            S[j, f] = total
