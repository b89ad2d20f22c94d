"""Compiled loops of peeling and of dictionary sweeps: short codes against long rows."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled

_NO_DIRECTION = 1e-6  # squared sine to the span of other atoms, below which one adds nothing to it


@compiled
def subtract_codes(Z, atoms, codes, counts, D):
    """Take the coded part out of the rows of Z, in place."""
    n, d = Z.shape
    for i in range(n):
        z = Z[i]
        for j in range(counts[i]):
            c, a = codes[i, j], D[atoms[i, j]]
            for f in range(d):
                z[f] -= c * a[f]


@compiled
def keep_hits(G, weights, level, credit, values, counts):
    """Turn products (rows, directions) into weights of the power step, in place; sum up credit.

    What is below ``level`` becomes 0, the rest is multiplied by the row's weight; ``values`` and
    ``counts`` collect squared products of at least ``credit``.
    """
    n, b = G.shape
    for i in range(n):
        w = weights[i]
        for c in range(b):
            g = G[i, c]
            g2 = g * g
            values[c] += w * g2 if g2 >= credit else 0.0
            counts[c] += 1.0 if g2 >= credit else 0.0
            G[i, c] = w * g if g2 >= level else 0.0


@compiled
def add_moments(X, weights, atoms, codes, counts, G, B):
    """Add sums of w c c' and w c x' over rows with short codes."""
    d = X.shape[1]
    for i in range(X.shape[0]):
        w, x = weights[i], X[i]
        if w == 0.0:
            continue
        for j in range(counts[i]):
            a, c = atoms[i, j], w * codes[i, j]
            for t in range(counts[i]):
                G[a, atoms[i, t]] += c * codes[i, t]
            b = B[a]
            for f in range(d):
                b[f] += c * x[f]


def refit_codes(X, D, gram, atoms, counts):
    """Codes of rows by least squares on the supports that they have; 0 for atoms that add no direction.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    D : ndarray of shape (n_atoms, n_features)
        Unit atoms, and ``gram`` their products.
    atoms, counts : ndarray
        Row r uses the atoms ``atoms[r, :counts[r]]``.

    Returns
    -------
    ndarray of the shape of ``atoms``
        In the dtype of X.
    """
    codes = np.zeros(atoms.shape, X.dtype)
    _refit_codes(X, D, gram.astype(np.float64), atoms, counts, codes)
    return codes


@compiled
def _refit_codes(X, D, gram, atoms, counts, codes):
    most = atoms.shape[1]
    R, z = np.empty((most, most)), np.empty(most)
    for i in range(X.shape[0]):
        k = counts[i]
        for j in range(k):
            a = atoms[i, j]
            b = 0.0
            for f in range(X.shape[1]):
                b += X[i, f] * D[a, f]
            pivot = gram[a, a]
            for t in range(j):  # one more row of the Cholesky factor
                r = gram[a, atoms[i, t]]
                for q in range(t):
                    r -= R[j, q] * R[t, q]
                r *= R[t, t]
                R[j, t] = r
                pivot -= r * r
                b -= r * z[t]
            R[j, j] = 1.0 / np.sqrt(pivot) if pivot > _NO_DIRECTION else 0.0  # the inverse of the diagonal
            z[j] = b * R[j, j]
        for j in range(k - 1, -1, -1):
            for t in range(j + 1, k):
                z[j] -= R[t, j] * z[t]
            z[j] *= R[j, j]
            codes[i, j] = z[j]


@compiled
def peel_rows(X, Z, D, gram, first, threshold, atoms, codes, counts):
    """Offer atoms ``first``, ``first + 1``, ... to each row in turn; in place.

    An atom that reaches the threshold with what is left of the row joins its support, and what is left
    becomes the residual of the *projection* on the whole support (Observation 8 needs that; the printed
    step, matching pursuit, breaks Lemma 11). The normal equations are solved by a Cholesky factor that
    grows with the support; an atom inside its span to a third of the digits is passed over.
    """
    n = X.shape[0]
    cap = atoms.shape[1]
    L, rhs, y = np.empty((cap, cap)), np.empty(cap), np.empty(cap)
    for i in range(n):
        x, z, k = X[i], Z[i], counts[i]
        ready = 0  # columns of the factor that are up to date
        for a in range(first, D.shape[0]):
            if k == cap:
                break
            g = _dot(z, D[a])
            if g * g < threshold or g == 0.0:
                continue
            atoms[i, k] = a
            singular = False
            for t in range(ready, k + 1):
                rhs[t] = _dot(x, D[atoms[i, t]])
                for s in range(t + 1):
                    v = gram[atoms[i, t], atoms[i, s]] + 0.0
                    for u in range(s):
                        v -= L[t, u] * L[s, u]
                    if s < t:
                        L[t, s] = v / L[s, s]
                    else:
                        singular = v <= 1e-10
                        L[t, t] = np.sqrt(max(v, 1e-10))
            ready = k
            if singular:
                continue
            k += 1
            ready = k
            for t in range(k):
                v = rhs[t]
                for u in range(t):
                    v -= L[t, u] * y[u]
                y[t] = v / L[t, t]
            for t in range(k - 1, -1, -1):
                v = y[t]
                for u in range(t + 1, k):
                    v -= L[u, t] * codes[i, u]
                codes[i, t] = v / L[t, t]
            z[:] = x
            _subtract(z, D, atoms[i], codes[i], k)
        counts[i] = k


@compiled
def _subtract(z, D, chosen, codes, k):
    """Take k coded atoms out of z."""
    for t in range(k):
        c = codes[t]
        for f in range(z.shape[0]):
            z[f] -= c * D[chosen[t], f]


@compiled
def _dot(x, y):
    """Inner product in float64."""
    total = 0.0
    for f in range(x.shape[0]):
        total += x[f] * y[f]
    return total


@compiled
def descend_on_atoms(D, G, B, passes, first):
    """Each atom in turn becomes the unit vector that fits fixed codes best, in place; unused ones stay.

    G and B are the codes' Gram matrix and their products with the rows.
    """
    m, d = D.shape
    u = np.empty(d)
    for _ in range(passes):
        for j in range(first, m):
            if G[j, j] <= 0.0:
                continue
            for a in range(d):
                u[a] = B[j, a] + G[j, j] * D[j, a]
            for i in range(m):
                if G[j, i] != 0.0:
                    for a in range(d):
                        u[a] -= G[j, i] * D[i, a]
            norm = np.sqrt(np.sum(u * u))
            if norm > 0.0:
                for a in range(d):
                    D[j, a] = u[a] / norm
