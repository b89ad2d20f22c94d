"""Peeling and sweeps against plain NumPy."""

import numpy as np
import pytest

from altmin import ApproximateDictionaryLearning, load, save
from altmin.algorithms.overcomplete.improve import error_histogram, trimmed_cut
from altmin.algorithms.overcomplete.peeling import peel_codes
from altmin.algorithms.overcomplete.swap_atoms import update_atoms, weak_atoms
from altmin.datasets import make_planted_sparse


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
