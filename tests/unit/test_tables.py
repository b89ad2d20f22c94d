"""Tables on disk: every format reads the same rows, in memory that doesn't grow with the file."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.engine import Source, SourceError, open_source

X = np.random.default_rng(0).standard_normal((700, 5))


def npy(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def fortran(folder):
    np.save(folder / "x.npy", np.asfortranarray(X))
    return folder / "x.npy"


def npz_stored(folder):
    np.savez(folder / "x.npz", X=X, y=X[:, 0])
    return folder / "x.npz"


def npz_compressed(folder):
    np.savez_compressed(folder / "x.npz", whatever=X)
    return folder / "x.npz"


def folder_of_pieces(folder):
    np.save(folder / "a.npy", X[:33])
    np.savez(folder / "b.npz", X=X[33:500])
    np.save(folder / "c.npy", X[500:])
    (folder / "notes.txt").write_text("ignored")
    return folder


def parquet(folder):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({f"c{i}": X[:, i] for i in range(5)}), folder / "x.parquet", row_group_size=97)
    return folder / "x.parquet"


def parquet_lists(folder):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 5)
    pq.write_table(pa.table({"x": lists}), folder / "x.parquet", row_group_size=97)
    return folder / "x.parquet"


def zarr(folder):
    module = pytest.importorskip("zarr")
    array = module.create_array(str(folder / "x.zarr"), shape=X.shape, chunks=(64, 5), dtype="f8")
    array[:] = X
    return folder / "x.zarr"


FORMATS = [npy, fortran, npz_stored, npz_compressed, folder_of_pieces, parquet, parquet_lists, zarr]


@pytest.mark.parametrize("write", FORMATS, ids=lambda f: f.__name__)
def test_every_format_reads_the_same_rows(tmp_path, write):
    source = open_source(write(tmp_path))
    assert isinstance(source, Source)
    assert source.n_rows == 700
    for start, stop in [(0, 700), (10, 300), (5, 6), (690, 700), (3, 100)]:
        np.testing.assert_array_equal(source.read(start, stop).X, X[start:stop])
    ids = np.array([0, 1, 2, 40, 41, 600, 699])
    np.testing.assert_array_equal(source.take(ids).X, X[ids])
    assert source.info == open_source(X).info


def test_a_sparse_npz_stays_sparse(tmp_path):
    S = sp.csr_array(np.where(X > 1, X, 0))
    sp.save_npz(tmp_path / "s.npz", S)
    assert sp.issparse(open_source(tmp_path / "s.npz").read(0, 50).X)


def test_sparse_pieces_are_read_one_by_one(tmp_path):
    from altmin import AND
    from altmin.io.sparse_tables import SparseRows

    S = sp.csr_array(np.where(X > 0.5, X, 0))
    for number, low in enumerate(range(0, 700, 100)):
        sp.save_npz(tmp_path / f"{number}.npz", S[low : low + 100], compressed=bool(number % 2))
    source = open_source(tmp_path)
    assert source.info.sparse and source.on_disk
    assert (source.read(50, 650).X != S[50:650]).nnz == 0
    ids = np.array([0, 1, 99, 100, 555, 699])
    assert (source.take(ids).X != S[ids]).nnz == 0
    assert len(SparseRows._held) <= 2
    assert source.info == open_source(S).info
    options = {"max_iter": 4, "init": np.eye(3, 5) + 0.1}
    there, here = AND(3, **options).fit(tmp_path), AND(3, **options).fit(S)
    np.testing.assert_array_equal(there.components_, here.components_)


def test_targets_go_with_files(tmp_path):
    source = open_source(folder_of_pieces(tmp_path), y=X[:, 0])
    np.testing.assert_array_equal(source.read(20, 520).y, X[20:520, 0])


def test_errors_name_the_file_and_the_reason(tmp_path):
    np.savez(tmp_path / "two.npz", a=X, b=X)
    with pytest.raises(SourceError, match=r"holds the arrays \['a', 'b'\]"):
        open_source(tmp_path / "two.npz")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(SourceError, match="3 dimension"):
        open_source(tmp_path / "cube.npy")
    np.save(tmp_path / "objects.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(SourceError, match="pickled"):
        open_source(tmp_path / "objects.npy")
    (tmp_path / "x.csv").write_text("1,2\n")
    with pytest.raises(SourceError, match="ends in none of"):
        open_source(tmp_path / "x.csv")
    (tmp_path / "bad.npz").write_bytes(b"not a zip")
    with pytest.raises(SourceError, match="not a readable"):
        open_source(tmp_path / "bad.npz")
    good = npy(tmp_path).read_bytes()
    (tmp_path / "short.npy").write_bytes(good[:-9])
    with pytest.raises(SourceError, match="truncated"):
        open_source(tmp_path / "short.npy")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="holds no file"):
        open_source(tmp_path / "empty")


def test_a_fit_from_disk_gives_the_same_bits(tmp_path):
    from altmin import AND

    model = AND(3, max_iter=5, init=np.abs(X[:3])).fit(np.abs(X))
    np.savez_compressed(tmp_path / "x.npz", X=np.abs(X))
    other = AND(3, max_iter=5, init=np.abs(X[:3])).fit(tmp_path / "x.npz")
    np.testing.assert_array_equal(model.components_, other.components_)


def test_columns_of_a_fit_from_disk_live_on_disk(tmp_path, monkeypatch):
    from altmin import AND
    from altmin.engine import columns, cursor

    rows = np.abs(X)
    np.save(tmp_path / "x.npy", rows)
    here = AND(3, max_iter=5).fit(rows)
    made = []
    allocate = columns.ColumnWriter._allocate

    def watched(self, shape, dtype):
        made.append(allocate(self, shape, dtype))
        return made[-1]

    monkeypatch.setattr(cursor, "BESIDE_FILES_BYTES", 100)
    monkeypatch.setattr(columns.ColumnWriter, "_allocate", watched)
    there = AND(3, max_iter=5, checkpoint=tmp_path / "state").fit(tmp_path / "x.npy")
    assert made and all(isinstance(column, columns.DiskColumn) for column in made)
    np.testing.assert_array_equal(there.components_, here.components_)
    longer = AND(3, max_iter=9, checkpoint=tmp_path / "state").fit(tmp_path / "x.npy")
    np.testing.assert_array_equal(longer.components_, AND(3, max_iter=9).fit(rows).components_)


def test_a_column_on_disk_reads_as_an_array():
    from altmin.engine.columns import ColumnWriter

    for values in (X, X[:, 0].copy(), np.arange(700) > 5, np.zeros((700, 0))):
        writer = ColumnWriter(("c",), 700, in_memory=-1)
        for low in range(0, 700, 90):
            writer.write({"c": values[low : low + 90]})
        column = writer.result()["c"]
        np.testing.assert_array_equal(np.asarray(column), values)
        np.testing.assert_array_equal(column[100:333], values[100:333])
        np.testing.assert_array_equal(column[np.array([1, 2, 9, 699])], values[[1, 2, 9, 699]])
