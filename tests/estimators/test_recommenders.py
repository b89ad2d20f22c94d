"""Ratings and clicks: what decides which of them count, and how much."""

import numpy as np
import scipy.sparse as sp

from altmin import FactorizationMachineRegressor, InductiveMatrixCompletion


def test_fields_of_different_spread_are_shrunk_by_their_own_measure():
    # Users hardly differ, films do, and each user is seen four times: one ridge for both keeps the noise.
    rng = np.random.default_rng(3)
    n, users, films = 4000, 1000, 20
    user, film = rng.integers(0, users, n), rng.integers(0, films, n)
    X = sp.csr_array((np.ones(2 * n), (np.repeat(np.arange(n), 2), np.c_[user, users + film].ravel())))
    level = np.concatenate([0.05 * rng.standard_normal(users), 3.0 * rng.standard_normal(films)])
    truth = X @ level
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(X, truth + rng.standard_normal(n))
    assert np.sqrt(np.mean((fitted.predict(X) - truth) ** 2)) < 0.2


def test_a_few_busy_rows_do_not_decide_which_columns_belong_together():
    rng = np.random.default_rng(0)
    taste = rng.integers(0, 10, 400)
    likes = rng.random((400, 100)) < np.where(np.arange(100) % 10 == taste[:, None], 0.3, 0.0)
    half = rng.random(100) < 0.5
    busy = rng.random((400, 100)) < np.where(half, 0.9, 0.1)  # they click on whatever is in one half
    fitted = InductiveMatrixCompletion(feedback="implicit", random_state=0)
    fitted.fit(sp.csr_array(np.vstack([likes, busy]).astype(float)))
    best = fitted.recommend(np.flatnonzero(likes.sum(axis=1) > 1), 3)
    assert np.mean(best % 10 == taste[likes.sum(axis=1) > 1][:, None]) > 0.95
