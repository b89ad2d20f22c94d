"""Errors that a wrong call or a wrong file raises, each raised once: the message names what is wrong."""

import re
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import altmin
from altmin import datasets, hyperspectral, images, mixtures, signatures
from altmin.datasets.planted_sparse import replace_by_outliers
from altmin.engine import open_source
from altmin.engine.columns import ColumnWriter
from altmin.engine.sources import Source
from altmin.io.matrix_market import read_matrix_market
from altmin.io.records import restore
from altmin.io.sparse_structure import check_structure, csr_from_parts
from altmin.io.tables import open_tables

RNG = np.random.default_rng(0)
X = RNG.random((30, 5))
Y = RNG.random(30)
NAN = np.where(np.arange(150).reshape(30, 5) == 7, np.nan, X)
ATOMS = np.eye(5)
COUNTS = RNG.poisson(5.0, (6, 96)).astype(float)
RATINGS = sp.coo_array((RNG.random((8, 6)) < 0.7) * (RNG.random((8, 6)) + 1))
FULL = sp.coo_array(RNG.random((8, 6)) + 1)
ROWS, COLUMNS = RNG.random((8, 3)), RNG.random((6, 2))
SIGNAL = RNG.standard_normal(5)
LABELS = (Y > 0.5).astype(int)


def ratings(*features):
    return altmin.InductiveMatrixCompletion(1, max_iter=3, random_state=0).fit(RATINGS, *features)


def clicks():
    return altmin.InductiveMatrixCompletion(1, feedback="implicit").fit(sp.csr_array(RATINGS))


def phase(designs=X):
    return altmin.PhaseRetrieval(max_iter=3, random_state=0).fit(designs, np.abs(designs @ SIGNAL) ** 2)


def pairs():
    return altmin.RankOneSensing(1, max_iter=3, random_state=0).fit((X, X[:, :3]), Y)


def classifier():
    return altmin.FactorizationMachineClassifier(1, max_iter=3, random_state=0).fit(X, LABELS)


def machine(X, y=Y, **given):
    return altmin.FactorizationMachineRegressor(1, max_iter=3, random_state=0).fit(X, y, **given)


def sparse(format="csr", **changes):
    matrix = sp.coo_array(np.tri(6, 4)).asformat(format)
    for name, value in changes.items():
        setattr(matrix, name, value)
    return matrix


def operator():
    return aslinearoperator(X)


def topics():
    return altmin.TopicModel(2, max_iter=2).fit(COUNTS)


def atoms(init):
    return altmin.ApproximateDictionaryLearning(5, n_nonzero_coefs=1, init=init).fit(X)


ERRORS = [
    (lambda: altmin.spa(NAN, 2), "X contains NaN"),
    (lambda: altmin.spa(sp.csr_array(NAN), 2), "X contains NaN"),
    (lambda: altmin.spa(X[0], 2), "2-D array"),
    (lambda: altmin.spa(X, 0), "n_components=0 at least 1"),
    (lambda: altmin.peel_dictionary(X[0], 3), r"X has shape \(5,\)"),
    (lambda: altmin.peel_dictionary(X[:0], 3), r"X has shape \(0, 5\)"),
    (lambda: altmin.peel_dictionary(X, 0), "n_components=0: at least 1"),
    (lambda: altmin.peel_dictionary(NAN, 3), "row 1 holds NaN"),
    (lambda: altmin.polar(X[0]), "1 dimension"),
    (lambda: altmin.CodedDiffraction(SIGNAL), r"masks has shape \(5,\)"),
    (lambda: altmin.SparseCoder(ATOMS).fit(X).inverse_transform(X[:, :2]), "5 columns are needed"),
    (lambda: altmin.SparseCoder(ATOMS, split_sign=True).fit(X).inverse_transform(X), "10 columns are needed"),
    (lambda: atoms(np.zeros((5, 5))), "finite and not zero"),
    (lambda: atoms(np.full((5, 5), np.inf)), "finite and not zero|infinity"),
    (lambda: altmin.AND(2, missing="mask").fit(sp.csr_array(X), mask=X > 2), "mask needs a dense X"),
    (lambda: machine(X, sample_weight=np.zeros(30)), "sample_weight is 0|zero"),
    (lambda: machine(sp.csr_array(X), sample_weight=np.zeros(30)), "sample_weight is 0|zero"),
    (lambda: machine([X[:15], X[15:]], None), "no target y|requires y"),
    (lambda: machine([sp.csr_array(X)], None), "no target y|requires y"),
    (lambda: altmin.PhaseRetrieval().fit([X[:15], X[15:]]), "no intensities y|requires y"),
    (lambda: altmin.RankOneSensing(1).fit([X[:15], X[15:]]), "no target y|requires y"),
    (lambda: classifier().guarantee(X), "requires y"),
    (lambda: classifier().partial_fit(X, None), "requires y"),
    (lambda: classifier().guarantee(X, LABELS + 1), r"y holds \[2\], not among the classes \[0, 1\]"),
    (lambda: altmin.InductiveMatrixCompletion(1, feedback="implicit").fit(RATINGS, ROWS), "takes neither"),
    (lambda: ratings().predict([0, 1], [0]), "they must agree"),
    (lambda: clicks().complete(row_features=ROWS), "fitted on clicks"),
    (lambda: ratings().guarantee(RATINGS, sample_weight=np.ones(8)), "have no weights"),
    (lambda: ratings().guarantee((RATINGS, None)), "X has 2 parts"),
    (lambda: ratings().guarantee(FULL.tocsr()[:5]), r"R has shape \(5, 6\)"),
    (lambda: ratings(ROWS, COLUMNS).guarantee(RATINGS), "fitted on features"),
    (lambda: ratings(ROWS, COLUMNS).complete(ROWS[:, :2], COLUMNS), "row_features has 2 columns; 3"),
    (lambda: ratings(ROWS, COLUMNS).complete(ROWS, ROWS), "column_features has 3 columns; 2"),
    (lambda: ratings(sp.csr_array(ROWS), sp.csr_array(COLUMNS)).complete(ROWS[:, :2]), "2 columns; 3"),
    (lambda: altmin.PhaseRetrieval().fit(operator(), Y, sample_weight=Y), "aren't formed have no weights"),
    (lambda: altmin.PhaseRetrieval().fit(operator(), Y[:3]), "need intensities of shape"),
    (lambda: phase().partial_fit(X + 0j, Y), "the first rows were complex|these are real"),
    (lambda: phase().guarantee(operator(), Y), "judged by fit"),
    (lambda: phase().guarantee(X + 0j, Y), "rows of fit were complex"),
    (lambda: phase(X + 1j * X[::-1]).partial_fit(X[:, :4] + 0j, Y), "expecting 5 features"),
    (lambda: altmin.PhaseRetrieval().fit(iter([])), "empty iterable|requires y"),
    (lambda: pairs().predict(X), r"a pair \(U, V\)"),
    (lambda: altmin.RankOneSensing(1, max_iter=3).fit(X, Y).predict((X, X)), "fitted on one design X"),
    (lambda: altmin.RankOneSensing(1).fit((X, X[:20]), Y), "U has 30 rows and V has 20"),
    (lambda: altmin.RankOneSensing(1).fit((X, X), Y[:20]), "y has 20 rows"),
    (lambda: pairs().predict((X, X)), "5 and 3 are expected"),
    (lambda: machine(pd.DataFrame({"a": list("ab") * 15})).predict(pd.DataFrame({"b": ["a"]})), "columns"),
    (lambda: topics().top_words(by="weights"), "by='weights': allowed are 'weight'"),
    (lambda: replace_by_outliers(X, 0.1, kind="odd"), "kind='odd': one of"),
    (lambda: datasets.make_sparse_dictionary(5, 3, kind="odd"), "kind='odd' must be"),
    (lambda: open_source([(X, Y, Y, Y)]), "this one has 4 parts"),
    (lambda: open_source([[[1.0, 2.0], [3.0]]]), "table of numbers|inhomogeneous"),
    (lambda: open_source([X[:0]]), r"without a single row"),
    (lambda: ColumnWriter(("a",), 3).write({"b": X[:, 0]}), r"declares columns \('a',\)"),
    (lambda: hyperspectral.unmix(np.full((2, 2, 3), "a"), 1), "numbers are needed"),
    (lambda: hyperspectral.unmix(X, 1), r"\(rows, columns, bands\) is needed"),
    (lambda: hyperspectral.unmix(np.zeros((2, 2, 3)), 1, bad_bands=[3]), "band numbers below 3"),
    (lambda: hyperspectral.unmix(np.zeros((2, 2, 3)), 1, bad_bands=None), "no pixel is left"),
    (lambda: images.denoise(np.array([[-1.7e308, 1.7e308]] * 20), 1.0), "its range overflows"),
    (lambda: images.estimate_noise(np.ones((40, 40)), np.indices((40, 40)).sum(0) % 2 == 0), "side by side"),
    (lambda: images.reconstruct(np.ones((8, 8)), np.full((4, 16), np.nan), 2), "finite atoms"),
    (lambda: images.reconstruct(np.ones((8, 8)), np.ones(16), 2), "one a row, are needed"),
    (lambda: mixtures.resolve(X, 6), r"n_components=6: 1 to 5 are possible"),
    (lambda: mixtures.resolve(X, 0), r"n_components=0: 1 to 5"),
    (lambda: mixtures.resolve(X[0], 1), r"X has shape \(5,\)"),
    (lambda: mixtures.resolve(NAN, 2), "X holds nan in row 1, column 2"),
    (lambda: mixtures.resolve([X, X[:, :4]], 2), r"runs have \[4, 5\] wavelengths"),
    (lambda: mixtures.resolve([X, X], 2, runs=[30, 30]), "one list of them"),
    (lambda: signatures.refit(COUNTS, COUNTS, level=1.0), "level=1.0: a share"),
    (lambda: signatures.refit(COUNTS, COUNTS, level=0.0), "level=0.0: a share"),
    (lambda: signatures.refit(COUNTS, COUNTS[:, :78]), r"96 channels \(SBS96\), the reference 78"),
    (lambda: signatures.match(COUNTS, COUNTS, threshold=1.0), "threshold=1.0: a cosine"),
    (lambda: signatures.match(COUNTS, COUNTS, threshold=0.0), "threshold=0.0: a cosine"),
    (lambda: signatures.SignatureModel(1).fit(COUNTS[:1]), "refit takes one"),
    (lambda: signatures.read_reference(np.zeros((1, 96))), "'signature 1' is 0 everywhere"),
    (lambda: signatures.read_table(COUNTS[0]), r"counts have shape \(96,\)"),
    (lambda: signatures.read_table(COUNTS.astype(str)), "dtype <U"),
    (lambda: signatures.read_table(-COUNTS), "aren't negative"),
    (lambda: signatures.read_table(COUNTS).select(["other"]), "no 'other' among the 6 rows"),
    (lambda: restore({"$": "odd"}, []), "unknown node 'odd'"),
    (lambda: restore({"$": "array", "array": 3}, []), "structure of the file is damaged"),
    (lambda: restore({"$": "tuple"}, []), "structure of the file is damaged"),
    (lambda: csr_from_parts((X[0], X[0].astype(int), np.arange(2)), (1, -2)), "can't have the shape"),
    (lambda: csr_from_parts((X[0], X[0], np.arange(2)), (1, 5)), "its indices integers"),
    (lambda: check_structure(sparse(indices=np.full(18, 1.0))), "its indices are float64"),
    (lambda: check_structure(sparse("csc", indptr=np.zeros((5, 1), int))), r"2 dimension\(s\)"),
    (lambda: check_structure(sparse("coo", row=np.full(18, 6))), "out of range"),
    (lambda: check_structure(sparse("coo", row=np.full(18, -1))), "out of range"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), ERRORS, ids=[message for _, message in ERRORS])
def test_a_wrong_call_is_refused_in_words(call, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=message):
            call()


def _npz(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


def _text(path, text):
    path.write_text(text)
    return path


TABLES = {
    "an array of 1 dimension": ("a.npy", lambda path: np.save(path, X[0])),
    "name one of them X": ("a.npz", lambda path: np.savez(path, a=X, b=X)),
    "not a readable parquet": ("a.parquet", lambda path: path.write_text("no")),
    "'b' holds no numbers": ("b.parquet", lambda path: pd.DataFrame({"b": ["x"]}).to_parquet(path)),
    "not a readable zarr": ("a.zarr", lambda path: path.mkdir()),
    "pickled Python objects": ("o.npy", lambda path: np.save(path, np.array([[None]]), allow_pickle=True)),
    "no matrix of scipy.sparse": ("s.npz", lambda path: np.savez(path, indices=Y, indptr=Y, format=Y)),
}


@pytest.mark.parametrize("message", TABLES)
def test_a_wrong_table_is_refused_in_words(message, tmp_path):
    name, write = TABLES[message]
    write(tmp_path / name)
    with pytest.raises(ValueError, match=message):
        open_tables(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "its first line isn't"),
        ("%%MatrixMarket matrix array complex general\n1 1\n1\n", "real numbers are needed"),
        ("%%MatrixMarket matrix array real general\n2 2 2\n1\n", "announces the sizes"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "3 numbers in 2 x 2 places"),
        ("%%MatrixMarket matrix array real symmetric\n1 1\n1\n", "1 numbers in 1 x 1 places"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "announces 2 entries"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "outside of the matrix"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "outside of the matrix"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 1\n", "outside of the matrix"),
    ],
)
def test_a_wrong_matrix_market_file_is_refused_in_words(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_matrix_market(_text(tmp_path / "a.mtx", text))


def test_a_file_that_ends_too_early_is_refused(tmp_path):
    table = open_tables(_npz(tmp_path / "a.npz", X=X))[0]
    np.testing.assert_array_equal(table.rows(3, 9), X[3:9])
    np.testing.assert_array_equal(table.rows(1, 4), X[1:4])  # backwards, too
    with pytest.raises(ValueError, match="ends before row 31"):
        table.rows(29, 31)


@pytest.mark.parametrize(("package", "name"), [("pyarrow.parquet", "a.parquet"), ("zarr", "a.zarr")])
def test_a_package_that_is_missing_is_named(package, name, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).mkdir() if name == "a.zarr" else (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match=re.escape("pip install 'altmin[io]'")):
        open_tables(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n1\n", "is no table"),
        ("a,b\n", "is no table"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, the first line 2"),
        ("a,b\n1,2\n", "holds the names of channels"),
    ],
)
def test_a_wrong_table_of_channels_is_refused_in_words(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        signatures.read_table(_text(tmp_path / "a.csv", text))


def test_a_stream_that_was_read_cannot_be_judged_by_halves():
    model = altmin.ApproximateDictionaryLearning(5, n_nonzero_coefs=1, max_iter=1, random_state=0).fit(X)
    with pytest.raises(ValueError, match="one-way stream"):
        model.plausible_components(iter([X]))


def test_a_source_without_rows_is_refused():
    with pytest.raises(ValueError, match="at least one is needed"):
        Source([], np.dtype(float))
