"""The closest curve with a single peak."""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled


@compiled
def one_peak(y):  # type: ignore[no-untyped-def] # numba
    """Least squares fit to y that rises up to some place and falls after it (Stout 2008).

    Pooling adjacent violators from both ends gives the error of every rising beginning and of every falling
    end; the best place to part them follows.
    """
    n = y.shape[0]
    up, down = _errors(y), _errors(y[::-1])
    best, place = np.inf, 0
    for i in range(n):
        error = up[i] + (down[n - 2 - i] if i < n - 1 else 0.0)
        if error < best:
            best, place = error, i
    out = np.empty(n)
    out[: place + 1] = _rising(y[: place + 1])
    if place < n - 1:
        out[place + 1 :] = _rising(y[place + 1 :][::-1])[::-1]
    return out


@compiled
def _errors(y):  # type: ignore[no-untyped-def] # numba
    """Squared error of the best rising fit to each beginning of y."""
    n = y.shape[0]
    mean, weight, spent = np.empty(n), np.empty(n), np.empty(n)
    errors = np.empty(n)
    top, total = -1, 0.0
    for i in range(n):
        m, w, e = y[i], 1.0, 0.0
        while top >= 0 and mean[top] >= m:
            e += spent[top] + weight[top] * w / (weight[top] + w) * (mean[top] - m) ** 2
            total -= spent[top]
            m = (weight[top] * mean[top] + w * m) / (weight[top] + w)
            w += weight[top]
            top -= 1
        top += 1
        mean[top], weight[top], spent[top] = m, w, e
        total += e
        errors[i] = total
    return errors


@compiled
def _rising(y):  # type: ignore[no-untyped-def] # numba
    n = y.shape[0]
    mean, weight = np.empty(n), np.empty(n, np.int64)
    top = -1
    for i in range(n):
        m, w = y[i], 1
        while top >= 0 and mean[top] >= m:
            m = (weight[top] * mean[top] + w * m) / (weight[top] + w)
            w += weight[top]
            top -= 1
        top += 1
        mean[top], weight[top] = m, w
    out, begin = np.empty(n), 0
    for block in range(top + 1):
        out[begin : begin + weight[block]] = mean[block]
        begin += weight[block]
    return out
