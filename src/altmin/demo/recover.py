"""Problems with a known answer: does altmin find it?"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from altmin import AND
from altmin.datasets import make_dir
from altmin.demo.story import Story, story, timed
from altmin.metrics import total_correlation_error


@story
def topics() -> Story:
    """Topics that made the data, found again from the data alone; scikit-learn's NMF beside it."""
    from sklearn.decomposition import NMF

    problem = make_dir(3000, 400, 30, random_state=0)
    model, seconds = timed(AND(30), problem.X)
    nmf, nmf_seconds = timed(NMF(30, init="nndsvda", max_iter=500, tol=0, random_state=0), problem.X)
    error, other = (total_correlation_error(m.components_, problem.components) for m in (model, nmf))
    stages, errors = _trajectory(problem, model.n_iter_)
    return Story(
        "Which topics were these documents made of?",
        f"3000 documents of 400 words were generated from 30 topics. Given only the documents, AND finds the "
        f"topics to a total error of {error:.0e} in {seconds:.1f} s (0 is perfect, 30 the worst). "
        f"scikit-learn's NMF, stopped here after 500 iterations and {nmf_seconds:.1f} s, has an error of "
        f"{other:.1f}; after about 7500 iterations it finds the topics as well.",
        "AND",
        "generated, so that the answer can be checked (altmin.datasets.make_dir)",
        "altmin.AND(30).fit(X)",
        {"topics": lambda: _errors(stages, errors, other)},
        model=model,
        doubt="The truth is known here, but not to the report: no document is about one topic alone, so "
        "topics that lie a little further apart would explain the documents as well.",
    )


def _errors(stages: list[int], errors: list[float], other: float) -> Any:
    """The error of AND at its stages, and where NMF stands after 500 iterations."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    ax.semilogy(stages, errors, "o-", label="AND (altmin), from the data alone")
    ax.axhline(other, color="C1", label="NMF (scikit-learn), stopped after 500 iterations")
    ax.set(xlabel="stage of AND", ylabel="total error of the 30 topics")
    ax.set_title("Does it find the true topics?")
    ax.legend()
    return figure


def _trajectory(problem: Any, n_iter: int) -> tuple[list[int], list[float]]:
    """Errors on the way: a checkpointed fit is extended by a larger max_iter, so nothing runs twice."""
    stages = sorted(set(np.linspace(1, n_iter, 15).astype(int).tolist()))
    with tempfile.TemporaryDirectory() as folder:
        fits = (AND(30, max_iter=stage, checkpoint=folder).fit(problem.X) for stage in stages)
        return stages, [total_correlation_error(fit.components_, problem.components) for fit in fits]
