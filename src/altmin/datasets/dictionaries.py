"""Sparse data with a known dictionary: the Bernoulli-subGaussian model of Liang et al. 2022."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

Kind = Literal["rad", "gap", "gauss"]


@dataclass(frozen=True)
class PlantedDictionary:
    """A problem whose answer is known.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Data, with noise if any was asked for.
    components : ndarray of shape (n_components, n_features)
        The true atoms, of unit norm.
    codes : ndarray of shape (n_samples, n_components)
        The sparse codes that made X.
    noise_std : float
        Standard deviation of the noise in each feature.
    """

    X: NDArray[Any]
    components: NDArray[Any]
    codes: NDArray[Any]
    noise_std: float


def make_sparse_dictionary(
    n_samples: int = 5000,
    n_features: int = 50,
    n_components: int | None = None,
    *,
    density: float = 0.1,
    kind: Kind = "gap",
    orthogonal: bool = False,
    condition: float | None = None,
    snr_db: float | None = None,
    random_state: Any = None,
) -> PlantedDictionary:
    r"""Bernoulli-subGaussian codes under an orthogonal or complete dictionary.

    .. math:: y = x A + \varepsilon, \qquad x_i = b_i g_i, \quad b_i \sim \mathrm{Bernoulli}(\theta)

    Assumption 1 of Liang, Zhang, Fattahi and Zhang (2022), with samples as rows.

    Parameters
    ----------
    n_samples, n_features : int
        Sizes p and n of the paper.
    n_components : int or None
        Atoms; None is as many as features.
    density : float
        Share of nonzero codes, theta.
    kind : {'rad', 'gap', 'gauss'}
        Nonzeros: +-1; ``+-(.5 + |N(0, 1)|)``, bounded away from zero as the theorems ask; or N(0, 1), which
        comes arbitrarily near to zero.
    orthogonal : bool
        Whether the atoms are orthonormal; else they are independent Gaussian directions.
    condition : float or None
        Condition number of the matrix of atoms before they are scaled to unit norm; None leaves what
        comes of the Gaussian directions.
    snr_db : float or None
        Signal-to-noise ratio in dB, energy of the signal over that of the noise; None is no noise.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    PlantedDictionary
        Data and truth.

    Notes
    -----
    **Guarantee.** Assumption 1 holds for 'rad' and 'gap'; 'gauss' has no gap, which the theorems ask for
    and altmin doesn't need.

    **Cost.** One product, n_samples * n_components * n_features.

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves complete
    dictionary learning, 2022.

    Examples
    --------
    >>> from altmin.datasets import make_sparse_dictionary
    >>> problem = make_sparse_dictionary(100, 8, density=0.25, random_state=0)
    >>> problem.X.shape, problem.components.shape, bool((problem.codes != 0).mean() < 0.5)
    ((100, 8), (8, 8), True)
    """
    n_components = n_features if n_components is None else n_components
    if not 1 <= n_components <= n_features:
        raise ValueError(f"n_components={n_components} must be between 1 and n_features={n_features}")
    if not 0 < density <= 1:
        raise ValueError(f"density={density} must be above 0 and at most 1")
    rng = check_random_state(random_state)
    components = _atoms(rng, n_components, n_features, orthogonal, condition)
    shape = (n_samples, n_components)
    codes = (rng.random_sample(shape) < density) * sparse_values(rng, shape, kind)
    X = codes @ components
    noise = 0.0
    if snr_db is not None:
        noise = float(np.sqrt(np.mean(X**2)) * 10 ** (-snr_db / 20))
        X = X + noise * rng.standard_normal(X.shape)
    return PlantedDictionary(X, components, codes, noise)


def sparse_values(rng: Any, shape: tuple[int, ...], kind: Kind) -> NDArray[Any]:
    """Nonzero values of one of the three kinds."""
    if kind == "gauss":
        return np.asarray(rng.standard_normal(shape))
    if kind not in ("rad", "gap"):
        raise ValueError(f"kind={kind!r} must be 'rad', 'gap' or 'gauss'")
    sign = np.where(rng.random_sample(shape) < 0.5, -1.0, 1.0)
    return sign if kind == "rad" else sign * (0.5 + np.abs(rng.standard_normal(shape)))


def _atoms(
    rng: Any, n_components: int, n_features: int, orthogonal: bool, condition: float | None
) -> NDArray[Any]:
    G = rng.standard_normal((n_components, n_features))
    if orthogonal or condition is not None:
        U, _, Vt = np.linalg.svd(G, full_matrices=False)
        spread = np.ones(n_components)
        if condition is not None and not orthogonal:
            spread = np.geomspace(1.0, 1.0 / condition, n_components)
        G = (U * spread) @ Vt
    return np.asarray(G / np.linalg.norm(G, axis=1, keepdims=True))
