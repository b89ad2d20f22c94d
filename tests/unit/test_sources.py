"""Sources: any cut of the input reads as one table."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.engine import SourceError, open_source
from altmin.engine.sources import Source, StreamSource

X = np.random.default_rng(0).standard_normal((100, 4))
CUTS = [0, 3, 3, 50, 77, 100]
PIECES = [X[a:b] for a, b in itertools.pairwise(CUTS)]


def inputs(folder):
    path = folder / "x.npy"
    np.save(path, X)
    return {
        "array": X,
        "fortran": np.asfortranarray(X),
        "list": PIECES,
        "path": path,
        "string": str(path),
        "memmap": np.load(path, mmap_mode="r"),
        "strided": np.repeat(X, 2, axis=0)[::2],
    }


def test_every_kind_of_table_reads_the_same(tmp_path):
    for kind, given in inputs(tmp_path).items():
        source = open_source(given)
        assert isinstance(source, Source), kind
        rows = source.read(1, 80)
        np.testing.assert_array_equal(rows.X, X[1:80], err_msg=kind)
        assert rows.X.flags.c_contiguous
        np.testing.assert_array_equal(source.take(np.array([0, 3, 99])).X, X[[0, 3, 99]])


def test_a_checkpoint_goes_from_one_kind_of_input_to_another(tmp_path):
    """The digest is that of the rows, wherever they came from and however they were cut."""
    from altmin import AND
    from altmin.engine.checkpoint import CheckpointError

    def fit(given, **options):
        return AND(3, max_iter=4, random_state=0, checkpoint=tmp_path / "state", **options).fit(given)

    expected = fit(X).components_
    for given in inputs(tmp_path).values():
        np.testing.assert_array_equal(fit(given).components_, expected)
    other = X.copy()
    other[0, 0] += 1e-9
    with pytest.raises(CheckpointError, match="other rows"):
        fit(other)


def test_what_is_aligned_stays_aligned():
    y, weight = np.arange(100.0), np.arange(100.0) / 7
    source = open_source(PIECES, y, weight)
    rows = source.read(2, 60)
    np.testing.assert_array_equal(rows.y, y[2:60])
    np.testing.assert_array_equal(rows.weight, weight[2:60])
    pairs = open_source([(piece, piece[:, 0]) for piece in PIECES])
    np.testing.assert_array_equal(pairs.read(40, 90).y, X[40:90, 0])


def test_a_stream_gives_each_row_once_whatever_the_blocks():
    source = open_source(iter(PIECES))
    assert isinstance(source, StreamSource)
    taken = [source.pull(32).X for _ in range(4)]
    np.testing.assert_array_equal(np.concatenate(taken), X)
    assert source.pull(32) is None
    assert source.position == 100


def test_rows_put_back_come_again():
    source = open_source(iter(PIECES))
    first = source.pull(10)
    source.push_back(first)
    np.testing.assert_array_equal(source.pull(20).X, X[:20])


def test_float32_stays_and_integers_become_float64():
    assert open_source(X.astype(np.float32)).read(0, 3).X.dtype == np.float32
    assert open_source((X * 10).astype(int)).read(0, 3).X.dtype == np.float64


def test_sparse_stays_sparse():
    source = open_source(sp.coo_array(np.where(X > 1, X, 0)))
    assert sp.issparse(source.read(5, 50).X)
    np.testing.assert_array_equal(source.read(5, 50).X.toarray(), np.where(X > 1, X, 0)[5:50])


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(SourceError, match="disagree on the number of features"):
        open_source([X, X[:, :2]])
    with pytest.raises(SourceError, match="has 2 features, the first one had 4"):
        stream = open_source(iter([X, X[:, :2]]))
        stream.pull(150)
    with pytest.raises(SourceError, match="no file"):
        open_source(tmp_path / "missing.npy")
    with pytest.raises(SourceError, match="empty iterable"):
        open_source(iter([]))
    with pytest.raises(SourceError, match="neither an array"):
        open_source(3)
    (tmp_path / "text.npy").write_text("hello")
    with pytest.raises(SourceError, match="not a readable"):
        open_source(tmp_path / "text.npy")
