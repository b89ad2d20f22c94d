"""The estimator of approximate dictionary learning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field, replace
from numbers import Real
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from altmin.algorithms.overcomplete.approximate import ApproximateDictionary, ApproximateState
from altmin.algorithms.overcomplete.improve import SweepPlan, begin_sweeps
from altmin.algorithms.overcomplete.peeling_sizes import (
    practical_plan,
    theory_draws,
    theory_drop,
    theory_plan,
)
from altmin.algorithms.overcomplete.unit_rows import squares_left, unit_rows
from altmin.contract import Block, Info
from altmin.engine import AnySource, Source, collect_rows
from altmin.estimators.base import ComponentsEstimator
from altmin.estimators.overcomplete.evidence import compared, fitted_quantities, sparsity
from altmin.estimators.parameters import Count, Interval, Matrix, NotNegative, Positive, Share
from altmin.estimators.sklearn_bridge import fit_context
from altmin.guarantees.contract import judge
from altmin.guarantees.overcomplete import OVERCOMPLETE, plausible_atoms
from altmin.guarantees.report import GuaranteeReport
from altmin.kernels.peel import subtract_codes
from altmin.kernels.pursuit import SparseRows

_EXACT_ROWS = 512  # 'auto' peels exactly up to here in practice,
_EXACT_ROWS_THEORY = 20_000  # and here in theory mode, where the guarantee is the point


class ApproximateDictionaryLearning(ComponentsEstimator):
    r"""Dictionary learning with more atoms than features, or with outliers among the samples.

    .. math:: X \approx Y A, \qquad \|y_i\|_0 \le k, \quad \|a_j\| = 1

    where each row of X is a combination of at most k of the m atoms (rows of A, ``components_``). The
    dictionary is peeled off by threshold correlation (Bhaskara and Tai, Algorithms 1 and 2, corrected),
    then improved in sweeps of orthogonal matching pursuit and least squares, in which weak atoms are
    swapped for directions that the residuals agree on.

    Parameters
    ----------
    n_components : int or None
        Number of atoms, m. None: as many as features, or as many as ``target_error`` needs (then at
        most eight times the number of features).
    n_nonzero_coefs : int or None
        Largest number of atoms in a row, k. None: a tenth of the number of features, at least 1.
    target_error : float or None
        Relative squared error to reach: a row's coding stops there, and the dictionary grows until it
        is reached where ``n_components`` is None. In theory mode the epsilon of Theorem 4 (default .3).
    contamination : float
        Share of the rows that may be outliers, rho. Above 0 rows count equally whatever their length,
        and the worst share is left out of the sums.
    mode : {'practical', 'theory'}
        'theory' runs the corrected algorithm of the paper with its constants and nothing else: peeling
        at tau = eps^2 / (16 k Lambda), up to 16 m Lambda / (beta eps) atoms, codes by peeling.
    coefficient_bound : float
        Lambda of Theorem 4, used in theory mode: squared norm of a row's codes over that of the row.
    peeling : {'auto', 'exact', 'sampled'}
        Whether every residual is a candidate (n^2 work, in one place) or a sample. 'auto' is exact up
        to 512 rows (20 000 in theory mode).
    init : 'peel' or ndarray of shape (n_components, n_features)
        Start of the sweeps.
    max_iter : int
        Largest number of sweeps (in theory mode rounds of sampled peeling; exact peeling runs to its end).
    tol : float
        Stop when the error's relative change stays below it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Atoms of unit norm, most used (energy of their codes) first, largest entry positive; in theory
        mode in the order in which they were peeled.
    codes_ : csr_array of shape (n_samples, n_components)
        Codes of the training rows: ``codes_ @ components_`` approximates X.
    outlier_scores_ : ndarray of shape (n_samples,)
        Relative squared error of each row, between 0 and 1: larger is more outlying.
    outlier_mask_ : ndarray of bool, shape (n_samples,)
        The share ``contamination`` of the rows with the largest scores.
    outlier_threshold_ : float
        New rows with a larger score are outliers.
    relative_error_ : float
        Squared error over squared norm of the data; of the rows that aren't trimmed where
        ``contamination`` > 0 (rows counting equally).
    guarantee_ : GuaranteeReport
        What is certain and what isn't: at most 'plausible' for this model.

    Notes
    -----
    **Guarantee.** Theorems 4, 7 and 9 bound the error, not the distance to true atoms: nothing is assumed
    that would make those unique. The achieved error is computed and certain; the worst-case promise is
    printed, and called vacuous where it is. The verdict is 'plausible' at most.

    **Cost.** With m atoms, k nonzeros and d features a sweep takes O(n_samples * (m d + k (k + d)));
    peeling works on a sample whose size doesn't grow with n_samples (exact peeling: n_samples^2 d). Memory:
    the codes (n_samples * k), the sample, a few blocks of rows.

    References
    ----------
    A. Bhaskara and W. M. Tai, Approximate guarantees for dictionary learning, COLT 2019.

    Examples
    --------
    >>> from altmin import ApproximateDictionaryLearning
    >>> from altmin.datasets import make_planted_sparse
    >>> from altmin.metrics import sine_errors
    >>> problem = make_planted_sparse(1000, 20, 30, 2, .02, random_state=0)
    >>> model = ApproximateDictionaryLearning(30, n_nonzero_coefs=2, random_state=0).fit(problem.X)
    >>> bool(sine_errors(model.components_, problem.components).max() < .05)
    True
    """

    n_components: Count | None = field(default=None, kw_only=False)
    n_nonzero_coefs: Count | None = None
    target_error: Share | None = None
    contamination: Annotated[float, Interval(Real, 0, 0.5, closed="left")] = 0.0
    mode: Literal["practical", "theory"] = "practical"
    coefficient_bound: Positive = 1.0
    peeling: Literal["auto", "exact", "sampled"] = "auto"
    init: Literal["peel"] | Matrix = "peel"
    max_iter: Count = 60
    tol: NotNegative = 1e-3

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the dictionary."""
        source = self._open(X, reset=True)
        algorithm = self._algorithm(source)
        result = self._run(algorithm, source)
        self._set_run(result)
        order, signs = self._set_components(algorithm, result.state)
        self._set_codes(result.state, order, signs)
        figures = result.state.figures  # the report needs no rows
        held = sum(np.asarray(sums).nbytes for sums in figures.values()) + self.outlier_scores_.nbytes
        self._report_when_asked(
            None, lambda model, _: judge(OVERCOMPLETE, fitted_quantities(model, figures)), held
        )
        return self

    def _held_bytes(self, info: Info) -> int:
        # Supports of all codes between a sweep and its refit, while the next sweep writes others.
        supports = 2 * (4 * sparsity(self.n_nonzero_coefs, info.n_features) + 12)
        return super()._held_bytes(info) + supports * (info.n_rows or 0)

    def _algorithm(self, source: AnySource) -> ApproximateDictionary:
        info = source.info
        d, n = info.n_features, info.n_rows or 0
        if n and (self.n_components or 0) > n + d:  # the samples themselves and the axes would do
            raise ValueError(
                f"n_components={self.n_components} is more than {n} sample(s) and {d} features of X can need"
            )
        k = sparsity(self.n_nonzero_coefs, d)
        start = self._start(d)
        shared: dict[str, Any] = {"equal": self.contamination > 0, "start": start}
        if self.mode == "theory":
            return self._theory(k, d, n, shared)
        growing = self.n_components is None and self.target_error is not None and start is None
        m = self.n_components or (len(start) if start is not None else d)
        plan = practical_plan(m, k, n)
        sweeps = SweepPlan(
            n_nonzero=min(k, 8 * d if growing else m),
            tol=self.target_error or 0.0,
            trim=float(self.contamination),
            max_atoms=8 * d if growing else 0,
            target=self.target_error or 0.0,
        )
        exact = self.peeling == "exact" or (self.peeling == "auto" and n <= _EXACT_ROWS)
        return ApproximateDictionary(plan, sweeps, exact=exact, **shared)

    def _theory(self, k: int, d: int, n: int, shared: dict[str, Any]) -> ApproximateDictionary:
        """Constants of Theorems 4, 7 and 9 as corrected; (alpha, beta) of our Theorem 6."""
        m, bound, eps = self.n_components or d, float(self.coefficient_bound), self.target_error or 0.3
        drop = theory_drop(m, k, bound, eps) if self.contamination else 0.0
        exact = self.peeling == "exact" or (self.peeling == "auto" and n <= _EXACT_ROWS_THEORY)
        plan = theory_plan(m, k, bound, eps, d)
        draws = theory_draws(m, bound, eps)
        if not exact and draws > plan.n_candidates:
            warnings.warn(
                f"mode='theory' with {n} rows draws {plan.n_candidates} candidates a round; the sampling "
                f"bound asks for {draws}, so Theorem 9 doesn't cover this fit. peeling='exact' is covered "
                "(its cost grows with the square of the rows)",
                stacklevel=4,
            )
        return ApproximateDictionary(plan, None, exact=exact, stop_drop=drop, stop_error=eps, **shared)

    def _start(self, n_features: int) -> NDArray[Any] | None:
        if isinstance(self.init, str):
            return None
        start = np.asarray(self.init, dtype=np.float64)
        rows = self.n_components or (len(start) if start.ndim == 2 else 0)
        if start.shape != (rows, n_features):
            raise ValueError(
                f"init has shape {start.shape}; (n_components, n_features) = {(rows, n_features)} is needed"
            )
        norms = np.linalg.norm(start, axis=1, keepdims=True)
        if not (norms > 0).all() or not np.isfinite(norms).all():
            raise ValueError("init: atoms that are finite and not zero are needed")
        return start / norms

    def _set_components(
        self, algorithm: ApproximateDictionary, state: ApproximateState
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Order and sign of the atoms, and what belongs to each."""
        figures, atoms = state.figures, state.atoms
        order, signs = np.arange(len(atoms)), np.ones(len(atoms), atoms.dtype)
        if algorithm.sweeps is not None and algorithm.start is None:
            order = np.argsort(-figures["energy"], kind="stable")
            if algorithm.sweeps.max_atoms:  # grown: what no row needs was never asked for
                order = order[figures["use"][order] > 0] if figures["use"].any() else order[:1]
            peaks = np.take_along_axis(atoms, np.abs(atoms).argmax(axis=1)[:, None], axis=1)
            signs = np.where(peaks < 0, -1, 1).astype(atoms.dtype).ravel()
        use = np.maximum(figures["use"], 1.0)
        self.components_ = np.ascontiguousarray((atoms * signs[:, None])[order])
        self.component_scales_ = np.sqrt(figures["energy"] / use)[order]
        self.relative_error_ = figures["left"] / figures["total"] if figures["total"] > 0 else 0.0
        self.reconstruction_err_ = float(np.sqrt(figures["residual"]))
        self._coder = replace(algorithm, start=None)
        return order, signs

    def _set_codes(self, state: ApproximateState, order: NDArray[np.intp], signs: NDArray[Any]) -> None:
        """Codes and outlier scores of the training rows, as the closing pass found them."""
        atoms, codes, counts, self.outlier_scores_ = state.codes
        place = np.zeros(len(signs), np.intp)  # those that were left out are in no row
        place[order] = np.arange(len(order))
        self.codes_ = SparseRows(place[atoms], codes * signs[atoms], counts, len(order)).csr()
        self.codes_.sort_indices()
        n = len(self.outlier_scores_)
        n_outliers = int(self.contamination * n)
        worst = np.argsort(-self.outlier_scores_, kind="stable")[:n_outliers]
        self.outlier_mask_ = np.zeros(n, dtype=bool)
        self.outlier_mask_[worst] = True
        self.outlier_threshold_ = float(self.outlier_scores_[~self.outlier_mask_].max())

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        evidence = fitted_quantities(self, self._figures(source))
        if full:
            evidence = compared(self, evidence, source)
        return judge(OVERCOMPLETE, evidence, effort="full" if full else "cheap")

    def _figures(self, source: Source) -> dict[str, Any]:
        """The sums of a fit's closing pass, of these rows."""
        longest = float(collect_rows(lambda block: unit_rows(block.X)[1], source).max(initial=0.0))
        sweep = None
        if self._coder.sweeps is not None:
            sweep = replace(begin_sweeps(self.components_), cut=self.outlier_threshold_ or np.inf)
        state = replace(
            self._coder.init(source.info, 0),
            phase="done",
            atoms=self.components_,
            longest=longest or 1.0,
            sweep=sweep,
        )
        return dict(self._run(self._coder, source, state, checkpoint=None, seed=0).state.figures)

    def plausible_components(self, X: Any) -> NDArray[np.bool_]:
        """Which atoms the evidence of the full report supports, one by one.

        Returns
        -------
        ndarray of bool, shape (n_components,)
            True: found again by both halves, used, in data with sparse structure. Not proof.
        """
        check_is_fitted(self)
        source = self._open(X, reset=False)
        if not isinstance(source, Source):
            raise ValueError("X is a one-way stream: halves need data that can be read again")
        return plausible_atoms(compared(self, fitted_quantities(self, self._figures(source)), source))

    def _coded(self, block: Block) -> sp.csr_array:
        """Codes of a block, and the score of each row as a last column."""
        U, norms = unit_rows(block.X)
        atoms = self.components_.astype(U.dtype, copy=False)
        code = self._coder.code(atoms, U)
        left = U.copy()
        subtract_codes(left, code.atoms, code.codes, code.counts, atoms)
        scores = np.minimum(squares_left(left), 1.0).astype(U.dtype)
        scaled = replace(code, codes=code.codes * norms[:, None].astype(U.dtype))
        return sp.hstack([scaled.csr(), sp.csr_array(scores[:, None])], format="csr")

    def _block_coder(self) -> Callable[[Block], Any]:
        return lambda block: self._coded(block)[:, :-1].toarray()

    def outlier_scores(self, X: Any) -> NDArray[Any]:
        """Relative squared errors of rows: what the dictionary cannot explain of them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Between 0 and 1; larger is more outlying.
        """
        check_is_fitted(self)
        return self._map_rows(lambda block: self._coded(block)[:, [-1]].toarray().ravel(), X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Whether rows are inliers (+1) or outliers (-1).

        Returns
        -------
        ndarray of shape (n_samples,)
            +1 or -1, by ``outlier_threshold_``.
        """
        scores = self.outlier_scores(X)
        limit = self.outlier_threshold_
        return np.where(scores <= limit + 1e-6 * max(limit, 1e-12), 1, -1)
