"""The demo: AND on a problem with a known answer and on handwritten digits, with pictures.

    python -m altmin.experiments.demo --out demo

Everything it needs is inside pip packages: it works without a network and without other data.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import total_correlation_error


def main(arguments: list[str] | None = None) -> None:
    """Run the demo and say in plain words what came out, and where the pictures are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"))
    out = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    import matplotlib

    matplotlib.use("Agg")
    pictures = [recover_topics(out), parts_of_digits(out)]
    print("\nPictures:")
    for picture in pictures:
        print(f"  {picture.resolve()}")


def recover_topics(out: Path) -> Path:
    """Topics that made the data, found again from the data alone; scikit-learn's NMF beside it."""
    import matplotlib.pyplot as plt
    from sklearn.decomposition import NMF

    problem = make_dir(3000, 400, 30, random_state=0)
    begin = time.perf_counter()
    model = AND(30).fit(problem.X)
    and_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    nmf = NMF(30, init="nndsvda", max_iter=1000, tol=0, random_state=0).fit(problem.X)
    nmf_seconds = time.perf_counter() - begin
    other = _error(nmf.components_, problem)
    print("Topics: 30 topics made 3000 documents of 400 words; both methods see the documents alone.")
    print(f"  AND finds the topics to an error of {_error(model.components_, problem):.1e}", end=" ")
    print(f"in {and_seconds:.1f} s,")
    print(f"  NMF stays at {other:.2g} (0 is perfect, 30 is nothing) after {nmf_seconds:.1f} s.")
    stages, errors = _trajectory(problem, model.n_iter_)
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    ax.semilogy(stages, errors, "o-", label="AND (altmin), from the data alone")
    ax.axhline(other, color="tab:orange", label="NMF (scikit-learn), after 1000 iterations")
    ax.set(xlabel="stage of AND", ylabel="total error of the 30 topics")
    ax.set_title("Does it find the true topics?")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return _save(figure, out / "topics.png")


def _trajectory(problem: Any, n_iter: int) -> tuple[list[int], list[float]]:
    """Errors on the way: a checkpointed fit is extended by a larger max_iter, so nothing runs twice."""
    stages = sorted(set(np.linspace(1, n_iter, 15).astype(int).tolist()))
    with tempfile.TemporaryDirectory() as folder:
        fits = (AND(30, max_iter=stage, checkpoint=folder).fit(problem.X) for stage in stages)
        return stages, [_error(fit.components_, problem) for fit in fits]


def parts_of_digits(out: Path) -> Path:
    """Parts of handwritten digits, and how the fit converged."""
    from sklearn.datasets import load_digits

    from altmin.plots.components import plot_components

    X = load_digits().data
    model = AND(16).fit(X)
    explained = 1 - (model.reconstruction_err_ / np.linalg.norm(X)) ** 2
    print(f"Digits: 16 non-negative parts explain {explained:.0%} of 1797 handwritten digits.")
    print(f"  The fit ended as {model.outcome_}.")
    figure = plot_components(model.components_, (8, 8), columns=8, title="16 parts of handwritten digits")
    return _save(figure, out / "digits.png")


def _error(components: Any, problem: Any) -> float:
    return total_correlation_error(components, problem.components)


def _save(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=150)
    return path


if __name__ == "__main__":
    main()
