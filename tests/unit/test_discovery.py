"""Discover: the right family and number on planted tables, and no claim where there is no structure."""

import contextlib
import json
import os
import signal
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import altmin
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.discovery import families, search
from altmin.discovery.dimensions import count_dimensions, noise_units
from altmin.discovery.families import MIXTURES, OVERCOMPLETE, Seen, are_columns
from altmin.discovery.held_out import (
    gaussian_weights,
    non_negative_weights,
    one_each,
    relative_error,
    sparse_weights,
)
from altmin.discovery.look import look_at
from altmin.discovery.page import write_page
from altmin.discovery.screen import can_be_sparse
from altmin.discovery.sparsity import gaussian_twin, left_over
from altmin.guarantees.report import GuaranteeReport, check

RNG = np.random.default_rng(0)
MIXTURE = make_dir(400, 16, 3, concentration=0.3, random_state=2).X
SPARSE = make_sparse_dictionary(800, 8, density=0.15, random_state=2).X
LOW_RANK = RNG.standard_normal((600, 3)) @ RNG.standard_normal((3, 10)) + 0.1 * RNG.standard_normal((600, 10))


def find(table, y=None):
    return altmin.discover(table, y, budget="quick", random_state=0)


def seen_in(rows, unit=1.0):
    centred = rows - rows.mean(axis=0)
    return Seen(
        rows, look_at(rows), count_dimensions(rows / unit, 40), count_dimensions(centred / unit, 40), 0
    )


@pytest.fixture(scope="module")
def mixture():
    return find(MIXTURE)


def test_mixtures_are_found_with_their_number(mixture):
    assert (mixture.kind, mixture.n_components) == ("mixtures", 3)
    assert mixture.guarantee.verdict == "recovered"
    assert mixture.guarantee.effort == "full"
    assert "3 features" in mixture.answer


def test_sparse_combinations_are_found():
    found = find(SPARSE)
    assert (found.kind, found.n_components) == ("sparse combinations", 8)
    assert found.guarantee.verdict == "recovered"


@pytest.mark.parametrize(
    ("table", "kind"),
    [(LOW_RANK, "low rank"), (np.random.default_rng(1).standard_normal((600, 6)), "noise")],
    ids=["low rank", "noise"],
)
def test_tables_without_structure_get_no_claim(table, kind):
    found = find(table)
    assert found.kind == kind
    assert found.best is None
    assert found.guarantee is None


def test_a_law_is_found_beside_a_target():
    problem = make_quadratic(2500, 8, 2, random_state=0)
    found = find(problem.X, problem.y)
    assert (found.kind, found.n_components) == ("quadratic law", 2)
    assert all(len(term.columns) in (1, 2) for term in found.terms)
    assert [term.weight for term in found.terms] == sorted((t.weight for t in found.terms), reverse=True)
    frame = pd.DataFrame(problem.X, columns=list("abcdefgh"))
    linear = find(frame, 2 * problem.X[:, 1] - problem.X[:, 4] + 0.01 * RNG.standard_normal(2500))
    assert linear.kind == "linear law"
    assert [term.columns for term in linear.terms[:2]] == [(1,), (4,)]
    assert "2 x b" in str(linear)
    np.testing.assert_allclose([term.coefficient for term in linear.terms[:2]], [2, -1], atol=0.01)
    assert linear.guarantee is None
    assert find(problem.X, RNG.standard_normal(2500)).kind == "no relation"


def test_a_rank_between_those_of_the_search_is_found():
    # of different sizes: 1 - M of equal ones has rank 3, and squares of their own explain the 1
    problem = make_quadratic(2500, 8, 5, condition=3.0, noise=0.05, random_state=0)
    found = find(problem.X, problem.y)
    assert (found.kind, found.n_components) == ("quadratic law", 5)


@pytest.fixture(scope="module")
def rare():
    """Counts of six features, four of which few rows have."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(24, 0.15), size=6)
    many = rng.gamma(1, 400, (240, 6))
    few = rng.gamma(1, 60, (240, 6)) * (rng.random((240, 6)) < 0.06)
    return rng.poisson(np.where(np.arange(6) < 2, many, few) @ shares).astype(float)


def test_features_of_counts_that_few_rows_have_are_seen_in_halves_of_the_counts(rare):
    def numbers(rows):
        return [model.n_components for model in MIXTURES.proposals(seen_in(rows, noise_units(rows)))]

    assert numbers(rare) == [4, 6]
    assert numbers(rare + 0.25) == [4]  # no counts


def test_families_that_rows_speak_for_are_named_where_none_is_claimed(rare):
    found = find(rare)
    assert found.kind == "low rank"
    assert "neither confirmed nor ruled out: mixtures (4), mixtures (6)." in found.why[1]
    assert found.why[2].startswith("To be surer of mixtures: ")
    noted = [bool(row.note) for row in found.candidates]
    assert noted == sorted(noted) and noted[-1]  # what something speaks against comes last
    page = found._repr_html_()
    table, below = page[: page.rindex("</table>")], page[page.rindex("</table>") :]
    assert found.candidates[-1].note not in table  # a column of sentences is too wide for a phone
    assert found.candidates[-1].note in below
    assert f"<b>{found.candidates[-1].family}, {found.candidates[-1].n_components}: </b>" in below


@pytest.mark.parametrize(("overlooked", "numbers"), [(1, [1, 2]), (2, [2])])
def test_low_rank_takes_the_dimensions_that_mixtures_show(overlooked, numbers, monkeypatch):
    """A family is held against the best plain alternative, not against one of too few dimensions."""
    count = search.count_dimensions

    def counted(table, most, seed):
        found = count(table, most, seed)
        return replace(found, chosen=overlooked) if abs(table.mean(axis=0)).max() < 1e-9 else found

    monkeypatch.setattr(search, "count_dimensions", counted)
    monkeypatch.setattr(search, "_WORSE", 0.0)  # any mixtures predict better by so much
    plain = [row.n_components for row in find(MIXTURE).candidates if row.family == "low rank"]
    assert sorted(plain) == numbers


def test_a_search_for_many_atoms_takes_fewer_rows(monkeypatch):
    taken = []
    fit = search.quiet_fit
    monkeypatch.setattr(search, "quiet_fit", lambda model, rows: taken.append(len(rows)) or fit(model, rows))
    monkeypatch.setattr(search, "_ROWS_TIMES_ATOMS", 8 * 400)
    assert find(SPARSE).kind == "sparse combinations"
    assert taken[-2:] == [320, 800]  # every other one of 640 rows for 8 atoms; the winner gets all
    taken.clear()
    monkeypatch.setattr(search, "_ROWS_TIMES_ATOMS", 400)
    assert find(MIXTURE).kind == "mixtures"
    assert taken[0] == 320


def test_mixtures_of_counts_whose_rates_vary_are_no_groups():
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(40, 0.2), size=4)
    sizes = rng.uniform(200, 800, (900, 1))
    mixed, grouped = rng.dirichlet(np.full(4, 0.2), size=900), np.eye(4)[rng.integers(0, 4, 900)]
    mixed, grouped = (
        rng.poisson(mean * rng.gamma(5, 1 / 5, mean.shape)).astype(float)
        for mean in (sizes * mixed @ shares, sizes * grouped @ shares)
    )
    assert one_each(grouped, shares)
    assert not one_each(mixed, shares)
    found = find(mixed)
    assert (found.kind, found.n_components) == ("mixtures", 4)


def test_the_answer_can_be_run_again_saved_and_shown(mixture, tmp_path):
    names = {"X": MIXTURE}
    exec(mixture.code, names)
    np.testing.assert_array_equal(names["model"].components_, mixture.best.components_)
    mixture.save(tmp_path / "found.altmin")
    loaded = altmin.load(tmp_path / "found.altmin")
    np.testing.assert_array_equal(loaded.components_, mixture.best.components_)
    assert json.loads((tmp_path / "found.json").read_text())["kind"] == "mixtures"
    assert mixture.answer in str(mixture)
    assert "What was tried" in mixture._repr_html_()
    assert len(mixture.why) == 3
    rows = pd.DataFrame([row.to_dict() for row in mixture.candidates])
    assert set(rows["family"]) >= {"mixtures", "low rank"}


def test_factors_can_be_drawn_and_shown_with_their_names(mixture, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    names = [f"<column {i}>" for i in range(16)]
    display = mixture.plot(feature_names=names)
    assert len(display.axes_.flat) == 3
    plt.close(display.figure_)
    page = write_page(mixture, tmp_path / "page.html", "a table", words=names).read_text(encoding="utf-8")
    largest = int(np.argmax(mixture.best.components_[0]))
    assert page.count("Factor ") == 3
    assert f"&lt;column {largest}&gt;" in page
    assert "<column" not in page
    assert f'title="&lt;column {largest}&gt;"' in page  # the whole name, where it is cut
    assert "-webkit-line-clamp:2" in page
    with pytest.raises(ValueError, match="no factors"):
        find(np.random.default_rng(1).standard_normal((100, 4))).plot()


def test_the_same_seed_gives_the_same_bits(mixture):
    other = find(MIXTURE)
    assert [(c.family, c.error, c.verdict) for c in mixture.candidates] == [
        (c.family, c.error, c.verdict) for c in other.candidates
    ]
    np.testing.assert_array_equal(mixture.best.components_, other.best.components_)


def test_the_number_of_atoms_beyond_the_columns_is_seen_from_what_is_left():
    rows = make_planted_sparse(1200, 10, 15, 2, 0.03, random_state=0).X
    seen = seen_in(rows)
    (proposal,) = OVERCOMPLETE.proposals(seen)
    assert (proposal.n_components, proposal.n_nonzero_coefs) == (15, 2)
    gaussian = np.random.default_rng(0).standard_normal((1200, 10))
    assert not list(OVERCOMPLETE.proposals(seen_in(gaussian)))


def test_what_a_look_rules_out_is_not_fitted():
    """Gaussian rows have no peaked direction, so no dictionary is searched for; sparse ones have."""
    gaussian = np.random.default_rng(2).standard_normal((600, 12))
    assert not can_be_sparse(gaussian, 12, 0)
    assert not can_be_sparse(gaussian @ np.random.default_rng(3).standard_normal((12, 12)), 12, 0)
    assert can_be_sparse(SPARSE, 8, 0)
    assert [row.family for row in find(gaussian).candidates] == ["noise"]


def test_the_full_report_is_made_only_where_the_first_one_leaves_hope(monkeypatch):
    asked = []
    judged = search._judged
    monkeypatch.setattr(search, "_judged", lambda model, X: asked.append(len(X)) or judged(model, X))
    found = find(LOW_RANK)
    assert found.best is None
    assert any("far worse than low rank" in row.note for row in found.candidates)
    assert asked == []
    assert find(MIXTURE).kind == "mixtures"
    assert asked[0] == 400  # all rows, also those that the search held out


@pytest.mark.parametrize(
    ("verdict", "otherwise", "hope"),
    [
        ("unknown", None, True),  # tests are missing at this effort
        ("unknown", "plausible", True),
        ("unknown", "unknown", False),  # a test that failed stays failed
        ("contradicted", None, False),
        ("plausible", "plausible", True),
    ],
)
def test_hope_ends_where_a_deciding_test_rules_the_claim_out(verdict, otherwise, hope):
    rows = [check("holds", "a", "", 1.0, at_most=2.0, meaning="", decisive=True)]
    rows.append(check("shown only", "b", "", 3.0, at_most=2.0, meaning="", otherwise="contradicted"))
    if otherwise is not None:
        rows.append(check("fails", "c", "", 3.0, at_most=2.0, meaning="", decisive=True, otherwise=otherwise))
    assert search._leaves_hope(GuaranteeReport(verdict, tuple(rows))) is hope


def test_few_atoms_leave_less_of_sparse_rows_than_of_gaussian_ones():
    problem = make_sparse_dictionary(600, 8, density=0.15, random_state=0)
    nothing = np.zeros(8)
    assert left_over(problem.X, problem.components, nothing).min() < 0.05
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]
    assert left_over(problem.X, problem.components @ turned, nothing).min() > 0.5
    gaussian = gaussian_twin(problem.X, 1)
    assert left_over(gaussian, problem.components, nothing).min() > 0.8
    tails = gaussian / np.sqrt(np.random.default_rng(1).chisquare(1.5, (600, 1)))
    tails[:3] = 1e3 * problem.components[:3]  # a few huge rows that are atoms
    assert left_over(tails, problem.components, nothing).min() > 0.8
    shifted = left_over(problem.X + 5.0, problem.components, nothing + 5.0)
    np.testing.assert_allclose(shifted, left_over(problem.X, problem.components, nothing), rtol=1e-6)


def test_atoms_that_are_alike_hide_sparse_rows_from_a_pursuit_but_not_from_their_codes():
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((5, 5)) * 0.25 + rng.standard_normal(5)
    rows = (rng.choice([-1.0, 1.0], (600, 5)) * (rng.random((600, 5)) < 0.2)) @ atoms
    assert left_over(rows, atoms, np.zeros(5)).min() < 0.05


def test_a_twin_has_the_same_mean_and_covariance():
    rows = np.random.default_rng(0).exponential(size=(4000, 3)) @ np.array(
        [[1.0, 2, 0], [0, 1, 1], [3, 0, 1]]
    )
    twin = gaussian_twin(rows, 0)
    np.testing.assert_allclose(twin.mean(axis=0), rows.mean(axis=0), rtol=0.05)
    np.testing.assert_allclose(np.cov(twin.T), np.cov(rows.T), rtol=0.1, atol=0.1)


@pytest.mark.parametrize(("table", "kind"), [(SPARSE, "sparse combinations"), (MIXTURE, "mixtures")])
def test_a_family_is_found_also_where_the_report_confirms_no_factor(table, kind, monkeypatch):
    """The rows show the family; the report, which says how exact the factors are, is quoted."""

    def doubt(model, X):
        model.guarantee_ = GuaranteeReport("unknown", ())
        return model

    monkeypatch.setattr(search, "_judged", doubt)
    found = find(table)
    assert found.kind == kind
    assert found.guarantee.verdict == "unknown"
    assert "can't be seen" in found.why[1]


@pytest.mark.parametrize(
    ("few_leave", "verdict", "found"),
    [(0.3, "recovered", True), (0.3, "plausible", False), (0.3, "unknown", False), (0.6, "recovered", False)],
)
def test_a_report_decides_where_the_rows_alone_do_not(few_leave, verdict, found, monkeypatch):
    def said(model, X):
        model.guarantee_ = GuaranteeReport(verdict, ())
        return model

    monkeypatch.setattr(search, "_judged", said)
    monkeypatch.setattr(search, "few_leave", lambda model, seen: few_leave)
    assert (find(MIXTURE).best is not None) is found


def test_orthogonal_atoms_are_told_from_others_by_what_they_leave():
    rng = np.random.default_rng(0)
    rows = make_sparse_dictionary(900, 8, density=0.15, orthogonal=True, random_state=0).X
    found = find(rows + 0.03 * rows.std() * rng.standard_normal(rows.shape))
    assert (found.kind, found.n_components) == ("sparse combinations, orthogonal atoms", 8)


def test_columns_with_zeros_of_their_own_are_no_combinations():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((700, 8)) * (rng.random((700, 8)) < 0.15)
    assert are_columns(np.eye(8))
    assert not are_columns(np.eye(8)[:3])  # three features that differ in one column each are features
    assert not are_columns(np.vstack([np.eye(8)[:3], rng.standard_normal((5, 8))]))
    found = find(rows)
    assert found.best is None
    assert any("single columns" in row.note for row in found.candidates)


def test_one_atom_a_row_is_no_combination(monkeypatch):
    """Where one atom a row leaves as little as more would, rows are near one of many directions each."""
    rows = make_planted_sparse(1200, 10, 15, 2, 0.03, random_state=0).X
    monkeypatch.setattr(families, "few_leave", lambda model, seen: 0.05)
    assert not list(OVERCOMPLETE.proposals(seen_in(rows)))


def test_groups_are_no_mixtures():
    rng = np.random.default_rng(0)
    centres = rng.random((4, 12))
    rows = centres[rng.integers(0, 4, 500)] + 0.05 * rng.standard_normal((500, 12))
    assert one_each(rows, centres)
    assert not one_each(
        rng.dirichlet(np.full(4, 0.3), 500) @ centres + 0.05 * rng.standard_normal((500, 12)), centres
    )
    found = find(rows)
    assert found.best is None
    assert any("groups" in row.note for row in found.candidates)


def test_noise_that_differs_by_column_adds_no_dimensions():
    rng = np.random.default_rng(0)
    level = np.where(np.arange(20) < 8, 0.02, 0.4)
    table = rng.random((800, 4)) @ rng.random((4, 20)) + level * rng.standard_normal((800, 20))
    table -= table.mean(axis=0)
    unit = noise_units(table)
    np.testing.assert_allclose(unit[8:], 0.4, rtol=0.1)
    assert unit[:8].max() < 0.1
    assert count_dimensions(table / unit, 15).chosen == 4
    assert count_dimensions(table, 15).chosen > 4  # what is mended
    copied = np.column_stack([table, table[:, 0], np.full(800, 3.0)])
    assert noise_units(copied).min() >= 0.1 * np.median(noise_units(copied))
    exact = rng.random((400, 3)) @ rng.random((3, 9))
    assert count_dimensions(exact / noise_units(exact), 8).chosen == 3
    assert np.all(noise_units(table[:20]) == 1)  # too few rows to see it


def test_a_claim_that_a_table_without_structure_would_get_too_is_none(monkeypatch):
    monkeypatch.setattr(search, "few_leave", lambda model, seen: 0.9)
    found = find(MIXTURE)
    assert found.best is None
    assert any("without structure" in row.note for row in found.candidates)


def test_rows_with_empty_cells_are_left_out_or_refused(mixture):
    holes = np.vstack([MIXTURE, MIXTURE[:40]])
    holes[400:, 3] = np.nan
    found = find(holes)
    assert "40 rows have empty cells" in str(found)
    np.testing.assert_array_equal(found.best.components_, mixture.best.components_)
    holes[:350, 0] = np.nan
    with pytest.raises(ValueError, match=r"390 of 440 rows.*missing='mask'"):
        find(holes)


def test_files_memmaps_and_dask_arrays_are_taken(mixture, tmp_path):
    da = pytest.importorskip("dask.array")
    path = tmp_path / "table.npy"
    np.save(path, MIXTURE)
    for table in (str(path), da.from_array(np.load(path, mmap_mode="r"), chunks=(250, 16))):
        found = find(table)
        assert (found.kind, found.n_components) == ("mixtures", 3)
        np.testing.assert_allclose(found.best.components_, mixture.best.components_, atol=1e-9)


def test_ctrl_c_ends_the_search_and_what_is_there_is_reported(monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    real = search.quiet_fit

    def pressed(estimator, X):
        os.kill(os.getpid(), signal.SIGINT)
        return real(estimator, X)

    monkeypatch.setattr(search, "quiet_fit", pressed)
    found = find(MIXTURE)
    assert found.kind == "low rank"
    assert "stopped" in found.why[1]
    assert [row.family for row in found.candidates] == ["low rank"]
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_that_a_fit_swallows_ends_the_search_after_it(monkeypatch):
    real, tried = search.quiet_fit, []

    def swallowing(estimator, X):
        tried.append(type(estimator).__name__)
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        return real(estimator, X)

    monkeypatch.setattr(search, "quiet_fit", swallowing)
    found = find(LOW_RANK)
    assert len(set(tried)) == 1
    assert "stopped" in found.why[1]


def test_progress_tells_the_time_left(capsys):
    altmin.discover(LOW_RANK, budget="quick", random_state=0, verbose=1)
    said = capsys.readouterr().err
    assert "low rank, 3: claims nothing (about" in said
    assert "s left; Ctrl-C ends the search" in said


@pytest.mark.parametrize("k", [1, 3, 6])
def test_dimensions_are_counted_by_held_out_cells(k):
    rng = np.random.default_rng(k)
    table = rng.standard_normal((400, k)) @ rng.standard_normal((k, 20))
    assert count_dimensions(table, 15).chosen == k
    noisy = table + 0.3 * rng.standard_normal(table.shape)
    found = count_dimensions(noisy, 15)
    assert found.chosen == k
    assert found.errors[0] == pytest.approx(1.0)
    assert found.errors[k] < found.errors[k - 1]
    assert not found.saturated
    assert found.left == found.errors[k]
    assert count_dimensions(rng.standard_normal((400, 20)), 15).chosen == 0


def test_as_many_dimensions_as_can_be_looked_at_are_told_from_fewer():
    rng = np.random.default_rng(0)
    exact = rng.standard_normal((500, 5)) @ rng.standard_normal((5, 6))
    assert not count_dimensions(exact, 15).saturated  # 5 of 5, and nothing is left
    found = count_dimensions(make_sparse_dictionary(800, 8, density=0.2, random_state=0).X, 15)
    assert found.saturated
    assert len(found.errors) == 8  # one column is held out at a time: up to 7 dimensions


def test_held_out_cells_are_predicted_by_the_right_weights():
    rng = np.random.default_rng(0)
    factors = rng.random((3, 12))
    centre = np.zeros(12)
    rows = rng.random((50, 3)) @ factors
    for codes in (non_negative_weights, gaussian_weights(0.0)):
        assert relative_error(rows, factors, centre, codes)[0] < 1e-10
    assert relative_error(rows, factors[:2], centre, non_negative_weights)[0] > 0.05
    one_each = np.eye(3)[rng.integers(0, 3, 50)] @ factors
    assert relative_error(one_each, factors, centre, sparse_weights(1))[0] < 1e-10


def test_what_can_be_seen_at_once():
    table = np.array([[1.0, 0, 5], [2, 0, 5], [1, 0, 5], [4e4, 0, 5]])
    look = look_at(table)
    assert (look.n_rows, look.n_features, look.copies, look.constant) == (4, 3, 1, 2)
    assert look.counts
    assert look.negative == 0
    assert look.notes[1] == "1 row is a copy of another; copies count as one observation."
    assert "(2 of 3)" in look.notes[2]
    assert look_at(table[[0, 0, 0, 3]]).notes[1].startswith("2 rows are copies of others;")
    assert "by a factor of 10,000:" in look_at(np.array([[0, 0], [2e4, 2]])).notes[-1]
    assert not look_at(table + 0.5).counts
    assert look_at(-table).negative == 1.0


@pytest.mark.parametrize("frame", [False, True])
def test_columns_of_one_value_do_not_hide_mixtures(frame):
    rng = np.random.default_rng(8)
    rows = rng.gamma(0.3, size=(400, 3)) @ rng.random((3, 16)) ** 3  # of all sizes: 7 is no sum of weights
    table = np.column_stack([rows, np.full(400, 7.0), np.zeros(400)])
    table = pd.DataFrame(table).rename(columns=str) if frame else table
    before = table.copy()
    found = find(table)
    assert (found.kind, found.n_components) == ("mixtures", 3)
    assert np.array_equal(table, before) and found.best.components_.shape[1] == table.shape[1]
    assert sum("one value" in note for note in found.look.notes) == 1
    again = {"X": table}
    exec(found.code, again)
    np.testing.assert_array_equal(again["model"].components_, found.best.components_)


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (np.full((30, 4), np.nan), "empty"),
        (np.ones((30, 2)), "3 columns"),
        (np.array([["a"] * 4] * 30), "table of numbers"),
        (np.full((30, 4), np.inf), "infinity"),
        (np.full((30, 4), 7.0), "one value only"),
    ],
)
def test_what_is_no_table_is_refused(table, match):
    with pytest.raises(ValueError, match=match):
        altmin.discover(table)


def test_an_unknown_budget_is_refused():
    with pytest.raises(ValueError, match="budget"):
        altmin.discover(MIXTURE, budget="huge")


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_features_that_live_in_one_column_are_mixtures_too(seed):
    """Hidden, such a column leaves the weight of its feature open: noise must not decide it."""
    made = make_dir(800, 15, 4, concentration=0.3, noise=2e-3, random_state=seed)
    found = altmin.discover(made.X, random_state=0)
    assert (found.kind, found.n_components) == ("mixtures", 4)
    assert altmin.metrics.sine_errors(found.best.components_, made.components).max() < 0.01


def test_categories_are_no_mixtures():
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(k)[rng.integers(k, size=900)] for k in (4, 5, 6)])
    found = altmin.discover(X, random_state=0)
    assert found.best is None
    assert any("two values" in candidate.note for candidate in found.candidates)


def test_an_error_that_was_not_measured_is_left_empty(mixture):
    refused = replace(mixture.candidates[0], error=float("nan"))
    assert "nan" not in str(replace(mixture, candidates=(refused,)))
