"""Which components a fit of the likelihood of counts starts from."""

from types import SimpleNamespace

import numpy as np
import pytest

import altmin.estimators.nonnegative.counts as counts
from altmin import AND
from altmin.algorithms.nonnegative.nmf import EVERY, Nmf
from altmin.contract import Block
from altmin.engine import Settings, open_source, run
from altmin.io.records import replace


def test_unmixing_takes_a_share_of_what_there_is_room_for():
    a, b = np.repeat([[0.1, 0.0], [0.0, 0.1]], 10, axis=1)
    A = np.array([a, 0.5 * a + 0.5 * b])
    found = counts.unmixed(A)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[0], a)  # where b is there is no room: all of it would be missing
    taken = 0.3 * (0.05 + 0.2 * 0.05) / 0.1  # .3 of the half, and of a fifth of a mean entry
    np.testing.assert_allclose(found[1, 0] / found[1, -1], (0.5 - taken) / 0.5)


@pytest.fixture
def problem(monkeypatch):
    """Forty rows and fits that are recorded instead of run: the score of each is given."""
    rng = np.random.default_rng(0)
    X = rng.poisson(5 * rng.random((40, 12))).astype(float)
    fits, starts = [], []

    def start_with(scores, error=200.0, lost=0.4):
        def fitted(nmf, rows, info, steps, start, known=None):
            assert steps == 300
            starts.append(start)
            fits.append(np.full((2, 12), float(len(fits))))
            return SimpleNamespace(A=fits[-1], score=scores[len(fits) - 1], error=error, used=60, lost=lost)

        monkeypatch.setattr(counts, "_short_fit", fitted)
        monkeypatch.setattr(counts, "unmixed", lambda A: A)
        found = counts._better_start(Nmf(X[:2], "counts", sparse=True), AND(2)._open(X, reset=True), 300)
        assert all(
            start is fit for start, fit in zip(starts[3:], fits[2:], strict=False)
        )  # one from the other
        assert found.sparse == (lost <= 0.5 * found.dispersion)
        return found.start[0, 0], found.dispersion, len(fits)

    return start_with


@pytest.mark.parametrize(
    ("scores", "start", "n_fits"),
    [
        ([900, 800, 761], 1, 3),  # unmixed, it gains less than one a sample
        ([800, 900, 761], 0, 3),
        ([900, 800, 759, 780, 700, 790], 4, 6),  # it gains more: the best of four
    ],
)
def test_components_are_unmixed_as_often_as_it_pays(problem, scores, start, n_fits):
    assert problem(scores) == (start, 1.0, n_fits)


@pytest.mark.parametrize(("most", "compares"), [(2 * EVERY + 2, False), (2 * EVERY + 4, True)])
def test_too_few_iterations_for_a_second_pruning_all_belong_to_the_own_start(monkeypatch, most, compares):
    rng = np.random.default_rng(0)
    X = rng.poisson(500 * rng.dirichlet(np.ones(3), 80) @ rng.dirichlet(np.full(30, 0.3), 3)).astype(float)
    asked = []
    monkeypatch.setattr(counts, "_better_start", lambda nmf, source, left: asked.append(left) or nmf)
    with pytest.warns(UserWarning, match="iterations were used"):
        model = AND(3, max_iter=most, random_state=0).fit(X)
    assert bool(asked) == compares
    assert model.n_iter_ == most  # the first look at what short fits prune is none of them


@pytest.mark.parametrize(("share", "sparse"), [(0.5, True), (0.0, False)])
def test_a_short_fit_looks_whether_to_prune_before_it_begins(share, sparse):
    rng = np.random.default_rng(0)
    A, Z = rng.dirichlet(np.full(30, 0.3), 4), rng.dirichlet(np.full(4, 0.3), 300)
    if share:
        Z = np.where(rng.random(Z.shape) < share, Z, 0.0)
        Z[np.arange(300), rng.integers(4, size=300)] += 0.2
    source = open_source(rng.poisson(10_000 * Z @ A).astype(float))
    nmf = Nmf(A, "counts", sparse=True, looking=True)
    found = run(nmf, source, Settings(max_iter=2, seed=0))
    assert (found.state.sparse, found.n_iter) == (sparse, 2)
    again = run(replace(nmf, sparse=sparse, looking=False), source, Settings(max_iter=2 + sparse, seed=0))
    np.testing.assert_array_equal(found.state.A, again.state.A)


def test_components_of_overdispersed_counts_are_not_unmixed(problem):
    start, dispersion, n_fits = problem([900, 800], error=1000.0)
    assert (start, n_fits) == (1, 2)
    assert dispersion == pytest.approx(2 * 1000 / (40 * 12 - 60 - 24))


@pytest.mark.parametrize("lost", [0.49, 0.51])
def test_codes_that_had_more_for_them_than_absent_ones_have_are_not_pruned(problem, lost):
    problem([900, 800, 790], lost=lost)


@pytest.mark.parametrize("lost", [1.1, 1.3])
def test_counts_that_vary_more_excuse_more(problem, lost):
    assert problem([900, 800], error=480.0, lost=lost)[1] == pytest.approx(2.4, abs=0.05)


@pytest.mark.parametrize(("absent", "few"), [(True, True), (False, False)])
def test_small_shares_are_not_taken_for_absent_ones(absent, few):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(4, 0.3), 300)
    if absent:
        shares = np.where(rng.random(shares.shape) < 0.5, shares, 0.0)
        shares[np.arange(300), rng.integers(4, size=300)] += 0.2
    profiles = rng.dirichlet(np.full(30, 0.3), 4)
    X = rng.poisson(10_000 * shares @ profiles).astype(float)
    assert ("with few components in each sample" in str(AND(4, random_state=0).fit(X).outcome_)) == few


@pytest.mark.parametrize(
    ("known", "most", "steps"),
    [
        (None, 300, 2 * EVERY + 3),
        ("the same in another order", 300, EVERY + 2),
        ("others", 300, 2 * EVERY + 3),
        (None, 5, 5),
    ],
)
def test_a_trial_ends_where_it_comes_to_known_components(known, most, steps):
    rng = np.random.default_rng(0)
    A = rng.dirichlet(np.full(30, 0.3), 3)
    X = rng.poisson(2000 * rng.dirichlet(np.ones(3), 80) @ A).astype(float)
    before = {
        None: None,
        "the same in another order": A[::-1],
        "others": 0.8 * A + 0.2 * A[[1, 2, 0]],
    }[known]
    info = AND(3)._open(X, reset=True).info
    nmf = Nmf(A, "counts", sparse=True)
    found = counts._short_fit(nmf, Block(0, 0, X), info, most, 0.98 * A + 0.02 * A[[1, 2, 0]], before)
    assert found.step == steps


def test_components_are_alike_if_each_is_another_one_of_them():
    A = np.random.default_rng(0).dirichlet(np.full(30, 0.3), 3)
    assert counts._alike(A[::-1], A)
    assert not counts._alike(A[[0, 0, 1]], A)
