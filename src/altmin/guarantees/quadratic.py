r"""Did the machine find w and M? Conditions of Lin and Ye 2016, and evidence that works in practice.

Their Theorem 1 wants independent standard Gaussian features and a batch of :math:`C k^3 d` rows; its
constants don't discriminate, so the verdict rests on what the rows say about the fitted model:

- :math:`J`, the Jacobian of (b, w, tangent of M) without gauge directions, is well conditioned;
- there are several distinct rows a parameter;
- the Gauss-Newton step :math:`J^+ r` and its noise :math:`\hat\sigma \|J^+\|_F` are small;
- what is left over looks like noise: no cubic, absolute or saturating term, no further quadratic one, no
  noise in the features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.lens import Lens
from altmin.algorithms.quadratic.low_rank import UserModel
from altmin.contract import record
from altmin.guarantees.quadratic_theory import feature_rows, pace_rows, quadratic_rows
from altmin.guarantees.report import Condition, GuaranteeReport, check
from altmin.guarantees.residuals import gradient_t, moment_ratio, shapes, singular_ratio, worst_t

MAX_PARAMETERS = 1200
_EXACT = 1e-6  # relative residual below which nothing is left to test


@record
class RowEvidence:
    """What a sample of rows says about a fitted quadratic model."""

    parameters: int
    distinct: float  # rows of all that aren't near copies of others
    conditioning: float  # sigma_min / sigma_max of J in the coordinates of the lens
    residual: float  # relative
    noise_error: float  # sigma-hat ||J^+||_F, relative to the size of (w, M)
    step: float  # ||J^+ r||, relative
    worst_t: float  # on cubic, absolute and saturating terms
    moment_ratio: float  # ||sum r z z'|| over its value for permuted r
    gradient_t: float  # of r^2 against the squared gradient: noise in the features
    rip: float  # shifted CI-RIP constant on a quarter of the rows
    rip_more: float  # and on all of them: half of it, if it is sampling error
    n_sample: int
    sigma: float  # of the noise, as a share of the spread of y
    left: float = 1.0  # of the residual after one more Gauss-Newton step, relative
    kurtosis: float = 3.0  # of that residual
    tail: float = 0.0  # norm of the quadratic that it still holds: sigma_(k+1), in units of y
    smallest: float = 0.0  # sigma_k, in standardised columns and units of y
    largest: float = 0.0  # sigma_1
    slope: float = 0.0  # ||w||


def n_parameters(d: int, k: int) -> int:
    """Free parameters of (b, w, M)."""
    return 1 + d + d * k - k * (k - 1) // 2


def measure_rows(
    lens: Lens,
    model: UserModel,
    X: NDArray[Any],
    y: NDArray[Any],
    distinct: float,
    seed: int = 0,
) -> RowEvidence | None:
    """Look at a sample of rows through the fitted model.

    Parameters
    ----------
    lens : Lens
        Coordinates of the fit.
    model : UserModel
        The fit.
    X, y : ndarray
        The sample.
    distinct : float
        How many rows, of all, aren't near copies of others.
    seed : int
        For permutations.

    Returns
    -------
    RowEvidence or None
        None where there are too many parameters for a Jacobian.
    """
    values = model.eigenvalues
    real = np.abs(values) > 1e-8 * np.abs(values).max(initial=1e-300)
    F, k = model.factors[real], int(real.sum())
    p = n_parameters(X.shape[1], k)
    if p > MAX_PARAMETERS or len(y) < 2:
        return None
    r = np.asarray(y - model.predict(X), dtype=np.float64) / lens.target_scale
    target = lens.target(np.asarray(y, dtype=np.float64))
    Z = lens.project(np.asarray(X, dtype=np.float64), np.eye(X.shape[1]))
    unit = _standardise(X)
    size = _size(model, unit, lens.target_scale)
    conditioning = singular_ratio(jacobian(Z, _through(lens, F)))
    S = (np.asarray(X, dtype=np.float64) - model.centre) / unit
    J = jacobian(S, F * unit)
    gram = J.T @ J
    inverse = np.linalg.pinv(gram, rcond=1e-14, hermitian=True)
    sigma = float(np.sqrt(np.sum(r**2) / max(len(r) - p, 1)))
    step = inverse @ (J.T @ r)
    left = r - J @ step  # after one more Gauss-Newton step: what no parameter explains
    directions = _directions(S, model, unit)
    scaled = values[real] / lens.target_scale
    gradient = model.slope * unit / lens.target_scale + 2 * (S @ (F * unit).T * scaled) @ (F * unit)
    return RowEvidence(
        p,
        distinct,
        conditioning,
        float(np.sqrt(np.mean(r**2) / max(np.mean((target - target.mean()) ** 2), 1e-300))),
        sigma * float(np.sqrt(np.trace(inverse))) / size,
        float(np.linalg.norm(step[1:])) / size,
        worst_t(left, shapes(directions), J, inverse),
        moment_ratio(left, S, S, seed),
        gradient_t(left, np.sum(gradient**2, axis=1)),
        _rip(Z[: max(len(Z) // 4, 1)], _through(lens, F), values[real]),
        _rip(Z, _through(lens, F), values[real]),
        len(r),
        sigma,
        float(np.linalg.norm(left)) / max(float(np.linalg.norm(target - target.mean())), 1e-300),
        float(np.mean(left**4)) / max(float(np.mean(left**2)) ** 2, 1e-300),
        float(np.linalg.norm(S.T @ (left[:, None] * S), 2)) / (2 * len(left)),
        *_spectrum(F * unit, scaled),
        float(np.linalg.norm(model.slope * unit)) / lens.target_scale,
    )


def machine_report(
    lens: Lens,
    evidence: RowEvidence | None,
    *,
    n_rows: int,
    batch: float,
    rank: int,
    ratio: float,
    loss: float,
    raw: bool,
    effort: str = "cheap",
    halves: float | None = None,
    fresh: float = 1.0,
) -> GuaranteeReport:
    """The report of a factorization machine.

    Parameters
    ----------
    lens : Lens
        Moments and correlation of the features.
    evidence : RowEvidence or None
        Of :func:`measure_rows`; None on streams and for very many parameters.
    n_rows : int
        Rows that were read.
    batch : float
        Rows of a batch.
    rank : int
        k.
    ratio : float
        Prequential ratio: how much the error on fresh batches fell from one to the next.
    loss : float
        Last loss, as a share of the variance of y.
    raw : bool
        Whether features were taken as they are.
    effort : {'cheap', 'full'}
        'full' has ``halves``.
    halves : float or None
        Worst relative difference of fits on halves from the full one.
    fresh : float
        Share of the steps that saw rows for the first time.

    Returns
    -------
    GuaranteeReport
        'recovered' only where all decisive rows hold.
    """
    d = len(lens.centre)
    rows = [*feature_rows(lens, raw), *pace_rows(d, rank, batch, ratio, loss)]
    error = None
    if evidence is not None:
        decisive, error = _evidence_rows(evidence, n_rows, halves)
        rows += [*decisive, *quadratic_rows(evidence, d, rank, batch, n_rows, fresh)]
    else:
        rows.append(_unchecked("rows seen again", "J", "a one-way stream, or too many parameters for J"))
    dead = int(np.sum(lens.T == 0)) if lens.T.ndim == 1 else int(np.sum(~lens.T.any(axis=0)))
    rows.append(
        check(
            "columns that vary", "rank of X", "identifiability", float(d - dead), at_least=float(d),
            decisive=True, meaning="Constant or redundant columns have no coefficient of their own.",
        )
    )  # fmt: skip
    judged = [row for row in rows if row.decisive]
    if evidence is not None and all(row.status == "holds" for row in judged):
        verdict = "recovered"
    elif evidence is None:
        verdict = "plausible" if ratio < 0.75 else "not supported"
    elif error is not None and error < 0.1 and _identifiable(evidence) and evidence.worst_t < 5:
        verdict = "plausible"
    else:
        verdict = "not supported"
    advice = "" if verdict == "recovered" else _advice(rows)
    claim = "b, w and M on the identifiable directions; not the factors, and not what the data lack"
    return GuaranteeReport(verdict, tuple(rows), effort, error, advice, claim)


def jacobian(Z: NDArray[Any], F: NDArray[Any]) -> NDArray[Any]:
    """Derivatives of b + z'w + z'Mz in (b, w, tangent of M at the span of F), without gauge directions."""
    n, d = Z.shape
    basis = np.linalg.qr(np.hstack([F.T, np.eye(d)]))[0] if len(F) else np.eye(d)
    t = Z @ basis
    k = len(F)
    columns = [np.ones((n, 1)), Z]
    for a in range(k):
        columns.append((t[:, a] ** 2)[:, None])
        columns.append(np.sqrt(2) * t[:, [a]] * t[:, a + 1 :])
    return np.hstack(columns)


def prequential_ratio(losses: list[float], fresh: int) -> float:
    """Median fall of the error from one fresh batch to the next, before the floor was reached."""
    rho = np.maximum(np.asarray(losses[:fresh], dtype=np.float64), 1e-300)
    rho = rho[: int(np.argmin(rho)) + 1] if len(rho) else rho
    if len(rho) < 3:
        return float("nan")
    return float(np.median(np.sqrt(rho[1:] / rho[:-1])))


def _identifiable(e: RowEvidence) -> bool:
    return e.conditioning >= 0.01 and e.distinct >= 2 * e.parameters


# --- rows of the report -----------------------------------------------------------------------------


def _evidence_rows(e: RowEvidence, n_rows: int, halves: float | None) -> tuple[list[Condition], float]:
    scale = np.sqrt(e.n_sample / max(n_rows, 1))
    noise = 3 * e.noise_error * scale * np.sqrt(max(n_rows / max(e.distinct, 1), 1.0))
    error = float(noise + e.step)
    if halves is not None:
        error = min(error, max(halves, 2 * e.noise_error * scale) + e.step)
    rows = [
        check(
            "parameters are identifiable", "sigma_min / sigma_max of J", "evidence", e.conditioning,
            at_least=0.01, decisive=True,
            meaning="Collinear or low-rank features leave directions that no row can tell apart.",
        ),
        check(
            "distinct rows a parameter", "n_eff / p",
            "evidence", e.distinct / e.parameters, at_least=1.5 if e.left <= _EXACT else 3.0,
            decisive=True,
            meaning="With fewer rows a model of this rank fits noise as well.",
        ),
        check(
            "error of w and M", "3 sigma ||J^+||_F + ||J^+ r||", "evidence", error, at_most=0.05,
            decisive=True, meaning="Relative; noise, and how far the fit is from the least squares solution.",
        ),
    ]  # fmt: skip
    if e.left > max(_EXACT, 4 * e.step**2):
        rows += [
            check(
                "no further shape", "|t|", "evidence", e.worst_t, at_most=4.5, decisive=True,
                meaning="Cubic, absolute or saturating terms are left: y isn't quadratic.",
            ),
            check(
                "no further quadratic", "||sum r z z'|| / permuted", "evidence", e.moment_ratio,
                at_most=2.0, decisive=True, meaning="The rank is too low, or small eigenvalues were missed.",
            ),
            check(
                "no noise in the features", "|t| of r^2", "evidence", e.gradient_t, at_most=5.0,
                decisive=True,
                meaning="Residuals grow with the gradient: features carry noise, coefficients are shrunk.",
            ),
        ]  # fmt: skip
    return rows, error


def _unchecked(name: str, symbol: str, why: str) -> Condition:
    return check(name, symbol, "evidence", None, meaning=f"Cannot be looked at: {why}.", decisive=True)


def _advice(rows: list[Condition]) -> str:
    broken = [row.meaning for row in rows if row.decisive and row.status == "violated"]
    return " ".join(broken[:3]) or "More rows, or guarantee(X, y, effort='full')."


# --- measurements -----------------------------------------------------------------------------------


def _standardise(X: NDArray[Any]) -> NDArray[Any]:
    sd = np.asarray(X, dtype=np.float64).std(axis=0)
    return np.where(sd > 0, sd, 1.0)


def _size(model: UserModel, unit: NDArray[Any], target_scale: float) -> float:
    """Norm of (w, M) in standardised columns and units of y; a model of next to nothing counts as 1e-3."""
    slope = model.slope * unit
    R = np.linalg.qr((model.factors * unit).T)[1] if len(model.factors) else np.zeros((0, 0))
    M = (R * model.eigenvalues) @ R.T
    return max(float(np.hypot(np.linalg.norm(slope), np.linalg.norm(M))) / target_scale, 1e-3)


def _spectrum(F: NDArray[Any], values: NDArray[Any]) -> tuple[float, float]:
    """Smallest and largest magnitude of the eigenvalues of F' diag(values) F; 0 without any."""
    if not len(values):
        return 0.0, 0.0
    R = np.linalg.qr(F.T)[1]
    found = np.abs(np.linalg.eigvalsh((R * values) @ R.T))
    return float(found.min()), float(found.max())


def _through(lens: Lens, F: NDArray[Any]) -> NDArray[Any]:
    """Factors of x as (unnormalised) factors of z."""
    if lens.T.ndim == 2:
        return np.asarray(F @ np.linalg.pinv(lens.T).T)
    return np.asarray(F * np.divide(1.0, lens.T, out=np.zeros_like(lens.T), where=lens.T > 0))


def _directions(S: NDArray[Any], model: UserModel, unit: NDArray[Any]) -> NDArray[Any]:
    across = np.column_stack([S * unit @ model.slope, S * unit @ model.factors.T, S])
    spread = across.std(axis=0)
    return np.asarray(across / np.where(spread > 0, spread, 1.0))


def _rip(Z: NDArray[Any], F: NDArray[Any], values: NDArray[Any]) -> float:
    """||A'A(M)/2n - tr(M) I/2 - M||_2 / ||M||_2 on these rows (Theorem 4)."""
    if not len(F):
        return float("nan")
    m = np.square(Z @ F.T) @ values
    M = (F.T * values) @ F
    shifted = Z.T @ ((m - m.mean())[:, None] * Z) / (2 * len(Z)) - M
    return float(np.abs(np.linalg.eigvalsh(shifted)).max() / max(np.abs(np.linalg.eigvalsh(M)).max(), 1e-300))
