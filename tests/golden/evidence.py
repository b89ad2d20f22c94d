"""What the guarantees measure, function by function, on small arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from cases import case
from verdicts import limits

from altmin.guarantees import (
    cone_rest,
    cone_shape,
    curvature,
    dictionary_pairs,
    measurements,
    misfit,
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
    found: dict[str, Any] = {
        "ratio": residuals.singular_ratio(J),
        "t": residuals.gradient_t(r, X[:, 0]),
        "white": residuals.white_ratio(r, X, X[:, ::-1]),
        "error": residuals.robust_error(J, np.linalg.inv(gram), r),
        "drift": residuals.drift(J, gram, r + np.arange(60) / 30, 0.1, 2.0),
        "short drift": residuals.drift(J[:9], gram, r[:9], 0.1, 2.0),
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


@case
def errors_of_cones() -> Any:
    slack = replace(limits.cone_shape(), slack=np.array([0.0, 0.02, 0.04]))
    found = {}
    for counts in (False, True):
        for pure in (False, True):
            changes = {**limits.NOISY_CONE, "shape": slack, "halves": np.array([0.01, 0.02, 0.03])}
            room = None if pure else np.array([0.0, 0.01, 0.02])
            report = judge(
                NONNEGATIVE, limits.cone(**changes | {"counts": counts, "pure": pure, "room": room})
            )
            found[f"counts {counts}, pure {pure}"] = [(f.error, f.bound, f.verdict) for f in report.factors]
    return found
