"""Other factorization-machine libraries behind one call: fit, predict, and CPU seconds.

fastFM needs an interpreter of its own (old NumPy and Cython): ``lab/benchmarks/build_fastfm.py`` builds one,
and the environment variable ALTMIN_FASTFM_PYTHON says where it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class PeerMissing(RuntimeError):
    """The peer can't be run here; the message says what to install."""


_FASTFM = """
import json, sys, time
import numpy as np, scipy.sparse as sp
from fastFM import als, sgd
settings = json.loads(sys.argv[2])
z = np.load(sys.argv[1])
def matrix(name):
    parts = [z[name + part] for part in ("_data", "_indices", "_indptr")]
    return sp.csc_matrix(tuple(parts), tuple(z[name + "_shape"]))
train, test = matrix("train"), matrix("test")
solver = {"als": als, "sgd": sgd}[settings.pop("solver")].FMRegression(**settings)
begin = time.process_time()
solver.fit(train, z["y"])
seconds = time.process_time() - begin
np.savez(sys.argv[3], values=solver.predict(test), seconds=seconds)
"""


def fastfm(
    X: Any, y: NDArray[Any], test: Any, *, solver: str = "als", **settings: Any
) -> tuple[NDArray[Any], float]:
    """Fit fastFM (Bayer 2016) in its own interpreter.

    Parameters
    ----------
    X, test : array-like or sparse
        Training and test features.
    y : ndarray
        Target.
    solver : {'als', 'sgd'}
        Which of its solvers.
    **settings
        Of its FMRegression: rank, n_iter, l2_reg_w, l2_reg_V, init_stdev, step_size, random_state.

    Returns
    -------
    values, seconds
        Predictions on ``test``, and CPU seconds of the fit alone.
    """
    python = os.environ.get("ALTMIN_FASTFM_PYTHON")
    if not python or not Path(python).exists():
        raise PeerMissing("fastFM: run lab/benchmarks/build_fastfm.py and set ALTMIN_FASTFM_PYTHON")
    with tempfile.TemporaryDirectory() as folder:
        arrays: dict[str, Any] = {"y": np.asarray(y, dtype=np.float64)}
        for name, table in (("train", X), ("test", test)):
            csc = sp.csc_matrix(table, dtype=np.float64)
            arrays |= {f"{name}_{part}": getattr(csc, part) for part in ("data", "indices", "indptr")}
            arrays[f"{name}_shape"] = np.array(csc.shape)
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **arrays)
        command = [
            python,
            "-c",
            _FASTFM,
            str(source),
            json.dumps({"solver": solver, **settings}),
            str(target),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        if done.returncode:
            raise PeerMissing(f"fastFM failed: {done.stderr.strip().splitlines()[-1:]}")
        found = np.load(target)
        return found["values"], float(found["seconds"])


def myfm(
    X: Any, y: NDArray[Any], test: Any, *, rank: int, n_iter: int = 100, random_state: int = 0
) -> tuple[NDArray[Any], float]:
    """Fit myFM (Gibbs sampling, its own hyperparameters).

    Parameters
    ----------
    X, test : array-like or sparse
        Training and test features.
    y : ndarray
        Target.
    rank, n_iter, random_state : int
        Of its MyFMRegressor; the first half of the samples is left out, as it does by default.

    Returns
    -------
    values, seconds
        Predictions on ``test``, and CPU seconds of the fit alone.
    """
    try:
        from myfm import MyFMRegressor
    except ImportError as error:
        raise PeerMissing("myFM: pip install myfm") from error
    model = MyFMRegressor(rank=rank, random_seed=random_state)
    begin = time.process_time()
    model.fit(X, np.asarray(y, dtype=np.float64), n_iter=n_iter)
    seconds = time.process_time() - begin
    return np.asarray(model.predict(test)), seconds


def river(
    X: NDArray[Any], y: NDArray[Any], *, rank: int, step: float = 2e-3, random_state: int = 0
) -> tuple[Any, float]:
    """One pass of river's online factorization machine.

    Parameters
    ----------
    X, y : ndarray
        Dense features and target, row by row.
    rank, random_state : int
        Its number of factors and seed.
    step : float
        Of both of its optimizers; its default of .01 diverges on 30 standard normal columns.

    Returns
    -------
    model, seconds
        The model, and CPU seconds of the pass.
    """
    try:
        from river import facto, optim
    except ImportError as error:
        raise PeerMissing("river: pip install river") from error
    steps = {"weight_optimizer": optim.SGD(step), "latent_optimizer": optim.SGD(step)}
    model = facto.FMRegressor(n_factors=rank, seed=random_state, **steps)
    rows = [{str(j): float(value) for j, value in enumerate(row)} for row in X]
    begin = time.process_time()
    for row, value in zip(rows, y, strict=True):
        model.learn_one(row, float(value))
    return model, time.process_time() - begin


def quasi_newton(
    X: NDArray[Any], y: NDArray[Any], test: NDArray[Any], *, rank: int, n_iter: int, n_starts: int = 3
) -> tuple[NDArray[Any], float]:
    """Predictions of b + x'w + x'UV'x fitted by L-BFGS on the squared loss, and the CPU seconds of the fits.

    Parameters
    ----------
    X, y : ndarray
        Training rows and targets; standardised here.
    test : ndarray
        Rows to predict.
    rank : int
        Columns of U and V.
    n_iter : int
        Iterations at most, of each start.
    n_starts : int
        Random starts; the one with the least loss counts.

    Returns
    -------
    values : ndarray
        Predictions.
    seconds : float
        CPU seconds.
    """
    from scipy.optimize import minimize

    begin = time.process_time()
    n, d = X.shape
    centre, scale = X.mean(axis=0), X.std(axis=0)
    Z = (X - centre) / scale
    shift, size = float(y.mean()), float(y.std())
    target = (y - shift) / size

    def split(p: NDArray[Any]) -> tuple[float, NDArray[Any], NDArray[Any], NDArray[Any]]:
        U, V = p[1 + d :].reshape(2, d, rank)
        return float(p[0]), p[1 : 1 + d], U, V

    def loss(p: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        b, w, U, V = split(p)
        ZU, ZV = Z @ U, Z @ V
        r = (b + Z @ w + np.einsum("ij,ij->i", ZU, ZV) - target) / n
        back = np.concatenate(
            [[r.sum()], Z.T @ r, (Z.T @ (r[:, None] * ZV)).ravel(), (Z.T @ (r[:, None] * ZU)).ravel()]
        )
        return float(r @ r) * n / 2, back

    best = None
    for seed in range(n_starts):
        start = 0.1 * np.random.default_rng(seed).standard_normal(1 + d + 2 * d * rank)
        found = minimize(
            loss, start, jac=True, method="L-BFGS-B", options={"maxiter": n_iter, "ftol": 1e-14, "gtol": 1e-9}
        )
        best = found if best is None or found.fun < best.fun else best
    seconds = time.process_time() - begin
    assert best is not None
    b, w, U, V = split(best.x)
    T = (test - centre) / scale
    return (b + T @ w + np.einsum("ij,ij->i", T @ U, T @ V)) * size + shift, seconds
