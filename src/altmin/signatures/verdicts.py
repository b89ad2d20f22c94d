"""Whether a signature is one that made the counts: a verdict for each, at the tolerance of the field.

Who looks for signatures calls one found at a cosine of .95, and cohorts are far too noisy for more. So the
report of the room asks less of precision than that of :class:`altmin.AND`, and more of repetition: a
signature has to come again in cohorts drawn with replacement, in both halves of the samples, from other
starts, and beside one signature more; samples must have it without each of the others, and these without
it; and what all of them leave over must be noise, or a signature is missing and those that are there may
stand for two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.engine import open_source
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.guarantees.cone_rest import structure_left
from altmin.guarantees.contract import Family, Rule, Table, Test, each, whole
from altmin.guarantees.refits import on_halves
from altmin.io.records import record
from altmin.selection.alignment import align_components
from altmin.selection.rows import quiet_fit

CLOSE = 0.95  # cosine from which a signature counts as found
_HALVES = 0.9  # of fits to half of the samples: these are noisier than the fit
_APART = 5  # samples that have a signature without another one
_STRUCTURE = 1.2  # largest direction of what is left over, over that of noise


@record
class SignatureEvidence:
    """All that a report of signatures rests on; arrays have one number for each signature.

    Parameters
    ----------
    drawn : ndarray or None
        Second smallest cosine to the match in fits to cohorts drawn with replacement; None: none were made.
    halves : ndarray of shape (2, n_components)
        Cosines to the matches in fits to two halves of the samples.
    starts : ndarray
        Smallest cosine to the match in fits from other starts.
    more : ndarray
        Cosine to the match in a fit with one signature more.
    alone : ndarray
        Samples that have the signature without another one, or that without it, whichever are fewest.
    samples : ndarray
        Samples that have the signature.
    structured : float
        Largest singular value of what is left over, over that of noise of the same size.
    """

    drawn: Any
    halves: Any
    starts: Any
    more: Any
    alone: Any
    samples: Any
    structured: float


def gather(
    counts: NDArray[Any], signatures: NDArray[Any], exposures: NDArray[Any], drawn: Any
) -> SignatureEvidence:
    """Fit the counts again in other ways, and compare.

    Parameters
    ----------
    counts : ndarray of shape (n_samples, n_channels)
        Mutations.
    signatures : ndarray of shape (n_components, n_channels)
        What was found, of sum 1.
    exposures : ndarray of shape (n_samples, n_components)
        Sparse, in mutations.
    drawn : ndarray of shape (n_components,) or None
        The model's ``stability_``.

    Returns
    -------
    SignatureEvidence
        From five fits.
    """
    K, source = len(signatures), open_source(counts).require_replayable("halves of the samples")

    def near(found: Any) -> NDArray[Any]:
        return np.cos(align_components(found, signatures).angles)

    def again(rows: NDArray[Any], more: int = 0, **options: Any) -> NDArray[Any]:
        most = min(counts.shape)
        return near(quiet_fit(AND(min(K + more, most), noise="poisson", **options), rows))

    has = exposures > 0
    without = has.T.astype(float) @ ~has
    without = np.minimum(without, without.T)
    np.fill_diagonal(without, np.inf)
    fitted = exposures @ signatures
    spread = np.sqrt(np.maximum(fitted, 0.1 * fitted.mean()))
    return SignatureEvidence(
        drawn=drawn,
        halves=np.array(on_halves(lambda half: again(half.take(np.arange(half.n_rows)).X), source)),
        starts=np.min([again(counts, init="vca", random_state=seed) for seed in (1, 2)], axis=0),
        more=again(counts, 1),
        alone=without.min(axis=1) if K > 1 else has.sum(axis=0),
        samples=has.sum(axis=0),
        structured=structure_left((counts - fitted) / spread),
    )


def tests(e: SignatureEvidence) -> list[Test]:
    """Each signature comes again whatever is changed; all together leave noise."""
    nothing = np.full(len(e.more), np.nan)
    close: dict[str, Any] = {"at_least": CLOSE, "otherwise": "unknown"}
    return [
        each("resampled cohorts give it again", "cosine",
             nothing if e.drawn is None else e.drawn, id="drawn",
             against="resampled cohorts lead elsewhere", **close,
             meaning="Second smallest cosine to its match in fits to samples drawn with replacement."),
        each("both halves give it again", "cosine", e.halves.min(axis=0), at_least=_HALVES, id="halves",
             against="half of the samples lead elsewhere",
             meaning="Smaller cosine to its match in fits to two halves of the samples."),
        each("other starts give it again", "cosine", e.starts, id="starts",
             against="another start leads elsewhere", **close,
             meaning="Smaller cosine to its match in two fits from random directions."),
        each("it stays if one signature more is allowed", "cosine", e.more, id="more",
             against="it changes if one signature more is allowed", **close,
             meaning="Cosine to its match in a fit with one signature more: one that stands for two is "
             "split there."),
        each("it occurs without each other one", "samples", e.alone, at_least=_APART,
             id="alone", otherwise="plausible", against="it and another one hardly occur apart",
             meaning="Samples that have one of a pair alone, for the worst pair that it belongs to: where "
             "there are none, a part of the one can be moved to the other."),
        whole("nothing is missing: what is left over is noise", "largest / chance", e.structured,
              at_most=_STRUCTURE, id="noise_left",
              meaning="What is left over shares a direction, over what noise of the same size would share: "
              "a missing signature shows here, and the others may be mixed with it."),
    ]  # fmt: skip


def _table(e: SignatureEvidence) -> Table:
    """A fit to half of the samples is as far from the fit as this is from the truth, if that is noise."""
    angles = np.arccos(np.clip(e.halves, -1.0, 1.0))
    error = np.sqrt(np.mean(angles**2, axis=0))
    return Table(error, 1.5 * angles.max(axis=0), e.samples)


def _claim(e: SignatureEvidence) -> str:
    return (
        "Each signature that is called 'recovered' has a cosine of at least "
        f"{CLOSE:g} with one that made the counts."
    )


def _assumptions(e: SignatureEvidence) -> tuple[str, ...]:
    return (
        "Samples have few signatures: each signature is absent from some of them.",
        "Signatures that always occur in the same proportion count as one.",
    )


SIGNATURES = Family(
    claim=_claim,
    tests=tests,
    rule=lambda e: Rule("signatures", ("drawn", "halves", "starts", "more", "alone", "noise_left")),
    error=lambda e: float(np.max(_table(e).error)),
    table=_table,
    assumptions=_assumptions,
    advice={
        "drawn": "some signatures don't come again in resampled cohorts: more samples, or fewer signatures "
        "(n_refits must not be 0)",
        "halves": "some signatures need all samples: more of them would settle it",
        "starts": "other starts find other signatures: try another number of signatures",
        "more": "try one signature more, and compare",
        "alone": "some signatures hardly occur apart: samples that have only one of them would tell",
        "noise_left": "what is left over has structure: try more signatures",
    },
    otherwise="more samples, or more mutations in each",
)
