r"""Sparse codes under a Bernoulli-Gauss prior: supports by evidence, with the code sizes integrated out.

.. math:: y = x A + \varepsilon, \quad \varepsilon \sim N(0, v I), \qquad
          x_j \sim N(0, s_j) \text{ with probability } \theta_j, \text{ else } 0

The evidence of a support S is that of a Gaussian, so adding atom j to S raises it by

.. math:: \tfrac12 \Big[\frac{\alpha_j^2}{v \rho_j} - \log\frac{\rho_j}{v / s_j}\Big]
          + \log\frac{\theta_j}{1 - \theta_j}

where alpha and rho are the inner product with the residual and the pivot of the ridge regression on S
(ridge v / s_j). Each row takes the best addition or removal until nothing raises the evidence. As in batch
OMP the triangular factor grows by one row per atom, at a cost of K |S|, and no K x K matrix is touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

_DEVIATIONS = 3.0  # of the energy of noise, above which something is left over
_CHUNK = 1 << 18  # correlations held at once: 2 MiB in float64


def sparse_posterior(
    X: NDArray[Any],
    atoms: NDArray[Any],
    variance: float,
    sizes: NDArray[Any],
    density: NDArray[Any],
    first: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes (posterior means on the best support found) and evidence of each row.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Signals.
    atoms : ndarray of shape (K, n_features)
        Unit atoms.
    variance : float
        Of the noise in each feature.
    sizes, density : ndarray of shape (K,)
        Prior variances of the nonzero codes, and how often they are not zero.
    first : ndarray of shape (n_samples, K), or None
        Codes whose supports are tried, too, in rows of which the search from the empty support leaves more
        than noise; the better of the two is kept.

    Returns
    -------
    codes : ndarray of shape (n_samples, K)
        In float64.
    evidence : ndarray of shape (n_samples,)
        log p(y, S) - log p(y, nothing used).
    """
    A = np.asarray(atoms, np.float64)
    gram = A @ A.T
    ridge = variance / sizes
    bonus = np.log(density) - np.log1p(-density)
    codes, evidence = np.zeros((len(X), len(A))), np.zeros(len(X))
    n = X.shape[1]
    most = min(len(A), n)
    step = max(_CHUNK // len(A), 64)
    noise = variance * (n + _DEVIATIONS * np.sqrt(2 * n))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        alphas = np.asarray(X[rows] @ A.T, np.float64)
        used = np.zeros(alphas.shape, np.bool_) if first is None else first[rows] != 0
        left = np.einsum("ij,ij->i", X[rows], X[rows]) - noise
        prior = (gram, ridge, bonus, variance, most)
        _climb(alphas, used, left, first is not None, *prior, codes[rows], evidence[rows])
    return codes, evidence


@compiled
def _climb(alphas, used, energy, warm, gram, ridge, bonus, v, most, codes, evidence):  # type: ignore[no-untyped-def]
    """Each row from the empty support, and, if ``warm``, from its own first one.

    ``energy`` is what the codes of the first search must explain of a row for the second to be left out.
    """
    K = gram.shape[0]
    B, R, z, x = np.empty((most, K)), np.empty((most, most)), np.empty(most), np.empty(most)
    alpha, rho = np.empty(K), np.empty(K)
    chosen, order, inside = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(K, np.bool_)
    for row in range(alphas.shape[0]):
        best = -1.0
        for attempt in range(2 if warm else 1):
            n = 0
            if attempt == 1:
                for k in range(K):
                    if used[row, k] and n < most:
                        order[n] = k
                        n += 1
            size, total = _search(
                alphas[row], order, n, gram, ridge, bonus, v, B, R, z, x, alpha, rho, chosen, inside
            )
            if total > best:
                best = total
                evidence[row] = total
                codes[row, :] = 0.0
                _back(R, z, size, x)
                for t in range(size):
                    codes[row, chosen[t]] = x[t]
            if attempt == 0:
                explained = 0.0
                for t in range(size):
                    explained += z[t] * z[t]
                if explained >= energy[row]:
                    break


@compiled
def _search(b, order, n, gram, ridge, bonus, v, B, R, z, x, alpha, rho, chosen, inside):  # type: ignore[no-untyped-def]
    """Additions and removals from the support ``order[:n]``; the size of the support and its evidence."""
    K, most = gram.shape[0], chosen.shape[0]
    total = 0.0
    size = 0
    for k in range(K):
        alpha[k] = b[k]
        rho[k] = gram[k, k] + ridge[k]
        inside[k] = False
    for t in range(n):
        total += _gain(order[t], alpha, rho, ridge, bonus, v)
        _add(order[t], size, gram, ridge, B, R, z, alpha, rho, chosen, inside)
        size += 1
    for _ in range(4 * most):
        best, i = 0.0, -1
        if size < most:
            for k in range(K):
                if not inside[k]:
                    rough = 0.5 * alpha[k] * alpha[k] / (v * rho[k]) + bonus[k]
                    if rough > best:  # the logarithm can only lower it
                        exact = rough - 0.5 * np.log(rho[k] / ridge[k])
                        if exact > best:
                            best, i = exact, k
        if i >= 0:
            _add(i, size, gram, ridge, B, R, z, alpha, rho, chosen, inside)
            size += 1
            total += best
            continue
        gain, t = _best_removal(size, R, z, x, ridge, bonus, v, chosen)
        if t < 0:
            break
        # the factor is built anew without atom t: removals are rare
        left = 0
        for m in range(size):
            if m != t:
                order[left] = chosen[m]
                left += 1
        total += gain
        for k in range(K):
            alpha[k] = b[k]
            rho[k] = gram[k, k] + ridge[k]
            inside[k] = False
        size = 0
        for m in range(left):
            _add(order[m], size, gram, ridge, B, R, z, alpha, rho, chosen, inside)
            size += 1
    return size, total


@compiled
def _gain(k, alpha, rho, ridge, bonus, v):  # type: ignore[no-untyped-def]
    return 0.5 * (alpha[k] * alpha[k] / (v * rho[k]) - np.log(rho[k] / ridge[k])) + bonus[k]


@compiled
def _add(i, size, gram, ridge, B, R, z, alpha, rho, chosen, inside):  # type: ignore[no-untyped-def]
    """One more row of the triangular factor; alpha and rho of all atoms follow."""
    K = gram.shape[0]
    pivot = np.sqrt(rho[i])
    b = B[size]
    for k in range(K):
        b[k] = gram[i, k]
    for m in range(size):
        factor = B[m, i]
        R[size, m] = factor
        other = B[m]
        for k in range(K):
            b[k] -= factor * other[k]
    R[size, size] = pivot
    z[size] = alpha[i] / pivot
    scale, along = 1.0 / pivot, alpha[i] / pivot
    for k in range(K):
        b[k] *= scale
        alpha[k] -= along * b[k]
        rho[k] = max(rho[k] - b[k] * b[k], ridge[k])
    chosen[size] = i
    inside[i] = True


@compiled
def _best_removal(size, R, z, x, ridge, bonus, v, chosen):  # type: ignore[no-untyped-def]
    """The atom without which the evidence is largest, and the gain; -1 where none would raise it.

    Without atom t the pivot it would have is 1 / (M^-1)_tt, and alpha^2 / rho is x_t^2 times that.
    """
    _back(R, z, size, x)
    best, place = 0.0, -1
    inverse = np.zeros(size)
    for t in range(size):
        # column t of the inverse of the lower factor R: its squares add up to (M^-1)_tt
        diagonal = 0.0
        for m in range(t, size):
            value = 1.0 if m == t else 0.0
            for q in range(t, m):
                value -= R[m, q] * inverse[q]
            inverse[m] = value / R[m, m]
            diagonal += inverse[m] * inverse[m]
        rho = 1.0 / diagonal
        k = chosen[t]
        gain = -0.5 * (x[t] * x[t] * rho / v - np.log(rho / ridge[k])) - bonus[k]
        if gain > best + 1e-9:
            best, place = gain, t
    return best, place


@compiled
def _back(R, z, n, x):  # type: ignore[no-untyped-def]
    """Solve R' x = z, R lower triangular by rows."""
    for t in range(n):
        x[t] = z[t]
    for t in range(n - 1, -1, -1):
        x[t] /= R[t, t]
        for m in range(t):
            x[m] -= x[t] * R[t, m]
