"""Displays in scikit-learn's manner: drawn from estimators, in given axes, clear about what is missing."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import altmin
from altmin import plots
from altmin.datasets import make_dir

plt = pytest.importorskip("matplotlib.pyplot", reason="the extra 'plot' is not installed")


@pytest.fixture(autouse=True)
def closed():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def problem():
    return make_dir(400, 16, 3, random_state=0)


@pytest.fixture(scope="module")
def model(problem):
    return altmin.AND(3, max_iter=20).fit(problem.X)


@pytest.mark.parametrize("name", [name for name in plots.__all__ if name.endswith("Display")])
def test_every_display_has_the_manners_of_scikit_learn(name):
    cls = getattr(plots, name)
    assert callable(cls.from_estimator)
    assert callable(cls.plot)
    assert f"plot_{name.removesuffix('Display').lower()}" in plots.__all__


def test_convergence_draws_a_line_a_measure_in_given_axes(model):
    _, ax = plt.subplots()
    display = plots.ConvergenceDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert {line.get_label() for line in display.lines_} <= set(model.history_[-1])
    assert ax.get_yscale() == "log"
    only = plots.ConvergenceDisplay.from_estimator(model, measures=["change"])
    assert [line.get_label() for line in only.lines_] == ["change"]
    assert plots.plot_convergence(model) is not ax


def test_components_as_images_words_and_spectra(model):
    images = plots.ComponentsDisplay.from_estimator(model, image_shape=(4, 4))
    assert images.axes_.shape == (1, 3)
    words = plots.ComponentsDisplay.from_estimator(model, feature_names=[f"w{i}" for i in range(16)])
    longest = words.axes_.flat[0].get_yticklabels()[-1].get_text()
    assert longest == f"w{model.components_[0].argmax()}"
    spectra = plots.ComponentsDisplay.from_estimator(model, positions=np.linspace(400, 2500, 16))
    assert spectra.kind == "spectra"
    assert spectra.axes_.flat[0].lines[0].get_xdata()[-1] == 2500


def test_panels_fit_into_given_axes(model, problem):
    figure, (left, right) = plt.subplots(1, 2)
    assert plots.ComponentsDisplay.from_estimator(model, image_shape=(4, 4), ax=left).figure_ is figure
    assert plots.CodesDisplay.from_estimator(model, problem.X, ax=right).figure_ is figure


def test_names_with_dollars_are_no_mathematics():
    names = ["$x_1", "$$", "<b>", "a$b$c"]
    figure = plots.ComponentsDisplay(np.eye(4), feature_names=names).plot().figure_
    figure.canvas.draw()  # matplotlib would fail on half a formula
    shown = [text for text in figure.findobj(plt.Text) if "$" in text.get_text()]
    assert shown
    assert all(text.get_text().replace("\\$", "").count("$") == 0 for text in shown if text.get_parse_math())


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_codes_count_what_is_not_zero(convert):
    display = plots.CodesDisplay(convert([[1.0, 0.0, -2.0], [0.0, 0.0, 1e-15]])).plot()
    assert display.counts.tolist() == [2, 0]
    assert display.usage.tolist() == [0.5, 0.0, 0.5]


def test_outliers_are_told_from_the_others():
    display = plots.OutliersDisplay([0.1, 3.0, 0.2, 0.3], [False, True, False, False]).plot()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["the others: 3", "outliers: 1"]
    assert display.worst(2).tolist() == [1, 3]


def test_guarantee_shows_every_condition(model):
    display = plots.GuaranteeDisplay.from_estimator(model)
    drawn = {text.get_text() for text in display.ax_.texts}
    assert {condition.name for condition in model.guarantee_} <= drawn
    assert display.ax_.get_title(loc="left") == model.guarantee_.verdict


def test_stable_components_are_alike_in_refits(model, problem):
    before = model.components_.copy()
    display = plots.StabilityDisplay.from_estimator(model, problem.X, n_fits=2, random_state=0)
    assert display.similarities.shape == (2, 3)
    assert display.similarities.min() > 0.9
    assert np.array_equal(model.components_, before)
    noise = np.random.default_rng(0).random((60, 16))
    lost = plots.StabilityDisplay.from_estimator(
        altmin.AND(3, max_iter=5).fit(noise), noise, n_fits=2, random_state=0
    )
    assert lost.unstable(0.999).size > 0


def test_what_is_missing_is_named(model):
    with pytest.raises(NotFittedError):
        plots.ConvergenceDisplay.from_estimator(altmin.AND(3))
    with pytest.raises(ValueError, match="AND has no outlier_scores_"):
        plots.OutliersDisplay.from_estimator(model)
    with pytest.raises(ValueError, match=r"image_shape \(3, 3\) doesn't make the 16 features"):
        plots.ComponentsDisplay.from_estimator(model, image_shape=(3, 3))
    with pytest.raises(ValueError, match="needs image_shape"):
        plots.ComponentsDisplay(np.eye(4), kind="images")
    with pytest.raises(ValueError, match="feature_names has 2 entries, components 4 columns"):
        plots.ComponentsDisplay(np.eye(4), feature_names=["a", "b"])
    with pytest.raises(ValueError, match="is none of"):
        plots.ComponentsDisplay(np.eye(4), kind="cubes")
