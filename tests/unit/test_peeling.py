"""Peeling and sweeps against plain NumPy."""

import numpy as np
import pytest

from altmin import ApproximateDictionaryLearning, load, save
from altmin.algorithms.overcomplete import improve
from altmin.algorithms.overcomplete.approximate import ApproximateDictionary
from altmin.algorithms.overcomplete.improve import error_histogram, trimmed_cut
from altmin.algorithms.overcomplete.peeling import peel_codes
from altmin.algorithms.overcomplete.peeling_sizes import practical_plan
from altmin.algorithms.overcomplete.swap_atoms import update_atoms, weak_atoms
from altmin.contract import Block, Info
from altmin.datasets import make_planted_sparse
from altmin.kernels.peel import refit_codes


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_peeled_rows_are_residuals_of_the_projection():
    rng = np.random.default_rng(0)
    U, D = unit(rng.standard_normal((50, 12))), unit(rng.standard_normal((20, 12)))
    atoms, codes, counts = peel_codes(U, D, 0.05, 6)
    for x, support, y, k in zip(U, atoms, codes, counts, strict=True):
        left, chosen = x.copy(), []
        for a in range(20):
            if len(chosen) < 6 and (left @ D[a]) ** 2 >= 0.05:
                chosen.append(a)
                left = x - np.linalg.lstsq(D[chosen].T, x, rcond=None)[0] @ D[chosen]
        assert chosen == support[:k].tolist()
        np.testing.assert_allclose(x - y[:k] @ D[support[:k]], left, atol=1e-12)


def test_update_of_the_atoms_never_raises_the_error():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((80, 10)), rng.standard_normal((80, 6)) * (rng.random((80, 6)) < 0.5)
    Y[:, 5] = 0
    A = unit(rng.standard_normal((6, 10)))
    after = update_atoms(A, Y.T @ Y, Y.T @ X, 3)
    assert np.sum((X - Y @ after) ** 2) <= np.sum((X - Y @ A) ** 2)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1)
    np.testing.assert_array_equal(after[5], A[5])
    for j in (*range(5), *range(5), *range(5)):  # each fits what the others leave best
        own = Y[:, j] @ (X - Y @ A + np.outer(Y[:, j], A[j]))
        A[j] = own / np.linalg.norm(own)
    np.testing.assert_allclose(after, A, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_refitted_codes_are_least_squares_on_their_supports(dtype):
    rng = np.random.default_rng(3)
    D = unit(rng.standard_normal((9, 6))).astype(dtype)
    D[4] = D[3]
    X, counts = rng.standard_normal((40, 6)).astype(dtype), rng.integers(0, 5, 40)
    atoms = np.array([rng.choice(9, 4, replace=False) for _ in X])
    atoms[7], counts[7] = [3, 4, 0, 1], 3  # twice the same direction
    codes = refit_codes(X, D, D @ D.T, atoms, counts)
    assert codes.dtype == dtype and codes[7, 1] == 0
    for x, used, y, k in zip(X, atoms, codes, counts, strict=True):
        best = x - np.linalg.lstsq(D[used[:k]].T, x, rcond=None)[0] @ D[used[:k]]
        np.testing.assert_allclose(x - y[:k] @ D[used[:k]], best, atol=1e-10 if dtype == np.float64 else 1e-5)
        assert not y[k:].any()


def test_a_sweep_ends_with_codes_fitted_again_to_its_atoms():
    X = make_planted_sparse(400, 12, 16, 2, 0.05, random_state=0).X
    start = unit(np.random.default_rng(4).standard_normal((16, 12)))
    how = ApproximateDictionary(practical_plan(16, 2, 400), improve.SweepPlan(2), start=start)
    state = how.init(Info(12, X.dtype, 400), 0)
    names, columns, errors = [], {}, []
    for _ in range(5):
        step = how.next_round(state)
        found = step.map(how, state, Block(0, 0, X, columns=columns))
        stats, columns = found if step.writes else (found, columns)
        state = step.then(state, stats)
        names.append(step.name)
        if columns:
            used, counts, w = (columns[name] for name in improve.SUPPORTS)
            U, D = unit(X), state.sweep.atoms
            codes = refit_codes(U, D, D @ D.T, used, counts)
            left = U - np.einsum("rk,rkf->rf", codes, D[used])
            errors.append(float(w @ np.sum(left**2, axis=1)))
    assert names == ["norms", "sweep", "refit", "sweep", "refit"]
    assert errors[1] < 0.97 * errors[0] and errors[3] < 0.97 * errors[2]


def test_a_swap_that_takes_atoms_away_is_followed_by_a_pursuit_as_supports_name_others():
    plan, atoms = improve.SweepPlan(2, swap_every=1), unit(np.random.default_rng(5).standard_normal((4, 3)))
    sums = {"G": np.diag([4.0, 3.0, 2.0, 1.0]), "B": atoms, "left": 1.0, "total": 4.0}
    joined = improve.SweepState(atoms, atoms[:3], extra=1)
    assert not improve.sweep_update(plan, joined, sums).refit
    failed = improve.SweepState(atoms, atoms, best_error=0.2, before_swap=0.2, swapped=1)
    assert not improve.sweep_update(plan, failed, sums).refit
    resting = improve.SweepState(atoms, atoms, failures=2)
    assert improve.sweep_update(plan, resting, sums).refit


def test_only_one_of_two_doubles_is_given_up():
    atoms = np.vstack([np.eye(4), np.eye(4)[:1]])
    weak = weak_atoms(atoms, np.array([3.0, 5.0, 5.0, 4.0, 3.0]), 2)
    assert weak.tolist() == [0, 3]


def test_cut_leaves_out_the_asked_share():
    left = np.random.default_rng(2).random(5000) ** 3
    cut = trimmed_cut(error_histogram(left), 0.2)
    assert np.mean(left > cut) == pytest.approx(0.2, abs=0.02)


def test_codes_are_those_of_transform_and_in_the_units_of_the_data():
    X = 1e4 * make_planted_sparse(300, 12, 16, 2, random_state=0).X
    model = ApproximateDictionaryLearning(16, n_nonzero_coefs=2, random_state=0)
    codes = model.fit_transform(X)
    np.testing.assert_allclose(codes, model.codes_.toarray(), rtol=1e-9, atol=1e-9)
    left = X - model.inverse_transform(codes)
    assert np.linalg.norm(left) == pytest.approx(model.reconstruction_err_)
    assert (np.count_nonzero(codes, axis=1) <= 2).all()
    squares = np.sum(left**2, axis=1) / np.sum(X**2, axis=1)
    np.testing.assert_allclose(model.outlier_scores_, squares, atol=1e-9)


def test_target_error_grows_the_dictionary():
    X = make_planted_sparse(800, 12, 24, 2, 0.01, random_state=1).X
    model = ApproximateDictionaryLearning(n_nonzero_coefs=2, target_error=0.05, random_state=0).fit(X)
    assert model.relative_error_ <= 0.05
    assert 12 < len(model.components_) <= 96


def test_model_file_keeps_everything(tmp_path):
    X = make_planted_sparse(200, 10, 12, 2, random_state=2).X
    model = ApproximateDictionaryLearning(12, n_nonzero_coefs=2, contamination=0.1, random_state=0).fit(X)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.guarantee_.verdict == model.guarantee_.verdict
