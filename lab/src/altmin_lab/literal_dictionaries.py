"""Algorithms 1 to 5 of Liang, Zhang, Fattahi and Zhang (2022) as they stand in the paper, for the claims.

Rows are samples and atoms, so D here is the paper's transposed. Where the printed text cannot run, what it
means is run, and the printed form is offered beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled
from altmin.kernels.polar import polar
from altmin.kernels.thresholds import hard_threshold

Array = NDArray[Any]


def algorithm_1(Y: Array, D: Array, threshold: float, n_passes: int) -> Iterator[tuple[Array, Array]]:
    """Hard threshold and polar factor: the pairs (D, X) of each pass, X coded with that D."""
    for _ in range(n_passes):
        X = hard_threshold(Y @ D.T, threshold)
        yield D, X
        D = polar(X.T @ Y, toward=D)


def algorithm_4(Y: Array, first: float, decay: float, last: float) -> Iterator[tuple[Array, Array]]:
    """The warm-up: Algorithm 1 from the identity with a threshold that falls by ``decay`` in each pass."""
    D, threshold = np.eye(Y.shape[1]), first
    while threshold > last:
        X = hard_threshold(Y @ D.T, threshold)
        yield D, X
        D = polar(X.T @ Y, toward=D) if X.any() else np.eye(len(D))
        threshold *= decay


def preconditioner(Y: Array, variance: float, counts: Array | None = None) -> Array:
    """P of equation 6; ``variance`` is theta sigma^2, which the paper takes as known."""
    counts = np.ones(len(Y)) if counts is None else counts
    inverse = np.linalg.inv((Y.T * counts) @ Y / (counts.sum() * variance))
    return np.asarray(np.linalg.cholesky(inverse).T)


def orthogonal_start(A: Array) -> Array:
    """Line 4 of Algorithm 2: L((A A')^-1)' A, the dictionary as if it were whitened."""
    return np.asarray(A @ np.linalg.cholesky(np.linalg.inv(A.T @ A)))


def code_patterns(n: int, theta: float) -> tuple[Array, Array]:
    """The 3^n codes with entries 0 and +-1, and how likely each is at density theta; zero comes last.

    Samples with the same code are the same sample, so p of them are a table of counts: the papers' p of
    10^10 and more can be run without being stored.
    """
    codes = np.array(list(product((1.0, -1.0, 0.0), repeat=n)))
    used = np.count_nonzero(codes, axis=1)
    return codes, (theta / 2) ** used * (1 - theta) ** (n - used)


def algorithm_2(
    Y: Array,
    counts: Array,
    start: Array,
    threshold: float,
    variance: float,
    *,
    batch: int,
    n_passes: int,
    seed: int = 0,
) -> Iterator[Array]:
    """Mini-batch complete dictionary learning: the atoms after each pass, scaled as they come out.

    Parameters
    ----------
    Y : ndarray of shape (n_patterns, n)
        The samples that differ.
    counts : ndarray of shape (n_patterns,)
        How often each occurs; P is computed from all of them.
    start : ndarray of shape (n, n)
        The dictionary to start from.
    threshold : float
        Level of the hard threshold.
    variance : float
        theta sigma^2, which the paper takes as known.
    batch : int
        Samples that are drawn in each pass.
    n_passes : int
        Passes.
    seed : int
        Of the draws.

    Yields
    ------
    ndarray of shape (n, n)
        The atoms, as rows.
    """
    rng = np.random.default_rng(seed)
    P = preconditioner(Y, variance, counts)
    V = Y @ P.T
    D = orthogonal_start(start)
    for _ in range(n_passes):
        drawn = rng.multinomial(batch, counts / counts.sum())
        D = polar((hard_threshold(V @ D.T, threshold).T * drawn) @ V, toward=D)
        yield np.asarray(np.linalg.solve(P, D.T).T)


def algorithm_3(
    Y: Array,
    start: Array,
    threshold: float,
    variance: float,
    first: int,
    window: int,
    *,
    update: bool = True,
) -> Iterator[Array]:
    """Online learning, sample by sample: the atoms after each; P is recomputed by a stable update.

    As printed it uses P and Y of step -1 and no D of step 0: both are set from the first samples here, D by
    line 4 of Algorithm 2. Without ``update`` the preconditioner stays that of the first samples.
    """
    inverse = np.linalg.inv(Y[:first].T @ Y[:first])
    P = preconditioner(Y[:first], variance)
    D = orthogonal_start(start)
    for t in range(first, len(Y)):
        if update:
            y = Y[t]
            v = inverse @ y
            inverse = inverse - np.outer(v, v) / (1 + y @ v)
            P = np.linalg.cholesky((t + 1) * variance * inverse).T
        V = Y[t + 1 - window : t + 1] @ P.T
        D = polar(hard_threshold(V @ D.T, threshold).T @ V, toward=D)
        yield np.asarray(np.linalg.solve(P, D.T).T)


def algorithm_3_in_jumps(
    Y: Array,
    likely: Array,
    start: Array,
    threshold: float,
    variance: float,
    first: int,
    window: int,
    jumps: Iterable[int],
    *,
    seed: int = 0,
    update: bool = True,
) -> Iterator[Array]:
    """Algorithm 3 on samples that arrive by the million: the atoms after each jump.

    Of a jump only the last polar step is taken, with the last ``window`` samples and the preconditioner of
    all so far, so D has fewer steps than the paper gives it. Samples are counts of the rows of Y, which have
    probability ``likely``.
    """
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(first, likely).astype(float)
    P = preconditioner(Y, variance, counts)
    D = orthogonal_start(start)
    for jump in jumps:
        latest = rng.multinomial(window, likely)
        counts += rng.multinomial(jump - window, likely) + latest
        P = preconditioner(Y, variance, counts) if update else P
        V = Y @ P.T
        D = polar((hard_threshold(V @ D.T, threshold).T * latest) @ V, toward=D)
        yield np.asarray(np.linalg.solve(P, D.T).T)


def pairwise_start(Y: Array, seed: int, n_pairs: int = 400) -> Array:
    """The start of Arora, Ge, Ma and Moitra (2015), Algorithm 3, for an orthogonal dictionary.

    Two samples u and v that share exactly one atom make sum <y, u> <y, v> y y' nearly of rank one along
    it. Pairs are drawn until there are n directions that differ; those that share no atom, as an orthogonal
    dictionary shows at once, cost nothing.
    """
    rng = np.random.default_rng(seed)
    n = Y.shape[1]
    found: list[Array] = []
    pairs = Y[rng.integers(len(Y), size=(100 * n_pairs, 2))]
    for u, v in pairs[np.abs(np.sum(pairs[:, 0] * pairs[:, 1], axis=1)) > 1e-9][:n_pairs]:
        values, vectors = np.linalg.eigh((Y.T * ((Y @ u) * (Y @ v))) @ Y)
        order = np.argsort(-np.abs(values))
        top, gap = vectors[:, order[0]], abs(values[order[0]]) / max(abs(values[order[1]]), 1e-300)
        if gap > 2 and all(abs(top @ other) < 0.5 for other in found):
            found.append(top)
        if len(found) == n:
            break
    return polar(np.vstack([*found, 1e-3 * rng.standard_normal((n - len(found), n))]))


def clustered_start(Y: Array, least: float, seed: int, n_pairs: int = 400, n_rows: int = 1500) -> Array:
    """The start of Agarwal, Anandkumar, Jain and Netrapalli (2016), for an orthogonal dictionary.

    Samples are neighbours if their product exceeds ``least``. The common neighbours of two samples are a
    cluster if nearly all of them (61 of 64 pairs) are neighbours, too: then all use one atom, the top
    eigenvector of their sum of squares. The zero samples and those beyond ``n_rows`` are left out.
    """
    rng = np.random.default_rng(seed)
    n = Y.shape[1]
    rows = Y[np.any(Y != 0, axis=1)][:n_rows]
    near = np.abs(rows @ rows.T) > least
    np.fill_diagonal(near, False)
    found: list[Array] = []
    edges = np.argwhere(np.triu(near))
    for i, j in edges[rng.permutation(len(edges))[:n_pairs]]:
        common = np.flatnonzero(near[i] & near[j])[:64]
        pairs = near[np.ix_(common, common)]
        if len(common) < 3 or pairs.sum() < 61 / 64 * len(common) * (len(common) - 1):
            continue
        top = np.linalg.svd(rows[common])[2][0]
        if all(abs(top @ other) < 0.5 for other in found):
            found.append(top)
        if len(found) == n:
            break
    return polar(np.vstack([*found, 1e-3 * rng.standard_normal((n - len(found), n))]))


@compiled
def algorithm_5(L: Array, inverse: Array, y: Array, printed: bool) -> None:
    """Rank-one update of the inverse and its lower factor, in place, without the factor (p1 + t).

    ``printed`` takes line 8 as it stands, with w_j for w_j^2; the paper also calls L the matrix P, which is
    the transposed factor.
    """
    n = len(y)
    v = inverse @ y
    v = v / np.sqrt(1.0 + y @ v)
    for i in range(n):
        for k in range(n):
            inverse[i, k] -= v[i] * v[k]
    w, b = v.copy(), 1.0
    for j in range(n):
        ljj = L[j, j]
        taken = w[j] / b if printed else w[j] * w[j] / b
        new = np.sqrt(ljj * ljj - taken)
        gamma = ljj * ljj * b - w[j] * w[j]
        for k in range(j + 1, n):
            w[k] -= w[j] / ljj * L[k, j]
            L[k, j] = new / ljj * L[k, j] - new * w[j] / gamma * w[k]
        L[j, j] = new
        b -= w[j] * w[j] / (ljj * ljj)
