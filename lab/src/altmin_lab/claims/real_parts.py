"""Beyond the papers: missing entries, and parts of faces and digits that come again."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from altmin import AND
from altmin.datasets import make_dir
from altmin.datasets.real import data_folder
from altmin.metrics import match_components, total_correlation_error
from altmin_lab.curves import curves, image_rows
from altmin_lab.ledger import Evidence, Wrong, claim, judge, needs
from altmin_lab.sabotage import as_found, shuffled

AGAIN = "correlation of halves"


@claim(
    paper="beyond",
    where="missing entries",
    says="With half of the entries missing at random AND recovers the features as from complete data.",
    wrong=Wrong("missing entries count as zeros", {"fill": True}),
)
def beyond_missing(quick: bool = False, fill: bool = False) -> Evidence:
    """DIR with 10 topics: holes, zero-filling, and complete data."""
    size = (800, 100, 5) if quick else (2000, 200, 10)
    lines: dict[str, list[tuple[float, float]]] = {"AND with holes": [], "zero-filling": [], "complete": []}
    for share in (0.1, 0.3, 0.5) if quick else (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        errors: dict[str, list[float]] = {name: [] for name in lines}
        for seed in range(1 if quick else 3):
            problem = make_dir(*size, random_state=seed)
            X = problem.X.copy()
            X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
            for name, model, data in (
                ("AND with holes", AND(size[2], missing="mask"), np.nan_to_num(X) if fill else X),
                ("zero-filling", AND(size[2]), np.nan_to_num(X)),
                ("complete", AND(size[2]), problem.X),
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = model.fit(data).components_
                errors[name].append(total_correlation_error(found, problem.components))
        for name, values in errors.items():
            lines[name].append((share, float(np.median(values))))
    half = {name: dict(line)[0.5] for name, line in lines.items()}
    return Evidence(
        judge(
            half["AND with holes"] < 1.5 * half["complete"] + 1e-3,
            half["AND with holes"] < 0.1 * half["zero-filling"],
        ),
        ", ".join(f"{name}: {value:.2g}" for name, value in half.items()) + " (total error, half missing)",
        f"DIR, n={size[0]}, W={size[1]}, D={size[2]}, median over seeds",
        {f"{name}: total error, half missing": value for name, value in half.items()},
        {},
        {"beyond_missing": curves({"holes at random": lines}, "share missing", "total error")},
    )


@claim(
    paper="beyond",
    where="parts of faces and digits",
    says="Components of faces and digits come again in other samples more than NMF's.",
    wrong=Wrong("the entries of each of AND's components are shuffled", {"finish": shuffled}),
    data=True,
)
def beyond_parts(quick: bool = False, finish: Callable[[np.ndarray], np.ndarray] = as_found) -> Evidence:
    """Correlation between fits on halves, for Olivetti (10 components) and MNIST (20).

    Not the cosine: that of two grey pictures is .9 whatever they show.
    """
    folder = data_folder()
    if folder is None or not (folder / "mnist" / "mnist.npz").exists():
        return needs("faces or digits")
    from sklearn.decomposition import NMF

    faces = np.load(folder / "olivetti" / "olivetti.npz")["images"]
    digits = np.load(folder / "mnist" / "mnist.npz")["x_train"][:: 60 if quick else 6]
    measured: dict[str, float] = {}
    figures: dict[str, Any] = {}
    better = []
    for title, images, n in (("Olivetti", faces, 6 if quick else 10), ("MNIST", digits, 8 if quick else 20)):
        X = images.reshape(len(images), -1) / 255.0
        order = np.random.default_rng(0).permutation(len(X))
        pictures = {}
        for name, model in {
            "AND": AND(n, nonnegative_components=True, decoder="nnls"),
            "NMF": NMF(n, init="nndsvda", max_iter=50 if quick else 300),
        }.items():
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fits = [model.fit(X[np.sort(half)]).components_.copy() for half in np.array_split(order, 2)]
            measured[f"{title}, {name}: CPU s"] = time.process_time() - begin
            if name == "AND":
                fits[1] = finish(fits[1])
            centred = (fit - fit.mean(axis=1, keepdims=True) for fit in fits)
            measured[f"{title}, {name}: {AGAIN}"] = float(match_components(*centred, signed=True)[1].mean())
            pictures[name] = fits[0][:10]
        own, peer = (measured[f"{title}, {name}: {AGAIN}"] for name in ("AND", "NMF"))
        better.append(own > peer)
        figures[f"beyond_parts_{title.lower()}"] = image_rows(pictures, images.shape[1:])
    summary = ", ".join(f"{key} {value:.3f}" for key, value in measured.items() if AGAIN in key)
    setting = f"{len(faces)} faces, {len(digits)} digits, one split into halves; NMF from nndsvda"
    return Evidence(judge(*better), summary, setting, measured, {}, figures)
