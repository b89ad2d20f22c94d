"""What a user of the factorization machine relies on."""

import numpy as np
import pytest
import scipy.sparse as sp

import altmin
from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic


@pytest.fixture
def problem():
    return make_quadratic(3000, 12, 2, mixed_signs=True, intercept=2.0, noise=0.1, random_state=0)


def model(**parameters):
    return FactorizationMachineRegressor(2, random_state=0, **parameters)


def test_attributes_speak_of_the_users_columns(problem):
    scale, shift = np.geomspace(1e-3, 1e3, 12), np.linspace(-5, 5, 12)
    X = problem.X * scale + shift * scale
    fitted = model().fit(X, problem.y)
    by_hand = fitted.intercept_ + X @ fitted.coef_ + np.einsum("ij,jk,ik->i", X, fitted.matrix(), X)
    np.testing.assert_allclose(fitted.predict(X), by_hand, rtol=1e-6, atol=1e-6)
    truth = (problem.factors.T * problem.eigenvalues) @ problem.factors
    np.testing.assert_allclose(fitted.matrix() * np.outer(scale, scale), truth, atol=0.05)
    assert fitted.interaction(1, 4) == pytest.approx(2 * fitted.matrix()[1, 4])
    assert fitted.interaction(3, 3) == pytest.approx(fitted.matrix()[3, 3])


def test_target_scale_carries_over(problem):
    plain, scaled = model().fit(problem.X, problem.y), model().fit(problem.X, 1e145 * problem.y)
    np.testing.assert_allclose(scaled.predict(problem.X), 1e145 * plain.predict(problem.X), rtol=1e-6)
    tiny = model().fit(1e-145 * problem.X, problem.y)
    np.testing.assert_allclose(tiny.predict(1e-145 * problem.X), plain.predict(problem.X), rtol=1e-6)


def test_sparse_equals_dense(problem):
    X = problem.X * (np.random.default_rng(0).random(problem.X.shape) < 0.3)
    y = problem.intercept + X @ problem.coef
    dense, sparse = model().fit(X, y), model().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), dense.predict(X), atol=1e-8)


def test_float32_stays_float32(problem):
    fitted = model().fit(problem.X.astype(np.float32), problem.y.astype(np.float32))
    assert fitted.predict(problem.X.astype(np.float32)).dtype == np.float32
    assert fitted.score(problem.X, problem.y) > 0.99


def test_weights_count_rows(problem):
    weight = np.random.default_rng(1).integers(0, 3, len(problem.y))
    weighted = model().fit(problem.X, problem.y, sample_weight=weight)
    repeated = model().fit(problem.X.repeat(weight, axis=0), problem.y.repeat(weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_a_stream_of_blocks_is_read_once():
    rng = np.random.default_rng(0)
    planted = make_quadratic(1, 20, 2, random_state=0)

    def blocks():
        for _ in range(60):
            X = rng.standard_normal((500, 20))
            yield X, X @ planted.coef + np.square(X @ planted.factors.T) @ planted.eigenvalues

    fitted = model(batch_size=1000).fit(blocks())
    assert planted.error(fitted.coef_, fitted.factors_, fitted.eigenvalues_) < 1e-8
    assert fitted.outcome_.kind in ("end_of_stream", "converged")


def test_partial_fit_learns_from_chunks_of_any_size():
    planted = make_quadratic(12000, 10, 2, mixed_signs=True, random_state=5)
    fitted = model()
    for start in range(0, 12000, 97):
        fitted.partial_fit(planted.X[start : start + 97], planted.y[start : start + 97])
    assert planted.error(fitted.coef_, fitted.factors_, fitted.eigenvalues_) < 1e-3


def test_partial_fit_survives_single_rows():
    planted = make_quadratic(30, 3, 1, random_state=5)
    fitted = model()
    for x, y in zip(planted.X, planted.y, strict=True):
        fitted.partial_fit(x[None, :], [y])
    assert np.isfinite(fitted.predict(planted.X)).all()


def test_binary_columns_are_named(problem):
    X = problem.X.copy()
    X[:, 3] = X[:, 3] > 0
    X[:, 7] = 4.0
    assert model().fit(X, problem.y).unidentified_.tolist() == [3, 7]


def test_a_hostile_table_is_never_worse_than_the_linear_model():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_cauchy((2000, 3)), rng.integers(0, 2, (2000, 3)), np.ones(2000)])
    y = np.sign(X[:, 0]) + X[:, 4] + 0.1 * rng.standard_normal(2000)
    fitted = model().fit(X, y)
    design = np.column_stack([np.ones(2000), X])
    linear = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.mean((fitted.predict(X) - y) ** 2) <= 1.01 * np.mean(linear**2)


def test_saved_models_predict_the_same(problem, tmp_path):
    fitted = model().fit(problem.X, problem.y)
    altmin.save(fitted, tmp_path / "fm.altmin")
    loaded = altmin.load(tmp_path / "fm.altmin")
    np.testing.assert_array_equal(loaded.predict(problem.X), fitted.predict(problem.X))
    loaded.partial_fit(problem.X, problem.y)


def test_nan_is_named_and_leaves_the_model_as_it_was(problem):
    fitted = model().fit(problem.X, problem.y)
    before = fitted.coef_.copy()
    X = problem.X.copy()
    X[1234, 5] = np.nan
    with pytest.raises(ValueError, match="row 1234, column 5"):
        fitted.fit(X, problem.y)
    np.testing.assert_array_equal(fitted.coef_, before)


def test_a_stream_without_targets_is_refused():
    with pytest.raises(ValueError, match="target"):
        model().fit(iter([np.ones((5, 2))]))


def ratings(n_users=60, n_items=40, n=1500, seed=0):
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(n_users * n_items)[:n]
    users, items = pairs // n_items, pairs % n_items
    P, Q = rng.standard_normal((n_users, 2)), rng.standard_normal((n_items, 2))
    bias = rng.standard_normal(n_users)
    return users, items, 3 + bias[users] + np.sum(P[users] * Q[items], axis=1)


def test_one_hot_columns_are_found_and_learned_by_sweeps():
    users, items, y = ratings()
    X = sp.hstack([sp.csr_array(np.eye(60)[users]), sp.csr_array(np.eye(40)[items])], format="csr")
    fitted = model().fit(X[:1200], y[:1200])
    assert fitted.score(X[1200:], y[1200:]) > 0.8
    assert {row["phase"] for row in fitted.history_} == {"sweep"}
    by_hand = fitted.intercept_ + X @ fitted.coef_
    by_hand += np.einsum("ij,jk,ik->i", X.toarray(), fitted.matrix(), X.toarray())
    np.testing.assert_allclose(fitted.predict(X), by_hand, atol=1e-9)


def test_frames_with_categories_are_encoded():
    pd = pytest.importorskip("pandas")
    users, items, y = ratings()
    frame = pd.DataFrame({"user": [f"u{i}" for i in users], "item": pd.Categorical(items)})
    fitted = model().fit(frame[:1200], y[:1200])
    assert fitted.score(frame[1200:], y[1200:]) > 0.8
    assert len(fitted.encoded_names_) == len(fitted.coef_)
    frame.loc[0, "user"] = "never seen"
    assert np.isfinite(fitted.predict(frame[:1])).all()


def test_sorted_tables_do_no_harm():
    problem = make_quadratic(45000, 6, 2, mixed_signs=True, random_state=0)
    order = np.argsort(problem.y)
    fitted = model().fit(problem.X[order], problem.y[order])
    assert problem.error(fitted.coef_, fitted.factors_, fitted.eigenvalues_) < 1e-8


def test_batches_without_weight_are_passed_over(problem):
    weight = np.ones(3000)
    weight[1000:2000] = 0
    blocks = [
        (problem.X[i : i + 500], problem.y[i : i + 500], weight[i : i + 500]) for i in range(0, 3000, 500)
    ]
    fitted = model(batch_size=500).fit(iter(blocks))
    assert fitted.score(problem.X, problem.y) > 0.95
    with pytest.raises(ValueError, match=r"(?i)weight"):
        model().fit(problem.X, problem.y, sample_weight=np.zeros(3000))


def test_columns_that_add_up_to_another_one_end_no_fit():
    """Buildings of twelve shapes: the surface is that of walls and two roofs, J'J has few digits."""
    rng = np.random.default_rng(13)
    shape = rng.integers(12, size=300)
    wall, roof = rng.integers(5, 9, size=12) * 49.0, rng.choice([110.25, 122.5, 147.0, 220.5], 12)
    tall = np.where(roof > 150, 3.5, 7.0)
    surface = wall + 2 * roof
    shapes = np.column_stack([100 * tall / surface, surface, wall, roof, tall])[shape]
    others = [rng.integers(2, 6, 300), rng.choice([0, 0.1, 0.25, 0.4], 300), rng.integers(0, 6, 300)]
    X = np.column_stack([shapes, *others])
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 6 * S[:, 4] + S[:, 2] + 2 * S[:, 6] + np.exp(S[:, 0] / 2) + 0.3 * S[:, 4] * S[:, 6]
    y += np.sin(3 * S[:, 1]) + 0.05 * rng.standard_normal(300)
    for rank in (2, 3, 4):
        model = FactorizationMachineRegressor(rank, random_state=0).fit(X, y)
        report = model.guarantee(X, y, effort="full")
        assert model.loss_ < 0.01
        assert any(row.id == "identifiable" and row.status != "holds" for row in report.decisive)
