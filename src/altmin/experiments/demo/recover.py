"""Problems with a known answer: does altmin find it?"""

from __future__ import annotations

import tempfile
import time
from typing import Any

import numpy as np

from altmin import AND, CompleteDictionaryLearning, FactorizationMachineRegressor, PhaseRetrieval
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.experiments.demo.story import Story, story
from altmin.metrics import sine_errors, total_correlation_error


@story
def topics() -> Story:
    """Topics that made the data, found again from the data alone; scikit-learn's NMF beside it."""
    import matplotlib.pyplot as plt
    from sklearn.decomposition import NMF

    problem = make_dir(3000, 400, 30, random_state=0)
    model, seconds = _timed(AND(30), problem.X)
    nmf, nmf_seconds = _timed(NMF(30, init="nndsvda", max_iter=500, tol=0, random_state=0), problem.X)
    error, other = (total_correlation_error(m.components_, problem.components) for m in (model, nmf))
    stages, errors = _trajectory(problem, model.n_iter_)
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    ax.semilogy(stages, errors, "o-", label="AND (altmin), from the data alone")
    ax.axhline(other, color="tab:orange", label="NMF (scikit-learn), after 500 iterations")
    ax.set(xlabel="stage of AND", ylabel="total error of the 30 topics")
    ax.set_title("Does it find the true topics?")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return Story(
        "Which topics made these documents?",
        f"30 topics made 3000 documents of 400 words; both methods see the documents alone. AND finds the "
        f"topics to a total error of {error:.0e} in {seconds:.1f} s; NMF stays at {other:.1f} after "
        f"{nmf_seconds:.1f} s (0 is perfect, 30 is nothing).",
        "altmin.AND(30).fit(X)",
        {"topics": figure},
        model=model,
    )


def _trajectory(problem: Any, n_iter: int) -> tuple[list[int], list[float]]:
    """Errors on the way: a checkpointed fit is extended by a larger max_iter, so nothing runs twice."""
    stages = sorted(set(np.linspace(1, n_iter, 15).astype(int).tolist()))
    with tempfile.TemporaryDirectory() as folder:
        fits = (AND(30, max_iter=stage, checkpoint=folder).fit(problem.X) for stage in stages)
        return stages, [total_correlation_error(fit.components_, problem.components) for fit in fits]


@story
def dictionary() -> Story:
    """A complete dictionary, exactly, and scikit-learn's dictionary learning beside it."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    problem = make_sparse_dictionary(3000, 50, random_state=0)
    model, seconds = _timed(CompleteDictionaryLearning(random_state=0), problem.X)
    peer = MiniBatchDictionaryLearning(50, alpha=1.0, batch_size=256, max_iter=30, random_state=0)
    peer, peer_seconds = _timed(peer, problem.X)
    rows = [
        {
            "method": name,
            "largest error of an atom": float(errors.max()),
            "atoms above .99 correlation": int((errors < np.sqrt(1 - 0.99**2)).sum()),
            "seconds": spent,
        }
        for name, fit, spent in (
            ("CompleteDictionaryLearning (altmin)", model, seconds),
            ("MiniBatchDictionaryLearning (scikit-learn, alpha 1)", peer, peer_seconds),
        )
        for errors in [sine_errors(fit.components_, problem.components)]
    ]
    return Story(
        "Which 50 atoms were these signals mixed from?",
        f"altmin finds all 50 atoms to rounding (error {rows[0]['largest error of an atom']:.0e}) in "
        f"{seconds:.1f} s; of scikit-learn's 50 atoms {rows[1]['atoms above .99 correlation']} come above "
        f".99 correlation in {peer_seconds:.1f} s.",
        "altmin.CompleteDictionaryLearning().fit(X)",
        rows=rows,
        model=model,
    )


@story
def quadratic() -> Story:
    """A quadratic law in 50 variables, from a stream of rows."""
    from sklearn.linear_model import Ridge

    problem = make_quadratic(16000, 50, 3, random_state=0)
    X, y, fresh = problem.X[:15000], problem.y[:15000], slice(15000, None)
    model, seconds = _timed(FactorizationMachineRegressor(3, random_state=0), X, y)
    ridge = Ridge().fit(X, y)
    ours, theirs = (m.score(problem.X[fresh], problem.y[fresh]) for m in (model, ridge))
    return Story(
        "Which quadratic law do these rows obey?",
        f"A law with products of 50 variables, seen through 15000 rows: altmin's factorization machine "
        f"explains {ours:.6f} of new rows in {seconds:.1f} s, a linear model {max(theirs, 0):.2f}.",
        "altmin.FactorizationMachineRegressor(3).fit(X, y)",
        model=model,
    )


@story
def phases() -> Story:
    """A signal from its intensities alone."""
    rng = np.random.default_rng(0)
    signal = np.cumsum(rng.standard_normal(100))
    X = rng.standard_normal((800, 100))
    model, seconds = _timed(PhaseRetrieval(random_state=0), X, (X @ signal) ** 2)
    error = min(np.linalg.norm(model.signal_ - s * signal) for s in (1, -1)) / np.linalg.norm(signal)
    return Story(
        "Which signal gave these intensities?",
        f"800 squared measurements of a signal of length 100, all signs lost: found again to a relative "
        f"error of {error:.0e} in {seconds:.1f} s (up to one global sign, which nothing can tell).",
        "altmin.PhaseRetrieval().fit(X, intensities)",
        model=model,
    )


def _timed(estimator: Any, *data: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    return estimator.fit(*data), time.perf_counter() - begin
