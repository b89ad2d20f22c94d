"""The page about a model shows what each kind of model found, in the user's own names."""

from types import SimpleNamespace

import numpy as np
import pytest

import altmin
from altmin.report.model_page import components_part, model_page

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed").use("Agg")


def test_a_machine_shows_its_law_in_the_users_names():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = 5.0 + 2.0 * X[:, 2] - 3.0 * X[:, 0] * X[:, 1]
    model = altmin.FactorizationMachineRegressor(2, random_state=0).fit(X, y)
    text = model_page(model, words=["<a>", "b", "c"])
    assert "&lt;a&gt; · b" in text
    assert "<a>" not in text
    assert text.index("&lt;a&gt; · b") < text.index("b · c")  # the largest first
    assert "-3<" in text
    assert "Intercept 5" in text


def test_a_signal_is_drawn_as_a_curve_or_an_image():
    rng = np.random.default_rng(0)
    signal, masks = rng.standard_normal(9), rng.standard_normal((90, 9))
    model = altmin.PhaseRetrieval(random_state=0).fit(masks, (masks @ signal) ** 2)
    for shape in (None, (3, 3)):
        assert "The signal" in model_page(model, image_shape=shape)


def test_a_sensed_matrix_shows_its_values():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 5))
    model = altmin.RankOneSensing(1, random_state=0).fit(X, 3 * X[:, 0] ** 2)
    page = model_page(model)
    assert "Singular values of the matrix" in page
    assert '<td class="number">3<' in page


def test_words_must_fit_the_features():
    model = altmin.AND(2, max_iter=3).fit(np.random.default_rng(0).random((40, 4)))
    assert "w2" in model_page(model, words=["w0", "w1", "w2", "w3"])


def test_features_that_weigh_the_same_stand_in_their_order():
    words = [f"word{j:02}" for j in range(40)]
    level = np.ones((1, 40))
    level[0, 33] = 2.0
    part = str(components_part(SimpleNamespace(components_=level), None, words))
    assert ", ".join(["word33", *words[:9]]) in part
    assert "word09" not in part
