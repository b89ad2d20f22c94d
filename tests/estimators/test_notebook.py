"""In a notebook an estimator shows scikit-learn's diagram, and once fitted its outcome and guarantee."""

import sklearn

import altmin
from altmin.datasets import make_dir


def html_of(estimator):
    return estimator._repr_mimebundle_()["text/html"]


def test_outcome_and_guarantee_appear_after_the_fit():
    model = altmin.AND(3, max_iter=5)
    assert "guarantee" not in html_of(model)
    model.fit(make_dir(200, 12, 3, random_state=0).X)
    text = html_of(model)
    assert model.guarantee_.verdict in text
    assert "max_iter" in text
    assert "sk-" in text  # the diagram is still there
    assert model.guarantee_.verdict in model._repr_html_()


def test_text_display_is_respected():
    with sklearn.config_context(display="text"):
        assert "text/html" not in altmin.AND(3)._repr_mimebundle_()
