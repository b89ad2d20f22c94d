"""A discovery, branch by branch: proposals, what speaks against a candidate, where a search ends."""

import contextlib
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import altmin
from altmin.datasets import make_dir
from altmin.discovery import families, law, search
from altmin.discovery.ctrl_c import heard
from altmin.discovery.dimensions import Dimensions
from altmin.discovery.families import MIXTURES, ORTHOGONAL, OVERCOMPLETE, SPARSE, Family, Seen
from altmin.discovery.held_out import gaussian_weights, one_each, relative_error, sparse_weights
from altmin.discovery.look import are_categories, look_at
from altmin.discovery.result import Candidate
from altmin.discovery.sparsity import _by_size, _shrunk
from altmin.discovery.table import Sampled, _draw, sample_table, without_constants

MIXTURE = make_dir(120, 8, 3, concentration=1.0, noise=1e-3, random_state=2).X


def sampled(rows):
    return Sampled(rows, rows, rows[:20], None, None, None, 0)


@pytest.fixture
def searching():
    said = []
    found = search._Search(sampled(MIXTURE), 0, lambda candidate, ahead: said.append((candidate, ahead)))
    found._low_rank(3)
    found.said = said
    return found


def dimensions(chosen, most=6, left=0.01):
    errors = np.linspace(1.0, left, most + 1)
    errors[chosen] = left
    return Dimensions(errors, np.zeros(most + 1), chosen)


def seen(chosen, rows=MIXTURE, **changes):
    return Seen(rows, look_at(rows), dimensions(chosen, **changes), dimensions(chosen, **changes), 0)


# --- proposals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "n_rows", "expected"), [(1, 120, []), (2, 4, [2]), (2, 3, []), (3, 120, [3]), (6, 120, [])]
)
def test_mixtures_are_proposed_for_some_dimensions_that_rows_suffice_for(chosen, n_rows, expected):
    rows = MIXTURE[:n_rows]
    assert [model.n_components for model in MIXTURES.proposals(seen(chosen, rows))] == expected


@pytest.mark.parametrize(
    ("chosen", "left", "expected"),
    [(3, 0.01, [3]), (3, 0.9, [3, 8]), (4, 0.01, [4, 8]), (6, 0.01, [8]), (1, 0.01, [8]), (1, 0.001, [8])],
)
def test_atoms_are_as_many_as_dimensions_or_as_columns(chosen, left, expected, monkeypatch):
    monkeypatch.setattr(families, "can_be_sparse", lambda rows, k, seed: True)
    known = seen(chosen, left=left)
    if chosen == 1:  # of two columns that vary, one dimension is half
        rows = np.where(np.arange(8) < 2, MIXTURE, 0.0)
        known, expected = seen(chosen, rows, left=left), [2]
    assert [model.n_components for model in SPARSE.proposals(known)] == expected
    few = seen(chosen, known.rows[: 8 * families._ROWS_FOR_EACH - 1], left=left)
    assert [m.n_components for m in SPARSE.proposals(few)] == [k for k in expected if k < 8]
    monkeypatch.setattr(families, "can_be_sparse", lambda rows, k, seed: k == 8)
    assert [m.n_components for m in SPARSE.proposals(known)] == [k for k in expected if k == 8]


@pytest.mark.parametrize("least", [9, 12, 16])
@pytest.mark.parametrize("atoms_of_a_row", [1, 2, 3])
def test_the_least_number_of_atoms_that_suffices_is_found_by_halving(least, atoms_of_a_row, monkeypatch):
    """From columns to twice as many; a row has as many atoms as lower what is left."""
    tried = []

    def fit(model, rows):
        tried.append((model.n_components, model.n_nonzero_coefs))
        error = 0.1 if model.n_components >= least else 0.1 * families._JUMP * 1.01
        return SimpleNamespace(n=model.n_nonzero_coefs, relative_error_=error)

    def against_chance(model, known):
        return 0.01 if model.n >= atoms_of_a_row else 0.01 * families._FLAT * 1.01

    monkeypatch.setattr(families, "quiet_fit", fit)
    monkeypatch.setattr(families, "few_leave", against_chance)
    rows = np.random.default_rng(0).standard_normal((2 * 8 * families._ROWS_FOR_EACH, 8))
    proposed = list(OVERCOMPLETE.proposals(seen(6, rows)))
    assert tried[:4] == [(16, nonzeros) for nonzeros in (1, 2, 3, 4)]
    if atoms_of_a_row == 1:
        assert proposed == [] and len(tried) == 4
    else:
        (model,) = proposed
        assert (model.n_components, model.n_nonzero_coefs, model.random_state) == (least, atoms_of_a_row, 0)
        assert tried[4] == (8, atoms_of_a_row)
    assert list(OVERCOMPLETE.proposals(seen(6, rows[:-1]))) == []
    assert list(OVERCOMPLETE.proposals(seen(3, rows))) == []  # dimensions predict well
    monkeypatch.setattr(families, "few_leave", lambda model, known: families.MORE_LEAVE * 1.01)
    assert list(OVERCOMPLETE.proposals(seen(6, rows))) == []


def test_no_more_atoms_than_columns_are_needed_where_these_suffice(monkeypatch):
    same = SimpleNamespace(relative_error_=0.1)
    monkeypatch.setattr(families, "quiet_fit", lambda model, rows: same)
    monkeypatch.setattr(families, "few_leave", lambda model, known: next(falling))
    falling = iter([0.2, 0.05, 0.05, 0.05])
    rows = np.random.default_rng(0).standard_normal((2 * 8 * families._ROWS_FOR_EACH, 8))
    assert list(OVERCOMPLETE.proposals(seen(6, rows))) == []


def test_few_atoms_leave_what_the_model_says(monkeypatch):
    calls = []

    def left(rows, atoms, centre, most=6, seed=0):
        calls.append((most, seed, centre.tolist()))
        return np.array([0.5, 0.2, 0.3])

    monkeypatch.setattr(families, "left_over", left)
    known = replace(seen(3), seed=5)
    plain = SimpleNamespace(components_=np.eye(3))
    assert families.few_leave(plain, known) == 0.2
    with_centre = SimpleNamespace(components_=np.eye(3), n_nonzero_coefs=3, intercept_=[1.0, 2.0, 3.0])
    assert families.few_leave(with_centre, known) == 0.3
    assert calls == [(6, 5, [0.0] * 3), (3, 5, [1.0, 2.0, 3.0])]


# --- candidates ----------------------------------------------------------------------------------------


def test_what_speaks_against_a_candidate(searching):
    error, factors = searching.plain.error, MIXTURE[:3]
    limit = search._WORSE * error + search._MUCH
    assert searching._against(MIXTURES, error, factors) == ""
    assert searching._against(SPARSE, error, np.eye(8)).startswith("Most factors are single columns")
    for family in (MIXTURES, OVERCOMPLETE):
        assert "far worse than low rank" in searching._against(family, limit * 1.01, factors)
    for family in (MIXTURES, SPARSE, ORTHOGONAL):
        assert searching._against(family, limit * 0.99, factors) == ""
    for family in (SPARSE, ORTHOGONAL):
        assert searching._against(family, limit * 5, factors) == ""
    groups = np.abs(np.random.default_rng(0).random((20, 1))) * MIXTURE[np.arange(20) % 3]
    searching.table = replace(searching.table, held_out=groups)
    assert "these are groups" in searching._against(MIXTURES, error, factors)
    assert searching._against(SPARSE, error, factors) == ""
    searching.seen = replace(searching.seen, rows=(MIXTURE > 0.1) * 1.0)
    assert "these are categories" in searching._against(MIXTURES, error, factors)
    assert searching._against(SPARSE, error, factors) == ""


def test_the_time_of_a_candidate_is_its_own(searching, monkeypatch):
    clock = iter([1000.0, 1002.5])
    monkeypatch.setattr(search, "time", SimpleNamespace(process_time=lambda: next(clock)))
    searching._low_rank(2)
    assert searching.plain.seconds == 2.5
    for refused in (False, True):
        clock = iter([1000.0, 1004.0])
        model = altmin.AND(3, max_iter=3, random_state=0)
        if refused:
            model.set_params(n_components=99)
        assert searching._tried(MIXTURES, model).seconds == 4.0


def test_low_rank_without_dimensions_is_noise(searching):
    assert (searching.plain.family, searching.plain.n_components) == ("low rank", 3)
    searching._low_rank(0)
    assert (searching.plain.family, searching.plain.n_components) == ("noise", 0)
    assert [(c.family, ahead) for c, ahead in searching.said] == [("low rank", 3), ("noise", 3)]
    assert searching.said[0][0].error < searching.said[1][0].error


def test_what_an_estimator_refuses_is_told(searching):
    tried = searching._tried(MIXTURES, altmin.AND(200))
    assert tried.note.startswith("refused: ")
    assert (tried.family, tried.n_components, tried.verdict, tried.model) == (
        "mixtures",
        200,
        "unknown",
        None,
    )
    assert np.isnan(tried.error)
    blank = searching._tried(ORTHOGONAL, altmin.OrthogonalDictionaryLearning(keep=0.1, threshold=0.2))
    assert blank.n_components == 8  # what says no number has one atom for each column


def a_family(few_leave=0.12, name="mixtures"):
    return Family(name, "{k}", lambda known: iter(()), MIXTURES.codes, few_leave)


def a_candidate(verdict="unknown", leave=0.3, **changes):
    report = SimpleNamespace(verdict=verdict, decisive=(), factors=())
    model = SimpleNamespace(guarantee_=report, components_=MIXTURE[:3])
    return Candidate("mixtures", 3, 0.01, 0.001, verdict, {}, 1.0, model=model, few_leave=leave, **changes)


@pytest.mark.parametrize(
    ("verdict", "leave", "note", "confirmed", "kept"),
    [
        ("recovered", 0.3, "", True, ""),
        ("recovered", 0.51, "", False, search._EXPLAINED),
        ("unknown", 0.3, "", True, ""),
        ("contradicted", 0.3, "", False, ""),
        ("contradicted", 0.11, "", True, ""),
        ("contradicted", 0.13, "", False, ""),
        ("recovered", 0.01, "it fails", False, "it fails"),
    ],
)
def test_what_leaves_hope_is_fitted_to_all_rows(
    verdict, leave, note, confirmed, kept, searching, monkeypatch
):
    asked = []
    monkeypatch.setattr(searching, "_tried", lambda family, proposal: a_candidate(verdict, leave, note=note))
    monkeypatch.setattr(searching, "_confirmed", lambda family, candidate: asked.append(family) or candidate)
    searching._consider(a_family(), None, 2)
    assert bool(asked) == confirmed
    assert searching.candidates[-1].note == kept
    assert searching.said[-1][1] == 2
    searching.best = searching.candidates[-1]
    searching._keep(searching.best, 2)
    assert searching.said[-1][1] == 0  # nothing is ahead of what was found


@pytest.mark.parametrize(
    ("leave", "verdict", "claimed"),
    [(0.12, "unknown", True), (0.13, "unknown", False), (0.3, "recovered", True), (0.3, "plausible", False)],
)
def test_a_family_is_claimed_by_what_few_leave_or_by_its_report(
    leave, verdict, claimed, searching, monkeypatch
):
    report = SimpleNamespace(verdict=verdict, factors=(SimpleNamespace(verdict=verdict),) * 2, decisive=())
    fitted = SimpleNamespace(guarantee_=report)
    monkeypatch.setattr(search, "clone", lambda model: model)
    monkeypatch.setattr(search, "quiet_fit", lambda model, rows: fitted)
    monkeypatch.setattr(search, "_judged", lambda model, rows: model)
    found = searching._confirmed(a_family(), a_candidate(leave=leave))
    assert (found.claimed, found.verdict, found.factors) == (claimed, verdict, {verdict: 2})
    assert found.model is fitted
    assert 1.0 <= found.seconds < 60.0
    assert (searching.best is found) == claimed

    def refuse(model, rows):
        raise ValueError("no")

    monkeypatch.setattr(search, "quiet_fit", refuse)
    searching.best = None
    assert searching._confirmed(a_family(), a_candidate()).note == "refused: no"
    assert searching.best is None


@pytest.mark.parametrize(("times", "orthogonal"), [(0.99, True), (1.01, False)])
def test_of_two_that_are_as_good_orthogonal_atoms_are_taken(times, orthogonal, searching, monkeypatch):
    ratio, more = search._AS_EXACT
    leaves = {SPARSE.name: 0.1, ORTHOGONAL.name: times * (0.1 * ratio + more)}
    square = SimpleNamespace(guarantee_=SimpleNamespace(verdict="unknown"), components_=np.eye(8))

    def tried(family, proposal):
        return replace(a_candidate(), family=family.name, model=square, few_leave=leaves[family.name])

    monkeypatch.setattr(searching, "_tried", tried)
    monkeypatch.setattr(searching, "_confirmed", lambda family, candidate: candidate)
    monkeypatch.setattr(search, "_leaves_hope", lambda report: True)
    searching._consider(SPARSE, None, 0)
    assert searching.candidates[-1].family == (ORTHOGONAL if orthogonal else SPARSE).name
    monkeypatch.setattr(square, "components_", np.eye(8) + 0.4, raising=False)
    searching._consider(SPARSE, None, 0)
    assert searching.candidates[-1].family == SPARSE.name


def test_hope_ends_with_a_test_that_rules_a_claim_out(monkeypatch):
    limits = {"a": "unknown", "b": "plausible"}
    monkeypatch.setattr(search, "allowed", lambda row: limits[row.id])

    def report(verdict, *rows):
        made = [SimpleNamespace(id=name, status=status) for name, status in rows]
        return SimpleNamespace(verdict=verdict, decisive=made)

    assert search._leaves_hope(report("recovered", ("a", "violated")))
    assert search._leaves_hope(report("unknown", ("b", "violated"), ("a", "supported")))
    assert not search._leaves_hope(report("unknown", ("a", "violated"), ("b", "supported")))
    assert search._leaves_hope(report("unknown"))
    assert not search._leaves_hope(report("contradicted"))


def test_a_budget_must_be_known():
    with pytest.raises(ValueError, match="budget='none': 'quick', 'normal' or 'thorough' is needed"):
        altmin.discover(MIXTURE, budget="none")
    with pytest.raises(ValueError, match="every column has one value only"):
        altmin.discover(np.ones((40, 4)))


# --- laws ----------------------------------------------------------------------------------------------


FALLING = {1: 0.5, 2: 0.3, 3: 0.2, 4: 0.1, 6: 0.01, 8: 0.01}


@pytest.mark.parametrize(
    ("errors", "ranks", "kind", "k"),
    [
        ({1: 0.5, 2: 0.1, 3: 0.1, 4: 0.0}, [1, 2, 3], "quadratic law", 2),
        ({**FALLING, 5: 0.005}, [1, 2, 3, 4, 6, 8, 5], "quadratic law", 5),
        ({**FALLING, 5: 0.05}, [1, 2, 3, 4, 6, 8, 5], "quadratic law", 6),
        ({1: 0.8, 2: 0.8}, [1, 2], "linear law", 9),
        ({1: 0.81, 2: 0.799, 3: 0.7995}, [1, 2, 3], "linear law", 9),
    ],
)  # fmt: skip
def test_ranks_are_tried_until_a_higher_one_predicts_no_better(errors, ranks, kind, k, monkeypatch):
    tried = []

    def quadratic(table, rank, seed):
        tried.append(rank)
        return Candidate("quadratic law", rank, errors[rank], 0.002, "unknown", {}, 0.0)

    linear = Candidate("linear law", 9, 0.8, 0.01, "", {}, 0.0)
    monkeypatch.setattr(law, "_quadratic", quadratic)
    monkeypatch.setattr(law, "_linear", lambda table: replace(linear, spread=0.02))
    monkeypatch.setattr(law, "_answer", lambda candidates, *rest: law._simplest(candidates))
    heard = []
    table = sample_table(np.random.default_rng(0).standard_normal((100, 9)), np.arange(100.0), 60, 0)
    monkeypatch.setattr(law, "_constant", lambda table: Candidate("no relation", 0, 1.0, 0.02, "", {}, 0.0))
    best = law.discover_law(table, 0, lambda candidate, ahead: heard.append(ahead))
    assert tried == ranks
    assert (best.family, best.n_components) == (kind, k)
    first = len([rank for rank in law._RANKS if rank <= 9])
    assert heard == list(range(first - 1, first - 1 - len(heard), -1))


def test_the_error_of_a_law_and_its_terms_by_hand():
    truth, predicted = np.array([1.0, 2.0, 4.0, 5.0]), np.array([1.0, 2.5, 3.0, 5.0])
    error, spread = law._score(truth, predicted)
    left = (truth - predicted) ** 2
    assert error == pytest.approx(left.sum() / 10.0)
    assert spread == pytest.approx(2 * left.std() / 10.0)
    X = np.random.default_rng(0).standard_normal((50, 3))
    y = X @ [1.0, -2.0, 0.0]
    terms = law._terms(X, y, {(0,): 1.0, (1,): -2.0, (0, 1): 0.1})
    assert [term.columns for term in terms] == [(1,), (0,), (0, 1)]
    assert terms[0].weight == pytest.approx(2 * X[:, 1].std() / y.std())
    assert terms[2].weight == pytest.approx(0.1 * (X[:, 0] * X[:, 1]).std() / y.std())
    many = {(i, j, k): 1.0 for i in range(3) for j in range(3) for k in range(2)}
    assert len(law._terms(X, y, many)) == law._TERMS


# --- tables --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns", "good"), [(20, 3, True), (19, 3, False), (20, 2, False)])
def test_tables_need_some_rows_and_columns(rows, columns, good):
    X = np.random.default_rng(0).random((rows, columns))
    if good:
        assert sample_table(X, None, 100, 0).rows.shape == (16, 3)
    else:
        with pytest.raises(ValueError, match="at least 20 rows and 3 columns"):
            sample_table(X, None, 100, 0)


def test_rows_that_are_held_out_are_not_searched():
    for law_of_it, held in ((False, 300), (True, 400)):
        out, searched = _draw(2000, 500, 3, law_of_it)
        assert (len(out), len(searched)) == (held, 500)
        assert not set(out) & set(searched)
        assert (np.diff(out) > 0).all() and (np.diff(searched) > 0).all()
    assert [len(part) for part in _draw(50, 500, 3, False)] == [10, 40]
    assert not np.array_equal(_draw(50, 20, 3, False)[1], _draw(50, 20, 4, False)[1])


def test_rows_with_holes_are_set_aside_and_counted():
    X = np.random.default_rng(0).random((100, 4))
    X[:40, 1] = np.nan
    table = sample_table(X, np.arange(100.0), 30, 0)
    assert table.incomplete == 40
    assert "40 rows have empty cells" in table.notes[0]
    assert table.y.tolist() == list(range(40, 100))
    assert table.target.min() >= 40 and len(table.held_target) == 12
    np.testing.assert_array_equal(table.rows, X[table.target.astype(int)])
    X[:76, 1] = np.nan
    with pytest.raises(ValueError, match="76 of 100 rows have empty cells"):
        sample_table(X, None, 30, 0)
    assert sample_table(X[40:], None, 30, 0).notes != []


def test_columns_of_one_value_count_as_zero():
    X = np.arange(12.0).reshape(4, 3)
    X[:, 1] = 7.0
    for given in (X, pd.DataFrame(X, columns=list("abc"))):
        found, columns = without_constants(given)
        assert columns == [1]
        assert np.asarray(found).tolist() == (X * [1, 0, 1]).tolist()
        assert np.asarray(given)[0, 1] == 7.0
        assert type(found) is type(given)
    for kept in (X * [1, 0, 1], np.ones((3, 2)), X.tolist(), X[:0], X[0]):
        found, columns = without_constants(kept)
        assert found is kept and columns == []
    bad = X.copy()
    bad[:, 1] = np.inf
    assert without_constants(bad)[1] == []


def test_a_look_at_a_table_by_hand():
    X = np.array([[0.0, 2, 5, 1], [3, -1, 5, 1], [0, 2, 5, 1], [4, 0.5, 5, 1001]])
    look = look_at(X)
    assert (look.n_rows, look.n_features, look.constant, look.copies) == (4, 4, 1, 1)
    assert look.negative == pytest.approx(1 / np.sum(X**2))
    assert look.zeros == 2 / 16
    assert look.scales == pytest.approx(X[:, 3].std() / X[:, 1].std())
    assert not look.counts
    assert look_at(np.abs(np.round(X))).counts
    assert not look_at(np.round(X)).counts
    assert not look_at((X > 1) * 1.0).counts  # yes and no are no counts
    nothing = look_at(np.zeros((3, 2)))
    assert (nothing.negative, nothing.scales, nothing.constant) == (0.0, 1.0, 2)


@pytest.mark.parametrize(
    ("two", "many", "categories"), [(1, 1, True), (1, 2, False), (2, 1, True), (0, 1, False)]
)
def test_half_of_the_columns_with_two_values_make_categories(two, many, categories):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.integers(0, 2, (30, two)) * 5.0, rng.random((30, many)), np.full((30, 3), 2.0)])
    assert are_categories(X) == categories


# --- errors of held-out cells --------------------------------------------------------------------------


def test_hidden_cells_are_predicted_from_the_others():
    rng = np.random.default_rng(0)
    F, Z, centre = rng.standard_normal((2, 8)), rng.standard_normal((30, 2)), rng.standard_normal(8)
    rows = Z @ F + centre

    def exact(cells, factors):
        return np.linalg.lstsq(factors.T, cells.T, rcond=None)[0].T

    assert relative_error(rows, F, centre, exact)[0] < 1e-20
    nothing = relative_error(rows, F, rows.mean(axis=0), lambda cells, factors: np.zeros((30, 2)))
    squares = np.sum((rows - rows.mean(axis=0)) ** 2, axis=1)
    assert nothing[0] == pytest.approx(1.0)
    assert nothing[1] == pytest.approx(np.sqrt(30) * squares.std() / squares.sum())
    shrunk = gaussian_weights(0.5)(rows - centre, F)
    np.testing.assert_allclose(shrunk, (rows - centre) @ F.T @ np.linalg.inv(F @ F.T + 0.5 * np.eye(2)))
    codes = sparse_weights(3)(rows[:, :4], rng.standard_normal((5, 4)))
    assert (codes != 0).sum(axis=1).max() == 2  # half of what is visible
    assert (sparse_weights(1)(rows, rng.standard_normal((5, 8))) != 0).sum(axis=1).tolist() == [1] * 30


def test_groups_are_told_from_mixtures_by_one_feature_a_row():
    rng = np.random.default_rng(0)
    F = rng.random((3, 9))
    alone = rng.random((40, 1)) * F[rng.integers(0, 3, 40)] + 0.01 * rng.random((40, 9))
    assert one_each(alone, F)
    assert one_each(alone, 5 * F)
    assert not one_each(rng.random((40, 3)) @ F, F)


def test_what_few_codes_leave_by_hand():
    codes = np.array([[3.0, -1, 2], [0, 4, 1]])
    total = np.sum(codes**2)
    np.testing.assert_allclose(_by_size(codes, 2), [(1 + 4 + 1) / total, 1 / total])
    rows = np.diag([1.0, 2.0, 3.0, 9.0, 0.0])
    sizes = np.linalg.norm(_shrunk(rows), axis=1)
    np.testing.assert_allclose(sizes, [1.0, 2.0, 3.0, 3.0, 0.0])


def test_ctrl_c_during_a_search_is_remembered_whoever_swallows_it():
    before = signal.getsignal(signal.SIGINT)
    with heard() as pressed:
        assert not pressed()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert pressed()
    assert signal.getsignal(signal.SIGINT) is before
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with heard() as pressed:
            signal.raise_signal(signal.SIGINT)
            assert not pressed()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("which", [0, 1])
def test_ctrl_c_that_a_proposal_swallows_ends_the_search_after_it(which, monkeypatch):
    tried = []

    def consider(self, family, proposal, ahead):
        tried.append(proposal)
        if len(tried) == 1 + which:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(search._Search, "_consider", consider)
    monkeypatch.setattr(search._Search, "_coarse", lambda self: tried.append("coarse"))
    monkeypatch.setattr(
        search, "FAMILIES", [SimpleNamespace(name="f", proposals=lambda seen: ["a", "b", "c"])]
    )
    found = search._Search(sampled(MIXTURE), 0, lambda candidate, ahead: None)
    found.run()
    assert found.stopped
    assert tried == ["a", "b"][: 1 + which]
