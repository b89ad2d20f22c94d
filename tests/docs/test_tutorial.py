"""The algorithm of the tutorial keeps what the engine promises."""

import importlib.util
import re
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans as Peer
from sklearn.utils._param_validation import InvalidParameterError

from altmin.contract import Algorithm, Done
from altmin.engine import Settings, open_source, run

PATH = Path(__file__).parents[2] / "examples" / "extend" / "plot_kmeans.py"
TEXT = PATH.read_text(encoding="utf-8")
OWN = TEXT[: TEXT.index("# end maps")]
ESTIMATOR = PATH.parents[2] / "docs" / "kmeans_estimator.py"


@pytest.fixture(scope="module")
def tutorial():
    """The part of the example that a reader would write."""
    module = types.ModuleType("plot_kmeans")
    sys.modules["plot_kmeans"] = module  # records are found again by their module
    exec(compile(OWN, str(PATH), "exec"), vars(module))
    return module


@pytest.fixture(scope="module")
def estimator(tutorial):
    spec = importlib.util.spec_from_file_location("kmeans_estimator", ESTIMATOR)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kmeans_estimator"] = module
    spec.loader.exec_module(module)
    return module.ClusterCentres


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.uniform(-5, 5, (4, 3))[rng.integers(0, 4, 9000)] + 0.3 * rng.standard_normal((9000, 3))


def fit(tutorial, X, **settings):
    return run(tutorial.KMeans(4), open_source(X), Settings(**{"max_iter": 200, "seed": 0, **settings}))


def part(name):
    return TEXT[TEXT.index(f"# begin {name}") : TEXT.index(f"# end {name}")]


def test_has_fewer_than_80_lines_of_its_own():
    parts = [part(name) for name in ("state", "algorithm", "maps")]
    assert sum(len(text.splitlines()) for text in parts) < 80


def test_is_an_algorithm_of_the_contract(tutorial):
    assert isinstance(tutorial.KMeans(3), Algorithm)


def test_ends_where_scikit_learn_ends_from_the_same_start(tutorial, X):
    algorithm = tutorial.KMeans(4)
    start = X[algorithm.init(open_source(X).info, 0).ids]
    ours = fit(tutorial, X)
    peer = Peer(4, init=start, n_init=1, tol=0, max_iter=200, algorithm="lloyd").fit(X)
    assert ours.outcome.kind == "converged"
    np.testing.assert_allclose(ours.state.centres, peer.cluster_centers_, atol=1e-10)
    np.testing.assert_allclose(ours.state.error, peer.inertia_, rtol=1e-10)


def test_same_bits_for_threads_pieces_and_files(tutorial, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    pieces = np.array_split(X, [7, 4000, 4001])
    results = [fit(tutorial, X, n_jobs=1), fit(tutorial, X, n_jobs=2), fit(tutorial, pieces)]
    results.append(fit(tutorial, str(tmp_path / "X.npy")))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].state.centres, other.state.centres)


def test_resumes_from_its_checkpoint(tutorial, X, tmp_path):
    fit(tutorial, X, max_iter=2, checkpoint=tmp_path / "state")
    resumed = fit(tutorial, X, checkpoint=tmp_path / "state")
    undisturbed = fit(tutorial, X)
    assert resumed.n_iter == undisturbed.n_iter > 2
    np.testing.assert_array_equal(resumed.state.centres, undisturbed.state.centres)


def test_an_empty_cluster_stays_where_it_was(tutorial):
    state = tutorial.KMeansState(np.array([[0.0], [9.0]]), None)
    stats = (np.array([[2.0], [0.0]]), np.array([2.0, 0.0]), 0.0)
    after = tutorial.KMeans(2).move(state, stats)
    np.testing.assert_array_equal(after.centres, [[1.0], [9.0]])
    assert isinstance(tutorial.KMeans(2).next_round(replace(after, change=0.0)), Done)


def test_the_page_shows_the_parts_that_are_tested():
    page = (PATH.parents[2] / "docs" / "new-algorithm.md").read_text(encoding="utf-8")
    parts = re.findall(r'start-after: "# begin (\w+)"', page)
    assert parts == ["state", "algorithm", "maps", "guarantee", "estimator"]
    text = TEXT + ESTIMATOR.read_text(encoding="utf-8")
    assert all(f"# begin {name}\n" in text and f"# end {name}\n" in text for name in parts)


def test_the_estimator_keeps_the_contract_of_scikit_learn(estimator):
    assert clone(estimator(3, max_iter=5)).get_params()["n_clusters"] == 3
    with pytest.raises(InvalidParameterError, match="n_clusters"):
        estimator(0).fit(np.eye(4))
    with pytest.raises(TypeError, match="n_cluster"):
        estimator(n_cluster=3)


def test_clusters_are_believed_where_they_are_and_not_where_there_are_none(estimator, X):
    model = estimator(4).fit(X)
    assert model.guarantee_.verdict == "unknown"  # a cheap look compares nothing
    assert model.guarantee(X).verdict == "plausible"
    cloud = np.random.default_rng(0).standard_normal((4000, 3))
    report = estimator(4).fit(cloud).guarantee(cloud)
    assert report.verdict == "contradicted" and report["d / s"].status == "violated"
