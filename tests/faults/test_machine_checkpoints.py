"""A machine that was stopped goes on to the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import FactorizationMachineRegressor, PhaseRetrieval
from altmin.algorithms.sparse.machine_maps import field_map
from altmin.datasets import make_quadratic
from altmin.engine.checkpoint import Checkpoint


@pytest.mark.parametrize("batch_size", ["auto", 300])
def test_a_fit_resumes_to_the_same_bits(tmp_path, batch_size):
    problem = make_quadratic(3000, 8, 2, noise=0.1, random_state=0)
    settings = {"batch_size": batch_size, "random_state": 0, "tol": 0.0}
    whole = FactorizationMachineRegressor(2, max_iter=9, **settings).fit(problem.X, problem.y)
    place = tmp_path / "state"
    FactorizationMachineRegressor(2, max_iter=4, checkpoint=place, **settings).fit(problem.X, problem.y)
    resumed = FactorizationMachineRegressor(2, max_iter=9, checkpoint=place, **settings)
    resumed.fit(problem.X, problem.y)
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)
    assert [row["loss"] for row in resumed.history_] == [row["loss"] for row in whole.history_]


def one_hot_rows(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.column_stack([rng.integers(0, 40, n), rng.integers(40, 70, n), rng.integers(70, 75, n)])
    X = sp.csr_array((np.ones(3 * n), columns.ravel(), np.arange(0, 3 * n + 1, 3)), shape=(n, 75))
    P = rng.standard_normal((75, 2))
    return X, np.sum(P[columns[:, 0]] * P[columns[:, 1]], axis=1) + 0.1 * rng.standard_normal(n)


class Killed(BaseException):
    pass


def test_a_one_hot_fit_that_was_killed_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    X, y = one_hot_rows()
    whole = FactorizationMachineRegressor(2, random_state=0).fit(X, y)
    monkeypatch.setattr(Checkpoint, "due", True)
    rounds = []

    def dies(*arguments):
        rounds.append(arguments)
        if len(rounds) == 50:
            raise Killed
        return field_map(*arguments)

    monkeypatch.setattr("altmin.algorithms.sparse.machine.field_map", dies)
    model = FactorizationMachineRegressor(2, random_state=0, checkpoint=tmp_path, n_jobs=1)
    with pytest.raises(Killed):
        model.fit(X, y)
    monkeypatch.setattr("altmin.algorithms.sparse.machine.field_map", field_map)
    resumed = FactorizationMachineRegressor(2, random_state=0, checkpoint=tmp_path).fit(X, y)
    np.testing.assert_array_equal(resumed.factors_, whole.factors_)
    assert [row["loss"] for row in resumed.history_] == [row["loss"] for row in whole.history_]
    assert all(np.isfinite(row["change"]) for row in whole.history_)
    assert whole.outcome_.kind == "converged"


def test_one_hot_rows_of_a_file_give_the_bits_of_the_array(tmp_path, monkeypatch):
    X, y = one_hot_rows()
    dense = X.toarray()
    np.save(tmp_path / "X.npy", dense)
    monkeypatch.setattr("altmin.engine.cursor.BESIDE_FILES_BYTES", 1000)  # columns go to disk as well
    in_memory = FactorizationMachineRegressor(2, random_state=0).fit(dense, y)
    from_file = FactorizationMachineRegressor(2, random_state=0).fit(tmp_path / "X.npy", y)
    np.testing.assert_array_equal(from_file.factors_, in_memory.factors_)


def test_a_checkpoint_of_other_parameters_is_refused(tmp_path):
    problem = make_quadratic(500, 5, 1, random_state=0)
    FactorizationMachineRegressor(1, checkpoint=tmp_path / "s", random_state=0).fit(problem.X, problem.y)
    with pytest.raises(ValueError, match="another problem"):
        FactorizationMachineRegressor(2, checkpoint=tmp_path / "s", random_state=0).fit(problem.X, problem.y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_value_in_a_stream_is_named(bad):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 3)), rng.random(400)
    X[321, 2] = bad
    blocks = ((X[i : i + 50], y[i : i + 50]) for i in range(0, 400, 50))
    with pytest.raises(ValueError, match="row 321, column 2"):
        FactorizationMachineRegressor(1, batch_size=100).fit(blocks)
    with pytest.raises(ValueError, match="row 321, column 2"):
        PhaseRetrieval().fit(X, y)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_gives_a_finite_model(n):
    X, y = np.arange(3.0 * n).reshape(n, 3), np.arange(float(n))
    values = FactorizationMachineRegressor(2, random_state=0).fit(X, y).predict(X)
    assert np.isfinite(values).all()


def test_constant_targets_give_a_constant_model():
    X = np.random.default_rng(0).standard_normal((50, 4))
    model = FactorizationMachineRegressor(2, random_state=0).fit(X, np.full(50, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0)
