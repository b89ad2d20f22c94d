"""Pictures of unmixing, topics and the choice of a number: drawn, with what belongs on them."""

from __future__ import annotations

import numpy as np
import pytest

from altmin.datasets import make_scene
from altmin.hyperspectral import unmix
from altmin.plots import plot_selection, plot_topics, plot_unmixing
from altmin.selection import Selection

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


def test_maps_are_drawn_above_spectra_and_beside_the_truth():
    import matplotlib.pyplot  # noqa: F401

    scene = make_scene(20, 20, 30, 3, random_state=0)
    result = unmix(scene.cube, 3)
    assert sum(bool(ax.images) for ax in plot_unmixing(result).axes) >= 3
    figure = plot_unmixing(result, reference=scene, names=["a", "b", "c"])
    assert [ax.get_title() for ax in figure.axes[:3]] == ["a", "b", "c"]


def test_a_topic_shows_its_top_words():
    import matplotlib.pyplot  # noqa: F401

    figure = plot_topics(np.array([[0.1, 0.9, 0.5], [0.7, 0.1, 0.2]]), ["x", "y", "z"], n_words=2)
    words = [[text.get_text() for text in ax.texts] for ax in figure.axes]
    assert words == [["y", "z"], ["x", "z"]]
    with pytest.raises(ValueError, match="vocabulary has shape"):
        plot_topics(np.eye(3), ["x"])


def test_the_curve_shows_suggestion_tolerance_and_truth():
    import matplotlib.pyplot  # noqa: F401

    curve = [
        {"n_components": 2, "angle": 0.01, "splits": 3, "note": ""},
        {"n_components": 3, "angle": 1.2, "splits": 1, "note": ""},
        {"n_components": 4, "angle": np.pi / 2, "splits": 0, "note": ""},
    ]
    ax = plot_selection(Selection(2, "high", "", curve, 0.25, None, None), truth=2, title="made up")
    assert ax.get_title() == "made up: 2 (high confidence)"
    assert "suggestion 2" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_signatures_exposures_matches_and_numbers_are_drawn():
    import matplotlib.pyplot  # noqa: F401

    from altmin.plots import plot_exposures, plot_matches, plot_number, plot_signatures
    from altmin.signatures import Number, match, read_reference, refit

    known = read_reference(np.random.default_rng(0).dirichlet(np.full(96, 0.1), 3))
    figure = plot_signatures(known)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["signature 1", "signature 2", "signature 3"]
    assert [t.get_text() for t in figure.axes[-1].get_xticklabels()] == [
        "C>A", "C>G", "C>T", "T>A", "T>C", "T>G",
    ]  # fmt: skip
    exposures = refit(np.random.default_rng(1).poisson(500 * known.values[[0, 1, 1, 0]]), known)
    upper, lower = plot_exposures(exposures).axes
    assert len(upper.patches) == 4 * len(exposures.signatures) and lower.get_ylim() == (0, 1)
    assert [t.get_text() for t in plot_matches(match(known, known)).texts] == list(known.names)
    assert plot_number(Number(2, "high", "", {1: 3.0, 2: 1.0})).lines[0].get_xdata().tolist() == [1, 2]


def test_mixtures_are_drawn_inside_their_bands():
    import matplotlib.pyplot  # noqa: F401

    from altmin.mixtures import feasible_bands, resolve
    from altmin.plots import plot_mixtures

    C = np.exp(-((np.arange(30)[:, None] - [10, 18]) ** 2) / 30)
    S = np.exp(-((np.arange(20) - np.array([[5], [14]])) ** 2) / 30)
    found = resolve([C @ S, 2 * C @ S], 2)
    figure = plot_mixtures(found, feasible_bands(found, n_moves=50), names=["a", "b"])
    assert len(figure.axes) == 4 and all(ax.collections for ax in figure.axes)
    assert figure.axes[0].get_title(loc="left").startswith("a: ")
