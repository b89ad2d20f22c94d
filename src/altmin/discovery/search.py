"""Try what may be in a table, compare on held-out cells, judge, and fit the winner on all rows."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from altmin.discovery.ctrl_c import heard
from altmin.discovery.dimensions import count_dimensions, noise_units
from altmin.discovery.families import (
    FAMILIES,
    MIXTURES,
    ORTHOGONAL,
    SPARSE,
    Family,
    Seen,
    are_columns,
    centre_of,
    few_leave,
    may_be_orthogonal,
    principal_axes,
)
from altmin.discovery.held_out import one_each, relative_error
from altmin.discovery.law import discover_law
from altmin.discovery.look import are_categories, look_at
from altmin.discovery.result import CLAIMED, Candidate, Discovery
from altmin.discovery.table import Sampled, sample_table, without_constants
from altmin.discovery.words import aside_in_code, found_in_words, nothing_in_words
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.guarantees.contract import allowed
from altmin.guarantees.report import GuaranteeReport
from altmin.selection.rows import quiet_fit

ROWS = {"quick": 1000, "normal": 4000, "thorough": 20_000}
_MOST = 40  # dimensions that are looked for
_ROWS_TIMES_ATOMS = 80_000  # of a search for sparse combinations: 4,000 rows for 20 atoms
# what leaves more than so many times what low rank leaves of held-out cells, and so much, is no answer
_WORSE, _MUCH = 1.5, 0.05
_AS_CHANCE = 0.5  # what few factors leave, over what they leave of Gaussian rows: no report outvotes that
_AS_EXACT = 1.2, 0.002  # orthogonal atoms that leave at most so many times as much as others, and so much
# |t| of a curve in what is left: 9.5 and more for bumps that move; a report contradicts from 4 on, and some
# tables with a limit of detection reach 7
_STRAIGHT = 8.0
_BENT = "What is left over follows squares of the fitted values: rows aren't sums of these factors."
# nearly what low rank leaves of held-out cells, and little: non-negative weights cost nothing there, which
# smooth surfaces, series and groups of unequal width don't allow for; so a few features may leave more
_AS_GOOD, _WELL, _MORE_LEAVE = 1.1, 0.05, 0.25
_SMALL = 0.01  # of held-out cells: what varies within features, rather than features, may account for it
# in scenes with known materials and counts of mutations a few features leave .19 to .26 of what they leave of
# rows without structure, in skewed columns and surveys .35 and more
_CLOSE = 0.3
_ROUNDING = 1e-9  # of the squared size
_EXPLAINED = "Rows without structure, with the same averages and correlations, need as many factors each."


def discover(
    X: Any, y: Any = None, *, budget: str = "normal", random_state: Any = None, verbose: int = 0
) -> Discovery:
    r"""Find out what a table holds: mixtures, sparse combinations, a law, low rank, or nothing but noise.

    .. math:: X \approx \text{weights} \times \text{factors}, \qquad
       \text{weights} \ge 0, \quad\text{or few of them nonzero, or neither}

    It looks at the table, tries the families that can apply on some of the rows, compares them by how well
    they predict cells that were held out, fits what may be the answer to all rows with the full guarantee
    report, and holds it against a table without structure that has the same averages and correlations. A
    family is claimed only where the rows show it and those of that other table don't; otherwise the answer
    is 'low rank' or 'noise'. Whether the factors themselves are right is said by the report.

    Parameters
    ----------
    X : array-like, sparse, data frame, memmap, path of a table, list of blocks or Dask array
        The table: numbers, of shape (n_samples, n_features). Rows with empty cells (NaN) are left out.
    y : array-like of shape (n_samples,), optional
        A target: then the question is which law of the columns gives it.
    budget : {'quick', 'normal', 'thorough'}, default='normal'
        How many rows the search looks at: 1,000, 4,000 or 20,000. The winner is fitted to all.
    random_state : int, RandomState or None
        Seed of samples, splits and fits.
    verbose : int, default=0
        1 prints each candidate as it ends, and about how long the rest will take. Ctrl-C ends the search,
        and the answer is made of what is there.

    Returns
    -------
    Discovery
        The answer, the fitted model, the candidates and the code.

    Notes
    -----
    **Guarantee.** That of the model's own report, for which the search changes nothing: it was made with the
    full effort on all rows.

    **Cost.** One fit for each candidate on the rows of the budget; for those that the rows speak for, the fit
    to all rows with its full report. Families that a quick look rules out are not fitted.

    References
    ----------
    A. B. Owen and P. O. Perry, Bi-cross-validation of the SVD and the nonnegative matrix factorization,
    Annals of Applied Statistics 2009 (held-out cells). The estimators name the papers of their models.

    Examples
    --------
    >>> from altmin import discover
    >>> from altmin.datasets import make_dir
    >>> found = discover(make_dir(1000, 30, 4, concentration=0.3, random_state=0).X, random_state=0)
    >>> found.kind, found.n_components
    ('mixtures', 4)
    """
    if budget not in ROWS:
        raise ValueError(f"budget={budget!r}: 'quick', 'normal' or 'thorough' is needed")
    seed = int(check_random_state(random_state).randint(1 << 31))
    say = _Progress() if verbose else _say_nothing
    if y is not None:
        return discover_law(sample_table(X, y, ROWS[budget], seed), seed, say)
    X, constant = without_constants(X)
    search = _Search(sample_table(X, y, ROWS[budget], seed), seed, say)
    search.run()
    return aside_in_code(search.result(), constant, frame=hasattr(X, "iloc"))


def _say_nothing(candidate: Candidate, ahead: int) -> None:
    """Without a word."""


class _Progress:
    """A line on standard error for each candidate, with the time that those ahead may take."""

    def __init__(self) -> None:
        self.begin, self.done = time.monotonic(), 0

    def __call__(self, candidate: Candidate, ahead: int) -> None:
        self.done += 1
        left = (time.monotonic() - self.begin) / self.done * ahead
        told = f"{candidate.family}, {candidate.n_components}: {candidate.said}"
        rest = f" (about {left:.0f} s left; Ctrl-C ends the search)" if ahead else ""
        sys.stderr.write(f"{told}{rest}\n")


class _Search:
    """The candidates of one table; each is tried once."""

    def __init__(self, table: Sampled, seed: int, say: Callable[[Candidate, int], None]) -> None:
        self.table, self.seed, self.say = table, seed, say
        rows, look = table.rows, look_at(table.rows)
        if look.constant == look.n_features:
            raise ValueError("X: every column has one value only, so there is nothing to find")
        unit = noise_units(rows)
        dimensions = count_dimensions(rows / unit, _MOST, seed)
        beyond_mean = count_dimensions((rows - rows.mean(axis=0)) / unit, _MOST, seed)
        self.seen = Seen(rows, look, dimensions, beyond_mean, seed)
        self.candidates: list[Candidate] = []
        self.best: Candidate | None = None
        self.coarse: Candidate | None = None
        self.stopped = False

    def run(self) -> None:
        """Try the families in turn until one is found; Ctrl-C ends the search."""
        with heard() as pressed:
            try:
                self._low_rank(self.seen.beyond_mean.chosen)
                for number, family in enumerate(FAMILIES):
                    for proposal in family.proposals(self.seen):
                        self._consider(family, proposal, len(FAMILIES) - number - 1)
                        if self.best is not None and self.best.verdict != "contradicted":
                            return  # a rival would have to be another set of the same factors
                        if pressed():
                            raise KeyboardInterrupt
                    if self.best is not None:  # another number of the same factors might have been right
                        return
                self._coarse()
            except KeyboardInterrupt:
                self.stopped = True

    def result(self) -> Discovery:
        """The answer."""
        ranked = tuple(sorted(self.candidates, key=_rank))
        notes = tuple(self.table.notes)
        if self.best is None:
            k, look = self.plain.n_components, self.seen.look
            return nothing_in_words(k, ranked, look, self.stopped, notes, self._closest(ranked))
        sentence = next(f.sentence for f in (*FAMILIES, ORTHOGONAL) if f.name == self.best.family)
        return found_in_words(self.best, sentence, ranked, self.seen.look, notes)

    def _coarse(self) -> None:
        """Mixtures that leave 1 % of held-out cells, where there are far more dimensions; never claimed.

        Features may vary from row to row, which adds dimensions without end.
        """
        beyond = self.seen.beyond_mean.leaving(_SMALL)
        if beyond is not None and 2 * (beyond + 1) < self.seen.dimensions.chosen:
            self.coarse = self._tried(MIXTURES, AND(beyond + 1, random_state=self.seed))
            self._keep(self.coarse, 0)

    def _closest(self, ranked: tuple[Candidate, ...]) -> Candidate | None:
        """Mixtures of few features that are nearly as far from chance as those that are claimed, if any.

        What varies within features makes rows bent, too, so that counts only against as many as dimensions.
        """
        close = [c for c in ranked if c.family == MIXTURES.name and c.few_leave <= _CLOSE]
        close = [c for c in close if 2 * c.n_components <= self.seen.look.n_features]
        if self.coarse in close and self.coarse.note in ("", _BENT):
            return self.coarse
        return next((c for c in close if not c.note), None)

    def _low_rank(self, k: int) -> None:
        """Low rank without structure: what every family has to be compared with."""
        begin = time.process_time()
        factors, centre, codes = principal_axes(self.seen.rows, k)
        error, spread = relative_error(self.table.held_out, factors, centre, codes, self.seed)
        name = "low rank" if k else "noise"
        self.plain = Candidate(name, k, error, spread, "", {}, time.process_time() - begin)
        self._keep(self.plain, len(FAMILIES))

    def _consider(self, family: Family, proposal: Any, ahead: int) -> None:
        """Try on the rows of the search; where that leaves hope, on all rows with the full report."""
        candidate = self._tried(family, proposal)
        model = candidate.model
        dimensions, better = candidate.n_components - 1, _WORSE * candidate.error < self.plain.error
        if family is MIXTURES and better and dimensions > self.plain.n_components:  # some were overlooked
            self._low_rank(dimensions)
        if family is SPARSE and model is not None and may_be_orthogonal(model.components_):
            special = self._tried(ORTHOGONAL, next(ORTHOGONAL.proposals(self.seen)))
            times, more = _AS_EXACT
            if special.few_leave <= times * candidate.few_leave + more:  # the simpler of two that are as good
                family, candidate = ORTHOGONAL, special
        if candidate.model is not None and not candidate.note:
            hope = _leaves_hope(candidate.model.guarantee_) and candidate.few_leave <= _AS_CHANCE
            if hope or candidate.few_leave <= self._few_may_leave(family, candidate):
                candidate = self._confirmed(family, candidate)
            elif candidate.few_leave > _AS_CHANCE:
                candidate = replace(candidate, note=_EXPLAINED)
        self._keep(candidate, ahead)

    def _tried(self, family: Family, proposal: Any) -> Candidate:
        """The candidate, with the first report and its error on held-out cells."""
        begin = time.process_time()
        k = getattr(proposal, "n_components", None) or self.seen.look.n_features
        blank = Candidate(family.name, k, np.nan, np.nan, "unknown", {}, 0.0)
        rows = self.seen.rows
        if family is not MIXTURES:  # a search for atoms costs rows times atoms, over and over
            rows = rows[:: -(-len(rows) * k // _ROWS_TIMES_ATOMS)]
        try:
            model = quiet_fit(proposal, rows)
        except ValueError as refusal:
            return replace(blank, note=f"refused: {refusal}", seconds=time.process_time() - begin)
        held_out = self.table.held_out
        codes = family.codes(model, rows[: len(held_out)])
        factors = np.asarray(model.components_, dtype=np.float64)
        error, spread = relative_error(held_out, factors, centre_of(model), codes, self.seed)
        return replace(
            blank,
            error=error,
            spread=spread,
            **_verdict(model.guarantee_),
            few_leave=few_leave(model, self.seen),
            seconds=time.process_time() - begin,
            note=self._against(family, error, factors) or _bent(model),
            model=model,
        )

    def _few_may_leave(self, family: Family, candidate: Candidate) -> float:
        """What a few factors may leave of the rows, over what they leave of Gaussian ones, for a claim."""
        as_good = candidate.error <= min(_AS_GOOD * self.plain.error + _ROUNDING, _WELL)
        return _MORE_LEAVE if family is MIXTURES and as_good else family.few_leave

    def _against(self, family: Family, error: float, factors: NDArray[Any]) -> str:
        """What speaks against it before any report, if anything."""
        if are_columns(factors):
            return "Most factors are single columns: nothing combines these."
        # of few columns, those that are left when some are hidden can't tell as many atoms apart
        if family not in (SPARSE, ORTHOGONAL) and error > _WORSE * self.plain.error + _MUCH:
            return "It predicts held-out cells far worse than low rank does."
        if family is MIXTURES and are_categories(self.seen.rows):
            return "Most columns have two values only: these are categories, and no amounts are mixed."
        if family is MIXTURES and one_each(self.table.held_out, factors):
            return "Each row is one feature and noise: these are groups, and nothing is mixed."
        return ""

    def _confirmed(self, family: Family, candidate: Candidate) -> Candidate:
        """The candidate as fitted to all rows, with the full report; the best one where the rows show it."""
        begin = time.process_time()
        try:
            model = _judged(quiet_fit(clone(candidate.model), self.table.X), self.table.X)
        except ValueError as refusal:
            return replace(candidate, note=f"refused: {refusal}")
        shown = candidate.few_leave <= self._few_may_leave(family, candidate)
        note = _bent(model)
        found = replace(
            candidate,
            **_verdict(model.guarantee_),
            seconds=candidate.seconds + time.process_time() - begin,
            # where the rows don't show it, 'plausible' isn't enough (it was said of rows that rank columns)
            claimed=not note and (shown or model.guarantee_.verdict == "recovered"),
            note=note,
            model=model,
        )
        if found.claimed and (self.best is None or _rank(found) < _rank(self.best)):
            self.best = found
        return found

    def _keep(self, candidate: Candidate, ahead: int) -> None:
        self.candidates.append(candidate)
        self.say(candidate, 0 if self.best is not None else ahead)


def _leaves_hope(report: GuaranteeReport) -> bool:
    """Whether the full report may claim what the cheap one saw: none of its tests rules that out already."""
    lost = [row for row in report.decisive if row.status == "violated" and allowed(row) not in CLAIMED]
    return report.verdict in CLAIMED or not (lost or report.verdict == "contradicted")


def _bent(model: Any) -> str:
    """What speaks against sums of factors, by the model's own report, if anything does."""
    rows = (row for row in model.guarantee_.decisive if row.id == "straight")  # of counts it isn't asked
    return _BENT if any((row.measured or 0.0) > _STRAIGHT for row in rows) else ""


def _judged(model: Any, X: Any) -> Any:
    """The model with its full report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.guarantee_ = model.guarantee(X, effort="full")
    return model


def _verdict(report: GuaranteeReport) -> dict[str, Any]:
    return {
        "verdict": report.verdict,
        "factors": dict(Counter(factor.verdict for factor in report.factors)),
    }


def _rank(candidate: Candidate) -> tuple[Any, ...]:
    """Claimed before not; what nothing speaks against; the better verdict; the smaller held-out error."""
    order = ("recovered", "plausible", "unknown", "contradicted", "")
    return (
        not candidate.claimed,
        bool(candidate.note),
        order.index(candidate.verdict),
        candidate.error,
    )
