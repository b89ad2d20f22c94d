"""The AND estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from altmin.algorithms.nonnegative.and_nmf import AndNmf, AndState, edge, left_out, lift
from altmin.algorithms.nonnegative.closing_passes import decode, nnls_codes
from altmin.algorithms.nonnegative.nmf import even_codes
from altmin.contract import Block, Info
from altmin.engine import AnySource, Result, Source
from altmin.estimators.base import ComponentsEstimator
from altmin.estimators.nonnegative.counts import STAGES, are_counts, finish_counts, overdispersed
from altmin.estimators.nonnegative.library_starts import library_start
from altmin.estimators.nonnegative.missing import check_holes, with_holes
from altmin.estimators.nonnegative.polish import polished
from altmin.estimators.parameters import Count, Matrix, NotNegative, Positive
from altmin.estimators.sklearn_bridge import fit_context
from altmin.guarantees.cone_rest import (
    NOISELESS,
    code_noise,
    counted_noise,
    left_over,
    negative_excess,
    noise_error,
    redrawn,
    room,
    start_quality,
)
from altmin.guarantees.cone_shape import shape
from altmin.guarantees.contract import judge
from altmin.guarantees.missing import holes_of
from altmin.guarantees.nonnegative import NONNEGATIVE, ConeEvidence
from altmin.guarantees.refits import on_halves, worst_sines
from altmin.guarantees.report import GuaranteeReport
from altmin.kernels.counts import NegativeCount, improve_codes
from altmin.kernels.gram import row_norms2
from altmin.kernels.inverse import pseudo_inverse
from altmin.kernels.masked import masked_codes, observed

_MUCH = 0.05  # of the squares of the data: leaving it out is worth a warning
_FEW_ROWS, _FEW_ENTRIES = 500, 2_000_000  # of what is left over, for a cheap report
_SEEN_ENTRIES = 1_200_000  # of the samples that a cheap report looks at
_DRAWN_ENTRIES, _FEWEST_DRAWN = 20_000_000, 2000  # of samples that are drawn from a fit
_COUNT_SWEEPS = 100  # at most, over the codes of counts


class AND(ComponentsEstimator):
    r"""Non-negative factorization that recovers the features, by alternating non-negative descent.

    .. math:: y = x A, \qquad x \ge 0

    where y is a sample (a row of X), x its non-negative weights, and A (``components_``) the features,
    of any sign. In stages with a falling threshold, AND decodes
    :math:`z = \phi_\alpha(y A^+)` and takes gradient steps on A (Li and Liang 2017, Algorithm 1;
    Theorems 1, 4 and 5 give the recovery).

    Parameters
    ----------
    n_components : int
        Number of features to find, D.
    init : {'spa', 'vca', 'anchor', 'random', 'kmeans', 'nmf'} or ndarray of shape (n_components, n_features)
        Start. 'spa' takes pure samples by successive projection and has no randomness; 'vca' by random
        directions; 'anchor' finds anchor features (non-negative data); 'random' takes any samples;
        'kmeans' and 'nmf' ask scikit-learn (on at most 10,000 samples). An array should be near the truth.
    threshold : 'auto', float or (float, float)
        'auto' derives it from the negative part of the decoded weights; ``(start, decay)`` is the
        paper's schedule ``start / decay**stage``; a number stays constant (binary weights: 1/4).
    noise_factor : 'auto' or float
        Automatic thresholds stay above this many root mean squares of the negative codes. 'auto' is 2, and
        less where these codes exceed what the noise explains and the data end at a hard edge.
    trim : 'auto', None or float
        Automatic thresholds only: gross outliers are screened out before the start, and samples with a
        code below ``-trim`` thresholds are left out of a stage ('auto': 1.5; None: neither).
    inner_steps : int or None
        Gradient steps of a stage, taken in closed form; None is infinitely many (least squares).
    step : 'auto' or float
        Step size on the summed data; 'auto' is 1 / (largest eigenvalue of Z'Z).
    batch_size : int or None
        Samples of a stage; None is all of them. A one-way stream needs it, ``partial_fit`` waits for as
        many before it ends a stage.
    decoder : {'threshold', 'nnls'}
        Codes by the paper's decoding (pseudo-inverse, negative ones set to 0) or by non-negative least
        squares, which is slower and fits better where components are clipped or data are noisy.
    nonnegative_components : 'auto' or bool
        True clips the components in the end, and refits them by one alternation of non-negative least
        squares; 'auto' does so where the data have noise and no negative entries to speak of. Where the
        components have zeros enough to pin them down, both factors are then fitted as non-negative, and
        the better fit is kept (``outcome_`` says which; up to ``max_iter`` iterations more). False: of any
        sign.
    noise : {'auto', 'gaussian', 'poisson'}
        'poisson' is for counts: features and samples are weighted so that their noise is even, and the
        Poisson likelihood (Kullback-Leibler divergence) is fitted in the end, with few components in each
        sample where the problem is small. 'auto' takes whole numbers that aren't negative, some of them
        small, for counts if their variance around the fit is .3 to 10 times that of Poisson counts.
    missing : {'raise', 'mask', 'unstored'}
        Entries that were not observed. 'raise' allows none. 'mask': NaN, masked entries of a masked array,
        and those where the ``mask`` given to ``fit`` is False. 'unstored': what a sparse X does not store
        (stored zeros are observed). Their low-rank completion gives the coordinates of the fit.
    warm_start : bool
        Whether ``fit`` starts from the components of the last fit.
    tol : float
        Stop where the components' largest relative change stays below it; 0 leaves it to the
        automatic rule, which stops at rounding or noise level.
    random_state : int, RandomState or None
        Used by the random starts alone.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Features of unit norm, by falling total weight (in the order of ``init`` if it is an array).
        Where the samples span fewer dimensions, the last ones are 0.
    component_scales_ : ndarray of shape (n_components,)
        Large weights: ``component_scales_[i] * components_[i]`` has codes of at most about 1.
    outlier_mask_ : ndarray of bool, shape (n_samples,)
        The samples that were screened out as gross outliers: they point where no other sample does. Where
        they hold more than 5 % of the sum of squares of the data, a warning says so.
    holes_ : dict or None
        Of data with missing entries: share that was observed, observed entries of the feature that has
        fewest, share of the samples that say too little, observed entries for each unknown, residual.
    noise_ : {'gaussian', 'poisson'}
        The noise that was fitted.
    dispersion_ : float or None
        Variance of counts around the fit, over that of Poisson counts.
    reconstruction_err_ : float
        Frobenius norm of what non-negative codes leave over (on a stream: in the last stage); of counts
        the deviance.
    n_iter_ : int
        Stages, and iterations of what finished the fit: at most ``max_iter`` of counts (three at least),
        and as many again where both factors were fitted as non-negative.
    history_ : list of dict
        One row per stage: relative change, largest threshold, most negative code, share of samples that
        contradict the model.

    Notes
    -----
    **Guarantee.** Theorems 4 and 5 (1 for binary weights) give recovery from a start near the truth,
    linearly, down to the noise. Their conditions are measured and shown; the verdict of ``guarantee_``
    rests on the shape of the data (spanned facets, pairs, negative codes), and is at best 'recovered'.
    Recovered are the extreme rays of the smallest simplicial cone that holds the data, up to scale and
    order.

    **Cost.** One pass of O(n_samples * n_features * n_components) finds the span of the data; a stage then
    takes O(n_samples * n_components^2), whatever the number of features. Memory: n_samples * n_components
    coordinates, a few blocks of rows, the components.

    References
    ----------
    Y. Li and Y. Liang, Provable alternating gradient descent for non-negative matrix factorization
    with strong correlations, ICML 2017.

    Examples
    --------
    >>> from altmin import AND
    >>> from altmin.datasets import make_dir
    >>> from altmin.metrics import total_correlation_error
    >>> problem = make_dir(1000, 60, 5, concentration=1.0, random_state=0)
    >>> model = AND(5).fit(problem.X)
    >>> total_correlation_error(model.components_, problem.components) < 1e-6
    True
    """

    _assumptions = ("pure",)

    n_components: Count = field(kw_only=False)
    init: Literal["spa", "vca", "anchor", "random", "kmeans", "nmf"] | Matrix = "spa"
    threshold: Literal["auto"] | Positive | tuple[float, float] = "auto"
    noise_factor: Literal["auto"] | NotNegative = "auto"
    trim: Literal["auto"] | Positive | None = "auto"
    inner_steps: Count | None = None
    step: Literal["auto"] | Positive = "auto"
    batch_size: Count | None = None
    decoder: Literal["threshold", "nnls"] = "threshold"
    nonnegative_components: Literal["auto"] | bool = "auto"
    noise: Literal["auto", "gaussian", "poisson"] = "auto"
    missing: Literal["raise", "mask", "unstored"] = "raise"
    warm_start: bool = False
    max_iter: Count = 300

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, mask: Any = None) -> Self:
        """Find the features.

        Parameters
        ----------
        X : array-like, sparse, path of a .npy file, list of blocks, or stream, (n_samples, n_features)
            The data. A one-way stream is read once, ``batch_size`` rows a stage.
        mask : array-like of bool of shape (n_samples, n_features) or None
            True where X was observed; needs ``missing='mask'`` and a dense X.
        """
        X = with_holes(X, mask, self.missing)
        source = self._open(X, sample_weight=sample_weight, reset=True)
        check_holes(source, self.missing)
        result = self._find(self._algorithm(source), source)
        self._set_run(result)
        order = self._set_components(result.state, source.info.n_rows)
        rows = source if isinstance(source, Source) else None
        self._report_when_asked(rows, lambda model, rows: model._report(result.state, order, rows))
        self._state = None
        return self

    @fit_context
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on with a batch of samples: one stage, or a part of one if ``batch_size`` asks for more rows.

        The first batch also gives the start, so it should hold pure samples (or ``init`` be an array).
        Batches must be complete, whatever ``missing`` says.
        """
        state = getattr(self, "_state", None)
        source = self._open(X, sample_weight=sample_weight, reset=state is None)
        if state is not None:
            state = replace(state, phase="stages")
        algorithm = replace(self._algorithm(source), online=True, missing=False)
        result = self._run(algorithm, source, state, max_iter=1, checkpoint=None)
        if state is None:
            self.history_ = []
        if result.state.pending is None:
            self.history_ = [
                *self.history_,
                *({**row, "iteration": result.state.stage} for row in result.history),
            ]
        self.n_iter_, self.outcome_ = result.state.stage, result.outcome
        self._state = result.state
        order = self._set_components(result.state, source.info.n_rows)
        self._report_when_asked(None, lambda model, _: model._report(result.state, order))
        return self

    def _find(self, how: AndNmf, source: AnySource, **changes: Any) -> Result:
        """The fit, whichever way the data lead; the outcome says which, and why."""
        finish = how.counts and isinstance(source, Source)
        stages = {"max_iter": min(STAGES, max(self.max_iter // 2, 1))} if finish else {}
        try:
            found = self._run(how, source, **{**stages, **changes})
            other = how.counts and self.noise == "auto" and overdispersed(found)
        except NegativeCount:  # in rows that the first look at a few didn't see
            if self.noise != "auto":
                raise
            other = True
        if other:
            how = replace(how, counts=False)
            found = self._run(how, source, **{"checkpoint": self._folder_for("no counts"), **changes})
        if how.counts and isinstance(source, Source):
            found, why = finish_counts(self, how, source, found, **changes)
        else:
            found, why = polished(self, how, source, found, **changes)
        reasons = (found.outcome.message, left_out(found.state), edge(found.state), why)
        return replace(found, outcome=replace(found.outcome, message="; ".join(filter(None, reasons))))

    def _held_bytes(self, info: Info) -> int:
        # Coordinates, two versions of them; sketches and sums in the tree; rows that a polish is judged by.
        size, width, k = info.dtype.itemsize, info.n_features, self.n_components
        columns = 2 * (info.n_rows or 0) * (min(k, width) + 2)
        looked_at = 0 if info.sparse else 2 * min(info.n_rows or 0, 2000) * width
        return size * (columns + 16 * (k + 20) * width + looked_at)

    def _open_again(self, X: Any, y: Any, sample_weight: Any) -> AnySource:
        return self._open(with_holes(X, None, self.missing), sample_weight=sample_weight, reset=False)

    def _judge(self, source: Source, *, full: bool, assume: str | None = None) -> GuaranteeReport:
        most = 2000 if full else min(2000, max(_SEEN_ENTRIES // source.info.n_features, 1))
        stride = -(-source.n_rows // max(most, 20 * self.n_components))
        codes, rest, squares = self._look_at(source.take(np.arange(0, source.n_rows, stride)).X)
        left = row_norms2(rest)
        # what the fit's own screen calls an outlier: far outside the span of the components
        fits = left <= 25 * np.median(left) + 1e-6 * squares.mean()
        fits = fits if fits.mean() >= 0.8 else np.ones(len(left), bool)
        total = squares[fits].sum()
        residual = float(np.sqrt(left[fits].sum() / total)) if total > 0 else 0.0
        evidence = ConeEvidence(
            shape(codes[fits], self.components_),
            residual,
            noise=residual,
            dropped=max(self.outlier_mask_.sum() / source.n_rows, 1 - float(fits.mean())),
            holes=self.holes_,
            room=room(self.components_),
            pure=assume == "pure",
        )
        codes, rest = codes[fits], rest[fits]
        if full:
            evidence = self._compared(evidence, source, codes, rest)
        elif residual > NOISELESS and evidence.pure and self.missing == "raise" and self._settled():
            open_ = noise_error(codes, self._outside(codes, rest), self.components_, source.n_rows)
            evidence = replace(evidence, informed=open_, **self._at_noise(codes, rest, open_))
        elif residual > NOISELESS:  # as with the fit
            some = slice(None, None, -(-len(rest) // _FEW_ROWS))
            evidence = replace(evidence, **self._left_over(codes[some], rest[some]))
        return judge(NONNEGATIVE, evidence, effort="full" if full else "cheap")

    def _settled(self) -> bool:
        """Whether noise alone keeps the fit from the truth: it went on until it stood still."""
        return getattr(self, "outcome_", "converged") in ("converged", "end_of_stream")

    def _look_at(self, sample: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Linear codes of samples, what their positive parts leave over, squared norms; of what was seen."""
        if self.missing == "raise":
            codes = np.asarray(sample @ pseudo_inverse(self.components_.astype(sample.dtype)))
            return codes, np.asarray(sample - np.maximum(codes, 0.0) @ self.components_), row_norms2(sample)
        codes = masked_codes(sample, self.components_, nonnegative=False)
        Y, seen = observed(sample)
        rest = Y - seen * (np.maximum(codes, 0.0) @ self.components_)
        return codes, rest.toarray() if sp.issparse(rest) else rest, row_norms2(Y)

    def _compared(
        self, evidence: ConeEvidence, source: Source, codes: np.ndarray, rest: np.ndarray
    ) -> ConeEvidence:
        """The evidence, with the fit held against its repetitions on halves and from other starts."""
        algorithm = self._algorithm(source)
        if algorithm.method == "random":  # luck isn't evidence: a half's own purest samples are
            algorithm = replace(algorithm, method="spa")

        def refit(how: AndNmf, data: Source, **changes: Any) -> np.ndarray:
            return lift(self._find(how, data, checkpoint=None, **changes).state)

        other = replace(algorithm, start=None, method="vca")
        fits = on_halves(lambda half: refit(algorithm, half), source)
        apart = worst_sines(fits, self.components_)
        noisy = evidence.residual > NOISELESS and self.missing == "raise"
        starts = [refit(other, source, seed=1)]
        again = [refit(algorithm, self._redrawn(source))] if noisy else []
        return replace(
            evidence,
            halves=apart,
            restarts=worst_sines(starts, self.components_),
            again=worst_sines(again, self.components_) if again else None,
            room=room(self.components_, apart),
            **self._at_noise(codes, rest, apart),
        )

    def _redrawn(self, source: Source) -> Source:
        """Samples as the fit says that they are made, with noise of the size of what is left over."""
        most = max(_DRAWN_ENTRIES // source.info.n_features, _FEWEST_DRAWN)
        kept = np.flatnonzero(~self.outlier_mask_)
        table = source.take(kept[:: -(-len(kept) // most)])
        codes, rest, _ = self._look_at(table.X)
        drawn = redrawn(codes, self.components_, self._outside(codes, rest), self.dispersion_)
        return Source([replace(table, X=drawn.astype(source.dtype))], source.dtype)

    def _at_noise(self, codes: np.ndarray, rest: np.ndarray, error: np.ndarray) -> dict[str, Any]:
        """What the samples say at the noise that they have, and where components err by that much."""
        excess = blur = None
        if self.missing == "raise":
            blur = code_noise(self._outside(codes, rest), self.components_)
        if blur is not None:
            claimed = float(error.max()) if error.max() <= 0.05 else 0.0  # of fits that disagree nothing is
            noise = blur
            if self.dispersion_ is not None:
                noise = counted_noise(codes, self.components_, self.dispersion_)
            excess = negative_excess(codes, noise, claimed)
        level = 2 * float(error.max())
        return {
            "at_noise": shape(codes, self.components_, level=level, blur=blur),
            "excess": excess,
            **self._left_over(codes, rest, closely=True),
        }

    def _outside(self, codes: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """What lies outside of the span of the components, where all entries are known."""
        return rest if self.missing != "raise" else rest - np.minimum(codes, 0.0) @ self.components_

    def _left_over(self, codes: np.ndarray, rest: np.ndarray, closely: bool = False) -> dict[str, Any]:
        """Whether what is left over is noise: what a report says without refits."""
        counts = getattr(self, "noise_", "gaussian") == "poisson"
        outside, complete = self._outside(codes, rest), self.missing == "raise"
        return left_over(codes, outside, self.components_, counts=counts, complete=complete, closely=closely)

    def _report(self, state: AndState, order: np.ndarray, source: Source | None = None) -> GuaranteeReport:
        residual = float(np.sqrt(state.kept_share)) if state.squares > 0 else 0.0
        A = lift(state)[order]
        start, outside = (None, None) if isinstance(self.init, str) else start_quality(self.init, A)
        evidence = ConeEvidence(
            None if state.codes is None else shape(state.codes[:, order], A),
            residual,
            noise=None if state.view.noiseless else residual,
            start=start,
            outside=outside,
            dropped=self.outlier_mask_.sum() / max(state.view.count, 1.0),
            holes=self.holes_,
            room=room(self.components_),
        )
        if residual > NOISELESS and source is not None and not source.info.sparse:
            kept = np.flatnonzero(~self.outlier_mask_)
            few = min(_FEW_ROWS, max(_FEW_ENTRIES // source.info.n_features, 1))
            codes, rest, _ = self._look_at(source.take(kept[:: -(-len(kept) // few)]).X)
            evidence = replace(evidence, **self._left_over(codes, rest))
        return judge(NONNEGATIVE, evidence)

    def _schedule(self) -> tuple[float, float] | None:
        """The paper's thresholds, or None for automatic ones."""
        if isinstance(self.threshold, str):
            return None
        schedule = self.threshold if isinstance(self.threshold, tuple) else (float(self.threshold), 1.0)
        if not (len(schedule) == 2 and schedule[0] > 0 and schedule[1] >= 1):
            raise ValueError(f"threshold={schedule}: a schedule is (start > 0, decay >= 1)")
        return float(schedule[0]), float(schedule[1])

    def _algorithm(self, source: AnySource) -> AndNmf:
        schedule = self._schedule()
        if self.n_components > source.info.n_features:
            raise ValueError(
                f"n_components={self.n_components} is more than the {source.info.n_features} features of X: "
                "components have to be linearly independent; ApproximateDictionaryLearning takes more"
            )
        start = self._start(source)
        return AndNmf(
            n_components=self.n_components,
            start=start,
            method=self.init if isinstance(self.init, str) and start is None else "given",
            schedule=schedule,
            inner_steps=self.inner_steps,
            step=None if isinstance(self.step, str) else float(self.step),
            noise_factor=None if isinstance(self.noise_factor, str) else float(self.noise_factor),
            trim=1.5 if isinstance(self.trim, str) else self.trim,
            batch_size=self.batch_size,
            nonnegative=None if isinstance(self.nonnegative_components, str) else self.nonnegative_components,
            decoder=self.decoder,
            missing=self.missing != "raise",
            counts=self.missing == "raise" and schedule is None and are_counts(self.noise, source),
        )

    def _start(self, source: AnySource) -> Any:
        if self.warm_start and hasattr(self, "components_"):
            return self.components_ * self.component_scales_[:, None]
        if isinstance(self.init, str):
            if self.init in ("kmeans", "nmf"):
                if self.missing != "raise":
                    raise ValueError(f"init={self.init!r} needs complete samples; use 'spa' with holes")
                return library_start(self.init, source, self.n_components, self._seed() or 0)
            return None
        start = np.asarray(self.init)
        shape = (self.n_components, source.info.n_features)
        if start.shape != shape:
            raise ValueError(f"init has shape {start.shape}; (n_components, n_features) = {shape} is needed")
        if not np.isfinite(start).all() or not np.linalg.norm(start, axis=1).all():
            raise ValueError("init holds NaN, infinity or a component that is 0")
        return start

    def _set_components(self, state: AndState, n_rows: int | None) -> np.ndarray:
        """The fitted attributes; the order of the components."""
        counts = state.deviance is not None or state.view.scale is not None
        A = np.maximum(lift(state), 0.0) if counts else lift(state)
        norms = np.linalg.norm(A, axis=1)
        mass = np.zeros(len(A)) if state.mass is None else state.mass
        order = np.argsort(-mass * norms, kind="stable")
        if not isinstance(self.init, str) or self.warm_start or state.phase == "wait":
            order = np.arange(len(norms))
        n_empty = int(np.sum(norms == 0))
        if n_empty:
            warnings.warn(
                f"n_components={self.n_components}: the samples span only {len(norms) - n_empty} "
                f"dimension(s); {n_empty} component(s) are 0",
                stacklevel=3,
            )
        if state.view.lost > _MUCH:
            warnings.warn(f"{left_out(state)}; trim=None keeps them", stacklevel=3)
        self.components_ = (A / np.where(norms > 0, norms, 1.0)[:, None])[order]
        self.component_scales_ = norms[order]
        error = np.sqrt(state.residual) if state.deviance is None else state.deviance
        if np.isfinite(error):  # after a partial_fit of a few rows it isn't known yet
            self.reconstruction_err_ = float(error)
        self.noise_ = "poisson" if counts else "gaussian"
        self.dispersion_ = state.view.noise**2 if counts else None
        rows = np.arange(n_rows or 0)
        self.outlier_mask_ = np.isin(rows, [] if state.view.dropped is None else state.view.dropped)
        self.holes_ = None if state.view.completion is None else holes_of(state.view.completion)
        return order

    def transform(self, X: Any, mask: Any = None) -> Any:
        """Non-negative weights of the samples, by the ``decoder``; with holes, from what was observed.

        Parameters
        ----------
        mask : array-like of bool of shape (n_samples, n_features) or None
            True where X was observed; ``inverse_transform`` of the codes fills in the rest.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Weights of the unit components.
        """
        check_is_fitted(self)
        X = with_holes(X, mask, self.missing)
        return self._map_rows(self._block_coder(), X, holes=self.missing != "raise")

    def _block_coder(self) -> Callable[[Block], Any]:
        if self.missing != "raise":
            return self._codes_with_holes
        if getattr(self, "noise_", "gaussian") == "poisson":  # files from before have no noise_
            return self._codes_of_counts
        if self.decoder == "nnls":
            return lambda block: nnls_codes(block.X, self.components_)
        inverse = pseudo_inverse(self.components_)
        return lambda block: decode(block.X, inverse)

    def _codes_of_counts(self, block: Block) -> Any:
        A = self.components_.astype(np.float64)
        codes = improve_codes(block.X, even_codes(block.X, A), A, _COUNT_SWEEPS)
        return codes.astype(self.components_.dtype)

    def _codes_with_holes(self, block: Block) -> Any:
        codes = masked_codes(block.X, self.components_, nonnegative=self.decoder == "nnls")
        return np.maximum(codes, 0.0).astype(self.components_.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mask"
        tags.input_tags.sparse = self.missing != "mask"
        return tags
