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

import altmin
from altmin import datasets, hyperspectral, images, metrics, mixtures, signatures, text

CASES: dict[str, Callable[[], Any]] = {}
# Arrays of these are kept by their sums; what they are called otherwise is no result.
LEFT_OUT = ("feature_names_in_",)
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


def fitted(model: Any, X: Any, y: Any = None, *, effort: str = "", weight: Any = None, steps: int = 0) -> Any:
    """All that a fit leaves behind, what it makes of its data, and its report."""
    given = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
    return found


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
entered("complete with noise", COMPLETE, lambda: atoms(snr_db=20), look={"effort": "full"}, **ON)
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
entered("complete outliers", COMPLETE, spoiled_atoms, max_iter=60, **ON)
entered("orthogonal", ORTHOGONAL, lambda: atoms(True), look={"effort": "full"}, **ON)
entered("orthogonal with noise", ORTHOGONAL, lambda: atoms(True, 20), look={"effort": "full"}, **ON)
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


@case
def recommendations() -> Any:
    model = COMPLETION(2, feedback="implicit", **ON).fit(clicks())
    return {"items": model.recommend(np.arange(60), 4), "scores": model.predict(np.arange(25), np.arange(25))}


@case
def coding() -> Any:
    D, X = np.random.default_rng(5).standard_normal((9, 6)), atoms(snr_db=20)[:40]
    D = D / np.linalg.norm(D, axis=1)[:, None]
    mask = np.random.default_rng(0).random(X.shape) < 0.9
    found = {
        algorithm: altmin.SparseCoder(D, transform_algorithm=algorithm, transform_n_nonzero_coefs=2)
        .fit(X)
        .transform(X)
        for algorithm in ("omp", "ormp")
    }
    found["lasso"] = (
        altmin.SparseCoder(D, transform_algorithm="lasso", transform_alpha=0.1).fit(X).transform(X)
    )
    found["split"] = altmin.SparseCoder(D, transform_n_nonzero_coefs=2, split_sign=True).fit(X).transform(X)
    found["masked"] = altmin.omp(X, D, 2, mask=mask)
    found["tol"] = altmin.omp(X, D, tol=0.3)
    found["hard"] = altmin.hard_threshold(X, 0.2)
    return found | {
        "polar": altmin.polar(X[:6]),
        "peeled": altmin.peel_dictionary(planted(), 12, n_nonzero_coefs=2),
    }


@case
def correlations() -> Any:
    V = datasets.make_planted_sparse(60, 5, 8, 2, 0.05, random_state=0).X
    V = V / np.linalg.norm(V, axis=1)[:, None]
    return {
        "exact": altmin.threshold_correlation(V, 0.5, method="exact"),
        "sampled": altmin.threshold_correlation(V, 0.5, method="sampled", random_state=0),
        "raw": altmin.threshold_correlation(
            V, 0.3, refine=False, relax=0.8, sample_weight=np.arange(60.0), random_state=0
        ),
        "norm": altmin.hypercontractive_norm(V, 4.0),
    }


@case
def measures() -> Any:
    rng = np.random.default_rng(0)
    A, B = rng.random((4, 7)), rng.random((4, 7))
    Z, W = rng.random((9, 4)) * (rng.random((9, 4)) < 0.5), rng.random((9, 4)) * (rng.random((9, 4)) < 0.5)
    picture, other = rng.random((24, 20)), rng.random((24, 20))
    relevance = rng.random((6, 12)) < 0.3
    return {
        "matching": metrics.match_components(A, B),
        "signed": metrics.match_components(A, -B, signed=True),
        "atom": metrics.atom_error(A, B),
        "crosstalk": metrics.crosstalk(A, B),
        "sines": metrics.sine_errors(A, B),
        "total": metrics.total_correlation_error(A, B),
        "angle": metrics.spectral_angle(A, B),
        "support": metrics.support_recovery(Z, W, A, B),
        "abundance": metrics.abundance_rmse(Z, W, [1, 0, 2, 3]),
        "ndcg": metrics.ndcg_at_k(relevance, rng.random((6, 12)), 5),
        "recall": metrics.recall_at_k(relevance, rng.random((6, 12)), 5),
        "psnr": metrics.psnr(picture, other),
        "psnr of a range": metrics.psnr(picture, other, data_range=2.0),
        "ssim": metrics.ssim(picture, other),
        "ssim of a range": metrics.ssim(picture, other, data_range=2.0),
    }


@case
def generators() -> Any:
    make = datasets
    found: dict[str, Any] = {
        f"quadratic {kind}": make.make_quadratic(
            30, 5, 2, features=kind, correlation=0.3, noise=0.1, random_state=0
        )
        for kind in ("gaussian", "exponential")
    }
    found |= {
        f"sparse {kind}": make.make_sparse_dictionary(
            30, 6, 4, density=0.3, kind=kind, snr_db=20, random_state=0
        )
        for kind in ("gap", "gauss", "rad")
    }
    return found | {
        "binary": make.make_binary(30, 20, 5, n_active=2, noise=0.1, random_state=0),
        "ctm": make.make_ctm(30, 20, 6, group_size=3, noise=0.1, random_state=0),
        "ctm of documents": make.make_ctm(
            20, 20, 6, group_size=3, per_document_covariance=True, random_state=0
        ),
        "neg": make.make_neg(30, 20, 4, random_state=0),
        "neg dir": make.make_neg(30, 20, 4, weights="dir", noise=0.1, random_state=0),
        "quadratic turned": make.make_quadratic(
            30, 5, 2, condition=10.0, mixed_signs=True, coef_norm=2.0, random_state=0
        ),
        "conditioned": make.make_sparse_dictionary(30, 6, condition=10.0, random_state=0),
        "coherent": make.make_planted_sparse(30, 6, 8, 2, 0.1, coherence=0.5, outliers=0.1, random_state=0),
        "plateau": make.make_plateau(30),
        "star": make.make_star(40),
        "scene": make.make_scene(6, 5, 20, 3, shading=0.2, random_state=0),
        "outliers": make.add_outliers(cone().X, 0.1, random_state=0),
    }


@case
def pictures() -> Any:
    x, y = np.meshgrid(np.linspace(0, 3, 32), np.linspace(0, 2, 32))
    picture = 120 + 80 * np.sin(3 * x) * np.cos(2 * y) + 30 * (x > y)
    noisy = picture + 15 * np.random.default_rng(0).standard_normal(picture.shape)
    mask = np.random.default_rng(1).random(picture.shape) < 0.7
    D = images.learn_dictionary(images.Patches(noisy, 4), max_iter=3, n_jobs=1)
    return {
        "denoised": images.denoise(noisy, 15.0, n_jobs=1),
        "estimated": images.denoise(noisy, n_jobs=1),
        "colour": images.denoise(np.stack([noisy, noisy.T, noisy[::-1]], axis=2), 15.0, n_jobs=1),
        "noise": images.estimate_noise(noisy),
        "learned": D.components_,
        "filled": images.inpaint(picture, mask, max_iter=10, n_jobs=1),
        "filled with noise": images.inpaint(noisy, mask, sigma=15.0, max_iter=10, n_jobs=1),
        "mmse": images.inpaint(picture, mask, D.components_, method="mmse", n_jobs=1),
        "omp": images.inpaint(picture, mask, D.components_, method="omp", n_nonzero_coefs=3, n_jobs=1),
        "again": images.reconstruct(picture, D.components_, 3, n_jobs=1),
        "sparse": images.reconstruct(
            noisy, D.components_, 2, step=2, center=False, selection="ormp", n_jobs=1
        ),
    }


@case
def scenes() -> Any:
    scene = datasets.make_scene(12, 10, 30, 3, random_state=0)
    cube = scene.cube
    found = hyperspectral.unmix(cube, 3)
    flat = cube.reshape(-1, cube.shape[2])
    return {
        "unmixed": found,
        "sums": hyperspectral.abundances(flat[:20], found.endmembers, scaling="scene"),
        "bad": hyperspectral.noisy_bands(cube),
        "spa": hyperspectral.spa(flat, 3),
    }


@case
def topic_quality() -> Any:
    model = altmin.TopicModel(3, max_iter=20, **ON).fit(counts())
    topics = model.components_
    return {
        "words": text.top_words(topics, n_words=4),
        "diversity": text.diversity(topics, 5),
        "coherence": text.npmi_coherence(topics, counts() > 60, 4),
        "stability": text.topic_stability(model, counts(), n_splits=2, per_topic=True),
    }


@case
def mixture_resolution() -> Any:
    rng = np.random.default_rng(0)
    time = np.linspace(0, 1, 25)[:, None]
    made = np.exp(-(((time - [0.3, 0.6]) / 0.12) ** 2)) @ (rng.random((2, 18)) + 0.1)
    found = mixtures.resolve(made, 2, unimodal=True)
    return {
        "plain": mixtures.resolve(made, 2),
        "peaks": found,
        "closed": mixtures.resolve(made + 0.1, 2, closure=1.0),
        "bands": mixtures.feasible_bands(found, n_moves=50),
    }


@case
def signature_tables() -> Any:
    rng = np.random.default_rng(0)
    S = rng.dirichlet(np.full(96, 0.1), 3)
    made = rng.poisson(rng.gamma(1.0, 400.0, (30, 3)) @ S).astype(float)
    model = signatures.SignatureModel(3, n_refits=2).fit(made)
    return {
        "signatures": {
            key: value for key, value in vars(model).items() if key.endswith("_") and key != "guarantee_"
        },
        "verdicts": rows(model.guarantee_),
        "refit": signatures.refit(made[:8], S),
        "all": signatures.refit(made[:3], S, select=False),
        "match": signatures.match(model.signatures_, S),
    }


@case
def numbers_of_components() -> Any:
    found = altmin.select_n_components(AND(2, max_iter=30, **ON), noisy_cone(), range(2, 5), n_splits=2)
    boot = altmin.bootstrap_components(COMPLETE(max_iter=60, **ON), atoms(snr_db=30), n_resamples=3)
    return {
        "chosen": found.n_components,
        "confidence": found.confidence,
        "reason": found.reason,
        "curve": found.curve,
        "angles": boot.angles,
        "aligned": altmin.align_components(cone().components, cone().components[::-1] + 0.01),
    }


@case
def discoveries() -> Any:
    found = altmin.discover(noisy_cone(), budget="quick", random_state=0)
    return {
        "kind": found.kind,
        "number": found.n_components,
        "answer": found.answer,
        "why": found.why,
        "notes": found.notes,
        "candidates": [(c.family, c.n_components, c.verdict, c.error, c.factors) for c in found.candidates],
        "code": found.code,
    }
