"""Discover: the right family and number on planted tables, and no claim where there is no structure."""

import json

import numpy as np
import pandas as pd
import pytest

import altmin
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.discovery.dimensions import count_dimensions
from altmin.discovery.held_out import gaussian_weights, non_negative_weights, relative_error, sparse_weights
from altmin.discovery.look import look_at

RNG = np.random.default_rng(0)
MIXTURE = make_dir(900, 30, 4, concentration=0.3, random_state=2).X
SPARSE = make_sparse_dictionary(800, 8, density=0.15, random_state=2).X
LOW_RANK = RNG.standard_normal((600, 3)) @ RNG.standard_normal((3, 10)) + 0.1 * RNG.standard_normal((600, 10))


def find(table, y=None):
    return altmin.discover(table, y, budget="quick", random_state=0)


@pytest.fixture(scope="module")
def mixture():
    return find(MIXTURE)


def test_mixtures_are_found_with_their_number(mixture):
    assert (mixture.kind, mixture.n_components) == ("mixtures", 4)
    assert mixture.guarantee.verdict == "recovered"
    assert mixture.guarantee.effort == "full"
    assert "4 features" in mixture.answer


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
    linear = problem.X[:, 0] + 0.1 * RNG.standard_normal(2500)
    assert find(problem.X, linear).kind == "linear law"
    assert find(problem.X, RNG.standard_normal(2500)).kind == "no relation"


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


def test_the_same_seed_gives_the_same_bits():
    again = find(MIXTURE[:300]), find(MIXTURE[:300])
    np.testing.assert_array_equal(again[0].best.components_, again[1].best.components_)


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
    assert count_dimensions(rng.standard_normal((400, 20)), 15).chosen == 0


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
    assert len(look.notes) == 3
    assert not look_at(table + 0.5).counts
    assert look_at(-table).negative == 1.0


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (np.full((30, 4), np.nan), "empty"),
        (np.ones((30, 2)), "3 columns"),
        (np.array([["a"] * 4] * 30), "table of numbers"),
        (np.full((30, 4), np.inf), "infinity"),
    ],
)
def test_what_is_no_table_is_refused(table, match):
    with pytest.raises(ValueError, match=match):
        altmin.discover(table)


def test_an_unknown_budget_is_refused():
    with pytest.raises(ValueError, match="budget"):
        altmin.discover(MIXTURE, budget="huge")
