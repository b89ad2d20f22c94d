"""Reports of sensing problems: recovered where measurements decide, and why not elsewhere."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import InductiveMatrixCompletion, PhaseRetrieval, RankOneSensing


def verdicts(d=12, n=600, seed=0):
    rng = np.random.default_rng(seed)
    U, V = rng.standard_normal((n, d)), rng.standard_normal((n, 6))
    y = (U[:, 0] + U[:, 1]) * V[:, 2]
    yield RankOneSensing(1, random_state=0).fit((U, V), y).guarantee_
    yield RankOneSensing(1, random_state=0).fit(U, U[:, 0] ** 2).guarantee_
    yield PhaseRetrieval(random_state=0).fit(U, (U @ np.arange(d)) ** 2).guarantee_


def test_exact_fits_to_enough_measurements_are_supported():
    assert [report.verdict for report in verdicts()] == ["recovered", "recovered", "plausible"]


def test_too_few_measurements_are_not_supported():
    for report in verdicts(n=14):
        assert report.verdict in ("unknown", "contradicted")
        assert report["enough"].status == "violated"


@pytest.mark.parametrize("rank", [1, 2])
def test_a_misfit_is_not_supported(rank):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 10))
    report = RankOneSensing(rank, random_state=0).fit(X, np.abs(X[:, 0]) ** 3).guarantee_
    assert report.verdict == "contradicted"


def test_completion_reports():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((60, 4)), rng.standard_normal((40, 3))
    R = np.outer(A[:, 0], B[:, 1])
    seen = sp.csr_array(np.where(rng.random(R.shape) < 0.3, R, 0))
    assert InductiveMatrixCompletion(1, random_state=0).fit(seen, A, B).guarantee_.verdict == "plausible"
    ids = InductiveMatrixCompletion(1, random_state=0).fit(seen)
    assert ids.guarantee_.verdict == "unknown"


@pytest.mark.parametrize("pair", [False, True])
def test_rows_of_two_laws_are_not_recovered_whatever_is_declared(pair):
    """A part of the targets counts twice: all that is seen of it is noise that grows with them."""
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((2, 4000, 5))
    y = U[:, 0] * V[:, 1] if pair else np.sum(U[:, :2], axis=1) ** 2
    X = (U, V) if pair else U
    noise = 0.3 * y.std() * rng.standard_normal(4000)
    model = RankOneSensing(1, random_state=0)
    assert model.fit(X, y + noise).guarantee(X, y + noise, assume="exogenous").verdict == "recovered"
    mixed = np.where(rng.random(4000) < 0.4, 2 * y, y) + noise
    report = model.fit(X, mixed).guarantee(X, mixed, assume="exogenous")
    assert report.verdict == "plausible"
    assert report["one_law"].status == "violated"
    assert report["one_law"].measured > 0.1
