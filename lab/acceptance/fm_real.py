"""What the factorization machine promises on real tables and ratings (ALTMIN_DATA)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from harness import Figure, data_folder, promise
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic
from altmin_lab.peers.machines import PeerMissing, fastfm, myfm

TABLES = ("concrete", "energy", "kin8nm", "power_plant", "protein", "wine_red", "yacht")


def _rmse(found: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - y) ** 2)))


@promise
def uci_tables() -> Iterator[Figure]:
    """No blow-up on seven UCI tables at defaults: 4-fold rmse at most 1.05 times Ridge's."""
    folder = data_folder()
    if folder is None:
        print("skipped: set ALTMIN_DATA to the folder with uci_regression")
        return
    z = np.load(Path(folder) / "uci_regression" / "uci_regression.npz")
    for name in TABLES:
        X, y = z[f"{name}_X"], z[f"{name}_y"]
        ours, ridge = [], []
        for train, test in KFold(4, shuffle=True, random_state=0).split(X):
            model = FactorizationMachineRegressor(random_state=0).fit(X[train], y[train])
            linear = make_pipeline(StandardScaler(), Ridge()).fit(X[train], y[train])
            ours.append(_rmse(model.predict(X[test]), y[test]))
            ridge.append(_rmse(linear.predict(X[test]), y[test]))
        yield Figure(f"{name}: rmse over Ridge's", float(np.mean(ours) / np.mean(ridge)), at_most=1.05)


@promise
def movielens() -> Iterator[Figure]:
    """MovieLens latest-small, 80/20, rank 8, regularisation by validation: at most 1.01 times fastFM ALS'."""
    folder = data_folder()
    if folder is None:
        print("skipped: set ALTMIN_DATA to the folder with movielens_latest_small")
        return
    X, y, order = _ratings(Path(folder))
    cut, hold = len(y) // 5, len(y) // 10
    test, train = order[:cut], order[cut:]
    valid, rest = train[:hold], train[hold:]
    grid = [(w, v) for w in (2.0, 5.0) for v in (10.0, 15.0, 20.0)]

    def theirs(alpha: tuple, fit: np.ndarray, look: np.ndarray) -> float:
        settings = {"n_iter": 50, "init_stdev": 0.1, "rank": 8, "random_state": 0}
        found, _ = fastfm(X[fit], y[fit], X[look], l2_reg_w=alpha[0], l2_reg_V=alpha[1], **settings)
        return _rmse(found, y[look])

    model = FactorizationMachineRegressor(8, random_state=0).fit(X[train], y[train])
    found = _rmse(model.predict(X[test]), y[test])
    yield Figure("MovieLens test RMSE, altmin", found)
    try:
        best = min(grid, key=lambda alpha: theirs(alpha, rest, valid))
        peer = theirs(best, train, test)
    except PeerMissing as missing:
        print(f"skipped: {missing}")
        return
    yield Figure(f"MovieLens test RMSE, fastFM ALS, l2={best}", peer)
    yield Figure("MovieLens test RMSE over fastFM ALS'", found / peer, at_most=1.01)


@promise
def quadratic_truth_beside_peers() -> Iterator[Figure]:
    """Test 1 - R^2 on a true quadratic with mixed signs (d=50, N=15000, noise .05): under .01; peers."""
    problem = make_quadratic(20000, 50, 5, mixed_signs=True, noise=0.05, random_state=0)
    X, y = problem.X, problem.y
    spread = np.var(y[15000:])
    model = FactorizationMachineRegressor(5, random_state=0).fit(X[:15000], y[:15000])
    left = np.mean((model.predict(X[15000:]) - y[15000:]) ** 2) / spread
    yield Figure("true quadratic: test 1 - R^2, altmin", left, at_most=0.01)
    for name, call in {
        "fastFM ALS": lambda: fastfm(
            X[:15000], y[:15000], X[15000:], rank=5, n_iter=50, init_stdev=0.1, l2_reg_w=1.0, l2_reg_V=1.0
        ),
        "myFM": lambda: myfm(X[:15000], y[:15000], X[15000:], rank=5, n_iter=50),
    }.items():
        try:
            found, _ = call()
        except PeerMissing as missing:
            print(f"skipped: {missing}")
            continue
        yield Figure(f"true quadratic: test 1 - R^2, {name}", np.mean((found - y[15000:]) ** 2) / spread)


def _ratings(folder: Path) -> tuple:
    z = np.load(folder / "movielens_latest_small" / "movielens_latest_small.npz")
    user = np.unique(z["user"], return_inverse=True)[1]
    item = np.unique(z["item"], return_inverse=True)[1]
    y = z["rating2x"] / 2
    columns = np.column_stack([user, user.max() + 1 + item]).ravel()
    shape = (len(y), int(columns.max()) + 1)
    X = sp.csr_array((np.ones(2 * len(y)), columns, np.arange(0, 2 * len(y) + 1, 2)), shape=shape)
    return X, y, np.random.default_rng(0).permutation(len(y))
