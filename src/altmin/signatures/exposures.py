"""Exposures to known signatures: sparse, in mutations, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from altmin.kernels.poisson_rows import fit_rows, row_intervals
from altmin.selection.thinning import size_of_noise
from altmin.signatures.tables import read_reference, read_table

_PRICE = 2.0  # of a signature in a sample, in units of the deviance, before its rarity
_ROUNDS = 10


@dataclass(frozen=True)
class Exposures:
    """What :func:`refit` found.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_signatures)
        Mutations of each sample that each signature explains; 0 where the counts don't ask for it.
    low, high : ndarray of shape (n_samples, n_signatures)
        Ends of the intervals; the lower one is 0 where the signature may be absent.
    samples, signatures : tuple of str
        Names of rows and columns: of the reference signatures, those that some sample has.
    level : float
        Confidence of the intervals.
    dispersion : float
        Variance of the counts around the fit over that of Poisson counts; above 1 it widens the intervals.
    cosines : ndarray of shape (n_samples,)
        Between each sample and what the signatures make of it.
    """

    values: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    samples: tuple[str, ...]
    signatures: tuple[str, ...]
    level: float
    dispersion: float
    cosines: NDArray[Any]

    def __str__(self) -> str:
        shares = self.values.sum(axis=0) / max(self.values.sum(), 1e-300)
        used = (self.values > 0).sum(axis=0)
        order = np.argsort(-shares, kind="stable")
        head = (
            f"{len(self.samples)} samples, {len(self.signatures)} signatures, intervals of {self.level:.0%}"
        )
        rows = [
            f"  {self.signatures[k]:<12} {shares[k]:6.1%} of the mutations, {used[k]} samples" for k in order
        ]
        return "\n".join([head, *rows])


def refit(counts: Any, reference: Any = None, *, level: float = 0.9, select: bool = True) -> Exposures:
    r"""Exposures of samples to known signatures, each with an interval.

    .. math:: x_s \sim \text{Poisson}\Big(\sum_r e_{sr} S_r\Big), \quad e_{sr} \ge 0, \qquad
       I_{sr} = \{ e : 2 (\ell_{\max} - \max_{e_{sr} = e} \ell) \le \chi^2_1(\text{level}) \}

    A sample has few signatures. First the reference signatures that the samples as a whole ask for are
    chosen: codes leave a sample one by one as long as the likelihood doesn't miss them, and a signature that
    no sample needs is left out. One that u samples make use of has a price, in units of the deviance: to say
    which of the samples these are, and, shared by the u samples, which of the reference's signatures it is.
    The intervals are those of the profile likelihood over all chosen signatures, so they are wide where two
    signatures look alike.

    Counts that vary more than Poisson counts are taken for negative binomial ones, of variance
    :math:`\mu + \mu^2 / \theta`: each channel of a sample weighs :math:`1 / (1 + \mu / \theta)` in the
    likelihood, which makes its curvature that of the true noise. What is large is then known less well than
    a single factor for all would say.

    Parameters
    ----------
    counts : path, DataFrame, ChannelTable or array-like of shape (n_samples, n_channels)
        Mutations; see :func:`read_table`.
    reference : path, DataFrame, ChannelTable, array-like or None
        Signatures; see :func:`read_reference`.
    level : float
        Confidence of the intervals.
    select : bool
        Whether reference signatures that no sample needs are left out. False where all of them are known to
        be there, such as signatures that were found in these counts.

    Returns
    -------
    Exposures
        With names of samples and signatures.

    Notes
    -----
    **Guarantee.** The likeliest exposures of the chosen signatures. Intervals hold what they promise for many
    mutations (Wilks' theorem), given that the chosen signatures are the right ones; exposures that are 0 are
    inside more often than the level says.

    **Cost.** Tens of coordinate descents per sample and signature: .1 s for 200 samples and 12 signatures,
    a few seconds for a catalogue of 100.

    References
    ----------
    S. S. Wilks, The large-sample distribution of the likelihood ratio for testing composite hypotheses,
    Annals of Mathematical Statistics 1938.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.signatures import refit
    >>> rng = np.random.default_rng(0)
    >>> reference = rng.dirichlet(np.full(96, 0.2), 6)
    >>> truth = np.zeros((30, 6))
    >>> truth[:, :2] = rng.uniform(200, 900, (30, 2))
    >>> found = refit(rng.poisson(truth @ reference), reference)
    >>> found.signatures[:2]
    ('signature 1', 'signature 2')
    >>> inside = (found.low[:, :2] <= truth[:, :2]) & (truth[:, :2] <= found.high[:, :2])
    >>> bool(inside.mean() > 0.8)
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level}: a share between 0 and 1 is needed")
    table, known = read_table(counts), read_reference(reference)
    if table.channels != known.channels:
        raise ValueError(
            f"counts have {len(table.channels)} channels ({table.kind}), the reference "
            f"{len(known.channels)} ({known.kind})"
        )
    X, S = np.ascontiguousarray(table.values), np.ascontiguousarray(known.values)
    Z = np.repeat(X.sum(axis=1, keepdims=True) / len(S), len(S), axis=1)
    fit_rows(X, S, Z, np.ones(len(S), bool), np.full(len(S), -1.0))
    Z, chosen = _choose(X, S, Z, _noise(X, Z, S)[0], select)
    weights, dispersion = _noise(X, Z, S)
    cosines = _cosines(X, Z @ S)
    Z, S = Z[:, chosen], S[chosen]
    low, high = _intervals(X, S, Z, weights, float(chi2.ppf(level, 1)))
    names = tuple(name for name, used in zip(known.names, chosen, strict=True) if used)
    return Exposures(Z, low, high, table.names, names, level, dispersion, cosines)


def _choose(
    X: NDArray[Any], S: NDArray[Any], Z: NDArray[Any], weights: NDArray[Any], select: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Sparse exposures, from fits of all signatures; and those that stay, all of them without ``select``."""
    n, R = len(X), len(S)
    allowed, least = np.ones(R, bool), np.full(R, _PRICE)
    for turn in range(_ROUNDS if select else 1):
        if turn:
            Z = np.repeat(X.sum(axis=1, keepdims=True) / max(allowed.sum(), 1), R, axis=1)
        for x, z, w in zip(X, Z, weights, strict=True):
            fit_rows((x * w)[None], S * w, z[None], allowed, least)
        used = (Z > 0).sum(axis=0)
        if turn and np.array_equal(used > 0, allowed):
            break
        share = (used + 1) / (n + 2)
        rare = np.maximum(2 * np.log((1 - share) / share), 0.0)
        least = _PRICE + rare + 2 * np.log(R) / np.maximum(used, 1)
        allowed = used > 0 if select else allowed
    return Z, allowed


def _intervals(
    X: NDArray[Any], S: NDArray[Any], Z: NDArray[Any], weights: NDArray[Any], rise: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    low, high = np.zeros_like(Z), np.zeros_like(Z)
    for row, (x, z, w) in enumerate(zip(X, Z, weights, strict=True)):
        row_intervals(x * w, S * w, z + x.sum() / (100 * max(len(S), 1)), rise, low[row], high[row])
    return np.minimum(low, Z), np.maximum(high, Z)


def _noise(X: NDArray[Any], Z: NDArray[Any], S: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Weight of each count; Pearson's statistic per degree of freedom where a mutation is expected."""
    mean = Z @ S
    seen = mean >= 1
    freedom = seen.sum() - (Z > 0).sum()
    if freedom < len(X):
        return np.ones_like(mean), 1.0
    dispersion = float(np.sum((X[seen] - mean[seen]) ** 2 / mean[seen]) / freedom)
    return 1.0 / (1.0 + mean / size_of_noise(X[seen], mean[seen], freedom)), dispersion


def _cosines(X: NDArray[Any], fit: NDArray[Any]) -> NDArray[Any]:
    size = np.linalg.norm(X, axis=1) * np.linalg.norm(fit, axis=1)
    return np.asarray(np.sum(X * fit, axis=1) / np.where(size > 0, size, 1.0))
