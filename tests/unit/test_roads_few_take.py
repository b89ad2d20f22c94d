"""Branches that ordinary data don't reach, each with data that do."""

import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import altmin
from altmin import mixtures, signatures
from altmin.algorithms.dictionary.posterior import gaussian_evidence
from altmin.algorithms.overcomplete import peeling_sizes
from altmin.algorithms.overcomplete.approximate import fill_up
from altmin.algorithms.sparse.machine_maps import rows_of
from altmin.contract import Block
from altmin.discovery.dimensions import _left
from altmin.discovery.page import _bar
from altmin.discovery.table import _is_incomplete
from altmin.engine import SourceError, open_source
from altmin.estimators.nonnegative.counts import are_counts
from altmin.io.container import ContainerError, read_container, write_container
from altmin.io.sparse_structure import check_structure
from altmin.kernels.masked import observed, squared_residuals
from altmin.selection.spectrum import spectrum
from altmin.signatures.channels import CHANNELS
from altmin.signatures.tables import read_reference, read_table

RNG = np.random.default_rng(0)


def test_the_channels_of_indels_are_those_of_the_catalogue():
    names = CHANNELS["ID83"]
    assert len(names) == len(set(names)) == 83
    kinds = {}
    for name in names:
        size, kind, what, _ = name.split(":")
        kinds.setdefault((size, kind, what), []).append(name)
    singles = [(("1", kind, base), 6) for kind in ("Del", "Ins") for base in "CT"]
    repeats = [((str(n), kind, "R"), 6) for kind in ("Del", "Ins") for n in range(2, 6)]
    micro = [(("2", "Del", "M"), 1), (("3", "Del", "M"), 2), (("4", "Del", "M"), 3), (("5", "Del", "M"), 5)]
    assert {key: len(found) for key, found in kinds.items()} == dict(singles + repeats + micro)
    assert {name.split(":")[3] for name in names if ":M:" not in name} == set("012345")
    assert [name for name in names if ":M:" in name][:2] == ["2:Del:M:1", "3:Del:M:1"]


def test_samples_without_mutations_are_named_and_names_come_once(tmp_path):
    counts = RNG.poisson(30.0, (8, 78)).astype(float)
    counts[[2, 5]] = 0
    with pytest.warns(UserWarning, match=r"2 sample\(s\) without mutations, the first is .*3"):
        signatures.SignatureModel(2, n_refits=0).fit(counts)
    lines = ["\t".join(["Type", "p1", "p2", "p1"])]
    lines += [f"{name}\t1\t2\t3" for name in CHANNELS["DBS78"]]
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="'p1' comes twice"):
        read_table(tmp_path / "t.txt")
    with pytest.raises(ValueError, match="the reference signature 'signature 2' is 0 everywhere"):
        read_reference(np.array([[1.0] * 78, [0.0] * 78]))


@pytest.mark.parametrize("spec", [None, type("Spec", (), {"origin": None})])
def test_without_an_installed_catalogue_it_says_what_to_give(spec, monkeypatch):
    monkeypatch.setattr("altmin.signatures.tables.find_spec", lambda name: spec)
    with pytest.raises(ValueError, match="no reference: give a file with signatures"):
        read_reference()


def test_leading_singular_values_of_a_large_sparse_table():
    X = sp.random(1600, 1700, 0.002, random_state=0, format="csr", dtype=np.float64)
    found = spectrum(X, 3)
    gram = (X @ X.T).toarray()
    exact = np.sqrt(np.linalg.eigvalsh(gram)[::-1][:8])
    np.testing.assert_allclose(found.values, exact, rtol=1e-6)
    assert (found.rank, found.above_noise, found.edge) == (1600, None, None)


def test_empty_cells_of_sparse_rows_are_found():
    X = sp.csr_array(np.array([[1.0, 0, 2], [0, np.nan, 0], [0, 0, 0]]))
    assert _is_incomplete(Block(0, 0, X)).tolist() == [False, True, False]
    assert _is_incomplete(Block(0, 0, X.toarray())).tolist() == [False, True, False]


def test_what_is_observed_of_sparse_rows_is_what_is_stored():
    dense = np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, 3.0], [np.nan] * 3])
    stored = np.argwhere(~np.isnan(dense))
    X = sp.csr_array((dense[tuple(stored.T)], tuple(stored.T)), shape=(3, 3))
    Z, A = RNG.random((3, 2)), RNG.random((2, 3))
    expected = np.nansum((dense - Z @ A) ** 2, axis=1)
    for given in (dense, X):
        Y, P = observed(given)
        assert P.sum() == 3
        assert Y.sum() == 6.0
        np.testing.assert_allclose(squared_residuals(given, Z, A), expected)


def test_the_evidence_of_a_gaussian_of_few_directions():
    """Within the span the data's moments, outside of it the same variance in all directions."""
    V = np.linalg.qr(RNG.standard_normal((6, 2)))[0]
    values, energy, X = np.array([3.0, 0.5]), 4.0, RNG.standard_normal((7, 6))
    frame = type("Frame", (), {"variances": values, "whiten": V / np.sqrt(values), "energy": energy})
    rest = (energy - values.sum()) / 4
    covariance = V * values @ V.T + rest * (np.eye(6) - V @ V.T)
    quadratic = np.einsum("ij,jk,ik->i", X, np.linalg.inv(covariance), X)
    # In the whitened frame inside @ values is the energy within the span.
    expected = -0.5 * (6 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + quadratic)
    np.testing.assert_allclose(gaussian_evidence(X, frame), expected)


def test_duplicates_of_sparse_rows_are_added_up():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 3))
    found = rows_of(X)
    assert found.toarray().tolist() == [[3.0, 3.0, 0.0]]
    assert found.has_canonical_format
    assert X.nnz == 3  # what the caller has stays as it is


def test_the_sizes_of_theory_fall_with_the_error_asked_for():
    relax = 1 - peeling_sizes._RELAX
    for eps in (0.1, 0.2):
        tau = peeling_sizes.theory_tau(3, 2.0, eps)
        assert tau == pytest.approx(eps**2 / (16 * 3 * 2.0))
        drop = peeling_sizes.theory_drop(10, 3, 2.0, eps)
        assert drop == pytest.approx(relax * tau * eps**3 / (16 * 10 * 2.0))
        draws = peeling_sizes.theory_draws(10, 2.0, eps)
        assert draws == np.ceil(2 * 16 * 10 * 2.0 * np.log(20) / (relax * eps**2))


def test_a_dictionary_of_zeros_and_of_rows_with_holes():
    nothing = altmin.peel_dictionary(np.zeros((50, 4)), 3, n_nonzero_coefs=1)
    assert nothing.shape == (3, 4)
    np.testing.assert_allclose(np.linalg.norm(nothing, axis=1), 1.0)
    bad = RNG.standard_normal((9000, 4))  # of which a sample is looked at
    for hole in (np.nan, np.inf, -np.inf):
        bad[40:, 2] = hole
        with pytest.raises(ValueError, match=r"row (4\d|5\d) holds NaN or Inf"):
            altmin.peel_dictionary(bad, 3, n_nonzero_coefs=1)


def test_closure_that_cannot_hold_is_refused():
    time = np.linspace(0, 1, 15)[:, None]
    C = np.hstack([time, time + 0.2])  # sums grow from .2 to 2.2: no positive scales make them equal
    asked = mixtures.resolution.Constraints(closure=1.0, runs=(15,), unimodal=(), absent=None, known={})
    with pytest.raises(ValueError, match="closure: no positive scales"):
        mixtures.resolution.scaled(C, np.ones((2, 4)), asked)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "other"}, "is a zip file, but not a file of altmin"),
        ({"version": "1"}, "it names no format version"),
        ({"version": 99}, "has format version 99; this altmin reads up to"),
    ],
)
def test_manifests_of_others_are_refused(change, words, tmp_path):
    import hashlib

    write_container(tmp_path / "a", {"x": 1}, {})
    with zipfile.ZipFile(tmp_path / "a") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    text = json.dumps(manifest | change).encode()
    with zipfile.ZipFile(tmp_path / "b", "w") as archive:
        archive.writestr("manifest.json", text)
        archive.writestr("manifest.sha256", hashlib.sha256(text).hexdigest())
    with pytest.raises(ContainerError, match=words):
        read_container(tmp_path / "b")


def test_tables_of_odd_layouts(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.savez(tmp_path / "f.npz", X=np.asfortranarray(X))
    np.testing.assert_array_equal(open_source(tmp_path / "f.npz").read(1, 4).X, X[1:])
    zarr = pytest.importorskip("zarr", reason="the extra 'io' is not installed")
    zarr.save_array(str(tmp_path / "x.zarr"), np.ones(5))
    with pytest.raises(SourceError, match=r"holds an array of 1 dimension\(s\); 2 are needed"):
        open_source(tmp_path / "x.zarr")


def test_indices_out_of_range_are_refused_in_every_format():
    for fmt in ("csr", "csc"):
        astray = sp.csr_array(np.eye(3)).asformat(fmt)
        astray.indices[0] = 7
        with pytest.raises(ValueError):
            check_structure(astray)


def test_a_stream_of_which_nothing_was_read_has_nothing_to_repeat():
    from altmin.engine.cursor import Cursor

    cursor = Cursor(open_source(iter([np.ones((5, 2))])), 256, 0, 0)
    with pytest.raises(SourceError, match="nothing was read before"):
        cursor._read((0, 3), None)


def test_clicks_are_completed_by_scores_and_features_have_a_width():
    clicks = sp.csr_array((RNG.random((30, 8)) < 0.3).astype(float))
    model = altmin.InductiveMatrixCompletion(2, feedback="implicit", max_iter=5, random_state=0).fit(clicks)
    whole = model.complete()
    assert whole.shape == (30, 8)
    rows, columns = np.indices(whole.shape)
    np.testing.assert_allclose(model.predict(rows.ravel(), columns.ravel()), whole.ravel())
    with pytest.raises(ValueError, match="knows no features"):
        model.complete(np.ones((2, 3)))


def test_a_class_that_a_half_lacks_leaves_nothing_to_compare():
    X = RNG.standard_normal((60, 3))
    y = np.zeros(60)
    y[11] = 1
    model = altmin.FactorizationMachineClassifier(1, max_iter=3, random_state=0).fit(X, y)
    report = model.guarantee(X, y)
    assert report["halves"].measured == 2.0
    assert report.verdict != "recovered"


def test_codes_may_be_a_list_or_sparse():
    model = altmin.AND(2, max_iter=3).fit(RNG.random((40, 5)))
    codes = RNG.random((4, 2))
    expected = codes @ model.components_
    for given in (codes, codes.tolist(), sp.csr_array(codes)):
        made = model.inverse_transform(given)
        np.testing.assert_allclose(made.toarray() if sp.issparse(made) else made, expected)
    with pytest.raises(ValueError, match="one per component"):
        model.inverse_transform(codes[:, :1].tolist())


@pytest.mark.parametrize(
    ("values", "counts"),
    [([0, 1, 2], True), ([0, 1, 1], False), ([0, 1, 2.5], False), ([0, -1, 2], False), ([60, 70, 80], False)],
)
def test_counts_are_whole_numbers_some_of_them_small(values, counts):
    X = np.array(values * 40, dtype=float).reshape(20, 6)
    assert are_counts("auto", open_source(X)) == counts
    assert are_counts("poisson", open_source(X))
    assert not are_counts("gaussian", open_source(X))


@pytest.mark.parametrize(("small", "counts"), [(0, False), (4, False), (6, True)])
def test_one_entry_in_a_hundred_has_to_be_a_small_count(small, counts):
    X = np.full((50, 10), 50.0)
    X.ravel()[:small] = 3.0
    assert are_counts("auto", open_source(X)) == counts


def test_missing_atoms_are_those_that_were_drawn_then_directions_at_random():
    atoms, drawn = np.eye(4)[:1], np.eye(4)[1:3]
    for n in (1, 2, 3, 5):
        found = fill_up(atoms, n, drawn, 0)
        assert found.shape == (n, 4)
        np.testing.assert_array_equal(found[:3], np.eye(4)[: min(n, 3)])
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    np.testing.assert_array_equal(fill_up(atoms, 3, None, 0), fill_up(atoms, 3, None, 0))
    assert not np.array_equal(fill_up(atoms, 3, None, 0), fill_up(atoms, 3, None, 1))


def test_what_dimensions_leave_of_held_out_cells_by_hand():
    table = RNG.standard_normal((30, 2)) @ RNG.standard_normal((2, 8)) + 0.1 * RNG.standard_normal((30, 8))
    rows, columns = np.arange(30) < 6, np.arange(8) < 3
    A, B = table[:6, :3], table[:6, 3:]
    C, D = table[6:, :3], table[6:, 3:]
    U, values, V = np.linalg.svd(D, full_matrices=False)
    for k, found in enumerate(_left(table, rows, columns, 3).T):
        guess = B @ V[:k].T @ np.diag(1 / values[:k]) @ U[:, :k].T @ C
        np.testing.assert_allclose(found, np.sum((A - guess) ** 2, axis=1))


def test_bars_say_their_share_in_words_and_width():
    assert "width:50%" in _bar(-0.5)
    assert 'title="-0.50 of the largest"' in _bar(-0.5)
    assert 'title="+1.00 of the largest"' in _bar(1.0)
    assert _bar(-0.5).replace("-0.50", "+0.50") != _bar(0.5)  # another colour


def test_a_model_file_without_its_components_is_refused(tmp_path):
    model = altmin.AND(2, max_iter=3).fit(RNG.random((40, 5)))
    del model.components_
    altmin.save(model, tmp_path / "m")
    with pytest.raises(ContainerError, match="components_ are missing"):
        altmin.load(tmp_path / "m")


def test_one_class_is_refused_in_parts_too():
    X = RNG.standard_normal((20, 3))
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match="only one class is present"):
            altmin.FactorizationMachineClassifier(1).partial_fit(rows, np.ones(20))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_fullest_window_of_angles_by_hand(n):
    """Angles count modulo pi: a window may begin near the end and go on at 0."""
    from altmin.kernels.lines import _fullest

    angles = np.random.default_rng(n).random(n) * np.pi
    for window in (0.1, 0.7, 1.5):
        most = max(np.sum((angles - begin) % np.pi <= window + 1e-12) for begin in angles)
        assert _fullest(angles, window) == most


def test_a_polar_factor_whose_entries_include_zeros_and_infinity():
    A = np.array([[3.0, 0.0], [0.0, -2.0]])
    np.testing.assert_allclose(altmin.polar(A), [[1.0, 0.0], [0.0, -1.0]])
    np.testing.assert_allclose(altmin.polar(A * 1e300), [[1.0, 0.0], [0.0, -1.0]])
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="NaN or infinity"):
            altmin.polar(np.array([[bad, 0.0], [0.0, 1.0]]))
