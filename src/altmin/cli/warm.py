"""``altmin warm``: compile every loop once, so that nobody waits for a compiler in a first fit.

Loops are compiled for the types that they meet, and the fits themselves know best which those are: each
job below is a fit of a moment's work that goes through some of them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

import altmin
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary


def _mixtures() -> None:
    X = np.maximum(make_dir(300, 30, 4, noise=0.01, random_state=0).X, 0.0)
    altmin.AND(4, random_state=0).fit(X).guarantee(X)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    altmin.AND(4, missing="mask", decoder="nnls", max_iter=5).fit(holes).transform(holes)


def _counts() -> None:
    shares = make_dir(100, 30, 4, random_state=0).X
    counts = np.random.default_rng(0).poisson(500 * shares / shares.sum(axis=1, keepdims=True))
    altmin.AND(4, random_state=0).fit(counts.astype(float)).transform(counts.astype(float))
    words = sp.csr_array(counts)
    altmin.TopicModel(4, random_state=0).fit(words).transform(words)
    reference = np.random.default_rng(1).dirichlet(np.full(96, 0.2), 4)
    altmin.signatures.refit(np.random.default_rng(2).poisson(100 * np.ones((20, 4)) @ reference), reference)


def _curves() -> None:
    times = np.linspace(0.0, 1.0, 40)
    contributions = np.exp(-(((times[:, None] - np.array([0.3, 0.6])) / 0.15) ** 2))
    spectra = np.random.default_rng(0).random((2, 30))
    X = contributions @ spectra + 1e-3 * np.random.default_rng(1).standard_normal((40, 30))
    altmin.mixtures.feasible_bands(altmin.mixtures.resolve(X, 2, unimodal=True))


def _dictionaries() -> None:
    for noise in (None, 30.0):
        X = make_sparse_dictionary(1000, 8, snr_db=noise, random_state=0).X
        altmin.CompleteDictionaryLearning(random_state=0).fit(X).guarantee(X)
        altmin.OnlineDictionaryLearning(random_state=0).fit(X)
        X = make_sparse_dictionary(1000, 8, snr_db=noise, orthogonal=True, random_state=0).X
        altmin.OrthogonalDictionaryLearning(random_state=0).fit(X)


def _overcomplete() -> None:
    X = make_sparse_dictionary(1500, 10, random_state=0).X
    model = altmin.ApproximateDictionaryLearning(15, n_nonzero_coefs=2, random_state=0).fit(X)
    altmin.ApproximateDictionaryLearning(15, n_nonzero_coefs=2, max_iter=3, random_state=0).fit(X[:300])
    for selection in ("omp", "ormp"):
        altmin.omp(X, model.components_, 2, selection=selection)
        altmin.omp(X, model.components_, tol=0.1, selection=selection)
        altmin.omp(X, model.components_, 2, mask=np.ones(X.shape, dtype=bool), selection=selection)
    altmin.SparseCoder(model.components_, transform_algorithm="lasso").transform(X)
    altmin.threshold_correlation(X[:200], 0.5, random_state=0)


def _machines() -> None:
    law = make_quadratic(1000, 6, 2, random_state=0)
    altmin.FactorizationMachineRegressor(2, random_state=0).fit(law.X, law.y)
    stream = ((law.X, law.y) for _ in range(6))
    altmin.FactorizationMachineRegressor(2, random_state=0).fit(stream)
    rng = np.random.default_rng(0)
    clicks = sp.random(500, 300, 0.02, random_state=0, format="csr")
    clicks.data[:] = 1.0
    altmin.FactorizationMachineRegressor(2, random_state=0).fit(clicks, rng.random(500)).predict(clicks)
    classifier = altmin.FactorizationMachineClassifier(2, random_state=0).fit(clicks, rng.random(500) < 0.5)
    classifier.predict_proba(clicks)


def _recommenders() -> None:
    seen = sp.random(200, 60, 0.2, random_state=0, format="csr")
    altmin.InductiveMatrixCompletion(2, max_iter=5, random_state=0).fit(seen)
    seen.data[:] = 1.0
    altmin.InductiveMatrixCompletion(2, feedback="implicit", max_iter=5, random_state=0).fit(seen)


def _checkpoints() -> None:
    X = make_dir(100, 10, 2, random_state=0).X
    for number, rows in enumerate((X, sp.csr_array(X))):
        with TemporaryDirectory() as folder:
            altmin.AND(2, max_iter=2, checkpoint=f"{folder}/{number}").fit(rows)


def _pictures() -> None:
    picture = np.random.default_rng(0).random((64, 64))
    altmin.images.denoise(picture)
    altmin.images.denoise(np.stack([picture] * 3, axis=2), sigma=0.1)
    altmin.images.inpaint(picture, np.arange(64 * 64).reshape(64, 64) % 5 > 0)
    altmin.images.reconstruct(picture, np.eye(64), 4)


JOBS: dict[str, Callable[[], Any]] = {
    "mixtures, with noise and with holes": _mixtures,
    "counts and topics": _counts,
    "curves and their bands": _curves,
    "dictionaries": _dictionaries,
    "overcomplete dictionaries, sparse coding": _overcomplete,
    "factorization machines, clicks": _machines,
    "recommenders": _recommenders,
    "checkpoints": _checkpoints,
    "pictures": _pictures,
}


def warm_up() -> None:
    """Run every job, and say how long each took."""
    begin = time.perf_counter()
    print("Compiling once what fits would compile when they first need it, a minute or two.")
    for name, job in JOBS.items():
        since = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fits that are too short to converge
            job()
        print(f"  {name}: {time.perf_counter() - since:.1f} s", flush=True)
    print(f"done in {time.perf_counter() - begin:.0f} s; the next fits begin at once")
