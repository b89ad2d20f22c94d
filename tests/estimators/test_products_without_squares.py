"""Laws of products of different columns, small tables, and searches that begin on a sample."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from altmin import FactorizationMachineRegressor, load, save
from altmin.algorithms.quadratic.grow_cut import _worth_it
from altmin.algorithms.quadratic.least_squares import LeastSquares
from altmin.algorithms.quadratic.low_rank import UserModel, without_diagonal
from altmin.datasets import make_quadratic
from altmin.guarantees.machine_rows import difference, jacobian, measure_rows


def products(n, d, seed, *, mix=None, shift=0.0):
    """A true factorization machine: w, and M of rank 2 without its diagonal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X = (X if mix is None else X @ mix) + shift
    V, w = rng.standard_normal((d, 2)), rng.standard_normal(d)
    M = 0.5 * V @ V.T
    np.fill_diagonal(M, 0.0)
    f = X @ w + np.einsum("ij,jk,ik->i", X, M, X)
    return X, f + 0.05 * f.std() * rng.standard_normal(n), M


@pytest.mark.parametrize("correlated", [False, True])
def test_products_without_squares_are_found_and_told_alike_everywhere(tmp_path, correlated):
    d = 10
    mix = np.linalg.cholesky(0.5 * np.eye(d) + 0.5).T if correlated else None
    X, y, M = products(3000, d, 31, mix=mix, shift=2.0)
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(X, y)
    found = fitted.matrix()
    assert np.linalg.norm(found - M) < 0.05 * np.linalg.norm(M)
    assert fitted.diagonal_ is not None and fitted.factors_.shape == (2, d)
    law = fitted.intercept_ + X @ fitted.coef_ + np.einsum("ij,jk,ik->i", X, found, X)
    np.testing.assert_allclose(fitted.predict(X), law, rtol=1e-9)
    assert fitted.interaction(3, 3) == pytest.approx(found[3, 3])
    assert fitted.guarantee_.verdict == "recovered"
    assert "coefficients of their own" in str(fitted.guarantee_)
    save(fitted, tmp_path / "model.altmin")
    np.testing.assert_array_equal(load(tmp_path / "model.altmin").predict(X), fitted.predict(X))


@pytest.mark.parametrize("seed", [100, 101, 103, 107])
def test_two_products_of_separate_columns_are_found(seed):
    # As a matrix the law is of rank 4. A fit of rank 2 can hold one product whole, and what it misses then
    # has no squares at all.
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 10))
    law = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(X, law + 0.1 * rng.standard_normal(300))
    assert np.std(fitted.predict(X) - law) < 0.1 * np.std(law)


def test_a_square_that_factors_can_have_as_well_counts_once():
    # x0 x1 is (c x0 + x1 / c)^2 / 2 and two squares, for any c: the matrix is known, the factor isn't.
    rng = np.random.default_rng(5)
    X = rng.standard_normal((2000, 10))
    y = X[:, 0] * X[:, 1] - 2 * X[:, 2] + 0.1 * rng.standard_normal(2000)
    fitted = FactorizationMachineRegressor(1, random_state=0).fit(X, y)
    assert fitted.diagonal_ is not None and fitted.guarantee_.verdict == "recovered"


def test_derivatives_span_rank_and_squares_without_copies():
    X, F = np.random.default_rng(6).standard_normal((400, 5)), np.array([[1.0, 2.0, 0.0, 0.0, 0.0]])
    J = jacobian(X, F, np.eye(5))
    # 1, x, five squares, and the factor times x: of these five the two along x0 and x1 say the same.
    tangent = np.hstack([np.ones((400, 1)), X, X**2, (X @ F.T) * X])
    assert J.shape[1] == np.linalg.matrix_rank(J) == np.linalg.matrix_rank(tangent) == 15
    inside = J @ np.linalg.lstsq(J, tangent, rcond=None)[0]
    np.testing.assert_allclose(inside, tangent, atol=1e-10)


def test_squares_stay_in_the_matrix_of_a_plain_law():
    planted = make_quadratic(3000, 10, 2, mixed_signs=True, noise=0.1, random_state=5)
    assert FactorizationMachineRegressor(2, random_state=0).fit(planted.X, planted.y).diagonal_ is None


def test_a_stream_goes_on_with_the_squares_of_the_fit():
    X, y, _ = products(6000, 8, 33)
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(X[:3000], y[:3000])
    before = np.mean((fitted.predict(X[5000:]) - y[5000:]) ** 2)
    fitted.partial_fit(X[3000:5000], y[3000:5000])
    assert np.mean((fitted.predict(X[5000:]) - y[5000:]) ** 2) < 1.5 * before


def test_the_diagonal_is_filled_in():
    U = np.random.default_rng(2).standard_normal((30, 5))
    M = U @ U.T  # without its diagonal the fifth eigenvalue is smaller than negative ones
    values, vectors = without_diagonal(M - np.diag(np.diag(M)), 5)
    np.testing.assert_allclose((vectors * values) @ vectors.T, M, atol=1e-3 * np.abs(M).max())


def test_squares_must_be_worth_their_number():
    def said(loss):
        return _worth_it(SimpleNamespace(n=1000.0, before=(None, None, 1.0), loss=loss), 10)

    assert (
        not said(np.exp(-0.0069)) and not said(np.exp(-0.068)) and said(np.exp(-0.07))
    )  # 10 log(1000) / 1000


def test_reports_see_squares_that_are_off():
    X, y, _ = products(1500, 6, 34)
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(X, y)
    lens, model = fitted._state.lens, fitted._model
    off = replace(model, diagonal=model.diagonal + 0.1 * np.linalg.norm(fitted.matrix()) * np.eye(6)[0])
    assert measure_rows(lens, model, X, y, 1500.0).step < 1e-4
    assert measure_rows(lens, off, X, y, 1500.0).step > 0.05


def test_reports_compare_squares_too():
    def model(own):
        return UserModel(np.ones(3), 0.0, np.ones(3), np.eye(3)[:1], np.array([2.0]), own)

    unit, own = np.ones(3), np.array([0.0, 3.0, 0.0])
    # About the shared centre only the second square differs, by 3; w and M have norm sqrt(3 + 4).
    assert difference(model(None), model(own), unit) == pytest.approx(3 / np.sqrt(4 + 3))
    assert difference(model(own), model(own), unit) == 0
    moved = UserModel(np.zeros(3), 0.0, np.array([1.0, 1.0 - 6.0, 1.0]) - [4, 0, 0], np.eye(3)[:1],
                      np.array([2.0]), own)  # fmt: skip
    assert difference(model(own), moved, unit) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(100, 104))
def test_few_rows_of_noise_are_not_explained(seed):
    rng = np.random.default_rng(seed)
    X, y, new = rng.standard_normal((25, 7)), rng.standard_normal(25), rng.standard_normal((300, 7))
    values = FactorizationMachineRegressor(random_state=0).fit(X, y).predict(new)
    assert np.mean((values - y.mean()) ** 2) < y.var()


def test_many_rows_are_searched_by_a_sample_and_confirmed_by_all():
    planted = make_quadratic(4000, 6, 1, noise=0.3, random_state=7)
    fitted = FactorizationMachineRegressor(1, random_state=0).fit(planted.X, planted.y)
    rows = [row["rows"] for row in fitted.history_]
    assert rows[0] < 1000 and rows[-1] == 4000
    r = planted.y - fitted.predict(planted.X)
    u = planted.X @ fitted.factors_[0]
    gradient = np.column_stack([np.ones(4000), planted.X, u[:, None] * planted.X]).T @ r
    assert np.abs(gradient).max() < 1e-3 * np.linalg.norm(r)  # a minimum over all rows, not the sample's


def test_a_fit_that_is_stopped_keeps_free_squares_that_are_worth_it(monkeypatch):
    stages = []
    judge_step = LeastSquares.judge_step

    def watched(algorithm, state, stats):
        stages.append(state.stage)
        return judge_step(algorithm, state, stats)

    monkeypatch.setattr(LeastSquares, "judge_step", watched)
    X, y, M = products(3000, 10, 31)
    FactorizationMachineRegressor(2, random_state=0).fit(X, y)
    freed = [step for step, stage in enumerate(stages, 1) if stage == "freed"]
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        stopped = FactorizationMachineRegressor(2, max_iter=freed[-2], random_state=0).fit(X, y)
    assert stopped.diagonal_ is not None
    assert np.linalg.norm(stopped.matrix() - M) < 0.05 * np.linalg.norm(M)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        early = FactorizationMachineRegressor(2, max_iter=freed[0], random_state=0).fit(X, y)
    assert early.diagonal_ is None


def test_all_rows_are_reached_from_a_sample_without_second_derivatives_of_their_own(monkeypatch):
    seen = []
    judge_step = LeastSquares.judge_step

    def watched(algorithm, state, stats):
        seen.append((stats["n"], "JJ" in stats))
        return judge_step(algorithm, state, stats)

    monkeypatch.setattr(LeastSquares, "judge_step", watched)
    planted = make_quadratic(6000, 8, 2, mixed_signs=True, noise=0.3, random_state=4)
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(planted.X, planted.y)
    assert any(n < 6000 and formed for n, formed in seen)
    assert not any(formed for n, formed in seen if n == 6000)
    r = planted.y - fitted.predict(planted.X)  # least squares of all rows: nothing of the model is left
    for term in (np.ones(6000), planted.X @ fitted.factors_[0], planted.X @ fitted.factors_[1]):
        assert abs(np.corrcoef(r, term + planted.X[:, 0])[0, 1]) < 1e-4
        assert abs(np.corrcoef(r, np.square(term) + planted.X[:, 0])[0, 1]) < 1e-4
