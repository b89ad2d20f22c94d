"""Small fits of every family, each made in some milliseconds: what is kept of them stands in values.txt."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from data import (
    atoms,
    clicks,
    cone,
    counts,
    designs,
    holed_cone,
    law,
    noisy_cone,
    planted,
    ratings,
    spoiled_atoms,
    spoiled_cone,
    weights,
)
from walks import walk

import altmin

CASES: dict[str, Callable[[], Any]] = {}
# Arrays of these are kept by their sums; what they are called otherwise is no result.
LEFT_OUT = ("feature_names_in_",)
ROUNDED = ("n_iter_", "outcome_")  # where steps end that only noise stops
UNSTEADY = ("passes_contract",)  # a rate between two passes that end in rounding
EARLY = 3  # iterations whose history is kept


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    """Enter a case under its function's name."""
    CASES[function.__name__.replace("_", " ")] = function
    return function


def entered(name: str, make: Callable[..., Any], *data: Callable[[], Any], **options: Any) -> None:
    """Enter the fit of an estimator; ``look`` are further options of :func:`fitted`."""
    look = options.pop("look", {})
    CASES[name] = lambda: fitted(make(**options), *(part() for part in data), **look)


def fitted(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    effort: str = "",
    weight: Any = None,
    steps: int = 0,
    without: tuple[str, ...] = (),
) -> Any:
    """All that a fit leaves behind but for ``without``, what it makes of its data, and its report."""
    given = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with walk() as rounds:
            if steps:
                for part in np.array_split(np.arange(X.shape[0]), steps):
                    model.partial_fit(X[part], *(() if y is None else (y[part],)), **given)
            else:
                model.fit(X, *(() if y is None else (y,)), **given)
        found = {
            key: value for key, value in vars(model).items() if key.endswith("_") and key not in LEFT_OUT
        }
        for method in ("transform", "predict", "predict_proba"):
            if hasattr(model, method) and not isinstance(model, altmin.InductiveMatrixCompletion):
                found[method] = getattr(model, method)(X)
        if effort:
            found["guarantee_"] = model.guarantee(X, *(() if y is None else (y,)), effort=effort, **given)
    found["guarantee_"] = rows(found["guarantee_"]) if effort else None
    found["history_"] = found.get("history_", [])[:EARLY]
    found["walk"] = [[line] for line in rounds]
    return {key: value for key, value in found.items() if key not in without}


def rows(report: Any) -> Any:
    """A report: its sentences, and of each row what was measured and how that was judged."""
    if report is None:
        return None
    told = {
        "verdict": report.verdict,
        "claim": report.claim,
        "advice": report.advice,
        "effort": report.effort,
    }
    told |= {"error": report.estimated_error, "assumptions": report.assumptions, "factors": report.factors}
    for row in report:
        measured = None if row.id in UNSTEADY else row.measured
        told[row.id] = (measured, row.status, row.decisive, row.at_most, row.at_least, row.otherwise)
    return told


ON = {"random_state": 0, "n_jobs": 1}
AND, COMPLETE, ORTHOGONAL = altmin.AND, altmin.CompleteDictionaryLearning, altmin.OrthogonalDictionaryLearning
ONLINE, APPROXIMATE = altmin.OnlineDictionaryLearning, altmin.ApproximateDictionaryLearning
MACHINE, CLASSIFIER = altmin.FactorizationMachineRegressor, altmin.FactorizationMachineClassifier
SENSING, PHASE, COMPLETION = altmin.RankOneSensing, altmin.PhaseRetrieval, altmin.InductiveMatrixCompletion

entered("AND", AND, lambda: cone().X, n_components=3, look={"effort": "full"}, **ON)
entered(
    "AND given a start",
    AND,
    lambda: cone().X,
    n_components=3,
    init=cone().start,
    max_iter=5,
    threshold=(0.1, 1.1),
    step=0.3,
    inner_steps=7,
    nonnegative_components=False,
    **ON,
)
entered("AND with noise", AND, noisy_cone, n_components=3, look={"effort": "full"}, **ON)
entered("AND five stages", AND, noisy_cone, n_components=3, max_iter=5, noise_factor=4.0, **ON)
entered("AND outliers", AND, spoiled_cone, n_components=3, look={"effort": "full"}, **ON)
entered("AND trimmed", AND, spoiled_cone, n_components=3, trim=0.1, max_iter=20, **ON)
entered(
    "AND counts", AND, counts, n_components=3, noise="poisson", max_iter=40, look={"effort": "full"}, **ON
)
entered("AND nnls", AND, noisy_cone, n_components=3, decoder="nnls", max_iter=20, **ON)
entered("AND batches", AND, noisy_cone, n_components=3, batch_size=100, max_iter=9, **ON)
entered("AND parts", AND, noisy_cone, n_components=3, max_iter=9, look={"steps": 4}, **ON)
entered(
    "AND holes", AND, holed_cone, n_components=3, missing="mask", max_iter=30, look={"effort": "full"}, **ON
)
entered(
    "AND sparse",
    AND,
    lambda: sp.csr_array(np.where(cone().X > 1, cone().X, 0)),
    n_components=3,
    max_iter=9,
    **ON,
)
entered("AND single", AND, lambda: noisy_cone().astype(np.float32), n_components=3, max_iter=9, **ON)
for init in ("vca", "kmeans", "random"):
    entered(f"AND from {init}", AND, noisy_cone, n_components=3, init=init, max_iter=6, **ON)
CASES["AND weighted"] = lambda: fitted(AND(3, max_iter=20, **ON), noisy_cone(), weight=weights()[:300])

entered("complete", COMPLETE, atoms, look={"effort": "full"}, **ON)
entered(
    "complete with noise",
    COMPLETE,
    lambda: atoms(snr_db=20),
    look={"effort": "full", "without": ROUNDED},
    **ON,
)
entered(
    "complete few atoms",
    COMPLETE,
    lambda: atoms() @ np.random.default_rng(2).standard_normal((6, 9)),
    n_components=6,
    look={"effort": "full"},
    **ON,
)
entered("complete given a start", COMPLETE, atoms, init=np.eye(6) + 0.2, threshold=0.3, max_iter=4, **ON)
entered("complete batches", COMPLETE, atoms, batch_size=300, max_iter=9, **ON)
entered("complete intercept", COMPLETE, lambda: atoms() + 2.0, fit_intercept=True, **ON)
entered("complete omp", COMPLETE, atoms, transform_algorithm="omp", transform_n_nonzero_coefs=2, **ON)
entered("complete single", COMPLETE, lambda: atoms(snr_db=20).astype(np.float32), max_iter=30, **ON)
entered("complete outliers", COMPLETE, spoiled_atoms, max_iter=90, look={"without": ROUNDED}, **ON)
entered("orthogonal", ORTHOGONAL, lambda: atoms(True), look={"effort": "full"}, **ON)
entered(
    "orthogonal with noise",
    ORTHOGONAL,
    lambda: atoms(True, 20),
    look={"effort": "full", "without": ROUNDED},
    **ON,
)
entered(
    "orthogonal identity", ORTHOGONAL, lambda: atoms(True), init="identity", threshold=0.4, max_iter=3, **ON
)
entered("orthogonal keep", ORTHOGONAL, lambda: atoms(True, 20), keep=0.15, max_iter=3, **ON)
entered("online", ONLINE, atoms, batch_size=300, look={"effort": "full"}, **ON)
entered(
    "online parts",
    ONLINE,
    lambda: atoms(snr_db=20),
    batch_size=100,
    start_size=300,
    memory=200,
    look={"steps": 5},
    **ON,
)
entered(
    "approximate",
    APPROXIMATE,
    planted,
    n_components=12,
    n_nonzero_coefs=2,
    max_iter=4,
    look={"effort": "full"},
    **ON,
)
entered(
    "approximate sampled",
    APPROXIMATE,
    planted,
    n_components=12,
    n_nonzero_coefs=2,
    max_iter=2,
    peeling="sampled",
    contamination=0.1,
    **ON,
)
entered(
    "approximate theory",
    APPROXIMATE,
    planted,
    n_components=12,
    n_nonzero_coefs=2,
    mode="theory",
    max_iter=2,
    **ON,
)
entered("approximate target", APPROXIMATE, planted, n_nonzero_coefs=2, target_error=0.5, max_iter=2, **ON)

X_OF, Y_OF = (lambda noise: lambda: law(noise).X), (lambda noise: lambda: law(noise).y)
entered("machine", MACHINE, X_OF(0.0), Y_OF(0.0), rank=2, look={"effort": "full"}, **ON)
entered("machine with noise", MACHINE, X_OF(0.3), Y_OF(0.3), rank=2, look={"effort": "full"}, **ON)
entered("machine rank 3", MACHINE, X_OF(0.3), Y_OF(0.3), rank=3, fit_intercept=False, **ON)
entered("machine stream", MACHINE, X_OF(0.1), Y_OF(0.1), rank=2, batch_size=100, step=0.3, max_iter=6, **ON)
entered(
    "machine stream of moments",
    MACHINE,
    X_OF(0.1),
    Y_OF(0.1),
    rank=2,
    batch_size=200,
    moments="gaussian",
    whiten=False,
    max_iter=5,
    **ON,
)
entered("machine parts", MACHINE, X_OF(0.1), Y_OF(0.1), rank=2, batch_size=100, look={"steps": 4}, **ON)
entered(
    "machine sparse",
    MACHINE,
    lambda: sp.csr_array(np.where(law(0.1).X > 0, law(0.1).X, 0)),
    Y_OF(0.1),
    rank=2,
    max_iter=8,
    **ON,
)
CASES["machine weighted"] = lambda: fitted(
    MACHINE(2, **ON), law(0.3).X, law(0.3).y, weight=weights()[:700], effort="full"
)
entered(
    "classifier",
    CLASSIFIER,
    X_OF(0.3),
    lambda: law(0.3).y > np.median(law(0.3).y),
    rank=2,
    max_iter=12,
    look={"effort": "full"},
    **ON,
)
entered("sensing", SENSING, lambda: designs()[0], lambda: designs()[1], rank=1, look={"effort": "full"}, **ON)
entered(
    "sensing stream",
    SENSING,
    lambda: designs()[0],
    lambda: designs()[1],
    rank=1,
    batch_size=30,
    step=0.5,
    max_iter=3,
    **ON,
)
entered("phase", PHASE, lambda: designs()[0], lambda: designs()[1], look={"effort": "full"}, **ON)
entered(
    "phase complex", PHASE, lambda: designs("complex")[0], lambda: designs("complex")[1], max_iter=6, **ON
)
entered(
    "phase stream",
    PHASE,
    lambda: designs()[0],
    lambda: designs()[1],
    batch_size=45,
    polish=False,
    max_iter=5,
    **ON,
)
entered("ratings", COMPLETION, ratings, rank=2, max_iter=30, look={"effort": "full"}, **ON)
entered("clicks", COMPLETION, clicks, rank=2, feedback="implicit", **ON)
entered("topics", altmin.TopicModel, counts, n_components=3, max_iter=20, look={"effort": "full"}, **ON)
