"""How many components: those that come again in disjoint halves of the samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from altmin.engine import open_source
from altmin.guarantees.refits import halves
from altmin.guarantees.report import GuaranteeReport
from altmin.selection.alignment import align_components
from altmin.selection.rows import as_table, has_holes, quiet_fit, take_rows
from altmin.selection.spectrum import Spectrum, spectrum
from altmin.selection.thinning import counts_are_fitted, held_out, judge_held_out, noise_size

_ALL_UP_TO = 12
_SAMPLES_BELOW = 4


@dataclass(frozen=True)
class Selection:
    """What :func:`altmin.select_n_components` found.

    Parameters
    ----------
    n_components : int
        The suggestion: the largest candidate whose components all come again in every split.
    confidence : {'high', 'moderate', 'low'}
        'high': they come again within .05 rad, and larger candidates that were fitted miss by .5 rad.
        'moderate': below the tolerance, and larger ones miss by twice that. 'low': anything else, such as
        no stable candidate, or none above the suggestion to compare with.
    reason : str
        Why, in a sentence.
    curve : list of dict
        One row per candidate that was looked at: ``n_components``, ``angle`` (the worst matched angle between
        halves, over the splits, in radians), ``splits`` that were fitted, ``note``.
    tolerance : float
        Angles below it count as the same component.
    spectrum : Spectrum or None
        Singular values against rounding and noise; None for data with holes.
    guarantee : GuaranteeReport or None
        The report of a fit of the suggested number of components to all samples.
    """

    n_components: int
    confidence: str
    reason: str
    curve: list[dict[str, Any]]
    tolerance: float
    spectrum: Spectrum | None
    guarantee: GuaranteeReport | None

    def __str__(self) -> str:
        lines = [f"{self.n_components} components ({self.confidence} confidence): {self.reason}"]
        lines += [f"  {row['n_components']:>5}  {row['angle']:.3g} rad  {row['note']}" for row in self.curve]
        return "\n".join(lines)


def select_n_components(
    estimator: Any,
    X: Any,
    candidates: Iterable[int],
    *,
    n_splits: int = 3,
    tolerance: float = 0.125,
    search: str = "auto",
    random_state: Any = 0,
) -> Selection:
    r"""Choose the number of components by whether they come again in other samples.

    .. math:: \hat D = \max \{ D : \max_{\text{splits}} \max_i \angle(a_i, a'_{\pi(i)}) \le \tau \}

    where a and a' are fits to disjoint halves and tau is the tolerance. True components come again; one too
    many has to be made up of noise, and one half makes it up differently from the other. Singular values
    limit the candidates: those above the numerical rank of the data cannot be found.

    Counts tell more than halves of the samples do: where the estimator fits their likelihood, each count
    is split at random and the number is the smallest that predicts the other half of the counts as well as
    the best does, within its standard error. The reason says 'cannot tell' where others do about as well.

    Parameters
    ----------
    estimator : estimator
        With ``n_components`` and ``components_``: AND, the dictionary estimators, NMF. Cloned.
    X : array-like or sparse of shape (n_samples, n_features)
        The data; NaN where the estimator allows it.
    candidates : iterable of int
        Numbers of components to consider.
    n_splits : int
        Random splits into halves. A candidate must be stable in each; the first failure ends it.
    tolerance : float
        Worst angle, in radians, at which two components still count as one.
    search : {'auto', 'all', 'down'}
        'all' fits every candidate. 'down' begins with the largest and ends a little below the first that is
        stable, with a few smaller ones for the curve. 'auto': 'all' for up to 12 candidates.
    random_state : int or Generator
        Seed of the splits.

    Returns
    -------
    Selection
        The suggestion, how sure it is, and the curve; prints as a table.

    Notes
    -----
    **Guarantee.** None by theorem. Stability is necessary for a true component, not sufficient: components
    that merge stably are not told apart, for which ``guarantee`` of the result looks.

    **Cost.** At most 2 n_splits fits to half of the samples for each candidate, 2 for one that fails at
    once; a singular value decomposition; a fit to all samples.

    References
    ----------
    T. Lange, V. Roth, M. L. Braun and J. M. Buhmann, Stability-based validation of clustering solutions,
    Neural Computation 2004.

    Examples
    --------
    >>> from altmin import AND, select_n_components
    >>> from altmin.datasets import make_dir
    >>> X = make_dir(600, 40, 4, concentration=1.0, random_state=0).X
    >>> select_n_components(AND(2), X, range(3, 7)).n_components
    4
    """
    table = as_table(X)
    wanted = _check(candidates, table, n_splits, search)
    source = open_source(table).require_replayable("select_n_components")
    seeds = np.random.default_rng(random_state).integers(1 << 31, size=n_splits)
    splits = [tuple(take_rows(table, ids) for ids in halves(source, int(seed))) for seed in seeds]
    found = None if has_holes(table) else spectrum(table, wanted[-1])
    most = _most(table, found)
    rows = {k: _beyond(k, most) for k in wanted if k > most}
    if search == "auto":
        search = "all" if len(wanted) <= _ALL_UP_TO else "down"
    possible = [k for k in wanted if k <= most]
    for k in possible if search == "all" else _downwards(possible, rows, tolerance):
        rows[k] = _compare(estimator, k, splits, tolerance)
    if possible and counts_are_fitted(estimator, table, possible[-1]):
        curve, (chosen, confidence, reason) = _held_out_curve(estimator, table, rows, seeds, tolerance)
    else:
        curve = [rows[k] for k in sorted(rows)]
        chosen, confidence, reason = _judge(curve, tolerance)
    model = quiet_fit(clone(estimator).set_params(n_components=chosen), table)
    return Selection(chosen, confidence, reason, curve, tolerance, found, getattr(model, "guarantee_", None))


def _most(table: Any, found: Spectrum | None) -> int:
    """Components that halves of the samples could show."""
    return min(table.shape[0] // 2, table.shape[1] if found is None else found.rank)


def _held_out_curve(
    estimator: Any, table: Any, rows: dict[int, dict[str, Any]], seeds: Any, tolerance: float
) -> tuple[list[dict[str, Any]], tuple[int, str, str]]:
    """Of counts: the curve with the divergence of held-out counts, and what follows from it."""
    fitted = [k for k in sorted(rows) if rows[k]["splits"]]
    left = {k: held_out(estimator, table, k, seeds) for k in fitted}
    size = noise_size(table, min(left, key=lambda k: left[k].sum()))
    if np.isfinite(size):
        left = {k: held_out(estimator, table, k, seeds, size) for k in fitted}
    losses = {k: float(found.sum()) for k, found in left.items()}
    curve = [{**rows[k], "held_out": losses.get(k, np.inf)} for k in sorted(rows)]
    return curve, judge_held_out(left, {k for k in left if rows[k]["angle"] <= tolerance})


def _check(candidates: Iterable[int], table: Any, n_splits: int, search: str) -> list[int]:
    wanted = sorted({int(k) for k in candidates})
    if not wanted or wanted[0] < 1:
        raise ValueError(f"candidates={wanted[:5]}: at least one number of components, from 1 on, is needed")
    if n_splits < 1 or search not in ("auto", "all", "down"):
        raise ValueError(f"n_splits={n_splits}: at least 1; search={search!r}: 'auto', 'all' or 'down'")
    if table.shape[0] < 4:
        raise ValueError(f"X has {table.shape[0]} sample(s); halves of at least 2 are needed")
    return wanted


def _downwards(possible: list[int], rows: dict[int, dict[str, Any]], tolerance: float) -> Iterable[int]:
    """From the largest candidate to one below the first stable one; then a few spread over the rest."""
    below = 0
    for k in reversed(possible):
        yield k
        stable = any(row["angle"] <= min(0.05, tolerance) for row in rows.values())
        below += stable
        if below > 1:
            break
    rest = [k for k in possible if k not in rows]
    if rest:
        places = np.unique(np.linspace(0, len(rest) - 1, _SAMPLES_BELOW).astype(int))
        yield from (rest[place] for place in places)


def _compare(estimator: Any, k: int, splits: list[tuple[Any, ...]], tolerance: float) -> dict[str, Any]:
    """Worst angle between the fits to both halves, over the splits up to the first that fails."""
    worst, fitted = 0.0, 0
    for pair in splits:
        try:
            fits = [quiet_fit(clone(estimator).set_params(n_components=k), half) for half in pair]
        except ValueError as error:
            return {"n_components": k, "angle": np.pi / 2, "splits": fitted, "note": f"refused: {error}"}
        worst, fitted = max(worst, align_components(*fits).worst), fitted + 1
        if worst > tolerance:
            break
    note = "stable" if worst <= tolerance else "some components do not come again"
    return {"n_components": k, "angle": worst, "splits": fitted, "note": note}


def _beyond(k: int, most: int) -> dict[str, Any]:
    note = f"beyond the {most} dimensions that the samples span"
    return {"n_components": k, "angle": np.pi / 2, "splits": 0, "note": note}


def _judge(curve: list[dict[str, Any]], tolerance: float) -> tuple[int, str, str]:
    stable = [row for row in curve if row["angle"] <= tolerance]
    if not stable:
        best = min(curve, key=lambda row: row["angle"])
        return best["n_components"], "low", "no candidate is stable between halves; this one is closest to it"
    chosen = stable[-1]
    k, angle = chosen["n_components"], chosen["angle"]
    above = [row["angle"] for row in curve if row["n_components"] > k]
    if not above:
        return k, "low", "the largest candidate is stable: there may be more components"
    reason = f"all come again within {angle:.2g} rad; with more, some are off by {min(above):.2g} rad or more"
    if angle <= 0.05 and min(above) >= 0.5:
        return k, "high", reason
    return k, "moderate" if min(above) >= 2 * tolerance else "low", reason
