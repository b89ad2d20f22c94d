"""A whitening matrix kept up to date as samples arrive one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def update_preconditioner(P: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    r"""Whitening matrix of C + y y' from that of C, in O(n^2) operations.

    .. math:: P C P^\top = I \;\Rightarrow\; P' = P - \gamma\, q\, (P^\top q)^\top, \quad q = P y, \quad
       \gamma = \frac{1 - (1 + q^\top q)^{-1/2}}{q^\top q}

    since :math:`(I - \gamma q q^\top)(I + q q^\top)(I - \gamma q q^\top) = I`. Nothing but P is carried, and
    :math:`P^\top q` is computed from P itself: errors don't feed back through a second matrix, as they do
    between the inverse and its factor in Algorithm 5 of Liang et al. 2022.

    Parameters
    ----------
    P : ndarray of shape (k, n)
        Whitening matrix of the sum of the samples so far.
    y : ndarray of shape (n,)
        The new sample.

    Returns
    -------
    ndarray of shape (k, n)
        Whitening matrix with the sample.
    """
    q = P @ y
    square = float(q @ q)
    if square == 0.0:
        return P.copy()
    # (1 - 1/sqrt(1 + s)) / s without cancellation for small s
    root = np.sqrt(1.0 + square)
    gamma = 1.0 / (root * (1.0 + root))
    return P - np.outer(gamma * q, P.T @ q)
