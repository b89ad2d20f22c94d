"""Reports of small fits are made when they are first looked at, and say what they would have said at once."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from sklearn.base import clone

import altmin
from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
    OrthogonalDictionaryLearning,
    RankOneSensing,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.estimators import when_asked
from altmin.estimators.base import Estimator

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def mixtures(noise=0.01):
    X = make_dir(200, 30, 3, random_state=0).X
    return (X + noise * X.std() * np.random.default_rng(0).standard_normal(X.shape),)


def counts():
    return (np.random.default_rng(0).poisson(20 * make_dir(200, 30, 3, random_state=0).X).astype(float),)


def signals():
    return (make_sparse_dictionary(400, 8, kind="gauss", random_state=0).X,)


def machine():
    problem = make_quadratic(500, 6, 2, random_state=0)
    return problem.X, problem.y + 0.1 * np.random.default_rng(0).standard_normal(500)


CASES = {
    "mixtures": (lambda: AND(3, random_state=0, max_iter=9), mixtures),
    "counts": (lambda: AND(3, random_state=0, max_iter=20), counts),
    "given": (lambda: AND(3, init=make_dir(200, 30, 3, random_state=0).components), mixtures),
    "complete": (lambda: CompleteDictionaryLearning(random_state=0), signals),
    "orthogonal": (lambda: OrthogonalDictionaryLearning(random_state=0), signals),
    "machine": (lambda: FactorizationMachineRegressor(2, random_state=0), machine),
    "sensing": (lambda: RankOneSensing(2, random_state=0), machine),
    "overcomplete": (
        lambda: ApproximateDictionaryLearning(12, n_nonzero_coefs=2, random_state=0, max_iter=2),
        lambda: (make_planted_sparse(300, 8, 12, 2, 0.02, random_state=0).X,),
    ),
}


@pytest.fixture(params=list(CASES))
def case(request):
    make, data = CASES[request.param]
    return make, data


def at_once(make, data, monkeypatch):
    """The report of the same fit where none may be put off."""
    with monkeypatch.context() as patch:
        patch.setattr(
            "altmin.estimators.base.owe", lambda model, report: setattr(model, "guarantee_", report())
        )
        model = make().fit(*data)
    assert "guarantee_" in vars(model)
    return str(model.guarantee_)


def test_a_report_is_the_same_whatever_happens_before_it_is_looked_at(case, monkeypatch):
    make, data = case
    expected = at_once(make, data(), monkeypatch)
    given = data()
    model = make().fit(*given)
    assert "guarantee_" not in vars(model)
    for array in given:
        array[:] = np.random.default_rng(1).standard_normal(array.shape)
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            value[...] = 7.0
            assert name.endswith("_") or name == "init"
    model.set_params(max_iter=1)
    assert str(model.guarantee_) == expected
    assert vars(model)["guarantee_"] is model.guarantee_


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "copy", "file"])
def test_copies_and_files_hold_the_report_and_no_rows(case, way, tmp_path):
    make, data = case
    model = make().fit(*data())
    if way == "file":
        altmin.save(model, tmp_path / "model.altmin")
        other = altmin.load(tmp_path / "model.altmin")
    else:
        ways = {
            "pickle": lambda m: pickle.loads(pickle.dumps(m)),
            "deepcopy": copy.deepcopy,
            "copy": copy.copy,
        }
        other = ways[way](model)
    for one in (model, other):
        assert "guarantee_" in vars(one)
        assert "_unjudged" not in vars(one)
    assert str(other.guarantee_) == str(model.guarantee_)
    assert not hasattr(clone(model), "guarantee_")


def test_what_a_report_was_to_be_made_of_is_let_go(monkeypatch):
    (X,) = mixtures()
    sources = []
    owe = when_asked.owe
    monkeypatch.setattr(
        "altmin.estimators.base.owe",
        lambda model, report: (sources.append(weakref.ref(report.args[1])), owe(model, report)),
    )
    model = AND(3, random_state=0, max_iter=9).fit(X)
    assert sources[-1]() is not None
    assert model.guarantee_.verdict
    gc.collect()
    assert sources[-1]() is None
    model.fit(X)
    model.fit(X)
    gc.collect()
    assert [source() is None for source in sources] == [True, True, False]


def test_many_threads_see_one_report():
    model = AND(3, random_state=0, max_iter=9).fit(*mixtures())
    begin, seen = threading.Barrier(8), []

    def look():
        begin.wait()
        seen.append(str(model.guarantee_))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_a_look_that_is_interrupted_can_be_repeated(monkeypatch):
    model = AND(3, random_state=0, max_iter=9).fit(*mixtures())
    with monkeypatch.context() as patch:
        patch.setattr(AND, "_report", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            model.guarantee_  # noqa: B018
    assert model.guarantee_.verdict in ("recovered", "plausible", "unknown")


def test_the_report_is_that_of_the_last_fit():
    model = AND(3, random_state=0, max_iter=9).fit(*mixtures())
    first = str(model.guarantee_)
    model.fit(*mixtures(noise=0.3))
    assert str(model.guarantee_) != first
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 30), np.nan))
    assert str(model.guarantee_) != first  # a fit that failed changes nothing


@pytest.mark.parametrize("looked", [True, False])
def test_a_fit_that_fails_leaves_what_an_earlier_one_owes(looked):
    model = AND(3, random_state=0, max_iter=9).fit(*mixtures())
    other = model if looked else AND(3, random_state=0, max_iter=9).fit(*mixtures())
    expected = str(other.guarantee_)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 30), np.nan))
    assert str(model.guarantee_) == expected


@pytest.mark.parametrize("kind", ["large", "file", "stream"])
def test_what_is_large_or_not_in_memory_is_judged_at_once(kind, tmp_path, monkeypatch):
    (X,) = mixtures()
    given = X
    if kind == "large":
        monkeypatch.setattr("altmin.estimators.base.KEPT_BYTES", X.nbytes - 1)
    elif kind == "file":
        given = tmp_path / "X.npy"
        np.save(given, X)
    model = AND(3, random_state=0, batch_size=50 if kind == "stream" else None)
    if kind == "stream":
        model.fit(iter([X[:100], X[100:]]))
        assert "_unjudged" in vars(model)  # its rows are gone: there is nothing large to be kept
    else:
        model.fit(given)
        assert "guarantee_" in vars(model)
    assert model.guarantee_.verdict in ("recovered", "plausible", "unknown")


def test_sums_and_scores_may_be_too_much_to_be_kept(monkeypatch):
    make, data = CASES["overcomplete"]
    held = 8 * (300 + 2 * 8 * 8)  # scores of the rows, products of the features of data and residuals
    monkeypatch.setattr("altmin.estimators.base.KEPT_BYTES", held)
    assert "guarantee_" in vars(make().fit(*data()))
    monkeypatch.setattr("altmin.estimators.base.KEPT_BYTES", 2 * held)
    assert "guarantee_" not in vars(make().fit(*data()))


def test_as_much_as_may_be_kept_is():
    X = np.zeros((100, 50))
    source = Estimator()._open(X, reset=True)
    assert source.copied(X.nbytes - 1) is None
    kept = source.copied(X.nbytes)
    X[:] = 1.0
    assert not kept.read(0, 100).X.any()


def test_before_a_fit_there_is_none():
    with pytest.raises(AttributeError, match="this AND is not fitted yet"):
        AND(3).guarantee_  # noqa: B018
    assert not hasattr(AND, "guarantee_")
