"""Single steps of algorithms by hand: what they make of a state and of sums, whatever a whole fit hides."""

from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.algorithms.correlation import hypercontractive
from altmin.algorithms.dictionary import complete, polish, starts
from altmin.algorithms.dictionary.complete import Complete, CompleteState
from altmin.algorithms.dictionary.starts import TIED, Candidate, Search
from altmin.algorithms.nonnegative import and_nmf, closing_passes, subspace
from altmin.algorithms.nonnegative import starts as cone_starts
from altmin.algorithms.nonnegative.and_nmf import AndNmf, Trial
from altmin.algorithms.nonnegative.subspace import Reduction, View
from altmin.algorithms.overcomplete import peeling
from altmin.algorithms.overcomplete.peeling import peel_codes
from altmin.algorithms.quadratic.least_squares import LeastSquares
from altmin.algorithms.quadratic.lens import first_lens
from altmin.algorithms.quadratic.one_pass import OnePass
from altmin.algorithms.quadratic.sensing import MAX_WHITENED, _second_moment
from altmin.algorithms.sparse.item_regression import ItemRegression, ItemState
from altmin.contract import Block, Info, Max

RNG = np.random.default_rng(0)


# --- cones ---------------------------------------------------------------------------------------------


def test_lowered_thresholds_are_told_with_where_the_samples_end():
    trials = tuple(Trial(None, excess, volume) for excess, volume in ((2.5, 1.0), (2.0, 1.5), (1.0, 1.6)))
    assert and_nmf.edge(SimpleNamespace(trials=trials[:2])) == ""
    told = and_nmf.edge(SimpleNamespace(trials=trials))
    assert told.startswith("negative codes exceed the noise 2.5 times")
    assert "thresholds were lowered" in told
    grown = (*trials[:2], Trial(None, 1.0, 9.0))
    assert "no hard edge" in and_nmf.edge(SimpleNamespace(trials=grown))


def test_noise_of_codes_is_measured_in_units_of_the_largest(monkeypatch):
    """The components are scaled so that large codes are 1, and so is what noise makes of the others."""
    scale, negative = np.array([2.0, 0.8]), np.array([0.3, 0.2])
    monkeypatch.setattr(and_nmf, "upper_quantile", lambda *sums: scale)
    monkeypatch.setattr(and_nmf, "_rms_negative", lambda sums: negative)
    algorithm = AndNmf(2)
    state = algorithm.init(Info(5, np.dtype("f8"), 20), 0)
    A = RNG.random((2, 5))
    state = replace(
        state, A=A, measured=1, phase="measure", alpha=np.full(2, np.inf), decoder=np.linalg.pinv(A)
    )
    after = algorithm._measured(state, {"counts": None, "totals": [20.0], "largest": Max(np.ones(2))})
    np.testing.assert_allclose(after.sigma, negative / scale)
    np.testing.assert_allclose(after.A, A * scale[:, None])
    assert after.phase == "stages"
    monkeypatch.setattr(and_nmf, "upper_quantile", lambda *sums: np.array([2.0, 0.5]))
    again = algorithm._measured(state, {"counts": None, "totals": [20.0], "largest": Max(np.ones(2))})
    assert again.phase == "measure"  # so small that the quantile has to be looked for again
    last = replace(state, measured=and_nmf._MEASURES - 1)
    ended = algorithm._measured(last, {"counts": None, "totals": [20.0], "largest": Max(np.ones(2))})
    assert ended.phase == "stages"


def test_leading_directions_by_gram_matrix_and_by_powers(monkeypatch):
    X = RNG.standard_normal((40, 9)) * np.linspace(3, 0.1, 9)
    gram, stats = X.T @ X, {"n": 40.0, "squares": float(np.sum(X**2))}
    leading = np.linalg.svd(X)[2][:3]
    reduction = Reduction(2, 3)
    monkeypatch.setattr(subspace, "_learn", lambda view, stats: view)
    view = reduction._directions(View("gram"), {"gram": gram, **stats})
    np.testing.assert_allclose(np.abs(view.basis.T @ leading.T), np.eye(3), atol=1e-9)
    view = View("power", basis=leading.T + 0.1 * RNG.standard_normal((9, 3)))
    for turn in range(1, subspace._POWER_ROUNDS + 1):
        power = gram @ view.basis
        view = subspace._powered(view, {"power": power, **stats})
        np.testing.assert_allclose(view.basis.T @ view.basis, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(view.basis @ (view.basis.T @ power), power, atol=1e-9)
        assert view.phase == ("project" if turn == subspace._POWER_ROUNDS else "power")


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("sound", [True, False])
@pytest.mark.parametrize("screen", [True, False])
def test_where_a_basis_leads_that_holds_all_of_the_data_or_does_not(rank, sound, screen, monkeypatch):
    monkeypatch.setattr(subspace, "_learn", lambda view, stats: view)
    reduction = Reduction(rank, 4, screen)
    view = View("project", basis=np.linalg.qr(RNG.standard_normal((9, 3)))[0], exact=True)
    after = reduction._projected(view, {"worst": Max(np.array(1e-30 if sound else 0.1))})
    if not sound and rank is None:
        assert (after.phase, after.basis, after.exact) == ("ready", None, False)
    elif not sound:  # wider than twice the sketch: the leading directions
        assert (after.phase, after.exact, after.gram) == ("gram", False, True)
    elif rank is None:
        assert (after.phase, after.columns, after.exact) == ("ready", True, True)
    else:
        assert (after.phase, after.columns) == ("sizes" if screen else "moments", True)


@pytest.mark.parametrize("start", [0, 5])
def test_some_codes_are_kept_by_the_number_of_their_row(start):
    """Every third row of the data, wherever a block begins; not where its weight is 0 or it was left out."""
    weight = np.array([1.0, 2.0, -1.0, 1.0, 0.0, 1.0, 1.0, 3.0])
    codes = np.arange(16.0).reshape(8, 2)
    left, squares = RNG.random(8), RNG.random(8)
    block = Block(0, start, np.zeros((8, 3)), None, weight)
    sums = closing_passes._left_over(SimpleNamespace(stride=3), block, left, squares, codes)
    kept = [i for i in range(8) if (start + i) % 3 == 0 and weight[i] > 0]
    np.testing.assert_array_equal(sums["codes"].value, codes[kept])
    inside = np.maximum(weight, 0)
    assert sums["residual"] == pytest.approx(np.abs(weight) @ left)
    assert sums["squares"] == pytest.approx(np.abs(weight) @ squares)
    assert sums["kept"].tolist() == pytest.approx([inside @ left, inside @ squares])


def test_thresholds_are_lowered_twice_where_negative_codes_exceed_what_noise_explains(monkeypatch):
    excess = [2.0, 1.5, 1.2]
    trial = lambda self, state: Trial(len(state.trials), excess[len(state.trials)], 1.0)  # noqa: E731
    monkeypatch.setattr(AndNmf, "_trial", trial)
    monkeypatch.setattr(AndNmf, "_decide", lambda self, state: "decided")
    algorithm = AndNmf(2)
    state = replace(algorithm.init(Info(5, np.dtype("f8"), 20), 0), calm=3)
    for number in (1, 2):
        state = algorithm._settled(state)
        assert (len(state.trials), state.calm) == (number, 0)
    assert algorithm._settled(state) == "decided"
    excess[0] = and_nmf._EXPLAINED
    fresh = replace(state, trials=(), calm=3)
    assert algorithm._settled(fresh) is fresh


@pytest.mark.parametrize(
    ("rank", "sparse", "width", "phase"),
    [
        (None, False, 5, "sketch"), (None, False, 4, "ready"), (None, True, 99, "ready"),
        (2, False, 5, "sketch"), (2, False, 4, "project"), (2, True, 4, "power"), (2, True, 99, "power"),
    ],
)  # fmt: skip
def test_how_a_reduction_begins(rank, sparse, width, phase):
    view = Reduction(rank, 4).begin(width, sparse, np.dtype("f8"))
    assert view.phase == phase
    assert (view.basis is not None) == (phase == "power")
    if phase == "power":
        assert view.basis.shape == (width, min(4, width))


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize(("K", "room"), [(1, True), (5, True), (6, False), (9, False)])
def test_a_sketch_finds_the_span_of_rows_that_have_few_directions(rank, K, room, monkeypatch):
    monkeypatch.setattr(subspace, "_learn", lambda view, stats: view)
    rows = RNG.standard_normal((10, K)) @ (1e-3 * RNG.standard_normal((K, 30)))  # of any size
    after = Reduction(rank, 10)._sketched(View("sketch"), {"sketch": rows})
    if room:
        assert (after.phase, after.exact) == ("project", True)
        assert after.basis.shape == (30, K)
        np.testing.assert_allclose(rows @ after.basis @ after.basis.T, rows, atol=1e-12)
    else:
        assert after.phase == ("ready" if rank is None else "gram")


@pytest.mark.parametrize("K", [3, 5])
@pytest.mark.parametrize("inside", [None, "basis"])
def test_noise_is_what_lies_outside_of_the_directions_that_are_kept(K, inside):
    turn = np.linalg.qr(RNG.standard_normal((K, K)))[0][:, :3]
    basis = None if inside is None else np.linalg.qr(RNG.standard_normal((9, K)))[0]
    view = View("turn", basis=basis, exact=True, turn=turn, values=np.ones(3))
    stats = {"kept": 50.0, "outside": 0.7, "sum": np.arange(3.0)}
    after = subspace._turned(view, stats, np.dtype("f4"))
    W = K if basis is None else 9
    assert after.basis.shape == (W, 3) and after.basis.dtype == np.float32
    assert after.exact == (K == 3)  # nothing was turned away
    assert after.noise == pytest.approx(np.sqrt(0.7 / (47 * max(W - 3, 1))))
    np.testing.assert_allclose(after.mean, np.arange(3) / 50)
    assert subspace._turned(replace(view, completion=1), stats, np.dtype("f4")).noise == 0.0
    few = subspace._turned(view, {**stats, "kept": 0.5}, np.dtype("f4"))
    assert few.noise == pytest.approx(np.sqrt(0.7 / max(W - 3, 1)))
    np.testing.assert_allclose(few.mean, np.arange(3))


# --- atoms ---------------------------------------------------------------------------------------------


def test_codes_that_no_atom_takes_are_zero():
    D = np.eye(4)[:3]
    U = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.8, 0.6, 0.0], [0.0, 0.0, 0.0, 1.0]])
    atoms, codes, counts = peel_codes(U, D, 0.3, 2)
    assert counts.tolist() == [1, 2, 0]
    dense = np.zeros((3, 3))
    for row in range(3):
        dense[row, atoms[row, : counts[row]]] = codes[row, : counts[row]]
    np.testing.assert_allclose(dense, U[:, :3])
    for row, count in enumerate(counts):
        assert not atoms[row, count:].any()
        assert not codes[row, count:].any()


def test_supports_begin_empty_and_have_the_same_bits_wherever_they_are_kept(monkeypatch):
    monkeypatch.setattr(peeling, "_weighted", lambda algorithm, state, block: (np.ones((3, 4)), np.ones(3)))
    monkeypatch.setattr(peeling, "_after", lambda *given: given[-1])
    algorithm = SimpleNamespace(plan=SimpleNamespace(n_nonzero=2))
    counts, columns = peeling.sample_map(algorithm, None, None)
    assert counts.tolist() == [0, 0, 0]
    assert [columns[name].shape for name in peeling.COLUMNS] == [(3, 2), (3, 2), (3,)]
    assert not any(columns[name].any() for name in peeling.COLUMNS)


CANDIDATE = Candidate("huber", np.eye(2), np.eye(2), None, np.ones(2), -0.5, 0.0)


def searching(best):
    """A state whose start has just been polished."""
    search = Search(kind="huber", best=best, found=(best,))
    frame = SimpleNamespace(unwhiten=np.eye(2), rank=2)
    return CompleteState(
        "polish", None, 0, frame=frame, search=search, W=np.eye(2), atoms=np.eye(2), thresholds=np.ones(2)
    )


@pytest.mark.parametrize(
    ("kind", "exact", "gain", "kept"),
    [
        ("merged", False, 0.9 * TIED, False), ("merged", False, 1.1 * TIED, True),
        ("merged", True, -9.0, True), ("huber", False, -1.0, True),
    ],
)  # fmt: skip
def test_what_was_merged_counts_where_it_is_better(kind, exact, gain, kept, monkeypatch):
    monkeypatch.setattr(complete, "is_exact", lambda state: exact)
    monkeypatch.setattr(complete, "can_merge", lambda state, other: False)
    monkeypatch.setattr(Complete, "_next", lambda self, state: state)
    best = replace(CANDIDATE, score=-2.0)
    state = searching(best)
    state = replace(state, search=replace(state.search, kind=kind))
    after = Complete(2)._add(state, None, -2.0 + gain)
    assert len(after.search.found) == (2 if kept else 1)
    assert (after.search.best is not best) == (kept and (exact or gain > 0))


@pytest.mark.parametrize("mergeable", [True, False])
@pytest.mark.parametrize(("score", "wins"), [(-3.0, False), (-1.0, True)])
def test_two_candidates_that_may_differ_in_atoms_are_merged(mergeable, score, wins, monkeypatch):
    asked = []
    monkeypatch.setattr(complete, "is_exact", lambda state: False)
    monkeypatch.setattr(complete, "can_merge", lambda state, other: asked.append(other) or mergeable)
    monkeypatch.setattr(complete, "pooled", lambda state, best, other: (best.score, other.score))
    monkeypatch.setattr(Complete, "_next", lambda self, state: "next")
    best = replace(CANDIDATE, score=-2.0)
    prior = SimpleNamespace(score=score)
    after = Complete(2)._add(searching(best), prior)
    assert after == ((max(score, -2.0), min(score, -2.0)) if mergeable else "next")
    assert asked[0].score == min(score, -2.0)


def test_draws_of_a_search_are_its_own(monkeypatch):
    """By the seed, the start, and which draw of the start it is: no two are the same numbers."""
    seeds = []
    monkeypatch.setattr(complete, "distinct_directions", lambda *given: seeds.append(given[-1]) or np.eye(2))
    monkeypatch.setattr(complete, "mean_absolute", lambda stats: None)
    monkeypatch.setattr(complete, "at", lambda state, W: state)
    state = searching(CANDIDATE)
    for seed, start in ((0, 0), (5, 0), (5, 3)):
        after = Complete(2)._picked(replace(state, seed=seed, search=Search(start=start)), {})
        assert (after.phase, after.search.kind, after.progress.passes) == ("contrast", "huber 0.5", 0)
    assert seeds == [[0, 0, 1], [5, 0, 1], [5, 3, 1]]
    drawn = []
    monkeypatch.setattr(starts, "random_directions", lambda k, n, seed: drawn.append(seed) or np.eye(k))
    sums = starts.L1Sums(np.zeros((2, 2)), np.zeros((2, 2)))
    state = replace(state, search=Search(kind="l1 0.5 0.1 30"), sums=sums, seed=7)
    for passes in (0, 4):
        progress = replace(state.progress, passes=passes)
        stats = {"gram": np.diag([1.0, 0.0]), "cross": np.array([[3.0, 4.0], [0.0, 0.0]])}
        after = starts.l1_step(replace(state, progress=progress), stats)
        np.testing.assert_allclose(after.atoms, [[0.6, 0.8], [0.0, 1.0]])  # the second is drawn anew
        assert after.progress.passes == passes + 1
    assert drawn == [[7, 11, 0], [7, 11, 4]]


def test_levels_of_a_correlation_are_tried_where_no_other_start_leads_to_the_largest():
    rng = np.random.default_rng(0)
    for _ in range(3):
        A = rng.standard_normal((40, 6))
        begun = []
        real = hypercontractive._power

        def power(A, starts, p, begun=begun, real=real):
            begun.append(starts)
            return real(A, starts, p)

        with mock.patch.object(hypercontractive, "_power", power):
            hypercontractive.hypercontractive_norm(A, 4)
        levels = hypercontractive._level_directions(A / np.abs(A).max(), 4)
        assert len(levels) > 0
        np.testing.assert_array_equal(begun[0][-len(levels) :], levels)
        assert len(begun[0]) == 6 + 40 + len(levels)


def test_what_was_only_of_use_while_fitting_is_let_go():
    state = ItemRegression().finish(ItemState("ridge", gram=np.eye(2), candidates=(1.0, 2.0)))
    assert (state.phase, state.gram, state.candidates) == ("done", None, None)


# --- machines ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows_matter", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("whiten", [True, False, "auto"])
def test_second_moments_of_designs_are_whole_up_to_some_width(whiten, sparse, rows_matter):
    for d in (4, MAX_WHITENED + 1) if rows_matter else (4,):
        X = RNG.standard_normal((3, d)) * (RNG.random((3, d)) < 0.5)
        w = np.array([1.0, 2.0, 0.5])
        found = _second_moment(sp.csr_array(X) if sparse else X, w, whiten)
        whole = (X.T * w) @ X
        full = whiten is True or (whiten == "auto" and d <= MAX_WHITENED)
        np.testing.assert_allclose(found, whole if full else np.diag(whole), atol=1e-12)


def test_first_rows_that_count_for_nothing_are_refused():
    with pytest.raises(ValueError, match="sample_weight is 0 for all of the first rows"):
        first_lens({"n": 0.0}, True, True)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("metric", [None, np.diag([1.0, 2.0, 3.0]) + 0.1])
def test_a_ridge_costs_what_standardised_columns_say(dense, ridge, metric, monkeypatch):
    """A matrix only where columns were whitened, something costs, and matrices are formed at all."""
    monkeypatch.setattr("altmin.algorithms.quadratic.least_squares.dense", lambda state: dense)
    algorithm = LeastSquares(2, strength=0.5)
    state = SimpleNamespace(
        linear=np.zeros(3), ridge=ridge, stage="last", signs=np.ones(2), squares=False, n=10.0,
        lens=SimpleNamespace(metric=metric),
    )  # fmt: skip
    cost, least = algorithm.penalty(state), 0.05
    linear = 2 * min(ridge, 0.02) ** 2
    if dense and ridge and metric is not None:
        blocks = [linear * metric, ridge * metric, ridge * metric]
        assert cost.shape == (10, 10)
        np.testing.assert_allclose(cost[0], least * np.eye(10)[0])
        for number, expected in enumerate(blocks):
            part = slice(1 + 3 * number, 4 + 3 * number)
            np.testing.assert_allclose(cost[part, part], expected + least * np.eye(3))
        assert np.count_nonzero(cost) == 1 + 3 * 9
    else:
        np.testing.assert_allclose(cost, [0.0, *[linear + least] * 3, *[ridge + least] * 6])


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("logistic", [False, True])
def test_a_fit_shrinks_where_neither_a_claim_nor_a_users_ridge_is_at_work(linear, logistic):
    assert LeastSquares(2, linear=linear, logistic=logistic).shrinks(None) is (linear and not logistic)


# --- refinement on the residual ------------------------------------------------------------------------


@pytest.mark.parametrize("centred", [False, True])
def test_a_refinement_takes_the_residual_into_atoms_and_centre(centred, monkeypatch):
    """Rows are codes times atoms and a constant, the fit is a little beside: one step is least squares."""
    rng = np.random.default_rng(0)
    Z, A, off = rng.standard_normal((60, 3)), rng.standard_normal((3, 3)), 0.1 * rng.standard_normal((3, 3))
    centre = np.array([1.0, -2.0, 0.5]) if centred else None
    wrong = None if centre is None else centre + 0.2
    X = Z @ (A + off) + (0.0 if centre is None else centre)
    left = X - Z @ A - (0.0 if wrong is None else wrong)
    middle = Z.mean(axis=0) if centred else 0.0
    sums = {
        "counts": np.ones(3), "sum": left.sum(axis=0), "codes_sum": Z.sum(axis=0), "n_rows": 60.0,
        "gram": (Z - middle).T @ (Z - middle), "cross": (Z - middle).T @ left,
    }  # fmt: skip
    monkeypatch.setattr(polish, "without_mean", lambda stats: stats)
    best = replace(CANDIDATE, exact=True)
    state = replace(searching(best), atoms=A, centre=wrong)
    after = polish.refine(state, sums)
    np.testing.assert_allclose(after.atoms, A + off, atol=1e-12)
    if centred:
        np.testing.assert_allclose(after.centre, centre, atol=1e-12)
    for other in (
        replace(state, search=Search(best=None)),
        replace(state, search=Search(best=CANDIDATE)),
    ):
        assert polish.refine(other, sums) is other
    assert polish.refine(state, sums, orthogonal=True) is state
    assert polish.refine(state, {**sums, "counts": np.array([1.0, 0.0, 1.0])}) is state


@pytest.mark.parametrize(("centre", "energy"), [(None, 4.0), (np.array([3.0, 0.0, 4.0]), 29.0)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rounding_is_that_of_the_entries_their_mean_included(centre, energy, dtype):
    state = SimpleNamespace(frame=SimpleNamespace(energy=4.0), centre=centre, decoder=np.zeros((3, 2), dtype))
    assert polish.rounding_of(state) == pytest.approx(np.finfo(dtype).eps * np.sqrt(energy))


# --- samples as the cone's fit looks at them ---------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
def test_counts_are_looked_at_in_units_of_their_noise(sparse):
    X = np.array([[4.0, 0.0, 5.0], [0.0, 0.0, 0.0], [1.0, 15.0, 0.0]])
    scale = np.array([1.0, 2.0, 0.5])
    block = Block(0, 0, sp.csr_array(X) if sparse else X)
    assert subspace.seen(View("ready"), block) is block
    found = subspace.seen(View("ready", scale=scale), block).X
    assert sp.issparse(found) == sparse
    if sparse:
        assert found.format == "csr" and found.nnz == 4  # what was empty is no entry
    expected = X / np.sqrt([[9.0], [1.0], [16.0]]) * scale
    np.testing.assert_allclose(found.toarray() if sparse else found, expected)


@pytest.mark.parametrize(("count", "bound"), [(50.0, 0.6), (1000.0, 0.3)])
def test_samples_are_left_out_by_leverage_or_by_what_is_left_over(count, bound, monkeypatch):
    """A leverage is large beside rank / samples; those that pass again come back; no weight, no judgement."""
    monkeypatch.setattr(subspace, "_moments", lambda rows, weight: weight)
    monkeypatch.setattr(subspace, "_shrink", lambda view, block: 1.0)
    monkeypatch.setattr(subspace, "_squares", lambda view, block: np.arange(1.0, 7.0))
    monkeypatch.setattr(subspace, "coordinates", lambda view, block: None)
    view = View("drop", turn=np.eye(5)[:, :3], values=np.ones(3), count=count, limit=2.0)
    leverage = bound * np.array([0.99, 1.01, 0.1, 0.1, 0.1, 9.0])
    leftover = np.array([1.0, 1.0, 2.1, 1.9, 1.0, 9.0])
    weight = np.array([1.0, 1.0, 1.0, 2.0, -1.0, 0.0])
    block = Block(0, 10, None, columns={"weight": weight, "leverage": leverage, "leftover": leftover})
    stats, columns = subspace.drop_map(None, SimpleNamespace(view=view), block)
    assert columns["weight"].tolist() == [1.0, -1.0, -1.0, 2.0, 1.0, 0.0]
    assert (stats["lost"], stats["mass"], stats["changed"]) == (2.0, 5.0, 3.0)
    assert stats["ids"].value.tolist() == [11, 12]
    given_up = SimpleNamespace(view=replace(view, values=None))
    stats, columns = subspace.drop_map(None, given_up, block)
    assert columns["weight"].tolist() == [1.0, 1.0, 1.0, 2.0, 1.0, 0.0]


def test_a_start_compares_samples_by_their_shares_where_these_are_exact():
    """Nearly empty samples, and those that were left out, aren't taken."""
    S = np.array([[3.0, 1.0], [0.5e-3, 1e-3], [1.1e-3, 1e-3], [2.0, 2.0]])
    view = View("ready", basis=np.eye(2), nonnegative=True, noiseless=True, energy=16.0, count=4.0)
    block = Block(0, 0, S, None, np.array([1.0, 1.0, 1.0, -1.0]))
    points, fit = cone_starts._points(view, block)
    assert fit.tolist() == [True, False, True, False]
    np.testing.assert_allclose(points[[0, 2]], S[[0, 2]] / S[[0, 2]].sum(axis=1, keepdims=True))
    for other in (replace(view, nonnegative=False), replace(view, noiseless=False)):
        points, fit = cone_starts._points(other, block)
        assert points is S and fit.tolist() == [True, True, True, False]


@pytest.mark.parametrize(("d", "moments"), [(3, True), (1000, True), (1001, False)])
def test_up_to_some_width_a_machine_begins_from_formed_moments(d, moments, monkeypatch):
    monkeypatch.setattr(LeastSquares, "_begin", lambda self, state, U, signs: (state, U.shape, signs.shape))
    monkeypatch.setattr(OnePass, "_aim", lambda self, state: "powers")
    algorithm = LeastSquares(2)
    state = algorithm.init(Info(d, np.dtype("f8"), 50), 0)
    linear = np.zeros(d)
    linear[0] = 0.5
    state = replace(state, linear=linear, batch_rows=8.0 * d)
    found = algorithm._aim(state)
    if moments:
        after, *shapes = found
        assert shapes == [(d, 0), (0,)]
        np.testing.assert_allclose(after.model.w, linear * (1 - (1 / 8) / 0.25))
        assert (after.n, after.rows, after.sampled) == (8.0 * d, 8 * d, False)
    else:
        assert found == "powers"
