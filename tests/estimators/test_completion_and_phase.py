"""Matrix completion and phase retrieval: recovery, new rows, ids alone, streams, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

import altmin
from altmin import InductiveMatrixCompletion, PhaseRetrieval
from altmin.algorithms.quadratic.phase import distance


def features(rng, n, d):
    """Correlated binary features."""
    return ((rng.random((n, d)) < 0.3) | (rng.random((n, 1)) < 0.3)).astype(float)


@pytest.fixture
def ratings():
    rng = np.random.default_rng(0)
    A, B = features(rng, 200, 10), features(rng, 150, 8)
    M = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 8))
    R = A @ M @ B.T
    seen = rng.random(R.shape) < 0.1
    seen[180:] = False
    rows, columns = np.nonzero(seen)
    return A, B, R, sp.csr_array((R[seen], (rows, columns)), shape=R.shape)


def test_binary_correlated_features_recover_and_predict_new_rows(ratings):
    A, B, R, observed = ratings
    model = InductiveMatrixCompletion(2, random_state=0).fit(observed[:180], A[:180], B)
    assert np.abs(model.complete(A[180:]) - R[180:]).max() < 1e-8
    np.testing.assert_allclose(model.predict([3, 4], [5, 6]), R[[3, 4], [5, 6]], atol=1e-8)


def test_recommendations_leave_out_what_was_seen(ratings):
    A, B, R, observed = ratings
    model = InductiveMatrixCompletion(2, random_state=0).fit(observed, A, B)
    best = model.recommend(7, 5)
    assert not set(best) & set(observed[[7], :].indices)
    allowed = np.setdiff1d(np.arange(R.shape[1]), observed[[7], :].indices)
    np.testing.assert_allclose(R[7, best], np.sort(R[7, allowed])[::-1][:5], atol=1e-8)


def test_ids_alone_complete_a_low_rank_matrix():
    rng = np.random.default_rng(1)
    R = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 60)) + rng.standard_normal((80, 1)) + 2
    seen = rng.random(R.shape) < 0.4
    model = InductiveMatrixCompletion(2, random_state=0).fit(
        sp.csr_array((R[seen], np.nonzero(seen)), shape=R.shape)
    )
    assert np.sqrt(np.mean((model.complete() - R)[~seen] ** 2)) < 0.1 * R.std()
    with pytest.raises(ValueError, match="ids alone"):
        model.complete(np.ones((2, 3)))


def test_completion_survives_a_file(ratings, tmp_path):
    A, B, _, observed = ratings
    model = InductiveMatrixCompletion(2, random_state=0).fit(observed, A, B)
    altmin.save(model, tmp_path / "m.altmin")
    np.testing.assert_array_equal(altmin.load(tmp_path / "m.altmin").recommend(3), model.recommend(3))


def test_completion_refuses_what_it_cannot_read(ratings):
    A, B, R, observed = ratings
    with pytest.raises(ValueError, match="sparse"):
        InductiveMatrixCompletion(2).fit(R)
    with pytest.raises(ValueError, match="row_features has 200 rows"):
        InductiveMatrixCompletion(2).fit(observed[:180], A, B)
    with pytest.raises(ValueError, match="nothing was observed"):
        InductiveMatrixCompletion(2).fit(sp.csr_array((4, 4)))
    fitted = InductiveMatrixCompletion(2, random_state=0).fit(observed, A, B)
    with pytest.raises(ValueError, match="columns"):
        fitted.predict([0], [150])


def problem(seed, d, n, is_complex):
    rng = np.random.default_rng(seed)
    draw = (
        (lambda *s: rng.standard_normal(s) + 1j * rng.standard_normal(s))
        if is_complex
        else (lambda *s: rng.standard_normal(s))
    )
    s, X = draw(d), draw(n, d)
    return s, X, np.abs(X @ s) ** 2


def relative(model, s):
    return distance(model.signal_, s) / np.linalg.norm(s)


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_six_rows_a_dimension_are_enough_to_find_the_signal(seed, is_complex):
    s, X, y = problem(seed, 40, 6 * 40, is_complex)
    model = PhaseRetrieval(random_state=seed).fit(X, y)
    assert relative(model, s) < 1e-8
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("is_complex", [False, True])
def test_a_stream_is_read_once(is_complex):
    s, X, y = problem(5, 30, 36 * 360, is_complex)
    blocks = ((X[i : i + 500], y[i : i + 500]) for i in range(0, len(X), 500))
    assert relative(PhaseRetrieval(random_state=0).fit(blocks), s) < 1e-8
    online = PhaseRetrieval(random_state=0)
    for i in range(0, len(X), 1000):
        online.partial_fit(X[i : i + 1000], y[i : i + 1000])
    assert relative(online, s) < 1e-4


def test_intensities_below_zero_on_average_are_refused():
    with pytest.raises(ValueError, match="mean of the intensities"):
        PhaseRetrieval().fit(np.eye(4), np.array([1.0, 2.0, -3.0, -1.0]))


def test_signal_scale_carries_over():
    s, X, y = problem(1, 10, 100, False)
    for scale in (1e-70, 1e70):
        assert distance(PhaseRetrieval(random_state=0).fit(X, y * scale**2).signal_ / scale, s) < 1e-8
