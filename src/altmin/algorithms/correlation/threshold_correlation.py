r"""Threshold correlation: the direction that many vectors agree with (Bhaskara and Tai, Section 4).

.. math:: \mathrm{OPT}_\tau = \max_{\|x\| = 1} \sum_i w_i \langle x, v_i \rangle^2\,
          [\langle x, v_i \rangle^2 \ge \tau], \qquad \|v_i\| \le 1

The paper's Theorem 6 finds an input vector that is a (tau/4, tau^2/32)-approximation. The same scan
proves more: for every 0 < c < 1 some input vector is a **(c tau, (1 - c) tau)**-approximation, and
drawing candidates in proportion to w_i |v_i|^2 loses a factor of 2 with a number of draws that doesn't
grow with n. Proofs: docs/theory/approximate-dictionary-learning.md.

Where we differ from the paper, and why:

- Vectors of any length: with R = max |v_i| everything is said for v_i / R and tau / R^2.
- Candidates are refined by thresholded power steps. These are not monotone, so the best iterate is
  kept: refinement never loses value. On the star family (input vectors reach tau OPT, no more) the
  refined vector is the optimum.
- The answer carries an upper bound on OPT, hence a beta certified for this very instance.
"""

from __future__ import annotations

from math import ceil, log
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.contract import record
from altmin.kernels.correlation import RowScores, score_candidates, tie

EXACT_ROWS = 4096  # up to here all rows are candidates: half a second of n^2 d work at most
_DRAWS, _MOST_DRAWS = 64, 512  # candidates of the first round of sampling, and of later ones
_REFINED = 4  # best candidates that are refined
_STEPS = 50


@record
class ThresholdCorrelation:
    """A direction and what is certain about it.

    Parameters
    ----------
    vector : ndarray of shape (n_features,)
        The direction, of unit norm.
    value : float
        Sum of w_i <vector, v_i>^2 over the support.
    support : ndarray of int
        Rows with <vector, v_i>^2 >= alpha tau.
    alpha, beta : float
        ``value >= beta * OPT_tau`` though only rows above ``alpha * tau`` were asked to count.
    upper_bound : float
        OPT_tau is at most this.
    n_candidates : int
        How many input vectors were tried.
    confidence : float
        1 where beta is certain; 1 - delta where it rests on the sampling bound.
    """

    vector: Any
    value: float
    support: Any
    alpha: float
    beta: float
    upper_bound: float
    n_candidates: int
    confidence: float = 1.0


def threshold_correlation(
    V: ArrayLike,
    tau: float,
    *,
    sample_weight: ArrayLike | None = None,
    relax: float = 0.5,
    method: str = "auto",
    delta: float = 0.05,
    refine: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> ThresholdCorrelation:
    r"""Direction with the largest thresholded correlation, with a certificate.

    .. math:: \max_{\|x\| = 1} \sum_i w_i \langle x, v_i \rangle^2 \,[\langle x, v_i \rangle^2 \ge \tau]

    Bhaskara and Tai, Definition 1; the guarantee is our stronger form of their Theorem 6: the vector
    returned is an (alpha, beta)-approximation with ``alpha = relax * tau`` and
    ``beta >= (1 - relax) * tau`` for vectors in the unit ball (half of that, with probability
    1 - delta, when sampled). Two extremes are exact: tau = 0 is the largest singular vector.

    Parameters
    ----------
    V : array-like of shape (n_vectors, n_features)
        The vectors. Longer ones than 1 are allowed: alpha and beta then count in units of the longest.
    tau : float
        Least squared inner product that earns credit, not negative.
    sample_weight : array-like of shape (n_vectors,) or None
        Weights w_i, not negative; ones by default.
    relax : float
        The c of the theorem, between 0 and 1: a lower threshold (alpha) for more value (beta).
    method : {'auto', 'exact', 'sampled'}
        Try every input vector (n^2 work), or a sample of proven size; 'auto' is exact up to 4096 rows.
    delta : float
        Probability with which the sampled guarantee may fail.
    refine : bool
        Improve the best candidates by power steps; never returns less than without.
    random_state : int, Generator or None
        Seed of the sample.

    Returns
    -------
    ThresholdCorrelation
        With ``vector``, ``value``, ``support``, ``alpha``, ``beta`` and ``upper_bound``.

    Notes
    -----
    **Guarantee.** ``beta`` is certified for the instance at hand: the larger one of the theorem's and of
    value over upper bound. Proofs are in the documentation.

    **Cost.** Exact: half of an n_vectors^2 * n_features product, tile by tile. Sampled: a number of
    candidates that doesn't grow with n_vectors, one product each.

    References
    ----------
    A. Bhaskara and W. M. Tai, Approximate guarantees for dictionary learning, COLT 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import threshold_correlation
    >>> star = np.sqrt(.1) * np.eye(51)[:1] + np.sqrt(.9) * np.eye(51)[1:]
    >>> found = threshold_correlation(star, .1)
    >>> bool(found.value >= 50 * .1), bool(found.beta > .99)
    (True, True)
    """
    _check_options(tau, relax, method, delta)
    V, w = _validated(V, sample_weight)
    norms2 = np.einsum("ij,ij->i", V, V, dtype=np.float64)
    longest = float(norms2.max(where=w > 0, initial=0.0))
    if tau == 0 or longest == 0:
        return _largest_singular(V, w)
    exact = method == "exact" or (method == "auto" and len(V) <= EXACT_ROWS)
    # The theorem is about v / R: then tau / R^2 is what it calls tau.
    alpha, beta = relax * min(tau / longest, 1.0), (1 - relax) * min(tau / longest, 1.0)
    threshold = alpha * tau
    reachable = norms2 >= tie(tau, V.dtype)
    bound = _top_eigenvalue(V[reachable], w[reachable])
    if exact:
        scores = RowScores(V, w, threshold).scores()
        best = np.argsort(-scores, kind="stable")[:_REFINED]
        candidates, n_candidates = _unit(V[best]), len(V)
        bound = min(bound, float(scores[best[0]]) / beta)
    else:
        rng = np.random.default_rng(random_state)
        candidates, n_candidates, proven = _sample(V, w, norms2, tau, threshold, relax, delta, rng)
        beta = beta / 2 if proven else 0.0
    objective = _Objective(V, w, threshold)
    value, vector = _best_direction(objective, candidates, (threshold, tau) if refine else ())
    certified = value / bound if bound > 0 else 1.0
    return ThresholdCorrelation(
        vector=vector.astype(V.dtype),
        value=value,
        support=np.flatnonzero(objective.above(vector)[1]),
        alpha=alpha,
        beta=min(max(beta, certified), 1.0),
        upper_bound=bound,
        n_candidates=n_candidates,
        confidence=1.0 if exact or certified >= beta else 1.0 - delta,
    )


class _Objective:
    """Sum of w g^2 over rows with g^2 >= threshold, g = V x."""

    def __init__(self, V: NDArray[Any], w: NDArray[Any], threshold: float) -> None:
        self.V, self.w, self.threshold = V, w, threshold

    def above(self, x: NDArray[Any], threshold: float | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        g = self.V @ x.astype(self.V.dtype)
        level = self.threshold if threshold is None else threshold
        return g, g * g >= tie(level, self.V.dtype)

    def value(self, x: NDArray[Any]) -> float:
        g, hit = self.above(x)
        return float(np.sum(self.w[hit] * np.square(g[hit], dtype=np.float64)))


def _best_direction(
    objective: _Objective, candidates: NDArray[Any], levels: tuple[float, ...]
) -> tuple[float, NDArray[Any]]:
    """The best of the candidates and of their refinements at these levels, with its value."""
    found = [(objective.value(c), c) for c in candidates]
    found += [refine_direction(objective, c, level) for _, c in found for level in levels]
    return max(found, key=lambda pair: pair[0])


def refine_direction(objective: _Objective, start: NDArray[Any], level: float) -> tuple[float, NDArray[Any]]:
    """Best iterate of the power method on the rows above ``level``, judged by the objective.

    A step is the power step of the convex sum of (g^2 - level)_+, which it never lowers; the value
    that counts is another one and may fall, hence the best iterate.
    """
    x, best = start, (objective.value(start), start)
    for _ in range(_STEPS):
        g, hit = objective.above(x, level)
        step = (objective.w[hit] * g[hit]) @ objective.V[hit]
        norm = float(np.linalg.norm(step))
        if norm == 0.0:
            break
        step = step / norm
        moved = 1.0 - abs(float(step @ x))
        x = step
        value = objective.value(x)
        if value > best[0]:
            best = (value, x)
        if moved < 1e-12:
            break
    return best


def draws_needed(total: float, floor: float, relax: float, delta: float) -> int:
    """Candidates that suffice: each draw succeeds with probability (1 - c) OPT / (2 Z) at least.

    ``total`` is Z, the sum of w |v|^2; ``floor`` any F <= OPT. As F <= OPT whatever it is, a rule that
    stops when it has drawn this many has drawn enough: the number needed for OPT itself is smaller.
    """
    if floor <= 0:
        return np.iinfo(np.int64).max
    return ceil(2 * total * log(1 / delta) / ((1 - relax) * floor))


def _sample(
    V: NDArray[Any],
    w: NDArray[Any],
    norms2: NDArray[Any],
    tau: float,
    threshold: float,
    relax: float,
    delta: float,
    rng: np.random.Generator,
) -> tuple[NDArray[Any], int, bool]:
    """The best of as many candidates as the bound asks for, drawn in proportion to w |v|^2.

    Says too whether there were as many: where it asks for more than n, n are drawn and nothing is
    proven beforehand.
    """
    mass = w * norms2
    total = float(mass.sum())
    relaxed, strict = (np.full(len(V), tie(level, V.dtype)) for level in (threshold, tau))
    best_score, best, floor, drawn, batch = np.zeros(0), V[:0], 0.0, 0, _DRAWS
    while drawn < min(needed := draws_needed(total, floor, relax, delta), len(V)):
        rows = rng.choice(len(V), size=batch, p=mass / total)
        candidates = _unit(V[rows])
        scores, _ = score_candidates(candidates, V, w, relaxed)
        newcomer = scores.max() > best_score.max(initial=-1.0)
        best_score = np.concatenate([best_score, scores])
        order = np.argsort(-best_score, kind="stable")[:_REFINED]
        best, best_score = np.concatenate([best, candidates])[order], best_score[order]
        if newcomer:
            # Only what is above tau itself bounds OPT from below: of this vector and of its refinement.
            leaders = np.stack([best[0], refine_direction(_Objective(V, w, tau), best[0], tau)[1]])
            floor = max(floor, float(score_candidates(leaders.astype(V.dtype), V, w, strict)[0].max()))
        drawn, batch = drawn + batch, min(2 * batch, _MOST_DRAWS)
    return best, drawn, drawn >= needed


def _largest_singular(V: NDArray[Any], w: NDArray[Any]) -> ThresholdCorrelation:
    """Tau = 0: every row counts, and the largest singular vector is the optimum."""
    values, vectors = np.linalg.eigh((V.T * w) @ V.astype(np.float64))
    vector = vectors[:, -1]
    value = float(np.sum(w * np.square(V @ vector)))
    support = np.arange(len(V))
    return ThresholdCorrelation(
        vector.astype(V.dtype), value, support, 1.0, 1.0, max(value, float(values[-1])), 0
    )


def _top_eigenvalue(V: NDArray[Any], w: NDArray[Any]) -> float:
    """Largest eigenvalue of the sum of w v v', over rows that can reach tau at all: bounds OPT."""
    if not len(V):
        return 0.0
    scaled = V * np.sqrt(w)[:, None]
    gram = scaled @ scaled.T if len(V) < V.shape[1] else scaled.T @ scaled
    return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1]) * (1 + 1e-12)


def _unit(rows: NDArray[Any]) -> NDArray[Any]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def _check_options(tau: float, relax: float, method: str, delta: float) -> None:
    for name, number in (("relax", relax), ("delta", delta)):
        if not isinstance(number, Real) or not 0 < float(number) < 1:
            raise ValueError(f"{name}={number!r}: a number between 0 and 1, exclusive, is needed")
    if not isinstance(tau, Real) or not 0 <= float(tau) < np.inf:
        raise ValueError(f"tau={tau!r}: a finite number that isn't negative is needed")
    if method not in ("auto", "exact", "sampled"):
        raise ValueError(f"method={method!r}: 'auto', 'exact' or 'sampled' is needed")


def _validated(V: ArrayLike, sample_weight: ArrayLike | None) -> tuple[NDArray[Any], NDArray[Any]]:
    V = np.asarray(V)
    V = np.ascontiguousarray(V, dtype=np.float32 if V.dtype == np.float32 else np.float64)
    if V.ndim != 2 or 0 in V.shape:
        raise ValueError(f"V has shape {V.shape}: at least one row and one column are needed")
    if not np.isfinite(V).all():
        raise ValueError(f"V: row {int(np.argmin(np.isfinite(V).all(axis=1)))} holds NaN or Inf")
    w = np.ones(len(V)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if w.shape != (len(V),) or not np.isfinite(w).all() or (w < 0).any():
        raise ValueError(f"sample_weight: {len(V)} finite numbers that aren't negative are needed")
    return V, w
