"""The picture and the numbers of the README: 30 topics, by AND and by scikit-learn's NMF, to the end of both.

Writes ``topics.png`` and ``topics.json`` beside itself. Both methods see the same documents, on one thread;
time is CPU time. NMF goes on from its own factors, so that its curve costs one long fit: coordinate descent
has no other state.
"""

import json
import os
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import total_correlation_error

HERE = Path(__file__).parent
N_TOPICS, STEP, MOST = 30, 500, 9000
EXACT = 1e-4


def curve_of_and(problem):
    """CPU seconds and errors at some stages; a checkpointed fit is extended, so nothing runs twice."""
    AND(3).fit(problem.X[:200])  # compile off the clock
    begin = time.process_time()
    whole = AND(N_TOPICS).fit(problem.X)
    total = time.process_time() - begin
    seconds, errors = [], []
    with tempfile.TemporaryDirectory() as folder:
        for stage in sorted(set(np.linspace(1, whole.n_iter_, 15).astype(int).tolist())):
            fit = AND(N_TOPICS, max_iter=stage, checkpoint=folder).fit(problem.X)
            seconds.append(total * whole.history_[stage - 1]["seconds"] / whole.history_[-1]["seconds"])
            errors.append(total_correlation_error(fit.components_, problem.components))
    return seconds, errors, whole


def curve_of_nmf(problem):
    """CPU seconds, iterations and errors of one fit, looked at every 500 iterations until it is exact."""
    seconds, errors, iterations, spent = [], [], [], 0.0
    W = H = None
    while not errors or (errors[-1] > EXACT and iterations[-1] < MOST):
        model = NMF(N_TOPICS, init="nndsvda" if W is None else "custom", max_iter=STEP, tol=0, random_state=0)
        begin = time.process_time()
        W = model.fit_transform(problem.X, W=W, H=H)
        spent += time.process_time() - begin
        H = model.components_.copy()
        seconds.append(spent)
        iterations.append(STEP * (len(iterations) + 1))
        errors.append(total_correlation_error(H, problem.components))
    return seconds, errors, iterations


def main():
    """Measure, draw, write."""
    warnings.simplefilter("ignore")
    problem = make_dir(3000, 400, N_TOPICS, random_state=0)
    own_seconds, own, model = curve_of_and(problem)
    peer_seconds, peer, iterations = curve_of_nmf(problem)
    figure, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    ax.loglog(own_seconds, own, "o-", label="AND (altmin)")
    ax.loglog(peer_seconds, peer, "s-", color="C1", label="NMF (scikit-learn, nndsvda)")
    ax.set(xlabel="CPU seconds, one thread", ylabel="total error of the 30 topics")
    ax.set_title("When are the true topics found?")
    ax.legend()
    figure.savefig(HERE / "topics.png", dpi=150)
    found = {
        "AND": {"seconds": own_seconds[-1], "error": own[-1], "verdict": model.guarantee_.verdict},
        "NMF": {
            "seconds": peer_seconds[-1],
            "error": peer[-1],
            "iterations": iterations[-1],
            "error after 500": peer[0],
            "error after 5000": peer[9] if len(peer) > 9 else None,
        },
    }
    (HERE / "topics.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
