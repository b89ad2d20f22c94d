"""Methods that unmix hyperspectral scenes: endmembers from pixels (n_pixels, n_bands)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.kernels.nnls import nnls


def vca_endmembers(Y: NDArray[Any], n: int, seed: int = 0) -> NDArray[Any]:
    """Vertex component analysis as published (Nascimento and Bioucas-Dias 2005), with its choice by noise.

    Above 15 + 10 log10(n) dB the pixels are projected onto n directions and scaled to a common plane; below,
    onto n - 1 principal components. The endmembers are projected pixels.
    """
    rng = np.random.default_rng(seed)
    mean = Y.mean(axis=0)
    centred = Y - mean
    _, V = np.linalg.eigh(centred.T @ centred)
    main = V[:, ::-1][:, :n]
    inside = np.mean(np.sum((centred @ main) ** 2, axis=1)) + mean @ mean
    total = np.mean(np.sum(Y**2, axis=1))
    ratio = (inside - n / Y.shape[1] * total) / max(total - inside, np.finfo(float).tiny)
    if 10 * np.log10(max(ratio, 1e-12)) > 15 + 10 * np.log10(n):
        _, V = np.linalg.eigh(Y.T @ Y)
        basis, offset = V[:, ::-1][:, :n], np.zeros(Y.shape[1])
        S = Y @ basis
        P = S / (S @ S.mean(axis=0))[:, None]
    else:
        basis, offset = main[:, : n - 1], mean
        S = centred @ basis
        P = np.hstack([S, np.full((len(S), 1), np.sqrt(np.max(np.sum(S**2, axis=1))))])
    taken = np.zeros((n, n))
    taken[0, -1] = 1.0
    picks = np.zeros(n, int)
    for i in range(n):
        probe = rng.random(n)
        probe -= np.linalg.pinv(taken) @ (taken @ probe)
        picks[i] = int(np.argmax(np.abs(P @ probe)))
        taken[i] = P[picks[i]]
    return S[picks] @ basis.T + offset


def nfindr_endmembers(Y: NDArray[Any], n: int, sweeps: int = 50) -> NDArray[Any]:
    """N-FINDR (Winter 1999): the pixels that span the largest simplex, by exchanges from a start by SPA."""
    centred = Y - Y.mean(axis=0)
    _, V = np.linalg.eigh(centred.T @ centred)
    P = np.hstack([np.ones((len(Y), 1)), centred @ V[:, ::-1][:, : n - 1]])
    picks = spa(Y, n).tolist()
    for _ in range(sweeps):
        before = list(picks)
        for j in range(n):
            # The volume is linear in the pixel at place j: its cofactors give it for all pixels at once.
            M = P[picks]
            cofactors = np.array(
                [(-1) ** (j + c) * np.linalg.det(np.delete(np.delete(M, j, 0), c, 1)) for c in range(n)]
            )
            volumes = np.abs(P @ cofactors)
            best = int(np.argmax(volumes))
            if volumes[best] > volumes[picks[j]] * (1 + 1e-9):
                picks[j] = best
        if picks == before:
            break
    return Y[picks]


def nmf_endmembers(Y: NDArray[Any], n: int, *, start: str = "nndsvda", max_iter: int = 100) -> NDArray[Any]:
    """NMF by coordinate descent, scikit-learn's; ``start='spa'`` begins at SPA's pixels.

    From SPA's pixels it moves away from the truth: fewer iterations are better, none (SPA itself) near best.
    """
    from sklearn.decomposition import NMF

    Y = np.maximum(Y, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if start != "spa":
            return NMF(n, init=start, max_iter=max_iter).fit(Y).components_
        H = np.maximum(Y[spa(Y, n)], 1e-6)
        W = np.maximum(nnls(H @ H.T, Y @ H.T), 1e-6)
        model = NMF(n, init="custom", max_iter=max_iter)
        model.fit_transform(Y, W=W, H=H.copy())
    return model.components_


def minimum_volume_endmembers(
    Y: NDArray[Any], n: int, *, strength: float = 3.0, max_iter: int = 100
) -> NDArray[Any]:
    r"""Minimum-volume NMF (Fu et al. 2016; Ang and Gillis 2019) from a start by SPA.

    .. math:: \min_{Z, E \ge 0} \|Y - Z E\|_F^2 + \lambda \log\det(E E^T + \delta I)

    Pixels have unit norm, and unit sums of weights; lambda is ``strength`` times the start's misfit over its
    volume. Of pixels as they are or of unit norm and strengths .1, 1 and 3 the defaults came nearest to the
    published truth of Samson; no setting was good on both scenes.
    """
    Y = Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), np.finfo(float).tiny)
    E = np.maximum(Y[spa(Y, n)], 0.0)
    one = np.sqrt(np.mean(Y**2) * Y.shape[1])  # weight of the row that asks for a unit sum
    delta = 0.1 * np.mean(np.sum(E**2, axis=1))

    def weights(E: NDArray[Any]) -> NDArray[Any]:
        return nnls(E @ E.T + one**2, Y @ E.T + one**2, tol=1e-6)

    Z = weights(E)
    misfit = np.sum((Y - Z @ E) ** 2)
    strength *= misfit / abs(np.linalg.slogdet(E @ E.T / delta + np.eye(n))[1])
    for _ in range(max_iter):
        F = np.linalg.inv(E @ E.T + delta * np.eye(n))
        E = nnls(Z.T @ Z + strength * F, Y.T @ Z, tol=1e-6).T
        Z = weights(E)
    return E
