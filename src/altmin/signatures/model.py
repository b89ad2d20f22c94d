"""Signatures found in the counts themselves, with what speaks for each of them."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from altmin.estimators.nonnegative.and_nmf import AND
from altmin.estimators.parameters import Count, CountOrZero, Parameters
from altmin.estimators.sklearn_bridge import BaseEstimator, TransformerMixin, fit_context
from altmin.guarantees.contract import judge
from altmin.guarantees.report import GuaranteeReport
from altmin.selection.alignment import align_components
from altmin.selection.rows import quiet_fit
from altmin.signatures.exposures import refit
from altmin.signatures.number import choose_number
from altmin.signatures.tables import ChannelTable, read_table
from altmin.signatures.verdicts import SIGNATURES, gather


class SignatureModel(TransformerMixin, Parameters, BaseEstimator):
    r"""Mutational signatures of a cohort by :class:`altmin.AND` for counts, with a verdict for each.

    .. math:: x_{sc} \sim \text{Poisson}\Big(\sum_k e_{sk} a_{kc}\Big), \qquad
       e \ge 0, \quad a \ge 0, \quad \sum_c a_{kc} = 1

    where x are the mutations of sample s in channel c, a are the signatures and e the exposures, in
    mutations. Samples with very many mutations stay in: they are weighted by their noise, not removed.

    Parameters
    ----------
    n_components : 'auto' or int
        Number of signatures. 'auto' splits each count at random and takes the smallest number whose fit to
        one half predicts the other as well as the best number does.
    most : int
        Largest number that 'auto' tries.
    n_refits : int
        Fits to cohorts drawn with replacement and to halves of the mutations, by which the stability of
        each signature is judged; 0: none.
    random_state : int
        Seed of splits and draws.

    Attributes
    ----------
    signatures_ : ChannelTable
        The signatures, one per row, each of sum 1, by falling number of mutations.
    exposures_ : Exposures
        Mutations of each sample that each signature explains, with intervals of 90 %; sparse.
    stability_ : ndarray of shape (n_components,) or None
        The second smallest cosine of each signature to its match in a refit.
    number_ : Number or None
        Where ``n_components`` is 'auto': the choice and the curve behind it.
    guarantee_ : GuaranteeReport
        The verdict, and one for each signature in ``guarantee_.factors``.
    model_ : AND
        The fit to the counts.

    Notes
    -----
    **Guarantee.** After ``fit`` that of :class:`altmin.AND`; ``guarantee(X)`` looks closer. 'recovered' then
    says that a signature has a cosine of at least .95 with one that made the counts, as it comes again in
    resampled cohorts (``stability_``), halves, from other starts and beside one signature more. It assumes
    that each signature is absent from some samples.

    **Cost.** n_refits + 1 fits of AND, with 'auto' ten to twenty more, and five for ``guarantee``.

    References
    ----------
    L. B. Alexandrov et al., The repertoire of mutational signatures in human cancer, Nature 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.signatures import SignatureModel, match
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet(np.full(96, 0.1), 3)
    >>> counts = rng.poisson(2000 * rng.dirichlet(np.full(3, 0.4), 80) @ truth)
    >>> model = SignatureModel(3, n_refits=2).fit(counts)
    >>> [row.kind for row in match(model, truth, threshold=0.95).rows]
    ['match', 'match', 'match']
    """

    n_components: Literal["auto"] | Count = field(default="auto", kw_only=False)
    most: Count = 25
    n_refits: CountOrZero = 6
    random_state: CountOrZero = 0

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the signatures.

        Parameters
        ----------
        X : path, DataFrame, ChannelTable or array-like of shape (n_samples, n_channels)
            Mutations; see :func:`altmin.signatures.read_table`.
        y : None
            Not used.

        Returns
        -------
        SignatureModel
            Itself.
        """
        table = read_table(X)
        counts = _whole(table)
        number = None
        if self.n_components == "auto":
            number = choose_number(counts, self.most, self.random_state)
        K = int(self.n_components) if number is None else number.n_components
        if len(table) < 2:
            raise ValueError(f"counts of {len(table)} sample(s): signatures need several; refit takes one")
        self.model_ = AND(K, noise="poisson", random_state=self.random_state).fit(counts)
        self.number_ = number
        self.n_features_in_ = counts.shape[1]
        self.signatures_ = self._table(table)
        self.exposures_ = refit(table, self.signatures_, select=False)
        self.guarantee_ = self.model_.guarantee_
        self.stability_ = self._stability(counts) if self.n_refits else None
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Sparse exposures of samples, in mutations; :func:`refit` also gives intervals.

        Parameters
        ----------
        X : as in ``fit``
            Mutations.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Mutations that each signature explains.
        """
        check_is_fitted(self)
        return refit(X, self.signatures_, select=False).values

    def guarantee(self, X: Any, *, effort: str = "full") -> GuaranteeReport:
        """Look again, with data: whether these are the signatures that made them.

        Parameters
        ----------
        X : as in ``fit``
            Mutations.
        effort : {'cheap', 'full'}
            'cheap' is AND's own look; 'full' compares fits on halves, from other starts and with one
            signature more, and judges each signature at a cosine of .95.

        Returns
        -------
        GuaranteeReport
            The verdict and its reasons; it becomes ``guarantee_``.
        """
        check_is_fitted(self)
        counts = read_table(X).values
        if effort == "full":
            found = self.signatures_.values, refit(X, self.signatures_, select=False).values
            self.guarantee_ = judge(SIGNATURES, gather(counts, *found, self.stability_), effort=effort)
        else:
            self.guarantee_ = self.model_.guarantee(counts, effort=effort)
        return self.guarantee_

    def summary(self) -> list[dict[str, Any]]:
        """One row per signature: its mutations, the report's verdict, and how stable it is.

        Returns
        -------
        list of dict
            Ready for ``pandas.DataFrame``.
        """
        check_is_fitted(self)
        exposures = self.exposures_.values
        rows = []
        for k, name in enumerate(self.signatures_.names):
            row = {
                "signature": name,
                "share of mutations": float(exposures[:, k].sum() / max(exposures.sum(), 1e-300)),
                "samples": int((exposures[:, k] > 0).sum()),
            }
            factors = self.guarantee_.factors
            row["verdict"] = factors[k].verdict if factors else self.guarantee_.verdict
            row["against"] = factors[k].against if factors else ""
            row["stability"] = None if self.stability_ is None else float(self.stability_[k])
            rows.append(row)
        return rows

    def _table(self, counts: ChannelTable) -> ChannelTable:
        A = np.maximum(self.model_.components_.astype(np.float64), 0.0)
        sums = A.sum(axis=1, keepdims=True)
        if not np.all(sums > 0):
            empty = int(np.sum(sums == 0))
            raise ValueError(
                f"{empty} of {len(A)} signatures are empty: these counts don't hold so many; ask for fewer"
            )
        begin = counts.kind if counts.kind != "other" else "S"
        names = tuple(begin + _letters(k) for k in range(len(A)))
        return ChannelTable(A / sums, names, counts.channels, counts.kind)

    def _stability(self, counts: NDArray[Any]) -> NDArray[Any]:
        """The second smallest cosine to a match in fits to resampled cohorts."""
        rng = np.random.default_rng(self.random_state)
        found = []
        for _ in range(self.n_refits):
            rows = np.sort(rng.integers(0, len(counts), len(counts)))
            again = quiet_fit(AND(len(self.signatures_), noise="poisson"), counts[rows])
            found.append(np.cos(align_components(again, self.signatures_.values).angles))
        return np.sort(found, axis=0)[min(1, len(found) - 1)]


def _whole(table: ChannelTable) -> NDArray[Any]:
    if np.any(table.values != np.round(table.values)):
        row, column = np.argwhere(table.values != np.round(table.values))[0]
        raise ValueError(
            f"{table.names[row]} has {table.values[row, column]:g} mutations in {table.channels[column]}: "
            "counts are whole numbers (shares or normalised counts have lost their noise)"
        )
    empty = table.values.sum(axis=1) == 0
    if empty.any():
        name = table.names[int(np.argmax(empty))]
        warnings.warn(f"{int(empty.sum())} sample(s) without mutations, the first is {name}", stacklevel=3)
    return table.values


def _letters(number: int) -> str:
    """A, B, ... Z, AA, AB ..."""
    return (chr(ord("A") + number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)
