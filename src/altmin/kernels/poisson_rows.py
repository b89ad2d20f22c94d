"""Non-negative Poisson regression on known components, row by row, with intervals by profile likelihood."""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled

_SWEEPS = 200
_HALVINGS = 14  # of an interval's end


@compiled
def fit_row(x, S, z, fixed):  # type: ignore[no-untyped-def] # numba
    """Likeliest z >= 0 for counts x with mean z S, in place; ``fixed`` (or -1) stays. Returns deviance / 2.

    Newton steps on one coordinate after the other. One at 0 comes back where the likelihood wants it.
    """
    R, W = S.shape
    total = max(x.sum(), 1.0)
    mean = np.zeros(W)
    for k in range(R):
        for w in range(W):
            mean[w] += z[k] * S[k, w]
    tiny = 1e-12 * total
    for _ in range(_SWEEPS):
        moved = 0.0
        for k in range(R):
            if k == fixed:
                continue
            slope, curve = 0.0, 0.0
            for w in range(W):
                share = S[k, w] / max(mean[w], tiny)
                slope += share * x[w] - S[k, w]
                curve += share * share * x[w]
            if curve <= 0.0:
                new = 0.0
            else:
                new = max(z[k] + slope / curve, 0.0)
                if new > 2.0 * z[k] + 0.1 * total:  # far from the quadratic model
                    new = 2.0 * z[k] + 0.1 * total
                elif slope > 1.0 and new < z[k] + 1e-3 * total:  # in a channel that nothing else explains
                    new = _explained(x, S[k], mean, z[k], z[k] + 1e-3 * total)
            step = new - z[k]
            if step != 0.0:
                z[k] = new
                for w in range(W):
                    mean[w] += step * S[k, w]
                moved = max(moved, abs(step))
        if moved <= 1e-6 * total:
            break
    loss = 0.0
    for w in range(W):
        loss += mean[w]
        if x[w] > 0.0:
            loss += x[w] * (np.log(x[w] / max(mean[w], tiny)) - 1.0)
    return loss


@compiled
def _explained(x, s, mean, z, trial):  # type: ignore[no-untyped-def] # numba
    """An EM step from ``trial``: where the expected count is next to nothing, Newton's steps are, too."""
    new = 0.0
    for w in range(x.shape[0]):
        own = trial * s[w]
        if own > 0.0:  # at most x: rounding may have left a mean of less than its own part
            new += x[w] * own / max(mean[w] + (trial - z) * s[w], own)
    return new


@compiled
def fit_rows(X, S, Z, allowed, least):  # type: ignore[no-untyped-def] # numba
    """Sparse fits of all rows, in place: codes go, the least supported first, as long as none is missed.

    A code is missed if twice the log likelihood falls by more than ``least`` of it (one bound per component)
    without it; only components that are ``allowed`` take part.
    """
    R = S.shape[0]
    for r in range(X.shape[0]):
        used = np.flatnonzero(allowed)
        z = Z[r][used].copy()
        best = fit_row(X[r], S[used], z, -1)
        while True:
            on = np.flatnonzero(z > 0.0)
            drop, lowest, kept = -1, np.inf, z
            for i in on:
                if len(on) == 1:
                    break
                rest = np.array([k for k in on if k != i])
                trial = z[rest].copy()
                loss = fit_row(X[r], S[used[rest]], trial, -1)
                excess = 2.0 * (loss - best) - least[used[i]]
                if excess < lowest:
                    drop, lowest = int(i), excess
                    kept = np.zeros_like(z)
                    kept[rest] = trial
            if drop < 0 or lowest >= 0.0:
                break
            best += 0.5 * (lowest + least[used[drop]])
            z = kept
        Z[r] = np.zeros(R)
        Z[r][used] = z


@compiled
def row_intervals(x, S, z, rise, low, high):  # type: ignore[no-untyped-def] # numba
    """Both ends of the values of each code at which twice the log likelihood falls by ``rise`` at most.

    ``z`` is the likeliest fit; the other codes adapt to each value that is tried.
    """
    R = S.shape[0]
    total = max(x.sum(), 1.0)
    best = fit_row(x, S, z, -1)
    for k in range(R):
        trial = z.copy()
        trial[k] = 0.0
        low[k] = 0.0
        if z[k] > 0.0 and 2.0 * (fit_row(x, S, trial, k) - best) > rise:
            out, inside = 0.0, z[k]
            for _ in range(_HALVINGS):
                trial[k] = 0.5 * (out + inside)
                if 2.0 * (fit_row(x, S, trial, k) - best) > rise:
                    out = trial[k]
                else:
                    inside = trial[k]
            low[k] = out
        trial[:] = z
        inside, out = z[k], z[k] + 3.0 * np.sqrt(z[k] + 1.0) + 0.05 * total
        for _ in range(20):
            trial[k] = out
            if 2.0 * (fit_row(x, S, trial, k) - best) > rise:
                break
            inside, out = out, 2.0 * out
        for _ in range(_HALVINGS):
            trial[k] = 0.5 * (out + inside)
            if 2.0 * (fit_row(x, S, trial, k) - best) > rise:
                out = trial[k]
            else:
                inside = trial[k]
        high[k] = out
