"""What a state says of itself, and where loops end: states made by hand, one step, the state after it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import altmin
from altmin.algorithms.dictionary.complete import Complete
from altmin.algorithms.dictionary.online import changed_atoms
from altmin.algorithms.dictionary.starts import (
    TIED,
    Candidate,
    L1Sums,
    Progress,
    Search,
    agree,
    alike,
    contrast_of,
    distinct_directions,
    l1_step,
    mean_absolute,
    n_steps,
    nearest_rotation,
    penalty,
    random_rotation,
    unit_rows,
)
from altmin.algorithms.quadratic.guarded_steps import accept, batch_noise, loss_of, take_back
from altmin.algorithms.quadratic.low_rank import Quadratic, symmetric_eigen
from altmin.contract import All, Done, Next, Round, record
from altmin.datasets import make_sparse_dictionary
from altmin.docstrings import fill_function
from altmin.engine import Settings, open_source, run
from altmin.estimators.nonnegative.missing import with_holes
from altmin.estimators.quadratic.reservoir import Reservoir
from altmin.estimators.quadratic.shared import is_sparse_table, reads_again
from altmin.io.buffers import _LEAST_BYTES, Buffers
from altmin.kernels.polar import polar

RNG = np.random.default_rng(0)
TURNED = np.linalg.qr(RNG.standard_normal((4, 4)))[0]


def candidate(atoms, kind="huber 1", score=1.0, prior=None, exact=False):
    return Candidate(kind, None, atoms, None, None, score, 0.1, exact, prior)


# --- starts of dictionaries ----------------------------------------------------------------------------


def test_two_rotations_agree_up_to_order_and_sign():
    other = TURNED[[2, 0, 3, 1]] * np.array([1, -1, -1, 1])[:, None]
    assert agree(TURNED, 3 * other)
    doubled = other.copy()
    doubled[0] = doubled[1]
    assert not agree(TURNED, doubled)
    assert not agree(doubled, TURNED)
    angle = np.arccos(0.95)
    near = np.vstack([np.cos(angle) * TURNED[0] + np.sin(angle) * TURNED[1], TURNED[1:]])
    assert agree(TURNED, near)
    assert agree(TURNED, near, 0.949)
    assert not agree(TURNED, near, 0.96)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("huber 0.5", ("huber", 0.5)), ("bank 12", ("huber", 0.5)), ("cube", ("cube", 0.0))],
)
def test_contrasts_by_their_kind(kind, expected):
    assert contrast_of(kind) == expected


def test_penalties_fall_geometrically_and_stay():
    assert n_steps("l1 0.3 0.1 600") == 600
    found = [penalty("l1 0.4 0.1 10", step) for step in (0, 5, 10, 20)]
    np.testing.assert_allclose(found, [0.4, 0.2, 0.1, 0.1])


def test_how_many_starts_led_to_the_best_one():
    """Exact: whole dictionaries; with noise each atom may come from other starts."""
    half = TURNED.copy()
    half[2:] = np.linalg.qr(RNG.standard_normal((4, 4)))[0][2:]
    best = candidate(TURNED)
    assert Search().agreeing == 0
    assert Search(found=(best, candidate(-TURNED[::-1]), candidate(half)), best=best).agreeing == 2
    noisy = candidate(TURNED, prior="prior", score=5.0)
    other = TURNED.copy()
    other[:2] = half[2:]
    tied = candidate(TURNED, prior="prior", score=5.0 - 0.5 * TIED)
    worse = candidate(TURNED, prior="prior", score=5.0 - 2 * TIED)
    assert Search(found=(noisy, tied), best=noisy).agreeing == 2
    assert Search(found=(noisy, candidate(half)), best=noisy).agreeing == 1
    assert Search(found=(noisy, candidate(half), candidate(other)), best=noisy).agreeing == 2
    assert alike(tied, noisy) and not alike(worse, noisy)
    assert alike(replace(worse, score=-9.0), best)  # without noise the score has no say


def test_agreement_says_something_across_kinds_of_search():
    best, far = candidate(TURNED), candidate(np.linalg.qr(RNG.standard_normal((4, 4)))[0], "l1 0.1 0.1 9")
    same = replace(best, kind="l1 0.1 0.1 9")

    def trusted(*found, of=best):
        return Search(found=found, best=of).trusted

    assert not trusted(best, best)
    assert trusted(best, same)
    assert not trusted(best, far)
    assert trusted(best, far, far)
    exact = replace(best, exact=True)
    assert trusted(exact, of=exact)
    assert not Search().trusted


def test_passes_that_gain_little_are_counted():
    progress = Progress().after(0.5)
    assert (progress.passes, progress.change, progress.least_change, progress.waited) == (1, 0.5, 0.5, 0)
    waiting = progress.after(0.46)
    assert (waiting.waited, waiting.least_change) == (1, 0.46)
    assert waiting.after(0.4).waited == 0
    assert waiting.after(0.7).least_change == 0.46


def test_directions_of_a_bank_by_their_scores():
    W = np.vstack([TURNED[0], TURNED[1] + 0.1 * TURNED[0], TURNED[0] + 0.1 * TURNED[3], TURNED[2]])
    found = distinct_directions(unit_rows(W, W), np.array([0.1, 0.3, 0.2, 0.4]), 4, [0])
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-12)
    cosine = np.abs(found @ TURNED.T)
    assert (cosine[:3].max(axis=1) > 0.95).all()  # the double gave way to a random direction
    assert [int(row.argmax()) for row in cosine[:3]] == [0, 1, 2]
    few = distinct_directions(unit_rows(W, W), np.array([0.1, 0.3, 0.2, 0.4]), 2, [0])
    assert few.shape == (2, 4) and np.abs(few @ TURNED[2]).max() < 0.2


def test_the_nearest_rotation_also_of_singular_matrices():
    M = RNG.standard_normal((4, 4))
    np.testing.assert_allclose(nearest_rotation(M, TURNED), polar(M), atol=1e-10)
    M[3] = M[2]
    found = nearest_rotation(M, TURNED)
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-8)
    W = random_rotation(3, [1, 2])
    np.testing.assert_allclose(W @ W.T, np.eye(3), atol=1e-12)
    assert not np.allclose(W, random_rotation(3, [1, 3]))
    vanished = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[9.0, 9.0], [0.0, 1.0]]))
    np.testing.assert_allclose(vanished, [[0.6, 0.8], [0.0, 1.0]])
    stats = {"absolute": np.array([2.0, 0.0]), "squares": np.array([4.0, 0.0]), "n_rows": 4}
    np.testing.assert_allclose(mean_absolute(stats), [0.5, 0.0])


def test_a_penalised_step_by_hand():
    """Sums forget, atoms move one after the other to unit length, one that is never used begins anew."""
    atoms, k = TURNED[:3].copy(), 3
    gram = np.diag([2.0, 3.0, 0.0]) + np.array([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    cross = RNG.standard_normal((k, 4))
    old = L1Sums(np.eye(3), np.ones((3, 4)))
    begun = Complete(3).init(SimpleNamespace(n_features=4, dtype=np.dtype(float)), 7)
    search = Search(kind="l1 0.3 0.1 9")
    state = replace(begun, phase="l1", atoms=atoms, sums=old, search=search, progress=Progress(passes=4))
    after = l1_step(state, {"gram": gram, "cross": cross})
    kept = (1 - 1 / 5) ** 3
    G, C = kept * old.gram + gram, kept * old.cross + cross
    expected = atoms.copy()
    for j in range(3):
        moved = expected[j] + (C[j] - G[j] @ expected) / G[j, j]
        expected[j] = moved / np.linalg.norm(moved)
    np.testing.assert_allclose(after.atoms, expected)
    np.testing.assert_allclose(after.sums.gram, G)
    assert (after.progress.passes, after.phase) == (5, "l1")
    never = replace(state, sums=L1Sums(np.diag([1.0, 1.0, 0.0]), old.cross), progress=Progress(passes=8))
    ended = l1_step(never, {"gram": gram, "cross": cross})
    assert ended.phase == "penalised"
    assert np.linalg.norm(ended.atoms[2]) == pytest.approx(1.0)
    assert abs(ended.atoms[2] @ atoms[2]) < 0.999
    again = l1_step(replace(state, progress=Progress(passes=50)), {"gram": gram, "cross": cross})
    np.testing.assert_allclose(again.sums.gram, gram)  # sums begin anew


def test_atoms_that_changed_are_named():
    other = TURNED.copy()
    angle = np.arccos(0.97)
    other[1] = -(np.cos(angle) * TURNED[1] + np.sin(angle) * TURNED[0])
    other[2] *= -5
    assert changed_atoms(TURNED, other).tolist() == [1]


# --- guarded steps -------------------------------------------------------------------------------------


def test_losses_and_steps_that_are_taken_back():
    stats = {"n": 4.0, "rr": 8.0, "rrrr": 20.0, "rows": 6}
    assert loss_of(stats) == (2.0, pytest.approx(np.sqrt((20 / 4 - 4) / 4)))
    assert loss_of(stats, 16.0) == (0.5, pytest.approx(np.sqrt(1 / 4) * 4 / 16))
    assert loss_of({"n": 0.0, "rr": 0.0, "rrrr": 0.0}) == (0.0, 0.0)
    assert batch_noise(2.0, 3.0, 12.0) == 0.5
    state = LowRankState(cut=0.8, again=False, rows=5, taken_back=1)
    back = take_back(state, loss=9.0)
    assert (back.cut, back.again, back.taken_back, back.loss) == (0.4, True, 2, 9.0)
    on = accept(state, stats, 0.5, 0.1)
    assert (on.loss, on.loss_error, on.cut, on.rows, on.batch_rows) == (
        0.5,
        0.1,
        pytest.approx(0.92),
        11,
        4.0,
    )
    assert accept(back, stats, 0.5, 0.1).cut == 0.4  # one that had to be shortened stays so
    assert accept(replace(state, cut=0.95), stats, 0.5, 0.1).cut == 1.0


@record
class LowRankState:
    cut: float = 1.0
    again: bool = False
    rows: int = 0
    taken_back: int = 0
    loss: float = 1.0
    loss_error: float = 0.0
    batch_rows: float = 0.0


# --- the engine's ends ---------------------------------------------------------------------------------


def count(algorithm, state, block):
    return block.n_rows


@record
class Reading:
    """Batches of seven rows, as long as there are any."""

    def init(self, info, seed):
        return ()

    def next_round(self, state):
        if "finished" in state:
            return Done()
        return Round(count, Next(7), "read", iteration=True, then=lambda state, stats: (*state, stats))

    def finish(self, state):
        return (*state, "finished")

    def measure(self, state):
        return {"change": 1.0}


@pytest.mark.parametrize("rows", [1, 6, 7, 8, 20])
def test_rows_that_are_used_up_end_the_fit(rows):
    ended = run(Reading(), open_source(np.ones((rows, 2))), Settings(seed=0))
    assert ended.state == (*[7] * (rows // 7), *([rows % 7] if rows % 7 else []), "finished")
    assert ended.outcome.kind == "end_of_stream"
    assert str(rows) in str(ended.outcome)


def test_a_round_that_says_done_says_why():
    class Ending(Reading):
        def next_round(self, state):
            return (
                Done("stalled", "of no use")
                if len(state) >= 2
                else Round(count, All(), "read", iteration=True, then=lambda state, stats: (*state, stats))
            )

    ended = run(Ending(), open_source(np.ones((9, 2))), Settings(seed=0))
    assert (ended.outcome.kind, ended.n_iter, ended.state) == ("stalled", 2, (9, 9, "finished"))
    assert "of no use" in str(ended.outcome)


def test_memory_is_taken_again_when_nobody_looks_at_it():
    buffers, size = Buffers(), 2 * _LEAST_BYTES
    first = buffers.empty((size // 8,), np.dtype("f8"))
    place, view = first.ctypes.data, first[3:5]
    del first
    other = buffers.empty((size // 8,), np.dtype("f8"))
    assert other.ctypes.data != place  # a view still looks at the first
    del view
    third = buffers.empty((size // 16, 2), np.dtype("f8"))
    assert third.ctypes.data == place and third.shape == (size // 16, 2)
    del third, other
    big = buffers.empty((size,), np.dtype("f8"))
    assert big.nbytes == 8 * size  # none of the two is large enough
    small = buffers.empty((3,), np.dtype("f4"))
    assert small.dtype == np.float32 and len(buffers._spare) == 2


# --- samples and looks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_reservoir_is_a_fair_sample_of_rows_with_all_that_belongs_to_them(sparse, weighted):
    n, size = 400, 50
    X = np.arange(2.0 * n).reshape(n, 2) + 1
    y, w = X[:, 0] * 10, X[:, 1] * 100

    def part(low, high):
        rows = sp.csr_array(X[low:high]) if sparse else X[low:high]
        return SimpleNamespace(X=rows, y=y[low:high], weight=w[low:high] if weighted else None)

    kept = Reservoir.of(part(0, 30), 3, size)
    assert kept.complete and len(kept.y) == 30
    for low in range(30, n, 37):
        kept = kept.more(part(low, min(low + 37, n)))
    assert (len(kept.y), kept.n_seen, kept.complete) == (size, n, False)
    rows = kept.X.toarray() if sparse else kept.X
    np.testing.assert_array_equal(kept.y, rows[:, 0] * 10)
    assert (kept.weight is None) == (not weighted)
    if weighted:
        np.testing.assert_array_equal(kept.weight, rows[:, 1] * 100)
        mixed = kept.more(SimpleNamespace(X=kept.X[:3], y=kept.y[:3], weight=None))
        assert mixed.weight is None
    assert len(set(kept.y)) == size
    means = [
        Reservoir.of(part(0, 30), seed, size).more(part(30, n)).y.mean() / 10 for seed in range(60)
    ]  # of rows 1, 3, ..., 2 n - 1
    assert np.mean(means) == pytest.approx(n, rel=0.05)
    assert kept.source().n_rows == size


def test_one_hot_and_nearly_empty_tables_are_sparse():
    rng = np.random.default_rng(0)
    hot = np.hstack([np.eye(12)[rng.integers(0, 12, 300)], np.eye(9)[rng.integers(0, 9, 300)]])
    flags = (rng.random((300, 20)) < 0.3) * 1.0
    few = (rng.random((300, 200)) < 0.002) * rng.standard_normal((300, 200))
    dense = rng.standard_normal((300, 20))
    for table, expected in ((hot, True), (few, True), (flags, False), (dense, False), (hot[:1], False)):
        assert is_sparse_table(open_source(table)) == expected
        assert is_sparse_table(open_source(sp.csr_array(table))) == expected
    assert not is_sparse_table(open_source(iter([hot])))
    assert reads_again(open_source(dense))
    assert not reads_again(open_source(iter([dense])))


def test_long_files_are_read_as_streams_are(tmp_path, monkeypatch):
    from altmin.estimators.quadratic import shared

    np.save(tmp_path / "x.npy", np.ones((10, 4)))
    for most, again in ((320, True), (319, False)):
        monkeypatch.setattr(shared, "_READ_AGAIN_BYTES", most)
        assert reads_again(open_source(tmp_path / "x.npy")) == again
        assert reads_again(open_source(np.ones((10, 4))))


def test_holes_by_a_mask_and_by_a_masked_array_add_up():
    X = np.arange(6).reshape(2, 3)
    mask = np.array([[True, False, True], [True, True, True]])
    hidden = np.ma.MaskedArray(X, mask=[[0, 0, 1], [0, 0, 0]])
    found = with_holes(hidden, mask, "mask")
    assert np.isnan(found).tolist() == [[False, True, True], [False, False, False]]
    assert found.dtype == np.float64 and found[1].tolist() == [3, 4, 5]
    assert with_holes(X.astype("f4"), mask, "mask").dtype == np.float32
    assert with_holes(X, None, "raise") is X
    for given, seen, missing, words in (
        (X, mask, "raise", "it needs missing='mask'"),
        (hidden, None, "raise", "X is a masked array"),
        (X, mask[:1], "mask", "booleans of the shape of X"),
        (X, mask * 1, "mask", "booleans of the shape of X"),
        (sp.csr_array(X), mask, "mask", "needs a dense X"),
    ):
        with pytest.raises(ValueError, match=words):
            with_holes(given, seen, missing)


def test_what_docstrings_share_is_filled_in_where_it_is_not_told():
    def predict(X, other=3, *, strict: bool = False):
        """Make something.

        Parameters
        ----------
        other : int
            Told here.

        Examples
        --------
        >>> 1
        1
        """

    text = fill_function(predict).__doc__
    parts = [line for line in text.splitlines() if " : " in line]
    assert parts[0].startswith("X : ") and parts[1] == "other : int"
    assert text.index("Parameters\n") < text.index("Returns\n") < text.index("Examples\n")
    assert text.count("Told here.") == 1

    def bare(a):
        """One line."""

    assert fill_function(bare).__doc__ == "One line."


def test_a_symmetric_model_of_low_rank_and_its_cut():
    U, V = RNG.standard_normal((6, 3)), RNG.standard_normal((6, 3))
    model, M = Quadratic(U, V, np.zeros(6), 1.5), (U @ V.T + V @ U.T) / 2
    np.testing.assert_allclose(model.times(np.eye(6)), M)
    assert model.trace == pytest.approx(np.trace(M))
    values, vectors = symmetric_eigen(U, V)
    np.testing.assert_allclose(vectors * values @ vectors.T, M, atol=1e-12)
    exact, axes = np.linalg.eigh(M)
    for rank in (1, 2):
        kept = np.argsort(-np.abs(exact))[:rank]
        cut = model.truncate(rank)
        np.testing.assert_allclose(
            cut.times(np.eye(6)), axes[:, kept] * exact[kept] @ axes[:, kept].T, atol=1e-10
        )
        np.testing.assert_allclose(cut.U.T @ cut.U, np.eye(rank), atol=1e-12)
        assert cut.level == 1.5


def test_a_model_of_noise_free_rows_is_the_same_from_lists_and_arrays():
    X = make_sparse_dictionary(300, 4, random_state=0).X
    models = [
        altmin.CompleteDictionaryLearning(random_state=0, max_iter=30).fit(given) for given in (X, X.tolist())
    ]
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
