"""Try what may be in a table, compare on held-out cells, judge, and fit the winner on all rows."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from altmin.discovery.dimensions import count_dimensions
from altmin.discovery.families import FAMILIES, SPARSE, Family, principal_axes
from altmin.discovery.held_out import relative_error
from altmin.discovery.law import discover_law
from altmin.discovery.look import look_at
from altmin.discovery.result import ENOUGH, Candidate, Discovery
from altmin.estimators.dictionary.orthogonal import OrthogonalDictionaryLearning
from altmin.selection.rows import has_holes, quiet_fit

ROWS = {"quick": 1000, "normal": 4000, "thorough": 20_000}
_HELD_OUT = 300  # rows whose cells are predicted

_MOST = 40  # dimensions that are looked for
_EXPLAINED = "A table without structure, with the same averages and correlations, gets this verdict too."


def discover(
    X: Any, y: Any = None, *, budget: str = "normal", random_state: Any = None, verbose: int = 0
) -> Discovery:
    r"""Find out what a table holds: mixtures, sparse combinations, a law, low rank, or nothing but noise.

    .. math:: X \approx \text{weights} \times \text{factors}, \qquad
       \text{weights} \ge 0, \quad\text{or few of them nonzero, or neither}

    It looks at the table, tries the families that can apply on some of the rows, compares them by how well
    they predict cells that were held out, holds each against a table without structure that has the same
    averages and correlations, fits the winner to all rows, and attaches the full guarantee report. A family
    is claimed only where its report says 'recovered' or 'plausible'; otherwise the answer is 'low rank' or
    'noise'.

    Parameters
    ----------
    X : array-like, sparse or data frame of shape (n_samples, n_features)
        The table: numbers, no holes.
    y : array-like of shape (n_samples,), optional
        A target: then the question is which law of the columns gives it.
    budget : {'quick', 'normal', 'thorough'}, default='normal'
        How many rows the search looks at: 1,000, 4,000 or 20,000. The winner is fitted to all.
    random_state : int, RandomState or None
        Seed of samples, splits and fits.
    verbose : int, default=0
        1 prints each candidate as it ends. Ctrl-C ends the search and reports on what is there.

    Returns
    -------
    Discovery
        The answer, the fitted model, the candidates and the code.

    Notes
    -----
    **Guarantee.** That of the model's own report, for which the search changes nothing: it was made with the
    full effort on all rows.

    **Cost.** One fit for each candidate on the rows of the budget, one on a table without structure for each
    that is claimed, and the winner's fit with its full report.

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
    table = _table(X)
    seed = int(check_random_state(random_state).randint(1 << 31))
    if y is not None:
        return discover_law(table, y, ROWS[budget], seed)
    search = _Search(table, seed, ROWS[budget], verbose)
    search.run()
    return search.result()


class _Search:
    """The candidates of one table; each is tried once."""

    def __init__(self, table: NDArray[Any], seed: int, most: int, verbose: int) -> None:
        self.all, self.seed, self.verbose = table, seed, verbose
        order = np.random.default_rng([seed, 1]).permutation(len(table))
        held = min(_HELD_OUT, len(table) // 5)
        self.held_out, self.rows = table[order[:held]], table[np.sort(order[held:][:most])]
        self.look = look_at(self.rows)
        # counts of large columns are noisier: divided by the root of their mean, all columns are alike
        unit = np.sqrt(np.maximum(self.rows.mean(axis=0), 1e-12)) if self.look.counts else 1.0
        self.dimensions = count_dimensions(self.rows / unit, _MOST, seed)
        self.beyond_mean = count_dimensions((self.rows - self.rows.mean(axis=0)) / unit, _MOST, seed)
        self.candidates: list[Candidate] = []
        self.stopped = False

    def run(self) -> None:
        """Try the families in turn; Ctrl-C ends the search."""
        self._plain()
        try:
            for family in FAMILIES:
                for k in family.numbers(self.look, self.dimensions):
                    best = self._best()
                    if best is None or best.verdict != "recovered":  # what is recovered needs no rival
                        self._keep(self._try(family, k))
            best = self._best()
            if best is not None and best.family == SPARSE.name and _orthogonal(best.model.components_):
                self._keep(self._try(ORTHOGONAL, best.n_components))
        except KeyboardInterrupt:
            self.stopped = True

    def result(self) -> Discovery:
        """The answer, with the winner fitted to all rows and judged with full effort."""
        ranked = sorted(self.candidates, key=_rank)
        best = self._best()
        while best is not None:
            model = self._fit_all(best)
            if model.guarantee_.verdict in ("recovered", "plausible"):
                return self._found(best, model, ranked)
            ranked = [replace(c, note="not confirmed on all rows") if c is best else c for c in ranked]
            best = next((c for c in ranked if c.claimed), None)
        return self._nothing(ranked)

    def _plain(self) -> None:
        """Low rank without structure: what every family has to be compared with."""
        begin = time.process_time()
        k = self.beyond_mean.chosen
        factors, centre, codes = principal_axes(self.rows, k)
        error, spread = relative_error(self.held_out, factors, centre, codes, self.seed)
        name = "low rank" if k else "noise"
        self._keep(Candidate(name, k, error, spread, "", {}, time.process_time() - begin))

    def _try(self, family: Family, k: int) -> Candidate:
        begin = time.process_time()
        blank = Candidate(family.name, k, np.nan, np.nan, "unknown", {}, 0.0)
        try:
            model = quiet_fit(family.make(k, self.seed), self.rows)
            report = model.guarantee_
            if report.verdict != "contradicted":
                report = _full(model, self.rows)
        except ValueError as refusal:
            return replace(blank, note=f"refused: {refusal}", seconds=time.process_time() - begin)
        centre = getattr(model, "intercept_", None)
        centre = np.zeros(self.rows.shape[1]) if centre is None else np.asarray(centre)
        codes = family.codes(model, self.held_out)
        error, spread = relative_error(self.held_out, family.factors(model), centre, codes, self.seed)
        note = ""
        if report.verdict in ("recovered", "plausible") and self._twin_is_claimed(family, k):
            note = _EXPLAINED
        counts = dict(Counter(factor.verdict for factor in report.factors))
        seconds = time.process_time() - begin
        return Candidate(family.name, k, error, spread, report.verdict, counts, seconds, note, model)

    def _twin_is_claimed(self, family: Family, k: int) -> bool:
        """Whether Gaussian rows with the same mean and covariance would be claimed as well."""
        centre = self.rows.mean(axis=0)
        root = np.linalg.qr(self.rows - centre, mode="r") / np.sqrt(len(self.rows))
        twin = (
            np.random.default_rng([self.seed, 2]).standard_normal((len(self.rows), len(root))) @ root + centre
        )
        try:
            model = quiet_fit(family.make(k, self.seed), twin)
        except ValueError:
            return False
        if model.guarantee_.verdict == "unknown":
            return _full(model, twin).verdict in ("recovered", "plausible")
        return model.guarantee_.verdict in ("recovered", "plausible")

    def _keep(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        if self.verbose:
            verdict = candidate.verdict or "claims nothing"
            sys.stderr.write(f"{candidate.family}, {candidate.n_components}: {verdict}\n")

    def _best(self) -> Candidate | None:
        claimed = [candidate for candidate in self.candidates if candidate.claimed]
        return min(claimed, key=_rank) if claimed else None

    def _fit_all(self, best: Candidate) -> Any:
        """The winner on all rows (those of the search, where these are all), with its full report."""
        family = next(f for f in (*FAMILIES, ORTHOGONAL) if f.name == best.family)
        model = quiet_fit(family.make(best.n_components, self.seed), self.all)
        _full(model, self.all)
        return model

    def _found(self, best: Candidate, model: Any, ranked: list[Candidate]) -> Discovery:
        family = next(f for f in (*FAMILIES, ORTHOGONAL) if f.name == best.family)
        report = model.guarantee_
        what = family.sentence.format(k=best.n_components)
        rivals = [c for c in ranked if c.claimed and c.family != best.family and c.verdict == best.verdict]
        answer = f"In this table {what}."
        sure = {
            "recovered": f"The report says 'recovered': {report.claim}",
            "plausible": "The report says 'plausible': the factors fit, but another explanation remains.",
        }[report.verdict]
        if rivals:
            names = " and ".join(dict.fromkeys(c.family for c in rivals))
            sure += f" {names.capitalize()} can't be told apart from it here."
        surer = f"To be surer: {report.advice}." if report.advice else ENOUGH
        return Discovery(
            best.family,
            best.n_components,
            answer,
            (answer, sure, surer),
            model,
            tuple(ranked),
            self.look,
            _code(model),
        )

    def _nothing(self, ranked: list[Candidate]) -> Discovery:
        k = self.beyond_mean.chosen
        if k:
            kind = "low rank"
            answer = (
                f"No structure beyond low rank was found: {k} dimensions predict held-out cells, but neither "
                "non-negative mixtures nor sparse combinations explain them."
            )
        else:
            kind = "noise"
            answer = "Nothing but noise was found: no cell can be predicted from the others of its row."
        unknown = [c for c in ranked if c.verdict == "unknown"]
        sure = (
            "Some families could not be judged: "
            + ", ".join(f"{c.family} ({c.n_components})" for c in unknown)
            if unknown
            else "Every family that was tried is contradicted by the rows"
        )
        surer = "More rows, or less noise, would let the tests of the families see more."
        code = f"sklearn.decomposition.PCA({k}).fit(X)" if k else ""
        return Discovery(kind, k, answer, (answer, f"{sure}.", surer), None, tuple(ranked), self.look, code)


ORTHOGONAL = replace(
    SPARSE,
    name="sparse combinations, orthogonal atoms",
    sentence="each row combines a few of {k} atoms that are orthogonal to each other",
    make=lambda k, seed: OrthogonalDictionaryLearning(random_state=seed),
)


def _table(X: Any) -> NDArray[Any]:
    """A dense table of floats; what can't be one is refused with a sentence."""
    if sp.issparse(X):
        X = X.toarray()
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError(
            f"X has shape {table.shape} and dtype {table.dtype}: a table of numbers is needed (the command "
            "`altmin discover` sets ids and text columns aside)"
        )
    table = table.astype(np.float64)
    if has_holes(table):
        raise ValueError("X: some cells are empty (NaN); drop those rows or columns, or fill them first")
    if not np.isfinite(table).all():
        raise ValueError("X: some cells are infinite")
    if len(table) < 20 or table.shape[1] < 3:
        raise ValueError(
            f"X has shape {table.shape}: at least 20 rows and 3 columns are needed to tell anything"
        )
    return table


def _full(model: Any, rows: NDArray[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = model.guarantee(rows, effort="full")
    model.guarantee_ = report
    return report


def _orthogonal(components: NDArray[Any]) -> bool:
    k, d = components.shape
    return k == d and bool(np.abs(components @ components.T - np.eye(k)).max() < 0.05)


def _rank(candidate: Candidate) -> tuple[Any, ...]:
    """Claimed before not; the better verdict; orthogonal before general atoms; the smaller held-out error."""
    order = ("recovered", "plausible", "unknown", "contradicted", "")
    special = candidate.family != ORTHOGONAL.name
    return (not candidate.claimed, order.index(candidate.verdict), special, candidate.error)


def _code(model: Any) -> str:
    changed = " ".join(str(model).split())
    return f"import altmin\n\nmodel = altmin.{changed}.fit(X)\nmodel.guarantee(X)\n"
