"""Signatures: tables in either notation and orientation, matches, exposures with intervals, the model."""

from __future__ import annotations

import numpy as np
import pytest

from altmin import AND, select_n_components
from altmin.selection.thinning import noise_size, thin
from altmin.signatures import SignatureModel, match, read_reference, read_table, refit
from altmin.signatures.channels import CHANNELS, canonical
from altmin.signatures.number import choose_number

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def library(n, seed=0, n_channels=96):
    return np.random.default_rng(seed).dirichlet(np.full(n_channels, 0.1), n)


def cohort(A, n=80, depth=2000, seed=0):
    rng = np.random.default_rng([seed, n])
    Z = depth * rng.dirichlet(np.full(len(A), 0.4), n)
    Z[Z < 0.05 * depth] = 0.0
    return rng.poisson(Z @ A).astype(float), Z


def write(path, channels, names, values, separator="\t", head="Type"):
    lines = [separator.join([head, *names])]
    lines += [separator.join([c, *map(str, row)]) for c, row in zip(channels, values.T, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("kind", "n"), [("SBS96", 96), ("DBS78", 78), ("ID83", 83)])
def test_channels_are_those_of_the_field(kind, n):
    assert len(set(CHANNELS[kind])) == n
    assert all(canonical(name) == name for name in CHANNELS[kind])


def test_other_notations_name_the_same_channels():
    for name in CHANNELS["SBS96"]:
        left, ref, alt, right = name[0], name[2], name[4], name[6]
        other = [letter.translate(COMPLEMENT) for letter in (right, ref, alt, left)]
        for text in (
            f"{left}{ref}{right}>{left}{alt}{right}",
            f"{ref}>{alt} {left}{ref}{right}",
            f"{left}{ref}{right}:{ref}>{alt}",
            "{}[{}>{}]{}".format(*other),
        ):
            assert canonical(text) == name
    assert canonical("DEL_repeats_3_5+") == "3:Del:R:5"
    assert canonical("GT>TG") == "AC>CA"
    for wrong in ("ACA>ATT", "A[C>C]A", "C>A ATA", "DEL_C_9_0", "", "SBS1"):
        assert canonical(wrong) is None


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("kind", list(CHANNELS))
def test_tables_are_read_in_any_order_and_either_way_round(tmp_path, kind, separator):
    rng = np.random.default_rng(0)
    channels = np.array(CHANNELS[kind])
    X = rng.integers(0, 50, (3, len(channels)))
    order = rng.permutation(len(channels))
    file = write(tmp_path / "a.txt", channels[order], ["a", "b", "c"], X[:, order], separator)
    table = read_table(file)
    assert table.kind == kind and table.names == ("a", "b", "c") and table.channels == CHANNELS[kind]
    np.testing.assert_array_equal(table.values, X)
    turned = write(tmp_path / "b.txt", ["a", "b", "c"], channels[order], X[:, order].T, separator)
    np.testing.assert_array_equal(read_table(turned).values, X)


def test_two_columns_of_names_and_frames_are_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = np.arange(192).reshape(2, 96)
    pairs = [f"{c[2:5]},{c[0]}{c[2]}{c[6]}" for c in CHANNELS["SBS96"]]
    file = write(tmp_path / "pcawg.csv", pairs, ["a", "b"], X, ",", "Type,SubType")
    np.testing.assert_array_equal(read_table(file).values, X)
    frame = pandas.DataFrame(X.T, index=list(CHANNELS["SBS96"]), columns=["a", "b"])
    np.testing.assert_array_equal(read_table(frame).values, X)
    np.testing.assert_array_equal(read_table(frame.T).values, X)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda names, X: (names[:-1], X[:, :-1]), "1 of the channels of SBS96 are missing"),
        (lambda names, X: ([*names[:-1], names[0]], X), "comes twice"),
        (lambda names, X: ([*names[:-1], "bogus"], X), "'bogus' is no channel"),
        (lambda names, X: (names, np.where(np.arange(96) == 5, -1, X)), "aren't negative"),
        (lambda names, X: (names, np.where(np.arange(96) == 5, "x", X.astype(str))), "is no number"),
        (lambda names, X: ([f"gene {i}" for i in range(96)], X), "names of channels"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path, spoil, said):
    names, X = spoil(list(CHANNELS["SBS96"]), np.ones((1, 96), int))
    with pytest.raises(ValueError, match=said):
        read_table(write(tmp_path / "a.txt", names, ["a"], X))


def test_match_names_single_ones_merges_splits_and_new_ones():
    known = read_reference(library(8))
    found = np.array(
        [
            known.values[2],
            0.6 * known.values[0] + 0.4 * known.values[1],
            np.where(np.arange(96) < 48, known.values[5], 0),
            np.where(np.arange(96) < 48, 0, known.values[5]),
            np.full(96, 1 / 96),
        ]
    )
    result = match(found, known, threshold=0.95)
    assert [row.kind for row in result.rows][:2] == ["match", "merge"]
    assert result.rows[0].references == ("signature 3",)
    assert set(result.rows[1].references) == {"signature 1", "signature 2"}
    np.testing.assert_allclose(result.rows[1].shares, [0.6, 0.4], atol=1e-6)
    assert result.rows[4].kind == "new"
    assert result.splits == {"signature 6": ("signature 3", "signature 4")}
    assert result.names() == ("signature 3", "signature 1", "signature 2", "signature 6")


def test_match_against_a_single_reference():
    known = library(2)
    result = match(known, known[:1], threshold=0.95)
    assert [row.kind for row in result.rows] == ["match", "new"]


def test_match_refuses_other_channels():
    with pytest.raises(ValueError, match="78 channels"):
        match(np.ones((1, 78)), np.ones((2, 96)))


def test_refit_finds_the_right_few_of_a_catalogue_and_covers():
    A = library(30)
    X, Z = cohort(A[:4], n=60)
    found = refit(X, A)
    assert set(found.signatures) == {f"signature {i}" for i in range(1, 5)}
    columns = [found.signatures.index(f"signature {i}") for i in range(1, 5)]
    low, high = found.low[:, columns], found.high[:, columns]
    inside = ((low <= Z) & (Z <= high))[Z > 0]
    assert 0.8 <= inside.mean() <= 0.98
    assert np.all((found.low <= found.values) & (found.values <= found.high))
    assert np.abs(found.values[:, columns] - Z).sum() < 0.1 * Z.sum()


def test_intervals_widen_with_the_level_and_with_dispersion():
    A = library(3)
    X, Z = cohort(A, n=40)
    narrow, wide = refit(X, A, level=0.5), refit(X, A, level=0.99)
    assert (wide.high - wide.low).sum() > 1.5 * (narrow.high - narrow.low).sum()
    noisy = np.random.default_rng(1).negative_binomial(5, 5 / (5 + np.maximum(Z @ A, 1e-9)))
    assert refit(noisy, A).dispersion > 1.5 > 1.3 > refit(X, A).dispersion


def test_a_large_reference_gives_the_intervals_of_the_true_signatures():
    A = np.random.default_rng(3).dirichlet(np.full(96, 0.5), 60)  # that look alike
    X, _ = cohort(A[:4], n=150, depth=800)
    found, known = refit(X, A), refit(X, A[:4])
    assert found.signatures == known.signatures
    np.testing.assert_allclose(found.high, known.high, rtol=1e-3, atol=0.5)


def test_intervals_of_overdispersed_counts_cover_large_exposures_too():
    A = library(4, seed=5)
    inside = []
    for seed in range(3):
        _, Z = cohort(A, n=80, depth=5000, seed=seed)
        mean = Z @ A * np.random.default_rng(seed).gamma(10.0, 0.1, (80, 96))
        found = refit(np.random.default_rng(seed).poisson(mean), A, select=False)
        inside.append(((found.low <= Z) & (Z <= found.high))[Z > 0])
    assert 0.85 <= np.concatenate(inside).mean() <= 0.95


def test_exposures_are_the_likeliest_ones():
    A = library(4)
    X, _ = cohort(A, n=5)
    found = refit(X, A, select=False)
    for x, z in zip(X, found.values, strict=True):
        on = z > 0
        slope = A[on] @ (x / (z @ A)) - 1.0
        assert z.sum() == pytest.approx(x.sum(), rel=1e-3)
        np.testing.assert_allclose(slope, 0.0, atol=2e-3)


def test_the_model_finds_planted_signatures_with_hypermutated_samples_kept():
    A = library(4)
    X, _ = cohort(A, n=90)
    X[:3] += np.random.default_rng(0).poisson(40_000 * A[0], (3, 96))
    model = SignatureModel(4, n_refits=2).fit(X)
    assert [row.kind for row in match(model, A, threshold=0.95).rows] == ["match"] * 4
    np.testing.assert_allclose(model.signatures_.values.sum(axis=1), 1.0)
    assert not model.model_.outlier_mask_.any()
    np.testing.assert_allclose(model.exposures_.values.sum(axis=1), X.sum(axis=1), rtol=0.02)
    assert model.stability_.shape == (4,) and model.stability_.min() > 0.9
    rows = model.summary()
    assert [row["signature"] for row in rows] == ["SBS96A", "SBS96B", "SBS96C", "SBS96D"]
    assert [row["verdict"] for row in rows] == [factor.verdict for factor in model.guarantee_.factors]
    np.testing.assert_allclose(model.transform(X), model.exposures_.values)


def test_the_number_is_that_of_the_planted_signatures():
    assert choose_number(cohort(library(4), n=80)[0], 10, 0).n_components == 4


@pytest.mark.parametrize("shape", [5.0, pytest.param(30.0, marks=pytest.mark.slow)])
def test_counts_that_vary_more_than_poisson_counts_have_no_more_signatures(shape):
    rng = np.random.default_rng(8)
    means = cohort(library(3, seed=4), n=70, depth=3000)[1] @ library(3, seed=4)
    X = rng.poisson(means * rng.gamma(shape, 1 / shape, means.shape)).astype(float)
    assert 0.7 * shape < noise_size(X, 5) < 1.5 * shape
    assert choose_number(X, 8, 0).n_components == 3
    chosen = select_n_components(AND(2, noise="poisson"), X, range(2, 6), n_splits=1)
    assert chosen.n_components == 3


def test_halves_of_counts_are_independent_whatever_their_variance():
    rng = np.random.default_rng(9)
    mean, shape = 40.0, 4.0
    poisson = rng.poisson(mean, (300, 90)).astype(float)
    wild = rng.poisson(mean * rng.gamma(shape, 1 / shape, (300, 90))).astype(float)
    for X, size in ((poisson, np.inf), (wild, shape)):
        seen, hidden = thin(X, 1, size)
        np.testing.assert_array_equal(seen + hidden, X)
        assert abs(np.corrcoef(seen.ravel(), hidden.ravel())[0, 1]) < 0.03
        assert abs(seen.mean() / hidden.mean() - 1) < 0.03
    assert np.corrcoef(*(half.ravel() for half in thin(wild, 1)))[0, 1] > 0.5  # as fair coins do it
    assert noise_size(poisson, 2) == np.inf


def test_shares_are_no_counts():
    with pytest.raises(ValueError, match="whole numbers"):
        SignatureModel(2).fit(np.full((5, 96), 0.5))


def test_stability_is_the_second_smallest_cosine_of_the_refits(monkeypatch):
    A = library(2)
    X, _ = cohort(A)
    model = SignatureModel(2, n_refits=0).fit(X)
    truth = model.signatures_.values
    turns = iter([0.0, 0.3, 0.6, 0.9])

    def turned(estimator, rows):
        share = next(turns)
        estimator.components_ = (1 - share) * truth + share * truth.mean(axis=0)
        return estimator

    monkeypatch.setattr("altmin.signatures.model.quiet_fit", turned)
    model.n_refits = 4
    mixed = 0.4 * truth + 0.6 * truth.mean(axis=0)
    expected = np.sum(mixed * truth, axis=1) / np.linalg.norm(mixed, axis=1) / np.linalg.norm(truth, axis=1)
    np.testing.assert_allclose(model._stability(X), expected, rtol=1e-6)


def test_empty_signatures_are_refused():
    X, _ = cohort(library(2))
    model = SignatureModel(2, n_refits=0).fit(X)
    model.model_.components_ = np.vstack([model.model_.components_[:1], np.zeros((1, 96))])
    with pytest.raises(ValueError, match="1 of 2 signatures are empty"):
        model._table(read_table(X))


@pytest.mark.parametrize(("small", "split"), [(0.4, True), (0.06, False)])
def test_a_part_that_hardly_counts_makes_no_split(small, split):
    known = library(1)
    left = known * (np.arange(96) % 2 == 0)
    other = known - left
    shift = 0.25 * library(1, seed=3)
    parts = np.vstack([left / left.sum() + shift, other / other.sum() + shift])
    whole = (1 - small) * parts[0] + small * parts[1]
    found = match(parts, np.vstack([whole / whole.sum(), library(1, seed=9)]), threshold=0.995)
    assert bool(found.splits) == split


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Type\nA[C>A]A\t1\n", "is no table"),
        ("Type\tp1\nA[C>A]A\n", "line 2 has 1 cells, the first line 2"),
        ("Type\tp1\n", "is no table"),
        ("", "is no table"),
    ],
)
def test_what_is_no_table_is_refused_with_what_is_missing(text, reason, tmp_path):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(ValueError, match=reason):
        read_table(tmp_path / "t.txt")


def test_names_of_reference_signatures_are_those_of_the_file_or_numbers(tmp_path):
    channels = CHANNELS["DBS78"]
    assert read_reference(np.ones((2, 78))).names == ("signature 1", "signature 2")
    lines = ["\t".join(["Type", "my sample 1", "sample 2"])] + [f"{name}\t1\t2" for name in channels]
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    assert read_reference(tmp_path / "t.txt").names == ("my sample 1", "sample 2")
