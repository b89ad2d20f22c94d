"""A checkpoint belongs to its rows, all of them; a finished fit resumes to itself; one fit to a folder."""

import itertools
import multiprocessing
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    PhaseRetrieval,
    RankOneSensing,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.engine.checkpoint import Checkpoint, CheckpointError
from altmin.kernels.digests import digest_rows

TOPICS = make_dir(3000, 40, 4, random_state=0).X
SPARSE = make_sparse_dictionary(3000, 8, density=0.25, random_state=0).X
PLANTED = make_planted_sparse(700, 10, 14, 2, 0.05, random_state=0).X
QUADRATIC = make_quadratic(4000, 8, 1, noise=0.1, random_state=0)
INTENSITIES = np.square(QUADRATIC.X @ np.linspace(1, 2, 8))
LABELS = (QUADRATIC.y > np.median(QUADRATIC.y)).astype(int)

# Fits that end by tol, by max_iter and by the algorithm itself; batches, samples and full passes.
FITS = {
    "AND, tol": (AND(4, threshold=(0.1, 1.05), tol=1e-3), (TOPICS,)),
    "AND, max_iter": (AND(4, threshold=(0.1, 1.05), max_iter=6), (TOPICS,)),
    "AND, sparse": (AND(4, max_iter=6), (sp.csr_array(TOPICS * (TOPICS > 1e-3)),)),
    "AND, batches": (AND(4, batch_size=500, max_iter=20), (TOPICS,)),
    "orthogonal": (OrthogonalDictionaryLearning(tol=1e-4), (SPARSE,)),
    "complete": (CompleteDictionaryLearning(), (SPARSE,)),
    "complete, tol": (CompleteDictionaryLearning(tol=1e-3), (SPARSE,)),
    "online": (OnlineDictionaryLearning(batch_size=300, start_size=900), (SPARSE,)),
    "approximate": (
        ApproximateDictionaryLearning(14, n_nonzero_coefs=2, max_iter=6, tol=1e-2), (PLANTED,),
    ),
    "machine, tol": (FactorizationMachineRegressor(1, tol=1e-3), (QUADRATIC.X, QUADRATIC.y)),
    "machine, batches": (
        FactorizationMachineRegressor(1, batch_size=512, max_iter=12), (QUADRATIC.X, QUADRATIC.y),
    ),
    "classifier": (FactorizationMachineClassifier(1, tol=1e-3), (QUADRATIC.X, LABELS)),
    "sensing": (RankOneSensing(1, tol=1e-3), (QUADRATIC.X, QUADRATIC.y)),
    "phase": (PhaseRetrieval(tol=1e-3), (QUADRATIC.X, INTENSITIES)),
}  # fmt: skip


def clone_of(name, folder):
    from sklearn.base import clone

    model, data = FITS[name]
    return clone(model).set_params(checkpoint=str(folder), random_state=0), data


def numbers(model):
    """Every array and number of a fitted model, but for the time that it took."""
    return {
        key: np.asarray(value.toarray() if sp.issparse(value) else value)
        for key, value in vars(model).items()
        if key.endswith("_") and (isinstance(value, np.ndarray | float | int) or sp.issparse(value))
    }


def assert_same_bits(one, other):
    first, second = numbers(one), numbers(other)
    assert first.keys() == second.keys()
    for key, value in first.items():
        np.testing.assert_array_equal(second[key], value, err_msg=key)
    assert one.outcome_.kind == other.outcome_.kind


@pytest.mark.parametrize("name", FITS)
def test_a_finished_fit_resumes_to_itself(name, tmp_path):
    from sklearn.base import clone

    model, data = clone_of(name, tmp_path / "state")
    once = clone(model).fit(*data)
    for _ in range(2):
        again = clone(model).fit(*data)
        assert again.n_iter_ == once.n_iter_
        assert_same_bits(once, again)


@pytest.mark.parametrize("name", FITS)
def test_one_changed_value_is_noticed(name, tmp_path):
    rng = np.random.default_rng(0)
    model, (X, *y) = clone_of(name, tmp_path / "state")
    model.fit(X, *y)
    changed = X.copy()
    row = rng.integers(X.shape[0])
    if sp.issparse(X):
        changed.data[rng.integers(X.nnz)] *= 1 + 1e-15
    else:
        changed[row, rng.integers(X.shape[1])] *= 1 + 1e-15
    assert (changed != X).sum() == 1
    with pytest.raises(CheckpointError, match="other rows"):
        model.fit(changed, *y)
    if name.startswith(("machine", "sensing", "phase")):
        other = y[0].copy()
        other[row] += 0.5
        with pytest.raises(CheckpointError, match="other rows"):
            model.fit(X, other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_a_change_in_any_block_is_noticed(layout, tmp_path):
    X = make_dir(20_000, 4, 2, random_state=0).X  # three blocks of the grid; five, where it is sparse
    model = AND(2, max_iter=1, random_state=0, checkpoint=tmp_path)
    model.fit(layout(X))
    for row in (0, 5000, 8191, 8192, 13_000, 19_999):
        changed = X.copy()
        changed[row, 2] += 1e-9
        with pytest.raises(CheckpointError, match="other rows"):
            model.fit(layout(changed))


def test_rows_that_change_places_are_noticed(tmp_path):
    model, _ = clone_of("AND, max_iter", tmp_path)
    model.fit(TOPICS)
    swapped = TOPICS.copy()
    swapped[[10, 2000]] = swapped[[2000, 10]]
    with pytest.raises(CheckpointError, match="other rows"):
        model.fit(swapped)


def test_weights_belong_to_the_data(tmp_path):
    model, _ = clone_of("AND, max_iter", tmp_path)
    weight = np.ones(len(TOPICS))
    model.fit(TOPICS, sample_weight=weight)
    weight[7] = 2.0
    with pytest.raises(CheckpointError, match="other rows"):
        model.fit(TOPICS, sample_weight=weight)


def digest(parts, start=0):
    return digest_rows(parts, start)[0]


@pytest.mark.parametrize("kind", ["f8", "f4", "i2", "U3"])
def test_a_digest_is_that_of_the_rows_however_they_are_cut(kind):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 99, (500, 7)).astype(kind)
    whole = digest((X, X[:, 0], None), 3)
    cuts = [0, 1, 200, 499, 500]
    parts = [digest((X[a:b], X[a:b, 0], None), 3 + a) for a, b in itertools.pairwise(cuts)]
    np.testing.assert_array_equal(sum(parts), whole)
    assert digest((X, X[:, 0], None), 4) != whole  # other places
    assert digest((X, None, X[:, 0]), 3) != whole  # another role


def test_signs_that_change_together_change_the_digest():
    """The highest bits of two words must not cancel."""
    X = np.random.default_rng(2).standard_normal((4, 6))
    flipped = X.copy()
    flipped[1, [2, 4]] *= -1
    assert digest((X,)) != digest((flipped,))
    halves = X.astype(np.float32)
    other = halves.copy()
    other[1, [0, 1, 4]] *= -1
    assert digest((halves,)) != digest((other,))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_every_entry_of_a_row_counts_in_its_digest(layout, dtype):
    X = np.round(np.random.default_rng(3).random((5, 9)), 1).astype(dtype)
    seen = {int(digest((layout(X),))[0])}
    for place in np.ndindex(X.shape):
        changed = X.copy()
        changed[place] += 0.5
        seen.add(int(digest((layout(changed),))[0]))
        changed[place] = X[place]
        changed[place[0]] = np.roll(changed[place[0]], 1 + place[1] % 8)
        seen.add(int(digest((layout(changed),))[0]))
    assert len(seen) == 1 + X.size + 5 * 8  # each value, and the eight turns of each row


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_read_that_takes_a_digest_finds_the_largest_magnitude(layout):
    X = np.random.default_rng(4).standard_normal((50, 7))
    for value in (-9.0, 1e-300, np.inf, -np.inf, np.nan):
        X[3, 4] = value
        _, found = digest_rows((layout(X), X[:, 0].astype("f4")), 0)
        np.testing.assert_equal(found[0], np.abs(X).max())
        assert found[1] == np.float32(np.abs(X[:, 0]).max())


@pytest.mark.filterwarnings("ignore")
def test_the_end_of_a_fit_is_in_its_checkpoint(tmp_path, monkeypatch):
    """Seconds included: the second fit didn't iterate again."""
    monkeypatch.setattr(Checkpoint, "due", False)  # nothing else is written
    model = AND(4, threshold=(0.1, 1.02), max_iter=6, random_state=0, checkpoint=tmp_path)
    first = model.fit(TOPICS).history_
    assert model.fit(TOPICS).history_ == first


@pytest.mark.filterwarnings("ignore")
def test_a_folder_in_use_is_refused_and_nothing_in_it_is_deleted(tmp_path):
    pytest.importorskip("fcntl", reason="locks of folders are those of POSIX")
    model = AND(4, max_iter=1, random_state=0, checkpoint=tmp_path)
    other = Checkpoint(tmp_path, "k" * 64)
    unfinished = tmp_path / ".checkpoint-0.altmin.1.tmp"
    unfinished.write_bytes(b"what the other fit is writing")
    with pytest.raises(CheckpointError, match="in use by another fit"):
        model.fit(TOPICS)
    assert unfinished.exists()
    other.close()
    model.fit(TOPICS)
    assert not unfinished.exists()


def _fit_there(folder, ready, sender):
    ready.wait()
    model = AND(4, threshold=(0.1, 1.02), max_iter=150, random_state=0, checkpoint=folder, n_jobs=1)
    try:
        sender.send(("model", model.fit(TOPICS).components_))
    except Exception as error:
        sender.send((type(error).__name__, str(error)))


def test_two_processes_in_one_folder_end_in_models_or_a_clear_error(tmp_path):
    spawn = multiprocessing.get_context("fork")
    ready = spawn.Event()
    pipes = [spawn.Pipe(duplex=False) for _ in range(2)]
    workers = [spawn.Process(target=_fit_there, args=(str(tmp_path), ready, sender)) for _, sender in pipes]
    for worker in workers:
        worker.start()
    ready.set()
    found = [receiver.recv() for receiver, _ in pipes]
    for worker in workers:
        worker.join()
    models = [value for kind, value in found if kind == "model"]
    assert models
    for kind, value in found:
        if kind == "model":
            np.testing.assert_array_equal(value, models[0])
        else:
            assert kind == "CheckpointError"
            assert "in use by another fit" in value


@threadpool_limits.wrap(limits=2)  # there is something to leave alone
def test_fits_in_several_threads_have_the_same_bits_and_leave_blas_alone():
    before = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    expected = AND(4, max_iter=5, random_state=0).fit(TOPICS).components_
    found = [None] * 6

    def fit(number):
        found[number] = AND(4, max_iter=3 + number % 3, random_state=0).fit(TOPICS).components_

    threads = [threading.Thread(target=fit, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found[2], expected)
    np.testing.assert_array_equal(found[5], expected)
    after = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    assert {key: after[key] for key in before} == before


@threadpool_limits.wrap(limits=2)
def test_the_limit_of_one_thread_is_counted():
    from altmin.engine.threads import granted_threads, one_thread

    def threads():
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    free = threads()
    assert free == 2
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == 1
    assert granted_threads() == free
    second.__exit__(None, None, None)
    assert threads() == free
