"""Ratings and clicks: what decides which of them count, and how much."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import FactorizationMachineRegressor, InductiveMatrixCompletion
from altmin.algorithms.sparse.click_factors import ClickFactors, solve_map
from altmin.contract import Block, Info
from altmin.estimators.quadratic import matrix_completion


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


def test_clicks_on_more_columns_than_have_room_are_ranked_by_factors(monkeypatch):
    monkeypatch.setattr(matrix_completion, "_MOST_ITEMS", 50)
    rng = np.random.default_rng(1)
    taste = rng.integers(0, 4, 300)
    likes = rng.random((300, 60)) < np.where(np.arange(60) % 4 == taste[:, None], 0.6, 0.03)
    seen = likes & (rng.random(likes.shape) < 0.7)
    fitted = InductiveMatrixCompletion(feedback="implicit", random_state=0).fit(sp.csr_array(seen * 1.0))
    assert fitted.item_weights_ is None
    best = fitted.recommend(np.arange(300), 3)
    assert np.mean(best % 4 == taste[:, None]) > 0.9
    assert not seen[5, best[5]].any()
    # What is minimised: no step of a row lowers it.
    U, V = fitted.row_factors_, fitted.column_factors_
    P = U @ V.T
    gradient = ((P - 1) * seen + 0.1 * P) @ V + 4.0 * U
    assert np.abs(gradient).max() < 0.05 * np.abs(seen @ V).max()


@pytest.mark.parametrize("phase", ["rows", "columns"])
def test_a_block_that_holds_rows_and_columns_solves_those_that_are_asked_for(phase):
    rng = np.random.default_rng(2)
    B = sp.csr_array((rng.random((70, 40)) < 0.2) * 1.0)
    both = sp.csr_array(sp.bmat([[None, B], [B.T, None]], format="csr"))
    algorithm = ClickFactors(3, 70)
    state = replace(algorithm.init(Info(110, both.dtype, n_rows=110), 0), phase=phase)
    cuts = [(0, 60), (60, 90), (90, 110)]
    parts = [solve_map(algorithm, state, Block(0, low, both[low:high]))["rows"].value for low, high in cuts]
    low, high = (0, 70) if phase == "rows" else (70, 110)
    whole = np.concatenate(parts)
    Y = state.factors[70:] if phase == "rows" else state.factors[:70]
    C = (B if phase == "rows" else B.T).toarray()
    one = np.linalg.solve(0.1 * Y.T @ Y + 4 * np.eye(3) + (C[7, :, None] * Y).T @ Y, C[7] @ Y)
    assert whole.shape == (high - low, 3)
    np.testing.assert_allclose(whole[7], one, rtol=1e-10)


@pytest.mark.parametrize("stars", [True, False])
def test_ratings_on_a_scale_stay_on_it_and_other_numbers_do_not(stars):
    rng = np.random.default_rng(5)
    R = 3 + 1.5 * rng.standard_normal(40)[:, None] + 1.5 * rng.standard_normal(30)
    R = np.clip(np.round(R), 1, 5) if stars else R
    mask = rng.random(R.shape) < 0.5
    seen = sp.csr_array((R[mask], np.nonzero(mask)), shape=R.shape)
    fitted = InductiveMatrixCompletion(2, random_state=0).fit(seen)
    beyond = (fitted.complete() > seen.data.max()) | (fitted.complete() < seen.data.min())
    assert beyond.any() == (not stars)
    best = fitted.recommend(int(np.argmax(R.mean(axis=1))), 5, exclude_seen=False)
    assert len(best) == 5
