"""Applications and functions, in the same way."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import scipy.sparse as sp
from cases import AND, CLASSIFIER, COMPLETE, COMPLETION, MACHINE, ON, PHASE, SENSING, case, fitted, rows
from data import atoms, clicks, cone, counts, designs, law, noisy_cone, planted, ratings
from rich.console import Console
from scipy.sparse.linalg import aslinearoperator

import altmin
from altmin import datasets, hyperspectral, images, metrics, mixtures, signatures, text


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


@case
def texts_of_reports() -> Any:
    model = AND(3, max_iter=20, **ON).fit(noisy_cone())
    report = model.guarantee(noisy_cone(), effort="full")
    drawn = Console(file=io.StringIO(), width=100, color_system=None)
    drawn.print(report)
    told = {"plain": str(report), "html": report._repr_html_(), "drawn": drawn.file.getvalue()}
    told |= {"outcome": str(model.outcome_), "row": str(report["span"])}
    return {name: "\n".join(told[name].split("\n")) for name in told} | {"json": sorted(report.to_dict())}


@case
def completion_from_features() -> Any:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((40, 5)), rng.standard_normal((30, 4))
    R = A @ np.outer(rng.standard_normal(5), rng.standard_normal(4)) @ B.T
    R = sp.coo_array(R * (rng.random(R.shape) < 0.4))
    model = COMPLETION(1, **ON).fit(R, A, B)
    named = COMPLETION(2, max_iter=4, **ON).fit(ratings(), sp.csr_array(np.eye(40)), sp.csr_array(np.abs(B)))
    return {
        "whole": model.complete(),
        "new": model.complete(A[:3] + 1, B[:4]),
        "report": rows(model.guarantee((R, A, B))),
        "full": rows(model.guarantee((R, A, B), effort="full")),
        "sparse": named.complete(),
        "steps": COMPLETION(1, step=0.3, max_iter=4, **ON).fit(R, A, B).complete(),
        "plain": COMPLETION(1, whiten=False, max_iter=6, **ON).fit(R, A, B).complete(),
    }


@case
def pairs_of_designs() -> Any:
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((300, 5)), rng.standard_normal((300, 4))
    y = np.einsum("ij,jk,ik->i", U, rng.standard_normal((5, 1)) @ rng.standard_normal((1, 4)), V)
    model = SENSING(1, **ON).fit((U, V), y)
    return {
        "matrix": model.matrix(),
        "report": rows(model.guarantee((U, V), y, effort="full")),
        "sparse": SENSING(1, max_iter=5, **ON).fit((sp.csr_array(U), sp.csr_array(V)), y).matrix(),
        "weighted": SENSING(1, **ON).fit((U, V), y + rng.standard_normal(300), np.arange(300.0)).matrix(),
        "stream": SENSING(1, batch_size=100, max_iter=5, **ON).fit((U, V), y).matrix(),
    }


@case
def designs_that_are_not_formed() -> Any:
    A, y = designs()
    rng = np.random.default_rng(0)
    lens = altmin.CodedDiffraction(np.exp(2j * np.pi * rng.random((6, 16))))
    signal = rng.standard_normal(16) + 1j * rng.standard_normal(16)
    return {
        "operator": PHASE(max_iter=20, **ON).fit(aslinearoperator(A), y).signal_,
        "measured": lens.intensities(signal),
        "diffraction": np.abs(PHASE(**ON).fit(lens, lens.intensities(signal)).signal_),
        "rows of a file": PHASE(max_iter=5, **ON).fit([(A[:50], y[:50]), (A[50:], y[50:])]).signal_,
    }


@case
def sparse_rows() -> Any:
    X = sp.csr_array(np.where(law(0.1).X > 0.5, law(0.1).X, 0.0))
    y = law(0.1).y
    return {
        "parts": fitted(MACHINE(2, **ON), X, y, steps=3),
        "classes": fitted(CLASSIFIER(2, max_iter=5, **ON), X, y > np.median(y), effort="full"),
        "classes in parts": CLASSIFIER(2, max_iter=5, **ON).partial_fit(X, y > np.median(y)).predict_proba(X),
        "chosen": altmin.select_n_components(AND(2, max_iter=5, **ON), X, range(1, 3), n_splits=2).curve,
    }


@case
def words_about_signatures() -> Any:
    rng = np.random.default_rng(0)
    S = rng.dirichlet(np.full(96, 0.1), 3)
    made = rng.poisson(rng.gamma(1.0, 400.0, (25, 3)) @ S).astype(float)
    model = signatures.SignatureModel(n_refits=0, most=4).fit(made)
    mixed = np.array([S[0], 0.5 * S[0] + 0.5 * S[1], rng.dirichlet(np.full(96, 0.1))])
    return {
        "number": model.number_,
        "words": (str(model.number_), str(signatures.refit(made, S))),
        "matching": [str(row) for row in signatures.match(mixed, S).rows],
        "split": signatures.match(np.array([0.9 * S[0] + 0.1 * S[2], S[2]]), 0.5 * S[:1] + 0.5 * S[2:]),
        "cheap": rows(model.guarantee(made, effort="cheap")),
    }


@case
def cubes_with_bad_bands() -> Any:
    cube = datasets.make_scene(8, 9, 20, 3, random_state=1).cube
    mask = np.indices((8, 9)).sum(0) % 5 > 0
    return {
        "numbers": hyperspectral.unmix(cube, 3, bad_bands=[2, -1], mask=mask),
        "scene": hyperspectral.unmix(cube, 3, bad_bands=None, scaling="scene").abundances,
        "holes": hyperspectral.unmix(np.where(cube > np.quantile(cube, 0.99), np.nan, cube), 3).endmembers,
    }


@case
def constrained_mixtures() -> Any:
    rng = np.random.default_rng(0)
    time = np.linspace(0, 1, 20)[:, None]
    C, S = np.exp(-(((time - [0.3, 0.6]) / 0.15) ** 2)), rng.random((2, 15)) + 0.1
    absent = np.zeros((20, 2), bool)
    absent[15:, 0] = True
    found = mixtures.resolve([C @ S, (C * [1, 0.5]) @ S], 2, known={0: S[0]})
    return {
        "known": found,
        "words": found.constraints.said(),
        "absent": mixtures.resolve(C @ S, 2, absent=absent, unimodal=[0]),
        "closed": mixtures.resolve(C / C.sum(1, keepdims=True) @ S, 2, closure=2.0).constraints.said(),
    }


@case
def tables_that_are_discovered() -> Any:
    found = {
        "atoms": altmin.discover(atoms(snr_db=30), budget="quick", random_state=0),
        "law": altmin.discover(law(0.05).X[:300], law(0.05).y[:300], budget="quick", random_state=0),
        "noise": altmin.discover(
            np.random.default_rng(0).standard_normal((80, 6)), budget="quick", random_state=0
        ),
    }
    return {
        name: (
            one.kind,
            one.n_components,
            one.answer,
            one.code,
            len(one.terms),
        )
        for name, one in found.items()
    }


@case
def cheap_reports() -> Any:
    """What the fit alone says, and what it says where a condition is declared."""
    A, y = designs()
    given: dict[str, Any] = {
        "AND": (AND(3, max_iter=20, **ON), noisy_cone()),
        "complete": (COMPLETE(max_iter=30, **ON), atoms(snr_db=20)),
        "machine": (MACHINE(2, **ON), law(0.3).X, law(0.3).y),
        "sensing": (SENSING(1, **ON), A, y),
        "phase": (PHASE(max_iter=20, **ON), A, y),
    }
    told = {
        name: rows(model.fit(*data).guarantee(*data, effort="cheap"))
        for name, (model, *data) in given.items()
    }
    for name, word in (("AND", "pure"), ("machine", "exogenous")):
        model, *data = given[name]
        told[f"{name}, {word}"] = [
            rows(model.guarantee(*data, effort=e, assume=word)) for e in ("cheap", "full")
        ]
    return told


@case
def three_classes_in_parts() -> Any:
    """Sparse rows of three classes: one machine for each, and probabilities that add up."""
    X = sp.csr_array(np.where(law(0.1).X > 0.5, law(0.1).X, 0.0))
    y = np.digitize(law(0.1).y, np.quantile(law(0.1).y, [0.3, 0.7]))
    model = CLASSIFIER(2, max_iter=5, **ON)
    for part in np.array_split(np.arange(X.shape[0]), 3):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    return {
        "shares": model.predict_proba(X[:50]),
        "sums": model.predict_proba(X).sum(axis=1),
        "scores": model.decision_function(X[:50]),
        "report": rows(model.guarantee(X, y)),
    }
