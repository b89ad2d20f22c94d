"""What the guarantees measure, function by function, on small arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from cases import case
from verdicts import limits

from altmin.engine import open_source
from altmin.guarantees import (
    chance,
    cone_outside,
    cone_rest,
    cone_shape,
    curvature,
    dictionary_atoms,
    dictionary_follow,
    dictionary_joint,
    dictionary_pairs,
    dictionary_shadow,
    measurements,
    misfit,
    mixture,
    refits,
    residuals,
)
from altmin.guarantees.contract import judge
from altmin.guarantees.nonnegative import NONNEGATIVE
from altmin.guarantees.nonnegative_theory import weight_constants


@case
def measured_rows() -> Any:
    rng = np.random.default_rng(0)
    J, r, X = rng.standard_normal((60, 5)), rng.standard_normal(60), rng.standard_normal((60, 3))
    gram = J.T @ J
    inverse, halves = np.linalg.inv(gram), residuals.half_grams(J)
    found: dict[str, Any] = {
        "ratio": residuals.singular_ratio(J.T @ J),
        "t": residuals.gradient_t(r, X[:, 0]),
        "white": residuals.white_ratio(r, X, X[:, ::-1]),
        "error": residuals.robust_error(residuals.influence(J, inverse), inverse, r, False),
        "drift": residuals.drift(J, halves, inverse, r + np.arange(60) / 30, 0.1, 2.0),
        "other laws": mixture.other_laws(r, J, gram, residuals.influence(J, inverse), X, 2.0, 1),
        "short drift": residuals.drift(J[:9], residuals.half_grams(J[:9]), np.eye(5), r[:9], 0.1, 2.0),
        "attenuation": residuals.attenuation(r, X, X**2, 2.0, even=True),
        "misfit": misfit.misfit(r, J, (X,), X, J[:, 0]),
        "misfit of more": misfit.misfit(r + X[:, 0] * X[:, 1], J, (X, J), X, J[:, 0], further=X**2),
        "shapes": misfit.shapes(X),
        "bends": misfit.bends(r),
        "copies": misfit.first_of_copies(np.vstack([X[:5], X[2:7] * (1 + 1e-12)])),
    }
    L, R = rng.standard_normal((2, 3)), rng.standard_normal((2, 5))
    y = np.einsum("ij,ij->i", X @ L.T, J @ R.T) + 0.1 * r
    found["pairs"] = measurements.look(L, np.ones(2), R, y, X, J, 60.0)
    found["one design"] = measurements.look(
        L, np.array([1.0, -0.5]), L, np.sum((X @ L.T) ** 2, 1) + r, X, None, 50.0
    )
    for d in (75, 601):  # 149 and 1201 parameters, of which 1200 are allowed
        designs = rng.standard_normal((4, d))
        many = measurements.look(designs[:1], np.ones(1), designs[1:2], np.ones(4), designs, designs, 4.0)
        found[f"{d} features"] = many is None
    found["parameters"] = [measurements.n_parameters(*sizes) for sizes in ((2, 5), (2, 5, 4), (1, 1))]
    return found


@case
def measured_cones() -> Any:
    rng = np.random.default_rng(1)
    Z = rng.dirichlet(np.full(4, 0.3), 80) * (rng.random((80, 4)) < 0.7)
    A = rng.random((4, 9))
    rest = 0.05 * rng.standard_normal((80, 9))
    blur = cone_rest.code_noise(rest, A)
    return {
        "constants": weight_constants(Z),
        "constants of small weights": weight_constants(np.where(Z > 0.3, Z, 0.0) + 0.05),
        "shape": cone_shape.shape(Z, A),
        "shape at a level": cone_shape.shape(Z - 0.02, A, level=0.05, blur=blur),
        "room": cone_rest.room(A),
        "room with errors": cone_rest.room(A, np.full(4, 0.02)),
        "left": (cone_rest.structure_left(rest), cone_rest.structure_left(rest + Z[:, :1] * A[0])),
        "outside": [
            cone_outside.look_outside(part, A, counts)
            for part, counts in ((Z @ A + rest, False), (np.round(20 * Z @ A), True))
        ],
        "noise": blur,
        "excess": cone_rest.negative_excess(Z - 0.03, np.full((80, 4), 0.02), 0.01),
        "start": cone_rest.start_quality(A + 0.1 * rng.random((4, 9)), A),
        "curved": (curvature.curved(Z @ A + rest, Z), curvature.curved((Z @ A) ** 2, Z)),
        "cut": (curvature.piled_share(np.maximum(rest, 0)), curvature.cut_off(np.minimum(rest, 0.04))),
        "grid": (curvature.grid_step(np.round(rest, 2)), curvature.grid_step(rest)),
    }


@case
def measured_pairs() -> Any:
    rng = np.random.default_rng(2)
    U = rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.3)
    U[:, 4] = np.where(U[:, 3] != 0, U[:, 3] + 0.1 * rng.standard_normal(200), U[:, 4])
    return {
        "together": dictionary_pairs.together(U != 0),
        "spans": dictionary_pairs.spans(U),
        "related": dictionary_pairs.related(U),
    }


def coded(n: int, k: int, d: int, noise: float, *, seed: int = 3, signs: bool = False) -> tuple[Any, Any]:
    """Samples of sparse codes, and their unit atoms."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((k, d))
    A = np.linalg.qr(A.T)[0].T[:k] if signs else A / np.linalg.norm(A, axis=1, keepdims=True)
    Z = rng.standard_normal((n, k)) + np.linspace(0, 1, k)
    Z = (np.sign(Z) if signs else Z) * (rng.random((n, k)) < np.linspace(0.15, 0.4, k))
    return Z @ A + noise * rng.standard_normal((n, d)), A


@case
def facts_of_atoms() -> Any:
    """Of every kind of samples: exact and noisy, of as many and of more features, scaled, few, odd."""
    rng = np.random.default_rng(4)
    exact, A = coded(150, 4, 4, 0.0)
    noisy, B = coded(240, 4, 7, 0.05)
    square, C = coded(240, 5, 5, 0.05)
    signs, D = coded(160, 4, 4, 0.02, signs=True)
    sizes = 0.5 + rng.random(240)
    blurred = B + 0.02 * rng.standard_normal(B.shape)
    blurred /= np.linalg.norm(blurred, axis=1, keepdims=True)
    gone = np.where(np.arange(240)[:, None] < 120, square, square @ np.diag([1.0, 1, 1, 1, 0.5]))
    given: dict[str, tuple[Any, ...]] = {
        "exact": (exact, A),
        "noisy": (noisy, B),
        "square": (square, C),
        "signs": (signs, D),
        "scaled": (square * sizes[:, None], C, 2e-16, sizes),
        "scaled before": ((square / sizes[:, None]), C, 2e-16, sizes),
        "blurred": (noisy, blurred),
        "drifting": (gone, C),
        "of single precision": (exact.astype(np.float32), A, 1e-7),
        "few": (exact[:6], A),
        "fewer than atoms": (exact[:3], A),
        "with empty ones": (np.vstack([exact[:40], np.zeros((9, 4)), exact[40:]]), A),
        "uneven": (noisy + 0.3 * rng.standard_normal((240, 1)) * B[0], B),
        "features": (np.abs(exact @ np.linalg.inv(A)), np.eye(4)),
        "rounded": (np.round(noisy, 1), B),
        "cut": (np.minimum(noisy, 1.0), B),
    }
    return {name: dictionary_atoms.atom_facts(*arguments) for name, arguments in given.items()}


@case
def parts_of_facts() -> Any:
    """Functions beneath the facts, where their branches part."""
    rng = np.random.default_rng(5)
    X, A = coded(240, 4, 7, 0.05)
    Z = X @ np.linalg.pinv(A)
    S = np.where(np.abs(Z) > 0.2, Z, 0.0)
    unused = S.copy()
    unused[:, 2] = 0.0
    step, variances, rest = dictionary_atoms._least_squares(S, X, A)
    used = rng.random((300, 6)) < 0.3
    used[used[:, 0] & used[:, 1], 2] = True
    rare = rng.random((300, 6)) < 0.05
    u = rng.standard_normal((80, 3))
    r = rng.standard_normal(80)
    return {
        "spikes": dictionary_atoms._spikes(np.where(S == 0, 0.05 * Z, Z)),
        "codes": dictionary_atoms._codes(X, Z, A, 0.05, 0.0),
        "steps": (step, variances, rest, *dictionary_atoms._least_squares(unused, X, A)[:2]),
        "errors": dictionary_atoms._standard_errors(variances, 7),
        "errors in the plane": dictionary_atoms._standard_errors(variances, 4),
        "second": dictionary_shadow.shadows(S, X, A, np.full(len(A), 0.05)),
        "followed": dictionary_follow.followed(S, X, A, np.full(len(A), 0.05)),
        "drift": [dictionary_atoms._drift(part, X, noise) for part in (S, unused) for noise in (0.0, 0.05)],
        "left": [dictionary_atoms._left_over(X, Z, S, A, noise) for noise in (0.0, 0.05)],
        "counts": [dictionary_atoms._counts(part, noisy) for part in (used, rare) for noisy in (False, True)],
        "outside": [dictionary_atoms._outside(X, Z, A, noise) for noise in (0.0, 0.05)],
        "threes": (dictionary_joint.threes(used), dictionary_joint.threes(rare)),
        "with fewer silent": dictionary_joint.with_fewer_silent(rare),
        "levels": dictionary_pairs.levels(np.round(S)),
        "multiply": [
            dictionary_pairs.multiply(S, np.clip(Z / 0.05, -4, 4), noisy) for noisy in (False, True)
        ],
        "curved": [curvature.curved(part, S) for part in (X, X**2)],
        "multiplied": chance.multiplied((np.abs(S), rest)),
        "cuts": [
            curvature.cut_off(np.minimum(X, level), grid) for level in (0.1, 0.5) for grid in (0.0, 0.2)
        ],
        "whole": [
            curvature.are_whole(part) for part in (np.round(X), np.round(X) + 1e-5, 1e7 * np.round(X) + 1.0)
        ],
        "functions": [part(u) for part in (misfit.shapes, misfit._whitened)],
        "drawn": [
            part(u, np.random.default_rng(0)) for part in (misfit.waves, misfit.half_spaces, misfit.crossed)
        ],
        "thirds": misfit._thirds([u, u[:, ::-1]], r),
        "middle": (misfit._middle(r, u[:, 0]), misfit._neighbour(r, u[:, 0])),
        "noise": cone_rest.code_noise(rest, np.abs(A)),
        "constant": cone_rest.constant_left(rest + 0.1, np.abs(A)),
        "pairs": cone_shape._pairs(np.abs(S), 0.01),
        "spans": [cone_shape._span(np.abs(S), zero) for zero in (0.0, 0.3)],
        "negative": cone_shape._negative_share(S),
        "ratios": [residuals._slope_bound(r**2, u**2), residuals._variance(r**2, u**2)],
        "halves": [len(part) for part in refits.halves(open_source(np.vstack([X, X[:50]])), 1)],
        "distinct": [refits.distinct(np.vstack([S, 2 * S[:40]]), by_size=flag) for flag in (False, True)],
    }


@case
def errors_of_cones() -> Any:
    slack = replace(limits.cone_shape(), slack=np.array([0.0, 0.02, 0.04]))
    found = {}
    for pure in (False, True):
        changes = {**limits.NOISY_CONE, "shape": slack, "halves": np.array([0.01, 0.02, 0.03])}
        room = None if pure else np.array([0.0, 0.01, 0.02])
        report = judge(NONNEGATIVE, limits.cone(**changes | {"pure": pure, "room": room}))
        found[f"pure {pure}"] = [(f.error, f.bound, f.verdict) for f in report.factors]
    return found
