"""A stream's dictionary is found, followed while it drifts, and found again when it changes."""

import numpy as np
import pytest

from altmin import OnlineDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error

update_preconditioner = pytest.importorskip("altmin_lab.cholesky").update_preconditioner


def blocks(X, size=700):
    return (X[i : i + size] for i in range(0, len(X), size))


@pytest.mark.seeds
def test_a_stream_is_learned_exactly_and_its_cut_leaves_no_trace(seed):
    problem = make_sparse_dictionary(6000, 12, density=0.15, kind="gauss", random_state=seed)
    whole = OnlineDictionaryLearning(random_state=0).fit(problem.X)
    streamed = OnlineDictionaryLearning(random_state=0).fit(blocks(problem.X))
    assert atom_error(whole.components_, problem.components) < 1e-12
    np.testing.assert_array_equal(whole.components_, streamed.components_)
    assert whole.n_samples_seen_ == 6000
    assert whole.n_searches_ == 1


def test_partial_fit_waits_for_whole_windows():
    problem = make_sparse_dictionary(3300, 8, density=0.2, random_state=1)
    model = OnlineDictionaryLearning(batch_size=500, random_state=0)
    for block in blocks(problem.X, 130):
        model.partial_fit(block)
    assert atom_error(model.components_, problem.components) < 1e-12
    assert model.n_samples_seen_ == 3000


def test_nothing_is_fitted_before_the_first_search():
    problem = make_sparse_dictionary(300, 8, density=0.2, random_state=1)
    model = OnlineDictionaryLearning(batch_size=500, random_state=0).partial_fit(problem.X)
    assert not hasattr(model, "components_")
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(problem.X[:, :5])


@pytest.mark.seeds
@pytest.mark.parametrize("snr_db", [None, 20])
def test_a_changed_dictionary_is_found_again(snr_db, seed):
    first, second = (
        make_sparse_dictionary(5000, 12, density=0.15, condition=5, snr_db=snr_db, random_state=number)
        for number in (2 * seed, 2 * seed + 1)
    )
    model = OnlineDictionaryLearning(random_state=0).fit(np.vstack([first.X, second.X]))
    assert atom_error(model.components_, second.components) < (1e-12 if snr_db is None else 0.05)
    assert model.n_searches_ == 2


@pytest.mark.parametrize("snr_db", [None, 20])
def test_a_drifting_dictionary_is_followed(snr_db):
    rng = np.random.default_rng(0)
    A = make_sparse_dictionary(2, 12, condition=5, random_state=3).components
    drift = rng.standard_normal(A.shape) / np.sqrt(A.shape[1])
    stream = []
    for _ in range(25):
        A = A + 2e-3 * drift
        A /= np.linalg.norm(A, axis=1, keepdims=True)
        codes = (rng.random((1000, 12)) < 0.15) * rng.choice([-1.0, 1.0], (1000, 12))
        X = codes @ A
        noise = 0.0 if snr_db is None else 10 ** (-snr_db / 20) * np.sqrt(np.mean(X**2))
        stream.append(X + noise * rng.standard_normal(X.shape))
    model = OnlineDictionaryLearning(memory=10_000, random_state=0).fit(iter(stream))
    assert atom_error(model.components_, A) < (1e-12 if snr_db is None else 0.05)


def test_noise_averages_out_over_the_stream():
    problem = make_sparse_dictionary(24000, 10, density=0.1, condition=3, snr_db=20, random_state=4)
    short = OnlineDictionaryLearning(memory=None, random_state=0).fit(problem.X[:1500])
    long = OnlineDictionaryLearning(memory=None, random_state=0).fit(problem.X)
    early, late = (atom_error(model.components_, problem.components) for model in (short, long))
    assert late < early / 2  # 4 by the square root of the samples


def test_the_preconditioner_stays_white_under_many_updates():
    rng = np.random.default_rng(5)
    n = 20
    A = rng.standard_normal((n, n)) @ np.diag(np.geomspace(1, 0.01, n))
    Y = rng.standard_normal((5000, n)) @ A
    C = Y[:100].T @ Y[:100]
    P = np.linalg.inv(np.linalg.cholesky(C))
    for y in Y[100:]:
        P = update_preconditioner(P, y)
    assert np.abs(P @ (Y.T @ Y) @ P.T - np.eye(n)).max() < 1e-11


def test_memory_does_not_grow_with_the_stream():
    import tracemalloc

    problem = make_sparse_dictionary(1000, 10, density=0.15, random_state=6)

    def peak(n_blocks):
        tracemalloc.start()
        model = OnlineDictionaryLearning(batch_size=500, random_state=0).fit(
            problem.X for _ in range(n_blocks)
        )
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert model.n_samples_seen_ == 1000 * n_blocks
        return size

    peak(3)
    assert peak(40) < 1.2 * peak(10) + 200_000


def test_after_a_change_the_atoms_are_claimed_but_not_that_they_made_all_samples():
    first, second = (make_sparse_dictionary(3000, 8, density=0.15, random_state=number) for number in (2, 3))
    model = OnlineDictionaryLearning(random_state=0).fit(np.vstack([first.X, second.X]))
    report = model.guarantee_
    assert report.verdict == "plausible" and [row.id for row in report.decisive if row.status != "holds"] == [
        "unchanged"
    ]
    assert {factor.verdict for factor in report.factors} == {"recovered"}
    assert model.guarantee(second.X).verdict == "recovered"
    assert OnlineDictionaryLearning(random_state=0).fit(first.X).guarantee_.verdict == "recovered"
