r"""Orthogonal matching pursuit, one signal after the other, in compiled loops.

With chosen atoms :math:`d_{i_1}, \dots, d_{i_j}` and their orthonormalisation :math:`q_1, \dots, q_j`,
both kernels keep, for *every* atom k,

.. math:: b_{jk} = \langle q_j, d_k \rangle, \qquad
          \alpha_k = \langle r, d_k \rangle, \qquad
          \rho_k = \|d_k\|^2 - \sum_{m \le j} b_{mk}^2

(r the residual, :math:`\rho_k` what of atom k lies outside the span of the chosen ones). A step is
:math:`\alpha \leftarrow \alpha - z_j b_j` with :math:`z_j = \langle q_j, x \rangle`. Plain OMP chooses the
largest :math:`|\alpha_k| / \|d_k\|`, optimised selection (ORMP, order-recursive) the largest
:math:`|\alpha_k| / \sqrt{\rho_k}`: the atom that lowers the error most. The chosen columns of b are the
triangular factor R of the chosen atoms, so the codes are one back substitution :math:`R c = z`.

:func:`pursue_gram` gets the :math:`b_j` from the Gram matrix (batch OMP, Rubinstein, Zibulevsky and Elad
2008): K j operations in step j. :func:`pursue_masked` has another Gram matrix for each signal, so it
orthogonalises in signal space, on the observed entries, twice (Kahan: twice is enough).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

Array: TypeAlias = NDArray[Any]

# An alpha below this many units of rounding of the signal's norm is noise: the signal is represented.
ROUNDING = 64.0


def pivot_floor(dtype: Any) -> float:
    """Smallest part of a unit atom (squared) outside the span of others that still counts as new.

    Below eps^(2/3) the direction of that part has fewer than a third of the digits left.
    """
    return float(np.finfo(dtype).eps) ** (2 / 3)


@compiled
def pursue_gram(
    alphas: Array,
    energies: Array,
    gram: Array,
    tols: Array,
    weights: Array,
    pivot: float,
    noise: float,
    optimised: bool,
    atoms: Array,
    codes: Array,
    counts: Array,
) -> None:
    """Pursue each row of ``alphas`` with unit atoms.

    Parameters
    ----------
    alphas : ndarray of shape (n_samples, K)
        Inner products of the signals with the atoms; overwritten.
    energies, tols : ndarray of shape (n_samples,)
        Squared norms of the signals, and of the residuals at which to stop.
    gram : ndarray of shape (K, K)
        Inner products of the atoms.
    weights : ndarray of shape (K,)
        Factors of the squared scores.
    pivot, noise : float
        :func:`pivot_floor`, and the relative size of an alpha that is rounding.
    optimised : bool
        ORMP rather than OMP.
    atoms, codes, counts : ndarray of shapes (n_samples, L), (n_samples, L) and (n_samples,)
        Results: at most L chosen atoms in order, their codes, how many.
    """
    K, L, dtype = gram.shape[0], atoms.shape[1], gram.dtype
    B, R, z = np.empty((L, K), dtype), np.empty((L, L), dtype), np.empty(L, dtype)
    score, rho, minus = np.zeros(K + 31, dtype), np.empty(K, dtype), np.empty(L, dtype)
    for row in range(alphas.shape[0]):
        alpha, energy = alphas[row], energies[row]
        floor = noise * noise * energy
        rho[:] = 1
        for k in range(K):
            score[k] = alpha[k] * alpha[k] * weights[k]
        j = 0
        while j < L and energy > tols[row]:
            i = _best(score, K)
            new = rho[i] if optimised else _outside(B, i, j)
            if alpha[i] * alpha[i] <= floor or not (pivot < new < np.inf):
                break
            # Column j of the triangle R, and the signal along q_j.
            for m in range(j):
                R[j, m] = B[m, i]
                minus[m] = -B[m, i]
            R[j, j] = np.sqrt(new)
            z[j] = alpha[i] / R[j, j]
            energy -= z[j] * z[j]
            atoms[row, j] = i
            j += 1
            if j < L and energy > tols[row]:
                # b_j = (gram_i - sum_m r_m b_m) / r_j
                b = B[j - 1]
                b[:] = gram[i]
                _add_rows(b, B, minus, j - 1)
                if optimised:
                    _step(alpha, rho, b, 1 / R[j - 1, j - 1], z[j - 1], pivot)
                    for k in range(K):
                        score[k] = alpha[k] * alpha[k] * weights[k] / rho[k]
                else:
                    _step_and_score(alpha, b, 1 / R[j - 1, j - 1], z[j - 1], weights, score)
        _solve(R, z, j, codes[row])
        counts[row] = j


@compiled
def pursue_masked(
    X: Array,
    mask: Array,
    D: Array,
    tols: Array,
    weights: Array,
    pivot: float,
    noise: float,
    optimised: bool,
    atoms: Array,
    codes: Array,
    counts: Array,
) -> None:
    """Pursue each row of ``X`` on the entries where ``mask`` is true; else as :func:`pursue_gram`.

    Parameters
    ----------
    X, mask : ndarray of shape (n_samples, n_features)
        Signals, and which of their entries were observed.
    D : ndarray of shape (n_features, K)
        Unit atoms, one a column.
    tols, weights, pivot, noise, optimised, atoms, codes, counts
        As in :func:`pursue_gram`; ``tols`` refer to the observed entries.
    """
    n, K = D.shape
    L, dtype = atoms.shape[1], D.dtype
    seen, b, Q = np.empty((n, K), dtype), np.empty(K, dtype), np.empty((L, n), dtype)
    R, z, x = np.empty((L, L), dtype), np.empty(L, dtype), np.empty(n, dtype)
    score, alpha = np.zeros(K + 31, dtype), np.empty(K, dtype)
    rho, size = np.empty(K, dtype), np.empty(K, dtype)
    for row in range(X.shape[0]):
        n_seen = _observe(X[row], mask[row], D, pivot, x, seen, rho, size)
        energy = _dot(x, x, n_seen)
        alpha[:] = 0
        _add_rows(alpha, seen, x, n_seen)
        floor = noise * noise * energy
        j = 0
        while j < min(L, n_seen) and energy > tols[row]:
            for k in range(K):
                score[k] = alpha[k] * alpha[k] * weights[k] / (rho[k] if optimised else size[k])
            i = _best(score, K)
            if alpha[i] * alpha[i] <= floor or rho[i] == np.inf:
                break
            q = Q[j]
            for t in range(n_seen):
                q[t] = seen[t, i]
            R[j, :j] = 0
            for _ in range(2):
                for m in range(j):
                    along = _dot(Q[m], q, n_seen)
                    R[j, m] += along
                    for t in range(n_seen):
                        q[t] -= along * Q[m, t]
            R[j, j] = np.sqrt(_dot(q, q, n_seen))
            for t in range(n_seen):
                q[t] /= R[j, j]
            z[j] = _dot(q, x, n_seen)
            for t in range(n_seen):  # x becomes the residual
                x[t] -= z[j] * q[t]
            energy = _dot(x, x, n_seen)
            b[:] = 0
            _add_rows(b, seen, q, n_seen)
            _step(alpha, rho, b, 1, z[j], pivot)
            atoms[row, j] = i
            j += 1
        _solve(R, z, j, codes[row])
        counts[row] = j


@compiled
def _observe(
    row: Array, mask: Array, D: Array, pivot: float, x: Array, seen: Array, rho: Array, size: Array
) -> int:
    """Gather the observed entries of a signal and of the atoms, and the atoms' energies there."""
    n_seen = 0
    for t in range(row.shape[0]):
        if mask[t]:
            seen[n_seen] = D[t]
            x[n_seen] = row[t]
            n_seen += 1
    rho[:] = 0
    for t in range(n_seen):
        for k in range(rho.shape[0]):
            rho[k] += seen[t, k] * seen[t, k]
    for k in range(rho.shape[0]):
        rho[k] = rho[k] if rho[k] > pivot else np.inf  # nothing of the atom shows on the mask
        size[k] = rho[k]
    return n_seen


@compiled
def scatter(atoms: Array, codes: Array, counts: Array, out: Array) -> None:
    """Write the codes of each row to their places in ``out``.

    Parameters
    ----------
    atoms, codes, counts : ndarray of shapes (n_samples, L), (n_samples, L) and (n_samples,)
        As the pursuits give them.
    out : ndarray of shape (n_samples, K)
        Zeros.
    """
    for row in range(counts.shape[0]):
        for j in range(counts[row]):
            out[row, atoms[row, j]] = codes[row, j]


@compiled
def _best(score: Array, K: int) -> int:
    """First index of the largest of K scores; zeros follow up to a multiple of 32.

    The largest of each 32 takes vector instructions; only the chunk that holds it is searched.
    """
    best, i = score[0], 0
    for low in range(0, K, 32):
        top = score[low]
        for k in range(low, low + 32):
            top = max(top, score[k])
        if top > best:
            best, i = top, low
    while score[i] < best:
        i += 1
    return i


@compiled
def _add_rows(out: Array, rows: Array, factors: Array, n: int) -> None:
    """``out += factors[:n] @ rows[:n]``, four rows at a time."""
    m = 0
    while m + 4 <= n:
        r0, r1, r2, r3 = rows[m], rows[m + 1], rows[m + 2], rows[m + 3]
        f0, f1, f2, f3 = factors[m], factors[m + 1], factors[m + 2], factors[m + 3]
        for k in range(out.shape[0]):
            out[k] += f0 * r0[k] + f1 * r1[k] + f2 * r2[k] + f3 * r3[k]
        m += 4
    while m < n:
        r0, f0 = rows[m], factors[m]
        for k in range(out.shape[0]):
            out[k] += f0 * r0[k]
        m += 1


@compiled
def _step(alpha: Array, rho: Array, b: Array, scale: float, z: float, pivot: float) -> None:
    """Scale b, take its part out of alpha and rho; atoms with nothing new left get rho infinite."""
    for k in range(b.shape[0]):
        b[k] *= scale
        alpha[k] -= z * b[k]
        rho[k] -= b[k] * b[k]
    for k in range(b.shape[0]):
        rho[k] = rho[k] if rho[k] > pivot else np.inf


@compiled
def _step_and_score(alpha: Array, b: Array, scale: float, z: float, weights: Array, score: Array) -> None:
    """Scale b, take its part out of alpha, score the atoms (plain OMP: rho of the chosen one is enough)."""
    for k in range(b.shape[0]):
        b[k] *= scale
        left = alpha[k] - z * b[k]
        alpha[k] = left
        score[k] = left * left * weights[k]


@compiled
def _outside(B: Array, i: int, n: int) -> float:
    """What of unit atom i lies outside the span of the n chosen ones (squared)."""
    left = B.dtype.type(1)
    for m in range(n):
        left -= B[m, i] * B[m, i]
    return left


@compiled
def _solve(R: Array, z: Array, n: int, codes: Array) -> None:
    """Back substitution; row t of R is column t of the triangle. Overwrites z."""
    for t in range(n - 1, -1, -1):
        r = R[t]
        code = z[t] / r[t]
        codes[t] = code
        for m in range(t):
            z[m] -= code * r[m]


@compiled
def _dot(x: Array, y: Array, n: int) -> float:
    """Inner product of the first n entries."""
    total = x.dtype.type(0)
    for t in range(n):
        total += x[t] * y[t]
    return total
