"""Files that lie: indices that lead out of a matrix, models that hold no numbers, tables of promises."""

import io
import json
import signal

import numpy as np
import pytest
import scipy.sparse as sp

import altmin
from altmin.datasets import make_dir
from altmin.engine import SourceError, open_source
from altmin.io.container import ContainerError
from altmin.io.records import flatten, restore

X = make_dir(200, 12, 3, random_state=0).X


def corrupted(kind, place, value):
    matrix = sp.random(50, 12, density=0.3, format=kind, random_state=0)
    getattr(matrix, place)[3 if value != "short" else slice(None)] = value
    return matrix


DAMAGE = [
    ("csr", "indices", 10**6), ("csr", "indices", -5), ("csr", "indices", 12),
    ("csr", "indptr", 10**6), ("csr", "indptr", -1), ("csc", "indices", 50), ("csc", "indptr", 10**6),
]  # fmt: skip


@pytest.mark.parametrize("kind, place, value", DAMAGE)
def test_sparse_indices_that_lead_astray_are_refused(kind, place, value, tmp_path):
    matrix = corrupted(kind, place, value)
    sp.save_npz(tmp_path / "x.npz", matrix, compressed=False)
    with pytest.raises(SourceError, match="damaged sparse matrix"):
        open_source(matrix)
    with pytest.raises(ValueError, match="damaged sparse matrix"):
        altmin.AND(2, max_iter=2).fit(str(tmp_path / "x.npz"))
    if kind == "csr":
        sound = sp.csr_array(sp.random(50, 12, density=0.3, format="csr", random_state=0))
        structure, arrays = flatten({"codes": sound})
        number = ["data", "indices", "indptr"].index(place)
        arrays[number] = getattr(matrix, place)
        with pytest.raises(ValueError):
            restore(json.loads(json.dumps(structure)), arrays)


@pytest.mark.parametrize("change", ["missing", "NaN", "strings", "narrow", "one dimension"])
def test_a_model_that_cannot_be_used_is_not_loaded(change, tmp_path):
    model = altmin.AND(3, max_iter=3).fit(X)
    if change == "missing":
        del model.components_
    elif change == "NaN":
        model.components_[0, 0] = np.nan
    elif change == "strings":
        model.components_ = model.components_.astype("U5")
    else:
        model.components_ = model.components_[:, :5] if change == "narrow" else model.components_[0]
    altmin.save(model, tmp_path / "m.altmin")
    with pytest.raises(ContainerError, match="holds no usable AND"):
        altmin.load(tmp_path / "m.altmin")


def test_a_zarr_that_promises_more_than_it_has_is_refused(tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    zarr.create_array(str(tmp_path / "x.zarr"), shape=(10**15, 4), chunks=(10**6, 4), dtype="f8")
    with pytest.raises(SourceError, match="announces 1000000000000000 rows"):
        open_source(str(tmp_path / "x.zarr"))


def test_an_empty_path_is_not_the_current_folder():
    with pytest.raises(ValueError, match="X is an empty string"):
        altmin.AND(2).fit("")


@pytest.mark.parametrize(
    "model, reason",
    [
        (altmin.AND(10**6), r"n_components=1000000 is more than the 12 features of X"),
        (altmin.CompleteDictionaryLearning(10**6), r"n_components=1000000 is more than the 12 features"),
        (altmin.OnlineDictionaryLearning(10**6), r"n_components=1000000 is more than the 12 features"),
        (altmin.ApproximateDictionaryLearning(10**6), r"n_components=1000000 is more than 200 sample"),
        (altmin.InductiveMatrixCompletion(10**6), r"rank=1000000 is more than R of shape \(200, 12\)"),
    ],
)
def test_more_than_the_data_can_hold_is_refused_before_memory_is_asked_for(model, reason):
    with pytest.raises(ValueError, match=reason):
        model.fit(sp.csr_array(X) if hasattr(model, "rank") else X)


def test_nan_that_waits_for_its_window_is_refused_when_it_arrives():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 4)) * (rng.random((40, 4)) < 0.4)
    model = altmin.OnlineDictionaryLearning(batch_size=100, start_size=300, random_state=0)
    model.partial_fit(rows)
    bad = rows.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN at row"):
        model.partial_fit(bad)
    for _ in range(12):
        model.partial_fit(rows)
    assert np.isfinite(model.components_).all()


def test_ctrl_c_that_is_ignored_stays_ignored_and_own_handlers_hear_of_it():
    from altmin.engine.interrupt import InterruptFlag

    heard, before = [], signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with InterruptFlag():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
        with InterruptFlag() as flag:
            signal.raise_signal(signal.SIGINT)
            assert flag.raised
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_two_columns_of_one_name_are_refused(tmp_path):
    tables = pytest.importorskip("altmin.cli.tables")
    (tmp_path / "x.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(ValueError, match='names "a" 2 times'):
        tables.read_table(str(tmp_path / "x.csv"))


def test_a_dense_matrix_market_file_is_read(tmp_path):
    from scipy.io import mmwrite

    tables = pytest.importorskip("altmin.cli.tables")
    buffer = io.BytesIO()
    mmwrite(buffer, X[:4])
    (tmp_path / "x.mtx").write_bytes(buffer.getvalue())
    np.testing.assert_allclose(tables.read_table(str(tmp_path / "x.mtx")).X, X[:4])


MATRIX = "%%MatrixMarket matrix coordinate real general\n%a comment\n\n3 2 3\n1 1 .5\n3  2 -2e0\n2 1 1\n"


@pytest.mark.parametrize(
    "change, reason",
    [
        (("3 2 3", "3 2 4"), "announces 4 entries"),
        (("3 2 3", "10000000000000 2 3"), "announces 10000000000000 rows"),
        (("3 2 3", "3 -2 3"), "announces the sizes"),
        (("3  2", "4  2"), "outside of the matrix"),
        (("3  2", "0  2"), "outside of the matrix"),
        (("3  2", "1.5  2"), "outside of the matrix"),
        ((" -2e0", " x"), "could not convert"),
        (("real", "complex"), "real numbers are needed"),
        (("%%Matrix", "Matrix"), "first line"),
    ],
)
def test_a_matrix_market_file_that_lies_is_refused(change, reason, tmp_path):
    from altmin.io.matrix_market import read_matrix_market

    path = tmp_path / "x.mtx"
    path.write_text(MATRIX)
    np.testing.assert_array_equal(read_matrix_market(path).toarray(), [[0.5, 0], [1, 0], [0, -2]])
    path.write_text(MATRIX.replace(*change))
    with pytest.raises(ValueError, match=reason) as caught:
        read_matrix_market(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_files_are_read_as_scipy_reads_them(symmetry, field, tmp_path):
    from scipy.io import mmread

    from altmin.io.matrix_market import read_matrix_market

    rows = ["2 1", "3 2", "4 1"] + ([] if symmetry == "skew-symmetric" else ["3 3"])
    rows = [row if field == "pattern" else f"{row} {number + 2}" for number, row in enumerate(rows)]
    path = tmp_path / "x.mtx"
    path.write_text(
        "\n".join([f"%%MatrixMarket matrix coordinate {field} {symmetry}", f"4 4 {len(rows)}", *rows])
    )
    np.testing.assert_array_equal(read_matrix_market(path).toarray(), mmread(path).toarray())


def test_damage_that_reading_finds_is_told_of_the_file(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", X=np.random.default_rng(0).random((3000, 12)))
    data = bytearray((tmp_path / "x.npz").read_bytes())
    data[len(data) // 2 : len(data) // 2 + 60] = bytes(60)
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.npz: rows \d+ to \d+ can't be read"):
        altmin.AND(2, max_iter=2).fit(str(tmp_path / "x.npz"))


def test_a_header_without_end_is_refused_in_one_line(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + (60_000).to_bytes(2, "little") + b"(" * 60_000)
    with pytest.raises(ValueError, match=r"not a readable \.npy file") as caught:
        altmin.AND(2).fit(str(tmp_path / "x.npy"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", ["NaN within", "no factors", "narrow factors", "complex"])
def test_a_machine_that_cannot_be_used_is_not_loaded(change, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 4))
    model = altmin.FactorizationMachineRegressor(1, max_iter=3, random_state=0).fit(rows, rows[:, 0] ** 2)
    if change == "NaN within":
        model._model.factors[0, 0] = np.nan
    else:
        given = model.factors_
        model.factors_ = {"no factors": given[:0], "narrow factors": given[:, :3], "complex": given + 1j}[
            change
        ]
    altmin.save(model, tmp_path / "m.altmin")
    with pytest.raises(ContainerError, match="holds no usable Fact"):
        altmin.load(tmp_path / "m.altmin")
